/* What spec wavelet.md 6 asks of every filter: each length, level, boundary and layout returns the samples; large integers; arrays that run backwards; what
 * an impulse becomes; energies within the frame bounds; values that leave 16 bits on the way back. */
#include "context.h"

#include <math.h>

#include "device/backend.h"
#include "oracle.h"

enum { MOST = 24 * 16 * 16 };

static double get(const void *data, tsr_dtype t, int64_t i)
{
    return t == TSR_I16   ? ((const int16_t *)data)[i]
           : t == TSR_I32 ? ((const int32_t *)data)[i]
           : t == TSR_F32 ? (double)((const float *)data)[i]
                          : ((const double *)data)[i];
}
static void put(void *data, tsr_dtype t, int64_t i, double v)
{
    if (t == TSR_I16) ((int16_t *)data)[i] = (int16_t)v;
    else if (t == TSR_I32) ((int32_t *)data)[i] = (int32_t)v;
    else if (t == TSR_F32) ((float *)data)[i] = (float)v;
    else ((double *)data)[i] = v;
}

/* `n` samples to coefficients (`inverse`: back) in two arrays, the first element of each at `first`. */
static tsr_status transform_at(const tsr_wavelet_plan *plan, tsr_dtype dtype, size_t n, int64_t first, const void *from, void *to, int inverse)
{
    const size_t bytes = n * tsr_dtype_size(dtype), skip = (size_t)first * tsr_dtype_size(dtype);
    void *in = NULL, *out = NULL;
    require_ok(tsr_device_allocate(context, bytes, &in));
    require_ok(tsr_device_allocate(context, bytes, &out));
    require_ok(tsr_device_move(context, in, NULL, from, bytes));
    require_ok(context->backend->fill(context->queue, out, 0x55, bytes));
    char *a = (char *)in + skip, *b = (char *)out + skip;
    const tsr_status status = inverse ? tsr_wavelet_inverse(plan, a, b, NULL) : tsr_wavelet_forward(plan, a, b, NULL);
    if (status != TSR_ERROR_CAPACITY) require_ok(status);
    require_ok(tsr_device_move(NULL, to, context, out, bytes));
    tsr_device_release(context, in, bytes);
    tsr_device_release(context, out, bytes);
    return status;
}

static tsr_status transform(tsr_dtype dtype, int32_t dimensions, const int64_t *size, const tsr_wavelet_options *o, const void *from, void *to,
                            int inverse)
{
    tsr_wavelet_plan *plan = NULL;
    size_t n = 1;
    for (int32_t a = 0; a < dimensions; a++) n *= (size_t)size[a];
    require_ok(tsr_wavelet_plan_create(context, dtype, dimensions, size, o, &plan));
    const tsr_status status = transform_at(plan, dtype, n, 0, from, to, inverse);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

/* ---- every length, to its last level --------------------------------------------------------------------------------------------------------------- */

/* K of the normalised bands: spec wavelet.md 2.3. */
static double oracle_scale(tsr_wavelet_filter filter)
{
    return filter == TSR_WAVELET_DAUB97 ? 1.149604398860241 : filter == TSR_WAVELET_FIDELITY ? sqrt(0.5) : sqrt(2.0);
}

/* What normalisation multiplies the coefficient at (x, y, z) of nested bands by. */
static double oracle_weight(const oracle *with, double scale, int x, int y, int z)
{
    int at[3] = { x, y, z }, n[3] = { with->size[0], with->size[1], with->size[2] }, high = 0;
    double weight = 1;
    for (int level = 0; level < with->levels && !high; level++)
        for (int a = 0; a < 3; a++) {
            if (n[a] < 2) continue;
            n[a] = (n[a] + 1) / 2;
            weight *= at[a] >= n[a] ? 1 / scale : scale;
            high |= at[a] >= n[a];
        }
    return weight;
}

static void one_shape(tsr_dtype dtype, int32_t dimensions, const int64_t *size, tsr_wavelet_options o, int amplitude, uint64_t *random)
{
    static double samples[MOST], coefficients[MOST], back[MOST], expected[MOST];
    const int real = dtype == TSR_F32 || dtype == TSR_F64;
    const int64_t n = size[0] * size[1] * size[2];
    double most = 0, largest = 1;
    char what[200];
    snprintf(what, sizeof what, "%s %s %d x %d x %d, %d levels, %s, %s", tsr_wavelet_filter_name(o.filter), tsr_dtype_name(dtype), (int)size[0],
             (int)size[1], (int)size[2], (int)o.levels, tsr_wavelet_boundary_name(o.boundary), tsr_wavelet_layout_name(o.layout));
    for (int64_t i = 0; i < n; i++) put(samples, dtype, i, floor((test_uniform(random) - 0.5) * 2 * amplitude));
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(expected[i] = get(samples, dtype, i)));
    oracle with = { real, (int)o.boundary, 0, o.levels, 7, 0, &oracle_filters[o.filter], { (int)size[0], (int)size[1], (int)size[2], 1 } };
    oracle_forward(&with, expected);
    const tsr_status status = transform(dtype, dimensions, size, &o, samples, coefficients, 0);
    if ((status != TSR_OK) != (dtype == TSR_I16 && with.lost)) fail_msg("%s: overflow %s", what, with.lost ? "missed" : "reported without one");
    if (status != TSR_OK) return;
    for (int64_t i = 0; i < n && o.normalise; i++)
        expected[i] *= oracle_weight(&with, oracle_scale(o.filter), (int)(i % size[0]), (int)(i / size[0] % size[1]), (int)(i / size[0] / size[1]));
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = 0; i < n && o.layout == TSR_WAVELET_MALLAT; i++) {
        const double c = get(coefficients, dtype, i);
        if (!(fabs(c - expected[i]) <= (!real ? 0 : (dtype == TSR_F32 ? 1e-6 : 1e-14) * largest * o.levels)))
            fail_msg("%s: coefficient %d is %.9g, expected %.9g", what, (int)i, c, expected[i]);
    }
    require_ok(transform(dtype, dimensions, size, &o, coefficients, back, 1));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(get(back, dtype, i) - get(samples, dtype, i)) <= (!real ? 0 : (dtype == TSR_F32 ? 2e-6 : 1e-14) * most * o.levels)))
            fail_msg("%s: sample %d comes back as %.9g instead of %.9g", what, (int)i, get(back, dtype, i), get(samples, dtype, i));
}

