/* Rays against closed forms: Maxwell's fish-eye, a linear square of the index, Luneburg's lens. */
#include "light_support.h"

static void fish_eye(void *user, const double p[3], double *n, double g[3])
{
    const double r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2], d = 1 + r2;
    (void)user;
    *n = 2 / d;
    for (int k = 0; k < 3; k++) g[k] = -4 * p[k] / (d * d);
}

/* All rays from (1, 0, 0) meet in (-1, 0, 0) at the optical length pi. */
static double fish_eye_error(double step, double *drift)
{
    const int64_t steps = (int64_t)ceil(M_PI / step);
    double worst = 0;
    *drift = 0;
    for (int i = 0; i < 7; i++) {
        const double a = -1.2 + 0.4 * i;
        tsr_light_ray r = { .position = { 1, 0, 0 }, .speed = { -cos(a), sin(a) * 0.6, sin(a) * 0.8 } };
        require_ok(tsr_light_ray_trace(fish_eye, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, M_PI / (double)steps, steps, 0, &r));
        const double n = 2 / (1 + r.position[0] * r.position[0] + r.position[1] * r.position[1] + r.position[2] * r.position[2]);
        worst = fmax(worst, sqrt((r.position[0] + 1) * (r.position[0] + 1) + r.position[1] * r.position[1] + r.position[2] * r.position[2]));
        *drift = fmax(*drift, fabs(sqrt(r.speed[0] * r.speed[0] + r.speed[1] * r.speed[1] + r.speed[2] * r.speed[2]) / n - 1));
        assert_true(fabs(r.optical - M_PI) < 1e-12);
    }
    return worst;
}

static void fish_eye_focuses(void **unused)
{
    double drift, last = 0;
    (void)unused;
    for (int i = 0; i < 4; i++) {
        const double step = 0.1 / (1 << i), error = fish_eye_error(step, &drift);
        print_message("fish-eye, step %.4f: error %.2e, |v|/n - 1 %.1e\n", step, error, drift);
        if (i) assert_true(error < last / 12); /* fourth order: 16 */
        else assert_true(error < 6e-5 && drift < 5e-6);
        last = error;
    }
}

static const double n0 = 1.7, slope = 0.8;
static void linear_square(void *user, const double p[3], double *n, double g[3])
{
    (void)user;
    *n = sqrt(n0 * n0 + slope * p[2]);
    g[0] = g[1] = 0;
    g[2] = slope / (2 * *n);
}

/* x = x0 + v0 tau + g/4 tau^2 z; the optical length is the integral of n^2 over tau. */
static void linear_square_is_a_parabola(void **unused)
{
    const double tau = 0.9, v0[3] = { 0.8, 0.3, 0 };
    double last = 0;
    (void)unused;
    const double vz = sqrt(n0 * n0 - v0[0] * v0[0] - v0[1] * v0[1]) * -1;
    const double time = n0 * n0 * tau + slope * vz * tau * tau / 2 + slope * slope * tau * tau * tau / 12;
    const double end[3] = { v0[0] * tau, v0[1] * tau, vz * tau + slope / 4 * tau * tau };
    for (int i = 0; i < 4; i++) {
        const int64_t steps = 16 << i;
        tsr_light_ray r = { .speed = { v0[0], v0[1], vz } };
        require_ok(tsr_light_ray_trace(linear_square, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, time / (double)steps, steps, 0, &r));
        const double error = fmax(fabs(r.position[0] - end[0]), fabs(r.position[2] - end[2]));
        assert_true(r.speed[0] == v0[0] && r.speed[1] == v0[1]); /* Snell's law, to the bit */
        if (i) assert_true(error < last / 11 || error < 1e-13);
        else assert_true(error < 1e-6);
        last = error;
    }
    /* Stoermer and Verlet's scheme is exact for a constant force */
    tsr_light_ray r = { .speed = { v0[0], v0[1], vz } };
    require_ok(tsr_light_ray_trace(linear_square, NULL, TSR_LIGHT_VERLET, TSR_LIGHT_TIME, tau / 10, 10, 0, &r));
    for (int k = 0; k < 3; k++) assert_true(fabs(r.position[k] - end[k]) < 1e-12);
    assert_true(fabs(r.optical - time) < 3e-4); /* by trapezoids of n^2, whose second derivative is slope^2 / 2 */
    /* by length, along the gradient: the integral of n */
    r = (tsr_light_ray){ .speed = { 0, 0, n0 } };
    require_ok(tsr_light_ray_trace(linear_square, NULL, TSR_LIGHT_RK4, TSR_LIGHT_LENGTH, 0.9 / 100, 100, 0, &r));
    assert_true(fabs(r.position[2] - 0.9) < 1e-9 && fabs(r.optical - 2 / (3 * slope) * (pow(n0 * n0 + slope * 0.9, 1.5) - pow(n0, 3))) < 1e-5);
    /* orders of the others: one and two */
    double error[2][2];
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 2; i++) {
            tsr_light_ray q = { .speed = { v0[0], v0[1], vz } };
            const int64_t steps = 200 << i;
            require_ok(
                tsr_light_ray_trace(linear_square, NULL, m ? TSR_LIGHT_RK2 : TSR_LIGHT_EULER, TSR_LIGHT_TIME, time / (double)steps, steps, 0, &q));
            error[m][i] = fabs(q.position[2] - end[2]);
        }
    assert_true(error[0][0] / error[0][1] > 1.9 && error[0][0] / error[0][1] < 2.1);
    assert_true(error[1][0] / error[1][1] > 3.8 && error[1][0] / error[1][1] < 4.2);
}

