/* Colours whose answer is known: the composite of single pixels, skies and panoramas, noise, agitation, resolutions against one another. */
#include "context.h"
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

/* light: [3][height][width] */
static void set_panorama(float *light, int width, int height)
{
    tsr_volume *map;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ width, height, 3 }, NULL, light, NULL, NULL, &map));
    require_ok(tsr_fluid_set_panorama(fluid, map, (tsr_vec3){ 0, 0, 1 }));
    tsr_volume_destroy(&map);
}

static void grey_sky(float level)
{
    float light[3 * 4 * 8];
    for (int i = 0; i < 96; i++) light[i] = level;
    set_panorama(light, 8, 4);
}

/* One ball before a picture of one colour, seen in the middle, where it faces the eye: T = 2 r, n.v = 1. */
static void middle(const tsr_fluid_look *look, const float back[3], double scale, float got[3])
{
    enum { W = 33, H = 33 };
    const float p[] = { 0, 10, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 10);
    static float color[W * H * 4];
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
    for (int i = 0; i < W * H; i++)
        for (int k = 0; k < 4; k++) color[4 * i + k] = k < 3 ? back[k] : 1;
    o.width = W;
    o.height = H;
    o.smoother = TSR_FLUID_UNSMOOTHED;
    o.given = TSR_FLUID_GIVEN_THICKNESS_BLUR;
    o.particle_scale = scale;
    o.thickness_step = 1;
    b.scenery = TSR_FLUID_PICTURE;
    float *device = to_device(context, color, sizeof color);
    b.color = device;
    cloud one = cloud_of(context, 1, p, NULL, 0.5);
    require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, &b, look, &o, NULL));
    float *v = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
    for (int k = 0; k < 3; k++) got[k] = v[4 * (H / 2 * W + W / 2) + k];
    for (int exposure = 1; exposure <= 3; exposure += 2) { /* the bytes beside shoulder and curve of sRGB in float64 */
        tsr_image image;
        require_ok(tsr_fluid_picture(fluid, exposure, &image));
        assert_true(image.width == W && image.height == H && image.channels == 3);
        for (int i = 0; i < W * H * 3; i++) {
            const double light = exposure * (double)v[i / 3 * 4 + i % 3], over = (light - 0.7) / 0.3;
            const double toned = fmin(1, fmax(0, over > 0 ? 0.7 + 0.3 * over / (1 + over) : light));
            const double shown = 255 * (toned <= 0.0031308 ? 12.92 * toned : 1.055 * pow(toned, 1 / 2.4) - 0.055);
            if (fabs(shown - image.pixels[i]) > 0.51) fail_msg("byte %d, exposure %d: %d, expected %g", i, exposure, image.pixels[i], shown);
        }
        tsr_image_destroy(&image);
    }
    free(v);
    cloud_end(&one);
    tsr_device_release(context, device, sizeof color);
}

/* C = (fluid + (S - fluid) exp(-k T)) (1 - F) + F L, here with T = 1 and F = F0. */
static void composite(void **unused)
{
    const float back[3] = { 0.2f, 0.5f, 0.8f };
    float got[3];
    tsr_fluid_look look = calm(0.5);
    (void)unused;
    grey_sky(0.4f);
    look.specular = look.matte = 0;
    for (int n = 0; n < 4; n++) {
        for (int k = 0; k < 3; k++) {
            look.color[k] = 0.1f * (float)(k + 1);
            look.absorption[k] = n == 0 ? 0 : n == 1 ? 0.5f * (float)(k + 1) : n == 2 ? 200 : 0.3f;
        }
        look.fresnel = n == 3 ? 1 : 0.1f * (float)n;
        look.refraction = 0.1f;
        middle(&look, back, 1, got);
        for (int k = 0; k < 3; k++) {
            const double through = exp(-(double)look.absorption[k]), f = (double)look.fresnel;
            const double expected = ((double)look.color[k] + ((double)back[k] - (double)look.color[k]) * through) * (1 - f) + f * 0.4;
            if (!(fabs((double)got[k] - expected) < 2e-3)) fail_msg("case %d channel %d: %.5f, expected %.5f", n, k, (double)got[k], expected);
        }
    }
    /* lit as a matte surface under an even sky: the colour times its level (without a sun: the brightest place of an even sky is any) */
    for (int k = 0; k < 3; k++) look.absorption[k] = 200;
    look.fresnel = 0;
    look.matte = 1;
    middle(&look, back, 1, got);
    for (int k = 0; k < 3; k++) assert_true((double)got[k] >= 0.99 * 0.4 * (double)look.color[k] && (double)got[k] < 0.81 * (double)look.color[k]);
}

