/* fluid/fluid_flow.h: curvature flow of a depth image z(x, y), at one pixel; docs/theory/fluid.md derives it.
 *
 * With hx, hy the widths of a pixel at depth z, p = z_x / hx, q = z_y / hy the slopes and W = 1 + p^2 + q^2,
 *     dz/dt = [ (1 + q^2) z_xx / hx + (1 + p^2) z_yy / hy - (1/hx + 1/hy) p q z_xy - (Cx p^2 + Cy q^2) ] / (2 W^(3/2)),   C = d h / d z
 * which is the mean curvature per pixel, with the sign that smooths. A time step is a share tau of the bound hx hy / (hx + hy) of the pixel itself,
 * or a global dt: alpha = dt / hx, beta = dt / hy. */
#ifndef TSR_FLUID_FLOW_H
#define TSR_FLUID_FLOW_H

#include "fluid/fluid_view.h"

typedef struct tsr_fluid_step {
    float slope[2], step[2];
    float ratio;       /* width of a pixel over its height */
    float alpha, beta; /* local steps: dt / hx and dt / hy, the same for all pixels; 0 for a global one */
    float dt;          /* a global step, or 0 */
    float threshold;   /* depths that differ by more are of different surfaces */
} tsr_fluid_step;

/* z and its neighbours: [row][column], the middle is [1][1]. */
typedef struct tsr_fluid_slopes {
    float x, y;       /* first differences per pixel; 0 along an axis with a missing neighbour */
    float p, q;       /* slopes: x ix, y iy */
    float ix, iy;     /* 1 / width of a pixel */
    float xx, yy, xy; /* second differences, likewise */
} tsr_fluid_slopes;

TSR_HD int tsr_fluid_near(float a, float b, float threshold) { return tsr_absf(a - b) <= threshold; } /* not where one is infinite */

TSR_HD tsr_fluid_slopes tsr_fluid_slopes_of(const tsr_fluid_step *s, float z, float w, float e, float n, float o, float nw, float ne, float sw,
                                            float se)
{
    tsr_fluid_slopes d;
    const int along_x = tsr_fluid_near(w, z, s->threshold) & tsr_fluid_near(e, z, s->threshold);
    const int along_y = tsr_fluid_near(n, z, s->threshold) & tsr_fluid_near(o, z, s->threshold);
    const int corners = along_x & along_y & tsr_fluid_near(nw, z, s->threshold) & tsr_fluid_near(ne, z, s->threshold) &
                        tsr_fluid_near(sw, z, s->threshold) & tsr_fluid_near(se, z, s->threshold);
    const int there = z < TSR_FLUID_NOTHING;
    const float at = there ? z : 1.0f;
    d.ix = 1.0f / (s->slope[0] * at + s->step[0]);
    d.iy = d.ix * s->ratio;
    d.x = along_x ? 0.5f * (e - w) : 0.0f;
    d.y = along_y ? 0.5f * (o - n) : 0.0f;
    d.p = d.x * d.ix;
    d.q = d.y * d.iy;
    d.xx = along_x ? (e - z) - (z - w) : 0.0f;
    d.yy = along_y ? (o - z) - (z - n) : 0.0f;
    d.xy = corners ? 0.25f * ((se - sw) - (ne - nw)) : 0.0f;
    return d;
}

/* W^(-3/2). */
TSR_HD float tsr_fluid_bend(float p, float q)
{
    const float r = tsr_rsqrt(1.0f + (p * p + q * q));
    return r * (r * r);
}

/* The frozen operator of implicit steps: 1 - cx d_xx - cy d_yy, and the explicit rest. */
TSR_HD void tsr_fluid_frozen(const tsr_fluid_step *s, const tsr_fluid_slopes *d, float *cx, float *cy, float *rest)
{
    const float alpha = s->alpha + s->dt * d->ix, beta = s->beta + s->dt * d->iy, bend = 0.5f * tsr_fluid_bend(d->p, d->q);
    const float drift = alpha * (s->slope[0] * (d->p * d->x)) + beta * (s->slope[1] * (d->q * d->y));
    *cx = (alpha * (1.0f + d->q * d->q)) * bend;
    *cy = (beta * (1.0f + d->p * d->p)) * bend;
    *rest = -((alpha + beta) * ((d->p * d->q) * d->xy) + drift) * bend;
}

/* The change of z in one explicit step. */
TSR_HD float tsr_fluid_flow(const tsr_fluid_step *s, const tsr_fluid_slopes *d)
{
    const float alpha = s->alpha + s->dt * d->ix, beta = s->beta + s->dt * d->iy;
    const float p2 = d->p * d->p, q2 = d->q * d->q;
    const float spread = alpha * ((1.0f + q2) * d->xx) + beta * ((1.0f + p2) * d->yy) - (alpha + beta) * ((d->p * d->q) * d->xy);
    const float drift = alpha * (s->slope[0] * (d->p * d->x)) + beta * (s->slope[1] * (d->q * d->y));
    return 0.5f * ((spread - drift) * tsr_fluid_bend(d->p, d->q));
}

/* 2 H per pixel by the same approximation, positive where the surface is a hump towards the eye: 2 dz/dt. */
TSR_HD float tsr_fluid_curvature(const tsr_fluid_step *s, const tsr_fluid_slopes *d)
{
    const float p2 = d->p * d->p, q2 = d->q * d->q;
    const float spread = (1.0f + q2) * d->xx * d->ix + (1.0f + p2) * d->yy * d->iy - (d->ix + d->iy) * (d->p * d->q * d->xy);
    return (spread - (s->slope[0] * p2 + s->slope[1] * q2)) * tsr_fluid_bend(d->p, d->q);
}

