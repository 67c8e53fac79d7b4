/* Streams that are wrong, one mistake each, written bit by bit: every one is named by a message of its own, in strict decoding by an error, and none
 * keeps the frames around it from coming. Then streams that are right at the edges of the format. */
#include "context.h"
#include "dirac_model_bits.h"

typedef struct picture {
    uint32_t wavelet, depth, across, down, prefix, scaler, numerator, denominator;
    int quantiser, length; /* of each slice; units of the scaler of each component */
} picture;
static const picture usual = { .wavelet = 1, .depth = 1, .across = 2, .down = 1, .scaler = 1, .numerator = 8, .denominator = 1, .length = 1 };

typedef struct header {
    uint32_t major, profile, base, width, height, chroma, range, fields, unknown_aspect;
} header;
static const header plain = { .major = 2, .profile = 3, .width = 16, .height = 8 };

static uint32_t last; /* bytes of the last unit */

static void put_unit(model_bits *s, int code, const model_bits *payload, int64_t next)
{
    const uint32_t size = 13 + (uint32_t)(payload ? (payload->bits + 7) / 8 : 0);
    model_literal(s, 0x42424344, 32);
    model_literal(s, (uint64_t)code, 8);
    model_literal(s, next >= 0 ? (uint64_t)next : code == 0x10 ? 0 : size, 32);
    model_literal(s, last, 32);
    if (payload) model_append(s, payload);
    model_align(s);
    last = size;
}

static void put_header(model_bits *s, header h)
{
    model_bits b = { 0 };
    const uint32_t head[] = { h.major, 0, h.profile, 0, h.base };
    for (int k = 0; k < 5; k++) model_uint(&b, head[k]);
    model_bit(&b, 1);
    model_uint(&b, h.width);
    model_uint(&b, h.height);
    model_bit(&b, 1);
    model_uint(&b, h.chroma);
    for (int flag = 2; flag < 8; flag++) {
        model_bit(&b, (flag == 6 && h.range) || (flag == 4 && h.unknown_aspect));
        if (flag == 6 && h.range) model_uint(&b, h.range);
        if (flag == 4 && h.unknown_aspect) model_uint(&b, 0), model_uint(&b, 0), model_uint(&b, 1);
    }
    model_uint(&b, h.fields);
    model_align(&b);
    put_unit(s, 0x00, &b, -1);
    free(b.bytes);
}

static void put_transform(model_bits *b, const picture *p, int low_delay)
{
    model_uint(b, p->wavelet);
    model_uint(b, p->depth);
    model_uint(b, p->across);
    model_uint(b, p->down);
    model_uint(b, low_delay ? p->numerator : p->prefix);
    model_uint(b, low_delay ? p->denominator : p->scaler);
    model_bit(b, 0);
    model_align(b);
}

static void put_slices(model_bits *b, const picture *p, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t k = 0; k < p->prefix; k++) model_literal(b, 0xa5, 8);
        model_literal(b, (uint64_t)p->quantiser, 8);
        for (int c = 0; c < 3; c++) {
            model_literal(b, (uint64_t)p->length, 8);
            for (uint32_t k = 0; k < (uint32_t)p->length * p->scaler; k++) model_literal(b, 0xff, 8);
        }
    }
}

static void put_picture(model_bits *s, uint32_t number, picture p, int low_delay)
{
    model_bits b = { 0 };
    model_literal(&b, number, 32);
    put_transform(&b, &p, low_delay);
    if (low_delay)
        for (uint32_t n = 0; n < p.across * p.down; n++) model_literal(&b, 0xff, 8 * (int)(p.denominator ? p.numerator / p.denominator : 0));
    else put_slices(&b, &p, p.across < 100 ? p.across * p.down : 1);
    put_unit(s, low_delay ? 0xc8 : 0xe8, &b, -1);
    free(b.bytes);
}

/* count 0: the parameters. */
static void put_fragment(model_bits *s, uint32_t number, uint32_t count, uint32_t x, uint32_t y)
{
    model_bits b = { 0 };
    model_literal(&b, number, 32);
    model_literal(&b, 0, 16);
    model_literal(&b, count, 16);
    if (count) {
        model_literal(&b, x, 16);
        model_literal(&b, y, 16);
        put_slices(&b, &usual, count);
    } else {
        model_uint(&b, usual.wavelet);
        model_uint(&b, usual.depth);
        model_bit(&b, 0);
        model_bit(&b, 0);
        const uint32_t rest[] = { usual.across, usual.down, usual.prefix, usual.scaler };
        for (int k = 0; k < 4; k++) model_uint(&b, rest[k]);
        model_bit(&b, 0);
        model_align(&b);
    }
    put_unit(s, 0xec, &b, -1);
    free(b.bytes);
}

