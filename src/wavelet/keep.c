/* wavelet/keep.c: the largest coefficients, by selection digit by digit from the top: each pass counts the next digit of those that share the digits found so
 * far, so that no key is stored and nothing is sorted. */
#include <math.h>
#include <stdlib.h>

#include "tessera/wavelet.h"
#include "wavelet/keep.h"
#include "wavelet/volume_dwt.h"
#include "wavelet/wavelet_ops.h"

enum { MOST_BANDS = TSR_WAVELET_LEVELS * 8, TOP = 64 / TSR_KEEP_BITS * TSR_KEEP_BITS };

struct keeper {
    tsr_context *context;
    const tsr_keep_ops *ops;
    tsr_wavelet_keep_options o;
    tsr_keep_band band[MOST_BANDS];
    int32_t bands;
    int64_t coefficients;
    uint64_t *counts; /* of the device */
    uint64_t on_host[TSR_KEEP_BINS];
    int passes;
};

static tsr_status count(struct keeper *k, const tsr_keep_pass *pass)
{
    const size_t bytes = sizeof k->on_host;
    TSR_PROGRESS(&k->o.progress, fmin(0.9, k->passes++ * 0.08), "selecting");
    TSR_TRY(k->context->backend->fill(k->context->queue, k->counts, 0, bytes));
    TSR_TRY(k->ops->count(k->context->queue, k->band, k->bands, pass, k->counts));
    TSR_TRY(k->context->backend->download(k->context->queue, k->on_host, k->counts, bytes));
    return TSR_OK;
}

/* The value of rank *wanted (from 1) among those that `pass` counts: keys from the greatest on, places from the first on. Afterwards *wanted is its rank among
 * equals and *equals how many those are. */
static tsr_status find(struct keeper *k, tsr_keep_pass pass, int top, uint64_t *wanted, uint64_t *equals, uint64_t *value)
{
    for (pass.shift = top; pass.shift >= 0; pass.shift -= TSR_KEEP_BITS) {
        TSR_TRY(count(k, &pass));
        int32_t n = 0;
        for (;; n++) {
            const int32_t digit = pass.by_place ? n : TSR_KEEP_BINS - 1 - n;
            *equals = k->on_host[digit];
            if (*wanted <= *equals || n == TSR_KEEP_BINS - 1) {
                pass.prefix = pass.prefix << TSR_KEEP_BITS | (uint64_t)digit;
                break;
            }
            *wanted -= *equals;
        }
    }
    *value = pass.prefix;
    return TSR_OK;
}

/* The largest, by their number. */
static tsr_status find_share(struct keeper *k, tsr_keep_limit *limit, tsr_wavelet_keep_info *info)
{
    const double share = floor(k->o.keep / 100 * (double)k->coefficients + 0.5);
    uint64_t wanted, equals = 0, rank;
    info->kept = share < 1 ? 1 : share < (double)k->coefficients ? (int64_t)share : k->coefficients;
    wanted = (uint64_t)info->kept;
    TSR_TRY(find(k, (tsr_keep_pass){ 0 }, TOP, &wanted, &equals, &limit->key));
    limit->place = UINT64_MAX;
    memcpy(&info->least, &limit->key, sizeof info->least);
    info->nonzero = limit->key ? info->kept : info->kept - (int64_t)wanted;
    if (!limit->key || wanted == equals) return TSR_OK; /* of zeros it does not matter which stay */
    int top = 0;
    while ((uint64_t)k->coefficients >> top >> TSR_KEEP_BITS) top += TSR_KEEP_BITS;
    TSR_TRY(find(k, (tsr_keep_pass){ .by_place = 1, .equal = limit->key }, top, &wanted, &rank, &limit->place));
    return TSR_OK;
}

