/* segment/segment.c: the segmentation object: creation, the surface to start from, runs, results. */
#include "segment/segment.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "tessera/distance.h"
#include "tessera/filter.h"
#include "tessera/tiles.h"

enum { STEPS_PER_LOOK = 32, DEFAULT_MAX_STEPS = 10000, DEFAULT_VOLUME_STEPS = 50 };

/* ---- creation --------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_geometry(const tsr_volume *image)
{
    tsr_size3 n = image->size;
    const int64_t extents[3] = { n.x, n.y, n.z };
    for (int k = 0; k < 3; k++)
        if (extents[k] < (k < 2 ? 2 : 1) || extents[k] > 1 << 20) /* an image of one slice is one of two dimensions */
            TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: the image has %lld voxels along %c, expected %d to 1048576", (long long)extents[k], "xyz"[k],
                     k < 2 ? 2 : 1);
    TSR_TRY(tsr_geometry_check_perpendicular(&image->geometry, "segmentation: the image"));
    return TSR_OK;
}

static tsr_status create_tiles(tsr_segmentation *s)
{
    const tsr_segment_options *o = &s->options;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = o->tile_edge;
    options.index = o->tile_index;
    options.domain = s->image->size;
    const tsr_vec3 h = tsr_band_spacing(tsr_geometry_spacing(&s->image->geometry), s->image->size);
    options.band = o->band > 0 ? o->band * s->smallest_spacing : tsr_band_default(h, 2.5);
    options.capacity = o->tile_capacity;
    options.memory_limit = o->memory_limit;
    options.key_bits = o->key_bits;
    TSR_TRY(tsr_tiles_create(s->context, &s->image->geometry, &options, &s->tiles));
    TSR_TRY(tsr_tiles_need_payload(s->tiles));
    return TSR_OK;
}

/* The image that replaces the given one for the speed; NULL without smoothing. */
static tsr_status smooth_image(const tsr_segmentation *s, tsr_volume **smoothed)
{
    *smoothed = NULL;
    if (!(s->options.smoothing > 0)) return TSR_OK;
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    smooth.sigma = s->options.smoothing;
    return tsr_volume_smooth(s->context, s->image, &smooth, smoothed);
}

static tsr_status prepare(tsr_segmentation *s)
{
    tsr_statistics statistics = TSR_STATISTICS;
    TSR_TRY(check_geometry(s->image));
    TSR_TRY(tsr_volume_check_finite(s->context, s->image, "image"));
    TSR_TRY(tsr_volume_statistics(s->context, s->image, &statistics));
    s->minimum = statistics.minimum;
    s->maximum = statistics.maximum;
    s->spacing = tsr_geometry_spacing(&s->image->geometry);
    const tsr_vec3 h = tsr_band_spacing(s->spacing, s->image->size); /* how thick an image of one slice is must not show */
    s->smallest_spacing = fmin(h.x, fmin(h.y, h.z));
    TSR_TRY(smooth_image(s, &s->smoothed));
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    for (int i = 0; i < s->options.term_count; i++) {
        if (s->options.terms[i].kind != TSR_TERM_EDGE) continue;
        smooth.sigma = s->options.terms[i].sigma;
        TSR_TRY(tsr_volume_laplacian(s->context, s->image, &smooth, &s->edges[i]));
    }
    tsr_speed speed; /* finds mistakes in the terms now */
    TSR_TRY(tsr_segment_make_speed(s, &speed));
    TSR_TRY(create_tiles(s));
    s->strokes = (tsr_welford *)calloc(1, sizeof *s->strokes);
    if (!s->strokes) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory");
    return TSR_OK;
}

tsr_status tsr_segmentation_create(tsr_context *context, const tsr_volume *image, const tsr_segment_options *options, tsr_segmentation **segmentation)
{
    TSR_RETURNS(segmentation);
    TSR_NEEDS(context, image);
    tsr_segment_options own;
    tsr_segment_options defaults = TSR_SEGMENT_OPTIONS;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options ? options : &defaults));
    TSR_TRY(tsr_segment_check_options(&own));
    TSR_TRY(tsr_volume_require(context, image, "image"));
    tsr_segmentation *s = (tsr_segmentation *)calloc(1, sizeof *s);
    if (!s) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory (%zu bytes asked for)", sizeof *s);
    s->context = context;
    s->image = image;
    s->options = own;
    tsr_status status;
    TSR_TRY_GOTO(prepare(s), fail);
    *segmentation = s;
    return TSR_OK;
