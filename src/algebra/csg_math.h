/* algebra/csg_math.h: the formulas of constructive solid geometry on tile lists: distances of primitives, the value of a combination, and
 * interpolation. Compiled by the C and the CUDA compiler. Exact class: + - * / and comparisons; the square root is tsr_rsqrt with one step of
 * Newton, so that distances carry a relative error below 2e-7.
 * Source: docs/theory/editing.md 1, 4, 6, docs/theory/voxelize.md 1; distances of primitives: elementary geometry. */
#ifndef TSR_ALGEBRA_CSG_MATH_H
#define TSR_ALGEBRA_CSG_MATH_H

#include "core/hd.h"
#include "tessera/csg.h"

/* Beyond the public operations. */
enum { TSR_CSG_COMPLEMENT = 16, TSR_CSG_FIRST, TSR_CSG_MIX };
/* What carving leaves of a field: all but a wall along the faces of a selection, and of that what is in the selection or what is not. */
enum { TSR_CARVE_SEVERED = 0, TSR_CARVE_INNER, TSR_CARVE_OUTER };

/* A primitive in the frame of a list: lengths in world units along the grid axes; local = frame * (x - centre). */
typedef struct tsr_csg_shape {
    int32_t kind;
    float centre[3], frame[9], half[3], radius, minor, shell;
} tsr_csg_shape;

TSR_HD float tsr_csg_root(float x)
{
    if (!(x > 0.0f)) return 0.0f;
    float s = tsr_sqrt(x);
    return 0.5f * (s + x / s);
}
TSR_HD float tsr_csg_length2(float a, float b) { return tsr_csg_root(a * a + b * b); }
TSR_HD float tsr_csg_length3(float a, float b, float c) { return tsr_csg_root((a * a + b * b) + c * c); }

/* Distance to a box of dimension two from its overhangs a, b (negative inside). */
TSR_HD float tsr_csg_corner2(float a, float b) { return tsr_csg_length2(tsr_maxf(a, 0.0f), tsr_maxf(b, 0.0f)) + tsr_minf(tsr_maxf(a, b), 0.0f); }

/* Distance to a box of these half extents around the origin, its edges rounded by `radius`. */
TSR_HD float tsr_csg_box_distance(const float half[3], float radius, const float p[3])
{
    float a = tsr_absf(p[0]) - half[0] + radius, b = tsr_absf(p[1]) - half[1] + radius, c = tsr_absf(p[2]) - half[2] + radius;
    return tsr_csg_length3(tsr_maxf(a, 0.0f), tsr_maxf(b, 0.0f), tsr_maxf(c, 0.0f)) + tsr_minf(tsr_maxf(a, tsr_maxf(b, c)), 0.0f) - radius;
}

/* Signed distance of the local point p, without the shell. Exact distances but for the ellipsoid, whose value has the right zero set and slope 1
 * there (first order). */
TSR_HD float tsr_csg_solid(const tsr_csg_shape *s, const float p[3])
{
    float z = tsr_absf(p[2]), a, b, c;
    switch (s->kind) {
    case TSR_SHAPE_SPHERE: return tsr_csg_length3(p[0], p[1], p[2]) - s->radius;
    case TSR_SHAPE_BOX: return tsr_csg_box_distance(s->half, s->radius, p);
    case TSR_SHAPE_TORUS: return tsr_csg_length2(tsr_csg_length2(p[0], p[1]) - s->radius, p[2]) - s->minor;
    case TSR_SHAPE_CYLINDER: return tsr_csg_corner2(tsr_csg_length2(p[0], p[1]) - s->radius, z - s->half[2]);
    case TSR_SHAPE_CAPSULE: return tsr_csg_length3(p[0], p[1], tsr_maxf(z - s->half[2], 0.0f)) - s->radius;
    case TSR_SHAPE_ELLIPSOID: break;
    }
    a = p[0] / s->half[0];
    b = p[1] / s->half[1];
    c = p[2] / s->half[2];
    float level = tsr_csg_length3(a, b, c), slope = tsr_csg_length3(a / s->half[0], b / s->half[1], c / s->half[2]);
    if (!(slope > 0.0f)) return -tsr_minf(s->half[0], tsr_minf(s->half[1], s->half[2]));
    return level * (level - 1.0f) / slope;
}

