/* Bodies whose faces lie on voxels: the mesh has the volume and area of the body, worked out by hand, and no triangle without area. */
#include "csg_fixture.h"

#include "tessera/surface.h"
#include "tessera/voxelize.h"

/* `count` boxes [lower, upper] in one mesh, as a list of this spacing. */
static tsr_tiles *boxes_of(tsr_context *context, const tsr_vec3 (*corners)[2], int count, double spacing)
{
    static const uint32_t corner[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 }, { 0, 1, 4 }, { 1, 5, 4 },
                                            { 2, 6, 3 }, { 3, 6, 7 }, { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    tsr_mesh *mesh, *there;
    tsr_tiles *tiles;
    require_ok(tsr_mesh_create(NULL, 8 * count, 12 * count, 0, &mesh));
    for (int b = 0; b < count; b++) {
        for (int k = 0; k < 8; k++) {
            float *at = tsr_mesh_vertices(mesh) + 3 * (8 * b + k);
            at[0] = (float)corners[b][k & 1].x;
            at[1] = (float)corners[b][k >> 1 & 1].y;
            at[2] = (float)corners[b][k >> 2 & 1].z;
        }
        for (int i = 0; i < 36; i++) tsr_mesh_triangles(mesh)[36 * b + i] = corner[i / 3][i % 3] + 8 * (uint32_t)b;
    }
    require_ok(tsr_mesh_copy(mesh, context, &there));
    o.spacing = (tsr_vec3){ spacing, spacing, spacing };
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return tiles;
}

/* The box [lower, upper] as a list of this spacing. */
static tsr_tiles *box(tsr_context *context, tsr_vec3 lower, tsr_vec3 upper, double spacing)
{
    const tsr_vec3 corners[1][2] = { { lower, upper } };
    return boxes_of(context, corners, 1, spacing);
}

/* Destroys both. */
static tsr_tiles *combined(tsr_tiles *a, tsr_tiles *b, tsr_csg_operation operation)
{
    tsr_tiles *made;
    require_ok(tsr_tiles_combine(a, b, operation, 0, &made));
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    return made;
}

/* Destroys the list. */
static tsr_mesh_measures measures_of(tsr_context *context, tsr_tiles *tiles)
{
    tsr_mesh *made, *host, *contracted;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_tiles_settle(tiles, NULL));
    check_invariants(tiles);
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &made, NULL));
    require_ok(tsr_mesh_copy(made, NULL, &host));
    require_ok(tsr_surface_contract(host, &contracted));
    require_ok(tsr_mesh_measure(contracted ? contracted : host, &m));
    tsr_mesh_destroy(&contracted);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&made);
    tsr_tiles_destroy(&tiles);
    return m;
}

static void is_body(tsr_mesh_measures m, double volume, double area, int64_t pieces, double tolerance)
{
    if (!(fabs(m.volume - volume) <= tolerance * volume && fabs(m.area - area) <= tolerance * area))
        print_message("volume %.9g, expected %.9g; area %.9g, expected %.9g\n", m.volume, volume, m.area, area);
    assert_true(fabs(m.volume - volume) <= tolerance * volume);
    assert_true(fabs(m.area - area) <= tolerance * area);
    assert_int_equal(m.components, pieces);
    assert_int_equal(m.boundary_edges, 0);
    assert_int_equal(m.misoriented_edges, 0);
    assert_int_equal(m.degenerate_triangles, 0);
}

static tsr_vec3 at(double x, double y, double z) { return (tsr_vec3){ x, y, z }; }

static void boxes(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    is_body(measures_of(context, box(context, at(-1, -1, -1), at(1, 1, 1), 0.25)), 8, 24, 1, 1e-6);
    is_body(measures_of(context, box(context, at(-1, -1, -1), at(1, 1, 1), 0.1)), 8, 24, 1, 1e-6);         /* 0.1 is no number of float32 */
    is_body(measures_of(context, box(context, at(-1, -1, -1), at(1.1f, 1, 1), 0.25)), 8.4, 24.8, 1, 0.03); /* one face off the voxels */
    is_body(measures_of(context, box(context, at(0, 0, 0), at(10, 10, 1), 1)), 100, 240, 1,
            0.04); /* one voxel thick: half-open it is 87.7 and 221.9 */
    is_body(
        measures_of(context, combined(box(context, at(0, 0, 0), at(10, 10, 25), 1), box(context, at(0, 0, 25), at(10, 10, 60), 1), TSR_CSG_UNION)),
        6000, 2600, 1, 1e-6);
}

/* Faces of one body within another are none, also where a body's corner lies in another; far from the origin roundings are larger than a part of a voxel. */
static void walls_within(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const tsr_vec3 nested[2][2] = { { at(-2, -2, -2), at(2, 2, 2) }, { at(-1, -1, -1), at(1, 1, 1) } };
    const tsr_vec3 overlapping[2][2] = { { at(-2, -2, -2), at(2, 2, 2) }, { at(1, 1, 1), at(3, 3, 3) } };
    is_body(measures_of(context, boxes_of(context, nested, 2, 0.25)), 64, 96, 1, 1e-6);
    is_body(measures_of(context, boxes_of(context, nested, 2, 0.1)), 64, 96, 1, 1e-6);
    is_body(measures_of(context, boxes_of(context, overlapping, 2, 0.25)), 71, 114, 1, 3e-3); /* three grooves end in the corner of two edges */
    is_body(measures_of(context, boxes_of(context, overlapping, 2, 0.1)), 71, 114, 1, 3e-3);
    is_body(measures_of(context, box(context, at(-0.5, -1, -0.5), at(0.5, 1, 0.5), test_is_slow() ? 0.02 : 0.01)), 2, 10, 1, 1e-5);
    is_body(measures_of(context, box(context, at(99, 99, 99), at(101, 101, 101), 0.1)), 8, 24, 1, 1e-4);
    is_body(measures_of(context, combined(box(context, at(99, 99, 99), at(101, 101, 100), 0.1), box(context, at(99, 99, 100), at(101, 101, 101), 0.1),
                                          TSR_CSG_UNION)),
            8, 24, 1, 1e-4);
}

