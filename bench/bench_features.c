/* Speed of feature clustering, histograms, and the search for a lens. Bounds: clustering reads every pixel once and writes one cell of 40 bytes per tile of
 * 64 x 64 pixels; a histogram reads every byte once; a class pyramid reads every byte once and writes and reads its counts; the search samples, filters
 * and votes 49 taps as two passes of 7 per pixel and candidate: arithmetic, about 150 operations. The peer of clustering is the scan-line tracker. */
#include "bench.h"

static struct {
    bench b;
    int64_t side;
    tsr_volume *frames;
    tsr_features *features;
    tsr_class_pyramid *pyramid;
    void *counts;
    tsr_lens_search_options search;
} s;

typedef enum scene { DISC_IN_NOISE, EMPTY, FULL, CHECKER } scene;
static const char *const scenes[] = { "disc in noise", "empty", "full", "isolated pixels" };

static void make_frames(scene kind, int32_t channels)
{
    const int32_t n = (int32_t)s.side;
    tsr_image image;
    uint64_t state = 88172645463325252ull;
    MUST(tsr_image_create(n, n, channels, &image));
    for (int64_t i = 0; i < (int64_t)n * n; i++) {
        const double dx = (double)(i % n) - 0.6 * n, dy = (double)(i / n) - 0.4 * n;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const int on = kind == FULL || (kind == CHECKER && i % n % 2 == 0 && i / n % 2 == 0) ||
                       (kind == DISC_IN_NOISE && (dx * dx + dy * dy < 0.01 * n * n || (state >> 40) % 100 == 0));
        for (int c = 0; c < channels; c++) image.pixels[i * channels + c] = on ? 230 : 20;
    }
    MUST(tsr_frames_upload(s.b.context, &image, 1, &s.frames));
    tsr_image_destroy(&image);
}

static tsr_status detect_call(void *user)
{
    (void)user;
    return tsr_features_detect(s.features, s.frames, NULL);
}
static tsr_status scanline_call(void *user)
{
    tsr_feature found;
    (void)user;
    return tsr_features_scanline(s.features, s.frames, NULL, 0, 0, &found);
}
static tsr_status exact_call(void *user)
{
    tsr_feature found;
    int64_t total;
    (void)user;
    return tsr_features_exact(s.features, s.frames, NULL, 0, 0, &found, 1, &total);
}

static void clustering(int64_t side, scene kind, int32_t channels, int32_t filters, int32_t keep)
{
    char name[120], bar[80];
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA, plain = filters == 1 && keep == 1;
    tsr_features_options o = TSR_FEATURES_OPTIONS;
    s.side = side;
    o.width = o.height = (int32_t)side;
    o.channels = channels;
    o.count = filters;
    o.keep = keep;
    for (int k = 0; k < filters; k++) MUST(tsr_feature_filter_parse(k % 2 ? "distance=#e8e8e8:60" : "box=#808080:#ffffff", &o.filter[k]));
    make_frames(kind, channels);
    MUST(tsr_features_create(s.b.context, &o, &s.features));
    const double pixels = (double)side * (double)side;
    snprintf(name, sizeof name, "cluster %lld^2 x %d, %s, %d filters, keep %d", (long long)side, channels, scenes[kind], filters, keep);
    bench_case c = { .name = name, .n = side * side, .bytes = pixels * channels + pixels / 4096 * 40 * 2 * filters * keep };
    if (gpu || !plain) c.time = bench_measure(&s.b, detect_call, NULL, NULL);
    else {
        bench_measure_pair(&s.b, detect_call, scanline_call, NULL, &c.time, &c.peer_time);
        c.peer = "scan line";
    }
    const double most = gpu ? 50e-6 : 2e-3 * 16 / s.b.threads;
    if (side == 2048 && plain) {
        snprintf(bar, sizeof bar, gpu ? "at most 50 us" : "at most %.3g ms (500 per second on 16 cores)", most * 1e3);
        c.bar = bar;
        c.holds = c.time.median <= most;
    }
    bench_report(&s.b, &c);
    if (kind == DISC_IN_NOISE && plain && side == 2048) {
        bench_case exact = {
            .name = "  by labelling", .n = side * side, .bytes = pixels * (channels + 10), .time = bench_measure(&s.b, exact_call, NULL, NULL)
        };
        bench_report(&s.b, &exact);
    }
    tsr_features_destroy(&s.features);
    tsr_volume_destroy(&s.frames);
}

