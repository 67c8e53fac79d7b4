#include "shapes.h"

static const double PI = 3.14159265358979323846;

static tsr_mesh_measures measured(tsr_mesh *mesh)
{
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(mesh, &m));
    tsr_mesh_destroy(&mesh);
    return m;
}

static void box_is_exact(void **state)
{
    (void)state;
    tsr_mesh_measures m = measured(shape_box(2, 3, 4, 100, -50, 7));
    assert_true(m.area == 52 && m.volume == 24);
    assert_int_equal(m.vertices, 8);
    assert_int_equal(m.edges, 18);
    assert_int_equal(m.triangles, 12);
    assert_int_equal(m.euler, 2);
    assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges + m.degenerate_triangles, 0);
    assert_int_equal(m.components, 1);
    assert_true(m.lower.x == 100 && m.lower.y == -50 && m.lower.z == 7 && m.upper.x == 102 && m.upper.y == -47 && m.upper.z == 11);
}

static void curved_shapes(void **state)
{
    (void)state;
    tsr_mesh_measures torus = measured(shape_torus(400, 200, 10, 3)), sphere = measured(shape_sphere(200, 5, 0));
    assert_int_equal(torus.euler, 0);
    assert_int_equal(torus.boundary_edges + torus.misoriented_edges + torus.nonmanifold_edges, 0);
    assert_true(fabs(torus.area / (4 * PI * PI * 30) - 1) < 1e-3);
    assert_true(fabs(torus.volume / (2 * PI * PI * 90) - 1) < 1e-3);
    assert_int_equal(sphere.euler, 2);
    assert_int_equal(sphere.boundary_edges + sphere.misoriented_edges + sphere.nonmanifold_edges, 0);
    assert_true(fabs(sphere.area / (4 * PI * 25) - 1) < 1e-3);
    assert_true(fabs(sphere.volume / (4 * PI * 125 / 3) - 1) < 1e-3);
}

static void defects_are_counted(void **state)
{
    (void)state;
    const float v[21] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5, 6, 5, 5, 5, 6, 5 };
    const uint32_t open[3] = { 0, 1, 2 };                              /* one triangle; vertices 3 to 6 unused */
    const uint32_t wrong[6] = { 0, 1, 2, 0, 1, 3 };                    /* edge 0-1 run twice the same way */
    const uint32_t fan[9] = { 0, 1, 2, 1, 0, 3, 0, 1, 4 };             /* edge 0-1 of three triangles */
    const uint32_t apart[12] = { 0, 1, 2, 4, 5, 6, 3, 3, 1, 2, 1, 2 }; /* two pieces, two degenerate triangles */
    tsr_mesh_measures m = measured(shape_mesh(v, 7, open, 1));
    assert_true(m.edges == 3 && m.boundary_edges == 3 && m.euler == 1 && m.components == 1 && m.area == 0.5);
    m = measured(shape_mesh(v, 7, wrong, 2));
    assert_true(m.edges == 5 && m.boundary_edges == 4 && m.misoriented_edges == 1 && m.nonmanifold_edges == 0 && m.euler == 1);
    m = measured(shape_mesh(v, 7, fan, 3));
    assert_true(m.edges == 7 && m.boundary_edges == 6 && m.nonmanifold_edges == 1 && m.misoriented_edges == 0 && m.components == 1);
    m = measured(shape_mesh(v, 7, apart, 4));
    assert_true(m.components == 2 && m.degenerate_triangles == 2 && m.edges == 6 && m.euler == 2);
    const uint32_t flat[12] = { 0, 1, 2, 0, 3, 4, 0, 4, 5, 0, 1, 2 }; /* 3, 4 in one place; 0, 4, 5 on a line */
    const float w[18] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.2f, 0.2f, 0.2f };
    m = measured(shape_mesh(w, 6, flat, 4));
    assert_true(m.degenerate_triangles == 2 && m.area == 1);
    m = measured(shape_mesh(v, 0, open, 0));
    assert_true(m.euler == 0 && m.components == 0 && m.area == 0 && m.upper.x == 0);
}

