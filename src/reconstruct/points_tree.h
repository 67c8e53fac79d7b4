/* reconstruct/points_tree.h: the octree over a point cloud as every backend sees it, and the arithmetic of building it.
 *
 * Positions are 31-bit fixed point numbers over a cube, so that every sum is an integer and no result depends on the order of the points or on
 * who adds first; differences of two positions are exact in 32 bits at every depth. Points of one cell of the finest level (2^depth cells per
 * axis) are one leaf: their count and centroid. The leaves are sorted by Morton key (x least significant); a leaf alone in a coarser cell stands
 * for that cell. Inner nodes have at least two children: a chain of cells with the same points is its smallest cell, which has the same count and
 * centroid and a sharper side.
 * Nodes lie in depth-first order: node + 1 is the first child of an inner node, walk.skip what follows the whole subtree.
 *
 * The tree is never searched from above to build it. Let c(i) be the depth of the smallest cell that holds leaves i - 1 and i (-1 before the first
 * and after the last). The nodes whose first leaf is i are the leaf itself and one inner node for each depth d > c(i) that is a minimum of c(i + 1),
 * c(i + 2), ... up to there: so each leaf finds its own nodes, and a scan of their numbers gives the places in depth-first order.
 * Sums of coordinates over a node are differences of two prefix sums.
 * Source: docs/theory/reconstruction.md 2, 3; Zhou, Gong, Huang, Guo 2011 and Karras 2012 for building from sorted keys. */
#ifndef TSR_RECONSTRUCT_POINTS_TREE_H
#define TSR_RECONSTRUCT_POINTS_TREE_H

#include "core/hd.h"
#include "tessera/mapping.h"

enum { TSR_FIXED_BITS = 31, TSR_TREE_DEPTH_MOST = 21 };
#define TSR_FIXED_ONE ((uint32_t)1 << TSR_FIXED_BITS)

/* The cube: fixed = (world - lower) * scale. */
typedef struct tsr_points_frame {
    double lower[3], side, scale;
} tsr_points_frame;

typedef struct tsr_tree_centre {
    uint32_t x, y, z, count;
} tsr_tree_centre; /* centroid, number of points */
typedef struct tsr_tree_walk {
    uint32_t skip, depth;
} tsr_tree_walk; /* depth of the cell; leaves carry TSR_TREE_LEAF */
#define TSR_TREE_LEAF 0x100u

typedef struct tsr_tree_view {
    const tsr_tree_centre *centre; /* [nodes] */
    const tsr_tree_walk *walk;
    const float *radius; /* [nodes] of leaves, world units; NULL if the points have none */
    uint32_t nodes;
    int32_t depth; /* of the finest cells */
} tsr_tree_view;

/* What building reads and writes; all arrays on the device. */
typedef struct tsr_tree_build {
    const float *positions; /* [points][3] as the caller gave them */
    const float *radii;     /* [points] or NULL */
    int64_t points, leaves;
    int32_t depth;
    tsr_points_frame frame;
    uint64_t *keys, *sorted;       /* [points] */
    uint32_t *order, *permutation; /* [points]: 0, 1, ...; sorted with the keys */
    uint32_t *fixed[3];            /* [points] in the order of the keys */
    uint8_t *first;                /* [points] 1 where a leaf begins */
    uint32_t *start;               /* [leaves + 1] */
    uint64_t *sums;                /* [points] exclusive prefix sums of one axis */
    uint64_t *leaf_keys;           /* [leaves] */
    uint64_t *leaf_sums[3];        /* [leaves + 1] */
    float *leaf_radii;             /* [leaves] or NULL */
    uint32_t *counts, *offsets;    /* [leaves + 1] nodes that begin at a leaf, and where they lie */
    tsr_tree_centre *centre;       /* [nodes] */
    tsr_tree_walk *walk;
    float *radius;
} tsr_tree_build;

TSR_HD uint32_t tsr_fixed_from(double world, double lower, double scale)
{
    double v = (world - lower) * scale;
    if (!(v > 0.0)) return 0;
    if (v >= (double)TSR_FIXED_ONE) return TSR_FIXED_ONE - 1u;
    return (uint32_t)v;
}

TSR_HD int tsr_point_finite(const float p[3])
{
    return (tsr_float_bits(p[0]) & 0x7f800000u) != 0x7f800000u && (tsr_float_bits(p[1]) & 0x7f800000u) != 0x7f800000u &&
           (tsr_float_bits(p[2]) & 0x7f800000u) != 0x7f800000u;
}

/* Of the low 21 bits of each. */
TSR_HD uint64_t tsr_morton(uint32_t x, uint32_t y, uint32_t z) { return tsr_morton3(x & 0x1fffffu, y & 0x1fffffu, z & 0x1fffffu); }

/* Key of neighbour d (0 to 26; 13 is the cell itself) of a cell whose coordinates go up to `last`; 0 if there is none. */
TSR_HD int tsr_cell_beside(const uint32_t cell[3], uint32_t d, uint32_t last, uint64_t *key)
{
    const uint32_t x = cell[0] + d % 3 - 1u, y = cell[1] + d / 3 % 3 - 1u, z = cell[2] + d / 9 - 1u;
    *key = tsr_morton(x, y, z);
    return x <= last && y <= last && z <= last;
}

