/* Lifting transforms: golden vectors and hashes of the specification, an oracle on random shapes, filters, boundaries, layouts and strides, exact return,
 * overflow. Properties of filters and errors: test_filters. */
#include "arrays.h"

#include "device/isa.h"
#include "oracle.h"

static int on_cpu;

static int set_up_here(void **state)
{
    set_up(state);
    on_cpu = tsr_context_device(context).kind == TSR_DEVICE_CPU;
    return 0;
}

/* ---- what the specification prints --------------------------------------------------------------------------------------------------------- */

static void golden_vectors(void **state)
{
    (void)state;
    static const struct {
        tsr_wavelet_filter filter;
        int32_t accuracy;
        tsr_wavelet_boundary boundary;
        int16_t c[16];
    } golden[] = {
        { TSR_WAVELET_HAAR, -1, TSR_WAVELET_CLAMP, { -24, 26, -16, -4, 12, -15, 12, -5, 48, 2, -44, 7, 58, 12, 63, 17 } },
        { TSR_WAVELET_LEGALL53, -1, TSR_WAVELET_CLAMP, { -42, 31, 0, -14, 1, -3, -2, 5, 11, 11, -37, 11, 60, 11, 60, 17 } },
        { TSR_WAVELET_DD97, -1, TSR_WAVELET_CLAMP, { -43, 29, -1, -14, 1, -3, -2, 5, 10, 6, -36, 12, 61, 12, 60, 17 } },
        { TSR_WAVELET_DD137, -1, TSR_WAVELET_CLAMP, { -43, 30, -3, -17, 4, -3, -2, 7, 10, 6, -36, 12, 61, 12, 60, 17 } },
        { TSR_WAVELET_DAUB97, -1, TSR_WAVELET_CLAMP, { -42, 32, -3, -18, 5, -2, -2, 5, 11, 7, -34, 11, 54, 6, 53, 8 } },
        { TSR_WAVELET_FIDELITY, -1, TSR_WAVELET_CLAMP, { -56, 47, 3, -47, 22, -12, -5, 20, 1, 2, -15, 4, 32, 2, 37, -8 } },
        { TSR_WAVELET_LEGALL53, 1, TSR_WAVELET_CLAMP, { -84, 62, -1, -29, 2, -6, -4, 11, 23, 23, -74, 23, 120, 23, 120, 34 } },
        { TSR_WAVELET_DD137, 0, TSR_WAVELET_CLAMP, { -85, 61, -7, -34, 8, -6, -4, 13, 21, 12, -73, 24, 121, 24, 120, 33 } },
        { TSR_WAVELET_DAUB97, 0, TSR_WAVELET_CLAMP, { -83, 65, -6, -37, 8, -7, -4, 13, 24, 14, -68, 20, 108, 10, 107, 19 } },
        { TSR_WAVELET_DD137, -1, TSR_WAVELET_SYMMETRIC, { -40, 32, -3, -17, 4, -3, -2, 5, 15, 6, -36, 12, 61, 12, 60, 16 } },
    };
    const int64_t size = 16;
    int16_t x[16], c[16];
    for (int i = 0; i < 16; i++) x[i] = (int16_t)((37 * i * i + 11 * i) % 97 - 48);
    for (size_t k = 0; k < sizeof golden / sizeof *golden; k++) {
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.filter = golden[k].filter;
        o.accuracy = golden[k].accuracy;
        o.boundary = golden[k].boundary;
        o.levels = 1;
        forward16(1, &size, &o, x, c);
        for (int i = 0; i < 16; i++)
            if (c[i] != golden[k].c[i]) fail_msg("golden %zu: coefficient %d is %d, not %d", k, i, c[i], golden[k].c[i]);
    }
}

static void golden_plane(void **state)
{
    (void)state;
    static const int16_t bands[8][8] = { /* LL HL over LH HH */
                                         { -70, 0, 13, 6, -12, -2, -11, -27 },   { -5, 13, 25, -39, 51, 16, 43, -8 },
                                         { 18, -22, 22, -15, -21, 10, 14, 29 },  { -7, 29, 2, -1, 8, -55, 20, -69 },
                                         { 8, -87, 35, -2, 34, -61, 22, 5 },     { -68, -3, -19, -10, 29, -8, -3, -8 },
                                         { 36, -43, 1, -76, -23, -96, -64, 67 }, { 32, -59, -18, -2, -62, 12, -1, 16 }
    };
    const int64_t size[2] = { 8, 8 };
    int16_t v[64], c[64];
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) v[8 * y + x] = (int16_t)((13 * x * x + 7 * y * y + 5 * x * y) % 61 - 30);
    o.filter = TSR_WAVELET_DD137;
    o.levels = 1;
    forward16(2, size, &o, v, c);
    assert_memory_equal(c, bands, sizeof c);
}

