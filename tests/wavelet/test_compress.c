/* Compressed volumes: every type and coder there and back, largest errors, rate and PSNR as measured here, boxes, resolutions, cut and damaged files,
 * voxels that are not finite, the same file for every number of threads and SIMD variant, errors. */
#include "support.h"

#include <math.h>
#include <unistd.h>

#include "device/isa.h"

static char path[64], other[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "compress-%ld.tsc", (long)getpid());
    snprintf(other, sizeof other, "compress-%ld-b.tsc", (long)getpid());
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return 0;
}

/* A smooth field with an edge and noise, in the range of the type. */
static double scene(int64_t x, int64_t y, int64_t z, uint64_t *random)
{
    const double d = sqrt((double)((x - 20) * (x - 20) + (y - 15) * (y - 15) + 2 * (z - 8) * (z - 8)));
    return (d < 14 ? 0.75 + 0.2 * sin(0.3 * (double)x) : 0.1 + 0.002 * (double)y) + 0.02 * (test_uniform(random) - 0.5);
}

static void put(void *data, tsr_dtype t, int64_t i, double v)
{
    switch (t) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)(255 * v); break;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)(255 * v - 128); break;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)(60000 * v); break;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)(4000 * v - 1000); break;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)(4e9 * v); break;
    case TSR_I32: ((int32_t *)data)[i] = (int32_t)(4e9 * (v - 0.5)); break;
    case TSR_U64: ((uint64_t *)data)[i] = 0xfffffffff0000000u + (uint64_t)(2e8 * v); break;
    case TSR_I64: ((int64_t *)data)[i] = -(int64_t)(2e8 * v) - 0x7ffffffff0000000; break;
    case TSR_F32: ((float *)data)[i] = (float)(v * 10 - 3); break;
    default: ((double *)data)[i] = v * 10 - 3; break;
    }
}

static tsr_volume *make(tsr_dtype dtype, tsr_size3 size, uint64_t *random)
{
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 2, 3 }, (tsr_vec3){ 7, -4, 1 }, TSR_SPACE_LPS);
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, &g, &v));
    for (int64_t z = 0, i = 0; z < size.z; z++)
        for (int64_t y = 0; y < size.y; y++)
            for (int64_t x = 0; x < size.x; x++) put(tsr_volume_data(v), dtype, i++, fmax(0, scene(x, y, z, random)));
    require_ok(tsr_volume_set_meta(v, "nifti.descrip", "a test, with \xc3\xa4"));
    require_ok(tsr_volume_set_scaling(v, 0.25, -3));
    return v;
}

static size_t bytes_of(const tsr_volume *v) { return (size_t)tsr_volume_count(v) * tsr_dtype_size(tsr_volume_dtype(v)); }
static void require_same(const tsr_volume *a, const tsr_volume *b)
{
    double slope, intercept;
    assert_int_equal(tsr_volume_dtype(a), tsr_volume_dtype(b));
    assert_int_equal(bytes_of(a), bytes_of(b));
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), bytes_of(a));
    const tsr_geometry *ga = tsr_volume_geometry(a), *gb = tsr_volume_geometry(b); /* not as a whole: a struct has holes */
    assert_memory_equal(ga->affine, gb->affine, sizeof ga->affine);
    assert_int_equal(ga->space, gb->space);
    tsr_volume_scaling(b, &slope, &intercept);
    assert_true(slope == 0.25 && intercept == -3);
    assert_string_equal(tsr_volume_meta(b, "nifti.descrip"), tsr_volume_meta(a, "nifti.descrip"));
}

static double at(const tsr_volume *v, int64_t i)
{
    const void *d = tsr_volume_data_const(v);
    switch (tsr_volume_dtype(v)) {
    case TSR_U8: return ((const uint8_t *)d)[i];
    case TSR_I8: return ((const int8_t *)d)[i];
    case TSR_U16: return ((const uint16_t *)d)[i];
    case TSR_I16: return ((const int16_t *)d)[i];
    case TSR_U32: return ((const uint32_t *)d)[i];
    case TSR_I32: return ((const int32_t *)d)[i];
    case TSR_F32: return (double)((const float *)d)[i];
    default: return ((const double *)d)[i];
    }
}

