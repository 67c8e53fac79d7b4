/* Volumes, whose axes go together on a GPU, and what stands for samples beyond the ends: the device's bits are the CPU's. */
#define TEST_BESIDE_CPU
#include "context.h"

#include "device/backend.h"

typedef struct trial {
    tsr_dtype dtype;
    int32_t dimensions;
    int64_t size[4];
    tsr_wavelet_options options;
    int32_t aside; /* elements between the beginning of memory and the first one */
} trial;

static int64_t elements(const trial *t)
{
    int64_t n = t->options.batch ? t->options.batch : 1;
    for (int32_t a = 0; a < t->dimensions; a++) n *= t->size[a];
    return n;
}

/* Coefficients, then the samples back from them. */
static tsr_status run(const trial *t, tsr_context *on, const char *samples, char *coefficients, char *back)
{
    const size_t bytes = (size_t)elements(t) * tsr_dtype_size(t->dtype), aside = (size_t)t->aside * tsr_dtype_size(t->dtype);
    tsr_wavelet_plan *plan = NULL;
    void *memory[2] = { NULL, NULL };
    require_ok(tsr_wavelet_plan_create(on, t->dtype, t->dimensions, t->size, &t->options, &plan));
    for (int k = 0; k < 2; k++) require_ok(tsr_device_allocate(on, aside + bytes, &memory[k]));
    char *in = (char *)memory[0] + aside, *out = (char *)memory[1] + aside;
    require_ok(tsr_device_move(on, in, NULL, samples, bytes));
    require_ok(on->backend->fill(on->queue, out, 0x55, bytes));
    tsr_status status = tsr_wavelet_forward(plan, in, out, NULL);
    require_ok(tsr_device_move(NULL, coefficients, on, out, bytes));
    require_ok(on->backend->fill(on->queue, in, 0x55, bytes));
    if (status == TSR_OK) status = tsr_wavelet_inverse(plan, out, in, NULL);
    require_ok(tsr_device_move(NULL, back, on, in, bytes));
    for (int k = 0; k < 2; k++) tsr_device_release(on, memory[k], aside + bytes);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

static void require_same(const trial *t, const char *what, const char *got, const char *expected)
{
    const size_t element = tsr_dtype_size(t->dtype), bytes = (size_t)elements(t) * element;
    size_t first = 0, count = 0;
    if (!memcmp(got, expected, bytes)) return;
    while (got[first] == expected[first]) first++;
    for (size_t i = 0; i < bytes; i += element) count += memcmp(got + i, expected + i, element) != 0;
    const int64_t at = (int64_t)(first / element);
    fail_msg("%s of %s %s %lldx%lldx%lld, batch %lld, axes %u, %d levels, %s: %zu differ, the first at (%lld, %lld, %lld)", what,
             tsr_wavelet_filter_name(t->options.filter), tsr_dtype_name(t->dtype), (long long)t->size[0], (long long)t->size[1],
             (long long)t->size[2], (long long)t->options.batch, t->options.axes, t->options.levels, tsr_wavelet_boundary_name(t->options.boundary),
             count, (long long)(at % t->size[0]), (long long)(at / t->size[0] % t->size[1]), (long long)(at / t->size[0] / t->size[1]));
}

static void fill(const trial *t, char *samples, int32_t most, uint64_t *random)
{
    const int64_t n = elements(t);
    for (int64_t i = 0; i < n; i++) {
        const int32_t v = (int32_t)(test_random(random) % (uint64_t)(2 * most + 1)) - most;
        if (t->dtype == TSR_I16) ((int16_t *)(void *)samples)[i] = (int16_t)v;
        else ((float *)(void *)samples)[i] = (float)v * 0.37f;
    }
}

static void check(const trial *t, uint64_t *random)
{
    const size_t bytes = (size_t)elements(t) * tsr_dtype_size(t->dtype);
    char *memory = (char *)malloc(5 * bytes);
    assert_non_null(memory);
    fill(t, memory, 30, random);
    require_ok(run(t, cpu, memory, memory + bytes, memory + 2 * bytes));
    require_ok(run(t, context, memory, memory + 3 * bytes, memory + 4 * bytes));
    require_same(t, "coefficients", memory + 3 * bytes, memory + bytes);
    require_same(t, "samples", memory + 4 * bytes, memory + 2 * bytes);
    if (t->dtype == TSR_I16) require_same(t, "samples there and back", memory + 4 * bytes, memory);
    free(memory);
}

/* Rows that lanes take as a whole, tiles that end within the volume and at its end, odd numbers of rows and slices, one level that fits and one that
 * does not. */
static void volumes(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = { { 64, 16, 16 }, { 128, 33, 18 }, { 132, 29, 17 }, { 264, 47, 21 }, { 68, 70, 34 }, { 72, 20, 75 } };
    static const tsr_wavelet_filter filters[] = { TSR_WAVELET_HAAR, TSR_WAVELET_LEGALL53, TSR_WAVELET_JPEG53 };
    uint64_t random = test_seed();
    int number = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int f = 0; f < 3; f++)
            for (int dtype = 0; dtype < 2; dtype++) {
                trial t = { .dtype = dtype ? TSR_F32 : TSR_I16, .dimensions = 3, .options = TSR_WAVELET_OPTIONS };
                memcpy(t.size, sizes[s], sizeof sizes[s]);
                t.options.filter = filters[f];
                t.options.boundary = (tsr_wavelet_boundary[]){ TSR_WAVELET_CLAMP, TSR_WAVELET_SYMMETRIC, TSR_WAVELET_ZERO }[number++ % 3];
                t.options.levels = 1 + (int32_t)s % 2;
                t.options.normalise = dtype && number % 2;
                if (filters[f] == TSR_WAVELET_HAAR) t.size[1] += t.size[1] & 1, t.size[2] += t.size[2] & 1;
                if (s == 0) t.options.batch = 3;
                if (s == 1) t.options.layout = TSR_WAVELET_SPLIT;
                if (s == 4) t.aside = f; /* not aligned: all go another way, without a workspace that the plan did not count on */
                check(&t, &random);
            }
}

