/* solver/engine_cpu.h: the inside of the level-set solver on the CPU: what a plan and a pass hold (engine_cpu.c, engine_pass_cpu.c). */
#ifndef TSR_SOLVER_ENGINE_CPU_H
#define TSR_SOLVER_ENGINE_CPU_H

#include "core/parallel.h"
#include "solver/engine_bits.h"
#include "solver/engine_tile.h"

enum { TSR_TILE_MOST = 8 * 8 * 8 };

/* Runs `body` over the places of the list, so many threads at once as the queue has. */
void tsr_over_list(const tsr_queue *queue, const tsr_tile_pool *pool, tsr_parallel_body body, void *user);

struct tsr_engine_plan {
    tsr_tile_pool pool;
    tsr_engine_setup setup;
    tsr_payload_provider provider;
    tsr_engine_control *control;
    int64_t created;               /* tiles, by its steps */
    tsr_tile_bits *bits[3];        /* [capacity] of each buffer of the field; NULL: passes look at the values */
    int known[3];                  /* they are true of all tiles of the list and of both static ones */
    uint32_t areas[TSR_TILE_MOST]; /* of a tile that lies in the domain as a whole */
};

/* tsr_areas of every voxel of a tile of which `extent` lies in the domain; 0 beyond. */
TSR_INLINE void tsr_tile_areas(const tsr_engine_plan *plan, const int32_t extent[3], uint32_t *areas)
{
    const int32_t E = 1 << plan->pool.log2_edge;
    for (int32_t i = 0; i < E * E * E; i++) {
        const int32_t x = i % E, y = i / E % E, z = i / (E * E);
        areas[i] = x < extent[0] && y < extent[1] && z < extent[2] ? tsr_areas(x, y, z, E, plan->setup.guard) : 0u;
    }
}

/* ---- coded fields ---------------------------------------------------------------------------------------------------------------------------- */

/* A tile of a coded list and its neighbours, decoded as far as stencils reach: pages by direction, and the row that finds them there. */
struct tsr_near_tiles {
    _Alignas(64) float page[TSR_TILE_DIRECTIONS * TSR_TILE_MOST]; /* a tile after the other, without gaps */
    uint32_t row[TSR_NEIGHBOUR_ROW];
};

TSR_INLINE void tsr_decode(const tsr_coding *c, const int16_t *from, float *to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) to[i] = tsr_code_value(c, from[i]);
}
TSR_INLINE void tsr_encode(const tsr_coding *c, const float *from, int16_t *to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) to[i] = (int16_t)tsr_code_of(c, from[i]);
}
TSR_INLINE const int16_t *tsr_codes_of(const float *phi, int64_t first) { return (const int16_t *)(const void *)phi + first; }

TSR_INLINE void tsr_decode_around(const tsr_tile_pool *pool, const tsr_coding *c, const float *phi, uint32_t id, int32_t radius,
                                  struct tsr_near_tiles *near)
{
    const int32_t E = 1 << pool->log2_edge, plane = E * E, V = plane * E;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t first = d < 9 ? (E - radius) * plane : 0, count = d < 9 || d >= 18 ? radius * plane : V; /* planes along z */
        tsr_decode(c, tsr_codes_of(phi, (int64_t)row[d] * V + first), near->page + (int64_t)d * V + first, count);
        near->row[d] = (uint32_t)d;
    }
}

/* ---- passes ---------------------------------------------------------------------------------------------------------------------------------- */

/* A pass over all tiles, and what it finds. */
struct tsr_engine_job {
    const tsr_engine_plan *plan;
    tsr_engine_moment moment;
    const float *from, *start;
    float *to;
    float step, blend;
    int sweep, last, measure, need_gradient, index;
    const tsr_tile_bits *from_bits, *start_bits; /* NULL: not known */
    tsr_tile_bits *to_bits;
    int to_known; /* they are those of what `to` holds now */
    tsr_tile_totals totals;
    uint32_t oldest_young; /* largest 255 - age */
};

/* Will the pass find by the bits of the tiles which voxels move (engine_bits.h)? */
int tsr_pass_by_bits(const struct tsr_engine_job *job);

/* Makes the bits of all tiles in a buffer; 0 if a value lies beyond the band, so that they are of no use. */
int tsr_note_cpu(tsr_queue *queue, const tsr_engine_plan *plan, int32_t buffer);

/* Runs the pass. */
void tsr_pass_cpu(tsr_queue *queue, struct tsr_engine_job *job);

/* Largest rates of the terms of job->from, before the first step. */
void tsr_rates_cpu(tsr_queue *queue, struct tsr_engine_job *job);

#endif
