#include "tessera/primitives.h"

#include <math.h>

#include "primitives/arguments.h"

static const int64_t MOST = (int64_t)1 << 40;

tsr_status tsr_check_count(const tsr_context *context, const char *what, int64_t count)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: context is NULL", what);
    if (count < 0 || count > MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: count is %lld, expected 0 to 2^40", what, (long long)count);
    return TSR_OK;
}

/* An array that holds `count` elements of `size` bytes. */
tsr_status tsr_check_array(const char *what, const char *name, const void *array, int64_t count, size_t size)
{
    if (count && !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is NULL, expected %lld elements", what, name, (long long)count);
    if ((uintptr_t)array % size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is not aligned to its elements of %zu bytes", what, name, size);
    return TSR_OK;
}

tsr_status tsr_check_workspace(const char *what, const void *workspace, size_t given, size_t needed)
{
    if (given < needed || (needed && !workspace))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: workspace of %zu bytes%s, %zu needed: ask tsr_%s_workspace", what, given, workspace ? "" : " (NULL)",
                 needed, what);
    if ((uintptr_t)workspace % 64) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: workspace is not aligned to 64 bytes", what);
    return TSR_OK;
}

tsr_status tsr_check_type(const char *what, const char *name, tsr_dtype dtype, unsigned allowed, const char *expected)
{
    if ((unsigned)dtype >= TSR_DTYPE_COUNT) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is %d, expected %s", what, name, (int)dtype, expected);
    if (!(allowed >> dtype & 1u)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is %s, expected %s", what, name, tsr_dtype_name(dtype), expected);
    return TSR_OK;
}

/* ---- reduce --------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_reduce_workspace(tsr_context *context, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "reduce", count));
    *bytes = tsr_primitives_of(context)->reduce_bytes(count);
    return TSR_OK;
}

tsr_status tsr_reduce(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                      void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context, result);
    TSR_TRY(tsr_check_count(context, "reduce", count));
    if ((unsigned)reduction > TSR_REDUCE_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reduce: reduction is %d, expected TSR_REDUCE_SUM, _MIN or _MAX", (int)reduction);
    TSR_TRY(tsr_check_type("reduce", "dtype", dtype, (1u << TSR_DTYPE_COUNT) - 1u, "an element type"));
    TSR_TRY(tsr_check_array("reduce", "data", data, count, tsr_dtype_size(dtype)));
    TSR_TRY(tsr_check_array("reduce", "result", result, 1, sizeof *result));
    TSR_TRY(tsr_check_workspace("reduce", workspace, workspace_bytes, tsr_primitives_of(context)->reduce_bytes(count)));
    TSR_TRY(tsr_primitives_of(context)->reduce(context->queue, reduction, dtype, data, count, result, workspace));
    return TSR_OK;
}

tsr_status tsr_reduce_host(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result)
{
    TSR_NEEDS(context, result);
    size_t bytes;
    unsigned char *memory = NULL; /* the workspace and, 256 bytes before it, the result */
    tsr_status status;
    TSR_TRY(tsr_reduce_workspace(context, count, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes + 256, (void **)&memory));
    TSR_TRY_GOTO(tsr_reduce(context, reduction, dtype, data, count, (tsr_reduced *)(void *)memory, memory + 256, bytes), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, result, memory, sizeof *result), done);
done:
    tsr_device_release(context, memory, bytes + 256);
    return status;
}

/* ---- scan ----------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_scan_workspace(tsr_context *context, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "scan", count));
    *bytes = tsr_primitives_of(context)->scan_bytes(count);
    return TSR_OK;
}

tsr_status tsr_scan(tsr_context *context, tsr_scan_kind kind, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                    void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context);
    TSR_TRY(tsr_check_count(context, "scan", count));
    if ((unsigned)kind > TSR_SCAN_INCLUSIVE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "scan: kind is %d, expected TSR_SCAN_EXCLUSIVE or TSR_SCAN_INCLUSIVE", (int)kind);
    TSR_TRY(tsr_check_type("scan", "data_type", data_type, TSR_ALLOW(TSR_U8) | TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64), "u8, u32 or u64"));
    TSR_TRY(tsr_check_type("scan", "sum_type", sum_type, (data_type == TSR_U64 ? 0u : TSR_ALLOW(TSR_U32)) | TSR_ALLOW(TSR_U64),
                           data_type == TSR_U64 ? "u64 for u64 data" : "u32 or u64"));
    TSR_TRY(tsr_check_array("scan", "data", data, count, tsr_dtype_size(data_type)));
    TSR_TRY(tsr_check_array("scan", "sums", sums, count, tsr_dtype_size(sum_type)));
    TSR_TRY(tsr_check_workspace("scan", workspace, workspace_bytes, tsr_primitives_of(context)->scan_bytes(count)));
    if (count)
        TSR_TRY(tsr_primitives_of(context)->scan(context->queue, kind == TSR_SCAN_INCLUSIVE, data_type, data, count, sum_type, sums, workspace));
    return TSR_OK;
}

/* ---- select --------------------------------------------------------------------------------------------------------------------- */

