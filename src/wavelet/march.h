/* wavelet/march.h: one pass of a level on the GPU, included by wavelet_cuda.cu: the steps along an axis other than x, and those along x with them
 * where the axis is y. Each sample is read and written once.
 *
 * A warp owns a strip of columns and marches along a segment of the axis, two rows at a time; a lane holds up to 16 bytes of neighbouring samples of
 * a row. Rows are lifted along x between the lanes by shuffles. Along the axis each lane lifts its own columns in a window of rows that
 * it keeps in registers: every step has one row of the window to work on, so far behind the step before that its neighbours are ready, and the
 * window moves on. Which rows these are follows from the filter when the kernel is compiled. Strips overlap by the lanes, segments by the rows that the
 * steps reach; only the warps at the ends of the axes look up what stands for the samples beyond. Spec wavelet.md 2.5, 2.8, 2.11. */
#ifndef TSR_WAVELET_MARCH_H
#define TSR_WAVELET_MARCH_H

enum { WARP = 32, WARPS = 4, BEYOND = 8, SHORTEST_SEGMENT = 16, LONGEST_SEGMENT = 64, SHORTEST_AXIS = 16 };

/* Samples of a row in a lane. */
template <tsr_dtype D, class SHAPE> struct lane_samples {
    typedef typename element<D>::memory M;
    static constexpr int V = sizeof(M) == 2 && SHAPE::ROWS > 12 ? 4 : (int)(16 / sizeof(M));
};

typedef struct march_pass {
    tsr_lift_filter filter;
    int64_t size[TSR_WAVELET_DIMENSIONS]; /* of the samples */
    int32_t axis;                         /* 1, 2, 3 */
    uint32_t split;                       /* axes along which the samples lie in bands already: a block row for each combination */
    uint32_t later;                       /* axes along which the bands of `half` are apart, too, and those of `whole` not */
    tsr_wavelet_array whole[TSR_WAVELET_BANDS], half[TSR_WAVELET_BANDS];
    double load_scale[TSR_WAVELET_BANDS], store_scale[TSR_WAVELET_BANDS]; /* of half */
    int64_t segment, segments, strips, planes;
    int32_t halo_lanes;
    int32_t boundary, raise, lower, scaled;
    uint32_t *lost;
} march_pass;

/* Where a lane is. */
typedef struct march_lane {
    int32_t first, begin, n;      /* sample of the lane's first element, of the warp's; samples in a row */
    int32_t lane, boundary, edge; /* edge: the strip reaches beyond the row */
    int32_t wrapped;              /* first, around the row */
    int32_t own;                  /* the lane's samples that are the strip's to write; DIRECT: all or none */
} march_lane;

/* Values that leave 16 bits are lost: the upper half of *bad is not 0 then. */
template <tsr_dtype D, int V, int DIRECT> TSR_DEVICE_FN void watch_lane(const typename element<D>::row *x, const march_lane &l, uint32_t *bad)
{
    if constexpr (D == TSR_I16) {
#pragma unroll
        for (int k = 0; k < V; k++)
            if (DIRECT || k < l.own) *bad |= (uint32_t)x[k];
    }
}

/* ---- along x ------------------------------------------------------------------------------------------------------------------------------ */

/* The k-th step over the lane's samples. EDGE: strips may reach beyond the row; buffer: room for the warp's samples then. */
template <tsr_dtype D, int V, class SHAPE, int DIRECT, int EDGE, int K>
TSR_DEVICE_FN void lift_lane(typename element<D>::row *x, const tsr_lift_filter &f, const march_lane &l, typename element<D>::row *buffer)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    constexpr int P = SHAPE::parity(K), REACH = SHAPE::reach(K), FIRST = SHAPE::first(K);
    R e[V + 2 * BEYOND];
#pragma unroll
    for (int k = 0; k < V; k++) e[BEYOND + k] = x[k];
#pragma unroll
    for (int pos = -REACH; pos < 0; pos++) {
        const int away = (-pos + V - 1) / V;
        if (((pos ^ P) & 1) && pos >= P - REACH) e[BEYOND + pos] = __shfl_up_sync(TSR_WARP_ALL, x[pos + away * V], (unsigned)away);
    }
