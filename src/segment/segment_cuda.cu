/* segment/segment_cuda.cu: steps of a level set on a sorted tile list on the GPU (and the emulator).
 *
 * A step is one kernel that reads the field and the speed once and writes the field once, then the management kernels of the tile list, the last of which
 * also works out the speed of the created tiles. Steps are recorded in a graph once; replays neither allocate nor synchronise. */
#include <stdlib.h>

#include "tiles/tiles_pass.h"
#include "tiles/tiles_warp.h"
#include "segment/segment_ops.h"
#include "segment/total_speed.h"
#include "segment/update_fast.h"

/* ---- the step ------------------------------------------------------------------------------------------------------------------------- */

/* Blocks a multiprocessor: fewer hide less latency, more have too few registers (measured on an H200). */
enum { STEP_BLOCKS_4 = 6, STEP_BLOCKS_8 = 5 };
/* Tiles of edge 8 in a row of the list that a warp takes: fewer bytes for halos, but an uneven end where a warp takes few in all. */
TSR_DEVICE_FN int32_t step_run(int32_t count, int32_t warps) { return count / 64 >= warps ? 8 : count / 16 >= warps ? 4 : 1; }

/* What a step kernel knows when it is compiled. USUAL: split scheme, Osher-Sethian gradients, plain rescaling. The fast ones round differently. */
enum step_kind { STEP_ANY, STEP_USUAL, STEP_FAST, STEP_FAST_ISOTROPIC };

/* What the voxels that a thread updates have in common. */
struct step_context {
    tsr_segment_params params;
    tsr_fast_params fast;
    float dt, band, inverse_band;
};
template <int KIND> TSR_DEVICE_FN step_context step_begin(const tsr_tile_pool &pool, const tsr_segment_params &params)
{
    step_context k;
    k.params = params;
    if (KIND != STEP_ANY) { /* known when it is compiled */
        k.params.lumped = 0;
        k.params.godunov = 0;
        k.params.rescale_mode = TSR_RESCALE_PLAIN;
    }
    k.dt = tsr_segment_time_step(&k.params, tsr_bits_float(pool.state->speed_bits));
    k.band = pool.band;
    k.inverse_band = 1.0f / pool.band;
    k.fast = tsr_fast_prepare(&k.params, k.dt, KIND == STEP_FAST_ISOTROPIC);
    if (blockIdx.x == 0 && threadIdx.x == 0) pool.state->scratch[TSR_COUNT_TIME_STEP] = tsr_float_bits(k.dt);
    return k;
}

/* New value of the voxel at p (strides 1, sy, sz); *marks: it keeps its area. */
template <int KIND> TSR_DEVICE_FN float step_update(const step_context &k, const float *p, int32_t sy, int32_t sz, float speed, int *marks)
{
    int32_t crosses = 0;
    const float v = KIND >= STEP_FAST ? tsr_fast_update(p, sy, sz, speed, &k.fast, KIND == STEP_FAST_ISOTROPIC, &crosses)
                                      : tsr_segment_update(p, sy, sz, speed, k.dt, &k.params);
    *marks = fabsf(v) < k.band || (KIND >= STEP_FAST ? crosses < 0 : tsr_sign_change(p, sy, sz));
    return v;
}
/* Counts a voxel that went from `old` to v. */
TSR_DEVICE_FN void step_count(const step_context &k, float old, float v, float speed, tsr_pass_totals *totals)
{
    if (fabsf(v) < k.band) {
        totals->speed_bits = max(totals->speed_bits, tsr_float_bits(fabsf(speed)));
        totals->active++;
    }
    totals->change += tsr_segment_change(old, v, k.inverse_band);
}

/* ---- tiles of edge 4 -------------------------------------------------------------------------------------------------------------------- */

/* A voxel to update, on its way from the list: the speed comes from memory and is asked for one round ahead. */
struct step_mover {
    uint32_t entry;
    float speed;
};
template <int E> TSR_DEVICE_FN step_mover step_fetch(const tsr_tile_pool &pool, const tsr_slab_work<E> *sh, const uint32_t *row, int32_t m)
{
    enum { V = E * E * E };
    const uint32_t entry = sh->moving[m], i = entry & 511u, tile = row[i / V * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE];
    const step_mover mover = { entry, (pool.payload + (int64_t)tile * V)[i % V] };
    return mover;
}