static const unsigned SELECTABLE = TSR_ALLOW(TSR_U8) | TSR_ALLOW(TSR_U16) | TSR_ALLOW(TSR_F32);

/* The closed range in the type of the elements: integers within it, floats not beyond it. */
static tsr_status make_keep(const char *what, tsr_predicate predicate, tsr_dtype dtype, tsr_keep *keep)
{
    *keep = (tsr_keep){ .nonzero = predicate.kind == TSR_KEEP_NONZERO };
    if (keep->nonzero) return TSR_OK;
    if (predicate.kind != TSR_KEEP_RANGE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: predicate %d, expected TSR_KEEP_NONZERO or TSR_KEEP_RANGE", what, (int)predicate.kind);
    double lower = predicate.lower, upper = predicate.upper;
    if (isnan(lower) || isnan(upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: range [%g, %g], expected two numbers", what, lower, upper);
    if (dtype == TSR_F32) {
        keep->flower = (float)lower;
        keep->fupper = (float)upper;
        if ((double)keep->flower < lower) keep->flower = nextafterf(keep->flower, INFINITY);
        if ((double)keep->fupper > upper) keep->fupper = nextafterf(keep->fupper, -INFINITY);
        return TSR_OK;
    }
    double most = dtype == TSR_U8 ? 255.0 : 65535.0;
    lower = ceil(fmax(lower, 0.0));
    upper = floor(fmin(upper, most));
    if (lower > upper) { /* nothing is within */
        lower = 1.0;
        upper = 0.0;
    }
    keep->lower = (uint32_t)lower;
    keep->upper = (uint32_t)upper;
    return TSR_OK;
}

tsr_status tsr_select_workspace(tsr_context *context, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "select", count));
    *bytes = tsr_primitives_of(context)->select_bytes(count);
    return TSR_OK;
}

static tsr_status run_select(tsr_context *context, const tsr_select_job *job, void *workspace, size_t workspace_bytes)
{
    TSR_TRY(tsr_check_array("select", "data", job->data, job->count, tsr_dtype_size(job->dtype)));
    if (job->capacity < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "select: capacity is %lld, expected 0 or more", (long long)job->capacity);
    TSR_TRY(tsr_check_array("select", "output", job->out, job->capacity, (size_t)job->out_bytes));
    TSR_TRY(tsr_check_array("select", "found", job->found, 1, sizeof *job->found));
    TSR_TRY(tsr_check_workspace("select", workspace, workspace_bytes, tsr_primitives_of(context)->select_bytes(job->count)));
    TSR_TRY(tsr_primitives_of(context)->select(context->queue, job, workspace));
    return TSR_OK;
}

tsr_status tsr_select_indices(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count, tsr_dtype index_type,
                              void *indices, int64_t capacity, uint64_t *found, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context, found);
    TSR_TRY(tsr_check_count(context, "select", count));
    TSR_TRY(tsr_check_type("select", "dtype", dtype, SELECTABLE, "u8, u16 or f32"));
    TSR_TRY(tsr_check_type("select", "index_type", index_type, TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64), "u32 or u64"));
    if (index_type == TSR_U32 && count > (int64_t)1 << 32)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "select: count is %lld, expected at most 2^32 with u32 indices: use u64", (long long)count);
    tsr_select_job job = {
        .dtype = dtype, .data = data, .count = count, .out_bytes = index_type == TSR_U32 ? 4 : 8, .out = indices, .capacity = capacity, .found = found
    };
    TSR_TRY(make_keep("select", keep, dtype, &job.keep));
    TSR_TRY(run_select(context, &job, workspace, workspace_bytes));
    return TSR_OK;
}

