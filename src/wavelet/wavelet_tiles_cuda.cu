/* wavelet/wavelet_tiles_cuda.cu: two or three levels of a plane in one launch, for filters of two steps whose neighbours are next to the sample (Haar, 5/3). A kernel
 * for each level, as march.h has it, takes longer for a plane of 1920 x 1080 than the memory does: it comes up, waits for its first rows and ends
 * three times. Here a block has a tile of the samples, and of every level what belongs to it, with what the steps of all levels reach around it: forward
 * the block computes that again (14 samples before and 7 behind its own for three levels of 5/3), so that no block waits for another. Backward the blocks
 * share no more than a coefficient at the sides of each level.
 *
 * A unit of work is some pairs of samples of a row or of two neighbouring columns with one sample more at each end and one at the side where the second step
 * needs the first: a thread loads all of them before it lifts any, and no load depends on where the unit is: indices stay within the plane, and
 * at its ends the samples that stand for those beyond are put in place afterwards. (A kernel that asked first had its loads one behind the other,
 * and took 10 us a level.) Rows along x go to shared memory, low and high samples apart; columns from there to the bands, and the approximation
 * to shared memory for the next level. Only the boundaries clamp and symmetric, which are one for neighbours at 1. docs/theory/wavelets.md (K4, K5). */
#include <stdlib.h> /* llabs */

#include "device/dependent_launch.h"

#include "wavelet/wavelet_tiles_forward.h"

/* ---- backward ----------------------------------------------------------------------------------------------------------------------------------- */

/* A unit along y: a pair of columns of low rows and of the high ones around them. */
template <tsr_dtype D, int PAIRS> struct tile_column {
    tile_pairs<D, 1> low[PAIRS + 1], high[PAIRS + 2];
};
/* Of all levels, those of the thread. */
template <tsr_dtype D, class CUT, int J> struct tile_columns {
    tile_column<D, CUT::back_depth(J)> own;
    tile_columns<D, CUT, J - 1> finer;
};
template <tsr_dtype D, class CUT> struct tile_columns<D, CUT, -1> {
};

/* Where a unit along y is. */
struct tile_strip {
    int32_t column, begin, is_high, x, y, h; /* y: its first low row; x: of the pair in the band; h: rows of the level */
};
template <class CUT, int J> TSR_DEVICE_FN tile_strip tile_back_strip(const tile_pass &p, const tile_place &at)
{
    constexpr int COLUMNS = CUT::back_low(J) + CUT::back_high(J);
    tile_strip s;
    s.column = (int32_t)threadIdx.x % COLUMNS;
    s.begin = (int32_t)threadIdx.x / COLUMNS * CUT::back_depth(J);
    s.is_high = s.column >= CUT::back_low(J);
    s.x = (at.x >> (J + 1)) + 2 * (s.is_high ? s.column - CUT::back_low(J) - CUT::BOTH : s.column);
    s.y = (at.y >> (J + 1)) + s.begin;
    s.h = (p.height + (1 << J) - 1) >> J;
    return s;
}

/* All bands come at once; rows and columns beyond their ends are others, which nobody asks for. */
template <tsr_dtype D, class CUT, int J> TSR_DEVICE_FN void tile_back_load(const tile_pass &p, const tile_place &at, tile_columns<D, CUT, J> *to)
{
    typedef typename element<D>::memory M;
    constexpr int P = CUT::back_depth(J);
    const tile_strip s = tile_back_strip<CUT, J>(p, at);
    const int32_t x = tsr_maxi(0, tsr_mini(s.x, (p.width >> (J + 1)) - 2));
    const tile_band &even = p.band[J][s.is_high], &odd = p.band[J][2 + s.is_high];
    const M *from_even = (const M *)even.data + at.plane * even.plane + x, *from_odd = (const M *)odd.data + at.plane * odd.plane + x;
#pragma unroll
    for (int k = 0; k < P + 2; k++) {
        const int32_t y = tsr_maxi(0, tsr_mini(s.y - 1 + k, s.h / 2 - 1));
        to->own.high[k] = tile_get<D, 1>(from_odd + (int64_t)y * odd.row);
    }
    if (J + 1 == CUT::LEVELS || s.is_high) {
#pragma unroll
        for (int k = 0; k < P + 1; k++) {
            const int32_t y = tsr_mini(s.y + k, (s.h + 1) / 2 - 1);
            to->own.low[k] = tile_get<D, 1>(from_even + (int64_t)y * even.row);
        }
    }
    if constexpr (J > 0) tile_back_load<D, CUT, J - 1>(p, at, &to->finer);
}

