/* .vdb files of OpenVDB through the program tessera-vdb: what OpenVDB itself says of every voxel is what the list holds, also of grids that do not close;
 * and lists written for it. Built where OpenVDB is. */
#include "scratch.h"
#include "tile_lists.h"

#include "tessera/io.h"
#include "tessera/tile_file.h"

static tsr_context *cpu;

static int run(const char *format, const char *a, const char *b, const char *c, char *message, size_t room)
{
    char command[2048];
    snprintf(command, sizeof command, format, a, b, c);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(message, 1, room - 1, pipe);
    message[n] = 0;
    while (fgetc(pipe) != EOF) {}
    return pclose(pipe);
}

static float value_at(const tsr_tiles *tiles, const tsr_tile_state *s, int32_t x, int32_t y, int32_t z)
{
    const tsr_tile_pool *p = &tiles->pool;
    const int32_t m = (1 << p->log2_edge) - 1;
    const uint32_t id = tsr_tile_find(p, tsr_pool_keys(p, s->list), p->id[s->list], s->count, s->background,
                                      tsr_key_make(x >> p->log2_edge, y >> p->log2_edge, z >> p->log2_edge));
    return p->phi[s->phi][((int64_t)id << (3 * p->log2_edge)) + ((((z & m) << p->log2_edge) + (y & m)) << p->log2_edge) + (x & m)];
}

/* The list of a grid of the file, "" = the first level set. */
static tsr_tiles *list_of(const char *file, const char *grid)
{
    char message[512];
    tsr_tiles *tiles;
    const int code = run(VDB_HELPER " read '%s' %s 2>&1 >'%s'", file, grid, scratch("list.tsr"), message, sizeof message);
    if (code) print_message("%s", message);
    assert_int_equal(code, 0);
    require_ok(tsr_tiles_read(cpu, scratch("list.tsr"), NULL, &tiles));
    return tiles;
}

static const char *points(uint64_t *random, int32_t count, int32_t low, int32_t high, int32_t (*at)[3])
{
    FILE *list = fopen(scratch("points.txt"), "w");
    for (int32_t i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) at[i][a] = low + (int32_t)(test_random(random) % (uint64_t)(high - low));
        fprintf(list, "%d %d %d\n", at[i][0], at[i][1], at[i][2]);
    }
    fclose(list);
    return scratch("points.txt");
}

/* Every value, active voxels and place in the world of a grid, as OpenVDB says. */
static void compare_with_openvdb(const char *file, const char *grid, const tsr_tiles *tiles, int32_t low, int32_t high, uint64_t *random)
{
    enum { POINTS = 6000 };
    int32_t(*at)[3] = (int32_t(*)[3])malloc(POINTS * sizeof *at);
    char command[1024];
    tsr_tile_state s;
    unsigned long long active;
    double background, p[3], v;
    int on;
    require_ok(tsr_tiles_read_state(tiles, &s));
    snprintf(command, sizeof command, VDB_PEER " read '%s' '%s' '%s'", file, grid, points(random, POINTS, low, high, at));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%llu %lf %lf %lf %lf", &active, &background, &p[0], &p[1], &p[2]), 5);
    assert_true((int64_t)active == s.active_voxels && (float)background == tiles->pool.band);
    const tsr_vec3 world = tsr_geometry_to_world(&tiles->geometry, (tsr_vec3){ 1, 2, 3 });
    assert_true(fabs(p[0] - world.x) + fabs(p[1] - world.y) + fabs(p[2] - world.z) < 1e-9 * (1 + fabs(p[0])));
    for (int32_t i = 0; i < POINTS; i++) {
        assert_int_equal(fscanf(pipe, "%lf %d", &v, &on), 2);
        const float own = value_at(tiles, &s, at[i][0], at[i][1], at[i][2]);
        assert_true(own == (float)v && on == (own > -tiles->pool.band && own < tiles->pool.band));
    }
    assert_int_equal(pclose(pipe), 0);
    free(at);
}

