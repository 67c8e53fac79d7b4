/* Fog volumes and other grids of .vdb files through the program tessera-vdb: OpenVDB itself says what every voxel is, of files it made and of those made here. */
#include "scratch.h"

#include "tessera/grid_file.h"

static void peer(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command, VDB_PEER " %s >/dev/null", words);
    assert_int_equal(system(command), 0);
}
static void make_theirs(const char *kind)
{
    char words[600];
    snprintf(words, sizeof words, "write '%s' %s", scratch("theirs.vdb"), kind);
    peer(words);
}

typedef struct said {
    int low[3], high[3], kind, half, trees;
    unsigned long long active;
    double corner[3];
} said;

/* What OpenVDB says of a grid and of `count` voxels of it; values by components. */
static void ask(const char *file, const char *grid, int count, int (*at)[3], int components, said *s, double *value)
{
    char command[1024];
    FILE *list = fopen(scratch("points.txt"), "w");
    for (int i = 0; i < count; i++) fprintf(list, "%d %d %d\n", at[i][0], at[i][1], at[i][2]);
    fclose(list);
    snprintf(command, sizeof command, VDB_PEER " values '%s' '%s' '%s'", file, grid, scratch("points.txt"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d %d %d %d %d %d %llu", &s->low[0], &s->low[1], &s->low[2], &s->high[0], &s->high[1], &s->high[2], &s->active),
                     7);
    assert_int_equal(fscanf(pipe, "%d %d %d %lf %lf %lf", &s->kind, &s->half, &s->trees, &s->corner[0], &s->corner[1], &s->corner[2]), 6);
    for (int i = 0; i < count * components; i++) assert_int_equal(fscanf(pipe, "%lf", &value[i]), 1);
    assert_int_equal(pclose(pipe), 0);
}

static double voxel(const tsr_volume *v, int64_t x, int64_t y, int64_t z)
{
    const tsr_size3 n = tsr_volume_size(v);
    const void *data = tsr_volume_data_const(v);
    const int64_t i = (z * n.y + y) * n.x + x;
    switch (tsr_volume_dtype(v)) {
    case TSR_F32: return (double)((const float *)data)[i];
    case TSR_F64: return ((const double *)data)[i];
    case TSR_I32: return (double)((const int32_t *)data)[i];
    case TSR_I64: return (double)((const int64_t *)data)[i];
    case TSR_U8: return (double)((const uint8_t *)data)[i];
    default: fail_msg("a type that no grid becomes"); return 0;
    }
}

enum { POINTS = 2000 };

/* All of a grid's box, and so many voxels of it, as OpenVDB has them. */
static void compare(const tsr_volume *v, const char *path, const char *grid, int components, int channel, uint64_t *random, said *s)
{
    char file[256]; /* the paths of scratch() take turns */
    snprintf(file, sizeof file, "%s", path);
    static int at[POINTS][3];
    static double value[3 * POINTS];
    const tsr_size3 n = tsr_volume_size(v);
    const tsr_geometry *g = tsr_volume_geometry(v);
    ask(file, grid, 0, at, components, s, value);
    assert_true(n.x == s->high[0] - s->low[0] + 1 && n.y == s->high[1] - s->low[1] + 1 && n.z == s->high[2] - s->low[2] + 1);
    for (int k = 0; k < 3; k++) assert_true(fabs(g->affine[k][3] - s->corner[k]) < 1e-9 * (1 + fabs(s->corner[k])));
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 3; k++) at[i][k] = s->low[k] + (int)(test_random(random) % (uint64_t)(s->high[k] - s->low[k] + 1));
    ask(file, grid, POINTS, at, components, s, value);
    for (int i = 0; i < POINTS; i++) {
        const double own = voxel(v, at[i][0] - s->low[0], at[i][1] - s->low[1], at[i][2] - s->low[2]);
        if (own != value[components * i + channel])
            print_message("%s at (%d, %d, %d): %.17g, expected %.17g\n", grid, at[i][0], at[i][1], at[i][2], own, value[components * i + channel]);
        assert_true(own == value[components * i + channel]);
    }
}

