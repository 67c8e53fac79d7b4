/* vision/align/align_job.h: candidates of a camera judged by a picture's edges. The same formula on every backend; sums are whole numbers: the same bits. */
#ifndef TSR_VISION_ALIGN_JOB_H
#define TSR_VISION_ALIGN_JOB_H

#include "core/hd.h"

enum { TSR_ALIGN_DIRECTIONS = 4, TSR_ALIGN_OUTSIDE = 40, TSR_ALIGN_FAR = 255 };

/* Places to pixels of a level: e = m (x, 1), (u, v) = f e_xy / e_z (1 + k1 r^2 + k2 r^4) + c. */
typedef struct tsr_align_candidate {
    float m[12], f[2], c[2], k[2];
} tsr_align_candidate;

typedef struct tsr_align_job {
    int32_t width, height, samples, candidates;
    const float *sample;      /* [6][samples]: a place of a line, and its direction */
    const uint8_t *distance;  /* [directions][height][width]: to the nearest edge of about that direction, 255 as far as counts */
    const tsr_align_candidate *candidate;
    uint32_t *cost;           /* [candidates]: sum over the samples */
} tsr_align_job;

/* Of a direction in the picture (y down): 0 along x, 1 where y grows with x, 2 along y, 3 where y falls. */
TSR_HD int32_t tsr_align_direction(float u, float v)
{
    const float a = tsr_absf(u), b = tsr_absf(v);
    if (b < 0.41421356f * a) return 0;
    if (a < 0.41421356f * b) return 2;
    return (u > 0.0f) == (v > 0.0f) ? 1 : 3;
}

/* Where in the distances a sample is looked up; -1: outside or behind. */
TSR_HD int32_t tsr_align_place(const tsr_align_candidate *c, int32_t width, int32_t height, float x, float y, float z, float dx, float dy, float dz)
{
    const float ex = c->m[0] * x + c->m[1] * y + c->m[2] * z + c->m[3], ey = c->m[4] * x + c->m[5] * y + c->m[6] * z + c->m[7];
    const float ez = c->m[8] * x + c->m[9] * y + c->m[10] * z + c->m[11];
    const float gx = c->m[0] * dx + c->m[1] * dy + c->m[2] * dz, gy = c->m[4] * dx + c->m[5] * dy + c->m[6] * dz, gz = c->m[8] * dx + c->m[9] * dy + c->m[10] * dz;
    const float du = c->f[0] * (gx * ez - ex * gz), dv = c->f[1] * (gy * ez - ey * gz);
    const float inverse = 1.0f / (ez > 1e-6f ? ez : 1e-6f), a = ex * inverse, b = ey * inverse, r2 = a * a + b * b;
    const float g = 1.0f + r2 * (c->k[0] + r2 * c->k[1]);
    const float u = c->f[0] * (a * g) + c->c[0], v = c->f[1] * (b * g) + c->c[1];
    const int inside = ez > 1e-6f && u >= 0.0f && v >= 0.0f && u < (float)width && v < (float)height;
    return inside ? (tsr_align_direction(du, dv) * height + (int32_t)v) * width + (int32_t)u : -1;
}
TSR_HD uint32_t tsr_align_cost(const tsr_align_job *j, const tsr_align_candidate *c, int32_t i)
{
    const float *s = j->sample;
    const int64_t n = j->samples;
    const int32_t at = tsr_align_place(c, j->width, j->height, s[i], s[n + i], s[2 * n + i], s[3 * n + i], s[4 * n + i], s[5 * n + i]);
    return at < 0 ? (uint32_t)TSR_ALIGN_OUTSIDE : j->distance[at];
}

#endif
