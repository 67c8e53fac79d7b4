/* primitives/segments_cuda.cu: segmented reductions and scans.
 *
 * Reduction: eight lanes take a segment of up to 64 elements, a warp one of up to 4096. Longer ones are listed with their pieces of 32768, which blocks reduce next,
 * and whose results a block merges last: so the work is even whatever the lengths. Where segments are long on average, a warp takes each of up to 4096 at
 * once, or a block each of up to a piece, and the others alone are listed. Float sums follow the tree of tsr_reduce: element i
 * goes to lane i mod 1024 of its piece, lanes fold by halves; lanes that a short segment does not reach hold 0, which changes no sum.
 * Scan: the one of scan_cuda.cu whose sums begin anew at heads; a tile with a head tells those behind it all they need. */
#include "device/dependent_launch.h"
#include "primitives/reduce_cuda.h"

enum {
    SHORT_THREADS = 256,
    GROUP = 8,
    GROUP_MOST = 8 * GROUP,
    WARP_MOST = 4096,
    WIDE_LEAST = 512, /* on average, from where a warp takes each */
    WIDE_THREADS = 128,
    WHOLE_LEAST = 4096, /* from where a block does */
    PIECE = TSR_SUM_ELEMENTS,
    PIECE_THREADS = 256
};

/* The long segments, in the workspace. */
struct long_list {
    unsigned long long *counts; /* items, longs */
    uint64_t *longs;            /* segment, first item, pieces; one piece writes its result itself */
    uint64_t *items;            /* two words: first element; segment << 16 | (it is one piece) << 15 | elements - 1 */
    uint64_t *partial;          /* of the items */
    int64_t most_longs, most_items;
};

static int64_t most_longs(int64_t count) { return count / WARP_MOST + 1; }
static int64_t most_items(int64_t count) { return count / PIECE + most_longs(count); }
size_t tsr_cuda_segment_reduce_bytes(int64_t count) { return (size_t)(2 + 3 * most_longs(count) + 3 * most_items(count)) * sizeof(uint64_t); }

static long_list place_list(int64_t count, void *workspace)
{
    uint64_t *words = (uint64_t *)workspace;
    long_list list;
    list.most_longs = most_longs(count);
    list.most_items = most_items(count);
    list.counts = (unsigned long long *)words;
    list.longs = words + 2;
    list.items = list.longs + 3 * list.most_longs;
    list.partial = list.items + 2 * list.most_items;
    return list;
}

/* Sums of floats are doubles as bits, all else keys or integers: the rules of both. */
template <class T, int R> struct reducer {
    typedef element<T> E;
    TSR_INSIDE static uint64_t neutral(uint64_t key) { return key; }
    TSR_INSIDE static uint64_t load(T v, uint64_t none)
    {
        return R == TSR_REDUCE_SUM ? (uint64_t)(typename E::sum)v : E::key(E::load(v, E::of_key(none)));
    }
    TSR_INSIDE static uint64_t add(uint64_t a, uint64_t b) { return merge<R>(a, b); }
};
TSR_DEVICE_FN double as_double(uint64_t v)
{
    double d;
    memcpy(&d, &v, 8);
    return d;
}
TSR_DEVICE_FN uint64_t as_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    return u;
}
#define FLOAT_SUM(T)                                                                                            \
    template <> struct reducer<T, TSR_REDUCE_SUM> {                                                             \
        TSR_INSIDE static uint64_t neutral(uint64_t) { return 0; }                                              \
        TSR_INSIDE static uint64_t load(T v, uint64_t) { return as_bits(0.0 + (double)v); }                     \
        TSR_INSIDE static uint64_t add(uint64_t a, uint64_t b) { return as_bits(as_double(a) + as_double(b)); } \
    };
FLOAT_SUM(float)
FLOAT_SUM(double)

/* `n` elements at data by `width` threads, N = 2^LOG lanes of the tree each, folded by halves; lanes of the tree beyond n are left out. The result is that of the
 * first thread of `width`. Loads of a row go out together: what lies beyond n is neutral. */
