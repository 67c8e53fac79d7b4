/* viewer/picture.h: where things stand in a window: the plane of a slice, the camera and the clipping plane of the 3-D window, and back from a pixel to a
 * voxel. Pure functions. */
#ifndef TESSERA_VIEWER_PICTURE_H
#define TESSERA_VIEWER_PICTURE_H

#include "session.h"

/* A slice as it is shown: unit vectors to the right and up, size of a pixel, all in world units. */
typedef struct viewer_plane { tsr_vec3 centre, right, up; double pixel; } viewer_plane;

/* World axis (0, 1, 2 = x, y, z) that an index axis is closest to: slices across it are sagittal, coronal, axial. Each has its own. */
int viewer_world_axis(const tsr_geometry *geometry, int axis);

/* Radiological for RAS and LPS (the patient's right on the left, front up or to the left, head up), else x or y to the right, y or z up. `look` has its
 * extents in pixels; at zoom 1 the slice fits. */
void viewer_slice_plane(const viewer_image *image, const viewer_look *look, viewer_plane *plane);
/* Options that draw it into a picture of another number of pixels; fills the frame's plane in voxel indices. */
int viewer_slice_options(const viewer_image *image, const viewer_plane *plane, const viewer_look *look, int32_t width, int32_t height,
                         tsr_slice_options *options, viewer_frame *frame);

tsr_status viewer_camera(const tsr_scene_info *info, const viewer_look *look, tsr_camera *camera);
/* World units of a pixel of a picture so high, at the depth of the scene's middle. */
double viewer_camera_pixel(const tsr_scene_info *info, const tsr_camera *camera, int32_t height);
double viewer_camera_distance(const tsr_scene_info *info, const tsr_camera *camera); /* of the eye from that depth */
/* The place at a distance along the ray through x, y in [0,1] of the window. */
tsr_vec3 viewer_on_ray(const tsr_camera *camera, double aspect, double x, double y, double distance);
/* normal . x > offset is cut away. */
tsr_status viewer_clip(const tsr_scene_info *info, const viewer_look *look, tsr_vec3 *normal, double *offset);
/* Nearest of the surface (distance along the ray, infinite: none) and the clipping plane (clip != 0) at x, y in [0,1] of the window: its voxel index.
 * 0, or -1 if the ray meets neither within the volume. */
int viewer_pick_point(const viewer_image *image, const tsr_camera *camera, double aspect, double x, double y, double distance, int clip, tsr_vec3 normal,
                      double offset, tsr_vec3 *index);

#endif
