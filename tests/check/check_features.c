/* Feature clustering, class pyramids and lenses: the same bits on every backend, SIMD variant and number of threads. */
#include "check.h"

static const char *const filters[] = { "luminance=200:255", "box=#c00000:#ffff80", "distance=#f0f0f0:70", "hsv=300:60,40:255,40:255",
                                       "mask=192",          "motion=150",          "gradient=60",         "smooth=60" };
enum { CASES = 16 };

static void describe_features(int index, char *text, size_t bytes)
{
    snprintf(text, bytes, "%d channels, connectivity %d, keep %d%s",
             index % 3 == 0   ? 1
             : index % 3 == 1 ? 3
                              : 4,
             index % 2 ? 4 : 8, 1 + index % 4, index >= CASES / 2 ? ", lens" : "");
}

static void fill(uint8_t *p, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++) p[i] = (uint8_t)(check_random(&seed) >> 40);
}

static void run_features(check *c, int index)
{
    const int32_t channels = index % 3 == 0 ? 1 : index % 3 == 1 ? 3 : 4, w = 150 + 13 * index, h = 90 + 7 * index;
    const size_t bytes = (size_t)(w * h * channels);
    tsr_features_options o = TSR_FEATURES_OPTIONS;
    const tsr_lens lens = { .k1 = -0.07, .shift = { 0.01, 0.02 } };
    tsr_features *features = NULL;
    tsr_volume *frames = NULL, *before = NULL;
    tsr_feature found[8 * 4];
    o.width = w;
    o.height = h;
    o.channels = channels;
    o.connectivity = index % 2 ? 4 : 8;
    o.by_count = index / 2 % 2;
    o.keep = 1 + index % 4;
    o.ycbcr = index % 3 == 2;
    o.lens = index >= CASES / 2 ? &lens : NULL;
    o.count = 8;
    for (int k = 0; k < 8; k++) check_status(c, tsr_feature_filter_parse(filters[k], &o.filter[k]));
    tsr_image image = { w, h, channels, (uint8_t *)malloc(bytes) };
    if (!image.pixels) abort();
    fill(image.pixels, bytes, (uint64_t)index);
    check_status(c, tsr_frames_upload(c->context, &image, 1, &frames));
    fill(image.pixels, bytes, (uint64_t)index + 100);
    check_status(c, tsr_frames_upload(c->context, &image, 1, &before));
    check_status(c, tsr_features_create(c->context, &o, &features));
    memset(found, 0, sizeof found);
    if (!c->failed) {
        check_call(c, bytes, tsr_features_detect(features, frames, before));
        check_status(c, tsr_features_results(features, found));
        check_keep(c, "found", found, sizeof found);
        int64_t total = 0;
        check_status(c, tsr_features_exact(features, frames, before, 0, index % 8, found, 8, &total));
        check_keep(c, "exact", found, sizeof found);
        check_keep(c, "total", &total, sizeof total);
    }
    tsr_features_destroy(&features);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&frames);
    free(image.pixels);
}

static void describe_classes(int index, char *text, size_t bytes) { snprintf(text, bytes, "%d classes", index == 3 ? 256 : 1 << (2 * index)); }

static void run_classes(check *c, int index)
{
    tsr_class_options o = TSR_CLASS_OPTIONS;
    tsr_class_pyramid *pyramid = NULL;
    tsr_volume *image = NULL;
    uint64_t counts[256] = { 0 };
    o.width = 201;
    o.height = 133;
    o.classes = index == 3 ? 256 : 1 << (2 * index);
    tsr_image pixels = { o.width, o.height, 1, (uint8_t *)malloc((size_t)(o.width * o.height)) };
    if (!pixels.pixels) abort();
    fill(pixels.pixels, (size_t)(o.width * o.height), (uint64_t)index);
    check_status(c, tsr_frames_upload(c->context, &pixels, 1, &image));
    check_status(c, tsr_class_pyramid_create(c->context, &o, &pyramid));
    if (!c->failed) {
        check_call(c, o.width * o.height, tsr_class_pyramid_build(pyramid, image));
        check_status(c, tsr_class_pyramid_histogram(pyramid, counts));
        check_keep(c, "counts", counts, sizeof counts);
        int64_t columns, rows;
        int32_t width;
        const void *level;
        check_status(c, tsr_class_pyramid_level(pyramid, 4, &columns, &rows, &width, &level));
        check_keep_device(c, "level 4", level, (size_t)(columns * rows * o.classes * width));
    }
    tsr_class_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&image);
    free(pixels.pixels);
}

static void describe_lens(int index, char *text, size_t bytes)
{
    snprintf(text, bytes, "sampling %d, %s", index % 3, index < 3 ? "division" : "poly");
}

static void run_lens(check *c, int index)
{
    tsr_board_options board = TSR_BOARD_OPTIONS;
    tsr_image image = { 0 };
    tsr_volume *frames = NULL, *warped = NULL, *mask = NULL;
    board.width = 150;
    board.height = 110;
    board.square = 20;
    board.degrees = 10;
    board.lens = (tsr_lens){ .model = index < 3 ? TSR_LENS_DIVISION : TSR_LENS_POLY, .k1 = index % 2 ? 0.1 : -0.09 };
    if (index >= 3) board.lens.p1 = 0.01;
    check_status(c, tsr_board_make(&board, &image));
    check_status(c, tsr_frames_upload(c->context, &image, 1, &frames));
    tsr_lens_warp_options o = TSR_LENS_WARP_OPTIONS;
    o.sampling = (tsr_lens_sampling)(index % 3);
    o.add = index == 4;
    check_status(c, tsr_lens_warp(c->context, frames, &board.lens, &o, &warped, &mask));
    if (!c->failed) {
        check_keep_device(c, "warped", tsr_volume_data_const(warped), 150 * 110);
        check_keep_device(c, "mask", tsr_volume_data_const(mask), 150 * 110);
        tsr_lens_search_options search = TSR_LENS_SEARCH_OPTIONS;
        tsr_lens_found found = { 0 };
        search.criterion = index % 2 ? TSR_LENS_SOURCE : TSR_LENS_CONCENTRATION;
        search.lower = -0.1;
        search.upper = 0.1;
        search.step = 0.05;
        search.no_refinement = 1;
        check_status(c, tsr_lens_search(c->context, frames, &search, &found));
        if (!c->failed) check_keep(c, "votes", found.histogram, (size_t)found.candidates * (size_t)found.bins * sizeof *found.histogram);
        tsr_lens_found_destroy(&found);
    }
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&warped);
    tsr_volume_destroy(&frames);
    tsr_image_destroy(&image);
}

int main(int argc, char **argv)
{
    static const check_entry entries[] = { { "features", CASES, describe_features, run_features, NULL },
                                           { "classes", 4, describe_classes, run_classes, NULL },
                                           { "lens", 6, describe_lens, run_lens, NULL } };
    return check_main(argc, argv, entries, 3);
}
