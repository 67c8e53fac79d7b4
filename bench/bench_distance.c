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

/* 0: one ball; 1: many blobs (a sum of waves over a level); 2: one voxel in a thousand. */
static int inside(int kind, double x, double y, double z, double n)
{
    double c = 0.5 * n;
    if (kind == 0) return (x - c) * (x - c) + (y - c) * (y - c) + (z - c) * (z - c) < 0.1 * n * n;
    if (kind == 1) return sin(0.06 * x) * cos(0.05 * y) + sin(0.07 * y) * cos(0.06 * z) + sin(0.05 * z) * cos(0.04 * x) > 0.6;
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
    for (int kind = 0; kind < 3 && !failed; kind++) {
        tsr_volume *host = NULL, *mask = NULL;
        failed = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ n, n, n }, NULL, &host) != TSR_OK;
        uint8_t *data = failed ? NULL : (uint8_t *)tsr_volume_data(host);
        for (int64_t i = 0; i < n * n * n && data; i++)
            data[i] = (uint8_t)inside(kind, (double)(i % n), (double)(i / n % n), (double)(i / n / n), (double)n);
        failed = failed || tsr_volume_copy(host, b.context, &mask) != TSR_OK;
        if (!failed) {
            struct job job = { b.context, mask, TSR_DISTANCE_OPTIONS };
            char name[64];
            snprintf(name, sizeof name, "%s, %lld^3", names[kind], (long long)n);
            bench_time t = bench_measure(&b, run, &job, NULL);
            bench_report(&b, &(bench_case){ .name = name, .n = n * n * n, .time = t, .bytes = 21.0 * (double)(n * n * n) });
        }
        tsr_volume_destroy(&mask);
        tsr_volume_destroy(&host);
    }
    if (failed) fprintf(stderr, "bench distance: %s\n", tsr_error_message());
    return bench_end(&b) || failed;
}
