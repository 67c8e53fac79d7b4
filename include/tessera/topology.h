/* tessera/topology.h: which voxels are there, without values: one bit a voxel in sorted tiles of 8^3. What OpenVDB calls the topology of a grid:
 * the active set of a level set, its dilation, the region a brush touches. In host memory, where the threads of the context work, or in that of a device.
 * Source: dilation of a sorted list, docs/theory/tiles.md 5. Class: exact, the same on every device and for any number of threads. */
#ifndef TESSERA_TOPOLOGY_H
#define TESSERA_TOPOLOGY_H

#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_topology tsr_topology;

/* The active voxels (strictly inside the band, in the domain) of a list on any device; waits for its queue. RETURNS NEW. */
TSR_API tsr_status tsr_topology_of_tiles(const tsr_tiles *tiles, tsr_topology **topology) TSR_CHECKED;
/* From parts: COPIES. Tiles in strictly increasing order (z most significant), mask[i][z] bit 8 y + x. Empty tiles are left out. RETURNS NEW. */
TSR_API tsr_status tsr_topology_create(int64_t count, const int32_t (*coordinates)[3], const uint64_t (*mask)[8], tsr_topology **topology) TSR_CHECKED;
/* In the memory of the context's device, or of the host (NULL, or a context of the CPU). KEEPS context. RETURNS NEW. */
TSR_API tsr_status tsr_topology_copy(const tsr_topology *topology, tsr_context *context, tsr_topology **copy) TSR_CHECKED;
TSR_API void tsr_topology_destroy(tsr_topology **topology);

typedef struct tsr_topology_info { int64_t tiles, voxels, bytes; } tsr_topology_info;
TSR_API void tsr_topology_describe(const tsr_topology *topology, tsr_topology_info *info);
/* To host memory; both may be NULL; [tiles] each. Waits for the queue of a device. */
TSR_API tsr_status tsr_topology_download(const tsr_topology *topology, int32_t (*coordinates)[3], uint64_t (*mask)[8]) TSR_CHECKED;

/* All voxels within `steps` steps to a neighbour: faces = 6 neighbours a step, 18 with edges, 26 with corners. Linear in the tiles of the
 * result, on a device also in the box around its tiles (half a byte for each place; TSR_ERROR_CAPACITY beyond 1.7e10). A set in device memory gives one there, and
 * the call waits for the number of its tiles; its context must be `context`. TSR_ERROR_ARGUMENT: steps < 0, another number of neighbours, the limits of
 * the tile coordinates reached, another context. RETURNS NEW. */
TSR_API tsr_status tsr_topology_dilate(tsr_context *context, const tsr_topology *topology, int32_t steps, int32_t neighbours,
                                       tsr_topology **dilated) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
