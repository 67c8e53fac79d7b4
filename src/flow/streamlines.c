/* flow/streamlines.c: lines: plans, chunks, halves joined to lines, values at their points. */
#include "flow/streamlines.h"

#include <math.h>

#include "tessera/primitives.h"

static const char *const end_names[TSR_STREAM_ENDS] = { "not traced", "steps", "length", "border", "stagnant", "outside", "stiff" };
const char *tsr_stream_end_name(tsr_stream_end end) { return (unsigned)end < TSR_STREAM_ENDS ? end_names[end] : "unknown"; }

static const char *const attribute_names[TSR_STREAM_ATTRIBUTES] = { "speed", "curvature", "vorticity", "length", "parameter" };
const char *tsr_stream_attribute_name(tsr_stream_attribute a) { return (unsigned)a < TSR_STREAM_ATTRIBUTES ? attribute_names[a] : "unknown"; }
tsr_status tsr_stream_attribute_parse(const char *name, tsr_stream_attribute *attribute)
{
    TSR_NEEDS(name, attribute);
    for (int k = 0; k < TSR_STREAM_ATTRIBUTES; k++)
        if (!strcmp(name, attribute_names[k])) {
            *attribute = (tsr_stream_attribute)k;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is no attribute of lines, expected speed, curvature, vorticity, length or parameter", name);
}

/* ---- plans ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status check_numbers(const tsr_streamline_options *o)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = { { "step", o->step },         { "tolerance", o->tolerance },   { "min_step", o->min_step },
                    { "max_step", o->max_step }, { "max_length", o->max_length }, { "min_speed", o->min_speed } };
    if ((unsigned)o->method > TSR_STREAM_RK2) TSR_FAIL(TSR_ERROR_ARGUMENT, "method is %d, expected 0 to 3", (int)o->method);
    if ((unsigned)o->parameter > TSR_STREAM_TIME) TSR_FAIL(TSR_ERROR_ARGUMENT, "parameter is %d, expected 0 to 2", (int)o->parameter);
    if ((unsigned)o->direction > TSR_STREAM_BACKWARD) TSR_FAIL(TSR_ERROR_ARGUMENT, "direction is %d, expected 0 to 2", (int)o->direction);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (!(numbers[k].value >= 0) || !isfinite(numbers[k].value))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %g, expected 0 (the default) or a positive number", numbers[k].name, numbers[k].value);
    if (o->max_steps < 0 || o->max_steps > 10000000) TSR_FAIL(TSR_ERROR_ARGUMENT, "max_steps is %d, expected 1 to 10000000 (or 0 = 200)", o->max_steps);
    return TSR_OK;
}

tsr_status tsr_stream_plan_make(const tsr_vector_field *field, const tsr_streamline_options *options, tsr_stream_plan *plan)
{
    tsr_streamline_options o;
    TSR_TRY(tsr_field_require(field, "field"));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_numbers(&o));
    /* steps are world lengths inside; times where the parameter is one */
    const double unit = o.parameter == TSR_STREAM_TIME ? 1 : field->spacing;
    const double usual = o.parameter == TSR_STREAM_TIME ? field->speed_max > 0 ? 0.5 * field->spacing / field->speed_max : 1 : 0.5 * unit;
    const double step = o.step > 0 ? o.step * unit : usual, least = o.min_step > 0 ? o.min_step * unit : step / 1000;
    const double most = o.max_step > 0 ? o.max_step * unit : 10 * step;
    if (o.method == TSR_STREAM_DORMAND_PRINCE && !(least <= step && step <= most))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "steps of %g to %g with a first of %g, expected them in rising order", least / unit, most / unit, step / unit);
    if (o.parameter != TSR_STREAM_TIME && fmax(step, o.method == TSR_STREAM_DORMAND_PRINCE ? most : 0) > 1e5 * unit)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g cells (longest %g), expected at most 100000", step / unit, most / unit);
    if (!((float)step > 0) || !isfinite((float)step)) TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g, which is beyond float32", step);
    *plan = (tsr_stream_plan){ .field = field, .progress = o.progress };
    tsr_stream_job *j = &plan->job;
    *j = (tsr_stream_job){ .grid = field->grid,
                           .frames = 1,
                           .method = o.method,
                           .parameter = o.parameter,
                           .max_steps = o.max_steps ? o.max_steps : 200,
                           .step = (float)step,
                           .tolerance = (float)(o.tolerance > 0 ? o.tolerance : 1e-5),
                           .min_step = (float)least,
                           .max_step = (float)most,
                           .still = (float)((o.min_speed > 0 ? o.min_speed : 1e-6) * field->speed_max),
                           .max_length = o.max_length > 0 ? (float)o.max_length : INFINITY,
                           .sides = { o.direction != TSR_STREAM_FORWARD, o.direction != TSR_STREAM_BACKWARD } };
    return TSR_OK;
}

