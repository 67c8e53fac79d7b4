/* reconstruct/reconstruct.c: the multiresolution driver (docs/theory/reconstruction.md 4): octree, box, and level by level evolve, smooth, measure,
 * put back what was missed, upsample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra/csg.h"
#include "reconstruct/reconstruct.h"
#include "tessera/primitives.h"

/* ---- options -------------------------------------------------------------------------------------------------------------------------- */

static void set_default(double *value, double otherwise)
{
    if (*value == 0) *value = otherwise;
}
static tsr_status range(const char *name, double value, double lower, double upper)
{
    if (!(value >= lower && value <= upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: %s is %g, expected %g to %g", name, value, lower, upper);
    return TSR_OK;
}

tsr_status tsr_reconstruct_take(const tsr_reconstruct_options *options, tsr_reconstruct_options *o)
{
    tsr_potential_params unused;
    TSR_TRY(TSR_OPTIONS_TAKE(o, options));
    if ((unsigned)o->placement > TSR_PLACEMENT_HYBRID)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: placement is %d, expected AUTO, DEVICE or HYBRID", (int)o->placement);
    if (!o->depth) o->depth = 8;
    if (!o->start_depth) o->start_depth = o->depth < 6 ? o->depth : 6;
    set_default(&o->power, 7);
    set_default(&o->epsilon, 0.5);
    set_default(&o->theta, 0.5);
    set_default(&o->band, 1.5);
    set_default(&o->time_step, 0.2);
    o->alpha = o->alpha < 0 ? 0 : o->alpha == 0 ? 0.02 : o->alpha;
    o->smooth_iters = o->smooth_iters < 0 ? 0 : o->smooth_iters == 0 ? 10 : o->smooth_iters;
    if (o->storage != TSR_STORAGE_F32 && o->storage != TSR_STORAGE_I16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: storage is %d, expected F32 or I16", (int)o->storage);
    TSR_TRY(range("start_depth", o->start_depth, 4, 9));
    if (o->depth < o->start_depth || o->depth > TSR_TREE_DEPTH_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: depth is %d, expected start_depth = %d to %d", o->depth, o->start_depth, (int)TSR_TREE_DEPTH_MOST);
    TSR_TRY(tsr_potential_prepare(o->power, o->epsilon, o->theta, o->depth, &unused));
    TSR_TRY(range("band", o->band, 1, 5));
    TSR_TRY(range("alpha", o->alpha, 0, 2));
    TSR_TRY(range("theta", o->theta, 1e-3, 1.25));         /* beyond it the field steps back between blocks */
    TSR_TRY(range("time_step", o->time_step, 1e-3, 0.28)); /* half a voxel along a diagonal is 1 / (2 sqrt 3) */
    const double stiffest = 1 / (6 * o->time_step);        /* what the solver's bound for curvature terms leaves, h^2 / (2 d alpha) */
    if (o->alpha > stiffest * (1 + 1e-5))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: alpha is %g, expected at most %.4g with a time_step of %g (a shorter time_step allows more)",
                 o->alpha, stiffest, o->time_step);
    TSR_TRY(range("smooth_iters", o->smooth_iters, 0, 10000));
    const double least =
        1.75 / ldexp(1, o->start_depth); /* the box stands three quarters of a voxel inside the border and a voxel from the samples */
    set_default(&o->margin, fmax(1.0 / 16, least));
    if (!(o->margin >= least * 0.999999 && o->margin <= 0.45))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: margin is %g, expected %g (a box clear of the samples at start_depth %d) to 0.45", o->margin,
                 least, o->start_depth);
    if (!o->age) o->age = 5;
    o->change_tolerance = o->change_tolerance < 0 ? 0 : o->change_tolerance == 0 ? 0.1 * o->time_step : o->change_tolerance;
    o->min_neighbours = o->min_neighbours < 0 ? -1 : o->min_neighbours;
    TSR_TRY(range("min_neighbours", o->min_neighbours, -1, 1000));
    if (o->age < 0 || o->age > 250) TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: age is %d, expected 0 to 250", o->age);
    if (o->max_steps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: max_steps is %lld, expected 0 or more", (long long)o->max_steps);
    if (o->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "reconstruct: memory_limit is %lld, expected 0 or more bytes", (long long)o->memory_limit);
    return TSR_OK;
}

/* ---- one run -------------------------------------------------------------------------------------------------------------------------- */

typedef struct run {
    tsr_context *context, *host; /* host: a CPU context of our own for the hybrid placement */
    const tsr_points *points;
    tsr_reconstruct_options o;
    tsr_points_frame frame;
    double diagonal;
    tsr_points_tree *tree;   /* the octree; hybrid: on the host */
    tsr_points_tree samples; /* where the error is measured: positions on the list's device */
    tsr_tiles *tiles;
    float *scratch; /* [points] on the device */
    tsr_reconstruct_report report;
    tsr_progress_part progress; /* of the level */
    int default_change;         /* change_tolerance is not the caller's */
    tsr_points *missed;         /* what the next level puts back */
} run;

static tsr_status build_tree(run *r)
{
    tsr_points *host = NULL;
    const double start = tsr_seconds_now();
    const int hybrid = r->o.placement == TSR_PLACEMENT_HYBRID && r->context->device.kind != TSR_DEVICE_CPU;
    if (hybrid) {
        tsr_context_options options = TSR_CONTEXT_OPTIONS;
        options.device = "cpu";
        options.threads = r->context->threads;
        TSR_TRY(tsr_context_create(&options, &r->host));
        TSR_TRY(tsr_points_copy(r->points, r->host, &host));
    }
    tsr_context *where = hybrid ? r->host : r->context;
    tsr_status status = tsr_reconstruct_octree(where, hybrid ? host : r->points, &r->o, &r->frame, &r->diagonal, &r->report.flat, &r->tree);
    tsr_points_destroy(&host);
    TSR_TRY(status);
    TSR_TRY(tsr_context_synchronize(where));
    r->report.side = r->frame.side;
    r->report.lower = (tsr_vec3){ r->frame.lower[0], r->frame.lower[1], r->frame.lower[2] };
    r->report.points = r->tree->points;
    r->report.lone = r->tree->lone;
    r->report.leaves = r->tree->leaves;
    r->report.nodes = r->tree->view.nodes;
    r->report.tree_bytes = tsr_points_tree_bytes(r->tree);
    r->report.tree_seconds = tsr_seconds_now() - start;
    r->samples = *r->tree;
    for (int k = 0; k < 3 && hybrid; k++) { /* the list is on the device: so are the places it is sampled at */
        const size_t bytes = (size_t)r->tree->points * sizeof(uint32_t);
        r->samples.fixed[k] = NULL;
        TSR_TRY(tsr_device_allocate(r->context, bytes, (void **)&r->samples.fixed[k]));
        TSR_TRY(r->context->backend->upload(r->context->queue, r->samples.fixed[k], r->tree->fixed[k], bytes));
    }
    TSR_TRY(tsr_device_allocate(r->context, (size_t)r->tree->points * sizeof(float), (void **)&r->scratch));
    return TSR_OK;
}

/* The first surface: a box a few voxels inside the grid that encloses all samples by more than the band (docs/theory/reconstruction.md 4). */
static tsr_status start_box(run *r)
{
    const int32_t level = r->o.start_depth, n = 1 << level;
    const tsr_geometry geometry = tsr_reconstruct_geometry(&r->frame, level, r->points->space);
    const double h = ldexp(r->frame.side, -level), inset = fmax(0.75, r->o.margin * n - (r->o.band + 2)), half = 0.5 * n - inset;
    tsr_volume *host = NULL, *field = NULL;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_status status;
    options.edge = 4;
    options.domain = (tsr_size3){ n, n, n };
    options.band = r->o.band * h;
    options.memory_limit = r->o.memory_limit;
    options.storage = r->o.storage;
    TSR_TRY(tsr_tiles_create(r->context, &geometry, &options, &r->tiles));
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, options.domain, &geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < (int64_t)n * n * n; i++) {
        const int64_t at[3] = { i % n, i / n % n, i / n / n };
        double outside = 0, inner = -1e300;
        for (int k = 0; k < 3; k++) {
            double q = fabs((double)at[k] + 0.5 - 0.5 * n) - half;
            inner = fmax(inner, q);
            outside += q > 0 ? q * q : 0;
        }
        v[i] = (float)(h * (inner > 0 ? sqrt(outside) : inner));
    }
    status = tsr_volume_copy(host, r->context, &field);
    if (status == TSR_OK) status = tsr_tiles_load(r->tiles, field);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return status;
}

/* Options of the solver at voxel size h: speeds of one voxel per unit of time. */
static tsr_levelset_options solver_options(const run *r, double h, int smoothing)
{
    tsr_levelset_options s = TSR_LEVELSET_OPTIONS;
    if (!smoothing) s.terms[s.term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_POTENTIAL, .value = h };
    if (r->o.alpha > 0 || smoothing)
        s.terms[s.term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = (r->o.alpha > 0 ? r->o.alpha : 0.1) * h * h };
    s.time_step = r->o.time_step;
    if (smoothing) return s;
    s.age = r->o.age; /* alone it is not safe: fronts in phase make no tiles for many steps (docs/theory/levelset.md 6) */
    s.source_rule = 1;
    s.change_tolerance = r->o.change_tolerance * h;
    s.calm_steps = s.change_tolerance > 0 ? r->o.age : 0; /* one tile that comes and goes at the fringe must not keep the others moving */
    return s;
}

/* The flow that smooths lasts smooth_iters time steps; without the pull it is stable in longer ones. */
static int64_t smoothing_steps(const run *r, double *time_step)
{
    const double longest = 0.9 / (sqrt(3) + 6 * (r->o.alpha > 0 ? r->o.alpha : 0.1)), flow = r->o.smooth_iters * r->o.time_step;
    const int64_t steps = (int64_t)fmin(ceil(flow / longest), (double)r->o.smooth_iters);
    *time_step = flow / (double)steps;
    return steps;
}

/* A level beyond the first is at rest, too, when the mean distance of the samples and the volume inside have not changed by more than this in LOOK steps:
 * voxels that go to and fro for ever are the more the larger a surface is, and the farther apart or the noisier its samples are, and say nothing of it. */
enum { FIRST_LOOK = 20, LOOK = 10, USUAL_STEPS = 25 };
#define REST_ERROR 0.002 /* voxels */
#define REST_INSIDE 0.01 /* voxels, the volume over the area: so much comes and goes with where faces lie on the grid */

struct rest {
    double error, inside; /* voxels, and voxels of the surface */
};
static tsr_status look_at(run *r, int32_t level, struct rest *rest)
{
    const double h = ldexp(r->frame.side, -level);
    tsr_tiles_info info = TSR_TILES_INFO;
    int64_t outside;
    TSR_TRY(tsr_reconstruct_error(r->tiles, &r->samples, level, r->scratch, &rest->error, &outside));
    TSR_TRY(tsr_tiles_describe(r->tiles, &info));
    rest->error /= h;
    rest->inside = (double)info.inside_voxels / fmax((double)info.active_voxels / (2 * r->o.band), 1);
    return TSR_OK;
}

/* Share of a level that so many steps are taken for: how many it needs is known when it rests, mostly after about USUAL_STEPS. */
static double share_of_steps(int64_t steps) { return (double)steps / (double)(steps + USUAL_STEPS); }

/* Steps until the solver says that it has converged, the surface is at rest or there were `most`. */
static tsr_status come_to_rest(run *r, int32_t level, int64_t most, tsr_levelset *solver, tsr_levelset_report *got)
{
    struct rest was = { INFINITY, INFINITY }, is;
    int64_t steps = 0;
    for (int rests = 0; !rests && steps < most;) {
        const int64_t next = tsr_min64(steps ? LOOK : FIRST_LOOK, most - steps);
        tsr_progress_part part = r->progress;
        part.from += part.share * share_of_steps(steps);
        part.share *= share_of_steps(steps + next) - share_of_steps(steps);
        TSR_TRY(tsr_levelset_step(solver, next, &(tsr_progress){ tsr_progress_of_part, &part }, got));
        got->steps = steps += got->steps;
        TSR_PROGRESS(&r->o.progress, tsr_progress_at(&r->progress, share_of_steps(steps)), r->progress.stage);
        if (got->converged || got->empty || got->tiles == 0) break;
        TSR_TRY(look_at(r, level, &is));
        rests = got->converged = fabs(is.error - was.error) <= REST_ERROR && fabs(is.inside - was.inside) <= REST_INSIDE;
        was = is;
    }
    return TSR_OK;
}

/* What may be the matter when a front has passed the samples. */
static tsr_status vanished(const run *r, int32_t level, int64_t steps)
{
    if (r->report.flat)
        TSR_FAIL(TSR_ERROR_STATE,
                 "reconstruct: the surface vanished at level %d after %lld steps: the points lie in a plane, on a line or in one place and enclose "
                 "nothing",
                 level, (long long)steps);
    if (r->report.lone > 0)
        TSR_FAIL(
            TSR_ERROR_STATE,
            "reconstruct: the surface vanished at level %d after %lld steps (points left out as outliers: %lld): where these are samples of sparse "
            "parts, a smaller "
            "min_neighbours or none keeps them; else the others lie in a plane or on one side of a body only, or a larger start_depth may hold it",
            level, (long long)steps, (long long)r->report.lone);
    TSR_FAIL(TSR_ERROR_STATE,
             "reconstruct: the surface vanished at level %d after %lld steps: points in a slanting plane or on one side of a body only enclose "
             "nothing, and a few far from "
             "the others make it small (min_neighbours leaves them out); else try a smaller alpha or time_step, a larger start_depth, or a depth "
             "that fits the distance "
             "of the points",
             level, (long long)steps);
}

#define SMOOTHING_SHARE 0.15 /* of the progress of a level */

/* Until the front rests, or for `steps` steps if that is not 0. */
static tsr_status evolve(run *r, int32_t level, int64_t steps, tsr_reconstruct_level *report)
{
    const double h = ldexp(r->frame.side, -level);
    tsr_potential_source source = { .context = r->context, .tree = r->tree };
    tsr_levelset_options s = solver_options(r, h, 0);
    tsr_levelset *solver = NULL;
    tsr_levelset_report got = TSR_LEVELSET_REPORT;
    const tsr_progress progress = { tsr_progress_of_part, &r->progress };
    const tsr_progress_part whole = r->progress;
    tsr_status status;
    if (r->o.smooth_iters > 0) r->progress.share *= 1 - SMOOTHING_SHARE;
    if (r->default_change && level > r->o.start_depth) s.change_tolerance *= 2; /* what bursts slowly does so at the first level */
    s.max_steps = r->o.max_steps ? r->o.max_steps : level == r->o.start_depth ? (int64_t)8 << level : 400;
    TSR_TRY(tsr_potential_prepare(r->o.power, r->o.epsilon, r->o.theta, level, &source.params));
    if (level == r->o.start_depth) tsr_potential_from_afar(r->o.theta, &source.params); /* the others start at rest near the samples */
    source.params.as_distance = 1;
    tsr_potential_code_range(r->tree->points, &source.params);
    TSR_TRY(tsr_levelset_create(r->tiles, &s, &solver));
    const tsr_payload_provider provider = tsr_potential_provider(&source);
    TSR_TRY_GOTO(tsr_levelset_set_payload(solver, &provider), done);
    if (steps) TSR_TRY_GOTO(tsr_levelset_step(solver, steps, &progress, &got), done);
    else if (level > r->o.start_depth && r->default_change) TSR_TRY_GOTO(come_to_rest(r, level, s.max_steps, solver, &got), done);
    else TSR_TRY_GOTO(tsr_levelset_run(solver, &progress, &got), done);
    if (!steps) {
        report->steps = got.steps;
        report->converged = got.converged;
    }
    report->potential_seconds += source.timed ? source.seconds : 0;
    if (got.empty || got.tiles == 0) {
        status = vanished(r, level, got.steps);
        goto done;
    }
    if (r->o.smooth_iters > 0) {
        s = solver_options(r, h, 1);
        const int64_t smooth = smoothing_steps(r, &s.time_step);
        TSR_TRY_GOTO(tsr_levelset_set(solver, &s), done);
        r->progress.from = tsr_progress_at(&whole, 1 - SMOOTHING_SHARE);
        r->progress.share = whole.share * SMOOTHING_SHARE;
        if (tsr_progress_report(&r->o.progress, r->progress.from, r->progress.stage))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "reconstruct: cancelled at level %d", level);
        TSR_TRY_GOTO(tsr_levelset_step(solver, smooth, &progress, &got), done);
        if (got.empty || got.tiles == 0)
            TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "reconstruct: the surface vanished while it was smoothed at level %d: try fewer smooth_iters",
                          level);
    }
done:
    r->progress = whole;
    tsr_levelset_destroy(&solver);
    tsr_potential_source_release(&source);
    return status;
}

