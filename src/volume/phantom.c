/* volume/phantom.c: makes phantoms: options, rows in parallel, then blur, bias field and noise of images. */
#include "volume/phantom.h"

#include <stdio.h>

#include "core/parallel.h"
#include "volume/volume.h"
#include "tessera/filter.h"

static const tsr_phantom *phantom_at(int32_t index)
{
    if (index < 0) return NULL;
    if (index < tsr_phantom_image_count) return &tsr_phantom_images[index];
    index -= tsr_phantom_image_count;
    return index < tsr_phantom_shape_count ? &tsr_phantom_shapes[index] : NULL;
}

const tsr_phantom_info *tsr_phantom_at(int32_t index)
{
    const tsr_phantom *p = phantom_at(index);
    return p ? &p->info : NULL;
}

static tsr_status find_phantom(const char *name, const tsr_phantom **phantom)
{
    char names[1024] = "";
    size_t used = 0;
    for (int32_t i = 0; (*phantom = phantom_at(i)) != NULL; i++) {
        if (name && !strcmp((*phantom)->info.name, name)) return TSR_OK;
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", (*phantom)->info.name);
        TSR_ASSERT(used < sizeof names);
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom '%.60s': unknown, expected one of%s", name ? name : "(null)", names);
}

static tsr_status take_options(const tsr_phantom *phantom, const tsr_phantom_options *options, tsr_phantom_options *o)
{
    TSR_TRY(tsr_options_take(o, sizeof *o, options));
    const char *name = phantom->info.name;
    if (!o->size.x && !o->size.y && !o->size.z) o->size = phantom->info.size;
    if (o->spacing.x == 0 && o->spacing.y == 0 && o->spacing.z == 0) o->spacing = (tsr_vec3){ 1, 1, 1 };
    const int64_t size[3] = { o->size.x, o->size.y, o->size.z };
    const double spacing[3] = { o->spacing.x, o->spacing.y, o->spacing.z };
    for (int a = 0; a < 3; a++) {
        if (size[a] < 2 || size[a] > 1 << 20)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: size %c is %lld, expected 2 to %d", name, "xyz"[a], (long long)size[a], 1 << 20);
        if (!(spacing[a] > 0) || !isfinite(spacing[a]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: spacing %c is %g, expected a positive number", name, "xyz"[a], spacing[a]);
    }
    if (!(o->parameter >= 0) || !isfinite(o->parameter))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: parameter is %g, expected a number >= 0", name, o->parameter);
    if (!(o->bias >= 0 && o->bias < 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: bias is %g, expected 0 <= bias < 1", name, o->bias);
    if (!isfinite(o->noise)) TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: noise is %g, expected a finite number", name, o->noise);
    if (!isfinite(o->blur)) TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: blur is %g, expected a finite number", name, o->blur);
    if (phantom->info.kind != TSR_PHANTOM_IMAGE && (o->noise > 0 || o->blur > 0 || o->bias > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "phantom %s: noise, blur and bias are for images; this one is a level-set function", name);
    if (o->noise == 0) o->noise = phantom->info.noise;
    if (o->blur == 0) o->blur = phantom->info.blur;
    if (o->threads <= 0) o->threads = tsr_parallel_default_threads();
    return TSR_OK;
}

/* ---- rows in parallel ------------------------------------------------------------------------------------------------------------------ */

struct fill {
    const tsr_phantom *phantom;
    const tsr_scene *scene;
    float *values;
    uint8_t *truth;
    int64_t first; /* row */
    double noise, bias;
};

static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct fill *f = (const struct fill *)user;
    int64_t nx = f->scene->size[0], ny = f->scene->size[1];
    (void)worker;
    for (int64_t i = f->first + begin; i < f->first + end; i++)
        f->phantom->row(f->scene, i % ny, i / ny, f->values + i * nx, f->truth ? f->truth + i * nx : NULL);
}

/* Bias field in [1 - bias, 1 + bias], a product of slow waves. */
static double bias_at(const struct fill *f, double x, double y, double z)
{
    const double *half = f->scene->half;
    return 1 + f->bias * tsr_det_sin(1.9 * x / half[0] + 0.7) * tsr_det_cos(1.3 * y / half[1] - 0.4) * tsr_det_cos(1.1 * z / half[2] + 0.2);
}

/* Rician noise: the magnitude of a complex signal with normal noise in both parts. */
static void disturb_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct fill *f = (const struct fill *)user;
    const tsr_scene *s = f->scene;
    uint64_t stream = s->seed ^ 0x6e6f697365ull; /* apart from the draws of the scene */
    (void)worker;
    for (int64_t i = f->first + begin; i < f->first + end; i++)
        for (int64_t x = 0; x < s->size[0]; x++) {
            int64_t at = i * s->size[0] + x;
            double v = (double)f->values[at], a, b;
            if (f->bias > 0)
                v *= bias_at(f, tsr_scene_centred(s, 0, x), tsr_scene_centred(s, 1, i % s->size[1]), tsr_scene_centred(s, 2, i / s->size[1]));
            if (f->noise > 0) {
                tsr_det_normal_pair(stream, (uint64_t)at, &a, &b);
                v = sqrt((v + f->noise * a) * (v + f->noise * a) + f->noise * b * (f->noise * b));
            }
            f->values[at] = (float)v;
        }
}

/* All rows in pieces, with progress from `from` to `to` between them. */
static tsr_status run_rows(const tsr_phantom_options *o, struct fill *fill, tsr_parallel_body body, double from, double to)
{
    int64_t rows = fill->scene->size[1] * fill->scene->size[2], piece = tsr_max64(64, rows / 32);
    for (fill->first = 0; fill->first < rows; fill->first += piece) {
        TSR_PROGRESS(&o->progress, from + (to - from) * (double)fill->first / (double)rows, "phantom");
        tsr_parallel(o->threads, tsr_min64(piece, rows - fill->first), 8, body, fill);
    }
    return TSR_OK;
}

/* Replaces *volume by its smoothed self. */
static tsr_status blur_volume(const tsr_phantom_options *o, tsr_volume **volume)
{
    tsr_status status;
    tsr_context *context = NULL;
    tsr_volume *smoothed = NULL, *host = NULL;
    tsr_context_options cpu = { .struct_size = sizeof cpu, .device = "cpu", .threads = o->threads };
    tsr_smooth_options smooth = { .struct_size = sizeof smooth, .sigma = o->blur, .in_voxels = 1 };
    TSR_TRY(tsr_context_create(&cpu, &context));
    TSR_TRY_GOTO(tsr_volume_smooth(context, *volume, &smooth, &smoothed), done);
    TSR_TRY_GOTO(tsr_volume_copy(smoothed, NULL, &host), done);
    tsr_volume_destroy(volume);
    *volume = host;
done:
    tsr_volume_destroy(&smoothed);
    tsr_context_destroy(&context);
    return status;
}

tsr_status tsr_phantom_make(const char *name, const tsr_phantom_options *options, tsr_volume **volume, tsr_volume **truth)
{
    TSR_RETURNS(volume);
    tsr_status status;
    const tsr_phantom *phantom;
    tsr_phantom_options o;
    if (truth) *truth = NULL;
    TSR_TRY(find_phantom(name, &phantom));
    TSR_TRY(take_options(phantom, options, &o));
    tsr_scene scene = {
        .size = { o.size.x, o.size.y, o.size.z }, .spacing = { o.spacing.x, o.spacing.y, o.spacing.z }, .seed = o.seed, .parameter = o.parameter
    };
    for (int a = 0; a < 3; a++) {
        scene.half[a] = scene.spacing[a] * (double)(scene.size[a] - 1) * 0.5;
        if (scene.half[a] > scene.unit) scene.unit = scene.half[a];
    }
    tsr_geometry geometry = tsr_geometry_make(o.spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    if (phantom->prepare) TSR_TRY(phantom->prepare(&scene));
    TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, o.size, &geometry, volume), fail);
    if (truth) TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_U8, o.size, &geometry, truth), fail);
    struct fill fill = { .phantom = phantom,
                         .scene = &scene,
                         .values = (float *)tsr_volume_data(*volume),
                         .truth = truth ? (uint8_t *)tsr_volume_data(*truth) : NULL,
                         .noise = o.noise,
                         .bias = o.bias };
    TSR_TRY_GOTO(run_rows(&o, &fill, fill_rows, 0, 0.6), fail);
    if (o.blur > 0) TSR_TRY_GOTO(blur_volume(&o, volume), fail);
    fill.values = (float *)tsr_volume_data(*volume);
    if (o.noise > 0 || o.bias > 0) TSR_TRY_GOTO(run_rows(&o, &fill, disturb_rows, 0.7, 1), fail);
    TSR_TRY_GOTO(tsr_volume_set_meta(*volume, "make.phantom", name), fail);
    tsr_host_release(NULL, scene.memory, scene.memory_bytes);
    return TSR_OK;
fail:
    tsr_host_release(NULL, scene.memory, scene.memory_bytes);
    tsr_volume_destroy(volume);
    if (truth) tsr_volume_destroy(truth);
    return status;
}
