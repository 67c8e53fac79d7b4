/* Fog volumes of NanoVDB: a level set that calls itself fog comes back as the dense values that it was made of, at their places. */
#include "scratch.h"
#include "tile_lists.h"

#include "tessera/grid_file.h"

static tsr_context *cpu;

static int make_context(void **state)
{
    tsr_context_options options = { .struct_size = sizeof options, .device = "cpu" };
    if (tsr_context_create(&options, &cpu) != TSR_OK) return -1;
    return scratch_make(state);
}
static int destroy_context(void **state)
{
    tsr_context_destroy(&cpu);
    return scratch_remove(state);
}

/* The class of the grid, in the list of the file and in the grid itself. */
static void call_it_fog(uint8_t *bytes, size_t size)
{
    uint32_t length;
    memcpy(&length, bytes + 16 + 136, 4);
    const size_t grid = 16 + 176 + length;
    assert_true(size > grid + 672);
    bytes[16 + 36] = 2;
    bytes[grid + 632] = 2;
}

static void values_and_places(void **state)
{
    (void)state;
    const list_kind hollow = { "fog", 8, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 5 };
    tsr_tiles *tiles = make_list(cpu, &hollow);
    tsr_tiles_write_options plain = TSR_TILES_WRITE_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_volume *v;
    size_t size;
    plain.overwrite = 1;
    plain.compression = -1;
    require_ok(tsr_tiles_describe(tiles, &info));
    require_ok(tsr_tiles_write(tiles, scratch("level.nvdb"), &plain));
    require_error(tsr_volume_read(scratch("level.nvdb"), NULL, &v), TSR_ERROR_FORMAT, "tile list");
    uint8_t *bytes = (uint8_t *)scratch_read("level.nvdb", &size);
    call_it_fog(bytes, size);
    scratch_write("fog.nvdb", bytes, size);
    require_ok(tsr_volume_read(scratch("fog.nvdb"), NULL, &v));
    const tsr_size3 n = tsr_volume_size(v);
    const tsr_geometry *g = tsr_volume_geometry(v), all = list_geometry(TSR_SPACE_NONE);
    const tsr_vec3 corner = { g->affine[0][3], g->affine[1][3], g->affine[2][3] };
    tsr_vec3 low;
    require_ok(tsr_geometry_to_index(&all, corner, &low));
    const int64_t at[3] = { llround(low.x), llround(low.y), llround(low.z) };
    assert_true(fabs(low.x - (double)at[0]) < 1e-4 && fabs(low.y - (double)at[1]) < 1e-4 && fabs(low.z - (double)at[2]) < 1e-4);
    const float *data = (const float *)tsr_volume_data_const(v);
    int64_t found = 0, expected = 0;
    const float band = tiles->pool.band;
    for (int64_t z = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++) {
                const float value = data[(z * n.y + y) * n.x + x], made = list_value(5, x + at[0], y + at[1], z + at[2]);
                if (fabsf(made) < band) found++;
                if (fabsf(value - (fabsf(made) < band ? made : value)) > 1e-6f)
                    fail_msg("voxel %lld %lld %lld is %g, expected %g", (long long)x, (long long)y, (long long)z, (double)value, (double)made);
            }
    for (int64_t z = 0; z < list_size.z; z++)
        for (int64_t y = 0; y < list_size.y; y++)
            for (int64_t x = 0; x < list_size.x; x++) expected += fabsf(list_value(5, x, y, z)) < band;
    assert_int_equal(found, expected);
    assert_true(found > 1000 && info.count > 10);
    tsr_volume_destroy(&v);
    for (size_t cut = 0; cut < size; cut += cut < 2048 ? 61 : size / 50) {
        tsr_read_options named = TSR_READ_OPTIONS;
        named.format = "nvdb-fog";
        scratch_write("cut.nvdb", bytes, cut);
        assert_true(tsr_volume_read(scratch("cut.nvdb"), &named, &v) != TSR_OK);
        assert_null(v);
    }
    free(bytes);
    tsr_tiles_destroy(&tiles);
    scratch_files(1);
}

