/* solver/engine.c: the solver: runs, growth of the list, reports. The numbers come from engine_setup.c, the passes from the backend. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engine_object.h"

enum { STEPS_PER_LOOK = 32 };

/* ---- creation ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status read_control(tsr_levelset *l)
{
    TSR_TRY(l->context->backend->download(l->context->queue, &l->seen, l->control, sizeof l->seen));
    return TSR_OK;
}
static tsr_status write_control(tsr_levelset *l)
{
    TSR_TRY(l->context->backend->upload(l->context->queue, l->control, &l->seen, sizeof l->seen));
    return TSR_OK;
}

/* Activity words with the guard width of the setup, and every tile stored that they ask for. */
static tsr_status widen_list(tsr_levelset *l)
{
    tsr_tiles *tiles = l->tiles;
    if (tiles->pool.guard == l->setup.guard) return TSR_OK;
    tiles->pool.guard = l->setup.guard;
    TSR_TRY(l->context->backend->tiles->refresh(l->context->queue, &tiles->pool));
    TSR_TRY(tsr_tiles_manage(tiles));
    return TSR_OK;
}

/* Clears what a run leaves in the state of the list. */
static tsr_status reset_state(tsr_levelset *l, double time)
{
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(l->tiles, &state));
    state.halted = 0;
    state.bad = 0;
    state.beyond = 0;
    memset(state.scratch, 0, sizeof state.scratch); /* of a step that was given up */
    state.time = time;
    TSR_TRY(l->context->backend->upload(l->context->queue, l->tiles->pool.state, &state, sizeof state));
    return TSR_OK;
}

static void release_term_data(tsr_levelset *l)
{
    for (int i = 0; i < l->setup.flow.count; i++) {
        if (l->term_data[i]) tsr_device_release(l->context, l->term_data[i], (size_t)l->setup.flow.source[i].module->data_bytes);
        l->term_data[i] = NULL;
    }
}

/* Off the CPU the data of the caller's terms go where their kernels run. */
static tsr_status upload_term_data(tsr_context *context, tsr_engine_setup *setup, void *copies[TSR_LEVELSET_TERMS])
{
    for (int i = 0; i < setup->flow.count && context->device.kind != TSR_DEVICE_CPU; i++) {
        tsr_engine_source *s = &setup->flow.source[i];
        if (s->kind != TSR_SOURCE_USER || s->module->data_bytes == 0) continue;
        TSR_TRY(tsr_device_allocate(context, (size_t)s->module->data_bytes, &copies[i]));
        TSR_TRY(context->backend->upload(context->queue, copies[i], s->data, (size_t)s->module->data_bytes));
        s->data = copies[i];
    }
    return TSR_OK;
}

/* Takes over a setup; the one before stays if that fails. */
static tsr_status take_setup(tsr_levelset *l, const tsr_engine_setup *setup)
{
    tsr_engine_setup made = *setup;
    void *copies[TSR_LEVELSET_TERMS] = { NULL };
    tsr_status status = upload_term_data(l->context, &made, copies);
    for (int i = 0; i < made.flow.count && status != TSR_OK; i++)
        if (copies[i]) tsr_device_release(l->context, copies[i], (size_t)made.flow.source[i].module->data_bytes);
    TSR_TRY(status);
    release_term_data(l);
    l->setup = made;
    memcpy(l->term_data, copies, sizeof copies);
    return TSR_OK;
}

/* `keep_time`: a solver for a service in between; another may be working on the list. */
static tsr_status prepare(tsr_levelset *l, int keep_time)
{
    tsr_tiles *tiles = l->tiles;
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    TSR_TRY(tsr_device_allocate(l->context, sizeof *l->control, (void **)&l->control));
    TSR_TRY(tsr_tiles_need_age(tiles));
    TSR_TRY(l->context->backend->fill(l->context->queue, tiles->pool.age, 0, (size_t)tiles->pool.capacity));
    TSR_TRY(reset_state(l, keep_time ? state.time : 0));
    TSR_TRY(widen_list(l));
    l->seen.end = HUGE_VAL;
    l->seen.volume_start = -1;
    TSR_TRY(write_control(l));
    return TSR_OK;
}

