/* Tile lists of 16-bit values: the codes against their definition in float64 (docs/theory/tiles.md 6), what a list keeps when its storage changes,
 * solver runs beside float32 runs within the rounding of every store, the same bits on every backend, and refusals. */
#include "engine_support.h"
#include "formats/grids/tsr.h"
#include "tiles/tile_code.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"
#include "tessera/surface.h"

static double ball(double x, double y, double z) { return distance3(x, y, z, 12.3, 11.8, 12.1) - 7.4; }
static double cut_ball(double x, double y, double z) { return distance3(x, y, z, 2.2, 20.8, 5.1) - 9.3; }
static const tsr_size3 box24 = { 24, 24, 24 };

static double quantum(double band) { return band / 32767; }

/* ---- codes ------------------------------------------------------------------------------------------------------------------------------ */

static void codes(void **unused)
{
    (void)unused;
    const float bands[] = { 1.5f, 2.5f, 3.0f, 5.0f, 0.7345f, 1e-6f, 12345.678f, 0.1f };
    uint64_t seed = test_seed();
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
        const tsr_coding c = tsr_coding_of(bands[b]);
        const double band = (double)bands[b], unit = quantum(band);
        for (int32_t q = -32767; q <= 32767; q++) {
            const float v = tsr_code_value(&c, q);
            if (tsr_code_of(&c, v) != q) fail_msg("band %g: code %d comes back as %d", band, q, tsr_code_of(&c, v));
            if (abs(q) == 32767) assert_true(v == (q > 0 ? bands[b] : -bands[b]));
            else assert_true(v > -bands[b] && v < bands[b] && fabs((double)v - q * unit) <= 1e-6 * fabs(q * unit));
        }
        for (int i = 0; i < 20000; i++) {
            const float v = (float)((2 * test_uniform(&seed) - 1) * band), kept = tsr_code_rounded(&c, v);
            assert_true(fabs((double)kept - (double)v) <= 0.52 * unit); /* half a unit, and the roundings of float32 near the band */
            assert_true(tsr_code_rounded(&c, kept) == kept && tsr_code_rounded(&c, -v) == -kept);
        }
        double most = 0; /* values between two codes, where it is largest: more than half a code, but within what tiles.h says */
        for (int32_t q = 0; q < 32767; q++) {
            const float v = tsr_minf((float)((q + 0.5) * unit), bands[b]);
            most = fmax(most, fabs((double)tsr_code_rounded(&c, v) - (double)v));
        }
        assert_true(most > band / 65534 && most <= 1.04 * (band / 65534));
        assert_true(tsr_code_of(&c, bands[b]) == 32767 && tsr_code_of(&c, -bands[b]) == -32767 && tsr_code_of(&c, 0) == 0);
    }
}

/* The codes of files beside those of memory: unchanged where a value is a code, else one apart at most, and only where the page says. */
static void codes_of_files(void **unused)
{
    (void)unused;
    const float bands[] = { 1.5f, 2.5f, 0.7345f, 1e-6f, 12345.678f };
    uint64_t seed = test_seed();
    int64_t apart = 0;
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
        const tsr_coding c = tsr_coding_of(bands[b]);
        for (int32_t q = -32767; q <= 32767; q++) {
            assert_int_equal(tsr_q16(tsr_code_value(&c, q), bands[b]), q);
            assert_int_equal(tsr_code_of(&c, tsr_of_q16(q, bands[b])), q);
        }
        for (int i = 0; i < 40000; i++) {
            const double scale = i % 4 == 0 ? 2.0 / 32767 : i % 4 == 1 ? 1 - 1e-5 * test_uniform(&seed) : 1; /* near 0, near the band, anywhere */
            const float v = (float)((i % 4 == 1 ? (i & 8 ? 1.0 : -1.0) : 2 * test_uniform(&seed) - 1) * scale * (double)bands[b]);
            const int32_t file = tsr_q16(v, bands[b]), memory = tsr_code_of(&c, v);
            const double at = fabs((double)v) * 32767 / (double)bands[b], beside = fabs(at - floor(at) - 0.5);
            if (v < 0) assert_true(file < 0);
            if (fabsf(v) < bands[b]) assert_true(abs(file) < 32767);
            if (file == memory) continue;
            apart++;
            if (abs(file - memory) > 1 || (at > 0.5 && at < 32766.5 && beside > 0.01))
                fail_msg("band %g, %.9g: code %d of files, %d of memory", (double)bands[b], (double)v, file, memory);
        }
    }
    assert_true(apart > 0); /* they are two functions */
}

