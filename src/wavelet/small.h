/* wavelet/small.h: the pass of small_cuda.cu: x and y of a level of a small plane together, filters of two steps of two taps each (5/3). */
#ifndef TSR_WAVELET_SMALL_H
#define TSR_WAVELET_SMALL_H

#include "wavelet/wavelet_ops.h"

typedef struct tsr_small_pass {
    tsr_lift_filter filter;
    int32_t width, height, boundary, raise, lower, scaled;
    int32_t planes; /* along axis 4, the batch, or any one other */
    int32_t axis;   /* that one */
    int32_t strips;
    tsr_wavelet_array whole, half[4]; /* half: bit 0 high along x, bit 1 along y */
    float load_scale[4], store_scale[4];
    uint32_t *lost;
} tsr_small_pass;

#ifdef __cplusplus
/* Does it take this level? */
extern "C" int tsr_small_fits_cuda(const tsr_wavelet_level *level, const tsr_lift_filter *forward);
extern "C" tsr_status tsr_small_run_cuda(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *level, int inverse);
#endif

#endif
