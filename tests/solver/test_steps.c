/* Steps of the level-set solver that follow each other in one kernel (options.persistent) are those of a kernel each: same list, same bits, same report,
 * also while the list runs out of room, and where the run ends: at a time, with nothing left, converged, or by a number that is not finite. */
#include "engine_support.h"
#include "solver/engine_object.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"

static double two_balls(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 8.3, 11.8, 12.1) - 5.4, distance3(x, y, z, 30.2, 12.4, 10.9) - 6.3);
}
static double ball(double x, double y, double z) { return distance3(x, y, z, 12.3, 11.8, 12.1) - 4.2; }
static double nothing(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return 9;
}

#define TERMS(...) .terms = { __VA_ARGS__ }, .term_count = (int32_t)(sizeof((tsr_levelset_term[]){ __VA_ARGS__ }) / sizeof(tsr_levelset_term))
#define SPEED(v)                                 \
    {                                            \
        .kind = TSR_LEVELSET_SPEED, .value = (v) \
    }
#define BEND(v)                                      \
    {                                                \
        .kind = TSR_LEVELSET_CURVATURE, .value = (v) \
    }

struct way {
    int persistent;
    int64_t steps; /* < 0: runs to the end that the options give */
    double duration;
};
struct outcome {
    uint64_t hash;
    int64_t steps, tiles, active;
    double time, step, change;
    int converged, empty;
    tsr_status status;
    char message[200];
};

static struct outcome go(const char *device, tsr_tiles *(*make)(tsr_context *), const tsr_levelset_options *options, const struct way *way)
{
    struct outcome result;
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = make(context);
    tsr_levelset *levelset;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_levelset_options own = *options;
    memset(&result, 0, sizeof result);
    own.persistent = way->persistent;
    require_ok(tsr_levelset_create(tiles, &own, &levelset));
    result.status = way->duration > 0 ? tsr_levelset_advance(levelset, way->duration, NULL, &report)
                    : way->steps >= 0 ? tsr_levelset_step(levelset, way->steps, NULL, &report)
                                      : tsr_levelset_run(levelset, NULL, &report);
    if (result.status != TSR_OK) snprintf(result.message, sizeof result.message, "%s", tsr_error_message());
    tsr_levelset_destroy(&levelset);
    result.hash = digest_of(tiles);
    result.steps = report.steps;
    result.tiles = report.tiles;
    result.active = report.active_voxels;
    result.time = report.time;
    result.step = report.time_step;
    result.change = report.largest_change;
    result.converged = report.converged;
    result.empty = report.empty;
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return result;
}

static void require_same(const struct outcome *a, const struct outcome *b, const char *what)
{
    if (a->status != b->status || strcmp(a->message, b->message) != 0) fail_msg("%s: \"%s\" and \"%s\"", what, a->message, b->message);
    if (a->steps != b->steps || a->tiles != b->tiles || a->active != b->active)
        fail_msg("%s: %lld and %lld steps, %lld and %lld tiles, %lld and %lld active voxels", what, (long long)a->steps, (long long)b->steps,
                 (long long)a->tiles, (long long)b->tiles, (long long)a->active, (long long)b->active);
    if (a->time != b->time || a->step != b->step || a->change != b->change || a->converged != b->converged || a->empty != b->empty)
        fail_msg("%s: time %.17g and %.17g, last step %g and %g, change %g and %g", what, a->time, b->time, a->step, b->step, a->change, b->change);
    if (a->hash != b->hash) fail_msg("%s: lists differ", what);
}

/* By launches and in one kernel on the device; without `fused` also on the CPU. Returns what all gave. */
static struct outcome both_ways(const char *what, tsr_tiles *(*make)(tsr_context *), const tsr_levelset_options *o, int64_t steps, double duration)
{
    const struct way apart = { -1, steps, duration }, together = { 1, steps, duration }, by_size = { 0, steps, duration };
    const struct outcome a = go(device_name(), make, o, &apart), b = go(device_name(), make, o, &together), c = go(device_name(), make, o, &by_size);
    require_same(&a, &b, what);
    require_same(&a, &c, what);
    if (!o->fused) {
        const struct outcome cpu = go("cpu", make, o, &apart);
        require_same(&a, &cpu, what);
    }
    return a;
}

