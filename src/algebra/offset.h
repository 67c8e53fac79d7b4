/* algebra/offset.h: the surface a distance away, by exact distances to where the lattice crosses the surface.
 *
 * Crossings lie in cells of 4^3 voxels, and cells in nodes of 8^3, 16^3, ... voxels. A block of voxels of the result goes down the same levels with the nodes that
 * may hold what is nearest to one of its voxels, so that few are left for each voxel, however far the surface is. */
#ifndef TSR_ALGEBRA_OFFSET_H
#define TSR_ALGEBRA_OFFSET_H

#include <math.h>

#include "device/isa.h"
#include "tiles/tiles.h"

enum { TSR_OFFSET_CELL = 2, TSR_OFFSET_TOP = 6, TSR_OFFSET_LEVELS = TSR_OFFSET_TOP - TSR_OFFSET_CELL + 1, TSR_OFFSET_LANES = 8 };

/* Crossings of a cell, or nodes of the level below. */
typedef struct tsr_offset_node {
    float low[3], high[3]; /* of the crossings in it, */
    float middle[3];       /* and one of them */
    int32_t first, count;
    float normal[3], top;    /* of a cell: none of its crossings lies beyond `top` along the normal, */
    float centre[3], radius; /* nor further beside the line through the centre; of other nodes both have no end */
} tsr_offset_node;

/* No crossing of the node is nearer to the place than the root of this. */
TSR_INLINE float tsr_offset_least(const tsr_offset_node *n, float x, float y, float z)
{
    const float bx = tsr_maxf(tsr_maxf(n->low[0] - x, x - n->high[0]), 0.0f), by = tsr_maxf(tsr_maxf(n->low[1] - y, y - n->high[1]), 0.0f),
                bz = tsr_maxf(tsr_maxf(n->low[2] - z, z - n->high[2]), 0.0f), box = bx * bx + by * by + bz * bz;
    const float cx = x - n->centre[0], cy = y - n->centre[1], cz = z - n->centre[2], along = cx * n->normal[0] + cy * n->normal[1] + cz * n->normal[2];
    const float beside = cx * cx + cy * cy + cz * cz - along * along, above = tsr_maxf(along - n->top, 0.0f);
    const float side = tsr_maxf(sqrtf(tsr_maxf(beside, 0.0f)) - n->radius, 0.0f), slab = (above * above + side * side) * 0.9998f;
    return tsr_maxf(box, slab);
}

/* The surface, in world units from voxel 0, outside seen from where the result goes. */
typedef struct tsr_offset_surface {
    int64_t count;
    float *at[3], *normal[3], *bent; /* crossings: place, unit normal, mean of the principal curvatures */
    tsr_offset_node *node[TSR_OFFSET_LEVELS];
    int64_t nodes[TSR_OFFSET_LEVELS];
} tsr_offset_surface;

/* sign: 1, or -1 for the field with its sides changed. `spacing`: 0 along a flat axis. The list lies in the host's memory. */
tsr_status tsr_offset_surface_take(const tsr_tiles *tiles, float sign, const float spacing[3], tsr_offset_surface *surface);
void tsr_offset_surface_drop(tsr_offset_surface *surface);

/* The crossings of `count` cells that are nearer to the voxels at x, y, z than those of which `nearest` has the numbers and `square` the squares of the distances. */
TSR_ISA_DECLARE(void, tsr_offset_nearest, const tsr_offset_surface *s, const int32_t *cells, int32_t count, const float at[3][TSR_OFFSET_LANES],
                float square[TSR_OFFSET_LANES], int32_t nearest[TSR_OFFSET_LANES])

#endif
