/* A context, and the lists that suites of the algebra make on it. */
#ifndef TSR_TESTS_CSG_FIXTURE_H
#define TSR_TESTS_CSG_FIXTURE_H

#include <math.h>

#include "tiles/tiles_check.h"
#include "support.h"

static inline double hypot3(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }

typedef struct fixture {
    tsr_context *context;
} fixture;

static int set_up(void **state)
{
    fixture *f = (fixture *)calloc(1, sizeof *f);
    f->context = test_context();
    *state = f;
    return 0;
}
static int tear_down(void **state)
{
    fixture *f = (fixture *)*state;
    assert_int_equal(tsr_context_memory(f->context)->current_bytes, 0); /* every list and every scratch array is gone */
    tsr_context_destroy(&f->context);
    free(f);
    return 0;
}

static inline tsr_tiles *make(tsr_context *context, const tsr_shape *shape, int32_t edge, double band)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles = NULL;
    options.edge = edge;
    options.band = band;
    require_ok(tsr_tiles_shape(context, NULL, &options, shape, &tiles));
    check_invariants(tiles);
    return tiles;
}
static inline tsr_tiles *ball(tsr_context *context, double x, double y, double z, double radius)
{
    return make(context, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { x, y, z }, .radius = radius }, 4, 3);
}

#endif
