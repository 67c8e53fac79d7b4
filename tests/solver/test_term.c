/* Terms in C of the caller's own, as modules: the same text and the same bits on every device; what is refused. */
#include "engine_support.h"
#include "solver/engine_object.h"
#include "tessera/levelset_term.h"
#include "terms/everything.h"
#include "terms/vortex.h"

static const tsr_size3 box = { 30, 25, 24 };
static double ball(double x, double y, double z) { return distance3(x, y, z, 14.3, 11.8, 12.1) - 6.4; }

/* Against the rotation that the library has: another formula, the same motion. */
static void equals_rotation(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const vortex data = { { 15, 12 }, 0.2f };
    tsr_levelset_user user;
    require_ok(tsr_term_load(context, TERM_FOLDER "/term_vortex", sizeof data, &user));
    user.data = &data;
    const tsr_levelset_options
        own = OPTIONS(.terms = { { .kind = TSR_LEVELSET_USER, .value = 1, .user = &user } }, .term_count = 1, .space = TSR_STENCIL_WENO5,
                      .time = TSR_TIME_RK3),
        built_in = OPTIONS(.terms = { { .kind = TSR_LEVELSET_ROTATION, .value = (double)data.rate, .vector = { 0, 0, 1 }, .centre = { 15, 12, 0 } } },
                           .term_count = 1, .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3);
    tsr_tiles *tiles[2] = { tiles_of(context, box, 8, 3, ball), tiles_of(context, box, 8, 3, ball) };
    tsr_volume *host[2];
    for (int i = 0; i < 2; i++) {
        tsr_levelset *l;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        require_ok(tsr_levelset_create(tiles[i], i ? &built_in : &own, &l));
        require_ok(tsr_levelset_advance(l, 2, NULL, &report)); /* automatic steps: the rate of the term is measured */
        assert_true(report.steps > 2);
        tsr_levelset_destroy(&l);
        host[i] = host_of(context, tiles[i], box);
    }
    const float *p = (const float *)tsr_volume_data_const(host[0]), *q = (const float *)tsr_volume_data_const(host[1]);
    for (int64_t i = 0; i < tsr_volume_count(host[0]); i++) assert_true(fabs((double)p[i] - (double)q[i]) < 1e-4);
    for (int i = 0; i < 2; i++) {
        tsr_volume_destroy(&host[i]);
        tsr_tiles_destroy(&tiles[i]);
    }
    tsr_context_destroy(&context);
}

/* All kinds of answers, two terms from one module with data of their own, a brush, a list that grows: bits of the device as those of the CPU. */
static uint64_t run_on(const char *device, int32_t edge, const tsr_levelset_options *scheme, char message[512])
{
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = tiles_of(context, box, edge, 3, ball);
    tsr_levelset_options o = *scheme;
    everything data[2] = { { 0.4f, 1e9f }, { -0.2f, 1e9f } };
    tsr_levelset_user user[2];
    tsr_levelset *l;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    for (int i = 0; i < 2; i++) {
        require_ok(tsr_term_load(context, TERM_FOLDER "/term_everything.so", sizeof *data, &user[i]));
        user[i].data = &data[i];
        o.terms[2 * i] = (tsr_levelset_term){ .kind = TSR_LEVELSET_USER, .value = 0.7 + i, .user = &user[i], .centre = { 14, 12, 12 }, .sigma = i ? 4 : 0 };
    }
    o.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_ROTATION, .value = 0.05, .vector = { 1, 2, 0 }, .centre = { 12, 12, 12 } };
    o.term_count = 3;
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_ok(tsr_levelset_step(l, 5, NULL, &report));
    uint64_t hash = digest_of(tiles);
    data[1].limit = 17; /* seen by the solver when it is told */
    require_ok(tsr_levelset_set(l, &o));
    require_error(tsr_levelset_step(l, 1, NULL, &report), TSR_ERROR_ARGUMENT, "step 6: term 2 (USER) is not finite at voxel (18,");
    snprintf(message, 512, "%s", tsr_error_message());
    assert_true(digest_of(tiles) == hash);
    data[1].limit = 1e9f;
    require_ok(tsr_levelset_set(l, &o));
    require_ok(tsr_levelset_step(l, 3, NULL, &report));
    hash ^= 3 * digest_of(tiles);
    tsr_levelset_destroy(&l);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return hash;
}

static void same_bits(void **unused)
{
    (void)unused;
    const tsr_levelset_options schemes[2] = { OPTIONS(.time_step = 0.15), OPTIONS(.space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3) };
    for (int i = 0; i < 2; i++) {
        char cpu[512], device[512];
        const uint64_t expected = run_on("cpu", i ? 4 : 8, &schemes[i], cpu);
        assert_true(run_on(device_name(), i ? 4 : 8, &schemes[i], device) == expected);
        assert_string_equal(cpu, device);
    }
}

static void refused(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_levelset_user user;
    require_error(tsr_term_load(context, "no/such/term", 4, &user), TSR_ERROR_IO, "no/such/term");
    require_error(tsr_term_load(context, NULL, 4, &user), TSR_ERROR_ARGUMENT, "path is NULL");
    require_error(tsr_term_load(context, TERM_FOLDER "/term_vortex", 4, &user), TSR_ERROR_ARGUMENT, "works on 12 bytes of data, given are 4");
    assert_true(!user.evaluate && !user.module);
    tsr_tiles *tiles = tiles_of(context, box, 8, 3, ball);
    tsr_levelset *l;
    require_ok(tsr_term_load(context, TERM_FOLDER "/term_vortex", sizeof(vortex), &user));
    const tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_USER, .value = 1, .user = &user } }, .term_count = 1);
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "data is NULL");
    user.module = NULL;
    if (on_emulator()) require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_UNSUPPORTED, "tsr_term_load");
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_rotation), cmocka_unit_test(same_bits), cmocka_unit_test(refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
