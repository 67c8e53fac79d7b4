/* tessera/light.h: light through matter whose index of refraction varies: glass, water, amber, smoke, under lights that move.
 *
 * In two parts. The simulator sends a wavefront of every light, as patches of four particles that split as it spreads, through the volume and records in
 * every voxel how much light comes and from where; the floor below gathers what arrives there: shadows and caustics. The viewer marches curved rays from a
 * camera through the same volume and picks that light up. While light and matter keep their places, the view may change without a new simulation.
 *
 * Lengths are in world units where nothing else is said; the grid has cubic voxels along the world's axes, its value AT the index. z is up for the floor. Light
 * is linear r, g, b. Indices are relative to the surroundings, which have 1.
 * Class: the simulator is exact (the same bits on every backend); the viewer too. Sums of power are kept as whole numbers.
 * Source: Ihrke, Ziegler, Tevs, Theobalt, Magnor, Seidel, "Eikonal Rendering: Efficient Light Transport in Refractive Objects", ACM Transactions on
 * Graphics 26(3), 2007; what it leaves open stands in docs/theory/light.md. */
#ifndef TESSERA_LIGHT_H
#define TESSERA_LIGHT_H

#include "tessera/camera.h"
#include "tessera/io.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rays ---------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_light_integrator {
    TSR_LIGHT_RK4 = 0, /* Runge and Kutta, fourth order */
    TSR_LIGHT_RK2,     /* midpoint rule */
    TSR_LIGHT_EULER,
    TSR_LIGHT_VERLET, /* Stoermer and Verlet in tau, dt = n^2 dtau: symplectic; single rays only */
    TSR_LIGHT_LEAP /* half a step, the change of direction of a whole one, half a step: one look at the medium, second order, the same backwards; |v| = n always; waves only */
} tsr_light_integrator;
/* What a step is a step of. VERLET: of tau, whatever stands here. */
typedef enum tsr_light_parameter { TSR_LIGHT_TIME = 0 /* optical length, n ds */, TSR_LIGHT_LENGTH } tsr_light_parameter;

/* A ray: where it is, v = n d with its direction d, optical length so far. */
typedef struct tsr_light_ray {
    double position[3], speed[3], optical;
} tsr_light_ray;

/* Index of refraction (> 0) and its gradient at a place. */
typedef void (*tsr_light_index_function)(void *user, const double place[3], double *index, double gradient[3]);

/* `steps` steps of one ray, in float64 on the host: for media given by a formula. `project` != 0: |v| = n is restored before every step. Needs ray->speed of
 * length n at the start. TSR_ERROR_ARGUMENT for an index that is not above 0 on the way. */
TSR_API tsr_status tsr_light_ray_trace(tsr_light_index_function function, void *user, tsr_light_integrator integrator, tsr_light_parameter parameter,
                                       double step, int64_t steps, int project, tsr_light_ray *ray) TSR_CHECKED;

/* ---- matter -------------------------------------------------------------------------------------------------------------------- */

/* f32 or any real volumes of one size and geometry (axes of the world, cubic voxels), on the host or the context's device. BORROWED. NULL: none of it. */
typedef struct tsr_light_volumes {
    size_t struct_size;
    const tsr_volume *index;         /* > 0; NULL: 1 */
    const tsr_volume *extinction[3]; /* r, g, b per world unit: absorbed and scattered; >= 0 and at least `scattering` */
    const tsr_volume *scattering[3];
    const tsr_volume *emission[3]; /* radiance per world unit, >= 0 */
    const tsr_volume *asymmetry;   /* g of Henyey and Greenstein, -1 < g < 1 */
    const tsr_volume *opaque;      /* coverage, 0 to 1: from 1/2 on light stops */
    const tsr_volume *color[3];    /* reflectance of what is opaque, 0 to 1; NULL: 0.5 */
    double smooth; /* Gaussian of the index before its gradient is taken, in voxels: 0.5 to 1 is typical of volumes with sharp edges */
} tsr_light_volumes;

typedef struct tsr_light_matter tsr_light_matter;

/* Matter from volumes, of which at least one is given; gradients by central differences. TSR_ERROR_ARGUMENT, naming the volume and the voxel, for an index
 * that is not above 0, numbers that are not finite, a g outside (-1, 1), negative extinction. RETURNS NEW on the context's device. */
TSR_API tsr_status tsr_light_matter_create(tsr_context *context, const tsr_light_volumes *volumes, tsr_light_matter **matter) TSR_CHECKED;
TSR_API void tsr_light_matter_destroy(tsr_light_matter **matter);

