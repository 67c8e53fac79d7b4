/* Lenses against closed forms (lines become circles), their own inverses, a bilinear sampler written here, and boards whose distortion is known. */
#include <math.h>

#include "support.h"

static tsr_volume *upload(tsr_context *context, const void *bytes, int64_t wide, int64_t high)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ wide, high, 1 }, NULL, (void *)(uintptr_t)bytes, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static void inverse(void **unused)
{
    uint64_t state = test_seed();
    (void)unused;
    for (int n = 0; n < 4000; n++) {
        tsr_lens l = { .model = n % 2 ? TSR_LENS_POLY : TSR_LENS_DIVISION, .k1 = 0.2 * test_uniform(&state) - 0.1 };
        l.shift[0] = 0.1 * test_uniform(&state) - 0.05;
        l.shift[1] = 0.1 * test_uniform(&state) - 0.05;
        if (l.model == TSR_LENS_POLY) {
            l.k2 = 0.02 * test_uniform(&state) - 0.01;
            l.k3 = 0.004 * test_uniform(&state) - 0.002;
            l.p1 = 0.02 * test_uniform(&state) - 0.01;
            l.p2 = 0.02 * test_uniform(&state) - 0.01;
        }
        const double p[2] = { 640 * test_uniform(&state), 480 * test_uniform(&state) };
        double d[2], u[2];
        require_ok(tsr_lens_distort(&l, 640, 480, p, d));
        require_ok(tsr_lens_undistort(&l, 640, 480, d, u));
        assert_true(fabs(u[0] - p[0]) < 1e-9 && fabs(u[1] - p[1]) < 1e-9);
    }
}

/* The definitions: division and Brown-Conrady. */
static void definitions(void **unused)
{
    (void)unused;
    const tsr_lens division = { .k1 = 0.1 }, poly = { .model = TSR_LENS_POLY, .k1 = 0.1, .k2 = -0.02, .k3 = 0.003, .p1 = 0.01, .p2 = -0.004 };
    double p[2];
    require_ok(tsr_lens_undistort(&division, 200, 100, (const double[]){ 100 + 60, 50 + 30 }, p)); /* (0.6, 0.3): r^2 = 0.45 */
    assert_true(fabs(p[0] - (100 + 60 / 1.045)) < 1e-12 && fabs(p[1] - (50 + 30 / 1.045)) < 1e-12);
    require_ok(tsr_lens_distort(&poly, 200, 100, (const double[]){ 160, 80 }, p));
    const double r2 = 0.45, radial = 1 + 0.1 * r2 - 0.02 * r2 * r2 + 0.003 * r2 * r2 * r2;
    const double x = 0.6 * radial + 2 * 0.01 * 0.18 + -0.004 * (r2 + 2 * 0.36), y = 0.3 * radial + 0.01 * (r2 + 2 * 0.09) + 2 * -0.004 * 0.18;
    assert_true(fabs(p[0] - (100 + 100 * x)) < 1e-12 && fabs(p[1] - (50 + 100 * y)) < 1e-12);
    assert_true(fabs(tsr_lens_convert_k1(0.2, TSR_LENS_HALF_DIAGONAL, TSR_LENS_HALF_WIDTH, 300, 300) - 0.1) < 1e-15);
    assert_true(fabs(tsr_lens_convert_k1(1e-5, TSR_LENS_PIXEL, TSR_LENS_HALF_WIDTH, 200, 100) - 0.1) < 1e-12);
    const tsr_lens gimp = tsr_lens_gimp(40, 0, 512, 512);
    assert_true(fabs(gimp.k1 + 0.1) < 1e-15 && gimp.model == TSR_LENS_POLY);
}

/* Under the division model the line a x + b y + c = 0 is seen as the circle k c (x^2 + y^2) + a x + b y + c = 0. */
static void lines_are_circles(void **unused)
{
    uint64_t state = test_seed();
    (void)unused;
    for (int n = 0; n < 2000; n++) {
        const double angle = 6.283185307 * test_uniform(&state), a = cos(angle), b = sin(angle), c = 1.2 * test_uniform(&state) - 0.6;
        const tsr_lens l = { .k1 = 0.2 * test_uniform(&state) - 0.1 };
        const double t = 1.6 * test_uniform(&state) - 0.8, u[2] = { -a * c - b * t, -b * c + a * t };
        double d[2];
        require_ok(tsr_lens_distort(&l, 512, 512, (const double[]){ 256 + 256 * u[0], 256 + 256 * u[1] }, d));
        const double x = d[0] / 256 - 1, y = d[1] / 256 - 1;
        assert_true(fabs(l.k1 * c * (x * x + y * y) + a * x + b * y + c) < 1e-12);
    }
}

