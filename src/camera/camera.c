/* camera/camera.c: cameras are checked and aimed; points become pixels and pixels rays. */
#include <math.h>
#include <string.h>

#include "camera/camera.h"
#include "camera/lens.h"

#define RADIANS_OF_HALF (3.14159265358979323846 / 360) /* from a full angle in degrees to half of it in radians */
#define NEAR_DEFAULT 0.01
#define FAR_DEFAULT 1e5

static tsr_status check_pose(const tsr_camera *c)
{
    double worst = 0;
    if (!tsr_vec3_finite(c->position))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the position is (%g, %g, %g), expected finite numbers", c->position.x, c->position.y, c->position.z);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double product = 0;
            for (int m = 0; m < 3; m++) product += c->rotation[i][m] * c->rotation[k][m];
            worst = fmax(worst, fabs(product - (i == k)));
            if (isnan(product)) worst = (double)INFINITY;
        }
    if (worst > 1e-6)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the rotation is off by %g, expected three orthonormal rows (right, up and backward)", worst);
    const double(*r)[3] = c->rotation;
    const double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                               r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    if (determinant < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the rotation is a reflection (determinant %g), expected a right-handed system", determinant);
    return TSR_OK;
}

static tsr_status check_projection(const tsr_camera *c)
{
    double inverse[16];
    if ((unsigned)c->projection > TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: projection %d, expected TSR_PERSPECTIVE, TSR_ORTHOGRAPHIC or TSR_PROJECTION_MATRIX",
                 (int)c->projection);
    if (c->projection == TSR_PROJECTION_MATRIX) {
        TSR_TRY(tsr_matrix4_invert("camera", c->matrix, inverse));
        return TSR_OK;
    }
    if (c->projection == TSR_PERSPECTIVE && !(c->fov > 0 && c->fov < 180))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: fov %g, expected degrees in (0, 180)", c->fov);
    if (c->projection == TSR_ORTHOGRAPHIC && !(c->height > 0 && isfinite(c->height)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: height %g, expected a positive number", c->height);
    if (!(c->aspect >= 0 && isfinite(c->aspect)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: aspect %g, expected a positive number, or 0 for the image's", c->aspect);
    if (c->projection == TSR_PERSPECTIVE && !(isfinite(c->offset[0]) && isfinite(c->offset[1])))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: offset %g, %g, expected finite numbers", c->offset[0], c->offset[1]);
    if (c->clip[0] == 0 && c->clip[1] == 0) return TSR_OK;
    if (!isfinite(c->clip[0]) || !isfinite(c->clip[1]) || !(c->clip[0] < c->clip[1]) || (c->projection == TSR_PERSPECTIVE && !(c->clip[0] > 0)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: clip distances %g and %g, expected %snear < far (0 0: none)", c->clip[0], c->clip[1],
                 c->projection == TSR_PERSPECTIVE ? "0 < " : "");
    return TSR_OK;
}

tsr_status tsr_camera_check(const tsr_camera *camera)
{
    TSR_NEEDS(camera);
    TSR_TRY(check_pose(camera));
    TSR_TRY(check_projection(camera));
    TSR_TRY(tsr_lens_check("camera", &camera->lens));
    return TSR_OK;
}

tsr_status tsr_camera_look_at(tsr_camera *camera, tsr_vec3 eye, tsr_vec3 target, tsr_vec3 up)
{
    TSR_NEEDS(camera);
    if (!tsr_vec3_finite(eye) || !tsr_vec3_finite(target) || !tsr_vec3_finite(up))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: eye, target and up must be finite numbers");
    const tsr_vec3 forward = tsr_vec3_unit(tsr_vec3_sub(target, eye)), across = tsr_vec3_cross(forward, tsr_vec3_unit(up));
    if (!(tsr_vec3_length(forward) > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: eye and target are the same point (%g, %g, %g)", eye.x, eye.y, eye.z);
    if (!(tsr_vec3_length(across) > 1e-6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: up (%g, %g, %g) is 0 or along the direction of view", up.x, up.y, up.z);
    const tsr_vec3 right = tsr_vec3_unit(across), above = tsr_vec3_cross(right, forward);
    const double rotation[3][3] = { { right.x, right.y, right.z }, { above.x, above.y, above.z }, { -forward.x, -forward.y, -forward.z } };
    memcpy(camera->rotation, rotation, sizeof rotation);
    camera->position = eye;
    return TSR_OK;
}

static tsr_status check_image(int32_t width, int32_t height)
{
    if (width < 1 || height < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: an image of %d x %d pixels, expected numbers above 0", width, height);
    return TSR_OK;
}

static void fill_view(const tsr_camera *c, double view[16])
{
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) view[4 * k + r] = c->rotation[r][k];
        view[12 + r] = -(c->rotation[r][0] * c->position.x + c->rotation[r][1] * c->position.y + c->rotation[r][2] * c->position.z);
        view[4 * r + 3] = 0;
    }
    view[15] = 1;
}

static void fill_projection(const tsr_camera *c, int32_t width, int32_t height, double p[16])
{
    if (c->projection == TSR_PROJECTION_MATRIX) {
        memcpy(p, c->matrix, sizeof c->matrix);
        return;
    }
    const double aspect = c->aspect > 0 ? c->aspect : (double)width / (double)height;
    const int none = c->clip[0] == 0 && c->clip[1] == 0;
    const double n = none ? NEAR_DEFAULT : c->clip[0], f = none ? FAR_DEFAULT : c->clip[1];
    memset(p, 0, 16 * sizeof *p);
    if (c->projection == TSR_ORTHOGRAPHIC) {
        p[0] = 2 / (c->height * aspect);
        p[5] = 2 / c->height;
        p[10] = -2 / (f - n);
        p[14] = -(f + n) / (f - n);
        p[15] = 1;
        return;
    }
    const double cotangent = 1 / tan(c->fov * RADIANS_OF_HALF);
    p[0] = cotangent / aspect;
    p[5] = cotangent;
    p[8] = c->offset[0];
    p[9] = c->offset[1];
    p[10] = (f + n) / (n - f);
    p[14] = 2 * f * n / (n - f);
    p[11] = -1;
}

tsr_status tsr_camera_matrices(const tsr_camera *camera, int32_t width, int32_t height, double view[16], double projection[16])
{
    TSR_TRY(tsr_camera_check(camera));
    TSR_TRY(check_image(width, height));
    if (view) fill_view(camera, view);
    if (projection) fill_projection(camera, width, height, projection);
    return TSR_OK;
}

tsr_lens tsr_camera_lens(const tsr_camera *c, int32_t width, int32_t height)
{
    tsr_lens lens = c->lens;
    if (lens.model == TSR_LENS_FISHEYE && !(lens.focal > 0)) {
        double p[16];
        fill_projection(c, width, height, p);
        lens.focal = fabs(p[0]);
    }
    return lens;
}

tsr_status tsr_camera_project(const tsr_camera *camera, int32_t width, int32_t height, tsr_vec3 point, double pixel[2], double *depth)
{
    TSR_NEEDS(camera);
    double p[16], c[4];
    if (!pixel) TSR_FAIL(TSR_ERROR_ARGUMENT, "pixel is NULL");
    TSR_TRY(tsr_camera_check(camera));
    TSR_TRY(check_image(width, height));
    fill_projection(camera, width, height, p);
    const double d[3] = { point.x - camera->position.x, point.y - camera->position.y, point.z - camera->position.z };
    double e[4] = { 0, 0, 0, 1 };
    for (int r = 0; r < 3; r++) e[r] = camera->rotation[r][0] * d[0] + camera->rotation[r][1] * d[1] + camera->rotation[r][2] * d[2];
    tsr_matrix4_apply(p, e, c);
    if (!(c[3] > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the point (%g, %g, %g) is not in front of the camera", point.x, point.y, point.z);
    const double ideal[2] = { 0.5 * width * (c[0] / c[3] + 1), 0.5 * height * (1 - c[1] / c[3]) };
    if (tsr_lens_distorts(&camera->lens)) {
        const tsr_lens lens = tsr_camera_lens(camera, width, height);
        TSR_TRY(tsr_lens_distort(&lens, width, height, ideal, pixel));
    } else {
        pixel[0] = ideal[0];
        pixel[1] = ideal[1];
    }
    if (depth) *depth = -e[2];
    return TSR_OK;
}

tsr_status tsr_camera_rays_make(const char *what, const tsr_camera *c, int32_t width, int32_t height, tsr_camera_rays *rays)
{
    double p[16];
    TSR_TRY(tsr_camera_check(c));
    TSR_TRY(check_image(width, height));
    if (tsr_lens_distorts(&c->lens))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the camera's lens distorts; remove it from the images first (tsr_lens_warp)", what);
    fill_projection(c, width, height, p);
    tsr_camera_rays r = { .projection = (int32_t)c->projection, .position = { c->position.x, c->position.y, c->position.z } };
    for (int k = 0; k < 3; k++) {
        r.right[k] = c->rotation[0][k];
        r.up[k] = c->rotation[1][k];
        r.forward[k] = -c->rotation[2][k];
    }
    r.clip_x = 2.0 / width;
    r.clip_y = 2.0 / height;
    if (c->projection == TSR_PROJECTION_MATRIX) {
        TSR_TRY(tsr_matrix4_invert(what, p, r.inverse));
        for (int k = 0; k < 16; k++)
            if (r.inverse[k] == 0) r.inverse[k] = 0; /* no -0 */
    } else {
        const int pinhole = c->projection == TSR_PERSPECTIVE;
        r.centre[0] = 0.5 * width * (pinhole ? 1 - p[8] : 1);
        r.centre[1] = 0.5 * height * (pinhole ? 1 + p[9] : 1);
        r.step[0] = r.clip_x / p[0];
        r.step[1] = -r.clip_y / p[5];
    }
    *rays = r;
    return TSR_OK;
}

tsr_status tsr_camera_points_make(const char *what, const tsr_camera *c, int32_t width, int32_t height, tsr_camera_points *points)
{
    double view[16], p[16], m[16];
    TSR_TRY(tsr_camera_matrices(c, width, height, view, p));
    if (tsr_lens_distorts(&c->lens))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the camera's lens distorts; remove it from the images first (tsr_lens_warp)", what);
    tsr_matrix4_multiply(p, view, m);
    for (int k = 0; k < 4; k++) {
        points->row[0][k] = 0.5 * width * (m[4 * k] + m[4 * k + 3]);
        points->row[1][k] = 0.5 * height * (m[4 * k + 3] - m[4 * k + 1]);
        points->row[2][k] = m[4 * k + 3];
        points->row[3][k] = -view[4 * k + 2];
    }
    points->scale = 0.5 * height * fabs(p[5]);
    return TSR_OK;
}

tsr_status tsr_camera_ray(const tsr_camera *camera, int32_t width, int32_t height, const double pixel[2], tsr_vec3 *origin, tsr_vec3 *direction)
{
    double at[2];
    tsr_camera_rays rays;
    if (!pixel || !direction || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !camera ? "camera" : pixel ? "direction" : "pixel");
    *direction = (tsr_vec3){ 0 };
    if (origin) *origin = (tsr_vec3){ 0 };
    tsr_camera ideal = *camera;
    TSR_TRY(tsr_camera_check(camera));
    TSR_TRY(check_image(width, height));
    memset(&ideal.lens, 0, sizeof ideal.lens);
    TSR_TRY(tsr_camera_rays_make("camera", &ideal, width, height, &rays));
    if (tsr_lens_distorts(&camera->lens)) {
        const tsr_lens lens = tsr_camera_lens(camera, width, height);
        TSR_TRY(tsr_lens_undistort(&lens, width, height, pixel, at));
    } else {
        at[0] = pixel[0];
        at[1] = pixel[1];
    }
    tsr_vec3 from;
    tsr_camera_rays_at(&rays, at[0], at[1], &from, direction);
    if (!tsr_vec3_finite(from) || !tsr_vec3_finite(*direction)) {
        *direction = (tsr_vec3){ 0 };
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: the ray at pixel (%g, %g) does not leave the eye's plane", pixel[0], pixel[1]);
    }
    if (origin) *origin = from;
    return TSR_OK;
}
