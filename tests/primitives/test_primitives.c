/* Wrong arguments, overflow of a selection, the host wrappers, and exact answers that need no array (check/ compares whole arrays). */
#include "on_device.h"

#include <math.h>

static void ramp_sum(void **state)
{
    (void)state;
    enum { N = 100003 };
    uint32_t *ramp = (uint32_t *)malloc(N * sizeof *ramp);
    assert_non_null(ramp);
    for (uint32_t i = 0; i < N; i++) ramp[i] = i;
    void *data = take(N * sizeof *ramp, ramp);
    tsr_reduced r;
    require_ok(tsr_reduce_host(context, TSR_REDUCE_SUM, TSR_U32, data, N, &r));
    assert_true(r.u == (uint64_t)N * (N - 1) / 2);
    require_ok(tsr_reduce_host(context, TSR_REDUCE_MAX, TSR_U32, data, N, &r));
    assert_true(r.u == N - 1);
    require_ok(tsr_reduce_host(context, TSR_REDUCE_MIN, TSR_F32, data, 0, &r));
    assert_true(isinf(r.f) && r.f > 0);
    tsr_device_release(context, data, N * sizeof *ramp);
    free(ramp);
}

static void all_nan(void **state)
{
    (void)state;
    const float nan[3] = { NAN, -NAN, NAN };
    void *data = take(sizeof nan, nan);
    tsr_reduced r;
    require_ok(tsr_reduce_host(context, TSR_REDUCE_MAX, TSR_F32, data, 3, &r));
    assert_true(isinf(r.f) && r.f < 0);
    require_ok(tsr_reduce_host(context, TSR_REDUCE_SUM, TSR_F32, data, 3, &r));
    assert_true(isnan(r.f));
    tsr_device_release(context, data, sizeof nan);
}

static void selection_overflows(void **state)
{
    (void)state;
    uint8_t ones[500], *data;
    uint32_t *indices, host[10];
    uint64_t *found, value;
    int64_t counted;
    size_t bytes;
    void *work;
    memset(ones, 1, sizeof ones);
    data = (uint8_t *)take(sizeof ones, ones);
    indices = (uint32_t *)take(sizeof host, NULL);
    found = (uint64_t *)take(8, NULL);
    require_ok(tsr_select_workspace(context, 500, &bytes));
    work = take(bytes, NULL);
    tsr_predicate keep = { TSR_KEEP_RANGE, 0.5, INFINITY };
    require_ok(tsr_select_indices(context, keep, TSR_U8, data, 500, TSR_U32, indices, 8, found, work, bytes));
    require_error(tsr_found_host(context, found, 8, &value), TSR_ERROR_CAPACITY, "500 elements found, room for 8");
    assert_int_equal(value, 500);
    require_ok(tsr_found_host(context, found, -1, &value));
    require_ok(tsr_count_host(context, keep, TSR_U8, data, 500, &counted));
    assert_int_equal(counted, 500);
    require_ok(tsr_count_host(context, (tsr_predicate){ TSR_KEEP_RANGE, 1.5, 2 }, TSR_U8, data, 500, &counted));
    assert_int_equal(counted, 0);
    require_error(tsr_count_host(context, keep, TSR_U8, NULL, 500, &counted), TSR_ERROR_ARGUMENT, "data is NULL");
    require_ok(tsr_device_move(NULL, host, context, indices, sizeof host));
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(host[i], i);
    require_error(tsr_select_indices(context, (tsr_predicate){ TSR_KEEP_RANGE, NAN, 1 }, TSR_U8, data, 500, TSR_U32, indices, 8, found, work, bytes),
                  TSR_ERROR_ARGUMENT, "expected two numbers");
    require_error(tsr_select_indices(context, keep, TSR_I32, data, 500, TSR_U32, indices, 8, found, work, bytes), TSR_ERROR_ARGUMENT,
                  "u8, u16 or f32");
    require_error(tsr_select_indices(context, keep, TSR_U8, data, (int64_t)1 << 33, TSR_U32, indices, 8, found, work, bytes), TSR_ERROR_ARGUMENT,
                  "u64");
    require_error(tsr_select_indices(context, keep, TSR_U8, data, 500, TSR_U32, indices, 8, found, work, bytes - 1), TSR_ERROR_ARGUMENT, "workspace");
    require_error(tsr_select_values(context, data, data, 3, 500, indices, 8, found, work, bytes), TSR_ERROR_ARGUMENT, "value_bytes is 3");
    require_error(tsr_count(context, keep, TSR_U8, NULL, 500, found), TSR_ERROR_ARGUMENT, "data is NULL");
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, found, 8);
    tsr_device_release(context, indices, sizeof host);
    tsr_device_release(context, data, sizeof ones);
}