typedef struct tsr_light_matter_info {
    size_t struct_size;
    tsr_size3 size;
    double voxel;   /* edge length, world units */
    tsr_box bounds; /* of the voxels, world units */
    double least_index, most_index;
    double empty; /* share of the blocks of 4^3 voxels where rays are straight and clear, which are passed without looking */
    int64_t bytes;
} tsr_light_matter_info;
#define TSR_LIGHT_MATTER_INFO TSR_SIZED(tsr_light_matter_info)
TSR_API tsr_status tsr_light_matter_describe(const tsr_light_matter *matter, tsr_light_matter_info *info) TSR_CHECKED;

/* Rays through matter, float32 on the device; speeds of any length are set to the index at the start. A step is `step` voxels of the parameter (default 0.5).
 * Rays end where they leave the volume for good, or after `steps`. In place. */
typedef struct tsr_light_trace_options {
    size_t struct_size;
    tsr_light_integrator integrator;
    tsr_light_parameter parameter;
    double step;   /* 0 = 0.5 */
    int64_t steps; /* 0 = 8 times the sum of the extents, over `step` */
    int no_projection;
} tsr_light_trace_options;
#define TSR_LIGHT_TRACE_OPTIONS TSR_SIZED(tsr_light_trace_options)
TSR_API tsr_status tsr_light_trace(tsr_context *context, const tsr_light_matter *matter, const tsr_light_trace_options *options, tsr_light_ray *rays,
                                   int64_t count) TSR_CHECKED;

/* ---- lights -------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_light_kind { TSR_LIGHT_DIRECTIONAL = 0, TSR_LIGHT_POINT, TSR_LIGHT_SPOT } tsr_light_kind;

typedef struct tsr_light_source {
    tsr_light_kind kind;
    double position[3];  /* POINT, SPOT */
    double direction[3]; /* DIRECTIONAL, SPOT: where it shines; any length but 0 */
    double color[3];     /* irradiance across the direction (DIRECTIONAL), power per steradian in world units (POINT, SPOT); >= 0 */
    double angle, soft;  /* SPOT: half angle of the cone, degrees in (0, 90); share of it over which it fades out, 0 to 1 */
    const tsr_image
        *mask; /* BORROWED: its picture is what shines, 1 or 3 channels, sRGB: across the square that covers the volume (DIRECTIONAL) or the cone
                            * (SPOT); NULL: even */
} tsr_light_source;

/* The floor: a plane of constant z below the volume, seen by the viewer, with its light. */
typedef struct tsr_light_ground {
    int present;
    double height;  /* z; at most the lower end of the volume */
    double extent;  /* edge of the square that gathers light, centred below the volume; 0 = twice the larger extent of the volume */
    int32_t texels; /* along its edge; 0 = 512 */
} tsr_light_ground;

typedef enum tsr_light_record {
    TSR_LIGHT_STRONGEST = 0, /* the strongest rays of each voxel */
    TSR_LIGHT_GATHER         /* all: fluence, and its mean direction */
} tsr_light_record;

typedef struct tsr_light_options {
    size_t struct_size;
    double cfl;                      /* step as a share of a voxel; 0 = 0.5; at most 1 */
    double extent;                   /* of a patch along any axis, voxels; 0 = 0.75 (1: as published, leaves holes in oblique waves) */
    tsr_light_integrator integrator; /* RK4, RK2, EULER, LEAP; scenes take LEAP unless they say `rk4` */
    int no_projection;               /* != 0: |v| = n is not restored in each step */
    int go_on;                       /* != 0: light goes on behind caustics; 0: it ends there, as published */
    tsr_light_record record;
    int32_t layers;   /* STRONGEST: how many rays from different directions a voxel keeps, 1 to 4; 0 = 1 */
    int32_t grid;     /* patches along an edge of the wave at the start; 0 = 64; 2 to 1024 */
    int64_t capacity; /* of the list of patches; 0 = 1048576; at most 2^26 - 1 */
    int32_t steps;    /* at most; 0 = 8000; below 16000 */
    int32_t rounds;   /* times a patch may be split in one step: 1 (as published) to 4; 0 = 4 */
    double faint; /* patches that carry less than this share of what a patch of the largest extent carries at first end; 0 = 1e-4, negative = none */
    double least_area; /* voxels squared: patches smaller than this count as so large when their irradiance is taken; 0 = 0.01 */
    double dispersion; /* 0: none; else three wavefronts, in which n - 1 is 1 - d, 1 and 1 + d times itself for r, g, b; below 0.5 */
    tsr_light_ground ground;
    tsr_progress progress;
    int no_fresnel; /* != 0: surfaces take nothing; 0: each takes the share that it reflects (Fresnel), which is not followed further */
} tsr_light_options;
#define TSR_LIGHT_OPTIONS TSR_SIZED(tsr_light_options)

