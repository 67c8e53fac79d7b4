#include "vision/depth/sweep_isa.h"

#define TSR_SWEEP_STEP(name)                                                                                       \
    void TSR_ISA_NAME(tsr_sweep_##name##_range)(const tsr_sweep_##name##_job *job, int64_t begin, int64_t end)     \
    {                                                                                                              \
        const tsr_sweep_##name##_job own = *job;                                                                   \
        for (int64_t i = begin; i < end; i++) tsr_sweep_##name##_at(&own, i);                                      \
    }
TSR_SWEEP_STEPS(TSR_SWEEP_STEP)
