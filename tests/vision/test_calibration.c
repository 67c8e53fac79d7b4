/* Calibration: derivatives against differences, closed forms against what they were made from, errors against the covariance that is claimed,
 * boards in pictures
 * that were rendered from known cameras. The projection here is written again, from the definitions. */
#include <math.h>

#include "support.h"
#include "tessera/calibrate.h"
#include "vision/calibration/calibration.h"

static double gauss(uint64_t *state)
{
    const double u = 1 - test_uniform(state), v = test_uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Rodrigues' formula. */
static void turned(double x, double y, double z, double r[3][3])
{
    const double t = sqrt(x * x + y * y + z * z), c = cos(t), s = sin(t), a[3] = { x / t, y / t, z / t };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) r[i][k] = (i == k ? c : 0) + (1 - c) * a[i] * a[k];
    r[0][1] -= s * a[2];
    r[1][0] += s * a[2];
    r[0][2] += s * a[1];
    r[2][0] -= s * a[1];
    r[1][2] -= s * a[0];
    r[2][1] += s * a[0];
}

/* Where a point is seen, from the definitions in tessera/camera.h. */
static void see(const tsr_pinhole *c, double rotation[3][3], const double translation[3], tsr_vec3 p, double pixel[2])
{
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = rotation[i][0] * p.x + rotation[i][1] * p.y + rotation[i][2] * p.z + translation[i];
    double x = e[0] / e[2], y = e[1] / e[2];
    const double r = sqrt(x * x + y * y);
    if (c->fisheye) {
        const double t = atan(r), d = t + c->k[0] * pow(t, 3) + c->k[1] * pow(t, 5) + c->k[2] * pow(t, 7) + c->k[3] * pow(t, 9);
        x *= r > 0 ? d / r : 1;
        y *= r > 0 ? d / r : 1;
    } else {
        const double g = (1 + c->k[0] * pow(r, 2) + c->k[1] * pow(r, 4) + c->k[2] * pow(r, 6)) /
                         (1 + c->k[3] * pow(r, 2) + c->k[4] * pow(r, 4) + c->k[5] * pow(r, 6));
        const double dx = 2 * c->p[0] * x * y + c->p[1] * (r * r + 2 * x * x), dy = c->p[0] * (r * r + 2 * y * y) + 2 * c->p[1] * x * y;
        x = x * g + dx;
        y = y * g + dy;
    }
    pixel[0] = c->fx * x + c->cx;
    pixel[1] = c->fy * y + c->cy;
}
static void see_own(const tsr_pinhole *c, tsr_vec3 p, double pixel[2])
{
    double r[3][3];
    memcpy(r, c->rotation, sizeof r);
    see(c, r, c->translation, p, pixel);
}

static tsr_pinhole camera_of(int fisheye)
{
    tsr_pinhole c = {
        .width = 640, .height = 480, .fx = 530, .fy = 534, .cx = 328, .cy = 235.5, .k = { -0.27, 0.08, -0.01 }, .p = { 0.0013, -0.0007 }
    };
    if (fisheye)
        c = (tsr_pinhole){
            .width = 640, .height = 480, .fx = 230, .fy = 231, .cx = 325, .cy = 237, .k = { 0.02, -0.01, 0.004, -0.001 }, .fisheye = 1
        };
    return c;
}

/* A point's prediction along each unknown, by central differences. */
static void derivatives(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    double worst = 0;
    for (int n = 0; n < 400; n++) {
        tsr_view_model m = { .fisheye = n & 1 };
        const tsr_pinhole c = camera_of(m.fisheye);
        m = tsr_view_model_of(&c);
        if (!m.fisheye && (n & 2))
            for (int k = 3; k < 6; k++) m.v[4 + k] = 0.05 * (test_uniform(&state) - 0.5);
        double x[3] = { 2 * test_uniform(&state) - 1, 2 * test_uniform(&state) - 1, 1.5 + test_uniform(&state) };
        if (n < 4) x[0] = x[1] = 0; /* on the axis */
        double pixel[2], by_in[2][TSR_INTRINSICS], by_x[2][3], a[2], b[2];
        assert_true(tsr_view_project(&m, x, pixel, by_in, by_x));
        double expected[2];
        double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, none[3] = { 0 };
        tsr_pinhole own = c;
        memcpy(own.k, m.v + 4, sizeof own.k);
        see(&own, unit, none, (tsr_vec3){ x[0], x[1], x[2] }, expected);
        assert_true(hypot(pixel[0] - expected[0], pixel[1] - expected[1]) < 1e-10);
        for (int k = 0; k < TSR_INTRINSICS + 3; k++) {
            double *at = k < TSR_INTRINSICS ? &m.v[k] : &x[k - TSR_INTRINSICS];
            const double kept = *at, h = 1e-5 * fmax(1, fabs(kept));
            *at = kept + h;
            tsr_view_project(&m, x, a, NULL, NULL);
            *at = kept - h;
            tsr_view_project(&m, x, b, NULL, NULL);
            *at = kept;
            for (int i = 0; i < 2; i++) {
                const double slope = (a[i] - b[i]) / (2 * h), given = k < TSR_INTRINSICS ? by_in[i][k] : by_x[i][k - TSR_INTRINSICS];
                worst = fmax(worst, fabs(slope - given) / fmax(1, fabs(slope)));
            }
        }
    }
    if (!(worst < 1e-6)) fail_msg("derivatives differ by %.3g", worst);
}

