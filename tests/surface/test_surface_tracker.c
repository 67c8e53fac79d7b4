#include "support.h"

#include <math.h>

#include "tiles/tiles.h"
#include "algebra/csg.h"

/* A surface that follows a list against a full extraction after every change: the same triangles, closed, and only what changed made anew. */

typedef struct triangle {
    float p[9], normals[9];
} triangle;
static int by_position(const void *a, const void *b) { return memcmp(a, b, sizeof(triangle)); }

/* All triangles that are not gaps, each started at its smallest corner, sorted. */
static triangle *surface_set(const tsr_mesh *mesh, int64_t *count)
{
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    const float *p = tsr_mesh_vertices_const(host), *normals = tsr_mesh_normals_const(host);
    triangle *set = malloc((size_t)tsr_mesh_triangle_count(host) * sizeof *set + 1);
    *count = 0;
    for (int64_t t = 0; t < tsr_mesh_triangle_count(host); t++) {
        const uint32_t *v = tsr_mesh_triangles_const(host) + 3 * t;
        if (v[0] == v[1] && v[1] == v[2]) {
            assert_int_equal(v[0], 0);
            continue;
        }
        triangle *to = &set[(*count)++];
        int first = 0;
        memset(to, 0, sizeof *to);
        for (int k = 0; k < 3; k++) assert_true((int64_t)v[k] < tsr_mesh_vertex_count(host));
        for (int k = 1; k < 3; k++)
            if (memcmp(p + 3 * (int64_t)v[k], p + 3 * (int64_t)v[first], 12) < 0) first = k;
        for (int k = 0; k < 3; k++) {
            const int64_t at = 3 * (int64_t)v[(first + k) % 3];
            memcpy(to->p + 3 * k, p + at, 12);
            if (normals) memcpy(to->normals + 3 * k, normals + at, 12);
        }
    }
    qsort(set, (size_t)*count, sizeof *set, by_position);
    tsr_mesh_destroy(&host);
    return set;
}

static void require_same(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, const tsr_mesh *mesh,
                         const tsr_surface_update_report *report)
{
    tsr_mesh *full, *host;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    int64_t n, all;
    require_ok(tsr_surface_extract_tiles(context, tiles, options, &full, NULL));
    triangle *a = surface_set(mesh, &n), *b = surface_set(full, &all);
    assert_int_equal(n, all);
    assert_int_equal(n, report->triangles);
    assert_int_equal(tsr_mesh_vertex_count(full), report->vertices);
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
    free(a);
    free(b);
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    require_ok(tsr_mesh_measure(host, &m)); /* the indices too: closed as a mesh, not only as a heap of triangles */
    assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges, 0);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&full);
}

static tsr_tiles *ball(tsr_context *context, int edge, double x, double radius)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.edge = edge;
    options.band = 2;
    options.capacity = 4;
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .centre = { x, 1, -2 }, .radius = radius }, &tiles));
    return tiles;
}

/* A dab of the list by a sphere, as a brush does: tiles come and go. */
static void dab(tsr_tiles *tiles, double x, double y, double z, double radius, int erase, tsr_surface_region *region)
{
    const tsr_tiles_sphere sphere = { (float)x, (float)y, (float)z, (float)radius, erase };
    const double c[3] = { x, y, z };
    require_ok(tsr_tiles_paint(tiles, &sphere, 1));
    for (int k = 0; k < 3; k++) {
        region->lower[k] = (int64_t)floor(c[k] - radius - 3);
        region->upper[k] = (int64_t)ceil(c[k] + radius + 3) + 1;
    }
}

static void same_after_every_dab(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int edge = 4; edge <= 8; edge += 4)
        for (int normals = 0; normals < 2; normals++) {
            tsr_context *context = test_context();
            tsr_surface_options options = TSR_SURFACE_OPTIONS;
            tsr_surface_tracker *tracker;
            tsr_surface_update_report report = TSR_SURFACE_UPDATE_REPORT;
            tsr_surface_region region;
            const tsr_mesh *mesh;
            tsr_tiles *tiles = ball(context, edge, 0, 14);
            options.normals = normals ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_NONE;
            options.isovalue = normals ? 0.25 : 0;
            options.ambiguity = normals ? TSR_SURFACE_DECIDE : TSR_SURFACE_SEPARATE_INSIDE;
            require_ok(tsr_surface_tracker_create(context, &options, &tracker));
            require_ok(tsr_surface_update(tracker, tiles, NULL, &mesh, &report));
            assert_int_equal(report.changed, report.tiles);
            require_same(context, tiles, &options, mesh, &report);
            require_ok(tsr_surface_update(tracker, tiles, NULL, &mesh, &report));
            assert_int_equal(report.changed + report.renewed, 0);
            int local = 0;
            for (int i = 0; i < (test_is_slow() ? 4 : 10); i++) {
                const double a = 6.283 * test_uniform(&seed), b = 2 * test_uniform(&seed) - 1, r = 14 * sqrt(1 - b * b);
                const double size = 2 + 3 * test_uniform(&seed);
                dab(tiles, r * cos(a), 1 + r * sin(a), 14 * b - 2, size, i % 3 == 1, &region);
                require_ok(tsr_surface_update(tracker, tiles, i % 4 == 3 ? NULL : &region, &mesh, &report));
                assert_true(report.changed > 0);
                local += report.renewed < report.tiles;
                require_same(context, tiles, &options, mesh, &report);
            }
            assert_true(local > (test_is_slow() ? 1 : 4));
            tsr_surface_tracker_destroy(&tracker);
            tsr_tiles_destroy(&tiles);
            tsr_context_destroy(&context);
        }
}

