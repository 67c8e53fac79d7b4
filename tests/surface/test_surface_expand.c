/* Triangles that are drawn and never stored: the chunks are those of the whole mesh, and what is drawn from them is the picture of the mesh. */
#include "support.h"

#include <math.h>

/* A volume of noise or a sphere on the device. */
static tsr_volume *field(tsr_context *context, tsr_size3 n, int noise)
{
    tsr_volume *host, *volume;
    uint64_t seed = 77;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    float *f = (float *)tsr_volume_data(host);
    for (int64_t z = 0, v = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, v++) {
                const double i = (double)x - 0.5 * (double)n.x, j = (double)y - 0.5 * (double)n.y, k = (double)z - 0.5 * (double)n.z;
                f[v] = noise ? (float)test_uniform(&seed) : (float)(0.5 + 0.45 * (double)n.x - sqrt(i * i + j * j + k * k));
            }
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_volume_destroy(&host);
    return volume;
}

enum { WIDTH = 96, HEIGHT = 64 };
typedef struct picture {
    float depth[HEIGHT][WIDTH], shade[HEIGHT][WIDTH];
} picture;
static void clear(picture *p)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            p->depth[y][x] = INFINITY;
            p->shade[y][x] = 0;
        }
}
/* Along z, the nearest first by depth, the first drawn where they are equal. */
static void draw(picture *p, const float *a, const float *b, const float *c, double scale)
{
    const double area = ((double)b[0] - a[0]) * ((double)c[1] - a[1]) - ((double)b[1] - a[1]) * ((double)c[0] - a[0]);
    if (area == 0) return;
    const double lower = fmin(fmin(a[0], b[0]), c[0]) / scale, upper = fmax(fmax(a[0], b[0]), c[0]) / scale;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = (int)fmax(0, floor(lower)); x < WIDTH && x <= upper; x++) {
            const double px = (x + 0.37) * scale, py = (y + 0.41) * scale;
            const double u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area,
                         v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area;
            const float depth = (float)(u * (double)a[2] + v * (double)b[2] + (1 - u - v) * (double)c[2]);
            if (u < 0 || v < 0 || u + v > 1 || depth >= p->depth[y][x]) continue;
            p->depth[y][x] = depth;
            p->shade[y][x] = (float)area;
        }
}
static void draw_mesh(picture *p, const tsr_mesh *mesh, double scale)
{
    for (int64_t t = 0; t < tsr_mesh_triangle_count(mesh); t++) {
        const uint32_t *k = tsr_mesh_triangles_const(mesh) + 3 * t;
        const float *v = tsr_mesh_vertices_const(mesh);
        draw(p, v + 3 * (int64_t)k[0], v + 3 * (int64_t)k[1], v + 3 * (int64_t)k[2], scale);
    }
}

typedef struct drawing {
    picture *picture;
    const tsr_mesh *whole; /* unindexed */
    double scale;
    int64_t next, chunk;
    int calls, stop;
} drawing;
static tsr_status take(void *user, const tsr_mesh *chunk, int64_t first, int64_t total)
{
    drawing *d = (drawing *)user;
    const int64_t count = tsr_mesh_triangle_count(chunk);
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(chunk, NULL, &host));
    assert_int_equal(first, d->next);
    assert_int_equal(total, tsr_mesh_triangle_count(d->whole));
    assert_int_equal(count, first + d->chunk < total ? d->chunk : total - first);
    assert_int_equal(tsr_mesh_vertex_count(host), 3 * count);
    assert_memory_equal(tsr_mesh_vertices(host), tsr_mesh_vertices_const(d->whole) + 9 * first, (size_t)count * 36);
    assert_int_equal(tsr_mesh_normals(host) != NULL, tsr_mesh_normals_const(d->whole) != NULL);
    if (tsr_mesh_normals(host)) assert_memory_equal(tsr_mesh_normals(host), tsr_mesh_normals_const(d->whole) + 9 * first, (size_t)count * 36);
    for (int64_t k = 0; k < 3 * count; k++) assert_int_equal(tsr_mesh_triangles(host)[k], k);
    draw_mesh(d->picture, host, d->scale);
    tsr_mesh_destroy(&host);
    d->next = first + count;
    d->calls++;
    return d->stop == d->calls ? TSR_ERROR_CANCELLED : TSR_OK;
}

