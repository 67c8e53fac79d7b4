/* Where things stand in a window: planes of slices for any order of the axes, and the way back from a pixel. */
#include "support.h"

#include <math.h>

#include "picture.h"

static viewer_image image_of(const double affine[3][4], tsr_space space)
{
    viewer_image image = { .size = { 40, 50, 60 } };
    memcpy(image.geometry.affine, affine, sizeof image.geometry.affine);
    image.geometry.space = space;
    image.spacing = tsr_geometry_spacing(&image.geometry);
    return image;
}

static void require_near(tsr_vec3 a, double x, double y, double z)
{
    if (fabs(a.x - x) > 1e-9 || fabs(a.y - y) > 1e-9 || fabs(a.z - z) > 1e-9) fail_msg("(%g, %g, %g), expected (%g, %g, %g)", a.x, a.y, a.z, x, y, z);
}

/* RAS, index axes as the world's: what radiologists expect, by hand. */
static void radiological(void **unused)
{
    (void)unused;
    static const double plain[3][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } };
    const viewer_image image = image_of(plain, TSR_SPACE_RAS);
    viewer_look look = { .width = 100, .height = 120, .zoom = 1 };
    viewer_plane p;
    look.axis = 2;
    look.position = 12;
    viewer_slice_plane(&image, &look, &p);
    require_near(p.right, -1, 0, 0); /* the patient's left on the right */
    require_near(p.up, 0, 1, 0);     /* the front up */
    require_near(p.centre, 19.5, 24.5, 12);
    assert_true(fabs(p.pixel - fmax(40 / 100.0, 50 / 120.0)) < 1e-12); /* it fits */
    look.axis = 0;
    viewer_slice_plane(&image, &look, &p);
    require_near(p.right, 0, -1, 0); /* sagittal: the nose to the left */
    require_near(p.up, 0, 0, 1);
    look.axis = 1;
    look.zoom = 2;
    look.pan[0] = 3;
    look.pan[1] = 4;
    viewer_slice_plane(&image, &look, &p);
    require_near(p.right, -1, 0, 0);
    require_near(p.centre, 19.5 + 3, 12, 29.5 + 4); /* the picture moved right and down: its middle lies left (+x) and up of the slice's */
    assert_true(fabs(p.pixel - fmax(40 / 100.0, 60 / 120.0) / 2) < 1e-12);
}

/* Files whose axes run another way, LPS included: the picture looks the same, and a pixel's index leads to its world place. */
static void any_axes(void **unused)
{
    (void)unused;
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const double spacing[3] = { 1, 1.5, 0.75 };
    for (int order = 0; order < 6; order++)
        for (int signs = 0; signs < 8; signs++)
            for (int tilt = 0; tilt < 2; tilt++) {
                double affine[3][4] = { { 0 } };
                const double c = tilt ? cos(0.3) : 1, s = tilt ? sin(0.3) : 0; /* about z */
                for (int k = 0; k < 3; k++) {
                    double v[3] = { 0, 0, 0 };
                    v[orders[order][k]] = (signs >> k & 1 ? -1 : 1) * spacing[k];
                    affine[0][k] = c * v[0] - s * v[1];
                    affine[1][k] = s * v[0] + c * v[1];
                    affine[2][k] = v[2];
                    affine[k][3] = 10 * k - 7;
                }
                for (int space = TSR_SPACE_RAS; space <= TSR_SPACE_LPS; space++) {
                    const viewer_image image = image_of(affine, (tsr_space)space);
                    const double left = space == TSR_SPACE_RAS ? -1 : 1,
                                 front = space == TSR_SPACE_RAS ? 1 : -1; /* world x of the patient's left, y of the front */
                    for (int axis = 0; axis < 3; axis++) {
                        const int world = orders[order][axis];
                        viewer_look look = { .width = 90, .height = 70, .axis = axis, .position = 13, .zoom = 1.5, .pan = { 2, -5 } };
                        viewer_plane p;
                        assert_int_equal(viewer_world_axis(&image.geometry, axis), world);
                        viewer_slice_plane(&image, &look, &p);
                        if (world == 0) assert_true(p.right.y * front < -0.9 && p.up.z > 0.9);
                        if (world == 1) assert_true(p.right.x * left > 0.9 && p.up.z > 0.9);
                        if (world == 2) assert_true(p.right.x * left > 0.9 && p.up.y * front > 0.9);
                        tsr_slice_options options = TSR_SLICE_OPTIONS;
                        viewer_frame f;
                        assert_int_equal(viewer_slice_options(&image, &p, &look, 45, 35, &options, &f), 0);
                        assert_true(options.axis == 3 && options.position == 0 && fabs(options.height - 35.0 * 2 * p.pixel) < 1e-9);
                        const float at[2] = { 11, 23 };
                        double index[3];
                        for (int k = 0; k < 3; k++) index[k] = (double)(f.origin[k] + at[0] * f.right[k] + at[1] * f.down[k]);
                        assert_true(fabs(index[axis] - 13) < 1e-4);
                        const tsr_vec3 w = tsr_geometry_to_world(&image.geometry, (tsr_vec3){ index[0], index[1], index[2] });
                        const double u = ((double)at[0] - 22.5) * (double)f.pixel, v = (17.5 - (double)at[1]) * (double)f.pixel;
                        const double d[3] = { w.x - p.centre.x - u * p.right.x - v * p.up.x, w.y - p.centre.y - u * p.right.y - v * p.up.y,
                                              w.z - p.centre.z - u * p.right.z - v * p.up.z };
                        assert_true(fabs(d[0]) + fabs(d[1]) + fabs(d[2]) < 1e-3);
                    }
                }
            }
}