/* Steps of a pose in the test's own words: the predicted pixel after a small turn and shift against the derivative that the refinement implies: a
 * problem that
 * is solved from nearby in few steps has right derivatives; wrong ones would need many. */
static void exact_points(void **unused)
{
    (void)unused;
    const int trials = test_is_slow() ? 10 : 40;
    uint64_t state = 11;
    for (int n = 0; n < trials; n++) {
        tsr_pinhole truth = camera_of(0), start;
        tsr_sighting s[40];
        truth.p[0] = truth.p[1] = truth.k[2] = 0;
        truth.fy = truth.fx;
        turned(0.4 * gauss(&state), 0.4 * gauss(&state), 0.4 * gauss(&state), truth.rotation);
        truth.translation[2] = 6;
        for (int i = 0; i < 40; i++) {
            s[i] = (tsr_sighting){ .point = { 4 * test_uniform(&state) - 2, 3 * test_uniform(&state) - 1.5, 2 * test_uniform(&state) - 1 } };
            see_own(&truth, s[i].point, s[i].pixel);
        }
        start = (tsr_pinhole){ .width = 640, .height = 480 };
        tsr_calibration *k;
        tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
        o.free = TSR_FREE_FOCAL | TSR_FREE_CENTRE | TSR_FREE_K1 | TSR_FREE_K2;
        o.huber = 2;
        require_ok(tsr_calibrate(s, 40, &start, 1, &o, &k));
        tsr_calibration_info info = TSR_CALIBRATION_INFO;
        tsr_pinhole found;
        require_ok(tsr_calibration_get_info(k, &info));
        require_ok(tsr_calibration_camera(k, 0, &found, NULL, NULL));
        if (!(info.rms < 1e-8)) fail_msg("trial %d: %.3g pixels left after %d steps", n, info.rms, info.iterations);
        assert_true(info.iterations < 60 && info.converged);
        assert_true(fabs(found.fx - truth.fx) < 1e-5 && fabs(found.k[0] - truth.k[0]) < 1e-7 && fabs(found.translation[2] - 6) < 1e-6);
        double off = 0;
        for (int i = 0; i < 9; i++) off = fmax(off, fabs(found.rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]));
        assert_true(off < 1e-7);
        tsr_calibration_destroy(&k);
    }
}

/* The logarithm of a small rotation. */
static void small_turn(double r[3][3], double w[3])
{
    w[0] = 0.5 * (r[2][1] - r[1][2]);
    w[1] = 0.5 * (r[0][2] - r[2][0]);
    w[2] = 0.5 * (r[1][0] - r[0][1]);
}

/* x^T A^-1 x by elimination. */
static double mahalanobis(int n, const double *a, const double *x)
{
    double m[20][21];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) m[i][k] = a[i * n + k];
        m[i][n] = x[i];
    }
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int r = 0; r < n; r++) {
            if (r == i) continue;
            const double f = m[r][i] / m[i][i];
            for (int k = i; k <= n; k++) m[r][k] -= f * m[i][k];
        }
    }
    for (int i = 0; i < n; i++) sum += x[i] * m[i][n] / m[i][i];
    return sum;
}

/* With noise of half a pixel the errors are as large as the covariance says: the sum of chi-square numbers over 200 trials lies within 4 standard
 * deviations. */
