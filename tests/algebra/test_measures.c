/* What is measured of tile lists: components, volume, area, genus, curvature; against brute force and analytic answers (docs/theory/levelset.md 9, docs/theory/editing.md 11). */
#include "csg_fixture.h"

/* Components by a dense flood fill on the host. */
static int64_t flood(const float *field, int32_t n, int connectivity, int64_t *sizes, int64_t room)
{
    int64_t total = (int64_t)n * n * n, found = 0;
    uint8_t *seen = (uint8_t *)calloc((size_t)total, 1);
    int64_t *stack = (int64_t *)malloc((size_t)total * sizeof *stack);
    for (int64_t start = 0; start < total; start++) {
        if (seen[start] || !(field[start] < 0)) continue;
        int64_t top = 0, size = 0;
        stack[top++] = start;
        seen[start] = 1;
        while (top) {
            int64_t at = stack[--top];
            size++;
            for (int d = 0; d < 27; d++) {
                int64_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, x = at % n + dx, y = at / n % n + dy, z = at / n / n + dz;
                if (connectivity == 6 && dx * dx + dy * dy + dz * dz != 1) continue;
                if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) continue;
                int64_t other = (z * n + y) * n + x;
                if (seen[other] || !(field[other] < 0)) continue;
                seen[other] = 1;
                stack[top++] = other;
            }
        }
        if (found < room) sizes[found] = size;
        found++;
    }
    free(seen);
    free(stack);
    return found;
}
static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void components_are_flood_fills(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    uint64_t random = test_seed();
    enum { N = 56, ROOM = 64 };
    for (int trial = 0; trial < 4; trial++) {
        tsr_tiles *all = ball(context, 0, 0, 0, 12); /* large enough for enclosed absent tiles */
        for (int i = 0; i < 10; i++) {
            tsr_tiles *one = ball(context, 40 * test_uniform(&random) - 20, 40 * test_uniform(&random) - 20, 40 * test_uniform(&random) - 20,
                                  1 + 5 * test_uniform(&random)),
                      *next = NULL;
            require_ok(tsr_tiles_combine(all, one, i % 4 == 3 ? TSR_CSG_DIFFERENCE : TSR_CSG_UNION, 0, &next));
            tsr_tiles_destroy(&one);
            tsr_tiles_destroy(&all);
            all = next;
        }
        float *field = tiles_dense(context, all, -28, N);
        for (int connectivity = 6; connectivity <= 26; connectivity += 20) {
            tsr_component parts[ROOM];
            int64_t expected[ROOM] = { 0 }, got[ROOM] = { 0 }, count, brute = flood(field, N, connectivity, expected, ROOM);
            require_ok(tsr_tiles_components(all, connectivity, parts, ROOM, &count));
            assert_int_equal(count, brute);
            for (int64_t i = 0; i < count && i < ROOM; i++) got[i] = parts[i].voxels;
            qsort(got, (size_t)count, sizeof *got, by_size);
            qsort(expected, (size_t)count, sizeof *expected, by_size);
            assert_memory_equal(got, expected, (size_t)count * sizeof *got);
        }
        free(field);
        tsr_tiles_destroy(&all);
    }
}

