/* wavelet/wavelet_march.h: one pass of a level on the GPU, included by wavelet_cuda.cu: the steps along an axis other than x, and those along x with them
 * where the axis is y. Each sample is read and written once.
 *
 * A warp owns a strip of columns and marches along a segment of the axis, two rows at a time; a lane holds up to 16 bytes of neighbouring samples of
 * a row. Rows are lifted along x between the lanes by shuffles. Along the axis each lane lifts its own columns in a window of rows that
 * it keeps in registers: every step has one row of the window to work on, so far behind the step before that its neighbours are ready, and the
 * window moves on. Which rows these are follows from the filter when the kernel is compiled. Strips overlap by the lanes, segments by the rows that the
 * steps reach; only the warps at the ends of the axes look up what stands for the samples beyond. docs/theory/wavelets.md 4, 7. */
#ifndef TSR_WAVELET_WAVELET_MARCH_H
#define TSR_WAVELET_WAVELET_MARCH_H

enum { WARP = 32, WARPS = 4, BEYOND = 8, SHORTEST_SEGMENT = 8, LONGEST_SEGMENT = 96, SHORTEST_AXIS = 16 };

/* Samples of a row in a lane: 16 bytes; more where many lanes are beyond the strip else. */
template <tsr_dtype D, class SHAPE> struct lane_samples {
    typedef typename element<D>::memory M;
    static constexpr int V = SHAPE::ROWS > 12 ? 8 : (int)(16 / sizeof(M));
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

/* The window is a ring of rows: a pair of them takes the places of the oldest one, so that no row moves from register to register. The loop over
 * GROUP pairs is unrolled, and every place is known when the kernel is compiled. All SLOTS of them, but where that were more instructions than a
 * multiprocessor keeps: the ring is turned then before each group. */
template <class SHAPE> struct march_ring {
    static constexpr int SLOTS = (SHAPE::ROWS + 1) / 2, ROWS = 2 * SLOTS, GROUP = SLOTS <= 6 ? SLOTS : 2;
    /* Where row `place` of SHAPE::ROWS lies if the newest pair lies in `slot`. */
    TSR_HD constexpr int at(int slot, int place) { return (2 * slot + 2 - SHAPE::ROWS + place + ROWS) % ROWS; }
};

/* Moves all rows N places to the front, the first ones to the end. */
template <int N, int ROWS, int V, class R> TSR_DEVICE_FN void turn_window(R (*window)[V])
{
    if constexpr (N % ROWS) {
        R turned[ROWS][V];
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
#pragma unroll
            for (int k = 0; k < V; k++) turned[q][k] = window[(q + N) % ROWS][k];
        }
#pragma unroll
        for (int q = 0; q < ROWS; q++) {
#pragma unroll
            for (int k = 0; k < V; k++) window[q][k] = turned[q][k];
        }
    }
}

/* Steps K, K + 1, ... on their rows of the window, the newest pair being in SLOT; `newest`: number of its last row. n: rows of the axis. EDGE: steps
 * may look beyond the ends. RING: where rows lie. */
template <tsr_dtype D, int V, class SHAPE, int EDGE, int SLOT, int K, class RING = march_ring<SHAPE>>
TSR_DEVICE_FN void lift_window(typename element<D>::row (*window)[V], const tsr_lift_filter &f, int32_t newest, int32_t n, int32_t boundary)
{
    typedef RING ring;
    typedef typename element<D>::sum S;
    typedef typename element<D>::row R;
    constexpr int PLACE = SHAPE::place(K), REACH = SHAPE::reach(K), FIRST = SHAPE::first(K), TAPS = SHAPE::taps(K);
    const int32_t i = newest + SHAPE::row(K);
    typename element<D>::row *row = window[ring::at(SLOT, PLACE)];
    if (!EDGE || SHAPE::PAIRS || boundary == TSR_WAVELET_PERIODIC || (i >= REACH && i < n - REACH)) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            auto neighbour = [&](int t) -> S { return (S)window[ring::at(SLOT, PLACE + FIRST + 2 * t)][k]; };
            row[k] = march_lifted<D, SHAPE, K>(f.step[K], row[k], neighbour);
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
                    if (q == away) v[t][k] = window[ring::at(SLOT, PLACE + q)][k];
            }
        }
#pragma unroll
        for (int k = 0; k < V; k++) {
            auto neighbour = [&](int t) -> S { return (S)v[t][k]; };
            row[k] = march_lifted<D, SHAPE, K>(f.step[K], row[k], neighbour);
        }
    }
    if constexpr (K + 1 < SHAPE::STEPS) lift_window<D, V, SHAPE, EDGE, SLOT, K + 1, RING>(window, f, newest, n, boundary);
}

