/* Moving surfaces against analytic answers (docs/theory/segmentation.md 9), with the tolerances stated there. */
#include "sphere.h"

static const tsr_size3 box = { 56, 56, 56 };
static const tsr_vec3 unit = { 1, 1, 1 };

static double moved_radius(const tsr_segment_options *o, double radius, int64_t steps, radius_measure *measure)
{
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, box, unit);
    tsr_segmentation *s = start_sphere(context, image, o, radius);
    radius_measure m = radius_after(s, steps);
    if (measure) *measure = m;
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
    return m.mean;
}

/* R(t) = R0 + F t: within 5 % of the way. The first-order scheme loses 2 to 4 %. */
static void constant_speed(void **unused)
{
    (void)unused;
    for (int rescale = 0; rescale < 2; rescale++) {
        tsr_segment_options grow = plain_motion(1, 1, 0.1), shrink = plain_motion(1, -1, 0.1);
        if (!rescale) grow.rescale = shrink.rescale = TSR_RESCALING_NONE;
        double larger = moved_radius(&grow, 10, 100, NULL), smaller = moved_radius(&shrink, 20, 100, NULL);
        print_message("constant speed: 10 -> %.3f, 20 -> %.3f\n", larger, smaller);
        assert_true(fabs(larger - 20) <= 0.5);
        assert_true(fabs(smaller - 10) <= 0.5);
    }
}

/* R(t) = sqrt(R0^2 - 4 t). */
static void curvature_flow(void **unused)
{
    (void)unused;
    const double exact = sqrt(16.0 * 16.0 - 4 * 37.5);
    tsr_segment_options o = plain_motion(0, 0, 0.1);
    double plain = moved_radius(&o, 16, 375, NULL);
    o.rescale = TSR_RESCALING_NONE;
    double none = moved_radius(&o, 16, 375, NULL);
    o.rescale = TSR_RESCALING_LOCK;
    double lock = moved_radius(&o, 16, 375, NULL);
    o.rescale = TSR_RESCALING_NONE;
    o.curvature_half = 1;
    double half = moved_radius(&o, 16, 375, NULL); /* half the curvature: R^2 = R0^2 - 2 t */
    print_message("curvature: exact %.4f, plain %.3f, none %.3f, lock %.3f, half %.3f\n", exact, plain, none, lock, half);
    assert_true(fabs(plain - exact) <= 0.03 * exact);
    assert_true(fabs(none - exact) <= 0.003 * exact);
    assert_true(fabs(lock - exact) <= 0.03 * exact);
    assert_true(fabs(half - sqrt(256.0 - 75)) <= 0.003 * sqrt(256.0 - 75));
}

/* The sphere vanishes at R0^2 / 4 and the run says so. */
static void vanishing(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, (tsr_size3){ 32, 32, 32 }, unit);
    tsr_segment_options o = plain_motion(0, 0, 0.1);
    o.rescale = TSR_RESCALING_NONE;
    tsr_segmentation *s = start_sphere(context, image, &o, 8);
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    require_ok(tsr_segmentation_step(s, 140, NULL, &report)); /* many are looked at every 32 steps; from here on one by one */
    assert_true(report.stop != TSR_STOP_EMPTY && report.inside_voxels > 0);
    for (int k = 0; k < 60 && report.stop != TSR_STOP_EMPTY; k++) require_ok(tsr_segmentation_step(s, 1, NULL, &report));
    print_message("vanished at t = %.2f (exact 16)\n", report.time);
    assert_int_equal(report.stop, TSR_STOP_EMPTY);
    assert_int_equal(report.inside_voxels, 0);
    assert_true(fabs(report.time - 16) <= 0.02 * 16); /* the page of the level sets: within 2 % */
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tsr_segmentation_tiles(s), &info));
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* A cylinder under curvature: R(t) = sqrt(R0^2 - 2 t). It runs through the volume: borders replicate. */
static void cylinder(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 48, 48, 10 };
    tsr_volume *image = distance_image(context, n, unit), *field, *device;
    tsr_segment_options o = plain_motion(0, 0, 0.1);
    o.rescale = TSR_RESCALING_NONE;
    tsr_segmentation *s;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &field));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++)
        ((float *)tsr_volume_data(field))[i] = (float)(sqrt(pow((double)(i % n.x) - 23.5, 2) + pow((double)(i / n.x % n.y) - 23.5, 2)) - 14);
    require_ok(tsr_volume_copy(field, context, &device));
    require_ok(tsr_segmentation_from_field(s, device));
    require_ok(tsr_segmentation_step(s, 400, NULL, NULL));
    tsr_volume_destroy(&field);
    field = host_field(s);
    radius_measure m = measure_radius(field, 2);
    const double exact = sqrt(14.0 * 14 - 80);
    print_message("cylinder: %.3f (exact %.3f)\n", m.mean, exact);
    assert_true(fabs(m.mean - exact) <= 0.005 * exact);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&device);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Ramp ball: D = epsilon - r has the stable radius R* = (epsilon + sqrt(epsilon^2 - 8 (1-alpha)/alpha)) / 2. */
