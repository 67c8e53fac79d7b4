/* .nvdb files: lists through the format and back; files of NanoVDB's own header, and its header on ours (nanovdb_peer, where it was built). */
#include "scratch.h"
#include "tile_lists.h"

#include "tiles/tiles_build.h"
#include "formats/grids/nvdb.h"
#include "tessera/csg.h"

/* The field at a voxel, anywhere; the list is on the host. */
static float value_at(const tsr_tiles *tiles, const tsr_tile_state *s, int32_t x, int32_t y, int32_t z)
{
    const tsr_tile_pool *p = &tiles->pool;
    const int32_t e = 1 << p->log2_edge, m = e - 1;
    uint32_t id = tsr_tile_find(p, tsr_pool_keys(p, s->list), p->id[s->list], s->count, s->background,
                                tsr_key_make(x >> p->log2_edge, y >> p->log2_edge, z >> p->log2_edge));
    return p->phi[s->phi][((int64_t)id << (3 * p->log2_edge)) + ((z & m) * e + (y & m)) * e + (x & m)];
}

static void there_and_back(void **unused)
{
    (void)unused;
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 2);
    for (int k = 0; k < LIST_KINDS; k++)
        for (int32_t edge = 4; edge <= 8; edge += 4)
            for (int zip = 0; zip < 2; zip++) {
                tsr_tiles *tiles = make_list(context, &list_kinds[k]), *read, *a, *b;
                tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
                tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
                tsr_tile_state sa, sb;
                write.overwrite = 1;
                write.compression = zip ? 6 : 0;
                write.name = "käse";
                options.edge = edge;
                options.grid = "käse";
                require_ok(tsr_tiles_write(tiles, scratch("list.nvdb"), &write));
                require_ok(tsr_tiles_read(context, scratch("list.nvdb"), &options, &read));
                check_invariants(read);
                require_ok(tsr_tiles_copy(tiles, cpu, &a));
                require_ok(tsr_tiles_copy(read, cpu, &b));
                require_ok(tsr_tiles_read_state(a, &sa));
                require_ok(tsr_tiles_read_state(b, &sb));
                assert_int_equal(b->pool.log2_edge, edge == 8 ? 3 : 2);
                assert_true(sa.active_voxels == sb.active_voxels);
                assert_memory_equal(a->geometry.affine, b->geometry.affine, sizeof a->geometry.affine);
                const int32_t m = 20;
                for (int32_t z = -m; z < list_size.z + m; z++)
                    for (int32_t y = -m; y < list_size.y + m; y++)
                        for (int32_t x = -m; x < list_size.x + m; x += test_watches_threads() ? 5 : 1) {
                            const int out = a->pool.bounded && (x < 0 || y < 0 || z < 0 || x >= list_size.x || y >= list_size.y || z >= list_size.z);
                            assert_true(value_at(b, &sb, x, y, z) == (out ? a->pool.band : value_at(a, &sa, x, y, z)));
                        }
                tsr_tiles_file_info info = TSR_TILES_FILE_INFO;
                require_ok(tsr_tiles_file_describe(scratch("list.nvdb"), NULL, &info));
                assert_string_equal(info.name, "käse");
                assert_int_equal(info.active_voxels, sa.active_voxels);
                assert_string_equal(info.codec, zip ? "zip" : "none");
                tsr_tiles_destroy(&a);
                tsr_tiles_destroy(&b);
                tsr_tiles_destroy(&read);
                tsr_tiles_destroy(&tiles);
            }
    tsr_context_destroy(&context);
    tsr_context_destroy(&cpu);
    scratch_files(1);
}

