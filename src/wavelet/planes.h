/* wavelet/planes.h: x and y of a level in one pass on the GPU, included by wavelet_cuda.cu. Each sample is read and written once.
 *
 * A warp owns a strip of columns and slides down a segment of its rows; a lane holds 16 bytes of neighbouring samples. A row is lifted along x in
 * registers, neighbours by shuffles, then joins a ring of rows in shared memory, where each lane sees its own columns only: the steps along y
 * need no barrier. The next rows are on their way to shared memory meanwhile. Strips overlap by the lanes, segments by the rows that the steps
 * reach. Rows wait for each other as on the CPU (slide_advance in wavelet_cpu.c); spec wavelet.md 2.8, 2.11. Filters with symmetric steps of 2, 4
 * or 8 taps, and Haar; others take the axis kernel. */
#ifndef TSR_WAVELET_PLANES_H
#define TSR_WAVELET_PLANES_H

enum { WARP = 32, BEYOND = 8, SHORTEST_SEGMENT = 16, LONGEST_SEGMENT = 256, AHEAD = 8 }; /* AHEAD: rows on their way */

/* RING: what rows are held as. */
template <tsr_dtype D, class RING> struct strip {
    typedef typename element<D>::memory M;
    typedef typename element<D>::row R;
    enum { V = sizeof(M) < 8 ? (int)(16 / sizeof(M)) : 2, QUADS = (int)(V * sizeof(RING) / 16), PER = (int)(16 / sizeof(RING)) };
    struct alignas(16) quad {
        RING v[PER];
    };
};

typedef struct plane_pass {
    tsr_wavelet_level level;
    tsr_lift_filter filter;
    tsr_wavelet_array band[TSR_WAVELET_BANDS];
    double load_scale[TSR_WAVELET_BANDS], store_scale[TSR_WAVELET_BANDS];
    int64_t segment, segments, strips;
    int32_t halo_lanes, ring_mask;
    int32_t scaled, aligned; /* rows begin at places that can be copied 16 bytes at a time */
    uint32_t *lost;
} plane_pass;

/* What a kernel knows of its filter: C0 and C1 taps in the steps 0, 2, ... and 1, 3, ..., of odd samples first (inverse: of even ones); STEPS 0: nothing. */
template <int STEPS_, int C0_, int C1_, int INVERSE_> struct shape {
    static constexpr int STEPS = STEPS_, C0 = C0_, C1 = C1_, INVERSE = INVERSE_;
    static constexpr int MOST = STEPS_ ? STEPS_ : (int)TSR_WAVELET_STEPS, UNROLL = STEPS_ ? STEPS_ : 1;
    TSR_INSIDE static int32_t steps(const tsr_lift_filter &f) { return STEPS != 0 ? STEPS : f.steps; }
    TSR_INSIDE static int32_t count(const tsr_lift_step &s, int32_t k) { return STEPS != 0 ? (k & 1 ? C1 : C0) : s.count; }
    TSR_INSIDE static int32_t parity(const tsr_lift_step &s, int32_t k) { return STEPS != 0 ? (k & 1) ^ (1 - INVERSE) : s.parity; }
};
static int fits_shape(const tsr_lift_filter *f, int32_t steps, int32_t c0, int32_t c1, int32_t inverse)
{
    if (f->steps != steps) return 0;
    for (int32_t k = 0; k < steps; k++)
        if (f->step[k].count != (k & 1 ? c1 : c0) || f->step[k].parity != ((k & 1) ^ !inverse)) return 0;
    return 1;
}

/* Is a step one of those that the plane kernel knows? */
static int plane_step(const tsr_lift_step *s)
{
    return (s->symmetric && (s->count == 2 || s->count == 4 || s->count == 8)) || (s->count == 1 && (s->first == 1 || s->first == -1));
}

/* What a lane knows of its strip. */
typedef struct plane_lane {
    int32_t first, begin, n, ny;  /* sample of the lane's first element, of the warp's; samples in a row; rows */
    int32_t lane, boundary, edge; /* edge: the strip reaches beyond the row */
    int32_t own;                  /* the lane's samples that are the strip's to write */
} plane_lane;

