/* Steps that are no sums: morphological and adaptive filters against what their definitions say, on every boundary and type; steps of one's own with any
 * rule come back; steps as text. */
#include "context.h"

#include <math.h>

#include "device/backend.h"

/* There and, if asked, back, out of place. */
static tsr_status transform(tsr_dtype dtype, int32_t dimensions, const int64_t *size, const tsr_wavelet_options *o, const void *samples,
                            void *coefficients, void *back)
{
    tsr_wavelet_plan *plan = NULL;
    size_t bytes = tsr_dtype_size(dtype);
    void *in = NULL, *out = NULL;
    for (int32_t a = 0; a < dimensions; a++) bytes *= (size_t)size[a];
    require_ok(tsr_wavelet_plan_create(context, dtype, dimensions, size, o, &plan));
    require_ok(tsr_device_allocate(context, bytes, &in));
    require_ok(tsr_device_allocate(context, bytes, &out));
    require_ok(tsr_device_move(context, in, NULL, samples, bytes));
    const tsr_status status = tsr_wavelet_forward(plan, in, out, NULL);
    require_ok(tsr_device_move(NULL, coefficients, context, out, bytes));
    require_ok(context->backend->fill(context->queue, in, 0x33, bytes));
    if (back && status == TSR_OK) require_ok(tsr_wavelet_inverse(plan, out, in, NULL));
    if (back) require_ok(tsr_device_move(NULL, back, context, in, bytes));
    tsr_device_release(context, in, bytes);
    tsr_device_release(context, out, bytes);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

static double get(tsr_dtype dtype, const void *data, int64_t i)
{
    if (dtype == TSR_I16) return ((const int16_t *)data)[i];
    if (dtype == TSR_I32) return ((const int32_t *)data)[i];
    if (dtype == TSR_F32) return (double)((const float *)data)[i];
    return ((const double *)data)[i];
}
static void put(tsr_dtype dtype, void *data, int64_t i, double v)
{
    if (dtype == TSR_I16) ((int16_t *)data)[i] = (int16_t)v;
    else if (dtype == TSR_I32) ((int32_t *)data)[i] = (int32_t)v;
    else if (dtype == TSR_F32) ((float *)data)[i] = (float)v;
    else ((double *)data)[i] = v;
}

/* Sample i beyond the ends, of a line of n: by the words of the header. */
static double beyond(const double *x, int64_t i, int64_t n, int boundary)
{
    if (i >= 0 && i < n) return x[i];
    if (boundary == TSR_WAVELET_ZERO) return 0;
    if (boundary == TSR_WAVELET_PERIODIC) return x[(i + n) % n];
    if (boundary == TSR_WAVELET_SYMMETRIC) return x[i < 0 ? -i : 2 * (n - 1) - i];
    while (i < 0) i += 2;
    while (i >= n) i -= 2;
    return x[i];
}

enum { MOST = 40 };

/* One line of one level by the definition of the filter: low samples, then high ones. */
static void definition(tsr_wavelet_filter filter, const double *x, int64_t n, int boundary, double threshold, int real, double *c)
{
    double d[MOST], line[MOST];
    memcpy(line, x, (size_t)n * sizeof *x);
    for (int64_t i = 1; i < n; i += 2) {
        const double left = beyond(x, i - 1, n, boundary), right = beyond(x, i + 1, n, boundary);
        if (filter == TSR_WAVELET_MINHAAR) d[i] = x[i] - left;
        else if (filter == TSR_WAVELET_MAXLIFT) d[i] = x[i] - fmax(left, right);
        else d[i] = x[i] - (real ? (left + right) / 2 : floor((left + right + 1) / 2));
        line[i] = d[i];
    }
    for (int64_t i = 0; i < n; i += 2) {
        const double left = beyond(line, i - 1, n, boundary), right = beyond(line, i + 1, n, boundary);
        if (filter == TSR_WAVELET_MINHAAR) c[i / 2] = i + 1 < n ? fmin(x[i], x[i + 1]) : x[i] + fmin(0, right);
        else if (filter == TSR_WAVELET_MAXLIFT) c[i / 2] = x[i] + fmax(0, fmax(left, right));
        else if (fabs(left - right) > threshold) c[i / 2] = x[i];
        else c[i / 2] = x[i] + (real ? (left + right) / 4 : floor((left + right + 2) / 4));
    }
    for (int64_t i = 1; i < n; i += 2) c[(n + 1) / 2 + i / 2] = d[i];
}

static void definitions(void **state)
{
    (void)state;
    static const tsr_wavelet_filter filters[] = { TSR_WAVELET_MINHAAR, TSR_WAVELET_MAXLIFT, TSR_WAVELET_ADAPTIVE53 };
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };
    uint64_t random = test_seed();
    for (int round = 0; round < (test_is_slow() ? 2 : 12); round++)
        for (int f = 0; f < 3; f++)
            for (int t = 0; t < 4; t++)
                for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
                    const int64_t size[2] = { 3, 2 * (1 + (int64_t)(test_random(&random) % 15)) +
                                                     (boundary != TSR_WAVELET_PERIODIC && test_random(&random) % 2) };
                    const int32_t axis = (int32_t)(test_random(&random) % 2); /* lines along x, and across */
                    const int64_t n = size[1], extents[2] = { axis ? size[0] : n, axis ? n : size[0] };
                    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                    double samples[3 * MOST], coefficients[3 * MOST], back[3 * MOST];
                    o.filter = filters[f];
                    o.levels = 1;
                    o.axes = 1u << axis;
                    o.accuracy = -1;
                    o.boundary = (tsr_wavelet_boundary)boundary;
                    o.threshold = filters[f] == TSR_WAVELET_ADAPTIVE53 ? 12 : 0;
                    for (int64_t i = 0; i < 3 * n; i++) put(types[t], samples, i, (double)(test_random(&random) % 64) - 32);
                    require_ok(transform(types[t], 2, extents, &o, samples, coefficients, back));
                    for (int64_t k = 0; k < 3; k++) {
                        double x[MOST], c[MOST];
                        for (int64_t i = 0; i < n; i++) x[i] = get(types[t], samples, axis ? i * 3 + k : k * n + i);
                        definition(filters[f], x, n, boundary, o.threshold, t >= 2, c);
                        for (int64_t i = 0; i < n; i++)
                            if (get(types[t], coefficients, axis ? i * 3 + k : k * n + i) != c[i])
                                fail_msg("%s %s %s: coefficient %d of %d is %g, expected %g", tsr_wavelet_filter_name(filters[f]),
                                         tsr_dtype_name(types[t]), tsr_wavelet_boundary_name(o.boundary), (int)i, (int)n,
                                         get(types[t], coefficients, axis ? i * 3 + k : k * n + i), c[i]);
                    }
                    assert_memory_equal(back, samples, (size_t)(3 * n) * tsr_dtype_size(types[t])); /* multiples of 1/4: exact in floats as well */
                }
}

