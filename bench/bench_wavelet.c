/* bench_wavelet: lifting transforms. Bytes that must move: each level reads and writes its samples once, or twice where it takes two passes (the
 * plan's own account). Peers in the same run, where they are installed: PyWavelets (its own process, one thread: it has no more); OpenJPEG, whose transform
 * is not to be called alone: it is the time of coding a constant plane with the levels less the time without them, since there is nothing to code in
 * either and what lifting takes does not depend on the samples (its coder's walk over the code blocks is in both). The other ways of the
 * [Laan11w], wavelet_variants.h, by turns with the library, their coefficients compared with its own first: on a GPU by kernels as [Laan11w] has them. */
#include <dlfcn.h>

#include "bench.h"
#include "wavelet_denoise.h"
#include "wavelet_variants.h"
#ifdef BENCH_OPENJPEG
#include "peers/openjpeg_planes.h"
#endif

struct job {
    tsr_context *context;
    tsr_wavelet_plan *plan;
    void *samples, *coefficients, *workspace;
    int inverse;
};

static tsr_status run(void *user)
{
    const struct job *j = (const struct job *)user;
    return j->inverse ? tsr_wavelet_inverse(j->plan, j->coefficients, j->samples, j->workspace)
                      : tsr_wavelet_forward(j->plan, j->samples, j->coefficients, j->workspace);
}

typedef struct wavelet_case {
    const char *name;
    tsr_wavelet_filter filter;
    tsr_dtype dtype;
    int32_t dimensions, levels;
    int64_t size[3], batch;
    double cpu_bar, gpu_bar; /* seconds; 0: none */
    double gpu_share;        /* of the copy ceiling; 0: none */
    const char *bar[2];      /* in words, cpu and gpu */
    int gpu_only;
    const char *peer;  /* PyWavelets: "wavelet mode" */
    double peer_ratio; /* per thread */
} wavelet_case;

/* Noise within 8 bits: no coefficient of any case leaves 16. */
static tsr_status fill(bench *b, void *device, tsr_dtype dtype, int64_t n)
{
    size_t element = tsr_dtype_size(dtype), part = (size_t)1 << 22;
    void *host = malloc(part * element);
    tsr_status status = host ? TSR_OK : TSR_ERROR_MEMORY;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; host && i < part; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int v = (int)(x >> 40 & 127) - 64;
        if (dtype == TSR_I16) ((int16_t *)host)[i] = (int16_t)v;
        else if (dtype == TSR_I32) ((int32_t *)host)[i] = v;
        else ((float *)host)[i] = (float)v;
    }
    for (int64_t at = 0; status == TSR_OK && at < n; at += (int64_t)part) {
        size_t count = n - at < (int64_t)part ? (size_t)(n - at) : part;
        status = tsr_device_move(b->context, (char *)device + (size_t)at * element, NULL, host, count * element);
    }
    free(host);
    return status;
}

/* Median seconds of PyWavelets' wavedecn, or no runs; by the same clock as ours. */
static bench_time peer(const bench *b, const wavelet_case *c)
{
    char command[1024], text[128];
    const char *clock = b->clock == CLOCK_MONOTONIC ? "perf_counter" : "process_time";
    int axes = c->dimensions;
    snprintf(command, sizeof command,
             "/usr/bin/env OMP_NUM_THREADS=1 /usr/bin/python3 -c \"import time,numpy,pywt\n"
             "a=numpy.random.default_rng(1).standard_normal((%s%lld,%lld)).astype('float32')\n"
             "def f():\n t=time.%s();pywt.wavedecn(a,'%s','periodization',%d);return time.%s()-t\n"
             "s=sorted(f() for i in range(3));print(s[0],s[1],s[2])\" 2>/dev/null",
             axes == 3 ? "512," : "", (long long)c->size[1], (long long)c->size[0], clock, c->peer, c->levels, clock);
    bench_command(command, text, sizeof text);
    bench_time t = { 0 };
    if (sscanf(text, "%lf %lf %lf", &t.min, &t.median, &t.max) == 3) t.runs = 3;
    return t;
}

