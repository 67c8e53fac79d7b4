/* Smoothing of depth images whose answer is known: planes, sinusoids, steps, spheres, noise; implicit steps against explicit ones. The formulas of
 * the oracles are written here, in float64. */
#include "fields.h"

typedef enum kind { EXPLICIT, EXACT, IMPLICIT, MULTIGRID } kind;

/* `time` in steps of the bound of every pixel, `count` steps. */
static void flow(field *f, kind k, double time, int count, double threshold)
{
    tsr_fluid_flow_job job = { .view = f->view, .depth = f->device, .other = f->other, .iterations = count, .exact = k == EXACT };
    const float share = (float)(0.5 * time / count);
    job.step =
        (tsr_fluid_step){ .slope = { f->view.slope[0], f->view.slope[1] }, .ratio = 1, .alpha = share, .beta = share, .threshold = (float)threshold };
    float *memory[TSR_FLUID_LEVELS] = { NULL };
    size_t bytes[TSR_FLUID_LEVELS] = { 0 };
    int32_t width = W, height = H;
    for (int n = 0; n < TSR_FLUID_LEVELS; n++, width = (width + 1) / 2, height = (height + 1) / 2) {
        const int32_t stride = (width + 2 * TSR_FLUID_PAD + 15) / 16 * 16;
        const size_t size = (size_t)stride * (size_t)(height + 2);
        float *zeros = calloc(size, 20);
        bytes[n] = size * 20;
        memory[n] = to_device(context, zeros, bytes[n]);
        free(zeros);
        float *m = memory[n];
        job.levels[n] = (tsr_fluid_level){ width, height, stride, m, m + size, m + 2 * size, m + 3 * size, m + 4 * size };
    }
    require_ok(tsr_device_move(context, f->device, NULL, f->host, f->size * 4));
    const tsr_fluid_ops *ops = context->backend->fluid;
    require_ok(k == IMPLICIT    ? ops->implicit(context->queue, &job)
               : k == MULTIGRID ? ops->multigrid(context->queue, &job)
                                : ops->flow(context->queue, &job));
    require_ok(tsr_device_move(NULL, f->host, context, f->device, f->size * 4));
    for (int n = 0; n < TSR_FLUID_LEVELS; n++) tsr_device_release(context, memory[n], bytes[n]);
}

/* A plane that faces the eye stays to the last bit; background, too. */
static void facing_plane(void **unused)
{
    (void)unused;
    for (int k = EXPLICIT; k <= MULTIGRID; k++) {
        field f = field_of();
        for (int y = 8; y < H - 8; y++)
            for (int x = 8; x < W - 8; x++) *cell(&f, x, y) = 5;
        flow(&f, (kind)k, 20, 20, 1);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                if (x >= 8 && y >= 8 && x < W - 8 && y < H - 8) assert_true(*cell(&f, x, y) == 5);
                else assert_true(isinf(*cell(&f, x, y)));
        field_end(&f);
    }
}

/* A tilted plane: fixed under the exact form; how far the published one moves it is said. */
static void tilted_plane(void **unused)
{
    double moved[2] = { 0 };
    (void)unused;
    for (int k = EXPLICIT; k <= EXACT; k++) {
        field f = field_of(), g = field_of();
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const double wx = (x + 0.5 - W / 2.0) * (double)f.view.slope[0], wy = (y + 0.5 - H / 2.0) * (double)f.view.slope[1];
                *cell(&f, x, y) = *cell(&g, x, y) = (float)(5 / (1 - 0.5 * wx + 0.3 * wy));
            }
        flow(&f, (kind)k, 50, 50, 1);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) moved[k] = fmax(moved[k], fabs((double)*cell(&f, x, y) / (double)*cell(&g, x, y) - 1));
        field_end(&f);
        field_end(&g);
    }
    print_message("tilted plane after 50 steps: published form moves it by %.2e, exact form by %.2e (relative)\n", moved[0], moved[1]);
    assert_true(moved[1] < 1e-6);
    assert_true(moved[0] > 1e-4); /* the approximation is one */
}

