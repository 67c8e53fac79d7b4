/* vision/align/align_isa.h: the cost of one candidate, built once per SIMD variant. */
#ifndef TSR_VISION_ALIGN_ISA_H
#define TSR_VISION_ALIGN_ISA_H

#include "device/isa.h"
#include "vision/align/align_job.h"

TSR_ISA_DECLARE(uint32_t, tsr_align_candidate_cost, const tsr_align_job *job, const tsr_align_candidate *candidate)

#endif
