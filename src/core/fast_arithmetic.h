/* core/fast_arithmetic.h: for kernels of the reproducible class (docs/theory/foundations.md 8) that are made of the same formulas as kernels of the exact class. Included
 * before them it gives the roots, quotients, least and largest of core/hd.h the instructions of the device; such a file is compiled with
 * contraction besides (FUSED in src/ROOM/CMakeLists.txt). On the emulator they round correctly. No NaN among the arguments of the least and the largest. */
#ifndef TSR_CORE_FAST_ARITHMETIC_H
#define TSR_CORE_FAST_ARITHMETIC_H

#include "core/fast.h"

/* a / b to 2 ulp where |b| is between 2^-126 and 2^126; what is smaller than 2^-126 counts as 0. */
TSR_HD float tsr_fast_quotient(float a, float b)
{
#ifdef __CUDA_ARCH__
    float q;
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b)); /* __fdividef scales by tests and products */
    return q;
#else
    return a / b;
#endif
}
TSR_HD float tsr_fast_clamp(float v, float lower, float upper) { return fminf(fmaxf(v, lower), upper); }

#define tsr_sqrt tsr_fast_sqrt
#define tsr_rsqrt tsr_fast_rsqrt
#define tsr_quotient tsr_fast_quotient
#define tsr_minf tsr_fast_min
#define tsr_maxf tsr_fast_max
#define tsr_clampf tsr_fast_clamp
#define tsr_absf fabsf

#endif
