/* wavelet/wavelet_tiles_forward.h: what tiles_cuda.cu shares between the two directions, and forward: samples, steps, rows and columns of a block's tile. Part of
 * tiles_cuda.cu. */
#ifndef TSR_WAVELET_WAVELET_TILES_FORWARD_H
#define TSR_WAVELET_WAVELET_TILES_FORWARD_H

#include "wavelet/shape.h"
#include "wavelet/wavelet_tiles.h"

enum { MOST_LEVELS = 3, SHORTEST = 16, MOST_SAMPLES = 1 << 30 };

typedef struct tile_band {
    void *data;
    int64_t plane; /* strides, elements */
    int32_t row;
} tile_band;

typedef struct tile_pass {
    tsr_lift_step step[2];
    tile_band whole, band[MOST_LEVELS][4]; /* band 0 of the last level only */
    int32_t width, height, shift;
    uint32_t *lost;
} tile_pass;

/* A word of memory and how many samples it has. */
template <tsr_dtype D> struct tile_word;
template <> struct tile_word<TSR_I16> {
    typedef uint32_t type;
};
template <> struct tile_word<TSR_I32> {
    typedef int32_t type;
};
template <> struct tile_word<TSR_F32> {
    typedef float type;
};

/* COUNT words that lie side by side, moved at once. */
#ifdef TSR_EMU
#define TILE_WORDS(bytes) __attribute__((may_alias, aligned(bytes < 16 ? bytes : 16))) /* some are of two samples */
#else
#define TILE_WORDS(bytes) alignas(bytes < 16 ? bytes : 16)
#endif
template <class W, int COUNT> struct TILE_WORDS(sizeof(W) * COUNT) tile_words {
    W v[COUNT];
};

/* How a plane is cut: the tile, its threads, and of level j what belongs to a tile. */
template <class SHAPE_, int LEVELS_, int WIDTH_, int HEIGHT_, int THREADS_, int BLOCKS_> struct tile_cut {
    typedef SHAPE_ SHAPE;
    static constexpr int LEVELS = LEVELS_, WIDTH = WIDTH_, HEIGHT = HEIGHT_, THREADS = THREADS_, BLOCKS = BLOCKS_;
    static constexpr int BOTH = SHAPE::taps(0) == 2; /* steps ask on both sides */
    TSR_HD constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
    TSR_HD constexpr int pairs(int j) { return j ? 2 : 4; } /* of a unit along x */
    TSR_HD constexpr int width(int j) { return WIDTH >> j; }
    TSR_HD constexpr int height(int j) { return HEIGHT >> j; }
    /* Forward: samples of level j around the tile's own that its coefficients depend on; along x whole units of the level before. */
    TSR_HD constexpr int before(int j) { return BOTH ? 2 * ((1 << (LEVELS - j)) - 1) : 0; }
    TSR_HD constexpr int behind(int j) { return BOTH ? (1 << (LEVELS - j)) - 1 : 0; }
    TSR_HD constexpr int lead(int j) { return ceil_div(before(j), pairs(j - 1)) * pairs(j - 1); }
    TSR_HD constexpr int trail(int j) { return ceil_div(behind(j), pairs(j - 1)) * pairs(j - 1); }
    TSR_HD constexpr int rows(int j) { return height(j) + before(j) + behind(j); }
    TSR_HD constexpr int low(int j) { return (width(j + 1) + lead(j + 1) + trail(j + 1)) / 2; } /* pairs of columns: of low and of high samples */
    TSR_HD constexpr int high(int j) { return width(j + 1) / 2; }
    TSR_HD constexpr int units_x(int j) { return rows(j) * (2 * low(j) / pairs(j)); }
    /* Pairs of rows of a unit along y: so that one turn of the threads is enough. */
    TSR_HD constexpr int fewest(int columns, int count, int pairs)
    {
        return columns * ceil_div(count, pairs) <= THREADS ? pairs : fewest(columns, count, pairs + 1);
    }
    TSR_HD constexpr int depth(int j) { return fewest(low(j) + high(j), rows(j + 1), 1); }
    TSR_HD constexpr int units_y(int j) { return (low(j) + high(j)) * ceil_div(rows(j + 1), depth(j)); }
    TSR_HD constexpr int room(int j) { return rows(j) * (low(j) + high(j)); } /* pairs in shared memory */
    TSR_HD constexpr int room_low(int j) { return rows(j + 1) * low(j); }
    /* Backward: pairs of rows and columns of level j, with the one behind that the level below asks for; pairs of columns of low and of high samples. */
    TSR_HD constexpr int back_rows(int j) { return height(j) / 2 + (j && BOTH ? 1 : 0); }
    TSR_HD constexpr int back_low(int j) { return width(j) / 4 + BOTH; }
    TSR_HD constexpr int back_high(int j) { return width(j) / 4 + 2 * BOTH; }
    TSR_HD constexpr int back_depth(int j) { return fewest(back_low(j) + back_high(j), back_rows(j), 1); }
    TSR_HD constexpr int back_units(int j) { return (back_low(j) + back_high(j)) * ceil_div(back_rows(j), back_depth(j)); }
    TSR_HD constexpr int back_room(int j) { return 2 * ceil_div(back_rows(j), back_depth(j)) * back_depth(j) * (back_low(j) + back_high(j)); }
    TSR_HD constexpr int back_groups(int j) { return width(j) / (2 * pairs(j)) + (j && BOTH ? 1 : 0); }
    TSR_HD constexpr int back_units_x(int j) { return (height(j) + (j && BOTH ? 1 : 0)) * back_groups(j); }
    TSR_HD constexpr int back_room_low(int j) { return (height(j) + BOTH) * back_low(j - 1); } /* samples of level j > 0 */
};

