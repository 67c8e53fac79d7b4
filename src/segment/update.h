/* segment/update.h: one explicit Euler update of one voxel of the segmentation equation, first order in space.
 *
 *   phi_t = -F |grad phi|_upwind(F) + a K |grad phi|_central + w_r R,   phi < 0 inside, F > 0 expands, K = div(grad phi / |grad phi|)
 *
 * [Lefohn04] equations 6-19 with the sign of the library; docs/theory/segmentation.md 3 (split scheme and difference of normals), 2.5
 * (rescaling R = phi (g - p) p, p = one-sided gradient on the side of the interface). Exact class: multiplications, additions,
 * comparisons and tsr_rsqrt only (the lock variant also divides). Every term is odd in phi, so inside and outside are dual. */
#ifndef TSR_SEGMENT_UPDATE_H
#define TSR_SEGMENT_UPDATE_H

#include "solver/upwind.h"

enum { TSR_RESCALE_PLAIN = 0, TSR_RESCALE_LOCK, TSR_RESCALE_FREEZE, TSR_RESCALE_NONE };

typedef struct tsr_segment_params {
    float inverse_spacing[3];
    float spacing;         /* the smallest */
    float band;            /* B, world units */
    float curvature;       /* a = 1 - alpha (or half of it) */
    float curvature_limit; /* |K| is clamped to this (2 / spacing) */
    float rescale;         /* w_r */
    float gradient;        /* g */
    float fixed_step;      /* > 0: the time step; else automatic */
    float cfl;             /* c of the automatic step */
    int32_t rescale_mode;  /* TSR_RESCALE_... */
    int32_t lumped;        /* [Lefohn04]'s scheme: the whole speed times one upwind gradient */
    int32_t godunov;       /* per axis the larger of the two squares instead of their sum */
    int32_t exact;         /* devices use this header too, not segment/update_fast.h */
} tsr_segment_params;

/* Largest stable step times cfl for the largest |F|: docs/theory/segmentation.md 3. */
TSR_HD float tsr_segment_time_step(const tsr_segment_params *k, float largest_speed)
{
    if (k->fixed_step > 0.0f) return k->fixed_step;
    float rate = 1.7320508f * largest_speed / k->spacing + 6.0f * k->curvature / (k->spacing * k->spacing);
    if (k->rescale_mode != TSR_RESCALE_NONE) rate = rate + k->rescale * k->band * k->gradient / k->spacing;
    return rate > 0.0f ? k->cfl / rate : 0.0f;
}

/* Component along the axis of stride s of the unit normal at the face between p[0] and p[s]; t, u are the strides of the other axes. */
TSR_HD float tsr_face_normal(const float *p, int32_t s, int32_t t, int32_t u, float rs, float rt, float ru)
{
    float d = (p[s] - p[0]) * rs;
    float a = ((p[s + t] - p[s - t]) + (p[t] - p[-t])) * (0.25f * rt);
    float b = ((p[s + u] - p[s - u]) + (p[u] - p[-u])) * (0.25f * ru);
    return d * tsr_rsqrt((d * d + a * a) + (b * b + 1e-12f));
}

/* K = div(grad phi / |grad phi|) by difference of normals, 19-point stencil; 2/r on a sphere. Unclamped. */
TSR_HD float tsr_curvature(const float *p, int32_t sy, int32_t sz, const float *r)
{
    float x = tsr_face_normal(p, 1, sy, sz, r[0], r[1], r[2]) - tsr_face_normal(p - 1, 1, sy, sz, r[0], r[1], r[2]);
    float y = tsr_face_normal(p, sy, 1, sz, r[1], r[0], r[2]) - tsr_face_normal(p - sy, sy, 1, sz, r[1], r[0], r[2]);
    float z = tsr_face_normal(p, sz, 1, sy, r[2], r[0], r[1]) - tsr_face_normal(p - sz, sz, 1, sy, r[2], r[0], r[1]);
    return (x * r[0] + y * r[1]) + z * r[2];
}

TSR_HD float tsr_limited_curvature(float curvature, const tsr_segment_params *k)
{
    return tsr_clampf(curvature, -k->curvature_limit, k->curvature_limit);
}

/* F - a K: what moves the surface, rescaling aside. */
TSR_HD float tsr_total_speed(float speed, float curvature, const tsr_segment_params *k) { return speed - k->curvature * curvature; }