/* ---- histograms ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status histogram_call(void *user)
{
    (void)user;
    return tsr_histogram(s.b.context, TSR_U8, tsr_volume_data(s.frames), s.side * s.side, 0, 256, 256, TSR_U32, s.counts);
}
static tsr_status pyramid_call(void *user)
{
    (void)user;
    return tsr_class_pyramid_build(s.pyramid, s.frames);
}

static void histograms(int64_t side)
{
    static const int32_t classes[] = { 4, 16, 32, 256 };
    char name[100];
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    const double pixels = (double)side * (double)side;
    uint64_t state = 1;
    s.side = side;
    uint8_t *host = (uint8_t *)malloc((size_t)(side * side));
    if (!host) exit(1);
    for (int64_t i = 0; i < side * side; i++) host[i] = (uint8_t)((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 56);
    MUST(tsr_volume_create(s.b.context, TSR_U8, (tsr_size3){ side, side, 1 }, NULL, &s.frames));
    MUST(tsr_device_move(s.b.context, tsr_volume_data(s.frames), NULL, host, (size_t)(side * side)));
    free(host);
    MUST(tsr_device_allocate(s.b.context, 1024, &s.counts));
    snprintf(name, sizeof name, "histogram %lld^2 bytes, 256 bins", (long long)side);
    bench_case c = { .name = name, .n = side * side, .bytes = pixels, .time = bench_measure(&s.b, histogram_call, NULL, NULL) };
    if (gpu && side >= 16384) {
        c.bar = "at least 3.5 TB/s";
        c.holds = pixels >= 3.5e12 * c.time.median;
    }
    bench_report(&s.b, &c);
    for (int k = 0; k < 4 && side <= 4096; k++) {
        tsr_class_options o = TSR_CLASS_OPTIONS;
        o.width = o.height = (int32_t)side;
        o.classes = classes[k];
        MUST(tsr_class_pyramid_create(s.b.context, &o, &s.pyramid));
        snprintf(name, sizeof name, "class pyramid %lld^2, %d classes", (long long)side, classes[k]);
        /* counts per pixel and class: 1/64 of 1 byte, then 1/256, 1/1024 .. of 2; all but the last are read again */
        bench_case p = { .name = name, .n = side * side, .bytes = pixels * (1 + classes[k] * (2 / 64.0 + 4 / 256.0 * 4 / 3)) };
        p.time = bench_measure(&s.b, pyramid_call, NULL, NULL);
        bench_report(&s.b, &p);
        tsr_class_pyramid_destroy(&s.pyramid);
    }
    tsr_device_release(s.b.context, s.counts, 1024);
    tsr_volume_destroy(&s.frames);
}

/* ---- lens ------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status search_call(void *user)
{
    tsr_lens_found found;
    (void)user;
    const tsr_status status = tsr_lens_search(s.b.context, s.frames, &s.search, &found);
    tsr_lens_found_destroy(&found);
    return status;
}
static tsr_status warp_call(void *user)
{
    tsr_volume *warped;
    const tsr_lens lens = { .k1 = -0.085 };
    (void)user;
    const tsr_status status = tsr_lens_warp(s.b.context, s.frames, &lens, NULL, &warped, NULL);
    tsr_volume_destroy(&warped);
    return status;
}

static void lens(void)
{
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    tsr_board_options o = TSR_BOARD_OPTIONS;
    tsr_image image;
    o.degrees = 20;
    o.lens.k1 = -0.085;
    MUST(tsr_board_make(&o, &image));
    MUST(tsr_frames_upload(s.b.context, &image, 1, &s.frames));
    tsr_image_destroy(&image);
    s.search = (tsr_lens_search_options)TSR_LENS_SEARCH_OPTIONS;
    s.search.no_refinement = 1;
    const double samples = 61.0 * 512 * 512;
    bench_case c = { .name = "lens search, 61 candidates, 512^2, 90 bins", .n = 61 * 512 * 512, .flops = 150 * samples };
    c.time = bench_measure(&s.b, search_call, NULL, NULL);
    if (gpu) {
        c.bar = "at most 5 ms";
        c.holds = c.time.median <= 5e-3;
    }
    bench_report(&s.b, &c);
    bench_case w = { .name = "undistort 512^2, bilinear, with its allocation", .n = 512 * 512, .bytes = 2 * 512 * 512.0 };
    w.time = bench_measure(&s.b, warp_call, NULL, NULL);
    bench_report(&s.b, &w);
    tsr_volume_destroy(&s.frames);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "features")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    if (bench_wants(&s.b, "cluster")) {
        for (int64_t side = 256; side <= (gpu ? 8192 : 2048); side *= 2) clustering(side, DISC_IN_NOISE, 1, 1, 1);
        for (int kind = EMPTY; kind <= CHECKER; kind++) clustering(2048, (scene)kind, 1, 1, 1);
        clustering(2048, DISC_IN_NOISE, 3, 1, 1);
        clustering(2048, DISC_IN_NOISE, 4, 1, 1);
        clustering(2048, DISC_IN_NOISE, 3, 8, 1);
        clustering(2048, DISC_IN_NOISE, 1, 1, 4);
    }
    if (bench_wants(&s.b, "histogram")) {
        histograms(2048);
        if (gpu && !s.b.quick) histograms(32768);
    }
    if (bench_wants(&s.b, "lens")) lens();
    return bench_end(&s.b);
}