static void golden_hashes(void **state)
{
    (void)state;
    static const struct {
        tsr_wavelet_filter filter;
        uint64_t hash;
    } golden[] = {
        { TSR_WAVELET_HAAR, 0x23327b18eeac170b },  { TSR_WAVELET_LEGALL53, 0xf882bd9d079cb87b }, { TSR_WAVELET_DD97, 0x257430a231002977 },
        { TSR_WAVELET_DD137, 0x6d4eaa15b50634de }, { TSR_WAVELET_DAUB97, 0xe3a6ff189ba6d952 },   { TSR_WAVELET_FIDELITY, 0xa0cab2c84586a96f },
    };
    const int64_t size[2] = { 64, 48 };
    static int16_t v[48 * 64], c[48 * 64];
    for (int y = 0; y < 48; y++)
        for (int x = 0; x < 64; x++) v[64 * y + x] = (int16_t)((13 * x * x + 7 * y * y + 5 * x * y + x * y * y) % 251 - 125);
    for (size_t k = 0; k < sizeof golden / sizeof *golden; k++)
        for (int layout = 0; layout < TSR_WAVELET_LAYOUTS; layout++) { /* the hash is of layout mallat: the others are converted to it */
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            o.filter = golden[k].filter;
            tsr_wavelet_plan *mallat = make_plan(TSR_I16, 2, size, &o);
            o.layout = (tsr_wavelet_layout)layout;
            tsr_wavelet_plan *plan = make_plan(TSR_I16, 2, size, &o);
            void *in = to_device(v, sizeof v), *out = to_device(v, sizeof v);
            require_ok(tsr_wavelet_forward(plan, in, out, NULL));
            if (layout != TSR_WAVELET_MALLAT) require_ok(tsr_wavelet_rearrange(plan, out, mallat, in));
            to_host(c, layout != TSR_WAVELET_MALLAT ? in : out, sizeof c);
            drop(in, sizeof v);
            drop(out, sizeof v);
            tsr_wavelet_plan_destroy(&plan);
            tsr_wavelet_plan_destroy(&mallat);
            uint64_t hash = 0xcbf29ce484222325;
            for (size_t i = 0; i < sizeof c / 2; i++)
                for (int b = 0; b < 2; b++) hash = (hash ^ ((uint16_t)c[i] >> 8 * b & 255)) * 0x100000001b3;
            if (hash != golden[k].hash)
                fail_msg("%s, layout %s: hash %016llx", tsr_wavelet_filter_name(golden[k].filter), tsr_wavelet_layout_name(o.layout),
                         (unsigned long long)hash);
        }
}

/* ---- the oracle -------------------------------------------------------------------------------------------------------------------------------- */

static const tsr_dtype types[4] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };

static double get(const void *data, tsr_dtype t, int64_t i)
{
    return t == TSR_I16   ? ((const int16_t *)data)[i]
           : t == TSR_I32 ? ((const int32_t *)data)[i]
           : t == TSR_F32 ? (double)((const float *)data)[i]
                          : ((const double *)data)[i];
}
static void set(void *data, tsr_dtype t, int64_t i, double v)
{
    if (t == TSR_I16) ((int16_t *)data)[i] = (int16_t)v;
    else if (t == TSR_I32) ((int32_t *)data)[i] = (int32_t)v;
    else if (t == TSR_F32) ((float *)data)[i] = (float)v;
    else ((double *)data)[i] = v;
}

/* Strides of a random order of the axes, with gaps; the elements they reach over. */
static int64_t random_strides(uint64_t *seed, int32_t dimensions, const int64_t *size, int64_t batch, int64_t *stride, int64_t *batch_stride)
{
    int32_t order[4] = { 0, 1, 2, 3 };
    int64_t next = test_random(seed) % 3 ? 1 : 2;
    if (test_random(seed) % 3 == 0)
        for (int32_t k = dimensions - 1; k > 0; k--) {
            int32_t j = (int32_t)(test_random(seed) % (uint64_t)(k + 1)), t = order[k];
            order[k] = order[j];
            order[j] = t;
        }
    for (int32_t k = 0; k < dimensions; k++) {
        stride[order[k]] = next;
        next = next * size[order[k]] + (int64_t)(test_random(seed) % 4);
    }
    *batch_stride = next;
    return next * batch;
}

