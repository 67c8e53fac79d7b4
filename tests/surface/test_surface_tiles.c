#include "support.h"

#include <math.h>

#include "device/isa.h"
#include "tiles/tiles.h"

typedef struct triangle {
    float p[9], normals[9];
} triangle;
static int by_position(const void *a, const void *b) { return memcmp(a, b, sizeof(triangle)); }

/* All triangles as positions and normals, each started at its smallest corner, sorted: a surface without its order. */
static triangle *surface_set(const tsr_mesh *mesh)
{
    int64_t n = tsr_mesh_triangle_count(mesh);
    triangle *set = malloc((size_t)n * sizeof *set + 1);
    for (int64_t t = 0; t < n; t++) {
        const uint32_t *v = tsr_mesh_triangles_const(mesh) + 3 * t;
        const float *corner[3];
        int first = 0;
        for (int k = 0; k < 3; k++) corner[k] = tsr_mesh_vertices_const(mesh) + 3 * (int64_t)v[k];
        for (int k = 1; k < 3; k++)
            if (memcmp(corner[k], corner[first], 12) < 0) first = k;
        for (int k = 0; k < 3; k++) {
            memcpy(set[t].p + 3 * k, corner[(first + k) % 3], 12);
            memcpy(set[t].normals + 3 * k, tsr_mesh_normals_const(mesh) + 3 * (int64_t)v[(first + k) % 3], 12);
        }
    }
    qsort(set, (size_t)n, sizeof *set, by_position);
    return set;
}

static tsr_mesh *to_host(tsr_mesh **mesh)
{
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(*mesh, NULL, &host));
    tsr_mesh_destroy(mesh);
    return host;
}

/* Distance to two overlapping spheres, clamped; or one that leaves the domain; or random noise of both signs. */
static float field(int which, double x, double y, double z, uint64_t *seed)
{
    double a = sqrt((x - 13.3) * (x - 13.3) + (y - 11.2) * (y - 11.2) + (z - 10.7) * (z - 10.7)) - 7.4;
    double b = sqrt((x - 22.1) * (x - 22.1) + (y - 14.6) * (y - 14.6) + (z - 12.9) * (z - 12.9)) - 5.9;
    if (which == 0) return (float)fmin(a, b);
    if (which == 1) return (float)(sqrt(x * x + (y - 9) * (y - 9) + (z - 20) * (z - 20)) - 12.3);
    return (float)(4 * test_uniform(seed) - 2);
}

static void same_surface_as_dense(void **state)
{
    (void)state;
    const tsr_size3 n = { 37, 26, 29 };
    const tsr_geometry bent = { { { 0.9, -0.3, 0.1, 5 }, { 0.2, -1.1, 0, -7 }, { 0, 0.1, 1.5, 9 } }, TSR_SPACE_LPS };
    uint64_t seed = test_seed();
    for (int which = 0; which < 3; which++)
        for (int edge = 4; edge <= 8; edge += 4)
            for (int paged = 0; paged < 2; paged++) {
                tsr_context *context = test_context();
                tsr_volume *host, *device, *stored;
                tsr_tiles *tiles;
                tsr_mesh *a, *b;
                tsr_tiles_options options = TSR_TILES_OPTIONS;
                tsr_surface_options surface = TSR_SURFACE_OPTIONS;
                tsr_surface_report report = TSR_SURFACE_REPORT;
                options.edge = edge;
                options.domain = n;
                options.index = paged ? TSR_TILES_PAGED : TSR_TILES_SORTED;
                options.band = 2.5;
                surface.inside = TSR_SURFACE_INSIDE_BELOW;
                surface.normals = which == 1 ? TSR_SURFACE_NORMALS_FORWARD : TSR_SURFACE_NORMALS_CENTRAL;
                surface.isovalue = paged ? 0.375 : 0;
                surface.ambiguity = edge == 8 ? TSR_SURFACE_DECIDE : TSR_SURFACE_SEPARATE_INSIDE;
                require_ok(tsr_volume_create(NULL, TSR_F32, n, &bent, &host));
                float *f = tsr_volume_data(host);
                for (int64_t v = 0; v < n.x * n.y * n.z; v++)
                    f[v] = field(which, (double)(v % n.x), (double)(v / n.x % n.y), (double)(v / n.x / n.y), &seed);
                require_ok(tsr_volume_copy(host, context, &device));
                require_ok(tsr_tiles_create(context, &bent, &options, &tiles));
                require_ok(tsr_tiles_load(tiles, device));
                require_ok(tsr_volume_create(context, TSR_F32, n, &bent, &stored));
                require_ok(tsr_tiles_store(tiles, stored)); /* clamped as the list is */
                require_ok(tsr_surface_extract(context, stored, &surface, &a, NULL));
                require_ok(tsr_surface_extract_tiles(context, tiles, &surface, &b, &report));
                a = to_host(&a);
                b = to_host(&b);
                assert_true(tsr_mesh_triangle_count(a) > 500);
                assert_int_equal(tsr_mesh_triangle_count(a), tsr_mesh_triangle_count(b));
                assert_int_equal(tsr_mesh_vertex_count(a), tsr_mesh_vertex_count(b));
                assert_int_equal(tsr_mesh_space(b), TSR_SPACE_LPS);
                triangle *p = surface_set(a), *q = surface_set(b);
                assert_memory_equal(p, q, (size_t)tsr_mesh_triangle_count(a) * sizeof *p);
                free(p);
                free(q);
                tsr_mesh_measures m = TSR_MESH_MEASURES;
                require_ok(tsr_mesh_measure(b, &m));
                assert_true(m.nonmanifold_edges == 0 && m.misoriented_edges == 0);
                assert_int_equal(m.boundary_edges == 0, which == 0);
                const float *nb = tsr_mesh_normals(b);
                for (int64_t v = 0; v < tsr_mesh_vertex_count(b); v++) {
                    double length = (double)nb[3 * v] * nb[3 * v] + (double)nb[3 * v + 1] * nb[3 * v + 1] + (double)nb[3 * v + 2] * nb[3 * v + 2];
                    assert_true(fabs(length - 1) < 1e-5);
                }
                tsr_mesh_destroy(&a);
                tsr_mesh_destroy(&b);
                tsr_tiles_destroy(&tiles);
                tsr_volume_destroy(&stored);
                tsr_volume_destroy(&device);
                tsr_volume_destroy(&host);
                tsr_context_destroy(&context);
            }
}