fail:
    tsr_segmentation_destroy(&s);
    return status;
}

static void drop_plan(tsr_segmentation *s)
{
    if (s->plan) s->context->backend->segment->plan_destroy(s->context->queue, &s->plan);
    s->plan_valid = 0;
}

static void forget_undone(tsr_segmentation *s)
{
    while (s->undone_count > 0) tsr_tiles_kept_destroy(&s->undone[--s->undone_count]);
}

void tsr_segmentation_destroy(tsr_segmentation **segmentation)
{
    if (!segmentation || !*segmentation) return;
    tsr_segmentation *s = *segmentation;
    *segmentation = NULL;
    drop_plan(s);
    tsr_tiles_destroy(&s->tiles);
    for (int32_t i = 0; i < s->snapshot_count; i++) tsr_tiles_kept_destroy(&s->snapshots[i]);
    free(s->snapshots);
    forget_undone(s);
    free(s->undone);
    tsr_volume_destroy(&s->smoothed);
    for (int i = 0; i < TSR_TERMS; i++) tsr_volume_destroy(&s->edges[i]);
    free(s->strokes);
    free(s->probed);
    free(s->log);
    free(s);
}

/* ---- the surface to start from ------------------------------------------------------------------------------------------------------------ */

static tsr_status check_inside(const tsr_segmentation *s, tsr_vec3 p, const char *what)
{
    tsr_size3 n = s->image->size;
    if (p.x >= -0.5 && p.y >= -0.5 && p.z >= -0.5 && p.x <= (double)n.x - 0.5 && p.y <= (double)n.y - 0.5 && p.z <= (double)n.z - 0.5) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s (%g, %g, %g) lies outside the volume of %lld x %lld x %lld voxels", what, p.x, p.y, p.z, (long long)n.x,
             (long long)n.y, (long long)n.z);
}

