/* Transfer functions of one to three dimensions, tables, pre-integration, media side by side, layers, refinement; on each device. */
#include "scenes.h"

enum { SIZE = 16 };

static const tsr_color white = { 1, 1, 1 }, red = { 1, 0, 0 }, blue = { 0, 0, 1 };

static double sampled(const tsr_transfer *t, double v, double g, double l)
{
    double alpha = -1;
    tsr_color c;
    require_ok(tsr_transfer_sample(t, v, g, l, &alpha, &c));
    return alpha;
}

/* Each shape on each axis against the formula in float64. */
static void primitives(void **state)
{
    (void)state;
    for (int shape = 0; shape < 3; shape++) {
        tsr_transfer t = { .gaussians = 1,
                           .gaussian = { { .centre = 3,
                                           .width = 2,
                                           .gradient_centre = 1,
                                           .gradient_width = 0.5f,
                                           .alpha = 0.8f,
                                           .color = white,
                                           .level_centre = -4,
                                           .level_width = 3,
                                           .shape = (tsr_transfer_shape)shape } } };
        for (int held = 0; held < 8; held++) {
            t.gaussian[0].beyond = held;
            for (double v = -6; v <= 12; v += 1.7)
                for (double g = 0; g < 4; g += 0.37)
                    for (double l = -12; l < 8; l += 1.3) {
                        double x = (v - 3) / 2, y = (g - 1) / 0.5, z = (l + 4) / 3;
                        if (held & 1) x = fmin(x, 0);
                        if (held & 2) y = fmin(y, 0);
                        if (held & 4) z = fmin(z, 0);
                        double most = fmax(fabs(x), fmax(fabs(y), fabs(z))), square = x * x + y * y + z * z;
                        double expected = shape == 0 ? exp(-square) : shape == 1 ? most <= 1 : fmax(0, 1 - most);
                        if (shape == 1 && fabs(most - 1) < 1e-5) continue; /* on its border */
                        assert_true(fabs(sampled(&t, v, g, l) - 0.8 * expected) < 2e-6);
                    }
        }
    }
    /* a full matrix: q = K d, K upper triangular */
    tsr_transfer t = { .gaussians = 1,
                       .gaussian = { { .centre = 1,
                                       .width = 2,
                                       .gradient_centre = 2,
                                       .gradient_width = 4,
                                       .alpha = 1,
                                       .color = white,
                                       .level_width = 0.5f,
                                       .shear = { 0.25f, -0.5f, 1 } } } };
    for (double v = -3; v < 4; v += 0.9)
        for (double l = -1; l < 1; l += 0.3) {
            double d[3] = { v - 1, 1.5 - 2, l }, x = d[0] / 2 + 0.25 * d[1] - 0.5 * d[2], y = d[1] / 4 + d[2], z = d[2] / 0.5;
            assert_true(fabs(sampled(&t, v, 1.5, l) - exp(-(x * x + y * y + z * z))) < 2e-6);
        }
    /* opacities add up and are clamped, colours mix by opacity in linear light */
    t = (tsr_transfer){ .gaussians = 2, .gaussian = { { .width = 1, .alpha = 0.9f, .color = red }, { .width = 1, .alpha = 0.3f, .color = blue } } };
    tsr_color c;
    double alpha;
    require_ok(tsr_transfer_sample(&t, 0, 0, 0, &alpha, &c));
    assert_true(alpha == 1);
    double linear = 0.25, srgb = 1.055 * pow(linear, 1 / 2.4) - 0.055;
    assert_true(fabs((double)c.b - srgb) < 1e-5 && c.g == 0.0f);
    assert_true(sampled(&t, (double)NAN, 0, 0) == 0);
    t.gaussian[1].shape = (tsr_transfer_shape)7;
    require_error(tsr_transfer_sample(&t, 0, 0, 0, &alpha, &c), TSR_ERROR_ARGUMENT, "shape 7");
    t.gaussian[1].shape = TSR_TRANSFER_BOX;
    t.gaussian[1].beyond = 1;
    t.gaussian[1].shear[0] = 1;
    require_error(tsr_transfer_sample(&t, 0, 0, 0, &alpha, &c), TSR_ERROR_ARGUMENT, "no shear");
}