static const tsr_size3 box = { 40, 25, 23 };
static tsr_tiles *narrow(tsr_context *context) { return tiles_of(context, box, 8, 2.5, two_balls); }
static tsr_tiles *fine(tsr_context *context) { return tiles_with_room(context, box, 4, 1.5, two_balls, 300); } /* runs out of room on the way */
static tsr_tiles *small(tsr_context *context) { return tiles_with_room(context, box, 8, 2.5, ball, 20); }
static tsr_tiles *small_fine(tsr_context *context) { return tiles_of(context, box, 4, 1.5, ball); }
static tsr_tiles *no_tiles(tsr_context *context) { return tiles_of(context, box, 8, 2.5, nothing); }
static tsr_tiles *unbounded(tsr_context *context)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.band = 2.5;
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { -3, 5, 2 }, .radius = 9 }, &tiles));
    return tiles;
}
static tsr_tiles *paged(tsr_context *context)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *from = narrow(context), *tiles;
    tsr_volume *field;
    options.band = 2.5;
    options.domain = box;
    options.index = TSR_TILES_PAGED;
    require_ok(tsr_volume_create(context, TSR_F32, box, NULL, &field));
    require_ok(tsr_tiles_store(from, field));
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_tiles_destroy(&from);
    return tiles;
}

static void same_steps(void **unused)
{
    (void)unused;
    const int64_t steps = 34; /* more than are queued at a time */
    const tsr_levelset_options grow = OPTIONS(TERMS(SPEED(1), BEND(0.2)), .time_step = 0.2), shrink = OPTIONS(TERMS(SPEED(-0.3), BEND(0.5)));
    const tsr_levelset_options godunov = OPTIONS(TERMS(SPEED(1.5)), .space = TSR_STENCIL_GODUNOV, .time_step = 0.25),
                               drift = OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0.5, 0.2, -0.1 } }), .time_step = 0.3);
    const struct outcome grown = both_ways("grows, edge 4", fine, &grow, steps, 0);
    assert_true(grown.status == TSR_OK && grown.steps == steps && grown.tiles > 300);
    both_ways("shrinks, automatic step", narrow, &shrink, steps, 0);
    both_ways("Godunov", narrow, &godunov, steps / 2, 0);
    both_ways("drifts", small_fine, &drift, steps / 2, 0);
    both_ways("unbounded", unbounded, &grow, steps / 2, 0);
    both_ways("paged", paged, &grow, steps / 2, 0);
    if (!on_emulator()) return;
    tsr_levelset_options fused = grow;
    fused.fused = 1;
    both_ways("fused", narrow, &fused, 5, 0);
}

static void same_ends(void **unused)
{
    (void)unused;
    const tsr_levelset_options bend = OPTIONS(TERMS(BEND(0.5)), .max_steps = 500),
                               still = OPTIONS(.reshape = TSR_RESHAPE_NONE, .time_step = 0.1, .age = 5, .max_steps = 60);
    struct outcome o = both_ways("vanishes", small, &bend, -1, 0);
    assert_true(o.empty && o.steps < 500 && o.tiles == 0);
    o = both_ways("ends at a time", small, &bend, 0, 1.7);
    assert_true(o.status == TSR_OK && o.time == 1.7);
    o = both_ways("converges", small_fine, &still, -1, 0);
    assert_true(o.converged && o.steps < 20);
    o = both_ways("has no tiles", no_tiles, &still, 3, 0);
    assert_true(o.empty && o.steps == 0);
}

/* Too large a step, tried anyway, until numbers overflow: the same step, voxel and message, and the surface before it. */
static void same_failures(void **unused)
{
    (void)unused;
    const tsr_levelset_options wild =
        OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 9e17, .vector = { 9e17, 9e17, 9e17 } }), .time_step = 1e10, .force = 1);
    const struct outcome o = both_ways("overflows", small, &wild, 40, 0);
    assert_true(o.status == TSR_ERROR_ARGUMENT && strstr(o.message, "too large for numbers at voxel") != NULL);
}

/* A ball that drifts to the last tile that 64-bit keys can name: an error says so where it arrives, on every backend after the same step. */
static tsr_tiles *near_the_end(tsr_context *context)
{
    tsr_tiles *from = unbounded(context), *tiles;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    require_ok(tsr_tiles_describe(from, &info));
    const size_t n = (size_t)info.count;
    int32_t(*coordinates)[3] = malloc(n * sizeof *coordinates), last = INT32_MIN;
    float *values = (float *)malloc(n * 512 * sizeof *values);
    require_ok(tsr_tiles_download(from, coordinates, values));
    for (size_t i = 0; i < n; i++) last = coordinates[i][1] > last ? coordinates[i][1] : last;
    for (size_t i = 0; i < n; i++) coordinates[i][1] += TSR_KEY_BIAS - 2 - last; /* the last tile of y that may be */
    contents.count = info.count;
    contents.coordinates = (const int32_t(*)[3])coordinates;
    contents.values = values;
    options.band = info.band;
    require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
    free(coordinates);
    free(values);
    tsr_tiles_destroy(&from);
    return tiles;
}