#pragma unroll
    for (int pos = V; pos < V + REACH; pos++) {
        const int away = pos / V;
        if ((pos ^ P) & 1) e[BEYOND + pos] = __shfl_down_sync(TSR_WARP_ALL, x[pos - away * V], (unsigned)away);
    }
    if (EDGE && l.edge && l.boundary != TSR_WAVELET_PERIODIC) { /* the same for all lanes of the warp; periodic rows were loaded around */
        if constexpr (DIRECT) {                                 /* samples of the lane or the next one stand for those beyond the ends */
            const int clamp = l.boundary == TSR_WAVELET_CLAMP, zero = l.boundary == TSR_WAVELET_ZERO;
#pragma unroll
            for (int away = 1; away <= REACH; away++) {
                const int before = (away ^ P) & 1, behind = !before; /* does step K ask for the sample so far before the first, behind the last? */
                R v = x[0];
                if (before) v = away < V ? x[away % V] : __shfl_down_sync(TSR_WARP_ALL, x[away % V], 1);
                if (behind) v = away < V ? x[(2 * V - 1 - away) % V] : __shfl_up_sync(TSR_WARP_ALL, x[(2 * V - 1 - away) % V], 1);
                if (clamp) v = before ? x[away & 1] : x[V - 1 - (away & 1)];
                if (zero) v = (R)held<D>::ABOVE;
                if (before && l.first == 0) e[BEYOND - away] = v;
                if (behind && l.first + V == l.n) e[BEYOND + V - 1 + away] = v;
                if (away <= V) continue; /* the lane beside the first or last one asks for those, too */
                v = clamp ? x[before ? (away - V) & 1 : V - 1 - ((away - V) & 1)] : x[before ? away % V : (2 * V - 1 - away) % V];
                v = before ? __shfl_up_sync(TSR_WARP_ALL, v, 1) : __shfl_down_sync(TSR_WARP_ALL, v, 1);
                if (zero) v = (R)held<D>::ABOVE;
                if (before && l.first == V) e[BEYOND - away] = v;
                if (behind && l.first + 2 * V == l.n) e[BEYOND + V - 1 + away] = v;
            }
        } else {
#pragma unroll
            for (int k = 0; k < V; k++) buffer[l.lane * V + k] = x[k];
            __syncwarp();
#pragma unroll
            for (int pos = -REACH; pos < V + REACH; pos++) {
                const int32_t i = l.first + pos;
                if (!((pos ^ P) & 1) || (i >= 0 && i < l.n)) continue;
                const int32_t j = tsr_lift_index_near(i, l.n, l.boundary);
                e[BEYOND + pos] = j < 0 ? (R)held<D>::ABOVE : buffer[tsr_maxi(0, tsr_mini(j - l.begin, WARP * V - 1))];
            }
            __syncwarp();
        }
    }
#pragma unroll
    for (int k = P; k < V; k += 2) {
        auto neighbour = [&](int t) -> S { return (S)e[BEYOND + k + FIRST + 2 * t]; };
        x[k] = march_lifted<D, SHAPE, K>(f.step[K], x[k], neighbour);
    }
    if constexpr (K + 1 < SHAPE::STEPS) lift_lane<D, V, SHAPE, DIRECT, EDGE, K + 1>(x, f, l, buffer);
}

/* ---- along the axis ------------------------------------------------------------------------------------------------------------------------ */

/* Steps K, K + 1, ... on their rows of the window; `newest`: number of its last row. n: rows of the axis. EDGE: steps may look beyond the ends. */
template <tsr_dtype D, int V, class SHAPE, int EDGE, int K>
TSR_DEVICE_FN void lift_window(typename element<D>::row (*window)[V], const tsr_lift_filter &f, int32_t newest, int32_t n, int32_t boundary)
{
    typedef typename element<D>::sum S;
    typedef typename element<D>::row R;
    constexpr int PLACE = SHAPE::place(K), REACH = SHAPE::reach(K), FIRST = SHAPE::first(K), TAPS = SHAPE::taps(K);
    const int32_t i = newest + SHAPE::row(K);
    if (!EDGE || SHAPE::PAIRS || boundary == TSR_WAVELET_PERIODIC || (i >= REACH && i < n - REACH)) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            auto neighbour = [&](int t) -> S { return (S)window[PLACE + FIRST + 2 * t][k]; };
            window[PLACE][k] = march_lifted<D, SHAPE, K>(f.step[K], window[PLACE][k], neighbour);
        }
    } else if (i >= 0 && i < n) { /* rows beyond the ends: others of the window stand for them */
        R v[TAPS][V];
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            const int32_t j = tsr_lift_index_near(i + FIRST + 2 * t, n, boundary), away = j < 0 ? REACH + 1 : j - i; /* no row stands for a zero */
#pragma unroll
            for (int k = 0; k < V; k++) v[t][k] = (R)held<D>::ABOVE;
#pragma unroll
            for (int q = -REACH; q <= REACH; q += 2) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    if (q == away) v[t][k] = window[PLACE + q][k];
            }
        }