tsr_status tsr_reconstruct_error(const tsr_tiles *tiles, const tsr_points_tree *tree, int32_t level, float *scratch, double *mean, int64_t *outside)
{
    tsr_context *context = tiles->context;
    tsr_reduced sum;
    const tsr_sample_job job = {
        .fixed = { tree->fixed[0], tree->fixed[1], tree->fixed[2] }, .points = tree->points, .level = level, .distance = scratch
    };
    const tsr_predicate beyond = { .kind = TSR_KEEP_RANGE, .lower = (double)tiles->pool.band * 0.999999, .upper = (double)INFINITY };
    TSR_TRY(context->backend->potential->sample(context->queue, &tiles->pool, &job));
    TSR_TRY(tsr_reduce_host(context, TSR_REDUCE_SUM, TSR_F32, scratch, tree->points, &sum));
    TSR_TRY(tsr_count_host(context, beyond, TSR_F32, scratch, tree->points, outside));
    *mean = sum.f / (double)tree->points;
    return TSR_OK;
}

static tsr_status measure(run *r, int32_t level, tsr_reconstruct_level *report)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    TSR_TRY(tsr_reconstruct_error(r->tiles, &r->samples, level, r->scratch, &report->error, &report->outside));
    TSR_TRY(tsr_tiles_describe(r->tiles, &info));
    report->error_percent = 100 * report->error / r->diagonal;
    report->tiles = info.count;
    report->active_voxels = info.active_voxels;
    report->device_bytes = info.device_bytes;
    return TSR_OK;
}

