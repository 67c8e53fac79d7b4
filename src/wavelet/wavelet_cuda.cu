/* wavelet/wavelet_cuda.cu: the transforms on the GPU. The usual filters from one array to another, x and y together: march.h. Any axis, filter and
 * stride, and in place: a block takes a bundle of lines and slides along them, a segment in shared memory at a time; the samples around a segment are
 * kept as they were, so that the result may take their place. */
#include <stdlib.h>

#include "device/block_memory.h"
#include "device/dependent_launch.h"
#include "device/kernel.h"
#include "device/recording.h"

#include "wavelet/wavelet_element.h"
#include "wavelet/keep.h"
#include "wavelet/packed.h"
#include "wavelet/shrink.h"
#include "wavelet/wavelet_tiles.h"
#include "wavelet/wavelet_ops.h"

enum { THREADS = 256, LANES = 32, SEGMENT = 64, PITCH = LANES + 1 };

typedef struct axis_pass {
    tsr_wavelet_level level;
    tsr_lift_filter filter;
    tsr_wavelet_array from[TSR_WAVELET_BANDS], to[TSR_WAVELET_BANDS];
    double load_scale[TSR_WAVELET_BANDS], store_scale[TSR_WAVELET_BANDS];
    int32_t axis, lane_axis, raise, lower;
    uint32_t *lost;
} axis_pass;

/* Bits of the other axes that belong to block row number `n`. */
TSR_HD uint32_t other_bits(uint32_t axes, int32_t axis, uint32_t n)
{
    uint32_t bits = 0;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++)
        if (a != axis && (axes >> a & 1)) {
            bits |= (n & 1) << a;
            n >>= 1;
        }
    return bits;
}

#include "wavelet/shape.h"

#include "wavelet/wavelet_march.h"
#include "wavelet/cube.h"

/* The segment in work: samples [base, base + rows) of LANES lines, virtual ones where the boundary is periodic. */
template <tsr_dtype D> struct segment {
    typedef typename element<D>::row R;
    R *row;
    int64_t base, n;
    int32_t rows;
};

/* Lifts the window; `ends`: bit 0, 1: the window begins, ends where the line does. */
template <tsr_dtype D> TSR_DEVICE_FN void lift_segment(const segment<D> &g, const tsr_lift_filter &f, int32_t boundary, int ends)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    const int32_t lane = (int32_t)threadIdx.x % LANES, first = (int32_t)threadIdx.x / LANES, step_rows = THREADS / LANES;
    int32_t reach = 0;
    for (int32_t k = 0; k < f.steps; k++) {
        const tsr_lift_step &s = f.step[k];
        reach += s.reach;
        int64_t begin = ends & 1 ? g.base : g.base + reach, end = g.base + g.rows - (ends & 2 ? 0 : reach);
        begin += (begin ^ s.parity) & 1;
        for (int64_t i = begin + 2 * first; i < end; i += 2 * step_rows) {
            R *x = g.row + (i - g.base) * PITCH + lane;
            auto neighbour = [&](int32_t t) -> S {
                int64_t j = i + s.first + 2 * t;
                if (boundary != TSR_WAVELET_PERIODIC) j = tsr_lift_index(j, g.n, boundary);
                return j < 0 && boundary == TSR_WAVELET_ZERO ? (S)0 : (S)g.row[(j - g.base) * PITCH + lane];
            };
            *x = lifted<D>(s, *x, neighbour);
        }
        __syncthreads();
    }
}

/* A thread's line and place in the tile, for copies between memory and tile: neighbours in memory are neighbours among the threads. */
typedef struct tile_thread {
    int32_t lane, row, rows, valid;
    int64_t offset[2][2];
} tile_thread; /* offsets: [from, to][low, high] */

