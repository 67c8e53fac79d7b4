/* flow/contours.c: seeds of a view: counts, HistoPyramid, list. */
#include "flow/contours.h"

#include <math.h>

tsr_status tsr_contours_create(const tsr_vector_field *field, const tsr_contour_options *options, tsr_contours **contours)
{
    TSR_RETURNS(contours);
    TSR_NEEDS(field);
    tsr_status status;
    void *memory = NULL;
    tsr_contour_options own;
    TSR_TRY(tsr_field_require(field, "field"));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!isfinite(own.coincidence) || own.coincidence > 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "coincidence is %g, expected at most 1", own.coincidence);
    if (!isfinite(own.merge) || own.merge > 0.5) TSR_FAIL(TSR_ERROR_ARGUMENT, "merge is %g cells, expected at most 0.5", own.merge);
    if (!(own.thinning >= 0 && own.thinning <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "thinning is %g cells, expected 0 or more", own.thinning);
    if (own.coincidence == 0) own.coincidence = 1e-5;
    if (own.merge == 0) own.merge = 1e-5;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **contours, &memory));
    tsr_contours *c = (tsr_contours *)memory;
    *c = (tsr_contours){ .context = field->context, .field = field, .options = own };
    tsr_pyramid_options pyramid = TSR_PYRAMID_OPTIONS;
    pyramid.classifier = TSR_PYRAMID_COUNTS;
    pyramid.order = TSR_PYRAMID_ROW;
    pyramid.implicit_base = 1;
    pyramid.most = 6;
    TSR_TRY_GOTO(tsr_volume_create(c->context, TSR_U8, field->size, NULL, &c->counts), fail);
    TSR_TRY_GOTO(tsr_pyramid_create(c->context, field->size, &pyramid, &c->pyramid), fail);
    *contours = c;
    return TSR_OK;
fail:
    tsr_contours_destroy(&c);
    return status;
}

void tsr_contours_destroy(tsr_contours **contours)
{
    if (!contours || !*contours) return;
    tsr_contours *c = *contours;
    tsr_pyramid_destroy(&c->pyramid);
    tsr_volume_destroy(&c->counts);
    tsr_device_release(c->context, c->entries, c->entries_bytes);
    tsr_device_release(c->context, c->seeds, c->seeds_bytes);
    tsr_host_release(NULL, c, 0);
    *contours = NULL;
}

