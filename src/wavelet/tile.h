/* wavelet/tile.h: several levels of small planes in one launch, included by wavelet_cuda.cu. Launches, and the latency of a pass over memory for each
 * level, would take longer than the work.
 *
 * A block owns a tile of samples and computes what it owns of every level, and around it what its further levels (forward) or finer ones (inverse) reach:
 * so no block waits for another. The samples of a level stay in shared memory between its two axes and until the next level. Along an axis a thread takes
 * a chunk of samples and those that the steps reach around it into registers. Spec wavelet.md 2.11 (late levels). */
#ifndef TSR_WAVELET_TILE_H
#define TSR_WAVELET_TILE_H

enum { TILE = 64, TILE_THREADS = 256, TILE_LEVELS = 3, CHUNK = 8, TILE_SHORTEST = 16 };

typedef struct tile_array {
    void *data;
    int64_t stride[2], batch;
} tile_array;

typedef struct tile_pass {
    tsr_lift_filter filter;
    int32_t levels, boundary, raise, lower, scaled, tiles;
    int32_t size[TILE_LEVELS][2];
    tile_array whole, band[TILE_LEVELS][4]; /* low band: of the last level only */
    double load_scale[4], store_scale[4];
    uint32_t *lost;
} tile_pass;

/* What of an axis is in work at a level: samples [from, to), of which the tile owns [begin, end); of n. `from` is a multiple of the chunk. */
typedef struct tile_span {
    int32_t from, to, begin, end, n;
} tile_span;

TSR_HD tile_span tile_around(int32_t begin, int32_t end, int32_t around, int32_t n)
{
    tile_span s = { begin - around, tsr_mini(end + around, n), begin, tsr_mini(end, n), n };
    s.from = tsr_maxi(s.from, 0) / CHUNK * CHUNK;
    return s;
}

/* Forward: what the further levels ask for. PAD: what the steps reach together. */
template <int PAD> TSR_HD tile_span tile_forward(const tile_pass &p, int32_t level, int32_t axis, int32_t tile)
{
    int32_t around = PAD;
    for (int32_t k = p.levels - 1; k > level; k--) around = 2 * around + PAD;
    return tile_around(tile * TILE >> level, (tile + 1) * TILE >> level, around, p.size[level][axis]);
}

/* Inverse: what the finer levels ask for. `wanted`: samples [from, to) of the level that they do. */
template <int PAD> TSR_HD tile_span tile_inverse(const tile_pass &p, int32_t level, int32_t axis, int32_t tile, tile_span *wanted)
{
    tile_span s = { 0, 0, 0, 0, 0 };
    wanted->from = tile * TILE;
    wanted->to = tsr_mini((tile + 1) * TILE, p.size[0][axis]);
    for (int32_t k = 0; k <= level; k++) {
        if (k) {
            wanted->from = s.from / 2;
            wanted->to = (s.to + 1) / 2;
        }
        s = tile_around(wanted->from, wanted->to, PAD, p.size[k][axis]);
    }
    s.begin = tile * TILE >> level;
    s.end = tsr_mini((tile + 1) * TILE >> level, s.n);
    return s;
}

TSR_HD int32_t tile_chunks(const tile_span &s) { return (s.to - s.from + CHUNK - 1) / CHUNK; }

template <class SHAPE, int K> TSR_HD constexpr int tile_reach() /* of the steps up to K together */
{
    if constexpr (K < 0) return 0;
    else return SHAPE::reach(K) + tile_reach<SHAPE, K - 1>();
}
template <class SHAPE> struct tile_shape {
    static constexpr int PAD = (tile_reach<SHAPE, SHAPE::STEPS - 1>() + 1) / 2 * 2, COUNT = CHUNK + 2 * PAD;
};

