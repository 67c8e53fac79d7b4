/* mip/mip_group.c: a pyramid over several contexts: dealing its bricks out, and drawing parts that become one picture. */
#include <stdlib.h>

#include "volume/volume.h"
#include "mip/mip_view.h"

enum { CONTEXTS_MOST = 64 };

struct tsr_mip_group {
    int32_t count;
    tsr_mip *part[CONTEXTS_MOST];        /* part[0] has the ranks */
    tsr_mip_frame *frame[CONTEXTS_MOST]; /* of the others than the first, of the size drawn last */
};

void tsr_mip_group_destroy(tsr_mip_group **result)
{
    if (!result || !*result) return;
    tsr_mip_group *g = *result;
    *result = NULL;
    for (int32_t k = 0; k < g->count; k++) {
        tsr_mip_frame_destroy(&g->frame[k]);
        tsr_mip_destroy(&g->part[k]);
    }
    tsr_host_release(NULL, g, sizeof *g);
}

const tsr_mip_info *tsr_mip_group_describe(const tsr_mip_group *group)
{
    int32_t largest = 0;
    for (int32_t k = 1; group && k < group->count; k++)
        if (group->part[k]->info.device_bytes > group->part[largest]->info.device_bytes) largest = k;
    return tsr_mip_describe(group ? group->part[largest] : NULL);
}

/* ---- dealing out --------------------------------------------------------------------------------------------------------------------------- */

struct deal {
    uint32_t brick, most, count;
};
static int by_brightness(const void *a, const void *b)
{
    const struct deal *x = (const struct deal *)a, *y = (const struct deal *)b;
    if (x->most != y->most) return x->most < y->most ? 1 : -1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return x->brick < y->brick ? -1 : x->brick > y->brick;
}

/* owner[brick]. */
static tsr_status deal_out(const tsr_mip *mip, const tsr_detail_run *runs, int32_t count, uint8_t *owner)
{
    const int64_t bricks = mip->details.bricks;
    struct deal *deals;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)bricks * sizeof *deals, (void **)&deals));
    for (int64_t i = 0; i < bricks; i++) {
        const tsr_detail_brick *b = &mip->brick[i];
        deals[i] = (struct deal){ (uint32_t)i, 0, b->count };
        for (uint32_t k = b->run; k < b->run + b->runs; k++) deals[i].most = tsr_maxi((int32_t)deals[i].most, runs[k].value);
    }
    qsort(deals, (size_t)bricks, sizeof *deals, by_brightness);
    for (int64_t i = 0; i < bricks; i++) owner[deals[i].brick] = (uint8_t)(i % count);
    tsr_host_release(NULL, deals, (size_t)bricks * sizeof *deals);
    return TSR_OK;
}

/* Host copies of a pyramid's arrays. */
struct source {
    const tsr_mip *mip;
    tsr_detail_run *run;
    uint8_t *place, *residual;
    uint8_t *owner;
};

static tsr_status make_part(const struct source *s, tsr_context *context, int32_t own, tsr_mip *part)
{
    const tsr_mip *mip = s->mip;
    const tsr_details *d = &mip->details;
    tsr_detail_run *run = NULL;
    uint8_t *place = NULL, *residual = NULL;
    tsr_status status;
    part->details = mip->details;
    tsr_details *p = &part->details;
    p->brick = NULL;
    p->run = NULL;
    p->place = p->residual = NULL;
    p->order = NULL;
    p->from = p->to = NULL;
    p->count = p->runs = 0;
    TSR_TRY(tsr_host_allocate(&context->host_allocator, (size_t)d->bricks * sizeof *part->brick, (void **)&part->brick));
    for (int64_t i = 0; i < d->bricks; i++) {
        const tsr_detail_brick *b = &mip->brick[i];
        part->brick[i] =
            s->owner[i] == own ? (tsr_detail_brick){ p->count, b->count, (uint32_t)p->runs, b->runs } : (tsr_detail_brick){ .first = p->count };
        p->count += part->brick[i].count;
        p->runs += part->brick[i].runs;
    }
    const size_t run_bytes = (size_t)p->runs * sizeof *run + 1, place_bytes = (size_t)(p->count * d->width) + 1,
                 residual_bytes = (size_t)(p->count * d->bytes) + 1;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, run_bytes, (void **)&run), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, place_bytes, (void **)&place), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, residual_bytes, (void **)&residual), done);
    for (int64_t i = 0; i < d->bricks; i++) {
        const tsr_detail_brick *to = &part->brick[i], *from = &mip->brick[i];
        if (!to->count) continue;
        memcpy(run + to->run, s->run + from->run, (size_t)to->runs * sizeof *run);
        memcpy(place + to->first * d->width, s->place + from->first * d->width, (size_t)to->count * (size_t)d->width);
        memcpy(residual + to->first * d->bytes, s->residual + from->first * d->bytes, (size_t)to->count * (size_t)d->bytes);
    }
    TSR_TRY_GOTO(tsr_mip_allocate(part), done);
    TSR_TRY_GOTO(tsr_device_move(context, p->brick, NULL, part->brick, (size_t)d->bricks * sizeof *part->brick), done);
    TSR_TRY_GOTO(tsr_device_move(context, p->run, NULL, run, (size_t)p->runs * sizeof *run), done);
    TSR_TRY_GOTO(tsr_device_move(context, p->place, NULL, place, (size_t)(p->count * d->width)), done);
    TSR_TRY_GOTO(tsr_device_move(context, p->residual, NULL, residual, (size_t)(p->count * d->bytes)), done);
