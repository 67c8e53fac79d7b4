/* The pull of a potential, the flow of a reconstruction: a device with its kernels over slabs (engine_slab.h), the same device a tile at a time
 * (engine_pass.h) and the CPU leave the same list with the same bits. The potential of every voxel is another, so that one page, neighbour or border
 * read wrongly shows; and flat in parts, where nothing pulls. */
#include "core/core.h"
#include "device/backend.h"
#include "engine_support.h"
#include "solver/engine.h"
#include "reconstruct/potential_ops.h"

static const tsr_size3 box = { 26, 25, 23 };

static double two_spheres(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 8.2, 12, 11.6) - 4.6, distance3(x, y, z, 18.4, 12.3, 12) - 4.2);
}
static double cut_by_border(double x, double y, double z) { return distance3(x, y, z, 3.2, 21.8, 5.1) - 9.3; }
/* The last tiles of the box are cut by its end along all axes. */
static double corner(double x, double y, double z) { return distance3(x, y, z, 23.4, 22.6, 20.3) - 6.2; }

/* ---- a potential that is not smooth --------------------------------------------------------------------------------------------------------- */

struct bumps {
    tsr_context *context;
    int32_t broken; /* x from which on it is NaN */
    int calls;
    int fails; /* this call, counted from 1, gives no page but an error; 0: none */
};

static float potential_at(const struct bumps *b, int32_t x, int32_t y, int32_t z)
{
    if (x >= b->broken) return NAN;
    const int32_t dx = x - 12, dy = y - 12, dz = z - 11, far = dx * dx + dy * dy + dz * dz;
    if (far > 230 || (x > 18 && y > 15)) return 60.0f;
    const uint32_t mixed = (uint32_t)(x * 7919 + y * 104729 + z * 1299709) * 2654435761u;
    return 0.25f * (float)far + (float)(mixed >> 24) * 0.01f;
}

static tsr_status fill_bumps(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all)
{
    struct bumps *b = (struct bumps *)user;
    const tsr_backend *backend = b->context->backend;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E;
    tsr_tile_state state;
    require_ok(backend->download(queue, &state, pool->state, sizeof state));
    const int32_t count = all ? state.count : state.created;
    if (state.shortage > 0 || state.halted || count == 0) return TSR_OK;
    if (b->calls + 1 == b->fails) TSR_FAIL(TSR_ERROR_IO, "the pages of %d tiles did not come", (int)count);
    const size_t keys_size = (size_t)count * sizeof(uint64_t), pages_size = (size_t)count * (size_t)V * sizeof(float); /* room for keys, too */
    uint64_t *keys = (uint64_t *)malloc(keys_size);
    float *pages = (float *)malloc(pages_size), *there;
    const uint32_t *ids = all ? pool->id[state.list] : pool->created_ids;
    assert_non_null(keys);
    assert_non_null(pages);
    require_ok(tsr_device_allocate(b->context, pages_size, (void **)&there));
    require_ok(backend->potential->gather_keys(queue, tsr_pool_keys_of(pool), ids, count, (uint64_t *)(void *)there));
    require_ok(backend->download(queue, keys, there, keys_size));
    for (int32_t t = 0; t < count; t++)
        for (int32_t i = 0; i < V; i++)
            pages[(int64_t)t * V + i] =
                potential_at(b, tsr_key_x(keys[t]) * E + i % E, tsr_key_y(keys[t]) * E + i / E % E, tsr_key_z(keys[t]) * E + i / (E * E));
    if (pool->coded) { /* in place: a code is shorter than a float */
        uint16_t *codes = (uint16_t *)malloc(pages_size / 2);
        assert_non_null(codes);
        for (int64_t i = 0; i < (int64_t)count * V; i++) codes[i] = (uint16_t)(1000.0f * pages[i]);
        memcpy(pages, codes, pages_size / 2);
        free(codes);
    }
    require_ok(backend->upload(queue, there, pages, pages_size));
    require_ok(backend->potential->scatter_pages(queue, there, ids, count, 3 * pool->log2_edge - pool->coded, pool->payload));
    require_ok(backend->synchronize(queue));
    tsr_device_release(b->context, there, pages_size);
    free(pages);
    free(keys);
    b->calls++;
    return TSR_OK;
}

/* ---- three ways ------------------------------------------------------------------------------------------------------------------------------ */

struct setting {
    const char *name;
    shape_function shape;
    int32_t edge, steps;
    tsr_levelset_options options;
    int coded; /* 1: field and potential in 16 bits; 2: from half way on, and from the second half back to floats */
};

