/* viewer/draw.c: what a window shows. */
#define _POSIX_C_SOURCE 200809L
#include "draw.h"

#include <math.h>
#include <string.h>

#include "picture.h"

static const double draft_step = 1.5;   /* of a ray, in voxels */
static const double LEAST_TOTAL = 0.25; /* the total speed: curvature of usual radii must not saturate the palette where alpha is small */

static void drop_mip(viewer_drawer *d)
{
    tsr_mip_destroy(&d->mip);
    tsr_mip_frame_destroy(&d->mip_frame);
}

tsr_status viewer_drawer_create(viewer_session *s, viewer_drawer *d)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    memset(d, 0, sizeof *d);
    d->s = s;
    d->progress = (tsr_progress){ viewer_session_quits, s };
    options.device = s->device;
    options.threads = s->threads;
    tsr_status status = tsr_context_create(&options, &d->context);
    if (status == TSR_OK) status = tsr_scene_create(d->context, &d->scene);
    if (status == TSR_OK) status = tsr_scene_create(d->context, &d->speed_scene);
    return status;
}

void viewer_drawer_clear(viewer_drawer *d)
{
    for (int v = 0; v < VIEWER_WINDOWS; v++) tsr_picture_destroy(&d->picture[v]);
    tsr_picture_destroy(&d->second);
    tsr_scene_destroy(&d->overlay_scene);
    tsr_volume_destroy(&d->overlay_volume);
    viewer_image_release(d->s, &d->overlay);
    viewer_labels_release(d->s, &d->labels);
    drop_mip(d);
    tsr_scene_destroy(&d->scene);
    tsr_scene_destroy(&d->speed_scene);
    tsr_tiles_destroy(&d->tiles);
    tsr_volume_destroy(&d->speed.volume);
    tsr_volume_destroy(&d->volume);
    viewer_image_release(d->s, &d->image);
    tsr_context_destroy(&d->context);
}

tsr_status viewer_drawer_take_image(viewer_drawer *d, viewer_image *image)
{
    viewer_image *before = d->image;
    tsr_volume *volume_before = d->volume;
    drop_mip(d);
    d->volume = NULL;
    d->image = image;
    tsr_tiles_destroy(&d->tiles);
    tsr_scene_clear_surface(d->scene);
    tsr_scene_clear_surface(d->speed_scene);
    tsr_status status = tsr_scene_set_volume(d->speed_scene, NULL);
    d->isovalue = NAN;
    if (status == TSR_OK && image->volume && tsr_context_device(d->context).kind != TSR_DEVICE_CPU)
        status = tsr_volume_copy(d->image->volume, d->context, &d->volume);
    if (status == TSR_OK) status = tsr_scene_set_volume(d->scene, d->volume ? d->volume : d->image->volume);
    if (status != TSR_OK && tsr_scene_set_volume(d->scene, NULL) != TSR_OK) return status; /* the scene must not hold the image that goes now */
    if (status == TSR_OK && image->mesh) status = tsr_scene_set_surface_mesh(d->scene, image->mesh);
    tsr_volume_destroy(&d->speed.volume);
    tsr_volume_destroy(&volume_before);
    viewer_image_release(d->s, &before);
    return status;
}

tsr_status viewer_drawer_copy_tiles(viewer_drawer *d, const tsr_tiles *tiles)
{
    tsr_tiles *copy = NULL;
    if (tiles) {
        tsr_status status = tsr_tiles_copy(tiles, d->context, &copy);
        if (status != TSR_OK) return status;
    }
    tsr_scene_clear_surface(d->scene);
    tsr_scene_clear_surface(d->speed_scene);
    if (copy && tsr_scene_set_surface_tiles(d->scene, copy) != TSR_OK) tsr_scene_clear_surface(d->scene); /* an empty list */
    d->speed_stale = 1;
    tsr_tiles_destroy(&d->tiles);
    d->tiles = copy;
    return TSR_OK;
}

/* Grey values as u8 or u16, which pyramids are made of. */
static tsr_status build_mip(viewer_drawer *d)
{
    const tsr_volume *volume = d->volume ? d->volume : d->image->volume;
    tsr_volume *real = NULL, *small = NULL;
    tsr_dtype dtype = tsr_volume_dtype(volume);
    double slope, intercept;
    tsr_volume_scaling(volume, &slope, &intercept);
    tsr_status status = TSR_OK;
    if ((dtype != TSR_U8 && dtype != TSR_U16) || slope != 1 || intercept != 0) {
        double scale = 65535 / (d->image->maximum - d->image->minimum);
        status = tsr_volume_combine(d->context, TSR_COMBINE_LINEAR, scale, volume, 0, NULL, -scale * d->image->minimum, &real);
        if (status == TSR_OK) status = tsr_volume_convert(d->context, real, TSR_U16, &small);
        tsr_volume_destroy(&real);
    }
    tsr_mip_options options = TSR_MIP_OPTIONS;
    if (status == TSR_OK) status = tsr_mip_build(d->context, small ? small : volume, &options, &d->mip);
    d->mip_dtype = small ? TSR_U16 : dtype;
    tsr_volume_destroy(&small);
    return status;
}

