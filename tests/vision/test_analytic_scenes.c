/* Analytic scenes: distances in closed form, pictures that follow the camera and its lens, marching as a second opinion on solids that are cut. */
#include <math.h>

#include "support.h"

static double trace(const char *scene, tsr_vec3 o, tsr_vec3 d)
{
    double t;
    require_ok(tsr_analytic_trace(scene, NULL, o, d, &t, NULL));
    return t;
}
static double pick(uint64_t *seed, double low, double high) { return low + (high - low) * test_uniform(seed); }

static void closed_form(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    for (int n = 0; n < 2000; n++) {
        const tsr_vec3 o = { pick(&seed, -1, 1), pick(&seed, -5, -3), pick(&seed, -1, 1) }, d = { pick(&seed, -0.4, 0.4), 1, pick(&seed, -0.4, 0.4) };
        /* the unit sphere */
        const double a = d.x * d.x + 1 + d.z * d.z, b = o.x * d.x + o.y + o.z * d.z, c = o.x * o.x + o.y * o.y + o.z * o.z - 1, q = b * b - a * c,
                     t = trace("sphere", o, d);
        if (q > 1e-6) assert_true(fabs(t - (-b - sqrt(q)) / a) < 1e-9);
        if (q < -1e-6) assert_true(isinf(t));
        assert_true(fabs(trace("plane", o, d) + o.y) < 1e-12);
        /* a torus: on its surface, and nothing of it before */
        const double s = trace("torus", o, d);
        if (isinf(s)) continue;
        for (int k = 0; k <= 64; k++) {
            const double at = s * k / 64, x = o.x + at * d.x, y = o.y + at * d.y, z = o.z + at * d.z, ring = hypot(x, y) - 0.8,
                         off = ring * ring + z * z - 0.35 * 0.35;
            assert_true(k < 64 ? off > -1e-9 : fabs(off) < 1e-9);
        }
    }
}

static int in_ball(double x, double y, double z, double cx, double cy, double cz, double r)
{
    return (x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz) < r * r;
}

/* A solid that is cut, by small steps through what its description says. */
static void by_steps(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    for (int n = 0; n < 150; n++) {
        const tsr_vec3 o = { pick(&seed, -1, 1), -4, pick(&seed, -1, 1) }, d = { pick(&seed, -0.2, 0.2), 1, pick(&seed, -0.2, 0.2) };
        double found = INFINITY;
        for (double t = 2; t < 6 && isinf(found); t += 0.0005) {
            const double x = o.x + t * d.x, y = o.y + t * d.y, z = o.z + t * d.z;
            if (in_ball(x, y, z, 0, 0, 0, 1) && !in_ball(x, y, z, 0, -0.8, 0.1, 0.6)) found = t;
        }
        const double t = trace("cavity", o, d);
        if (isinf(found) || isinf(t)) continue; /* a graze may slip through the steps */
        assert_true(t <= found && found - t < 0.02);
    }
}