/* ---- thin parts ----------------------------------------------------------------------------------------------------------------------- */

/* Radius of the balls in voxels at the start of a level: from there the flow comes to rest anew and leaves what it can hold. */
#define BALLS 3.0
/* At the end of the last one the balls are large enough to close what lies between sparse samples, and the front moves for so many voxels only: a plate or a
 * claw thinner than a voxel or two stays as one that is somewhat thicker. */
#define LAST_BALLS 5.0
#define LAST_WAY 3.6
/* One sample in so many does not move the mean distance: fewer are not worth a second list, least of all that of the last level. */
enum { WORTH = 100000, LAST_WORTH = 5000 };
/* Where more than one in so many is missed they may be noise of voxels, which balls would inflate, and it is looked at how they lie. */
enum { MANY = 6, LAST_MANY = 20 };
/* Put back, parts leave fewer samples outside the surface than before, or one in so many more: what a finer level measures is a narrower band. */
enum { WORSE = 50 };

/* The surface with these balls, in r->tiles; *body: that without, in float32. */
static tsr_status put_back(run *r, int32_t level, const tsr_points *balls, tsr_tiles **body)
{
    tsr_tiles *united;
    TSR_PROGRESS(&r->o.progress, r->progress.from, r->progress.stage);
    TSR_TRY(tsr_tiles_set_storage(r->tiles, TSR_STORAGE_F32));
    TSR_TRY(tsr_recapture_unite(r->tiles, &r->frame, level, balls, &united));
    *body = r->tiles;
    r->tiles = united;
    TSR_TRY(tsr_tiles_set_storage(r->tiles, r->o.storage));
    return TSR_OK;
}

