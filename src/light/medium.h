/* light/medium.h: the volumes that light travels through, and how they are sampled. All lengths are in voxels, places in voxel indices: voxel (x, y, z) lies AT
 * the index. Beyond half a voxel outside of the volume the index of refraction is 1 and there is nothing else. */
#ifndef TSR_LIGHT_MEDIUM_H
#define TSR_LIGHT_MEDIUM_H

#include "core/quad.h"

/* What a block of voxels may hold, with the two voxels around it: where it holds nothing, rays are straight and clear, and are moved without looking. */
enum {
    TSR_LIGHT_BENDS = 1, /* the index varies */
    TSR_LIGHT_DIMS = 2,  /* light is taken away */
    TSR_LIGHT_SCATTERS = 4,
    TSR_LIGHT_EMITS = 8,
    TSR_LIGHT_STOPS = 16,     /* opaque voxels */
    TSR_LIGHT_STRAIGHT = 255, /* of a cell */
    TSR_LIGHT_BLOCK = 4,      /* voxels along an edge of a block */
    TSR_LIGHT_FAR = 5         /* bits above hold how many blocks around are empty in all directions, this one counted */
};

typedef struct tsr_light_medium {
    int32_t size[3], blocks[3];
    const float *index;    /* [z][y][x][4]: n, its gradient per voxel */
    const float *dim;      /* [z][y][x][4]: extinction of r, g, b per voxel, coverage by opaque matter 0 to 1; NULL: none */
    const float *scatter;  /* [z][y][x][4]: scattering of r, g, b per voxel, g of Henyey and Greenstein; NULL: none */
    const float *emit;     /* [z][y][x][4]: radiance of r, g, b per voxel; NULL: none */
    const float *skin;     /* [z][y][x][4]: reflectance of opaque matter r, g, b, 0; NULL: none */
    const uint8_t *coarse; /* [bz][by][bx] what a block holds */
    const float
        *edge; /* [z][y][x][4]: distance from the nearest surface in voxels, positive where the index is larger, and its gradient; NULL: none */
    const uint8_t *
        cells; /* [z][y][x] of the cell from this voxel to the next ones: which surface passes it or is near, 0: none that is known exactly, TSR_LIGHT_STRAIGHT: nothing bends
                            * light there or within a step */
    const float *sides; /* [256][2] the smaller and the larger index on the sides of a surface */
    float upper[3];     /* size - 1/2 */
    float bend;         /* of this colour: n becomes 1 + bend (n - 1) */
} tsr_light_medium;

TSR_HD int tsr_light_inside(const tsr_light_medium *m, const float p[3])
{
    return p[0] >= -0.5f && p[1] >= -0.5f && p[2] >= -0.5f && p[0] <= m->upper[0] && p[1] <= m->upper[1] && p[2] <= m->upper[2];
}

/* What the block at p holds, 0 outside. */
TSR_HD int tsr_light_holds(const tsr_light_medium *m, const float p[3])
{
    if (!tsr_light_inside(m, p)) return 0;
    const int32_t x = (int32_t)(p[0] + 0.5f) / TSR_LIGHT_BLOCK, y = (int32_t)(p[1] + 0.5f) / TSR_LIGHT_BLOCK,
                  z = (int32_t)(p[2] + 0.5f) / TSR_LIGHT_BLOCK;
    return m->coarse[((int64_t)tsr_mini(z, m->blocks[2] - 1) * m->blocks[1] + tsr_mini(y, m->blocks[1] - 1)) * m->blocks[0] +
                     tsr_mini(x, m->blocks[0] - 1)];
}

/* The cell of p, which is inside, by its lowest voxel; f: where in it. */
TSR_HD int64_t tsr_light_spot(const tsr_light_medium *m, const float p[3], float f[3])
{
    int32_t at[3];
    for (int k = 0; k < 3; k++) {
        const float c = tsr_clampf(p[k], 0.0f, (float)(m->size[k] - 1));
        at[k] = tsr_mini((int32_t)c, m->size[k] - 2);
        f[k] = c - (float)at[k];
    }
    return ((int64_t)at[2] * m->size[1] + at[1]) * m->size[0] + at[0];
}
/* Four values at p, between voxels by three linear interpolations. p is inside. */
TSR_HD void tsr_light_four(const tsr_light_medium *m, const float *from, const float p[3], float to[4])
{
    float f[3];
    const int64_t spot = tsr_light_spot(m, p, f), row = (int64_t)m->size[0] * 4, slice = row * m->size[1];
    const tsr_f4 four = tsr_f4_trilinear(from + spot * 4, row, slice, f[0], f[1], f[2]);
    for (int k = 0; k < 4; k++) to[k] = TSR_F4_AT(four, k);
}

