/* wavelet/denoise.c: shrinkage of wavelet coefficients, averaged over shifts. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "grid/volume.h"
#include "grid/voxel.h"
#include "tessera/denoise.h"

enum { PART = 1 << 14 }; /* of a band: sums are taken part by part, whatever the threads */
#define TINY 0x1p-22     /* of the range: what float32 rounds off in a transform is no noise of the data */

struct denoiser {
    const tsr_context *context;
    tsr_denoise_options o;
    tsr_wavelet_plan *plan;
    int64_t size[3], count, shift[3];
    /* A sample is (voxel - base) scale: about 0 and at most 1, so that float32 has the precision of the range, wherever it lies. */
    const tsr_volume *volume;
    tsr_volume *denoised;
    double base, scale;
    uint64_t base64; /* base of 64 bit integers, whose differences a double keeps where it cannot keep the values */
    float *samples, *shifted, *coefficients, *sum;
    double sigma; /* of the samples */
    int shrinks;  /* some threshold is above 0 */
    /* A band at work. */
    float *band;
    int64_t band_count;
    float threshold;
    double *partial, *lower, *upper; /* by part */
};

/* ---- samples -------------------------------------------------------------------------------------------------------------------------------------- */

static int is_wide(tsr_dtype dtype) { return dtype == TSR_I64 || dtype == TSR_U64; }
/* Order and differences of i64 are those of u64 with the sign turned over. */
static uint64_t wide(const tsr_volume *v, int64_t i) { return ((const uint64_t *)v->data)[i] ^ (v->dtype == TSR_I64 ? (uint64_t)1 << 63 : 0); }
static double above_base(const struct denoiser *d, int64_t i)
{
    if (!is_wide(d->volume->dtype)) return tsr_voxel_load(d->volume->data, d->volume->dtype, i) - d->base;
    const uint64_t v = wide(d->volume, i);
    return v >= d->base64 ? (double)(v - d->base64) : -(double)(d->base64 - v);
}

static void range_parts(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        double lower = HUGE_VAL, upper = -HUGE_VAL;
        for (int64_t i = p * PART; i < tsr_min64((p + 1) * PART, d->count); i++) {
            const double v = above_base(d, i);
            lower = v < lower ? v : lower;
            upper = v > upper ? v : upper;
        }
        d->lower[p] = lower;
        d->upper[p] = upper;
    }
}
static void take_parts(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, d->count); i++) d->samples[i] = (float)(above_base(d, i) * d->scale);
}

/* Base in the middle of the range, the scale a power of two; 0 where all voxels are equal. */
static int take_samples(struct denoiser *d)
{
    const int64_t parts = tsr_ceil_div(d->count, PART);
    double lower = HUGE_VAL, upper = -HUGE_VAL;
    int exponent;
    d->base64 = is_wide(d->volume->dtype) ? wide(d->volume, 0) : 0;
    tsr_parallel(d->context->threads, parts, 4, range_parts, d);
    for (int64_t p = 0; p < parts; p++) {
        lower = fmin(lower, d->lower[p]);
        upper = fmax(upper, d->upper[p]);
    }
    if (lower == upper) return 0;
    d->base = 0.5 * lower + 0.5 * upper;
    if (d->volume->dtype != TSR_F32 && d->volume->dtype != TSR_F64) d->base = floor(d->base);
    if (is_wide(d->volume->dtype)) d->base64 = d->base < 0 ? d->base64 - (uint64_t)-d->base : d->base64 + (uint64_t)d->base;
    frexp(fmax(upper - d->base, d->base - lower), &exponent);
    d->scale = ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
    tsr_parallel(d->context->threads, parts, 4, take_parts, d);
    return 1;
}

static uint64_t add_wide(uint64_t base, double step)
{
    const double size = fabs(nearbyint(step));
    const uint64_t most = step < 0 ? base : UINT64_MAX - base;
    const uint64_t by = size >= 18446744073709551616.0 || (uint64_t)size > most ? most : (uint64_t)size;
    return step < 0 ? base - by : base + by;
}
static void store_parts(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    const tsr_dtype dtype = d->volume->dtype;
    const double back = 1 / d->scale, most = dtype == TSR_F32 ? (double)FLT_MAX : DBL_MAX;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, d->count); i++) {
        const double step = (double)d->sum[i] * back;
        if (is_wide(dtype)) ((uint64_t *)d->denoised->data)[i] = add_wide(d->base64, step) ^ (dtype == TSR_I64 ? (uint64_t)1 << 63 : 0);
        else tsr_voxel_store(d->denoised->data, dtype, i, fmax(-most, fmin(most, d->base + step)));
    }
}

/* ---- shifts --------------------------------------------------------------------------------------------------------------------------------------- */

