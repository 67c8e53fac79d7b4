/* tools/projectors.c: images of a rig as projectors, which of them a new view is made of, ways from camera to camera. */
#include "projectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

tsr_status rig_remove_lens(tsr_context *context, const tsr_camera *camera, int32_t width, int32_t height, int32_t channels, tsr_volume **color)
{
    tsr_volume *warped = NULL;
    tsr_lens_warp_options o = TSR_LENS_WARP_OPTIONS;
    tsr_lens lens = camera->lens;
    if (!tsr_lens_distorts(&lens)) return TSR_OK;
    if (lens.model == TSR_LENS_FISHEYE && !(lens.focal > 0)) {
        double p[16];
        const tsr_status status = tsr_camera_matrices(camera, width, height, NULL, p);
        if (status != TSR_OK) return status;
        lens.focal = p[0];
    }
    o.channels = channels;
    const tsr_status status = tsr_lens_warp(context, *color, &lens, &o, &warped, NULL);
    if (status == TSR_OK) {
        tsr_volume_destroy(color);
        *color = warped;
    }
    return status;
}

static tsr_status load_color(tsr_context *context, const tsr_rig *rig, const tsr_rig_camera *c, int32_t frame, const tsr_read_options *read,
                             rig_projector *p)
{
    char path[4096];
    tsr_image image = { 0 }, plain = { 0 };
    tsr_status status = tsr_rig_path(rig, c->image, frame, path, sizeof path);
    if (status == TSR_OK) status = tsr_rig_read_image(c, path, read, &image);
    if (status == TSR_OK && image.channels != 3) {
        status = tsr_image_create(image.width, image.height, 3, &plain);
        for (int64_t i = 0; status == TSR_OK && i < (int64_t)image.width * image.height; i++)
            for (int k = 0; k < 3; k++) plain.pixels[3 * i + k] = image.pixels[i * image.channels + (image.channels > 2 ? k : 0)];
    }
    p->width = image.width;
    p->height = image.height;
    if (status == TSR_OK) status = tsr_frames_upload(context, plain.pixels ? &plain : &image, 1, &p->color);
    if (status == TSR_OK) status = rig_remove_lens(context, &c->camera, image.width, image.height, 3, &p->color);
    tsr_image_destroy(&image);
    tsr_image_destroy(&plain);
    p->projector.color = p->color;
    return status;
}

/* A file of no known format that has a float32 for each pixel of the camera, and nothing else, is a depth image of ETH3D. */
static tsr_status read_numbers(const char *path, const tsr_rig_camera *c, const tsr_read_options *options, tsr_volume **file)
{
    tsr_read_options read = *options;
    struct stat about;
    if (c->width > 0 && c->height > 0 && !stat(path, &about) && S_ISREG(about.st_mode) &&
        (int64_t)about.st_size == 4 * (int64_t)c->width * c->height) {
        read.format = "raw";
        read.raw_dtype = TSR_F32;
        read.raw_shape = (tsr_size3){ c->width, c->height, 1 };
    }
    return tsr_volume_read(path, &read, file);
}

/* Which slice of a picture of several channels holds the depths: the one named Z or depth, or any of grey that is written three times; -1: none. */
static int64_t depth_channel(const tsr_volume *file)
{
    const tsr_size3 n = tsr_volume_size(file);
    const char *names = tsr_volume_meta(file, "exr.channels");
    int64_t at = 0;
    if (n.z == 1) return 0;
    for (const char *word = names; word && *word; at++) {
        const size_t length = strcspn(word, " ");
        size_t own = length; /* behind the name of the layer */
        while (own && word[own - 1] != '.') own--;
        if (at < n.z && ((length - own == 1 && strchr("ZzV", word[own])) || (length - own == 5 && !strncasecmp(word + own, "depth", 5)))) return at;
        word += length;
        word += strspn(word, " ");
    }
    if (n.z > 4 || !tsr_volume_channels(file)) return -1;
    const size_t slice = (size_t)(n.x * n.y) * tsr_dtype_size(tsr_volume_dtype(file));
    const char *values = (const char *)tsr_volume_data_const(file);
    return n.z >= 3 && !memcmp(values, values + slice, slice) && !memcmp(values, values + 2 * slice, slice) ? 0 : -1;
}

