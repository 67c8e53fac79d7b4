/* vision/views/views_ops.h: what a backend provides for views. All pointers in jobs are device memory of the queue. */
#ifndef TSR_VISION_VIEWS_VIEWS_OPS_H
#define TSR_VISION_VIEWS_VIEWS_OPS_H

#include "device/backend.h"
#include "vision/views/views_math.h"

typedef struct tsr_views_ops {
    tsr_status (*project)(tsr_queue *queue, const tsr_view_job *job); /* vertices, keys (from TSR_KEY_NONE), depth and colour */
    tsr_status (*merge)(tsr_queue *queue, const tsr_merge_job *job);
    tsr_status (*texture)(tsr_queue *queue, const tsr_merge_job *job);
    tsr_status (*sweep)(tsr_queue *queue, const tsr_sweep_job *job);
} tsr_views_ops;

#endif
