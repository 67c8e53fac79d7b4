/* Head tracking: points on a known path seen by two cameras and found again; the off-axis frustum against the geometry of the screen. */
#include <math.h>

#include "support.h"

/* x to the right, y down, z forward; turned about y. */
static tsr_camera camera(double x, double turn, double k1)
{
    const double c = cos(turn), s = sin(turn);
    const tsr_pinhole pinhole = { .width = 640,
                                  .height = 480,
                                  .fx = 700,
                                  .fy = 700,
                                  .cx = 320,
                                  .cy = 240,
                                  .rotation = { { c, 0, -s }, { 0, 1, 0 }, { s, 0, c } },
                                  .translation = { -c * x, 0, -s * x } };
    tsr_camera made;
    require_ok(tsr_camera_from_pinhole(&pinhole, &made));
    made.lens.k1 = k1;
    return made;
}

static void path(void **unused)
{
    const tsr_camera left = camera(-0.1, 0.05, -0.08), right = camera(0.1, -0.05, 0.03);
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const tsr_vec3 truth = { 0.3 * sin(0.1 * n), 0.2 * cos(0.07 * n), 2 + sin(0.03 * n) };
        double p[2], q[2], gap;
        tsr_vec3 d1, d2, found;
        require_ok(tsr_camera_project(&left, 640, 480, truth, p, NULL));
        require_ok(tsr_camera_project(&right, 640, 480, truth, q, NULL));
        require_ok(tsr_camera_ray(&left, 640, 480, p, NULL, &d1));
        require_ok(tsr_camera_ray(&right, 640, 480, q, NULL, &d2));
        require_ok(tsr_rays_nearest(left.position, d1, right.position, d2, &found, &gap));
        assert_true(fabs(found.x - truth.x) < 1e-9 && fabs(found.y - truth.y) < 1e-9 && fabs(found.z - truth.z) < 1e-9 && gap < 1e-9);
    }
}

static void skew_rays(void **unused)
{
    (void)unused;
    tsr_vec3 p;
    double gap;
    require_ok(tsr_rays_nearest((tsr_vec3){ 1, 2, 0 }, (tsr_vec3){ 3, 0, 0 }, (tsr_vec3){ -4, 7, 6 }, (tsr_vec3){ 0, 2, 0 }, &p, &gap));
    assert_true(fabs(p.x + 4) < 1e-12 && fabs(p.y - 2) < 1e-12 && fabs(p.z - 3) < 1e-12 && fabs(gap - 6) < 1e-12);
}

/* A place relative to a screen that is turned by `a`: along its lower edge, upwards, towards the viewer. */
static tsr_vec3 on_screen(double a, double right, double up, double out)
{
    return (tsr_vec3){ 1 + right * cos(a) - out * sin(a), -2 + up, 3 + right * sin(a) + out * cos(a) };
}

/* Corners of the screen become corners of the picture, whatever the eye. */
static void frustum(void **unused)
{
    uint64_t state = test_seed();
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const double a = test_uniform(&state) * 6;
        const tsr_vec3 eye = on_screen(a, 4 * test_uniform(&state) - 1, 3 * test_uniform(&state) - 1, 0.3 + test_uniform(&state));
        double projection[16], view[16];
        require_ok(tsr_frustum_off_axis(on_screen(a, 0, 0, 0), on_screen(a, 2, 0, 0), on_screen(a, 0, 1.2, 0), eye, 0.1, 50, projection, view));
        for (int k = 0; k < 5; k++) { /* four corners, and a point behind the screen on the eye's line through its middle */
            tsr_vec3 p = k < 4 ? on_screen(a, 2 * (k & 1), 1.2 * (k >> 1), 0) : on_screen(a, 1, 0.6, 0);
            if (k == 4) p = (tsr_vec3){ eye.x + 3 * (p.x - eye.x), eye.y + 3 * (p.y - eye.y), eye.z + 3 * (p.z - eye.z) };
            const double world[4] = { p.x, p.y, p.z, 1 };
            double seen[4], clip[4];
            for (int i = 0; i < 4; i++) {
                seen[i] = 0;
                for (int j = 0; j < 4; j++) seen[i] += view[4 * i + j] * world[j];
            }
            for (int i = 0; i < 4; i++) {
                clip[i] = 0;
                for (int j = 0; j < 4; j++) clip[i] += projection[4 * i + j] * seen[j];
            }
            const double x = clip[0] / clip[3], y = clip[1] / clip[3], z = clip[2] / clip[3];
            assert_true(fabs(x - (k == 4 ? 0 : k & 1 ? 1 : -1)) < 1e-9 && fabs(y - (k == 4 ? 0 : k >> 1 ? 1 : -1)) < 1e-9 && z > -1 && z < 1);
        }
    }
}

static void errors(void **unused)
{
    (void)unused;
    tsr_vec3 p;
    double m[16], v[16];
    const tsr_vec3 z = { 0, 0, 1 }, o = { 0, 0, 0 }, x = { 1, 0, 0 }, y = { 0, 1, 0 }, zero = { 0 };
    require_error(tsr_rays_nearest(o, z, x, (tsr_vec3){ 0, 0, -2 }, &p, NULL), TSR_ERROR_ARGUMENT, "parallel");
    require_error(tsr_rays_nearest(o, zero, x, z, &p, NULL), TSR_ERROR_ARGUMENT, "parallel");
    require_error(tsr_frustum_off_axis(o, x, x, z, 1, 2, m, v), TSR_ERROR_ARGUMENT, "the screen has no area");
    require_error(tsr_frustum_off_axis(o, x, y, (tsr_vec3){ 0, 0, -1 }, 1, 2, m, v), TSR_ERROR_ARGUMENT, "lies -1 in front");
    require_error(tsr_frustum_off_axis(o, x, y, z, 2, 1, m, v), TSR_ERROR_ARGUMENT, "expected 0 < near < far");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(path), cmocka_unit_test(skew_rays), cmocka_unit_test(frustum), cmocka_unit_test(errors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
