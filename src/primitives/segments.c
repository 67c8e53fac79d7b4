/* primitives/segments.c: host logic of segmented reductions and scans (tessera/primitives.h, segments). */
#include "primitives/arguments.h"

static const unsigned INDICES = TSR_ALLOW(TSR_U32) | TSR_ALLOW(TSR_U64);

tsr_status tsr_segments_workspace(tsr_context *context, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_select_workspace(context, count, bytes));
    return TSR_OK;
}

tsr_status tsr_segments_from_flags(tsr_context *context, const uint8_t *flags, int64_t count, tsr_dtype offset_type, void *offsets, int64_t capacity,
                                   uint64_t *found, void *workspace, size_t workspace_bytes)
{
    TSR_NEEDS(context, found);
    const tsr_predicate heads = { TSR_KEEP_NONZERO, 0, 0 };
    TSR_TRY(tsr_check_count(context, "segments", count));
    TSR_TRY(tsr_check_count(context, "segments", capacity));
    TSR_TRY(tsr_check_type("segments", "offset_type", offset_type, INDICES, "u32 or u64"));
    if (offset_type == TSR_U32 && count > UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segments: count is %lld, expected below 2^32 with u32 offsets: use u64", (long long)count);
    TSR_TRY(tsr_check_array("segments", "offsets", offsets, capacity + 1, tsr_dtype_size(offset_type)));
    TSR_TRY(tsr_select_indices(context, heads, TSR_U8, flags, count, offset_type, offsets, capacity + 1, found, workspace, workspace_bytes));
    TSR_TRY(tsr_primitives_of(context)->segment_rest(context->queue, offsets, offset_type == TSR_U64, capacity, found, count));
    return TSR_OK;
}

tsr_status tsr_segmented_reduce_workspace(tsr_context *context, int64_t count, int64_t segments, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "segmented_reduce", count));
    TSR_TRY(tsr_check_count(context, "segmented_reduce", segments));
    *bytes = tsr_primitives_of(context)->segment_reduce_bytes(count);
    return TSR_OK;
}

tsr_status tsr_segmented_reduce(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count,
                                tsr_dtype offset_type, const void *offsets, int64_t segments, tsr_reduced *results, void *workspace,
                                size_t workspace_bytes)
{
    TSR_NEEDS(context);
    const char *what = "segmented_reduce";
    TSR_TRY(tsr_check_count(context, what, count));
    TSR_TRY(tsr_check_count(context, what, segments));
    if ((unsigned)reduction > TSR_REDUCE_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: reduction is %d, expected TSR_REDUCE_SUM, _MIN or _MAX", what, (int)reduction);
    TSR_TRY(tsr_check_type(what, "dtype", dtype, (1u << TSR_DTYPE_COUNT) - 1u, "an element type"));
    TSR_TRY(tsr_check_type(what, "offset_type", offset_type, INDICES, "u32 or u64"));
    TSR_TRY(tsr_check_array(what, "data", data, count, tsr_dtype_size(dtype)));
    TSR_TRY(tsr_check_array(what, "offsets", offsets, segments + 1, tsr_dtype_size(offset_type)));
    TSR_TRY(tsr_check_array(what, "results", results, segments, sizeof *results));
    TSR_TRY(tsr_check_workspace(what, workspace, workspace_bytes, tsr_primitives_of(context)->segment_reduce_bytes(count)));
    const tsr_segment_reduce_job job = { reduction, dtype, data, count, offset_type == TSR_U64, offsets, segments, results };
    if (segments) TSR_TRY(tsr_primitives_of(context)->segment_reduce(context->queue, &job, workspace));
    return TSR_OK;
}

tsr_status tsr_segmented_scan_workspace(tsr_context *context, int64_t count, size_t *bytes)
{
    TSR_NEEDS(context, bytes);
    TSR_TRY(tsr_check_count(context, "segmented_scan", count));
    *bytes = tsr_primitives_of(context)->segment_scan_bytes(count);
    return TSR_OK;
}

tsr_status tsr_segmented_scan(tsr_context *context, tsr_scan_kind kind, tsr_dtype data_type, const void *data, int64_t count, const uint8_t *flags,
                              tsr_dtype offset_type, const void *offsets, int64_t segments, tsr_dtype sum_type, void *sums, void *workspace,
                              size_t workspace_bytes)
{
    TSR_NEEDS(context);
    const char *what = "segmented_scan";
    TSR_TRY(tsr_check_count(context, what, count));
    if ((unsigned)kind > TSR_SCAN_INCLUSIVE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: kind is %d, expected TSR_SCAN_EXCLUSIVE or TSR_SCAN_INCLUSIVE", what, (int)kind);
    TSR_TRY(tsr_check_type(what, "data_type", data_type, TSR_ALLOW(TSR_U8) | INDICES, "u8, u32 or u64"));
    TSR_TRY(tsr_check_type(what, "sum_type", sum_type, (data_type == TSR_U64 ? 0u : TSR_ALLOW(TSR_U32)) | TSR_ALLOW(TSR_U64),
                           data_type == TSR_U64 ? "u64 for u64 data" : "u32 or u64"));
    if (!flags == !offsets)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: flags and offsets are %s, expected one of them", what, flags ? "both given" : "both NULL");
    if (offsets) {
        TSR_TRY(tsr_check_count(context, what, segments));
        TSR_TRY(tsr_check_type(what, "offset_type", offset_type, INDICES, "u32 or u64"));
        TSR_TRY(tsr_check_array(what, "offsets", offsets, segments + 1, tsr_dtype_size(offset_type)));
    }
    TSR_TRY(tsr_check_array(what, "data", data, count, tsr_dtype_size(data_type)));
    TSR_TRY(tsr_check_array(what, "sums", sums, count, tsr_dtype_size(sum_type)));
    TSR_TRY(tsr_check_workspace(what, workspace, workspace_bytes, tsr_primitives_of(context)->segment_scan_bytes(count)));
    const tsr_segment_scan_job job = { kind == TSR_SCAN_INCLUSIVE, data_type, data,     count,    flags,
                                       offset_type == TSR_U64,     offsets,   segments, sum_type, sums };
    if (count) TSR_TRY(tsr_primitives_of(context)->segment_scan(context->queue, &job, workspace));
    return TSR_OK;
}
