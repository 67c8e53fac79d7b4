/* primitives/primitives_cuda.h: what the kernels of this room share: wide loads, warp scans and the look-back between tiles.
 *
 * Look-back: tiles take their number from a ticket, so that all tiles before a running one run or are done. A tile publishes its own
 * total at once and its prefix later; one warp reads the status of 32 predecessors at a time and stops at the nearest prefix.
 * A status word holds 32 bits of value below its flag in one 64-bit store, so that no fence is needed; 64-bit values take two words, which
 * belong together when their flags agree. */
#ifndef TSR_PRIMITIVES_PRIMITIVES_CUDA_H
#define TSR_PRIMITIVES_PRIMITIVES_CUDA_H

#include "device/kernel.h"
#include "primitives/primitives_ops.h"

size_t tsr_cuda_scan_own_bytes(int64_t count);
tsr_status tsr_cuda_scan_own(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                             void *workspace);
size_t tsr_cuda_scan_bytes(int64_t count);
tsr_status tsr_cuda_scan(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                         void *workspace);
size_t tsr_cuda_select_bytes(int64_t count);
tsr_status tsr_cuda_select(tsr_queue *queue, const tsr_select_job *job, void *workspace);
tsr_status tsr_cuda_count(tsr_queue *queue, tsr_keep keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found);
size_t tsr_cuda_sort_own_bytes(int32_t key_bytes, int payload, int64_t count);
tsr_status tsr_cuda_sort_own(tsr_queue *queue, const tsr_sort_job *job, void *workspace);
size_t tsr_cuda_sort_bytes(int32_t key_bytes, int payload, int64_t count);
tsr_status tsr_cuda_sort(tsr_queue *queue, const tsr_sort_job *job, void *workspace);
tsr_status tsr_cuda_histogram(tsr_queue *queue, const tsr_histogram_job *job);
tsr_status tsr_cuda_joint(tsr_queue *queue, const tsr_joint_job *job);
size_t tsr_cuda_segment_reduce_bytes(int64_t count);
tsr_status tsr_cuda_segment_reduce(tsr_queue *queue, const tsr_segment_reduce_job *job, void *workspace);
size_t tsr_cuda_segment_scan_bytes(int64_t count);
tsr_status tsr_cuda_segment_scan(tsr_queue *queue, const tsr_segment_scan_job *job, void *workspace);
tsr_status tsr_cuda_segment_rest(tsr_queue *queue, void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count);
tsr_status tsr_cuda_gather(tsr_queue *queue, const tsr_gather_job *job);
tsr_status tsr_cuda_scatter(tsr_queue *queue, const tsr_scatter_job *job);
tsr_status tsr_cuda_combine(tsr_queue *queue, const tsr_scatter_job *job);
tsr_status tsr_cuda_ramp(tsr_queue *queue, uint32_t *numbers, int64_t count);
tsr_status tsr_cuda_starts(tsr_queue *queue, const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts);
tsr_status tsr_cuda_combine_places(tsr_queue *queue, tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced,
                                   int64_t out_count, void *out);

/* N elements that move together, in 16-byte accesses where they are that long. */
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) tsr_pack {
    T v[N];
};
template <class T, int N> TSR_DEVICE_FN bool tsr_pack_aligned(const void *p) { return (uintptr_t)p % alignof(tsr_pack<T, N>) == 0; }

TSR_KERNEL(tsr_clear_words)(uint64_t *words, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) words[i] = 0;
}
static inline void tsr_launch_clear(tsr_queue *queue, void *words, int64_t count)
{
    TSR_LAUNCH(queue, tsr_clear_words, tsr_blocks(count, 256, 8 * tsr_queue_processors(queue)), 256, 0, (uint64_t *)words, count);
}

/* Sum of the warp's values up to and with the own lane. */
template <class S> TSR_DEVICE_FN S tsr_warp_inclusive(S v, uint32_t lane)
{
    for (uint32_t step = 1; step < 32; step *= 2) {
        S other = __shfl_up_sync(TSR_WARP_ALL, v, step);
        if (lane >= step) v += other;
    }
    return v;
}
template <class S> TSR_DEVICE_FN S tsr_warp_sum(S v)
{
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(TSR_WARP_ALL, v, step);
    return v;
}

