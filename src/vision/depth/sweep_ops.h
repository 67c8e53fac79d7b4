/* vision/depth/sweep_ops.h: the steps of the plane sweep, each a function of item i of a job. All pointers are device memory of the queue. */
#ifndef TSR_VISION_DEPTH_SWEEP_OPS_H
#define TSR_VISION_DEPTH_SWEEP_OPS_H

#include "device/backend.h"
#include "vision/depth/sweep_image.h"

/* STEP(name): job tsr_sweep_NAME_job, function tsr_sweep_NAME_at. */
#define TSR_SWEEP_STEPS(STEP) \
    STEP(load) STEP(box) STEP(mean) STEP(halve) STEP(gauss) STEP(even) STEP(search) STEP(median) STEP(enlarge) STEP(depth) STEP(settle) STEP(consist) \
        STEP(warp) STEP(merge) STEP(patch)

typedef struct tsr_sweep_ops {
#define TSR_SWEEP_STEP(name) tsr_status (*name)(tsr_queue *queue, const tsr_sweep_##name##_job *job, int64_t count);
    TSR_SWEEP_STEPS(TSR_SWEEP_STEP)
#undef TSR_SWEEP_STEP
} tsr_sweep_ops;

#endif