static void pictures(void **unused)
{
    (void)unused;
    enum { W = 40, H = 30 };
    tsr_rig *rig;
    const tsr_rig_layout_options layout = { .struct_size = sizeof layout, .count = 4, .width = W, .height_pixels = H };
    for (int kind = 0; kind < 5; kind++) {
        tsr_rig_layout_options o = layout;
        if (kind == TSR_RIG_PAIR) o.count = 2;
        require_ok(tsr_rig_make((tsr_rig_layout)kind, &o, &rig));
        tsr_rig_camera c;
        require_ok(tsr_rig_get(rig, 1, &c));
        if (kind == 0) c.camera.lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = -0.1 };
        static float depth[W * H], again[W * H];
        tsr_image image, other;
        const tsr_analytic_options one = { .struct_size = sizeof one, .threads = 1, .noise = 3, .blur = 0.7 },
                                   many = { .struct_size = sizeof many, .threads = 3, .noise = 3, .blur = 0.7 };
        require_ok(tsr_analytic_render("spheres", &c.camera, c.width, c.height, &one, &image, depth));
        require_ok(tsr_analytic_render("spheres", &c.camera, c.width, c.height, &many, &other, again));
        const size_t pixels = (size_t)c.width * (size_t)c.height;
        assert_memory_equal(image.pixels, other.pixels, 3 * pixels);
        assert_memory_equal(depth, again, pixels * sizeof(float));
        int seen = 0;
        for (size_t i = 0; i < pixels; i++) { /* the place behind a pixel is seen at that pixel */
            if (!(depth[i] > 0)) continue;
            const double at[2] = { (double)(i % (size_t)c.width) + 0.5, (double)(i / (size_t)c.width) + 0.5 };
            double back[2], d;
            tsr_vec3 p, r;
            require_ok(tsr_camera_ray(&c.camera, c.width, c.height, at, &p, &r));
            const double t = (double)depth[i];
            const tsr_vec3 x = { p.x + t * r.x, p.y + t * r.y, p.z + t * r.z };
            require_ok(tsr_camera_project(&c.camera, c.width, c.height, x, back, &d));
            assert_true(hypot(back[0] - at[0], back[1] - at[1]) < 1e-6 && fabs(d - t) < 1e-6);
            const double a = hypot(hypot(x.x + 0.45, x.y + 0.7), x.z) - 0.55, b = hypot(hypot(x.x - 0.4, x.y - 0.5), x.z - 0.15) - 0.8;
            assert_true(fmin(fabs(a), fabs(b)) < 1e-5);
            seen++;
        }
        assert_true(seen > (int)pixels / 50);
        tsr_image_destroy(&image);
        tsr_image_destroy(&other);
        tsr_rig_destroy(&rig);
    }
}

static void refusals(void **unused)
{
    (void)unused;
    const tsr_camera c = { .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 40 };
    tsr_image image;
    tsr_rig *rig;
    const tsr_analytic_info *info = NULL;
    double t;
    require_error(tsr_analytic_render("teapot", &c, 8, 8, NULL, &image, NULL), TSR_ERROR_ARGUMENT, "'teapot', expected one of plane, slant");
    require_error(tsr_analytic_render("box", NULL, 8, 8, NULL, &image, NULL), TSR_ERROR_ARGUMENT, "camera is NULL");
    require_error(tsr_analytic_render("box", &c, 0, 8, NULL, &image, NULL), TSR_ERROR_ARGUMENT, "0 x 8 pixels");
    require_error(tsr_analytic_render("box", &c, 8, 8, &(tsr_analytic_options){ .struct_size = sizeof(tsr_analytic_options), .supersampling = 17 },
                                      &image, NULL),
                  TSR_ERROR_ARGUMENT, "supersampling is 17");
    require_error(tsr_analytic_trace("box", NULL, (tsr_vec3){ 0 }, (tsr_vec3){ 0 }, &t, NULL), TSR_ERROR_ARGUMENT, "a direction that is not 0");
    require_error(tsr_rig_make(TSR_RIG_PAIR, &(tsr_rig_layout_options){ .struct_size = sizeof(tsr_rig_layout_options), .count = 3 }, &rig),
                  TSR_ERROR_ARGUMENT, "a pair of 3");
    require_error(tsr_rig_make(TSR_RIG_RING, &(tsr_rig_layout_options){ .struct_size = sizeof(tsr_rig_layout_options), .fov = 200 }, &rig),
                  TSR_ERROR_ARGUMENT, "fov 200");
    int stops = 0;
    test_stop stop = { 0.0, 0 };
    const tsr_analytic_options o = { .struct_size = sizeof o, .progress = { test_stops, &stop } };
    require_error(tsr_analytic_render("box", &c, 8, 256, &o, &image, NULL), TSR_ERROR_CANCELLED, "scene");
    for (int32_t i = 0; (info = tsr_analytic_at(i)); i++) stops += *info->description != 0;
    assert_true(stops == 13 && !tsr_analytic_at(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closed_form), cmocka_unit_test(by_steps), cmocka_unit_test(pictures),
                                        cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
