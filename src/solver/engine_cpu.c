/* solver/engine_cpu.c: plans and steps of the level-set solver on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles_halo.h"
#include "solver/engine_cpu.h"

/* Room for the bits of the tiles in each buffer. */
static tsr_status make_bits(tsr_engine_plan *plan)
{
    const size_t bytes = (size_t)plan->pool.capacity * sizeof *plan->bits[0];
    for (int k = 0; k < (plan->setup.stages + plan->setup.sweeps > 1 ? 3 : 2); k++) {
        void *memory = NULL;
        TSR_TRY(tsr_host_allocate(NULL, bytes, &memory));
        plan->bits[k] = (tsr_tile_bits *)memory;
        tsr_bits_constant(&plan->bits[k][TSR_TILE_OUTSIDE], 0);
        tsr_bits_constant(&plan->bits[k][TSR_TILE_INSIDE], 1);
    }
    return TSR_OK;
}

static void cpu_plan_destroy(tsr_queue *queue, tsr_engine_plan **plan)
{
    (void)queue;
    for (int k = 0; k < 3; k++) tsr_host_release(NULL, (*plan)->bits[k], 0);
    free(*plan);
    *plan = NULL;
}

static tsr_status cpu_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, const tsr_payload_provider *provider,
                                  tsr_engine_control *control, tsr_engine_plan **plan)
{
    (void)queue;
    tsr_status status;
    *plan = NULL;
    tsr_engine_plan *made = (tsr_engine_plan *)calloc(1, sizeof *made);
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof *made);
    const int32_t E = 1 << pool->log2_edge, whole[3] = { E, E, E };
    made->pool = *pool;
    made->setup = *setup;
    if (provider) made->provider = *provider;
    made->control = control;
    tsr_tile_areas(made, whole, made->areas);
    *plan = made;
    if (pool->log2_edge == 3 && !pool->coded && tsr_isa_current() >= TSR_ISA_AVX2) TSR_TRY_GOTO(make_bits(made), fail);
    return TSR_OK;
fail:
    cpu_plan_destroy(queue, plan);
    return status;
}

/* ---- mean curvature, volume, area (docs/theory/levelset.md 4) ------------------------------------------------------------------------------------- */

struct mean {
    const tsr_engine_plan *plan;
    int64_t sums[3];
};

static void mean_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct mean *mean = (struct mean *)user;
    const tsr_engine_plan *plan = mean->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const tsr_tile_state *state = pool->state;
    const int32_t E = 1 << pool->log2_edge, H = E + 2;
    _Alignas(64) float cube[TSR_CUBE_MOST];
    const tsr_coding coding = tsr_coding_of(pool->band);
    tsr_tile_pool seen = *pool;
    struct tsr_near_tiles near;
    int64_t sums[3] = { 0, 0, 0 };
    (void)worker;
    if (pool->coded) seen.neighbours = near.row;
    for (int64_t at = begin; at < end; at++) {
        int32_t extent[3];
        const uint32_t id = pool->id[state->list][at];
        if (pool->coded) tsr_decode_around(pool, &coding, pool->phi[state->phi], id, 1, &near);
        else if (E == 8 && tsr_halo_clear(pool, tsr_pool_key(pool, state->list, at), 1)) {
            TSR_ISA_SELECT(tsr_engine_mean_tile)
            (pool->phi[state->phi], pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, &plan->setup.scheme, plan->setup.delta_width, sums);
            continue;
        }
        tsr_cube_gather(&seen, pool->coded ? near.page : pool->phi[state->phi], tsr_pool_key(pool, state->list, at), pool->coded ? 0 : id, cube,
                        extent);
        for (int32_t z = 0; z < extent[2]; z++)
            for (int32_t y = 0; y < extent[1]; y++)
                for (int32_t x = 0; x < extent[0]; x++)
                    tsr_engine_mean_voxel(cube + ((z + 1) * H + y + 1) * H + x + 1, H, H * H, &plan->setup.scheme, plan->setup.delta_width, sums);
    }
    for (int k = 0; k < 3; k++) __atomic_fetch_add(&mean->sums[k], sums[k], __ATOMIC_RELAXED);
}