/* The update from a given curvature (so that callers may share face normals between voxels). p points at the voxel in an array of
 * strides 1, sy, sz that holds its neighbours. Returns the clamped new value. */
TSR_HD float tsr_segment_apply(const float *p, int32_t sy, int32_t sz, float speed, float curvature, float dt, const tsr_segment_params *k)
{
    const float c = p[0], xm = p[-1], xp = p[1], ym = p[-sy], yp = p[sy], zm = p[-sz], zp = p[sz];
    const float *r = k->inverse_spacing;
    const float ax = (c - xm) * r[0], bx = (xp - c) * r[0], ay = (c - ym) * r[1], by = (yp - c) * r[1], az = (c - zm) * r[2], bz = (zp - c) * r[2];
    float plus2, minus2;
    if (k->godunov) { /* constants: the choice is not made again for each axis */
        plus2 = (tsr_outward_square(TSR_DIFFERENCE_GODUNOV, ax, bx) + tsr_outward_square(TSR_DIFFERENCE_GODUNOV, ay, by)) +
                tsr_outward_square(TSR_DIFFERENCE_GODUNOV, az, bz);
        minus2 = (tsr_inward_square(TSR_DIFFERENCE_GODUNOV, ax, bx) + tsr_inward_square(TSR_DIFFERENCE_GODUNOV, ay, by)) +
                 tsr_inward_square(TSR_DIFFERENCE_GODUNOV, az, bz);
    } else {
        plus2 = (tsr_outward_square(TSR_DIFFERENCE_UPWIND, ax, bx) + tsr_outward_square(TSR_DIFFERENCE_UPWIND, ay, by)) +
                tsr_outward_square(TSR_DIFFERENCE_UPWIND, az, bz);
        minus2 = (tsr_inward_square(TSR_DIFFERENCE_UPWIND, ax, bx) + tsr_inward_square(TSR_DIFFERENCE_UPWIND, ay, by)) +
                 tsr_inward_square(TSR_DIFFERENCE_UPWIND, az, bz);
    }
    const float cx = 0.5f * (ax + bx), cy = 0.5f * (ay + by), cz = 0.5f * (az + bz);
    const float central = tsr_sqrt((cx * cx + cy * cy) + cz * cz);
    const float K = tsr_limited_curvature(curvature, k);
    const float toward = tsr_sqrt(c > 0.0f ? plus2 : minus2);
    float v;
    if (k->lumped) {
        float total = tsr_total_speed(speed, K, k);
        if (k->rescale_mode != TSR_RESCALE_NONE) total = total - k->rescale * c * (k->gradient - toward);
        v = c - dt * total * tsr_sqrt(total > 0.0f ? plus2 : minus2);
    } else {
        v = c - dt * (speed * tsr_sqrt(speed > 0.0f ? plus2 : minus2) - k->curvature * K * central);
        if (k->rescale_mode != TSR_RESCALE_NONE) {
            float delta = dt * k->rescale * (c * (k->gradient - toward) * toward);
            if (k->rescale_mode != TSR_RESCALE_PLAIN) {
                float m = tsr_minf(tsr_minf(tsr_minf(c * xm, c * xp), tsr_minf(c * ym, c * yp)), tsr_minf(c * zm, c * zp));
                if (m < 0.0f) { /* a voxel beside the interface */
                    const float steepest = tsr_steepest_of(ax, bx, ay, by, az, bz);
                    delta = k->rescale_mode == TSR_RESCALE_LOCK ? dt * k->rescale * (k->gradient * c / steepest - c) : 0.0f;
                }
            }
            float limit = 0.5f * tsr_absf(c);
            v = v + tsr_clampf(delta, -limit, limit);
        }
    }
    return tsr_clampf(v, -k->band, k->band);
}

TSR_HD float tsr_segment_update(const float *p, int32_t sy, int32_t sz, float speed, float dt, const tsr_segment_params *k)
{
    float curvature = k->curvature != 0.0f ? tsr_curvature(p, sy, sz, k->inverse_spacing) : 0.0f;
    return tsr_segment_apply(p, sy, sz, speed, curvature, dt, k);
}

/* Contribution of a voxel to tsr_tile_state.change: at most 2^30. */
TSR_HD uint32_t tsr_segment_change(float before, float after, float inverse_band)
{
    float d = (after - before) * (inverse_band * 16384.0f);
    return (uint32_t)(int32_t)(d * d);
}

#endif
