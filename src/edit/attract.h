/* edit/attract.h: the velocity towards a set of points: U = w grad P / |grad P|, P of reconstruct/potential.h, w = (1 - d^2 / radius^2)^2 with the
 * distance d of the nearest point (docs/theory/editing.md 7).
 *
 * Lengths are in units of the smallest spacing of the list, so that no power of a distance leaves float32 whatever the unit of length; the octree
 * lies over the places index * spacing. One warp or one call works for a block of 4^3 voxels, in two walks of reconstruct/potential.h's kind:
 *  - nearest: first the cells of at most a voxel bound the distance from above (the squared distance of a centroid and the largest variance of
 *    points in a cell); then the leaves that can be nearer than the worst bound of the block. A minimum over what is compared, with a margin for
 *    rounding where something is left out: the same bits whatever the order.
 *  - force: the gradient of the sum over the nodes the walk takes, term by term.
 * Exact class. */
#ifndef TSR_EDIT_ATTRACT_H
#define TSR_EDIT_ATTRACT_H

#include "tiles/tile_key.h"
#include "reconstruct/ball.h"
#include "solver/terms.h"
#include "reconstruct/potential.h"

typedef struct tsr_attract_params {
    tsr_potential_params potential; /* level: depth limit of the force; unit; far2 */
    double lower[3], scale;         /* fixed = (index * spacing - lower) * scale, world units */
    double spacing[3];
    float step[3]; /* spacings in units of the smallest */
    float half[3]; /* of a block, from its centre to its outermost voxels */
    float radius2;
    int32_t coarse; /* depth of the cells of the upper bounds */
    float spread;   /* the largest variance of the points of one of them */
} tsr_attract_params;

/* Centre of 2^log2_edge voxels a side from this one on, in fixed units. Beyond the cube it is the cube's border, which no point is near. */
TSR_HD void tsr_attract_centre(const tsr_attract_params *k, const int32_t voxel[3], int32_t log2_edge, uint32_t centre[3])
{
    const double half = 0.5 * (double)((1 << log2_edge) - 1);
    for (int32_t a = 0; a < 3; a++) centre[a] = tsr_fixed_from(((double)voxel[a] + half) * k->spacing[a], k->lower[a], k->scale);
}

/* Squared distance from a box round `centre` to the cell of a node, or to the centroid of a leaf. */
TSR_HD float tsr_attract_away2(const tsr_tree_centre *node, uint32_t depth, const uint32_t centre[3], const float half[3], float unit)
{
    const uint32_t side = TSR_FIXED_ONE >> (depth & 31u), mask = side - 1u, at[3] = { node->x, node->y, node->z };
    float sum = 0.0f;
    for (int32_t a = 0; a < 3; a++) {
        const uint32_t low = depth & TSR_TREE_LEAF ? at[a] : at[a] & ~mask, high = depth & TSR_TREE_LEAF ? at[a] : low + side;
        const float away = tsr_maxf(tsr_interval_away(low, high, centre[a], unit) - half[a], 0.0f);
        sum = sum + away * away;
    }
    return sum;
}
/* What the walk for the nearest point does with a node: -1 leaves it out with all below, 0 opens it, 1 takes it. */
TSR_HD int tsr_attract_look(const tsr_tree_centre *node, uint32_t depth, const uint32_t centre[3], const tsr_attract_params *k, int32_t limit,
                            float bound)
{
    if (tsr_attract_away2(node, depth, centre, k->half, k->potential.unit) > bound * 1.0001f) return -1;
    return (depth & TSR_TREE_LEAF) || (int32_t)(depth & 31u) >= limit;
}

/* grad of n d2^e at the offset d from n points is -2e of this times d: the factor is the same for all and goes when the direction is taken. */
TSR_HD float tsr_attract_force(float n, float d2, tsr_power power, float exponent)
{
    return tsr_potential_term(n, d2, power, exponent) * tsr_reciprocal(d2);
}

/* U as the payload keeps it; 0 beyond the radius. */
TSR_HD uint32_t tsr_attract_word(const float g[3], float nearest2, const tsr_attract_params *k)
{
    const float t = 1.0f - nearest2 / k->radius2, most = tsr_maxf(tsr_absf(g[0]), tsr_maxf(tsr_absf(g[1]), tsr_absf(g[2])));
    float u[3] = { 0.0f, 0.0f, 0.0f };
    if (!(t > 0.0f)) return 0;
    if (most > 0.0f) {
        for (int32_t a = 0; a < 3; a++) u[a] = g[a] / most;
        const float w = t * t / tsr_sqrt((u[0] * u[0] + u[1] * u[1]) + u[2] * u[2]);
        for (int32_t a = 0; a < 3; a++) u[a] = u[a] * w;
    }
    return tsr_pull_pack(u);
}

/* Is a tile within the radius of a point? */
TSR_HD int tsr_attract_within(const tsr_tree_view *tree, const tsr_attract_params *k, uint64_t key, int32_t log2_edge)
{
    const int32_t E = 1 << log2_edge, voxel[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    uint32_t centre[3];
    float half[3];
    tsr_attract_centre(k, voxel, log2_edge, centre);
    for (int32_t a = 0; a < 3; a++) half[a] = 0.5f * (float)(E - 1) * k->step[a];
    for (uint32_t node = 0; node < tree->nodes;) {
        const uint32_t depth = tree->walk[node].depth;
        if (tsr_attract_away2(&tree->centre[node], depth, centre, half, k->potential.unit) > k->radius2) node = tree->walk[node].skip;
        else if (depth & TSR_TREE_LEAF) return 1;
        else node++;
    }
    return 0;
}

#endif
