/* tessera/region_tiles.h: octrees and quadtrees in parts: of volumes larger than the device's or any memory, of volumes that grow, of parts sampled at
 * different resolutions. Each tile, a cube of 2^level voxels, is built by itself; only its lists and the counts of its root are kept. The roots are
 * the base of a small pyramid: it says where the lists of each tile belong and which full tiles merge further.
 *
 * The result is the tree of the whole, word for word (exact class), whatever the tiles. Source: docs/theory/regions.md 8. */
#ifndef TESSERA_REGION_TILES_H
#define TESSERA_REGION_TILES_H

#include "tessera/region_tree.h"
#include "tessera/winding.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_region_merge tsr_region_merge;

/* Collects tiles of 2^level voxels per side for `options` (its fields `dimensions`, 2 or 3, is required; `top` is 0). level: 2
 * (quadtrees 3; for a single tile 0) to 19 (28). Host memory. One thread at a time. RETURNS NEW. */
TSR_API tsr_status tsr_region_merge_create(const tsr_region_options *options, int32_t level, tsr_region_merge **merge) TSR_CHECKED;
TSR_API void tsr_region_merge_destroy(tsr_region_merge **merge);
/* Adds tile (x, y, z), which covers the voxels from 2^level (x, y, z), negative ones too; its lists are COPIED to the host (waits). The pyramid was made
 * with the same options, `dimensions` given, and top = level - shift: a tile sampled 2^shift times coarser has voxels of side 2^shift. What its size leaves
 * out, and tiles that are never added, are empty. `values`: `count` volumes of the pyramid's size (device memory; 0 to 64, the same for
 * all tiles) to be averaged over the leaves. TSR_ERROR_ARGUMENT for a tile that is there already. */
TSR_API tsr_status tsr_region_merge_add(tsr_region_merge *merge, const tsr_region_pyramid *pyramid, const int64_t tile[3], int32_t shift,
                                        const tsr_volume *const *values, int32_t count) TSR_CHECKED;
typedef struct tsr_region_merge_info {
    int64_t tiles, leaves, nodes; /* those added: before full ones merge and without what lies above them */
    int64_t bytes;                /* host memory */
} tsr_region_merge_info;
TSR_API const tsr_region_merge_info *tsr_region_merge_describe(const tsr_region_merge *merge);
/* The tree of the volume of `size` voxels that begins at tile `first`: all tiles added must lie within. More may be added later, on any side, and the tree
 * be made again: tiles stay as they are. `values` (may be NULL): leaves x channels x 1 as tsr_region_tree_write takes them, of leaves across several
 * tiles the mean of theirs in float64. NULL geometry: unit voxels. TSR_ERROR_CAPACITY for 2^31 leaves or more. RETURNS NEW, host memory. */
TSR_API tsr_status tsr_region_merge_tree(const tsr_region_merge *merge, const int64_t first[3], tsr_size3 size, const tsr_geometry *geometry,
                                         tsr_region_tree **tree, tsr_volume **values) TSR_CHECKED;

typedef struct tsr_region_tiling {
    size_t struct_size;
    int64_t tile;            /* voxels per side of a tile, a power of two from 8 (quadtrees 16); 0 = 256 (quadtrees 4096) */
    int means;               /* != 0: `values` are the means of the channels (none with nodes_only) */
    tsr_progress progress;
} tsr_region_tiling;
#define TSR_REGION_TILING TSR_SIZED(tsr_region_tiling)

/* tsr_region_tree_make tile by tile: the channels lie on the host (files of volumes are mapped, tessera/io.h: they may be larger than all memory), one tile
 * and one voxel around it at a time goes to the context's device. BORROWS. `values` may be NULL. RETURNS NEW host tree, TSR_ERROR_CANCELLED. */
TSR_API tsr_status tsr_region_tree_make_tiled(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options,
                                              const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values) TSR_CHECKED;

/* The tree of a mesh on a lattice (tsr_winding_create), of any size, tile by tile: the rule sees the winding number of each voxel. Solid: rule CLASSES,
 * classifier RANGE from 1 to infinity; empty space: 0 to 1; inverted parts: -infinity to 0; all at once: SPREAD. BORROWS the mesh, on the
 * context's device. An open mesh is no error: look at the report (may be NULL). Otherwise as tsr_region_tree_make_tiled. RETURNS NEW host tree. */
TSR_API tsr_status tsr_region_tree_from_mesh(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                             const tsr_region_options *options, const tsr_region_tiling *tiling, tsr_region_tree **tree,
                                             tsr_volume **values, tsr_winding_report *report) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