static void claimed_errors(void **unused)
{
    (void)unused;
    enum { TRIALS = 200, POINTS = 60 };
    uint64_t state = 20240501;
    double shared_sum = 0, pose_sum = 0;
    int32_t n = 0;
    for (int t = 0; t < TRIALS; t++) {
        tsr_pinhole truth = camera_of(0), start;
        tsr_sighting s[POINTS];
        truth.p[0] = truth.p[1] = truth.k[2] = truth.k[1] = 0;
        truth.fy = truth.fx;
        turned(0.2, -0.3, 0.1, truth.rotation);
        truth.translation[0] = 0.1;
        truth.translation[2] = 5;
        for (int i = 0; i < POINTS; i++) {
            s[i] = (tsr_sighting){ .point = { 4 * test_uniform(&state) - 2, 3 * test_uniform(&state) - 1.5, 3 * test_uniform(&state) - 1.5 } };
            see_own(&truth, s[i].point, s[i].pixel);
            s[i].pixel[0] += 0.5 * gauss(&state);
            s[i].pixel[1] += 0.5 * gauss(&state);
        }
        start = truth;
        tsr_calibration *k;
        tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
        o.free = TSR_FREE_FOCAL | TSR_FREE_CENTRE | TSR_FREE_K1;
        o.use_pose = 1;
        o.sigma = 0.5;
        require_ok(tsr_calibrate(s, POINTS, &start, 1, &o, &k));
        tsr_pinhole c;
        tsr_pose pose;
        double own[36], r[3][3], e[6];
        const double *shared;
        require_ok(tsr_calibration_camera(k, 0, &c, NULL, NULL));
        require_ok(tsr_calibration_pose(k, 0, &pose, own, NULL));
        require_ok(tsr_calibration_covariance(k, &shared, &n));
        assert_int_equal(n, 4);
        const double d[4] = { truth.fx - c.fx, truth.cx - c.cx, truth.cy - c.cy, truth.k[0] - c.k[0] };
        shared_sum += mahalanobis(4, shared, d);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                r[i][j] = truth.rotation[i][0] * c.rotation[j][0] + truth.rotation[i][1] * c.rotation[j][1] + truth.rotation[i][2] * c.rotation[j][2];
        small_turn(r, e);
        for (int i = 0; i < 3; i++) /* t' = exp(w) t + v */
            e[3 + i] = truth.translation[i] - (r[i][0] * c.translation[0] + r[i][1] * c.translation[1] + r[i][2] * c.translation[2]);
        pose_sum += mahalanobis(6, own, e);
        tsr_calibration_destroy(&k);
    }
    const double z1 = (shared_sum - 4.0 * TRIALS) / sqrt(2 * 4.0 * TRIALS), z2 = (pose_sum - 6.0 * TRIALS) / sqrt(2 * 6.0 * TRIALS);
    if (!(fabs(z1) < 4 && fabs(z2) < 4)) fail_msg("chi-square off by %.2f (lens) and %.2f (pose) standard deviations", z1, z2);
}

/* 50 starts that are wrong by 5 degrees, 5 % of the distance and 10 % of the field of view. */
static void recovery(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    int good = 0;
    tsr_pinhole truth = camera_of(0);
    turned(1.9, 0.3, -0.2, truth.rotation);
    truth.translation[2] = 80;
    memset(truth.k, 0, sizeof truth.k);
    memset(truth.p, 0, sizeof truth.p);
    truth.fy = truth.fx;
    tsr_sighting s[24];
    for (int i = 0; i < 24; i++) { /* the lines of a pitch: plane points and the goals' corners */
        s[i] = (tsr_sighting){ .point = { 70 * test_uniform(&state) - 35, 50 * test_uniform(&state) - 25, i < 20 ? 0 : 2.44 } };
        see_own(&truth, s[i].point, s[i].pixel);
        s[i].pixel[0] += 0.1 * gauss(&state);
        s[i].pixel[1] += 0.1 * gauss(&state);
    }
    for (int t = 0; t < 50; t++) {
        tsr_pinhole start = truth;
        double r[3][3], axis[3] = { gauss(&state), gauss(&state), gauss(&state) };
        const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), turn = 5 * 0.017453292519943295 / length;
        turned(axis[0] * turn, axis[1] * turn, axis[2] * turn, r);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                start.rotation[i][k] = r[i][0] * truth.rotation[0][k] + r[i][1] * truth.rotation[1][k] + r[i][2] * truth.rotation[2][k];
        start.fx = start.fy = truth.fx * (t & 1 ? 1.1 : 0.9);
        for (int i = 0; i < 3; i++) start.translation[i] += 80 * 0.05 * gauss(&state) / 1.7;
        tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
        tsr_calibration *k;
        tsr_calibration_info info = TSR_CALIBRATION_INFO;
        o.free = TSR_FREE_FOCAL;
        o.use_pose = 1;
        o.huber = 2;
        require_ok(tsr_calibrate(s, 24, &start, 1, &o, &k));
        require_ok(tsr_calibration_get_info(k, &info));
        good += info.rms < 0.2;
        tsr_calibration_destroy(&k);
    }
    if (good < 48) fail_msg("%d of 50 starts led to the camera, expected at least 48", good);
}

