/* solver/engine_slab.h: the pass of the level-set solver for first-order schemes in one stage whose terms are the same everywhere, but for the pull
 * of one potential: the flows of the long runs of [Jalba13 6] and of reconstruction; and for such a stage with sweeps of reinitialisation behind it. While a slab of 512 voxels is computed the next ones are on their way (tiles/tiles_slab.h); the same bits as the kernel for
 * all schemes in engine_pass.h. */
#ifndef TSR_SOLVER_ENGINE_SLAB_H
#define TSR_SOLVER_ENGINE_SLAB_H

#include "device/dependent_launch.h"
#include "tiles/tiles_slab.h"
#include "solver/engine_cuda.h"

/* Blocks a multiprocessor: fewer hide less latency, more have too few registers. */
enum { SLAB_BLOCKS_4 = 6, SLAB_BLOCKS_8 = 10 };
enum { SIGN_ANY = 15 }; /* beside the signs of scheme.h: not known to the compiler */
template <int CODED> struct tsr_slab_storage {
    typedef tsr_slab_floats kind;
};
template <> struct tsr_slab_storage<1> {
    typedef tsr_slab_codes kind;
};

/* Adds the pull of the potential at the voxel of an entry; `row` and `at` are of its slab. */
template <int E, int CODED>
TSR_DEVICE_FN void tsr_slab_pull(const tsr_tile_pool &pool, tsr_keys keys, int32_t at, const uint32_t *row, uint32_t entry, float pull,
                                 const float inverse_spacing[3], tsr_engine_values *values)
{
    enum { V = E * E * E };
    const int32_t i = (int32_t)(entry & 511u), tile = i / V, v = i % V;
    int32_t extent[3] = { E, E, E }, first[3];
    float gradient[3];
    row += tile * TSR_NEIGHBOUR_ROW;
    if (row[TSR_SLAB_EDGE]) tsr_tile_extent<E>(pool, tsr_key_at(keys, at + tile), extent, first);
    tsr_page_gradient(pool.payload, CODED, E, row, v % E, v / E % E, v / (E * E), extent, inverse_spacing, gradient);
    tsr_pull_add(pull, gradient, values);
}

/* Which of several passes a pass is. */
struct tsr_slab_pass {
    int32_t source, target; /* tsr_pass_source, tsr_pass_target */
    int32_t index, last;
    float sweep_step; /* that of a sweep; 0: a stage */
};

/* The pass, by all blocks. SIGN: of scheme.h; PULL: the gradient of the payload pulls with `pull`; CODED: the field is stored in 16 bits; BEGUN:
 * tsr_slab_begin has been called for `loads`; SEVERAL: the step has other passes, too. */