tsr_status tsr_select_values(tsr_context *context, const uint8_t *flags, const void *values, int32_t value_bytes, int64_t count, void *kept,
                             int64_t capacity, uint64_t *found, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context, found);
    TSR_TRY(tsr_check_count(context, "select", count));
    if (value_bytes != 1 && value_bytes != 2 && value_bytes != 4 && value_bytes != 8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "select: value_bytes is %d, expected 1, 2, 4 or 8", value_bytes);
    TSR_TRY(tsr_check_array("select", "values", values, count, (size_t)value_bytes));
    /* no values of an empty array must not mean "indices" */
    tsr_select_job job = { .keep = { .nonzero = 1 },
                           .dtype = TSR_U8,
                           .data = flags,
                           .count = count,
                           .values = values ? values : kept,
                           .out_bytes = value_bytes,
                           .out = kept,
                           .capacity = capacity,
                           .found = found };
    TSR_TRY(run_select(context, &job, workspace, workspace_bytes));
    return TSR_OK;
}

tsr_status tsr_count(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found)
{
    TSR_NEEDS(context, found);
    tsr_keep ready;
    TSR_TRY(tsr_check_count(context, "count", count));
    TSR_TRY(tsr_check_type("count", "dtype", dtype, SELECTABLE, "u8, u16 or f32"));
    TSR_TRY(tsr_check_array("count", "data", data, count, tsr_dtype_size(dtype)));
    TSR_TRY(tsr_check_array("count", "found", found, 1, sizeof *found));
    TSR_TRY(make_keep("count", keep, dtype, &ready));
    TSR_TRY(tsr_primitives_of(context)->count(context->queue, ready, dtype, data, count, found));
    return TSR_OK;
}

tsr_status tsr_count_host(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count, int64_t *found)
{
    TSR_NEEDS(context, found);
    uint64_t *place, value = 0;
    TSR_TRY(tsr_check_count(context, "count", count));
    TSR_TRY(tsr_device_allocate(context, sizeof *place, (void **)&place));
    tsr_status status = tsr_count(context, keep, dtype, data, count, place);
    if (status == TSR_OK) status = tsr_found_host(context, place, -1, &value);
    tsr_device_release(context, place, sizeof *place);
    *found = (int64_t)value;
    return status;
}

tsr_status tsr_found_host(tsr_context *context, const uint64_t *found, int64_t capacity, uint64_t *value)
{
    TSR_NEEDS(context, value);
    *value = 0;
    TSR_TRY(tsr_check_count(context, "found", 0));
    TSR_TRY(tsr_check_array("found", "found", found, 1, sizeof *found));
    TSR_TRY(context->backend->download(context->queue, value, found, sizeof *value));
    if (capacity >= 0 && *value > (uint64_t)capacity)
        TSR_FAIL(TSR_ERROR_CAPACITY, "select: %llu elements found, room for %lld", (unsigned long long)*value, (long long)capacity);
    return TSR_OK;
}

/* ---- sort ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_sort(const tsr_context *context, tsr_dtype key_type, int64_t count)
{
    TSR_TRY(tsr_check_count(context, "sort", count));
    if (count > (int64_t)1 << 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "sort: count is %lld, expected at most 2^32", (long long)count);
    TSR_TRY(tsr_check_type("sort", "key_type", key_type, TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64), "u32 or u64"));
    return TSR_OK;
}

tsr_status tsr_sort_workspace(tsr_context *context, tsr_dtype key_type, int with_payload, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(check_sort(context, key_type, count));
    *bytes = tsr_primitives_of(context)->sort_bytes((int32_t)tsr_dtype_size(key_type), with_payload != 0, count);
    return TSR_OK;
}

tsr_status tsr_sort(tsr_context *context, tsr_dtype key_type, const void *keys, void *sorted_keys, const uint32_t *payload, uint32_t *sorted_payload,
                    int64_t count, int32_t first_bit, int32_t last_bit, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context);
    TSR_TRY(check_sort(context, key_type, count));
    int32_t size = (int32_t)tsr_dtype_size(key_type);
    if (first_bit < 0 || last_bit > 8 * size || first_bit > last_bit)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "sort: bits %d to %d, expected 0 <= first <= last <= %d", first_bit, last_bit, 8 * size);
    if (count && !payload != !sorted_payload) TSR_FAIL(TSR_ERROR_ARGUMENT, "sort: payload and sorted_payload: one is NULL, expected both or none");
    TSR_TRY(tsr_check_array("sort", "keys", keys, count, (size_t)size));
    TSR_TRY(tsr_check_array("sort", "sorted_keys", sorted_keys, count, (size_t)size));
    TSR_TRY(tsr_check_array("sort", "payload", payload, 0, sizeof *payload));
    TSR_TRY(tsr_check_array("sort", "sorted_payload", sorted_payload, 0, sizeof *payload));
    if (count && (keys == sorted_keys || (payload && payload == sorted_payload)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "sort: input and output are the same array, expected two");
    TSR_TRY(tsr_check_workspace("sort", workspace, workspace_bytes, tsr_primitives_of(context)->sort_bytes(size, payload != NULL, count)));
    tsr_sort_job job = { size, keys, sorted_keys, payload, sorted_payload, count, first_bit, last_bit };
    if (count) TSR_TRY(tsr_primitives_of(context)->sort(context->queue, &job, workspace));
    return TSR_OK;
}

/* ---- histogram ------------------------------------------------------------------------------------------------------------------ */

