/* wavelet/wavelet_element.h: what kernels know of the types of samples, and one lifting step on a sample, for any filter. Included by .cu files. */
#ifndef TSR_WAVELET_WAVELET_ELEMENT_H
#define TSR_WAVELET_WAVELET_ELEMENT_H

#include "device/kernel.h"

#include "wavelet/lifting.h"

template <tsr_dtype D> struct element;
template <> struct element<TSR_I16> {
    typedef int16_t memory;
    typedef int32_t row;
    typedef int32_t sum;
    typedef uint32_t wrap; /* sums that may wrap on their way */
    typedef int32_t whole; /* of integer sums */
};
template <> struct element<TSR_I32> {
    typedef int32_t memory;
    typedef int32_t row;
    typedef int64_t sum;
    typedef uint64_t wrap;
    typedef int64_t whole;
};
template <> struct element<TSR_F32> {
    typedef float memory;
    typedef float row;
    typedef float sum;
    typedef int32_t whole;
};
template <> struct element<TSR_F64> {
    typedef double memory;
    typedef double row;
    typedef double sum;
    typedef int32_t whole;
};

template <tsr_dtype D> TSR_DEVICE_FN typename element<D>::row loaded(typename element<D>::memory v, int32_t shift, double scale)
{
    if (D == TSR_I16) return (typename element<D>::row)((uint32_t)(int32_t)v << shift);
    if (D == TSR_I32) return (typename element<D>::row)TSR_LIFT_RAISE((int64_t)v, shift);
    typename element<D>::row factor = (typename element<D>::row)scale;
    return factor == (typename element<D>::row)1 ? v : v * factor;
}

template <tsr_dtype D> TSR_DEVICE_FN typename element<D>::memory stored(typename element<D>::row v, int32_t shift, double scale, uint32_t *bad)
{
    if (D == TSR_I16) {
        int32_t w = TSR_LIFT_LOWER((int32_t)v, shift);
        *bad |= TSR_LIFT_LOST(w);
        return (typename element<D>::memory)w;
    }
    if (D == TSR_I32) return (typename element<D>::memory)TSR_LIFT_LOWER((int64_t)v, shift);
    typename element<D>::row factor = (typename element<D>::row)scale;
    return (typename element<D>::memory)(factor == (typename element<D>::row)1 ? v : v * factor);
}

/* What a step makes of x, with neighbour(k) the k-th neighbour. COUNT: 2, 4, 8 symmetric taps, 1 tap, or 0: any. */
template <tsr_dtype D, int COUNT, class N>
TSR_DEVICE_FN typename element<D>::row lifted_as(const tsr_lift_step &s, typename element<D>::row x, N neighbour)
{
    typedef typename element<D>::sum S;
    S sum, t[TSR_WAVELET_TAPS];
#pragma unroll
    for (int k = 0; k < TSR_WAVELET_TAPS; k++) t[k] = D == TSR_F32 ? (S)s.real32[k] : D == TSR_F64 ? (S)s.real[k] : (S)s.tap[k];
    if (COUNT == 2) sum = TSR_LIFT_PAIR(t, neighbour);
    else if (COUNT == 4) sum = TSR_LIFT_FOUR(t, neighbour);
    else if (COUNT == 8) sum = TSR_LIFT_EIGHT(t, neighbour);
    else {
        sum = t[0] * neighbour(0);
        for (int32_t k = 1; COUNT == 0 && k < s.count; k++) sum = sum + t[k] * neighbour(k);
    }
    if (D == TSR_F32 || D == TSR_F64) return (typename element<D>::row)(x + sum);
    typedef typename element<D>::whole W;
    W p = TSR_LIFT_ROUND((W)sum, s.rounding, s.shift);
    return (typename element<D>::row)((uint32_t)x + (uint32_t)p * (uint32_t)s.sign); /* i32 wraps */
}
TSR_DEVICE_FN int32_t ruled_as(const tsr_lift_step &s, const int32_t *t, const int32_t *v)
{
    return tsr_lift_rule_i32(s.rule, s.threshold, s.count, t, v);
}
TSR_DEVICE_FN int64_t ruled_as(const tsr_lift_step &s, const int64_t *t, const int64_t *v)
{
    return tsr_lift_rule_i64(s.rule, s.threshold, s.count, t, v);
}
TSR_DEVICE_FN float ruled_as(const tsr_lift_step &s, const float *t, const float *v) { return tsr_lift_rule_f32(s.rule, s.threshold, s.count, t, v); }
TSR_DEVICE_FN double ruled_as(const tsr_lift_step &s, const double *t, const double *v)
{
    return tsr_lift_rule_f64(s.rule, s.threshold, s.count, t, v);
}

/* The same for steps that are no sums. */
template <tsr_dtype D, class N> TSR_DEVICE_FN typename element<D>::row ruled(const tsr_lift_step &s, typename element<D>::row x, N neighbour)
{
    typedef typename element<D>::sum S;
    S t[TSR_WAVELET_TAPS] = {}, v[TSR_WAVELET_TAPS] = {};
    for (int32_t k = 0; k < s.count; k++) {
        t[k] = D == TSR_F32 ? (S)s.real32[k] : D == TSR_F64 ? (S)s.real[k] : (S)s.tap[k];
        v[k] = neighbour(k);
    }
    const S f = ruled_as(s, t, v);
    if (D == TSR_F32 || D == TSR_F64) return (typename element<D>::row)(s.sign < 0 ? x - f : x + f);
    typedef typename element<D>::whole W;
    W p = TSR_LIFT_ROUND((W)f, s.rounding, s.shift);
    return (typename element<D>::row)((uint32_t)x + (uint32_t)p * (uint32_t)s.sign);
}

template <tsr_dtype D, class N> TSR_DEVICE_FN typename element<D>::row lifted(const tsr_lift_step &s, typename element<D>::row x, N neighbour)
{
    if (s.rule) return ruled<D>(s, x, neighbour);
    if (s.symmetric && s.count == 2) return lifted_as<D, 2>(s, x, neighbour);
    if (s.symmetric && s.count == 4) return lifted_as<D, 4>(s, x, neighbour);
    if (s.symmetric && s.count == 8) return lifted_as<D, 8>(s, x, neighbour);
    return lifted_as<D, 0>(s, x, neighbour);
}

#endif
