/* The level-set solver against analytic answers, with the tolerances of docs/theory/levelset.md 9. */
#include "engine_support.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"
#include "tessera/phantom.h"

/* ---- analytic answers (docs/theory/levelset.md 9) ---------------------------------------------------------------------------------------------------------- */

struct radius {
    double mean, least, most;
};

/* Distances of the zero crossings along grid edges from a centre. */
static struct radius radius_of(const tsr_volume *host, double cx, double cy, double cz)
{
    const float *p = (const float *)tsr_volume_data_const(host);
    const tsr_size3 n = tsr_volume_size(host);
    const int64_t stride[3] = { 1, n.x, n.x * n.y };
    struct radius r = { 0, 1e30, 0 };
    int64_t count = 0;
    for (int64_t z = 0; z + 1 < n.z; z++)
        for (int64_t y = 0; y + 1 < n.y; y++)
            for (int64_t x = 0; x + 1 < n.x; x++) {
                const int64_t i = (z * n.y + y) * n.x + x;
                for (int a = 0; a < 3; a++) {
                    const double u = (double)p[i], v = (double)p[i + stride[a]];
                    if ((u < 0) == (v < 0)) continue;
                    const double t = u / (u - v);
                    const double d = distance3((double)x + (a == 0 ? t : 0), (double)y + (a == 1 ? t : 0), (double)z + (a == 2 ? t : 0), cx, cy, cz);
                    r.mean += d;
                    r.least = fmin(r.least, d);
                    r.most = fmax(r.most, d);
                    count++;
                }
            }
    r.mean = count ? r.mean / (double)count : 0;
    return r;
}

/* Enclosed volume with a smoothed Heaviside of half width 1.5. */
static double volume_of(const tsr_volume *host)
{
    const float *p = (const float *)tsr_volume_data_const(host);
    double sum = 0;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double u = (double)p[i] / 1.5;
        sum += u >= 1 ? 0 : u <= -1 ? 1 : 0.5 * (1 - u - sin(3.14159265358979 * u) / 3.14159265358979);
    }
    return sum;
}

static double ball_radius;
static double centred_ball(double x, double y, double z) { return distance3(x, y, z, 39.5, 39.5, 39.5) - ball_radius; }
static double shifted_ball(double x, double y, double z) { return distance3(x, y, z, 55.5, 39.5, 39.5) - 10; }
static double ellipsoid(double x, double y, double z)
{
    const double a = (x - 39.5) / 20, b = (y - 39.5) / 10, c = (z - 39.5) / 8, k = sqrt(a * a + b * b + c * c);
    const double g = sqrt(a * a / 400 + b * b / 100 + c * c / 64);
    return g > 0 ? k * (k - 1) / g : -8;
}
static double periodic_ball(double x, double y, double z)
{
    return distance3(x, y, z, 0.35 * 64 - 0.5, 0.35 * 64 - 0.5, 0.35 * 64 - 0.5) - 0.15 * 64;
}

static const tsr_size3 arena = { 80, 80, 80 };

/* Moves a shape for a time; the caller destroys the field. `measures` may be NULL. */
static tsr_volume *moved_and_measured(tsr_size3 n, shape_function shape, double band, const tsr_levelset_options *o, double time,
                                      tsr_levelset_report *report, tsr_tiles_measures *measures)
{
    tsr_context *context = test_context();
    tsr_tiles *tiles = tiles_of(context, n, 0, band, shape);
    tsr_levelset *levelset;
    require_ok(tsr_levelset_create(tiles, o, &levelset));
    require_ok(tsr_levelset_advance(levelset, time, NULL, report));
    assert_true(fabs(report->time - time) < 1e-12 * (1 + time) || report->empty);
    if (measures) require_ok(tsr_tiles_measure(tiles, measures));
    tsr_volume *host = host_of(context, tiles, n);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return host;
}
static tsr_volume *moved(tsr_size3 n, shape_function shape, double band, const tsr_levelset_options *o, double time, tsr_levelset_report *report)
{
    return moved_and_measured(n, shape, band, o, time, report, NULL);
}

static struct radius moved_ball(double start, double band, const tsr_levelset_options *o, double time)
{
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    ball_radius = start;
    tsr_volume *host = moved(arena, centred_ball, band, o, time, &report);
    const struct radius r = radius_of(host, 39.5, 39.5, 39.5);
    tsr_volume_destroy(&host);
    return r;
}