static void measure_mean(tsr_queue *queue, const tsr_engine_plan *plan)
{
    struct mean mean = { plan, { 0, 0, 0 } };
    const tsr_tile_state *state = plan->pool.state;
    tsr_over_list(queue, &plan->pool, mean_range, &mean);
    for (int k = 0; k < 3; k++) plan->control->sums[k] = mean.sums[k];
    tsr_engine_mean(&plan->setup, state->inside_absent, plan->control);
    tsr_engine_begin(&plan->setup, state->time, plan->control);
}

/* ---- steps ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status after_management(tsr_queue *queue, tsr_engine_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    tsr_tile_state *state = pool->state;
    plan->created += state->created;
    for (int32_t u = 0; u < state->created; u++) {
        const uint32_t id = pool->created_ids[u];
        pool->age[id] = 0;
        for (int k = 0; k < 2 && plan->bits[k]; k++) tsr_bits_constant(&plan->bits[k][id], !(pool->activity[id] & TSR_ACTIVITY_OUTSIDE));
        if (plan->bits[2]) tsr_bits_unknown(&plan->bits[2][id]); /* that buffer holds what another tile has left */
    }
    if (plan->provider.fill && state->created > 0) TSR_TRY(plan->provider.fill(plan->provider.user, queue, pool, 0));
    return TSR_OK;
}

static void run_pass(tsr_queue *queue, tsr_engine_plan *plan, int32_t index, tsr_tile_totals *totals, uint32_t *oldest)
{
    const tsr_tile_pool *pool = &plan->pool;
    tsr_tile_state *state = pool->state;
    const tsr_engine_setup *s = &plan->setup;
    const int32_t passes = s->stages + s->sweeps, buffer[3] = { state->phi, state->phi ^ 1, 2 };
    const int32_t from = buffer[tsr_pass_source(index, passes)], to = buffer[tsr_pass_target(index, passes)];
    struct tsr_engine_job job = { .plan = plan,
                                .start = pool->phi[state->phi],
                                .index = index,
                                .sweep = index >= s->stages,
                                .last = index == passes - 1,
                                .measure = index == 0 && s->measured,
                                .need_gradient = tsr_engine_payload(&s->flow) };
    job.from = pool->phi[from];
    job.to = pool->phi[to];
    job.step = job.sweep ? s->sweep_step : plan->control->time_step;
    job.blend = job.sweep ? 1.0f : s->blend[index];
    const double share = job.sweep ? 0.0 : (double)s->moment[index];
    tsr_engine_moment_at(&s->flow, state->time + share * (double)plan->control->time_step, plan->control->mean_speed, &job.moment);
    if (tsr_pass_by_bits(&job)) {
        if (!plan->known[from]) plan->known[from] = tsr_note_cpu(queue, plan, from);
        if (plan->known[from] && (job.blend == 1.0f || plan->known[state->phi])) {
            job.from_bits = plan->bits[from];
            job.start_bits = plan->bits[state->phi];
            job.to_bits = plan->bits[to];
            job.to_known = plan->known[to];
        }
    }
    tsr_pass_cpu(queue, &job);
    plan->known[to] = job.to_bits && !job.totals.beyond && !job.totals.bad;
    if (job.measure) {
        plan->control->rate_bits = tsr_float_bits(job.totals.rate);
        plan->control->curvature_bits = tsr_float_bits(job.totals.curvature);
    }
    state->bad = job.totals.bad;
    *totals = job.totals;
    *oldest = job.oldest_young;
}

