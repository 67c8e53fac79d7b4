/* primitives/scatter.c: host logic of gather, scatter and the inverse of indices (tessera/scatter.h). */
#include "primitives/arguments.h"

static const unsigned INDICES = TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64);

static tsr_status check_width(const char *what, int32_t value_bytes)
{
    if (value_bytes != 1 && value_bytes != 2 && value_bytes != 4 && value_bytes != 8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: value_bytes is %d, expected 1, 2, 4 or 8", what, value_bytes);
    return TSR_OK;
}

/* Sources are numbered in 32 bits. */
static tsr_status check_sources(const tsr_context *context, const char *what, tsr_dtype index_type, const void *indices, int64_t count,
                                int64_t out_count)
{
    TSR_TRY(tsr_check_count(context, what, count));
    TSR_TRY(tsr_check_count(context, what, out_count));
    if (count >= (int64_t)1 << 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: count is %lld, expected below 2^32", what, (long long)count);
    TSR_TRY(tsr_check_type(what, "index_type", index_type, INDICES, "u32 or u64"));
    TSR_TRY(tsr_check_array(what, "indices", indices, count, tsr_dtype_size(index_type)));
    return TSR_OK;
}

tsr_status tsr_gather(tsr_context *context, const void *values, int32_t value_bytes, int64_t values_count, tsr_dtype index_type, const void *indices,
                      int64_t count, const void *outside, void *out)
{
    TSR_NEEDS(context);
    const char *what = "gather";
    TSR_TRY(tsr_check_count(context, what, count));
    TSR_TRY(tsr_check_count(context, what, values_count));
    TSR_TRY(check_width(what, value_bytes));
    TSR_TRY(tsr_check_type(what, "index_type", index_type, INDICES, "u32 or u64"));
    TSR_TRY(tsr_check_array(what, "values", values, values_count, (size_t)value_bytes));
    TSR_TRY(tsr_check_array(what, "indices", indices, count, tsr_dtype_size(index_type)));
    TSR_TRY(tsr_check_array(what, "out", out, count, (size_t)value_bytes));
    tsr_gather_job job = { values, value_bytes, values_count, index_type == TSR_U64, indices, count, 0, out };
    if (outside) memcpy(&job.outside, outside, (size_t)value_bytes);
    if (count) TSR_TRY(tsr_primitives_of(context)->gather(context->queue, &job));
    return TSR_OK;
}

static size_t owner_bytes(int64_t out_count) { return (size_t)out_count * sizeof(uint32_t); }

tsr_status tsr_scatter_workspace(tsr_context *context, int64_t out_count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "scatter", out_count));
    *bytes = owner_bytes(out_count);
    return TSR_OK;
}

