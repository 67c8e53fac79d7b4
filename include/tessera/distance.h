/* tessera/distance.h: exact Euclidean distance transform of a mask. */
#ifndef TESSERA_DISTANCE_H
#define TESSERA_DISTANCE_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_distance_mode {
    /* A level set, negative inside, of a surface that lies on the faces between voxels: the distance from the centre of a voxel to the nearest voxel of the
     * other side as a body. Bodies are boxes with edges rounded by half the smallest spacing h: along an axis half the spacing there is taken off the distance
     * between the centres. For equal spacings that is the distance between centres less h/2. */
    TSR_DISTANCE_SIGNED = 0,
    /* Distance between centres to the nearest voxel of the mask; 0 in the mask. */
    TSR_DISTANCE_TO_MASK
} tsr_distance_mode;

typedef struct tsr_distance_options {
    size_t struct_size;
    tsr_distance_mode mode;
    double band; /* clamp to [-band, band], world units; 0 = no clamp */
} tsr_distance_options;
#define TSR_DISTANCE_OPTIONS TSR_SIZED(tsr_distance_options)

/* Distance of every voxel in world units as float32, with the geometry and metadata of the mask. Inside = stored value other than 0 (and
 * not NaN). Distances are measured along the index axes with the spacing of the geometry (lengths of its columns). Where the other side has no
 * voxel the distance is infinite (with a band: the band). `options` may be NULL.
 * The mask must live on the device of `context`; so does the result. Asynchronous on a GPU. Linear time and space: 4 bytes of result and
 * 6 of scratch per voxel.
 * Class exact: for equal spacings the squared distance in voxels is an integer, exact below 2^24 (distances below 4096 voxels); otherwise
 * each of three additions of squares is rounded to float32. Same bits on every backend.
 * TSR_ERROR_ARGUMENT for an extent over 65535, a negative or NaN band, an unknown mode; TSR_ERROR_UNSUPPORTED for index axes that are not perpendicular.
 * Source: Felzenszwalb and Huttenlocher, Distance Transforms of Sampled Functions, 2012; docs/theory/distance.md 1;
 * docs/theory/segmentation.md 6. RETURNS NEW. */
TSR_API tsr_status tsr_distance_transform(tsr_context *context, const tsr_volume *mask, const tsr_distance_options *options,
                                          tsr_volume **distance) TSR_CHECKED;

/* Evolutions that turn a level set, correct near its surface alone, into a distance without moving the surface. */
typedef enum tsr_distance_method {
    TSR_DISTANCE_REINIT = 0, /* phi_t = sign(phi) (1 - |grad phi|), voxels beside the surface locked at their sub-voxel distance: grows distance also out of a plateau */
    TSR_DISTANCE_SOURCE      /* phi_t = phi |grad phi| (1 - |grad phi|), as first published: repairs slopes, a plateau stays */
} tsr_distance_method;

typedef struct tsr_distance_pde_options {
    size_t struct_size;
    tsr_distance_method method;
    double band;          /* B, world units: the result is clamped to [-B, B]; 0 = 10 of the smallest spacings */
    double step;          /* of time, of the largest that is stable: more than 0, at most 1; 0 = 0.5 */
    int32_t max_steps;    /* 0 = 2 B / (step in world units) */
    double tolerance;     /* stops when no voxel changes by more in a step, of the smallest spacing; 0 = 0.01 of the step */
    tsr_progress progress;
} tsr_distance_pde_options;
#define TSR_DISTANCE_PDE_OPTIONS TSR_SIZED(tsr_distance_pde_options)

typedef struct tsr_distance_pde_report {
    size_t struct_size;
    int32_t steps;
    double change; /* largest of the last steps that were looked at, world units */
} tsr_distance_pde_report;
#define TSR_DISTANCE_PDE_REPORT TSR_SIZED(tsr_distance_pde_report)

/* Of a level set of any element type (negative inside, world units; NaN counts as B), float32. Looks at the change every 8 steps and waits then.
 * 12 bytes of scratch per voxel. Class exact: operations and square roots are rounded one by one.
 * TSR_ERROR_ARGUMENT: band or tolerance negative, step beyond 1, unknown method; TSR_ERROR_UNSUPPORTED: index axes not perpendicular; TSR_ERROR_CANCELLED. `options` and `report` may be NULL. RETURNS NEW.
 * Source: docs/theory/distance.md 2 (pde_source, pde_reinit); Russo and Smereka 2000 (locked voxels). */
TSR_API tsr_status tsr_distance_evolve(tsr_context *context, const tsr_volume *phi, const tsr_distance_pde_options *options, tsr_volume **distance,
                                       tsr_distance_pde_report *report) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
