/* histopyramid/bricks_isa.h: from voxels to bricks of bits, built once per SIMD variant. */
#ifndef TSR_HISTOPYRAMID_BRICKS_ISA_H
#define TSR_HISTOPYRAMID_BRICKS_ISA_H

#include "device/isa.h"
#include "histopyramid/tree.h"

enum { TSR_STRIP_VOXELS = 4096 }; /* along x */

/* words[n] = brick n of a strip of bricks along x, `count` <= TSR_STRIP_VOXELS voxels long, multiplicities 0 and 1. rows[r]: first voxel of
 * row r = y + 4 z (CUBE), y (PLANE), 0 (ROW); < 0 = absent. sums[n] = bits set. Returns the NaN values met. */
TSR_ISA_DECLARE(int32_t, tsr_brick_strip, const tsr_classifier *classifier, tsr_tree_brick brick, const int64_t *rows, int64_t count, uint64_t *words,
                uint8_t *sums)

/* The same of any multiplicity: brick n goes to bricks + 64 slots[n] in Morton order, unless it is all 0 or bricks is NULL; its sum to sums[n]. */
TSR_ISA_DECLARE(int32_t, tsr_brick_counts, const tsr_classifier *classifier, tsr_tree_brick brick, const int64_t *rows, int64_t count,
                const int64_t *slots, uint8_t *bricks, uint16_t *sums)

#endif