tsr_status tsr_segmentation_stroke(tsr_segmentation *segmentation, tsr_vec3 from, tsr_vec3 to, double radius, int erase)
{
    TSR_NEEDS(segmentation);
    const char *what = erase ? "centre of an erasing sphere" : "centre of a sphere";
    TSR_TRY(check_inside(segmentation, from, what));
    TSR_TRY(check_inside(segmentation, to, what));
    if (!(radius > 0 && radius < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "radius of a sphere is %g, expected a positive number below 1e9", radius);
    tsr_vec3 a = { from.x * segmentation->spacing.x, from.y * segmentation->spacing.y, from.z * segmentation->spacing.z },
             b = { to.x * segmentation->spacing.x, to.y * segmentation->spacing.y, to.z * segmentation->spacing.z };
    double length = sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
    double wanted = ceil(length / (0.5 * radius));
    if (wanted > 100000) TSR_FAIL(TSR_ERROR_ARGUMENT, "a stroke of length %g with radius %g needs more than 100000 spheres", length, radius);
    int32_t count = (int32_t)wanted + 1;
    tsr_tiles_sphere *spheres = (tsr_tiles_sphere *)malloc((size_t)count * sizeof *spheres);
    if (!spheres) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory for %d spheres", count);
    for (int32_t i = 0; i < count; i++) {
        double t = count > 1 ? (double)i / (count - 1) : 0;
        spheres[i] = (tsr_tiles_sphere){ (float)(a.x + t * (b.x - a.x)), (float)(a.y + t * (b.y - a.y)), (float)(a.z + t * (b.z - a.z)),
                                         (float)radius, erase != 0 };
    }
    tsr_status status = tsr_tiles_paint(segmentation->tiles, spheres, count);
    free(spheres);
    TSR_TRY(status);
    segmentation->speed_valid = 0;
    segmentation->plan_valid = 0;
    if (count > 1)
        TSR_TRY(tsr_segment_log(segmentation, "%s %.17g %.17g %.17g %.17g %.17g %.17g %.17g", erase ? "erase" : "paint", from.x, from.y, from.z,
                                radius, to.x, to.y, to.z));
    else TSR_TRY(tsr_segment_log(segmentation, "%s %.17g %.17g %.17g %.17g", erase ? "erase" : "paint", from.x, from.y, from.z, radius));
    return TSR_OK;
}

tsr_status tsr_segmentation_sphere(tsr_segmentation *segmentation, tsr_vec3 centre, double radius, int erase)
{
    TSR_NEEDS(segmentation);
    return tsr_segmentation_stroke(segmentation, centre, centre, radius, erase);
}

static tsr_status check_extents(const tsr_segmentation *s, const tsr_volume *volume, const char *name)
{
    TSR_TRY(tsr_volume_require(s->context, volume, name));
    tsr_size3 a = volume->size, b = s->image->size;
    if (a.x != b.x || a.y != b.y || a.z != b.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: the %s has %lld x %lld x %lld voxels, the image %lld x %lld x %lld", name, (long long)a.x,
                 (long long)a.y, (long long)a.z, (long long)b.x, (long long)b.y, (long long)b.z);
    if (volume->geometry.space == TSR_SPACE_NONE || s->image->geometry.space == TSR_SPACE_NONE) return TSR_OK; /* then the indices count */
    char what[64];
    snprintf(what, sizeof what, "segmentation: the %s and the image", name);
    return tsr_geometry_require_same(&volume->geometry, &s->image->geometry, what, "resample it onto the image's grid first");
}

/* Loads a field; a surface must result. One without a zero crossing is refused before the surface that there is goes. */
static tsr_status load(tsr_segmentation *s, const tsr_volume *field, const char *what)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_statistics range = TSR_STATISTICS;
    TSR_TRY(tsr_volume_statistics(s->context, field, &range));
    if (!(range.minimum < 0) || !(range.maximum >= 0))
        TSR_FAIL(TSR_ERROR_STATE, "segmentation: the %s has no zero crossing: it is all %s", what, range.minimum < 0 ? "inside" : "outside");
    TSR_TRY(tsr_tiles_load(s->tiles, field));
    s->speed_valid = 0;
    s->plan_valid = 0;
    TSR_TRY(tsr_tiles_describe(s->tiles, &info));
    if (info.count == 0 || info.inside_voxels == 0 || info.inside_voxels == tsr_volume_count(field))
        TSR_FAIL(TSR_ERROR_STATE, "segmentation: the %s has no zero crossing: it is all %s", what, info.inside_voxels ? "inside" : "outside");
    return TSR_OK;
}

tsr_status tsr_segmentation_from_mask(tsr_segmentation *segmentation, const tsr_volume *mask)
{
    TSR_NEEDS(segmentation, mask);
    tsr_volume *distance = NULL;
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    TSR_TRY(check_extents(segmentation, mask, "mask"));
    options.band = segmentation->tiles->pool.band;
    TSR_TRY(tsr_distance_transform(segmentation->context, mask, &options, &distance));
    tsr_status status = load(segmentation, distance, "mask");
    tsr_volume_destroy(&distance);
    TSR_TRY(status);
    TSR_TRY(tsr_segment_log(segmentation, "# from a mask"));
    return TSR_OK;
}

/* Mean central gradient of the voxels beside the zero crossing, on the host. */
static double mean_gradient(const float *p, tsr_size3 n, tsr_vec3 h)
{
    double sum = 0;
    int64_t count = 0, sy = n.x, sz = n.x * n.y;
    for (int64_t z = 1; z < n.z - 1; z++)
        for (int64_t y = 1; y < n.y - 1; y++)
            for (int64_t x = 1; x < n.x - 1; x++) {
                const float *c = p + z * sz + y * sy + x;
                int in = c[0] < 0;
                if ((c[1] < 0) == in && (c[sy] < 0) == in && (c[sz] < 0) == in) continue;
                double gx = ((double)c[1] - (double)c[-1]) / (2 * h.x), gy = ((double)c[sy] - (double)c[-sy]) / (2 * h.y),
                       gz = ((double)c[sz] - (double)c[-sz]) / (2 * h.z);
                sum += sqrt(gx * gx + gy * gy + gz * gz);
                count++;
            }
    return count ? sum / (double)count : 0;
}

