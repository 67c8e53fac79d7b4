/* primitives/reduce_cuda.cu: one block per tile of 65536 elements (32768 of a float sum), then one block over the tiles; and the table of this room. */
#include "primitives/reduce_cuda.h"

enum { REDUCE_THREADS = 256, FINAL_THREADS = 1024, LAST_SUM_THREADS = 512 };

/* Sums and extrema of integers, extrema of floats. */
template <class T, int R> TSR_KERNEL(reduce_tiles)(const T *data, int64_t count, uint64_t neutral, uint64_t *tiles)
{
    typedef element<T> E;
    enum { N = 16 / sizeof(T), ROW = REDUCE_THREADS * N };
    TSR_SHARED(uint64_t, warp_value, 32);
    const int64_t first = (int64_t)blockIdx.x * TSR_TILE_ELEMENTS, left = count - first;
    const typename E::order none = E::of_key(neutral);
    typename E::order best = none;
    typename E::sum sum = 0;
    if (left >= TSR_TILE_ELEMENTS && tsr_pack_aligned<T, N>(data)) {
        const tsr_pack<T, N> *packs = (const tsr_pack<T, N> *)(const void *)(data + first);
#pragma unroll 8
        for (int row = 0; row < TSR_TILE_ELEMENTS / ROW; row++) {
            const tsr_pack<T, N> p = packs[row * REDUCE_THREADS + threadIdx.x];
#pragma unroll
            for (int e = 0; e < N; e++) {
                const typename E::order o = E::load(p.v[e], none);
                if (R == TSR_REDUCE_SUM) sum += p.v[e];
                else if (R == TSR_REDUCE_MIN) best = o < best ? o : best;
                else best = o > best ? o : best;
            }
        }
    } else {
        for (int64_t i = threadIdx.x; i < left && i < TSR_TILE_ELEMENTS; i += REDUCE_THREADS) {
            const typename E::order o = E::load(data[first + i], none);
            if (R == TSR_REDUCE_SUM) sum += data[first + i];
            else if (R == TSR_REDUCE_MIN) best = o < best ? o : best;
            else best = o > best ? o : best;
        }
    }
    uint64_t v = merge_block<R>(R == TSR_REDUCE_SUM ? (uint64_t)sum : E::key(best), warp_value);
    if (threadIdx.x == 0) tiles[blockIdx.x] = v;
}

template <int R> TSR_KERNEL(reduce_final)(const uint64_t *tiles, int64_t count, uint64_t neutral, tsr_dtype dtype, uint64_t *result)
{
    TSR_SHARED(uint64_t, warp_value, 32);
    uint64_t v = neutral;
    for (int64_t i = threadIdx.x; i < count; i += FINAL_THREADS) v = merge<R>(v, tiles[i]);
    v = merge_block<R>(v, warp_value);
    if (threadIdx.x == 0) *result = tsr_reduce_decode((tsr_reduction)R, dtype, v);
}

/* Sums of floats by the fixed tree. Also the last step, with one block whose tile is all there is. */
template <class T, int THREADS> TSR_KERNEL(sum_lanes)(const T *data, int64_t count, int64_t tile, double *tiles)
{
    enum { N = 16 / sizeof(T), ROW = THREADS * N, ROWS = TSR_TILE_LANES / ROW };
    TSR_SHARED(double, lane, TSR_TILE_LANES);
    const int64_t first = (int64_t)blockIdx.x * tile, left = count - first < tile ? count - first : tile;
    const T *tile_data = data + first;
    double sum[ROWS][N] = {};
    int64_t whole = 0; /* lanes' worth of elements taken by packs: no bounds to look at, so that their loads go out together */
    if (tsr_pack_aligned<T, N>(data)) whole = left / TSR_TILE_LANES * TSR_TILE_LANES;
#pragma unroll 8
    for (int64_t i = 0; i < whole; i += TSR_TILE_LANES)
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            const tsr_pack<T, N> p = *(const tsr_pack<T, N> *)(const void *)(tile_data + i + row * ROW + (int64_t)threadIdx.x * N);
#pragma unroll
            for (int e = 0; e < N; e++) sum[row][e] += (double)p.v[e];
        }
    for (int64_t i = whole; i < left; i += TSR_TILE_LANES)
#pragma unroll
        for (int row = 0; row < ROWS; row++)
#pragma unroll
            for (int e = 0; e < N; e++) {
                const int64_t at = i + row * ROW + (int64_t)threadIdx.x * N + e;
                if (at < left) sum[row][e] += (double)tile_data[at];
            }
    for (int row = 0; row < ROWS; row++)
        for (int e = 0; e < N; e++) lane[row * ROW + threadIdx.x * N + e] = sum[row][e];
    fold(lane);
    __syncthreads();
    if (threadIdx.x == 0) tiles[blockIdx.x] = lane[0];
}

