/* Streams in core syntax that we write: what the encoder says a decoder makes of each picture is what our decoder makes of it, with every coder,
 * filter, chroma format, block shape, vector precision, fields, and lossless; weights of a cross-fade are those it was made with, groups begin
 * where the scene changes, motion saves what it should, and the buffer model holds when somebody else counts. What FFmpeg makes of such streams:
 * test_dirac_peer.c. */
#include "dirac_films.h"

enum { FRAMES = 12 };

/* What the encoder reports, kept by picture number. */
typedef struct kept {
    film_bytes frame[FRAMES];
    tsr_dirac_picture picture[2 * FRAMES]; /* in coded order */
    int count, fields;
    uint32_t first;
} kept;

static void keep(void *user, const tsr_dirac_picture *info, const tsr_video_frame *reconstruction)
{
    kept *k = user;
    assert_true(k->count < 2 * FRAMES);
    k->picture[k->count++] = *info;
    if (!reconstruction) return;
    const uint32_t frame = (info->number - k->first) >> k->fields;
    assert_true(frame < FRAMES);
    k->frame[frame].size = 0;
    film_append(&k->frame[frame], reconstruction->plane[0], (size_t)reconstruction->bytes);
}

static void forget(kept *k)
{
    for (int t = 0; t < FRAMES; t++) free(k->frame[t].at);
}