struct shape {
    tsr_dtype type;
    int32_t dimensions;
    int64_t size[4], stride[4], batch, batch_stride, elements;
};

static int64_t place(const struct shape *s, const int64_t *stride, int64_t batch_stride, int64_t n)
{
    int64_t at = 0;
    for (int a = 0; a < s->dimensions; a++) {
        at += n % s->size[a] * stride[a];
        n /= s->size[a];
    }
    return at + n * batch_stride;
}

/* Compares the coefficients of array `b` with nested bands of the oracle. */
static void compare_bands(const tsr_wavelet_plan *plan, const struct shape *s, const void *coefficients, int64_t batch_offset, const double *expected,
                          const oracle *o, double tolerance, const char *what)
{
    tsr_wavelet_band band;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    int64_t seen = 0;
    tsr_wavelet_plan_describe(plan, &info);
    for (int32_t n = 0; n < info.bands; n++) {
        require_ok(tsr_wavelet_plan_band(plan, n, &band));
        int64_t first = 0, pitch = 1, count = 1, pitches[4];
        for (int a = 0; a < 4; a++) {
            int64_t before = o->size[a];
            for (int l = 1; l < band.level && (o->axes >> a & 1); l++) before = (before + 1) / 2;
            if (band.high >> a & 1) first += (before + 1) / 2 * pitch;
            pitches[a] = pitch;
            pitch *= o->size[a];
            count *= band.size[a];
        }
        for (int64_t k = 0; k < count; k++, seen++) {
            int64_t rest = k, at = band.offset, nested = first;
            for (int a = 0; a < 4; a++) {
                at += rest % band.size[a] * band.stride[a];
                nested += rest % band.size[a] * pitches[a];
                rest /= band.size[a];
            }
            double v = get(coefficients, s->type, at + batch_offset), e = expected[nested];
            if (!(fabs(v - e) <= tolerance))
                fail_msg("%s: band %d (level %d, high %x) element %lld is %.9g, not %.9g", what, n, band.level, band.high, (long long)k, v, e);
        }
    }
    assert_int_equal(seen, info.elements);
}

static void random_shape(uint64_t *seed, struct shape *s)
{
    static const int most[4] = { 300, 100, 20, 6 };
    s->type = types[test_random(seed) % 4];
    s->dimensions = (int32_t)(1 + test_random(seed) % 4);
    s->batch = 1 + (int64_t)(test_random(seed) % 3 == 0);
    s->elements = 1;
    for (int a = 0; a < 4; a++) {
        s->size[a] = a < s->dimensions ? (int64_t)(1 + test_random(seed) % (uint64_t)most[s->dimensions - 1]) : 1;
        s->elements *= s->size[a];
    }
    if (s->dimensions == 2 && test_random(seed) % 4 == 0) { /* several strips of a GPU side by side */
        s->elements = s->elements / s->size[0] * (s->size[0] + 400);
        s->size[0] += 400;
    }
}

static void random_options(uint64_t *seed, struct shape *s, tsr_wavelet_options *o)
{
    int real = s->type == TSR_F32 || s->type == TSR_F64;
    o->filter = (tsr_wavelet_filter)(test_random(seed) % TSR_WAVELET_CUSTOM);
    o->boundary = (tsr_wavelet_boundary)(test_random(seed) % TSR_WAVELET_BOUNDARIES);
    o->layout = (tsr_wavelet_layout)(test_random(seed) % TSR_WAVELET_LAYOUTS);
    o->axes = test_random(seed) % 3 ? 0 : 1 + (uint32_t)(test_random(seed) % ((1u << s->dimensions) - 1));
    o->batch = s->batch;
    if (o->boundary == TSR_WAVELET_PERIODIC) {
        s->elements = 1;
        for (int a = 0; a < s->dimensions; a++) {
            s->size[a] += s->size[a] & 1;
            s->elements *= s->size[a];
        }
    }
    int32_t possible = tsr_wavelet_levels_possible(s->dimensions, s->size, o->axes);
    o->levels = possible ? (int32_t)(1 + test_random(seed) % (uint64_t)possible) : 0;
    if (s->type == TSR_I16 && o->levels > 2) o->levels = 2;
    if (o->boundary == TSR_WAVELET_PERIODIC && possible) o->levels = 1;
    o->accuracy = real ? 0 : (int32_t)(test_random(seed) % 3) - 1;
    o->inplace = (o->layout == TSR_WAVELET_INTERLEAVED || o->layout == TSR_WAVELET_SPLIT) && test_random(seed) % 2;
}

