/* mip/mip_draw.c: from pyramid, view and options to the data of a picture, and the order of the work. */
#include "mip/mip_view.h"

#include <math.h>
#include <time.h>

#include "volume/volume.h"
#include "mip/mip_cover.h"

static const tsr_mip_ops *ops_of(const tsr_context *context) { return context->backend->mip; }

/* ---- options ------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_mip_options_check(const tsr_mip_render_options *o, tsr_dtype dtype, int32_t *lower, int32_t *upper)
{
    const int32_t most = dtype == TSR_U8 ? 255 : 65535;
    if ((unsigned)o->mode > TSR_MIP_EXACT) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: mode is %d, expected one of tsr_mip_mode (0 to 2)", (int)o->mode);
    if ((unsigned)o->close > TSR_MIP_CLOSE_HOLES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: close is %d, expected one of tsr_mip_close (0 to 3)", (int)o->close);
    if (!(o->fraction >= 0 && o->fraction <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: fraction is %g, expected 0 to 1", o->fraction);
    if (o->count < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: count is %lld, expected 0 or more", (long long)o->count);
    if (!(o->error >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: error is %g, expected 0 or more", o->error);
    if (!(o->milliseconds >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: milliseconds is %g, expected 0 or more", o->milliseconds);
    *lower = o->lower ? o->lower : 1;
    *upper = o->upper ? o->upper : most;
    if (*lower < 1 || *upper > most || *lower > *upper)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: thresholds %d to %d, expected 1 <= lower <= upper <= %d", *lower, *upper, most);
    if (o->slab && !(isfinite(o->slab_lower) && isfinite(o->slab_upper) && o->slab_lower < o->slab_upper && fabs(o->slab_lower) < 1e9 &&
                     fabs(o->slab_upper) < 1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: slab from %g to %g, expected two depths in rising order", o->slab_lower, o->slab_upper);
    if (o->slab && o->mode != TSR_MIP_EXACT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: a slab needs the mode exact: other coefficients reach through its faces");
    return TSR_OK;
}

/* The fewest coefficients that reached the error when it was measured. */
static tsr_status count_for_error(const tsr_mip *mip, double error, int64_t *count)
{
    if (!mip->info.steps)
        TSR_FAIL(TSR_ERROR_STATE, "mip: the errors of this pyramid were not measured: build it with measure, or ask for a fraction");
    *count = mip->info.coefficients;
    for (int32_t k = mip->info.steps - 1; k >= 0 && mip->info.step[k].relative <= error; k--) *count = mip->info.step[k].count;
    return TSR_OK;
}

/* From the line t = t0 + a K through the frame's times; a fiftieth of all at first. */
static int64_t count_for_time(const tsr_mip *mip, const tsr_mip_frame *frame, double milliseconds)
{
    const double *f = frame->fit, all = (double)mip->info.coefficients;
    if (f[0] == 0) return (int64_t)(0.02 * all);
    const double spread = f[0] * f[3] - f[1] * f[1];
    double slope = spread > 1e-6 * f[1] * f[1] ? (f[0] * f[4] - f[1] * f[2]) / spread : 0, start = (f[2] - slope * f[1]) / f[0];
    if (!(slope > 0) || start < 0) { /* one number so far, or noise: through 0 */
        slope = f[2] / fmax(f[1], 1);
        start = 0;
    }
    const double k = fmin(fmax((milliseconds - start) / slope, 0.002 * all), fmin(all, 4 * f[1] / f[0])); /* grows by 4 at most */
    return (int64_t)k;
}

static void note_time(tsr_mip_frame *frame, int64_t count, double milliseconds)
{
    const double k = (double)count, add[5] = { 1, k, milliseconds, k * k, k * milliseconds };
    for (int i = 0; i < 5; i++) frame->fit[i] = 0.9 * frame->fit[i] + add[i]; /* old times fade */
}

