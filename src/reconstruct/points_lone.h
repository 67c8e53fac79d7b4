/* reconstruct/points_lone.h: samples that have hardly another one near them (outliers), found in the sorted order of the octree's keys. */
#ifndef TSR_RECONSTRUCT_POINTS_LONE_H
#define TSR_RECONSTRUCT_POINTS_LONE_H

#include "tiles/tile_key.h"
#include "reconstruct/points_tree.h"

/* A point is lone that has fewer than `others` others near it; if not `least` points at least have so many, none is. Near is up to the side of a cell of
 * depth `cells`, which the tree finds. */
typedef struct tsr_lone_rule {
    int32_t others, cells;
    int32_t judged; /* != 0: points in a sheet are not lone, and `others` is the least: more where outliers are so dense that chance makes groups of them */
    int64_t least;
} tsr_lone_rule;

TSR_HD int tsr_points_near(const tsr_tree_build *b, int64_t i, int64_t j, int64_t reach)
{
    int64_t square = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t d = (int64_t)b->fixed[k][i] - (int64_t)b->fixed[k][j];
        if (d > reach || d < -reach) return 0; /* and its square, of half the cube, would not fit */
        square += d * d;
    }
    return square <= reach * reach;
}

/* Are there `others` or more near the point at place i of the sorted order? Those beside it in that order settle it for nearly all. */
TSR_HD int tsr_point_has_others(const tsr_tree_build *b, const tsr_lone_rule *rule, int64_t i)
{
    const int64_t reach = (int64_t)(TSR_FIXED_ONE >> rule->cells), beside = 2 * (int64_t)rule->others;
    const int64_t from = i > beside ? i - beside : 0, to = i + beside < b->points ? i + beside : b->points - 1;
    const int32_t shift = 3 * (b->depth - rule->cells);
    const uint32_t last = (1u << rule->cells) - 1u;
    int32_t found = 0;
    uint32_t cell[3];
    for (int64_t j = from; j <= to; j++) {
        found += j != i && tsr_points_near(b, i, j, reach);
        if (found >= rule->others) return 1;
    }
    found = 0;
    for (int k = 0; k < 3; k++) cell[k] = b->fixed[k][i] >> (TSR_FIXED_BITS - rule->cells);
    for (uint32_t d = 0; d < 27; d++) {
        uint64_t key;
        if (!tsr_cell_beside(cell, d, last, &key)) continue;
        const uint64_t first = key << shift, end = first + ((uint64_t)1 << shift);
        for (int64_t j = tsr_key_lower_bound(b->sorted, (int32_t)b->points, first); j < b->points && b->sorted[j] < end; j++) {
            found += j != i && tsr_points_near(b, i, j, reach);
            if (found >= rule->others) return 1;
        }
    }
    return 0;
}

#endif
