/* volume/phantom.h: what a phantom is made of: a prepared scene and a function that fills one row. */
#ifndef TSR_VOLUME_PHANTOM_H
#define TSR_VOLUME_PHANTOM_H

#include "core/core.h"
#include "volume/deterministic.h"
#include "tessera/phantom.h"

enum { TSR_SCENE_NUMBERS = 64 };

typedef struct tsr_scene {
    int64_t size[3];
    double spacing[3];
    double half[3];                    /* half the length from the first to the last sample of an axis, world units */
    double unit;                       /* the largest of them: shapes are given in units of it */
    uint64_t seed;
    double parameter;                  /* the option or 0 */
    double number[TSR_SCENE_NUMBERS];  /* what prepare computed */
    int32_t count;
    void *memory;                      /* allocated by prepare with tsr_host_allocate */
    size_t memory_bytes;
} tsr_scene;

typedef struct tsr_phantom {
    tsr_phantom_info info;
    tsr_status (*prepare)(tsr_scene *scene); /* may be NULL */
    /* Row (y, z): size[0] values and, if `truth` is not NULL, labels. */
    void (*row)(const tsr_scene *scene, int64_t y, int64_t z, float *values, uint8_t *truth);
} tsr_phantom;

extern const tsr_phantom tsr_phantom_shapes[], tsr_phantom_images[];
extern const int32_t tsr_phantom_shape_count, tsr_phantom_image_count;

/* World position relative to the volume's centre, exact for spacing 1. */
static inline double tsr_scene_centred(const tsr_scene *s, int axis, int64_t i)
{
    return s->spacing[axis] * (double)(2 * i - s->size[axis] + 1) * 0.5;
}

static inline double tsr_length3(double x, double y, double z) { return sqrt((x * x + y * y) + z * z); }

/* Uniform in [lower, upper) for draw i of a scene. */
static inline double tsr_scene_random(const tsr_scene *s, uint64_t i, double lower, double upper)
{
    return lower + (upper - lower) * tsr_det_uniform(s->seed, i);
}

/* Distance to a segment a-b. */
static inline double tsr_segment_distance(double x, double y, double z, const double a[3], const double b[3])
{
    double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2], px = x - a[0], py = y - a[1], pz = z - a[2];
    double length = dx * dx + dy * dy + dz * dz, t = length > 0 ? (px * dx + py * dy + pz * dz) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return tsr_length3(px - t * dx, py - t * dy, pz - t * dz);
}

#endif