/* ---- a list changes its storage ------------------------------------------------------------------------------------------------------------ */

static double largest_difference(tsr_volume *a, tsr_volume *b, tsr_size3 n, double band, int64_t *moved_saturated)
{
    const float *u = (const float *)tsr_volume_data(a), *v = (const float *)tsr_volume_data(b);
    double most = 0;
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        most = fmax(most, fabs((double)u[i] - (double)v[i]));
        *moved_saturated += fabs((double)u[i]) == band && u[i] != v[i];
    }
    return most;
}

static void changes_of_storage(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        tsr_tiles *tiles = tiles_of(context, box24, edge, 2.5, cut_ball), *copy;
        tsr_tiles_info wide = TSR_TILES_INFO, narrow = TSR_TILES_INFO;
        int64_t moved = 0;
        tsr_volume *before = host_of(context, tiles, box24);
        require_ok(tsr_tiles_describe(tiles, &wide));
        require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16));
        require_ok(tsr_tiles_describe(tiles, &narrow));
        assert_true(wide.storage == TSR_STORAGE_F32 && narrow.storage == TSR_STORAGE_I16 && narrow.count == wide.count);
        assert_int_equal(wide.device_bytes - narrow.device_bytes, narrow.capacity * edge * edge * edge * 2 * 2);
        tsr_volume *after = host_of(context, tiles, box24);
        assert_true(largest_difference(before, after, box24, 2.5, &moved) <= 0.52 * quantum(2.5));
        assert_int_equal(moved, 0); /* +-band stay exact */
        const uint64_t hash = digest_of(tiles);
        require_ok(tsr_tiles_copy(tiles, context, &copy));
        assert_true(digest_of(copy) == hash);
        require_ok(tsr_tiles_compact(copy, 0));
        assert_true(digest_of(copy) == hash);
        require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32)); /* widening changes nothing */
        assert_true(digest_of(tiles) == hash);
        require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
        require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16)); /* and rounding again does not either */
        assert_true(digest_of(tiles) == hash);
        tsr_tiles_destroy(&copy);
        tsr_volume_destroy(&after);
        tsr_volume_destroy(&before);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* ---- runs -------------------------------------------------------------------------------------------------------------------------------------- */

struct setting {
    const char *name;
    int32_t edge;
    double band;
    double (*shape)(double, double, double);
    tsr_levelset_options options;
    int64_t steps;
    double most; /* quanta: half of one each time a voxel is stored, as roundings of stable schemes do not grow */
};

#define TERMS(...) .terms = { __VA_ARGS__ }
static const struct setting settings[] = {
    { "first order", 8, 1.5, cut_ball,
      OPTIONS(TERMS({ .kind = TSR_LEVELSET_SPEED, .value = -0.4 }, { .kind = TSR_LEVELSET_CURVATURE, .value = 0.3 }), .term_count = 2,
              .time_step = 0.25),
      12, 0.5 * 12 },
    { "first order, edge 4", 4, 1.5, ball,
      OPTIONS(TERMS({ .kind = TSR_LEVELSET_SPEED, .value = 0.8 }), .term_count = 1, .space = TSR_STENCIL_GODUNOV, .time_step = 0.25), 12, 0.5 * 12 },
    { "WENO5, RK3", 8, 3, cut_ball,
      OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0.5, -0.3, 0.2 } }), .term_count = 1, .space = TSR_STENCIL_WENO5,
              .time = TSR_TIME_RK3, .time_step = 0.3),
      8, 0.5 * 3 * 8 },
    { "WENO5, RK3, edge 4, sweeps, volume kept", 4, 3, ball,
      OPTIONS(TERMS({ .kind = TSR_LEVELSET_CURVATURE, .value = 0.4 }, { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.4 }), .term_count = 2,
              .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_REINIT, .feedback = 0.1, .time_step = 0.2),
      6, 0.5 * 3 * 6 },
    /* the lengths of automatic steps depend on which voxels are in the band */
    { "a brush, ENO2, RK2, automatic steps", 8, 2.5, ball,
      OPTIONS(TERMS({ .kind = TSR_LEVELSET_SPEED, .value = 1, .centre = { 12, 12, 19 }, .sigma = 3 }), .term_count = 1, .space = TSR_STENCIL_ENO2,
              .time = TSR_TIME_RK2),
      6, 150 },
};

