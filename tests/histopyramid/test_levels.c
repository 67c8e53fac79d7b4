/* Pyramids of reductions: every cell against a plain loop over the voxels that it covers, closed forms, masks, what is refused. */
#include <math.h>

#include "context.h"
#include "tessera/pyramid.h"

static tsr_volume *put(tsr_dtype dtype, tsr_size3 n, const void *data)
{
    tsr_volume *host, *own;
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &own));
    tsr_volume_destroy(&host);
    return own;
}
static tsr_volume *get(const tsr_volume *v)
{
    tsr_volume *host;
    require_ok(tsr_volume_copy(v, NULL, &host));
    return host;
}

/* Whole numbers of every type, so that sums are exact in any order. */
static double element(const void *data, tsr_dtype dtype, int64_t i)
{
    switch (dtype) {
    case TSR_U8: return ((const uint8_t *)data)[i];
    case TSR_I8: return ((const int8_t *)data)[i];
    case TSR_U16: return ((const uint16_t *)data)[i];
    case TSR_I16: return ((const int16_t *)data)[i];
    case TSR_U32: return ((const uint32_t *)data)[i];
    case TSR_I32: return ((const int32_t *)data)[i];
    case TSR_U64: return (double)((const uint64_t *)data)[i];
    case TSR_I64: return (double)((const int64_t *)data)[i];
    case TSR_F32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}
static void set(void *data, tsr_dtype dtype, int64_t i, int v)
{
    switch (dtype) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)v; break;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)v; break;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)v; break;
    case TSR_I32: ((int32_t *)data)[i] = v; break;
    case TSR_U64: ((uint64_t *)data)[i] = (uint64_t)v; break;
    case TSR_I64: ((int64_t *)data)[i] = v; break;
    case TSR_F32: ((float *)data)[i] = (float)v; break;
    default: ((double *)data)[i] = v; break;
    }
}
static double far_end(tsr_dtype dtype, int largest)
{
    static const double ends[10][2] = { { 0, 255 },
                                        { -128, 127 },
                                        { 0, 65535 },
                                        { -32768, 32767 },
                                        { 0, 4294967295.0 },
                                        { -2147483648.0, 2147483647.0 },
                                        { 0, 0x1p64 },
                                        { -0x1p63, 0x1p63 },
                                        { -INFINITY, INFINITY },
                                        { -INFINITY, INFINITY } };
    return ends[dtype][largest];
}

enum { MOST = 37 * 21 * 9 };
static void check(tsr_dtype dtype, tsr_size3 n, const void *data, const uint8_t *mask, tsr_level_rule rule)
{
    tsr_volume *volume = put(dtype, n, data), *masked = mask ? put(TSR_U8, n, mask) : NULL;
    tsr_levels *levels;
    require_ok(tsr_levels_create(context, n, dtype, rule, &levels));
    for (int again = 0; again < 2; again++) require_ok(tsr_levels_build(levels, volume, masked)); /* into the same memory */
    int64_t size[3] = { n.x, n.y, n.z };
    for (int32_t l = 1; l <= tsr_levels_count(levels); l++) {
        tsr_volume *host = get(tsr_levels_volume(levels, l)), *voxels = rule == TSR_LEVEL_AVERAGE ? get(tsr_levels_voxels(levels, l)) : NULL;
        const int64_t cover = (int64_t)1 << l;
        for (int k = 0; k < 3; k++) size[k] = (size[k] + 1) / 2;
        assert_true(tsr_volume_size(host).x == size[0] && tsr_volume_size(host).y == size[1] && tsr_volume_size(host).z == size[2]);
        for (int64_t c = 0; c < size[0] * size[1] * size[2]; c++) {
            const int64_t at[3] = { c % size[0] * cover, c / size[0] % size[1] * cover, c / size[0] / size[1] * cover };
            double sum = 0, most = far_end(dtype, 0), least = far_end(dtype, 1);
            int64_t count = 0;
            for (int64_t z = at[2]; z < at[2] + cover && z < n.z; z++)
                for (int64_t y = at[1]; y < at[1] + cover && y < n.y; y++)
                    for (int64_t x = at[0]; x < at[0] + cover && x < n.x; x++) {
                        const int64_t i = (z * n.y + y) * n.x + x;
                        const double v = element(data, dtype, i);
                        if (mask && !mask[i]) continue;
                        sum += v;
                        count++;
                        most = v > most ? v : most;
                        least = v < least ? v : least;
                    }
            const double expected = rule == TSR_LEVEL_SUM ? sum : rule == TSR_LEVEL_MIN ? least : rule == TSR_LEVEL_MAX ? most : sum / (double)count;
            const double got = element(tsr_volume_data_const(host), tsr_volume_dtype(host), c);
            if (!(got == expected) && !(isnan(expected) && isnan(got)))
                fail_msg("%s rule %d level %d cell %d: %.17g, expected %.17g", tsr_dtype_name(dtype), (int)rule, l, (int)c, got, expected);
            if (voxels) assert_int_equal(((const uint64_t *)tsr_volume_data_const(voxels))[c], count);
        }
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&voxels);
    }
    assert_true(size[0] == 1 && size[1] == 1 && size[2] == 1);
    tsr_levels_destroy(&levels);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&masked);
}

