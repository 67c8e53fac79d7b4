#include "voxelize_shapes.h"

#include "device/isa.h"

/* ---- helpers ---------------------------------------------------------------------------------------------------------------------------- */

static int rule_inside(tsr_voxelize_rule rule, double winding)
{
    int64_t w = (int64_t)floor(winding + 0.5);
    return rule == TSR_VOXELIZE_NONZERO ? w != 0 : rule == TSR_VOXELIZE_EVEN_ODD ? w % 2 != 0 : rule == TSR_VOXELIZE_POSITIVE ? w > 0 : 0;
}

/* Every voxel (where that takes long, every seventh) of the dense field against brute force: magnitude within `tolerance`, sign by the rule; where the winding number is within
 * `doubt` of a half (or the voxel on the surface) either sign is right. Returns the number of inside voxels. */
static int64_t against_brute_force(const tsr_mesh *mesh, const tsr_voxelize_options *options, double band, double tolerance, double doubt)
{
    tsr_context *context = test_context();
    tsr_volume *field = dense(context, mesh, TSR_F32, options, NULL), *mask = dense(context, mesh, TSR_U8, options, NULL);
    const float *v = tsr_volume_data_const(field);
    const uint8_t *m = tsr_volume_data_const(mask);
    tsr_size3 n = tsr_volume_size(field);
    const int64_t stride = test_is_slow() ? 7 : 1;
    int64_t inside = 0, in_band = 0;
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const tsr_vec3 index = { (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) };
        tsr_vec3 world = tsr_geometry_to_world(tsr_volume_geometry(field), index);
        vec p = { world.x, world.y, world.z };
        if (options->rule != TSR_VOXELIZE_SHELL) inside += m[i];
        if (i % stride) continue;
        double d = oracle_distance(mesh, p), expected = fmin(d, band);
        if (options->rule == TSR_VOXELIZE_SHELL) {
            expected = fmax(fmin(d - 0.5 * options->thickness, band), -band);
            if (fabs((double)v[i] - expected) > tolerance)
                fail_msg("voxel %g %g %g: %g, expected %g", index.x, index.y, index.z, (double)v[i], expected);
            continue;
        }
        if (fabs(fabs((double)v[i]) - expected) > tolerance)
            fail_msg("voxel %g %g %g: magnitude %g, expected %g", index.x, index.y, index.z, (double)v[i], expected);
        assert_int_equal(m[i], v[i] < 0.0f);
        in_band += expected < band ? stride : 0;
        if (d < 1e-4 * band) continue;
        double w = oracle_winding(mesh, p);
        if (fabs(w - floor(w) - 0.5) < doubt) continue;
        if (m[i] != rule_inside(options->rule, w)) fail_msg("voxel %g %g %g: inside %d, winding number %g", index.x, index.y, index.z, m[i], w);
    }
    assert_true(in_band > 200 || options->rule == TSR_VOXELIZE_SHELL || options->size.x);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&mask);
    tsr_context_destroy(&context);
    return inside;
}

static tsr_voxelize_options with_spacing(double x, double y, double z)
{
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    o.spacing = (tsr_vec3){ x, y, z };
    return o;
}

/* Moves every vertex: world = rotation by an odd angle about an odd axis. */
static void turn(tsr_mesh *mesh)
{
    static const double r[3][3] = { { 0.36, 0.48, -0.8 }, { -0.8, 0.6, 0 }, { 0.48, 0.64, 0.6 } };
    for (int64_t i = 0; i < tsr_mesh_vertex_count(mesh); i++) {
        float *p = tsr_mesh_vertices(mesh) + 3 * i;
        const double q[3] = { (double)p[0], (double)p[1], (double)p[2] };
        for (int k = 0; k < 3; k++) p[k] = (float)(r[k][0] * q[0] + r[k][1] * q[1] + r[k][2] * q[2]);
    }
}

/* ---- distance and sign ----------------------------------------------------------------------------------------------------------------------- */

