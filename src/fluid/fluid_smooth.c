/* fluid/fluid_smooth.c: the smoothers of a layer's depth: what the options mean for the backend. */
#include <math.h>

#include "fluid/fluid_draw.h"

void tsr_fluid_make_step(tsr_fluid_drawing *d)
{
    const tsr_fluid_view *v = &d->low;
    const double cx = (double)(v->slope[0] + v->step[0]), cy = (double)(v->slope[1] + v->step[1]);
    d->step = (tsr_fluid_step){ .slope = { v->slope[0], v->slope[1] },
                                .step = { v->step[0], v->step[1] },
                                .ratio = (float)(cx / cy),
                                .alpha = d->o.global_step > 0 ? 0 : (float)(d->o.step * cy / (cx + cy)),
                                .beta = d->o.global_step > 0 ? 0 : (float)(d->o.step * cx / (cx + cy)),
                                .dt = (float)d->o.global_step,
                                .threshold =
                                    (float)(d->o.threshold > 0 ? d->o.threshold : (d->o.smoother == TSR_FLUID_NARROW_RANGE ? 10 : 2) * d->radius) };
}

/* Images of the implicit flows: cx, cy, r of the first level, and u, t of it and all of the coarser ones for multigrid. */
static tsr_status make_levels(tsr_fluid_drawing *d, tsr_fluid_flow_job *flow, int all)
{
    tsr_fluid_view v = d->low;
    for (int k = 0; k < (all ? TSR_FLUID_LEVELS : 1); k++) {
        const size_t size = tsr_fluid_padded(&v);
        tsr_fluid_level *l = &flow->levels[k];
        TSR_TRY(tsr_fluid_clear(d, &d->b->levels[k], &v, all ? 20 : 12, 0));
        float *m = (float *)d->b->levels[k].data;
        *l = (tsr_fluid_level){ .width = v.width, .height = v.height, .stride = v.stride, .cx = m, .cy = m + size, .r = m + 2 * size };
        if (all) {
            l->u = m + 3 * size;
            l->t = m + 4 * size;
        }
        tsr_fluid_extent(&v, (v.width + 1) / 2, (v.height + 1) / 2);
    }
    return TSR_OK;
}

/* Depth of the nearest fluid; not finite where there is none. */
static tsr_status nearest_depth(tsr_fluid_drawing *d, const float *depth, double *nearest)
{
    tsr_reduced least;
    TSR_TRY(tsr_reduce_host(d->f->context, TSR_REDUCE_MIN, TSR_F32, depth, (int64_t)tsr_fluid_padded(&d->low), &least));
    *nearest = least.f;
    return TSR_OK;
}

/* A step for all pixels is stable where it is for the nearest of them. */
static tsr_status check_step(tsr_fluid_drawing *d, const float *depth)
{
    double nearest;
    TSR_TRY(nearest_depth(d, depth, &nearest));
    if (!isfinite(nearest)) return TSR_OK;
    const double hx = (double)d->step.slope[0] * nearest + (double)d->step.step[0], hy = (double)d->step.slope[1] * nearest + (double)d->step.step[1];
    const double bound = hx * hy / (hx + hy);
    if (!(d->o.global_step <= bound * 1.000001))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "global_step is %g, expected at most %g: beyond it the flow is not stable for the nearest fluid, at depth %g",
                 d->o.global_step, bound, nearest);
    return TSR_OK;
}

/* The bilateral grid. Blurring, cells and linear weights have a variance of 5/4 cells: cells are that much smaller than sigma. */
static tsr_status smooth_by_grid(tsr_fluid_drawing *d, float *depth, double space, double sigma)
{
    const tsr_fluid_view *v = &d->low;
    double nearest;
    TSR_TRY(nearest_depth(d, depth, &nearest));
    if (!isfinite(nearest)) return TSR_OK;
    const double per_sigma = sqrt(0.8), pixels = per_sigma * space / ((double)v->slope[1] * nearest + (double)v->step[1]);
    tsr_fluid_grid_job job = { .view = *v,
                               .depth = depth,
                               .nearest = (float)nearest,
                               .sigma = (float)(per_sigma * sigma),
                               .cell = (int32_t)(fmin(fmax(pixels, TSR_FLUID_GRID_LEAST), TSR_FLUID_GRID_MOST) + 0.5),
                               .iterations = d->o.iterations };
    size_t cells;
    for (;; job.cell++) {
        job.wide = (v->width + job.cell - 1) / job.cell;
        job.high = (v->height + job.cell - 1) / job.cell;
        cells = (size_t)job.wide * (size_t)job.high * TSR_FLUID_GRID_DEEP;
        if (cells <= TSR_FLUID_GRID_CELLS) break;
    }
    TSR_FLUID_NEED(grid, cells * (sizeof *job.pixels + 2 * sizeof *job.blurred[0]));
    job.pixels = (tsr_fluid_pixels_in *)d->b->grid.data;
    job.blurred[0] = (tsr_fluid_weighted *)(void *)(job.pixels + cells);
    job.blurred[1] = job.blurred[0] + cells;
    return d->ops->grid(d->queue, &job);
}

