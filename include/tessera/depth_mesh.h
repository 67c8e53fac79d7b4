/* tessera/depth_mesh.h: from a depth map to a triangle mesh of few triangles, without cracks and within a tolerance.
 *
 * The four pixels round a place between pixels are a cell; cells of valid depths that may be joined are merged, four squares to one, while the surface
 * stays within the tolerance at every pixel: a region quadtree of cells. A leaf becomes two triangles, or a fan round its middle where finer leaves
 * beside it have corners on its edges, so that no vertex lies on an edge it is not part of (no T-junctions). Vertices are pixels at their own depth.
 * A plane is linear in inverse depth over the image of a pinhole: errors are judged there, and promised for the depth.
 * Class: exact (the same mesh for any number of threads). Works on the host. Source: QuadPyramid (Ziegler; Dimitrov). */
#ifndef TESSERA_DEPTH_MESH_H
#define TESSERA_DEPTH_MESH_H

#include "tessera/camera.h"
#include "tessera/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

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
#define TSR_DEPTH_MESH_OPTIONS                        \
    {                                                 \
        .struct_size = sizeof(tsr_depth_mesh_options) \
    }

typedef struct tsr_depth_mesh_info {
    int64_t cells; /* that are joined: of two triangles each without merging */
    int64_t leaves, vertices, triangles;
    double max_error, rms_error; /* of the depth, over the pixels the mesh covers; max_error <= tolerance */
} tsr_depth_mesh_info;

/* BORROWS a host volume of extent z = 1, any element type. Triangles face the camera, or the positive third axis. `info` may be NULL. TSR_ERROR_ARGUMENT
 * for a map below 2 x 2 pixels, TSR_ERROR_STATE if nothing can be joined. Time: pixels times levels. RETURNS NEW host mesh. */
TSR_API tsr_status tsr_depth_mesh(const tsr_volume *depth, const tsr_depth_mesh_options *options, tsr_mesh **mesh,
                                  tsr_depth_mesh_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