static void identity(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int channels = 1; channels <= 4; channels++)
        for (int sampling = 0; sampling < 3; sampling++) {
            enum { W = 61, H = 37 };
            uint8_t bytes[W * H * 4];
            tsr_volume *warped, *mask, *host, *host_mask;
            tsr_lens_warp_options o = TSR_LENS_WARP_OPTIONS;
            const tsr_lens none = { .model = channels % 2 ? TSR_LENS_POLY : TSR_LENS_DIVISION, .shift = { 0.0123, -0.031 } };
            for (int i = 0; i < W * H * channels; i++) bytes[i] = (uint8_t)(test_random(&state) >> 30);
            tsr_volume *frames = upload(context, bytes, W * channels, H);
            o.channels = channels;
            o.sampling = (tsr_lens_sampling)sampling;
            o.add = channels > 2;
            require_ok(tsr_lens_warp(context, frames, &none, &o, &warped, &mask));
            require_ok(tsr_volume_copy(warped, NULL, &host));
            require_ok(tsr_volume_copy(mask, NULL, &host_mask));
            assert_memory_equal(tsr_volume_data(host), bytes, (size_t)(W * H * channels));
            for (int i = 0; i < W * H; i++) assert_int_equal(((const uint8_t *)tsr_volume_data(host_mask))[i], 1);
            tsr_volume_destroy(&host_mask);
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&mask);
            tsr_volume_destroy(&warped);
            tsr_volume_destroy(&frames);
        }
    tsr_context_destroy(&context);
}

/* Where a point without (add: with) the distortion lies with it (without), by the definitions in float64, nothing of the library: the root of a quadratic
 * equation, or Newton's method by differences. In units of half the width from the middle; 0: nowhere. */
static void with_polynomial(const tsr_lens *l, const double u[2], double d[2])
{
    const double r2 = u[0] * u[0] + u[1] * u[1], radial = 1 + l->k1 * r2 + l->k2 * r2 * r2 + l->k3 * r2 * r2 * r2;
    d[0] = u[0] * radial + 2 * l->p1 * u[0] * u[1] + l->p2 * (r2 + 2 * u[0] * u[0]);
    d[1] = u[1] * radial + l->p1 * (r2 + 2 * u[1] * u[1]) + 2 * l->p2 * u[0] * u[1];
}
static int place_of(const tsr_lens *l, int add, const double from[2], double to[2])
{
    const double r2 = from[0] * from[0] + from[1] * from[1];
    if (l->model == TSR_LENS_DIVISION) {
        const double root = 1 - 4 * l->k1 * r2, factor = add ? 1 / (1 + l->k1 * r2) : 2 / (1 + sqrt(root));
        for (int c = 0; c < 2; c++) to[c] = from[c] * factor;
        return add ? 1 + l->k1 * r2 > 0 : root >= 0;
    }
    if (!add) {
        with_polynomial(l, from, to);
        return 1;
    }
    memcpy(to, from, 2 * sizeof *to);
    for (int n = 0; n < 30; n++) {
        double f[2], fx[2], fy[2];
        const double h = 1e-6;
        with_polynomial(l, to, f);
        with_polynomial(l, (const double[]){ to[0] + h, to[1] }, fx);
        with_polynomial(l, (const double[]){ to[0], to[1] + h }, fy);
        const double a = (fx[0] - f[0]) / h, b = (fy[0] - f[0]) / h, c = (fx[1] - f[1]) / h, e = (fy[1] - f[1]) / h;
        const double p = f[0] - from[0], q = f[1] - from[1], det = a * e - b * c;
        to[0] -= (e * p - b * q) / det;
        to[1] -= (a * q - c * p) / det;
    }
    return 1;
}