static int32_t dirac_bits(const tsr_wavelet_options *o)
{
    return o->accuracy > 0 ? o->accuracy : o->accuracy < 0 || o->filter == TSR_WAVELET_FIDELITY || o->filter == TSR_WAVELET_JPEG53 ? 0 : 1;
}

/* Planes beyond five megabytes, of which a CPU takes two levels at once; with details of every level. */
static void large_shape(uint64_t *seed, struct shape *s)
{
    s->dimensions = 2;
    s->batch = 1 + (int64_t)(test_random(seed) % 2);
    s->size[0] = 700 + (int64_t)(test_random(seed) % 1200);
    s->size[1] = (5 << 20) / (int64_t)tsr_dtype_size(s->type) / s->size[0] / s->batch + 1 + (int64_t)(test_random(seed) % 40);
    s->size[2] = s->size[3] = 1;
    s->elements = s->size[0] * s->size[1];
}

static void one_random_case(uint64_t *seed, int number, int large)
{
    struct shape s = { 0 };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    int64_t stride[4], batch_stride;
    char what[400];
    random_shape(seed, &s);
    if (large) large_shape(seed, &s);
    random_options(seed, &s, &o);
    if (large) {
        o.axes = 3;
        o.levels = o.boundary == TSR_WAVELET_PERIODIC ? 1 : 2 + (int32_t)(test_random(seed) % 2);
    }
    int real = s.type == TSR_F32 || s.type == TSR_F64;
    int64_t in_reach = random_strides(seed, s.dimensions, s.size, s.batch, s.stride, &s.batch_stride), out_reach = in_reach;
    o.sample_stride = s.stride;
    o.sample_batch = s.batch_stride;
    memcpy(stride, s.stride, sizeof stride);
    batch_stride = s.batch_stride;
    if (!o.inplace && o.layout == TSR_WAVELET_SUBBANDS) {
        batch_stride = s.elements;
        out_reach = s.elements * s.batch;
    } else if (!o.inplace) {
        out_reach = random_strides(seed, s.dimensions, s.size, s.batch, stride, &batch_stride);
        o.coefficient_stride = stride;
        o.coefficient_batch = batch_stride;
    }
    tsr_wavelet_plan *plan = make_plan(s.type, s.dimensions, s.size, &o);
    tsr_wavelet_plan_print(plan, what, sizeof what);
    snprintf(what + strlen(what), sizeof what - strlen(what), " axes %x [case %d]", o.axes, number);
    size_t element = tsr_dtype_size(s.type), in_bytes = (size_t)in_reach * element, out_bytes = (size_t)out_reach * element;
    unsigned char *in = (unsigned char *)malloc(in_bytes), *out = (unsigned char *)malloc(out_bytes), *back = (unsigned char *)malloc(in_bytes);
    assert_true(in && out && back);
    for (size_t i = 0; i < in_bytes; i++) in[i] = 0x55;
    for (int64_t n = 0; n < s.elements * s.batch; n++)
        set(in, s.type, place(&s, s.stride, s.batch_stride, n),
            floor((test_uniform(seed) - 0.5) * (s.type == TSR_I16 ? 60 : 4000)) * (real ? 1.0 / 1024 : 1));
    void *samples = to_device(in, in_bytes), *coefficients = o.inplace ? samples : to_device(out, out_bytes);
    tsr_status status = tsr_wavelet_forward(plan, samples, coefficients, NULL);
    if (status != TSR_OK && status != TSR_ERROR_CAPACITY) fail_msg("%s: %s", what, tsr_error_message());
    to_host(out, coefficients, out_bytes);
    int lost = 0;
    double *expected = (double *)malloc((size_t)s.elements * sizeof *expected);
    assert_non_null(expected);
    for (int64_t b = 0; b < s.batch; b++) {
        oracle with = { real,
                        (int)o.boundary,
                        real ? 0 : dirac_bits(&o),
                        o.levels,
                        (int)(o.axes ? o.axes : 15),
                        0,
                        &oracle_filters[o.filter],
                        { (int)s.size[0], (int)s.size[1], (int)s.size[2], (int)s.size[3] } };
        double largest = 1;
        for (int64_t n = 0; n < s.elements; n++) expected[n] = get(in, s.type, place(&s, s.stride, s.batch_stride, n + b * s.elements));
        oracle_forward(&with, expected);
        for (int64_t n = 0; n < s.elements; n++) largest = fmax(largest, fabs(expected[n]));
        if (status == TSR_OK)
            compare_bands(plan, &s, out, b * batch_stride, expected, &with, !real ? 0 : s.type == TSR_F32 ? 4e-6 * largest : 1e-13 * largest, what);
        lost |= with.lost;
    }
    if (s.type != TSR_I16) assert_int_equal(status, TSR_OK);
    else if ((status != TSR_OK) != lost) fail_msg("%s: overflow %s", what, lost ? "missed" : "reported without one");
    if (status == TSR_OK && !o.inplace) { /* the samples must come back, and nothing between them change */
        unsigned char *untouched = (unsigned char *)malloc(in_bytes);
        assert_non_null(untouched);
        to_host(untouched, samples, in_bytes);
        assert_memory_equal(untouched, in, in_bytes);
        free(untouched);
        drop(samples, in_bytes);
        for (size_t i = 0; i < in_bytes; i++) back[i] = 0x55;
        samples = to_device(back, in_bytes);
    }
    if (status == TSR_OK) {
        require_ok(tsr_wavelet_inverse(plan, coefficients, samples, NULL));
        to_host(back, samples, in_bytes);
        if (!real && memcmp(back, in, in_bytes)) fail_msg("%s: the samples do not come back", what);
        for (int64_t n = 0; n < s.elements * s.batch && real; n++) {
            int64_t at = place(&s, s.stride, s.batch_stride, n);
            double difference = fabs(get(back, s.type, at) - get(in, s.type, at));
            if (!(difference <= (s.type == TSR_F32 ? 2e-5 : 1e-13))) fail_msg("%s: sample %lld comes back off by %g", what, (long long)n, difference);
        }
        unsigned char *kept = (unsigned char *)malloc(out_bytes);
        assert_non_null(kept);
        if (!o.inplace) to_host(kept, coefficients, out_bytes);
        if (!o.inplace) assert_memory_equal(kept, out, out_bytes);
        free(kept);
    }
    if (!o.inplace) drop(coefficients, out_bytes);
    drop(samples, in_bytes);
    free(expected);
    free(in);
    free(out);
    free(back);
    tsr_wavelet_plan_destroy(&plan);
}

