/* fluid/sim_isa.h: ranges of the passes of a step, built once per SIMD variant. */
#ifndef TSR_FLUID_SIM_ISA_H
#define TSR_FLUID_SIM_ISA_H

#include "device/isa.h"
#include "fluid/sim_ops.h"

TSR_ISA_DECLARE(void, tsr_sim_range, const tsr_sim_job *job, int32_t pass, int64_t begin, int64_t end)

#endif
