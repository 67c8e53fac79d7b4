/* solver/engine_bits.h: two bits for each voxel of a tile of edge 8, noted when a pass has written it, from which the next pass of reach 1 knows
 * without looking at a value which voxels can move (tsr_voxel_still), and which lines of memory already hold what it would write.
 *
 * They are true of fields whose values lie within the band: a voxel that is not `free` is +-band by its bits, and stays if none of its six neighbours
 * is free or on the other side. Word z holds the plane z, bit 8 y + x of it the voxel, so that shifts of eight words at once are steps to neighbours. */
#ifndef TSR_SOLVER_ENGINE_BITS_H
#define TSR_SOLVER_ENGINE_BITS_H

#include <stdint.h>
#include <string.h>

#include "core/hd.h"

typedef struct tsr_tile_bits {
    _Alignas(64) uint64_t free[8]; /* the value is not +-band */
    uint64_t inside[8];            /* it is below 0 */
} tsr_tile_bits;

/* Of a tile that has one value, +-band. */
TSR_INLINE void tsr_bits_constant(tsr_tile_bits *bits, int inside)
{
    memset(bits->free, 0, sizeof bits->free);
    memset(bits->inside, inside ? 0xff : 0, sizeof bits->inside);
}

/* Of a tile of which nothing is known. */
TSR_INLINE void tsr_bits_unknown(tsr_tile_bits *bits) { memset(bits, 0xff, sizeof *bits); }

/* Areas (tsr_areas) of the tile in which one of these voxels lies. */
TSR_INLINE uint32_t tsr_bits_areas(const uint64_t hit[8], int32_t guard)
{
    const uint64_t first = ((uint64_t)1 << 8 * guard) - 1, last = ~(~(uint64_t)0 >> 8 * guard), rows[3] = { first, ~(first | last), last };
    const uint32_t low = (1u << guard) - 1, high = 0xffu & ~(0xffu >> guard);
    uint64_t planes[3] = { 0, 0, 0 };
    uint32_t areas = 0;
    for (int32_t z = 0; z < 8; z++) planes[z < guard ? 0 : z < 8 - guard ? 1 : 2] |= hit[z];
    for (int32_t k = 0; k < 9; k++) {
        uint64_t columns = planes[k / 3] & rows[k % 3];
        columns |= columns >> 32;
        columns |= columns >> 16;
        columns |= columns >> 8;
        const uint32_t x = (uint32_t)columns & 0xffu;
        areas |= ((x & low ? 1u : 0u) | (x & ~(low | high) ? 2u : 0u) | (x & high ? 4u : 0u)) << 3 * k;
    }
    return areas;
}

#endif
