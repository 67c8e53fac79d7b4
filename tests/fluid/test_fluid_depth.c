/* What particles do to pixels: depth of spheres against rays in float64, thickness against volumes, order, culling, layers, bad input. */
#include "context.h"
#include "fluid/fluid_ops.h"
#include "fluids.h"

static tsr_fluid *fluid;
static int begin(void **state)
{
    open_context(state);
    require_ok(tsr_fluid_create(context, &fluid));
    return 0;
}
static int end(void **state)
{
    tsr_fluid_destroy(&fluid);
    return close_context(state);
}

static tsr_fluid_options raw(int32_t width, int32_t height)
{
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    o.width = width;
    o.height = height;
    o.smoother = TSR_FLUID_UNSMOOTHED;
    o.given = TSR_FLUID_GIVEN_THICKNESS_BLUR;
    o.thickness_step = 1;
    return o;
}

/* Depth along y at which the ray of pixel (x, y) meets the sphere; INFINITY without. `rim`: distance of the ray from the middle, in radii. */
static double oracle(int32_t x, int32_t y, int32_t width, int32_t height, double fov, const double c[3], double r, double *rim)
{
    const double scale = 2 * tan(fov * 3.14159265358979323846 / 360) / height;
    const double d[3] = { (x + 0.5 - 0.5 * width) * scale, 1, (0.5 * height - y - 0.5) * scale };
    const double a = d[0] * d[0] + 1 + d[2] * d[2], b = d[0] * c[0] + c[1] + d[2] * c[2], cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    *rim = sqrt(fmax(cc - b * b / a, 0)) / r;
    const double disc = b * b - a * (cc - r * r);
    return disc < 0 ? (double)INFINITY : (b - sqrt(disc)) / a;
}

static void spheres(void **unused)
{
    enum { W = 96, H = 72 };
    uint64_t state = test_seed();
    (void)unused;
    double worst = 0;
    for (int n = 0; n < (test_is_slow() ? 4 : 40); n++) {
        const double fov = 10 + 80 * test_uniform(&state), r = pow(10, -3 + 3 * test_uniform(&state)),
                     far_ = r * (3 + 5 * test_uniform(&state)) / tan(fov * 0.00872664626);
        const double wide = far_ * tan(fov * 0.00872664626);
        const double c[3] = { wide * (test_uniform(&state) - 0.5), far_, wide * (test_uniform(&state) - 0.5) };
        const float p[3] = { (float)c[0], (float)c[1], (float)c[2] };
        const double rounded[3] = { (double)p[0], (double)p[1], (double)p[2] };
        const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, fov);
        const tsr_fluid_options o = raw(W, H);
        const tsr_fluid_look look = calm(r);
        cloud one = cloud_of(context, 1, p, NULL, (double)(float)r);
        require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
        float *depth = image_of(fluid, TSR_FLUID_IMAGE_RAW_DEPTH);
        int seen = 0;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                double rim;
                const double expected = oracle(x, y, W, H, fov, rounded, (double)(float)r, &rim), got = (double)depth[y * W + x];
                if (rim < 0.97) {
                    if (!(fabs(got - expected) < 1e-4 * r))
                        fail_msg("fov %g radius %g at (%d, %d): %.9g, expected %.9g", fov, r, x, y, got, expected);
                    worst = fmax(worst, fabs(got - expected) / r);
                    seen++;
                } else if (rim > 1.001) assert_true(isinf(got));
            }
        assert_true(seen > 8);
        free(depth);
        cloud_end(&one);
    }
    print_message("largest error of depth %.2e radii\n", worst);
}