/* The list after the run in this storage, and its report. */
static tsr_tiles *run(tsr_context *context, const struct setting *s, tsr_storage storage, tsr_levelset_report *report)
{
    tsr_tiles *tiles = tiles_of(context, box24, s->edge, s->band, s->shape);
    tsr_levelset *solver;
    require_ok(tsr_tiles_set_storage(tiles, storage));
    require_ok(tsr_levelset_create(tiles, &s->options, &solver));
    require_ok(tsr_levelset_step(solver, s->steps, NULL, report));
    tsr_levelset_destroy(&solver);
    return tiles;
}

/* Each stage and sweep rounds every voxel by half a quantum; what comes of that stays within `most` of them. */
static void beside_float32(void **unused)
{
    (void)unused;
    tsr_context *cpu = test_context_on("cpu", 2), *device = test_context();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        tsr_levelset_report report[3] = { TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT };
        tsr_tiles *wide = run(cpu, s, TSR_STORAGE_F32, &report[0]), *narrow = run(cpu, s, TSR_STORAGE_I16, &report[1]);
        tsr_tiles *other = run(device, s, TSR_STORAGE_I16, &report[2]);
        tsr_volume *a = host_of(cpu, wide, box24), *b = host_of(cpu, narrow, box24);
        int64_t moved = 0;
        const double off = largest_difference(a, b, box24, s->band, &moved) / quantum(s->band);
        print_message("%s: %.2f quanta\n", s->name, off);
        if (off > s->most) fail_msg("%s: %.1f quanta from float32, expected at most %.0f", s->name, off, s->most);
        if (off == 0) fail_msg("%s: the same as float32, so nothing was rounded", s->name);
        if (digest_of(narrow) != digest_of(other)) fail_msg("%s: other bits than on the CPU", s->name);
        assert_true(report[1].active_voxels == report[2].active_voxels && report[1].largest_change == report[2].largest_change);
        tsr_volume_destroy(&b);
        tsr_volume_destroy(&a);
        tsr_tiles_destroy(&other);
        tsr_tiles_destroy(&narrow);
        tsr_tiles_destroy(&wide);
    }
    tsr_context_destroy(&device);
    tsr_context_destroy(&cpu);
}

/* A collapse takes as many steps as with float32, to within half a percent (docs/theory/levelset.md 9) or one step; then the list is empty and whole. */
static void collapse(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    int64_t steps[2];
    for (int i = 0; i < 2; i++) {
        tsr_tiles *tiles = tiles_of(context, box24, 8, 1.5, ball);
        tsr_levelset *solver;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        const tsr_levelset_options o = OPTIONS(TERMS({ .kind = TSR_LEVELSET_SPEED, .value = -0.1 }, { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 }),
                                               .term_count = 2, .time_step = 0.3);
        if (i) require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16));
        require_ok(tsr_levelset_create(tiles, &o, &solver));
        require_ok(tsr_levelset_step(solver, 2000, NULL, &report));
        assert_true(report.empty && report.tiles == 0);
        steps[i] = report.steps;
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
    }
    if (fabs((double)(steps[1] - steps[0])) > fmax(1, 0.005 * (double)steps[0]))
        fail_msg("%lld steps with 16 bits, %lld with float32", (long long)steps[1], (long long)steps[0]);
    tsr_context_destroy(&context);
}

/* Distances anew and other resolutions, which keep the storage; loading into a list of 16 bits. */
static void derived(const char *device, int32_t edge, tsr_storage storage, uint64_t hash[4], tsr_volume **fine_field)
{
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = tiles_of(context, box24, edge, 2.5, cut_ball), *fine, *coarse, *loaded;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_volume *field;
    options.edge = edge;
    options.domain = box24;
    options.storage = storage;
    require_ok(tsr_tiles_set_storage(tiles, storage));
    require_ok(tsr_tiles_create(context, NULL, &options, &loaded));
    require_ok(tsr_volume_create(context, TSR_F32, box24, NULL, &field));
    require_ok(tsr_tiles_store(tiles, field));
    require_ok(tsr_tiles_load(loaded, field));
    require_ok(tsr_tiles_describe(loaded, &info));
    assert_true(info.storage == storage && digest_of(loaded) == digest_of(tiles));
    require_ok(tsr_tiles_upsample(tiles, &fine));
    require_ok(tsr_tiles_downsample(tiles, &coarse));
    require_ok(tsr_tiles_describe(fine, &info));
    assert_int_equal(info.storage, storage);
    require_ok(tsr_levelset_redistance(tiles, 0, NULL));
    hash[0] = digest_of(tiles);
    hash[1] = digest_of(fine);
    hash[2] = digest_of(coarse);
    hash[3] = digest_of(loaded);
    *fine_field = host_of(context, fine, (tsr_size3){ 48, 48, 48 });
    tsr_volume_destroy(&field);
    tsr_tiles_destroy(&loaded);
    tsr_tiles_destroy(&coarse);
    tsr_tiles_destroy(&fine);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

static void derived_lists(void **unused)
{
    (void)unused;
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        uint64_t cpu[4], device[4], wide[4];
        tsr_volume *field[3];
        int64_t moved = 0;
        derived("cpu", edge, TSR_STORAGE_I16, cpu, &field[0]);
        derived(device_name(), edge, TSR_STORAGE_I16, device, &field[1]);
        derived("cpu", edge, TSR_STORAGE_F32, wide, &field[2]);
        for (int i = 0; i < 4; i++) assert_true(cpu[i] == device[i]);
        /* the fine band is half as wide: half of the coarse rounding and that of the fine one */
        assert_true(largest_difference(field[0], field[2], (tsr_size3){ 48, 48, 48 }, 1.25, &moved) <= 1.6 * quantum(1.25));
        for (int i = 0; i < 3; i++) tsr_volume_destroy(&field[i]);
    }
}

