/* What goes through streams without their samples: the inspector, whose parts add up to what is there and which names what levels forbid; the
 * transcoder, whose results decode to the same frames; and streams that are damaged by a seed: what is lost is concealed and said, and what is
 * whole is right. */
#include "dirac_films.h"

enum { FRAMES = 9 };

static film some_film(void)
{
    return (film){ .format = { .width = 96, .height = 64, .chroma = TSR_CHROMA_420, .bits = 8 }, .speed = { 1.25, -0.75 }, .contrast = 0.3 };
}

static film_bytes some_stream(tsr_dirac_coding coding, int32_t group)
{
    const film f = some_film();
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    film_bytes stream = { 0 };
    o.coding = coding;
    o.format = f.format;
    if (coding >= TSR_DIRAC_CODING_ARITHMETIC) o.group = group;
    if (coding != TSR_DIRAC_CODING_LOW_DELAY) o.quantiser = 11;
    film_encode(&f, FRAMES, &o, &stream);
    return stream;
}

/* ---- inspector ------------------------------------------------------------------------------------------------------------------------------ */

static void parts_add_up(void **state)
{
    (void)state;
    for (int coding = 0; coding < 4; coding++) {
        film_bytes stream = some_stream((tsr_dirac_coding)coding, coding == 3 ? 1 : 5);
        tsr_dirac_inspector *inspector = NULL;
        tsr_dirac_sequence sequence = TSR_DIRAC_SEQUENCE;
        int64_t at = 0, pictures = 0, inter = 0;
        int more = 1;
        require_ok(tsr_dirac_inspector_create(&inspector));
        require_error(tsr_dirac_inspector_sequence(inspector, &sequence), TSR_ERROR_STATE, "no sequence header");
        require_ok(tsr_dirac_inspector_push(inspector, stream.at, stream.size / 2));
        require_ok(tsr_dirac_inspector_push(inspector, stream.at + stream.size / 2, stream.size - stream.size / 2));
        require_ok(tsr_dirac_inspector_end(inspector));
        for (;;) {
            tsr_dirac_unit_info u = TSR_DIRAC_UNIT_INFO;
            int64_t bits = 0;
            require_ok(tsr_dirac_inspector_next(inspector, &u, &more));
            if (!more) break;
            assert_int_equal(u.offset, at);
            assert_null(u.problem);
            at += u.bytes;
            if (!u.is_picture) continue;
            for (int c = 0; c < 3; c++)
                for (int level = 0; level < TSR_DIRAC_BAND_LEVELS; level++)
                    for (int band = 0; band < 4; band++) bits += u.band_bits[c][level][band];
            /* headers of the picture and of slices are what is not counted */
            const int64_t rest = 8 * u.bytes - bits - u.motion_bits - u.padding_bits, slices = (int64_t)u.slices[0] * u.slices[1];
            if (!(rest >= 8 * 17 && rest <= 8 * 40 + slices * 33)) fail_msg("coding %d: %lld bits of headers", coding, (long long)rest);
            pictures++;
            inter += u.references > 0;
            for (int32_t r = 0; r < u.references; r++) assert_true(u.reference[r] < FRAMES && u.reference[r] != u.number);
            assert_true((u.references > 0) == (u.motion_bits > 0));
        }
        require_ok(tsr_dirac_inspector_sequence(inspector, &sequence));
        assert_int_equal(sequence.width, 96);
        assert_int_equal(at, stream.size);
        assert_int_equal(pictures, FRAMES);
        assert_int_equal(inter, coding == 2 ? FRAMES - 2 : 0);
        tsr_dirac_inspector_destroy(&inspector);
        free(stream.at);
    }
}

/* A header by hand: version, profile, level, base format, then 8 flags and the coding mode; rate: the index of a frame rate of its own. */
static void put_code(unsigned char *to, int *at, uint32_t v)
{
    int digits = 0;
    while ((v + 1) >> (digits + 1)) digits++;
    for (int k = digits - 1; k >= 0; k--, *at += 2)
        if ((v + 1) >> k & 1) to[(*at + 1) / 8] = (unsigned char)(to[(*at + 1) / 8] | 0x80 >> (*at + 1) % 8);
    to[*at / 8] = (unsigned char)(to[*at / 8] | 0x80 >> *at % 8);
    ++*at;
}