/* Three points, few points, many, a plane, with lenses: the pose they were made from. */
static void closed_forms(void **unused)
{
    (void)unused;
    const int trials = test_is_slow() ? 40 : 300;
    uint64_t state = 3;
    int missed = 0;
    for (int t = 0; t < trials; t++) {
        tsr_pinhole truth = camera_of(t & 1), found;
        turned(gauss(&state), gauss(&state), gauss(&state), truth.rotation);
        truth.translation[0] = 0.3 * gauss(&state);
        truth.translation[2] = 4;
        tsr_vec3 p[12], ray[3];
        double pixel[12][2];
        for (int i = 0; i < 12; i++) {
            p[i] = (tsr_vec3){ 2 * test_uniform(&state) - 1, 2 * test_uniform(&state) - 1, t % 3 ? 2 * test_uniform(&state) - 1 : 0.25 };
            see_own(&truth, p[i], pixel[i]);
            if (i < 3) {
                double e[3];
                for (int k = 0; k < 3; k++)
                    e[k] = truth.rotation[k][0] * p[i].x + truth.rotation[k][1] * p[i].y + truth.rotation[k][2] * p[i].z + truth.translation[k];
                ray[i] = (tsr_vec3){ e[0], e[1], e[2] };
            }
        }
        tsr_pose pose[4];
        int count, hit = 0;
        require_ok(tsr_pose_from_three(p, ray, pose, &count));
        assert_in_range(count, 0, 4);
        for (int k = 0; k < count; k++) {
            double off = 0;
            for (int i = 0; i < 9; i++) off = fmax(off, fabs(pose[k].rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]));
            hit |= off < 1e-5;
        }
        missed += !hit;
        static const int counts[4] = { 12, 7, 6, 5 };
        found = truth;
        memset(found.rotation, 0, sizeof found.rotation);
        require_ok(tsr_pose_from_points(&found, p, (const double(*)[2])pixel, counts[t & 3]));
        double off = 0;
        for (int i = 0; i < 9; i++) off = fmax(off, fabs(found.rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]));
        if (!(off < 1e-6)) fail_msg("trial %d: rotation off by %.3g from %d points", t, off, counts[t & 3]);
    }
    /* double solutions that meet are known to no better than their root */
    if (missed > trials / 50) fail_msg("%d of %d triples without their pose", missed, trials);
}

static void planes(void **unused)
{
    (void)unused;
    tsr_pinhole truth = camera_of(0), found;
    memset(truth.k, 0, sizeof truth.k);
    memset(truth.p, 0, sizeof truth.p);
    truth.fy = truth.fx;
    turned(0.5, -0.4, 0.2, truth.rotation);
    truth.translation[2] = 3;
    double plane[5][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 }, { 0.2, 0.1 } }, pixel[5][2], h[3][3];
    for (int i = 0; i < 5; i++) see_own(&truth, (tsr_vec3){ plane[i][0], plane[i][1], 0 }, pixel[i]);
    require_ok(tsr_homography_fit((const double(*)[2])plane, (const double(*)[2])pixel, 5, h));
    for (int i = 0; i < 3; i++) { /* H ~ K [r1 r2 t] */
        const double row[3] = { truth.rotation[i][0], truth.rotation[i][1], truth.translation[i] },
                     z[3] = { truth.rotation[2][0], truth.rotation[2][1], 3 };
        for (int k = 0; k < 3; k++) {
            const double expected = (i == 0 ? truth.fx * row[k] + truth.cx * z[k] : i == 1 ? truth.fy * row[k] + truth.cy * z[k] : z[k]) / 3;
            assert_true(fabs(h[i][k] - expected) < 1e-8 * fmax(1, fabs(expected)));
        }
    }
    found = truth;
    memset(found.rotation, 0, sizeof found.rotation);
    require_ok(tsr_pose_from_homography((const double(*)[3])h, &found));
    for (int i = 0; i < 9; i++) assert_true(fabs(found.rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]) < 1e-9);
    assert_true(fabs(found.translation[2] - 3) < 1e-8);
    double vx[2], vy[2];
    for (int i = 0; i < 2; i++) {
        const double c = i ? truth.cy : truth.cx;
        vx[i] = truth.fx * truth.rotation[i][0] / truth.rotation[2][0] + c;
        vy[i] = truth.fx * truth.rotation[i][1] / truth.rotation[2][1] + c;
    }
    found.fx = found.fy = 0;
    require_ok(tsr_pose_from_vanishing(vx, vy, &found));
    assert_true(fabs(found.fx - truth.fx) < 1e-8);
    for (int k = 0; k < 2; k++) /* a vanishing point has no sign */
        for (int i = 0; i < 3; i++) assert_true(fabs(fabs(found.rotation[i][k]) - fabs(truth.rotation[i][k])) < 1e-9);
    vy[0] = vx[0];
    vy[1] = vx[1];
    assert_int_equal(tsr_pose_from_vanishing(vx, vy, &found), TSR_ERROR_ARGUMENT);
    for (int i = 0; i < 5; i++) plane[i][1] = 2 * plane[i][0];
    assert_int_equal(tsr_homography_fit((const double(*)[2])plane, (const double(*)[2])pixel, 5, h), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_homography_fit((const double(*)[2])plane, (const double(*)[2])pixel, 3, h), TSR_ERROR_ARGUMENT);
}