/* Limbs that the flow has cut off what was put back are no bodies: they go, and are missed again. */
static tsr_status drop_severed(run *r, const tsr_tiles *body)
{
    TSR_TRY(tsr_tiles_set_storage(r->tiles, TSR_STORAGE_F32));
    TSR_TRY(tsr_csg_keep_with(&r->tiles, body));
    TSR_TRY(tsr_tiles_set_storage(r->tiles, r->o.storage));
    return TSR_OK;
}

/* Takes the list of before. */
static tsr_status take_back(run *r, tsr_tiles **body)
{
    tsr_tiles_destroy(&r->tiles);
    r->tiles = *body;
    *body = NULL;
    TSR_TRY(tsr_tiles_set_storage(r->tiles, r->o.storage));
    return TSR_OK;
}

/* Lets the front come to rest. */
static tsr_status settle(run *r, int32_t level, tsr_reconstruct_level *report)
{
    TSR_TRY(evolve(r, level, 0, report));
    TSR_TRY(measure(r, level, report));
    return TSR_OK;
}

/* Where the second list finds no room the first goes on. */
static tsr_status without_room(run *r, tsr_status status, tsr_tiles **body)
{
    if (status != TSR_ERROR_CAPACITY && status != TSR_ERROR_MEMORY) return status;
    r->report.crowded++;
    if (*body) TSR_TRY(take_back(r, body));
    TSR_TRY(tsr_tiles_set_storage(r->tiles, r->o.storage));
    return TSR_OK;
}