/* F = +-1, 12 <-> 32 in t = 20, dt = 0.25. */
static void constant_speed(void **unused)
{
    (void)unused;
    const double bands[2] = { 5, 3 }, allowed[2] = { 0.02, 0.03 };
    for (int i = 0; i < 2; i++) {
        tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                         .time = TSR_TIME_RK3, .time_step = 0.25);
        const double larger = moved_ball(12, bands[i], &o, 20).mean;
        o.terms[0].value = -1;
        const double smaller = moved_ball(32, bands[i], &o, 20).mean;
        print_message("WENO5, RK3, band %g: 12 -> %.4f, 32 -> %.4f\n", bands[i], larger, smaller);
        assert_true(fabs(larger - 32) <= allowed[i] && fabs(smaller - 12) <= allowed[i]);
    }
    tsr_levelset_options first = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .time_step = 0.25);
    const double crude = moved_ball(12, 1.5, &first, 20).mean;
    print_message("first order, band 1.5: 12 -> %.3f\n", crude);
    assert_true(fabs(crude - 32) <= 1.4);
}

/* R^2 = R0^2 - 4 a t: half form a = 0.5, R0 = 32 up to 75 % of the vanishing time, and the vanishing time within 2 %. */
static void curvature_flow(void **unused)
{
    (void)unused;
    const double R = 32, vanishing = R * R / 2, time = 0.75 * vanishing;
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                     .time = TSR_TIME_RK3, .time_step = 0.3);
    const double fine = moved_ball(R, 3, &o, time).mean, exact = sqrt(R * R - 2 * time);
    tsr_levelset_options narrow = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                          .time = TSR_TIME_RK3, .time_step = 0.3, .sign = TSR_SIGN_PHI);
    const double slim = moved_ball(R, 1.5, &narrow, time).mean;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    ball_radius = R;
    tsr_volume *host = moved(arena, centred_ball, 3, &o, 1.2 * vanishing, &report);
    tsr_volume_destroy(&host);
    print_message("curvature flow: radius %.4f, narrow band %.4f, expected %.4f; vanished at %.1f, expected %.1f\n", fine, slim, exact, report.time,
                  vanishing);
    assert_true(fabs(fine - exact) <= 0.12 && fabs(slim - exact) <= 0.05);
    assert_true(report.empty && fabs(report.time / vanishing - 1) <= 0.02);
}

/* Curvature and a speed f inwards, R' = -c / R - f with c = 2 a: from R0 to R in (R0 - R - (c / f) ln((c + f R0) / (c + f R))) / f, and gone with
 * R = 0 (docs/theory/levelset.md 9). The list is empty some time later: only when the last of the band is. */
static double pressed_time(double R0, double R, double c, double f) { return (R0 - R - c / f * log((c + f * R0) / (c + f * R))) / f; }
static void pressed_ball(void **unused)
{
    (void)unused;
    const double R = 16, later = 6, a = 0.25, f = 0.25, vanishing = pressed_time(R, 0, 2 * a, f);
    const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = a }, { .kind = TSR_LEVELSET_SPEED, .value = -f } },
                                           .term_count = 2, .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.25);
    tsr_context *context = test_context();
    tsr_levelset *levelset;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    ball_radius = R;
    tsr_tiles *tiles = tiles_of(context, arena, 0, 3, centred_ball);
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_advance(levelset, pressed_time(R, later, 2 * a, f), NULL, &report));
    tsr_volume *host = host_of(context, tiles, arena);
    const struct radius r = radius_of(host, 39.5, 39.5, 39.5);
    do {
        require_ok(tsr_levelset_step(levelset, 1, NULL, &report));
        require_ok(tsr_tiles_describe(tiles, &info));
    } while (info.inside_voxels > 0 && report.time < 2 * vanishing);
    print_message("curvature and speed inwards: radius %.4f, expected %g; vanished at %.2f, expected %.2f\n", r.mean, later, report.time, vanishing);
    assert_true(fabs(r.mean - later) <= 0.05 && fabs(report.time / vanishing - 1) <= 0.02);
    tsr_volume_destroy(&host);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* A box that grows becomes a rounded box: its own distance less the way, exactly. The faces go as they should; the fan of a corner, which no voxel
 * resolves at first, is late by half a voxel and stays so. */