typedef struct tile_place {
    int32_t x, y; /* the tile's first sample */
    int64_t plane;
} tile_place;

/* ---- samples ------------------------------------------------------------------------------------------------------------------------------------ */

/* Moves pairs of samples, COUNT at once. Their memory: whole words; those of 16 bits are held above their value (shape.h) but in global memory. */
template <tsr_dtype D, int COUNT> struct tile_pairs {
    typedef typename tile_word<D>::type word;
    static constexpr int WORDS = D == TSR_I16 ? COUNT : 2 * COUNT;
    word v[WORDS];
};
template <tsr_dtype D, int COUNT> TSR_DEVICE_FN tile_pairs<D, COUNT> tile_get(const void *from)
{
    typedef tile_pairs<D, COUNT> P;
    const tile_words<typename P::word, P::WORDS> w = *(const tile_words<typename P::word, P::WORDS> *)from;
    P r;
#pragma unroll
    for (int k = 0; k < P::WORDS; k++) r.v[k] = w.v[k];
    return r;
}
template <tsr_dtype D, int COUNT> TSR_DEVICE_FN void tile_put(void *to, const tile_pairs<D, COUNT> &r)
{
    typedef tile_pairs<D, COUNT> P;
    tile_words<typename P::word, P::WORDS> w;
#pragma unroll
    for (int k = 0; k < P::WORDS; k++) w.v[k] = r.v[k];
    *(tile_words<typename P::word, P::WORDS> *)to = w;
}
template <tsr_dtype D> TSR_DEVICE_FN typename tile_word<D>::type *tile_at(typename tile_word<D>::type *shared, int pair)
{
    return shared + pair * tile_pairs<D, 1>::WORDS;
}
/* Turns samples as they lie in global memory into those that are held above their value, or back. */
template <tsr_dtype D, int COUNT> TSR_DEVICE_FN void tile_turn(tile_pairs<D, COUNT> *r)
{
    if constexpr (D == TSR_I16) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) r->v[k] ^= 0x80008000u;
    }
}
template <tsr_dtype D, int COUNT> TSR_DEVICE_FN void tile_unpack(const tile_pairs<D, COUNT> &r, typename element<D>::row *x)
{
#pragma unroll
    for (int k = 0; k < 2 * COUNT; k++) {
        if constexpr (D == TSR_I16) x[k] = (int32_t)(k & 1 ? r.v[k / 2] >> 16 : r.v[k / 2] & 0xffffu);
        else x[k] = r.v[k];
    }
}
template <tsr_dtype D> TSR_DEVICE_FN tile_pairs<D, 1> tile_pack(typename element<D>::row a, typename element<D>::row b)
{
    tile_pairs<D, 1> r;
    if constexpr (D == TSR_I16) r.v[0] = ((uint32_t)a & 0xffffu) | (uint32_t)b << 16;
    else {
        r.v[0] = a;
        r.v[1] = b;
    }
    return r;
}
/* Values that leave 16 bits are lost: the upper half of *bad is not 0 then. */
template <tsr_dtype D> TSR_DEVICE_FN void tile_watch(typename element<D>::row v, uint32_t *bad)
{
    if constexpr (D == TSR_I16) *bad |= (uint32_t)v;
}

