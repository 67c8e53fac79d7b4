/* wavelet/lifting.h: the mathematics of lifting: what lies beyond the ends of an axis, and what one step adds to one sample. docs/theory/wavelets.md
 * 2.2, 2.5. Sums are macros: the CPU takes them over vectors, the GPU over registers, for every element type. */
#ifndef TSR_WAVELET_LIFTING_H
#define TSR_WAVELET_LIFTING_H

#include "core/hd.h"
#include "tessera/wavelet.h"

/* A step as the loops want it. `tap` and `real` of symmetric steps (2, 4 or 8 taps around the sample) count all. */
typedef struct tsr_lift_step {
    int32_t parity, first, count, sign, rounding, shift;
    int32_t reach;           /* largest distance of a neighbour */
    int32_t symmetric, unit; /* tap[k] == tap[count-1-k] around the sample; all taps 1 */
    int32_t rule;            /* tsr_wavelet_rule; not TSR_WAVELET_SUM: the sign is not in `real` */
    double threshold;
    int32_t tap[TSR_WAVELET_TAPS];
    float real32[TSR_WAVELET_TAPS]; /* sign included */
    double real[TSR_WAVELET_TAPS];
} tsr_lift_step;

typedef struct tsr_lift_filter {
    int32_t nonlinear;    /* a step has another rule than the sum */
    int32_t steps, reach; /* reach: of all steps together, rounded up to even */
    int32_t calm;         /* int16 and int32: tsr_calm_bound */
    int32_t calm16;       /* the same of int16, also where the samples are int32 */
    tsr_lift_step step[TSR_WAVELET_STEPS];
} tsr_lift_filter;

/* Index of what stands for sample i of n >= 2 (any i); -1: the value 0. Keeps the parity. */
TSR_HD int64_t tsr_lift_index(int64_t i, int64_t n, int32_t boundary)
{
    if (i >= 0 && i < n) return i;
    if (boundary == TSR_WAVELET_ZERO) return -1;
    if (boundary == TSR_WAVELET_CLAMP) return i < 0 ? i & 1 : ((i ^ (n - 1)) & 1) ? n - 2 : n - 1;
    int64_t period = boundary == TSR_WAVELET_PERIODIC ? n : 2 * (n - 1);
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - i;
}

/* The same for i less than n beyond the ends. */
TSR_HD int32_t tsr_lift_index_near(int32_t i, int32_t n, int32_t boundary)
{
    if (i >= 0 && i < n) return i;
    if (boundary == TSR_WAVELET_ZERO) return -1;
    if (boundary == TSR_WAVELET_CLAMP) return i < 0 ? i & 1 : n - 1 - ((i ^ (n - 1)) & 1);
    if (boundary == TSR_WAVELET_PERIODIC) return i < 0 ? i + n : i - n;
    return i < 0 ? -i : 2 * (n - 1) - i;
}

/* Weighted sums of neighbours v(0), v(1), ... in the order of their offsets; the symmetric ones add pairs first, the inner pair first of all. */
#define TSR_LIFT_PAIR(t, v) ((t)[1] * (v(0) + v(1)))
#define TSR_LIFT_FOUR(t, v) ((t)[2] * (v(1) + v(2)) + (t)[3] * (v(0) + v(3)))
#define TSR_LIFT_EIGHT(t, v) ((t)[4] * (v(3) + v(4)) + (t)[5] * (v(2) + v(5)) + (t)[6] * (v(1) + v(6)) + (t)[7] * (v(0) + v(7)))

/* What another rule than the sum makes of neighbours v[0], v[1], ... and their weights t, for numbers of type S. */
#define TSR_LIFT_DEFINE_RULE(NAME, S)                                                     \
    TSR_HD S NAME(int32_t rule, double threshold, int32_t count, const S *t, const S *v)  \
    {                                                                                     \
        S least = v[0], greatest = v[0], sum = t[0] * v[0], low = sum, high = sum;        \
        for (int32_t k = 1; k < count; k++) {                                             \
            const S p = t[k] * v[k];                                                      \
            sum = sum + p;                                                                \
            low = p < low ? p : low;                                                      \
            high = p > high ? p : high;                                                   \
            least = v[k] < least ? v[k] : least;                                          \
            greatest = v[k] > greatest ? v[k] : greatest;                                 \
        }                                                                                 \
        if (rule == TSR_WAVELET_MAXIMUM) return high;                                     \
        if (rule == TSR_WAVELET_MINIMUM) return low;                                      \
        if (rule == TSR_WAVELET_MAXIMUM0) return high > (S)0 ? high : (S)0;               \
        if (rule == TSR_WAVELET_MINIMUM0) return low < (S)0 ? low : (S)0;                 \
        return (double)greatest - (double)least <= threshold ? sum : (S)0; /* adaptive */ \
    }
TSR_LIFT_DEFINE_RULE(tsr_lift_rule_i32, int32_t)
TSR_LIFT_DEFINE_RULE(tsr_lift_rule_i64, int64_t)
TSR_LIFT_DEFINE_RULE(tsr_lift_rule_f32, float)
TSR_LIFT_DEFINE_RULE(tsr_lift_rule_f64, double)

/* What an integer step adds, but for the sign. */
#define TSR_LIFT_ROUND(sum, rounding, shift) (((sum) + (rounding)) >> (shift))

/* The same for the common steps within 16 bits, over any vector of int16: (a+b)>>1, (a+b+1)>>1, (a+b+2)>>2, (a+1)>>1. */
#define TSR_LIFT_HALF_DOWN(a, b) (((a) & (b)) + (((a) ^ (b)) >> 1))
#define TSR_LIFT_HALF_UP(a, b) (((a) | (b)) - (((a) ^ (b)) >> 1))
#define TSR_LIFT_ONE_UP(a) ((a) - ((a) >> 1))
#define TSR_LIFT_QUARTER(a, b) TSR_LIFT_ONE_UP(TSR_LIFT_HALF_DOWN(a, b))
/* Sign bit set where the 16-bit result r of x + p (x - p) is not the true one. */
#define TSR_LIFT_LOST_ADD(x, p, r) (((x) ^ (r)) & ((p) ^ (r)))
#define TSR_LIFT_LOST_SUBTRACT(x, p, r) (((x) ^ (p)) & ((x) ^ (r)))
/* Not 0 where an int32 does not fit into 16 bits. */
#define TSR_LIFT_LOST(v) (((uint32_t)(v) + 32768u) >> 16)

/* Accuracy bits: before a level and after the inverse of it. */
#define TSR_LIFT_RAISE(v, bits) ((v) * (1 << (bits)))
#define TSR_LIFT_LOWER16(v, bits) TSR_LIFT_ONE_UP((v) >> ((bits)-1)) /* the same for bits > 0, within 16 bits */
#define TSR_LIFT_LOWER(v, bits) (((v) + ((1 << (bits)) >> 1)) >> (bits))

#endif
