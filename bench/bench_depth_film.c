/* Speed and size of depth films beside FFV1 (ffmpeg, one thread, its processor time, reading and writing of raw frames included). Frames: the file that
 * BENCH_DEPTH_FILM names, raw 16-bit samples of 640 x 480 (the castle of ViSP's images: bench/peers/castle_raw.py makes one), else a made room.
 * Times are of a whole film divided by its frames. */
#include "bench.h"

#include <sys/resource.h>

enum { W = 640, H = 480, MOST = 64 };
static struct {
    bench b;
    uint16_t *samples, *back;
    int frames;
    double error, scale;
    tsr_depth_film_reader *reader;
    char path[64];
} s;

static int stop(const char *why)
{
    fprintf(stderr, "bench depth_film: %s\n", why);
    exit(1);
}

static void make_room(void)
{
    uint64_t random = 1;
    s.frames = 8;
    s.scale = 1e-4;
    for (int k = 0; k < s.frames; k++)
        for (int i = 0; i < W * H; i++) {
            const double dx = (i % W + 0.5 - W / 2) / W, dy = (i / W + 0.5 - H / 2) / W;
            double d = fmin(dy > 0.01 ? 1.2 / dy : 1e9, 3 / (1 - (0.9 + 0.01 * k) * dx));
            random = random * 6364136223846793005u + 1442695040888963407u;
            d += 0.002 * ((double)(random >> 40) * 0x1p-24 - 0.5);
            s.samples[(size_t)k * W * H + (size_t)i] = (uint16_t)(d > 6 || (random >> 20) % 97 == 0 ? 0 : 1e4 * d + 0.5);
        }
}

static tsr_status write_call(void *user)
{
    tsr_depth_film_options o = TSR_DEPTH_FILM_OPTIONS;
    tsr_depth_film_writer *w = NULL;
    (void)user;
    o.overwrite = 1;
    o.scale = s.scale;
    o.largest_error = s.error;
    tsr_status status = tsr_depth_film_writer_create(s.path, W, H, &o, &w);
    for (int k = 0; k < s.frames && status == TSR_OK; k++) status = tsr_depth_film_writer_append(w, s.samples + (size_t)k * W * H);
    return status == TSR_OK ? tsr_depth_film_writer_finish(&w) : status;
}
static tsr_status read_call(void *user)
{
    tsr_status status = TSR_OK;
    (void)user;
    for (int k = 0; k < s.frames && status == TSR_OK; k++) status = tsr_depth_film_reader_frame(s.reader, k, s.back);
    return status;
}

static double children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

/* Seconds a frame each way, and bytes of the film; 0 without ffmpeg. */
static double ffv1(double seconds[2])
{
    char raw[80], film[80], command[400];
    snprintf(raw, sizeof raw, "%s.raw", s.path);
    snprintf(film, sizeof film, "%s.mkv", s.path);
    FILE *f = fopen(raw, "wb");
    if (!f || fwrite(s.samples, 2, (size_t)s.frames * W * H, f) != (size_t)s.frames * W * H || fclose(f)) stop("cannot write raw frames");
    for (int way = 0; way < 2; way++) {
        const double before = children();
        if (!way)
            snprintf(command, sizeof command,
                     "ffmpeg -v error -y -f rawvideo -pix_fmt gray16le -s %dx%d -i %s -c:v ffv1 -level 3 -g 1 -threads 1 -slices 4 %s", W, H, raw,
                     film);
        else snprintf(command, sizeof command, "ffmpeg -v error -y -threads 1 -i %s -f null -", film);
        if (system(command)) return 0;
        seconds[way] = (children() - before) / s.frames;
    }
    f = fopen(film, "rb");
    if (!f) return 0;
    fseek(f, 0, SEEK_END);
    const double size = (double)ftell(f);
    fclose(f);
    unlink(raw);
    unlink(film);
    return size;
}

static void run(const char *name, double peer_bytes, const double peer[2])
{
    char text[2][160], bar[64];
    tsr_depth_film_info info = TSR_DEPTH_FILM_INFO;
    const double raw = 2.0 * W * H * s.frames;
    bench_time t[2] = { bench_measure(&s.b, write_call, NULL, NULL) };
    if (tsr_depth_film_reader_create(s.path, 0, &s.reader) != TSR_OK || tsr_depth_film_reader_info(s.reader, &info) != TSR_OK)
        stop(tsr_error_message());
    t[1] = bench_measure(&s.b, read_call, NULL, NULL);
    tsr_depth_film_reader_destroy(&s.reader);
    const double ratio = raw / (double)info.bytes, least = s.error > 0 || peer_bytes == 0 ? 0 : raw / peer_bytes;
    for (int way = 0; way < 2; way++) {
        t[way].median /= s.frames, t[way].min /= s.frames, t[way].max /= s.frames;
        snprintf(text[way], sizeof text[way], "depth film %s %s, %.1f to 1%s", way ? "decode" : "encode", name, ratio, least > 0 ? "" : " (no peer)");
        snprintf(bar, sizeof bar, "0.5 ms a frame, %.1f to 1", least);
        const bench_time other = { peer[way], peer[way], peer[way], peer_bytes > 0 };
        bench_report(&s.b, &(bench_case){ .name = text[way],
                                          .n = W * H,
                                          .time = t[way],
                                          .bytes = 2.0 * W * H,
                                          .peer = other.runs ? "FFV1" : NULL,
                                          .peer_time = other,
                                          .bar = bar,
                                          .holds = t[way].min <= 0.5e-3 && ratio >= least });
    }
}

int main(int argc, char **argv)
{
    const char *path = getenv("BENCH_DEPTH_FILM");
    double peer[2] = { 0 };
    if (!bench_begin(&s.b, argc, argv, "depth_film")) return 2;
    s.samples = malloc((size_t)MOST * W * H * 2);
    s.back = malloc((size_t)W * H * 2);
    if (!s.samples || !s.back) stop("out of memory");
    snprintf(s.path, sizeof s.path, "/tmp/bench-depth-film-%d", (int)getpid());
    if (path) {
        FILE *f = fopen(path, "rb");
        s.scale = 0.000030518; /* of the castle */
        s.frames = f ? (int)(fread(s.samples, 2, (size_t)MOST * W * H, f) / ((size_t)W * H)) : 0;
        if (f) fclose(f);
        if (!s.frames) stop("no frames in the file that BENCH_DEPTH_FILM names");
    } else make_room();
    const double bytes = ffv1(peer);
    run(path ? "castle" : "room", bytes, peer);
    s.error = 0.001;
    run(path ? "castle, largest error 1 mm" : "room, largest error 1 mm", bytes, peer);
    unlink(s.path);
    free(s.samples);
    free(s.back);
    return bench_end(&s.b);
}
