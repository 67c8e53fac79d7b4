/* wavelet/shape.h: what the kernels of march.h know of a filter when they are compiled, and its steps on one sample. */
#ifndef TSR_WAVELET_SHAPE_H
#define TSR_WAVELET_SHAPE_H

#include "wavelet/wavelet_element.h"

/* What a kernel knows of its filter: C0 and C1 taps in the steps 0, 2, ... and 1, 3, ...; FIRST: the parity of the samples that step 0 changes; S0 and
 * S1: the shifts of integer steps. Steps of one tap take the sample before an odd one, behind an even one; the others are symmetric. PAIRS: all steps
 * have one tap, and the axis has an even number of rows, so that none looks beyond an even row and the odd one behind it. */
template <int STEPS_, int C0_, int C1_, int FIRST_, int S0_, int S1_, int PAIRS_ = 0> struct shape {
    static constexpr int STEPS = STEPS_;
    static constexpr int PAIRS = PAIRS_;
    TSR_HD constexpr int shift(int k) { return k & 1 ? S1_ : S0_; }
    TSR_HD constexpr int taps(int k) { return k & 1 ? C1_ : C0_; }
    TSR_HD constexpr int parity(int k) { return (k & 1) ^ FIRST_; }
    TSR_HD constexpr int reach(int k) { return taps(k) == 1 ? 1 : taps(k) - 1; }
    TSR_HD constexpr int first(int k) { return taps(k) > 1 ? 1 - taps(k) : parity(k) ? -1 : 1; }
    TSR_HD constexpr int unit(int k) { return STEPS_ == 2 && taps(k) <= 2; } /* of integers: all taps 1 */
    TSR_HD constexpr int minus(int k) { return k == 0; }                     /* unit steps: predict forward, update inverse */
    TSR_HD constexpr int larger(int a, int b) { return a > b ? a : b; }
    /* The row that step k changes, counted from the newest one, which is odd: its neighbours have gone through step k - 1, and no neighbour of the
     * following row has gone through step k + 1. */
    TSR_HD constexpr int row(int k) { return PAIRS ? parity(k) - 1 : k == 0 ? -FIRST_ - reach(0) : row(k - 1) - larger(reach(k), reach(k - 1)); }
    TSR_HD constexpr int oldest(int k) { return PAIRS ? -1 : k == 0 ? row(0) - reach(0) : -larger(-oldest(k - 1), reach(k) - row(k)); }
    static constexpr int ROWS = 1 - oldest(STEPS_ - 1); /* of the window */
    TSR_HD constexpr int place(int k) { return ROWS - 1 + row(k); }
    /* Rows on both sides of the newest one that must be there for no step to look beyond the ends. */
    TSR_HD constexpr int before(int k) { return k < 0 || PAIRS ? 0 : larger(reach(k) - row(k), before(k - 1)); }
    TSR_HD constexpr int behind(int k) { return k < 0 || PAIRS ? 0 : larger(reach(k) + row(k), behind(k - 1)); }
};
template <class SHAPE> static int fits_shape(const tsr_lift_filter *f, int integer)
{
    if (f->steps != SHAPE::STEPS) return 0;
    for (int32_t k = 0; k < f->steps; k++) {
        const tsr_lift_step *s = &f->step[k];
        if (s->parity != SHAPE::parity(k) || s->count != SHAPE::taps(k) || s->first != SHAPE::first(k) || (s->count > 1 && !s->symmetric)) return 0;
        if (integer && SHAPE::unit(k) && (!s->unit || (s->sign < 0) != SHAPE::minus(k))) return 0;
        if (integer && s->shift != SHAPE::shift(k)) return 0;
    }
    return 1;
}

typedef shape<2, 1, 1, 1, 0, 1> haar_forward; /* Haar */
typedef shape<2, 1, 1, 0, 1, 0> haar_inverse;
typedef shape<2, 1, 1, 1, 0, 1, 1> pairs_forward; /* the same of even numbers of rows */
typedef shape<2, 1, 1, 0, 1, 0, 1> pairs_inverse;
typedef shape<2, 2, 2, 1, 1, 2> two_forward; /* Le Gall */
typedef shape<2, 2, 2, 0, 2, 1> two_inverse;
typedef shape<4, 2, 2, 1, 12, 12> four_forward; /* Daubechies (9,7) */
typedef shape<4, 2, 2, 0, 12, 12> four_inverse;
typedef shape<2, 4, 2, 1, 4, 2> wide_forward; /* Deslauriers-Dubuc (9,7) */
typedef shape<2, 2, 4, 0, 2, 4> wide_inverse;
typedef shape<2, 4, 4, 1, 4, 5> wider_forward; /* (13,7) */
typedef shape<2, 4, 4, 0, 5, 4> wider_inverse;
typedef shape<2, 8, 8, 0, 8, 8> widest_forward; /* Fidelity: even samples first */
typedef shape<2, 8, 8, 1, 8, 8> widest_inverse;

/* What integers of 16 bits are held above their value: within 16 bits they fill the lower half of a register, beyond also the upper one. */
template <tsr_dtype D> struct held {
    static constexpr int32_t ABOVE = D == TSR_I16 ? 32768 : 0;
};

/* What step K makes of x. The sign of integer steps, and what they are held above their value, is in their taps and rounding: see march_signs. */
template <tsr_dtype D, class SHAPE, int K, class N>
TSR_DEVICE_FN typename element<D>::row march_lifted(const tsr_lift_step &s, typename element<D>::row x, N neighbour)
{
    typedef typename element<D>::row R;
    if constexpr (D == TSR_F32 || D == TSR_F64) {
        return lifted_as<D, SHAPE::taps(K)>(s, x, neighbour);
    } else {
        typedef typename element<D>::sum S;
        typedef typename element<D>::wrap W; /* sums wrap: only what is held above the values can make them */
        W t[TSR_WAVELET_TAPS], sum;
        auto wrapping = [&](int k) -> W { return (W)neighbour(k); };
#pragma unroll
        for (int k = 0; k < TSR_WAVELET_TAPS; k++) t[k] = (W)(S)s.tap[k];
        if constexpr (SHAPE::unit(K)) {
            sum = SHAPE::taps(K) == 2 ? wrapping(0) + wrapping(SHAPE::taps(K) - 1) : wrapping(0);
            if (SHAPE::minus(K)) sum = (W)0 - sum;
        } else if constexpr (SHAPE::taps(K) == 2) sum = TSR_LIFT_PAIR(t, wrapping);
        else if constexpr (SHAPE::taps(K) == 4) sum = TSR_LIFT_FOUR(t, wrapping);
        else sum = TSR_LIFT_EIGHT(t, wrapping);
        return (R)((uint32_t)x + (uint32_t)((S)(sum + (W)(S)s.rounding) >> SHAPE::shift(K)));
    }
}

/* x - ((sum + rounding) >> shift) is x + ((-sum + 2^shift - 1 - rounding) >> shift). */
template <tsr_dtype D, class SHAPE> static void march_signs(tsr_lift_filter *f)
{
    for (int32_t k = 0; k < f->steps; k++) {
        tsr_lift_step *s = &f->step[k];
        uint32_t taps = 0;
        if (s->sign < 0) {
            for (int32_t t = 0; t < s->count; t++) s->tap[t] = -s->tap[t];
            s->rounding = (1 << s->shift) - 1 - s->rounding;
            s->sign = 1;
        }
        for (int32_t t = 0; t < s->count; t++) taps += (uint32_t)s->tap[t];
        s->rounding = (int32_t)((uint32_t)s->rounding - taps * (uint32_t)held<D>::ABOVE);
    }
}

#endif