/* `axes`: that are transformed; 0: all. */
static void one(bench *b, const wavelet_case *c, uint32_t axes, int inverse)
{
    char name[128];
    int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    struct job j = { .context = b->context, .inverse = inverse };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    snprintf(name, sizeof name, "%s %s", c->name, inverse ? "inverse" : "forward");
    if (!bench_wants(b, name)) return;
    o.filter = c->filter;
    o.levels = c->levels;
    o.axes = axes;
    o.batch = c->batch;
    o.unchecked = gpu; /* a checked transform waits for the queue */
    if (tsr_wavelet_plan_create(b->context, c->dtype, c->dimensions, c->size, &o, &j.plan) != TSR_OK) goto done;
    tsr_wavelet_plan_describe(j.plan, &info);
    int64_t n = info.elements * (c->batch ? c->batch : 1);
    size_t bytes = (size_t)n * tsr_dtype_size(c->dtype), workspace = (size_t)info.workspace_bytes;
    if (tsr_device_allocate(b->context, bytes, &j.samples) == TSR_OK && tsr_device_allocate(b->context, bytes, &j.coefficients) == TSR_OK &&
        tsr_device_allocate(b->context, workspace, &j.workspace) == TSR_OK && fill(b, j.samples, c->dtype, n) == TSR_OK &&
        tsr_wavelet_forward(j.plan, j.samples, j.coefficients, j.workspace) == TSR_OK) {
        bench_case r = { .name = name, .n = n, .time = bench_measure(b, run, &j, NULL) };
        r.bytes = (double)(inverse ? info.inverse_bytes : info.forward_bytes);
        double limit = gpu ? c->gpu_bar : c->cpu_bar;
        if (gpu && c->gpu_share > 0) limit = r.bytes / b->ceiling / c->gpu_share;
        if (c->peer && !gpu && !inverse && !b->quick) {
            r.peer_time = peer(b, c);
            r.peer = "PyWavelets, one thread";
        }
        if (limit > 0 && !inverse) {
            r.bar = c->bar[gpu];
            r.holds = r.time.median <= limit;
            if (r.peer_time.runs) r.holds = r.holds && r.peer_time.median >= c->peer_ratio * r.time.median * b->threads;
        }
        bench_report(b, &r);
    } else {
        fprintf(stderr, "bench wavelet: %s: %s\n", name, tsr_error_message());
    }
    tsr_device_release(b->context, j.samples, bytes);
    tsr_device_release(b->context, j.coefficients, bytes);
    tsr_device_release(b->context, j.workspace, workspace);
done:
    tsr_wavelet_plan_destroy(&j.plan);
}

/* ---- in parts ---------------------------------------------------------------------------------------------------------------------------------- */

enum { MOST_GPUS = 8 };

struct parts {
    tsr_wavelet_domain *domain;
    void *samples[MOST_GPUS], *coefficients[MOST_GPUS];
    int inverse;
};

static tsr_status run_parts(void *user)
{
    const struct parts *p = (const struct parts *)user;
    return p->inverse ? tsr_wavelet_domain_inverse(p->domain, (const void *const *)p->coefficients, p->samples)
                      : tsr_wavelet_domain_forward(p->domain, (const void *const *)p->samples, p->coefficients);
}

