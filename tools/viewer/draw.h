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
    int window; /* of the session */
    double window_low, window_high;
    tsr_transfer transfer;
    double opacity, colour[3], isovalue;
    int own_colour; /* the surface is a label's: lines and surfaces have its colour */
    int32_t over; /* over the image of slices */
    double over_opacity;
    uint8_t label[VIEWER_LARGEST_LABEL + 1][4]; /* colours; the last is 1 where the label is shown */
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
    int speed_stale; /* the speed's scene has not got them yet */
    tsr_mip *mip;
    tsr_mip_frame *mip_frame;
    tsr_dtype mip_dtype;
    int32_t mip_width, mip_height;
    tsr_picture *picture[VIEWER_WINDOWS], *second; /* second: what is laid over one */
    viewer_image *overlay;  /* the second image, its copy on the device, what shows it */
    tsr_volume *overlay_volume;
    tsr_scene *overlay_scene;
    viewer_label_map *labels;
    double isovalue;       /* of the surface that the scene has; NAN: it is none of an isovalue */
    tsr_camera camera;     /* of the last 3-D picture */
    tsr_progress progress; /* of pictures that may take long; viewer_drawer_create: ends them with the session */
} viewer_drawer;

tsr_status viewer_drawer_create(viewer_session *s, viewer_drawer *d); /* with nothing to draw; to be cleared after a failure too */
void viewer_drawer_clear(viewer_drawer *d);
tsr_status viewer_drawer_take_image(viewer_drawer *d, viewer_image *image);    /* takes over the reference in every case; there is no surface then */
tsr_status viewer_drawer_take_overlay(viewer_drawer *d, viewer_image *image);  /* takes over the reference; NULL: none */
tsr_status viewer_drawer_copy_tiles(viewer_drawer *d, const tsr_tiles *tiles); /* NULL: no surface. After a failure it has what it had */
tsr_status viewer_draw(viewer_drawer *d, const viewer_task *t, int view, int32_t width, int32_t height, viewer_frame *frame, tsr_image *image);

/* What the 3-D window's camera and clipping plane are fitted to. */
tsr_status viewer_describe(const viewer_drawer *d, tsr_scene_info *info);
/* The value of image and level set at a voxel index of the image; NAN where there is none. */
void viewer_values_at(const viewer_drawer *d, tsr_vec3 index, double *grey, double *level);

/* Fills the inside of a slice's picture with the task's colour. */
void viewer_fill(const viewer_drawer *d, const viewer_task *t, const viewer_frame *frame, tsr_image *image);
/* overlay.c: the second image or the speed over a slice that is drawn; labels; the surface through what hides it. Change `image`. */
tsr_status viewer_lay_over(viewer_drawer *d, const viewer_task *t, const tsr_slice_options *slice, tsr_image *image);
tsr_scene *viewer_speed_scene(viewer_drawer *d);
void viewer_speed_palette(const viewer_drawer *d, tsr_slice_options *options);
void viewer_lay_labels(const viewer_drawer *d, const viewer_task *t, const viewer_frame *frame, tsr_image *image);
tsr_status viewer_see_through(viewer_drawer *d, const viewer_task *t, const tsr_render_options *options, tsr_image *image);
tsr_status viewer_need_picture(tsr_context *context, tsr_picture **picture, int32_t width, int32_t height);
/* Level-set values at places of the world: arrays of host memory, whatever the context's device. */
tsr_status viewer_sample(tsr_context *context, const tsr_tiles *tiles, float (*places)[3], float *values, int64_t count);

/* A message with the picture behind room for its header. NULL: the library's message says why. */
viewer_blob *viewer_pack(const viewer_frame *frame, const tsr_image *image);

/* A picture on its way into a file, in a thread of its own: the windows do not wait for it. NULL: not begun, the pages are told why. */
typedef struct viewer_saver viewer_saver;
viewer_saver *viewer_saver_start(const viewer_drawer *from, const viewer_task *task, const char *name, int replace);
int viewer_saver_done(const viewer_saver *saver); /* with the lock held; the painter is woken when it becomes true */
void viewer_saver_finish(viewer_saver **saver);   /* without the lock; waits. NULL is fine */

#endif
