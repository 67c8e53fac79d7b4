/* wavelet/small_cuda.cu: x and y of one level of a small plane together, for filters of two steps of two taps each (5/3). What march.h does in turns of two rows
 * takes longer here than all there is to move: so a warp takes eight rows and what the steps reach around them at once, each lane four samples of every
 * row, all on their way together, and nothing of it waits for anything but the lanes beside.
 *
 * Steps of two taps keep a mirrored row mirrored: beyond the ends lie the samples that are mirrored there (the boundaries clamp and symmetric are one for
 * neighbours at 1), or those of the other end (periodic). So no step asks where it is. Spec wavelet.md 2.5, 2.11 (late levels). */
#include "device/kernel.h"

#include "wavelet/lifting.h"
#include "wavelet/small.h"

enum { WARP = 32, WARPS = 4, V = 4, OWN = (WARP - 2) * V, ROWS = 8, ALL = ROWS + 3, LARGEST = 1 << 21, SHORTEST = 16 };

template <tsr_dtype D> struct small_element;
template <> struct small_element<TSR_I16> {
    typedef int16_t memory;
    typedef int32_t row;
};
template <> struct small_element<TSR_F32> {
    typedef float memory;
    typedef float row;
};
template <class T, int COUNT> struct alignas(COUNT * sizeof(T)) small_run {
    T v[COUNT];
};

typedef struct small_lane {
    int32_t x, inside; /* the first sample; all four are */
    int32_t owns;      /* it writes */
    int64_t plane;
} small_lane;

TSR_DEVICE_FN int32_t small_index(int32_t i, int32_t n, int32_t boundary)
{
    const int32_t j = tsr_lift_index_near(i, n, boundary == TSR_WAVELET_PERIODIC ? TSR_WAVELET_PERIODIC : TSR_WAVELET_SYMMETRIC);
    return j >= 0 && j < n ? j : i & 1; /* of lanes that are not asked */
}

/* Step k on x with its neighbours. */
template <tsr_dtype D>
TSR_DEVICE_FN typename small_element<D>::row small_lifted(const tsr_lift_step &s, typename small_element<D>::row x,
                                                          typename small_element<D>::row before, typename small_element<D>::row behind)
{
    auto neighbour = [&](int t) { return t ? behind : before; };
    if constexpr (D == TSR_F32) return x + TSR_LIFT_PAIR(s.real32, neighbour);
    else {
        const int32_t p = TSR_LIFT_ROUND(TSR_LIFT_PAIR(s.tap, neighbour), s.rounding, s.shift);
        return s.sign < 0 ? x - p : x + p;
    }
}

template <tsr_dtype D> TSR_DEVICE_FN void small_watch(typename small_element<D>::row v, uint32_t *bad)
{
    if constexpr (D == TSR_I16) {
        const uint32_t u = (uint32_t)v + 32768u;
        *bad = u > *bad ? u : *bad;
    }
}

/* Both steps along x on the lane's samples. FIRST: the parity of step 0. */
template <tsr_dtype D, int FIRST> TSR_DEVICE_FN void small_lift_x(const tsr_small_pass &p, typename small_element<D>::row *x)
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int odd = k ^ FIRST;
        const typename small_element<D>::row beside = odd ? __shfl_down_sync(TSR_WARP_ALL, x[0], 1) : __shfl_up_sync(TSR_WARP_ALL, x[V - 1], 1);
#pragma unroll
        for (int i = odd; i < V; i += 2) x[i] = small_lifted<D>(p.filter.step[k], x[i], i ? x[i - 1] : beside, i + 1 < V ? x[i + 1] : beside);
    }
}

/* Both steps along y on rows of which the first is even (SHIFTED 0) or odd; what both ends miss stays unfinished. */
template <tsr_dtype D, int FIRST, int SHIFTED> TSR_DEVICE_FN void small_lift_y(const tsr_small_pass &p, typename small_element<D>::row (*row)[V])
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int parity = (k ^ FIRST) ^ SHIFTED;
#pragma unroll
        for (int r = 0; r < ALL; r++) {
            if ((r & 1) != parity || r < 1 + k || r >= ALL - 1 - k) continue;
#pragma unroll
            for (int i = 0; i < V; i++) row[r][i] = small_lifted<D>(p.filter.step[k], row[r][i], row[r - 1][i], row[r + 1][i]);
        }
    }
}

