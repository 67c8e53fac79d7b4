#include "shapes.h"

static tsr_surface_distances between(tsr_mesh *a, tsr_mesh *b)
{
    tsr_surface_distances d;
    require_ok(tsr_compare_meshes(a, b, NULL, &d));
    tsr_mesh_destroy(&a);
    tsr_mesh_destroy(&b);
    return d;
}

static void boxes(void **state)
{
    (void)state;
    tsr_surface_distances same = between(shape_box(2, 3, 4, 0, 0, 0), shape_box(2, 3, 4, 0, 0, 0));
    assert_true(same.mean == 0 && same.percentile_95 == 0 && same.maximum == 0);
    /* A cube within a cube: an inner corner is 1 from three faces, an outer one sqrt(3) from the inner corner. */
    tsr_surface_distances nested = between(shape_box(2, 2, 2, 1, 1, 1), shape_box(4, 4, 4, 0, 0, 0));
    assert_true(fabs(nested.mean - (1 + sqrt(3)) / 2) < 1e-6);
    assert_true(fabs(nested.maximum - sqrt(3)) < 1e-6 && fabs(nested.percentile_95 - sqrt(3)) < 1e-6);
    /* Moved by 0.5 along x: corners slide on the faces that keep their plane; 4 of 8 each way stick out by 0.5. */
    tsr_surface_distances moved = between(shape_box(4, 4, 4, 0.5f, 0, 0), shape_box(4, 4, 4, 0, 0, 0));
    assert_true(moved.mean == 0.25 && moved.maximum == 0.5);
}

static void spheres(void **state)
{
    (void)state;
    const int rings = test_is_slow() ? 60 : 150;
    const double facets = 45.0 / rings / rings; /* a facet cuts that much off */
    /* Concentric: every vertex is 1 from the other sphere, up to its facets. */
    tsr_surface_distances d = between(shape_sphere(rings, 5, 0), shape_sphere(rings, 6, 0));
    assert_true(fabs(d.mean - 1) < facets && fabs(d.maximum - 1) < facets && fabs(d.percentile_95 - 1) < facets);
    /* Moved by 2 (radius 5): the farthest points lie on the axis, at distance 2. */
    d = between(shape_sphere(rings, 5, 0), shape_sphere(rings, 5, 2));
    assert_true(fabs(d.maximum - 2) < 2.5 * facets);
    assert_true(d.percentile_95 < d.maximum && d.mean < d.percentile_95);
}

/* Distance of a point to a triangle by minimising over its barycentric coordinates on a fine grid: an upper bound, tight to second order. */
static double sampled(const float *p, const float *a, const float *b, const float *c)
{
    enum { STEPS = 200 };
    double best = INFINITY;
    for (int i = 0; i <= STEPS; i++)
        for (int j = 0; i + j <= STEPS; j++) {
            double u = (double)i / STEPS, v = (double)j / STEPS, sum = 0;
            for (int k = 0; k < 3; k++) {
                double d = (double)p[k] - (1 - u - v) * (double)a[k] - u * (double)b[k] - v * (double)c[k];
                sum += d * d;
            }
            best = fmin(best, sum);
        }
    return sqrt(best);
}

/* One triangle (also one without area) and random points: every region of the closest-point problem. */
static void random_points(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const uint32_t one[3] = { 0, 1, 2 };
    for (int round = 0; round < 60; round++) {
        float triangle[9], point[9];
        for (int i = 0; i < 9; i++) triangle[i] = (float)test_uniform(&seed);
        if (round % 6 == 5) for (int i = 0; i < 3; i++) triangle[6 + i] = 0.5f * (triangle[i] + triangle[3 + i]);
        for (int i = 0; i < 3; i++) point[i] = point[3 + i] = point[6 + i] = (float)(3 * test_uniform(&seed) - 1);
        double to_point = 0;
        for (int v = 0; v < 3; v++) {
            double sum = 0;
            for (int i = 0; i < 3; i++) sum += pow((double)triangle[3 * v + i] - (double)point[i], 2);
            to_point += sqrt(sum);
        }
        tsr_surface_distances d = between(shape_mesh(point, 3, one, 1), shape_mesh(triangle, 3, one, 1));
        double forward = (d.mean * 6 - to_point) / 3, expected = sampled(point, triangle, triangle + 3, triangle + 6);
        if (forward > expected + 1e-6 || forward < expected - 6e-3) fail_msg("round %d: %.9g, sampled %.9g", round, forward, expected);
    }
}

