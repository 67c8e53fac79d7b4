/* What transforms of every linear filter have in common: linearity, shifts by two samples, exchanged axes, and coefficients that matter the more the
 * larger they are (docs/theory/wavelets.md 9). */
#include "context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"

enum { NX = 24, NY = 16, N = NX * NY };

/* One way, out of place: `elements` of `element` bytes. */
static void transform(tsr_dtype dtype, const int64_t size[2], const tsr_wavelet_options *o, const void *from, void *to, int inverse)
{
    const size_t bytes = N * tsr_dtype_size(dtype);
    tsr_wavelet_plan *plan = NULL;
    void *in = NULL, *out = NULL;
    require_ok(tsr_wavelet_plan_create(context, dtype, 2, size, o, &plan));
    require_ok(tsr_device_allocate(context, bytes, &in));
    require_ok(tsr_device_allocate(context, bytes, &out));
    require_ok(tsr_device_move(context, in, NULL, from, bytes));
    require_ok(inverse ? tsr_wavelet_inverse(plan, in, out, NULL) : tsr_wavelet_forward(plan, in, out, NULL));
    require_ok(tsr_device_move(NULL, to, context, out, bytes));
    tsr_device_release(context, in, bytes);
    tsr_device_release(context, out, bytes);
    tsr_wavelet_plan_destroy(&plan);
}

static void noise(double *x, uint64_t *random)
{
    for (int i = 0; i < N; i++) x[i] = test_uniform(random) * 2 - 1;
}

static void linear(void **state)
{
    (void)state;
    const int64_t size[2] = { NX, NY };
    uint64_t random = test_seed();
    double x[N], y[N], sum[N], a[N], b[N], c[N];
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = (tsr_wavelet_filter)f;
            o.boundary = (tsr_wavelet_boundary)boundary;
            o.levels = 2;
            o.normalise = boundary & 1;
            noise(x, &random);
            noise(y, &random);
            for (int i = 0; i < N; i++) sum[i] = 3 * x[i] - 0.5 * y[i];
            transform(TSR_F64, size, &o, x, a, 0);
            transform(TSR_F64, size, &o, y, b, 0);
            transform(TSR_F64, size, &o, sum, c, 0);
            for (int i = 0; i < N; i++)
                if (!(fabs(c[i] - (3 * a[i] - 0.5 * b[i])) < 1e-12))
                    fail_msg("%s: coefficient %d of a sum is %.17g, expected %.17g", tsr_wavelet_filter_name(o.filter), i, c[i],
                             3 * a[i] - 0.5 * b[i]);
        }
}

/* Along a periodic axis: samples that come two later make coefficients that come one later, in the integers' bits too. */
static void shifted(void **state)
{
    (void)state;
    const int64_t size[2] = { NX, NY };
    uint64_t random = test_seed() + 1;
    int32_t x[N], later[N], a[N], b[N];
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int axis = 0; axis < 2; axis++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = (tsr_wavelet_filter)f;
            o.boundary = TSR_WAVELET_PERIODIC;
            o.levels = 1;
            for (int i = 0; i < N; i++) x[i] = (int32_t)(test_random(&random) % 2000) - 1000;
            for (int j = 0; j < NY; j++)
                for (int i = 0; i < NX; i++) later[(j + (axis ? 2 : 0)) % NY * NX + (i + (axis ? 0 : 2)) % NX] = x[j * NX + i];
            transform(TSR_I32, size, &o, x, a, 0);
            transform(TSR_I32, size, &o, later, b, 0);
            for (int j = 0; j < NY; j++)
                for (int i = 0; i < NX; i++) {
                    const int hx = NX / 2, hy = NY / 2; /* each half turns in itself */
                    const int to_x = axis ? i : i / hx * hx + (i + 1) % hx, to_y = axis ? j / hy * hy + (j + 1) % hy : j;
                    assert_int_equal(b[to_y * NX + to_x], a[j * NX + i]);
                }
        }
}

/* A transposed array: with the order of the axes exchanged as well (strides) the same bits, transposed; in its own order the same numbers but for
 * rounding. */
static void transposed(void **state)
{
    (void)state;
    const int64_t size[2] = { NX, NY }, other[2] = { NY, NX }, stride[2] = { NY, 1 };
    uint64_t random = test_seed() + 2;
    double x[N], t[N], a[N], b[N];
    int16_t x16[N], t16[N], a16[N], b16[N];
    int differ = 0;
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.filter = (tsr_wavelet_filter)f;
        o.levels = 2;
        noise(x, &random);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) t[i * NY + j] = x[j * NX + i];
        for (int i = 0; i < N; i++) {
            x16[i] = (int16_t)(x[i] * 100);
            t16[i] = (int16_t)(t[i] * 100);
        }
        transform(TSR_F64, size, &o, x, a, 0);
        transform(TSR_F64, other, &o, t, b, 0);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) assert_true(fabs(b[i * NY + j] - a[j * NX + i]) < 1e-12);
        transform(TSR_I16, size, &o, x16, a16, 0);
        transform(TSR_I16, other, &o, t16, b16, 0);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) differ += b16[i * NY + j] != a16[j * NX + i];
        o.sample_stride = o.coefficient_stride = stride;
        transform(TSR_I16, size, &o, t16, b16, 0);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) assert_int_equal(b16[i * NY + j], a16[j * NX + i]);
    }
    assert_true(differ > 0); /* the order is part of the definition */
}