/* An object larger than the blocks of the root: the inside is said by tiles of upper nodes and of the root. */
static void far_apart(void **unused)
{
    (void)unused;
    tsr_context *context = test_context_on("cpu", 2);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles, *back;
    tsr_tile_state sa, sb;
    options.domain = (tsr_size3){ 9000, 9, 9 };
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    tsr_volume *field;
    require_ok(tsr_volume_create(context, TSR_F32, options.domain, NULL, &field));
    float *v = (float *)tsr_volume_data(field);
    for (int64_t i = 0; i < 9000 * 81; i++) v[i] = (float)fabs((double)(i % 9000) - 4500) - 4400; /* inside from x = 100 to 8900 */
    require_ok(tsr_tiles_load(tiles, field));
    require_ok(tsr_tiles_write(tiles, scratch("far.nvdb"), NULL));
    require_ok(tsr_tiles_read(context, scratch("far.nvdb"), NULL, &back));
    require_ok(tsr_tiles_read_state(tiles, &sa));
    require_ok(tsr_tiles_read_state(back, &sb));
    for (int32_t x = 0; x < 9000; x++) assert_true(value_at(tiles, &sa, x, 4, 4) == value_at(back, &sb, x, 4, 4));
    tsr_volume_destroy(&field);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&back);
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* Domains that end within cells of the tree of every size, or with them: beyond lies the outside. */
static void borders(void **unused)
{
    (void)unused;
    static const tsr_size3 domains[] = { { 256, 128, 24 }, { 130, 16, 9 }, { 4104, 8, 3 }, { 8, 4096, 8 } };
    tsr_context *context = test_context_on("cpu", 2);
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        for (int half = 0; half < 2; half++) {
            const int32_t n[3] = { (int32_t)domains[i].x, (int32_t)domains[i].y, (int32_t)domains[i].z }, longest = n[1] > n[0];
            tsr_tiles_options options = TSR_TILES_OPTIONS;
            tsr_tiles *tiles, *back;
            tsr_tile_state sa, sb;
            tsr_volume *field;
            tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
            write.overwrite = 1;
            options.domain = domains[i];
            options.edge = half ? 4 : 8;
            require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
            require_ok(tsr_volume_create(context, TSR_F32, options.domain, NULL, &field));
            float *v = (float *)tsr_volume_data(field);
            for (int64_t k = 0; k < (int64_t)n[0] * n[1] * n[2]; k++)
                v[k] = half ? (float)(n[longest] / 2 - (longest ? k / n[0] % n[1] : k % n[0])) - 0.25f : -10;
            require_ok(tsr_tiles_load(tiles, field));
            require_ok(tsr_tiles_write(tiles, scratch("border.nvdb"), &write));
            require_ok(tsr_tiles_read(context, scratch("border.nvdb"), NULL, &back));
            check_invariants(back);
            require_ok(tsr_tiles_read_state(tiles, &sa));
            require_ok(tsr_tiles_read_state(back, &sb));
            assert_true(sa.active_voxels == sb.active_voxels && (sa.active_voxels > 0) == half);
            const int32_t step = n[longest] > 1000 ? 3 : 1;
            for (int32_t z = -9; z < n[2] + 9; z++)
                for (int32_t y = -9; y < n[1] + 9; y += longest ? step : 1)
                    for (int32_t x = -9; x < n[0] + 9; x += longest ? 1 : step) {
                        const int in = x >= 0 && y >= 0 && z >= 0 && x < n[0] && y < n[1] && z < n[2];
                        assert_true(value_at(back, &sb, x, y, z) == (in ? value_at(tiles, &sa, x, y, z) : tiles->pool.band));
                    }
            tsr_volume_destroy(&field);
            tsr_tiles_destroy(&tiles);
            tsr_tiles_destroy(&back);
        }
    tsr_tiles_options options = TSR_TILES_OPTIONS; /* a plane is no surface */
    tsr_tiles *plane;
    options.domain = (tsr_size3){ 20, 1, 20 };
    require_ok(tsr_tiles_create(context, NULL, &options, &plane));
    require_error(tsr_tiles_write(plane, scratch("border.nvdb"), NULL), TSR_ERROR_UNSUPPORTED, "a level set in two dimensions (20 x 1 x 20 voxels)");
    tsr_tiles_destroy(&plane);
    tsr_tiles *ball, *rest; /* nor has a file an inside without end */
    require_ok(tsr_tiles_shape(context, NULL, NULL, &(tsr_shape){ .radius = 6 }, &ball));
    require_ok(tsr_tiles_complement(ball, &rest));
    require_error(tsr_tiles_write(rest, scratch("rest.nvdb"), NULL), TSR_ERROR_UNSUPPORTED, "the space around the surface is inside");
    tsr_tiles_destroy(&rest);
    tsr_tiles_destroy(&ball);
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* Leaves taken out of a file, a constant of either sign in their place: every voxel is what the file says, and nothing else has moved. */
static void holes(void **unused)
{
    (void)unused;
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 2);
    tsr_tiles *tiles = make_list(cpu, &list_kinds[0]);
    tsr_tile_state sa, sb;
    size_t size;
    require_ok(tsr_tiles_write(tiles, scratch("whole.nvdb"), NULL));
    require_ok(tsr_tiles_read_state(tiles, &sa));
    unsigned char *bytes = (unsigned char *)scratch_read("whole.nvdb", &size), *cut = (unsigned char *)malloc(size);
    uint64_t lower_offset, random = test_seed();
    uint32_t lowers;
    unsigned char *tree = cut + NVDB_FILE_HEADER + NVDB_META + strlen("tessera") + 1 + NVDB_GRID;
    for (int round = 0; round < 6; round++) {
        int32_t gone[8][3], count = 0;
        float value[8];
        memcpy(cut, bytes, size);
        memcpy(&lower_offset, tree + 8, sizeof lower_offset);
        memcpy(&lowers, tree + NVDB_TREE_NODES + 4, sizeof lowers);
        for (int tries = 0; count < 1 + round && tries < 100000; tries++) {
            unsigned char *node = tree + lower_offset + test_random(&random) % lowers * NVDB_LOWER;
            const int32_t c = (int32_t)(test_random(&random) % NVDB_LOWER_CELLS);
            int32_t low[3];
            int64_t offset;
            if (!(node[NVDB_LOWER_CHILDREN + c / 8] >> (c & 7) & 1)) continue;
            memcpy(&offset, node + NVDB_LOWER_TABLE + 8 * c, sizeof offset);
            memcpy(low, node + offset, sizeof low); /* the first active voxel lies in the leaf */
            for (int k = 0; k < 3; k++) gone[count][k] = low[k] >> 3;
            value[count] = test_random(&random) & 1 ? tiles->pool.band : -tiles->pool.band;
            memset(node + NVDB_LOWER_TABLE + 8 * c, 0, 8);
            memcpy(node + NVDB_LOWER_TABLE + 8 * c, &value[count], 4);
            node[NVDB_LOWER_CHILDREN + c / 8] &= (unsigned char)~(1u << (c & 7));
            count++;
        }
        assert_int_equal(count, 1 + round);
        for (int32_t edge = 4; edge <= 8; edge += 4) {
            tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
            tsr_tiles *read, *back;
            options.edge = edge;
            scratch_write("cut.nvdb", cut, size);
            require_ok(tsr_tiles_read(context, scratch("cut.nvdb"), &options, &read));
            check_invariants(read);
            require_ok(tsr_tiles_copy(read, cpu, &back));
            require_ok(tsr_tiles_read_state(back, &sb));
            for (int32_t z = -12; z < 50; z++)
                for (int32_t y = -12; y < 50; y++)
                    for (int32_t x = -12; x < 50; x += test_watches_threads() ? 5 : 1) {
                        float expected = value_at(tiles, &sa, x, y, z);
                        for (int32_t i = 0; i < count; i++)
                            if (gone[i][0] == x >> 3 && gone[i][1] == y >> 3 && gone[i][2] == z >> 3) expected = value[i];
                        assert_true(value_at(back, &sb, x, y, z) == expected);
                    }
            tsr_tiles_measures m = TSR_TILES_MEASURES; /* walks through all of the space around */
            require_ok(tsr_tiles_measure(read, &m));
            assert_true(m.components > 0);
            tsr_tiles_destroy(&back);
            tsr_tiles_destroy(&read);
        }
    }
    free(bytes);
    free(cut);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    tsr_context_destroy(&cpu);
    scratch_files(1);
}

