/* wavelet/cube.h: a level of a volume on the GPU in one pass over memory, x, y and z together, included by wavelet_cuda.cu.
 *
 * A block owns a column of samples, a tile of x and y, and marches along z two slices at a time; a warp owns some rows of the tile, a lane a few samples of
 * each. Forward: the samples of a slice come in, are lifted along x in each lane, along y in the lane's rows, and enter the window of slices that the
 * steps along z work on, which stays in registers as in march.h. What neighbours along x hold comes by shuffles, for the warp's ends from memory; the
 * rows of other warps come through shared memory, a barrier a step. The inverse goes the other way round, and its tiles overlap by a lane at both
 * ends as well. Tiles overlap along y by what the steps reach. docs/theory/wavelets.md (K3). */
#ifndef TSR_WAVELET_CUBE_H
#define TSR_WAVELET_CUBE_H

/* How the work is cut: samples and rows of a lane, warps of a block, blocks of a multiprocessor that registers leave room for. */
template <int SAMPLES_, int ROWS_, int WARPS_, int BLOCKS_> struct cube_cut {
    static constexpr int SAMPLES = SAMPLES_, ROWS = ROWS_, GROUPS = WARPS_, BLOCKS = BLOCKS_;
    static constexpr int WIDTH = WARP * SAMPLES, HEIGHT = ROWS * GROUPS; /* of the tile */
};
template <class SHAPE, int K> TSR_HD constexpr int cube_reach() /* of the steps up to K together */
{
    if constexpr (K < 0) return 0;
    else return SHAPE::reach(K) + cube_reach<SHAPE, K - 1>();
}
template <class SHAPE> struct cube_shape {
    static constexpr int PAD = SHAPE::PAIRS ? 0 : (cube_reach<SHAPE, SHAPE::STEPS - 1>() + 1) / 2 * 2; /* what the steps reach together, even */
};

/* The window of slices: they move from place to place. */
struct cube_window {
    TSR_HD constexpr int at(int slot, int place) { return (void)slot, place; }
};

template <int SLOTS, int V, class R> TSR_DEVICE_FN void cube_window_on(R (*window)[V])
{
#pragma unroll
    for (int q = 0; q + 2 < SLOTS; q++) {
#pragma unroll
        for (int k = 0; k < V; k++) window[q][k] = window[q + 2][k];
    }
}

typedef struct cube_array {
    void *data;
    int32_t row; /* strides, elements */
    int64_t slice, batch;
} cube_array;

typedef struct cube_pass {
    tsr_lift_filter filter;
    int32_t size[3];
    int32_t boundary, raise, lower, scaled;
    int32_t strips, tiles, segment;
    cube_array whole, band[8];
    double load_scale[8], store_scale[8];
    uint32_t *lost;
} cube_pass;

/* A lane's place. */
typedef struct cube_lane {
    int32_t lane, group, x, y, top; /* its first sample and row; the first row of the tile */
    int32_t first, last;            /* do the samples begin, end where the rows of the volume do? */
    int32_t edge;                   /* do steps along y look beyond the ends from here? */
} cube_lane;

/* ---- along x ---------------------------------------------------------------------------------------------------------------------------------- */

/* Steps K, K + 1, ... on a lane's samples, e[PAD] the first, and on as many of those around it as further steps ask for. */
template <tsr_dtype D, class SHAPE, int V, int K> TSR_DEVICE_FN void cube_lift_x(typename element<D>::row *e, const cube_pass &p, const cube_lane &l)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    constexpr int PAD = cube_shape<SHAPE>::PAD, COUNT = V + 2 * PAD, DONE = SHAPE::PAIRS ? 0 : cube_reach<SHAPE, K>(), P = SHAPE::parity(K);
    constexpr int REACH = SHAPE::reach(K);
    static_assert(SHAPE::PAIRS || (REACH < V && PAD <= V && V % 2 == 0), "a lane's samples stand for those beyond the ends");
    if constexpr (!SHAPE::PAIRS) {
        const int clamp = p.boundary == TSR_WAVELET_CLAMP, zero = p.boundary == TSR_WAVELET_ZERO;
#pragma unroll
        for (int away = 1; away <= REACH; away++) { /* before the first sample, which is even, and behind the last one, which is odd */
            if ((away ^ P) & 1) {
                const R v = zero ? (R)held<D>::ABOVE : clamp ? e[PAD + (away & 1)] : e[PAD + away];
                if (l.first) e[PAD - away] = v;
            } else {
                const R v = zero ? (R)held<D>::ABOVE : clamp ? e[PAD + V - 1 - (away & 1)] : e[PAD + V - 1 - away];
                if (l.last) e[PAD + V - 1 + away] = v;
            }
        }
    }