static void ramp_ball(void **unused)
{
    (void)unused;
    const double alphas[] = { 1, 0.7 }, tolerance[] = { 0.05, 0.06 };
    for (int i = 0; i < 2; i++) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        o.alpha = alphas[i];
        o.epsilon = 16;
        o.normalise = TSR_NORMALISE_NONE;
        double exact = (16 + sqrt(256 - 8 * (1 - o.alpha) / o.alpha)) / 2, r = moved_radius(&o, 10, 600, NULL);
        print_message("ramp ball, alpha %.1f: %.3f (exact %.3f)\n", o.alpha, r, exact);
        assert_true(fabs(r - exact) <= tolerance[i]);
    }
    /* epsilon^2 < 8 (1-alpha)/alpha: collapse */
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, (tsr_size3){ 32, 32, 32 }, unit);
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.alpha = 0.2;
    o.epsilon = 5;
    o.normalise = TSR_NORMALISE_NONE;
    tsr_segmentation *s = start_sphere(context, image, &o, 8);
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    require_ok(tsr_segmentation_step(s, 4000, NULL, &report));
    assert_int_equal(report.stop, TSR_STOP_EMPTY);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* A step edge pins the surface: +epsilon inside radius 12, -epsilon outside, alpha epsilon > 2 (1 - alpha) / R. */
static void step_edge(void **unused)
{
    (void)unused;
    const double starts[] = { 6, 18 };
    for (int i = 0; i < 2; i++) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        o.data_weight = 0;
        o.alpha = 0.7;
        o.term_count = 1;
        o.terms[0] = (tsr_term){ .kind = TSR_TERM_INTERVAL, .weight = 1, .value = 1, .lower = 0, .upper = 12 };
        double r = moved_radius(&o, starts[i], 500, NULL);
        print_message("step edge from %.0f: %.3f\n", starts[i], r);
        assert_true(fabs(r - 12.0) <= 0.75); /* the edge lies between the voxels on both sides of 12 */
    }
}