/* ---- steps -------------------------------------------------------------------------------------------------------------------------------------- */

/* What stands for samples beyond the ends: for number -1 number 1, for n number n - 2. e[0] has number `first`; of entries ODD. */
template <int COUNT, int ODD, class R> TSR_DEVICE_FN void tile_mirror(R *e, int32_t first, int32_t n)
{
    if (first >= 0 && first + COUNT <= n) return;
#pragma unroll
    for (int t = ODD; t < COUNT; t += 2) {
        if (t + 2 < COUNT && first + t == -1) e[t] = e[t + 2 < COUNT ? t + 2 : t];
        if (t >= 2 && first + t == n) e[t] = e[t >= 2 ? t - 2 : t];
    }
}

/* Both steps: the first on the odd entries of e, the second on the even ones but those at the ends. EDGE: there may be samples beyond the ends. */
template <tsr_dtype D, class SHAPE, int COUNT, int EDGE>
TSR_DEVICE_FN void tile_lift(const tile_pass &p, typename element<D>::row *e, int32_t first, int32_t n)
{
    typedef typename element<D>::sum S;
    if (EDGE) tile_mirror<COUNT, 0>(e, first, n);
#pragma unroll
    for (int t = 1; t < COUNT - 1; t += 2) {
        auto neighbour = [&](int k) -> S { return (S)e[t + SHAPE::first(0) + 2 * k]; };
        e[t] = march_lifted<D, SHAPE, 0>(p.step[0], e[t], neighbour);
    }
    if (EDGE) tile_mirror<COUNT, 1>(e, first, n);
#pragma unroll
    for (int t = 2; t < COUNT - 1; t += 2) {
        auto neighbour = [&](int k) -> S { return (S)e[t + SHAPE::first(1) + 2 * k]; };
        e[t] = march_lifted<D, SHAPE, 1>(p.step[1], e[t], neighbour);
    }
}

/* Samples as they lie in global memory, raised. */
template <tsr_dtype D, int COUNT> TSR_DEVICE_FN void tile_raise(const tile_pairs<D, COUNT> &r, int32_t shift, typename element<D>::row *x)
{
#pragma unroll
    for (int k = 0; k < 2 * COUNT; k++) {
        if constexpr (D == TSR_I16) x[k] = __dp2a_lo((int)r.v[k / 2], (1 << shift) << (k & 1) * 8, held<D>::ABOVE); /* one of two times the factor */
        else if constexpr (D == TSR_I32) x[k] = (int32_t)TSR_LIFT_RAISE((int64_t)r.v[k], shift);
        else x[k] = r.v[k];
    }
}
template <tsr_dtype D> TSR_DEVICE_FN typename element<D>::row tile_lower(const tile_pass &p, typename element<D>::row v)
{
    if constexpr (D == TSR_I16) return TSR_LIFT_LOWER(v + held<D>::ABOVE * ((1 << p.shift) - 1), p.shift);
    else if constexpr (D == TSR_I32) return (int32_t)TSR_LIFT_LOWER((int64_t)v, p.shift);
    else return v;
}

/* Threads take units of work in turns. TAKE(unit). */
template <int UNITS, int THREADS, class F> TSR_DEVICE_FN void tile_each(F take)
{
#pragma unroll
    for (int r = 0; r < UNITS; r += THREADS) {
        const int unit = r + (int)threadIdx.x;
        if (UNITS % THREADS == 0 || r + THREADS <= UNITS || unit < UNITS) take(unit);
    }
}