template <tsr_dtype D, class CUT, int J>
TSR_DEVICE_FN void tile_back_y(const tile_pass &p, const tile_place &at, tile_column<D, CUT::back_depth(J)> *c, typename tile_word<D>::type *low,
                               typename tile_word<D>::type *shared, uint32_t *bad)
{
    typedef typename element<D>::row R;
    constexpr int P = CUT::back_depth(J), COLUMNS = CUT::back_low(J) + CUT::back_high(J), COUNT = 2 * P + 3;
    const tile_strip s = tile_back_strip<CUT, J>(p, at);
    R e[2][COUNT];
    if ((int)threadIdx.x >= CUT::back_units(J)) return;
#pragma unroll
    for (int k = 0; k < P + 2; k++) tile_turn<D, 1>(&c->high[k]);
    if (J + 1 == CUT::LEVELS || s.is_high) {
#pragma unroll
        for (int k = 0; k < P + 1; k++) tile_turn<D, 1>(&c->low[k]);
    } else {
#pragma unroll
        for (int k = 0; k < P + 1; k++)
            c->low[k] = tile_get<D, 1>(tile_at<D>(low, tsr_mini(s.begin + k, CUT::height(J + 1) + CUT::BOTH - 1) * CUT::back_low(J) + s.column));
    }
#pragma unroll
    for (int t = 0; t < COUNT; t++) {
        R v[2];
        tile_unpack<D, 1>(t & 1 ? c->low[t / 2] : c->high[t / 2], v);
        e[0][t] = v[0];
        e[1][t] = v[1];
    }
#pragma unroll
    for (int k = 0; k < 2; k++) tile_lift<D, typename CUT::SHAPE, COUNT, 1>(p, e[k], 2 * s.y - 1, s.h);
    const int32_t end = tsr_mini(s.h, (at.y >> J) + CUT::height(J)), from = at.x >> (J + 1);
    const int own = s.x >= from && s.x < from + CUT::width(J + 1) && s.x < p.width >> (J + 1);
#pragma unroll
    for (int k = 0; k < 2 * P; k++) {
        if (own && 2 * s.y + k < end) {
            tile_watch<D>(e[0][1 + k], bad);
            tile_watch<D>(e[1][1 + k], bad);
        }
        tile_put<D, 1>(tile_at<D>(shared, (2 * s.begin + k) * COLUMNS + s.column), tile_pack<D>(e[0][1 + k], e[1][1 + k]));
    }
}

