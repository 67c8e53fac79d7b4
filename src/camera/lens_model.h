/* camera/lens_model.h: where a point of the undistorted image was seen, and back. See tessera/camera.h and docs/theory/cameras.md.
 * Displacements, not places, are computed: without distortion a point stays where it is to the last bit. */
#ifndef TSR_CAMERA_LENS_MODEL_H
#define TSR_CAMERA_LENS_MODEL_H

#include <math.h>

#include "core/hd.h"
#include "tessera/camera.h"

/* A lens made ready for the backends. */
typedef struct tsr_lens_map {
    tsr_lens lens;
    double centre[2], half, half_y; /* pixels; half_y: half times the aspect of a pixel */
    double scale, step, step_y;     /* steps: scale / half */
} tsr_lens_map;

TSR_HD double tsr_lens_root(double v)
{
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(v);
#else
    return sqrt(v);
#endif
}

/* Arc tangent of x >= 0 and tangent of t in [0, pi/2): the same bits everywhere, which libm's are not. Within 4e-16 of the value. */
TSR_HD double tsr_lens_atan(double x)
{
    const int over = x > 1.0;
    double y = over ? 1.0 / x : x, sum = 0.0;
    for (int32_t n = 0; n < 2; n++) y = y / (1.0 + tsr_lens_root(1.0 + y * y)); /* half the angle */
    const double y2 = y * y;
    for (int32_t n = 23; n >= 1; n -= 2) sum = 1.0 / (double)n - y2 * sum;
    const double angle = 4.0 * (y * sum);
    return over ? 1.5707963267948966 - angle : angle;
}
TSR_HD double tsr_lens_tan(double t)
{
    const double a = 0.125 * t, a2 = a * a;
    double s = 1.0, h = 1.0; /* sine / a and 1 - cosine of a, by their series */
    for (int32_t n = 17; n >= 3; n -= 2) s = 1.0 - a2 / (double)(n * (n - 1)) * s;
    for (int32_t n = 18; n >= 4; n -= 2) h = 1.0 - a2 / (double)(n * (n - 1)) * h;
    s = a * s;
    double c = 1.0 - 0.5 * a2 * h;
    for (int32_t n = 0; n < 3; n++) { /* twice the angle */
        const double twice = 2.0 * s * c;
        c = (c - s) * (c + s);
        s = twice;
    }
    return s / c;
}

/* The fish-eye's t + k1 t^3 + k2 t^5 + k3 t^7 + k4 t^9, and its slope. */
TSR_HD double tsr_lens_fisheye(const tsr_lens *l, double t, double *slope)
{
    const double t2 = t * t;
    *slope = 1.0 + t2 * (3.0 * l->k1 + t2 * (5.0 * l->k2 + t2 * (7.0 * l->k3 + t2 * 9.0 * l->k4)));
    return t * (1.0 + t2 * (l->k1 + t2 * (l->k2 + t2 * (l->k3 + t2 * l->k4))));
}
TSR_HD int tsr_lens_fisheye_add(const tsr_lens *l, const double u[2], double added[2])
{
    const double r = tsr_lens_root(u[0] * u[0] + u[1] * u[1]);
    double slope;
    added[0] = added[1] = 0.0;
    if (!(r > 0.0)) return 1;
    const double e = l->focal * tsr_lens_fisheye(l, tsr_lens_atan(r / l->focal), &slope) / r - 1.0;
    added[0] = u[0] * e;
    added[1] = u[1] * e;
    return slope > 0.0;
}
TSR_HD int tsr_lens_fisheye_remove(const tsr_lens *l, const double d[2], double added[2])
{
    const double r = tsr_lens_root(d[0] * d[0] + d[1] * d[1]), aim = r / l->focal;
    double t = aim < 1.57 ? aim : 1.57;
    added[0] = added[1] = 0.0;
    if (!(r > 0.0)) return 1;
    for (int32_t n = 0; n < 64; n++) {
        double slope;
        const double f = tsr_lens_fisheye(l, t, &slope) - aim;
        if (!(slope > 1e-6)) return 0;
        const double step = f / slope;
        t = t - step > 0.0 ? t - step : 0.5 * t;
        if (step * step < 1e-31) {
            if (!(t < 1.5707)) return 0; /* beside or behind the camera: a pinhole shows nothing of it */
            const double e = l->focal * tsr_lens_tan(t) / r - 1.0;
            added[0] = d[0] * e;
            added[1] = d[1] * e;
            return 1;
        }
    }
    return 0;
}