/* A list put together of parts. */
static void assembled(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *from = tiles_of(context, box24, 8, 2.5, ball), *made;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    require_ok(tsr_tiles_set_storage(from, TSR_STORAGE_I16));
    require_ok(tsr_tiles_describe(from, &info));
    int32_t(*coordinates)[3] = malloc((size_t)info.count * sizeof *coordinates);
    float *values = (float *)malloc((size_t)info.count * 512 * sizeof *values);
    require_ok(tsr_tiles_download(from, coordinates, values));
    contents.count = info.count;
    contents.coordinates = (const int32_t(*)[3])coordinates;
    contents.values = values;
    options.domain = box24;
    options.storage = TSR_STORAGE_I16;
    require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &made));
    assert_true(digest_of(made) == digest_of(from));
    require_ok(tsr_tiles_describe(made, &info));
    assert_int_equal(info.storage, TSR_STORAGE_I16);
    free(values);
    free(coordinates);
    tsr_tiles_destroy(&made);
    tsr_tiles_destroy(&from);
    tsr_context_destroy(&context);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------------------------------ */

static void bad_input(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = tiles_of(context, box24, 8, 1.5, ball), *other = NULL;
    tsr_tiles_measures measures = TSR_TILES_MEASURES;
    tsr_mesh *mesh = NULL;
    tsr_levelset *solver;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    require_error(tsr_tiles_set_storage(NULL, TSR_STORAGE_I16), TSR_ERROR_ARGUMENT, "NULL");
    require_error(tsr_tiles_set_storage(tiles, (tsr_storage)7), TSR_ERROR_ARGUMENT, "storage is 7");
    options.storage = (tsr_storage)-1;
    require_error(tsr_tiles_create(context, NULL, &options, &other), TSR_ERROR_ARGUMENT, "storage is -1");
    require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16));
    require_error(tsr_tiles_measure(tiles, &measures), TSR_ERROR_UNSUPPORTED, "16-bit");
    require_error(tsr_surface_extract_tiles(context, tiles, NULL, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "16-bit");
    require_error(tsr_tiles_complement(tiles, &other), TSR_ERROR_UNSUPPORTED, "16-bit");
    /* A value that is not finite names its term, and the surface stays. */
    const uint64_t before = digest_of(tiles);
    const tsr_levelset_options o = OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 9e17, .vector = { 9e17, 9e17, 9e17 } }), .term_count = 1,
                                           .time_step = 1e10, .force = 1);
    require_ok(tsr_levelset_create(tiles, &o, &solver));
    require_error(tsr_levelset_step(solver, 2, NULL, NULL), TSR_ERROR_ARGUMENT, "too large");
    assert_true(digest_of(tiles) == before);
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    /* No room for float32: the list stays as it is. */
    options = (tsr_tiles_options)TSR_TILES_OPTIONS;
    options.storage = TSR_STORAGE_I16;
    options.capacity = 512;
    options.memory_limit = 512 * (512 * 4 + 400);
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_error(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32), TSR_ERROR_CAPACITY, "memory_limit");
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.storage, TSR_STORAGE_I16);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(codes),          cmocka_unit_test(codes_of_files), cmocka_unit_test(changes_of_storage),
                                        cmocka_unit_test(beside_float32), cmocka_unit_test(collapse),       cmocka_unit_test(derived_lists),
                                        cmocka_unit_test(assembled),      cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