template <class T, int R, int LOG> TSR_DEVICE_FN uint64_t fold_segment(const T *data, int32_t n, int32_t lane, int32_t width, uint64_t none)
{
    typedef reducer<T, R> F;
    enum { N = 1 << LOG };
    uint64_t v[N];
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = k * width + lane < n ? F::load(data[k * width + lane], none) : F::neutral(none);
    for (int32_t row = N * width; row < n; row += N * width)
#pragma unroll
        for (int k = 0; k < N; k++) {
            const int32_t i = row + k * width + lane;
            v[k] = F::add(v[k], i < n ? F::load(data[i], none) : F::neutral(none));
        }
#pragma unroll
    for (int step = LOG - 1; step >= 0; step--)
#pragma unroll
        for (int k = 0; k < N / 2; k++)
            if (k < 1 << step) v[k] = F::add(v[k], v[k + (1 << step)]);
    for (int step = width / 2; step > 0; step /= 2) v[0] = F::add(v[0], __shfl_xor_sync(TSR_WARP_ALL, v[0], step));
    return v[0];
}

/* Lists the segments of the lanes that say so: places for all of a warp with one look at each counter, for thousands of warps come at once. What offsets that
 * do not ascend ask for beyond the lists is left out. */
TSR_DEVICE_FN void list_long(const long_list &list, bool own, int64_t segment, int64_t begin, int64_t n, uint32_t lane)
{
    const uint32_t all = __ballot_sync(TSR_WARP_ALL, own);
    const int64_t pieces = own ? (n + PIECE - 1) / PIECE : 0;
    int64_t before = 0, total = 0;
    unsigned long long taken = 0;
    if (!all) return;
    for (uint32_t left = all; left; left &= left - 1u) {
        const int from = __ffs((int)left) - 1;
        const int64_t other = __shfl_sync(TSR_WARP_ALL, pieces, from);
        if ((uint32_t)from < lane) before += other;
        total += other;
    }
    if (lane < 2) taken = atomicAdd(&list.counts[lane], lane ? (unsigned long long)__popc(all) : (unsigned long long)total);
    const int64_t at = (int64_t)__shfl_sync(TSR_WARP_ALL, taken, 0) + before;
    const int64_t number = (int64_t)__shfl_sync(TSR_WARP_ALL, taken, 1) + __popc(all & ((1u << lane) - 1u));
    const int64_t room = tsr_maxl(0, tsr_minl(pieces, list.most_items - at));
    if (own && number < list.most_longs) {
        list.longs[3 * number] = (uint64_t)segment;
        list.longs[3 * number + 1] = (uint64_t)at;
        list.longs[3 * number + 2] = (uint64_t)room;
    }
    for (uint32_t left = all; left; left &= left - 1u) {
        const int from = __ffs((int)left) - 1;
        const int64_t to = __shfl_sync(TSR_WARP_ALL, at, from), most = __shfl_sync(TSR_WARP_ALL, room, from);
        const int64_t start = __shfl_sync(TSR_WARP_ALL, begin, from), length = __shfl_sync(TSR_WARP_ALL, n, from);
        const uint64_t name = (uint64_t)__shfl_sync(TSR_WARP_ALL, segment, from) << 16 | (uint64_t)(length <= PIECE) << 15;
        for (int64_t p = lane; p < most; p += 32) {
            list.items[2 * (to + p)] = (uint64_t)(start + p * PIECE);
            list.items[2 * (to + p) + 1] = name | (uint64_t)(tsr_minl(PIECE, length - p * PIECE) - 1);
        }
    }
}