/* Values that leave 16 bits are reported by both, wherever they lie, and by neither where they do not. */
static void lost(void **state)
{
    (void)state;
    enum { X = 64, Y = 40, Z = 20, N = X * Y * Z };
    static const int32_t places[][3] = { { 0, 0, 0 }, { X - 1, Y - 1, Z - 1 }, { 33, 27, 9 }, { 31, 28, 10 }, { 5, 29, 0 }, { 60, 3, 19 } };
    int16_t *samples = (int16_t *)calloc(3 * N, sizeof *samples);
    assert_non_null(samples);
    trial t = { .dtype = TSR_I16, .dimensions = 3, .size = { X, Y, Z }, .options = TSR_WAVELET_OPTIONS };
    t.options.levels = 1;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (int32_t value = 16383; value <= 16384; value++) { /* one bit of accuracy: doubled on its way in */
            int16_t *at = &samples[places[k][0] + X * (places[k][1] + Y * places[k][2])];
            *at = (int16_t)value;
            const tsr_status expected = run(&t, cpu, (char *)samples, (char *)(samples + N), (char *)(samples + 2 * N));
            assert_int_equal(run(&t, context, (char *)samples, (char *)(samples + N), (char *)(samples + 2 * N)), expected);
            if (value > 16383) assert_int_equal(expected, TSR_ERROR_CAPACITY);
            *at = 0;
        }
    free(samples);
}

/* Axes alone and by twos: every filter, type and boundary, lengths around the segments. */
static void ends(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = { { 6, 35, 1 }, { 16, 17, 1 }, { 5, 3, 22 }, { 24, 40, 1 } };
    uint64_t random = test_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
            for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++)
                for (int dtype = 0; dtype < 2; dtype++) {
                    trial t = { .dtype = dtype ? TSR_F32 : TSR_I16, .dimensions = sizes[s][2] > 1 ? 3 : 2, .options = TSR_WAVELET_OPTIONS };
                    memcpy(t.size, sizes[s], sizeof sizes[s]);
                    t.options.filter = (tsr_wavelet_filter)filter;
                    t.options.boundary = (tsr_wavelet_boundary)boundary;
                    t.options.axes = s == 3 ? 3 : 1u << (t.dimensions - 1);
                    t.options.levels = 1;
                    for (int a = 0; a < 3 && boundary == TSR_WAVELET_PERIODIC; a++) t.size[a] += t.size[a] > 1 && t.size[a] % 2;
                    check(&t, &random);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(volumes), cmocka_unit_test(lost), cmocka_unit_test(ends) };
    return cmocka_run_group_tests_name("test_cube", tests, set_up_both, tear_down_both);
}
