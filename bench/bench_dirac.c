/* Dirac and VC-2 streams encoded and decoded, a frame at a time: high quality at a fixed rate (1080p, 4:2:2, 10 bits, 1.25 MB a frame), core
 * syntax with arithmetic coding at a quantiser, intra and in long groups. The film is a formula with noise, the same on every machine. Bound of a
 * frame: its samples and bytes, in and out, once. FFmpeg's decoder stands beside ours where the program `ffmpeg` is installed: its own time on the
 * processor with one thread, without start and pipes, so that it compares with --threads 1 --cpu-time. */
#include <pthread.h>

#include "bench.h"
#include "dirac_held.h"
#include "formats/films/video.h"
#include "module.h"
#include "predict_gather.h"
#include "video/dirac/decoder.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/syntax.h"
#include "video/slices/slice_encode.h"
#include "video/slices/slice_flight.h"

enum { FRAMES = 8 };

static struct {
    bench b;
    tsr_video_frame frame[FRAMES], decoded;
    tsr_dirac_encode_options options;
    tsr_dirac_encoder *encoder;
    char *stream;
    size_t size, room;
    int next;
} s;

static void make_film(int32_t width, int32_t height, tsr_chroma chroma, int32_t bits)
{
    const tsr_video_format format = { .width = width, .height = height, .chroma = chroma, .bits = bits };
    uint64_t state = 88172645463325252ull;
    for (int t = 0; t < FRAMES; t++) {
        tsr_video_frame_destroy(&s.frame[t]);
        MUST(tsr_video_frame_create(&format, &s.frame[t]));
        for (int c = 0; c < 3; c++)
            for (int32_t y = 0; y < s.frame[t].height[c]; y++)
                for (int32_t x = 0; x < s.frame[t].width[c]; x++) {
                    const double u = (x - 2.25 * t) * (c && chroma != TSR_CHROMA_444 ? 2 : 1),
                                 v = (y + 1.5 * t) * (c && chroma == TSR_CHROMA_420 ? 2 : 1);
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    const double noise = ((double)(state >> 40) / 16777216 - 0.5) * 0.025;
                    const double wave =
                        0.5 + 0.18 * sin(0.011 * u + 0.4 * sin(0.007 * v)) + 0.12 * sin(0.05 * v + 0.02 * u) + 0.06 * sin(0.31 * u) * sin(0.27 * v);
                    const int32_t value = (int32_t)((wave * (c ? 0.6 : 1) + (c ? 0.2 : 0) + noise) * ((1 << bits) - 1));
                    const int64_t at = (int64_t)y * s.frame[t].width[c] + x;
                    if (bits > 8) ((uint16_t *)s.frame[t].plane[c])[at] = (uint16_t)value;
                    else ((uint8_t *)s.frame[t].plane[c])[at] = (uint8_t)value;
                }
    }
}

static void keep(const void *bytes, size_t size)
{
    if (s.size + size > s.room) {
        s.room = 2 * (s.size + size);
        s.stream = (char *)realloc(s.stream, s.room);
        if (!s.stream) exit(1);
    }
    memcpy(s.stream + s.size, bytes, size);
    s.size += size;
}

static void make_stream(void)
{
    const void *bytes;
    size_t size;
    s.size = 0;
    tsr_dirac_encoder_destroy(&s.encoder);
    MUST(tsr_dirac_encoder_create(s.b.context, &s.options, &s.encoder));
    for (int t = 0; t < FRAMES; t++) {
        MUST(tsr_dirac_encoder_frame(s.encoder, &s.frame[t], &bytes, &size));
        if (size) keep(bytes, size);
    }
    MUST(tsr_dirac_encoder_end(s.encoder, &bytes, &size));
    keep(bytes, size);
    tsr_dirac_encoder_destroy(&s.encoder);
    MUST(tsr_dirac_encoder_create(s.b.context, &s.options, &s.encoder));
    s.next = 0;
}

/* One frame; in long groups what is coded while one is given: the same on average. */
static tsr_status encode_call(void *user)
{
    const void *bytes;
    size_t size;
    (void)user;
    return tsr_dirac_encoder_frame(s.encoder, &s.frame[s.next++ % FRAMES], &bytes, &size);
}