template <tsr_dtype D, class CUT, int J>
TSR_DEVICE_FN void tile_back_x(const tile_pass &p, const tile_place &at, typename tile_word<D>::type *shared, typename tile_word<D>::type *low,
                               uint32_t *bad)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::memory M;
    constexpr int P = CUT::pairs(J), GROUPS = CUT::back_groups(J), COUNT = 2 * P + 3, LOW = CUT::back_low(J), HIGH = CUT::back_high(J);
    M *plane = (M *)p.whole.data + at.plane * p.whole.plane;
    tile_each<CUT::back_units_x(J), CUT::THREADS>([&](int unit) {
        const int row = unit / GROUPS, group = unit % GROUPS, first = group * (P / 2), line = row * (LOW + HIGH);
        const int32_t x = (at.x >> J) + 2 * P * group, y = (at.y >> J) + row, w = p.width >> J, h = (p.height + (1 << J) - 1) >> J;
        R a[P + 2], d[P + 4], e[COUNT];
        if (x >= w || y >= h) return;
#pragma unroll
        for (int k = 0; k < P / 2 + 1; k++) tile_unpack<D, 1>(tile_get<D, 1>(tile_at<D>(shared, line + tsr_mini(first + k, LOW - 1))), a + 2 * k);
#pragma unroll
        for (int k = 0; k < P / 2 + 2; k++)
            tile_unpack<D, 1>(tile_get<D, 1>(tile_at<D>(shared, line + LOW + tsr_maxi(0, tsr_mini(first + k - !CUT::BOTH, HIGH - 1)))), d + 2 * k);
#pragma unroll
        for (int t = 0; t < COUNT; t++) e[t] = t & 1 ? a[t / 2] : d[1 + t / 2];
        tile_lift<D, typename CUT::SHAPE, COUNT, 1>(p, e, x - 1, w);
        uint32_t here = 0;
#pragma unroll
        for (int k = 1; k <= 2 * P; k++) {
            tile_watch<D>(e[k], &here);
            e[k] = tile_lower<D>(p, e[k]);
            tile_watch<D>(e[k], &here);
        }
        if (group < CUT::width(J) / (2 * P) && row < CUT::height(J)) *bad |= here;
        if constexpr (J == 0) {
            tile_pairs<D, P> r;
#pragma unroll
            for (int k = 0; k < P; k++) {
                const tile_pairs<D, 1> pair = tile_pack<D>(e[1 + 2 * k], e[2 + 2 * k]);
#pragma unroll
                for (int v = 0; v < tile_pairs<D, 1>::WORDS; v++) r.v[k * tile_pairs<D, 1>::WORDS + v] = pair.v[v];
            }
            tile_turn<D, P>(&r);
            tile_put<D, P>(plane + (int64_t)y * p.whole.row + x, r);
        } else {
            constexpr int PITCH = CUT::back_low(J - 1);
#pragma unroll
            for (int k = 0; k < P; k++)
                if (group * P + k < PITCH) tile_put<D, 1>(tile_at<D>(low, row * PITCH + group * P + k), tile_pack<D>(e[1 + 2 * k], e[2 + 2 * k]));
        }
    });
}

template <tsr_dtype D, class CUT, int J>
TSR_DEVICE_FN void tile_back(const tile_pass &p, const tile_place &at, tile_columns<D, CUT, J> *c, typename tile_word<D>::type *shared,
                             typename tile_word<D>::type *low, uint32_t *bad)
{
    tile_back_y<D, CUT, J>(p, at, &c->own, low, shared, bad);
    __syncthreads();
    tile_back_x<D, CUT, J>(p, at, shared, low, bad);
    if constexpr (J > 0) {
        __syncthreads();
        tile_back<D, CUT, J - 1>(p, at, &c->finer, shared, low, bad);
    }
}