static uint8_t *slurp(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    uint8_t *bytes = (uint8_t *)malloc(1 << 24);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 24, f);
    fclose(f);
    return bytes;
}
static void spill(const char *name, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static tsr_compress_options options_of(tsr_compress_coder coder)
{
    tsr_compress_options o = TSR_COMPRESS_OPTIONS;
    o.coder = coder;
    o.overwrite = 1;
    o.threads = 1;
    return o;
}

/* ---- without loss ------------------------------------------------------------------------------------------------------------------------------ */

static void lossless(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 37, 29, 19 }, { 1, 1, 1 }, { 70, 1, 1 }, { 5, 70, 1 }, { 1, 2, 33 } };
    uint64_t random = test_seed();
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int t = TSR_U8; t <= TSR_F32; t++) {
                if ((s && t != TSR_U8 && t != TSR_F32) || (test_is_slow() && t != TSR_U8 && t != TSR_I64 && t != TSR_F32)) continue;
                tsr_volume *v = make((tsr_dtype)t, sizes[s], &random), *back = NULL;
                tsr_compress_options o = options_of((tsr_compress_coder)coder);
                tsr_compress_info info;
                o.brick = s || coder == TSR_COMPRESS_PREDICT ? (tsr_size3){ 0, 0, s ? 0 : 16 } : (tsr_size3){ 16, 16, 8 };
                o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 3;
                require_ok(tsr_volume_compress(v, path, &o, &info));
                assert_true(info.lossless && info.max_error == 0 && isinf(info.psnr));
                require_ok(tsr_volume_read(path, NULL, &back)); /* by content, as any other format */
                require_same(v, back);
                tsr_volume_destroy(&back);
                tsr_volume_destroy(&v);
            }
}

/* Values that look like nothing else: noise over the whole range, and floats of every class. */
static void extremes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 21, 18, 9 };
    static const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_U32, TSR_I32, TSR_F32 };
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (size_t t = test_is_slow() ? 2 : 0; t < sizeof types / sizeof *types; t++) {
            tsr_volume *v = make(types[t], size, &random), *back = NULL;
            const tsr_compress_options o = options_of((tsr_compress_coder)coder);
            uint8_t *bytes = (uint8_t *)tsr_volume_data(v);
            for (size_t i = 0; i < bytes_of(v); i++) bytes[i] = (uint8_t)test_random(&random);
            require_ok(tsr_volume_compress(v, path, &o, NULL));
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            require_same(v, back); /* as bytes: NaN keep their payload */
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
}

/* Noise of 32 bits in bricks that end a voxel or two later than others: bands of few samples, and blocks of 32 that are hardly begun. */
static void small_noise(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const tsr_size3 sizes[] = { { 2, 3, 4 }, { 2, 2, 2 }, { 3, 3, 3 }, { 10, 10, 10 }, { 66, 2, 2 }, { 17, 2, 9 }, { 1, 33, 2 } };
    static const tsr_dtype types[] = { TSR_U32, TSR_F32 };
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++)
            for (int32_t levels = 1; levels <= (coder == TSR_COMPRESS_PREDICT ? 1 : 3); levels += 2) {
                tsr_volume *v = make(types[k & 1], sizes[k / 2], &random), *back = NULL;
                tsr_compress_options o = options_of((tsr_compress_coder)coder);
                o.brick = (tsr_size3){ 8, 8, 8 };
                if (sizes[k / 2].x == 66) o.brick.x = 64;
                o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : levels;
                uint8_t *bytes = (uint8_t *)tsr_volume_data(v);
                for (size_t i = 0; i < bytes_of(v); i++) bytes[i] = (uint8_t)test_random(&random);
                require_ok(tsr_volume_compress(v, path, &o, NULL));
                require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
                require_same(v, back);
                tsr_volume_destroy(&back);
                tsr_volume_destroy(&v);
            }
}

/* ---- with loss ----------------------------------------------------------------------------------------------------------------------------------- */

static void largest_error(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 30, 20, 17 };
    static const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_F32, TSR_F64 };
    static const double errors[] = { 0.9, 26, 0.003, 0.02 }; /* real units: slope 0.25 */
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (size_t t = 0; t < 4; t++) {
            tsr_volume *v = make(types[t], size, &random), *back = NULL;
            tsr_compress_options o = options_of((tsr_compress_coder)coder);
            tsr_compress_info info;
            const int64_t n = tsr_volume_count(v);
            o.max_error = errors[t];
            if (types[t] == TSR_F32) {
                float *f = (float *)tsr_volume_data(v);
                f[5] = NAN;
                f[77] = INFINITY;
                f[78] = -INFINITY;
                f[500] = 3e38f;
                f[501] = -0.0f;
            }
            require_ok(tsr_volume_compress(v, path, &o, &info));
            assert_true(!info.lossless && info.max_error <= errors[t]);
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            double worst = 0;
            for (int64_t i = 0; i < n; i++) {
                const double a = at(v, i), b = at(back, i);
                if (isfinite(a)) worst = fmax(worst, fabs(a - b) * 0.25);
                else assert_memory_equal((const float *)tsr_volume_data_const(v) + i, (const float *)tsr_volume_data_const(back) + i, 4);
            }
            assert_true(worst <= errors[t]);
            assert_true(worst > 0.4 * errors[t]); /* the room is used */
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
}

/* |a - b| of two voxels of 64 bits, which no double can tell. */
static uint64_t apart(tsr_dtype t, const void *a, const void *b, int64_t i)
{
    const uint64_t x = ((const uint64_t *)a)[i], y = ((const uint64_t *)b)[i];
    const int less = t == TSR_U64 ? x < y : (int64_t)x < (int64_t)y;
    return less ? y - x : x - y;
}

