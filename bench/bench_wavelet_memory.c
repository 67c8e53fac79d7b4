/* bench_wavelet_memory: what transforms take beside their data, and in parts on several devices (as many as there are, by turns). In place: the workspace of the plan. From file to file: the most that the process
 * had in memory at once, pages of files included, while a volume of eight times the limit went there and back. The case of 8 GiB runs where
 * --only names it, or with TESSERA_BENCH_LARGE set: it needs 28 GB of disk where TMPDIR (or /tmp) lies, and minutes. */
#include "bench.h"

#include <sys/stat.h>

/* ---- in place -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct inplace_case {
    const char *name;
    tsr_wavelet_layout layout;
    tsr_dtype dtype;
    int32_t dimensions;
    int64_t size[3];
} inplace_case;

struct job {
    tsr_wavelet_plan *plan;
    void *data, *workspace;
    int inverse;
};

/* There and back by turns: the values stay. */
static tsr_status run(void *user)
{
    struct job *j = (struct job *)user;
    j->inverse = !j->inverse;
    return j->inverse ? tsr_wavelet_forward(j->plan, j->data, j->data, j->workspace) : tsr_wavelet_inverse(j->plan, j->data, j->data, j->workspace);
}

static void in_place(bench *b, const inplace_case *c)
{
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    struct job j = { 0 };
    char name[128];
    if (!bench_wants(b, c->name)) return;
    o.inplace = 1;
    o.unchecked = 1;
    o.layout = c->layout;
    tsr_status status = tsr_wavelet_plan_create(b->context, c->dtype, c->dimensions, c->size, &o, &j.plan);
    if (status == TSR_OK) tsr_wavelet_plan_describe(j.plan, &info);
    const size_t bytes = status == TSR_OK ? (size_t)info.elements * tsr_dtype_size(c->dtype) : 0;
    if (status == TSR_OK) status = tsr_device_allocate(b->context, bytes, &j.data);
    if (status == TSR_OK) status = tsr_device_allocate(b->context, (size_t)info.workspace_bytes, &j.workspace);
    if (status == TSR_OK) status = b->context->backend->fill(b->context->queue, j.data, 0, bytes);
    if (status == TSR_OK) {
        const double share = (double)info.workspace_bytes / (double)bytes;
        snprintf(name, sizeof name, "%s, workspace %.2f %% of the data", c->name, 100 * share);
        bench_report(b, &(bench_case){ .name = name,
                                       .n = info.elements,
                                       .time = bench_measure(b, run, &j, NULL),
                                       .bytes = 0.5 * (double)(info.forward_bytes + info.inverse_bytes),
                                       .bar = "at most 2 % over the data",
                                       .holds = share <= 0.02 });
    } else fprintf(stderr, "bench %s: %s\n", b->subject, tsr_error_trace());
    if (j.data) tsr_device_release(b->context, j.data, bytes);
    if (j.workspace) tsr_device_release(b->context, j.workspace, (size_t)info.workspace_bytes);
    tsr_wavelet_plan_destroy(&j.plan);
}

/* ---- in parts ------------------------------------------------------------------------------------------------------------------------------------ */

enum { PARTS = 4 };

struct parts {
    tsr_wavelet_domain *domain;
    tsr_wavelet_plan *plan; /* the whole on one device: the peer */
    tsr_context *context[PARTS];
    void *samples[PARTS], *coefficients[PARTS], *whole[2], *workspace;
    size_t bytes[PARTS], whole_bytes, workspace_bytes;
    int count;
};

static tsr_status run_parts(void *user)
{
    struct parts *p = (struct parts *)user;
    return tsr_wavelet_domain_forward(p->domain, (const void *const *)p->samples, p->coefficients);
}
static tsr_status run_whole(void *user)
{
    struct parts *p = (struct parts *)user;
    return tsr_wavelet_forward(p->plan, p->whole[0], p->whole[1], p->workspace);
}

