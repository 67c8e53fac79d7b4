/* levelset/potential_ops.h: what a backend provides for point clouds: building the octree, the potential in tiles, sampling a tile list. Pointers
 * are device memory; no call synchronises or allocates. */
#ifndef TSR_LEVELSET_POTENTIAL_OPS_H
#define TSR_LEVELSET_POTENTIAL_OPS_H

#include "device/backend.h"
#include "grid/tile_pool.h"
#include "levelset/ball.h"
#include "levelset/potential.h"

/* Box of the points that are finite; bad = index of the first that is not, or the number of points. */
typedef struct tsr_points_bounds { float lower[3], upper[3]; int64_t bad; } tsr_points_bounds;

/* Tiles whose pages are to be filled: tile t has id ids[t] (NULL: t), key keys[id] and the page of (2^log2_edge)^3 floats at pages + id * size. */
typedef struct tsr_page_list {
    const uint32_t *ids;
    const uint64_t *keys;
    const int32_t *count_at; /* where the number of tiles stands; NULL: count */
    int32_t count, log2_edge;
    float *pages;
} tsr_page_list;

/* Samples a list: points in fixed units of a cube that is the domain of the list, 2^level voxels per axis. */
typedef struct tsr_sample_job {
    const uint32_t *fixed[3];
    int64_t points;
    int32_t level;
    float *distance; /* [points] |phi|, trilinear */
} tsr_sample_job;

typedef struct tsr_potential_ops {
    tsr_status (*bounds)(tsr_queue *queue, const float *positions, int64_t points, tsr_points_bounds *bounds);
    /* The steps of building in their order; what lies between (sort, select, scans) is the caller's. */
    tsr_status (*keys)(tsr_queue *queue, const tsr_tree_build *build);               /* keys, order */
    tsr_status (*fixed)(tsr_queue *queue, const tsr_tree_build *build);              /* fixed, first */
    tsr_status (*leaves)(tsr_queue *queue, const tsr_tree_build *build, int32_t axis); /* leaf_sums[axis]; axis 0: also leaf_keys, radii, start[leaves] */
    tsr_status (*count)(tsr_queue *queue, const tsr_tree_build *build);              /* counts */
    tsr_status (*nodes)(tsr_queue *queue, const tsr_tree_build *build);              /* centre, walk, radius */

    tsr_status (*evaluate)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_potential_params *params, const tsr_page_list *pages);
    tsr_status (*balls)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_ball_params *params, const tsr_page_list *pages);
    tsr_status (*sample)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_job *job);
    /* Keys of the (2 reach + 1)^3 tiles round the cell of each leaf at `depth`, 64-bit tile keys (TSR_KEY_END beyond the domain of 2^depth tiles). */
    tsr_status (*tiles_round)(tsr_queue *queue, const tsr_tree_build *build, int32_t depth, int32_t reach, uint64_t *keys);
} tsr_potential_ops;

extern const tsr_potential_ops tsr_potential_cpu;

#endif
