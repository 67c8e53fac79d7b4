/* wavelet/denoise.c: shrinkage of wavelet coefficients, averaged over shifts. */
#include <math.h>
#include <stdlib.h>

#include "volume/volume.h"
#include "tessera/primitives.h"
#include "tessera/wavelet.h"
#include "wavelet/shrink.h"
#include "wavelet/wavelet_ops.h"

enum { MOST_BANDS = TSR_WAVELET_LEVELS * TSR_WAVELET_BANDS };
#define TINY 0x1p-22 /* of the range: what float32 rounds off in a transform is no noise of the data */

struct denoiser {
    tsr_context *context;
    const tsr_shrink_ops *ops;
    tsr_denoise_options o;
    tsr_wavelet_plan *plan;
    tsr_shrink_job job;
    float *coefficients;       /* memory of the device, as that of the job */
    void *workspace;           /* of transforms */
    double *partial, *on_host; /* sums of squares by part: on the device, here */
    size_t workspace_bytes, samples_bytes, partial_bytes;
    tsr_volume *denoised;
    double sigma;                     /* of the samples */
    int32_t axes;                     /* that are transformed: not the channels of an image */
    int shrinks;                      /* some threshold is above 0 */
    tsr_shrink_band band[MOST_BANDS]; /* the high ones */
    int32_t bands;
};

/* ---- samples -------------------------------------------------------------------------------------------------------------------------------------- */

/* Base in the middle of the range, the scale a power of two; *flat where all voxels are equal. */
static tsr_status take_samples(struct denoiser *d, const tsr_volume *volume, int *flat)
{
    tsr_shrink_job *j = &d->job;
    tsr_reduced least, greatest;
    double lower, upper;
    int exponent;
    TSR_TRY(tsr_reduce_host(d->context, TSR_REDUCE_MIN, j->dtype, volume->data, j->count, &least));
    TSR_TRY(tsr_reduce_host(d->context, TSR_REDUCE_MAX, j->dtype, volume->data, j->count, &greatest));
    if (tsr_shrink_is_wide(j->dtype)) {
        j->base64 = least.u ^ tsr_shrink_turn(j->dtype);
        lower = 0;
        upper = tsr_shrink_apart(greatest.u ^ tsr_shrink_turn(j->dtype), j->base64);
    } else if (j->dtype == TSR_F32 || j->dtype == TSR_F64) {
        lower = least.f;
        upper = greatest.f;
    } else {
        const int is_signed = j->dtype == TSR_I8 || j->dtype == TSR_I16 || j->dtype == TSR_I32;
        lower = is_signed ? (double)least.i : (double)least.u;
        upper = is_signed ? (double)greatest.i : (double)greatest.u;
    }
    *flat = lower == upper;
    if (*flat) return TSR_OK;
    j->base = 0.5 * lower + 0.5 * upper;
    if (j->dtype != TSR_F32 && j->dtype != TSR_F64) j->base = floor(j->base);
    if (tsr_shrink_is_wide(j->dtype)) j->base64 += (uint64_t)j->base;
    frexp(fmax(upper - j->base, j->base - lower), &exponent);
    j->scale = ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
    TSR_TRY(d->ops->take(d->context->queue, j));
    return TSR_OK;
}

/* ---- bands ---------------------------------------------------------------------------------------------------------------------------------------- */

/* The bands that are high along some axis; returns their parts. */
static tsr_status find_bands(struct denoiser *d, int64_t *parts)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    *parts = 0;
    tsr_wavelet_plan_describe(d->plan, &info);
    for (int32_t k = 0; k < info.bands; k++) {
        tsr_wavelet_band b;
        TSR_TRY(tsr_wavelet_plan_band(d->plan, k, &b));
        if (!b.high) continue;
        const int64_t count = b.size[0] * b.size[1] * b.size[2];
        d->band[d->bands++] = (tsr_shrink_band){ .data = d->coefficients + b.offset, .count = count, .first_part = *parts };
        *parts += tsr_shrink_parts(count);
    }
    return TSR_OK;
}

static tsr_status find_thresholds(struct denoiser *d)
{
    const double variance = d->sigma * d->sigma;
    tsr_queue *queue = d->context->queue;
    if (d->o.rule == TSR_DENOISE_BAYES) {
        TSR_TRY(d->ops->squares(queue, d->band, d->bands, d->partial));
        TSR_TRY(d->context->backend->download(queue, d->on_host, d->partial, d->partial_bytes));
    }
    for (int32_t k = 0; k < d->bands; k++) {
        tsr_shrink_band *b = &d->band[k];
        double threshold = d->sigma * sqrt(2 * log((double)d->job.count)), energy = 0;
        if (!b->count) continue;
        if (d->o.rule == TSR_DENOISE_BAYES) {
            for (int64_t p = 0; p < tsr_shrink_parts(b->count); p++) energy += d->on_host[b->first_part + p];
            const double structure = energy / (double)b->count - variance; /* variance that is not noise */
            threshold = structure > 0 ? variance / sqrt(structure) : HUGE_VAL;
        }
        b->threshold = (float)fmin(threshold * d->o.strength, 3e38);
        d->shrinks |= b->threshold > 0;
    }
    return TSR_OK;
}

