/* Streams we write, read back: lossless ones sample for sample with every filter, others within the bytes asked for and better with more of them; the
 * default matrices against the standard's table; codes against their definition. What peers make of the streams is checked by hand: all of
 * these kinds pass the reference validator of VC-2. */
#include <math.h>

#include "context.h"
#include "video/dirac/bits.h"
#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/syntax.h"

static void fill_frame(tsr_video_frame *frame, uint64_t *seed, int noise)
{
    const int32_t most = (1 << frame->format.bits) - 1;
    for (int c = 0; c < 3; c++)
        for (int32_t y = 0; y < frame->height[c]; y++)
            for (int32_t x = 0; x < frame->width[c]; x++) {
                const double v = 0.5 + 0.3 * sin(0.11 * x + 0.05 * y * y / 8 + c) + 0.15 * cos(0.23 * y) + noise * 0.1 * (test_uniform(seed) - 0.5);
                const int32_t value = (int32_t)(v * most);
                const int64_t at = (int64_t)y * frame->width[c] + x;
                if (frame->format.bits > 8) ((uint16_t *)frame->plane[c])[at] = (uint16_t)value;
                else ((uint8_t *)frame->plane[c])[at] = (uint8_t)value;
            }
}

static double psnr(const tsr_video_frame *a, const tsr_video_frame *b)
{
    const double most = (1 << a->format.bits) - 1;
    const int64_t n = a->bytes / (a->format.bits > 8 ? 2 : 1);
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const double d = a->format.bits > 8 ? (double)((uint16_t *)a->plane[0])[k] - ((uint16_t *)b->plane[0])[k]
                                            : (double)((uint8_t *)a->plane[0])[k] - ((uint8_t *)b->plane[0])[k];
        sum += d * d;
    }
    return sum > 0 ? 10 * log10(most * most * (double)n / sum) : INFINITY;
}

/* Encodes two frames and decodes them: the bytes of the stream, and the worse PSNR. */
static size_t there_and_back(const tsr_dirac_encode_options *options, uint64_t *seed, int noise, double *quality)
{
    tsr_dirac_encoder *encoder = NULL;
    tsr_dirac_decoder *decoder = NULL;
    tsr_dirac_decode_options strict = TSR_DIRAC_DECODE_OPTIONS;
    tsr_video_frame frame[2] = { { .bytes = 0 } }, back = { .bytes = 0 };
    size_t all = 0, size = 0;
    const void *bytes = NULL;
    int more = 0;
    strict.strict = 1;
    *quality = INFINITY;
    require_ok(tsr_dirac_encoder_create(context, options, &encoder));
    require_ok(tsr_dirac_decoder_create(context, &strict, &decoder));
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_video_frame_create(&options->format, &frame[k]));
        fill_frame(&frame[k], seed, noise);
        require_ok(tsr_dirac_encoder_frame(encoder, &frame[k], &bytes, &size));
        require_ok(tsr_dirac_decoder_push(decoder, bytes, size));
        all += size;
    }
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    require_ok(tsr_dirac_decoder_push(decoder, bytes, size));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_dirac_decoder_next(decoder, &back, NULL, &more));
        assert_int_equal(more, 1);
        *quality = fmin(*quality, psnr(&frame[k], &back));
        tsr_video_frame_destroy(&frame[k]);
    }
    require_ok(tsr_dirac_decoder_next(decoder, &back, NULL, &more));
    assert_int_equal(more, 0);
    tsr_video_frame_destroy(&back);
    tsr_dirac_decoder_destroy(&decoder);
    tsr_dirac_encoder_destroy(&encoder);
    return all + size;
}

static tsr_dirac_encode_options some_options(int turn)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    static const int32_t bits[] = { 8, 10, 12, 16, 9 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    o.format = (tsr_video_format){ .width = 70 + 2 * turn, .height = 52 + 4 * (turn % 5), .chroma = chromas[turn % 3], .bits = bits[turn % 5] };
    return o;
}

static void lossless_comes_back(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int32_t wavelet = 1; wavelet <= 7; wavelet++)
        for (int32_t depth = 1; depth <= 6; depth += test_is_slow() ? 3 : 1) {
            tsr_dirac_encode_options o = some_options(4 * wavelet + depth);
            double quality;
            o.wavelet = wavelet;
            o.depth = depth;
            o.lossless = 1;
            o.fragment = wavelet % 2 ? 0 : 5;
            o.fields = depth == 2;
            o.interlaced = depth == 2 ? 1 + wavelet % 2 : 0;
            there_and_back(&o, &seed, 1, &quality);
            if (!isinf(quality))
                fail_msg("wavelet %d depth %d: %d x %d, chroma %d, %d bits: %g dB", wavelet, depth, o.format.width, o.format.height,
                         (int)o.format.chroma, o.format.bits, quality);
        }
}