tsr_status tsr_segmentation_from_field(tsr_segmentation *segmentation, const tsr_volume *field)
{
    TSR_NEEDS(segmentation, field);
    tsr_status status;
    tsr_volume *host = NULL, *real = NULL, *scaled = NULL;
    TSR_TRY(check_extents(segmentation, field, "field"));
    TSR_TRY(tsr_volume_check_finite(segmentation->context, field, "field"));
    TSR_TRY_GOTO(tsr_volume_convert(segmentation->context, field, TSR_F32, &real), done);
    TSR_TRY_GOTO(tsr_volume_copy(real, NULL, &host), done);
    double gradient = mean_gradient((const float *)host->data, host->size, segmentation->spacing),
           wanted = segmentation->options.gradient > 0 ? segmentation->options.gradient : 1;
    if (!(gradient > 0)) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "segmentation: the field has no zero crossing inside the volume");
    TSR_TRY_GOTO(tsr_volume_combine(segmentation->context, TSR_COMBINE_LINEAR, wanted / gradient, real, 0, NULL, 0, &scaled), done);
    TSR_TRY_GOTO(load(segmentation, scaled, "field"), done);
    TSR_TRY_GOTO(tsr_segment_log(segmentation, "# from a field"), done);
    status = TSR_OK;
done:
    tsr_volume_destroy(&scaled);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&real);
    return status;
}

/* ---- parameters ------------------------------------------------------------------------------------------------------------------------------ */

/* Takes the options over, or fails and changes nothing. */
static tsr_status adopt(tsr_segmentation *s, const tsr_segment_options *changed)
{
    const tsr_segment_options before = s->options;
    s->options = *changed;
    if (changed->smoothing != before.smoothing) {
        tsr_volume *smoothed;
        const tsr_status status = smooth_image(s, &smoothed);
        if (status != TSR_OK) s->options = before;
        TSR_TRY(status);
        drop_plan(s); /* it may refer to the old one */
        tsr_volume_destroy(&s->smoothed);
        s->smoothed = smoothed;
    }
    s->speed_valid = 0;
    s->plan_valid = 0;
    if (!s->log_begun) TSR_TRY(tsr_segment_log_begin(s)); /* anew: what counts is what it is when the work begins */
    return TSR_OK;
}

tsr_status tsr_segment_set(tsr_segmentation *s, const char *name, double value)
{
    tsr_segment_options changed = s->options;
    const int begun = s->log_begun;
    TSR_TRY(tsr_segment_option_set(&changed, name, value));
    TSR_TRY(adopt(s, &changed));
    if (begun) TSR_TRY(tsr_segment_log(s, "set %s %.17g", name, value));
    return TSR_OK;
}

tsr_status tsr_segmentation_get_options(const tsr_segmentation *segmentation, tsr_segment_options *options)
{
    TSR_NEEDS(segmentation, options);
    return TSR_STRUCT_GIVE(options, &segmentation->options);
}