enum { COLUMNS = 9, ROWS = 6, VIEWS = 12 };

/* Boards held before `cameras` cameras; the first camera is the origin. */
static int64_t show_boards(tsr_pinhole *camera, int cameras, int views, double noise, uint64_t *state, tsr_sighting *s)
{
    int64_t n = 0;
    for (int v = 0; v < views; v++) {
        double r[3][3];
        const double t[3] = { -4 + 2 * test_uniform(state) - 1, -2.5 + 2 * test_uniform(state) - 1, 11 + 6 * test_uniform(state) };
        turned(0.45 * gauss(state), 0.45 * gauss(state), 0.3 * gauss(state), r);
        for (int c = 0; c < cameras; c++)
            for (int i = 0; i < COLUMNS * ROWS; i++) {
                const double x = i % COLUMNS, y = (double)(i / COLUMNS);
                tsr_vec3 p = { r[0][0] * x + r[0][1] * y + t[0], r[1][0] * x + r[1][1] * y + t[1], r[2][0] * x + r[2][1] * y + t[2] };
                s[n] = (tsr_sighting){ .camera = c, .pose = v, .point = { x, y, 0 } };
                see_own(&camera[c], p, s[n].pixel);
                s[n].pixel[0] += noise * gauss(state);
                s[n++].pixel[1] += noise * gauss(state);
            }
    }
    return n;
}

