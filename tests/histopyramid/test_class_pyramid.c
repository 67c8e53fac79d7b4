/* Pyramids of class counts against counting, on every level; thresholds of histograms against their definitions. */
#include <math.h>

#include "device/backend.h"
#include "support.h"

static int member(const tsr_class_options *o, uint8_t v, int c)
{
    if (o->bits) return v >> c & 1;
    const double upper = o->upper == 0 && o->lower == 0 ? 256 : o->upper;
    return v >= o->lower && v < upper && (int)floor((v - o->lower) * (o->classes / (upper - o->lower))) == c;
}
static uint64_t counted(const tsr_class_options *o, const uint8_t *p, const int32_t b[4], int c)
{
    uint64_t n = 0;
    for (int32_t y = b[1] < 0 ? 0 : b[1]; y < b[3] && y < o->height; y++)
        for (int32_t x = b[0] < 0 ? 0 : b[0]; x < b[2] && x < o->width; x++) n += (uint64_t)member(o, p[y * o->width + x], c);
    return n;
}

static tsr_class_pyramid *build(tsr_context *context, const tsr_class_options *o, const uint8_t *p, tsr_volume **image)
{
    tsr_volume *host;
    tsr_class_pyramid *pyramid;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ o->width, o->height, 1 }, NULL, (void *)(uintptr_t)p, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, image));
    tsr_volume_destroy(&host);
    require_ok(tsr_class_pyramid_create(context, o, &pyramid));
    require_ok(tsr_class_pyramid_build(pyramid, *image));
    return pyramid;
}

static void check_level(tsr_context *context, const tsr_class_pyramid *pyramid, const tsr_class_options *o, const uint8_t *p, int32_t level)
{
    int64_t columns, rows;
    int32_t bytes;
    const void *device;
    require_ok(tsr_class_pyramid_level(pyramid, level, &columns, &rows, &bytes, &device));
    assert_int_equal(columns, (o->width + (1 << level) - 1) >> level);
    const size_t all = (size_t)(columns * rows * o->classes * bytes);
    uint8_t *counts = malloc(all);
    require_ok(tsr_device_move(NULL, counts, context, device, all));
    const int64_t step = columns * rows * o->classes > 3000 ? 97 : 1;
    for (int64_t i = 0; i < columns * rows * o->classes; i += step) {
        const int64_t cell = i / o->classes;
        const int32_t x = (int32_t)(cell % columns) << level, y = (int32_t)(cell / columns) << level;
        uint64_t v = 0;
        memcpy(&v, counts + i * bytes, (size_t)bytes);
        assert_int_equal(v, counted(o, p, (const int32_t[]){ x, y, x + (1 << level), y + (1 << level) }, (int)(i % o->classes)));
    }
    free(counts);
}

static void check_boxes(tsr_context *context, const tsr_class_pyramid *pyramid, const tsr_class_options *o, const uint8_t *p, uint64_t *state)
{
    enum { BOXES = 40 };
    int32_t boxes[BOXES][4];
    void *device_boxes, *device_counts;
    const size_t bytes = (size_t)BOXES * (size_t)o->classes * 8;
    uint64_t *counts = malloc(bytes);
    for (int i = 0; i < BOXES; i++) {
        for (int k = 0; k < 4; k++) boxes[i][k] = (int32_t)(test_random(state) % (uint64_t)(o->width + o->height)) - 5;
        if (i < 12) { /* a cell of a level: the lowest ones are not stored */
            const int32_t l = i % 4, x = boxes[i][0] / (1 << l) * (1 << l), y = boxes[i][1] / (1 << l) * (1 << l);
            memcpy(boxes[i], (const int32_t[]){ x, y, x + (1 << l), y + (1 << l) }, 16);
        }
    }
    require_ok(tsr_device_allocate(context, sizeof boxes, &device_boxes));
    require_ok(tsr_device_allocate(context, bytes, &device_counts));
    require_ok(tsr_device_move(context, device_boxes, NULL, boxes, sizeof boxes));
    require_ok(tsr_class_pyramid_count(pyramid, device_boxes, BOXES, device_counts));
    require_ok(tsr_device_move(NULL, counts, context, device_counts, bytes));
    for (int i = 0; i < BOXES; i++)
        for (int c = 0; c<o->classes; c += o->classes> 40 ? 13 : 1) assert_int_equal(counts[i * o->classes + c], counted(o, p, boxes[i], c));
    tsr_device_release(context, device_boxes, sizeof boxes);
    tsr_device_release(context, device_counts, bytes);
    free(counts);
}

