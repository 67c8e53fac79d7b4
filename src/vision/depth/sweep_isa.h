/* vision/depth/sweep_isa.h: items of the steps of the plane sweep, built once per SIMD variant. */
#ifndef TSR_VISION_DEPTH_SWEEP_ISA_H
#define TSR_VISION_DEPTH_SWEEP_ISA_H

#include "device/isa.h"
#include "vision/depth/sweep_ops.h"

#define TSR_PLANES_STEP(name) TSR_ISA_DECLARE(void, tsr_planes_##name##_range, const tsr_planes_##name##_job *job, int64_t begin, int64_t end)
TSR_PLANES_STEPS(TSR_PLANES_STEP)
#undef TSR_PLANES_STEP

#endif