/* Threads and backends give the same bits; an empty list gives an empty mesh. */
static void same_everywhere(void **state)
{
    (void)state;
    const tsr_size3 n = { 30, 30, 30 };
    const float *p[3], *normal[3];
    tsr_mesh *mesh[3];
    tsr_context *contexts[3] = { test_context_on("cpu", 1), test_context_on("cpu", 3), test_context() };
    for (int k = 0; k < 3; k++) {
        tsr_tiles *tiles;
        tsr_volume *host, *device;
        tsr_mesh *own;
        tsr_surface_options surface = TSR_SURFACE_OPTIONS;
        surface.normals = TSR_SURFACE_NORMALS_CENTRAL;
        require_ok(tsr_tiles_create(contexts[k], NULL, NULL, &tiles));
        require_ok(tsr_surface_extract_tiles(contexts[k], tiles, &surface, &own, NULL));
        assert_int_equal(tsr_mesh_triangle_count(own), 0);
        tsr_mesh_destroy(&own);
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        for (int64_t v = 0; v < 27000; v++)
            ((float *)tsr_volume_data(host))[v] = field(0, (double)(v % 30), (double)(v / 30 % 30), (double)(v / 900), NULL);
        require_ok(tsr_volume_copy(host, contexts[k], &device));
        require_ok(tsr_tiles_load(tiles, device));
        require_ok(tsr_surface_extract_tiles(contexts[k], tiles, &surface, &own, NULL));
        mesh[k] = to_host(&own);
        p[k] = tsr_mesh_vertices(mesh[k]);
        normal[k] = tsr_mesh_normals(mesh[k]);
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        require_ok(tsr_mesh_measure(mesh[k], &m));
        assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges, 0);
        assert_int_equal(m.euler, 2);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&device);
        tsr_tiles_destroy(&tiles);
    }
    for (int k = 1; k < 3; k++) {
        assert_int_equal(tsr_mesh_vertex_count(mesh[0]), tsr_mesh_vertex_count(mesh[k]));
        assert_int_equal(tsr_mesh_triangle_count(mesh[0]), tsr_mesh_triangle_count(mesh[k]));
        assert_memory_equal(p[0], p[k], (size_t)tsr_mesh_vertex_count(mesh[0]) * 12);
        assert_memory_equal(normal[0], normal[k], (size_t)tsr_mesh_vertex_count(mesh[0]) * 12);
        assert_memory_equal(tsr_mesh_triangles(mesh[0]), tsr_mesh_triangles(mesh[k]), (size_t)tsr_mesh_triangle_count(mesh[0]) * 12);
    }
    for (int k = 0; k < 3; k++) {
        tsr_mesh_destroy(&mesh[k]);
        tsr_context_destroy(&contexts[k]);
    }
}

