/* What FFmpeg's decoder makes of our streams: the frames that our encoder says. Skipped where there is no ffmpeg. SIMD is off there (-cpuflags 0): its vector
 * code differs from its own C code. */
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(core_syntax) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