static double box(double x, double y, double z)
{
    const double d[3] = { fabs(x - 39.5) - 12, fabs(y - 39.5) - 9, fabs(z - 39.5) - 7 };
    return sqrt(pow(fmax(d[0], 0), 2) + pow(fmax(d[1], 0), 2) + pow(fmax(d[2], 0), 2)) + fmin(fmax(d[0], fmax(d[1], d[2])), 0);
}
static void rounded_box(void **unused)
{
    (void)unused;
    const double way = 6;
    const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                                           .time = TSR_TIME_RK3, .time_step = 0.25);
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_volume *host = moved(arena, box, 3, &o, way, &report);
    const float *p = (const float *)tsr_volume_data_const(host);
    double worst = 0, face = 0, sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double x = (double)(i % 80), y = (double)(i / 80 % 80), z = (double)(i / 6400), error = fabs((double)p[i] - (box(x, y, z) - way));
        if (fabs(box(x, y, z) - way) >= 1) continue; /* beside the surface */
        const int beyond = (fabs(x - 39.5) > 10) + (fabs(y - 39.5) > 7) + (fabs(z - 39.5) > 5);
        if (beyond == 1) face = fmax(face, error);
        worst = fmax(worst, error);
        sum += error;
        count++;
    }
    print_message("rounded box: errors of the distance beside the surface %.4f, at most %.3f, at faces %.4f\n", sum / (double)count, worst, face);
    assert_true(face <= 0.01 && sum / (double)count <= 0.2 && worst <= 0.75);
    tsr_volume_destroy(&host);
}

/* A quarter turn of a sphere at distance 16 from the axis: where it must be, and its volume. */
static void rotation(void **unused)
{
    (void)unused;
    tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_ROTATION, .value = 1, .vector = { 0, 0, 1 }, .centre = { 39.5, 39.5, 39.5 } } }, .term_count = 1,
                .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape_weight = 20);
    const double bands[2] = { 5, 3 }, allowed[2] = { 0.001, 0.002 };
    for (int i = 0; i < 2; i++) {
        tsr_levelset_report report = TSR_LEVELSET_REPORT, report0 = TSR_LEVELSET_REPORT;
        tsr_volume *host = moved(arena, shifted_ball, bands[i], &o, 1.5707963267948966, &report);
        const struct radius r = radius_of(host, 39.5, 55.5, 39.5);
        tsr_volume *before = moved(arena, shifted_ball, bands[i], &o, 0, &report0);
        const double ratio = volume_of(host) / volume_of(before);
        tsr_volume_destroy(&before);
        print_message("rotation, band %g: %d steps, radius %.4f (%.3f to %.3f), volume ratio %.4f\n", bands[i], (int)report.steps, r.mean, r.least,
                      r.most, ratio);
        assert_true(fabs(r.mean - 10) < 0.02 && r.least > 9.8 && r.most < 10.2);
        assert_true(fabs(ratio - 1) <= allowed[i]);
        tsr_volume_destroy(&host);
    }
}

/* Ellipsoid 20 x 10 x 8 to a sphere of the same volume in 1600 steps: volume, area and 1 / Kbar within 1 %. */
static void volume_conserving(void **unused)
{
    (void)unused;
    tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 }, { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 } }, .term_count = 2,
                .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.3, .feedback = 0.1);
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_measures measures = TSR_TILES_MEASURES;
    tsr_volume *before = moved(arena, ellipsoid, 3, &o, 0, &report), *after = moved_and_measured(arena, ellipsoid, 3, &o, 480, &report, &measures);
    assert_int_equal(report.steps, 1600);
    const double volume = volume_of(before), R = cbrt(volume * 3 / (4 * 3.14159265358979)), ratio = volume_of(after) / volume;
    const struct radius r = radius_of(after, 39.5, 39.5, 39.5);
    const double sphere = 4 * 3.14159265358979 * R * R;
    print_message("volume-conserving flow: ratio %.5f, radius %.3f (%.3f to %.3f), expected %.3f, 2 / Kbar %.3f, area %.2f of %.2f\n", ratio, r.mean,
                  r.least, r.most, R, 2 / report.mean_curvature, measures.area, sphere);
    assert_true(fabs(ratio - 1) <= 0.01 && fabs(measures.area / sphere - 1) <= 0.01);
    assert_true(r.most - r.least < 0.25 && fabs(r.mean / R - 1) < 0.01 && fabs(2 / report.mean_curvature / R - 1) < 0.01);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&after);
}