TSR_HD void tsr_csg_local(const tsr_csg_shape *s, const float x[3], float local[3])
{
    float d[3] = { x[0] - s->centre[0], x[1] - s->centre[1], x[2] - s->centre[2] };
    for (int i = 0; i < 3; i++) local[i] = (s->frame[3 * i] * d[0] + s->frame[3 * i + 1] * d[1]) + s->frame[3 * i + 2] * d[2];
}

/* Signed distance at x. A shell is the wall of this thickness around the surface. */
TSR_HD float tsr_csg_distance(const tsr_csg_shape *s, const float x[3])
{
    float local[3];
    tsr_csg_local(s, x, local);
    float d = tsr_csg_solid(s, local);
    return s->shell > 0.0f ? tsr_absf(d) - 0.5f * s->shell : d;
}

/* A lower bound of the distance of x from the surface: what decides which tiles a primitive meets. */
TSR_HD float tsr_csg_least_distance(const tsr_csg_shape *s, const float x[3])
{
    if (s->kind != TSR_SHAPE_ELLIPSOID) return tsr_absf(tsr_csg_distance(s, x));
    float local[3];
    tsr_csg_local(s, x, local);
    float level = tsr_csg_length3(local[0] / s->half[0], local[1] / s->half[1], local[2] / s->half[2]);
    return tsr_maxf(tsr_absf(level - 1.0f) * tsr_minf(s->half[0], tsr_minf(s->half[1], s->half[2])) - 0.5f * s->shell, 0.0f);
}

/* Union with the seam filled by an arc of this radius: where two planes meet at a right angle, the distance to the fillet tangent to both. Never above
 * min(a, b), and min(a, b) itself, bit for bit, where either operand is `radius` or more: a surface farther than that from the other stays, so radius <= band
 * makes the clamped value of space without a tile count as no distance. */
TSR_HD float tsr_csg_blend(float a, float b, float radius)
{
    float smaller = a < b ? a : b;
    if (a >= radius || b >= radius) return smaller;
    return tsr_minf(smaller, radius - tsr_csg_length2(radius - a, radius - b));
}

/* A value this near to the surface is on it: what roundings leave of 0. `reach`: how far from the origin, in world units, since distances are differences of
 * float32 coordinates of that size; at most 2^-9 of a voxel. */
TSR_HD float tsr_csg_near(const float spacing[3], float reach)
{
    const float least = tsr_minf(spacing[0], tsr_minf(spacing[1], spacing[2]));
    return tsr_maxf(least * 1.52587890625e-5f, tsr_minf(reach * 2.384185791015625e-7f, least * 1.953125e-3f));
}
/* What it becomes, as a part of that, where bodies meet in it: inside, if by nothing to speak of. */
#define TSR_CSG_LEAST 5.9604644775390625e-8f

/* Value of a combination. + 0.0f: a zero has no sign, so that equal fields are equal bits whatever the order of the operands. */
TSR_HD float tsr_csg_combine(int32_t operation, float a, float b, float amount, float band)
{
    float other = 0.0f - b;
    switch (operation) {
    case TSR_CSG_UNION: return (a < b ? a : b) + 0.0f;
    case TSR_CSG_INTERSECTION: return (a > b ? a : b) + 0.0f;
    case TSR_CSG_DIFFERENCE: return (a > other ? a : other) + 0.0f;
    case TSR_CSG_BLEND: return tsr_clampf(tsr_csg_blend(a, b, amount), 0.0f - band, band) + 0.0f;
    case TSR_CSG_MIX: return (a + (b - a) * amount) + 0.0f;
    case TSR_CSG_COMPLEMENT: /* a zero that has a sign keeps it: twice is nothing; with an amount it goes with the outside, where it was */
        return a == 0.0f ? (amount > 0.0f ? 0.0f - amount : a) : 0.0f - a;
    default: return tsr_clampf(a, 0.0f - band, band);
    }
}

