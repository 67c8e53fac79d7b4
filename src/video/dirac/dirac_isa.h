/* video/dirac/dirac_isa.h: loops that the compiler makes vectors of, a variant per instruction set: between samples and what is worked on. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_ops.h"

TSR_ISA_DECLARE(void, tsr_dirac_store_rows, const tsr_dirac_store_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_load_rows, const tsr_dirac_load_job *job, int64_t begin, int64_t end)

#endif
