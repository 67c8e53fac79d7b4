/* tessera/plane_sweep.h: depth from pictures: two that lie side by side, or any number whose cameras are known.
 *
 * A depth camera, which may be one of the views or free, is asked for the depth along each of its pixels' rays. Hypotheses of the depth are tried: the point is
 * looked up in all views, and where their colours agree best the surface is taken to be. Hypotheses lie evenly in z / w of the depth camera's clip coordinates:
 * for a pinhole evenly in 1 / depth, which is evenly in disparity. Three methods:
 *   STACK   from coarse to fine over stacks of box means (or Gaussians), one sample a view and hypothesis; the range of the search shrinks with the level
 *   MIPMAP  the same over halved pictures, several samples a place: as first published; needs a depth camera near the middle of the views
 *   VOLUME  all hypotheses at full resolution, costs of census codes, smoothed along 3, 4 or 8 paths, optionally refined with slanted windows
 * Views may have lens distortion, which is removed first. A depth is the distance along the depth camera's axis, world units.
 * Class: exact: the same bits on every backend and for every number of threads. Source: docs/theory/plane-sweep.md. */
#ifndef TESSERA_PLANE_SWEEP_H
#define TESSERA_PLANE_SWEEP_H

#include "tessera/camera.h"
#include "tessera/mesh.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_depth_method { TSR_DEPTH_STACK = 0, TSR_DEPTH_MIPMAP, TSR_DEPTH_VOLUME } tsr_depth_method;
/* How far apart the views' colours are. L2NORM, L1, SSD: of each view from the mean of all, by Euclid's norm, the sum of absolute values, the square. CENSUS:
 * places of a window whose order with its middle differs, ZNCC: 1 less the correlation of windows, both averaged over pairs of views. VOLUME has its own. */
typedef enum tsr_depth_cost { TSR_DEPTH_L2NORM = 0, TSR_DEPTH_L1, TSR_DEPTH_SSD, TSR_DEPTH_CENSUS, TSR_DEPTH_ZNCC } tsr_depth_cost;
typedef enum tsr_depth_filter { TSR_DEPTH_BOX = 0, TSR_DEPTH_GAUSS } tsr_depth_filter; /* of the stack; GAUSS: recursive, of the boxes' variances */
/* From level to level. BILATERAL: by the likeness of the first view's colours. */
typedef enum tsr_depth_upsampling { TSR_DEPTH_UPSAMPLING_DEFAULT = 0, TSR_DEPTH_NEAREST, TSR_DEPTH_BILINEAR, TSR_DEPTH_BILATERAL } tsr_depth_upsampling;
typedef enum tsr_depth_median { TSR_DEPTH_MEDIAN_3 = 0, TSR_DEPTH_MEDIAN_5, TSR_DEPTH_MEDIAN_NONE, TSR_DEPTH_MEAN_3 } tsr_depth_median;

/* A picture and where it was taken from. */
typedef struct tsr_depth_view {
    tsr_camera camera;
    const tsr_volume *image; /* BORROWS; u8, [height][width][channels], extent x is width times channels, on the context's device; sizes may differ */
    const tsr_volume *mask;  /* BORROWS; u8, [height][width], 0: the pixel does not count; NULL: all do */
} tsr_depth_view;

