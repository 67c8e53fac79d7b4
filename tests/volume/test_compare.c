#include "support.h"

#include <math.h>

static tsr_volume *empty_mask(tsr_size3 n, tsr_vec3 spacing)
{
    tsr_geometry geometry = tsr_geometry_make(spacing, (tsr_vec3){ 0 }, TSR_SPACE_RAS);
    tsr_volume *volume;
    require_ok(tsr_volume_create(NULL, TSR_U8, n, &geometry, &volume));
    return volume;
}

static tsr_volume *cube(tsr_vec3 spacing, int64_t edge, int64_t x0, int64_t y0, int64_t z0)
{
    tsr_size3 n = { 40, 36, 32 };
    tsr_volume *volume = empty_mask(n, spacing);
    uint8_t *data = tsr_volume_data(volume);
    for (int64_t z = z0; z < z0 + edge; z++)
        for (int64_t y = y0; y < y0 + edge; y++) memset(data + (z * n.y + y) * n.x + x0, 1, (size_t)edge);
    return volume;
}

static tsr_volume *ball(int64_t n, double radius, double x0)
{
    tsr_volume *volume = empty_mask((tsr_size3){ n, n, n }, (tsr_vec3){ 1, 1, 1 });
    uint8_t *data = tsr_volume_data(volume);
    double c = 0.5 * (double)(n - 1);
    for (int64_t z = 0; z < n; z++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) {
                double a = (double)x - c - x0, b = (double)y - c, d = (double)z - c;
                data[(z * n + y) * n + x] = a * a + b * b + d * d <= radius * radius;
            }
    return volume;
}

static tsr_mask_comparison compared(tsr_volume *a, tsr_volume *b, int threads)
{
    tsr_context *context = test_context_on("cpu", threads);
    tsr_mask_comparison c = TSR_MASK_COMPARISON;
    require_ok(tsr_compare_masks(context, a, b, NULL, &c));
    tsr_context_destroy(&context);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    return c;
}

/* Cubes of edge 10 moved by 3 along x: overlap 7 of 10; every number is known. */
static void moved_cubes(void **state)
{
    (void)state;
    tsr_vec3 h = { 0.5, 1, 2 };
    tsr_mask_comparison c = compared(cube(h, 10, 8, 6, 5), cube(h, 10, 11, 6, 5), 2);
    assert_int_equal(c.voxels, 40 * 36 * 32);
    assert_int_equal(c.inside, 1000);
    assert_int_equal(c.inside_both, 700);
    assert_true(c.dice == 0.7 && c.jaccard == 700.0 / 1300.0 && c.sensitivity == 0.7);
    assert_true(c.specificity == (double)(c.voxels - 1300) / (double)(c.voxels - 1000));
    assert_true(c.total_correct == (double)(c.voxels - 600) / (double)c.voxels);
    assert_true(c.volume == 1000 && c.volume_error == 0);
    assert_int_equal(c.surface_voxels, 1000 - 512);
    assert_true(c.distances.maximum == 1.5); /* 3 voxels of 0.5 */
    c = compared(cube(h, 10, 8, 6, 5), cube(h, 10, 8, 6, 9), 2);
    assert_true(c.distances.maximum == 8); /* 4 voxels of 2 */
    c = compared(cube(h, 10, 8, 6, 5), cube(h, 8, 9, 7, 6), 1);
    assert_true(c.volume_error == 1000.0 / 512.0 - 1 && c.sensitivity == 1);
    assert_true(fabs(c.distances.maximum - sqrt(0.25 + 1 + 4)) < 1e-6); /* from corner to corner */
}