/* One camera, both lenses, nothing known: Brown and fish-eye come back; a rig of three comes back with its places. */
static void boards_and_rigs(void **unused)
{
    (void)unused;
    static tsr_sighting s[VIEWS * 3 * COLUMNS * ROWS];
    uint64_t state = 99;
    for (int fisheye = 0; fisheye < 2; fisheye++) {
        for (int cameras = 1; cameras <= 3; cameras += 2) {
            tsr_pinhole truth[3], start[3];
            for (int c = 0; c < cameras; c++) {
                truth[c] = camera_of(fisheye);
                truth[c].fx += 5 * c;
                turned(1e-9, c == 0 ? 0 : 0.1 * c, 0.02 * c, truth[c].rotation);
                truth[c].translation[0] = -1.5 * c;
                start[c] = (tsr_pinhole){ .width = 640, .height = 480, .fisheye = fisheye };
            }
            const int64_t n = show_boards(truth, cameras, VIEWS, 0, &state, s);
            tsr_calibration *k;
            tsr_calibration_info info = TSR_CALIBRATION_INFO;
            require_ok(tsr_calibrate(s, n, start, cameras, NULL, &k));
            require_ok(tsr_calibration_get_info(k, &info));
            if (!(info.rms < 1e-6)) fail_msg("fish-eye %d, %d cameras: %.3g pixels", fisheye, cameras, info.rms);
            for (int c = 0; c < cameras; c++) {
                tsr_pinhole found;
                tsr_calibration_sigma sigma;
                double rms;
                require_ok(tsr_calibration_camera(k, c, &found, &sigma, &rms));
                assert_true(fabs(found.fx - truth[c].fx) < 1e-3 && fabs(found.k[0] - truth[c].k[0]) < 1e-4 && fabs(found.cx - truth[c].cx) < 1e-3);
                for (int i = 0; i < 3; i++) assert_true(fabs(found.translation[i] - truth[c].translation[i]) < 1e-4);
                assert_true(rms < 1e-6);
            }
            assert_null(tsr_calibration_warning(k, 0));
            tsr_calibration_destroy(&k);
            /* the same with noise: the parameters lie within five of their standard deviations, and the noise is found */
            const int64_t m = show_boards(truth, cameras, VIEWS, 0.2, &state, s);
            require_ok(tsr_calibrate(s, m, start, cameras, NULL, &k));
            require_ok(tsr_calibration_get_info(k, &info));
            assert_true(fabs(info.sigma - 0.2) < 0.02);
            for (int c = 0; c < cameras; c++) {
                tsr_pinhole found;
                tsr_calibration_sigma sigma;
                require_ok(tsr_calibration_camera(k, c, &found, &sigma, NULL));
                assert_true(sigma.fx > 0 && fabs(found.fx - truth[c].fx) < 5 * sigma.fx && fabs(found.cy - truth[c].cy) < 5 * sigma.cy);
                if (c) assert_true(sigma.translation[0] > 0 && fabs(found.translation[0] - truth[c].translation[0]) < 5 * sigma.translation[0]);
            }
            tsr_calibration_destroy(&k);
        }
    }
    /* a tenth of the corners far off: least squares is lost, Huber is not */
    tsr_pinhole truth = camera_of(0), start = { .width = 640, .height = 480 }, found;
    turned(1e-9, 0, 0, truth.rotation);
    const int64_t n = show_boards(&truth, 1, VIEWS, 0.1, &state, s);
    for (int64_t i = 0; i < n; i += 10) s[i].pixel[0] += 15;
    tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
    tsr_calibration *k;
    o.free = TSR_FREE_FOCAL | TSR_FREE_ASPECT | TSR_FREE_CENTRE | TSR_FREE_K1 | TSR_FREE_K2 | TSR_FREE_TANGENTIAL;
    o.huber = 0.3;
    require_ok(tsr_calibrate(s, n, &start, 1, &o, &k));
    require_ok(tsr_calibration_camera(k, 0, &found, NULL, NULL));
    if (!(fabs(found.fx - truth.fx) < 3)) fail_msg("focal length %.3f with outliers, expected %.3f", found.fx, truth.fx);
    tsr_calibration_destroy(&k);
}

static void expect_error(const tsr_sighting *s, int64_t n, const tsr_pinhole *c, int32_t cameras, const tsr_calibrate_options *o, const char *words)
{
    tsr_calibration *k = (tsr_calibration *)&k;
    assert_int_equal(tsr_calibrate(s, n, c, cameras, o, &k), TSR_ERROR_ARGUMENT);
    assert_null(k);
    if (!strstr(tsr_error_message(), words)) fail_msg("\"%s\" does not say \"%s\"", tsr_error_message(), words);
}

