/* Sampling of lists anywhere, boxes, and dilation of voxel sets: against dense arrays worked out voxel by voxel. */
#include "formats/tile_lists.h"

#include "tiles/tiles_build.h"
#include "tiles/topology.h"

/* ---- sampling -------------------------------------------------------------------------------------------------------------------------------- */

/* The field at a voxel out of a dense box with `margin` voxels around: clamped at a domain, outside beyond balls in unbounded space. */
static double dense_at(const float *dense, const tsr_tiles *tiles, int margin, int64_t x, int64_t y, int64_t z)
{
    const int64_t n[3] = { list_size.x + 2 * margin, list_size.y + 2 * margin, list_size.z + 2 * margin };
    int64_t p[3] = { x + margin, y + margin, z + margin };
    int out = 0;
    for (int k = 0; k < 3; k++) {
        out |= p[k] < 0 || p[k] >= n[k];
        p[k] = p[k] < 0 ? 0 : p[k] >= n[k] ? n[k] - 1 : p[k];
    }
    if (out && !tiles->pool.bounded) return (double)tiles->pool.band;
    return (double)dense[(p[2] * n[1] + p[1]) * n[0] + p[0]];
}

static void sampled(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(context, &list_kinds[k]);
        tsr_volume *volume, *host;
        const int margin = tiles->pool.bounded ? 0 : 24;
        const int64_t first[3] = { -margin, -margin, -margin };
        require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ list_size.x + 2 * margin, list_size.y + 2 * margin, list_size.z + 2 * margin },
                                     NULL, &volume));
        require_ok(tsr_tiles_store_box(tiles, first, volume));
        require_ok(tsr_volume_copy(volume, NULL, &host));
        const float *dense = (const float *)tsr_volume_data(host);
        for (int many = 0; many < 2; many++) { /* few samples search the list, many build an index */
            const int64_t count = many ? 40000 : 300;
            tsr_volume *positions, *values, *staged, *got;
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 3, count, 1 }, NULL, &staged));
            float *p = (float *)tsr_volume_data(staged);
            for (int64_t i = 0; i < count; i++) {
                const double range[3] = { (double)list_size.x, (double)list_size.y, (double)list_size.z };
                for (int a = 0; a < 3; a++) p[3 * i + a] = (float)(test_uniform(&random) * (range[a] + 40) - 20);
                if (i % 5 == 0)
                    for (int a = 0; a < 3; a++) p[3 * i + a] = floorf(p[3 * i + a]);
            }
            p[0] = NAN;
            p[4] = INFINITY;
            p[6] = 1e30f;
            require_ok(tsr_volume_copy(staged, context, &positions));
            require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ count, 1, 1 }, NULL, &values));
            for (int nearest = 0; nearest < 2; nearest++) {
                tsr_tiles_sample_options options = TSR_TILES_SAMPLE_OPTIONS;
                options.nearest = nearest;
                require_ok(
                    tsr_tiles_sample(tiles, (const float(*)[3])tsr_volume_data_const(positions), (float *)tsr_volume_data(values), count, &options));
                require_ok(tsr_volume_copy(values, NULL, &got));
                const float *v = (const float *)tsr_volume_data(got);
                assert_true(isnan(v[0]) && isnan(v[1]));
                for (int64_t i = 2; i < count; i++) {
                    double q[3], f[3], sum = 0;
                    int64_t at[3];
                    for (int a = 0; a < 3; a++) {
                        q[a] = fmin((double)p[3 * i + a], 1e6);
                        at[a] = (int64_t)floor(nearest ? q[a] + 0.5 : q[a]);
                        f[a] = nearest ? 0 : q[a] - (double)at[a];
                    }
                    for (int c = 0; c < 8; c++) {
                        const double w = (c & 1 ? f[0] : 1 - f[0]) * (c & 2 ? f[1] : 1 - f[1]) * (c & 4 ? f[2] : 1 - f[2]);
                        if (w != 0) sum += w * dense_at(dense, tiles, margin, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2));
                    }
                    if (!(fabs((double)v[i] - sum) < 1e-5))
                        fail_msg("%s, %s, sample %lld at (%.9g, %.9g, %.9g): %.9g instead of %.9g", list_kinds[k].name,
                                 nearest ? "nearest" : "linear", (long long)i, (double)p[3 * i], (double)p[3 * i + 1], (double)p[3 * i + 2],
                                 (double)v[i], sum);
                }
                tsr_volume_destroy(&got);
            }
            tsr_volume_destroy(&staged);
            tsr_volume_destroy(&positions);
            tsr_volume_destroy(&values);
        }
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* World positions are those of the geometry; boxes are windows of the same field. */
static void world_and_boxes(void **unused)
{
    (void)unused;
    tsr_context *context = test_context_on("cpu", 2);
    tsr_tiles *tiles = make_list(context, &list_kinds[0]);
    tsr_tiles_sample_options options = TSR_TILES_SAMPLE_OPTIONS;
    float index[64][3], world[64][3], a[64], b[64];
    for (int i = 0; i < 64; i++) {
        const tsr_vec3 p = { 5.25 + i * 0.375, 8.5 + i * 0.25, 20 - i * 0.125 }, w = tsr_geometry_to_world(&tiles->geometry, p);
        const double u[3] = { p.x, p.y, p.z }, v[3] = { w.x, w.y, w.z };
        for (int k = 0; k < 3; k++) {
            index[i][k] = (float)u[k];
            world[i][k] = (float)v[k];
        }
    }
    require_ok(tsr_tiles_sample(tiles, (const float(*)[3])index, a, 64, NULL));
    options.world = 1;
    require_ok(tsr_tiles_sample(tiles, (const float(*)[3])world, b, 64, &options));
    for (int i = 0; i < 64; i++) assert_true(fabsf(a[i] - b[i]) < 1e-5f);
    int64_t lower[3], upper[3], first[3];
    require_ok(tsr_tiles_bounds(tiles, lower, upper));
    tsr_volume *box;
    tsr_size3 size = { upper[0] - lower[0] + 7, upper[1] - lower[1] + 7, upper[2] - lower[2] + 7 };
    for (int k = 0; k < 3; k++) first[k] = lower[k] - 3;
    require_ok(tsr_volume_create(context, TSR_F32, size, NULL, &box));
    require_ok(tsr_tiles_store_box(tiles, first, box));
    options = (tsr_tiles_sample_options)TSR_TILES_SAMPLE_OPTIONS;
    for (int64_t i = 0; i < tsr_volume_count(box); i += 97) {
        float p[1][3] = { { (float)(first[0] + i % size.x), (float)(first[1] + i / size.x % size.y), (float)(first[2] + i / size.x / size.y) } }, v;
        require_ok(tsr_tiles_sample(tiles, (const float(*)[3])p, &v, 1, &options));
        assert_true(v == ((const float *)tsr_volume_data(box))[i]);
    }
    first[1] = -5000000;
    require_error(tsr_tiles_store_box(tiles, first, box), TSR_ERROR_ARGUMENT, "along y");
    require_error(tsr_tiles_sample(tiles, NULL, a, 3, NULL), TSR_ERROR_ARGUMENT, "3 positions");
    tsr_volume_destroy(&box);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* ---- activity words ------------------------------------------------------------------------------------------------------------------------------ */

/* Area bits of a tile by the rule itself: a voxel in the band or with a 6-neighbour of opposite sign; per axis low, middle or high. */
static uint32_t areas_by_rule(const float *box, const int64_t n[3], const int64_t at[3], int32_t edge, int32_t guard, float band)
{
    uint32_t areas = 0;
    for (int32_t v = 0; v < edge * edge * edge; v++) {
        const int32_t p[3] = { v % edge, v / edge % edge, v / (edge * edge) };
        const int64_t i = ((at[2] + p[2]) * n[1] + at[1] + p[1]) * n[0] + at[0] + p[0], steps[3] = { 1, n[0], n[0] * n[1] };
        int listed = box[i] > -band && box[i] < band;
        for (int k = 0; k < 3; k++) listed |= (box[i] < 0) != (box[i - steps[k]] < 0) || (box[i] < 0) != (box[i + steps[k]] < 0);
        if (!listed) continue;
        for (int a = 0; a < 27; a++) {
            const int area[3] = { a % 3, a / 3 % 3, a / 9 };
            int in = 1;
            for (int k = 0; k < 3; k++) {
                const int low = p[k] < guard, high = p[k] >= edge - guard;
                in &= area[k] == 0 ? low : area[k] == 2 ? high : !low && !high;
            }
            areas |= (uint32_t)in << a;
        }
    }
    return areas;
}

static void refreshed(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int k = 0; k < LIST_KINDS; k++) {
        if (list_kinds[k].bounded) continue; /* every tile of these is away from a border */
        for (int32_t guard = 1; guard <= 3; guard++) {
            tsr_tiles *tiles = make_list(context, &list_kinds[k]);
            const int64_t first[3] = { -32, -32, -32 }, n[3] = { 128, 128, 128 };
            tsr_volume *box, *host;
            tsr_tile_state before;
            require_ok(tsr_tiles_read_state(tiles, &before));
            tiles->pool.guard = guard;
            require_ok(context->backend->tiles->refresh(context->queue, &tiles->pool));
            require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ n[0], n[1], n[2] }, NULL, &box));
            require_ok(tsr_tiles_store_box(tiles, first, box));
            require_ok(tsr_volume_copy(box, NULL, &host));
            const float *v = (const float *)tsr_volume_data_const(host);
            tiles_picture p = picture_of(tiles);
            assert_true(p.state.active_voxels == before.active_voxels && p.state.inside_voxels == before.inside_voxels);
            for (int32_t i = 0; i < p.state.count; i++) {
                const int32_t e = list_kinds[k].edge;
                const int64_t at[3] = { tsr_key_x(p.keys[i]) * e + 32, tsr_key_y(p.keys[i]) * e + 32, tsr_key_z(p.keys[i]) * e + 32 };
                const uint32_t word = p.pool.activity[p.ids[i]], expected = areas_by_rule(v, n, at, e, guard, p.pool.band);
                assert_int_equal(word & TSR_ACTIVITY_AREAS, expected);
                if (!expected) assert_true(((word & TSR_ACTIVITY_OUTSIDE) != 0) == (p.phi[(int64_t)p.ids[i] * e * e * e] > 0));
            }
            picture_drop(&p);
            tsr_volume_destroy(&box);
            tsr_volume_destroy(&host);
            tsr_tiles_destroy(&tiles);
        }
    }
    tsr_context_destroy(&context);
}

