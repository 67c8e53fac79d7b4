/* The main regression test of the level-set engine: a sparse run equals a dense run bit for bit (docs/theory/levelset.md 5, docs/theory/tiles.md 7);
 * with a GPU's own arithmetic up to its rounding.
 *
 * The dense side applies tsr_segment_update (or tsr_fast_update, as the kernels do without `exact`) to every voxel of a clamped grid with
 * replicated borders; what is tested is everything else: tiles, halos, management, face normals shared between voxels, SIMD variants, time steps,
 * totals. The formula has its own tests. */
#include "support.h"

#include <math.h>

#include "device/isa.h"
#include "tiles/tiles.h"
#include "segment/segment.h"
#include "segment/update_fast.h"
#include "tessera/segment.h"

struct dense {
    tsr_size3 n;
    float *phi, *next, *speed;
    tsr_segment_params params;
    int fast, isotropic; /* tsr_fast_update */
    float largest, time_step;
    int64_t active, inside;
    uint64_t change;
};

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static void dense_step(struct dense *d)
{
    float largest = 0;
    tsr_fast_params fast;
    d->time_step = tsr_segment_time_step(&d->params, d->largest);
    fast = tsr_fast_prepare(&d->params, d->time_step, d->isotropic);
    d->active = d->inside = 0;
    d->change = 0;
    for (int64_t z = 0, i = 0; z < d->n.z; z++)
        for (int64_t y = 0; y < d->n.y; y++) {
            const float *row[9];
            for (int r = 0; r < 9; r++) row[r] = d->phi + (clamped(z + r / 3 - 1, d->n.z) * d->n.y + clamped(y + r % 3 - 1, d->n.y)) * d->n.x;
            for (int64_t x = 0; x < d->n.x; x++, i++) {
                const int64_t left = clamped(x - 1, d->n.x), right = clamped(x + 1, d->n.x);
                float cube[27];
                int32_t crosses;
                for (int r = 0; r < 9; r++) {
                    cube[3 * r] = row[r][left];
                    cube[3 * r + 1] = row[r][x];
                    cube[3 * r + 2] = row[r][right];
                }
                float v = d->fast ? tsr_fast_update(cube + 13, 3, 9, d->speed[i], &fast, d->isotropic, &crosses)
                                  : tsr_segment_update(cube + 13, 3, 9, d->speed[i], d->time_step, &d->params);
                d->next[i] = v;
                int in_band = v > -d->params.band && v < d->params.band;
                d->active += in_band;
                d->inside += v < 0;
                d->change += tsr_segment_change(d->phi[i], v, 1.0f / d->params.band);
                if (in_band) largest = tsr_maxf(largest, tsr_absf(d->speed[i]));
            }
        }
    d->largest = largest;
    float *t = d->phi;
    d->phi = d->next;
    d->next = t;
}

/* An image of blobs and noise in which a surface grows, shrinks, splits and merges. */
static void make_image(float *image, tsr_size3 n, uint64_t *random)
{
    double blob[6][4];
    for (int b = 0; b < 6; b++) {
        blob[b][0] = test_uniform(random) * (double)n.x;
        blob[b][1] = test_uniform(random) * (double)n.y;
        blob[b][2] = test_uniform(random) * (double)n.z;
        blob[b][3] = 4 + 8 * test_uniform(random);
    }
    for (int64_t z = 0, i = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, i++) {
                double v = 20;
                for (int b = 0; b < 6; b++) {
                    double dx = (double)x - blob[b][0], dy = (double)y - blob[b][1], dz = (double)z - blob[b][2];
                    if (dx * dx + dy * dy + dz * dz < blob[b][3] * blob[b][3]) v = 100;
                }
                image[i] = (float)(v + 30 * (test_uniform(random) - 0.5));
            }
}

struct setting {
    tsr_size3 n;
    int32_t edge, threads, isa, steps;
    tsr_tiles_index index;
    tsr_rescale rescale;
    tsr_scheme scheme;
    int godunov, fast, balls; /* balls: 0 = 4; more are for lists of many tiles, in few steps */
    double alpha;
    tsr_vec3 spacing;
};

/* The hardware's roots have bits of their own: then all but a thousandth of the field must agree within `tolerance` (where surfaces meet, a step's
 * rounding decides which voxel moves first), and the counts are not compared. */
