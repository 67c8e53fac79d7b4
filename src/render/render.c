/* From scene, camera and options to the plain data of a frame. */
#include <math.h>
#include <string.h>

#include "render/scene.h"

static tsr_status check_target(const tsr_scene *scene, tsr_picture *picture)
{
    if (!scene) TSR_FAIL(TSR_ERROR_ARGUMENT, "scene is NULL");
    if (!picture) TSR_FAIL(TSR_ERROR_ARGUMENT, "picture is NULL");
    if (picture->context != scene->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the picture belongs to another context than the scene");
    picture->drawn_by = NULL;
    return TSR_OK;
}

static tsr_status check_window(double low, double high, const tsr_scene_info *info, double *from, double *to)
{
    *from = low;
    *to = high;
    if (low == 0 && high == 0) {
        *from = info->window_low;
        *to = info->window_high > info->window_low ? info->window_high : info->window_low + 1;
    } else if (!isfinite(low) || !isfinite(high) || !(low < high)) {
        TSR_FAIL(TSR_ERROR_ARGUMENT, "window %g to %g, expected two finite numbers in rising order (both 0 = automatic)", low, high);
    }
    return TSR_OK;
}

tsr_status tsr_frame_supersampling(int32_t n, int32_t *samples)
{
    if (n < 0 || n > 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "supersampling %d, expected 1 to 4 (0 = 1)", n);
    *samples = n ? n : 1;
    return TSR_OK;
}

/* Rows that are drawn in one piece. With a progress callback: as many as take well below a second where rays are slow, and enough work for every
 * thread; without one: all. */
int32_t tsr_band_rows(const tsr_context *context, const tsr_progress *progress, int32_t width, int32_t height, int32_t samples)
{
    if (!progress->report) return height;
    const int64_t rays = context->device.kind == TSR_DEVICE_CUDA  ? (int64_t)1 << 22
                         : context->device.kind == TSR_DEVICE_EMU ? (int64_t)1 << 14
                                                                  : (int64_t)context->threads << 14;
    return (int32_t)tsr_min64(height, tsr_max64(1, rays / ((int64_t)width * samples * samples)));
}

/* One band is done: reports it. A GPU is waited for, or it would be asked for all of the picture before the first answer. */
tsr_status tsr_band_done(const tsr_context *context, const tsr_progress *progress, int32_t rows, int32_t height)
{
    if (!progress->report) return TSR_OK;
    TSR_TRY(context->backend->synchronize(context->queue));
    TSR_PROGRESS(progress, (double)rows / height, "render");
    return TSR_OK;
}

/* The rays. An orthographic eye is moved to just before the scene, so that distances keep their precision. */
tsr_status tsr_frame_set_camera(const tsr_camera *camera, const tsr_scene_info *info, tsr_vec3 centre, tsr_frame *f)
{
    TSR_TRY(tsr_camera_check(camera));
    if (camera->projection == TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its projection is a matrix; pictures are drawn of pinholes and orthographic views");
    if (tsr_lens_distorts(&camera->lens))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its lens distorts; draw without it, then give the picture the distortion (tsr_lens_warp with `add`)");
    tsr_vec3 right, up, forward, eye = tsr_vec3_sub(camera->position, centre);
    double radius = 0.5 * tsr_vec3_length(tsr_vec3_sub(info->bounds.upper, info->bounds.lower)), w = f->width, h = f->height;
    tsr_camera_axes(camera, &right, &up, &forward);
    f->orthographic = camera->projection == TSR_ORTHOGRAPHIC;
    double extent = camera->height, shift = 0;
    if (f->orthographic) {
        shift = fmax(0, -tsr_vec3_dot(eye, forward) - 1.5 * radius); /* to the scene */
        double along = tsr_vec3_dot(eye, forward) + shift;
        if (along > 1.5 * radius) shift -= along - 1.5 * radius; /* an eye behind the scene sees nothing, at any distance */
        eye = tsr_vec3_add(eye, tsr_vec3_scale(forward, shift));
        tsr_vec3 off = tsr_vec3_sub(eye, tsr_vec3_scale(forward, tsr_vec3_dot(eye, forward)));
        if (tsr_vec3_length(off) > 1e4 * (radius + extent))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the eye looks past the scene by more than 10^4 times its size");
    } else {
        extent = 2 * tan(camera->fov * (3.14159265358979323846 / 360));
        if (tsr_vec3_length(eye) > 1e4 * radius)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the eye is %g from a scene of radius %g, expected at most 10^4 radii; an orthographic camera has no such limit",
                     tsr_vec3_length(eye), radius);
    }
    const double pixel = extent / h, across = camera->aspect > 0 ? extent * camera->aspect / w : pixel;
    double left = -0.5 * across * w, top = 0.5 * extent;
    if (!f->orthographic) { /* an axis off the middle */
        left += 0.5 * across * w * camera->offset[0];
        top += 0.5 * extent * camera->offset[1];
    }
    tsr_vec3 corner = tsr_vec3_add(tsr_vec3_scale(right, left), tsr_vec3_scale(up, top));
    corner = tsr_vec3_add(corner, f->orthographic ? eye : forward);
    f->origin = tsr_vec3_float(eye);
    f->corner = tsr_vec3_float(corner);
    f->right = tsr_vec3_float(tsr_vec3_scale(right, across));
    f->down = tsr_vec3_float(tsr_vec3_scale(up, -pixel));
    f->forward = tsr_vec3_float(forward);
    f->pixel_size = (float)fmax(pixel, across);
    f->t_near = (float)(shift < 0 ? 0 : -shift); /* never behind the true eye */
    f->depth_shift = (float)shift;
    if (f->orthographic && shift > 0) f->t_near = -(float)fmin(shift, 4 * radius);
    tsr_vec3 key = tsr_vec3_add(tsr_vec3_add(tsr_vec3_scale(right, -0.5), tsr_vec3_scale(up, 0.7)), tsr_vec3_scale(forward, -0.75));
    f->to_key_light = tsr_vec3_float(tsr_vec3_unit(key));
    f->up = tsr_vec3_float(up);
    f->radius = (float)radius;
    return TSR_OK;
}

tsr_status tsr_frame_set_step(const tsr_scene_info *info, const tsr_render_options *o, tsr_frame *f)
{
    if (!(o->step >= 0 && o->step <= 8) || (o->step > 0 && o->step < 0.01))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "step %g, expected 0.01 to 8 voxels (0 = 0.5)", o->step);
    f->dt = (float)((o->step > 0 ? o->step : 0.5) * info->spacing);
    f->inverse_dt = 1 / f->dt;
    f->jitter = o->jitter != 0;
    return TSR_OK;
}

