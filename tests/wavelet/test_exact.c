/* What docs/theory/wavelets.md 9 asks of every filter: each length, level, boundary and layout returns the samples; large integers; arrays that run backwards; what
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

/* K of the normalised bands: docs/theory/wavelets.md 2. */
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

/* Planes large enough for steps that do not look for what leaves 16 bits (or 32), of values around what these may have: some rows take them, others not. */
static void sixteen_bits_without_a_look(void **state)
{
    (void)state;
    static const int amplitudes[] = { 60, 230, 420, 700, 1300, 1800, 2500, 3600, 5000, 8000, 16000 };
    const int64_t sizes[][3] = { { 91, 67, 1 }, { 64, 96, 1 }, { 80, 64, 1 } };
    uint64_t random = test_seed() + 2;
    for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
        for (int k = 0; k < 11; k += test_is_slow() ? 3 : 1) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = (tsr_wavelet_filter)filter;
            o.boundary = (tsr_wavelet_boundary)(k % TSR_WAVELET_BOUNDARIES);
            o.accuracy = -1;
            o.levels = 1 + k % 2;
            one_shape(TSR_I16, 2, sizes[o.boundary == TSR_WAVELET_PERIODIC ? 1 + filter % 2 : k % 3], o, amplitudes[k], &random);
            if (o.boundary == TSR_WAVELET_PERIODIC || (filter + k) % 2 || tsr_context_device(context).kind != TSR_DEVICE_CPU) continue;
            o.levels = 1;
            one_shape(TSR_I32, 2, sizes[k % 3], o, 1 << (10 + 3 * k / 2), &random);
            o.boundary = TSR_WAVELET_CLAMP; /* whose rows go through all steps together */
            one_shape(TSR_I16, 2, sizes[(k + 1) % 3], o, amplitudes[k], &random);
            one_shape(TSR_I32, 2, sizes[(k + 1) % 3], o, amplitudes[k], &random);
            o.levels = 2;
            one_shape(TSR_I32, 2, sizes[k % 3], o, amplitudes[k], &random);
        }
}

/* Small samples of 32 bits go in rows of 16: the coefficients are those of samples of 16. One that is too large, though its lower half is not, ends that
 * wherever it stands: all come back, and far from it nothing changes. The larger planes go two levels at once. */
