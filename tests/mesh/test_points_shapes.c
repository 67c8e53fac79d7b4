/* Clouds of known shape: samples lie on the surface, normals are the directions in which its distance grows, samples are as dense as asked for; and the parts
 * of a cloud. */
#include <math.h>

#include "mesh/points.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

static tsr_points *made(const char *name, const tsr_points_options *o)
{
    tsr_points *points;
    require_ok(tsr_points_make(name, o, &points));
    return points;
}

static double distance(const char *name, const double at[3])
{
    double d = NAN;
    require_ok(tsr_points_shape_distance(name, at, &d));
    return d;
}

/* On the zero set of a function its gradient has the direction of the surface's normal, whatever the function is beside it. */
static void samples_and_normals(void **state)
{
    (void)state;
    int shapes = 0;
    for (const tsr_points_shape *s; (s = tsr_points_shape_at(shapes)) != NULL; shapes++) {
        tsr_points_options o = TSR_POINTS_OPTIONS;
        o.count = 400;
        o.seed = test_seed();
        o.normals = 1;
        tsr_points *points = made(s->name, &o);
        const float *p = tsr_points_positions_const(points), *n = tsr_points_normals_const(points);
        double off = 0, turned = 0, long_ = 0;
        assert_int_equal(tsr_points_count(points), 400);
        for (int64_t i = 0; i < 400; i++) {
            const double h = 1e-5;
            double gradient[3], length = 0, along = 0, own = 0;
            for (int k = 0; k < 3; k++) {
                double a[3] = { (double)p[3 * i], (double)p[3 * i + 1], (double)p[3 * i + 2] }, b[3] = { a[0], a[1], a[2] };
                if (k == 0) off = fmax(off, fabs(distance(s->name, a)));
                a[k] += h;
                b[k] -= h;
                gradient[k] = distance(s->name, a) - distance(s->name, b);
                length += gradient[k] * gradient[k];
                along += gradient[k] * (double)n[3 * i + k];
                own += (double)n[3 * i + k] * (double)n[3 * i + k];
            }
            turned = fmax(turned, 1 - along / sqrt(length));
            long_ = fmax(long_, fabs(own - 1));
        }
        print_message("%s: off by %.1e, cosine of the normals' angle 1 - %.1e, squares of their lengths 1 +- %.1e\n", s->name, off, turned, long_);
        assert_true(off < 1e-6 && turned < 1e-5 && long_ < 1e-6);
        tsr_points_destroy(&points);
    }
    assert_int_equal(shapes, 8);
}

/* Shares of areas that are known: of a torus outside its middle circle, 1/2 + r / (pi R); of two spheres; of a sphere whose density rises along x. */
static void densities(void **state)
{
    (void)state;
    enum { N = 40000 };
    tsr_points_options o = TSR_POINTS_OPTIONS;
    o.seed = 11;
    double share = 0, mean = 0;
    tsr_points *points = made("points-torus", &o);
    const float *p = tsr_points_positions_const(points);
    int axis = 0; /* the one along which it is flat */
    for (int k = 0; k < 3; k++) {
        double most = 0;
        for (int64_t i = 0; i < N; i++) most = fmax(most, fabs((double)p[3 * i + k]));
        if (most < 0.3) axis = k;
    }
    for (int64_t i = 0; i < N; i++) {
        const double a = (double)p[3 * i + (axis + 1) % 3], b = (double)p[3 * i + (axis + 2) % 3];
        share += a * a + b * b > 0.49;
    }
    assert_true(fabs(share / N - (0.5 + 0.25 / (PI * 0.7))) < 0.01);
    tsr_points_destroy(&points);
    o.density = 4; /* 1 + 3 (x + 1) / 2 where x is even in [-0.8, 0.8]: a mean of 0.512 / 4 */
    points = made("points-sphere", &o);
    p = tsr_points_positions_const(points);
    for (int64_t i = 0; i < N; i++) mean += (double)p[3 * i] / N;
    assert_true(fabs(mean - 0.128) < 0.01);
    tsr_points_destroy(&points);
}

/* Further points in the box 1.1 times the shape's, without normals; a patch without samples is as large as asked for. */
static void outliers_and_patches(void **state)
{
    (void)state;
    tsr_points_options o = TSR_POINTS_OPTIONS;
    o.count = 2000;
    o.outliers = 0.25;
    o.normals = 1;
    tsr_points *points = made("points-sphere", &o);
    const float *p = tsr_points_positions_const(points), *n = tsr_points_normals_const(points);
    double most = 0;
    assert_int_equal(tsr_points_count(points), 2500);
    for (int64_t i = 0; i < 3 * 2500; i++) {
        if (i >= 3 * 2000) assert_true(n[i] == 0);
        if (i >= 3 * 2000) most = fmax(most, fabs((double)p[i]));
    }
    assert_true(most > 0.85 && most <= 0.8 * 1.1 + 1e-6);
    tsr_points_destroy(&points);
    o = (tsr_points_options)TSR_POINTS_OPTIONS;
    o.missing = 1;
    o.missing_radius = 0.4;
    points = made("points-sphere", &o);
    p = tsr_points_positions_const(points);
    /* Where on a sphere of radius 0.8 is a ball of radius 0.4 empty, and none that is a fifth larger? */
    double largest = 0;
    for (int y = 0; y < 60; y++)
        for (int x = 0; x < 120; x++) {
            const double z = 1 - (2 * y + 1) / 60.0, r = sqrt(1 - z * z), turn = 2 * PI * x / 120, c[3] = { r * cos(turn), r * sin(turn), z };
            double nearest = 4;
            for (int64_t i = 0; i < 40000 && nearest > largest * largest; i += 4) {
                double square = 0;
                for (int k = 0; k < 3; k++) square += ((double)p[3 * i + k] - 0.8 * c[k]) * ((double)p[3 * i + k] - 0.8 * c[k]);
                nearest = fmin(nearest, square);
            }
            largest = fmax(largest, sqrt(nearest));
        }
    print_message("the largest ball without samples has a radius of %.3f\n", largest);
    assert_true(largest > 0.35 && largest < 0.43);
    tsr_points_destroy(&points);
}

/* Each part by its own name. */
static void parts(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        tsr_points *points;
        require_ok(tsr_points_create(NULL, 5, which, &points));
        assert_int_equal(tsr_points_normals(points) != NULL, which & 1);
        assert_int_equal(tsr_points_radii(points) != NULL, which >> 1);
        require_ok(tsr_points_add_part(points, TSR_POINTS_RADII));
        assert_int_equal(tsr_points_normals(points) != NULL, which & 1);
        assert_non_null(tsr_points_radii(points));
        require_ok(tsr_points_add_part(points, TSR_POINTS_NORMALS));
        assert_non_null(tsr_points_normals(points));
        tsr_points_drop_normals(points);
        assert_true(!tsr_points_normals(points) && tsr_points_radii(points));
        tsr_points_destroy(&points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(samples_and_normals), cmocka_unit_test(densities), cmocka_unit_test(outliers_and_patches),
                                        cmocka_unit_test(parts) };
    return cmocka_run_group_tests_name("points of shapes", tests, NULL, NULL);
}
