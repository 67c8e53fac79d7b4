/* vision/calibration/homography.c: planes and their pictures. docs/theory/calibration.md 2. */
#include <math.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

/* Centre to 0 and mean distance to sqrt 2. 0: all in one place. */
static int normalise(const double (*p)[2], int64_t count, double centre[2], double *scale)
{
    double sum = 0;
    centre[0] = centre[1] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) centre[k] += p[i][k] / (double)count;
    for (int64_t i = 0; i < count; i++) sum += hypot(p[i][0] - centre[0], p[i][1] - centre[1]) / (double)count;
    *scale = sqrt(2) / sum;
    return sum > 0 && isfinite(*scale);
}

int tsr_homography_solve(const double (*from)[2], const double (*to)[2], int64_t count, double h[3][3])
{
    double a[81] = { 0 }, value[9], vector[81], cf[2], ct[2], sf, st;
    if (count < 4 || !normalise(from, count, cf, &sf) || !normalise(to, count, ct, &st)) return 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = (from[i][0] - cf[0]) * sf, y = (from[i][1] - cf[1]) * sf, u = (to[i][0] - ct[0]) * st, v = (to[i][1] - ct[1]) * st;
        const double row[2][9] = { { x, y, 1, 0, 0, 0, -u * x, -u * y, -u }, { 0, 0, 0, x, y, 1, -v * x, -v * y, -v } };
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 81; k++) a[k] += row[r][k / 9] * row[r][k % 9];
    }
    tsr_dense_eigen(9, a, value, vector);
    if (!(value[1] > 1e-13 * value[8])) return 0; /* two solutions: the points determine none */
    double n[3][3];
    memcpy(n, vector, sizeof n);
    const double after[3][3] = { { 1 / st, 0, ct[0] }, { 0, 1 / st, ct[1] }, { 0, 0, 1 } },
                 before[3][3] = { { sf, 0, -sf * cf[0] }, { 0, sf, -sf * cf[1] }, { 0, 0, 1 } };
    tsr_dense_multiply3(after, (const double(*)[3])n, n);
    tsr_dense_multiply3((const double(*)[3])n, before, h);
    double norm = 0;
    for (int k = 0; k < 9; k++) norm += h[k / 3][k % 3] * h[k / 3][k % 3];
    const double scale = fabs(h[2][2]) > 1e-9 * sqrt(norm) ? h[2][2] : sqrt(norm);
    for (int k = 0; k < 9; k++) h[k / 3][k % 3] /= scale;
    return isfinite(norm) && norm > 0;
}

int tsr_pose_of_plane(const double h[3][3], tsr_pose *pose)
{
    double x[3], y[3], nx = 0, ny = 0;
    const double sign = h[2][2] < 0 ? -1 : 1; /* the plane's origin lies in front */
    for (int i = 0; i < 3; i++) {
        x[i] = sign * h[i][0];
        y[i] = sign * h[i][1];
        nx += x[i] * x[i];
        ny += y[i] * y[i];
    }
    const double scale = 1 / sqrt(sqrt(nx) * sqrt(ny));
    if (!isfinite(scale)) return 0;
    for (int i = 0; i < 3; i++) {
        x[i] *= scale;
        y[i] *= scale;
        pose->translation[i] = sign * h[i][2] * scale;
    }
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3;
        pose->rotation[i][0] = x[i];
        pose->rotation[i][1] = y[i];
        pose->rotation[i][2] = x[k] * y[l] - x[l] * y[k];
    }
    return tsr_dense_rotation(pose->rotation) && pose->translation[2] > 0;
}

double tsr_focal_of_planes(const double (*homography)[3][3], int count, const double centre[2], double aspect)
{
    double up = 0, down = 0;
    for (int n = 0; n < count; n++) {
        double c[2][3], norm = 0; /* columns, relative to the centre, in kilopixels */
        for (int k = 0; k < 2; k++) {
            const double w = homography[n][2][k];
            c[k][0] = (homography[n][0][k] - centre[0] * w) / 1000;
            c[k][1] = (homography[n][1][k] - centre[1] * w) / (1000 * aspect);
            c[k][2] = w;
            norm += c[k][0] * c[k][0] + c[k][1] * c[k][1] + w * w;
        }
        const double a[2] = { c[0][0] * c[1][0] + c[0][1] * c[1][1], c[0][0] * c[0][0] + c[0][1] * c[0][1] - c[1][0] * c[1][0] - c[1][1] * c[1][1] };
        const double b[2] = { -c[0][2] * c[1][2], c[1][2] * c[1][2] - c[0][2] * c[0][2] };
        for (int k = 0; k < 2 && norm > 0; k++) {
            up += a[k] * b[k] / (norm * norm);
            down += a[k] * a[k] / (norm * norm);
        }
    }
    return up > 1e-12 * down && down > 0 ? 1000 / sqrt(up / down) : 0;
}

tsr_status tsr_homography_fit(const double (*plane)[2], const double (*pixel)[2], int64_t count, double homography[3][3])
{
    if (!plane || !pixel || !homography) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !plane ? "plane" : !pixel ? "pixel" : "homography");
    if (count < 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld pairs, expected at least 4 for a homography", (long long)count);
    if (!tsr_homography_solve(plane, pixel, count, homography))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "the %lld pairs determine no homography: do all, or all but one, lie on a line?", (long long)count);
    return TSR_OK;
}

tsr_status tsr_pose_from_homography(const double homography[3][3], tsr_pinhole *camera)
{
    tsr_pose pose;
    if (!homography || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", homography ? "camera" : "homography");
    if (!(camera->fx > 0 && camera->fy > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: focal lengths %g and %g, expected numbers above 0", camera->fx, camera->fy);
    const double k[3][3] = { { 1 / camera->fx, 0, -camera->cx / camera->fx }, { 0, 1 / camera->fy, -camera->cy / camera->fy }, { 0, 0, 1 } };
    double h[3][3];
    tsr_dense_multiply3(k, homography, h);
    if (!tsr_pose_of_plane((const double(*)[3])h, &pose))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "the homography is not that of a plane in front of the camera");
    memcpy(camera->rotation, pose.rotation, sizeof pose.rotation);
    memcpy(camera->translation, pose.translation, sizeof pose.translation);
    return TSR_OK;
}

tsr_status tsr_pose_from_vanishing(const double along_x[2], const double along_y[2], tsr_pinhole *camera)
{
    if (!along_x || !along_y || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !along_x ? "along_x" : !along_y ? "along_y" : "camera");
    const double a[2] = { along_x[0] - camera->cx, along_x[1] - camera->cy }, b[2] = { along_y[0] - camera->cx, along_y[1] - camera->cy };
    const double f2 = -(a[0] * b[0] + a[1] * b[1]);
    if (!(f2 > 0) || !isfinite(f2))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "vanishing points (%g, %g) and (%g, %g): no focal length has their directions at a right angle, seen from the centre (%g, %g)",
                 along_x[0], along_x[1], along_y[0], along_y[1], camera->cx, camera->cy);
    const double f = sqrt(f2), na = sqrt(a[0] * a[0] + a[1] * a[1] + f2), nb = sqrt(b[0] * b[0] + b[1] * b[1] + f2);
    double r[3][3];
    for (int i = 0; i < 3; i++) {
        r[i][0] = (i < 2 ? a[i] : f) / na;
        r[i][1] = (i < 2 ? b[i] : f) / nb;
    }
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3;
        r[i][2] = r[k][0] * r[l][1] - r[l][0] * r[k][1];
    }
    camera->fx = camera->fy = f;
    memcpy(camera->rotation, r, sizeof r);
    return TSR_OK;
}
