/* fluid/fluid_view.h: how particles become pixels: the camera in float32, one particle's record, its sphere or ellipsoid along the ray of a pixel.
 *
 * Eye coordinates: x to the right, y down the picture, z along the axis, away from the eye. The ray of the pixel at (gx, gy) pixels from the
 * principal point passes (gx (slope z + step), gy (slope z + step), z): slope is 0 for parallel rays, step for a pinhole. slope z + step is the
 * width of a pixel. */
#ifndef TSR_FLUID_VIEW_H
#define TSR_FLUID_VIEW_H

#include <math.h>

#include "render/maths.h"

/* Distances of what is not there: infinite, which compares as every distance does. */
#define TSR_FLUID_NOTHING ((float)INFINITY)

enum {
    TSR_FLUID_TILE = 16,
    TSR_FLUID_PAD = 16
}; /* pixels of a tile's side; columns that are free on either side of a row, and one row above and below */

typedef struct tsr_fluid_view {
    tsr_float3 eye, right, down, forward; /* in the particles' coordinates */
    float centre[2], slope[2], step[2], nearest;
    int32_t width, height, stride; /* padded images: pixel (x, y) is element (y + 1) stride + x + PAD */
    int32_t tiles[2];
} tsr_fluid_view;

TSR_HD int64_t tsr_fluid_at(const tsr_fluid_view *v, int32_t x, int32_t y) { return (int64_t)(y + 1) * v->stride + x + TSR_FLUID_PAD; }
TSR_HD float tsr_fluid_width(const tsr_fluid_view *v, int32_t axis, float z) { return v->slope[axis] * z + v->step[axis]; }
TSR_HD float tsr_fluid_offset(const tsr_fluid_view *v, int32_t axis, int32_t pixel) { return ((float)pixel + 0.5f) - v->centre[axis]; }

/* A particle as it is drawn. */
typedef struct tsr_fluid_record {
    float x, y, z, radius; /* eye coordinates; radius 0: not drawn as fluid */
    float weight;          /* of its thickness: below 1 for one that is drawn larger than it is, so that its volume stays */
    float reach;           /* radius within which it changes pixels at all */
    float noise, spray;    /* amplitude of its noise; opacity as spray */
} tsr_fluid_record;

/* What is the same for all particles of a frame. */
typedef struct tsr_fluid_cast {
    tsr_fluid_view view;
    float radius, scale;         /* of particles without one of their own; all are drawn `scale` times as large */
    float least;                 /* pixels: smaller ones are drawn so large */
    float noise_reach;           /* noise sprites are so many radii wide; 0: none */
    float spray_low, spray_high; /* densities: below the first all spray, above the second none; both 0: no spray */
    float spray_opacity, spray_size;
    float noise_calm, noise_wild; /* amplitudes of a calm and of an agitated particle */
    int32_t sprite;               /* 1: discs facing the picture in place of spheres */
    int32_t count;
} tsr_fluid_cast;

/* First and last pixel that a sphere of radius r round (a, z) covers along one axis. */
TSR_HD void tsr_fluid_span(const tsr_fluid_view *v, int32_t axis, float a, float z, float r, int32_t sprite, float span[2])
{
    float low, high;
    if (v->slope[axis] == 0.0f || sprite) {
        const float h = 1.0f / tsr_fluid_width(v, axis, z);
        low = (a - r) * h;
        high = (a + r) * h;
    } else {
        const float t = 1.0f / ((z - r) * (z + r) * v->slope[axis]), root = r * tsr_sqrt(a * a + (z - r) * (z + r));
        low = (a * z - root) * t;
        high = (a * z + root) * t;
    }
    span[0] = low + v->centre[axis];
    span[1] = high + v->centre[axis];
}

/* Tiles that a particle touches, the last ones excluded; 0: none. */
TSR_HD int tsr_fluid_tiles(const tsr_fluid_cast *d, const tsr_fluid_record *p, int32_t box[4])
{
    const float most = 1.0e6f;
    for (int32_t k = 0; k < 2; k++) {
        const int32_t extent = k ? d->view.height : d->view.width;
        float span[2], other[2];
        tsr_fluid_span(&d->view, k, k ? p->y : p->x, p->z, p->radius > 0.0f ? p->radius : p->reach, d->sprite, span);
        tsr_fluid_span(&d->view, k, k ? p->y : p->x, p->z, p->reach, 1, other); /* of noise and spray */
        const float low = tsr_minf(span[0], other[0]), high = tsr_maxf(span[1], other[1]);
        if (!(low < (float)extent && high > 0.0f)) return 0;
        const int32_t first = tsr_maxi(tsr_ceil_int(tsr_clampf(low, -most, most) - 0.5f), 0);
        const int32_t last = tsr_mini(tsr_floor_int(tsr_clampf(high, -most, most) - 0.5f), extent - 1);
        if (first > last) return 0;
        box[k] = first / TSR_FLUID_TILE;
        box[2 + k] = last / TSR_FLUID_TILE + 1;
    }
    return 1;
}

typedef enum tsr_fluid_fate { TSR_FLUID_DRAWN = 0, TSR_FLUID_NOT_FINITE, TSR_FLUID_TOO_NEAR, TSR_FLUID_FATES } tsr_fluid_fate;

TSR_HD int tsr_fluid_finite(float v) { return (tsr_float_bits(v) & 0x7f800000u) != 0x7f800000u; }