/* ---- tracing ---------------------------------------------------------------------------------------------------------------------------- */

typedef struct trace {
    const tsr_stream_plan *plan;
    tsr_context *context;
    tsr_streamlines *lines;
    int64_t chunk; /* lines at a time */
    void *path, *points, *ends, *totals, *offsets, *scratch;
    size_t path_bytes, points_bytes, ends_bytes, totals_bytes, offsets_bytes, scratch_bytes;
    int64_t room; /* points that the result has memory for */
} trace;

static void trace_free(trace *t)
{
    tsr_device_release(t->context, t->path, t->path_bytes);
    tsr_device_release(t->context, t->points, t->points_bytes);
    tsr_device_release(t->context, t->ends, t->ends_bytes);
    tsr_device_release(t->context, t->totals, t->totals_bytes);
    tsr_device_release(t->context, t->offsets, t->offsets_bytes);
    tsr_device_release(t->context, t->scratch, t->scratch_bytes);
}

static tsr_status take(tsr_context *context, int64_t count, size_t element, void **memory, size_t *bytes)
{
    TSR_TRY(tsr_device_allocate(context, (size_t)count * element, memory));
    *bytes = (size_t)count * element;
    return TSR_OK;
}

/* Paths of a chunk take 16 bytes a step: on a CPU they stay in its caches, a GPU wants many halves at once. */
static tsr_status trace_begin(trace *t)
{
    const tsr_stream_job *j = &t->plan->job;
    const int64_t budget = t->context->device.kind == TSR_DEVICE_CPU ? (int64_t)8 << 20 : (int64_t)1 << 30;
    const int64_t line = (int64_t)j->max_steps * 32;
    t->chunk = tsr_max64(t->context->device.kind == TSR_DEVICE_CPU ? 64 : 1024, budget / line);
    if (t->chunk > j->lines) t->chunk = j->lines;
    TSR_TRY(take(t->context, t->chunk, (size_t)line, &t->path, &t->path_bytes));
    TSR_TRY(take(t->context, 2 * t->chunk, sizeof(int32_t), &t->points, &t->points_bytes));
    TSR_TRY(take(t->context, 2 * t->chunk, 1, &t->ends, &t->ends_bytes));
    TSR_TRY(take(t->context, t->chunk, sizeof(uint32_t), &t->totals, &t->totals_bytes));
    TSR_TRY(take(t->context, t->chunk, sizeof(uint64_t), &t->offsets, &t->offsets_bytes));
    TSR_TRY(tsr_scan_workspace(t->context, t->chunk, &t->scratch_bytes));
    TSR_TRY(tsr_device_allocate(t->context, t->scratch_bytes, &t->scratch));
    return TSR_OK;
}

/* Longer arrays with the same beginning. */
static tsr_status grow(tsr_context *context, void **memory, size_t *bytes, size_t kept, size_t wanted)
{
    void *longer = NULL;
    TSR_TRY(tsr_device_allocate(context, wanted, &longer));
    tsr_status status = kept ? context->backend->copy(context->queue, longer, *memory, kept) : TSR_OK;
    if (status == TSR_OK) status = context->backend->synchronize(context->queue);
    if (status != TSR_OK) {
        tsr_device_release(context, longer, wanted);
        TSR_TRY(status);
    }
    tsr_device_release(context, *memory, *bytes);
    *memory = longer;
    *bytes = wanted;
    return TSR_OK;
}
static tsr_status reserve(trace *t, int64_t points)
{
    tsr_streamlines *l = t->lines;
    if (points <= t->room) return TSR_OK;
    const int64_t room = tsr_max64(points, l->points ? points + points / 2 : points);
    TSR_TRY(grow(t->context, &l->positions, &l->positions_bytes, (size_t)l->points * 12, (size_t)room * 12));
    TSR_TRY(grow(t->context, &l->parameter, &l->parameter_bytes, (size_t)l->points * 4, (size_t)room * 4));
    t->room = room;
    return TSR_OK;
}