#include "wavelet/march_memory.h"

/* ---- the pass ------------------------------------------------------------------------------------------------------------------------------ */

/* Samples of a pass along axis a in the combination `bits` of bands. */
TSR_HD int64_t march_size(const march_pass &p, uint32_t bits, int32_t a)
{
    return !(p.split >> a & 1) ? p.size[a] : (bits >> a & 1) ? p.size[a] / 2 : (p.size[a] + 1) / 2;
}

/* The plane with this number. Where lanes move as one the places are those of the lane's samples; of lanes beyond the row of others. */
template <class M, int V, int ALONG_X, int DIRECT>
TSR_DEVICE_FN int march_place(const march_pass &p, const march_lane &l, uint32_t bits, uint32_t number, march_plane<M> *plane)
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
        if (count == 1) continue;
        index[a] = number % (uint32_t)count;
        number /= (uint32_t)count;
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
    int32_t y, n;        /* the next row, even; rows of the axis */
    march_piece *coming; /* the lane's */
    int32_t slot;        /* of the pair that comes first */
};
/* The pair of rows in the slot is over: the next one is asked for. */
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT>
TSR_DEVICE_FN void load_pair(const march_pass &p, const march_lane &l, const march_plane<typename element<D>::memory> &plane,
                             march_loads<D, V, ALONG_X, SPLIT, DIRECT> *loads)
{
    typedef typename element<D>::memory M;
    typedef march_coming<M, V> coming;
    march_piece *to = loads->coming + loads->slot * (2 * coming::PIECES * WARP);
    const int periodic = l.boundary == TSR_WAVELET_PERIODIC, odd = loads->y + 1 < loads->n; /* is there a second row? */
    if constexpr (DIRECT) {
        march_cursor<M> c = loads->cursor;
        if (!odd) {
            c.at[2] = c.at[0];
            c.at[3] = c.at[1];
        }
#pragma unroll
        for (int h = 0; h < 2; h++) load_row<M, V, SPLIT && ALONG_X ? 2 : 1>(c, h, to + h * coming::PIECES * WARP);
        tsr_copy_async_close();
        march_on(&loads->cursor, 1);
    } else {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            run<M, V> r = {};
            each_sample<M, V, ALONG_X, SPLIT>(p, l, plane, loads->y + (h && odd ? 1 : 0), ALONG_X && periodic,
                                              [&](const M *from, int k) { run_put(&r, k, *from); });
#pragma unroll
            for (int b = 0; b < coming::BYTES; b += 16)
                memcpy(to + (h * coming::PIECES + b / 16) * WARP, (const char *)r.v + b, coming::BYTES < 16 ? coming::BYTES : 16);
        }
    }
    loads->slot = (loads->slot + 1) % coming::AHEAD;
    loads->y += 2;
    if (loads->y >= loads->n) {
        const int32_t back = periodic ? loads->n / 2 : 1;
        loads->y -= 2 * back;
        if (DIRECT) march_on(&loads->cursor, -back);
    }
}

/* The same if it is `wanted`: what comes behind the last row of a segment is not. */
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT>
TSR_DEVICE_FN void ask_pair(const march_pass &p, const march_lane &l, const march_plane<typename element<D>::memory> &plane,
                            march_loads<D, V, ALONG_X, SPLIT, DIRECT> *loads, int wanted)
{
    if (!DIRECT || wanted) {
        load_pair(p, l, plane, loads);
        return;
    }
    tsr_copy_async_close(); /* next_pair counts them */
    loads->slot = (loads->slot + 1) % march_coming<typename element<D>::memory, V>::AHEAD;
}

/* The pair of rows that came first. */
template <tsr_dtype D, int V, int ALONG_X, int SPLIT, int DIRECT>
TSR_DEVICE_FN void next_pair(const march_loads<D, V, ALONG_X, SPLIT, DIRECT> &loads, run<typename element<D>::memory, V> *to)
{
    typedef march_coming<typename element<D>::memory, V> coming;
    const march_piece *from = loads.coming + loads.slot * (2 * coming::PIECES * WARP);
    if (DIRECT) tsr_copy_async_wait<coming::AHEAD - 1>();
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int b = 0; b < coming::BYTES; b += 16)
            memcpy((char *)to[h].v + b, from + (h * coming::PIECES + b / 16) * WARP, coming::BYTES < 16 ? coming::BYTES : 16);
    }
}

template <int VALUE> struct constant {
    static constexpr int value = VALUE;
};

/* Pairs of rows in SLOT and the following ones, as long as there are any. */
template <int SLOT, int GROUP, class P> TSR_DEVICE_FN void march_slots(P &pair, const int32_t &newest, int32_t last)
{
    pair(constant<0>(), constant<SLOT>());
    if constexpr (SLOT + 1 < GROUP) {
        if (newest <= last) march_slots<SLOT + 1, GROUP>(pair, newest, last);
    }
}

