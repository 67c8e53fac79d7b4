/* Triangles in the order of a view. Oracle: cells by integers from the exact midpoints of cut edges, and rays walked cell by cell in float64. */
#include "support.h"

#include <math.h>

static const tsr_size3 EXTENT = { 21, 13, 11 };

/* Noise: cells with triangles everywhere. */
static tsr_volume *noise(tsr_context *context, const tsr_geometry *geometry, uint64_t seed)
{
    tsr_volume *host, *volume;
    require_ok(tsr_volume_create(NULL, TSR_F32, EXTENT, geometry, &host));
    for (int64_t v = 0; v < EXTENT.x * EXTENT.y * EXTENT.z; v++) ((float *)tsr_volume_data(host))[v] = (float)(test_uniform(&seed) - 0.5);
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_volume_destroy(&host);
    return volume;
}

static tsr_mesh *home(const tsr_mesh *mesh)
{
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    return host;
}

/* Cell of triangle t of a mesh of midpoints, whose index coordinates are halves; x + 64 (y + 64 z). */
static int cell_of(const tsr_mesh *mesh, const tsr_geometry *geometry, int64_t t)
{
    double low[3] = { 1e9, 1e9, 1e9 };
    for (int n = 0; n < 3; n++) {
        const float *p = tsr_mesh_vertices_const(mesh) + 3 * (int64_t)tsr_mesh_triangles_const(mesh)[3 * t + n];
        tsr_vec3 i;
        require_ok(tsr_geometry_to_index(geometry, (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] }, &i));
        const double at[3] = { i.x, i.y, i.z };
        for (int r = 0; r < 3; r++) low[r] = fmin(low[r], floor(round(2 * at[r]) / 2));
    }
    return (int)low[0] + 64 * ((int)low[1] + 64 * (int)low[2]);
}

static int by_triangle(const void *a, const void *b) { return memcmp(a, b, 12); }

/* The same triangles, none lost, and those of one cell one after another in the order they had. Returns where each cell begins, -1: nowhere. */
static int *places(const tsr_mesh *plain, const tsr_mesh *ordered, const tsr_geometry *geometry)
{
    const int64_t n = tsr_mesh_triangle_count(plain);
    int *first = (int *)malloc(64 * 64 * 64 * sizeof *first), *next = (int *)malloc(64 * 64 * 64 * sizeof *next), last = -1;
    uint32_t *a = (uint32_t *)malloc((size_t)n * 12), *b = (uint32_t *)malloc((size_t)n * 12);
    assert_true(first && next && a && b);
    assert_int_equal(tsr_mesh_triangle_count(ordered), n);
    assert_memory_equal(tsr_mesh_vertices_const(plain), tsr_mesh_vertices_const(ordered), (size_t)tsr_mesh_vertex_count(plain) * 12);
    memcpy(a, tsr_mesh_triangles_const(plain), (size_t)n * 12);
    memcpy(b, tsr_mesh_triangles_const(ordered), (size_t)n * 12);
    qsort(a, (size_t)n, 12, by_triangle);
    qsort(b, (size_t)n, 12, by_triangle);
    assert_memory_equal(a, b, (size_t)n * 12);
    for (int c = 0; c < 64 * 64 * 64; c++) first[c] = next[c] = -1;
    for (int64_t t = n - 1; t >= 0; t--) next[cell_of(plain, geometry, t)] = (int)t; /* of the plain mesh: where the cell begins */
    for (int64_t t = 0; t < n; t++) {
        const int c = cell_of(ordered, geometry, t);
        if (c != last) assert_int_equal(first[c], -1);
        if (c != last) first[c] = (int)t;
        assert_memory_equal(tsr_mesh_triangles_const(ordered) + 3 * t, tsr_mesh_triangles_const(plain) + 3 * (next[c] + t - first[c]), 12);
        last = c;
    }
    free(next);
    free(a);
    free(b);
    return first;
}

/* Along rays of the view the cells come in the order of their triangles. */
static void cells_in_turn(const int *first, const tsr_geometry *geometry, const tsr_surface_view *view, uint64_t *seed)
{
    int met = 0;
    for (int ray = 0; ray < 200; ray++) {
        const tsr_vec3 to = tsr_geometry_to_world(geometry, (tsr_vec3){ test_uniform(seed) * (double)EXTENT.x, test_uniform(seed) * (double)EXTENT.y,
                                                                        test_uniform(seed) * (double)EXTENT.z });
        const tsr_vec3 d = view->direction, e = view->eye;
        int last = -1, cell = -1;
        for (int step = 0; step <= 2000; step++) {
            const double s = (double)step / 1000, far = 100 * (s - 1);
            const tsr_vec3 p = view->perspective ? (tsr_vec3){ e.x + s * (to.x - e.x), e.y + s * (to.y - e.y), e.z + s * (to.z - e.z) }
                                                 : (tsr_vec3){ to.x + far * d.x, to.y + far * d.y, to.z + far * d.z };
            tsr_vec3 i;
            require_ok(tsr_geometry_to_index(geometry, p, &i));
            if (!(i.x >= 0 && i.y >= 0 && i.z >= 0 && i.x < (double)EXTENT.x && i.y < (double)EXTENT.y && i.z < (double)EXTENT.z)) continue;
            const int c = (int)i.x + 64 * ((int)i.y + 64 * (int)i.z);
            if (c == cell || first[c] < 0) continue;
            if (last >= 0) assert_true(view->nearest_first ? first[c] > last : first[c] < last);
            met += last >= 0;
            last = first[c];
            cell = c;
        }
    }
    assert_true(met > 200);
}