static tsr_status draw_mip(viewer_drawer *d, const viewer_task *t, int32_t width, int32_t height, tsr_image *image)
{
    tsr_status status = d->mip ? TSR_OK : build_mip(d);
    if (status == TSR_OK && (!d->mip_frame || d->mip_width != width || d->mip_height != height)) {
        tsr_mip_frame_destroy(&d->mip_frame);
        status = tsr_mip_frame_create(d->context, width, height, &d->mip_frame);
        d->mip_width = width;
        d->mip_height = height;
    }
    if (status != TSR_OK) return status;
    const viewer_image *i = d->image;
    double least = fmin(i->spacing.x, fmin(i->spacing.y, i->spacing.z));
    const double sx = i->spacing.x / least, sy = i->spacing.y / least, sz = i->spacing.z / least;
    double longest = sqrt(pow((double)i->size.x * sx, 2) + pow((double)i->size.y * sy, 2) + pow((double)i->size.z * sz, 2));
    double zoom = fmin(64, 1.15 * fmin(width, height) / longest * t->look.zoom);
    tsr_mip_view view = tsr_mip_orbit(t->look.azimuth, t->look.elevation, zoom);
    view.stretch = (tsr_vec3){ sx, sy, sz };
    tsr_mip_render_options options = TSR_MIP_RENDER_OPTIONS;
    options.fraction = fmax(t->look.quality, 0.001);
    double low = t->window_low, high = t->window_high; /* in the values of the pyramid */
    if (d->mip_dtype == TSR_U16 && tsr_volume_dtype(d->image->volume) != TSR_U16) {
        double scale = 65535 / (i->maximum - i->minimum);
        low = (low - i->minimum) * scale;
        high = (high - i->minimum) * scale;
    }
    status = tsr_mip_render(d->mip, &view, &options, d->mip_frame, NULL);
    return status == TSR_OK ? tsr_mip_frame_image(d->mip_frame, d->mip_dtype, high - low, 0.5 * (low + high), image) : status;
}

/* The surface over the speed, when that is drawn: most strokes are seen in other windows. */
tsr_scene *viewer_speed_scene(viewer_drawer *d)
{
    if (d->speed_stale && d->tiles && tsr_scene_set_surface_tiles(d->speed_scene, d->tiles) != TSR_OK) tsr_scene_clear_surface(d->speed_scene);
    d->speed_stale = 0;
    return d->speed_scene;
}

void viewer_speed_palette(const viewer_drawer *d, tsr_slice_options *options)
{
    options->palette = TSR_PALETTE_DIVERGING;
    const double least = d->speed.kind == VIEWER_SPEED_TOTAL ? LEAST_TOTAL : VIEWER_LEAST_ALPHA;
    options->window_high = 2 * fmax(d->speed.alpha, least); /* D peaks at 1; the palette is at its purest half way */
    options->window_low = -options->window_high;
}

static tsr_status draw_slice(viewer_drawer *d, const viewer_task *t, int view, tsr_picture *picture, viewer_frame *frame, tsr_image *image)
{
    tsr_slice_options options = TSR_SLICE_OPTIONS;
    viewer_plane plane;
    viewer_slice_plane(d->image, &t->look, &plane);
    if (viewer_slice_options(d->image, &plane, &t->look, tsr_picture_width(picture), tsr_picture_height(picture), &options, frame))
        return TSR_ERROR_ARGUMENT;
    options.line_width = fmax(1.4, 1.8 * tsr_picture_width(picture) / t->look.width);
    const int speed = view == VIEWER_SPEED && d->speed.volume; /* the image until there is one */
    if (speed) {
        viewer_speed_palette(d, &options);
    } else if (view != VIEWER_SPEED) {
        options.window_low = t->window_low;
        options.window_high = t->window_high;
        if (t->own_colour) options.line_color = (tsr_color){ (float)t->colour[0], (float)t->colour[1], (float)t->colour[2] };
    }
    tsr_status status = tsr_render_slice(speed ? viewer_speed_scene(d) : d->scene, &options, picture);
    if (status == TSR_OK) status = tsr_picture_image(picture, 3, image);
    if (status != TSR_OK || view == VIEWER_SPEED) return status;
    status = viewer_lay_over(d, t, &options, image);
    viewer_lay_labels(d, t, frame, image);
    if (t->opacity > 0) viewer_fill(d, t, frame, image);
    return status;
}