/* Rows of the volume moved round by the shift: there, or back into the sum. */
static void roll_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    const int64_t nx = d->size[0], ny = d->size[1], nz = d->size[2], sx = d->shift[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const int64_t y = (r % ny + d->shift[1]) % ny, z = (r / ny + d->shift[2]) % nz;
        const float *from = d->samples + (z * ny + y) * nx;
        memcpy(d->shifted + r * nx, from + sx, (size_t)(nx - sx) * sizeof *from);
        memcpy(d->shifted + r * nx + nx - sx, from, (size_t)sx * sizeof *from);
    }
}
static void add_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    const int64_t nx = d->size[0], ny = d->size[1], nz = d->size[2], sx = d->shift[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const int64_t y = (r % ny + d->shift[1]) % ny, z = (r / ny + d->shift[2]) % nz;
        float *to = d->sum + (z * ny + y) * nx;
        const float *from = d->shifted + r * nx;
        for (int64_t x = 0; x < nx - sx; x++) to[x + sx] += from[x];
        for (int64_t x = nx - sx; x < nx; x++) to[x + sx - nx] += from[x];
    }
}

/* ---- bands ---------------------------------------------------------------------------------------------------------------------------------------- */

static void square_parts(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        double sum = 0;
        for (int64_t i = p * PART; i < tsr_min64((p + 1) * PART, d->band_count); i++) sum += (double)d->band[i] * (double)d->band[i];
        d->partial[p] = sum;
    }
}

static void shrink_parts(void *user, int64_t begin, int64_t end, int worker)
{
    struct denoiser *d = (struct denoiser *)user;
    const float t = d->threshold;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, d->band_count); i++) {
        const float c = d->band[i], m = fabsf(c);
        d->band[i] = m <= t ? 0 : d->o.hard ? c : c < 0 ? c + t : c - t;
    }
}

static void shrink(struct denoiser *d, const tsr_wavelet_band *band)
{
    d->band = d->coefficients + band->offset;
    d->band_count = band->size[0] * band->size[1] * band->size[2];
    if (!d->band_count) return;
    const int64_t parts = tsr_ceil_div(d->band_count, PART);
    double threshold = d->sigma * sqrt(2 * log((double)d->count));
    if (d->o.rule == TSR_DENOISE_BAYES) {
        double energy = 0;
        tsr_parallel(d->context->threads, parts, 4, square_parts, d);
        for (int64_t p = 0; p < parts; p++) energy += d->partial[p];
        const double structure = energy / (double)d->band_count - d->sigma * d->sigma; /* variance that is not noise */
        threshold = structure > 0 ? d->sigma * d->sigma / sqrt(structure) : HUGE_VAL;
    }
    d->threshold = (float)fmin(threshold * d->o.strength, 3e38);
    d->shrinks |= d->threshold > 0;
    tsr_parallel(d->context->threads, parts, 4, shrink_parts, d);
}

/* The k-th least of n values, which are reordered. */
static float select_least(float *v, int64_t n, int64_t k)
{
    int64_t lower = 0, upper = n - 1;
    while (lower < upper) {
        const float pivot = v[lower + (upper - lower) / 2];
        int64_t i = lower, j = upper;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) {
                const float swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (k <= j) upper = j;
        else if (k >= i) lower = i;
        else break;
    }
    return v[k];
}

/* Noise from the finest band that is high along every axis: half of its coefficients lie within 0.6745 deviations. Uses `shifted`. */
static void estimate(struct denoiser *d)
{
    tsr_wavelet_info info;
    tsr_wavelet_plan_describe(d->plan, &info);
    for (int32_t k = 0; k < info.bands; k++) {
        tsr_wavelet_band b;
        if (tsr_wavelet_plan_band(d->plan, k, &b) != TSR_OK || b.level != 1 || b.high != b.split) continue;
        const int64_t n = b.size[0] * b.size[1] * b.size[2];
        for (int64_t i = 0; i < n; i++) d->shifted[i] = fabsf(d->coefficients[b.offset + i]);
        if (n) d->sigma = (double)select_least(d->shifted, n, n / 2) / 0.6744897501960817;
    }
    if (d->sigma < TINY) d->sigma = 0;
}