static void equal_loops(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 37, 21, 9 }, { 32, 16, 8 }, { 65, 33, 1 }, { 1, 1, 300 }, { 3, 5, 7 }, { 1, 2, 1 } };
    static double data[MOST];
    static uint8_t mask[MOST];
    uint64_t seed = test_seed();
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        for (int rule = 0; rule < 4; rule++) {
            const tsr_size3 n = sizes[(d + rule) % 6];
            const int wide = d == TSR_U8 || d == TSR_I8 ? 128 : 30000,
                      low = d == TSR_I8 || d == TSR_I16 || d == TSR_I32 || d >= TSR_I64 ? wide / 2 : 0;
            for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
                set(data, (tsr_dtype)d, i, (int)(test_random(&seed) % (uint64_t)wide) - low);
                mask[i] = i % 64 > 40 ? 0 : (uint8_t)(test_random(&seed) % 3);
            }
            check((tsr_dtype)d, n, data, NULL, (tsr_level_rule)rule);
            check((tsr_dtype)d, n, data, mask, (tsr_level_rule)rule);
        }
}

/* Sums of floats by the documented order, worked out here, bit for bit: pairs along x, y, z of every level. The top of a ramp and of a constant. */
static void sums_of_floats(void **state)
{
    (void)state;
    enum { N = 32 };
    static float data[N * N * N];
    static double now[N * N * N], next[N * N * N / 8];
    uint64_t seed = test_seed();
    for (int i = 0; i < N * N * N; i++)
        now[i] = (double)(data[i] = (float)((test_uniform(&seed) - 0.5) * pow(10, (double)(test_random(&seed) % 30) - 10)));
    tsr_volume *volume = put(TSR_F32, (tsr_size3){ N, N, N }, data);
    tsr_levels *levels;
    require_ok(tsr_levels_create(context, (tsr_size3){ N, N, N }, TSR_F32, TSR_LEVEL_SUM, &levels));
    require_ok(tsr_levels_build(levels, volume, NULL));
    assert_int_equal(tsr_levels_count(levels), 5);
    for (int l = 1, n = N / 2; n; l++, n /= 2) {
        for (int c = 0; c < n * n * n; c++) {
            const int x = 2 * (c % n), y = 2 * (c / n % n), z = 2 * (c / n / n), m = 2 * n;
            double p[2][2];
            for (int k = 0; k < 4; k++)
                p[k >> 1][k & 1] = now[((z + k / 2) * m + y + k % 2) * m + x] + now[((z + k / 2) * m + y + k % 2) * m + x + 1];
            next[c] = (p[0][0] + p[0][1]) + (p[1][0] + p[1][1]);
        }
        tsr_volume *host = get(tsr_levels_volume(levels, l));
        assert_memory_equal(tsr_volume_data_const(host), next, sizeof(double) * (size_t)(n * n * n));
        memcpy(now, next, sizeof(double) * (size_t)(n * n * n));
        tsr_volume_destroy(&host);
    }
    tsr_levels_destroy(&levels);
    tsr_volume_destroy(&volume);
    for (int ramp = 0; ramp < 2; ramp++) { /* N (N - 1) / 2; a constant is constant on all levels */
        const int64_t n = 100003;
        uint32_t *numbers = malloc((size_t)n * 4);
        for (int64_t i = 0; i < n; i++) numbers[i] = ramp ? (uint32_t)i : 4000000000u;
        volume = put(TSR_U32, (tsr_size3){ n, 1, 1 }, numbers);
        require_ok(tsr_levels_create(context, (tsr_size3){ n, 1, 1 }, TSR_U32, ramp ? TSR_LEVEL_SUM : TSR_LEVEL_AVERAGE, &levels));
        require_ok(tsr_levels_build(levels, volume, NULL));
        assert_int_equal(tsr_levels_count(levels), 17);
        for (int32_t l = ramp ? 17 : 1; l <= 17; l++) {
            tsr_volume *host = get(tsr_levels_volume(levels, l));
            for (int64_t i = 0; i < tsr_volume_count(host); i++)
                if (ramp) assert_true(((const uint64_t *)tsr_volume_data_const(host))[i] == (uint64_t)n * (uint64_t)(n - 1) / 2);
                else assert_true(((const double *)tsr_volume_data_const(host))[i] == 4e9);
            tsr_volume_destroy(&host);
        }
        tsr_levels_destroy(&levels);
        tsr_volume_destroy(&volume);
        free(numbers);
    }
}