/* Edges of a random soup against a direct count over all pairs of vertices. */
static void random_soup(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { VERTICES = 40, TRIANGLES = 400 };
    float v[3 * VERTICES];
    uint32_t t[3 * TRIANGLES];
    int up[VERTICES][VERTICES] = { { 0 } };
    for (int i = 0; i < 3 * VERTICES; i++) v[i] = (float)test_uniform(&seed);
    for (int i = 0; i < 3 * TRIANGLES; i++) t[i] = (uint32_t)(test_random(&seed) >> 20) % VERTICES;
    for (int i = 0; i < TRIANGLES; i++) {
        const uint32_t *c = t + 3 * i;
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        for (int k = 0; k < 3; k++) up[c[k]][c[(k + 1) % 3]]++;
    }
    int64_t edges = 0, boundary = 0, nonmanifold = 0, misoriented = 0;
    for (int a = 0; a < VERTICES; a++)
        for (int b = a + 1; b < VERTICES; b++) {
            int n = up[a][b] + up[b][a];
            edges += n > 0;
            boundary += n == 1;
            nonmanifold += n > 2;
            misoriented += n == 2 && up[a][b] != 1;
        }
    tsr_mesh_measures m = measured(shape_mesh(v, VERTICES, t, TRIANGLES));
    assert_int_equal(m.edges, edges);
    assert_int_equal(m.boundary_edges, boundary);
    assert_int_equal(m.nonmanifold_edges, nonmanifold);
    assert_int_equal(m.misoriented_edges, misoriented);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    tsr_mesh *torus = shape_torus(300, 100, 10, 3);
    tsr_mesh_measures one = TSR_MESH_MEASURES, three = TSR_MESH_MEASURES;
    for (int threads = 1; threads <= 3; threads += 2) {
        tsr_context *context = test_context_on("cpu", threads);
        tsr_mesh *copy;
        require_ok(tsr_mesh_copy(torus, context, &copy));
        require_ok(tsr_mesh_measure(copy, threads == 1 ? &one : &three));
        tsr_mesh_destroy(&copy);
        tsr_context_destroy(&context);
    }
    assert_memory_equal(&one, &three, sizeof one);
    tsr_mesh_destroy(&torus);
}

static void bad_meshes(void **state)
{
    (void)state;
    const float v[9] = { 0, 0, 0, 1, NAN, 0, 0, 1, 0 }, good[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const uint32_t t[3] = { 0, 1, 2 }, beyond[6] = { 0, 1, 2, 0, 3, 1 };
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_mesh *mesh = shape_mesh(v, 3, t, 1);
    require_error(tsr_mesh_measure(mesh, &m), TSR_ERROR_FORMAT, "y of vertex 1 is nan");
    tsr_mesh_destroy(&mesh);
    mesh = shape_mesh(good, 3, beyond, 2);
    require_error(tsr_mesh_measure(mesh, &m), TSR_ERROR_FORMAT, "corner 1 of triangle 1 is vertex 3");
    tsr_mesh_destroy(&mesh);
    require_error(tsr_mesh_measure(NULL, &m), TSR_ERROR_ARGUMENT, "NULL");
}

/* Two triangles that share a place and nothing else stay apart; a triangle without area joins its corners. */
static void contracted(void **state)
{
    (void)state;
    static const float place[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 }, { -1, 0, 0 }, { 0, -1, 0 }, { 1, 0, 0 }, { 2, 2, 0 } };
    static const uint32_t corner[4][3] = { { 0, 1, 2 }, { 3, 4, 5 }, { 1, 6, 2 }, { 6, 7, 2 } };
    tsr_mesh *mesh, *made;
    require_ok(tsr_mesh_create(NULL, 8, 4, 0, &mesh));
    memcpy(tsr_mesh_vertices(mesh), place, sizeof place);
    memcpy(tsr_mesh_triangles(mesh), corner, sizeof corner);
    require_ok(tsr_surface_contract(mesh, &made));
    assert_int_equal(tsr_mesh_vertex_count(made), 7); /* vertex 5, of one triangle's last corner, stays as well */
    assert_int_equal(tsr_mesh_triangle_count(made), 3);
    static const uint32_t expected[3][3] = { { 0, 1, 2 }, { 3, 4, 5 }, { 1, 6, 2 } };
    assert_memory_equal(tsr_mesh_triangles(made), expected, sizeof expected);
    assert_memory_equal(tsr_mesh_vertices(made), place, 6 * sizeof place[0]);
    assert_memory_equal(tsr_mesh_vertices(made) + 18, place[7], sizeof place[7]);
    tsr_mesh *again;
    require_ok(tsr_surface_contract(made, &again));
    assert_null(again);
    tsr_mesh_destroy(&made);
    tsr_mesh_destroy(&mesh);
}

