/* What FFmpeg's decoder makes of our streams: the frames that our encoder says. Skipped where there is no ffmpeg. SIMD is off there (-cpuflags 0):
 * its vector code differs from its own C code. */
#include <unistd.h>

#include "dirac_films.h"

enum { FRAMES = 8 };

typedef struct shown {
    film_bytes frame[FRAMES];
} shown;

static void keep(void *user, const tsr_dirac_picture *info, const tsr_video_frame *reconstruction)
{
    shown *s = user;
    assert_true(info->number < FRAMES && reconstruction);
    s->frame[info->number].size = 0;
    film_append(&s->frame[info->number], reconstruction->plane[0], (size_t)reconstruction->bytes);
}

static int have_ffmpeg(void) { return system("ffmpeg -v quiet -decoders 2>/dev/null | grep -q ' dirac '") == 0; }

/* All frames of the stream through a process of ffmpeg. */
static void decode_by_peer(const film_bytes *stream, film_bytes *frames)
{
    char path[] = "/tmp/tessera-peer-XXXXXX", command[256], piece[4096];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, stream->at, stream->size), (ssize_t)stream->size);
    close(fd);
    snprintf(command, sizeof command, "ffmpeg -v error -cpuflags 0 -f dirac -i %s -vsync passthrough -f rawvideo - 2>/dev/null", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    frames->size = 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, pipe)) > 0;) film_append(frames, piece, got);
    pclose(pipe);
    unlink(path);
}

static void require_agreement(const film *f, tsr_dirac_encode_options o, const char *what)
{
    film_bytes stream = { 0 }, frames = { 0 };
    shown s = { .frame = { { 0 } } };
    o.format = f->format;
    o.compatible = 1;
    o.picture = keep;
    o.user = &s;
    film_encode(f, FRAMES, &o, &stream);
    decode_by_peer(&stream, &frames);
    const size_t size = s.frame[0].size;
    if (frames.size != FRAMES * size) fail_msg("%s: %zu bytes of frames, expected %zu", what, frames.size, FRAMES * size);
    for (int t = 0; t < FRAMES; t++)
        if (memcmp(frames.at + (size_t)t * size, s.frame[t].at, size) != 0) fail_msg("%s: frame %d differs", what, t);
    for (int t = 0; t < FRAMES; t++) free(s.frame[t].at);
    free(stream.at);
    free(frames.at);
}

static void core_syntax(void **state)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    (void)state;
    if (!have_ffmpeg()) skip();
    for (int32_t turn = 0; turn < (test_is_slow() ? 3 : 9); turn++) {
        film f = { .format = { .width = 160, .height = 96, .chroma = chromas[turn % 3], .bits = 8 }, .speed = { 1.25, -0.75 }, .contrast = 0.3 };
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        char what[64];
        o.coding = turn % 3 == 2 ? TSR_DIRAC_CODING_VARIABLE : TSR_DIRAC_CODING_ARITHMETIC;
        o.group = turn % 3 == 1 ? 1 : 0;
        o.wavelet = 1 + turn % 6;
        o.inter_wavelet = 1 + (turn + 1) % 6;
        o.precision = 1 + turn % 3;
        o.quantiser = 9 + turn;
        snprintf(what, sizeof what, "core %d", turn);
        require_agreement(&f, o, what);
    }
}

/* ---- VC-2 ----------------------------------------------------------------------------------------------------------------------------------- */

/* What our decoder makes of the stream, planes of all frames behind one another. */
static void decode_here(const film_bytes *stream, film_bytes *frames)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    o.strict = 1;
    frames->size = 0;
    require_ok(tsr_dirac_decoder_create(context, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    for (int more = 1; more;) {
        require_ok(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
        if (more) film_append(frames, frame.plane[0], (size_t)frame.bytes);
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
}

static void require_same_frames(const film_bytes *stream, const char *what)
{
    film_bytes there = { 0 }, here = { 0 };
    decode_by_peer(stream, &there);
    decode_here(stream, &here);
    if (!here.size || there.size != here.size) fail_msg("%s: %zu bytes of frames, FFmpeg's decoder %zu", what, here.size, there.size);
    for (size_t k = 0; k < here.size; k++)
        if (there.at[k] != here.at[k]) fail_msg("%s: byte %zu of the frames is %d, FFmpeg's decoder has %d", what, k, here.at[k], there.at[k]);
    free(there.at);
    free(here.at);
}

/* All that FFmpeg's encoder writes: four filters, every depth, three chroma formats, 8, 10 and 12 bits, its matrices and slices. (Of its fields its decoder shows none.) */
static void streams_of_the_peer(void **state)
{
    static const char *const wavelets[] = { "9_7", "5_3", "haar", "haar_noshift" }, *const matrices[] = { "default", "color", "flat" };
    static const char *const chromas[] = { "420", "422", "444" }, *const depths[] = { "", "10le", "12le" };
    static const int slices[][2] = { { 32, 16 }, { 32, 8 }, { 64, 64 }, { 128, 32 } };
    (void)state;
    if (!have_ffmpeg() || system("ffmpeg -v quiet -encoders 2>/dev/null | grep -q ' vc2 '") != 0) skip();
    for (int turn = 0; turn < (test_is_slow() ? 6 : 36); turn++) {
        const int depth = 1 + turn % 5, slice = depth > 3 ? 2 : turn % 4;
        char command[512], what[200];
        unsigned char piece[4096];
        film_bytes stream = { 0 };
        snprintf(what, sizeof what, "-pix_fmt yuv%sp%s -wavelet_type %s -wavelet_depth %d -qm %s -slice_width %d -slice_height %d -b:v %dM",
                 chromas[turn % 3], depths[turn / 3 % 3], wavelets[turn % 4], depth, matrices[turn / 4 % 3], slices[slice][0], slices[slice][1],
                 2 + 3 * (turn % 7));
        snprintf(command, sizeof command, "ffmpeg -v error -f lavfi -i testsrc2=s=%dx%d:d=0.12 -c:v vc2 -strict -1 %s -f dirac - 2>/dev/null",
                 192 + 64 * (turn % 3), 128 + 64 * (turn % 2), what);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        for (size_t got; (got = fread(piece, 1, sizeof piece, pipe)) > 0;) film_append(&stream, piece, got);
        pclose(pipe);
        if (!stream.size) fail_msg("ffmpeg wrote nothing for %s", what);
        require_same_frames(&stream, what);
        free(stream.at);
    }
}

/* High-quality slices with loss. FFmpeg's decoder makes up a value behind the last one that a component's bytes hold, unless all are there. */
static void lossy_slices(void **state)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    (void)state;
    if (!have_ffmpeg()) skip();
    for (int turn = 0; turn < (test_is_slow() ? 3 : 12); turn++) {
        const film f = { .format = { .width = 192, .height = 96, .chroma = chromas[turn % 3], .bits = turn % 2 ? 10 : 8 },
                         .speed = { 1.25, -0.75 },
                         .contrast = 0.4 };
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        film_bytes stream = { 0 };
        char what[64];
        o.format = f.format;
        o.wavelet = turn % 2 ? 2 : 1 + turn % 5;
        o.depth = 1 + turn % 4;
        o.compatible = 1;
        if (turn % 4 < 2) o.quantiser = 5 + 6 * turn;
        else o.picture_bytes = 9000 + 3000 * (turn % 3);
        snprintf(what, sizeof what, "high quality %d", turn);
        film_encode(&f, 3, &o, &stream);
        require_same_frames(&stream, what);
        free(stream.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(core_syntax), cmocka_unit_test(streams_of_the_peer), cmocka_unit_test(lossy_slices) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