static void what_cannot_be_known(void **unused)
{
    (void)unused;
    tsr_sighting s[64];
    tsr_pinhole truth = camera_of(0), c = { .width = 640, .height = 480 };
    memset(truth.k, 0, sizeof truth.k);
    memset(truth.p, 0, sizeof truth.p);
    truth.fy = truth.fx;
    truth.cx = 320;
    truth.cy = 240;
    turned(1e-9, 0, 0, truth.rotation);
    truth.translation[2] = 5;
    /* a plane seen head-on: focal length against distance */
    for (int i = 0; i < 64; i++) {
        s[i] = (tsr_sighting){ .point = { 0.4 * (i % 8 - 3.5), 0.4 * ((double)(i / 8) - 3.5), 0 } };
        see_own(&truth, s[i].point, s[i].pixel);
    }
    tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
    tsr_calibration *k;
    tsr_calibration_info info = TSR_CALIBRATION_INFO;
    tsr_calibration_sigma sigma;
    tsr_pinhole found;
    o.free = TSR_FREE_FOCAL;
    o.sigma = 0.5;
    require_ok(tsr_calibrate(s, 64, &c, 1, &o, &k));
    require_ok(tsr_calibration_get_info(k, &info));
    require_ok(tsr_calibration_camera(k, 0, &found, &sigma, NULL));
    if (!(info.condition > 1e6)) fail_msg("condition number %.3g", info.condition);
    assert_true(info.warnings >= 1 && tsr_calibration_warning(k, 0));
    if (!strstr(tsr_calibration_warning(k, 0), "fx cannot be told from")) fail_msg("%s", tsr_calibration_warning(k, 0));
    assert_true(!(sigma.fx < 1e3));
    tsr_calibration_destroy(&k);
    /* points on a line, too few, none */
    for (int i = 0; i < 64; i++) s[i].point.y = s[i].point.x;
    expect_error(s, 64, &c, 1, &o, "lie on a line");
    expect_error(s, 0, &c, 1, &o, "no sightings");
    expect_error(s, 3, &c, 1, &o, "3 points seen give 6 equations for 7 unknowns");
    expect_error(NULL, 4, &c, 1, &o, "NULL");
    s[1].camera = 2;
    expect_error(s, 64, &c, 1, &o, "camera 2");
    s[1].camera = 0;
    s[1].pixel[0] = NAN;
    expect_error(s, 64, &c, 1, &o, "not finite");
    s[1].pixel[0] = 0;
    c.width = 0;
    expect_error(s, 64, &c, 1, &o, "size");
    c.width = 640;
    o.free = TSR_FREE_POSE_ONLY;
    expect_error(s, 64, &c, 1, &o, "only its pose is free");
    o.huber = NAN;
    expect_error(s, 64, &c, 1, &o, "huber");
    /* two cameras that never see the same board */
    static tsr_sighting two[4 * COLUMNS * ROWS * 2];
    uint64_t state = 4;
    tsr_pinhole pair[2] = { c, c };
    memset(truth.translation, 0, sizeof truth.translation);
    int64_t n = show_boards(&truth, 1, 8, 0, &state, two);
    for (int64_t i = n / 2; i < n; i++) two[i].camera = 1;
    expect_error(two, n, pair, 2, NULL, "shares no pose");
    tsr_vec3 line[4] = { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 2, 2 }, { 4, 4, 4 } };
    double pixel[4][2] = { { 0 } };
    tsr_pose pose[4];
    int count;
    assert_int_equal(tsr_pose_from_three(line, line + 1, pose, &count), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_pose_from_points(&truth, line, (const double(*)[2])pixel, 4), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_pose_from_points(&truth, line, (const double(*)[2])pixel, 2), TSR_ERROR_ARGUMENT);
}

/* A picture of boards through a lens: each pixel is the mean of `fine` places spread over two pixels' width, the blur of a camera. */
static void draw(const tsr_pinhole *c, const double (*at)[3], int boards, double black, int mirrored, int fine, tsr_image *image)
{
    tsr_camera camera;
    require_ok(tsr_camera_from_pinhole(c, &camera));
    require_ok(tsr_image_create(c->width, c->height, 1, image));
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            double sum = 0;
            for (int k = 0; k < fine; k++) {
                const double pixel[2] = { x - 0.5 + 2 * ((7 * k) % fine + 0.5) / fine, y - 0.5 + 2 * (k + 0.5) / fine };
                tsr_vec3 o, d;
                if (tsr_camera_ray(&camera, c->width, c->height, pixel, &o, &d) != TSR_OK) { /* behind the lens's last radius */
                    sum += 120;
                    continue;
                }
                const double t = -o.z / d.z, px = o.x + t * d.x, py = o.y + t * d.y;
                double v = 120;
                for (int b = 0; b < boards; b++) {
                    const double bx = (px - at[b][0]) / at[b][2], by = (py - at[b][1]) / at[b][2];
                    if (bx < -1.6 || by < -1.6 || bx > COLUMNS + 0.6 || by > ROWS + 0.6) continue;
                    v = 220;
                    if (bx > -1 && by > -1 && bx < COLUMNS && by < ROWS) v = ((int)floor(bx) + (int)floor(by)) & 1 ? 220 : black;
                }
                sum += v;
            }
            image->pixels[(int64_t)y * c->width + (mirrored ? c->width - 1 - x : x)] = (uint8_t)(sum / fine + 0.5);
        }
}

