/* reconstruct/potential_host.h: the octree over points as an object (host part). */
#ifndef TSR_RECONSTRUCT_POTENTIAL_HOST_H
#define TSR_RECONSTRUCT_POTENTIAL_HOST_H

#include "mesh/points.h"
#include "reconstruct/potential_ops.h"

typedef struct tsr_points_tree {
    tsr_context *context;
    tsr_points_frame frame;
    int64_t points, leaves;
    int64_t lone;     /* points left out, */
    tsr_points *kept; /* and then the others, in the order of the keys; NULL: all */
    uint32_t *fixed[3];      /* [points] positions in the order of the keys */
    tsr_tree_centre *centre; /* [view.nodes] */
    tsr_tree_walk *walk;
    float *radius;   /* NULL without radii */
    uint32_t *start; /* [leaves + 1]; NULL unless asked for */
    int keep_build;
    tsr_tree_view view;
} tsr_points_tree;

/* Octree of `depth` levels over points (device memory of the context, BORROWED; all finite). `radii` may be NULL. The same nodes whatever the order
 * of the points. Linear time; about 70 bytes per point on the way, 12 per point and 24 per node in the end (at most 2 nodes per point).
 * RETURNS NEW. */
tsr_status tsr_points_tree_create(tsr_context *context, const float *positions, const float *radii, int64_t points, const tsr_points_frame *frame,
                                  int32_t depth, int keep_starts, tsr_points_tree **tree);
/* The same without the points that are lone by `rule`: near is within 8 cells of the finest level or, where the points are sparser, within the side of coarser
 * cells that hold 8 points on average; if there is no such level from 2 on, none is lone. */
tsr_status tsr_points_tree_create_without_lone(tsr_context *context, const float *positions, int64_t points, const tsr_points_frame *frame, int32_t depth,
                                               const tsr_lone_rule *rule, tsr_points_tree **tree);
void tsr_points_tree_destroy(tsr_points_tree **tree);
int64_t tsr_points_tree_bytes(const tsr_points_tree *tree);

/* Checked parameters of an evaluation at `level` (epsilon in voxels of the level). */
tsr_status tsr_potential_prepare(double p, double epsilon, double theta, int32_t level, tsr_potential_params *params);
/* For places any distance from the points: theta as it is up to 32 voxels, less beyond, by the square root of the distance. Two blocks side by side open different
 * nodes; the step that makes in the distance that P stands for, which grows as the distance times the square of theta, so stays below a voxel, and the field
 * rises towards the points across it. */
void tsr_potential_from_afar(double theta, tsr_potential_params *params);
/* Sets what pages of 16 bits need: the range of log P of so many points in the cube. */
void tsr_potential_code_range(int64_t points, tsr_potential_params *params);

#endif