/* Power is r, g, b in world units of light: irradiance times square world units. */
typedef struct tsr_light_power {
    double power[3];
    int64_t patches;
} tsr_light_power;
typedef struct tsr_light_report {
    size_t struct_size;
    tsr_light_power start;                                       /* of all patches that meet the volume, or the floor beside it */
    tsr_light_power left, landed, faint, caustic, torn, stopped; /* how patches ended: outside, on the floor, ... */
    tsr_light_power rest;                                        /* under way when the last step was done */
    double absorbed[3];                                          /* taken by the medium */
    double balance;                                              /* |start - all others| / start, the largest of r, g, b */
    int64_t steps, peak, moved, splits,
        crowded;               /* steps; most patches at a time; patches times steps; splits; splits left out since the list was full */
    double lit;                /* share of voxels that light met */
    double several, strongest; /* of these, lit from several directions; the strongest ray's share of their light. Needs 2 layers or more, else -1 */
    double seconds;
    double reflected[3]; /* taken by surfaces: what they reflect but for total reflection */
} tsr_light_report;
#define TSR_LIGHT_REPORT TSR_SIZED(tsr_light_report)

/* Light in every voxel. */
typedef struct tsr_light_field tsr_light_field;

/* Simulates all lights. `report` may be NULL. RETURNS NEW on the matter's device. TSR_ERROR_ARGUMENT for a light inside opaque matter, colours that are
 * negative, options out of range. Waits. */
TSR_API tsr_status tsr_light_simulate(tsr_context *context, const tsr_light_matter *matter, const tsr_light_source *sources, int32_t count,
                                      const tsr_light_options *options, tsr_light_field **field, tsr_light_report *report) TSR_CHECKED;
TSR_API void tsr_light_field_destroy(tsr_light_field **field);

/* The light as one f32 volume on the host and back: blocks of the matter's size one above the other in z: r, g, b of the irradiance, x, y, z of the direction in
 * which it travels, for every layer. Metadata light.layers says how many. The floor's light is not in it. RETURNS NEW. */
TSR_API tsr_status tsr_light_field_to_volume(tsr_context *context, const tsr_light_matter *matter, const tsr_light_field *field,
                                             tsr_volume **volume) TSR_CHECKED;
TSR_API tsr_status tsr_light_field_from_volume(tsr_context *context, const tsr_light_matter *matter, const tsr_volume *volume,
                                               tsr_light_field **field) TSR_CHECKED;
/* The floor's irradiance: f32, texels x texels x 3 (channels). TSR_ERROR_STATE without a floor. RETURNS NEW on the host. */
TSR_API tsr_status tsr_light_field_ground(tsr_context *context, const tsr_light_field *field, tsr_volume **light) TSR_CHECKED;

/* ---- view ---------------------------------------------------------------------------------------------------------------------- */

/* Lamps of a studio: rectangles of light in the distance, seen in reflections and through the matter. They light nothing by themselves. */
typedef struct tsr_light_panel {
    double direction[3];  /* towards the middle */
    double width, height; /* degrees */
    double color[3];      /* radiance */
} tsr_light_panel;

/* What is around: `map` where given, else a sky from `lower` by `horizon` to `upper`, with panels. */
typedef struct tsr_light_surroundings {
    double lower[3], horizon[3], upper[3]; /* radiance */
    const tsr_light_panel *panels;         /* BORROWED */
    int32_t panel_count;                   /* at most 8 */
    const tsr_volume *map; /* BORROWED host f32 panorama, width x height x 3 (channels): x to the right from -180 to 180 degrees around z, its middle
                             * towards +y, y down from the zenith; tsr_panorama_read */
    double turn;           /* of the map around z, degrees */
    double scale;          /* 0 = 1 */
} tsr_light_surroundings;

typedef struct tsr_light_floor_look {
    double color[3], second[3]; /* reflectance, of the squares by turns if `square` > 0 */
    double square;              /* edge of a square; 0: plain */
    double ambient[3];          /* light of the surroundings on the floor: irradiance / pi */
    double fade;                /* distance from the middle at which the floor has become the horizon; 0: none */
    double gloss;               /* mirror reflection at normal incidence, 0 to 1 */
} tsr_light_floor_look;