/* Integers up to the ends of their types: no step may wrap, and no room may be lost to rounding of the step. */
static void largest_error_at_the_ends(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 9, 7, 5 };
    static const double errors[] = { 1e10, 1e11 + 1, 0x1p52, 0x1p53 + 2, 0x1p61, 1e19, 1e300 };
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (int k = 0; k < 14; k++) {
            const tsr_dtype dtype = k & 1 ? TSR_I64 : TSR_U64;
            tsr_volume *v = NULL, *back = NULL;
            tsr_compress_options o = options_of((tsr_compress_coder)coder);
            require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
            uint64_t *x = (uint64_t *)tsr_volume_data(v);
            for (int64_t i = 0; i < tsr_volume_count(v); i++) x[i] = i % 3 ? test_random(&random) : (dtype == TSR_I64 ? INT64_MAX : UINT64_MAX) - i;
            x[1] = dtype == TSR_I64 ? (uint64_t)INT64_MIN : 0;
            o.max_error = errors[k / 2];
            require_ok(tsr_volume_compress(v, path, &o, NULL));
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            for (int64_t i = 0; i < tsr_volume_count(v); i++) {
                const uint64_t d = apart(dtype, x, tsr_volume_data_const(back), i);
                if ((double)d > errors[k / 2])
                    fail_msg("%s, error %g, coder %d: voxel %lld is off by %g", tsr_dtype_name(dtype), errors[k / 2], coder, (long long)i, (double)d);
            }
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) /* 32 bits, all of them, in steps of 3 */
        for (int t = TSR_U32; t <= TSR_I32; t++) {
            tsr_volume *v = NULL, *back = NULL;
            tsr_compress_options o = options_of((tsr_compress_coder)coder);
            require_ok(tsr_volume_create(NULL, (tsr_dtype)t, size, NULL, &v));
            uint32_t *x = (uint32_t *)tsr_volume_data(v);
            for (int64_t i = 0; i < tsr_volume_count(v); i++) x[i] = (uint32_t)test_random(&random);
            x[0] = 0;
            x[1] = UINT32_MAX;
            x[2] = 0x7fffffff;
            x[3] = 0x80000000;
            o.max_error = 1;
            require_ok(tsr_volume_compress(v, path, &o, NULL));
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            for (int64_t i = 0; i < tsr_volume_count(v); i++) assert_true(fabs(at(v, i) - at(back, i)) <= 1);
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
}

/* Errors are in real units: with a slope of 10 the stored numbers may be off by a tenth of them. */
static void largest_error_and_slope(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int k = 0; k < 4; k++) {
        const double slope = k & 1 ? -10 : 10, asked = 25;
        tsr_volume *v = make(k & 2 ? TSR_F32 : TSR_I16, (tsr_size3){ 20, 15, 10 }, &random), *back = NULL;
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        tsr_compress_info info;
        double worst = 0;
        require_ok(tsr_volume_set_scaling(v, slope, 3));
        for (int64_t i = 0; k & 2 && i < tsr_volume_count(v); i++) ((float *)tsr_volume_data(v))[i] *= 100;
        o.max_error = asked;
        require_ok(tsr_volume_compress(v, path, &o, &info));
        if (!(fabs(info.max_error - (k & 2 ? 25 : 20)) < 1e-9)) fail_msg("guaranteed %g", info.max_error);
        require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
        for (int64_t i = 0; i < tsr_volume_count(v); i++) worst = fmax(worst, 10 * fabs(at(v, i) - at(back, i)));
        if (!(worst <= info.max_error && worst > 15)) fail_msg("off by %g", worst);
        tsr_volume_destroy(&back);
        o.max_error = 9; /* less than one stored unit */
        if (!(k & 2)) {
            require_ok(tsr_volume_compress(v, path, &o, &info));
            assert_true(info.lossless);
        }
        tsr_volume_destroy(&v);
    }
}

static double measure_psnr(const tsr_volume *a, const tsr_volume *b)
{
    double sum = 0, lower = HUGE_VAL, upper = -HUGE_VAL;
    int64_t n = 0;
    for (int64_t i = 0; i < tsr_volume_count(a); i++) {
        const double x = at(a, i), d = x - at(b, i);
        if (!isfinite(x)) continue;
        n++;
        lower = fmin(lower, x);
        upper = fmax(upper, x);
        sum += d * d;
    }
    return 20 * log10((upper - lower) / sqrt(sum / (double)n));
}

