/* wavelet/wavelet_tiles.h: several levels of planes at once on a GPU: what tiles_cuda.cu offers to wavelet_cuda.cu. */
#ifndef TSR_WAVELET_WAVELET_TILES_H
#define TSR_WAVELET_WAVELET_TILES_H

#include "wavelet/wavelet_ops.h"

#ifdef __cplusplus
/* How many of the job's levels, from number `first` on (the finest of them), one launch takes at once: 0, 2 or 3. */
extern "C" int32_t tsr_wavelet_tiles_take(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first);
/* Transforms `levels` of them, as many as were promised. */
extern "C" tsr_status tsr_wavelet_tiles_run(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first, int32_t levels, int inverse);
#endif

#endif
