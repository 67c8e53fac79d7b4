/* vision/depth/fusion_isa.h: pixels and bricks of a fusion, built once per SIMD variant. */
#ifndef TSR_VISION_FUSION_ISA_H
#define TSR_VISION_FUSION_ISA_H

#include "device/isa.h"
#include "vision/depth/fusion_ops.h"

TSR_ISA_DECLARE(void, tsr_fusion_reach_range, const tsr_fusion_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_fusion_integrate_range, const tsr_fusion_job *job, int64_t begin, int64_t end)

#endif