/* Decodes strictly; every frame must be the one that was kept. `arithmetic`: as in the options. */
static void require_same_by(const film_bytes *stream, const kept *k, int frames, int32_t arithmetic, const char *what)
{
    tsr_dirac_decoder *decoder = NULL;
    tsr_dirac_decode_options strict = TSR_DIRAC_DECODE_OPTIONS;
    tsr_video_frame frame = { .bytes = 0 };
    int more = 0;
    strict.strict = 1;
    strict.arithmetic = arithmetic;
    require_ok(tsr_dirac_decoder_create(context, &strict, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (int t = 0; t < frames; t++) {
        tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
        require_ok(tsr_dirac_decoder_next(decoder, &frame, &info, &more));
        if (!more) fail_msg("%s: %d frames instead of %d", what, t, frames);
        assert_int_equal(info.number, (uint32_t)(k->first + ((uint32_t)t << k->fields)));
        assert_int_equal(k->frame[t].size, frame.bytes);
        if (memcmp(k->frame[t].at, frame.plane[0], k->frame[t].size) != 0) fail_msg("%s: frame %d differs", what, t);
    }
    require_ok(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
    assert_int_equal(more, 0);
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
}

static void require_same(const film_bytes *stream, const kept *k, int frames, const char *what)
{
    require_same_by(stream, k, frames, 0, what);
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) require_same_by(stream, k, frames, 5, what);
}

static film some_film(int32_t width, int32_t height, tsr_chroma chroma, int32_t bits)
{
    return (film){ .format = { .width = width, .height = height, .chroma = chroma, .bits = bits }, .speed = { 1.25, -0.75 }, .contrast = 0.3 };
}

static size_t run(const film *f, int frames, tsr_dirac_encode_options o, kept *k, const char *what)
{
    film_bytes stream = { 0 };
    k->count = 0;
    k->first = (uint32_t)o.first_number;
    k->fields = o.fields;
    o.format = f->format;
    o.picture = keep;
    o.user = k;
    film_encode(f, frames, &o, &stream);
    require_same(&stream, k, frames, what);
    free(stream.at);
    return stream.size;
}

/* Frames as they were given. */
static void require_lossless(const film *f, int frames, const kept *k)
{
    tsr_video_frame frame = { .bytes = 0 };
    for (int t = 0; t < frames; t++) {
        film_frame(f, t, &frame);
        assert_memory_equal(k->frame[t].at, frame.plane[0], (size_t)frame.bytes);
    }
    tsr_video_frame_destroy(&frame);
}

static void intra_pictures(void **state)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    static const int32_t bits[] = { 8, 10, 12, 16 };
    kept k = { .count = 0 };
    (void)state;
    for (int32_t turn = 0; turn < (test_is_slow() ? 7 : 14); turn++) {
        const film f = some_film(46 + 2 * turn, 36 + 4 * (turn % 3), chromas[turn % 3], bits[turn % 4]);
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        char what[64];
        o.coding = turn % 2 ? TSR_DIRAC_CODING_VARIABLE : TSR_DIRAC_CODING_ARITHMETIC;
        o.group = 1;
        o.wavelet = 1 + turn % 7;
        o.depth = turn % 5;
        o.lossless = turn % 3 == 2;
        o.quantiser = o.lossless ? 0 : 1 + 3 * turn + 4 * (f.format.bits - 8);
        o.fields = turn % 4 == 3;
        o.interlaced = o.fields ? 1 + turn % 2 : 0;
        snprintf(what, sizeof what, "intra %d", turn);
        run(&f, 2, o, &k, what);
        if (o.lossless) require_lossless(&f, 2, &k);
    }
    forget(&k);
}

static void long_groups(void **state)
{
    static const int32_t blocks[][4] = {
        { 12, 12, 8, 8 }, { 8, 8, 4, 4 }, { 16, 16, 12, 12 }, { 24, 16, 16, 8 }, { 8, 8, 8, 8 }, { 64, 32, 32, 16 }
    };
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    kept k = { .count = 0 };
    (void)state;
    for (int32_t turn = 0; turn < (test_is_slow() ? 3 : 8); turn++) {
        const film f = some_film(70 + 6 * turn, 52 + 4 * (turn % 5), chromas[turn % 3], turn % 4 == 3 ? 10 : 8);
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        char what[64];
        o.coding = TSR_DIRAC_CODING_ARITHMETIC;
        o.quantiser = 14 + 4 * (f.format.bits - 8);
        o.lossless = turn == 5;
        if (o.lossless) o.quantiser = 0;
        o.group = turn % 3 == 1 ? 5 : 0;
        o.distance = turn % 4;
        o.precision = 1 + (turn + 2) % 4;
        o.compatible = turn % 2;
        o.preset = (tsr_dirac_preset)(turn % 3);
        o.fields = turn % 4 == 2;
        o.interlaced = o.fields;
        o.perceptual = turn == 6 ? 100 : 0;
        o.first_number = turn == 7 ? (int64_t)UINT32_MAX - 2 : 0; /* numbers wrap */
        memcpy(o.block, blocks[turn % 6], sizeof o.block);
        snprintf(what, sizeof what, "long group %d", turn);
        run(&f, 8, o, &k, what);
        if (o.lossless) require_lossless(&f, 8, &k);
    }
    forget(&k);
}

/* A texture that moves by fractions of a sample: at the same quantisers less than half of what intra pictures take, and no worse than them by more
 * than 1.5 dB. */
static void motion_saves(void **state)
{
    const film f = some_film(96, 80, TSR_CHROMA_420, 8);
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    kept k = { .count = 0 };
    double error[2] = { 0, 0 };
    size_t size[2];
    (void)state;
    o.coding = TSR_DIRAC_CODING_ARITHMETIC;
    o.quantiser = 13;
    for (int inter = 0; inter < 2; inter++) {
        o.group = inter ? 48 : 1;
        size[inter] = run(&f, 7, o, &k, "motion");
        for (int p = 0; p < k.count; p++) error[inter] += k.picture[p].error[0] / k.count;
    }
    if (!(size[1] < size[0] / 2)) fail_msg("%zu bytes with motion, %zu without", size[1], size[0]);
    assert_true(error[1] < 1.41 * error[0]);
    forget(&k);
}

static void fades_are_weighted(void **state)
{
    film f = some_film(96, 80, TSR_CHROMA_420, 8);
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    kept k = { .count = 0 };
    size_t size[2];
    int between = 0;
    (void)state;
    f.speed[0] = f.speed[1] = 0;
    f.fade = 9;
    o.coding = TSR_DIRAC_CODING_ARITHMETIC;
    o.quantiser = 9;
    o.no_scenes = 1;
    for (int usual = 1; usual >= 0; usual--) {
        o.compatible = usual;
        size[usual] = run(&f, 7, o, &k, "fade");
    }
    for (int p = 0; p < k.count; p++) { /* frames 1, 2, 4, 5 lie a third and two thirds of the way between their references */
        const tsr_dirac_picture *i = &k.picture[p];
        if (i->references < 2 || (i->parse_code & 4)) continue;
        between++;
        assert_int_equal(i->weight[2], 5);
        assert_int_equal(i->weight[0] + i->weight[1], 32);
        assert_true(fabs(i->weight[0] / 32.0 - (i->number % 3 == 1 ? 2 : 1) / 3.0) < 0.05);
    }
    assert_int_equal(between, 4);
    assert_true(size[0] < size[1]);
    forget(&k);
}

static void scenes_begin_groups(void **state)
{
    film f = some_film(96, 80, TSR_CHROMA_420, 8);
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    kept k = { .count = 0 };
    (void)state;
    f.cut = 5;
    f.contrast = 0.45;
    o.coding = TSR_DIRAC_CODING_ARITHMETIC;
    o.quantiser = 13;
    for (int off = 0; off < 2; off++) {
        o.no_scenes = off;
        run(&f, 9, o, &k, "scene");
        for (int p = 0; p < k.count; p++) {
            assert_int_equal(k.picture[p].references == 0, k.picture[p].number == 0 || (!off && k.picture[p].number == 5));
            assert_int_equal(k.picture[p].scene, !off && k.picture[p].number == 5);
        }
    }
    forget(&k);
}

/* The buffer of a decoder, counted from the stream alone: data units from one picture's end to the next's. */
static void buffer_holds(void **state)
{
    const film f = some_film(96, 80, TSR_CHROMA_420, 8);
    (void)state;
    for (int turn = 0; turn < 4; turn++) { /* core and high quality, variable and constant */
        const int64_t rate = turn < 2 ? 160000 : 1200000, buffer = rate / 4;
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        film_bytes stream = { 0 };
        double level = 0.75 * (double)buffer, bits = 0, all = 0;
        int pictures = 0;
        o.coding = turn < 2 ? TSR_DIRAC_CODING_ARITHMETIC : TSR_DIRAC_CODING_HIGH_QUALITY;
        o.format = f.format;
        o.bit_rate = rate;
        o.buffer_bits = buffer;
        o.constant_rate = turn % 2;
        film_encode(&f, FRAMES, &o, &stream);
        for (size_t at = 0; at < stream.size;) {
            assert_memory_equal(stream.at + at, "BBCD", 4);
            const int code = stream.at[at + 4];
            const size_t next =
                (size_t)stream.at[at + 5] << 24 | (size_t)stream.at[at + 6] << 16 | (size_t)stream.at[at + 7] << 8 | stream.at[at + 8];
            const size_t size = code == 0x10 ? 13 : next;
            if (code != 0x10) bits += 8 * (double)size;
            if (code == 0x30) { /* padding comes behind the picture and before the channel would overflow the buffer */
                level -= 8 * (double)size;
                all += bits;
                bits = 0;
            }
            if (code & 8) {
                level = level + (double)rate / 25;
                if (level > (double)buffer && !o.constant_rate) level = (double)buffer;
                if (bits > level) fail_msg("turn %d: picture %d takes %.0f bits of %.0f", turn, pictures, bits, level);
                level -= bits;
                all += bits;
                bits = 0;
                pictures++;
            }
            assert_true(level >= 0);
            at += size;
        }
        assert_int_equal(pictures, FRAMES);
        if (o.constant_rate && !(fabs(all - (double)rate * FRAMES / 25 - 0.75 * (double)buffer + level) < 8 * 14 * FRAMES))
            fail_msg("turn %d: %.0f bits", turn, all);
        free(stream.at);
    }
}

/* The second pass spreads the rate: nearer to it than 6 %, with quantisers that hardly change. */
static void two_passes(void **state)
{
    film f = some_film(96, 80, TSR_CHROMA_420, 8);
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_encoder *encoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    const tsr_dirac_statistics *statistics = NULL;
    const void *bytes;
    size_t size;
    kept k = { .count = 0 };
    (void)state;
    f.cut = 7;
    o.coding = TSR_DIRAC_CODING_ARITHMETIC;
    o.format = f.format;
    o.bit_rate = 200000;
    o.buffer_bits = 400000;
    require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
    for (int t = 0; t < FRAMES; t++) {
        film_frame(&f, t, &frame);
        require_ok(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size));
    }
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    require_ok(tsr_dirac_encoder_statistics(encoder, &statistics, &o.statistics_count));
    assert_int_equal(o.statistics_count, FRAMES);
    o.statistics = statistics;
    const size_t all = run(&f, FRAMES, o, &k, "second pass");
    const double wanted = 200000.0 / 8 * FRAMES / 25;
    if (!(fabs((double)all - wanted) < 0.06 * wanted)) fail_msg("%zu bytes, wanted %.0f", all, wanted);
    tsr_dirac_encoder_destroy(&encoder);
    tsr_video_frame_destroy(&frame);
    forget(&k);
}

