/* volume/distance_evolve.c: host logic of distances by evolution. */
#include <math.h>
#include <string.h>

#include "volume/distance_ops.h"
#include "volume/volume.h"
#include "tessera/distance.h"

enum { LOOK = 8 /* steps between looks at the change */ };

static tsr_status check_options(tsr_distance_pde_options *o, double h)
{
    if ((unsigned)o->method > TSR_DISTANCE_SOURCE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: method is %d, expected TSR_DISTANCE_REINIT or TSR_DISTANCE_SOURCE", (int)o->method);
    if (!(o->band >= 0) || isinf(o->band)) TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: band is %g, expected 0 or more", o->band);
    if (!(o->step >= 0 && o->step <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: step is %g, expected more than 0, at most 1", o->step);
    if (!(o->tolerance >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: tolerance is %g, expected 0 or more", o->tolerance);
    if (o->max_steps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: max_steps is %d, expected 0 or more", o->max_steps);
    if (o->band == 0) o->band = 10 * h;
    if (o->step == 0) o->step = 0.5;
    return TSR_OK;
}

/* phi clamped to the band, NaN as the band: from host to device. */
static tsr_status start(tsr_context *context, const tsr_volume *reals, double band, float *to)
{
    tsr_volume *host = NULL;
    TSR_TRY(tsr_volume_copy(reals, NULL, &host));
    float *v = (float *)host->data;
    const float b = (float)band;
    for (int64_t i = 0; i < tsr_volume_count(host); i++) v[i] = isnan(v[i]) || v[i] > b ? b : v[i] < -b ? -b : v[i];
    const tsr_status status = tsr_device_move(context, to, NULL, v, (size_t)tsr_volume_count(host) * 4);
    tsr_volume_destroy(&host);
    TSR_TRY(status);
    return TSR_OK;
}

/* Steps until little changes; the result lies in job->from. */
static tsr_status run(tsr_context *context, tsr_distance_pde_job *job, float *other, int32_t most, double tolerance, const tsr_progress *progress,
                      tsr_distance_pde_report *report)
{
    const tsr_distance_ops *ops = context->backend->distance;
    for (int32_t k = 0; k < most; k++) {
        float *from = other;
        if (k % LOOK == 0) {
            TSR_PROGRESS(progress, (double)k / most, "distance");
            TSR_TRY(context->backend->fill(context->queue, job->change, 0, 4));
        }
        job->to = other;
        TSR_TRY(ops->pde_step(context->queue, job));
        other = (float *)(uintptr_t)job->from;
        job->from = from;
        report->steps = k + 1;
        if (k % LOOK != LOOK - 1 && k + 1 < most) continue;
        uint32_t bits;
        float change;
        TSR_TRY(tsr_device_move(NULL, &bits, context, job->change, 4));
        memcpy(&change, &bits, 4);
        report->change = (double)change;
        if (report->change <= tolerance) break;
    }
    return TSR_OK;
}

tsr_status tsr_distance_evolve(tsr_context *context, const tsr_volume *phi, const tsr_distance_pde_options *options, tsr_volume **distance,
                               tsr_distance_pde_report *report)
{
    TSR_RETURNS(distance);
    TSR_NEEDS(context, phi);
    tsr_distance_pde_options own = TSR_DISTANCE_PDE_OPTIONS;
    tsr_distance_pde_report made = TSR_DISTANCE_PDE_REPORT;
    tsr_volume *reals = NULL;
    float *scratch = NULL;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_volume_require(context, phi, "phi"));
    TSR_TRY(tsr_geometry_check_perpendicular(&phi->geometry, "distance: the level set"));
    const tsr_vec3 h = tsr_geometry_spacing(&phi->geometry);
    const double least = fmin(h.x, fmin(h.y, h.z));
    TSR_TRY(check_options(&own, least));
    const int64_t count = tsr_volume_count(phi);
    if (phi->size.x > 65535 || phi->size.y > 65535 || phi->size.z > 65535)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "distance: extents %lld x %lld x %lld, expected at most 65535 each", (long long)phi->size.x,
                 (long long)phi->size.y, (long long)phi->size.z);
    const size_t bytes = (size_t)count * 8 + 8;
    /* reinit: |change| per unit of time is at most 1; source: at most B */
    const double time = own.step * least / (own.method == TSR_DISTANCE_SOURCE ? own.band : 1);
    const double speed = own.method == TSR_DISTANCE_SOURCE ? own.band : 1;
    const double tolerance = own.tolerance > 0 ? own.tolerance * least : 0.01 * time * speed;
    const int32_t most = own.max_steps ? own.max_steps : (int32_t)fmin(1e6, ceil(2 * own.band / (time * speed)));
    TSR_TRY_GOTO(tsr_volume_convert(context, phi, TSR_F32, &reals), done);
    TSR_TRY_GOTO(tsr_volume_create(context, TSR_F32, phi->size, &phi->geometry, distance), done);
    TSR_TRY_GOTO(tsr_volume_copy_header(*distance, phi), done);
    TSR_TRY_GOTO(tsr_volume_set_scaling(*distance, 1, 0), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, (void **)&scratch), done);
    TSR_TRY_GOTO(start(context, reals, own.band, (float *)(*distance)->data), done);
    tsr_distance_pde_job job = { .size = { phi->size.x, phi->size.y, phi->size.z },
                                 .inverse = { (float)(1 / h.x), (float)(1 / h.y), (float)(1 / h.z) },
                                 .step = (float)time,
                                 .band = (float)own.band,
                                 .source = own.method == TSR_DISTANCE_SOURCE,
                                 .from = (const float *)(*distance)->data,
                                 .to = scratch + count,
                                 .change = (uint32_t *)(void *)(scratch + 2 * count) };
    TSR_TRY_GOTO(context->backend->distance->pde_lock(context->queue, &job), done);
    job.locked = scratch + count;
    TSR_TRY_GOTO(run(context, &job, scratch, most, tolerance, &own.progress, &made), done);
    if (job.from != (const float *)(*distance)->data)
        TSR_TRY_GOTO(tsr_device_move(context, (*distance)->data, context, job.from, (size_t)count * 4), done);
    TSR_TRY_GOTO(context->backend->synchronize(context->queue), done);
    status = TSR_STRUCT_GIVE(report, &made);
done:
    if (scratch) tsr_device_release(context, scratch, bytes);
    tsr_volume_destroy(&reals);
    if (status != TSR_OK) tsr_volume_destroy(distance);
    return status;
}
