/* Surfaces with more vertices or triangles than 32 bits number: the count is told, nothing is made, what there was stands. No volume that fits here has as many
 * but for the ways without an index, so the backend's table is replaced by one that counts too many. */
#include "support.h"

#include "mesh/mesh.h"
#include "volume/volume.h"
#include "surface/surface_ops.h"
#include "surface/nearest_triangle.h"

/* What the context had, what it has, and how much is added to the vertices of call number `from` of count and later. */
static struct {
    const tsr_backend *real;
    tsr_backend backend;
    tsr_surface_ops ops;
    uint64_t more;
    int calls, from;
} lie;

static tsr_status lying_totals(tsr_queue *queue, const tsr_surface_grid *grid, int32_t number, tsr_surface_totals *totals)
{
    const tsr_status status = lie.real->surface->totals(queue, grid, number, totals);
    if (lie.calls++ >= lie.from) totals->vertices += lie.more;
    return status;
}
static tsr_status lying_extract(tsr_queue *queue, tsr_surface_grid *grid, const tsr_surface_output *room, tsr_surface_totals *totals)
{
    const tsr_status status = lie.real->surface->extract(queue, grid, room, totals);
    if (lie.calls++ >= lie.from) totals->vertices += lie.more;
    return status;
}
/* Every cell has 255 outputs. */
static tsr_status lying_gather_count(tsr_queue *queue, const tsr_gather_job *job)
{
    return lie.real->fill(queue, job->counts, 255, (size_t)job->cells);
}
static tsr_status no_gather_write(tsr_queue *queue, const tsr_gather_job *job)
{
    (void)queue;
    (void)job;
    return TSR_OK;
}
static void begin_lie(tsr_context *context, uint64_t more, int from)
{
    lie.real = context->backend;
    lie.backend = *context->backend;
    lie.ops = *context->backend->surface;
    lie.ops.totals = lying_totals;
    if (lie.ops.extract) lie.ops.extract = lying_extract;
    lie.backend.surface = &lie.ops;
    lie.more = more;
    lie.calls = 0;
    lie.from = from;
    context->backend = &lie.backend;
}
static void end_lie(tsr_context *context) { context->backend = lie.real; }

static void ball(float *f, tsr_size3 n, double radius)
{
    for (int64_t z = 0, v = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, v++) {
                const double i = (double)x - 0.5 * (double)n.x, j = (double)y - 0.5 * (double)n.y, k = (double)z - 0.5 * (double)n.z;
                f[v] = (float)(radius * radius - i * i - j * j - k * k);
            }
}
static tsr_volume *ball_volume(tsr_context *context, tsr_size3 n, double radius)
{
    tsr_volume *host, *volume;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    ball((float *)tsr_volume_data(host), n, radius);
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_volume_destroy(&host);
    return volume;
}

