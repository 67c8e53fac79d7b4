/* primitives/select_cuda.cu: select in one pass. A tile is 8 rows of 256 threads x 16 elements (32 KiB of bytes), loaded 16 bytes per access
 * into 16-bit masks. Their counts, two rows to a word, are scanned by the warps; one warp scans the 64 warp totals and looks back.
 * Rows with few kept elements are written straight from the masks; others are first put in order in shared memory, so that
 * neighbouring threads write neighbouring places. */
#include "primitives/primitives_cuda.h"

enum { SELECT_THREADS = 256, SELECT_WARPS = 8, SELECT_ROWS = 8, SELECT_ITEMS = 16, SELECT_ROW = SELECT_THREADS * SELECT_ITEMS };
enum { SELECT_TILE = SELECT_ROW * SELECT_ROWS, SELECT_DENSE = SELECT_ROW / 8 };

TSR_DEVICE_FN uint32_t kept_mask(tsr_keep keep, const uint8_t *p)
{
    const tsr_pack<uint32_t, 4> w = *(const tsr_pack<uint32_t, 4> *)(const void *)p;
    uint32_t mask = 0;
    if (keep.nonzero) {
        if (!(w.v[0] | w.v[1] | w.v[2] | w.v[3])) return 0;
#pragma unroll
        for (int k = 0; k < 4; k++) mask |= tsr_nonzero_bytes(w.v[k]) << (4 * k);
    } else {
        const uint32_t lower = keep.lower * 0x01010101u, upper = keep.upper * 0x01010101u;
#pragma unroll
        for (int k = 0; k < 4; k++) mask |= tsr_bytes_within(w.v[k], lower, upper) << (4 * k);
    }
    return mask;
}
TSR_DEVICE_FN uint32_t kept_one(tsr_keep keep, uint8_t v) { return (uint32_t)tsr_kept_int(keep, v); }
TSR_DEVICE_FN uint32_t kept_one(tsr_keep keep, uint16_t v) { return (uint32_t)tsr_kept_int(keep, v); }
TSR_DEVICE_FN uint32_t kept_one(tsr_keep keep, float v) { return (uint32_t)tsr_kept_float(keep, v); }
template <class T> TSR_DEVICE_FN uint32_t kept_mask(tsr_keep keep, const T *p)
{
    const tsr_pack<T, SELECT_ITEMS> w = *(const tsr_pack<T, SELECT_ITEMS> *)(const void *)p;
    uint32_t mask = 0;
#pragma unroll
    for (int k = 0; k < SELECT_ITEMS; k++) mask |= kept_one(keep, w.v[k]) << k;
    return mask;
}

/* Bits of elements at..at+15. */
template <class T> TSR_DEVICE_FN uint32_t kept_bits(tsr_keep keep, const T *data, int64_t at, int64_t count, bool aligned)
{
    if (aligned && at + SELECT_ITEMS <= count) return kept_mask(keep, data + at);
    uint32_t mask = 0;
    for (int k = 0; k < SELECT_ITEMS; k++)
        if (at + k < count) mask |= kept_one(keep, data[at + k]) << k;
    return mask;
}

template <class O> struct index_writer {
    O *out;
    uint64_t capacity;
    TSR_INSIDE void operator()(uint64_t at, int64_t element) const { if (at < capacity) out[at] = (O)element; }
};
template <class O> struct value_writer {
    O *out;
    uint64_t capacity;
    const O *values;
    TSR_INSIDE void operator()(uint64_t at, int64_t element) const { if (at < capacity) out[at] = values[element]; }
};

template <class T, class W> TSR_KERNEL(select_tiles)(tsr_keep keep, const T *data, int64_t count, W write, uint64_t *found, uint64_t *workspace)
{
    TSR_SHARED(uint32_t, warp_total, SELECT_WARPS * SELECT_ROWS + 1);
    TSR_SHARED(uint64_t, tile_before, 1);
    TSR_SHARED(uint32_t, ticket, 1);
    TSR_SHARED(uint16_t, ordered, SELECT_ROW);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    const int64_t tile = tsr_take_ticket(workspace, ticket), first = tile * SELECT_TILE;
    const bool aligned = (uintptr_t)data % 16 == 0;
    uint32_t mask[SELECT_ROWS], before[SELECT_ROWS];
#pragma unroll
    for (int r = 0; r < SELECT_ROWS; r++) mask[r] = kept_bits(keep, data, first + r * SELECT_ROW + (int64_t)threadIdx.x * SELECT_ITEMS, count, aligned);
#pragma unroll
    for (int r = 0; r < SELECT_ROWS; r += 2) {
        const uint32_t own = (uint32_t)__popc(mask[r]) | (uint32_t)__popc(mask[r + 1]) << 16, up_to = tsr_warp_inclusive<uint32_t>(own, lane);
        before[r] = (up_to - own) & 0xffffu;
        before[r + 1] = (up_to - own) >> 16;
        if (lane == 31) {
            warp_total[r * SELECT_WARPS + warp] = up_to & 0xffffu;
            warp_total[(r + 1) * SELECT_WARPS + warp] = up_to >> 16;
        }
    }
    __syncthreads();
    if (warp == 0) {
        const uint32_t total = tsr_warp_prefix<uint32_t>(warp_total, SELECT_WARPS * SELECT_ROWS, lane);
        const uint64_t back = tsr_look_back<uint64_t>(workspace + TSR_STATUS_HEADER, tile, (uint64_t)total, lane);
        if (lane == 0) {
            warp_total[SELECT_WARPS * SELECT_ROWS] = total;
            tile_before[0] = back;
            if (first + SELECT_TILE >= count) *found = back + total;
        }
    }
    __syncthreads();
    const uint64_t base = tile_before[0];
    if (warp_total[SELECT_WARPS * SELECT_ROWS] == 0) return;
#pragma unroll
    for (int r = 0; r < SELECT_ROWS; r++) {
        const uint32_t begin = warp_total[r * SELECT_WARPS], kept = warp_total[(r + 1) * SELECT_WARPS] - begin;
        const uint32_t own = warp_total[r * SELECT_WARPS + warp] + before[r];
        const int64_t row = first + r * SELECT_ROW;
        uint32_t bits = mask[r];
        if (kept == SELECT_ROW) {
            for (uint32_t k = threadIdx.x; k < SELECT_ROW; k += SELECT_THREADS) write(base + begin + k, row + k);
        } else if (kept > SELECT_DENSE) {
            for (uint32_t k = own - begin; bits; bits &= bits - 1u) ordered[k++] = (uint16_t)(threadIdx.x * SELECT_ITEMS + (uint32_t)__ffs((int)bits) - 1u);
            __syncthreads();
            for (uint32_t k = threadIdx.x; k < kept; k += SELECT_THREADS) write(base + begin + k, row + ordered[k]);
            __syncthreads();
        } else {
            for (uint64_t k = base + own; bits; bits &= bits - 1u) write(k++, row + (int64_t)threadIdx.x * SELECT_ITEMS + __ffs((int)bits) - 1);
        }
    }
}