tsr_status tsr_segmentation_set_options(tsr_segmentation *segmentation, const tsr_segment_options *options)
{
    TSR_NEEDS(segmentation, options);
    tsr_option_change changes[TSR_OPTION_CHANGES];
    tsr_segment_options wanted, changed = segmentation->options;
    int count;
    TSR_TRY(TSR_OPTIONS_TAKE(&wanted, options));
    if (options->struct_size < sizeof wanted) /* of an older caller: what it does not know stays */
        memcpy((char *)&wanted + options->struct_size, (const char *)&changed + options->struct_size, sizeof wanted - options->struct_size);
    TSR_TRY(tsr_segment_option_changes(&changed, &wanted, changes, &count));
    if (count == 0) return TSR_OK;
    for (int i = 0; i < count; i++) TSR_TRY(tsr_segment_option_set(&changed, changes[i].name, changes[i].value));
    const int begun = segmentation->log_begun;
    TSR_TRY(adopt(segmentation, &changed));
    for (int i = 0; i < count && begun; i++) TSR_TRY(tsr_segment_log(segmentation, "set %s %.17g", changes[i].name, changes[i].value));
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------------------------- */

const char *tsr_stop_name(tsr_stop stop)
{
    static const char *const names[] = { "none", "steps", "change", "volume", "age", "time", "empty" };
    return (int)stop >= 0 && (size_t)stop < sizeof names / sizeof *names ? names[stop] : "invalid";
}

/* Speeds and plan for the current options, list and pool. */
static tsr_status make_ready(tsr_segmentation *s)
{
    const tsr_segment_ops *ops = s->context->backend->segment;
    if (s->speed_valid && s->plan_valid) return TSR_OK;
    tsr_speed speed;
    tsr_segment_params params;
    TSR_TRY(tsr_segment_make_speed(s, &speed));
    tsr_segment_make_params(s, &params);
    TSR_TRY(ops->fill_speed(s->context->queue, &s->tiles->pool, &speed));
    s->speed_valid = 1;
    drop_plan(s);
    TSR_TRY(ops->plan_create(s->context->queue, &s->tiles->pool, &params, &speed, &s->plan));
    s->plan_valid = 1;
    return TSR_OK;
}

/* A fixed time step must obey the bound for the largest speed in the band. */
static tsr_status check_time_step(const tsr_segmentation *s, const tsr_tile_state *state)
{
    if (!(s->options.time_step > 0) || s->options.force) return TSR_OK;
    tsr_segment_params params;
    tsr_segment_make_params(s, &params);
    params.fixed_step = 0;
    params.cfl = 0.9f;
    double largest = (double)tsr_bits_float(state->speed_bits), bound = (double)tsr_segment_time_step(&params, (float)largest);
    if (bound > 0 && s->options.time_step > bound * (1 + 1e-6))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "segmentation: time_step is %g, over the stability bound %g for a largest speed of %g (options.force tries it anyway)",
                 s->options.time_step, bound, largest);
    return TSR_OK;
}

/* Up to `steps` steps, all done when it returns unless an error did. */
static tsr_status advance(tsr_segmentation *s, int32_t steps, tsr_tile_state *state)
{
    int32_t target = state->steps + steps;
    while (state->steps < target) {
        TSR_TRY(make_ready(s));
        TSR_TRY(s->context->backend->segment->plan_run(s->context->queue, s->plan, target - state->steps));
        int32_t before = state->steps;
        TSR_TRY(tsr_tiles_read_state(s->tiles, state));
        s->total_steps += state->steps - before;
        if (state->managed) continue;
        s->plan_valid = s->speed_valid = 0; /* the list is one management behind: more room, then catch up */
        TSR_TRY(tsr_tiles_manage(s->tiles));
        TSR_TRY(tsr_tiles_read_state(s->tiles, state));
    }
    return TSR_OK;
}

/* A mask or a field begins with a wider band than the surface has once it moves. */
static tsr_status trim(tsr_segmentation *s, const tsr_tile_state *state)
{
    int trimmed;
    TSR_TRY(tsr_tiles_trim(s->tiles, state, &trimmed));
    if (trimmed) s->plan_valid = 0;
    return TSR_OK;
}

static double root_mean_square_change(const tsr_segmentation *s, const tsr_tile_state *state)
{
    if (state->active_voxels <= 0) return 0;
    return sqrt((double)state->change / 268435456.0 / (double)state->active_voxels) * (double)s->tiles->pool.band;
}

static tsr_segment_report report_of(const tsr_segmentation *s, const tsr_tile_state *state, int64_t steps, double seconds, tsr_stop stop)
{
    tsr_segment_report report = { .steps = steps,
                                  .total_steps = s->total_steps,
                                  .tiles = state->count,
                                  .active_voxels = state->active_voxels,
                                  .inside_voxels = state->inside_voxels + state->inside_absent,
                                  .seconds = seconds,
                                  .time = state->time,
                                  .time_step = (double)state->time_step,
                                  .change = root_mean_square_change(s, state),
                                  .device_bytes = s->tiles->bytes,
                                  .stop = stop };
    report.volume = (double)report.inside_voxels * fabs(tsr_geometry_determinant(&s->image->geometry));
    report.steps_per_second = seconds > 0 ? (double)steps / seconds : 0;
    report.target_outside = s->options.data_weight != 0 && (s->options.target < s->minimum || s->options.target > s->maximum);
    return report;
}