/* `position` in the particles' coordinates. `density`: 0 where there is none. */
TSR_HD tsr_fluid_fate tsr_fluid_project(const tsr_fluid_cast *d, const float position[3], float radius, float density, float heat,
                                        tsr_fluid_record *p)
{
    const tsr_fluid_view *v = &d->view;
    if (!tsr_fluid_finite(position[0]) || !tsr_fluid_finite(position[1]) || !tsr_fluid_finite(position[2]) || !tsr_fluid_finite(radius) ||
        radius <= 0.0f || !tsr_fluid_finite(density))
        return TSR_FLUID_NOT_FINITE;
    const tsr_float3 q = tsr_sub3(tsr_f3(position[0], position[1], position[2]), v->eye);
    const float own = radius * d->scale;
    p->x = tsr_dot3(q, v->right);
    p->y = tsr_dot3(q, v->down);
    p->z = tsr_dot3(q, v->forward);
    const float least = d->least * tsr_minf(tsr_fluid_width(v, 0, p->z), tsr_fluid_width(v, 1, p->z));
    p->radius = tsr_maxf(own, least);
    p->weight = radius / p->radius; /* thickness is that of the particle as it is */
    p->weight = p->weight * p->weight * p->weight;
    if (!(p->z - p->radius > v->nearest) || !(p->z < 1.0e15f)) return TSR_FLUID_TOO_NEAR;
    p->spray = 0.0f;
    if (d->spray_high > 0.0f) p->spray = d->spray_opacity * (1.0f - tsr_smoothstepf(d->spray_low, d->spray_high, density));
    p->noise = d->noise_calm + (d->noise_wild - d->noise_calm) * heat;
    p->reach = tsr_maxf(tsr_maxf(d->noise_reach * own, 2.0f * least), p->spray > 0.0f ? tsr_maxf(d->spray_size * own, least) : 0.0f);
    if (d->spray_high > 0.0f && density < d->spray_low) p->radius = 0.0f;
    return TSR_FLUID_DRAWN;
}

/* What the ray of a pixel has of its own. */
typedef struct tsr_fluid_ray {
    float gx, gy;             /* pixels from the principal point */
    float dx, dy;             /* direction (dx, dy, 1); of sprites (0, 0, 1) */
    float a, inverse, length; /* of the direction: squared length, its inverse, length */
} tsr_fluid_ray;

/* At (gx, gy) pixels from the principal point. */
TSR_HD tsr_fluid_ray tsr_fluid_ray_place(const tsr_fluid_cast *d, float gx, float gy)
{
    tsr_fluid_ray r;
    r.gx = gx;
    r.gy = gy;
    r.dx = d->sprite ? 0.0f : gx * d->view.slope[0];
    r.dy = d->sprite ? 0.0f : gy * d->view.slope[1];
    r.a = r.dx * r.dx + r.dy * r.dy + 1.0f;
    r.inverse = 1.0f / r.a;
    r.length = tsr_sqrt(r.a);
    return r;
}
TSR_HD tsr_fluid_ray tsr_fluid_ray_of(const tsr_fluid_cast *d, int32_t x, int32_t y)
{
    return tsr_fluid_ray_place(d, tsr_fluid_offset(&d->view, 0, x), tsr_fluid_offset(&d->view, 1, y));
}

/* What a root is taken of, hit or not. With `hit ? inside : 0` compilers take roots in all lanes and choose then; below 0 the first guess of tsr_rsqrt is a
 * subnormal number, and those cost 150 cycles on some processors: half of the time of a drawing. */
TSR_HD float tsr_fluid_size(float v) { return tsr_bits_float(tsr_float_bits(v) & 0x7fffffffu); }

/* Where the ray enters and leaves the sphere, along the axis; 0: not at all. With o the sphere's centre as seen from the ray's point at its depth (z
 * component 0) and s the depth beyond it, |s d - o|^2 = r^2: all terms are of the size of r, whatever the distance. A sprite is the case d = (0, 0,
 * 1). */
TSR_HD int tsr_fluid_sphere(const tsr_fluid_ray *r, float ox, float oy, float z, float radius2, float *enter, float *leave)
{
    const float along = r->dx * ox + r->dy * oy;
    const float inside = along * along - r->a * (ox * ox + oy * oy - radius2);
    const int hit = inside > 0.0f;
    const float root = tsr_sqrt(tsr_fluid_size(inside));
    *enter = z + (along - root) * r->inverse;
    *leave = z + (along + root) * r->inverse;
    return hit;
}

/* The same for the ellipsoid e^T Q e = 1, e from its centre; q = xx, yy, zz, xy, xz, yz. */
TSR_HD int tsr_fluid_ellipsoid(const tsr_fluid_ray *r, float ox, float oy, float z, const float q[6], float *enter, float *leave)
{
    const float qx = q[0] * r->dx + q[3] * r->dy + q[4], qy = q[3] * r->dx + q[1] * r->dy + q[5], qz = q[4] * r->dx + q[5] * r->dy + q[2];
    const float a = r->dx * qx + r->dy * qy + qz, along = ox * qx + oy * qy;
    const float rest = q[0] * ox * ox + q[1] * oy * oy + 2.0f * (q[3] * ox * oy) - 1.0f;
    const float inside = along * along - a * rest;
    const int hit = inside > 0.0f && a > 0.0f;
    const float root = tsr_sqrt(tsr_fluid_size(inside)), inverse = 1.0f / (a > 0.0f ? a : 1.0f);
    *enter = z + (along - root) * inverse;
    *leave = z + (along + root) * inverse;
    return hit;
}

/* Thickness is added in whole units, so that the order of particles does not matter: a unit is 1 / 8192 of the largest diameter. */
TSR_HD uint32_t tsr_fluid_units(float thickness, float per_unit) { return (uint32_t)(int32_t)(thickness * per_unit + 0.5f); }
TSR_HD uint32_t tsr_fluid_add(uint32_t sum, uint32_t units) { return sum + units < sum ? 0xffffffffu : sum + units; }

#endif