static void closed_shapes(void **state)
{
    (void)state;
    for (int edge = 4; edge <= 8; edge += 4) {
        tsr_mesh *torus = shape_torus(13, 8, 7, 3), *sphere = shape_sphere(5, 6.2, 0.31), *box = shape_box(9, 6, 5, -2, 1, 0.5f);
        tsr_voxelize_options o = with_spacing(1, 1, 1);
        o.edge = edge;
        assert_true(against_brute_force(torus, &o, 3, 1e-5, 0.1) > 800);
        assert_true(against_brute_force(box, &o, 3, 1e-5, 0.1) > 100); /* faces on voxels: either side is right there */
        turn(box);
        o.band = 2.25;
        assert_true(against_brute_force(box, &o, 2.25, 1e-5, 0.1) > 150);
        o = with_spacing(0.8, 1.7, 0.55);
        o.edge = edge;
        o.band = 1.6;
        o.origin = (tsr_vec3){ 0.3, -0.2, 11 };
        assert_true(against_brute_force(sphere, &o, 1.6, 1e-5, 0.1) > 600);
        o.band = 0.6; /* thinner than a voxel along y: the field jumps over the band */
        assert_true(against_brute_force(sphere, &o, 0.6, 1e-5, 0.1) > 600);
        tsr_mesh_destroy(&torus);
        tsr_mesh_destroy(&sphere);
        tsr_mesh_destroy(&box);
    }
}

/* Thousands of triangles a tile, far smaller than its voxels; and voxels sixteen times as long one way as another. */
static void small_triangles(void **state)
{
    (void)state;
    tsr_mesh *torus = shape_torus(48, 24, 7, 3), *sphere = shape_sphere(9, 5.2, 0.31);
    for (int edge = 4; edge <= 8; edge += 4) {
        tsr_voxelize_options o = with_spacing(2.5, 2.5, 2.5);
        o.edge = edge;
        assert_true(against_brute_force(torus, &o, 7.5, 1e-5, 0.1) > 30);
        o = with_spacing(0.25, 4, 1);
        o.edge = edge;
        o.band = 2;
        assert_true(against_brute_force(sphere, &o, 2, 1e-5, 0.1) > 300);
    }
    tsr_mesh_destroy(&torus);
    tsr_mesh_destroy(&sphere);
}

/* A box thinner than a voxel, and triangles far larger than tiles. */
static void thin_and_large(void **state)
{
    (void)state;
    tsr_mesh *plate = shape_box(31, 0.4f, 17, 0.2f, 3.3f, 0.1f), *slab = shape_box(40, 30, 2.5f, -20, -15, 0);
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    against_brute_force(plate, &o, 3, 1e-5, 0.1);
    turn(slab);
    o.band = 1.5;
    assert_true(against_brute_force(slab, &o, 1.5, 2e-5, 0.1) > 2000);
    tsr_mesh_destroy(&plate);
    tsr_mesh_destroy(&slab);
}