/* A scene of a source, and perhaps a surface, drawn from the front as an orthographic picture of `height` world units. */
struct stage {
    tsr_context *context;
    tsr_scene *scene;
    tsr_volume *source, *surface;
    tsr_camera camera;
    tsr_render_options options;
};

static struct stage stage_make(int32_t n, test_field source, test_field surface, double height)
{
    struct stage s = { .context = test_context(), .camera = test_front(height), .options = TSR_RENDER_OPTIONS };
    require_ok(tsr_scene_create(s.context, &s.scene));
    if (source) {
        s.source = test_volume_of(s.context, n, (tsr_vec3){ 1, 1, 1 }, source);
        require_ok(tsr_scene_set_volume(s.scene, s.source));
    }
    if (surface) {
        s.surface = test_volume_of(s.context, n, (tsr_vec3){ 1, 1, 1 }, surface);
        require_ok(tsr_scene_set_surface_volume(s.scene, s.surface, 0, 1));
    }
    s.options.transparent = 1;
    s.options.unshaded = 1;
    s.options.specular = -1;
    s.options.ambient_occlusion = -1;
    return s;
}
static test_view stage_draw(struct stage *s) { return test_draw(s->context, s->scene, &s->camera, &s->options, SIZE); }
static void stage_end(struct stage *s)
{
    tsr_scene_destroy(&s->scene);
    tsr_volume_destroy(&s->source);
    tsr_volume_destroy(&s->surface);
    assert_int_equal(tsr_context_memory(s->context)->current_bytes, 0);
    tsr_context_destroy(&s->context);
}

/* The level-set value as an axis of the function of the source volume: a constant medium shown where -6 < phi < -2 of a ball of radius 10. */
static void level_axis(void **state)
{
    (void)state;
    struct stage s = stage_make(33, test_one, test_ball, 0.01);
    tsr_transfer t = {
        .gaussians = 1,
        .gaussian = { { .centre = 1, .width = 1, .alpha = 0.05f, .color = white, .level_centre = -4, .level_width = 2, .shape = TSR_TRANSFER_BOX } }
    };
    s.options.mode = TSR_RENDER_VOLUME;
    s.options.transfer = &t;
    s.options.step = 0.05;
    test_view v = stage_draw(&s);
    assert_true(fabs((double)v.rgba[3] - (1 - pow(0.95, 8))) < 3e-3); /* radii 4 to 8, twice */
    test_view_free(&v);
    tsr_scene_clear_surface(s.scene);
    tsr_picture *picture;
    require_ok(tsr_picture_create(s.context, 4, 4, &picture));
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_STATE, "level-set value");
    tsr_picture_destroy(&picture);
    stage_end(&s);
}

static double along_y(double x, double y, double z) { return y + 0 * x + 0 * z; }

/* -ln(1 - opacity) of a function along the values from a to b at unit speed, by the midpoint rule in float64. */
static double thickness(const tsr_transfer *t, double a, double b)
{
    enum { N = 4000 };
    double sum = 0;
    for (int i = 0; i < N; i++) sum -= log(1 - sampled(t, a + (b - a) * (i + 0.5) / N, 0, 0)) * (b - a) / N;
    return sum;
}

