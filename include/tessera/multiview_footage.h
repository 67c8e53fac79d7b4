/* tessera/multiview_footage.h: generated footage of moving things by many cameras, with exact answers: what tessera/multiview_model.h makes textures of.
 *
 * "dancer": 16 ellipsoids on the bones of a figure that dances; "sphere": one that turns; "cube": one that stands still. Their skin is procedural: noise,
 * stripes, text. Pictures are cast by rays through the exact shapes; the mesh of the model has its corners on them (within 2^-13 of a unit) and a chart for every
 * ellipsoid or face. Units are metres, z is up, 25 steps a second. Class: exact (IEEE float64). Source: docs/theory/multiview-textures.md 5. */
#ifndef TESSERA_MULTIVIEW_FOOTAGE_H
#define TESSERA_MULTIVIEW_FOOTAGE_H

#include "tessera/multiview_model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_footage_scene { TSR_FOOTAGE_DANCER = 0, TSR_FOOTAGE_SPHERE, TSR_FOOTAGE_CUBE, TSR_FOOTAGE_SCENES } tsr_footage_scene;

typedef struct tsr_footage_options {
    size_t struct_size;
    tsr_footage_scene scene;
    int32_t steps, cameras;      /* 0 = 40, 8: a ring */
    int32_t width, height;       /* of pictures; 0 = 320, 240 */
    int32_t atlas;               /* texels a side; 0 = 512 */
    int32_t detail;              /* segments round an ellipsoid, a multiple of 2, 8 to 256; 0 = 32 */
    int32_t supersampling;       /* N x N rays a pixel, 1 to 8; 0 = 3 */
    double distance, fov;        /* of the ring from its target; degrees, vertical; 0 = 3.6, 36 */
    int unlit;                   /* != 0: the skin's own colour; 0: Lambert's law, light from above and one side, and a third of it from everywhere */
    double phong;                /* share of a highlight, exponent 24: depends on the camera; 0: none, all cameras agree */
    double noise;                /* sigma of the sensor's, grey values */
    double k1;                   /* of the lenses (TSR_LENS_POLY) */
    double jitter;               /* the model's mesh is moved against the truth by so much, rigidly, anew in each step: a wrong pose */
    uint64_t seed;
    int32_t threads;             /* 0 = all */
    tsr_mask_rules rules;        /* of the model */
} tsr_footage_options;
#define TSR_FOOTAGE_OPTIONS TSR_SIZED(tsr_footage_options)

typedef struct tsr_footage tsr_footage; /* host memory; immutable: any thread */

/* "dancer", "sphere", "cube". */
TSR_API tsr_status tsr_footage_parse(const char *name, tsr_footage_scene *scene) TSR_CHECKED;
/* `options` may be NULL. TSR_ERROR_ARGUMENT names the option. RETURNS NEW. */
TSR_API tsr_status tsr_footage_create(const tsr_footage_options *options, tsr_footage **footage) TSR_CHECKED;
TSR_API void tsr_footage_destroy(tsr_footage **footage);
/* RETURNS VIEW, which lives as long as the footage. */
TSR_API const tsr_multiview_model *tsr_footage_model(const tsr_footage *footage);
/* What a camera sees in a step: RGB; tsr_image_destroy. */
TSR_API tsr_status tsr_footage_picture(const tsr_footage *footage, int32_t step, int32_t camera, tsr_image *image) TSR_CHECKED;

/* Exact answers. Which ellipsoid or face a triangle of the mesh belongs to; -1: there is no such triangle. */
TSR_API int32_t tsr_footage_part(const tsr_footage *footage, int64_t triangle);
/* RGB, 0 to 255, of the surface of a part next to a point of the world, without what depends on the camera (highlights, noise). */
TSR_API tsr_status tsr_footage_color(const tsr_footage *footage, int32_t step, int32_t part, const double world[3], double rgb[3]) TSR_CHECKED;
/* The first part that a ray meets (origin + d direction, d > 0): its number, or -1; *d where. */
TSR_API int32_t tsr_footage_ray(const tsr_footage *footage, int32_t step, const double origin[3], const double direction[3], double *d);

#ifdef __cplusplus
}
#endif
#endif
