/* light/lanes.h: as many rays as a register of the CPU has lanes, one in each: the arithmetic of medium.h in the same order, hence the same bits. Included by
 * light_isa.c, once per SIMD variant. */
#ifndef TSR_LIGHT_LANES_H
#define TSR_LIGHT_LANES_H

#include "core/simd_lanes.h"
#include "light/light_ops.h"

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