/* Index and gradient at p for this colour. */
TSR_HD void tsr_light_sample(const tsr_light_medium *m, const float p[3], float to[4])
{
    if (!tsr_light_inside(m, p)) {
        to[0] = 1.0f;
        to[1] = to[2] = to[3] = 0.0f;
        return;
    }
    tsr_light_four(m, m->index, p, to);
    to[0] = 1.0f + m->bend * (to[0] - 1.0f);
    for (int k = 1; k < 4; k++) to[k] = m->bend * to[k];
}

/* e^x for x <= 0, relative error below 2e-7; 0 below -80. The same bits everywhere: twice as exact as tsr_expf of core/exponent.h, whose pictures keep
 * their own bits. */
TSR_HD float tsr_light_exp(float x)
{
    if (x < -80.0f) return 0.0f;
    const float t = x * 1.44269504f;
    const int32_t whole = (int32_t)(t - 0.5f);
    const float r = (x - (float)whole * 0.693359375f) + (float)whole * 2.12194440e-4f;
    const float y = 1.0f + r + r * r * (0.5f + r * (1.6666667e-1f + r * (4.1666666e-2f + r * (8.3333333e-3f + r * 1.3888889e-3f))));
    return y * tsr_bits_float((uint32_t)(whole + 127) << 23);
}

/* log2 x for x > 0 and normal, absolute error below 1e-6: the polynomial of tsr_log2_of in the form of tsr_log2, whose pictures keep their own bits. */
TSR_HD float tsr_light_log2(float x)
{
    const uint32_t bits = tsr_float_bits(x), from = bits - 0x3f3504f3u; /* mantissa from sqrt(1/2) to sqrt(2) */
    const int32_t whole = (int32_t)from >> 23;
    const float m = tsr_bits_float(bits - ((uint32_t)whole << 23)), s = (m - 1.0f) / (m + 1.0f), q = s * s;
    return (float)whole + s * (2.88539008f + q * (0.961796694f + q * (0.577078016f + q * (0.412198583f + q * 0.320598898f))));
}
/* x^p for x >= 0 and p > 0, 0 for x below 1e-30; for x up to 1, or powers that stay there. */
TSR_HD float tsr_light_raise(float x, float p)
{
    if (x < 1e-30f) return 0.0f;
    const float t = tsr_light_log2(x) * p;
    if (t > 0.0f) return 1.0f / tsr_light_exp(-0.693147181f * t);
    return tsr_light_exp(0.693147181f * t);
}

/* Phase function of Henyey and Greenstein: share of scattered light per steradian at the cosine c. */
TSR_HD float tsr_light_phase(float g, float c)
{
    const float base = tsr_maxf(1.0f + g * g - 2.0f * g * c, 1e-6f), inverse = 1.0f / tsr_sqrt(base);
    return 0.0795774715f * (1.0f - g * g) * (inverse * inverse * inverse);
}

/* Share of unpolarised light that is reflected where the index goes from a to b, c: cosine of the angle to the normal on a's side. */
TSR_HD float tsr_light_fresnel(float a, float b, float c)
{
    const float s2 = a / b * (a / b) * (1.0f - c * c);
    if (s2 >= 1.0f) return 1.0f;
    const float t = tsr_sqrt(1.0f - s2);
    const float rs = (a * c - b * t) / (a * c + b * t), rp = (b * c - a * t) / (b * c + a * t);
    return 0.5f * (rs * rs + rp * rp);
}

/* What a passage between two media reflects: a run of rising or falling index along a ray, from `from` to `to`, c: cosine on the first side, steep: square of the
 * steepest gradient. 0 where the index changes slowly, over ten voxels or more: that is no surface, nor is a change by less than 0.02. */