typedef struct tsr_plane_sweep_options {
    size_t struct_size;
    tsr_depth_method method;
    tsr_depth_cost cost;
    int32_t channels;               /* of all images: 1, 3 or 4 (the fourth is not looked at); 0 = 1 */
    int32_t width, height;          /* of the depth map; 0 = of the first image */
    double nearest, farthest;       /* range of depths, 0 < nearest < farthest (INFINITY: to the horizon); 0 0 = the depth camera's clip distances. A depth camera
                                     * of 16 numbers has its range in them, and takes no other */
    int32_t window;                 /* of census and correlation: 5 or 7 places wide; 0 = 5 */
    tsr_depth_filter filter;        /* STACK */
    tsr_depth_upsampling upsampling; /* default: nearest for STACK, bilinear for MIPMAP */
    tsr_depth_median median;        /* before a level's depths go on to the next */
    int32_t levels;                 /* beyond the full resolution; 0 = STACK: as many as leave boxes of a ninth of the smaller edge, at most 3; MIPMAP: to 16 places */
    int no_levels;                  /* != 0: full resolution alone */
    int32_t ratio;                  /* STACK: of the grids of neighbouring levels, 3 or 2; 0 = 3 */
    int32_t samples;                /* MIPMAP: of the edge of a place, 1 to 16; 0 = 4 */
    int32_t reach;                  /* finer levels try 2 reach + 1 hypotheses; 0 = 2 */
    double step;                    /* of the first level's hypotheses (VOLUME: of all), pixels of that level's views; 0 = 1/2 (VOLUME: 1) */
    int32_t hypotheses;             /* of the first level, in place of step; 0: by step */
    int32_t contributors;           /* views that must see a place; 0 = the larger of 2 and 3/10 of the views */
    int raw;                        /* != 0: sums of deviations as they are, which favours places that few views see; contributors 0 is then 1 */
    int no_parabola;                /* != 0: depths are those of hypotheses; else the last level's lie where a parabola through three scores is least */
    double dark;                    /* pixels whose luminance (0 to 255) is below do not count */
    double texture;                 /* pixels whose 3 x 3 neighbourhood varies by less (of 0 to 255) do not count */
    double flat;                    /* STACK, MIPMAP: where no hypothesis has a score above it the level before stays; negative: by the noise of the first view */
    double uniqueness;              /* a depth is valid if no other hypothesis (neighbours apart) has a score below (1 + uniqueness) times its own; 0 = not asked */
    double consistency;             /* > 0: the same from the first two views (those that are not the depth camera); depths that differ by more, as a share of
                                     * the depth, are not valid */
    int32_t paths;                  /* VOLUME: 3, 4 or 8; 0 = 4; -1: each pixel alone */
    int32_t p1, p2;                 /* VOLUME: penalties of a change by one hypothesis and by more, 1 to 64 and p1 to 127; 0 = 10, 80 */
    int32_t refinements;            /* VOLUME: turns of the search for slanted windows; 0 = none */
    uint64_t seed;                  /* of that search */
    int32_t shadows;                /* so often the surface that was found casts shadows in the views, and the sweep is made anew: where a hypothesis lies behind it,
                                     * a view does not contribute. For cameras far apart and STACK (VOLUME leaves out what disagrees anyway); views that are pinholes. 0 = never; at most 16 */
    double shadow_tolerance;        /* share of the distance by which it may lie behind; 0 = 0.02 */
    int disparity;                  /* != 0: result.disparity is made: of the first two views, in pixels: x in the first less x in the second */
    int scores;                     /* != 0: result.scores too (STACK, MIPMAP) */
    tsr_progress progress;
} tsr_plane_sweep_options;
#define TSR_PLANE_SWEEP_OPTIONS TSR_SIZED(tsr_plane_sweep_options)

/* All maps lie on the context's device, [height][width]. */
typedef struct tsr_depth_maps {
    size_t struct_size;
    tsr_volume *depth;     /* f32, 0 where not valid */
    tsr_volume *valid;     /* u8: 1 = valid */
    tsr_volume *score;     /* f32: how far apart the views are (VOLUME: path sums) */
    tsr_volume *count;     /* u8: views that contribute, at most 255 */
    tsr_volume *hypothesis; /* f32: t from 0 (far) to 1 (near), also where not valid; NAN where nothing was found */
    tsr_volume *state;     /* u8: 0 found at full resolution, 1 kept from a coarser level, 2 never found */
    tsr_volume *disparity; /* f32, NAN where not valid; NULL unless asked for */
    tsr_volume *scores;    /* f32, [height][width][hypotheses] of the last level, -1 = too few contributors; NULL unless asked for */
    int32_t levels, hypotheses; /* of the first level */
    double step;           /* of the last level, in t */
    int64_t valid_count;
} tsr_depth_maps;
#define TSR_DEPTH_MAPS TSR_SIZED(tsr_depth_maps)
TSR_API void tsr_depth_maps_destroy(tsr_depth_maps *maps); /* its volumes; NULL is fine */

