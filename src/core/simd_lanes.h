/* core/simd_lanes.h: one item in each lane of a register of the CPU: floats, whole numbers, and marks with all bits of a lane set or none. For files that are compiled
 * once per SIMD variant. Exact: every operation rounds as the plain one does. */
#ifndef TSR_CORE_SIMD_LANES_H
#define TSR_CORE_SIMD_LANES_H

#include "core/simd.h"

enum { LANES = TSR_WIDE_32 };
typedef tsr_wide_f32 lanes;
typedef tsr_wide_i32 marks; /* all bits of a lane, or none; whole numbers */
typedef tsr_wide_u32 words;

TSR_INLINE lanes lanes_load(const float *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}
TSR_INLINE void lanes_store(float *to, lanes v) { memcpy(to, &v, sizeof v); }
TSR_INLINE lanes lanes_pick(marks m, lanes a, lanes b) { return (lanes)((m & (marks)a) | (~m & (marks)b)); }
TSR_INLINE marks marks_pick(marks m, marks a, marks b) { return (m & a) | (~m & b); }
TSR_INLINE lanes lanes_min(lanes a, lanes b) { return lanes_pick((marks)(a < b), a, b); }
TSR_INLINE lanes lanes_max(lanes a, lanes b) { return lanes_pick((marks)(a > b), a, b); }
TSR_INLINE lanes lanes_abs(lanes a) { return lanes_pick((marks)(a < 0.0f), -a, a); }
TSR_INLINE lanes lanes_all(float v) { return (lanes){ 0 } + v; }
TSR_INLINE marks marks_min(marks a, int32_t b) { return marks_pick((marks)(a < b), a, (marks){ 0 } + b); }
TSR_INLINE marks whole(lanes a) { return __builtin_convertvector(a, marks); } /* towards 0 */
TSR_INLINE lanes lanes_sqrt(lanes x) { return x * tsr_wide_rsqrt(x); }

/* Bit l: lane l. */
TSR_INLINE uint32_t lanes_bits(marks m)
{
#if defined(TSR_ISA_IS_avx512)
    return _mm512_movepi32_mask((__m512i)m);
#elif defined(TSR_ISA_IS_avx2)
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#else
    uint32_t bits = 0;
    for (int l = 0; l < LANES; l++) bits |= (uint32_t)(m[l] & 1) << l;
    return bits;
#endif
}

/* Lanes of four numbers each to four rows of lanes. */
TSR_INLINE void lanes_turn_over(const float (*from)[4], lanes to[4])
{
#if defined(TSR_ISA_IS_avx512)
    const lanes a = lanes_load(from[0]), b = lanes_load(from[4]), c = lanes_load(from[8]), d = lanes_load(from[12]);
#define HALVES_(p, q, i)                                                                                                                      \
    __builtin_shufflevector(p, q, i, (i) + 4, (i) + 8, (i) + 12, (i) + 16, (i) + 20, (i) + 24, (i) + 28, (i) + 1, (i) + 5, (i) + 9, (i) + 13, \
                            (i) + 17, (i) + 21, (i) + 25, (i) + 29)
    const lanes ab = HALVES_(a, b, 0), cd = HALVES_(c, d, 0), ef = HALVES_(a, b, 2), gh = HALVES_(c, d, 2);
#undef HALVES_
    to[0] = __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    to[1] = __builtin_shufflevector(ab, cd, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    to[2] = __builtin_shufflevector(ef, gh, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    to[3] = __builtin_shufflevector(ef, gh, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
#elif defined(TSR_ISA_IS_avx2)
    const lanes a = lanes_load(from[0]), b = lanes_load(from[2]), c = lanes_load(from[4]), d = lanes_load(from[6]);
#define HALVES_(p, q, i) __builtin_shufflevector(p, q, i, (i) + 4, (i) + 8, (i) + 12, (i) + 1, (i) + 5, (i) + 9, (i) + 13)
    const lanes ab = HALVES_(a, b, 0), cd = HALVES_(c, d, 0), ef = HALVES_(a, b, 2), gh = HALVES_(c, d, 2);
#undef HALVES_
    to[0] = __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11);
    to[1] = __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15);
    to[2] = __builtin_shufflevector(ef, gh, 0, 1, 2, 3, 8, 9, 10, 11);
    to[3] = __builtin_shufflevector(ef, gh, 4, 5, 6, 7, 12, 13, 14, 15);
#else
    for (int k = 0; k < 4; k++) to[k] = (lanes){ from[0][k], from[1][k], from[2][k], from[3][k] };
#endif
}

#endif
