/* Segments from flags, wrong arguments, reports of conflicts, and that calls neither allocate nor read beyond their arrays (check/ compares whole results). */
#include "on_device.h"

/* 0 | 1 2 3 | 4 | 5 .. 9 with heads 1, 4, 5: element 0 belongs to none; a list with too little room has whole segments; one with more has empty ones. */
static void from_flags(void **state)
{
    (void)state;
    static const uint8_t flags[10] = { 0, 7, 0, 0, 1, 255, 0, 0, 0, 0 };
    static const uint32_t values[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    static const struct {
        int64_t capacity;
        uint32_t offsets[6];
        uint64_t sums[5];
    } cases[] = {
        { 3, { 1, 4, 5, 10 }, { 9, 5, 40 } }, { 2, { 1, 4, 5 }, { 9, 5 } }, { 5, { 1, 4, 5, 10, 10, 10 }, { 9, 5, 40, 0, 0 } }, { 0, { 1 }, { 0 } }
    };
    void *own_flags = take(10, flags), *data = take(40, values);
    uint32_t *offsets = (uint32_t *)take(24, NULL), host[6];
    uint64_t *found = (uint64_t *)take(8, NULL), number;
    tsr_reduced *sums = (tsr_reduced *)take(40, NULL), got[5];
    size_t bytes, reduce_bytes;
    require_ok(tsr_segments_workspace(context, 10, &bytes));
    require_ok(tsr_segmented_reduce_workspace(context, 10, 5, &reduce_bytes));
    void *work = take(bytes, NULL), *reduce_work = take(reduce_bytes, NULL);
    const int64_t before = tsr_context_memory(context)->allocations;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t n = cases[k].capacity;
        require_ok(tsr_segments_from_flags(context, (const uint8_t *)own_flags, 10, TSR_U32, offsets, n, found, work, bytes));
        require_ok(tsr_device_move(NULL, host, context, offsets, ((size_t)n + 1) * 4));
        require_ok(tsr_found_host(context, found, -1, &number));
        assert_int_equal(number, 3);
        assert_memory_equal(host, cases[k].offsets, ((size_t)n + 1) * 4);
        require_ok(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_U32, data, 10, TSR_U32, offsets, n, sums, reduce_work, reduce_bytes));
        require_ok(tsr_device_move(NULL, got, context, sums, (size_t)n * sizeof *got));
        for (int64_t s = 0; s < n; s++) assert_int_equal(got[s].u, cases[k].sums[s]);
    }
    assert_int_equal(tsr_context_memory(context)->allocations, before);
    tsr_device_release(context, reduce_work, reduce_bytes);
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, sums, 40);
    tsr_device_release(context, found, 8);
    tsr_device_release(context, offsets, 24);
    tsr_device_release(context, data, 40);
    tsr_device_release(context, own_flags, 10);
}

/* Segments in more pieces than the emulator has blocks for, so that a block takes several: sums, the largest and where it lies among many that are smaller. */
static void long_segments(void **state)
{
    (void)state;
    enum { PIECE = 32768, CUT = 30 * PIECE + 17, N = 50 * PIECE - 5, S = 3 };
    const uint32_t offsets[S + 1] = { 0, CUT, CUT, N };
    uint8_t *values = (uint8_t *)malloc(N);
    uint64_t sum[S] = { 0 }, got[S], most[S] = { 0 };
    assert_non_null(values);
    for (int64_t i = 0; i < N; i++) values[i] = (uint8_t)(i / PIECE + i % 7); /* every piece has a sum of its own */
    values[23 * PIECE + 100] = 200;
    values[47 * PIECE + 9] = 201;
    for (int s = 0; s < S; s++)
        for (uint32_t i = offsets[s]; i < offsets[s + 1]; i++) {
            sum[s] += values[i];
            if (values[i] > most[s]) most[s] = values[i];
        }
    size_t bytes;
    require_ok(tsr_segmented_reduce_workspace(context, N, S, &bytes));
    void *data = take(N, values), *list = take(sizeof offsets, offsets), *results = take(sizeof got, NULL), *work = take(bytes, NULL);
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_segmented_reduce(context, k ? TSR_REDUCE_MAX : TSR_REDUCE_SUM, TSR_U8, data, N, TSR_U32, list, S, (tsr_reduced *)results, work,
                                        bytes));
        require_ok(tsr_device_move(NULL, got, context, results, sizeof got));
        for (int s = 0; s < S; s++) assert_int_equal(got[s], k ? most[s] : sum[s]);
    }
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, results, sizeof got);
    tsr_device_release(context, list, sizeof offsets);
    tsr_device_release(context, data, N);
    free(values);
}