struct run {
    int64_t limit, done;
    int rules; /* 0: only the number of steps and an empty surface count */
    double begin;
    int64_t volume_at, volume; /* when and what the enclosed volume was */
};

static tsr_stop rule_that_fires(const tsr_segmentation *s, struct run *run, const tsr_tile_state *state)
{
    const tsr_segment_options *o = &s->options;
    int64_t inside = state->inside_voxels + state->inside_absent;
    if (inside == 0 || state->count == 0) return TSR_STOP_EMPTY;
    if (run->rules) {
        double largest = (double)tsr_bits_float(state->speed_bits) + (1 - o->alpha) / s->smallest_spacing;
        if (o->change_tolerance > 0 && root_mean_square_change(s, state) < o->change_tolerance * (double)state->time_step * largest)
            return TSR_STOP_CHANGE;
        if (o->volume_tolerance > 0 && run->done - run->volume_at >= (o->volume_steps ? o->volume_steps : DEFAULT_VOLUME_STEPS)) {
            double change = fabs((double)(inside - run->volume)) / (double)inside;
            run->volume_at = run->done;
            run->volume = inside;
            if (change < o->volume_tolerance) return TSR_STOP_VOLUME;
        }
        if (o->age > 0 && state->quiet > o->age) return TSR_STOP_AGE;
        if (o->time_limit > 0 && tsr_seconds_now() - run->begin >= o->time_limit) return TSR_STOP_TIME;
    }
    return run->done >= run->limit ? TSR_STOP_STEPS : TSR_STOP_NONE;
}

static tsr_status run_steps(tsr_segmentation *s, int64_t limit, int rules, const tsr_progress *progress, tsr_segment_report *report)
{
    tsr_tile_state state;
    struct run run = { .limit = limit, .rules = rules, .begin = tsr_seconds_now() };
    tsr_stop stop = TSR_STOP_NONE;
    tsr_status status = TSR_OK;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(make_ready(s));
    TSR_TRY(tsr_tiles_read_state(s->tiles, &state));
    run.volume = state.inside_voxels + state.inside_absent;
    if (state.count == 0) TSR_FAIL(TSR_ERROR_STATE, "segmentation: there is no surface to move: add a sphere, a mask or a field first");
    TSR_TRY(check_time_step(s, &state));
    int64_t first = s->total_steps;
    while (stop == TSR_STOP_NONE && run.done < limit) {
        if (tsr_progress_report(progress, (double)run.done / (double)limit, "segmentation")) {
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "segmentation cancelled after %lld steps", (long long)run.done);
            break;
        }
        int32_t batch = limit - run.done < STEPS_PER_LOOK ? (int32_t)(limit - run.done) : STEPS_PER_LOOK;
        status = advance(s, batch, &state);
        if (status == TSR_OK) status = trim(s, &state);
        run.done = s->total_steps - first;
        if (status != TSR_OK) {
            tsr_frame_at(status, __func__, __FILE__, __LINE__);
            break;
        }
        stop = rule_that_fires(s, &run, &state);
    }
    const tsr_segment_report own = report_of(s, &state, run.done, tsr_seconds_now() - run.begin, stop == TSR_STOP_NONE ? TSR_STOP_STEPS : stop);
    const tsr_status told = TSR_STRUCT_GIVE(report, &own);
    if (status == TSR_OK) status = told;
    if (run.done > 0) {
        tsr_status logged = tsr_segment_log_run(s, run.done);
        if (status == TSR_OK) status = logged;
    }
    return status;
}

tsr_status tsr_segmentation_run(tsr_segmentation *segmentation, const tsr_progress *progress, tsr_segment_report *report)
{
    TSR_NEEDS(segmentation);
    TSR_TRY(run_steps(segmentation, segmentation->options.max_steps > 0 ? segmentation->options.max_steps : DEFAULT_MAX_STEPS, 1, progress, report));
    return TSR_OK;
}

