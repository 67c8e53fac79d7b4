/* video/dirac/motion_isa.h: pictures from references, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_MOTION_ISA_H
#define TSR_VIDEO_DIRAC_MOTION_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_ops.h"

TSR_ISA_DECLARE(void, tsr_dirac_predict_rows, const tsr_dirac_predict_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_half_rows, const tsr_dirac_half_job *job, int64_t begin, int64_t end) /* rows of the grid */

#endif
