/* Denoising: the thresholds against Haar coefficients worked out here, noise that is found and taken out, shifts, types, errors. */
#include "support.h"

#include <float.h>
#include <math.h>

static tsr_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context_on("cpu", 2);
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    tsr_context_destroy(&context);
    return 0;
}

static double normal(uint64_t *random) { return sqrt(-2 * log(1 - test_uniform(random))) * cos(6.283185307179586 * test_uniform(random)); }

static tsr_volume *noisy(tsr_dtype dtype, tsr_size3 size, double sigma, uint64_t *random, float *clean)
{
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const double x = (double)(i % size.x), y = (double)(i / size.x % size.y), z = (double)(i / size.x / size.y);
        const double s = (x - 24) * (x - 24) + (y - 20) * (y - 20) + (z - 16) * (z - 16) < 150 ? 160 : 60 + x;
        const double n = s + sigma * normal(random);
        if (clean) clean[i] = (float)s;
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)fmin(255, fmax(0, floor(n + 0.5)));
        else ((float *)tsr_volume_data(v))[i] = (float)n;
    }
    return v;
}

static double difference(const tsr_volume *v, const float *clean)
{
    double sum = 0;
    const int64_t n = tsr_volume_count(v);
    for (int64_t i = 0; i < n; i++) {
        const double d = (tsr_volume_dtype(v) == TSR_U8 ? (double)((const uint8_t *)tsr_volume_data_const(v))[i]
                                                        : (double)((const float *)tsr_volume_data_const(v))[i]) -
                         (double)clean[i];
        sum += d * d;
    }
    return sqrt(sum / (double)n);
}

/* One level of the orthonormal Haar transform of an image, its thresholds and the way back, in doubles from the papers' formulas. */
static void by_hand(void **state)
{
    (void)state;
    enum { N = 16, H = N / 2 };
    uint64_t random = test_seed();
    tsr_volume *v = NULL, *out = NULL;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ N, N, 1 }, NULL, &v));
    float *f = (float *)tsr_volume_data(v);
    for (int i = 0; i < N * N; i++) f[i] = (float)(10 * (i % N > 6) + 3 * (i / N) + 2 * normal(&random));
    double band[4][H * H], back[N * N];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < H; x++) {
            const double a = (double)f[2 * y * N + 2 * x], b = (double)f[2 * y * N + 2 * x + 1], c = (double)f[(2 * y + 1) * N + 2 * x],
                         e = (double)f[(2 * y + 1) * N + 2 * x + 1];
            band[0][y * H + x] = (a + b + c + e) / 2;
            band[1][y * H + x] = (b - a + e - c) / 2;
            band[2][y * H + x] = (c - a + e - b) / 2;
            band[3][y * H + x] = (e - b - c + a) / 2;
        }
    for (int rule = 0; rule < 2; rule++)
        for (int hard = 0; hard < 2; hard++) {
            const double sigma = 1.7;
            tsr_denoise_options o = TSR_DENOISE_OPTIONS;
            double shrunk[4][H * H], used;
            memcpy(shrunk, band, sizeof band);
            for (int k = 1; k < 4; k++) {
                double energy = 0;
                for (int i = 0; i < H * H; i++) energy += band[k][i] * band[k][i] / (H * H);
                const double structure = energy - sigma * sigma;
                const double t = rule ? sigma * sqrt(2 * log((double)(N * N))) : structure > 0 ? sigma * sigma / sqrt(structure) : HUGE_VAL;
                for (int i = 0; i < H * H; i++) {
                    const double m = fabs(band[k][i]) - t;
                    shrunk[k][i] = m <= 0 ? 0 : hard ? band[k][i] : copysign(m, band[k][i]);
                }
            }
            for (int y = 0; y < H; y++)
                for (int x = 0; x < H; x++) {
                    const double l = shrunk[0][y * H + x], h = shrunk[1][y * H + x], w = shrunk[2][y * H + x], d = shrunk[3][y * H + x];
                    back[2 * y * N + 2 * x] = (l - h - w + d) / 2;
                    back[2 * y * N + 2 * x + 1] = (l + h - w - d) / 2;
                    back[(2 * y + 1) * N + 2 * x] = (l - h + w - d) / 2;
                    back[(2 * y + 1) * N + 2 * x + 1] = (l + h + w + d) / 2;
                }
            o.rule = (tsr_denoise_rule)rule;
            o.hard = hard;
            o.sigma = sigma;
            o.levels = 1;
            o.shifts = 1;
            o.filter = TSR_WAVELET_HAAR;
            require_ok(tsr_volume_denoise(context, v, &o, &out, &used));
            assert_true(used == sigma);
            const float *r = (const float *)tsr_volume_data_const(out);
            for (int i = 0; i < N * N; i++)
                if (fabs((double)r[i] - back[i]) > 1e-4) fail_msg("rule %d hard %d: pixel %d is %g, not %g", rule, hard, i, (double)r[i], back[i]);
            tsr_volume_destroy(&out);
        }
    tsr_volume_destroy(&v);
}