static tsr_status set_mode(const tsr_scene *scene, const tsr_render_options *o, tsr_frame *f)
{
    int volume = scene->source != NULL, surface = scene->surface_kind != TSR_FIELD_NONE;
    switch (o->mode) {
    case TSR_RENDER_AUTO: break;
    case TSR_RENDER_SURFACE:
        if (!surface) TSR_FAIL(TSR_ERROR_STATE, "the scene has no surface: set one with tsr_scene_set_surface_...");
        volume = 0;
        break;
    case TSR_RENDER_VOLUME:
    case TSR_RENDER_MIP:
        if (!volume) TSR_FAIL(TSR_ERROR_STATE, "the scene has no volume: set one with tsr_scene_set_volume");
        surface = 0;
        break;
    case TSR_RENDER_COMBINED:
        if (!volume || !surface)
            TSR_FAIL(TSR_ERROR_STATE, "a combined view needs a volume and a surface; the scene has no %s", volume ? "surface" : "volume");
        break;
    default: TSR_FAIL(TSR_ERROR_ARGUMENT, "render mode %d, expected TSR_RENDER_AUTO to TSR_RENDER_MIP", (int)o->mode);
    }
    f->mip = o->mode == TSR_RENDER_MIP;
    f->show_volume = volume;
    f->show_surface = surface;
    return TSR_OK;
}

