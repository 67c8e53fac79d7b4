/* mesh/voxelize_absent.h: the space around the tiles of an open mesh, whose sign changes where no triangle is: which tiles are missing there, and what the
 * absent ones are. On the host; integers and the exact sums of voxelize_open.h: the same for every backend. */
#ifndef TSR_MESH_VOXELIZE_ABSENT_H
#define TSR_MESH_VOXELIZE_ABSENT_H

#include "core/core.h"
#include "mesh/voxelize_open.h"

/* A list as it was made: host memory. */
typedef struct tsr_vox_around {
    const tsr_vox_grid *g; /* edge and node are host memory; of the rest numbers only */
    int32_t threads;
    int64_t tiles;
    const uint64_t *key;         /* [tiles] increasing */
    const uint64_t (*face)[6];   /* [tiles] tsr_vox_face */
    const int32_t *entry, *exit; /* [tiles][edge^2] winding numbers of the rows where they enter and leave the tile */
    int32_t lower[3], upper[3];  /* tiles that may be added */
} tsr_vox_around;

/* Keys of tiles that the surface passes through and that are not stored, followed from tile to tile: outside of the triangles a winding number has no maxima,
 * so that every part of the surface hangs on them. At most `most` (then TSR_ERROR_CAPACITY). Free *keys. */
tsr_status tsr_vox_missing(const tsr_vox_around *a, int64_t most, uint64_t **keys, int64_t *count);

/* A side whose voxels must have this sign: a sum over the tree, rounded one way here and another way there, told it differently. */
typedef struct tsr_vox_forced {
    int64_t tile;
    int32_t side, inside;
} tsr_vox_forced;

/* Constants of the absent tiles around every stored one: constant[tile] has bit d if the one in direction d is inside. What hangs together without a tile
 * between has one sign, that of most of the voxels around it; what is not enclosed is outside. Where voxels around it have another one their side comes into
 * *forced (free it). *inside: tiles absent and inside between two tiles of a row. */
tsr_status tsr_vox_absent_signs(const tsr_vox_around *a, uint32_t *constant, tsr_vox_forced **forced, int64_t *count, int64_t *inside);

#endif
