/* vision/lens_isa.h: rows of warped pixels and tiles of votes, built once per SIMD variant. */
#ifndef TSR_VISION_LENS_ISA_H
#define TSR_VISION_LENS_ISA_H

#include "device/isa.h"
#include "vision/lens_ops.h"

enum { TSR_VOTES_WIDE = 64, TSR_VOTES_HIGH = 32 };

TSR_ISA_DECLARE(void, tsr_warp_range, const tsr_warp_job *job, int64_t begin, int64_t end)
/* Votes of the tile at (x, y) under one lens, added to histogram[bins]. */
TSR_ISA_DECLARE(void, tsr_votes_tile, const tsr_votes_job *job, const tsr_lens_map *map, int32_t x, int32_t y, uint32_t *histogram)

#endif
