/* The formulas of a step against float64 and analytic oracles (docs/theory/segmentation.md 2 to 4). */
#include <math.h>

#include "segment/speed.h"
#include "segment/update.h"
#include "support.h"

static tsr_segment_params usual(void)
{
    return (tsr_segment_params){ .inverse_spacing = { 1, 1, 1 }, .spacing = 1, .band = 2.5f, .curvature_limit = 2, .gradient = 1, .cfl = 0.5f,
                                  .rescale_mode = TSR_RESCALE_NONE };
}

/* Largest relative error of the curvature of an exact sphere over all voxels within half a voxel of it: the table of 2.4, for a sphere whose centre
 * lies between the voxels (on a voxel R = 3 has 1.7 %, other radii hardly differ). */
static void curvature_of_spheres(void **unused)
{
    (void)unused;
    const double radii[] = { 3, 4, 6, 10, 20, 40 }, wanted[] = { 0.013, 0.010, 0.0038, 0.0014, 0.00033, 0.00008 };
    const float unit[3] = { 1, 1, 1 };
    for (int i = 0; i < 6; i++) {
        double worst = 0;
        int reach = (int)radii[i] + 2;
        for (int z = -reach; z <= reach; z++)
            for (int y = -reach; y <= reach; y++)
                for (int x = -reach; x <= reach; x++) {
                    const double p[3] = { x + 0.5, y + 0.5, z + 0.5 }, r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                    float cube[27];
                    if (fabs(r - radii[i]) >= 0.5) continue;
                    for (int c = 0; c < 27; c++) {
                        double dx = p[0] + c % 3 - 1, dy = p[1] + c / 3 % 3 - 1, dz = p[2] + c / 9 - 1;
                        cube[c] = (float)(sqrt(dx * dx + dy * dy + dz * dz) - radii[i]);
                    }
                    worst = fmax(worst, fabs((double)tsr_curvature(cube + 13, 3, 9, unit) - 2 / r) * r / 2);
                }
        print_message("curvature, R = %.0f: largest error %.3f %%\n", radii[i], 100 * worst);
        assert_true(worst <= wanted[i] + 2e-6 * radii[i]); /* float32 rounding grows with the radius */
    }
}

/* One update in float64 straight from the page: phi_page = -phi. */
static double page_update(const double u[27], const double h[3], double speed, double a, double limit, double w, double g, double dt, double band,
                          int lumped)
{
    const int s[3] = { 1, 3, 9 };
    double up[3], down[3], centre[3], grow = 0, shrink = 0, central = 0, k = 0;
    for (int i = 0; i < 3; i++) {
        up[i] = (u[13 + s[i]] - u[13]) / h[i];
        down[i] = (u[13] - u[13 - s[i]]) / h[i];
        centre[i] = (u[13 + s[i]] - u[13 - s[i]]) / (2 * h[i]);
        grow += pow(fmax(up[i], 0), 2) + pow(fmax(-down[i], 0), 2);
        shrink += pow(fmin(up[i], 0), 2) + pow(fmin(-down[i], 0), 2);
        central += centre[i] * centre[i];
    }
    for (int i = 0; i < 3; i++) {
        double n[2];
        for (int side = 0; side < 2; side++) {
            double d = side ? up[i] : down[i], sum = d * d + 1e-12;
            int to = 13 + (side ? s[i] : -s[i]);
            for (int j = 0; j < 3; j++) {
                if (j == i) continue;
                double there = (u[to + s[j]] - u[to - s[j]]) / (2 * h[j]);
                sum += pow((there + centre[j]) / 2, 2);
            }
            n[side] = d / sqrt(sum);
        }
        k += (n[1] - n[0]) / h[i];
    }
    k = fmin(fmax(k, -limit), limit);
    double toward = sqrt(u[13] > 0 ? shrink : grow), v;
    if (lumped) {
        double total = speed + a * k + w * u[13] * (g - toward);
        v = u[13] + dt * total * sqrt(total > 0 ? grow : shrink);
    } else {
        double r = fmin(fmax(dt * w * u[13] * (g - toward) * toward, -0.5 * fabs(u[13])), 0.5 * fabs(u[13]));
        v = u[13] + dt * (speed * sqrt(speed > 0 ? grow : shrink) + a * k * sqrt(central)) + r;
    }
    return fmin(fmax(v, -band), band);
}

static void update_equals_page(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    for (int round = 0; round < 20000; round++) {
        float cube[27];
        double u[27], h[3];
        tsr_segment_params k = usual();
        for (int i = 0; i < 27; i++) {
            cube[i] = tsr_clampf((float)(test_uniform(&random) * 8 - 4), -2.5f, 2.5f);
            u[i] = -(double)cube[i];
        }
        for (int i = 0; i < 3; i++) {
            h[i] = round & 1 ? 1 : 0.5 + test_uniform(&random) * 2;
            k.inverse_spacing[i] = (float)(1 / h[i]);
        }
        k.curvature = (float)test_uniform(&random);
        k.rescale = (float)test_uniform(&random);
        k.rescale_mode = TSR_RESCALE_PLAIN;
        k.lumped = round % 3 == 0;
        float speed = (float)(test_uniform(&random) * 4 - 2), dt = 0.05f;
        double expected = -page_update(u, h, (double)speed, (double)k.curvature, 2, (double)k.rescale, 1, 0.05, 2.5, k.lumped);
        double got = (double)tsr_segment_update(cube + 13, 3, 9, speed, dt, &k);
        if (fabs(got - expected) > 2e-5) fail_msg("round %d: %.9g instead of %.9g", round, got, expected);
        for (int i = 0; i < 27; i++) cube[i] = -cube[i]; /* dual */
        assert_true(tsr_segment_update(cube + 13, 3, 9, -speed, dt, &k) == (float)-got);
    }
}

