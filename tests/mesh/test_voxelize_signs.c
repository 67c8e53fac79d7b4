/* Inside and outside of every mesh people have: triangles turned, twice, missing, in each other's way; samples on the surface. Lists that come of it hold what
 * lists must. */
#include "voxelize_shapes.h"

static tsr_voxelize_options with_spacing(double x, double y, double z)
{
    tsr_voxelize_options o = TSR_VOXELIZE_OPTIONS;
    o.spacing = (tsr_vec3){ x, y, z };
    return o;
}

/* ---- turned triangles -------------------------------------------------------------------------------------------------------------------------- */

static void turn_some(tsr_mesh *mesh, double part, uint64_t seed)
{
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int64_t i = 0; i < tsr_mesh_triangle_count(mesh); i++, t += 3) {
        if (test_uniform(&seed) >= part) continue;
        const uint32_t swap = t[0];
        t[0] = t[1];
        t[1] = swap;
    }
}

/* Whatever way the triangles of a closed mesh face, with every rule: what it is without turned ones. */
static void turned_triangles(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const double parts[3] = { 0.2, 0.5, 0.8 };
    for (int rule = TSR_VOXELIZE_NONZERO; rule <= TSR_VOXELIZE_POSITIVE; rule++)
        for (int k = 0; k < 3; k++) {
            tsr_mesh *mesh = shape_torus(17, 9, 8, 3.3);
            tsr_voxelize_options o = with_spacing(1, 1.1, 0.9);
            tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
            o.rule = (tsr_voxelize_rule)rule;
            tsr_volume *whole = dense(context, mesh, TSR_U8, &o, &report);
            assert_true(report.signs == TSR_VOXELIZE_SIGNS_CONSISTENT && report.turned_triangles == 0);
            turn_some(mesh, parts[k], 7 + (uint64_t)k);
            tsr_volume *turned = dense(context, mesh, TSR_U8, &o, &report);
            assert_true(report.signs == TSR_VOXELIZE_SIGNS_TURNED && report.turned_triangles > 20);
            assert_true(report.boundary_edges == 0 && report.misoriented_edges > 20 && report.boundary_loops == 0);
            if (rule == TSR_VOXELIZE_POSITIVE && k == 2) { /* most of it faces inwards, and so does all of it then */
                for (int64_t i = 0; i < tsr_volume_count(turned); i++) assert_int_equal(((const uint8_t *)tsr_volume_data_const(turned))[i], 0);
            } else {
                assert_memory_equal(tsr_volume_data_const(whole), tsr_volume_data_const(turned), (size_t)tsr_volume_count(whole));
            }
            tsr_volume_destroy(&whole);
            tsr_volume_destroy(&turned);
            tsr_mesh_destroy(&mesh);
        }
    tsr_context_destroy(&context);
}

static int64_t inside_of(tsr_context *context, const tsr_mesh *mesh, const tsr_voxelize_options *o, tsr_voxelize_report *report)
{
    tsr_volume *mask = dense(context, mesh, TSR_U8, o, report);
    int64_t inside = 0;
    for (int64_t i = 0; i < tsr_volume_count(mask); i++) inside += ((const uint8_t *)tsr_volume_data_const(mask))[i];
    tsr_volume_destroy(&mask);
    return inside;
}

