/* mesh/voxelize_ops.h: what a backend provides for mesh to level set, in the order of the calls. Pointers of the grid are device memory. */
#ifndef TSR_MESH_VOXELIZE_OPS_H
#define TSR_MESH_VOXELIZE_OPS_H

#include "device/backend.h"
#include "mesh/voxelize_math.h"

/* What the passes over the mesh find out. Device memory; every member is a minimum, a maximum or an integer sum: any order gives the same. */
typedef struct tsr_vox_summary {
    int64_t bad_vertex, bad_corner; /* first one that is not finite, first index out of range (3 triangle + corner); INT64_MAX */
    int64_t lower[3], upper[3];     /* box of all corners, local, as tsr_vox_order */
    int64_t rows;                   /* rows of tiles in the boxes of all triangles, about */
    int64_t degenerate;
    uint64_t edges; /* sum of the numbers of all directed edges: 0 if every edge has as many of either direction */
} tsr_vox_summary;

/* float64 as an integer of the same order, and back. */
TSR_HD int64_t tsr_vox_order(double v)
{
    int64_t i;
    memcpy(&i, &v, 8);
    return i < 0 ? i ^ INT64_MAX : i;
}
TSR_HD double tsr_vox_unorder(int64_t i)
{
    double v;
    if (i < 0) i ^= INT64_MAX;
    memcpy(&v, &i, 8);
    return v;
}

typedef struct tsr_voxelize_ops {
    /* Checks vertices and corners; lower and upper (of the triangles with good corners). */
    tsr_status (*survey)(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary);
    /* g->fixed, g->triangle, g->count (on a CPU g->few in place of g->triangle); summary's edges and degenerate. */
    tsr_status (*frames)(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary);
    /* g->key, g->owner of every triangle's tiles. */
    tsr_status (*pairs)(tsr_queue *queue, const tsr_vox_grid *g);
    /* g->head from g->sorted_key. */
    tsr_status (*heads)(tsr_queue *queue, const tsr_vox_grid *g);
    /* The list (tile t gets id 2 + t), squared distances in phi[0], own windings of the rows in phi[1] (int32), the tile's sums in g->before: of the
     * tiles from `begin` to before `end`. */
    tsr_status (*fill)(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool, int64_t begin, int64_t end);
    /* g->before becomes the winding where the row enters the tile; g->after. */
    tsr_status (*wind)(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool);
    /* The field, neighbours, pool->state->inside_absent. */
    tsr_status (*sign)(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool);
    /* A CPU counts instead of sorting where the box of tiles is not too large; NULL on devices. g->cell of every triangle's tiles, then of the holes; */
    tsr_status (*cells)(tsr_queue *queue, const tsr_vox_grid *g, const uint64_t *holes, int64_t hole_count);
    /* times[cell] = pairs of each of `cells`; returns how many have any; */
    int64_t (*count_cells)(const tsr_vox_grid *g, uint32_t *times, int64_t cells);
    /* from them g->start, g->tile_key and g->sorted_owner, in the order of the triangles, holes last. `times` is used up. */
    void (*deal)(const tsr_vox_grid *g, uint32_t *times, int64_t cells);
} tsr_voxelize_ops;

#endif