template <class T, int R>
TSR_KERNEL(reduce_short)
(const T *data, int64_t count, int32_t wide, const void *offsets, int64_t segments, tsr_dtype dtype, uint64_t none, uint64_t *results, long_list list)
{
    tsr_chained();
    const uint32_t lane = threadIdx.x & 31u, in = lane % GROUP;
    const int64_t warps = (int64_t)gridDim.x * (SHORT_THREADS / 32);
    for (int64_t first = ((int64_t)blockIdx.x * (SHORT_THREADS / 32) + threadIdx.x / 32u) * (32 / GROUP); first < segments;
         first += warps * (32 / GROUP)) {
        const int64_t s = first + lane / GROUP;
        int64_t begin = 0, n = 0;
        if (s < segments) {
            begin = tsr_offset_load(offsets, wide, s, count);
            n = tsr_offset_load(offsets, wide, s + 1, count) - begin;
            n = n > 0 ? n : 0;
        }
        const bool larger = n > GROUP_MOST;
        const int32_t own = larger ? 0 : (int32_t)n;
        const bool some = __any_sync(TSR_WARP_ALL, own > 2 * GROUP);
        const uint64_t v = some ? fold_segment<T, R, 3>(data + begin, own, (int32_t)in, GROUP, none)
                                : fold_segment<T, R, 1>(data + begin, own, (int32_t)in, GROUP, none);
        if (!larger && in == 0 && s < segments) results[s] = tsr_reduce_decode((tsr_reduction)R, dtype, v);
        for (uint32_t left = __ballot_sync(TSR_WARP_ALL, larger && n <= WARP_MOST && in == 0); left; left &= left - 1u) {
            const int from = __ffs((int)left) - 1;
            const int64_t start = __shfl_sync(TSR_WARP_ALL, begin, from), length = __shfl_sync(TSR_WARP_ALL, n, from);
            const uint64_t sum = length <= 8 * 32 ? fold_segment<T, R, 3>(data + start, (int32_t)length, (int32_t)lane, 32, none)
                                                  : fold_segment<T, R, 5>(data + start, (int32_t)length, (int32_t)lane, 32, none);
            if (lane == 0) results[first + from / GROUP] = tsr_reduce_decode((tsr_reduction)R, dtype, sum);
        }
        list_long(list, n > WARP_MOST && in == 0, s, begin, n, lane);
    }
}

/* One block: `n` elements at data in the lanes of a piece (floats: float64 sums in the fixed tree). Thread 0 has the result. */
template <class T, int R> struct block_reducer {
    TSR_INSIDE static uint64_t run(const T *data, int64_t n, uint64_t none, uint64_t *shared)
    {
        typedef element<T> E;
        typename E::sum sum = 0;
        typename E::order best = E::of_key(none);
#pragma unroll 8
        for (int64_t i = threadIdx.x; i < n; i += PIECE_THREADS) {
            const typename E::order o = E::load(data[i], E::of_key(none));
            if (R == TSR_REDUCE_SUM) sum += data[i];
            else if (R == TSR_REDUCE_MIN) best = o < best ? o : best;
            else best = o > best ? o : best;
        }
        return merge_block<R>(R == TSR_REDUCE_SUM ? (uint64_t)sum : E::key(best), shared);
    }
};
/* Lane l of the tree is element l of thread l mod 256: two halvings stay in a thread, three are one warp's, the rest are shuffles. */
template <class T> TSR_DEVICE_FN uint64_t sum_block(const T *data, int64_t n, uint64_t *shared)
{
    enum { ROWS = TSR_TILE_LANES / PIECE_THREADS, DEEP = 4 };
    double *lane = (double *)(void *)shared, sum[ROWS] = {};
    const T *own = data + threadIdx.x;
    int64_t i = 0;
    for (; i + DEEP * TSR_TILE_LANES <= n; i += DEEP * TSR_TILE_LANES) {
        T v[DEEP * ROWS];
#pragma unroll
        for (int k = 0; k < DEEP * ROWS; k++) v[k] = own[i + k * PIECE_THREADS];
#pragma unroll
        for (int k = 0; k < DEEP * ROWS; k++) sum[k % ROWS] += (double)v[k];
    }
    for (; i < n; i += TSR_TILE_LANES) {
        T v[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) v[k] = i + k * PIECE_THREADS + threadIdx.x < n ? own[i + k * PIECE_THREADS] : (T)0;
#pragma unroll
        for (int k = 0; k < ROWS; k++) sum[k] += (double)v[k];
    }
#pragma unroll
    for (int half = ROWS / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < ROWS / 2; k++)
            if (k < half) sum[k] += sum[k + half];
    lane[threadIdx.x] = sum[0];
    __syncthreads();
    double total = 0.0;
    if (threadIdx.x < 32) {
        double part[PIECE_THREADS / 32];
#pragma unroll
        for (int k = 0; k < PIECE_THREADS / 32; k++) part[k] = lane[k * 32 + threadIdx.x];
#pragma unroll
        for (int step = 2; step >= 0; step--)
#pragma unroll
            for (int k = 0; k < 1 << step; k++) part[k] += part[k + (1 << step)];
        total = part[0];
        for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(TSR_WARP_ALL, total, step);
    }
    return as_bits(total);
}
template <> struct block_reducer<float, TSR_REDUCE_SUM> {
    TSR_INSIDE static uint64_t run(const float *data, int64_t n, uint64_t, uint64_t *shared) { return sum_block(data, n, shared); }
};
template <> struct block_reducer<double, TSR_REDUCE_SUM> {
    TSR_INSIDE static uint64_t run(const double *data, int64_t n, uint64_t, uint64_t *shared) { return sum_block(data, n, shared); }
};

