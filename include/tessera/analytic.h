/* tessera/analytic.h: scenes of spheres, boxes, cylinders and their like, drawn by exact intersections: pictures and depths whose truth is known,
 * for any camera.
 *
 * z is up, the scenes lie round the origin within about [-1.5, 1.5]^3 and are looked at from -y. Rays meet surfaces in closed form (a torus: by the
 * roots of its
 * quartic, polished); solids are united and cut along the ray. Textures are sums of smoothed random values on lattices, fixed in the world.
 * Class: exact (float64; the same bytes for any number of threads). Works on the host. Source: docs/theory/cameras.md. */
#ifndef TESSERA_ANALYTIC_H
#define TESSERA_ANALYTIC_H

#include "tessera/camera.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_analytic_info {
    const char *name, *description;
} tsr_analytic_info;                                                 /* static */
TSR_API const tsr_analytic_info *tsr_analytic_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_analytic_options {
    size_t struct_size;
    int backdrop;          /* != 0: walls 6 units away all round */
    int untextured;        /* != 0: plain colours */
    int32_t supersampling; /* n x n rays per pixel of the picture, 1 to 16; 0 = 4. Depths are those of the pixel's centre */
    double noise;          /* sigma of Gaussian noise added to the picture, grey values */
    double blur;           /* sigma of a Gaussian blur of the picture, pixels */
    double gain, bias;     /* picture = gain x picture + bias (grey values); gain 0 = 1 */
    uint64_t seed;         /* of the noise */
    int32_t threads;       /* 0 = all */
    tsr_progress progress;
} tsr_analytic_options;
#define TSR_ANALYTIC_OPTIONS TSR_SIZED(tsr_analytic_options)

/* The scene as a camera sees it, its lens and clip distances too. *image: 8-bit sRGB, 3 channels, freed by tsr_image_destroy; depth [height][width]:
 * distance
 * along the axis, 0 where there is nothing. Either may be NULL. TSR_ERROR_ARGUMENT for an unknown name (the message lists the names). */
TSR_API tsr_status tsr_analytic_render(const char *name, const tsr_camera *camera, int32_t width, int32_t height, const tsr_analytic_options *options,
                                       tsr_image *image, float *depth) TSR_CHECKED;
/* The first surface on origin + t direction with t > 0: *t (infinite: none) and the unit normal towards the viewer (may be NULL). */
TSR_API tsr_status tsr_analytic_trace(const char *name, const tsr_analytic_options *options, tsr_vec3 origin, tsr_vec3 direction, double *t,
                                      tsr_vec3 *normal) TSR_CHECKED;
/* Linear colour, 0 to 1, of the scene's surface at a place (as if it lay on the surface). */
TSR_API tsr_status tsr_analytic_color(const char *name, const tsr_analytic_options *options, tsr_vec3 origin, tsr_vec3 direction,
                                      double color[3]) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
