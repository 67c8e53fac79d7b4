/* tessera/distance.h: exact Euclidean distance transform of a mask. */
#ifndef TESSERA_DISTANCE_H
#define TESSERA_DISTANCE_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_distance_mode {
    /* A level set: negative inside, outside = d - h/2, inside = h/2 - d, where d is the distance between the centres of the voxel and of
     * the nearest voxel of the other side and h the smallest spacing: the surface lies half-way between them. */
    TSR_DISTANCE_SIGNED = 0,
    /* Distance between centres to the nearest voxel of the mask; 0 in the mask. */
    TSR_DISTANCE_TO_MASK
} tsr_distance_mode;

typedef struct tsr_distance_options {
    size_t struct_size;
    tsr_distance_mode mode;
    double band; /* clamp to [-band, band], world units; 0 = no clamp */
} tsr_distance_options;
#define TSR_DISTANCE_OPTIONS { .struct_size = sizeof(tsr_distance_options) }

/* Distance of every voxel in world units as float32, with the geometry and metadata of the mask. Inside = stored value other than 0 (and
 * not NaN). Distances are measured along the index axes with the spacing of the geometry (lengths of its columns), as if they were
 * perpendicular. Where the other side has no voxel the distance is infinite (with a band: the band). `options` may be NULL.
 * The mask must live on the device of `context`; so does the result. Asynchronous on a GPU. Linear time and space: 4 bytes of result and
 * 6 of scratch per voxel.
 * Class exact: for equal spacings the squared distance in voxels is an integer, exact below 2^24 (distances below 4096 voxels); otherwise
 * each of three additions of squares is rounded to float32. Same bits on every backend.
 * TSR_ERROR_ARGUMENT for an extent over 65535, a negative or NaN band, an unknown mode.
 * Source: Felzenszwalb and Huttenlocher, Distance Transforms of Sampled Functions, 2012; spec/volume-rendering.md 2.9 (exact),
 * spec/segmentation.md 2.7. RETURNS NEW. */
TSR_API tsr_status tsr_distance_transform(tsr_context *context, const tsr_volume *mask, const tsr_distance_options *options,
                                          tsr_volume **distance) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