static void noise_goes(void **state)
{
    (void)state;
    const tsr_size3 size = { 48, 40, 33 };
    uint64_t random = test_seed();
    float *clean = (float *)malloc((size_t)(size.x * size.y * size.z) * sizeof *clean);
    assert_non_null(clean);
    for (int t = 0; t < 2; t++) {
        tsr_volume *v = noisy(t ? TSR_U8 : TSR_F32, size, 8, &random, clean), *out = NULL;
        const double before = difference(v, clean);
        double after[3];
        for (int k = 0; k < 3; k++) {
            tsr_denoise_options o = TSR_DENOISE_OPTIONS;
            double sigma;
            o.rule = k == 2 ? TSR_DENOISE_UNIVERSAL : TSR_DENOISE_BAYES;
            o.hard = k == 2;
            o.shifts = k ? 2 : 1;
            require_ok(tsr_volume_denoise(context, v, &o, &out, &sigma));
            assert_true(fabs(sigma - 8) < 0.8);
            assert_int_equal(tsr_volume_dtype(out), tsr_volume_dtype(v));
            after[k] = difference(out, clean);
            tsr_volume_destroy(&out);
        }
        print_message("error %.3f: %.3f without shifts, %.3f bayes, %.3f universal\n", before, after[0], after[1], after[2]);
        assert_true(after[0] < 0.6 * before && after[1] < 0.93 * after[0] && after[2] < 0.5 * before);
        tsr_volume_destroy(&v);
    }
    free(clean);
}

static void threads_and_slope(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noisy(TSR_F32, (tsr_size3){ 40, 30, 20 }, 5, &random, NULL), *a = NULL, *b = NULL;
    tsr_context *one = test_context_on("cpu", 1);
    double s1, s2;
    require_ok(tsr_volume_set_scaling(v, -0.5, 3));
    require_ok(tsr_volume_denoise(context, v, NULL, &a, &s1));
    require_ok(tsr_volume_denoise(one, v, NULL, &b, &s2));
    assert_true(s1 == s2 && fabs(s1 - 2.5) < 0.3); /* real units */
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a) * 4);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&one);
}

static double at(const tsr_volume *v, int64_t i, uint64_t base)
{
    const void *data = tsr_volume_data_const(v);
    switch (tsr_volume_dtype(v)) {
    case TSR_U32: return (double)(int64_t)((const uint32_t *)data)[i] - (double)base;
    case TSR_U64: return (double)(int64_t)(((const uint64_t *)data)[i] - base);
    case TSR_I64: return (double)(int64_t)((uint64_t)((const int64_t *)data)[i] - base);
    case TSR_F32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}

/* The same picture wherever its range lies and however wide it is: moved by what every type can hold, as large and as small as floats go. */
static void any_range(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        uint64_t base;
        double unit, tolerance;
    } cases[] = {
        { TSR_U32, 4294967295u - 400, 1, 0.51 },
        { TSR_U64, UINT64_MAX - 400, 1, 0.51 },
        { TSR_I64, (uint64_t)INT64_MAX - 400, 1, 0.51 },
        { TSR_I64, (uint64_t)1 << 63, 1, 0.51 },
        { TSR_F32, 0, 1e36, 1e-3 },
        { TSR_F64, 0, 5e305, 1e-3 },
        { TSR_F64, 0, 1e-303, 1e-3 },
    };
    const tsr_size3 size = { 20, 21, 22 };
    uint64_t random = test_seed();
    tsr_volume *reals = noisy(TSR_U8, size, 5, &random, NULL), *plain = NULL, *v = NULL, *out = NULL;
    const int64_t n = tsr_volume_count(reals);
    double expected, sigma;
    require_ok(tsr_volume_convert(context, reals, TSR_F64, &v));
    require_ok(tsr_volume_denoise(context, v, NULL, &plain, &expected));
    tsr_volume_destroy(&v);
    assert_true(fabs(expected - 5) < 1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        require_ok(tsr_volume_create(NULL, cases[c].dtype, size, NULL, &v));
        for (int64_t i = 0; i < n; i++) {
            const uint64_t k = ((const uint8_t *)tsr_volume_data_const(reals))[i];
            if (cases[c].dtype == TSR_U32) ((uint32_t *)tsr_volume_data(v))[i] = (uint32_t)(cases[c].base + k);
            else if (cases[c].dtype == TSR_F32) ((float *)tsr_volume_data(v))[i] = (float)((double)k * cases[c].unit);
            else if (cases[c].dtype == TSR_F64) ((double *)tsr_volume_data(v))[i] = (double)k * cases[c].unit;
            else ((uint64_t *)tsr_volume_data(v))[i] = cases[c].base + k;
        }
        require_ok(tsr_volume_denoise(context, v, NULL, &out, &sigma));
        if (fabs(sigma / cases[c].unit - expected) > 1e-4) fail_msg("case %zu: noise of %g, not %g", c, sigma / cases[c].unit, expected);
        for (int64_t i = 0; i < n; i++) {
            const double is = at(out, i, cases[c].base) / cases[c].unit, was = at(plain, i, 0);
            if (!(fabs(is - was) < cases[c].tolerance)) fail_msg("case %zu: voxel %lld is %.9g, not %.9g", c, (long long)i, is, was);
        }
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&v);
    }
    tsr_volume_destroy(&plain);
    tsr_volume_destroy(&reals);
}