tsr_status rig_as_reals(const tsr_volume *volume, tsr_volume **reals)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_context *host = NULL;
    tsr_volume *converted = NULL;
    options.device = "cpu";
    tsr_status status = tsr_context_create(&options, &host);
    if (status == TSR_OK) status = tsr_volume_convert(host, volume, TSR_F32, &converted);
    if (status == TSR_OK) status = tsr_volume_copy(converted, NULL, reals);
    tsr_volume_destroy(&converted);
    tsr_context_destroy(&host);
    return status;
}

static tsr_status decode(const tsr_volume *file, int64_t channel, const tsr_rig_camera *c, tsr_volume **depth, tsr_depth_report *report)
{
    const tsr_size3 n = tsr_volume_size(file);
    const tsr_dtype dtype = tsr_volume_dtype(file);
    tsr_volume *slice = NULL, *real = NULL;
    char *at = (char *)tsr_volume_data((tsr_volume *)(uintptr_t)file) + channel * n.x * n.y * (int64_t)tsr_dtype_size(dtype);
    tsr_status status = tsr_volume_wrap(NULL, dtype, (tsr_size3){ n.x, n.y, 1 }, NULL, at, NULL, NULL, &slice);
    if (status == TSR_OK) status = rig_as_reals(slice, &real);
    tsr_volume_destroy(&slice);
    if (status != TSR_OK) return status;
    float *d = (float *)tsr_volume_data(real);
    tsr_depth_encoding encoding = c->encoding; /* how many bits, the file knows best */
    if (encoding.bits && (dtype == TSR_F32 || dtype == TSR_F64)) encoding.bits = 0;
    else if (encoding.bits && encoding.kind != TSR_DEPTH_EYE) encoding.bits = 8 * (int32_t)tsr_dtype_size(dtype);
    status = tsr_depth_decode(&c->camera, &encoding, (int32_t)n.x, (int32_t)n.y, d, d, report);
    if (status == TSR_OK && tsr_lens_distorts(&c->camera.lens)) {
        tsr_volume *straight = NULL;
        status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n.x, n.y, 1 }, NULL, &straight);
        if (status == TSR_OK) status = tsr_depth_undistort(&c->camera, (int32_t)n.x, (int32_t)n.y, d, (float *)tsr_volume_data(straight));
        tsr_volume_destroy(&real);
        real = straight;
    }
    if (status != TSR_OK) tsr_volume_destroy(&real);
    *depth = real;
    return status;
}

#define SAID(...) (snprintf(error->text, sizeof error->text, __VA_ARGS__), TSR_ERROR_FORMAT)

tsr_status rig_depth_read(const tsr_rig *rig, const tsr_rig_camera *c, int32_t frame, const tsr_read_options *read, tsr_volume **depth,
                          tsr_depth_report *report, rig_error *error)
{
    char path[4096];
    tsr_volume *file = NULL;
    *error->text = 0;
    *depth = NULL;
    *report = (tsr_depth_report)TSR_DEPTH_REPORT;
    tsr_status status = tsr_rig_path(rig, c->depth, frame, path, sizeof path);
    if (status == TSR_OK) status = read_numbers(path, c, read, &file);
    if (status != TSR_OK) return status;
    const tsr_size3 n = tsr_volume_size(file);
    const int64_t channel = depth_channel(file);
    if (channel < 0 || n.x > 16384 || n.y > 16384)
        status = SAID("%s: %lld x %lld x %lld numbers, expected one slice of at most 16384 pixels a side, or a channel named Z or depth", path,
                      (long long)n.x, (long long)n.y, (long long)n.z);
    else if (c->width && (n.x * c->height != n.y * c->width) && (llabs((long long)(n.x * c->height - n.y * c->width)) > c->width))
        status = SAID("%s: %lld x %lld pixels, but the images of camera '%s' have %d x %d: another shape", path, (long long)n.x, (long long)n.y,
                      c->name, (int)c->width, (int)c->height);
    else if ((status = decode(file, channel, c, depth, report)) != TSR_OK && !strstr(tsr_error_message(), path))
        snprintf(error->text, sizeof error->text, "%s: %s", path, tsr_error_message());
    tsr_volume_destroy(&file);
    if (status == TSR_OK && !report->valid)
        status = SAID("%s: no sample of %lld is a distance (%lld no numbers, %lld not above 0, %lld outside the clip distances, %lld background)",
                      path, (long long)report->samples, (long long)report->not_numbers, (long long)report->behind, (long long)report->beyond,
                      (long long)report->background);
    if (status != TSR_OK) tsr_volume_destroy(depth);
    return status;
}