static void nested_and_inverted(void **state)
{
    (void)state;
    static const struct {
        int inner, outer;
        tsr_voxelize_rule rule;
    } cases[] = { { 0, 0, TSR_VOXELIZE_NONZERO },  { 0, 0, TSR_VOXELIZE_EVEN_ODD }, { 1, 0, TSR_VOXELIZE_NONZERO }, { 1, 0, TSR_VOXELIZE_POSITIVE },
                  { 0, 1, TSR_VOXELIZE_POSITIVE }, { 1, 1, TSR_VOXELIZE_NONZERO },  { 1, 1, TSR_VOXELIZE_POSITIVE } };
    int64_t count[7];
    for (int k = 0; k < 7; k++) {
        tsr_mesh *mesh = NULL;
        tsr_voxelize_options o = with_spacing(1, 1, 1);
        o.rule = cases[k].rule;
        shape_add(&mesh, shape_sphere(6, 11.3, 0), 0, 0, 0, cases[k].outer);
        shape_add(&mesh, shape_sphere(5, 6.1, 0), 0.2f, 0.1f, -0.3f, cases[k].inner);
        count[k] = against_brute_force(mesh, &o, 3, 1e-5, 0.1);
        tsr_mesh_destroy(&mesh);
    }
    assert_true(count[0] > count[1] + 500); /* filled against hollow */
    assert_int_equal(count[1], count[2]);   /* an inverted inner sphere is a hole */
    assert_int_equal(count[2], count[3]);
    assert_int_equal(count[0], count[5]); /* inside out: still a winding number that is not 0 */
    assert_int_equal(count[6], 0);
    tsr_mesh *mesh = NULL; /* overlapping */
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    shape_add(&mesh, shape_box(10, 10, 10, 0, 0, 0), 0.3f, 0.3f, 0.3f, 0);
    shape_add(&mesh, shape_box(10, 10, 10, 0, 0, 0), 5.4f, 4.4f, 3.4f, 0);
    int64_t both = against_brute_force(mesh, &o, 3, 1e-5, 0.1);
    assert_int_equal(both, 2 * 1000 - 5 * 6 * 7);
    o.rule = TSR_VOXELIZE_EVEN_ODD;
    assert_int_equal(against_brute_force(mesh, &o, 3, 1e-5, 0.1), 2 * 1000 - 2 * 5 * 6 * 7);
    tsr_mesh_destroy(&mesh);
}

static void shell(void **state)
{
    (void)state;
    tsr_mesh *sphere = shape_sphere(6, 7.2, 0), *open = shape_without(sphere, 3, 1);
    tsr_voxelize_options o = with_spacing(1, 1.2, 0.9);
    o.rule = TSR_VOXELIZE_SHELL;
    o.band = 2;
    o.thickness = 2.5;
    against_brute_force(sphere, &o, 2, 1e-5, 0);
    against_brute_force(open, &o, 2, 1e-5, 0);
    o.thickness = 9; /* thicker than two bands: -band in the middle */
    against_brute_force(sphere, &o, 2, 1e-5, 0);
    tsr_mesh_destroy(&sphere);
    tsr_mesh_destroy(&open);
}

/* Rotated, mirrored and shifted grids. */
static void oblique_grid(void **state)
{
    (void)state;
    tsr_mesh *torus = shape_torus(15, 8, 7, 3);
    for (int mirror = 0; mirror < 2; mirror++) {
        const double s = mirror ? -1 : 1;
        const tsr_geometry geometry = {
            { { 0.36 * 0.8, 0.48 * 1.1, s * -0.8, 2 }, { -0.8 * 0.8, 0.6 * 1.1, 0, -1 }, { 0.48 * 0.8, 0.64 * 1.1, s * 0.6, 5 } }, TSR_SPACE_LPS
        };
        tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
        o.geometry = &geometry;
        o.rule = TSR_VOXELIZE_POSITIVE;
        assert_true(against_brute_force(torus, &o, 2.4, 1e-5, 0.1) > 1000);
        o.size = (tsr_size3){ 12, 13, 14 }; /* a part of it */
        against_brute_force(torus, &o, 2.4, 1e-5, 0.1);
    }
    tsr_mesh_destroy(&torus);
}

/* ---- open and dirty ------------------------------------------------------------------------------------------------------------------------------ */

