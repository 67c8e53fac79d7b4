/* Golden counts of large grids and of all ways to triangles (docs/theory/surfaces.md 9): integers, so that nothing is rounded. Grids of 32 to 128 as a whole: test_surface. */
#include "support.h"

typedef struct shape {
    int which; /* sphere, torus, Cayley's cubic */
    int64_t n, inside;
} shape;
static int64_t shape_at(int which, int64_t D, int64_t X, int64_t Y, int64_t Z)
{
    const int64_t S = X * X + Y * Y + Z * Z, q = 400 * S + 119 * D * D;
    if (which == 0) return 16 * S - 9 * D * D;
    if (which == 1) return q * q - 230400 * D * D * (X * X + Y * Y);
    return 16 * X * Y * Z + 4 * D * S - D * D * D;
}
static tsr_status planes_of(void *user, int64_t begin, int64_t end, void *samples)
{
    shape *s = (shape *)user;
    const int64_t D = s->n - 1;
    int8_t *to = (int8_t *)samples;
    for (int64_t z = begin; z < end; z++)
        for (int64_t y = 0; y < s->n; y++)
            for (int64_t x = 0; x < s->n; x++) {
                const int below = shape_at(s->which, D, 2 * x - D, 2 * y - D, 2 * z - D) < 0;
                s->inside += below;
                *to++ = below ? -1 : 1;
            }
    return TSR_OK;
}
static tsr_surface_options level_set(void)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    return options;
}

/* inside samples, unique vertices, triangles at n = 64, 256, 512 */
static const int64_t golden[3][3][3] = {
    { { 55192, 10536, 21068 }, { 3663008, 172512, 345020 }, { 29471424, 691992, 1383980 } },
    { { 23360, 8536, 17072 }, { 1535656, 139592, 279184 }, { 12350000, 560104, 1120208 } },
    { { 34012, 9540, 18680 }, { 2185060, 153984, 306416 }, { 17493428, 616608, 1230128 } },
};

static void slabs(void **state)
{
    (void)state;
    static const int64_t sizes[3] = { 64, 256, 512 };
    tsr_context *context = test_context();
    const tsr_surface_options options = level_set();
    for (int which = 0; which < 3; which++)
        for (int k = 0; k < (test_is_slow() ? 1 : 3); k++) {
            shape s = { which, sizes[k], 0 };
            tsr_planes_source source = TSR_PLANES_SOURCE;
            tsr_surface_report report = TSR_SURFACE_REPORT;
            tsr_mesh_measures m = TSR_MESH_MEASURES;
            tsr_mesh *mesh;
            source.size = (tsr_size3){ s.n, s.n, s.n };
            source.dtype = TSR_I8;
            source.planes = planes_of;
            source.user = &s;
            require_ok(tsr_surface_extract_source(context, &source, &options, k ? 0 : 7, &mesh, &report));
            assert_int_equal(s.inside, golden[which][k][0]);
            assert_int_equal(tsr_mesh_vertex_count(mesh), golden[which][k][1]);
            assert_int_equal(tsr_mesh_triangle_count(mesh), golden[which][k][2]);
            assert_int_equal(report.cells, (s.n - 1) * (s.n - 1) * (s.n - 1));
            if (k < 2) {
                require_ok(tsr_mesh_measure(mesh, &m));
                assert_true(m.nonmanifold_edges == 0 && m.misoriented_edges == 0 && (m.boundary_edges == 0) == (which < 2));
                if (which < 2) assert_int_equal(m.euler, which == 0 ? 2 : 0);
            }
            tsr_mesh_destroy(&mesh);
        }
    tsr_context_destroy(&context);
}

static tsr_status add(void *user, const tsr_mesh *triangles, int64_t first, int64_t total)
{
    int64_t *counted = (int64_t *)user;
    assert_int_equal(first, *counted);
    *counted += tsr_mesh_triangle_count(triangles);
    assert_true(*counted <= total);
    return TSR_OK;
}
/* Every way without an index, stored and drawn. */
static void ways(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_surface_options options = level_set();
    for (int which = 0; which < 3; which++) {
        shape s = { which, 64, 0 };
        tsr_volume *host, *volume;
        require_ok(tsr_volume_create(NULL, TSR_I8, (tsr_size3){ s.n, s.n, s.n }, NULL, &host));
        require_ok(planes_of(&s, 0, s.n, tsr_volume_data(host)));
        require_ok(tsr_volume_copy(host, context, &volume));
        for (int way = TSR_SURFACE_GATHER_VERTEX; way <= (int)TSR_SURFACE_SCATTER; way++) {
            if (test_is_slow() && way != which && way != which + 2) continue; /* each way once at least */
            tsr_mesh *mesh;
            require_ok(tsr_surface_extract_triangles(context, volume, &options, (tsr_surface_gather)way, &mesh, NULL));
            assert_int_equal(tsr_mesh_triangle_count(mesh), golden[which][0][2]);
            assert_int_equal(tsr_mesh_vertex_count(mesh), 3 * golden[which][0][2]);
            tsr_mesh_destroy(&mesh);
            if (way == TSR_SURFACE_GATHER_CELL || way == TSR_SURFACE_SCATTER) continue;
            int64_t counted = 0;
            require_ok(tsr_surface_expand(context, volume, &options, (tsr_surface_gather)way, 5000, add, &counted, NULL));
            assert_int_equal(counted, golden[which][0][2]);
        }
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(slabs), cmocka_unit_test(ways) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
