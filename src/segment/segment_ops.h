/* segment/segment_ops.h: what a backend provides to evolve a level set on a sorted tile list. */
#ifndef TSR_SEGMENT_SEGMENT_OPS_H
#define TSR_SEGMENT_SEGMENT_OPS_H

#include "tiles/tiles_ops.h"
#include "segment/speed.h"
#include "segment/update.h"

/* A recorded step: compute, manage tiles, speed of the created tiles. Holds copies of pool, params and speed; made anew when any changes. */
typedef struct tsr_segment_plan tsr_segment_plan;

typedef struct tsr_segment_ops {
    /* Payload of every stored tile, and state->speed_bits = max |F| over active voxels. Needed after any change of the speed or the list from outside. */
    tsr_status (*fill_speed)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_speed *speed);
    /* The speed of the `size` voxels from `low` on (within speed->size), float32, x fastest: for pictures. With `params` that of total_speed.h, for the
     * field in the pool; NULL: the data speed alone. */
    tsr_status (*dense_speed)(tsr_queue *queue, const tsr_speed *speed, const tsr_tile_pool *pool, const tsr_segment_params *params,
                              const int32_t low[3], const int32_t size[3], float *out);
    tsr_status (*plan_create)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_segment_params *params, const tsr_speed *speed,
                              tsr_segment_plan **plan);
    void (*plan_destroy)(tsr_queue *queue, tsr_segment_plan **plan);
    /* Queues `steps` steps; no allocation, no synchronisation. A step whose management runs short of ids leaves state->managed = 0 and
     * shortage > 0, and every later step does nothing, until the host has grown the pool and called tiles->manage. state->steps counts. */
    tsr_status (*plan_run)(tsr_queue *queue, tsr_segment_plan *plan, int32_t steps);
} tsr_segment_ops;

#endif