static tsr_status choose_count(const tsr_mip *mip, const tsr_mip_frame *frame, const tsr_mip_render_options *o, int64_t *count)
{
    const int64_t all = mip->info.coefficients;
    if (o->milliseconds > 0) *count = count_for_time(mip, frame, o->milliseconds);
    else if (o->error > 0) TSR_TRY(count_for_error(mip, o->error, count));
    else if (o->count > 0) *count = o->count;
    else *count = llround((o->fraction > 0 ? o->fraction : 1) * (double)all);
    if (*count < 1 && o->fraction > 0) *count = 1; /* a share of more than nothing */
    if (*count > all) *count = all;
    return TSR_OK;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status reserve(tsr_mip_picture *p)
{
    const tsr_mip_setup *s = &p->setup;
    tsr_mip_frame *f = p->frame;
    int16_t *lists;
    int64_t list_bytes, images[TSR_MIP_LEVELS + 1];
    const int32_t levels = p->options.mode == TSR_MIP_CASCADE ? p->mip->info.levels : 0;
    TSR_TRY(tsr_mip_covers(p->mip, s, p->options.mode == TSR_MIP_EXACT, p->job.cover, &lists, &list_bytes));
    for (int32_t j = 0; j <= levels; j++) {
        p->width[j] = s->full_width >> j;
        p->height[j] = s->full_height >> j;
        images[j] = p->pixels;
        p->pixels += (int64_t)p->width[j] * p->height[j];
    }
    int32_t side = 1;
    double reach[2] = { 0 };
    for (int32_t j = 0; j <= p->mip->info.levels; j++) side = tsr_maxi(side, tsr_maxi(p->job.cover[j].side[0], p->job.cover[j].side[1]));
    for (int k = 0; k < 3; k++) {
        reach[0] += fabs((double)s->p.u[k]);
        reach[1] += fabs((double)s->p.v[k]);
    }
    p->job.footprint = (int32_t)(fmax(reach[0], reach[1]) * (TSR_CELL_SIDE - 1) / 65536) + 3 + 2 * (side / 2 + 1);
    const int on_cpu = f->context->device.kind == TSR_DEVICE_CPU;
    p->job.scratch_pixels = on_cpu ? (s->full_width + 2 * (int64_t)p->job.footprint) * (s->full_height + 2 * (int64_t)p->job.footprint) : 0;
    tsr_status status =
        tsr_mip_frame_reserve(f, (p->pixels + (int64_t)s->width * s->height) * 4, p->job.scratch_pixels * 2 * f->context->threads, list_bytes);
    if (status == TSR_OK && lists) status = tsr_device_move(f->context, f->offsets, NULL, lists, (size_t)list_bytes);
    if (lists) tsr_host_release(NULL, lists, (size_t)list_bytes);
    TSR_TRY(status);
    p->job.scratch = f->scratch;
    tsr_mip_covers_place(p->mip, p->job.cover, f->offsets);
    for (int32_t j = 0; j <= levels; j++) p->level[j] = f->images + images[j];
    p->dilated = f->images + p->pixels;
    return TSR_OK;
}

tsr_status tsr_mip_picture_draw(tsr_mip_picture *p, const tsr_mip *mip, int expand)
{
    tsr_context *context = p->frame->context;
    tsr_mip_job *job = &p->job;
    const tsr_mip_render_options *o = &p->options;
    const int32_t steps = o->mode == TSR_MIP_CASCADE ? mip->info.levels : 0;
    job->d = mip->details;
    job->p = p->setup.p;
    job->exact = o->mode == TSR_MIP_EXACT;
    job->cube2 = mip->info.element == TSR_MIP_CUBE2;
    job->points = mip->info.levels && job->cover[mip->info.levels].voxels ? mip->info.points : 0;
    memcpy(job->point, mip->point, sizeof job->point);
    job->most = mip->info.dtype == TSR_U8 ? 255 : 65535;
    job->slab = o->slab != 0;
    job->slab_lower = llround(65536 * o->slab_lower);
    job->slab_upper = llround(65536 * o->slab_upper);
    job->refine = o->refine;
    job->chunk = mip->chunk;
    job->chunks = mip->chunks;
    for (int32_t j = steps; j >= 0; j--) {
        job->shift = j;
        job->level_low = steps ? tsr_maxi(j, o->finest) : o->finest;
        job->level_high = steps ? j : mip->info.levels;
        job->slow_high = j ? j : mip->info.levels;
        job->image = p->level[j];
        job->width = p->width[j];
        job->height = p->height[j];
        tsr_mip_box_limits(job);
        tsr_mip_find_spans(job);
        if (mip->details.runs) TSR_TRY(ops_of(context)->draw(context->queue, job));
        if (expand && j < steps) TSR_TRY(tsr_mip_picture_expand(p, j));
    }
    return TSR_OK;
}

tsr_status tsr_mip_picture_expand(tsr_mip_picture *p, int32_t j)
{
    const tsr_context *context = p->frame->context;
    TSR_TRY(ops_of(context)->expand(context->queue, p->level[j + 1], p->width[j + 1], p->height[j + 1], &p->setup.set[j], p->level[j], p->width[j],
                                    p->height[j]));
    return TSR_OK;
}

tsr_status tsr_mip_finish_frame(tsr_mip_frame *frame, const tsr_mip_setup *s, tsr_mip_close close, const uint32_t *drawn, uint32_t *dilated)
{
    const int closes = close == TSR_MIP_CLOSE_ALL || close == TSR_MIP_CLOSE_HOLES || (close == TSR_MIP_CLOSE_AUTO && s->oblique);
    const tsr_mip_finish finish = { .drawn = drawn,
                                    .dilated = closes ? dilated : NULL,
                                    .width = s->width,
                                    .height = s->height,
                                    .stride = s->full_width,
                                    .left = s->left,
                                    .top = s->top,
                                    .holes = close != TSR_MIP_CLOSE_ALL,
                                    .repeat = { s->repeat[0], s->repeat[1] },
                                    .element = s->set[TSR_MIP_LEVELS],
                                    .picture = frame->picture,
                                    .picture_width = frame->width,
                                    .picture_height = frame->height };
    TSR_TRY(ops_of(frame->context)->finish(frame->context->queue, &finish, closes ? dilated : NULL));
    return TSR_OK;
}

/* Does the frame hold a picture that this call can go on with? */
static int same_picture(const tsr_mip_frame *f, const tsr_mip *mip, const tsr_mip_view *view, const tsr_mip_render_options *o)
{
    const tsr_mip_render_options *a = &f->options;
    return f->mip == mip && !memcmp(f->view.rotation, view->rotation, sizeof view->rotation) && f->view.zoom == view->zoom &&
           f->view.stretch.x == view->stretch.x && f->view.stretch.y == view->stretch.y && f->view.stretch.z == view->stretch.z &&
           a->mode == o->mode && a->finest == o->finest && a->lower == o->lower && a->upper == o->upper && a->slab == o->slab &&
           a->slab_lower == o->slab_lower && a->slab_upper == o->slab_upper;
}

tsr_status tsr_mip_list(tsr_mip *mip)
{
    if (mip->info.format != TSR_MIP_BRICKS) TSR_TRY(tsr_mip_make_chunks(mip));
    else if (mip->details.runs) TSR_TRY(tsr_mip_make_order(mip));
    return TSR_OK;
}

tsr_status tsr_mip_check_refine(const tsr_mip_picture *p, const tsr_mip_view *view, int64_t count)
{
    const tsr_mip_frame *f = p->frame;
    if (!p->options.refine) return TSR_OK;
    if (!same_picture(f, p->mip, view, &p->options))
        TSR_FAIL(TSR_ERROR_STATE, "mip: refine: the frame holds no picture of this pyramid with this view and these options: draw one first");
    if (count < f->count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: refine: %lld coefficients after %lld, expected no fewer", (long long)count, (long long)f->count);
    return TSR_OK;
}

static tsr_status select_count(tsr_mip_picture *p, const tsr_mip_view *view, int64_t count)
{
    TSR_TRY(tsr_mip_check_refine(p, view, count));
    if (p->options.refine && p->mip->selected != p->frame->count) TSR_TRY(tsr_mip_select(p->mip, p->frame->count, 0));
    TSR_TRY(tsr_mip_select(p->mip, count, p->options.refine));
    TSR_TRY(tsr_mip_list(p->mip));
    return TSR_OK;
}

tsr_status tsr_mip_picture_begin(tsr_mip_picture *p, tsr_mip *mip, const tsr_mip_view **view, const tsr_mip_render_options *options,
                                 tsr_mip_frame *frame, int64_t *count)
{
    static const tsr_mip_view plain = { .zoom = 1 };
    *p = (tsr_mip_picture){ .mip = mip, .frame = frame };
    TSR_TRY(TSR_OPTIONS_TAKE(&p->options, options));
    if (!mip || !frame) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip or frame is NULL");
    if (mip->context != frame->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the frame belongs to another context than the pyramid");
    if (!*view) *view = &plain;
    if (p->options.finest < 0 || p->options.finest > mip->info.levels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: finest is %d, expected a level from 0 to %d", p->options.finest, mip->info.levels);
    TSR_TRY(tsr_mip_options_check(&p->options, mip->info.dtype, &p->job.lower, &p->job.upper));
    TSR_TRY(tsr_mip_setup_make(*view, mip->info.size, mip->info.levels, (const int8_t(*)[4])mip->point, mip->info.points,
                               mip->info.element == TSR_MIP_CUBE2, frame->width, frame->height, p->options.mode == TSR_MIP_CASCADE, &p->setup));
    TSR_TRY(choose_count(mip, frame, &p->options, count));
    return TSR_OK;
}

tsr_status tsr_mip_picture_room(tsr_mip_picture *p)
{
    p->frame->mip = NULL; /* no picture to go on with if something fails */
    TSR_TRY(reserve(p));
    if (!p->options.refine) TSR_TRY(p->frame->context->backend->fill(p->frame->context->queue, p->level[0], 0, (size_t)p->pixels * 4));
    return TSR_OK;
}

tsr_status tsr_mip_picture_end(tsr_mip_picture *p, const tsr_mip_view *view, int64_t count, double begin, tsr_mip_statistics *statistics)
{
    tsr_mip_frame *frame = p->frame;
    TSR_TRY(tsr_mip_finish_frame(frame, &p->setup, p->options.close, p->level[0], p->dilated));
    frame->mip = p->mip;
    frame->view = *view;
    frame->options = p->options;
    frame->count = count;
    tsr_mip_statistics own = { .drawn = count };
    if (p->options.milliseconds > 0) {
        TSR_TRY(frame->context->backend->synchronize(frame->context->queue));
        const double taken = 1e3 * (tsr_seconds_now() - begin);
        note_time(frame, count, taken);
        own.milliseconds = taken;
    }
    return TSR_STRUCT_GIVE(statistics, &own);
}

tsr_status tsr_mip_render(tsr_mip *mip, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                          tsr_mip_statistics *statistics)
{
    tsr_mip_picture p;
    int64_t count = 0;
    TSR_TRY(TSR_STRUCT_BEGUN(statistics));
    TSR_TRY(tsr_mip_picture_begin(&p, mip, &view, options, frame, &count));
    TSR_TRY(select_count(&p, view, count));
    const double begin = tsr_seconds_now();
    TSR_TRY(tsr_mip_picture_room(&p));
    TSR_TRY(tsr_mip_picture_draw(&p, mip, 1));
    TSR_TRY(tsr_mip_picture_end(&p, view, count, begin, statistics));
    return TSR_OK;
}

/* ---- building ------------------------------------------------------------------------------------------------------------------------------ */

/* A stage's progress is a part of that of the whole. */
struct share {
    const tsr_progress *whole;
    double from, size;
};
static int report_share(void *user, double fraction, const char *stage)
{
    const struct share *s = (const struct share *)user;
    return tsr_progress_report(s->whole, s->from + s->size * fraction, stage);
}

/* Errors against all coefficients, over three views with the whole volume in them. */
static tsr_status measure(tsr_mip *mip, const tsr_progress *progress)
{
    static const double part[TSR_MIP_STEPS] = { 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35, 0.5, 0.7, 1 };
    const double n[3] = { (double)mip->info.size.x, (double)mip->info.size.y, (double)mip->info.size.z }, side = 384;
    const double zoom = fmin(1, side / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]));
    tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
    tsr_mip_frame *full = NULL, *frame = NULL;
    tsr_status status = tsr_mip_frame_create(mip->context, (int32_t)side, (int32_t)side, &full);
    if (status == TSR_OK) status = tsr_mip_frame_create(mip->context, (int32_t)side, (int32_t)side, &frame);
    o.close = TSR_MIP_CLOSE_OFF;
    for (int v = 0; v < 3 && status == TSR_OK; v++) {
        const tsr_mip_view view = v ? tsr_mip_orbit(v == 1 ? 30 : -75, v == 1 ? 20 : -35, zoom) : (tsr_mip_view){ .zoom = zoom };
        o.count = 0;
        status = tsr_mip_render(mip, &view, &o, full, NULL);
        for (int k = 0; k < TSR_MIP_STEPS && status == TSR_OK; k++) {
            tsr_mip_errors e = TSR_MIP_ERRORS;
            if (tsr_progress_report(progress, (v + (double)k / TSR_MIP_STEPS) / 3, "errors"))
                TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during errors");
            o.count = tsr_max64(1, llround(part[k] * (double)mip->info.coefficients));
            status = tsr_mip_render(mip, &view, &o, frame, NULL);
            if (status == TSR_OK) status = tsr_mip_compare(frame, full, &e);
            if (status != TSR_OK) break;
            mip->info.step[k].count = o.count;
            mip->info.step[k].relative += e.relative / 3;
            mip->info.step[k].median += e.median / 3;
        }
    }
done:
    tsr_mip_frame_destroy(&full);
    tsr_mip_frame_destroy(&frame);
    TSR_TRY(status);
    mip->info.steps = TSR_MIP_STEPS;
    return TSR_OK;
}

tsr_status tsr_mip_build(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_mip **mip)
{
    TSR_RETURNS(mip);
    TSR_NEEDS(context, volume);
    tsr_mip_options own;
    tsr_volume *shown = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    const tsr_progress progress = own.progress;
    const double hides = own.hide ? 0.6 : 0, builds = own.measure ? 0.5 * (1 - hides) : 1 - hides;
    struct share share = { &progress, 0, hides };
    own.progress = (tsr_progress){ report_share, &share };
    if (own.hide) TSR_TRY(tsr_mip_hide(context, volume, &own, &shown, NULL));
    share = (struct share){ &progress, hides, builds };
    tsr_status status = tsr_mip_build_plain(context, shown ? shown : volume, &own, mip);
    share = (struct share){ &progress, hides + builds, 1 - hides - builds };
    if (status == TSR_OK && own.measure && (*mip)->info.coefficients) status = measure(*mip, &own.progress);
    tsr_volume_destroy(&shown);
    if (status != TSR_OK) tsr_mip_destroy(mip);
    TSR_TRY(status);
    return TSR_OK;
}
