/* wavelet/calm.h: steps of filters on rows of 16 bits whose values are so small that nothing leaves 16 bits on the way, so that nothing is looked for.
 * What a step adds is floor((sum + r) / 2^q); sums that do not fit into 16 bits are never formed:
 *   9 (b + c) - (a + d)            8 s + u with s = b + c, u = s - a - d:  (s + ((u + r) >> 3)) >> (q - 3)
 *   t (a + b), q = 12, r = 2048    the processor's rounded product, (8 t s + 2^14) >> 15; a whole s apart where 8 t does not fit
 *   eight taps of Fidelity         digit by digit of the taps in base 2, from the lowest: (D0 >> 1) + D1 >> 1 ...
 * since floor((2 A + w) / 2^q) is floor((A + floor(w / 2)) / 2^(q - 1)). docs/theory/wavelets.md 10. The loops are in calm_rows.h. */
#ifndef TSR_WAVELET_CALM_H
#define TSR_WAVELET_CALM_H

#include "wavelet/lifting.h"

typedef enum tsr_calm_kind {
    TSR_CALM_NONE = 0,
    TSR_CALM_ONE,
    TSR_CALM_TWO,
    TSR_CALM_PRODUCT,
    TSR_CALM_PRODUCT_WHOLE,
    TSR_CALM_FOUR,
    TSR_CALM_EIGHT_EVEN,
    TSR_CALM_EIGHT_ODD
} tsr_calm_kind;

static inline int tsr_calm_has_taps(const tsr_lift_step *s, int32_t inner, int32_t second, int32_t third, int32_t outer)
{
    const int32_t *t = s->tap + s->count / 2;
    return t[0] == inner && t[1] == second && (s->count == 4 || (t[2] == third && t[3] == outer));
}

static inline tsr_calm_kind tsr_calm_kind_of(const tsr_lift_step *s)
{
    if (s->rule) return TSR_CALM_NONE;
    if (s->count == 1 && s->tap[0] == 1) return TSR_CALM_ONE;
    if (!s->symmetric) return TSR_CALM_NONE;
    if (s->count == 2 && s->unit) return TSR_CALM_TWO;
    if (s->count == 2 && s->shift == 12 && s->rounding == 2048 && s->tap[0] > 0 && s->tap[0] < 8192)
        return s->tap[0] < 4096 ? TSR_CALM_PRODUCT : TSR_CALM_PRODUCT_WHOLE;
    if (s->count == 4 && s->shift >= 3 && tsr_calm_has_taps(s, 9, -1, 0, 0)) return TSR_CALM_FOUR;
    if (s->count != 8 || s->shift != 8 || s->rounding != 128) return TSR_CALM_NONE;
    return tsr_calm_has_taps(s, 161, -46, 21, -8) ? TSR_CALM_EIGHT_EVEN : tsr_calm_has_taps(s, 81, -25, 10, -2) ? TSR_CALM_EIGHT_ODD : TSR_CALM_NONE;
}

/* Neighbours may be so large; 0: no such step. */
static inline int32_t tsr_calm_limit(const tsr_lift_step *s)
{
    switch (tsr_calm_kind_of(s)) {
    case TSR_CALM_ONE: return INT16_MAX - s->rounding;
    case TSR_CALM_TWO: return (INT16_MAX - s->rounding) / 2;
    case TSR_CALM_PRODUCT:
    case TSR_CALM_PRODUCT_WHOLE: return INT16_MAX / 2;
    case TSR_CALM_FOUR: return (INT16_MAX - s->rounding) / 4;
    case TSR_CALM_EIGHT_EVEN:
    case TSR_CALM_EIGHT_ODD: return INT16_MAX / 8;
    default: return 0;
    }
}

enum { TSR_CALM_LEAST = 64 /* samples of an axis, so that its ends are apart */, TSR_CALM_MOST = 8192 };

/* calm.c: values within [-bound, bound) stay calm along two axes of TSR_CALM_LEAST samples and more; 0: there is none. */
int32_t tsr_calm_bound(const tsr_lift_filter *filter, int32_t boundary, tsr_dtype dtype);

#endif
