/* viewer/draw.h: one picture of a session's scene, on a context of its own. The painter has a drawer for the windows (painter.c), a picture that is saved
 * gets one for itself (saver.c). A drawer belongs to one thread at a time. */
#ifndef TESSERA_VIEWER_DRAW_H
#define TESSERA_VIEWER_DRAW_H

#include "session.h"

/* From this alpha on a picture of the speed does not change with it: the palette goes along. */
#define VIEWER_LEAST_ALPHA 0.025

/* What one picture needs, taken under the lock. */
typedef struct viewer_task {
    viewer_look look;
    double window_low, window_high;
    tsr_transfer transfer;
    double opacity, colour[3], isovalue;
    uint64_t look_version;
    uint32_t look_input;
    int draft, fresh; /* fresh: something changed; else the same picture, finer */
    double scale, coarse; /* coarse: length of a draft's steps along a ray, 1 = as usual */
} viewer_task;

typedef struct viewer_drawer {
    viewer_session *s;
    tsr_context *context;
    viewer_image *image;
    tsr_volume *volume; /* on the device; NULL: the image's own, in host memory */
    viewer_speed speed; /* likewise; of volume NULL: there is none yet */
    tsr_scene *scene, *speed_scene;
    tsr_tiles *tiles;
    tsr_mip *mip;
    tsr_mip_frame *mip_frame;
    tsr_dtype mip_dtype;
    int32_t mip_width, mip_height;
    tsr_picture *picture[VIEWER_VIEWS];
    double isovalue;       /* of the surface that the scene has; NAN: it is none of an isovalue */
    tsr_camera camera;     /* of the last 3-D picture */
    tsr_progress progress; /* of pictures that may take long; viewer_drawer_create: ends them with the session */
} viewer_drawer;

tsr_status viewer_drawer_create(viewer_session *s, viewer_drawer *d); /* with nothing to draw; to be cleared after a failure too */
void viewer_drawer_clear(viewer_drawer *d);
tsr_status viewer_drawer_take_image(viewer_drawer *d, viewer_image *image);    /* takes over the reference in every case; there is no surface then */
tsr_status viewer_drawer_copy_tiles(viewer_drawer *d, const tsr_tiles *tiles); /* NULL: no surface. After a failure it has what it had */
tsr_status viewer_draw(viewer_drawer *d, const viewer_task *t, int view, int32_t width, int32_t height, viewer_frame *frame, tsr_image *image);

/* What the 3-D window's camera and clipping plane are fitted to. */
tsr_status viewer_describe(const viewer_drawer *d, tsr_scene_info *info);
/* The value of image and level set at a voxel index of the image; NAN where there is none. */
void viewer_values_at(const viewer_drawer *d, tsr_vec3 index, double *grey, double *level);

/* Fills the inside of a slice's picture with the task's colour. */
void viewer_fill(const viewer_drawer *d, const viewer_task *t, const viewer_frame *frame, tsr_image *image);
/* Level-set values at places of the world: arrays of host memory, whatever the context's device. */
tsr_status viewer_sample(tsr_context *context, const tsr_tiles *tiles, float (*places)[3], float *values, int64_t count);

/* A picture on its way into a file, in a thread of its own: the windows do not wait for it. NULL: not begun, the pages are told why. */
typedef struct viewer_saver viewer_saver;
viewer_saver *viewer_saver_start(const viewer_drawer *from, const viewer_task *task, const char *name, int replace);
int viewer_saver_done(const viewer_saver *saver); /* with the lock held; the painter is woken when it becomes true */
void viewer_saver_finish(viewer_saver **saver);   /* without the lock; waits. NULL is fine */

#endif
