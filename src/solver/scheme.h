/* solver/scheme.h: the numerical scheme of the level-set solver at one voxel: one-sided differences, upwind norms, curvature, sign functions,
 * the right-hand side of (A) in tessera/levelset.h, Runge-Kutta combination.
 *
 * docs/theory/levelset.md 2: [Osher88] upwind norms, [Shu88] ENO2 and TVD Runge-Kutta, [Jiang00] HJ-WENO5. phi < 0 inside. Exact class: + - * /,
 * comparisons, tsr_sqrt and tsr_rsqrt. The differences of an axis are d[0..5] = (p[k-2] - p[k-3]) / h for k = 0..5: d[2] is the one to the left
 * of the voxel, d[3] the one to its right; first-order schemes need these two only. */
#ifndef TSR_SOLVER_SCHEME_H
#define TSR_SOLVER_SCHEME_H

#include "solver/upwind.h"

#ifndef tsr_quotient /* or core/fast_arithmetic.h */
TSR_HD float tsr_quotient(float a, float b) { return a / b; }
#endif

enum { TSR_SIGNED_SMOOTH = 0, TSR_SIGNED_SGN, TSR_SIGNED_PHI, TSR_SIGNED_SUBCELL, TSR_SIGNED_GRADIENT }; /* = tsr_sign */

typedef struct tsr_engine_scheme {
    float inverse_spacing[3];
    float rate_spacing[3]; /* the same as rates of velocities count it: 0 along an axis of one voxel, where nothing is carried across a voxel */
    float spacing;         /* the smallest, h */
    float band;            /* world units */
    float curvature_limit; /* |K| is clamped to this: 2 / h */
    float reshape;         /* weight of the reshape term as a speed: b h; 0 = no such term */
    int32_t space, reshape_space, sign;
    int32_t has_speed, has_velocity, has_curvature; /* which sums of terms may differ from 0 */
} tsr_engine_scheme;

/* |v| by its bits: one operation where tsr_absf, which keeps the sign of -0, is three. */
TSR_HD float tsr_magnitude(float v) { return tsr_bits_float(tsr_float_bits(v) & 0x7fffffffu); }

/* ---- one-sided differences ------------------------------------------------------------------------------------------------------------- */

TSR_HD float tsr_smaller_magnitude(float a, float b) { return tsr_absf(a) < tsr_absf(b) ? a : b; }

/* Fifth-order weighted average of the three candidate slopes on one side of a voxel, from what both sides share. v2, v3, v4: differences, v3 on the biased
 * side; j1..j4: differences of v1..v5; e1..e3: 13/3 of the squared differences of those, floor included; third, next: their differences. [Jiang00] with
 * every smoothness measure times 4, the slopes times 6, the weights multiplied out, so that there is one division, and the slopes taken as the
 * middle one and what the others differ from it by: q1 = q2 - 2 third, q3 = q2 - next. */
TSR_HD float tsr_weno5_side(float v2, float v3, float v4, float j1, float j2, float j3, float j4, float e1, float e2, float e3, float third,
                            float next)
{
    const float d = j1 - 3.0f * j2, e = j2 + j3, f = 3.0f * j3 - j4;
    const float s1 = d * d + e1, s2 = e * e + e2, s3 = f * f + e3;
    const float w1 = s2 * s3, w2 = s1 * s3, w3 = s1 * s2;
    const float a1 = w1 * w1, a2 = 6.0f * w2 * w2, a3 = 3.0f * w3 * w3, middle = (5.0f * v3 - v2) + 2.0f * v4;
    return (1.0f / 6.0f) * (middle - tsr_quotient(2.0f * (a1 * third) + a3 * next, (a1 + a3) + a2));
}