/* Away from the middle light is shifted along the normal, more where the fluid is thicker. */
static void refraction(void **unused)
{
    enum { W = 65, H = 65 };
    const float p[] = { 0, 10, 0 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 10);
    static float color[W * H * 4];
    (void)unused;
    grey_sky(0);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            color[4 * (y * W + x)] = (float)x;
            color[4 * (y * W + x) + 1] = (float)y;
            color[4 * (y * W + x) + 2] = 0;
            color[4 * (y * W + x) + 3] = 1;
        }
    float *device = to_device(context, color, sizeof color);
    cloud one = cloud_of(context, 1, p, NULL, 0.5);
    float shift[2][W * H];
    for (int n = 0; n < 2; n++) {
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
        tsr_fluid_look look = calm(0.5);
        o.width = W;
        o.height = H;
        o.smoother = TSR_FLUID_UNSMOOTHED;
        b.scenery = TSR_FLUID_PICTURE;
        b.color = device;
        look.fresnel = look.specular = 0;
        look.absorption[0] = look.absorption[1] = look.absorption[2] = 0;
        look.refraction = n ? 0.04f : 0.02f;
        require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, &b, &look, &o, NULL));
        float *v = image_of(fluid, TSR_FLUID_IMAGE_COLOR), *normal = image_of(fluid, TSR_FLUID_IMAGE_NORMAL),
              *thick = image_of(fluid, TSR_FLUID_IMAGE_THICKNESS);
        for (int i = 0; i < W * H; i++) {
            shift[n][i] = v[4 * i] - (float)(i % W);
            const double expected = (double)normal[3 * i] * (double)look.refraction * (double)thick[i] * H;
            /* the look's absorption is 0, so that a pixel is what lies behind it: n_x times refraction times T, in pixels; nothing where there is no
             * fluid */
            if (thick[i] > 0 && normal[3 * i + 2] < 0.9f) shift[n][i] = 0; /* reflections begin */
            else if (!(fabs((double)shift[n][i] - (thick[i] > 0 ? expected : 0)) < 2e-3))
                fail_msg("shift at %d: %.4f, expected %.4f", i, (double)shift[n][i], expected);
        }
        assert_true(fabsf(shift[n][H / 2 * W + W / 2]) < 1e-3f);
        free(v);
        free(normal);
        free(thick);
    }
    for (int i = 0; i < W * H; i++)
        if (fabsf(shift[0][i]) > 1e-2f) assert_true(fabsf(shift[1][i] / shift[0][i] - 2) < 0.05f);
    cloud_end(&one);
    tsr_device_release(context, device, sizeof color);
}

/* A panorama is seen where it says: each pixel of the sky against a bilinear look-up here. */
static void panorama(void **unused)
{
    enum { PW = 64, PH = 32, W = 40, H = 30 };
    static float light[3][PH][PW];
    (void)unused;
    for (int y = 0; y < PH; y++)
        for (int x = 0; x < PW; x++) { /* smooth, so that the map's texels hardly matter */
            const double polar = (y + 0.5) / PH * 3.14159265358979, turn = (0.5 - (x + 0.5) / PW) * 6.283185307179586;
            light[0][y][x] = (float)(1 + sin(polar) * cos(turn));
            light[1][y][x] = (float)(1 + sin(polar) * sin(turn));
            light[2][y][x] = (float)(1 + cos(polar));
        }
    set_panorama(&light[0][0][0], PW, PH);
    for (int n = 0; n < 4; n++) {
        tsr_camera camera = { .fov = 70 };
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        const tsr_vec3 target = { n == 0 ? 1 : n == 1 ? -1 : 0.3, n == 2 ? -1 : 0.2, n == 3 ? -2 : 0.4 };
        require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 0 }, target, (tsr_vec3){ 0, 0, 1 }));
        require_ok(tsr_fluid_adjust_sky(fluid, n == 1 ? 90 : 0, n == 2 ? 0.5 : 1));
        o.width = W;
        o.height = H;
        cloud none = cloud_of(context, 0, NULL, NULL, 1);
        require_ok(tsr_fluid_draw(fluid, &none.particles, &camera, NULL, NULL, &o, NULL));
        float *v = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                tsr_vec3 origin, d;
                const double at[2] = { x + 0.5, y + 0.5 };
                require_ok(tsr_camera_ray(&camera, W, H, at, &origin, &d));
                const double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), level = n == 2 ? 0.5 : 1;
                const double seen[2][3] = { { d.x, d.y, d.z }, { d.y, -d.x, d.z } };
                for (int k = 0; k < 3; k++) {
                    const double expected = level * (1 + seen[n == 1][k] / length), got = (double)v[4 * (y * W + x) + k];
                    if (!(fabs(got - expected) < 0.03)) fail_msg("view %d at (%d, %d) channel %d: %.4f, expected %.4f", n, x, y, k, got, expected);
                }
            }
        free(v);
    }
    require_ok(tsr_fluid_adjust_sky(fluid, 0, 1));
}