/* Pieces within pieces face outwards and inwards in turn where too few of their triangles agree; a face turned, triangles twice, a wall within. */
static void mended_meshes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_voxelize_options o = with_spacing(1, 1, 1);
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    o.origin = (tsr_vec3){ 0.25, 0.375, 0.125 };
    tsr_mesh *mesh = shape_box(12, 12, 12, 0, 0, 0), *inner = shape_box(6, 6, 6, 3, 3, 3);
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int k = 0; k < 2; k++) { /* a face */
        const uint32_t swap = t[3 * k];
        t[3 * k] = t[3 * k + 1];
        t[3 * k + 1] = swap;
    }
    assert_int_equal(inside_of(context, mesh, &o, &report), 1728);
    assert_true(report.signs == TSR_VOXELIZE_SIGNS_TURNED && report.turned_triangles == 2 && report.misoriented_edges == 4 &&
                report.boundary_edges == 0);
    for (int k = 0; k < 12; k++) { /* half of all: outwards, and the one within it inwards */
        uint32_t *own = (k & 1 ? tsr_mesh_triangles(inner) : t) + 3 * k, swap = own[0];
        own[0] = own[1];
        own[1] = swap;
    }
    shape_add(&mesh, inner, 0, 0, 0, 0);
    o.rule = TSR_VOXELIZE_POSITIVE;
    assert_int_equal(inside_of(context, mesh, &o, &report), 1728 - 216);
    tsr_mesh_destroy(&mesh);
    tsr_mesh *box = shape_box(12, 12, 12, 0, 0, 0); /* two of its triangles twice */
    require_ok(tsr_mesh_create(NULL, 8, 14, 0, &mesh));
    memcpy(tsr_mesh_vertices(mesh), tsr_mesh_vertices(box), 96);
    memcpy(tsr_mesh_triangles(mesh), tsr_mesh_triangles(box), 144);
    memcpy(tsr_mesh_triangles(mesh) + 36, tsr_mesh_triangles(box) + 9, 24);
    assert_int_equal(inside_of(context, mesh, &o, &report), 1728);
    assert_true(report.nonmanifold_edges > 0 && report.boundary_edges == 0);
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&box);
    tsr_context_destroy(&context);
}

/* A sample on the surface is on one side, that of one moved a little up all axes: masks are half-open, bodies that touch share no sample and miss none. */
static void half_open(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const double spacings[4] = { 1, 0.5, 0.25, 0.1 };
    for (int k = 0; k < 4; k++) {
        tsr_voxelize_options o = with_spacing(spacings[k], spacings[k], spacings[k]);
        const int64_t n = (int64_t)floor(10 / spacings[k] + 0.5);
        if (k > 2 && test_is_slow()) break;
        for (int z = 0; z < 3; z++) { /* three boxes on each other */
            tsr_mesh *box = shape_box(10, 10, 10, 0, 0, (float)(10 * z));
            tsr_geometry geometry = tsr_geometry_make(o.spacing, (tsr_vec3){ -spacings[k], -spacings[k], 10 * z - spacings[k] }, TSR_SPACE_NONE);
            o.geometry = &geometry;
            o.size = (tsr_size3){ n + 3, n + 3, n + 3 };
            tsr_volume *mask = dense(context, box, TSR_U8, &o, NULL), *field = dense(context, box, TSR_F32, &o, NULL);
            for (int64_t i = 0; i < tsr_volume_count(mask); i++) {
                const int64_t at[3] = { i % (n + 3) - 1, i / (n + 3) % (n + 3) - 1, i / (n + 3) / (n + 3) - 1 };
                const int in = at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[0] < n && at[1] < n && at[2] < n;
                const float v = ((const float *)tsr_volume_data_const(field))[i];
                if (((const uint8_t *)tsr_volume_data_const(mask))[i] != in || (v < 0) != in)
                    fail_msg("spacing %g, box %d, voxel %d %d %d: mask %d, field %g", spacings[k], z, (int)at[0], (int)at[1], (int)at[2],
                             ((const uint8_t *)tsr_volume_data_const(mask))[i], (double)v);
            }
            tsr_volume_destroy(&mask);
            tsr_volume_destroy(&field);
            tsr_mesh_destroy(&box);
        }
    }
    tsr_context_destroy(&context);
}

/* ---- whatever comes ---------------------------------------------------------------------------------------------------------------------------- */

