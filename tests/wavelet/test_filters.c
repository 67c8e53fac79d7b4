/* Filters: what they do to polynomials, norms and safe widths, weights of bands, steps of one's own, layouts rearranged; errors of plans. */
#include "arrays.h"

#include "oracle.h"

/* Interior coefficients of polynomials: which details vanish, what the approximation is. */
static void polynomials(void **state)
{
    (void)state;
    static const int gain_bits[] = { 0, 0, 0, 0, -1, 1, 0 }; /* of constants: 2^bits; -1: daub97's 1.2298827 */
    const int64_t size = 128;
    int16_t x[128], c[128];
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int degree = 0; degree < 4; degree += degree ? 2 : 1) {
            if (degree == 3 && f != TSR_WAVELET_DD97 && f != TSR_WAVELET_DD137) continue;
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = (tsr_wavelet_filter)f;
            o.levels = 1;
            o.accuracy = -1;
            for (int i = 0; i < 128; i++)
                x[i] = (int16_t)(degree == 0 ? 100 : degree == 1 ? 3 * i - 70 : i < 20 ? 16 * (i - 10) * (i - 10) * (i - 10) : 0);
            forward16(1, &size, &o, x, c);
            for (int k = 4; k < (degree == 3 ? 7 : 60); k++) {
                int detail = c[64 + k], low = c[k];
                if (degree == 0) assert_int_equal(low, gain_bits[f] < 0 ? 123 : 100 << gain_bits[f]);
                if (degree == 0) assert_int_equal(detail, 0);
                if (degree == 1 && f == TSR_WAVELET_HAAR) assert_int_equal(detail, 3);
                if (degree == 1 && f == TSR_WAVELET_DAUB97) assert_in_range(detail + 1, 0, 2);
                if (degree == 1 && f != TSR_WAVELET_HAAR && f != TSR_WAVELET_DAUB97) assert_int_equal(detail, 0);
                if (degree == 3) assert_int_equal(detail, 0);
            }
        }
}

static void norms_and_widths(void **state)
{
    (void)state;
    static const double norms[6][8] = {
        /* H1 L1 H2 L2 H3 L3 H4 L4: docs/theory/wavelets.md 6 */
        { .7071, 1.4142, 1.0000, 2.0000, 1.4142, 2.8284, 2.0000, 4.0000 }, { .8478, 1.2247, .9601, 1.6583, 1.2593, 2.3184, 1.7444, 3.2692 },
        { .8206, 1.2809, .9879, 1.7916, 1.3704, 2.5315, 1.9352, 3.5799 },  { .8093, 1.2809, .9667, 1.7916, 1.3394, 2.5315, 1.8911, 3.5799 },
        { .8872, 1.1399, .9834, 1.3421, 1.1723, 1.5592, 1.3708, 1.7984 },  { 1.3679, .7482, 1.0861, .5288, .7716, .3715, .5403, .2619 }
    };
    static const int bits[6][4][2] = { /* 2D, 3D at 1 to 4 levels: docs/theory/wavelets.md 3 */
                                       { { 12, 11 }, { 11, 10 }, { 10, 9 }, { 9, 8 } }, { { 12, 11 }, { 11, 10 }, { 10, 8 }, { 9, 7 } },
                                       { { 12, 11 }, { 11, 9 }, { 9, 8 }, { 8, 7 } },   { { 12, 11 }, { 10, 9 }, { 9, 8 }, { 8, 7 } },
                                       { { 12, 11 }, { 11, 9 }, { 9, 8 }, { 8, 6 } },   { { 12, 11 }, { 10, 8 }, { 8, 5 }, { 6, 2 } }
    };
    static const tsr_wavelet_filter order[6] = { TSR_WAVELET_HAAR,  TSR_WAVELET_LEGALL53, TSR_WAVELET_DD97,
                                                 TSR_WAVELET_DD137, TSR_WAVELET_DAUB97,   TSR_WAVELET_FIDELITY };
    for (int f = 0; f < 6; f++)
        for (int l = 1; l <= 4; l++) {
            for (int high = 0; high < 2; high++) {
                double norm = tsr_wavelet_norm(order[f], l, high), expected = norms[f][2 * (l - 1) + !high];
                if (!(fabs(norm - expected) < 1e-3 * expected))
                    fail_msg("%s: norm of level %d, high %d is %.5f, not %.4f", tsr_wavelet_filter_name(order[f]), l, high, norm, expected);
            }
            for (int d = 0; d < 2; d++) {
                int safe = tsr_wavelet_safe_bits(order[f], l, 2 + d, 0);
                if (safe != bits[f][l - 1][d])
                    fail_msg("%s: %d bits safe at %d levels of %d axes, not %d", tsr_wavelet_filter_name(order[f]), safe, l, 2 + d,
                             bits[f][l - 1][d]);
            }
        }
}

