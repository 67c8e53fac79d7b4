/* core/quad.h: four and eight floats at a time: registers of the CPU, plain numbers on a GPU. The same bits on both. */
#ifndef TSR_CORE_QUAD_H
#define TSR_CORE_QUAD_H

#include "core/hd.h"

#if defined(__CUDACC__)
struct tsr_f4 { float e[4]; };
struct tsr_f8 { float e[8]; };
#define TSR_F4_AT(v, i) ((v).e[i])
#define TSR_QUAD_OPERATORS_(type, n)                                                                                                              \
    static __host__ __device__ __forceinline__ type operator+(const type &a, const type &b)                                                     \
    {                                                                                                                                             \
        type r;                                                                                                                                   \
        for (int k = 0; k < n; k++) r.e[k] = a.e[k] + b.e[k];                                                                                     \
        return r;                                                                                                                                 \
    }                                                                                                                                             \
    static __host__ __device__ __forceinline__ type operator-(const type &a, const type &b)                                                     \
    {                                                                                                                                             \
        type r;                                                                                                                                   \
        for (int k = 0; k < n; k++) r.e[k] = a.e[k] - b.e[k];                                                                                     \
        return r;                                                                                                                                 \
    }                                                                                                                                             \
    static __host__ __device__ __forceinline__ type operator*(const type &a, const type &b)                                                     \
    {                                                                                                                                             \
        type r;                                                                                                                                   \
        for (int k = 0; k < n; k++) r.e[k] = a.e[k] * b.e[k];                                                                                     \
        return r;                                                                                                                                 \
    }                                                                                                                                             \
    static __host__ __device__ __forceinline__ type operator*(float a, const type &b)                                                           \
    {                                                                                                                                             \
        type r;                                                                                                                                   \
        for (int k = 0; k < n; k++) r.e[k] = a * b.e[k];                                                                                          \
        return r;                                                                                                                                 \
    }
TSR_QUAD_OPERATORS_(tsr_f4, 4)
TSR_QUAD_OPERATORS_(tsr_f8, 8)
#undef TSR_QUAD_OPERATORS_
struct tsr_i4 { int32_t e[4]; };
#define TSR_I4_AT(v, i) ((v).e[i])
#define TSR_QUAD_EACH_(type, expression)                                                                                                          \
    type r;                                                                                                                                       \
    for (int k = 0; k < 4; k++) r.e[k] = (expression);                                                                                            \
    return r;
static __host__ __device__ __forceinline__ tsr_i4 operator+(const tsr_i4 &a, const tsr_i4 &b) { TSR_QUAD_EACH_(tsr_i4, a.e[k] + b.e[k]) }
TSR_HD tsr_i4 tsr_i4_of(const tsr_f4 &a) { TSR_QUAD_EACH_(tsr_i4, (int32_t)a.e[k]) }
TSR_HD tsr_f4 tsr_f4_of(const tsr_i4 &a) { TSR_QUAD_EACH_(tsr_f4, (float)a.e[k]) }
TSR_HD tsr_i4 tsr_f4_above(const tsr_f4 &a, const tsr_f4 &b) { TSR_QUAD_EACH_(tsr_i4, a.e[k] > b.e[k] ? -1 : 0) }
TSR_HD tsr_i4 tsr_i4_above(const tsr_i4 &a, const tsr_i4 &b) { TSR_QUAD_EACH_(tsr_i4, a.e[k] > b.e[k] ? -1 : 0) }
TSR_HD tsr_f4 tsr_f4_pick(const tsr_i4 &m, const tsr_f4 &a, const tsr_f4 &b) { TSR_QUAD_EACH_(tsr_f4, m.e[k] ? a.e[k] : b.e[k]) }
TSR_HD tsr_i4 tsr_i4_pick(const tsr_i4 &m, const tsr_i4 &a, const tsr_i4 &b) { TSR_QUAD_EACH_(tsr_i4, m.e[k] ? a.e[k] : b.e[k]) }
#undef TSR_QUAD_EACH_
#else
typedef float tsr_f4 __attribute__((vector_size(16)));
typedef float tsr_f8 __attribute__((vector_size(32)));
typedef int32_t tsr_i4 __attribute__((vector_size(16)));
#define TSR_F4_AT(v, i) ((v)[i])
#define TSR_I4_AT(v, i) ((v)[i])
TSR_HD tsr_i4 tsr_i4_of(tsr_f4 a) { return __builtin_convertvector(a, tsr_i4); } /* towards 0 */
TSR_HD tsr_f4 tsr_f4_of(tsr_i4 a) { return __builtin_convertvector(a, tsr_f4); }
TSR_HD tsr_i4 tsr_f4_above(tsr_f4 a, tsr_f4 b) { return (tsr_i4)(a > b); } /* all bits where true */
TSR_HD tsr_i4 tsr_i4_above(tsr_i4 a, tsr_i4 b) { return (tsr_i4)(a > b); }
TSR_HD tsr_f4 tsr_f4_pick(tsr_i4 m, tsr_f4 a, tsr_f4 b) { return (tsr_f4)((m & (tsr_i4)a) | (~m & (tsr_i4)b)); }
TSR_HD tsr_i4 tsr_i4_pick(tsr_i4 m, tsr_i4 a, tsr_i4 b) { return (m & a) | (~m & b); }
#endif
TSR_HD tsr_f4 tsr_f4_make(float x, float y, float z)
{
    tsr_f4 v;
    TSR_F4_AT(v, 0) = x;
    TSR_F4_AT(v, 1) = y;
    TSR_F4_AT(v, 2) = z;
    TSR_F4_AT(v, 3) = 0.0f;
    return v;
}
TSR_HD tsr_i4 tsr_i4_make(int32_t x, int32_t y, int32_t z)
{
    tsr_i4 v;
    TSR_I4_AT(v, 0) = x;
    TSR_I4_AT(v, 1) = y;
    TSR_I4_AT(v, 2) = z;
    TSR_I4_AT(v, 3) = 0;
    return v;
}

