/* vision/depth/sweep_volume.c: all hypotheses at full resolution: costs plane by plane, sums along paths, slanted windows. */
#include <math.h>

#include "vision/depth/sweep.h"

/* Costs of all planes: what each view sees of one becomes codes, and these costs. */
static tsr_status costs(tsr_planes *s, tsr_match_job *job, tsr_depth_maps *maps)
{
    const tsr_planes_ops *step = tsr_planes_steps(s);
    tsr_queue *queue = s->context->queue;
    const int64_t pixels = (int64_t)job->width * job->height;
    uint8_t *grey, *volume;
    uint32_t *code;
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)(pixels * s->count), &grey));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)(pixels * s->count) * 4, &code));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)(pixels * job->padded), &volume));
    for (int32_t d = 0; d < job->depths; d++) {
        const tsr_planes_warp_job warp = { .view = s->device_table, .width = job->width, .height = job->height, .grey = s->o.channels == 1, .scale = { 1.0f, 1.0f },
                                          .t = (float)d * (float)maps->step, .to = grey };
        TSR_TRY(step->warp(queue, &warp, pixels * s->count));
        for (int32_t v = 0; v < s->count; v++) {
            const tsr_code_job own = { .width = job->width, .height = job->height, .channels = 1, .reduce = 1, .image_width = job->width, .grey = grey + v * pixels,
                                       .code = code + v * pixels };
            TSR_TRY(s->context->backend->match->code(queue, &own));
        }
        const tsr_planes_merge_job merge = { .views = s->count, .reference = s->reference, .least_count = s->o.contributors, .padded = job->padded, .hypothesis = d,
                                            .depths = job->depths, .pixels = pixels, .grey = grey, .code = code, .volume = volume,
                                            .count = (uint8_t *)maps->count->data };
        TSR_TRY(step->merge(queue, &merge, pixels));
        if (d % 8 == 7) TSR_TRY(s->context->backend->synchronize(queue));
        TSR_PROGRESS(&s->o.progress, 0.2 + 0.5 * (d + 1) / job->depths, "costs");
    }
    /* The picture that says where edges are: the reference view's, or what the first view sees of the middle. */
    const tsr_planes_warp_job guide = { .view = s->device_table + (s->reference < 0 ? 0 : s->reference), .width = job->width, .height = job->height,
                                       .grey = s->o.channels == 1, .scale = { 1.0f, 1.0f }, .t = 0.5f, .to = grey };
    TSR_TRY(step->warp(queue, &guide, pixels));
    job->grey[0] = grey;
    job->volume = volume;
    tsr_depth_drop(&s->memory, code);
    return TSR_OK;
}

static tsr_status refine(tsr_planes *s, const tsr_match_job *m)
{
    const int64_t pixels = (int64_t)m->width * m->height;
    tsr_planes_patch_job job = { .width = m->width, .height = m->height, .depths = m->depths, .padded = m->padded, .reach = 4, .colour = -1, .volume = m->volume,
                                .grey = m->grey[0], .best = m->best, .range = 1.0f, .seed = s->o.seed };
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels * 12, &job.plane));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels * 4, &job.cost));
    TSR_TRY(tsr_planes_steps(s)->patch(s->context->queue, &job, pixels));
    for (job.turn = 0; job.turn < s->o.refinements; job.turn++) {
        for (job.colour = 0; job.colour < 2; job.colour++) TSR_TRY(tsr_planes_steps(s)->patch(s->context->queue, &job, pixels));
        TSR_TRY(s->context->backend->synchronize(s->context->queue));
        TSR_PROGRESS(&s->o.progress, 0.9, "slanted windows");
        job.range *= 0.7f;
    }
    job.colour = 2;
    TSR_TRY(tsr_planes_steps(s)->patch(s->context->queue, &job, pixels));
    return TSR_OK;
}

tsr_status tsr_planes_volume(tsr_planes *s, tsr_depth_maps *maps)
{
    const tsr_plane_sweep_options *o = &s->o;
    const int64_t pixels = (int64_t)o->width * o->height;
    const double percent = 100 * o->uniqueness / (1 + o->uniqueness);
    double count = o->hypotheses ? o->hypotheses : ceil(s->pixels / o->step) + 1;
    tsr_match_job job = { .width = o->width, .height = o->height, .paths = o->paths, .p1 = o->p1, .consistency = -1,
                          .uniqueness = (int32_t)(percent > 0 && percent < 1 ? 1 : percent + 0.5) };
    uint8_t penalties[256], *table;
    void *p;
    if (count < 3 && !o->hypotheses) count = 3;
    if (count > TSR_MATCH_MOST && !o->hypotheses) {
        tsr_remark("plane sweep: %d hypotheses in place of %.0f: a place moves by %.0f pixels over the range of depths, and steps are of %.2f", TSR_MATCH_MOST, count,
                   s->pixels, s->pixels / (TSR_MATCH_MOST - 1));
        count = TSR_MATCH_MOST;
    }
    if (count > TSR_MATCH_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %g hypotheses for a step of %g pixels, expected at most %d: a smaller range or a larger step", count, o->step,
                 TSR_MATCH_MOST);
    if (job.uniqueness > 99) job.uniqueness = 99;
    job.depths = maps->hypotheses = (int32_t)count;
    job.padded = (job.depths + TSR_MATCH_LANES - 1) / TSR_MATCH_LANES * TSR_MATCH_LANES;
    maps->step = 1 / (count - 1);
    tsr_match_penalties(o->p1, o->p2, penalties);
    TSR_TRY(tsr_depth_take(&s->memory, 256, &table));
    TSR_TRY(s->context->backend->upload(s->context->queue, table, penalties, 256));
    job.p2 = table;
    TSR_TRY(costs(s, &job, maps));
    const int cpu = s->context->device.kind == TSR_DEVICE_CPU;
    if (!cpu || o->paths != 3) TSR_TRY(tsr_depth_take(&s->memory, (size_t)(pixels * job.padded) * 2, &job.sums));
    if (cpu && o->paths != 3 && s->context->threads > 1) TSR_TRY(tsr_depth_take(&s->memory, (size_t)(pixels * job.padded) * 2, &job.more));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels * 4, &job.best));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels, &job.valid));
    TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels * 4, &p));
    job.index = (uint16_t *)p;
    job.score = (uint16_t *)p + pixels;
    TSR_TRY(s->context->backend->match->aggregate(s->context->queue, &job));
    TSR_TRY(s->context->backend->match->select(s->context->queue, &job));
    TSR_PROGRESS(&o->progress, 0.85, "paths");
    if (o->refinements) TSR_TRY(refine(s, &job));
    const tsr_planes_settle_job settle = { .best = job.best, .sums = job.score, .unique = job.valid, .least_count = o->contributors, .scale = (float)maps->step,
                                          .t = (float *)maps->hypothesis->data, .score = (float *)maps->score->data, .count = (uint8_t *)maps->count->data,
                                          .state = (uint8_t *)maps->state->data, .valid = (uint8_t *)maps->valid->data };
    TSR_TRY(tsr_planes_steps(s)->settle(s->context->queue, &settle, pixels));
    return TSR_OK;
}