/* Sprites are exact in the limit of a narrow field of view. */
static void sprites(void **unused)
{
    enum { W = 64, H = 64 };
    double before = (double)INFINITY;
    (void)unused;
    for (int n = 0; n < 3; n++) {
        const double fov = n == 0 ? 60 : n == 1 ? 6 : 0.6, far_ = 1 / tan(fov * 0.00872664626), c[3] = { 0.45, far_, 0.3 };
        const float p[3] = { 0.45f, (float)far_, 0.3f };
        const double rounded[3] = { (double)p[0], (double)p[1], (double)p[2] };
        const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, fov);
        tsr_fluid_options o = raw(W, H);
        o.sprites = 1;
        const tsr_fluid_look look = calm(0.25);
        cloud one = cloud_of(context, 1, p, NULL, 0.25);
        require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
        float *depth = image_of(fluid, TSR_FLUID_IMAGE_RAW_DEPTH);
        double worst = 0;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                double rim;
                const double expected = oracle(x, y, W, H, fov, rounded, 0.25, &rim);
                if (rim < 0.7 && isfinite(depth[y * W + x])) worst = fmax(worst, fabs((double)depth[y * W + x] - expected));
            }
        print_message("sprite at %g degrees: error %.2e\n", fov, worst);
        assert_true(worst < 0.25 * before && c[0] > 0);
        before = worst;
        free(depth);
        cloud_end(&one);
    }
    assert_true(before < 2e-3);
}

/* Twice the radius in the middle, and 4/3 pi r^3 over all, for each of several sizes that share a picture. */
static void thickness(void **unused)
{
    enum { W = 128, H = 128 };
    const float p[] = { -1.2f, 400, -1.2f, 1.3f, 400, 1.1f, 1.0f, 400, -1.3f }, r[] = { 0.5f, 0.8f, 0.25f };
    const double fov = 2 * atan(2.5 / 400) * 57.29577951308232;
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, fov);
    (void)unused;
    cloud three = cloud_of(context, 3, p, r, 0.8);
    for (int sprites_ = 0; sprites_ < 2; sprites_++) {
        tsr_fluid_options o = raw(W, H);
        const tsr_fluid_look look = calm(0.8);
        o.sprites = sprites_;
        require_ok(tsr_fluid_draw(fluid, &three.particles, &camera, NULL, &look, &o, NULL));
        float *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS);
        double sum = 0, volume = 0, most[3] = { 0 };
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const double wx = (x + 0.5 - 64) * 5 / 128, wz = (64 - y - 0.5) * 5 / 128;
                sum += (double)thick[y * W + x] * (5.0 / 128) * (5.0 / 128);
                for (int k = 0; k < 3; k++)
                    if (hypot(wx - (double)p[3 * k], wz - (double)p[3 * k + 2]) < (double)r[k]) most[k] = fmax(most[k], (double)thick[y * W + x]);
            }
        for (int k = 0; k < 3; k++) {
            volume += 4.18879020478639 * pow((double)r[k], 3);
            if (!(fabs(most[k] - 2 * (double)r[k]) < 0.01 * (double)r[k]))
                fail_msg("middle of sphere %d: %g, expected %g", k, most[k], 2 * (double)r[k]);
        }
        assert_true(fabs(sum - volume) < 2e-3 * volume);
        free(thick);
    }
    cloud_end(&three);
}

/* Drawn larger, particles keep their volume; smaller than a pixel, too. */
static void volume_stays(void **unused)
{
    enum { W = 64, H = 64 };
    const float p[] = { 0.02f, 400, -0.01f };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 2 * atan(2.5 / 400) * 57.29577951308232);
    (void)unused;
    for (int n = 0; n < 3; n++) {
        const double r = n == 2 ? 0.01 : 0.5;
        tsr_fluid_options o = raw(W, H);
        const tsr_fluid_look look = calm(r);
        o.particle_scale = n == 0 ? 1.9 : 1;
        o.thickness_step = n == 1 ? 2 : 1;
        cloud one = cloud_of(context, 1, p, NULL, r);
        require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
        float *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS);
        double sum = 0;
        for (int i = 0; i < W * H; i++) sum += (double)thick[i] * (5.0 / 64) * (5.0 / 64);
        const double volume = 4.18879020478639 * r * r * r;
        print_message("radius %g: volume %.4g of %.4g\n", r, sum, volume);
        assert_true(sum > 0 && fabs(sum - volume) < (n == 2 ? 0.8 : 0.02) * volume); /* the small one is seen by a pixel or two */
        free(thick);
        cloud_end(&one);
    }
}

