/* A surface a distance away against distances in float64: spheres, boxes, bodies of both; gone, filled, planes, other spacings. */
#include "csg_fixture.h"

/* A body: the union of spheres (half.x 0) and boxes. */
typedef struct body { tsr_vec3 centre, half; double radius; } body;

static double distance_to(const body *b, double x, double y, double z)
{
    const double px = x - b->centre.x, py = y - b->centre.y, pz = z - b->centre.z;
    const double dx = fabs(px) - b->half.x, dy = fabs(py) - b->half.y, dz = fabs(pz) - b->half.z;
    if (b->half.x == 0) return hypot3(px, py, pz) - b->radius;
    return dx <= 0 && dy <= 0 && dz <= 0 ? fmax(dx, fmax(dy, dz)) : hypot3(fmax(dx, 0), fmax(dy, 0), fmax(dz, 0));
}

static tsr_tiles *made_of(tsr_context *context, const body *b, int count, int32_t edge, double band, tsr_vec3 spacing)
{
    const tsr_geometry geometry = tsr_geometry_make(spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *all = NULL;
    options.edge = edge;
    options.band = band;
    for (int i = 0; i < count; i++) {
        const tsr_shape shape = { .kind = b[i].half.x > 0 ? TSR_SHAPE_BOX : TSR_SHAPE_SPHERE, .centre = b[i].centre, .half = b[i].half, .radius = b[i].radius };
        tsr_tiles *one = NULL, *both = NULL;
        require_ok(tsr_tiles_shape(context, &geometry, &options, &shape, &one));
        if (all) require_ok(tsr_tiles_combine(all, one, TSR_CSG_UNION, 0, &both));
        else both = one;
        if (all) tsr_tiles_destroy(&one);
        tsr_tiles_destroy(&all);
        all = both;
    }
    return all;
}

/* The largest difference of the result from the distance to the body less `distance`, in the band, where that is known: outside the body. */
static double worst(const tsr_tiles *result, const body *b, int count, double distance, tsr_vec3 h, int64_t *compared)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    double most = 0;
    require_ok(tsr_tiles_describe(result, &info));
    const int64_t E = info.edge, V = E * E * E;
    int32_t(*tile)[3] = malloc((size_t)info.count * sizeof *tile);
    float *value = malloc((size_t)(info.count * V) * sizeof *value);
    require_ok(tsr_tiles_download(result, tile, value));
    *compared = 0;
    for (int64_t i = 0; i < info.count * V; i++) {
        const int64_t k = i % V;
        const double x = (double)(tile[i / V][0] * E + k % E) * h.x, y = (double)(tile[i / V][1] * E + k / E % E) * h.y, z = (double)(tile[i / V][2] * E + k / (E * E)) * h.z;
        double d = HUGE_VAL;
        for (int n = 0; n < count; n++) d = fmin(d, distance_to(&b[n], x, y, z));
        const double expected = fmin(fmax(d - distance, -info.band), info.band);
        most = fmax(most, fabs((double)value[i] - expected));
        *compared += fabs(expected) < info.band;
    }
    free(tile);
    free(value);
    return most;
}

static void grown(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const struct {
        body b[3];
        int count;
        double distance, allowed;
        int32_t edge;
        tsr_vec3 h;
    } c[] = {
        { { { { 0.3, -0.2, 0.1 }, { 0, 0, 0 }, 20 } }, 1, 12, 0.005, 8, { 1, 1, 1 } },
        { { { { 0.3, -0.2, 0.1 }, { 0, 0, 0 }, 20 } }, 1, 40, 0.005, 4, { 1, 1, 1 } },
        { { { { -9, 3, 5 }, { 0, 0, 0 }, 6 } }, 1, 9, 0.02, 8, { 1, 0.7, 0.5 } },
        { { { { 0.5, 0.25, 0 }, { 10, 8, 6 }, 0 } }, 1, 10, 1.2, 8, { 1, 1, 1 } }, /* its edges are known to a voxel along each axis: `boxes` */
        { { { { -8, 0, 0 }, { 0, 0, 0 }, 7 }, { { 9, 1, 2 }, { 0, 0, 0 }, 5 }, { { 2, 20, 0 }, { 0, 0, 0 }, 6 } }, 3, 11, 0.05, 8, { 1, 1, 1 } },
        { { { { -8, 0, 0 }, { 0, 0, 0 }, 7 }, { { 12, 1, 2 }, { 4, 5, 6 }, 0 } }, 2, 15, 1.2, 4, { 1, 1, 1 } },
    };
    for (size_t i = 0; i < (test_is_slow() ? 3 : sizeof c / sizeof *c); i++) {
        tsr_tiles *tiles = made_of(context, c[i].b, c[i].count, c[i].edge, 3, c[i].h), *result = NULL;
        int64_t compared;
        require_ok(tsr_tiles_offset(tiles, c[i].distance, NULL, &result));
        check_invariants(result);
        const double most = worst(result, c[i].b, c[i].count, c[i].distance, c[i].h, &compared);
        assert_true(compared > 1000);
        if (!(most < c[i].allowed)) fail_msg("case %zu: off by %g, expected less than %g", i, most, c[i].allowed);
        tsr_tiles_destroy(&result);
        tsr_tiles_destroy(&tiles);
    }
}

