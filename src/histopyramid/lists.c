/* histopyramid/lists.c: clouds of points and sparse matrices, made of the lists of a pyramid. */
#include <math.h>

#include "histopyramid/pyramid.h"

/* Builds a pyramid of the volume and lists it: entries or (indices != 0) u64 voxels. The caller releases *list of *bytes. */
static tsr_status listed(tsr_context *context, const tsr_volume *volume, const tsr_pyramid_options *options, int indices, tsr_pyramid **pyramid,
                         int64_t *count, int64_t *not_a_number, void **list, size_t *bytes)
{
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    TSR_TRY(tsr_pyramid_create(context, volume->size, options, pyramid));
    TSR_TRY(tsr_pyramid_build(*pyramid, volume));
    TSR_TRY(tsr_pyramid_describe(*pyramid, &info));
    const int32_t classes = tsr_maxi(options->channels, 1);
    if (not_a_number) *not_a_number = info.not_a_number;
    if (!indices && info.total > (uint64_t)classes * INT32_MAX) /* before memory is asked for; the count is right */
        TSR_FAIL(TSR_ERROR_CAPACITY, "points: %llu of them, expected at most 2^31 - 1: narrow the range", (unsigned long long)info.total);
    *count = (int64_t)info.total;
    *bytes = info.total * (indices ? sizeof(uint64_t) : sizeof(tsr_pyramid_entry));
    TSR_TRY(tsr_device_allocate(context, *bytes, list));
    if (indices) TSR_TRY(tsr_pyramid_indices(*pyramid, 0, *count, TSR_U64, *list));
    else TSR_TRY(tsr_pyramid_extract(*pyramid, 0, *count, (tsr_pyramid_entry *)*list));
    return TSR_OK;
}

/* Gradients along the index axes become world gradients by the inverse of the transposed matrix. */
static void normal_matrix(const tsr_geometry *g, double sign, double n[3][3])
{
    const double determinant = tsr_geometry_determinant(g);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            n[r][c] = sign * (g->affine[r1][c1] * g->affine[r2][c2] - g->affine[r1][c2] * g->affine[r2][c1]) / determinant;
        }
}

tsr_status tsr_points_of_class(tsr_context *context, const tsr_volume *volume, int64_t plane, const tsr_points_volume_options *o,
                               const tsr_pyramid *pyramid, int32_t channel, const tsr_pyramid_entry *entries, int64_t count, tsr_points **points)
{
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "points: %lld of them, expected at most 2^31 - 1: narrow the range", (long long)count);
    TSR_TRY(tsr_points_create(context, count, o->normals ? TSR_POINTS_NORMALS : 0, points));
    tsr_points_set_space(*points, volume->geometry.space);
    tsr_points_job job = { .classifier = tsr_class_of(&pyramid->classes, channel),
                           .count = count,
                           .first = channel * pyramid->classes.voxels,
                           .plane = plane,
                           .entries = entries,
                           .positions = tsr_points_positions(*points),
                           .normals = tsr_points_normals(*points) };
    if (pyramid->user.module) /* voxels, with the volume's own gradients */
        TSR_TRY(tsr_classifier_make("points", TSR_PYRAMID_NONZERO, 0, 0, volume, 1, &job.classifier));
    memcpy(job.affine, volume->geometry.affine, sizeof job.affine);
    normal_matrix(&volume->geometry, o->inward ? -1 : 1, job.normal);
    if (count) TSR_TRY(context->backend->pyramid->points(context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_points_check_rule(const tsr_pyramid_options *rule, tsr_points **points)
{
    for (int32_t c = 0; c < tsr_maxi(rule->channels, 1) && c < TSR_PYRAMID_CHANNELS; c++) {
        points[c] = NULL;
        if ((rule->classes ? rule->classes[c].classifier : rule->classifier) == TSR_PYRAMID_COUNTS)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "points: classifier counts, expected one that keeps voxels or edges: range, nonzero, label, ...");
    }
    if (rule->batch > 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: batch is %lld, expected one volume", (long long)rule->batch);
    return TSR_OK;
}

tsr_status tsr_points_from_classes(tsr_context *context, const tsr_volume *volume, const tsr_points_volume_options *options, tsr_points **points)
{
    TSR_NEEDS(context, volume, points);
    tsr_points_volume_options own;
    tsr_pyramid *pyramid = NULL;
    int64_t count = 0;
    size_t bytes = 0;
    void *entries = NULL, *there = NULL;
    uint64_t firsts[TSR_PYRAMID_CHANNELS + 1];
    tsr_status status;
    tsr_pyramid_options rule;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&rule, own.pyramid));
    const int32_t channels = tsr_maxi(rule.channels, 1);
    TSR_TRY(tsr_points_check_rule(&rule, points));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY_GOTO(listed(context, volume, &rule, 0, &pyramid, &count, own.not_a_number, &entries, &bytes), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof firsts, &there), done);
    TSR_TRY_GOTO(tsr_pyramid_firsts(pyramid, (uint64_t *)there), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, firsts, context, there, (size_t)(channels + 1) * sizeof *firsts), done);
    for (int32_t c = 0; c < channels; c++)
        TSR_TRY_GOTO(tsr_points_of_class(context, volume, 0, &own, pyramid, c, (const tsr_pyramid_entry *)entries + firsts[c],
                                         (int64_t)(firsts[c + 1] - firsts[c]), &points[c]),
                     done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done); /* the list is released */
