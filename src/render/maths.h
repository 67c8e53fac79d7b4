/* render/maths.h: float vectors and the few transcendental functions of the renderer, as polynomials so that every backend gives the same bits. */
#ifndef TSR_RENDER_MATHS_H
#define TSR_RENDER_MATHS_H

#include "core/exponent.h"
#include "core/hd.h"

typedef struct tsr_float3 {
    float x, y, z;
} tsr_float3;

#define TSR_FLOAT_BIG 3.0e38f

TSR_HD tsr_float3 tsr_f3(float x, float y, float z)
{
    tsr_float3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
TSR_HD tsr_float3 tsr_add3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x + b.x, a.y + b.y, a.z + b.z); }
TSR_HD tsr_float3 tsr_sub3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x - b.x, a.y - b.y, a.z - b.z); }
TSR_HD tsr_float3 tsr_scale3(tsr_float3 a, float s) { return tsr_f3(a.x * s, a.y * s, a.z * s); }
TSR_HD tsr_float3 tsr_mul3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.x * b.x, a.y * b.y, a.z * b.z); }
TSR_HD tsr_float3 tsr_along3(tsr_float3 o, tsr_float3 d, float t) { return tsr_f3(o.x + d.x * t, o.y + d.y * t, o.z + d.z * t); }
TSR_HD float tsr_dot3(tsr_float3 a, tsr_float3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
TSR_HD tsr_float3 tsr_cross3(tsr_float3 a, tsr_float3 b) { return tsr_f3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
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

/* sRGB (IEC 61966-2-1). */
#define TSR_SRGB_POWER (1.0f / 2.4f)
TSR_HD float tsr_srgb_of(float v, float power) { return v <= 0.0031308f ? 12.92f * v : 1.055f * power - 0.055f; } /* v from 0 to 1, and its power */
TSR_HD float tsr_srgb_encode(float v)
{
    v = tsr_saturatef(v);
    return tsr_srgb_of(v, tsr_powf(v, TSR_SRGB_POWER));
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