/* Notes in the upper half of *bad whether one of the lane's own values leaves 16 bits. */
template <int V, class R> TSR_DEVICE_FN void watch_lane(const R *x, int32_t own, uint32_t *bad)
{
    if (own >= V) {
#pragma unroll
        for (int k = 0; k < V; k++) *bad |= (uint32_t)x[k] + 32768u;
    } else if (own > 0) {
#pragma unroll
        for (int k = 0; k < V; k++)
            if (k < own) *bad |= (uint32_t)x[k] + 32768u;
    }
}

/* A step along x over the lane's samples. ONE: the offset of a single tap, else 0. */
template <tsr_dtype D, int V, int P, int COUNT, int ONE>
TSR_DEVICE_FN void lift_lane(typename element<D>::row *x, const tsr_lift_step &s, const plane_lane &l, typename element<D>::row *buffer)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    enum { REACH = ONE ? 1 : COUNT - 1 };
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
    if (l.edge && l.boundary != TSR_WAVELET_PERIODIC) { /* the same for all lanes of the warp; periodic rows were loaded around */
#pragma unroll
        for (int k = 0; k < V; k++) buffer[l.lane * V + k] = x[k];
        __syncwarp();
#pragma unroll
        for (int pos = -REACH; pos < V + REACH; pos++) {
            const int32_t i = l.first + pos;
            if (!((pos ^ P) & 1) || (i >= 0 && i < l.n)) continue;
            const int32_t j = (int32_t)tsr_lift_index(i, l.n, l.boundary);
            e[BEYOND + pos] = j < 0 ? (R)0 : buffer[tsr_maxi(0, tsr_mini(j - l.begin, WARP * V - 1))];
        }
        __syncwarp();
    }
#pragma unroll
    for (int k = P; k < V; k += 2) {
        auto neighbour = [&](int t) -> S { return (S)e[BEYOND + k + (ONE ? ONE : 2 * t - (COUNT - 1))]; };
        x[k] = lifted_as<D, COUNT>(s, x[k], neighbour);
    }
}

template <tsr_dtype D, int V, int P>
TSR_DEVICE_FN void lift_lane_parity(typename element<D>::row *x, const tsr_lift_step &s, int32_t count, const plane_lane &l,
                                    typename element<D>::row *buffer)
{
    if (count == 2) lift_lane<D, V, P, 2, 0>(x, s, l, buffer);
    else if (count == 4) lift_lane<D, V, P, 4, 0>(x, s, l, buffer);
    else if (count == 8) lift_lane<D, V, P, 8, 0>(x, s, l, buffer);
    else if (s.first < 0) lift_lane<D, V, P, 1, -1>(x, s, l, buffer);
    else lift_lane<D, V, P, 1, 1>(x, s, l, buffer);
}

template <tsr_dtype D, int V, class SHAPE>
TSR_DEVICE_FN void lift_along_x(typename element<D>::row *x, const tsr_lift_filter &f, const plane_lane &l, typename element<D>::row *buffer)
{
#pragma unroll SHAPE::UNROLL
    for (int32_t k = 0; k < SHAPE::steps(f); k++) {
        if (SHAPE::parity(f.step[k], k)) lift_lane_parity<D, V, 1>(x, f.step[k], SHAPE::count(f.step[k], k), l, buffer);
        else lift_lane_parity<D, V, 0>(x, f.step[k], SHAPE::count(f.step[k], k), l, buffer);
    }
}

/* After an axis values fit into 16 bits, or are lost. */
template <tsr_dtype D, int V> TSR_DEVICE_FN void narrow_lane(typename element<D>::row *x, const plane_lane &l, uint32_t *bad)
{
    if constexpr (D == TSR_I16) {
        watch_lane<V>(x, l.own, bad);
#pragma unroll
        for (int k = 0; k < V; k++) x[k] = (typename element<D>::row)(int16_t)(int32_t)x[k];
    }
}