template <int E, int SPACE, int SIGN, int PULL, int CODED, int BEGUN, int SEVERAL>
TSR_DEVICE_FN void tsr_slab_step(const tsr_tile_pool &pool, tsr_engine_scheme scheme, tsr_engine_values values, float pull, tsr_engine_control *control,
                                 int32_t managed, tsr_slab_pass pass, tsr_slab_work<E> *sh,
                                 tsr_slab_loads<E, typename tsr_slab_storage<CODED>::kind> &loads)
{
    typedef tsr_slab<E> S;
    typedef typename tsr_slab_storage<CODED>::kind K;
    enum { V = E * E * E, T = S::THREADS, P = S::P, Q = S::Q };
    tsr_tile_state *state = pool.state;
    scheme.space = scheme.reshape_space = SPACE;
    if (SIGN != SIGN_ANY) scheme.sign = SIGN;
    scheme.has_velocity = PULL || (scheme.has_velocity && SIGN == SIGN_ANY);
    const int32_t last = !SEVERAL || pass.last;
    const float *start = pool.phi[state->phi], *phi = !SEVERAL ? start : pass.source == 2 ? pool.phi[2] : pool.phi[state->phi ^ pass.source];
    float *next = SEVERAL && pass.target == 2 ? pool.phi[2] : pool.phi[state->phi ^ 1], *cubes = (float *)(void *)sh->slab.cube, *out = (float *)(void *)sh->fresh;
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    const float whole_step = control->time_step, step = SEVERAL && pass.sweep_step > 0.0f ? pass.sweep_step : whole_step, band = scheme.band;
    const tsr_coding coding = tsr_coding_of(band);
    const int32_t tid = (int32_t)threadIdx.x, count = state->count, stride = (int32_t)gridDim.x * S::TILES;
    int32_t at = (int32_t)blockIdx.x * S::TILES, buffer = 0;
    tsr_pass_totals totals = {};
    uint32_t change = 0, oldest = 0;
    tsr_slab_rows<E> rows;
    values.speed = values.speed + control->mean_speed;
    if (tid == 0) sh->movers = 0;
    if (tid < 8) sh->areas[tid] = 0;
    if (blockIdx.x == 0 && tid == 0 && last) state->scratch[TSR_COUNT_TIME_STEP] = tsr_float_bits(whole_step);
    if (at >= count) return;
    if (!BEGUN) tsr_slab_begin<E>((uint32_t *)(void *)sh->slab.cube, &loads);
    tsr_slab_first<E, BEGUN>(pool, phi, keys, ids, count, at, stride, &sh->slab, &loads, &rows);
    for (int32_t turn = tid; at < count; at += stride, buffer ^= 1, turn = (turn + 32) % T) {
        uint32_t *row = sh->slab.row[buffer];
        const uint32_t within = tsr_slab_put<E>(pool, keys, count, at, row, &loads, cubes);
        uint32_t id[S::OWN], bits = 0;
        for (int32_t h = 0; h < S::OWN; h++) id[h] = loads.id[h];
        tsr_slab_collect<E, 0>(pool, cubes, loads, within, sh);
        tsr_slab_load<E>(phi, sh->slab.row[buffer ^ 1], &loads);
        for (int32_t h = 0; PULL && h < S::OWN; h++)
            tsr_prefetch((const char *)pool.payload + ((int64_t)loads.id[h] * V + tsr_slab_quad<E>(h) % S::SHARE * 4) * (CODED ? 2 : 4));
        tsr_slab_rows_load<E>(pool, &rows);
        __syncthreads();
        const int32_t movers = (int32_t)sh->movers;
        for (int32_t m = turn; m < movers; m += T) { /* the warps take turns at being first, and the multiprocessor's schedulers with them */
            const uint32_t entry = sh->moving[m], i = entry & 511u;
            const float *p = cubes + (entry >> 14);
            tsr_engine_values terms = values;
            if (PULL) tsr_slab_pull<E, CODED>(pool, keys, at, row, entry, pull, scheme.inverse_spacing, &terms);
            const float c = p[0], moved = step * tsr_scheme_rate(p, P, Q, &terms, &scheme, 0), found = tsr_stage_value(c, c, moved, 1.0f, band),
                        v = CODED ? tsr_code_rounded(&coding, found) : found;
            const int in_band = v > -band && v < band;
            if (!tsr_finite(c + moved)) tsr_engine_bad_add(state, SEVERAL ? pass.index : 0, at + (int32_t)i / V, (int32_t)i % V);
            out[i] = v;
            if (!last) continue;
            if (in_band || tsr_sign_change(p, P, Q)) tsr_slab_mark<E>(sh, entry, &bits);
            if (in_band) {
                const float before = SEVERAL ? start[(int64_t)row[(int32_t)i / V * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] * V + (int32_t)i % V] : c;
                change = max(change, tsr_float_bits(tsr_absf(v - before)));
                totals.active++;
            }
        }
        tsr_slab_meet<E>(sh, bits);
        tsr_slab_rows_put<E>(&rows, row);
        tsr_slab_rows_begin<E>(keys, ids, count, at + 3 * stride, &rows);
        if (tid == 0) sh->movers = 0;
#pragma unroll
        for (int32_t h = 0; h < S::OWN; h++) {
            const uint32_t before = managed && tsr_slab_quad<E>(h) % S::SHARE == 0 ? pool.age[id[h]] : 0u, age = before < 255u ? before + 1u : 255u;
            if (!tsr_slab_write<E, K>(pool, sh, next, count, at, h, id[h], within, &totals.inside, last) || !managed) continue;
            pool.age[id[h]] = (uint8_t)age;
            oldest = max(oldest, 255u - age);
        }
    }
    if (!last) return;
    tsr_totals_add(state, totals);
    change = __reduce_max_sync(TSR_WARP_ALL, change);
    oldest = __reduce_max_sync(TSR_WARP_ALL, oldest);
    if ((tid & 31) != 0) return;
    if (change) atomicMax(&control->change_bits, change);
    if (oldest) atomicMax(&control->old_bits, oldest);
}

template <int E, int SPACE, int SIGN, int PULL, int CODED, int SEVERAL>
TSR_KERNEL(__launch_bounds__(tsr_slab<E>::THREADS, E == 8 ? SLAB_BLOCKS_8 : SLAB_BLOCKS_4) slab_kernel)
(tsr_tile_pool pool, tsr_engine_scheme scheme, tsr_engine_values values, float pull, tsr_engine_control *control, int32_t managed, tsr_slab_pass pass)
{
    tsr_chained();
    TSR_SHARED(tsr_slab_work<E>, sh, 1);
    const tsr_tile_state *state = pool.state;
    tsr_slab_loads<E, typename tsr_slab_storage<CODED>::kind> loads;
    if (SEVERAL ? tsr_pass_stopped(state, pass.index) : state->shortage > 0 || state->halted)
        return; /* one that meets a value that is not finite runs as a whole: the first is found */
    tsr_slab_step<E, SPACE, SIGN, PULL, CODED, 0, SEVERAL>(pool, scheme, values, pull, control, managed, pass, sh, loads);
}