#pragma unroll
    for (int q = DONE; q < COUNT - DONE; q++) {
        if (((q - PAD) & 1) != P) continue;
        auto neighbour = [&](int t) -> S { return (S)e[q + SHAPE::first(K) + 2 * t]; };
        e[q] = march_lifted<D, SHAPE, K>(p.filter.step[K], e[q], neighbour);
    }
    if constexpr (K + 1 < SHAPE::STEPS) cube_lift_x<D, SHAPE, V, K + 1>(e, p, l);
}

/* ---- along y ---------------------------------------------------------------------------------------------------------------------------------- */

/* Steps K, K + 1, ... on the lane's rows of two slices, rows[r][AT + h] being row r of slice h. `shared`: room for every other row of two slices, twice. */
template <tsr_dtype D, class SHAPE, class CUT, int SLOTS, int AT, int K>
TSR_DEVICE_FN void cube_lift_y(typename element<D>::row (*rows)[SLOTS][CUT::SAMPLES], const cube_pass &p, const cube_lane &l,
                               typename element<D>::row *shared)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    constexpr int P = SHAPE::parity(K), FIRST = SHAPE::first(K), TAPS = SHAPE::taps(K), V = CUT::SAMPLES, N = CUT::ROWS, HALF = CUT::HEIGHT / 2;
    R *own = shared + (K & 1) * 2 * HALF * CUT::WIDTH + l.lane * V;
    if constexpr (!SHAPE::PAIRS) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int r = 1 - P; r < N; r += 2) store_words<R, V>(own + (h * HALF + (l.group * N + r) / 2) * CUT::WIDTH, rows[r][AT + h]);
        }
        __syncthreads(); /* the next step writes elsewhere */
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int r = P; r < N; r += 2) {
            R v[TAPS][V];
#pragma unroll
            for (int t = 0; t < TAPS; t++) {
                const int off = r + FIRST + 2 * t;
                if (off >= 0 && off < N) {
#pragma unroll
                    for (int k = 0; k < V; k++) v[t][k] = rows[off][AT + h][k];
                } else {
                    const int32_t at = tsr_maxi(0, tsr_mini(l.group * N + off, CUT::HEIGHT - 1)) / 2;
                    load_words<R, V>(own + (h * HALF + at) * CUT::WIDTH, v[t]);
                }
                if (SHAPE::PAIRS || !l.edge) continue;
                const int32_t y = l.y + off; /* others stand for the rows beyond the ends */
                if ((y >= 0 && y < p.size[1]) || l.y + r < 0 || l.y + r >= p.size[1]) continue;
                const int32_t j = tsr_lift_index_near(y, p.size[1], p.boundary), at = tsr_maxi(0, tsr_mini(j - l.top, CUT::HEIGHT - 1)) / 2;
                load_words<R, V>(own + (h * HALF + at) * CUT::WIDTH, v[t]);
#pragma unroll
                for (int k = 0; k < V; k++) v[t][k] = j < 0 ? (R)held<D>::ABOVE : v[t][k];
            }
#pragma unroll
            for (int k = 0; k < V; k++) {
                auto neighbour = [&](int t) -> S { return (S)v[t][k]; };
                rows[r][AT + h][k] = march_lifted<D, SHAPE, K>(p.filter.step[K], rows[r][AT + h][k], neighbour);
            }
        }
    }
    if constexpr (K + 1 < SHAPE::STEPS) cube_lift_y<D, SHAPE, CUT, SLOTS, AT, K + 1>(rows, p, l, shared);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------ */