/* COUNT values at p[i * stride], those with i < valid: one access where they are neighbours and aligned. */
template <class M, int COUNT> struct alignas(sizeof(M) * COUNT) run {
    M v[COUNT];
};
template <class M, int COUNT> TSR_DEVICE_FN void load_run(const M *p, int64_t stride, int64_t valid, M *v)
{
    if (valid >= COUNT && stride == 1 && ((uintptr_t)p & (sizeof(M) * COUNT - 1)) == 0) {
        run<M, COUNT> r = *(const run<M, COUNT> *)(const void *)p;
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = r.v[k];
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++) v[k] = k < valid ? p[k * stride] : (M)0;
    }
}
template <class M, int COUNT> TSR_DEVICE_FN void store_run(M *p, int64_t stride, int64_t valid, const M *v)
{
    if (valid >= COUNT && stride == 1 && ((uintptr_t)p & (sizeof(M) * COUNT - 1)) == 0) {
        run<M, COUNT> r;
#pragma unroll
        for (int k = 0; k < COUNT; k++) r.v[k] = v[k];
        *(run<M, COUNT> *)(void *)p = r;
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            if (k < valid) p[k * stride] = v[k];
    }
}

/* The rows that are on their way, and those that are not because they lie around the end or at odd places. */
template <tsr_dtype D, int V> struct plane_rows {
    typedef typename element<D>::memory M;
    M *samples, *base[4]; /* where the plane begins in the samples and in the bands: of even rows low, high, of odd rows low, high */
    run<M, V> *stage;     /* the lane's of AHEAD rows, WARP apart */
    uint32_t bits;        /* of the other axes */
};

/* Place of row y of a plane in its low (h 0) or high band of x. */
template <tsr_dtype D, int V> TSR_DEVICE_FN typename element<D>::memory *band_row(const plane_pass &p, const plane_rows<D, V> &rows, int32_t y, int h)
{
    return (y & 1 ? rows.base[2 + h] : rows.base[h]) + (y >> 1) * p.band[rows.bits | (uint32_t)(y & 1) << 1 | (uint32_t)h].stride[1];
}
template <tsr_dtype D, int V> TSR_DEVICE_FN int64_t band_step(const plane_pass &p, const plane_rows<D, V> &rows, int32_t y, int h)
{
    return p.band[rows.bits | (uint32_t)(y & 1) << 1 | (uint32_t)h].stride[0];
}

template <tsr_dtype D, int V, int INVERSE>
TSR_DEVICE_FN void send_lane(const plane_pass &p, const plane_lane &l, const plane_rows<D, V> &rows, int32_t y, int32_t slot)
{
    typedef typename element<D>::memory M;
    run<M, V> *to = rows.stage + slot * WARP;
    if constexpr (INVERSE) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t valid = l.first < 0 ? 0 : tsr_maxi(0, tsr_mini(((l.n + 1 - h) >> 1) - (l.first >> 1), V / 2));
            tsr_copy_async<8>((char *)(void *)to + 8 * h, band_row<D, V>(p, rows, y, h) + (valid ? l.first >> 1 : 0),
                              (uint32_t)valid * (uint32_t)sizeof(M));
        }
    } else {
        const int32_t valid = l.first < 0 ? 0 : tsr_maxi(0, tsr_mini(l.n - l.first, V));
        tsr_copy_async<16>(to, rows.samples + (valid ? l.first : 0) + y * p.level.whole.stride[1], (uint32_t)valid * (uint32_t)sizeof(M));
    }
}

