/* levelset/levelset_cuda.cu: steps of a level set on a sorted tile list on the GPU (and the emulator).
 *
 * A step is one kernel that reads the field and the speed once and writes the field once, then the management kernels of the tile list, then the
 * speed of the created tiles. Steps are recorded in a graph once; replays neither allocate nor synchronise. */
#include <stdlib.h>

#include "grid/tiles_kernel.h"
#include "levelset/levelset_ops.h"

/* ---- the step ------------------------------------------------------------------------------------------------------------------------- */

/* Eight blocks a multiprocessor: 64 registers a thread. Fewer blocks hide less latency, more spill (measured on an H200). */
enum { STEP_BLOCKS = 8 };

/* USUAL: split scheme, Osher-Sethian gradients, plain rescaling, known to the compiler. One block per tile at a time. Voxels whose six neighbours equal them stay as they are; the others are collected in a list first, so that the
 * arithmetic runs with full warps wherever the band lies in the tile. New values are gathered in shared memory and leave as whole lines. */
template <int E, int USUAL>
TSR_KERNEL(__launch_bounds__(tsr_cube<E>::THREADS, STEP_BLOCKS) step_kernel)
(tsr_tile_pool pool, tsr_levelset_params params)
{
    if (USUAL) {
        params.lumped = 0;
        params.godunov = 0;
        params.rescale_mode = TSR_RESCALE_PLAIN;
    }
    enum { H = tsr_cube<E>::H, V = tsr_cube<E>::VOXELS, T = tsr_cube<E>::THREADS, N = tsr_cube<E>::PER_THREAD };
    TSR_SHARED(float, cube, tsr_cube<E>::CELLS);
    TSR_SHARED(float4, fresh, V / 4); /* new values */
    TSR_SHARED(uint32_t, table, tsr_cube<E>::HALO);
    TSR_SHARED(uint16_t, moving, V); /* voxels to update */
    TSR_SHARED(uint32_t, row, TSR_TILE_DIRECTIONS);
    TSR_SHARED(uint32_t, shared, 2); /* areas, length of the list */
    tsr_tile_state *state = pool.state;
    if (state->shortage > 0) return;
    const float *phi = pool.phi[state->phi];
    float *next = pool.phi[state->phi ^ 1], *out = (float *)(void *)fresh;
    const uint64_t *keys = pool.key[state->list];
    const uint32_t *ids = pool.id[state->list];
    const float dt = tsr_levelset_time_step(&params, tsr_bits_float(state->speed_bits)), inverse_band = 1.0f / pool.band;
    const int32_t tid = (int32_t)threadIdx.x, lane = tid & 31, count = state->count;
    tsr_pass_totals totals = {};
    if (tid < 2) shared[tid] = 0;
    if (blockIdx.x == 0 && tid == 0) state->scratch[TSR_COUNT_TIME_STEP] = tsr_float_bits(dt);
    tsr_halo_table<E>(table);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        int32_t extent[3];
        uint32_t id = ids[at], bits = 0;
        tsr_cube_of_tile<E>(pool, phi, keys[at], id, table, row, cube, extent);
        const int whole = extent[0] == E && extent[1] == E && extent[2] == E;
        for (int32_t k = 0; k < N; k++) {
            int32_t i = k * T + tid, x = i % E, y = i / E % E, z = i / (E * E);
            const float *p = cube + ((z + 1) * H + y + 1) * H + x + 1;
            const float c = p[0];
            int in_domain = whole || (x < extent[0] && y < extent[1] && z < extent[2]);
            int still = c == p[-1] && c == p[1] && c == p[-H] && c == p[H] && c == p[-H * H] && c == p[H * H] && !(c > -pool.band && c < pool.band);
            out[i] = in_domain ? c : phi[(int64_t)id * V + i]; /* padding keeps its value */
            totals.inside += in_domain && still && c < 0.0f;
            uint32_t movers = __ballot_sync(TSR_WARP_ALL, in_domain && !still), first = 0;
            if (lane == 0 && movers) first = atomicAdd(&shared[1], (uint32_t)__popc(movers));
            first = __shfl_sync(TSR_WARP_ALL, first, 0);
            if (movers >> lane & 1u) moving[first + (uint32_t)__popc(movers & ((1u << lane) - 1u))] = (uint16_t)i;
        }
        __syncthreads();
        for (int32_t m = tid; m < (int32_t)shared[1]; m += T) {
            int32_t i = moving[m], x = i % E, y = i / E % E, z = i / (E * E);
            const float *p = cube + ((z + 1) * H + y + 1) * H + x + 1;
            float speed = pool.payload[(int64_t)id * V + i], c = p[0], v = tsr_levelset_update(p, H, H * H, speed, dt, &params);
            int in_band = v > -pool.band && v < pool.band;
            out[i] = v;
            if (in_band || tsr_sign_change(p, H, H * H)) bits |= 1u << tsr_area(x, y, z, E);
            if (in_band) totals.speed_bits = max(totals.speed_bits, tsr_float_bits(tsr_absf(speed)));
            totals.active += (uint32_t)in_band;
            totals.inside += v < 0.0f;
            totals.change += tsr_levelset_change(c, v, inverse_band);
        }
        __syncthreads();
        if (tid == 0) shared[1] = 0;
        for (int32_t i = tid; i < V / 4; i += T) ((float4 *)(void *)(next + (int64_t)id * V))[i] = fresh[i];
        tsr_activity_store(pool, id, bits, out[0], shared);
        __syncthreads();
    }
    tsr_totals_add(state, totals);
}

/* ---- speed --------------------------------------------------------------------------------------------------------------------------- */

enum { SPEED_THREADS = 128 };