static int by_magnitude(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* The more of the largest coefficients are kept, the closer the picture, and few are enough for a smooth one with an edge. */
static void compaction(void **state)
{
    (void)state;
    const int64_t size[2] = { NX, NY };
    double x[N], c[N], sorted[N], kept[N], back[N];
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) x[j * NX + i] = sin(0.3 * i) * cos(0.2 * j) + (i + 2 * j > 30 ? 1 : 0);
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        double before = INFINITY, error = 0, all = 0;
        o.filter = (tsr_wavelet_filter)f;
        o.boundary = TSR_WAVELET_SYMMETRIC;
        o.levels = 2;
        o.normalise = 1;
        transform(TSR_F64, size, &o, x, c, 0);
        memcpy(sorted, c, sizeof c);
        qsort(sorted, N, sizeof *sorted, by_magnitude);
        for (int i = 0; i < N; i++) all += x[i] * x[i];
        for (int percent = 10; percent <= 100; percent += 30) {
            const double threshold = percent == 100 ? 0 : fabs(sorted[N * percent / 100]);
            for (int i = 0; i < N; i++) kept[i] = fabs(c[i]) >= threshold ? c[i] : 0;
            transform(TSR_F64, size, &o, kept, back, 1);
            error = 0;
            for (int i = 0; i < N; i++) error += (back[i] - x[i]) * (back[i] - x[i]);
            if (percent == 40 && !(error < 0.01 * all)) fail_msg("%s: 40 %% leave %g of %g", tsr_wavelet_filter_name(o.filter), error, all);
            assert_true(error < before);
            before = error;
        }
        assert_true(error < 1e-20 * all + 1e-20);
    }
}

/* One plan again and again, on other samples in the same memory and then in other memory (a GPU records its launches), against a plan of the CPU: the same
 * bits. Planes of several strips and segments of a GPU, wide ones aligned and one that is not. */
static void again(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = { { 496, 150 }, { 272, 290 }, { 333, 77 } };
    tsr_context *other = test_context_on("cpu", 1);
    uint64_t random = test_seed();
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int real = 0; real < 2; real++) {
            const int64_t *size = sizes[(f + real) % 3];
            const tsr_dtype dtype = real ? TSR_F32 : TSR_I16;
            const size_t n = (size_t)size[0] * (size_t)size[1], bytes = n * tsr_dtype_size(dtype);
            char *host = (char *)malloc(bytes), *expected = (char *)malloc(bytes), *got = (char *)malloc(bytes);
            void *memory[3] = { NULL, NULL, NULL }, *work = NULL;
            tsr_wavelet_plan *mine = NULL, *theirs = NULL;
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            tsr_wavelet_info info = TSR_WAVELET_INFO;
            assert_true(host && expected && got);
            o.filter = (tsr_wavelet_filter)f;
            o.levels = 2;
            require_ok(tsr_wavelet_plan_create(context, dtype, 2, size, &o, &mine));
            require_ok(tsr_wavelet_plan_create(other, dtype, 2, size, &o, &theirs));
            tsr_wavelet_plan_describe(mine, &info);
            for (int k = 0; k < 3; k++) require_ok(tsr_device_allocate(context, bytes, &memory[k]));
            require_ok(tsr_device_allocate(context, (size_t)info.workspace_bytes, &work));
            for (int round = 0; round < 4; round++) {
                void *samples = memory[round == 3 ? 2 : 0], *coefficients = memory[1];
                for (size_t i = 0; i < n; i++) {
                    const int v = (int)(test_random(&random) % 128) - 64;
                    if (real) ((float *)(void *)host)[i] = (float)v;
                    else ((int16_t *)(void *)host)[i] = (int16_t)v;
                }
                require_ok(tsr_wavelet_forward(theirs, host, expected, NULL));
                require_ok(tsr_device_move(context, samples, NULL, host, bytes));
                require_ok(tsr_wavelet_forward(mine, samples, coefficients, work));
                require_ok(tsr_device_move(NULL, got, context, coefficients, bytes));
                if (memcmp(got, expected, bytes))
                    fail_msg("%s %s: other coefficients in round %d", tsr_wavelet_filter_name(o.filter), tsr_dtype_name(dtype), round);
                require_ok(tsr_wavelet_inverse(theirs, expected, host, NULL));
                require_ok(tsr_wavelet_inverse(mine, coefficients, samples, work));
                require_ok(tsr_device_move(NULL, got, context, samples, bytes));
                if (memcmp(got, host, bytes))
                    fail_msg("%s %s: other samples in round %d", tsr_wavelet_filter_name(o.filter), tsr_dtype_name(dtype), round);
            }
            for (int k = 0; k < 3; k++) tsr_device_release(context, memory[k], bytes);
            tsr_device_release(context, work, (size_t)info.workspace_bytes);
            tsr_wavelet_plan_destroy(&mine);
            tsr_wavelet_plan_destroy(&theirs);
            free(host);
            free(expected);
            free(got);
        }
    tsr_context_destroy(&other);
}