static void small_integers(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = { { 200, 131, 1 }, { 1301, 1102, 1 } };
    uint64_t random = test_seed() + 3;
    for (int k = 0; k < (test_is_slow() ? 1 : 2); k++) {
        const size_t n = (size_t)(sizes[k][0] * sizes[k][1]);
        int16_t *x16 = (int16_t *)malloc(2 * n * sizeof *x16), *c16 = x16 + n;
        int32_t *x = (int32_t *)malloc(4 * n * sizeof *x), *c = x + n, *other = c + n, *back = other + n;
        assert_true(x16 && x);
        for (size_t i = 0; i < n; i++) x16[i] = (int16_t)(x[i] = (int32_t)(test_random(&random) >> 40 & 127) - 64);
        for (int filter = 0; filter <= TSR_WAVELET_FIDELITY; filter++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = (tsr_wavelet_filter)filter;
            o.levels = 3;
            o.accuracy = filter == TSR_WAVELET_FIDELITY ? -1 : 1;
            require_ok(transform(TSR_I16, 2, sizes[k], &o, x16, c16, 0));
            require_ok(transform(TSR_I32, 2, sizes[k], &o, x, c, 0));
            for (size_t i = 0; i < n; i++)
                if (c[i] != c16[i])
                    fail_msg("%s: coefficient %d is %d of 32 bits and %d of 16", tsr_wavelet_filter_name(o.filter), (int)i, c[i], c16[i]);
            require_ok(transform(TSR_I32, 2, sizes[k], &o, c, back, 1));
            assert_memory_equal(back, x, n * sizeof *x);
            for (int32_t large = 8; large < 512; large *= 2) { /* times that some rows, or all, are beyond */
                for (size_t i = 0; i < n; i++) other[i] = x[i] * large;
                require_ok(transform(TSR_I32, 2, sizes[k], &o, other, c, 0));
                require_ok(transform(TSR_I32, 2, sizes[k], &o, c, back, 1));
                assert_memory_equal(back, other, n * sizeof *x);
            }
            require_ok(transform(TSR_I32, 2, sizes[k], &o, x, c, 0));
            for (int where = 0; where < 3; where++) {
                int32_t *const wild = &x[where == 0 ? 0 : where == 1 ? n / 2 + 17 : n - 1], kept = *wild;
                *wild = 65536 * (1 + where) + kept;
                require_ok(transform(TSR_I32, 2, sizes[k], &o, x, other, 0));
                require_ok(transform(TSR_I32, 2, sizes[k], &o, other, back, 1));
                assert_memory_equal(back, x, n * sizeof *x);
                *wild = kept;
                for (int64_t i = sizes[k][0] * 3 / 4; i < sizes[k][0] && where; i++)
                    assert_int_equal(other[i], c[i]); /* details beside the first rows */
            }
        }
        free(x16);
        free(x);
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

/* Sums of products with the samples, and gains of constants and of the highest frequency: the tables of docs/theory/wavelets.md 2. */
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
 * samples, which numpy found once from the tables of docs/theory/wavelets.md 2 (boundary clamp). */
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

static oracle oracle_of(const tsr_wavelet_options *o, const int64_t *size, int32_t dimensions, int real)
{
    oracle with = { real, (int)o->boundary, 0, o->levels, (1 << dimensions) - 1, 0, &oracle_filters[o->filter], { 1, 1, 1, 1 } };
    /* Dirac's bits: none for fidelity and jpeg53 */
    if (!real && o->accuracy >= 0) with.shift = o->accuracy ? o->accuracy : o->filter != TSR_WAVELET_FIDELITY && o->filter != TSR_WAVELET_JPEG53;
    for (int32_t a = 0; a < dimensions; a++) with.size[a] = (int)size[a];
    return with;
}

enum { BACK_X = 45, BACK_Y = 18, BACK_Z = 5, BACK_MOST = BACK_X * BACK_Y * BACK_Z };

/* int16 coefficients of no samples in particular: what the oracle finds where that fits, else reported. *fit, *reported count. */
static void one_way_back(const tsr_wavelet_options *o, int32_t dimensions, int amplitude, uint64_t *random, int *reported, int *fit)
{
    const int64_t size[3] = { BACK_X, BACK_Y, dimensions > 2 ? BACK_Z : 1 };
    const int n = BACK_X * BACK_Y * (int)size[2];
    static int16_t coefficients[BACK_MOST], got[BACK_MOST], unchecked[BACK_MOST];
    static double expected[BACK_MOST];
    for (int i = 0; i < n; i++) expected[i] = coefficients[i] = (int16_t)((int)(test_random(random) % (uint64_t)(2 * amplitude)) - amplitude);
    oracle with = oracle_of(o, size, dimensions, 0);
    oracle_inverse(&with, expected);
    const tsr_status status = transform(TSR_I16, dimensions, size, o, coefficients, got, 1);
    if ((status != TSR_OK) != with.lost)
        fail_msg("%s, %d levels, accuracy %d, %d axes, up to %d: samples that %s 16 bits are %s", tsr_wavelet_filter_name(o->filter), o->levels,
                 o->accuracy, dimensions, amplitude, with.lost ? "leave" : "fit", with.lost ? "not reported" : "refused");
    *reported += with.lost;
    *fit += !with.lost;
    if (with.lost) return;
    for (int i = 0; i < n; i++) assert_int_equal(got[i], (int)expected[i]);
    if (o->inplace || tsr_context_device(context).kind != TSR_DEVICE_CPU) return;
    tsr_wavelet_options vouched = *o; /* the host gives what fits even where nobody looks */
    vouched.unchecked = 1;
    require_ok(transform(TSR_I16, dimensions, size, &vouched, coefficients, unchecked, 1));
    assert_memory_equal(unchecked, got, (size_t)n * sizeof *got);
}

static void back_beyond_16_bits(void **state)
{
    (void)state;
    static const int amplitudes[] = { 900, 5000, 9000, 16000, 24000, 32767 };
    uint64_t random = test_seed() + 4;
    int reported = 0, fit = 0;
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int k = 0; k < 6; k += test_is_slow() ? 2 : 1)
            for (int32_t levels = 1; levels <= 3; levels++)
                for (int32_t accuracy = -1; accuracy <= 1; accuracy += test_is_slow() ? 2 : 1) {
                    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                    o.filter = (tsr_wavelet_filter)f;
                    o.levels = levels;
                    o.accuracy = accuracy;
                    o.boundary = (tsr_wavelet_boundary)((f + k) % 2);
                    one_way_back(&o, 2, amplitudes[k], &random, &reported, &fit);
                    if (k % 3 == 1 || (test_is_slow() && k == 2)) one_way_back(&o, 3, amplitudes[k], &random, &reported, &fit);
                }
    assert_true(reported > 20 && fit > 20);
}

/* The same coefficients in other layouts, in place, with gaps and several at once: one rule for all. */
static void back_in_every_layout(void **state)
{
    (void)state;
    enum { X = 20, Y = 12, N = X * Y, PITCH = X + 3, ROOM = 2 * Y * PITCH };
    static int16_t mallat[2][N], moved[2][N], got[ROOM], in[ROOM];
    const int64_t size[2] = { X, Y }, stride[2] = { 1, PITCH };
    uint64_t random = test_seed() + 9;
    int refused = 0, rescued = 0;
    for (int round = 0; round < 24; round += test_is_slow() ? 3 : 1)
        for (int layout = 0; layout < TSR_WAVELET_LAYOUTS; layout++)
            for (int inplace = 0; inplace < 2; inplace++) {
                if (inplace && layout != TSR_WAVELET_INTERLEAVED && layout != TSR_WAVELET_SPLIT) continue;
                static double expected[2][N];
                tsr_wavelet_options nested = TSR_WAVELET_OPTIONS;
                nested.filter = (tsr_wavelet_filter)(round % TSR_WAVELET_CUSTOM);
                nested.levels = 2;
                nested.batch = 2;
                tsr_wavelet_options o = nested;
                o.layout = (tsr_wavelet_layout)layout;
                o.inplace = inplace;
                o.sample_stride = stride;
                if (layout != TSR_WAVELET_SUBBANDS && !inplace) o.coefficient_stride = stride;
                const int amplitude = 4000 + 1000 * round;
                int lost = 0;
                for (int b = 0; b < 2; b++) {
                    for (int i = 0; i < N; i++)
                        expected[b][i] = mallat[b][i] = (int16_t)((int)(test_random(&random) % (uint64_t)(2 * amplitude)) - amplitude);
                    oracle with = oracle_of(&nested, size, 2, 0);
                    oracle_inverse(&with, expected[b]);
                    lost |= with.lost;
                }
                tsr_wavelet_plan *from = NULL, *packed = NULL, *plan = NULL;
                require_ok(tsr_wavelet_plan_create(context, TSR_I16, 2, size, &nested, &from));
                tsr_wavelet_options arranged = nested;
                arranged.layout = o.layout;
                require_ok(tsr_wavelet_plan_create(context, TSR_I16, 2, size, &arranged, &packed));
                require_ok(tsr_wavelet_plan_create(context, TSR_I16, 2, size, &o, &plan));
                void *a = NULL, *m = NULL, *c = NULL, *s = NULL;
                require_ok(tsr_device_allocate(context, sizeof mallat, &a));
                require_ok(tsr_device_allocate(context, sizeof mallat, &m));
                require_ok(tsr_device_allocate(context, sizeof in, &c));
                require_ok(tsr_device_allocate(context, sizeof in, &s));
                require_ok(tsr_device_move(context, a, NULL, mallat, sizeof mallat));
                require_ok(tsr_wavelet_rearrange(from, a, packed, m));
                require_ok(tsr_device_move(NULL, moved, context, m, sizeof moved));
                for (int b = 0; b < 2; b++)
                    for (int i = 0; i < N; i++) /* by the default batch: Y * PITCH elements from one array to the next */
                        in[layout == TSR_WAVELET_SUBBANDS ? b * N + i : b * Y * PITCH + i / X * PITCH + i % X] = moved[b][i];
                require_ok(tsr_device_move(context, inplace ? s : c, NULL, in, sizeof in));
                const tsr_status status = tsr_wavelet_inverse(plan, inplace ? s : c, s, NULL);
                if ((status == TSR_ERROR_CAPACITY) != lost || (status != TSR_OK && !lost))
                    fail_msg("%s, %s%s, up to %d: samples that %s: %s", tsr_wavelet_filter_name(o.filter), tsr_wavelet_layout_name(o.layout),
                             inplace ? " in place" : "", amplitude, lost ? "do not fit" : "fit", tsr_status_name(status));
                require_ok(tsr_device_move(NULL, got, context, s, sizeof got));
                for (int b = 0; b < 2 && !lost; b++)
                    for (int i = 0; i < N; i++) assert_int_equal(got[b * Y * PITCH + i / X * PITCH + i % X], (int)expected[b][i]);
                refused += lost;
                rescued += !lost && amplitude > 9000;
                tsr_device_release(context, a, sizeof mallat);
                tsr_device_release(context, m, sizeof mallat);
                tsr_device_release(context, c, sizeof in);
                tsr_device_release(context, s, sizeof in);
                tsr_wavelet_plan_destroy(&plan);
                tsr_wavelet_plan_destroy(&packed);
                tsr_wavelet_plan_destroy(&from);
            }
    assert_true(refused > 3 && rescued > 3);
}

/* ---- synthesis of what no analysis made
 * -------------------------------------------------------------------------------------------------------------------- */

/* Round trips have no remainder at the final shift; these have. Coefficients 14, 43, 51, ... of a congruential generator in an 8 x 8 array of two
 * levels; pictures by the idwt of the SMPTE's reference decoder (vc2_conformance 1.0, picture_decoding.py), wavelet indices 1, 3, 0, 2, 6 and 5,
 * and 4; of fidelity with the tap +10 where the decoder's table has -10 (docs/theory/wavelets.md 2). */
static void golden_synthesis(void **state)
{
    (void)state;
    static const struct golden {
        tsr_wavelet_filter filter;
        int32_t accuracy;
        int16_t picture[64];
    } golden[] = {
        { TSR_WAVELET_DD97, 0, { -28, 29, 3,  40, -7,  26,  13, -11, -4,  -6, -9, 20,  -13, 13, 2,   3,   18,  10,  -4,  44, 7,   -18,
                                 4,   51, 35, -8, -11, 4,   -1, -38, 28,  17, 5,  -8,  -14, 37, -11, -17, -10, -51, 12,  9,  -28, 1,
                                 10,  9,  6,  0,  8,   -13, -2, 27,  -24, -1, 6,  -31, 18,  26, 2,   32,  18,  8,   -19, -86 } },
        { TSR_WAVELET_LEGALL53, 0, { -28, 28, 3,  39, -7, 26,  12, -14, -5,  -7, -10, 21,  -14, 14, 2,   -3,  18, 11,  -4,  46, 7,   -18,
                                     5,   52, 32, -6, -9, 8,   -2, -34, 30,  13, 5,   -8,  -14, 39, -11, -17, -9, -51, 13,  13, -26, 4,
                                     11,  7,  8,  7,  6,  -14, -1, 30,  -24, 1,  8,   -32, 16,  27, 2,   31,  18, 6,   -19, -83 } },
        { TSR_WAVELET_DD137, 0, { -29, 29, 3,  38, -9,  24,  14, -10, -4,  -5, -10, 19,  -14, 13, 3,   6,   19,  11,  -6,  44, 10,  -15,
                                  5,   53, 37, -7, -12, 4,   0,  -36, 28,  16, 7,   -8,  -15, 36, -14, -18, -10, -53, 13,  9,  -28, 2,
                                  10,  9,  6,  -3, 11,  -13, -3, 24,  -28, -4, 8,   -31, 19,  25, 1,   29,  14,  5,   -18, -86 } },
        { TSR_WAVELET_HAAR, -1, { -83, -2,  3,   85,  12, 59, 78,  27,  -82, -46, -23, 40, -31, 57,  83,  0,   15,  21,   14, 114, 41,  18,
                                  17,  112, 57,  27,  22, 53, 40,  -48, 75,  130, 61,  30, -55, 48,  -17, -46, -17, -130, 75, 104, -59, -27,
                                  26,  -10, -21, -55, 53, 17, -29, 49,  -41, -24, 41,  -6, 72,  106, 5,   40,  35,  47,   -1, -98 } },
        { TSR_WAVELET_HAAR, 0, { -28, 13, -5, 36,  0,  24, 27,  2,   -27, -9,  -18, 14, -21, 23, 30, -12, 0,  3,   -5, 45, 18,  6,
                                 -12, 35, 21, 6,   -1, 14, 17,  -27, 17,  44,  14,  -2, -21, 30, -5, -20, 6,  -51, 21, 35, -23, -7,
                                 16,  -2, 4,  -13, 11, -7, -18, 21,  -21, -13, 25,  1,  21,  38, -1, 16,  17, 23,  4,  -45 } },
        { TSR_WAVELET_FIDELITY, 0, { -222, 93,  14,  100, -51, -20, 43, -54, 13,   -43, 14, 1,   -63, 38,  -1,   -8, 41,  58,   -87, 78,  12,  9,
                                     -24,  128, 124, -41, -15, -69, 73, -88, 82,   -14, -3, -18, -48, 136, -100, 16, -19, -146, -28, 53,  -44, -41,
                                     73,   16,  -26, 25,  70,  -73, 13, 67,  -110, -18, 76, -27, -31, 85,  -18,  14, 50,  13,   -4,  -116 } },
        { TSR_WAVELET_DAUB97, 0, { -40, 29, -1, 36, -13, 21,  13, -9,  -7,  -6, -8, 13,  -19, 17, 2,   0,   12, 12,  -8,  43, 6,   -16,
                                   -3,  49, 35, -8, -8,  -3,  5,  -37, 29,  12, 3,  -6,  -15, 39, -14, -12, -8, -52, 9,   15, -28, -3,
                                   15,  11, 4,  2,  12,  -16, -3, 24,  -31, -2, 11, -20, 12,  27, -4,  21,  17, 10,  -10, -75 } },
    };
    const int64_t size[2] = { 8, 8 };
    int16_t coefficients[64], got[64];
    int32_t wide[64], wide_got[64];
    uint32_t seed = 1;
    for (int i = 0; i < 64; i++) {
        seed = (seed * 1103515245u + 12345u) & 0x7fffffffu;
        wide[i] = coefficients[i] = (int16_t)((int)((seed >> 16) % 161) - 80);
    }
    for (size_t k = 0; k < sizeof golden / sizeof *golden; k++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.filter = golden[k].filter;
        o.levels = 2;
        o.accuracy = golden[k].accuracy;
        require_ok(transform(TSR_I16, 2, size, &o, coefficients, got, 1));
        require_ok(transform(TSR_I32, 2, size, &o, wide, wide_got, 1));
        for (int i = 0; i < 64; i++)
            if (got[i] != golden[k].picture[i] || wide_got[i] != golden[k].picture[i])
                fail_msg("%s, accuracy %d: sample %d is %d and %d, expected %d", tsr_wavelet_filter_name(o.filter), o.accuracy, i, got[i],
                         wide_got[i], golden[k].picture[i]);
    }
}

/* Every filter, type and boundary; odd lengths; 1 to 4 levels. */
static void random_synthesis(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = { { 37, 1, 1 }, { 24, 17, 1 }, { 16, 8, 24 }, { 9, 10, 7 } };
    static double coefficients[MOST], got[MOST], expected[MOST];
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };
    uint64_t random = test_seed() + 5;
    for (int f = 0; f < TSR_WAVELET_CUSTOM; f++)
        for (int b = 0; b < TSR_WAVELET_BOUNDARIES; b++)
            for (int t = 0; t < 4; t += test_is_slow() ? 2 : 1)
                for (int k = 0; k < 4; k++) {
                    if (b == TSR_WAVELET_PERIODIC && k != 2) continue;
                    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                    const int real = types[t] >= TSR_F32, n = (int)(sizes[k][0] * sizes[k][1] * sizes[k][2]);
                    double most = 1;
                    o.filter = (tsr_wavelet_filter)f;
                    o.boundary = (tsr_wavelet_boundary)b;
                    o.levels = k == 0 ? 4 : k == 1 ? 3 : k == 2 ? 2 : 1;
                    for (int i = 0; i < n; i++) put(coefficients, types[t], i, expected[i] = floor((test_uniform(&random) - 0.5) * 600));
                    oracle with = oracle_of(&o, sizes[k], 3, real);
                    oracle_inverse(&with, expected);
                    for (int i = 0; i < n; i++) most = fmax(most, fabs(expected[i]));
                    require_ok(transform(types[t], 3, sizes[k], &o, coefficients, got, 1));
                    for (int i = 0; i < n; i++)
                        if (!(fabs(get(got, types[t], i) - expected[i]) <= (!real ? 0 : (types[t] == TSR_F32 ? 2e-6 : 1e-14) * most * o.levels)))
                            fail_msg("%s %s, %s, size %d: sample %d is %.9g, expected %.9g", tsr_wavelet_filter_name(o.filter),
                                     tsr_dtype_name(types[t]), tsr_wavelet_boundary_name(o.boundary), k, i, get(got, types[t], i), expected[i]);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_length),
                                        cmocka_unit_test(large_integers),
                                        cmocka_unit_test(backwards),
                                        cmocka_unit_test(sixteen_bits_without_a_look),
                                        cmocka_unit_test(small_integers),
                                        cmocka_unit_test(filter_bank),
                                        cmocka_unit_test(frame_bounds),
                                        cmocka_unit_test(back_beyond_16_bits),
                                        cmocka_unit_test(back_in_every_layout),
                                        cmocka_unit_test(golden_synthesis),
                                        cmocka_unit_test(random_synthesis) };
    return cmocka_run_group_tests_name("test_exact", tests, set_up, tear_down);
}
