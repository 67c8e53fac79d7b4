/* video/multiview/mvv_mask.h: masks and the atlas, coded by an adaptive binary arithmetic coder; docs/formats/mvv.md, "Masks". */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_MASK_H
#define TSR_VIDEO_MULTIVIEW_MVV_MASK_H

#include "video/multiview/multiview.h"

/* Bytes of `count` masks of [height][words], `stride` words apart, each coded after the one before. `atlas` NULL: every texel may be set; else texels outside
 * it are not coded. *bytes RETURNS NEW, free(). */
tsr_status tsr_mvv_mask_encode(const uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height, const uint64_t *atlas,
                               uint8_t **bytes, size_t *size);
/* Any bytes decode to some mask; the hashes say whether it is the right one. */
tsr_status tsr_mvv_mask_decode(const uint8_t *bytes, size_t size, uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height,
                               const uint64_t *atlas);

#endif