/* A volume over several GPUs of one process; the halos go from one to the other. A call ends when all are done. Peer: one GPU, the same way. */
static void in_parts(bench *b, int32_t gpus, bench_time alone[2])
{
    const int64_t size[3] = { 1024, 1024, 1024 };
    tsr_context *contexts[MOST_GPUS] = { b->context };
    size_t bytes[MOST_GPUS] = { 0 };
    struct parts p = { 0 };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_status status = TSR_OK;
    char name[2][128];
    for (int inverse = 0; inverse < 2; inverse++)
        snprintf(name[inverse], sizeof *name, "3D 1024^3 f32 3 levels legall53 in parts, %d GPUs, %s", gpus, inverse ? "inverse" : "forward");
    if (!bench_wants(b, name[0]) && !bench_wants(b, name[1])) return;
    for (int32_t k = 1; k < gpus && status == TSR_OK; k++) {
        char device[32];
        tsr_context_options c = TSR_CONTEXT_OPTIONS;
        snprintf(device, sizeof device, "cuda:%d", k);
        c.device = device;
        status = tsr_context_create(&c, &contexts[k]);
    }
    o.levels = 3;
    if (status == TSR_OK) status = tsr_wavelet_domain_create(contexts, gpus, NULL, TSR_F32, 3, size, &o, &p.domain);
    for (int32_t k = 0; k < gpus && status == TSR_OK; k++) {
        tsr_wavelet_part about;
        bench on = *b;
        on.context = contexts[k];
        status = tsr_wavelet_domain_part(p.domain, k, &about);
        bytes[k] = (size_t)about.elements * sizeof(float);
        if (status == TSR_OK) status = tsr_device_allocate(contexts[k], bytes[k], &p.samples[k]);
        if (status == TSR_OK) status = tsr_device_allocate(contexts[k], bytes[k], &p.coefficients[k]);
        if (status == TSR_OK) status = fill(&on, p.samples[k], TSR_F32, about.elements);
    }
    for (p.inverse = 0; p.inverse < 2 && status == TSR_OK; p.inverse++) {
        const double elements = (double)(size[0] * size[1] * size[2]);
        bench_case r = { .name = name[p.inverse], .n = size[0] * size[1] * size[2], .time = bench_measure(b, run_parts, &p, NULL) };
        r.bytes = 2 * elements * sizeof(float) * (1 + 1.0 / 8 + 1.0 / 64) / gpus; /* of each */
        if (gpus == 1) alone[p.inverse] = r.time;
        else if (alone[p.inverse].runs) {
            r.peer = "one GPU, in one part";
            r.peer_time = alone[p.inverse];
        }
        bench_report(b, &r);
    }
    if (status != TSR_OK) fprintf(stderr, "bench wavelet: %s: %s\n", name[0], tsr_error_message());
    tsr_wavelet_domain_destroy(&p.domain);
    for (int32_t k = 0; k < gpus; k++) {
        if (p.samples[k]) tsr_device_release(contexts[k], p.samples[k], bytes[k]);
        if (p.coefficients[k]) tsr_device_release(contexts[k], p.coefficients[k], bytes[k]);
        if (k) tsr_context_destroy(&contexts[k]);
    }
}

/* ---- OpenJPEG ------------------------------------------------------------------------------------------------------------------------------ */

#ifdef BENCH_OPENJPEG
enum { PLANE = 4096, PLANE_LEVELS = 3 };

/* Seconds of OpenJPEG for a constant plane, with and without levels by turns; of the codec alone: image and stream are not in the clock. */
static bench_time openjpeg_transform(const bench *b, int irreversible, int inverse)
{
    enum { RUNS = 5 };
    int32_t *plane = (int32_t *)calloc((size_t)PLANE * PLANE, sizeof *plane), w, h;
    double seconds[RUNS];
    int good = plane != NULL;
    for (int run = 0; run < RUNS && good; run++) {
        double t[2] = { 0, 0 };
        for (int with = 0; with < 2 && good; with++) {
            const openjpeg_options o = { 8, 1, with ? PLANE_LEVELS : 0, irreversible, 0 };
            openjpeg_stream stream = { 0 };
            double start = bench_clock(b->clock);
            good = openjpeg_encode(plane, PLANE, PLANE, &o, &stream);
            if (inverse) {
                start = bench_clock(b->clock);
                good = good && openjpeg_decode(&stream, 0, plane, &w, &h);
            }
            t[with] = bench_clock(b->clock) - start;
            free(stream.data);
        }
        seconds[run] = t[1] - t[0];
    }
    free(plane);
    return bench_summary(b, seconds, RUNS, good);
}

