/* Pictures whose answer is known: nothing but surroundings, slabs, a white furnace, Fresnel's reflection; the phase function; tones. */
#include "light_support.h"

#include "light/view.h"

static tsr_camera look(double x, double y, double z, double height)
{
    tsr_camera c = { .projection = TSR_ORTHOGRAPHIC, .height = height };
    require_ok(tsr_camera_look_at(&c, (tsr_vec3){ x, y, z }, (tsr_vec3){ 0, 0, 0 }, fabs(z) > fabs(x) + fabs(y) ? (tsr_vec3){ 0, 1, 0 } : (tsr_vec3){ 0, 0, 1 }));
    return c;
}
static void all(double c[3], double v)
{
    c[0] = c[1] = c[2] = v;
}
static tsr_light_view_options small(double sky)
{
    tsr_light_view_options o = TSR_LIGHT_VIEW_OPTIONS;
    o.width = 24;
    o.height = 16;
    all(o.surroundings.lower, sky);
    all(o.surroundings.horizon, sky);
    all(o.surroundings.upper, sky);
    return o;
}
static tsr_volume *view(tsr_context *on, const tsr_light_matter *m, const tsr_light_field *f, const tsr_camera *c, const tsr_light_view_options *o)
{
    tsr_volume *p, *host;
    require_ok(tsr_light_view(on, m, f, c, o, &p));
    require_ok(tsr_volume_copy(p, NULL, &host));
    tsr_volume_destroy(&p);
    return host;
}

/* Where the index is 1 the picture is that of the surroundings, to the bit; a panorama too. */
static void nothing_is_seen_through(void **unused)
{
    tsr_light_matter *m = light_matter(context, 12, 1, light_one, NULL, 0);
    const tsr_camera c = look(20, 30, 10, 20);
    tsr_light_view_options o = small(0.7);
    (void)unused;
    tsr_volume *p = view(context, m, NULL, &c, &o);
    const float *v = (const float *)tsr_volume_data_const(p);
    for (int i = 0; i < 24 * 16 * 3; i++) assert_true(v[i] == 0.7f);
    tsr_volume_destroy(&p);
    tsr_volume *map;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 64, 32, 3 }, NULL, &map));
    float *to = (float *)tsr_volume_data(map);
    for (int i = 0; i < 64 * 32; i++) { /* red: columns, green: rows */
        to[i] = (float)(i % 64);
        to[64 * 32 + i] = (float)(i / 64);
    }
    o.surroundings.map = map;
    p = view(context, m, NULL, &c, &o); /* all rays of an orthographic camera have one direction */
    v = (const float *)tsr_volume_data_const(p);
    const double length = sqrt(20.0 * 20 + 30 * 30 + 10 * 10), d[3] = { -20 / length, -30 / length, -10 / length };
    double column = (atan2(d[0], d[1]) / (2 * M_PI) + 0.5) * 64 - 0.5;
    const double row = (0.5 - asin(d[2]) / M_PI) * 32 - 0.5;
    if (column < 0) column += 64;
    assert_true(fabs((double)v[0] - column) < 2e-3 && fabs((double)v[24 * 16] - row) < 2e-3);
    tsr_volume_destroy(&map);
    tsr_volume_destroy(&p);
    tsr_light_matter_destroy(&m);
}

static double haze(const double p[3]) { (void)p; return 0.11; }
/* exp(-s d) through 12 voxels, with and without skipping. */
static void slab_dims(void **unused)
{
    tsr_light_matter *m = light_matter(context, 12, 1, light_one, haze, 0);
    const tsr_camera c = look(0, -30, 0, 4);
    (void)unused;
    for (int skip = 0; skip < 2; skip++) {
        tsr_light_view_options o = small(2);
        o.no_skipping = skip;
        tsr_volume *p = view(context, m, NULL, &c, &o);
        const float *v = (const float *)tsr_volume_data_const(p);
        for (int i = 0; i < 24 * 16 * 3; i++) assert_true(fabs((double)v[i] / (2 * exp(-0.11 * 12)) - 1) < 0.06 * 0.5 + 1e-3); /* half a step at the far side */
        tsr_volume_destroy(&p);
    }
    tsr_light_matter_destroy(&m);
}

