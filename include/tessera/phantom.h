/* tessera/phantom.h: analytic volumes and medical phantoms, made on the host from a name, a size and a seed.
 *
 * Class exact: the same voxels on every machine and with every number of threads (float64 with + - * / and sqrt only, own elementary
 * functions, a counter-based random generator). Voxel (x, y, z) lies at world position (x hx, y hy, z hz); the shapes are centred in the
 * volume, and their size follows the longest axis of sample positions, so that any extents work.
 * Sources: docs/theory/segmentation.md 9, docs/theory/surfaces.md 9, docs/theory/levelset.md 9. */
#ifndef TESSERA_PHANTOM_H
#define TESSERA_PHANTOM_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_phantom_kind {
    TSR_PHANTOM_DISTANCE = 0, /* signed distance in world units, negative inside; truth = inside */
    TSR_PHANTOM_FIELD,        /* another function whose zero level is the surface, negative inside; truth = inside */
    TSR_PHANTOM_IMAGE         /* grey values in [0, 1]; truth = label mask, 0 = background */
} tsr_phantom_kind;

typedef struct tsr_phantom_info {
    const char *name;         /* RETURNS VIEW, static */
    const char *description;  /* one line; static */
    tsr_phantom_kind kind;
    tsr_size3 size;           /* default extents */
    double noise, blur;       /* defaults of the options (images) */
} tsr_phantom_info;

/* Enumerates the phantoms: index 0, 1, ... until it returns 0. */
TSR_API const tsr_phantom_info *tsr_phantom_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_phantom_options {
    size_t struct_size;
    tsr_size3 size;       /* extents; zero = the phantom's default */
    tsr_vec3 spacing;     /* voxel size in world units; zero = 1, 1, 1 */
    uint64_t seed;        /* chooses the random parts: tumour, vessels, noise */
    double noise;         /* Rician noise of this sigma, images only: sqrt((I + n1)^2 + n2^2); 0 = default, negative = none */
    double bias;          /* smooth multiplicative field 1 +- bias, images only; 0 <= bias < 1 */
    double blur;          /* edge blur in voxels (Gaussian sigma), images only; 0 = default, negative = none */
    double parameter;     /* a length in world units: radius of the tunnel (leak) or of the ball (ramp_ball, step_edge); 0 = default */
    int32_t threads;      /* 0 = all */
    tsr_progress progress;
} tsr_phantom_options;
#define TSR_PHANTOM_OPTIONS TSR_SIZED(tsr_phantom_options)

/* Makes phantom `name` as a host volume of f32 and, if `truth` is not NULL, its exact u8 mask (before blur, bias and noise).
 * TSR_ERROR_ARGUMENT for an unknown name (the message lists the names), extents < 2 or an option out of range. RETURNS NEW both. */
TSR_API tsr_status tsr_phantom_make(const char *name, const tsr_phantom_options *options, tsr_volume **volume, tsr_volume **truth) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