/* Noise in some blocks, constants in the others, with a voxel of the outside all round where the list has a border there. */
static float *noise_field(const int32_t domain[3], int32_t edge, int unbounded, double share, uint64_t *seed)
{
    const int32_t n[3] = { domain[0], domain[1], domain[2] };
    float *v = (float *)malloc((size_t)n[0] * n[1] * n[2] * sizeof *v), block[8][8][8];
    for (int32_t k = 0; k < 512; k++) block[k / 64][k / 8 % 8][k % 8] = (float)(test_uniform(seed) < 0.4 ? 0 : test_uniform(seed) < share ? -3 : 3);
    for (int64_t i = 0; i < (int64_t)n[0] * n[1] * n[2]; i++) {
        const int32_t at[3] = { (int32_t)(i % n[0]), (int32_t)(i / n[0] % n[1]), (int32_t)(i / n[0] / n[1]) };
        const int rim = unbounded && (!at[0] || !at[1] || !at[2] || at[0] + 1 == n[0] || at[1] + 1 == n[1] || at[2] + 1 == n[2]);
        const float constant = block[at[2] / edge % 8][at[1] / edge % 8][at[0] / edge % 8];
        v[i] = rim ? 3 : constant != 0 ? constant : test_uniform(seed) < share ? -1 : 1;
    }
    return v;
}
/* Pieces of v < 0 (or of the others, with `beyond` all round them but across a plane) on the host. */
static int64_t pieces_of(const float *v, const int32_t n[3], int inside, int connectivity)
{
    int32_t m[3], off[3];
    for (int k = 0; k < 3; k++) {
        off[k] = !inside && n[k] > 1;
        m[k] = n[k] + 2 * off[k];
    }
    const int64_t total = (int64_t)m[0] * m[1] * m[2];
    uint8_t *open = (uint8_t *)malloc((size_t)total);
    int64_t *stack = (int64_t *)malloc((size_t)total * sizeof *stack), found = 0;
    for (int64_t i = 0; i < total; i++) {
        const int64_t x = i % m[0] - off[0], y = i / m[0] % m[1] - off[1], z = i / m[0] / m[1] - off[2];
        const int out = x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2];
        open[i] = out ? !inside : (v[(z * n[1] + y) * n[0] + x] < 0) == inside;
    }
    for (int64_t start = 0; start < total; start++) {
        int64_t top = 0;
        if (!open[start]) continue;
        found++;
        open[start] = 0;
        for (stack[top++] = start; top;) {
            const int64_t at = stack[--top];
            for (int d = 0; d < 27; d++) {
                const int64_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, x = at % m[0] + dx, y = at / m[0] % m[1] + dy,
                              z = at / m[0] / m[1] + dz;
                if ((connectivity == 6 && dx * dx + dy * dy + dz * dz != 1) || x < 0 || y < 0 || z < 0 || x >= m[0] || y >= m[1] || z >= m[2])
                    continue;
                const int64_t other = (z * m[1] + y) * m[0] + x;
                if (!open[other]) continue;
                open[other] = 0;
                stack[top++] = other;
            }
        }
    }
    free(open);
    free(stack);
    return found;
}
/* Cells of the complex of the voxels inside, joined by faces, with signs. */
static int64_t euler_of(const float *v, const int32_t n[3])
{
    int64_t euler = 0;
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++)
            for (int32_t x = 0; x < n[0]; x++)
                for (int axes = 0; axes < 8; axes++) { /* the cell that spans these axes from here */
                    int whole = 1;
                    for (int c = 0; c < 8 && whole; c++) {
                        const int32_t at[3] = { x + (c & axes & 1), y + (c & axes & 2) / 2, z + (c & axes & 4) / 4 };
                        whole = at[0] < n[0] && at[1] < n[1] && at[2] < n[2] && v[((int64_t)at[2] * n[1] + at[1]) * n[0] + at[0]] < 0;
                    }
                    euler += whole ? (__builtin_popcount((unsigned)axes) & 1 ? -1 : 1) : 0;
                }
    return euler;
}

/* Tiles of every kind of sign pattern beside each other, in and without a domain whose border lies anywhere in a tile. */
static void pieces_of_noise(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    uint64_t seed = test_seed();
    for (int trial = 0; trial < 24; trial++) {
        const int32_t edge = trial & 1 ? 8 : 4, unbounded = trial % 3 == 0, plane = trial % 3 == 1 && trial % 2;
        const int32_t n[3] = { 17 + trial, 30 - trial / 2, plane ? 1 : 12 + trial % 7 };
        const double share = trial % 4 == 0 ? 0.5 : trial % 4 == 1 ? 0.2 : trial % 4 == 2 ? 0.35 : 0.85;
        float *v = noise_field(n, edge, unbounded, share, &seed);
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_volume *host, *field;
        tsr_tiles *tiles;
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        int64_t count;
        options.edge = edge;
        options.band = 3;
        if (!unbounded) options.domain = (tsr_size3){ n[0], n[1], n[2] };
        require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n[0], n[1], n[2] }, NULL, &host));
        memcpy(tsr_volume_data(host), v, (size_t)n[0] * n[1] * n[2] * sizeof *v);
        require_ok(tsr_volume_copy(host, context, &field));
        require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
        require_ok(tsr_tiles_load(tiles, field));
        require_ok(tsr_tiles_measure(tiles, &m));
        const int64_t cells = pieces_of(v, n, 1, 6), cavities = pieces_of(v, n, 0, 26) - 1;
        assert_int_equal(m.components, cells);
        assert_int_equal(m.cavities, cavities);
        assert_int_equal(m.euler, euler_of(v, n));
        if (!plane) assert_int_equal(m.genus, cells + cavities - m.euler);
        require_ok(tsr_tiles_components(tiles, 6, NULL, 0, &count));
        assert_int_equal(count, cells);
        tsr_tiles_destroy(&tiles);
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&host);
        free(v);
    }
}