/* Key of point i, which is finite. */
TSR_HD uint64_t tsr_point_key(const tsr_tree_build *b, int64_t i)
{
    uint32_t q[3];
    for (int k = 0; k < 3; k++)
        q[k] = tsr_fixed_from((double)b->positions[3 * i + k], b->frame.lower[k], b->frame.scale) >> (TSR_FIXED_BITS - b->depth);
    return tsr_morton(q[0], q[1], q[2]);
}

/* The point at place i of the sorted order: its position, and whether a leaf begins with it. */
TSR_HD void tsr_point_fixed(const tsr_tree_build *b, int64_t i)
{
    const float *p = b->positions + 3 * (int64_t)b->permutation[i];
    for (int k = 0; k < 3; k++) b->fixed[k][i] = tsr_fixed_from((double)p[k], b->frame.lower[k], b->frame.scale);
    b->first[i] = i == 0 || b->sorted[i] != b->sorted[i - 1];
}

/* Depth of the smallest cell that holds two different keys of `depth` digits. */
TSR_HD int32_t tsr_common_depth(uint64_t a, uint64_t b, int32_t depth)
{
    uint64_t different = a ^ b;
    int32_t high = 0; /* position of the highest bit */
    for (int32_t step = 32; step > 0; step >>= 1)
        if (different >> (high + step)) high += step;
    return depth - 1 - high / 3;
}
/* c(i) of the head of this file. */
TSR_HD int32_t tsr_leaf_common(const tsr_tree_build *b, int64_t i)
{
    return i <= 0 || i >= b->leaves ? -1 : tsr_common_depth(b->leaf_keys[i - 1], b->leaf_keys[i], b->depth);
}

/* First leaf after i that is not in the cell of depth d around i: steps double, then halve, because most cells are small. */
TSR_HD int64_t tsr_leaf_end(const tsr_tree_build *b, int64_t i, int32_t d)
{
    const int32_t shift = 3 * (b->depth - d);
    const uint64_t cell = b->leaf_keys[i] >> shift;
    int64_t inside = i, step = 1;
    while (inside + step < b->leaves && b->leaf_keys[inside + step] >> shift == cell) {
        inside += step;
        step *= 2;
    }
    for (; step > 0; step >>= 1)
        if (inside + step < b->leaves && b->leaf_keys[inside + step] >> shift == cell) inside += step;
    return inside + 1;
}

/* Number of nodes that begin at leaf i. */
TSR_HD uint32_t tsr_leaf_nodes(const tsr_tree_build *b, int64_t i)
{
    const int32_t above = tsr_leaf_common(b, i);
    uint32_t count = 1;
    for (int32_t d = tsr_leaf_common(b, i + 1); d > above; count++) d = tsr_leaf_common(b, tsr_leaf_end(b, i, d));
    return count;
}

TSR_HD void tsr_node_write(const tsr_tree_build *b, uint32_t node, int64_t begin, int64_t end, uint32_t depth)
{
    const uint64_t count = b->start[end] - b->start[begin];
    tsr_tree_centre centre = { (uint32_t)((b->leaf_sums[0][end] - b->leaf_sums[0][begin]) / count),
                               (uint32_t)((b->leaf_sums[1][end] - b->leaf_sums[1][begin]) / count),
                               (uint32_t)((b->leaf_sums[2][end] - b->leaf_sums[2][begin]) / count), (uint32_t)count };
    tsr_tree_walk walk = { b->offsets[end], depth };
    b->centre[node] = centre;
    b->walk[node] = walk;
    if (b->radius) b->radius[node] = depth & TSR_TREE_LEAF ? b->leaf_radii[begin] : 0.0f;
}
/* Writes the nodes that begin at leaf i, from the smallest to the largest. */
TSR_HD void tsr_leaf_write(const tsr_tree_build *b, int64_t i)
{
    const int32_t above = tsr_leaf_common(b, i);
    uint32_t node = b->offsets[i + 1] - 1u;
    int32_t d = tsr_leaf_common(b, i + 1);
    int32_t own = (d > above ? d : above) + 1; /* where the leaf is alone */
    tsr_node_write(b, node, i, i + 1, (uint32_t)own | TSR_TREE_LEAF);
    while (d > above) {
        int64_t end = tsr_leaf_end(b, i, d);
        tsr_node_write(b, --node, i, end, (uint32_t)d);
        d = tsr_leaf_common(b, end);
    }
}

/* The leaf's part of the arrays of leaves: key, first point, sums of the current axis (0 to 2), largest radius. */
TSR_HD void tsr_leaf_gather(const tsr_tree_build *b, int64_t i, int32_t axis)
{
    if (i == b->leaves) { /* one past the last */
        b->start[i] = (uint32_t)b->points;
        b->leaf_sums[axis][i] = b->sums[b->points - 1] + b->fixed[axis][b->points - 1];
        return;
    }
    b->leaf_sums[axis][i] = b->sums[b->start[i]];
    if (axis != 0) return;
    b->leaf_keys[i] = b->sorted[b->start[i]];
    if (!b->leaf_radii) return;
    float largest = 0.0f;
    const int64_t end = i + 1 < b->leaves ? b->start[i + 1] : b->points;
    for (int64_t k = b->start[i]; k < end; k++) largest = tsr_maxf(largest, b->radii[b->permutation[k]]);
    b->leaf_radii[i] = largest;
}

#endif
