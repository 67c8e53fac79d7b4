/* core/srgb.h: the curve of sRGB (IEC 61966-2-1) in float64, of values from 0 to 1. Kernels have it in float32, made of their own powers: render/maths.h. */
#ifndef TSR_CORE_SRGB_H
#define TSR_CORE_SRGB_H

#include <math.h>

static inline double tsr_linear_of_srgb(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static inline double tsr_srgb_of_linear(double v) { return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055; }

#endif