tsr_status tsr_fluid_smooth(tsr_fluid_drawing *d, int layer)
{
    float *depth = (float *)d->b->depth[layer].data;
    const tsr_fluid_smoother s = d->o.smoother;
    if (d->o.iterations < 1) return TSR_OK;
    if (d->o.global_step > 0 && s <= TSR_FLUID_FLOW_MULTIGRID) TSR_TRY(check_step(d, depth));
    TSR_TRY(tsr_fluid_clear(d, &d->b->other, &d->low, 4, 1));
    tsr_fluid_flow_job flow = { .view = d->low,
                                .step = d->step,
                                .depth = depth,
                                .other = (float *)d->b->other.data,
                                .iterations = d->o.iterations,
                                .exact = s == TSR_FLUID_FLOW_EXACT };
    if (s == TSR_FLUID_FLOW || s == TSR_FLUID_FLOW_EXACT) {
        TSR_TRY(d->ops->flow(d->queue, &flow));
        return TSR_OK;
    }
    if (s == TSR_FLUID_FLOW_IMPLICIT || s == TSR_FLUID_FLOW_MULTIGRID) {
        /* the time of equal_iterations explicit steps in fewer */
        float longer = (float)d->o.equal_iterations / (float)d->o.iterations;
        /* n implicit steps leave 2 n / (2 n - 1) times the variance of white noise that the flow does, and cycles a little more: more time makes up
         * for it */
        if (s == TSR_FLUID_FLOW_MULTIGRID) longer *= (2.0f * (float)d->o.iterations + 1.0f) / (2.0f * (float)d->o.iterations - 1.0f);
        flow.step.alpha *= longer;
        flow.step.beta *= longer;
        flow.step.dt *= longer;
        TSR_TRY(make_levels(d, &flow, s == TSR_FLUID_FLOW_MULTIGRID));
        TSR_TRY(s == TSR_FLUID_FLOW_IMPLICIT ? d->ops->implicit(d->queue, &flow) : d->ops->multigrid(d->queue, &flow));
        return TSR_OK;
    }
    const double space = d->o.sigma_space > 0 ? d->o.sigma_space : (s == TSR_FLUID_NARROW_RANGE ? 4 : 1) * d->radius;
    const double sigma_depth = d->o.sigma_depth > 0 ? d->o.sigma_depth : d->radius;
    if (s == TSR_FLUID_BILATERAL_GRID) return smooth_by_grid(d, depth, space, sigma_depth);
    tsr_fluid_filter_job job = { .view = d->low, .depth = depth, .other = (float *)d->b->other.data, .iterations = d->o.iterations };
    job.filter = (tsr_fluid_filter){ .space = (float)space,
                                     .pixels = 32,
                                     .depth = (float)sigma_depth,
                                     .range = d->step.threshold,
                                     .clamp = (float)d->radius,
                                     .slope = d->low.slope[1],
                                     .step = d->low.step[1],
                                     .reach = 64 };
    job.filter.kind = s == TSR_FLUID_GAUSSIAN         ? TSR_FILTER_GAUSSIAN
                      : s == TSR_FLUID_BILATERAL      ? TSR_FILTER_BILATERAL
                      : s == TSR_FLUID_BILATERAL_TRUE ? TSR_FILTER_BILATERAL_TRUE
                      : s == TSR_FLUID_BINOMIAL       ? TSR_FILTER_BINOMIAL
                                                      : TSR_FILTER_NARROW;
    TSR_TRY(d->ops->filter(d->queue, &job));
    return TSR_OK;
}