/* Edges and grooves; faces that coincide vanish. */
static void cut_bodies(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *tiles;
    tsr_tiles_info info = TSR_TILES_INFO;
    for (int turn = 0; turn < 4; turn++) { /* an L: the groove along z at each of the four corners */
        const double x = turn & 1 ? 0 : 8, y = turn & 2 ? 0 : 8;
        tiles = combined(box(context, at(0, 0, 0), at(16, 16, 12), 1), box(context, at(x, y, -4), at(x + 8, y + 8, 20), 1), TSR_CSG_DIFFERENCE);
        is_body(measures_of(context, tiles), 16 * 16 * 12 - 8 * 8 * 12, 2 * 192 + 64 * 12, 1, 1e-3);
    }
    /* a hole right through */
    tiles = combined(box(context, at(0, 0, 0), at(16, 16, 12), 1), box(context, at(4, 4, -4), at(12, 12, 20), 1), TSR_CSG_DIFFERENCE);
    is_body(measures_of(context, tiles), 12 * 192, 2 * 192 + 12 * (64 + 32), 1, 1e-3);
    /* bodies that touch share nothing, and a body less itself is nothing */
    tiles = combined(box(context, at(0, 0, 0), at(8, 8, 8), 1), box(context, at(8, 0, 0), at(16, 8, 8), 1), TSR_CSG_INTERSECTION);
    require_ok(tsr_tiles_settle(tiles, NULL));
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.inside_voxels, 0);
    tsr_tiles_destroy(&tiles);
    tiles = combined(box(context, at(0, 0, 0), at(8, 8, 8), 1), box(context, at(0, 0, 0), at(8, 8, 8), 1), TSR_CSG_DIFFERENCE);
    require_ok(tsr_tiles_settle(tiles, NULL));
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.inside_voxels, 0);
    tsr_tiles_destroy(&tiles);
    /* side by side: no wall between them is left; one within the other: a cavity */
    tiles = combined(box(context, at(0, 0, 0), at(8, 8, 8), 1), box(context, at(8, 0, 0), at(16, 8, 8), 1), TSR_CSG_UNION);
    is_body(measures_of(context, tiles), 1024, 2 * 64 + 4 * 128, 1, 1e-6);
    tiles = combined(box(context, at(0, 0, 0), at(16, 16, 16), 1), box(context, at(4, 4, 4), at(12, 12, 12), 1), TSR_CSG_DIFFERENCE);
    is_body(measures_of(context, tiles), 4096 - 512, 6 * 256 + 6 * 64, 2, 0.01); /* three grooves meet in its corners */
}

/* The same of a dense field of a box and of what is left of it. */
static void dense_field(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *tiles = combined(box(context, at(0, 0, 0), at(16, 16, 12), 1), box(context, at(4, 4, -4), at(12, 12, 20), 1), TSR_CSG_DIFFERENCE);
    tsr_volume *field, *host;
    tsr_mesh *mesh, *contracted;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    int64_t changed;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    require_ok(tsr_tiles_field(tiles, &field));
    require_ok(tsr_volume_copy(field, NULL, &host));
    tsr_volume_destroy(&field);
    tsr_tiles_destroy(&tiles);
    require_ok(tsr_volume_settle(host, &changed));
    assert_true(changed > 0);
    require_ok(tsr_volume_settle(host, &changed));
    assert_int_equal(changed, 0); /* they have settled */
    tsr_context *cpu;
    cpu = test_context_on("cpu", 1);
    require_ok(tsr_surface_extract(cpu, host, &options, &mesh, NULL));
    require_ok(tsr_surface_contract(mesh, &contracted));
    require_ok(tsr_mesh_measure(contracted, &m));
    is_body(m, 12 * 192, 2 * 192 + 12 * (64 + 32), 1, 1e-3);
    tsr_mesh_destroy(&contracted);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&cpu);
    tsr_volume_destroy(&host);
}

/* Other lists stay bit for bit. */
static void others_stay(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *tiles = ball(context, 0.3, 0.2, 0.1, 9), *copy;
    int64_t changed = 7;
    int same = 0;
    require_ok(tsr_tiles_copy(tiles, context, &copy));
    require_ok(tsr_tiles_settle(tiles, &changed));
    require_ok(tsr_tiles_equal(tiles, copy, &same));
    assert_int_equal(changed, 0);
    assert_true(same);
    tsr_tiles_destroy(&copy);
    tsr_tiles_destroy(&tiles);
    assert_int_equal(tsr_tiles_settle(NULL, NULL), TSR_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(boxes, set_up, tear_down),       cmocka_unit_test_setup_teardown(walls_within, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_bodies, set_up, tear_down),  cmocka_unit_test_setup_teardown(dense_field, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_stay, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("samples on the surface", tests, NULL, NULL);
}
