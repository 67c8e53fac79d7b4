/* The private coding of sub-bands by rANS: it changes how coefficients are written and nothing else, so frames are those of arithmetic coding with the
 * same quantisers; without loss they are the film's. */
#include "context.h"
#include "dirac_films.h"
#include "dirac_model_bits.h"

/* All frames behind one another, decoded; the error of the first that fails. */
static tsr_status decode(const film_bytes *stream, int strict, film_bytes *frames, int *damaged)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    int more = 1;
    frames->size = 0;
    *damaged = 0;
    o.strict = strict;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    tsr_status status = TSR_OK;
    while (more) {
        status = tsr_dirac_decoder_next(decoder, &frame, &info, &more);
        if (status != TSR_OK || !more) break;
        film_append(frames, frame.plane[0], (size_t)frame.bytes);
        *damaged += info.damaged;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    return status;
}

static void some_film(uint64_t *seed, film *f, tsr_dirac_encode_options *o)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    *f = (film){ .format = { .width = 2 * model_between(seed, 8, 70),
                             .height = 4 * model_between(seed, 4, 24),
                             .chroma = chromas[model_below(seed, 3)],
                             .bits = model_between(seed, 8, 12) },
                 .speed = { 1.5, -0.75 },
                 .contrast = 0.5 };
    *o = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
    o->format = f->format;
    o->coding = TSR_DIRAC_CODING_STATISTICS;
    o->wavelet = model_between(seed, 1, 7);
    o->depth = model_between(seed, 1, 4);
    o->fields = model_chance(seed, 4);
    o->interlaced = o->fields ? 1 + model_below(seed, 2) : 0;
    o->preset = TSR_DIRAC_FAST;
}

static void frames_are_those_of_arithmetic_coding(void **state)
{
    uint64_t seed = test_seed();
    film_bytes stream = { 0 }, frames = { 0 }, expected = { 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 4 : 16); turn++) {
        film f;
        tsr_dirac_encode_options o;
        int damaged = 0;
        some_film(&seed, &f, &o);
        o.quantiser = 1 + model_below(&seed, 50);
        o.group = 1;
        film_encode(&f, 3, &o, &stream);
        require_ok(decode(&stream, 0, &frames, &damaged));
        assert_int_equal(damaged, 0);
        o.coding = TSR_DIRAC_CODING_ARITHMETIC;
        film_encode(&f, 3, &o, &stream);
        require_ok(decode(&stream, 1, &expected, &damaged));
        if (frames.size != expected.size || memcmp(frames.at, expected.at, expected.size))
            fail_msg("turn %d: other frames (wavelet %d, depth %d, quantiser %d)", turn, o.wavelet, o.depth, o.quantiser);
    }
    free(stream.at);
    free(frames.at);
    free(expected.at);
}

static void lossless_frames_come_back(void **state)
{
    uint64_t seed = test_seed();
    film_bytes stream = { 0 }, frames = { 0 };
    tsr_video_frame frame = { .bytes = 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 3 : 9); turn++) {
        film f;
        tsr_dirac_encode_options o;
        int damaged = 0;
        some_film(&seed, &f, &o);
        o.lossless = 1;
        o.group = turn % 3 ? 4 : 1; /* with pictures between others */
        o.distance = turn % 3;
        film_encode(&f, 5, &o, &stream);
        require_ok(decode(&stream, 0, &frames, &damaged));
        assert_int_equal(damaged, 0);
        for (int t = 0; t < 5; t++) {
            film_frame(&f, t, &frame);
            assert_int_equal(frames.size, 5 * (size_t)frame.bytes);
            if (memcmp(frames.at + (size_t)t * (size_t)frame.bytes, frame.plane[0], (size_t)frame.bytes))
                fail_msg("turn %d: frame %d is another (wavelet %d, depth %d, group %d)", turn, t, o.wavelet, o.depth, o.group);
        }
        tsr_video_frame_destroy(&frame);
    }
    free(stream.at);
    free(frames.at);
}

/* Levels large enough for strips of their own; noise, whose values escape. */
static void large_pictures_are_cut_into_strips(void **state)
{
    uint64_t seed = test_seed();
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_encoder *encoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    film_bytes stream = { 0 }, frames = { 0 };
    const void *bytes = NULL;
    size_t size = 0;
    int damaged = 0;
    (void)state;
    o.format = (tsr_video_format){ .width = 640, .height = 450, .chroma = TSR_CHROMA_422, .bits = 16 };
    o.coding = TSR_DIRAC_CODING_STATISTICS;
    o.lossless = 1;
    o.group = 1;
    require_ok(tsr_video_frame_create(&o.format, &frame));
    for (int64_t k = 0; k < frame.bytes / 2; k++) /* smooth, noise, and single values far from all others */
        ((uint16_t *)frame.plane[0])[k] = (uint16_t)(k % 5000 < 2500 ? k / 7 : model_chance(&seed, 50) ? 65535 : model_below(&seed, 9));
    require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
    require_ok(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size));
    film_append(&stream, bytes, size);
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    film_append(&stream, bytes, size);
    require_ok(decode(&stream, 0, &frames, &damaged));
    assert_int_equal(frames.size, (size_t)frame.bytes);
    assert_memory_equal(frames.at, frame.plane[0], (size_t)frame.bytes);
    tsr_dirac_encoder_destroy(&encoder);
    tsr_video_frame_destroy(&frame);
    free(stream.at);
    free(frames.at);
}