/* z0 + A cos(kx) decays by 1 - dt (2 - 2 cos k) / (2 h) in a step, h the width of a pixel. */
static void sinusoid(void **unused)
{
    (void)unused;
    for (int period = 8; period <= 32; period *= 2) {
        field f = field_of();
        const double amplitude = 2e-3, k = 6.283185307179586 / period;
        const int steps = 12;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) *cell(&f, x, y) = (float)(4 + amplitude * cos(k * x));
        flow(&f, EXPLICIT, 0.5 * steps, steps, 1);
        double c = 0, s = 0; /* far from the borders, over whole periods */
        for (int x = 32; x < 64; x++) {
            c += ((double)*cell(&f, x, H / 2) - 4) * cos(k * x) / 16;
            s += ((double)*cell(&f, x, H / 2) - 4) * sin(k * x) / 16;
        }
        /* dt = 0.5 h / 2: the factor of a step is 1 - (2 - 2 cos k) / 8 */
        const double expected = log(1 - (2 - 2 * cos(k)) / 8) * steps, got = log(hypot(c, s) / amplitude);
        print_message("period %d: log of decay %.5f, expected %.5f\n", period, got, expected);
        assert_true(fabs(got / expected - 1) < 0.01);
        field_end(&f);
    }
}

static double roughness(const field *f) /* root of the mean square of the five-point Laplacian, all in the same patch */
{
    double sum = 0;
    int n = 0;
    for (int y = 4; y < H - 4; y++)
        for (int x = 4; x < W - 4; x++, n++) {
            const double l = (double)*cell(f, x - 1, y) + (double)*cell(f, x + 1, y) + (double)*cell(f, x, y - 1) + (double)*cell(f, x, y + 1) -
                             4 * (double)*cell(f, x, y);
            sum += l * l;
        }
    return sqrt(sum / n);
}
static double spread(const field *f) /* standard deviation of depth */
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int y = 8; y < H - 8; y++)
        for (int x = 8; x < W - 8; x++, n++) {
            sum += (double)*cell(f, x, y) - 5;
            squares += ((double)*cell(f, x, y) - 5) * ((double)*cell(f, x, y) - 5);
        }
    return sqrt(squares / n - sum / n * (sum / n));
}
static void noisy(field *f, uint64_t seed, double amplitude)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) *cell(f, x, y) = (float)(5 * (1 + amplitude * (test_uniform(&seed) - 0.5)));
}

/* At the bound the flow is stable, beyond 1.1 of it it is not (and the tool refuses: test_fluid_depth). */
static void stability(void **unused)
{
    uint64_t seed = test_seed();
    (void)unused;
    const int steps = test_is_slow() ? 60 : 200;
    field f = field_of();
    noisy(&f, seed, 1e-5);
    const double start = roughness(&f);
    flow(&f, EXPLICIT, steps, steps, 1);
    const double at = roughness(&f);
    noisy(&f, seed, 1e-5);
    flow(&f, EXPLICIT, 1.15 * steps, steps, 1);
    const double beyond = roughness(&f);
    print_message("roughness %.3g: at the bound %.3g, beyond %.3g\n", start, at, beyond);
    assert_true(at <= start && beyond > 10 * start);
    field_end(&f);
}

/* Area falls with every step; no extremes appear within the patch. */
static void falls(void **unused)
{
    uint64_t seed = test_seed();
    (void)unused;
    for (int k = EXPLICIT; k <= MULTIGRID; k++) {
        field f = field_of();
        double area = INFINITY, low = INFINITY, high = 0;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const double r2 = ((x - 50) * (x - 50) + (y - 40) * (y - 40)) / 900.0;
                *cell(&f, x, y) = (float)(5 - 0.4 * exp(-r2) + 0.01 * test_uniform(&seed));
                low = fmin(low, (double)*cell(&f, x, y));
                high = fmax(high, (double)*cell(&f, x, y));
            }
        for (int n = 0; n < 6; n++) {
            double now = 0;
            if (n) flow(&f, (kind)k, k >= IMPLICIT ? 10 : 3, k >= IMPLICIT ? 1 : 3, 2);
            for (int y = 1; y < H - 1; y++)
                for (int x = 1; x < W - 1; x++) {
                    const double h = (double)f.view.slope[0] * 5, p = ((double)*cell(&f, x + 1, y) - (double)*cell(&f, x, y)) / h,
                                 q = ((double)*cell(&f, x, y + 1) - (double)*cell(&f, x, y)) / h;
                    now += sqrt(1 + p * p + q * q);
                    assert_true((double)*cell(&f, x, y) > low - 1e-3 && (double)*cell(&f, x, y) < high + 1e-3);
                }
            if (!(now < area)) fail_msg("flow %d, round %d: area %.9g after %.9g", k, n, now, area);
            area = now;
        }
        field_end(&f);
    }
}