/* A segment a warp: where most are long, nothing is gained by looking for those first. Its 1024 lanes of the tree are registers, so that nothing waits for other
 * warps: 1.14 x CUB at 1024 elements (a block a segment: 0.70), but 0.65 at 8192 (0.89). */
template <class T, int R>
TSR_KERNEL(__launch_bounds__(WIDE_THREADS) reduce_wide)
(const T *data, int64_t count, int32_t wide, const void *offsets, int64_t segments, tsr_dtype dtype, uint64_t none, uint64_t *results, long_list list)
{
    tsr_chained();
    const uint32_t lane = threadIdx.x & 31u;
    for (int64_t s = (int64_t)blockIdx.x * (WIDE_THREADS / 32) + threadIdx.x / 32u; s < segments; s += (int64_t)gridDim.x * (WIDE_THREADS / 32)) {
        const int64_t begin = tsr_offset_load(offsets, wide, s, count), n = tsr_maxl(0, tsr_offset_load(offsets, wide, s + 1, count) - begin);
        if (n > WARP_MOST) {
            list_long(list, lane == 0, s, begin, n, lane);
            continue;
        }
        const uint64_t v = n <= 8 * 32 ? fold_segment<T, R, 3>(data + begin, (int32_t)n, (int32_t)lane, 32, none)
                                       : fold_segment<T, R, 5>(data + begin, (int32_t)n, (int32_t)lane, 32, none);
        if (lane == 0) results[s] = tsr_reduce_decode((tsr_reduction)R, dtype, v);
    }
}

/* A segment a block. */
template <class T, int R>
TSR_KERNEL(__launch_bounds__(PIECE_THREADS) reduce_whole)
(const T *data, int64_t count, int32_t wide, const void *offsets, int64_t segments, tsr_dtype dtype, uint64_t none, uint64_t *results, long_list list)
{
    TSR_SHARED(uint64_t, shared, TSR_TILE_LANES);
    tsr_chained();
    for (int64_t s = blockIdx.x; s < segments; s += gridDim.x) {
        const int64_t begin = tsr_offset_load(offsets, wide, s, count), n = tsr_maxl(0, tsr_offset_load(offsets, wide, s + 1, count) - begin);
        if (n > PIECE) {
            if (threadIdx.x < 32) list_long(list, threadIdx.x == 0, s, begin, n, threadIdx.x);
            continue;
        }
        const uint64_t v = block_reducer<T, R>::run(data + begin, n, none, shared);
        if (threadIdx.x == 0) results[s] = tsr_reduce_decode((tsr_reduction)R, dtype, v);
        __syncthreads();
    }
}