static void open_meshes(void **state)
{
    (void)state;
    tsr_mesh *sphere = shape_sphere(7, 8.4, 0.2), *holes = shape_without(sphere, 7, 3), *tube = shape_torus(13, 9, 8, 3.2),
             *cut = shape_without(tube, 11, 0);
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    tsr_context *context = test_context();
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    int64_t whole = against_brute_force(sphere, &o, 3, 1e-5, 0.1), left = against_brute_force(holes, &o, 3, 1e-5, 0.02);
    assert_true(left > whole * 9 / 10 && left < whole);
    o.edge = 4;
    o.spacing.z = 1.4;
    against_brute_force(cut, &o, 3, 1e-5, 0.02);
    o.rule = TSR_VOXELIZE_POSITIVE;
    against_brute_force(cut, &o, 3, 1e-5, 0.02);
    tsr_volume *volume = dense(context, holes, TSR_U8, &o, &report);
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(holes, &measures));
    assert_int_equal(report.boundary_edges, measures.boundary_edges);
    assert_true(report.boundary_loops > 5 && report.boundary_loops <= report.boundary_edges / 3);
    tsr_volume_destroy(&volume);
    volume = dense(context, sphere, TSR_U8, &o, &report);
    assert_int_equal(report.boundary_edges, 0);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    tsr_mesh_destroy(&sphere);
    tsr_mesh_destroy(&holes);
    tsr_mesh_destroy(&tube);
    tsr_mesh_destroy(&cut);
}

/* The half of a sphere below its equator, which lies in a plane of voxels. */
static tsr_mesh *shape_bowl(int64_t rings, double radius)
{
    tsr_mesh *sphere = shape_sphere(rings, radius, 0), *bowl;
    int64_t n = tsr_mesh_triangle_count(sphere), kept = 0;
    uint32_t *t = tsr_mesh_triangles(sphere);
    for (int64_t i = 0; i < n; i++)
        if (corner_of(sphere, i, 0).z + corner_of(sphere, i, 1).z + corner_of(sphere, i, 2).z < 0.1) memmove(t + 3 * kept++, t + 3 * i, 12);
    require_ok(tsr_mesh_create(NULL, tsr_mesh_vertex_count(sphere), kept, 0, &bowl));
    memcpy(tsr_mesh_vertices(bowl), tsr_mesh_vertices(sphere), (size_t)tsr_mesh_vertex_count(sphere) * 12);
    memcpy(tsr_mesh_triangles(bowl), t, (size_t)kept * 12);
    tsr_mesh_destroy(&sphere);
    return bowl;
}

/* An opening wider than the band: the sign changes where no triangle is. */
static void wide_opening(void **state)
{
    (void)state;
    tsr_mesh *half = shape_bowl(7, 12);
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    int64_t inside = against_brute_force(half, &o, 3, 1e-5, 0.01);
    assert_true(inside > 2500 && inside < 4500); /* half of 7238, the lid bulging a little */
    o.edge = 4;
    assert_true(llabs(against_brute_force(half, &o, 3, 1e-5, 0.01) - inside) < 100); /* only voxels in doubt differ */
    o.origin = (tsr_vec3){ 0.5, 0.25, 0.125 };
    against_brute_force(half, &o, 3, 1e-5, 0.01);
    tsr_mesh_destroy(&half);
}

/* Corners are the same by place, not by index; flipped triangles and duplicates make a mesh dirty. */
static void soup_and_dirt(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *torus = shape_torus(17, 9, 8, 3.3), *soup = shape_soup(torus);
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    tsr_volume *a = dense(context, torus, TSR_F32, &o, &report), *b = dense(context, soup, TSR_F32, &o, &report);
    assert_int_equal(report.boundary_edges, 0);
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a) * 4);
    uint32_t *t = tsr_mesh_triangles(torus), swap = t[3 * 40]; /* one flipped */
    t[3 * 40] = t[3 * 40 + 1];
    t[3 * 40 + 1] = swap;
    memcpy(t + 3 * 77, t + 3 * 78, 12); /* one twice instead of its neighbour */
    tsr_volume_destroy(&b);
    b = dense(context, torus, TSR_F32, &o, &report);
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(torus, &measures));
    assert_int_equal(report.boundary_edges, measures.boundary_edges);
    assert_int_equal(report.misoriented_edges, measures.misoriented_edges);
    assert_int_equal(report.nonmanifold_edges, measures.nonmanifold_edges);
    assert_true(report.signs == TSR_VOXELIZE_SIGNS_WINDING && report.turned_triangles == 1 && report.boundary_loops == 1);
    int64_t differ = 0; /* the hole of one triangle is closed with a bulge */
    for (int64_t i = 0; i < tsr_volume_count(a); i++)
        differ += (((const float *)tsr_volume_data_const(a))[i] < 0) != (((const float *)tsr_volume_data_const(b))[i] < 0);
    assert_true(differ < 12);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_mesh_destroy(&torus);
    tsr_mesh_destroy(&soup);
    tsr_context_destroy(&context);
}