static tsr_status make_parts(bench *b, struct parts *p, const int64_t size[3])
{
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    const tsr_device own = tsr_context_device(b->context);
    tsr_device_info about = TSR_DEVICE_INFO;
    const int32_t devices = own.kind == TSR_DEVICE_CUDA ? tsr_device_count(own.kind, &about) : 1;
    for (int k = 0; k < p->count; k++) {
        tsr_context_options on = TSR_CONTEXT_OPTIONS;
        char device[32];
        if (own.kind == TSR_DEVICE_CUDA) snprintf(device, sizeof device, "cuda:%d", k % (devices > 0 ? devices : 1));
        else snprintf(device, sizeof device, "%s", tsr_device_kind_name(own.kind));
        on.device = device;
        on.threads = b->threads;
        TSR_TRY(tsr_context_create(&on, &p->context[k]));
    }
    TSR_TRY(tsr_wavelet_domain_create(p->context, p->count, NULL, TSR_F32, 3, size, &o, &p->domain));
    for (int32_t k = 0; k < p->count; k++) {
        tsr_wavelet_part part;
        TSR_TRY(tsr_wavelet_domain_part(p->domain, k, &part));
        p->bytes[k] = (size_t)part.elements * 4;
        TSR_TRY(tsr_device_allocate(p->context[k], p->bytes[k], &p->samples[k]));
        TSR_TRY(tsr_device_allocate(p->context[k], p->bytes[k], &p->coefficients[k]));
        TSR_TRY(p->context[k]->backend->fill(p->context[k]->queue, p->samples[k], 0, p->bytes[k]));
    }
    TSR_TRY(tsr_wavelet_plan_create(b->context, TSR_F32, 3, size, &o, &p->plan));
    tsr_wavelet_plan_describe(p->plan, &info);
    p->whole_bytes = (size_t)info.elements * 4;
    p->workspace_bytes = (size_t)info.workspace_bytes;
    for (int k = 0; k < 2; k++) TSR_TRY(tsr_device_allocate(b->context, p->whole_bytes, &p->whole[k]));
    TSR_TRY(tsr_device_allocate(b->context, p->workspace_bytes, &p->workspace));
    TSR_TRY(b->context->backend->fill(b->context->queue, p->whole[0], 0, p->whole_bytes));
    return TSR_OK;
}

/* Forward in parts beside the whole on one device, the results left where they are. */
static void in_parts(bench *b, int count)
{
    const int64_t edge = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA ? 512 : 256, size[3] = { edge, edge, edge };
    struct parts p = { .count = count };
    char name[96];
    snprintf(name, sizeof name, "in parts: %lld^3 f32 3 levels legall53, %d", (long long)edge, count);
    if (!bench_wants(b, name)) return;
    if (make_parts(b, &p, size) == TSR_OK)
        bench_report(b, &(bench_case){ .name = name,
                                       .n = edge * edge * edge,
                                       .time = bench_measure(b, run_parts, &p, NULL),
                                       .bytes = 2.0 * (double)p.whole_bytes * 1.140625,
                                       .peer = "one plan, one device",
                                       .peer_time = bench_measure(b, run_whole, &p, NULL) });
    else fprintf(stderr, "bench %s: %s\n", b->subject, tsr_error_trace());
    tsr_wavelet_domain_destroy(&p.domain);
    tsr_wavelet_plan_destroy(&p.plan);
    for (int k = 0; k < 2; k++)
        if (p.whole[k]) tsr_device_release(b->context, p.whole[k], p.whole_bytes);
    if (p.workspace) tsr_device_release(b->context, p.workspace, p.workspace_bytes);
    for (int k = 0; k < count; k++) {
        if (p.samples[k]) tsr_device_release(p.context[k], p.samples[k], p.bytes[k]);
        if (p.coefficients[k]) tsr_device_release(p.context[k], p.coefficients[k], p.bytes[k]);
        tsr_context_destroy(&p.context[k]);
    }
}

/* ---- from file to file --------------------------------------------------------------------------------------------------------------------------- */

static double peak_bytes(void)
{
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6)) kb = strtod(line + 6, NULL);
    if (f) fclose(f);
    return 1024 * kb;
}

static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f) return;
    fputs("5", f);
    fclose(f);
}

static int write_noise(const char *path, int64_t slice, int64_t slices)
{
    int16_t *data = (int16_t *)malloc((size_t)slice * 2);
    FILE *f = fopen(path, "wb");
    uint64_t x = 88172645463325252u;
    int good = data && f;
    for (int64_t z = 0; good && z < slices; z++) {
        for (int64_t i = 0; i < slice; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            data[i] = (int16_t)((int)(x >> 40 & 127) - 64);
        }
        good = fwrite(data, 2, (size_t)slice, f) == (size_t)slice;
    }
    if (f) good &= fclose(f) == 0;
    free(data);
    return good;
}

