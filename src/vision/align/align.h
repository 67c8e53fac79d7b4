/* vision/align/align.h: what the files of this room share. */
#ifndef TSR_VISION_ALIGN_ALIGN_H
#define TSR_VISION_ALIGN_ALIGN_H

#include "tessera/align.h"
#include "vision/align/align_job.h"
#include "vision/calibration/calibration.h"

/* ---- pictures (align_edges.c) -------------------------------------------------------------------------------------------------- */

/* A level of the picture, smoothed, and how far its pixels are from edges. */
typedef struct tsr_align_level {
    int32_t width, height;
    double scale;      /* pixels of the picture a pixel of the level */
    tsr_grey smooth;
    uint8_t *distance; /* [TSR_ALIGN_DIRECTIONS][height][width], in steps of `unit` pixels of the level; NULL: not made */
    float unit;
} tsr_align_level;
/* Levels 0 (the picture) to count - 1; distances of all but the first. */
tsr_status tsr_align_levels_make(const tsr_image *image, double contrast, int32_t count, tsr_align_level *level);
void tsr_align_levels_release(int32_t count, tsr_align_level *level);
/* Between four pixels, clamped to the border; at counts from the middle of the first pixel. */
float tsr_align_value(const tsr_grey *g, double x, double y);

/* ---- proxies (align_lines.c) --------------------------------------------------------------------------------------------------- */

/* Edges of a mesh, each once, with the normals of its faces. */
typedef struct tsr_align_edge {
    double from[3], to[3], across[3], normal[2][3], middle[3];
    int faces, crease;
} tsr_align_edge;
typedef struct tsr_align_model {
    tsr_align_edge *edge;
    int64_t edges;
    double (*vertex)[3]; /* of the mesh */
    const uint32_t *triangle;
    int64_t triangles, vertices;
    double middle[3], radius; /* of all */
} tsr_align_model;
tsr_status tsr_align_model_make(const tsr_align_proxy *proxy, tsr_align_model *model);
void tsr_align_model_release(tsr_align_model *model);

/* Inverse depths of a model's triangles as a pinhole sees them, its lens left out. */
typedef struct tsr_align_depths {
    int32_t width, height;
    double scale;    /* pixels of the picture a pixel of the depths */
    float *inverse;  /* 1 / depth, 0: nothing; malloc */
} tsr_align_depths;
tsr_status tsr_align_depths_make(const tsr_align_model *model, const tsr_pinhole *camera, double scale, tsr_align_depths *view);
/* Is a point at that pixel and depth in front, or on the surface? */
int tsr_align_depths_seen(const tsr_align_depths *view, const double pixel[2], double depth);

/* Places along what a camera sees of the model, about `step` pixels apart, about `most` at most; also those up to `margin` pixels outside of the picture. */
typedef struct tsr_align_samples {
    double (*at)[3], (*along)[3], (*across)[3]; /* across: of a stripe whose middle it is, else 0 */
    int64_t count, room;
} tsr_align_samples;
tsr_status tsr_align_samples_take(const tsr_align_model *model, const tsr_pinhole *camera, double step, int64_t most, double margin, tsr_align_samples *samples);
void tsr_align_samples_release(tsr_align_samples *samples);

/* ---- cameras (align_camera.c) -------------------------------------------------------------------------------------------------- */

enum { TSR_ALIGN_UNKNOWNS = 6 + 5 }; /* rotation, translation, focal, cx, cy, k1, k2 */
/* Which of them are free; how many. */
int tsr_align_unknowns(uint32_t free, int which[TSR_ALIGN_UNKNOWNS]);
/* A step: rotation and translation after the pose, the share by which the focal length grows, pixels, k. */
void tsr_align_step(tsr_pinhole *camera, const int *which, int count, const double *step);

/* For places counted from `middle`, on a level of pictures `scale` times smaller. */
tsr_align_candidate tsr_align_candidate_of(const tsr_pinhole *camera, const double middle[3], double scale);

typedef struct tsr_align_fit {
    double cost;    /* mean of the robust square, pixels^2 */
    double rms;     /* of the matched */
    int64_t matched;
    double normal[TSR_ALIGN_UNKNOWNS * TSR_ALIGN_UNKNOWNS]; /* J^T J of the matched */
} tsr_align_fit;
/* Lowers the sum of squared distances of the level. */
void tsr_align_polish(const tsr_align_level *level, const tsr_align_samples *samples, const int *which, int count, int turns, tsr_pinhole *camera, tsr_align_fit *fit);
/* Moves lines to the strongest slope within `reach` pixels across them, sub-pixel, on the level; those further than `bound` do not count. */
void tsr_align_snap(const tsr_align_level *level, const tsr_align_samples *samples, double reach, double bound, double contrast, const int *which, int count, int turns,
                    tsr_pinhole *camera, tsr_align_fit *fit);

#endif