/* Points, segments and slivers among the triangles. */
static void degenerate_triangles(void **state)
{
    (void)state;
    const float v[][3] = { { 0, 0, 0 },        { 9, 1, 2 }, { 4.5f, 0.5f, 1 }, { 3, 7, 5 },          { 3.0001f, 7, 5 },
                           { 12, 7.3f, 5.1f }, { 6, 3, 9 }, { 7, 3, 9 },       { 6.5f, 3.00001f, 9 } };
    const uint32_t t[][3] = { { 0, 1, 2 }, { 3, 3, 3 }, { 3, 4, 5 }, { 6, 7, 8 }, { 0, 0, 6 } };
    tsr_context *context = test_context();
    tsr_mesh *mesh = shape_mesh(&v[0][0], 9, &t[0][0], 5);
    tsr_voxelize_options o = with_spacing(0.7, 0.7, 0.7);
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    o.rule = TSR_VOXELIZE_SHELL;
    o.thickness = 1;
    against_brute_force(mesh, &o, 2.1, 1e-5, 0);
    tsr_volume *volume = dense(context, mesh, TSR_F32, &o, &report);
    assert_int_equal(report.degenerate_triangles, 3);
    tsr_volume_destroy(&volume);
    o.rule = TSR_VOXELIZE_NONZERO;
    o.band = 2.1;
    against_brute_force(mesh, &o, 2.1, 1e-5, 0.02);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* ---- same bits ------------------------------------------------------------------------------------------------------------------------------------ */

struct list {
    int64_t count;
    int32_t (*at)[3];
    float *values;
    tsr_tiles_info info;
};

static struct list list_of(const char *device, int32_t threads, const tsr_mesh *mesh, const tsr_voxelize_options *options)
{
    struct list l;
    tsr_tiles *tiles;
    tsr_context *context = device ? test_context_on(device, threads) : test_context();
    tsr_mesh *there = on_device(context, mesh);
    require_ok(tsr_tiles_from_mesh(context, there, options, &tiles, NULL));
    l.info = (tsr_tiles_info)TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &l.info));
    l.count = l.info.count;
    size_t voxels = (size_t)(l.info.edge * l.info.edge * l.info.edge);
    l.at = malloc((size_t)l.count * sizeof *l.at + 1);
    l.values = malloc((size_t)l.count * voxels * sizeof *l.values + 1);
    require_ok(tsr_tiles_download(tiles, l.at, l.values));
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&there);
    tsr_context_destroy(&context);
    return l;
}

static void same_list(struct list *a, struct list *b)
{
    size_t voxels = (size_t)(a->info.edge * a->info.edge * a->info.edge);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->at, b->at, (size_t)a->count * sizeof *a->at);
    assert_memory_equal(a->values, b->values, (size_t)a->count * voxels * sizeof *a->values);
    assert_int_equal(a->info.active_voxels, b->info.active_voxels);
    assert_int_equal(a->info.inside_voxels, b->info.inside_voxels);
    free(b->at);
    free(b->values);
}

/* Triangles of all sizes, anywhere. */
static tsr_mesh *scattered(int64_t triangles, double extent)
{
    uint64_t seed = test_seed();
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, 3 * triangles, triangles, 0, &mesh));
    for (int64_t t = 0; t < triangles; t++) {
        const double size = extent * pow(0.3, 1 + 4 * test_uniform(&seed));
        for (int32_t k = 0; k < 3; k++) {
            const double middle = extent * test_uniform(&seed);
            for (int32_t corner = 0; corner < 3; corner++)
                tsr_mesh_vertices(mesh)[9 * t + 3 * corner + k] = (float)(middle + size * (test_uniform(&seed) - 0.5));
            tsr_mesh_triangles(mesh)[3 * t + k] = (uint32_t)(3 * t + k);
        }
    }
    return mesh;
}

