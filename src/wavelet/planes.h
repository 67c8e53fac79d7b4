/* wavelet/planes.h: x and y of a level in one pass on the GPU, included by wavelet_cuda.cu. Each sample is read and written once.
 *
 * A warp owns a strip of columns and slides down a segment of its rows; a lane holds 16 bytes of neighbouring samples. A row is lifted along x in
 * registers, neighbours by shuffles, then joins a ring of rows in shared memory, where each lane sees its own columns only: the steps along y
 * need no barrier. Strips overlap by the lanes, segments by the rows that the steps reach. Rows wait for each other as on the CPU (slide_advance
 * in wavelet_cpu.c); spec wavelet.md 2.8, 2.11. Filters with symmetric steps of 2, 4 or 8 taps, and Haar; others take the axis kernel. */
#ifndef TSR_WAVELET_PLANES_H
#define TSR_WAVELET_PLANES_H

enum { WARP = 32, BEYOND = 8, SHORTEST_SEGMENT = 16, LONGEST_SEGMENT = 256 };

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
    int32_t inverse, halo_lanes, ring_mask;
    uint32_t *lost;
} plane_pass;

/* Is a step one of those that the plane kernel knows? */
static int plane_step(const tsr_lift_step *s)
{
    return (s->symmetric && (s->count == 2 || s->count == 4 || s->count == 8)) || (s->count == 1 && (s->first == 1 || s->first == -1));
}

/* What a lane knows of its strip. */
typedef struct plane_lane {
    int64_t first, begin, n, ny;       /* sample of the lane's first element, of the warp's; samples in a row; rows */
    int32_t lane, boundary, edge, own; /* edge: the strip reaches beyond the row; own: the lane's samples are the strip's to write */
} plane_lane;

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
            int64_t i = l.first + pos;
            if (!((pos ^ P) & 1) || (i >= 0 && i < l.n)) continue;
            int64_t j = tsr_lift_index(i, l.n, l.boundary);
            e[BEYOND + pos] = j < 0 ? (R)0 : buffer[tsr_maxl(0, tsr_minl(j - l.begin, WARP * V - 1))];
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
TSR_DEVICE_FN void lift_lane_parity(typename element<D>::row *x, const tsr_lift_step &s, const plane_lane &l, typename element<D>::row *buffer)
{
    if (s.count == 2) lift_lane<D, V, P, 2, 0>(x, s, l, buffer);
    else if (s.count == 4) lift_lane<D, V, P, 4, 0>(x, s, l, buffer);
    else if (s.count == 8) lift_lane<D, V, P, 8, 0>(x, s, l, buffer);
    else if (s.first < 0) lift_lane<D, V, P, 1, -1>(x, s, l, buffer);
    else lift_lane<D, V, P, 1, 1>(x, s, l, buffer);
}

template <tsr_dtype D, int V>
TSR_DEVICE_FN void lift_along_x(typename element<D>::row *x, const tsr_lift_filter &f, const plane_lane &l, typename element<D>::row *buffer)
{
    for (int32_t k = 0; k < f.steps; k++) {
        if (f.step[k].parity) lift_lane_parity<D, V, 1>(x, f.step[k], l, buffer);
        else lift_lane_parity<D, V, 0>(x, f.step[k], l, buffer);
    }
}

/* After an axis values fit into 16 bits, or are lost. */
template <tsr_dtype D, int V> TSR_DEVICE_FN void narrow_lane(typename element<D>::row *x, const plane_lane &l, uint32_t *bad)
{
    if constexpr (D == TSR_I16) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            if (l.own && l.first + k < l.n) *bad |= TSR_LIFT_LOST(x[k]);
            x[k] = (typename element<D>::row)(int16_t)(int32_t)x[k];
        }
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

/* The lane's part of row y of a plane: samples (forward) or the two bands of its parity (inverse). */
template <tsr_dtype D, int V>
TSR_DEVICE_FN void load_lane(const plane_pass &p, const plane_lane &l, const tsr_wavelet_array *band, const typename element<D>::memory *samples,
                             uint32_t bits, int64_t y, typename element<D>::row *x, uint32_t *bad)
{
    typedef typename element<D>::memory M;
    const int periodic = l.boundary == TSR_WAVELET_PERIODIC;
    M v[V], halves[2][V / 2];
    if (periodic && l.edge) { /* around, one by one */
#pragma unroll
        for (int k = 0; k < V; k++) {
            int64_t i = tsr_lift_index(l.first + k, l.n, TSR_WAVELET_PERIODIC);
            const tsr_wavelet_array &b = band[(y & 1) * 2 + (k & 1)];
            v[k] = p.inverse ? ((const M *)b.data)[(i >> 1) * b.stride[0] + (y >> 1) * b.stride[1]]
                             : samples[i * p.level.whole.stride[0] + y * p.level.whole.stride[1]];
        }
    } else if (p.inverse) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const tsr_wavelet_array &b = band[(y & 1) * 2 + h];
            load_run<M, V / 2>((const M *)b.data + (l.first >> 1) * b.stride[0] + (y >> 1) * b.stride[1], b.stride[0],
                               l.first < 0 ? 0 : ((l.n + 1 - h) >> 1) - (l.first >> 1), halves[h]);
        }