/* `idle`: a second potential that pulls with nothing, which only the kernels for all flows take. *field, unless NULL, becomes the field on the host. */
static uint64_t run_on(const char *device, const struct setting *t, int idle, tsr_volume **field)
{
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = tiles_of(context, box, t->edge, 2.5, t->shape);
    struct bumps bumps = { context, INT32_MAX, 0, 0 };
    const tsr_payload_provider provider = { fill_bumps, &bumps, 0 };
    tsr_levelset_options options = t->options;
    tsr_levelset *l;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    if (idle) options.terms[options.term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_POTENTIAL };
    const uint64_t before = digest_of(tiles);
    if (t->coded == 1) require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16));
    require_ok(tsr_levelset_create(tiles, &options, &l));
    require_ok(tsr_levelset_set_payload(l, &provider));
    for (int turn = 0; t->coded == 2 && turn < 2; turn++) {
        require_ok(tsr_levelset_step(l, t->steps, NULL, &report));
        const int calls = bumps.calls;
        require_ok(tsr_tiles_set_storage(tiles, turn ? TSR_STORAGE_F32 : TSR_STORAGE_I16));
        require_ok(tsr_levelset_step(l, 1, NULL, &report));
        assert_true(bumps.calls > calls); /* all pages, for those there were have another width */
    }
    require_ok(tsr_levelset_step(l, t->steps, NULL, &report));
    assert_true(report.steps == t->steps && bumps.calls > 0);
    uint64_t hash = digest_of(tiles);
    assert_true(hash != before);
    hash = digest(hash, &report.largest_change, sizeof report.largest_change);
    if (field) *field = host_of(context, tiles, box);
    tsr_levelset_destroy(&l);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return hash;
}

#define TERMS(...) .terms = { __VA_ARGS__ }, .term_count = (int32_t)(sizeof((tsr_levelset_term[]){ __VA_ARGS__ }) / sizeof(tsr_levelset_term))

static const tsr_levelset_term pull = { .kind = TSR_LEVELSET_POTENTIAL, .value = 0.9 }, push = { .kind = TSR_LEVELSET_POTENTIAL, .value = -0.8 },
                           bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.2 }, grow = { .kind = TSR_LEVELSET_SPEED, .value = 0.3 },
                           slide = { .kind = TSR_LEVELSET_VELOCITY, .value = 0.2, .vector = { 1, -0.5, 0.25 } },
                           dab = { .kind = TSR_LEVELSET_POTENTIAL, .value = 0.9, .centre = { 8, 12, 12 }, .sigma = 2 };

static void same_bits(void **unused)
{
    (void)unused;
    const int32_t few = on_emulator() || test_is_slow() ? 6 : 20;
    const struct setting settings[] = {
        { "a pull, edge 4", two_spheres, 4, few, OPTIONS(TERMS(pull), .time_step = 0.3), 0 },
        { "as reconstructions do", cut_by_border, 4, few, OPTIONS(TERMS(pull, bend), .time_step = 0.3), 0 },
        { "the cut end of the box, Godunov", corner, 4, few, OPTIONS(TERMS(push, grow), .space = TSR_STENCIL_GODUNOV), 0 },
        { "edge 8, all terms", corner, 8, few, OPTIONS(TERMS(pull, grow, bend, slide), .sign = TSR_SIGN_SUBCELL), 0 },
        { "edge 8, Godunov, managed every third step", cut_by_border, 8, few,
          OPTIONS(TERMS(push, slide), .space = TSR_STENCIL_GODUNOV, .managed_every = 3, .time_step = 0.1), 0 },
        { "16 bits", cut_by_border, 4, few, OPTIONS(TERMS(pull, bend), .time_step = 0.3), 1 },
        { "16 bits, edge 8, the cut end of the box", corner, 8, few, OPTIONS(TERMS(pull, grow, bend), .time_step = 0.2), 1 },
        { "16 bits, a brush, step measured", two_spheres, 4, few / 2, OPTIONS(TERMS(dab, grow)), 1 },
        { "to 16 bits and back", two_spheres, 4, few / 3, OPTIONS(TERMS(pull, bend), .time_step = 0.3), 2 },
        { "with a brush: not over slabs", two_spheres, 4, few / 2, OPTIONS(TERMS(dab), .time_step = 0.3), 0 },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const uint64_t cpu = run_on("cpu", &settings[i], 0, NULL), slabs = run_on(device_name(), &settings[i], 0, NULL),
                       tiles = run_on(device_name(), &settings[i], 1, NULL);
        if (slabs != cpu || tiles != cpu)
            fail_msg("%s: %s on %s, %s a tile at a time", settings[i].name, slabs == cpu ? "right" : "wrong", device_name(),
                     tiles == cpu ? "right" : "wrong");
    }
}

