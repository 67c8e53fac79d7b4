/* fluid/fluid_draw.h: what the passes of one picture share. */
#ifndef TSR_FLUID_FLUID_DRAW_H
#define TSR_FLUID_FLUID_DRAW_H

#include "fluid/fluid.h"

typedef struct tsr_fluid_drawing {
    tsr_fluid *f;
    struct tsr_fluid_buffers *b;
    const tsr_fluid_ops *ops;
    tsr_queue *queue;
    tsr_fluid_particles particles;
    tsr_fluid_backdrop backdrop;
    tsr_fluid_look look;
    tsr_fluid_options o;
    tsr_fluid_view view, low;
    tsr_fluid_cast draw;
    tsr_fluid_set set;
    tsr_fluid_light light;
    tsr_fluid_step step;
    double radius; /* of a particle as it is drawn */
    float largest;
    tsr_fluid_tally tally;
    int listed; /* particles are in lists of tiles */
} tsr_fluid_drawing;

#define TSR_FLUID_NEED(buffer, bytes_) TSR_TRY(tsr_fluid_buffer_need(d->f->context, &d->b->buffer, (bytes_)))

void tsr_fluid_extent(tsr_fluid_view *v, int32_t width, int32_t height);
/* A padded image all of 0, or all infinite. */
tsr_status tsr_fluid_clear(tsr_fluid_drawing *d, tsr_fluid_buffer *buffer, const tsr_fluid_view *view, size_t element, int nothing);

/* Smoothing: the step of the flows, and the depth of a layer by what the options ask for. */
void tsr_fluid_make_step(tsr_fluid_drawing *d);
tsr_status tsr_fluid_smooth(tsr_fluid_drawing *d, int layer);

#endif