static void random_cases(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int n = 0; n < (on_cpu ? 400 : 50); n++) one_random_case(&seed, n, 0);
}

/* Scaled bands too: the same bits from one thread and from several, whose parts overlap. */
static void one_thread_or_several(uint64_t *seed, tsr_wavelet_filter filter)
{
    const int64_t size[2] = { 1001, 1503 };
    const size_t n = (size_t)(size[0] * size[1]);
    float *in = (float *)malloc(n * sizeof *in), *out[2];
    for (int k = 0; k < 2; k++) assert_non_null(out[k] = (float *)calloc(n, sizeof *in));
    assert_non_null(in);
    for (size_t i = 0; i < n; i++) in[i] = (float)(test_uniform(seed) - 0.5);
    for (int k = 0; k < 2; k++) {
        tsr_context *threads = test_context_on("cpu", k ? 3 : 1);
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        tsr_wavelet_plan *plan = NULL;
        o.filter = filter;
        o.levels = 2;
        o.normalise = 1;
        require_ok(tsr_wavelet_plan_create(threads, TSR_F32, 2, size, &o, &plan));
        require_ok(tsr_wavelet_forward(plan, in, out[k], NULL));
        tsr_wavelet_plan_destroy(&plan);
        tsr_context_destroy(&threads);
    }
    assert_memory_equal(out[0], out[1], n * sizeof *in);
    for (int k = 0; k < 2; k++) free(out[k]);
    free(in);
}