/* A wall through the middle of a sphere leaves half its thickness, and one before it nothing. */
static void scene_hides(void **unused)
{
    enum { W = 48, H = 48 };
    const float p[] = { 0, 10, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 20);
    (void)unused;
    static float color[W * H * 4], far_[W * H];
    cloud one = cloud_of(context, 1, p, NULL, 1);
    for (int n = 0; n < 3; n++) {
        tsr_fluid_options o = raw(W, H);
        const tsr_fluid_look look = calm(1);
        tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
        for (int i = 0; i < W * H; i++) {
            color[4 * i] = color[4 * i + 1] = color[4 * i + 2] = 0.5f;
            color[4 * i + 3] = 1;
            far_[i] = n == 0 ? 30 : n == 1 ? 10 : 5;
        }
        b.scenery = TSR_FLUID_PICTURE;
        float *device_color = to_device(context, color, sizeof color), *device_far = to_device(context, far_, sizeof far_);
        b.color = device_color;
        b.distance = device_far;
        require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, &b, &look, &o, NULL));
        float *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS), *depth = image_of(fluid, TSR_FLUID_IMAGE_DEPTH),
              *picture = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
        const int middle = H / 2 * W + W / 2;
        assert_true(fabsf(thick[middle] - (n == 0 ? 2.0f : n == 1 ? 1.0f : 0.0f)) < 0.01f);
        assert_true(fabsf(depth[middle] - (n == 2 ? 5.0f : 9.0f)) < 0.01f);
        if (n == 2) assert_true(picture[4 * middle] == 0.5f);
        else assert_true(picture[4 * middle] != 0.5f);
        assert_true(picture[0] == 0.5f && depth[0] == far_[0]);
        free(thick);
        free(depth);
        free(picture);
        tsr_device_release(context, device_color, sizeof color);
        tsr_device_release(context, device_far, sizeof far_);
    }
    cloud_end(&one);
}

/* Any order of the particles, any number of threads: the same bits. */
static void order(void **unused)
{
    enum { W = 80, H = 60 };
    uint64_t state = test_seed();
    int64_t count;
    double radius;
    (void)unused;
    float *p = pool(test_is_slow() ? 10 : 24, &state, &count, &radius);
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0.4 }, 60);
    float *images[2][4];
    static const tsr_fluid_image kinds[] = { TSR_FLUID_IMAGE_RAW_DEPTH, TSR_FLUID_IMAGE_THICKNESS, TSR_FLUID_IMAGE_SURFACE, TSR_FLUID_IMAGE_NORMAL };
    for (int n = 0; n < 2; n++) {
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        const tsr_fluid_look look = calm(radius);
        o.width = W;
        o.height = H;
        o.iterations = 5;
        o.particle_scale = 1.6;
        cloud all = cloud_of(context, count, p, NULL, radius);
        require_ok(tsr_fluid_draw(fluid, &all.particles, &camera, NULL, &look, &o, NULL));
        for (int k = 0; k < 4; k++) images[n][k] = image_of(fluid, kinds[k]);
        cloud_end(&all);
        for (int64_t i = count - 1; i > 0; i--) {
            const int64_t j = (int64_t)(test_random(&state) % (uint64_t)(i + 1));
            for (int c = 0; c < 3; c++) {
                const float t = p[3 * i + c];
                p[3 * i + c] = p[3 * j + c];
                p[3 * j + c] = t;
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        assert_memory_equal(images[0][k], images[1][k], (size_t)W * H * (k == 3 ? 12 : 4));
        free(images[0][k]);
        free(images[1][k]);
    }
    free(p);
}

/* Nothing that is not a number reaches a picture, and what was skipped is counted. */
static void culling(void **unused)
{
    enum { W = 40, H = 30 };
    const float p[] = { 0, 5,     0, NAN, 5, 0, 0,    INFINITY, 0, 0,    -3, 0, 0,    0.2f, 0, 0,    0,
                        0, 1e30f, 5, 0,   0, 5, 0.1f, 0,        5, 0.2f, 0,  5, 0.3f, 0,    5, 0.35f };
    const float r[] = { 0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 0.3f, NAN, 0, -1, 1e-20f };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 50);
    (void)unused;
    for (int resolution = 1; resolution <= 4; resolution *= 2) {
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        tsr_fluid_info info = TSR_FLUID_INFO;
        o.width = W;
        o.height = H;
        o.resolution = resolution;
        cloud all = cloud_of(context, 11, p, r, 0.3);
        require_ok(tsr_fluid_draw(fluid, &all.particles, &camera, NULL, NULL, &o, &info));
        assert_int_equal(info.not_finite, 5);
        assert_int_equal(info.too_near, 3);
        for (int k = 0; k < TSR_FLUID_IMAGES; k++) {
            int32_t width, height, channels;
            require_ok(tsr_fluid_image_shape(fluid, (tsr_fluid_image)k, &width, &height, &channels));
            float *v = image_of(fluid, (tsr_fluid_image)k);
            for (int i = 0; i < width * height * channels; i++)
                if (isnan(v[i])) fail_msg("image %d at resolution %d has NaN at %d", k, resolution, i);
            free(v);
        }
        cloud_end(&all);
    }
}