/* What stands before a farther surface is smoothed as if that were not there, and the other way round. */
static void no_bleeding(void **unused)
{
    uint64_t seed = test_seed();
    (void)unused;
    for (int k = EXPLICIT; k <= MULTIGRID; k++) {
        field both = field_of(), near_ = field_of(), far_ = field_of();
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const int left = x + y / 3 < 60;
                const float z = (float)((left ? 4 : 6) + 0.05 * test_uniform(&seed));
                *cell(&both, x, y) = z;
                *cell(left ? &near_ : &far_, x, y) = z;
            }
        flow(&both, (kind)k, 30, k >= IMPLICIT ? 3 : 34, 0.5);
        flow(&near_, (kind)k, 30, k >= IMPLICIT ? 3 : 34, 0.5);
        flow(&far_, (kind)k, 30, k >= IMPLICIT ? 3 : 34, 0.5);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                if (*cell(&both, x, y) != *cell(x + y / 3 < 60 ? &near_ : &far_, x, y)) fail_msg("flow %d bleeds at (%d, %d)", k, x, y);
        field_end(&both);
        field_end(&near_);
        field_end(&far_);
    }
}

/* The look of 100 explicit steps in 8 semi-implicit ones and in 2 cycles of multigrid (5/3 of the time, as the library gives it). */
static void fewer_steps(void **unused)
{
    uint64_t seed = test_seed();
    double left[3], first = 0;
    (void)unused;
    field f[3];
    for (int n = 0; n < 3; n++) {
        f[n] = field_of();
        noisy(&f[n], seed, 0.004);
        first = spread(&f[n]);
        flow(&f[n], n == 0 ? EXPLICIT : n == 1 ? IMPLICIT : MULTIGRID, n == 2 ? 150 : 90, n == 0 ? 100 : n == 1 ? 8 : 2, 1);
        left[n] = spread(&f[n]);
    }
    print_message("of %.3e: explicit %.4e, 8 semi-implicit %.4e, 2 multigrid %.4e; roughness %.2e %.2e %.2e\n", first, left[0], left[1], left[2],
                  roughness(&f[0]), roughness(&f[1]), roughness(&f[2]));
    assert_true(fabs(left[1] / left[0] - 1) < 0.1);
    assert_true(fabs(left[2] / left[0] - 1) < 0.1);
    for (int n = 0; n < 3; n++) field_end(&f[n]);
}

/* 2 H = -2 C z / R on the axis of a sphere, positive towards the eye in the API's sign; its normals are the radii. */
static void curved(void **unused)
{
    enum { N = 128 };
    const double radius = 1, far_ = 4;
    const float p[] = { 0, 4, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 40);
    (void)unused;
    tsr_fluid *fluid;
    require_ok(tsr_fluid_create(context, &fluid));
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    const tsr_fluid_look look = calm(radius);
    o.width = o.height = N;
    o.smoother = TSR_FLUID_UNSMOOTHED;
    cloud one = cloud_of(context, 1, p, NULL, radius);
    require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
    float *curvature = image_of(fluid, TSR_FLUID_IMAGE_CURVATURE), *normal = image_of(fluid, TSR_FLUID_IMAGE_NORMAL),
          *depth = image_of(fluid, TSR_FLUID_IMAGE_SURFACE);
    const double c = 2 * tan(20 / 57.29577951308232) / N, expected = 2 * c * (far_ - radius) / radius;
    const double got = (double)curvature[N / 2 * N + N / 2];
    print_message("2 H %.5f, expected %.5f\n", got, expected);
    assert_true(fabs(got / expected - 1) < 0.01);
    double worst = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            const int i = y * N + x;
            if (isinf(depth[i])) continue;
            const double wx = (x + 0.5 - N / 2.0) * c, wy = (N / 2.0 - y - 0.5) * c, z = (double)depth[i];
            const double r[3] = { wx * z, wy * z, -(z - far_) }; /* x right, y up, z towards the eye */
            const double cosine = r[0] * (double)normal[3 * i] + r[1] * (double)normal[3 * i + 1] + r[2] * (double)normal[3 * i + 2];
            const double angle = acos(fmin(fmax(cosine / radius, -1), 1)) * 57.29577951308232;
            const double rim = hypot(wx, wy) / tan(asin(radius / far_)); /* of the silhouette's radius */
            if (rim < 0.9) worst = fmax(worst, angle);
            /* at the silhouette, too, normals point outwards */
            if (rim > 0.5) assert_true((double)normal[3 * i] * wx + (double)normal[3 * i + 1] * wy > 0);
        }
    print_message("normals within %.3f degrees\n", worst);
    assert_true(worst < 0.5);
    free(curvature);
    free(normal);
    free(depth);
    cloud_end(&one);
    tsr_fluid_destroy(&fluid);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(facing_plane), cmocka_unit_test(tilted_plane), cmocka_unit_test(sinusoid),
                                        cmocka_unit_test(stability),    cmocka_unit_test(falls),        cmocka_unit_test(no_bleeding),
                                        cmocka_unit_test(fewer_steps),  cmocka_unit_test(curved) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