static void balls(void **state)
{
    (void)state;
    tsr_mask_comparison same = compared(ball(40, 12, 0), ball(40, 12, 0), 2);
    assert_true(same.dice == 1 && same.jaccard == 1 && same.specificity == 1 && same.distances.maximum == 0 && same.distances.mean == 0);
    /* Concentric balls: distances of 3 up to the raggedness of the voxel surfaces. */
    tsr_mask_comparison nested = compared(ball(48, 17, 0), ball(48, 14, 0), 2);
    assert_true(fabs(nested.distances.mean - 3) < 0.3 && nested.distances.maximum < 4 && nested.distances.percentile_95 <= nested.distances.maximum);
    /* Moved by 5: overlap of two balls has volume pi (4R + d)(2R - d)^2 / 12. */
    double R = 14, d = 5, overlap = 3.14159265358979 * (4 * R + d) * (2 * R - d) * (2 * R - d) / 12, whole = 4 * 3.14159265358979 * R * R * R / 3;
    tsr_mask_comparison moved = compared(ball(48, R, 0), ball(48, R, d), 3), one = compared(ball(48, R, 0), ball(48, R, d), 1);
    assert_true(fabs(moved.dice - overlap / whole) < 0.01);
    assert_true(fabs(moved.distances.maximum - d) < 1e-6);
    assert_memory_equal(&moved, &one, sizeof one);
}

/* The summary against sorting, on a pair of random masks and brute force over pairs of surface voxels. */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static int is_surface(const uint8_t *m, int n, int x, int y, int z)
{
    if (!m[(z * n + y) * n + x]) return 0;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return 1;
    const uint8_t *p = m + (z * n + y) * n + x;
    return !(p[-1] && p[1] && p[-n] && p[n] && p[-n * n] && p[n * n]);
}
static void random_masks(void **state)
{
    (void)state;
    enum { N = 11 };
    uint64_t seed = test_seed();
    tsr_vec3 h = { 1, 1.5, 0.75 };
    tsr_volume *mask[2];
    double sorted[2][N * N * N], sum = 0;
    int count[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        mask[i] = empty_mask((tsr_size3){ N, N, N }, h);
        uint8_t *data = tsr_volume_data(mask[i]);
        for (int v = 0; v < N * N * N; v++) data[v] = test_uniform(&seed) < 0.6;
    }
    for (int i = 0; i < 2; i++) {
        const uint8_t *a = tsr_volume_data_const(mask[i]), *b = tsr_volume_data_const(mask[1 - i]);
        for (int v = 0; v < N * N * N; v++) {
            int x = v % N, y = v / N % N, z = v / N / N;
            if (!is_surface(a, N, x, y, z)) continue;
            double best = INFINITY;
            for (int w = 0; w < N * N * N; w++) {
                int p = w % N, q = w / N % N, r = w / N / N;
                if (!is_surface(b, N, p, q, r)) continue;
                best = fmin(best, sqrt(pow(h.x * (x - p), 2) + pow(h.y * (y - q), 2) + pow(h.z * (z - r), 2)));
            }
            sorted[i][count[i]++] = best;
            sum += best;
        }
        qsort(sorted[i], (size_t)count[i], sizeof(double), by_value);
    }
    int surface[2] = { count[0], count[1] };
    tsr_mask_comparison c = compared(mask[0], mask[1], 2);
    assert_int_equal(c.surface_voxels, surface[0]);
    assert_int_equal(c.surface_voxels_reference, surface[1]);
    double p95 = fmax(sorted[0][(count[0] * 95 + 99) / 100 - 1], sorted[1][(count[1] * 95 + 99) / 100 - 1]);
    assert_true(fabs(c.distances.mean - sum / (count[0] + count[1])) < 1e-6);
    assert_true(fabs(c.distances.percentile_95 - p95) < 1e-6);
    assert_true(fabs(c.distances.maximum - fmax(sorted[0][count[0] - 1], sorted[1][count[1] - 1])) < 1e-6);
}

static void empty_masks(void **state)
{
    (void)state;
    tsr_vec3 h = { 1, 1, 1 };
    tsr_size3 n = { 40, 36, 32 };
    tsr_mask_comparison c = compared(empty_mask(n, h), empty_mask(n, h), 1);
    assert_true(c.dice == 1 && c.jaccard == 1 && isnan(c.sensitivity) && c.specificity == 1 && c.distances.maximum == 0);
    c = compared(cube(h, 5, 1, 1, 1), empty_mask(n, h), 1);
    assert_true(c.dice == 0 && isnan(c.volume_error) && isinf(c.distances.mean));
}

