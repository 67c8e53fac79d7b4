/* vision/depth/sweep.h: what the files of the plane sweep share. */
#ifndef TSR_VISION_DEPTH_SWEEP_H
#define TSR_VISION_DEPTH_SWEEP_H

#include "camera/camera.h"
#include "vision/depth/depth_work.h"
#include "vision/depth/sweep_ops.h"

/* The space of the depth camera: (X, Y, t, 1), pixels and 0 at the far to 1 at the near end, to the world; and to the depth, a quotient. */
typedef struct tsr_planes_frame {
    double to_world[16], numerator[4], denominator[4];
} tsr_planes_frame;

/* Of options whose sizes are filled in; lenses are not looked at. */
tsr_status tsr_planes_frame_make(const tsr_camera *camera, const tsr_plane_sweep_options *options, tsr_planes_frame *frame) TSR_CHECKED;
/* Rows of a view's matrix: places of texel centres times w, and w. */
tsr_status tsr_planes_frame_rows(const tsr_planes_frame *frame, const tsr_camera *camera, int32_t width, int32_t height, double row[3][4]) TSR_CHECKED;
/* Do enough views see something in common? *pixels: by how much a place moves over the range, in the view where it moves most. */
tsr_status tsr_planes_cover(const tsr_planes_frame *frame, double (*row)[3][4], const int32_t (*size)[2], int32_t views, const tsr_plane_sweep_options *options,
                           double *pixels) TSR_CHECKED;

/* A sweep on its way. Levels count from 0, the full resolution. */
enum { TSR_PLANES_LEVELS = 16 };
typedef struct tsr_planes {
    tsr_context *context;
    const tsr_depth_view *views;
    int32_t count;
    tsr_plane_sweep_options o;
    tsr_planes_frame frame;
    int32_t levels; /* beyond the first */
    int32_t (*size)[2];
    double (*row)[3][4];
    tsr_planes_view_level *table; /* [levels + 1][count], host */
    tsr_planes_view_level *device_table;
    float **shadow;              /* [count], device; NULL: none yet */
    tsr_volume **clean;          /* [count][2]: images and masks without distortion, NULL where the views' own will do */
    double pixels;               /* of motion over the range */
    int32_t reference;           /* the view that is the depth camera, or -1 */
    int32_t masked;
    tsr_depth_memory memory;
} tsr_planes;

static inline const tsr_planes_ops *tsr_planes_steps(const tsr_planes *s) { return s->context->backend->planes; }

tsr_status tsr_planes_levels(tsr_planes *sweep, tsr_depth_maps *maps) TSR_CHECKED; /* STACK, MIPMAP */
tsr_status tsr_planes_volume(tsr_planes *sweep, tsr_depth_maps *maps) TSR_CHECKED;

#endif