/* Spheres at random: the distance to their union is the least of theirs, outside. */
static void random_spheres(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    uint64_t random = test_seed();
    for (int turn = 0; turn < (test_is_slow() ? 1 : 6); turn++) {
        body b[4] = { { { 0, 0, 0 }, { 0, 0, 0 }, 0 } };
        const double distance = 8 + 12 * test_uniform(&random);
        int64_t compared;
        tsr_tiles *result = NULL;
        for (int i = 0; i < 4; i++) {
            b[i].centre = (tsr_vec3){ 30 * test_uniform(&random) - 15, 30 * test_uniform(&random) - 15, 30 * test_uniform(&random) - 15 };
            b[i].radius = 4 + 4 * test_uniform(&random);
        }
        tsr_tiles *tiles = made_of(context, b, 4, turn & 1 ? 4 : 8, 3, (tsr_vec3){ 1, 1, 1 });
        require_ok(tsr_tiles_offset(tiles, distance, NULL, &result));
        check_invariants(result);
        const double most = worst(result, b, 4, distance, (tsr_vec3){ 1, 1, 1 }, &compared);
        if (!(most < 0.06)) fail_msg("distance %g: off by %g, expected less than 0.06", distance, most);
        tsr_tiles_destroy(&result);
        tsr_tiles_destroy(&tiles);
    }
}

/* Grown boxes by Steiner's formula: edges are rounded, and begin up to a voxel late. */
static void boxes(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979;
    for (int turn = 0; turn < 3; turn++) {
        const body b = { { 0.25 * turn, 0.25 * turn, 0.25 * turn }, { 12, 9, 7 }, 0 };
        tsr_tiles *tiles = made_of(context, &b, 1, 8, 3, (tsr_vec3){ 1, 1, 1 });
        for (double d = 8; d < 17; d += 8) {
            const double exact = 24 * 18 * 14 + 2 * (24 * 18 + 18 * 14 + 14 * 24) * d + pi * (24 + 18 + 14) * d * d + 4.0 / 3 * pi * d * d * d;
            tsr_tiles_measures m = TSR_TILES_MEASURES;
            tsr_tiles *result = NULL;
            require_ok(tsr_tiles_offset(tiles, d, NULL, &result));
            require_ok(tsr_tiles_measure(result, &m));
            if (!(m.volume < 1.0005 * exact && m.volume > 0.975 * exact)) fail_msg("at %g, by %g: volume %g, expected %g", b.centre.x, d, m.volume, exact);
            tsr_tiles_destroy(&result);
        }
        tsr_tiles_destroy(&tiles);
    }
}

static void shrunk(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const body box = { { 0.5, 0.25, 0 }, { 20, 18, 16 }, 0 }, sphere = { { 0.3, -0.2, 0.1 }, { 0, 0, 0 }, 20 };
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_tiles *tiles = made_of(context, &box, 1, 8, 3, (tsr_vec3){ 1, 1, 1 }), *result = NULL;
    require_ok(tsr_tiles_offset(tiles, -9, NULL, &result)); /* a smaller box, its edges as sharp */
    check_invariants(result);
    require_ok(tsr_tiles_measure(result, &m));
    assert_true(fabs(m.volume / (8 * 11.0 * 9 * 7) - 1) < 0.01);
    assert_int_equal(m.components, 1);
    tsr_tiles_destroy(&result);
    tsr_tiles_destroy(&tiles);
    tiles = made_of(context, &sphere, 1, 8, 3, (tsr_vec3){ 1, 1, 1 });
    require_ok(tsr_tiles_offset(tiles, -12, NULL, &result));
    require_ok(tsr_tiles_measure(result, &m));
    assert_true(fabs(m.volume / (4.0 / 3 * 3.14159265358979 * 512) - 1) < 0.003);
    tsr_tiles_destroy(&result);
    require_ok(tsr_tiles_offset(tiles, -21, NULL, &result)); /* nothing is left */
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(result, &info));
    assert_int_equal(info.count, 0);
    assert_int_equal(info.inside_voxels, 0);
    tsr_tiles_destroy(&result);
    tsr_tiles_destroy(&tiles);
}

static tsr_tiles *in_domain(tsr_context *context, tsr_size3 n, double radius, int32_t edge)
{
    tsr_volume *field = NULL;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles = NULL;
    options.edge = edge;
    options.band = 3;
    options.domain = n;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &field));
    for (int64_t i = 0; i < tsr_volume_count(field); i++) {
        const double x = (double)(i % n.x) - 0.5 * (double)(n.x - 1), y = (double)(i / n.x % n.y) - 0.5 * (double)(n.y - 1), z = (double)(i / n.x / n.y) - 0.5 * (double)(n.z - 1);
        ((float *)tsr_volume_data(field))[i] = (float)(hypot3(x, y, n.z > 1 ? z : 0) - radius);
    }
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    tsr_volume *there = NULL;
    require_ok(tsr_volume_copy(field, context, &there));
    require_ok(tsr_tiles_load(tiles, there));
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&field);
    return tiles;
}