enum { AGAIN = 8, PIECE = 1 << 20 }; /* a decoder takes its memory once */

/* The whole stream, AGAIN times, as it would be read from a file. */
static tsr_status decode_call(void *user)
{
    tsr_dirac_decoder *decoder = NULL;
    int more = 1;
    (void)user;
    tsr_status status = tsr_dirac_decoder_create(s.b.context, NULL, &decoder);
    for (int k = 0; k < AGAIN; k++)
        for (size_t at = 0; status == TSR_OK && at < s.size; at += PIECE) {
            status = tsr_dirac_decoder_push(decoder, s.stream + at, s.size - at < PIECE ? s.size - at : PIECE);
            if (status == TSR_OK && k + 1 == AGAIN && at + PIECE >= s.size) status = tsr_dirac_decoder_end(decoder);
            for (more = 1; status == TSR_OK && more;) status = tsr_dirac_decoder_next(decoder, &s.decoded, NULL, &more);
        }
    tsr_dirac_decoder_destroy(&decoder);
    return status;
}

/* Seconds a frame that ffmpeg's decoder takes; runs 0: there is none, or it does not decode it. */
static bench_time peer_decode(void)
{
    char path[] = "/tmp/tessera-bench-XXXXXX", command[320], line[512];
    bench_time time = { .runs = 0 };
    const int fd = mkstemp(path);
    if (fd < 0) return time;
    const int whole = write(fd, s.stream, s.size) == (ssize_t)s.size;
    close(fd);
    double seconds[3] = { 0 };
    snprintf(command, sizeof command, "ffmpeg -hide_banner -benchmark -threads 1 -f dirac -i %s -vsync passthrough -f rawvideo -y /dev/null 2>&1",
             path);
    for (int run = 0; run < 3 && whole; run++) {
        FILE *pipe = popen(command, "r");
        double user_seconds = 0;
        while (pipe && fgets(line, sizeof line, pipe)) {
            const char *found = strstr(line, "utime=");
            if (found) user_seconds = atof(found + 6);
        }
        if (pipe) pclose(pipe);
        if (user_seconds > 0) seconds[time.runs++] = user_seconds / FRAMES;
    }
    unlink(path);
    qsort(seconds, 3, sizeof *seconds, bench_compare);
    if (time.runs == 3) time = (bench_time){ .median = seconds[1], .min = seconds[0], .max = seconds[2], .runs = 3 };
    return time;
}

#include "dirac_device.h"
#include "dirac_live.h"
#include "dirac_regions.h"

static void measure(const char *what, double encode_bar, double decode_bar, double peer_bar)
{
    char name[96], bar[64];
    const int device = s.b.context->device.kind != TSR_DEVICE_CPU;
    if (s.b.only && !strstr(what, s.b.only)) return;
    make_stream();
    const double bytes = (double)s.frame[0].bytes + (double)s.size / FRAMES;
    bench_time t = bench_measure(&s.b, encode_call, NULL, NULL);
    snprintf(name, sizeof name, "encode %s", what);
    snprintf(bar, sizeof bar, "<= %g ms on one core", encode_bar);
    bench_report(&s.b, &(bench_case){ .name = name,
                                      .n = s.frame[0].bytes,
                                      .time = t,
                                      .bytes = bytes,
                                      .bar = encode_bar > 0 && s.b.threads == 1 ? bar : NULL,
                                      .holds = t.median <= 1e-3 * encode_bar });
    t = bench_measure(&s.b, decode_call, NULL, NULL);
    t.median /= FRAMES * AGAIN;
    t.min /= FRAMES * AGAIN;
    t.max /= FRAMES * AGAIN;
    const bench_time peer = peer_decode();
    snprintf(name, sizeof name, "decode %s", what);
    if (peer_bar > 0) snprintf(bar, sizeof bar, ">= %g times as fast as FFmpeg", peer_bar);
    else snprintf(bar, sizeof bar, "<= %g ms on one core", decode_bar);
    bench_report(&s.b, &(bench_case){ .name = name,
                                      .n = s.frame[0].bytes,
                                      .time = t,
                                      .bytes = bytes,
                                      .peer = peer.runs ? "ffmpeg" : NULL,
                                      .peer_time = peer,
                                      .bar = (peer_bar > 0 ? peer.runs > 0 : decode_bar > 0) && s.b.threads == 1 ? bar : NULL,
                                      .holds = peer_bar > 0 ? peer_bar * t.median <= peer.median : t.median <= 1e-3 * decode_bar });
    printf("  %s: %.0f bytes a frame\n", what, (double)s.size / FRAMES);
    measure_memory(what);
    measure_latency(what);
    if (device && s.options.coding == TSR_DIRAC_CODING_ARITHMETIC) measure_arithmetic(what);
    measure_stages(what, device && s.options.coding == TSR_DIRAC_CODING_ARITHMETIC && !s.options.group ? 1.0 / 4000 : 0);
}

