/* flow/tubes_math.h: frames along a line and rings around it. Class exact. */
#ifndef TSR_FLOW_TUBES_MATH_H
#define TSR_FLOW_TUBES_MATH_H

#include <math.h>

#include "core/hd.h"

enum { TSR_TUBE_SIDES = 64, TSR_TUBE_COLORS = 256 };

typedef struct tsr_tube_job {
    int64_t lines, points;
    const uint64_t *offsets;  /* [lines + 1]: points */
    const uint64_t *rings;    /* [lines]: first ring of each line in the mesh (lines of one point have none) */
    const uint64_t *segments; /* [lines]: first segment */
    const uint64_t *capped;   /* [lines]: lines before it that have rings */
    const float *positions;
    const float *tangents;    /* [points][3] of a field, 0 where it rests; NULL: chords */
    float *frames;            /* [points][6]: the tangent, and the first direction of the ring */
    const float *values;      /* [points] for colours, or NULL */
    float lower, upper, radius, taper;
    int32_t sides, caps, by_direction;
    float around[TSR_TUBE_SIDES][2]; /* cosine and sine */
    uint8_t palette[TSR_TUBE_COLORS][3];
    float *vertices, *normals;
    uint8_t *colors;
    uint32_t *triangles;
} tsr_tube_job;

TSR_HD double tsr_tube_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
TSR_HD int tsr_tube_unit(double a[3])
{
    const double square = tsr_tube_dot(a, a);
    if (!(square > 1e-60)) return 0;
    const double inverse = 1.0 / sqrt(square);
    for (int i = 0; i < 3; i++) a[i] *= inverse;
    return 1;
}

/* The tangent of a point: the field's, or the chord to its neighbours; *t stays where both vanish. The field's points against the line on none of ours: lines run
 * with it. */
TSR_HD void tsr_tube_tangent(const tsr_tube_job *j, int64_t first, int64_t last, int64_t k, double t[3])
{
    double own[3];
    if (j->tangents) {
        for (int i = 0; i < 3; i++) own[i] = (double)j->tangents[3 * k + i];
        if (tsr_tube_unit(own)) {
            for (int i = 0; i < 3; i++) t[i] = own[i];
            return;
        }
    }
    const int64_t a = k > first ? k - 1 : k, b = k < last ? k + 1 : k;
    for (int i = 0; i < 3; i++) own[i] = (double)j->positions[3 * b + i] - (double)j->positions[3 * a + i];
    if (tsr_tube_unit(own))
        for (int i = 0; i < 3; i++) t[i] = own[i];
}

/* Some direction perpendicular to t: across the axis that t is farthest from. */
TSR_HD void tsr_tube_across(const double t[3], double r[3])
{
    const double x = fabs(t[0]), y = fabs(t[1]), z = fabs(t[2]);
    const double axis[3] = { x <= y && x <= z ? 1.0 : 0.0, y < x && y <= z ? 1.0 : 0.0, z < x && z < y ? 1.0 : 0.0 };
    const double along = tsr_tube_dot(t, axis);
    for (int i = 0; i < 3; i++) r[i] = axis[i] - along * t[i];
    tsr_tube_unit(r);
}

/* Rotation-minimising frames of one line by double reflection (Wang, Juettler, Zheng and Liu 2008): reflect tangent and direction in the plane between two
 * points, then in the plane that takes the reflected tangent to the next one. */
TSR_HD void tsr_tube_frames(const tsr_tube_job *j, int64_t line)
{
    const int64_t first = (int64_t)j->offsets[line], last = (int64_t)j->offsets[line + 1] - 1;
    double t[3] = { 1.0, 0.0, 0.0 }, r[3];
    if (last <= first) return;
    tsr_tube_tangent(j, first, last, first, t);
    tsr_tube_across(t, r);
    for (int64_t k = first;; k++) {
        for (int i = 0; i < 3; i++) {
            j->frames[6 * k + i] = (float)t[i];
            j->frames[6 * k + 3 + i] = (float)r[i];
        }
        if (k == last) return;
        double v1[3], v2[3], next[3] = { t[0], t[1], t[2] };
        tsr_tube_tangent(j, first, last, k + 1, next);
        for (int i = 0; i < 3; i++) v1[i] = (double)j->positions[3 * (k + 1) + i] - (double)j->positions[3 * k + i];
        const double c1 = tsr_tube_dot(v1, v1);
        double rl[3] = { r[0], r[1], r[2] }, tl[3] = { t[0], t[1], t[2] };
        if (c1 > 0.0) {
            const double a = 2.0 / c1 * tsr_tube_dot(v1, r), b = 2.0 / c1 * tsr_tube_dot(v1, t);
            for (int i = 0; i < 3; i++) {
                rl[i] -= a * v1[i];
                tl[i] -= b * v1[i];
            }
        }
        for (int i = 0; i < 3; i++) v2[i] = next[i] - tl[i];
        const double c2 = tsr_tube_dot(v2, v2);
        if (c2 > 1e-24) {
            const double a = 2.0 / c2 * tsr_tube_dot(v2, rl);
            for (int i = 0; i < 3; i++) rl[i] -= a * v2[i];
        }
        const double along = tsr_tube_dot(rl, next); /* rounding does not add up */
        for (int i = 0; i < 3; i++) {
            t[i] = next[i];
            r[i] = rl[i] - along * next[i];
        }
        if (!tsr_tube_unit(r)) tsr_tube_across(t, r);
    }
}