tsr_status tsr_contours_set_field(tsr_contours *contours, const tsr_vector_field *field)
{
    TSR_NEEDS(contours, field);
    TSR_TRY(tsr_field_require(field, "field"));
    if (field->context != contours->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: lives in another context than the contours");
    if (field->size.x != contours->field->size.x || field->size.y != contours->field->size.y || field->size.z != contours->field->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "field: %lld x %lld x %lld samples, expected %lld x %lld x %lld as the contours were made for",
                 (long long)field->size.x, (long long)field->size.y, (long long)field->size.z, (long long)contours->field->size.x,
                 (long long)contours->field->size.y, (long long)contours->field->size.z);
    contours->field = field;
    contours->count = 0;
    return TSR_OK;
}

/* ---- views ------------------------------------------------------------------------------------------------------------------------------ */

static double quadratic(double m[3][3], const double r[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sum += r[i] * m[i][k] * r[k];
    return sum > 0 ? sum : 0;
}

/* The mean square of r . v over the samples is r^T (mean of v v^T) r. Below 10^-12 of the mean square of v the field is constant or planar. */
static tsr_status check_defined(const tsr_vector_field *f, const tsr_contour_view *view, int second_order, const double r[3])
{
    double m[2][3][3], trace[2] = { 0, 0 };
    memcpy(m, f->moment, sizeof m);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) trace[k] += m[k][i][i];
    if (!(trace[0] > 0)) TSR_FAIL(TSR_ERROR_STATE, "the field is 0 everywhere: no contours are defined");
    /* of a constant field w is 0 but for rounding: |w| below 10^-6 |v|^2 a cell */
    const double still = 1e-6 * trace[0] / f->spacing;
    if (!(trace[1] > still * still) && !(view->perspective && second_order))
        TSR_FAIL(TSR_ERROR_STATE, "T vanishes identically (the field is constant along its stream lines): no contours are defined");
    if (view->perspective) return TSR_OK;
    if (quadratic(m[0], r) <= 1e-12 * trace[0])
        TSR_FAIL(TSR_ERROR_STATE, "S vanishes identically (a planar field seen along its normal): no contours are defined, look from elsewhere");
    if (quadratic(m[1], r) <= 1e-12 * trace[1])
        TSR_FAIL(TSR_ERROR_STATE, "T vanishes identically (the acceleration is perpendicular to the view everywhere): no contours are defined, look "
                                  "from elsewhere");
    return TSR_OK;
}

tsr_status tsr_contours_job(const tsr_contours *contours, const tsr_contour_view *view, tsr_contour_job *job)
{
    if (!view) TSR_FAIL(TSR_ERROR_ARGUMENT, "view is NULL");
    const tsr_vector_field *f = contours->field;
    const double given[3] = { view->direction.x, view->direction.y, view->direction.z }, eye[3] = { view->eye.x, view->eye.y, view->eye.z };
    double r[3] = { 0, 0, 0 }, at[3];
    *job = (tsr_contour_job){ .grid = f->grid,
                              .perspective = view->perspective != 0,
                              .second_order = contours->options.second_order != 0,
                              .tolerance = contours->options.coincidence,
                              .merge = contours->options.merge,
                              .counts = (uint8_t *)tsr_volume_data(contours->counts) };
    if (view->perspective) {
        for (int i = 0; i < 3; i++)
            if (!isfinite(eye[i])) TSR_FAIL(TSR_ERROR_ARGUMENT, "the eye is at %g, %g, %g, expected finite numbers", eye[0], eye[1], eye[2]);
        tsr_field_to_index(f, eye, at);
        for (int i = 0; i < 3; i++) job->eye[i] = (float)at[i];
    } else {
        const double length = sqrt(given[0] * given[0] + given[1] * given[1] + given[2] * given[2]);
        if (!(length > 0) || !isfinite(length))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "the direction of view is %g, %g, %g, expected a finite direction that is not 0", given[0], given[1], given[2]);
        for (int i = 0; i < 3; i++) r[i] = given[i] / length;
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += f->grid.axis[k][i] * r[k];
            job->r[i] = (float)(f->grid.h[i] * sum);
        }
    }
    TSR_TRY(check_defined(f, view, job->second_order, r));
    return TSR_OK;
}

tsr_status tsr_contours_select(tsr_contours *c, const tsr_contour_job *job, int64_t *total)
{
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    TSR_TRY(c->context->backend->flow->count(c->context->queue, job));
    TSR_TRY(tsr_pyramid_build(c->pyramid, c->counts));
    TSR_TRY(tsr_pyramid_describe(c->pyramid, &info));
    *total = (int64_t)info.total;
    return TSR_OK;
}

/* Room for so many, a quarter to spare, kept from view to view. */
static tsr_status room(tsr_context *context, void **memory, size_t *bytes, int64_t count, size_t element)
{
    const size_t need = (size_t)count * element;
    if (need <= *bytes) return TSR_OK;
    tsr_device_release(context, *memory, *bytes);
    *memory = NULL;
    *bytes = 0;
    TSR_TRY(tsr_device_allocate(context, need + need / 4, memory));
    *bytes = need + need / 4;
    return TSR_OK;
}

/* ---- thinning --------------------------------------------------------------------------------------------------------------------------- */

