/* Lists that a caller can make, whole or not: surfaces, files and the algebra answer each with a result or an error, and results are whole where operands are.
 * Bodies that touch on the lattice become one. */
#include "csg_fixture.h"
#include "formats/scratch.h"
#include "tiles/tiles_build.h"
#include "tessera/surface.h"
#include "tessera/tile_file.h"

enum { EDGE = 4, VOXELS = EDGE * EDGE * EDGE, MOST_TILES = 24 };

/* Tiles anywhere in a box, values in turn noise, two sorts, zeros, signs of absent tiles at random or none. NULL where they are refused. */
static tsr_tiles *random_list(tsr_context *context, uint64_t *seed)
{
    int32_t at[MOST_TILES][3];
    static float values[MOST_TILES][VOXELS];
    uint32_t inside[MOST_TILES] = { 0 };
    int64_t count = 0;
    const int reach = 1 + (int)(test_random(seed) % 3), sort = (int)(test_random(seed) % 4), signs = (int)(test_random(seed) % 4);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    tsr_tiles *tiles = NULL;
    for (int z = -reach; z <= reach; z++)
        for (int y = -reach; y <= reach; y++)
            for (int x = -reach; x <= reach; x++) {
                if (count == MOST_TILES || test_random(seed) % 3) continue;
                at[count][0] = x, at[count][1] = y, at[count][2] = z;
                inside[count] = (signs == 0 ? (uint32_t)test_random(seed) : signs == 1 ? UINT32_MAX : 0) & 0x07ffdfffu;
                for (int k = 0; k < VOXELS; k++) {
                    const double u = test_uniform(seed) * 2 - 1;
                    values[count][k] = (float)(sort == 0   ? 3 * u
                                               : sort == 1 ? (u < 0 ? -3 : 3)
                                               : sort == 2 ? (u < -0.3  ? -1
                                                              : u < 0.3 ? 0
                                                                        : 1)
                                               : u < 0.9   ? 3
                                                           : -0.5);
                }
                count++;
            }
    for (int64_t i = 0; i < count; i++) /* what is stored has no sign */
        for (int64_t j = 0; j < count; j++) {
            const int d[3] = { at[j][0] - at[i][0], at[j][1] - at[i][1], at[j][2] - at[i][2] };
            if (abs(d[0]) <= 1 && abs(d[1]) <= 1 && abs(d[2]) <= 1) inside[i] &= ~(1u << (9 * (d[2] + 1) + 3 * (d[1] + 1) + d[0] + 1));
        }
    options.edge = EDGE;
    options.band = 3;
    contents.count = count;
    contents.coordinates = (const int32_t(*)[3])at;
    contents.values = &values[0][0];
    contents.inside = signs < 3 ? inside : NULL;
    contents.background_inside = (int)(test_random(seed) % 2);
    contents.keep = (int)(test_random(seed) % 2);
    const tsr_status status = tsr_tiles_assemble(context, NULL, &options, &contents, &tiles);
    assert_true((status == TSR_OK) == (tiles != NULL));
    assert_true(status == TSR_OK || status == TSR_ERROR_STATE);
    return tiles;
}

/* A surface is one that can be read, or there is an error that is no defect of ours. */
static void bears_surface(tsr_context *context, const tsr_tiles *tiles)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh *mesh, *host;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    const tsr_status status = tsr_surface_extract_tiles(context, tiles, &options, &mesh, NULL);
    assert_true(status == TSR_OK || status == TSR_ERROR_STATE);
    if (status != TSR_OK) return;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    require_ok(tsr_mesh_measure(host, &m)); /* indices in range */
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&host);
}

static void bears_file(tsr_context *context, const tsr_tiles *tiles)
{
    const char *path = scratch("any.tsr");
    tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
    tsr_tiles *back;
    write.overwrite = 1;
    const tsr_status status = tsr_tiles_write(tiles, path, &write);
    assert_true(status == TSR_OK || status == TSR_ERROR_STATE);
    if (status != TSR_OK) return;
    require_ok(tsr_tiles_read(context, path, NULL, &back)); /* what is written can be read */
    tsr_tiles_destroy(&back);
}

static void bears_all(tsr_context *context, const tsr_tiles *tiles)
{
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_component parts[256];
    int64_t count;
    bears_surface(context, tiles);
    bears_file(context, tiles);
    require_ok(tsr_tiles_measure(tiles, &m));
    require_ok(tsr_tiles_components(tiles, 26, parts, 256, &count));
    assert_true(m.components >= 0 && m.cavities >= 0 && count >= 0);
}