/* The sunset just above its horizon, where it has no clouds: two colours and what is round the sun, all round, in float64. */
static void sunset(void **unused)
{
    enum { W = 8, H = 40, ROUND = 48 };
    static const double zenith[3] = { 0.06, 0.10, 0.28 }, horizon[3] = { 1.05, 0.48, 0.20 }, glow[3] = { 2.2, 0.9, 0.25 }, power = 14;
    const double turn = 3.14159265358979323846 / 180, sun[3] = { cos(150 * turn) * cos(9 * turn), sin(150 * turn) * cos(9 * turn), sin(9 * turn) };
    int seen = 0;
    (void)unused;
    require_ok(tsr_fluid_set_sky(fluid, "sunset", (tsr_vec3){ 0, 0, 1 }));
    for (int n = 0; n < ROUND; n++) {
        tsr_camera camera = { .fov = 2 };
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 0 },
                                      (tsr_vec3){ cos(360.0 / ROUND * n * turn), sin(360.0 / ROUND * n * turn), 0.014 }, (tsr_vec3){ 0, 0, 1 }));
        o.width = W;
        o.height = H;
        cloud none = cloud_of(context, 0, NULL, NULL, 1);
        require_ok(tsr_fluid_draw(fluid, &none.particles, &camera, NULL, NULL, &o, NULL));
        float *v = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                tsr_vec3 origin, d;
                const double at[2] = { x + 0.5, y + 0.5 };
                require_ok(tsr_camera_ray(&camera, W, H, at, &origin, &d));
                const double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), z = d.z / length,
                             toward = (d.x * sun[0] + d.y * sun[1] + d.z * sun[2]) / length;
                if (z < 0.008 || z > 0.016) continue; /* a texel within: the ground is met below 0, clouds begin at 0.02 */
                for (int k = 0; k < 3; k++) {
                    const double expected = horizon[k] + (zenith[k] - horizon[k]) * (1 - pow(1 - z, 3)) +
                                            (toward > 0 ? glow[k] * exp(power * (toward - 1)) : 0),
                                 got = (double)v[4 * (y * W + x) + k];
                    if (!(fabs(got - expected) < 0.01))
                        fail_msg("direction %d at height %.4f channel %d: %.4f, expected %.4f", n, z, k, got, expected);
                }
                seen++;
            }
        free(v);
    }
    assert_true(seen > 1000);
}