/* A peak narrower than the step: samples miss it, the pre-integrated function does not. Tables reproduce what they tabulate. */
static void tables_and_integrals(void **state)
{
    (void)state;
    struct stage s = stage_make(33, along_y, NULL, 4);
    tsr_transfer t = { .points = 5, .point = { { -2, 0, red }, { -1.3f, 0.7f, red }, { -1, 0, red }, { 5, 0, blue }, { 6, 0.2f, blue } } };
    double expected = 1 - exp(-thickness(&t, -16, 16)), front = 1 - exp(-thickness(&t, 3, 16));
    s.options.mode = TSR_RENDER_VOLUME;
    s.options.transfer = &t;
    s.options.step = 3;
    test_view plain = stage_draw(&s);
    s.options.lookup = TSR_LOOKUP_PREINTEGRATED;
    test_view whole = stage_draw(&s);
    print_message("opacity %.5f: sampled %.5f, pre-integrated %.5f\n", expected, (double)plain.rgba[3], (double)whole.rgba[3]);
    assert_true(fabs((double)plain.rgba[3] - expected) > 10 * fabs((double)whole.rgba[3] - expected));
    assert_true(fabs((double)whole.rgba[3] - expected) < 4e-3);
    /* blue stands in front (y = 16 is nearest) and is 1 - exp of its own thickness; red gets what is left */
    assert_true(fabs((double)whole.rgba[2] - front) < 4e-3 && fabs((double)whole.rgba[0] - (expected - front)) < 4e-3);
    test_view_free(&whole);
    whole = stage_draw(&s); /* the table is kept: the same bits */
    test_view again = stage_draw(&s);
    assert_memory_equal(whole.rgba, again.rgba, SIZE * SIZE * 16);
    test_view_free(&again);
    test_view_free(&whole);
    test_view_free(&plain);
    s.options.step = 0.25;
    s.options.lookup = TSR_LOOKUP_NONE;
    plain = stage_draw(&s);
    s.options.lookup = TSR_LOOKUP_TABLE;
    s.options.lookup_size = 4096;
    whole = stage_draw(&s);
    for (int i = 0; i < SIZE * SIZE * 4; i++) assert_true(fabsf(plain.rgba[i] - whole.rgba[i]) < 3e-3f);
    test_view_free(&plain);
    test_view_free(&whole);
    /* of value and gradient: the gradient's magnitude is 1 everywhere inside */
    t = (tsr_transfer){ .gaussians = 1,
                        .gaussian = { { .centre = 2, .width = 3, .gradient_centre = 0.9f, .gradient_width = 0.4f, .alpha = 0.3f, .color = white } } };
    s.options.lookup_size = 0;
    whole = stage_draw(&s);
    s.options.lookup = TSR_LOOKUP_NONE;
    plain = stage_draw(&s);
    for (int i = 0; i < SIZE * SIZE * 4; i++) assert_true(fabsf(plain.rgba[i] - whole.rgba[i]) < 2e-3f);
    assert_true(plain.rgba[3] > 0.3f);
    test_view_free(&plain);
    test_view_free(&whole);
    tsr_picture *picture;
    require_ok(tsr_picture_create(s.context, 4, 4, &picture));
    s.options.lookup = TSR_LOOKUP_PREINTEGRATED;
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_UNSUPPORTED, "gradient");
    s.options.lookup = TSR_LOOKUP_TABLE;
    s.options.lookup_size = 5000;
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_ARGUMENT, "2 to 4096");
    s.options.lookup = (tsr_lookup)3;
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_ARGUMENT, "lookup 3");
    tsr_picture_destroy(&picture);
    stage_end(&s);
}