/* A list of one tile has twice the resolution wherever its eight tiles have coordinates. */
static void limits_of_upsampling(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const int32_t most = TSR_KEY_BIAS / 2 - 1;
    static float values[512];
    for (int i = 0; i < 512; i++) {
        const double x = i % 8 - 3.5, y = i / 8 % 8 - 3.5, z = i / 64 - 3.5, d = sqrt(x * x + y * y + z * z) - 1.2;
        values[i] = (float)fmin(fmax(d, -1.5), 1.5);
    }
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < 4; k++) {
            static const int beyond[4] = { 0, 1, 0, 1 };
            int32_t at[1][3] = { { 0, 0, 0 } };
            tsr_tiles_options options = TSR_TILES_OPTIONS;
            tsr_tiles_contents contents = TSR_TILES_CONTENTS;
            tsr_tiles *tiles, *fine = NULL;
            at[0][axis] = k < 2 ? most - 1 + k : -most - (k - 2);
            options.band = 1.5;
            contents.count = 1;
            contents.coordinates = (const int32_t(*)[3])at;
            contents.values = values;
            require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
            if (beyond[k]) require_error(tsr_tiles_upsample(tiles, &fine), TSR_ERROR_CAPACITY, "has no coordinates at twice the resolution");
            else require_ok(tsr_tiles_upsample(tiles, &fine));
            tsr_tiles_destroy(&fine);
            tsr_tiles_destroy(&tiles);
        }
    tsr_context_destroy(&context);
}

static void limits_of_keys(void **unused)
{
    (void)unused;
    tsr_levelset_options drift = OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0, 1, 0 } }), .time_step = 0.35);
    struct outcome o = both_ways("drifts to the end", near_the_end, &drift, 60, 0);
    assert_true(o.status == TSR_ERROR_CAPACITY && strstr(o.message, "limits of the tile coordinates") != NULL);
    assert_true(o.steps > 0 && o.steps < 60);
    drift.terms[0].value = -1; /* away from it */
    o = both_ways("drifts back", near_the_end, &drift, 20, 0);
    assert_true(o.status == TSR_OK && o.steps == 20);
}

/* The list may not take the memory that growth needs: the last valid state stays, and the solver goes on where it may. */
static void short_of_memory(void **unused)
{
    (void)unused;
    tsr_tiles *list[2];
    tsr_levelset *levelset[2];
    uint64_t hash[2];
    tsr_context *context = test_context_on(device_name(), 2);
    for (int k = 0; k < 2; k++) {
        const tsr_levelset_options o = OPTIONS(TERMS(SPEED(1)), .time_step = 0.25, .persistent = k ? 1 : -1);
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        tsr_tiles_info info = TSR_TILES_INFO;
        list[k] = fine(context);
        require_ok(tsr_levelset_create(list[k], &o, &levelset[k]));
        require_ok(tsr_tiles_describe(list[k], &info));
        list[k]->memory_limit = info.device_bytes + info.device_bytes / 8;
        require_error(tsr_levelset_step(levelset[k], 100, NULL, &report), TSR_ERROR_CAPACITY, "memory_limit");
        assert_true(report.steps > 0 && report.steps < 100);
        list[k]->memory_limit = 0;
        require_ok(tsr_levelset_step(levelset[k], 5, NULL, &report));
        assert_int_equal(report.steps, 5);
        hash[k] = digest_of(list[k]);
        tsr_levelset_destroy(&levelset[k]);
        tsr_tiles_destroy(&list[k]);
    }
    assert_true(hash[0] == hash[1]);
    tsr_context_destroy(&context);
}

/* A launch that the device refuses is an error that names the kernel. (The emulator can be told to.) */
static void refused_launch(void **unused)
{
    (void)unused;
    if (!on_emulator()) skip();
    setenv("TESSERA_EMU_REFUSE", "steps_kernel:1", 1);
    tsr_context *context = test_context_on("emu", 2);
    unsetenv("TESSERA_EMU_REFUSE");
    tsr_tiles *tiles = small(context);
    tsr_levelset *levelset;
    const tsr_levelset_options o = OPTIONS(TERMS(SPEED(1)), .time_step = 0.1, .persistent = 1);
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_step(levelset, 3, NULL, NULL));
    require_error(tsr_levelset_step(levelset, 3, NULL, NULL), TSR_ERROR_DEVICE, "steps_kernel");
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_steps),           cmocka_unit_test(same_ends),      cmocka_unit_test(same_failures),
                                        cmocka_unit_test(limits_of_upsampling), cmocka_unit_test(limits_of_keys), cmocka_unit_test(short_of_memory),
                                        cmocka_unit_test(refused_launch) };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