/* Lists that have nothing in common, one that was compacted, one that vanishes and comes back; gaps do not pile up. */
static void any_list_may_follow(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_surface_tracker *tracker;
    tsr_surface_update_report report = TSR_SURFACE_UPDATE_REPORT;
    const tsr_mesh *mesh;
    tsr_tiles_options empty = TSR_TILES_OPTIONS;
    tsr_tiles *lists[5] = { ball(context, 8, 0, 20), ball(context, 8, 40, 9), ball(context, 4, 5, 12), NULL, ball(context, 8, 0, 20) };
    require_ok(tsr_tiles_create(context, NULL, &empty, &lists[3]));
    require_ok(tsr_surface_tracker_create(context, NULL, &tracker));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5; i++) {
            require_ok(tsr_surface_update(tracker, lists[i], NULL, &mesh, &report));
            require_same(context, lists[i], NULL, mesh, &report);
            assert_true(tsr_mesh_triangle_count(mesh) <= 3 * report.triangles + 64 * 32 * 4);
        }
    require_ok(tsr_tiles_compact(lists[4], 0));
    require_ok(tsr_surface_update(tracker, lists[4], NULL, &mesh, &report));
    require_same(context, lists[4], NULL, mesh, &report);
    tsr_surface_tracker_destroy(&tracker);
    tsr_surface_tracker_destroy(&tracker);
    for (int i = 0; i < 5; i++) tsr_tiles_destroy(&lists[i]);
    tsr_context_destroy(&context);
}

/* The mesh itself, gaps and order, is the same on every backend and thread count. */
static void same_mesh_everywhere(void **state)
{
    (void)state;
    tsr_context *contexts[3] = { test_context_on("cpu", 1), test_context_on("cpu", 3), test_context() };
    tsr_mesh *kept[3];
    for (int k = 0; k < 3; k++) {
        tsr_surface_tracker *tracker;
        tsr_surface_region region;
        const tsr_mesh *mesh;
        tsr_tiles *tiles = ball(contexts[k], 8, 0, 12);
        require_ok(tsr_surface_tracker_create(contexts[k], NULL, &tracker));
        require_ok(tsr_surface_update(tracker, tiles, NULL, &mesh, NULL));
        dab(tiles, 12, 0, 0, 5, 0, &region);
        require_ok(tsr_surface_update(tracker, tiles, &region, &mesh, NULL));
        dab(tiles, -12, 0, 0, 7, 1, &region);
        require_ok(tsr_surface_update(tracker, tiles, &region, &mesh, NULL));
        require_ok(tsr_mesh_copy(mesh, NULL, &kept[k]));
        tsr_surface_tracker_destroy(&tracker);
        tsr_tiles_destroy(&tiles);
        if (k == 0) continue;
        assert_int_equal(tsr_mesh_vertex_count(kept[0]), tsr_mesh_vertex_count(kept[k]));
        assert_int_equal(tsr_mesh_triangle_count(kept[0]), tsr_mesh_triangle_count(kept[k]));
        assert_memory_equal(tsr_mesh_vertices(kept[0]), tsr_mesh_vertices(kept[k]), (size_t)tsr_mesh_vertex_count(kept[0]) * 12);
        assert_memory_equal(tsr_mesh_triangles(kept[0]), tsr_mesh_triangles(kept[k]), (size_t)tsr_mesh_triangle_count(kept[0]) * 12);
    }
    for (int k = 0; k < 3; k++) {
        tsr_mesh_destroy(&kept[k]);
        tsr_context_destroy(&contexts[k]);
    }
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context(), *other = test_context_on("cpu", 1);
    tsr_surface_tracker *tracker;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_update_report report = TSR_SURFACE_UPDATE_REPORT;
    const tsr_mesh *mesh;
    tsr_tiles *tiles = ball(context, 8, 0, 9), *elsewhere = ball(other, 8, 0, 9);
    require_error(tsr_surface_tracker_create(NULL, NULL, &tracker), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_surface_update(NULL, tiles, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "tracker is NULL");
    require_ok(tsr_surface_tracker_create(context, &options, &tracker));
    require_error(tsr_surface_update(tracker, NULL, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "tiles is NULL");
    require_error(tsr_surface_update(tracker, elsewhere, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "another context");
    assert_null(mesh);
    require_ok(tsr_surface_update(tracker, tiles, NULL, &mesh, &report)); /* after failures as before */
    require_same(context, tiles, &options, mesh, &report);
    tsr_surface_tracker_destroy(&tracker);
    options.isovalue = 5;
    require_ok(tsr_surface_tracker_create(context, &options, &tracker));
    require_error(tsr_surface_update(tracker, tiles, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "isovalue is 5");
    tsr_surface_tracker_destroy(&tracker);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&elsewhere);
    tsr_context_destroy(&context);
    tsr_context_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_after_every_dab), cmocka_unit_test(any_list_may_follow),
                                        cmocka_unit_test(same_mesh_everywhere), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("surface that follows a list", tests, NULL, NULL);
}
