/* video/dirac/dirac_isa.h: loops that the compiler makes vectors of, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_ops.h"

TSR_ISA_DECLARE(void, tsr_dirac_store_rows, const tsr_dirac_store_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_predict_rows, const tsr_dirac_predict_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_half_rows, const tsr_dirac_half_job *job, int64_t begin, int64_t end) /* rows of the grid */

TSR_ISA_DECLARE(void, tsr_dirac_load_rows, const tsr_dirac_load_job *job, int64_t begin, int64_t end)
/* Bits of the codes of n quantised coefficients, signs included, but for the zeros at the end, whose number is *zeros. Never less than they take; for
 * magnitudes from 2^24 on perhaps 2 more. */
TSR_ISA_DECLARE(int64_t, tsr_dirac_count_bits, const int32_t *coefficients, int64_t n, uint64_t scale, int64_t *zeros)

#endif