static void grids_of_every_type(void **unused)
{
    (void)unused;
    static const struct {
        const char *grid;
        tsr_dtype dtype;
        int components;
    } grids[] = { { "density", TSR_F32, 1 }, { "half", TSR_F32, 1 }, { "twin", TSR_F32, 1 }, { "heat", TSR_F64, 1 },    { "count", TSR_I32, 1 },
                  { "wide", TSR_I64, 1 },    { "solid", TSR_U8, 1 }, { "where", TSR_U8, 1 }, { "velocity", TSR_F32, 3 } };
    uint64_t random = test_seed();
    make_theirs("many");
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++)
        for (int c = 0; c < grids[k].components; c++) {
            tsr_read_options options = TSR_READ_OPTIONS;
            tsr_volume *v;
            said s;
            int64_t channels = 0;
            options.dataset = grids[k].grid;
            options.channel = c;
            options.channel_given = grids[k].components > 1;
            require_ok(tsr_volume_read(scratch("theirs.vdb"), &options, &v));
            assert_true(tsr_volume_dtype(v) == grids[k].dtype);
            compare(v, scratch("theirs.vdb"), grids[k].grid, grids[k].components, c, &random, &s);
            assert_string_equal(tsr_volume_meta(v, "vdb.name"), grids[k].grid);
            tsr_volume_parts(v, NULL, NULL, &channels);
            assert_int_equal(channels, grids[k].components);
            if (!strcmp(grids[k].grid, "density")) {
                assert_string_equal(tsr_volume_meta(v, "note"), "two\nlines");
                assert_string_equal(tsr_volume_meta(v, "frame"), "12");
                assert_string_equal(tsr_volume_meta(v, "creator"), "openvdb_peer");
            }
            tsr_volume_destroy(&v);
        }
    tsr_read_options options = TSR_READ_OPTIONS;
    tsr_volume *v;
    options.dataset = "velocity";
    require_error(tsr_volume_read(scratch("theirs.vdb"), &options, &v), TSR_ERROR_UNSUPPORTED, "options.channel 0 to 2");
    options.channel_given = 1;
    options.channel = 3;
    require_error(tsr_volume_read(scratch("theirs.vdb"), &options, &v), TSR_ERROR_ARGUMENT, "options.channel is 3");
    options = (tsr_read_options)TSR_READ_OPTIONS;
    options.dataset = "sphere";
    require_error(tsr_volume_read(scratch("theirs.vdb"), &options, &v), TSR_ERROR_FORMAT, "grid 'sphere' is a level set");
    options.dataset = "nix";
    require_error(tsr_volume_read(scratch("theirs.vdb"), &options, &v), TSR_ERROR_FORMAT,
                  "no grid named 'nix', the file holds count (int32, unknown)");
    options.dataset = "density";
    options.memory_limit = 1000;
    require_error(tsr_volume_read(scratch("theirs.vdb"), &options, &v), TSR_ERROR_MEMORY, "memory limit");
    scratch_files(1);
}

static void listed(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *type;
    } expected[] = { { "count", "int32, unknown" },
                     { "density", "float, fog volume" },
                     { "half", "float, fog volume, stored as half" },
                     { "sphere", "float, level set" },
                     { "twin", "float, fog volume, shares the tree of 'density'" },
                     { "velocity", "vec3s, unknown" } };
    tsr_contents *contents;
    tsr_contents_entry e;
    int32_t count = 0, met = 0;
    make_theirs("many");
    require_ok(tsr_file_contents(scratch("theirs.vdb"), NULL, &contents));
    while (tsr_contents_at(contents, count, &e)) {
        assert_string_equal(e.kind, "grid");
        assert_int_equal(e.axes, 3);
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
            if (!strcmp(e.name, expected[k].name)) {
                assert_string_equal(e.type, expected[k].type);
                assert_true(e.size[0] > 30 && e.size[1] > 30 && e.size[2] > 30);
                met++;
            }
        count++;
    }
    assert_int_equal(count, 10);
    assert_int_equal(met, sizeof expected / sizeof *expected);
    tsr_contents_destroy(&contents);
    scratch_files(1);
}

static void constants_of_many_voxels(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    tsr_volume *v;
    said s;
    tsr_file_kind kind;
    const char *format;
    make_theirs("tiles");
    require_ok(tsr_file_recognise(scratch("theirs.vdb"), &kind, &format));
    assert_true(kind == TSR_FILE_VOLUME && !strcmp(format, "vdb-fog"));
    require_ok(tsr_volume_read(scratch("theirs.vdb"), NULL, &v));
    compare(v, scratch("theirs.vdb"), "cloud", 1, 0, &random, &s);
    tsr_volume_destroy(&v);
    scratch_files(1);
}

/* Random values among zeros, at a place that is turned; what fits in halves is stored as halves. */
static tsr_volume *make_volume(tsr_dtype dtype, int half, uint64_t *random)
{
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.75, 2 }, (tsr_vec3){ 1000, -20, 3 }, TSR_SPACE_LPS);
    tsr_volume *v;
    const tsr_size3 n = { 37, 21, 140 };
    g.affine[0][1] = 0.25;
    require_ok(tsr_volume_create(NULL, dtype, n, &g, &v));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const uint64_t r = test_random(random);
        const double value = i % 3 ? (half ? (double)(r % 1000) / 8 : (double)(r % 1000000) / 7) : 0;
        switch (dtype) {
        case TSR_F32: ((float *)tsr_volume_data(v))[i] = (float)value; break;
        case TSR_F64: ((double *)tsr_volume_data(v))[i] = value; break;
        case TSR_I32: ((int32_t *)tsr_volume_data(v))[i] = (int32_t)value - 50; break;
        default: ((int64_t *)tsr_volume_data(v))[i] = (int64_t)(value * 1e9); break;
        }
    }
    require_ok(tsr_volume_set_meta(v, "note", "a text\nof two lines"));
    return v;
}