/* The sequences of [Laan11] tables 4.1 and 4.2 with films of the same sizes in their place: by name only (--experiment dirac-table-4.1 and -4.2).
 * Entropy decoding and the way to the host are included, as there on the CPU. */
static void measure_sequences(void)
{
    static const struct {
        const char *name;
        int32_t width, height;
    } rows[] = { { "Big Buck Bunny trailer", 1920, 1080 }, { "Elephant's Dream", 1024, 576 }, { "2012 movie trailer", 1920, 800 } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char name[96];
        make_film(rows[k].width, rows[k].height, TSR_CHROMA_420, 8);
        s.options = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
        s.options.format = s.frame[0].format;
        s.options.coding = TSR_DIRAC_CODING_ARITHMETIC;
        s.options.quantiser = 13;
        s.options.preset = TSR_DIRAC_FAST;
        make_stream();
        bench_time t = bench_measure(&s.b, decode_call, NULL, NULL);
        t.median /= FRAMES * AGAIN;
        t.min /= FRAMES * AGAIN;
        t.max /= FRAMES * AGAIN;
        snprintf(name, sizeof name, "sequence of %d x %d, long groups", rows[k].width, rows[k].height);
        bench_report(&s.b, &(bench_case){ .name = name, .n = s.frame[0].bytes, .time = t, .bytes = (double)s.frame[0].bytes });
        measure_stages(rows[k].name, k ? 0 : -1);
    }
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "dirac")) return 2;
    s.options = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
    if (s.b.context->device.kind != TSR_DEVICE_CPU && (!s.b.only || strstr("device", s.b.only))) measure_device();
    if (s.b.context->device.kind != TSR_DEVICE_CPU && (!s.b.only || strstr("regions", s.b.only))) measure_regions();
    if (s.b.only && !strcmp(s.b.only, "sequences")) measure_sequences();
    make_film(s.b.quick ? 480 : 1920, s.b.quick ? 272 : 1080, TSR_CHROMA_422, 10);
    s.options.format = s.frame[0].format;
    s.options.picture_bytes = s.frame[0].bytes * 1250000 / 8294400;
    measure("high quality, 1080p 4:2:2 10 bits", 15, 9, 0);
    make_film(s.b.quick ? 480 : 1920, s.b.quick ? 272 : 1080, TSR_CHROMA_420, 8);
    s.options = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
    s.options.format = s.frame[0].format;
    s.options.coding = TSR_DIRAC_CODING_ARITHMETIC;
    s.options.compatible = 1;
    s.options.quantiser = 13;
    s.options.group = 1;
    measure("arithmetic intra, 1080p 4:2:0", 0, 0, 2);
    s.options.group = 0;
    s.options.preset = TSR_DIRAC_FAST;
    measure("long groups, fast, 1080p 4:2:0", 0, 0, 2);
    s.options.preset = TSR_DIRAC_MEDIUM;
    measure("long groups, medium, 1080p 4:2:0", 0, 0, 2);
    for (int t = 0; t < FRAMES; t++) tsr_video_frame_destroy(&s.frame[t]);
    tsr_video_frame_destroy(&s.decoded);
    tsr_dirac_encoder_destroy(&s.encoder);
    free(s.stream);
    return bench_end(&s.b);
}