#pragma unroll
        for (int k = 0; k < V; k++) {
            auto neighbour = [&](int t) -> S { return (S)v[t][k]; };
            window[PLACE][k] = march_lifted<D, SHAPE, K>(f.step[K], window[PLACE][k], neighbour);
        }
    }
    if constexpr (K + 1 < SHAPE::STEPS) lift_window<D, V, SHAPE, EDGE, K + 1>(window, f, newest, n, boundary);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------------------------- */

/* A lane's samples as they lie in memory; of a row in bands along x the low ones first. Those of 16 bits by twos: registers have 32. */
template <class M> struct run_word {
    typedef M type;
};
template <> struct run_word<int16_t> {
    typedef uint32_t type;
};
template <class M, int COUNT> struct run {
    typedef typename run_word<M>::type word;
    static constexpr int PER_WORD = (int)(sizeof(word) / sizeof(M)), WORDS = COUNT / PER_WORD;
    word v[WORDS];
};
#ifdef TSR_EMU
#define MARCH_WORDS(bytes) __attribute__((may_alias, aligned(bytes))) /* some are of two samples */
#else
#define MARCH_WORDS(bytes) alignas(bytes)
#endif
template <class W, int COUNT> struct MARCH_WORDS(sizeof(W) * COUNT) words {
    W v[COUNT];
};
template <class W, int COUNT> TSR_DEVICE_FN void load_words(const void *p, W *v)
{
    const words<W, COUNT> r = *(const words<W, COUNT> *)p;
#pragma unroll
    for (int k = 0; k < COUNT; k++) v[k] = r.v[k];
}
template <class W, int COUNT> TSR_DEVICE_FN void store_words(void *p, const W *v)
{
    words<W, COUNT> r;
#pragma unroll
    for (int k = 0; k < COUNT; k++) r.v[k] = v[k];
    *(words<W, COUNT> *)p = r;
}
/* One sample of a run by its number, which the compiler knows. */
template <class M, int COUNT> TSR_DEVICE_FN M run_at(const run<M, COUNT> &r, int k)
{
    if constexpr (run<M, COUNT>::PER_WORD == 2) return (M)(uint16_t)(r.v[k / 2] >> (k & 1) * 16);
    else return r.v[k];
}
template <class M, int COUNT> TSR_DEVICE_FN void run_put(run<M, COUNT> *r, int k, M value)
{
    if constexpr (run<M, COUNT>::PER_WORD == 2) r->v[k / 2] = (r->v[k / 2] & 0xffff0000u >> (k & 1) * 16) | (uint32_t)(uint16_t)value << (k & 1) * 16;
    else r->v[k] = value;
}

/* Where the lane's samples lie in a plane: row 0 of the samples, and of the bands of even rows (low, high along x) and of odd ones. */
template <class M> struct march_plane {
    M *whole, *half[4];
    int32_t row, half_row[4]; /* strides, elements */
    uint32_t bits;            /* of the bands, but for those of the axis and of x */
};

/* The next even and odd row of a lane's samples, or of its bands, on the way along the axis: entry 2 * odd + high along x. */
template <class M> struct march_cursor {
    M *at[4];
    int64_t step[4];
};
template <class M, int SPLIT> TSR_DEVICE_FN march_cursor<M> march_from(const march_plane<M> &plane, int32_t y)
{
    march_cursor<M> c;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        c.at[b] = SPLIT ? plane.half[b] + (int64_t)(y >> 1) * plane.half_row[b] : plane.whole + (int64_t)(y + b / 2) * plane.row;
        c.step[b] = SPLIT ? plane.half_row[b] : 2 * (int64_t)plane.row;
    }
    return c;
}

/* Moves a row (odd 0) or the one behind it (odd 1) as one run, or as PARTS 2: low and high samples. */
template <class M, int V, int PARTS> TSR_DEVICE_FN void load_row(const march_cursor<M> &c, int odd, run<M, V> *to)
{
#pragma unroll
    for (int h = 0; h < PARTS; h++)
        load_words<typename run<M, V>::word, run<M, V>::WORDS / PARTS>(c.at[2 * odd + h], to->v + h * (run<M, V>::WORDS / 2));
}
template <class M, int V, int PARTS> TSR_DEVICE_FN void store_row(const march_cursor<M> &c, int odd, const run<M, V> &from)
{
#pragma unroll
    for (int h = 0; h < PARTS; h++)
        store_words<typename run<M, V>::word, run<M, V>::WORDS / PARTS>(c.at[2 * odd + h], from.v + h * (run<M, V>::WORDS / 2));
}
template <class M> TSR_DEVICE_FN void march_on(march_cursor<M> *c, int32_t pairs)
{
#pragma unroll
    for (int b = 0; b < 4; b++) c->at[b] += pairs * c->step[b];
}