/* The weight of a band is the norm of what a unit coefficient in its middle becomes. */
static void weights(void **state)
{
    (void)state;
    enum { N = 96 };
    const int64_t size[2] = { N, N };
    static double c[N * N], x[N * N];
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int normalise = 0; normalise < 2; normalise++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            tsr_wavelet_info info = TSR_WAVELET_INFO;
            tsr_wavelet_band band;
            o.filter = (tsr_wavelet_filter)f;
            o.levels = 2;
            o.normalise = normalise;
            o.layout = TSR_WAVELET_SUBBANDS;
            tsr_wavelet_plan *plan = make_plan(TSR_F64, 2, size, &o);
            tsr_wavelet_plan_describe(plan, &info);
            assert_int_equal(info.bands, 7);
            for (int b = 0; b < 7; b++) {
                double energy = 0;
                require_ok(tsr_wavelet_plan_band(plan, b, &band));
                memset(c, 0, sizeof c);
                c[band.offset + band.size[0] / 2 * band.stride[0] + band.size[1] / 2 * band.stride[1]] = 1;
                void *in = to_device(c, sizeof c), *out = to_device(x, sizeof x);
                require_ok(tsr_wavelet_inverse(plan, in, out, NULL));
                to_host(x, out, sizeof x);
                drop(in, sizeof c);
                drop(out, sizeof x);
                for (int i = 0; i < N * N; i++) energy += x[i] * x[i];
                if (!(fabs(sqrt(energy) - band.weight) < 1e-9))
                    fail_msg("%s: band %d weighs %.12g, not %.12g", tsr_wavelet_filter_name(o.filter), b, sqrt(energy), band.weight);
                if (f == TSR_WAVELET_HAAR && normalise) assert_true(fabs(band.weight - 1) < 1e-12);
            }
            tsr_wavelet_plan_destroy(&plan);
        }
    const int64_t one[2] = { 1, 1 }; /* no level is possible: the sample is the coefficient, accuracy bits or not */
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_band band;
    o.accuracy = 2;
    tsr_wavelet_plan *plan = make_plan(TSR_I32, 2, one, &o);
    int32_t given = 77, c1 = 0;
    void *in = to_device(&given, sizeof given), *out = to_device(&c1, sizeof c1);
    require_ok(tsr_wavelet_forward(plan, in, out, NULL));
    to_host(&c1, out, sizeof c1);
    drop(in, sizeof given);
    drop(out, sizeof c1);
    assert_int_equal(c1, given);
    require_ok(tsr_wavelet_plan_band(plan, 0, &band));
    assert_true(band.weight == 1);
    tsr_wavelet_plan_destroy(&plan);
}

/* Steps given by the caller: those of a filter of the house give the same bits; a filter with taps on one side comes back. */
static void custom_steps(void **state)
{
    (void)state;
    const int64_t size[2] = { 61, 40 };
    static int16_t x[61 * 40], expected[61 * 40], c[61 * 40];
    uint64_t seed = test_seed();
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    for (int i = 0; i < 61 * 40; i++) x[i] = (int16_t)(test_random(&seed) % 200);
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS, own = TSR_WAVELET_OPTIONS;
        o.filter = (tsr_wavelet_filter)f;
        o.accuracy = -1;
        own.filter = TSR_WAVELET_CUSTOM;
        own.steps = steps;
        own.step_count = tsr_wavelet_filter_steps(o.filter, steps, NULL);
        forward16(2, size, &o, x, expected);
        forward16(2, size, &own, x, c);
        assert_memory_equal(c, expected, sizeof c);
    }
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    static const tsr_wavelet_step lopsided[3] = { { 0, 1, -5, 3, 1, 2, { 1, -2, 1 }, { 0 }, TSR_WAVELET_SUM, 0 },
                                                  { 1, -1, 1, 5, 7, 4, { 3, -1, 2, 1, 5 }, { 0 }, TSR_WAVELET_SUM, 0 },
                                                  { 0, 1, 3, 1, 0, 3, { 7 }, { 0 }, TSR_WAVELET_SUM, 0 } };
    o.filter = TSR_WAVELET_CUSTOM;
    o.steps = lopsided;
    o.step_count = 3;
    for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
        if (boundary == TSR_WAVELET_PERIODIC) continue;
        o.boundary = (tsr_wavelet_boundary)boundary;
        tsr_wavelet_plan *plan = make_plan(TSR_I16, 2, size, &o);
        void *in = to_device(x, sizeof x), *out = to_device(c, sizeof c);
        require_ok(tsr_wavelet_forward(plan, in, out, NULL));
        require_ok(tsr_wavelet_inverse(plan, out, in, NULL));
        to_host(c, in, sizeof c);
        assert_memory_equal(c, x, sizeof c);
        drop(in, sizeof x);
        drop(out, sizeof c);
        tsr_wavelet_plan_destroy(&plan);
    }
}