#define TSR_LIGHT_SLOPE 4e-3f  /* of the index along a ray, from which on it rises or falls */
#define TSR_LIGHT_TURNED 1e30f /* for `steep`: of a ray on its way back from a total reflection */
/* The normal of a surface that changes a ray's speed (as long as the index) from a to b: along the change, since what runs along the surface stays (Snell's law). Voxels'
 * gradients at one place would be rougher. Returns the part of a along it. */
TSR_HD float tsr_light_facing(const float a[3], const float b[3], float normal[3])
{
    float d2 = 0.0f, to = 0.0f;
    for (int k = 0; k < 3; k++) {
        normal[k] = b[k] - a[k];
        d2 += normal[k] * normal[k];
    }
    const float inverse = tsr_rsqrt(tsr_maxf(d2, 1e-12f));
    for (int k = 0; k < 3; k++) {
        normal[k] = normal[k] * inverse;
        to += a[k] * normal[k];
    }
    return to;
}
TSR_HD float tsr_light_reflects(float from, float to, float c, float steep)
{
    const float change = tsr_absf(to - from);
    if (change < 0.02f || steep < 0.01f * change * change || steep >= TSR_LIGHT_TURNED) return 0.0f;
    const float limit = from > to ? tsr_sqrt(1.0f - 0.995f * (to / from) * (to / from)) : 0.0f; /* it passed: no total reflection */
    return tsr_light_fresnel(from, to, tsr_maxf(tsr_minf(c, 1.0f), limit));
}

/* What is said of p's cell: the surface in it or near, 0: none that is known exactly, TSR_LIGHT_STRAIGHT. */
TSR_HD int32_t tsr_light_surface(const tsr_light_medium *m, const float p[3])
{
    float f[3];
    return m->cells && tsr_light_inside(m, p) ? m->cells[tsr_light_spot(m, p, f)] : 0;
}
/* The index of this colour on the side of a surface where the distance is d. */
TSR_HD float tsr_light_side(const tsr_light_medium *m, int32_t surface, float d)
{
    return 1.0f + m->bend * (m->sides[2 * surface + (d >= 0.0f)] - 1.0f);
}
#define TSR_LIGHT_GRAZING 0.01f
/* p comes to be at least this far, in voxels, on the side `sign` of a surface of normal n. */
#define TSR_LIGHT_CLEAR 1e-3f
TSR_HD void tsr_light_clear(const tsr_light_medium *m, float sign, const float n[3], float p[3])
{
    float e[4];
    if (!tsr_light_inside(m, p)) return;
    tsr_light_four(m, m->edge, p, e);
    const float more = TSR_LIGHT_CLEAR - sign * e[0];
    if (more > 0.0f && more < 0.5f)
        for (int k = 0; k < 3; k++) p[k] = p[k] + sign * more * n[k];
}

/* A step dt of time in a cell where `surface` is near: straight on, and refracted, or totally reflected, where the way meets the surface (Snell's law). Sets `reflected` to the share of
 * light that it reflects and keeps from the other side, 0 where all of it turns back; returns whether the way met it. */
