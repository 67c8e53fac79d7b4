/* Speed of files of multi-view textures: the generated dancer, coded and decoded by both codecs at rates that look alike, to and from a file in the
 * memory of the machine. Bound: textures and masks read or written once, and the file; where a codec works on a device, what its kernels move at least
 * (src/video/multiview, said with each), but for lists of single coefficients. Real time is 25 steps a second. */
#include "bench.h"

static struct {
    bench b;
    tsr_multiview *textures;
    tsr_multiview_write_options write;
    tsr_multiview_read_options read;
    tsr_multiview_report report;
    char path[64];
} s;

static tsr_status write_call(void *user)
{
    (void)user;
    return tsr_multiview_write(s.textures, s.path, &s.write, &s.report);
}
static tsr_status read_call(void *user)
{
    tsr_multiview *back = NULL;
    (void)user;
    const tsr_status status = tsr_multiview_read(s.b.context, s.path, &s.read, &back);
    tsr_multiview_destroy(&back);
    return status;
}

static void make(int32_t atlas, int32_t cameras, int32_t steps)
{
    const tsr_footage_options o = { .struct_size = sizeof o, .steps = steps, .cameras = cameras, .atlas = atlas, .supersampling = 1 };
    tsr_footage *footage;
    tsr_texturer *texturer;
    tsr_multiview_view v;
    tsr_image *pictures = (tsr_image *)calloc((size_t)cameras, sizeof *pictures);
    if (!pictures) exit(1);
    MUST(tsr_footage_create(&o, &footage));
    MUST(tsr_texturer_create(s.b.context, tsr_footage_model(footage), &texturer));
    MUST(tsr_multiview_create(s.b.context, atlas, atlas, cameras, steps, 1, &s.textures));
    MUST(tsr_multiview_view_of(s.textures, &v));
    MUST(tsr_texturer_copy_atlas(texturer, v.atlas));
    const int64_t texels = (int64_t)cameras * atlas * atlas, words = (int64_t)cameras * atlas * ((atlas + 63) / 64);
    for (int32_t t = 0; t < steps; t++) {
        uint8_t *const plane[3] = { v.plane[0] + t * texels, v.plane[1] + t * texels, v.plane[2] + t * texels };
        for (int32_t c = 0; c < cameras; c++) MUST(tsr_footage_picture(footage, t, c, &pictures[c]));
        MUST(tsr_texturer_step(texturer, t, pictures, TSR_TEXTURE_BILINEAR, plane, v.visible + t * words));
        for (int32_t c = 0; c < cameras; c++) tsr_image_destroy(&pictures[c]);
    }
    free(pictures);
    tsr_texturer_destroy(&texturer);
    tsr_footage_destroy(&footage);
}

/* Bytes that kernels move for a sample of a component. Decoding has 16 an axis (a pair at a time) or, of any shape, 8 for each of the 4 / 3 samples of all
 * levels; encoding 64 / 7 an axis. */
static double kernel_bytes(int encode, int32_t cameras)
{
    if (s.write.codec == TSR_MULTIVIEW_DIFF2D)
        return encode ? 2 * (5 + (4 / 3.0 * 8 + 8 + 4) * (1 + 1.0 / cameras)) : (8 + 4 / 3.0 * 8 + 12) * (1 + 1.0 / cameras) + 5;
    return encode ? 5.1 + 8.5 + 4 * 64 / 7.0 + 4.5 : 4 + 4 * 16 + 5;
}

/* `real` times as fast as it plays. */
static void measure(const char *what, const char *codec, bench_call call, int32_t atlas, int32_t cameras, int32_t steps, double real)
{
    char name[96], bar[64];
    const double play = steps / 25.0, texels = (double)atlas * atlas * cameras * steps;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    snprintf(name, sizeof name, "%s %s, %d cameras of %d^2, %d steps", what, codec, (int)cameras, (int)atlas, (int)steps);
    snprintf(bar, sizeof bar, "at least %g times real time", real);
    bench_case c = { .name = name, .n = (int64_t)texels, .time = bench_measure(&s.b, call, NULL, NULL) };
    c.bytes = texels * (3 + 0.125) + (double)s.report.file_bytes;
    if (gpu && kernel_bytes(call == write_call, cameras) > 0) c.bytes = 3 * texels * kernel_bytes(call == write_call, cameras);
    c.bar = gpu && real > 0 ? bar : NULL;
    c.holds = c.time.median * real <= play;
    bench_report(&s.b, &c);
    if (c.time.runs)
        printf("    %.1f times real time; %.2f bits a texel of Y, %.2f MB\n", play / c.time.median, s.report.bpp[0],
               (double)s.report.file_bytes * 1e-6);
}

