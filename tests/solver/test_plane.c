/* The level-set solver in the plane: a domain of one slice. Nothing varies along the flat axis, so the equation is that of curves: K = 1/R on a circle. */
#include "engine_support.h"
#include "tessera/levelset.h"

static double circle_x, circle_y, circle_radius, voxel;
static double circle(double x, double y, double z)
{
    (void)z;
    return (hypot(x - circle_x, y - circle_y) - circle_radius) * voxel;
}
static double flower(double x, double y, double z)
{
    const double dx = x - 31.3, dy = y - 30.2, angle = atan2(dy, dx);
    (void)z;
    return 0.8 * (hypot(dx, dy) - 17 - 4 * sin(5 * angle));
}
static double turned_flower(double x, double y, double z) { return flower(y, z, x); }

static tsr_tiles *list_with(tsr_context *context, tsr_size3 n, int32_t edge, tsr_vec3 spacing, double band, shape_function shape)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    const tsr_geometry geometry = tsr_geometry_make(spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = edge;
    options.domain = n;
    options.band = band;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) v[i] = (float)shape((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

static tsr_tiles *list_of(tsr_context *context, tsr_size3 n, int32_t edge, double spacing, double band, shape_function shape)
{
    return list_with(context, n, edge, (tsr_vec3){ spacing, spacing, spacing }, band, shape);
}

/* Mean distance, in voxels, of the crossings along x and y from the centre of the circle. */
static double radius_in(const tsr_volume *host)
{
    const float *p = (const float *)tsr_volume_data_const(host);
    const tsr_size3 n = tsr_volume_size(host);
    double sum = 0;
    int64_t count = 0;
    for (int64_t y = 0; y + 1 < n.y; y++)
        for (int64_t x = 0; x + 1 < n.x; x++)
            for (int a = 0; a < 2; a++) {
                const double u = (double)p[y * n.x + x], v = (double)p[y * n.x + x + (a ? n.x : 1)], t = u / (u - v);
                if ((u < 0) == (v < 0)) continue;
                sum += hypot((double)x + (a ? 0 : t) - circle_x, (double)y + (a ? t : 0) - circle_y);
                count++;
            }
    return count ? sum / (double)count : 0;
}

/* Radius in world units of a circle in the unit square, n voxels wide, after a time. */
static double moved_circle(int64_t n, double band, double start, const tsr_levelset_options *o, double time, tsr_levelset_report *report)
{
    tsr_context *context = test_context();
    voxel = 1 / (double)n;
    circle_radius = start * (double)n;
    circle_x = 0.5 * (double)n - 0.37;
    circle_y = 0.5 * (double)n - 0.21;
    tsr_tiles *tiles = list_of(context, (tsr_size3){ n, n, 1 }, 8, voxel, band * voxel, circle);
    tsr_levelset *levelset;
    require_ok(tsr_levelset_create(tiles, o, &levelset));
    require_ok(tsr_levelset_advance(levelset, time, NULL, report));
    tsr_volume *host = host_of(context, tiles, (tsr_size3){ n, n, 1 });
    const double radius = radius_in(host) * voxel;
    tsr_volume_destroy(&host);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return radius;
}

/* R^2 = R0^2 - 2 a t, and the circle is gone at R0^2 / 2 a. The errors of three resolutions give the order. */
static void circle_collapse(void **unused)
{
    (void)unused;
    const double a = 0.5, start = 0.3, vanishing = start * start / (2 * a), time = 0.5 * vanishing, exact = sqrt(start * start - 2 * a * time);
    double errors[3];
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    for (int i = 0; i < 3; i++) {
        const int64_t n = (int64_t)24 << i; /* a band that is as wide in the world: what the clamp does at its edge stays away from the circle */
        const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = a } }, .term_count = 1, .reshape = TSR_RESHAPE_NONE);
        errors[i] = fabs(moved_circle(n, 0.15 * (double)n, start, &o, time, &report) - exact);
    }
    print_message("circle under its curvature: errors %.2e, %.2e, %.2e, orders %.2f and %.2f\n", errors[0], errors[1], errors[2],
                  log2(errors[0] / errors[1]), log2(errors[1] / errors[2]));
    assert_true(errors[2] < 2e-4 && log2(errors[0] / errors[2]) / 2 > 1.6);
    const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = a } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                           .time = TSR_TIME_RK3, .reshape_weight = 48 * 48);
    moved_circle(48, 3, start, &o, 1.2 * vanishing, &report);
    print_message("vanished after %.5f, expected %.5f\n", report.time, vanishing);
    assert_true(report.empty && fabs(report.time / vanishing - 1) < 0.04);
}