/* Extents for which `periodic` goes: even at every level. Returns the levels. */
static int32_t all_levels(tsr_wavelet_boundary boundary, int32_t dimensions, int64_t *size)
{
    if (boundary != TSR_WAVELET_PERIODIC) return tsr_wavelet_levels_possible(dimensions, size, 0);
    const int32_t levels = size[0] < 8 ? 1 : size[0] < 24 ? 2 : 3;
    const int64_t step = (int64_t)1 << levels;
    for (int32_t a = 0; a < dimensions; a++) size[a] = (size[a] + step - 1) / step * step;
    return levels;
}

/* All filters, boundaries and types; layouts take turns. Of the levels the first, all and one between them. */
static void every_shape(int32_t dimensions, int length, int turn, uint64_t *random)
{
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };
    for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
        for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
            const int other = 1 + (int)(test_random(random) % 64), third = 1 + (int)(test_random(random) % 20);
            int64_t size[3] = { length, dimensions == 1 ? 1 : dimensions == 2 ? other : 1 + other % 16, dimensions == 3 ? 1 + third % 13 : 1 };
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            if (turn & 1 && dimensions == 2) size[0] = other, size[1] = length;
            if (turn & 1 && dimensions == 3) size[2] = length, size[0] = 1 + third % 13;
            const int32_t most = all_levels((tsr_wavelet_boundary)boundary, dimensions, size);
            o.filter = (tsr_wavelet_filter)filter;
            o.boundary = (tsr_wavelet_boundary)boundary;
            o.accuracy = -1;
            o.layout = (tsr_wavelet_layout)(turn++ % TSR_WAVELET_LAYOUTS);
            const int type = turn / 3 % 4;
            o.normalise = type >= 2 && turn & 8;
            for (int k = 0; k < (test_is_slow() ? 2 : 3) && most; k++) {
                o.levels = k == 0 ? 1 : k == 1 ? most : 1 + (int32_t)(test_random(random) % (uint64_t)most);
                one_shape(types[type], dimensions, size, o, type == 0 ? 4000 >> 3 * k : 1000, random);
            }
        }
}

static void every_length(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const int step = test_is_slow() ? 20 : 1;
    for (int32_t dimensions = 1; dimensions <= 3; dimensions++)
        for (int length = 1, turn = 0; length <= (dimensions == 3 ? 20 : 64); length += length < 3 ? 1 : step, turn += 5)
            every_shape(dimensions, length, turn, &random);
}