/* Of a plane the circle; in a domain what is in it, and all of it where it is filled. */
static void domains(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_tiles *tiles = in_domain(context, (tsr_size3){ 80, 80, 1 }, 12, 4), *result = NULL;
    require_ok(tsr_tiles_offset(tiles, 15, NULL, &result));
    require_ok(tsr_tiles_measure(result, &m));
    assert_int_equal(m.dimensions, 2);
    assert_true(fabs(m.volume / (pi * 27 * 27) - 1) < 0.003);
    tsr_tiles_destroy(&result);
    require_ok(tsr_tiles_offset(tiles, -8, NULL, &result));
    require_ok(tsr_tiles_measure(result, &m));
    assert_true(fabs(m.volume / (pi * 4 * 4) - 1) < 0.02);
    tsr_tiles_destroy(&result);
    tsr_tiles_destroy(&tiles);

    tiles = in_domain(context, (tsr_size3){ 40, 36, 32 }, 8, 8);
    require_ok(tsr_tiles_offset(tiles, 12, NULL, &result)); /* beyond the nearest sides: what is inside is counted voxel by voxel */
    tsr_tiles_info info = TSR_TILES_INFO;
    int64_t inside = 0, unsure = 0;
    for (int64_t i = 0; i < 40 * 36 * 32; i++) {
        const double d = hypot3((double)(i % 40) - 19.5, (double)(i / 40 % 36) - 17.5, (double)(i / 1440) - 15.5) - 20;
        inside += d < 0;
        unsure += fabs(d) < 0.01;
    }
    require_ok(tsr_tiles_describe(result, &info));
    assert_true(llabs(info.inside_voxels - inside) <= unsure);
    tsr_tiles_destroy(&result);
    require_ok(tsr_tiles_offset(tiles, 60, NULL, &result));
    require_ok(tsr_tiles_describe(result, &info));
    assert_int_equal(info.count, 0);
    assert_int_equal(info.inside_voxels, 40 * 36 * 32);
    tsr_tiles_destroy(&result);
    tsr_tiles_destroy(&tiles);
}

/* Grown by one distance and by another, or by both at once; the same bits by any number of threads. */
static void ways(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const body b[2] = { { { -8, 0, 0 }, { 0, 0, 0 }, 7 }, { { 9, 1, 2 }, { 0, 0, 0 }, 5 } };
    tsr_tiles *tiles = made_of(context, b, 2, 8, 3, (tsr_vec3){ 1, 1, 1 }), *once = NULL, *half = NULL, *twice = NULL;
    tsr_tiles_measures at_once = TSR_TILES_MEASURES, in_two = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_offset(tiles, 20, NULL, &once));
    require_ok(tsr_tiles_offset(tiles, 11, NULL, &half));
    require_ok(tsr_tiles_offset(half, 9, NULL, &twice));
    require_ok(tsr_tiles_measure(once, &at_once));
    require_ok(tsr_tiles_measure(twice, &in_two));
    assert_true(fabs(at_once.volume / in_two.volume - 1) < 0.002);
    for (int threads = 1; threads <= 3; threads += 2) {
        tsr_context *other = test_context_on("cpu", threads);
        tsr_tiles *copy = NULL, *result = NULL, *back = NULL;
        int same;
        require_ok(tsr_tiles_copy(tiles, other, &copy));
        require_ok(tsr_tiles_offset(copy, 20, NULL, &result));
        require_ok(tsr_tiles_copy(result, context, &back));
        require_ok(tsr_tiles_equal(once, back, &same));
        assert_true(same);
        tsr_tiles_destroy(&back);
        tsr_tiles_destroy(&result);
        tsr_tiles_destroy(&copy);
        tsr_context_destroy(&other);
    }
    tsr_tiles_destroy(&twice);
    tsr_tiles_destroy(&half);
    tsr_tiles_destroy(&once);
    tsr_tiles_destroy(&tiles);
}

static void refusals(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *tiles = ball(context, 0, 0, 0, 12), *result = NULL;
    assert_int_equal(tsr_tiles_offset(tiles, 2.9, NULL, &result), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_tiles_offset(tiles, -2.9, NULL, &result), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_tiles_offset(tiles, (double)NAN, NULL, &result), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_tiles_offset(NULL, 5, NULL, &result), TSR_ERROR_ARGUMENT);
    assert_null(result);
    const tsr_progress stop = { .report = test_stops };
    assert_int_equal(tsr_tiles_offset(tiles, 5, &stop, &result), TSR_ERROR_CANCELLED);
    assert_null(result);
    tsr_tiles_destroy(&tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(grown, set_up, tear_down),   cmocka_unit_test_setup_teardown(random_spheres, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes, set_up, tear_down),   cmocka_unit_test_setup_teardown(shrunk, set_up, tear_down),  cmocka_unit_test_setup_teardown(domains, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ways, set_up, tear_down),    cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