static tsr_status one_step(tsr_queue *queue, tsr_engine_plan *plan)
{
    const tsr_engine_setup *s = &plan->setup;
    tsr_engine_control *c = plan->control;
    tsr_tile_state *state = plan->pool.state;
    tsr_tile_totals totals = { 0 };
    uint32_t oldest = 0;
    if (s->needs_mean) measure_mean(queue, plan);
    for (int32_t k = 0; k < s->stages + s->sweeps; k++) {
        run_pass(queue, plan, k, &totals, &oldest);
        if (!state->bad) continue;
        state->halted = 1;
        return TSR_OK;
    }
    state->time_step = c->time_step;
    state->time += (double)c->time_step;
    state->active_voxels = totals.active;
    state->inside_voxels = totals.inside;
    state->phi ^= 1;
    state->steps++;
    c->change_bits = tsr_float_bits(totals.change);
    const int managed = c->management + 1 >= s->managed_every;
    if (managed) {
        c->old_bits = oldest;
        TSR_TRY(tsr_tiles_cpu.manage(queue, &plan->pool));
        if (state->shortage > 0) return TSR_OK;
        TSR_TRY(after_management(queue, plan));
    }
    tsr_engine_finish(s, 1 << plan->pool.log2_edge, managed, state, c);
    return TSR_OK;
}

static tsr_status cpu_plan_start(tsr_queue *queue, tsr_engine_plan *plan, int payload)
{
    const tsr_engine_setup *s = &plan->setup;
    tsr_engine_control *c = plan->control;
    tsr_tile_state *state = plan->pool.state;
    state->halted = 0;
    state->bad = 0;
    c->converged = c->empty = c->ended = 0;
    c->rate = c->curvature = 0.0f;
    c->management = c->calm = c->left = 0;
    c->moved = 0.0f;
    memset(plan->known, 0, sizeof plan->known); /* whoever had the list since the last run may have written to it */
    if (payload && plan->provider.fill) TSR_TRY(plan->provider.fill(plan->provider.user, queue, &plan->pool, 1));
    if (s->needs_mean) measure_mean(queue, plan);
    if (s->measured) {
        struct tsr_engine_job job = { .plan = plan, .from = plan->pool.phi[state->phi], .need_gradient = tsr_engine_payload(&s->flow) };
        tsr_engine_moment_at(&s->flow, state->time, c->mean_speed, &job.moment);
        tsr_rates_cpu(queue, &job);
        c->rate = job.totals.rate;
        c->curvature = job.totals.curvature;
        state->bad = job.totals.bad;
    }
    tsr_engine_begin(s, state->time, c);
    return TSR_OK;
}

static tsr_status cpu_plan_run(tsr_queue *queue, tsr_engine_plan *plan, int32_t steps, int32_t tiles)
{
    (void)tiles;
    const tsr_tile_state *state = plan->pool.state;
    for (int32_t i = 0; i < steps && state->shortage == 0 && !state->halted; i++) TSR_TRY(one_step(queue, plan));
    return TSR_OK;
}

static tsr_status cpu_plan_explain(tsr_queue *queue, tsr_engine_plan *plan)
{
    (void)queue;
    tsr_engine_explain(&plan->pool, &plan->setup, plan->control);
    return TSR_OK;
}

static tsr_status cpu_plan_resume(tsr_queue *queue, tsr_engine_plan *plan)
{
    TSR_TRY(after_management(queue, plan));
    tsr_engine_finish(&plan->setup, 1 << plan->pool.log2_edge, 1, plan->pool.state, plan->control);
    return TSR_OK;
}

static int64_t cpu_plan_created(const tsr_engine_plan *plan) { return plan->created; }

const tsr_engine_ops tsr_engine_cpu = { .plan_create = cpu_plan_create,
                                        .plan_destroy = cpu_plan_destroy,
                                        .plan_start = cpu_plan_start,
                                        .plan_run = cpu_plan_run,
                                        .plan_explain = cpu_plan_explain,
                                        .plan_resume = cpu_plan_resume,
                                        .resample = tsr_resample_cpu,
                                        .plan_created = cpu_plan_created };