template <class T> TSR_KERNEL(count_tiles)(tsr_keep keep, const T *data, int64_t count, uint64_t *found)
{
    TSR_SHARED(uint64_t, warp_total, SELECT_WARPS);
    const bool aligned = (uintptr_t)data % 16 == 0;
    uint64_t sum = 0;
    for (int64_t first = (int64_t)blockIdx.x * SELECT_TILE; first < count; first += (int64_t)gridDim.x * SELECT_TILE) {
        uint32_t mask[SELECT_ROWS];
#pragma unroll
        for (int r = 0; r < SELECT_ROWS; r++) mask[r] = kept_bits(keep, data, first + r * SELECT_ROW + (int64_t)threadIdx.x * SELECT_ITEMS, count, aligned);
#pragma unroll
        for (int r = 0; r < SELECT_ROWS; r += 2) sum += (uint32_t)__popc(mask[r] | mask[r + 1] << 16);
    }
    sum = tsr_warp_sum<uint64_t>(sum);
    if (threadIdx.x % 32 == 0) warp_total[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < SELECT_WARPS; w++) sum += warp_total[w];
        atomicAdd((unsigned long long *)found, (unsigned long long)sum);
    }
}

static int64_t tiles_of(int64_t count) { return (count + SELECT_TILE - 1) / SELECT_TILE; }
static int64_t select_words(int64_t count) { return TSR_STATUS_HEADER + 2 * tiles_of(count); }
size_t tsr_cuda_select_bytes(int64_t count) { return (size_t)select_words(count) * sizeof(uint64_t); }

template <class T, class W> static void launch_select(tsr_queue *queue, const tsr_select_job *job, W write, void *workspace)
{
    void (*kernel)(tsr_keep, const T *, int64_t, W, uint64_t *, uint64_t *) = select_tiles<T, W>;
    tsr_launch_clear(queue, workspace, select_words(job->count));
    TSR_LAUNCH(queue, kernel, (uint32_t)tiles_of(job->count), SELECT_THREADS, 0, job->keep, (const T *)job->data, job->count, write, job->found,
               (uint64_t *)workspace);
}
template <class O> static void launch_indices(tsr_queue *queue, const tsr_select_job *job, void *workspace)
{
    const index_writer<O> write = { (O *)job->out, (uint64_t)job->capacity };
    if (job->dtype == TSR_U8) launch_select<uint8_t>(queue, job, write, workspace);
    else if (job->dtype == TSR_U16) launch_select<uint16_t>(queue, job, write, workspace);
    else launch_select<float>(queue, job, write, workspace);
}
template <class O> static void launch_values(tsr_queue *queue, const tsr_select_job *job, void *workspace)
{
    const value_writer<O> write = { (O *)job->out, (uint64_t)job->capacity, (const O *)job->values };
    launch_select<uint8_t>(queue, job, write, workspace);
}

tsr_status tsr_cuda_select(tsr_queue *queue, const tsr_select_job *job, void *workspace)
{
    if (!job->count) tsr_launch_clear(queue, job->found, 1);
    else if (!job->values && job->out_bytes == 4) launch_indices<uint32_t>(queue, job, workspace);
    else if (!job->values) launch_indices<uint64_t>(queue, job, workspace);
    else if (job->out_bytes == 1) launch_values<uint8_t>(queue, job, workspace);
    else if (job->out_bytes == 2) launch_values<uint16_t>(queue, job, workspace);
    else if (job->out_bytes == 4) launch_values<uint32_t>(queue, job, workspace);
    else launch_values<uint64_t>(queue, job, workspace);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_count(tsr_queue *queue, tsr_keep keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found)
{
    const uint32_t blocks = tsr_blocks(count, SELECT_TILE, 8 * (int64_t)tsr_queue_processors(queue));
    tsr_launch_clear(queue, found, 1);
    if (dtype == TSR_U8) TSR_LAUNCH(queue, count_tiles<uint8_t>, blocks, SELECT_THREADS, 0, keep, (const uint8_t *)data, count, found);
    else if (dtype == TSR_U16) TSR_LAUNCH(queue, count_tiles<uint16_t>, blocks, SELECT_THREADS, 0, keep, (const uint16_t *)data, count, found);
    else TSR_LAUNCH(queue, count_tiles<float>, blocks, SELECT_THREADS, 0, keep, (const float *)data, count, found);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
