/* reconstruct/ball.h: distance to a union of balls, by the same octree: phi(x) = min over particles of |x - x_i| - r_i, in world units.
 *
 * A node is opened if its cell comes within `reach` of the block of voxels; a leaf stands for the particles of its cell: one ball round their
 * centroid with the largest of their radii (or the common radius). Exact class: minimum over the same leaves in the same order.
 * Source: docs/theory/reconstruction.md 9 (particles on this structure), fluid.md 2. */
#ifndef TSR_RECONSTRUCT_BALL_H
#define TSR_RECONSTRUCT_BALL_H

#include "reconstruct/points_tree.h"

typedef struct tsr_ball_params {
    int32_t level; /* voxels per axis: 2^level */
    float unit;    /* world units per fixed unit */
    float voxel;   /* world units */
    float radius;  /* of every particle; the tree's own radii count instead if it has them */
    float reach;   /* largest radius plus band */
    float band;    /* values are clamped to it */
} tsr_ball_params;

/* From the centre of a block to the farthest centroid that can matter to one of its voxels. */
TSR_HD float tsr_ball_reach(const tsr_ball_params *k) { return k->reach + 2.6f * k->voxel; }

/* Distance along one axis from an interval of fixed units [low, high) to a centre, in world units. */
TSR_HD float tsr_interval_away(uint32_t low, uint32_t high, uint32_t centre, float unit)
{
    int32_t below = (int32_t)(low - centre), above = (int32_t)(centre - high);
    int32_t away = below > 0 ? below : above > 0 ? above : 0;
    return (float)away * unit;
}
/* Can the cell of this node hold a particle within `reach` of the centre? */
TSR_HD int tsr_ball_near(const tsr_tree_centre *node, uint32_t depth, const uint32_t centre[3], float reach, float unit)
{
    const uint32_t side = TSR_FIXED_ONE >> depth, mask = side - 1u;
    const float x = tsr_interval_away(node->x & ~mask, (node->x & ~mask) + side, centre[0], unit);
    const float y = tsr_interval_away(node->y & ~mask, (node->y & ~mask) + side, centre[1], unit);
    const float z = tsr_interval_away(node->z & ~mask, (node->z & ~mask) + side, centre[2], unit);
    return (x * x + y * y) + z * z <= reach * reach;
}

/* Distance from the ball of a leaf, at an offset (world units) from the centre the leaf is seen from. */
TSR_HD float tsr_ball_distance(float dx, float dy, float dz, float radius) { return tsr_sqrt((dx * dx + dy * dy) + dz * dz) - radius; }

#endif