/* Offsets that lie: beyond the array, descending, overlapping thousands of times. The call ends, and reads nothing outside (the emulator and ASan watch). */
static void lying_offsets(void **state)
{
    (void)state;
    enum { N = 9000, S = 600 };
    uint64_t *offsets = (uint64_t *)malloc((S + 1) * 8);
    assert_non_null(offsets);
    for (int i = 0; i <= S; i++) offsets[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX - (uint64_t)i : N / 2;
    size_t bytes, scan_bytes;
    require_ok(tsr_segmented_reduce_workspace(context, N, S, &bytes));
    require_ok(tsr_segmented_scan_workspace(context, N, &scan_bytes));
    void *data = take(N * 4, NULL), *list = take((S + 1) * 8, offsets), *results = take(S * 8, NULL), *work = take(bytes, NULL),
         *scan_work = take(scan_bytes, NULL), *sums = take(N * 4, NULL);
    require_ok(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, data, N, TSR_U64, list, S, (tsr_reduced *)results, work, bytes));
    require_ok(tsr_segmented_scan(context, TSR_SCAN_INCLUSIVE, TSR_U32, data, N, NULL, TSR_U64, list, S, TSR_U32, sums, scan_work, scan_bytes));
    require_ok(tsr_context_synchronize(context));
    tsr_device_release(context, sums, N * 4);
    tsr_device_release(context, scan_work, scan_bytes);
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, results, S * 8);
    tsr_device_release(context, list, (S + 1) * 8);
    tsr_device_release(context, data, N * 4);
    free(offsets);
}

/* A duplicate put into a permutation is found, with both its sources; values that agree are no conflict of COMMON. */
static void duplicates(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t indices[N], host[N];
    uint16_t values[N];
    tsr_scatter_report got;
    for (uint32_t i = 0; i < N; i++) {
        indices[i] = i * 377u % N;
        values[i] = (uint16_t)(i + 1);
    }
    indices[811] = indices[123];
    indices[900] = N;
    void *at = take(sizeof indices, indices), *from = take(sizeof values, values), *to = take(sizeof values, NULL);
    tsr_scatter_report *report = (tsr_scatter_report *)take(sizeof *report, NULL);
    size_t bytes;
    require_ok(tsr_scatter_workspace(context, N, &bytes));
    void *work = take(bytes, NULL);
    require_ok(tsr_scatter(context, TSR_SCATTER_EXCLUSIVE, from, 2, TSR_U32, at, N, to, N, report, work, bytes));
    require_error(tsr_scatter_check(context, report, &got), TSR_ERROR_ARGUMENT, "sources 123 and 811");
    assert_int_equal(got.conflicts, 1);
    assert_int_equal(got.outside, 1);
    values[811] = values[123];
    require_ok(tsr_device_move(context, from, NULL, values, sizeof values));
    require_ok(tsr_scatter(context, TSR_SCATTER_COMMON, from, 2, TSR_U32, at, N, to, N, report, work, bytes));
    require_ok(tsr_scatter_check(context, report, &got));
    assert_int_equal(got.conflicts, 0);
    /* without a report: one pass, no workspace; the inverse of the rest is a gather */
    for (uint32_t i = 0; i < N; i++) indices[i] = i * 377u % N;
    require_ok(tsr_device_move(context, at, NULL, indices, sizeof indices));
    require_ok(tsr_scatter(context, TSR_SCATTER_EXCLUSIVE, at, 4, TSR_U32, at, N, work, N, NULL, NULL, 0));
    require_ok(tsr_device_move(NULL, host, context, work, sizeof host));
    for (uint32_t i = 0; i < N; i++) assert_int_equal(host[i], i);
    tsr_device_release(context, work, bytes);
    tsr_device_release(context, report, sizeof *report);
    tsr_device_release(context, to, sizeof values);
    tsr_device_release(context, from, sizeof values);
    tsr_device_release(context, at, sizeof indices);
}