done:
    if (there) tsr_device_release(context, there, sizeof firsts);
    tsr_device_release(context, entries, bytes);
    tsr_pyramid_destroy(&pyramid);
    for (int32_t c = 0; status != TSR_OK && c < channels && c < TSR_PYRAMID_CHANNELS; c++) tsr_points_destroy(&points[c]);
    return status;
}

tsr_status tsr_points_from_volume(tsr_context *context, const tsr_volume *volume, const tsr_points_volume_options *options, tsr_points **points)
{
    TSR_RETURNS(points);
    tsr_points_volume_options own;
    tsr_pyramid_options rule;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&rule, own.pyramid));
    if (rule.channels > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: channels is %d, expected one class: several are for tsr_points_from_classes", rule.channels);
    TSR_TRY(tsr_points_from_classes(context, volume, options, points));
    return TSR_OK;
}

tsr_status tsr_matrix_from_dense(tsr_context *context, const tsr_volume *dense, double tolerance, tsr_matrix *matrix)
{
    TSR_NEEDS(context, dense, matrix);
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *pyramid = NULL;
    tsr_volume *plain = NULL;
    size_t bytes = 0;
    void *places = NULL;
    tsr_status status;
    *matrix = (tsr_matrix){ .context = context };
    TSR_TRY(tsr_volume_require(context, dense, "dense"));
    if (dense->size.z != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix: dense of %lld x %lld x %lld, expected columns x rows x 1", (long long)dense->size.x,
                 (long long)dense->size.y, (long long)dense->size.z);
    if (dense->size.x > UINT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix: %lld columns, expected below 2^32", (long long)dense->size.x);
    options.classifier = TSR_PYRAMID_MAGNITUDE;
    options.order = TSR_PYRAMID_ROW;
    options.lower = tolerance;
    matrix->rows = dense->size.y;
    matrix->columns_count = dense->size.x;
    matrix->dtype = dense->dtype;
    /* stored values, whatever the scaling says */
    TSR_TRY_GOTO(tsr_volume_wrap(dense->context, dense->dtype, dense->size, NULL, dense->data, NULL, NULL, &plain), done);
    TSR_TRY_GOTO(listed(context, plain, &options, 1, &pyramid, &matrix->nonzeros, NULL, &places, &bytes), done);
    const size_t count = (size_t)matrix->nonzeros;
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)(matrix->rows + 1) * sizeof *matrix->starts, (void **)&matrix->starts), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, count * sizeof *matrix->columns, (void **)&matrix->columns), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, count * tsr_dtype_size(matrix->dtype), &matrix->values), done);
    const tsr_matrix_job job = { dense->data,    dense->dtype,    matrix->rows,  dense->size.x, matrix->nonzeros, (const uint64_t *)places,
                                 matrix->starts, matrix->columns, matrix->values };
    TSR_TRY_GOTO(context->backend->pyramid->matrix(context->queue, &pyramid->tree, &job), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done); /* the list is released */
done:
    tsr_device_release(context, places, bytes);
    tsr_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&plain);
    if (status != TSR_OK) tsr_matrix_destroy(matrix);
    return status;
}

tsr_status tsr_matrix_multiply(const tsr_matrix *m, tsr_dtype dtype, const void *x, void *y)
{
    TSR_NEEDS(x, y);
    if (!m || !m->context || !m->starts) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix: it is empty: tsr_matrix_from_dense makes it");
    if (dtype != TSR_F32 && dtype != TSR_F64) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix: vectors of type %s, expected f32 or f64", tsr_dtype_name(dtype));
    const uintptr_t from = (uintptr_t)x, to = (uintptr_t)y, size = tsr_dtype_size(dtype);
    if (from < to + (uintptr_t)m->rows * size && to < from + (uintptr_t)m->columns_count * size)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix: x and y overlap, expected vectors apart");
    const tsr_product_job job = { m->starts, m->columns, m->values, x, y, m->rows, m->dtype, dtype };
    TSR_TRY(m->context->backend->pyramid->product(m->context->queue, &job));
    return TSR_OK;
}

void tsr_matrix_destroy(tsr_matrix *m)
{
    if (!m || !m->context) return;
    if (m->starts) tsr_device_release(m->context, m->starts, (size_t)(m->rows + 1) * sizeof *m->starts);
    if (m->columns) tsr_device_release(m->context, m->columns, (size_t)m->nonzeros * sizeof *m->columns);
    if (m->values) tsr_device_release(m->context, m->values, (size_t)m->nonzeros * tsr_dtype_size(m->dtype));
    *m = (tsr_matrix){ 0 };
}
