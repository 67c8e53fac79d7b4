/* vision/depth/sweep_cpu.c: items in parallel. */
#include "core/parallel.h"
#include "vision/depth/sweep_isa.h"

#define TSR_PLANES_STEP(name)                                                                                       \
    static void name##_body(void *user, int64_t begin, int64_t end, int worker)                                    \
    {                                                                                                              \
        (void)worker;                                                                                              \
        TSR_ISA_SELECT(tsr_planes_##name##_range)((const tsr_planes_##name##_job *)user, begin, end);                \
    }                                                                                                              \
    static tsr_status cpu_##name(tsr_queue *queue, const tsr_planes_##name##_job *job, int64_t count)               \
    {                                                                                                              \
        tsr_planes_##name##_job own = *job;                                                                         \
        tsr_parallel(queue->threads, count, count < 65536 ? 64 : 2048, name##_body, &own);                         \
        return TSR_OK;                                                                                             \
    }
TSR_PLANES_STEPS(TSR_PLANES_STEP)
#undef TSR_PLANES_STEP

const tsr_planes_ops tsr_planes_cpu = {
#define TSR_PLANES_STEP(name) .name = cpu_##name,
    TSR_PLANES_STEPS(TSR_PLANES_STEP)
};