static void layouts_rearranged(void **state)
{
    (void)state;
    const int64_t size[3] = { 21, 10, 7 };
    enum { N = 21 * 10 * 7 };
    static int32_t x[N], c[4][N], moved[N];
    uint64_t seed = test_seed();
    tsr_wavelet_plan *plans[4];
    for (int i = 0; i < N; i++) x[i] = (int32_t)(test_random(&seed) % 1000);
    for (int l = 0; l < 4; l++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.layout = (tsr_wavelet_layout)l;
        plans[l] = make_plan(TSR_I32, 3, size, &o);
        void *in = to_device(x, sizeof x), *out = to_device(x, sizeof x);
        require_ok(tsr_wavelet_forward(plans[l], in, out, NULL));
        to_host(c[l], out, sizeof x);
        drop(in, sizeof x);
        drop(out, sizeof x);
    }
    for (int l = 0; l < 16; l++) {
        void *in = to_device(c[l / 4], sizeof x), *out = to_device(x, sizeof x);
        require_ok(tsr_wavelet_rearrange(plans[l / 4], in, plans[l % 4], out));
        to_host(moved, out, sizeof x);
        assert_memory_equal(moved, c[l % 4], sizeof x);
        drop(in, sizeof x);
        drop(out, sizeof x);
    }
    for (int l = 0; l < 4; l++) tsr_wavelet_plan_destroy(&plans[l]);
}