typedef struct tsr_light_view_options {
    size_t struct_size;
    int32_t width, height; /* 0 = 640 x 480 */
    double step;           /* voxels; 0 = 0.5 */
    int32_t samples;       /* rays per pixel; 0 = 1 */
    int32_t first_sample;  /* number of the first of them: for pictures that are made better step by step */
    double dispersion;     /* as of the simulation: three rays a pixel */
    int32_t reflections;   /* how often a ray is followed into its mirror image: 0 = 1, negative = none, at most 4 */
    int no_skipping;       /* != 0: empty space is marched through like all else (to measure what skipping gains) */
    double ambient[3];     /* radiance of surroundings that reaches matter everywhere, from all directions: scattered, and by opaque matter */
    tsr_light_surroundings surroundings;
    tsr_light_floor_look floor;
    const tsr_light_source *sources; /* BORROWED: the floor beyond its square is lit by these without shadow */
    int32_t source_count;
    tsr_progress progress;
} tsr_light_view_options;
#define TSR_LIGHT_VIEW_OPTIONS TSR_SIZED(tsr_light_view_options)

/* A picture of matter under the light of a field (NULL: none), radiance: f32, width x height x 3 (channels), on the context's device. Perspective and
 * orthographic cameras. RETURNS NEW. */
TSR_API tsr_status tsr_light_view(tsr_context *context, const tsr_light_matter *matter, const tsr_light_field *field, const tsr_camera *camera,
                                  const tsr_light_view_options *options, tsr_volume **picture) TSR_CHECKED;

/* From radiance to a screen: exposure from the logarithmic mean luminance (key / mean, adapting over time), Reinhard's curve with a white point, sRGB. */
typedef struct tsr_light_tone_options {
    size_t struct_size;
    double exposure;          /* > 0: this factor, no adaptation; 0: from the picture */
    double key;               /* grey that the mean becomes; 0 = 0.18 */
    double white;             /* luminance after exposure that becomes white; 0 = 4 */
    double *adapted;          /* in and out: mean luminance that the eye is used to, 0 at first; NULL: each picture by itself */
    double seconds, adaption; /* since the last picture; time constant, 0 = 0.5 s */
} tsr_light_tone_options;
#define TSR_LIGHT_TONE_OPTIONS TSR_SIZED(tsr_light_tone_options)
/* BORROWS the picture of tsr_light_view. RETURNS NEW pixels, 3 channels. */
TSR_API tsr_status tsr_light_tone(tsr_context *context, const tsr_volume *picture, const tsr_light_tone_options *options,
                                  tsr_image *image) TSR_CHECKED;

/* ---- scenes -------------------------------------------------------------------------------------------------------------------- */

/* A scene as a text: docs/formats/light-scene.md. */
typedef struct tsr_light_scene tsr_light_scene;

/* `folder`: where the files it names lie (NULL: the working directory). TSR_ERROR_FORMAT, naming `name` and the line. RETURNS NEW. */
TSR_API tsr_status tsr_light_scene_parse(const char *text, const char *name, const char *folder, tsr_light_scene **scene) TSR_CHECKED;
TSR_API tsr_status tsr_light_scene_read(const char *path, const tsr_read_options *options, tsr_light_scene **scene) TSR_CHECKED;
TSR_API void tsr_light_scene_destroy(tsr_light_scene **scene);
/* The scenes that come with the library: index 0, 1, ... until it returns 0. All strings are static. */
typedef struct tsr_light_scene_info {
    const char *name, *description, *text;
} tsr_light_scene_info;
TSR_API const tsr_light_scene_info *tsr_light_scene_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

/* What stands in it. Lights, camera, options of simulation and view; RETURN VIEW. */
TSR_API const tsr_light_source *tsr_light_scene_sources(const tsr_light_scene *scene, int32_t *count);
TSR_API const tsr_camera *tsr_light_scene_camera(const tsr_light_scene *scene);
TSR_API const tsr_light_options *tsr_light_scene_options(const tsr_light_scene *scene);
TSR_API const tsr_light_view_options *tsr_light_scene_view(const tsr_light_scene *scene);
TSR_API const tsr_light_tone_options *tsr_light_scene_tone(const tsr_light_scene *scene);
/* Its matter at `resolution` voxels along the longest extent (0: as the scene says). RETURNS NEW. */
TSR_API tsr_status tsr_light_scene_matter(tsr_context *context, const tsr_light_scene *scene, int32_t resolution, const tsr_progress *progress,
                                          tsr_light_matter **matter) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