/* Rescaling alone: the gradient settles to 1, nothing changes sign, the surface hardly drifts. */
static void rescaling(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, box, unit), *host, *device, *after;
    const double slopes[] = { 0.3, 1, 3 };
    for (int i = 0; i < 3; i++) {
        tsr_segment_options o = plain_motion(1, 0, 0.1);
        tsr_segmentation *s;
        require_ok(tsr_volume_create(NULL, TSR_F32, box, NULL, &host));
        float *v = (float *)tsr_volume_data(host);
        for (int64_t k = 0; k < box.x * box.y * box.z; k++) {
            double x = (double)(k % 56) - 27.5, y = (double)(k / 56 % 56) - 27.5, z = (double)(k / 3136) - 27.5;
            v[k] = (float)(slopes[i] * (sqrt(x * x + y * y + z * z) - 16));
        }
        require_ok(tsr_volume_copy(host, context, &device));
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        /* from_field would divide by the slope: past it, into the list */
        union {
            const tsr_tiles *view;
            tsr_tiles *own;
        } tiles = { .view = tsr_segmentation_tiles(s) };
        require_ok(tsr_tiles_load(tiles.own, device));
        radius_measure before = measure_radius(host, 3);
        require_ok(tsr_segmentation_step(s, 400, NULL, NULL));
        after = host_field(s);
        const float *p = (const float *)tsr_volume_data_const(after);
        radius_measure m = measure_radius(after, 3);
        double sum = 0, least = 1e30, most = 0;
        int64_t count = 0;
        for (int64_t k = 0; k < box.x * box.y * box.z; k++) {
            assert_int_equal(p[k] < 0, v[k] < 0);
            int64_t x = k % 56, y = k / 56 % 56, z = k / 3136;
            if (x == 0 || y == 0 || z == 0 || x == 55 || y == 55 || z == 55 || fabsf(p[k]) >= 0.66f * 2.5f) continue;
            double gx = ((double)p[k + 1] - (double)p[k - 1]) / 2, gy = ((double)p[k + 56] - (double)p[k - 56]) / 2,
                   gz = ((double)p[k + 3136] - (double)p[k - 3136]) / 2;
            double g = sqrt(gx * gx + gy * gy + gz * gz);
            sum += g;
            least = fmin(least, g);
            most = fmax(most, g);
            count++;
        }
        print_message("rescaling from slope %.1f: gradient %.3f (%.3f to %.3f), radius %.3f -> %.3f\n", slopes[i], sum / (double)count, least, most,
                      before.mean, m.mean);
        assert_true(fabs(sum / (double)count - 1) <= 0.02);
        assert_true(least >= 0.9 && most <= 1.1);
        assert_true(fabs(m.mean - before.mean) <= 0.1);
        tsr_volume_destroy(&after);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&host);
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Freeze: voxels beside the interface do not change at all; no variant changes a sign. */
static void freeze(void **unused)
{
    (void)unused;
    for (int variant = TSR_RESCALING_PLAIN; variant <= TSR_RESCALING_FREEZE; variant++) {
        tsr_context *context = test_context();
        tsr_volume *image = distance_image(context, box, unit);
        tsr_segment_options o = plain_motion(1, 0, 0.1);
        o.rescale = (tsr_rescale)variant;
        o.rescale_weight = 1;
        tsr_segmentation *s = start_sphere(context, image, &o, 16);
        tsr_volume *before = host_field(s), *after;
        require_ok(tsr_segmentation_step(s, 200, NULL, NULL));
        after = host_field(s);
        const float *p = (const float *)tsr_volume_data_const(before), *q = (const float *)tsr_volume_data_const(after);
        int64_t interface = 0, n = tsr_volume_count(before), stride[3] = { 1, 56, 3136 };
        for (int64_t i = 0; i < n; i++) {
            int64_t at[3] = { i % 56, i / 56 % 56, i / 3136 };
            int beside = 0;
            assert_int_equal(p[i] < 0, q[i] < 0);
            for (int k = 0; k < 3; k++) {
                if (at[k] > 0) beside |= (p[i] < 0) != (p[i - stride[k]] < 0);
                if (at[k] < 55) beside |= (p[i] < 0) != (p[i + stride[k]] < 0);
            }
            interface += beside;
            if (beside && variant == TSR_RESCALING_FREEZE) assert_true(p[i] == q[i]);
        }
        assert_true(interface > 1000);
        tsr_volume_destroy(&before);
        tsr_volume_destroy(&after);
        tsr_segmentation_destroy(&s);
        tsr_volume_destroy(&image);
        tsr_context_destroy(&context);
    }
}

