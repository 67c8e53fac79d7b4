/* video/multiview/mvv_lift_isa.c */
#include "video/multiview/mvv_lift_isa.h"

void TSR_ISA_NAME(tsr_mvv_lift_row_f)(const tsr_mvv_step *s, float *x, const uint8_t *in, const float *a, const uint8_t *in_a, const float *b,
                                      const uint8_t *in_b, int64_t n)
{
    const tsr_mvv_step own = *s;
    float *TSR_RESTRICT to = x;
    if (own.side == 0)
        for (int64_t k = 0; k < n; k++) to[k] = tsr_mvv_lift_f(&own, to[k], in[k], a[k], b[k], in_a[k], in_b[k]);
    else
        for (int64_t k = 0; k < n; k++) to[k] = tsr_mvv_lift_f(&own, to[k], in[k], a[k], b[k], in_a[k], in_b[k]);
}

void TSR_ISA_NAME(tsr_mvv_lift_row_i)(const tsr_mvv_step *s, int undo, int32_t *x, const uint8_t *in, const int32_t *a, const uint8_t *in_a,
                                      const int32_t *b, const uint8_t *in_b, int64_t n)
{
    const tsr_mvv_step own = *s;
    int32_t *TSR_RESTRICT to = x;
    for (int64_t k = 0; k < n; k++) to[k] = tsr_mvv_lift_i(&own, undo, to[k], in[k], a[k], b[k], in_a[k], in_b[k]);
}

void TSR_ISA_NAME(tsr_mvv_scale_row)(float *x, float factor, int64_t n)
{
    for (int64_t k = 0; k < n; k++) x[k] *= factor;
}
