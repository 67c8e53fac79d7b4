/* solver/engine_cuda.cu: the passes of the level-set solver on the GPU (and the emulator).
 *
 * A pass is one kernel that reads the field once (with a halo of 1 or 3 voxels) and writes it once; then come the management kernels of the tile
 * list, the created tiles and one thread that decides how the run goes on. Steps are recorded in graphs; replays neither allocate nor synchronise. */
#include <stdlib.h>

#include "tiles/tiles_pass.h"
#include "solver/engine_pass.h"
#include "solver/resample.h"

enum { MEASURE_THREADS = 128 };

/* ---- mean curvature -------------------------------------------------------------------------------------------------------------------------- */

template <int E, int CODED> TSR_KERNEL(mean_kernel)(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control)
{
    enum { H = tsr_cross<E, 1>::H, V = tsr_cross<E, 1>::VOXELS };
    typedef tsr_cross<E, 1> shape_of;
    TSR_SHARED(float, cube, shape_of::CELLS);
    TSR_SHARED(uint32_t, table, shape_of::HALO);
    TSR_SHARED(uint32_t, row, TSR_TILE_DIRECTIONS);
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    int64_t sums[3] = { 0, 0, 0 };
    tsr_cross_table<E, 1>(table);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        int32_t extent[3];
        tsr_cross_load<E, 1, CODED>(pool, pool.phi[state->phi], tsr_pool_key(&pool, state->list, at), pool.id[state->list][at], table, row, cube,
                                    extent);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            const int32_t x = i % E, y = i / E % E, z = i / (E * E);
            if (x < extent[0] && y < extent[1] && z < extent[2])
                tsr_engine_mean_voxel(cube + ((z + 1) * H + y + 1) * H + x + 1, H, H * H, &setup.scheme, setup.delta_width, sums);
        }
        __syncthreads();
    }
    for (int k = 0; k < 3; k++) {
        const uint64_t sum = tsr_warp_sum64((uint64_t)sums[k]);
        if ((threadIdx.x & 31u) == 0 && sum) atomicAdd((unsigned long long *)(void *)&control->sums[k], (unsigned long long)sum);
    }
}

TSR_KERNEL(mean_finish_kernel)(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control)
{
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    tsr_engine_mean(&setup, state->inside_absent, control);
    tsr_engine_begin(&setup, state->time, control);
}

static void enqueue_mean(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control)
{
    const uint32_t blocks = tsr_tile_blocks(queue, pool);
    if (pool->log2_edge == 3 && pool->coded) TSR_LAUNCH(queue, (mean_kernel<8, 1>), blocks, 128, 0, *pool, *setup, control);
    else if (pool->log2_edge == 3) TSR_LAUNCH(queue, (mean_kernel<8, 0>), blocks, 128, 0, *pool, *setup, control);
    else if (pool->coded) TSR_LAUNCH(queue, (mean_kernel<4, 1>), blocks, 64, 0, *pool, *setup, control);
    else TSR_LAUNCH(queue, (mean_kernel<4, 0>), blocks, 64, 0, *pool, *setup, control);
    TSR_LAUNCH(queue, mean_finish_kernel, 1, 1, 0, *pool, *setup, control);
}

/* ---- between passes ------------------------------------------------------------------------------------------------------------------------------ */

/* What the plan kernel of a management pass does after a step, for steps without one. */
TSR_KERNEL(publish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    tsr_publish_step(state);
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
}

/* The ages of tiles that the host's management has made. (That of a step does it itself.) */
TSR_KERNEL(created_kernel)(tsr_tile_pool pool)
{
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    for (int32_t u = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); u < state->created; u += (int32_t)(gridDim.x * blockDim.x))
        pool.age[pool.created_ids[u]] = 0;
}

TSR_KERNEL(finish_kernel)(tsr_tile_pool pool, tsr_finish_step finish) { finish(pool); }

TSR_KERNEL(start_kernel)(tsr_tile_pool pool, tsr_engine_control *control)
{
    pool.state->halted = 0;
    pool.state->bad = 0;
    control->converged = control->empty = control->ended = 0;
    control->management = control->calm = control->left = 0;
    control->moved = 0.0f;
    control->rate_bits = control->curvature_bits = control->change_bits = control->old_bits = 0;
}