static size_t cuda_reduce_bytes(int64_t count) { return (size_t)tsr_tile_count(count, TSR_SUM_ELEMENTS) * sizeof(uint64_t); }

template <class T> static void launch_sum(tsr_queue *queue, const void *data, int64_t count, tsr_reduced *result, void *workspace)
{
    void (*kernel)(const T *, int64_t, int64_t, double *) = sum_lanes<T, REDUCE_THREADS>;
    void (*last)(const double *, int64_t, int64_t, double *) = sum_lanes<double, LAST_SUM_THREADS>;
    const int64_t tiles = tsr_tile_count(count, TSR_SUM_ELEMENTS);
    if (tiles) TSR_LAUNCH(queue, kernel, (uint32_t)tiles, REDUCE_THREADS, 0, (const T *)data, count, (int64_t)TSR_SUM_ELEMENTS, (double *)workspace);
    TSR_LAUNCH(queue, last, 1, LAST_SUM_THREADS, 0, (const double *)workspace, tiles, tiles, &result->f);
}

template <class T, int R> static void launch_reduce(tsr_queue *queue, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result, void *work)
{
    const int64_t tiles = tsr_tile_count(count, TSR_TILE_ELEMENTS);
    const uint64_t neutral = tsr_reduce_neutral((tsr_reduction)R, dtype);
    void (*kernel)(const T *, int64_t, uint64_t, uint64_t *) = reduce_tiles<T, R>;
    void (*last)(const uint64_t *, int64_t, uint64_t, tsr_dtype, uint64_t *) = reduce_final<R>;
    if (tiles) TSR_LAUNCH(queue, kernel, (uint32_t)tiles, REDUCE_THREADS, 0, (const T *)data, count, neutral, (uint64_t *)work);
    TSR_LAUNCH(queue, last, 1, FINAL_THREADS, 0, (const uint64_t *)work, tiles, neutral, dtype, &result->u);
}

template <class T> static void launch_integer(tsr_queue *queue, tsr_reduction r, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                                              void *work)
{
    if (r == TSR_REDUCE_SUM) launch_reduce<T, TSR_REDUCE_SUM>(queue, dtype, data, count, result, work);
    else if (r == TSR_REDUCE_MIN) launch_reduce<T, TSR_REDUCE_MIN>(queue, dtype, data, count, result, work);
    else launch_reduce<T, TSR_REDUCE_MAX>(queue, dtype, data, count, result, work);
}
template <class T> static void launch_float(tsr_queue *queue, tsr_reduction r, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                                            void *work)
{
    if (r == TSR_REDUCE_SUM) launch_sum<T>(queue, data, count, result, work);
    else if (r == TSR_REDUCE_MIN) launch_reduce<T, TSR_REDUCE_MIN>(queue, dtype, data, count, result, work);
    else launch_reduce<T, TSR_REDUCE_MAX>(queue, dtype, data, count, result, work);
}

static tsr_status cuda_reduce(tsr_queue *queue, tsr_reduction r, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result, void *work)
{
    switch (dtype) {
    case TSR_U8: launch_integer<uint8_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_I8: launch_integer<int8_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_U16: launch_integer<uint16_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_I16: launch_integer<int16_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_U32: launch_integer<uint32_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_I32: launch_integer<int32_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_U64: launch_integer<uint64_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_I64: launch_integer<int64_t>(queue, r, dtype, data, count, result, work); break;
    case TSR_F32: launch_float<float>(queue, r, dtype, data, count, result, work); break;
    default: launch_float<double>(queue, r, dtype, data, count, result, work); break;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_primitives_ops tsr_primitives_cuda = {
    cuda_reduce_bytes, cuda_reduce, tsr_cuda_scan_bytes, tsr_cuda_scan, tsr_cuda_select_bytes, tsr_cuda_select, tsr_cuda_count,
    tsr_cuda_sort_bytes, tsr_cuda_sort, tsr_cuda_sort_own, tsr_cuda_histogram, tsr_cuda_joint,
    tsr_cuda_segment_reduce_bytes, tsr_cuda_segment_reduce, tsr_cuda_segment_scan_bytes, tsr_cuda_segment_scan, tsr_cuda_segment_rest,
    tsr_cuda_gather, tsr_cuda_scatter, tsr_cuda_combine, tsr_cuda_ramp, tsr_cuda_starts, tsr_cuda_combine_places,
};
