/* tessera/fluid.h: pictures of liquids from particles, without a mesh: screen-space fluid rendering with curvature flow.
 *
 * What simulators write (positions, and where there are any radii, densities, velocities) becomes a picture in a few passes over pixels: depth of
 * the nearest spheres, thickness, smoothing of the depth, noise and foam, and the composite with reflection, refraction and absorption over a scene.
 * Only the front surface is drawn, or the first two to four (`layers`).
 * Lengths are world units. Colours are linear light, r g b. Depths are distances along the camera's axis.
 * Class: exact: cpu, emu and cuda give the same bits, for any order of the particles (minima, and sums of whole numbers), any number of threads and
 * any SIMD variant. Cost: linear in particles plus the pixels that they cover; buffers are kept from frame to frame, so a row of frames of one size
 * does not allocate. Source: docs/theory/fluid.md; van der Laan, Green, Sainz, "Screen space fluid rendering with curvature flow", 2009. */
#ifndef TESSERA_FLUID_H
#define TESSERA_FLUID_H

#include "tessera/camera.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draws pictures; holds the images of all passes, the sky, and what a row of frames carries on (heat of agitated particles). */
typedef struct tsr_fluid tsr_fluid;

/* With the built-in sky "day". The context must outlive it. RETURNS NEW. */
TSR_API tsr_status tsr_fluid_create(tsr_context *context, tsr_fluid **fluid) TSR_CHECKED;
TSR_API void tsr_fluid_destroy(tsr_fluid **fluid);

/* ---- particles ----------------------------------------------------------------------------------------------------------------- */

/* All arrays are memory of the fluid's context and are BORROWED until the call returns. */
typedef struct tsr_fluid_particles {
    size_t struct_size;
    int64_t count;           /* 0 is valid: nothing but the scene is drawn. At most 2^31 - 1 */
    const float *positions;  /* [count][3] */
    const float *radii;      /* [count], or NULL: all have `radius` */
    const float *densities;  /* [count], or NULL: all are dense */
    const float *velocities; /* [count][3], or NULL; for tsr_fluid_agitate */
    const float *shapes;     /* [count][6], or NULL: ellipsoids x^T Q x = radius^2, Q = xx, yy, zz, xy, xz, yz */
    double radius;           /* where there are no radii; above 0 */
    tsr_vec3 origin;         /* world = origin + position */
} tsr_fluid_particles;
#define TSR_FLUID_PARTICLES TSR_SIZED(tsr_fluid_particles)

/* ---- the look ------------------------------------------------------------------------------------------------------------------ */

typedef enum tsr_fluid_preset { TSR_FLUID_WATER = 0, TSR_FLUID_OIL, TSR_FLUID_MILK, TSR_FLUID_LAVA, TSR_FLUID_HONEY } tsr_fluid_preset;

/* What a fluid looks like. All fields count as they stand: begin with tsr_fluid_look_make. C = a (1 - F) + b F + specular (n . h)^shininess sun; a
 * goes from the scene behind to `color` as exp(-absorption thickness), seen through a picture that is shifted by the normal times refraction times
 * thickness. */
typedef struct tsr_fluid_look {
    size_t struct_size;
    float color[3];      /* of thick fluid */
    float absorption[3]; /* per world unit of thickness */
    float fresnel;       /* F at normal incidence, 0 to 1: water 0.02 */
    float specular, shininess;
    float refraction;          /* shares of the picture's height per world unit of thickness; shifts end at 0.25 */
    float matte;               /* share of `color` that is lit as a matte surface; the rest shines by itself, as scattered light does. 0 to 1 */
    float emission[3];         /* added where there is no foam */
    float foam[3];             /* reflectance of foam and spray */
    float foam_low, foam_high; /* |noise| + foam_fill times agitation at which foam begins and covers all */
    float foam_fill;           /* 0: the magnitude of the noise alone, as published */
    float bump;                /* how strongly noise bends normals */
    float noise;               /* amplitude of calm particles; 0 and agitated 0: no noise pass */
    float agitated;            /* of particles that were agitated just now */
    float noise_size;          /* radius of noise sprites in radii of particles; 0 = 2.5 */
} tsr_fluid_look;