/* Noise from the finest band that is high along every axis: half of its coefficients lie within 0.6745 deviations. Uses `shifted`, which holds
 * twice as many. */
static tsr_status estimate(struct denoiser *d)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    tsr_queue *queue = d->context->queue;
    tsr_wavelet_plan_describe(d->plan, &info);
    d->sigma = 0;
    for (int32_t k = 0; k < info.bands; k++) {
        tsr_wavelet_band b;
        TSR_TRY(tsr_wavelet_plan_band(d->plan, k, &b));
        const int64_t n = b.size[0] * b.size[1] * b.size[2];
        if (b.level != 1 || b.high != b.split || !n) continue;
        uint32_t *keys = (uint32_t *)(void *)d->job.shifted, *sorted = keys + n, median;
        void *work = NULL;
        size_t bytes;
        float deviation;
        TSR_TRY(d->ops->magnitudes(queue, d->coefficients + b.offset, n, keys));
        TSR_TRY(tsr_sort_workspace(d->context, TSR_U32, 0, n, &bytes));
        TSR_TRY(tsr_device_allocate(d->context, bytes, &work));
        tsr_status status = tsr_sort(d->context, TSR_U32, keys, sorted, NULL, NULL, n, 0, 32, work, bytes);
        if (status == TSR_OK) status = d->context->backend->download(queue, &median, sorted + n / 2, sizeof median);
        tsr_device_release(d->context, work, bytes);
        TSR_TRY(status);
        memcpy(&deviation, &median, sizeof deviation);
        d->sigma = (double)deviation / 0.6744897501960817;
    }
    if (d->sigma < TINY) d->sigma = 0;
    return TSR_OK;
}

/* ---- the volume ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_finite(tsr_context *context, const tsr_volume *v)
{
    const size_t bytes = tsr_dtype_size(v->dtype);
    const int64_t count = tsr_volume_count(v);
    uint64_t *word = NULL, first = 0, voxel = 0;
    TSR_TRY(tsr_device_allocate(context, sizeof *word, (void **)&word));
    tsr_status status = context->backend->wavelet->denoise->finite(context->queue, v->data, v->dtype, count, word);
    if (status == TSR_OK) status = context->backend->download(context->queue, &first, word, sizeof first);
    tsr_device_release(context, word, sizeof *word);
    TSR_TRY(status);
    if (first >= (uint64_t)count) return TSR_OK;
    const int64_t i = (int64_t)first;
    TSR_TRY(context->backend->download(context->queue, &voxel, (const char *)v->data + (size_t)i * bytes, bytes));
    TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: voxel %lld %lld %lld is %g, expected finite numbers alone", (long long)(i % v->size.x),
             (long long)(i / v->size.x % v->size.y), (long long)(i / v->size.x / v->size.y), tsr_voxel_load(&voxel, v->dtype, 0));
}

static tsr_status check(tsr_context *context, const tsr_volume *v, tsr_denoise_options *o)
{
    TSR_TRY(tsr_volume_require(context, v, "volume"));
    if ((int)o->rule < 0 || o->rule >= TSR_DENOISE_RULES) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: rule is %d, expected 0 or 1", (int)o->rule);
    if (!(o->sigma >= 0) || !isfinite(o->sigma)) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: sigma is %g, expected a positive number", o->sigma);
    if (!(o->strength >= 0) || !isfinite(o->strength))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: strength is %g, expected a positive number", o->strength);
    if (o->shifts < 0 || o->shifts > 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: shifts is %d, expected 1 to 8", o->shifts);
    if ((int)o->filter < 0 || o->filter >= TSR_WAVELET_CUSTOM)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: filter is %d, expected 0 to %d", (int)o->filter, TSR_WAVELET_CUSTOM - 1);
    if (v->dtype == TSR_F32 || v->dtype == TSR_F64) TSR_TRY(check_finite(context, v));
    if (!o->strength) o->strength = 1;
    if (!o->shifts) o->shifts = 2;
    if (!o->filter) o->filter = TSR_WAVELET_DAUB97;
    return TSR_OK;
}

/* One shift: there, shrink, back, and into the sum. */
static tsr_status spin(struct denoiser *d)
{
    tsr_queue *queue = d->context->queue;
    TSR_TRY(d->ops->roll(queue, &d->job));
    TSR_TRY(tsr_wavelet_forward(d->plan, d->job.shifted, d->coefficients, d->workspace));
    if (d->sigma < 0) TSR_TRY(estimate(d));
    if (d->sigma == 0) return TSR_OK;
    TSR_TRY(find_thresholds(d));
    TSR_TRY(d->ops->shrink(queue, d->band, d->bands, d->o.hard != 0));
    TSR_TRY(tsr_wavelet_inverse(d->plan, d->coefficients, d->job.shifted, d->workspace));
    TSR_TRY(d->ops->add(queue, &d->job));
    return TSR_OK;
}