/* R = R0 + t, in the first-order scheme of first order, in the wide one far better. */
static void circle_growth(void **unused)
{
    (void)unused;
    double errors[2][3];
    for (int wide = 0; wide < 2; wide++)
        for (int i = 0; i < 3; i++) {
            tsr_levelset_report report = TSR_LEVELSET_REPORT;
            const tsr_levelset_options o =
                OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .space = wide ? TSR_STENCIL_WENO5 : TSR_STENCIL_GODUNOV,
                        .time = wide ? TSR_TIME_RK3 : TSR_TIME_EULER, .reshape = TSR_RESHAPE_NONE);
            errors[wide][i] = fabs(moved_circle((int64_t)32 << i, 4, 0.2, &o, 0.2, &report) - 0.4);
        }
    for (int wide = 0; wide < 2; wide++)
        print_message("growing circle, %s: errors %.2e, %.2e, %.2e, orders %.2f and %.2f\n", wide ? "WENO5, RK3" : "first order", errors[wide][0],
                      errors[wide][1], errors[wide][2], log2(errors[wide][0] / errors[wide][1]), log2(errors[wide][1] / errors[wide][2]));
    const double first = log2(errors[0][0] / errors[0][2]) / 2;
    assert_true(first > 0.7 && first < 1.6 && errors[1][2] < 5e-5 && errors[1][2] < 0.1 * errors[0][2]);
}

/* A run in one slice is, bit for bit, every slice of a run over many: nothing leaks along the flat axis, whatever the terms and the scheme. */
static void slices(void **unused)
{
    (void)unused;
    const int64_t depth = 11;
    const tsr_levelset_term spin = { .kind = TSR_LEVELSET_ROTATION, .value = 0.05, .vector = { 0, 0, 1 }, .centre = { 30, 32, 0 } },
                        bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.4 }, grow = { .kind = TSR_LEVELSET_SPEED, .value = 0.3 };
    const tsr_levelset_options settings[3] = {
        OPTIONS(.terms = { bend, grow }, .term_count = 2, .time_step = 0.2),
        OPTIONS(.terms = { spin, bend }, .term_count = 2, .time_step = 0.2, .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3),
        OPTIONS(.terms = { spin, grow }, .term_count = 2, .time_step = 0.2, .space = TSR_STENCIL_ENO2, .time = TSR_TIME_RK2,
                .reshape = TSR_RESHAPE_REINIT),
    };
    for (int i = 0; i < 3; i++) {
        tsr_context *context = test_context();
        const tsr_size3 flat = { 61, 60, 1 }, deep = { 61, 60, depth };
        tsr_tiles *one = list_of(context, flat, i & 1 ? 4 : 8, 1, 3, flower), *many = list_of(context, deep, i & 1 ? 4 : 8, 1, 3, flower);
        tsr_levelset *l;
        require_ok(tsr_levelset_create(one, &settings[i], &l));
        require_ok(tsr_levelset_step(l, on_emulator() ? 4 : 30, NULL, NULL));
        tsr_levelset_destroy(&l);
        require_ok(tsr_levelset_create(many, &settings[i], &l));
        require_ok(tsr_levelset_step(l, on_emulator() ? 4 : 30, NULL, NULL));
        tsr_levelset_destroy(&l);
        tsr_volume *a = host_of(context, one, flat), *b = host_of(context, many, deep);
        const float *p = (const float *)tsr_volume_data_const(a), *q = (const float *)tsr_volume_data_const(b);
        for (int64_t z = 0; z < depth; z++) assert_memory_equal(p, q + z * flat.x * flat.y, (size_t)(flat.x * flat.y) * sizeof *p);
        tsr_volume_destroy(&a);
        tsr_volume_destroy(&b);
        tsr_tiles_destroy(&one);
        tsr_tiles_destroy(&many);
        tsr_context_destroy(&context);
    }
}

