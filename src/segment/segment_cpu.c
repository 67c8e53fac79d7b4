/* segment/segment_cpu.c: steps of a level set on a sorted tile list on the CPU. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "tiles/tiles_halo.h"
#include "segment/segment_ops.h"
#include "segment/segment_step.h"
#include "segment/total_speed.h"

enum { TILES_PER_CHUNK = 64 };

/* ---- speed -------------------------------------------------------------------------------------------------------------------------------- */

struct fill {
    const tsr_tile_pool *pool;
    const tsr_speed *speed;
    const uint32_t *ids;
    int all;
    uint32_t largest;
};

static void speed_of_tile(const tsr_tile_pool *pool, const tsr_speed *speed, uint32_t id)
{
    int32_t E = 1 << pool->log2_edge, x0 = tsr_key_x(tsr_pool_key_of(pool, id)) * E, y0 = tsr_key_y(tsr_pool_key_of(pool, id)) * E,
            z0 = tsr_key_z(tsr_pool_key_of(pool, id)) * E;
    float *to = pool->payload + ((int64_t)id << (3 * pool->log2_edge));
    for (int32_t z = 0; z < E; z++)
        for (int32_t y = 0; y < E; y++)
            for (int32_t x = 0; x < E; x++) *to++ = tsr_speed_at(speed, x0 + x, y0 + y, z0 + z);
}

/* Largest |speed| over the voxels in the band. */
static float largest_speed(const tsr_tile_pool *pool, uint32_t id)
{
    int32_t E = 1 << pool->log2_edge;
    const int32_t first[3] = { tsr_key_x(tsr_pool_key_of(pool, id)) * E, tsr_key_y(tsr_pool_key_of(pool, id)) * E,
                               tsr_key_z(tsr_pool_key_of(pool, id)) * E };
    const float *phi = pool->phi[pool->state->phi] + ((int64_t)id << (3 * pool->log2_edge)),
                *speed = pool->payload + ((int64_t)id << (3 * pool->log2_edge));
    float largest = 0;
    for (int32_t i = 0; i < E * E * E; i++) {
        if (pool->bounded &&
            (first[0] + i % E >= pool->domain[0] || first[1] + i / E % E >= pool->domain[1] || first[2] + i / (E * E) >= pool->domain[2]))
            continue;
        if (phi[i] > -pool->band && phi[i] < pool->band) largest = tsr_maxf(largest, tsr_absf(speed[i]));
    }
    return largest;
}

static void fill_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct fill *fill = (struct fill *)user;
    float largest = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        speed_of_tile(fill->pool, fill->speed, fill->ids[i]);
        if (fill->all) largest = tsr_maxf(largest, largest_speed(fill->pool, fill->ids[i]));
    }
    uint32_t bits = tsr_float_bits(largest); /* not negative: the order of the bits is the order of the numbers */
    for (uint32_t old = __atomic_load_n(&fill->largest, __ATOMIC_RELAXED); bits > old;)
        if (__atomic_compare_exchange_n(&fill->largest, &old, bits, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static tsr_status cpu_fill_speed(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_speed *speed)
{
    struct fill fill = { pool, speed, pool->id[pool->state->list], 1, 0 };
    tsr_parallel(queue->threads, pool->state->count, TILES_PER_CHUNK, fill_range, &fill);
    pool->state->speed_bits = fill.largest;
    return TSR_OK;
}

struct dense {
    const tsr_speed *speed;
    const tsr_segment_params *params; /* NULL: the data speed alone */
    tsr_tile_finder finder;
    const int32_t *low, *size;
    float *out;
};

static void dense_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct dense *d = (const struct dense *)user;
    const int32_t *low = d->low, *n = d->size;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const int32_t y = low[1] + (int32_t)(row % n[1]), z = low[2] + (int32_t)(row / n[1]);
        float *to = d->out + row * n[0];
        if (!d->params) {
            for (int32_t x = 0; x < n[0]; x++) to[x] = tsr_speed_at(d->speed, low[0] + x, y, z);
            continue;
        }
        const int32_t e = d->finder.pool->log2_edge;
        uint32_t id = 0;
        for (int32_t i = 0; i < n[0]; i++) {
            const int32_t x = low[0] + i;
            if (i == 0 || (x & ((1 << e) - 1)) == 0) id = tsr_finder_id(&d->finder, x >> e, y >> e, z >> e);
            to[i] = tsr_total_speed_at(d->speed, &d->finder, d->params, id, x, y, z);
        }
    }
}

