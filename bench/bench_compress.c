/* bench_compress: compressed volumes, on real data: the T1 head of scripts/get-data.sh (data/mri/ch2.nii.gz) and the chest CT in TESSERA_DATA. Sizes
 * are measured beside gzip -9, zstd -19, xz -9 and lossless JPEG 2000 on the same voxels; at half a bit per voxel the PSNR beside JPEG 2000's. That is
 * OpenJPEG's whole coder, slice by slice, as many slices at once as there are threads, from memory to memory where ours writes and reads a file.
 *
 * Bound of decoding: the voxels are written once and the file is read once, at the copy's rate; the coders' arithmetic is far above it (predict: 20 x 24
 * products a voxel for the normal equations alone; planes: one coded bit at a time), so megabytes per second are the figure. The bar of 300 per core is for fast and rans;
 * on the head rans has the bar of the size as well, on the chest only predict. */
#include "bench.h"
#ifdef BENCH_OPENJPEG
#include "peers/openjpeg_slices.h"
#endif

struct job {
    const tsr_volume *volume;
    char file[300], raw[300];
    tsr_compress_options options;
    int32_t threads;
};

static tsr_status run_decode(void *user)
{
    const struct job *j = (const struct job *)user;
    const tsr_decompress_options o = { .struct_size = sizeof o, .threads = j->threads };
    tsr_volume *v = NULL;
    const tsr_status status = tsr_volume_decompress(j->file, &o, &v, NULL);
    tsr_volume_destroy(&v);
    return status;
}

/* Seconds of one call: dense coders take long enough. */
static bench_time once(const bench *b, bench_call call, void *user)
{
    const double start = bench_clock(b->clock);
    bench_time t = { 0 };
    if (call(user) != TSR_OK) return t;
    t.min = t.median = t.max = bench_clock(b->clock) - start;
    t.runs = 1;
    return t;
}

static tsr_status run_encode(void *user)
{
    const struct job *j = (const struct job *)user;
    return tsr_volume_compress(j->volume, j->file, &j->options, NULL);
}

/* Bytes of the voxels packed by another program, 0 if it is not there. */
static double packed(const struct job *j, const char *program)
{
    char command[700], text[64];
    snprintf(command, sizeof command, "%s -c %s 2>/dev/null | wc -c", program, j->raw);
    bench_command(command, text, sizeof text);
    const double bytes = atof(text);
    return bytes > 100 ? bytes : 0;
}

/* OpenJPEG on the same volume; bytes 0: not built in, or it has no such voxels. */
struct openjpeg {
    double bytes, psnr; /* psnr: range 255, of u8 */
    bench_time encode, decode;
};

static struct openjpeg openjpeg(const bench *b, const struct job *j, double bits)
{
    struct openjpeg r = { 0 };
#ifdef BENCH_OPENJPEG
    openjpeg_slices s;
    if (!openjpeg_slices_begin(&s, j->volume, bits, j->threads)) return r;
    r.encode = once(b, openjpeg_slices_encode, &s);
    r.decode = once(b, openjpeg_slices_decode, &s);
    const uint8_t *voxels = (const uint8_t *)tsr_volume_data_const(j->volume);
    const size_t n = (size_t)tsr_volume_count(j->volume) * tsr_dtype_size(tsr_volume_dtype(j->volume));
    double sum = 0;
    for (size_t i = 0; r.decode.runs && i < n; i++) sum += ((double)s.back[i] - voxels[i]) * ((double)s.back[i] - voxels[i]);
    if (bits > 0) r.psnr = 20 * log10(255 / sqrt(sum / (double)n));
    if (!r.encode.runs || !r.decode.runs || (bits <= 0 && sum > 0)) {
        fprintf(stderr, "bench compress: OpenJPEG does not give the volume back\n");
        r = (struct openjpeg){ 0 };
    } else {
        r.bytes = openjpeg_slices_bytes(&s);
    }
    openjpeg_slices_end(&s);
#else
    (void)b, (void)j, (void)bits;
#endif
    return r;
}

