/* tessera/stereo.h: from two images of a marker to its place in space, and from a viewer's eye to the picture on a screen: head tracking.
 * Float64, no devices. Source: spec features-histogram.md 2.3. */
#ifndef TESSERA_STEREO_H
#define TESSERA_STEREO_H

#include "tessera/lens.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pinhole with a lens. Axes: x to the right, y down, z forward of the camera; rows of `rotation` are the camera's axes in world coordinates. */
typedef struct tsr_eye {
    int32_t width, height; /* pixels */
    double focal;          /* pixels */
    double principal[2]; /* where the optical axis meets the image, (0, 0) = its upper left corner; a NaN = the middle of that axis; 0 0 = the middle
                            * of both (the corner itself: any tiny number) */
    double rotation[3][3];
    tsr_vec3 position;
    tsr_lens lens;
} tsr_eye;

/* Direction (not normalised, z = 1 in camera axes) of the ray through a point of the image in pixels, without the lens's distortion.
 * Points count from the upper left corner: the centre of pixel (x, y) is (x + 1/2, y + 1/2). */
TSR_API tsr_status tsr_eye_ray(const tsr_eye *eye, const double pixel[2], tsr_vec3 *direction) TSR_CHECKED;
/* Where a point of the world is seen. TSR_ERROR_ARGUMENT for one that is not in front of the camera. */
TSR_API tsr_status tsr_eye_project(const tsr_eye *eye, tsr_vec3 point, double pixel[2]) TSR_CHECKED;

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
