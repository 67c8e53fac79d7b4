/* viewer/shows/lines.h: pictures of lines and dots in space, with depth: what the modes `flow` and `cameras` show. */
#ifndef TESSERA_VIEWER_LINES_H
#define TESSERA_VIEWER_LINES_H

#include "tessera/tessera.h"

typedef struct viewer_canvas {
    tsr_image *image; /* 3 channels */
    float *depth;     /* along the camera's axis */
    tsr_camera camera;
    double focal; /* pixels */
} viewer_canvas;

/* A picture of nothing, as seen by a pinhole. RETURNS NEW in *image; the canvas ends with viewer_canvas_end in every case. */
tsr_status viewer_canvas_begin(viewer_canvas *canvas, const tsr_camera *camera, int32_t width, int32_t height, tsr_image *image);
void viewer_canvas_end(viewer_canvas *canvas);
/* A rod with a dark rim, `radius` in world units, at least half a pixel. */
void viewer_canvas_line(viewer_canvas *canvas, tsr_vec3 a, tsr_vec3 b, double radius, const uint8_t rgb[3]);
/* The pyramid of a camera, `size` high: from the eye to the corners of its picture, and a roof over the picture's upper side. */
void viewer_canvas_frustum(viewer_canvas *canvas, const tsr_rig_camera *of, double size, double radius, const uint8_t rgb[3]);

#endif