static void openjpeg(bench *b, int irreversible, int inverse)
{
    char name[128];
    const int64_t size[2] = { PLANE, PLANE };
    const size_t bytes = (size_t)PLANE * PLANE * 4;
    struct job j = { .context = b->context, .inverse = inverse };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    snprintf(name, sizeof name, "2D 4096^2 %s 3 levels symmetric %s %s", irreversible ? "f32" : "i32", irreversible ? "daub97" : "jpeg53",
             inverse ? "inverse" : "forward");
    if (!bench_wants(b, name)) return;
    o.filter = irreversible ? TSR_WAVELET_DAUB97 : TSR_WAVELET_JPEG53;
    o.boundary = TSR_WAVELET_SYMMETRIC;
    o.levels = PLANE_LEVELS;
    if (tsr_wavelet_plan_create(b->context, irreversible ? TSR_F32 : TSR_I32, 2, size, &o, &j.plan) != TSR_OK) return;
    tsr_wavelet_plan_describe(j.plan, &info);
    j.samples = calloc(1, bytes);
    j.coefficients = calloc(1, bytes);
    j.workspace = malloc((size_t)info.workspace_bytes);
    if (j.samples && j.coefficients && j.workspace) {
        bench_case r = { .name = name, .n = info.elements, .time = bench_measure(b, run, &j, NULL), .bytes = (double)info.forward_bytes };
        r.peer = "OpenJPEG, by difference, one thread";
        r.peer_time = openjpeg_transform(b, irreversible, inverse);
        bench_report(b, &r);
    }
    free(j.samples);
    free(j.coefficients);
    free(j.workspace);
    tsr_wavelet_plan_destroy(&j.plan);
}
#endif

/* ---- the other ways ------------------------------------------------------------------------------------------------------------------------ */

/* On a GPU: samples and planes are its memory, and the variants are a module (wavelet_variants_cuda.cu). */
typedef int (*variant_on_gpu)(tsr_queue *queue, const wavelet_variant_job *job, void *second);

struct ways {
    struct job library;
    wavelet_variant_job variant;
    void *second; /* the variant's second plane */
    variant_on_gpu gpu;
    void *host[2]; /* room to compare in */
    size_t bytes;
};
static tsr_status run_library(void *user) { return run(&((struct ways *)user)->library); }
static tsr_status run_variant(void *user)
{
    const struct ways *w = (const struct ways *)user;
    if (w->gpu) return w->gpu(w->library.context->queue, &w->variant, w->second) ? TSR_OK : TSR_ERROR_DEVICE;
    wavelet_variant_run(&w->variant);
    return TSR_OK;
}

static int same(const struct ways *w, const void *expected, const void *result, int real)
{
    if (tsr_device_move(NULL, w->host[0], w->library.context, expected, w->bytes) != TSR_OK) return 0;
    if (tsr_device_move(NULL, w->host[1], w->library.context, result, w->bytes) != TSR_OK) return 0;
    if (!real) return !memcmp(w->host[0], w->host[1], w->bytes);
    const float *a = (const float *)w->host[0], *b = (const float *)w->host[1];
    for (size_t i = 0; i < w->bytes / sizeof(float); i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5F * 128)) return 0;
    return 1;
}

/* Runs the variant once: does it give the library's coefficients, `plan` being in its layout, and for the inverse the samples back? A GPU's takes
 * the coefficients along: it works in the memory of the samples. */
static int agrees(struct ways *w, const tsr_wavelet_plan *plan, int real, int inverse, void *back)
{
    void *samples = w->library.samples, *mine = w->library.coefficients;
    if (!wavelet_variant_begin(&w->variant) || tsr_wavelet_forward(plan, samples, mine, w->library.workspace) != TSR_OK) return 0;
    if (run_variant(w) != TSR_OK || !same(w, mine, w->variant.coefficients, real)) return 0;
    if (!inverse) return 1;
    wavelet_variant_end(&w->variant);
    w->variant.inverse = w->library.inverse = 1;
    w->variant.samples = w->library.samples = back;
    if (!wavelet_variant_begin(&w->variant) || tsr_wavelet_forward(w->library.plan, samples, mine, w->library.workspace) != TSR_OK) return 0;
    if (w->gpu && tsr_device_move(w->library.context, back, w->library.context, w->variant.coefficients, w->bytes) != TSR_OK) return 0;
    return run_variant(w) == TSR_OK && same(w, samples, back, 0);
}