/* The lane's part of row y of a plane: samples (forward) or the two bands of its parity (inverse). `slot` < 0: not on its way. */
template <tsr_dtype D, int V, int INVERSE>
TSR_DEVICE_FN void load_lane(const plane_pass &p, const plane_lane &l, const plane_rows<D, V> &rows, int32_t y, int32_t slot,
                             typename element<D>::row *x, uint32_t *bad)
{
    typedef typename element<D>::memory M;
    M v[V], halves[2][V / 2];
    if (slot >= 0) {
        const run<M, V> r = rows.stage[slot * WARP];
#pragma unroll
        for (int k = 0; k < V; k++) v[k] = INVERSE ? r.v[(k & 1) * (V / 2) + (k >> 1)] : r.v[k];
    } else if (l.boundary == TSR_WAVELET_PERIODIC && l.edge) { /* around, one by one */
#pragma unroll
        for (int k = 0; k < V; k++) {
            int64_t i = tsr_lift_index(l.first + k, l.n, TSR_WAVELET_PERIODIC);
            v[k] = INVERSE ? band_row<D, V>(p, rows, y, k & 1)[(i >> 1) * band_step<D, V>(p, rows, y, k & 1)]
                           : rows.samples[i * p.level.whole.stride[0] + y * p.level.whole.stride[1]];
        }
    } else if (INVERSE) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int64_t step = band_step<D, V>(p, rows, y, h);
            load_run<M, V / 2>(band_row<D, V>(p, rows, y, h) + (l.first >> 1) * step, step, l.first < 0 ? 0 : ((l.n + 1 - h) >> 1) - (l.first >> 1),
                               halves[h]);
        }
#pragma unroll
        for (int k = 0; k < V; k++) v[k] = halves[k & 1][k >> 1];
    } else {
        load_run<M, V>(rows.samples + l.first * p.level.whole.stride[0] + y * p.level.whole.stride[1], p.level.whole.stride[0],
                       l.first < 0 ? 0 : l.n - l.first, v);
    }
#pragma unroll
    for (int k = 0; k < V; k++)
        x[k] = loaded<D>(v[k], INVERSE ? 0 : p.level.shift, p.scaled ? p.load_scale[rows.bits | (uint32_t)(y & 1) << 1 | (uint32_t)(k & 1)] : 1.0);
    if (D == TSR_I16 && !INVERSE && p.level.shift) watch_lane<V>(x, l.own, bad);
}

template <tsr_dtype D, int V, int INVERSE>
TSR_DEVICE_FN void store_lane(const plane_pass &p, const plane_lane &l, const plane_rows<D, V> &rows, int32_t y, const typename element<D>::row *x,
                              int32_t lower, uint32_t *bad)
{
    typedef typename element<D>::memory M;
    M v[V], halves[2][V / 2];
    uint32_t lost = 0;
    if (l.own <= 0) return;
#pragma unroll
    for (int k = 0; k < V; k++) {
        uint32_t leaves = 0;
        v[k] = stored<D>(x[k], lower, p.scaled ? p.store_scale[rows.bits | (uint32_t)(y & 1) << 1 | (uint32_t)(k & 1)] : 1.0, &leaves);
        halves[k & 1][k >> 1] = v[k];
        if (INVERSE && D == TSR_I16 && k < l.own) lost |= leaves; /* forward they fit: see narrow_lane and lift_columns */
    }
    *bad |= lost << 16;
    if constexpr (INVERSE) {
        store_run<M, V>(rows.samples + l.first * p.level.whole.stride[0] + y * p.level.whole.stride[1], p.level.whole.stride[0], l.n - l.first, v);
    } else {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int64_t step = band_step<D, V>(p, rows, y, h);
            store_run<M, V / 2>(band_row<D, V>(p, rows, y, h) + (l.first >> 1) * step, step, ((l.n + 1 - h) >> 1) - (l.first >> 1), halves[h]);
        }
    }
}

/* A step along y for the lane's columns of row i; `window`: the row that lies in slot 0 of the ring. */
template <tsr_dtype D, class RING, int COUNT>
TSR_DEVICE_FN void lift_columns(const plane_pass &p, const plane_lane &l, const tsr_lift_step &s, typename strip<D, RING>::quad *ring, int32_t window,
                                int32_t i, uint32_t *bad)
{
    typedef strip<D, RING> T;
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    int32_t place[COUNT], zero[COUNT];
    const int32_t own = (((i - window) & p.ring_mask) * T::QUADS) * WARP + l.lane;
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        int32_t j = i + s.first + 2 * t;
        if (l.boundary != TSR_WAVELET_PERIODIC && (j < 0 || j >= l.ny)) j = (int32_t)tsr_lift_index(j, l.ny, l.boundary);
        zero[t] = j < 0 && l.boundary == TSR_WAVELET_ZERO;
        place[t] = (((j - window) & p.ring_mask) * T::QUADS) * WARP + l.lane;
    }