/* The flat axis may be any: the same curve with x flat. */
static void flat_along_x(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 flat = { 61, 60, 1 }, turned = { 1, 61, 60 };
    const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.4 } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                           .time = TSR_TIME_RK3); /* automatic steps: the bound is that of two dimensions for both */
    tsr_tiles *tiles[2] = { list_of(context, flat, 8, 1, 3, flower), list_of(context, turned, 8, 1, 3, turned_flower) };
    tsr_levelset_report report[2] = { TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT };
    for (int i = 0; i < 2; i++) {
        tsr_levelset *l;
        require_ok(tsr_levelset_create(tiles[i], &o, &l));
        require_ok(tsr_levelset_step(l, on_emulator() ? 4 : 30, NULL, &report[i]));
        tsr_levelset_destroy(&l);
    }
    assert_true(report[0].time == report[1].time);
    tsr_volume *a = host_of(context, tiles[0], flat), *b = host_of(context, tiles[1], turned);
    const float *p = (const float *)tsr_volume_data_const(a), *q = (const float *)tsr_volume_data_const(b);
    double worst = 0;
    for (int64_t i = 0; i < flat.x * flat.y; i++) worst = fmax(worst, fabs((double)p[i] - (double)q[i]));
    assert_true(worst < 1e-4);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    for (int i = 0; i < 2; i++) tsr_tiles_destroy(&tiles[i]);
    tsr_context_destroy(&context);
}

/* How thick the slice is does not show: the same bits after as many steps of the same length, also where a velocity points across it. */
static void thickness(void **unused)
{
    (void)unused;
    enum { RUNS = 8, REINITIALISE = 6, REDISTANCE = 7 };
    const tsr_levelset_term bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.4 }, grow = { .kind = TSR_LEVELSET_SPEED, .value = 0.3 },
                        drag = { .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0.5, -0.2, 3 } },
                        spin = { .kind = TSR_LEVELSET_ROTATION, .value = 0.05, .vector = { 0, 0.2, 1 }, .centre = { 25, 26, 0 } },
                        brush = { .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0.5, 0, 3 }, .centre = { 25, 40, 0 }, .sigma = 4 };
    const tsr_levelset_options settings[6] = {
        OPTIONS(.terms = { grow }, .term_count = 1),
        OPTIONS(.terms = { bend }, .term_count = 1, .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3),
        OPTIONS(.terms = { bend, grow }, .term_count = 2, .feedback = 1),
        OPTIONS(.terms = { drag, brush }, .term_count = 2, .sign = TSR_SIGN_PHI),
        OPTIONS(.terms = { spin }, .term_count = 1, .reshape = TSR_RESHAPE_NONE, .space = TSR_STENCIL_WENO5),
        OPTIONS(.terms = { grow }, .term_count = 1, .space = TSR_STENCIL_ENO2, .reshape = TSR_RESHAPE_REINIT, .sign = TSR_SIGN_SUBCELL),
    };
    const double across[4] = { 0.8, 0.01, 100, 0.3 };
    const tsr_size3 flat = { 61, 60, 1 };
    for (int i = 0; i < RUNS; i++) {
        tsr_levelset_report report[4] = { TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT };
        tsr_volume *made[4];
        for (int t = 0; t < 4; t++) {
            tsr_context *context = test_context();
            tsr_tiles *tiles = list_with(context, flat, i & 1 ? 4 : 8, (tsr_vec3){ 0.8, 0.8, across[t] }, 2.4, flower);
            tsr_levelset *l;
            if (i == REINITIALISE) require_ok(tsr_levelset_reinitialise(tiles, TSR_STENCIL_ENO2, 3, NULL));
            else if (i == REDISTANCE) require_ok(tsr_levelset_redistance(tiles, 0, NULL));
            else {
                require_ok(tsr_levelset_create(tiles, &settings[i], &l));
                if (on_emulator()) require_ok(tsr_levelset_step(l, 4, NULL, &report[t]));
                else require_ok(tsr_levelset_advance(l, 3, NULL, &report[t]));
                tsr_levelset_destroy(&l);
            }
            made[t] = host_of(context, tiles, flat);
            tsr_tiles_destroy(&tiles);
            tsr_context_destroy(&context);
        }
        for (int t = 1; t < 4; t++) {
            assert_int_equal(report[t].steps, report[0].steps);
            assert_true(report[t].time == report[0].time);
            assert_memory_equal(tsr_volume_data_const(made[t]), tsr_volume_data_const(made[0]), (size_t)(flat.x * flat.y) * sizeof(float));
        }
        if (i < REINITIALISE) print_message("run %d: %lld steps to time %g\n", i, (long long)report[0].steps, report[0].time);
        for (int t = 0; t < 4; t++) tsr_volume_destroy(&made[t]);
    }
}

int main(void)
{
    const struct CMUnitTest every[] = { cmocka_unit_test(slices), cmocka_unit_test(flat_along_x), cmocka_unit_test(thickness) };
    const struct CMUnitTest tests[] = { cmocka_unit_test(slices), cmocka_unit_test(flat_along_x), cmocka_unit_test(thickness),
                                        cmocka_unit_test(circle_collapse), cmocka_unit_test(circle_growth) };
    return on_emulator() ? cmocka_run_group_tests(every, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