static tsr_status create(tsr_tiles *tiles, const tsr_levelset_options *options, const tsr_engine_setup *setup, int keep_time, tsr_levelset **levelset)
{
    tsr_status status;
    TSR_TRY(tsr_geometry_check_perpendicular(&tiles->geometry, "level set"));
    tsr_levelset *l = (tsr_levelset *)calloc(1, sizeof *l);
    if (!l) TSR_FAIL(TSR_ERROR_MEMORY, "level set: out of memory (%zu bytes asked for)", sizeof *l);
    l->context = tiles->context;
    l->tiles = tiles;
    l->options = *options;
    TSR_TRY_GOTO(take_setup(l, setup), fail);
    TSR_TRY_GOTO(prepare(l, keep_time), fail);
    *levelset = l;
    return TSR_OK;
fail:
    tsr_levelset_destroy(&l);
    return status;
}

tsr_status tsr_levelset_create(tsr_tiles *tiles, const tsr_levelset_options *options, tsr_levelset **levelset)
{
    TSR_RETURNS(levelset);
    TSR_NEEDS(tiles);
    tsr_levelset_options own, defaults = TSR_LEVELSET_OPTIONS;
    tsr_engine_setup setup;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options ? options : &defaults));
    TSR_TRY(tsr_engine_make_setup(tiles, &own, &setup));
    TSR_TRY(create(tiles, &own, &setup, 0, levelset));
    return TSR_OK;
}

static void drop_plan(tsr_levelset *l)
{
    if (l->plan) l->context->backend->engine->plan_destroy(l->context->queue, &l->plan);
}

void tsr_levelset_destroy(tsr_levelset **levelset)
{
    if (!levelset || !*levelset) return;
    tsr_levelset *l = *levelset;
    *levelset = NULL;
    drop_plan(l);
    release_term_data(l);
    l->tiles->pool.guard = 1; /* the next refresh makes words of the usual width */
    tsr_device_release(l->context, l->control, sizeof *l->control);
    free(l);
}

tsr_status tsr_levelset_set(tsr_levelset *levelset, const tsr_levelset_options *options)
{
    TSR_NEEDS(levelset);
    tsr_levelset_options own;
    tsr_engine_setup setup;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_engine_make_setup(levelset->tiles, &own, &setup));
    drop_plan(levelset);
    TSR_TRY(take_setup(levelset, &setup));
    levelset->options = own;
    TSR_TRY(widen_list(levelset));
    return TSR_OK;
}

tsr_status tsr_levelset_changed(tsr_levelset *levelset)
{
    TSR_NEEDS(levelset);
    drop_plan(levelset);
    levelset->payload_valid = 0;
    TSR_TRY(levelset->context->backend->fill(levelset->context->queue, levelset->tiles->pool.age, 0, (size_t)levelset->tiles->pool.capacity));
    levelset->tiles->pool.guard = 0;
    TSR_TRY(widen_list(levelset));
    return TSR_OK;
}

tsr_status tsr_levelset_set_payload(tsr_levelset *l, const tsr_payload_provider *provider)
{
    if (!provider || !provider->fill) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: the payload provider has no fill function");
    l->provider = *provider;
    l->payload_valid = 0;
    drop_plan(l);
    TSR_TRY(tsr_tiles_need_payload(l->tiles));
    return TSR_OK;
}

/* ---- plans ----------------------------------------------------------------------------------------------------------------------------------------- */

static int needs_payload(const tsr_engine_setup *s) { return tsr_engine_payload(&s->flow) != TSR_PAYLOAD_UNUSED; }

/* A plan for the pool as it is and this fixed step (0: automatic). */
static tsr_status make_plan(tsr_levelset *l, float fixed_step)
{
    tsr_tile_pool *pool = &l->tiles->pool;
    if (needs_payload(&l->setup) && !l->provider.fill)
        TSR_FAIL(TSR_ERROR_STATE, "level set: a term of kind POTENTIAL or PULL needs a payload provider (tsr_levelset_set_payload)");
    if (l->setup.stages + l->setup.sweeps > 1) TSR_TRY(tsr_tiles_need_stage(l->tiles));
    if (l->plan && memcmp(&l->planned, pool, sizeof *pool) == 0 && l->planned_step == fixed_step) return TSR_OK;
    drop_plan(l);
    tsr_engine_setup setup = l->setup;
    setup.fixed_step = fixed_step;
    const tsr_payload_provider *provider = needs_payload(&l->setup) ? &l->provider : NULL; /* pages that nothing reads are not filled */
    TSR_TRY(l->context->backend->engine->plan_create(l->context->queue, pool, &setup, provider, l->control, &l->plan));
    l->planned = *pool;
    l->planned_step = fixed_step;
    return TSR_OK;
}