/* Both biased derivatives of one axis; each is the other's mirror image to the bit. */
TSR_HD void tsr_weno5(float d0, float d1, float d2, float d3, float d4, float d5, float *minus, float *plus)
{
    const float largest = tsr_maxf(tsr_maxf(tsr_maxf(tsr_magnitude(d0), tsr_magnitude(d5)), tsr_maxf(tsr_magnitude(d1), tsr_magnitude(d4))),
                                   tsr_maxf(tsr_magnitude(d2), tsr_magnitude(d3)));
    const float floor = 4e-6f * (largest * largest) + 4e-9f; /* below 1e-9 the products of four would leave the range of a float */
    const float j0 = d1 - d0, j1 = d2 - d1, j2 = d3 - d2, j3 = d4 - d3, j4 = d5 - d4;
    const float k0 = j1 - j0, k1 = j2 - j1, k2 = j3 - j2, k3 = j4 - j3;
    const float e0 = 4.3333335f * (k0 * k0) + floor, e1 = 4.3333335f * (k1 * k1) + floor, e2 = 4.3333335f * (k2 * k2) + floor,
                e3 = 4.3333335f * (k3 * k3) + floor;
    *minus = tsr_weno5_side(d1, d2, d3, j0, j1, j2, j3, e0, e1, e2, k1 - k0, k2 - k1);
    *plus = tsr_weno5_side(d4, d3, d2, j4, j3, j2, j1, e3, e2, e1, k2 - k3, k1 - k2);
}

/* Left- and right-biased derivative of one axis. First-order schemes read d[2] and d[3] only. */
TSR_HD void tsr_one_sided(int32_t space, float d0, float d1, float d2, float d3, float d4, float d5, float *minus, float *plus)
{
    if (space == TSR_DIFFERENCE_WENO5) {
        tsr_weno5(d0, d1, d2, d3, d4, d5, minus, plus);
    } else if (space == TSR_DIFFERENCE_ENO2) {
        *minus = d2 + 0.5f * tsr_smaller_magnitude(d2 - d1, d3 - d2);
        *plus = d3 - 0.5f * tsr_smaller_magnitude(d3 - d2, d4 - d3);
    } else {
        *minus = d2;
        *plus = d3;
    }
}

/* ---- upwind norms ---------------------------------------------------------------------------------------------------------------------- */

/* |grad phi|^2 for a front whose way is 1 (outward) or -1 (inward), from the derivatives to the left and to the right: squares do not see the
 * sign, so that one formula does both. */
TSR_HD float tsr_norm_square_of(int32_t space, float way, float xl, float xr, float yl, float yr, float zl, float zr)
{
    return (tsr_outward_square(space, way * xl, way * xr) + tsr_outward_square(space, way * yl, way * yr)) +
           tsr_outward_square(space, way * zl, way * zr);
}
/* One axis for both ways at once, for vector loops whose lanes go different ways: two squares and masks of signs in place of four choices and squares. */
TSR_HD void tsr_both_squares(int32_t space, float minus, float plus, float *outward, float *inward)
{
    const uint32_t below = 0u - (tsr_float_bits(minus) >> 31), above = 0u - (tsr_float_bits(plus) >> 31);
    const uint32_t m = tsr_float_bits(minus * minus), p = tsr_float_bits(plus * plus);
    const float a = tsr_bits_float(m & ~below), b = tsr_bits_float(p & above), c = tsr_bits_float(m & below), d = tsr_bits_float(p & ~above);
    *outward = tsr_upwind_square(space, a, b);
    *inward = tsr_upwind_square(space, c, d);
}
/* The same from the derivatives {minus, plus} of the three axes. */
TSR_HD float tsr_norm_square(int32_t space, float way, const float x[2], const float y[2], const float z[2])
{
    return tsr_norm_square_of(space, way, x[0], x[1], y[0], y[1], z[0], z[1]);
}

/* ---- the parts of the right-hand side --------------------------------------------------------------------------------------------------- */

/* -F |grad phi|; `square` for the way of F */
TSR_HD float tsr_speed_part(float speed, float square) { return -(speed * tsr_sqrt(square)); }

/* -U . grad phi along one axis */
TSR_HD float tsr_velocity_part(float u, float minus, float plus) { return -(u * (u > 0.0f ? minus : plus)); }

