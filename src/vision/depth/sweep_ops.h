/* vision/depth/sweep_ops.h: the steps of the plane sweep, each a function of item i of a job. All pointers are device memory of the queue. */
#ifndef TSR_VISION_DEPTH_SWEEP_OPS_H
#define TSR_VISION_DEPTH_SWEEP_OPS_H

#include "device/backend.h"
#include "vision/depth/sweep_image.h"

/* STEP(name): job tsr_planes_NAME_job, function tsr_planes_NAME_at. */
#define TSR_PLANES_STEPS(STEP) \
    STEP(load) STEP(box) STEP(mean) STEP(halve) STEP(gauss) STEP(even) STEP(search) STEP(median) STEP(enlarge) STEP(depth) STEP(settle) STEP(consist) \
        STEP(warp) STEP(merge) STEP(patch)

typedef struct tsr_planes_ops {
#define TSR_PLANES_STEP(name) tsr_status (*name)(tsr_queue *queue, const tsr_planes_##name##_job *job, int64_t count);
    TSR_PLANES_STEPS(TSR_PLANES_STEP)
#undef TSR_PLANES_STEP
} tsr_planes_ops;

#endif
