/* Cameras: matrices against numbers worked out by hand, points against OpenCV's, projections against their own rays, refusals by name. */
#include <math.h>

#include "support.h"

static const double PI = 3.14159265358979323846;

static tsr_camera plain(void) { return (tsr_camera){ .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 90 }; }

static void near_matrix(const double m[16], const double rows[4][4], double tolerance)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            if (!(fabs(m[4 * c + r] - rows[r][c]) <= tolerance)) fail_msg("row %d, column %d: %.17g, expected %.17g", r, c, m[4 * c + r], rows[r][c]);
}

/* gluPerspective, glOrtho and glFrustum for numbers whose results are plain fractions. */
static void matrices(void **unused)
{
    (void)unused;
    double view[16], p[16];
    tsr_camera c = plain();
    c.clip[0] = 1;
    c.clip[1] = 3;
    require_ok(tsr_camera_matrices(&c, 200, 100, NULL, p));
    near_matrix(p, (const double[4][4]){ { 0.5, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, -2, -3 }, { 0, 0, -1, 0 } }, 1e-15);
    c.aspect = 4;
    c.offset[0] = 0.25;
    c.offset[1] = -0.5;
    require_ok(tsr_camera_matrices(&c, 200, 100, view, p));
    near_matrix(p, (const double[4][4]){ { 0.25, 0, 0.25, 0 }, { 0, 1, -0.5, 0 }, { 0, 0, -2, -3 }, { 0, 0, -1, 0 } }, 1e-15);
    near_matrix(view, (const double[4][4]){ { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } }, 0);
    tsr_camera o = plain();
    o.projection = TSR_ORTHOGRAPHIC;
    o.height = 4;
    o.clip[0] = -1;
    o.clip[1] = 4;
    require_ok(tsr_camera_matrices(&o, 200, 100, NULL, p));
    near_matrix(p, (const double[4][4]){ { 0.25, 0, 0, 0 }, { 0, 0.5, 0, 0 }, { 0, 0, -0.4, -0.6 }, { 0, 0, 0, 1 } }, 1e-15);
    tsr_camera f = plain();
    require_ok(tsr_camera_set_frustum(&f, -1, 3, -2, 1, 2, 10)); /* glFrustum */
    require_ok(tsr_camera_matrices(&f, 17, 5, NULL, p));
    near_matrix(p, (const double[4][4]){ { 1, 0, 0.5, 0 }, { 0, 4.0 / 3, -1.0 / 3, 0 }, { 0, 0, -1.5, -5 }, { 0, 0, -1, 0 } }, 1e-15);
    require_ok(tsr_camera_set_frustum(&f, -2, 2, -1, 1, 1, 3)); /* symmetric: gluPerspective */
    require_ok(tsr_camera_matrices(&f, 17, 5, NULL, p));
    near_matrix(p, (const double[4][4]){ { 0.5, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, -2, -3 }, { 0, 0, -1, 0 } }, 1e-15);
    /* from the side: a point ahead comes to (0, 0, -distance) */
    require_ok(tsr_camera_look_at(&c, (tsr_vec3){ 5, 0, 0 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    require_ok(tsr_camera_matrices(&c, 200, 100, view, NULL));
    near_matrix(view, (const double[4][4]){ { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 1, 0, 0, -5 }, { 0, 0, 0, 1 } }, 1e-15);
}

/* Cameras of a light field, moved in their plane and focused on one window: its corners are the corners of every image. */
static void light_field(void **unused)
{
    (void)unused;
    const double w = 3, h = 2, d = 7, near_ = 0.5, pixels[2] = { 320, 200 };
    for (int n = 0; n < 9; n++) {
        const double sx = n % 3 - 1, sy = 0.7 * (n / 3) - 0.5;
        tsr_camera c = plain();
        c.position = (tsr_vec3){ sx, sy, 0 };
        require_ok(tsr_camera_set_frustum(&c, (-w / 2 - sx) * near_ / d, (w / 2 - sx) * near_ / d, (-h / 2 - sy) * near_ / d,
                                          (h / 2 - sy) * near_ / d, near_, 100));
        for (int corner = 0; corner < 4; corner++) {
            const tsr_vec3 p = { corner & 1 ? w / 2 : -w / 2, corner & 2 ? -h / 2 : h / 2, -d };
            double pixel[2], depth;
            require_ok(tsr_camera_project(&c, 320, 200, p, pixel, &depth));
            assert_true(fabs(pixel[0] - (corner & 1 ? pixels[0] : 0)) < 1e-9 && fabs(pixel[1] - (corner & 2 ? pixels[1] : 0)) < 1e-9);
            assert_true(fabs(depth - d) < 1e-12);
        }
    }
}

/* Points of OpenCV 4 (projectPoints, fisheye.projectPoints); its pixels count from the centre of the first one. */
static const tsr_pinhole cv = { .width = 640,
                                .height = 480,
                                .fx = 510.25,
                                .fy = 498.75,
                                .cx = 323,
                                .cy = 231.75,
                                .rotation = { { 0.95058061790609139, -0.12733457491763028, -0.28316496056507373 },
                                              { 0.06803131640494002, 0.97529030895304569, -0.21019170595074288 },
                                              { 0.30293271340263711, 0.18054007669439776, 0.93575480327791882 } },
                                .translation = { 0.1, -0.2, 0.3 } };
static void opencv(void **unused)
{
    (void)unused;
    static const double points[4][3] = { { 0.5, 0.3, 2 }, { -0.8, 0.4, 3 }, { 1, -0.9, 2.5 }, { 0, 0, 4 } };
    static const double seen[3][4][2] = {
        { { 316.238804411338, 169.947187623154 },
          { 74.7676294074542, 154.775283512449 },
          { 397.886599397075, -17.2243288020063 },
          { 197.285561487605, 108.12753236644 } },
        { { 316.234017958831, 169.900180928666 },
          { 71.3792106275149, 153.725191778933 },
          { 398.9912366647, -20.8493878172675 },
          { 196.505829811509, 107.359390875426 } },
        { { 316.252813754528, 169.897761608026 },
          { 73.5009308684826, 154.083663390055 },
          { 399.169466187779, -20.3541670373525 },
          { 197.054070948583, 107.668740013574 } },
    };
    static const double k[3][6] = { { -0.28, 0.11, -0.03, 0.05, -0.02, 0.004 }, { -0.28, 0.11, -0.03 }, { 0.03, -0.02, 0.01, -0.003 } };
    for (int lens = 0; lens < 3; lens++) {
        tsr_pinhole pinhole = cv, back;
        tsr_camera c;
        memcpy(pinhole.k, k[lens], sizeof k[lens]);
        pinhole.fisheye = lens == 2;
        if (lens < 2) pinhole.p[0] = 0.0012;
        if (lens < 2) pinhole.p[1] = -0.0023;
        require_ok(tsr_camera_from_pinhole(&pinhole, &c));
        for (int i = 0; i < 4; i++) {
            double pixel[2], depth;
            const tsr_vec3 p = { points[i][0], points[i][1], points[i][2] };
            require_ok(tsr_camera_project(&c, 640, 480, p, pixel, &depth));
            for (int a = 0; a < 2; a++)
                if (!(fabs(pixel[a] - 0.5 - seen[lens][i][a]) < 1e-9))
                    fail_msg("lens %d, point %d: %.15g, expected %.15g", lens, i, pixel[a] - 0.5, seen[lens][i][a]);
            double z = pinhole.translation[2];
            for (int m = 0; m < 3; m++) z += pinhole.rotation[2][m] * points[i][m];
            assert_true(fabs(depth - z) < 1e-12);
            tsr_vec3 origin, direction;
            require_ok(tsr_camera_ray(&c, 640, 480, pixel, &origin, &direction));
            assert_true(fabs(origin.x + depth * direction.x - p.x) + fabs(origin.y + depth * direction.y - p.y) +
                            fabs(origin.z + depth * direction.z - p.z) <
                        1e-10);
        }
        /* the same camera for half the image: half the pixels */
        double full[2], half[2];
        require_ok(tsr_camera_project(&c, 640, 480, (tsr_vec3){ 0.5, 0.3, 2 }, full, NULL));
        require_ok(tsr_camera_project(&c, 320, 240, (tsr_vec3){ 0.5, 0.3, 2 }, half, NULL));
        assert_true(fabs(full[0] - 2 * half[0]) + fabs(full[1] - 2 * half[1]) < 1e-9);
        require_ok(tsr_camera_to_pinhole(&c, 640, 480, &back));
        const double *a = &pinhole.fx, *b = &back.fx;
        for (int i = 0; i < 4; i++) assert_true(fabs(a[i] - b[i]) < 1e-10);
        for (int i = 0; i < 9; i++) assert_true(back.rotation[i / 3][i % 3] == pinhole.rotation[i / 3][i % 3]);
        for (int i = 0; i < 3; i++) assert_true(fabs(back.translation[i] - pinhole.translation[i]) < 1e-15);
        for (int i = 0; i < 6; i++) assert_true(fabs(back.k[i] - pinhole.k[i]) < 1e-15);
        assert_true(fabs(back.p[0] - pinhole.p[0]) + fabs(back.p[1] - pinhole.p[1]) < 1e-15 && back.fisheye == pinhole.fisheye);
    }
}

static double pick(uint64_t *seed, double low, double high) { return low + (high - low) * test_uniform(seed); }

/* Whatever the camera: a point on the ray of a pixel is seen at that pixel, and at its depth. */
static void rays_and_points(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    for (int n = 0; n < 3000; n++) {
        tsr_camera c = { .projection = (tsr_projection)(n % 3), .fov = pick(&seed, 5, 150), .height = pick(&seed, 0.1, 50) };
        const int32_t w = 1 + (int32_t)(test_random(&seed) % 2000), h = 1 + (int32_t)(test_random(&seed) % 2000);
        require_ok(tsr_camera_look_at(&c, (tsr_vec3){ pick(&seed, -9, 9), pick(&seed, -9, 9), pick(&seed, -9, 9) },
                                      (tsr_vec3){ pick(&seed, -9, 9), pick(&seed, -9, 9), pick(&seed, -9, 9) }, (tsr_vec3){ 0.1, 0.2, 1 }));
        if (n & 4) c.aspect = pick(&seed, 0.3, 3);
        if (n & 8) c.offset[0] = pick(&seed, -2, 2);
        if (n & 8) c.offset[1] = pick(&seed, -2, 2);
        if (c.projection == TSR_PROJECTION_MATRIX) {
            tsr_camera model = c;
            model.projection = n & 16 ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC;
            require_ok(tsr_camera_matrices(&model, w, h, NULL, c.matrix));
            if (n & 32) /* sheared: a light field of parallel rays */
                for (int k = 0; k < 4; k++) c.matrix[4 * k] += 0.2 * c.matrix[4 * k + 2];
        } else if (n & 64 && !(n & 8)) {
            c.lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = pick(&seed, -0.05, 0.1), .k4 = pick(&seed, 0, 0.05), .p1 = 0.001, .p2 = -0.002 };
        }
        const double pixel[2] = { pick(&seed, 0, w), pick(&seed, 0, h) }, distance = pick(&seed, 0.1, 100);
        tsr_vec3 origin, direction;
        double again[2], depth;
        if (n & 64 && h > w) continue; /* tall images reach beyond what such a lens is for */
        require_ok(tsr_camera_ray(&c, w, h, pixel, &origin, &direction));
        const tsr_vec3 p = { origin.x + distance * direction.x, origin.y + distance * direction.y, origin.z + distance * direction.z };
        require_ok(tsr_camera_project(&c, w, h, p, again, &depth));
        if (!(fabs(again[0] - pixel[0]) < 1e-6 && fabs(again[1] - pixel[1]) < 1e-6 && fabs(depth - distance) < 1e-6 * (1 + distance)))
            fail_msg("turn %d: pixel (%.9g, %.9g) at %.9g comes back as (%.9g, %.9g) at %.9g", n, pixel[0], pixel[1], distance, again[0], again[1],
                     depth);
    }
}

/* The fish-eye by its definition, and up to the edge of what a pinhole can show. */
static void fisheye(void **unused)
{
    (void)unused;
    tsr_camera c = plain();
    c.lens = (tsr_lens){ .model = TSR_LENS_FISHEYE, .k1 = 0.02 };
    double worst = 0;
    for (int i = 0; i < 89; i++) { /* degrees from the axis; fov 90: a focal length of half the height */
        const double t = i * PI / 180, radius = 50 * (t + 0.02 * t * t * t), at[2] = { 100 + radius * 0.6, 50 - radius * 0.8 };
        double pixel[2];
        tsr_vec3 direction;
        require_ok(tsr_camera_project(&c, 200, 100, (tsr_vec3){ sin(t) * 0.6, sin(t) * 0.8, -cos(t) }, pixel, NULL));
        worst = fmax(worst, fmax(fabs(pixel[0] - at[0]), fabs(pixel[1] - at[1])));
        require_ok(tsr_camera_ray(&c, 200, 100, at, NULL, &direction));
        worst = fmax(worst, fabs(atan2(hypot(direction.x, direction.y), -direction.z) - t));
    }
    assert_true(worst < 1e-9);
    tsr_vec3 direction;
    const double behind[2] = { 100 + 50 * 1.7, 50 };
    require_error(tsr_camera_ray(&c, 200, 100, behind, NULL, &direction), TSR_ERROR_ARGUMENT, "no undistorted point");
}

static void refusals(void **unused)
{
    (void)unused;
    tsr_camera c = plain();
    double pixel[2] = { 1, 1 };
    tsr_vec3 d;
    require_ok(tsr_camera_check(&c));
    require_error(tsr_camera_check(NULL), TSR_ERROR_ARGUMENT, "camera is NULL");
    const struct {
        size_t offset;
        double value;
        const char *text;
    } cases[] = {
        { offsetof(tsr_camera, fov), 0, "fov 0" },
        { offsetof(tsr_camera, fov), 180, "fov 180" },
        { offsetof(tsr_camera, fov), (double)NAN, "fov nan" },
        { offsetof(tsr_camera, aspect), -1, "aspect -1" },
        { offsetof(tsr_camera, aspect), (double)INFINITY, "aspect inf" },
        { offsetof(tsr_camera, clip), 5, "clip distances 5 and 0" },
        { offsetof(tsr_camera, clip), -1, "clip distances -1 and 0" },
        { offsetof(tsr_camera, offset), (double)NAN, "offset" },
        { offsetof(tsr_camera, position), (double)INFINITY, "position" },
        { offsetof(tsr_camera, rotation), 0.99, "rotation is off by" },
        { offsetof(tsr_camera, rotation), -1, "a reflection" },
        { offsetof(tsr_camera, rotation), (double)NAN, "rotation is off by inf" },
        { offsetof(tsr_camera, lens) + offsetof(tsr_lens, k1), 11, "k1 of the lens is 11" },
        { offsetof(tsr_camera, lens) + offsetof(tsr_lens, k2), 1, "division model has k1 alone" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_camera bad = plain();
        memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        require_error(tsr_camera_check(&bad), TSR_ERROR_ARGUMENT, cases[i].text);
    }
    tsr_camera o = plain();
    o.projection = TSR_ORTHOGRAPHIC;
    require_error(tsr_camera_check(&o), TSR_ERROR_ARGUMENT, "height 0");
    o.projection = TSR_PROJECTION_MATRIX;
    require_error(tsr_camera_check(&o), TSR_ERROR_ARGUMENT, "no inverse (determinant 0)");
    o.projection = (tsr_projection)7;
    require_error(tsr_camera_check(&o), TSR_ERROR_ARGUMENT, "projection 7");
    d = (tsr_vec3){ 1, 2, 3 };
    require_error(tsr_camera_look_at(&c, d, d, (tsr_vec3){ 0, 0, 1 }), TSR_ERROR_ARGUMENT, "the same point (1, 2, 3)");
    require_error(tsr_camera_look_at(&c, (tsr_vec3){ 0 }, d, d), TSR_ERROR_ARGUMENT, "along the direction of view");
    require_error(tsr_camera_project(&c, 10, 10, (tsr_vec3){ 0, 0, 1 }, pixel, NULL), TSR_ERROR_ARGUMENT, "not in front");
    require_error(tsr_camera_project(&c, 0, 10, (tsr_vec3){ 0, 0, -1 }, pixel, NULL), TSR_ERROR_ARGUMENT, "0 x 10 pixels");
    require_error(tsr_camera_ray(&c, 10, 10, NULL, NULL, &d), TSR_ERROR_ARGUMENT, "pixel is NULL");
    require_error(tsr_camera_set_frustum(&c, 1, 1, -1, 1, 1, 2), TSR_ERROR_ARGUMENT, "left < right");
    require_error(tsr_camera_set_frustum(&c, -1, 1, 1, 1, 1, 2), TSR_ERROR_ARGUMENT, "bottom < top");
    require_error(tsr_camera_set_frustum(&c, -1, 1, -1, 1, 2, 1), TSR_ERROR_ARGUMENT, "0 < near < far");
    require_error(tsr_camera_set_frustum(&c, -1, 1, -1, 1, 2, 2), TSR_ERROR_ARGUMENT, "0 < near < far");
    require_error(tsr_camera_set_frustum(&c, -1, 1, -1, 1, 0, 1), TSR_ERROR_ARGUMENT, "0 < near < far");
    require_error(tsr_camera_set_frustum(&c, -1, 1, -1, 1, 1, INFINITY), TSR_ERROR_ARGUMENT, "0 < near < far");
    tsr_pinhole p = cv;
    p.fx = 0;
    require_error(tsr_camera_from_pinhole(&p, &c), TSR_ERROR_ARGUMENT, "focal lengths 0");
    p = cv;
    p.rotation[1][1] = 3;
    require_error(tsr_camera_from_pinhole(&p, &c), TSR_ERROR_ARGUMENT, "rotation is off");
    o.projection = TSR_ORTHOGRAPHIC;
    o.height = 1;
    require_error(tsr_camera_to_pinhole(&o, 10, 10, &p), TSR_ERROR_UNSUPPORTED, "orthographic camera is no pinhole");
    c = plain();
    c.lens.k1 = -0.1;
    require_error(tsr_camera_to_pinhole(&c, 10, 10, &p), TSR_ERROR_UNSUPPORTED, "division model");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(matrices),        cmocka_unit_test(light_field), cmocka_unit_test(opencv),
                                        cmocka_unit_test(rays_and_points), cmocka_unit_test(fisheye),     cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