/* Rates of the terms over the voxels in the band. */
TSR_KERNEL(measure_kernel)(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control)
{
    TSR_SHARED(tsr_engine_moment, moments, 1);
    tsr_tile_state *state = pool.state;
    const int32_t E = 1 << pool.log2_edge, V = E * E * E;
    const int gradients = tsr_engine_payload(&setup.flow);
    uint32_t rate = 0, curvature = 0;
    if (threadIdx.x == 0) tsr_engine_moment_at(&setup.flow, state->time, control->mean_speed, moments);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        const uint32_t id = pool.id[state->list][at];
        const uint64_t key = tsr_pool_key(&pool, state->list, at);
        const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
        int32_t extent[3] = { E, E, E };
        for (int a = 0; a < 3 && pool.bounded; a++) extent[a] = tsr_mini(E, pool.domain[a] - first[a]);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += MEASURE_THREADS) {
            const int32_t x = i & (E - 1), y = i >> pool.log2_edge & (E - 1), z = i >> 2 * pool.log2_edge;
            const float c = tsr_pool_value(&pool, pool.phi[state->phi], (int64_t)id * V + i);
            if (x >= extent[0] || y >= extent[1] || z >= extent[2] || c <= -pool.band || c >= pool.band) continue;
            tsr_engine_given given = { { 0.0f, 0.0f, 0.0f }, id, i, V };
            if (gradients)
                tsr_payload_vector(&pool, gradients, pool.neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, x, y, z, extent,
                                   setup.scheme.inverse_spacing, given.gradient);
            const tsr_engine_values v = tsr_engine_at(&setup.flow, moments, first[0] + x, first[1] + y, first[2] + z, &given);
            if (!tsr_measure_voxel(v, setup.scheme, &rate, &curvature)) tsr_engine_bad_add(state, 0, at, i);
        }
    }
    tsr_measure_add(control, rate, curvature);
}

TSR_KERNEL(begin_kernel)(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control)
{
    control->rate = tsr_bits_float(control->rate_bits);
    control->curvature = tsr_bits_float(control->curvature_bits);
    control->rate_bits = control->curvature_bits = 0;
    tsr_engine_begin(&setup, pool.state->time, control);
}

TSR_KERNEL(explain_kernel)(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control) { tsr_engine_explain(&pool, &setup, control); }

/* ---- plans ------------------------------------------------------------------------------------------------------------------------------------------- */

enum { STEPS_PER_GRAPH = 32, PERSISTENT_TILES = 2048 /* up to so many steps in one kernel take less time */ };

struct tsr_engine_plan {
    tsr_tile_pool pool;
    tsr_engine_setup setup;
    tsr_payload_provider provider;
    tsr_engine_control *control; /* device, the caller's */
    tsr_graph *one, *many;     /* 1 and STEPS_PER_GRAPH steps (recorded when first needed); NULL for plans that are not recorded */
    int32_t phase;             /* steps since the last management, of plans that do not manage every step */
    tsr_meeting *meeting;      /* device; NULL for plans whose steps cannot run in one kernel */
};

/* ---- terms of the caller's own ------------------------------------------------------------------------------------------------------------- */

#ifdef TSR_EMU
TSR_KERNEL(term_kernel)(void (*thread)(const tsr_term_job *job, int64_t index, int64_t total), tsr_term_job job)
{
    thread(&job, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x);
}
#endif