/* The next item is fetched while this one is summed: between two items a block waits for data alone. */
template <class T, int R> TSR_KERNEL(reduce_pieces)(const T *data, tsr_dtype dtype, uint64_t none, uint64_t *results, long_list list)
{
    TSR_SHARED(uint64_t, shared, TSR_TILE_LANES);
    tsr_chained();
    const int64_t items = tsr_minl((int64_t)list.counts[0], list.most_items);
    int64_t k = blockIdx.x;
    uint64_t next[2] = { 0, 0 };
    if (k < items) next[0] = list.items[2 * k], next[1] = list.items[2 * k + 1];
    while (k < items) {
        const uint64_t first = next[0], name = next[1];
        const int64_t own = k;
        k += gridDim.x;
        if (k < items) next[0] = list.items[2 * k], next[1] = list.items[2 * k + 1];
        const uint64_t v = block_reducer<T, R>::run(data + first, (int64_t)(name & 0x7fffu) + 1, none, shared);
        if (threadIdx.x == 0 && (name >> 15 & 1u)) results[name >> 16] = tsr_reduce_decode((tsr_reduction)R, dtype, v);
        else if (threadIdx.x == 0) list.partial[own] = v;
        __syncthreads();
    }
}

/* FLOAT: partial results are float64 sums. */
template <int R, bool FLOAT> TSR_KERNEL(reduce_longs)(tsr_dtype dtype, uint64_t none, uint64_t *results, long_list list)
{
    TSR_SHARED(uint64_t, shared, TSR_TILE_LANES);
    tsr_chain_wait();
    const int64_t longs = tsr_minl((int64_t)list.counts[1], list.most_longs);
    for (int64_t l = blockIdx.x; l < longs; l += gridDim.x) {
        const uint64_t *partial = list.partial + list.longs[3 * l + 1];
        const int64_t pieces = (int64_t)list.longs[3 * l + 2];
        uint64_t v = none;
        if (pieces == 1) continue; /* done */
        if (FLOAT) {
            v = sum_block((const double *)(const void *)partial, pieces, shared);
        } else {
            for (int64_t i = threadIdx.x; i < pieces; i += PIECE_THREADS) v = merge<R>(v, partial[i]);
            v = merge_block<R>(v, shared);
        }
        if (threadIdx.x == 0) results[list.longs[3 * l]] = tsr_reduce_decode((tsr_reduction)R, dtype, v);
        __syncthreads();
    }
}

template <class T, int R, bool FLOAT> static void launch_segments(tsr_queue *queue, const tsr_segment_reduce_job *j, void *workspace)
{
    typedef void reducer(const T *, int64_t, int32_t, const void *, int64_t, tsr_dtype, uint64_t, uint64_t *, long_list);
    reducer *shorts = reduce_short<T, R>, *wide = reduce_wide<T, R>, *whole = reduce_whole<T, R>;
    void (*pieces)(const T *, tsr_dtype, uint64_t, uint64_t *, long_list) = reduce_pieces<T, R>;
    void (*longs)(tsr_dtype, uint64_t, uint64_t *, long_list) = reduce_longs<R, FLOAT>;
    const long_list list = place_list(j->count, workspace);
    const uint64_t none = tsr_reduce_neutral((tsr_reduction)R, j->dtype);
    const int64_t processors = tsr_queue_processors(queue);
    tsr_launch_clear(queue, list.counts, 2);
    if (j->count / WHOLE_LEAST >= j->segments)
        TSR_LAUNCH_DEPENDENT(queue, whole, tsr_blocks(j->segments, 1, INT32_MAX), PIECE_THREADS, 0, (const T *)j->data, j->count, j->wide, j->offsets,
                           j->segments, j->dtype, none, &j->results->u, list);
    else if (j->count / WIDE_LEAST >= j->segments)
        TSR_LAUNCH_DEPENDENT(queue, wide, tsr_blocks(j->segments, WIDE_THREADS / 32, INT32_MAX), WIDE_THREADS, 0, (const T *)j->data, j->count, j->wide,
                           j->offsets, j->segments, j->dtype, none, &j->results->u, list);
    else
        TSR_LAUNCH_DEPENDENT(queue, shorts, tsr_blocks(j->segments, SHORT_THREADS / GROUP, 32 * processors), SHORT_THREADS, 0, (const T *)j->data,
                           j->count, j->wide, j->offsets, j->segments, j->dtype, none, &j->results->u, list);
    if (j->count <= WARP_MOST) return;
    TSR_LAUNCH_DEPENDENT(queue, pieces, tsr_blocks(most_items(j->count), 1, 8 * processors), PIECE_THREADS, 0, (const T *)j->data, j->dtype, none,
                       &j->results->u, list);
    TSR_LAUNCH_DEPENDENT(queue, longs, tsr_blocks(most_longs(j->count), 1, 4 * processors), PIECE_THREADS, 0, j->dtype, none, &j->results->u, list);
}
template <class T, bool FLOAT> static void launch_reduction(tsr_queue *queue, const tsr_segment_reduce_job *j, void *workspace)
{
    if (j->reduction == TSR_REDUCE_SUM) launch_segments<T, TSR_REDUCE_SUM, FLOAT>(queue, j, workspace);
    else if (j->reduction == TSR_REDUCE_MIN) launch_segments<T, TSR_REDUCE_MIN, false>(queue, j, workspace);
    else launch_segments<T, TSR_REDUCE_MAX, false>(queue, j, workspace);
}