/* The arithmetic of the device: the same bits again, and near those of the CPU. */
static void fused(void **unused)
{
    (void)unused;
    const struct setting t = { "fused", two_spheres, 4, 5, OPTIONS(TERMS(pull, bend), .time_step = 0.3, .fused = 1), 0 };
    tsr_volume *exact, *found;
    (void)run_on("cpu", &t, 0, &exact);
    const uint64_t hash = run_on(device_name(), &t, 0, &found);
    const float *p = (const float *)tsr_volume_data_const(exact), *q = (const float *)tsr_volume_data_const(found);
    for (int64_t i = 0; i < tsr_volume_count(exact); i++) assert_true(fabs((double)p[i] - (double)q[i]) < 1e-5);
    tsr_volume_destroy(&exact);
    tsr_volume_destroy(&found);
    assert_true(run_on(device_name(), &t, 0, NULL) == hash);
}

/* A potential that is not a number is found at the same voxel. */
static void not_finite(void **unused)
{
    (void)unused;
    char message[2][256];
    const char *devices[2] = { "cpu", device_name() };
    for (int i = 0; i < 2; i++) {
        tsr_context *context = test_context_on(devices[i], 2);
        tsr_tiles *tiles = tiles_of(context, box, 4, 2.5, two_spheres);
        struct bumps bumps = { context, 20, 0, 0 };
        const tsr_payload_provider provider = { fill_bumps, &bumps, 0 };
        tsr_levelset_options options = OPTIONS(TERMS(pull), .time_step = 0.3);
        tsr_levelset *l;
        require_ok(tsr_levelset_create(tiles, &options, &l));
        require_ok(tsr_levelset_set_payload(l, &provider));
        require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_ARGUMENT, "step 1: term 0 (POTENTIAL) is not finite at voxel (");
        snprintf(message[i], sizeof message[i], "%s", tsr_error_message());
        tsr_levelset_destroy(&l);
        tsr_tiles_destroy(&tiles);
        tsr_context_destroy(&context);
    }
    assert_string_equal(message[0], message[1]);
}

/* A provider that gives no page, for all tiles at first or later for those that a step has made: its error ends the run with the surface of the last completed
 * step, and when it gives pages again the run goes on with the same bits as one that was never interrupted. */
static void no_page(void **unused)
{
    (void)unused;
    const int steps = 14;
    for (int fails = 1; fails <= 3; fails++) {
        tsr_context *context = test_context_on(device_name(), 2);
        tsr_tiles *tiles = tiles_of(context, box, 4, 2.5, two_spheres), *twin = tiles_of(context, box, 4, 2.5, two_spheres);
        struct bumps bumps = { context, INT32_MAX, 0, fails }, sound = { context, INT32_MAX, 0, 0 };
        const tsr_payload_provider provider = { fill_bumps, &bumps, 0 }, other = { fill_bumps, &sound, 0 };
        tsr_levelset_options options = OPTIONS(TERMS(pull, grow), .time_step = 0.2);
        tsr_levelset *l, *whole;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        require_ok(tsr_levelset_create(tiles, &options, &l));
        require_ok(tsr_levelset_set_payload(l, &provider));
        require_ok(tsr_levelset_create(twin, &options, &whole));
        require_ok(tsr_levelset_set_payload(whole, &other));
        require_error(tsr_levelset_step(l, steps, NULL, &report), TSR_ERROR_IO, "did not come");
        assert_true(fails == 1 ? report.steps == 0 : report.steps > 0 && report.steps < steps);
        require_ok(tsr_levelset_step(whole, report.steps, NULL, NULL));
        assert_true(digest_of(tiles) == digest_of(twin));
        const int64_t left = steps - report.steps;
        bumps.fails = 0;
        require_ok(tsr_levelset_step(l, left, NULL, &report));
        assert_int_equal(report.total_steps, steps);
        require_ok(tsr_levelset_step(whole, left, NULL, NULL));
        assert_true(digest_of(tiles) == digest_of(twin));
        tsr_levelset_destroy(&l);
        tsr_levelset_destroy(&whole);
        tsr_tiles_destroy(&tiles);
        tsr_tiles_destroy(&twin);
        tsr_context_destroy(&context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits), cmocka_unit_test(fused), cmocka_unit_test(not_finite),
                                        cmocka_unit_test(no_page) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