/* ---- core syntax --------------------------------------------------------------------------------------------------------------------------- */

typedef struct core {
    uint32_t wavelet, depth, mode, preset, block[4], precision, prediction, quantiser, length;
    int split; /* 1: the stream of splits has codes that go on and on */
    int32_t reference;
} core;

/* Sub-bands: the approximation of luma with this length and quantiser and no bytes of it but `given`; the rest are empty. */
static void put_core(model_bits *s, uint32_t number, core c, int inter, int given)
{
    model_bits b = { 0 };
    model_literal(&b, number, 32);
    if (inter) model_sint(&b, c.reference);
    else model_sint(&b, 0); /* retires nothing */
    model_align(&b);
    if (inter) {
        model_uint(&b, c.preset);
        for (int k = 0; k < 4 && !c.preset; k++) model_uint(&b, c.block[k]);
        model_uint(&b, c.precision);
        model_bit(&b, 0);
        model_uint(&b, c.prediction);
        model_bit(&b, 0);
        model_align(&b);
        for (int stream = 0; stream < 7; stream++) {
            model_uint(&b, !stream && c.split ? 2 : 0);
            model_align(&b);
            if (!stream && c.split) model_literal(&b, 0, 16); /* codes that go on */
        }
        model_bit(&b, 0); /* a residue */
    }
    model_uint(&b, c.wavelet);
    model_uint(&b, c.depth);
    model_bit(&b, c.mode > 0);
    for (uint32_t k = 0; c.mode && k <= c.depth; k++) model_uint(&b, 1), model_uint(&b, 1);
    if (c.mode) model_uint(&b, c.mode);
    for (uint32_t band = 0; band < 3 * (1 + 3 * c.depth); band++) {
        model_align(&b);
        model_uint(&b, band ? 0 : c.length);
        if (band || !c.length) continue;
        model_uint(&b, c.quantiser);
        model_align(&b);
        for (int k = 0; k < given; k++) model_literal(&b, 0xff, 8);
    }
    model_align(&b);
    put_unit(s, inter ? 0x09 : 0x0c, &b, -1);
    free(b.bytes);
}

/* ---- what is said of it -------------------------------------------------------------------------------------------------------------------- */

typedef struct told {
    char text[2000];
    int frames, damaged;
} told;

static void keep(void *user, int64_t offset, const char *text)
{
    told *t = user;
    const size_t used = strlen(t->text);
    (void)offset;
    snprintf(t->text + used, sizeof t->text - used, "%s\n", text);
}

static tsr_status decode(const model_bits *s, int strict, told *t)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    *t = (told){ .frames = 0 };
    o.strict = strict;
    o.damage = keep;
    o.user = t;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, s->bytes, s->bits / 8));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (int more = 1; status == TSR_OK && more;) {
        tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
        status = tsr_dirac_decoder_next(decoder, &frame, &info, &more);
        if (status == TSR_OK && more) t->frames++, t->damaged += info.damaged;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    return status;
}

/* The mistake is said, `frames` come all the same; strict: an error of the same words. */
static void require_said(const model_bits *s, const char *words, int frames)
{
    told t;
    const tsr_status status = decode(s, 0, &t);
    if (status != TSR_OK) assert_non_null(strstr(tsr_error_message(), "no sequence header"));
    if (!strstr(t.text, words)) fail_msg("'%s', expected '%s'", t.text, words);
    if (t.frames != frames) fail_msg("%s: %d frames, expected %d", words, t.frames, frames);
    assert_int_not_equal(decode(s, 1, &t), TSR_OK);
    if (!strstr(tsr_error_message(), words)) fail_msg("strict: '%s', expected '%s'", tsr_error_message(), words);
}

static model_bits begin(header h)
{
    model_bits s = { 0 };
    last = 0;
    put_header(&s, h);
    return s;
}

static void end(model_bits *s, const char *words, int frames)
{
    put_unit(s, 0x10, NULL, -1);
    require_said(s, words, frames);
    free(s->bytes);
}