/* Puffs with holes, far apart, some at the border: what is written is read back, and by NanoVDB's own header. */
static void written(void **state)
{
    (void)state;
    const tsr_size3 n = { 150, 37, 29 };
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.25, 2 }, (tsr_vec3){ 10, -20, 30 }, TSR_SPACE_NONE);
    tsr_volume *fog, *back;
    int64_t active = 0, low[3] = { n.x, n.y, n.z }, high[3] = { -1, -1, -1 };
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &g, &fog));
    float *v = (float *)tsr_volume_data(fog);
    FILE *list = fopen(scratch("list.txt"), "w");
    assert_non_null(list);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const int64_t at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
        const int puff = (at[0] - 20) * (at[0] - 20) + at[1] * at[1] < 90 || at[0] > 140;
        v[i] = puff && (i * 2654435761u >> 7) % 3 ? (float)(at[0] + 200 * at[1] + 9000 * at[2]) * 0.125f - 300 : 0;
        for (int k = 0; k < 3 && v[i] != 0; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
        active += v[i] != 0;
        fprintf(list, "%d %d %d\n", (int)at[0], (int)at[1], (int)at[2]);
    }
    fclose(list);
    require_ok(tsr_volume_set_meta(fog, "nvdb.name", "smoke"));
    tsr_write_options options = TSR_WRITE_OPTIONS;
    options.overwrite = 1;
    for (int zip = 0; zip < 2; zip++) {
        options.compression = zip ? 3 : 0;
        require_ok(tsr_volume_write(fog, scratch("smoke.nvdb"), &options));
        require_ok(tsr_volume_read(scratch("smoke.nvdb"), NULL, &back));
        const tsr_size3 m = tsr_volume_size(back);
        assert_int_equal(m.x, high[0] - low[0] + 1);
        assert_int_equal(m.y, high[1] - low[1] + 1);
        assert_int_equal(m.z, high[2] - low[2] + 1);
        assert_string_equal(tsr_volume_meta(back, "nvdb.name"), "smoke");
        const double *row = &tsr_volume_geometry(back)->affine[0][0];
        for (int k = 0; k < 3; k++) assert_true(row[4 * k + 3] == g.affine[k][3] + g.affine[k][k] * (double)low[k] && row[5 * k] == g.affine[k][k]);
        const float *b = (const float *)tsr_volume_data_const(back);
        for (int64_t z = 0; z < m.z; z++)
            for (int64_t y = 0; y < m.y; y++)
                for (int64_t x = 0; x < m.x; x++)
                    if (b[(z * m.y + y) * m.x + x] != v[((z + low[2]) * n.y + y + low[1]) * n.x + x + low[0]])
                        fail_msg("voxel %lld %lld %lld", (long long)x, (long long)y, (long long)z);
        tsr_volume_destroy(&back);
    }
    require_error(tsr_volume_write(fog, scratch("smoke.nvdb"), NULL), TSR_ERROR_IO, "exists");
#ifdef NANOVDB_PEER
    char command[1024];
    unsigned long long count;
    double value, p[6];
    int kind, is_active;
    snprintf(command, sizeof command, "%s read %s ", NANOVDB_PEER, scratch("smoke.nvdb"));
    const size_t used = strlen(command);
    snprintf(command + used, sizeof command - used, "%s", scratch("list.txt"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%llu %lf %*u %d", &count, &value, &kind), 3);
    assert_int_equal(count, active);
    assert_int_equal(kind, 2);
    assert_true(value == 0);
    for (int k = 0; k < 6; k++) assert_int_equal(fscanf(pipe, "%lf", &p[k]), 1);
    assert_true(p[0] == 10.5 && p[1] == -19.5 && p[2] == 36);
    for (int k = 0; k < 10; k++) assert_int_equal(fscanf(pipe, "%lf", &value), 1);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        assert_int_equal(fscanf(pipe, "%lf %d", &value, &is_active), 2);
        if ((float)value != v[i] || is_active != (v[i] != 0)) fail_msg("NanoVDB: voxel %lld is %g, expected %g", (long long)i, value, (double)v[i]);
    }
    pclose(pipe);
#endif
    tsr_volume_destroy(&fog);
    scratch_files(2);
}

