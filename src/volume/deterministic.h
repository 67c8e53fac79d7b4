/* volume/deterministic.h: elementary functions and random numbers with the same bits on every machine: float64, + - * / and sqrt only (IEEE
 * defines those), no contraction. Errors stay below a few ulp, which is far more than a phantom or a filter weight needs. */
#ifndef TSR_VOLUME_DETERMINISTIC_H
#define TSR_VOLUME_DETERMINISTIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/mix.h"

TSR_HD double tsr_det_power_of_two(int64_t e) /* -1022 <= e <= 1023 */
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* exp: x = k ln 2 + r, |r| <= ln 2 / 2, Taylor to r^13. */
TSR_HD double tsr_det_exp(double x)
{
    if (x < -708.0) return 0.0;
    if (x > 709.0) x = 709.0;
    double k = floor(x * 1.4426950408889634 + 0.5);
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10, sum = 1.0;
    for (int n = 13; n > 0; n--) sum = 1.0 + sum * r / (double)n;
    return sum * tsr_det_power_of_two((int64_t)k);
}

/* ln for normal x > 0: x = 2^k m, m in [1/sqrt2, sqrt2); 2 atanh((m-1)/(m+1)). */
TSR_HD double tsr_det_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    double k = (double)((int64_t)(bits >> 52) - 1023), m;
    bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k += 1.0;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 0.0;
    for (int n = 21; n > 0; n -= 2) sum = sum * s2 + 1.0 / (double)n;
    return k * 0.693147180559945309417 + 2.0 * s * sum;
}

/* sin and cos of 2 pi t: the argument in turns reduces exactly. */
TSR_HD void tsr_det_sincos_turns(double t, double *s, double *c)
{
    t = t - floor(t);
    double quarter = floor(4.0 * t + 0.5), x = (t - 0.25 * quarter) * 6.283185307179586477, x2 = x * x; /* |x| <= pi/4 */
    double a = 0.0, b = 0.0;
    for (int n = 8; n > 0; n--) {
        a = (1.0 + a) * (-x2 / (double)((2 * n) * (2 * n + 1)));
        b = (1.0 + b) * (-x2 / (double)((2 * n - 1) * (2 * n)));
    }
    double sine = x + x * a, cosine = 1.0 + b;
    switch ((int)quarter & 3) {
    case 0: *s = sine; *c = cosine; break;
    case 1: *s = cosine; *c = -sine; break;
    case 2: *s = -sine; *c = -cosine; break;
    default: *s = -cosine; *c = sine; break;
    }
}
TSR_HD double tsr_det_sin(double radians)
{
    double s, c;
    tsr_det_sincos_turns(radians * 0.15915494309189533577, &s, &c);
    return s;
}
TSR_HD double tsr_det_cos(double radians)
{
    double s, c;
    tsr_det_sincos_turns(radians * 0.15915494309189533577, &s, &c);
    return c;
}

/* Counter-based generator: number i of stream `seed` is SplitMix64 at position i; no state. */
TSR_HD uint64_t tsr_det_random(uint64_t seed, uint64_t i)
{
    return tsr_mix64(seed * 0xd1342543de82ef95ull + (i + 1) * TSR_GOLDEN_STEP);
}
/* Uniform in (0, 1): never 0, so that its logarithm is finite. */
TSR_HD double tsr_det_uniform(uint64_t seed, uint64_t i) { return ((double)(tsr_det_random(seed, i) >> 12) + 0.5) * 2.220446049250313e-16; }

/* Two independent normal numbers (Box, Muller 1958) from counters 2i and 2i + 1. */
TSR_HD void tsr_det_normal_pair(uint64_t seed, uint64_t i, double *a, double *b)
{
    double radius = sqrt(-2.0 * tsr_det_log(tsr_det_uniform(seed, 2 * i))), s, c;
    tsr_det_sincos_turns(tsr_det_uniform(seed, 2 * i + 1), &s, &c);
    *a = radius * c;
    *b = radius * s;
}

#endif
