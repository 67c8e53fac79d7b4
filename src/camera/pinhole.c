/* camera/pinhole.c: intrinsics in pixels and glFrustum's numbers to cameras and back. */
#include <math.h>
#include <string.h>

#include "camera/camera.h"
#include "camera/lens.h"

#define DEGREES_OF_HALF (360 / 3.14159265358979323846) /* from half an angle in radians to the full one in degrees */

static tsr_status check(const tsr_pinhole *p)
{
    if (p->width < 1 || p->height < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "pinhole: %d x %d pixels, expected numbers above 0", p->width, p->height);
    if (!(p->fx > 0 && p->fy > 0) || !isfinite(p->fx) || !isfinite(p->fy) || !isfinite(p->cx) || !isfinite(p->cy))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pinhole: focal lengths %g, %g and centre %g, %g, expected focal lengths above 0 and finite numbers", p->fx,
                 p->fy, p->cx, p->cy);
    if (p->fisheye && (p->k[4] != 0 || p->k[5] != 0 || p->p[0] != 0 || p->p[1] != 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pinhole: the fish-eye model has k[0] to k[3] alone, expected the rest to be 0");
    return TSR_OK;
}

/* k of r = 1 at 45 degrees to k of r = 1 at half the width, and back: s = half-widths of the first per second. */
static void scale_lens(const double k[6], const double p[2], double s, double to_k[6], double to_p[2])
{
    static const int power[6] = { 2, 4, 6, 2, 4, 6 };
    for (int i = 0; i < 6; i++) to_k[i] = k[i] == 0 ? 0 : k[i] * pow(s, power[i]);
    for (int i = 0; i < 2; i++) to_p[i] = p[i] == 0 ? 0 : p[i] * s;
}

tsr_status tsr_camera_from_pinhole(const tsr_pinhole *p, tsr_camera *camera)
{
    if (!p || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", p ? "camera" : "pinhole");
    TSR_TRY(check(p));
    tsr_camera c = { .projection = TSR_PERSPECTIVE };
    const double w = p->width, h = p->height, half = 0.5 * w;
    double position[3] = { 0, 0, 0 };
    for (int k = 0; k < 3; k++) {
        c.rotation[0][k] = p->rotation[0][k];
        c.rotation[1][k] = -p->rotation[1][k];
        c.rotation[2][k] = -p->rotation[2][k];
        for (int r = 0; r < 3; r++) position[k] -= p->rotation[r][k] * p->translation[r];
    }
    c.position = (tsr_vec3){ position[0], position[1], position[2] };
    c.fov = atan(0.5 * h / p->fy) * DEGREES_OF_HALF;
    c.aspect = p->fy / p->fx * (w / h);
    c.offset[0] = 1 - 2 * p->cx / w;
    c.offset[1] = 2 * p->cy / h - 1;
    const double focal = p->fx / half;
    double k[6], t[2];
    if (p->fisheye) memcpy(k, p->k, sizeof k);
    else scale_lens(p->k, p->p, 1 / focal, k, t);
    c.lens =
        p->fisheye
            ? (tsr_lens){ .model = TSR_LENS_FISHEYE, .k1 = k[0], .k2 = k[1], .k3 = k[2], .k4 = k[3], .focal = focal }
            : (tsr_lens){ .model = TSR_LENS_POLY, .k1 = k[0], .k2 = k[1], .k3 = k[2], .k4 = k[3], .k5 = k[4], .k6 = k[5], .p1 = t[0], .p2 = t[1] };
    if (tsr_lens_distorts(&c.lens)) {
        c.lens.pixel_aspect = p->fx == p->fy ? 0 : p->fy / p->fx;
        c.lens.shift[0] = p->cx / half - 1;
        c.lens.shift[1] = (p->cy - 0.5 * h) / (half * (p->fy / p->fx));
    } else {
        c.lens = (tsr_lens){ .model = TSR_LENS_DIVISION };
    }
    TSR_TRY(tsr_camera_check(&c));
    *camera = c;
    return TSR_OK;
}

tsr_status tsr_camera_to_pinhole(const tsr_camera *camera, int32_t width, int32_t height, tsr_pinhole *pinhole)
{
    TSR_NEEDS(camera, pinhole);
    double view[16], m[16];
    TSR_TRY(tsr_camera_matrices(camera, width, height, view, m));
    if (camera->projection == TSR_ORTHOGRAPHIC) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: an orthographic camera is no pinhole");
    if (m[11] != -1 || m[15] != 0 || m[1] != 0 || m[2] != 0 || m[3] != 0 || m[4] != 0 || m[6] != 0 || m[7] != 0 || m[12] != 0 || m[13] != 0 ||
        !(m[0] > 0) || !(m[5] > 0))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its matrix is no frustum, so that it has no focal length");
    tsr_pinhole p = { .width = width, .height = height };
    p.fx = 0.5 * m[0] * width;
    p.fy = 0.5 * m[5] * height;
    p.cx = 0.5 * (1 - m[8]) * width;
    p.cy = 0.5 * (1 + m[9]) * height;
    for (int r = 0; r < 3; r++) {
        const double sign = r ? -1 : 1;
        for (int k = 0; k < 3; k++) p.rotation[r][k] = sign * camera->rotation[r][k];
        p.translation[r] = sign * view[12 + r];
    }
    const tsr_lens *l = &camera->lens;
    if (tsr_lens_distorts(l)) {
        const double focal = p.fx / (0.5 * width), aspect = l->pixel_aspect > 0 ? l->pixel_aspect : 1;
        const double cx = 0.5 * width * (1 + l->shift[0]), cy = 0.5 * height + l->shift[1] * 0.5 * width * aspect;
        if (l->model == TSR_LENS_DIVISION)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its lens is of the division model, which pinhole records do not have");
        if (fabs(cx - p.cx) > 1e-6 * width || fabs(cy - p.cy) > 1e-6 * width)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "camera: its lens is centred at (%g, %g) and its axis meets the image at (%g, %g); pinhole records have one place", cx, cy, p.cx,
                     p.cy);
        if (fabs(aspect - p.fy / p.fx) > 1e-6 * aspect)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its lens has pixels of aspect %g, its image %g; pinhole records have one", aspect, p.fy / p.fx);
        if (l->model == TSR_LENS_FISHEYE && l->focal > 0 && fabs(l->focal - focal) > 1e-6 * focal)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: its lens has the focal length %g, its projection %g half-widths; pinhole records have one",
                     l->focal, focal);
        const double k[6] = { l->k1, l->k2, l->k3, l->k4, l->k5, l->k6 }, t[2] = { l->p1, l->p2 };
        p.fisheye = l->model == TSR_LENS_FISHEYE;
        if (p.fisheye) memcpy(p.k, k, sizeof k);
        else scale_lens(k, t, focal, p.k, p.p);
    }
    *pinhole = p;
    return TSR_OK;
}

tsr_status tsr_camera_set_frustum(tsr_camera *camera, double left, double right, double bottom, double top, double near_, double far_)
{
    TSR_NEEDS(camera);
    if (!(left < right) || !(bottom < top) || !isfinite(right - left) || !isfinite(top - bottom))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: left %g, right %g, bottom %g, top %g, expected left < right and bottom < top", left, right, bottom,
                 top);
    if (!(near_ > 0 && near_ < far_) || !isfinite(far_))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frustum: near %g and far %g, expected 0 < near < far", near_, far_);
    camera->projection = TSR_PERSPECTIVE;
    camera->fov = atan(0.5 * (top - bottom) / near_) * DEGREES_OF_HALF;
    camera->aspect = (right - left) / (top - bottom);
    camera->offset[0] = (right + left) / (right - left);
    camera->offset[1] = (top + bottom) / (top - bottom);
    camera->clip[0] = near_;
    camera->clip[1] = far_;
    return TSR_OK;
}