/* Two balls behind one another: two surfaces, each with its own thickness. */
static void layers(void **unused)
{
    enum { W = 40, H = 40 };
    const float p[] = { 0, 9, 0, 0, 5, 0, 0, 5.5f, 0, 0, 14, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 20);
    (void)unused;
    cloud four = cloud_of(context, 4, p, NULL, 0.5);
    float *colors[4];
    for (int n = 1; n <= 4; n++) {
        tsr_fluid_options o = raw(W, H);
        tsr_fluid_look look = calm(0.5);
        o.layers = n;
        look.fresnel = 0.5f;
        require_ok(tsr_fluid_draw(fluid, &four.particles, &camera, NULL, &look, &o, NULL));
        float *depth = image_of(fluid, TSR_FLUID_IMAGE_RAW_DEPTH), *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS);
        colors[n - 1] = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
        const int middle = H / 2 * W + W / 2;
        assert_true(fabsf(depth[middle] - 4.5f) < 0.01f);
        print_message("%d layers: thickness %g\n", n, (double)thick[middle]);
        assert_true(fabsf(thick[middle] - (n == 1 ? 4.0f : 1.5f)) < 0.04f); /* all spheres added; the run of the first two */
        free(depth);
        free(thick);
    }
    const int middle = 4 * (H / 2 * W + W / 2);
    assert_true(fabsf(colors[1][middle] - colors[0][middle]) > 1e-4f && fabsf(colors[2][middle] - colors[1][middle]) > 1e-4f);
    assert_true(colors[3][middle] == colors[2][middle]); /* there is no fourth */
    for (int n = 0; n < 4; n++) free(colors[n]);
    cloud_end(&four);
}

/* Ellipsoids: Q times the covariance of the neighbours (float64, all pairs) is a multiple of the unit matrix where no axis is limited, its
 * determinant is 1; lone particles are spheres; a ball of the covariance's shape is seen where a ray meets it. */