/* Without a volume the box of what stands there stays, so that the picture keeps its place while a surface grows. */
tsr_status viewer_describe(const viewer_drawer *d, tsr_scene_info *info)
{
    const tsr_status status = tsr_scene_describe(d->scene, info);
    if (status == TSR_OK && !info->has_volume && d->image && d->image->bounds.upper.x > d->image->bounds.lower.x) info->bounds = d->image->bounds;
    return status;
}

/* The surface of a session that shows one isovalue of its volume. */
static tsr_status take_isovalue(viewer_drawer *d, const viewer_task *t)
{
    const tsr_volume *volume = d->volume ? d->volume : d->image->volume;
    if (!volume || d->tiles || d->image->mesh || t->isovalue == d->isovalue || (isnan(t->isovalue) && isnan(d->isovalue))) return TSR_OK;
    d->isovalue = t->isovalue;
    if (!isnan(t->isovalue)) return tsr_scene_set_surface_volume(d->scene, volume, t->isovalue, 0);
    tsr_scene_clear_surface(d->scene);
    return TSR_OK;
}

static tsr_status draw_volume(viewer_drawer *d, const viewer_task *t, tsr_picture *picture, viewer_frame *frame, tsr_image *image)
{
    static const tsr_render_mode modes[] = { TSR_RENDER_SURFACE, TSR_RENDER_COMBINED, TSR_RENDER_VOLUME, TSR_RENDER_VOLUME };
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_status status = viewer_describe(d, &info);
    if (status != TSR_OK) return status;
    options.mode = !info.has_volume ? TSR_RENDER_SURFACE : info.has_surface ? modes[t->look.mode] : TSR_RENDER_VOLUME;
    const int missing = !info.has_surface && (t->look.mode == VIEWER_MODE_SURFACE || t->look.mode == VIEWER_MODE_INSIDE);
    static const tsr_transfer clear = { .points = 1 }; /* where there is no surface yet, what it would show is nothing; the clipping plane is drawn */
    if (t->look.mode == VIEWER_MODE_INSIDE && info.has_surface) options.region = TSR_REGION_INSIDE;
    options.transfer = missing ? &clear : t->transfer.points ? &t->transfer : NULL;
    options.step = t->draft ? draft_step * t->coarse : 0.5;
    if (!t->draft || !t->fresh) options.progress = d->progress; /* may take long */
    options.jitter = 1;
    options.window_low = t->window_low;
    options.window_high = t->window_high;
    options.surface_color =
        t->own_colour ? (tsr_color){ (float)t->colour[0], (float)t->colour[1], (float)t->colour[2] } : (tsr_color){ 0.95f, 0.72f, 0.42f };
    if (t->draft) options.ambient_occlusion = -1;
    if (t->look.clip) {
        options.clip = 1;
        options.clip_face = TSR_CLIP_QUAD;
        options.clip_volume_only = options.mode == TSR_RENDER_COMBINED; /* the surface stands out of the plane that shows where it cuts */
        status = viewer_clip(&info, &t->look, &options.clip_normal, &options.clip_offset);
    }
    if (status == TSR_OK) status = viewer_camera(&info, &t->look, &d->camera);
    if (status != TSR_OK) return status;
    frame->pixel = (float)viewer_camera_pixel(&info, &d->camera, tsr_picture_height(picture));
    frame->zoom = (float)t->look.zoom;
    status = tsr_render(d->scene, &d->camera, &options, picture);
    if (status == TSR_OK) status = tsr_picture_image(picture, 3, image);
    const int hidden = options.mode == TSR_RENDER_COMBINED && t->look.see_through > 0;
    return status == TSR_OK && hidden ? viewer_see_through(d, t, &options, image) : status;
}

static tsr_status draw_nothing(int32_t width, int32_t height, tsr_image *image)
{
    tsr_status status = tsr_image_create(width, height, 3, image);
    if (status == TSR_OK) memset(image->pixels, 24, (size_t)width * (size_t)height * 3);
    return status;
}

tsr_status viewer_draw(viewer_drawer *d, const viewer_task *t, int view, int32_t width, int32_t height, viewer_frame *frame, tsr_image *image)
{
    if (view == VIEWER_VOLUME && t->look.mode == VIEWER_MODE_MIP && d->image->volume) return draw_mip(d, t, width, height, image);
    tsr_status status = viewer_need_picture(d->context, &d->picture[t->window], width, height);
    if (status == TSR_OK) status = take_isovalue(d, t);
    if (status != TSR_OK) return status;
    tsr_picture *picture = d->picture[t->window];
    tsr_scene_info info = TSR_SCENE_INFO;
    if (!d->image->volume && (tsr_scene_describe(d->scene, &info) != TSR_OK || (d->image->mesh && view != VIEWER_VOLUME)))
        return draw_nothing(width, height, image); /* all is taken away, or a mesh has no slices */
    return view == VIEWER_VOLUME ? draw_volume(d, t, picture, frame, image) : draw_slice(d, t, view, picture, frame, image);
}