template <tsr_dtype D, class CUT> TSR_KERNEL(__launch_bounds__(CUT::THREADS, CUT::BLOCKS) tile_inverse_kernel)(const tile_pass p)
{
    typedef typename tile_word<D>::type W;
    TSR_SHARED_DYNAMIC(W, shared);
    uint32_t bad = 0;
    tile_columns<D, CUT, CUT::LEVELS - 1> c;
    tsr_chain_next();
    const tile_place at = tile_here(CUT::WIDTH, CUT::HEIGHT);
    tsr_chain_wait();
    tile_back_load<D, CUT, CUT::LEVELS - 1>(p, at, &c);
    tile_back<D, CUT, CUT::LEVELS - 1>(p, at, &c, shared, tile_at<D>(shared, CUT::back_room(0)), &bad);
    if (D == TSR_I16 && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* ---- host --------------------------------------------------------------------------------------------------------------------------------------- */

/* Of a tile; blocks of a multiprocessor. By 64 x 64 and 256 threads 1920 x 1080 takes a tenth longer, by 128 x 32 a fifth (H200). */
enum { TILE_WIDTH = 128, TILE_HEIGHT = 64, TILE_THREADS = 512, TILE_BLOCKS = 2 };

/* The one axis of planes, or the batch; -1: there are several. */
static int32_t tile_axis(const tsr_wavelet_level *l)
{
    int32_t axis = TSR_WAVELET_DIMENSIONS - 1;
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (l->size[a] == 1) continue;
        if (l->size[axis] != 1 && a != axis) return -1;
        axis = a;
    }
    return axis;
}

/* May `samples` of them be moved at once from any even place of the array? */
static int tile_aligned(const tsr_wavelet_array *a, size_t element, int64_t samples)
{
    uintptr_t rest = (uintptr_t)a->data;
    const size_t bytes = (size_t)samples * element;
    for (int32_t k = 1; k < TSR_WAVELET_DIMENSIONS; k++) rest |= (uintptr_t)(a->stride[k] * (int64_t)element);
    return a->stride[0] == 1 && llabs(a->stride[1]) < MOST_SAMPLES && rest % (bytes < 16 ? bytes : 16) == 0;
}

template <class SHAPE> static int tile_fits_filter(tsr_dtype dtype, const tsr_lift_filter *f)
{
    return !f->nonlinear && fits_shape<SHAPE>(f, dtype != TSR_F32);
}

/* Is level `l` one of those, the k-th of a launch? By Haar the last of an odd number of rows would ask for a row of the tile before. */
static int tile_fits(const tsr_wavelet_level *l, int32_t k, int last, int haar)
{
    const size_t element = l->dtype == TSR_I16 ? 2 : 4;
    int fits = (!haar || l->size[1] % 2 == 0);
    fits = fits && l->axes == 3 && !l->inplace && !l->scaled && l->size[0] % 2 == 0 && l->size[0] >= SHORTEST && l->size[1] >= SHORTEST &&
           tile_axis(l) >= 0;
    if (k == 0) fits = fits && l->size[0] % 16 == 0 && l->size[0] < MOST_SAMPLES && l->size[1] < MOST_SAMPLES && tile_aligned(&l->whole, element, 8);
    for (uint32_t b = last ? 0 : 1; b < 4; b++) fits = fits && tile_aligned(&l->band[b], element, 2);
    return fits;
}

extern "C" int32_t tsr_wavelet_tiles_take(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first)
{
    const tsr_wavelet_level *l = &job->level[first];
    int32_t levels = tsr_mini(job->levels - first, MOST_LEVELS);
    if (l->dtype == TSR_F64 || (l->boundary != TSR_WAVELET_CLAMP && l->boundary != TSR_WAVELET_SYMMETRIC)) return 0;
    const int haar = l->dtype != TSR_I32 && tile_fits_filter<haar_forward>(l->dtype, job->forward); /* in 32 bits what codecs have */
    if (!haar && !tile_fits_filter<two_forward>(l->dtype, job->forward)) return 0;
    for (; levels > 1; levels--) {
        int fits = 1;
        for (int32_t k = 0; k < levels; k++) fits = fits && tile_fits(&l[k], k, k + 1 == levels, haar);
        if (fits) break;
    }
    if (levels < 2) return 0;
    const int64_t tiles = ((l->size[0] + TILE_WIDTH - 1) / TILE_WIDTH) * ((l->size[1] + TILE_HEIGHT - 1) / TILE_HEIGHT) * l->size[tile_axis(l)];
#ifndef TSR_EMU
    /* More planes than the GPU holds at once are moved faster by march.h: 64 of 1920 x 1080 in 224 us, here in 400 to 490 (H200). */
    if (2 * tiles > 3 * TILE_BLOCKS * (int64_t)tsr_queue_processors(queue)) return 0;
#else
    (void)queue, (void)tiles;
#endif
    return levels;
}

template <tsr_dtype D, class SHAPE, int LEVELS, int INVERSE>
static tsr_status tile_launch(tsr_queue *queue, const tsr_wavelet_level *l, tile_pass *p, tsr_lift_filter f)
{
    typedef tile_cut<SHAPE, LEVELS, TILE_WIDTH, TILE_HEIGHT, TILE_THREADS, D == TSR_I16 ? TILE_BLOCKS : 1> cut;
    constexpr size_t PAIR = 2 * sizeof(typename element<D>::memory);
    const dim3 grid((uint32_t)((l->size[0] + TILE_WIDTH - 1) / TILE_WIDTH), (uint32_t)((l->size[1] + TILE_HEIGHT - 1) / TILE_HEIGHT),
                    (uint32_t)l->size[tile_axis(l)]);
    if constexpr (D != TSR_F32) march_signs<D, SHAPE>(&f);
    p->step[0] = f.step[0];
    p->step[1] = f.step[1];
    if constexpr (INVERSE) {
        const size_t shared = (size_t)(cut::back_room(0) + cut::back_room_low(1)) * PAIR;
        TSR_LAUNCH_ALLOW_SHARED(queue, (tile_inverse_kernel<D, cut>), shared);
        TSR_LAUNCH_DEPENDENT(queue, (tile_inverse_kernel<D, cut>), grid, dim3(cut::THREADS), shared, *p);
    } else {
        const size_t shared = (size_t)(cut::room(0) + cut::room_low(0)) * PAIR;
        TSR_LAUNCH_ALLOW_SHARED(queue, (tile_forward_kernel<D, cut>), shared);
        TSR_LAUNCH_DEPENDENT(queue, (tile_forward_kernel<D, cut>), grid, dim3(cut::THREADS), shared, *p);
    }
    return TSR_OK;
}

template <tsr_dtype D, int LEVELS>
static tsr_status tile_run(tsr_queue *queue, const tsr_wavelet_level *l, tile_pass *p, const tsr_wavelet_job *job, int inverse)
{
    if constexpr (D != TSR_I32) {
        const int haar = tile_fits_filter<haar_forward>(D, job->forward);
        if (haar && inverse) return tile_launch<D, haar_inverse, LEVELS, 1>(queue, l, p, *job->inverse);
        if (haar) return tile_launch<D, haar_forward, LEVELS, 0>(queue, l, p, *job->forward);
    }
    if (inverse) return tile_launch<D, two_inverse, LEVELS, 1>(queue, l, p, *job->inverse);
    return tile_launch<D, two_forward, LEVELS, 0>(queue, l, p, *job->forward);
}

static tile_band tile_band_of(const tsr_wavelet_array *a, int32_t axis) { return { a->data, a->stride[axis], (int32_t)a->stride[1] }; }

extern "C" tsr_status tsr_wavelet_tiles_run(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first, int32_t levels, int inverse)
{
    const tsr_wavelet_level *l = &job->level[first];
    const int32_t axis = tile_axis(l);
    tile_pass p = {};
    p.width = (int32_t)l->size[0];
    p.height = (int32_t)l->size[1];
    p.shift = l->shift;
    p.lost = job->lost;
    p.whole = tile_band_of(&l->whole, axis);
    for (int32_t k = 0; k < levels; k++)
        for (uint32_t b = k + 1 == levels ? 0 : 1; b < 4; b++) p.band[k][b] = tile_band_of(&l[k].band[b], axis);
    if (l->dtype == TSR_I16) return levels == 3 ? tile_run<TSR_I16, 3>(queue, l, &p, job, inverse) : tile_run<TSR_I16, 2>(queue, l, &p, job, inverse);
    if (l->dtype == TSR_I32) return levels == 3 ? tile_run<TSR_I32, 3>(queue, l, &p, job, inverse) : tile_run<TSR_I32, 2>(queue, l, &p, job, inverse);
    return levels == 3 ? tile_run<TSR_F32, 3>(queue, l, &p, job, inverse) : tile_run<TSR_F32, 2>(queue, l, &p, job, inverse);
}