/* In place a plan takes at most 2 % beside its data (on a CPU with two threads, each of which has room of its own; a GPU has none). */
static void in_place(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };
    const int64_t threads = tsr_context_threads(context), planes[3] = { 4096, 4096, 1 }, volume[3] = { 256, 256, 256 };
    for (int type = 0; type < 4; type++)
        for (int split = 0; split < 2; split++)
            for (int dimensions = 2; dimensions <= 3; dimensions++) {
                tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                tsr_wavelet_plan *plan = NULL;
                tsr_wavelet_info info = TSR_WAVELET_INFO;
                o.inplace = 1;
                o.layout = split ? TSR_WAVELET_SPLIT : TSR_WAVELET_INTERLEAVED;
                require_ok(tsr_wavelet_plan_create(context, types[type], dimensions, dimensions == 2 ? planes : volume, &o, &plan));
                tsr_wavelet_plan_describe(plan, &info);
                assert_true(info.workspace_bytes * 50 <= info.elements * (int64_t)tsr_dtype_size(types[type]) * (threads > 2 ? threads : 2) / 2);
                tsr_wavelet_plan_destroy(&plan);
            }
}

/* In place and split, rows longer than a block of some GPUs has shared memory for: their level goes by way of the workspace. The CPU's bits. */
static void long_rows(void **state)
{
    (void)state;
    const int64_t size[2] = { 30000, 3 };
    const size_t n = (size_t)(size[0] * size[1]), bytes = n * sizeof(int16_t);
    tsr_context *other = test_context_on("cpu", 1);
    const int emulated = tsr_context_device(context).kind == TSR_DEVICE_EMU;
    uint64_t random = test_seed();
    for (int small = 0; small < 2; small++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        tsr_wavelet_plan *mine = NULL, *theirs = NULL;
        tsr_wavelet_info info = TSR_WAVELET_INFO;
        int16_t *host = (int16_t *)malloc(bytes), *expected = (int16_t *)malloc(bytes);
        void *memory = NULL, *work = NULL, *room = NULL;
        if (small) assert_int_equal(setenv("TESSERA_EMU_SHARED", "101376", 1), 0); /* 99 KiB */
        assert_true(host && expected);
        o.inplace = 1;
        o.levels = 2;
        o.layout = TSR_WAVELET_SPLIT;
        require_ok(tsr_wavelet_plan_create(other, TSR_I16, 2, size, &o, &theirs));
        tsr_wavelet_plan_describe(theirs, &info);
        assert_non_null(room = malloc((size_t)info.workspace_bytes));
        require_ok(tsr_wavelet_plan_create(context, TSR_I16, 2, size, &o, &mine));
        tsr_wavelet_plan_describe(mine, &info);
        if (emulated) assert_int_equal(info.workspace_bytes > (int64_t)bytes, small);
        require_ok(tsr_device_allocate(context, bytes, &memory));
        require_ok(tsr_device_allocate(context, (size_t)info.workspace_bytes, &work));
        for (size_t i = 0; i < n; i++) expected[i] = (int16_t)(test_random(&random) % 256);
        require_ok(tsr_device_move(context, memory, NULL, expected, bytes));
        for (int inverse = 0; inverse < 2; inverse++) {
            if (inverse) {
                require_ok(tsr_wavelet_inverse(theirs, expected, expected, room));
                require_ok(tsr_wavelet_inverse(mine, memory, memory, work));
            } else {
                require_ok(tsr_wavelet_forward(theirs, expected, expected, room));
                require_ok(tsr_wavelet_forward(mine, memory, memory, work));
            }
            require_ok(tsr_device_move(NULL, host, context, memory, bytes));
            assert_memory_equal(host, expected, bytes);
        }
        unsetenv("TESSERA_EMU_SHARED");
        tsr_device_release(context, memory, bytes);
        tsr_device_release(context, work, (size_t)info.workspace_bytes);
        tsr_wavelet_plan_destroy(&mine);
        tsr_wavelet_plan_destroy(&theirs);
        free(host);
        free(expected);
        free(room);
    }
    tsr_context_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(linear),     cmocka_unit_test(shifted), cmocka_unit_test(transposed),
                                        cmocka_unit_test(compaction), cmocka_unit_test(again),   cmocka_unit_test(in_place),
                                        cmocka_unit_test(long_rows) };
    return cmocka_run_group_tests_name("test_properties", tests, set_up, tear_down);
}
