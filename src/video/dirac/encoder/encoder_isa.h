/* video/dirac/encoder/encoder_isa.h: loops of the encoder of core syntax, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_ENCODER_ISA_H
#define TSR_VIDEO_DIRAC_ENCODER_ISA_H

#include <stdint.h>

#include "device/isa.h"

/* Quantises a row of n coefficients and puts them back; the sum of squared differences. */
TSR_ISA_DECLARE(double, tsr_dirac_quantise_row, const int32_t *coefficients, int32_t n, int32_t index, int inter, int32_t rounding,
                int32_t *quantised, int32_t *decoded)
/* Sums of absolute differences of bytes, w x h, of which 15 more must be readable behind each row; against the rounded mean of two; against their
 * own mean, which goes to *mean. */
TSR_ISA_DECLARE(int32_t, tsr_dirac_difference, const uint8_t *a, int64_t a_stride, const uint8_t *b, int64_t b_stride, int32_t w, int32_t h)
TSR_ISA_DECLARE(int32_t, tsr_dirac_difference_mean, const uint8_t *a, int64_t a_stride, const uint8_t *b, int64_t b_stride, const uint8_t *c,
                int64_t c_stride, int32_t w, int32_t h)
TSR_ISA_DECLARE(int32_t, tsr_dirac_difference_flat, const uint8_t *a, int64_t a_stride, int32_t w, int32_t h, int32_t *mean)
/* The mean of the bytes at four places with the weights (sum 2^shift) of bilinear interpolation. */
TSR_ISA_DECLARE(void, tsr_dirac_blend, const uint8_t *const from[4], int64_t stride, const int32_t weight[4], int32_t shift, int32_t w, int32_t h,
                uint8_t *restrict to, int64_t to_stride)
/* Half a sample on from each of n bytes, along steps of `step` bytes. */
TSR_ISA_DECLARE(void, tsr_dirac_half_bytes, const uint8_t *from, int64_t step, int32_t n, uint8_t *restrict to)

#endif