static const char *problem_of_header(int32_t level, int32_t profile, int32_t base, int scan, int rate, int fields, char text[256])
{
    unsigned char unit[64] = { 'B', 'B', 'C', 'D', 0 }, *payload = unit + 13;
    int at = 0, more = 0;
    const uint32_t head[] = { 2, 0, (uint32_t)profile, (uint32_t)level, (uint32_t)base };
    for (int k = 0; k < 5; k++) put_code(payload, &at, head[k]);
    for (int flag = 0; flag < 8; flag++) {
        const int on = (flag == 2 && scan) || (flag == 3 && rate);
        if (on) payload[at / 8] = (unsigned char)(payload[at / 8] | 0x80 >> at % 8);
        at++;
        if (on) put_code(payload, &at, flag == 2 ? 0 : (uint32_t)rate);
    }
    put_code(payload, &at, (uint32_t)fields);
    const int size = 13 + (at + 7) / 8;
    unit[8] = (unsigned char)size;
    memcpy(unit + size, "BBCD\x10\0\0\0\0\0\0\0", 12);
    unit[size + 12] = (unsigned char)size;
    tsr_dirac_inspector *inspector = NULL;
    tsr_dirac_unit_info u = TSR_DIRAC_UNIT_INFO;
    require_ok(tsr_dirac_inspector_create(&inspector));
    require_ok(tsr_dirac_inspector_push(inspector, unit, (size_t)size + 13));
    require_ok(tsr_dirac_inspector_end(inspector));
    require_ok(tsr_dirac_inspector_next(inspector, &u, &more));
    assert_int_equal(more, 1);
    snprintf(text, 256, "%s", u.problem ? u.problem : "");
    tsr_dirac_inspector_destroy(&inspector);
    return text;
}

static void levels_are_checked(void **state)
{
    char text[256];
    (void)state;
    assert_string_equal(problem_of_header(0, 3, 3, 1, 3, 0, text), "");
    assert_string_equal(problem_of_header(3, 3, 13, 0, 0, 0, text), "");
    assert_string_equal(problem_of_header(3, 3, 11, 0, 0, 1, text), "");
    assert_string_equal(problem_of_header(3, 3, 11, 1, 0, 0, text), ""); /* interlaced as progressive */
    assert_string_equal(problem_of_header(4, 3, 15, 0, 11, 0, text), "");
    assert_non_null(strstr(problem_of_header(4, 3, 15, 0, 3, 0, text), "expected 48"));
    assert_non_null(strstr(problem_of_header(3, 3, 13, 0, 3, 0, text), "frame rate"));
    assert_non_null(strstr(problem_of_header(3, 3, 7, 0, 0, 1, text), "another level"));
    assert_non_null(strstr(problem_of_header(3, 3, 13, 0, 0, 1, text), "expected frames"));
    assert_non_null(strstr(problem_of_header(8, 3, 13, 0, 0, 0, text), "level is 8"));
    assert_non_null(strstr(problem_of_header(64, 3, 13, 0, 0, 0, text), "profile is 3, expected 0"));
    assert_string_equal(problem_of_header(64, 0, 13, 0, 0, 0, text), "");
}

