/* tessera/camera.h: one camera for rendering, stereo, depth and calibration: pose, projection, lens.
 *
 * Conventions, those of OpenGL: column vectors, matrices of 16 numbers column by column; the eye's axes are x to the right, y up, z BACKWARD (it
 * looks along
 * -z), right-handed; clip coordinates (x, y, z, w) with w > 0 on the visible side, x / w to the right, y / w up and z / w from -1 (near) to 1 (far).
 * Images
 * have their top row first; pixel (i, j) covers [i, i + 1) x [j, j + 1) and its centre is (i + 1/2, j + 1/2), which is x = 2 (i + 1/2) / width - 1,
 * y = 1 - 2 (j + 1/2) / height. A camera holds no size of an image: the same camera serves every resolution of its footage.
 * Class: exact (IEEE float64 without contraction). Functions of cameras touch no device and no state: any thread. Source: docs/theory/cameras.md. */
#ifndef TESSERA_CAMERA_H
#define TESSERA_CAMERA_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lenses -------------------------------------------------------------------------------------------------------------------- */

/* What a lens does to the image of a pinhole. Coordinates are relative to the centre of distortion and divided by half the width of the image: r = 1
 * at
 * the middle of the left and right border; the centre of distortion is the middle of the image, moved by `shift` half-widths. "Distorted" is what the
 * camera saw, "undistorted" what a pinhole would have seen.
 *   DIVISION: undistorted = distorted / (1 + k1 rd^2), rd of the distorted point (so straight lines are seen as circles)
 *   POLY:     distorted = undistorted (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6) + tangential terms of p1, p2, r of the
 * undistorted
 *             point (Brown-Conrady; with k4 to k6 the rational model)
 *   FISHEYE:  equidistant: an angle t from the axis is seen at the radius (t + k1 t^3 + k2 t^5 + k3 t^7 + k4 t^9) f, f the focal length in
 * half-widths */
typedef enum tsr_lens_model { TSR_LENS_DIVISION = 0, TSR_LENS_POLY, TSR_LENS_FISHEYE } tsr_lens_model;

/* All zero: no distortion. */
typedef struct tsr_lens {
    tsr_lens_model model;
    double k1, k2, k3, p1, p2; /* DIVISION uses k1 alone */
    double shift[2];           /* of the centre, in half-widths */
    double k4, k5, k6;         /* POLY, FISHEYE (k4) */
    double focal;              /* FISHEYE: of the pinhole, in half-widths; 0 in a camera: the camera's own */
    double pixel_aspect;       /* width / height of a pixel: y in pixels is divided by it as well; 0 = 1 */
} tsr_lens;

/* Points in pixels. TSR_ERROR_ARGUMENT where no distorted point belongs to an undistorted one (DIVISION: 4 k1 r^2 > 1); the message names the
 * largest radius that has one. POLY and FISHEYE towards the undistorted point iterate to 1e-15 (Newton). */
TSR_API tsr_status tsr_lens_distort(const tsr_lens *lens, int32_t width, int32_t height, const double undistorted[2],
                                    double distorted[2]) TSR_CHECKED;
TSR_API tsr_status tsr_lens_undistort(const tsr_lens *lens, int32_t width, int32_t height, const double distorted[2],
                                      double undistorted[2]) TSR_CHECKED;
/* 0 for a lens that changes nothing. NULL has none. */
TSR_API int tsr_lens_distorts(const tsr_lens *lens);

/* ---- cameras ------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_projection {
    TSR_PERSPECTIVE = 0,  /* pinhole: `fov`, `offset` */
    TSR_ORTHOGRAPHIC,     /* parallel rays: `height` */
    TSR_PROJECTION_MATRIX /* `matrix` says all; fov, height, aspect, offset and clip are not looked at */
} tsr_projection;

/* All zero but fov is a valid pinhole once the rotation is set: tsr_camera_look_at, tsr_camera_from_* fill it. */
typedef struct tsr_camera {
    tsr_vec3 position;     /* of the eye, world units */
    double rotation[3][3]; /* rows: the eye's right, up and backward in world coordinates, orthonormal */
    tsr_projection projection;
    double fov;       /* PERSPECTIVE: vertical extent of the picture, degrees in (0, 180) */
    double height;    /* ORTHOGRAPHIC: vertical extent of the picture, world units */
    double aspect;    /* width / height of what the camera sees; 0: that of the image (square pixels) */
    double offset[2]; /* PERSPECTIVE: P02 and P12 of the projection: clip x and y are moved by -offset; 0 0: the axis meets the middle of the image */
    double clip[2];   /* near and far, distances along the axis, 0 < near < far (ORTHOGRAPHIC: near < far); 0 0: none (depth then has no clip
                             * encoding, matrices are made with 0.01 and 1e5) */
    double matrix[16]; /* MATRIX: eye to clip */
    tsr_lens lens;     /* of the footage; rasterisers and renderers want none: remove it from the images first (tsr_lens_warp) */
} tsr_camera;

