/* tiles/topology_bits.h: dilation of voxel bits: planes of 8 x 8 (bit 8 y + x), tiles of eight planes, ranks of tiles in a box. One step to a face of a voxel is
 * a shift of words, so nothing is unpacked. Exact class. */
#ifndef TSR_TILES_TOPOLOGY_BITS_H
#define TSR_TILES_TOPOLOGY_BITS_H

#include "tiles/tile_pool.h"

#define TSR_PLANE_X_FIRST UINT64_C(0x0101010101010101) /* voxels with x = 0 of a plane */
#define TSR_PLANE_X_LAST UINT64_C(0x8080808080808080)
#define TSR_PLANE_Y_FIRST UINT64_C(0xff)
#define TSR_PLANE_Y_LAST UINT64_C(0xff00000000000000)

/* One plane, or a vector of planes, stepped along x, with the planes of the tiles at x-1 and x+1. */
#define TSR_PLANE_STEP_X(m, left, right) \
    ((m) | ((m) & ~TSR_PLANE_X_LAST) << 1 | ((left)&TSR_PLANE_X_LAST) >> 7 | ((m) & ~TSR_PLANE_X_FIRST) >> 1 | ((right)&TSR_PLANE_X_FIRST) << 7)
#define TSR_PLANE_STEP_Y(m, below, above) ((m) | (m) << 8 | (below) >> 56 | (m) >> 8 | (above) << 56)

TSR_HD uint64_t tsr_plane_step_x(uint64_t m, uint64_t left, uint64_t right) { return TSR_PLANE_STEP_X(m, left, right); }
TSR_HD uint64_t tsr_plane_step_y(uint64_t m, uint64_t below, uint64_t above) { return TSR_PLANE_STEP_Y(m, below, above); }

/* Nine planes of one z, [3 y + x] of the tiles around: stepped to all eight neighbours in the plane (box), and to four (cross). */
typedef struct tsr_planes {
    uint64_t box, cross;
} tsr_planes;
TSR_HD tsr_planes tsr_planes_step(const uint64_t m[9])
{
    const uint64_t row[3] = { tsr_plane_step_x(m[1], m[0], m[2]), tsr_plane_step_x(m[4], m[3], m[5]), tsr_plane_step_x(m[7], m[6], m[8]) };
    tsr_planes o;
    o.box = tsr_plane_step_y(row[1], row[0], row[2]);
    o.cross = row[1] | tsr_plane_step_y(m[4], m[1], m[7]);
    return o;
}

/* Is the direction a neighbour's (6, 18 or 26 of them), or the middle? */
TSR_HD int tsr_topology_reaches(int32_t d, int32_t neighbours)
{
    const int32_t moved = (tsr_direction_x(d) != 0) + (tsr_direction_y(d) != 0) + (tsr_direction_z(d) != 0);
    return moved <= (neighbours == 6 ? 1 : neighbours == 18 ? 2 : 3);
}

/* Which of the 27 places around a tile its voxels reach in one step, and its own. */
TSR_HD uint32_t tsr_topology_reach(const uint64_t m[8], int32_t neighbours)
{
    uint64_t all = 0;
    uint32_t word = 1u << TSR_TILE_MIDDLE;
    for (int32_t z = 0; z < 8; z++) all |= m[z];
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t x = tsr_direction_x(d), y = tsr_direction_y(d), z = tsr_direction_z(d);
        if (!tsr_topology_reaches(d, neighbours)) continue;
        const uint64_t plane = z < 0 ? m[0] : z > 0 ? m[7] : all;
        const uint64_t side = plane &
                              (x < 0   ? TSR_PLANE_X_FIRST
                               : x > 0 ? TSR_PLANE_X_LAST
                                       : UINT64_MAX) &
                              (y < 0   ? TSR_PLANE_Y_FIRST
                               : y > 0 ? TSR_PLANE_Y_LAST
                                       : UINT64_MAX);
        word |= (uint32_t)(side != 0) << d;
    }
    return word;
}

/* ---- ranks ----------------------------------------------------------------------------------------------------------------------------------- */

/* Which of 32 tiles in a row of a box are there, and how many come before them in the order of the list. */
typedef struct tsr_rank {
    uint32_t bits, before;
} tsr_rank;

/* A box of tiles whose rows are padded to whole words. */
typedef struct tsr_rank_box {
    int32_t lower[3], size[3]; /* tiles */
    int32_t row_words;
    int64_t words;
} tsr_rank_box;

TSR_HD tsr_rank_box tsr_rank_box_of(const int32_t lower[3], const int32_t upper[3])
{
    tsr_rank_box b;
    for (int32_t k = 0; k < 3; k++) {
        b.lower[k] = lower[k];
        b.size[k] = upper[k] - lower[k] + 1;
    }
    b.row_words = (b.size[0] + 31) / 32;
    b.words = (int64_t)b.row_words * b.size[1] * b.size[2];
    return b;
}
/* First word of the row (y, z), counted from the corner of the box. */
TSR_HD int64_t tsr_rank_row(const tsr_rank_box *b, int32_t y, int32_t z) { return ((int64_t)z * b->size[1] + y) * b->row_words; }
TSR_HD uint64_t tsr_rank_key(const tsr_rank_box *b, int64_t word, int32_t bit)
{
    const int64_t row = word / b->row_words;
    return tsr_key_make(b->lower[0] + (int32_t)(word - row * b->row_words) * 32 + bit, b->lower[1] + (int32_t)(row % b->size[1]),
                        b->lower[2] + (int32_t)(row / b->size[1]));
}

#endif
