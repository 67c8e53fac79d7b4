/* light/light_scene.h: a scene as its text says it. */
#ifndef TSR_LIGHT_SCENE_H
#define TSR_LIGHT_SCENE_H

#include "light/light.h"

enum {
    TSR_SCENE_MATERIALS = 64,
    TSR_SCENE_SHAPES = 256,
    TSR_SCENE_LIGHTS = 16,
    TSR_SCENE_NAME = 64,
    TSR_SCENE_POINTS = 4096,
    TSR_SCENE_CURVE = 12,
    TSR_SCENE_PARTS = 64
};

typedef enum tsr_shape_kind {
    TSR_SHAPE_SPHERE = 0, /* centre, radius */
    TSR_SHAPE_ELLIPSOID,  /* centre, radii, exponent */
    TSR_SHAPE_BOX,        /* lower, upper, rounding */
    TSR_SHAPE_CYLINDER,   /* x, y, lower z, upper z, radius, rounding */
    TSR_SHAPE_TORUS,      /* centre, radius of the ring, of the tube; around z */
    TSR_SHAPE_REVOLVE,    /* x, y; a closed profile of r, z around z */
    TSR_SHAPE_STROKES,    /* a text of tubes: radius; segments */
    TSR_SHAPE_PRISM,      /* a closed outline of x, z from y0 to y1 */
    TSR_SHAPE_GRID        /* coverage from a mesh or a volume */
} tsr_shape_kind;

typedef struct tsr_scene_material {
    char name[TSR_SCENE_NAME];
    double index, absorb[3], scatter[3], g, emit[3], color[3];
    double noise_size, noise_contrast;
    uint64_t noise_seed;
    int opaque;
} tsr_scene_material;

typedef struct tsr_scene_shape {
    tsr_shape_kind kind;
    int32_t material;
    double p[8], low[3], high[3]; /* bounds */
    double offset[3];             /* of the scene within the scene that it comes from */
    double clip[2];               /* only what lies between these heights, if the second is above the first */
    double *points;               /* pairs (REVOLVE, PRISM) or six numbers a segment (STROKES) */
    int32_t count;                /* of pairs or segments */
    tsr_volume *grid;
    double shift[3], scale; /* of a grid: its index = (world - shift) * scale */
} tsr_scene_shape;

struct tsr_light_scene {
    double low[3], high[3], smooth;
    int32_t resolution, soft; /* soft: light goes through the soft edges of shapes instead of being refracted at their surfaces */
    tsr_scene_material material[TSR_SCENE_MATERIALS];
    tsr_scene_shape shape[TSR_SCENE_SHAPES];
    int32_t materials, shapes, lights, parts; /* parts: scenes within it */
    tsr_light_source light[TSR_SCENE_LIGHTS];
    tsr_image mask[TSR_SCENE_LIGHTS];
    tsr_light_panel panel[8];
    tsr_volume *map;
    tsr_camera camera;
    tsr_light_options options;
    tsr_light_view_options view;
    tsr_light_tone_options tone;
};

/* Distance to a shape's surface, negative inside; of a grid: coverage instead, 0 to 1. */
double tsr_scene_distance(const tsr_scene_shape *shape, const double p[3]);
/* Edges are as soft as a cubic B-spline, nearly a Gaussian, of `smooth` voxels would make them: how far they reach to either side, and the coverage at this distance. */
double tsr_scene_reach(double smooth);
double tsr_scene_cover(double distance, double reach);
/* The strokes of a character in a box of 4 x 6: pairs of digits "xy", polylines parted by '|'; NULL: it has none. */
const char *tsr_scene_strokes(char c);

#endif