/* Ring n of a line: `sides` vertices. */
TSR_HD void tsr_tube_ring(const tsr_tube_job *j, int64_t line, int64_t n)
{
    const int64_t first = (int64_t)j->offsets[line], count = (int64_t)j->offsets[line + 1] - first, k = first + n;
    const float *t = j->frames + 6 * k, *r = t + 3, *p = j->positions + 3 * k;
    const float s[3] = { t[1] * r[2] - t[2] * r[1], t[2] * r[0] - t[0] * r[2], t[0] * r[1] - t[1] * r[0] };
    float radius = j->radius;
    if (j->taper > 0.0f) {
        const float at = (float)n / (float)(count - 1), end = tsr_minf(at, 1.0f - at) / j->taper;
        if (end < 1.0f) radius = radius * (0.05f + 0.95f * sqrtf(end * (2.0f - end)));
    }
    uint8_t color[3] = { 0, 0, 0 };
    if (j->colors && j->by_direction) {
        for (int i = 0; i < 3; i++) color[i] = (uint8_t)(tsr_absf(t[i]) * 215.0f + 40.0f);
    } else if (j->colors) {
        const float share = j->upper > j->lower ? (j->values[k] - j->lower) / (j->upper - j->lower) : 0.5f;
        const int32_t c = (int32_t)(tsr_clampf(share, 0.0f, 1.0f) * (float)(TSR_TUBE_COLORS - 1) + 0.5f);
        for (int i = 0; i < 3; i++) color[i] = j->palette[c][i];
    }
    for (int32_t a = 0; a < j->sides; a++) {
        const int64_t v = ((int64_t)j->rings[line] + n) * j->sides + a;
        for (int i = 0; i < 3; i++) {
            const float normal = j->around[a][0] * r[i] + j->around[a][1] * s[i];
            j->normals[3 * v + i] = normal;
            j->vertices[3 * v + i] = p[i] + radius * normal;
        }
        for (int i = 0; j->colors && i < 3; i++) j->colors[4 * v + i] = color[i];
        if (j->colors) j->colors[4 * v + 3] = 255;
    }
}

/* The triangles between rings n and n + 1; with the first and the last those of the caps. */
TSR_HD void tsr_tube_segment(const tsr_tube_job *j, int64_t line, int64_t n)
{
    const int64_t segments = (int64_t)j->offsets[line + 1] - (int64_t)j->offsets[line] - 1, caps = j->caps ? 2 * ((int64_t)j->sides - 2) : 0;
    int64_t to = ((int64_t)j->segments[line] + n) * 2 * j->sides + (int64_t)j->capped[line] * caps;
    const uint32_t base = (uint32_t)(((int64_t)j->rings[line] + n) * j->sides), sides = (uint32_t)j->sides;
    for (uint32_t a = 0; a < sides; a++) {
        const uint32_t b = a + 1 < sides ? a + 1 : 0;
        uint32_t *out = j->triangles + 3 * to;
        out[0] = base + a, out[1] = base + b, out[2] = base + sides + a;
        out[3] = base + b, out[4] = base + sides + b, out[5] = base + sides + a;
        to += 2;
    }
    if (!caps || n + 1 < segments) return;
    const uint32_t low = (uint32_t)((int64_t)j->rings[line] * j->sides), high = base + sides;
    for (uint32_t a = 1; a + 1 < sides; a++) {
        uint32_t *out = j->triangles + 3 * to;
        out[0] = low, out[1] = low + a + 1, out[2] = low + a;
        out[3] = high, out[4] = high + a, out[5] = high + a + 1;
        to += 2;
    }
}

#endif