static tsr_status cpu_dense_speed(tsr_queue *queue, const tsr_speed *speed, const tsr_tile_pool *pool, const tsr_segment_params *params,
                                  const int32_t low[3], const int32_t size[3], float *out)
{
    struct dense d = { .speed = speed, .params = params, .low = low, .size = size, .out = out };
    if (params) d.finder = tsr_finder_of(pool);
    tsr_parallel(queue->threads, (int64_t)size[1] * size[2], 16, dense_range, &d);
    return TSR_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------------------------- */

struct tsr_segment_plan {
    tsr_tile_pool pool;
    tsr_segment_params params;
    tsr_speed speed;
};

struct step {
    const tsr_segment_plan *plan;
    float dt;
    int64_t active, inside;
    uint64_t change;
    uint32_t speed_bits;
};

/* See tsr_step_tile. */
static void plane_areas(int32_t E, const int32_t extent[3], uint32_t *area)
{
    for (int32_t y = 0; y < E; y++)
        for (int32_t c = 0; c < E + 2; c++) {
            int32_t x = c - 1, inside = x >= 0 && x < extent[0] && y < extent[1];
            area[y * (E + 2) + c] = inside ? 1u << tsr_area(x, y, 0, E) : 0u;
        }
}

static void step_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct step *step = (struct step *)user;
    const tsr_tile_pool *pool = &step->plan->pool;
    const tsr_tile_state *state = pool->state;
    const int64_t V = (int64_t)1 << (3 * pool->log2_edge);
    const int32_t E = 1 << pool->log2_edge;
    const float *phi = pool->phi[state->phi];
    const int32_t whole[3] = { E, E, E };
    _Alignas(64) float cube[TSR_CUBE_MOST] = { 0 };
    uint32_t whole_areas[TSR_PLANE_MOST] = { 0 }, cut_areas[TSR_PLANE_MOST] = { 0 };
    tsr_step_totals totals = { 0 };
    plane_areas(E, whole, whole_areas);
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        int32_t extent[3];
        uint32_t id = pool->id[state->list][at];
        float *out = pool->phi[state->phi ^ 1] + id * V;
        tsr_cube_gather(pool, phi, tsr_pool_key(pool, state->list, at), id, cube, extent);
        const uint32_t *area = whole_areas;
        if (extent[0] < E || extent[1] < E || extent[2] < E) {
            memcpy(out, phi + id * V, (size_t)V * sizeof *out); /* padding keeps its value */
            plane_areas(E, extent, cut_areas);
            area = cut_areas;
        }
        uint32_t areas = TSR_ISA_SELECT(tsr_step_tile)(E, cube, pool->payload + id * V, area, extent, step->dt, &step->plan->params, out, &totals);
        pool->activity[id] = areas ? areas : out[0] > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0;
    }
    __atomic_fetch_add(&step->active, totals.active, __ATOMIC_RELAXED);
    __atomic_fetch_add(&step->inside, totals.inside, __ATOMIC_RELAXED);
    __atomic_fetch_add(&step->change, totals.change, __ATOMIC_RELAXED);
    uint32_t bits = tsr_float_bits(totals.speed);
    for (uint32_t old = __atomic_load_n(&step->speed_bits, __ATOMIC_RELAXED); bits > old;)
        if (__atomic_compare_exchange_n(&step->speed_bits, &old, bits, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static tsr_status cpu_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_segment_params *params, const tsr_speed *speed,
                                  tsr_segment_plan **plan)
{
    (void)queue;
    *plan = NULL;
    tsr_segment_plan *made = (tsr_segment_plan *)malloc(sizeof *made);
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof *made);
    *made = (tsr_segment_plan){ *pool, *params, *speed };
    *plan = made;
    return TSR_OK;
}

static void cpu_plan_destroy(tsr_queue *queue, tsr_segment_plan **plan)
{
    (void)queue;
    free(*plan);
    *plan = NULL;
}

static tsr_status one_step(tsr_queue *queue, const tsr_segment_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    tsr_tile_state *state = pool->state;
    struct step step = { .plan = plan, .dt = tsr_segment_time_step(&plan->params, tsr_bits_float(state->speed_bits)) };
    tsr_parallel(queue->threads, state->count, TILES_PER_CHUNK, step_range, &step);
    state->time_step = step.dt;
    state->time += (double)step.dt;
    state->active_voxels = step.active;
    state->inside_voxels = step.inside;
    state->change = step.change;
    state->speed_bits = step.speed_bits;
    state->phi ^= 1;
    state->steps++;
    TSR_TRY(tsr_tiles_cpu.manage(queue, pool));
    struct fill fill = { pool, &plan->speed, pool->created_ids, 0, 0 };
    tsr_parallel(queue->threads, state->created, TILES_PER_CHUNK, fill_range, &fill);
    return TSR_OK;
}

static tsr_status cpu_plan_run(tsr_queue *queue, tsr_segment_plan *plan, int32_t steps)
{
    for (int32_t i = 0; i < steps && plan->pool.state->shortage == 0; i++) TSR_TRY(one_step(queue, plan));
    return TSR_OK;
}

const tsr_segment_ops tsr_segment_cpu = { .fill_speed = cpu_fill_speed,
                                            .dense_speed = cpu_dense_speed,
                                            .plan_create = cpu_plan_create,
                                            .plan_destroy = cpu_plan_destroy,
                                            .plan_run = cpu_plan_run };