static void rate_and_psnr(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 70, 40, 40 };
    const int first = test_is_slow(), last = test_is_slow() ? 1 : 2;
    double before = 0;
    tsr_volume *v = make(TSR_I16, size, &random), *back = NULL;
    tsr_compress_info info;
    for (int k = first; k <= last; k++) {
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        o.rate = (double[]){ 0.2, 0.8, 2.5 }[k];
        o.brick = (tsr_size3){ 32, 32, 32 };
        o.levels = 3;
        o.layers = 3;
        require_ok(tsr_volume_compress(v, path, &o, &info));
        const double bits = 8 * (double)info.file_bytes / (double)tsr_volume_count(v);
        if (!(bits <= o.rate && bits > 0.75 * o.rate)) fail_msg("%g bits asked for, %g used", o.rate, bits);
        require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
        const double psnr = measure_psnr(v, back);
        if (!(fabs(psnr - info.psnr) < 1e-6 && psnr > before + 2))
            fail_msg("%g bits: %.9f dB, said %.9f, fewer bits %g", o.rate, psnr, info.psnr, before);
        before = psnr;
        tsr_volume_destroy(&back);
    }
    for (int k = first; k <= last; k++) {
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        o.psnr = (double[]){ 30, 42, 55 }[k];
        require_ok(tsr_volume_compress(v, path, &o, &info));
        require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
        const double psnr = measure_psnr(v, back);
        if (!(psnr >= o.psnr && psnr < o.psnr + 1.5)) fail_msg("asked for %g dB, got %g", o.psnr, psnr);
        tsr_volume_destroy(&back);
    }
    tsr_volume_destroy(&v);
    /* Floats that are not finite come through, and do not disturb the others. */
    v = make(TSR_F32, size, &random);
    ((float *)tsr_volume_data(v))[1234] = NAN;
    ((float *)tsr_volume_data(v))[4321] = -INFINITY;
    tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
    o.psnr = 50;
    require_ok(tsr_volume_compress(v, path, &o, &info));
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    assert_true(isnan(at(back, 1234)) && at(back, 4321) == -HUGE_VAL);
    tsr_volume_destroy(&back);
    /* Nor do they count: with nine in ten of them the others still reach what was asked for. */
    for (int64_t i = 0; i < tsr_volume_count(v); i++)
        if (i % 10) ((float *)tsr_volume_data(v))[i] = NAN;
    require_ok(tsr_volume_compress(v, path, &o, &info));
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    const double psnr = measure_psnr(v, back);
    if (!(psnr >= 50 && fabs(psnr - info.psnr) < 1e-6)) fail_msg("asked for 50 dB, got %g, said %g", psnr, info.psnr);
    tsr_volume_destroy(&back);
    /* Where float32 ends, an error and no file that is less than was asked for. */
    for (int64_t i = 0; i < tsr_volume_count(v); i++) ((float *)tsr_volume_data(v))[i] = (float)(1e-37 * test_uniform(&random));
    require_error(tsr_volume_compress(v, path, &o, &info), TSR_ERROR_UNSUPPORTED, "expected a range of 0 or above");
    tsr_volume_destroy(&v);
}

/* Rates at which the directory takes much of the file: whatever is above the least file is met, from below. */
static void low_rates(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_F32, (tsr_size3){ 48, 48, 48 }, &random);
    int done = 0;
    for (double rate = 0.1; rate < 4; rate *= test_is_slow() ? 3 : 1.7) {
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        tsr_compress_info info;
        o.rate = rate;
        o.brick = (tsr_size3){ 16, 16, 16 };
        if (tsr_volume_compress(v, path, &o, &info) != TSR_OK) {
            if (done) fail_msg("%g bits: %s", rate, tsr_error_message());
            continue;
        }
        done = 1;
        assert_true(8 * (double)info.file_bytes <= rate * (double)tsr_volume_count(v));
    }
    assert_true(done);
    tsr_volume_destroy(&v);
}

/* ---- parts -------------------------------------------------------------------------------------------------------------------------------------- */

static void boxes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 41, 35, 27 };
    tsr_volume *v = make(TSR_U16, size, &random), *part = NULL;
    const uint16_t *all = (const uint16_t *)tsr_volume_data_const(v);
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        tsr_compress_options o = options_of((tsr_compress_coder)coder);
        o.brick = (tsr_size3){ 16, 16, 16 };
        o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        for (int k = 0; k < 8; k++) {
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            int64_t lower[3], upper[3];
            for (int a = 0; a < 3; a++) {
                const int64_t n = a == 0 ? size.x : a == 1 ? size.y : size.z;
                lower[a] = (int64_t)(test_random(&random) % (uint64_t)n);
                upper[a] = lower[a] + 1 + (int64_t)(test_random(&random) % (uint64_t)(n - lower[a]));
            }
            d.box[0] = (tsr_size3){ lower[0], lower[1], lower[2] };
            d.box[1] = (tsr_size3){ upper[0], upper[1], upper[2] };
            require_ok(tsr_volume_decompress(path, &d, &part, NULL));
            const tsr_size3 s = tsr_volume_size(part);
            assert_true(s.x == upper[0] - lower[0] && s.y == upper[1] - lower[1] && s.z == upper[2] - lower[2]);
            const uint16_t *p = (const uint16_t *)tsr_volume_data_const(part);
            for (int64_t z = 0; z < s.z; z++)
                for (int64_t y = 0; y < s.y; y++)
                    assert_memory_equal(p + (z * s.y + y) * s.x, all + ((z + lower[2]) * size.y + y + lower[1]) * size.x + lower[0], (size_t)s.x * 2);
            const tsr_vec3 a = tsr_geometry_to_world(tsr_volume_geometry(part), (tsr_vec3){ 0, 0, 0 });
            const tsr_vec3 b = tsr_geometry_to_world(tsr_volume_geometry(v), (tsr_vec3){ (double)lower[0], (double)lower[1], (double)lower[2] });
            assert_true(fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z) < 1e-9);
            tsr_volume_destroy(&part);
        }
    }
    tsr_volume_destroy(&v);
}