/* ---- NanoVDB itself ---------------------------------------------------------------------------------------------------------------------------- */

static int have_peer(void)
{
#ifdef NANOVDB_PEER
    return 1;
#else
    print_message("skipped: NanoVDB's header is not installed (libnanovdb-dev)\n");
    return 0;
#endif
}
#ifndef NANOVDB_PEER
#define NANOVDB_PEER "false"
#endif

static FILE *peer(const char *verb, const char *file, const char *argument)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s %s %s", NANOVDB_PEER, verb, file, argument);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    return pipe;
}

/* Statistics straight from the list, in float64. */
struct direct {
    double low, high, sum, squares;
    int64_t count;
    int32_t first[3], last[3];
};
static struct direct direct_of(const tsr_tiles *tiles, const tsr_tile_state *s)
{
    const tsr_tile_pool *p = &tiles->pool;
    const int32_t e = 1 << p->log2_edge;
    struct direct d = { 1e30, -1e30, 0, 0, 0, { INT32_MAX, INT32_MAX, INT32_MAX }, { INT32_MIN, INT32_MIN, INT32_MIN } };
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t k = 0; k < e * e * e; k++) {
            const uint64_t key = tsr_pool_key(p, s->list, i);
            const double v = (double)p->phi[s->phi][((int64_t)p->id[s->list][i] << (3 * p->log2_edge)) + k];
            const int32_t at[3] = { tsr_key_x(key) * e + k % e, tsr_key_y(key) * e + k / e % e, tsr_key_z(key) * e + k / (e * e) };
            if (beyond(p, key, k) || !(fabs(v) < (double)p->band)) continue;
            d.low = fmin(d.low, v);
            d.high = fmax(d.high, v);
            d.sum += v;
            d.squares += v * v;
            d.count++;
            for (int a = 0; a < 3; a++) {
                d.first[a] = at[a] < d.first[a] ? at[a] : d.first[a];
                d.last[a] = at[a] > d.last[a] ? at[a] : d.last[a];
            }
        }
    return d;
}

