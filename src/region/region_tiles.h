/* region/region_tiles.h: trees built tile by tile from any source. */
#ifndef TSR_REGION_REGION_TILES_H
#define TSR_REGION_REGION_TILES_H

#include "region/region_tree.h"
#include "tessera/region_tiles.h"

enum { TSR_REGION_TILE = 256 };                            /* voxels per side by default */
enum { TSR_REGION_BLOCK_LEVEL = 2, TSR_REGION_BLOCK = 4 }; /* a tile of one value is built from so many voxels, each that much larger */

/* Where the voxels of a volume come from. */
typedef struct tsr_region_source {
    tsr_size3 size;
    tsr_geometry geometry;
    int32_t channels;
    /* Fills channels[0..] (NULL on entry, destroyed by the caller) with the voxels [lower, lower + size) on the context's device. */
    tsr_status (*load)(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels);
    /* Where [lower, lower + size) holds one value throughout: channels[0..] of TSR_REGION_BLOCK^3 such voxels; else they stay NULL. May be NULL. */
    tsr_status (*uniform)(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels);
    void *user;
} tsr_region_source;

/* Voxels per side of the tiles of an octree; 0 if it is out of range. */
int64_t tsr_region_tiles_side(const tsr_region_tiling *tiling);
tsr_status tsr_region_tree_from_source(tsr_context *context, const tsr_region_source *source, const tsr_region_options *options,
                                       const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values);

#endif