static void any_list(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    uint64_t seed = test_seed();
    const int rounds = context->device.kind == TSR_DEVICE_CPU && !test_is_slow() ? 150 : 5;
    int made = 0, whole = 0, refused = 0;
    for (int i = 0; i < rounds; i++) {
        tsr_tiles *a = random_list(context, &seed), *b = random_list(context, &seed), *result;
        for (int operation = TSR_CSG_UNION; operation <= TSR_CSG_BLEND + 1; operation++) {
            if (!a || !b) break;
            const tsr_status status =
                operation <= TSR_CSG_BLEND ? tsr_tiles_combine(a, b, (tsr_csg_operation)operation, 2, &result) : tsr_tiles_complement(a, &result);
            assert_true(status == TSR_OK || status == TSR_ERROR_STATE);
            refused += status != TSR_OK;
            if (status != TSR_OK) continue;
            bears_all(context, result);
            made++;
            whole += tsr_tiles_is_whole(result);
            tsr_tiles_destroy(&result);
        }
        if (a) bears_all(context, a);
        tsr_tiles_destroy(&a);
        tsr_tiles_destroy(&b);
    }
    print_message("%d results, %d of them whole, %d refused\n", made, whole, refused);
    assert_true(made > 0 && whole > 0); /* the loop does something */
}

/* The check knows a list that is whole from one that is not. */
static void check_sees(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *tiles = ball(context, 0, 0, 0, 8);
    const int32_t at[2][3] = { { 0, 0, 0 }, { 2, 0, 0 } };
    static float values[2][VOXELS];
    uint32_t inside[2] = { 1u << 14, 0 }; /* the tile between is inside to the one, outside to the other */
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    require_ok(tsr_tiles_check_whole(tiles, "ball"));
    tsr_tile_state now;
    require_ok(tsr_tiles_read_state(tiles, &now));
    uint32_t id; /* any neighbour of any tile that is not the right one */
    require_ok(tsr_device_move(NULL, &id, context, tiles->pool.id[now.list], sizeof id));
    for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        uint32_t *entry = tiles->pool.neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW + d, right, wrong;
        require_ok(tsr_device_move(NULL, &right, context, entry, sizeof right));
        wrong = right >= TSR_TILE_FIRST ? 0 : id;
        require_ok(tsr_device_move(context, entry, NULL, &wrong, sizeof wrong));
        require_error(tsr_tiles_check_whole(tiles, "ball"), TSR_ERROR_STATE, "neighbour");
        require_ok(tsr_device_move(context, entry, NULL, &right, sizeof right));
    }
    require_ok(tsr_tiles_check_whole(tiles, "ball"));
    tsr_tiles_destroy(&tiles);
    for (int k = 0; k < VOXELS; k++) values[0][k] = values[1][k] = 1;
    options.edge = EDGE;
    options.band = 3;
    contents.count = 2;
    contents.coordinates = at;
    contents.values = &values[0][0];
    contents.inside = inside;
    contents.keep = 1;
    require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
    require_error(tsr_tiles_check_whole(tiles, "list"), TSR_ERROR_STATE, "(1, 0, 0)");
    tsr_tiles_destroy(&tiles);
}

/* ---- bodies that touch -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_tiles *box_between(tsr_context *context, double spacing, const double low[3], const double high[3])
{
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ spacing, spacing, spacing }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    const tsr_shape shape = { .kind = TSR_SHAPE_BOX,
                              .centre = { 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]) },
                              .half = { 0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 0.5 * (high[2] - low[2]) } };
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.band = 3 * spacing;
    require_ok(tsr_tiles_shape(context, &geometry, &options, &shape, &tiles));
    return tiles;
}

static tsr_mesh_measures surface_of(tsr_context *context, const tsr_tiles *tiles)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh *mesh, *host;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_surface_extract_tiles(context, tiles, &options, &mesh, NULL));
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    require_ok(tsr_mesh_measure(host, &m));
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&host);
    return m;
}

static tsr_tiles *combined(const tsr_tiles *a, tsr_csg_operation operation, const tsr_tiles *b)
{
    tsr_tiles *result;
    require_ok(tsr_tiles_combine(a, b, operation, 0, &result));
    check_invariants(result);
    require_ok(tsr_tiles_check_whole(result, "result"));
    return result;
}
static void require_empty(tsr_tiles *tiles)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.count, 0);
    assert_int_equal(info.inside_voxels, 0);
    tsr_tiles_destroy(&tiles);
}

/* A bar cut in two at z = 5 (along every axis in turn), the halves put together again: one piece and the measures of the bar. Nothing is common to them, and a body
 * without itself is nothing. */