template <int E, int SPACE, int SIGN, int PULL, int CODED, int SEVERAL>
static void tsr_slab_launch_of(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, const tsr_engine_scheme &scheme,
                               tsr_engine_control *control, int32_t managed, tsr_slab_pass pass)
{
    const uint32_t blocks = tsr_slab_blocks(queue, pool, E == 8 ? SLAB_BLOCKS_8 : SLAB_BLOCKS_4);
    TSR_LAUNCH(queue, (slab_kernel<E, SPACE, SIGN, PULL, CODED, SEVERAL>), blocks, tsr_slab<E>::THREADS, 0, *pool, scheme, s->flow.everywhere,
               s->flow.source[0].value, control, managed, pass);
}

template <int E, int SPACE, int CODED>
static void tsr_slab_launch(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, int32_t managed)
{
    const tsr_slab_pass alone = { 0, 1, 0, 1, 0.0f };
    if (s->flow.count) tsr_slab_launch_of<E, SPACE, SIGN_ANY, 1, CODED, 0>(queue, pool, s, s->scheme, control, managed, alone);
    else if (s->scheme.sign == TSR_SIGNED_SMOOTH && !s->scheme.has_velocity)
        tsr_slab_launch_of<E, SPACE, TSR_SIGNED_SMOOTH, 0, CODED, 0>(queue, pool, s, s->scheme, control, managed, alone);
    else tsr_slab_launch_of<E, SPACE, SIGN_ANY, 0, CODED, 0>(queue, pool, s, s->scheme, control, managed, alone);
}

/* Queues the pass on a list that is coded, or is not. */
template <int CODED>
static void tsr_slab_enqueue(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, int32_t managed)
{
    const int osher = s->scheme.space == TSR_DIFFERENCE_UPWIND;
    if (pool->log2_edge == 3 && osher) tsr_slab_launch<8, TSR_DIFFERENCE_UPWIND, CODED>(queue, pool, s, control, managed);
    else if (pool->log2_edge == 3) tsr_slab_launch<8, TSR_DIFFERENCE_GODUNOV, CODED>(queue, pool, s, control, managed);
    else if (osher) tsr_slab_launch<4, TSR_DIFFERENCE_UPWIND, CODED>(queue, pool, s, control, managed);
    else tsr_slab_launch<4, TSR_DIFFERENCE_GODUNOV, CODED>(queue, pool, s, control, managed);
}

/* ---- one of several passes ---------------------------------------------------------------------------------------------------------------------- */

/* Is there a kernel for this pass of a step of one stage and sweeps, on a list that is not coded? */
static inline int tsr_slab_can_pass(const tsr_engine_setup *s, tsr_pass_shape shape)
{
    return s->stages <= 1 && s->sweeps > 0 && s->sweep_kind == TSR_SWEEP_RESHAPE && s->radius == 1 && s->guard == 1 && !s->measured &&
           (shape.sweep || (s->flow.count == 0 && s->scheme.space == s->scheme.reshape_space)) && s->scheme.reshape_space <= TSR_DIFFERENCE_GODUNOV;
}

template <int E, int SPACE>
static void tsr_slab_launch_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control,
                                 tsr_pass_shape shape)
{
    tsr_engine_scheme k = shape.sweep ? s->sweep : s->scheme;
    const int32_t passes = s->stages + s->sweeps, managed = shape.last && shape.managed;
    const tsr_slab_pass pass = { tsr_pass_source(shape.index, passes), tsr_pass_target(shape.index, passes), shape.index, shape.last,
                                 shape.sweep ? s->sweep_step : 0.0f };
    if (shape.sweep) k.has_speed = k.has_velocity = k.has_curvature = 0; /* the reshaping alone */
    if (k.sign == TSR_SIGNED_SMOOTH && !k.has_velocity)
        tsr_slab_launch_of<E, SPACE, TSR_SIGNED_SMOOTH, 0, 0, 1>(queue, pool, s, k, control, managed, pass);
    else tsr_slab_launch_of<E, SPACE, SIGN_ANY, 0, 0, 1>(queue, pool, s, k, control, managed, pass);
}

/* Queues it. */
static inline void tsr_slab_enqueue_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control,
                                  tsr_pass_shape shape)
{
    const int osher = s->scheme.reshape_space == TSR_DIFFERENCE_UPWIND;
    if (pool->log2_edge == 3 && osher) tsr_slab_launch_pass<8, TSR_DIFFERENCE_UPWIND>(queue, pool, s, control, shape);
    else if (pool->log2_edge == 3) tsr_slab_launch_pass<8, TSR_DIFFERENCE_GODUNOV>(queue, pool, s, control, shape);
    else if (osher) tsr_slab_launch_pass<4, TSR_DIFFERENCE_UPWIND>(queue, pool, s, control, shape);
    else tsr_slab_launch_pass<4, TSR_DIFFERENCE_GODUNOV>(queue, pool, s, control, shape);
}

#endif