static void strict_decoders_refuse_it(void **state)
{
    const film f = { .format = { .width = 32, .height = 32, .chroma = TSR_CHROMA_420, .bits = 8 }, .contrast = 0.5 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_inspector *inspector = NULL;
    tsr_dirac_sequence sequence = TSR_DIRAC_SEQUENCE;
    film_bytes stream = { 0 }, frames = { 0 };
    int damaged = 0, more = 1, pictures = 0;
    int64_t bits = 0;
    (void)state;
    o.format = f.format;
    o.coding = TSR_DIRAC_CODING_STATISTICS;
    o.group = 1;
    film_encode(&f, 2, &o, &stream);
    assert_int_equal(decode(&stream, 1, &frames, &damaged), TSR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(tsr_error_message(), "profile is 116"));
    assert_int_equal(frames.size, 0);
    require_ok(tsr_dirac_inspector_create(&inspector));
    require_ok(tsr_dirac_inspector_push(inspector, stream.at, stream.size));
    require_ok(tsr_dirac_inspector_end(inspector));
    for (;;) {
        tsr_dirac_unit_info info = TSR_DIRAC_UNIT_INFO;
        require_ok(tsr_dirac_inspector_next(inspector, &info, &more));
        if (!more) break;
        if (!info.is_picture) continue;
        pictures++;
        assert_non_null(strstr(info.name, "private statistics coding"));
        assert_null(info.problem);
        for (int c = 0; c < 3; c++) bits += info.band_bits[c][0][0];
    }
    assert_int_equal(pictures, 2);
    assert_in_range(bits, 1, 8 * (int64_t)stream.size);
    require_ok(tsr_dirac_inspector_sequence(inspector, &sequence));
    assert_int_equal(sequence.profile, TSR_DIRAC_PROFILE_STATISTICS);
    tsr_dirac_inspector_destroy(&inspector);
    /* In a sequence of another profile its pictures are damage: here the profile in the header becomes 2. Its number is the third. */
    model_bits b = { 0 };
    model_uint(&b, 2);
    model_uint(&b, 2);
    const size_t profile = b.bits;
    free(b.bytes);
    model_bits other = { 0 };
    model_uint(&other, TSR_DIRAC_PROFILE_STATISTICS);
    assert_true(profile / 8 + 13 < stream.size);
    int found = 0;
    for (size_t at = 0; at + 16 < stream.size; at++)
        if (!memcmp(stream.at + at, "BBCD\0", 5)) {
            for (size_t k = 0; k < other.bits; k++) { /* the same length: 116 + 1 has 6 digits behind its first, as 64 has */
                const size_t bit = 8 * (at + 13) + profile + k;
                if (k % 2 && k < other.bits - 1) stream.at[bit / 8] &= (unsigned char)~(128 >> bit % 8);
            }
            found++;
        }
    free(other.bytes);
    assert_in_range(found, 1, 4);
    require_ok(decode(&stream, 0, &frames, &damaged));
    assert_int_equal(frames.size, 0);
    free(stream.at);
    free(frames.at);
}

static void damaged_streams_give_frames(void **state)
{
    uint64_t seed = test_seed();
    film_bytes stream = { 0 }, hurt = { 0 }, frames = { 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 8 : 60); turn++) {
        film f;
        tsr_dirac_encode_options o;
        int damaged = 0;
        if (turn % 10 == 0) {
            some_film(&seed, &f, &o);
            o.quantiser = 1 + model_below(&seed, 20);
            o.group = 1 + turn / 10 % 4;
            film_encode(&f, 4, &o, &stream);
        }
        hurt.size = 0;
        film_append(&hurt, stream.at, stream.size);
        for (int k = 0; k < 4; k++) hurt.at[model_between(&seed, 40, (int)hurt.size - 14)] ^= (unsigned char)model_between(&seed, 1, 255);
        if (turn % 3 == 0) hurt.size -= (size_t)model_below(&seed, (int)(hurt.size / 2));
        const tsr_status status = decode(&hurt, 0, &frames, &damaged);
        if (status != TSR_OK && status != TSR_ERROR_MEMORY && status != TSR_ERROR_UNSUPPORTED) require_ok(status);
    }
    free(stream.at);
    free(hurt.at);
    free(frames.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_those_of_arithmetic_coding), cmocka_unit_test(lossless_frames_come_back),
        cmocka_unit_test(large_pictures_are_cut_into_strips),    cmocka_unit_test(strict_decoders_refuse_it),
        cmocka_unit_test(damaged_streams_give_frames),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