/* ---- dilation ---------------------------------------------------------------------------------------------------------------------------------- */

enum { N = 48 };
static int dense_bit(const uint8_t *v, int x, int y, int z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < N && y < N && z < N && v[(z * N + y) * N + x];
}

static void dense_step(const uint8_t *from, int neighbours, uint8_t *to)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                int any = 0;
                for (int d = 0; d < 27; d++) {
                    const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, moved = abs(dx) + abs(dy) + abs(dz);
                    if (moved <= (neighbours == 6 ? 1 : neighbours == 18 ? 2 : 3)) any |= dense_bit(from, x + dx, y + dy, z + dz);
                }
                to[(z * N + y) * N + x] = (uint8_t)any;
            }
}

/* The dense array moved by `shift` tiles, as a topology. */
static tsr_topology *topology_of(const uint8_t *v, const int shift[3])
{
    int32_t coordinates[N / 8 * N / 8 * N / 8][3];
    uint64_t mask[N / 8 * N / 8 * N / 8][8];
    int64_t count = 0;
    tsr_topology *t;
    memset(mask, 0, sizeof mask);
    for (int z = 0; z < N / 8; z++)
        for (int y = 0; y < N / 8; y++)
            for (int x = 0; x < N / 8; x++, count++) {
                const int at[3] = { x, y, z };
                for (int k = 0; k < 3; k++) coordinates[count][k] = at[k] + shift[k];
                for (int i = 0; i < 512; i++)
                    mask[count][i >> 6] |= (uint64_t)dense_bit(v, x * 8 + (i & 7), y * 8 + (i >> 3 & 7), z * 8 + (i >> 6)) << (i & 63);
            }
    require_ok(tsr_topology_create(count, (const int32_t(*)[3])coordinates, (const uint64_t(*)[8])mask, &t));
    return t;
}

