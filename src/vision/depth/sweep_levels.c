/* vision/depth/sweep_levels.c: from coarse to fine: search, median, on to the next level. */
#include <math.h>

#include "vision/depth/sweep.h"

struct grid {
    int32_t width, height;
    float spacing;
    float *t, *smooth;
    uint8_t *state, *smooth_state;
};

/* Spacing of the places of a level, pixels of the depth camera. MIPMAP: `samples` texels of the level. */
static double spacing_of(const tsr_planes *s, int32_t level)
{
    if (s->o.method == TSR_DEPTH_MIPMAP) return ldexp(s->o.samples, level);
    return pow(s->o.ratio, level);
}

static tsr_status make_grid(tsr_planes *s, double spacing, struct grid *grid)
{
    grid->spacing = (float)spacing;
    grid->width = (int32_t)ceil(s->o.width / spacing);
    grid->height = (int32_t)ceil(s->o.height / spacing);
    const size_t places = (size_t)grid->width * (size_t)grid->height;
    TSR_TRY(tsr_depth_take(&s->memory, places * 4, &grid->t));
    TSR_TRY(tsr_depth_take(&s->memory, places * 4, &grid->smooth));
    TSR_TRY(tsr_depth_take(&s->memory, places, &grid->state));
    TSR_TRY(tsr_depth_take(&s->memory, places, &grid->smooth_state));
    return TSR_OK;
}
static void drop_grid(tsr_planes *s, const struct grid *grid)
{
    tsr_depth_drop(&s->memory, grid->t);
    tsr_depth_drop(&s->memory, grid->smooth);
    tsr_depth_drop(&s->memory, grid->state);
    tsr_depth_drop(&s->memory, grid->smooth_state);
}

/* What the search of the finer level begins from: a median of the coarser one's depths. */
static tsr_status smooth(tsr_planes *s, const struct grid *g)
{
    const tsr_planes_median_job job = { .width = g->width, .height = g->height, .reach = s->o.median == TSR_DEPTH_MEDIAN_5 ? 2 : 1,
                                       .mean = s->o.median == TSR_DEPTH_MEAN_3, .from = g->t, .state = g->state, .to = g->smooth, .to_state = g->smooth_state };
    const int64_t places = (int64_t)g->width * g->height;
    if (s->o.median != TSR_DEPTH_MEDIAN_NONE) {
        TSR_TRY(tsr_planes_steps(s)->median(s->context->queue, &job, places));
        return TSR_OK;
    }
    TSR_TRY(s->context->backend->copy(s->context->queue, g->smooth, g->t, (size_t)places * 4));
    TSR_TRY(s->context->backend->copy(s->context->queue, g->smooth_state, g->state, (size_t)places));
    return TSR_OK;
}

static void set_base(tsr_planes_search_job *job, const struct grid *g, int linear)
{
    job->base = g->smooth;
    job->base_state = g->smooth_state;
    job->base_width = g->width;
    job->base_height = g->height;
    job->base_spacing = g->spacing;
    job->linear = linear;
}

/* The coarser level enlarged to the places of the finer one, by the first view's colours: then it is nearest. */
static tsr_status enlarge(tsr_planes *s, int32_t level, const struct grid *from, struct grid *to)
{
    tsr_planes_enlarge_job job = { .view = s->device_table + (int64_t)level * s->count, .width = to->width, .height = to->height, .spacing = to->spacing,
                                  .range = 20.0f, .to = to->smooth, .to_state = to->smooth_state };
    set_base(&job.base, from, 0);
    TSR_TRY(tsr_planes_steps(s)->enlarge(s->context->queue, &job, (int64_t)to->width * to->height));
    return TSR_OK;
}