/* ---- forward ------------------------------------------------------------------------------------------------------------------------------------ */

/* A unit along x: pairs of a row with two samples before and one behind them. */
template <tsr_dtype D, int PAIRS> struct tile_row {
    tile_pairs<D, PAIRS> own;
    tile_pairs<D, 1> before, behind;
};

/* Its low and high samples to shared memory. */
template <tsr_dtype D, class CUT, int J, int EDGE>
TSR_DEVICE_FN void tile_forward_x(const tile_pass &p, const tile_place &at, int unit, const tile_row<D, CUT::pairs(J)> &r,
                                  typename tile_word<D>::type *shared, uint32_t *bad)
{
    typedef typename element<D>::row R;
    constexpr int P = CUT::pairs(J), GROUPS = 2 * CUT::low(J) / P, FIRST = CUT::lead(J + 1) / P, COUNT = 2 * P + 3;
    const int row = unit / GROUPS, group = unit % GROUPS;
    const int32_t x = (at.x >> J) + 2 * P * (group - FIRST), y = (at.y >> J) - CUT::before(J) + row, w = p.width >> J;
    const int32_t h = (p.height + (1 << J) - 1) >> J;
    const int own = group >= FIRST && group < FIRST + CUT::width(J) / (2 * P);
    R e[COUNT + 1];
    uint32_t here = 0;
    if (EDGE && (x < 0 || x >= w || y < 0 || y >= h)) return;
    tile_raise<D, 1>(r.before, p.shift, e);
    tile_raise<D, P>(r.own, p.shift, e + 2);
    tile_raise<D, 1>(r.behind, p.shift, e + 2 + 2 * P);
#pragma unroll
    for (int k = 2; k < 2 + 2 * P; k++) tile_watch<D>(e[k], &here);
    tile_lift<D, typename CUT::SHAPE, COUNT, EDGE>(p, e, x - 2, w);
#pragma unroll
    for (int k = 2; k < 2 + 2 * P; k++) tile_watch<D>(e[k], &here);
    if (own) *bad |= here;
#pragma unroll
    for (int k = 0; k < P / 2; k++) {
        const int line = row * (CUT::low(J) + CUT::high(J));
        tile_put<D, 1>(tile_at<D>(shared, line + group * (P / 2) + k), tile_pack<D>(e[2 + 4 * k], e[4 + 4 * k]));
        if (own) tile_put<D, 1>(tile_at<D>(shared, line + CUT::low(J) + (group - FIRST) * (P / 2) + k), tile_pack<D>(e[3 + 4 * k], e[5 + 4 * k]));
    }
}

/* The samples of the plane, all on their way at once. */
template <tsr_dtype D, class CUT, int EDGE>
TSR_DEVICE_FN void tile_first_x(const tile_pass &p, const tile_place &at, typename tile_word<D>::type *shared, uint32_t *bad)
{
    typedef typename element<D>::memory M;
    constexpr int P = CUT::pairs(0), GROUPS = 2 * CUT::low(0) / P, FIRST = CUT::lead(1) / P, UNITS = CUT::units_x(0);
    constexpr int TURNS = (UNITS + CUT::THREADS - 1) / CUT::THREADS;
    const M *plane = (const M *)p.whole.data + at.plane * p.whole.plane;
    tile_row<D, P> r[TURNS];
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const int unit = k * CUT::THREADS + (int)threadIdx.x, row = unit / GROUPS, group = unit % GROUPS;
        int32_t x = at.x + 2 * P * (group - FIRST), y = at.y - CUT::before(0) + row;
        y = tsr_mini(y, p.height - 1); /* there are more threads than units in the last turn */
        if (EDGE) {
            x = tsr_maxi(0, tsr_mini(x, p.width - 2 * P));
            y = tsr_maxi(0, y);
        }
        const M *line = plane + (int64_t)y * p.whole.row;
        r[k].own = tile_get<D, P>(line + x);
        if (!CUT::BOTH) continue;
        r[k].before = tile_get<D, 1>(line + (EDGE ? tsr_maxi(x - 2, 0) : x - 2));
        r[k].behind = tile_get<D, 1>(line + (EDGE ? tsr_mini(x + 2 * P, p.width - 2) : x + 2 * P));
    }
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const int unit = k * CUT::THREADS + (int)threadIdx.x;
        if (!CUT::BOTH) {
            r[k].before = tile_pack<D>(0, 0);
            r[k].behind = tile_pack<D>(0, 0);
        }
        if (unit < UNITS) tile_forward_x<D, CUT, 0, EDGE>(p, at, unit, r[k], shared, bad);
    }
}

