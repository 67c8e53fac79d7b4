/* tessera/depth_map.h: what the numbers of a depth image mean, and how to change between meanings.
 *
 * Inside the library a depth map is float32, [height][width], row 0 on top: d, the distance of the sample from the eye's plane along the axis of its
 * camera, in
 * world units; 0 where there is none. Files store other numbers; an encoding says which.
 * Class: exact (IEEE float64, rounded once to float32). Source: docs/theory/cameras.md. */
#ifndef TESSERA_DEPTH_MAP_H
#define TESSERA_DEPTH_MAP_H

#include "tessera/camera.h"
#include "tessera/mesh.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_depth_kind {
    TSR_DEPTH_EYE = 0,    /* d */
    TSR_DEPTH_NDC,        /* z / w of the camera's projection: -1 near, 1 far. PERSPECTIVE and ORTHOGRAPHIC want clip distances */
    TSR_DEPTH_WINDOW,     /* (z / w + 1) / 2: what a Z-buffer holds */
    TSR_DEPTH_EYE_LINEAR, /* (d - lo) / (hi - lo) */
    TSR_DEPTH_RADIAL,     /* distance along the ray */
    TSR_DEPTH_INVERSE,    /* (1/d - 1/hi) / (1/lo - 1/hi); with range 0 0 and no clip distances 1/d */
    TSR_DEPTH_DISPARITY   /* focal * baseline / d - shift, pixels */
} tsr_depth_kind;
TSR_API const char *
tsr_depth_kind_name(tsr_depth_kind kind); /* "eye", "ndc", "window", "eye_linear", "radial", "inverse", "disparity"; NULL for others */
TSR_API tsr_status tsr_depth_kind_parse(const char *name, tsr_depth_kind *kind) TSR_CHECKED;

/* All zero: d itself, in real numbers. Numbers of `bits` bits: EYE, RADIAL, DISPARITY are value * scale, the others value / (2^bits - 1) of their
 * range
 * (NDC: -1 + 2 value / (2^bits - 1)). */
typedef struct tsr_depth_encoding {
    tsr_depth_kind kind;
    int32_t bits;                  /* of integer files, 1 to 24; 0: real numbers */
    double range[2];               /* EYE_LINEAR, INVERSE: lo, hi; 0 0: the camera's clip distances */
    double scale;                  /* d (or radial distance, or disparity) per unit of the file; 0 = 1 */
    double baseline, focal, shift; /* DISPARITY: world units, pixels, pixels (the difference of the principal points, "doffs") */
    int background_is_valid;       /* != 0: samples on the far plane are surface; else they mean "nothing there" */
} tsr_depth_encoding;

typedef struct tsr_depth_report {
    size_t struct_size;
    int64_t samples, valid;
    int64_t not_numbers, behind, beyond, background; /* why others are not: NaN or infinite; d <= 0; outside the clip distances; on the far plane */
    double nearest, farthest;                        /* of the valid ones */
    double quantum; /* largest step of d between neighbouring stored values over the valid samples; 0: real numbers */
} tsr_depth_report;
#define TSR_DEPTH_REPORT TSR_SIZED(tsr_depth_report)

/* `values` [height][width] as the file has them (integers as they are) to d, 0 where a sample is not valid. May be the same array. `report` may be
 * NULL. The
 * camera's lens counts for RADIAL. TSR_ERROR_ARGUMENT for an encoding that lacks its numbers. */
TSR_API tsr_status tsr_depth_decode(const tsr_camera *camera, const tsr_depth_encoding *encoding, int32_t width, int32_t height, const float *values,
                                    float *d, tsr_depth_report *report) TSR_CHECKED;
/* The other way; integers are rounded to the nearest. What is not valid becomes the far end (bits, NDC, WINDOW, EYE_LINEAR) or 0. */
TSR_API tsr_status tsr_depth_encode(const tsr_camera *camera, const tsr_depth_encoding *encoding, int32_t width, int32_t height, const float *d,
                                    float *values) TSR_CHECKED;

/* A depth image as a pinhole without the camera's lens would have it: the nearest sample, never a mean; 0 beyond what the lens shows. d and straight
 * are
 * different arrays. */
TSR_API tsr_status tsr_depth_undistort(const tsr_camera *camera, int32_t width, int32_t height, const float *d, float *straight) TSR_CHECKED;

/* ---- meshes of depth maps ------------------------------------------------------------------------------------------------------------ */

/* From a depth map to a triangle mesh of few triangles, without cracks and within a tolerance.
 *
 * The four pixels round a place between pixels are a cell; cells of valid depths that may be joined are merged, four squares to one, while the surface
 * stays within the tolerance at every pixel: a region quadtree of cells. A leaf becomes two triangles, or a fan round its middle where finer leaves
 * beside it have corners on its edges, so that no vertex lies on an edge it is not part of (no T-junctions). Vertices are pixels at their own depth.
 * A plane is linear in inverse depth over the image of a pinhole: errors are judged there, and promised for the depth.
 * Class: exact (the same mesh for any number of threads). Works on the host. Source: QuadPyramid (Ziegler; Dimitrov). */

typedef struct tsr_depth_mesh_options {
    size_t struct_size;
    const tsr_camera *camera; /* BORROWS; without distortion: values are depths along its axis, above 0 (others are holes), vertices lie in its world, that of
                               * pixel (x, y) on the ray through (x + 1/2, y + 1/2). NULL: a height field: pixel (x, y) lies at index (x, y, 0), raised by
                               * the value along the third axis of the volume's geometry; only values that are not finite are holes */
    double disparity; /* above 0 (only with a pinhole): values are disparity / depth, that is, disparity = focal length x baseline */
    double tolerance; /* largest error of the depth (height) at any pixel of the mesh, world units; 0: only what is plane to the last bit merges */
    double discontinuity; /* neighbouring pixels whose depths differ by more are not joined: a hole. 0: all are joined */
    int32_t most_side;    /* largest leaf in pixels, a power of two; 0 = no limit */
    int32_t threads;      /* 0 = all */
    tsr_progress progress;
} tsr_depth_mesh_options;
#define TSR_DEPTH_MESH_OPTIONS TSR_SIZED(tsr_depth_mesh_options)

typedef struct tsr_depth_mesh_info {
    size_t struct_size;
    int64_t cells; /* that are joined: of two triangles each without merging */
    int64_t leaves, vertices, triangles;
    double max_error, rms_error; /* of the depth, over the pixels the mesh covers; max_error <= tolerance */
} tsr_depth_mesh_info;
#define TSR_DEPTH_MESH_INFO TSR_SIZED(tsr_depth_mesh_info)

/* BORROWS a host volume of extent z = 1, any element type. Triangles face the camera, or the positive third axis. `info` may be NULL. TSR_ERROR_ARGUMENT
 * for a map below 2 x 2 pixels, TSR_ERROR_STATE if nothing can be joined. Time: pixels times levels. RETURNS NEW host mesh. */
TSR_API tsr_status tsr_depth_mesh(const tsr_volume *depth, const tsr_depth_mesh_options *options, tsr_mesh **mesh,
                                  tsr_depth_mesh_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