tsr_status tsr_cuda_segment_reduce(tsr_queue *queue, const tsr_segment_reduce_job *j, void *workspace)
{
    switch (j->dtype) {
    case TSR_U8: launch_reduction<uint8_t, false>(queue, j, workspace); break;
    case TSR_I8: launch_reduction<int8_t, false>(queue, j, workspace); break;
    case TSR_U16: launch_reduction<uint16_t, false>(queue, j, workspace); break;
    case TSR_I16: launch_reduction<int16_t, false>(queue, j, workspace); break;
    case TSR_U32: launch_reduction<uint32_t, false>(queue, j, workspace); break;
    case TSR_I32: launch_reduction<int32_t, false>(queue, j, workspace); break;
    case TSR_U64: launch_reduction<uint64_t, false>(queue, j, workspace); break;
    case TSR_I64: launch_reduction<int64_t, false>(queue, j, workspace); break;
    case TSR_F32: launch_reduction<float, true>(queue, j, workspace); break;
    default: launch_reduction<double, true>(queue, j, workspace); break;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- scan ----------------------------------------------------------------------------------------------------------------------- */

enum { SCAN_THREADS = 256, SCAN_WARPS = SCAN_THREADS / 32, SCAN_ROW = SCAN_THREADS * 4, SCAN_LEAST = 4 * SCAN_ROW, SCAN_BLOCKS = 4, SCAN_CHUNKS = 8 };

TSR_KERNEL(mark_heads)(const void *offsets, int32_t wide, int64_t entries, int64_t count, uint32_t *bits)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; s < entries; s += step) {
        const uint64_t at = tsr_index_load(offsets, wide, s);
        if (at < (uint64_t)count) atomicOr(&bits[at / 32], 1u << (at % 32));
    }
}

/* Where segments begin: a byte or a bit per element. */
struct heads_of {
    const uint8_t *flags; /* NULL: bits */
    const uint32_t *bits;
    int32_t aligned; /* flags by words of four */
};
/* Bit e: element at + e has a head; at is a multiple of 4. */
TSR_DEVICE_FN uint32_t four_heads(const heads_of &h, int64_t at, int64_t count)
{
    if (at >= count) return 0;
    if (!h.flags) return h.bits[at / 32] >> (at % 32) & 15u;
    if (h.aligned && at + 4 <= count) return tsr_nonzero_bytes(*(const uint32_t *)(const void *)(h.flags + at));
    uint32_t heads = 0;
    for (int e = 0; e < 4; e++)
        if (at + e < count && h.flags[at + e]) heads |= 1u << e;
    return heads;
}

/* Sum of the warp's values from the last lane with a head (bit of `closed`), if there is one up to the own, to the own. */
template <class S> TSR_DEVICE_FN S warp_segment_inclusive(S v, uint32_t closed, uint32_t lane)
{
    const uint32_t up_to = closed & (0xffffffffu >> (31u - lane));
    const uint32_t start = up_to ? 31u - (uint32_t)__clz((int)up_to) : 0u;
    for (uint32_t step = 1; step < 32; step *= 2) {
        const S other = __shfl_up_sync(TSR_WARP_ALL, v, step);
        if (lane >= start + step) v += other;
    }
    return v;
}