static void touching_bodies(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double spacings[] = { 1, 0.7, 0.5, 0.25 };
    const int cases = context->device.kind == TSR_DEVICE_CPU && !test_is_slow() ? 4 : 1;
    for (int i = 0; i < cases; i++)
        for (int axis = 0; axis < 3; axis++) {
            double low[3] = { 0, 0, 0 }, high[3] = { 4, 4, 4 }, middle_low[3] = { 0, 0, 0 }, middle_high[3] = { 4, 4, 4 };
            high[axis] = 12;
            middle_high[axis] = middle_low[axis] = 5;
            tsr_tiles *a = box_between(context, spacings[i], low, middle_high), *b = box_between(context, spacings[i], middle_low, high);
            tsr_tiles *both = combined(a, TSR_CSG_UNION, b), *turned = combined(b, TSR_CSG_UNION, a),
                      *bar = box_between(context, spacings[i], low, high);
            const tsr_mesh_measures m = surface_of(context, both), n = surface_of(context, turned), exact = surface_of(context, bar);
            tsr_tiles_measures t = TSR_TILES_MEASURES, u = TSR_TILES_MEASURES;
            require_ok(tsr_tiles_measure(both, &t));
            require_ok(tsr_tiles_measure(bar, &u));
            print_message("spacing %g, axis %d: surface %.3f, %.3f in %lld of %.3f, %.3f; list %.3f, %.3f in %lld of %.3f, %.3f\n", spacings[i], axis,
                          m.volume, m.area, (long long)m.components, exact.volume, exact.area, t.volume, t.area, (long long)t.components, u.volume,
                          u.area);
            assert_true(m.components == 1 && m.boundary_edges == 0 && m.nonmanifold_edges == 0 && m.misoriented_edges == 0 && m.euler == 2);
            assert_true(m.volume == n.volume && m.area == n.area);
            assert_true(t.components == 1 && t.cavities == 0 && t.genus == 0);
            assert_true(fabs(m.volume / exact.volume - 1) < 0.01 && fabs(m.area / exact.area - 1) < 0.02);
            assert_true(fabs(t.volume / u.volume - 1) < 0.03 && fabs(t.area / u.area - 1) < 0.05);
            tsr_tiles_destroy(&bar);
            require_empty(combined(a, TSR_CSG_INTERSECTION, b));
            require_empty(combined(a, TSR_CSG_DIFFERENCE, a));
            require_empty(combined(both, TSR_CSG_DIFFERENCE, both));
            tsr_tiles *self = combined(a, TSR_CSG_UNION, a), *rest = combined(both, TSR_CSG_DIFFERENCE, b);
            const tsr_mesh_measures s = surface_of(context, self), r = surface_of(context, rest), lower = surface_of(context, a);
            assert_true(s.components == 1 && s.boundary_edges == 0 && r.components == 1 && r.boundary_edges == 0);
            assert_true(s.volume == lower.volume && fabs(r.volume / lower.volume - 1) < 0.02);
            tsr_tiles_destroy(&a);
            tsr_tiles_destroy(&b);
            tsr_tiles_destroy(&both);
            tsr_tiles_destroy(&turned);
            tsr_tiles_destroy(&self);
            tsr_tiles_destroy(&rest);
        }
}

/* Eight cubes round a corner have nothing in common and leave no gap. */
static void corners_belong_to_one(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *all = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    for (int k = 0; k < 8; k++) {
        const double low[3] = { k & 1 ? 0 : -4, k & 2 ? 0 : -4, k & 4 ? 0 : -4 }, high[3] = { low[0] + 4, low[1] + 4, low[2] + 4 };
        tsr_tiles *cube = box_between(context, 1, low, high), *more;
        if (!all) {
            all = cube;
            continue;
        }
        require_empty(combined(all, TSR_CSG_INTERSECTION, cube));
        more = combined(all, TSR_CSG_UNION, cube);
        tsr_tiles_destroy(&all);
        tsr_tiles_destroy(&cube);
        all = more;
    }
    require_ok(tsr_tiles_describe(all, &info));
    assert_int_equal(info.inside_voxels, 7 * 7 * 7); /* -3 to 3: none of the planes between them is left, those on the border are on it */
    const tsr_mesh_measures m = surface_of(context, all);
    assert_true(m.components == 1 && m.boundary_edges == 0 && m.euler == 2);
    tsr_tiles_destroy(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(any_list, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(check_sees, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(touching_bodies, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(corners_belong_to_one, set_up, tear_down) };
    return cmocka_run_group_tests_name("lists of any kind", tests, scratch_make, scratch_remove);
}