tsr_status tsr_planes_levels(tsr_planes *s, tsr_depth_maps *maps)
{
    const tsr_plane_sweep_options *o = &s->o;
    const int mip = o->method == TSR_DEPTH_MIPMAP;
    const int32_t last = mip ? -1 : 0; /* MIPMAP: one more, at the pixels */
    const int64_t pixels = (int64_t)o->width * o->height;
    struct grid coarse = { 0 }, fine = { 0 }, enlarged;
    double step = 0;
    float *second = NULL;
    for (int32_t level = s->levels; level >= last; level--) {
        const int final = level == last;
        const double ratio = mip ? 2 : o->ratio;
        tsr_planes_search_job job = { .view = s->device_table + (int64_t)(level < 0 ? 0 : level) * s->count, .views = s->count, .measure = (int32_t)o->cost,
                                     .window = o->cost >= TSR_DEPTH_CENSUS ? o->window : 1, .least_count = o->contributors, .raw = o->raw,
                                     .samples = mip && level >= 0 ? o->samples : 1, .flat = (float)o->flat };
        TSR_TRY(make_grid(s, level < 0 ? 1.0 : spacing_of(s, level), &fine));
        if (level == s->levels) {
            /* A step is o->step texels of the level's pictures. */
            const double texel = mip ? ldexp(1, level) : spacing_of(s, level);
            double count = o->hypotheses ? o->hypotheses : ceil(s->pixels / (o->step * texel)) + 1;
            if (!(count >= 3) && !o->hypotheses) count = 3;
            if (count > 65536) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: %g hypotheses for a step of %g pixels, expected at most 65536: a smaller range or a larger step",
                                        count, o->step);
            maps->hypotheses = (int32_t)count;
            step = 1 / (count - 1);
            job.hypotheses = maps->hypotheses;
        } else {
            step /= ratio;
            job.hypotheses = 2 * o->reach + 1;
            job.first = (float)(-o->reach * step);
            set_base(&job, &coarse, o->upsampling == TSR_DEPTH_BILINEAR);
            if (o->upsampling == TSR_DEPTH_BILATERAL) {
                TSR_TRY(make_grid(s, fine.spacing, &enlarged));
                TSR_TRY(enlarge(s, level < 0 ? 0 : level, &coarse, &enlarged));
                set_base(&job, &enlarged, 0);
            }
        }
        if (level < 0) { /* the score of what there is */
            job.hypotheses = 1;
            job.first = 0;
        }
        job.step = (float)step;
        job.width = fine.width;
        job.height = fine.height;
        job.spacing = fine.spacing;
        job.parabola = level == 0 && !o->no_parabola;
        job.t = fine.t;
        job.state = fine.state;
        TSR_TRY(tsr_depth_take(&s->memory, (size_t)fine.width * (size_t)fine.height * 4, &job.score));
        TSR_TRY(tsr_depth_take(&s->memory, (size_t)fine.width * (size_t)fine.height, &job.count));
        if (final) {
            job.t = (float *)maps->hypothesis->data;
            job.state = (uint8_t *)maps->state->data;
            TSR_TRY(tsr_depth_take(&s->memory, (size_t)pixels * 4, &second));
            job.second = second;
            if (o->scores) {
                TSR_TRY(tsr_volume_create(s->context, TSR_F32, (tsr_size3){ job.hypotheses, o->width, o->height }, NULL, &maps->scores));
                job.scores = (float *)maps->scores->data;
            }
        }
        TSR_TRY(tsr_planes_steps(s)->search(s->context->queue, &job, (int64_t)fine.width * fine.height));
        if (final) {
            TSR_TRY(s->context->backend->copy(s->context->queue, maps->score->data, job.score, (size_t)pixels * 4));
            TSR_TRY(s->context->backend->copy(s->context->queue, maps->count->data, job.count, (size_t)pixels));
        } else {
            TSR_TRY(smooth(s, &fine));
        }
        TSR_TRY(s->context->backend->synchronize(s->context->queue));
        tsr_depth_drop(&s->memory, job.score);
        tsr_depth_drop(&s->memory, job.count);
        if (level < s->levels && o->upsampling == TSR_DEPTH_BILATERAL) drop_grid(s, &enlarged);
        if (level < s->levels) drop_grid(s, &coarse);
        coarse = fine;
        TSR_PROGRESS(&o->progress, 0.2 + 0.8 * (s->levels - level + 1) / (s->levels + 1 - last), "sweep");
    }
    maps->step = step;
    const tsr_planes_settle_job settle = { .uniqueness = (float)o->uniqueness, .least_count = o->contributors, .t = (float *)maps->hypothesis->data,
                                          .score = (float *)maps->score->data, .second = second, .count = (uint8_t *)maps->count->data,
                                          .state = (uint8_t *)maps->state->data, .valid = (uint8_t *)maps->valid->data };
    TSR_TRY(tsr_planes_steps(s)->settle(s->context->queue, &settle, pixels));
    return TSR_OK;
}