/* ---- measures ------------------------------------------------------------------------------------------------------------------------------------ */

/* Faces along the axes wherever they lie between samples: what is missing is in the edges. */
static void measures_of_faces(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    for (int k = 0; k < 5; k++) {
        const double half = 14 + 0.25 * k, side = 2 * half;
        tsr_shape s = { .kind = TSR_SHAPE_BOX, .half = { half, half, half } };
        tsr_tiles *tiles = make(context, &s, 8, k == 4 ? 1.5 : 3);
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        require_ok(tsr_tiles_measure(tiles, &m));
        assert_true(fabs(m.volume / (side * side * side) - 1) < 0.003);
        assert_true(fabs(m.area - 6 * side * side) < 0.75 * 12 * side);
        tsr_tiles_destroy(&tiles);
    }
    for (int k = 0; k < 3; k++) {
        tsr_shape s = { .kind = TSR_SHAPE_SPHERE, .centre = { 0.3, 0.1, 0 }, .radius = 12 };
        const double pi = 3.14159265358979323846, bands[3] = { 1.5, 2, 3 };
        tsr_tiles *tiles = make(context, &s, 4, bands[k]);
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        require_ok(tsr_tiles_measure(tiles, &m));
        assert_true(fabs(m.volume / (4.0 / 3 * pi * 1728) - 1) < 0.001 && fabs(m.area / (4 * pi * 144) - 1) < 0.005);
        tsr_tiles_destroy(&tiles);
    }
}

static void measures_of_shapes(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979323846;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_tiles *a = make(context, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { 3, -4, 5.5 }, .radius = 20 }, 8, 3);
    require_ok(tsr_tiles_measure(a, &m));
    print_message("sphere: volume %.6f, area %.6f, K %.6f of the exact\n", m.volume / (4.0 / 3 * pi * 8000), m.area / (4 * pi * 400),
                  10 * m.mean_curvature);
    assert_true(fabs(m.volume / (4.0 / 3 * pi * 8000) - 1) < 2e-4);
    assert_true(fabs(m.area / (4 * pi * 400) - 1) < 2e-3);
    assert_true(fabs(m.mean_curvature * 20 / 2 - 1) < 5e-3);
    assert_true(fabs(m.centroid.x - 3) < 1e-3 && fabs(m.centroid.y + 4) < 1e-3 && fabs(m.centroid.z - 5.5) < 1e-3);
    assert_int_equal(m.components, 1);
    assert_int_equal(m.euler, 1);
    assert_int_equal(m.genus, 0);
    assert_int_equal(m.cavities, 0);
    tsr_tiles_destroy(&a);
    a = make(context, &(tsr_shape){ .kind = TSR_SHAPE_TORUS, .radius = 14, .minor = 5 }, 4, 3);
    require_ok(tsr_tiles_measure(a, &m));
    assert_true(fabs(m.volume / (2 * pi * pi * 14 * 25) - 1) < 3e-3);
    assert_true(fabs(m.area / (4 * pi * pi * 14 * 5) - 1) < 5e-3);
    assert_int_equal(m.genus, 1);
    assert_int_equal(m.euler, 0);
    tsr_tiles *around = NULL; /* one surface, whichever side of it is inside */
    require_ok(tsr_tiles_complement(a, &around));
    require_ok(tsr_tiles_measure(around, &m));
    assert_int_equal(m.components, 1);
    assert_int_equal(m.cavities, 1);
    assert_int_equal(m.euler, 0);
    assert_int_equal(m.genus, 1);
    tsr_tiles_destroy(&around);
    tsr_tiles_destroy(&a);
    a = make(context, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = 15, .shell = 4 }, 8, 3); /* hollow */
    require_ok(tsr_tiles_measure(a, &m));
    assert_true(fabs(m.volume / (4.0 / 3 * pi * (17.0 * 17 * 17 - 13.0 * 13 * 13)) - 1) < 3e-3);
    assert_int_equal(m.components, 1);
    assert_int_equal(m.cavities, 1);
    assert_int_equal(m.euler, 2);
    assert_int_equal(m.genus, 0);
    tsr_tiles_destroy(&a);
    a = ball(context, 0, 0, 0, 5);
    tsr_tiles *b = ball(context, 30, 0, 0, 5), *both = NULL;
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &both));
    require_ok(tsr_tiles_measure(both, &m));
    assert_int_equal(m.components, 2);
    assert_int_equal(m.genus, 0);
    assert_true(fabs(m.centroid.x - 15) < 1e-2);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&both);
}

