/* mip/mip_keep.c: a pyramid of the first coefficients of another one: what fits where memory is short. */
#include <stdlib.h>

#include "volume/volume.h"
#include "mip/mip_pyramid.h"

/* Host copies of what there is, and what is kept of it. */
struct keep {
    tsr_detail_run *run, *kept_run;
    uint32_t *to; /* of each run so many are kept */
    uint8_t *place, *residual, *kept_place, *kept_residual;
    uint64_t *histogram;
};
enum { HISTOGRAM_BYTES = (TSR_MIP_LEVELS + 1) * 65536 * 8 };

static tsr_status fetch(const tsr_mip *mip, const void *device, size_t bytes, void *host)
{
    void **to = (void **)host;
    TSR_TRY(tsr_host_allocate(NULL, bytes + 1, to));
    if (bytes) TSR_TRY(tsr_device_move(NULL, *to, mip->context, device, bytes));
    return TSR_OK;
}

static tsr_status fetch_all(const tsr_mip *mip, int64_t count, struct keep *k)
{
    const tsr_details *d = &mip->details;
    TSR_TRY(fetch(mip, d->run, (size_t)d->runs * sizeof *k->run, &k->run));
    TSR_TRY(fetch(mip, d->to, (size_t)d->runs * 4, &k->to));
    TSR_TRY(fetch(mip, d->place, (size_t)(d->count * d->width), &k->place));
    TSR_TRY(fetch(mip, d->residual, (size_t)(d->count * d->bytes), &k->residual));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)d->runs * sizeof *k->kept_run + 1, (void **)&k->kept_run));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(count * d->width) + 1, (void **)&k->kept_place));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(count * d->bytes) + 1, (void **)&k->kept_residual));
    TSR_TRY(tsr_host_allocate(NULL, HISTOGRAM_BYTES, (void **)&k->histogram));
    memset(k->histogram, 0, HISTOGRAM_BYTES);
    return TSR_OK;
}

/* The first k->to[] of every run, bricks and runs in their order. */
static void gather(const tsr_mip *mip, const struct keep *k, tsr_mip *kept)
{
    const tsr_details *d = &mip->details;
    tsr_details *p = &kept->details;
    for (int64_t i = 0; i < d->bricks; i++) {
        const tsr_detail_brick *b = &mip->brick[i];
        tsr_detail_brick *own = &kept->brick[i];
        *own = (tsr_detail_brick){ .first = p->count, .run = (uint32_t)p->runs };
        for (uint32_t r = b->run; r < b->run + b->runs; r++) {
            const int64_t n = k->to[r], from = b->first + k->run[r].first;
            if (!n) continue;
            k->kept_run[p->runs++] = (tsr_detail_run){ own->count, k->run[r].value, k->run[r].level };
            memcpy(k->kept_place + p->count * d->width, k->place + from * d->width, (size_t)(n * d->width));
            memcpy(k->kept_residual + p->count * d->bytes, k->residual + from * d->bytes, (size_t)(n * d->bytes));
            for (int64_t c = from; c < from + n; c++)
                k->histogram[(int64_t)k->run[r].level * 65536 + tsr_adjunction_load(k->residual, d->bytes, c)]++;
            own->count += (uint32_t)n;
            own->runs++;
            p->count += n;
        }
    }
}

static tsr_status fill(const tsr_mip *mip, int64_t count, struct keep *k, tsr_mip *kept)
{
    const tsr_details *d = &mip->details;
    tsr_details *p = &kept->details;
    TSR_TRY(fetch_all(mip, count, k));
    TSR_TRY(tsr_host_allocate(&kept->context->host_allocator, (size_t)d->bricks * sizeof *kept->brick, (void **)&kept->brick));
    gather(mip, k, kept);
    TSR_TRY(tsr_mip_allocate(kept));
    if (p->count) {
        TSR_TRY(tsr_device_move(kept->context, p->run, NULL, k->kept_run, (size_t)p->runs * sizeof *p->run));
        TSR_TRY(tsr_device_move(kept->context, p->place, NULL, k->kept_place, (size_t)(p->count * d->width)));
        TSR_TRY(tsr_device_move(kept->context, p->residual, NULL, k->kept_residual, (size_t)(p->count * d->bytes)));
    }
    TSR_TRY(tsr_mip_complete(kept, k->histogram));
    return TSR_OK;
}

static void forget(const tsr_details *d, int64_t count, struct keep *k)
{
    if (k->run) tsr_host_release(NULL, k->run, (size_t)d->runs * sizeof *k->run + 1);
    if (k->to) tsr_host_release(NULL, k->to, (size_t)d->runs * 4 + 1);
    if (k->place) tsr_host_release(NULL, k->place, (size_t)(d->count * d->width) + 1);
    if (k->residual) tsr_host_release(NULL, k->residual, (size_t)(d->count * d->bytes) + 1);
    if (k->kept_run) tsr_host_release(NULL, k->kept_run, (size_t)d->runs * sizeof *k->kept_run + 1);
    if (k->kept_place) tsr_host_release(NULL, k->kept_place, (size_t)(count * d->width) + 1);
    if (k->kept_residual) tsr_host_release(NULL, k->kept_residual, (size_t)(count * d->bytes) + 1);
    if (k->histogram) tsr_host_release(NULL, k->histogram, HISTOGRAM_BYTES);
}

tsr_status tsr_mip_keep(tsr_mip *mip, int64_t count, tsr_mip **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(mip);
    struct keep k = { 0 };
    if (count < 0 || count > mip->info.coefficients)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: %lld coefficients to keep, expected 0 to %lld", (long long)count, (long long)mip->info.coefficients);
    TSR_TRY(tsr_mip_select(mip, count, 0));
    TSR_TRY(tsr_host_allocate(&mip->context->host_allocator, sizeof **result, (void **)result));
    tsr_mip *kept = *result;
    *kept = (tsr_mip){ .context = mip->context,
                       .info = mip->info,
                       .geometry = mip->geometry,
                       .slope = mip->slope,
                       .intercept = mip->intercept,
                       .details = mip->details,
                       .selected = -1,
                       .chunk_to = -1,
                       .order_to = -1 };
    memcpy(kept->point, mip->point, sizeof kept->point);
    tsr_details *p = &kept->details;
    p->brick = NULL;
    p->run = NULL;
    p->place = p->residual = NULL;
    p->order = NULL;
    p->from = p->to = NULL;
    p->count = p->runs = 0;
    kept->info.device_bytes = 0;
    kept->info.steps = 0; /* errors were measured against all of it */
    memset(kept->info.step, 0, sizeof kept->info.step);
    memset(kept->info.by_level, 0, sizeof kept->info.by_level);
    const tsr_status status = fill(mip, count, &k, kept);
    forget(&mip->details, count, &k);
    if (status != TSR_OK) tsr_mip_destroy(result);
    TSR_TRY(status);
    return TSR_OK;
}
