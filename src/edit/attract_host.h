/* edit/attract_host.h: what a set of points does to a list of tiles (host part): octree, numbers, and the box of tiles within reach. */
#ifndef TSR_EDIT_ATTRACT_HOST_H
#define TSR_EDIT_ATTRACT_HOST_H

#include "edit/attract_ops.h"
#include "reconstruct/potential_host.h"
#include "tessera/edit.h"

enum { TSR_ATTRACT_RING = 8 }; /* voxels round the radius that move along */

typedef struct tsr_attract_field {
    tsr_context *context;
    tsr_points_tree *tree;
    tsr_attract_params params;
    int32_t log2_edge, low[3], high[3]; /* of the list; its tiles that may be within reach (none if low > high) */
} tsr_attract_field;

/* `pool` tells spacing, edge and limits of the keys; the attraction is checked already. */
tsr_status tsr_attract_open(tsr_context *context, const tsr_tile_pool *pool, const tsr_attraction *attraction, tsr_attract_field *field);
void tsr_attract_close(tsr_attract_field *field);
/* tsr_attract_within of tiles with these keys (host memory, both). */
tsr_status tsr_attract_tiles_within(const tsr_attract_field *field, const uint64_t *keys, int64_t count, uint8_t *within);

#endif