static void two_levels_at_once(void **state)
{
    (void)state;
    if (!on_cpu) return;
    uint64_t seed = test_seed();
    for (int n = 0; n < (test_is_slow() ? 2 : 8); n++) one_random_case(&seed, n, 1);
    one_thread_or_several(&seed, TSR_WAVELET_LEGALL53);
    one_thread_or_several(&seed, TSR_WAVELET_DAUB97);
}

/* Dense arrays about as wide as vectors and far wider, 5/3 filters, one sample that may leave 16 bits wherever it is: rows that are taken through
 * both steps at once, ends of rows and of vectors. On the CPU with every kind of vectors. */
static void both_steps_at_once(void **state)
{
    (void)state;
    static const tsr_wavelet_filter filters[2] = { TSR_WAVELET_LEGALL53, TSR_WAVELET_JPEG53 };
    static const int16_t extremes[6] = { 32767, -32768, 16383, -16384, 12000, -8200 };
    const tsr_isa best = tsr_isa_current();
    uint64_t seed = test_seed();
    for (int number = 0; number < (on_cpu ? 600 : 20); number++) {
        struct shape s = { .type = number % 4 ? TSR_I16 : TSR_F32, .dimensions = 2 + number % 2, .batch = 1, .size = { 1, 1, 1, 1 } };
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        const int real = s.type == TSR_F32, wide = test_random(&seed) % 2;
        char what[200];
        s.size[0] = wide ? 2 + (int64_t)(test_random(&seed) % 300) : 2 + (int64_t)(test_random(&seed) % 70);
        for (int a = 1; a < s.dimensions; a++) s.size[a] = 2 + (int64_t)(test_random(&seed) % (s.dimensions == 2 ? 30 : 11));
        s.elements = s.size[0] * s.size[1] * s.size[2];
        s.stride[0] = 1;
        for (int a = 1; a < 4; a++) s.stride[a] = s.stride[a - 1] * s.size[a - 1];
        o.filter = filters[test_random(&seed) % 2];
        o.boundary = (tsr_wavelet_boundary)(test_random(&seed) % 2); /* clamp, symmetric */
        o.levels = 1;
        o.accuracy = real || test_random(&seed) % 2 ? -1 : 1;
        if (on_cpu) tsr_isa_force(number % ((int)best + 1));
        snprintf(what, sizeof what, "%s %d x %d x %d %s, accuracy %d [case %d]", tsr_wavelet_filter_name(o.filter), (int)s.size[0], (int)s.size[1],
                 (int)s.size[2], tsr_dtype_name(s.type), (int)o.accuracy, number);
        tsr_wavelet_plan *plan = make_plan(s.type, s.dimensions, s.size, &o);
        const size_t bytes = (size_t)s.elements * tsr_dtype_size(s.type);
        void *in = calloc(1, bytes), *out = calloc(1, bytes);
        double *expected = (double *)malloc((size_t)s.elements * sizeof *expected);
        assert_true(in && out && expected);
        const int raised = o.accuracy == 1 ? 2 : 1, limit = 8192 / raised; /* up to this, nothing can be lost in a plane, nor is it looked for */
        const int kind = number / 4 % 4;
        const int64_t burst = (int64_t)(test_random(&seed) % (uint64_t)s.elements),
                      burst_end = burst + (int64_t)(test_random(&seed) % (uint64_t)(4 * s.size[0]));
        for (int64_t n = 0; n < s.elements; n++) {
            const int anything = (int)(test_random(&seed) % 2001) - 1000, end = test_random(&seed) % 2 ? limit - 1 : -limit;
            set(in, s.type, n, kind == 1 ? end : kind == 2 && n >= burst && n < burst_end ? end * 9 / 8 : anything);
        }
        if (kind == 3) { /* signs that change from sample to sample: a detail of both axes four times as large, at 16 bits' end or beyond it */
            const int64_t x0 = 2 * (int64_t)(test_random(&seed) % (uint64_t)(s.size[0] / 2)),
                          y0 = 2 * (int64_t)(test_random(&seed) % (uint64_t)(s.size[1] / 2));
            const int most = limit + (int)(test_random(&seed) % 5) - 2, sign = test_random(&seed) % 2 ? 1 : -1;
            for (int64_t y = y0; y < y0 + 3 && y < s.size[1]; y++)
                for (int64_t x = x0; x < x0 + 3 && x < s.size[0]; x++) set(in, s.type, y * s.size[0] + x, ((x ^ y) & 1 ? sign : -sign) * most);
        }
        if (!real && kind != 3 && number % 2) set(in, s.type, (int64_t)(test_random(&seed) % (uint64_t)s.elements), extremes[test_random(&seed) % 6]);
        for (int64_t n = 0; n < s.elements; n++) expected[n] = get(in, s.type, n);
        oracle with = {
            real, (int)o.boundary, o.accuracy < 0 ? 0 : 1, 1, 15, 0, &oracle_filters[o.filter], { (int)s.size[0], (int)s.size[1], (int)s.size[2], 1 }
        };
        oracle_forward(&with, expected);
        void *samples = to_device(in, bytes), *coefficients = to_device(out, bytes);
        const tsr_status status = tsr_wavelet_forward(plan, samples, coefficients, NULL);
        if (!real && (status != TSR_OK) != with.lost) fail_msg("%s: overflow %s", what, with.lost ? "missed" : "reported without one");
        to_host(out, coefficients, bytes);
        if (status == TSR_OK) {
            compare_bands(plan, &s, out, 0, expected, &with, real ? 1e-2 : 0, what);
            require_ok(tsr_wavelet_inverse(plan, coefficients, samples, NULL));
            to_host(out, samples, bytes);
            for (int64_t n = 0; n < s.elements; n++)
                if (fabs(get(out, s.type, n) - get(in, s.type, n)) > (real ? 1e-2 : 0)) fail_msg("%s: sample %d does not come back", what, (int)n);
        }
        drop(samples, bytes);
        drop(coefficients, bytes);
        free(in);
        free(out);
        free(expected);
        tsr_wavelet_plan_destroy(&plan);
    }
    if (on_cpu) tsr_isa_force(-1);
}