/* The same for space without a tile; 1 = inside. */
TSR_HD uint32_t tsr_csg_combine_sign(int32_t operation, uint32_t a, uint32_t b, float amount)
{
    switch (operation) {
    case TSR_CSG_UNION:
    case TSR_CSG_BLEND: return a | b;
    case TSR_CSG_INTERSECTION: return a & b;
    case TSR_CSG_DIFFERENCE: return a & (b ^ 1u);
    case TSR_CSG_MIX: return amount > 0.5f ? b : a;
    case TSR_CSG_COMPLEMENT: return a ^ 1u;
    default: return a;
    }
}

/* Value of a field phi carved at signed distance d from the faces of a selection. */
TSR_HD float tsr_csg_carve(int32_t part, float phi, float d, float half_width, float band)
{
    float v = tsr_maxf(phi, half_width - tsr_absf(d));
    if (part != TSR_CARVE_SEVERED) v = tsr_maxf(v, part == TSR_CARVE_INNER ? d : 0.0f - d);
    return tsr_clampf(v, 0.0f - band, band) + 0.0f;
}

/* Catmull-Rom weights of samples -1, 0, 1, 2 at t in [0, 1]. */
TSR_HD void tsr_csg_cubic(float t, float w[4])
{
    w[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
    w[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    w[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
    w[3] = (0.5f * t - 0.5f) * t * t;
}

/* |grad phi| at a voxel for its delta, from central differences (`slope`) and half the second differences (`bend`, the length of both vectors). Their
 * squares add up to the mean square of the one-sided differences, which is 1 for the distance to a curved surface where central ones are
 * below it: so below 1 that is taken, and never more than 1. At edges and in stairs, where one-sided differences are far apart, the distance itself has
 * slope 1 whatever differences say. An eighth lies between spheres of three voxels and an edge between two faces (a half and more). */
TSR_HD float tsr_csg_slope(float slope, float bend)
{
    if (slope >= 1.0f || bend * bend > 0.125f * slope * slope) return tsr_maxf(slope, 1.0f);
    return tsr_minf(tsr_csg_length2(slope, bend), 1.0f);
}

/* Smeared delta functions of r = value / (voxel edge along the normal), of integral 1. Over samples a voxel apart each of them adds up to 1 wherever the
 * surface lies between them, so that faces along the axes have their areas exactly; which one is used is a matter of how far the field is known:
 * reach 2: M4' (Monaghan 1985; J. Comp. Phys. 60, 253), also without second moment, so that curved surfaces are not biased; 1.5 and 1: B-splines of degree
 * 2 and 1. */
TSR_HD double tsr_csg_delta(double r, float reach)
{
    const double a = r < 0.0 ? 0.0 - r : r;
    const double two = a < 1.0 ? 1.0 - a * a * (2.5 - 1.5 * a) : 0.5 * (2.0 - a) * (2.0 - a) * (1.0 - a);
    const double most = a < 0.5 ? 0.75 - a * a : 0.5 * (1.5 - a) * (1.5 - a);
    const double delta = reach >= 2.0f ? two : reach >= 1.5f ? most : 1.0 - a;
    return a >= (double)reach ? 0.0 : delta;
}

/* Their second moments: a step smeared across a curved surface has half of that times K times the area too much inside. */
TSR_HD double tsr_csg_moment(float reach) { return reach >= 2.0f ? 0.0 : reach >= 1.5f ? 0.25 : 1.0 / 6.0; }

/* Their integrals from -reach. */
TSR_HD double tsr_csg_step(double r, float reach)
{
    const double a = r < 0.0 ? 0.0 - r : r; /* half: the integral from 0 to a */
    const double two = a < 1.0 ? a * (1.0 + a * a * (0.375 * a - 5.0 / 6.0)) : 0.5 * a * (4.0 + a * (a * (5.0 / 3.0 - 0.25 * a) - 4.0)) - 1.0 / 6.0;
    const double most = a < 0.5 ? a * (0.75 - a * a / 3.0) : 0.5 - (1.5 - a) * (1.5 - a) * (1.5 - a) / 6.0;
    const double near = reach >= 2.0f ? two : reach >= 1.5f ? most : a - 0.5 * a * a, half = a >= (double)reach ? 0.5 : near;
    return r < 0.0 ? 0.5 - half : 0.5 + half;
}

#endif