static void check_topology(const tsr_topology *t, const uint8_t *v, const int shift[3])
{
    tsr_topology_info info = TSR_TOPOLOGY_INFO;
    int64_t voxels = 0, expected = 0;
    tsr_topology_describe(t, &info);
    int32_t(*coordinates)[3] = (int32_t(*)[3])malloc((size_t)info.tiles * 12 + 1);
    uint64_t(*mask)[8] = (uint64_t(*)[8])malloc((size_t)info.tiles * 64 + 1);
    require_ok(tsr_topology_download(t, coordinates, mask));
    for (int64_t i = 0; i < info.tiles; i++) {
        uint64_t any = 0;
        for (int k = 0; k < 512; k++) {
            if (!(mask[i][k >> 6] >> (k & 63) & 1)) continue;
            any = 1;
            voxels++;
            assert_true(dense_bit(v, (coordinates[i][0] - shift[0]) * 8 + (k & 7), (coordinates[i][1] - shift[1]) * 8 + (k >> 3 & 7),
                                  (coordinates[i][2] - shift[2]) * 8 + (k >> 6)));
        }
        assert_true(any);
        if (i)
            assert_true(tsr_key_make(coordinates[i][0], coordinates[i][1], coordinates[i][2]) >
                        tsr_key_make(coordinates[i - 1][0], coordinates[i - 1][1], coordinates[i - 1][2]));
    }
    for (int i = 0; i < N * N * N; i++) expected += v[i];
    assert_true(voxels == expected && info.voxels == expected);
    free(coordinates);
    free(mask);
}