#pragma unroll
    for (int q = 0; q < T::QUADS; q++) {
        typename T::quad x = ring[own + q * WARP], v[COUNT];
        R r[T::PER];
#pragma unroll
        for (int t = 0; t < COUNT; t++) {
            v[t] = ring[place[t] + q * WARP];
            if (zero[t]) v[t] = typename T::quad();
        }
#pragma unroll
        for (int k = 0; k < T::PER; k++) {
            auto neighbour = [&](int t) -> S { return (S)v[t].v[k]; };
            r[k] = lifted_as<D, COUNT>(s, (R)x.v[k], neighbour);
            x.v[k] = (RING)r[k];
        }
        if (sizeof(RING) < sizeof(R)) watch_lane<T::PER>(r, l.own - q * T::PER, bad);
        ring[own + q * WARP] = x;
    }
}

template <tsr_dtype D, class RING, class SHAPE> TSR_KERNEL(plane_kernel)(plane_pass p)
{
    typedef strip<D, RING> T;
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int INVERSE = SHAPE::INVERSE;
    TSR_SHARED_DYNAMIC(typename T::quad, ring);
    run<M, T::V> *stage = (run<M, T::V> *)(void *)(ring + (p.ring_mask + 1) * T::QUADS * WARP);
    R *buffer = (R *)(void *)(stage + AHEAD * WARP);
    const tsr_wavelet_level &level = p.level;
    int64_t task = blockIdx.x;
    int64_t strip_number = task % p.strips, plane = task / p.strips / p.segments, part = task / p.strips % p.segments;
    plane_lane l;
    l.lane = (int32_t)threadIdx.x;
    l.n = (int32_t)level.size[0];
    l.ny = (int32_t)level.size[1];
    l.boundary = (int32_t)level.boundary;
    l.begin = ((int32_t)strip_number * (WARP - 2 * p.halo_lanes) - p.halo_lanes) * T::V;
    l.first = l.begin + l.lane * T::V;
    l.edge = l.begin < 0 || l.begin + WARP * T::V > l.n;
    l.own = l.lane >= p.halo_lanes && l.lane < WARP - p.halo_lanes ? l.n - l.first : 0;

    plane_rows<D, T::V> rows = { (M *)level.whole.data, {}, stage + l.lane, 0 };
    int64_t offset[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        const int64_t i = plane % level.size[a];
        plane /= level.size[a];
        rows.samples += i * level.whole.stride[a];
        if (level.axes >> a & 1) rows.bits |= (uint32_t)(i & 1) << a;
    }
    plane = task / p.strips / p.segments;
#pragma unroll
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        const int64_t i = plane % level.size[a];
        plane /= level.size[a];
#pragma unroll
        for (uint32_t b = 0; b < 4; b++) offset[b] += (level.axes >> a & 1 ? i >> 1 : i) * p.band[rows.bits | b].stride[a];
    }
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) rows.base[b] = (M *)p.band[rows.bits | b].data + offset[b];

    const int periodic = l.boundary == TSR_WAVELET_PERIODIC, sent = p.aligned && !(periodic && l.edge);
    const int32_t begin = (int32_t)(part * p.segment), end = tsr_mini(begin + (int32_t)p.segment, l.ny), reach = p.filter.reach;
    const int32_t from = periodic ? begin - reach : tsr_maxi(begin - reach, 0), to = periodic ? end + reach : tsr_mini(end + reach, l.ny);
    int32_t next[SHAPE::MOST], stop[SHAPE::MOST], out = begin, sum = 0;
    uint32_t bad = 0;