/* Row y one sample after another: calls move(sample, its number in the lane's run). */
template <class M, int V, int ALONG_X, int SPLIT, class F>
TSR_DEVICE_FN void each_sample(const march_pass &p, const march_lane &l, const march_plane<M> &plane, int32_t y, int around, F move)
{
    const int odd = y & 1;
    const march_cursor<M> c = march_from<M, SPLIT>(plane, y - odd);
    const tsr_wavelet_array *bands = SPLIT ? &p.half[plane.bits | (uint32_t)odd << p.axis] : &p.whole[plane.bits & p.split];
    const int64_t steps[2] = { bands[0].stride[0], SPLIT && ALONG_X ? bands[1].stride[0] : 0 };
    const int32_t first = around ? l.wrapped : l.first;
#pragma unroll
    for (int k = 0; k < V; k++) {
        const int h = SPLIT && ALONG_X ? k & 1 : 0; /* runs begin at even samples, and periodic rows are of even length */
        int32_t i = first + k;
        if (around && i >= l.n) i -= l.n;
        if (i < 0 || i >= l.n) continue;
        M *row = odd ? c.at[2 + h] : c.at[h];
        move(row + (SPLIT && ALONG_X ? i >> 1 : i) * steps[h], SPLIT && ALONG_X ? h * (V / 2) + k / 2 : k);
    }
}

/* Brings what was loaded into the type of the arithmetic; bits: of the band, that of x left out. */
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT>
TSR_DEVICE_FN void take_lane(const march_pass &p, const march_lane &l, uint32_t bits, const run<typename element<D>::memory, V> &from,
                             typename element<D>::row *x, uint32_t *bad)
{
    typedef typename element<D>::row R;
    if constexpr (D == TSR_F32 || D == TSR_F64) {
#pragma unroll
        for (int k = 0; k < V; k++) x[k] = (R)run_at(from, SPLIT && ALONG_X ? (k & 1) * (V / 2) + k / 2 : k);
        if (SPLIT && p.scaled) {
            const R low = (R)p.load_scale[bits], high = ALONG_X ? (R)p.load_scale[bits | 1u] : low;
#pragma unroll
            for (int k = 0; k < V; k++) x[k] *= k & 1 ? high : low;
        }
    } else {
        const int32_t factor = SPLIT ? 1 : 1 << p.raise;
#pragma unroll
        for (int k = 0; k < V; k++) {
            const int at = SPLIT && ALONG_X ? (k & 1) * (V / 2) + k / 2 : k;
            if constexpr (D == TSR_I16)
                x[k] = __dp2a_lo((int)from.v[at / 2], factor << (at & 1) * 8, held<D>::ABOVE); /* one of two times the factor */
            else x[k] = (R)((uint32_t)run_at(from, at) * (uint32_t)factor);
        }
        if (!SPLIT) watch_lane<D, V, DIRECT>(x, l, bad);
    }
}

/* What is stored of a finished row; bits: of its band, that of x left out. */
template <tsr_dtype D, int V, class SHAPE, int ALONG_X, int INVERSE, int DIRECT, int EDGE>
TSR_DEVICE_FN run<typename element<D>::memory, V> give_lane(const march_pass &p, const march_lane &l, uint32_t bits,
                                                            const typename element<D>::row *finished, typename element<D>::row *buffer, uint32_t *bad)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    R x[V];
    run<M, V> r;
#pragma unroll
    for (int k = 0; k < V; k++) x[k] = finished[k];
    if constexpr (!(INVERSE && ALONG_X)) {
        watch_lane<D, V, DIRECT>(x, l, bad);
    } else {
        watch_lane<D, V, DIRECT>(x, l, bad);
        lift_lane<D, V, SHAPE, DIRECT, EDGE, 0>(x, p.filter, l, buffer);
    }
    if constexpr (D == TSR_F32 || D == TSR_F64) {
        if (!INVERSE && p.scaled) {
            const R low = (R)p.store_scale[bits], high = ALONG_X ? (R)p.store_scale[bits | 1u] : low;
#pragma unroll
            for (int k = 0; k < V; k++) x[k] *= k & 1 ? high : low;
        }
    } else if constexpr (INVERSE) {
        const int32_t above = held<D>::ABOVE * ((1 << p.lower) - 1); /* what stays of it after the shift */
#pragma unroll
        for (int k = 0; k < V; k++) {
            typedef typename element<D>::wrap W;
            typedef typename element<D>::sum S;
            const S held = (S)((W)(S)x[k] + (W)(S)above);
            x[k] = (R)TSR_LIFT_LOWER(held, p.lower);
        }
        if constexpr (ALONG_X) watch_lane<D, V, DIRECT>(x, l, bad);
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        const int at = !INVERSE && ALONG_X ? (k & 1) * (V / 2) + k / 2 : k, next = !INVERSE && ALONG_X ? 2 : 1;
        if constexpr (D != TSR_I16) r.v[at] = (M)x[k];
        else if (!(at & 1)) r.v[at / 2] = (((uint32_t)x[k] & 0xffffu) | (uint32_t)x[k + next] << 16) ^ 0x80008000u;
    }
    return r;
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------------------------ */

