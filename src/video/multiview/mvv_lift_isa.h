/* video/multiview/mvv_lift_isa.h: a lifting step along a row, a variant per instruction set. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_LIFT_ISA_H
#define TSR_VIDEO_MULTIVIEW_MVV_LIFT_ISA_H

#include "device/isa.h"
#include "video/multiview/mvv_lift.h"

/* n samples x with masks in (a byte each, 0 or 1); a and b: their neighbours. Irrelevant samples are 0 and stay so. */
TSR_ISA_DECLARE(void, tsr_mvv_lift_row_f, const tsr_mvv_step *s, float *x, const uint8_t *in, const float *a, const uint8_t *in_a, const float *b,
                const uint8_t *in_b, int64_t n)
TSR_ISA_DECLARE(void, tsr_mvv_lift_row_i, const tsr_mvv_step *s, int undo, int32_t *x, const uint8_t *in, const int32_t *a, const uint8_t *in_a,
                const int32_t *b, const uint8_t *in_b, int64_t n)
TSR_ISA_DECLARE(void, tsr_mvv_scale_row, float *x, float factor, int64_t n)

#endif
