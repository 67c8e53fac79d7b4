/* Numbers that are not finite end a run of the level-set solver before the step that meets them: the message names step, term and voxel, the list is
 * bit for bit that of a run that was told to stop one step earlier, and the solver goes on once the cause is gone. */
#include "engine_support.h"
#include "solver/engine_object.h"
#include "tessera/levelset.h"

static const tsr_size3 box = { 40, 24, 24 };
static double ball(double x, double y, double z) { return distance3(x, y, z, 12.3, 11.8, 12.1) - 6.4; }

static tsr_volume *constant_field(tsr_context *context, float value)
{
    tsr_volume *host, *field;
    require_ok(tsr_volume_create(NULL, TSR_F32, box, NULL, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < tsr_volume_count(host); i++) v[i] = value;
    require_ok(tsr_volume_copy(host, context, &field));
    tsr_volume_destroy(&host);
    return field;
}

static void poke(tsr_context *context, void *array, int64_t index, float value)
{
    require_ok(context->backend->upload(context->queue, (char *)array + 4 * index, &value, sizeof value));
}

/* A sampled speed that becomes NaN or infinite at one place ahead of the front, in every scheme. */
static void terms(void **unused)
{
    (void)unused;
    const float values[2] = { NAN, INFINITY };
    const int at[3] = { 25, 12, 12 }; /* sampling between voxels reaches it from those beside it, too */
    for (int kind = 0; kind < 4; kind++) {
        tsr_context *context = test_context_on(device_name(), 2);
        tsr_volume *field = constant_field(context, 1);
        tsr_tiles *tiles = tiles_of(context, box, kind & 1 ? 4 : 8, 2.5, ball), *twin = tiles_of(context, box, kind & 1 ? 4 : 8, 2.5, ball);
        tsr_levelset_options o =
            OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 0.1 }, { .kind = TSR_LEVELSET_SPEED_FIELD, .value = 1, .field = { field } } },
                    .term_count = 2, .time_step = 0.25);
        if (kind > 1) {
            o.space = TSR_STENCIL_WENO5;
            o.time = TSR_TIME_RK3;
        }
        o.managed_every = kind == 2 ? 3 : 1;
        tsr_levelset *l, *other;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        char expected[128];
        require_ok(tsr_levelset_create(tiles, &o, &l));
        poke(context, tsr_volume_data(field), (at[2] * box.y + at[1]) * box.x + at[0], values[kind & 1]);
        require_error(tsr_levelset_step(l, 100, NULL, &report), TSR_ERROR_ARGUMENT, "term 1 (SPEED_FIELD) is not finite at voxel (24, 1");
        const int64_t steps = report.steps;
        assert_true(steps > 2 && steps < 40);
        poke(context, tsr_volume_data(field), (at[2] * box.y + at[1]) * box.x + at[0], 1);
        require_ok(tsr_levelset_create(twin, &o, &other));
        require_ok(tsr_levelset_step(other, steps, NULL, NULL));
        assert_true(digest_of(tiles) == digest_of(twin));
        /* The same step is met again at once, and named; then the run goes on as if nothing had been. */
        poke(context, tsr_volume_data(field), (at[2] * box.y + at[1]) * box.x + at[0], values[kind & 1]);
        snprintf(expected, sizeof expected, "step %d: term 1", (int)steps + 1);
        require_error(tsr_levelset_step(l, 1, NULL, &report), TSR_ERROR_ARGUMENT, expected);
        poke(context, tsr_volume_data(field), (at[2] * box.y + at[1]) * box.x + at[0], 1);
        require_ok(tsr_levelset_step(l, 8, NULL, NULL));
        require_ok(tsr_levelset_step(other, 8, NULL, NULL));
        assert_true(digest_of(tiles) == digest_of(twin));
        tsr_levelset_destroy(&l);
        tsr_levelset_destroy(&other);
        tsr_tiles_destroy(&tiles);
        tsr_tiles_destroy(&twin);
        tsr_volume_destroy(&field);
        tsr_context_destroy(&context);
    }
}

/* A value of the field itself; the first in the order of the list is told wherever it lies, whatever the number of threads. */
static void field_values(void **unused)
{
    (void)unused;
    tsr_context *context = test_context_on(device_name(), 2);
    tsr_tiles *tiles = tiles_of(context, box, 8, 2.5, ball);
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .time_step = 0.1);
    tsr_levelset *l;
    tsr_tile_state state;
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_ok(tsr_levelset_step(l, 2, NULL, NULL));
    const uint64_t before = digest_of(tiles);
    require_ok(tsr_tiles_read_state(tiles, &state));
    const tsr_tile_pool *pool = &tiles->pool;
    const int32_t entries[2] = { state.count / 2, 1 };
    for (int i = 0; i < 2; i++) {
        uint64_t key;
        uint32_t id;
        char expected[128];
        float kept;
        const int64_t voxel = 5 * 64 + 6 * 8 + 3; /* (3, 6, 5) of its tile */
        require_ok(context->backend->download(context->queue, &key, (const uint64_t *)pool->key[state.list] + entries[i], sizeof key));
        require_ok(context->backend->download(context->queue, &id, pool->id[state.list] + entries[i], sizeof id));
        require_ok(context->backend->download(context->queue, &kept, pool->phi[state.phi] + id * 512 + voxel, sizeof kept));
        poke(context, pool->phi[state.phi], id * 512 + voxel, i ? -INFINITY : NAN);
        snprintf(expected, sizeof expected, "step 3: the field is %s at voxel (%d, %d, %d)", i ? "-inf" : "nan", tsr_key_x(key) * 8 + 3,
                 tsr_key_y(key) * 8 + 6, tsr_key_z(key) * 8 + 5);
        require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_ARGUMENT, expected);
        poke(context, pool->phi[state.phi], id * 512 + voxel, kept);
    }
    require_ok(context->backend->tiles->refresh(context->queue, &tiles->pool));
    assert_true(digest_of(tiles) == before);
    require_ok(tsr_levelset_step(l, 1, NULL, NULL));
    tsr_levelset_destroy(&l);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* Terms that are numbers, but too large to compute with. */
static void overflow(void **unused)
{
    (void)unused;
    tsr_context *context = test_context_on(device_name(), 2);
    tsr_tiles *tiles = tiles_of(context, box, 8, 2.5, ball);
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 9e17 } }, .term_count = 1, .time_step = 9e17, .force = 1);
    tsr_levelset *l;
    const uint64_t before = digest_of(tiles);
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_ok(tsr_levelset_step(l, 0, NULL, NULL));
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_VELOCITY, .value = 9e17, .vector = { 9e17, 9e17, 9e17 } };
    o.time_step = 1e10;
    require_ok(tsr_levelset_set(l, &o));
    require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_ARGUMENT, "step 1: the terms are too large for numbers at voxel (");
    assert_true(digest_of(tiles) == before);
    o.terms[0].value = (double)INFINITY;
    require_error(tsr_levelset_set(l, &o), TSR_ERROR_ARGUMENT, "expected a number below 1e18");
    tsr_levelset_destroy(&l);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(terms), cmocka_unit_test(field_values), cmocka_unit_test(overflow) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