static tsr_status run(struct denoiser *d)
{
    int64_t spins = 1;
    for (int a = 0; a < d->axes; a++) spins *= tsr_min64(d->o.shifts, d->job.size[a]);
    d->job.spins = (float)spins;
    TSR_TRY(d->context->backend->fill(d->context->queue, d->job.sum, 0, d->samples_bytes));
    for (int64_t s = 0; s < spins && d->sigma != 0; s++) {
        int64_t rest = s;
        TSR_PROGRESS(&d->o.progress, (double)s / (double)spins, "denoising");
        for (int a = 0; a < d->axes; a++) {
            const int64_t n = tsr_min64(d->o.shifts, d->job.size[a]);
            d->job.shift[a] = rest % n;
            rest /= n;
        }
        TSR_TRY(spin(d));
    }
    return TSR_OK;
}

/* Plan and memory. */
static tsr_status begin(struct denoiser *d)
{
    const uint32_t axes = (1u << d->axes) - 1;
    const int32_t possible = tsr_wavelet_levels_possible(3, d->job.size, axes);
    const tsr_wavelet_options o = { .struct_size = sizeof o,
                                    .filter = d->o.filter,
                                    .boundary = TSR_WAVELET_SYMMETRIC,
                                    .layout = TSR_WAVELET_SUBBANDS,
                                    .axes = axes,
                                    .normalise = 1,
                                    .levels = d->o.levels    ? d->o.levels
                                              : possible < 4 ? possible
                                                             : 4 };
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    int64_t parts;
    TSR_TRY(tsr_wavelet_plan_create(d->context, TSR_F32, 3, d->job.size, &o, &d->plan));
    tsr_wavelet_plan_describe(d->plan, &info);
    d->samples_bytes = (size_t)d->job.count * sizeof(float);
    d->workspace_bytes = (size_t)info.workspace_bytes;
    TSR_TRY(tsr_device_allocate(d->context, d->samples_bytes, (void **)&d->job.samples));
    TSR_TRY(tsr_device_allocate(d->context, d->samples_bytes, (void **)&d->job.shifted));
    TSR_TRY(tsr_device_allocate(d->context, d->samples_bytes, (void **)&d->job.sum));
    TSR_TRY(tsr_device_allocate(d->context, d->samples_bytes, (void **)&d->coefficients));
    TSR_TRY(tsr_device_allocate(d->context, d->workspace_bytes, &d->workspace));
    TSR_TRY(find_bands(d, &parts));
    d->partial_bytes = (size_t)parts * sizeof *d->partial;
    if (parts) TSR_TRY(tsr_device_allocate(d->context, d->partial_bytes, (void **)&d->partial));
    d->on_host = (double *)malloc(d->partial_bytes + 1);
    if (!d->on_host) TSR_FAIL(TSR_ERROR_MEMORY, "denoise: out of memory for %lld sums", (long long)parts);
    return TSR_OK;
}

static void end(struct denoiser *d)
{
    tsr_device_release(d->context, d->job.samples, d->samples_bytes);
    tsr_device_release(d->context, d->job.shifted, d->samples_bytes);
    tsr_device_release(d->context, d->job.sum, d->samples_bytes);
    tsr_device_release(d->context, d->coefficients, d->samples_bytes);
    tsr_device_release(d->context, d->workspace, d->workspace_bytes);
    tsr_device_release(d->context, d->partial, d->partial_bytes);
    free(d->on_host);
    tsr_wavelet_plan_destroy(&d->plan);
}

tsr_status tsr_volume_denoise(tsr_context *context, const tsr_volume *volume, const tsr_denoise_options *options, tsr_volume **denoised,
                              double *sigma)
{
    TSR_RETURNS(denoised);
    TSR_NEEDS(context, volume);
    struct denoiser d = { .context = context, .axes = 3 };
    tsr_status status;
    int flat;
    TSR_TRY(TSR_OPTIONS_TAKE(&d.o, options));
    TSR_TRY(check(context, volume, &d.o));
    d.ops = context->backend->wavelet->denoise;
    if (tsr_volume_channels(volume)) d.axes = 2;
    d.job = (tsr_shrink_job){ .voxels = volume->data,
                              .dtype = volume->dtype,
                              .size = { volume->size.x, volume->size.y, volume->size.z },
                              .count = tsr_volume_count(volume),
                              .scale = 1,
                              .spins = 1 };
    TSR_TRY_GOTO(begin(&d), done);
    TSR_TRY_GOTO(take_samples(&d, volume, &flat), done);
    if (!flat) {
        d.sigma = d.o.sigma > 0 ? d.o.sigma / fabs(volume->slope) * d.job.scale : -1;
        TSR_TRY_GOTO(run(&d), done);
    }
    TSR_TRY_GOTO(tsr_volume_copy(volume, context, &d.denoised), done);
    d.job.denoised = d.denoised->data;
    if (d.shrinks) TSR_TRY_GOTO(d.ops->give(context->queue, &d.job), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done); /* the memory goes back */
    if (sigma) *sigma = d.o.sigma > 0 ? d.o.sigma : d.sigma > 0 ? d.sigma / d.job.scale * fabs(volume->slope) : 0;
    *denoised = d.denoised;
    d.denoised = NULL;
done:
    tsr_volume_destroy(&d.denoised);
    end(&d);
    return status;
}
