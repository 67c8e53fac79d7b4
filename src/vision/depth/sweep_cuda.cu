/* vision/depth/sweep_cuda.cu: a thread for each item. */
#include "device/kernel.h"
#include "vision/depth/sweep_ops.h"

enum { THREADS = 128 };

#define TSR_SWEEP_STEP(name)                                                                                       \
    TSR_KERNEL(name##_kernel)(tsr_sweep_##name##_job job, int64_t count)                                           \
    {                                                                                                              \
        const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;                                             \
        if (i < count) tsr_sweep_##name##_at(&job, i);                                                             \
    }                                                                                                              \
    static tsr_status cuda_##name(tsr_queue *queue, const tsr_sweep_##name##_job *job, int64_t count)              \
    {                                                                                                              \
        TSR_LAUNCH(queue, name##_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);          \
        TSR_TRY(tsr_launch_check(queue));                                                                          \
        return TSR_OK;                                                                                             \
    }
TSR_SWEEP_STEPS(TSR_SWEEP_STEP)
#undef TSR_SWEEP_STEP

extern "C" const tsr_sweep_ops tsr_sweep_cuda = {
#define TSR_SWEEP_STEP(name) cuda_##name,
    TSR_SWEEP_STEPS(TSR_SWEEP_STEP)
};