static double ball(const double p[3])
{
    const double t = fmin(fmax(0.5 - (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 6) / 2.4, 0), 1);
    return 1 + 0.5 * t * t * (3 - 2 * t);
}
/* A ball of clear glass in white surroundings is not to be seen. */
static void white_furnace(void **unused)
{
    tsr_light_matter *m = light_matter(context, 20, 1, ball, NULL, 0);
    const tsr_camera c = look(10, -30, 12, 18);
    (void)unused;
    for (int n = -1; n < 3; n++) {
        tsr_light_view_options o = small(1);
        o.reflections = n;
        o.dispersion = n == 2 ? 0.03 : 0;
        tsr_volume *p = view(context, m, NULL, &c, &o);
        const float *v = (const float *)tsr_volume_data_const(p);
        for (int i = 0; i < 24 * 16 * 3; i++)
            if (!(fabs((double)v[i] - 1) < 2e-3)) fail_msg("pixel %d is %g, expected 1", i, (double)v[i]);
        tsr_volume_destroy(&p);
    }
    tsr_light_matter_destroy(&m);
}

static double half_glass(const double p[3])
{
    const double t = fmin(fmax(0.5 - p[2] / 2.4, 0), 1);
    return 1 + 0.5 * t * t * (3 - 2 * t);
}
/* Of light from above, 4 % come back from glass of index 1.5; at the angle of 60 degrees, Fresnel's share. */
static void fresnel(void **unused)
{
    tsr_light_matter *m = light_matter(context, 24, 1, half_glass, NULL, 0);
    (void)unused;
    for (int n = 0; n < 2; n++) {
        const double a = n ? M_PI / 3 : 0, ca = cos(a), cb = sqrt(1 - pow(sin(a) / 1.5, 2));
        const double s = (ca - 1.5 * cb) / (ca + 1.5 * cb), q = (1.5 * ca - cb) / (1.5 * ca + cb), expected = 0.5 * (s * s + q * q);
        const tsr_camera c = look(30 * sin(a) + 1e-9, 0, 30 * ca, 1);
        tsr_light_view_options o = small(0);
        all(o.surroundings.upper, 1); /* reached where a direction rises by more than 1 / 1.4 */
        o.surroundings.horizon[0] = o.surroundings.horizon[1] = o.surroundings.horizon[2] = n ? 1 : 0;
        if (n) all(o.surroundings.lower, 0);
        tsr_volume *p = view(context, m, NULL, &c, &o);
        const double got = (double)((const float *)tsr_volume_data_const(p))[24 * 8 + 12];
        print_message("reflected at %.0f degrees: %.5f, expected %.5f\n", a * 180 / M_PI, got, expected);
        assert_true(fabs(got - expected) < 0.03 * expected);
        tsr_volume_destroy(&p);
    }
    tsr_light_matter_destroy(&m);
}

/* Henyey and Greenstein: whole over the sphere, g its mean cosine. The functions that replace libm's. */
static void functions(void **unused)
{
    (void)unused;
    for (int i = -9; i <= 9; i += 3) {
        const double g = i / 10.0;
        double sum = 0, mean = 0;
        const int steps = 100000;
        for (int k = 0; k < steps; k++) { /* even in the cosine */
            const double c = -1 + (k + 0.5) * 2 / steps, p = (double)tsr_light_phase((float)g, (float)c) * 2 * M_PI * 2 / steps;
            sum += p;
            mean += p * c;
        }
        assert_true(fabs(sum - 1) < 1e-5 && fabs(mean - g) < 1e-5);
    }
    for (int i = 0; i < 4000; i++) {
        const double x = -0.02 * i, y = 1e-3 * (i + 1), a = 0.002 * i;
        if (x > -80) assert_true(fabs((double)tsr_light_exp((float)x) / exp((double)(float)x) - 1) < 4e-7);
        assert_true(fabs((double)tsr_light_log2((float)y) - log2((double)(float)y)) < 2e-6);
        assert_true(fabs((double)tsr_light_raise((float)y, 1.0f / 2.4f) / pow((double)(float)y, 1 / 2.4) - 1) < 4e-6);
        assert_true(fabs((double)tsr_light_angle((float)sin(a), (float)cos(a)) * 2 * M_PI - atan2(sin(a), cos(a))) < 4e-6 || fabs(fabs(atan2(sin(a), cos(a))) - M_PI) < 1e-5);
        const float d[3] = { (float)(sin(a) * cos(3 * a)), (float)(sin(a) * sin(3 * a)), (float)cos(a) };
        float back[3];
        tsr_light_unpack(tsr_light_pack(d), back);
        for (int k = 0; k < 3; k++) assert_true(fabs((double)back[k] - (double)d[k]) < 1e-4);
    }
}