/* Samples of a pass along axis a in the combination `bits` of bands. */
TSR_HD int64_t march_size(const march_pass &p, uint32_t bits, int32_t a)
{
    return !(p.split >> a & 1) ? p.size[a] : (bits >> a & 1) ? p.size[a] / 2 : (p.size[a] + 1) / 2;
}

/* The plane with this number. Where lanes move as one the places are those of the lane's samples; of lanes beyond the row of others. */
template <class M, int V, int ALONG_X, int DIRECT>
TSR_DEVICE_FN int march_place(const march_pass &p, const march_lane &l, uint32_t bits, int64_t number, march_plane<M> *plane)
{
    int64_t index[TSR_WAVELET_DIMENSIONS] = { 0, 0, 0, 0, 0 };
    int32_t x = 0;
    plane->bits = bits;
    plane->whole = (M *)p.whole[bits].data;
#pragma unroll
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (a == p.axis) continue;
        const int64_t count = march_size(p, bits, a);
        if (count == 0) return 0;
        index[a] = number % count;
        number /= count;
        plane->whole += index[a] * p.whole[bits].stride[a];
        if (p.later >> a & 1) {
            plane->bits |= (uint32_t)(index[a] & 1) << a;
            index[a] >>= 1;
        }
    }
    if (DIRECT) x = l.wrapped; /* only the periodic boundary asks for what lies beyond */
    plane->whole += x;
    plane->row = (int32_t)p.whole[bits].stride[p.axis];
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
        const uint32_t band = plane->bits | (b >> 1) << p.axis | (ALONG_X ? b & 1 : 0u);
        plane->half[b] = (M *)p.half[band].data + (ALONG_X ? x >> 1 : x);
        plane->half_row[b] = (int32_t)p.half[band].stride[p.axis];
#pragma unroll
        for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) plane->half[b] += index[a] * p.half[band].stride[a];
    }
    return number == 0;
}

/* Rows on their way in. DIRECT: lanes lie in the row as a whole or not at all, and move as one. Beyond the ends come rows from the other one where the
 * boundary is periodic, else any. */
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT> struct march_loads {
    typedef typename element<D>::memory M;
    march_cursor<M> cursor;
    int32_t y, n; /* the next row, even; rows of the axis */
};
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT>
TSR_DEVICE_FN void load_pair(const march_pass &p, const march_lane &l, const march_plane<typename element<D>::memory> &plane,
                             march_loads<D, V, ALONG_X, SPLIT, DIRECT> *loads, run<typename element<D>::memory, V> *to)
{
    typedef typename element<D>::memory M;
    const int periodic = l.boundary == TSR_WAVELET_PERIODIC, odd = loads->y + 1 < loads->n; /* is there a second row? */
    if constexpr (DIRECT) {
        march_cursor<M> c = loads->cursor;
        if (!odd) {
            c.at[2] = c.at[0];
            c.at[3] = c.at[1];
        }
#pragma unroll
        for (int h = 0; h < 2; h++) load_row<M, V, SPLIT && ALONG_X ? 2 : 1>(c, h, &to[h]);
        march_on(&loads->cursor, 1);
    } else {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            to[h] = {};
            each_sample<M, V, ALONG_X, SPLIT>(p, l, plane, loads->y + (h && odd ? 1 : 0), ALONG_X && periodic,
                                              [&](const M *from, int k) { run_put(&to[h], k, *from); });
        }
    }
    loads->y += 2;
    if (loads->y >= loads->n) {
        const int32_t back = periodic ? loads->n / 2 : 1;
        loads->y -= 2 * back;
        if (DIRECT) march_on(&loads->cursor, -back);
    }
}

template <int VALUE> struct constant {
    static constexpr int value = VALUE;
};