/* Against the same search without the tree. */
static void tree_finds_the_nearest(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { VERTICES = 300, TRIANGLES = 700, POINTS = 12 };
    static float v[3 * VERTICES];
    static uint32_t t[3 * TRIANGLES];
    for (int i = 0; i < 3 * VERTICES; i++) v[i] = (float)(test_uniform(&seed) * (i % 3 == 2 ? 100 : 10));
    for (int i = 0; i < 3 * TRIANGLES; i++) t[i] = (uint32_t)(test_random(&seed) >> 20) % VERTICES;
    for (int i = 0; i < POINTS; i++) {
        const uint32_t one[3] = { 0, 1, 2 };
        float point[9];
        for (int k = 0; k < 3; k++) point[k] = point[3 + k] = point[6 + k] = (float)(test_uniform(&seed) * 40 - 10);
        tsr_surface_distances d;
        double least = INFINITY;
        for (int k = 0; k < TRIANGLES; k++) {
            tsr_mesh *single = shape_mesh(v, VERTICES, t + 3 * k, 1), *at = shape_mesh(point, 3, one, 1);
            float *corner = tsr_mesh_vertices(at);
            memcpy(corner, point, sizeof point);
            /* the mean over both ways, freed of the way back, which is the same for every single triangle */
            require_ok(tsr_compare_meshes(at, single, NULL, &d));
            least = fmin(least, d.mean);
            tsr_mesh_destroy(&at);
            tsr_mesh_destroy(&single);
        }
        tsr_mesh *all = shape_mesh(v, VERTICES, t, TRIANGLES), *at = shape_mesh(point, 3, one, 1);
        require_ok(tsr_compare_meshes(at, all, NULL, &d));
        assert_true(d.mean == least);
        tsr_mesh_destroy(&at);
        tsr_mesh_destroy(&all);
    }
}

static void bad_meshes(void **state)
{
    (void)state;
    tsr_surface_distances d;
    tsr_mesh *box = shape_box(1, 1, 1, 0, 0, 0), *empty = shape_mesh(NULL, 0, NULL, 0), *other = shape_box(1, 1, 1, 0, 0, 0);
    tsr_compare_options ignore = TSR_COMPARE_OPTIONS;
    ignore.ignore_geometry = 1;
    require_error(tsr_compare_meshes(box, empty, NULL, &d), TSR_ERROR_STATE, "the reference has no triangle");
    tsr_mesh_set_space(other, TSR_SPACE_RAS);
    require_error(tsr_compare_meshes(box, other, NULL, &d), TSR_ERROR_ARGUMENT, "none and RAS");
    require_ok(tsr_compare_meshes(box, other, &ignore, &d));
    tsr_mesh_vertices(box)[4] = INFINITY;
    require_error(tsr_compare_meshes(box, other, &ignore, &d), TSR_ERROR_FORMAT, "y of vertex 1");
    tsr_mesh_destroy(&box);
    tsr_mesh_destroy(&other);
    tsr_mesh_destroy(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(boxes), cmocka_unit_test(spheres), cmocka_unit_test(random_points),
                                        cmocka_unit_test(tree_finds_the_nearest), cmocka_unit_test(bad_meshes) };
    return cmocka_run_group_tests_name("compare_mesh", tests, NULL, NULL);
}