template <tsr_dtype D>
TSR_DEVICE_FN void tile_load(const axis_pass &p, const tile_thread &t, uint32_t bits, typename element<D>::row *rows, int64_t base, int64_t begin,
                             int64_t end, uint32_t *bad)
{
    for (int64_t i = begin + t.row; i < end && t.valid; i += t.rows) {
        int64_t y = tsr_lift_index(i, p.level.size[p.axis], TSR_WAVELET_PERIODIC);
        uint32_t odd = (uint32_t)(y & 1);
        const tsr_wavelet_array &b = p.from[bits | odd << p.axis];
        typename element<D>::row v = loaded<D>(((const typename element<D>::memory *)b.data)[t.offset[0][odd] + (y >> 1) * b.stride[p.axis]], p.raise,
                                               p.load_scale[bits | odd << p.axis]);
        if (D == TSR_I16 && p.raise) *bad |= TSR_LIFT_LOST(v);
        rows[(i - base) * PITCH + t.lane] = v;
    }
}

template <tsr_dtype D>
TSR_DEVICE_FN void tile_store(const axis_pass &p, const tile_thread &t, uint32_t bits, const typename element<D>::row *rows, int64_t base,
                              int64_t begin, int64_t end, uint32_t *bad)
{
    for (int64_t i = begin + t.row; i < end && t.valid; i += t.rows) {
        uint32_t odd = (uint32_t)(i & 1);
        const tsr_wavelet_array &b = p.to[bits | odd << p.axis];
        ((typename element<D>::memory *)b.data)[t.offset[1][odd] + (i >> 1) * b.stride[p.axis]] =
            stored<D>(rows[(i - base) * PITCH + t.lane], p.lower, p.store_scale[bits | odd << p.axis], bad);
    }
}

/* Line number `line` of the block's bundle: offsets of its first samples. */
TSR_DEVICE_FN int tile_place(const axis_pass &p, uint32_t bits, int32_t lane, tile_thread *t)
{
    int64_t across = tsr_wavelet_band_size(&p.level, bits, p.lane_axis), bundles = (across + LANES - 1) / LANES, rest = blockIdx.x;
    if (!across) return 0;
    int64_t index[TSR_WAVELET_DIMENSIONS];
    int64_t x = rest % bundles * LANES + lane;
    rest /= bundles;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        index[a] = 0;
        if (a == p.axis) continue;
        int64_t count = tsr_wavelet_band_size(&p.level, bits, a);
        if (a == p.lane_axis) index[a] = x;
        else if (count == 0) return 0;
        else {
            index[a] = rest % count;
            rest /= count;
        }
    }
    t->lane = lane;
    t->valid = x < across;
    for (int32_t odd = 0; odd < 2; odd++) {
        uint32_t b = bits | (uint32_t)odd << p.axis;
        t->offset[0][odd] = t->offset[1][odd] = 0;
        for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
            t->offset[0][odd] += index[a] * p.from[b].stride[a];
            t->offset[1][odd] += index[a] * p.to[b].stride[a];
        }
    }
    return rest == 0;
}

