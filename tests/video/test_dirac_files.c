/* What the files of streams have around pictures: checksums, which an MD5 written here from [RFC1321] confirms, and containers by ffmpeg. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dirac_films.h"

/* ---- MD5, as the RFC describes it ------------------------------------------------------------------------------------------------------------ */

static uint32_t rotate(uint32_t v, int n) { return v << n | v >> (32 - n); }

static void md5_block(uint32_t s[4], const unsigned char *p)
{
    uint32_t x[16], a = s[0], b = s[1], c = s[2], d = s[3];
    memcpy(x, p, 64); /* little-endian machines */
    for (int i = 0; i < 64; i++) {
        static const int turn[16] = { 7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21 };
        const uint32_t t = (uint32_t)(int64_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
        uint32_t f;
        int k;
        if (i < 16) f = (b & c) | (~b & d), k = i;
        else if (i < 32) f = (b & d) | (c & ~d), k = (5 * i + 1) % 16;
        else if (i < 48) f = b ^ c ^ d, k = (3 * i + 5) % 16;
        else f = c ^ (b | ~d), k = 7 * i % 16;
        const uint32_t next = b + rotate(a + f + x[k] + t, turn[i / 16 * 4 + i % 4]);
        a = d, d = c, c = b, b = next;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d;
}

/* Of rows filled up to 64 bytes, every `step`-th from `first` on: what auxiliary data of a picture have. */
static void expected_digest(const tsr_video_frame *frame, int first, int step, unsigned char digest[16])
{
    uint32_t s[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    const int bytes = frame->format.bits > 8 ? 2 : 1;
    for (int c = 0; c < 3; c++)
        for (int32_t y = first; y < frame->height[c]; y += step) {
            const unsigned char *row = (const unsigned char *)frame->plane[c] + (size_t)y * frame->width[c] * bytes;
            for (int32_t x = 0; x < frame->width[c] * bytes; x += 64) {
                unsigned char block[64] = { 0 };
                const int32_t left = frame->width[c] * bytes - x;
                memcpy(block, row + x, left < 64 ? (size_t)left : 64);
                md5_block(s, block);
            }
        }
    memcpy(digest, s, 16);
}

/* ---- streams -------------------------------------------------------------------------------------------------------------------------------- */

enum { FRAMES = 7 };

typedef struct told {
    char text[4096];
} told;

static void keep(void *user, int64_t offset, const char *text)
{
    told *t = user;
    const size_t used = strlen(t->text);
    (void)offset;
    snprintf(t->text + used, sizeof t->text - used, "%s\n", text);
}

typedef struct frames {
    tsr_video_frame frame[FRAMES];
    int count, damaged;
} frames;

static void decode(const film_bytes *stream, frames *to, told *t)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    int more = 1;
    *t = (told){ .text = "" };
    *to = (frames){ .count = 0 };
    o.damage = keep;
    o.user = t;
    o.ahead = 3;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    while (more) {
        tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
        tsr_video_frame frame = { 0 };
        require_ok(tsr_dirac_decoder_next(decoder, &frame, &info, &more));
        if (!more) break;
        assert_true(to->count < FRAMES);
        to->frame[to->count++] = frame;
        to->damaged += info.damaged;
    }
    tsr_dirac_decoder_destroy(&decoder);
}

static void forget(frames *f)
{
    for (int k = 0; k < f->count; k++) tsr_video_frame_destroy(&f->frame[k]);
}

/* The n-th unit with this parse code; its size. NULL: there is none. */
static unsigned char *unit_of(const film_bytes *s, int code, int n, size_t *size)
{
    for (size_t p = 0; p + 13 <= s->size; p += *size) {
        *size = (size_t)s->at[p + 5] << 24 | (size_t)s->at[p + 6] << 16 | (size_t)s->at[p + 7] << 8 | s->at[p + 8];
        if (s->at[p + 4] == 0x10) *size = 13;
        if (s->at[p + 4] == code && n-- == 0) return s->at + p;
    }
    return NULL;
}

static void checksums(void **state)
{
    (void)state;
    for (int kind = 0; kind < (test_watches_threads() ? 2 : 6); kind++) {
        film f = { .format = { .width = 150, .height = 96, .chroma = kind % 2 ? TSR_CHROMA_422 : TSR_CHROMA_420, .bits = kind % 3 == 2 ? 10 : 8 },
                   .speed = { 1.5, -0.5 },
                   .contrast = 0.4 };
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        film_bytes stream = { 0 };
        frames shown;
        told t;
        size_t size = 0;
        o.format = f.format;
        o.checksum = 1;
        o.fields = kind == 3 || kind == 4;
        o.interlaced = o.fields ? 1 : 0;
        o.ahead = 3;
        if (kind < 4) o.coding = kind % 2 ? TSR_DIRAC_CODING_VARIABLE : TSR_DIRAC_CODING_ARITHMETIC;
        if (kind == 3) o.coding = TSR_DIRAC_CODING_ARITHMETIC;
        if (kind < 4) o.quantiser = 16;
        else o.lossless = 1;
        if (kind == 5) o.fragment = 5;
        film_encode(&f, FRAMES, &o, &stream);
        decode(&stream, &shown, &t);
        assert_string_equal(t.text, "");
        assert_int_equal(shown.count, FRAMES);
        assert_int_equal(shown.damaged, 0);
        const int step = o.fields ? 2 : 1;
        for (int n = 0; n < FRAMES * step; n++) { /* coded order: each digest is that of some picture, and of intra pictures alone of this one */
            const unsigned char *unit = unit_of(&stream, 0x20, n, &size);
            int found = 0;
            assert_non_null(unit);
            assert_int_equal(size, 30);
            assert_int_equal(unit[13], 3);
            for (int k = 0; k < FRAMES && !found; k++)
                for (int field = 0; field < step && !found; field++) {
                    unsigned char digest[16];
                    expected_digest(&shown.frame[k], field, step, digest);
                    found = !memcmp(digest, unit + 14, 16);
                }
            if (!found) fail_msg("kind %d: digest %d is none of the pictures'", kind, n);
        }
        forget(&shown);
        unit_of(&stream, 0x20, 2, &size)[20] ^= 1; /* one that is wrong: said, and the frame is marked */
        decode(&stream, &shown, &t);
        assert_non_null(strstr(t.text, "its samples are not those whose MD5 the stream has"));
        assert_int_equal(shown.damaged, 1);
        forget(&shown);
        free(stream.at);
    }
    film f = { .format = { .width = 32, .height = 32, .bits = 8 }, .contrast = 0.3 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_encoder *encoder = NULL;
    o.format = f.format;
    o.checksum = 1;
    o.quantiser = 5;
    require_error(tsr_dirac_encoder_create(context, &o, &encoder), TSR_ERROR_ARGUMENT, "checksum");
}

/* ---- anatomy -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct seen {
    int pictures, predicted, blocks, moved;
    int least[2 * FRAMES], most[2 * FRAMES];
} seen;

static void look(void *user, const tsr_dirac_anatomy *a)
{
    seen *s = user;
    assert_true(s->pictures < 2 * FRAMES);
    int least = 255, most = 0;
    for (int k = 0; k < a->slices[0] * a->slices[1]; k++) {
        if (a->quantiser[k] < least) least = a->quantiser[k];
        if (a->quantiser[k] > most) most = a->quantiser[k];
    }
    s->least[s->pictures] = least;
    s->most[s->pictures++] = most;
    s->predicted += a->references > 0;
    assert_true((a->references > 0) == (a->block != NULL));
    for (int k = 0; k < a->blocks[0] * a->blocks[1]; k++)
        for (int r = 0; r < a->references; r++) {
            const int distance = (int)(a->number - a->reference[r]); /* the film moves by (-1, 2) samples a frame; it was that far the other way */
            if (!(a->block[k].mode >> r & 1)) continue;
            s->blocks++;
            s->moved += a->block[k].vector[r][0] == distance * (1 << a->precision) && a->block[k].vector[r][1] == -2 * distance * (1 << a->precision);
        }
}

/* Quantisers are those that the inspector reads, vectors the motion that the film has. */
static void anatomy(void **state)
{
    (void)state;
    for (int kind = test_watches_threads() ? 2 : 0; kind < 4; kind++) {
        film f = { .format = { .width = 192, .height = 128, .chroma = TSR_CHROMA_420, .bits = 8 }, .speed = { -1, 2 }, .contrast = 0.4 };
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
        tsr_dirac_decoder *decoder = NULL;
        tsr_dirac_inspector *inspector = NULL;
        tsr_video_frame frame = { 0 };
        film_bytes stream = { 0 };
        seen s = { 0 };
        int picture = 0;
        o.format = f.format;
        o.coding = kind == 3 ? TSR_DIRAC_CODING_ARITHMETIC : kind == 2 ? TSR_DIRAC_CODING_LOW_DELAY : TSR_DIRAC_CODING_HIGH_QUALITY;
        if (kind < 3) o.picture_bytes = 6000;
        else o.quantiser = 9;
        if (kind == 1) o.fragment = 5;
        film_encode(&f, FRAMES, &o, &stream);
        options.anatomy = look;
        options.user = &s;
        options.ahead = 2;
        require_ok(tsr_dirac_decoder_create(context, &options, &decoder));
        require_ok(tsr_dirac_decoder_push(decoder, stream.at, stream.size));
        require_ok(tsr_dirac_decoder_end(decoder));
        for (int more = 1; more;) require_ok(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
        assert_int_equal(s.pictures, FRAMES);
        assert_int_equal(s.predicted, kind == 3 ? FRAMES - 1 : 0);
        if (kind == 3 && s.moved * 10 < s.blocks * 8) fail_msg("%d of %d vectors are those of the film", s.moved, s.blocks);
        require_ok(tsr_dirac_inspector_create(&inspector));
        require_ok(tsr_dirac_inspector_push(inspector, stream.at, stream.size));
        require_ok(tsr_dirac_inspector_end(inspector));
        int least = 255, most = 0;
        for (int more = 1; more && kind < 3;) {
            tsr_dirac_unit_info u = TSR_DIRAC_UNIT_INFO;
            require_ok(tsr_dirac_inspector_next(inspector, &u, &more));
            if (more && u.is_picture && u.quantiser_least >= 0) {
                least = u.quantiser_least < least ? u.quantiser_least : least;
                most = u.quantiser_most > most ? u.quantiser_most : most;
            }
            if ((!more || (u.is_picture && (!u.fragment[1] ? kind != 1 : u.fragment[0] + u.fragment[1] == u.slices[0] * u.slices[1]))) &&
                picture < FRAMES) {
                assert_int_equal(s.least[picture], least);
                assert_int_equal(s.most[picture++], most);
                least = 255;
                most = 0;
            }
        }
        assert_int_equal(picture, kind < 3 ? FRAMES : 0);
        tsr_dirac_inspector_destroy(&inspector);
        tsr_dirac_decoder_destroy(&decoder);
        tsr_video_frame_destroy(&frame);
        free(stream.at);
    }
}

/* ---- containers ----------------------------------------------------------------------------------------------------------------------------- */

static int have_ffmpeg(void) { return system("ffmpeg -v quiet -muxers 2>/dev/null | grep -q matroska") == 0; }

static void read_all(const char *path, film_bytes *stream)
{
    tsr_dirac_source *source = NULL;
    char piece[1000];
    size_t got = 1;
    stream->size = 0;
    require_ok(tsr_dirac_source_create(path, &source));
    while (got) {
        require_ok(tsr_dirac_source_read(source, piece, sizeof piece, &got));
        film_append(stream, piece, got);
    }
    tsr_dirac_source_destroy(&source);
}

static void containers(void **state)
{
    static const char *const extensions[] = { "vc2", "mkv", "mp4", "mov", "avi", "nut", "ts" };
    (void)state;
    if (!have_ffmpeg()) skip();
    for (int k = 0; k < 14; k++) {
        if (test_is_slow() && k % 2 != k / 2 % 2) continue; /* each container, and each coding in some of them */
        film f = { .format = { .width = 96, .height = 64, .chroma = TSR_CHROMA_420, .bits = 8 }, .speed = { 1.5, -0.5 }, .contrast = 0.4 };
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        tsr_dirac_writer *writer = NULL;
        tsr_video_frame frame = { 0 };
        film_bytes stream = { 0 }, back = { 0 };
        frames expected, shown;
        told t;
        char path[64];
        snprintf(path, sizeof path, "/tmp/tessera-%d-%d.%s", (int)getpid(), k, extensions[k / 2]);
        o.format = f.format;
        o.coding = k % 2 ? TSR_DIRAC_CODING_ARITHMETIC : TSR_DIRAC_CODING_HIGH_QUALITY;
        o.rate[0] = 30000;
        o.rate[1] = 1001;
        o.quantiser = 14;
        film_encode(&f, FRAMES, &o, &stream);
        require_ok(tsr_dirac_writer_create(context, path, &o, &write, &writer));
        for (int n = 0; n < FRAMES; n++) {
            film_frame(&f, n, &frame);
            require_ok(tsr_dirac_writer_append(writer, &frame));
        }
        require_ok(tsr_dirac_writer_finish(&writer));
        tsr_video_frame_destroy(&frame);
        assert_int_equal(tsr_dirac_recognise(path), 1);
        read_all(path, &back);
        decode(&stream, &expected, &t);
        decode(&back, &shown, &t);
        assert_string_equal(t.text, "");
        assert_int_equal(shown.count, FRAMES);
        for (int n = 0; n < FRAMES; n++) assert_memory_equal(shown.frame[n].plane[0], expected.frame[n].plane[0], (size_t)expected.frame[n].bytes);
        unlink(path);
        forget(&expected);
        forget(&shown);
        free(stream.at);
        free(back.at);
    }
}

/* What ffmpeg cannot take is said, and nothing is left behind. */
static void containers_that_cannot(void **state)
{
    film f = { .format = { .width = 96, .height = 64, .chroma = TSR_CHROMA_420, .bits = 8 }, .contrast = 0.4 };
    (void)state;
    if (!have_ffmpeg()) skip();
    for (int fields = 0; fields < 2; fields++) {
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        tsr_dirac_writer *writer = NULL;
        tsr_video_frame frame = { 0 };
        char path[64];
        snprintf(path, sizeof path, "/tmp/tessera-%d-x.%s", (int)getpid(), fields ? "mkv" : "mxf");
        o.format = f.format;
        o.quantiser = 14;
        o.fields = fields;
        o.interlaced = fields;
        require_ok(tsr_dirac_writer_create(context, path, &o, &write, &writer));
        film_frame(&f, 0, &frame);
        tsr_status status = tsr_dirac_writer_append(writer, &frame);
        if (status == TSR_OK) status = tsr_dirac_writer_finish(&writer);
        assert_int_not_equal(status, TSR_OK);
        if (!strstr(tsr_error_message(), fields ? "pictures are fields" : "mxf")) fail_msg("'%s'", tsr_error_message());
        tsr_dirac_writer_destroy(&writer);
        tsr_video_frame_destroy(&frame);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(tsr_dirac_recognise(path), 0);
    }
}

/* Who reads a pipe has each picture, and each frame, when the call that made it returns. */
static void pipes_get_pictures_as_they_come(void **state)
{
    const film f = { .format = { .width = 32, .height = 32, .chroma = TSR_CHROMA_420, .bits = 8 }, .speed = { 1, 0 }, .contrast = 0.3 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_video_write_options as_film = TSR_VIDEO_WRITE_OPTIONS;
    tsr_write_options over = TSR_WRITE_OPTIONS;
    tsr_dirac_writer *stream = NULL;
    tsr_video_writer *films = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    char path[64], got[8192];
    int64_t read_so_far = 0;
    (void)state;
    snprintf(path, sizeof path, "pipe-%d", (int)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    o.format = f.format;
    over.overwrite = as_film.overwrite = 1;
    as_film.format = "y4m";
    as_film.chroma = TSR_CHROMA_420;
    require_ok(tsr_dirac_writer_create(context, path, &o, &over, &stream));
    for (int t = 0; t < 3; t++) {
        film_frame(&f, t, &frame);
        require_ok(tsr_dirac_writer_append(stream, &frame));
        read_so_far += read(reader, got, sizeof got);
        assert_int_equal(read_so_far, tsr_dirac_writer_bytes(stream));
        assert_true(read_so_far > 20 * (t + 1));
    }
    tsr_dirac_writer_destroy(&stream);
    require_ok(tsr_video_writer_create(path, 32, 32, 25, 1, &as_film, &films));
    for (int t = 0; t < 3; t++) {
        require_ok(tsr_video_writer_append_frame(films, &frame));
        const int64_t size = read(reader, got, sizeof got);
        assert_true(size >= 6 + frame.bytes);
        assert_memory_equal(got + size - frame.bytes, frame.plane[0], (size_t)frame.bytes);
    }
    tsr_video_writer_destroy(&films);
    close(reader);
    assert_int_equal(unlink(path), 0);
    tsr_video_frame_destroy(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(checksums), cmocka_unit_test(anatomy), cmocka_unit_test(containers),
                                        cmocka_unit_test(containers_that_cannot), cmocka_unit_test(pipes_get_pictures_as_they_come) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