/* K |grad phi| from central first and second derivatives, not limited, and the square of the gradient; 0 where there is no gradient. */
TSR_HD float tsr_curvature_free(float gx, float gy, float gz, float xx, float yy, float zz, float xy, float xz, float yz, float *gradient_square)
{
    const float x2 = gx * gx, y2 = gy * gy, z2 = gz * gz, square = (x2 + y2) + z2;
    const float numerator = ((xx * (y2 + z2) + yy * (x2 + z2)) + zz * (x2 + y2)) - 2.0f * ((gx * gy * xy + gx * gz * xz) + gy * gz * yz);
    const float safe = square < 1e-12f ? 1.0f : square;
    *gradient_square = square;
    return square < 1e-12f ? 0.0f : tsr_quotient(numerator, safe);
}
/* |K| clamped to the limit. */
TSR_HD float tsr_curvature_limited(float bent, float square, float limit)
{
    const float most = limit * tsr_sqrt(square);
    return tsr_clampf(bent, -most, most);
}
/* 1 only if the limit leaves it as it is: squares in place of a root, with room for its error. */
TSR_HD int tsr_curvature_within(float bent, float square, float limit) { return bent * bent <= 0.999f * (limit * limit) * square; }

TSR_HD float tsr_curvature_part(float gx, float gy, float gz, float xx, float yy, float zz, float xy, float xz, float yz, float limit)
{
    float square;
    const float bent = tsr_curvature_free(gx, gy, gz, xx, yy, zz, xy, xz, yz, &square);
    return tsr_curvature_limited(bent, square, limit);
}

/* q / sqrt(q^2 + |grad phi|^2), q = phi / h [Peng99]: the width over which the sign changes is a voxel whatever the slope of phi. The floor makes 0 of a
 * flat 0. */
TSR_HD float tsr_sign_by_gradient(float q, float square) { return q * tsr_rsqrt((q * q + square) + 1e-12f); }

/* b h S(phi) (1 - |grad phi|); `square` of the gradient for the way of phi. `crossing`: a 6-neighbour has the other sign; `steepest` the largest of |grad phi| and the one-sided differences
 * (SUBCELL only: pulls phi to its linear distance from the crossing). */
TSR_HD float tsr_reshape_part(const tsr_engine_scheme *k, float c, float square, int crossing, float steepest)
{
    float s;
    if (k->sign == TSR_SIGNED_SMOOTH) s = c * tsr_rsqrt(c * c + k->spacing * k->spacing);
    else if (k->sign == TSR_SIGNED_PHI) s = tsr_quotient(c, k->spacing);
    else if (k->sign == TSR_SIGNED_GRADIENT) s = tsr_sign_by_gradient(tsr_quotient(c, k->spacing), square);
    else s = c > 0.0f ? 1.0f : c < 0.0f ? -1.0f : 0.0f;
    const float usual = s * (1.0f - tsr_sqrt(square));
    if (k->sign != TSR_SIGNED_SUBCELL) return k->reshape * usual;
    const float bounded = tsr_maxf(steepest, 1e-6f), locked = tsr_quotient(tsr_quotient(c, bounded) - c, k->spacing);
    return k->reshape * (crossing ? locked : usual);
}

/* ---- one voxel -------------------------------------------------------------------------------------------------------------------------- */

/* Values of the terms at a voxel. */
typedef struct tsr_engine_values {
    float speed, velocity[3], curvature;
} tsr_engine_values;

/* Differences of one axis; `wide` schemes read three voxels to each side. */
typedef struct tsr_differences {
    float d[6];
} tsr_differences;
TSR_HD tsr_differences tsr_axis_differences(const float *p, int32_t s, float r, int wide)
{
    tsr_differences o;
    o.d[2] = (p[0] - p[-s]) * r;
    o.d[3] = (p[s] - p[0]) * r;
    o.d[0] = o.d[1] = o.d[4] = o.d[5] = 0.0f;
    if (wide) {
        o.d[0] = (p[-2 * s] - p[-3 * s]) * r;
        o.d[1] = (p[-s] - p[-2 * s]) * r;
        o.d[4] = (p[2 * s] - p[s]) * r;
        o.d[5] = (p[3 * s] - p[2 * s]) * r;
    }
    return o;
}
/* Mixed second difference of the four values at the corners of a square, and what makes a derivative of it. */
TSR_HD float tsr_cross_sum(float both, float first, float second, float none) { return (both - first) - (second - none); }
TSR_HD float tsr_cross_scale(float rs, float rt) { return 0.25f * (rs * rt); }
TSR_HD float tsr_cross_of(float both, float first, float second, float none, float rs, float rt)
{
    return tsr_cross_sum(both, first, second, none) * tsr_cross_scale(rs, rt);
}
TSR_HD float tsr_cross_difference(const float *p, int32_t s, int32_t t, float rs, float rt)
{
    return tsr_cross_of(p[s + t], p[s - t], p[t - s], p[-s - t], rs, rt);
}

