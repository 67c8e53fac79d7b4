/* segment/update_fast.h: the update of segment/update.h for the usual options (split scheme, Osher-Sethian gradients, plain rescaling) in half the
 * instructions of a GPU: fused multiply-adds, the hardware's roots, and differences left unscaled until the end where the spacing is the same
 * along all axes. Same formula, other rounding: phi differs from segment/update.h by some 1e-7 of the band a step. Every term stays odd in phi. */
#ifndef TSR_SEGMENT_UPDATE_FAST_H
#define TSR_SEGMENT_UPDATE_FAST_H

#include "core/fast.h"
#include "segment/update.h"

/* What a kernel works out once. Differences are kept four times too large, and where the spacing is the same along all axes not divided by it. */
typedef struct tsr_fast_params {
    float scale[3]; /* anisotropic: inverse spacing */
    float tiny;     /* 1e-12 of the squared gradient, in those units */
    float band;
    float limit;    /* of the curvature, in the units that it has there */
    float bend;     /* dt times the weight of the curvature, times its unit and that of the central gradient */
    float pull;     /* dt times the weight of the rescaling, times the squared unit of a one-sided gradient */
    float gradient; /* the target, in that unit */
    float push;     /* -dt times that unit */
} tsr_fast_params;

TSR_HD tsr_fast_params tsr_fast_prepare(const tsr_segment_params *k, float dt, int isotropic)
{
    tsr_fast_params f;
    const float r = isotropic ? k->inverse_spacing[0] : 1.0f, unit = 0.25f * r;
    for (int i = 0; i < 3; i++) f.scale[i] = k->inverse_spacing[i];
    f.tiny = 16e-12f / (r * r);
    f.band = k->band;
    f.limit = k->curvature_limit / r;
    f.bend = dt * k->curvature * (0.5f * r * r);
    f.pull = dt * k->rescale * (unit * unit);
    f.gradient = k->gradient / unit;
    f.push = -dt * unit;
    return f;
}

/* Adds sign times the normal of a face: d is four times the difference across it, s and t the sums of two central differences along it. */
TSR_HD float tsr_fast_face(float sum, float d, float s, float t, float tiny, float sign)
{
    const float q = tsr_fma(d, d, tsr_fma(t, t, tsr_fma(s, s, tiny)));
    return tsr_fma(sign * d, tsr_fast_rsqrt(q), sum);
}

/* New value of the voxel at p (strides 1, sy, sz). `isotropic` is a constant of the caller. `crosses` becomes negative where a 6-neighbour has the
 * other sign bit (see tsr_sign_change). */
TSR_HD float tsr_fast_update(const float *p, int32_t sy, int32_t sz, float speed, const tsr_fast_params *f, int isotropic, int32_t *crosses)
{
    const float c = p[0], rx = isotropic ? 1.0f : f->scale[0], ry = isotropic ? 1.0f : f->scale[1], rz = isotropic ? 1.0f : f->scale[2];
    const float xm = p[-1], xp = p[1], ym = p[-sy], yp = p[sy], zm = p[-sz], zp = p[sz];
    const uint32_t own = tsr_float_bits(c), differs_x = (tsr_float_bits(xm) ^ own) | (tsr_float_bits(xp) ^ own),
                   differs_y = (tsr_float_bits(ym) ^ own) | (tsr_float_bits(yp) ^ own),
                   differs_z = (tsr_float_bits(zm) ^ own) | (tsr_float_bits(zp) ^ own);
    *crosses = (int32_t)(differs_x | differs_y | differs_z);
    const float x4 = 4.0f * rx, y4 = 4.0f * ry, z4 = 4.0f * rz, c4 = 4.0f * c;
#define TSR_CENTRAL(at, step, r) (isotropic ? (at)[step] - (at)[-(step)] : ((at)[step] - (at)[-(step)]) * (r))
#define TSR_BEFORE(low, r) (isotropic ? tsr_fma(-4.0f, (low), c4) : (c - (low)) * (r))
#define TSR_AFTER(high, r) (isotropic ? tsr_fma(4.0f, (high), -c4) : ((high)-c) * (r))
    const float dx = TSR_CENTRAL(p, 1, rx), dy = TSR_CENTRAL(p, sy, ry), dz = TSR_CENTRAL(p, sz, rz);
    const float ax = TSR_BEFORE(xm, x4), ay = TSR_BEFORE(ym, y4), az = TSR_BEFORE(zm, z4);
    const float bx = TSR_AFTER(xp, x4), by = TSR_AFTER(yp, y4), bz = TSR_AFTER(zp, z4);
    float K = 0.0f;
    K = tsr_fast_face(K, bx, dy + TSR_CENTRAL(p + 1, sy, ry), dz + TSR_CENTRAL(p + 1, sz, rz), f->tiny, 1.0f);
    K = tsr_fast_face(K, ax, dy + TSR_CENTRAL(p - 1, sy, ry), dz + TSR_CENTRAL(p - 1, sz, rz), f->tiny, -1.0f);
    float Ky = tsr_fast_face(isotropic ? K : 0.0f, by, dx + TSR_CENTRAL(p + sy, 1, rx), dz + TSR_CENTRAL(p + sy, sz, rz), f->tiny, 1.0f);
    Ky = tsr_fast_face(Ky, ay, dx + TSR_CENTRAL(p - sy, 1, rx), dz + TSR_CENTRAL(p - sy, sz, rz), f->tiny, -1.0f);
    float Kz = tsr_fast_face(isotropic ? Ky : 0.0f, bz, dx + TSR_CENTRAL(p + sz, 1, rx), dy + TSR_CENTRAL(p + sz, sy, ry), f->tiny, 1.0f);
    Kz = tsr_fast_face(Kz, az, dx + TSR_CENTRAL(p - sz, 1, rx), dy + TSR_CENTRAL(p - sz, sy, ry), f->tiny, -1.0f);
    K = isotropic ? Kz : tsr_fma(K, rx, tsr_fma(Ky, ry, Kz * rz));
    K = tsr_fast_min(tsr_fast_max(K, -f->limit), f->limit);
#undef TSR_CENTRAL
#undef TSR_BEFORE
#undef TSR_AFTER

    /* Squares of the upwind gradients; in this order the two are each other's duals to the bit. */
    float v = tsr_fast_max(ax, 0.0f), plus = v * v;
    v = tsr_fast_min(ax, 0.0f);
    float minus = v * v;
    tsr_fast_square(bx, &minus, &plus);
    tsr_fast_square(ay, &plus, &minus);
    tsr_fast_square(by, &minus, &plus);
    tsr_fast_square(az, &plus, &minus);
    tsr_fast_square(bz, &minus, &plus);
    const float central = tsr_fast_sqrt(tsr_fma(dz, dz, tsr_fma(dy, dy, dx * dx)));
    const float outward = tsr_fast_sqrt(speed > 0.0f ? plus : minus), toward = tsr_fast_sqrt(c > 0.0f ? plus : minus);
    v = tsr_fma(speed * f->push, outward, tsr_fma(K * f->bend, central, c));
    const float limit = 0.5f * fabsf(c), pull = (c * f->pull) * ((f->gradient - toward) * toward);
    v = v + tsr_fast_min(tsr_fast_max(pull, -limit), limit);
    return tsr_fast_min(tsr_fast_max(v, -f->band), f->band);
}

#endif