/* Payload of all stored tiles (all != 0: also the largest speed in the band) or of those the last management created. */
TSR_KERNEL(speed_kernel)(tsr_tile_pool pool, const tsr_speed *speed, int32_t all)
{
    tsr_tile_state *state = pool.state;
    const int32_t E = 1 << pool.log2_edge, V = 1 << (3 * pool.log2_edge);
    const int32_t count = all ? state->count : state->created;
    const uint32_t *ids = all ? pool.id[state->list] : pool.created_ids;
    uint32_t largest = 0;
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        uint32_t id = ids[at];
        uint64_t key = pool.key_of[id];
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += SPEED_THREADS) {
            int32_t x = tsr_key_x(key) * E + (i & (E - 1)), y = tsr_key_y(key) * E + (i >> pool.log2_edge & (E - 1)),
                    z = tsr_key_z(key) * E + (i >> 2 * pool.log2_edge);
            float f = tsr_speed_at(speed, x, y, z);
            pool.payload[(int64_t)id * V + i] = f;
            if (!all) continue;
            float c = pool.phi[state->phi][(int64_t)id * V + i];
            int counted = c > -pool.band && c < pool.band && (!pool.bounded || (x < pool.domain[0] && y < pool.domain[1] && z < pool.domain[2]));
            if (counted) largest = max(largest, tsr_float_bits(tsr_absf(f)));
        }
    }
    if (!all) return;
    largest = __reduce_max_sync(TSR_WARP_ALL, largest);
    if ((threadIdx.x & 31u) == 0 && largest) atomicMax(&state->speed_bits, largest);
}

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
    TSR_LAUNCH(queue, speed_kernel, tsr_tile_blocks(queue, pool), SPEED_THREADS, 0, *pool, place, 1);
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

TSR_KERNEL(dense_speed_kernel)(tsr_speed speed, float *out, int64_t count)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        out[i] = tsr_speed_at(&speed, (int32_t)(i % speed.size[0]), (int32_t)(i / speed.size[0] % speed.size[1]),
                              (int32_t)(i / speed.size[0] / speed.size[1]));
}

static tsr_status cuda_dense_speed(tsr_queue *queue, const tsr_speed *speed, float *out)
{
    int64_t count = (int64_t)speed->size[0] * speed->size[1] * speed->size[2];
    TSR_LAUNCH(queue, dense_speed_kernel, tsr_blocks(count, 256, 16 * (int64_t)tsr_queue_processors(queue)), 256, 0, *speed, out, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- plans --------------------------------------------------------------------------------------------------------------------------- */

enum { STEPS_PER_GRAPH = 32 };

struct tsr_levelset_plan {
    tsr_tile_pool pool;
    tsr_levelset_params params;
    tsr_speed *speed;      /* device */
    tsr_graph *one, *many; /* 1 and STEPS_PER_GRAPH steps */
};

static tsr_status enqueue_step(tsr_queue *queue, const tsr_levelset_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    uint32_t blocks = tsr_tile_blocks(queue, pool);
    const tsr_levelset_params *k = &plan->params;
    const int usual = !k->lumped && !k->godunov && k->rescale_mode == TSR_RESCALE_PLAIN;
    if (pool->log2_edge == 3 && usual) TSR_LAUNCH(queue, (step_kernel<8, 1>), blocks, tsr_cube<8>::THREADS, 0, *pool, *k);
    else if (pool->log2_edge == 3) TSR_LAUNCH(queue, (step_kernel<8, 0>), blocks, tsr_cube<8>::THREADS, 0, *pool, *k);
    else if (usual) TSR_LAUNCH(queue, (step_kernel<4, 1>), blocks, tsr_cube<4>::THREADS, 0, *pool, *k);
    else TSR_LAUNCH(queue, (step_kernel<4, 0>), blocks, tsr_cube<4>::THREADS, 0, *pool, *k);
    TSR_TRY(tsr_tiles_cuda_manage(queue, pool, 1));
    TSR_LAUNCH(queue, speed_kernel, tsr_blocks(pool->capacity, 1, 4 * (int64_t)tsr_queue_processors(queue)), SPEED_THREADS, 0, *pool,
               (const tsr_speed *)plan->speed, 0);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status record_steps(tsr_queue *queue, const tsr_levelset_plan *plan, int32_t steps, tsr_graph **graph)
{
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_graph_begin(queue));
    for (int32_t i = 0; i < steps && status == TSR_OK; i++) status = enqueue_step(queue, plan);
    TSR_TRY(tsr_graph_end(queue, graph));
    return status;
}

static void cuda_plan_destroy(tsr_queue *queue, tsr_levelset_plan **plan)
{
    if (!plan || !*plan) return;
    tsr_graph_destroy(&(*plan)->one);
    tsr_graph_destroy(&(*plan)->many);
    if ((*plan)->speed) tsr_queue_release(queue, (*plan)->speed, sizeof(tsr_speed));
    free(*plan);
    *plan = NULL;
}

static tsr_status cuda_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_levelset_params *params, const tsr_speed *speed,
                                   tsr_levelset_plan **plan)
{
    tsr_levelset_plan *made = (tsr_levelset_plan *)calloc(1, sizeof *made);
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

static tsr_status cuda_plan_run(tsr_queue *queue, tsr_levelset_plan *plan, int32_t steps)
{
    for (; steps >= STEPS_PER_GRAPH; steps -= STEPS_PER_GRAPH) TSR_TRY(tsr_graph_launch(queue, plan->many));
    for (; steps > 0; steps--) TSR_TRY(tsr_graph_launch(queue, plan->one));
    return TSR_OK;
}

extern "C" const tsr_levelset_ops tsr_levelset_cuda = { cuda_fill_speed, cuda_dense_speed, cuda_plan_create, cuda_plan_destroy, cuda_plan_run };