/* Integers of 27 bits, whose sums need 64; any 32 bits, which wrap and come back all the same. */
static void large_integers(void **state)
{
    (void)state;
    const int64_t size[3] = { 37, 22, 1 };
    uint64_t random = test_seed() + 1;
    int32_t x[37 * 22], c[37 * 22], back[37 * 22];
    for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
        for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            if (boundary == TSR_WAVELET_PERIODIC) continue;
            o.filter = (tsr_wavelet_filter)filter;
            o.boundary = (tsr_wavelet_boundary)boundary;
            o.accuracy = -1;
            o.levels = 1;
            one_shape(TSR_I32, 2, size, o, 1 << 26, &random);
            o.levels = 3;
            for (int i = 0; i < 37 * 22; i++) x[i] = (int32_t)(uint32_t)(test_random(&random) >> 20);
            require_ok(transform(TSR_I32, 2, size, &o, x, c, 0));
            require_ok(transform(TSR_I32, 2, size, &o, c, back, 1));
            assert_memory_equal(back, x, sizeof x);
        }
}

/* ---- arrays that run backwards ------------------------------------------------------------------------------------------------------------------------ */

/* Negative strides are as good as any: the same coefficients as of the array that was turned round before. */
static void backwards(void **state)
{
    (void)state;
    enum { X = 29, Y = 12, Z = 6, N = X * Y * Z };
    const int64_t size[3] = { X, Y, Z };
    uint64_t random = test_seed() + 2;
    int16_t x[N], turned[N], expected[N], c[N], back[N];
    for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
        for (int axes = 1; axes < 8; axes += test_is_slow() ? 3 : 1) {
            const int64_t stride[3] = { axes & 1 ? -1 : 1, axes & 2 ? -X : X, axes & 4 ? -X * Y : X * Y };
            const int64_t first = (axes & 1 ? X - 1 : 0) + (axes & 2 ? (Y - 1) * X : 0) + (axes & 4 ? (Z - 1) * X * Y : 0);
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            tsr_wavelet_plan *plan = NULL;
            o.filter = (tsr_wavelet_filter)filter;
            o.levels = 2;
            for (int i = 0; i < N; i++) x[i] = (int16_t)(test_random(&random) % 64);
            for (int64_t z = 0; z < Z; z++)
                for (int64_t y = 0; y < Y; y++)
                    for (int64_t i = 0; i < X; i++) turned[(z * Y + y) * X + i] = x[first + i * stride[0] + y * stride[1] + z * stride[2]];
            require_ok(transform(TSR_I16, 3, size, &o, turned, expected, 0));
            o.sample_stride = o.coefficient_stride = stride;
            require_ok(tsr_wavelet_plan_create(context, TSR_I16, 3, size, &o, &plan));
            require_ok(transform_at(plan, TSR_I16, N, first, x, c, 0));
            for (int64_t z = 0; z < Z; z++)
                for (int64_t y = 0; y < Y; y++)
                    for (int64_t i = 0; i < X; i++)
                        assert_int_equal(c[first + i * stride[0] + y * stride[1] + z * stride[2]], expected[(z * Y + y) * X + i]);
            require_ok(transform_at(plan, TSR_I16, N, first, c, back, 1));
            assert_memory_equal(back, x, sizeof x);
            tsr_wavelet_plan_destroy(&plan);
        }
}

/* ---- the filter bank ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct bank {
    tsr_wavelet_filter filter;
    int low_count, high_count; /* taps: centred at the even sample, at the odd one (haar: from the even one on) */
    double low_over, high_over, low[15], high[7];
} bank;

/* What each of 64 samples becomes: rows[sample][coefficient]. */
static void impulses(const tsr_wavelet_options *options, double rows[64][64])
{
    static double samples[64][64];
    const int64_t size[2] = { 64, 64 };
    tsr_wavelet_options o = *options;
    o.axes = 1;
    for (int i = 0; i < 64; i++) samples[i][i] = 1;
    require_ok(transform(TSR_F64, 2, size, &o, samples, rows, 0));
}

