/* What the boundary of an open mesh adds to its winding numbers: angles as products against sums of arcs, turns of points and of whole tiles against solid
 * angles, signs of a soup of triangles against brute force, the same bits everywhere. */
#include "mesh/voxelize_boundary.h"
#include "mesh/voxelize_isa.h"
#include "mesh/voxelize_orient.h"

#include "tessera/voxelize.h"
#include "mesh/voxelize_shapes.h"

static const double pi = 3.14159265358979323846;

/* ---- products ---------------------------------------------------------------------------------------------------------------------------------------- */

static void products_are_sums_of_angles(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const double special[6][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 1, 1 }, { -1, 1 }, { 0, 0 } };
    for (int round = 0; round < 400; round++) {
        tsr_vox_spin s = TSR_VOX_SPIN;
        long double sum = 0;
        const int few = round % 4 == 3; /* multiples of a quarter of a turn only: the ends of the range are met exactly */
        for (int i = 1; i <= 200; i++) {
            const double *c = special[(int)(test_uniform(&seed) * 6)], size = few ? 1 : pow(10, 60 * test_uniform(&seed) - 30);
            const double angle = pi * test_uniform(&seed), sign = test_uniform(&seed) < (round % 3 ? 0.5 : 0.9) ? 1 : -1;
            const int exact = few || i % 5 == 0;
            const double re = size * (exact ? c[0] : cos(angle)), im = size * (exact ? c[1] : sin(angle));
            s = tsr_vox_spun(s, re, im, sign);
            if (i % TSR_VOX_FACTORS == 0) s = tsr_vox_shorter(s);
            if (re != 0 || im != 0) sum += (long double)sign * atan2l((long double)im, (long double)re);
            const double turns = s.turns + atan2(s.y, s.x) / (2 * pi), expected = (double)(sum / (2 * 3.14159265358979323846264338327950288L));
            /* -pi itself belongs to the range, +pi does not */
            const double own = s.y == 0 && s.x < 0 ? s.turns - 0.5 : turns;
            if (fabs(own - expected) > 1e-12) fail_msg("round %d, step %d: %.15g turns, expected %.15g", round, i, own, expected);
            assert_true(s.upper == (s.y > 0 || (s.y == 0 && s.x > 0) ? 1.0 : 0.0));
        }
    }
}

/* ---- turns -------------------------------------------------------------------------------------------------------------------------------------------- */

/* Turns about a part of the triangles, by chance, as files of triangles without an order do. */
static tsr_mesh *shuffled(tsr_mesh *mesh, uint64_t seed)
{
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int64_t i = 0; i < tsr_mesh_triangle_count(mesh); i++, t += 3) {
        if (test_uniform(&seed) < 0.5) continue;
        const uint32_t swap = t[0];
        t[0] = t[1];
        t[1] = swap;
    }
    return mesh;
}

/* The part of a conversion that the boundary needs. Free g->fixed. */
static void prepare(const tsr_mesh *mesh, const double spacing[3], int32_t log2_edge, tsr_vox_grid *g, tsr_vox_boundary *b)
{
    memset(g, 0, sizeof *g);
    g->log2_edge = log2_edge;
    g->fraction = 20;
    g->vertices = tsr_mesh_vertex_count(mesh);
    g->triangles = tsr_mesh_triangle_count(mesh);
    g->corner = g->faced = tsr_mesh_triangles_const(mesh);
    for (int k = 0; k < 3; k++) {
        g->spacing[k] = spacing[k];
        g->base[k] = -40;
    }
    g->fixed = malloc((size_t)g->vertices * sizeof *g->fixed);
    for (int64_t v = 0; v < g->vertices; v++) {
        const float *p = tsr_mesh_vertices_const(mesh) + 3 * v;
        const double local[3] = { (double)p[0], (double)p[1], (double)p[2] };
        tsr_vox_fix(g, local, g->fixed[v]);
    }
    uint32_t *id = malloc((size_t)g->vertices * sizeof *id);
    require_ok(tsr_vox_weld(g, id));
    require_ok(tsr_vox_boundary_make(g, id, b));
    free(id);
    g->edge = b->edge;
    g->node = b->node;
}

/* Seen from voxels that are not on the surface, what the boundary adds differs from the winding number by the crossings: by a whole number. And every variant
 * of the CPU says of a tile what the other devices say of each of its voxels. */