#pragma unroll
        for (int k = 0; k < V; k++) v[k] = halves[k & 1][k >> 1];
    } else {
        load_run<M, V>(samples + l.first * p.level.whole.stride[0] + y * p.level.whole.stride[1], p.level.whole.stride[0],
                       l.first < 0 ? 0 : l.n - l.first, v);
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        x[k] = loaded<D>(v[k], p.inverse ? 0 : p.level.shift, p.load_scale[bits | (uint32_t)(y & 1) << 1 | (uint32_t)(k & 1)]);
        if (D == TSR_I16 && p.level.shift && !p.inverse && l.own && l.first + k < l.n) *bad |= TSR_LIFT_LOST(x[k]);
    }
}

template <tsr_dtype D, int V>
TSR_DEVICE_FN void store_lane(const plane_pass &p, const plane_lane &l, const tsr_wavelet_array *band, typename element<D>::memory *samples,
                              uint32_t bits, int64_t y, const typename element<D>::row *x, int32_t lower, uint32_t *bad)
{
    typedef typename element<D>::memory M;
    M v[V], halves[2][V / 2];
    if (!l.own) return;
#pragma unroll
    for (int k = 0; k < V; k++) {
        uint32_t lost = 0;
        v[k] = stored<D>(x[k], lower, p.store_scale[bits | (uint32_t)(y & 1) << 1 | (uint32_t)(k & 1)], &lost);
        halves[k & 1][k >> 1] = v[k];
        if (l.first + k < l.n) *bad |= lost;
    }
    if (p.inverse) {
        store_run<M, V>(samples + l.first * p.level.whole.stride[0] + y * p.level.whole.stride[1], p.level.whole.stride[0], l.n - l.first, v);
        return;
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const tsr_wavelet_array &b = band[(y & 1) * 2 + h];
        store_run<M, V / 2>((M *)b.data + (l.first >> 1) * b.stride[0] + (y >> 1) * b.stride[1], b.stride[0], ((l.n + 1 - h) >> 1) - (l.first >> 1),
                            halves[h]);
    }
}

/* A step along y for the lane's columns of row i; `window`: the row that lies in slot 0 of the ring. */
template <tsr_dtype D, class RING, int COUNT>
TSR_DEVICE_FN void lift_columns(const plane_pass &p, const plane_lane &l, const tsr_lift_step &s, typename strip<D, RING>::quad *ring, int64_t window,
                                int64_t i, uint32_t *bad)
{
    typedef strip<D, RING> T;
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    typename T::quad *row[COUNT], *own = ring + (((i - window) & p.ring_mask) * T::QUADS) * WARP + l.lane;
    int32_t zero[COUNT];
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        int64_t j = i + s.first + 2 * t;
        if (l.boundary != TSR_WAVELET_PERIODIC) j = tsr_lift_index(j, l.ny, l.boundary);
        zero[t] = j < 0 && l.boundary == TSR_WAVELET_ZERO;
        row[t] = ring + (((j - window) & p.ring_mask) * T::QUADS) * WARP + l.lane;
    }
#pragma unroll
    for (int q = 0; q < T::QUADS; q++) {
        typename T::quad x = own[q * WARP], v[COUNT];
#pragma unroll
        for (int t = 0; t < COUNT; t++) v[t] = row[t][q * WARP];
#pragma unroll
        for (int k = 0; k < T::PER; k++) {
            auto neighbour = [&](int t) -> S { return zero[t] ? (S)0 : (S)v[t].v[k]; };
            R r = lifted_as<D, COUNT>(s, (R)x.v[k], neighbour);
            if (sizeof(RING) < sizeof(R) && l.own && l.first + q * T::PER + k < l.n) *bad |= TSR_LIFT_LOST(r);
            x.v[k] = (RING)r;
        }
        own[q * WARP] = x;
    }
}