/* 64-bit numbers that no float64 holds; signed sums; NaN; geometry and scaling; nothing is allocated by builds. */
static void ends_of_types(void **state)
{
    (void)state;
    const uint64_t big[4] = { UINT64_MAX - 1, UINT64_MAX - 2, UINT64_MAX - 1, 3 };
    const int64_t small[4] = { INT64_MIN, 5, -9, INT64_MAX };
    const float odd[8] = { NAN, 2, -3, NAN, NAN, NAN, INFINITY, -0.5f };
    const tsr_size3 four = { 4, 1, 1 };
    tsr_levels *levels;
    tsr_volume *volume = put(TSR_U64, four, big), *host;
    require_ok(tsr_levels_create(context, four, TSR_U64, TSR_LEVEL_MAX, &levels));
    const int64_t before = tsr_context_memory(context)->allocations;
    require_ok(tsr_levels_build(levels, volume, NULL));
    assert_int_equal(tsr_context_memory(context)->allocations, before);
    host = get(tsr_levels_volume(levels, 2));
    assert_true(*(const uint64_t *)tsr_volume_data_const(host) == UINT64_MAX - 1);
    tsr_volume_destroy(&host);
    assert_true(!tsr_levels_volume(levels, 0) && !tsr_levels_volume(levels, 3) && !tsr_levels_voxels(levels, 1));
    tsr_levels_destroy(&levels);
    tsr_volume_destroy(&volume);

    volume = put(TSR_I64, four, small);
    require_ok(tsr_levels_create(context, four, TSR_I64, TSR_LEVEL_SUM, &levels));
    require_ok(tsr_levels_build(levels, volume, NULL));
    host = get(tsr_levels_volume(levels, 2));
    assert_true(*(const int64_t *)tsr_volume_data_const(host) == -5);
    tsr_volume_destroy(&host);
    tsr_levels_destroy(&levels);
    tsr_volume_destroy(&volume);

    volume = put(TSR_F32, (tsr_size3){ 2, 2, 2 }, odd);
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 2, 3 }, (tsr_vec3){ 10, 20, 30 }, TSR_SPACE_RAS);
    require_ok(tsr_volume_set_geometry(volume, &geometry));
    require_ok(tsr_volume_set_scaling(volume, 2, 7));
    for (int rule = TSR_LEVEL_AVERAGE; rule <= TSR_LEVEL_MAX; rule++) {
        require_ok(tsr_levels_create(context, (tsr_size3){ 2, 2, 2 }, TSR_F32, (tsr_level_rule)rule, &levels));
        require_ok(tsr_levels_build(levels, volume, NULL));
        host = get(tsr_levels_volume(levels, 1));
        const tsr_vec3 centre = tsr_geometry_to_world(tsr_volume_geometry(host), (tsr_vec3){ 0, 0, 0 }),
                       step = tsr_geometry_spacing(tsr_volume_geometry(host));
        assert_true(centre.x == 10.5 && centre.y == 21 && centre.z == 31.5 && step.x == 2 && step.y == 4 && step.z == 6);
        double slope, intercept;
        tsr_volume_scaling(host, &slope, &intercept);
        assert_true(rule == TSR_LEVEL_SUM ? slope == 1 && intercept == 0 : slope == 2 && intercept == 7);
        if (rule == TSR_LEVEL_MIN || rule == TSR_LEVEL_MAX)
            assert_true((double)*(const float *)tsr_volume_data_const(host) == (rule == TSR_LEVEL_MIN ? -3.0 : (double)INFINITY));
        else assert_true(isnan(*(const double *)tsr_volume_data_const(host)));
        tsr_volume_destroy(&host);
        tsr_levels_destroy(&levels);
    }
    tsr_volume_destroy(&volume);
}