tsr_status tsr_segmentation_step(tsr_segmentation *segmentation, int64_t steps, const tsr_progress *progress, tsr_segment_report *report)
{
    TSR_NEEDS(segmentation);
    if (steps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %lld steps asked for, expected 0 or more", (long long)steps);
    TSR_TRY(run_steps(segmentation, steps, 0, progress, report));
    return TSR_OK;
}

/* Keeps the surface of now on top of a stack; shares pages with `before`, which may be NULL. */
static tsr_status keep(tsr_segmentation *s, tsr_tiles_kept ***stack, int32_t *count, const tsr_tiles_kept *before)
{
    tsr_tiles_kept *kept = NULL;
    tsr_tiles_kept **grown = (tsr_tiles_kept **)realloc(*stack, (size_t)(*count + 1) * sizeof *grown);
    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory for a snapshot");
    *stack = grown;
    TSR_TRY(tsr_tiles_kept_make(s->tiles, before, &kept));
    while (s->options.snapshots > 0 && *count >= s->options.snapshots) {
        tsr_tiles_kept_destroy(&grown[0]);
        *count -= 1;
        memmove(grown, grown + 1, (size_t)*count * sizeof *grown);
    }
    grown[(*count)++] = kept;
    return TSR_OK;
}

tsr_status tsr_segmentation_snapshot(tsr_segmentation *segmentation)
{
    TSR_NEEDS(segmentation);
    TSR_TRY(keep(segmentation, &segmentation->snapshots, &segmentation->snapshot_count,
                 segmentation->snapshot_count ? segmentation->snapshots[segmentation->snapshot_count - 1] : NULL));
    forget_undone(segmentation);
    TSR_TRY(tsr_segment_log(segmentation, "snapshot"));
    return TSR_OK;
}

/* The surface becomes the one on top of a stack, and what it was goes onto the other. */
static tsr_status exchange(tsr_segmentation *s, tsr_tiles_kept **from, int32_t *from_count, tsr_tiles_kept ***to, int32_t *to_count, const char *word)
{
    tsr_status status;
    tsr_tiles *restored;
    TSR_TRY(tsr_tiles_restore(from[*from_count - 1], s->context, s->options.tile_capacity, &restored));
    TSR_TRY_GOTO(tsr_tiles_need_payload(restored), fail);
    TSR_TRY_GOTO(keep(s, to, to_count, from[*from_count - 1]), fail);
    tsr_tiles_kept_destroy(&from[--*from_count]);
    drop_plan(s);
    tsr_tiles_destroy(&s->tiles);
    s->tiles = restored;
    s->speed_valid = s->plan_valid = 0;
    TSR_TRY(tsr_segment_log(s, "%s", word));
    return TSR_OK;
fail:
    tsr_tiles_destroy(&restored);
    return status;
}

tsr_status tsr_segmentation_undo(tsr_segmentation *segmentation)
{
    TSR_NEEDS(segmentation);
    if (segmentation->snapshot_count == 0) TSR_FAIL(TSR_ERROR_STATE, "segmentation: there is no snapshot to go back to");
    TSR_TRY(
        exchange(segmentation, segmentation->snapshots, &segmentation->snapshot_count, &segmentation->undone, &segmentation->undone_count, "undo"));
    return TSR_OK;
}

tsr_status tsr_segmentation_redo(tsr_segmentation *segmentation)
{
    TSR_NEEDS(segmentation);
    if (segmentation->undone_count == 0)
        TSR_FAIL(TSR_ERROR_STATE, "segmentation: nothing was undone since the last snapshot: there is nothing to redo");
    TSR_TRY(
        exchange(segmentation, segmentation->undone, &segmentation->undone_count, &segmentation->snapshots, &segmentation->snapshot_count, "redo"));
    return TSR_OK;
}

/* ---- results ------------------------------------------------------------------------------------------------------------------------------------- */

const tsr_tiles *tsr_segmentation_tiles(const tsr_segmentation *s) { return s ? s->tiles : NULL; }

static tsr_status store(const tsr_tiles *tiles, const tsr_segmentation *s, tsr_dtype dtype, tsr_volume **volume)
{
    tsr_status status;
    TSR_TRY(tsr_volume_create(s->context, dtype, s->image->size, &s->image->geometry, volume));
    TSR_TRY_GOTO(tsr_volume_copy_header(*volume, s->image), fail);
    (*volume)->slope = 1;
    (*volume)->intercept = 0;
    TSR_TRY_GOTO(tsr_tiles_store(tiles, *volume), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

tsr_status tsr_segmentation_mask(const tsr_segmentation *segmentation, tsr_volume **mask)
{
    TSR_RETURNS(mask);
    TSR_NEEDS(segmentation);
    TSR_TRY(store(segmentation->tiles, segmentation, TSR_U8, mask));
    return TSR_OK;
}

tsr_status tsr_segmentation_field(const tsr_segmentation *segmentation, tsr_volume **field)
{
    TSR_RETURNS(field);
    TSR_NEEDS(segmentation);
    TSR_TRY(store(segmentation->tiles, segmentation, TSR_F32, field));
    return TSR_OK;
}

tsr_status tsr_segmentation_speed(tsr_segmentation *segmentation, tsr_volume **speed)
{
    TSR_NEEDS(segmentation, speed);
    TSR_TRY(tsr_segmentation_speed_box(segmentation, (tsr_size3){ 0, 0, 0 }, segmentation->image->size, speed));
    return TSR_OK;
}

static tsr_status speed_of_box(tsr_segmentation *s, tsr_size3 begin, tsr_size3 end, const tsr_segment_params *params, tsr_volume **speed)
{
    tsr_status status;
    tsr_speed terms;
    tsr_geometry geometry = s->image->geometry;
    const int64_t from[3] = { begin.x, begin.y, begin.z }, to[3] = { end.x, end.y, end.z },
                  extent[3] = { s->image->size.x, s->image->size.y, s->image->size.z };
    int32_t low[3], size[3];
    *speed = NULL;
    for (int a = 0; a < 3; a++) {
        if (from[a] < 0 || from[a] >= to[a] || to[a] > extent[a])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: the box of speeds is %lld to %lld along %c, expected 0 <= begin < end <= %lld",
                     (long long)from[a], (long long)to[a], "xyz"[a], (long long)extent[a]);
        low[a] = (int32_t)from[a]; /* extents are 2^20 at most */
        size[a] = (int32_t)(to[a] - from[a]);
    }
    const tsr_vec3 origin = tsr_geometry_to_world(&geometry, (tsr_vec3){ (double)low[0], (double)low[1], (double)low[2] });
    geometry.affine[0][3] = origin.x;
    geometry.affine[1][3] = origin.y;
    geometry.affine[2][3] = origin.z;
    TSR_TRY(tsr_segment_make_speed(s, &terms));
    TSR_TRY(tsr_volume_create(s->context, TSR_F32, (tsr_size3){ size[0], size[1], size[2] }, &geometry, speed));
    TSR_TRY_GOTO(tsr_volume_copy_header(*speed, s->image), fail);
    (*speed)->geometry = geometry;
    (*speed)->slope = 1;
    (*speed)->intercept = 0;
    TSR_TRY_GOTO(s->context->backend->segment->dense_speed(s->context->queue, &terms, &s->tiles->pool, params, low, size, (float *)(*speed)->data),
                 fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(speed);
    return status;
}

tsr_status tsr_segmentation_speed_box(tsr_segmentation *segmentation, tsr_size3 begin, tsr_size3 end, tsr_volume **speed)
{
    TSR_NEEDS(segmentation, speed);
    TSR_TRY(speed_of_box(segmentation, begin, end, NULL, speed));
    return TSR_OK;
}

tsr_status tsr_segmentation_total_speed_box(tsr_segmentation *segmentation, tsr_size3 begin, tsr_size3 end, tsr_volume **speed)
{
    TSR_NEEDS(segmentation, speed);
    tsr_segment_params params;
    tsr_segment_make_params(segmentation, &params);
    TSR_TRY(speed_of_box(segmentation, begin, end, &params, speed));
    return TSR_OK;
}