/* Sums of products with the samples, and gains of constants and of the highest frequency: the tables of spec wavelet.md 2.3. */
static void filter_bank(void **state)
{
    (void)state;
    enum { N = 64 };
    static const bank banks[] = {
        { TSR_WAVELET_HAAR, 2, 2, 2, 1, { 1, 1 }, { -1, 1 } },
        { TSR_WAVELET_LEGALL53, 5, 3, 8, 2, { -1, 2, 6, 2, -1 }, { -1, 2, -1 } },
        { TSR_WAVELET_JPEG53, 5, 3, 8, 2, { -1, 2, 6, 2, -1 }, { -1, 2, -1 } },
        { TSR_WAVELET_DD97, 9, 7, 64, 16, { 1, 0, -8, 16, 46, 16, -8, 0, 1 }, { 1, 0, -9, 16, -9, 0, 1 } },
        { TSR_WAVELET_DD137, 13, 7, 512, 16, { -1, 0, 18, -16, -63, 144, 348, 144, -63, -16, 18, 0, -1 }, { 1, 0, -9, 16, -9, 0, 1 } },
        { TSR_WAVELET_FIDELITY, 15, 0, 256, 1, { -8, 0, 21, 0, -46, 0, 161, 256, 161, 0, -46, 0, 21, 0, -8 }, { 0 } },
    };
    static const int lengths[TSR_WAVELET_CUSTOM][2] = { { 5, 3 }, { 2, 2 }, { 9, 7 }, { 13, 7 }, { 9, 7 }, { 15, 29 }, { 5, 3 } };
    static double rows[N][N], matrix[N][N]; /* matrix: [coefficient][sample] */
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        const char *name = tsr_wavelet_filter_name((tsr_wavelet_filter)f);
        o.filter = (tsr_wavelet_filter)f;
        o.boundary = TSR_WAVELET_PERIODIC;
        o.levels = 1;
        impulses(&o, rows);
        for (int phase = 0; phase < N; phase++)
            for (int k = 0; k < N; k++) matrix[k][phase] = rows[phase][k];
        for (int k = 0; k < N; k++) {
            const int high = k >= N / 2;
            const double gain = f == TSR_WAVELET_DAUB97     ? high ? -2 / 1.230174105 : 1.230174105
                                : f == TSR_WAVELET_FIDELITY ? high ? -1 : 2
                                : high                      ? -2
                                                            : 1;
            double sum = 0, alternating = 0;
            for (int i = 0; i < N; i++) {
                sum += matrix[k][i];
                alternating += i & 1 ? -matrix[k][i] : matrix[k][i];
            }
            if (!(fabs((high ? alternating : sum) - gain) < 1e-8 && fabs(high ? sum : alternating) < 1e-8))
                fail_msg("%s: coefficient %d of a constant %.9g, of the highest frequency %.9g", name, k, sum, alternating);
            for (int i = 0; i < N; i++) { /* none beyond the length */
                const int centre = 2 * (k % (N / 2)) + high, away = (i - centre + N + N / 2) % N - N / 2;
                if (f != TSR_WAVELET_HAAR && abs(away) > lengths[f][high] / 2) assert_true(matrix[k][i] == 0);
                if (f != TSR_WAVELET_HAAR && abs(away) == lengths[f][high] / 2) assert_true(matrix[k][i] != 0);
            }
        }
        for (size_t b = 0; b < sizeof banks / sizeof *banks; b++) {
            if (banks[b].filter != (tsr_wavelet_filter)f) continue;
            for (int k = 0; k < N; k++) {
                const int high = k >= N / 2, taps = high ? banks[b].high_count : banks[b].low_count;
                const int first = 2 * (k % (N / 2)) + (f == TSR_WAVELET_HAAR ? 0 : high - taps / 2);
                for (int i = 0; i < N && taps; i++) {
                    const int tap = (i - first + N) % N;
                    const double expected = tap >= taps ? 0 : high ? banks[b].high[tap] / banks[b].high_over : banks[b].low[tap] / banks[b].low_over;
                    if (matrix[k][i] != expected)
                        fail_msg("%s: coefficient %d of sample %d: %.17g, expected %.17g", name, k, i, matrix[k][i], expected);
                }
            }
        }
    }
}

/* Largest part of v'(A'A)v / v'v, or of what is left of `from`: by powers. */
static double extreme(const double (*gram)[64], double from, uint64_t *random)
{
    double v[64], w[64], value = 0, norm = 0;
    for (int i = 0; i < 64; i++) {
        v[i] = test_uniform(random) - 0.5;
        norm += v[i] * v[i];
    }
    for (int round = 0; round < 600; round++) {
        for (int i = 0; i < 64; i++) v[i] /= sqrt(norm);
        value = norm = 0;
        for (int i = 0; i < 64; i++) {
            double sum = 0;
            for (int j = 0; j < 64; j++) sum += gram[i][j] * v[j];
            value += sum * v[i];
            w[i] = from > 0 ? from * v[i] - sum : sum;
            norm += w[i] * w[i];
        }
        if (!(norm > 0)) break;
        memcpy(v, w, sizeof v);
    }
    return value;
}

