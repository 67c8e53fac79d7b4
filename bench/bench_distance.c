/* bench_distance: the exact distance transform of three kinds of masks. Bytes that must move: the mask once, and a read and a write of
 * float32 per axis. */
#include "bench.h"

struct job {
    tsr_context *context;
    const tsr_volume *mask;
    tsr_distance_options options;
};

static tsr_status run(void *user)
{
    const struct job *j = (const struct job *)user;
    tsr_volume *distance = NULL;
    tsr_status status = tsr_distance_transform(j->context, j->mask, &j->options, &distance);
    tsr_volume_destroy(&distance);
    return status;
}

/* The waves of kind 1 along each axis. */
enum { MOST = 512 };
struct waves {
    double sx[MOST], cx[MOST], sy[MOST], cy[MOST], sz[MOST], cz[MOST];
};
static void make_waves(struct waves *w)
{
    for (int i = 0; i < MOST; i++) {
        w->sx[i] = sin(0.06 * i);
        w->cx[i] = cos(0.04 * i);
        w->sy[i] = sin(0.07 * i);
        w->cy[i] = cos(0.05 * i);
        w->sz[i] = sin(0.05 * i);
        w->cz[i] = cos(0.06 * i);
    }
}

/* 0: one ball; 1: many blobs (a sum of waves over a level); 2: one voxel in a thousand. */
static int inside(int kind, const struct waves *w, int64_t x, int64_t y, int64_t z, int64_t n)
{
    double c = 0.5 * (double)n, dx = (double)x - c, dy = (double)y - c, dz = (double)z - c;
    if (kind == 0) return dx * dx + dy * dy + dz * dz < 0.1 * (double)(n * n);
    if (kind == 1) return w->sx[x] * w->cy[y] + w->sy[y] * w->cz[z] + w->sz[z] * w->cx[x] > 0.6;
    uint64_t h = (uint64_t)((z * 4096 + y) * 4096 + x) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    return (h >> 32) % 1000 == 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "signed, one ball", "signed, blobs", "signed, sparse voxels" };
    bench b;
    if (!bench_begin(&b, argc, argv, "distance")) return 2;
    int64_t n = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA && !b.quick ? 512 : b.quick ? 128 : 256;
    int failed = 0;
    static struct waves waves;
    make_waves(&waves);
    for (int kind = 0; kind < 3 && !failed; kind++) {
        tsr_volume *host = NULL, *mask = NULL;
        failed = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ n, n, n }, NULL, &host) != TSR_OK;
        uint8_t *data = failed ? NULL : (uint8_t *)tsr_volume_data(host);
        for (int64_t i = 0; i < n * n * n && data; i++) data[i] = (uint8_t)inside(kind, &waves, i % n, i / n % n, i / n / n, n);
        failed = failed || tsr_volume_copy(host, b.context, &mask) != TSR_OK;
        if (!failed) {
            struct job job = { b.context, mask, TSR_DISTANCE_OPTIONS };
            char name[64];
            snprintf(name, sizeof name, "%s, %lld^3", names[kind], (long long)n);
            bench_time t = bench_measure(&b, run, &job, NULL);
            const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA && !b.quick;
            bench_report(&b, &(bench_case){ .name = name,
                                            .n = n * n * n,
                                            .time = t,
                                            .bytes = 21.0 * (double)(n * n * n),
                                            .bar = gpu ? "10 ms on an H200" : NULL,
                                            .holds = t.median <= 10e-3 });
        }
        tsr_volume_destroy(&mask);
        tsr_volume_destroy(&host);
    }
    if (failed) fprintf(stderr, "bench distance: %s\n", tsr_error_message());
    return bench_end_with(&b, failed);
}