/* A sample in float64: bilinear by areas, Catmull-Rom by its four points' tangents (Hermite's form) with the border repeated, the nearest. */
static double hermite(const double v[4], double t)
{
    const double m1 = (v[2] - v[0]) / 2, m2 = (v[3] - v[1]) / 2, s = 1 - t;
    return v[1] * (1 + 2 * t) * s * s + m1 * t * s * s + v[2] * t * t * (3 - 2 * t) - m2 * t * t * s;
}
static double sampled(const uint8_t *p, int width, int height, int channels, int channel, const double at[2], tsr_lens_sampling sampling)
{
    const int x = (int)floor(at[0]), y = (int)floor(at[1]);
    const double fx = at[0] - x, fy = at[1] - y;
    double v[4][4], column[4];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            const int px = x + i - 1, py = y + j - 1,
                      qx = px < 0        ? 0
                           : px >= width ? width - 1
                                         : px,
                      qy = py < 0         ? 0
                           : py >= height ? height - 1
                                          : py;
            v[j][i] = p[(qy * width + qx) * channels + channel];
        }
    if (sampling == TSR_LENS_NEAREST) return v[1 + (fy >= 0.5)][1 + (fx >= 0.5)];
    if (sampling == TSR_LENS_BILINEAR) return (1 - fy) * ((1 - fx) * v[1][1] + fx * v[1][2]) + fy * ((1 - fx) * v[2][1] + fx * v[2][2]);
    for (int j = 0; j < 4; j++) column[j] = hermite(v[j], fx);
    return fmin(255, fmax(0, hermite(column, fy)));
}

/* Every pixel where the definition says, of both models and both directions, each way to sample, each number of channels; what lies beyond is masked. */
static void warps(void **unused)
{
    enum { W = 90, H = 70 };
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    static uint8_t bytes[W * H * 4];
    int64_t beyond = 0, seen[3] = { 0 };
    for (int i = 0; i < W * H * 4; i++) bytes[i] = (uint8_t)(test_random(&state) >> 30);
    for (int n = 0; n < 48; n++) {
        const int poly = n / 2 % 2, channels = 1 + n / 12;
        if (test_is_slow() && n % 5) continue;
        tsr_lens l = { .model = poly ? TSR_LENS_POLY : TSR_LENS_DIVISION, .k1 = n % 2 ? -0.12 : 0.09, .shift = { 0.02, 0.01 } };
        if (poly) l.k2 = -0.01, l.k3 = 0.004, l.p1 = 0.008, l.p2 = -0.006;
        tsr_volume *frames = upload(context, bytes, W * channels, H), *warped, *mask, *host, *host_mask;
        tsr_lens_warp_options o = TSR_LENS_WARP_OPTIONS;
        o.sampling = (tsr_lens_sampling)(n / 4 % 3);
        o.channels = channels;
        o.add = n / 7 % 2;
        o.scale = n % 3 == 2 ? 1.3 : 0;
        require_ok(tsr_lens_warp(context, frames, &l, &o, &warped, &mask));
        require_ok(tsr_volume_copy(warped, NULL, &host));
        require_ok(tsr_volume_copy(mask, NULL, &host_mask));
        const uint8_t *got = tsr_volume_data(host), *known = tsr_volume_data(host_mask);
        for (int i = 0; i < W * H; i++) {
            const double cx = W / 2.0 * (1 + l.shift[0]), cy = H / 2.0 + W / 2.0 * l.shift[1], scale = n % 3 == 2 ? 1.3 : 1;
            const double p[2] = { (i % W + 0.5 - cx) * scale / (W / 2.0), (i / W + 0.5 - cy) * scale / (W / 2.0) };
            double q[2];
            const int is = place_of(&l, o.add, p, q);
            q[0] = cx + q[0] * (W / 2.0) - 0.5;
            q[1] = cy + q[1] * (W / 2.0) - 0.5;
            const double border = is ? fmin(fmin(q[0], W - 1 - q[0]), fmin(q[1], H - 1 - q[1])) : -1;
            if (fabs(border) < 1e-6) continue;
            assert_int_equal(known[i], border > 0);
            beyond += border < 0;
            const double tie = fmin(fabs(q[0] - floor(q[0]) - 0.5), fabs(q[1] - floor(q[1]) - 0.5)); /* the nearest is not one there */
            for (int c = 0; c < channels && !(o.sampling == TSR_LENS_NEAREST && tie < 1e-6); c++) {
                const double v = border > 0 ? sampled(bytes, W, H, channels, c, q, o.sampling) : 0;
                if (fabs(got[i * channels + c] - v) > (o.sampling == TSR_LENS_NEAREST ? 0 : 0.502))
                    fail_msg("case %d, pixel (%d, %d), channel %d is %d, expected %.3f", n, i % W, i / W, c, got[i * channels + c], v);
                seen[o.sampling] += border > 0;
            }
        }
        tsr_volume_destroy(&host_mask);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&mask);
        tsr_volume_destroy(&warped);
        tsr_volume_destroy(&frames);
    }
    assert_true(beyond > 1000 && seen[0] > 1000 && seen[1] > 1000 && seen[2] > 1000);
    tsr_context_destroy(&context);
}