static void lossless(bench *b, struct job *j, const char *what, double gzip, double zstd, double xz, int head)
{
    static const char *const coders[] = { NULL, "predict", "planes", "fast", "rans" };
    const double plain = (double)tsr_volume_count(j->volume) * (double)tsr_dtype_size(tsr_volume_dtype(j->volume));
    const struct openjpeg peer = openjpeg(b, j, 0);
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        char name[128];
        tsr_compress_info info = TSR_COMPRESS_INFO;
        snprintf(name, sizeof name, "%s lossless %s encode", what, coders[coder]);
        if (!bench_wants(b, name)) continue;
        j->options =
            (tsr_compress_options){ .struct_size = sizeof j->options, .coder = (tsr_compress_coder)coder, .threads = j->threads, .overwrite = 1 };
        bench_case r = { .name = name, .n = tsr_volume_count(j->volume), .time = once(b, run_encode, j) };
        if (!r.time.runs || tsr_compress_describe(j->file, &info) != TSR_OK) {
            fprintf(stderr, "bench compress: %s: %s\n", name, tsr_error_message());
            continue;
        }
        const double bytes = (double)info.file_bytes;
        r.bytes = plain + bytes;
        if (coder != TSR_COMPRESS_FAST && gzip > 0 && zstd > 0 && xz > 0 && (head || coder == TSR_COMPRESS_PREDICT)) {
            r.bar = head ? "35 % smaller than gzip -9, 20 % than zstd -19" : "smaller than xz -9";
            r.holds = head ? bytes <= 0.65 * gzip && bytes <= 0.8 * zstd : bytes < xz;
        }
        if (peer.bytes > 0) {
            r.peer = "OpenJPEG, slices";
            r.peer_time = peer.encode;
        }
        bench_report(b, &r);
        printf("      %.0f bytes of %.0f; gzip -9 %.0f, zstd -19 %.0f, xz -9 %.0f, OpenJPEG %.0f\n", bytes, plain, gzip, zstd, xz, peer.bytes);
        snprintf(name, sizeof name, "%s lossless %s decode", what, coders[coder]);
        bench_case d = { .name = name, .n = r.n, .bytes = r.bytes, .peer = r.peer, .peer_time = peer.decode };
        d.time = coder >= TSR_COMPRESS_FAST ? bench_measure(b, run_decode, j, NULL) : once(b, run_decode, j);
        if (coder >= TSR_COMPRESS_FAST && j->threads == 1) {
            d.bar = "300 MB/s per core";
            d.holds = plain / d.time.median >= 300e6;
        }
        bench_report(b, &d);
        printf("      %.1f MB/s of voxels\n", plain / d.time.median / 1e6);
    }
}

static void lossy(bench *b, struct job *j)
{
    tsr_compress_info info = TSR_COMPRESS_INFO;
    if (!bench_wants(b, "head rate 0.5 encode")) return;
    j->options = (tsr_compress_options){ .struct_size = sizeof j->options, .rate = 0.5, .threads = j->threads, .overwrite = 1 };
    const double start = bench_clock(b->clock);
    if (tsr_volume_compress(j->volume, j->file, &j->options, &info) != TSR_OK) {
        fprintf(stderr, "bench compress: rate: %s\n", tsr_error_message());
        return;
    }
    const double seconds = bench_clock(b->clock) - start;
    const struct openjpeg peer = openjpeg(b, j, 0.5);
    bench_case r = { .name = "head rate 0.5 encode",
                     .n = tsr_volume_count(j->volume),
                     .time = { seconds, seconds, seconds, 1 },
                     .bytes = (double)tsr_volume_count(j->volume) + (double)info.file_bytes };
    if (peer.bytes > 0) {
        r.peer = "OpenJPEG, slices";
        r.peer_time = peer.encode;
        r.bar = "PSNR above OpenJPEG's";
        r.holds = info.psnr > peer.psnr;
    }
    bench_report(b, &r);
    printf("      %lld bytes, %.2f dB", (long long)info.file_bytes, info.psnr);
    if (peer.bytes > 0) printf("; OpenJPEG %.0f bytes, %.2f dB", peer.bytes, peer.psnr);
    printf("\n");
    bench_case d = {
        .name = "head rate 0.5 decode", .n = r.n, .bytes = r.bytes, .time = once(b, run_decode, j), .peer = r.peer, .peer_time = peer.decode
    };
    bench_report(b, &d);
}

static void file(bench *b, const char *path, const char *what, int head)
{
    struct job j = { .threads = b->threads };
    tsr_volume *v = NULL;
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1, .format = "raw" };
    if (tsr_volume_read(path, NULL, &v) != TSR_OK) {
        printf("    left out: %s (%s)\n", what, tsr_error_message());
        return;
    }
    j.volume = v;
    snprintf(j.file, sizeof j.file, "bench-%ld.tsc", (long)getpid());
    snprintf(j.raw, sizeof j.raw, "bench-%ld.raw", (long)getpid());
    if (tsr_volume_write(v, j.raw, &write) == TSR_OK)
        lossless(b, &j, what, packed(&j, "gzip -9"), packed(&j, "zstd -q -19"), packed(&j, "xz -9"), head);
    if (head) lossy(b, &j);
    remove(j.file);
    remove(j.raw);
    tsr_volume_destroy(&v);
}

/* ---- on a device ---------------------------------------------------------------------------------------------------------------------------------- */