template <tsr_dtype D, int COUNT>
TSR_DEVICE_FN typename element<D>::row cube_take(const run<typename element<D>::memory, COUNT> &from, int k, int32_t factor)
{
    typedef typename element<D>::row R;
    if constexpr (D == TSR_I16) return __dp2a_lo((int)from.v[k / 2], factor << (k & 1) * 8, held<D>::ABOVE);
    else return (R)run_at(from, k);
}

/* Every other of 2 * COUNT samples, or COUNT of them side by side, as they lie in memory. */
template <tsr_dtype D, int COUNT, int STEP>
TSR_DEVICE_FN run<typename element<D>::memory, COUNT> cube_give(const typename element<D>::row *x, typename element<D>::row scale, int scaled)
{
    run<typename element<D>::memory, COUNT> r;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        if constexpr (D != TSR_I16) r.v[k] = scaled ? x[k * STEP] * scale : x[k * STEP];
        else if (k & 1) r.v[k / 2] = (((uint32_t)x[(k - 1) * STEP] & 0xffffu) | (uint32_t)x[k * STEP] << 16) ^ 0x80008000u;
    }
    return r;
}

template <tsr_dtype D, int V> TSR_DEVICE_FN void cube_watch(const typename element<D>::row *x, uint32_t *bad)
{
    if constexpr (D == TSR_I16) {
#pragma unroll
        for (int k = 0; k < V; k++) *bad |= (uint32_t)x[k];
    }
}

template <class SHAPE, class CUT, int INVERSE> TSR_DEVICE_FN cube_lane cube_place(const cube_pass &p)
{
    constexpr int PAD = cube_shape<SHAPE>::PAD, SIDE = INVERSE && PAD ? 1 : 0;
    cube_lane l;
    l.lane = (int32_t)threadIdx.x % WARP;
    l.group = (int32_t)threadIdx.x / WARP;
    l.x = ((int32_t)blockIdx.x % p.strips * (WARP - 2 * SIDE) + l.lane - SIDE) * CUT::SAMPLES;
    l.top = (int32_t)blockIdx.x / p.strips * (CUT::HEIGHT - 2 * PAD) - PAD;
    l.y = l.top + l.group * CUT::ROWS;
    l.first = l.x == 0;
    l.last = l.x + CUT::SAMPLES == p.size[0];
    l.edge = l.y < PAD || l.y + CUT::ROWS + PAD > p.size[1];
    return l;
}

/* Does the tile own row r of the lane? */
template <class SHAPE, class CUT> TSR_DEVICE_FN int cube_owns(const cube_pass &p, const cube_lane &l, int r)
{
    constexpr int PAD = cube_shape<SHAPE>::PAD;
    const int32_t at = l.group * CUT::ROWS + r;
    return (PAD == 0 || (at >= PAD && at < CUT::HEIGHT - PAD)) && l.y + r < p.size[1];
}

/* The finished pair of slices counted from the newest: its even one. */
template <class SHAPE> TSR_HD constexpr int cube_done() { return SHAPE::row(SHAPE::STEPS - 1) - SHAPE::parity(SHAPE::STEPS - 1); }

/* Slices [begin, end) that the block owns, from which on it looks at them, and the last newest one. */
typedef struct cube_range {
    int32_t begin, end, from, last, calm_from, calm_to;
} cube_range;
template <class SHAPE> TSR_DEVICE_FN cube_range cube_slices(const cube_pass &p)
{
    constexpr int LAST = SHAPE::STEPS - 1;
    cube_range z;
    z.begin = (int32_t)blockIdx.y * p.segment;
    z.end = tsr_mini(z.begin + p.segment, p.size[2]);
    z.from = SHAPE::PAIRS ? z.begin : tsr_maxi(z.begin - p.filter.reach, 0);
    z.last = ((z.end - 1) & ~1) - cube_done<SHAPE>();
    z.calm_from = SHAPE::before(LAST);
    z.calm_to = p.size[2] - 1 - SHAPE::behind(LAST);
    return z;
}