/* The library in its own layout (mallat) beside a variant in the variant's. */
static void way(bench *b, variant_on_gpu gpu, wavelet_variant variant, tsr_wavelet_filter filter, int32_t width, int32_t height, int inverse)
{
    const int real = variant == VARIANT_CONVOLUTION;
    const tsr_dtype dtype = real ? TSR_F32 : TSR_I16;
    const int64_t size[2] = { width, height };
    const size_t n = (size_t)width * (size_t)height, bytes = n * tsr_dtype_size(dtype);
    void *plane[5] = { NULL, NULL, NULL, NULL, NULL }; /* samples, coefficients of both, samples back, the second one */
    struct ways w = { .library = { .context = b->context },
                      .gpu = gpu,
                      .bytes = bytes,
                      .host = { malloc(bytes), malloc(bytes) },
                      .variant = { .variant = variant,
                                   .filter = filter,
                                   .width = width,
                                   .height = height,
                                   .levels = 3,
                                   .strip = 512,
                                   .rows = 16,
                                   .boundary = real ? TSR_WAVELET_SYMMETRIC : TSR_WAVELET_CLAMP,
                                   .threads = b->threads,
                                   .accuracy = real || filter == TSR_WAVELET_FIDELITY ? 0 : 1 } };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    char name[128];
    snprintf(name, sizeof name, "2D %dx%d %s 3 levels %s %s beside %s", width, height, tsr_dtype_name(dtype), tsr_wavelet_filter_name(filter),
             inverse ? "inverse" : "forward", wavelet_variant_name(variant));
    if (!bench_wants(b, name) || !w.host[0] || !w.host[1]) goto done;
    for (int k = 0; k < 5; k++)
        if (tsr_device_allocate(b->context, bytes, &plane[k]) != TSR_OK) goto failed;
    w.library.samples = w.variant.samples = plane[0];
    w.library.coefficients = plane[1];
    w.variant.coefficients = plane[2];
    w.second = plane[4];
    o.filter = filter;
    o.levels = 3;
    o.boundary = w.variant.boundary;
    o.accuracy = w.variant.accuracy ? 1 : -1;
    o.unchecked = 1; /* the others do not look for what leaves 16 bits either */
    if (tsr_wavelet_plan_create(b->context, dtype, 2, size, &o, &w.library.plan) != TSR_OK) goto failed;
    o.layout = wavelet_variant_layout(variant);
    if (tsr_wavelet_plan_create(b->context, dtype, 2, size, &o, &plan) != TSR_OK || fill(b, plane[0], dtype, (int64_t)n) != TSR_OK) goto failed;
    tsr_wavelet_plan_describe(plan, &info);
    const int64_t room = info.workspace_bytes;
    tsr_wavelet_plan_describe(w.library.plan, &info);
    if (info.workspace_bytes < room) info.workspace_bytes = room;
    if (tsr_device_allocate(b->context, (size_t)info.workspace_bytes, &w.library.workspace) != TSR_OK) goto failed;
    bench_case r = { .name = name, .n = (int64_t)n, .bytes = (double)(inverse ? info.inverse_bytes : info.forward_bytes) };
    r.peer = wavelet_variant_name(variant);
    if (agrees(&w, plan, real, inverse, plane[3])) {
        bench_measure_pair(b, run_library, run_variant, &w, &r.time, &r.peer_time);
    } else {
        fprintf(stderr, "bench wavelet: %s: the coefficients differ\n", name);
        r.bar = "the same coefficients";
    }
    bench_report(b, &r);
    goto done;
failed:
    fprintf(stderr, "bench wavelet: %s: %s\n", name, tsr_error_message());
done:
    wavelet_variant_end(&w.variant);
    tsr_device_release(b->context, w.library.workspace, (size_t)info.workspace_bytes);
    for (int k = 0; k < 5; k++) tsr_device_release(b->context, plane[k], bytes);
    free(w.host[0]);
    free(w.host[1]);
    tsr_wavelet_plan_destroy(&plan);
    tsr_wavelet_plan_destroy(&w.library.plan);
}

