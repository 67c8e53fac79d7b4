/* vision/calibration/projection.c: the pinhole with its lens, and its derivatives. docs/theory/calibration.md 1. */
#include <math.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

tsr_view_model tsr_view_model_of(const tsr_pinhole *p)
{
    tsr_view_model m = { { p->fx, p->fy, p->cx, p->cy }, p->fisheye != 0 };
    memcpy(m.v + 4, p->k, sizeof p->k);
    memcpy(m.v + 10, p->p, sizeof p->p);
    return m;
}

void tsr_view_model_put(const tsr_view_model *m, tsr_pinhole *p)
{
    p->fx = m->v[0];
    p->fy = m->v[1];
    p->cx = m->v[2];
    p->cy = m->v[3];
    memcpy(p->k, m->v + 4, sizeof p->k);
    memcpy(p->p, m->v + 10, sizeof p->p);
    p->fisheye = m->fisheye;
}

/* d: the distorted place; m: its derivatives by x, y (and z for the fish-eye); q: by the six k and two p. */
static int brown(const double *k, const double *p, double a, double b, double d[2], double m[2][2], double q[2][8])
{
    const double r2 = a * a + b * b, r4 = r2 * r2, r6 = r4 * r2;
    const double up = 1 + k[0] * r2 + k[1] * r4 + k[2] * r6, down = 1 + k[3] * r2 + k[4] * r4 + k[5] * r6;
    if (!(down > 1e-6)) return 0;
    const double g = up / down;
    const double up1 = k[0] + 2 * k[1] * r2 + 3 * k[2] * r4, down1 = k[3] + 2 * k[4] * r2 + 3 * k[5] * r4, g1 = (up1 - g * down1) / down;
    d[0] = a * g + 2 * p[0] * a * b + p[1] * (r2 + 2 * a * a);
    d[1] = b * g + p[0] * (r2 + 2 * b * b) + 2 * p[1] * a * b;
    m[0][0] = g + 2 * a * a * g1 + 2 * p[0] * b + 6 * p[1] * a;
    m[0][1] = m[1][0] = 2 * a * b * g1 + 2 * p[0] * a + 2 * p[1] * b;
    m[1][1] = g + 2 * b * b * g1 + 6 * p[0] * b + 2 * p[1] * a;
    const double power[6] = { r2 / down, r4 / down, r6 / down, -g * r2 / down, -g * r4 / down, -g * r6 / down };
    for (int i = 0; i < 6; i++) {
        q[0][i] = a * power[i];
        q[1][i] = b * power[i];
    }
    q[0][6] = 2 * a * b;
    q[1][6] = r2 + 2 * b * b;
    q[0][7] = r2 + 2 * a * a;
    q[1][7] = 2 * a * b;
    return 1;
}

int tsr_view_project(const tsr_view_model *model, const double x[3], double pixel[2], double by_intrinsics[2][TSR_INTRINSICS], double by_point[2][3])
{
    const double *v = model->v;
    double d[2], by_x[2][3], q[2][8] = { { 0 } };
    if (!model->fisheye) {
        if (!(x[2] > 1e-12)) return 0;
        const double z = 1 / x[2], a = x[0] * z, b = x[1] * z;
        double m[2][2];
        if (!brown(v + 4, v + 10, a, b, d, m, q)) return 0;
        for (int i = 0; i < 2; i++) {
            by_x[i][0] = m[i][0] * z;
            by_x[i][1] = m[i][1] * z;
            by_x[i][2] = -(m[i][0] * a + m[i][1] * b) * z;
        }
    } else {
        const double r2 = x[0] * x[0] + x[1] * x[1], r = sqrt(r2), s2 = r2 + x[2] * x[2];
        if (!(s2 > 0) || (r < 1e-12 * sqrt(s2) && x[2] < 0)) return 0;
        const double t = atan2(r, x[2]), t2 = t * t;
        const double e = 1 + t2 * (v[4] + t2 * (v[5] + t2 * (v[6] + t2 * v[7])));
        const double slope = 1 + t2 * (3 * v[4] + t2 * (5 * v[5] + t2 * (7 * v[6] + t2 * 9 * v[7])));
        const int centre = r < 1e-9 * sqrt(s2);
        const double n = centre ? 1 / x[2] : t / r, g = n * e; /* d = g (x, y) */
        /* dg = (slope dt - g dr) / r */
        const double tr = x[2] / s2, tz = -r / s2;
        const double g_r = centre ? 0 : (slope * tr - g) / r, g_z = centre ? -1 / (x[2] * x[2]) : slope * tz / r;
        for (int i = 0; i < 2; i++) {
            d[i] = g * x[i];
            by_x[i][0] = (i == 0) * g + (centre ? 0 : x[i] * g_r * x[0] / r);
            by_x[i][1] = (i == 1) * g + (centre ? 0 : x[i] * g_r * x[1] / r);
            by_x[i][2] = x[i] * g_z;
            double power = n * t2;
            for (int k = 0; k < 4; k++, power *= t2) q[i][k] = x[i] * power;
        }
    }
    pixel[0] = v[0] * d[0] + v[2];
    pixel[1] = v[1] * d[1] + v[3];
    if (by_point)
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++) by_point[i][k] = v[i] * by_x[i][k];
    if (by_intrinsics) {
        memset(by_intrinsics, 0, 2 * sizeof by_intrinsics[0]);
        for (int i = 0; i < 2; i++) {
            by_intrinsics[i][i] = d[i];
            by_intrinsics[i][2 + i] = 1;
            for (int k = 0; k < 8; k++) by_intrinsics[i][4 + k] = v[i] * q[i][k];
        }
    }
    return isfinite(pixel[0]) && isfinite(pixel[1]);
}

