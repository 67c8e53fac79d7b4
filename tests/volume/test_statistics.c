/* Statistics, histogram, arithmetic, masks and connected components against plain float64 and flood-fill oracles. */
#include "volumes.h"

#include <math.h>

/* ---- measuring ---------------------------------------------------------------------------------------------------------------- */

static void statistics_of_known_data(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    tsr_statistics s = TSR_STATISTICS;
    for (int dtype = 0; dtype < TSR_DTYPE_COUNT; dtype++) {
        tsr_volume *in = random_volume(&random, (tsr_dtype)dtype, (tsr_size3){ 61, 47, 13 }), *device;
        require_ok(tsr_volume_set_scaling(in, 0.5, 1000));
        device = to_device(context, in);
        require_ok(tsr_volume_statistics(context, device, &s));
        int64_t n = tsr_volume_count(in);
        long double sum = 0, square = 0;
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            sum += (long double)voxel(in, i);
            low = fmin(low, voxel(in, i));
            high = fmax(high, voxel(in, i));
        }
        for (int64_t i = 0; i < n; i++) square += ((long double)voxel(in, i) - sum / n) * ((long double)voxel(in, i) - sum / n);
        assert_true(s.count == n && s.nan_count == 0 && s.infinite_count == 0 && s.first_nonfinite == -1);
        assert_true(s.minimum == low && s.maximum == high);
        assert_true(fabs(s.mean - (double)(sum / n)) < 1e-11 && fabs(s.variance - (double)(square / (n - 1))) < 1e-8);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    tsr_volume *bad = random_volume(&random, TSR_F32, (tsr_size3){ 61, 47, 13 }), *device, *out;
    float *v = (float *)tsr_volume_data(bad);
    for (int64_t i = 0; i < 9000; i++) v[i] = i % 3 ? v[i] : -INFINITY;
    v[0] = 1;
    v[30000] = NAN;
    device = to_device(context, bad);
    require_ok(tsr_volume_statistics(context, device, &s));
    assert_true(s.nan_count == 1 && s.infinite_count == 2999 && s.first_nonfinite == 3 && s.count == 61 * 47 * 13 - 3000);
    assert_true(s.minimum > -126 && s.maximum < 126 && fabs(s.mean) < 3);
    require_error(tsr_volume_check_finite(context, device, "scan"), TSR_ERROR_ARGUMENT,
                  "scan: 1 voxels are NaN and 2999 infinite, the first at (3, 0, 0)");
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    require_error(tsr_volume_smooth(context, device, &smooth, &out), TSR_ERROR_ARGUMENT, "first at (3, 0, 0)");
    assert_null(out);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&bad);
    tsr_context_destroy(&context);
}