/* The extruded spiral without feedback: what the scheme alone keeps of the volume (docs/theory/levelset.md 8: at most 5 % away, 0.4 % were measured there), and a shape
 * that is nearly a ball after 1700 steps: 1.04 of its area. */
static void spiral(void **unused)
{
    (void)unused;
    const tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 }, { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 } }, .term_count = 2,
                .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.3);
    const int steps = test_is_slow() ? 20 : 1700;
    tsr_context *context = test_context();
    tsr_phantom_options size = TSR_PHANTOM_OPTIONS;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_measures before = TSR_TILES_MEASURES, after = TSR_TILES_MEASURES;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    tsr_levelset *levelset;
    size.size = (tsr_size3){ 128, 128, 128 };
    options.band = 3;
    require_ok(tsr_phantom_make("spiral", &size, &host, NULL));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, tsr_volume_geometry(field), &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    require_ok(tsr_tiles_measure(tiles, &before));
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_step(levelset, steps, NULL, &report));
    require_ok(tsr_tiles_measure(tiles, &after));
    const double R = cbrt(after.volume * 3 / (4 * 3.14159265358979)), ratio = after.volume / before.volume,
                 area = after.area / (4 * 3.14159265358979 * R * R);
    print_message("spiral, %d steps without feedback: volume ratio %.5f, area %.3f of the ball's\n", steps, ratio, area);
    assert_true(fabs(ratio - 1) <= 0.05);
    if (steps == 1700) assert_true(fabs(ratio - 1) <= 0.01 && area < 1.06 && after.components == 1 && after.genus == 0);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
}

/* Two spheres under volume-conserving flow: the larger one grows at the cost of the smaller, R_i' = a (Kbar - 2 / R_i) with Kbar the mean of K over both
 * surfaces, 2 (R + r) / (R^2 + r^2). Their radii over time, against this equation by Runge-Kutta in float64. */
static double two_balls(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 16.3, 19.6, 19.4) - 11, distance3(x, y, z, 41.7, 19.6, 19.4) - 9);
}
static double half_volume(const tsr_volume *host, int64_t first, int64_t last)
{
    const float *p = (const float *)tsr_volume_data_const(host);
    const tsr_size3 n = tsr_volume_size(host);
    double sum = 0;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double u = (double)p[i] / 1.5;
        if (i % n.x < first || i % n.x >= last) continue;
        sum += u >= 1 ? 0 : u <= -1 ? 1 : 0.5 * (1 - u - sin(3.14159265358979 * u) / 3.14159265358979);
    }
    return sum;
}
static void ripening_rate(const double r[2], double rate[2])
{
    const double mean = 2 * (r[0] + r[1]) / (r[0] * r[0] + r[1] * r[1]);
    for (int i = 0; i < 2; i++) rate[i] = 0.5 * (mean - 2 / r[i]);
}
static void ripening(void **unused)
{
    (void)unused;
    const tsr_size3 n = { 56, 40, 40 };
    const tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 }, { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 } }, .term_count = 2,
                .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.3, .sign = TSR_SIGN_SUBCELL);
    const double time = 90, step = 0.05;
    double r[2] = { 11, 9 }, k[4][2], at[2];
    for (int i = 0; i < (int)(time / step + 0.5); i++) {
        ripening_rate(r, k[0]);
        for (int s = 1; s < 4; s++) {
            for (int j = 0; j < 2; j++) at[j] = r[j] + (s == 3 ? 1 : 0.5) * step * k[s - 1][j];
            ripening_rate(at, k[s]);
        }
        for (int j = 0; j < 2; j++) r[j] += step / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_volume *before = moved(n, two_balls, 3, &o, 0, &report), *after = moved(n, two_balls, 3, &o, time, &report);
    double radius[2];
    for (int i = 0; i < 2; i++) radius[i] = cbrt(half_volume(after, i ? 29 : 0, i ? 56 : 29) * 3 / (4 * 3.14159265358979));
    const double volume = volume_of(after) / volume_of(before), mean = 2 * (r[0] + r[1]) / (r[0] * r[0] + r[1] * r[1]);
    print_message("two spheres at constant volume: radii %.3f and %.3f, expected %.3f and %.3f; Kbar %.4f, expected %.4f; volume ratio %.5f\n",
                  radius[0], radius[1], r[0], r[1], report.mean_curvature, mean, volume);
    assert_true(r[1] < 7 && fabs(radius[0] - r[0]) < 0.02 && fabs(radius[1] - r[1]) < 0.1);
    assert_true(fabs(volume - 1) < 0.005 && fabs(report.mean_curvature / mean - 1) < 0.01);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&after);
}