/* Puts back what the level before has missed, and lets the front come to rest. If it then leaves more of the samples out it has climbed onto noise or rests on
 * what stands close together, and moves from where it was instead. */
static tsr_status recapture(run *r, int32_t level, tsr_reconstruct_level *report)
{
    const tsr_reconstruct_level *before = report - 1; /* the first level puts nothing back */
    tsr_tiles *body = NULL;
    tsr_status status = put_back(r, level, r->missed, &body);
    tsr_points_destroy(&r->missed);
    if (status == TSR_OK) status = evolve(r, level, 0, report);
    if (status == TSR_OK) status = drop_severed(r, body);
    if (status == TSR_OK) status = measure(r, level, report);
    const int worse = status == TSR_OK && report->outside > before->outside + r->samples.points / WORSE, crowded = status != TSR_OK;
    if (worse) status = take_back(r, &body);
    else status = without_room(r, status, &body);
    if (status == TSR_OK && (worse || crowded)) status = settle(r, level, report);
    tsr_tiles_destroy(&body);
    return status;
}

/* Puts balls back at the end, in float32; *same: pieces, cavities and handles are those of before; *fewer: so are the samples left beyond the band. */
static tsr_status try_to_hold(run *r, int32_t level, const tsr_points *balls, tsr_reconstruct_level *report, tsr_tiles **body, int *same, int *fewer)
{
    tsr_tiles_measures before = TSR_TILES_MEASURES, after = TSR_TILES_MEASURES;
    double error;
    int64_t outside;
    TSR_TRY(put_back(r, level, balls, body));
    TSR_TRY(evolve(r, level, (int64_t)ceil(LAST_WAY / r->o.time_step - 1e-9), report));
    TSR_TRY(drop_severed(r, *body));
    TSR_TRY(tsr_tiles_set_storage(r->tiles, TSR_STORAGE_F32));
    TSR_TRY(tsr_tiles_measure(*body, &before));
    TSR_TRY(tsr_tiles_measure(r->tiles, &after));
    *same = after.components == before.components && after.cavities == before.cavities && after.genus == before.genus;
    TSR_TRY(tsr_reconstruct_error(r->tiles, &r->samples, level, r->scratch, &error, &outside));
    *fewer = outside < report->outside;
    return TSR_OK;
}

