/* surface/surface_ops.h: what a backend provides for marching cubes. All pointers in the grid are device memory of the queue. */
#ifndef TSR_SURFACE_SURFACE_OPS_H
#define TSR_SURFACE_SURFACE_OPS_H

#include "surface/cells.h"
#include "device/backend.h"

typedef struct tsr_surface_ops {
    /* Sides, counts, prefixes and totals: everything in the grids but samples. Several grids are of one volume. */
    tsr_status (*count)(tsr_queue *queue, tsr_surface_grid *grids, int32_t count);
    /* Vertices, normals and triangles of the active blocks. */
    tsr_status (*emit)(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_output *output);
    /* Releases what count took beside the grid's memory and returns its bytes; also after a failure. NULL: it takes nothing. */
    int64_t (*finish)(tsr_surface_grid *grid);
    /* Vertices and normals of `triangles` triangles one by one; to->triangles counts up. */
    tsr_status (*unindex)(tsr_queue *queue, const tsr_surface_output *from, int64_t triangles, const tsr_surface_output *to);
} tsr_surface_ops;

#endif