static void opened_by_nanovdb(void **unused)
{
    (void)unused;
    if (!have_peer()) return;
    tsr_context *context = test_context_on("cpu", 2);
    uint64_t random = test_seed();
    for (int k = 0; k < LIST_KINDS; k++) {
        enum { POINTS = 3000 };
        tsr_tiles *tiles = make_list(context, &list_kinds[k]);
        tsr_tile_state s;
        int32_t(*at)[3] = (int32_t(*)[3])malloc(POINTS * sizeof *at);
        require_ok(tsr_tiles_write(tiles, scratch("ours.nvdb"), NULL));
        require_ok(tsr_tiles_read_state(tiles, &s));
        FILE *list = fopen(scratch("points.txt"), "w");
        for (int i = 0; i < POINTS; i++) {
            const int margin = 30;
            const int64_t n[3] = { list_size.x, list_size.y, list_size.z };
            for (int a = 0; a < 3; a++) at[i][a] = (int32_t)(test_random(&random) % (uint64_t)(n[a] + 2 * margin)) - margin;
            fprintf(list, "%d %d %d\n", at[i][0], at[i][1], at[i][2]);
        }
        fclose(list);
        FILE *pipe = peer("read", scratch("ours.nvdb"), scratch("points.txt"));
        unsigned long long active;
        double background, p[6], statistics[4];
        unsigned leaves;
        int good, box[6];
        assert_int_equal(fscanf(pipe, "%llu %lf %u %d", &active, &background, &leaves, &good), 4);
        assert_int_equal(good, 1); /* NanoVDB's validator */
        assert_true((int64_t)active == s.active_voxels);
        assert_true((float)background == tiles->pool.band);
        for (int i = 0; i < 6; i++) assert_int_equal(fscanf(pipe, "%lf", &p[i]), 1);
        const tsr_vec3 world = tsr_geometry_to_world(&tiles->geometry, (tsr_vec3){ 1, 2, 3 });
        assert_true(fabs(p[0] - world.x) + fabs(p[1] - world.y) + fabs(p[2] - world.z) < 1e-12);
        assert_true(fabs(p[3] - 1) + fabs(p[4] - 2) + fabs(p[5] - 3) < 1e-12);
        for (int i = 0; i < 4; i++) assert_int_equal(fscanf(pipe, "%lf", &statistics[i]), 1);
        for (int i = 0; i < 6; i++) assert_int_equal(fscanf(pipe, "%d", &box[i]), 1);
        const struct direct d = direct_of(tiles, &s);
        if (d.count) {
            const double mean = d.sum / (double)d.count;
            assert_true((float)statistics[0] == (float)d.low && (float)statistics[1] == (float)d.high);
            assert_true(fabs(statistics[2] - mean) < 1e-5 && fabs(statistics[3] - sqrt(d.squares / (double)d.count - mean * mean)) < 1e-5);
            for (int a = 0; a < 3; a++) assert_true(box[a] == d.first[a] && box[3 + a] == d.last[a]);
        }
        for (int i = 0; i < POINTS; i++) {
            double v;
            int on;
            assert_int_equal(fscanf(pipe, "%lf %d", &v, &on), 2);
            const int64_t n[3] = { list_size.x, list_size.y, list_size.z };
            int out = 0; /* beyond a domain a file says outside */
            for (int a = 0; a < 3; a++) out |= tiles->pool.bounded && (at[i][a] < 0 || at[i][a] >= n[a]);
            const float own = out ? tiles->pool.band : value_at(tiles, &s, at[i][0], at[i][1], at[i][2]);
            assert_true((float)v == own);
            assert_int_equal(on, own > -tiles->pool.band && own < tiles->pool.band);
        }
        assert_int_equal(pclose(pipe), 0);
        free(at);
        tsr_tiles_destroy(&tiles);
        scratch_files(1);
    }
    tsr_context_destroy(&context);
}