/* Beyond the caches results are written past them, where they are aligned: the same as where they are not, whatever the caller's workspace is aligned to. */
static void large_planes(void **state)
{
    (void)state;
    if (!on_cpu) return;
    const int64_t size[3] = { 512, 512, 50 };
    const size_t room = (size_t)size[0] * (size_t)size[1] * (size_t)size[2] * 2 + 64;
    char *in = NULL, *out[2] = { NULL };
    uint64_t seed = test_seed();
    tsr_context *two = test_context_on("cpu", 2); /* the second thread begins amid the rows */
    for (int k = 0; k < 2; k++) assert_non_null(out[k] = (char *)aligned_alloc(64, room));
    assert_non_null(in = (char *)malloc(room));
    for (size_t i = 0; i < room / 2; i++) ((int16_t *)(void *)in)[i] = (int16_t)(test_random(&seed) % 2001 - 1000);
    static const int64_t planes[3][2] = { { 2048, 6400 }, { 7680, 1700 }, { 4352, 3000 } };
    for (int k = 0; k < 4; k++) {
        const int dimensions = k < 3 ? 2 : 3;
        const int64_t *plane = planes[k < 3 ? k : 0];
        const size_t n = k < 3 ? (size_t)plane[0] * (size_t)plane[1] : room / 2 - 32;
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.levels = 1;
        tsr_wavelet_plan *plan = NULL;
        require_ok(tsr_wavelet_plan_create(two, TSR_I16, dimensions, dimensions == 2 ? plane : size, &o, &plan));
        tsr_wavelet_info info = TSR_WAVELET_INFO;
        tsr_wavelet_plan_describe(plan, &info);
        char *work = (char *)malloc((size_t)info.workspace_bytes + 16);
        assert_non_null(work);
        for (int shift = 0; shift < 2; shift++) require_ok(tsr_wavelet_forward(plan, in, out[shift] + 2 * shift, shift ? NULL : work + 8));
        assert_memory_equal(out[0], out[1] + 2, n * 2);
        require_ok(tsr_wavelet_inverse(plan, out[1] + 2, out[0], work + 8));
        assert_memory_equal(in, out[0], n * 2);
        free(work);
        tsr_wavelet_plan_destroy(&plan);
    }
    tsr_context_destroy(&two);
    free(in);
    free(out[0]);
    free(out[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_vectors),     cmocka_unit_test(golden_plane),       cmocka_unit_test(golden_hashes), cmocka_unit_test(random_cases),
        cmocka_unit_test(two_levels_at_once), cmocka_unit_test(both_steps_at_once), cmocka_unit_test(large_planes),
    };
    return cmocka_run_group_tests(tests, set_up_here, tear_down);
}