/* On every device, for every number of threads and SIMD variant. */
static void same_bits(void **state)
{
    (void)state;
    tsr_mesh *torus = shape_torus(30, 17, 11, 5), *open = shape_without(torus, 9, 2), *many = NULL, *big = shape_box(40, 23, 11, -7, 3, 9);
    tsr_mesh *bowl = shape_bowl(7, 12), *dust = scattered(500, 40);
    shape_add(&many, shape_sphere(18, 3.5, 0), 3, 3, 3, 0); /* more triangles in a tile than pass at once */
    turn(big);
    const tsr_mesh *meshes[6] = { torus, open, many, big, bowl, dust };
    for (int k = 0; k < 12; k++) {
        tsr_voxelize_options o = with_spacing(1, k & 1 ? 1 : 1.3, 1);
        o.edge = k & 1 ? 4 : 8;
        o.rule = k == 4 ? TSR_VOXELIZE_SHELL : TSR_VOXELIZE_NONZERO;
        if (test_watches_threads() && (k & 1) != (k / 2 & 1)) continue; /* each mesh with one of the edges */
        struct list first = list_of("cpu", 1, meshes[k / 2], &o), other = list_of(NULL, 0, meshes[k / 2], &o);
        assert_true(first.count > 7 && first.info.active_voxels > 500);
        same_list(&first, &other);
        for (int32_t threads = 2; threads < 6; threads += 3) {
            other = list_of("cpu", threads, meshes[k / 2], &o);
            same_list(&first, &other);
        }
        for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT && !test_watches_threads(); isa++) {
            tsr_isa_force(isa);
            other = list_of("cpu", 1, meshes[k / 2], &o);
            tsr_isa_force(-1);
            same_list(&first, &other);
        }
        free(first.at);
        free(first.values);
    }
    tsr_mesh_destroy(&torus);
    tsr_mesh_destroy(&open);
    tsr_mesh_destroy(&many);
    tsr_mesh_destroy(&big);
    tsr_mesh_destroy(&bowl);
    tsr_mesh_destroy(&dust);
}

/* The list obeys what every list obeys: loading its own dense field gives the same one. */
static void same_as_loaded(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *mesh = shape_torus(30, 17, 13, 5), *there;
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    tsr_tiles_options t = TSR_TILES_OPTIONS;
    tsr_tiles *tiles, *loaded;
    tsr_tiles_info a = TSR_TILES_INFO, b = TSR_TILES_INFO;
    tsr_volume *volume;
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ -32, -32, -16 }, TSR_SPACE_NONE);
    o.geometry = &geometry;
    t.band = 3;
    there = on_device(context, mesh);
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 64, 64, 32 }, &geometry, &volume));
    require_ok(tsr_tiles_store(tiles, volume));
    require_ok(tsr_tiles_create(context, &geometry, &t, &loaded));
    require_ok(tsr_tiles_load(loaded, volume));
    require_ok(tsr_tiles_describe(tiles, &a));
    require_ok(tsr_tiles_describe(loaded, &b));
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.active_voxels, b.active_voxels);
    assert_int_equal(a.inside_voxels, b.inside_voxels);
    int32_t(*at)[2][3] = malloc((size_t)a.count * sizeof *at);
    int32_t(*first)[3] = &at[0][0], (*second)[3] = first + a.count;
    require_ok(tsr_tiles_download(tiles, first, NULL));
    require_ok(tsr_tiles_download(loaded, second, NULL));
    assert_memory_equal(first, second, (size_t)a.count * 12);
    free(at);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&loaded);
    tsr_volume_destroy(&volume);
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&there);
    tsr_context_destroy(&context);
}

/* ---- round trip ------------------------------------------------------------------------------------------------------------------------------------- */