/* The module with the GPU's variants: beside the one of the library that is in use, or where this program was built. */
static variant_on_gpu open_variants(void)
{
    const char *folder = getenv("TESSERA_MODULES");
    char path[1024];
    void *module = NULL;
    if (folder && snprintf(path, sizeof path, "%s/libbench_wavelet_variants.so", folder) < (int)sizeof path)
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) module = dlopen(BENCH_MODULES "/libbench_wavelet_variants.so", RTLD_NOW | RTLD_LOCAL);
    if (!module) printf("no other ways beside: %s\n", dlerror());
    variant_on_gpu run_on_gpu = NULL;
    if (module) *(void **)&run_on_gpu = dlsym(module, "wavelet_variant_run_gpu");
    return run_on_gpu;
}

static void others(bench *b)
{
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    const variant_on_gpu on_gpu = gpu ? open_variants() : NULL;
    if (gpu && !on_gpu) return;
#ifdef BENCH_OPENJPEG
    for (int irreversible = 0; irreversible < 2 && !gpu; irreversible++)
        for (int inverse = 0; inverse < 2; inverse++) openjpeg(b, irreversible, inverse);
#endif
    for (int filter = 0; filter <= TSR_WAVELET_FIDELITY; filter++)
        for (int inverse = 0; inverse < 2; inverse++)
            for (int variant = 0; variant < (inverse ? VARIANT_CONVOLUTION : VARIANTS); variant++)
                way(b, on_gpu, (wavelet_variant)variant, (tsr_wavelet_filter)filter, 1920, 1080, inverse);
    for (int variant = 0; variant < VARIANTS; variant++)
        way(b, on_gpu, (wavelet_variant)variant, TSR_WAVELET_LEGALL53, 7680, 4320, 0); /* beyond the caches */
}

/* The tables of [Laan11w] V, every filter both ways: by name only. */
static void tables(bench *b)
{
    static const struct {
        const char *text;
        tsr_dtype dtype;
        int32_t dimensions, levels;
        int64_t size[3];
        uint32_t axes;
    } rows[] = { { "1080p 1920x1080 i16 3 levels %s", TSR_I16, 2, 3, { 1920, 1080 }, 0 },
                 { "one level 1920x1080 i16 %s along x", TSR_I16, 2, 1, { 1920, 1080 }, 1 },
                 { "one level 1920x1080 i16 %s along y", TSR_I16, 2, 1, { 1920, 1080 }, 2 },
                 { "32 bits 1920x1080 i32 3 levels %s", TSR_I32, 2, 3, { 1920, 1080 }, 0 },
                 { "512 cubed i16 3 levels %s", TSR_I16, 3, 3, { 512, 512, 512 }, 0 },
                 { "small 256x256 i16 3 levels %s", TSR_I16, 2, 3, { 256, 256 }, 0 },
                 { "small 64x64 i16 3 levels %s", TSR_I16, 2, 3, { 64, 64 }, 0 } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int filter = 0; filter <= TSR_WAVELET_FIDELITY; filter++) {
            char name[64];
            wavelet_case c = {
                .name = name, .filter = (tsr_wavelet_filter)filter, .dtype = rows[k].dtype, .dimensions = rows[k].dimensions, .levels = rows[k].levels
            };
            memcpy(c.size, rows[k].size, sizeof c.size);
            snprintf(name, sizeof name, rows[k].text, tsr_wavelet_filter_name((tsr_wavelet_filter)filter));
            for (int inverse = 0; inverse < 2; inverse++) one(b, &c, rows[k].axes, inverse);
        }
}

#define SHARE(filter, name, share)                                                                                                          \
    { "2D 16384^2 i16 1 level " name, filter, TSR_I16, 2, 1, { 16384, 16384 }, 0, 0, 0, share, { NULL, "share of the copy" }, 1, NULL, 0 }, \
    {                                                                                                                                       \
        "2D 16384^2 f32 1 level " name, filter, TSR_F32, 2, 1, { 16384, 16384 }, 0, 0, 0, share, { NULL, "share of the copy" }, 1, NULL, 0  \
    }

