#include "vision/depth/sweep_isa.h"

#define TSR_PLANES_STEP(name)                                                                                       \
    void TSR_ISA_NAME(tsr_planes_##name##_range)(const tsr_planes_##name##_job *job, int64_t begin, int64_t end)     \
    {                                                                                                              \
        const tsr_planes_##name##_job own = *job;                                                                   \
        for (int64_t i = begin; i < end; i++) tsr_planes_##name##_at(&own, i);                                      \
    }
TSR_PLANES_STEPS(TSR_PLANES_STEP)
