/* core/vec3.h: arithmetic of three float64 numbers. */
#ifndef TSR_CORE_VEC3_H
#define TSR_CORE_VEC3_H

#include <math.h>

#include "tessera/base.h"

static inline tsr_vec3 tsr_vec3_add(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.x + b.x, a.y + b.y, a.z + b.z }; }
static inline tsr_vec3 tsr_vec3_sub(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static inline tsr_vec3 tsr_vec3_scale(tsr_vec3 a, double s) { return (tsr_vec3){ a.x * s, a.y * s, a.z * s }; }
static inline double tsr_vec3_dot(tsr_vec3 a, tsr_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double tsr_vec3_length(tsr_vec3 a) { return sqrt(tsr_vec3_dot(a, a)); }

static inline tsr_vec3 tsr_vec3_cross(tsr_vec3 a, tsr_vec3 b)
{
    return (tsr_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static inline int tsr_vec3_finite(tsr_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/* Unit vector; 0 if a is 0 or not finite. */
static inline tsr_vec3 tsr_vec3_unit(tsr_vec3 a)
{
    const double most = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(most > 0) || !isfinite(a.x + a.y + a.z)) return (tsr_vec3){ 0, 0, 0 };
    a = tsr_vec3_scale(a, 1 / most);
    return tsr_vec3_scale(a, 1 / tsr_vec3_length(a));
}

#endif