/* Lines [first, first + count). */
static tsr_status trace_chunk(trace *t, int64_t first, int64_t count)
{
    const tsr_flow_ops *ops = t->context->backend->flow;
    tsr_streamlines *l = t->lines;
    tsr_stream_job job = t->plan->job;
    const int cpu = t->context->device.kind == TSR_DEVICE_CPU;
    job.at += first * job.stride;
    if (job.lengths) job.lengths += first;
    if (job.starts) job.starts += first;
    job.lines = count;
    job.path = (float *)t->path;
    job.half_stride = cpu ? 4 * (int64_t)job.max_steps : 4;
    job.point_stride = cpu ? 4 : 8 * count;
    job.points = (int32_t *)t->points;
    job.ends = (uint8_t *)t->ends;
    TSR_TRY(ops->trace(t->context->queue, &job));
    TSR_TRY(ops->totals(t->context->queue, job.points, count, (uint32_t *)t->totals));
    TSR_TRY(tsr_scan(t->context, TSR_SCAN_EXCLUSIVE, TSR_U32, t->totals, count, TSR_U64, t->offsets, t->scratch, t->scratch_bytes));
    int64_t *offsets = l->host_offsets + first;
    uint32_t last;
    TSR_TRY(t->context->backend->download(t->context->queue, offsets, t->offsets, (size_t)count * sizeof *offsets));
    TSR_TRY(t->context->backend->download(t->context->queue, &last, (const uint32_t *)t->totals + count - 1, sizeof last));
    TSR_TRY(t->context->backend->download(t->context->queue, l->ends + 2 * first, t->ends, (size_t)(2 * count)));
    const int64_t own = offsets[count - 1] + last;
    TSR_TRY(reserve(t, l->points + own));
    tsr_lines_job join = { .grid = job.grid,
                           .at = job.at,
                           .stride = job.stride,
                           .lines = count,
                           .path = job.path,
                           .half_stride = job.half_stride,
                           .point_stride = job.point_stride,
                           .points = job.points,
                           .offsets = (const uint64_t *)t->offsets,
                           .positions = (float *)l->positions + 3 * l->points,
                           .parameter = (float *)l->parameter + l->points };
    memcpy(join.affine, t->plan->field->geometry.affine, sizeof join.affine);
    TSR_TRY(ops->lines(t->context->queue, &join));
    for (int64_t k = 0; k < count; k++) offsets[k] += l->points;
    l->points += own;
    return TSR_OK;
}

static tsr_status new_lines(tsr_context *context, int64_t count, tsr_streamlines **lines)
{
    void *memory = NULL, *offsets = NULL, *ends = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **lines, &memory));
    *lines = (tsr_streamlines *)memory;
    **lines = (tsr_streamlines){ .context = context, .lines = count };
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)(count + 1) * sizeof(int64_t), &offsets), fail);
    (*lines)->host_offsets = (int64_t *)offsets;
    (*lines)->host_offsets[0] = 0;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)(2 * count + 1), &ends), fail);
    (*lines)->ends = (uint8_t *)ends;
    memset(ends, 0, (size_t)(2 * count + 1));
    return TSR_OK;
fail:
    tsr_streamlines_destroy(lines);
    return status;
}

/* The host's offsets to the device. */
static tsr_status upload_offsets(tsr_streamlines *l)
{
    const size_t bytes = (size_t)(l->lines + 1) * sizeof(uint64_t);
    l->host_offsets[l->lines] = l->points;
    if (!l->context) return TSR_OK;
    TSR_TRY(tsr_device_allocate(l->context, bytes, &l->offsets));
    l->offsets_bytes = bytes;
    TSR_TRY(l->context->backend->upload(l->context->queue, l->offsets, l->host_offsets, bytes));
    return TSR_OK;
}