static void equals_counting(void **unused)
{
    static const int32_t classes[] = { 1, 4, 16, 32, 256, 8 };
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int n = 0; n < (test_is_slow() ? 6 : 18); n++) {
        tsr_class_options o = TSR_CLASS_OPTIONS;
        o.width = (int32_t)(1 + test_random(&state) % 120);
        o.height = (int32_t)(1 + test_random(&state) % 90);
        o.classes = classes[n % 6];
        o.bits = n % 6 == 5;
        if (n % 6 == 2) {
            o.lower = 30;
            o.upper = 201.5;
        }
        uint8_t *p = malloc((size_t)(o.width * o.height));
        for (int i = 0; i < o.width * o.height; i++) p[i] = n % 4 == 3 ? 255 : (uint8_t)(test_random(&state) >> 30);
        tsr_volume *image;
        tsr_class_pyramid *pyramid = build(context, &o, p, &image);
        uint64_t histogram[256], sum = 0;
        require_ok(tsr_class_pyramid_histogram(pyramid, histogram));
        for (int c = 0; c < o.classes; c++) {
            assert_int_equal(histogram[c], counted(&o, p, (const int32_t[]){ 0, 0, o.width, o.height }, c));
            sum += histogram[c];
        }
        if (!o.bits && o.lower == 0) assert_int_equal(sum, o.width * o.height);
        for (int32_t l = 3; l <= tsr_class_pyramid_top(pyramid); l++) check_level(context, pyramid, &o, p, l);
        check_boxes(context, pyramid, &o, p, &state);
        tsr_class_pyramid_destroy(&pyramid);
        tsr_volume_destroy(&image);
        free(p);
    }
    tsr_context_destroy(&context);
}

/* All pixels in one class: the fullest cells that every width must hold. */
static void full(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    tsr_class_options o = TSR_CLASS_OPTIONS;
    o.width = 530;
    o.height = 517;
    o.classes = 2;
    uint8_t *p = calloc((size_t)(o.width * o.height), 1);
    tsr_volume *image;
    tsr_class_pyramid *pyramid = build(context, &o, p, &image);
    for (int32_t l = 3; l <= tsr_class_pyramid_top(pyramid); l++) {
        int64_t columns, rows;
        int32_t bytes;
        const void *device;
        uint64_t v = 0;
        require_ok(tsr_class_pyramid_level(pyramid, l, &columns, &rows, &bytes, &device));
        assert_int_equal(bytes, l <= 3 ? 1 : l <= 7 ? 2 : 4);
        require_ok(tsr_device_move(NULL, &v, context, device, (size_t)bytes));
        const uint64_t w = (uint64_t)(1 << l < o.width ? 1 << l : o.width), h = (uint64_t)(1 << l < o.height ? 1 << l : o.height);
        assert_int_equal(v, w * h);
    }
    tsr_class_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&image);
    free(p);
    tsr_context_destroy(&context);
}

static void thresholds(void **unused)
{
    uint64_t state = test_seed();
    (void)unused;
    for (int n = 0; n < 300; n++) {
        enum { BINS = 24 };
        uint64_t h[BINS], sums[BINS], total = 0;
        for (int b = 0; b < BINS; b++) total += h[b] = test_random(&state) % 3 ? test_random(&state) % 50 : 0;
        tsr_histogram_cumulative(h, BINS, sums);
        assert_int_equal(sums[BINS - 1], total);
        const double share = test_uniform(&state);
        const int32_t p = tsr_histogram_percentile(h, BINS, share);
        assert_true((double)sums[p] >= share * (double)total && (p == 0 || (double)sums[p - 1] < share * (double)total || sums[p - 1] == 0));
        double most = 0;
        int best = -1;
        for (int t = 0; t + 1 < BINS; t++) { /* least variance within = largest between */
            double w[2] = { 0 }, m[2] = { 0 };
            for (int b = 0; b < BINS; b++) {
                w[b > t] += (double)h[b];
                m[b > t] += b * (double)h[b];
            }
            if (w[0] <= 0 || w[1] <= 0) continue;
            const double between = w[0] * w[1] * pow(m[0] / w[0] - m[1] / w[1], 2);
            if (between > most * (1 + 1e-12)) {
                most = between;
                best = t;
            }
        }
        assert_int_equal(tsr_histogram_otsu(h, BINS), best);
    }
    assert_int_equal(tsr_histogram_otsu((const uint64_t[]){ 0, 5, 0 }, 3), -1);
    assert_int_equal(tsr_histogram_percentile((const uint64_t[]){ 0, 0 }, 2, 0.5), -1);
}

static void errors(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    tsr_class_pyramid *pyramid;
    tsr_class_options o = TSR_CLASS_OPTIONS;
    uint64_t counts[4];
    require_error(tsr_class_pyramid_create(context, &o, &pyramid), TSR_ERROR_ARGUMENT, "image of 0 x 0");
    o.width = o.height = 16;
    require_error(tsr_class_pyramid_create(context, &o, &pyramid), TSR_ERROR_ARGUMENT, "0 classes, expected 1 to 256");
    o.classes = 9;
    o.bits = 1;
    require_error(tsr_class_pyramid_create(context, &o, &pyramid), TSR_ERROR_ARGUMENT, "9 classes, expected 1 to 8");
    o.classes = 4;
    o.lower = (double)NAN;
    require_error(tsr_class_pyramid_create(context, &o, &pyramid), TSR_ERROR_ARGUMENT, "range from nan");
    o.lower = 0;
    require_ok(tsr_class_pyramid_create(context, &o, &pyramid));
    require_error(tsr_class_pyramid_histogram(pyramid, counts), TSR_ERROR_STATE, "nothing was built yet");
    tsr_volume *small;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 15, 16, 1 }, NULL, &small));
    require_error(tsr_class_pyramid_build(pyramid, small), TSR_ERROR_ARGUMENT, "expected u8 of 16 x 16 x 1");
    tsr_volume_destroy(&small);
    tsr_class_pyramid_destroy(&pyramid);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_counting), cmocka_unit_test(full), cmocka_unit_test(thresholds),
                                        cmocka_unit_test(errors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
