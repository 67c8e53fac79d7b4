/* Depth images for the suites of smoothing. */
#ifndef TSR_TESTS_FIELDS_H
#define TSR_TESTS_FIELDS_H

#include "context.h"
#include "fluid/fluid_ops.h"
#include "fluids.h"

enum { W = 96, H = 80 };

typedef struct field {
    tsr_fluid_view view;
    size_t size;
    float *host, *device, *other;
} field;

/* A pinhole of 60 degrees, padded, all infinite. */
static inline field field_of(void)
{
    field f = { .view = { .width = W, .height = H, .stride = (W + 2 * TSR_FLUID_PAD + 15) / 16 * 16 } };
    const double slope = 2 * tan(30 / 57.29577951308232) / H;
    for (int k = 0; k < 2; k++) {
        f.view.slope[k] = (float)slope;
        f.view.centre[k] = k ? 0.5f * H : 0.5f * W;
    }
    f.size = (size_t)f.view.stride * (H + 2);
    f.host = malloc(f.size * 4);
    assert_non_null(f.host);
    for (size_t i = 0; i < f.size; i++) f.host[i] = INFINITY;
    f.device = to_device(context, f.host, f.size * 4);
    f.other = to_device(context, f.host, f.size * 4);
    return f;
}
static inline void field_end(field *f)
{
    tsr_device_release(context, f->device, f->size * 4);
    tsr_device_release(context, f->other, f->size * 4);
    free(f->host);
}
static inline float *cell(const field *f, int x, int y) { return f->host + (y + 1) * f->view.stride + x + TSR_FLUID_PAD; }

#endif