tsr_status tsr_stream_run(const tsr_stream_plan *plan, tsr_streamlines **lines)
{
    trace t = { .plan = plan, .context = plan->field->context };
    tsr_status status;
    TSR_TRY(new_lines(t.context, plan->job.lines, lines));
    t.lines = *lines;
    t.lines->space = plan->field->geometry.space;
    t.lines->spacing = plan->field->spacing;
    if (plan->job.lines) TSR_TRY_GOTO(trace_begin(&t), fail);
    for (int64_t first = 0; first < plan->job.lines; first += t.chunk) {
        if (tsr_progress_report(&plan->progress, (double)first / (double)plan->job.lines, "tracing lines"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, fail, "cancelled during tracing lines");
        TSR_TRY_GOTO(trace_chunk(&t, first, tsr_min64(t.chunk, plan->job.lines - first)), fail);
    }
    TSR_TRY_GOTO(upload_offsets(t.lines), fail);
    TSR_TRY_GOTO(tsr_context_synchronize(t.context), fail);
    trace_free(&t);
    return TSR_OK;
fail:
    trace_free(&t);
    tsr_streamlines_destroy(lines);
    return status;
}

tsr_status tsr_stream_last(const tsr_stream_plan *plan, float *last, int32_t *points, uint8_t *ends)
{
    tsr_stream_job job = plan->job;
    job.path = last;
    job.keep_last = 1;
    job.half_stride = 4;
    job.points = points;
    job.ends = ends;
    TSR_TRY(plan->field->context->backend->flow->trace(plan->field->context->queue, &job));
    return TSR_OK;
}

/* ---- seeds of the caller ---------------------------------------------------------------------------------------------------------------- */

/* Index coordinates of world seeds on the device. */
static tsr_status upload_seeds(const tsr_vector_field *field, const double *seeds, int64_t count, void **device, size_t *bytes)
{
    void *host = NULL;
    tsr_status status;
    *device = NULL;
    *bytes = 0;
    if (count < 0 || (count && !seeds)) TSR_FAIL(TSR_ERROR_ARGUMENT, "seeds is NULL or their number below 0");
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "%lld seeds, expected at most 2^31 - 1", (long long)count);
    if (!count) return TSR_OK;
    const size_t size = (size_t)count * 3 * sizeof(double);
    TSR_TRY(tsr_host_allocate(NULL, size, &host));
    for (int64_t k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++)
            if (!isfinite(seeds[3 * k + i])) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "seed %lld is not finite", (long long)k);
        tsr_field_to_index(field, seeds + 3 * k, (double *)host + 3 * k);
        for (int i = 0; i < 3; i++) { /* on the border, but for rounding */
            double *at = (double *)host + 3 * k + i;
            const double most = (double)(field->grid.n[i] - 1);
            if (*at < 0 && *at > -1e-9 * most) *at = 0;
            if (*at > most && *at < most * (1 + 1e-9)) *at = most;
        }
    }
    TSR_TRY_GOTO(tsr_device_allocate(field->context, size, device), done);
    *bytes = size;
    TSR_TRY_GOTO(field->context->backend->upload(field->context->queue, *device, host, size), done);
done:
    tsr_host_release(NULL, host, 0);
    return status;
}

tsr_status tsr_streamlines_trace(const tsr_vector_field *field, const double *seeds, int64_t count, const tsr_streamline_options *options,
                                 tsr_streamlines **lines)
{
    TSR_RETURNS(lines);
    TSR_NEEDS(field);
    tsr_stream_plan plan;
    void *at = NULL;
    size_t bytes = 0;
    tsr_status status;
    TSR_TRY(tsr_stream_plan_make(field, options, &plan));
    TSR_TRY(upload_seeds(field, seeds, count, &at, &bytes));
    plan.job.at = (const double *)at;
    plan.job.stride = 3;
    plan.job.lines = count;
    TSR_TRY_GOTO(tsr_stream_run(&plan, lines), done);
done:
    tsr_device_release(field->context, at, bytes);
    return status;
}

/* ---- series ----------------------------------------------------------------------------------------------------------------------------- */