/* This device draws what the CPU draws, to the bit; samples that come one by one average to samples that come at once. */
static void same_everywhere(void **unused)
{
    tsr_volume *p[2], *part[2];
    tsr_image image[2];
    (void)unused;
    for (int c = 0; c < 2; c++) {
        tsr_context *on = c ? test_context_on("cpu", 1) : context;
        tsr_light_matter *m = light_matter(on, 16, 1, ball, haze, 0);
        const tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0.3, 0.4, -1 }, .color = { 3, 2, 1 } };
        tsr_light_options how = TSR_LIGHT_OPTIONS;
        tsr_light_field *f;
        tsr_camera camera = { .fov = 40 };
        tsr_light_view_options o = small(0.5);
        tsr_light_tone_options t = TSR_LIGHT_TONE_OPTIONS;
        const tsr_light_panel panel = { .direction = { 0, 0.3, 1 }, .width = 40, .height = 60, .color = { 9, 8, 7 } };
        how.grid = 8;
        how.capacity = 40000;
        how.ground.present = 1;
        how.ground.height = -9;
        how.ground.texels = 32;
        require_ok(tsr_light_simulate(on, m, &s, 1, &how, &f, NULL));
        require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 10, -30, 12 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
        o.sources = &s;
        o.source_count = 1;
        all(o.floor.color, 0.6);
        all(o.floor.second, 0.2);
        o.floor.square = 4;
        o.floor.gloss = 0.05;
        o.samples = 2;
        o.surroundings.panels = &panel;
        o.surroundings.panel_count = 1;
        p[c] = view(on, m, f, &camera, &o);
        if (!c) {
            o.samples = 1;
            o.first_sample = 0;
            part[0] = view(on, m, f, &camera, &o);
            o.first_sample = 1;
            part[1] = view(on, m, f, &camera, &o);
        }
        tsr_volume *again;
        o.samples = 2;
        o.first_sample = 0;
        require_ok(tsr_light_view(on, m, f, &camera, &o, &again));
        require_ok(tsr_light_tone(on, again, &t, &image[c]));
        tsr_volume_destroy(&again);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
        if (c) tsr_context_destroy(&on);
    }
    assert_memory_equal(tsr_volume_data_const(p[0]), tsr_volume_data_const(p[1]), 24 * 16 * 3 * 4);
    assert_memory_equal(image[0].pixels, image[1].pixels, 24 * 16 * 3);
    const float *a = (const float *)tsr_volume_data_const(p[0]), *b = (const float *)tsr_volume_data_const(part[1]);
    int differs = 0;
    for (int i = 0; i < 24 * 16 * 3; i++) differs += a[i] != b[i];
    assert_true(differs > 24); /* another sample is another place in the pixel */
    for (int c = 0; c < 2; c++) {
        tsr_volume_destroy(&p[c]);
        tsr_volume_destroy(&part[c]);
        tsr_image_destroy(&image[c]);
    }
}

/* One in the middle, one near each corner. */
static double grain(const double p[3])
{
    const double q[3] = { fabs(p[0]), fabs(p[1]), fabs(p[2]) };
    const int middle = p[0] == 1.5 && p[1] == -2.5 && p[2] == 2.5, corner = q[0] == 10.5 && q[1] == 10.5 && q[2] == 10.5;
    return middle || corner ? 4 : 0;
}
/* Grains that shine in the void, in the middle and near every corner, seen from all sides: the way through empty voxels ends before the next grain, and the
 * picture's light is what they give. */