static void opened_by_openvdb(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        tsr_dtype dtype;
        int half;
    } cases[] = { { "single", TSR_F32, 0 }, { "halves", TSR_F32, 1 }, { "double", TSR_F64, 0 }, { "int", TSR_I32, 0 }, { "long", TSR_I64, 0 } };
    enum { FOG_CLASS = 2 }; /* of OpenVDB */
    uint64_t random = test_seed();
    tsr_volume *made[5], *back;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.format = "vdb-fog";
    for (size_t k = 0; k < 5; k++) { /* one joins the others */
        made[k] = make_volume(cases[k].dtype, cases[k].half, &random);
        require_ok(tsr_volume_set_meta(made[k], "vdb.name", cases[k].name));
        require_ok(tsr_volume_add_grid(made[k], scratch("ours.vdb"), &write));
    }
    for (size_t k = 0; k < 5; k++) {
        tsr_read_options read = TSR_READ_OPTIONS;
        said s;
        read.dataset = cases[k].name;
        require_ok(tsr_volume_read(scratch("ours.vdb"), &read, &back));
        compare(back, scratch("ours.vdb"), cases[k].name, 1, 0, &random, &s);
        assert_true(s.half == cases[k].half && (s.kind == FOG_CLASS) == (cases[k].dtype == TSR_F32 || cases[k].dtype == TSR_F64));
        const tsr_size3 n = tsr_volume_size(made[k]);
        int64_t active = 0;
        for (int64_t z = 0; z < n.z; z++) /* in the numbers of the volume itself, which OpenVDB counts from 0 */
            for (int64_t y = 0; y < n.y; y++)
                for (int64_t x = 0; x < n.x; x++) {
                    const double own = voxel(made[k], x, y, z);
                    active += own != 0;
                    if (x >= s.low[0] && y >= s.low[1] && z >= s.low[2] && x <= s.high[0] && y <= s.high[1] && z <= s.high[2])
                        assert_true(voxel(back, x - s.low[0], y - s.low[1], z - s.low[2]) == own);
                    else assert_true(own == 0);
                }
        assert_true(active == (int64_t)s.active);
        assert_string_equal(tsr_volume_meta(back, "note"), "a text\nof two lines");
        assert_true(tsr_volume_geometry(back)->space == TSR_SPACE_LPS);
        for (int i = 0; i < 9; i++)
            assert_true(fabs(tsr_volume_geometry(back)->affine[i / 3][i % 3] - tsr_volume_geometry(made[k])->affine[i / 3][i % 3]) < 1e-12);
        tsr_volume_destroy(&back);
    }
    require_error(tsr_volume_add_grid(made[0], scratch("ours.vdb"), &write), TSR_ERROR_FORMAT, "has a grid named 'single' already");
    require_error(tsr_volume_write(made[0], scratch("ours.vdb"), &write), TSR_ERROR_IO, "exists");
    write.compression = 5;
    write.overwrite = 1;
    require_error(tsr_volume_write(made[0], scratch("ours.vdb"), &write), TSR_ERROR_ARGUMENT, "packed by OpenVDB");
    assert_int_equal(scratch_files(0), 2); /* the file and the points that were asked for: nothing half-written beside */
    for (size_t k = 0; k < 5; k++) tsr_volume_destroy(&made[k]);
    scratch_files(1);
}

/* A tree that two grids share stays one when a third joins them. */
static void shared_trees_stay(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    tsr_volume *v = make_volume(TSR_F32, 0, &random);
    tsr_write_options write = TSR_WRITE_OPTIONS;
    int at[1][3];
    double value[1];
    said s;
    make_theirs("many");
    write.format = "vdb-fog";
    require_ok(tsr_volume_set_meta(v, "vdb.name", "third"));
    require_ok(tsr_volume_add_grid(v, scratch("theirs.vdb"), &write));
    ask(scratch("theirs.vdb"), "twin", 0, at, 1, &s, value);
    assert_int_equal(s.trees, 2);
    ask(scratch("theirs.vdb"), "third", 0, at, 1, &s, value);
    assert_int_equal(s.trees, 1);
    tsr_volume_destroy(&v);
    scratch_files(1);
}

static void damaged(void **unused)
{
    (void)unused;
    size_t size;
    tsr_volume *v;
    make_theirs("tiles");
    uint8_t *bytes = (uint8_t *)scratch_read("theirs.vdb", &size);
    scratch_write("cut.vdb", bytes, size / 2);
    require_error(tsr_volume_read(scratch("cut.vdb"), NULL, &v), TSR_ERROR_FORMAT, "cut.vdb: ");
    setenv("TESSERA_VDB", "/nowhere/tessera-vdb", 1);
    assert_true(tsr_volume_read(scratch("theirs.vdb"), NULL, &v) != TSR_OK);
    setenv("TESSERA_VDB", VDB_HELPER, 1);
    free(bytes);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(grids_of_every_type),      cmocka_unit_test(listed),
                                        cmocka_unit_test(constants_of_many_voxels), cmocka_unit_test(opened_by_openvdb),
                                        cmocka_unit_test(shared_trees_stay),        cmocka_unit_test(damaged) };
    setenv("TESSERA_VDB", VDB_HELPER, 1);
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