static void bad_arguments(void **state)
{
    (void)state;
    tsr_wavelet_plan *plan;
    const int64_t size[2] = { 20, 11 }, none[2] = { 20, 0 }, negative[2] = { -20, 11 }, narrow[2] = { 1, 19 };
    int16_t x[220] = { 0 };
#define REFUSED(dtype, dimensions, extents, text, ...)                                                                    \
    do {                                                                                                                  \
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;                                                                      \
        __VA_ARGS__;                                                                                                      \
        require_error(tsr_wavelet_plan_create(context, dtype, dimensions, extents, &o, &plan), TSR_ERROR_ARGUMENT, text); \
        assert_null(plan);                                                                                                \
    } while (0)
    REFUSED(TSR_U8, 2, size, "element type u8", (void)0);
    REFUSED(TSR_I16, 0, size, "0 dimensions", (void)0);
    REFUSED(TSR_I16, 5, size, "5 dimensions, expected 1 to 4: an axis more is a transform of each slice along it", (void)0);
    REFUSED(TSR_I16, 2, none, "extent 0 along axis 1", (void)0);
    REFUSED(TSR_I16, 2, negative, "extent -20 along axis 0", (void)0);
    REFUSED(TSR_I16, 2, size, "levels is -1", o.levels = -1);
    REFUSED(TSR_I16, 2, size, "levels is 6, expected 0 to 5", o.levels = 6);
    REFUSED(TSR_I16, 2, size, "filter is 99", o.filter = (tsr_wavelet_filter)99);
    REFUSED(TSR_I16, 2, size, "boundary is 9", o.boundary = (tsr_wavelet_boundary)9);
    REFUSED(TSR_I16, 2, size, "layout is 9", o.layout = (tsr_wavelet_layout)9);
    REFUSED(TSR_I16, 2, size, "axes is 0x4", o.axes = 4);
    REFUSED(TSR_I16, 2, size, "accuracy is 5", o.accuracy = 5);
    REFUSED(TSR_F32, 2, size, "accuracy is 1 bits of f32", o.accuracy = 1);
    REFUSED(TSR_I16, 2, size, "normalise", o.normalise = 1);
    REFUSED(TSR_I16, 2, size, "inplace with layout mallat", o.inplace = 1);
    REFUSED(TSR_I16, 2, size, "sample stride 19 along axis 1, expected at least 20", o.sample_stride = narrow);
    REFUSED(TSR_I16, 2, size, "periodic with 11 samples along axis 1 at level 1", o.boundary = TSR_WAVELET_PERIODIC);
    REFUSED(TSR_I16, 2, size, "custom filter of 0 steps", o.filter = TSR_WAVELET_CUSTOM);
    tsr_wavelet_step steps[2] = { { 1, -1, -1, 2, 0, 1, { 1, 1 }, { 0 }, TSR_WAVELET_SUM, 0 },
                                  { 0, 1, -1, 2, 0, 2, { 1, 1 }, { 0 }, TSR_WAVELET_SUM, 0 } };
#define REFUSED_STEP(text, field, value)                                                                     \
    do {                                                                                                     \
        tsr_wavelet_step kept = steps[1];                                                                    \
        steps[1].field = value;                                                                              \
        REFUSED(TSR_I16, 2, size, text, (o.filter = TSR_WAVELET_CUSTOM, o.steps = steps, o.step_count = 2)); \
        steps[1] = kept;                                                                                     \
    } while (0)
    REFUSED_STEP("step 1: parity is 1 as of the step before", parity, 1);
    REFUSED_STEP("step 1: parity is 2", parity, 2);
    REFUSED_STEP("step 1: sign is 0", sign, 0);
    REFUSED_STEP("step 1: 2 taps from offset 2", first, 2);
    REFUSED_STEP("step 1: count is 9", count, 9);
    REFUSED_STEP("step 1: shift is 31", shift, 31);
    REFUSED_STEP("step 1: the sum of its taps can reach", tap[0], 2000000000);
    /* A negative step may be taken as x + ((-sum + 2^shift - 1 - rounding) >> shift): 2^shift belongs to the sum. 65535 x 2^15 alone would fit. */
    const tsr_wavelet_step first = steps[0];
    steps[0] = (tsr_wavelet_step){ 1, -1, -1, 2, 0, 16, { 32767, 32768 }, { 0 }, TSR_WAVELET_SUM, 0 };
    REFUSED(TSR_I16, 2, size, "step 0: the sum of its taps can reach 2.15e+09", (o.filter = TSR_WAVELET_CUSTOM, o.steps = steps, o.step_count = 2));
    steps[0].tap[1] = 32766;
    const tsr_wavelet_options options = { .struct_size = sizeof options, .filter = TSR_WAVELET_CUSTOM, .steps = steps, .step_count = 2 };
    tsr_wavelet_plan *fits = make_plan(TSR_I16, 2, size, &options);
    tsr_wavelet_plan_destroy(&fits);
    steps[0] = first;
    REFUSED_STEP("step 1: real tap 1", real[1], (double)NAN);
    tsr_wavelet_filter filter;
    require_error(tsr_wavelet_filter_parse("db4", &filter), TSR_ERROR_ARGUMENT, "'db4': expected one of");
    plan = make_plan(TSR_I16, 2, size, NULL);
    require_error(tsr_wavelet_forward(plan, NULL, x, NULL), TSR_ERROR_ARGUMENT, "samples is NULL");
    require_error(tsr_wavelet_forward(plan, x, x, NULL), TSR_ERROR_ARGUMENT, "one array for a plan that needs two");
    require_error(tsr_wavelet_forward(plan, x, x + 219, NULL), TSR_ERROR_ARGUMENT, "arrays overlap");
    require_error(tsr_wavelet_forward(plan, x + 219, x, NULL), TSR_ERROR_ARGUMENT, "coefficients begin 438 bytes before the samples");
    require_error(tsr_wavelet_inverse(plan, x, x + 1, NULL), TSR_ERROR_ARGUMENT, "coefficients begin 2 bytes before the samples, expected 440");
    tsr_wavelet_band band;
    require_error(tsr_wavelet_plan_band(plan, 99, &band), TSR_ERROR_ARGUMENT, "no band 99");
    tsr_wavelet_plan_destroy(&plan);
    tsr_wavelet_plan_destroy(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials),  cmocka_unit_test(norms_and_widths),   cmocka_unit_test(weights),
        cmocka_unit_test(custom_steps), cmocka_unit_test(layouts_rearranged), cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
