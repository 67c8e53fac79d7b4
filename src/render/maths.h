/* render/maths.h: float vectors and the few transcendental functions of the renderer, as polynomials so that every backend gives the same bits. */
#ifndef TSR_RENDER_MATHS_H
#define TSR_RENDER_MATHS_H

#include "core/hd.h"

typedef struct tsr_float3 { float x, y, z; } tsr_float3;

#define TSR_FLOAT_BIG 3.0e38f

TSR_HD tsr_float3 tsr_f3(float x, float y, float z) { tsr_float3 v; v.x = x; v.y = y; v.z = z; return v; }
TSR_HD tsr_float3 tsr_add3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x + b.x, a.y + b.y, a.z + b.z); }
TSR_HD tsr_float3 tsr_sub3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x - b.x, a.y - b.y, a.z - b.z); }
TSR_HD tsr_float3 tsr_scale3(tsr_float3 a, float s) { return tsr_f3(a.x * s, a.y * s, a.z * s); }
TSR_HD tsr_float3 tsr_mul3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x * b.x, a.y * b.y, a.z * b.z); }
TSR_HD tsr_float3 tsr_along3(tsr_float3 o, tsr_float3 d, float t) { return tsr_f3(o.x + d.x * t, o.y + d.y * t, o.z + d.z * t); }
TSR_HD float tsr_dot3(tsr_float3 a, tsr_float3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
TSR_HD tsr_float3 tsr_cross3(tsr_float3 a, tsr_float3 b)
{
    return tsr_f3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
TSR_HD float tsr_get3(tsr_float3 a, int32_t k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }
TSR_HD tsr_float3 tsr_mix3(tsr_float3 a, tsr_float3 b, float t) { return tsr_add3(tsr_scale3(a, 1.0f - t), tsr_scale3(b, t)); }

/* a / |a|, or `otherwise` where a is too short, infinite or NaN. */
TSR_HD tsr_float3 tsr_normalize3(tsr_float3 a, tsr_float3 otherwise)
{
    float most = tsr_maxf(tsr_absf(a.x), tsr_maxf(tsr_absf(a.y), tsr_absf(a.z)));
    if (!(most > 1.0e-30f && most < 1.0e30f)) return otherwise;
    a = tsr_scale3(a, 1.0f / most);
    float s = tsr_dot3(a, a);
    if (!(s >= 1.0f && s < 4.0f)) return otherwise; /* a NaN component */
    return tsr_scale3(a, tsr_rsqrt(s));
}

TSR_HD float tsr_saturatef(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; } /* NaN gives 0 */
TSR_HD float tsr_smoothstepf(float low, float high, float v)
{
    float t = tsr_saturatef((v - low) / (high - low));
    return t * t * (3.0f - 2.0f * t);
}

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

/* sRGB (IEC 61966-2-1). */
TSR_HD float tsr_srgb_encode(float v)
{
    v = tsr_saturatef(v);
    return v <= 0.0031308f ? 12.92f * v : 1.055f * tsr_powf(v, 1.0f / 2.4f) - 0.055f;
}
TSR_HD float tsr_srgb_decode(float v)
{
    v = tsr_saturatef(v);
    return v <= 0.04045f ? v / 12.92f : tsr_powf((v + 0.055f) / 1.055f, 2.4f);
}
TSR_HD tsr_float3 tsr_srgb_linear(float r, float g, float b) { return tsr_f3(tsr_srgb_decode(r), tsr_srgb_decode(g), tsr_srgb_decode(b)); }

/* [0, 1) from a pixel; the same everywhere. */
TSR_HD float tsr_pixel_hash(uint32_t x, uint32_t y)
{
    uint32_t h = x * 0x9e3779b1u ^ (y + 0x7f4a7c15u) * 0x85ebca6bu;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return (float)(h >> 8) * 0x1p-24f;
}

#endif