/* TSR_ERROR_ARGUMENT, naming the field, for one that is not finite, a rotation that is not orthonormal to 1e-6, a field of view outside (0, 180), a
 * height
 * or aspect below 0, clip distances out of order, a matrix without an inverse. */
TSR_API tsr_status tsr_camera_check(const tsr_camera *camera) TSR_CHECKED;

/* Sets position and rotation: looks from `eye` towards `target`, `up` upwards in the picture. The rest stays. TSR_ERROR_ARGUMENT for eye = target or
 * an up
 * along the direction of view. */
TSR_API tsr_status tsr_camera_look_at(tsr_camera *camera, tsr_vec3 eye, tsr_vec3 target, tsr_vec3 up) TSR_CHECKED;

/* World to eye and eye to clip, for an image of width x height pixels (they matter where aspect is 0). Any output may be NULL. */
TSR_API tsr_status tsr_camera_matrices(const tsr_camera *camera, int32_t width, int32_t height, double view[16], double projection[16]) TSR_CHECKED;

/* Where a point of the world is seen, with the lens's distortion: pixels from the upper left corner of the image, and the distance along the axis
 * from the
 * eye's plane (may be NULL). TSR_ERROR_ARGUMENT for a point that is not in front of the camera or that the lens cannot show. */
TSR_API tsr_status tsr_camera_project(const tsr_camera *camera, int32_t width, int32_t height, tsr_vec3 point, double pixel[2],
                                      double *depth) TSR_CHECKED;
/* The ray that is seen at a place of the image: the distance d along the axis belongs to origin + d * direction (direction has length 1 along the
 * axis). */
TSR_API tsr_status tsr_camera_ray(const tsr_camera *camera, int32_t width, int32_t height, const double pixel[2], tsr_vec3 *origin,
                                  tsr_vec3 *direction) TSR_CHECKED;

/* ---- other conventions --------------------------------------------------------------------------------------------------------- */

/* Intrinsics in pixels of an image of width x height, axes x right, y down, z FORWARD: OpenCV, COLMAP, most calibrations. `rotation` rows and
 * `translation`
 * take the world to these axes: x_camera = R x_world + t. The centre (cx, cy) counts from the upper left corner of the upper left pixel (COLMAP);
 * OpenCV
 * counts from its centre: add 1/2. The lens is in the units of tsr_lens (half-widths, see tsr_camera_to_pinhole's `k` for OpenCV's own). */
typedef struct tsr_pinhole {
    int32_t width, height;
    double fx, fy, cx, cy;
    double rotation[3][3];
    double translation[3];
    double k[6], p[2]; /* Brown-Conrady in normalised coordinates (r = 1 at 45 degrees), k[3..5] the rational denominator; FISHEYE: k[0..3] */
    int fisheye;       /* != 0: k are of the equidistant model */
} tsr_pinhole;
TSR_API tsr_status tsr_camera_from_pinhole(const tsr_pinhole *pinhole, tsr_camera *camera) TSR_CHECKED;
/* TSR_ERROR_UNSUPPORTED for cameras that are no pinhole (orthographic, a matrix that is no frustum) and for lenses of the division model. */
TSR_API tsr_status tsr_camera_to_pinhole(const tsr_camera *camera, int32_t width, int32_t height, tsr_pinhole *pinhole) TSR_CHECKED;
/* Sets the projection from glFrustum's numbers (distances on the near plane): an off-axis pinhole; aspect and fov follow. */
TSR_API tsr_status tsr_camera_set_frustum(tsr_camera *camera, double left, double right, double bottom, double top, double near_,
                                          double far_) TSR_CHECKED;

/* ---- two cameras and a marker; head tracking ----------------------------------------------------------------------------------------- */

/* From two images of a marker to its place in space, and from a viewer's eye to the picture on a screen: head tracking.
 * The rays of a place in an image are those of tsr_camera_ray. Float64, no devices. Source: docs/theory/cameras.md. */

/* The point nearest to two rays origin + s direction, the middle of their shortest connection, whose length is *gap (NULL: not wanted): a measure of
 * quality. TSR_ERROR_ARGUMENT for rays that are parallel to 1e-12 or not finite. */
TSR_API tsr_status tsr_rays_nearest(tsr_vec3 origin_1, tsr_vec3 direction_1, tsr_vec3 origin_2, tsr_vec3 direction_2, tsr_vec3 *point,
                                    double *gap) TSR_CHECKED;

/* The picture of a screen for an eye anywhere in front of it: row-major 4 x 4 matrices for column vectors. `view` takes the world to the eye's axes (x along
 * the screen's lower edge, y up, z towards the viewer), `projection` these to clip coordinates (-1 to 1, z -1 near). Screen corners: lower left, lower
 * right, upper left. TSR_ERROR_ARGUMENT for a screen without area, an eye in its plane or behind it, or not 0 < near < far. */
TSR_API tsr_status tsr_frustum_off_axis(tsr_vec3 lower_left, tsr_vec3 lower_right, tsr_vec3 upper_left, tsr_vec3 eye, double near_, double far_,
                                        double projection[16], double view[16]) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