/* The march along rows [begin, end) of an axis of n; begin is even. */
template <tsr_dtype D, class SHAPE, int ALONG_X, int INVERSE, int DIRECT>
TSR_DEVICE_FN void march(const march_pass &p, const march_lane &l, const march_plane<typename element<D>::memory> &plane, int32_t begin, int32_t end,
                         int32_t n, typename element<D>::row *buffer)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int V = lane_samples<D, SHAPE>::V, ROWS = SHAPE::ROWS, LAST = SHAPE::STEPS - 1;
    constexpr int DONE = SHAPE::row(LAST) - SHAPE::parity(LAST); /* the even one of the two rows that are finished, from the newest */
    const int32_t reach = SHAPE::PAIRS ? 0 : p.filter.reach, last = ((end - 1) & ~1) - DONE;
    const int32_t from = l.boundary == TSR_WAVELET_PERIODIC ? begin - reach : tsr_maxi(begin - reach, 0), first = from < 0 ? from + n : from;
    march_loads<D, V, ALONG_X, INVERSE, DIRECT> loads = { march_from<M, INVERSE>(plane, first), first, n };
    march_cursor<M> store = march_from<M, !INVERSE>(plane, begin);
    R window[ROWS][V] = {};
    constexpr int AHEAD = 2; /* pairs of rows on their way: 1 or 2 */
    run<M, V> coming[AHEAD][2];
    uint32_t bad = 0;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) load_pair(p, l, plane, &loads, coming[k]);
    /* Rows for which no step looks beyond the ends, if the strip does not either. */
    const int32_t calm_from = SHAPE::before(LAST), calm_to = n - 1 - SHAPE::behind(LAST);
    const int calm = !(ALONG_X && l.edge && l.boundary != TSR_WAVELET_PERIODIC);
    int32_t newest = from + 1;
    /* One pair of rows, the one that came in place `slot`. */
    auto pair = [&](auto edge, auto slot) {
        constexpr int EDGE = decltype(edge)::value, SLOT = decltype(slot)::value;
#pragma unroll
        for (int q = 0; q + 2 < ROWS; q++) {
#pragma unroll
            for (int k = 0; k < V; k++) window[q][k] = window[q + 2][k];
        }
#pragma unroll
        for (int h = 0; h < 2; h++)
            take_lane<D, V, ALONG_X, INVERSE, DIRECT>(p, l, plane.bits | (uint32_t)h << p.axis, coming[SLOT][h], window[ROWS - 2 + h], &bad);
        if constexpr (EDGE) { /* move on: waits for what is coming */
#pragma unroll
            for (int k = 0; k + 1 < AHEAD; k++) {
                coming[k][0] = coming[k + 1][0];
                coming[k][1] = coming[k + 1][1];
            }
        }
        load_pair(p, l, plane, &loads, coming[EDGE ? AHEAD - 1 : SLOT]);
        if constexpr (ALONG_X && !INVERSE) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                lift_lane<D, V, SHAPE, DIRECT, EDGE, 0>(window[ROWS - 2 + h], p.filter, l, buffer);
                watch_lane<D, V, DIRECT>(window[ROWS - 2 + h], l, &bad);
            }
        }
        lift_window<D, V, SHAPE, EDGE, 0>(window, p.filter, newest, n, l.boundary);
        const int32_t y = newest + DONE;
        newest += 2;
        if (y < begin) return;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const run<M, V> r = give_lane<D, V, SHAPE, ALONG_X, INVERSE, DIRECT, EDGE>(p, l, plane.bits | (uint32_t)h << p.axis,
                                                                                       window[ROWS - 1 + DONE + h], buffer, &bad);
            if (l.own <= 0 || (h && y + 1 >= end)) continue;
            if constexpr (DIRECT) store_row<M, V, !INVERSE && ALONG_X ? 2 : 1>(store, h, r);
            else each_sample<M, V, ALONG_X, !INVERSE>(p, l, plane, y + h, 0, [&](M *to, int k) { *to = run_at(r, k); });
        }
        march_on(&store, 1);
    };
    /* As many pairs as there are places, each in its own: nothing moves that is still coming. */
    auto calmly = [&]() {
        pair(constant<0>(), constant<0>());
        if constexpr (AHEAD > 1) pair(constant<0>(), constant<1>());
    };
#pragma unroll 1
    while (newest <= last) {
        if (DIRECT && calm && (l.boundary == TSR_WAVELET_PERIODIC || newest >= calm_from)) {
            const int32_t stop = (l.boundary == TSR_WAVELET_PERIODIC ? last : tsr_mini(last, calm_to)) - 2 * (AHEAD - 1);
#pragma unroll 1
            while (newest <= stop) calmly();
            if (newest > last) break;
        }
        pair(constant<1>(), constant<0>());
    }
    if (D == TSR_I16 && bad >> 16 && l.own > 0 && p.lost) atomicOr(p.lost, 1u);
}