#pragma unroll SHAPE::UNROLL
    for (int32_t k = 0; k < SHAPE::steps(p.filter); k++) {
        sum += p.filter.step[k].reach;
        next[k] = from + (periodic || from > 0 ? sum : 0);
        stop[k] = to - (periodic || to < l.ny ? sum : 0);
        next[k] += (next[k] ^ SHAPE::parity(p.filter.step[k], k)) & 1;
    }
    if (sent) {
        for (int32_t r = from; r < from + AHEAD; r++) {
            if (r < to) send_lane<D, T::V, INVERSE>(p, l, rows, (int32_t)tsr_lift_index(r, l.ny, TSR_WAVELET_PERIODIC), (r - from) % AHEAD);
            tsr_copy_async_close();
        }
    }
    for (int32_t r = from; r <= to; r++) {
        const int flush = r == to;
        R x[T::V];
        if (!flush) {
            const int32_t slot = sent ? (r - from) % AHEAD : -1;
            if (sent) tsr_copy_async_wait<AHEAD - 1>();
            load_lane<D, T::V, INVERSE>(p, l, rows, (int32_t)tsr_lift_index(r, l.ny, TSR_WAVELET_PERIODIC), slot, x, &bad);
            if (sent) {
                if (r + AHEAD < to) send_lane<D, T::V, INVERSE>(p, l, rows, (int32_t)tsr_lift_index(r + AHEAD, l.ny, TSR_WAVELET_PERIODIC), slot);
                tsr_copy_async_close();
            }
            if (!INVERSE) {
                lift_along_x<D, T::V, SHAPE>(x, p.filter, l, buffer);
                narrow_lane<D, T::V>(x, l, &bad);
            }
            typename T::quad *row = ring + (((r - from) & p.ring_mask) * T::QUADS) * WARP + l.lane;
#pragma unroll
            for (int q = 0; q < T::QUADS; q++) {
                typename T::quad c;
#pragma unroll
                for (int k = 0; k < T::PER; k++) c.v[k] = (RING)x[q * T::PER + k];
                row[q * WARP] = c;
            }
        }
        int32_t front = r, settled = flush ? end : INT32_MAX, before = 0;
#pragma unroll SHAPE::UNROLL
        for (int32_t k = 0; k < SHAPE::steps(p.filter); k++) {
            const tsr_lift_step &s = p.filter.step[k];
            const int32_t count = SHAPE::count(s, k);
            front -= before > s.reach ? before : s.reach;
            before = s.reach;
            const int32_t limit = flush ? stop[k] : tsr_mini(front + 1, stop[k]);
            for (; next[k] < limit; next[k] += 2) {
                if (count == 2) lift_columns<D, RING, 2>(p, l, s, ring, from, next[k], &bad);
                else if (count == 4) lift_columns<D, RING, 4>(p, l, s, ring, from, next[k], &bad);
                else if (count == 8) lift_columns<D, RING, 8>(p, l, s, ring, from, next[k], &bad);
                else lift_columns<D, RING, 1>(p, l, s, ring, from, next[k], &bad);
            }
            if (!flush) settled = tsr_mini(settled, next[k] - s.reach);
        }
        for (; out < tsr_mini(settled, end); out++) {
            const typename T::quad *row = ring + (((out - from) & p.ring_mask) * T::QUADS) * WARP + l.lane;
#pragma unroll
            for (int q = 0; q < T::QUADS; q++) {
                typename T::quad c = row[q * WARP];
#pragma unroll
                for (int k = 0; k < T::PER; k++) x[q * T::PER + k] = (R)c.v[k];
            }
            if (INVERSE) {
                narrow_lane<D, T::V>(x, l, &bad);
                lift_along_x<D, T::V, SHAPE>(x, p.filter, l, buffer);
            }
            store_lane<D, T::V, INVERSE>(p, l, rows, out, x, INVERSE ? level.shift : 0, &bad);
        }
    }
    if (bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* May rows be copied 16 bytes (forward) or 8 and 8 (inverse) at a time? */
template <class M> static int rows_aligned(const tsr_wavelet_array *a, uintptr_t bytes)
{
    uintptr_t rest = (uintptr_t)a->data;
    for (int32_t k = 1; k < TSR_WAVELET_DIMENSIONS; k++) rest |= (uintptr_t)(a->stride[k] * (int64_t)sizeof(M));
    return a->stride[0] == 1 && rest % bytes == 0;
}

template <tsr_dtype D, class RING, class SHAPE> static tsr_status launch_shape(tsr_queue *queue, plane_pass &p)
{
    typedef strip<D, RING> T;
    typedef typename element<D>::memory M;
    const tsr_wavelet_level &l = p.level;
    int64_t rows = 3 + p.filter.step[p.filter.steps - 1].reach, planes = l.size[2] * l.size[3] * l.size[4];
    for (int32_t k = 0; k < p.filter.steps; k++) {
        int32_t before = k ? p.filter.step[k - 1].reach : 0;
        rows += before > p.filter.step[k].reach ? before : p.filter.step[k].reach;
    }
    p.ring_mask = 7;
    while (p.ring_mask + 1 < rows) p.ring_mask = 2 * p.ring_mask + 1;
    p.halo_lanes = (p.filter.reach + T::V - 1) / T::V;
    int64_t width = (WARP - 2 * p.halo_lanes) * T::V;
    p.strips = (l.size[0] + width - 1) / width;
    int64_t wanted = l.size[1] * p.strips * planes / (24 * (int64_t)tsr_queue_processors(queue)); /* warps on every processor */
    p.segment = tsr_maxl(SHORTEST_SEGMENT, tsr_minl(wanted / 2 * 2, LONGEST_SEGMENT));
    p.segments = (l.size[1] + p.segment - 1) / p.segment;
    p.aligned = sizeof(M) * T::V == 16;
    if (!SHAPE::INVERSE) p.aligned = p.aligned && rows_aligned<M>(&l.whole, 16);
    for (uint32_t b = 0; SHAPE::INVERSE && b < TSR_WAVELET_BANDS; b++)
        if (!(b & ~l.axes)) p.aligned = p.aligned && rows_aligned<M>(&p.band[b], 8);
    int64_t blocks = p.strips * p.segments * planes;
    size_t shared = ((size_t)(p.ring_mask + 1) * T::QUADS + AHEAD) * WARP * 16 + WARP * T::V * sizeof(typename element<D>::row);
    if (blocks > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld strips, a GPU takes at most 2^31", (long long)blocks);
    TSR_LAUNCH_ALLOW_SHARED((plane_kernel<D, RING, SHAPE>), shared);
    TSR_LAUNCH(queue, (plane_kernel<D, RING, SHAPE>), (uint32_t)blocks, WARP, shared, p);
    return TSR_OK;
}

/* The usual filters of the usual types have kernels of their own. RING2: what rows of two steps are held as, of which every value is a finished one. */
template <tsr_dtype D, class RING2, class RING, int INVERSE> static tsr_status launch_usual(tsr_queue *queue, plane_pass &p)
{
    const tsr_lift_filter *f = &p.filter;
    if (fits_shape(f, 2, 2, 2, INVERSE)) return launch_shape<D, RING2, shape<2, 2, 2, INVERSE>>(queue, p);
    if (fits_shape(f, 2, 1, 1, INVERSE)) return launch_shape<D, RING2, shape<2, 1, 1, INVERSE>>(queue, p);
    if (fits_shape(f, 2, INVERSE ? 2 : 4, INVERSE ? 4 : 2, INVERSE))
        return launch_shape<D, RING2, shape<2, INVERSE ? 2 : 4, INVERSE ? 4 : 2, INVERSE>>(queue, p);
    if (fits_shape(f, 2, 4, 4, INVERSE)) return launch_shape<D, RING2, shape<2, 4, 4, INVERSE>>(queue, p);
    if (fits_shape(f, 2, 8, 8, INVERSE)) return launch_shape<D, RING2, shape<2, 8, 8, INVERSE>>(queue, p);
    if (fits_shape(f, 4, 2, 2, INVERSE)) return launch_shape<D, RING, shape<4, 2, 2, INVERSE>>(queue, p);
    if (f->steps <= 2) return launch_shape<D, RING2, shape<0, 0, 0, INVERSE>>(queue, p);
    return launch_shape<D, RING, shape<0, 0, 0, INVERSE>>(queue, p);
}

#endif