/* Voxels to update are collected in a list first, so that the arithmetic runs with full warps wherever the band lies in the tiles. New values are
 * gathered in shared memory and leave as whole lines. */
template <int KIND> TSR_KERNEL(__launch_bounds__(tsr_slab<4>::THREADS, STEP_BLOCKS_4) step_kernel_4)(tsr_tile_pool pool, tsr_segment_params params)
{
    tsr_chained();
    typedef tsr_slab<4> S;
    enum { E = 4, T = S::THREADS, P = S::P, Q = S::Q };
    TSR_SHARED(tsr_slab_work<E>, sh, 1);
    tsr_tile_state *state = pool.state;
    if (state->shortage > 0) return;
    const float *phi = pool.phi[state->phi];
    float *next = pool.phi[state->phi ^ 1], *cubes = (float *)(void *)sh->slab.cube, *out = (float *)(void *)sh->fresh;
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    const step_context k = step_begin<KIND>(pool, params);
    const int32_t tid = (int32_t)threadIdx.x, count = state->count, stride = (int32_t)gridDim.x * S::TILES;
    int32_t at = (int32_t)blockIdx.x * S::TILES, buffer = 0;
    tsr_pass_totals totals = {};
    tsr_slab_loads<E> loads;
    tsr_slab_rows<E> rows;
    if (tid == 0) sh->movers = 0;
    if (tid < 8) sh->areas[tid] = 0;
    if (at >= count) return;
    tsr_slab_begin<E>((uint32_t *)(void *)sh->slab.cube, &loads);
    tsr_slab_first<E, 0>(pool, phi, keys, ids, count, at, stride, &sh->slab, &loads, &rows);
    for (int32_t turn = tid; at < count; at += stride, buffer ^= 1, turn = (turn + 32) % T) {
        uint32_t *row = sh->slab.row[buffer];
        const uint32_t within = tsr_slab_put<E>(pool, keys, count, at, row, &loads, cubes);
        uint32_t id[S::OWN];
        for (int32_t h = 0; h < S::OWN; h++) id[h] = loads.id[h];
        tsr_slab_collect<E, 1>(pool, cubes, loads, within, sh);
        tsr_slab_load<E>(phi, sh->slab.row[buffer ^ 1], &loads);
        tsr_slab_rows_load<E>(pool, &rows);
        __syncthreads();
        const int32_t movers = (int32_t)sh->movers;
        uint32_t bits = 0;
        step_mover mover = {}, following = {};
        if (turn < movers) mover = step_fetch<E>(pool, sh, row, turn);
        for (int32_t m = turn; m < movers; m += T) { /* the warps take turns at being first, and the multiprocessor's schedulers with them */
            if (m + T < movers) following = step_fetch<E>(pool, sh, row, m + T);
            const uint32_t i = mover.entry & 511u;
            const float *p = cubes + (mover.entry >> 14);
            const float speed = mover.speed, old = p[0];
            int marks;
            const float v = step_update<KIND>(k, p, P, Q, speed, &marks);
            out[i] = v;
            if (marks) tsr_slab_mark<E>(sh, mover.entry, &bits);
            step_count(k, old, v, speed, &totals);
            mover = following;
        }
        tsr_slab_meet<E>(sh, bits);
        tsr_slab_rows_put<E>(&rows, row);
        tsr_slab_rows_begin<E>(keys, ids, count, at + 3 * stride, &rows);
        if (tid == 0) sh->movers = 0;
#pragma unroll
        for (int32_t h = 0; h < S::OWN; h++) (void)tsr_slab_write<E>(pool, sh, next, count, at, h, id[h], within, &totals.inside);
    }
    tsr_totals_add(state, totals);
}

/* ---- tiles of edge 8 -------------------------------------------------------------------------------------------------------------------- */