enum { TSR_STATUS_NONE = 0, TSR_STATUS_TOTAL = 1, TSR_STATUS_PREFIX = 2, TSR_STATUS_HEADER = 32 /* words; the first is the ticket */ };

TSR_DEVICE_FN void tsr_status_put(uint64_t *words, int64_t tile, uint32_t value, uint32_t flag)
{
    *(volatile uint64_t *)(words + tile) = (uint64_t)flag << 32 | value;
}
TSR_DEVICE_FN void tsr_status_put(uint64_t *words, int64_t tile, uint64_t value, uint32_t flag)
{
    *(volatile uint64_t *)(words + 2 * tile) = (uint64_t)flag << 32 | (uint32_t)value;
    *(volatile uint64_t *)(words + 2 * tile + 1) = (uint64_t)flag << 32 | value >> 32;
}
TSR_DEVICE_FN uint32_t tsr_status_get(uint64_t *words, int64_t tile, uint32_t *value)
{
    uint64_t word = *(volatile uint64_t *)(words + tile);
    *value = (uint32_t)word;
    return (uint32_t)(word >> 32);
}
TSR_DEVICE_FN uint32_t tsr_status_get(uint64_t *words, int64_t tile, uint64_t *value)
{
    uint64_t low = *(volatile uint64_t *)(words + 2 * tile), high = *(volatile uint64_t *)(words + 2 * tile + 1);
    *value = (low & 0xffffffffu) | high << 32;
    return low >> 32 == high >> 32 ? (uint32_t)(low >> 32) : (uint32_t)TSR_STATUS_NONE;
}

/* The number of this block's tile: by thread 0 into shared memory, then everybody reads it after the barrier. */
TSR_DEVICE_FN int64_t tsr_take_ticket(uint64_t *workspace, uint32_t *shared)
{
    if (threadIdx.x == 0) *shared = atomicAdd((uint32_t *)workspace, 1u);
    __syncthreads();
    return *shared;
}

/* Called by one whole warp: sum of the totals of all tiles before this one, the same in every lane; publishes both own values. `closed`: nothing before counts
 * for the tiles behind, `total` is their prefix (a segment begins in this tile). */
template <class S> TSR_DEVICE_FN S tsr_look_back(uint64_t *words, int64_t tile, S total, uint32_t lane, bool closed = false)
{
    S before = 0;
    if (lane == 0) tsr_status_put(words, tile, total, (uint32_t)(tile && !closed ? TSR_STATUS_TOTAL : TSR_STATUS_PREFIX));
    for (int64_t end = tile; end > 0; end -= 32) {
        const int64_t at = end - 1 - (int64_t)lane;
        uint32_t flag;
        S value = 0;
        do flag = at < 0 ? (uint32_t)TSR_STATUS_PREFIX : tsr_status_get(words, at, &value);
        while (__any_sync(TSR_WARP_ALL, flag == TSR_STATUS_NONE));
        const uint32_t done = __ballot_sync(TSR_WARP_ALL, flag == TSR_STATUS_PREFIX);
        const uint32_t last = done ? (uint32_t)__ffs((int)done) - 1u : 31u;
        before += tsr_warp_sum<S>(lane <= last && at >= 0 ? value : (S)0);
        if (done) break;
    }
    if (lane == 0 && tile && !closed) tsr_status_put(words, tile, (S)(before + total), (uint32_t)TSR_STATUS_PREFIX);
    return before;
}

/* One warp: exclusive prefix, in place, of `count` (multiple of 32) values in shared memory; returns the total in every lane. */
template <class S> TSR_DEVICE_FN S tsr_warp_prefix(S *values, int count, uint32_t lane)
{
    S sum = 0;
    for (int k = 0; k < count; k += 32) {
        const S own = values[k + lane], up_to = tsr_warp_inclusive<S>(own, lane);
        values[k + lane] = sum + up_to - own;
        sum += __shfl_sync(TSR_WARP_ALL, up_to, 31);
    }
    return sum;
}

#endif