/* A ray through the middle of the window meets what the camera looks at; a plane in front of the surface wins, one outside the volume does not. */
static void picks(void **unused)
{
    (void)unused;
    static const double plain[3][4] = { { 1, 0, 0, -20 }, { 0, 1, 0, -25 }, { 0, 0, 1, -30 } };
    const viewer_image image = image_of(plain, TSR_SPACE_RAS);
    const tsr_camera camera = { .position = { 0, 100, 0 }, .rotation = { { -1, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 } }, .projection = TSR_PERSPECTIVE, .fov = 40 };
    const tsr_scene_info info = { .bounds = { { -5, -7, -2 }, { 5, 7, 2 } } };
    const tsr_vec3 y = { 0, 1, 0 };
    tsr_vec3 at;
    assert_true(fabs(viewer_camera_pixel(&info, &camera, 200) - 0.36397023) < 1e-7); /* 200 tan 20 degrees / 200 */
    assert_int_equal(viewer_pick_point(&image, &camera, 1, 0.5, 0.5, 100, 0, y, 0, &at), 0);
    require_near(at, 20, 25, 30);
    assert_int_equal(viewer_pick_point(&image, &camera, 1, 0.5, 0.5, 100, 1, y, 10, &at), 0);
    require_near(at, 20, 35, 30); /* the plane y = 10 is nearer */
    assert_int_equal(viewer_pick_point(&image, &camera, 1, 0.5, 0.5, 100, 1, y, 50, &at), 0);
    require_near(at, 20, 25, 30); /* y = 50 lies outside: the surface behind it */
    assert_int_equal(viewer_pick_point(&image, &camera, 1, 0.5, 0.5, HUGE_VAL, 0, y, 0, &at), -1);
    assert_int_equal(viewer_pick_point(&image, &camera, 1, 0.0, 0.0, HUGE_VAL, 1, y, 0, &at), -1); /* past the volume */
    /* to the right of the window is the patient's left (-x) when one looks from the front; up is z */
    assert_int_equal(viewer_pick_point(&image, &camera, 2, 0.6, 0.4, HUGE_VAL, 1, y, 0, &at), 0);
    const double slope = tan(20 * (3.14159265358979323846 / 180));
    require_near(at, 20 - 0.2 * slope * 2 * 100, 25, 30 + 0.2 * slope * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(radiological), cmocka_unit_test(any_axes), cmocka_unit_test(picks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