/* Every local maximum of the samples is one of the approximation, at its place or beside it: what max-lifting is for. A step edge stays as it is under
 * the adaptive filter, where legall53 overshoots. */
static void what_they_are_for(void **state)
{
    (void)state;
    int16_t x[32], c[32];
    const int64_t size[1] = { 32 };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    o.levels = 1;
    o.accuracy = -1;
    memset(x, 0, sizeof x);
    x[7] = 50;  /* odd */
    x[20] = 70; /* even */
    o.filter = TSR_WAVELET_MAXLIFT;
    require_ok(transform(TSR_I16, 1, size, &o, x, c, NULL));
    assert_int_equal(c[3], 50);
    assert_int_equal(c[4], 50);
    assert_int_equal(c[10], 70);
    for (int i = 0; i < 32; i++) x[i] = i < 15 ? 0 : 100;
    o.filter = TSR_WAVELET_ADAPTIVE53;
    o.threshold = 10;
    require_ok(transform(TSR_I16, 1, size, &o, x, c, NULL));
    for (int i = 0; i < 16; i++) assert_int_equal(c[i], x[2 * i]);
    o.filter = TSR_WAVELET_LEGALL53;
    o.threshold = 0;
    require_ok(transform(TSR_I16, 1, size, &o, x, c, NULL));
    int overshoots = 0;
    for (int i = 0; i < 16; i++) overshoots += c[i] > 100 || c[i] < 0 || (c[i] != 0 && c[i] != 100);
    assert_true(overshoots > 0);
}