template <tsr_dtype D> TSR_KERNEL(axis_kernel)(axis_pass p)
{
    typedef typename element<D>::row R;
    TSR_SHARED_DYNAMIC(R, shared);
    const uint32_t bits = other_bits(p.level.axes, p.axis, blockIdx.y);
    const int64_t n = p.level.size[p.axis], halo = p.filter.reach;
    const int periodic = p.level.boundary == TSR_WAVELET_PERIODIC, along_x = p.axis == 0;
    R *kept = shared + (SEGMENT + 2 * halo) * PITCH,
      *head = kept + 2 * halo * PITCH; /* as loaded: around the end of the segment; the first samples */
    tile_thread t;
    uint32_t bad = 0;
    if (!tile_place(p, bits, (int32_t)(along_x ? threadIdx.x / (THREADS / LANES) : threadIdx.x % LANES), &t)) return;
    t.row = (int32_t)(along_x ? threadIdx.x % (THREADS / LANES) : threadIdx.x / LANES);
    t.rows = THREADS / LANES;
    for (int64_t begin = 0; begin < n; begin += SEGMENT) {
        int64_t end = tsr_minl(begin + SEGMENT, n), from = begin - halo, to = end + halo;
        if (!periodic) {
            from = tsr_maxl(from, 0);
            to = tsr_minl(to, n);
        }
        segment<D> g = { shared, from, n, (int32_t)(to - from) };
        int64_t fresh = from; /* the samples before are kept ones */
        if (begin > 0) {
            fresh = tsr_minl(begin + halo, to);
            for (int64_t k = threadIdx.x; k < (fresh - from) * LANES; k += THREADS)
                shared[k / LANES * PITCH + k % LANES] = kept[(k / LANES + from - (begin - halo)) * PITCH + k % LANES];
        }
        int64_t stop = to;
        if (periodic && begin > 0 && to > n) stop = tsr_maxl(n, fresh); /* around the end: the first samples, overwritten by now */
        tile_load<D>(p, t, bits, shared, from, fresh, stop, &bad);
        for (int64_t k = threadIdx.x; k < (to - stop) * LANES; k += THREADS)
            shared[(k / LANES + stop - from) * PITCH + k % LANES] = head[((k / LANES + stop) % n) * PITCH + k % LANES];
        __syncthreads();
        if (begin == 0 && periodic)
            for (int64_t k = threadIdx.x; k < tsr_minl(halo, n) * LANES; k += THREADS)
                head[k / LANES * PITCH + k % LANES] = shared[(k / LANES + begin - from) * PITCH + k % LANES];
        for (int64_t k = threadIdx.x; k < (to - tsr_maxl(end - halo, from)) * LANES; k += THREADS) {
            int64_t i = tsr_maxl(end - halo, from) + k / LANES;
            kept[(i - (end - halo)) * PITCH + k % LANES] = shared[(i - from) * PITCH + k % LANES];
        }
        __syncthreads();
        lift_segment<D>(g, p.filter, (int32_t)p.level.boundary, periodic ? 0 : (from == 0 ? 1 : 0) | (to == n ? 2 : 0));
        tile_store<D>(p, t, bits, shared, from, begin, end, &bad);
        __syncthreads();
    }
    if (bad && p.lost) atomicOr(p.lost, 1u);
}

static size_t axis_shared(const axis_pass &p, size_t row) { return (size_t)(SEGMENT + 5 * p.filter.reach) * PITCH * row; }

template <tsr_dtype D> static tsr_status launch_axis(tsr_queue *queue, const axis_pass &p)
{
    const tsr_wavelet_level &l = p.level;
    size_t shared = axis_shared(p, sizeof(typename element<D>::row));
    int64_t blocks = 1;
    uint32_t combinations = 1;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (a == p.axis) continue;
        int64_t most = tsr_wavelet_band_size(&l, 0, a);
        blocks *= a == p.lane_axis ? (most + LANES - 1) / LANES : most;
        if (l.axes >> a & 1) combinations *= 2;
    }
    if (blocks > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld bundles of lines, a GPU takes at most 2^31", (long long)blocks);
    TSR_LAUNCH_ALLOW_SHARED(queue, axis_kernel<D>, shared);
    TSR_LAUNCH(queue, axis_kernel<D>, dim3((uint32_t)blocks, combinations), THREADS, shared, p);
    return TSR_OK;
}

static tsr_status run_axis(tsr_queue *queue, const axis_pass &p)
{
    switch (p.level.dtype) {
    case TSR_I16: TSR_TRY(launch_axis<TSR_I16>(queue, p)); break;
    case TSR_I32: TSR_TRY(launch_axis<TSR_I32>(queue, p)); break;
    case TSR_F32: TSR_TRY(launch_axis<TSR_F32>(queue, p)); break;
    default: TSR_TRY(launch_axis<TSR_F64>(queue, p)); break;
    }
    return TSR_OK;
}

#include "wavelet/row.h"

