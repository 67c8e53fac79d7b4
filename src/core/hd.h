/* core/hd.h: what lets one text of a formula compile as C11 (CPU), C++17 (emulator) and CUDA.
 *
 * Rules for a shared header: no malloc, no I/O, no globals, no recursion, no double literals in float code, explicit casts. Exact-class
 * code uses + - * / , comparisons and tsr_rsqrt only; libm's transcendental functions differ between compilers. */
#ifndef TSR_CORE_HD_H
#define TSR_CORE_HD_H

#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define TSR_HD static __host__ __device__ __forceinline__
#define TSR_RESTRICT __restrict__
#else
/* TSR_QUICK_BUILD (sanitizers, emulator): every function checked once instead of in each place it is inlined to, which compiles in minutes. */
#if defined(TSR_QUICK_BUILD)
#define TSR_INLINE static inline __attribute__((unused))
#else
#define TSR_INLINE static inline __attribute__((always_inline, unused))
#endif
#define TSR_HD TSR_INLINE
#define TSR_RESTRICT __restrict
#endif

TSR_HD float tsr_minf(float a, float b) { return a < b ? a : b; }
TSR_HD float tsr_maxf(float a, float b) { return a > b ? a : b; }
TSR_HD float tsr_absf(float a) { return a < 0.0f ? -a : a; }
TSR_HD float tsr_clampf(float v, float lower, float upper) { return tsr_minf(tsr_maxf(v, lower), upper); }
TSR_HD int32_t tsr_mini(int32_t a, int32_t b) { return a < b ? a : b; }
TSR_HD int32_t tsr_maxi(int32_t a, int32_t b) { return a > b ? a : b; }
TSR_HD int64_t tsr_minl(int64_t a, int64_t b) { return a < b ? a : b; }
TSR_HD int64_t tsr_maxl(int64_t a, int64_t b) { return a > b ? a : b; }

TSR_HD uint32_t tsr_float_bits(float v) { uint32_t u; memcpy(&u, &v, 4); return u; }
TSR_HD float tsr_bits_float(uint32_t u) { float v; memcpy(&v, &u, 4); return v; }
/* "None" with the same bits on every device; NAN of the C library has others in CUDA. */
TSR_HD float tsr_no_number(void) { return tsr_bits_float(0x7fc00000u); }

/* 1/sqrt(x) for x >= 0 with the same bits on every backend and SIMD width: integer first guess, one step of a tuned polynomial and one of
 * Newton, multiplications and subtractions only. Relative error below 8e-7. x = 0 gives a large finite number, so that x * tsr_rsqrt(x) = 0. */
TSR_HD float tsr_rsqrt(float x)
{
    float y = tsr_bits_float(0x5f1ffff9u - (tsr_float_bits(x) >> 1));
    y = y * (0.703952253f * (2.38924456f - x * y * y));
    y = y * (1.5f - 0.5f * x * y * y);
    return y;
}
TSR_HD float tsr_sqrt(float x) { return x * tsr_rsqrt(x); }

#endif