/* Their answers at `share` of the running step, for all stored voxels. */
static tsr_status enqueue_terms(tsr_queue *queue, const tsr_engine_plan *plan, float share)
{
    const tsr_tile_pool *p = &plan->pool;
    const tsr_tile_state *state = p->state;
    for (int32_t i = 0; i < plan->setup.flow.count; i++) {
        const tsr_engine_source *s = &plan->setup.flow.source[i];
        if (s->kind != TSR_SOURCE_USER) continue;
        const tsr_term_job job = { { p->key[0], p->key[1] },
                                   p->key_first,
                                   { p->id[0], p->id[1] },
                                   &state->list,
                                   &state->count,
                                   &state->shortage,
                                   &state->halted,
                                   &state->bad,
                                   &state->time,
                                   &plan->control->time_step,
                                   (double)share,
                                   { p->spacing[0], p->spacing[1], p->spacing[2] },
                                   p->log2_edge,
                                   s->channels,
                                   s->data,
                                   (float *)s->answers };
        const uint32_t blocks = tsr_blocks(p->capacity, 1, 16 * (int64_t)tsr_queue_processors(queue));
#ifdef TSR_EMU
        TSR_LAUNCH(queue, term_kernel, blocks, 64, 0, s->module->thread, job);
#else
        const cudaError_t error = (cudaError_t)s->module->launch(tsr_cuda_stream(queue), &job, blocks);
        if (error != cudaSuccess)
            TSR_FAIL(TSR_ERROR_DEVICE, "level set: term %d (USER): its kernel was not launched: %s", s->term, cudaGetErrorString(error));
#endif
    }
    return TSR_OK;
}

/* Room for the answers, by term. */
static tsr_status allocate_answers(tsr_queue *queue, tsr_engine_plan *plan)
{
    for (int32_t i = 0; i < plan->setup.flow.count; i++) {
        tsr_engine_source *s = &plan->setup.flow.source[i];
        void *memory;
        if (s->kind != TSR_SOURCE_USER) continue;
        TSR_TRY(tsr_queue_allocate(queue, (sizeof(float) * (size_t)s->channels * (size_t)plan->pool.capacity) << 3 * plan->pool.log2_edge, &memory));
        s->answers = (const float *)memory;
    }
    return TSR_OK;
}

static void release_answers(tsr_queue *queue, tsr_engine_plan *plan)
{
    for (int32_t i = 0; i < plan->setup.flow.count; i++) {
        const tsr_engine_source *s = &plan->setup.flow.source[i];
        if (s->kind == TSR_SOURCE_USER && s->answers)
            tsr_queue_release(queue, (void *)s->answers,
                              (sizeof(float) * (size_t)s->channels * (size_t)plan->pool.capacity) << 3 * plan->pool.log2_edge);
    }
}

/* ---- steps ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status enqueue_created(tsr_queue *queue, const tsr_engine_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    if (plan->provider.fill) TSR_TRY(plan->provider.fill(plan->provider.user, queue, pool, 0));
    const tsr_finish_step finish = { plan->setup, plan->control, 1 };
    TSR_LAUNCH(queue, finish_kernel, 1, 1, 0, *pool, finish);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status enqueue_step(tsr_queue *queue, const tsr_engine_plan *plan, int managed)
{
    const tsr_engine_setup *s = &plan->setup;
    const int32_t passes = s->stages + s->sweeps;
    if (s->needs_mean) enqueue_mean(queue, &plan->pool, s, plan->control);
    for (int32_t i = 0; i < passes; i++) {
        const tsr_pass_shape shape = { i, i >= s->stages, i == passes - 1, managed };
        if (!shape.sweep) TSR_TRY(enqueue_terms(queue, plan, s->moment[i]));
        if (s->fused && !plan->pool.coded) tsr_engine_fused_pass(queue, &plan->pool, s, plan->control, shape);
        else if (plan->pool.coded) tsr_engine_coded_pass(queue, &plan->pool, s, plan->control, shape);
        else if (tsr_engine_slab_can(s)) tsr_engine_slab_pass(queue, &plan->pool, s, plan->control, managed);
        else if (tsr_engine_slab_can_pass(s, shape)) tsr_engine_slab_one_pass(queue, &plan->pool, s, plan->control, shape);
        else if (tsr_engine_wide_can(&plan->pool, s, shape)) tsr_engine_wide_pass(queue, &plan->pool, s, plan->control, shape);
        else tsr_engine_enqueue<0>(queue, &plan->pool, s, plan->control, shape);
    }
    const tsr_finish_step finish = { *s, plan->control, managed };
    if (managed && !plan->provider.fill) { /* nothing between management and end: one kernel less */
        tsr_enqueue_management(queue, &plan->pool, 1, finish);
    } else if (managed) {
        TSR_TRY(tsr_tiles_cuda_manage(queue, &plan->pool, 1));
        TSR_TRY(enqueue_created(queue, plan));
    } else {
        TSR_LAUNCH(queue, publish_kernel, 1, 1, 0, plan->pool);
        TSR_LAUNCH(queue, finish_kernel, 1, 1, 0, plan->pool, finish);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status record_steps(tsr_queue *queue, const tsr_engine_plan *plan, int32_t steps, tsr_graph **graph)
{
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_graph_begin(queue));
    for (int32_t i = 0; i < steps && status == TSR_OK; i++) status = enqueue_step(queue, plan, 1);
    TSR_TRY(tsr_graph_end(queue, graph));
    return status;
}