/* ---- copies ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct copy_sizes {
    int64_t size[TSR_WAVELET_DIMENSIONS];
} copy_sizes;

enum { COPY_PIECE = 4096 };

/* A warp takes a piece of a row at a time, 16 bytes a lane where both places allow it. */
template <class T> TSR_KERNEL(copy_kernel)(copy_sizes s, tsr_wavelet_array from, tsr_wavelet_array to, int64_t pieces, int64_t tasks)
{
    enum { PER = 16 / sizeof(T) };
    const int64_t lane = threadIdx.x % LANES, warps = (int64_t)gridDim.x * (THREADS / LANES);
    for (int64_t task = (int64_t)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES; task < tasks; task += warps) {
        const int64_t first = task % pieces * COPY_PIECE, count = tsr_minl(s.size[0] - first, COPY_PIECE);
        int64_t rest = task / pieces;
        const T *f = (const T *)from.data + first * from.stride[0];
        T *t = (T *)to.data + first * to.stride[0];
        for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
            const int64_t i = rest % s.size[a];
            rest /= s.size[a];
            f += i * from.stride[a];
            t += i * to.stride[a];
        }
        int64_t done = 0;
        if (from.stride[0] == 1 && to.stride[0] == 1 && ((uintptr_t)f | (uintptr_t)t) % 16 == 0) {
            done = count / PER * PER;
#pragma unroll 4
            for (int64_t k = lane * PER; k < done; k += LANES * PER) ((words<uint32_t, 4> *)(t + k))[0] = ((const words<uint32_t, 4> *)(f + k))[0];
        }
#pragma unroll 4
        for (int64_t k = done + lane; k < count; k += LANES) t[k * to.stride[0]] = f[k * from.stride[0]];
    }
}

static tsr_status cuda_copy(tsr_queue *queue, size_t bytes, const int64_t size[TSR_WAVELET_DIMENSIONS], const tsr_wavelet_array *from,
                            const tsr_wavelet_array *to)
{
    copy_sizes s;
    const int64_t pieces = (size[0] + COPY_PIECE - 1) / COPY_PIECE;
    int64_t tasks = pieces;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        s.size[a] = size[a];
        if (a) tasks *= size[a];
    }
    const uint32_t blocks = tsr_blocks(tasks, THREADS / LANES, 32 * tsr_queue_processors(queue));
    if (!tasks) return TSR_OK;
    if (bytes == 2) TSR_LAUNCH(queue, copy_kernel<uint16_t>, blocks, THREADS, 0, s, *from, *to, pieces, tasks);
    else if (bytes == 4) TSR_LAUNCH(queue, copy_kernel<uint32_t>, blocks, THREADS, 0, s, *from, *to, pieces, tasks);
    else TSR_LAUNCH(queue, copy_kernel<uint64_t>, blocks, THREADS, 0, s, *from, *to, pieces, tasks);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------------------------------------------- */

static size_t element_bytes(tsr_dtype dtype) { return dtype == TSR_I16 ? 2 : dtype == TSR_F64 ? 8 : 4; }

static int64_t level_elements(const tsr_wavelet_level *l)
{
    int64_t n = 1;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) n *= l->size[a];
    return n;
}

/* Layout split in place: the samples of a row change places, and segments would meet. */
static int moves_in_place(const tsr_wavelet_level *l, int32_t axis)
{
    return axis == 0 && l->inplace && (l->axes & 1) && l->band[0].stride[0] == l->whole.stride[0];
}

/* Do they change places within a block's shared memory? Longer rows go by way of the workspace. */
static int row_fits(tsr_queue *queue, const tsr_wavelet_level *l) { return (size_t)l->size[0] <= row_bytes(queue) / (l->dtype == TSR_F64 ? 8 : 4); }

/* Does march.h take this axis, from one array to another? */
static int marches(const tsr_wavelet_level *l, const tsr_lift_filter *forward, int32_t axis)
{
    const int64_t most = 1 << 30; /* of what is counted in 32 bits */
    int64_t packed = 1;           /* stride in the workspace */
    for (int32_t a = 0; a < axis; a++) packed *= l->size[a];
    int fits = !l->inplace && l->size[axis] >= SHORTEST_AXIS && l->size[axis] < most && l->size[0] < most && packed < most;
    fits = fits && llabs(l->whole.stride[axis]) < most;
    for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) fits = fits && ((bits & ~l->axes) || llabs(l->band[bits].stride[axis]) < most);
    return fits && !forward->nonlinear && march_knows(l->dtype, forward);
}
/* Do x and y go together? */
static int has_planes(const tsr_wavelet_level *l, const tsr_lift_filter *forward)
{
    return (l->axes & 3) == 3 && l->size[0] >= SHORTEST_AXIS && marches(l, forward, 1);
}

/* The axis other than x and y if it is one, goes through march.h and x and y go together or not at all; else 0. */
static int32_t lone_axis(const tsr_wavelet_level *l, const tsr_lift_filter *forward)
{
    const uint32_t further = has_planes(l, forward) ? l->axes & ~3u : l->axes;
    for (int32_t a = 1; a < TSR_WAVELET_AXES; a++)
        if (further == 1u << a && marches(l, forward, a)) return a;
    return 0;
}