/* Depth along the rays of `camera` from `count` views, two at least; NULL: the camera in the middle of all (tsr_camera_middle). `options` may be NULL. RETURNS NEW
 * maps. TSR_ERROR_ARGUMENT for fewer than two views, a range that is none, images or masks of wrong size or type, a matrix without an inverse, options out of
 * range; TSR_ERROR_STATE where no `contributors` views see any of the range in common: the message says how much of it each view sees. Waits for the device.
 * STACK and MIPMAP: time pixels x views x (2 reach + 1); VOLUME: pixels x hypotheses x views, memory 3 bytes x pixels x hypotheses. */
TSR_API tsr_status tsr_plane_sweep(tsr_context *context, const tsr_depth_view *views, int32_t count, const tsr_camera *camera,
                                   const tsr_plane_sweep_options *options, tsr_depth_maps *maps) TSR_CHECKED;

/* The camera in the middle: mean position, mean of the axes made orthonormal, projection and clip distances of the first. TSR_ERROR_ARGUMENT for axes that
 * cancel. */
TSR_API tsr_status tsr_camera_middle(const tsr_camera *cameras, int32_t count, tsr_camera *middle) TSR_CHECKED;

/* Clears valid where another depth map, of `other_camera`, says something else: the point is seen there at a pixel whose depth differs by more than
 * `tolerance`, as a share, or has none. Points that it does not see stay, or go if `seen` != 0. f32 depths and u8 valid, all on the context's device; changes
 * `valid` and sets depth to 0 there. Both cameras without distortion. */
TSR_API tsr_status tsr_depth_check(tsr_context *context, tsr_volume *depth, const tsr_camera *camera, const tsr_volume *other, const tsr_camera *other_camera,
                                   double tolerance, int seen, tsr_volume *valid) TSR_CHECKED;

/* The pixels of a depth map that have a depth as vertices of a mesh without triangles, in the world; coloured by `image` (BORROWS; u8, of the map's size times
 * channels, as above; may be NULL), and with unit normals towards the camera from neighbouring pixels' depths (0 where they have none). Host or device map.
 * RETURNS NEW host mesh. TSR_ERROR_STATE if no pixel has a depth. */
TSR_API tsr_status tsr_depth_vertices(const tsr_volume *depth, const tsr_camera *camera, const tsr_volume *image, int32_t channels, tsr_mesh **vertices) TSR_CHECKED;

/* ---- two pictures side by side ------------------------------------------------------------------------------------------------- */

typedef struct tsr_stereo_match_options {
    size_t struct_size;
    int32_t channels;            /* of both images: 1, 3 or 4; 0 = 1 */
    int32_t first, disparities;  /* first to first + disparities - 1 pixels are tried; disparities 0 = 64, at most 512; first may be negative */
    int32_t paths;               /* 3 (left, right, above: least memory on a CPU), 4 or 8; 0 = 4 */
    int32_t p1, p2;              /* penalties, 1 to 64 and p1 to 127; 0 = 10, 80; p2 is less where the picture has an edge */
    int32_t uniqueness;          /* per cent by which the best must beat all but its neighbours, 0 to 99; 0 = 5; -1 = not asked */
    int32_t consistency;         /* pixels by which both pictures' disparities may differ; 0 = 1; -1 = not asked */
    int fill;                    /* != 0: pixels that are not valid get the smaller of the next valid disparities of their row, then a median of 3 x 3 of all */
    int32_t reduce;              /* 2, 4 or 8: match pictures reduced by it (cheaper by its cube), disparities in pixels of the full ones; 0 = 1 */
    tsr_progress progress;
} tsr_stereo_match_options;
#define TSR_STEREO_MATCH_OPTIONS TSR_SIZED(tsr_stereo_match_options)

/* Disparities of the left of two rectified pictures of one size (u8, [height][width][channels], on the context's device): the pixel x of the left is seen at
 * x - disparity in the right. *disparity: f32 [height][width], NAN where not valid (fill: none). *valid (NULL: not wanted): u8, 1 where both pictures agree and no
 * other disparity is as good. RETURNS NEW. Waits for the device. Time and memory (3 or 5 bytes) pixels x disparities. */
TSR_API tsr_status tsr_stereo_match(tsr_context *context, const tsr_volume *left, const tsr_volume *right, const tsr_stereo_match_options *options,
                                    tsr_volume **disparity, tsr_volume **valid) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