struct device_job {
    tsr_compressed *compressed;
    tsr_context *context;
};

static tsr_status run_device_decode(void *user)
{
    const struct device_job *j = (const struct device_job *)user;
    tsr_volume *v = NULL;
    const tsr_status status = tsr_compressed_decode(j->compressed, NULL, &v, NULL); /* complete on return: its report was read */
    tsr_volume_destroy(&v);
    return status;
}

/* The volume side by side with its mirror images: `times` as long along each axis. */
static tsr_volume *mirrored(const tsr_volume *v, int64_t times)
{
    const tsr_size3 n = tsr_volume_size(v), m = { n.x * times, n.y * times, n.z * times };
    const size_t e = tsr_dtype_size(tsr_volume_dtype(v));
    tsr_volume *r = NULL;
    if (tsr_volume_create(NULL, tsr_volume_dtype(v), m, NULL, &r) != TSR_OK) return NULL;
    const char *from = (const char *)tsr_volume_data_const(v);
    char *to = (char *)tsr_volume_data(r);
    for (int64_t z = 0; z < m.z; z++)
        for (int64_t y = 0; y < m.y; y++)
            for (int64_t x = 0; x < m.x; x++, to += e) {
                const int64_t a = x / n.x & 1 ? n.x - 1 - x % n.x : x % n.x, b = y / n.y & 1 ? n.y - 1 - y % n.y : y % n.y,
                              c = z / n.z & 1 ? n.z - 1 - z % n.z : z % n.z;
                memcpy(to, from + (size_t)((c * n.y + b) * n.x + a) * e, e);
            }
    return r;
}

/* Voxels and file in device memory; the same bits as the host's. */
static void device_file(bench *b, const char *path, const char *what, int64_t times)
{
    char file[300], name[128];
    tsr_volume *v = NULL, *there = NULL, *back = NULL;
    struct device_job j = { .context = b->context };
    tsr_compress_info info = TSR_COMPRESS_INFO;
    const tsr_compress_options o = { .struct_size = sizeof o, .coder = TSR_COMPRESS_RANS, .threads = b->threads, .overwrite = 1 };
    snprintf(name, sizeof name, "%s lossless rans decode", what);
    if (!bench_wants(b, name)) return;
    if (tsr_volume_read(path, NULL, &v) != TSR_OK) {
        printf("    left out: %s (%s)\n", what, tsr_error_message());
        return;
    }
    if (times > 1) {
        tsr_volume *large = mirrored(v, times);
        tsr_volume_destroy(&v);
        v = large;
    }
    snprintf(file, sizeof file, "bench-%ld.tsc", (long)getpid());
    const size_t plain = v ? (size_t)tsr_volume_count(v) * tsr_dtype_size(tsr_volume_dtype(v)) : 0;
    if (!v || tsr_volume_compress(v, file, &o, &info) != TSR_OK || tsr_compressed_create(b->context, file, NULL, &j.compressed) != TSR_OK ||
        tsr_compressed_decode(j.compressed, NULL, &there, NULL) != TSR_OK || tsr_volume_copy(there, NULL, &back) != TSR_OK ||
        memcmp(tsr_volume_data_const(v), tsr_volume_data_const(back), plain) != 0) {
        fprintf(stderr, "bench compress: %s: not the same voxels: %s\n", what, tsr_error_message());
    } else {
        bench_case r = { .name = name, .n = tsr_volume_count(v), .bytes = (double)plain + (double)info.file_bytes, .bar = "20 GB/s of voxels" };
        r.time = bench_measure(b, run_device_decode, &j, NULL);
        r.holds = (double)plain / r.time.median >= 20e9;
        bench_report(b, &r);
        printf("      %lld bytes of %zu, %.1f GB/s of voxels\n", (long long)info.file_bytes, plain, (double)plain / r.time.median / 1e9);
    }
    remove(file);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&v);
    tsr_compressed_destroy(&j.compressed);
}

int main(int argc, char **argv)
{
    bench b;
    char path[600];
    const char *data = getenv("TESSERA_DATA");
    if (!bench_begin(&b, argc, argv, "compress")) return 2;
    snprintf(path, sizeof path, "%s/ct-chest.nrrd", data && *data ? data : "data");
    if (tsr_context_device(b.context).kind != TSR_DEVICE_CPU) {
        device_file(&b, "data/mri/ch2.nii.gz", "head", 1);
        device_file(&b, path, "chest", 1);
        device_file(&b, path, "chest and 7 mirror images", 2);
        return bench_end(&b);
    }
    file(&b, "data/mri/ch2.nii.gz", "head", 1);
    file(&b, path, "chest", 0);
    return bench_end(&b);
}