/* A voxel to update: byte of its cell | 4 times its index << 16, bit of its area, and its speed. */
struct step_voxel {
    uint32_t place, area;
    float speed;
};
/* Entry `at` of the table, counted from a lane's first, which is `entries`. */
TSR_DEVICE_FN step_voxel step_voxel_at(const char *entries, const char *payload, int32_t at)
{
    const uint2 entry = *(const uint2 *)(const void *)(entries + at * (int32_t)sizeof(uint2));
    const step_voxel voxel = { entry.x, entry.y, *(const float *)(const void *)(payload + (entry.x >> 16)) };
    return voxel;
}
/* The next of a lane's candidates, `mine` without it; if there is none, something that may be read. */
TSR_DEVICE_FN step_voxel step_next(const char *entries, const char *payload, uint32_t *mine)
{
    return step_voxel_at(entries, payload, tsr_take_highest(mine) * TSR_WARP_LANES);
}

/* Where in the list a warp goes on: runs of `run` tiles (a power of two), with those of the other warps between. */
TSR_DEVICE_FN int32_t step_place_after(int32_t at, int32_t run, int32_t skip)
{
    at++;
    return at & (run - 1) ? at : at + skip;
}

/* A warp a tile, a lane the voxels of its bank and perhaps one of another's, one of them ahead. New values are gathered in shared memory and leave as
 * whole lines. The row of neighbours of the next tile and the id of the one after that are on their way, and its field comes to the cache. */
template <int KIND>
TSR_KERNEL(__launch_bounds__(TSR_WARP_TILES *TSR_WARP_LANES, STEP_BLOCKS_8) step_kernel_8)
(tsr_tile_pool pool, tsr_segment_params params)
{
    tsr_chained();
    typedef tsr_warp_layout L;
    TSR_SHARED(tsr_warp_block, block, 1);
    tsr_tile_state *state = pool.state;
    if (state->shortage > 0) return;
    const float *phi = pool.phi[state->phi];
    float *next = pool.phi[state->phi ^ 1];
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    const step_context k = step_begin<KIND>(pool, params);
    const int32_t lane = tsr_warp_lane(), warp = (int32_t)threadIdx.x / TSR_WARP_LANES, count = state->count,
                  warps = (int32_t)gridDim.x * TSR_WARP_TILES, run = step_run(count, warps), skip = (warps - 1) * run;
    int32_t at = ((int32_t)blockIdx.x * TSR_WARP_TILES + warp) * run;
    tsr_warp_shared *sh = &block->warp[warp];
    tsr_pass_totals totals = {};
    tsr_warp_table(block->entry);
    __syncthreads();
    if (at >= count) return;
    const tsr_warp_places places = tsr_warp_places_of(phi);
    const tsr_warp_faces faces = tsr_warp_faces_of(pool);
    const char *entries = (const char *)sh + tsr_hold((uint32_t)((const char *)(block->entry + TSR_WARP_LANES + lane) - (const char *)sh));
    const uint32_t *neighbours = tsr_hold((const uint32_t *)pool.neighbours + lane);
    const float *lines = tsr_hold(phi + (lane & 15) * 32);
    int32_t then = step_place_after(at, run, skip);
    uint32_t row = neighbours[(int64_t)ids[at] * TSR_NEIGHBOUR_ROW], following = ids[tsr_mini(then, count - 1)], last = UINT32_MAX;
    while (at < count) {
        tsr_warp_values values;
        uint32_t moves, bits = 0;
        tsr_warp_load(places, row, __shfl_sync(TSR_WARP_ALL, row, TSR_TILE_MIDDLE - 1) == last, sh->cube, &values);
        const uint64_t key = tsr_key_at(keys, at);
        last = __shfl_sync(TSR_WARP_ALL, row, TSR_TILE_MIDDLE);
        const int64_t id = last;
        const char *payload = tsr_hold((const char *)(pool.payload + id * L::V));
        const uint32_t before = pool.activity[id];
        row = neighbours[(int64_t)following * TSR_NEIGHBOUR_ROW];
        tsr_prefetch(lines + (int64_t)following * L::V);
        at = then;
        then = step_place_after(then, run, skip);
        following = ids[tsr_mini(then, count - 1)];
        uint32_t mine = tsr_warp_put(pool, places, faces, key, sh, &values, &moves, &totals.inside);
        const char *ahead = tsr_hold(payload + lane * 16);
#pragma unroll
        for (int32_t h = 0; h < 4; h++)
            if (moves & 15u << 4 * h) tsr_prefetch(ahead + h * 512);
        const int32_t taken = tsr_warp_share(&mine, sh->words); /* first, if any */
        int more = taken >= 0 || mine != 0;
        step_voxel voxel = taken >= 0 ? step_voxel_at(entries, payload, taken - lane) : step_next(entries, payload, &mine);
#pragma unroll 2
        while (more) {
            const float *p = (const float *)(const void *)((const char *)sh->cube + (voxel.place & 0xffffu));
            float *to = (float *)(void *)((char *)sh->fresh + (voxel.place >> 16));
            const uint32_t area = voxel.area;
            const float speed = voxel.speed, old = p[0];
            int marks;
            more = mine != 0;
            voxel = step_next(entries, payload, &mine); /* its speed is on its way */
            const float v = step_update<KIND>(k, p, L::P, L::Q, speed, &marks);
            *to = v;
            if (marks) bits |= area;
            step_count(k, old, v, speed, &totals);
            totals.inside += tsr_float_bits(v + 0.0f) >> 31; /* not -0 */
        }
        bits = __reduce_or_sync(TSR_WARP_ALL, bits);
        __syncwarp();
        float4 *to = (float4 *)(void *)(next + id * L::V);
#pragma unroll
        for (int32_t h = 0; h < 4; h++) {
            const float4 v = sh->fresh[h * 32 + lane];
            __stcs(to + h * 32 + lane, v); /* read again a step later, when the cache has seen all tiles */
            if (h == 0 && lane == 0) pool.activity[id] = tsr_activity_word(before, bits, v.x > 0.0f);
        }
        __syncwarp();
    }
    tsr_totals_add(state, totals);
}