tsr_status tsr_frame_set_clip(int source, const tsr_render_options *o, tsr_vec3 centre, tsr_frame *f)
{
    if (!o->clip) return TSR_OK;
    double length = tsr_vec3_length(o->clip_normal);
    tsr_vec3 unit = tsr_vec3_unit(o->clip_normal);
    if (!(tsr_vec3_length(unit) > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "clip_normal (%g, %g, %g), expected a finite direction other than 0", o->clip_normal.x, o->clip_normal.y,
                 o->clip_normal.z);
    if (!isfinite(o->clip_offset)) TSR_FAIL(TSR_ERROR_ARGUMENT, "clip_offset %g, expected a finite number", o->clip_offset);
    if (o->clip_surface_only && o->clip_volume_only)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "clip_surface_only and clip_volume_only are both set, expected at most one");
    if ((int)o->clip_face < 0 || o->clip_face > TSR_CLIP_QUAD)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "clip_face %d, expected TSR_CLIP_CAP to TSR_CLIP_QUAD", (int)o->clip_face);
    if (o->clip_face == TSR_CLIP_QUAD && !source) TSR_FAIL(TSR_ERROR_STATE, "clip_face quad shows the source volume, and the scene has none");
    f->clip = 1;
    f->clip_surface = !o->clip_volume_only;
    f->clip_volume = !o->clip_surface_only;
    f->clip_face = (int32_t)o->clip_face;
    f->clip_normal = tsr_vec3_float(unit);
    f->clip_offset = (float)(o->clip_offset / length - tsr_vec3_dot(unit, centre));
    return TSR_OK;
}