/* Both bounds of docs/theory/levelset.md 3 for a fixed step; a step at all for an automatic one. */
static tsr_status check_step(const tsr_levelset *l, float fixed_step)
{
    const tsr_engine_setup *s = &l->setup;
    const tsr_engine_control *c = &l->seen;
    const double hyperbolic = (double)s->rate + (double)c->rate + sqrt(3) * fabs((double)c->mean_speed) / (double)s->scheme.spacing;
    const double parabolic = (double)s->parabolic + (double)s->parabolic_unit * (double)c->curvature;
    if (s->stages == 0 || l->options.force) return TSR_OK;
    if (fixed_step > 0) {
        const double rate = fmax(hyperbolic, parabolic), step = (double)fixed_step;
        if (step * rate > 1 + 1e-5)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: time_step is %g, over the stability bound %g of the %s terms (options.force tries it anyway)",
                     step, 1 / rate, hyperbolic >= parabolic ? "hyperbolic" : "curvature");
    } else if (!(c->time_step > 0) && !c->last) {
        TSR_FAIL(TSR_ERROR_STATE, "level set: no term moves the surface, so there is no automatic time step: give a time_step");
    }
    return TSR_OK;
}

/* Who gave a value that is not finite; the list is as before the step that met it. */
static tsr_status blame(tsr_levelset *l, tsr_tile_state *state)
{
    const long long step = (long long)l->total_steps + 1;
    TSR_TRY(l->context->backend->engine->plan_explain(l->context->queue, l->plan));
    TSR_TRY(read_control(l));
    TSR_TRY(reset_state(l, state->time));
    TSR_TRY(l->context->backend->tiles->refresh(l->context->queue, &l->tiles->pool)); /* the step may have written activity words */
    TSR_TRY(tsr_tiles_read_state(l->tiles, state));
    const tsr_engine_blame *b = &l->seen.blame;
    const int32_t *v = b->voxel;
    if (b->term == TSR_BLAME_FIELD)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "level set: step %lld: the field is %g at voxel (%d, %d, %d), expected a finite number; the surface is kept as it was", step,
                 (double)b->value, v[0], v[1], v[2]);
    if (b->term == TSR_BLAME_SCHEME)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "level set: step %lld: the terms are too large for numbers at voxel (%d, %d, %d), where the field is %g; the surface is that of "
                 "step %lld",
                 step, v[0], v[1], v[2], (double)b->value, step - 1);
    TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: step %lld: term %d (%s) is not finite at voxel (%d, %d, %d); the surface is that of step %lld", step,
             b->term, tsr_engine_kind_names[l->options.terms[b->term].kind], v[0], v[1], v[2], step - 1);
}

/* The list has come to the limits of its keys, and halted there. */
static tsr_status at_the_limit(tsr_levelset *l)
{
    const tsr_tile_pool *pool = &l->tiles->pool;
    TSR_FAIL(
        TSR_ERROR_CAPACITY,
        "level set: step %lld: the surface has come to the limits of the tile coordinates (%d-bit keys: tiles %d to %d along x, %d to %d along y, %d "
        "to %d along z, each of %d voxels): it is that of this step, and cannot go on%s",
        (long long)l->total_steps, 8 * tsr_pool_key_width(pool), tsr_pool_least(pool, 0), tsr_pool_most(pool, 0), tsr_pool_least(pool, 1),
        tsr_pool_most(pool, 1), tsr_pool_least(pool, 2), tsr_pool_most(pool, 2), 1 << pool->log2_edge,
        pool->key_first ? " (key_bits 64 goes further)" : "");
}

/* The surface went beyond its band between two management passes, and halted there. */
static tsr_status out_of_band(tsr_levelset *l)
{
    TSR_FAIL(TSR_ERROR_STATE,
             "level set: step %lld: the surface left its band: phi changed by %g since the list was managed, over the %g that a band of %g allows: "
             "give a smaller time_step or managed_every; the surface is that of this step, and parts of it may be lost",
             (long long)l->total_steps, (double)l->seen.moved, (double)tsr_engine_leeway(&l->setup), (double)l->setup.scheme.band);
}