/* Up to 30 triangles: their corners few places, some on voxels, or many; some twice, some turned, some without area; parts of a box. */
static tsr_mesh *any_mesh(uint64_t *seed)
{
    const int64_t triangles = 1 + (int64_t)(30 * test_uniform(seed)), places = 3 + (int64_t)(20 * test_uniform(seed));
    const double size = pow(10, 1.4 * test_uniform(seed));
    const int whole = test_uniform(seed) < 0.5, box = test_uniform(seed) < 0.3, copies = test_uniform(seed) < 0.3;
    tsr_mesh *mesh;
    if (box) {
        tsr_mesh *one = shape_box((float)(1 + floor(size)), (float)(1 + floor(size / 2)), 3, 0, 0, 0), *both = NULL, *left;
        shape_add(&both, shape_box(4, 4, 4, 0, 0, 0), (float)floor(size / 3), whole ? 0 : 0.3f, 1, test_uniform(seed) < 0.5);
        shape_add(&both, one, 0, 0, 0, 0);
        left = test_uniform(seed) < 0.5 ? shape_without(both, 3 + (int64_t)(9 * test_uniform(seed)), 1) : NULL;
        uint32_t *t = tsr_mesh_triangles(left ? left : both);
        for (int64_t i = 0; i < tsr_mesh_triangle_count(left ? left : both) && copies; i++)
            if (test_uniform(seed) < 0.3) {
                const uint32_t swap = t[3 * i];
                t[3 * i] = t[3 * i + 1];
                t[3 * i + 1] = swap;
            }
        if (left) tsr_mesh_destroy(&both);
        return left ? left : both;
    }
    require_ok(tsr_mesh_create(NULL, places, triangles, 0, &mesh));
    for (int64_t i = 0; i < 3 * places; i++) {
        const double v = size * test_uniform(seed);
        tsr_mesh_vertices(mesh)[i] = (float)(whole ? floor(v) : v);
    }
    for (int64_t t = 0; t < triangles; t++)
        for (int64_t k = 0; k < 3; k++) {
            uint32_t *corner = tsr_mesh_triangles(mesh) + 3 * t;
            corner[k] = (uint32_t)(places * test_uniform(seed) * 0.999999);
            if (copies && t > 3) corner[k] = corner[k - 3 * (1 + t % 3)];
        }
    return mesh;
}

/* What every list must hold, seen in a box of one tile more all round (its first tile is 1, 1, 1): outside at its border, and no two voxels of different signs
 * beside each other but in stored tiles. */
static void check_list(tsr_context *context, const tsr_tiles *tiles, unsigned long long seed)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    const int32_t e = info.edge;
    int64_t n[3] = { 1, 1, 1 };
    int32_t(*at)[3] = malloc((size_t)(info.count + 1) * sizeof *at);
    require_ok(tsr_tiles_download(tiles, at, NULL));
    for (int64_t i = 0; i < info.count; i++)
        for (int k = 0; k < 3; k++) {
            assert_true(at[i][k] > 0);
            n[k] = n[k] > at[i][k] + 2 ? n[k] : at[i][k] + 2;
        }
    const int64_t tx = n[0], ty = n[1];
    for (int k = 0; k < 3; k++) n[k] *= e;
    const int64_t count = n[0] * n[1] * n[2], step[3] = { 1, n[0], n[0] * n[1] };
    uint8_t *stored = calloc((size_t)(count / (e * e * e)), 1);
    for (int64_t i = 0; i < info.count; i++) stored[(at[i][2] * ty + at[i][1]) * tx + at[i][0]] = 1;
    tsr_volume *there, *volume;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ n[0], n[1], n[2] }, tsr_tiles_geometry(tiles), &there));
    require_ok(tsr_tiles_store(tiles, there));
    require_ok(tsr_volume_copy(there, NULL, &volume));
    const float *v = tsr_volume_data_const(volume);
    for (int64_t i = 0; i < count; i++) {
        const int64_t p[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
        for (int k = 0; k < 3; k++) {
            if ((p[k] == 0 || p[k] == n[k] - 1) && v[i] < 0) fail_msg("mesh %llu: inside beyond all tiles", seed);
            if (p[k] == n[k] - 1 || (v[i] < 0) == (v[i + step[k]] < 0)) continue;
            const int64_t a = (p[2] / e * ty + p[1] / e) * tx + p[0] / e,
                          b = ((p[2] + (k == 2)) / e * ty + (p[1] + (k == 1)) / e) * tx + (p[0] + (k == 0)) / e;
            if (!stored[a] || !stored[b])
                fail_msg("mesh %llu: the sign changes beside a tile that is not stored, at %g %g", seed, (double)v[i], (double)v[i + step[k]]);
        }
    }
    free(at);
    free(stored);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&volume);
}