static void luneburg(void *user, const double p[3], double *n, double g[3])
{
    const double r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    (void)user;
    *n = r2 < 1 ? sqrt(2 - r2) : 1;
    for (int k = 0; k < 3; k++) g[k] = r2 < 1 ? -p[k] / *n : 0;
}
/* Parallel rays meet at the far side at the optical length 1 + pi/2 from the plane that touches the lens. The gradient jumps at the edge. */
static void luneburg_focuses(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const double step = i ? 0.01 : 0.05, time = 1 + M_PI / 2;
        const int64_t steps = (int64_t)ceil(time / step);
        double worst = 0;
        for (int k = 0; k < 8; k++) {
            tsr_light_ray r = { .position = { -1, 0.1 * k, 0 }, .speed = { 1, 0, 0 } };
            require_ok(tsr_light_ray_trace(luneburg, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, time / (double)steps, steps, 1, &r));
            worst = fmax(worst, sqrt((r.position[0] - 1) * (r.position[0] - 1) + r.position[1] * r.position[1]));
        }
        print_message("Luneburg, step %.2f: error %.1e\n", step, worst);
        assert_true(worst < (i ? 1e-2 : 5e-2));
    }
}

static double luneburg_grid(const double p[3])
{
    const double r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    return r2 < 1 ? sqrt(2 - r2) : 1;
}
/* The same through voxels, on the device: within half a voxel of the focus; |v| = n. */
static void luneburg_in_voxels(void **unused)
{
    const int64_t n = test_is_slow() ? 40 : 64;
    const double h = 2.4 / (double)n;
    tsr_light_matter *m = light_matter(context, n, h, luneburg_grid, NULL, 0);
    tsr_light_ray r[8];
    (void)unused;
    for (int project = 0; project < 2; project++) {
        for (int k = 0; k < 8; k++) r[k] = (tsr_light_ray){ .position = { -1, 0.09 * k, 0.02 }, .speed = { 1, 0, 0 } };
        tsr_light_trace_options o = TSR_LIGHT_TRACE_OPTIONS;
        o.no_projection = !project;
        o.step = 0.25;
        o.steps = (int64_t)lround((1 + M_PI / 2) / h / o.step);
        require_ok(tsr_light_trace(context, m, &o, r, 8));
        for (int k = 0; k < 8; k++) {
            /* nearest approach to the focus along the last speed */
            double d[3] = { r[k].position[0] - 1, r[k].position[1], r[k].position[2] }, along = 0, v2 = 0, miss = 0;
            for (int a = 0; a < 3; a++) {
                along += d[a] * r[k].speed[a];
                v2 += r[k].speed[a] * r[k].speed[a];
            }
            for (int a = 0; a < 3; a++) miss += (d[a] - along / v2 * r[k].speed[a]) * (d[a] - along / v2 * r[k].speed[a]);
            if (sqrt(miss) > 0.5 * h) print_error("ray %d misses the focus by %g voxels\n", k, sqrt(miss) / h);
            assert_true(sqrt(miss) <= 0.5 * h);
            assert_true(fabs(r[k].optical - (1 + M_PI / 2)) < h);
            assert_true(fabs(sqrt(v2) - sqrt(fmax(1, 2 - pow(r[k].position[0], 2) - pow(r[k].position[1], 2) - pow(r[k].position[2], 2)))) < 2e-2);
        }
    }
    tsr_light_matter_destroy(&m);
}