/* Level sets made by NanoVDB: as many active voxels as it says, and distances of the analytic shape. */
static void made_by_nanovdb(void **unused)
{
    (void)unused;
    if (!have_peer()) return;
    static const struct {
        const char *kind;
        double h, tolerance;
    } kinds[] = { { "sphere", 0.5, 1e-5 }, { "zip", 0.5, 1e-5 }, { "torus", 1, 1e-4 }, { "fp4", 1, 0.45 },
                  { "fp8", 1, 0.03 },      { "fp16", 1, 2e-4 },  { "fpn", 1, 0.3 } };
    tsr_context *context = test_context_on("cpu", 2);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int32_t edge = 4; edge <= 8; edge += 4) {
            tsr_tiles *tiles;
            tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
            unsigned long long active;
            options.edge = edge;
            FILE *pipe = peer("write", scratch("theirs.nvdb"), kinds[k].kind);
            assert_int_equal(fscanf(pipe, "%llu", &active), 1);
            assert_int_equal(pclose(pipe), 0);
            require_ok(tsr_tiles_read(context, scratch("theirs.nvdb"), &options, &tiles));
            check_invariants(tiles);
            tsr_tile_state s;
            require_ok(tsr_tiles_read_state(tiles, &s));
            if (kinds[k].tolerance < 1e-3) assert_true(s.active_voxels == (int64_t)active); /* coarse codes may reach the band's edge */
            const tsr_geometry *g = tsr_tiles_geometry(tiles);
            assert_true(fabs(tsr_geometry_spacing(g).x - kinds[k].h) < 1e-12);
            const int32_t e = edge;
            int64_t seen = 0;
            for (int32_t i = 0; i < s.count; i++)
                for (int32_t v = 0; v < e * e * e; v++) {
                    const uint64_t key = tsr_pool_key(&tiles->pool, s.list, i);
                    const tsr_vec3 p = tsr_geometry_to_world(
                        g, (tsr_vec3){ tsr_key_x(key) * e + v % e, tsr_key_y(key) * e + v / e % e, tsr_key_z(key) * e + v / (e * e) });
                    const double x = p.x - 3, y = p.y + 20, z = p.z - 40, band = (double)tiles->pool.band, r = sqrt(x * x + z * z) - 30;
                    const double exact = strcmp(kinds[k].kind, "torus") ? sqrt(x * x + y * y + z * z) - 20 : sqrt(r * r + y * y) - 10;
                    const double value = (double)tiles->pool.phi[s.phi][(int64_t)tiles->pool.id[s.list][i] * e * e * e + v];
                    assert_true(fabs(value - fmin(fmax(exact, -band), band)) < kinds[k].tolerance);
                    seen++;
                }
            assert_true(seen > 10000);
            assert_true(value_at(tiles, &s, (int32_t)(3 / kinds[k].h), (int32_t)(-20 / kinds[k].h), (int32_t)(40 / kinds[k].h)) ==
                        (strcmp(kinds[k].kind, "torus") ? -tiles->pool.band : tiles->pool.band));
            tsr_tiles_destroy(&tiles);
        }
    FILE *pipe = peer("write", scratch("fog.nvdb"), "fog");
    while (fgetc(pipe) != EOF) {}
    assert_int_equal(pclose(pipe), 0);
    tsr_tiles *tiles;
    require_error(tsr_tiles_read(context, scratch("fog.nvdb"), NULL, &tiles), TSR_ERROR_FORMAT, "is a volume (nvdb-fog)");
    tsr_volume *fog; /* 1 inside of the sphere of radius 20, falling to 0 over its outer 3 voxels */
    require_ok(tsr_volume_read(scratch("fog.nvdb"), NULL, &fog));
    const tsr_size3 n = tsr_volume_size(fog);
    assert_true(n.x == n.y && n.y == n.z && n.x >= 39 && n.x <= 41);
    for (int64_t v = 0; v < n.x * n.y * n.z; v++) {
        const tsr_vec3 at = tsr_geometry_to_world(tsr_volume_geometry(fog), (tsr_vec3){ (double)(v % n.x), (double)(v / n.x % n.y), (double)(v / n.x / n.y) });
        const double r = sqrt((at.x - 3) * (at.x - 3) + (at.y + 20) * (at.y + 20) + (at.z - 40) * (at.z - 40));
        const float value = ((const float *)tsr_volume_data_const(fog))[v];
        if (fabs((double)value - fmin(fmax((20 - r) / 3, 0), 1)) > 1e-5) fail_msg("fog at distance %g is %g", r, (double)value);
    }
    tsr_volume_destroy(&fog);
    tsr_tiles_read_options named = TSR_TILES_READ_OPTIONS;
    named.format = "nvdb"; /* read as a list of tiles in spite of that */
    require_error(tsr_tiles_read(context, scratch("fog.nvdb"), &named, &tiles), TSR_ERROR_UNSUPPORTED, "is a level set");
    named.grid = "sphere_fog";
    require_error(tsr_tiles_read(context, scratch("fog.nvdb"), &named, &tiles), TSR_ERROR_UNSUPPORTED, "a fog volume");
    named.grid = "nix";
    require_error(tsr_tiles_read(context, scratch("fog.nvdb"), &named, &tiles), TSR_ERROR_FORMAT, "no grid named 'nix'");
    tsr_context_destroy(&context);
    scratch_files(1);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------------------------------------- */

