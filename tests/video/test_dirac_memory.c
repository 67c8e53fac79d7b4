/* A decoder holds at most 12 pictures' bytes beyond the references and the caller's frame, in the codings and formats below; and with a profile, which
 * takes the stages one by one where a device else records them, frames are the same. */
#include "dirac_films.h"
#include "dirac_held.h"

enum {
    SHOWN = 7,       /* frames */
    STEADY = 1 << 18 /* bytes that do not grow with pictures, which are small here: of the stream, of the decoder itself */
};

static tsr_context *on_cpu;

/* A pattern that moves, with noise; quick to make. */
static void some_frame(int t, tsr_video_frame *frame)
{
    const int32_t shift = frame->format.bits - 8;
    uint32_t noise = (uint32_t)t;
    for (int c = 0; c < 3; c++)
        for (int32_t y = 0; y < frame->height[c]; y++)
            for (int32_t x = 0; x < frame->width[c]; x++) {
                const int32_t u = x + 2 * t, v = y + SHOWN - t, /* above 0 */
                    value = 40 + ((u / 3) ^ (v / 5)) % 128 + (int32_t)((noise = noise * 1664525u + 1013904223u) >> 28);
                const int64_t at = (int64_t)y * frame->width[c] + x;
                if (shift) ((uint16_t *)frame->plane[c])[at] = (uint16_t)(value << shift);
                else ((uint8_t *)frame->plane[c])[at] = (uint8_t)value;
            }
}

/* SHOWN frames; bytes of one. */
static int64_t encode_on_cpu(const tsr_dirac_encode_options *options, film_bytes *stream)
{
    tsr_dirac_encoder *encoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    const void *bytes = NULL;
    size_t size = 0;
    require_ok(tsr_video_frame_create(&options->format, &frame));
    require_ok(tsr_dirac_encoder_create(on_cpu, options, &encoder));
    for (int t = 0; t < SHOWN; t++) {
        some_frame(t, &frame);
        require_ok(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size));
        film_append(stream, bytes, size);
    }
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    film_append(stream, bytes, size);
    const int64_t of_one = frame.bytes;
    tsr_dirac_encoder_destroy(&encoder);
    tsr_video_frame_destroy(&frame);
    return of_one;
}

static tsr_dirac_encode_options some_options(int32_t width, int32_t height, tsr_chroma chroma, int32_t bits, tsr_dirac_coding coding, int32_t group)
{
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    o.format = (tsr_video_format){ .width = width, .height = height, .chroma = chroma, .bits = bits };
    o.coding = coding;
    o.quantiser = 13;
    o.preset = TSR_DIRAC_FAST;
    o.group = group;
    return o;
}

static void few_pictures_are_held(void **state)
{
    static const struct {
        const char *what;
        tsr_chroma chroma;
        int32_t bits;
        tsr_dirac_coding coding;
        int32_t group;
    } cases[] = {
        { "long groups, 4:2:0", TSR_CHROMA_420, 8, TSR_DIRAC_CODING_ARITHMETIC, 0 },
        { "intra, 4:2:0", TSR_CHROMA_420, 8, TSR_DIRAC_CODING_ARITHMETIC, 1 },
        { "intra, 4:2:2, 10 bits", TSR_CHROMA_422, 10, TSR_DIRAC_CODING_ARITHMETIC, 1 },
        { "long groups, 4:4:4", TSR_CHROMA_444, 8, TSR_DIRAC_CODING_ARITHMETIC, 0 },
        { "long groups, 4:2:0, 10 bits", TSR_CHROMA_420, 10, TSR_DIRAC_CODING_ARITHMETIC, 0 },
        { "high quality, 4:2:2, 10 bits", TSR_CHROMA_422, 10, TSR_DIRAC_CODING_HIGH_QUALITY, 1 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const tsr_dirac_encode_options o = some_options(960, 540, cases[k].chroma, cases[k].bits, cases[k].coding, cases[k].group);
        film_bytes stream = { NULL, 0, 0 };
        int64_t most = 0, references = 0;
        const int64_t of_one = encode_on_cpu(&o, &stream);
        require_ok(dirac_held(context, stream.at, stream.size, &most, &references));
        print_message("%s: %.2f pictures\n", cases[k].what, (double)most / (double)of_one);
        if (most > DIRAC_HELD_MOST * of_one + STEADY)
            fail_msg("%s: %lld bytes beyond references, expected at most %d pictures of %lld", cases[k].what, (long long)most, DIRAC_HELD_MOST,
                     (long long)of_one);
        free(stream.at);
    }
}

/* The frames of a stream, one behind the other. */
static void decode_all(const film_bytes *stream, tsr_dirac_profile *profile, film_bytes *frames)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    int more = 1;
    o.profile = profile;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (;;) {
        require_ok(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
        if (!more) break;
        film_append(frames, frame.plane[0], (size_t)frame.bytes);
    }
    tsr_dirac_decoder_destroy(&decoder);
    tsr_video_frame_destroy(&frame);
}

static void profiles_change_nothing(void **state)
{
    static const tsr_chroma chroma[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    (void)state;
    for (size_t k = 0; k < sizeof chroma / sizeof *chroma; k++) {
        const tsr_dirac_encode_options o = some_options(176, 112, chroma[k], k == 1 ? 10 : 8, TSR_DIRAC_CODING_ARITHMETIC, 0);
        tsr_dirac_profile profile = TSR_DIRAC_PROFILE;
        film_bytes stream = { NULL, 0, 0 }, plain = { NULL, 0, 0 }, profiled = { NULL, 0, 0 };
        profile.synchronise = 1;
        encode_on_cpu(&o, &stream);
        decode_all(&stream, NULL, &plain);
        decode_all(&stream, &profile, &profiled);
        assert_int_equal(plain.size, profiled.size);
        assert_memory_equal(plain.at, profiled.at, plain.size);
        assert_int_equal(profile.pictures[0] + profile.pictures[1] + profile.pictures[2], SHOWN);
        assert_true(profile.pictures[1] + profile.pictures[2] > 0);
        for (int kind = 1; kind < 3; kind++) {
            if (!profile.pictures[kind]) continue;
            assert_true(profile.seconds[TSR_DIRAC_MOTION_RENDER][kind] > 0);
            assert_true((profile.seconds[TSR_DIRAC_COMBINE][kind] > 0) == (context->device.kind == TSR_DEVICE_CPU)); /* a device stores at once */
        }
        free(stream.at);
        free(plain.at);
        free(profiled.at);
    }
}

static int open_both(void **state)
{
    on_cpu = test_context_on("cpu", 2);
    return open_context(state);
}
static int close_both(void **state)
{
    tsr_context_destroy(&on_cpu);
    return close_context(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(few_pictures_are_held), cmocka_unit_test(profiles_change_nothing) };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