/* The march along rows [begin, end) of an axis of n; begin is even. */
template <tsr_dtype D, class SHAPE, int ALONG_X, int INVERSE, int DIRECT>
TSR_DEVICE_FN void march(const march_pass &p, const march_lane &l, const march_plane<typename element<D>::memory> &plane, int32_t begin, int32_t end,
                         int32_t n, typename element<D>::row *buffer, march_piece *coming)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    typedef march_ring<SHAPE> ring;
    typedef march_coming<M, lane_samples<D, SHAPE>::V> arrives;
    constexpr int V = lane_samples<D, SHAPE>::V, ROWS = SHAPE::ROWS, LAST = SHAPE::STEPS - 1;
    constexpr int DONE = SHAPE::row(LAST) - SHAPE::parity(LAST); /* the even one of the two rows that are finished, from the newest */
    const int32_t reach = SHAPE::PAIRS ? 0 : p.filter.reach, last = ((end - 1) & ~1) - DONE;
    const int32_t from = l.boundary == TSR_WAVELET_PERIODIC ? begin - reach : tsr_maxi(begin - reach, 0), first = from < 0 ? from + n : from;
    march_loads<D, V, ALONG_X, INVERSE, DIRECT> loads = { march_from<M, INVERSE>(plane, first), first, n, coming, 0 };
    march_cursor<M> store = march_from<M, !INVERSE>(plane, begin);
    R window[ring::ROWS][V] = {};
    uint32_t bad = 0;
#pragma unroll
    for (int k = 0; k < arrives::AHEAD; k++) ask_pair(p, l, plane, &loads, from + 1 + 2 * k <= last);
    /* Rows for which no step looks beyond the ends, if the strip does not either. */
    const int32_t calm_from = SHAPE::before(LAST), calm_to = n - 1 - SHAPE::behind(LAST);
    const int calm = !(ALONG_X && l.edge && l.boundary != TSR_WAVELET_PERIODIC);
    int32_t newest = from + 1;
    /* One pair of rows, into this slot of the window. */
    auto pair = [&](auto edge, auto slot) {
        constexpr int EDGE = decltype(edge)::value, SLOT = decltype(slot)::value, NEW = 2 * SLOT;
        if constexpr (EDGE) turn_window<2, ring::ROWS>(window); /* always into the last slot of a group */
        run<M, V> came[2];
        next_pair(loads, came);
#pragma unroll
        for (int h = 0; h < 2; h++)
            take_lane<D, V, ALONG_X, INVERSE, DIRECT>(p, l, plane.bits | (uint32_t)h << p.axis, came[h], window[NEW + h], &bad);
        ask_pair(p, l, plane, &loads, newest + 2 * arrives::AHEAD <= last);
        if constexpr (ALONG_X && !INVERSE) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                lift_lane<D, V, SHAPE, DIRECT, EDGE, 0>(window[NEW + h], p.filter, l, buffer);
                watch_lane<D, V, DIRECT>(window[NEW + h], l, &bad);
            }
        }
        lift_window<D, V, SHAPE, EDGE, SLOT, 0>(window, p.filter, newest, n, l.boundary);
        const int32_t y = newest + DONE;
        newest += 2;
        if (y < begin) return;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const run<M, V> r = give_lane<D, V, SHAPE, ALONG_X, INVERSE, DIRECT, EDGE>(p, l, plane.bits | (uint32_t)h << p.axis,
                                                                                       window[ring::at(SLOT, ROWS - 1 + DONE + h)], buffer, &bad);
            if (l.own <= 0 || (h && y + 1 >= end)) continue;
            if constexpr (DIRECT) store_row<M, V, !INVERSE && ALONG_X ? 2 : 1>(store, h, r);
            else each_sample<M, V, ALONG_X, !INVERSE>(p, l, plane, y + h, 0, [&](M *to, int k) { *to = run_at(r, k); });
        }
        march_on(&store, 1);
    };
#pragma unroll 1
    while (newest <= last) {
        if constexpr (DIRECT) {
            const int periodic = l.boundary == TSR_WAVELET_PERIODIC;
            if (calm && (periodic || newest >= calm_from)) {
                const int32_t stop = periodic || last <= calm_to ? last : calm_to - 2 * (ring::GROUP - 1);
#pragma unroll 1
                while (newest <= stop) {
                    turn_window<2 * ring::GROUP, ring::ROWS>(window);
                    march_slots<0, ring::GROUP>(pair, newest, last);
                }
                if (newest > last) break;
            }
        }
        pair(constant<1>(), constant<ring::GROUP - 1>());
    }
    if (D == TSR_I16 && bad >> 16 && l.own > 0 && p.lost) atomicOr(p.lost, 1u);
}