/* 2^32 - 1 is the most: one more is refused with the number itself, however far it is. */
static void more_vertices_than_indices(void **state)
{
    (void)state;
    static const uint64_t totals[] = { 4294967296, 4294967297, 15032385536000 };
    const tsr_size3 n = { 15, 14, 13 };
    tsr_context *context = test_context();
    tsr_volume *volume = ball_volume(context, n, 5);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_workspace *workspace;
    tsr_mesh *mesh, *several[2];
    const tsr_mesh *view;
    const double values[2] = { 1, 0 };
    require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
    const uint64_t vertices = (uint64_t)tsr_mesh_vertex_count(mesh);
    const int64_t triangles = tsr_mesh_triangle_count(mesh);
    assert_true(vertices > 100);
    tsr_mesh_destroy(&mesh);
    require_ok(tsr_surface_workspace_create(context, &workspace));
    require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, NULL));
    for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) {
        char text[64];
        snprintf(text, sizeof text, "surface: %llu vertices", (unsigned long long)totals[k]);
        const int64_t before = tsr_context_memory(context)->current_bytes;
        begin_lie(context, totals[k] - vertices, 0);
        require_error(tsr_surface_extract(context, volume, &options, &mesh, NULL), TSR_ERROR_UNSUPPORTED, text);
        assert_null(mesh);
        lie.calls = 0;
        lie.from = 1; /* the second of two */
        require_error(tsr_surface_extract_several(context, volume, &options, values, 2, several, NULL), TSR_ERROR_UNSUPPORTED, text);
        assert_true(!several[0] && !several[1]);
        assert_int_equal(tsr_context_memory(context)->current_bytes, before);
        lie.from = 0;
        require_error(tsr_surface_extract_again(workspace, volume, &options, &view, NULL), TSR_ERROR_UNSUPPORTED, text);
        assert_null(view);
        end_lie(context);
        require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, NULL)); /* it can be used again */
        assert_int_equal(tsr_mesh_vertex_count(view), vertices);
        assert_int_equal(tsr_mesh_triangle_count(view), triangles);
    }
    tsr_surface_workspace_destroy(&workspace);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static tsr_status planes_of(void *user, int64_t begin, int64_t end, void *samples)
{
    memcpy(samples, (const float *)user + begin * 12 * 11, (size_t)(end - begin) * 12 * 11 * sizeof(float));
    return TSR_OK;
}
/* By slabs the vertices of those before count too: 2^32 - 1 of the third alone would do. */
static void more_vertices_in_slabs(void **state)
{
    (void)state;
    float samples[10 * 11 * 12];
    tsr_context *context = test_context();
    tsr_planes_source source = TSR_PLANES_SOURCE;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh *mesh;
    source.size = (tsr_size3){ 12, 11, 10 };
    source.dtype = TSR_F32;
    source.planes = planes_of;
    source.user = samples;
    ball(samples, source.size, 4);
    require_ok(tsr_surface_extract_source(context, &source, &options, 3, &mesh, NULL));
    const int64_t vertices = tsr_mesh_vertex_count(mesh);
    tsr_mesh_destroy(&mesh);
    const int64_t before = tsr_context_memory(context)->current_bytes;
    begin_lie(context, 4294967296 - (uint64_t)vertices, 2);
    const tsr_status status = tsr_surface_extract_source(context, &source, &options, 3, &mesh, NULL);
    end_lie(context);
    assert_int_equal(status, TSR_ERROR_UNSUPPORTED);
    unsigned long long told;
    assert_int_equal(sscanf(strstr(tsr_error_message(), "surface: "), "surface: %llu vertices", &told), 1);
    assert_true(told > UINT32_MAX - (unsigned long long)vertices && told <= 4294967296ull); /* those of a last slab may be missing */
    assert_null(mesh);
    assert_int_equal(tsr_context_memory(context)->current_bytes, before);
    tsr_context_destroy(&context);
}

/* Really counted, by pyramids and scans: n^3 cells of 255 outputs. */
typedef struct chunks {
    int64_t next, total;
    int calls;
} chunks;
static tsr_status take(void *user, const tsr_mesh *triangles, int64_t first, int64_t total)
{
    chunks *c = (chunks *)user;
    assert_int_equal(first, c->next);
    assert_int_equal(total, c->total);
    assert_int_equal(tsr_mesh_triangle_count(triangles), 1000);
    c->next += 1000;
    return ++c->calls == 3 ? TSR_ERROR_CANCELLED : TSR_OK;
}
static void more_triangles_without_an_index(void **state)
{
    (void)state;
    if (test_is_slow()) skip(); /* 17 million cells on the emulator */
    tsr_context *context = test_context();
    for (tsr_surface_gather way = TSR_SURFACE_GATHER_VERTEX; way <= TSR_SURFACE_SCATTER; way++) {
        const int64_t n = way == TSR_SURFACE_GATHER_VERTEX ? 257 : 178; /* 3 outputs a triangle, or 1 */
        const int64_t triangles = n * n * n * 255 / (way == TSR_SURFACE_GATHER_VERTEX ? 3 : 1);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_volume *volume;
        tsr_mesh *mesh;
        char text[96];
        snprintf(text, sizeof text, "surface: %lld triangles without an index, expected at most 1431655765", (long long)triangles);
        assert_true(triangles > UINT32_MAX / 3);
        require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ n + 1, n + 1, n + 1 }, NULL, &volume));
        require_ok(tsr_context_synchronize(context));
        const int64_t before = tsr_context_memory(context)->current_bytes;
        begin_lie(context, 0, 0);
        lie.ops.gather_count = lying_gather_count;
        lie.ops.gather_write = no_gather_write;
        require_error(tsr_surface_extract_triangles(context, volume, &options, way, &mesh, NULL), TSR_ERROR_UNSUPPORTED, text);
        assert_null(mesh);
        if (way == TSR_SURFACE_GATHER_VERTEX || way == TSR_SURFACE_GATHER_TRIANGLE ||
            way == TSR_SURFACE_GATHER_TILE) { /* drawn, they may be any number */
            chunks c = { 0, triangles, 0 };
            assert_int_equal(tsr_surface_expand(context, volume, &options, way, 1000, take, &c, NULL), TSR_ERROR_CANCELLED);
            assert_int_equal(c.calls, 3);
        }
        end_lie(context);
        assert_int_equal(tsr_context_memory(context)->current_bytes, before);
        assert_true(tsr_context_memory(context)->peak_bytes < (int64_t)1 << 30); /* no list was made of them */
        tsr_volume_destroy(&volume);
    }
    tsr_context_destroy(&context);
}

