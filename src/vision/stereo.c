#include "tessera/stereo.h"

#include <math.h>
#include <string.h>

#include "core/core.h"

static tsr_vec3 minus(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static tsr_vec3 along(tsr_vec3 a, double s, tsr_vec3 d) { return (tsr_vec3){ a.x + s * d.x, a.y + s * d.y, a.z + s * d.z }; }
static double dot(tsr_vec3 a, tsr_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static tsr_vec3 cross(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
static double length(tsr_vec3 a) { return sqrt(dot(a, a)); }

static tsr_status check(const tsr_eye *e)
{
    double worst = 0;
    if (e->width < 1 || e->height < 1 || !(e->focal > 0) || !isfinite(e->focal))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "eye: %d x %d pixels and a focal length of %g, expected numbers above 0", e->width, e->height, e->focal);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double product = 0;
            for (int c = 0; c < 3; c++) product += e->rotation[i][c] * e->rotation[k][c];
            worst = fmax(worst, fabs(product - (i == k)));
            if (isnan(product)) worst = (double)INFINITY;
        }
    if (worst > 1e-6) TSR_FAIL(TSR_ERROR_ARGUMENT, "eye: the rotation is off by %g, expected three orthonormal rows", worst);
    return TSR_OK;
}
static void middle(const tsr_eye *e, double c[2])
{
    const int given = e->principal[0] != 0 || e->principal[1] != 0;
    c[0] = given && !isnan(e->principal[0]) ? e->principal[0] : 0.5 * e->width;
    c[1] = given && !isnan(e->principal[1]) ? e->principal[1] : 0.5 * e->height;
}
static tsr_vec3 row(const tsr_eye *e, int i) { return (tsr_vec3){ e->rotation[i][0], e->rotation[i][1], e->rotation[i][2] }; }

tsr_status tsr_eye_ray(const tsr_eye *e, const double pixel[2], tsr_vec3 *direction)
{
    double p[2], c[2];
    *direction = (tsr_vec3){ 0 };
    TSR_TRY(check(e));
    TSR_TRY(tsr_lens_undistort(&e->lens, e->width, e->height, pixel, p));
    middle(e, c);
    *direction = along(along(row(e, 2), (p[0] - c[0]) / e->focal, row(e, 0)), (p[1] - c[1]) / e->focal, row(e, 1));
    return TSR_OK;
}

tsr_status tsr_eye_project(const tsr_eye *e, tsr_vec3 point, double pixel[2])
{
    double c[2];
    TSR_TRY(check(e));
    const tsr_vec3 d = minus(point, e->position);
    const double z = dot(row(e, 2), d);
    if (!(z > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "eye: the point (%g, %g, %g) is not in front of the camera", point.x, point.y, point.z);
    middle(e, c);
    const double p[2] = { c[0] + e->focal * dot(row(e, 0), d) / z, c[1] + e->focal * dot(row(e, 1), d) / z };
    TSR_TRY(tsr_lens_distort(&e->lens, e->width, e->height, p, pixel));
    return TSR_OK;
}

tsr_status tsr_rays_nearest(tsr_vec3 c1, tsr_vec3 d1, tsr_vec3 c2, tsr_vec3 d2, tsr_vec3 *point, double *gap)
{
    const tsr_vec3 between = minus(c2, c1);
    const double a = dot(d1, d1), b = dot(d1, d2), c = dot(d2, d2), determinant = a * c - b * b;
    *point = (tsr_vec3){ 0 };
    if (gap) *gap = 0;
    if (!(determinant > 1e-12 * a * c) || !isfinite(determinant) || !isfinite(dot(between, between)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rays: the directions (%g, %g, %g) and (%g, %g, %g) are parallel or not finite, expected rays that cross", d1.x,
                 d1.y, d1.z, d2.x, d2.y, d2.z);
    const double u = dot(d1, between), v = dot(d2, between);
    const tsr_vec3 p = along(c1, (u * c - v * b) / determinant, d1), q = along(c2, (u * b - v * a) / determinant, d2);
    *point = along(p, 0.5, minus(q, p));
    if (gap) *gap = length(minus(q, p));
    return TSR_OK;
}

tsr_status tsr_frustum_off_axis(tsr_vec3 pa, tsr_vec3 pb, tsr_vec3 pc, tsr_vec3 eye, double near_, double far_, double projection[16],
                                double view[16])
{
    const tsr_vec3 right = minus(pb, pa), up = minus(pc, pa), normal = cross(right, up);
    const double area = length(normal);
    if (!(area > 0) || !isfinite(area)) TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: the screen has no area, expected three corners that are no line");
    if (!(near_ > 0 && near_ < far_) || !isfinite(far_))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: near %g and far %g, expected 0 < near < far", near_, far_);
    const tsr_vec3 none = { 0 }, n = along(none, 1 / area, normal), r = along(none, 1 / length(right), right), u = cross(n, r);
    const double distance = -dot(n, minus(pa, eye));
    if (!(distance > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: the eye lies %g in front of the screen, expected more than 0", distance);
    const double scale = near_ / distance, left = dot(r, minus(pa, eye)) * scale, rightmost = dot(r, minus(pb, eye)) * scale;
    const double bottom = dot(u, minus(pa, eye)) * scale, top = dot(u, minus(pc, eye)) * scale;
    const double p[16] = { 2 * near_ / (rightmost - left),
                           0,
                           (rightmost + left) / (rightmost - left),
                           0,
                           0,
                           2 * near_ / (top - bottom),
                           (top + bottom) / (top - bottom),
                           0,
                           0,
                           0,
                           -(far_ + near_) / (far_ - near_),
                           -2 * far_ * near_ / (far_ - near_),
                           0,
                           0,
                           -1,
                           0 };
    const double v[16] = { r.x, r.y, r.z, -dot(r, eye), u.x, u.y, u.z, -dot(u, eye), n.x, n.y, n.z, -dot(n, eye), 0, 0, 0, 1 };
    memcpy(projection, p, sizeof p);
    memcpy(view, v, sizeof v);
    return TSR_OK;
}