/* Options in [lower, upper] whose 0 means `otherwise` and whose negative values mean off. */
static tsr_status strength(double value, double otherwise, const char *name, float *out)
{
    if (!(value <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s %g, expected at most 1 (0 = default, negative = off)", name, value);
    *out = (float)(value == 0 ? otherwise : value < 0 ? 0 : value);
    return TSR_OK;
}

tsr_status tsr_frame_set_look(const tsr_scene_info *info, const tsr_render_options *o, tsr_frame *f)
{
    static const tsr_color neutral[2] = { { 0.17f, 0.18f, 0.20f }, { 0.07f, 0.075f, 0.085f } }, rose = { 0.90f, 0.76f, 0.68f },
                           yellow = { 1.0f, 0.92f, 0.05f };
    const uint32_t bit[2] = { TSR_GIVEN_BACKGROUND_TOP, TSR_GIVEN_BACKGROUND_BOTTOM };
    const int dark = (o->given & (bit[0] | bit[1])) || (tsr_color_unset(o->background[0]) && tsr_color_unset(o->background[1]));
    for (int k = 0; k < 2; k++) /* one colour that is not black: the other may be */
        f->background[k] = tsr_color_linear(dark ? tsr_color_or(o->background[k], o->given, bit[k], neutral[k]) : o->background[k]);
    f->transparent = o->transparent != 0;
    f->surface_color = tsr_color_linear(tsr_color_or(o->surface_color, o->given, TSR_GIVEN_SURFACE_COLOR, rose));
    if (!(o->surface_opacity >= 0 && o->surface_opacity <= 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface_opacity %g, expected 0 to 1", o->surface_opacity);
    f->opacity = o->surface_opacity == 0 && !(o->given & TSR_GIVEN_SURFACE_OPACITY) ? 1.0f : (float)o->surface_opacity;
    TSR_TRY(strength(o->ambient_occlusion, 0.75, "ambient_occlusion", &f->occlusion));
    TSR_TRY(strength(o->specular, 0.18, "specular", &f->specular));
    double low, high;
    TSR_TRY(check_window(o->window_low, o->window_high, info, &low, &high));
    f->look.low = (float)low;
    f->look.inverse_width = (float)(1 / (high - low));
    f->look.half_line = 0.75f;
    f->look.line_color = tsr_color_linear(yellow);
    f->look.contour = f->surface.kind == TSR_FIELD_DENSE || f->surface.kind == TSR_FIELD_TILES;
    return TSR_OK;
}

static tsr_status set_lookup(tsr_scene *scene, const tsr_render_options *o, const tsr_transfer_linear *transfer, tsr_frame *f)
{
    if ((int)o->lookup < 0 || o->lookup > TSR_LOOKUP_PREINTEGRATED)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lookup %d, expected TSR_LOOKUP_NONE to TSR_LOOKUP_PREINTEGRATED", (int)o->lookup);
    if (o->lookup == TSR_LOOKUP_NONE) return TSR_OK;
    const int pieces = o->lookup == TSR_LOOKUP_PREINTEGRATED, most = pieces ? 512 : 4096;
    if (transfer->needs_level) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a transfer function of the level-set value cannot be looked up: use TSR_LOOKUP_NONE");
    if (pieces && transfer->needs_gradient)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a transfer function of the gradient cannot be pre-integrated: use TSR_LOOKUP_NONE or TSR_LOOKUP_TABLE");
    if (o->lookup_size != 0 && (o->lookup_size < 2 || o->lookup_size > most))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lookup_size %d, expected 2 to %d (0 = default)", o->lookup_size, most);
    struct tsr_lookup_key key;
    memset(&key, 0, sizeof key);
    key.transfer = *transfer;
    key.kind = pieces ? TSR_LOOKUP_OF_PIECES : TSR_LOOKUP_OF_SAMPLES;
    key.size = o->lookup_size ? o->lookup_size : pieces || transfer->needs_gradient ? 256 : 1024;
    key.low = (float)scene->source->minimum;
    key.high = (float)scene->source->maximum;
    if (!(key.high > key.low)) key.high = key.low + tsr_maxf(1.0f, tsr_absf(key.low) * 1.0e-3f);
    key.length = pieces ? f->extinction * f->dt : 0.0f;
    TSR_TRY(tsr_scene_lookup(scene, &key, &f->lookup));
    return TSR_OK;
}

tsr_status tsr_frame_set_medium(const tsr_scene_info *info, const tsr_render_options *o, tsr_transfer_linear *transfer, tsr_frame *f)
{
    tsr_transfer preset;
    if (!o->transfer)
        TSR_TRY(tsr_transfer_make(TSR_TRANSFER_MRI_HEAD, info->window_low,
                                  info->window_high > info->window_low ? info->window_high : info->window_low + 1, &preset));
    TSR_TRY(tsr_transfer_check(o->transfer ? o->transfer : &preset, transfer));
    f->shaded = !o->unshaded;
    if (!(o->opacity_scale >= 0 && isfinite(o->opacity_scale)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "opacity_scale %g, expected a number from 0 on", o->opacity_scale);
    f->extinction = (float)((o->opacity_scale == 0 && !(o->given & TSR_GIVEN_OPACITY_SCALE) ? 1 : o->opacity_scale) / info->spacing);
    double range = fmax(info->window_high - info->window_low, 1e-30);
    f->gradient_low = (float)(0.02 * range / info->spacing);
    f->gradient_high = (float)(0.12 * range / info->spacing);
    return TSR_OK;
}

/* The source's field, transfer function and the bricks it makes visible. */
static tsr_status set_source(tsr_scene *scene, const tsr_scene_info *info, const tsr_render_options *o, tsr_vec3 centre, tsr_brick_test *test,
                             tsr_frame *f)
{
    if (!scene->source) return TSR_OK;
    TSR_TRY(tsr_dense_field(scene->source, centre, &f->volume));
    if (!f->show_volume || f->mip) return TSR_OK;
    TSR_TRY(tsr_frame_set_medium(info, o, &test->transfer, f));
    test->scale = 1;
    if (test->transfer.needs_level && f->surface.kind != TSR_FIELD_DENSE && f->surface.kind != TSR_FIELD_TILES)
        TSR_FAIL(TSR_ERROR_STATE, "a transfer function of the level-set value needs a surface given by a volume or a tile list");
    if ((int)o->region < 0 || o->region > TSR_REGION_TINT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region %d, expected TSR_REGION_ALL to TSR_REGION_TINT", (int)o->region);
    if (o->region != TSR_REGION_ALL && f->surface.kind != TSR_FIELD_DENSE && f->surface.kind != TSR_FIELD_TILES)
        TSR_FAIL(TSR_ERROR_STATE, "a region needs a surface given by a volume or a tile list (a mesh has no inside)");
    f->region = (int32_t)o->region;
    tsr_context *c = scene->context;
    TSR_TRY(set_lookup(scene, o, &test->transfer, f));
    test->lookup = f->lookup;
    if (f->lookup.kind == TSR_LOOKUP_OF_PIECES) /* the ends of a piece lie half a step from its middle */
        test->margin = (int32_t)fmin(TSR_SKIP_MOST, 1 + floor(0.5 * (double)f->dt / ((double)f->volume.spacing * (1 << TSR_BRICK_LOG2))));
    TSR_TRY(c->backend->render->skips(c->queue, scene->source->range, scene->source->bricks, test, scene->source_skip, scene->source_scratch));
    f->volume.skip = scene->source_skip;
    return TSR_OK;
}

/* The surface as a medium: its transfer function and the bricks it makes visible. */
static tsr_status set_shell(tsr_scene *scene, const tsr_scene_info *info, const tsr_render_options *o, tsr_frame *f)
{
    tsr_context *c = scene->context;
    tsr_brick_test test;
    if (!o->surface_transfer || !f->show_surface) return TSR_OK;
    if (f->surface.kind != TSR_FIELD_DENSE && f->surface.kind != TSR_FIELD_TILES)
        TSR_FAIL(TSR_ERROR_STATE, "surface_transfer needs a surface given by a volume or a tile list (a mesh has no values around it)");
    memset(&test, 0, sizeof test);
    TSR_TRY(tsr_transfer_check(o->surface_transfer, &test.transfer));
    if (test.transfer.needs_level)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "surface_transfer has a level axis, expected functions of phi (its value) and of the distance from the clipping plane (its "
                 "gradient)");
    if (!f->clip)
        for (int i = 0; i < test.transfer.gaussians; i++) test.transfer.gaussian[i].gradient_inverse_width = 0;
    if (!scene->shell_skip) TSR_TRY(tsr_device_allocate(c, scene->surface_skip_bytes, (void **)&scene->shell_skip));
    if (!scene->shell_scratch) TSR_TRY(tsr_device_allocate(c, scene->surface_skip_bytes, (void **)&scene->shell_scratch));
    f->shell_skip = scene->shell_skip;
    if (f->surface.kind == TSR_FIELD_DENSE) {
        test.scale = f->surface.scale;
        test.offset = f->surface.offset;
        TSR_TRY(c->backend->render->skips(c->queue, f->surface.range, f->surface.bricks, &test, scene->shell_skip, scene->shell_scratch));
    } else if (tsr_transfer_visible(&test.transfer, scene->tile_band, scene->tile_band) ||
               tsr_transfer_visible(&test.transfer, -scene->tile_band, -scene->tile_band)) {
        TSR_TRY(c->backend->fill(c->queue, scene->shell_skip, 0, scene->surface_skip_bytes)); /* static tiles are seen too */
    } else {
        f->shell_skip = scene->surface_skip;
    }
    f->shell = 1;
    f->shaded = !o->unshaded;
    f->shell_extinction = (float)(1 / info->spacing);
    f->shell_transfer = test.transfer;
    return TSR_OK;
}

tsr_status tsr_render(tsr_scene *scene, const tsr_camera *camera, const tsr_render_options *options, tsr_picture *picture)
{
    TSR_NEEDS(scene, picture);
    tsr_render_options o;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_frame frame;
    tsr_brick_test test;
    TSR_TRY(check_target(scene, picture));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(tsr_scene_describe(scene, &info));
    memset(&frame, 0, sizeof frame);
    memset(&test, 0, sizeof test);
    frame.width = picture->width;
    frame.height = picture->height;
    tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(info.bounds.lower, info.bounds.upper), 0.5);
    TSR_TRY(tsr_frame_supersampling(o.supersampling, &frame.samples));
    TSR_TRY(set_mode(scene, &o, &frame));
    TSR_TRY(tsr_frame_set_camera(camera, &info, centre, &frame));
    TSR_TRY(tsr_frame_set_step(&info, &o, &frame));
    TSR_TRY(tsr_scene_surface_field(scene, centre, &frame.surface));
    frame.bvh = scene->bvh;
    frame.mesh_origin = tsr_vec3_float(tsr_vec3_sub(scene->mesh_origin, centre));
    TSR_TRY(tsr_frame_set_clip(scene->source != NULL, &o, centre, &frame));
    TSR_TRY(tsr_frame_set_look(&info, &o, &frame));
    frame.flat = o.flat != 0;
    if (o.surface_layers < 0 || o.surface_layers > 64) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface_layers %d, expected 1 to 64 (0 = 1)", o.surface_layers);
    frame.layers = o.surface_layers ? o.surface_layers : 1;
    if (o.pass < 0 || o.pass >= 1 << 20) TSR_FAIL(TSR_ERROR_ARGUMENT, "pass %d, expected 0 to 2^20 - 1", o.pass);
    frame.pass = o.pass;
    TSR_TRY(set_source(scene, &info, &o, centre, &test, &frame));
    TSR_TRY(set_shell(scene, &info, &o, &frame));
    if (scene->records && frame.show_surface && !frame.shell) {
        TSR_TRY(tsr_records_paint(scene->records, centre, &frame, &test.transfer, scene->cull, &o.progress, picture));
        return TSR_OK;
    }
    const tsr_context *c = scene->context;
    const int32_t band = tsr_band_rows(c, &o.progress, frame.width, frame.height, frame.samples);
    TSR_PROGRESS(&o.progress, 0, "render");
    for (int32_t row = 0; row < frame.height; row += band) {
        const int32_t end = tsr_mini(frame.height - row, band) + row;
        TSR_TRY(c->backend->render->draw(c->queue, &frame, &test.transfer, row, end, picture->rgba, picture->depth));
        TSR_TRY(tsr_band_done(c, &o.progress, end, frame.height));
    }
    return TSR_OK;
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------- */

/* Direction in the picture along which a column of the matrix grows, turned so that its largest part shows the way `wanted` does. */
static tsr_vec3 turned(const tsr_geometry *g, int column, tsr_vec3 wanted)
{
    tsr_vec3 v = tsr_vec3_unit((tsr_vec3){ g->affine[0][column], g->affine[1][column], g->affine[2][column] });
    return tsr_vec3_dot(v, wanted) < 0 ? tsr_vec3_scale(v, -1) : v;
}

struct plane {
    tsr_vec3 centre, right, up;
    double width, height;
}; /* extents of what it shows */

static tsr_status axis_plane(const tsr_geometry *g, const int32_t size[3], const tsr_slice_options *o, double mean, struct plane *p)
{
    static const int across[3] = { 1, 0, 0 }, upwards[3] = { 2, 2, 1 };
    double at[3] = { 0.5 * (size[0] - 1), 0.5 * (size[1] - 1), 0.5 * (size[2] - 1) };
    if (!isnan(o->position)) {
        if (!(o->position >= 0 && o->position <= size[o->axis] - 1))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "slice position %g along axis %c, expected 0 to %d", o->position, 'x' + o->axis, size[o->axis] - 1);
        at[o->axis] = o->position;
    } else {
        at[o->axis] = mean;
    }
    /* Wanted world directions: radiological for RAS (patient's right on the left, nose to the left), turned for LPS, plain otherwise. */
    double turn = g->space == TSR_SPACE_RAS ? -1 : 1, front = g->space == TSR_SPACE_LPS ? -1 : 1;
    tsr_vec3 right = o->axis == 0 ? (tsr_vec3){ 0, turn, 0 } : (tsr_vec3){ turn, 0, 0 };
    tsr_vec3 up = o->axis == 2 ? (tsr_vec3){ 0, front, 0 } : (tsr_vec3){ 0, 0, 1 };
    /* The columns closest to those directions, whatever the order of the file's axes. */
    int a = across[o->axis], b = upwards[o->axis];
    tsr_vec3 ca = { g->affine[0][a], g->affine[1][a], g->affine[2][a] }, cb = { g->affine[0][b], g->affine[1][b], g->affine[2][b] };
    if (fabs(tsr_vec3_dot(tsr_vec3_unit(ca), up)) > fabs(tsr_vec3_dot(tsr_vec3_unit(cb), up))) {
        int swap = a;
        a = b;
        b = swap;
    }
    tsr_vec3 spacing = tsr_geometry_spacing(g);
    const double length[3] = { spacing.x, spacing.y, spacing.z };
    p->right = turned(g, a, right);
    tsr_vec3 v = turned(g, b, up);
    p->up = tsr_vec3_unit(tsr_vec3_sub(v, tsr_vec3_scale(p->right, tsr_vec3_dot(v, p->right))));
    p->width = size[a] * length[a];
    p->height = size[b] * length[b];
    p->centre = tsr_geometry_to_world(g, (tsr_vec3){ at[0], at[1], at[2] });
    return TSR_OK;
}

static tsr_status oblique_plane(const tsr_scene_info *info, const tsr_slice_options *o, struct plane *p)
{
    tsr_vec3 n = tsr_vec3_unit(o->normal), up = tsr_vec3_unit(o->up);
    if (!(tsr_vec3_length(n) > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "slice normal (%g, %g, %g), expected a finite direction other than 0", o->normal.x, o->normal.y, o->normal.z);
    if (!(tsr_vec3_length(up) > 0)) up = fabs(n.z) < 0.9 ? (tsr_vec3){ 0, 0, 1 } : (tsr_vec3){ 0, 1, 0 };
    p->right = tsr_vec3_unit(tsr_vec3_cross(up, n));
    if (!(tsr_vec3_length(p->right) > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "slice up (%g, %g, %g) is along its normal", o->up.x, o->up.y, o->up.z);
    p->up = tsr_vec3_cross(n, p->right);
    int middle = !(o->given & TSR_GIVEN_CENTRE) && isnan(o->position) && o->centre.x == 0 && o->centre.y == 0 && o->centre.z == 0;
    p->centre = middle ? tsr_vec3_scale(tsr_vec3_add(info->bounds.lower, info->bounds.upper), 0.5) : o->centre;
    if (!isfinite(p->centre.x + p->centre.y + p->centre.z)) TSR_FAIL(TSR_ERROR_ARGUMENT, "slice centre must be finite numbers");
    tsr_vec3 d = tsr_vec3_sub(info->bounds.upper, info->bounds.lower);
    p->width = fabs(d.x * p->right.x) + fabs(d.y * p->right.y) + fabs(d.z * p->right.z);
    p->height = fabs(d.x * p->up.x) + fabs(d.y * p->up.y) + fabs(d.z * p->up.z);
    return TSR_OK;
}

/* The index box that axis slices are counted in. */
static tsr_status slice_grid(const tsr_scene *scene, const tsr_geometry **g, int32_t size[3])
{
    const tsr_dense *d = scene->source ? scene->source : scene->surface;
    if (!d) TSR_FAIL(TSR_ERROR_STATE, "a slice along an axis needs a volume; for a tile list alone use axis 3 (oblique)");
    *g = &d->geometry;
    memcpy(size, d->size, sizeof d->size);
    return TSR_OK;
}

tsr_status tsr_render_slice(tsr_scene *scene, const tsr_slice_options *options, tsr_picture *picture)
{
    TSR_NEEDS(scene, picture);
    static const tsr_slice_options defaults = TSR_SLICE_OPTIONS;
    static const tsr_color yellow = { 1.0f, 0.92f, 0.05f };
    tsr_slice_options o;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_slice_frame f;
    struct plane plane = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, 0, 0 };
    TSR_TRY(check_target(scene, picture));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options ? options : &defaults));
    TSR_TRY(tsr_scene_describe(scene, &info));
    memset(&f, 0, sizeof f);
    f.width = picture->width;
    f.height = picture->height;
    TSR_TRY(tsr_frame_supersampling(o.supersampling, &f.samples));
    if (o.axis < 0 || o.axis > 3) TSR_FAIL(TSR_ERROR_ARGUMENT, "slice axis %d, expected 0, 1, 2 (x, y, z) or 3 (oblique)", o.axis);
    if (o.palette != TSR_PALETTE_GREY && o.palette != TSR_PALETTE_DIVERGING)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "slice palette %d, expected TSR_PALETTE_GREY or TSR_PALETTE_DIVERGING", (int)o.palette);
    if (!isfinite(o.line_width)) TSR_FAIL(TSR_ERROR_ARGUMENT, "slice line_width %g, expected pixels", o.line_width);
    if (o.line_width > 0 && scene->surface_kind == TSR_FIELD_MESH)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the contour of a mesh cannot be drawn: give the surface as a volume or tile list, or line_width -1");
    if (o.axis == 3) {
        TSR_TRY(oblique_plane(&info, &o, &plane));
    } else {
        const tsr_geometry *g = NULL;
        int32_t size[3] = { 0 };
        TSR_TRY(slice_grid(scene, &g, size));
        TSR_TRY(axis_plane(g, size, &o, 0.5 * (size[o.axis] - 1), &plane));
    }
    if (!(o.height >= 0 && isfinite(o.height))) TSR_FAIL(TSR_ERROR_ARGUMENT, "slice height %g, expected world units (0 = fit)", o.height);
    double pixel = o.height > 0 ? o.height / f.height : fmax(plane.width / f.width, plane.height / f.height);
    tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(info.bounds.lower, info.bounds.upper), 0.5);
    tsr_vec3 corner = tsr_vec3_add(tsr_vec3_sub(plane.centre, centre), tsr_vec3_add(tsr_vec3_scale(plane.right, -0.5 * pixel * f.width),
                                                                                    tsr_vec3_scale(plane.up, 0.5 * pixel * f.height)));
    f.corner = tsr_vec3_float(corner);
    f.right = tsr_vec3_float(tsr_vec3_scale(plane.right, pixel));
    f.down = tsr_vec3_float(tsr_vec3_scale(plane.up, -pixel));
    f.pixel_size = (float)pixel;
    double low, high;
    if (o.palette == TSR_PALETTE_DIVERGING && o.window_low == 0 && o.window_high == 0) {
        high = fmax(fabs(info.minimum), fabs(info.maximum));
        high = high > 0 ? high : 1;
        low = -high;
    } else {
        TSR_TRY(check_window(o.window_low, o.window_high, &info, &low, &high));
        if (o.palette == TSR_PALETTE_DIVERGING) { /* zero is always in the middle */
            high = fmax(fabs(low), fabs(high));
            low = -high;
        }
    }
    f.look = (tsr_slice_look){ .palette = (int32_t)o.palette,
                               .nearest = o.nearest != 0,
                               .low = (float)low,
                               .inverse_width = (float)(1 / (high - low)),
                               .half_line = o.line_width == 0  ? 0.75f
                                            : o.line_width < 0 ? 0.0f
                                                               : 0.5f * (float)o.line_width,
                               .line_color = tsr_color_linear(tsr_color_or(o.line_color, o.given, TSR_GIVEN_LINE_COLOR, yellow)),
                               .outside = tsr_color_linear(o.background) };
    TSR_TRY(tsr_scene_surface_field(scene, centre, &f.surface));
    f.look.contour = f.surface.kind == TSR_FIELD_DENSE || f.surface.kind == TSR_FIELD_TILES;
    if (scene->source) TSR_TRY(tsr_dense_field(scene->source, centre, &f.volume));
    const tsr_context *c = scene->context;
    const int32_t band = tsr_band_rows(c, &o.progress, f.width, f.height, f.samples);
    TSR_PROGRESS(&o.progress, 0, "render");
    for (int32_t row = 0; row < f.height; row += band) {
        const int32_t end = tsr_mini(f.height - row, band) + row;
        TSR_TRY(c->backend->render->slice(c->queue, &f, row, end, picture->rgba, picture->depth));
        TSR_TRY(tsr_band_done(c, &o.progress, end, f.height));
    }
    return TSR_OK;
}
