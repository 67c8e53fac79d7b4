/* bench/wavelet_denoise.h: denoising of volumes, for bench_wavelet. Bytes: what the passes of cycle spinning read and write, each once (the sorting of the finest
 * band for the noise's deviation and the making of the result are not in it). Peer, where it is installed: PyWavelets, the same shifts, levels,
 * wavelet and rule, in its own process on one thread; the noise's deviation is given to both. */
#ifndef TSR_BENCH_WAVELET_DENOISE_H
#define TSR_BENCH_WAVELET_DENOISE_H

#include "bench.h"

struct denoising {
    tsr_context *context;
    tsr_volume *volume;
    tsr_denoise_options options;
};

static tsr_status run_denoising(void *user)
{
    const struct denoising *d = (const struct denoising *)user;
    tsr_volume *result = NULL;
    const tsr_status status = tsr_volume_denoise(d->context, d->volume, &d->options, &result, NULL);
    tsr_volume_destroy(&result);
    return status;
}

/* Bytes of a call on a volume of float32 with edge `n`, levels 4, two shifts an axis, BayesShrink, sigma given. */
static tsr_status denoising_bytes(tsr_context *context, int64_t n, double *bytes)
{
    const int64_t size[3] = { n, n, n };
    const tsr_wavelet_options o = { .struct_size = sizeof o,
                                    .filter = TSR_WAVELET_DAUB97,
                                    .boundary = TSR_WAVELET_SYMMETRIC,
                                    .layout = TSR_WAVELET_SUBBANDS,
                                    .normalise = 1,
                                    .levels = 4 };
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    TSR_TRY(tsr_wavelet_plan_create(context, TSR_F32, 3, size, &o, &plan));
    tsr_wavelet_plan_describe(plan, &info);
    tsr_wavelet_plan_destroy(&plan);
    const double voxels = 4.0 * (double)(n * n * n);
    const double once =
        3 + 2 + 1 + 2; /* numbers that are finite, least and greatest are read; voxels to samples; the sum cleared; the sum to voxels */
    const double each = 2 + 3 + 1 + 2; /* a shift: moved, and back into the sum; squares of the coefficients; coefficients shrunk */
    *bytes = voxels * (once + 8 * each) + 8 * (double)(info.forward_bytes + info.inverse_bytes);
    return TSR_OK;
}

static bench_time denoising_peer(const bench *b, int64_t n)
{
    char command[2048], text[128];
    const char *clock = b->clock == CLOCK_MONOTONIC ? "perf_counter" : "process_time";
    snprintf(command, sizeof command,
             "/usr/bin/env OMP_NUM_THREADS=1 /usr/bin/python3 -c \"import time,itertools,numpy as np,pywt\n"
             "a=np.random.default_rng(1).standard_normal((%d,%d,%d)).astype('float32')\n"
             "def shrink(d):\n s=np.mean(np.square(d),dtype='f8')-1;return pywt.threshold(d,1/np.sqrt(s),'soft') if s>0 else np.zeros_like(d)\n"
             "def once(v):\n c=pywt.wavedecn(v,'bior4.4','symmetric',4)\n"
             " return pywt.waverecn(c[:1]+[{k:shrink(d) for k,d in l.items()} for l in c[1:]],'bior4.4','symmetric')[:%d,:%d,:%d]\n"
             "t=time.%s();r=np.zeros_like(a)\n"
             "for s in itertools.product((0,1),repeat=3): r+=np.roll(once(np.roll(a,s,(0,1,2))),[-k for k in s],(0,1,2))\n"
             "r/=8;print(time.%s()-t)\" 2>/dev/null",
             (int)n, (int)n, (int)n, (int)n, (int)n, (int)n, clock, clock);
    bench_command(command, text, sizeof text);
    bench_time t = { 0 };
    if (sscanf(text, "%lf", &t.median) == 1 && t.median > 0) t.min = t.max = t.median, t.runs = 1;
    return t;
}

/* Noise about two grey values, which is taken out by 2^3 shifts. */
static void denoising(bench *b)
{
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    const int64_t n = gpu ? 512 : b->quick ? 64 : 192;
    struct denoising d = { .context = b->context, .options = TSR_DENOISE_OPTIONS };
    tsr_volume *host = NULL;
    char name[128];
    uint64_t x = 88172645463325252u;
    bench_case r = { .name = name, .n = n * n * n };
    snprintf(name, sizeof name, "denoise %d^3 f32, bayes, daub97 4 levels, 8 shifts", (int)n);
    if (!bench_wants(b, name)) return;
    d.options.sigma = 1;
    d.options.levels = 4;
    tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, NULL, &host);
    for (int64_t i = 0; status == TSR_OK && i < r.n; i++) {
        double noise = -2; /* of deviation 1: the sum of four uniform numbers is 1 / sqrt 3 wide */
        for (int k = 0; k < 4; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17, noise += (double)(x >> 11) * 0x1p-53;
        ((float *)tsr_volume_data(host))[i] = (float)(10 * (i / 16 % 2) + noise * sqrt(3.0));
    }
    if (status == TSR_OK) status = tsr_volume_copy(host, b->context, &d.volume);
    tsr_volume_destroy(&host);
    if (status == TSR_OK) status = denoising_bytes(b->context, n, &r.bytes);
    if (status == TSR_OK) {
        r.time = bench_measure(b, run_denoising, &d, NULL);
        if (!gpu && !b->quick) {
            r.peer_time = denoising_peer(b, n);
            r.peer = "PyWavelets, one thread";
        }
        bench_report(b, &r);
    } else fprintf(stderr, "bench wavelet: %s: %s\n", name, tsr_error_message());
    tsr_volume_destroy(&d.volume);
}

#endif