/* A front enters a tunnel of radius rho only if alpha c > (1 - alpha) 2 / rho: half and twice that. */
static void tunnel(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 77, 32, 32 };
    const double rho = 4;
    tsr_volume *host, *image;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) { /* balls of radius 13 at x = 16 and 60, joined by the tunnel: 1, else 0 */
        double x = (double)(i % n.x), y = (double)(i / n.x % n.y) - 15.5, z = (double)(i / n.x / n.y) - 15.5, r = sqrt(y * y + z * z);
        int in = sqrt((x - 16) * (x - 16) + r * r) < 13 || sqrt((x - 60) * (x - 60) + r * r) < 13 || (x > 16 && x < 60 && r < rho);
        ((float *)tsr_volume_data(host))[i] = in ? 1.0f : 0.0f;
    }
    require_ok(tsr_volume_copy(host, context, &image));
    for (int twice = 0; twice < 2; twice++) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        const double c = (twice ? 2.0 : 0.5) * 2 / rho; /* alpha = 1/2: the threshold is c = 2 / rho */
        o.alpha = 0.5;
        o.data_weight = 0;
        o.term_count = 2; /* c inside, strongly negative outside */
        o.terms[0] = (tsr_term){ .kind = TSR_TERM_INTERVAL, .weight = 1, .value = (c + 4) / 2, .lower = 0.5, .upper = 2 };
        o.terms[1] = (tsr_term){ .kind = TSR_TERM_CONSTANT, .weight = 1, .value = (c - 4) / 2 };
        tsr_segmentation *s;
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 16, 15.5, 15.5 }, 12, 0));
        require_ok(tsr_segmentation_step(s, twice ? 3000 : 1500, NULL, NULL));
        tsr_volume *field = host_field(s);
        const float *p = (const float *)tsr_volume_data_const(field);
        float middle = p[(16 * n.y + 16) * n.x + 38], far = p[(16 * n.y + 16) * n.x + 60], seed = p[(16 * n.y + 16) * n.x + 16];
        print_message("tunnel at %s the threshold: seed %.2f, tunnel %.2f, far ball %.2f\n", twice ? "twice" : "half", (double)seed, (double)middle,
                      (double)far);
        assert_true(seed < 0);
        assert_int_equal(far < 0, twice);
        assert_int_equal(middle < 0, twice);
        tsr_volume_destroy(&field);
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* World units: the same sphere on a grid of other and unequal spacings moves alike. */
static void spacings(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_vec3 h[] = { { 0.5, 0.5, 0.5 }, { 1, 1, 2 }, { 2, 2.5, 3 } };
    const tsr_size3 n[] = { { 64, 64, 64 }, { 48, 48, 24 }, { 40, 32, 28 } };
    const double start[] = { 8, 16, 30 };
    for (int i = 0; i < 3; i++) {
        tsr_volume *image = distance_image(context, n[i], h[i]);
        double smallest = fmin(h[i].x, fmin(h[i].y, h[i].z)), t = start[i] * start[i] / 8; /* R^2 halves */
        int64_t steps = (int64_t)ceil(t / (0.08 * smallest * smallest));
        tsr_segment_options o = plain_motion(0, 0, t / (double)steps);
        o.rescale = TSR_RESCALING_NONE;
        tsr_segmentation *s = start_sphere(context, image, &o, start[i]);
        radius_measure m = radius_after(s, steps);
        print_message("spacing %g x %g x %g: %.3f (exact %.3f)\n", h[i].x, h[i].y, h[i].z, m.mean, start[i] / sqrt(2));
        assert_true(fabs(m.mean - start[i] / sqrt(2)) <= 0.02 * start[i]);
        tsr_segmentation_destroy(&s);
        tsr_volume_destroy(&image);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(constant_speed), cmocka_unit_test(curvature_flow), cmocka_unit_test(vanishing),
                                        cmocka_unit_test(cylinder),       cmocka_unit_test(ramp_ball),      cmocka_unit_test(step_edge),
                                        cmocka_unit_test(rescaling),      cmocka_unit_test(freeze),         cmocka_unit_test(tunnel),
                                        cmocka_unit_test(spacings) };
    return cmocka_run_group_tests_name("analytic", tests, NULL, NULL);
}