template <class T, class S, int CHUNKS>
TSR_KERNEL(__launch_bounds__(SCAN_THREADS, sizeof(S) == 4 ? SCAN_BLOCKS : 1) scan_segments)
(const T *TSR_RESTRICT data, int64_t count, int inclusive, heads_of from, S *TSR_RESTRICT sums, uint64_t *workspace)
{
    TSR_SHARED(S, warp_sum, SCAN_WARPS * CHUNKS);           /* behind the last head of a warp's row; then: before the row */
    TSR_SHARED(uint32_t, warp_closed, SCAN_WARPS * CHUNKS); /* it has a head; then: some row before has one */
    TSR_SHARED(S, tile_before, 1);
    TSR_SHARED(uint32_t, ticket, 1);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    const int64_t tile = tsr_take_ticket(workspace, ticket);
    const int64_t first = tile * (SCAN_ROW * CHUNKS) + threadIdx.x * 4;
    const bool whole = (tile + 1) * (SCAN_ROW * CHUNKS) <= count;
    const bool wide_in = whole && tsr_pack_aligned<T, 4>(data), wide_out = whole && tsr_pack_aligned<S, 4>(sums);
    tsr_pack<T, 4> in[CHUNKS];
    S before[CHUNKS];
    uint32_t heads = 0, open = 0; /* 4 bits a row; bit c: no head in the lanes before, in row c */
    if (wide_in) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) in[c] = *(const tsr_pack<T, 4> *)(const void *)(data + first + c * SCAN_ROW);
    } else {
        for (int c = 0; c < CHUNKS; c++)
            for (int e = 0; e < 4; e++) in[c].v[e] = first + c * SCAN_ROW + e < count ? data[first + c * SCAN_ROW + e] : (T)0;
    }
    if (whole && (!from.flags || from.aligned)) { /* loads that go out together */
        const uint32_t *words = from.flags ? (const uint32_t *)(const void *)(from.flags + first) : from.bits + first / 32;
        const uint32_t step = from.flags ? SCAN_ROW / 4 : SCAN_ROW / 32, shift = (uint32_t)(first % 32);
        uint32_t word[CHUNKS];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) word[c] = words[c * step];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) heads |= (from.flags ? tsr_nonzero_bytes(word[c]) : word[c] >> shift & 15u) << 4 * c;
    } else {
        for (int c = 0; c < CHUNKS; c++) heads |= four_heads(from, first + c * SCAN_ROW, count) << 4 * c;
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        S own = 0; /* behind the last head */
#pragma unroll
        for (int e = 0; e < 4; e++) own = (heads >> (4 * c + e) & 1u ? (S)0 : own) + (S)in[c].v[e];
        const uint32_t closed = __ballot_sync(TSR_WARP_ALL, (heads >> 4 * c & 15u) != 0);
        const S up_to = warp_segment_inclusive<S>(own, closed, lane), left = __shfl_up_sync(TSR_WARP_ALL, up_to, 1);
        before[c] = lane ? left : (S)0;
        if (!(closed & ((1u << lane) - 1u))) open |= 1u << c;
        if (lane == 31) {
            warp_sum[c * SCAN_WARPS + warp] = up_to;
            warp_closed[c * SCAN_WARPS + warp] = closed != 0;
        }
    }
    __syncthreads();
    if (warp == 0) {
        S sum = 0;
        uint32_t any = 0;
        for (int k = 0; k < SCAN_WARPS * CHUNKS; k += 32) {
            const S own = warp_sum[k + lane];
            const uint32_t closed = __ballot_sync(TSR_WARP_ALL, warp_closed[k + lane] != 0), up_to = closed & ((1u << lane) - 1u);
            const S total = warp_segment_inclusive<S>(own, closed, lane), left = __shfl_up_sync(TSR_WARP_ALL, total, 1);
            warp_sum[k + lane] = (lane ? left : (S)0) + (up_to ? (S)0 : sum);
            warp_closed[k + lane] = any || up_to;
            const S last = __shfl_sync(TSR_WARP_ALL, total, 31);
            sum = closed ? last : sum + last;
            any |= closed;
        }
        const S back = tsr_look_back<S>(workspace + TSR_STATUS_HEADER, tile, sum, lane, any != 0);
        if (lane == 0) tile_before[0] = back;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const int64_t at = first + c * SCAN_ROW;
        const int row = c * SCAN_WARPS + (int)warp;
        S sum = before[c];
        if (open >> c & 1u) sum += warp_sum[row] + (warp_closed[row] ? (S)0 : tile_before[0]);
        tsr_pack<S, 4> out;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const S start = heads >> (4 * c + e) & 1u ? (S)0 : sum;
            sum = start + (S)in[c].v[e];
            out.v[e] = inclusive ? sum : start;
        }
        if (wide_out) *(tsr_pack<S, 4> *)(void *)(sums + at) = out;
        else
            for (int e = 0; e < 4; e++)
                if (at + e < count) sums[at + e] = out.v[e];
    }
}