static tsr_status count_zeros(struct keeper *k, int64_t *zeros)
{
    tsr_keep_pass pass = { .by_place = 1 };
    while ((uint64_t)k->coefficients >> pass.shift >> TSR_KEEP_BITS) pass.shift += TSR_KEEP_BITS;
    TSR_TRY(count(k, &pass));
    for (int i = 0; i < TSR_KEEP_BINS; i++) *zeros += (int64_t)k->on_host[i];
    return TSR_OK;
}

static tsr_status list_bands(struct keeper *k, tsr_volume *v)
{
    tsr_wavelet_options o;
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_wavelet_plan *plan;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    tsr_dtype origin;
    tsr_status status = TSR_OK;
    const int64_t size[3] = { v->size.x, v->size.y, v->size.z };
    TSR_TRY(tsr_dwt_read_meta(v, &o, steps, &origin));
    TSR_TRY(tsr_wavelet_plan_create(k->context, v->dtype, 3, size, &o, &plan));
    tsr_wavelet_plan_describe(plan, &info);
    for (int32_t n = 0; n < info.bands; n++) {
        tsr_wavelet_band b;
        TSR_TRY_GOTO(tsr_wavelet_plan_band(plan, n, &b), done);
        tsr_keep_band *to = &k->band[k->bands];
        *to = (tsr_keep_band){ .data = v->data, .dtype = v->dtype, .offset = b.offset, .weight = b.weight, .detail = b.high != 0 };
        for (int a = 0; a < 3; a++) {
            to->size[a] = b.size[a];
            to->stride[a] = b.stride[a];
        }
        const int64_t elements = b.size[0] * b.size[1] * b.size[2];
        k->coefficients += elements;
        k->bands += elements > 0;
    }
done:
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

static tsr_status check(const tsr_wavelet_keep_options *o)
{
    if (!(o->keep >= 0 && o->keep <= 100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: keep is %g, expected above 0 to 100 (percent)", o->keep);
    if (!(o->cut >= 0) || !isfinite(o->cut)) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: cut is %g, expected a number above 0", o->cut);
    if ((o->keep > 0) == (o->cut > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: keep is %g and cut is %g, expected one of them above 0", o->keep, o->cut);
    if (o->soft && !(o->cut > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: soft with keep, expected it with cut");
    return TSR_OK;
}

tsr_status tsr_wavelet_volume_keep(tsr_context *context, tsr_volume *coefficients, const tsr_wavelet_keep_options *options,
                                   tsr_wavelet_keep_info *info)
{
    TSR_NEEDS(context);
    tsr_wavelet_keep_options o;
    tsr_wavelet_keep_info found = TSR_WAVELET_KEEP_INFO;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    TSR_TRY(tsr_volume_require(context, coefficients, "coefficients"));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(&o));
    struct keeper *k = (struct keeper *)calloc(1, sizeof *k);
    if (!k) TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: out of memory for a selection");
    k->context = context;
    k->ops = context->backend->wavelet->keep;
    k->o = o;
    tsr_keep_limit limit = { .details = o.cut > 0, .soft = o.soft != 0, .cut = o.cut, .place = UINT64_MAX, .key = tsr_keep_bits(o.cut) };
    TSR_TRY_GOTO(list_bands(k, coefficients), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof k->on_host, (void **)&k->counts), done);
    found.coefficients = k->coefficients;
    if (o.keep > 0) TSR_TRY_GOTO(find_share(k, &limit, &found), done);
    TSR_TRY_GOTO(k->ops->apply(context->queue, k->band, k->bands, &limit), done);
    if (o.cut > 0) {
        int64_t zeros = 0;
        k->o.progress = (tsr_progress){ 0 }; /* what is done cannot be cancelled */
        TSR_TRY_GOTO(count_zeros(k, &zeros), done);
        found.kept = found.nonzero = k->coefficients - zeros;
        found.least = o.cut;
    }
    TSR_TRY_GOTO(tsr_context_synchronize(context), done);
    status = TSR_STRUCT_GIVE(info, &found);
done:
    if (k->counts) tsr_device_release(context, k->counts, sizeof k->on_host);
    free(k);
    return status;
}