TSR_HD float tsr_steepest(const float *p, int32_t sy, int32_t sz, const float *r)
{
    const float xm = (p[0] - p[-1]) * r[0], xp = (p[1] - p[0]) * r[0], ym = (p[0] - p[-sy]) * r[1], yp = (p[sy] - p[0]) * r[1],
                zm = (p[0] - p[-sz]) * r[2], zp = (p[sz] - p[0]) * r[2];
    return tsr_steepest_of(xm, xp, ym, yp, zm, zp);
}

TSR_HD int tsr_voxel_crossing(const float *p, int32_t sy, int32_t sz)
{
    const int inside = p[0] < 0.0f;
    return ((p[-1] < 0.0f) != inside) | ((p[1] < 0.0f) != inside) | ((p[-sy] < 0.0f) != inside) | ((p[sy] < 0.0f) != inside) |
           ((p[-sz] < 0.0f) != inside) | ((p[sz] < 0.0f) != inside);
}

/* Right-hand side of (A) without the reshape term if `reshape_only` is 0, the reshape term alone (a sweep of reinitialisation) otherwise, at the
 * voxel p points to in an array of strides 1, sy, sz; the array holds 3 voxels around it along the axes if one of the schemes is wide, else 1. */
TSR_HD float tsr_scheme_rate(const float *p, int32_t sy, int32_t sz, const tsr_engine_values *v, const tsr_engine_scheme *k, int reshape_only)
{
    const float *r = k->inverse_spacing;
    const float c = p[0];
    const int flow = !reshape_only, upwind = flow && (k->has_speed || k->has_velocity), reshaped = k->reshape != 0.0f;
    const int wide = (upwind && k->space >= TSR_DIFFERENCE_ENO2) || (reshaped && k->reshape_space >= TSR_DIFFERENCE_ENO2);
    const tsr_differences x = tsr_axis_differences(p, 1, r[0], wide), y = tsr_axis_differences(p, sy, r[1], wide),
                          z = tsr_axis_differences(p, sz, r[2], wide);
    float dx[2], dy[2], dz[2], rate = 0.0f;
    const int32_t first_space = upwind ? k->space : k->reshape_space;
    tsr_one_sided(first_space, x.d[0], x.d[1], x.d[2], x.d[3], x.d[4], x.d[5], &dx[0], &dx[1]);
    tsr_one_sided(first_space, y.d[0], y.d[1], y.d[2], y.d[3], y.d[4], y.d[5], &dy[0], &dy[1]);
    tsr_one_sided(first_space, z.d[0], z.d[1], z.d[2], z.d[3], z.d[4], z.d[5], &dz[0], &dz[1]);
    if (flow && k->has_speed) rate = rate + tsr_speed_part(v->speed, tsr_norm_square(first_space, v->speed > 0.0f ? 1.0f : -1.0f, dx, dy, dz));
    if (flow && k->has_velocity)
        rate = rate + ((tsr_velocity_part(v->velocity[0], dx[0], dx[1]) + tsr_velocity_part(v->velocity[1], dy[0], dy[1])) +
                       tsr_velocity_part(v->velocity[2], dz[0], dz[1]));
    const float gx = 0.5f * (x.d[2] + x.d[3]), gy = 0.5f * (y.d[2] + y.d[3]), gz = 0.5f * (z.d[2] + z.d[3]);
    if (flow && k->has_curvature)
        rate = rate + v->curvature * tsr_curvature_part(gx, gy, gz, (x.d[3] - x.d[2]) * r[0], (y.d[3] - y.d[2]) * r[1], (z.d[3] - z.d[2]) * r[2],
                                                        tsr_cross_difference(p, 1, sy, r[0], r[1]), tsr_cross_difference(p, 1, sz, r[0], r[2]),
                                                        tsr_cross_difference(p, sy, sz, r[1], r[2]), k->curvature_limit);
    if (!reshaped) return rate;
    if (upwind && k->reshape_space != k->space) {
        tsr_one_sided(k->reshape_space, x.d[0], x.d[1], x.d[2], x.d[3], x.d[4], x.d[5], &dx[0], &dx[1]);
        tsr_one_sided(k->reshape_space, y.d[0], y.d[1], y.d[2], y.d[3], y.d[4], y.d[5], &dy[0], &dy[1]);
        tsr_one_sided(k->reshape_space, z.d[0], z.d[1], z.d[2], z.d[3], z.d[4], z.d[5], &dz[0], &dz[1]);
    }
    const float square = tsr_norm_square(k->reshape_space, c > 0.0f ? 1.0f : -1.0f, dx, dy, dz);
    float steepest = 0.0f;
    int crossing = 0;
    if (k->sign == TSR_SIGNED_SUBCELL) {
        steepest = tsr_steepest(p, sy, sz, r);
        crossing = tsr_voxel_crossing(p, sy, sz);
    }
    return rate + tsr_reshape_part(k, c, square, crossing, steepest);
}

