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

#endif