static void sizes(int32_t atlas, int32_t cameras, int32_t steps, double encode, double decode)
{
    static const struct {
        const char *name;
        tsr_multiview_codec codec;
        double bpp;
    } codecs[] = { { "spiht", TSR_MULTIVIEW_SPIHT4D, 0.3 }, { "diff", TSR_MULTIVIEW_DIFF2D, 0.3 } };
    make(atlas, cameras, steps);
    for (int k = 0; k < 2; k++) {
        if (!bench_wants(&s.b, codecs[k].name)) continue;
        s.write = (tsr_multiview_write_options)TSR_MULTIVIEW_WRITE_OPTIONS;
        s.read = (tsr_multiview_read_options)TSR_MULTIVIEW_READ_OPTIONS;
        s.report = (tsr_multiview_report)TSR_MULTIVIEW_REPORT;
        s.write.codec = codecs[k].codec;
        s.write.bpp[0] = codecs[k].bpp;
        s.write.overwrite = 1;
        if (encode > 0 || s.b.quick) measure("encode", codecs[k].name, write_call, atlas, cameras, steps, encode);
        else MUST(write_call(NULL));
        measure("decode", codecs[k].name, read_call, atlas, cameras, steps, decode);
        if (s.write.codec != TSR_MULTIVIEW_SPIHT4D) continue;
        s.read.no_masks = 1;
        measure("decode without masks", codecs[k].name, read_call, atlas, cameras, steps, 0);
    }
    tsr_multiview_destroy(&s.textures);
}

/* The published rates and what quality they give here: in the names; times are those of decoding. */
static void rates(int32_t atlas, int32_t cameras, int32_t steps)
{
    static const struct {
        double bpp;
        tsr_multiview_fill fill;
        const char *name;
    } rows[] = { { 0.05, TSR_MULTIVIEW_FILL_4D, "" },
                 { 0.30, TSR_MULTIVIEW_FILL_4D, "" },
                 { 0.75, TSR_MULTIVIEW_FILL_4D, "" },
                 { 0.75, TSR_MULTIVIEW_FILL_NONE, " without fill" } };
    char name[160];
    make(atlas, cameras, steps);
    s.read = (tsr_multiview_read_options)TSR_MULTIVIEW_READ_OPTIONS;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tsr_multiview *back = NULL;
        tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
        s.write = (tsr_multiview_write_options)TSR_MULTIVIEW_WRITE_OPTIONS;
        s.report = (tsr_multiview_report)TSR_MULTIVIEW_REPORT;
        s.write.codec = TSR_MULTIVIEW_SPIHT4D;
        s.write.bpp[0] = rows[k].bpp;
        s.write.fill = rows[k].fill;
        s.write.overwrite = 1;
        MUST(write_call(NULL));
        MUST(tsr_multiview_read(s.b.context, s.path, &s.read, &back));
        MUST(tsr_multiview_compare(s.textures, back, &d));
        tsr_multiview_destroy(&back);
        snprintf(name, sizeof name, "rates, %d cameras of %d^2, %d steps, Y %.2f%s: %.1f dB, %.0f : 1, with masks %.0f : 1", (int)cameras, (int)atlas,
                 (int)steps, rows[k].bpp, rows[k].name, d.psnr[0], s.report.ratio, s.report.ratio_total);
        bench_report(&s.b, &(bench_case){ .name = name, .n = s.report.texels, .time = bench_measure(&s.b, read_call, NULL, NULL) });
    }
    tsr_multiview_destroy(&s.textures);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "multiview")) return 2;
    snprintf(s.path, sizeof s.path, "%s/tessera-bench-%ld.mvv", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    if (s.b.only && bench_wants(&s.b, "rates")) rates(s.b.quick ? 128 : 512, s.b.quick ? 4 : 8, s.b.quick ? 8 : 40);
    else if (s.b.quick) sizes(128, 4, 8, 0, 0);
    else {
        sizes(512, 8, 40, 4, 20);
        if (tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA) sizes(1024, 32, 8, 0, 1);
    }
    unlink(s.path);
    return bench_end(&s.b);
}
