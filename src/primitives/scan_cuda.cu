/* primitives/scan_cuda.cu: single-pass scan. A tile is CHUNKS rows of 256 threads x 4 elements; each row is loaded and stored in one
 * coalesced access per thread; the 8 x CHUNKS warp totals are scanned by one warp, which also looks back. */
#include "primitives/primitives_cuda.h"

enum { SCAN_THREADS = 256, SCAN_WARPS = SCAN_THREADS / 32, SCAN_ROW = SCAN_THREADS * 4, SCAN_LEAST = 4 * SCAN_ROW /* elements of the smallest tile */ };

template <class T, class S, int CHUNKS>
TSR_KERNEL(scan_tiles)(const T *TSR_RESTRICT data, int64_t count, int inclusive, S *TSR_RESTRICT sums, uint64_t *workspace)
{
    TSR_SHARED(S, warp_total, SCAN_WARPS * CHUNKS);
    TSR_SHARED(S, tile_before, 1);
    TSR_SHARED(uint32_t, ticket, 1);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    const int64_t tile = tsr_take_ticket(workspace, ticket);
    const int64_t first = tile * (SCAN_ROW * CHUNKS) + threadIdx.x * 4;
    const bool whole = (tile + 1) * (SCAN_ROW * CHUNKS) <= count;
    const bool wide_in = whole && tsr_pack_aligned<T, 4>(data), wide_out = whole && tsr_pack_aligned<S, 4>(sums);
    tsr_pack<T, 4> in[CHUNKS];
    S before[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const int64_t at = first + c * SCAN_ROW;
        if (wide_in) in[c] = *(const tsr_pack<T, 4> *)(const void *)(data + at);
        else
            for (int e = 0; e < 4; e++) in[c].v[e] = at + e < count ? data[at + e] : (T)0;
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const S own = (S)in[c].v[0] + (S)in[c].v[1] + (S)in[c].v[2] + (S)in[c].v[3], up_to = tsr_warp_inclusive<S>(own, lane);
        before[c] = up_to - own;
        if (lane == 31) warp_total[c * SCAN_WARPS + warp] = up_to;
    }
    __syncthreads();
    if (warp == 0) {
        const S total = tsr_warp_prefix<S>(warp_total, SCAN_WARPS * CHUNKS, lane);
        const S back = tsr_look_back<S>(workspace + TSR_STATUS_HEADER, tile, total, lane);
        if (lane == 0) tile_before[0] = back;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const int64_t at = first + c * SCAN_ROW;
        S sum = tile_before[0] + warp_total[c * SCAN_WARPS + warp] + before[c];
        tsr_pack<S, 4> out;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const S next = sum + (S)in[c].v[e];
            out.v[e] = inclusive ? next : sum;
            sum = next;
        }
        if (wide_out) *(tsr_pack<S, 4> *)(void *)(sums + at) = out;
        else
            for (int e = 0; e < 4; e++)
                if (at + e < count) sums[at + e] = out.v[e];
    }
}

/* Two status words per tile serve both widths of sums. */
static int64_t scan_words(int64_t count) { return TSR_STATUS_HEADER + 2 * ((count + SCAN_LEAST - 1) / SCAN_LEAST); }
size_t tsr_cuda_scan_own_bytes(int64_t count) { return (size_t)scan_words(count) * sizeof(uint64_t); }

template <class T, class S, int CHUNKS>
static void launch_scan(tsr_queue *queue, int inclusive, const void *data, int64_t count, void *sums, void *workspace)
{
    const int64_t elements = SCAN_ROW * CHUNKS, tiles = (count + elements - 1) / elements;
    void (*kernel)(const T *, int64_t, int, S *, uint64_t *) = scan_tiles<T, S, CHUNKS>;
    tsr_launch_clear(queue, workspace, TSR_STATUS_HEADER + tiles * (int64_t)(sizeof(S) / 4));
    TSR_LAUNCH(queue, kernel, (uint32_t)tiles, SCAN_THREADS, 0, (const T *)data, count, inclusive, (S *)sums, (uint64_t *)workspace);
}

tsr_status tsr_cuda_scan_own(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                             void *workspace)
{
    const bool wide = sum_type == TSR_U64;
    if (data_type == TSR_U8 && !wide) launch_scan<uint8_t, uint32_t, 8>(queue, inclusive, data, count, sums, workspace);
    else if (data_type == TSR_U8) launch_scan<uint8_t, uint64_t, 4>(queue, inclusive, data, count, sums, workspace);
    else if (data_type == TSR_U32 && !wide) launch_scan<uint32_t, uint32_t, 8>(queue, inclusive, data, count, sums, workspace);
    else if (data_type == TSR_U32) launch_scan<uint32_t, uint64_t, 4>(queue, inclusive, data, count, sums, workspace);
    else launch_scan<uint64_t, uint64_t, 4>(queue, inclusive, data, count, sums, workspace);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