/* Blocks a multiprocessor: as many as the window's registers leave room for (measured on an H200). */
template <tsr_dtype D, class SHAPE> struct march_blocks {
    static constexpr int WORDS = SHAPE::ROWS * lane_samples<D, SHAPE>::V * (int)sizeof(typename element<D>::row) / 4;
    static constexpr int PACKED = D == TSR_I16, COUNT = WORDS <= (PACKED ? 32 : 20) ? 5 : WORDS <= (PACKED ? 64 : 40) ? 4 : WORDS <= 128 ? 3 : 2;
};

template <tsr_dtype D, class SHAPE, int ALONG_X, int INVERSE, int DIRECT>
TSR_KERNEL(__launch_bounds__(WARPS *WARP, march_blocks<D, SHAPE>::COUNT) march_kernel)
(march_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int V = lane_samples<D, SHAPE>::V;
    tsr_chain_next(); /* blocks of the next level find their places while the last ones of this one end */
    TSR_SHARED(R, edge_rows, ALONG_X && !DIRECT ? WARPS * WARP * V : 1);
    const uint32_t bits = other_bits(p.split, p.axis, blockIdx.y);
    constexpr int COMING = march_coming<M, V>::PER_WARP;
    TSR_SHARED(march_piece, coming, WARPS * COMING);
    /* Told to the compiler as the same for all lanes: so are the rows then, and it counts them once for the warp. */
    const int32_t warp = __shfl_sync(TSR_WARP_ALL, (int32_t)threadIdx.x / WARP, 0), n = (int32_t)p.size[p.axis];
    const uint32_t task = blockIdx.x * WARPS + (uint32_t)warp, rest = task / (uint32_t)p.strips; /* what lies side by side in memory goes first */
    const uint32_t other = (uint32_t)(p.axis == 1 ? p.segments : p.planes), part = p.axis == 1 ? rest % other : rest / other;
    const uint32_t number = p.axis == 1 ? rest / other : rest % other;
    R *buffer = edge_rows + (ALONG_X && !DIRECT ? warp * WARP * V : 0);
    march_plane<M> plane;
    march_lane l;
    l.lane = (int32_t)threadIdx.x % WARP;
    l.n = (int32_t)march_size(p, bits, 0);
    l.boundary = p.boundary;
    l.begin = ((int32_t)(task % (uint32_t)p.strips) * (WARP - 2 * p.halo_lanes) - p.halo_lanes) * V;
    l.first = l.begin + l.lane * V;
    l.wrapped = l.n ? l.first % l.n : 0;
    if (l.wrapped < 0) l.wrapped += l.n;
    l.edge = l.begin < 0 || l.begin + WARP * V > l.n;
    l.own = l.lane >= p.halo_lanes && l.lane < WARP - p.halo_lanes ? l.n - l.first : 0;
    const int idle = l.begin >= l.n || part >= (uint32_t)p.segments || !march_place<M, V, ALONG_X, DIRECT>(p, l, bits, number, &plane);
    tsr_chain_wait();
    if (idle) return; /* all lanes of the warp */
    const int32_t begin = (int32_t)(part * (uint32_t)p.segment), end = tsr_mini(begin + (int32_t)p.segment, n);
    march<D, SHAPE, ALONG_X, INVERSE, DIRECT>(p, l, plane, begin, end, n, buffer, coming + warp * COMING + l.lane);
}

/* May `bytes` at a time, or pieces of 16, be moved along x? */
template <class M> static int runs_aligned(const tsr_wavelet_array *a, uintptr_t bytes)
{
    if (bytes > 16) bytes = 16;
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
    if (blocks > INT32_MAX / WARPS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld strips, a GPU takes at most 2^29", (long long)blocks);
    const dim3 grid((uint32_t)blocks, combinations);
    if (direct && combinations == 1) TSR_LAUNCH_DEPENDENT(queue, (march_kernel<D, SHAPE, ALONG_X, INVERSE, 1>), grid.x, WARPS * WARP, 0, p);
    else if (direct) TSR_LAUNCH(queue, (march_kernel<D, SHAPE, ALONG_X, INVERSE, 1>), grid, WARPS * WARP, 0, p);
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
    if constexpr (D == TSR_I16 || D == TSR_I32 || D == TSR_F32) { /* in 32 bits what codecs have: pictures on a device */
        TRY_SHAPE(wide)
        TRY_SHAPE(wider)
    }
    if constexpr (D == TSR_I16 || D == TSR_F32) { TRY_SHAPE(widest) }
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