/* Any steps with any rules, several axes and levels, every layout. */
static void steps_of_ones_own(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32 };
    uint64_t random = test_seed() + 3;
    for (int round = 0; round < (test_is_slow() ? 20 : 150); round++) {
        tsr_wavelet_step steps[3];
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        const int32_t count = 1 + (int32_t)(test_random(&random) % 3);
        const tsr_dtype dtype = types[test_random(&random) % 3];
        const int64_t size[3] = { 1 + (int64_t)(test_random(&random) % 20), 1 + (int64_t)(test_random(&random) % 12),
                                  2 + (int64_t)(test_random(&random) % 9) };
        const int64_t elements = size[0] * size[1] * size[2];
        memset(steps, 0, sizeof steps);
        for (int32_t k = 0; k < count; k++) {
            steps[k].parity = k & 1;
            steps[k].sign = test_random(&random) % 2 ? 1 : -1;
            steps[k].count = 1 + (int32_t)(test_random(&random) % 4);
            steps[k].first = -3 + 2 * (int32_t)(test_random(&random) % 3);
            steps[k].shift = (int32_t)(test_random(&random) % 3);
            steps[k].rounding = (1 << steps[k].shift) >> 1;
            for (int32_t i = 0; i < steps[k].count; i++) steps[k].tap[i] = (int32_t)(test_random(&random) % 5) - 2;
            steps[k].rule = (tsr_wavelet_rule)(test_random(&random) % TSR_WAVELET_RULES);
            steps[k].threshold = (double)(test_random(&random) % 40);
        }
        o.filter = TSR_WAVELET_CUSTOM;
        o.steps = steps;
        o.step_count = count;
        o.levels = 1;
        o.layout = (tsr_wavelet_layout)(test_random(&random) % TSR_WAVELET_LAYOUTS);
        o.boundary = (tsr_wavelet_boundary)(test_random(&random) % 2);
        o.unchecked = 1;
        char *memory = (char *)calloc((size_t)elements * 3, 8), *c = memory + elements * 8, *back = c + elements * 8;
        for (int64_t i = 0; i < elements; i++) put(dtype, memory, i, (double)(test_random(&random) % 40) - 20);
        require_ok(transform(dtype, 3, size, &o, memory, c, back));
        assert_memory_equal(back, memory, (size_t)elements * tsr_dtype_size(dtype)); /* quarters of small numbers: exact in f32 */
        free(memory);
    }
}