/* The level's samples in the workspace, packed. */
static tsr_wavelet_level level_aside(const tsr_wavelet_job *job, const tsr_wavelet_level *l)
{
    tsr_wavelet_level aside = *l;
    aside.whole.data = job->work;
    aside.inplace = 0;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) aside.whole.stride[a] = a ? aside.whole.stride[a - 1] * l->size[a - 1] : 1;
    return aside;
}

/* Copies the level aside and has `from` point to the copy; `halves`: the rows hold low, then high samples. */
static tsr_status copy_aside(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int halves, tsr_wavelet_array *from)
{
    tsr_wavelet_level aside = level_aside(job, l);
    TSR_TRY(cuda_copy(queue, element_bytes(l->dtype), l->size, &l->whole, &aside.whole));
    tsr_wavelet_partly(&aside, halves ? 1 : 0, element_bytes(l->dtype), from);
    return TSR_OK;
}

/* Does packed_cuda.cu take this pass along x and y? *q: for it then. */
static int packs(const march_pass &p, int inverse, tsr_packed_pass *q)
{
    const int64_t most = INT32_MAX / 8; /* of what is counted in 32 bits */
    int fits = !p.split && !p.later && !p.raise && !p.lower && p.size[0] % 8 == 0;
    for (int32_t k = 0; k < 2; k++)
        fits = fits && p.filter.steps == 2 && tsr_packed_fits(&p.filter.step[k], k ^ inverse, !(k ^ inverse), &q->step[k]);
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        fits = fits && p.size[a] < most;
        q->size[a] = (int32_t)p.size[a];
    }
    q->width = q->size[0];
    q->height = q->size[1];
    q->boundary = p.boundary;
    q->lost = p.lost;
    q->whole = p.whole[0];
    q->whole_row = (int32_t)(p.whole[0].stride[1] * 2);
    fits = fits && llabs(p.whole[0].stride[1]) < most;
    fits = fits && runs_aligned<int16_t>(&p.whole[0], 16);
    for (uint32_t b = 0; b < 4; b++) {
        q->half[b] = p.half[b];
        q->half_row[b] = (int32_t)(p.half[b].stride[1] * 2);
        fits = fits && llabs(p.half[b].stride[1]) < most;
        fits = fits && runs_aligned<int16_t>(&p.half[b], 8);
    }
    return fits;
}

/* One pass through march.h along `axis`, and along x if `along_x`, between `whole` and `half`. `first`, `last`: in the order of the forward transform. */
static tsr_status run_pass(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int32_t axis, int along_x, uint32_t split,
                           const tsr_wavelet_array *whole, const tsr_wavelet_array *half, int first, int last, int inverse)
{
    march_pass p = {};
    const uint32_t own = 1u << axis | (along_x ? 1u : 0u), later = last ? 0u : l->axes & ~(own | split);
    p.filter = inverse ? *job->inverse : *job->forward;
    p.axis = axis;
    p.split = split;
    p.later = later;
    p.boundary = (int32_t)l->boundary;
    p.raise = first && !inverse ? l->shift : 0;
    p.lower = first && inverse ? l->shift : 0;
    p.scaled = l->scaled && last;
    p.lost = job->lost;
    memcpy(p.size, l->size, sizeof p.size);
    for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
        p.load_scale[bits] = p.scaled && inverse ? 1.0 / l->scale[bits] : 1.0;
        p.store_scale[bits] = p.scaled ? l->scale[bits] : 1.0;
        if (!(bits & ~split)) p.whole[bits] = whole[bits];
        if (!(bits & ~(split | own | later))) p.half[bits] = half[bits];
    }
    tsr_packed_pass packed = {};
    if (l->dtype == TSR_I16 && axis == 1 && along_x && packs(p, inverse, &packed) && tsr_packed_wants_cuda(queue, &packed))
        return tsr_packed_run_cuda(queue, &packed, inverse);
    return run_march(queue, l->dtype, along_x, inverse, &p);
}