static void values(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 2);
    float a[12] = { 1, 2, 3, 4, NAN, NAN, 7, 8, 9, 10, INFINITY, 12 };
    const int16_t b[12] = { 0, 2, 2, 3, 4, 5, 6, 7, 8, 4, 0, 11 }; /* value = stored + 1 */
    tsr_volume *one, *other;
    tsr_compare_options options = TSR_COMPARE_OPTIONS;
    tsr_volume_comparison c = TSR_VOLUME_COMPARISON;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ 3, 2, 2 }, NULL, a, NULL, NULL, &one));
    require_ok(tsr_volume_wrap(NULL, TSR_I16, (tsr_size3){ 3, 2, 2 }, NULL, (void *)(uintptr_t)b, NULL, NULL, &other));
    require_ok(tsr_volume_set_scaling(other, 1, 1));
    require_ok(tsr_compare_volumes(context, one, one, NULL, &c));
    assert_true(c.different == 0 && c.maximum == 0 && c.voxels == 12);
    require_ok(tsr_compare_volumes(context, one, other, NULL, &c));
    assert_true(c.different == 5 && c.not_a_number == 2 && isinf(c.maximum) && c.worst.x == 1 && c.worst.y == 1 && c.worst.z == 1);
    a[10] = 1;
    options.tolerance = 1;
    require_ok(tsr_compare_volumes(context, one, other, &options, &c));
    assert_true(c.different == 3 && c.maximum == 5 && c.worst.x == 0 && c.worst.y == 1 && c.worst.z == 1);
    assert_true(fabs(c.rms - sqrt((1.0 + 25.0) / 10)) < 1e-12);
    tsr_volume_destroy(&one);
    tsr_volume_destroy(&other);
    tsr_context_destroy(&context);
}

static void different_inputs(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 1);
    tsr_size3 n = { 4, 4, 4 };
    tsr_volume *a = empty_mask(n, (tsr_vec3){ 1, 1, 1 }), *b = empty_mask(n, (tsr_vec3){ 1, 1.1, 1 });
    tsr_volume *c = empty_mask((tsr_size3){ 4, 4, 5 }, (tsr_vec3){ 1, 1, 1 });
    tsr_compare_options ignore = TSR_COMPARE_OPTIONS;
    tsr_mask_comparison result = TSR_MASK_COMPARISON;
    tsr_volume_comparison values_result = TSR_VOLUME_COMPARISON;
    ignore.ignore_geometry = 1;
    require_error(tsr_compare_masks(context, a, b, NULL, &result), TSR_ERROR_ARGUMENT, "index y of world y is 1 and 1.1");
    require_ok(tsr_compare_masks(context, a, b, &ignore, &result));
    require_error(tsr_compare_masks(context, a, c, &ignore, &result), TSR_ERROR_ARGUMENT, "4 x 4 x 4 and 4 x 4 x 5");
    tsr_geometry moved = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 2 }, TSR_SPACE_RAS);
    require_ok(tsr_volume_set_geometry(b, &moved));
    require_error(tsr_compare_volumes(context, a, b, NULL, &values_result), TSR_ERROR_ARGUMENT, "origin z of world z is 0 and 2");
    moved = tsr_geometry_convert(tsr_volume_geometry(a), TSR_SPACE_LPS); /* the same points */
    require_ok(tsr_volume_set_geometry(b, &moved));
    require_ok(tsr_compare_masks(context, a, b, NULL, &result));
    moved.space = TSR_SPACE_NONE;
    require_ok(tsr_volume_set_geometry(b, &moved));
    require_error(tsr_compare_masks(context, a, b, NULL, &result), TSR_ERROR_ARGUMENT, "RAS and none");
    ignore.tolerance = NAN;
    require_error(tsr_compare_volumes(context, a, b, &ignore, &values_result), TSR_ERROR_ARGUMENT, "tolerance is nan");
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_volume_destroy(&c);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(moved_cubes), cmocka_unit_test(balls),  cmocka_unit_test(random_masks),
                                        cmocka_unit_test(empty_masks), cmocka_unit_test(values), cmocka_unit_test(different_inputs) };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