/* A plan through a series: steps are times, and it ends with the series. */
static tsr_status series_plan(const tsr_field_series *series, double start, const tsr_streamline_options *options, tsr_stream_plan *plan, void **memory,
                              size_t *bytes)
{
    tsr_streamline_options o;
    const float *const *frames;
    const double *times;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    o.struct_size = sizeof o;
    o.parameter = TSR_STREAM_TIME;
    if (o.direction == TSR_STREAM_BOTH) o.direction = TSR_STREAM_FORWARD;
    TSR_TRY(tsr_field_series_upload(series, memory, bytes, &frames, &times));
    TSR_TRY(tsr_stream_plan_make(series->fields[0], &o, plan));
    double speed = 0;
    for (int32_t k = 0; k < series->count; k++) speed = fmax(speed, series->fields[k]->speed_max);
    if (!(o.step > 0) && speed > 0) plan->job.step = (float)(0.5 * series->fields[0]->spacing / speed);
    plan->job.still = (float)((o.min_speed > 0 ? o.min_speed : 1e-6) * speed);
    plan->job.start = start;
    plan->series = series;
    if (series->count < 2) return TSR_OK;
    plan->job.frame = frames;
    plan->job.times = times;
    plan->job.frames = series->count;
    const double first = series->times[0], last = series->times[series->count - 1];
    if (!(start >= first && start <= last)) TSR_FAIL(TSR_ERROR_ARGUMENT, "start is %g, expected a time of the series, %g to %g", start, first, last);
    const double left = o.direction == TSR_STREAM_FORWARD ? last - start : start - first;
    if (!(left > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "start is %g, where the series %s: there is no way to go", start, start < last ? "begins" : "ends");
    if (left < (double)plan->job.max_length) plan->job.max_length = (float)left;
    return TSR_OK;
}

tsr_status tsr_streamlines_paths(const tsr_field_series *series, double start, const double *seeds, int64_t count, const tsr_streamline_options *options,
                                 tsr_streamlines **lines)
{
    TSR_RETURNS(lines);
    tsr_stream_plan plan;
    void *memory = NULL, *at = NULL;
    size_t bytes = 0, at_bytes = 0;
    tsr_status status;
    if (!series || series->count < 1 || !series->fields || !series->fields[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "series has no field");
    tsr_context *context = series->fields[0]->context;
    TSR_TRY_GOTO(series_plan(series, start, options, &plan, &memory, &bytes), done);
    TSR_TRY_GOTO(upload_seeds(plan.field, seeds, count, &at, &at_bytes), done);
    plan.job.at = (const double *)at;
    plan.job.stride = 3;
    plan.job.lines = count;
    TSR_TRY_GOTO(tsr_stream_run(&plan, lines), done);
done:
    tsr_device_release(context, at, at_bytes);
    tsr_device_release(context, memory, bytes);
    return status;
}

/* Particle r of a seed starts at start + (end - start) r / (releases - 1) and goes to `end`. */
static tsr_status streaks(tsr_stream_plan *plan, double start, double end, int32_t releases, const double *seeds, int64_t count, tsr_streamlines **lines)
{
    const int64_t all = count * releases;
    tsr_context *context = plan->field->context;
    void *host = NULL, *device = NULL, *at = NULL;
    size_t at_bytes = 0;
    tsr_status status;
    /* host: seeds [all][3], starts, lengths [all]; device: starts, lengths, last [2 all][4], points [2 all], ends [2 all] */
    const size_t numbers = (size_t)all * 2 * sizeof(float), last = (size_t)all * 8 * sizeof(float), points = (size_t)all * 2 * sizeof(int32_t);
    const size_t device_bytes = numbers + last + points + (size_t)all * 2;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)all * 3 * sizeof(double) + device_bytes, &host));
    double *each = (double *)host;
    float *starts = (float *)(void *)(each + 3 * all), *lengths = starts + all, *ends_at = lengths + all;
    int32_t *taken = (int32_t *)(void *)(ends_at + 8 * all);
    uint8_t *why = (uint8_t *)(taken + 2 * all);
    for (int64_t k = 0; k < count; k++)
        for (int32_t r = 0; r < releases; r++) {
            const double after = (end - start) * r / (releases - 1);
            memcpy(each + 3 * (k * releases + r), seeds + 3 * k, 3 * sizeof(double));
            starts[k * releases + r] = (float)after;
            lengths[k * releases + r] = (float)(end - start - after);
        }
    TSR_TRY_GOTO(upload_seeds(plan->field, each, all, &at, &at_bytes), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, device_bytes, &device), done);
    TSR_TRY_GOTO(context->backend->upload(context->queue, device, starts, numbers), done);
    float *d = (float *)device;
    plan->job.at = (const double *)at;
    plan->job.stride = 3;
    plan->job.lines = all;
    plan->job.starts = d;
    plan->job.lengths = d + all;
    plan->job.max_length = INFINITY;
    plan->job.max_steps = INT32_MAX;
    float *device_last = d + 2 * all;
    int32_t *device_points = (int32_t *)(void *)(device_last + 8 * all);
    TSR_TRY_GOTO(tsr_stream_last(plan, device_last, device_points, (uint8_t *)(device_points + 2 * all)), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, ends_at, device_last, last + points + (size_t)all * 2), done);
    /* what arrived becomes lines; the younger a particle, the later in the line */
    TSR_TRY_GOTO(new_lines(context, count, lines), done);
    tsr_streamlines *l = *lines;
    l->space = plan->field->geometry.space;
    l->spacing = plan->field->spacing;
    void *out = NULL;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)all * 4 * sizeof(float), &out), fail);
    float *positions = (float *)out, *parameter = positions + 3 * all;
    int64_t to = 0;
    for (int64_t k = 0; k < count; k++) {
        l->host_offsets[k] = to;
        l->ends[2 * k + 1] = TSR_STREAM_LENGTH;
        for (int32_t r = 0; r < releases; r++) {
            const int64_t n = k * releases + r;
            if (why[2 * n + 1] != TSR_STREAM_LENGTH) continue;
            double p[3];
            tsr_field_to_index(plan->field, each + 3 * n, p);
            for (int i = 0; taken[2 * n + 1] && i < 3; i++) p[i] = (double)ends_at[8 * n + 4 + i];
            const tsr_vec3 world = tsr_geometry_to_world(&plan->field->geometry, (tsr_vec3){ p[0], p[1], p[2] });
            positions[3 * to] = (float)world.x;
            positions[3 * to + 1] = (float)world.y;
            positions[3 * to + 2] = (float)world.z;
            parameter[to++] = lengths[n];
        }
    }
    l->points = to;
    status = grow(context, &l->positions, &l->positions_bytes, 0, (size_t)(to ? to : 1) * 12);
    if (status == TSR_OK) status = grow(context, &l->parameter, &l->parameter_bytes, 0, (size_t)(to ? to : 1) * 4);
    if (status == TSR_OK && to) status = context->backend->upload(context->queue, l->positions, positions, (size_t)to * 12);
    if (status == TSR_OK && to) status = context->backend->upload(context->queue, l->parameter, parameter, (size_t)to * 4);
    if (status == TSR_OK) status = upload_offsets(l);
    tsr_host_release(NULL, out, 0);
    if (status == TSR_OK) goto done;