/* The look of a preset for particles of this radius: lengths of the look are multiples of it. TSR_ERROR_ARGUMENT for a radius that is not above 0. */
TSR_API tsr_status tsr_fluid_look_make(tsr_fluid_preset preset, double radius, tsr_fluid_look *look) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_preset_parse(const char *name, tsr_fluid_preset *preset) TSR_CHECKED; /* "water", "oil", "milk", "lava", "honey" */

/* ---- light and what stands behind ---------------------------------------------------------------------------------------------- */

/* A built-in sky: "day", "sunset", "overcast", "studio", "night". `up` is the direction of its zenith in the world. TSR_ERROR_ARGUMENT lists the
 * names. */
TSR_API tsr_status tsr_fluid_set_sky(tsr_fluid *fluid, const char *name, tsr_vec3 up) TSR_CHECKED;
/* A panorama (equirectangular, row 0 towards `up`, its middle column along +x of the level frame): a host volume of f32, width x height x 3, linear light,
 * not negative and finite (tsr_panorama_read). COPIES. Its brightest place becomes the sun of highlights and shadows. */
TSR_API tsr_status tsr_fluid_set_panorama(tsr_fluid *fluid, const tsr_volume *map, tsr_vec3 up) TSR_CHECKED;
/* Turns the sky about `up`, degrees, and multiplies its light. */
TSR_API tsr_status tsr_fluid_adjust_sky(tsr_fluid *fluid, double turn, double level) TSR_CHECKED;

/* The level frame that belongs to `up`: x and y level, z = up; the world's own where up is z. */
TSR_API void tsr_fluid_level_axes(tsr_vec3 up, tsr_vec3 axes[3]);

typedef enum tsr_fluid_scenery {
    TSR_FLUID_SKY = 0, /* the sky alone */
    TSR_FLUID_FLOOR,   /* a checkered floor without end at bounds.lower along up */
    TSR_FLUID_ROOM,    /* a corridor: floor and those walls of the bounds that are farther from the eye, no ceiling */
    TSR_FLUID_PICTURE  /* color and distance are given */
} tsr_fluid_scenery;

typedef struct tsr_fluid_backdrop {
    size_t struct_size;
    tsr_fluid_scenery scenery;
    tsr_box bounds;           /* FLOOR, ROOM: in the level frame of the sky, which is that of the world where up is z */
    double check;             /* side of the floor's checks; 0 = an eighth of the larger level extent */
    const float *color;       /* PICTURE: [height][width][4] of the context, linear, premultiplied alpha: where it is below 1 the sky is behind */
    const float *distance;    /* [height][width], along the axis; +infinity or not above 0: nothing. NULL: all behind the fluid */
    int shadow;               /* != 0: the fluid takes light from the floor and the walls */
    tsr_box shadow_bounds;    /* of the particles, in the world: what casts shadows */
} tsr_fluid_backdrop;
#define TSR_FLUID_BACKDROP TSR_SIZED(tsr_fluid_backdrop)

/* ---- drawing ------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_fluid_smoother {
    TSR_FLUID_FLOW = 0,       /* curvature flow as published, explicit steps */
    TSR_FLUID_FLOW_EXACT,     /* with the exact normal: planes stay planes */
    TSR_FLUID_FLOW_IMPLICIT,  /* semi-implicit: tridiagonal systems along rows and columns, long steps */
    TSR_FLUID_FLOW_MULTIGRID, /* implicit, solved by multigrid cycles */
    TSR_FLUID_NARROW_RANGE,   /* Truong and Yuksel, 2018 */
    TSR_FLUID_BILATERAL,      /* two one-dimensional passes */
    TSR_FLUID_BILATERAL_TRUE, /* in two dimensions */
    TSR_FLUID_BILATERAL_GRID, /* in two dimensions, by a grid of cells: one width of sigma_space over the picture, that of the nearest fluid, at least
                               * 4 pixels (more for pictures larger than 1920 x 1080); fluid more than 128 sigma_depth behind the nearest stays as it is */
    TSR_FLUID_GAUSSIAN,
    TSR_FLUID_BINOMIAL,
    TSR_FLUID_UNSMOOTHED
} tsr_fluid_smoother;
/* "flow", "exact", "implicit", "multigrid", "narrow-range", "bilateral", "bilateral-true", "bilateral-grid",
 * "gaussian", "binomial", "none". */