/* Cells of the least distance; each holds a chain of the seeds that stay. Later seeds too near to an earlier one go. */
static tsr_status thin(double distance, tsr_contour_seed *seeds, int64_t *count)
{
    int64_t buckets = 64, kept = 0;
    void *memory = NULL;
    while (buckets < 2 * *count) buckets *= 2;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(buckets + *count) * sizeof(int64_t), &memory));
    int64_t *head = (int64_t *)memory, *next = head + buckets;
    for (int64_t k = 0; k < buckets; k++) head[k] = -1;
    for (int64_t n = 0; n < *count; n++) {
        const tsr_contour_seed s = seeds[n];
        int64_t cell[3];
        int near = 0;
        for (int i = 0; i < 3; i++) cell[i] = (int64_t)floor(s.at[i] / distance);
        uint64_t own = 0;
        for (int k = 0; k < 27 && !near; k++) {
            const int64_t there[3] = { cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1 };
            const uint64_t bucket = ((uint64_t)there[0] * 73856093u ^ (uint64_t)there[1] * 19349663u ^ (uint64_t)there[2] * 83492791u) & (uint64_t)(buckets - 1);
            if (k == 13) own = bucket;
            for (int64_t m = head[bucket]; m >= 0 && !near; m = next[m]) {
                double square = 0;
                for (int i = 0; i < 3; i++) square += (seeds[m].at[i] - s.at[i]) * (seeds[m].at[i] - s.at[i]);
                near = square < distance * distance;
            }
        }
        if (near) continue;
        if (!own) own = ((uint64_t)cell[0] * 73856093u ^ (uint64_t)cell[1] * 19349663u ^ (uint64_t)cell[2] * 83492791u) & (uint64_t)(buckets - 1);
        seeds[kept] = s;
        next[kept] = head[own];
        head[own] = kept++;
    }
    *count = kept;
    tsr_host_release(NULL, memory, 0);
    return TSR_OK;
}

static tsr_status thin_on_host(tsr_contours *c, int64_t *coincident)
{
    void *host = NULL;
    tsr_status status;
    const size_t bytes = (size_t)c->count * sizeof(tsr_contour_seed);
    TSR_TRY(tsr_host_allocate(NULL, bytes, &host));
    tsr_contour_seed *seeds = (tsr_contour_seed *)host;
    TSR_TRY_GOTO(tsr_contours_download(c, 0, c->count, seeds), done);
    if (c->options.thinning > 0) {
        TSR_TRY_GOTO(thin(c->options.thinning, seeds, &c->count), done);
        TSR_TRY_GOTO(c->context->backend->upload(c->context->queue, c->seeds, host, (size_t)c->count * sizeof(tsr_contour_seed)), done);
    }
    for (int64_t k = 0; k < c->count; k++) *coincident += seeds[k].coincident;
done:
    tsr_host_release(NULL, host, 0);
    return status;
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_contours_update(tsr_contours *contours, const tsr_contour_view *view, tsr_contour_info *info)
{
    TSR_NEEDS(contours);
    tsr_contour_job job;
    tsr_contour_info own = TSR_CONTOUR_INFO;
    int64_t total;
    contours->count = 0;
    TSR_TRY(tsr_contours_job(contours, view, &job));
    TSR_TRY(tsr_contours_select(contours, &job, &total));
    TSR_TRY(room(contours->context, &contours->entries, &contours->entries_bytes, total, sizeof(tsr_pyramid_entry)));
    TSR_TRY(room(contours->context, &contours->seeds, &contours->seeds_bytes, total, sizeof(tsr_contour_seed)));
    if (total) {
        TSR_TRY(tsr_pyramid_extract(contours->pyramid, 0, total, (tsr_pyramid_entry *)contours->entries));
        job.entries = (const tsr_pyramid_entry *)contours->entries;
        job.seeds = (tsr_contour_seed *)contours->seeds;
        job.seeds_count = total;
        TSR_TRY(contours->context->backend->flow->seeds(contours->context->queue, &job));
    }
    contours->count = total;
    if (total && (info || contours->options.thinning > 0)) TSR_TRY(thin_on_host(contours, &own.coincident));
    own.seeds = contours->count;
    own.thinned = total - contours->count;
    own.device_bytes = tsr_volume_count(contours->counts) + (int64_t)(contours->entries_bytes + contours->seeds_bytes);
    return info ? TSR_STRUCT_GIVE(info, &own) : TSR_OK;
}

const tsr_contour_seed *tsr_contours_seeds(const tsr_contours *contours, int64_t *count)
{
    if (count) *count = contours ? contours->count : 0;
    return contours ? (const tsr_contour_seed *)contours->seeds : NULL;
}

tsr_status tsr_contours_download(const tsr_contours *contours, int64_t first, int64_t count, tsr_contour_seed *seeds)
{
    TSR_NEEDS(contours);
    if (first < 0 || count < 0 || first > contours->count || count > contours->count - first)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "seeds %lld to %lld, expected numbers within the %lld of the last update", (long long)first,
                 (long long)(first + count), (long long)contours->count);
    if (count && !seeds) TSR_FAIL(TSR_ERROR_ARGUMENT, "seeds is NULL");
    if (count)
        TSR_TRY(contours->context->backend->download(contours->context->queue, seeds, (const tsr_contour_seed *)contours->seeds + first,
                                                     (size_t)count * sizeof *seeds));
    return TSR_OK;
}

