/* wavelet/wavelet_isa.h: the inner loops of the transforms: rows of samples, compiled per SIMD variant (wavelet_isa.c). Between the passes
 * over memory rows are held as `ring` elements: i16 samples as i16 where every finished value is one of a step, else as i32. */
#ifndef TSR_WAVELET_WAVELET_ISA_H
#define TSR_WAVELET_WAVELET_ISA_H

#include "device/isa.h"
#include "wavelet/wavelet_ops.h"

typedef struct tsr_wavelet_rows {
    size_t element, ring; /* bytes */
    /* n samples, `stride` elements apart, raised by `shift` bits: even ones to low, odd ones to high */
    void (*split)(const void *in, int64_t stride, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost);
    /* The inverse; values are lowered by `shift` bits. */
    void (*merge)(const void *low, const void *high, int64_t n, int32_t shift, void *out, int64_t stride, int stream, uint32_t *lost);
    /* x[i] += what the step adds for neighbours[k][i], k in the order of the taps */
    void (*lift)(const tsr_lift_step *step, void *x, const void *const *neighbours, int64_t n, uint32_t *lost);
    void (*load)(const void *in, int64_t stride, int64_t n, int32_t shift, double scale, void *row, uint32_t *lost);
    /* stream: past the caches, which then need not read what is overwritten; followed by `drain` before others may read */
    void (*store)(const void *row, int64_t n, int32_t shift, double scale, void *out, int64_t stride, int stream, uint32_t *lost);
    void (*drain)(void);
    void (*narrow)(void *row, int64_t n, uint32_t *lost); /* of a finished axis that stays in the row; NULL: nothing to do */
} tsr_wavelet_rows;

typedef enum tsr_wavelet_kind { TSR_ROWS_I16 = 0, TSR_ROWS_I16_WIDE, TSR_ROWS_I32, TSR_ROWS_F32, TSR_ROWS_F64 } tsr_wavelet_kind;
TSR_ISA_DECLARE(const tsr_wavelet_rows *, tsr_wavelet_rows_of, tsr_wavelet_kind kind)

#endif