/* Row y of the samples, raised. */
template <tsr_dtype D>
TSR_DEVICE_FN void small_load(const tsr_small_pass &p, const small_lane &l, int32_t y, typename small_element<D>::row *x, uint32_t *bad)
{
    typedef typename small_element<D>::memory M;
    const M *from = (const M *)p.whole.data + l.plane * p.whole.stride[p.axis] + small_index(y, p.height, p.boundary) * p.whole.stride[1];
    small_run<M, V> r;
    if (l.inside) r = *(const small_run<M, V> *)(from + l.x);
    else {
#pragma unroll
        for (int i = 0; i < V; i++) r.v[i] = from[small_index(l.x + i, p.width, p.boundary)];
    }
#pragma unroll
    for (int i = 0; i < V; i++) {
        if constexpr (D == TSR_I16) x[i] = TSR_LIFT_RAISE((int32_t)r.v[i], p.raise);
        else x[i] = r.v[i];
        small_watch<D>(x[i], bad);
    }
}
/* The same of the bands. */
template <tsr_dtype D> TSR_DEVICE_FN void small_load_bands(const tsr_small_pass &p, const small_lane &l, int32_t y, typename small_element<D>::row *x)
{
    typedef typename small_element<D>::memory M;
    const int32_t at = small_index(y, p.height, p.boundary);
#pragma unroll
    for (int high = 0; high < 2; high++) {
        const int b = (at & 1 ? 2 : 0) + high;
        const tsr_wavelet_array &band = p.half[b];
        const M *from = (const M *)band.data + l.plane * band.stride[p.axis] + (at >> 1) * band.stride[1];
        small_run<M, V / 2> r;
        if (l.inside) r = *(const small_run<M, V / 2> *)(from + l.x / 2);
        else {
#pragma unroll
            for (int i = 0; i < V / 2; i++) r.v[i] = from[small_index(l.x + 2 * i + high, p.width, p.boundary) >> 1];
        }
#pragma unroll
        for (int i = 0; i < V / 2; i++) {
            x[2 * i + high] = r.v[i];
            if (D == TSR_F32 && p.scaled) x[2 * i + high] *= p.load_scale[b];
        }
    }
}

template <tsr_dtype D>
TSR_DEVICE_FN void small_store(const tsr_small_pass &p, const small_lane &l, int32_t y, const typename small_element<D>::row *x)
{
    typedef typename small_element<D>::memory M;
    M *to = (M *)p.whole.data + l.plane * p.whole.stride[p.axis] + y * p.whole.stride[1] + l.x;
    small_run<M, V> r;
#pragma unroll
    for (int i = 0; i < V; i++) r.v[i] = (M)x[i];
    if (l.inside) *(small_run<M, V> *)to = r;
    else {
#pragma unroll
        for (int i = 0; i < V; i++)
            if (l.x + i < p.width) to[i] = r.v[i];
    }
}
template <tsr_dtype D>
TSR_DEVICE_FN void small_store_bands(const tsr_small_pass &p, const small_lane &l, int32_t y, const typename small_element<D>::row *x)
{
    typedef typename small_element<D>::memory M;
#pragma unroll
    for (int high = 0; high < 2; high++) {
        const int b = (y & 1 ? 2 : 0) + high;
        const tsr_wavelet_array &band = p.half[b];
        M *to = (M *)band.data + l.plane * band.stride[p.axis] + (y >> 1) * band.stride[1] + l.x / 2;
        small_run<M, V / 2> r;
#pragma unroll
        for (int i = 0; i < V / 2; i++) {
            if (D == TSR_F32 && p.scaled) r.v[i] = (M)(x[2 * i + high] * (typename small_element<D>::row)p.store_scale[b]);
            else r.v[i] = (M)x[2 * i + high];
        }
        if (l.inside) *(small_run<M, V / 2> *)to = r;
        else {
#pragma unroll
            for (int i = 0; i < V / 2; i++)
                if (l.x + 2 * i + high < p.width) to[i] = r.v[i];
        }
    }
}

/* Eight rows from y on, which is even. Forward the first steps ask for two rows before and one behind them, back for one before and two behind. */
template <tsr_dtype D, int INVERSE> TSR_KERNEL(__launch_bounds__(WARPS *WARP) small_kernel)(const tsr_small_pass p)
{
    typedef typename small_element<D>::row R;
    const int32_t lane = (int32_t)threadIdx.x % WARP, strip = (int32_t)blockIdx.x,
                  y = ((int32_t)blockIdx.y * WARPS + (int32_t)threadIdx.x / WARP) * ROWS;
    small_lane l;
    l.x = strip * OWN + (lane - 1) * V;
    l.inside = l.x >= 0 && l.x + V <= p.width;
    l.owns = lane > 0 && lane < WARP - 1 && l.x < p.width;
    l.plane = (int64_t)blockIdx.z;
    uint32_t bad = 0;
    R row[ALL][V];
    if (y >= p.height) return; /* all lanes of the warp */
    constexpr int BEFORE = INVERSE ? 1 : 2;
#pragma unroll
    for (int r = 0; r < ALL; r++) {
        if constexpr (INVERSE) small_load_bands<D>(p, l, y - BEFORE + r, row[r]);
        else small_load<D>(p, l, y - BEFORE + r, row[r], &bad);
    }
    if constexpr (!INVERSE) {
#pragma unroll
        for (int r = 0; r < ALL; r++) {
            small_lift_x<D, 1>(p, row[r]);
#pragma unroll
            for (int i = 0; i < V; i++)
                if (l.owns && l.x + i < p.width) small_watch<D>(row[r][i], &bad);
        }
    }
    small_lift_y<D, !INVERSE, INVERSE>(p, row);
#pragma unroll
    for (int r = BEFORE; r < BEFORE + ROWS; r++) {
        const int32_t at = y - BEFORE + r;
        if (at >= p.height) break;
        uint32_t here = 0;
#pragma unroll
        for (int i = 0; i < V; i++)
            if (l.x + i < p.width) small_watch<D>(row[r][i], &here);
        if constexpr (INVERSE) {
            small_lift_x<D, 0>(p, row[r]);
#pragma unroll
            for (int i = 0; i < V; i++) {
                if (l.x + i < p.width) small_watch<D>(row[r][i], &here);
                if constexpr (D == TSR_I16) row[r][i] = TSR_LIFT_LOWER(row[r][i], p.lower);
                if (l.x + i < p.width) small_watch<D>(row[r][i], &here);
            }
        }
        if (!l.owns) continue;
        bad = here > bad ? here : bad;
        if constexpr (INVERSE) small_store<D>(p, l, at, row[r]);
        else small_store_bands<D>(p, l, at, row[r]);
    }
    if (D == TSR_I16 && l.owns && bad >> 16 && p.lost) atomicOr(p.lost, 1u);
}