/* The periodic deformation at 64^3, T = 1.5: the volume that comes back, not below the measured 0.843 of the specification. */
static void deformation(void **unused)
{
    (void)unused;
    tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_ENRIGHT, .value = 1, .centre = { -0.5, -0.5, -0.5 }, .radius = 64, .period = 1.5 } },
                .term_count = 1, .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .sign = TSR_SIGN_SGN, .reshape_weight = 64);
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_volume *host = moved((tsr_size3){ 64, 64, 64 }, periodic_ball, 3, &o, 1.5, &report);
    tsr_levelset_report report0 = TSR_LEVELSET_REPORT;
    tsr_volume *before = moved((tsr_size3){ 64, 64, 64 }, periodic_ball, 3, &o, 0, &report0);
    const double ratio = volume_of(host) / volume_of(before);
    tsr_volume_destroy(&before);
    print_message("periodic deformation: %d steps, volume ratio %.4f\n", (int)report.steps, ratio);
    assert_true(ratio >= 0.843 && ratio < 1.02);
    tsr_volume_destroy(&host);
    if (test_is_slow()) return;
    /* A sign that does not move the zero set, and a quarter of the weight: less is lost than OpenVDB loses (3.2 %) with the same differences. */
    o.sign = TSR_SIGN_SUBCELL;
    o.reshape_weight = 16;
    host = moved((tsr_size3){ 64, 64, 64 }, periodic_ball, 3, &o, 1.5, &report);
    before = moved((tsr_size3){ 64, 64, 64 }, periodic_ball, 3, &o, 0, &report0);
    const double kept = volume_of(host) / volume_of(before);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&host);
    print_message("with a sign by sub-cells: %d steps, volume ratio %.4f\n", (int)report.steps, kept);
    assert_true(kept >= 0.975 && kept < 1.01);
}

/* Reinitialisation makes a distance of a field that is none, without moving the zero set. */
static double steep_ball(double x, double y, double z) { return 2.2 * (distance3(x, y, z, 39.5, 39.5, 39.5) - 15.3); }
static void reinitialisation(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = tiles_of(context, arena, 0, 4, steep_ball);
    require_ok(tsr_levelset_reinitialise(tiles, TSR_STENCIL_WENO5, 60, NULL));
    tsr_volume *host = host_of(context, tiles, arena);
    const float *p = (const float *)tsr_volume_data_const(host);
    const struct radius r = radius_of(host, 39.5, 39.5, 39.5);
    double worst = 0;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double d = distance3((double)(i % 80), (double)(i / 80 % 80), (double)(i / 6400), 39.5, 39.5, 39.5) - 15.3;
        if (fabs(d) < 3) worst = fmax(worst, fabs((double)p[i] - d));
    }
    print_message("reinitialised: radius %.4f (%.3f to %.3f), expected 15.3; worst error of the distance %.3f\n", r.mean, r.least, r.most, worst);
    assert_true(fabs(r.mean - 15.3) < 0.03 && r.least > 15.2 && r.most < 15.4 && worst < 0.1);
    tsr_volume_destroy(&host);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* ---- distance anew, other resolutions ------------------------------------------------------------------------------------------------------------- */