static void text(void **state)
{
    (void)state;
    tsr_wavelet_step a[TSR_WAVELET_STEPS], b[TSR_WAVELET_STEPS];
    int32_t count, again;
    char words[2048];
    require_ok(
        tsr_wavelet_steps_parse("# two\n 1 -1 -1 1 1 sum 1 1 ;\n0 1 -3 0 0 adaptive:2.5 0.25 -1.5 1.0\r\n\n1 1 1 0 3 max0 7 # last", a, &count));
    assert_int_equal(count, 3);
    assert_int_equal(a[0].parity, 1);
    assert_int_equal(a[0].rounding, 1);
    assert_int_equal(a[0].count, 2);
    assert_int_equal(a[1].rule, TSR_WAVELET_ADAPTIVE);
    assert_true(a[1].threshold == 2.5 && a[1].real[0] == 0.25 && a[1].real[1] == -1.5 && a[1].real[2] == 1 && a[1].count == 3);
    assert_int_equal(a[2].rule, TSR_WAVELET_MAXIMUM0);
    assert_int_equal(a[2].tap[0], 7);
    tsr_wavelet_steps_print(a, count, words, sizeof words);
    require_ok(tsr_wavelet_steps_parse(words, b, &again));
    assert_int_equal(again, count);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(a[k].rule, b[k].rule);
        assert_true(a[k].threshold == b[k].threshold && a[k].first == b[k].first && a[k].shift == b[k].shift && a[k].sign == b[k].sign);
        for (int i = 0; i < a[k].count; i++) assert_true(a[k].tap[i] == b[k].tap[i] && a[k].real[i] == b[k].real[i]);
    }
    tsr_wavelet_steps_print(a, count, words, 9); /* cut, not overrun */
    assert_true(strlen(words) < 9);
    for (int f = 0; f < TSR_WAVELET_FILTERS; f++) { /* those by name survive it, too */
        tsr_wavelet_filter found;
        if (f == TSR_WAVELET_CUSTOM) continue;
        count = tsr_wavelet_filter_steps((tsr_wavelet_filter)f, a, NULL);
        assert_true(count > 0);
        tsr_wavelet_steps_print(a, count, words, sizeof words);
        require_ok(tsr_wavelet_steps_parse(words, b, &again));
        assert_int_equal(count, again);
        require_ok(tsr_wavelet_filter_parse(tsr_wavelet_filter_name((tsr_wavelet_filter)f), &found));
        assert_int_equal(found, f);
    }
#define BAD_TEXT(words_, message) require_error(tsr_wavelet_steps_parse(words_, a, &count), TSR_ERROR_ARGUMENT, message)
    BAD_TEXT("", "no step in ''");
    BAD_TEXT("# nothing", "no step");
    BAD_TEXT("1 -1 -1 1", "step 0: shift is ''");
    BAD_TEXT("1 -1 -1 1 1 mean 1 1", "rule is 'mean'");
    BAD_TEXT("1 -1 -1 1 1 adaptive 1 1", "rule is 'adaptive'");
    BAD_TEXT("1 -1 -1 1 1 adaptive:x 1 1", "threshold is 'x");
    BAD_TEXT("1 -1 -1 1 1 adaptive:-1 1 1", "threshold is -1");
    BAD_TEXT("1 -1 -1 1 1 sum", "count is 0");
    BAD_TEXT("1 -1 0 1 1 sum 1", "expected odd offsets");
    BAD_TEXT("1 -1 -1 1 99 sum 1", "shift is 99");
    BAD_TEXT("1 -1 -1 1 1 sum 1 1;0 1 -1 2 2 sum 1 1e99", "step 1: a tap is '1e99'");
    BAD_TEXT("1 -1 -1 1 1 sum 1 1 1 1 1 1 1 1 1", "more than 8 taps");
    BAD_TEXT("1 1 1 0 0 sum 1;0 1 1 0 0 sum 1;1 1 1 0 0 sum 1;0 1 1 0 0 sum 1;1 1 1 0 0 sum 1;0 1 1 0 0 sum 1;1 1 1 0 0 sum 1;0 1 1 0 0 sum 1;1 1 1 "
             "0 0 sum 1",
             "more than 8 steps");
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    const int64_t size[1] = { 8 };
    o.filter = TSR_WAVELET_ADAPTIVE53;
    require_error(tsr_wavelet_plan_create(context, TSR_I16, 1, size, &o, &plan), TSR_ERROR_ARGUMENT, "threshold is 0 for filter adaptive53");
}

