/* bench_compress: compressed volumes, on real data: the T1 head of scripts/get-data.sh (data/mri/ch2.nii.gz) and the chest CT in TESSERA_DATA. Sizes are
 * measured beside gzip -9, zstd -19 and xz -9 on the same voxels; at half a bit per voxel the PSNR beside OpenJPEG's, slice by slice.
 *
 * Bound of decoding: the voxels are written once and the file is read once, at the copy's rate; the coders' arithmetic is far above it (predict: 20 x 24
 * products a voxel for the normal equations alone; planes: one coded bit at a time), so megabytes per second are the figure, and fast's bar is 300 per core. */
#include "bench.h"

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

static void lossless(bench *b, struct job *j, const char *what, double gzip, double zstd, double xz, int head)
{
    static const char *const coders[] = { NULL, "predict", "planes", "fast" };
    const double plain = (double)tsr_volume_count(j->volume) * (double)tsr_dtype_size(tsr_volume_dtype(j->volume));
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        char name[128];
        tsr_compress_info info;
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
        bench_report(b, &r);
        printf("      %.0f bytes of %.0f; gzip -9 %.0f, zstd -19 %.0f, xz -9 %.0f\n", bytes, plain, gzip, zstd, xz);
        snprintf(name, sizeof name, "%s lossless %s decode", what, coders[coder]);
        bench_case d = { .name = name, .n = r.n, .bytes = r.bytes };
        d.time = coder == TSR_COMPRESS_FAST ? bench_measure(b, run_decode, j, NULL) : once(b, run_decode, j);
        if (coder == TSR_COMPRESS_FAST && j->threads == 1) {
            d.bar = "300 MB/s per core";
            d.holds = plain / d.time.median >= 300e6;
        }
        bench_report(b, &d);
        printf("      %.1f MB/s of voxels\n", plain / d.time.median / 1e6);
    }
}

/* PSNR (range 255) of OpenJPEG on slices of u8, every slice at the same rate; 0 without it. */
static double openjpeg(const tsr_volume *v, double bits, double *bytes)
{
    const tsr_size3 s = tsr_volume_size(v);
    const size_t n = (size_t)(s.x * s.y);
    const uint8_t *voxels = (const uint8_t *)tsr_volume_data_const(v);
    uint8_t *back = (uint8_t *)malloc(n + 64);
    double sum = 0;
    *bytes = 0;
    for (int64_t z = 0; z < s.z && back; z++) {
        char command[400], text[64];
        FILE *f = fopen("bench-slice.pgm", "wb");
        if (!f) break;
        fprintf(f, "P5\n%lld %lld\n255\n", (long long)s.x, (long long)s.y);
        fwrite(voxels + (size_t)z * n, 1, n, f);
        fclose(f);
        snprintf(command, sizeof command,
                 "opj_compress -i bench-slice.pgm -o bench-slice.j2k -I -r %g >/dev/null 2>&1 && opj_decompress -i bench-slice.j2k -o bench-back.pgm "
                 ">/dev/null 2>&1 && wc -c <bench-slice.j2k",
                 8 / bits);
        bench_command(command, text, sizeof text);
        f = fopen("bench-back.pgm", "rb");
        const int good = f && !fseek(f, -(long)n, SEEK_END) && fread(back, 1, n, f) == n;
        if (f) fclose(f);
        if (!good || !(atof(text) > 0)) {
            *bytes = 0;
            break;
        }
        *bytes += atof(text);
        for (size_t i = 0; i < n; i++) sum += ((double)back[i] - voxels[(size_t)z * n + i]) * ((double)back[i] - voxels[(size_t)z * n + i]);
    }
    free(back);
    remove("bench-slice.pgm");
    remove("bench-slice.j2k");
    remove("bench-back.pgm");
    return *bytes > 0 ? 20 * log10(255 / sqrt(sum / (double)tsr_volume_count(v))) : 0;
}

static void lossy(bench *b, struct job *j)
{
    tsr_compress_info info = { 0 };
    double bytes;
    if (!bench_wants(b, "head rate 0.5 encode")) return;
    j->options = (tsr_compress_options){ .struct_size = sizeof j->options, .rate = 0.5, .threads = j->threads, .overwrite = 1 };
    const double start = bench_clock(b->clock);
    if (tsr_volume_compress(j->volume, j->file, &j->options, &info) != TSR_OK) {
        fprintf(stderr, "bench compress: rate: %s\n", tsr_error_message());
        return;
    }
    const double seconds = bench_clock(b->clock) - start, peer = b->quick ? 0 : openjpeg(j->volume, 0.5, &bytes);
    bench_case r = { .name = "head rate 0.5 encode",
                     .n = tsr_volume_count(j->volume),
                     .time = { seconds, seconds, seconds, 1 },
                     .bytes = (double)tsr_volume_count(j->volume) + (double)info.file_bytes };
    if (peer > 0) {
        r.bar = "PSNR above OpenJPEG's";
        r.holds = info.psnr > peer;
    }
    bench_report(b, &r);
    printf("      %lld bytes, %.2f dB", (long long)info.file_bytes, info.psnr);
    if (peer > 0) printf("; OpenJPEG %.0f bytes, %.2f dB", bytes, peer);
    printf("\n");
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

int main(int argc, char **argv)
{
    bench b;
    char path[600];
    const char *data = getenv("TESSERA_DATA");
    if (!bench_begin(&b, argc, argv, "compress")) return 2;
    if (tsr_context_device(b.context).kind != TSR_DEVICE_CPU) {
        fprintf(stderr, "bench compress: --device cpu is what is measured\n");
        return 2;
    }
    file(&b, "data/mri/ch2.nii.gz", "head", 1);
    snprintf(path, sizeof path, "%s/ct-chest.nrrd", data && *data ? data : "data");
    file(&b, path, "chest", 0);
    return bench_end(&b);
}