/* ---- the exact normal ------------------------------------------------------------------------------------------------------------------------
 * n ~ (-p, -q, 1 + gx slope p + gy slope q): p and q of 1 / z, which is linear on a plane: a face between two pixels has the slope
 * 2 (z_1 - z_0) / (C (z_0 + z_1) + 2 O) along its axis. So planes have one normal and stay what they are. */

/* Along the axis `k` between two neighbours, and, of the other axis, from the two pixels' own slopes. */
TSR_HD float tsr_fluid_face(const tsr_fluid_step *s, int32_t k, float z0, float z1)
{
    return (z1 - z0) / (0.5f * s->slope[k] * (z0 + z1) + s->step[k]);
}

/* n^ x of a face with slopes p (across) and q, at (gx, gy) in units of the slope: wx = gx slope. */
TSR_HD float tsr_fluid_tilt(float across, float other, float w_across, float w_other)
{
    const float third = 1.0f + w_across * across + w_other * other;
    return across * tsr_rsqrt(across * across + other * other + third * third);
}

/* Slope of pixel c along the axis of a and b by the exact rule: central where both are near, one-sided where one is, else 0. */
TSR_HD float tsr_fluid_central(const tsr_fluid_step *s, int32_t k, float a, float c, float b)
{
    const float centre = (0.5f * (b - a)) * c; /* (1/a - 1/b) / 2 over 1/c is (b - a) c / (2 a b): of a pinhole */
    const int pinhole = s->slope[k] > 0.0f;
    return (pinhole ? centre : 0.5f * (b - a)) / (pinhole ? s->slope[k] * (a * b) : s->step[k]);
}
TSR_HD float tsr_fluid_slope(const tsr_fluid_step *s, int32_t k, float a, float c, float b)
{
    const int left = tsr_fluid_near(a, c, s->threshold), right = tsr_fluid_near(b, c, s->threshold);
    if (left & right) return tsr_fluid_central(s, k, a, c, b);
    if (left) return tsr_fluid_face(s, k, a, c);
    if (right) return tsr_fluid_face(s, k, c, b);
    return 0.0f;
}

/* Slope for shading: at an edge the one-sided difference of smaller magnitude of those that there are. */
TSR_HD float tsr_fluid_shading_slope(const tsr_fluid_step *s, int32_t k, float a, float c, float b)
{
    const int left = tsr_fluid_near(a, c, s->threshold), right = tsr_fluid_near(b, c, s->threshold);
    const float one = tsr_fluid_face(s, k, a, c), two = tsr_fluid_face(s, k, c, b), both = tsr_fluid_central(s, k, a, c, b);
    const float single = left ? one : right ? two : 0.0f;
    return left & right ? both : single;
}

/* The exact flow's change of z in one step: half the divergence of n^, faces to missing neighbours closed (no flux). `m` are the 3 x 3 depths, row
 * by row. */
TSR_HD float tsr_fluid_flow_exact(const tsr_fluid_step *s, const float m[9], float gx, float gy)
{
    const float z = m[4];
    const float wx = gx * s->slope[0], wy = gy * s->slope[1];
    const int west = tsr_fluid_near(m[3], z, s->threshold), east = tsr_fluid_near(m[5], z, s->threshold);
    const int north = tsr_fluid_near(m[1], z, s->threshold), south = tsr_fluid_near(m[7], z, s->threshold);
    float across = 0.0f, down = 0.0f;
    if (west & east) {
        const float qw = tsr_fluid_slope(s, 1, m[0], m[3], m[6]), q = tsr_fluid_slope(s, 1, m[1], m[4], m[7]),
                    qe = tsr_fluid_slope(s, 1, m[2], m[5], m[8]);
        const float right = tsr_fluid_tilt(tsr_fluid_face(s, 0, z, m[5]), 0.5f * (q + qe), wx + 0.5f * s->slope[0], wy);
        const float left = tsr_fluid_tilt(tsr_fluid_face(s, 0, m[3], z), 0.5f * (q + qw), wx - 0.5f * s->slope[0], wy);
        across = right - left;
    }
    if (north & south) {
        const float pn = tsr_fluid_slope(s, 0, m[0], m[1], m[2]), p = tsr_fluid_slope(s, 0, m[3], m[4], m[5]),
                    po = tsr_fluid_slope(s, 0, m[6], m[7], m[8]);
        const float below = tsr_fluid_tilt(tsr_fluid_face(s, 1, z, m[7]), 0.5f * (p + po), wy + 0.5f * s->slope[1], wx);
        const float above = tsr_fluid_tilt(tsr_fluid_face(s, 1, m[1], z), 0.5f * (p + pn), wy - 0.5f * s->slope[1], wx);
        down = below - above;
    }
    const float dt = s->dt + s->alpha * (s->slope[0] * z + s->step[0]);
    return 0.5f * dt * (across + down);
}

/* The unit normal in eye coordinates, towards the eye (its z is not positive for what is seen). */
TSR_HD tsr_float3 tsr_fluid_normal(float p, float q, float wx, float wy)
{
    const tsr_float3 n = tsr_f3(p, q, -(1.0f + wx * p + wy * q));
    return tsr_normalize3(n, tsr_f3(0.0f, 0.0f, -1.0f));
}

#endif