/* Noise of one particle: within its sprite, of mean about 0 over many, the same in the next frame, and faded below the surface. */
static void noise(void **unused)
{
    enum { W = 64, H = 64, N = 24 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 10);
    double sum = 0, squares = 0;
    uint64_t state = test_seed();
    float p[3 * N], *first = NULL;
    (void)unused;
    for (int i = 0; i < N; i++) {
        p[3 * i] = (float)(1.2 * (test_uniform(&state) - 0.5));
        p[3 * i + 1] = 10;
        p[3 * i + 2] = (float)(1.2 * (test_uniform(&state) - 0.5));
    }
    tsr_fluid_look look = calm(0.15);
    look.noise = 1;
    look.agitated = 1;
    for (int n = 0; n < 3; n++) {
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        o.width = W;
        o.height = H;
        o.smoother = TSR_FLUID_UNSMOOTHED;
        if (n == 2) { /* a wall of fluid before them */
            o.foam_depth = 0.5;
            for (int i = 1; i < N; i++) p[3 * i + 1] = 12;
            p[0] = p[2] = 0;
            p[1] = 9;
        }
        float radii[N];
        for (int i = 0; i < N; i++) radii[i] = n == 2 && i == 0 ? 0.8f : 0.15f;
        cloud all = cloud_of(context, N, p, radii, 0.15);
        require_ok(tsr_fluid_draw(fluid, &all.particles, &camera, NULL, &look, &o, NULL));
        float *v = image_of(fluid, TSR_FLUID_IMAGE_NOISE), *depth = image_of(fluid, TSR_FLUID_IMAGE_SURFACE),
              *foam = image_of(fluid, TSR_FLUID_IMAGE_FOAM);
        if (n < 2)
            for (int i = 0; i < W * H; i++) {
                if (isinf(depth[i])) assert_true(v[i] == 0);
                assert_true(foam[i] >= fabsf(v[i]));
                sum += (double)v[i];
                squares += (double)v[i] * (double)v[i];
            }
        if (n == 0) first = v;
        if (n == 1) {
            assert_memory_equal(first, v, W * H * 4);
            free(v);
        }
        if (n == 2) { /* only the large one's own noise is left, as if it were alone */
            cloud one = cloud_of(context, 1, p, radii, 0.15);
            require_ok(tsr_fluid_draw(fluid, &one.particles, &camera, NULL, &look, &o, NULL));
            float *alone = image_of(fluid, TSR_FLUID_IMAGE_NOISE), *alone_depth = image_of(fluid, TSR_FLUID_IMAGE_SURFACE);
            for (int i = 0; i < W * H; i++)
                if (!isinf(alone_depth[i])) assert_true(fabsf(alone[i] - v[i]) < 1e-4f);
            free(alone);
            free(alone_depth);
            cloud_end(&one);
            free(v);
        }
        free(depth);
        free(foam);
        cloud_end(&all);
    }
    free(first);
    print_message("noise: mean %.4f, deviation %.4f\n", sum / (2 * W * H), sqrt(squares / (2 * W * H)));
    assert_true(squares > 0 && fabs(sum / (2 * W * H)) < 0.2 * sqrt(squares / (2 * W * H)));
}

/* A jolt heats, time cools by exp(-t / 0.5): the amplitude of noise follows. */
static void agitation(void **unused)
{
    enum { W = 24, H = 24 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 10);
    const float p[6] = { -0.3f, 10, 0, 0.3f, 10, 0 };
    float velocities[6] = { 0 };
    double seen[5][2] = { { 0 } };
    (void)unused;
    tsr_fluid *own;
    require_ok(tsr_fluid_create(context, &own));
    tsr_fluid_look look = calm(0.2);
    look.noise = 0.25f;
    look.agitated = 1;
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    o.width = W;
    o.height = H;
    o.noise_reach = 1;
    cloud two = cloud_of(context, 2, p, NULL, 0.2);
    two.velocities = to_device(context, velocities, sizeof velocities);
    two.particles.velocities = two.velocities;
    for (int n = 0; n < 5; n++) {
        if (n == 2) velocities[3] = 2; /* the second particle is pushed */
        require_ok(tsr_device_move(context, two.velocities, NULL, velocities, sizeof velocities));
        require_ok(tsr_fluid_agitate(own, &two.particles, 0.1, 1.5, 0.5));
        require_ok(tsr_fluid_draw(own, &two.particles, &camera, NULL, &look, &o, NULL));
        float *v = image_of(own, TSR_FLUID_IMAGE_NOISE);
        for (int i = 0; i < W * H; i++) seen[n][i % W >= W / 2] += fabs((double)v[i]);
        free(v);
    }
    for (int n = 0; n < 5; n++) {
        const double heat = n < 2 ? 0 : exp(-0.2 * (n - 2)), expected = (0.25 + 0.75 * heat) / 0.25;
        assert_true(fabs(seen[n][0] / seen[0][0] - 1) < 1e-3);
        if (!(fabs(seen[n][1] / seen[0][1] - expected) < 0.01))
            fail_msg("frame %d: amplitude %.4f, expected %.4f", n, seen[n][1] / seen[0][1], expected);
    }
    cloud_end(&two);
    tsr_fluid_destroy(&own);
}