/* Grids join those of the file, packed and plain, fog and level sets: each is listed and read by its name. */
static void several_grids(void **state)
{
    (void)state;
    static const char *const names[] = { "smoke", "heat", "dust" };
    const list_kind hollow = { "fog", 8, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 5 };
    tsr_tiles *tiles = make_list(cpu, &hollow), *list;
    tsr_volume *v;
    tsr_write_options options = TSR_WRITE_OPTIONS;
    tsr_tiles_write_options manner = TSR_TILES_WRITE_OPTIONS;
    tsr_contents *contents;
    tsr_contents_entry e;
    options.format = "nvdb-fog";
    for (int k = 0; k < 3; k++) {
        const tsr_size3 n = { 9 + k, 11, 13 };
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &v));
        for (int64_t i = 0; i < tsr_volume_count(v); i++) ((float *)tsr_volume_data(v))[i] = (float)(i + 1 + 1000 * k);
        require_ok(tsr_volume_set_meta(v, "nvdb.name", names[k]));
        options.compression = k == 1 ? 4 : 0;
        require_ok(tsr_volume_add_grid(v, scratch("several.nvdb"), &options));
        if (k == 2) require_error(tsr_volume_add_grid(v, scratch("several.nvdb"), &options), TSR_ERROR_FORMAT, "has a grid named 'dust' already");
        tsr_volume_destroy(&v);
    }
    manner.name = "surface";
    require_ok(tsr_tiles_add_grid(tiles, scratch("several.nvdb"), &manner));
    require_ok(tsr_file_contents(scratch("several.nvdb"), NULL, &contents));
    for (int32_t k = 0; k < 4; k++) {
        assert_true(tsr_contents_at(contents, k, &e));
        assert_string_equal(e.name, k < 3 ? names[k] : "surface");
        assert_string_equal(e.type, k < 3 ? "float, fog volume" : "float, level set");
        if (k < 3) assert_true(e.axes == 3 && e.size[0] == 13 && e.size[1] == 11 && e.size[2] == 9 + k);
    }
    assert_false(tsr_contents_at(contents, 4, &e));
    tsr_contents_destroy(&contents);
    for (int k = 0; k < 3; k++) {
        tsr_read_options read = TSR_READ_OPTIONS;
        read.dataset = names[k];
        require_ok(tsr_volume_read(scratch("several.nvdb"), &read, &v));
        assert_int_equal(tsr_volume_size(v).x, 9 + k);
        for (int64_t i = 0; i < tsr_volume_count(v); i++) assert_true(((const float *)tsr_volume_data_const(v))[i] == (float)(i + 1 + 1000 * k));
        tsr_volume_destroy(&v);
    }
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    tsr_tiles_info a = TSR_TILES_INFO, b = TSR_TILES_INFO;
    read.grid = "surface"; /* the first grid is fog */
    require_ok(tsr_tiles_read(cpu, scratch("several.nvdb"), &read, &list));
    require_ok(tsr_tiles_describe(list, &a));
    require_ok(tsr_tiles_describe(tiles, &b));
    assert_int_equal(a.active_voxels, b.active_voxels);
    tsr_tiles_destroy(&list);
    tsr_tiles_destroy(&tiles);
    scratch_files(1);
}

/* ---- index grids: written here from the layout, one leaf at (8, 16, 24) and one tile beside it ----------------------------------------------------- */