/* The surface as a medium: opacity of a ray through the middle of the ball, and how it fades towards the clipping plane. */
static void surface_as_medium(void **state)
{
    (void)state;
    struct stage s = stage_make(41, NULL, test_ball, 0.01);
    tsr_transfer t = { .gaussians = 1, .gaussian = { { .width = 1.5f, .alpha = 0.3f, .color = red } } };
    s.options.surface_transfer = &t;
    s.options.step = 0.1;
    test_view v = stage_draw(&s);
    double one = thickness(&t, -8, 8); /* phi runs from 10 to -10 and back at unit speed */
    print_message("shell: %.5f, expected %.5f\n", (double)v.rgba[3], 1 - exp(-2 * one));
    assert_true(fabs((double)v.rgba[3] - (1 - exp(-2 * one))) < 3e-3 && v.rgba[0] == v.rgba[3]);
    assert_true(isinf(v.depth[0]));
    test_view_free(&v);
    /* the plane y = 0 leaves the far half; the surface there is 10 from the plane: beyond the ramp it is whole, within it is clear */
    s.options.clip = 1;
    s.options.clip_normal = (tsr_vec3){ 0, 1, 0 };
    t.gaussian[0].gradient_centre = 5;
    t.gaussian[0].gradient_width = 1;
    t.gaussian[0].beyond = 2;
    v = stage_draw(&s);
    assert_true(fabs((double)v.rgba[3] - (1 - exp(-one))) < 3e-3);
    test_view_free(&v);
    t.gaussian[0].gradient_centre = 40;
    v = stage_draw(&s);
    assert_true(v.rgba[3] == 0.0f);
    test_view_free(&v);
    /* the same from a tile list, whose unstored tiles are skipped unless the function sees them */
    tsr_tiles_options tile_options = TSR_TILES_OPTIONS;
    tile_options.domain = (tsr_size3){ 41, 41, 41 };
    tile_options.band = 6;
    tsr_tiles *tiles;
    require_ok(tsr_tiles_create(s.context, tsr_volume_geometry(s.surface), &tile_options, &tiles));
    require_ok(tsr_tiles_load(tiles, s.surface));
    require_ok(tsr_scene_set_surface_tiles(s.scene, tiles));
    s.options.clip = 0;
    t = (tsr_transfer){ .gaussians = 1, .gaussian = { { .width = 1, .alpha = 0.3f, .color = red } } };
    one = thickness(&t, -8, 8);
    v = stage_draw(&s);
    assert_true(fabs((double)v.rgba[3] - (1 - exp(-2 * one))) < 3e-3);
    test_view_free(&v);
    t = (tsr_transfer){ .points = 2, .point = { { -5, 0.05f, red }, { -4, 0, red } } }; /* the inside as a body */
    v = stage_draw(&s);
    double body = -20 * log(0.95) + 2 * thickness(&t, -5, -4) + 2 * 5 * log(0.95);
    print_message("body: %.5f, expected %.5f\n", (double)v.rgba[3], 1 - exp(-body));
    assert_true(fabs((double)v.rgba[3] - (1 - exp(-body))) < 3e-3);
    test_view_free(&v);
    tsr_scene_clear_surface(s.scene);
    tsr_tiles_destroy(&tiles);
    tsr_mesh *mesh = test_ball_mesh(8, 10);
    require_ok(tsr_scene_set_surface_mesh(s.scene, mesh));
    tsr_picture *picture;
    require_ok(tsr_picture_create(s.context, 4, 4, &picture));
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_STATE, "surface_transfer");
    tsr_picture_destroy(&picture);
    tsr_mesh_destroy(&mesh);
    stage_end(&s);
}

static double other_ball(double x, double y, double z) { return sqrt((x - 3) * (x - 3) + (y + 2) * (y + 2) + z * z) - 8.0; }

/* Two media in one place: neither comes first; a clear one changes nothing. */
static void media_commute(void **state)
{
    (void)state;
    tsr_transfer a = { .gaussians = 1, .gaussian = { { .width = 4, .alpha = 0.2f, .color = red } } },
                 b = { .gaussians = 1, .gaussian = { { .width = 3, .alpha = 0.3f, .color = { 0.2f, 0.9f, 0.4f } } } }, clear = a;
    struct stage s = stage_make(33, test_ball, other_ball, 30);
    s.options.transfer = &a;
    s.options.surface_transfer = &b;
    test_view one = stage_draw(&s);
    clear.gaussian[0].alpha = 0;
    s.options.transfer = &clear;
    test_view only_b = stage_draw(&s);
    s.options.mode = TSR_RENDER_SURFACE;
    test_view b_alone = stage_draw(&s);
    stage_end(&s);
    assert_memory_equal(only_b.rgba, b_alone.rgba, SIZE * SIZE * 16);
    s = stage_make(33, other_ball, test_ball, 30);
    s.options.transfer = &b;
    s.options.surface_transfer = &a;
    test_view two = stage_draw(&s);
    s.options.mode = TSR_RENDER_VOLUME;
    test_view b_source = stage_draw(&s);
    stage_end(&s);
    double seen = 0;
    for (int i = 0; i < SIZE * SIZE * 4; i++) {
        assert_true(fabsf(one.rgba[i] - two.rgba[i]) < 2e-6f);
        assert_true(fabsf(b_source.rgba[i] - b_alone.rgba[i]) < 2e-6f);
        seen = fmax(seen, (double)one.rgba[i] - (double)b_alone.rgba[i]);
    }
    assert_true(seen > 0.2);
    test_view_free(&one);
    test_view_free(&two);
    test_view_free(&only_b);
    test_view_free(&b_alone);
    test_view_free(&b_source);
}

