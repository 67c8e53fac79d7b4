/* light/light_view.c: pictures: the camera's rays, what is around, tones. */
#include <math.h>
#include <stdlib.h>

#include "camera/camera.h"
#include "light/light.h"

static void store(float to[3], const double from[3])
{
    for (int k = 0; k < 3; k++) to[k] = (float)from[k];
}

static tsr_status check_colors(const double *c, int count, const char *name, double most)
{
    for (int k = 0; k < count; k++)
        if (!(c[k] >= 0 && c[k] <= most)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s[%d] is %g, expected 0 to %g", name, k, c[k], most);
    return TSR_OK;
}

static tsr_status set_camera(const tsr_light_matter *m, const tsr_camera *camera, tsr_light_seen *s)
{
    tsr_camera_rays rays;
    double origin[3][3], direction[3][3];
    TSR_TRY(tsr_camera_check(camera));
    if (camera->projection == TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its projection is a matrix, expected perspective or orthographic");
    TSR_TRY(tsr_camera_rays_make("camera", camera, s->width, s->height, &rays));
    for (int c = 0; c < 3; c++) tsr_camera_rays_place(&rays, c == 1 ? s->width : 0, c == 2 ? s->height : 0, origin[c], direction[c]);
    const double extent[3] = { 1, s->width, s->height };
    double at[3];
    tsr_light_place(m, origin[0], at);
    for (int k = 0; k < 3; k++) {
        s->origin[0][k] = (float)at[k];
        s->direction[0][k] = (float)direction[0][k];
        for (int c = 1; c < 3; c++) {
            s->direction[c][k] = (float)((direction[c][k] - direction[0][k]) / extent[c]);
            s->shift[c - 1][k] = (float)((origin[c][k] - origin[0][k]) / extent[c] / m->voxel);
        }
    }
    return TSR_OK;
}

static tsr_status set_sky(tsr_context *context, const tsr_light_surroundings *a, tsr_light_sky *s, float **map, size_t *bytes)
{
    TSR_TRY(check_colors(a->lower, 3, "lower", 1e12));
    TSR_TRY(check_colors(a->horizon, 3, "horizon", 1e12));
    TSR_TRY(check_colors(a->upper, 3, "upper", 1e12));
    store(s->lower, a->lower);
    store(s->horizon, a->horizon);
    store(s->upper, a->upper);
    if (!(a->scale >= 0 && a->scale <= 1e12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "scale of the surroundings is %g, expected 0 to 1e12", a->scale);
    s->scale = a->scale > 0 ? (float)a->scale : 1.0f;
    if (!(fabs(a->turn) <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "turn of the surroundings is %g degrees, expected a finite number", a->turn);
    s->turn = (float)(a->turn / 360 - floor(a->turn / 360));
    if (a->panel_count < 0 || a->panel_count > TSR_LIGHT_PANELS || (a->panel_count && !a->panels))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d panels, expected 0 to %d", a->panel_count, TSR_LIGHT_PANELS);
    s->panels = a->panel_count;
    for (int32_t i = 0; i < a->panel_count; i++) {
        const tsr_light_panel *p = &a->panels[i];
        const double *d = p->direction, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), flat = sqrt(d[0] * d[0] + d[1] * d[1]);
        if (!(length > 1e-12 && length < 1e12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "panel %d: its direction has length %g", i, length);
        if (!(p->width > 0 && p->width < 170 && p->height > 0 && p->height < 170))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "panel %d is %g x %g degrees, expected above 0 and below 170", i, p->width, p->height);
        TSR_TRY(check_colors(p->color, 3, "color of a panel", 1e12));
        double at[3], across[3] = { 1, 0, 0 };
        for (int k = 0; k < 3; k++) at[k] = d[k] / length;
        if (flat > 1e-6 * length) {
            across[0] = -d[1] / flat;
            across[1] = d[0] / flat;
        }
        const double up[3] = { at[1] * across[2] - at[2] * across[1], at[2] * across[0] - at[0] * across[2], at[0] * across[1] - at[1] * across[0] };
        store(s->panel[i].at, at);
        store(s->panel[i].across, across);
        store(s->panel[i].up, up);
        store(s->panel[i].color, p->color);
        s->panel[i].wide = (float)tan(p->width * (M_PI / 360));
        s->panel[i].high = (float)tan(p->height * (M_PI / 360));
    }
    if (!a->map) return TSR_OK;
    const tsr_size3 n = tsr_volume_size(a->map);
    if (tsr_volume_dtype(a->map) != TSR_F32 || n.z != 3 || n.x < 2 || n.y < 2 || n.x > 32768 || n.y > 32768 || tsr_volume_device(a->map).kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map of the surroundings is %lld x %lld x %lld %s, expected a panorama of f32 with 3 channels on the host", (long long)n.x,
                 (long long)n.y, (long long)n.z, tsr_dtype_name(tsr_volume_dtype(a->map)));
    const float *from = (const float *)tsr_volume_data_const(a->map);
    float *mixed = NULL;
    *bytes = (size_t)(n.x * n.y) * 12;
    TSR_TRY(tsr_host_allocate(NULL, *bytes, (void **)&mixed));
    for (int64_t i = 0; i < n.x * n.y; i++)
        for (int k = 0; k < 3; k++) {
            const float v = from[k * n.x * n.y + i];
            mixed[i * 3 + k] = v > 0.0f && v < 1e12f ? v : 0.0f;
        }
    tsr_status status = tsr_device_allocate(context, *bytes, (void **)map);
    if (status == TSR_OK) status = tsr_device_move(context, *map, NULL, mixed, *bytes);
    tsr_host_release(NULL, mixed, *bytes);
    s->map = *map;
    s->size[0] = (int32_t)n.x;
    s->size[1] = (int32_t)n.y;
    return status;
}

static tsr_status set_floor(const tsr_light_matter *m, const tsr_light_field *field, const tsr_light_view_options *o, tsr_light_seen *s)
{
    const tsr_light_floor_look *f = &o->floor;
    TSR_TRY(check_colors(f->color, 3, "color of the floor", 1));
    TSR_TRY(check_colors(f->second, 3, "second color of the floor", 1));
    TSR_TRY(check_colors(f->ambient, 3, "ambient of the floor", 1e12));
    if (!(f->square >= 0) || !(f->fade >= 0) || !(f->gloss >= 0 && f->gloss <= 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "square, fade and gloss of the floor are %g, %g, %g, expected no negative, gloss at most 1", f->square, f->fade, f->gloss);
    TSR_TRY(tsr_light_check_sources(o->sources, o->source_count));
    if (o->source_count > TSR_LIGHT_SOURCES) TSR_FAIL(TSR_ERROR_ARGUMENT, "%d lights for the floor, expected at most %d", o->source_count, TSR_LIGHT_SOURCES);
    s->has_floor = field && field->floor.light;
    if (!s->has_floor) return TSR_OK;
    s->floor = field->floor;
    store(s->color, f->color);
    store(s->second, f->second);
    store(s->glow, f->ambient);
    s->square = (float)(f->square / m->voxel);
    s->fade = (float)(f->fade / m->voxel);
    s->gloss = (float)f->gloss;
    for (int k = 0; k < 2; k++) s->middle[k] = 0.5f * (float)(s->medium.size[k] - 1);
    s->lamps = o->source_count;
    for (int32_t i = 0; i < o->source_count; i++) {
        const tsr_light_source *from = &o->sources[i];
        tsr_light_lamp *l = &s->lamp[i];
        double at[3], d[3] = { 0, 0, -1 }, inner = 1, outer = -1, color[3];
        const double length = sqrt(from->direction[0] * from->direction[0] + from->direction[1] * from->direction[1] + from->direction[2] * from->direction[2]);
        tsr_light_place(m, from->position, at);
        for (int k = 0; k < 3; k++) {
            if (from->kind != TSR_LIGHT_POINT) d[k] = from->direction[k] / length;
            color[k] = from->kind == TSR_LIGHT_DIRECTIONAL ? from->color[k] : from->color[k] / (m->voxel * m->voxel);
        }
        if (from->kind == TSR_LIGHT_SPOT) tsr_light_cone(from, &inner, &outer);
        l->kind = (int32_t)from->kind;
        store(l->at, at);
        store(l->direction, d);
        store(l->color, color);
        l->inner = (float)inner;
        l->outer = (float)outer;
    }
    return TSR_OK;
}

static tsr_status check(tsr_light_view_options *o)
{
    if (!o->width && !o->height) {
        o->width = 640;
        o->height = 480;
    }
    if (o->step == 0) o->step = 0.5;
    if (!o->samples) o->samples = 1;
    if (!o->reflections) o->reflections = 1;
    if (o->reflections < 0) o->reflections = 0;
    if (o->width < 1 || o->height < 1 || o->width > 32768 || o->height > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture of %d x %d, expected 1 to 32768 each way", o->width, o->height);
    if (!(o->step >= 0.02 && o->step <= 4)) TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g, expected 0.02 to 4 voxels", o->step);
    if (o->samples < 1 || o->samples > 4096 || o->first_sample < 0 || o->first_sample > 1 << 28)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "samples is %d, from number %d, expected 1 to 4096 and no negative number", o->samples, o->first_sample);
    if (o->reflections > 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "reflections is %d, expected at most 4", o->reflections);
    if (!(o->dispersion >= 0 && o->dispersion < 0.5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "dispersion is %g, expected 0 to below 0.5", o->dispersion);
    return check_colors(o->ambient, 3, "ambient", 1e12);
}

tsr_status tsr_light_view(tsr_context *context, const tsr_light_matter *matter, const tsr_light_field *field, const tsr_camera *camera,
                          const tsr_light_view_options *options, tsr_volume **picture)
{
    TSR_RETURNS(picture);
    TSR_NEEDS(matter, camera);
    tsr_light_view_options o;
    tsr_light_seen *s = NULL;
    float *map = NULL;
    size_t map_bytes = 0;
    tsr_volume *made = NULL;
    tsr_status status;
    TSR_TRY(tsr_light_require(context, matter));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(&o));
    if (field && field->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: made on another context, expected the one of this call");
    for (int k = 0; field && k < 3; k++)
        if (field->size[k] != matter->medium.size[k])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light of %d x %d x %d voxels in matter of %d x %d x %d, expected one size", field->size[0], field->size[1],
                     field->size[2], matter->medium.size[0], matter->medium.size[1], matter->medium.size[2]);
    TSR_PROGRESS(&o.progress, 0, "view");
    TSR_TRY(tsr_host_allocate(NULL, sizeof *s, (void **)&s));
    memset(s, 0, sizeof *s);
    s->medium = matter->medium;
    s->bends[0] = s->bends[2] = 1.0f;
    s->bends[1] = (float)(1 - o.dispersion);
    s->bends[3] = (float)(1 + o.dispersion);
    s->dispersed = o.dispersion > 0;
    s->width = o.width;
    s->height = o.height;
    s->samples = o.samples;
    s->first_sample = o.first_sample;
    s->reflections = o.reflections;
    s->skips = !o.no_skipping;
    s->step = (float)o.step;
    s->most = (int32_t)(6.0 * (s->medium.size[0] + s->medium.size[1] + s->medium.size[2]) / o.step);
    store(s->ambient, o.ambient);
    if (field) {
        s->field = field->field;
        s->layers = field->layers;
    }
    TSR_TRY_GOTO(set_camera(matter, camera, s), end);
    TSR_TRY_GOTO(set_sky(context, &o.surroundings, &s->sky, &map, &map_bytes), end);
    TSR_TRY_GOTO(set_floor(matter, field, &o, s), end);
    TSR_TRY_GOTO(tsr_volume_create(context, TSR_F32, (tsr_size3){ o.width, o.height, 3 }, NULL, &made), end);
    TSR_TRY_GOTO(tsr_volume_set_channels(made), end);
    s->picture = (float *)tsr_volume_data(made);
    TSR_TRY_GOTO(context->backend->light->view(context->queue, s), end);
    TSR_TRY_GOTO(tsr_context_synchronize(context), end);
    *picture = made;
    made = NULL;
    status = TSR_OK;
end:
    tsr_volume_destroy(&made);
    tsr_device_release(context, map, map ? map_bytes : 0);
    tsr_host_release(NULL, s, sizeof *s);
    return status;
}

tsr_status tsr_light_tone(tsr_context *context, const tsr_volume *picture, const tsr_light_tone_options *options, tsr_image *image)
{
    TSR_NEEDS(image);
    tsr_light_tone_options o;
    tsr_status status;
    memset(image, 0, sizeof *image);
    if (!context || !picture) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", context ? "picture" : "context");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    const tsr_size3 n = tsr_volume_size(picture);
    if (tsr_volume_dtype(picture) != TSR_F32 || n.z != 3 || n.x > 32768 || n.y > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture of %lld x %lld x %lld %s, expected f32 with 3 channels", (long long)n.x, (long long)n.y, (long long)n.z,
                 tsr_dtype_name(tsr_volume_dtype(picture)));
    const tsr_device own = tsr_context_device(context), its = tsr_volume_device(picture);
    if (own.kind != its.kind || own.index != its.index) TSR_FAIL(TSR_ERROR_ARGUMENT, "picture lies on another device, expected the context's");
    if (o.key == 0) o.key = 0.18;
    if (o.white == 0) o.white = 4;
    if (o.adaption == 0) o.adaption = 0.5;
    if (!(o.exposure >= 0 && o.exposure <= 1e12) || !(o.key > 0 && o.key <= 100) || !(o.white >= 1e-3 && o.white <= 1e6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "exposure, key and white are %g, %g, %g, expected 0 to 1e12, above 0 to 100, 0.001 to 1e6", o.exposure, o.key, o.white);
    if (!(o.seconds >= 0) || !(o.adaption > 0) || (o.adapted && !(*o.adapted >= 0)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "seconds, adaption and adapted are %g, %g, %g, expected no negative, adaption above 0", o.seconds, o.adaption,
                 o.adapted ? *o.adapted : 0);
    const int64_t count = n.x * n.y;
    const size_t bytes = (size_t)count * 3;
    uint8_t *pixels = NULL;
    int64_t *sum = NULL, total = 0;
    tsr_light_tones t = { .picture = (const float *)tsr_volume_data_const(picture), .count = count, .white = (float)(1 / (o.white * o.white)) };
    TSR_TRY(tsr_device_allocate(context, bytes, (void **)&pixels));
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof *sum, (void **)&sum), end);
    t.pixels = pixels;
    t.sum = sum;
    if (!(o.exposure > 0)) {
        TSR_TRY_GOTO(context->backend->fill(context->queue, sum, 0, sizeof *sum), end);
        TSR_TRY_GOTO(context->backend->light->tone_sum(context->queue, &t), end);
        TSR_TRY_GOTO(tsr_device_move(NULL, &total, context, sum, sizeof total), end);
        double mean = exp2((double)total / 65536.0 / (double)count);
        if (o.adapted && *o.adapted > 0) mean = *o.adapted + (mean - *o.adapted) * (1 - exp(-o.seconds / o.adaption));
        if (o.adapted) *o.adapted = mean;
        o.exposure = o.key / mean;
    }
    t.exposure = (float)o.exposure;
    TSR_TRY_GOTO(context->backend->light->tone(context->queue, &t), end);
    TSR_TRY_GOTO(tsr_image_create((int32_t)n.x, (int32_t)n.y, 3, image), end);
    status = tsr_device_move(NULL, image->pixels, context, pixels, bytes);
    if (status != TSR_OK) tsr_image_destroy(image);
end:
    tsr_device_release(context, sum, sum ? sizeof *sum : 0);
    tsr_device_release(context, pixels, bytes);
    return status;
}
