/* Passes that know by two bits a voxel what moves (solver/engine_bits.h): bits and areas against their definitions, and runs against those of a
 * variant that looks at every value, bit for bit, from fields that bits could get wrong. */
#include "device/isa.h"
#include "engine_support.h"
#include "tiles/tiles.h"
#include "solver/engine_bits.h"
#include "solver/engine_tile.h"
#include "tessera/levelset.h"

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void areas(void **unused)
{
    uint32_t seed = 7;
    (void)unused;
    for (int32_t round = 0; round < 600; round++) {
        uint64_t hit[8] = { 0 };
        uint32_t expected = 0;
        const int32_t guard = 1 + round % 3, count = (int32_t)(next(&seed) % 6);
        for (int32_t k = 0; k < count; k++) {
            const int32_t i = (int32_t)(next(&seed) % 512);
            hit[i / 64] |= (uint64_t)1 << i % 64;
            expected |= tsr_areas(i % 8, i / 8 % 8, i / 64, 8, guard);
        }
        assert_int_equal(tsr_bits_areas(hit, guard), expected);
    }
}

static void notes(void **unused)
{
    static const float some[] = { 1.5f, -1.5f, 0.0f, -0.0f, 1.4999999f, -0.3f, 7e-42f };
    float values[512];
    tsr_tile_bits bits;
    uint32_t seed = 3;
    (void)unused;
    for (int32_t isa = 0; isa < TSR_ISA_COUNT && isa <= (int32_t)tsr_isa_current(); isa++) {
        tsr_isa_force(isa);
        for (int32_t round = 0; round < 40; round++) {
            for (int32_t i = 0; i < 512; i++) values[i] = some[next(&seed) % 7];
            if (round == 20) values[next(&seed) % 512] = NAN;
            const int beyond = round > 20 && round % 2;
            if (beyond) values[next(&seed) % 512] = round % 4 == 1 ? 1.5000001f : -INFINITY;
            assert_int_equal(TSR_ISA_SELECT(tsr_engine_note)(values, 1.5f, &bits), beyond);
            for (int32_t i = 0; i < 512; i++) {
                assert_int_equal(bits.free[i / 64] >> i % 64 & 1, fabsf(values[i]) != 1.5f);
                assert_int_equal(bits.inside[i / 64] >> i % 64 & 1, values[i] < 0);
            }
        }
        tsr_isa_force(-1);
    }
}

static double ball(double x, double y, double z) { return distance3(x, y, z, 20.3, 19.1, 21.7) - 11; }
/* Both sides, and nothing between them: where the sides meet no voxel is in the band. */
static double step_shape(double x, double y, double z) { return ball(x, y, z) + 2 * sin(0.9 * x) * cos(0.7 * y + z) < 0 ? -9 : 9; }
/* A sheet that leaves the domain. */
static double wall(double x, double y, double z) { return fabs(x + 0.3 * y - 0.2 * z - 18) - 3; }

enum { PLAIN = 0, ODD = 1, TOUCHED = 2, FORCED = 4 };

/* Of first order; and in stages, where a voxel may have left the band since the step began. */
enum { NARROW = 0, ENO2, WENO5, SCHEMES };

/* What a list is after three runs of some steps, told by a pass of this variant. ODD: values beyond the band. TOUCHED: somebody writes to the list
 * between two runs. FORCED: steps so long that values jump from one side to the other. */