/* The encoder's header of a level has no more of its own than the level allows, and what it says is the film. */
static void levels_are_written(void **state)
{
    static const struct {
        int32_t level, width, height, rate[2], aspect[2], interlaced, bits;
        tsr_chroma chroma;
        tsr_dirac_coding coding;
        int32_t base;
        uint32_t custom;
        int32_t slices[2];
        const char *error;
    } cases[] = {
        { 1, 352, 288, { 25, 2 }, { 12, 11 }, 0, 8, TSR_CHROMA_420, TSR_DIRAC_CODING_HIGH_QUALITY, 4, 0, { 11, 18 }, NULL },
        { 2, 720, 486, { 30000, 1001 }, { 10, 11 }, 2, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 7, 1, { 45, 31 }, NULL },
        { 65, 1280, 720, { 50, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_LOW_DELAY, 10, 0, { 80, 90 }, NULL },
        { 65, 1440, 1080, { 30000, 1001 }, { 4, 3 }, 1, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_LOW_DELAY, 11, 49, { 90, 68 }, NULL },
        { 65, 1440, 1080, { 25, 1 }, { 4, 3 }, 1, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_LOW_DELAY, 12, 49, { 90, 68 }, NULL },
        { 6, 3840, 2160, { 50, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 18, 0, { 120, 270 }, NULL },
        { 3, 1280, 720, { 25, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 0, 0, { 0 }, "differs in frame rate" },
        { 3, 1280, 720, { 50, 1 }, { 1, 1 }, 0, 8, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 0, 0, { 0 }, "differs in signal range" },
        { 3, 1280, 720, { 50, 1 }, { 1, 1 }, 1, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 0, 0, { 0 }, "differs in scan format" },
        { 65, 1280, 720, { 50, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 0, 0, { 0 }, "profile is 3, expected 0" },
        { 8, 1280, 720, { 50, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_HIGH_QUALITY, 0, 0, { 0 }, "level is 8" },
        { 3, 1280, 720, { 50, 1 }, { 1, 1 }, 0, 10, TSR_CHROMA_422, TSR_DIRAC_CODING_ARITHMETIC, 0, 0, { 0 }, "expected high-quality or low-delay" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_dirac_encoder *encoder = NULL;
        tsr_dirac_inspector *inspector = NULL;
        tsr_dirac_unit_info u = TSR_DIRAC_UNIT_INFO;
        tsr_dirac_sequence s = TSR_DIRAC_SEQUENCE;
        tsr_video_frame frame = { 0 };
        const void *bytes;
        size_t size;
        int more = 1, pictures = 0;
        o.format = (tsr_video_format){ .width = cases[k].width, .height = cases[k].height, .chroma = cases[k].chroma, .bits = cases[k].bits };
        if (cases[k].level == 1) o.format.range = TSR_RANGE_FULL;
        memcpy(o.rate, cases[k].rate, sizeof o.rate);
        memcpy(o.aspect, cases[k].aspect, sizeof o.aspect);
        o.interlaced = cases[k].interlaced;
        o.fields = cases[k].interlaced != 0;
        o.coding = cases[k].coding;
        o.level = cases[k].level;
        if (cases[k].error) {
            assert_int_equal(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT);
            assert_non_null(strstr(tsr_error_message(), cases[k].error));
            continue;
        }
        require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
        require_ok(tsr_video_frame_create(&o.format, &frame));
        require_ok(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size));
        require_ok(tsr_dirac_inspector_create(&inspector));
        require_ok(tsr_dirac_inspector_push(inspector, bytes, size));
        require_ok(tsr_dirac_inspector_end(inspector));
        for (;;) {
            require_ok(tsr_dirac_inspector_next(inspector, &u, &more));
            if (!more) break;
            if (u.problem) fail_msg("level %d: %s", cases[k].level, u.problem);
            if (!u.is_picture) continue;
            pictures++;
            assert_int_equal(u.slices[0], cases[k].slices[0]);
            assert_int_equal(u.slices[1], cases[k].slices[1]);
        }
        assert_int_equal(pictures, 1 + o.fields);
        require_ok(tsr_dirac_inspector_sequence(inspector, &s));
        assert_int_equal(s.level, cases[k].level);
        assert_int_equal(s.major_version, 2); /* colours that come with a base format need no version 3, those over SDI want 2 */
        assert_int_equal(s.base_format, cases[k].base);
        assert_int_equal(s.custom, cases[k].custom);
        assert_int_equal(s.width, cases[k].width);
        assert_int_equal(s.height, cases[k].height);
        assert_int_equal(s.luma_depth, cases[k].bits);
        assert_int_equal((int64_t)s.rate[0] * cases[k].rate[1], (int64_t)s.rate[1] * cases[k].rate[0]);
        tsr_video_frame_destroy(&frame);
        tsr_dirac_inspector_destroy(&inspector);
        tsr_dirac_encoder_destroy(&encoder);
    }
}

/* ---- transcoder ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status keep(void *user, const void *bytes, size_t size)
{
    film_append(user, bytes, size);
    return TSR_OK;
}

static film_bytes transcode(const film_bytes *const *streams, int count, const tsr_dirac_transcode_options *options, int64_t *pictures)
{
    film_bytes out = { 0 };
    tsr_dirac_transcoder *t = NULL;
    require_ok(tsr_dirac_transcoder_create(options, keep, &out, &t));
    for (int k = 0; k < count; k++) {
        for (size_t at = 0; at < streams[k]->size; at += 777)
            require_ok(tsr_dirac_transcoder_push(t, streams[k]->at + at, streams[k]->size - at < 777 ? streams[k]->size - at : 777));
        require_ok(tsr_dirac_transcoder_end(t, pictures));
    }
    tsr_dirac_transcoder_destroy(&t);
    return out;
}

static void count_damage(void *user, int64_t offset, const char *text)
{
    (void)offset;
    (void)text;
    ++*(int *)user;
}

/* All frames, one behind the other; numbers of pictures in `number`, which has room for `most`. */
static int decode(const film_bytes *stream, int strict, film_bytes *frames, uint32_t *number, int most, int *damaged, int *damage)
{
    tsr_dirac_decoder *decoder = NULL;
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_video_frame frame = { .bytes = 0 };
    int more = 1, count = 0;
    *damage = 0;
    o.strict = strict;
    o.damage = count_damage;
    o.user = damage;
    frames->size = 0;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (;;) {
        tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
        const tsr_status status = tsr_dirac_decoder_next(decoder, &frame, &info, &more);
        if (!strict && status == TSR_ERROR_FORMAT) break; /* no header was left */
        require_ok(status);
        if (!more) break;
        if (count < most) {
            number[count] = info.number;
            if (damaged) damaged[count] = info.damaged;
            film_append(frames, frame.plane[0], (size_t)frame.bytes);
        }
        count++;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    return count;
}

static void fragments_and_back(void **state)
{
    (void)state;
    for (int coding = 0; coding < 2; coding++) {
        film_bytes stream = some_stream((tsr_dirac_coding)coding, 0), frames[2] = { { 0 } };
        const film_bytes *in = &stream;
        tsr_dirac_transcode_options o = TSR_DIRAC_TRANSCODE_OPTIONS;
        uint32_t number[FRAMES];
        int64_t pictures = 0;
        int damage;
        o.fragment = 5;
        film_bytes fragments = transcode(&in, 1, &o, &pictures);
        assert_int_equal(pictures, FRAMES);
        assert_int_equal(decode(&stream, 1, &frames[0], number, FRAMES, NULL, &damage), FRAMES);
        assert_int_equal(decode(&fragments, 1, &frames[1], number, FRAMES, NULL, &damage), FRAMES);
        assert_memory_equal(frames[0].at, frames[1].at, frames[0].size);
        o = (tsr_dirac_transcode_options)TSR_DIRAC_TRANSCODE_OPTIONS;
        o.whole = 1;
        in = &fragments;
        film_bytes whole = transcode(&in, 1, &o, &pictures);
        assert_int_equal(decode(&whole, 1, &frames[1], number, FRAMES, NULL, &damage), FRAMES);
        assert_memory_equal(frames[0].at, frames[1].at, frames[0].size);
        assert_true(whole.size < fragments.size);
        free(stream.at);
        free(fragments.at);
        free(whole.at);
        free(frames[0].at);
        free(frames[1].at);
    }
}

/* MD5s and padding go with the picture behind them: a copy has every byte, and what is joined behind a cut is not held against MD5s of pictures that
 * were left out. */
static void what_belongs_to_pictures(void **state)
{
    const film f = some_film();
    film_bytes stream = { 0 }, frames = { 0 };
    tsr_dirac_encode_options e = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_transcode_options o = TSR_DIRAC_TRANSCODE_OPTIONS;
    uint32_t number[2 * FRAMES];
    int64_t pictures = 0;
    int damage;
    (void)state;
    e.coding = TSR_DIRAC_CODING_ARITHMETIC;
    e.group = 5;
    e.format = f.format;
    e.checksum = 1;
    film_encode(&f, FRAMES, &e, &stream);
    const film_bytes *in[2] = { &stream, &stream };
    film_bytes copy = transcode(in, 1, &o, &pictures);
    assert_int_equal(copy.size, stream.size);
    assert_memory_equal(copy.at, stream.at, stream.size);
    o.count = 4;
    film_bytes head = transcode(in, 1, &o, &pictures);
    in[0] = &head;
    o.count = 0;
    film_bytes joined = transcode(in, 2, &o, &pictures);
    assert_int_equal(joined.size, head.size + stream.size);
    assert_int_equal(decode(&joined, 1, &frames, number, 2 * FRAMES, NULL, &damage), 4 + FRAMES);
    free(stream.at);
    free(copy.at);
    free(head.at);
    free(joined.at);
    free(frames.at);
}

/* Groups of 5: from picture 6 of the coded order on, that is the group that begins with picture 5. */
static void cuts_and_joins(void **state)
{
    film_bytes stream = some_stream(TSR_DIRAC_CODING_ARITHMETIC, 5), frames[2] = { { 0 } };
    const film_bytes *in[2] = { &stream, &stream };
    tsr_dirac_transcode_options o = TSR_DIRAC_TRANSCODE_OPTIONS;
    uint32_t number[2 * FRAMES];
    int64_t pictures = 0;
    int damage;
    (void)state;
    decode(&stream, 1, &frames[0], number, FRAMES, NULL, &damage);
    film_bytes joined = transcode(in, 2, &o, &pictures);
    assert_int_equal(pictures, 2 * FRAMES);
    assert_int_equal(decode(&joined, 1, &frames[1], number, 2 * FRAMES, NULL, &damage), 2 * FRAMES);
    assert_memory_equal(frames[1].at, frames[0].at, frames[0].size);
    assert_memory_equal(frames[1].at + frames[0].size, frames[0].at, frames[0].size);
    o.count = 4; /* pictures 0, 3, 1, 2 */
    film_bytes head = transcode(in, 1, &o, &pictures);
    assert_int_equal(pictures, 4);
    assert_int_equal(decode(&head, 1, &frames[1], number, FRAMES, NULL, &damage), 4);
    assert_memory_equal(frames[1].at, frames[0].at, frames[1].size);
    o.first = 7; /* within the second group: it is entered at its intra picture, 5 */
    o.count = 0;
    film_bytes tail = transcode(in, 1, &o, &pictures);
    const int count = decode(&tail, 0, &frames[1], number, FRAMES, NULL, &damage);
    const size_t each = frames[0].size / FRAMES;
    assert_true(count >= 3 && pictures == 9 - 4);
    for (int k = 0; k < count; k++)
        if (number[k] >= 5) assert_memory_equal(frames[1].at + (size_t)k * each, frames[0].at + number[k] * each, each);
    free(stream.at);
    free(joined.at);
    free(head.at);
    free(tail.at);
    free(frames[0].at);
    free(frames[1].at);
}

static void wrong_streams_are_named(void **state)
{
    tsr_dirac_transcode_options o = TSR_DIRAC_TRANSCODE_OPTIONS;
    tsr_dirac_transcoder *t = NULL;
    film_bytes out = { 0 }, stream = some_stream(TSR_DIRAC_CODING_HIGH_QUALITY, 0);
    (void)state;
    o.fragment = 1;
    o.whole = 1;
    require_error(tsr_dirac_transcoder_create(&o, keep, &out, &t), TSR_ERROR_ARGUMENT, "one of them");
    o.whole = 0;
    o.first = -1;
    require_error(tsr_dirac_transcoder_create(&o, keep, &out, &t), TSR_ERROR_ARGUMENT, "first is -1");
    o.first = 0;
    require_ok(tsr_dirac_transcoder_create(&o, keep, &out, &t));
    require_error(tsr_dirac_transcoder_end(t, NULL), TSR_ERROR_FORMAT, "no sequence header");
    tsr_dirac_transcoder_destroy(&t);
    require_ok(tsr_dirac_transcoder_create(&o, keep, &out, &t));
    stream.at[stream.size / 2] ^= 0; /* whole so far; now without its last bytes */
    require_ok(tsr_dirac_transcoder_push(t, stream.at, stream.size - 40));
    require_error(tsr_dirac_transcoder_end(t, NULL), TSR_ERROR_FORMAT, "at byte ");
    tsr_dirac_transcoder_destroy(&t);
    free(stream.at);
    free(out.at);
}

/* ---- damage --------------------------------------------------------------------------------------------------------------------------------- */

/* The data units of a stream. */
static int units_of(const film_bytes *s, size_t at[64], size_t size[64])
{
    int count = 0;
    for (size_t p = 0; p < s->size && count < 64; count++) {
        at[count] = p;
        size[count] = s->at[p + 4] == 0x10 ? 13 : (size_t)s->at[p + 5] << 24 | (size_t)s->at[p + 6] << 16 | (size_t)s->at[p + 7] << 8 | s->at[p + 8];
        p += size[count];
    }
    return count;
}

/* One unit is lost, cut, or has bytes changed, by the seed. Everything that is not predicted from the picture it hit is right; something is said
 * of the rest. */
static void damage_is_concealed_and_said(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int coding = 0; coding < 3; coding++) {
        film_bytes stream = some_stream((tsr_dirac_coding)coding, 5), whole = { 0 }, part = { 0 }, spoiled = { 0 };
        uint32_t number[2 * FRAMES];
        size_t at[64], size[64];
        int damage;
        decode(&stream, 1, &whole, number, FRAMES, NULL, &damage);
        const size_t each = whole.size / FRAMES;
        const int units = units_of(&stream, at, size);
        for (int turn = 0; turn < (test_is_slow() ? 6 : 24); turn++) {
            int victim = 1 + (int)(test_random(&seed) % (unsigned)(units - 2));
            while (!(stream.at[at[victim] + 4] & 8)) victim = 1 + (int)(test_random(&seed) % (unsigned)(units - 2));
            const unsigned char *p = stream.at + at[victim];
            const uint32_t hit = (uint32_t)p[13] << 24 | (uint32_t)p[14] << 16 | (uint32_t)p[15] << 8 | p[16];
            const int code = p[4], kind = turn % 3, reference = coding == 2 && (code & 4), intra = !(code & 3);
            spoiled.size = 0;
            film_append(&spoiled, stream.at, at[victim]);
            if (kind == 1) film_append(&spoiled, p, 17 + (size[victim] - 17) / 2); /* cut */
            if (kind == 2) {
                film_append(&spoiled, p, size[victim]);
                for (int k = 0; k < 6; k++)
                    spoiled.at[at[victim] + 17 + test_random(&seed) % (size[victim] - 17)] ^= (unsigned char)(1u << test_random(&seed) % 8);
            }
            film_append(&spoiled, p + size[victim], stream.size - at[victim] - size[victim]);
            int damaged[2 * FRAMES];
            const int count = decode(&spoiled, 0, &part, number, 2 * FRAMES, damaged, &damage);
            assert_true(count <= FRAMES && count >= FRAMES - (kind == 0 || coding == 2) * FRAMES);
            if (kind != 2) assert_true(kind == 0 && !reference ? 1 : damage > 0);
            for (int k = 0; k < count; k++) {
                /* groups begin at 0 and 5; what a reference hit spoils lies in its group, or between it and the one before */
                const int own = number[k] == hit, same = coding == 2 && (reference ? (hit < 5 ? number[k] < 5 || intra : number[k] > hit - 3) : 0);
                if (own || same) continue;
                if (number[k] < FRAMES && memcmp(part.at + (size_t)k * each, whole.at + number[k] * each, each) != 0)
                    fail_msg("coding %d, kind %d, picture %u hit: picture %u differs", coding, kind, hit, number[k]);
            }
        }
        free(stream.at);
        free(whole.at);
        free(part.at);
        free(spoiled.at);
    }
}

static void frames_are_compared(void **state)
{
    const film f = some_film();
    tsr_video_frame a = { .bytes = 0 }, b = { .bytes = 0 };
    tsr_video_quality q = TSR_VIDEO_QUALITY;
    (void)state;
    film_frame(&f, 0, &a);
    film_frame(&f, 0, &b);
    require_ok(tsr_video_compare(&a, &b, &q));
    assert_true(isinf(q.psnr[0]) && q.error[1] == 0 && fabs(q.ssim - 1) < 1e-12);
    for (int64_t k = 0; k < a.bytes; k++) ((uint8_t *)b.plane[0])[k] = (uint8_t)(((uint8_t *)a.plane[0])[k] + 2); /* an error of 4 */
    require_ok(tsr_video_compare(&a, &b, &q));
    assert_true(fabs(q.error[2] - 4) < 1e-12 && fabs(q.psnr[0] - 42.11020) < 1e-4 && q.ssim > 0.99 && q.ssim < 1);
    tsr_video_frame_destroy(&b);
    require_error(tsr_video_compare(&a, &b, &q), TSR_ERROR_ARGUMENT, "expected the same of both");
    tsr_video_frame_destroy(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parts_add_up),
                                        cmocka_unit_test(levels_are_checked),
                                        cmocka_unit_test(levels_are_written),
                                        cmocka_unit_test(fragments_and_back),
                                        cmocka_unit_test(cuts_and_joins),
                                        cmocka_unit_test(what_belongs_to_pictures),
                                        cmocka_unit_test(wrong_streams_are_named),
                                        cmocka_unit_test(damage_is_concealed_and_said),
                                        cmocka_unit_test(frames_are_compared) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