int tsr_view_normalise(const tsr_view_model *model, const double pixel[2], double place[2])
{
    const double *v = model->v, aim[2] = { (pixel[0] - v[2]) / v[0], (pixel[1] - v[3]) / v[1] };
    if (model->fisheye) {
        const double r = sqrt(aim[0] * aim[0] + aim[1] * aim[1]);
        double t = r < 1.5 ? r : 1.5;
        for (int n = 0; n < 50; n++) {
            const double t2 = t * t, e = t * (1 + t2 * (v[4] + t2 * (v[5] + t2 * (v[6] + t2 * v[7])))) - r;
            const double slope = 1 + t2 * (3 * v[4] + t2 * (5 * v[5] + t2 * (7 * v[6] + t2 * 9 * v[7])));
            if (!(slope > 1e-6)) return 0;
            t -= e / slope;
            if (fabs(e) < 1e-15) break;
        }
        if (!(t < 1.55) || t < 0) return 0;
        const double s = r > 1e-12 ? tan(t) / r : 1;
        place[0] = aim[0] * s;
        place[1] = aim[1] * s;
        return 1;
    }
    double u[2] = { aim[0], aim[1] };
    for (int n = 0; n < 50; n++) {
        double d[2], m[2][2], q[2][8];
        if (!brown(v + 4, v + 10, u[0], u[1], d, m, q)) return 0;
        const double e[2] = { d[0] - aim[0], d[1] - aim[1] }, determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        if (!(determinant > 1e-6)) return 0;
        u[0] -= (m[1][1] * e[0] - m[0][1] * e[1]) / determinant;
        u[1] -= (m[0][0] * e[1] - m[1][0] * e[0]) / determinant;
        if (e[0] * e[0] + e[1] * e[1] < 1e-28) break;
    }
    place[0] = u[0];
    place[1] = u[1];
    return isfinite(u[0]) && isfinite(u[1]);
}

void tsr_pose_apply(const tsr_pose *p, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = p->rotation[i][0] * x[0] + p->rotation[i][1] * x[1] + p->rotation[i][2] * x[2] + p->translation[i];
}

tsr_pose tsr_pose_identity(void) { return (tsr_pose){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { 0, 0, 0 } }; }

tsr_pose tsr_pose_compose(const tsr_pose *a, const tsr_pose *b)
{
    tsr_pose c;
    tsr_dense_multiply3((const double(*)[3])a->rotation, (const double(*)[3])b->rotation, c.rotation);
    tsr_pose_apply(a, b->translation, c.translation);
    return c;
}

tsr_pose tsr_pose_inverse(const tsr_pose *a)
{
    tsr_pose c;
    for (int i = 0; i < 3; i++) {
        c.translation[i] = 0;
        for (int k = 0; k < 3; k++) {
            c.rotation[i][k] = a->rotation[k][i];
            c.translation[i] -= a->rotation[k][i] * a->translation[k];
        }
    }
    return c;
}

void tsr_pose_step(tsr_pose *p, const double step[6])
{
    tsr_pose d = { .translation = { step[3], step[4], step[5] } };
    tsr_dense_turn(step, d.rotation);
    *p = tsr_pose_compose(&d, p);
    tsr_dense_rotation(p->rotation);
}

void tsr_points_extent(const tsr_vec3 *point, int64_t count, double value[3], double axis[3][3], double centre[3])
{
    double m[9] = { 0 };
    centre[0] = centre[1] = centre[2] = 0;
    for (int64_t i = 0; i < count; i++) {
        centre[0] += point[i].x / (double)count;
        centre[1] += point[i].y / (double)count;
        centre[2] += point[i].z / (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        const double d[3] = { point[i].x - centre[0], point[i].y - centre[1], point[i].z - centre[2] };
        for (int k = 0; k < 9; k++) m[k] += d[k / 3] * d[k % 3];
    }
    tsr_dense_eigen(3, m, value, &axis[0][0]);
    const double *x = axis[2], *y = axis[1]; /* right-handed: the plane's normal is x cross y */
    const double n[3] = { x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0] };
    memcpy(axis[0], n, sizeof n);
}

int tsr_points_rank(const double value[3])
{
    if (!(value[1] > 1e-12 * value[2])) return TSR_POINTS_LINE;
    return value[0] > 1e-10 * value[2] ? TSR_POINTS_SPACE : TSR_POINTS_PLANE;
}
