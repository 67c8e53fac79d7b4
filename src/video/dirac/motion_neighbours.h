/* video/dirac/motion_neighbours.h: what a block is expected to have, from its neighbours on the left, above and on both: for reading, writing and for the
 * choice of blocks. Source: Dirac Specification 2.2.3, section 12.3.6. */
#ifndef TSR_VIDEO_DIRAC_MOTION_NEIGHBOURS_H
#define TSR_VIDEO_DIRAC_MOTION_NEIGHBOURS_H

#include "video/dirac/arithmetic.h"
#include "video/dirac/predict.h"

/* The streams of block data, in their order but for the second reference's vectors, which only pictures of two references have. */
enum { TSR_BLOCKS_SPLIT = 0, TSR_BLOCKS_MODE = 1, TSR_BLOCKS_VECTOR = 2, TSR_BLOCKS_DC = 6, TSR_BLOCKS_STREAMS = 9, TSR_BLOCKS_CONTEXTS = 8 };

static const tsr_number_contexts tsr_split_contexts = { 0, 2, 2, 0 }, tsr_vector_contexts = { 0, 5, 5, 6 }, tsr_dc_contexts = { 0, 2, 2, 3 };

/* Blocks of a picture, of which those before (x, y) in coded order are known. */
typedef struct tsr_dirac_blocks {
    tsr_dirac_block *block;
    int32_t columns;
} tsr_dirac_blocks;

static inline int32_t tsr_dirac_median(int32_t a, int32_t b, int32_t c) { return a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b); }

/* How many neighbours there are (0, 1 or 3; one is in [0]). */
static inline int tsr_dirac_neighbours(const tsr_dirac_blocks *r, int32_t x, int32_t y, const tsr_dirac_block *near[3])
{
    const tsr_dirac_block *b = r->block + (int64_t)y * r->columns + x;
    if (x && y) {
        near[0] = b - 1;
        near[1] = b - r->columns;
        near[2] = near[1] - 1;
        return 3;
    }
    if (x) near[0] = b - 1;
    else if (y) near[0] = b - r->columns;
    return x || y;
}

static inline int tsr_dirac_block_flag(const tsr_dirac_block *b, int bit) { return bit < 2 ? b->mode >> bit & 1 : b->global; }

/* A bit of the mode, or the global flag (2). */
static inline int tsr_dirac_expected_flag(const tsr_dirac_blocks *r, int32_t x, int32_t y, int bit)
{
    const tsr_dirac_block *near[3];
    const int count = tsr_dirac_neighbours(r, x, y, near);
    int sum = 0;
    for (int k = 0; k < count; k++) sum += tsr_dirac_block_flag(near[k], bit);
    return count == 3 ? sum >= 2 : sum;
}

static inline void tsr_dirac_expected_vector(const tsr_dirac_blocks *r, int32_t x, int32_t y, int reference, int32_t vector[2])
{
    const tsr_dirac_block *near[3], *with[3];
    const int count = tsr_dirac_neighbours(r, x, y, near);
    int found = 0;
    for (int k = 0; k < count; k++)
        if (tsr_dirac_block_flag(near[k], reference) && !near[k]->global) with[found++] = near[k];
    for (int axis = 0; axis < 2; axis++) {
        int32_t v[3] = { 0 };
        for (int k = 0; k < found; k++) v[k] = with[k]->vector[reference][axis];
        vector[axis] = found == 3 ? tsr_dirac_median(v[0], v[1], v[2]) : found == 2 ? (v[0] + v[1] + 1) >> 1 : v[0];
    }
}

static inline void tsr_dirac_expected_dc(const tsr_dirac_blocks *r, int32_t x, int32_t y, int32_t dc[3])
{
    const tsr_dirac_block *near[3];
    const int count = tsr_dirac_neighbours(r, x, y, near);
    for (int component = 0; component < 3; component++) {
        int32_t sum = 0, found = 0;
        for (int k = 0; k < count; k++)
            if (!near[k]->mode) sum += near[k]->dc[component], found++;
        dc[component] = sum;
        if (found == 2) dc[component] = (sum + 1) >> 1;
        else if (found == 3) dc[component] = sum + 1 >= 0 ? (sum + 1) / 3 : -((1 - sum) / 3);
    }
}

/* How superblock x of row y is split, by the one on the left in `row` and those `above`. */
static inline int32_t tsr_dirac_expected_split(const uint8_t *above, const uint8_t *row, int32_t x, int32_t y)
{
    if (x && y) return (row[x - 1] + above[x] + above[x - 1] + 1) / 3;
    return x ? row[x - 1] : y ? above[x] : 0;
}

#endif