/* Plan, payload, rates and the length of the first step of a run that ends at `end`. */
static tsr_status start(tsr_levelset *l, double end, float fixed_step, tsr_tile_state *state)
{
    TSR_TRY(make_plan(l, fixed_step));
    l->seen.end = end;
    TSR_TRY(write_control(l));
    TSR_TRY(l->context->backend->engine->plan_start(l->context->queue, l->plan, !l->payload_valid || l->payload_coded != l->tiles->pool.coded));
    l->payload_valid = needs_payload(&l->setup);
    l->payload_coded = l->tiles->pool.coded;
    TSR_TRY(read_control(l));
    TSR_TRY(tsr_tiles_read_state(l->tiles, state));
    if (state->bad) TSR_TRY(blame(l, state));
    return TSR_OK;
}

/* Up to `steps` steps, done when it returns unless the run halted or an error did. */
static tsr_status advance(tsr_levelset *l, int32_t steps, float fixed_step, tsr_tile_state *state)
{
    const tsr_engine_ops *ops = l->context->backend->engine;
    const int32_t target = state->steps + steps;
    while (state->steps < target && !state->halted) {
        const int32_t before = state->steps;
        TSR_TRY(make_plan(l, fixed_step));
        const tsr_status ran = ops->plan_run(l->context->queue, l->plan, target - state->steps, state->count);
        if (ran != TSR_OK) l->payload_valid = 0; /* pages of tiles that were made may be missing */
        const tsr_status looked = tsr_tiles_read_state(l->tiles, state);
        if (looked == TSR_OK) l->total_steps += state->steps - before;
        TSR_TRY(ran);
        TSR_TRY(looked);
        if (state->bad) return blame(l, state);
        if (state->beyond) return at_the_limit(l);
        if (!state->managed) { /* the list is one management behind: more room, then catch up */
            TSR_TRY(tsr_tiles_manage(l->tiles));
            TSR_TRY(make_plan(l, fixed_step));
            l->payload_valid = 0; /* should it fail */
            TSR_TRY(ops->plan_resume(l->context->queue, l->plan));
            l->payload_valid = needs_payload(&l->setup);
            TSR_TRY(tsr_tiles_read_state(l->tiles, state));
        } else if (state->steps == before && !state->halted) {
            TSR_FAIL(TSR_ERROR_INTERNAL, "level set: a run made no step");
        }
    }
    TSR_TRY(read_control(l));
    if (l->seen.left) return out_of_band(l);
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------------------------------- */

struct run {
    int64_t limit;     /* steps; < 0: none */
    double begin, end; /* simulated time */
    float fixed_step;
    const char *stage;
};

static double fraction_done(const struct run *run, int64_t done, double time)
{
    if (isfinite(run->end)) return run->end > run->begin ? (time - run->begin) / (run->end - run->begin) : 1;
    return run->limit > 0 ? (double)done / (double)run->limit : 0;
}

static tsr_levelset_report report_of(const tsr_levelset *l, const tsr_tile_state *state, int64_t steps, double seconds)
{
    double curvature = 0;
    for (int i = 0; i < l->options.term_count; i++)
        if (l->options.terms[i].kind == TSR_LEVELSET_CURVATURE && !(l->options.terms[i].sigma > 0)) curvature += l->options.terms[i].value;
    if (l->options.curvature_form == TSR_CURVATURE_HALF) curvature *= 0.5;
    return (tsr_levelset_report){ .steps = steps,
                                     .total_steps = l->total_steps,
                                     .time = state->time,
                                     .time_step = (double)state->time_step,
                                     .seconds = seconds,
                                     .steps_per_second = seconds > 0 ? (double)steps / seconds : 0,
                                     .tiles = state->count,
                                     .active_voxels = state->active_voxels,
                                     .device_bytes = l->tiles->bytes,
                                     .curvature = curvature,
                                     .largest_change = (double)l->seen.largest_change,
                                     .mean_curvature = l->seen.mean_curvature,
                                     .converged = l->seen.converged,
                                     .empty = state->count == 0 };
}

/* After a run the list is managed and free for others. */
static tsr_status leave(tsr_levelset *l, const tsr_tile_state *state)
{
    if (state->halted) TSR_TRY(reset_state(l, state->time));
    if (l->seen.management == 0 || !state->managed) return TSR_OK;
    TSR_TRY(tsr_tiles_manage(l->tiles));
    TSR_TRY(make_plan(l, l->planned_step));
    TSR_TRY(l->context->backend->engine->plan_resume(l->context->queue, l->plan));
    return TSR_OK;
}

/* A front that travels leaves its tiles wherever there was room. Where that costs time they are put in the order of the list again when a sixth of them
 * is new, which takes as long as a step or two; lists that would not fit twice stay as they are. */
static tsr_status keep_in_order(tsr_levelset *l, const tsr_tile_state *state)
{
    const tsr_engine_ops *ops = l->context->backend->engine;
    enum { LEAST_ORDERED = 1024 }; /* fewer lie in the caches whatever their order */
    if (!ops->plan_created || !l->plan || state->halted || state->count < LEAST_ORDERED) return TSR_OK;
    if (6 * ops->plan_created(l->plan) < state->count || l->tiles->bytes > tsr_physical_memory() / 4) return TSR_OK;
    tsr_status status = tsr_tiles_compact(l->tiles, l->tiles->pool.capacity);
    if (status == TSR_ERROR_CAPACITY) drop_plan(l); /* as it was; the next try is as long away */
    return status == TSR_ERROR_CAPACITY ? TSR_OK : status;
}

static tsr_status run_steps(tsr_levelset *l, const struct run *run, const tsr_progress *progress, tsr_levelset_report *report)
{
    tsr_tile_state state;
    tsr_status status = TSR_OK;
    const double clock = tsr_seconds_now();
    const int64_t first = l->total_steps;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(start(l, run->end, run->fixed_step, &state));
    if (state.count > 0) TSR_TRY(check_step(l, run->fixed_step));
    while (state.count > 0 && !state.halted) {
        const int64_t done = l->total_steps - first;
        int64_t left = run->limit < 0 ? STEPS_PER_LOOK : run->limit - done;
        const double needed = (run->end - state.time) / (double)l->seen.time_step; /* a short run queues no steps beyond its end */
        if (run->limit < 0 && needed < STEPS_PER_LOOK) left = (int64_t)needed + 1;
        if (left <= 0) break;
        if (tsr_progress_report(progress, fraction_done(run, done, state.time), run->stage)) {
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "level set: cancelled after %lld steps", (long long)done);
            break;
        }
        const double before = state.time;
        status = advance(l, (int32_t)(left < STEPS_PER_LOOK ? left : STEPS_PER_LOOK), run->fixed_step, &state);
        if (status == TSR_OK) status = keep_in_order(l, &state);
        if (status == TSR_OK && run->limit < 0 && isfinite(run->end) && !state.halted && state.time <= before)
            status = TSR_FAILED(TSR_ERROR_STATE, "level set: nothing moves any more at time %g, so the end at %g is never reached: give a time_step",
                                state.time, run->end);
        if (status != TSR_OK) {
            tsr_frame_at(status, __func__, __FILE__, __LINE__);
            break;
        }
    }
    const tsr_levelset_report own = report_of(l, &state, l->total_steps - first, tsr_seconds_now() - clock);
    tsr_status left = leave(l, &state);
    if (left == TSR_OK) left = TSR_STRUCT_GIVE(report, &own);
    return status == TSR_OK ? left : status;
}