static void wrong_arguments(void **state)
{
    (void)state;
    size_t bytes = 0;
    void *memory = take(4096, NULL);
    uint64_t *words = (uint64_t *)memory;
    require_ok(tsr_segmented_reduce_workspace(context, 0, 0, &bytes));
    require_ok(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, NULL, 0, TSR_U64, words, 0, NULL, words + 8, bytes));
    require_error(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, words, -1, TSR_U64, words, 1, NULL, NULL, 0), TSR_ERROR_ARGUMENT,
                  "count is -1");
    require_error(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, words, 4, TSR_F32, words, 1, NULL, NULL, 0), TSR_ERROR_ARGUMENT,
                  "offset_type is f32, expected u32 or u64");
    require_error(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, words, 4, TSR_U64, words, 1, NULL, words, 64), TSR_ERROR_ARGUMENT,
                  "results is NULL");
    require_error(tsr_segmented_reduce(context, (tsr_reduction)9, TSR_F32, words, 4, TSR_U64, words, 1, NULL, words, 64), TSR_ERROR_ARGUMENT,
                  "reduction is 9");
    require_error(tsr_segmented_reduce(context, TSR_REDUCE_SUM, TSR_F32, words, 40000, TSR_U64, words, 1, (tsr_reduced *)memory, words, 8),
                  TSR_ERROR_ARGUMENT, "tsr_segmented_reduce_workspace");
    require_error(tsr_segmented_scan(context, TSR_SCAN_INCLUSIVE, TSR_U32, words, 4, (uint8_t *)memory, TSR_U64, words, 1, TSR_U32, words, words, 64),
                  TSR_ERROR_ARGUMENT, "both given");
    require_error(tsr_segmented_scan(context, TSR_SCAN_INCLUSIVE, TSR_U64, words, 4, (uint8_t *)memory, TSR_U64, NULL, 0, TSR_U32, words, words, 64),
                  TSR_ERROR_ARGUMENT, "u64 for u64 data");
    require_error(tsr_segments_from_flags(context, (uint8_t *)memory, (int64_t)1 << 32, TSR_U32, words, 1, words, words, 64), TSR_ERROR_ARGUMENT,
                  "use u64");
    require_error(tsr_gather(context, words, 3, 4, TSR_U32, words, 4, NULL, words), TSR_ERROR_ARGUMENT, "value_bytes is 3");
    require_error(tsr_gather(context, words, 4, 4, TSR_I32, words, 4, NULL, words), TSR_ERROR_ARGUMENT, "index_type is i32");
    require_error(tsr_scatter(context, TSR_SCATTER_SUM, words, 4, TSR_U32, words, 4, words, 4, NULL, words, 64), TSR_ERROR_ARGUMENT,
                  "tsr_scatter_combine");
    require_error(tsr_scatter(context, TSR_SCATTER_LAST, words, 4, TSR_U32, words, 4, words, 4, NULL, NULL, 0), TSR_ERROR_ARGUMENT,
                  "tsr_scatter_workspace");
    require_error(tsr_scatter(context, TSR_SCATTER_LAST, words, 4, TSR_U32, words, (int64_t)1 << 32, words, 4, NULL, NULL, 0), TSR_ERROR_ARGUMENT,
                  "below 2^32");
    require_error(tsr_scatter_combine(context, TSR_SCATTER_FIRST, TSR_U32, words, TSR_U32, words, 4, words, 4, NULL, 0), TSR_ERROR_ARGUMENT,
                  "rule is 3");
    require_error(tsr_scatter_combine(context, TSR_SCATTER_SUM, TSR_U8, words, TSR_U32, words, 4, words, 4, NULL, 0), TSR_ERROR_ARGUMENT,
                  "dtype is u8");
    require_error(tsr_invert(context, TSR_U32, words, 4, 4, NULL, (uint32_t *)memory, words, 64), TSR_ERROR_ARGUMENT, "starts is NULL");
    require_error(tsr_scatter_check(context, NULL, NULL), TSR_ERROR_ARGUMENT, "report is NULL");
    tsr_device_release(context, memory, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(from_flags), cmocka_unit_test(long_segments), cmocka_unit_test(lying_offsets),
                                        cmocka_unit_test(duplicates), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("segments", tests, open_context, close_context);
}
