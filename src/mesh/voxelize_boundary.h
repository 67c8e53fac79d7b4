/* mesh/voxelize_boundary.h: the boundary of an open mesh, made on the host. */
#ifndef TSR_MESH_VOXELIZE_BOUNDARY_H
#define TSR_MESH_VOXELIZE_BOUNDARY_H

#include "core/core.h"
#include "mesh/voxelize_open.h"

typedef struct tsr_vox_boundary {
    tsr_vox_edge *edge; /* [edges] closed curves one after the other */
    tsr_vox_node *node; /* [nodes] */
    int64_t edges, nodes, loops;
    int64_t *loop; /* [loops + 1] first edge of each */
} tsr_vox_boundary;

/* The edges that more triangles run along in one direction than in the other, as often as they do, in closed curves, and the tree over them.
 * g->faced and g->fixed are host memory here, id: tsr_vox_weld. Linear in triangles, b log b in boundary edges. Release with tsr_vox_boundary_free. */
tsr_status tsr_vox_boundary_make(const tsr_vox_grid *g, const uint32_t *id, tsr_vox_boundary *b);
void tsr_vox_boundary_free(tsr_vox_boundary *b);

/* Keys of the tiles across the holes, which the sign changes in though no triangle is near: those where the boundary adds a half turn.
 * g->edge and g->node are host memory here. At most `most` (then TSR_ERROR_CAPACITY). Free *keys. */
tsr_status tsr_vox_hole_tiles(const tsr_vox_grid *g, const tsr_vox_boundary *b, int64_t most, uint64_t **keys, int64_t *count);

#endif
