/* primitives/scatter_cuda.cu: gather, scatter and what its float combinations are made of. Loops over elements: bound by memory's random accesses. */
#include "primitives/primitives_cuda.h"

enum { THREADS = 256 };

static uint32_t blocks_for(tsr_queue *queue, int64_t n) { return tsr_blocks(n, THREADS, 32 * (int64_t)tsr_queue_processors(queue)); }

#define FOR_ALL(i, n) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step_ = (int64_t)gridDim.x * blockDim.x; i < (n); i += step_)

template <class V, class I> TSR_KERNEL(gather_all)(const V *values, uint64_t values_count, const I *indices, int64_t count, V outside, V *out)
{
    FOR_ALL(i, count)
    {
        const uint64_t at = indices[i];
        out[i] = at < values_count ? values[at] : outside;
    }
}
template <class V> static void launch_gather(tsr_queue *queue, const tsr_gather_job *j)
{
    const uint32_t blocks = blocks_for(queue, j->count);
    void (*narrow)(const V *, uint64_t, const uint32_t *, int64_t, V, V *) = gather_all<V, uint32_t>;
    void (*wide)(const V *, uint64_t, const uint64_t *, int64_t, V, V *) = gather_all<V, uint64_t>;
    if (j->wide)
        TSR_LAUNCH(queue, wide, blocks, THREADS, 0, (const V *)j->values, (uint64_t)j->values_count, (const uint64_t *)j->indices, j->count,
                   (V)j->outside, (V *)j->out);
    else
        TSR_LAUNCH(queue, narrow, blocks, THREADS, 0, (const V *)j->values, (uint64_t)j->values_count, (const uint32_t *)j->indices, j->count,
                   (V)j->outside, (V *)j->out);
}
tsr_status tsr_cuda_gather(tsr_queue *queue, const tsr_gather_job *j)
{
    if (j->value_bytes == 1) launch_gather<uint8_t>(queue, j);
    else if (j->value_bytes == 2) launch_gather<uint16_t>(queue, j);
    else if (j->value_bytes == 4) launch_gather<uint32_t>(queue, j);
    else launch_gather<uint64_t>(queue, j);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- scatter: claims, then writes ------------------------------------------------------------------------------------------------- */

TSR_KERNEL(clear_claims)(uint32_t *owner, int64_t out_count, tsr_scatter_report *report)
{
    FOR_ALL(i, out_count) if (owner) owner[i] = UINT32_MAX;
    if (report && blockIdx.x == 0 && threadIdx.x == 0) {
        report->outside = report->conflicts = 0;
        report->first = report->second = UINT64_MAX;
    }
}
TSR_KERNEL(claim)(tsr_scatter_job j)
{
    FOR_ALL(i, j.count)
    {
        const uint64_t at = tsr_index_load(j.indices, j.wide, i);
        if (at < (uint64_t)j.out_count) atomicMin(&j.owner[at], tsr_scatter_claim(j.rule, i));
    }
}
TSR_KERNEL(write_claimed)(tsr_scatter_job j)
{
    uint64_t outside = 0, conflicts = 0;
    FOR_ALL(i, j.count)
    {
        const uint64_t at = tsr_index_load(j.indices, j.wide, i);
        if (at >= (uint64_t)j.out_count) outside++;
        else if (!j.owner) tsr_bits_store(j.out, j.value_bytes, (int64_t)at, tsr_bits_load(j.values, j.value_bytes, i));
        else if (tsr_scatter_one(&j, i, at)) {
            conflicts++;
            if (j.report) atomicMin((unsigned long long *)&j.report->first, (unsigned long long)i);
        }
    }
    if (j.report && outside) atomicAdd((unsigned long long *)&j.report->outside, (unsigned long long)outside);
    if (j.report && conflicts) atomicAdd((unsigned long long *)&j.report->conflicts, (unsigned long long)conflicts);
}
TSR_KERNEL(name_second)(tsr_scatter_job j)
{
    if (j.report->first != UINT64_MAX) j.report->second = j.owner[tsr_index_load(j.indices, j.wide, (int64_t)j.report->first)];
}

tsr_status tsr_cuda_scatter(tsr_queue *queue, const tsr_scatter_job *j)
{
    if (j->owner || j->report) TSR_LAUNCH(queue, clear_claims, blocks_for(queue, j->out_count), THREADS, 0, j->owner, j->out_count, j->report);
    if (j->owner) TSR_LAUNCH(queue, claim, blocks_for(queue, j->count), THREADS, 0, *j);
    TSR_LAUNCH(queue, write_claimed, blocks_for(queue, j->count), THREADS, 0, *j);
    if (j->owner && j->report) TSR_LAUNCH(queue, name_second, 1, 1, 0, *j);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* T: what values are compared as; W: what they are added as. */
template <class T, class W> TSR_KERNEL(combine_all)(tsr_scatter_job j)
{
    FOR_ALL(i, j.count)
    {
        const uint64_t at = tsr_index_load(j.indices, j.wide, i);
        const T v = ((const T *)j.values)[i];
        if (at >= (uint64_t)j.out_count) continue;
        if (j.rule == TSR_SCATTER_SUM) atomicAdd((W *)j.out + at, (W)v);
        else if (j.rule == TSR_SCATTER_MIN) atomicMin((T *)j.out + at, v);
        else atomicMax((T *)j.out + at, v);
    }
}
template <class T, class W> static void launch_combine(tsr_queue *queue, const tsr_scatter_job *j)
{
    void (*kernel)(tsr_scatter_job) = combine_all<T, W>;
    TSR_LAUNCH(queue, kernel, blocks_for(queue, j->count), THREADS, 0, *j);
}
tsr_status tsr_cuda_combine(tsr_queue *queue, const tsr_scatter_job *j)
{
    if (j->dtype == TSR_U32) launch_combine<unsigned, unsigned>(queue, j);
    else if (j->dtype == TSR_I32) launch_combine<int, unsigned>(queue, j);
    else if (j->dtype == TSR_U64) launch_combine<unsigned long long, unsigned long long>(queue, j);
    else launch_combine<long long, unsigned long long>(queue, j);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- inverse and float combinations -------------------------------------------------------------------------------------------------- */

TSR_KERNEL(ramp)(uint32_t *numbers, int64_t count) { FOR_ALL(i, count) numbers[i] = (uint32_t)i; }
tsr_status tsr_cuda_ramp(tsr_queue *queue, uint32_t *numbers, int64_t count)
{
    TSR_LAUNCH(queue, ramp, blocks_for(queue, count), THREADS, 0, numbers, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(find_starts)(const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts)
{
    FOR_ALL(j, out_count + 1) starts[j] = tsr_lower_bound(keys, wide, count, (uint64_t)j);
}
tsr_status tsr_cuda_starts(tsr_queue *queue, const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts)
{
    TSR_LAUNCH(queue, find_starts, blocks_for(queue, out_count + 1), THREADS, 0, keys, wide, count, out_count, starts);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(combine_floats)(tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced, int64_t out_count, void *out)
{
    FOR_ALL(j, out_count) tsr_combine_place(rule, dtype, starts, reduced, j, out);
}
tsr_status tsr_cuda_combine_places(tsr_queue *queue, tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced,
                                   int64_t out_count, void *out)
{
    TSR_LAUNCH(queue, combine_floats, blocks_for(queue, out_count), THREADS, 0, rule, dtype, starts, reduced, out_count, out);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
