/* video/dirac/dirac_isa.h: loops that the compiler makes vectors of, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_ISA_H

#include "device/isa.h"
#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/dirac_ops.h"

TSR_ISA_DECLARE(void, tsr_dirac_store_rows, const tsr_dirac_store_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_predict_rows, const tsr_dirac_predict_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_half_rows, const tsr_dirac_half_job *job, int64_t begin, int64_t end) /* rows of the grid */

TSR_ISA_DECLARE(void, tsr_dirac_load_rows, const tsr_dirac_load_job *job, int64_t begin, int64_t end)
/* The magnitudes of a component of a slice, run by run: runs of one quantiser. */
typedef struct tsr_dirac_run {
    int32_t size, matrix;
} tsr_dirac_run;
/* For each quantiser index: the least magnitude whose code has k data bits, k = 1, 2, ...; UINT32_MAX where there is none. */
enum { TSR_CODE_STEPS = 34, TSR_CODE_INDICES = 128 };
typedef struct tsr_code_steps {
    uint32_t least[TSR_CODE_INDICES][TSR_CODE_STEPS];
    uint64_t scale[TSR_CODE_INDICES];
} tsr_code_steps;
/* Bits of the codes up to the last coefficient that is not 0, signs included. */
TSR_ISA_DECLARE(int64_t, tsr_dirac_run_bits, const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index,
                const tsr_code_steps *steps)
/* Writes them; `scratch` has room for all coefficients. What is behind the last one is left out. */
TSR_ISA_DECLARE(void, tsr_dirac_run_write, const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index, const tsr_code_steps *steps,
                int32_t *scratch, tsr_bits_out *out)
/* The coefficients of a slice in a component, band by band, from 32 or (narrow) 16 bits. */
typedef struct tsr_dirac_piece {
    int64_t at; /* of its first coefficient */
    int32_t w, h;
} tsr_dirac_piece;
TSR_ISA_DECLARE(void, tsr_dirac_gather, const int32_t *wide, const int16_t *narrow, int64_t stride, const tsr_dirac_piece *pieces, int32_t count,
                int32_t *to)
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