TSR_API tsr_status tsr_fluid_smoother_parse(const char *name, tsr_fluid_smoother *smoother) TSR_CHECKED;

/* Bits of `given`: what is meant as it stands, although it is 0, which else means the default. */
typedef enum tsr_fluid_given { TSR_FLUID_GIVEN_ITERATIONS = 1, TSR_FLUID_GIVEN_THICKNESS_BLUR = 2 } tsr_fluid_given;

typedef struct tsr_fluid_options {
    size_t struct_size;
    int32_t width, height; /* of the picture, 1 to 16384 */
    int32_t resolution;    /* the fluid's passes work at 1 / resolution of it: 1, 2 or 4; 0 = 1 */
    tsr_fluid_smoother smoother;
    int32_t
        iterations; /* 0 = as many as look smooth: flow 100, 40, 15 at resolution 1, 2, 4; implicit 8, 4, 2; multigrid 2; filters 1 (binomial 20) */
    double step;    /* of flows: share of the largest stable step of each pixel; 0 = 0.9; above 1 is TSR_ERROR_ARGUMENT. Implicit and multigrid: the
                             * flow's time is that of `equal_iterations` such steps */
    int32_t equal_iterations; /* 0 = the flow's default */
    double global_step;       /* > 0: one dt for all pixels in place of `step`: checked against the bound of the nearest particle */
    double threshold;         /* depths that differ by more are different surfaces; 0 = 2 radii (flows) or 10 radii (narrow range) */
    double particle_scale;    /* particles are drawn so many times as large; 0 = 1 */
    double least_pixels;      /* smaller particles are drawn with such a radius and thinner; 0 = 0.75 */
    int sprites;              /* != 0: as discs that face the picture, which is exact for a narrow field of view alone */
    int anisotropic; /* != 0: particles without `shapes` become ellipsoids that follow the surface and move towards their neighbours' mean (Yu and Turk, 2013).
                             * Sums of floats: the same bits on every backend, but other orders of the particles differ in the last ones */
    double neighbour_reach; /* of ellipsoids, in radii; 0 = 4 */
    int32_t layers;         /* 1 to 4 surfaces behind one another; 0 = 1 */
    int32_t thickness_blur; /* passes of (1 2 1) / 4 over the thickness; 0 = 4 */
    int32_t thickness_step; /* 2: it is taken at every other pixel of every other row, and enlarged; 1: at every pixel; 0 = 2. Layers: always 1 */
    double sigma_space, sigma_depth; /* of filters, world units; 0 = radius (narrow range: 4 radii) */
    double foam_depth;               /* noise of particles so far below the surface is fainter by 1 / e, in radii; 0 = 1 */
    double noise_reach;              /* radius of noise sprites in radii; 0 = the look's */
    double spray_low,
        spray_high; /* densities: particles below the first are drawn as spray alone, above the second as fluid alone; both 0: no spray */
    double spray_size, spray_opacity; /* of spray sprites, in radii and 0 to 1; 0 = 0.7 and 0.5 */
    int curvature;                    /* != 0: the picture shows the curvature of the surface: black 0, green a hump, red a hollow, full where
                             * its radius is two diameters of a particle */
    int given;                        /* sum of tsr_fluid_given */
} tsr_fluid_options;
#define TSR_FLUID_OPTIONS TSR_SIZED(tsr_fluid_options)