/* ---- forward ----------------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype D, class SHAPE, class CUT> TSR_KERNEL(__launch_bounds__(WARP *CUT::GROUPS, CUT::BLOCKS) cube_forward_kernel)(cube_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int V = CUT::SAMPLES, N = CUT::ROWS, PAD = cube_shape<SHAPE>::PAD, SIDE = PAD ? PAD : 2, SLOTS = SHAPE::ROWS, DONE = cube_done<SHAPE>();
    TSR_SHARED(R, shared, PAD ? 2 * CUT::HEIGHT * CUT::WIDTH : 1);
    const cube_lane l = cube_place<SHAPE, CUT, 0>(p);
    const cube_range z = cube_slices<SHAPE>(p);
    const int32_t factor = 1 << p.raise, x = tsr_mini(l.x, p.size[0] - V); /* lanes beyond the row and rows beyond the slice read others */
    const int32_t before = l.lane == 0 && l.x > 0, behind = l.lane == WARP - 1 && l.x + V < p.size[0], side = before ? -PAD : V;
    const M *whole = (const M *)p.whole.data + blockIdx.z * p.whole.batch;
    int32_t at[N];
    R window[N][SLOTS][V] = {};
    run<M, V> coming[2][N];
    run<M, SIDE> beside[2][N]; /* of the warp's first and last lane: what the neighbours have */
    uint32_t bad = 0, bad_row[N] = {};
#pragma unroll
    for (int r = 0; r < N; r++) at[r] = tsr_maxi(0, tsr_mini(l.y + r, p.size[1] - 1)) * p.whole.row + x;
    auto load = [&](int32_t slice) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const M *from = whole + tsr_mini(slice + h, p.size[2] - 1) * p.whole.slice;
#pragma unroll
            for (int r = 0; r < N; r++) {
                load_words<typename run<M, V>::word, run<M, V>::WORDS>(from + at[r], coming[h][r].v);
                if (PAD && (before || behind)) load_words<typename run<M, SIDE>::word, run<M, SIDE>::WORDS>(from + at[r] + side, beside[h][r].v);
            }
        }
    };
    int32_t newest = z.from + 1;
    load(z.from);
    auto pair = [&](auto edge) {
        constexpr int EDGE = decltype(edge)::value, WORDS = run<M, SIDE>::WORDS;
#pragma unroll
        for (int r = 0; r < N; r++) {
            cube_window_on<SLOTS>(window[r]);
#pragma unroll
            for (int h = 0; h < 2; h++) {
                R e[V + 2 * PAD];
                if constexpr (PAD > 0) {
                    run<M, SIDE> low, high;
#pragma unroll
                    for (int k = 0; k < WORDS; k++) {
                        low.v[k] = __shfl_up_sync(TSR_WARP_ALL, coming[h][r].v[run<M, V>::WORDS - WORDS + k], 1);
                        high.v[k] = __shfl_down_sync(TSR_WARP_ALL, coming[h][r].v[k], 1);
                        if (before) low.v[k] = beside[h][r].v[k];
                        if (behind) high.v[k] = beside[h][r].v[k];
                    }
#pragma unroll
                    for (int k = 0; k < PAD; k++) {
                        e[k] = cube_take<D, SIDE>(low, k, factor);
                        e[PAD + V + k] = cube_take<D, SIDE>(high, k, factor);
                    }
                }
#pragma unroll
                for (int k = 0; k < V; k++) e[PAD + k] = cube_take<D, V>(coming[h][r], k, factor);
                cube_watch<D, V>(e + PAD, &bad);
                cube_lift_x<D, SHAPE, V, 0>(e, p, l);
                cube_watch<D, V>(e + PAD, &bad);
#pragma unroll
                for (int k = 0; k < V; k++) window[r][SLOTS - 2 + h][k] = e[PAD + k];
            }
        }
        load(newest + 1);
        cube_lift_y<D, SHAPE, CUT, SLOTS, SLOTS - 2, 0>(window, p, l, shared);
        const int32_t slice = newest + DONE;
#pragma unroll
        for (int r = 0; r < N; r++) {
            cube_watch<D, V>(window[r][SLOTS - 2], &bad_row[r]);
            cube_watch<D, V>(window[r][SLOTS - 1], &bad_row[r]);
            lift_window<D, V, SHAPE, EDGE, 0, 0, cube_window>(window[r], p.filter, newest, p.size[2], p.boundary);
            if (slice < z.begin) continue;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const R *finished = window[r][SLOTS - 1 + DONE + h];
                if (h && slice + 1 >= z.end) continue;
                cube_watch<D, V>(finished, &bad_row[r]);
                if (l.x >= p.size[0] || !cube_owns<SHAPE, CUT>(p, l, r)) continue;
#pragma unroll
                for (int b = 0; b < 2; b++) {
                    const int bits = b | (r & 1) << 1 | h << 2;
                    const cube_array &band = p.band[bits];
                    M *to = (M *)band.data + (int64_t)blockIdx.z * band.batch + (slice >> 1) * band.slice;
                    const run<M, V / 2> v = cube_give<D, V / 2, 2>(finished + b, (R)p.store_scale[bits], p.scaled);
                    store_words<typename run<M, V / 2>::word, run<M, V / 2>::WORDS>(to + ((l.y + r) >> 1) * band.row + (l.x >> 1), v.v);
                }
            }
        }
        newest += 2;
    };