/* Of a volume's bands: every coefficient is in one of them, and under an orthonormal filter their energies are that of the voxels. */
static void statistics(void **state)
{
    (void)state;
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) skip();
    uint64_t random = 4;
    tsr_volume *v = NULL, *c = NULL;
    tsr_wavelet_statistics bands[32];
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    int32_t count;
    double squares = 0;
    require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ 16, 8, 24 }, NULL, &v));
    double *x = (double *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        x[i] = i < 1024 ? 3 : (double)(test_random(&random) % 100) - 20;
        squares += x[i] * x[i];
    }
    o.filter = TSR_WAVELET_HAAR;
    o.levels = 2;
    o.normalise = 1;
    for (int layout = 0; layout <= TSR_WAVELET_SPLIT; layout++) {
        o.layout = (tsr_wavelet_layout)layout;
        require_ok(tsr_volume_dwt(context, v, &o, TSR_DTYPE_COUNT, &c));
        require_ok(tsr_wavelet_volume_statistics(c, bands, 32, &count));
        assert_int_equal(count, 15);
        const double *k = (const double *)tsr_volume_data_const(c);
        double least = k[0], greatest = k[0], sum = 0, total = 0, energy = 0, low = bands[0].minimum, high = bands[0].maximum;
        int64_t all = 0, zeros = 0, expected_zeros = 0;
        for (int64_t i = 0; i < tsr_volume_count(c); i++) {
            least = fmin(least, k[i]);
            greatest = fmax(greatest, k[i]);
            sum += k[i];
            expected_zeros += k[i] == 0.0 && !signbit(k[i]);
        }
        for (int32_t b = 0; b < count; b++) {
            all += bands[b].count;
            zeros += bands[b].zeros;
            energy += bands[b].energy;
            total += bands[b].mean * (double)bands[b].count;
            low = fmin(low, bands[b].minimum);
            high = fmax(high, bands[b].maximum);
        }
        assert_int_equal(all, tsr_volume_count(c));
        assert_int_equal(zeros, expected_zeros);
        assert_true(zeros > 100);
        assert_true(low == least && high == greatest);
        assert_true(fabs(total - sum) < 1e-9 * fabs(sum) + 1e-6);
        assert_true(fabs(energy - squares) < 1e-9 * squares);
        require_error(tsr_wavelet_volume_statistics(c, bands, 14, &count), TSR_ERROR_CAPACITY, "15 bands, there is room for 14");
        tsr_volume_destroy(&c);
    }
    require_error(tsr_wavelet_volume_statistics(v, bands, 32, &count), TSR_ERROR_ARGUMENT, "no metadata 'wavelet.filter'");
    tsr_volume_destroy(&v);
}

/* Values that leave 16 bits are found, and the bound that is said to be safe is. */
static void range(void **state)
{
    (void)state;
    int16_t x[64], c[64], back[64];
    const int64_t size[1] = { 64 };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    for (int f = TSR_WAVELET_MINHAAR; f <= TSR_WAVELET_MAXLIFT; f++) {
        o.filter = (tsr_wavelet_filter)f;
        o.levels = 1;
        for (int i = 0; i < 64; i++) x[i] = i & 1 ? 32767 : -32768;
        assert_int_equal(transform(TSR_I16, 1, size, &o, x, c, NULL), TSR_ERROR_CAPACITY);
        for (o.levels = 1; o.levels <= 3; o.levels++) {
            const int32_t bits = tsr_wavelet_safe_bits(o.filter, o.levels, 1, 0);
            assert_true(bits > 8 && bits < 16);
            for (int i = 0; i < 64; i++) x[i] = (int16_t)(i & 1 ? (1 << (bits - 1)) : -(1 << (bits - 1)));
            require_ok(transform(TSR_I16, 1, size, &o, x, c, back));
            assert_memory_equal(x, back, sizeof x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(definitions), cmocka_unit_test(what_they_are_for), cmocka_unit_test(steps_of_ones_own),
                                        cmocka_unit_test(text),        cmocka_unit_test(statistics),        cmocka_unit_test(range) };
    return cmocka_run_group_tests_name("test_rules", tests, set_up, tear_down);
}
