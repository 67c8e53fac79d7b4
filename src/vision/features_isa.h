/* vision/features_isa.h: tiles of feature clustering, built once per SIMD variant. */
#ifndef TSR_VISION_FEATURES_ISA_H
#define TSR_VISION_FEATURES_ISA_H

#include "device/isa.h"
#include "vision/features_ops.h"

/* Tiles begin .. end - 1 of [images][rows][columns], all tests. */
TSR_ISA_DECLARE(void, tsr_features_tiles, const tsr_features_job *job, int64_t begin, int64_t end)
/* Bits of pixels x .. x + n - 1 (n <= 64) of row y that pass. */
TSR_ISA_DECLARE(uint64_t, tsr_features_bits, const tsr_feature_test *test, const tsr_frame_view *view, int32_t x, int32_t y, int32_t n)

#endif
