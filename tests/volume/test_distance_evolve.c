/* Distances by evolution: spheres with the wrong slope and out of a plateau against their analytic distance, the published form, signs, spacings, and what is
 * refused. The bounds are those of the specification's table (docs/theory/distance.md 2). */
#include "support.h"

#include <math.h>

enum { NX = 24, NY = 26, NZ = 23, N = NX * NY * NZ }; /* no two axes are alike */

static tsr_volume *ball(tsr_context *context, double slope, double clamp, double step_z)
{
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1, step_z }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ NX, NY, NZ }, &g, &host));
    for (int i = 0; i < N; i++) {
        const double x = i % NX - 11.4, y = i / NX % NY - 11.7, z = step_z * (i / NX / NY - 11.5), v = slope * (sqrt(x * x + y * y + z * z) - 6);
        ((float *)tsr_volume_data(host))[i] = (float)fmin(fmax(v, -clamp), clamp);
    }
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static void measure(tsr_volume *distance, double step_z, double within, double *mean, double *most)
{
    tsr_volume *host;
    int64_t count = 0;
    *mean = *most = 0;
    require_ok(tsr_volume_copy(distance, NULL, &host));
    for (int i = 0; i < N; i++) {
        const double x = i % NX - 11.4, y = i / NX % NY - 11.7, z = step_z * (i / NX / NY - 11.5), d = sqrt(x * x + y * y + z * z) - 6;
        const double v = (double)((const float *)tsr_volume_data_const(host))[i];
        assert_true((v < 0) == (d < 0) || fabs(d) < 1e-5);
        if (fabs(d) >= within) continue;
        *mean += fabs(v - d);
        *most = fmax(*most, fabs(v - d));
        count++;
    }
    *mean /= (double)count;
    tsr_volume_destroy(&host);
}

static void balls_become_distances(void **state)
{
    static const struct {
        tsr_distance_method method;
        double slope, clamp, step_z, mean, most;
    } cases[] = { { TSR_DISTANCE_REINIT, 0.2, 1e9, 1, 0.12, 0.6 },
                  { TSR_DISTANCE_REINIT, 1, 1, 1, 0.12, 0.6 },
                  { TSR_DISTANCE_REINIT, 3, 1e9, 1.5, 0.2, 0.9 },
                  { TSR_DISTANCE_SOURCE, 0.5, 1e9, 1, 0.15, 0.9 } };
    (void)state;
    tsr_context *context = test_context();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tsr_volume *phi = ball(context, cases[k].slope, cases[k].clamp, cases[k].step_z), *distance;
        tsr_distance_pde_options o = TSR_DISTANCE_PDE_OPTIONS;
        tsr_distance_pde_report report = TSR_DISTANCE_PDE_REPORT;
        double mean, most;
        o.method = cases[k].method;
        o.band = 5;
        o.max_steps = cases[k].method == TSR_DISTANCE_SOURCE ? 100 : 0;
        require_ok(tsr_distance_evolve(context, phi, &o, &distance, &report));
        measure(distance, cases[k].step_z, 3.5, &mean, &most);
        assert_true(report.steps % 8 == 0 || report.steps == (o.max_steps ? 100 : 20)); /* it looks, and may end, every eighth step */
        if (!(mean < cases[k].mean && most < cases[k].most))
            fail_msg("case %zu: mean error %g, largest %g after %d steps, expected below %g and %g", k, mean, most, report.steps, cases[k].mean,
                     cases[k].most);
        tsr_volume_destroy(&distance);
        tsr_volume_destroy(&phi);
    }
    tsr_context_destroy(&context);
}

/* A slope of 2 across oblong boxes, whose surface reaches all their sides: along the axis it is exact to the border, whichever axis it is. */
static void planes_to_the_border(void **state)
{
    static const int64_t sizes[3][3] = { { 12, 7, 5 }, { 5, 12, 7 }, { 7, 5, 12 } };
    (void)state;
    tsr_context *context = test_context();
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < (test_is_slow() ? 1 : 3); k++) {
            const int64_t *n = sizes[k];
            tsr_volume *host, *phi, *distance, *back;
            tsr_distance_pde_options o = TSR_DISTANCE_PDE_OPTIONS;
            const double middle = 0.5 * (double)n[axis] - 0.8;
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n[0], n[1], n[2] }, NULL, &host));
            for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
                const int64_t at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
                ((float *)tsr_volume_data(host))[i] = (float)(2 * ((double)at[axis] - middle));
            }
            require_ok(tsr_volume_copy(host, context, &phi));
            o.band = 2.5;
            require_ok(tsr_distance_evolve(context, phi, &o, &distance, NULL));
            require_ok(tsr_volume_copy(distance, NULL, &back));
            for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
                const int64_t at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
                const double d = (double)at[axis] - middle, v = (double)((const float *)tsr_volume_data_const(back))[i];
                if (fabs(d) < 2 && fabs(v - d) > 0.05) fail_msg("axis %d, size %d, voxel %d: %g, expected %g", axis, k, (int)i, v, d);
            }
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&distance);
            tsr_volume_destroy(&phi);
            tsr_volume_destroy(&host);
        }
    tsr_context_destroy(&context);
}

/* The published form has a factor |grad phi|: out of a plateau nothing grows. */
static void plateaus_stay_with_the_published_form(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *phi = ball(context, 1, 1, 1), *distance;
    tsr_distance_pde_options o = TSR_DISTANCE_PDE_OPTIONS;
    double mean, most;
    o.method = TSR_DISTANCE_SOURCE;
    o.band = 5;
    o.max_steps = 20;
    require_ok(tsr_distance_evolve(context, phi, &o, &distance, NULL));
    measure(distance, 1, 3.5, &mean, &most);
    assert_true(most > 2);
    tsr_volume_destroy(&distance);
    tsr_volume_destroy(&phi);
    tsr_context_destroy(&context);
}

static void refuses(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *phi = ball(context, 1, 9, 1), *distance;
    tsr_distance_pde_options o = TSR_DISTANCE_PDE_OPTIONS;
    o.band = -1;
    require_error(tsr_distance_evolve(context, phi, &o, &distance, NULL), TSR_ERROR_ARGUMENT, "band is -1");
    o.band = 3;
    o.step = 1.5;
    require_error(tsr_distance_evolve(context, phi, &o, &distance, NULL), TSR_ERROR_ARGUMENT, "step is 1.5");
    o.step = 0;
    o.method = (tsr_distance_method)2;
    require_error(tsr_distance_evolve(context, phi, &o, &distance, NULL), TSR_ERROR_ARGUMENT, "method is 2");
    o.method = TSR_DISTANCE_REINIT;
    o.progress.report = test_stops;
    require_error(tsr_distance_evolve(context, phi, &o, &distance, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(distance);
    tsr_volume_destroy(&phi);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(balls_become_distances), cmocka_unit_test(plateaus_stay_with_the_published_form),
                                        cmocka_unit_test(planes_to_the_border), cmocka_unit_test(refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
