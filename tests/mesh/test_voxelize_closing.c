/* How much of the surface round what an open mesh encloses no triangle lies in: sheets against bodies with holes. Meshes far from the origin of the world. */
#include "voxelize_shapes.h"

#include "tessera/csg.h"

/* z = height(x, y) over [-1, 1]^2, n cells along a side; or of the unit sphere the part above z = least. */
static tsr_mesh *grid_mesh(int64_t n, double bend, double twist)
{
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, (n + 1) * (n + 1), 2 * n * n, 0, &mesh));
    float *v = tsr_mesh_vertices(mesh);
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int64_t j = 0; j <= n; j++)
        for (int64_t i = 0; i <= n; i++) {
            const double x = 2.0 * (double)i / (double)n - 1, y = 2.0 * (double)j / (double)n - 1;
            *v++ = (float)x;
            *v++ = (float)y;
            *v++ = (float)(bend * (x * x + y * y) + twist * sin(3 * x) * sin(3 * y));
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const uint32_t a = (uint32_t)(j * (n + 1) + i), b = a + 1, c = a + (uint32_t)n + 1, d = c + 1;
            const uint32_t two[6] = { a, b, d, a, d, c };
            memcpy(t, two, sizeof two);
            t += 6;
        }
    return mesh;
}

/* The triangles of a mesh whose middle lies below z = most. */
static tsr_mesh *below(tsr_mesh *mesh, double most)
{
    tsr_mesh *left;
    int64_t count = 0, n = tsr_mesh_triangle_count(mesh);
    for (int pass = 0; pass < 2; pass++) {
        uint32_t *to = pass ? tsr_mesh_triangles(left) : NULL;
        for (int64_t t = 0; t < n; t++) {
            const double z = (corner_of(mesh, t, 0).z + corner_of(mesh, t, 1).z + corner_of(mesh, t, 2).z) / 3;
            if (z >= most) continue;
            if (pass) memcpy(to, tsr_mesh_triangles_const(mesh) + 3 * t, 12), to += 3;
            else count++;
        }
        if (pass) break;
        require_ok(tsr_mesh_create(NULL, tsr_mesh_vertex_count(mesh), count, 0, &left));
        memcpy(tsr_mesh_vertices(left), tsr_mesh_vertices_const(mesh), (size_t)tsr_mesh_vertex_count(mesh) * 12);
    }
    tsr_mesh_destroy(&mesh);
    return left;
}

static double closing_of(tsr_context *context, tsr_mesh *mesh, double spacing)
{
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    tsr_tiles *tiles;
    tsr_mesh *there = on_device(context, mesh);
    o.spacing = (tsr_vec3){ spacing, spacing, spacing };
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, &report));
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return report.closing;
}

/* A cap is cut by as many lines of the lattice as its projections say: of a sphere open at its equator pi of 4 pi, of a box without its lid 1 of 6. */
static void shares(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    assert_true(closing_of(context, shape_sphere(20, 1, 0), 0.1) == 0); /* closed */
    assert_true(closing_of(context, grid_mesh(4, 0, 0), 0.1) == 1);     /* nothing inside */
    const double dish = closing_of(context, grid_mesh(12, 0.3, 0), 0.05), waves = closing_of(context, grid_mesh(24, 0, 0.3), 0.05);
    if (!(dish > 0.35 && dish < 0.6 && waves > 0.3 && waves <= 1)) print_message("dish %g, waves %g\n", dish, waves);
    assert_true(dish > 0.35 && dish < 0.6);
    assert_true(waves > 0.3 && waves <= 1);
    const double box = closing_of(context, below(shape_box(2, 2, 2, 0, 0, 0), 1.9), 0.13); /* as shape_box has it, whichever corner it begins at */
    assert_true(box > 0.05 && box < 0.25);
    const double half = closing_of(context, below(shape_sphere(40, 1, 0), 0), 0.07);
    assert_true(half > 0.15 && half < 0.27);
    const double little = closing_of(context, below(shape_sphere(40, 1, 0), 0.9), 0.07);
    assert_true(little > 0.001 && little < 0.06);
    tsr_context_destroy(&context);
}

/* Half a sphere whose hole is thousands of tiles wide, more than the table of tiles around holes has room for at first. From a point of the open circle the
 * half covers half of all directions: that circle is what closes it. */
static void large_hole(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    if (tsr_context_device(context).kind == TSR_DEVICE_EMU) { /* the table is the host's, whatever the device */
        tsr_context_destroy(&context);
        return;
    }
    tsr_mesh *whole = shape_sphere(40, 1, 0);
    tsr_mesh_measures ball = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(whole, &ball));
    tsr_mesh *mesh = below(whole, 0), *there = on_device(context, mesh);
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_tiles *tiles;
    o.spacing = (tsr_vec3){ 0.009, 0.009, 0.009 };
    o.edge = 4;
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, &report));
    require_ok(tsr_tiles_measure(tiles, &m));
    print_message("half of %.4f: %.4f, %.4f of what is round it closes it\n", ball.volume, m.volume, report.closing);
    assert_true(fabs(m.volume - ball.volume / 2) < 1.1 * 3.1416 * o.spacing.z); /* to a layer of voxels in the hole, where the field jumps */
    assert_true(fabs(report.closing - 0.25) < 0.03);
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* A sphere of radius 1 whose origin is 10^7 away: the volume of its samples, and the list lies there. */
static void far_away(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *mesh = shape_sphere(40, 1, 0), *there;
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    tsr_tiles *tiles;
    tsr_tiles_measures near = TSR_TILES_MEASURES, far = TSR_TILES_MEASURES;
    o.spacing = (tsr_vec3){ 0.0625, 0.0625, 0.0625 };
    there = on_device(context, mesh);
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
    require_ok(tsr_tiles_measure(tiles, &near));
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&there);
    tsr_mesh_set_origin(mesh, (tsr_vec3){ 1e7, -2e7, 3e7 });
    o.origin = (tsr_vec3){ 1e7, -2e7, 3e7 };
    there = on_device(context, mesh);
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
    require_ok(tsr_tiles_measure(tiles, &far));
    assert_true(far.volume == near.volume && far.area == near.area && fabs(far.volume - 4.18) < 0.03);
    assert_true(tsr_tiles_geometry(tiles)->affine[1][3] == -2e7);
    require_ok(tsr_tiles_set_origin(tiles, (tsr_vec3){ 0.5, 0, 0 }));
    assert_true(tsr_tiles_geometry(tiles)->affine[0][3] == 0.5 && tsr_tiles_geometry(tiles)->affine[1][3] == 0);
    assert_int_equal(tsr_tiles_set_origin(tiles, (tsr_vec3){ NAN, 0, 0 }), TSR_ERROR_ARGUMENT);
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shares), cmocka_unit_test(large_hole), cmocka_unit_test(far_away) };
    return cmocka_run_group_tests_name("what closes open meshes", tests, NULL, NULL);
}
