/* video/multiview/mvv_lift.h: one lifting step at one sample of a texture of any shape. docs/theory/multiview.md 4.1.
 *
 * A run is what is relevant side by side; samples beyond its ends are mirrored. Only the nearest neighbours count in the filters here, so that a
 * sample knows
 * from its two neighbours' masks alone what to take: a neighbour that is irrelevant (its value is 0) is replaced by the other one; without any,
 * nothing is
 * added. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_LIFT_H
#define TSR_VIDEO_MULTIVIEW_MVV_LIFT_H

#include "core/hd.h"

typedef struct tsr_mvv_step {
    int32_t parity; /* 0: even samples change, 1: odd ones */
    int32_t side;   /* 0: both neighbours, -1: the one before, 1: the one behind */
    int32_t sign, tap, rounding, shift;
    float factor; /* sign included; of float steps */
} tsr_mvv_step;

/* Even samples of n before odd ones: where number k goes, and which one lies there. */
TSR_HD int64_t tsr_mvv_sorted(int64_t n, int64_t k) { return k & 1 ? (n + 1) / 2 + k / 2 : k / 2; }
TSR_HD int64_t tsr_mvv_unsorted(int64_t n, int64_t place) { return place < (n + 1) / 2 ? 2 * place : 2 * (place - (n + 1) / 2) + 1; }

/* What the neighbours a (before) and b (behind) add up to. */
#define TSR_MVV_NEIGHBOURS(side, a, b, in_a, in_b) \
    ((side) == 0 ? ((a) + (b)) * ((in_a) && (in_b) ? 1 : 2) : (side) < 0 ? ((in_a) ? (a) : (b)) : (in_b) ? (b) : (a))

TSR_HD float tsr_mvv_lift_f(const tsr_mvv_step *s, float x, int in, float a, float b, int in_a, int in_b)
{
    const float sum = s->side == 0 ? (a + b) * (in_a && in_b ? 1.0f : 2.0f) : TSR_MVV_NEIGHBOURS(s->side, a, b, in_a, in_b);
    return in ? x + s->factor * sum : 0.0f;
}

/* `undo`: as the step is taken back. Sums wrap around: streams may hold anything. */
TSR_HD int32_t tsr_mvv_lift_i(const tsr_mvv_step *s, int undo, int32_t x, int in, int32_t a, int32_t b, int in_a, int in_b)
{
    const uint32_t ua = (uint32_t)a, ub = (uint32_t)b, sum = TSR_MVV_NEIGHBOURS(s->side, ua, ub, in_a, in_b);
    const uint32_t add = (uint32_t)((int32_t)(sum * (uint32_t)s->tap + (uint32_t)s->rounding) >> s->shift);
    return !in ? 0 : (int32_t)((s->sign > 0) != (undo != 0) ? (uint32_t)x + add : (uint32_t)x - add);
}

/* The texel of a sample and the average that it was less, both times 2^fraction; sums wrap around. */
TSR_HD int32_t tsr_mvv_sum(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
TSR_HD uint8_t tsr_mvv_summed_texel(int32_t sample, int32_t average, int32_t fraction)
{
    const int32_t v = tsr_mvv_sum(tsr_mvv_sum(sample, average), (1 << fraction) >> 1) >> fraction;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

#endif