/* ---- speed --------------------------------------------------------------------------------------------------------------------------- */

enum { SPEED_THREADS = 128 };

/* Payload of voxel i of tile `id`. */
TSR_DEVICE_FN float speed_store(const tsr_tile_pool &pool, const tsr_speed *speed, uint32_t id, uint64_t key, int32_t i, int32_t *x, int32_t *y,
                                int32_t *z)
{
    const int32_t E = 1 << pool.log2_edge;
    *x = tsr_key_x(key) * E + (i & (E - 1));
    *y = tsr_key_y(key) * E + (i >> pool.log2_edge & (E - 1));
    *z = tsr_key_z(key) * E + (i >> 2 * pool.log2_edge);
    const float f = tsr_speed_at(speed, *x, *y, *z);
    pool.payload[(int64_t)id * (E * E * E) + i] = f;
    return f;
}

/* Payload of all stored tiles, and the largest speed in the band. */
TSR_KERNEL(speed_kernel)(tsr_tile_pool pool, const tsr_speed *speed)
{
    tsr_tile_state *state = pool.state;
    const int32_t V = 1 << (3 * pool.log2_edge), count = state->count;
    const uint32_t *ids = pool.id[state->list];
    uint32_t largest = 0;
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        const uint32_t id = ids[at];
        const uint64_t key = tsr_pool_key_of(&pool, id);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += SPEED_THREADS) {
            int32_t x, y, z;
            const float f = speed_store(pool, speed, id, key, i, &x, &y, &z), c = pool.phi[state->phi][(int64_t)id * V + i];
            const int counted =
                c > -pool.band && c < pool.band && (!pool.bounded || (x < pool.domain[0] && y < pool.domain[1] && z < pool.domain[2]));
            if (counted) largest = max(largest, tsr_float_bits(tsr_absf(f)));
        }
    }
    largest = __reduce_max_sync(TSR_WARP_ALL, largest);
    if ((threadIdx.x & 31u) == 0 && largest) atomicMax(&state->speed_bits, largest);
}