/* ---- the volume ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check(tsr_context *context, const tsr_volume *v, tsr_denoise_options *o)
{
    TSR_TRY(tsr_volume_require(context, v, "volume"));
    if (context->device.kind != TSR_DEVICE_CPU) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "denoise: the device is no CPU; expected device cpu");
    if ((int)o->rule < 0 || o->rule >= TSR_DENOISE_RULES) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: rule is %d, expected 0 or 1", (int)o->rule);
    if (!(o->sigma >= 0) || !isfinite(o->sigma)) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: sigma is %g, expected a positive number", o->sigma);
    if (!(o->strength >= 0) || !isfinite(o->strength))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: strength is %g, expected a positive number", o->strength);
    if (o->shifts < 0 || o->shifts > 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: shifts is %d, expected 1 to 8", o->shifts);
    if ((int)o->filter < 0 || o->filter >= TSR_WAVELET_CUSTOM)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: filter is %d, expected 0 to %d", (int)o->filter, TSR_WAVELET_CUSTOM - 1);
    const int64_t n = tsr_volume_count(v);
    for (int64_t i = 0; i < n && (v->dtype == TSR_F32 || v->dtype == TSR_F64); i++)
        if (!isfinite(tsr_voxel_load(v->data, v->dtype, i)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "denoise: voxel %lld %lld %lld is %g, expected finite numbers alone", (long long)(i % v->size.x),
                     (long long)(i / v->size.x % v->size.y), (long long)(i / v->size.x / v->size.y), tsr_voxel_load(v->data, v->dtype, i));
    if (!o->strength) o->strength = 1;
    if (!o->shifts) o->shifts = 2;
    if (!o->filter) o->filter = TSR_WAVELET_DAUB97;
    return TSR_OK;
}

/* One shift: there, shrink, back, and into the sum. */
static tsr_status spin(struct denoiser *d)
{
    const int64_t rows = d->size[1] * d->size[2];
    tsr_wavelet_info info;
    tsr_wavelet_plan_describe(d->plan, &info);
    tsr_parallel(d->context->threads, rows, 64, roll_rows, d);
    TSR_TRY(tsr_wavelet_forward(d->plan, d->shifted, d->coefficients, NULL));
    if (d->sigma < 0) estimate(d);
    if (d->sigma == 0) return TSR_OK;
    for (int32_t k = 0; k < info.bands; k++) {
        tsr_wavelet_band band;
        TSR_TRY(tsr_wavelet_plan_band(d->plan, k, &band));
        if (band.high) shrink(d, &band);
    }
    TSR_TRY(tsr_wavelet_inverse(d->plan, d->coefficients, d->shifted, NULL));
    tsr_parallel(d->context->threads, rows, 64, add_rows, d);
    return TSR_OK;
}

static tsr_status run(struct denoiser *d)
{
    int64_t spins = 1;
    for (int a = 0; a < 3; a++) spins *= d->size[a] > 1 ? tsr_min64(d->o.shifts, d->size[a]) : 1;
    memset(d->sum, 0, (size_t)d->count * sizeof *d->sum);
    for (int64_t s = 0; s < spins && d->sigma != 0; s++) {
        int64_t rest = s;
        TSR_PROGRESS(&d->o.progress, (double)s / (double)spins, "denoising");
        for (int a = 0; a < 3; a++) {
            const int64_t n = d->size[a] > 1 ? tsr_min64(d->o.shifts, d->size[a]) : 1;
            d->shift[a] = rest % n;
            rest /= n;
        }
        TSR_TRY(spin(d));
    }
    for (int64_t i = 0; i < d->count; i++) d->sum[i] = d->sum[i] / (float)spins;
    return TSR_OK;
}

tsr_status tsr_volume_denoise(tsr_context *context, const tsr_volume *volume, const tsr_denoise_options *options, tsr_volume **denoised,
                              double *sigma)
{
    struct denoiser d = { .context = context, .volume = volume };
    tsr_status status;
    *denoised = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&d.o, options));
    TSR_TRY(check(context, volume, &d.o));
    d.size[0] = volume->size.x;
    d.size[1] = volume->size.y;
    d.size[2] = volume->size.z;
    d.count = tsr_volume_count(volume);
    const size_t bytes = (size_t)d.count * sizeof *d.samples, parts = (size_t)tsr_ceil_div(d.count, PART);
    const int32_t possible = tsr_wavelet_levels_possible(3, d.size, 0);
    const tsr_wavelet_options o = { .struct_size = sizeof o,
                                    .filter = d.o.filter,
                                    .boundary = TSR_WAVELET_SYMMETRIC,
                                    .layout = TSR_WAVELET_SUBBANDS,
                                    .normalise = 1,
                                    .levels = d.o.levels     ? d.o.levels
                                              : possible < 4 ? possible
                                                             : 4 };
    TSR_TRY_GOTO(tsr_wavelet_plan_create(context, TSR_F32, 3, d.size, &o, &d.plan), done);
    d.samples = (float *)malloc(bytes);
    d.sum = (float *)malloc(bytes);
    d.shifted = (float *)malloc(bytes);
    d.coefficients = (float *)malloc(bytes);
    d.partial = (double *)malloc(3 * parts * sizeof *d.partial);
    if (!d.samples || !d.sum || !d.shifted || !d.coefficients || !d.partial)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "denoise: out of memory for %lld voxels", (long long)d.count);
    d.lower = d.partial + parts;
    d.upper = d.lower + parts;
    if (take_samples(&d)) {
        d.sigma = d.o.sigma > 0 ? d.o.sigma / fabs(volume->slope) * d.scale : -1;
        TSR_TRY_GOTO(run(&d), done);
    }
    TSR_TRY_GOTO(tsr_volume_copy(volume, context, &d.denoised), done);
    if (d.shrinks) tsr_parallel(context->threads, (int64_t)parts, 4, store_parts, &d);
    if (sigma) *sigma = d.o.sigma > 0 ? d.o.sigma : d.sigma > 0 ? d.sigma / d.scale * fabs(volume->slope) : 0;
    *denoised = d.denoised;
done:
    free(d.samples);
    free(d.sum);
    free(d.shifted);
    free(d.coefficients);
    free(d.partial);
    tsr_wavelet_plan_destroy(&d.plan);
    return status;
}