static void compare(const struct dense *d, float tolerance, const tsr_segmentation *s, int step)
{
    tsr_volume *field, *host;
    tsr_tile_state state;
    require_ok(tsr_segmentation_field(s, &field));
    require_ok(tsr_volume_copy(field, NULL, &host));
    const float *phi = (const float *)tsr_volume_data(host);
    int64_t count = d->n.x * d->n.y * d->n.z, off = 0;
    for (int64_t i = 0; i < count; i++) {
        if (tolerance > 0 ? fabsf(phi[i] - d->phi[i]) <= tolerance : !memcmp(&phi[i], &d->phi[i], sizeof *phi)) continue;
        if (tolerance > 0 && ++off <= count / 1000) continue;
        fail_msg("step %d voxel (%d, %d, %d): sparse %.9g dense %.9g", step, (int)(i % d->n.x), (int)(i / d->n.x % d->n.y),
                 (int)(i / d->n.x / d->n.y), (double)phi[i], (double)d->phi[i]);
    }
    require_ok(tsr_tiles_read_state(s->tiles, &state));
    if (step > 0 && tolerance == 0) {
        assert_int_equal(state.active_voxels, d->active);
        assert_int_equal(state.inside_voxels + state.inside_absent, d->inside);
        assert_int_equal(state.change, d->change);
        assert_memory_equal(&state.time_step, &d->time_step, sizeof d->time_step);
    }
    assert_int_equal(state.count + state.free_count + TSR_TILE_FIRST, s->tiles->pool.capacity);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&field);
}

static void sparse_equals_dense(const struct setting *t)
{
    uint64_t random = test_seed();
    tsr_isa_force(t->isa);
    tsr_context *context = test_context_on(getenv("TESSERA_DEVICE") ? getenv("TESSERA_DEVICE") : "cpu", t->threads);
    int64_t count = t->n.x * t->n.y * t->n.z;
    tsr_geometry geometry = tsr_geometry_make(t->spacing, (tsr_vec3){ 3, 4, 5 }, TSR_SPACE_RAS);
    tsr_volume *host, *image;
    require_ok(tsr_volume_create(NULL, TSR_F32, t->n, &geometry, &host));
    make_image((float *)tsr_volume_data(host), t->n, &random);
    require_ok(tsr_volume_copy(host, context, &image));

    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    options.target = 100;
    options.epsilon = 40;
    options.alpha = t->alpha;
    options.rescale = t->rescale;
    options.scheme = t->scheme;
    options.godunov = t->godunov;
    options.exact = !t->fast;
    options.tile_edge = t->edge;
    options.tile_index = t->index;
    options.tile_capacity = 40; /* grows on the way */
    tsr_segmentation *s;
    require_ok(tsr_segmentation_create(context, image, &options, &s));
    for (int i = 0; i < (t->balls ? t->balls : 4); i++) {
        tsr_vec3 at = { test_uniform(&random) * (double)(t->n.x - 1), test_uniform(&random) * (double)(t->n.y - 1),
                        test_uniform(&random) * (double)(t->n.z - 1) };
        require_ok(tsr_segmentation_sphere(s, at, (3 + 6 * test_uniform(&random)) * t->spacing.x, 0));
    }

    struct dense d = { .n = t->n,
                       .phi = (float *)malloc((size_t)count * sizeof(float)),
                       .next = (float *)malloc((size_t)count * sizeof(float)),
                       .speed = (float *)malloc((size_t)count * sizeof(float)) };
    tsr_segment_make_params(s, &d.params);
    tsr_volume *field, *speed, *copy;
    require_ok(tsr_segmentation_field(s, &field));
    require_ok(tsr_volume_copy(field, NULL, &copy));
    memcpy(d.phi, tsr_volume_data(copy), (size_t)count * sizeof(float));
    tsr_volume_destroy(&copy);
    require_ok(tsr_segmentation_speed(s, &speed));
    require_ok(tsr_volume_copy(speed, NULL, &copy));
    memcpy(d.speed, tsr_volume_data(copy), (size_t)count * sizeof(float));
    tsr_volume_destroy(&copy);
    for (int64_t i = 0; i < count; i++)
        if (d.phi[i] > -d.params.band && d.phi[i] < d.params.band) d.largest = tsr_maxf(d.largest, tsr_absf(d.speed[i]));

    const float tolerance = t->fast && tsr_context_device(context).kind == TSR_DEVICE_CUDA ? 1e-5f : 0.0f;
    d.fast = t->fast && tsr_context_device(context).kind != TSR_DEVICE_CPU;
    d.isotropic = t->spacing.x == t->spacing.y && t->spacing.x == t->spacing.z;
    compare(&d, tolerance, s, 0);
    const int steps = test_watches_threads() ? 12 : test_is_slow() ? t->steps / 2 : t->steps;
    for (int step = 0; step < steps;) {
        int batch = t->balls || step % 3 == 0 ? 1 : test_watches_threads() ? 10 : 34; /* single steps and whole graphs */
        tsr_segment_report report = TSR_SEGMENT_REPORT;
        require_ok(tsr_segmentation_step(s, batch, NULL, &report));
        for (int i = 0; i < report.steps; i++) dense_step(&d);
        step += batch;
        compare(&d, tolerance, s, step);
        if (report.stop == TSR_STOP_EMPTY) {
            assert_int_equal(d.inside, 0);
            break;
        }
    }
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tsr_segmentation_tiles(s), &info));
    assert_true(!t->balls || info.count >= 16 * 80); /* on the emulator a warp takes tiles in a row then */
    free(d.phi);
    free(d.next);
    free(d.speed);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&speed);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    tsr_isa_force(-1);
}