static tsr_status load_depth(tsr_context *context, const tsr_rig *rig, const tsr_rig_camera *c, int32_t frame, const tsr_read_options *read,
                             rig_projector *p, rig_error *error)
{
    tsr_volume *host = NULL;
    tsr_status status = rig_depth_read(rig, c, frame, read, &host, &p->report, error);
    if (status != TSR_OK) return status;
    const tsr_size3 n = tsr_volume_size(host);
    status = tsr_volume_copy(host, context, &p->depth);
    tsr_volume_destroy(&host);
    p->projector.depth = p->depth;
    p->projector.quantum = p->report.quantum;
    if (!p->width) {
        p->width = (int32_t)n.x;
        p->height = (int32_t)n.y;
    }
    return status;
}

tsr_status rig_projector_load(tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts, const tsr_read_options *read,
                              rig_projector *p, rig_error *error)
{
    tsr_rig_camera c;
    *error->text = 0;
    memset(p, 0, sizeof *p);
    tsr_status status = tsr_rig_get(rig, index, &c);
    if (status != TSR_OK) return status;
    p->projector.camera = c.camera;
    memset(&p->projector.camera.lens, 0, sizeof p->projector.camera.lens);
    if ((parts & RIG_PROJECTOR_DEPTH) && !*c.depth) return SAID("camera '%s' has no depth image", c.name);
    if (parts == RIG_PROJECTOR_COLOR && !*c.image) return SAID("camera '%s' has no picture", c.name);
    if ((parts & RIG_PROJECTOR_COLOR) && *c.image) status = load_color(context, rig, &c, frame, read, p);
    if (status == TSR_OK && (parts & RIG_PROJECTOR_DEPTH)) status = load_depth(context, rig, &c, frame, read, p, error);
    if (status == TSR_OK && p->projector.camera.projection != TSR_PROJECTION_MATRIX && p->projector.camera.aspect == 0 && p->width)
        p->projector.camera.aspect = (double)p->width / p->height;
    if (status != TSR_OK) rig_projector_unload(p);
    return status;
}

void rig_projector_unload(rig_projector *p)
{
    tsr_volume_destroy(&p->depth);
    tsr_volume_destroy(&p->color);
    p->projector.depth = p->projector.color = NULL;
}

/* ---- which cameras ----------------------------------------------------------------------------------------------------------------- */

int rig_rank_of(const tsr_rig_camera *of, int64_t index, const tsr_camera *camera, int32_t width, int32_t height, int same_way, rig_rank *rank)
{
    const tsr_projector p = { .camera = of->camera };
    const double d[3] = { of->camera.position.x - camera->position.x, of->camera.position.y - camera->position.y,
                          of->camera.position.z - camera->position.z };
    double cosine = 0, apart = 0;
    for (int k = 0; k < 3; k++) {
        cosine += of->camera.rotation[2][k] * camera->rotation[2][k];
        apart += d[k] * d[k];
    }
    *rank = (rig_rank){ index, acos(fmin(1, fmax(-1, cosine))) + 1e-3 * sqrt(apart) };
    return (!same_way || cosine > 0) && tsr_projector_visible(&p, 0, camera, width, height);
}

static int by_cost(const void *a, const void *b)
{
    const rig_rank *x = (const rig_rank *)a, *y = (const rig_rank *)b;
    return x->cost < y->cost ? -1 : x->cost > y->cost ? 1 : x->index < y->index ? -1 : x->index > y->index;
}
void rig_rank_sort(rig_rank *list, int64_t count) { qsort(list, (size_t)count, sizeof *list, by_cost); }