/* Steps K, K + 1, ... on a chunk from sample i of n, e[PAD] being sample i. */
template <tsr_dtype D, class SHAPE, int K>
TSR_DEVICE_FN void tile_lift(typename element<D>::row *e, const tsr_lift_filter &f, int32_t i, int32_t n, int32_t boundary)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    constexpr int PAD = tile_shape<SHAPE>::PAD, COUNT = tile_shape<SHAPE>::COUNT, DONE = tile_reach<SHAPE, K>(), P = SHAPE::parity(K);
    if (i < PAD || i + CHUNK + PAD > n) { /* others stand for the samples beyond the ends */
#pragma unroll
        for (int q = !P; q < COUNT; q += 2) {
            const int32_t at = i + q - PAD;
            if (at >= 0 && at < n) continue;
            const int32_t j = tsr_lift_index_near(at, n, boundary);
            R v = (R)held<D>::ABOVE;
#pragma unroll
            for (int s = !P; s < COUNT; s += 2)
                if (j >= 0 && i + s - PAD == j) v = e[s];
            e[q] = v;
        }
    }
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
        if ((q & 1) != P || q < DONE || q >= COUNT - DONE) continue;
        auto neighbour = [&](int t) -> S { return (S)e[q + SHAPE::first(K) + 2 * t]; };
        e[q] = march_lifted<D, SHAPE, K>(f.step[K], e[q], neighbour);
    }
    if constexpr (K + 1 < SHAPE::STEPS) tile_lift<D, SHAPE, K + 1>(e, f, i, n, boundary);
}

template <tsr_dtype D> TSR_DEVICE_FN typename element<D>::row tile_take(typename element<D>::memory v, int32_t raise, double scale)
{
    typedef typename element<D>::row R;
    if constexpr (D == TSR_F32 || D == TSR_F64) return v * (R)scale;
    else return (R)((uint32_t)(int32_t)v * (1u << raise) + (uint32_t)held<D>::ABOVE);
}
template <tsr_dtype D> TSR_DEVICE_FN typename element<D>::memory tile_give(typename element<D>::row v, double scale)
{
    typedef typename element<D>::row R;
    if constexpr (D == TSR_F32 || D == TSR_F64) return v * (R)scale;
    else return (typename element<D>::memory)(v - (R)held<D>::ABOVE);
}
template <tsr_dtype D> TSR_DEVICE_FN void tile_watch(typename element<D>::row v, uint32_t *bad)
{
    if constexpr (D == TSR_I16) *bad |= (uint32_t)v;
}

/* BYTES, 16 at a time or, if fewer, all at once: `memory` is aligned so. */
template <int BYTES> TSR_DEVICE_FN void tile_fetch(const void *memory, void *values)
{
    constexpr int PIECE = BYTES < 16 ? BYTES : 16;
#pragma unroll
    for (int k = 0; k < BYTES / PIECE; k++) {
        const words<uint32_t, PIECE / 4> w = ((const words<uint32_t, PIECE / 4> *)memory)[k];
        memcpy((char *)values + k * PIECE, &w, PIECE);
    }
}
template <int BYTES> TSR_DEVICE_FN void tile_put(void *memory, const void *values)
{
    constexpr int PIECE = BYTES < 16 ? BYTES : 16;
#pragma unroll
    for (int k = 0; k < BYTES / PIECE; k++) {
        words<uint32_t, PIECE / 4> w;
        memcpy(&w, (const char *)values + k * PIECE, PIECE);
        ((words<uint32_t, PIECE / 4> *)memory)[k] = w;
    }
}

/* A chunk of a row from sample i on, with what lies around it: row[k] is sample k for k in [from, to), what lies beyond is of no matter. WORDS: the row may
 * be read by the chunk. */
template <tsr_dtype D, int PAD>
TSR_DEVICE_FN void tile_load(const typename element<D>::memory *row, int32_t i, int32_t from, int32_t to, int by_words, int32_t raise,
                             typename element<D>::row *e)
{
    typedef typename element<D>::memory M;
    M v[CHUNK + 2 * PAD];
    if (by_words && i - PAD >= from && i + CHUNK + PAD <= to) {
        tile_fetch<PAD *(int)sizeof(M)>(row + i - PAD, v);
        tile_fetch<CHUNK *(int)sizeof(M)>(row + i, v + PAD);
        tile_fetch<PAD *(int)sizeof(M)>(row + i + CHUNK, v + PAD + CHUNK);
    } else {
#pragma unroll
        for (int q = 0; q < CHUNK + 2 * PAD; q++) {
            const int32_t k = i + q - PAD;
            v[q] = k >= from && k < to ? row[k] : (M)0;
        }
    }
#pragma unroll
    for (int q = 0; q < CHUNK + 2 * PAD; q++) e[q] = tile_take<D>(v[q], raise, 1.0);
}