/* Blocks a multiprocessor: as many as the window's registers leave room for (measured on an H200). */
template <tsr_dtype D, class SHAPE> struct march_blocks {
    static constexpr int WORDS = SHAPE::ROWS * lane_samples<D, SHAPE>::V * (int)sizeof(typename element<D>::row) / 4;
    static constexpr int PACKED = D == TSR_I16, COUNT = WORDS <= (PACKED ? 32 : 20) ? 5 : WORDS <= (PACKED ? 64 : 40) ? 4 : 3;
};

template <tsr_dtype D, class SHAPE, int ALONG_X, int INVERSE, int DIRECT>
TSR_KERNEL(__launch_bounds__(WARPS *WARP, march_blocks<D, SHAPE>::COUNT) march_kernel)
(march_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int V = lane_samples<D, SHAPE>::V;
    TSR_SHARED(R, edge_rows, ALONG_X && !DIRECT ? WARPS * WARP * V : 1);
    const uint32_t bits = other_bits(p.split, p.axis, blockIdx.y);
    const int32_t warp = (int32_t)threadIdx.x / WARP, n = (int32_t)p.size[p.axis];
    const int64_t task = (int64_t)blockIdx.x * WARPS + warp, rest = task / p.strips; /* what lies side by side in memory goes first */
    const int64_t part = p.axis == 1 ? rest % p.segments : rest / p.planes, number = p.axis == 1 ? rest / p.segments : rest % p.planes;
    R *buffer = edge_rows + (ALONG_X && !DIRECT ? warp * WARP * V : 0);
    march_plane<M> plane;
    march_lane l;
    l.lane = (int32_t)threadIdx.x % WARP;
    l.n = (int32_t)march_size(p, bits, 0);
    l.boundary = p.boundary;
    l.begin = ((int32_t)(task % p.strips) * (WARP - 2 * p.halo_lanes) - p.halo_lanes) * V;
    l.first = l.begin + l.lane * V;
    l.wrapped = l.n ? l.first % l.n : 0;
    if (l.wrapped < 0) l.wrapped += l.n;
    l.edge = l.begin < 0 || l.begin + WARP * V > l.n;
    l.own = l.lane >= p.halo_lanes && l.lane < WARP - p.halo_lanes ? l.n - l.first : 0;
    if (l.begin >= l.n || part >= p.segments || !march_place<M, V, ALONG_X, DIRECT>(p, l, bits, number, &plane)) return; /* all lanes of the warp */
    const int32_t begin = (int32_t)(part * p.segment), end = tsr_mini(begin + (int32_t)p.segment, n);
    march<D, SHAPE, ALONG_X, INVERSE, DIRECT>(p, l, plane, begin, end, n, buffer);
}

/* May `bytes` at a time be moved along x? */
template <class M> static int runs_aligned(const tsr_wavelet_array *a, uintptr_t bytes)
{
    uintptr_t rest = (uintptr_t)a->data;
    for (int32_t k = 1; k < TSR_WAVELET_DIMENSIONS; k++) rest |= (uintptr_t)(a->stride[k] * (int64_t)sizeof(M));
    return a->stride[0] == 1 && rest % bytes == 0;
}