#pragma unroll 1
    while (newest <= z.last) {
#pragma unroll 1
        while (newest >= z.calm_from && newest <= tsr_mini(z.last, z.calm_to)) pair(constant<0>());
        if (newest <= z.last) pair(constant<1>());
    }
#pragma unroll
    for (int r = 0; r < N; r++)
        if (cube_owns<SHAPE, CUT>(p, l, r)) bad |= bad_row[r];
    if (D == TSR_I16 && bad >> 16 && l.x < p.size[0] && p.lost) atomicOr(p.lost, 1u);
}

/* ---- inverse ----------------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype D, class SHAPE, class CUT> TSR_KERNEL(__launch_bounds__(WARP *CUT::GROUPS, CUT::BLOCKS) cube_inverse_kernel)(cube_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int V = CUT::SAMPLES, N = CUT::ROWS, PAD = cube_shape<SHAPE>::PAD, SLOTS = SHAPE::ROWS, DONE = cube_done<SHAPE>();
    TSR_SHARED(R, shared, PAD ? 2 * CUT::HEIGHT * CUT::WIDTH : 1);
    const cube_lane l = cube_place<SHAPE, CUT, 1>(p);
    const cube_range z = cube_slices<SHAPE>(p);
    const int32_t x = tsr_maxi(0, tsr_mini(l.x, p.size[0] - V)) >> 1;
    const int writes = l.x >= 0 && l.x < p.size[0] && (!PAD || (l.lane > 0 && l.lane < WARP - 1));
    M *whole = (M *)p.whole.data + blockIdx.z * p.whole.batch;
    R window[N][SLOTS][V] = {};
    run<M, V / 2> coming[2][N][2];
    uint32_t bad = 0;
    auto load = [&](int32_t slice) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t s = tsr_mini(slice + h, p.size[2] - (((p.size[2] - 1) & 1) == h ? 1 : 2)); /* the last one of its kind */