/* ---- distance anew (fast sweeping, [Zhao05]) ---------------------------------------------------------------------------------------------- */

/* Adds an axis to the quadratic sum_k (u - a_k)^2 / h_k^2 = 1 if its neighbour is nearer than the solution u of the axes before it. */
TSR_HD float tsr_eikonal_axis(float u, float a, float r, float base, float *w, float *wa, float *waa)
{
    const float b = a - base, q = r * r;
    if (!(a < u)) return u;
    *w = *w + q;
    *wa = *wa + q * b;
    *waa = *waa + q * (b * b);
    const float square = *wa * *wa - *w * (*waa - 1.0f);
    return base + (*wa + tsr_sqrt(tsr_maxf(square, 0.0f))) / *w;
}

/* Seeding: voxels beside the zero set get their linear distance from it, all others +-band. Afterwards (`seed` 0): those stay, and every other
 * becomes the solution of |grad phi| = 1 from its neighbours; repeated until nothing changes, whatever the order. */
TSR_HD float tsr_distance_value(const float *p, int32_t sy, int32_t sz, const tsr_engine_scheme *k, int seed)
{
    const float c = p[0], side = c < 0.0f ? -1.0f : 1.0f, *r = k->inverse_spacing;
    if (tsr_voxel_crossing(p, sy, sz)) return seed ? tsr_clampf(c / tsr_maxf(tsr_steepest(p, sy, sz, r), 1e-6f), -k->band, k->band) : c;
    if (seed) return side * k->band;
    float a[3] = { tsr_minf(tsr_absf(p[-1]), tsr_absf(p[1])), tsr_minf(tsr_absf(p[-sy]), tsr_absf(p[sy])),
                   tsr_minf(tsr_absf(p[-sz]), tsr_absf(p[sz])) };
    float q[3] = { r[0], r[1], r[2] }, w = 0.0f, wa = 0.0f, waa = 0.0f, u = 3e38f;
    for (int32_t i = 0; i < 3; i++) { /* three compare-exchanges: (0,1), (1,2), (0,1) */
        const int32_t at = i & 1;
        if (a[at + 1] < a[at]) {
            const float t = a[at], s = q[at];
            a[at] = a[at + 1];
            a[at + 1] = t;
            q[at] = q[at + 1];
            q[at + 1] = s;
        }
    }
    for (int32_t i = 0; i < 3; i++) u = tsr_eikonal_axis(u, a[i], q[i], a[0], &w, &wa, &waa);
    return side * tsr_minf(u, k->band);
}

/* A saturated voxel whose six neighbours equal it stays as it is in every scheme: the band spreads one voxel per stage at most, so that what a
 * sparse list leaves out is what a dense grid would not change. */
TSR_HD int tsr_voxel_still(const float *p, int32_t sy, int32_t sz, float band)
{
    const float c = p[0];
    return ((c >= band) | (c <= -band)) & (c == p[-1]) & (c == p[1]) & (c == p[-sy]) & (c == p[sy]) & (c == p[-sz]) & (c == p[sz]);
}

TSR_HD int tsr_finite(float v) { return tsr_absf(v) <= 3e38f; }

/* Stage of a TVD Runge-Kutta step: phi_n + blend (phi_cur + dt L - phi_n), clamped; blend 1 is Euler. Written so that a field that does not
 * change stays the same bits. */
TSR_HD float tsr_stage_value(float start, float current, float change, float blend, float band)
{
    const float moved = current + change;
    return tsr_clampf(blend == 1.0f ? moved : start + blend * (moved - start), -band, band);
}

#endif