static int64_t scan_words(int64_t count) { return TSR_STATUS_HEADER + 2 * ((count + SCAN_LEAST - 1) / SCAN_LEAST); }
static int64_t bit_words(int64_t count) { return (count + 63) / 64; }
size_t tsr_cuda_segment_scan_bytes(int64_t count) { return (size_t)(scan_words(count) + bit_words(count)) * sizeof(uint64_t); }

template <class T, class S, int CHUNKS> static void launch_scan(tsr_queue *queue, const tsr_segment_scan_job *j, void *workspace)
{
    const int64_t elements = SCAN_ROW * CHUNKS, tiles = (j->count + elements - 1) / elements, words = scan_words(j->count);
    uint32_t *bits = (uint32_t *)(void *)((uint64_t *)workspace + words);
    const heads_of heads = { j->flags, bits, (uintptr_t)j->flags % 4 == 0 };
    void (*kernel)(const T *, int64_t, int, heads_of, S *, uint64_t *) = scan_segments<T, S, CHUNKS>;
    tsr_launch_clear(queue, workspace, j->flags ? TSR_STATUS_HEADER + tiles * (int64_t)(sizeof(S) / 4) : words + bit_words(j->count));
    if (!j->flags)
        TSR_LAUNCH(queue, mark_heads, tsr_blocks(j->segments + 1, 256, 16 * tsr_queue_processors(queue)), 256, 0, j->offsets, j->wide,
                   j->segments + 1, j->count, bits);
    TSR_LAUNCH(queue, kernel, (uint32_t)tiles, SCAN_THREADS, 0, (const T *)j->data, j->count, j->inclusive, heads, (S *)j->sums,
               (uint64_t *)workspace);
}

tsr_status tsr_cuda_segment_scan(tsr_queue *queue, const tsr_segment_scan_job *j, void *workspace)
{
    const bool wide = j->sum_type == TSR_U64;
    if (j->data_type == TSR_U8 && !wide) launch_scan<uint8_t, uint32_t, SCAN_CHUNKS>(queue, j, workspace);
    else if (j->data_type == TSR_U8) launch_scan<uint8_t, uint64_t, 4>(queue, j, workspace);
    else if (j->data_type == TSR_U32 && !wide) launch_scan<uint32_t, uint32_t, SCAN_CHUNKS>(queue, j, workspace);
    else if (j->data_type == TSR_U32) launch_scan<uint32_t, uint64_t, 4>(queue, j, workspace);
    else launch_scan<uint64_t, uint64_t, 4>(queue, j, workspace);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(fill_rest)(void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; s <= capacity; s += step)
        if ((uint64_t)s >= *found) tsr_bits_store(offsets, wide ? 8 : 4, s, (uint64_t)count);
}
tsr_status tsr_cuda_segment_rest(tsr_queue *queue, void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count)
{
    TSR_LAUNCH(queue, fill_rest, tsr_blocks(capacity + 1, 256, 16 * tsr_queue_processors(queue)), 256, 0, offsets, wide, capacity, found, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