/* ---- tests --------------------------------------------------------------------------------------------------------------------------------- */

static void headers_that_are_wrong(void **state)
{
    static const struct {
        header h;
        const char *words;
    } cases[] = {
        { { .major = 2, .profile = 3, .width = 0, .height = 8 }, "frame width is 0" },
        { { .major = 2, .profile = 3, .width = 16, .height = 0 }, "frame height is 0" },
        { { .major = 2, .profile = 3, .width = 70000, .height = 8 }, "frame width is 70000" },
        { { .major = 2, .profile = 3, .width = 15, .height = 8, .chroma = 2 }, "15 x 8, expected multiples of 2 and 2 for 420" },
        { { .major = 2, .profile = 3, .width = 16, .height = 7, .chroma = 2 }, "16 x 7, expected multiples of 2 and 2" },
        { { .major = 2, .profile = 3, .width = 16, .height = 7, .fields = 1 }, "in fields" },
        { { .major = 2, .profile = 3, .base = 23, .width = 16, .height = 8 }, "base video format is 23, expected 0 to 22" },
        { { .major = 2, .profile = 3, .width = 16, .height = 8, .chroma = 3 }, "chroma format is 3" },
        { { .major = 2, .profile = 3, .width = 16, .height = 8, .range = 9 }, "signal range is 9" },
        { { .major = 2, .profile = 3, .width = 16, .height = 8, .fields = 2 }, "picture coding mode is 2" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        model_bits s = begin(cases[k].h);
        put_picture(&s, 0, usual, 0);
        end(&s, cases[k].words, 0);
    }
    model_bits s = begin((header){ .major = 2, .profile = 77, .width = 16, .height = 8 });
    put_picture(&s, 0, usual, 0);
    end(&s, "profile is 77", 1);
}

static void units_that_are_wrong(void **state)
{
    (void)state;
    static const int64_t lengths[] = { 1, 12, 100000 };
    for (int k = 0; k < 3; k++) { /* a distance of 1 to 12, or beyond the file: the picture comes by the next prefix */
        model_bits s = begin(plain), b = { 0 };
        model_literal(&b, 0, 32);
        put_transform(&b, &usual, 0);
        put_slices(&b, &usual, 2);
        put_unit(&s, 0xe8, &b, lengths[k]);
        put_picture(&s, 1, usual, 0);
        end(&s, "its length does not lead to another data unit", 2);
        free(b.bytes);
    }
    model_bits s = begin(plain); /* bytes between units */
    put_picture(&s, 0, usual, 0);
    model_literal(&s, 0x42424300, 32);
    put_picture(&s, 1, usual, 0);
    end(&s, "its length does not lead", 2);
    s = (model_bits){ 0 };
    last = 0;
    model_literal(&s, 0x58424344, 32); /* a wrong prefix at the beginning */
    put_header(&s, plain);
    put_picture(&s, 0, usual, 0);
    end(&s, "4 bytes that belong to no data unit", 1);
    s = (model_bits){ 0 };
    last = 0;
    put_picture(&s, 0, usual, 0);
    put_header(&s, plain);
    put_picture(&s, 1, usual, 0);
    end(&s, "before any sequence header", 1);
    s = begin(plain);
    put_picture(&s, 0, usual, 0);
    put_header(&s, (header){ .major = 2, .profile = 3, .width = 32, .height = 8 });
    put_picture(&s, 1, usual, 0);
    end(&s, "the sequence header changes inside a sequence", 2);
}

static void slices_that_are_wrong(void **state)
{
    static const struct {
        picture p;
        int low_delay, frames;
        const char *words;
    } cases[] = {
        { { .wavelet = 7, .depth = 1, .across = 2, .down = 1, .scaler = 1 }, 0, 1, "wavelet index is 7" },
        { { .wavelet = 1, .depth = 7, .across = 2, .down = 1, .scaler = 1 }, 0, 1, "transform depth is 7" },
        { { .wavelet = 1, .depth = 1, .across = 0, .down = 1, .scaler = 1 }, 0, 1, "slices across is 0" },
        { { .wavelet = 1, .depth = 1, .across = 2, .down = 0, .scaler = 1 }, 0, 1, "slices down is 0" },
        { { .wavelet = 1, .depth = 1, .across = 2, .down = 1, .scaler = 0 }, 0, 1, "slice size scaler is 0" },
        { { .wavelet = 1, .depth = 1, .across = 2, .down = 1, .numerator = 8, .denominator = 0 }, 1, 1, "slice bytes denominator is 0" },
        { { .wavelet = 1, .depth = 1, .across = 2, .down = 1, .numerator = 0, .denominator = 1 }, 1, 1, "slice bytes numerator is 0" },
        { { .wavelet = 1, .depth = 1, .across = 2, .down = 1, .numerator = 1, .denominator = 2 }, 1, 1, "slices of 1 / 2 bytes" },
        { { .wavelet = 1, .depth = 5, .across = 2, .down = 1, .scaler = 1 }, 0, 1, "no default quantisation matrix" },
        { { .wavelet = 1, .depth = 1, .across = 60000, .down = 60000, .scaler = 1 }, 0, 1, "60000 x 60000 slices in" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        model_bits s = begin(plain);
        put_picture(&s, 0, cases[k].p, cases[k].low_delay);
        put_picture(&s, 1, usual, 0);
        end(&s, cases[k].words, cases[k].frames);
    }
    model_bits s = begin(plain), b = { 0 }; /* a slice longer than the unit */
    picture long_one = usual;
    model_literal(&b, 0, 32);
    put_transform(&b, &long_one, 0);
    model_literal(&b, 0x0001ff01ff01ffu, 56);
    model_literal(&b, 0x00c8ffu, 24);
    put_unit(&s, 0xe8, &b, -1);
    put_picture(&s, 1, usual, 0);
    end(&s, "1 of 2 slices are missing or cut", 2);
    free(b.bytes);
}

static void fragments_that_are_wrong(void **state)
{
    const header third = { .major = 3, .profile = 3, .width = 16, .height = 8 };
    (void)state;
    model_bits s = begin(third); /* the second before the first */
    put_fragment(&s, 0, 0, 0, 0);
    put_fragment(&s, 0, 1, 1, 0);
    put_picture(&s, 1, (picture){ .wavelet = 9 }, 0); /* left out; what was begun is finished */
    end(&s, "a fragment from slice 1, expected 0", 1);
    s = begin(third); /* the first once more */
    put_fragment(&s, 0, 0, 0, 0);
    put_fragment(&s, 0, 1, 0, 0);
    put_fragment(&s, 0, 1, 0, 0);
    put_fragment(&s, 0, 1, 1, 0);
    end(&s, "a fragment from slice 0, expected 1", 1);
    s = begin(third); /* of another picture */
    put_fragment(&s, 0, 0, 0, 0);
    put_fragment(&s, 7, 1, 0, 0);
    put_fragment(&s, 0, 1, 0, 0);
    put_fragment(&s, 0, 1, 1, 0);
    end(&s, "a fragment of picture 7, whose beginning is missing", 1);
    s = begin(third); /* begun anew */
    put_fragment(&s, 0, 0, 0, 0);
    put_fragment(&s, 0, 1, 0, 0);
    put_fragment(&s, 1, 0, 0, 0);
    put_fragment(&s, 1, 2, 0, 0);
    end(&s, "fragments with 1 of 2 slices are missing", 2);
    s = begin(third);
    put_fragment(&s, 0, 0, 0, 0);
    put_fragment(&s, 0, 2, 1, 0);
    put_fragment(&s, 0, 2, 0, 0);
    end(&s, "expected them within 2 x 1", 1);
}

static void core_syntax_that_is_wrong(void **state)
{
    const header main_profile = { .major = 2, .profile = 8, .width = 64, .height = 64 };
    const core good = { .wavelet = 1, .depth = 1, .preset = 1, .reference = -1 };
    core c;
    (void)state;
#define FIRST()                  \
    s = begin(main_profile);     \
    put_core(&s, 0, good, 0, 0); \
    c = good
    model_bits s;
    FIRST();
    c.length = 4, c.quantiser = 200;
    put_core(&s, 1, c, 0, 4);
    end(&s, "quantisers of 1 sub-bands are no number", 2);
    FIRST();
    c.length = 5000, c.quantiser = 10;
    put_core(&s, 1, c, 0, 4);
    end(&s, "sub-bands are cut", 2);
    FIRST();
    c.mode = 2;
    put_core(&s, 1, c, 0, 0);
    end(&s, "code block mode is 2", 1);
    FIRST();
    c.wavelet = 7;
    put_core(&s, 1, c, 0, 0);
    end(&s, "wavelet index is 7", 1);
    FIRST();
    c.preset = 5;
    put_core(&s, 1, c, 1, 0);
    end(&s, "block parameters are 5, expected 0 to 4", 1);
    static const uint32_t blocks[][4] = { { 7, 8, 4, 4 }, { 8, 8, 12, 4 }, { 24, 8, 8, 4 }, { 68, 8, 36, 4 }, { 8, 8, 0, 4 } };
    for (int k = 0; k < 5; k++) {
        FIRST();
        c.preset = 0;
        memcpy(c.block, blocks[k], sizeof c.block);
        put_core(&s, 1, c, 1, 0);
        end(&s, "expected multiples of 4", 1);
    }
    FIRST();
    c.precision = 4;
    put_core(&s, 1, c, 1, 0);
    end(&s, "vector precision is 4, expected 0 to 3", 1);
    FIRST();
    c.prediction = 1;
    put_core(&s, 1, c, 1, 0);
    end(&s, "prediction mode is 1, expected 0", 1);
    FIRST();
    c.reference = 5;
    put_core(&s, 1, c, 1, 0);
    end(&s, "its reference 6 is missing; the nearest stands in for it", 2);
    FIRST();
    c.split = 1;
    put_core(&s, 1, c, 1, 0);
    end(&s, "superblocks are beyond 2", 2);
    s = begin(main_profile);
    put_core(&s, 1, good, 1, 0);
    end(&s, "its reference 0 is missing; it is left out", 0);
    /* A reference of other planes, of which all together have as many samples. */
    s = begin((header){ .major = 2, .profile = 8, .width = 64, .height = 32, .chroma = 2 });
    put_core(&s, 0, good, 0, 0);
    put_unit(&s, 0x10, NULL, -1);
    put_header(&s, (header){ .major = 2, .profile = 8, .width = 32, .height = 32 });
    c = good, c.wavelet = 7; /* no residue */
    put_core(&s, 1, c, 1, 0);
    end(&s, "its reference 0 is missing; it is left out", 1);
#undef FIRST
}

static void other_files(void **state)
{
    static const char *const files[] = { "YUV4MPEG2 W16 H8 F25:1\nFRAME\n", "\x1a\x45\xdf\xa3\x01", "\x89PNG\r\n\x1a\n", "BBC", "" };
    (void)state;
    for (int k = 0; k < 5; k++) {
        told t;
        const model_bits s = { (uint8_t *)files[k], 8 * strlen(files[k]), 0 };
        const tsr_status status = decode(&s, 0, &t);
        assert_int_equal(status, TSR_ERROR_FORMAT);
        assert_non_null(strstr(tsr_error_message(), "no sequence header of Dirac or VC-2"));
    }
}

/* 1 x 1, prefixes and scalers of 255, the coarsest quantiser, slices of one byte, numbers that wrap, no bytes of coefficients, pixels of 0 : 1 as
 * FFmpeg writes them: frames without remark. */
static void edges(void **state)
{
    static const header sizes[] = { { .major = 2, .profile = 3, .width = 1, .height = 1 },
                                    { .major = 2, .profile = 3, .width = 16, .height = 8, .unknown_aspect = 1 } };
    (void)state;
    for (int size = 0; size < 2; size++)
        for (int kind = 0; kind < 5; kind++) {
            model_bits s = begin(sizes[size]);
            picture p = usual;
            told t;
            if (kind == 1) p.prefix = 255;
            if (kind == 2) p.scaler = 255;
            if (kind == 3) p.quantiser = 255;
            if (kind == 4) p.numerator = 1, p.denominator = 1;
            if (kind == 0) p.length = 0;
            for (uint32_t n = 0; n < 4; n++) put_picture(&s, UINT32_MAX - 1 + n, p, kind == 4);
            put_unit(&s, 0x10, NULL, -1);
            require_ok(decode(&s, 1, &t));
            assert_int_equal(t.frames, 4);
            assert_string_equal(t.text, "");
            free(s.bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(headers_that_are_wrong),
                                        cmocka_unit_test(units_that_are_wrong),
                                        cmocka_unit_test(slices_that_are_wrong),
                                        cmocka_unit_test(fragments_that_are_wrong),
                                        cmocka_unit_test(core_syntax_that_is_wrong),
                                        cmocka_unit_test(other_files),
                                        cmocka_unit_test(edges) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