/* Slices have four levels by default, three where something is given that bounds them. */
static void lossless_is_deeper(void **state)
{
    const uint64_t seed = test_seed();
    (void)state;
    for (int given = 0; given < 2; given++) {
        tsr_dirac_encode_options o = some_options(3);
        uint64_t one = seed, other = seed;
        double quality;
        o.lossless = 1;
        if (given) o.slice[0] = 24;
        const size_t usual = (size_t)there_and_back(&o, &one, 1, &quality);
        assert_true(isinf(quality));
        o.depth = given ? 3 : 4;
        assert_int_equal(usual, there_and_back(&o, &other, 1, &quality));
    }
}

/* Rows and columns with filters and depths of their own, with the standard's matrix, one from the weights, or one given. */
static void asymmetric_comes_back(void **state)
{
    static const int32_t matrix[10] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
    uint64_t seed = test_seed();
    (void)state;
    for (int32_t turn = 0; turn < (test_is_slow() ? 3 : 9); turn++) {
        tsr_dirac_encode_options o = some_options(turn);
        double quality;
        o.wavelet = 1 + turn % 7;
        o.wavelet_horizontal = 1 + (turn * 3 + 2) % 7;
        o.depth = 1 + turn % 3;
        o.depth_horizontal = turn % 4;
        if (turn % 3 == 1) {
            o.matrix = matrix;
            o.matrix_count = 1 + o.depth_horizontal + 3 * o.depth;
            if (o.matrix_count > 10) o.matrix = NULL, o.matrix_count = 0;
        }
        o.lossless = turn % 2;
        if (!o.lossless) o.quantiser = 1 + 8 + 4 * (o.format.bits - 8);
        there_and_back(&o, &seed, 1, &quality);
        if (o.lossless ? !isinf(quality) : quality < 30) fail_msg("turn %d: %g dB", turn, quality);
    }
}

/* The stream has the size asked for (but for headers), and more bytes are never worse. */
static void bytes_are_kept(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int coding = 0; coding < 2; coding++)
        for (int turn = 0; turn < 3; turn++) {
            double before = 0, quality;
            for (int64_t bytes = 2000; bytes <= 16000; bytes *= 2) {
                tsr_dirac_encode_options o = some_options(3 * turn + coding);
                uint64_t own = seed; /* the same frames */
                o.coding = (tsr_dirac_coding)coding;
                o.picture_bytes = bytes;
                const size_t size = there_and_back(&o, &own, 1, &quality);
                assert_true(size <= 2 * ((size_t)bytes + 120) + 13 && size >= 2 * (size_t)bytes * 95 / 100);
                assert_true(quality > before || isinf(quality));
                before = quality;
            }
            assert_true(before > 30);
        }
}

/* LL, then HL, LH, HH per level, of depths 1 to 4: the standard's table for depth 4 begins with the others. */
static void default_matrices_are_the_standards(void **state)
{
    static const int32_t table[7][5][3] = {
        { { 5 }, { 3, 3, 0 }, { 4, 4, 1 }, { 5, 5, 2 }, { 6, 6, 3 } }, { { 4 }, { 2, 2, 0 }, { 4, 4, 2 }, { 5, 5, 3 }, { 7, 7, 5 } },
        { { 5 }, { 3, 3, 0 }, { 4, 4, 1 }, { 5, 5, 2 }, { 6, 6, 3 } }, { { 20 }, { 16, 16, 12 }, { 12, 12, 8 }, { 8, 8, 4 }, { 4, 4, 0 } },
        { { 8 }, { 4, 4, 0 }, { 4, 4, 0 }, { 4, 4, 0 }, { 4, 4, 0 } }, { { 0 }, { 4, 4, 8 }, { 8, 8, 12 }, { 13, 13, 17 }, { 17, 17, 21 } },
        { { 3 }, { 1, 1, 0 }, { 4, 4, 2 }, { 6, 6, 5 }, { 9, 9, 7 } },
    };
    (void)state;
    for (int32_t wavelet = 0; wavelet < 7; wavelet++)
        for (int32_t depth = 1; depth <= 4; depth++) {
            tsr_dirac_transform t = { .wavelet = wavelet, .wavelet_horizontal = wavelet, .depth = depth };
            int32_t matrix[TSR_DIRAC_LEVELS + 1][4];
            const int32_t less = wavelet == 3 ? 4 * (4 - depth) : 0; /* Haar without shift counts from the finest level */
            assert_int_equal(tsr_dirac_default_matrix(&t, matrix), 1);
            assert_int_equal(matrix[0][0], table[wavelet][0][0] - less);
            for (int32_t level = 1; level <= depth; level++)
                for (int band = 0; band < 3; band++) assert_int_equal(matrix[level][band + 1], table[wavelet][level][band] - less);
        }
    /* Vertical Haar without shift, horizontal Le Gall. */
    static const int32_t mixed[5][3] = { { 6 }, { 4, 2, 0 }, { 5, 3, 1 }, { 6, 4, 2 }, { 6, 5, 2 } };
    tsr_dirac_transform t = { .wavelet = 3, .wavelet_horizontal = 1, .depth = 4 };
    int32_t matrix[TSR_DIRAC_LEVELS + 1][4];
    assert_int_equal(tsr_dirac_default_matrix(&t, matrix), 1);
    assert_int_equal(matrix[0][0], mixed[0][0]);
    for (int level = 1; level <= 4; level++)
        for (int band = 0; band < 3; band++) assert_int_equal(matrix[level][band + 1], mixed[level][band]);
    t.depth = 6;
    assert_int_equal(tsr_dirac_default_matrix(&t, matrix), 0);
}

