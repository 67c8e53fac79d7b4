/* tessera/stereo.h: from two images of a marker to its place in space, and from a viewer's eye to the picture on a screen: head tracking.
 * The rays of a place in an image are those of tsr_camera_ray. Float64, no devices. Source: docs/theory/cameras.md. */
#ifndef TESSERA_STEREO_H
#define TESSERA_STEREO_H

#include "tessera/camera.h"

#ifdef __cplusplus
extern "C" {
#endif

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