template <tsr_dtype D, class RING> TSR_KERNEL(plane_kernel)(plane_pass p)
{
    typedef strip<D, RING> T;
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    TSR_SHARED_DYNAMIC(typename T::quad, ring);
    R *buffer = (R *)(void *)(ring + (p.ring_mask + 1) * T::QUADS * WARP);
    const tsr_wavelet_level &level = p.level;
    int64_t task = blockIdx.x;
    int64_t strip_number = task % p.strips, plane = task / p.strips / p.segments, part = task / p.strips % p.segments;
    plane_lane l;
    l.lane = (int32_t)threadIdx.x;
    l.n = level.size[0];
    l.ny = level.size[1];
    l.boundary = (int32_t)level.boundary;
    l.begin = (strip_number * (WARP - 2 * p.halo_lanes) - p.halo_lanes) * T::V;
    l.first = l.begin + l.lane * T::V;
    l.edge = l.begin < 0 || l.begin + WARP * T::V > l.n;
    l.own = l.lane >= p.halo_lanes && l.lane < WARP - p.halo_lanes && l.first < l.n;

    tsr_wavelet_array band[4];
    uint32_t bits = 0;
    int64_t offset = 0, index[TSR_WAVELET_DIMENSIONS] = { 0, 0, 0, 0, 0 };
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        int64_t i = plane % level.size[a];
        plane /= level.size[a];
        offset += i * level.whole.stride[a];
        index[a] = level.axes >> a & 1 ? i >> 1 : i;
        if (level.axes >> a & 1) bits |= (uint32_t)(i & 1) << a;
    }
    for (uint32_t b = 0; b < 4; b++) {
        band[b] = p.band[bits | b];
        int64_t at = 0;
        for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) at += index[a] * band[b].stride[a];
        band[b].data = (M *)band[b].data + at;
    }
    M *samples = (M *)level.whole.data + offset;

    const int periodic = l.boundary == TSR_WAVELET_PERIODIC;
    const int64_t begin = part * p.segment, end = tsr_minl(begin + p.segment, l.ny), reach = p.filter.reach;
    const int64_t from = periodic ? begin - reach : tsr_maxl(begin - reach, 0), to = periodic ? end + reach : tsr_minl(end + reach, l.ny);
    int64_t next[TSR_WAVELET_STEPS], stop[TSR_WAVELET_STEPS], out = begin;
    int32_t sum = 0;
    uint32_t bad = 0;
    for (int32_t k = 0; k < p.filter.steps; k++) {
        sum += p.filter.step[k].reach;
        next[k] = from + (periodic || from > 0 ? sum : 0);
        stop[k] = to - (periodic || to < l.ny ? sum : 0);
        next[k] += (next[k] ^ p.filter.step[k].parity) & 1;
    }
    for (int64_t r = from; r <= to; r++) {
        const int flush = r == to;
        R x[T::V];
        if (!flush) {
            int64_t y = tsr_lift_index(r, l.ny, TSR_WAVELET_PERIODIC);
            load_lane<D, T::V>(p, l, band, samples, bits, y, x, &bad);
            if (!p.inverse) {
                lift_along_x<D, T::V>(x, p.filter, l, buffer);
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
        int64_t front = r, settled = flush ? end : INT64_MAX;
        for (int32_t k = 0; k < p.filter.steps; k++) {
            const tsr_lift_step &s = p.filter.step[k];
            int32_t before = k ? p.filter.step[k - 1].reach : 0;
            front -= before > s.reach ? before : s.reach;
            int64_t limit = flush ? stop[k] : tsr_minl(front + 1, stop[k]);
            for (; next[k] < limit; next[k] += 2) {
                if (s.count == 2) lift_columns<D, RING, 2>(p, l, s, ring, from, next[k], &bad);
                else if (s.count == 4) lift_columns<D, RING, 4>(p, l, s, ring, from, next[k], &bad);
                else if (s.count == 8) lift_columns<D, RING, 8>(p, l, s, ring, from, next[k], &bad);
                else lift_columns<D, RING, 1>(p, l, s, ring, from, next[k], &bad);
            }
            if (!flush) settled = tsr_minl(settled, next[k] - s.reach);
        }
        for (; out < tsr_minl(settled, end); out++) {
            const typename T::quad *row = ring + (((out - from) & p.ring_mask) * T::QUADS) * WARP + l.lane;
#pragma unroll
            for (int q = 0; q < T::QUADS; q++) {
                typename T::quad c = row[q * WARP];
#pragma unroll
                for (int k = 0; k < T::PER; k++) x[q * T::PER + k] = (R)c.v[k];
            }
            if (p.inverse) {
                narrow_lane<D, T::V>(x, l, &bad);
                lift_along_x<D, T::V>(x, p.filter, l, buffer);
            }
            store_lane<D, T::V>(p, l, band, samples, bits, out, x, p.inverse ? level.shift : 0, &bad);
        }
    }
    if (bad && p.lost) atomicOr(p.lost, 1u);
}

template <tsr_dtype D, class RING> static tsr_status launch_planes(tsr_queue *queue, plane_pass &p)
{
    typedef strip<D, RING> T;
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
    int64_t blocks = p.strips * p.segments * planes;
    size_t shared = (size_t)(p.ring_mask + 1) * T::QUADS * WARP * 16 + WARP * T::V * sizeof(typename element<D>::row);
    if (blocks > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld strips, a GPU takes at most 2^31", (long long)blocks);
    TSR_LAUNCH_ALLOW_SHARED((plane_kernel<D, RING>), shared);
    TSR_LAUNCH(queue, (plane_kernel<D, RING>), (uint32_t)blocks, WARP, shared, p);
    return TSR_OK;
}

#endif