/* A lower resolution is close to the samples it stands at, on a field without noise; its voxels lie where those samples do. */
static void resolutions(void **state)
{
    (void)state;
    const tsr_size3 size = { 50, 39, 33 };
    tsr_volume *v = NULL, *low = NULL;
    require_ok(tsr_volume_create(NULL, TSR_I16, size, NULL, &v));
    int16_t *all = (int16_t *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int64_t x = i % size.x, y = i / size.x % size.y, z = i / size.x / size.y;
        all[i] = (int16_t)(1000 + 500 * sin(0.03 * (double)x) + 300 * cos(0.03 * (double)(y + z)));
    }
    for (int k = 0; k < 3; k++) {
        tsr_compress_options o = options_of(k == 2 ? TSR_COMPRESS_FAST : TSR_COMPRESS_PLANES);
        o.brick = (tsr_size3){ 32, 16, 16 };
        o.levels = 3;
        o.psnr = k == 1 ? 60 : 0;
        o.order = TSR_COMPRESS_RESOLUTION;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        for (int32_t r = 1; r <= 3; r++) {
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            d.reduce = r;
            require_ok(tsr_volume_decompress(path, &d, &low, NULL));
            const tsr_size3 s = tsr_volume_size(low);
            const int64_t step = (int64_t)1 << r;
            assert_true(s.x == (size.x + step - 1) / step && s.y == (size.y + step - 1) / step && s.z == (size.z + step - 1) / step);
            assert_true(tsr_geometry_spacing(tsr_volume_geometry(low)).x == (double)step);
            for (int64_t i = 0; i < s.x * s.y * s.z; i++) {
                const int64_t x = i % s.x * step, y = i / s.x % s.y * step, z = i / s.x / s.y * step;
                const double d_ = at(low, i) - at(v, (z * size.y + y) * size.x + x);
                if (fabs(d_) > 50) fail_msg("coder %d, reduced %d: voxel %lld is off by %g", k, r, (long long)i, d_);
            }
            tsr_volume_destroy(&low);
        }
    }
    tsr_volume_destroy(&v);
}

/* A file that was cut anywhere decodes with `partial`, better the longer it is; without, it is an error that says so. */
static void cut_files(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_U8, (tsr_size3){ 64, 48, 32 }, &random), *back = NULL;
    tsr_compress_options o = options_of(TSR_COMPRESS_PLANES);
    tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
    tsr_compress_info info;
    size_t size;
    double before = -100;
    o.brick = (tsr_size3){ 32, 32, 32 };
    require_ok(tsr_volume_compress(v, path, &o, NULL));
    uint8_t *bytes = slurp(path, &size);
    d.partial = 1;
    for (int k = 1; k <= 4; k++) {
        const size_t length = k == 4 ? size : size * (size_t)(3 * k) / 13;
        spill(other, bytes, length);
        require_ok(tsr_volume_decompress(other, &d, &back, &info));
        assert_int_equal(info.pieces_whole < info.pieces, k < 4);
        const double psnr = measure_psnr(v, back);
        assert_true(psnr > before + 1);
        if (k == 1) assert_true(psnr > 25);
        before = psnr;
        tsr_volume_destroy(&back);
        if (k < 4) require_error(tsr_volume_decompress(other, NULL, &back, NULL), TSR_ERROR_FORMAT, "the file is cut off");
        require_ok(tsr_compress_describe(other, &info));
        assert_true(info.file_bytes == (int64_t)length && info.whole_bytes == (int64_t)size);
    }
    assert_true(isinf(before));
    free(bytes);
    tsr_volume_destroy(&v);
}