/* The whole range of a type: nothing wraps round or becomes infinite. Nothing to take out: a copy. */
static void ends_and_copies(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int t = 0; t < 4; t++) {
        tsr_volume *v = NULL, *out = NULL;
        double sigma;
        require_ok(tsr_volume_create(NULL, t == 0 ? TSR_F32 : t == 1 ? TSR_F64 : t == 2 ? TSR_I64 : TSR_U64, (tsr_size3){ 12, 10, 8 }, NULL, &v));
        for (int64_t i = 0; i < tsr_volume_count(v); i++) {
            const int high = i % 12 < 6;
            if (t == 0) ((float *)tsr_volume_data(v))[i] = high ? FLT_MAX : -FLT_MAX * (float)test_uniform(&random);
            else if (t == 1) ((double *)tsr_volume_data(v))[i] = high ? DBL_MAX : -DBL_MAX * test_uniform(&random);
            else
                ((uint64_t *)tsr_volume_data(v))[i] =
                    (high ? UINT64_MAX : (uint64_t)(test_uniform(&random) * 9e18)) ^ (t == 2 ? (uint64_t)1 << 63 : 0);
        }
        require_ok(tsr_volume_denoise(context, v, NULL, &out, &sigma));
        assert_true(sigma > 0 && isfinite(sigma));
        for (int64_t i = 0; i < tsr_volume_count(v); i++) {
            const double is = t == 3 ? (double)((const uint64_t *)tsr_volume_data_const(out))[i] - 9.2e18 : at(out, i, 0);
            if (!isfinite(is) || (i % 12 < 5 && !(is > 0))) fail_msg("type %d: voxel %lld is %g", t, (long long)i, is);
        }
        tsr_volume_destroy(&out);
        for (int64_t i = 0; i < tsr_volume_count(v); i++) /* all equal, then without noise in the finest band */
            if (t == 0) ((float *)tsr_volume_data(v))[i] = 0.1f;
            else if (t == 1) ((double *)tsr_volume_data(v))[i] = i < 480 ? 1e15 + 7 : -0.1;
            else ((uint64_t *)tsr_volume_data(v))[i] = UINT64_MAX - (i < 480 ? 3 : 0);
        require_ok(tsr_volume_denoise(context, v, NULL, &out, &sigma));
        assert_true(sigma == 0);
        assert_memory_equal(tsr_volume_data_const(out), tsr_volume_data_const(v), (size_t)tsr_volume_count(v) * (t ? 8 : 4));
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&v);
    }
}

static void wrong_arguments(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noisy(TSR_F32, (tsr_size3){ 8, 8, 8 }, 1, &random, NULL), *out = NULL;
    tsr_denoise_options o = TSR_DENOISE_OPTIONS;
    o.sigma = -1;
    require_error(tsr_volume_denoise(context, v, &o, &out, NULL), TSR_ERROR_ARGUMENT, "sigma is -1");
    o.sigma = 0;
    o.shifts = 9;
    require_error(tsr_volume_denoise(context, v, &o, &out, NULL), TSR_ERROR_ARGUMENT, "shifts is 9");
    o.shifts = 0;
    o.levels = 60;
    require_error(tsr_volume_denoise(context, v, &o, &out, NULL), TSR_ERROR_ARGUMENT, "levels");
    ((float *)tsr_volume_data(v))[8 * 8 + 8 + 1] = NAN;
    require_error(tsr_volume_denoise(context, v, NULL, &out, NULL), TSR_ERROR_ARGUMENT, "voxel 1 1 1 is nan, expected finite");
    assert_null(out);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand),   cmocka_unit_test(noise_goes),      cmocka_unit_test(threads_and_slope),
                                        cmocka_unit_test(any_range), cmocka_unit_test(ends_and_copies), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
