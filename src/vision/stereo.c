#include "tessera/camera.h"

#include <math.h>
#include <string.h>

#include "core/core.h"
#include "core/vec3.h"

static tsr_vec3 along(tsr_vec3 a, double s, tsr_vec3 d) { return (tsr_vec3){ a.x + s * d.x, a.y + s * d.y, a.z + s * d.z }; }

tsr_status tsr_rays_nearest(tsr_vec3 c1, tsr_vec3 d1, tsr_vec3 c2, tsr_vec3 d2, tsr_vec3 *point, double *gap)
{
    TSR_NEEDS(point);
    const tsr_vec3 between = tsr_vec3_sub(c2, c1);
    const double a = tsr_vec3_dot(d1, d1), b = tsr_vec3_dot(d1, d2), c = tsr_vec3_dot(d2, d2), determinant = a * c - b * b;
    *point = (tsr_vec3){ 0 };
    if (gap) *gap = 0;
    if (!(determinant > 1e-12 * a * c) || !isfinite(determinant) || !isfinite(tsr_vec3_dot(between, between)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rays: the directions (%g, %g, %g) and (%g, %g, %g) are parallel or not finite, expected rays that cross", d1.x,
                 d1.y, d1.z, d2.x, d2.y, d2.z);
    const double u = tsr_vec3_dot(d1, between), v = tsr_vec3_dot(d2, between);
    const tsr_vec3 p = along(c1, (u * c - v * b) / determinant, d1), q = along(c2, (u * b - v * a) / determinant, d2);
    *point = along(p, 0.5, tsr_vec3_sub(q, p));
    if (gap) *gap = tsr_vec3_length(tsr_vec3_sub(q, p));
    return TSR_OK;
}

tsr_status tsr_frustum_off_axis(tsr_vec3 pa, tsr_vec3 pb, tsr_vec3 pc, tsr_vec3 eye, double near_, double far_, double projection[16],
                                double view[16])
{
    const tsr_vec3 right = tsr_vec3_sub(pb, pa), up = tsr_vec3_sub(pc, pa), normal = tsr_vec3_cross(right, up);
    const double area = tsr_vec3_length(normal);
    if (!(area > 0) || !isfinite(area)) TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: the screen has no area, expected three corners that are no line");
    if (!(near_ > 0 && near_ < far_) || !isfinite(far_))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: near %g and far %g, expected 0 < near < far", near_, far_);
    const tsr_vec3 none = { 0 }, n = along(none, 1 / area, normal), r = along(none, 1 / tsr_vec3_length(right), right), u = tsr_vec3_cross(n, r);
    const double distance = -tsr_vec3_dot(n, tsr_vec3_sub(pa, eye));
    if (!(distance > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: the eye lies %g in front of the screen, expected more than 0", distance);
    const double scale = near_ / distance, left = tsr_vec3_dot(r, tsr_vec3_sub(pa, eye)) * scale, rightmost = tsr_vec3_dot(r, tsr_vec3_sub(pb, eye)) * scale;
    const double bottom = tsr_vec3_dot(u, tsr_vec3_sub(pa, eye)) * scale, top = tsr_vec3_dot(u, tsr_vec3_sub(pc, eye)) * scale;
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
    const double v[16] = { r.x, r.y, r.z, -tsr_vec3_dot(r, eye), u.x, u.y, u.z, -tsr_vec3_dot(u, eye), n.x, n.y, n.z, -tsr_vec3_dot(n, eye), 0, 0, 0, 1 };
    memcpy(projection, p, sizeof p);
    memcpy(view, v, sizeof v);
    return TSR_OK;
}