fail:
    tsr_streamlines_destroy(lines);
done:
    tsr_device_release(context, device, device_bytes);
    tsr_device_release(context, at, at_bytes);
    tsr_host_release(NULL, host, 0);
    return status;
}

tsr_status tsr_streamlines_streaks(const tsr_field_series *series, double start, double end, int32_t releases, const double *seeds, int64_t count,
                                   const tsr_streamline_options *options, tsr_streamlines **lines)
{
    TSR_RETURNS(lines);
    tsr_streamline_options o;
    tsr_stream_plan plan;
    void *memory = NULL;
    size_t bytes = 0;
    tsr_status status;
    if (!series || series->count < 1 || !series->fields || !series->fields[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "series has no field");
    if (!(end > start) || !isfinite(end - start)) TSR_FAIL(TSR_ERROR_ARGUMENT, "streaks from %g to %g, expected times in rising order", start, end);
    if (releases < 2 || releases > 1000000) TSR_FAIL(TSR_ERROR_ARGUMENT, "releases is %d, expected 2 to 1000000", releases);
    if (count < 0 || (count && !seeds) || count > INT32_MAX / releases)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld seeds of %d releases: NULL, or more than 2^31 - 1 particles", (long long)count, releases);
    if (series->count > 1 && series->times && end > series->times[series->count - 1])
        TSR_FAIL(TSR_ERROR_ARGUMENT, "end is %g, expected a time of the series, up to %g", end, series->times[series->count - 1]);
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    o.struct_size = sizeof o;
    o.direction = TSR_STREAM_FORWARD;
    tsr_context *context = series->fields[0]->context;
    TSR_TRY_GOTO(series_plan(series, start, &o, &plan, &memory, &bytes), done);
    TSR_TRY_GOTO(streaks(&plan, start, end, releases, seeds, count, lines), done);
done:
    tsr_device_release(context, memory, bytes);
    return status;
}

tsr_status tsr_field_ftle(const tsr_field_series *series, const tsr_ftle_options *options, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    enum { CHUNK = 1 << 20 };
    tsr_ftle_options o;
    tsr_stream_plan plan;
    void *memory = NULL, *at = NULL, *map = NULL, *host = NULL;
    size_t bytes = 0, at_bytes = 0, map_bytes = 0;
    tsr_status status;
    if (!series || series->count < 1 || !series->fields || !series->fields[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "series has no field");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!(fabs(o.duration) > 0) || !isfinite(o.duration)) TSR_FAIL(TSR_ERROR_ARGUMENT, "duration is %g, expected a time that is not 0", o.duration);
    const tsr_streamline_options lines = { .struct_size = sizeof lines,
                                           .direction = o.duration > 0 ? TSR_STREAM_FORWARD : TSR_STREAM_BACKWARD,
                                           .step = o.step != 0 ? fabs(o.step) : fabs(o.duration) / 100,
                                           .max_length = fabs(o.duration),
                                           .min_speed = 1e-30 };
    const tsr_vector_field *f = series->fields[0];
    tsr_context *context = f->context;
    TSR_TRY_GOTO(series_plan(series, o.start, &lines, &plan, &memory, &bytes), done);
    if ((double)plan.job.max_length < fabs(o.duration) * (1 - 1e-6))
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "duration is %g, which leads beyond the series: from %g there are %g left", o.duration, o.start,
                      (double)plan.job.max_length);
    const int64_t all = tsr_flow_samples(&f->grid), chunk = tsr_min64(CHUNK, all);
    const int side = o.duration > 0;
    map_bytes = (size_t)all * 16;
    at_bytes = (size_t)chunk * (24 + 32 + 8 + 2);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)chunk * (24 + 32), &host), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, map_bytes, &map), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, at_bytes, &at), done);
    plan.job.max_steps = INT32_MAX;
    for (int64_t first = 0; first < all; first += chunk) {
        const int64_t count = tsr_min64(chunk, all - first);
        float *halves = (float *)host; /* first: a device takes them four at a time */
        double *seeds = (double *)(void *)(halves + 8 * chunk);
        if (tsr_progress_report(&o.progress, (double)first / (double)all, "advecting particles"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during advecting particles");
        for (int64_t k = 0; k < count; k++) {
            int32_t p[3];
            tsr_flow_unrank(&f->grid, first + k, p);
            for (int i = 0; i < 3; i++) seeds[3 * k + i] = p[i];
            for (int i = 0; i < 8; i++) halves[8 * k + i] = i % 4 < 3 ? (float)p[i % 4] : 0; /* where it stays if there is no step */
        }
        float *last = (float *)at;
        double *from = (double *)(void *)(last + 8 * chunk);
        int32_t *points = (int32_t *)(void *)(from + 3 * chunk);
        TSR_TRY_GOTO(context->backend->upload(context->queue, from, seeds, (size_t)count * 24), done);
        TSR_TRY_GOTO(context->backend->upload(context->queue, last, halves, (size_t)count * 32), done);
        plan.job.at = from;
        plan.job.stride = 3;
        plan.job.lines = count;
        TSR_TRY_GOTO(tsr_stream_last(&plan, last, points, (uint8_t *)(points + 2 * chunk)), done);
        TSR_TRY_GOTO(context->backend->download(context->queue, halves, last, (size_t)count * 32), done);
        for (int64_t k = 0; k < count; k++) memmove(halves + 4 * k, halves + 8 * k + 4 * side, 16);
        TSR_TRY_GOTO(context->backend->upload(context->queue, (float *)map + 4 * first, halves, (size_t)count * 16), done);
    }
    TSR_TRY_GOTO(tsr_field_volume(f, volume), done);
    const tsr_ftle_job job = { .grid = f->grid, .map = (const float *)map, .duration = fabs(o.duration), .out = (float *)(*volume)->data };
    status = context->backend->flow->ftle(context->queue, &job);
    if (status == TSR_OK) status = context->backend->synchronize(context->queue);
    if (status != TSR_OK) tsr_volume_destroy(volume);
done:
    tsr_device_release(context, at, at ? at_bytes : 0);
    tsr_device_release(context, map, map ? map_bytes : 0);
    tsr_device_release(context, memory, bytes);
    tsr_host_release(NULL, host, 0);
    return status;
}

/* ---- lines as they are ------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_streamlines_create(tsr_context *context, const float *positions, const int64_t *offsets, int64_t count, tsr_streamlines **streamlines)
{
    TSR_RETURNS(streamlines);
    TSR_NEEDS(context);
    tsr_status status;
    if (count < 0 || !offsets || offsets[0] != 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "offsets is NULL or does not begin with 0");
    for (int64_t k = 0; k < count; k++)
        if (offsets[k + 1] < offsets[k]) TSR_FAIL(TSR_ERROR_ARGUMENT, "offsets do not ascend at line %lld", (long long)k);
    const int64_t points = offsets[count];
    if (points && !positions) TSR_FAIL(TSR_ERROR_ARGUMENT, "positions is NULL");
    for (int64_t k = 0; k < 3 * points; k++)
        if (!isfinite(positions[k])) TSR_FAIL(TSR_ERROR_ARGUMENT, "point %lld is not finite", (long long)(k / 3));
    TSR_TRY(new_lines(context, count, streamlines));
    tsr_streamlines *l = *streamlines;
    memcpy(l->host_offsets, offsets, (size_t)(count + 1) * sizeof *offsets);
    l->points = points;
    TSR_TRY_GOTO(grow(context, &l->positions, &l->positions_bytes, 0, (size_t)(points + !points) * 12), fail);
    TSR_TRY_GOTO(grow(context, &l->parameter, &l->parameter_bytes, 0, (size_t)(points + !points) * 4), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, l->parameter, 0, l->parameter_bytes), fail);
    if (points) TSR_TRY_GOTO(context->backend->upload(context->queue, l->positions, positions, (size_t)points * 12), fail);
    TSR_TRY_GOTO(upload_offsets(l), fail);
    return TSR_OK;
fail:
    tsr_streamlines_destroy(streamlines);
    return status;
}

void tsr_streamlines_destroy(tsr_streamlines **lines)
{
    if (!lines || !*lines) return;
    tsr_streamlines *l = *lines;
    tsr_device_release(l->context, l->offsets, l->offsets_bytes);
    tsr_device_release(l->context, l->positions, l->positions_bytes);
    tsr_device_release(l->context, l->parameter, l->parameter_bytes);
    tsr_host_release(NULL, l->host_offsets, 0);
    tsr_host_release(NULL, l->ends, 0);
    tsr_host_release(NULL, l, 0);
    *lines = NULL;
}

int64_t tsr_streamlines_count(const tsr_streamlines *l) { return l ? l->lines : 0; }
int64_t tsr_streamlines_point_count(const tsr_streamlines *l) { return l ? l->points : 0; }
const int64_t *tsr_streamlines_offsets(const tsr_streamlines *l) { return l ? l->host_offsets : NULL; }
const uint8_t *tsr_streamlines_ends(const tsr_streamlines *l) { return l ? l->ends : NULL; }
const float *tsr_streamlines_positions(const tsr_streamlines *l) { return l ? (const float *)l->positions : NULL; }
const float *tsr_streamlines_parameter(const tsr_streamlines *l) { return l ? (const float *)l->parameter : NULL; }

tsr_status tsr_streamlines_download(const tsr_streamlines *lines, float *positions, float *parameter)
{
    TSR_NEEDS(lines);
    if (positions && lines->points)
        TSR_TRY(lines->context->backend->download(lines->context->queue, positions, lines->positions, (size_t)lines->points * 12));
    if (parameter && lines->points)
        TSR_TRY(lines->context->backend->download(lines->context->queue, parameter, lines->parameter, (size_t)lines->points * 4));
    return TSR_OK;
}

tsr_status tsr_streamlines_attribute(const tsr_streamlines *lines, const tsr_vector_field *field, tsr_stream_attribute attribute, float *values)
{
    TSR_NEEDS(lines, field);
    if ((unsigned)attribute >= TSR_STREAM_ATTRIBUTES) TSR_FAIL(TSR_ERROR_ARGUMENT, "attribute is %d, expected 0 to %d", (int)attribute, TSR_STREAM_ATTRIBUTES - 1);
    if (lines->points && !values) TSR_FAIL(TSR_ERROR_ARGUMENT, "values is NULL");
    if (!lines->points) return TSR_OK;
    if (attribute == TSR_STREAM_AT_PARAMETER) {
        TSR_TRY(lines->context->backend->copy(lines->context->queue, values, lines->parameter, (size_t)lines->points * 4));
        return TSR_OK;
    }
    tsr_values_job job = { .attribute = attribute,
                           .count = lines->points,
                           .lines = lines->lines,
                           .offsets = (const uint64_t *)lines->offsets,
                           .positions = (const float *)lines->positions,
                           .parameter = (const float *)lines->parameter,
                           .values = values };
    if (attribute == TSR_STREAM_AT_LENGTH) {
        TSR_TRY(lines->context->backend->flow->lengths(lines->context->queue, &job));
        return TSR_OK;
    }
    TSR_TRY(tsr_field_require(field, "field"));
    if (field->context != lines->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: lives in another context than the lines");
    job.grid = field->grid;
    memcpy(job.inverse, field->inverse, sizeof job.inverse);
    TSR_TRY(lines->context->backend->flow->values(lines->context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_streamlines_values(const tsr_streamlines *lines, const tsr_vector_field *field, tsr_stream_attribute attribute, float *values)
{
    TSR_NEEDS(lines, field);
    void *device = NULL;
    tsr_status status;
    if (lines->points && !values) TSR_FAIL(TSR_ERROR_ARGUMENT, "values is NULL");
    const size_t bytes = (size_t)lines->points * sizeof(float);
    if (!bytes) return TSR_OK;
    TSR_TRY(tsr_device_allocate(lines->context, bytes, &device));
    TSR_TRY_GOTO(tsr_streamlines_attribute(lines, field, attribute, (float *)device), done);
    TSR_TRY_GOTO(lines->context->backend->download(lines->context->queue, values, device, bytes), done);
done:
    tsr_device_release(lines->context, device, bytes);
    return status;
}

tsr_status tsr_streamlines_length(const tsr_streamlines *lines, double *length)
{
    TSR_NEEDS(lines, length);
    void *host = NULL;
    tsr_status status;
    *length = 0;
    if (!lines->points) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)lines->points * 12, &host));
    TSR_TRY_GOTO(tsr_streamlines_download(lines, (float *)host, NULL), done);
    for (int64_t line = 0; line < lines->lines; line++) {
        double own = 0;
        for (int64_t k = lines->host_offsets[line] + 1; k < lines->host_offsets[line + 1]; k++) own += tsr_chord((const float *)host, k - 1, k);
        *length += own;
    }
done:
    tsr_host_release(NULL, host, 0);
    return status;
}