static void there_and_back(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *mesh = shape_torus(48, 24, 10, 4), *there = on_device(context, mesh), *back, *host;
    tsr_tiles *tiles;
    const double h = 0.7;
    tsr_voxelize_options o = with_spacing(h, h, h);
    o.origin = (tsr_vec3){ 0.1, 0.2, 0.3 };
    require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &back, NULL));
    require_ok(tsr_mesh_copy(back, NULL, &host));
    double worst = 0, sum = 0;
    int64_t n = tsr_mesh_vertex_count(host);
    for (int64_t i = 0; i < n; i++) {
        const float *p = tsr_mesh_vertices_const(host) + 3 * i;
        double d = oracle_distance(mesh, (vec){ (double)p[0], (double)p[1], (double)p[2] });
        worst = fmax(worst, d);
        sum += d;
    }
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(host, &m));
    assert_int_equal(m.euler, 0);
    assert_int_equal(m.boundary_edges, 0);
    assert_int_equal(m.components, 1);
    assert_true(n > 3000);
    assert_true(worst < 0.5 * h);
    assert_true(sum / (double)n < 0.05 * h);
    tsr_mesh_measures original = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(mesh, &original));
    assert_true(fabs(m.volume / original.volume - 1) < 0.01);
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&back);
    tsr_mesh_destroy(&host);
    tsr_context_destroy(&context);
}

/* ---- bad input --------------------------------------------------------------------------------------------------------------------------------------- */

static int stop_at_distances(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)fraction;
    return !strcmp(stage, "distances");
}

