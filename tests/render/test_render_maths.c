/* The renderer's own transcendental functions against libm, cameras and parsing. */
#include <math.h>

#include "render/maths.h"
#include "scenes.h"

static void functions_match_libm(void **state)
{
    (void)state;
    double worst_exp = 0, worst_log = 0, worst_srgb = 0, worst_back = 0;
    for (double x = -40; x <= 40; x += 0.00317) worst_exp = fmax(worst_exp, fabs((double)tsr_exp2((float)x) / exp2((double)(float)x) - 1));
    for (double e = -30; e <= 30; e += 0.0037) {
        float x = (float)exp2(e);
        worst_log = fmax(worst_log, fabs((double)tsr_log2(x) - log2((double)x)));
    }
    for (int i = 0; i <= 1000; i++) {
        double v = i / 1000.0, expected = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
        worst_srgb = fmax(worst_srgb, fabs((double)tsr_srgb_encode((float)v) - expected));
        worst_back = fmax(worst_back, fabs((double)tsr_srgb_decode((float)expected) - v));
    }
    assert_true(worst_exp < 1e-6);
    assert_true(worst_log < 4e-6);
    assert_true(worst_srgb < 2e-6);
    assert_true(worst_back < 3e-6);
    assert_true(tsr_exp2(-1000.0f) < 1e-30f && tsr_powf(0.0f, 2.0f) == 0.0f && tsr_saturatef(NAN) == 0.0f);
    assert_true(tsr_log2(1.0f) == 0.0f && tsr_log2(0.25f) == -2.0f && tsr_log2(8.0f) == 3.0f);
}

static void named_views(void **state)
{
    (void)state;
    const tsr_box bounds = { { -50, -80, -20 }, { 70, 90, 60 } };
    /* the direction from the centre to the eye and the picture's right, in RAS */
    static const double toward[6][3] = { { 0, 1, 0 }, { 0, -1, 0 }, { -1, 0, 0 }, { 1, 0, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
    static const double right[6][3] = { { -1, 0, 0 }, { 1, 0, 0 }, { 0, -1, 0 }, { 0, 1, 0 }, { 1, 0, 0 }, { -1, 0, 0 } };
    for (int space = TSR_SPACE_RAS; space <= TSR_SPACE_LPS; space++) {
        double sign = space == TSR_SPACE_LPS ? -1 : 1;
        for (int view = 0; view < 6; view++) {
            tsr_camera c;
            require_ok(tsr_camera_named(&bounds, (tsr_space)space, (tsr_view)view, TSR_PERSPECTIVE, 1.5, &c));
            double d[3] = { c.position.x - 10, c.position.y - 5, c.position.z - 20 }, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            double f[3] = { -d[0] / length, -d[1] / length, -d[2] / length };
            for (int k = 0; k < 3; k++) assert_true(fabs(c.rotation[2][k] + f[k]) < 1e-12); /* it looks at the middle */
            for (int k = 0; k < 3; k++) {
                double s = k < 2 ? sign : 1;
                assert_true(fabs(d[k] / length - s * toward[view][k]) < 1e-9);
                assert_true(fabs(c.rotation[0][k] - s * right[view][k]) < 1e-9);
            }
        }
    }
    tsr_view view;
    require_ok(tsr_view_parse("superior", &view));
    assert_int_equal(view, TSR_VIEW_SUPERIOR);
    require_error(tsr_view_parse("sideways", &view), TSR_ERROR_ARGUMENT, "sideways");
}

/* Every corner of the box must project into the picture, and one must come close to its border. */
static void fit_is_tight(void **state)
{
    (void)state;
    const tsr_box b = { { -50, -80, -20 }, { 70, 90, 60 } };
    for (int projection = 0; projection < 2; projection++) {
        tsr_camera c;
        const double aspect = 1.6;
        require_ok(tsr_camera_orbit(&b, TSR_SPACE_RAS, 37, 21, (tsr_projection)projection, aspect, &c));
        double most = 0;
        const double *r = c.rotation[0], *up = c.rotation[1], f[3] = { -c.rotation[2][0], -c.rotation[2][1], -c.rotation[2][2] };
        for (int i = 0; i < 8; i++) {
            double p[3] = { (i & 1 ? b.upper.x : b.lower.x) - c.position.x, (i & 2 ? b.upper.y : b.lower.y) - c.position.y,
                            (i & 4 ? b.upper.z : b.lower.z) - c.position.z };
            double x = p[0] * r[0] + p[1] * r[1] + p[2] * r[2], y = p[0] * up[0] + p[1] * up[1] + p[2] * up[2],
                   z = p[0] * f[0] + p[1] * f[1] + p[2] * f[2];
            double half = projection == TSR_PERSPECTIVE ? z * tan(c.fov * 3.14159265358979 / 360) : 0.5 * c.height;
            most = fmax(most, fmax(fabs(x) / (half * aspect), fabs(y) / half));
        }
        assert_true(most <= 1.0 && most > 0.93);
    }
}

static void bad_cameras(void **state)
{
    (void)state;
    tsr_camera c = test_front(30);
    require_ok(tsr_camera_check(&c));
    const tsr_vec3 o = { 0, 0, 0 }, z = { 0, 0, 1 }, y = { 0, -3, 0 };
    require_error(tsr_camera_look_at(&c, z, z, y), TSR_ERROR_ARGUMENT, "same point");
    require_error(tsr_camera_look_at(&c, (tsr_vec3){ 0, 100, 0 }, o, y), TSR_ERROR_ARGUMENT, "along the direction of view");
    require_ok(tsr_camera_check(&c)); /* it stays as it was */
    c = test_front(0);
    require_error(tsr_camera_check(&c), TSR_ERROR_ARGUMENT, "height 0");
    c = test_front(30);
    c.projection = TSR_PERSPECTIVE;
    c.fov = 180;
    require_error(tsr_camera_check(&c), TSR_ERROR_ARGUMENT, "fov 180");
    c.position.x = NAN;
    require_error(tsr_camera_check(&c), TSR_ERROR_ARGUMENT, "finite");
    const tsr_box empty = { { 1, 1, 1 }, { 1, 1, 1 } };
    require_error(tsr_camera_orbit(&empty, TSR_SPACE_RAS, 0, 0, TSR_PERSPECTIVE, 1, &c), TSR_ERROR_ARGUMENT, "empty");
}

static void bad_transfer_functions(void **state)
{
    (void)state;
    tsr_transfer t;
    tsr_transfer_preset preset;
    require_ok(tsr_transfer_parse("ct-bone", &preset));
    require_ok(tsr_transfer_make(preset, 0, 1, &t));
    require_error(tsr_transfer_parse("ct-bones", &preset), TSR_ERROR_ARGUMENT, "ct-bones");
    require_error(tsr_transfer_make(TSR_TRANSFER_GREY, 5, 5, &t), TSR_ERROR_ARGUMENT, "rising");
    require_error(tsr_transfer_make(TSR_TRANSFER_GREY, NAN, 5, &t), TSR_ERROR_ARGUMENT, "finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(functions_match_libm), cmocka_unit_test(named_views), cmocka_unit_test(fit_is_tight),
                                        cmocka_unit_test(bad_cameras), cmocka_unit_test(bad_transfer_functions) };
    return cmocka_run_group_tests_name("render_maths", tests, NULL, NULL);
}