int main(int argc, char **argv)
{
    static const wavelet_case cases[] = {
        { "2D 4096^2 f32 3 levels legall53",
          TSR_WAVELET_LEGALL53,
          TSR_F32,
          2,
          3,
          { 4096, 4096 },
          0,
          5e-3,
          0,
          0,
          { "5 ms and 60 x PyWavelets per thread", NULL },
          0,
          "bior2.2",
          60 },
        { "2D 4096^2 f32 3 levels daub97", TSR_WAVELET_DAUB97, TSR_F32, 2, 3, { 4096, 4096 }, 0, 0, 0, 0, { NULL, NULL }, 0, "bior4.4", 0 },
        { "2D 4096^2 i16 3 levels legall53", TSR_WAVELET_LEGALL53, TSR_I16, 2, 3, { 4096, 4096 }, 0, 0, 0, 0, { NULL, NULL }, 0, NULL, 0 },
        { "2D 4096^2 i16 3 levels dd137", TSR_WAVELET_DD137, TSR_I16, 2, 3, { 4096, 4096 }, 0, 0, 0, 0, { NULL, NULL }, 0, NULL, 0 },
        { "2D 4096^2 i16 3 levels daub97", TSR_WAVELET_DAUB97, TSR_I16, 2, 3, { 4096, 4096 }, 0, 0, 0, 0, { NULL, NULL }, 0, NULL, 0 },
        { "2D 1920x1080 i16 3 levels legall53",
          TSR_WAVELET_LEGALL53,
          TSR_I16,
          2,
          3,
          { 1920, 1080 },
          0,
          0.3e-3,
          10e-6,
          0,
          { "0.3 ms", "10 us" },
          0,
          NULL,
          0 },
        { "2D 1920x1080 i16 3 levels legall53, batch 64",
          TSR_WAVELET_LEGALL53,
          TSR_I16,
          2,
          3,
          { 1920, 1080 },
          64,
          0,
          64 * 5e-6,
          0,
          { NULL, "5 us a frame" },
          1,
          NULL,
          0 },
        { "3D 512^3 i16 3 levels legall53",
          TSR_WAVELET_LEGALL53,
          TSR_I16,
          3,
          3,
          { 512, 512, 512 },
          0,
          30e-3,
          0.35e-3,
          0,
          { "30 ms", "0.35 ms" },
          0,
          NULL,
          0 },
        { "3D 1024^3 f32 3 levels legall53",
          TSR_WAVELET_LEGALL53,
          TSR_F32,
          3,
          3,
          { 1024, 1024, 1024 },
          0,
          0,
          0,
          0.7,
          { NULL, "70 % of the copy" },
          1,
          NULL,
          0 },
        SHARE(TSR_WAVELET_HAAR, "haar", 0.8),
        SHARE(TSR_WAVELET_LEGALL53, "legall53", 0.8),
        SHARE(TSR_WAVELET_DD97, "dd97", 0.8),
        SHARE(TSR_WAVELET_DAUB97, "daub97", 0.8),
        SHARE(TSR_WAVELET_DD137, "dd137", 0.65),
        SHARE(TSR_WAVELET_FIDELITY, "fidelity", 0.65),
    };
    bench b;
    if (!bench_begin(&b, argc, argv, "wavelet")) return 2;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (!cases[k].gpu_only || tsr_context_device(b.context).kind == TSR_DEVICE_CUDA)
            for (int inverse = 0; inverse < 2; inverse++) one(&b, &cases[k], 0, inverse);
    if (b.only) tables(&b);
    denoising(&b);
    if (tsr_context_device(b.context).kind != TSR_DEVICE_EMU) others(&b);
    const int32_t gpus = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA ? tsr_device_count(TSR_DEVICE_CUDA, NULL) : 0;
    bench_time alone[2] = { { 0 } };
    for (int32_t n = 1; n <= gpus && n <= MOST_GPUS; n *= 2) in_parts(&b, n, alone);
    return bench_end(&b);
}
