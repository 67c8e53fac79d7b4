/* reconstruct/reconstruct.h: the inside of a reconstruction (host part). */
#ifndef TSR_RECONSTRUCT_RECONSTRUCT_H
#define TSR_RECONSTRUCT_RECONSTRUCT_H

#include "mesh/points.h"
#include "solver/engine.h"
#include "reconstruct/potential_host.h"
#include "tessera/reconstruct.h"

/* Where P of a level comes from: the provider of the solver (docs/theory/reconstruction.md 4). */
typedef struct tsr_potential_source {
    tsr_context *context;        /* of the list */
    const tsr_points_tree *tree; /* on the same device, or on a CPU context: hybrid */
    tsr_potential_params params;
    int timed; /* the CPU does it: `seconds` adds up */
    double seconds;
    /* hybrid: pages in host memory on their way to the device */
    uint64_t *keys;
    float *pages, *device_pages;
    int64_t room; /* tiles */
    int32_t log2_edge, coded;
} tsr_potential_source;

tsr_payload_provider tsr_potential_provider(tsr_potential_source *source);
void tsr_potential_source_release(tsr_potential_source *source);

/* Options with their defaults, checked. */
tsr_status tsr_reconstruct_take(const tsr_reconstruct_options *options, tsr_reconstruct_options *own);
enum { POINTS_LEAST = 4 }; /* of a reconstruction */
/* The cube round the points: bounding box, margin; *flat if an extent is 0. Fails for fewer than `least` points or one that is not finite, in the name of
 * `who`. */
tsr_status tsr_reconstruct_frame(tsr_context *context, const tsr_points *points, const char *who, int64_t least, double margin, tsr_points_frame *frame,
                                 double *diagonal, int32_t *flat);
/* The octree of the points without lone ones (options.min_neighbours; tree->lone: how many), and the cube round the others: if that is much smaller than the
 * one round all points the tree is made again in it, and again without what is lone there. *diagonal, *flat: of the others. Fails for a cube that float32
 * cannot measure. RETURNS NEW. */
tsr_status tsr_reconstruct_octree(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options, tsr_points_frame *frame,
                                  double *diagonal, int32_t *flat, tsr_points_tree **tree);
/* Geometry of a level: voxel centres of 2^level voxels per axis of the cube. */
tsr_geometry tsr_reconstruct_geometry(const tsr_points_frame *frame, int32_t level, tsr_space space);
/* Mean |phi| at the samples of the tree and how many lie outside the band; `scratch` holds a float per point on the device. */
tsr_status tsr_reconstruct_error(const tsr_tiles *tiles, const tsr_points_tree *tree, int32_t level, float *scratch, double *mean, int64_t *outside);

/* Which samples are put back, and by what: balls of `radius` voxels of `level`. None if fewer than `worth` (1 or more) samples are beyond the band of the
 * surface, or more than `most` are missed and look like noise. */
typedef struct tsr_recapture_rule {
    int32_t level;
    double radius, least; /* least: distance from the surface from which samples count, world units */
    int64_t worth, most;
} tsr_recapture_rule;
/* What the surface of level `at` has left outside: balls, smaller beside the border, round the middles of the voxels that hold samples outside of it, without
 * those that have no company (outliers). `distance`: |phi| at the samples. RETURNS NEW points with radii, NULL if there are none. */
tsr_status tsr_recapture_find(const tsr_tiles *tiles, const tsr_points_tree *samples, const tsr_points_frame *frame, const tsr_reconstruct_level *at,
                              const tsr_recapture_rule *rule, const float *distance, tsr_points **missed);
/* The surface (float32, at `level`) with these balls, without what does not hang on it and without cavities. RETURNS NEW. */
tsr_status tsr_recapture_unite(const tsr_tiles *tiles, const tsr_points_frame *frame, int32_t level, const tsr_points *missed, tsr_tiles **united);
/* Balls (of up to 5 voxels, in Morton order) that meet are a group. Those of the groups that leave pieces, cavities and handles of `before` as they were when they alone become what they
 * are in `after`, which is changed within `reach` voxels of the balls: NULL if no group does, or all do. RETURNS NEW; *chosen of *groups. */
tsr_status tsr_recapture_harmless(const tsr_tiles *before, const tsr_tiles *after, const tsr_points_frame *frame, int32_t level, int32_t reach,
                                  const tsr_points *balls, tsr_points **harmless, int32_t *chosen, int32_t *groups);
/* The union of the balls of points with radii as a list like `like`, which has 2^level voxels per axis of the frame. RETURNS NEW. */
tsr_status tsr_particles_join(const tsr_tiles *like, const tsr_points_frame *frame, int32_t level, const tsr_points *points, tsr_tiles **balls);

#endif
