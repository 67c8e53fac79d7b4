#include <math.h>
#include <string.h>

#include "render/scene.h"

static tsr_status check_bounds(const tsr_box *b)
{
    if (!b) TSR_FAIL(TSR_ERROR_ARGUMENT, "bounds are NULL");
    if (!tsr_vec3_finite(b->lower) || !tsr_vec3_finite(b->upper) || b->lower.x > b->upper.x || b->lower.y > b->upper.y || b->lower.z > b->upper.z ||
        !(tsr_vec3_length(tsr_vec3_sub(b->upper, b->lower)) > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "bounds (%g, %g, %g) to (%g, %g, %g) are empty or not finite", b->lower.x, b->lower.y, b->lower.z, b->upper.x,
                 b->upper.y, b->upper.z);
    return TSR_OK;
}

/* `up` as it was given, not as the camera has it: the same bits whichever way a view is asked for. */
static tsr_status fit(tsr_camera *camera, tsr_vec3 up_hint, const tsr_box *bounds, double aspect)
{
    TSR_TRY(check_bounds(bounds));
    if (!(aspect > 0 && isfinite(aspect))) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: aspect %g, expected a positive number", aspect);
    tsr_camera c = *camera;
    if (!(c.fov != 0)) c.fov = 30;
    if (!(c.height != 0)) c.height = 1;
    TSR_TRY(tsr_camera_check(&c));
    tsr_vec3 right, up, forward, centre = tsr_vec3_scale(tsr_vec3_add(bounds->lower, bounds->upper), 0.5);
    tsr_camera_axes(&c, &right, &up, &forward);
    const double margin = 1.04, slope = tan(c.fov * (3.14159265358979323846 / 360));
    double distance = 0, height = 0;
    for (int i = 0; i < 8; i++) { /* the least distance from which every corner is inside the picture */
        tsr_vec3 corner = { i & 1 ? bounds->upper.x : bounds->lower.x, i & 2 ? bounds->upper.y : bounds->lower.y,
                            i & 4 ? bounds->upper.z : bounds->lower.z };
        tsr_vec3 d = tsr_vec3_sub(corner, centre);
        double x = fabs(tsr_vec3_dot(d, right)) * margin, y = fabs(tsr_vec3_dot(d, up)) * margin, z = tsr_vec3_dot(d, forward);
        distance = fmax(distance, fmax(x / (slope * aspect), y / slope) - z);
        height = fmax(height, 2 * fmax(x / aspect, y));
    }
    if (c.projection == TSR_ORTHOGRAPHIC) distance = tsr_vec3_length(tsr_vec3_sub(bounds->upper, bounds->lower));
    c.height = height;
    TSR_TRY(tsr_camera_look_at(&c, tsr_vec3_sub(centre, tsr_vec3_scale(forward, distance)), centre, up_hint));
    *camera = c;
    return TSR_OK;
}

tsr_status tsr_camera_fit(tsr_camera *camera, const tsr_box *bounds, double aspect)
{
    TSR_NEEDS(camera, bounds);
    TSR_TRY(fit(camera, (tsr_vec3){ camera->rotation[1][0], camera->rotation[1][1], camera->rotation[1][2] }, bounds, aspect));
    return TSR_OK;
}

tsr_status tsr_camera_orbit(const tsr_box *bounds, tsr_space space, double azimuth, double elevation, tsr_projection projection, double aspect,
                            tsr_camera *camera)
{
    TSR_NEEDS(bounds, camera);
    TSR_TRY(check_bounds(bounds));
    if (!isfinite(azimuth) || !isfinite(elevation))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: azimuth %g and elevation %g, expected degrees", azimuth, elevation);
    double a = azimuth * (3.14159265358979323846 / 180), e = elevation * (3.14159265358979323846 / 180);
    double sign = space == TSR_SPACE_LPS ? -1 : 1; /* RAS: front = +y, left = -x */
    tsr_vec3 front = { 0, sign, 0 }, left = { -sign, 0, 0 }, top = { 0, 0, 1 };
    tsr_vec3 level = tsr_vec3_add(tsr_vec3_scale(front, cos(a)), tsr_vec3_scale(left, sin(a)));
    tsr_vec3 from = tsr_vec3_add(tsr_vec3_scale(level, cos(e)), tsr_vec3_scale(top, sin(e)));
    tsr_vec3 up = tsr_vec3_add(tsr_vec3_scale(level, -sin(e)), tsr_vec3_scale(top, cos(e)));
    tsr_camera c = { .projection = projection };
    TSR_TRY(tsr_camera_look_at(&c, tsr_vec3_add(bounds->lower, from), bounds->lower, up));
    TSR_TRY(fit(&c, up, bounds, aspect));
    *camera = c;
    return TSR_OK;
}

tsr_status tsr_camera_named(const tsr_box *bounds, tsr_space space, tsr_view view, tsr_projection projection, double aspect, tsr_camera *camera)
{
    TSR_NEEDS(bounds, camera);
    /* From above and below the front is up in the picture: azimuth 180 from above (the viewer stands behind), 0 from below. */
    static const double angle[6][2] = { { 0, 0 }, { 180, 0 }, { 90, 0 }, { -90, 0 }, { 180, 90 }, { 0, -90 } };
    if ((int)view < 0 || (int)view > 5) TSR_FAIL(TSR_ERROR_ARGUMENT, "view %d, expected TSR_VIEW_ANTERIOR to TSR_VIEW_INFERIOR", (int)view);
    TSR_TRY(tsr_camera_orbit(bounds, space, angle[view][0], angle[view][1], projection, aspect, camera));
    return TSR_OK;
}

tsr_status tsr_view_parse(const char *name, tsr_view *view)
{
    TSR_NEEDS(view);
    static const char *const names[][2] = { { "anterior", "front" }, { "posterior", "back" }, { "left", "left" }, { "right", "right" },
                                            { "superior", "top" }, { "inferior", "bottom" } };
    for (int i = 0; i < 6; i++) {
        if (name && (!strcmp(name, names[i][0]) || !strcmp(name, names[i][1]))) {
            *view = (tsr_view)i;
            return TSR_OK;
        }
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "view '%.40s', expected anterior, posterior, left, right, superior or inferior", name ? name : "");
}