/* Every byte of small files changed: an error, or, with `partial`, the bricks that are whole exactly and the others as something. */
static void every_byte(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_F32, (tsr_size3){ 12, 6, 4 }, &random);
    ((float *)tsr_volume_data(v))[17] = NAN;
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        tsr_compress_options o = options_of((tsr_compress_coder)coder);
        size_t size;
        o.brick = (tsr_size3){ 8, 8, 8 };
        o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        o.layers = coder == TSR_COMPRESS_PLANES ? 2 : 0;
        o.max_error = 0.01;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        uint8_t *bytes = slurp(path, &size);
        for (size_t k = 0; k < size; k += test_is_slow() ? 17 : k < 256 ? 1 : 3) {
            tsr_volume *back = NULL;
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            d.threads = 1;
            bytes[k] ^= (uint8_t)(1u << k % 8);
            spill(other, bytes, size);
            bytes[k] ^= (uint8_t)(1u << k % 8);
            if (tsr_volume_decompress(other, &d, &back, NULL) == TSR_OK) fail_msg("coder %d: byte %zu changed and nothing said so", coder, k);
            assert_null(back);
            d.partial = 1;
            if (tsr_volume_decompress(other, &d, &back, NULL) == TSR_OK) assert_true(k >= 256); /* headers are not guessed */
            tsr_volume_destroy(&back);
        }
        for (size_t length = 0; length < size; length += 29) {
            tsr_volume *back = NULL;
            spill(other, bytes, length);
            if (tsr_volume_decompress(other, NULL, &back, NULL) == TSR_OK)
                fail_msg("coder %d: cut after %zu bytes and nothing said so", coder, length);
        }
        free(bytes);
    }
    tsr_volume_destroy(&v);
}

/* ---- the same everywhere ----------------------------------------------------------------------------------------------------------------------------- */

static void same_bytes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_I16, (tsr_size3){ 38, 24, 18 }, &random), *back = NULL;
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (int lossy = 0; lossy < 2; lossy++) {
            uint8_t *first = NULL;
            size_t size, again;
            if (lossy && coder != TSR_COMPRESS_PLANES) continue;
            for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
                tsr_compress_options o = options_of((tsr_compress_coder)coder);
                o.brick = (tsr_size3){ 32, 32, 16 };
                o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 3;
                o.rate = lossy ? 1 : 0;
                o.threads = 1 + isa;
                tsr_isa_force(isa);
                require_ok(tsr_volume_compress(v, path, &o, NULL));
                uint8_t *bytes = slurp(path, isa ? &again : &size);
                if (!isa) first = bytes;
                else {
                    assert_int_equal(size, again);
                    assert_memory_equal(first, bytes, size);
                    free(bytes);
                }
                require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
                if (!lossy) require_same(v, back);
                tsr_volume_destroy(&back);
                tsr_isa_force(-1);
            }
            free(first);
        }
    tsr_volume_destroy(&v);
}

static void images(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_image image;
    tsr_volume *back = NULL;
    tsr_compress_info info;
    require_ok(tsr_image_create(50, 31, 3, &image));
    for (int i = 0; i < 50 * 31 * 3; i++) image.pixels[i] = (uint8_t)(i / 3 % 50 * 4 + i % 3 * 9 + (int)(test_random(&random) & 3));
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        const tsr_compress_options o = options_of((tsr_compress_coder)coder);
        require_ok(tsr_image_compress(&image, path, &o, NULL));
        require_ok(tsr_volume_decompress(path, NULL, &back, &info));
        assert_int_equal(info.image, 1);
        const uint8_t *v = (const uint8_t *)tsr_volume_data_const(back);
        for (int i = 0; i < 50 * 31; i++)
            for (int c = 0; c < 3; c++) assert_int_equal(v[c * 50 * 31 + i], image.pixels[3 * i + c]);
        tsr_volume_destroy(&back);
        if (coder == TSR_COMPRESS_PREDICT) continue;
        tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
        d.reduce = 1;
        require_ok(tsr_volume_decompress(path, &d, &back, NULL));
        const tsr_size3 s = tsr_volume_size(back);
        assert_true(s.x == 25 && s.y == 16 && s.z == 3); /* channels stay */
        tsr_volume_destroy(&back);
    }
    tsr_image_destroy(&image);
}

/* The file of coder fast that docs/formats/tsc.md shows. */
static const uint8_t golden[] = {
    0x93, 0x54, 0x53, 0x43, 0x0d, 0x0a, 0x1a, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc9, 0x5c, 0xde, 0xd7, 0x8d, 0x5f, 0x43, 0x14, 0x0f, 0x01, 0xf4, 0x28, 0x79, 0xef, 0x13, 0x01,
    0xc8, 0xa2, 0xea, 0x26, 0x02, 0x00, 0x09, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x0d, 0x00, 0x00,
    0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00
};

static void require_golden(tsr_compress_coder coder, const uint8_t *wanted, size_t wanted_size)
{
    tsr_volume *v = NULL, *back = NULL;
    tsr_compress_options o = options_of(coder);
    size_t size;
    o.levels = 1;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 2, 1, 1 }, NULL, &v));
    memcpy(tsr_volume_data(v), (const uint8_t[]){ 3, 5 }, 2);
    require_ok(tsr_volume_compress(v, path, &o, NULL));
    uint8_t *bytes = slurp(path, &size);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(bytes, wanted, size);
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(v), 2);
    free(bytes);
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&back);
}

