/* Denoising on the device of TESSERA_DEVICE against the CPU with two threads: the same bits and the same noise, for every rule, type and kind of volume,
 * and the same errors. */
#include <math.h>

#include "context.h"

static tsr_volume *noisy(tsr_dtype dtype, tsr_size3 size, uint64_t *random)
{
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    void *data = tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const double k = 100 + 60 * (double)((i % size.x) / 9 % 2) + 20 * (test_uniform(random) + test_uniform(random) + test_uniform(random));
        if (dtype == TSR_U8) ((uint8_t *)data)[i] = (uint8_t)k;
        else if (dtype == TSR_I16) ((int16_t *)data)[i] = (int16_t)(k - 150);
        else if (dtype == TSR_I64) ((int64_t *)data)[i] = INT64_MIN + (int64_t)(k * 1e9);
        else if (dtype == TSR_F32) ((float *)data)[i] = (float)(k * 0.37);
        else ((double *)data)[i] = k * 1e200;
    }
    return v;
}

/* On the context, and back on the host. */
static tsr_status denoise(tsr_context *on, const tsr_volume *volume, const tsr_denoise_options *o, tsr_volume **out, double *sigma)
{
    tsr_volume *moved = NULL, *result = NULL;
    require_ok(tsr_volume_copy(volume, on, &moved));
    const tsr_status status = tsr_volume_denoise(on, moved, o, &result, sigma);
    *out = NULL;
    if (status == TSR_OK) require_ok(tsr_volume_copy(result, NULL, out));
    else assert_null(result);
    tsr_volume_destroy(&result);
    tsr_volume_destroy(&moved);
    return status;
}

static void bits(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        tsr_size3 size;
        tsr_denoise_options o;
    } cases[] = {
        { TSR_U8, { 40, 31, 26 }, { .shifts = 2 } },
        { TSR_F32, { 65, 40, 17 }, { .shifts = 1, .hard = 1 } },
        { TSR_I16, { 70, 33, 1 }, { .rule = TSR_DENOISE_UNIVERSAL, .shifts = 3 } },
        { TSR_F64, { 33, 20, 9 }, { .rule = TSR_DENOISE_UNIVERSAL, .hard = 1, .filter = TSR_WAVELET_HAAR, .levels = 2 } },
        { TSR_I64, { 24, 16, 12 }, { .sigma = 8e9, .strength = 1.5, .filter = TSR_WAVELET_DD137, .shifts = 1 } },
        { TSR_U8, { 500, 1, 1 }, { .shifts = 4 } },
        { TSR_F32, { 48, 48, 58 }, { .levels = 1, .shifts = 1 } }, /* bands of 24 x 24 x 29, more than one part of 1 << 14 */
    };
    uint64_t random = test_seed();
    tsr_context *cpu = test_context_on("cpu", 2);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tsr_denoise_options o = cases[c].o;
        tsr_volume *v = noisy(cases[c].dtype, cases[c].size, &random), *mine, *theirs;
        double sigma[2] = { 0, 1 };
        int64_t changed = 0;
        const size_t element = tsr_dtype_size(cases[c].dtype);
        o.struct_size = sizeof o;
        require_ok(tsr_volume_set_scaling(v, -0.5, 3));
        require_ok(denoise(cpu, v, &o, &theirs, &sigma[0]));
        require_ok(denoise(context, v, &o, &mine, &sigma[1]));
        if (sigma[0] != sigma[1]) fail_msg("case %zu: noise of %.17g, the CPU's is %.17g", c, sigma[1], sigma[0]);
        const char *a = (const char *)tsr_volume_data_const(mine), *b = (const char *)tsr_volume_data_const(theirs);
        for (int64_t i = 0; i < tsr_volume_count(v); i++) {
            if (memcmp(a + (size_t)i * element, b + (size_t)i * element, element))
                fail_msg("case %zu: voxel %lld is another than the CPU's", c, (long long)i);
            changed += memcmp(a + (size_t)i * element, (const char *)tsr_volume_data_const(v) + (size_t)i * element, element) != 0;
        }
        assert_true(changed > tsr_volume_count(v) / 2);
        tsr_volume_destroy(&mine);
        tsr_volume_destroy(&theirs);
        tsr_volume_destroy(&v);
    }
    tsr_context_destroy(&cpu);
}

static void copies_and_errors(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noisy(TSR_F32, (tsr_size3){ 20, 10, 8 }, &random), *out = NULL;
    float *f = (float *)tsr_volume_data(v);
    double sigma = -1;
    tsr_denoise_options o = TSR_DENOISE_OPTIONS;
    f[20 * 10 + 3] = NAN;
    f[20 * 10 * 7] = INFINITY;
    assert_int_equal(denoise(context, v, NULL, &out, NULL), TSR_ERROR_ARGUMENT);
    assert_non_null(strstr(tsr_error_message(), "voxel 3 0 1 is nan, expected finite"));
    f[20 * 10 + 3] = 1;
    assert_int_equal(denoise(context, v, NULL, &out, NULL), TSR_ERROR_ARGUMENT);
    assert_non_null(strstr(tsr_error_message(), "voxel 0 0 7 is inf, expected finite"));
    o.shifts = 9;
    assert_int_equal(denoise(context, v, &o, &out, NULL), TSR_ERROR_ARGUMENT);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) f[i] = -0.25f; /* all equal */
    require_ok(denoise(context, v, NULL, &out, &sigma));
    assert_true(sigma == 0);
    assert_memory_equal(tsr_volume_data_const(out), f, (size_t)tsr_volume_count(v) * sizeof *f);
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bits), cmocka_unit_test(copies_and_errors) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