/* The passes of a level that march.h does whole: x and y, and one more axis by way of the workspace; or one axis. */
static tsr_status run_marches(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int32_t axis, int inverse)
{
    if (!has_planes(l, job->forward)) return run_pass(queue, job, l, axis, 0, 0, &l->whole, l->band, 1, 1, inverse);
    tsr_wavelet_level aside = level_aside(job, l);
    tsr_wavelet_array halves[TSR_WAVELET_BANDS];
    aside.axes = 3;
    tsr_wavelet_partly(&aside, 3, element_bytes(l->dtype), halves);
    if (inverse) TSR_TRY(run_pass(queue, job, l, axis, 0, 3, halves, l->band, 0, 1, 1));
    aside.scaled = 0;
    TSR_TRY(run_pass(queue, job, &aside, 1, 1, 0, &l->whole, halves, 1, 1, inverse));
    if (!inverse) TSR_TRY(run_pass(queue, job, l, axis, 0, 3, halves, l->band, 0, 1, 0));
    return TSR_OK;
}

/* All passes of a level: forward from x on, inverse back to x. */
static tsr_status run_level(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int inverse)
{
    const size_t bytes = element_bytes(l->dtype);
    const int bare = cube_alone(l, job->forward), planes = !bare && has_planes(l, job->forward), only = planes && !(l->axes & ~3u);
    const int32_t lone = bare ? 0 : lone_axis(l, job->forward);
    const tsr_wavelet_level aside = level_aside(job, l);
    axis_pass p = {};
    uint32_t left = l->axes;
    if (cube_fits(l, job->forward, inverse) && cube_aligned(l)) return run_cube(queue, job, l, inverse);
    if (lone) return run_marches(queue, job, l, lone, inverse);
    p.level = *l;
    p.filter = inverse ? *job->inverse : *job->forward;
    p.lost = job->lost;
    if (planes && !inverse) {
        TSR_TRY(run_pass(queue, job, l, 1, 1, 0, &l->whole, l->band, 1, only, 0));
        left &= ~3u;
        memcpy(p.to, l->band, sizeof p.to);
    }
    for (int32_t n = 0; n < TSR_WAVELET_AXES; n++) {
        p.axis = inverse ? TSR_WAVELET_AXES - 1 - n : n;
        if (!(left >> p.axis & 1) || (planes && p.axis < 2)) continue;
        int first = left == l->axes, last = (left & (left - 1)) == 0;
        left &= ~(1u << p.axis);
        for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
            if (bits & ~l->axes) continue;
            tsr_wavelet_array whole = tsr_wavelet_interleaved(&l->whole, l->axes, bits, bytes);
            p.from[bits] = !first ? p.to[bits] : inverse ? l->band[bits] : whole;
            p.to[bits] = inverse ? whole : l->band[bits]; /* the inverse at once where the samples will be: segments move nothing */
            p.load_scale[bits] = l->scaled && first && inverse ? 1.0 / l->scale[bits] : 1.0;
            p.store_scale[bits] = l->scaled && last && !inverse ? l->scale[bits] : 1.0;
        }
        if (inverse && l->inplace) tsr_wavelet_partly(l, left, bytes, p.to);
        if (inverse && planes) tsr_wavelet_partly(&aside, 3, bytes, p.to); /* planes do not work in place */
        const int moves = moves_in_place(l, p.axis);
        const int moves_whole = moves && row_fits(queue, l);
        if (moves && !moves_whole) TSR_TRY(copy_aside(queue, job, l, inverse, p.from));
        p.raise = first && !inverse ? l->shift : 0;
        p.lower = last && inverse ? l->shift : 0;
        p.lane_axis = p.axis ? 0 : 1;
        if (moves_whole) TSR_TRY(run_rows(queue, p));
        else TSR_TRY(run_axis(queue, p));
    }
    if (planes && inverse) TSR_TRY(run_pass(queue, job, l, 1, 1, 0, &l->whole, only ? l->band : p.to, 1, only, 1));
    return TSR_OK;
}