/* ---- host -------------------------------------------------------------------------------------------------------------------------------------- */

/* The one axis of planes, or the batch; -1: there are several. */
static int32_t small_axis(const tsr_wavelet_level *l)
{
    int32_t axis = TSR_WAVELET_DIMENSIONS - 1;
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (l->size[a] == 1) continue;
        if (l->size[axis] != 1 && a != axis) return -1;
        axis = a;
    }
    return axis;
}
static int small_aligned(const tsr_wavelet_array *a, size_t element, size_t bytes)
{
    uintptr_t rest = (uintptr_t)a->data;
    for (int32_t k = 1; k < TSR_WAVELET_DIMENSIONS; k++) rest |= (uintptr_t)(a->stride[k] * (int64_t)element);
    return a->stride[0] == 1 && rest % bytes == 0;
}

extern "C" int tsr_small_fits_cuda(const tsr_wavelet_level *l, const tsr_lift_filter *forward)
{
    const size_t element = l->dtype == TSR_I16 ? 2 : 4;
    const int32_t axis = small_axis(l);
    if ((l->dtype != TSR_I16 && l->dtype != TSR_F32) || l->axes != 3 || l->inplace || l->boundary == TSR_WAVELET_ZERO || axis < 0) return 0;
    if (l->size[0] < SHORTEST || l->size[1] < SHORTEST || l->size[axis] > 64 || l->size[0] > LARGEST || l->size[1] > LARGEST) return 0;
    if (l->size[0] * l->size[1] * l->size[axis] > LARGEST || forward->steps != 2) return 0;
    for (int32_t k = 0; k < 2; k++) {
        const tsr_lift_step *s = &forward->step[k];
        if (s->rule || s->parity != !k || s->count != 2 || s->first != -1 || !s->symmetric) return 0;
    }
    int fits = small_aligned(&l->whole, element, V * element);
    for (uint32_t b = 0; b < 4; b++) fits = fits && small_aligned(&l->band[b], element, V / 2 * element);
    return fits;
}

extern "C" tsr_status tsr_small_run_cuda(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int inverse)
{
    tsr_small_pass p = {};
    p.filter = inverse ? *job->inverse : *job->forward;
    p.width = (int32_t)l->size[0];
    p.height = (int32_t)l->size[1];
    p.boundary = (int32_t)l->boundary;
    p.raise = inverse ? 0 : l->shift;
    p.lower = inverse ? l->shift : 0;
    p.scaled = l->scaled;
    p.axis = small_axis(l);
    p.planes = (int32_t)l->size[p.axis];
    p.lost = job->lost;
    p.whole = l->whole;
    for (int b = 0; b < 4; b++) {
        p.half[b] = l->band[b];
        p.load_scale[b] = (float)(l->scaled ? 1.0 / l->scale[b] : 1.0);
        p.store_scale[b] = (float)(l->scaled ? l->scale[b] : 1.0);
    }
    p.strips = (p.width + OWN - 1) / OWN;
    const dim3 grid((uint32_t)p.strips, (uint32_t)((p.height + ROWS * WARPS - 1) / (ROWS * WARPS)), (uint32_t)p.planes);
    if (l->dtype == TSR_I16 && inverse) TSR_LAUNCH(queue, (small_kernel<TSR_I16, 1>), grid, WARPS * WARP, 0, p);
    else if (l->dtype == TSR_I16) TSR_LAUNCH(queue, (small_kernel<TSR_I16, 0>), grid, WARPS * WARP, 0, p);
    else if (inverse) TSR_LAUNCH(queue, (small_kernel<TSR_F32, 1>), grid, WARPS * WARP, 0, p);
    else TSR_LAUNCH(queue, (small_kernel<TSR_F32, 0>), grid, WARPS * WARP, 0, p);
    return TSR_OK;
}