static uint64_t after_runs(int isa, int threads, shape_function shape, int bounded, int32_t sweeps, int scheme, int what)
{
    tsr_context_options wanted = TSR_CONTEXT_OPTIONS;
    tsr_levelset_options o = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_context *context;
    tsr_levelset *levelset;
    uint64_t hash = 14695981039346656037ull;
    uint32_t seed = 11;
    wanted.device = "cpu";
    wanted.threads = threads;
    tsr_isa_force(isa);
    require_ok(tsr_context_create(&wanted, &context));
    tsr_tiles *tiles;
    if (bounded) tiles = tiles_of(context, (tsr_size3){ 42, 40, 44 }, 8, 1.5, shape);
    else {
        const tsr_size3 n = { 42, 40, 44 };
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_volume *field;
        options.band = 1.5;
        require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &field));
        float *v = (float *)tsr_volume_data(field);
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) v[i] = (float)shape((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
        require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
        require_ok(tsr_tiles_load(tiles, field));
        tsr_volume_destroy(&field);
    }
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.6 };
    o.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.3 };
    o.term_count = scheme == ENO2 ? 1 : 2;
    if (scheme == ENO2) {
        o.space = TSR_STENCIL_ENO2;
        o.time = TSR_TIME_RK2;
    }
    if (scheme == WENO5) {
        o.space = TSR_STENCIL_WENO5;
        o.time = TSR_TIME_RK3;
    }
    o.reshape = sweeps ? TSR_RESHAPE_REINIT : TSR_RESHAPE_TERM;
    o.reshape_sweeps = sweeps;
    if (what & FORCED) {
        o.time_step = 6;
        o.force = 1;
    }
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    for (int32_t run = 0; run < 3; run++) {
        const tsr_tile_pool *pool = &tiles->pool;
        for (int32_t k = 0; k < 60 && (what & (run ? TOUCHED : ODD)); k++) {
            const uint32_t id = pool->id[pool->state->list][next(&seed) % (uint32_t)pool->state->count];
            float *v = pool->phi[pool->state->phi] + (int64_t)id * 512 + next(&seed) % 512;
            *v = run ? (float)(next(&seed) % 300) / 100 - 1.5f : *v * 1.75f;
        }
        if (what & TOUCHED && run == 1) require_ok(tsr_levelset_changed(levelset)); /* the third run begins without a word */
        for (int32_t left = what & FORCED ? 3 + run : 1; left > 0; left--) {
            const tsr_status status = tsr_levelset_step(levelset, what & FORCED ? 1 : 3 + run, NULL, &report);
            if (what & FORCED && status == TSR_ERROR_STATE) continue; /* farther than the band: the step is done */
            require_ok(status);
        }
        hash = digest(hash, &report.active_voxels, sizeof report.active_voxels);
        hash = digest(hash, &report.largest_change, sizeof report.largest_change);
        hash ^= digest_of(tiles);
    }
    for (int32_t at = 0; at < tiles->pool.state->count; at++) {
        const uint32_t word = tiles->pool.activity[tiles->pool.id[tiles->pool.state->list][at]];
        hash = digest(hash, &word, sizeof word);
    }
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    tsr_isa_force(-1);
    return hash;
}

static void runs(void **unused)
{
    static const shape_function shapes[] = { ball, step_shape, wall };
    uint64_t plain = 0;
    (void)unused;
    for (int32_t shape = 0; shape < 3; shape++)
        for (int bounded = 0; bounded < 2; bounded++)
            for (int32_t sweeps = 0; sweeps < 3; sweeps += 2)
                for (int scheme = NARROW; scheme < SCHEMES; scheme++)
                    for (int what = PLAIN; what <= FORCED; what += what < 2 ? 1 : 2) {
                        if (shape == 2 && !bounded) continue; /* has no inside */
                        if (test_is_slow() && scheme != NARROW && (bounded || sweeps)) continue;
                        const uint64_t expected = after_runs(TSR_ISA_BASE, 1, shapes[shape], bounded, sweeps, scheme, what);
                        for (int isa = TSR_ISA_AVX2; isa <= (int)tsr_isa_current() && !test_watches_threads(); isa++)
                            assert_true(after_runs(isa, 1, shapes[shape], bounded, sweeps, scheme, what) == expected);
                        assert_true(after_runs(-1, 3, shapes[shape], bounded, sweeps, scheme, what) == expected);
                        if (what == PLAIN) plain = expected;
                        else assert_true(expected != plain); /* the field does what it is there for */
                    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(areas), cmocka_unit_test(notes), cmocka_unit_test(runs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
