#include "support.h"

#include <math.h>

/* Distance along an axis from a voxel to one `steps` away whose body begins `body` before its centre. */
static double along(int64_t steps, double h, double body) { return steps ? fabs((double)steps) * h - body : 0; }

/* Squared distance in float64 to the nearest voxel whose inside flag is `wanted`, or infinity. `bodies`: to the boxes that are shorter than the voxels by the
 * smallest spacing along each axis; else to the centres. */
static double brute_force(const uint8_t *mask, tsr_size3 n, tsr_vec3 h, int64_t x, int64_t y, int64_t z, int wanted, int bodies)
{
    const double least = fmin(h.x, fmin(h.y, h.z)), half = bodies ? 0.5 : 0;
    double best = INFINITY;
    for (int64_t k = 0; k < n.z; k++)
        for (int64_t j = 0; j < n.y; j++)
            for (int64_t i = 0; i < n.x; i++) {
                const double a = along(i - x, h.x, half * (h.x - least)), b = along(j - y, h.y, half * (h.y - least)),
                             c = along(k - z, h.z, half * (h.z - least)), d = a * a + b * b + c * c;
                if ((mask[(k * n.y + j) * n.x + i] != 0) == wanted && d < best) best = d;
            }
    return best;
}

static tsr_volume *transformed(const void *mask, tsr_dtype dtype, tsr_size3 n, tsr_vec3 h, tsr_distance_mode mode, double band)
{
    tsr_context *context = test_context();
    tsr_geometry geometry = tsr_geometry_make(h, (tsr_vec3){ 1, 2, 3 }, TSR_SPACE_LPS);
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    tsr_volume *host, *device, *distance, *result;
    options.mode = mode;
    options.band = band;
    require_ok(tsr_volume_wrap(NULL, dtype, n, &geometry, (void *)(uintptr_t)mask, NULL, NULL, &host));
    require_ok(tsr_volume_set_scaling(host, 5, 7)); /* of the values, not of the result */
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_distance_transform(context, device, &options, &distance));
    require_ok(tsr_volume_copy(distance, NULL, &result));
    tsr_volume_destroy(&distance);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    return result;
}

static void compare(const uint8_t *mask, tsr_size3 n, tsr_vec3 h)
{
    double smallest = fmin(h.x, fmin(h.y, h.z)), tolerance = h.x == h.y && h.y == h.z ? 2e-7 : 6e-7;
    tsr_volume *signed_volume = transformed(mask, TSR_U8, n, h, TSR_DISTANCE_SIGNED, 0);
    tsr_volume *to_mask = transformed(mask, TSR_U8, n, h, TSR_DISTANCE_TO_MASK, 0);
    tsr_volume *banded = transformed(mask, TSR_U8, n, h, TSR_DISTANCE_SIGNED, 2.5);
    const float *got = tsr_volume_data_const(signed_volume), *unsigned_got = tsr_volume_data_const(to_mask), *band = tsr_volume_data_const(banded);
    for (int64_t z = 0, v = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, v++) {
                int inside = mask[v] != 0;
                double d = sqrt(brute_force(mask, n, h, x, y, z, !inside, 1)), expected = inside ? 0.5 * smallest - d : d - 0.5 * smallest;
                if (!(isinf(d) ? (double)got[v] == expected : fabs((double)got[v] - expected) <= tolerance * d))
                    fail_msg("voxel %d %d %d: %.9g, expected %.9g", (int)x, (int)y, (int)z, (double)got[v], expected);
                d = sqrt(brute_force(mask, n, h, x, y, z, !inside, 0));
                double outside = inside ? 0 : d;
                if (!(isinf(outside) ? isinf(unsigned_got[v]) : fabs((double)unsigned_got[v] - outside) <= tolerance * d))
                    fail_msg("voxel %d %d %d: %.9g to the mask, expected %.9g", (int)x, (int)y, (int)z, (double)unsigned_got[v], outside);
                assert_true(band[v] == fminf(fmaxf(got[v], -2.5f), 2.5f));
            }
    const tsr_geometry *geometry = tsr_volume_geometry(signed_volume);
    assert_true(geometry->affine[0][0] == h.x && geometry->affine[2][3] == 3 && geometry->space == TSR_SPACE_LPS);
    double slope, intercept;
    tsr_volume_scaling(signed_volume, &slope, &intercept);
    assert_true(slope == 1 && intercept == 0);
    tsr_volume_destroy(&signed_volume);
    tsr_volume_destroy(&to_mask);
    tsr_volume_destroy(&banded);
}

static void random_masks(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 17, 13, 11 }, { 40, 9, 7 }, { 1, 1, 30 }, { 70, 1, 1 }, { 5, 33, 1 }, { 33, 18, 9 }, { 1, 1, 1 } };
    const tsr_vec3 spacings[] = { { 1, 1, 1 }, { 0.7, 0.7, 0.7 }, { 1, 2, 5 }, { 3.3, 0.41, 1.27 } };
    static uint8_t mask[33 * 18 * 9 + 17 * 13 * 11];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int density = 0; density < 4; density++) {
            int64_t count = sizes[s].x * sizes[s].y * sizes[s].z;
            double share = (const double[]){ 0.003, 0.1, 0.5, 0.99 }[density];
            for (int64_t i = 0; i < count; i++) mask[i] = test_uniform(&seed) < share ? (uint8_t)(1 + i % 200) : 0;
            compare(mask, sizes[s], spacings[(s + (size_t)density) % 4]);
        }
}

