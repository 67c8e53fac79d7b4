/* fluid/fluid_scatter.h: splatting and noise of small particles without lists of tiles: a few threads go over the pixels of each particle. */
#ifndef TSR_FLUID_FLUID_SCATTER_H
#define TSR_FLUID_FLUID_SCATTER_H

#include "fluid/fluid_ops.h"

#ifdef __cplusplus
extern "C" {
#endif
tsr_status tsr_fluid_scatter_splat(tsr_queue *queue, const tsr_fluid_splat_job *job);
tsr_status tsr_fluid_scatter_noise(tsr_queue *queue, const tsr_fluid_noise_job *job);
#ifdef __cplusplus
}
#endif

#endif