/* Strays are drawn as spray, dense particles as fluid, those between as both. */
static void spray(void **unused)
{
    enum { W = 48, H = 48 };
    const tsr_camera camera = camera_at((tsr_vec3){ 0, 0, 0 }, 20);
    const float p[] = { -1, 10, 0, 0, 10, 0, 1, 10, 0 }, densities[] = { 100, 550, 1000 };
    (void)unused;
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    const tsr_fluid_look look = calm(0.3);
    o.width = W;
    o.height = H;
    o.spray_low = 300;
    o.spray_high = 800;
    cloud three = cloud_of(context, 3, p, NULL, 0.3);
    three.densities = to_device(context, densities, sizeof densities);
    three.particles.densities = three.densities;
    require_ok(tsr_fluid_draw(fluid, &three.particles, &camera, NULL, &look, &o, NULL));
    float *depth = image_of(fluid, TSR_FLUID_IMAGE_SURFACE), *v = image_of(fluid, TSR_FLUID_IMAGE_SPRAY);
    double most[3] = { 0 };
    int fluids[3] = { 0 };
    for (int i = 0; i < W * H; i++) {
        const int third = i % W < W / 3 ? 0 : i % W < 2 * W / 3 ? 1 : 2;
        most[third] = fmax(most[third], (double)v[i]);
        fluids[third] += !isinf(depth[i]);
        assert_true(v[i] >= 0 && v[i] < 1);
    }
    print_message("spray %.3f %.3f %.3f\n", most[0], most[1], most[2]);
    assert_true(fluids[0] == 0 && fluids[1] > 10 && fluids[2] > 10);
    assert_true(most[0] > 0.3 && most[1] > 0.05 && most[1] < most[0] && most[2] == 0);
    free(depth);
    free(v);
    cloud_end(&three);
}

/* Structural similarity of the brightness of two pictures, windows of 8 x 8. */
static double similarity(const float *a, const float *b, int width, int height)
{
    double sum = 0;
    int n = 0;
    for (int y = 0; y + 8 <= height; y += 4)
        for (int x = 0; x + 8 <= width; x += 4, n++) {
            double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
            for (int k = 0; k < 64; k++) {
                const int i = 4 * ((y + k / 8) * width + x + k % 8) + 1;
                const double p = fmin((double)a[i], 1), q = fmin((double)b[i], 1);
                ma += p / 64;
                mb += q / 64;
                va += p * p / 64;
                vb += q * q / 64;
                cov += p * q / 64;
            }
            va -= ma * ma;
            vb -= mb * mb;
            cov -= ma * mb;
            sum += (2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4));
        }
    return sum / n;
}

/* Half and quarter resolution, the implicit flows, against full resolution with 100 explicit steps. */
static void resolutions(void **unused)
{
    const int slow = test_is_slow();
    const int w = slow ? 96 : 320, h = slow ? 72 : 240;
    uint64_t state = test_seed();
    int64_t count;
    double radius, got[5];
    (void)unused;
    float *p = pool(slow ? 12 : 40, &state, &count, &radius);
    tsr_camera camera = { .fov = 40 };
    require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0.5, 0, 1 }, (tsr_vec3){ 0, 4, -0.5 }, (tsr_vec3){ 0, 0, 1 }));
    require_ok(tsr_fluid_set_sky(fluid, "day", (tsr_vec3){ 0, 0, 1 }));
    cloud all = cloud_of(context, count, p, NULL, radius);
    float *reference = NULL;
    tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
    b.scenery = TSR_FLUID_FLOOR;
    b.bounds = (tsr_box){ { -1, 3, -1 - radius }, { 1, 5, 1 } };
    b.shadow = 1;
    b.shadow_bounds = b.bounds;
    for (int n = 0; n < 5; n++) {
        tsr_fluid_options o = TSR_FLUID_OPTIONS;
        const tsr_fluid_look look = calm(radius);
        o.width = w;
        o.height = h;
        o.particle_scale = 1.8;
        o.resolution = n == 1 ? 2 : n == 2 ? 4 : 1;
        o.smoother = n == 3 ? TSR_FLUID_FLOW_IMPLICIT : n == 4 ? TSR_FLUID_FLOW_MULTIGRID : TSR_FLUID_FLOW;
        require_ok(tsr_fluid_draw(fluid, &all.particles, &camera, &b, &look, &o, NULL));
        float *v = image_of(fluid, TSR_FLUID_IMAGE_COLOR);
        if (!n) reference = v;
        got[n] = similarity(reference, v, w, h);
        if (n) free(v);
    }
    print_message("similarity to full resolution with 100 steps: half %.4f, quarter %.4f, implicit %.4f, multigrid %.4f\n", got[1], got[2], got[3],
                  got[4]);
    assert_true(got[1] > (slow ? 0.6 : 0.85) && got[2] > (slow ? 0.5 : 0.75) && got[3] > 0.95 && got[4] > 0.8);
    free(reference);
    free(p);
    cloud_end(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(composite), cmocka_unit_test(refraction), cmocka_unit_test(panorama),
                                        cmocka_unit_test(sunset),    cmocka_unit_test(noise),      cmocka_unit_test(agitation),
                                        cmocka_unit_test(spray),     cmocka_unit_test(resolutions) };
    return cmocka_run_group_tests(tests, begin, end);
}
