/* formats/grids/tsr_codec_isa.h: loops over the values of a .tsr chunk that exist once per SIMD variant. Moves of bits only: every variant gives the same. */
#ifndef TSR_FORMATS_TSR_CODEC_ISA_H
#define TSR_FORMATS_TSR_CODEC_ISA_H

#include <stdint.h>

#include "device/isa.h"

enum {
    TSR_JOIN_BEYOND = 8,  /* words behind the explicit values that tsr_join_tile may look at (and does not use) */
    TSR_SPLIT_BEYOND = 16 /* words behind them that tsr_split_tile may write */
};

/* Words of four byte planes of n bytes each. Returns the largest of them without their highest bits. */
TSR_ISA_DECLARE(uint32_t, tsr_words_of_planes, const uint8_t *planes, int64_t n, uint32_t *to)
/* One tile from its masks: voxels whose bit in `listed` is set are from[n] and the following, others `outside` with the sign that `negative` says.
 * Returns n behind those that were used. */
TSR_ISA_DECLARE(int64_t, tsr_join_tile, const uint8_t *listed, const uint8_t *negative, int32_t voxels, uint32_t outside, const uint32_t *from,
                int64_t n, float *to)

/* The lowest `width` bytes of each of n words, a plane of n bytes for each of the bytes. */
TSR_ISA_DECLARE(void, tsr_planes_of_words, const uint32_t *from, int64_t n, int32_t width, uint8_t *planes)
/* Masks of one tile; what is neither `outside` nor its negative goes to to[n] and the following. Returns n behind them. */
TSR_ISA_DECLARE(int64_t, tsr_split_tile, const float *from, int32_t voxels, uint32_t outside, uint8_t *listed, uint8_t *negative, uint32_t *to,
                int64_t n)

#endif
