/* camera/camera.h: what the rooms above need of cameras beside tessera/camera.h. */
#ifndef TSR_CAMERA_CAMERA_H
#define TSR_CAMERA_CAMERA_H

#include "camera/camera_math.h"
#include "core/core.h"
#include "core/vec3.h"
#include "tessera/camera.h"

/* The eye's axes in the world: right, up, towards the scene. */
static inline void tsr_camera_axes(const tsr_camera *c, tsr_vec3 *right, tsr_vec3 *up, tsr_vec3 *forward)
{
    *right = (tsr_vec3){ c->rotation[0][0], c->rotation[0][1], c->rotation[0][2] };
    *up = (tsr_vec3){ c->rotation[1][0], c->rotation[1][1], c->rotation[1][2] };
    *forward = (tsr_vec3){ -c->rotation[2][0], -c->rotation[2][1], -c->rotation[2][2] };
}

/* The lens of a camera of images of this size: a fish-eye's focal length is filled in. The camera must have been checked. */
tsr_lens tsr_camera_lens(const tsr_camera *camera, int32_t width, int32_t height);

/* The rays of a camera's image; `what` begins the messages. TSR_ERROR_ARGUMENT for a lens that distorts. */
tsr_status tsr_camera_rays_make(const char *what, const tsr_camera *camera, int32_t width, int32_t height, tsr_camera_rays *rays) TSR_CHECKED;
/* Where its image shows points; likewise. */
tsr_status tsr_camera_points_make(const char *what, const tsr_camera *camera, int32_t width, int32_t height, tsr_camera_points *points) TSR_CHECKED;
static inline void tsr_camera_rays_at(const tsr_camera_rays *rays, double x, double y, tsr_vec3 *origin, tsr_vec3 *direction)
{
    double o[3], d[3];
    tsr_camera_rays_place(rays, x, y, o, d);
    *origin = (tsr_vec3){ o[0], o[1], o[2] };
    *direction = (tsr_vec3){ d[0], d[1], d[2] };
}

/* 4 x 4 matrices, column by column. The product may be one of its factors. Inverse: TSR_ERROR_ARGUMENT, with the determinant, for one that has none. */
void tsr_matrix4_multiply(const double a[16], const double b[16], double product[16]);
tsr_status tsr_matrix4_invert(const char *what, const double a[16], double inverse[16]) TSR_CHECKED;
double tsr_matrix4_determinant(const double a[16]);
void tsr_matrix4_apply(const double a[16], const double v[4], double result[4]);

#endif