static void hides_nothing(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_geometry geometries[2] = { { { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_RAS },
                                         { { { 0.5, -1, 0.25, 5 }, { 0.25, -1, -0.5, -7 }, { 0, 0.25, 1.5, 9 } }, TSR_SPACE_LPS } };
    for (int g = 0; g < 2; g++) {
        tsr_volume *volume = noise(context, &geometries[g], test_random(&seed));
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_mesh *mesh;
        options.midpoints = 1;
        require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
        for (int k = 0; k < 14; k++) { /* eight octants, along an axis, in the plane of two, and eyes: outside, inside, far away */
            tsr_surface_view view = TSR_SURFACE_VIEW;
            tsr_mesh *ordered;
            view.perspective = k >= 10;
            view.nearest_first = k % 3 == 1;
            view.direction = k < 8    ? (tsr_vec3){ k & 1 ? -0.7 : 0.3, k & 2 ? -0.4 : 0.9, k & 4 ? -0.6 : 0.8 }
                             : k == 8 ? (tsr_vec3){ 0, -2, 0 }
                                      : (tsr_vec3){ 1, 0, -1 };
            view.eye = tsr_geometry_to_world(&geometries[g], k == 10   ? (tsr_vec3){ 10.3, 6.4, 5.2 }
                                                             : k == 11 ? (tsr_vec3){ -9, 30, 4.5 }
                                                             : k == 12 ? (tsr_vec3){ 19.5, 2.5, -3 }
                                                                       : (tsr_vec3){ 1e7, -2e7, 5e6 });
            require_ok(tsr_mesh_copy(mesh, context, &ordered));
            require_ok(tsr_surface_order(context, ordered, &geometries[g], &view));
            tsr_mesh *a = home(mesh), *b = home(ordered);
            int *first = places(a, b, &geometries[g]);
            if (k != 13) cells_in_turn(first, &geometries[g], &view, &seed);
            else assert_true(memcmp(tsr_mesh_triangles_const(a), tsr_mesh_triangles_const(b), 12) != 0);
            free(first);
            tsr_mesh_destroy(&a);
            tsr_mesh_destroy(&b);
            tsr_mesh_destroy(&ordered);
        }
        tsr_mesh_destroy(&mesh);
        tsr_volume_destroy(&volume);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

static void refused(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_geometry geometry = { { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_RAS };
    tsr_geometry flat = geometry;
    tsr_volume *volume = noise(context, &geometry, 3);
    tsr_surface_view view = TSR_SURFACE_VIEW;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh *mesh, *empty;
    require_ok(tsr_surface_extract(context, volume, NULL, &mesh, NULL));
    options.isovalue = 9;
    require_ok(tsr_surface_extract(context, volume, &options, &empty, NULL));
    require_error(tsr_surface_order(context, mesh, &geometry, &view), TSR_ERROR_ARGUMENT, "direction of the view is 0 0 0");
    require_error(tsr_surface_order(context, mesh, &geometry, NULL), TSR_ERROR_ARGUMENT, "direction of the view is 0 0 0");
    view.direction.y = INFINITY;
    require_error(tsr_surface_order(context, mesh, &geometry, &view), TSR_ERROR_ARGUMENT, "direction of the view is not finite");
    view.direction.y = 1;
    view.perspective = 1;
    view.eye.z = NAN;
    require_error(tsr_surface_order(context, mesh, &geometry, &view), TSR_ERROR_ARGUMENT, "eye of the view is not finite");
    view.perspective = 0;
    flat.affine[1][1] = 0;
    require_error(tsr_surface_order(context, mesh, &flat, &view), TSR_ERROR_ARGUMENT, "expected positive numbers");
    require_error(tsr_surface_order(context, NULL, &geometry, &view), TSR_ERROR_ARGUMENT, "mesh is NULL");
    require_error(tsr_surface_order(context, mesh, NULL, &view), TSR_ERROR_ARGUMENT, "geometry is NULL");
    require_ok(tsr_surface_order(context, empty, &geometry, &view));
    tsr_mesh_destroy(&empty);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hides_nothing), cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("view order", tests, NULL, NULL);
}
