/* Wrong arguments, overflow of a selection, the host wrappers, and exact answers that need no array (check/ compares whole arrays). */
#include "support.h"

#include <math.h>

#include "device/backend.h"

static tsr_context *context;

static int open_context(void **state)
{
    (void)state;
    context = test_context();
    return 0;
}
static int close_context(void **state)
{
    (void)state;
    assert_int_equal(tsr_context_memory(context).current_bytes, 0);
    tsr_context_destroy(&context);
    return 0;
}

static void *take(size_t bytes, const void *from)
{
    void *memory;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    if (from) require_ok(tsr_device_move(context, memory, NULL, from, bytes));
    return memory;
}

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
    int64_t before = tsr_context_memory(context).allocations;
    require_ok(tsr_sort(context, TSR_U64, data, out, NULL, NULL, 1000, 0, 64, work, bytes));
    require_ok(tsr_histogram(context, TSR_F32, data, 1000, 0, 1, 100, TSR_U32, out));
    require_ok(tsr_count(context, (tsr_predicate){ TSR_KEEP_NONZERO, 0, 0 }, TSR_U8, data, 8000, out));
    assert_int_equal(tsr_context_memory(context).allocations, before);
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, out, 8000);
    tsr_device_release(context, data, 8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ramp_sum), cmocka_unit_test(all_nan), cmocka_unit_test(selection_overflows),
                                        cmocka_unit_test(wrong_arguments), cmocka_unit_test(calls_do_not_allocate) };
    return cmocka_run_group_tests_name("primitives", tests, open_context, close_context);
}
