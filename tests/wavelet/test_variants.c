/* The benchmark's other ways to a plane's coefficients (bench/wavelet_variants.c) against the library: the lifted ones bit for bit, for random sizes,
 * windows and slabs; the filter bank within float rounding. */
#include <math.h>

#include "context.h"

#include "device/backend.h"
#include "wavelet_variants.h"

enum { MOST = 150 };
static int16_t samples16[MOST * MOST], ours16[MOST * MOST], theirs16[MOST * MOST], back16[MOST * MOST];
static float samples32[MOST * MOST], ours32[MOST * MOST], theirs32[MOST * MOST];

static void library(const wavelet_variant_job *j, tsr_dtype dtype, void *coefficients)
{
    const int64_t size[2] = { j->width, j->height };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_plan *plan = NULL;
    o.filter = j->filter;
    o.levels = j->levels;
    o.boundary = j->boundary;
    o.layout = wavelet_variant_layout(j->variant);
    o.accuracy = j->accuracy ? j->accuracy : -1;
    require_ok(tsr_wavelet_plan_create(context, dtype, 2, size, &o, &plan));
    require_ok(tsr_wavelet_forward(plan, j->samples, coefficients, NULL));
    tsr_wavelet_plan_destroy(&plan);
}

static wavelet_variant_job draw(wavelet_variant variant, tsr_wavelet_filter filter, uint64_t *random)
{
    wavelet_variant_job j = { .variant = variant, .filter = filter, .threads = 1 + (int)(test_random(random) % 3) };
    j.width = 8 + (int32_t)(test_random(random) % (MOST - 7));
    j.height = 8 + (int32_t)(test_random(random) % (MOST - 7));
    j.levels = 1 + (int32_t)(test_random(random) % 3);
    j.strip = 1 + (int32_t)(test_random(random) % 70);
    j.rows = 16 + 2 * (int32_t)(test_random(random) % 20);
    if (test_random(random) & 1) j.height = j.rows * (1 + (int32_t)(test_random(random) % 2)) + 1; /* the last window holds one row */
    return j;
}

static void lifted(void **state)
{
    (void)state;
    static const tsr_wavelet_boundary boundaries[] = { TSR_WAVELET_CLAMP, TSR_WAVELET_SYMMETRIC, TSR_WAVELET_ZERO };
    uint64_t random = test_seed();
    for (int i = 0; i < MOST * MOST; i++) samples16[i] = (int16_t)(test_random(&random) % 256) - 128;
    for (int variant = 0; variant < VARIANT_CONVOLUTION; variant++)
        for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
            for (int round = 0; round < (test_is_slow() ? 3 : 6); round++) {
                wavelet_variant_job j = draw((wavelet_variant)variant, (tsr_wavelet_filter)filter, &random);
                const size_t n = (size_t)j.width * (size_t)j.height;
                j.boundary = boundaries[round % 3];
                j.accuracy = round & 1;
                j.samples = samples16;
                j.coefficients = theirs16;
                library(&j, TSR_I16, ours16);
                assert_true(wavelet_variant_begin(&j));
                wavelet_variant_run(&j);
                wavelet_variant_end(&j);
                for (size_t i = 0; i < n; i++)
                    if (ours16[i] != theirs16[i])
                        fail_msg("%s, %s, %d x %d, %d levels, %s, slabs of %d, windows of %d: (%zu, %zu) is %d, the library's %d",
                                 wavelet_variant_name(j.variant), tsr_wavelet_filter_name(j.filter), j.width, j.height, j.levels,
                                 tsr_wavelet_boundary_name(j.boundary), j.strip, j.rows, i % (size_t)j.width, i / (size_t)j.width, theirs16[i],
                                 ours16[i]);
                j.inverse = 1;
                j.samples = back16;
                assert_true(wavelet_variant_begin(&j));
                wavelet_variant_run(&j);
                wavelet_variant_end(&j);
                if (memcmp(back16, samples16, n * sizeof *back16))
                    fail_msg("%s, %s, %d x %d, %d levels, %s, slabs of %d, windows of %d: does not come back", wavelet_variant_name(j.variant),
                             tsr_wavelet_filter_name(j.filter), j.width, j.height, j.levels, tsr_wavelet_boundary_name(j.boundary), j.strip, j.rows);
            }
}

static void convolved(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < MOST * MOST; i++) samples32[i] = (float)test_uniform(&random) - 0.5F;
    for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
        for (int round = 0; round < 4; round++) {
            wavelet_variant_job j = draw(VARIANT_CONVOLUTION, (tsr_wavelet_filter)filter, &random);
            if (filter == TSR_WAVELET_HAAR) j.width = j.width / 8 * 8, j.height = j.height / 8 * 8;
            j.boundary = TSR_WAVELET_SYMMETRIC;
            j.samples = samples32;
            j.coefficients = theirs32;
            library(&j, TSR_F32, ours32);
            assert_true(wavelet_variant_begin(&j));
            wavelet_variant_run(&j);
            wavelet_variant_end(&j);
            for (int32_t i = 0; i < j.width * j.height; i++)
                if (!(fabsf(ours32[i] - theirs32[i]) <= 1e-5F))
                    fail_msg("%s, %d x %d, %d levels: (%d, %d) is %g, the library's %g", tsr_wavelet_filter_name(j.filter), j.width, j.height,
                             j.levels, i % j.width, i / j.width, (double)theirs32[i], (double)ours32[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lifted), cmocka_unit_test(convolved) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