static const struct {
    const char *kind, *grid;
    int32_t low, high;
    int64_t components; /* of the surface read, -1: no surface in it */
} files[] = {
    { "sphere", "sphere", -40, 70, 1 },        { "zip", "sphere", -40, 70, 1 },    { "blosc", "sphere", -40, 70, 1 },
    { "plain", "sphere", -40, 70, 1 },         { "half", "sphere", -40, 70, 1 },   { "turned", "sphere", -40, 40, 1 },
    { "several", "second", -40, 40, 1 },       { "empty", "empty", -40, 40, 0 },   { "clipped", "clipped", -60, 60, 1 },
    { "clipped-far", "clipped", -30, 190, 1 }, { "pieces", "pieces", -40, 60, 1 }, { "bowl", "bowl", -40, 40, -1 },
};

/* A few bytes that say a list of gigabytes: refused by counting, not by taking the memory. */
static void large_constants(void **unused)
{
    (void)unused;
    static const struct {
        const char *kind, *limit, *expected;
    } cases[] = {
        { "cube-128", "", "an active tile of 128^3 voxels at (0, 0, 0) has the value 1 inside the band" },
        { "cube-4096", "", "an active tile of 4096^3 voxels at (0, 0, 0) has the value 1 inside the band" },
        { "inside-4096", "", "an inside of 4096^3 voxels at (0, 0, 0) ends without a band" },
        { "checkers", "--memory-limit 50000000", "bytes, the memory limit is 50000000" },
        { "sphere", "--memory-limit 100000", "bytes, the memory limit is 100000" },
    };
    char message[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(VDB_PEER " write '%s' %s %s", scratch("theirs.vdb"), cases[i].kind, "", message, sizeof message), 0);
        const int code = run("ulimit -v 4000000; " VDB_HELPER " %s read '%s' 2>&1 >'%s'", cases[i].limit, scratch("theirs.vdb"), scratch("none.tsr"),
                             message, sizeof message);
        if (!code || !strstr(message, cases[i].expected)) print_message("%s: %s", cases[i].kind, message);
        assert_true(code != 0 && strstr(message, cases[i].expected) && strstr(message, "theirs.vdb"));
    }
    assert_int_equal(run(VDB_PEER " write '%s' far-active %s %s", scratch("theirs.vdb"), "", "", message, sizeof message), 0);
    tsr_tiles *tiles = list_of(scratch("theirs.vdb"), ""), *same;
    assert_int_equal(run(VDB_PEER " write '%s' sphere %s %s", scratch("theirs.vdb"), "", "", message, sizeof message), 0);
    same = list_of(scratch("theirs.vdb"), "");
    tsr_tiles_info a = TSR_TILES_INFO, b = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &a));
    require_ok(tsr_tiles_describe(same, &b));
    assert_true(a.count == b.count && a.active_voxels == b.active_voxels);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&same);
    scratch_files(1);
}