tsr_status tsr_scatter(tsr_context *context, tsr_scatter_rule rule, const void *values, int32_t value_bytes, tsr_dtype index_type,
                       const void *indices, int64_t count, void *out, int64_t out_count, tsr_scatter_report *report, void *workspace,
                       size_t workspace_bytes)
{
    TSR_NEEDS(context);
    const char *what = "scatter";
    const int unchecked = rule == TSR_SCATTER_EXCLUSIVE && !report;
    TSR_TRY(check_sources(context, what, index_type, indices, count, out_count));
    if ((unsigned)rule > TSR_SCATTER_LAST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: rule is %d, expected TSR_SCATTER_EXCLUSIVE to _LAST (sums, minima and maxima: tsr_scatter_combine)", what,
                 (int)rule);
    TSR_TRY(check_width(what, value_bytes));
    TSR_TRY(tsr_check_array(what, "values", values, count, (size_t)value_bytes));
    TSR_TRY(tsr_check_array(what, "out", out, out_count, (size_t)value_bytes));
    TSR_TRY(tsr_check_array(what, "report", report, 0, sizeof(uint64_t)));
    if (!unchecked) TSR_TRY(tsr_check_workspace(what, workspace, workspace_bytes, owner_bytes(out_count)));
    const tsr_scatter_job job = { .rule = rule,
                                  .values = values,
                                  .value_bytes = value_bytes,
                                  .wide = index_type == TSR_U64,
                                  .indices = indices,
                                  .count = count,
                                  .out = out,
                                  .out_count = out_count,
                                  .report = report,
                                  .owner = unchecked ? NULL : (uint32_t *)workspace };
    TSR_TRY(tsr_primitives_of(context)->scatter(context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_scatter_check(tsr_context *context, const tsr_scatter_report *report, tsr_scatter_report *host)
{
    TSR_NEEDS(context);
    tsr_scatter_report own;
    TSR_TRY(tsr_check_count(context, "scatter", 0));
    TSR_TRY(tsr_check_array("scatter", "report", report, 1, sizeof(uint64_t)));
    TSR_TRY(context->backend->download(context->queue, &own, report, sizeof own));
    if (host) *host = own;
    if (own.conflicts)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "scatter: sources %llu and %llu go to the same place (%llu conflicts in all), expected indices that differ or values that agree",
                 (unsigned long long)own.second, (unsigned long long)own.first, (unsigned long long)own.conflicts);
    return TSR_OK;
}

/* ---- inverse: a stable sort by index -------------------------------------------------------------------------------------------------- */

static size_t round256(size_t bytes) { return (bytes + 255) / 256 * 256; }

tsr_status tsr_invert_workspace(tsr_context *context, tsr_dtype index_type, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    size_t sort;
    TSR_TRY(check_sources(context, "invert", index_type, NULL, 0, 0));
    TSR_TRY(tsr_sort_workspace(context, index_type, 1, count, &sort));
    *bytes = round256((size_t)count * tsr_dtype_size(index_type)) + round256((size_t)count * sizeof(uint32_t)) + sort;
    return TSR_OK;
}

tsr_status tsr_invert(tsr_context *context, tsr_dtype index_type, const void *indices, int64_t count, int64_t out_count, uint64_t *starts,
                      uint32_t *sources, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context, starts, sources);
    const char *what = "invert";
    const tsr_primitives_ops *ops;
    size_t needed, keys_bytes, numbers_bytes;
    char *keys = (char *)workspace;
    TSR_TRY(check_sources(context, what, index_type, indices, count, out_count));
    TSR_TRY(tsr_check_array(what, "starts", starts, out_count + 1, sizeof *starts));
    TSR_TRY(tsr_check_array(what, "sources", sources, count, sizeof *sources));
    TSR_TRY(tsr_invert_workspace(context, index_type, count, &needed));
    TSR_TRY(tsr_check_workspace(what, workspace, workspace_bytes, needed));
    ops = tsr_primitives_of(context);
    keys_bytes = round256((size_t)count * tsr_dtype_size(index_type));
    numbers_bytes = round256((size_t)count * sizeof(uint32_t));
    if (count) {
        uint32_t *numbers = (uint32_t *)(void *)(keys + keys_bytes);
        TSR_TRY(ops->ramp(context->queue, numbers, count));
        TSR_TRY(tsr_sort(context, index_type, indices, keys, numbers, sources, count, 0, (int32_t)(8 * tsr_dtype_size(index_type)),
                         keys + keys_bytes + numbers_bytes, needed - keys_bytes - numbers_bytes));
    }
    TSR_TRY(ops->starts(context->queue, keys, index_type == TSR_U64, count, out_count, starts));
    return TSR_OK;
}

/* ---- combinations ----------------------------------------------------------------------------------------------------------------------- */

/* Where the parts of a float combination lie in its workspace. */
typedef struct parts {
    size_t starts, sources, gathered, reduced, work, work_bytes, all;
} parts;

static tsr_status place_parts(tsr_context *context, tsr_dtype dtype, tsr_dtype index_type, int64_t count, int64_t out_count, parts *p)
{
    size_t invert, reduce;
    TSR_TRY(tsr_invert_workspace(context, index_type, count, &invert));
    TSR_TRY(tsr_segmented_reduce_workspace(context, count, out_count, &reduce));
    p->starts = 0;
    p->sources = round256(((size_t)out_count + 1) * sizeof(uint64_t));
    p->gathered = p->sources + round256((size_t)count * sizeof(uint32_t));
    p->reduced = p->gathered + round256((size_t)count * tsr_dtype_size(dtype));
    p->work = p->reduced + round256((size_t)out_count * sizeof(tsr_reduced));
    p->work_bytes = invert > reduce ? invert : reduce;
    p->all = p->work + p->work_bytes;
    return TSR_OK;
}

static tsr_status check_combine(tsr_context *context, tsr_dtype dtype, tsr_dtype index_type, int64_t count, int64_t out_count)
{
    const unsigned types = INDICES | TSR_ALLOW(TSR_I32) | TSR_ALLOW(TSR_I64) | TSR_ALLOW(TSR_F32) | TSR_ALLOW(TSR_F64);
    TSR_TRY(check_sources(context, "scatter_combine", index_type, NULL, 0, out_count));
    TSR_TRY(tsr_check_count(context, "scatter_combine", count));
    TSR_TRY(tsr_check_type("scatter_combine", "dtype", dtype, types, "u32, i32, u64, i64, f32 or f64"));
    return TSR_OK;
}

tsr_status tsr_scatter_combine_workspace(tsr_context *context, tsr_dtype dtype, tsr_dtype index_type, int64_t count, int64_t out_count, size_t *bytes)
{
    TSR_NEEDS(bytes);
    parts p = { 0 };
    TSR_TRY(check_combine(context, dtype, index_type, count, out_count));
    if (dtype == TSR_F32 || dtype == TSR_F64) TSR_TRY(place_parts(context, dtype, index_type, count, out_count, &p));
    *bytes = p.all;
    return TSR_OK;
}

static tsr_status combine_floats(tsr_context *context, const tsr_scatter_job *job, tsr_dtype index_type, char *memory, const parts *p)
{
    static const tsr_reduction reductions[3] = { TSR_REDUCE_SUM, TSR_REDUCE_MIN, TSR_REDUCE_MAX };
    uint64_t *starts = (uint64_t *)(void *)(memory + p->starts);
    uint32_t *sources = (uint32_t *)(void *)(memory + p->sources);
    void *gathered = memory + p->gathered, *work = memory + p->work;
    tsr_reduced *reduced = (tsr_reduced *)(void *)(memory + p->reduced);
    TSR_TRY(tsr_invert(context, index_type, job->indices, job->count, job->out_count, starts, sources, work, p->work_bytes));
    TSR_TRY(tsr_gather(context, job->values, (int32_t)tsr_dtype_size(job->dtype), job->count, TSR_U32, sources, job->count, NULL, gathered));
    TSR_TRY(tsr_segmented_reduce(context, reductions[job->rule - TSR_SCATTER_SUM], job->dtype, gathered, job->count, TSR_U64, starts, job->out_count,
                                 reduced, work, p->work_bytes));
    TSR_TRY(tsr_primitives_of(context)->combine_places(context->queue, job->rule, job->dtype, starts, reduced, job->out_count, job->out));
    return TSR_OK;
}

tsr_status tsr_scatter_combine(tsr_context *context, tsr_scatter_rule rule, tsr_dtype dtype, const void *values, tsr_dtype index_type,
                               const void *indices, int64_t count, void *out, int64_t out_count, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context);
    const char *what = "scatter_combine";
    parts p = { 0 };
    TSR_TRY(check_combine(context, dtype, index_type, count, out_count));
    TSR_TRY(check_sources(context, what, index_type, indices, count, out_count));
    if (rule != TSR_SCATTER_SUM && rule != TSR_SCATTER_MIN && rule != TSR_SCATTER_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: rule is %d, expected TSR_SCATTER_SUM, _MIN or _MAX (the others: tsr_scatter)", what, (int)rule);
    TSR_TRY(tsr_check_array(what, "values", values, count, tsr_dtype_size(dtype)));
    TSR_TRY(tsr_check_array(what, "out", out, out_count, tsr_dtype_size(dtype)));
    const tsr_scatter_job job = { .rule = rule,
                                  .values = values,
                                  .dtype = dtype,
                                  .wide = index_type == TSR_U64,
                                  .indices = indices,
                                  .count = count,
                                  .out = out,
                                  .out_count = out_count };
    if (dtype == TSR_F32 || dtype == TSR_F64) {
        TSR_TRY(place_parts(context, dtype, index_type, count, out_count, &p));
        TSR_TRY(tsr_check_workspace(what, workspace, workspace_bytes, p.all));
        if (count && out_count) TSR_TRY(combine_floats(context, &job, index_type, (char *)workspace, &p));
    } else if (count && out_count) {
        TSR_TRY(tsr_primitives_of(context)->combine(context->queue, &job));
    }
    return TSR_OK;
}
