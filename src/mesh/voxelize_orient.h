/* mesh/voxelize_orient.h: the edges of a mesh, counted by places, and triangles turned so that neighbours face the same side. On the host. */
#ifndef TSR_MESH_VOXELIZE_ORIENT_H
#define TSR_MESH_VOXELIZE_ORIENT_H

#include "core/core.h"
#include "mesh/voxelize_math.h"

/* Kinds of edges as tsr_mesh_measures counts them. `odd`: edges of an odd number of triangles, twins counted once: with none, a row that leaves the mesh crosses it an even number
 * of times, whatever way the triangles face. */
typedef struct tsr_vox_edges {
    int64_t boundary, nonmanifold, misoriented, odd;
} tsr_vox_edges;

/* id[v] = number of the first vertex at the place of v. */
tsr_status tsr_vox_weld(const tsr_vox_grid *g, uint32_t *id);

enum { TSR_VOX_TWIN = 2 };

/* Counts the edges; turned[t] = 1 for triangles to be turned round, *count of them, TSR_VOX_TWIN for those that were there before, facing this way or that: they
 * are to be left out. Pieces joined by edges of two triangles are looked at alone: one whose
 * triangles agree, or cannot (a Moebius strip), stays as it is. Else they face the side that two thirds of its area face; where fewer agree, outwards, of a
 * piece inside an odd number of others inwards. g->corner and g->fixed are host memory here. Linear, beside pieces within pieces.
 * `all`: of a mesh whose edges fit. Closed pieces that face inwards are turned, but for those that lie within an odd number of others; nothing else is. */
tsr_status tsr_vox_orient(const tsr_vox_grid *g, const uint32_t *id, int all, tsr_vox_edges *edges, uint8_t *turned, int64_t *count);

#endif