/* The approximation of the level before, from shared memory. */
template <tsr_dtype D, class CUT, int J, int EDGE>
TSR_DEVICE_FN void tile_next_x(const tile_pass &p, const tile_place &at, typename tile_word<D>::type *low, typename tile_word<D>::type *shared,
                               uint32_t *bad)
{
    constexpr int P = CUT::pairs(J), GROUPS = 2 * CUT::low(J) / P, PITCH = CUT::low(J - 1), BEGIN = (CUT::lead(J) - 2 * CUT::lead(J + 1)) / 2;
    tile_each<CUT::units_x(J), CUT::THREADS>([&](int unit) {
        const int row = unit / GROUPS, first = BEGIN + unit % GROUPS * P; /* pair of the row */
        tile_row<D, P> r;
#pragma unroll
        for (int k = 0; k < P; k++) {
            const tile_pairs<D, 1> pair = tile_get<D, 1>(tile_at<D>(low, row * PITCH + tsr_mini(first + k, PITCH - 1)));
#pragma unroll
            for (int v = 0; v < tile_pairs<D, 1>::WORDS; v++) r.own.v[k * tile_pairs<D, 1>::WORDS + v] = pair.v[v];
        }
        r.before = tile_get<D, 1>(tile_at<D>(low, row * PITCH + tsr_maxi(first - 1, 0)));
        r.behind = tile_get<D, 1>(tile_at<D>(low, row * PITCH + tsr_mini(first + P, PITCH - 1)));
        tile_forward_x<D, CUT, J, EDGE>(p, at, unit, r, shared, bad);
    });
}

/* Pairs of columns from shared memory to the bands. */
template <tsr_dtype D, class CUT, int J, int EDGE>
TSR_DEVICE_FN void tile_forward_y(const tile_pass &p, const tile_place &at, typename tile_word<D>::type *shared, typename tile_word<D>::type *low,
                                  uint32_t *bad)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int P = CUT::depth(J), COLUMNS = CUT::low(J) + CUT::high(J), COUNT = 2 * P + 3, ROWS = CUT::rows(J), LOW_ROWS = CUT::rows(J + 1);
    constexpr int FIRST = CUT::before(J) - 2 * CUT::before(J + 1) - 2; /* 0; or -2, of rows that nobody asks for */
    tile_each<CUT::units_y(J), CUT::THREADS>([&](int unit) {
        const int column = unit % COLUMNS, begin = unit / COLUMNS * P;
        const int is_high = column >= CUT::low(J);
        const int32_t h = (p.height + (1 << J) - 1) >> J, y = (at.y >> (J + 1)) - CUT::before(J + 1) + begin; /* the first low row */
        const int32_t x = (at.x >> (J + 1)) + (is_high ? 2 * (column - CUT::low(J)) : 2 * column - CUT::lead(J + 1));
        const int own = x >= at.x >> (J + 1) && x < (at.x >> (J + 1)) + CUT::width(J + 1) && (!EDGE || x < p.width >> (J + 1));
        const tile_band &even = p.band[J][is_high], &odd = p.band[J][2 + is_high];
        R e[2][COUNT];
#pragma unroll
        for (int t = 0; t < COUNT; t++) {
            R v[2];
            const int row = tsr_maxi(0, tsr_mini(2 * begin + FIRST + t, ROWS - 1));
            tile_unpack<D, 1>(tile_get<D, 1>(tile_at<D>(shared, row * COLUMNS + column)), v);
            e[0][t] = v[0];
            e[1][t] = v[1];
        }
#pragma unroll
        for (int k = 0; k < 2; k++) tile_lift<D, typename CUT::SHAPE, COUNT, EDGE>(p, e[k], 2 * y - 2, h);
        M *to_even = (M *)even.data + at.plane * even.plane + x, *to_odd = (M *)odd.data + at.plane * odd.plane + x;
#pragma unroll
        for (int k = 0; k < P; k++) {
            const int32_t own_row = y + k - (at.y >> (J + 1));
            const int mine = own && own_row >= 0 && own_row < CUT::height(J + 1);
            tile_pairs<D, 1> a = tile_pack<D>(e[0][2 + 2 * k], e[1][2 + 2 * k]), d = tile_pack<D>(e[0][3 + 2 * k], e[1][3 + 2 * k]);
            tile_turn<D, 1>(&a);
            tile_turn<D, 1>(&d);
            if (J + 1 < CUT::LEVELS && !is_high && begin + k < LOW_ROWS) tile_put<D, 1>(tile_at<D>(low, (begin + k) * CUT::low(J) + column), a);
            if (mine && (!EDGE || 2 * (y + k) < h)) {
                tile_watch<D>(e[0][2 + 2 * k], bad);
                tile_watch<D>(e[1][2 + 2 * k], bad);
                if (J + 1 == CUT::LEVELS || is_high) tile_put<D, 1>(to_even + (int64_t)(y + k) * even.row, a);
            }
            if (mine && (!EDGE || 2 * (y + k) + 1 < h)) {
                tile_watch<D>(e[0][3 + 2 * k], bad);
                tile_watch<D>(e[1][3 + 2 * k], bad);
                tile_put<D, 1>(to_odd + (int64_t)(y + k) * odd.row, d);
            }
        }
    });
}

