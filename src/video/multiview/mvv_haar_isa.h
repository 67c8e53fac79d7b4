/* video/multiview/mvv_haar_isa.h: whole decompositions along an axis, a variant per instruction set. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_HAAR_ISA_H
#define TSR_VIDEO_MULTIVIEW_MVV_HAAR_ISA_H

#include <stdint.h>

#include "device/isa.h"

enum { TSR_MVV_COLUMNS = 64 }; /* that are worked on together; scratch: TSR_MVV_COLUMNS * extent elements, at least 2 * extent */

/* `data`: n samples (a power of two) `stride` elements apart, of `columns` (at most TSR_MVV_COLUMNS) neighbours; in place, index 0 the mean,
 * [2^(k-1), 2^k)
 * scale k. */
TSR_ISA_DECLARE(void, tsr_mvv_haar_forward, float *data, int64_t n, int64_t stride, int64_t columns, float *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_turned_forward, int32_t *data, int64_t n, int64_t stride, int64_t columns, int32_t *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_haar_inverse, int32_t *data, int64_t n, int64_t stride, int64_t columns, int32_t *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_turned_inverse, int32_t *data, int64_t n, int64_t stride, int64_t columns, int32_t *scratch)
/* The same of one row of n neighbours. */
TSR_ISA_DECLARE(void, tsr_mvv_haar_forward_row, float *data, int64_t n, float *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_turned_forward_row, int32_t *data, int64_t n, int32_t *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_haar_inverse_row, int32_t *data, int64_t n, int32_t *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_turned_inverse_row, int32_t *data, int64_t n, int32_t *scratch)
TSR_ISA_DECLARE(void, tsr_mvv_round_row, const float *from, int32_t *to, int64_t n)
/* Samples with their fraction (or, plain, without one) to texels. */
TSR_ISA_DECLARE(void, tsr_mvv_texel_row, const int32_t *from, uint8_t *to, int64_t n, int plain)

#endif
