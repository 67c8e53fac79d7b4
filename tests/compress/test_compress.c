/* Compressed volumes: every type and coder there and back, largest errors, rate and PSNR as measured here, voxels that are not finite, errors. */
#include "wavelet/volumes.h"

#include "device/isa.h"

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
                tsr_compress_info info = TSR_COMPRESS_INFO;
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

/* Bricks side by side of which nothing, little and all of 16 bits is used: decoders that take two at once meet streams that are empty, and coefficients of
 * both widths, in every order. */
static void mixed_bricks(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const int kind[] = { 0, 1, 1, 0, 2, 0, 0, 2, 2, 1, 1, 2, 0, 0, 1, 1, 2, 2, 1 }; /* of bricks along x */
    const tsr_size3 size = { 16 * 18 + 7, 16, 19 };
    tsr_volume *v = make(TSR_U16, size, &random), *back = NULL;
    uint16_t *voxel = (uint16_t *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const uint64_t r = test_random(&random);
        voxel[i] = (uint16_t)((int[]){ 0, 9, 65535 }[kind[i % size.x / 16]] & (int)(r >> 20));
    }
    for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++)
        for (int coder = TSR_COMPRESS_FAST; coder < TSR_COMPRESS_CODERS; coder++) {
            tsr_compress_options o = options_of((tsr_compress_coder)coder);
            o.brick = (tsr_size3){ 16, 16, 16 };
            o.levels = 2;
            tsr_isa_force(isa);
            require_ok(tsr_volume_compress(v, path, &o, NULL));
            for (int32_t threads = 1; threads < 3; threads++) {
                const tsr_decompress_options d = { .struct_size = sizeof d, .threads = threads };
                require_ok(tsr_volume_decompress(path, &d, &back, NULL));
                require_same(v, back);
                tsr_volume_destroy(&back);
            }
            tsr_isa_force(-1);
        }
    tsr_volume_destroy(&v);
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
            tsr_compress_info info = TSR_COMPRESS_INFO;
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
        tsr_compress_info info = TSR_COMPRESS_INFO;
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

static void rate_and_psnr(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 70, 40, 40 };
    const int first = test_is_slow(), last = test_is_slow() ? 1 : 2;
    double before = 0;
    tsr_volume *v = make(TSR_I16, size, &random), *back = NULL;
    tsr_compress_info info = TSR_COMPRESS_INFO;
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
        /* a pass of so small a file is a step of up to 2 dB */
        if (!(psnr >= o.psnr && psnr < o.psnr + 2)) fail_msg("asked for %g dB, got %g", o.psnr, psnr);
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
        tsr_compress_info info = TSR_COMPRESS_INFO;
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lossless),
                                        cmocka_unit_test(mixed_bricks),
                                        cmocka_unit_test(extremes),
                                        cmocka_unit_test(small_noise),
                                        cmocka_unit_test(largest_error),
                                        cmocka_unit_test(largest_error_at_the_ends),
                                        cmocka_unit_test(largest_error_and_slope),
                                        cmocka_unit_test(low_rates),
                                        cmocka_unit_test(rate_and_psnr),
                                        cmocka_unit_test(wrong_arguments) };
    if (test_watches_threads()) return 0; /* all on one thread */
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