static void ellipsoids(void **unused)
{
    enum { N = 300, W = 64, H = 64 };
    uint64_t state = test_seed();
    static float p[3 * N];
    double worst = 0;
    int free_ = 0;
    (void)unused;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) p[3 * i + k] = (float)((k == 1 ? 8 : 0) + (test_uniform(&state) - 0.5) * (k == 2 ? 0.8 : 2));
    p[0] = 50; /* alone */
    const double r = 0.15, reach = 4 * r;
    tsr_fluid_shape_job job = {
        .count = N, .fewest = 10, .mask = 1023, .reach = (float)reach, .inverse = (float)(1 / reach), .pull = 0.9f, .longest = 4
    };
    static uint32_t keys[N], numbers[N], zeros[2048];
    static float places[3 * N], shapes[6 * N];
    float *device[4] = { to_device(context, p, sizeof p), to_device(context, places, sizeof places), to_device(context, shapes, sizeof shapes),
                         to_device(context, zeros, sizeof zeros) };
    float *lists[2] = { to_device(context, keys, sizeof keys), to_device(context, numbers, sizeof numbers) };
    job.positions = device[0];
    job.places = device[1];
    job.shapes = device[2];
    job.first = (uint32_t *)(void *)device[3];
    job.last = job.first + 1024;
    job.keys = (uint32_t *)(void *)lists[0];
    job.numbers = (uint32_t *)(void *)lists[1];
    require_ok(context->backend->fluid->keys(context->queue, &job));
    require_ok(tsr_device_move(NULL, keys, context, lists[0], sizeof keys));
    require_ok(tsr_device_move(NULL, numbers, context, lists[1], sizeof numbers));
    for (int i = 1; i < N; i++) /* stable */
        for (int k = i; k > 0 && keys[k - 1] > keys[k]; k--) {
            const uint32_t a = keys[k], b = numbers[k];
            keys[k] = keys[k - 1];
            numbers[k] = numbers[k - 1];
            keys[k - 1] = a;
            numbers[k - 1] = b;
        }
    require_ok(tsr_device_move(context, lists[0], NULL, keys, sizeof keys));
    require_ok(tsr_device_move(context, lists[1], NULL, numbers, sizeof numbers));
    require_ok(context->backend->fluid->shapes(context->queue, &job));
    require_ok(tsr_device_move(NULL, places, context, device[1], sizeof places));
    require_ok(tsr_device_move(NULL, shapes, context, device[2], sizeof shapes));
    for (int i = 0; i < N; i++) {
        double w = 0, mean[3] = { 0 }, c[3][3] = { { 0 } }, product[3][3];
        int n = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m < N; m++) {
                double d[3], d2 = 0;
                for (int k = 0; k < 3; k++) {
                    d[k] = (double)p[3 * m + k] - (double)p[3 * i + k];
                    d2 += d[k] * d[k];
                }
                if (d2 >= reach * reach) continue;
                const double one = 1 - pow(sqrt(d2) / reach, 3);
                if (!pass) {
                    w += one;
                    n++;
                    for (int k = 0; k < 3; k++) mean[k] += one * d[k];
                } else
                    for (int a = 0; a < 3; a++)
                        for (int b = 0; b < 3; b++) c[a][b] += one * (d[a] - mean[a] / w) * (d[b] - mean[b] / w) / w;
            }
        const float *q = shapes + 6 * i;
        const double s[3][3] = { { (double)q[0], (double)q[3], (double)q[4] },
                                 { (double)q[3], (double)q[1], (double)q[5] },
                                 { (double)q[4], (double)q[5], (double)q[2] } };
        const double det = s[0][0] * (s[1][1] * s[2][2] - s[1][2] * s[2][1]) - s[0][1] * (s[1][0] * s[2][2] - s[1][2] * s[2][0]) +
                           s[0][2] * (s[1][0] * s[2][1] - s[1][1] * s[2][0]);
        assert_true(fabs(det - 1) < 1e-3);
        if (n < 10) {
            assert_true(q[0] == 1 && q[1] == 1 && q[2] == 1 && q[3] == 0 && q[4] == 0 && q[5] == 0 && places[3 * i] == p[3 * i]);
            continue;
        }
        for (int k = 0; k < 3; k++) assert_true(fabs((double)places[3 * i + k] - ((double)p[3 * i + k] + 0.9 * mean[k] / w)) < 1e-4);
        double mean_ = 0, off = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                product[a][b] = s[a][0] * c[0][b] + s[a][1] * c[1][b] + s[a][2] * c[2][b];
                if (a == b) mean_ += product[a][b] / 3;
            }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) off = fmax(off, fabs(product[a][b] - (a == b ? mean_ : 0)) / mean_);
        const double trace = c[0][0] + c[1][1] + c[2][2], cdet = c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[1][2]) -
                                                                 c[0][1] * (c[0][1] * c[2][2] - c[1][2] * c[0][2]) +
                                                                 c[0][2] * (c[0][1] * c[1][2] - c[1][1] * c[0][2]);
        if (cdet < trace * trace * trace / 60) continue; /* an axis may be limited */
        free_++;
        worst = fmax(worst, off);
    }
    print_message("%d ellipsoids, Q C off a multiple of 1 by at most %.1e\n", free_, worst);
    assert_true(free_ > N / 2 && worst < 5e-3);
    for (int k = 0; k < 4; k++)
        tsr_device_release(context, device[k], k == 0 ? sizeof p : k == 1 ? sizeof places : k == 2 ? sizeof shapes : sizeof zeros);
    for (int k = 0; k < 2; k++) tsr_device_release(context, lists[k], sizeof keys);
    /* half axes 2, 1, 1/2 along x, y, z round (0, 10, 0), radius 1 */
    const float at[3] = { 0, 10, 0 }, form[6] = { 0.25f, 1, 4, 0, 0, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 30);
    tsr_fluid_options o = raw(W, H);
    const tsr_fluid_look look = calm(1);
    cloud one = cloud_of(context, 1, at, NULL, 1);
    float *q = to_device(context, form, sizeof form);
    one.particles.shapes = q;
    require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
    float *depth = image_of(fluid, TSR_FLUID_IMAGE_RAW_DEPTH), *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS);
    const double scale = 2 * tan(15 / 57.29577951308232) / H;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const double d[3] = { (x + 0.5 - W / 2) * scale, 1, (H / 2 - y - 0.5) * scale };
            const double a = d[0] * d[0] / 4 + 1 + 4 * d[2] * d[2], b = 10, disc = b * b - a * 99;
            if (disc > 0.05) {
                const double expected = (b - sqrt(disc)) / a;
                assert_true(fabs((double)depth[y * W + x] - expected) < 1e-4);
                assert_true(fabs((double)thick[y * W + x] - 2 * sqrt(disc) / a * sqrt(d[0] * d[0] + 1 + d[2] * d[2])) < 2e-3);
            } else if (disc < -0.05) assert_true(isinf(depth[y * W + x]));
        }
    free(depth);
    free(thick);
    tsr_device_release(context, q, sizeof form);
    cloud_end(&one);
}