static void cuda_plan_destroy(tsr_queue *queue, tsr_engine_plan **plan)
{
    if (!plan || !*plan) return;
    release_answers(queue, *plan);
    if ((*plan)->meeting) tsr_queue_release(queue, (*plan)->meeting, sizeof(tsr_meeting));
    tsr_graph_destroy(&(*plan)->one);
    tsr_graph_destroy(&(*plan)->many);
    free(*plan);
    *plan = NULL;
}

static tsr_status cuda_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, const tsr_payload_provider *provider,
                                   tsr_engine_control *control, tsr_engine_plan **plan)
{
    tsr_engine_plan *made = (tsr_engine_plan *)calloc(1, sizeof *made);
    tsr_status status = TSR_OK;
    *plan = NULL;
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof *made);
    made->pool = *pool;
    made->setup = *setup;
    if (provider) made->provider = *provider;
    made->control = control;
    TSR_TRY_GOTO(allocate_answers(queue, made), fail);
    if (setup->persistent >= 0 && !made->provider.fill && tsr_engine_steps_can(pool, setup)) {
        TSR_TRY_GOTO(tsr_queue_allocate(queue, sizeof *made->meeting, (void **)&made->meeting), fail);
        TSR_TRY_GOTO(tsr_queue_fill(queue, made->meeting, 0, sizeof *made->meeting), fail);
    }
    if (setup->managed_every == 1 && (!provider || provider->recordable)) {
        TSR_TRY_GOTO(record_steps(queue, made, 1, &made->one), fail);
    }
    *plan = made;
    return TSR_OK;
fail:
    cuda_plan_destroy(queue, &made);
    return status;
}