static void out_of_core(bench *b, const char *name, tsr_size3 size, int64_t limit, const char *bar, double most)
{
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    const char *folder = getenv("TMPDIR");
    char paths[3][1024], line[192];
    static const char *const names[] = { "in.raw", "c.nrrd", "back.raw" };
    for (int k = 0; k < 3; k++)
        snprintf(paths[k], sizeof paths[k], "%s/bench-wavelet-%ld-%s", folder && *folder ? folder : "/tmp", (long)getpid(), names[k]);
    if (!write_noise(paths[0], size.x * size.y, size.z)) fprintf(stderr, "bench %s: %s cannot be written\n", b->subject, paths[0]);
    else
        for (int inverse = 0; inverse < 2; inverse++) {
            tsr_wavelet_file_info info = TSR_WAVELET_FILE_INFO;
            read.memory_limit = limit;
            read.raw_shape = inverse ? (tsr_size3){ 0, 0, 0 } : size;
            read.raw_dtype = TSR_I16;
            write.overwrite = 1;
            forget_peak();
            const double begin = bench_clock(b->clock);
            const tsr_status status = inverse ? tsr_file_idwt(b->context, paths[1], &read, paths[2], &write, &info)
                                              : tsr_file_dwt(b->context, paths[0], &read, &o, TSR_I16, paths[1], &write, &info);
            const double seconds = bench_clock(b->clock) - begin, peak = peak_bytes();
            if (status != TSR_OK) {
                fprintf(stderr, "bench %s: %s\n", b->subject, tsr_error_trace());
                break;
            }
            snprintf(line, sizeof line, "%s, %s, %lld slabs, %.0f MB of memory at most", name, inverse ? "inverse" : "forward", (long long)info.parts,
                     1e-6 * peak);
            bench_report(b, &(bench_case){ .name = line,
                                           .n = size.x * size.y * size.z,
                                           .time = { seconds, seconds, seconds, 1 },
                                           .bytes = 4.0 * (double)(size.x * size.y * size.z),
                                           .bar = bar,
                                           .holds = peak <= most });
        }
    for (int k = 0; k < 3; k++) unlink(paths[k]);
}

int main(int argc, char **argv)
{
    static const inplace_case cases[] = {
        { "in place interleaved 4096^2 i16 3 levels", TSR_WAVELET_INTERLEAVED, TSR_I16, 2, { 4096, 4096 } },
        { "in place split 4096^2 i16 3 levels", TSR_WAVELET_SPLIT, TSR_I16, 2, { 4096, 4096 } },
        { "in place interleaved 4096^2 f32 3 levels", TSR_WAVELET_INTERLEAVED, TSR_F32, 2, { 4096, 4096 } },
        { "in place interleaved 256^3 i16 3 levels", TSR_WAVELET_INTERLEAVED, TSR_I16, 3, { 256, 256, 256 } },
        { "in place split 256^3 i16 3 levels", TSR_WAVELET_SPLIT, TSR_I16, 3, { 256, 256, 256 } },
        { "in place split 256^3 f32 3 levels", TSR_WAVELET_SPLIT, TSR_F32, 3, { 256, 256, 256 } },
    };
    static const char *const small = "out of core 256 MiB in 32 MiB", *const large = "out of core 8 GiB in 1 GiB";
    bench b;
    if (!bench_begin(&b, argc, argv, "wavelet-memory")) return 2;
    const int on_cpu = tsr_context_device(b.context).kind == TSR_DEVICE_CPU;
    /* 24 MB: the program, its libraries and buffers */
    if (on_cpu && bench_wants(&b, small))
        out_of_core(&b, small, (tsr_size3){ 512, 512, 512 }, 32 << 20, "32 MiB and 24 MB", (double)(32 << 20) + 24e6);
    if (on_cpu && (getenv("TESSERA_BENCH_LARGE") || (b.only && strstr(b.only, "8 GiB"))) && bench_wants(&b, large))
        out_of_core(&b, large, (tsr_size3){ 2048, 2048, 1024 }, INT64_C(1000000000), "1 GiB, all of it", 1073741824.0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) in_place(&b, &cases[k]);
    for (int parts = 1; parts <= PARTS; parts *= 2) in_parts(&b, parts);
    return bench_end(&b);
}