done:
    if (run) tsr_host_release(NULL, run, run_bytes);
    if (place) tsr_host_release(NULL, place, place_bytes);
    if (residual) tsr_host_release(NULL, residual, residual_bytes);
    return status;
}

static tsr_status copy_ranks(const tsr_mip *mip, tsr_mip *part)
{
    if (!mip->ranks) return TSR_OK;
    TSR_TRY(tsr_host_allocate(&part->context->host_allocator, (size_t)mip->ranks * sizeof *mip->rank, (void **)&part->rank));
    memcpy(part->rank, mip->rank, (size_t)mip->ranks * sizeof *mip->rank);
    part->ranks = mip->ranks;
    return TSR_OK;
}

static tsr_status fill_group(tsr_mip_group *g, tsr_context *const *contexts, const struct source *s)
{
    for (int32_t k = 0; k < g->count; k++) {
        TSR_TRY(tsr_host_allocate(&contexts[k]->host_allocator, sizeof **g->part, (void **)&g->part[k]));
        tsr_mip *part = g->part[k];
        *part = (tsr_mip){ .context = contexts[k],
                           .info = s->mip->info,
                           .geometry = s->mip->geometry,
                           .slope = s->mip->slope,
                           .intercept = s->mip->intercept,
                           .selected = -1,
                           .chunk_to = -1,
                           .order_to = -1 };
        memcpy(part->point, s->mip->point, sizeof part->point);
        part->info.device_bytes = 0;
        TSR_TRY(make_part(s, contexts[k], k, part));
    }
    TSR_TRY(copy_ranks(s->mip, g->part[0]));
    return TSR_OK;
}

tsr_status tsr_mip_group_create(tsr_context *const *contexts, int32_t count, const tsr_mip *mip, tsr_mip_group **group)
{
    TSR_RETURNS(group);
    TSR_NEEDS(contexts, mip);
    struct source s = { .mip = mip };
    tsr_status status;
    if (count < 1 || count > CONTEXTS_MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: %d contexts, expected 1 to %d", count, CONTEXTS_MOST);
    for (int32_t k = 0; k < count; k++)
        if (!contexts[k]) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: context %d is NULL", k);
    if (mip->info.format != TSR_MIP_BRICKS) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: several devices take pyramids of format bricks: build it so");
    const tsr_details *d = &mip->details;
    const size_t run_bytes = (size_t)d->runs * sizeof *s.run + 1, place_bytes = (size_t)(d->count * d->width) + 1,
                 residual_bytes = (size_t)(d->count * d->bytes) + 1;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, run_bytes, (void **)&s.run), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, place_bytes, (void **)&s.place), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, residual_bytes, (void **)&s.residual), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)d->bricks, (void **)&s.owner), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, s.run, mip->context, d->run, (size_t)d->runs * sizeof *s.run), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, s.place, mip->context, d->place, (size_t)(d->count * d->width)), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, s.residual, mip->context, d->residual, (size_t)(d->count * d->bytes)), done);
    TSR_TRY_GOTO(deal_out(mip, s.run, count, s.owner), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, sizeof **group, (void **)group), done);
    **group = (tsr_mip_group){ .count = count };
    TSR_TRY_GOTO(fill_group(*group, contexts, &s), done);