/* A translucent ball in a medium: air, wall, inside, wall, air in this order, whatever the ball is made of. */
static void layers_in_order(void **state)
{
    (void)state;
    struct stage s = stage_make(33, test_one, test_ball, 0.01);
    tsr_mesh *mesh = test_ball_mesh(24, 10);
    tsr_transfer t = { .gaussians = 1, .gaussian = { { .centre = 1, .width = 0.5f, .alpha = 0.04f, .color = blue } } };
    s.options.transfer = &t;
    s.options.surface_color = red;
    s.options.surface_opacity = 0.5;
    for (int kind = 0; kind < 2; kind++) {
        if (kind) require_ok(tsr_scene_set_surface_mesh(s.scene, mesh));
        for (int layers = 1; layers <= 3; layers++) {
            s.options.surface_layers = layers;
            test_view v = stage_draw(&s);
            double air = pow(0.96, 6), inside = pow(0.96, 20), second = layers > 1 ? 0.5 : 1;
            double medium = (1 - air) + air * 0.5 * (1 - inside) + air * 0.5 * inside * second * (1 - air);
            double all = 1 - air * 0.5 * inside * second * air;
            print_message("%s, %d layers: blue %.4f of %.4f, alpha %.4f of %.4f\n", kind ? "mesh" : "field", layers, (double)v.rgba[2], medium,
                          (double)v.rgba[3], all);
            assert_true(fabs((double)v.rgba[2] - medium) < 1e-3 && fabs((double)v.rgba[3] - all) < 1e-3);
            assert_true(fabsf(v.depth[0] - 90) < 0.05f);
            test_view_free(&v);
        }
    }
    tsr_picture *picture;
    require_ok(tsr_picture_create(s.context, 4, 4, &picture));
    s.options.surface_layers = 65;
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_ARGUMENT, "surface_layers 65");
    tsr_picture_destroy(&picture);
    tsr_mesh_destroy(&mesh);
    stage_end(&s);
}

/* Flat shading takes the triangle's own plane: one colour over an octant of an octahedron, where vertex normals give a gradient. */
static void flat_and_smooth(void **state)
{
    (void)state;
    struct stage s = stage_make(0, NULL, NULL, 6);
    tsr_mesh *mesh = test_ball_mesh(2, 5); /* an octahedron */
    require_ok(tsr_scene_set_surface_mesh(s.scene, mesh));
    test_look(&s.camera, (tsr_vec3){ 57, 57, 57 }, (tsr_vec3){ 0, 0, 0 });
    float spread[2];
    for (int flat = 0; flat < 2; flat++) {
        s.options.flat = flat;
        test_view v = stage_draw(&s);
        float low = 9, high = 0;
        for (int y = 6; y < 10; y++)
            for (int x = 6; x < 10; x++) {
                low = fminf(low, v.rgba[4 * (y * SIZE + x)]);
                high = fmaxf(high, v.rgba[4 * (y * SIZE + x)]);
            }
        spread[flat] = high - low;
        assert_true(low > 0.05f);
        test_view_free(&v);
    }
    print_message("spread of the shade: smooth %.4f, flat %.2g\n", (double)spread[0], (double)spread[1]);
    assert_true(spread[1] < 1e-5f && spread[0] > 0.01f);
    tsr_mesh_destroy(&mesh);
    stage_end(&s);
}