/* What follows the management of a step: the payload of the created tiles. */
struct speed_of_created {
    const tsr_speed *speed;
    TSR_INSIDE void tile(const tsr_tile_pool &pool, uint32_t id, int32_t lane) const
    {
        const uint64_t key = tsr_pool_key_of(&pool, id);
        int32_t x, y, z;
        for (int32_t i = lane; i < 1 << (3 * pool.log2_edge); i += 32) (void)speed_store(pool, speed, id, key, i, &x, &y, &z);
    }
    TSR_INSIDE void operator()(const tsr_tile_pool &) const {}
};

TSR_KERNEL(speed_begin_kernel)(tsr_tile_pool pool, tsr_speed from, tsr_speed *to)
{
    const uint32_t *words = (const uint32_t *)(const void *)&from;
    for (uint32_t i = threadIdx.x; i < sizeof from / 4; i += blockDim.x) ((uint32_t *)(void *)to)[i] = words[i];
    if (threadIdx.x == 0 && pool.state) pool.state->speed_bits = 0;
}

/* The terms travel as a kernel argument into a place on the device that the recorded kernels read. */
static tsr_status fill_speed(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_speed *speed, tsr_speed *place)
{
    TSR_LAUNCH(queue, speed_begin_kernel, 1, 256, 0, *pool, *speed, place);
    TSR_LAUNCH(queue, speed_kernel, tsr_tile_blocks(queue, pool), SPEED_THREADS, 0, *pool, (const tsr_speed *)place);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_fill_speed(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_speed *speed)
{
    void *place;
    TSR_TRY(tsr_queue_allocate(queue, sizeof *speed, &place));
    tsr_status status = fill_speed(queue, pool, speed, (tsr_speed *)place);
    tsr_queue_release(queue, place, sizeof *speed);
    return status;
}

struct dense_box {
    int32_t low[3], size[3];
};

TSR_KERNEL(dense_speed_kernel)(tsr_speed speed, dense_box box, float *out, int64_t count)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        out[i] = tsr_speed_at(&speed, box.low[0] + (int32_t)(i % box.size[0]), box.low[1] + (int32_t)(i / box.size[0] % box.size[1]),
                              box.low[2] + (int32_t)(i / box.size[0] / box.size[1]));
}

TSR_KERNEL(total_speed_kernel)(tsr_speed speed, tsr_tile_pool pool, tsr_segment_params params, dense_box box, float *out, int64_t count)
{
    const tsr_tile_finder finder = tsr_finder_of(&pool);
    const int32_t e = pool.log2_edge;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
        const int32_t x = box.low[0] + (int32_t)(i % box.size[0]), y = box.low[1] + (int32_t)(i / box.size[0] % box.size[1]),
                      z = box.low[2] + (int32_t)(i / box.size[0] / box.size[1]);
        out[i] = tsr_total_speed_at(&speed, &finder, &params, tsr_finder_id(&finder, x >> e, y >> e, z >> e), x, y, z);
    }
}