static void bad_input(void **unused)
{
    const float p[] = { 0, 5, 0 };
    tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 50);
    cloud one = cloud_of(context, 1, p, NULL, 0.3);
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
    tsr_image image;
    float *v = NULL;
    int32_t shape;
    (void)unused;
    o.width = o.height = 16;
    tsr_fluid *fresh;
    require_ok(tsr_fluid_create(context, &fresh));
    require_error(tsr_fluid_picture(fresh, 1, &image), TSR_ERROR_STATE, "nothing is drawn yet");
    require_error(tsr_fluid_image_shape(fresh, TSR_FLUID_IMAGE_DEPTH, &shape, NULL, NULL), TSR_ERROR_STATE, "draw a picture first");
    tsr_fluid_destroy(&fresh);
    tsr_fluid_destroy(&fresh);
    require_error(tsr_fluid_create(NULL, &fresh), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_fluid_draw(NULL, &one.particles, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "fluid is NULL");
    require_error(tsr_fluid_draw(fluid, NULL, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "particles is NULL");
    require_error(tsr_fluid_draw(fluid, &one.particles, NULL, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "camera is NULL");
    require_error(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, NULL, NULL, NULL), TSR_ERROR_ARGUMENT, "picture of 0 x 0");
#define REFUSED(field, value, text)                                                                                      \
    do {                                                                                                                 \
        tsr_fluid_options bad = o;                                                                                       \
        bad.field = (value);                                                                                             \
        require_error(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, NULL, &bad, NULL), TSR_ERROR_ARGUMENT, text); \
    } while (0)
    REFUSED(width, 0, "picture of 0 x 16");
    REFUSED(height, 20000, "expected 1 to 16384");
    REFUSED(resolution, 3, "expected 1 (full), 2 (half) or 4");
    REFUSED(iterations, -1, "iterations is -1");
    REFUSED(step, 1.1, "the flow is not stable");
    REFUSED(step, NAN, "the flow is not stable");
    REFUSED(global_step, 1, "expected at most");
    REFUSED(threshold, -1, "threshold is -1");
    REFUSED(smoother, (tsr_fluid_smoother)99, "smoother is 99");
    REFUSED(layers, 5, "expected 1 to 4");
    REFUSED(spray_high, NAN, "spray_high is nan");
    REFUSED(particle_scale, -2, "particle_scale is -2");
#undef REFUSED
    tsr_fluid_particles bad = one.particles;
    bad.radius = 0;
    require_error(tsr_fluid_draw(fluid, &bad, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "radius is 0");
    bad = one.particles;
    bad.count = -1;
    require_error(tsr_fluid_draw(fluid, &bad, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "-1 particles");
    bad = one.particles;
    bad.positions = NULL;
    require_error(tsr_fluid_draw(fluid, &bad, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "positions is NULL");
    require_error(tsr_fluid_agitate(fluid, &one.particles, 0.1, 1, 0.5), TSR_ERROR_ARGUMENT, "velocities is NULL");
    b.scenery = TSR_FLUID_PICTURE;
    require_error(tsr_fluid_draw(fluid, &one.particles, &camera, &b, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "color of the backdrop is NULL");
    b.scenery = TSR_FLUID_FLOOR;
    b.bounds.lower.x = NAN;
    require_error(tsr_fluid_draw(fluid, &one.particles, &camera, &b, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "bounds of the backdrop");
    camera.fov = 180;
    require_error(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, NULL, &o, NULL), TSR_ERROR_ARGUMENT, "180");
    camera.fov = 50;
    require_error(tsr_fluid_set_sky(fluid, "green", (tsr_vec3){ 0, 0, 1 }), TSR_ERROR_ARGUMENT, "sky 'green' is unknown");
    require_error(tsr_fluid_set_sky(fluid, "day", (tsr_vec3){ 0, 0, 0 }), TSR_ERROR_ARGUMENT, "up is");
    float dark[12] = { 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0 };
    tsr_volume *map;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ 1, 2, 3 }, NULL, dark, NULL, NULL, &map));
    require_error(tsr_fluid_set_panorama(fluid, map, (tsr_vec3){ 0, 0, 1 }), TSR_ERROR_ARGUMENT, "panorama of 1 x 2");
    tsr_volume_destroy(&map);
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ 2, 2, 3 }, NULL, dark, NULL, NULL, &map));
    require_error(tsr_fluid_set_panorama(fluid, map, (tsr_vec3){ 0, 0, 1 }), TSR_ERROR_ARGUMENT, "value -1 at pixel 2");
    tsr_volume_destroy(&map);
    tsr_fluid_look look;
    require_error(tsr_fluid_look_make(TSR_FLUID_WATER, 0, &look), TSR_ERROR_ARGUMENT, "radius is 0");
    tsr_fluid_preset preset;
    require_error(tsr_fluid_preset_parse("tar", &preset), TSR_ERROR_ARGUMENT, "look 'tar' is unknown");
    tsr_fluid_smoother smoother;
    require_error(tsr_fluid_smoother_parse("sand", &smoother), TSR_ERROR_ARGUMENT, "smoother 'sand' is unknown");
    float nowhere[4];
    require_error(tsr_fluid_download(fluid, (tsr_fluid_image)77, nowhere), TSR_ERROR_ARGUMENT, "image is 77");
    /* No particles: the scene. */
    cloud none = cloud_of(context, 0, NULL, NULL, 0.3);
    require_ok(tsr_fluid_draw(fluid, &none.particles, &camera, NULL, NULL, &o, NULL));
    v = image_of(fluid, TSR_FLUID_IMAGE_DEPTH);
    for (int i = 0; i < 256; i++) assert_true(isinf(v[i]));
    free(v);
    cloud_end(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(spheres),      cmocka_unit_test(sprites),     cmocka_unit_test(thickness),
                                        cmocka_unit_test(volume_stays), cmocka_unit_test(scene_hides), cmocka_unit_test(order),
                                        cmocka_unit_test(culling),      cmocka_unit_test(layers),      cmocka_unit_test(ellipsoids),
                                        cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests(tests, begin, end);
}
