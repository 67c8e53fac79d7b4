/* vision/rig_path.c: ways of a camera past other cameras. */
#include "vision/rig/rig.h"

#include <math.h>

static double between(double a, double b, double t) { return a + t * (b - a); }
static tsr_vec3 place_between(tsr_vec3 a, tsr_vec3 b, double t)
{
    return (tsr_vec3){ between(a.x, b.x, t), between(a.y, b.y, t), between(a.z, b.z, t) };
}

tsr_status tsr_camera_between(const tsr_camera *a, const tsr_camera *b, double t, tsr_camera *camera)
{
    TSR_NEEDS(a, b, camera);
    if (!(t >= 0 && t <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "t is %g, expected 0 to 1", t);
    tsr_camera c = *a, other = *b;
    double p[4], q[4], dot = 0, turn[4];
    tsr_rig_to_quaternion(c.rotation, p);
    tsr_rig_to_quaternion(other.rotation, q);
    for (int i = 0; i < 4; i++) dot += p[i] * q[i];
    const double sign = dot < 0 ? -1 : 1, angle = acos(fmin(1, fabs(dot))), s = sin(angle);
    const double u = angle > 1e-6 ? sin((1 - t) * angle) / s : 1 - t, v = sign * (angle > 1e-6 ? sin(t * angle) / s : t);
    for (int i = 0; i < 4; i++) turn[i] = u * p[i] + v * q[i];
    TSR_TRY(tsr_rig_quaternion("a way of cameras", "a place between two", turn, c.rotation));
    c.position = place_between(a->position, b->position, t);
    c.fov = between(a->fov, b->fov, t);
    c.height = between(a->height, b->height, t);
    c.aspect = between(a->aspect, b->aspect, t);
    for (int i = 0; i < 2; i++) {
        c.offset[i] = between(a->offset[i], b->offset[i], t);
        c.clip[i] = between(a->clip[i], b->clip[i], t);
    }
    *camera = c;
    return TSR_OK;
}

tsr_status tsr_rig_along(const tsr_rig *rig, double t, tsr_camera *camera)
{
    TSR_NEEDS(rig, camera);
    const int64_t count = tsr_rig_count(rig);
    if (!count) TSR_FAIL(TSR_ERROR_ARGUMENT, "the rig has no cameras, expected at least one");
    if (!(t >= 0 && t <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "t is %g, expected 0 to 1", t);
    const int64_t first = (int64_t)fmin(t * (double)(count - 1), (double)(count > 1 ? count - 2 : 0));
    const double f = count > 1 ? t * (double)(count - 1) - (double)first : 0, g = f * f, h = g * f;
    tsr_rig_camera key[4];
    for (int k = 0; k < 4; k++) {
        const int64_t at = first - 1 + k;
        TSR_TRY(tsr_rig_get(rig, at < 0 ? 0 : at >= count ? count - 1 : at, &key[k]));
    }
    TSR_TRY(tsr_camera_between(&key[1].camera, &key[2].camera, f, camera));
    const double w[4] = { 0.5 * (2 * g - f - h), 0.5 * (2 - 5 * g + 3 * h), 0.5 * (f + 4 * g - 3 * h), 0.5 * (h - g) };
    camera->position = (tsr_vec3){ 0, 0, 0 };
    for (int k = 0; k < 4; k++) {
        camera->position.x += w[k] * key[k].camera.position.x;
        camera->position.y += w[k] * key[k].camera.position.y;
        camera->position.z += w[k] * key[k].camera.position.z;
    }
    return TSR_OK;
}