static void redistance(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = tiles_of(context, arena, 0, 5, steep_ball);
    require_ok(tsr_levelset_redistance(tiles, 0, NULL));
    tsr_volume *host = host_of(context, tiles, arena);
    const float *p = (const float *)tsr_volume_data_const(host);
    const struct radius r = radius_of(host, 39.5, 39.5, 39.5);
    double worst = 0;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double d = distance3((double)(i % 80), (double)(i / 80 % 80), (double)(i / 6400), 39.5, 39.5, 39.5) - 15.3;
        worst = fmax(worst, fabs((double)p[i] - fmin(fmax(d, -5), 5)));
    }
    print_message("distance anew: radius %.4f (%.3f to %.3f), expected 15.3; worst error %.3f\n", r.mean, r.least, r.most, worst);
    assert_true(fabs(r.mean - 15.3) < 0.02 && r.least > 15.2 && r.most < 15.4 && worst < 0.2); /* first order */
    tsr_volume_destroy(&host);
    require_error(tsr_levelset_redistance(tiles, 6, NULL), TSR_ERROR_ARGUMENT, "band is 6");
    require_error(tsr_levelset_redistance(NULL, 0, NULL), TSR_ERROR_ARGUMENT, "NULL");
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* Radius of the ball in voxels of the list, around the place that its centre has in it. */
static void check_ball(tsr_context *context, const tsr_tiles *tiles, int64_t n, double R, double allowed, const char *name)
{
    const tsr_geometry *g = tsr_tiles_geometry(tiles);
    tsr_volume *volume, *host;
    tsr_vec3 centre;
    require_ok(tsr_geometry_to_index(g, (tsr_vec3){ 39.5, 39.5, 39.5 }, &centre));
    const double h = tsr_geometry_spacing(g).x;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ n, n, n }, g, &volume));
    require_ok(tsr_tiles_store(tiles, volume));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    const struct radius r = radius_of(host, centre.x, centre.y, centre.z);
    print_message("%s: radius %.4f (%.3f to %.3f), expected %.4f voxels\n", name, r.mean, r.least, r.most, R / h);
    assert_true(fabs(r.mean - R / h) <= allowed && r.most - r.least < 10 * allowed);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&volume);
}

static void resolutions(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    ball_radius = 15.3;
    tsr_tiles *tiles = tiles_of(context, arena, 0, 3, centred_ball), *fine, *coarse, *finer;
    tsr_tiles_info before = TSR_TILES_INFO, up = TSR_TILES_INFO, down = TSR_TILES_INFO;
    require_ok(tsr_tiles_upsample(tiles, &fine));
    require_ok(tsr_tiles_describe(tiles, &before));
    require_ok(tsr_tiles_describe(fine, &up));
    digest_of(fine); /* in order, none twice; the eight times as many before management do not show */
    print_message("upsampled: %d tiles of %d\n", (int)up.count, (int)before.count);
    assert_true(up.count >= 3.3 * (double)before.count - 40 && up.count <= 5 * before.count);
    assert_true(fabs((double)up.inside_voxels / 8 / (double)before.inside_voxels - 1) < 0.01);
    assert_true(fabs(up.band - 1.5) < 1e-6);
    check_ball(context, fine, 160, 15.3, 0.4 / 15.3 + 0.005, "upsampled");
    require_ok(tsr_tiles_downsample(tiles, &coarse));
    require_ok(tsr_tiles_describe(coarse, &down));
    assert_true(fabs((double)down.inside_voxels * 8 / (double)before.inside_voxels - 1) < 0.02 && fabs(down.band - 6) < 1e-6);
    check_ball(context, coarse, 40, 15.3, 0.03, "downsampled");
    require_ok(tsr_tiles_upsample(coarse, &finer));
    check_ball(context, finer, 80, 15.3, 0.1, "down and up again");
    tsr_tiles_destroy(&finer);
    require_error(tsr_tiles_upsample(NULL, &finer), TSR_ERROR_ARGUMENT, "NULL");
    tsr_tiles_destroy(&coarse);
    tsr_tiles_destroy(&fine);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(redistance),        cmocka_unit_test(resolutions),    cmocka_unit_test(reinitialisation),
                                        cmocka_unit_test(constant_speed),    cmocka_unit_test(curvature_flow), cmocka_unit_test(rotation),
                                        cmocka_unit_test(pressed_ball),      cmocka_unit_test(rounded_box),    cmocka_unit_test(deformation),
                                        cmocka_unit_test(volume_conserving), cmocka_unit_test(ripening),       cmocka_unit_test(spiral) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
