/* wavelet/march_memory.h: how the rows of march.h (which includes it) come from memory and go back: a lane's samples as words, cursors that walk along the
 * axis, rows on their way to shared memory, and what is done to samples when they enter the window. */
#ifndef TSR_WAVELET_MARCH_MEMORY_H
#define TSR_WAVELET_MARCH_MEMORY_H

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
#define MARCH_WORDS(bytes) __attribute__((may_alias, aligned(bytes < 16 ? bytes : 16))) /* some are of two samples */
#else
#define MARCH_WORDS(bytes) alignas(bytes < 16 ? bytes : 16)
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

/* Rows that are on their way lie in shared memory: AHEAD pairs of them for each warp, a lane's samples of a row in pieces that a warp reads at once. */
typedef words<uint32_t, 4> march_piece;
template <class M, int V> struct march_coming {
    static constexpr int AHEAD = 3, BYTES = V * (int)sizeof(M), PIECES = (BYTES + 15) / 16, PER_WARP = AHEAD * 2 * PIECES * WARP;
};

/* Moves a row (odd 0) or the one behind it (odd 1) as one run, or as PARTS 2: low and high samples. */
template <class M, int V, int PARTS> TSR_DEVICE_FN void load_row(const march_cursor<M> &c, int odd, march_piece *to)
{
    constexpr int BYTES = march_coming<M, V>::BYTES / PARTS, SIZE = BYTES < 16 ? BYTES : 16;
#pragma unroll
    for (int h = 0; h < PARTS; h++) {
#pragma unroll
        for (int b = 0; b < BYTES; b += SIZE)
            tsr_copy_async<SIZE>((char *)(to + (h * BYTES + b) / 16 * WARP) + (h * BYTES + b) % 16, (const char *)c.at[2 * odd + h] + b, SIZE);
    }
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

#endif
