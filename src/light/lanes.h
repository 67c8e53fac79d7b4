/* light/lanes.h: as many rays as a register of the CPU has lanes, one in each: the arithmetic of medium.h in the same order, hence the same bits. Included by
 * light_isa.c, once per SIMD variant. */
#ifndef TSR_LIGHT_LANES_H
#define TSR_LIGHT_LANES_H

#include "core/simd.h"
#include "light/light_ops.h"

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

TSR_INLINE lanes lanes_dot(const lanes a[3], const lanes b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
TSR_INLINE lanes lanes_luminance(const lanes c[3]) { return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2]; }

TSR_INLINE marks lanes_inside(const tsr_light_medium *m, const lanes p[3])
{
    return (marks)(p[0] >= -0.5f) & (marks)(p[1] >= -0.5f) & (marks)(p[2] >= -0.5f) & (marks)(p[0] <= m->upper[0]) & (marks)(p[1] <= m->upper[1]) &
           (marks)(p[2] <= m->upper[2]);
}
TSR_INLINE marks lanes_holds(const tsr_light_medium *m, const lanes p[3])
{
    const marks inside = lanes_inside(m, p);
    marks at[3], holds;
    for (int k = 0; k < 3; k++) at[k] = marks_min((inside & whole(p[k] + 0.5f)) / TSR_LIGHT_BLOCK, m->blocks[k] - 1);
    const marks block = (at[2] * m->blocks[1] + at[1]) * m->blocks[0] + at[0];
    for (int l = 0; l < LANES; l++) holds[l] = m->coarse[block[l]];
    return inside & holds;
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

/* As tsr_light_four, for lanes whose bits are set in `which`; p may lie outside: the nearest voxels then. */
TSR_INLINE void lanes_four(const tsr_light_medium *m, const float *from, uint32_t which, const lanes p[3], lanes to[4])
{
    const int64_t row = (int64_t)m->size[0] * 4, slice = row * m->size[1];
    float four[LANES][4], f[3][LANES];
    marks at[3];
    for (int k = 0; k < 3; k++) {
        const lanes c = lanes_min(lanes_max(p[k], lanes_all(0.0f)), lanes_all((float)(m->size[k] - 1)));
        at[k] = marks_min(whole(c), m->size[k] - 2);
        lanes_store(f[k], c - __builtin_convertvector(at[k], lanes));
    }
    const words voxel = (words)((at[2] * m->size[1] + at[1]) * m->size[0] + at[0]);
    uint32_t index[LANES];
    memcpy(index, &voxel, sizeof voxel);
    if (which != (1u << LANES) - 1) memset(four, 0, sizeof four);
    for (; which; which &= which - 1) {
        const int l = __builtin_ctz(which);
        const tsr_f4 own = tsr_f4_trilinear(from + (int64_t)index[l] * 4, row, slice, f[0][l], f[1][l], f[2][l]);
        memcpy(four[l], &own, sizeof own);
    }
    lanes_turn_over((const float(*)[4])four, to);
}

/* A medium for rays of several colours; `which`: lanes that are asked for. */
typedef struct lanes_medium {
    const tsr_light_medium *medium;
    lanes bend;
    uint32_t which;
} lanes_medium;

TSR_INLINE void lanes_sample(const lanes_medium *m, const lanes p[3], lanes to[4])
{
    const marks inside = lanes_inside(m->medium, p);
    lanes_four(m->medium, m->medium->index, m->which, p, to);
    to[0] = lanes_pick(inside, 1.0f + m->bend * (to[0] - 1.0f), lanes_all(1.0f));
    for (int k = 1; k < 4; k++) to[k] = (lanes)(inside & (marks)(m->bend * to[k]));
}

#define TSR_RAY_REAL lanes
#define TSR_RAY_ONE float
#define TSR_RAY_STEP lanes
#define TSR_RAY(name) lanes_ray_##name
#define TSR_RAY_MEDIUM const lanes_medium *
#define TSR_RAY_SAMPLE lanes_sample
TSR_INLINE lanes lanes_ray_root(lanes x) { return lanes_sqrt(x); }
#include "light/ray_step.h"

TSR_INLINE lanes lanes_exp(lanes x)
{
    const lanes t = x * 1.44269504f;
    const marks part = whole(t - 0.5f);
    const lanes n = __builtin_convertvector(part, lanes), r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    const lanes y = 1.0f + r + r * r * (0.5f + r * (1.6666667e-1f + r * (4.1666666e-2f + r * (8.3333333e-3f + r * 1.3888889e-3f))));
    return lanes_pick((marks)(x < -80.0f), lanes_all(0.0f), y * (lanes)((words)(part + 127) << 23));
}

#endif