TSR_HD tsr_f4 tsr_f4_load(const float *p)
{
    tsr_f4 r;
#ifdef __CUDA_ARCH__
    const float4 q = __ldg((const float4 *)(const void *)p);
    r.e[0] = q.x, r.e[1] = q.y, r.e[2] = q.z, r.e[3] = q.w;
#else
    memcpy(&r, p, sizeof r);
#endif
    return r;
}

TSR_HD void tsr_f4_store(float *p, tsr_f4 v)
{
#ifdef __CUDA_ARCH__
    *(float4 *)(void *)p = make_float4(v.e[0], v.e[1], v.e[2], v.e[3]);
#else
    memcpy(p, &v, sizeof v);
#endif
}

/* Four values between the eight samples of a cell, from that at its lower corner on; sy and sz floats to the next along y and z, t in [0, 1]^3: along y, then z,
 * then x. */
TSR_HD tsr_f4 tsr_f4_trilinear(const float *p, int64_t sy, int64_t sz, float tx, float ty, float tz)
{
#ifdef __CUDA_ARCH__
    const tsr_f4 a0 = tsr_f4_load(p), a1 = tsr_f4_load(p + 4), b0 = tsr_f4_load(p + sy), b1 = tsr_f4_load(p + sy + 4);
    const tsr_f4 c0 = tsr_f4_load(p + sz), c1 = tsr_f4_load(p + sz + 4), d0 = tsr_f4_load(p + sz + sy), d1 = tsr_f4_load(p + sz + sy + 4);
    const tsr_f4 e0 = a0 + ty * (b0 - a0), e1 = a1 + ty * (b1 - a1), f0 = c0 + ty * (d0 - c0), f1 = c1 + ty * (d1 - c1);
    const tsr_f4 low = e0 + tz * (f0 - e0), high = e1 + tz * (f1 - e1);
#else
    tsr_f8 a, b, c, d, e, f, l;
    tsr_f4 low, high;
    memcpy(&a, p, sizeof a);
    memcpy(&b, p + sy, sizeof b);
    memcpy(&c, p + sz, sizeof c);
    memcpy(&d, p + sz + sy, sizeof d);
    e = a + ty * (b - a);
    f = c + ty * (d - c);
    l = e + tz * (f - e);
    memcpy(&low, &l, sizeof low);
    memcpy(&high, (const char *)&l + sizeof low, sizeof high);
#endif
    return low + tx * (high - low);
}

#endif
