/* levelset/source/scheme.h: the discretisation of [Laan11 6] at one voxel, as its text and docs/theory/levelset.md 2, 4 have it. Written from those pages
 * alone; the library's own text is solver/scheme.h. Lengths in voxels, phi < 0 inside; p points at the voxel, sy and sz are strides. */
#ifndef TSR_TESTS_SOURCE_SCHEME_H
#define TSR_TESTS_SOURCE_SCHEME_H

#include <math.h>

/* fmaxf and fminf are calls, for the sake of NaN. */
static inline float source_max(float a, float b) { return a > b ? a : b; }
static inline float source_min(float a, float b) { return a < b ? a : b; }

/* One axis: D- and D+. */
typedef struct source_pair {
    float minus, plus;
} source_pair;

static inline source_pair source_first_order(const float *p, int s) { return (source_pair){ p[0] - p[-s], p[s] - p[0] }; }

static inline float source_weno5(float v1, float v2, float v3, float v4, float v5)
{
    const float third = 1.0f / 3, sixth = 1.0f / 6;
    const float q1 = third * v1 - 7 * sixth * v2 + 11 * sixth * v3, q2 = -sixth * v2 + 5 * sixth * v3 + third * v4,
                q3 = third * v3 + 5 * sixth * v4 - sixth * v5;
    const float a = v1 - 2 * v2 + v3, b = v1 - 4 * v2 + 3 * v3, c = v2 - 2 * v3 + v4, d = v2 - v4, e = v3 - 2 * v4 + v5, f = 3 * v3 - 4 * v4 + v5;
    const float s1 = 13.0f / 12 * a * a + 0.25f * b * b, s2 = 13.0f / 12 * c * c + 0.25f * d * d, s3 = 13.0f / 12 * e * e + 0.25f * f * f;
    const float largest = source_max(source_max(source_max(v1 * v1, v2 * v2), source_max(v3 * v3, v4 * v4)), v5 * v5),
                floor = 1e-6f * largest + 1e-12f;
    const float a1 = 0.1f / ((s1 + floor) * (s1 + floor)), a2 = 0.6f / ((s2 + floor) * (s2 + floor)), a3 = 0.3f / ((s3 + floor) * (s3 + floor));
    return (a1 * q1 + a2 * q2 + a3 * q3) / (a1 + a2 + a3);
}
static inline source_pair source_fifth_order(const float *p, int s)
{
    const float d0 = p[-2 * s] - p[-3 * s], d1 = p[-s] - p[-2 * s], d2 = p[0] - p[-s], d3 = p[s] - p[0], d4 = p[2 * s] - p[s],
                d5 = p[3 * s] - p[2 * s];
    return (source_pair){ source_weno5(d0, d1, d2, d3, d4), source_weno5(d5, d4, d3, d2, d1) };
}

static inline float source_square(float v) { return v * v; }

/* The norms of upwind differences: of a front that moves outwards, and of one that moves inwards. Osher-Sethian sums; with `larger`, Godunov's choice. */
static inline float source_outwards(source_pair x, source_pair y, source_pair z, int larger)
{
    const source_pair axis[3] = { x, y, z };
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        const float a = source_square(source_max(axis[k].minus, 0)), b = source_square(source_min(axis[k].plus, 0));
        sum += larger ? source_max(a, b) : a + b;
    }
    return sqrtf(sum);
}
static inline float source_inwards(source_pair x, source_pair y, source_pair z, int larger)
{
    const source_pair axis[3] = { x, y, z };
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        const float a = source_square(source_max(axis[k].plus, 0)), b = source_square(source_min(axis[k].minus, 0));
        sum += larger ? source_max(a, b) : a + b;
    }
    return sqrtf(sum);
}

/* K |grad phi| from central differences, |K| at most 2, and |grad phi|. */
static inline float source_bent(const float *p, int sy, int sz, float *slope)
{
    const float x = 0.5f * (p[1] - p[-1]), y = 0.5f * (p[sy] - p[-sy]), z = 0.5f * (p[sz] - p[-sz]), square = x * x + y * y + z * z;
    const float xx = p[1] - 2 * p[0] + p[-1], yy = p[sy] - 2 * p[0] + p[-sy], zz = p[sz] - 2 * p[0] + p[-sz];
    const float xy = 0.25f * (p[1 + sy] - p[1 - sy] - p[-1 + sy] + p[-1 - sy]), xz = 0.25f * (p[1 + sz] - p[1 - sz] - p[-1 + sz] + p[-1 - sz]),
                yz = 0.25f * (p[sy + sz] - p[sy - sz] - p[-sy + sz] + p[-sy - sz]);
    *slope = sqrtf(square);
    if (square < 1e-12f) return 0;
    const float along = x * x * xx + y * y * yy + z * z * zz + 2 * (x * y * xy + x * z * xz + y * z * yz);
    const float most = 2 * *slope;
    return source_min(source_max((xx + yy + zz) - along / square, -most), most);
}

/* delta(phi) of half width e, and how much of a voxel is inside. */
static inline double source_delta(double phi, double e) { return fabs(phi) < e ? (1 + cos(3.14159265358979323846 * phi / e)) / (2 * e) : 0; }
static inline double source_inside(double phi, double e)
{
    const double pi = 3.14159265358979323846;
    return phi <= -e ? 1 : phi >= e ? 0 : 0.5 * (1 - phi / e - sin(pi * phi / e) / pi);
}

#endif