/* Puts back at the end what the last level has missed but for groups of balls that make other pieces, cavities or handles; nothing if that leaves more
 * samples beyond the band than there were. */
static tsr_status hold(run *r, int32_t level, tsr_reconstruct_level *report, tsr_tiles **body)
{
    const int32_t reach = (int32_t)ceil(LAST_BALLS + LAST_WAY) + 1;
    tsr_points *harmless = NULL;
    int32_t groups = 0, chosen = 0;
    int same, fewer;
    r->progress.from += r->progress.share; /* what is left takes no share */
    r->progress.share = 0;
    TSR_TRY(try_to_hold(r, level, r->missed, report, body, &same, &fewer));
    if (!same) {
        TSR_TRY(tsr_recapture_harmless(*body, r->tiles, &r->frame, level, reach, r->missed, &harmless, &chosen, &groups));
        tsr_points_destroy(&r->missed);
        r->missed = harmless;
        if (harmless) {
            TSR_TRY(take_back(r, body));
            TSR_TRY(try_to_hold(r, level, harmless, report, body, &same, &fewer));
        }
        r->report.refused = same && fewer ? groups - chosen : groups;
    }
    if (!same || !fewer) TSR_TRY(take_back(r, body));
    TSR_TRY(tsr_tiles_set_storage(r->tiles, r->o.storage));
    return TSR_OK;
}

/* After the measures of a level: what it has left outside the band, that of the next level if there is one. */
static tsr_status look_back(run *r, int32_t level, tsr_reconstruct_level *report)
{
    const int last = level == r->o.depth;
    const int64_t points = r->samples.points;
    const double band = (double)r->tiles->pool.band * 0.999999;
    const tsr_recapture_rule again = { level + 1, BALLS, 0.5 * band, 1 + points / WORTH, points / MANY };
    const tsr_recapture_rule at_the_end = { level, LAST_BALLS, band, 1 + points / LAST_WORTH, points / LAST_MANY };
    tsr_tiles *other = NULL;
    if (r->o.recapture < 0) return TSR_OK;
    TSR_TRY(tsr_recapture_find(r->tiles, &r->samples, &r->frame, report, last ? &at_the_end : &again, r->scratch, &r->missed));
    if (!last || !r->missed) return TSR_OK;
    tsr_status status = hold(r, level, report, &other);
    if (status != TSR_OK) status = without_room(r, status, &other);
    tsr_tiles_destroy(&other);
    tsr_points_destroy(&r->missed);
    if (status == TSR_OK) status = measure(r, level, report);
    return status;
}