static void boards_in_pictures(void **unused)
{
    (void)unused;
    const tsr_chessboard board = { COLUMNS, ROWS, 1 };
    double pixel[COLUMNS * ROWS][2];
    int found;
    tsr_image image;
    const double one[2][3] = { { 0, 0, 1 }, { 11, 0, 0.4 } };
    for (int turn = 0; turn < 4; turn++) {
        tsr_pinhole c = camera_of(turn == 3);
        c.p[0] = c.p[1] = 0;
        if (turn == 3) c.fy = c.fx;
        turned(0.3 * turn - 0.2, 0.35, 0.1 + 1.2 * turn, c.rotation); /* also on its side and upside down */
        for (int i = 0; i < 3; i++) c.translation[i] = (i == 2 ? (turn == 3 ? 6 : 14) : 0) - 4 * c.rotation[i][0] - 2.5 * c.rotation[i][1];
        draw(&c, one, turn == 1 ? 2 : 1, turn == 2 ? 185 : 20, 0, 20, &image);
        require_ok(tsr_chessboard_find(&image, &board, NULL, pixel, &found));
        if (!found) fail_msg("picture %d: no board", turn);
        double worst = 0, sum = 0;
        for (int i = 0; i < COLUMNS * ROWS; i++) {
            double expected[2];
            see_own(&c, (tsr_vec3){ i % COLUMNS, (double)(i / COLUMNS), 0 }, expected);
            const double off = hypot(pixel[i][0] - expected[0], pixel[i][1] - expected[1]);
            worst = fmax(worst, off);
            sum += off * off;
        }
        if (getenv("DBG"))
            for (int i = 0; i < COLUMNS * ROWS; i += 7) {
                double e[2];
                see_own(&c, (tsr_vec3){ i % COLUMNS, (double)(i / COLUMNS), 0 }, e);
                printf("%d: %.2f %.2f  %.3f %.3f\n", i, e[0], e[1], pixel[i][0] - e[0], pixel[i][1] - e[1]);
            }
        const double rms = sqrt(sum / (COLUMNS * ROWS));
        if (!(rms < 0.07 && worst < 0.2)) fail_msg("picture %d: corners off by %.3f pixels, one by %.3f", turn, rms, worst);
        if (turn == 0) { /* moved back from 2 pixels away; in its own picture no other board */
            double one_corner[1][2] = { { pixel[10][0] + 1.5, pixel[10][1] - 1 } };
            int64_t moved;
            require_ok(tsr_corners_refine(&image, 5, 1, one_corner, &moved));
            assert_true(moved == 1 && hypot(one_corner[0][0] - pixel[10][0], one_corner[0][1] - pixel[10][1]) < 0.1);
            const tsr_chessboard other = { COLUMNS, ROWS + 1, 1 };
            double more[COLUMNS * (ROWS + 1)][2];
            require_ok(tsr_chessboard_find(&image, &other, NULL, more, &found));
            assert_int_equal(found, 0);
            const tsr_chessboard part = { COLUMNS - 1, ROWS, 1 }; /* a part of a board is none */
            require_ok(tsr_chessboard_find(&image, &part, NULL, more, &found));
            assert_int_equal(found, 0);
        }
        tsr_image_destroy(&image);
    }
    /* mirrored: still right-handed in the picture, whatever the paper was; cut by the border: none; nothing: none */
    tsr_pinhole c = camera_of(0);
    memset(c.p, 0, sizeof c.p);
    turned(0.2, 0.1, 0.05, c.rotation);
    c.translation[2] = 14;
    c.translation[0] = -4;
    c.translation[1] = -2.5;
    draw(&c, one, 1, 20, 1, 6, &image);
    require_ok(tsr_chessboard_find(&image, &board, NULL, pixel, &found));
    assert_int_equal(found, 1);
    const double ax = pixel[1][0] - pixel[0][0], ay = pixel[1][1] - pixel[0][1], bx = pixel[COLUMNS][0] - pixel[0][0],
                 by = pixel[COLUMNS][1] - pixel[0][1];
    assert_true(ax * by - ay * bx > 0);
    tsr_image_destroy(&image);
    c.translation[0] = -10;
    draw(&c, one, 1, 20, 0, 6, &image);
    require_ok(tsr_chessboard_find(&image, &board, NULL, pixel, &found));
    assert_int_equal(found, 0);
    tsr_image_destroy(&image);
    require_ok(tsr_image_create(200, 100, 3, &image));
    require_ok(tsr_chessboard_find(&image, &board, NULL, pixel, &found));
    assert_int_equal(found, 0);
    tsr_image_destroy(&image);
    require_ok(tsr_image_create(1, 1, 1, &image));
    require_ok(tsr_chessboard_find(&image, &board, NULL, pixel, &found));
    assert_int_equal(found, 0);
    assert_int_equal(tsr_chessboard_find(&image, &(tsr_chessboard){ 2, 6, 1 }, NULL, pixel, &found), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_chessboard_find(NULL, &board, NULL, pixel, &found), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_corners_refine(&image, 0, 1, pixel, NULL), TSR_ERROR_ARGUMENT);
    tsr_image_destroy(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),     cmocka_unit_test(exact_points),         cmocka_unit_test(claimed_errors),
        cmocka_unit_test(recovery),        cmocka_unit_test(closed_forms),         cmocka_unit_test(planes),
        cmocka_unit_test(boards_and_rigs), cmocka_unit_test(what_cannot_be_known), cmocka_unit_test(boards_in_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