static void one_sided_masks(void **state)
{
    (void)state;
    static const uint8_t zeros[60], ones[60] = { [0] = 1 };
    uint8_t all[60];
    memset(all, 1, sizeof all);
    compare(zeros, (tsr_size3){ 5, 4, 3 }, (tsr_vec3){ 1, 1, 1 });
    compare(all, (tsr_size3){ 5, 4, 3 }, (tsr_vec3){ 1, 1, 2 });
    compare(ones, (tsr_size3){ 5, 4, 3 }, (tsr_vec3){ 1, 1, 1 });
}

/* Integer squares: with unit spacing the square of (distance + 1/2) is a whole number to the last bit that float32 has. */
static void ball_is_exact(void **state)
{
    (void)state;
    enum { N = 48 };
    uint8_t *mask = calloc(N * N * N, 1);
    mask[(20 * N + 30) * N + 7] = 1;
    tsr_volume *volume = transformed(mask, TSR_U8, (tsr_size3){ N, N, N }, (tsr_vec3){ 1, 1, 1 }, TSR_DISTANCE_TO_MASK, 0);
    const float *d = tsr_volume_data_const(volume);
    for (int z = 0, v = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++, v++)
                assert_true(d[v] == sqrtf((float)((x - 7) * (x - 7) + (y - 30) * (y - 30) + (z - 20) * (z - 20))));
    tsr_volume_destroy(&volume);
    free(mask);
}

/* A half space cut across z: the level set is linear and crosses zero half-way between the two layers. */
static void plane_is_linear(void **state)
{
    (void)state;
    float mask[4 * 3 * 8];
    for (int v = 0; v < 96; v++) mask[v] = v / 12 < 3 ? -0.25f : v % 2 ? NAN : 0.0f; /* any value but 0 is inside; NaN is not */
    tsr_volume *volume = transformed(mask, TSR_F32, (tsr_size3){ 4, 3, 8 }, (tsr_vec3){ 2, 2, 2 }, TSR_DISTANCE_SIGNED, 0);
    const float *phi = tsr_volume_data_const(volume);
    for (int v = 0; v < 96; v++) assert_true(phi[v] == 2.0f * ((float)(v / 12) - 2.5f));
    tsr_volume_destroy(&volume);
}

/* Voxels of 0.7 x 0.7 x 5: a half space across any axis has its surface on the faces, 2.5 or 0.35 from the voxels beside it. */
static void surface_lies_on_faces(void **state)
{
    (void)state;
    const tsr_size3 n = { 9, 9, 9 };
    const tsr_vec3 h = { 0.7, 0.7, 5 };
    static uint8_t mask[729];
    for (int axis = 0; axis < 3; axis++) {
        const int stride = axis == 0 ? 1 : axis == 1 ? 9 : 81;
        const double step = axis == 2 ? 5 : 0.7;
        for (int v = 0; v < 729; v++) mask[v] = v / stride % 9 < 4;
        tsr_volume *volume = transformed(mask, TSR_U8, n, h, TSR_DISTANCE_SIGNED, 0);
        const float *phi = tsr_volume_data_const(volume);
        for (int v = 0; v < 729; v++) assert_true(fabs((double)phi[v] - step * ((double)(v / stride % 9) - 3.5)) < 4e-6);
        tsr_volume_destroy(&volume);
    }
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *mask, *result;
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &mask));
    options.band = -1;
    require_error(tsr_distance_transform(context, mask, &options, &result), TSR_ERROR_ARGUMENT, "band is -1");
    options.band = NAN;
    require_error(tsr_distance_transform(context, mask, &options, &result), TSR_ERROR_ARGUMENT, "band is nan");
    options.band = 0;
    options.mode = (tsr_distance_mode)9;
    require_error(tsr_distance_transform(context, mask, &options, &result), TSR_ERROR_ARGUMENT, "mode is 9");
    require_error(tsr_distance_transform(context, NULL, NULL, &result), TSR_ERROR_ARGUMENT, "mask is NULL");
    tsr_volume_destroy(&mask);
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 70000, 1, 1 }, NULL, &mask));
    require_error(tsr_distance_transform(context, mask, NULL, &result), TSR_ERROR_ARGUMENT, "70000 x 1 x 1");
    assert_null(result);
    tsr_volume_destroy(&mask);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_masks),    cmocka_unit_test(one_sided_masks), cmocka_unit_test(ball_is_exact),
                                        cmocka_unit_test(plane_is_linear), cmocka_unit_test(surface_lies_on_faces),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("distance", tests, NULL, NULL);
}