tsr_status tsr_levelset_step(tsr_levelset *levelset, int64_t steps, const tsr_progress *progress, tsr_levelset_report *report)
{
    TSR_NEEDS(levelset);
    if (steps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: %lld steps asked for, expected 0 or more", (long long)steps);
    const struct run run = { .limit = steps, .end = HUGE_VAL, .fixed_step = levelset->setup.fixed_step, .stage = "level set" };
    TSR_TRY(run_steps(levelset, &run, progress, report));
    return TSR_OK;
}

tsr_status tsr_levelset_advance(tsr_levelset *levelset, double duration, const tsr_progress *progress, tsr_levelset_report *report)
{
    TSR_NEEDS(levelset);
    tsr_tile_state state;
    if (!(duration >= 0 && duration < 1e18)) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: duration is %g, expected 0 or more", duration);
    TSR_TRY(tsr_tiles_read_state(levelset->tiles, &state));
    struct run run = { .limit = -1, .begin = state.time, .end = state.time + duration, .stage = "level set" };
    if (duration == 0) run.limit = 0;
    if (levelset->options.max_steps > 0 && run.limit < 0) run.limit = levelset->options.max_steps;
    if (levelset->setup.fixed_step > 0 && duration > 0) { /* all steps equal, none longer than asked for */
        const double count = ceil(duration / (double)levelset->setup.fixed_step - 1e-6);
        run.fixed_step = (float)(duration / fmax(count, 1));
    }
    TSR_TRY(run_steps(levelset, &run, progress, report));
    return TSR_OK;
}

tsr_status tsr_levelset_run(tsr_levelset *levelset, const tsr_progress *progress, tsr_levelset_report *report)
{
    TSR_NEEDS(levelset);
    if (levelset->options.max_steps == 0 && levelset->options.age == 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: a run without max_steps needs an age to converge by");
    const struct run run = { .limit = levelset->options.max_steps > 0 ? levelset->options.max_steps : -1,
                             .end = HUGE_VAL,
                             .fixed_step = levelset->setup.fixed_step,
                             .stage = "level set" };
    TSR_TRY(run_steps(levelset, &run, progress, report));
    return TSR_OK;
}

/* ---- reinitialisation --------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_engine_reinitialise(tsr_tiles *tiles, tsr_stencil space, tsr_sign sign, int32_t sweeps, const tsr_progress *progress)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_engine_setup setup;
    tsr_levelset *l = NULL;
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: the tile list is NULL");
    if (sweeps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: %d sweeps asked for, expected 0 or more", sweeps);
    options.reshape = TSR_RESHAPE_REINIT;
    options.space = space;
    options.sign = sign;
    TSR_TRY(tsr_engine_make_setup(tiles, &options, &setup));
    setup.stages = 0; /* a step is one sweep and takes no time */
    TSR_TRY(create(tiles, &options, &setup, 1, &l));
    const struct run run = { .limit = sweeps, .end = HUGE_VAL, .stage = "reinitialise" };
    tsr_status status = run_steps(l, &run, progress, NULL);
    tsr_levelset_destroy(&l);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_levelset_reinitialise(tsr_tiles *tiles, tsr_stencil space, int32_t sweeps, const tsr_progress *progress)
{
    TSR_NEEDS(tiles);
    return tsr_engine_reinitialise(tiles, space, TSR_SIGN_SMOOTH, sweeps, progress);
}

/* ---- distance anew ------------------------------------------------------------------------------------------------------------------------------------- */

/* Steps that are one pass of `kind` each and take no time. */
static tsr_status run_sweeps(tsr_levelset *l, int32_t kind, int64_t count, const tsr_progress *progress, tsr_levelset_report *report)
{
    const struct run run = { .limit = count, .end = HUGE_VAL, .stage = "redistance" };
    l->setup.sweep_kind = kind;
    drop_plan(l);
    TSR_TRY(run_steps(l, &run, progress, report));
    return TSR_OK;
}

static tsr_status redistance(tsr_levelset *l, double band, int whole, const tsr_progress *progress)
{
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    const int64_t voxels = (int64_t)ceil(band / (double)l->setup.scheme.spacing);
    int64_t left = 4 * voxels + 64; /* far more than a front needs to cross the band */
    TSR_TRY(run_sweeps(l, TSR_SWEEP_SEED, 1, NULL, &report));
    if (!whole) return run_sweeps(l, TSR_SWEEP_DISTANCE, 2 * voxels + 2, progress, &report); /* sqrt(3) passes a voxel along a diagonal */
    for (; left > 0 && !report.empty; left -= voxels + 2) {
        TSR_TRY(run_sweeps(l, TSR_SWEEP_DISTANCE, voxels + 2, progress, &report));
        if (report.largest_change == 0) break; /* the last pass changed nothing: this is the solution */
    }
    return TSR_OK;
}

tsr_status tsr_levelset_redistance(tsr_tiles *tiles, double band, const tsr_progress *progress)
{
    TSR_NEEDS(tiles);
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_engine_setup setup;
    tsr_levelset *l = NULL;
    const double most = (double)tiles->pool.band;
    if (!(band >= 0 && band <= most * (1 + 1e-6)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: band is %g, expected 0 (all of it) to the band of the list, %g", band, most);
    options.reshape = TSR_RESHAPE_REINIT;
    TSR_TRY(tsr_engine_make_setup(tiles, &options, &setup));
    setup.stages = 0;
    TSR_TRY(create(tiles, &options, &setup, 1, &l));
    tsr_status status = redistance(l, band > 0 ? band : most, band == 0 || band >= most, progress);
    tsr_levelset_destroy(&l);
    TSR_TRY(status);
    return TSR_OK;
}