/* Meshes that say they have more triangles, grids that say they have more points, volumes of more samples: refused before anything is read. */
static void larger_than_numbers(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = ball_volume(context, (tsr_size3){ 8, 8, 8 }, 3), *large, *made;
    tsr_surface_view view = { .struct_size = sizeof view, .direction = { 0, 0, 1 } };
    const tsr_geometry *geometry = tsr_volume_geometry(volume);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_voxelize_options voxelize = TSR_VOXELIZE_OPTIONS;
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    tsr_unstructured *grid;
    tsr_triangle_tree *tree;
    tsr_tiles *tiles;
    tsr_mesh *mesh, *other;
    double nothing[3] = { 0, 0, 0 };
    require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
    const int64_t triangles = mesh->triangle_count;
    mesh->triangle_count = 1431655766;
    require_error(tsr_surface_unindex(context, mesh, &other), TSR_ERROR_UNSUPPORTED, "surface: 1431655766 triangles without an index");
    assert_null(other);
    mesh->triangle_count = 4294967296;
    require_error(tsr_surface_order(context, mesh, geometry, &view), TSR_ERROR_UNSUPPORTED, "surface: 4294967296 triangles in the order of a view");
    require_error(tsr_triangle_tree_create(mesh, &tree), TSR_ERROR_UNSUPPORTED, "mesh: 4294967296 triangles");
    require_error(tsr_tiles_from_mesh(context, mesh, &voxelize, &tiles, NULL), TSR_ERROR_UNSUPPORTED, "mesh: 4294967296 triangles");
    require_error(tsr_volume_from_mesh(context, mesh, TSR_U8, &voxelize, &made, NULL), TSR_ERROR_UNSUPPORTED, "mesh: 4294967296 triangles");
    mesh->triangle_count = triangles;
    require_error(tsr_mesh_create(NULL, 4294967296, 1, 0, &other), TSR_ERROR_ARGUMENT, "mesh: 4294967296 vertices, expected 0 to 4294967295");
    source.point_count = 4294967296;
    source.points = nothing;
    require_error(tsr_unstructured_create(context, &source, &grid), TSR_ERROR_UNSUPPORTED, "unstructured grid: 4294967296 points");
    assert_null(grid);
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ 65536, 32768, 2 }, NULL, nothing, NULL, NULL, &large));
    require_error(tsr_unstructured_from_volume(context, large, &grid), TSR_ERROR_UNSUPPORTED, "volume of 4294967296 samples");
    tsr_volume_destroy(&large);
    require_ok(tsr_volume_wrap(context, TSR_U8, (tsr_size3){ 65536, 65536, 65536 }, NULL, volume->data, NULL, NULL, &large));
    require_error(tsr_surface_extract(context, large, &options, &other, NULL), TSR_ERROR_UNSUPPORTED, "expected fewer than 2^45 samples");
    tsr_volume_destroy(&large);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(more_vertices_than_indices), cmocka_unit_test(more_vertices_in_slabs),
                                        cmocka_unit_test(more_triangles_without_an_index), cmocka_unit_test(larger_than_numbers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