static void golden_file(void **state)
{
    (void)state;
    require_golden(TSR_COMPRESS_FAST, golden, sizeof golden);
}

/* The same volume with coder rans: what differs in the header, the tables, the streams; the format's page works the coefficient out. */
static void golden_rans(void **state)
{
    (void)state;
    static const uint8_t sum[] = { 0xd6, 0x95, 0xec, 0x63, 0x45, 0x1e, 0x6b, 0xa6 };
    static const uint8_t directory[] = { 0x0c, 0x01, 0x14, 0x44, 0x40, 0xa0, 0x82, 0x01, 0x01, 0x30, 0xc6, 0x97, 0x38 };
    static const uint8_t low[] = { 0x02, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00 };
    static const uint8_t high[] = { 0x02, 0x09, 0xc2, 0x03, 0x02, 0x00 };
    uint8_t wanted[795], *at = wanted + 256;
    memcpy(wanted, golden, 256);
    wanted[10] = 1; /* version 1.1 */
    wanted[12] = 0x80;
    wanted[13] = 0x02; /* header of 640 bytes */
    wanted[28] = 4;    /* rans */
    wanted[232] = 13;  /* directory */
    memcpy(wanted + 248, sum, sizeof sum);
    for (int table = 0; table < 12; table++)
        for (int token = 0; token < 16; token++) {
            const int f = table != 9 ? 128 : token == 2 ? 2033 : 1;
            *at++ = (uint8_t)f;
            *at++ = (uint8_t)(f >> 8);
        }
    memcpy(at, directory, sizeof directory);
    at += sizeof directory;
    memcpy(at, low, sizeof low);
    at += sizeof low;
    memcpy(at, high, sizeof high);
    at += sizeof high;
    for (int lane = 1; lane < 32; lane++, at += 4) memcpy(at, (const uint8_t[]){ 0, 0, 1, 0 }, 4);
    assert_int_equal(at - wanted, sizeof wanted);
    require_golden(TSR_COMPRESS_RANS, wanted, sizeof wanted);
}

static void wrong_arguments(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_U8, (tsr_size3){ 40, 20, 10 }, &random), *back = NULL, *wide = make(TSR_F64, (tsr_size3){ 4, 4, 4 }, &random);
    tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
    o.rate = 1;
    o.psnr = 40;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "at most one");
    o.psnr = 0;
    o.coder = TSR_COMPRESS_FAST;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "coder fast with rate, expected planes");
    o = options_of(TSR_COMPRESS_PLANES);
    o.rate = 0.001;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "header, metadata and directory");
    o.rate = 0;
    o.levels = 7;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "levels is 7, expected 1 to 6");
    o.levels = 3;
    o.brick = (tsr_size3){ 12, 12, 12 };
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "multiple of 2^levels");
    o.brick = (tsr_size3){ 300, 12, 12 };
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "brick is 300 along x");
    o = options_of(TSR_COMPRESS_AUTO);
    o.max_error = -1;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "max_error is -1");
    o.max_error = HUGE_VAL;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_ARGUMENT, "max_error is inf, expected a positive finite number");
    o.max_error = 0;
    tsr_volume *far_apart = NULL;
    require_ok(tsr_volume_create(NULL, TSR_I64, (tsr_size3){ 2, 1, 1 }, NULL, &far_apart));
    memcpy(tsr_volume_data(far_apart), (const int64_t[]){ INT64_MIN, INT64_MAX }, 16);
    require_error(tsr_volume_compress(far_apart, path, &o, NULL), TSR_ERROR_UNSUPPORTED, "or max_error of at least 4.2950");
    o.max_error = 1e9;
    require_error(tsr_volume_compress(far_apart, path, &o, NULL), TSR_ERROR_ARGUMENT, "expected at least 4.2950");
    o.max_error = 4.2951e9;
    require_ok(tsr_volume_compress(far_apart, path, &o, NULL));
    tsr_volume_destroy(&far_apart);
    o.max_error = 0;
    require_error(tsr_volume_compress(wide, path, &o, NULL), TSR_ERROR_UNSUPPORTED, "f64 voxels without loss");
    require_ok(tsr_volume_compress(v, path, &o, NULL));
    o.overwrite = 0;
    require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_IO, "exists");
    tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
    d.reduce = 1;
    require_error(tsr_volume_decompress(path, &d, &back, NULL), TSR_ERROR_ARGUMENT, "reduce is 1, expected 0 to 0");
    d.reduce = 0;
    d.box[1] = (tsr_size3){ 41, 1, 1 };
    require_error(tsr_volume_decompress(path, &d, &back, NULL), TSR_ERROR_ARGUMENT, "box is 0 to 41 along x");
    d.box[1] = (tsr_size3){ 0 };
    d.memory_limit = 100;
    require_error(tsr_volume_decompress(path, &d, &back, NULL), TSR_ERROR_MEMORY, "memory_limit");
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&wide);
}

