/* core/fast.h: arithmetic for formulas of the reproducible and tolerant classes (docs/theory/foundations.md 8) whose GPU twin may round differently from the CPU's:
 * fused multiply-add where the text says so, and the hardware's roots. Same bits run to run on one backend; 2 ulp for the roots on a GPU. Exact-class code
 * does not include this header. */
#ifndef TSR_CORE_FAST_H
#define TSR_CORE_FAST_H

#include <math.h>

#include "core/hd.h"

/* a b + c, rounded once. */
TSR_HD float tsr_fma(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

/* 1/sqrt(x), x > 0 and normal. */
TSR_HD float tsr_fast_rsqrt(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / sqrtf(x);
#endif
}

/* sqrt(x), x >= 0; subnormal x count as 0 on a GPU. */
TSR_HD float tsr_fast_sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return sqrtf(x);
#endif
}

/* Adds the square of v to *above where v > 0, else to *below: three instructions of a GPU. */
TSR_HD void tsr_fast_square(float v, float *above, float *below)
{
#ifdef __CUDA_ARCH__
    asm("{ .reg .pred p; setp.gt.f32 p, %2, 0f00000000; @p fma.rn.f32 %0, %2, %2, %0; @!p fma.rn.f32 %1, %2, %2, %1; }"
        : "+f"(*above), "+f"(*below)
        : "f"(v));
#else
    float *to = v > 0.0f ? above : below;
    *to = fmaf(v, v, *to);
#endif
}

/* One instruction each on a GPU; no NaN among the arguments. */
TSR_HD float tsr_fast_min(float a, float b) { return fminf(a, b); }
TSR_HD float tsr_fast_max(float a, float b) { return fmaxf(a, b); }

#endif
