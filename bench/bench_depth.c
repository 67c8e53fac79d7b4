/* Speed of depth from pictures and of fusion. Bounds: matching along paths writes and reads a sum of 2 bytes for each pixel and disparity (4 paths at least
 * twice on a CPU, once a path on a GPU); the sweep over stacks reads four texels of 16 bytes for each pixel, view and hypothesis, mostly from caches; fusion
 * reads a depth and reads and writes 20 bytes for each voxel of the bricks that a map reaches. */
#include "bench.h"

static struct {
    bench b;
    tsr_volume *image[16];
    tsr_depth_view view[16];
    int32_t views;
    tsr_plane_sweep_options sweep;
    tsr_stereo_match_options match;
    tsr_camera camera;
    tsr_fusion *fusion;
    tsr_volume *depth;
} s;

static tsr_status match_call(void *user)
{
    tsr_volume *disparity;
    (void)user;
    const tsr_status status = tsr_stereo_match(s.b.context, s.image[0], s.image[1], &s.match, &disparity, NULL);
    tsr_volume_destroy(&disparity);
    return status;
}
static tsr_status sweep_call(void *user)
{
    tsr_depth_maps maps;
    (void)user;
    const tsr_status status = tsr_plane_sweep(s.b.context, s.view, s.views, &s.camera, &s.sweep, &maps);
    tsr_depth_maps_destroy(&maps);
    return status;
}
static tsr_status fusion_call(void *user)
{
    (void)user;
    return tsr_fusion_add(s.fusion, s.depth, s.image[0], &s.camera);
}

/* Views of the scene of layers, from cameras side by side. */
static void draw(int32_t width, int32_t height, int32_t views, float *depth)
{
    tsr_rig_layout_options o = TSR_RIG_LAYOUT_OPTIONS;
    tsr_analytic_options a = TSR_ANALYTIC_OPTIONS;
    tsr_rig *rig;
    o.count = views;
    o.columns = views > 4 ? 4 : views;
    o.baseline = 0.2;
    o.width = width;
    o.height_pixels = height;
    a.backdrop = 1;
    a.supersampling = 1;
    a.noise = 1;
    MUST(tsr_rig_make(views == 2 ? TSR_RIG_PAIR : TSR_RIG_GRID, &o, &rig));
    for (int32_t v = 0; v < views; v++) {
        tsr_rig_camera c;
        tsr_image image;
        MUST(tsr_rig_get(rig, v, &c));
        MUST(tsr_analytic_render("layers", &c.camera, width, height, &a, &image, v ? NULL : depth));
        MUST(tsr_frames_upload(s.b.context, &image, 1, &s.image[v]));
        tsr_image_destroy(&image);
        s.view[v] = (tsr_depth_view){ .camera = c.camera, .image = s.image[v] };
    }
    s.camera = s.view[0].camera;
    s.views = views;
    tsr_rig_destroy(&rig);
}
static void drop(void)
{
    for (int32_t v = 0; v < s.views; v++) tsr_volume_destroy(&s.image[v]);
}

static void measure(const char *name, bench_call call, double n, double bytes, const char *bar, double most)
{
    bench_case c = { .name = name, .n = (int64_t)n, .bytes = bytes, .bar = bar };
    c.time = bench_measure(&s.b, call, NULL, NULL);
    c.holds = c.time.median <= most;
    bench_report(&s.b, &c);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "depth")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    const double pixels = 640 * 480.0;
    static float depth[640 * 480];
    draw(640, 480, 2, depth);
    s.match = (tsr_stereo_match_options)TSR_STEREO_MATCH_OPTIONS;
    s.match.channels = 3;
    s.sweep = (tsr_plane_sweep_options)TSR_PLANE_SWEEP_OPTIONS;
    s.sweep.channels = 3;
    if (bench_wants(&s.b, "stereo")) {
        measure("stereo 640x480, 64 disparities, 4 paths", match_call, pixels * 64, pixels * 64 * 2 * 4, gpu ? "at least 2000 a second" : "at least 15 a second",
                gpu ? 1.0 / 2000 : 1.0 / 15);
        s.match.paths = 3;
        measure("stereo 640x480, 64 disparities, 3 paths", match_call, pixels * 64, pixels * 64 * 2 * 3, gpu ? "at least 2000 a second" : "at least 15 a second",
                gpu ? 1.0 / 2000 : 1.0 / 15);
        s.match.paths = 8;
        measure("stereo 640x480, 64 disparities, 8 paths", match_call, pixels * 64, pixels * 64 * 2 * 8, NULL, 0);
        measure("stereo 640x480, stack", sweep_call, pixels, pixels * 2 * 5 * 64, gpu ? "at least 2000 a second" : "at least 15 a second", gpu ? 1.0 / 2000 : 1.0 / 15);
    }
    if (bench_wants(&s.b, "fusion")) {
        tsr_volume *host;
        MUST(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ 640, 480, 1 }, NULL, depth, NULL, NULL, &host));
        MUST(tsr_volume_copy(host, s.b.context, &s.depth));
        tsr_volume_destroy(&host);
        for (int k = 0; k < 2; k++) { /* voxels of about one and of about three pixels */
            tsr_fusion_options o = TSR_FUSION_OPTIONS;
            tsr_fusion_info info = TSR_FUSION_INFO;
            char name[60];
            o.voxel = k ? 0.02 : 0.006;
            MUST(tsr_fusion_create(s.b.context, &o, &s.fusion));
            MUST(fusion_call(NULL));
            MUST(tsr_fusion_describe(s.fusion, &info));
            snprintf(name, sizeof name, "fusion of a map of 640x480, voxels of %d pixel%s", k ? 3 : 1, k ? "s" : "");
            measure(name, fusion_call, (double)info.touched * 512, pixels * 4 + (double)info.touched * 512 * 40, gpu ? "at least 1000 a second" : NULL, 1e-3);
            tsr_fusion_destroy(&s.fusion);
        }
        tsr_volume_destroy(&s.depth);
    }
    drop();
    if (bench_wants(&s.b, "many") && !s.b.quick) {
        draw(1920, 1080, 16, NULL);
        measure("1920x1080 from 16 views, stack", sweep_call, 1920 * 1080.0 * 16, 1920 * 1080.0 * 16 * 5 * 64, gpu ? "at most 5 ms" : NULL, 5e-3);
        /* every hypothesis at full resolution: 16 x 128 samples of four texels of 16 bytes a pixel, 20 operations each: 85 G operations, bound by the caches */
        s.sweep.no_levels = 1;
        s.sweep.hypotheses = 128;
        if (gpu) measure("1920x1080 from 16 views, 128 hypotheses each", sweep_call, 1920 * 1080.0 * 16 * 128, 1920 * 1080.0 * (16 * 16 + 16), "at most 5 ms", 5e-3);
        drop();
    }
    return bench_end(&s.b);
}