enum {
    AT_GRID = 16 + 176 + 4,
    AT_TREE = AT_GRID + 672,
    AT_ROOT = AT_TREE + 64,
    AT_UPPER = AT_ROOT + 96 + 32,
    AT_LOWER = AT_UPPER + 270400,
    AT_LEAF = AT_LOWER + 33856,
    LEAF = 96,
    VALUES = 600
};

static void put(uint8_t *at, uint64_t v, int bytes) { memcpy(at, &v, (size_t)bytes); }

/* Voxel n of the leaf is active where n % 3 is not 0. A channel of floats, value k is k + 0.5, and one of doubles, -k. */
static size_t index_file(uint8_t *b, int type, int channels)
{
    const int on = type == 20 || type == 22, leaf = LEAF + (type > 20 ? 64 : 0), masks = AT_LEAF + leaf;
    const size_t size = (size_t)(masks + 288 * channels + VALUES * (channels ? 4 : 0) + VALUES * (channels > 1 ? 8 : 0)), grid = size - AT_GRID;
    memset(b, 0, size);
    memcpy(b, "NanoVDB2", 8);
    put(b + 8, 32u << 21 | 6u << 10, 4);
    put(b + 12, 1, 2);
    uint8_t *m = b + 16, *g = b + AT_GRID, *t = b + AT_TREE, *root = b + AT_ROOT, *upper = b + AT_UPPER, *lower = b + AT_LOWER, *l = b + AT_LEAF;
    put(m, grid, 8);
    put(m + 8, grid, 8);
    put(m + 32, (uint64_t)type, 4);
    put(m + 36, 8, 4);
    put(m + 136, 4, 4);
    memcpy(m + 176, "ids", 4);
    memcpy(g, "NanoVDB1", 8);
    put(g + 28, 1, 4);
    put(g + 32, grid, 8);
    for (int k = 0; k < 3; k++) {
        const double scale = 0.5, shift = k;
        memcpy(g + 296 + 88 + 32 * k, &scale, 8);
        memcpy(g + 296 + 232 + 8 * k, &shift, 8);
    }
    put(g + 632, 8, 4);
    put(g + 636, (uint64_t)type, 4);
    put(g + 640, (uint64_t)(masks - AT_GRID), 8);
    put(g + 648, (uint64_t)channels, 4);
    put(t + 24, AT_ROOT - AT_TREE, 8);
    for (int k = 0; k < 3; k++) put(t + 32 + 4 * k, 1, 4);
    put(root + 24, 1, 4);
    put(root + 96 + 8, AT_UPPER - AT_ROOT, 8); /* key 0 */
    upper[4128] = 1;
    put(upper + 8256, AT_LOWER - AT_UPPER, 8);
    const int cell = 1 << 8 | 2 << 4 | 3, tile = cell + 1; /* the tile at z = 32 */
    lower[544 + cell / 8] |= (uint8_t)(1 << cell % 8);
    put(lower + 1088 + 8 * cell, AT_LEAF - AT_LOWER, 8);
    lower[32 + tile / 8] |= (uint8_t)(1 << tile % 8);
    put(lower + 1088 + 8 * tile, 599, 8);
    for (int n = 0; n < 512; n++)
        if (n % 3) l[16 + n / 8] |= (uint8_t)(1 << n % 8);
    put(l + 80, on ? 1 : 7, 8);
    for (int c = 0, at = masks + 288 * channels; c < channels; at += VALUES * 4, c++) {
        uint8_t *head = b + masks + 288 * c;
        put(head, (uint64_t)(b + at - head), 8);
        put(head + 8, VALUES, 8);
        put(head + 16, c ? 8 : 4, 4);
        put(head + 24, 4, 4);
        put(head + 28, c ? 2 : 1, 4);
        memcpy(head + 32, c ? "minus" : "plus\0", 6);
        for (int k = 0; k < VALUES; k++) {
            const float f = (float)k + 0.5f;
            const double d = -k;
            memcpy(b + at + k * (c ? 8 : 4), c ? (const void *)&d : (const void *)&f, c ? 8 : 4);
        }
    }
    return size;
}

