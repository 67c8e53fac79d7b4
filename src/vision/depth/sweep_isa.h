/* vision/depth/sweep_isa.h: items of the steps of the plane sweep, built once per SIMD variant. */
#ifndef TSR_VISION_DEPTH_SWEEP_ISA_H
#define TSR_VISION_DEPTH_SWEEP_ISA_H

#include "device/isa.h"
#include "vision/depth/sweep_ops.h"

#define TSR_SWEEP_STEP(name) TSR_ISA_DECLARE(void, tsr_sweep_##name##_range, const tsr_sweep_##name##_job *job, int64_t begin, int64_t end)
TSR_SWEEP_STEPS(TSR_SWEEP_STEP)
#undef TSR_SWEEP_STEP

#endif