static tsr_status enqueue(tsr_queue *queue, const tsr_wavelet_job *job, int inverse)
{
    int32_t first[TSR_WAVELET_LEVELS + 1], launches = 0; /* what goes together, from the finest level on */
    for (int32_t n = 0; n < job->levels; launches++) {
        const int32_t together = tsr_wavelet_tiles_take(queue, job, n);
        first[launches] = n;
        n += together ? together : 1;
    }
    first[launches] = job->levels;
    for (int32_t k = 0; k < launches; k++) {
        const int32_t at = inverse ? launches - 1 - k : k, n = first[at], together = first[at + 1] - n;
        if (together > 1) TSR_TRY(tsr_wavelet_tiles_run(queue, job, n, together, inverse));
        else TSR_TRY(run_level(queue, job, &job->level[n], inverse));
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------------------------- */

/* The launches of a plan's transform, forward and inverse. Recorded when it is called for the second time with the same memory: a plan that runs once
 * does not pay for it. */
struct tsr_wavelet_recording {
    struct {
        const void *memory[3];
        int32_t calls;
        tsr_graph *graph;
    } way[2];
};

static tsr_status cuda_recording_create(tsr_wavelet_recording **recording)
{
    *recording = (tsr_wavelet_recording *)calloc(1, sizeof **recording);
    if (!*recording) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof **recording);
    return TSR_OK;
}

static void cuda_recording_destroy(tsr_wavelet_recording **recording)
{
    for (int inverse = 0; inverse < 2; inverse++) tsr_graph_destroy(&(*recording)->way[inverse].graph);
    free(*recording);
    *recording = NULL;
}

static tsr_status transform(tsr_queue *queue, const tsr_wavelet_job *job, int inverse)
{
    if (!job->recording || tsr_queue_recording(queue) || job->levels < 2 || tsr_wavelet_tiles_take(queue, job, 0) == job->levels)
        return enqueue(queue, job, inverse);
    auto *way = &job->recording->way[inverse];
    if (memcmp(way->memory, job->memory, sizeof way->memory)) {
        tsr_graph_destroy(&way->graph);
        memcpy(way->memory, job->memory, sizeof way->memory);
        way->calls = 0;
    }
    if (!way->graph && way->calls++) {
        TSR_TRY(tsr_graph_begin(queue));
        const tsr_status status = enqueue(queue, job, inverse), ended = tsr_graph_end(queue, &way->graph);
        if (status != TSR_OK) tsr_graph_destroy(&way->graph);
        TSR_TRY(status);
        TSR_TRY(ended);
    }
    if (!way->graph) return enqueue(queue, job, inverse);
    TSR_TRY(tsr_graph_launch(queue, way->graph));
    return TSR_OK;
}

static tsr_status cuda_forward(tsr_queue *queue, const tsr_wavelet_job *job) { return transform(queue, job, 0); }
static tsr_status cuda_inverse(tsr_queue *queue, const tsr_wavelet_job *job) { return transform(queue, job, 1); }

static int32_t cuda_passes(const tsr_wavelet_level *l, const tsr_lift_filter *forward, int inverse)
{
    int32_t axes = 0;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) axes += l->axes >> a & 1;
    return cube_fits(l, forward, inverse) ? 1 : axes - ((l->axes & 3) == 3 && !l->inplace);
}

static int32_t cuda_together(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first, int inverse)
{
    (void)inverse;
    return tsr_wavelet_tiles_take(queue, job, first);
}

static size_t cuda_work_bytes(tsr_queue *queue, int32_t threads, const tsr_wavelet_level *level, int32_t levels, const tsr_lift_filter *filter)
{
    (void)threads;
    for (int32_t n = 0; n < levels; n++) {
        const tsr_wavelet_level *l = &level[n];
        if ((moves_in_place(l, 0) && !row_fits(queue, l)) || (has_planes(l, filter) && l->axes & ~3u && !cube_alone(l, filter)))
            return (size_t)level_elements(l) * element_bytes(l->dtype);
    }
    return 0;
}

extern "C" const tsr_wavelet_ops tsr_wavelet_cuda = { cuda_passes,           cuda_together,         cuda_work_bytes,
                                                      cuda_forward,          cuda_inverse,          cuda_copy,
                                                      cuda_recording_create, cuda_recording_destroy,
                                                      &tsr_shrink_cuda,      &tsr_keep_cuda };