#define UNIT    \
    {           \
        1, 1, 1 \
    }
#define TEST_SETTING(name, ...)                                     \
    static void name(void **state)                                  \
    {                                                               \
        (void)state;                                                \
        const struct setting setting = { __VA_ARGS__ };             \
        if (test_watches_threads() && setting.threads == 1) skip(); \
        sparse_equals_dense(&setting);                              \
    }
TEST_SETTING(edge8_sorted, .n = { 40, 37, 33 }, .edge = 8, .threads = 2, .isa = -1, .steps = 104, .alpha = 0.7, .spacing = UNIT)
TEST_SETTING(edge4_sorted, .n = { 37, 30, 41 }, .edge = 4, .threads = 1, .isa = -1, .steps = 104, .alpha = 0.6, .spacing = UNIT)
TEST_SETTING(edge8_paged, .n = { 35, 40, 32 }, .edge = 8, .threads = 1, .isa = TSR_ISA_AVX2, .steps = 70, .index = TSR_TILES_PAGED, .alpha = 0.8,
             .spacing = UNIT)
TEST_SETTING(edge4_paged, .n = { 33, 34, 35 }, .edge = 4, .threads = 2, .isa = TSR_ISA_BASE, .steps = 70, .index = TSR_TILES_PAGED, .alpha = 0.9,
             .spacing = UNIT)
TEST_SETTING(curvature_only, .n = { 32, 32, 32 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0, .spacing = UNIT)
TEST_SETTING(data_only, .n = { 32, 33, 34 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 1, .spacing = UNIT)
TEST_SETTING(locked, .n = { 30, 30, 30 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.7, .rescale = TSR_RESCALING_LOCK,
             .spacing = UNIT)
TEST_SETTING(frozen_godunov, .n = { 30, 30, 30 }, .edge = 4, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.7, .rescale = TSR_RESCALING_FREEZE,
             .godunov = 1, .spacing = UNIT)
TEST_SETTING(source_scheme, .n = { 30, 30, 30 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.9, .scheme = TSR_SCHEME_SOURCE,
             .spacing = UNIT)
TEST_SETTING(unequal_spacing, .n = { 40, 30, 20 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.7, .spacing = { 0.7, 0.9, 1.6 })
TEST_SETTING(no_rescaling, .n = { 30, 30, 30 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.7, .rescale = TSR_RESCALING_NONE,
             .spacing = UNIT)
TEST_SETTING(one_tile_wide, .n = { 40, 7, 33 }, .edge = 8, .threads = 2, .isa = -1, .steps = 36, .alpha = 0.7, .spacing = UNIT)
TEST_SETTING(fast_one_tile_wide, .n = { 8, 33, 40 }, .edge = 8, .threads = 2, .isa = -1, .steps = 36, .alpha = 0.7, .fast = 1, .spacing = UNIT)
TEST_SETTING(many_tiles, .n = { 156, 95, 61 }, .edge = 8, .threads = 2, .isa = -1, .steps = 3, .balls = 120, .alpha = 0.7, .spacing = UNIT)
TEST_SETTING(fast_edge8, .n = { 40, 37, 33 }, .edge = 8, .threads = 2, .isa = -1, .steps = 104, .alpha = 0.7, .fast = 1, .spacing = UNIT)
TEST_SETTING(fast_edge4, .n = { 33, 34, 35 }, .edge = 4, .threads = 2, .isa = -1, .steps = 104, .alpha = 0.6, .fast = 1, .spacing = { 0.5, 0.5, 0.5 })
TEST_SETTING(fast_unequal, .n = { 40, 30, 20 }, .edge = 8, .threads = 2, .isa = -1, .steps = 70, .alpha = 0.7, .fast = 1,
             .spacing = { 0.7, 0.9, 1.6 })

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge8_sorted),   cmocka_unit_test(edge4_sorted),    cmocka_unit_test(edge8_paged),   cmocka_unit_test(edge4_paged),
        cmocka_unit_test(curvature_only), cmocka_unit_test(data_only),       cmocka_unit_test(locked),        cmocka_unit_test(frozen_godunov),
        cmocka_unit_test(source_scheme),  cmocka_unit_test(unequal_spacing), cmocka_unit_test(no_rescaling),  cmocka_unit_test(fast_edge8),
        cmocka_unit_test(fast_edge4),     cmocka_unit_test(fast_unequal),    cmocka_unit_test(one_tile_wide), cmocka_unit_test(fast_one_tile_wide),
        cmocka_unit_test(many_tiles),
    };
    return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