/* Energy of normalised coefficients over that of the samples: between the squares of the extreme singular values of the matrix of three levels of 64
 * samples, which numpy found once from the tables of spec wavelet.md 2.3 (boundary clamp). */
static void frame_bounds(void **state)
{
    (void)state;
    static const double bounds[TSR_WAVELET_CUSTOM][2] = { { 0.3212010728, 3.891629714 }, { 1, 1 },
                                                          { 0.3012197853, 3.600501071 }, { 0.2833912153, 3.290679561 },
                                                          { 0.3421385368, 1.895986592 }, { 0.2322736003, 2.576940929 },
                                                          { 0.3212010728, 3.891629714 } };
    static double rows[64][64], gram[64][64];
    const int64_t size[1] = { 64 };
    uint64_t random = test_seed() + 3;
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.filter = (tsr_wavelet_filter)f;
        o.levels = 3;
        o.normalise = 1;
        impulses(&o, rows);
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 64; j++) {
                gram[i][j] = 0;
                for (int k = 0; k < 64; k++) gram[i][j] += rows[i][k] * rows[j][k];
            }
        const double most = extreme((const double(*)[64])gram, 0, &random), least = extreme((const double(*)[64])gram, most, &random);
        if (!(fabs(most - bounds[f][1]) < 1e-6 * most && fabs(least - bounds[f][0]) < 1e-6 * most))
            fail_msg("%s: energies times %.10g to %.10g, expected %.10g to %.10g", tsr_wavelet_filter_name(o.filter), least, most, bounds[f][0],
                     bounds[f][1]);
        for (int round = 0; round < 4; round++) {
            double x[64], c[64], before = 0, after = 0;
            for (int i = 0; i < 64; i++) {
                x[i] = test_uniform(&random) - 0.5;
                before += x[i] * x[i];
            }
            require_ok(transform(TSR_F64, 1, size, &o, x, c, 0));
            for (int i = 0; i < 64; i++) after += c[i] * c[i];
            assert_true(after <= bounds[f][1] * before * (1 + 1e-6) && after >= bounds[f][0] * before * (1 - 1e-6));
        }
    }
}

/* ---- on the way back -------------------------------------------------------------------------------------------------------------------------------------- */

/* Coefficients of no samples of 16 bits: reported; those whose samples, as i32 finds them, fit: not, and the same samples. */
static void back_beyond_16_bits(void **state)
{
    (void)state;
    enum { X = 45, Y = 18, N = X * Y };
    const int64_t size[2] = { X, Y };
    static const int amplitudes[] = { 900, 6000, 14000, 32767 };
    uint64_t random = test_seed() + 4;
    int16_t narrow[N], got[N];
    int32_t wide[N], expected[N];
    int reported = 0, fit = 0;
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int k = 0; k < 4; k++)
            for (int32_t levels = 1; levels <= 3; levels++) {
                tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                int beyond = 0;
                o.filter = (tsr_wavelet_filter)f;
                o.levels = levels;
                o.accuracy = k & 1 ? -1 : 1;
                for (int i = 0; i < N; i++)
                    wide[i] = narrow[i] = (int16_t)((int)(test_random(&random) % (uint64_t)(2 * amplitudes[k])) - amplitudes[k]);
                require_ok(transform(TSR_I32, 2, size, &o, wide, expected, 1));
                for (int i = 0; i < N; i++) beyond |= expected[i] < -32768 || expected[i] > 32767;
                const tsr_status status = transform(TSR_I16, 2, size, &o, narrow, got, 1);
                if (beyond && status == TSR_OK)
                    fail_msg("%s, %d levels: samples beyond 16 bits and nothing said so", tsr_wavelet_filter_name(o.filter), levels);
                for (int i = 0; i < N && status == TSR_OK; i++) assert_int_equal(got[i], expected[i]);
                reported += status != TSR_OK;
                fit += status == TSR_OK;
            }
    assert_true(reported > 20 && fit > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_length), cmocka_unit_test(large_integers), cmocka_unit_test(backwards),
                                        cmocka_unit_test(filter_bank),  cmocka_unit_test(frame_bounds),   cmocka_unit_test(back_beyond_16_bits) };
    return cmocka_run_group_tests_name("test_exact", tests, set_up, tear_down);
}