#pragma unroll
            for (int r = 0; r < N; r++) {
                const int32_t most = p.size[1] - (((p.size[1] - 1) & 1) == (r & 1) ? 1 : 2), y = tsr_maxi(r & 1, tsr_mini(l.y + r, most));
#pragma unroll
                for (int b = 0; b < 2; b++) {
                    const cube_array &band = p.band[b | (r & 1) << 1 | h << 2];
                    const M *from = (const M *)band.data + (int64_t)blockIdx.z * band.batch + (s >> 1) * band.slice;
                    load_words<typename run<M, V / 2>::word, run<M, V / 2>::WORDS>(from + (y >> 1) * band.row + x, coming[h][r][b].v);
                }
            }
        }
    };
    int32_t newest = z.from + 1;
    load(z.from);
    auto pair = [&](auto edge) {
        constexpr int EDGE = decltype(edge)::value;
        R rows[N][2][V];
#pragma unroll
        for (int r = 0; r < N; r++) {
            cube_window_on<SLOTS>(window[r]);
#pragma unroll
            for (int h = 0; h < 2; h++) {
#pragma unroll
                for (int k = 0; k < V; k++) {
                    R v = cube_take<D, V / 2>(coming[h][r][k & 1], k / 2, 1);
                    if (p.scaled) v *= (R)p.load_scale[(k & 1) | (r & 1) << 1 | h << 2];
                    window[r][SLOTS - 2 + h][k] = v;
                }
            }
        }
        load(newest + 1);
        const int32_t slice = newest + DONE;
#pragma unroll
        for (int r = 0; r < N; r++) {
            lift_window<D, V, SHAPE, EDGE, 0, 0, cube_window>(window[r], p.filter, newest, p.size[2], p.boundary);
#pragma unroll
            for (int h = 0; h < 2; h++) {
#pragma unroll
                for (int k = 0; k < V; k++) rows[r][h][k] = window[r][SLOTS - 1 + DONE + h][k];
            }
        }
        newest += 2;
        if (slice < z.begin) return; /* all threads of the block */
        uint32_t here = 0;
#pragma unroll
        for (int r = 0; r < N; r++) {
            if (!cube_owns<SHAPE, CUT>(p, l, r)) continue;
            cube_watch<D, V>(rows[r][0], &here);
            if (slice + 1 < z.end) cube_watch<D, V>(rows[r][1], &here);
        }
        cube_lift_y<D, SHAPE, CUT, 2, 0, 0>(rows, p, l, shared);
#pragma unroll
        for (int r = 0; r < N; r++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                uint32_t leaves = 0;
                R e[V + 2 * PAD];
#pragma unroll
                for (int k = 0; k < PAD; k++) {
                    e[k] = __shfl_up_sync(TSR_WARP_ALL, rows[r][h][V - PAD + k], 1);
                    e[PAD + V + k] = __shfl_down_sync(TSR_WARP_ALL, rows[r][h][k], 1);
                }
#pragma unroll
                for (int k = 0; k < V; k++) e[PAD + k] = rows[r][h][k];
                cube_watch<D, V>(e + PAD, &leaves);
                cube_lift_x<D, SHAPE, V, 0>(e, p, l);
                cube_watch<D, V>(e + PAD, &leaves);
                if constexpr (D == TSR_I16) {
#pragma unroll
                    for (int k = 0; k < V; k++) e[PAD + k] = (R)TSR_LIFT_LOWER(e[PAD + k] + held<D>::ABOVE * ((1 << p.lower) - 1), p.lower);
                    cube_watch<D, V>(e + PAD, &leaves);
                }
                if (!writes || !cube_owns<SHAPE, CUT>(p, l, r) || (h && slice + 1 >= z.end)) continue;
                here |= leaves;
                const run<M, V> v = cube_give<D, V, 1>(e + PAD, (R)1, 0);
                store_words<typename run<M, V>::word, run<M, V>::WORDS>(whole + (slice + h) * p.whole.slice + (l.y + r) * p.whole.row + l.x, v.v);
            }
        }
        if (writes) bad |= here;
    };