static void wrong_options_are_named(void **state)
{
    static const struct {
        size_t offset;
        int32_t value;
        const char *text;
    } cases[] = {
        { offsetof(tsr_dirac_encode_options, group), -1, "group is -1" },
        { offsetof(tsr_dirac_encode_options, distance), 9, "distance is 9" },
        { offsetof(tsr_dirac_encode_options, precision), 5, "precision is 5" },
        { offsetof(tsr_dirac_encode_options, perceptual), 101, "perceptual is 101" },
        { offsetof(tsr_dirac_encode_options, fragment), 4, "fragment: without effect" },
        { offsetof(tsr_dirac_encode_options, slice), 32, "slice: without effect" },
        { offsetof(tsr_dirac_encode_options, depth), 7, "depth is 7" },
        { offsetof(tsr_dirac_encode_options, block), 68, "blocks of 68" },
        { offsetof(tsr_dirac_encode_options, constant_rate), 1, "constant_rate: needs bit_rate" },
        { offsetof(tsr_dirac_encode_options, preset), 3, "preset is 3" },
    };
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_dirac_encoder *encoder = NULL;
        o.coding = TSR_DIRAC_CODING_ARITHMETIC;
        o.format = (tsr_video_format){ .width = 64, .height = 48 };
        memcpy((char *)&o + cases[n].offset, &cases[n].value, sizeof cases[n].value);
        require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, cases[n].text);
        assert_null(encoder);
    }
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_encoder *encoder = NULL;
    o.coding = TSR_DIRAC_CODING_VARIABLE;
    o.format = (tsr_video_format){ .width = 64, .height = 48 };
    o.group = 2;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "variable-length codes are for intra pictures");
    o = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
    o.format = (tsr_video_format){ .width = 64, .height = 48 };
    o.bit_rate = 1000;
    o.buffer_bits = 10;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "buffer_bits is 10");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(intra_pictures),      cmocka_unit_test(long_groups),
                                        cmocka_unit_test(motion_saves),        cmocka_unit_test(fades_are_weighted),
                                        cmocka_unit_test(scenes_begin_groups), cmocka_unit_test(buffer_holds),
                                        cmocka_unit_test(two_passes),          cmocka_unit_test(wrong_options_are_named) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
