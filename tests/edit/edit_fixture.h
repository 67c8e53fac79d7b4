/* A document, and what suites of editors ask of its objects. The emulator runs smaller bodies: `size` is the radius they are made with. */
#ifndef TSR_TESTS_EDIT_FIXTURE_H
#define TSR_TESTS_EDIT_FIXTURE_H

#include <math.h>

#include "tiles/tiles_check.h"
#include "edit/edit.h"
#include "support.h"

typedef struct fixture {
    tsr_context *context;
    tsr_editor *editor;
    double size;
} fixture;

static int set_up(void **state)
{
    fixture *f = (fixture *)calloc(1, sizeof *f);
    f->context = test_context();
    f->size = tsr_context_device(f->context).kind == TSR_DEVICE_EMU || test_watches_threads() ? 8 : 32;
    require_ok(tsr_editor_create(f->context, NULL, &f->editor));
    *state = f;
    return 0;
}
static int tear_down(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor_destroy(&f->editor);
    assert_int_equal(tsr_context_memory(f->context)->current_bytes, 0);
    tsr_context_destroy(&f->context);
    free(f);
    return 0;
}

static inline tsr_tiles *snapshot(const fixture *f, const char *name)
{
    tsr_tiles *copy = NULL;
    require_ok(tsr_tiles_copy(tsr_editor_tiles(f->editor, name), f->context, &copy));
    return copy;
}
static inline int equal(const tsr_tiles *a, const tsr_tiles *b)
{
    int is;
    require_ok(tsr_tiles_equal(a, b, &is));
    return is;
}
static inline tsr_tiles_measures measures(const fixture *f, const char *name)
{
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(tsr_editor_tiles(f->editor, name), &m));
    return m;
}
static inline void ball(fixture *f, const char *name, double x, double y, double z, double r)
{
    require_ok(tsr_editor_shape(f->editor, name, &(tsr_shape){ .centre = { x, y, z }, .radius = r }));
}

/* Value of the field at a voxel. */
static inline double value(const fixture *f, const tsr_tiles *tiles, int32_t x, int32_t y, int32_t z)
{
    const int32_t first[3] = { x, y, z };
    const int64_t one[3] = { 1, 1, 1 };
    void *device;
    float v;
    require_ok(tsr_device_allocate(f->context, sizeof v, &device));
    require_ok(f->context->backend->tiles->store(f->context->queue, &tiles->pool, first, one, (float *)device, NULL));
    require_ok(f->context->backend->download(f->context->queue, &v, device, sizeof v));
    tsr_device_release(f->context, device, sizeof v);
    return (double)v;
}
/* Values of a box of voxels, x first; free them. */
static inline float *box_of_values(const fixture *f, const tsr_tiles *tiles, const int32_t first[3], const int64_t extent[3])
{
    const size_t bytes = (size_t)(extent[0] * extent[1] * extent[2]) * sizeof(float);
    float *values = (float *)malloc(bytes);
    void *device;
    assert_non_null(values);
    require_ok(tsr_device_allocate(f->context, bytes, &device));
    require_ok(f->context->backend->tiles->store(f->context->queue, &tiles->pool, first, extent, (float *)device, NULL));
    require_ok(f->context->backend->download(f->context->queue, values, device, bytes));
    tsr_device_release(f->context, device, bytes);
    return values;
}

#endif