/* POLY: the radial factor less 1, and its derivative by r^2. 0: the denominator is not positive. */
TSR_HD int tsr_lens_radial(const tsr_lens *l, double r2, double *e, double *slope)
{
    const double up = r2 * (l->k1 + r2 * (l->k2 + r2 * l->k3)), up_slope = l->k1 + r2 * (2.0 * l->k2 + r2 * 3.0 * l->k3);
    if (l->k4 == 0.0 && l->k5 == 0.0 && l->k6 == 0.0) {
        *e = up;
        *slope = up_slope;
        return 1;
    }
    const double down = r2 * (l->k4 + r2 * (l->k5 + r2 * l->k6)), q = 1.0 + down, down_slope = l->k4 + r2 * (2.0 * l->k5 + r2 * 3.0 * l->k6);
    *e = (up - down) / q;
    *slope = (up_slope * q - (1.0 + up) * down_slope) / (q * q);
    return q > 0.0;
}

/* Of the point u (half-widths from the centre): what distortion adds to it. 0: nothing is seen there. */
TSR_HD int tsr_lens_add(const tsr_lens *l, const double u[2], double added[2])
{
    const double r2 = u[0] * u[0] + u[1] * u[1];
    double e, slope;
    if (l->model == TSR_LENS_DIVISION) {
        const double inner = 1.0 - 4.0 * l->k1 * r2;
        if (!(inner >= 0.0)) return 0;
        const double q = tsr_lens_root(inner);
        e = (1.0 - q) / (1.0 + q);
        added[0] = u[0] * e;
        added[1] = u[1] * e;
        return 1;
    }
    if (l->model == TSR_LENS_FISHEYE) return tsr_lens_fisheye_add(l, u, added);
    const int shown = tsr_lens_radial(l, r2, &e, &slope);
    added[0] = u[0] * e + 2.0 * l->p1 * u[0] * u[1] + l->p2 * (r2 + 2.0 * u[0] * u[0]);
    added[1] = u[1] * e + l->p1 * (r2 + 2.0 * u[1] * u[1]) + 2.0 * l->p2 * u[0] * u[1];
    return shown;
}

/* Of the seen point d: what must be added to be rid of the distortion. POLY: Newton on u + add(u) = d. */
TSR_HD int tsr_lens_remove(const tsr_lens *l, const double d[2], double added[2])
{
    if (l->model == TSR_LENS_DIVISION) {
        const double s = l->k1 * (d[0] * d[0] + d[1] * d[1]);
        if (!(1.0 + s > 0.0)) return 0;
        added[0] = -d[0] * s / (1.0 + s);
        added[1] = -d[1] * s / (1.0 + s);
        return 1;
    }
    if (l->model == TSR_LENS_FISHEYE) return tsr_lens_fisheye_remove(l, d, added);
    added[0] = added[1] = 0.0;
    for (int32_t n = 0; n < 32; n++) {
        const double u[2] = { d[0] + added[0], d[1] + added[1] }, r2 = u[0] * u[0] + u[1] * u[1];
        double a[2], e, half_slope;
        if (!tsr_lens_radial(l, r2, &e, &half_slope)) return 0;
        const double slope = 2.0 * half_slope;
        tsr_lens_add(l, u, a);
        const double f0 = added[0] + a[0], f1 = added[1] + a[1];
        const double j00 = 1.0 + e + slope * u[0] * u[0] + 2.0 * l->p1 * u[1] + 6.0 * l->p2 * u[0];
        const double j01 = slope * u[0] * u[1] + 2.0 * l->p1 * u[0] + 2.0 * l->p2 * u[1];
        const double j11 = 1.0 + e + slope * u[1] * u[1] + 6.0 * l->p1 * u[1] + 2.0 * l->p2 * u[0];
        const double determinant = j00 * j11 - j01 * j01;
        if (!(determinant > 1e-9)) return 0; /* the picture folds over here */
        const double s0 = (f0 * j11 - f1 * j01) / determinant, s1 = (f1 * j00 - f0 * j01) / determinant;
        added[0] -= s0;
        added[1] -= s1;
        if (s0 * s0 + s1 * s1 < 1e-30) return 1;
    }
    return 0;
}

#endif
