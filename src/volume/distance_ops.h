/* volume/distance_ops.h: what a backend provides for the distance transform. All pointers are device memory of the queue. */
#ifndef TSR_VOLUME_DISTANCE_OPS_H
#define TSR_VOLUME_DISTANCE_OPS_H

#include "device/backend.h"
#include "volume/distance_line.h"
#include "volume/distance_pde.h"

typedef struct tsr_distance_ops {
    int64_t (*scratch_bytes)(const tsr_queue *queue, tsr_size3 size);
    /* One pass per axis; `weight` = squared spacing per axis relative to the smallest; `core`: distance_line.h. */
    tsr_status (*transform)(tsr_queue *queue, const void *mask, tsr_dtype dtype, tsr_size3 size, const float weight[3], const float core[3],
                            const tsr_distance_finish *finish, void *scratch, float *distance);
    /* job->to = the locked distances of job->from; a step of the evolution */
    tsr_status (*pde_lock)(tsr_queue *queue, const tsr_distance_pde_job *job);
    tsr_status (*pde_step)(tsr_queue *queue, const tsr_distance_pde_job *job);
} tsr_distance_ops;

#endif