done:
    if (s.run) tsr_host_release(NULL, s.run, run_bytes);
    if (s.place) tsr_host_release(NULL, s.place, place_bytes);
    if (s.residual) tsr_host_release(NULL, s.residual, residual_bytes);
    if (s.owner) tsr_host_release(NULL, s.owner, (size_t)d->bricks);
    if (status != TSR_OK) tsr_mip_group_destroy(group);
    return status;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status own_frame(tsr_mip_group *g, int32_t k, const tsr_mip_frame *like)
{
    tsr_mip_frame *f = g->frame[k];
    if (f && f->width == like->width && f->height == like->height) return TSR_OK;
    tsr_mip_frame_destroy(&g->frame[k]);
    TSR_TRY(tsr_mip_frame_create(g->part[k]->context, like->width, like->height, &g->frame[k]));
    return TSR_OK;
}

/* The level pictures of another context into the first one's, pixel by pixel the larger. */
static tsr_status join(const tsr_mip_picture *to, const tsr_mip_picture *from)
{
    tsr_context *context = to->frame->context;
    uint32_t *copy = NULL;
    const size_t bytes = (size_t)to->pixels * 4;
    TSR_TRY(tsr_device_allocate(context, bytes, (void **)&copy));
    tsr_status status = tsr_device_move(context, copy, from->frame->context, from->level[0], bytes);
    if (status == TSR_OK) status = context->backend->mip->combine(context->queue, to->level[0], copy, to->pixels);
    if (status == TSR_OK) status = context->backend->synchronize(context->queue);
    tsr_device_release(context, copy, bytes);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status draw_parts(tsr_mip_group *g, tsr_mip_picture *p, const tsr_mip_view *view, int64_t count)
{
    int64_t same = 0;
    TSR_TRY(tsr_mip_select_parts(g->part, g->count, g->part[0], count, 0));
    for (int32_t k = 0; k < g->count; k++) { /* all are at work before the first one is waited for */
        if (k) {
            tsr_mip_render_options o = p[0].options;
            o.count = tsr_max64(count, 1);
            o.milliseconds = o.error = 0;
            TSR_TRY(own_frame(g, k, p[0].frame));
            TSR_TRY(tsr_mip_picture_begin(&p[k], g->part[k], &view, &o, g->frame[k], &same));
        }
        TSR_TRY(tsr_mip_list(g->part[k]));
        TSR_TRY(tsr_mip_picture_room(&p[k]));
        TSR_TRY(tsr_mip_picture_draw(&p[k], g->part[k], 0));
    }
    for (int32_t k = 1; k < g->count; k++) TSR_TRY(join(&p[0], &p[k]));
    for (int32_t j = p[0].options.mode == TSR_MIP_CASCADE ? p[0].mip->info.levels - 1 : -1; j >= 0; j--) TSR_TRY(tsr_mip_picture_expand(&p[0], j));
    return TSR_OK;
}

tsr_status tsr_mip_group_render(tsr_mip_group *group, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                                tsr_mip_statistics *statistics)
{
    TSR_NEEDS(group, view, frame);
    tsr_mip_picture *p;
    int64_t count = 0;
    const size_t bytes = (size_t)group->count * sizeof *p;
    TSR_TRY(TSR_STRUCT_BEGUN(statistics));
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&p));
    const double begin = tsr_seconds_now();
    tsr_status status = tsr_mip_picture_begin(&p[0], group->part[0], &view, options, frame, &count);
    if (status == TSR_OK && p[0].options.refine) status = TSR_FAILED(TSR_ERROR_ARGUMENT, "mip: refine is for pyramids on one device");
    if (status == TSR_OK) status = draw_parts(group, p, view, count);
    if (status == TSR_OK) status = tsr_mip_picture_end(&p[0], view, count, begin, statistics);
    if (status == TSR_OK) status = frame->context->backend->synchronize(frame->context->queue);
    tsr_host_release(NULL, p, bytes);
    TSR_TRY(status);
    return TSR_OK;
}