/* The origin moves so that the tiles of a list begin at 1, 1, 1. */
static void move_origin(const tsr_tiles *tiles, tsr_voxelize_options *o)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    int32_t(*at)[3] = malloc((size_t)(info.count + 1) * sizeof *at), low[3] = { 1, 1, 1 };
    require_ok(tsr_tiles_download(tiles, at, NULL));
    for (int64_t i = 0; i < info.count; i++)
        for (int k = 0; k < 3; k++) low[k] = i && low[k] < at[i][k] ? low[k] : at[i][k];
    o->origin.x += (low[0] - 1) * info.edge * o->spacing.x;
    o->origin.y += (low[1] - 1) * info.edge * o->spacing.y;
    o->origin.z += (low[2] - 1) * info.edge * o->spacing.z;
    free(at);
}

/* Closed bodies, one of them inside out: where they overlap it is no hole. Counted by hand, half a voxel off the samples. */
static void inside_out(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const struct {
        float size, x;
        int64_t inside, turned;
    } second[4] = {
        { 4, 2, 768, 12 }, { 4, 6, 1024, 12 }, { 2, 1, 512 - 64, 0 }, { 4, 0, 512, 12 }
    }; /* overlaps, lies beside, a cavity, the same box */
    for (int k = 0; k < 4; k++)
        for (int swapped = 0; swapped < 2; swapped++) {
            tsr_mesh *mesh = NULL;
            const float y = k == 2 ? 1 : 0;
            tsr_voxelize_options o = with_spacing(0.5, 0.5, 0.5);
            tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
            o.origin = (tsr_vec3){ 0.25, 0.25, 0.25 };
            if (!swapped) shape_add(&mesh, shape_box(4, 4, 4, 0, 0, 0), 0, 0, 0, 0);
            shape_add(&mesh, shape_box(second[k].size, second[k].size, second[k].size, second[k].x, y, y), 0, 0, 0, 1);
            if (swapped) shape_add(&mesh, shape_box(4, 4, 4, 0, 0, 0), 0, 0, 0, 0);
            const int64_t inside = inside_of(context, mesh, &o, &report);
            if (k == 3) { /* the two add up to nothing everywhere: that is what the file says */
                assert_int_equal(inside, 0);
            } else {
                assert_int_equal(inside, second[k].inside);
                assert_int_equal(report.turned_triangles, second[k].turned);
            }
            o.rule = TSR_VOXELIZE_POSITIVE; /* as they face */
            if (k == 1) assert_int_equal(inside_of(context, mesh, &o, &report), 512);
            tsr_mesh_destroy(&mesh);
        }
    tsr_context_destroy(&context);
}

static void any_meshes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const int cpu = tsr_context_device(context).kind == TSR_DEVICE_CPU;
    const uint64_t first = test_seed();
    for (uint64_t round = 0; round < (cpu ? test_is_slow() ? 150u : 600u : 12u); round++) {
        uint64_t seed = first + 1000003 * round;
        tsr_mesh *mesh = any_mesh(&seed), *there = on_device(context, mesh), *surface;
        tsr_voxelize_options o = with_spacing(1, round % 3 ? 1 : 1.5, 1);
        tsr_tiles *tiles;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        o.edge = round & 1 ? 4 : 8;
        o.rule = (tsr_voxelize_rule)(round / 2 % 4);
        if (round % 5 == 4) o.origin = (tsr_vec3){ 0.3, 0.4, 0.1 };
        require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
        move_origin(tiles, &o);
        tsr_tiles_destroy(&tiles);
        require_ok(tsr_tiles_from_mesh(context, there, &o, &tiles, NULL));
        check_list(context, tiles, (unsigned long long)(first + 1000003 * round));
        if (tsr_surface_extract_tiles(context, tiles, NULL, &surface, NULL) == TSR_OK) {
            tsr_mesh *host;
            require_ok(tsr_mesh_copy(surface, NULL, &host));
            require_ok(tsr_mesh_measure(host, &m));
            assert_int_equal(m.boundary_edges, 0);
            tsr_mesh_destroy(&host);
        }
        tsr_mesh_destroy(&surface);
        tsr_tiles_destroy(&tiles);
        tsr_mesh_destroy(&mesh);
        tsr_mesh_destroy(&there);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_triangles), cmocka_unit_test(mended_meshes), cmocka_unit_test(half_open),
        cmocka_unit_test(inside_out),       cmocka_unit_test(any_meshes),
    };
    return cmocka_run_group_tests_name("signs of meshes", tests, NULL, NULL);
}