static void dilated(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    static uint8_t v[N * N * N], w[N * N * N];
    static const int shifts[3][3] = { { 0, 0, 0 }, { -3, -2, -4 }, { 100000, -100000, 7 } };
    const char *device = getenv("TESSERA_DEVICE");
    for (int threads = 1; threads <= 7; threads += 3) { /* the last in the memory of the device */
        if (threads == 7 && (!device || !strcmp(device, "cpu"))) continue;
        tsr_context *context = test_context_on(threads == 7 ? device : "cpu", threads == 7 ? 1 : threads);
        for (int trial = threads == 7; trial < 12; trial += 1 + (threads == 7))
            for (int neighbours = 6; neighbours <= 26; neighbours = neighbours == 6 ? 18 : neighbours + 8) {
                memset(v, 0, sizeof v);
                for (int i = 0; i < N * N * N; i++) { /* away from the border of the dense array */
                    const int x = i % N, y = i / N % N, z = i / N / N, border = x < 4 || y < 4 || z < 4 || x >= N - 4 || y >= N - 4 || z >= N - 4;
                    const double r = sqrt((x - 24) * (x - 24) + (y - 23) * (y - 23) + (z - 25) * (z - 25));
                    v[i] = !border && (trial % 3 == 0   ? test_random(&random) % 2000 == 0
                                       : trial % 3 == 1 ? fabs(r - 16) < 1.2
                                                        : test_random(&random) % 3 == 0);
                }
                if (trial == 11) memset(v, 0, sizeof v);
                tsr_topology *t = topology_of(v, shifts[trial % 3]), *d;
                check_topology(t, v, shifts[trial % 3]);
                if (threads == 7) {
                    tsr_topology *there;
                    require_ok(tsr_topology_copy(t, context, &there));
                    check_topology(there, v, shifts[trial % 3]);
                    tsr_topology_destroy(&t);
                    t = there;
                }
                const int steps = trial % 4;
                for (int s = 0; s < steps; s++) {
                    dense_step(v, neighbours, w);
                    memcpy(v, w, sizeof v);
                }
                require_ok(tsr_topology_dilate(context, t, steps, neighbours, &d));
                check_topology(d, v, shifts[trial % 3]);
                tsr_topology_destroy(&d);
                tsr_topology_destroy(&t);
            }
        tsr_context_destroy(&context);
    }
}

