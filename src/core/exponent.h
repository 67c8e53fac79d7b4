/* core/exponent.h: powers and logarithms in single precision with the same bits on every backend, SIMD variant and compiler: no function of libm. Where
 * a room has its own beside it, its results are promised to the bit and round otherwise; it says so. */
#ifndef TSR_CORE_EXPONENT_H
#define TSR_CORE_EXPONENT_H

#include "core/hd.h"

TSR_HD int32_t tsr_floor_int(float v)
{
    int32_t i = (int32_t)v;
    return i - (int32_t)((float)i > v); /* without a branch, so that loops become vector code */
}
TSR_HD int32_t tsr_ceil_int(float v)
{
    int32_t i = (int32_t)v;
    return i + (int32_t)((float)i < v);
}

/* 2^x for x in [-126, 126], relative error below 4e-7. Taylor series of 2^f, f in [-0.5, 0.5]. */
TSR_HD float tsr_exp2_within(float x)
{
    int32_t i = tsr_floor_int(x + 0.5f);
    float f = x - (float)i;
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    return p * tsr_bits_float((uint32_t)(i + 127) << 23);
}
/* The same for any x, clamped. Loops over lanes clamp in a loop of its own: together the two do not become vector code. */
TSR_HD float tsr_exp2_clamp(float x) { return tsr_clampf(x, -126.0f, 126.0f); }
TSR_HD float tsr_exp2(float x) { return tsr_exp2_within(tsr_exp2_clamp(x)); }

/* log2(x) for normal x > 0, absolute error below 3e-7 near 1. Series of atanh in (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)). */
TSR_HD float tsr_log2(float x)
{
    uint32_t bits = tsr_float_bits(x);
    int32_t e = (int32_t)((bits + (0x80000000u - 0x3f3504f3u)) >> 23) - 256; /* rounded down, without a branch */
    float m = tsr_bits_float(bits - ((uint32_t)e << 23));
    float s = (m - 1.0f) / (m + 1.0f), q = s * s;
    float p = 1.0f / 9.0f;
    p = p * q + 1.0f / 7.0f;
    p = p * q + 1.0f / 5.0f;
    p = p * q + 1.0f / 3.0f;
    p = p * q + 1.0f;
    return (float)e + 2.8853900818f * (s * p);
}

TSR_HD float tsr_expf_exponent(float x) { return x * 1.4426950409f; }
TSR_HD float tsr_expf(float x) { return tsr_exp2(tsr_expf_exponent(x)); }
TSR_HD float tsr_powf(float x, float y) { return x > 1.2e-38f ? tsr_exp2(y * tsr_log2(x)) : 0.0f; }

#endif