static void damaged(void **unused)
{
    (void)unused;
    enum { META = NVDB_FILE_HEADER, GRID = META + NVDB_META + 8, TREE = GRID + NVDB_GRID, ROOT = TREE + NVDB_TREE }; /* the name is "tessera" */
    static const struct {
        int at, width;
        uint64_t value;
        tsr_status status;
        const char *message;
    } lies[] = {
        { NVDB_FILE_VERSION, 4, 31u << 21, TSR_ERROR_UNSUPPORTED, "version 31.0" },
        { NVDB_FILE_GRIDS, 2, 0, TSR_ERROR_FORMAT, "without a grid" },
        { NVDB_FILE_GRIDS, 2, 2, TSR_ERROR_FORMAT, "bad.nvdb" },
        { NVDB_FILE_CODEC, 2, NVDB_CODEC_BLOSC, TSR_ERROR_UNSUPPORTED, "codec is blosc" },
        { NVDB_FILE_CODEC, 2, NVDB_CODEC_ZIP, TSR_ERROR_FORMAT, "is packed into" },
        { META + NVDB_META_GRID_SIZE, 8, 100, TSR_ERROR_FORMAT, "grid 'tessera'" },
        { META + NVDB_META_GRID_SIZE, 8, 1ull << 50, TSR_ERROR_FORMAT, "in memory" },
        { META + NVDB_META_FILE_SIZE, 8, 1ull << 62, TSR_ERROR_FORMAT, "truncated: grid 'tessera'" },
        { META + NVDB_META_FILE_SIZE, 8, UINT64_MAX, TSR_ERROR_FORMAT, "truncated: grid 'tessera' has -1 bytes" },
        { META + NVDB_META_TYPE, 4, 2, TSR_ERROR_UNSUPPORTED,
          "none of 1 grids is a level set of float32 or Fp4, Fp8, Fp16, FpN: 'tessera' is double, level set" },
        { META + NVDB_META_TYPE, 4, 20, TSR_ERROR_UNSUPPORTED, "'tessera' is index of active voxels (ValueOnIndex), level set" },
        { META + NVDB_META_NAME_SIZE, 4, 0xffffffffu, TSR_ERROR_FORMAT, "name of a grid has 4294967295 bytes" },
        { GRID, 8, 0, TSR_ERROR_FORMAT, "does not begin as one" },
        { GRID + NVDB_GRID_TYPE, 4, 6, TSR_ERROR_UNSUPPORTED, "element type 6 (vec3f)" },
        { GRID + NVDB_GRID_TYPE, 4, 19, TSR_ERROR_UNSUPPORTED, "is an index grid (index (ValueIndex)), whose values are read as a volume" },
        { GRID + NVDB_GRID_CLASS, 4, 3, TSR_ERROR_UNSUPPORTED, "expected a level set" },
        { GRID + NVDB_GRID_MAP + NVDB_MAP_MATRIX, 8, 0x7ff8000000000000ull, TSR_ERROR_FORMAT, "bad.nvdb" },
        { TREE + 24, 8, 1ull << 40, TSR_ERROR_FORMAT, "root lies at byte" },
        { TREE + 24, 8, UINT64_MAX, TSR_ERROR_FORMAT, "root lies at byte -1" },
        { TREE + NVDB_TREE_NODES, 4, 1, TSR_ERROR_FORMAT, "more than 1 leaves" },
        { TREE + NVDB_TREE_NODES, 4, 0xffffffffu, TSR_ERROR_FORMAT, "nodes need" },
        { TREE + NVDB_TREE_NODES + 4, 4, 0, TSR_ERROR_FORMAT, "more than 0 lower nodes" },
        { TREE + NVDB_TREE_NODES + 8, 4, 0, TSR_ERROR_FORMAT, "more than 0 upper nodes" },
        { ROOT + NVDB_ROOT_TILES, 4, 0xffffffffu, TSR_ERROR_FORMAT, "root has 4294967295 tiles" },
        { ROOT + NVDB_ROOT_BACKGROUND, 4, 0xbf800000u, TSR_ERROR_FORMAT, "background is -1" },
        { ROOT + NVDB_ROOT_BACKGROUND, 4, 0x7fc00000u, TSR_ERROR_FORMAT, "background is" },
        { ROOT + NVDB_ROOT + NVDB_ROOT_TILE_CHILD, 8, 1ull << 62, TSR_ERROR_FORMAT, "a upper node lies" },
        { ROOT + NVDB_ROOT + NVDB_ROOT_TILE_CHILD, 8, (uint64_t)-1000000, TSR_ERROR_FORMAT, "a upper node lies" },
    };
    tsr_context *context = test_context_on("cpu", 2);
    tsr_tiles *tiles = make_list(context, &list_kinds[1]), *back;
    size_t size;
    require_ok(tsr_tiles_write(tiles, scratch("good.nvdb"), NULL));
    unsigned char *bytes = (unsigned char *)scratch_read("good.nvdb", &size), *bad = (unsigned char *)malloc(size);
    for (size_t cut = 0; cut < size; cut += cut < 1200 ? 61 : size / 40 + 1) {
        scratch_write("bad.nvdb", bytes, cut);
        assert_int_equal(tsr_tiles_read(context, scratch("bad.nvdb"), NULL, &back), TSR_ERROR_FORMAT);
        assert_null(back);
    }
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(bad, bytes, size);
        memcpy(bad + lies[i].at, &lies[i].value, (size_t)lies[i].width);
        scratch_write("bad.nvdb", bad, size);
        require_error(tsr_tiles_read(context, scratch("bad.nvdb"), NULL, &back), lies[i].status, lies[i].message);
        assert_null(back);
    }
    memcpy(bad, bytes, size); /* the last leaf: a value that is not a number, where it is active */
    for (int n = 0; n < 512; n++)
        if (bad[size - NVDB_LEAF + NVDB_LEAF_MASK + n / 8] >> (n & 7) & 1) {
            const float nan = NAN;
            memcpy(bad + size - NVDB_LEAF + NVDB_LEAF_VALUES + 4 * n, &nan, 4);
            break;
        }
    scratch_write("bad.nvdb", bad, size);
    require_error(tsr_tiles_read(context, scratch("bad.nvdb"), NULL, &back), TSR_ERROR_FORMAT, "not finite");
    tsr_tiles_read_options options = TSR_TILES_READ_OPTIONS;
    options.memory_limit = 100000;
    require_error(tsr_tiles_read(context, scratch("good.nvdb"), &options, &back), TSR_ERROR_MEMORY, "memory limit is 100000");
    free(bytes);
    free(bad);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(there_and_back), cmocka_unit_test(far_apart),         cmocka_unit_test(borders),
                                        cmocka_unit_test(holes),          cmocka_unit_test(opened_by_nanovdb), cmocka_unit_test(made_by_nanovdb),
                                        cmocka_unit_test(damaged) };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