static void histogram_counts(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    for (int way = 0; way < 2; way++) {
        int32_t bins = way ? 20000 : 10;
        tsr_volume *in = random_volume(&random, TSR_F32, (tsr_size3){ 40, 30, 20 }), *device;
        ((float *)tsr_volume_data(in))[17] = NAN;
        ((float *)tsr_volume_data(in))[18] = 100;
        device = to_device(context, in);
        int64_t *counts = (int64_t *)calloc((size_t)bins + 3, 8), *expected = (int64_t *)calloc((size_t)bins + 3, 8);
        require_ok(tsr_volume_histogram(context, device, -100, 100, bins, counts));
        for (int64_t i = 0; i < 24000; i++) {
            double v = voxel(in, i);
            expected[isnan(v) ? bins + 2 : v < -100 ? bins : v > 100 ? bins + 1 : v == 100 ? bins - 1 : (int64_t)((v + 100) * (bins / 200.0))]++;
        }
        assert_memory_equal(counts, expected, ((size_t)bins + 3) * 8);
        free(counts);
        free(expected);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    tsr_context_destroy(&context);
}

/* ---- components --------------------------------------------------------------------------------------------------------------- */

/* Flood fill with a stack, in memory order. */
static int64_t flood_labels(const uint8_t *mask, tsr_size3 n, int connectivity, uint32_t *labels)
{
    int64_t count = n.x * n.y * n.z, *stack = (int64_t *)malloc((size_t)count * sizeof *stack), found = 0;
    memset(labels, 0, (size_t)count * sizeof *labels);
    for (int64_t start = 0; start < count; start++) {
        if (!mask[start] || labels[start]) continue;
        int64_t top = 0;
        labels[stack[top++] = start] = (uint32_t)++found;
        while (top) {
            int64_t i = stack[--top], x = i % n.x, y = i / n.x % n.y, z = i / n.x / n.y;
            for (int d = 0; d < 27; d++) {
                int64_t a = x + d % 3 - 1, b = y + d / 3 % 3 - 1, c = z + d / 9 - 1, j = (c * n.y + b) * n.x + a;
                if (connectivity == 6 && (d % 3 != 1) + (d / 3 % 3 != 1) + (d / 9 != 1) != 1) continue;
                if (a < 0 || b < 0 || c < 0 || a >= n.x || b >= n.y || c >= n.z || !mask[j] || labels[j]) continue;
                labels[stack[top++] = j] = (uint32_t)found;
            }
        }
    }
    free(stack);
    return found;
}

static void components_equal_flood_fill(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    static const tsr_size3 sizes[3] = { { 67, 21, 18 }, { 5, 40, 33 }, { 64, 1, 7 } };
    for (int way = 0; way < 24; way++) {
        tsr_size3 n = sizes[way % 3];
        int32_t connectivity = way / 3 % 2 ? 26 : 6;
        double density = 0.1 + 0.27 * (way / 6);
        tsr_volume *mask, *device, *labels, *largest;
        require_ok(tsr_volume_create(NULL, TSR_U8, n, NULL, &mask));
        uint8_t *m = (uint8_t *)tsr_volume_data(mask);
        for (int64_t i = 0; i < tsr_volume_count(mask); i++) m[i] = test_uniform(&random) < density ? 1 + (i & 1) : 0;
        m[3] = 1;
        device = to_device(context, mask);
        uint32_t *expected = (uint32_t *)malloc((size_t)tsr_volume_count(mask) * 4);
        int64_t count, voxels, found = flood_labels(m, n, connectivity, expected);
        require_ok(tsr_volume_components(context, device, connectivity, &labels, &count));
        labels = to_host(labels);
        assert_int_equal(count, found);
        assert_memory_equal(tsr_volume_data(labels), expected, (size_t)tsr_volume_count(mask) * 4);
        require_ok(tsr_volume_largest_component(context, device, connectivity, &largest, &voxels));
        largest = to_host(largest);
        int64_t *sums = (int64_t *)calloc((size_t)found + 1, 8), best = 1;
        for (int64_t i = 0; i < tsr_volume_count(mask); i++) sums[expected[i]]++;
        for (int64_t i = 2; i <= found; i++) best = sums[i] > sums[best] ? i : best;
        assert_int_equal(voxels, sums[best]);
        for (int64_t i = 0; i < tsr_volume_count(mask); i++)
            assert_int_equal(((uint8_t *)tsr_volume_data(largest))[i], expected[i] == (uint32_t)best);
        free(sums);
        free(expected);
        tsr_volume_destroy(&largest);
        tsr_volume_destroy(&labels);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&mask);
    }
    tsr_context_destroy(&context);
}

static void connected_threshold(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    options.size = (tsr_size3){ 48, 24, 24 };
    options.parameter = 3;
    tsr_volume *image, *truth, *device, *mask;
    require_ok(tsr_phantom_make("leak", &options, &image, &truth));
    device = to_device(context, image);
    tsr_size3 seeds[2] = { { 10, 12, 12 }, { 0, 0, 0 } };
    require_ok(tsr_volume_connected_threshold(context, device, 0.5, 1.5, seeds, 2, 6, &mask));
    mask = to_host(mask);
    for (int64_t i = 0; i < tsr_volume_count(mask); i++) assert_int_equal(((uint8_t *)tsr_volume_data(mask))[i], voxel(truth, i) > 0);
    tsr_volume_destroy(&mask);
    static const struct {
        tsr_size3 at;
        const char *said;
    } outside[] = { { { 48, 0, 0 }, "(48, 0, 0)" }, { { 0, 24, 0 }, "(0, 24, 0)" }, { { 0, 0, 24 }, "(0, 0, 24)" },
                    { { -1, 0, 0 }, "(-1, 0, 0)" }, { { 0, -1, 0 }, "(0, -1, 0)" }, { { 0, 0, -1 }, "(0, 0, -1)" } };
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++)
        require_error(tsr_volume_connected_threshold(context, device, 0.5, 1.5, &outside[k].at, 1, 6, &mask), TSR_ERROR_ARGUMENT, outside[k].said);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&image);
    tsr_volume_destroy(&truth);
    tsr_context_destroy(&context);
}

static void arithmetic(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    tsr_volume *p = random_volume(&random, TSR_I16, (tsr_size3){ 20, 11, 7 }), *q = random_volume(&random, TSR_F64, (tsr_size3){ 20, 11, 7 }), *out;
    tsr_volume *dp = to_device(context, p), *dq = to_device(context, q);
    for (int c = 0; c < 4; c++) {
        require_ok(tsr_volume_combine(context, (tsr_combination)c, 2, dp, -0.5, dq, 1, &out));
        out = to_host(out);
        for (int64_t i = 0; i < tsr_volume_count(p); i++) {
            double a = 2 * voxel(p, i), b = -0.5 * voxel(q, i);
            assert_true(voxel(out, i) == (double)(float)((c == 0 ? a + b : c == 1 ? a * b : c == 2 ? fmin(a, b) : fmax(a, b)) + 1));
        }
        tsr_volume_destroy(&out);
    }
    require_error(tsr_volume_combine(context, TSR_COMBINE_MULTIPLY, 1, dp, 1, NULL, 0, &out), TSR_ERROR_ARGUMENT, "second volume is NULL");
    tsr_volume_destroy(&dp);
    tsr_volume_destroy(&dq);
    tsr_volume_destroy(&p);
    tsr_volume_destroy(&q);
    tsr_context_destroy(&context);
}