static tsr_status make_bins(double lower, double upper, int32_t count, tsr_bins *bins)
{
    const double scale = (double)count / (upper - lower);
    if (!(lower < upper) || !isfinite(upper - lower) || !isfinite(scale))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: range [%g, %g), expected finite and lower below upper", lower, upper);
    *bins = (tsr_bins){ lower, upper, scale, count };
    return TSR_OK;
}

tsr_status tsr_histogram(tsr_context *context, tsr_dtype dtype, const void *data, int64_t count, double lower, double upper, int32_t bins,
                         tsr_dtype count_type, void *counts)
{
    TSR_NEEDS(context);
    TSR_TRY(tsr_check_count(context, "histogram", count));
    TSR_TRY(tsr_check_type("histogram", "dtype", dtype, SELECTABLE, "u8, u16 or f32"));
    TSR_TRY(tsr_check_type("histogram", "count_type", count_type, TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64), "u32 or u64"));
    if (bins < 1 || bins > 65536) TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: %d bins, expected 1 to 65536", bins);
    tsr_histogram_job job = { dtype, data, count, { 0, 0, 0, 0 }, count_type == TSR_U64, counts };
    TSR_TRY(make_bins(lower, upper, bins, &job.bins));
    TSR_TRY(tsr_check_array("histogram", "data", data, count, tsr_dtype_size(dtype)));
    TSR_TRY(tsr_check_array("histogram", "counts", counts, bins, tsr_dtype_size(count_type)));
    TSR_TRY(tsr_primitives_of(context)->histogram(context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_histogram_joint(tsr_context *context, const tsr_histogram_axis *axes, int32_t axis_count, int64_t count, const float *weights,
                               int32_t fraction_bits, int64_t *sums)
{
    TSR_NEEDS(context);
    enum { MOST_CELLS = 1 << 24 };
    int64_t cells = 1;
    TSR_TRY(tsr_check_count(context, "histogram", count));
    if (!axes || axis_count < 1 || axis_count > TSR_JOINT_AXES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: %d axes%s, expected 1 to %d", axis_count, axes ? "" : " (NULL)", TSR_JOINT_AXES);
    if (fraction_bits < 0 || fraction_bits > 62) TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: fraction_bits is %d, expected 0 to 62", fraction_bits);
    tsr_joint_job job = {
        .axes = axis_count, .weights = weights, .units = (double)((uint64_t)1 << fraction_bits), .count = count, .sums = (uint64_t *)sums
    };
    for (int32_t k = 0; k < axis_count; k++) {
        const tsr_histogram_axis *a = &axes[k];
        TSR_TRY(tsr_check_type("histogram", "dtype", a->dtype, SELECTABLE, "u8, u16 or f32"));
        if (a->bins < 1 || a->bins > MOST_CELLS || (cells *= a->bins) > MOST_CELLS)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: %d bins on axis %d, expected 1 or more, at most 2^24 on all axes together", a->bins, k);
        TSR_TRY(make_bins(a->lower, a->upper, a->bins, &job.bins[k]));
        TSR_TRY(tsr_check_array("histogram", "data", a->data, count, tsr_dtype_size(a->dtype)));
        job.dtype[k] = a->dtype;
        job.data[k] = a->data;
    }
    job.cells = (int32_t)cells;
    if (weights) TSR_TRY(tsr_check_array("histogram", "weights", weights, count, sizeof *weights));
    TSR_TRY(tsr_check_array("histogram", "sums", sums, cells, sizeof *sums));
    TSR_TRY(tsr_primitives_of(context)->joint(context->queue, &job));
    return TSR_OK;
}
