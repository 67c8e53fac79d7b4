/* tessera/denoise.h: white noise taken out of volumes by shrinking wavelet coefficients: small ones are noise, large ones are structure.
 *
 * Sources: Donoho and Johnstone 1994 (universal threshold, noise from the median of the finest band), Chang, Yu and Vetterli 2000 (BayesShrink), Coifman
 * and Donoho 1995 (cycle spinning: the mean over shifts of the volume); docs/theory/compression.md 6. */
#ifndef TESSERA_DENOISE_H
#define TESSERA_DENOISE_H

#include "tessera/wavelet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_denoise_rule {
    TSR_DENOISE_BAYES = 0, /* per band: sigma^2 / the standard deviation of what is not noise */
    TSR_DENOISE_UNIVERSAL, /* sigma sqrt(2 ln voxels), the same for all bands: smooth, removes more */
    TSR_DENOISE_RULES
} tsr_denoise_rule;

typedef struct tsr_denoise_options {
    size_t struct_size;
    tsr_denoise_rule rule;
    int hard;                  /* coefficients below the threshold become 0, others stay; default: all move towards 0 by the threshold */
    double sigma;              /* standard deviation of the noise, in real units; 0 = estimated */
    double strength;           /* thresholds are multiplied by it; 0 = 1 */
    int32_t levels;            /* of the transform; 0 = 4, or as many as are possible */
    int32_t shifts;            /* along each axis, 1 to 8: results of shifts^axes shifted transforms are averaged; 0 = 2 */
    tsr_wavelet_filter filter; /* 0 = daub97 (legall53, which is 0 elsewhere, is far from orthogonal), else haar ... fidelity */
    tsr_progress progress;
} tsr_denoise_options;
#define TSR_DENOISE_OPTIONS                        \
    {                                              \
        .struct_size = sizeof(tsr_denoise_options) \
    }

/* RETURNS NEW volume of the same type, geometry and metadata on the same device; integers are rounded and saturate. *sigma (may be NULL): the deviation
 * that was used, in real units. `options` may be NULL. On any device, with the context's threads on a CPU; on a GPU all passes stay there, and only the
 * sums of squares of the bands (by BayesShrink), the median and the range come back. Class exact: the same bits on every device and for every number of
 * threads. Precision: float32 about the middle of the range, so voxels move by rounding too, some 2^-22 of the width of the range (the largest value less
 * the least) at most, wherever it lies and whatever the type; the result is kept within the type. Where no threshold is above 0 (all voxels equal; noise
 * estimated below some 2^-22 of that width, which counts as none) it is a copy, bit for bit. Synchronous. Errors: TSR_ERROR_ARGUMENT naming the field, or
 * the first voxel that is not finite; TSR_ERROR_MEMORY. The channels of an image (tsr_volume_channels) are transformed each for itself, their noise is
 * estimated together. Time: shifts^axes transforms of the volume; memory of the device: 4 times its voxels in float32, the transform's workspace (a
 * quarter to the half of that for one) and the result. */
TSR_API tsr_status tsr_volume_denoise(tsr_context *context, const tsr_volume *volume, const tsr_denoise_options *options, tsr_volume **denoised,
                                      double *sigma) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