/* Steps one by one on a device and at once on the host: the same sets, and the box is theirs, not a tile larger for every step there was. */
static void dilated_long(void **unused)
{
    (void)unused;
    enum { STEPS = 26 };
    static const int32_t kinds[3] = { 6, 18, 26 };
    tsr_context *context = test_context(), *host = test_context_on("cpu", 1);
    for (int kind = 0; kind < 3; kind++) {
        /* a corner and the middle of tiles; from the end of the coordinates as far as the steps go: the set stays where the next one is possible */
        const int32_t last = TSR_KEY_BIAS - 4 - STEPS / 8, at[3][3] = { { -2, 3, 5 }, { 1, 3, 5 }, { last, -last, last } };
        const uint64_t mask[3][8] = { { 1 }, { [4] = UINT64_C(1) << 36 }, { [4] = UINT64_C(1) << 36 } };
        for (int far = 0; far < 2; far++) {
            tsr_topology *t, *now, *next, *whole, *back;
            tsr_topology_info info = TSR_TOPOLOGY_INFO;
            int32_t lower[3] = { INT32_MAX, INT32_MAX, INT32_MAX }, upper[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
            require_ok(tsr_topology_create(far ? 1 : 2, at + 2 * far, mask + 2 * far, &t));
            require_ok(tsr_topology_copy(t, context, &now));
            for (int s = 0; s < STEPS; s++) {
                require_ok(tsr_topology_dilate(context, now, 1, kinds[kind], &next));
                tsr_topology_destroy(&now);
                now = next;
            }
            require_ok(tsr_topology_dilate(host, t, STEPS, kinds[kind], &whole));
            require_ok(tsr_topology_copy(now, NULL, &back));
            assert_true(back->count == whole->count && whole->count > 0);
            assert_memory_equal(back->keys, whole->keys, (size_t)whole->count * sizeof *whole->keys);
            assert_memory_equal(back->mask, whole->mask, (size_t)whole->count * sizeof *whole->mask);
            for (int64_t i = 0; i < whole->count; i++) {
                const int32_t place[3] = { tsr_key_x(whole->keys[i]), tsr_key_y(whole->keys[i]), tsr_key_z(whole->keys[i]) };
                for (int k = 0; k < 3; k++) {
                    lower[k] = tsr_mini(lower[k], place[k]);
                    upper[k] = tsr_maxi(upper[k], place[k]);
                }
            }
            if (now->context) {
                assert_memory_equal(now->lower, lower, sizeof lower);
                assert_memory_equal(now->upper, upper, sizeof upper);
            }
            tsr_topology_describe(now, &info);
            const int64_t side = 2 * STEPS + 1;
            if (far && kinds[kind] == 26) assert_true(info.voxels == side * side * side);
            if (far && kinds[kind] == 6)
                assert_true(info.voxels == (2 * STEPS + 1) * (2 * STEPS * STEPS + 2 * STEPS + 3) / 3); /* centred octahedral numbers */
            tsr_topology_destroy(&t);
            tsr_topology_destroy(&now);
            tsr_topology_destroy(&whole);
            tsr_topology_destroy(&back);
        }
    }
    tsr_context_destroy(&host);
    tsr_context_destroy(&context);
}

static void active_sets(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(context, &list_kinds[k]);
        tsr_topology *t;
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_topology_info about = TSR_TOPOLOGY_INFO;
        require_ok(tsr_topology_of_tiles(tiles, &t));
        require_ok(tsr_tiles_describe(tiles, &info));
        tsr_topology_describe(t, &about);
        assert_true(about.voxels == info.active_voxels);
        tsr_topology_destroy(&t);
        tsr_tiles_destroy(&tiles);
    }
    tsr_topology *t, *d;
    const int32_t far[1][3] = { { 0, 1048574, 0 } }, outside[1][3] = { { 0, 0, 1048575 } };
    const uint64_t full[1][8] = { { 1, 0, 0, 0, 0, 0, 0, 0 } };
    require_ok(tsr_topology_create(1, far, full, &t));
    for (int32_t k = 0; k < 12; k++) { /* the outermost tiles that are dilated, and those beyond them */
        const int32_t last = (k & 2 ? -1048573 : 1048572) + (k & 2 ? -(k & 1) : k & 1);
        int32_t at[1][3] = { { 0, 0, 0 } };
        at[0][k / 4] = last;
        tsr_topology *limit;
        require_ok(tsr_topology_create(1, (const int32_t(*)[3])at, full, &limit));
        if (k & 1) require_error(tsr_topology_dilate(context, limit, 1, 6, &d), TSR_ERROR_ARGUMENT, "limits of the coordinates");
        else {
            require_ok(tsr_topology_dilate(context, limit, 1, 6, &d));
            tsr_topology_destroy(&d);
        }
        tsr_topology_destroy(&limit);
    }
    require_error(tsr_topology_dilate(context, t, 1, 6, &d), TSR_ERROR_ARGUMENT, "limits of the coordinates");
    require_error(tsr_topology_dilate(context, t, 1, 7, &d), TSR_ERROR_ARGUMENT, "7 neighbours");
    require_error(tsr_topology_dilate(context, t, -1, 6, &d), TSR_ERROR_ARGUMENT, "-1 steps");
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) { /* on a device its box is what counts */
        const int32_t apart[2][3] = { { -40000, -40000, -40000 }, { 40000, 40000, 40000 } };
        const uint64_t both[2][8] = { { 1 }, { 1 } };
        tsr_context *other = test_context();
        tsr_topology *there;
        require_ok(tsr_topology_copy(t, context, &there));
        require_error(tsr_topology_dilate(context, there, 1, 6, &d), TSR_ERROR_ARGUMENT, "limits of the coordinates");
        require_error(tsr_topology_dilate(other, there, 1, 6, &d), TSR_ERROR_ARGUMENT, "another context");
        tsr_topology_destroy(&there);
        tsr_topology_destroy(&t);
        require_ok(tsr_topology_create(2, apart, both, &t));
        require_ok(tsr_topology_copy(t, context, &there));
        require_error(tsr_topology_dilate(context, there, 1, 6, &d), TSR_ERROR_CAPACITY, "box of 80003 x 80003 x 80003");
        tsr_topology_destroy(&there);
        tsr_context_destroy(&other);
    }
    tsr_topology_destroy(&t);
    require_error(tsr_topology_create(1, outside, full, &t), TSR_ERROR_ARGUMENT, "z of tile 0");
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sampled), cmocka_unit_test(world_and_boxes), cmocka_unit_test(refreshed),
                                        cmocka_unit_test(dilated), cmocka_unit_test(dilated_long),    cmocka_unit_test(active_sets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