tsr_status tsr_contours_volume(const tsr_contours *contours, const tsr_contour_view *view, int which, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(contours, view);
    tsr_contour_job job;
    tsr_status status;
    if (which != 0 && which != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "which is %d, expected 0 (S) or 1 (T)", which);
    TSR_TRY(tsr_contours_job(contours, view, &job));
    TSR_TRY(tsr_field_volume(contours->field, volume));
    job.volume = (float *)tsr_volume_data(*volume);
    job.which = which;
    TSR_TRY_GOTO(contours->context->backend->flow->side(contours->context->queue, &job), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------------------ */

static double smooth(const double edge[2], double x)
{
    const double t = edge[1] > edge[0] ? (x - edge[0]) / (edge[1] - edge[0]) : x >= edge[0];
    return t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t);
}

static tsr_status relevance_take(const tsr_contour_relevance *relevance, tsr_contour_relevance *own)
{
    TSR_TRY(TSR_OPTIONS_TAKE(own, relevance));
    if (own->curvature[0] == 0 && own->curvature[1] == 0) own->curvature[0] = 0.002, own->curvature[1] = 0.02;
    if (own->angle[0] == 0 && own->angle[1] == 0) own->angle[0] = 0.05, own->angle[1] = 0.3;
    for (int k = 0; k < 2; k++) {
        const double *edge = k ? own->angle : own->curvature;
        if (!(edge[0] >= 0 && edge[1] >= edge[0]) || !isfinite(edge[1]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "relevance: the steps of %s are %g and %g, expected 0 or more in rising order", k ? "angle" : "curvature", edge[0],
                     edge[1]);
    }
    return TSR_OK;
}

tsr_status tsr_contours_trace(const tsr_contours *contours, const tsr_contour_relevance *relevance, const tsr_streamline_options *options,
                              tsr_streamlines **lines)
{
    TSR_RETURNS(lines);
    TSR_NEEDS(contours);
    tsr_contour_relevance own;
    tsr_stream_plan plan = { .series = NULL };
    void *host = NULL, *lengths = NULL;
    size_t bytes = 0;
    tsr_status status;
    TSR_TRY(relevance_take(relevance, &own));
    TSR_TRY(tsr_stream_plan_make(contours->field, options, &plan));
    if (own.use && contours->count) {
        const size_t seed_bytes = (size_t)contours->count * sizeof(tsr_contour_seed);
        const double full = isfinite(plan.job.max_length) ? (double)plan.job.max_length : (double)plan.job.step * plan.job.max_steps;
        bytes = (size_t)contours->count * sizeof(float);
        TSR_TRY(tsr_host_allocate(NULL, seed_bytes + bytes, &host));
        tsr_contour_seed *seeds = (tsr_contour_seed *)host;
        float *length = (float *)(void *)(seeds + contours->count);
        TSR_TRY_GOTO(tsr_contours_download(contours, 0, contours->count, seeds), done);
        for (int64_t k = 0; k < contours->count; k++)
            length[k] = (float)(full * smooth(own.curvature, (double)seeds[k].curvature * contours->field->spacing) *
                                smooth(own.angle, (double)seeds[k].angle));
        TSR_TRY_GOTO(tsr_device_allocate(contours->context, bytes, &lengths), done);
        TSR_TRY_GOTO(contours->context->backend->upload(contours->context->queue, lengths, length, bytes), done);
        plan.job.lengths = (const float *)lengths;
    }
    plan.job.at = contours->count ? ((const tsr_contour_seed *)contours->seeds)->at : NULL;
    plan.job.stride = (int64_t)(sizeof(tsr_contour_seed) / sizeof(double));
    plan.job.lines = contours->count;
    TSR_TRY_GOTO(tsr_stream_run(&plan, lines), done);
done:
    tsr_device_release(contours->context, lengths, bytes);
    tsr_host_release(NULL, host, 0);
    return status;
}
