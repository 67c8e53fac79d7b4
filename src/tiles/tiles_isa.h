/* tiles/tiles_isa.h: loops over tiles that exist once per SIMD variant. */
#ifndef TSR_TILES_TILES_ISA_H
#define TSR_TILES_TILES_ISA_H

#include "device/isa.h"
#include "tiles/tile_pool.h"

/* Activity word of a tile of edge 8 away from the border of a domain; adds to the counts. */
TSR_ISA_DECLARE(uint32_t, tsr_refresh_tile, const tsr_tile_pool *pool, const float *phi, uint32_t id, int64_t *active, int64_t *inside)

#endif