static void index_grids(void **state)
{
    (void)state;
    uint8_t *b = malloc(AT_LEAF + LEAF + 64 + 2 * 288 + VALUES * 12);
    tsr_read_options o = TSR_READ_OPTIONS;
    tsr_volume *v;
    for (int type = 19; type <= 22; type++) {
        const int on = type == 20 || type == 22;
        size_t size = index_file(b, type, 2);
        scratch_write("index.nvdb", b, size);
        o.channel_given = 0;
        require_error(tsr_volume_read(scratch("index.nvdb"), &o, &v), TSR_ERROR_UNSUPPORTED, "has 2 channels of values");
        o.channel_given = 1;
        for (o.channel = 0; o.channel < 2; o.channel++) {
            require_ok(tsr_volume_read(scratch("index.nvdb"), &o, &v));
            const tsr_size3 n = tsr_volume_size(v);
            assert_true(n.x == 8 && n.y == 8 && n.z == 16);
            assert_true(tsr_volume_geometry(v)->affine[2][3] == 24 * 0.5 + 2 && tsr_volume_geometry(v)->affine[0][3] == 8 * 0.5);
            assert_string_equal(tsr_volume_meta(v, "nvdb.channel"), o.channel ? "minus" : "plus");
            for (int i = 0; i < 1024; i++) {
                const int z = i & 15, y = i >> 4 & 7, x = i >> 7, k = x << 6 | y << 3 | (z & 7);
                const int before = (int)((int64_t)k - (k + 2) / 3); /* active ones in front: all but those that 3 divides */
                const int number = z > 7 ? 599 : on ? (k % 3 ? 1 + before : 0) : 7 + k;
                const float got = ((const float *)tsr_volume_data_const(v))[(z * 8 + y) * 8 + x];
                if (got != (o.channel ? -(float)number : (float)number + 0.5f))
                    fail_msg("type %d: voxel %d %d %d is %g, number %d", type, x, y, z, (double)got, number);
            }
            tsr_volume_destroy(&v);
        }
        require_error(tsr_volume_read(scratch("index.nvdb"), &o, &v), TSR_ERROR_ARGUMENT, "options.channel is 2, expected 0 to 1");
        for (size_t cut = 0; cut < size; cut += cut < 2048 ? 61 : size / 50) {
            scratch_write("cut.nvdb", b, cut);
            o.format = "nvdb-fog";
            assert_true(tsr_volume_read(scratch("cut.nvdb"), &o, &v) != TSR_OK);
            o.format = NULL;
        }
        o.channel = 0;
        put(b + AT_LEAF + 80, 1000, 8); /* numbers beyond the channel; a channel beyond the file */
        scratch_write("index.nvdb", b, size);
        require_error(tsr_volume_read(scratch("index.nvdb"), &o, &v), TSR_ERROR_FORMAT, "of 600");
        put(b + AT_LEAF + LEAF + (type > 20 ? 64 : 0) + 8, UINT64_MAX / 2, 8);
        scratch_write("index.nvdb", b, size);
        require_error(tsr_volume_read(scratch("index.nvdb"), &o, &v), TSR_ERROR_FORMAT, "values of grid 'ids' lie at byte");
        size = index_file(b, type, 0);
        scratch_write("index.nvdb", b, size);
        require_error(tsr_volume_read(scratch("index.nvdb"), &o, &v), TSR_ERROR_UNSUPPORTED, "without values");
    }
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values_and_places), cmocka_unit_test(written), cmocka_unit_test(several_grids),
                                        cmocka_unit_test(index_grids) };
    return cmocka_run_group_tests_name("fog volumes", tests, make_context, destroy_context);
}
