/* bench_grid: dense volume operations: bytes that must move (input once, output once) per second against the copy ceiling. */
#include "bench.h"

struct job {
    tsr_context *context;
    const tsr_volume *in;
    int which;
    tsr_dtype dtype;
};

static tsr_status run(void *user)
{
    const struct job *j = (const struct job *)user;
    tsr_volume *out = NULL;
    tsr_statistics statistics = TSR_STATISTICS;
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    tsr_resample_options resample = TSR_RESAMPLE_OPTIONS;
    tsr_size3 n = tsr_volume_size(j->in);
    tsr_status status = TSR_OK;
    int64_t counts[256 + 3], found;
    const int32_t turned[3] = { 2, 1, 0 };
    smooth.sigma = 1;
    smooth.in_voxels = 1;
    resample.size = (tsr_size3){ n.x * 3 / 4, n.y * 3 / 4, n.z * 3 / 4 };
    switch (j->which) {
    case 0: status = tsr_volume_convert(j->context, j->in, j->dtype, &out); break;
    case 1: status = tsr_volume_smooth(j->context, j->in, &smooth, &out); break;
    case 2: status = tsr_volume_resample(j->context, j->in, &resample, &out); break;
    case 3: status = tsr_volume_statistics(j->context, j->in, &statistics); break;
    case 4: status = tsr_volume_histogram(j->context, j->in, 0, 1, 256, counts); break;
    case 5: status = tsr_volume_permute(j->context, j->in, turned, NULL, &out); break;
    case 6: status = tsr_volume_crop(j->context, j->in, (tsr_size3){ 8, 8, 8 }, (tsr_size3){ n.x - 8, n.y - 8, n.z - 8 }, &out); break;
    case 7: status = tsr_volume_threshold(j->context, j->in, 0.4, 0.6, &out); break;
    default: status = tsr_volume_components(j->context, j->in, 6, &out, &found); break;
    }
    tsr_volume_destroy(&out);
    return status;
}

static void measure(bench *b, const char *name, const tsr_volume *in, int which, tsr_dtype dtype, double bytes_per_voxel)
{
    struct job job = { b->context, in, which, dtype };
    bench_time t = bench_measure(b, run, &job, NULL);
    bench_report(b, &(bench_case){ .name = name, .n = tsr_volume_count(in), .time = t, .bytes = bytes_per_voxel * (double)tsr_volume_count(in) });
}

int main(int argc, char **argv)
{
    bench b;
    tsr_volume *host = NULL, *image = NULL, *bytes = NULL, *mask = NULL;
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    int failed = 1;
    if (!bench_begin(&b, argc, argv, "grid")) return 2;
    int64_t n = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA && !b.quick ? 512 : 256;
    options.size = (tsr_size3){ n, n, n };
    if (tsr_phantom_make("phantom_tumour", &options, &host, NULL) != TSR_OK || tsr_volume_copy(host, b.context, &image) != TSR_OK ||
        tsr_volume_threshold(b.context, image, 0.4, 0.6, &mask) != TSR_OK || tsr_volume_convert(b.context, image, TSR_U8, &bytes) != TSR_OK)
        goto done;
    measure(&b, "convert f32 to u8", image, 0, TSR_U8, 5);
    measure(&b, "convert u8 to f32", bytes, 0, TSR_F32, 5);
    measure(&b, "convert f32 to i16", image, 0, TSR_I16, 6);
    measure(&b, "smooth f32, sigma 1", image, 1, TSR_F32, 8);
    measure(&b, "smooth u8, sigma 1", bytes, 1, TSR_F32, 5);
    measure(&b, "resample f32 to 3/4, trilinear", image, 2, TSR_F32, 4 + 4 * 0.421875);
    measure(&b, "statistics f32", image, 3, TSR_F32, 4);
    measure(&b, "histogram f32, 256 bins", image, 4, TSR_F32, 4);
    measure(&b, "permute f32 zyx", image, 5, TSR_F32, 8);
    measure(&b, "crop f32", image, 6, TSR_F32, 8);
    measure(&b, "threshold f32", image, 7, TSR_F32, 5);
    measure(&b, "components u8, 6-connected", mask, 8, TSR_F32, 5);
    failed = 0;
done:
    if (failed) fprintf(stderr, "bench grid: %s\n", tsr_error_message());
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&bytes);
    tsr_volume_destroy(&image);
    tsr_volume_destroy(&host);
    return bench_end_with(&b, failed);
}