/* All ways, chunks of odd sizes, with normals: the triangles in order, and the same picture as from the stored mesh. */
static void same_picture(void **state)
{
    (void)state;
    static const int64_t chunks[] = { 1 << 20, 1000, 37 };
    static const tsr_surface_gather ways[] = { TSR_SURFACE_GATHER_VERTEX, TSR_SURFACE_GATHER_TRIANGLE, TSR_SURFACE_GATHER_TILE };
    tsr_context *context = test_context();
    picture *stored = (picture *)malloc(sizeof *stored), *drawn = (picture *)malloc(sizeof *drawn);
    for (int noise = 0; noise < 2; noise++) {
        const tsr_size3 n = noise ? (tsr_size3){ 9, 7, 6 } : test_is_slow() ? (tsr_size3){ 16, 16, 16 } : (tsr_size3){ 33, 32, 31 };
        tsr_volume *volume = field(context, n, noise);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_report whole_report = TSR_SURFACE_REPORT, report = TSR_SURFACE_REPORT;
        tsr_mesh *mesh, *soup, *whole;
        options.isovalue = 0.5;
        options.normals = noise ? TSR_SURFACE_NORMALS_NONE : TSR_SURFACE_NORMALS_CENTRAL;
        require_ok(tsr_surface_extract(context, volume, &options, &mesh, &whole_report));
        require_ok(tsr_surface_unindex(context, mesh, &soup));
        require_ok(tsr_mesh_copy(soup, NULL, &whole));
        tsr_mesh_destroy(&soup);
        require_ok(tsr_mesh_copy(mesh, NULL, &soup)); /* the picture is made from the indexed mesh */
        const double scale = (double)n.x / WIDTH;
        clear(stored);
        draw_mesh(stored, soup, scale);
        int covered = 0;
        for (int k = 0; k < WIDTH * HEIGHT; k++) covered += stored->shade[k / WIDTH][k % WIDTH] != 0;
        assert_true(covered > WIDTH * HEIGHT / 4);
        for (int way = 0; way < 3; way++)
            for (int c = 0; c < 3; c++) {
                drawing d = { .picture = drawn, .whole = whole, .scale = scale, .chunk = chunks[c] };
                clear(drawn);
                require_ok(tsr_surface_expand(context, volume, &options, ways[way], c ? chunks[c] : 0, take, &d, &report));
                assert_int_equal(d.next, tsr_mesh_triangle_count(whole));
                assert_memory_equal(drawn, stored, sizeof *drawn);
                assert_int_equal(report.cells, whole_report.cells);
                d = (drawing){ .picture = drawn, .whole = whole, .scale = scale, .chunk = 37, .stop = 2 };
                if (c == 2) { /* the consumer ends it */
                    require_error(tsr_surface_expand(context, volume, &options, ways[way], 37, take, &d, NULL), TSR_ERROR_CANCELLED,
                                  "surface: cancelled after 37 of");
                    assert_int_equal(d.calls, 2);
                }
            }
        tsr_mesh_destroy(&soup);
        tsr_mesh_destroy(&whole);
        tsr_mesh_destroy(&mesh);
        tsr_volume_destroy(&volume);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    free(stored);
    free(drawn);
    tsr_context_destroy(&context);
}

/* Memory does not grow with the triangles; nothing is drawn of nothing; what is refused. */
static tsr_status count_them(void *user, const tsr_mesh *chunk, int64_t first, int64_t total)
{
    int64_t *counted = (int64_t *)user;
    (void)total;
    assert_int_equal(first, *counted);
    *counted += tsr_mesh_triangle_count(chunk);
    return TSR_OK;
}
static void bounded(void **state)
{
    (void)state;
    const int64_t n = test_is_slow() ? 12 : 40;
    tsr_context *context = test_context();
    tsr_volume *volume = field(context, (tsr_size3){ n, n, n }, 1);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_report report = TSR_SURFACE_REPORT;
    tsr_mesh *mesh;
    int64_t counted = 0;
    options.isovalue = 0.5;
    tsr_context_reset_peak(context);
    const int64_t before = tsr_context_memory(context)->current_bytes;
    require_ok(tsr_surface_expand(context, volume, &options, TSR_SURFACE_GATHER_TRIANGLE, 100, count_them, &counted, &report));
    const int64_t peak = tsr_context_memory(context)->peak_bytes - before;
    require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
    assert_int_equal(counted, tsr_mesh_triangle_count(mesh));
    tsr_mesh_destroy(&mesh);
    assert_true(counted > 2 * (n - 1) * (n - 1) * (n - 1));
    assert_true(report.work_bytes <= peak && peak <= 2 * (n - 1) * (n - 1) * (n - 1) + 48 * 100 + (1 << 15));
    options.isovalue = 7;
    counted = 0;
    require_ok(tsr_surface_expand(context, volume, &options, TSR_SURFACE_GATHER_TILE, 100, count_them, &counted, &report));
    assert_int_equal(counted, 0);
    require_error(tsr_surface_expand(context, volume, &options, TSR_SURFACE_GATHER_CELL, 100, count_them, &counted, NULL), TSR_ERROR_ARGUMENT,
                  "gather is 2");
    require_error(tsr_surface_expand(context, volume, &options, TSR_SURFACE_GATHER_TILE, -1, count_them, &counted, NULL), TSR_ERROR_ARGUMENT,
                  "chunks of -1");
    require_error(tsr_surface_expand(context, volume, &options, TSR_SURFACE_GATHER_TILE, 1, NULL, NULL, NULL), TSR_ERROR_ARGUMENT, "no function");
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_picture), cmocka_unit_test(bounded) };
    return cmocka_run_group_tests_name("surface, drawn", tests, NULL, NULL);
}