/* Passes average to what supersampling approaches: the coverage of the ball's edge; each is a picture of its own. */
static void passes_converge(void **state)
{
    (void)state;
    struct stage s = stage_make(33, NULL, test_ball, 24);
    tsr_picture *picture, *single;
    require_ok(tsr_picture_create(s.context, SIZE, SIZE, &picture));
    double sum[SIZE * SIZE] = { 0 }, worst = 0, first = 0, last = 0;
    enum { PASSES = 24 };
    for (int pass = 0; pass < PASSES; pass++) {
        s.options.pass = pass;
        require_ok(tsr_picture_create(s.context, SIZE, SIZE, &single)); /* black: the mean is 1 / (pass + 1) of what pass drew */
        require_ok(tsr_render(s.scene, &s.camera, &s.options, single));
        require_ok(tsr_render(s.scene, &s.camera, &s.options, picture));
        test_view one = test_fetch(single), all = test_fetch(picture);
        for (int i = 0; i < SIZE * SIZE; i++) {
            sum[i] += (double)one.rgba[4 * i + 3] * (pass + 1);
            worst = fmax(worst, fabs(sum[i] / (pass + 1) - (double)all.rgba[4 * i + 3]));
        }
        double off = 0; /* from the exact coverage of a disc, by 64 x 64 points per pixel */
        for (int y = 0; y < SIZE && (pass == 0 || pass == PASSES - 1); y++)
            for (int x = 0; x < SIZE; x++) {
                int inside = 0;
                for (int k = 0; k < 4096; k++) {
                    double px = (x + (k % 64 + 0.5) / 64 - 8) * 1.5, py = (y + (k / 64 + 0.5) / 64 - 8) * 1.5;
                    inside += px * px + py * py < 100;
                }
                off = fmax(off, fabs(inside / 4096.0 - (double)all.rgba[4 * (y * SIZE + x) + 3]));
            }
        if (pass == 0) first = off;
        last = off;
        test_view_free(&one);
        test_view_free(&all);
        tsr_picture_destroy(&single);
    }
    print_message("coverage off by %.3f after one pass, %.3f after %d\n", first, last, PASSES);
    assert_true(worst < 1e-5 && first > 0.3 && last < first / 3);
    s.options.pass = -1;
    require_error(tsr_render(s.scene, &s.camera, &s.options, picture), TSR_ERROR_ARGUMENT, "pass -1");
    tsr_picture_destroy(&picture);
    stage_end(&s);
}

/* Tinted: the opacity is that of the whole, the colour half that of the surface inside. */
static void tinted_inside(void **state)
{
    (void)state;
    struct stage s = stage_make(33, test_one, test_ball, 0.01);
    tsr_transfer t = { .gaussians = 1, .gaussian = { { .centre = 1, .width = 0.5f, .alpha = 0.04f, .color = blue } } };
    s.options.mode = TSR_RENDER_VOLUME;
    s.options.transfer = &t;
    s.options.surface_color = red;
    s.options.region = TSR_REGION_TINT;
    test_view v = stage_draw(&s);
    double air = pow(0.96, 6), inside = pow(0.96, 20), half = 0.5 * air * (1 - inside);
    assert_true(fabs((double)v.rgba[3] - (1 - pow(0.96, 32))) < 1e-4);
    assert_true(fabs((double)v.rgba[0] - half) < 3e-3);
    assert_true(fabs((double)v.rgba[2] - ((1 - air) + half + air * inside * (1 - air))) < 3e-3);
    test_view_free(&v);
    stage_end(&s);
}

/* A class made by probing has the mean and the deviation of the probed values. */
static void probing(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, along_y);
    tsr_transfer t = { 0 };
    const tsr_vec3 points[4] = { { 0, 1, 0 }, { 3, 2.5, 1 }, { -4, 5, 2 }, { 1, 7.5, -3 } };
    require_ok(tsr_transfer_probe(&t, volume, points, 4, 1, 0.2, red));
    assert_int_equal(t.gaussians, 1);
    assert_true(fabs((double)t.gaussian[0].centre - 4) < 1e-5 && fabs((double)t.gaussian[0].width - sqrt((9 + 2.25 + 1 + 12.25) / 4)) < 1e-5);
    assert_true(fabs((double)t.gaussian[0].gradient_centre - 1) < 1e-5 && fabs((double)t.gaussian[0].gradient_width - 0.01) < 1e-6);
    require_ok(tsr_transfer_probe(&t, volume, points, 1, 0, 0.2, blue));
    assert_true(fabs((double)t.gaussian[1].width - 0.32) < 1e-5 && t.gaussian[1].gradient_width == 0.0f);
    const tsr_vec3 away = { 0, 40, 0 };
    require_error(tsr_transfer_probe(&t, volume, &away, 1, 0, 0.2, blue), TSR_ERROR_ARGUMENT, "outside");
    assert_int_equal(t.gaussians, 2);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(primitives),           cmocka_unit_test(level_axis),
                                        cmocka_unit_test(tables_and_integrals), cmocka_unit_test(surface_as_medium),
                                        cmocka_unit_test(media_commute),        cmocka_unit_test(layers_in_order),
                                        cmocka_unit_test(flat_and_smooth),      cmocka_unit_test(passes_converge),
                                        cmocka_unit_test(tinted_inside),        cmocka_unit_test(probing) };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