/* A flat neighbourhood stays flat bit for bit; a linear field has gradient 1 and moves by F dt. */
static void flat_and_linear(void **unused)
{
    (void)unused;
    for (int mode = 0; mode < 16; mode++) {
        tsr_segment_params k = usual();
        float cube[27];
        k.curvature = 0.5f;
        k.rescale = 1;
        k.rescale_mode = mode & 3;
        k.lumped = mode >> 2 & 1;
        k.godunov = mode >> 3;
        const float constants[] = { 2.5f, -2.5f, 0.75f, 0.0f };
        for (int c = 0; c < 4; c++) {
            for (int i = 0; i < 27; i++) cube[i] = constants[c];
            assert_true(tsr_segment_update(cube + 13, 3, 9, 3.0f, 0.1f, &k) == constants[c]);
        }
        for (int axis = 0; axis < 3; axis++) {
            const int step[3] = { 1, 3, 9 };
            for (int i = 0; i < 27; i++) cube[i] = (float)(i / step[axis] % 3 - 1) + 0.5f;
            double v = (double)tsr_segment_update(cube + 13, 3, 9, 2.0f, 0.1f, &k);
            assert_true(fabs(v - (0.5 - 0.2)) < 1e-5);
        }
    }
}

/* Terms against double precision; indices beyond the volume are clamped. */
static void speed_terms(void **unused)
{
    (void)unused;
    const uint8_t grey[8] = { 0, 10, 20, 30, 40, 50, 60, 200 };
    const float other[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    for (int i = 0; i < 8; i++) {
        const int x = i % 2, y = i / 2 % 2, z = i / 4;
        const double v = 0.5 * grey[i] + 3, w = (double)other[i];
        tsr_speed_term tent = { .kind = TSR_SPEED_TENT,
                                .weight = 0.25f,
                                .a = 12,
                                .b = 20,
                                .c = 30,
                                .data = { grey },
                                .dtype = { TSR_U8 },
                                .scale = { 0.5f },
                                .offset = { 3 } };
        tsr_speed_term interval = tent, vector = tent, constant = { .kind = TSR_SPEED_CONSTANT, .weight = 2, .a = 1.5f },
                       volume = { .kind = TSR_SPEED_VOLUME, .weight = 1, .data = { other }, .dtype = { TSR_F32 }, .scale = { 1 } };
        interval.kind = TSR_SPEED_INTERVAL;
        interval.b = 8;
        interval.c = 28;
        vector.kind = TSR_SPEED_VECTOR;
        vector.channels = 2;
        vector.data[1] = other;
        vector.dtype[1] = TSR_F32;
        vector.scale[1] = 1;
        vector.mean[0] = 15;
        vector.mean[1] = 4;
        vector.precision[0][0] = 0.5f;
        vector.precision[1][1] = 2;
        vector.precision[0][1] = vector.precision[1][0] = 0.25f;
        const double d0 = v - 15, d1 = w - 4;
        const double wanted[5] = { 0.25 * fmax(12 - fabs(v - 20), -30), 0.25 * (v >= 8 && v <= 28 ? 12 : -12),
                                   0.25 * (12 - sqrt(0.5 * d0 * d0 + 2 * d1 * d1 + 0.5 * d0 * d1)), 3, w };
        const tsr_speed_term terms[5] = { tent, interval, vector, constant, volume };
        tsr_speed all = { .count = 5, .size = { 2, 2, 2 } };
        double sum = 0;
        for (int t = 0; t < 5; t++) {
            tsr_speed one = { .count = 1, .size = { 2, 2, 2 }, .term = { terms[t] } };
            assert_true(fabs((double)tsr_speed_at(&one, x, y, z) - wanted[t]) < 1e-4);
            all.term[t] = terms[t];
            sum += wanted[t];
        }
        assert_true(fabs((double)tsr_speed_at(&all, x, y, z) - sum) < 1e-4);
        assert_true(tsr_speed_at(&all, x ? 9 : -9, y ? 9 : -9, z ? 9 : -9) == tsr_speed_at(&all, x, y, z));
    }
}

static void time_steps(void **unused)
{
    (void)unused;
    tsr_segment_params k = usual();
    k.curvature = 0.4f;
    k.spacing = 0.5f;
    k.rescale = 0.3f;
    k.rescale_mode = TSR_RESCALE_PLAIN;
    double rate = sqrt(3) * 7 / 0.5 + 6 * 0.4 / 0.25 + 0.3 * 2.5 / 0.5;
    assert_true(fabs((double)tsr_segment_time_step(&k, 7) * rate - 0.5) < 1e-6);
    k.fixed_step = 0.125f;
    assert_true(tsr_segment_time_step(&k, 7) == 0.125f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(curvature_of_spheres), cmocka_unit_test(update_equals_page),
                                        cmocka_unit_test(flat_and_linear), cmocka_unit_test(speed_terms), cmocka_unit_test(time_steps) };
    return cmocka_run_group_tests_name("formulas", tests, NULL, NULL);
}