typedef struct tsr_fluid_info {
    size_t struct_size;
    int64_t not_finite;                /* particles that were skipped: a number that is not finite, a radius or density below 0 */
    int64_t too_near;                  /* before or across the near plane */
    int64_t entries;                   /* particles in lists of tiles of 16 x 16 pixels, in all */
    int32_t width, height, iterations; /* of the fluid's passes, and of the smoother */
    int64_t covered;                   /* pixels of the fluid's passes that have fluid; -1: not counted (tsr_fluid_count counts) */
    int64_t device_bytes;              /* held by the fluid */
} tsr_fluid_info;
#define TSR_FLUID_INFO TSR_SIZED(tsr_fluid_info)

/* Draws one picture. `backdrop` NULL: the sky; `look` NULL: water for `radius`. The camera is a pinhole or orthographic, without a lens; clip[0], if
 * given, is the near plane. Results stay in the fluid until the next drawing. `info` may be NULL. TSR_ERROR_ARGUMENT for an option out of range,
 * TSR_ERROR_CAPACITY if particles cover more tiles than can be listed. */
TSR_API tsr_status tsr_fluid_draw(tsr_fluid *fluid, const tsr_fluid_particles *particles, const tsr_camera *camera,
                                  const tsr_fluid_backdrop *backdrop, const tsr_fluid_look *look, const tsr_fluid_options *options,
                                  tsr_fluid_info *info) TSR_CHECKED;

/* Agitation over a row of frames, by the particles' numbers: one whose velocity changed by more than `threshold` since the frame before is heated to
 * 1, others cool by exp(-seconds / cooling). A particle without a frame before is calm. velocities are needed. Applies to drawings that follow. */
TSR_API tsr_status tsr_fluid_agitate(tsr_fluid *fluid, const tsr_fluid_particles *particles, double seconds, double threshold,
                                     double cooling) TSR_CHECKED;

/* ---- results of the last drawing ------------------------------------------------------------------------------------------------- */

/* Images of the passes. Of the picture's size: DEPTH (surface, or the scene where that is nearer; +infinity: nothing), COLOR (4 channels). Of the
 * fluid's passes: the others. */
typedef enum tsr_fluid_image {
    TSR_FLUID_IMAGE_COLOR = 0,
    TSR_FLUID_IMAGE_DEPTH,
    TSR_FLUID_IMAGE_RAW_DEPTH, /* before smoothing; +infinity: no fluid */
    TSR_FLUID_IMAGE_SURFACE,   /* after it */
    TSR_FLUID_IMAGE_THICKNESS,
    TSR_FLUID_IMAGE_NORMAL,    /* 3 channels: eye coordinates, x right, y up, z towards the eye */
    TSR_FLUID_IMAGE_CURVATURE, /* 2 H per pixel, positive: a hump towards the eye */
    TSR_FLUID_IMAGE_NOISE,     /* sum of the particles' noise, which bends normals */
    TSR_FLUID_IMAGE_FOAM,      /* its magnitude, and the agitation: compared with foam_low and foam_high */
    TSR_FLUID_IMAGE_SPRAY,
    TSR_FLUID_IMAGES
} tsr_fluid_image;
/* Extents and channels; then downloads [height][width][channels] float32 to host memory, row 0 on top. Waits. TSR_ERROR_STATE before the first
 * drawing. */
TSR_API tsr_status tsr_fluid_image_shape(const tsr_fluid *fluid, tsr_fluid_image image, int32_t *width, int32_t *height,
                                         int32_t *channels) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_download(tsr_fluid *fluid, tsr_fluid_image image, float *values) TSR_CHECKED;
/* The picture, 8 bits sRGB, with a soft shoulder for what is brighter than white; `exposure` multiplies light, 0 = 1. RETURNS NEW pixels in *image.
 * */
TSR_API tsr_status tsr_fluid_picture(tsr_fluid *fluid, double exposure, tsr_image *image) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