template <tsr_dtype D, class CUT, int J, int EDGE>
TSR_DEVICE_FN void tile_forward(const tile_pass &p, const tile_place &at, typename tile_word<D>::type *shared, typename tile_word<D>::type *low,
                                uint32_t *bad)
{
    if constexpr (J == 0) tile_first_x<D, CUT, EDGE>(p, at, shared, bad);
    else tile_next_x<D, CUT, J, EDGE>(p, at, low, shared, bad);
    __syncthreads();
    tile_forward_y<D, CUT, J, EDGE>(p, at, shared, low, bad);
    if constexpr (J + 1 < CUT::LEVELS) {
        __syncthreads();
        tile_forward<D, CUT, J + 1, EDGE>(p, at, shared, low, bad);
    }
}

TSR_DEVICE_FN tile_place tile_here(int32_t width, int32_t height)
{
    tile_place at = { (int32_t)blockIdx.x * width, (int32_t)blockIdx.y * height, (int64_t)blockIdx.z };
    return at;
}

/* Is everything that the tile's coefficients depend on within the plane, at all levels? */
template <class CUT> TSR_DEVICE_FN int tile_inside(const tile_pass &p, const tile_place &at)
{
    enum { AROUND = 4 << CUT::LEVELS }; /* lead, trail and what odd levels leave out are less */
    return at.x >= AROUND && at.y >= AROUND && at.x + CUT::WIDTH + AROUND <= p.width && at.y + CUT::HEIGHT + AROUND <= p.height;
}

template <tsr_dtype D, class CUT> TSR_KERNEL(__launch_bounds__(CUT::THREADS, CUT::BLOCKS) tile_forward_kernel)(const tile_pass p)
{
    typedef typename tile_word<D>::type W;
    TSR_SHARED_DYNAMIC(W, shared);
    uint32_t bad = 0;
    tsr_chain_next();
    const tile_place at = tile_here(CUT::WIDTH, CUT::HEIGHT);
    tsr_chain_wait();
    if (tile_inside<CUT>(p, at)) tile_forward<D, CUT, 0, 0>(p, at, shared, tile_at<D>(shared, CUT::room(0)), &bad);
    else tile_forward<D, CUT, 0, 1>(p, at, shared, tile_at<D>(shared, CUT::room(0)), &bad);
    if (D == TSR_I16 && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

#endif