TSR_HD int tsr_light_refract(const tsr_light_medium *m, int32_t surface, float x[3], float v[3], float dt, float *reflected)
{
    float e[4], to[4], q[3], n[3], v2 = 0.0f, n2 = 0.0f, along = 0.0f;
    tsr_light_four(m, m->edge, x, e);
    const float own = tsr_light_side(m, surface, e[0]), sign = e[0] >= 0.0f ? 1.0f : -1.0f, way = dt / (own * own);
    for (int k = 0; k < 3; k++) v2 += v[k] * v[k];
    const float scale = own * tsr_rsqrt(v2);
    for (int k = 0; k < 3; k++) {
        v[k] = v[k] * scale;
        q[k] = x[k] + way * v[k];
    }
    int meets = sign * e[0] < 0.1f + 1.5f * own * way && tsr_light_surface(m, q) == surface;
    if (meets) {
        tsr_light_four(m, m->edge, q, to);
        meets = sign * to[0] < 0.0f;
    }
    if (!meets) {
        for (int k = 0; k < 3; k++) x[k] = q[k];
        return 0;
    }
    const float slope = 1.0f / (e[0] - to[0]);
    float t = e[0] * slope;
    for (int k = 0; k < 3; k++) q[k] = x[k] + t * way * v[k];
    tsr_light_four(m, m->edge, q, to);
    t = tsr_clampf(t + to[0] * slope, 0.0f, 1.0f);
    for (int k = 0; k < 3; k++) n2 += to[k + 1] * to[k + 1];
    const float inverse = tsr_rsqrt(tsr_maxf(n2, 1e-12f));
    for (int k = 0; k < 3; k++) {
        n[k] = to[k + 1] * inverse;
        along += v[k] * n[k];
    }
    const float other = tsr_light_side(m, surface, -sign), k2 = other * other - own * own + along * along;
    const int passes =
        k2 > -TSR_LIGHT_GRAZING * own * own; /* what came in along a surface, at the limit of total reflection, would go round in a ball for ever */
    const float across = tsr_sqrt(tsr_maxf(k2, 0.0f)), change = passes ? (along < 0.0f ? -across : across) - along : -2.0f * along;
    const float length = passes ? other * tsr_rsqrt(v2 * scale * scale - along * along + across * across) : 1.0f;
    const float left = passes ? (1.0f - t) * dt / (other * other) : (1.0f - t) * way;
    for (int k = 0; k < 3; k++) {
        x[k] = x[k] + t * way * v[k];
        v[k] = length * (v[k] + change * n[k]);
        x[k] = x[k] + left * v[k];
    }
    tsr_light_clear(m, passes ? -sign : sign, n, x);
    *reflected = passes ? tsr_light_fresnel(own, other, tsr_minf(tsr_absf(along) / own, 1.0f)) : 0.0f;
    return 1;
}

/* A direction in 32 bits (octahedron, 16 bits each), to 5e-5 rad. 0 stands for none. */
TSR_HD uint32_t tsr_light_pack(const float d[3])
{
    const float sum = tsr_absf(d[0]) + tsr_absf(d[1]) + tsr_absf(d[2]);
    if (!(sum > 0.0f)) return 0u;
    float u = d[0] / sum, v = d[1] / sum;
    if (d[2] < 0.0f) {
        const float w = (1.0f - tsr_absf(v)) * (u < 0.0f ? -1.0f : 1.0f);
        v = (1.0f - tsr_absf(u)) * (v < 0.0f ? -1.0f : 1.0f);
        u = w;
    }
    return (uint32_t)(int32_t)(u * 32767.0f + 32768.5f) << 16 | (uint32_t)(int32_t)(v * 32767.0f + 32768.5f);
}
TSR_HD void tsr_light_unpack(uint32_t packed, float d[3])
{
    float u = ((float)(packed >> 16) - 32768.0f) * (1.0f / 32767.0f), v = ((float)(packed & 65535u) - 32768.0f) * (1.0f / 32767.0f);
    d[2] = 1.0f - tsr_absf(u) - tsr_absf(v);
    if (d[2] < 0.0f) {
        const float w = (1.0f - tsr_absf(v)) * (u < 0.0f ? -1.0f : 1.0f);
        v = (1.0f - tsr_absf(u)) * (v < 0.0f ? -1.0f : 1.0f);
        u = w;
    }
    const float inverse = tsr_rsqrt(u * u + v * v + d[2] * d[2]);
    d[0] = u * inverse;
    d[1] = v * inverse;
    d[2] = d[2] * inverse;
}

TSR_HD float tsr_light_luminance(const float c[3]) { return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2]; }

/* Rays: float through a medium, double through a function (rays.c). */
enum { TSR_RAY_RK4 = 0, TSR_RAY_MIDPOINT, TSR_RAY_EULER, TSR_RAY_VERLET, TSR_RAY_LEAP };
enum { TSR_RAY_TIME = 0, TSR_RAY_LENGTH };

TSR_HD float tsr_ray_root_f32(float x) { return tsr_sqrt(x); }
#define TSR_RAY_REAL float
#define TSR_RAY_ONE float
#define TSR_RAY_STEP float
#define TSR_RAY(name) tsr_ray_##name##_f32
#define TSR_RAY_MEDIUM const tsr_light_medium *
#define TSR_RAY_SAMPLE tsr_light_sample
#include "light/ray_step.h"

#endif