static int bent_axis;
static double bent(const double p[3]) { return sqrt(2 + 1.5 * p[bent_axis]); }
/* A square of the index that is linear along one axis: across it rays are parabolas, and voxels along the two other axes are all alike. */
static void one_axis_in_voxels(void **unused)
{
    enum { SIDE = 32 };
    const double h = 2.0 / SIDE;
    (void)unused;
    for (int k = 0; k < 3; k++) {
        bent_axis = k;
        tsr_light_matter *m = light_matter(context, SIDE, h, bent, NULL, 0);
        tsr_light_ray r[4] = { { .position = { 0 } } };
        tsr_light_trace_options o = TSR_LIGHT_TRACE_OPTIONS;
        for (int i = 0; i < 4; i++) r[i].speed[(k + 1 + i / 2) % 3] = i % 2 ? -1 : 1;
        o.step = 0.25;
        o.steps = (int64_t)lround(1.1 / h / o.step);
        require_ok(tsr_light_trace(context, m, &o, r, 4));
        for (int i = 0; i < 4; i++) {
            const int along = (k + 1 + i / 2) % 3, other = (k + 2 - i / 2) % 3;
            const double tau = fabs(r[i].position[along]) / sqrt(2), drop = r[i].position[k] - 1.5 / 4 * tau * tau;
            assert_true((r[i].position[along] > 0) == (i % 2 == 0) && tau > 0.4 && tau < 0.7);
            if (fabs(drop) > 0.1 * h || fabs(r[i].position[other]) > 1e-6) fail_msg("axis %d, ray %d: %g voxels beside the parabola", k, i, drop / h);
            assert_true(fabs(r[i].speed[k] - 1.5 / 2 * tau) < 0.02);
        }
        tsr_light_matter_destroy(&m);
    }
}

static double half_glass(const double p[3])
{
    const double t = fmin(fmax(0.5 - p[2] / 0.12, 0), 1);
    return 1 + 0.5 * t * t * (3 - 2 * t);
}
/* Snell's law through a soft surface, and total reflection: below z = 0 is glass. */
static void snell(void **unused)
{
    tsr_light_matter *m = light_matter(context, 40, 0.05, half_glass, NULL, 0);
    const double sine[4] = { 0.1, 0.4, 0.6, 0.8 }; /* in glass; total reflection above 2/3 */
    tsr_light_ray r[4];
    (void)unused;
    for (int k = 0; k < 4; k++)
        r[k] = (tsr_light_ray){ .position = { -0.6 * sine[k], 0, -0.6 }, .speed = { sine[k], 0, sqrt(1 - sine[k] * sine[k]) } };
    require_ok(tsr_light_trace(context, m, NULL, r, 4));
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(r[k].speed[0] - 1.5 * sine[k]) < 3e-3);
        assert_true((r[k].speed[2] > 0) == (k < 3));
    }
    tsr_light_matter_destroy(&m);
}

static void errors(void **unused)
{
    tsr_light_ray r = { .speed = { 1, 0, 0 } };
    (void)unused;
    require_error(tsr_light_ray_trace(NULL, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, 0.1, 1, 0, &r), TSR_ERROR_ARGUMENT, "function is NULL");
    require_error(tsr_light_ray_trace(linear_square, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, 0, 1, 0, &r), TSR_ERROR_ARGUMENT, "steps above 0");
    r.position[2] = -100; /* n^2 < 0 there */
    require_error(tsr_light_ray_trace(linear_square, NULL, TSR_LIGHT_RK4, TSR_LIGHT_TIME, 0.1, 3, 0, &r), TSR_ERROR_ARGUMENT, "expected above 0");
    tsr_light_matter *m = light_matter(context, 4, 1, light_one, NULL, 0);
    tsr_light_ray still = { .speed = { 0, 0, 0 } };
    require_error(tsr_light_trace(context, m, NULL, &still, 1), TSR_ERROR_ARGUMENT, "ray 0: its speed has length 0");
    still.speed[1] = 1e-7; /* as good as none */
    require_error(tsr_light_trace(context, m, NULL, &still, 1), TSR_ERROR_ARGUMENT, "ray 0: its speed has length 1e-07");
    still.speed[1] = -1; /* a direction, wherever it points */
    require_ok(tsr_light_trace(context, m, NULL, &still, 1));
    tsr_light_matter_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fish_eye_focuses),
        cmocka_unit_test(linear_square_is_a_parabola),
        cmocka_unit_test(luneburg_focuses),
        cmocka_unit_test(luneburg_in_voxels),
        cmocka_unit_test(one_axis_in_voxels),
        cmocka_unit_test(snell),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