static void turns_of_tiles(void **state)
{
    (void)state;
    static const double spacings[2][3] = { { 1, 1, 1 }, { 1, 1.25, 0.75 } };
    for (int kind = 0; kind < 4; kind++) {
        tsr_mesh *whole = kind & 1 ? shape_box(9, 6, 5, -2, 1, 0) : shape_torus(26, 14, 9, 3.7), *mesh = shape_without(whole, 23, 5);
        const double *spacing = spacings[kind / 2];
        tsr_vox_grid g;
        tsr_vox_boundary b;
        double worst = 0;
        int64_t looked = 0;
        shuffled(mesh, 20 + (uint64_t)kind);
        prepare(mesh, spacing, kind == 2 ? 2 : 3, &g, &b);
        assert_true(kind & 1 ? b.edges > 5 : b.edges > 600); /* several batches of edges and of dipoles */
        for (int n = 0; n < (test_is_slow() ? 8 : 27); n++) {
            const int32_t edge = 1 << g.log2_edge, tile[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
            int32_t expected[512];
            for (int32_t i = 0; i < edge * edge * edge; i++) {
                const int32_t voxel[3] = { i % edge, i / edge % edge, i / edge / edge };
                const vec p = { (tile[0] * edge + voxel[0]) * spacing[0], (tile[1] * edge + voxel[1]) * spacing[1],
                                (tile[2] * edge + voxel[2]) * spacing[2] };
                expected[i] = tsr_vox_turn(&g, tile, voxel, 0);
                if ((i + n) % 11 || oracle_distance(mesh, p) < 1e-3) continue;
                tsr_vox_view at;
                tsr_vox_tile_view(&g, tile, voxel, &at);
                tsr_vox_look(&g, &at);
                const double off = at.turns - oracle_winding(mesh, p);
                worst = fmax(worst, fabs(off - round(off)));
                looked++;
            }
            for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
                int32_t got[512] = { 0 };
                tsr_isa_force(isa);
                TSR_ISA_SELECT(tsr_vox_turns)(&g, tile, got);
                for (int32_t i = 0; i < edge * edge * edge; i++)
                    if (got[i] != expected[i])
                        fail_msg("kind %d, tile %d, voxel %d, %s: %d, expected %d", kind, n, i, tsr_isa_name((tsr_isa)isa), got[i], expected[i]);
            }
            tsr_isa_force(-1);
        }
        assert_true(looked > 30);
        print_message("kind %d: %lld boundary edges, turns off by at most %.2g\n", kind, (long long)b.edges, worst);
        assert_true(worst < (kind & 1 ? 1e-4 : 5e-3)); /* without and with dipoles */
        free(g.fixed);
        tsr_vox_boundary_free(&b);
        tsr_mesh_destroy(&mesh);
        tsr_mesh_destroy(&whole);
    }
}

/* ---- signs -------------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_volume *mask_of(const char *device, int32_t threads, const tsr_mesh *mesh, const tsr_voxelize_options *o)
{
    tsr_context *context = device ? test_context_on(device, threads) : test_context();
    tsr_mesh *there;
    tsr_volume *volume, *host;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    require_ok(tsr_mesh_copy(mesh, context, &there));
    require_ok(tsr_volume_from_mesh(context, there, TSR_U8, o, &volume, &report));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    assert_true(report.boundary_edges > 5);
    tsr_volume_destroy(&volume);
    tsr_mesh_destroy(&there);
    tsr_context_destroy(&context);
    return host;
}

/* Every triangle with corners of its own, a little smaller: no triangle has a neighbour, and none is turned. */
static tsr_mesh *apart(tsr_mesh *mesh)
{
    tsr_mesh *soup = shape_soup(mesh);
    for (int64_t t = 0; t < tsr_mesh_triangle_count(soup); t++) {
        float *p = tsr_mesh_vertices(soup) + 9 * t;
        for (int k = 0; k < 3; k++) {
            const float middle = (p[k] + p[3 + k] + p[6 + k]) / 3;
            for (int c = 0; c < 9; c += 3) p[c + k] = middle + 0.99f * (p[c + k] - middle);
        }
    }
    tsr_mesh_destroy(&mesh);
    return soup;
}

/* Signs of soups: those of the generalised winding number, whole or in parts, on every device. */
static void signs_of_soups(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tsr_mesh *mesh = apart(shuffled(kind ? shape_box(9, 6, 5, -2, 1, 0) : shape_torus(22, 12, 9, 3.7), 5 + (uint64_t)kind));
        tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
        o.spacing = (tsr_vec3){ 1, kind ? 1 : 1.25, 1 };
        o.rule = kind ? TSR_VOXELIZE_POSITIVE : TSR_VOXELIZE_NONZERO;
        tsr_volume *first = mask_of("cpu", 1, mesh, &o), *other = mask_of(NULL, 0, mesh, &o), *parts = mask_of("cpu", 3, mesh, &o);
        const size_t bytes = (size_t)tsr_volume_count(first);
        const uint8_t *m = tsr_volume_data_const(first);
        const tsr_size3 n = tsr_volume_size(first);
        int64_t inside = 0, compared = 0;
        assert_memory_equal(m, tsr_volume_data_const(other), bytes);
        assert_memory_equal(m, tsr_volume_data_const(parts), bytes);
        for (int64_t i = 0; i < (int64_t)bytes; i += test_is_slow() ? 7 : 3) {
            const tsr_vec3 index = { (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) };
            const tsr_vec3 world = tsr_geometry_to_world(tsr_volume_geometry(first), index);
            const vec p = { world.x, world.y, world.z };
            if (oracle_distance(mesh, p) < 1e-3) continue;
            const double w = oracle_winding(mesh, p);
            if (fabs(w - floor(w) - 0.5) < 1.0 / 128 + 5e-3) continue;
            const int64_t number = (int64_t)floor(w + 0.5);
            if (m[i] != (kind ? number > 0 : number != 0))
                fail_msg("kind %d, voxel %g %g %g: %d, winding number %g", kind, index.x, index.y, index.z, m[i], w);
            inside += m[i];
            compared++;
        }
        assert_true(compared > 60 && inside > 0 && inside < compared);
        tsr_volume_destroy(&first);
        tsr_volume_destroy(&other);
        tsr_volume_destroy(&parts);
        tsr_mesh_destroy(&mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_of_angles),
        cmocka_unit_test(turns_of_tiles),
        cmocka_unit_test(signs_of_soups),
    };
    return cmocka_run_group_tests_name("turns of boundaries", tests, NULL, NULL);
}
