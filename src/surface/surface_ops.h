/* surface/surface_ops.h: what a backend provides for marching cubes. All pointers in the grid are device memory of the queue. */
#ifndef TSR_SURFACE_SURFACE_OPS_H
#define TSR_SURFACE_SURFACE_OPS_H

#include "surface/cells.h"
#include "surface/gather.h"
#include "surface/tetrahedra.h"
#include "surface/tracker_math.h"
#include "surface/view_order.h"
#include "device/backend.h"

typedef struct tsr_surface_ops {
    /* Sides, counts, prefixes and totals: everything in the grids but samples. Several grids are of one volume. */
    tsr_status (*count)(tsr_queue *queue, tsr_surface_grid *grids, int32_t count);
    /* The totals of grid number `number` of those counted last, as soon as they are known. */
    tsr_status (*totals)(tsr_queue *queue, const tsr_surface_grid *grid, int32_t number, tsr_surface_totals *totals);
    /* count, emit and totals without a wait in between, or NULL: the mesh is written to `room` (list_words: as many as are expected) if it fits,
     * which the totals tell; else nothing is. */
    tsr_status (*extract)(tsr_queue *queue, tsr_surface_grid *grid, const tsr_surface_output *room, tsr_surface_totals *totals);
    /* Vertices, normals and triangles of the active blocks. */
    tsr_status (*emit)(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_output *output);
    /* Releases what count took beside the grid's memory and returns its bytes; also after a failure. NULL: it takes nothing. */
    int64_t (*finish)(tsr_surface_grid *grid);
    /* Vertices and normals of `triangles` triangles one by one; to->triangles counts up. */
    tsr_status (*unindex)(tsr_queue *queue, const tsr_surface_output *from, int64_t triangles, const tsr_surface_output *to);
    /* What changed since the last look, and whose triangles that reaches: `work` as filled in by the tracker. */
    tsr_status (*look)(tsr_queue *queue, const tsr_surface_look *look);
    /* Sides, prefixes and counts of some tiles of a grid by id, their number of vertices and triangles (TSR_COUNT_SHIFT) into some->counts. */
    tsr_status (*count_some)(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some);
    /* Empties the gaps, then their vertices and triangles go to their places. */
    tsr_status (*emit_some)(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some, const tsr_surface_output *output);
    /* Keys of the triangles in the order of a view; the triangles in sorted order. */
    tsr_status (*view_keys)(tsr_queue *queue, const tsr_view_job *job);
    tsr_status (*view_move)(tsr_queue *queue, const tsr_view_job *job);
    /* The sides of a dense volume alone, and the NaN samples into its totals, which are clear. */
    tsr_status (*sides)(tsr_queue *queue, const tsr_surface_grid *grid);
    /* Triangles without an index: the counts of all cells; of the listed ones; the triangles. */
    tsr_status (*gather_count)(tsr_queue *queue, const tsr_gather_job *job);
    tsr_status (*gather_listed)(tsr_queue *queue, const tsr_gather_job *job);
    tsr_status (*gather_write)(tsr_queue *queue, const tsr_gather_job *job);
    /* Unstructured grids: cut edges, triangles of the tetrahedra and points that are NaN (added up); vertices and triangles. */
    tsr_status (*tetra_count)(tsr_queue *queue, const tsr_tetra_job *job);
    tsr_status (*tetra_write)(tsr_queue *queue, const tsr_tetra_job *job);
} tsr_surface_ops;

#endif