#pragma unroll 1
    while (newest <= z.last) {
#pragma unroll 1
        while (newest >= z.calm_from && newest <= tsr_mini(z.last, z.calm_to)) pair(constant<0>());
        if (newest <= z.last) pair(constant<1>());
    }
    if (D == TSR_I16 && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* ---- from the host ------------------------------------------------------------------------------------------------------------------------- */

typedef cube_cut<4, 2, 16, 1> cube_best; /* measured on an H200: windows of more samples, or less room for registers, go through local memory */

template <tsr_dtype D, class SHAPE, class CUT, int INVERSE> static tsr_status launch_cube_as(tsr_queue *queue, cube_pass &p, int64_t batch)
{
    constexpr int PAD = cube_shape<SHAPE>::PAD, WIDTH = (WARP - (INVERSE && PAD ? 2 : 0)) * CUT::SAMPLES, HEIGHT = CUT::HEIGHT - 2 * PAD;
    const int32_t halo = SHAPE::PAIRS ? 0 : 2 * p.filter.reach;
    int64_t best = INT64_MAX;
    p.strips = (p.size[0] + WIDTH - 1) / WIDTH;
    p.tiles = (p.size[1] + HEIGHT - 1) / HEIGHT;
    const int64_t columns = (int64_t)p.strips * p.tiles, slots = (int64_t)tsr_queue_processors(queue) * CUT::BLOCKS;
    for (int32_t parts = 1; parts <= (p.size[2] + 7) / 8; parts++) { /* slices that a multiprocessor's room sees one after the other: the fewest */
        const int32_t segment = ((p.size[2] + parts - 1) / parts + 1) / 2 * 2;
        const int64_t rounds = (columns * batch * ((p.size[2] + segment - 1) / segment) + slots - 1) / slots, slices = rounds * (segment + halo + 4);
        if (slices < best) {
            best = slices;
            p.segment = segment;
        }
    }
    const dim3 grid((uint32_t)columns, (uint32_t)((p.size[2] + p.segment - 1) / p.segment), (uint32_t)batch);
    if constexpr (INVERSE) TSR_LAUNCH(queue, (cube_inverse_kernel<D, SHAPE, CUT>), grid, WARP * CUT::GROUPS, 0, p);
    else TSR_LAUNCH(queue, (cube_forward_kernel<D, SHAPE, CUT>), grid, WARP * CUT::GROUPS, 0, p);
    return TSR_OK;
}
template <tsr_dtype D, class SHAPE, int INVERSE> static tsr_status launch_cube(tsr_queue *queue, cube_pass &p, int64_t batch)
{
    if (D == TSR_I16) march_signs<D, SHAPE>(&p.filter);
    return launch_cube_as<D, SHAPE, cube_best, INVERSE>(queue, p, batch);
}

/* Calls launch_cube for the shape of the filter; *known = 0 where it has none. Only looks it up where p is NULL. */
template <tsr_dtype D, int INVERSE>
static tsr_status cube_shapes(tsr_queue *queue, const tsr_lift_filter *f, const tsr_wavelet_level *l, cube_pass *p, int *known)
{
    const int even = (l->size[1] | l->size[2]) % 2 == 0;
    *known = 1;
#define TRY_CUBE(NAME)                                                                                         \
    if (INVERSE ? fits_shape<NAME##_inverse>(f, D == TSR_I16) : fits_shape<NAME##_forward>(f, D == TSR_I16)) { \
        const int64_t batch = l->size[3] * l->size[4];                                                         \
        if (!p) return TSR_OK;                                                                                 \
        if constexpr (INVERSE) return launch_cube<D, NAME##_inverse, 1>(queue, *p, batch);                     \
        else return launch_cube<D, NAME##_forward, 0>(queue, *p, batch);                                       \
    }
    if (even) { TRY_CUBE(pairs) }
    TRY_CUBE(two)
#undef TRY_CUBE
    *known = 0;
    return TSR_OK;
}

/* Rows are of whole runs, `bytes` each, that may be moved at once as far as strides tell, and counted in 32 bits. */
static int cube_strides(const tsr_wavelet_array *a, int64_t rows, size_t element, int64_t bytes)
{
    const int64_t most = (int64_t)1 << 30;
    int fits = a->stride[0] == 1 && a->stride[1] > 0 && a->stride[1] * rows < most;
    for (int32_t k = 1; k < TSR_WAVELET_DIMENSIONS; k++) fits = fits && a->stride[k] * (int64_t)element % bytes == 0;
    return fits;
}

/* Does a level go through here, if its memory is aligned? */
static int cube_fits(const tsr_wavelet_level *l, const tsr_lift_filter *forward, int inverse)
{
    const size_t element = l->dtype == TSR_I16 ? 2 : 4;
    int known = 0;
    if (inverse && l->dtype == TSR_I16)
        return 0; /* which two passes of march.h do faster: arithmetic is the limit, and much of it is done twice here */
    if (l->axes != 7 || l->inplace || l->boundary == TSR_WAVELET_PERIODIC || forward->nonlinear || (l->dtype != TSR_I16 && l->dtype != TSR_F32))
        return 0;
    if (l->size[0] % 4 || l->size[0] < 64 || l->size[1] < SHORTEST_AXIS || l->size[2] < SHORTEST_AXIS || l->size[3] * l->size[4] > 65535) return 0;
    if (l->size[0] > 1 << 30 || l->size[1] > 1 << 30 || l->size[2] > 1 << 18 || (l->size[3] > 1 && l->size[4] > 1)) return 0;
    for (uint32_t bits = 0; bits < 8; bits++)
        if (!cube_strides(&l->band[bits], l->size[1], element, 2 * (int64_t)element)) return 0;
    if (!cube_strides(&l->whole, l->size[1], element, 4 * (int64_t)element)) return 0;
    const tsr_status status =
        l->dtype == TSR_I16 ? cube_shapes<TSR_I16, 0>(NULL, forward, l, NULL, &known) : cube_shapes<TSR_F32, 0>(NULL, forward, l, NULL, &known);
    return status == TSR_OK && known;
}
static int cube_aligned(const tsr_wavelet_level *l)
{
    const uintptr_t element = l->dtype == TSR_I16 ? 2 : 4;
    uintptr_t rest = (uintptr_t)l->whole.data % (4 * element);
    for (uint32_t bits = 0; bits < 8; bits++) rest |= (uintptr_t)l->band[bits].data % (2 * element);
    return rest == 0;
}
/* There and back: such a level counts on no workspace. */
static int cube_alone(const tsr_wavelet_level *l, const tsr_lift_filter *forward) { return cube_fits(l, forward, 0) && cube_fits(l, forward, 1); }

static cube_array cube_array_of(const tsr_wavelet_level *l, const tsr_wavelet_array *a)
{
    cube_array c = { a->data, (int32_t)a->stride[1], a->stride[2], a->stride[l->size[3] > 1 ? 3 : 4] };
    return c;
}

static tsr_status run_cube(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int inverse)
{
    cube_pass p = {};
    int known;
    p.filter = inverse ? *job->inverse : *job->forward;
    p.boundary = (int32_t)l->boundary;
    p.raise = inverse ? 0 : l->shift;
    p.lower = inverse ? l->shift : 0;
    p.scaled = l->scaled;
    p.whole = cube_array_of(l, &l->whole);
    p.lost = job->lost;
    for (int a = 0; a < 3; a++) p.size[a] = (int32_t)l->size[a];
    for (int bits = 0; bits < 8; bits++) {
        p.band[bits] = cube_array_of(l, &l->band[bits]);
        p.load_scale[bits] = l->scaled ? 1.0 / l->scale[bits] : 1.0;
        p.store_scale[bits] = l->scaled ? l->scale[bits] : 1.0;
    }
    if (l->dtype == TSR_I16) return cube_shapes<TSR_I16, 0>(queue, &p.filter, l, &p, &known);
    return inverse ? cube_shapes<TSR_F32, 1>(queue, &p.filter, l, &p, &known) : cube_shapes<TSR_F32, 0>(queue, &p.filter, l, &p, &known);
}

#endif