/* Masks of every type, and integers that are one number as doubles. */
static void other_types(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_size3 n = { 37, 5, 3 };
    for (int t = TSR_U8; t <= TSR_F64; t++) {
        tsr_volume *mask, *device, *typed, *labels, *largest;
        int64_t count, voxels;
        require_ok(tsr_volume_create(NULL, TSR_U8, n, NULL, &mask));
        uint8_t *m = (uint8_t *)tsr_volume_data(mask);
        for (int64_t i = 0; i < tsr_volume_count(mask); i++) m[i] = i % 37 < 10 || i % 37 >= 12 ? (uint8_t)(1 + i % 3) : 0;
        device = to_device(context, mask);
        require_ok(tsr_volume_convert(context, device, (tsr_dtype)t, &typed));
        require_ok(tsr_volume_components(context, typed, 6, &labels, &count));
        assert_int_equal(count, 2);
        require_ok(tsr_volume_largest_component(context, typed, 26, &largest, &voxels));
        assert_int_equal(voxels, 25 * 15);
        largest = to_host(largest);
        for (int64_t i = 0; i < tsr_volume_count(mask); i++) assert_int_equal(((const uint8_t *)tsr_volume_data(largest))[i], i % 37 >= 12);
        tsr_volume_destroy(&largest);
        tsr_volume_destroy(&labels);
        tsr_volume_destroy(&typed);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&mask);
    }
    const int64_t big = 9007199254740992; /* 2^53 */
    for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
        static const struct {
            double lower, upper;
            int first, last;
        } ranges[] = {
            { 9007199254740992.0, 9007199254740992.0, 0, 1 },
            { 9007199254740993.5, 1e30, 2, 6 },
            { -INFINITY, 9007199254740991.0, 0, 0 },
            { 9.3e18, 1.9e19, 6, 6 },
            { -1e300, 1e300, 0, 6 },
        };
        tsr_volume *v, *device, *out;
        require_ok(tsr_volume_create(NULL, is_unsigned ? TSR_U64 : TSR_I64, (tsr_size3){ 6, 1, 1 }, NULL, &v));
        for (int64_t i = 0; i < 6; i++) ((int64_t *)tsr_volume_data(v))[i] = big + i;
        device = to_device(context, v);
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            require_ok(tsr_volume_threshold(context, device, ranges[r].lower, ranges[r].upper, &out));
            out = to_host(out);
            for (int i = 0; i < 6; i++) assert_int_equal(((const uint8_t *)tsr_volume_data(out))[i], i >= ranges[r].first && i < ranges[r].last);
            tsr_volume_destroy(&out);
        }
        for (int64_t k = 0; k < 6; k++) {
            require_ok(tsr_volume_threshold_integers(context, device, big + k, big + k, &out));
            out = to_host(out);
            for (int i = 0; i < 6; i++) assert_int_equal(((const uint8_t *)tsr_volume_data(out))[i], i == k);
            tsr_volume_destroy(&out);
        }
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&v);
    }
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *v, *out, *other;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &v));
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 5 }, NULL, &other));
    int64_t counts[8], n;
    require_error(tsr_volume_histogram(context, v, 1, 1, 4, counts), TSR_ERROR_ARGUMENT, "lower < upper");
    require_error(tsr_volume_histogram(context, v, 0, 1, 0, counts), TSR_ERROR_ARGUMENT, "0 bins");
    require_error(tsr_volume_combine(context, TSR_COMBINE_LINEAR, 1, v, 1, other, 0, &out), TSR_ERROR_ARGUMENT, "4 x 4 x 5");
    require_error(tsr_volume_threshold(context, v, NAN, 1, &out), TSR_ERROR_ARGUMENT, "interval");
    require_error(tsr_volume_threshold_integers(context, v, 0, 1, &out), TSR_ERROR_ARGUMENT, "f32, expected an integer type");
    tsr_volume_destroy(&other);
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &other));
    require_error(tsr_volume_components(context, other, 8, &out, &n), TSR_ERROR_ARGUMENT, "connectivity 8");
    require_error(tsr_volume_largest_component(context, other, 6, &out, NULL), TSR_ERROR_STATE, "empty");
    assert_null(out);
    tsr_volume_destroy(&other);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_of_known_data), cmocka_unit_test(histogram_counts), cmocka_unit_test(components_equal_flood_fill),
        cmocka_unit_test(connected_threshold),      cmocka_unit_test(arithmetic),       cmocka_unit_test(other_types),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