/* A torus of two times as many corners as places: whatever numbers the corners have, one is left of each two, and no other triangle goes. */
static void contracted_whatever_the_numbers(void **state)
{
    enum { ROUND = 10, ALONG = 16, ALL = ROUND * ALONG, NUMBERS = 4096 };
    uint64_t seed = test_seed();
    (void)state;
    for (int turn = 0; turn < 40; turn++) {
        uint32_t number[NUMBERS];
        tsr_mesh *mesh, *made;
        for (uint32_t i = 0; i < NUMBERS; i++) { /* shuffled; most are of vertices without triangles */
            const uint32_t other = (uint32_t)(test_random(&seed) % (i + 1));
            number[i] = number[other];
            number[other] = i;
        }
        for (uint32_t i = 0; i < 2; i++) { /* the first two are neighbours */
            for (int k = 0; k < NUMBERS; k++)
                if (number[k] == i) number[k] = number[i];
            number[i] = i;
        }
        require_ok(tsr_mesh_create(NULL, NUMBERS, 2 * ALL, 0, &mesh));
        memset(tsr_mesh_vertices(mesh), 0, NUMBERS * 12);
        uint32_t *t = tsr_mesh_triangles(mesh);
        for (int i = 0; i < ALL; i++) {
            const int u = i % ROUND, v = i / ROUND, u1 = (u + 1) % ROUND, v1 = (v + 1) % ALONG;
            const double a = 2 * acos(-1) * u / ROUND, b = 2 * acos(-1) * (v / 2) / (ALONG / 2);
            float *to = tsr_mesh_vertices(mesh) + 3 * number[i];
            to[0] = (float)((3 + cos(a)) * cos(b));
            to[1] = (float)((3 + cos(a)) * sin(b));
            to[2] = (float)sin(a);
            const uint32_t four[4] = { number[i], number[v * ROUND + u1], number[v1 * ROUND + u1], number[v1 * ROUND + u] };
            const uint32_t two[6] = { four[0], four[1], four[2], four[0], four[2], four[3] };
            memcpy(t + 6 * i, two, sizeof two);
        }
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        require_ok(tsr_surface_contract(mesh, &made));
        assert_int_equal(tsr_mesh_vertex_count(made), ALL / 2);
        assert_int_equal(tsr_mesh_triangle_count(made), ALL);
        require_ok(tsr_mesh_measure(made, &m));
        assert_true(m.boundary_edges == 0 && m.nonmanifold_edges == 0 && m.components == 1);
        tsr_mesh_destroy(&made);
        tsr_mesh_destroy(&mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(box_is_exact),
                                        cmocka_unit_test(curved_shapes),
                                        cmocka_unit_test(defects_are_counted),
                                        cmocka_unit_test(random_soup),
                                        cmocka_unit_test(threads_do_not_matter),
                                        cmocka_unit_test(bad_meshes),
                                        cmocka_unit_test(contracted),
                                        cmocka_unit_test(contracted_whatever_the_numbers) };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
