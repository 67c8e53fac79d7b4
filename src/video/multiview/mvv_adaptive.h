/* video/multiview/mvv_adaptive.h: wavelets of a texture of any shape: as many coefficients as relevant texels. docs/theory/multiview.md 4.1.
 *
 * Coefficients lie as usual: the approximation of w x h texels in the first ceil(w / 2) x ceil(h / 2) places, the details behind it. Where a texel's
 * coefficient lies
 * depends on its place alone, so that the mask is sorted in the same way, and the decoder knows the coefficients' mask from the texels'. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_ADAPTIVE_H
#define TSR_VIDEO_MULTIVIEW_MVV_ADAPTIVE_H

#include "core/core.h"
#include "tessera/multiview.h"
#include "video/multiview/mvv_lift.h"

typedef struct tsr_mvv_adaptive {
    int32_t width, height, levels, lossless, steps;
    tsr_mvv_step step[4];
    float scale;     /* of the approximation; its inverse of details; float alone */
    float *line;     /* scratch: two textures and some lines of 4-byte elements */
    uint8_t *inside; /* the same of masks */
} tsr_mvv_adaptive;

tsr_status tsr_mvv_adaptive_make(int32_t width, int32_t height, tsr_multiview_filter filter, int32_t levels, int lossless, tsr_mvv_adaptive *a);
void tsr_mvv_adaptive_free(tsr_mvv_adaptive *a);
/* In place; mask: a byte a texel, 0 or 1, becomes that of the coefficients. Values: float for lossy filters, int32 for lossless; 0 where the mask
 * is. */
void tsr_mvv_adaptive_forward(const tsr_mvv_adaptive *a, void *values, uint8_t *mask);
void tsr_mvv_adaptive_inverse(const tsr_mvv_adaptive *a, void *values, uint8_t *mask);
void tsr_mvv_adaptive_sort_mask(const tsr_mvv_adaptive *a, uint8_t *mask);
/* Extents of the approximation after `level` levels. */
TSR_HD int32_t tsr_mvv_adaptive_extent(int32_t n, int32_t level) { return (int32_t)(((int64_t)n + (1 << level) - 1) >> level); }

#endif