/* ---- search --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_volume *board(tsr_context *context, int32_t size, double square, double degrees, tsr_lens lens)
{
    tsr_board_options o = TSR_BOARD_OPTIONS;
    tsr_image image;
    tsr_volume *volume;
    o.width = o.height = size;
    o.square = square;
    o.degrees = degrees;
    o.noise = 3;
    o.seed = 7;
    o.lens = lens;
    require_ok(tsr_board_make(&o, &image));
    require_ok(tsr_frames_upload(context, &image, 1, &volume));
    tsr_image_destroy(&image);
    return volume;
}

static void finds_k(void **unused)
{
    static const double cases[][2] = { { 0, -0.085 }, { 20, 0.05 }, { 33, -0.05 }, { 33, 0.085 } };
    tsr_context *context = test_context();
    (void)unused;
    const int slow = test_is_slow();
    for (int n = 0; n < (slow ? 1 : 4); n++) {
        tsr_volume *image = board(context, slow ? 200 : n ? 320 : 360, n || slow ? 32 : 48, cases[n][0], (tsr_lens){ .k1 = cases[n][1] });
        tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
        tsr_lens_found found;
        o.lower = -0.12;
        o.upper = 0.12;
        o.step = slow ? 0.02 : 0.01;
        o.no_refinement = slow;
        require_ok(tsr_lens_search(context, image, &o, &found));
        print_message("board at %g degrees, k %g: found %.5f, peak %.3f\n", cases[n][0], cases[n][1], found.lens.k1, found.peak);
        assert_true(fabs(found.lens.k1 - cases[n][1]) < (slow ? 0.0151 : 0.01));
        assert_true(found.peak > 1.05 && !found.at_edge);
        tsr_lens_found_destroy(&found);
        if (!n && !slow) { /* the best lies outside */
            o.lower = -0.05;
            require_ok(tsr_lens_search(context, image, &o, &found));
            assert_true(found.lens.k1 >= -0.05 && found.lens.k1 <= -0.04 && found.at_edge);
            tsr_lens_found_destroy(&found);
        }
        tsr_volume_destroy(&image);
    }
    tsr_context_destroy(&context);
}

