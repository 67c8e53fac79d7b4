/* volume/filter_isa.h: the inner loops of the dense volume operations, compiled per SIMD variant (filter_isa.c). */
#ifndef TSR_VOLUME_FILTER_ISA_H
#define TSR_VOLUME_FILTER_ISA_H

#include "device/isa.h"
#include "volume/volume_ops.h"

enum { TSR_ROW_PART = 2048 }; /* doubles a two-stage loop keeps in the first-level cache */

/* Real values of voxels [begin, begin + n). */
TSR_ISA_DECLARE(void, tsr_row_load, const tsr_source *from, int64_t begin, int64_t n, double *out)
TSR_ISA_DECLARE(void, tsr_row_load_float, const tsr_source *from, int64_t begin, int64_t n, float *out)
TSR_ISA_DECLARE(void, tsr_row_store, const double *in, int64_t n, void *to, tsr_dtype dtype, int64_t begin)
/* out[i] = symmetric taps over rows: centre[i], then w[k] * (below[k][i] + above[k][i]) for k = 1 .. radius */
TSR_ISA_DECLARE(void, tsr_row_taps, float *out, const float *const *below, const float *const *above, const float *w, int64_t radius, int64_t n)
/* rows: 0 centre, 1 y-1, 2 y+1, 3 z-1, 4 z+1, each n long */
TSR_ISA_DECLARE(void, tsr_row_laplacian, float *out, const float *const rows[5], const float inverse[3], int64_t n)
/* out[i] = tsr_resample_sum over rows[0..taps)[i] */
TSR_ISA_DECLARE(void, tsr_row_blend, double *out, int taps, const double *w, const double *const rows[4], int64_t n)
/* out[i] = tsr_resample_sum of in[index[k*n + i]], weights[k*n + i] */
TSR_ISA_DECLARE(void, tsr_row_gather, double *out, int taps, const double *in, const int32_t *index, const double *weights, int64_t n)
TSR_ISA_DECLARE(void, tsr_row_statistics, const double *v, int64_t n, int64_t first, tsr_block_statistics *block)
/* 1 if voxels [begin, begin + n) of an f32 or f64 array hold a NaN or infinity */
TSR_ISA_DECLARE(int, tsr_row_nonfinite, const void *data, tsr_dtype dtype, int64_t begin, int64_t n)
TSR_ISA_DECLARE(void, tsr_row_threshold, const double *v, int64_t n, double lower, double upper, uint8_t *mask)
TSR_ISA_DECLARE(void, tsr_row_combine, tsr_combination combination, double a, const double *p, double b, const double *q, double c, float *out,
                int64_t n)

#endif