template <class M> TSR_DEVICE_FN M *tile_at(const tile_array &a, int64_t x, int64_t y, int64_t batch)
{
    return (M *)a.data + x * a.stride[0] + y * a.stride[1] + batch * a.batch;
}
template <class M> TSR_HD int tile_by_words(const tile_array &a)
{
    const uintptr_t rest = (uintptr_t)a.data | (uintptr_t)(a.stride[1] * (int64_t)sizeof(M)) | (uintptr_t)(a.batch * (int64_t)sizeof(M));
    return a.stride[0] == 1 && rest % 16 == 0;
}

/* Elements of shared memory: rows of a level between its axes, and the low band between levels. Both are of whole chunks. */
template <int PAD> TSR_HD int32_t tile_width(int32_t levels, int inverse)
{
    int32_t around = PAD;
    for (int32_t k = levels - 1; k > 0; k--) around = inverse ? around : 2 * around + PAD;
    return TILE + 2 * ((around + CHUNK - 1) / CHUNK * CHUNK);
}

/* ---- forward ------------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype D, class SHAPE> TSR_KERNEL(__launch_bounds__(TILE_THREADS) tile_forward_kernel)(tile_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int PAD = tile_shape<SHAPE>::PAD, COUNT = tile_shape<SHAPE>::COUNT;
    TSR_SHARED_DYNAMIC(M, rows);
    const int32_t width = tile_width<PAD>(p.levels, 0), low_width = width / 2 + CHUNK, tile_x = (int32_t)blockIdx.x % p.tiles,
                  tile_y = (int32_t)blockIdx.x / p.tiles, batch = (int32_t)blockIdx.y;
    M *low = rows + width * width;
    uint32_t bad = 0;
    for (int32_t level = 0; level < p.levels; level++) {
        const tile_span x = tile_forward<PAD>(p, level, 0, tile_x), y = tile_forward<PAD>(p, level, 1, tile_y);
        const int last = level == p.levels - 1, words = level || tile_by_words<M>(p.whole);
        const int32_t chunks = tile_chunks(x);
        if (x.begin >= x.n || y.begin >= y.n) break; /* all threads of the block; further levels are empty, too */
        for (int32_t task = (int32_t)threadIdx.x; task < chunks * (y.to - y.from); task += TILE_THREADS) {
            const int32_t i = x.from + task % chunks * CHUNK, j = y.from + task / chunks;
            R e[COUNT];
            if (level || p.whole.stride[0] == 1)
                tile_load<D, PAD>(level ? low + (j - y.from) * low_width - x.from : tile_at<M>(p.whole, 0, j, batch), i, level ? x.from : 0,
                                  level ? x.to : x.n, words, p.raise, e);
            else
                for (int q = 0; q < COUNT; q++) {
                    const int32_t k = i + q - PAD;
                    e[q] = tile_take<D>(k >= 0 && k < x.n ? *tile_at<M>(p.whole, k, j, batch) : (M)0, p.raise, 1.0);
                }
            const int own = i >= x.begin && i < x.end && j >= y.begin && j < y.end;
#pragma unroll
            for (int q = PAD; q < PAD + CHUNK; q++)
                if (own && i + q - PAD < x.n) tile_watch<D>(e[q], &bad);
            tile_lift<D, SHAPE, 0>(e, p.filter, i, x.n, p.boundary);
            M v[CHUNK];
#pragma unroll
            for (int q = 0; q < CHUNK; q++) {
                if (own && i + q < x.n) tile_watch<D>(e[PAD + q], &bad);
                v[q] = tile_give<D>(e[PAD + q], 1.0);
            }
            tile_put<(int)sizeof v>(rows + (j - y.from) * width + i - x.from, v);
        }
        __syncthreads();
        const tile_span next_x = last ? x : tile_forward<PAD>(p, level + 1, 0, tile_x),
                        next_y = last ? y : tile_forward<PAD>(p, level + 1, 1, tile_y);
        const int32_t pairs = (x.to - x.from + 1) / 2;
        for (int32_t task = (int32_t)threadIdx.x; task < pairs * tile_chunks(y); task += TILE_THREADS) {
            const int32_t i = x.from + task % pairs * 2, j = y.from + task / pairs * CHUNK;
            R e[2][COUNT];
#pragma unroll
            for (int q = 0; q < COUNT; q++) {
                const int32_t k = tsr_maxi(0, tsr_mini(j + q - PAD - y.from, y.to - y.from - 1));
                M v[2];
                tile_fetch<(int)sizeof v>(rows + k * width + i - x.from, v);
                e[0][q] = tile_take<D>(v[0], 0, 1.0);
                e[1][q] = tile_take<D>(v[1], 0, 1.0);
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                tile_lift<D, SHAPE, 0>(e[h], p.filter, j, y.n, p.boundary);
#pragma unroll
                for (int q = 0; q < CHUNK; q++) {
                    const int bits = h | (q & 1) << 1;
                    const int32_t half_x = i >> 1, half_y = (j + q) >> 1;
                    const int own = i + h >= x.begin && i + h < x.end && j + q >= y.begin && j + q < y.end;
                    const M v = tile_give<D>(e[h][PAD + q], p.store_scale[bits]);
                    if (own) tile_watch<D>(e[h][PAD + q], &bad);
                    if (own && (bits || last)) *tile_at<M>(p.band[level][bits], half_x, half_y, batch) = v;
                    if (!bits && !last && half_x >= next_x.from && half_x < next_x.to && half_y >= next_y.from && half_y < next_y.to)
                        low[(half_y - next_y.from) * low_width + half_x - next_x.from] = v;
                }
            }
        }
        __syncthreads();
    }
    if (D == TSR_I16 && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* ---- inverse ------------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype D, class SHAPE> TSR_KERNEL(__launch_bounds__(TILE_THREADS) tile_inverse_kernel)(tile_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int PAD = tile_shape<SHAPE>::PAD, COUNT = tile_shape<SHAPE>::COUNT;
    TSR_SHARED_DYNAMIC(M, rows);
    const int32_t width = tile_width<PAD>(p.levels, 1), low_width = width, tile_x = (int32_t)blockIdx.x % p.tiles,
                  tile_y = (int32_t)blockIdx.x / p.tiles, batch = (int32_t)blockIdx.y;
    const int words = tile_by_words<M>(p.whole);
    M *low = rows + width * width;
    uint32_t bad = 0;
    for (int32_t level = p.levels - 1; level >= 0; level--) {
        tile_span want_x, want_y, low_x, low_y;
        const tile_span x = tile_inverse<PAD>(p, level, 0, tile_x, &want_x), y = tile_inverse<PAD>(p, level, 1, tile_y, &want_y);
        const int first = level == p.levels - 1;
        const int32_t pairs = (x.to - x.from + 1) / 2, chunks = tile_chunks(x);
        low_x.from = x.from / 2;
        low_y.from = y.from / 2;
        for (int32_t task = (int32_t)threadIdx.x; task < pairs * tile_chunks(y); task += TILE_THREADS) {
            const int32_t i = x.from + task % pairs * 2, j = y.from + task / pairs * CHUNK;
            R e[2][COUNT];
#pragma unroll
            for (int q = 0; q < COUNT; q++) {
                const int32_t k = j + q - PAD;
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int bits = h | (q & 1) << 1;
                    M v = (M)0;
                    if (k >= y.from && k < y.to && i + h < x.n)
                        v = bits || first ? *tile_at<M>(p.band[level][bits], i >> 1, k >> 1, batch)
                                          : low[((k >> 1) - low_y.from) * low_width + (i >> 1) - low_x.from];
                    e[h][q] = tile_take<D>(v, 0, p.load_scale[bits]);
                }
            }
            tile_lift<D, SHAPE, 0>(e[0], p.filter, j, y.n, p.boundary);
            tile_lift<D, SHAPE, 0>(e[1], p.filter, j, y.n, p.boundary);
#pragma unroll
            for (int q = 0; q < CHUNK; q++) {
                if (j + q >= y.to) continue;
                const int own = j + q >= y.begin && j + q < y.end;
                if (own && i >= x.begin && i < x.end) tile_watch<D>(e[0][PAD + q], &bad);
                if (own && i + 1 >= x.begin && i + 1 < x.end) tile_watch<D>(e[1][PAD + q], &bad);
                const M v[2] = { tile_give<D>(e[0][PAD + q], 1.0), tile_give<D>(e[1][PAD + q], 1.0) };
                tile_put<(int)sizeof v>(rows + (j + q - y.from) * width + i - x.from, v);
            }
        }
        __syncthreads();
        for (int32_t task = (int32_t)threadIdx.x; task < chunks * (want_y.to - want_y.from); task += TILE_THREADS) {
            const int32_t i = x.from + task % chunks * CHUNK, j = want_y.from + task / chunks;
            if (i + CHUNK <= want_x.from || i >= want_x.to) continue;
            R e[COUNT];
            M v[CHUNK];
            tile_load<D, PAD>(rows + (j - y.from) * width - x.from, i, x.from, x.to, 1, 0, e);
            tile_lift<D, SHAPE, 0>(e, p.filter, i, x.n, p.boundary);
#pragma unroll
            for (int q = 0; q < CHUNK; q++) {
                R r = e[PAD + q];
                uint32_t leaves = 0;
                if constexpr (D == TSR_I16) {
                    r = (R)TSR_LIFT_LOWER(r + held<D>::ABOVE * ((1 << p.lower) - 1), p.lower);
                    leaves = (uint32_t)r;
                }
                if (j >= y.begin && j < y.end && i + q >= x.begin && i + q < x.end) bad |= leaves;
                v[q] = tile_give<D>(r, 1.0);
            }
            if (level) {
#pragma unroll
                for (int q = 0; q < CHUNK; q++)
                    if (i + q >= want_x.from && i + q < want_x.to) low[(j - want_y.from) * low_width + i + q - want_x.from] = v[q];
            } else if (words && i + CHUNK <= x.n) {
                tile_put<(int)sizeof v>(tile_at<M>(p.whole, i, j, batch), v);
            } else {
#pragma unroll
                for (int q = 0; q < CHUNK; q++)
                    if (i + q < x.n) *tile_at<M>(p.whole, i + q, j, batch) = v[q];
            }
        }
        __syncthreads();
    }
    if (D == TSR_I16 && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* ---- from the host ------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype D, class SHAPE, int INVERSE> static tsr_status launch_tiles(tsr_queue *queue, tile_pass &p, int64_t batch)
{
    typedef typename element<D>::memory M;
    constexpr int PAD = tile_shape<SHAPE>::PAD;
    const int32_t width = tile_width<PAD>(p.levels, INVERSE);
    const size_t shared = (size_t)(width * width + (INVERSE ? width * width : (width / 2 + CHUNK) * (width / 2 + CHUNK))) * sizeof(M);
    p.tiles = (p.size[0][0] + TILE - 1) / TILE;
    if (D == TSR_I16) march_signs<D, SHAPE>(&p.filter);
    const dim3 grid((uint32_t)(p.tiles * ((p.size[0][1] + TILE - 1) / TILE)), (uint32_t)batch);
    if constexpr (INVERSE) {
        TSR_LAUNCH_ALLOW_SHARED(queue, (tile_inverse_kernel<D, SHAPE>), shared);
        TSR_LAUNCH(queue, (tile_inverse_kernel<D, SHAPE>), grid, TILE_THREADS, shared, p);
    } else {
        TSR_LAUNCH_ALLOW_SHARED(queue, (tile_forward_kernel<D, SHAPE>), shared);
        TSR_LAUNCH(queue, (tile_forward_kernel<D, SHAPE>), grid, TILE_THREADS, shared, p);
    }
    return TSR_OK;
}

/* Runs the shape of the filter; *known = 0 where there is none. Only looks it up where p is NULL. */
template <tsr_dtype D, int INVERSE> static tsr_status tile_shapes(tsr_queue *queue, const tsr_lift_filter *f, tile_pass *p, int64_t batch, int *known)
{
    *known = 1;
#define TRY_TILES(NAME)                                                                                        \
    if (INVERSE ? fits_shape<NAME##_inverse>(f, D == TSR_I16) : fits_shape<NAME##_forward>(f, D == TSR_I16)) { \
        if (!p) return TSR_OK;                                                                                 \
        if constexpr (INVERSE) return launch_tiles<D, NAME##_inverse, 1>(queue, *p, batch);                    \
        else return launch_tiles<D, NAME##_forward, 0>(queue, *p, batch);                                      \
    }
    TRY_TILES(haar)
    TRY_TILES(two)
    TRY_TILES(four)
    TRY_TILES(wide)
#undef TRY_TILES
    *known = 0;
    return TSR_OK;
}

static tile_array tile_array_of(const tsr_wavelet_array *a)
{
    const tile_array t = { a->data, { a->stride[0], a->stride[1] }, a->stride[TSR_WAVELET_AXES] };
    return t;
}

/* The first of the levels from which on they all go in one launch; job->levels: none does. */
static int32_t tiles_from(const tsr_wavelet_job *job)
{
    const int64_t most = 3 << 20; /* samples: more keep the GPU busy one level at a time, which reads nothing twice */
    int32_t from = job->levels;
    int known = 0;
    for (int32_t n = job->levels - 1; n >= 0 && n >= job->levels - TILE_LEVELS; n--) {
        const tsr_wavelet_level *l = &job->level[n];
        const int64_t samples = l->size[0] * l->size[1] * l->size[TSR_WAVELET_AXES];
        if (l->axes != 3 || l->inplace || l->size[2] * l->size[3] != 1 || l->boundary == TSR_WAVELET_PERIODIC) break;
        if (l->size[0] < TILE_SHORTEST || l->size[1] < TILE_SHORTEST || samples > most || l->size[TSR_WAVELET_AXES] > 65535) break;
        if (l->dtype == TSR_I16) tile_shapes<TSR_I16, 0>(NULL, job->forward, NULL, 0, &known);
        if (l->dtype == TSR_F32) tile_shapes<TSR_F32, 0>(NULL, job->forward, NULL, 0, &known);
        if (!known) break;
        from = n;
    }
    return from < job->levels - 1 ? from : job->levels;
}

static tsr_status run_tiles(tsr_queue *queue, const tsr_wavelet_job *job, int32_t from, int inverse)
{
    const tsr_wavelet_level *first = &job->level[from];
    tile_pass p = {};
    int known;
    p.filter = inverse ? *job->inverse : *job->forward;
    p.levels = job->levels - from;
    p.boundary = (int32_t)first->boundary;
    p.raise = inverse ? 0 : first->shift;
    p.lower = inverse ? first->shift : 0;
    p.whole = tile_array_of(&first->whole);
    p.lost = job->lost;
    for (int bits = 0; bits < 4; bits++) {
        p.load_scale[bits] = first->scaled && inverse ? 1.0 / first->scale[bits] : 1.0;
        p.store_scale[bits] = first->scaled ? first->scale[bits] : 1.0;
    }
    for (int32_t n = 0; n < p.levels; n++) {
        for (int a = 0; a < 2; a++) p.size[n][a] = (int32_t)first[n].size[a];
        for (int bits = 0; bits < 4; bits++) p.band[n][bits] = tile_array_of(&first[n].band[bits]);
    }
    const int64_t batch = first->size[TSR_WAVELET_AXES];
    if (first->dtype == TSR_I16)
        return inverse ? tile_shapes<TSR_I16, 1>(queue, &p.filter, &p, batch, &known) : tile_shapes<TSR_I16, 0>(queue, &p.filter, &p, batch, &known);
    return inverse ? tile_shapes<TSR_F32, 1>(queue, &p.filter, &p, batch, &known) : tile_shapes<TSR_F32, 0>(queue, &p.filter, &p, batch, &known);
}

#endif