static void finds_the_centre(void **unused)
{
    (void)unused;
    if (test_is_slow()) return;
    tsr_context *context = test_context();
    const tsr_lens lens = { .k1 = -0.1, .shift = { 0.07, -0.05 } };
    tsr_volume *image = board(context, 256, 32, 15, lens);
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    o.lower = -0.14;
    o.upper = -0.06;
    o.step = 0.02;
    o.centre = 1;
    o.bins = 180;
    require_ok(tsr_lens_search(context, image, &o, &found));
    print_message("centre %.4f %.4f, k %.4f\n", found.lens.shift[0], found.lens.shift[1], found.lens.k1);
    assert_true(fabs(found.lens.shift[0] - 0.07) < 0.03 && fabs(found.lens.shift[1] + 0.05) < 0.03 && fabs(found.lens.k1 + 0.1) < 0.01);
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Two coefficients at once. Along k1 + 1.8 k2 = constant the score hardly changes, so that the lens itself is asked for: the mean
 * distance of points of the found lens from those of the true one, in pixels. */
static void finds_k2(void **unused)
{
    (void)unused;
    if (test_is_slow()) return;
    tsr_context *context = test_context();
    const tsr_lens lens = { .model = TSR_LENS_POLY, .k1 = -0.16, .k2 = 0.06 };
    tsr_volume *image = board(context, 256, 32, 15, lens);
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    double apart[2] = { 0, 0 };
    o.lower = -0.2;
    o.upper = 0;
    o.step = 0.02;
    o.bins = 180;
    o.lens.model = TSR_LENS_POLY;
    for (int quartic = 0; quartic < 2; quartic++) {
        o.quartic = quartic;
        require_ok(tsr_lens_search(context, image, &o, &found));
        print_message("k1 %.4f k2 %.4f score %.5f\n", found.lens.k1, found.lens.k2, found.score);
        for (int i = 0; i < 100; i++) {
            const double at[2] = { 20 + 24.0 * (i % 10), 20 + 24.0 * (i / 10) };
            double one[2], two[2];
            require_ok(tsr_lens_distort(&lens, 256, 256, at, one));
            require_ok(tsr_lens_distort(&found.lens, 256, 256, at, two));
            apart[quartic] += hypot(one[0] - two[0], one[1] - two[1]) / 100;
        }
        if (quartic) assert_true(fabs(found.lens.k2 - 0.06) < 0.03 && fabs(found.lens.k1 + 0.16) < 0.03);
        tsr_lens_found_destroy(&found);
    }
    print_message("apart %.3f with k1, %.3f with k1 and k2 pixels\n", apart[0], apart[1]);
    assert_true(apart[1] < 0.6 && apart[1] < 0.7 * apart[0]);
    o.lens.model = TSR_LENS_DIVISION;
    require_error(tsr_lens_search(context, image, &o, &found), TSR_ERROR_ARGUMENT, "expected model poly");
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* The first publication's filters see both families of edges of an upright board at 45 and 135 degrees, one of them at 0 and 90. */
static void source_pattern(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    tsr_volume *image = board(context, 160, 32, 0, (tsr_lens){ 0 });
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    o.criterion = TSR_LENS_SOURCE;
    o.step = 0.01;
    o.no_refinement = 1;
    require_ok(tsr_lens_search(context, image, &o, &found));
    assert_int_equal(found.candidates, 1);
    assert_int_equal(found.bins, 16);
    /* the least at 0 and at 90 degrees, the most at 45 and at 135, each of the four; between them it rises and falls */
    const uint64_t *h = found.histogram;
    for (int b = 0; b < 16; b++) { /* nothing below the two, nothing above the other two; from each it falls to the next least */
        assert_true(h[b] >= h[0] * 0.98 && h[b] >= h[8] * 0.98 && h[b] <= h[4] * 1.02 && h[b] <= h[12] * 1.02);
        const int up = b % 8 < 4;
        assert_true(up ? h[(b + 1) % 16] >= h[b] * 0.98 : h[(b + 1) % 16] <= h[b] * 1.02);
    }
    for (int b = 0; b < 16; b += 8) assert_true(h[b + 4] > h[b] * 1.7); /* 1.84 */
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Votes of one candidate against a float64 convolution of the image itself. */
static void votes(void **unused)
{
    enum { N = 72 };
    tsr_context *context = test_context();
    (void)unused;
    tsr_volume *image = board(context, N, 20, 27, (tsr_lens){ 0 }), *host;
    require_ok(tsr_volume_copy(image, NULL, &host));
    const uint8_t *p = tsr_volume_data(host);
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    o.step = 1;
    o.no_refinement = 1;
    o.bins = 30;
    o.margin = -1;
    o.threshold = 10;
    o.lower = o.upper = 0; /* one candidate: no distortion */
    require_ok(tsr_lens_search(context, image, &o, &found));
    double expected[30] = { 0 }, total = 0, weight[7], sum = 0, moment = 0;
    for (int t = 0; t < 7; t++) {
        weight[t] = exp(-0.5 * (t - 3) * (t - 3));
        sum += weight[t];
        moment += weight[t] * (t - 3) * (t - 3);
    }
    for (int y = 3; y < N - 3; y++)
        for (int x = 3; x < N - 3; x++) {
            double gx = 0, gy = 0;
            for (int j = 0; j < 7; j++)
                for (int i = 0; i < 7; i++) {
                    const double v = p[(y + j - 3) * N + x + i - 3];
                    gx += v * weight[i] * (i - 3) / moment * weight[j] / sum;
                    gy += v * weight[j] * (j - 3) / moment * weight[i] / sum;
                }
            const double angle = fmod(atan2(gy, gx) + 2 * acos(-1.0), acos(-1.0));
            if (hypot(gx, gy) < 10) continue;
            expected[(int)(angle / acos(-1.0) * 30) % 30] += hypot(gx, gy) * 16;
            total += hypot(gx, gy) * 16;
        }
    for (int b = 0; b < 30; b++) assert_true(fabs(expected[b] - (double)found.histogram[b]) < 2e-3 * total);
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void margin_has_no_effect(void **unused)
{
    (void)unused;
    if (test_is_slow()) return;
    tsr_context *context = test_context();
    tsr_volume *image = board(context, 320, 32, 20, (tsr_lens){ .k1 = -0.06 });
    double k[2];
    for (int n = 0; n < 2; n++) {
        tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
        tsr_lens_found found;
        o.lower = -0.1;
        o.upper = 0;
        o.step = 0.01;
        o.margin = n ? 14 : -1;
        require_ok(tsr_lens_search(context, image, &o, &found));
        k[n] = found.lens.k1;
        tsr_lens_found_destroy(&found);
    }
    assert_true(fabs(k[0] - k[1]) < 0.004);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void errors(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    double p[2];
    const tsr_lens strong = { .k1 = 1 }, weak = { .k1 = -1 }, bad = { .k1 = (double)NAN }, mixed = { .k1 = 0.1, .k2 = 0.1 };
    require_error(tsr_lens_distort(&strong, 100, 100, (const double[]){ 0, 50 }, p), TSR_ERROR_ARGUMENT, "expected at most 0.5");
    require_error(tsr_lens_undistort(&weak, 100, 100, (const double[]){ 0, 0 }, p), TSR_ERROR_ARGUMENT, "expected less than 1");
    require_error(tsr_lens_distort(&bad, 100, 100, (const double[]){ 0, 0 }, p), TSR_ERROR_ARGUMENT, "k1 of the lens is nan");
    require_error(tsr_lens_distort(&mixed, 100, 100, (const double[]){ 0, 0 }, p), TSR_ERROR_ARGUMENT, "the division model has k1 alone");
    require_error(tsr_lens_distort(&strong, 0, 100, (const double[]){ 0, 0 }, p), TSR_ERROR_ARGUMENT, "image of 0 x 100");
    static uint8_t flat[64 * 64];
    tsr_volume *image = upload(context, flat, 64, 64), *warped;
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    require_error(tsr_lens_search(context, image, &o, &found), TSR_ERROR_STATE, "the distortion cannot be determined");
    assert_null(found.candidate);
#define WRONG(change, text)                                                                   \
    do {                                                                                      \
        o = (tsr_lens_search_options)TSR_LENS_SEARCH_OPTIONS;                                 \
        change;                                                                               \
        require_error(tsr_lens_search(context, image, &o, &found), TSR_ERROR_ARGUMENT, text); \
    } while (0)
    WRONG((o.lower = 0.1, o.upper = -0.1), "expected numbers from -1 to 1 that rise");
    WRONG((o.lower = -1, o.upper = 1, o.step = 1e-5), "candidates, expected at most 1024");
    WRONG(o.bins = 400, "400 bins, expected 8 to 360");
    WRONG((o.criterion = TSR_LENS_SOURCE, o.bins = 20), "expected 16 for this criterion");
    WRONG(o.threshold = (double)NAN, "threshold is nan");
    tsr_lens_warp_options w = TSR_LENS_WARP_OPTIONS;
    w.channels = 5;
    require_error(tsr_lens_warp(context, image, &strong, &w, &warped, NULL), TSR_ERROR_ARGUMENT, "5 channels");
    assert_null(warped);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Circles round the centre stay circles: no k is better than another. */
static void flat_objective(void **unused)
{
    enum { N = 160 };
    static uint8_t bytes[N * N];
    tsr_context *context = test_context();
    (void)unused;
    for (int i = 0; i < N * N; i++) bytes[i] = (uint8_t)(127 + 100 * sin(0.4 * hypot(i % N - (N - 1) / 2.0, i / N - (N - 1) / 2.0)));
    for (int i = 0; i < N * N; i++)
        if (hypot(i % N - (N - 1) / 2.0, i / N - (N - 1) / 2.0) > 55) bytes[i] = 127;
    tsr_volume *image = upload(context, bytes, N, N);
    tsr_lens_search_options o = TSR_LENS_SEARCH_OPTIONS;
    tsr_lens_found found;
    o.lower = -0.1;
    o.upper = 0.1;
    o.step = 0.05;
    o.bins = 30;
    o.no_refinement = 1;
    require_ok(tsr_lens_search(context, image, &o, &found));
    assert_true(found.peak < 1.05);
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* A board seen at a slant through a lens of the division model, 5 x 5 samples a pixel: the plane by a homography, the lens by its definition. */
static void slanted_board(uint8_t *pixels, int width, int height, double k1, const double h[8], double square)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int white = 0;
            for (int s = 0; s < 25; s++) {
                const double dx = (x + (s % 5 + 0.5) / 5) / (0.5 * width) - 1, dy = (y + (s / 5 + 0.5) / 5 - 0.5 * height) / (0.5 * width);
                const double scale = 1 / (1 + k1 * (dx * dx + dy * dy)), u = dx * scale, v = dy * scale, w = h[6] * u + h[7] * v + 1;
                const double px = (h[0] * u + h[1] * v + h[2]) / w, py = (h[3] * u + h[4] * v + h[5]) / w;
                white += fabs(px) < 1.1 && fabs(py) < 0.8 && ((int)(floor(px / square) + floor(py / square)) & 1);
            }
            pixels[y * width + x] = (uint8_t)(60 + 140 * white / 25);
        }
}

/* Straight lines find the lens where perspective spreads their directions; what has none, or straight ones already, is not called straighter. */
static void lines(void **state)
{
    (void)state;
    enum { WIDTH = 480, HEIGHT = 360 };
    static uint8_t pixels[WIDTH * HEIGHT];
    static const double views[3][8] = { { 1.2, 0.3, 0.1, -0.2, 1.3, 0, 0.5, 0.2 },
                                        { 0.9, -0.4, 0, 0.5, 0.8, 0.1, -0.3, 0.45 },
                                        { 1.1, 0.9, 0, -0.8, 1.2, 0, 0.2, -0.5 } };
    static const double lenses[4] = { -0.12, -0.06, 0.05, 0 };
    tsr_context *context = test_context();
    const tsr_lens_search_options options = { .struct_size = sizeof options, .criterion = TSR_LENS_LINES };
    uint64_t seed = test_seed();
    for (int k = 0; k < 12; k++) {
        if (test_is_slow() && k % 3) continue;
        tsr_lens_found found;
        const double k1 = lenses[k / 3];
        slanted_board(pixels, WIDTH, HEIGHT, k1, views[k % 3], 0.22);
        for (int i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (uint8_t)(pixels[i] + test_random(&seed) % 7);
        tsr_volume *image = upload(context, pixels, WIDTH, HEIGHT);
        require_ok(tsr_lens_search(context, image, &options, &found));
        if (fabs(found.lens.k1 - k1) > 0.01 || found.straighter != (k1 != 0) || found.bend > 0.25)
            fail_msg("view %d, k1 %g: found %g, bend %g, before %g, %d lines", k % 3, k1, found.lens.k1, found.bend, found.bend_before,
                     (int)found.lines);
        assert_true(found.bins == 0 && !found.histogram && found.lines >= 6);
        tsr_lens_found_destroy(&found);
        tsr_volume_destroy(&image);
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++) { /* discs */
        const int x = i % WIDTH % 60 - 30, y = i / WIDTH % 60 - 30;
        pixels[i] = x * x + y * y < 400 ? 200 : 50;
    }
    tsr_volume *image = upload(context, pixels, WIDTH, HEIGHT);
    tsr_lens_found found;
    require_error(tsr_lens_search(context, image, &options, &found), TSR_ERROR_STATE, "cannot be determined from lines");
    require_ok(tsr_lens_search(context, image, NULL, &found));
    assert_int_equal(found.straighter, 0);
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse),
        cmocka_unit_test(definitions),
        cmocka_unit_test(lines_are_circles),
        cmocka_unit_test(identity),
        cmocka_unit_test(warps),
        cmocka_unit_test(votes),
        cmocka_unit_test(finds_k),
        cmocka_unit_test(finds_the_centre),
        cmocka_unit_test(finds_k2),
        cmocka_unit_test(source_pattern),
        cmocka_unit_test(margin_has_no_effect),
        cmocka_unit_test(flat_objective),
        cmocka_unit_test(errors),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