static void wrong_arguments(void **state)
{
    (void)state;
    size_t bytes;
    uint64_t *memory = (uint64_t *)take(4096, NULL);
    char *odd = (char *)memory + 1;
    require_error(tsr_reduce_workspace(NULL, 5, &bytes), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_scan_workspace(context, -1, &bytes), TSR_ERROR_ARGUMENT, "count is -1");
    require_error(tsr_reduce(context, (tsr_reduction)9, TSR_U8, memory, 4, (tsr_reduced *)memory, memory, 4096), TSR_ERROR_ARGUMENT,
                  "reduction is 9");
    require_error(tsr_reduce(context, TSR_REDUCE_SUM, TSR_U32, odd, 4, (tsr_reduced *)memory, memory, 4096), TSR_ERROR_ARGUMENT, "not aligned");
    require_error(tsr_scan(context, TSR_SCAN_INCLUSIVE, TSR_U64, memory, 4, TSR_U32, memory, memory, 4096), TSR_ERROR_ARGUMENT, "u64 for u64");
    require_error(tsr_scan(context, TSR_SCAN_INCLUSIVE, TSR_F32, memory, 4, TSR_U32, memory, memory, 4096), TSR_ERROR_ARGUMENT, "f32");
    require_error(tsr_sort_workspace(context, TSR_U8, 0, 4, &bytes), TSR_ERROR_ARGUMENT, "u32 or u64");
    require_error(tsr_sort(context, TSR_U32, memory, memory + 8, NULL, NULL, 4, 5, 33, memory, 4096), TSR_ERROR_ARGUMENT, "bits 5 to 33");
    require_error(tsr_sort(context, TSR_U32, memory, memory, NULL, NULL, 4, 0, 32, memory, 4096), TSR_ERROR_ARGUMENT, "same array");
    require_error(tsr_sort(context, TSR_U32, memory, memory + 8, (uint32_t *)memory, NULL, 4, 0, 32, memory, 4096), TSR_ERROR_ARGUMENT,
                  "one is NULL");
    require_error(tsr_histogram(context, TSR_U8, memory, 4, 3, 3, 10, TSR_U32, memory), TSR_ERROR_ARGUMENT, "lower below upper");
    require_error(tsr_histogram(context, TSR_U8, memory, 4, 0, INFINITY, 10, TSR_U32, memory), TSR_ERROR_ARGUMENT, "finite");
    require_error(tsr_histogram(context, TSR_U8, memory, 4, 0, 3, 0, TSR_U32, memory), TSR_ERROR_ARGUMENT, "0 bins");
    tsr_device_release(context, memory, 4096);
}

/* Steady state: calls allocate nothing. */
static void calls_do_not_allocate(void **state)
{
    (void)state;
    size_t bytes;
    uint64_t *data = (uint64_t *)take(8000, NULL), *out = (uint64_t *)take(8000, NULL);
    require_ok(tsr_sort_workspace(context, TSR_U64, 0, 1000, &bytes));
    void *work = take(bytes, NULL);
    int64_t before = tsr_context_memory(context)->allocations;
    require_ok(tsr_sort(context, TSR_U64, data, out, NULL, NULL, 1000, 0, 64, work, bytes));
    require_ok(tsr_histogram(context, TSR_F32, data, 1000, 0, 1, 100, TSR_U32, out));
    require_ok(tsr_count(context, (tsr_predicate){ TSR_KEEP_NONZERO, 0, 0 }, TSR_U8, data, 8000, out));
    assert_int_equal(tsr_context_memory(context)->allocations, before);
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, out, 8000);
    tsr_device_release(context, data, 8000);
}