static void refused(void **state)
{
    (void)state;
    const tsr_size3 n = { 4, 3, 2 };
    tsr_levels *levels;
    tsr_volume *bytes, *floats, *other;
    require_error(tsr_levels_create(NULL, n, TSR_U8, TSR_LEVEL_SUM, &levels), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_levels_create(context, n, TSR_U8, (tsr_level_rule)4, &levels), TSR_ERROR_ARGUMENT, "rule is 4");
    require_error(tsr_levels_create(context, n, (tsr_dtype)77, TSR_LEVEL_SUM, &levels), TSR_ERROR_ARGUMENT, "dtype is 77");
    require_error(tsr_levels_create(context, (tsr_size3){ 4, 0, 2 }, TSR_U8, TSR_LEVEL_SUM, &levels), TSR_ERROR_ARGUMENT, "extent y is 0");
    require_ok(tsr_levels_create(context, n, TSR_U8, TSR_LEVEL_SUM, &levels));
    require_ok(tsr_volume_create(context, TSR_U8, n, NULL, &bytes));
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &floats));
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 3, 1 }, NULL, &other));
    require_error(tsr_levels_build(NULL, bytes, NULL), TSR_ERROR_ARGUMENT, "levels is NULL");
    require_error(tsr_levels_build(levels, floats, NULL), TSR_ERROR_ARGUMENT, "volume of type f32, expected u8");
    require_error(tsr_levels_build(levels, other, NULL), TSR_ERROR_ARGUMENT, "volume of 4 x 3 x 1, expected 4 x 3 x 2");
    require_error(tsr_levels_build(levels, bytes, floats), TSR_ERROR_ARGUMENT, "mask of type f32, expected u8");
    tsr_levels_destroy(&levels);
    tsr_levels_destroy(&levels);
    require_ok(tsr_levels_create(context, (tsr_size3){ 1, 1, 1 }, TSR_U8, TSR_LEVEL_SUM, &levels)); /* a voxel is its own pyramid */
    assert_int_equal(tsr_levels_count(levels), 0);
    tsr_levels_destroy(&levels);
    tsr_volume_destroy(&bytes);
    tsr_volume_destroy(&floats);
    tsr_volume_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_loops), cmocka_unit_test(sums_of_floats), cmocka_unit_test(ends_of_types),
                                        cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("levels", tests, open_context, close_context);
}
