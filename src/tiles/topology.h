/* tiles/topology.h: the inside of a voxel set. */
#ifndef TSR_TILES_TOPOLOGY_H
#define TSR_TILES_TOPOLOGY_H

#include "tiles/topology_ops.h"
#include "tessera/tiles.h"

struct tsr_topology {
    tsr_context *context; /* of device memory; NULL: host memory */
    int64_t count, room;
    uint64_t *keys;             /* [room + 1], the one at count is TSR_KEY_END */
    uint64_t (*mask)[8];        /* [room + 1] */
    int32_t lower[3], upper[3]; /* of device memory: the least box that holds all tiles; upper < lower: there are none */
    int64_t voxels;             /* of device memory */
};

/* An empty one in host memory, or in that of the context's device. */
tsr_status tsr_topology_room(tsr_context *context, int64_t room, tsr_topology **topology);
/* One step of a set in device memory. */
tsr_status tsr_topology_device_step(const tsr_topology *from, int32_t neighbours, tsr_topology **dilated);

#endif