static void made_by_openvdb(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    char message[512];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        assert_int_equal(run(VDB_PEER " write '%s' %s %s", scratch("theirs.vdb"), files[i].kind, "", message, sizeof message), 0);
        tsr_tiles *tiles = list_of(scratch("theirs.vdb"), "");
        check_invariants(tiles);
        compare_with_openvdb(scratch("theirs.vdb"), files[i].grid, tiles, files[i].low, files[i].high, &random);
        require_ok(tsr_tiles_measure(tiles, &m));
        print_message("%s: %lld tiles, %lld active voxels, volume %.0f, %lld pieces, %lld cavities\n", files[i].kind, (long long)m.tiles,
                      (long long)m.active_voxels, m.volume, (long long)m.components, (long long)m.cavities);
        if (files[i].components >= 0) assert_int_equal(m.components, files[i].components);
        tsr_tiles_destroy(&tiles);
    }
    assert_int_equal(run(VDB_PEER " write '%s' several %s %s", scratch("several.vdb"), "", "", message, sizeof message), 0);
    tsr_tiles *tiles = list_of(scratch("several.vdb"), "sphere"); /* the first by name is another */
    compare_with_openvdb(scratch("several.vdb"), "sphere", tiles, -40, 70, &random);
    tsr_tiles_destroy(&tiles);
    scratch_files(1);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *kind, *grid, *expected;
    } cases[] = {
        { "fog", "", "grid density (float, fog volume), expected a float level set" },
        { "unnamed-fog", "", "background of grid 'density' is 0" },
        { "frustum", "", "the grid has a frustum transform, expected an affine one" },
        { "several", "velocity", "grid velocity (vec3s, unknown), expected a float level set" },
        { "several", "density", "grid density (float, fog volume), expected a float level set" },
        { "several", "nix", "no grid named 'nix'" },
    };
    char message[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(VDB_PEER " write '%s' %s %s", scratch("theirs.vdb"), cases[i].kind, "", message, sizeof message), 0);
        assert_true(run(VDB_HELPER " read '%s' %s 2>&1 >'%s'", scratch("theirs.vdb"), cases[i].grid, scratch("none.tsr"), message, sizeof message) !=
                    0);
        if (!strstr(message, cases[i].expected) || !strstr(message, "theirs.vdb")) print_message("%s: %s", cases[i].expected, message);
        assert_true(strstr(message, cases[i].expected) && strstr(message, "theirs.vdb"));
    }
    scratch_files(1);
}

/* Lists of every kind for OpenVDB; beyond a domain lies the outside. Then back. */
static void opened_by_openvdb(void **unused)
{
    (void)unused;
    enum { POINTS = 3000 };
    uint64_t random = test_seed();
    char message[512], command[1024];
    for (int k = 0; k < LIST_KINDS; k++) {
        tsr_tiles *tiles = make_list(cpu, &list_kinds[k]), *back;
        int32_t at[POINTS][3];
        tsr_tile_state s;
        unsigned long long active;
        double background, p[3], v;
        int on;
        tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
        options.overwrite = 1;
        require_ok(tsr_tiles_write(tiles, scratch("ours.tsr"), &options));
        require_ok(tsr_tiles_read_state(tiles, &s));
        assert_int_equal(run(VDB_HELPER " write '%s' <'%s' 2>&1 %s", scratch("ours.vdb"), scratch("ours.tsr"), "", message, sizeof message), 0);
        snprintf(command, sizeof command, VDB_PEER " read '%s' tessera '%s'", scratch("ours.vdb"), points(&random, POINTS, -30, 75, at));
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_int_equal(fscanf(pipe, "%llu %lf %lf %lf %lf", &active, &background, &p[0], &p[1], &p[2]), 5);
        assert_true((int64_t)active == s.active_voxels);
        for (int i = 0; i < POINTS; i++) {
            const int64_t n[3] = { list_size.x, list_size.y, list_size.z };
            int out = 0;
            for (int a = 0; a < 3; a++) out |= tiles->pool.bounded && (at[i][a] < 0 || at[i][a] >= n[a]);
            assert_int_equal(fscanf(pipe, "%lf %d", &v, &on), 2);
            const float own = out ? tiles->pool.band : value_at(tiles, &s, at[i][0], at[i][1], at[i][2]);
            if ((float)v != own)
                print_message("%s at (%d, %d, %d): %g, expected %g\n", list_kinds[k].name, at[i][0], at[i][1], at[i][2], v, (double)own);
            assert_true((float)v == own);
        }
        assert_int_equal(pclose(pipe), 0);
        back = list_of(scratch("ours.vdb"), "");
        check_invariants(back);
        compare_with_openvdb(scratch("ours.vdb"), "tessera", back, -30, 75, &random);
        tsr_tiles_destroy(&back);
        tsr_tiles_destroy(&tiles);
        scratch_files(1);
    }
}

static int open_all(void **state)
{
    cpu = test_context_on("cpu", 2);
    return scratch_make(state);
}
static int close_all(void **state)
{
    tsr_context_destroy(&cpu);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(made_by_openvdb), cmocka_unit_test(refused), cmocka_unit_test(large_constants),
                                        cmocka_unit_test(opened_by_openvdb) };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
