/* fluid/fluid.h: the object behind tessera/fluid.h. */
#ifndef TSR_FLUID_FLUID_H
#define TSR_FLUID_FLUID_H

#include "core/vec3.h"
#include "fluid/fluid_ops.h"
#include "tessera/fluid.h"
#include "tessera/primitives.h"

/* Device memory that grows when it must. */
typedef struct tsr_fluid_buffer {
    void *data;
    size_t bytes;
} tsr_fluid_buffer;

enum { TSR_FLUID_LAYERS = 4, TSR_FLUID_SKY_SIZE = 512, TSR_FLUID_SHADE_SIZE = 256 };

#define TSR_FLUID_SKY_BYTES ((size_t)(TSR_FLUID_SKY_SIZE + 2) * (TSR_FLUID_SKY_SIZE + 2) * 16)

/* All of them buffers: walked over as an array. */
struct tsr_fluid_buffers {
    /* particles and tiles */
    tsr_fluid_buffer records, forms, counts, starts, cursors, entries, tally, units, workspace;
    /* images of the fluid's passes, padded */
    tsr_fluid_buffer raw[TSR_FLUID_LAYERS], depth[TSR_FLUID_LAYERS], thickness[TSR_FLUID_LAYERS], normals[TSR_FLUID_LAYERS];
    tsr_fluid_buffer ends[2], thin, other, grid, noise, foam, spray, scene, levels[TSR_FLUID_LEVELS];
    /* of the picture */
    tsr_fluid_buffer back, color[2], distance, bytes, shade, sky;
    /* a row of frames */
    tsr_fluid_buffer heat, velocity;
    /* ellipsoids */
    tsr_fluid_buffer keys[2], numbers[2], cells, places, shapes;
};

struct tsr_fluid {
    tsr_context *context;
    struct tsr_fluid_buffers buffers;
    int64_t heated; /* particles that have a heat */
    /* the sky: on the host without its turn */
    float *sky_map; /* [SKY_SIZE + 2]^2 [4] */
    tsr_fluid_light light;
    tsr_vec3 up;
    double turn;
    int sky_fresh;                   /* the device has it */
    tsr_fluid_backdrop_job backdrop; /* that the pictures of the scene were made of, if ... */
    int has_backdrop;
    /* the last drawing */
    int drawn, result; /* result: which of color[] */
    tsr_fluid_view view, low;
    int has_noise, has_spray;
};

tsr_status tsr_fluid_buffer_need(tsr_context *context, tsr_fluid_buffer *buffer, size_t bytes);
tsr_fluid_light tsr_fluid_turned_light(const tsr_fluid *fluid);

int64_t tsr_fluid_bytes(const tsr_fluid *fluid);
static inline size_t tsr_fluid_padded(const tsr_fluid_view *v) { return (size_t)v->stride * (size_t)(v->height + 2); }

#endif
