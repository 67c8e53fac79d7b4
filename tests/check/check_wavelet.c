/* Wavelet transforms: coefficients and samples have the same bits on every backend, SIMD variant and number of threads, floats included. */
#include "check.h"

static const struct {
    tsr_dtype dtype;
    int32_t dimensions;
    int64_t size[3];
    tsr_wavelet_layout layout;
    int32_t inplace, levels;
} cases[] = {
    { TSR_I16, 2, { 517, 61, 1 }, TSR_WAVELET_MALLAT, 0, 2 },
    { TSR_F32, 2, { 300, 75, 1 }, TSR_WAVELET_SUBBANDS, 0, 2 },
    { TSR_F32, 3, { 37, 22, 19 }, TSR_WAVELET_MALLAT, 0, 2 },
    { TSR_I16, 3, { 40, 21, 18 }, TSR_WAVELET_INTERLEAVED, 1, 2 },
    { TSR_I32, 2, { 133, 40, 1 }, TSR_WAVELET_SPLIT, 1, 2 },
    { TSR_F64, 1, { 1000, 1, 1 }, TSR_WAVELET_MALLAT, 0, 2 },
    /* more rows than a cache holds: in blocks on a CPU */
    { TSR_F64, 3, { 700, 23, 7 }, TSR_WAVELET_MALLAT, 0, 2 },
    { TSR_I16, 3, { 600, 37, 5 }, TSR_WAVELET_INTERLEAVED, 0, 2 },
    /* several levels in one launch on a GPU: tiles at ends and between them */
    { TSR_I16, 2, { 201, 150, 1 }, TSR_WAVELET_MALLAT, 0, 3 },
    { TSR_F32, 2, { 70, 131, 1 }, TSR_WAVELET_INTERLEAVED, 0, 3 },
};
enum { CASES = sizeof cases / sizeof *cases };

static void describe(int index, char *text, size_t bytes)
{
    int i = index % CASES;
    snprintf(text, bytes, "%s %s %lldx%lldx%lld %s", tsr_wavelet_filter_name((tsr_wavelet_filter)(index / CASES)), tsr_dtype_name(cases[i].dtype),
             (long long)cases[i].size[0], (long long)cases[i].size[1], (long long)cases[i].size[2], tsr_wavelet_layout_name(cases[i].layout));
}

static void run(check *c, int index)
{
    int i = index % CASES;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    o.filter = (tsr_wavelet_filter)(index / CASES);
    o.boundary = index % 2 ? TSR_WAVELET_SYMMETRIC : TSR_WAVELET_CLAMP;
    o.layout = cases[i].layout;
    o.inplace = cases[i].inplace;
    o.levels = cases[i].levels;
    o.normalise = cases[i].dtype == TSR_F32;
    check_status(c, tsr_wavelet_plan_create(c->context, cases[i].dtype, cases[i].dimensions, cases[i].size, &o, &plan));
    if (c->failed) return;
    tsr_wavelet_plan_describe(plan, &info);
    size_t bytes = (size_t)info.elements * tsr_dtype_size(cases[i].dtype);
    void *samples = NULL, *own = NULL, *host = malloc(bytes);
    uint64_t state = (uint64_t)index + 1;
    for (int64_t k = 0; host && k < info.elements; k++) {
        double v = (double)(check_random(&state) >> 40 & 63) - 32;
        if (cases[i].dtype == TSR_I16) ((int16_t *)host)[k] = (int16_t)v;
        else if (cases[i].dtype == TSR_I32) ((int32_t *)host)[k] = (int32_t)v * 1000;
        else if (cases[i].dtype == TSR_F32) ((float *)host)[k] = (float)v / 7;
        else ((double *)host)[k] = v / 7;
    }
    check_status(c, tsr_device_allocate(c->context, bytes, &samples));
    if (!o.inplace) check_status(c, tsr_device_allocate(c->context, bytes, &own));
    void *coefficients = o.inplace ? samples : own;
    if (host && !c->failed) {
        check_status(c, tsr_device_move(c->context, samples, NULL, host, bytes));
        check_status(c, tsr_wavelet_forward(plan, samples, coefficients, NULL));
        check_keep_device(c, "coefficients", coefficients, bytes);
        check_status(c, tsr_wavelet_inverse(plan, coefficients, samples, NULL));
        check_keep_device(c, "samples", samples, bytes);
    }
    free(host);
    tsr_device_release(c->context, own, bytes);
    tsr_device_release(c->context, samples, bytes);
    tsr_wavelet_plan_destroy(&plan);
}

int main(int argc, char **argv)
{
    static const check_entry entries[] = { { "wavelet", CASES * TSR_WAVELET_CUSTOM, describe, run, NULL } };
    return check_main(argc, argv, entries, 1);
}
