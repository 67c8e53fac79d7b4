/* vision/depth/sweep_cuda.cu: a thread for each item. */
#include "device/kernel.h"
#include "vision/depth/sweep_ops.h"

enum { THREADS = 128 };

#define TSR_PLANES_STEP(name)                                                                                       \
    TSR_KERNEL(name##_kernel)(tsr_planes_##name##_job job, int64_t count)                                           \
    {                                                                                                              \
        const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;                                             \
        if (i < count) tsr_planes_##name##_at(&job, i);                                                             \
    }                                                                                                              \
    static tsr_status cuda_##name(tsr_queue *queue, const tsr_planes_##name##_job *job, int64_t count)              \
    {                                                                                                              \
        TSR_LAUNCH(queue, name##_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);          \
        TSR_TRY(tsr_launch_check(queue));                                                                          \
        return TSR_OK;                                                                                             \
    }
TSR_PLANES_STEPS(TSR_PLANES_STEP)
#undef TSR_PLANES_STEP

extern "C" const tsr_planes_ops tsr_planes_cuda = {
#define TSR_PLANES_STEP(name) cuda_##name,
    TSR_PLANES_STEPS(TSR_PLANES_STEP)
};
