/* bench_render: 1920 x 1080 pictures of a rippled ball in a float32 volume of n^3 voxels. No bytes are stated: which voxels a picture touches
 * depends on the view. */
#include "bench.h"

enum { FIRST_HIT = 0, SHADED, MIP, VOLUME, COMBINED, SLICE, BRICKS, CASES };

struct job {
    tsr_scene *scene;
    const tsr_volume *volume;
    tsr_picture *picture;
    tsr_camera camera;
    tsr_render_options options;
    int which;
};

static tsr_status run(void *user)
{
    const struct job *j = (const struct job *)user;
    if (j->which == SLICE) return tsr_render_slice(j->scene, NULL, j->picture);
    if (j->which == BRICKS) return tsr_scene_set_volume(j->scene, j->volume);
    return tsr_render(j->scene, &j->camera, &j->options, j->picture);
}

static tsr_status make_volume(tsr_context *context, int64_t n, tsr_volume **volume)
{
    tsr_volume *host;
    tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, NULL, &host);
    if (status != TSR_OK) return status;
    float *v = (float *)tsr_volume_data(host), *wave = (float *)malloc((size_t)n * sizeof *wave);
    for (int64_t i = 0; i < n && wave; i++) wave[i] = (float)sin(40.0 * (double)i / (double)n);
    double c = 0.5 * (double)(n - 1);
    for (int64_t i = 0; i < n * n * n && wave; i++) {
        double x = (double)(i % n) - c, y = (double)(i / n % n) - c, z = (double)(i / n / n) - c;
        float ripple = wave[i % n] * wave[i / n % n] + wave[i / n / n] * wave[i % n];
        v[i] = (float)(0.36 * (double)n - sqrt(x * x + y * y + z * z)) + 0.015f * (float)n * ripple;
    }
    status = wave ? tsr_volume_copy(host, context, volume) : TSR_ERROR_MEMORY;
    free(wave);
    tsr_volume_destroy(&host);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const names[CASES] = {
        "first hit",          "first hit with ambient occlusion", "MIP", "volume rendering", "volume and surface",
        "slice with contour", "float32 volume to bricks"
    };
    static const tsr_render_mode modes[CASES] = { TSR_RENDER_SURFACE,  TSR_RENDER_SURFACE, TSR_RENDER_MIP, TSR_RENDER_VOLUME,
                                                  TSR_RENDER_COMBINED, TSR_RENDER_AUTO,    TSR_RENDER_AUTO };
    bench b;
    if (!bench_begin(&b, argc, argv, "render")) return 2;
    int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    int64_t n = b.quick ? 128 : 512;
    struct job job = { .options = TSR_RENDER_OPTIONS };
    tsr_volume *volume = NULL;
    tsr_scene_info info;
    int failed = make_volume(b.context, n, &volume) != TSR_OK || tsr_scene_create(b.context, &job.scene) != TSR_OK ||
                 tsr_scene_set_volume(job.scene, volume) != TSR_OK || tsr_scene_set_surface_volume(job.scene, volume, 0, 0) != TSR_OK ||
                 tsr_picture_create(b.context, b.quick ? 480 : 1920, b.quick ? 270 : 1080, &job.picture) != TSR_OK ||
                 tsr_scene_describe(job.scene, &info) != TSR_OK ||
                 tsr_camera_orbit(&info.surface_bounds, info.space, 30, 20, TSR_PERSPECTIVE, 16.0 / 9.0, &job.camera) != TSR_OK;
    tsr_transfer transfer = { .points = 3, .point = { { -0.1f * (float)n, 0, { 0.3f, 0.4f, 0.6f } }, { 0, 0.004f, { 0.8f, 0.7f, 0.6f } },
                                                      { 0.3f * (float)n, 0.02f, { 1, 0.9f, 0.8f } } } };
    job.volume = volume;
    job.options.transfer = &transfer;
    for (int i = 0; i < CASES && !failed; i++) {
        char name[96];
        job.which = i;
        job.options.mode = modes[i];
        job.options.ambient_occlusion = i == SHADED ? 0 : -1;
        job.options.region = i == COMBINED ? TSR_REGION_OUTSIDE : TSR_REGION_ALL;
        snprintf(name, sizeof name, "%s, %lld^3, %d x %d", names[i], (long long)n, tsr_picture_width(job.picture), tsr_picture_height(job.picture));
        bench_case c = { .name = name,
                         .n = (int64_t)tsr_picture_width(job.picture) * tsr_picture_height(job.picture),
                         .time = bench_measure(&b, run, &job, NULL) };
        failed = c.time.runs == 0;
        if (i == BRICKS) c.bytes = 4.0 * (double)(n * n * n);
        if (i == FIRST_HIT && !b.quick) {
            c.bar = gpu ? "2 ms on an H200" : "1 s on 2 cores";
            c.holds = c.time.median <= (gpu ? 2e-3 : 1.0);
        }
        bench_report(&b, &c);
    }
    if (failed) fprintf(stderr, "bench render: %s\n", tsr_error_message());
    tsr_picture_destroy(&job.picture);
    tsr_scene_destroy(&job.scene);
    tsr_volume_destroy(&volume);
    return bench_end(&b) || failed;
}