enum { FIELD = 40 };
/* Spheres of radius R whose fields are no distances: r - R times a slope, the same everywhere or not; 0 to 3 and 4 to 6. */
static float sloped(int which, double radius, int64_t x, int64_t y, int64_t z)
{
    const double p[3] = { (double)x - 19.3, (double)y - 19.6, (double)z - 20.1 }, d = hypot3(p[0], p[1], p[2]) - radius;
    const double slopes[4] = { 0.7, 0.85, 1, 1.3 };
    switch (which) {
    case 4: return (float)(d * (1 + 0.3 * sin(p[0] / 5)));
    case 5: return (float)(d * (0.85 + 0.15 * sin(p[0] / 4) * cos(p[1] / 5)));
    case 6: return (float)(d * (1 + d / (2 * radius)) / 1.2);
    default: return (float)(d * slopes[which]);
    }
}
static tsr_tiles *sloped_list(tsr_context *context, const tsr_geometry *geometry, int which, double radius)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.band = 3;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ FIELD, FIELD, FIELD }, geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < FIELD * FIELD * FIELD; i++) v[i] = sloped(which, radius, i % FIELD, i / FIELD % FIELD, i / (FIELD * FIELD));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, geometry, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

static void measures_of_slopes(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979323846;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    for (int which = 0; which < 7; which++)
        for (int k = 0; k < 2; k++) {
            const double radius = k ? 12 : 8;
            tsr_tiles *tiles = sloped_list(context, NULL, which, radius);
            require_ok(tsr_tiles_measure(tiles, &m));
            print_message("field %d of radius %g: area %.5f of the exact\n", which, radius, m.area / (4 * pi * radius * radius));
            assert_true(fabs(m.area / (4 * pi * radius * radius) - 1) < 0.01);
            tsr_tiles_destroy(&tiles);
        }
    /* a flow under its curvature: R^2 = R0^2 - 4 t, and slopes below 1 */
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 1 };
    options.term_count = 1;
    options.space = TSR_STENCIL_WENO5;
    options.time = TSR_TIME_RK3;
    tsr_tiles *tiles = sloped_list(context, NULL, 2, 10);
    tsr_levelset *levelset = NULL;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    require_ok(tsr_levelset_create(tiles, &options, &levelset));
    require_ok(tsr_levelset_advance(levelset, 8, NULL, &report));
    tsr_levelset_destroy(&levelset);
    require_ok(tsr_tiles_measure(tiles, &m));
    print_message("curvature flow: area %.5f of the exact\n", m.area / (4 * pi * 68));
    assert_true(fabs(m.area / (4 * pi * 68) - 1) < 0.01);
    tsr_tiles_destroy(&tiles);
}

static void sheared_axes_are_refused(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const tsr_geometry geometry = { { { 1, 0.5, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_NONE };
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles *tiles = sloped_list(context, &geometry, 2, 10), *made;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_levelset *levelset;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 1 };
    options.term_count = 1;
    require_error(tsr_tiles_measure(tiles, &m), TSR_ERROR_UNSUPPORTED, "axes x and y make an angle of 63.43 degrees");
    require_error(tsr_tiles_combine(tiles, tiles, TSR_CSG_UNION, 0, &made), TSR_ERROR_UNSUPPORTED, "perpendicular");
    require_error(tsr_tiles_complement(tiles, &made), TSR_ERROR_UNSUPPORTED, "perpendicular");
    require_error(tsr_levelset_create(tiles, &options, &levelset), TSR_ERROR_UNSUPPORTED, "level set: the index axes");
    require_error(tsr_levelset_redistance(tiles, 0, NULL), TSR_ERROR_UNSUPPORTED, "perpendicular");
    tsr_tiles_destroy(&tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(components_are_flood_fills, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_of_noise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(measures_of_faces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(measures_of_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(measures_of_slopes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sheared_axes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