template <tsr_dtype D, class SHAPE, int ALONG_X, int INVERSE> static tsr_status launch_march(tsr_queue *queue, march_pass &p)
{
    typedef typename element<D>::memory M;
    constexpr int V = lane_samples<D, SHAPE>::V;
    uint32_t combinations = 1;
    if (D == TSR_I16 || D == TSR_I32) march_signs<D, SHAPE>(&p.filter);
    p.planes = 1;
    p.halo_lanes = ALONG_X && !(SHAPE::PAIRS && p.size[0] % 2 == 0) ? (p.filter.reach + V - 1) / V : 0;
    if (!INVERSE && p.halo_lanes & 1)
        p.halo_lanes++; /* bands are written by whole sectors then, of 32 bytes: 5 % faster although more is read twice */
    int direct = 1;
    for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
        if (p.whole[bits].data) direct = direct && march_size(p, bits, 0) % V == 0 && runs_aligned<M>(&p.whole[bits], V * sizeof(M));
        if (p.half[bits].data) direct = direct && runs_aligned<M>(&p.half[bits], V * sizeof(M) / (ALONG_X ? 2 : 1));
    }
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (p.split >> a & 1) combinations *= 2;
        if (a && a != p.axis) p.planes *= march_size(p, 0, a);
    }
    const int64_t width = (WARP - 2 * p.halo_lanes) * V, n = p.size[p.axis];
    p.strips = (march_size(p, 0, 0) + width - 1) / width;
    const int64_t wanted = n * p.strips * p.planes * combinations / (24 * (int64_t)tsr_queue_processors(queue)); /* warps on every processor */
    p.segment = tsr_maxl(SHORTEST_SEGMENT, tsr_minl(wanted / 2 * 2, tsr_maxl(LONGEST_SEGMENT, 12 * p.filter.reach)));
    p.segments = (n + p.segment - 1) / p.segment;
    const int64_t blocks = (p.strips * p.segments * p.planes + WARPS - 1) / WARPS;
    if (blocks > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld strips, a GPU takes at most 2^31", (long long)blocks);
    const dim3 grid((uint32_t)blocks, combinations);
    if (direct) TSR_LAUNCH(queue, (march_kernel<D, SHAPE, ALONG_X, INVERSE, 1>), grid, WARPS * WARP, 0, p);
    else TSR_LAUNCH(queue, (march_kernel<D, SHAPE, ALONG_X, INVERSE, 0>), grid, WARPS * WARP, 0, p);
    return TSR_OK;
}

/* Calls launch_march for the shape of the filter; *known = 0 where it has none. Only looks it up where p is NULL. */
template <tsr_dtype D, int ALONG_X, int INVERSE> static tsr_status march_shapes(tsr_queue *queue, const tsr_lift_filter *f, march_pass *p, int *known)
{
    *known = 1;
#define TRY_SHAPE(NAME)                                                                                                                        \
    if (INVERSE ? fits_shape<NAME##_inverse>(f, D == TSR_I16 || D == TSR_I32) : fits_shape<NAME##_forward>(f, D == TSR_I16 || D == TSR_I32)) { \
        if (!p) return TSR_OK;                                                                                                                 \
        if constexpr (INVERSE) return launch_march<D, NAME##_inverse, ALONG_X, 1>(queue, *p);                                                  \
        else return launch_march<D, NAME##_forward, ALONG_X, 0>(queue, *p);                                                                    \
    }
    if constexpr (D == TSR_I16 || D == TSR_F32) { /* what takes minutes to compile is kept to what is used */
        if (p && p->size[p->axis] % 2 == 0) { TRY_SHAPE(pairs) }
    }
    TRY_SHAPE(haar)
    TRY_SHAPE(two)
    TRY_SHAPE(four)
    if constexpr (D == TSR_I16 || D == TSR_F32) {
        TRY_SHAPE(wide)
        TRY_SHAPE(wider)
        TRY_SHAPE(widest)
    }
#undef TRY_SHAPE
    *known = 0;
    return TSR_OK;
}

static int march_knows(tsr_dtype dtype, const tsr_lift_filter *forward)
{
    int known = 0;
    tsr_status status = TSR_OK;
    switch (dtype) {
    case TSR_I16: status = march_shapes<TSR_I16, 1, 0>(NULL, forward, NULL, &known); break;
    case TSR_I32: status = march_shapes<TSR_I32, 1, 0>(NULL, forward, NULL, &known); break;
    case TSR_F32: status = march_shapes<TSR_F32, 1, 0>(NULL, forward, NULL, &known); break;
    default: status = march_shapes<TSR_F64, 1, 0>(NULL, forward, NULL, &known); break;
    }
    return status == TSR_OK && known;
}

template <int ALONG_X, int INVERSE> static tsr_status run_march_as(tsr_queue *queue, tsr_dtype dtype, march_pass *p)
{
    int known;
    switch (dtype) {
    case TSR_I16: return march_shapes<TSR_I16, ALONG_X, INVERSE>(queue, &p->filter, p, &known);
    case TSR_I32: return march_shapes<TSR_I32, ALONG_X, INVERSE>(queue, &p->filter, p, &known);
    case TSR_F32: return march_shapes<TSR_F32, ALONG_X, INVERSE>(queue, &p->filter, p, &known);
    default: return march_shapes<TSR_F64, ALONG_X, INVERSE>(queue, &p->filter, p, &known);
    }
}
static tsr_status run_march(tsr_queue *queue, tsr_dtype dtype, int along_x, int inverse, march_pass *p)
{
    if (along_x) return inverse ? run_march_as<1, 1>(queue, dtype, p) : run_march_as<1, 0>(queue, dtype, p);
    return inverse ? run_march_as<0, 1>(queue, dtype, p) : run_march_as<0, 0>(queue, dtype, p);
}

#endif