static tsr_status cuda_plan_start(tsr_queue *queue, tsr_engine_plan *plan, int payload)
{
    const tsr_tile_pool *pool = &plan->pool;
    plan->phase = 0;
    TSR_LAUNCH(queue, start_kernel, 1, 1, 0, *pool, plan->control);
    if (payload && plan->provider.fill) TSR_TRY(plan->provider.fill(plan->provider.user, queue, pool, 1));
    if (plan->setup.needs_mean) enqueue_mean(queue, pool, &plan->setup, plan->control);
    TSR_TRY(enqueue_terms(queue, plan, 0.0f));
    if (plan->setup.measured) TSR_LAUNCH(queue, measure_kernel, tsr_tile_blocks(queue, pool), MEASURE_THREADS, 0, *pool, plan->setup, plan->control);
    TSR_LAUNCH(queue, begin_kernel, 1, 1, 0, *pool, plan->setup, plan->control);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Returns whether the steps are queued as one kernel. */
static int run_together(tsr_queue *queue, const tsr_engine_plan *plan, int32_t steps, int32_t tiles)
{
    if (!plan->meeting || (plan->setup.persistent == 0 && tiles > PERSISTENT_TILES)) return 0;
    return (plan->setup.fused ? tsr_engine_fused_steps : tsr_engine_steps)(queue, &plan->pool, &plan->setup, plan->control, plan->meeting, steps, tiles);
}

static tsr_status cuda_plan_run(tsr_queue *queue, tsr_engine_plan *plan, int32_t steps, int32_t tiles)
{
    if (run_together(queue, plan, steps, tiles)) {
        TSR_TRY(tsr_launch_check(queue));
        return TSR_OK;
    }
    if (plan->one) {
        if (steps >= STEPS_PER_GRAPH && !plan->many) TSR_TRY(record_steps(queue, plan, STEPS_PER_GRAPH, &plan->many)); /* short runs do without */
        for (; steps >= STEPS_PER_GRAPH; steps -= STEPS_PER_GRAPH) TSR_TRY(tsr_graph_launch(queue, plan->many));
        for (; steps > 0; steps--) TSR_TRY(tsr_graph_launch(queue, plan->one));
        return TSR_OK;
    }
    for (; steps > 0; steps--) {
        const int managed = ++plan->phase >= plan->setup.managed_every;
        if (managed) plan->phase = 0;
        TSR_TRY(enqueue_step(queue, plan, managed));
    }
    return TSR_OK;
}

static tsr_status cuda_plan_explain(tsr_queue *queue, tsr_engine_plan *plan)
{
    TSR_LAUNCH(queue, explain_kernel, 1, 1, 0, plan->pool, plan->setup, plan->control);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_plan_resume(tsr_queue *queue, tsr_engine_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    plan->phase = 0;
    TSR_LAUNCH(queue, created_kernel, tsr_blocks(pool->capacity, 256, tsr_queue_processors(queue)), 256, 0, *pool);
    TSR_TRY(enqueue_created(queue, plan));
    return TSR_OK;
}

/* ---- other resolutions ---------------------------------------------------------------------------------------------------------------------------- */

/* One block per tile of the new list. */
TSR_KERNEL(resample_kernel)(tsr_tile_pool from, tsr_tile_pool to, int32_t up)
{
    TSR_SHARED(uint32_t, ids, 9); /* eight children; the parent */
    const tsr_tile_state *state = from.state;
    const float *phi = from.phi[state->phi];
    const tsr_keys keys = tsr_pool_keys(&from, state->list);
    const int32_t E = 1 << to.log2_edge, V = E * E * E, tid = (int32_t)threadIdx.x;
    for (int32_t at = (int32_t)blockIdx.x; at < to.state->count; at += (int32_t)gridDim.x) {
        const uint64_t key = tsr_pool_key(&to, 0, at);
        const uint32_t id = to.id[0][at];
        if (up && tid == 0) ids[8] = from.id[state->list][tsr_keys_lower_bound(keys, state->count, tsr_key_half(key))];
        if (!up && tid < 8) {
            const uint64_t child = tsr_key_child(key, tid);
            ids[tid] = tsr_tile_find(&from, keys, from.id[state->list], state->count, state->background, child);
            if (ids[tid] == TSR_TILE_INSIDE && tsr_tile_allowed(&from, child))
                atomicAdd((unsigned long long *)(void *)&to.state->inside_absent, (unsigned long long)-tsr_tile_voxels(&from, child));
        }
        __syncthreads();
        const uint32_t *row = from.neighbours + (int64_t)(up ? ids[8] : 0u) * TSR_NEIGHBOUR_ROW;
        for (int32_t i = tid; i < V; i += (int32_t)blockDim.x) {
            const int32_t place[3] = { i % E, i / E % E, i / (E * E) };
            const float v = up ? tsr_upsampled_value(&from, phi, row, key, place, to.band) : tsr_downsampled_value(&from, phi, ids, place, to.band);
            tsr_pool_put(&to, to.phi[0], (int64_t)id * V + i, v);
            tsr_pool_put(&to, to.phi[1], (int64_t)id * V + i, v);
        }
        if (tid < TSR_TILE_DIRECTIONS)
            to.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + tid] =
                tid == TSR_TILE_MIDDLE ? id : tsr_resampled_neighbour(&from, &to, row, key, tid, up);
        __syncthreads();
    }
}

static tsr_status cuda_resample(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int up)
{
    TSR_LAUNCH(queue, resample_kernel, tsr_tile_blocks(queue, to), 128, 0, *from, *to, up);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_engine_ops tsr_engine_cuda = { cuda_plan_create,  cuda_plan_destroy, cuda_plan_start, cuda_plan_run,
                                                    cuda_plan_explain, cuda_plan_resume,  cuda_resample,
                                                    NULL };