static tsr_status one_level(run *r, int32_t level)
{
    const double start = tsr_seconds_now();
    tsr_reconstruct_level *report = &r->report.level[r->report.levels];
    tsr_tiles *fine = NULL;
    *report = (tsr_reconstruct_level){ .level = level, .voxel = ldexp(r->frame.side, -level) };
    if (level > r->o.start_depth) {
        TSR_TRY(tsr_tiles_upsample(r->tiles, &fine));
        tsr_tiles_destroy(&r->tiles);
        r->tiles = fine;
    }
    TSR_TRY(r->missed ? recapture(r, level, report) : settle(r, level, report));
    TSR_TRY(look_back(r, level, report));
    report->seconds = tsr_seconds_now() - start;
    r->report.levels++;
    if (r->o.level && r->o.level(r->o.user, report, r->tiles)) TSR_FAIL(TSR_ERROR_CANCELLED, "reconstruct: cancelled after level %d", level);
    return TSR_OK;
}

static tsr_status reconstruct(run *r)
{
    TSR_PROGRESS(&r->o.progress, 0, "building the octree");
    TSR_TRY(build_tree(r));
    TSR_TRY(start_box(r));
    for (int32_t level = r->o.start_depth; level <= r->o.depth; level++) { /* each level takes about three times the one before */
        const double all = pow(3, r->o.depth - r->o.start_depth + 1) - 1;
        r->progress.from = (pow(3, level - r->o.start_depth) - 1) / all;
        r->progress.share = 2 * pow(3, level - r->o.start_depth) / all;
        TSR_PROGRESS(&r->o.progress, r->progress.from, r->progress.stage);
        TSR_TRY(one_level(r, level));
    }
    TSR_PROGRESS(&r->o.progress, 1, r->progress.stage);
    return TSR_OK;
}

/* What the caller's report is told: some levels take steps anew, which must not look as if work were lost. */
struct forward {
    tsr_progress to;
    double most;
};
static int report_forward(void *user, double fraction, const char *stage)
{
    struct forward *f = (struct forward *)user;
    f->most = fmax(f->most, fraction);
    return f->to.report(f->to.user, f->most, stage);
}

tsr_status tsr_reconstruct(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options, tsr_tiles **tiles,
                           tsr_reconstruct_report *report)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context);
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    const double start = tsr_seconds_now();
    run r = { .context = context, .points = points, .progress = { .whole = &r.o.progress, .stage = "reconstructing" } };
    TSR_TRY(TSR_OPTIONS_TAKE(&r.o, options));
    r.default_change = r.o.change_tolerance == 0;
    TSR_TRY(tsr_reconstruct_take(options, &r.o));
    struct forward forward = { r.o.progress, 0 };
    if (r.o.progress.report) r.o.progress = (tsr_progress){ report_forward, &forward };
    tsr_status status = reconstruct(&r);
    if (status == TSR_ERROR_CANCELLED && strncmp(tsr_error_message(), "reconstruct", 11) != 0) /* what ran within it said it of itself */
        status = TSR_FAILED(TSR_ERROR_CANCELLED, "reconstruct: cancelled at level %d", r.o.start_depth + r.report.levels);
    if (r.tree && r.tree->context != context)
        for (int k = 0; k < 3; k++)
            if (r.samples.fixed[k]) tsr_device_release(context, r.samples.fixed[k], (size_t)r.tree->points * sizeof(uint32_t));
    if (r.scratch) tsr_device_release(context, r.scratch, (size_t)r.tree->points * sizeof(float));
    tsr_points_destroy(&r.missed);
    tsr_points_tree_destroy(&r.tree);
    tsr_context_destroy(&r.host);
    r.report.seconds = tsr_seconds_now() - start;
    const tsr_status told = TSR_STRUCT_GIVE(report, &r.report);
    if (status == TSR_OK) status = told;
    if (status != TSR_OK) {
        tsr_tiles_destroy(&r.tiles);
        return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    *tiles = r.tiles;
    return TSR_OK;
}
