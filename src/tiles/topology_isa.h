/* tiles/topology_isa.h: dilation of sorted tiles of voxel bits, compiled per SIMD variant (topology_isa.c). */
#ifndef TSR_TILES_TOPOLOGY_ISA_H
#define TSR_TILES_TOPOLOGY_ISA_H

#include "device/isa.h"
#include "tiles/topology_bits.h"

/* One dilation: the set, and for every direction used the tiles that reach the place there, a bit each. Borrowed. */
typedef struct tsr_dilation {
    const uint64_t *keys; /* [count + 1], the last is TSR_KEY_END */
    const uint64_t (*mask)[8];
    int64_t count, words; /* words of each bit array: room for a bit more than count */
    int32_t neighbours, used;
    int32_t direction[TSR_TILE_DIRECTIONS]; /* [used] */
    uint64_t *reach[TSR_TILE_DIRECTIONS];   /* [used][words] */
} tsr_dilation;

/* Words [begin, end) of the bit arrays. */
TSR_ISA_DECLARE(void, tsr_dilation_reach, const tsr_dilation *d, int64_t begin, int64_t end)
/* Bits set in all bit arrays: the result has no more tiles. */
TSR_ISA_DECLARE(int64_t, tsr_dilation_bound, const tsr_dilation *d)
/* Tiles of the result with first <= key < last, in order; returns how many. keys NULL: they are only counted. */
TSR_ISA_DECLARE(int64_t, tsr_dilation_slide, const tsr_dilation *d, uint64_t first, uint64_t last, uint64_t *keys, uint64_t (*mask)[8])

#endif