static void grains_from_all_sides(void **unused)
{
    tsr_volume *shines = light_volume(24, 1, grain);
    tsr_light_volumes v = { .struct_size = sizeof v };
    tsr_light_matter *m;
    (void)unused;
    for (int k = 0; k < 3; k++) v.emission[k] = shines;
    require_ok(tsr_light_matter_create(context, &v, &m));
    for (int i = 0; i < 6; i++) {
        double from[3] = { 0, 0, 0 }, sum = 0;
        from[i / 2] = i % 2 ? -100 : 100;
        tsr_camera c = look(from[0], from[1], from[2], 24);
        tsr_light_view_options o = small(0);
        o.width = o.height = 72;
        tsr_volume *p = view(context, m, NULL, &c, &o);
        const float *light = (const float *)tsr_volume_data_const(p);
        for (int k = 0; k < 72 * 72; k++) sum += (double)light[k] / 9; /* three pixels a voxel */
        if (fabs(sum - 36) > 1) fail_msg("from (%g, %g, %g): %g, expected 36", from[0], from[1], from[2], sum);
        tsr_volume_destroy(&p);
    }
    tsr_light_matter_destroy(&m);
    tsr_volume_destroy(&shines);
}

/* The eye comes from what it was used to towards the picture's mean, as time goes by. */
static void adaption(void **unused)
{
    const double mean = 0.37;
    tsr_volume *picture, *there;
    (void)unused;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 8, 6, 3 }, NULL, &picture));
    for (int i = 0; i < 8 * 6 * 3; i++) ((float *)tsr_volume_data(picture))[i] = (float)mean;
    require_ok(tsr_volume_copy(picture, context, &there));
    static const struct {
        double before, seconds, adaption;
    } eye[] = { { 0, 0.1, 0 }, { 0.25, 0.3, 0 }, { 0.25, 0.3, 2 }, { 1.5, 0.3, 0.1 }, { 5, 0, 0 } };
    for (size_t i = 0; i < sizeof eye / sizeof *eye; i++) {
        double adapted = eye[i].before;
        tsr_light_tone_options o = TSR_LIGHT_TONE_OPTIONS;
        tsr_image image;
        o.adapted = &adapted;
        o.seconds = eye[i].seconds;
        o.adaption = eye[i].adaption;
        require_ok(tsr_light_tone(context, there, &o, &image));
        const double share = exp(-eye[i].seconds / (eye[i].adaption > 0 ? eye[i].adaption : 0.5));
        const double expected = eye[i].before > 0 ? share * eye[i].before + (1 - share) * mean : mean;
        if (fabs(adapted / expected - 1) > 1e-3) fail_msg("used to %g: %g, expected %g", eye[i].before, adapted, expected);
        tsr_image_destroy(&image);
        adapted = -0.5;
        require_error(tsr_light_tone(context, there, &o, &image), TSR_ERROR_ARGUMENT, "expected no negative");
    }
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&picture);
}

static void errors(void **unused)
{
    tsr_light_matter *m = light_matter(context, 4, 1, light_one, NULL, 0);
    tsr_camera c = look(0, -9, 0, 4);
    tsr_light_view_options o = small(1);
    tsr_volume *p = NULL;
    tsr_image image;
    (void)unused;
    require_error(tsr_light_view(context, NULL, NULL, &c, &o, &p), TSR_ERROR_ARGUMENT, "matter is NULL");
    o.step = 100;
    require_error(tsr_light_view(context, m, NULL, &c, &o, &p), TSR_ERROR_ARGUMENT, "step is 100");
    o = small(-1);
    require_error(tsr_light_view(context, m, NULL, &c, &o, &p), TSR_ERROR_ARGUMENT, "lower[0] is -1");
    o = small(1);
    o.width = -3;
    require_error(tsr_light_view(context, m, NULL, &c, &o, &p), TSR_ERROR_ARGUMENT, "picture of -3 x 16");
    c.fov = 400;
    c.projection = TSR_PERSPECTIVE;
    o = small(1);
    require_error(tsr_light_view(context, m, NULL, &c, &o, &p), TSR_ERROR_ARGUMENT, "fov");
    assert_null(p);
    require_error(tsr_light_tone(context, NULL, NULL, &image), TSR_ERROR_ARGUMENT, "picture is NULL");
    tsr_light_matter_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_seen_through),
        cmocka_unit_test(slab_dims),
        cmocka_unit_test(white_furnace),
        cmocka_unit_test(fresnel),
        cmocka_unit_test(functions),
        cmocka_unit_test(errors),
        cmocka_unit_test(same_everywhere),
        cmocka_unit_test(grains_from_all_sides),
        cmocka_unit_test(adaption),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