static void bad_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *host = shape_box(5, 5, 5, 0, 0, 0), *mesh = on_device(context, host), *broken;
    tsr_tiles *tiles = NULL;
    tsr_volume *volume = NULL;
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
#define REFUSED(code, text)                                                              \
    do {                                                                                 \
        require_error(tsr_tiles_from_mesh(context, mesh, &o, &tiles, NULL), code, text); \
        assert_null(tiles);                                                              \
        o = with_spacing(1, 1, 1);                                                       \
    } while (0)
    REFUSED(TSR_ERROR_ARGUMENT, "spacing along x is 0, expected a positive number");
    o.spacing.y = -2;
    REFUSED(TSR_ERROR_ARGUMENT, "spacing along y is -2");
    o.spacing.z = NAN;
    REFUSED(TSR_ERROR_ARGUMENT, "spacing along z is nan");
    o.spacing.z = 5000;
    REFUSED(TSR_ERROR_ARGUMENT, "at most 1000 times the smallest");
    o.origin.x = INFINITY;
    REFUSED(TSR_ERROR_ARGUMENT, "origin along x");
    o.band = 0.5;
    REFUSED(TSR_ERROR_ARGUMENT, "band is 0.5, expected 1 to 1000 voxels of 1");
    o.edge = 5;
    REFUSED(TSR_ERROR_ARGUMENT, "edge is 5, expected 4 or 8");
    o.rule = (tsr_voxelize_rule)9;
    REFUSED(TSR_ERROR_ARGUMENT, "rule is 9");
    o.rule = TSR_VOXELIZE_SHELL;
    o.thickness = -1;
    REFUSED(TSR_ERROR_ARGUMENT, "thickness is -1");
    o.memory_limit = 20000;
    REFUSED(TSR_ERROR_CAPACITY, "the memory_limit is 20000");
    o.memory_limit = -5;
    REFUSED(TSR_ERROR_ARGUMENT, "memory_limit is -5");
    o.spacing = (tsr_vec3){ 1e-7, 1e-7, 1e-7 };
    REFUSED(TSR_ERROR_UNSUPPORTED, "the mesh spans voxels 0 to 50000000 along x, expected within +-8388576: use a larger spacing, here");
    o.spacing = (tsr_vec3){ 1e-6, 1e-6, 1e-6 };
    REFUSED(TSR_ERROR_UNSUPPORTED, "rows of tiles");
    o.origin.y = 1e9;
    REFUSED(TSR_ERROR_UNSUPPORTED, "along y");
    tsr_geometry sheared = { { { 1, 0.2, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_NONE };
    o.geometry = &sheared;
    REFUSED(TSR_ERROR_UNSUPPORTED, "voxelize: geometry: the index axes x and y make an angle of 78.69 degrees, expected perpendicular ones");
    o.progress = (tsr_progress){ stop_at_distances, NULL };
    REFUSED(TSR_ERROR_CANCELLED, "cancelled during distances");
    require_error(tsr_tiles_from_mesh(context, NULL, &o, &tiles, NULL), TSR_ERROR_ARGUMENT, "mesh is NULL");
    require_error(tsr_tiles_from_mesh(NULL, mesh, &o, &tiles, NULL), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_volume_from_mesh(context, mesh, TSR_U16, &o, &volume, NULL), TSR_ERROR_ARGUMENT, "element type u16, expected f32");
    o.size = (tsr_size3){ 5, 0, 5 };
    require_error(tsr_volume_from_mesh(context, mesh, TSR_U8, &o, &volume, NULL), TSR_ERROR_ARGUMENT, "size");
    o.size = (tsr_size3){ 1000, 1000, 1000 };
    o.memory_limit = 1 << 20;
    require_error(tsr_volume_from_mesh(context, mesh, TSR_U8, &o, &volume, NULL), TSR_ERROR_CAPACITY, "takes 1000000000 bytes");
    assert_null(volume);
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU)
        require_error(tsr_tiles_from_mesh(context, host, &o, &tiles, NULL), TSR_ERROR_ARGUMENT, "copy it with tsr_mesh_copy");
    tsr_mesh_destroy(&mesh);

    o = with_spacing(1, 1, 1);
    tsr_mesh_vertices(host)[3 * 6 + 1] = NAN;
    mesh = on_device(context, host);
    REFUSED(TSR_ERROR_FORMAT, "vertex 6 is (0, nan, 5), expected finite numbers");
    tsr_mesh_destroy(&mesh);
    tsr_mesh_vertices(host)[3 * 6 + 1] = 3e38f;
    mesh = on_device(context, host);
    REFUSED(TSR_ERROR_UNSUPPORTED, "along y");
    tsr_mesh_destroy(&mesh);
    tsr_mesh_vertices(host)[3 * 6 + 1] = 5;
    tsr_mesh_triangles(host)[3 * 7 + 2] = 8;
    mesh = on_device(context, host);
    REFUSED(TSR_ERROR_FORMAT, "corner 2 of triangle 7 is vertex 8, expected less than 8");
    tsr_mesh_destroy(&mesh);
    require_ok(tsr_mesh_create(context, 3, 0, 0, &broken));
    mesh = broken;
    REFUSED(TSR_ERROR_ARGUMENT, "it has no triangles");
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&host);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Brute force costs minutes on the emulator and shows nothing new there: other devices are held to the bits of the CPU, and so are numbers of threads, where
 * these are watched. */
int main(void)
{
    const struct CMUnitTest answers[] = {
        cmocka_unit_test(closed_shapes),        cmocka_unit_test(small_triangles), cmocka_unit_test(thin_and_large),
        cmocka_unit_test(nested_and_inverted),  cmocka_unit_test(shell),           cmocka_unit_test(oblique_grid),
        cmocka_unit_test(open_meshes),          cmocka_unit_test(wide_opening),    cmocka_unit_test(soup_and_dirt),
        cmocka_unit_test(degenerate_triangles),
    };
    const struct CMUnitTest everywhere[] = { cmocka_unit_test(same_bits), cmocka_unit_test(same_as_loaded), cmocka_unit_test(there_and_back),
                                             cmocka_unit_test(bad_input) };
    const char *device = getenv("TESSERA_DEVICE");
    int failed = (device && strcmp(device, "cpu")) || test_watches_threads() ? 0 : cmocka_run_group_tests(answers, NULL, NULL);
    return failed + cmocka_run_group_tests(everywhere, NULL, NULL);
}
