/* tests/wavelet/arrays.h: arrays on the device of the suite's context, and plans for them. */
#ifndef TEST_WAVELET_ARRAYS_H
#define TEST_WAVELET_ARRAYS_H

#include "context.h"

#include "device/backend.h"

static void *to_device(const void *host, size_t bytes)
{
    void *p = NULL;
    require_ok(tsr_device_allocate(context, bytes, &p));
    require_ok(tsr_device_move(context, p, NULL, host, bytes));
    return p;
}
static void to_host(void *host, const void *device, size_t bytes) { require_ok(tsr_device_move(NULL, host, context, device, bytes)); }
static void drop(void *device, size_t bytes) { tsr_device_release(context, device, bytes); }

static tsr_wavelet_plan *make_plan(tsr_dtype dtype, int32_t dimensions, const int64_t *size, const tsr_wavelet_options *options)
{
    tsr_wavelet_plan *plan = NULL;
    require_ok(tsr_wavelet_plan_create(context, dtype, dimensions, size, options, &plan));
    return plan;
}

/* Dense i16 array to its coefficients, out of place. */
static void forward16(int32_t dimensions, const int64_t *size, const tsr_wavelet_options *options, const int16_t *samples, int16_t *coefficients)
{
    tsr_wavelet_plan *plan = make_plan(TSR_I16, dimensions, size, options);
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    tsr_wavelet_plan_describe(plan, &info);
    size_t bytes = (size_t)info.elements * 2;
    void *in = to_device(samples, bytes), *out = to_device(samples, bytes);
    require_ok(tsr_wavelet_forward(plan, in, out, NULL));
    to_host(coefficients, out, bytes);
    drop(in, bytes);
    drop(out, bytes);
    tsr_wavelet_plan_destroy(&plan);
}

#endif