/* Noise of both signs in a domain that ends within tiles. */
static tsr_tiles *noise_list(tsr_context *context, int32_t edge)
{
    const tsr_size3 n = { 29, 27, 30 };
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    tsr_volume *volume;
    uint64_t seed = 7;
    options.edge = edge;
    options.domain = n;
    options.band = 2.5;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &volume));
    for (int64_t v = 0; v < n.x * n.y * n.z; v++) ((float *)tsr_volume_data(volume))[v] = field(2, 0, 0, 0, &seed);
    require_ok(tsr_tiles_load(tiles, volume));
    tsr_volume_destroy(&volume);
    return tiles;
}

/* SIMD variants give the same vertices, normals and triangles, in the same order. */
static void same_in_every_variant(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 1);
    for (int edge = 4; edge <= 8; edge += 4) {
        tsr_tiles *tiles = noise_list(context, edge);
        for (int way = 0; way < 6; way++) {
            tsr_surface_options surface = TSR_SURFACE_OPTIONS;
            tsr_mesh *plain = NULL;
            surface.ambiguity = (tsr_surface_ambiguity)(way % 3);
            surface.normals = way < 3 ? TSR_SURFACE_NORMALS_NONE : TSR_SURFACE_NORMALS_CENTRAL;
            surface.isovalue = way < 3 ? 0 : -0.7;
            for (int isa = 0; isa < TSR_ISA_COUNT; isa++) {
                tsr_mesh *mesh;
                tsr_isa_force(isa);
                require_ok(tsr_surface_extract_tiles(context, tiles, &surface, &mesh, NULL));
                tsr_isa_force(-1);
                if (!plain) {
                    plain = mesh;
                    continue;
                }
                const size_t vertices = (size_t)tsr_mesh_vertex_count(plain), triangles = (size_t)tsr_mesh_triangle_count(plain);
                assert_true(triangles > 10000);
                assert_int_equal(tsr_mesh_vertex_count(mesh), vertices);
                assert_int_equal(tsr_mesh_triangle_count(mesh), triangles);
                assert_memory_equal(tsr_mesh_vertices(mesh), tsr_mesh_vertices(plain), vertices * 12);
                assert_memory_equal(tsr_mesh_triangles(mesh), tsr_mesh_triangles(plain), triangles * 12);
                if (way >= 3) assert_memory_equal(tsr_mesh_normals(mesh), tsr_mesh_normals(plain), vertices * 12);
                tsr_mesh_destroy(&mesh);
            }
            tsr_mesh_destroy(&plain);
        }
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* A list whose neighbour table forgot the stored tiles in one direction (made by hand) is refused; but what lies beyond the last corner owns no edge of the
 * tile's cells. */
static void torn_list(void **state)
{
    (void)state;
    static const int direction[7] = { 14, 16, 17, 22, 23, 25, 26 }; /* 9 (z + 1) + 3 (y + 1) + x + 1 */
    tsr_context *context = test_context_on("cpu", 1);
    for (int edge = 4; edge <= 8; edge += 4)
        for (int k = 0; k < 7; k++) {
            tsr_tiles *tiles = noise_list(context, edge);
            tsr_mesh *mesh;
            tsr_tile_state list;
            require_ok(tsr_tiles_read_state(tiles, &list));
            for (int32_t i = 0; i < list.count; i++)
                tiles->pool.neighbours[(int64_t)tiles->pool.id[list.list][i] * TSR_NEIGHBOUR_ROW + direction[k]] = TSR_TILE_OUTSIDE;
            const tsr_status status = tsr_surface_extract_tiles(context, tiles, NULL, &mesh, NULL);
            if (direction[k] == 26) require_ok(status);
            else {
                require_error(status, TSR_ERROR_STATE, "beside a tile that is not stored");
                assert_null(mesh);
            }
            tsr_mesh_destroy(&mesh);
            tsr_tiles_destroy(&tiles);
        }
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_tiles *tiles;
    tsr_mesh *mesh;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_surface_options surface = TSR_SURFACE_OPTIONS;
    options.domain = (tsr_size3){ 16, 16, 16 };
    options.band = 2;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    surface.isovalue = 2;
    require_error(tsr_surface_extract_tiles(context, tiles, &surface, &mesh, NULL), TSR_ERROR_ARGUMENT, "isovalue is 2");
    surface.isovalue = NAN;
    require_error(tsr_surface_extract_tiles(context, tiles, &surface, &mesh, NULL), TSR_ERROR_ARGUMENT, "isovalue is NaN");
    surface.isovalue = 0;
    surface.close = 1;
    require_error(tsr_surface_extract_tiles(context, tiles, &surface, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "close");
    require_error(tsr_surface_extract_tiles(context, NULL, &surface, &mesh, NULL), TSR_ERROR_ARGUMENT, "tiles is NULL");
    assert_null(mesh);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_surface_as_dense), cmocka_unit_test(same_everywhere),
                                        cmocka_unit_test(same_in_every_variant), cmocka_unit_test(torn_list), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("surface of tiles", tests, NULL, NULL);
}
