/* grid/volume_ops.h: what a backend provides for dense volumes. All pointers are device memory of the queue. */
#ifndef TSR_GRID_VOLUME_OPS_H
#define TSR_GRID_VOLUME_OPS_H

#include "device/backend.h"

typedef struct tsr_volume_ops {
    /* to[i] = (to_type)(from[i] * slope + intercept) as tsr_voxel_store does it */
    tsr_status (*convert)(tsr_queue *queue, const void *from, tsr_dtype from_type, void *to, tsr_dtype to_type, int64_t count, double slope,
                          double intercept);
} tsr_volume_ops;

#endif
