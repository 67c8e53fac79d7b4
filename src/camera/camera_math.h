/* camera/camera_math.h: cameras as kernels see them: rays of pixels, and pixels of points. See tessera/camera.h and docs/theory/cameras.md. */
#ifndef TSR_CAMERA_CAMERA_MATH_H
#define TSR_CAMERA_CAMERA_MATH_H

#include "core/hd.h"
#include "tessera/camera.h"

/* Rays of a camera without a lens. A pinhole and an orthographic camera have one that is affine in the pixel; of a matrix the ray is found from its inverse. */
typedef struct tsr_camera_rays {
    int32_t projection;                      /* tsr_projection */
    double right[3], up[3], forward[3], position[3];
    double centre[2], step[2];               /* pixel of the axis; units along right and up per pixel (of distance 1 for a pinhole) */
    double inverse[16], clip_x, clip_y;      /* MATRIX: clip to eye; 2 / width, 2 / height */
} tsr_camera_rays;

/* The ray at a place of the image, pixels from its upper left corner: the distance d along the axis belongs to origin + d direction. */
TSR_HD void tsr_camera_rays_place(const tsr_camera_rays *r, double x, double y, double origin[3], double direction[3])
{
    double o[3] = { 0.0, 0.0, 0.0 }, d[3] = { 0.0, 0.0, 1.0 };
    if (r->projection == TSR_PROJECTION_MATRIX) {
        const double cx = x * r->clip_x - 1.0, cy = 1.0 - y * r->clip_y, *m = r->inverse;
        double e[2][3];
        for (int32_t k = 0; k < 2; k++) {
            const double cz = k ? 1.0 : -1.0, w = 1.0 / (m[3] * cx + m[7] * cy + m[11] * cz + m[15]);
            for (int32_t c = 0; c < 3; c++) e[k][c] = (m[c] * cx + m[4 + c] * cy + m[8 + c] * cz + m[12 + c]) * w;
        }
        const double along = 1.0 / (e[0][2] - e[1][2]);
        for (int32_t c = 0; c < 2; c++) {
            d[c] = (e[1][c] - e[0][c]) * along;
            o[c] = e[0][c] + e[0][2] * d[c];
        }
    } else {
        const double u = (x - r->centre[0]) * r->step[0], v = (y - r->centre[1]) * r->step[1];
        const int32_t parallel = r->projection == TSR_ORTHOGRAPHIC;
        o[0] = parallel ? u : 0.0;
        o[1] = parallel ? v : 0.0;
        d[0] = parallel ? 0.0 : u;
        d[1] = parallel ? 0.0 : v;
    }
    for (int32_t k = 0; k < 3; k++) {
        origin[k] = r->position[k] + o[0] * r->right[k] + o[1] * r->up[k];
        direction[k] = d[0] * r->right[k] + d[1] * r->up[k] + r->forward[k];
    }
}

/* Where points of the world are seen: pixel x and y times w, w, and the distance along the axis. */
typedef struct tsr_camera_points {
    double row[4][4];
    double scale; /* pixels per world unit across the axis, times w */
} tsr_camera_points;

TSR_HD void tsr_camera_points_place(const tsr_camera_points *p, const double world[3], double at[4])
{
    for (int32_t r = 0; r < 4; r++) at[r] = p->row[r][0] * world[0] + p->row[r][1] * world[1] + p->row[r][2] * world[2] + p->row[r][3];
}

#endif