/* kB of memory of the process that no file backs; -1 where the system does not say. */
static long anonymous_memory(void)
{
    char line[128];
    long kilobytes = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "RssAnon:", 8)) kilobytes = atol(line + 8);
    if (f) fclose(f);
    return kilobytes;
}
static int watch_memory(void *user, double fraction, const char *stage)
{
    long *most = (long *)user;
    const long now = anonymous_memory();
    (void)fraction;
    (void)stage;
    *most = now > *most ? now : *most;
    return 0;
}

static tsr_volume *noise(int64_t slices)
{
    tsr_volume *v = NULL;
    uint64_t random = 11;
    require_ok(tsr_volume_create(NULL, TSR_U16, (tsr_size3){ 128, 128, slices }, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) ((uint16_t *)tsr_volume_data(v))[i] = (uint16_t)(test_random(&random) >> 20);
    return v;
}

/* Compresses with little room and with all of it: the same file. What the process had at most beside what it had before, in kB. */
static void with_and_without_limit(const tsr_volume *v, tsr_compress_options o, long growth[2])
{
    o.brick = (tsr_size3){ 32, 32, 32 };
    o.threads = 1;
    o.overwrite = 1;
    for (int limited = 1; limited >= 0; limited--) { /* memory that was freed may stay: the larger one comes last */
        const long before = anonymous_memory();
        long most = before;
        size_t size[2];
        o.memory_limit = limited ? 256 << 10 : 0;
        o.progress = (tsr_progress){ .report = watch_memory, .user = &most };
        require_ok(tsr_volume_compress(v, limited ? path : other, &o, NULL));
        growth[limited] = most - before;
        if (limited) continue;
        uint8_t *a = slurp(path, &size[0]), *b = slurp(other, &size[1]);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(a, b, size[0]);
        free(a);
        free(b);
    }
}

static void bounded_memory(void **state)
{
    (void)state;
    long growth[2];
    tsr_volume *v = noise(20);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .rate = 6 }, growth);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .psnr = 30 }, growth);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .coder = TSR_COMPRESS_PLANES, .max_error = 700 },
                           growth);
    tsr_compress_options bad = TSR_COMPRESS_OPTIONS;
    bad.memory_limit = -1;
    bad.overwrite = 1;
    require_error(tsr_volume_compress(v, path, &bad, NULL), TSR_ERROR_ARGUMENT, "memory_limit is -1");
    tsr_volume_destroy(&v);
#if !defined(TSR_SANITIZED) /* they keep what was freed */
    v = noise(192);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .coder = TSR_COMPRESS_FAST }, growth);
    if (anonymous_memory() >= 0) {
        if (growth[0] < 5000) fail_msg("%ld kB more without a limit, expected the 6 MB of the file: nothing was measured", growth[0]);
        if (growth[1] > 3500) fail_msg("%ld kB more with a limit of 256 kB (%ld without)", growth[1], growth[0]);
    }
    tsr_volume_destroy(&v);
#endif
}

static int cancel_later(void *user, double fraction, const char *stage)
{
    (void)fraction, (void)stage;
    return ++*(int *)user > 1;
}

/* What is asked for while the only brick is coded still counts: no file. */
static void cancelled(void **state)
{
    (void)state;
    tsr_volume *v = noise(20);
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        int calls = 0;
        tsr_compress_options o = { .struct_size = sizeof o, .coder = (tsr_compress_coder)coder, .progress = { cancel_later, &calls } };
        unlink(path);
        require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_CANCELLED, "cancelled");
        assert_true(access(path, F_OK) != 0);
    }
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lossless),
                                        cmocka_unit_test(extremes),
                                        cmocka_unit_test(small_noise),
                                        cmocka_unit_test(largest_error),
                                        cmocka_unit_test(largest_error_at_the_ends),
                                        cmocka_unit_test(largest_error_and_slope),
                                        cmocka_unit_test(low_rates),
                                        cmocka_unit_test(rate_and_psnr),
                                        cmocka_unit_test(boxes),
                                        cmocka_unit_test(resolutions),
                                        cmocka_unit_test(cut_files),
                                        cmocka_unit_test(every_byte),
                                        cmocka_unit_test(same_bytes),
                                        cmocka_unit_test(bounded_memory),
                                        cmocka_unit_test(cancelled),
                                        cmocka_unit_test(golden_file),
                                        cmocka_unit_test(golden_rans),
                                        cmocka_unit_test(images),
                                        cmocka_unit_test(wrong_arguments) };
    const struct CMUnitTest threaded[] = { cmocka_unit_test(boxes),      cmocka_unit_test(resolutions), cmocka_unit_test(cut_files),
                                           cmocka_unit_test(same_bytes), cmocka_unit_test(cancelled),   cmocka_unit_test(images) };
    if (test_watches_threads()) return cmocka_run_group_tests(threaded, set_up, tear_down); /* the others work on one thread */
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