/* 0 is "1", 1 "001", 2 "011", 3 "00001"; written and read back; past the end a bounded reader sees zeros. */
static void codes_are_as_defined(void **state)
{
    uint64_t seed = test_seed();
    uint8_t memory[4096] = { 0 };
    int32_t value[200];
    tsr_bits_out out = { .at = memory };
    (void)state;
    for (uint32_t v = 0; v < 4; v++) tsr_bits_put_uint(&out, v);
    tsr_bits_finish(&out);
    assert_int_equal(memory[0], 0x96); /* 1 001 011 0 */
    assert_int_equal(memory[1], 0x1f); /* 0001 1111 */
    out = (tsr_bits_out){ .at = memory };
    for (int k = 0; k < 200; k++) {
        const int digits = (int)(test_random(&seed) % 32);
        value[k] = (int32_t)(test_random(&seed) & ((1u << digits) - 1)) * (test_random(&seed) % 2 ? 1 : -1);
        tsr_bits_put_int(&out, value[k]);
    }
    tsr_bits_finish(&out);
    tsr_bits in = { memory, 0, 8 * (out.at - memory) };
    for (int k = 0; k < 200; k++) assert_int_equal(tsr_bits_int(&in), value[k]);
    assert_true(in.at <= in.end && in.end - in.at < 8);
    in.at = in.end;
    for (int k = 0; k < 10; k++) assert_int_equal(tsr_bits_int(&in), 0);
}

/* The length of a fragment has 16 bits. */
static void fragments_fit(void **state)
{
    uint64_t seed = test_seed();
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_encoder *encoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    const void *bytes;
    size_t size;
    (void)state;
    o.format = (tsr_video_format){ .width = 256, .height = 192, .chroma = TSR_CHROMA_444, .bits = 12 };
    o.lossless = 1;
    o.fragment = 1000;
    require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
    require_ok(tsr_video_frame_create(&o.format, &frame));
    fill_frame(&frame, &seed, 1);
    require_error(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size), TSR_ERROR_CAPACITY, "give it fewer slices");
    tsr_video_frame_destroy(&frame);
    tsr_dirac_encoder_destroy(&encoder);
}

static void wrong_options_are_named(void **state)
{
    tsr_dirac_encoder *encoder = NULL;
    tsr_dirac_encode_options o = some_options(0);
    (void)state;
    o.format.width = 71;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "71 x 52");
    assert_null(encoder);
    o = some_options(0);
    o.depth = 7;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "depth is 7");
    o = some_options(0);
    o.matrix = &o.depth;
    o.matrix_count = 3;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "matrix has 3 numbers, expected 10");
    o = some_options(0);
    o.slice[0] = 12;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "slice[0] is 12");
    o = some_options(0);
    o.lossless = 1;
    o.picture_bytes = 1000;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "one of them");
    o = some_options(0);
    o.picture_bytes = 10;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "picture_bytes is 10");
    o = some_options(0);
    o.format.chroma = TSR_CHROMA_MONO;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "chroma");
    require_error(tsr_dirac_encoder_create(NULL, &o, &encoder), TSR_ERROR_ARGUMENT, "context is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lossless_comes_back),   cmocka_unit_test(lossless_is_deeper),
                                        cmocka_unit_test(asymmetric_comes_back), cmocka_unit_test(fragments_fit),
                                        cmocka_unit_test(bytes_are_kept),        cmocka_unit_test(default_matrices_are_the_standards),
                                        cmocka_unit_test(codes_are_as_defined),  cmocka_unit_test(wrong_options_are_named) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