static tsr_status cuda_dense_speed(tsr_queue *queue, const tsr_speed *speed, const tsr_tile_pool *pool, const tsr_segment_params *params,
                                   const int32_t low[3], const int32_t size[3], float *out)
{
    const dense_box box = { { low[0], low[1], low[2] }, { size[0], size[1], size[2] } };
    int64_t count = (int64_t)size[0] * size[1] * size[2];
    const uint32_t blocks = tsr_blocks(count, 256, 16 * (int64_t)tsr_queue_processors(queue));
    if (params) TSR_LAUNCH(queue, total_speed_kernel, blocks, 256, 0, *speed, *pool, *params, box, out, count);
    else TSR_LAUNCH(queue, dense_speed_kernel, blocks, 256, 0, *speed, box, out, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- plans --------------------------------------------------------------------------------------------------------------------------- */

enum { STEPS_PER_GRAPH = 32 };

struct tsr_segment_plan {
    tsr_tile_pool pool;
    tsr_segment_params params;
    tsr_speed *speed;      /* device */
    tsr_graph *one, *many; /* 1 and STEPS_PER_GRAPH steps */
};

static enum step_kind step_kind_of(const tsr_segment_params *k)
{
    if (k->lumped || k->godunov || k->rescale_mode != TSR_RESCALE_PLAIN) return STEP_ANY;
    if (k->exact) return STEP_USUAL;
    return k->inverse_spacing[0] == k->inverse_spacing[1] && k->inverse_spacing[0] == k->inverse_spacing[2] ? STEP_FAST_ISOTROPIC : STEP_FAST;
}

static tsr_status enqueue_step(tsr_queue *queue, const tsr_segment_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    const int64_t processors = tsr_queue_processors(queue);
    const tsr_segment_params *k = &plan->params;
    const enum step_kind kind = step_kind_of(k);
    const uint32_t blocks_4 = tsr_slab_blocks(queue, pool, STEP_BLOCKS_4),
                   blocks_8 = tsr_blocks(pool->capacity, TSR_WARP_TILES, processors * STEP_BLOCKS_8);
    /* Plain launches: chained to the management before it, the step of 1024^3 on an H200 took 34 us more. That management comes up at its end is good. */
#define STEP(KIND)                                                                                                                \
    do {                                                                                                                          \
        if (pool->log2_edge == 3) TSR_LAUNCH(queue, step_kernel_8<KIND>, blocks_8, TSR_WARP_TILES *TSR_WARP_LANES, 0, *pool, *k); \
        else TSR_LAUNCH(queue, step_kernel_4<KIND>, blocks_4, tsr_slab<4>::THREADS, 0, *pool, *k);                                \
    } while (0)
    if (kind == STEP_FAST_ISOTROPIC) STEP(STEP_FAST_ISOTROPIC);
    else if (kind == STEP_FAST) STEP(STEP_FAST);
    else if (kind == STEP_USUAL) STEP(STEP_USUAL);
    else STEP(STEP_ANY);
#undef STEP
    const speed_of_created then = { plan->speed };
    tsr_enqueue_management(queue, pool, 1, then);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status record_steps(tsr_queue *queue, const tsr_segment_plan *plan, int32_t steps, tsr_graph **graph)
{
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_graph_begin(queue));
    for (int32_t i = 0; i < steps && status == TSR_OK; i++) status = enqueue_step(queue, plan);
    TSR_TRY(tsr_graph_end(queue, graph));
    return status;
}

static void cuda_plan_destroy(tsr_queue *queue, tsr_segment_plan **plan)
{
    if (!plan || !*plan) return;
    tsr_graph_destroy(&(*plan)->one);
    tsr_graph_destroy(&(*plan)->many);
    if ((*plan)->speed) tsr_queue_release(queue, (*plan)->speed, sizeof(tsr_speed));
    free(*plan);
    *plan = NULL;
}

static tsr_status cuda_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_segment_params *params, const tsr_speed *speed,
                                   tsr_segment_plan **plan)
{
    tsr_segment_plan *made = (tsr_segment_plan *)calloc(1, sizeof *made);
    tsr_status status = TSR_OK;
    *plan = NULL;
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof *made);
    made->pool = *pool;
    made->params = *params;
    tsr_tile_pool no_pool = {};
    TSR_TRY_GOTO(tsr_queue_allocate(queue, sizeof *speed, (void **)&made->speed), fail);
    TSR_LAUNCH(queue, speed_begin_kernel, 1, 256, 0, no_pool, *speed, made->speed);
    TSR_TRY_GOTO(tsr_launch_check(queue), fail);
    TSR_TRY_GOTO(record_steps(queue, made, 1, &made->one), fail);
    TSR_TRY_GOTO(record_steps(queue, made, STEPS_PER_GRAPH, &made->many), fail);
    *plan = made;
    return TSR_OK;
fail:
    cuda_plan_destroy(queue, &made);
    return status;
}

static tsr_status cuda_plan_run(tsr_queue *queue, tsr_segment_plan *plan, int32_t steps)
{
    for (; steps >= STEPS_PER_GRAPH; steps -= STEPS_PER_GRAPH) TSR_TRY(tsr_graph_launch(queue, plan->many));
    for (; steps > 0; steps--) TSR_TRY(tsr_graph_launch(queue, plan->one));
    return TSR_OK;
}

extern "C" const tsr_segment_ops tsr_segment_cuda = { cuda_fill_speed, cuda_dense_speed, cuda_plan_create, cuda_plan_destroy, cuda_plan_run };