/* Joint and weighted histograms against a loop over the elements; bins straddle what is counted in shared memory and what is not. */
static void joint_histograms(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t seed = test_seed();
    static uint8_t bytes[N];
    static uint16_t words[N];
    static float reals[N], weights[N];
    for (int i = 0; i < N; i++) {
        bytes[i] = (uint8_t)(test_random(&seed) >> 40);
        words[i] = (uint16_t)(test_random(&seed) >> 40);
        reals[i] = i % 97 == 5 ? NAN : (float)(test_random(&seed) % 2000) / 100 - 10;
        weights[i] = i % 89 == 7 ? NAN : i % 301 == 9 ? -INFINITY : (float)((int)(test_random(&seed) % 4001) - 2000) / 512;
    }
    void *b = take(N, bytes), *w = take(2 * N, words), *r = take(4 * N, reals), *q = take(4 * N, weights);
    static const struct {
        int axes, bins[3], weighted, fraction;
    } cases[] = {
        { 1, { 7, 1, 1 }, 0, 0 },   { 1, { 20000, 1, 1 }, 1, 4 }, { 2, { 16, 9, 1 }, 1, 8 }, { 2, { 100, 100, 1 }, 0, 3 },
        { 3, { 8, 5, 11 }, 1, 20 }, { 3, { 30, 40, 50 }, 1, 62 }, { 3, { 1, 1, 1 }, 1, 0 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const tsr_histogram_axis axes[3] = { { TSR_F32, r, -8, 9.5, cases[n].bins[0] },
                                             { TSR_U8, b, 10, 240, cases[n].bins[1] },
                                             { TSR_U16, w, 0, 65536, cases[n].bins[2] } };
        const int64_t cells = (int64_t)cases[n].bins[0] * cases[n].bins[1] * cases[n].bins[2];
        int64_t *expected = (int64_t *)calloc((size_t)cells, 8), *got = (int64_t *)malloc((size_t)cells * 8),
                *sums = (int64_t *)take((size_t)cells * 8, NULL);
        for (int i = 0; i < N; i++) {
            const double v[3] = { (double)reals[i], bytes[i], words[i] };
            int64_t cell = 0;
            for (int k = cases[n].axes - 1; k >= 0 && cell >= 0; k--) {
                if (!(v[k] >= axes[k].lower && v[k] < axes[k].upper)) {
                    cell = -1;
                    continue;
                }
                const int64_t bin = (int64_t)floor((v[k] - axes[k].lower) * (axes[k].bins / (axes[k].upper - axes[k].lower)));
                cell = cell * axes[k].bins + (bin < axes[k].bins ? bin : axes[k].bins - 1);
            }
            if (cell < 0) continue;
            const double units = ldexp((double)weights[i], cases[n].fraction);
            const int64_t most = (int64_t)1 << 62;
            const int64_t weight = !cases[n].weighted       ? 1
                                   : isnan(units)           ? 0
                                   : units >= (double)most  ? most
                                   : units <= -(double)most ? -most
                                                            : llrint(units);
            expected[cell] = (int64_t)((uint64_t)expected[cell] + (uint64_t)weight);
        }
        require_ok(tsr_histogram_joint(context, axes, cases[n].axes, N, cases[n].weighted ? (const float *)q : NULL, cases[n].fraction, sums));
        require_ok(tsr_device_move(NULL, got, context, sums, (size_t)cells * 8));
        for (int64_t c = 0; c < cells; c++)
            if (got[c] != expected[c])
                fail_msg("case %zu, cell %lld: %lld, expected %lld", n, (long long)c, (long long)got[c], (long long)expected[c]);
        tsr_device_release(context, sums, (size_t)cells * 8);
        free(expected);
        free(got);
    }
    const tsr_histogram_axis many = { TSR_U8, b, 0, 256, 1 << 13 }, two[2] = { many, many };
    require_error(tsr_histogram_joint(context, two, 2, N, NULL, 0, (int64_t *)b), TSR_ERROR_ARGUMENT, "2^24 on all axes");
    require_error(tsr_histogram_joint(context, two, 4, N, NULL, 0, (int64_t *)b), TSR_ERROR_ARGUMENT, "4 axes");
    require_error(tsr_histogram_joint(context, two, 1, N, NULL, 63, (int64_t *)b), TSR_ERROR_ARGUMENT, "fraction_bits is 63");
    tsr_device_release(context, b, N);
    tsr_device_release(context, w, 2 * N);
    tsr_device_release(context, r, 4 * N);
    tsr_device_release(context, q, 4 * N);
}

/* Sorted, stable, and the same pairs: over more than two tiles of keys, with keys that are all different and keys that are few. */
static void sorts_are_stable(void **state)
{
    (void)state;
    enum { N = 9001 };
    static uint32_t keys[N], place[N], sorted[N], moved[N];
    uint64_t random = test_seed();
    size_t bytes;
    require_ok(tsr_sort_workspace(context, TSR_U32, 1, N, &bytes));
    for (int few = 0; few < 2; few++) {
        for (uint32_t i = 0; i < N; i++) {
            keys[i] = (uint32_t)(test_random(&random) >> 32) % (few ? 3 : UINT32_MAX);
            place[i] = i;
        }
        void *k = take(sizeof keys, keys), *p = take(sizeof place, place), *to = take(sizeof keys, NULL), *with = take(sizeof place, NULL),
             *w = take(bytes, NULL);
        require_ok(tsr_sort(context, TSR_U32, k, to, p, with, N, 0, 32, w, bytes));
        require_ok(tsr_device_move(NULL, sorted, context, to, sizeof sorted));
        require_ok(tsr_device_move(NULL, moved, context, with, sizeof moved));
        for (int i = 0; i < N; i++) {
            assert_true(moved[i] < N && keys[moved[i]] == sorted[i]);
            if (i) assert_true(sorted[i - 1] < sorted[i] || (sorted[i - 1] == sorted[i] && moved[i - 1] < moved[i]));
        }
        tsr_device_release(context, k, sizeof keys);
        tsr_device_release(context, p, sizeof place);
        tsr_device_release(context, to, sizeof keys);
        tsr_device_release(context, with, sizeof place);
        tsr_device_release(context, w, bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sorts_are_stable),     cmocka_unit_test(ramp_sum),        cmocka_unit_test(all_nan),
                                        cmocka_unit_test(selection_overflows),  cmocka_unit_test(wrong_arguments), cmocka_unit_test(joint_histograms),
                                        cmocka_unit_test(calls_do_not_allocate) };
    return cmocka_run_group_tests_name("primitives", tests, open_context, close_context);
}
