#include "volume/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume_ops.h"

/* ---- geometry --------------------------------------------------------------------------------------------------------------- */

tsr_geometry tsr_geometry_make(tsr_vec3 spacing, tsr_vec3 origin, tsr_space space)
{
    return (tsr_geometry){ { { spacing.x, 0, 0, origin.x }, { 0, spacing.y, 0, origin.y }, { 0, 0, spacing.z, origin.z } }, space };
}

static double column_length(const tsr_geometry *g, int c)
{
    return sqrt(g->affine[0][c] * g->affine[0][c] + g->affine[1][c] * g->affine[1][c] + g->affine[2][c] * g->affine[2][c]);
}

tsr_vec3 tsr_geometry_spacing(const tsr_geometry *g)
{
    if (!g) return (tsr_vec3){ 0 };
    return (tsr_vec3){ column_length(g, 0), column_length(g, 1), column_length(g, 2) };
}

double tsr_geometry_determinant(const tsr_geometry *g)
{
    if (!g) return 0;
    const double(*a)[4] = g->affine;
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

tsr_status tsr_geometry_check_perpendicular(const tsr_geometry *geometry, const char *name)
{
    TSR_NEEDS(geometry, name);
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            const double dot = geometry->affine[0][i] * geometry->affine[0][j] + geometry->affine[1][i] * geometry->affine[1][j] +
                               geometry->affine[2][i] * geometry->affine[2][j];
            const double cosine = dot / (column_length(geometry, i) * column_length(geometry, j));
            if (fabs(cosine) > 1e-3)
                TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                         "%s: the index axes %c and %c make an angle of %.4g degrees, expected perpendicular ones: resample the volume to a grid "
                         "that has them (tessera convert --deshear)",
                         name, "xyz"[i], "xyz"[j], acos(fmax(-1, fmin(1, cosine))) * 57.29577951308232);
        }
    return TSR_OK;
}

tsr_status tsr_geometry_check(const tsr_geometry *geometry)
{
    TSR_NEEDS(geometry);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            if (!isfinite(geometry->affine[r][c]))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "geometry: affine[%d][%d] is %g, expected a finite number", r, c, geometry->affine[r][c]);
    tsr_vec3 s = tsr_geometry_spacing(geometry);
    if (!(s.x > 0 && s.y > 0 && s.z > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "geometry: spacing %g x %g x %g, expected positive numbers", s.x, s.y, s.z);
    double d = fabs(tsr_geometry_determinant(geometry));
    if (!(d > 1e-9 * s.x * s.y * s.z) || !isfinite(d)) TSR_FAIL(TSR_ERROR_ARGUMENT, "geometry: the index to world matrix is not invertible (determinant %g)", d);
    return TSR_OK;
}

tsr_vec3 tsr_geometry_to_world(const tsr_geometry *g, tsr_vec3 p)
{
    if (!g) return (tsr_vec3){ 0 };
    const double(*a)[4] = g->affine;
    return (tsr_vec3){ a[0][0] * p.x + a[0][1] * p.y + a[0][2] * p.z + a[0][3], a[1][0] * p.x + a[1][1] * p.y + a[1][2] * p.z + a[1][3],
                       a[2][0] * p.x + a[2][1] * p.y + a[2][2] * p.z + a[2][3] };
}

tsr_status tsr_geometry_to_index(const tsr_geometry *geometry, tsr_vec3 w, tsr_vec3 *index)
{
    TSR_NEEDS(geometry, index);
    TSR_TRY(tsr_geometry_check(geometry));
    const double(*a)[4] = geometry->affine;
    double d = tsr_geometry_determinant(geometry), x = w.x - a[0][3], y = w.y - a[1][3], z = w.z - a[2][3];
    index->x = (x * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) + y * (a[0][2] * a[2][1] - a[0][1] * a[2][2]) + z * (a[0][1] * a[1][2] - a[0][2] * a[1][1])) / d;
    index->y = (x * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) + y * (a[0][0] * a[2][2] - a[0][2] * a[2][0]) + z * (a[0][2] * a[1][0] - a[0][0] * a[1][2])) / d;
    index->z = (x * (a[1][0] * a[2][1] - a[1][1] * a[2][0]) + y * (a[0][1] * a[2][0] - a[0][0] * a[2][1]) + z * (a[0][0] * a[1][1] - a[0][1] * a[1][0])) / d;
    return TSR_OK;
}

tsr_geometry tsr_geometry_convert(const tsr_geometry *g, tsr_space space)
{
    if (!g) return (tsr_geometry){ 0 };
    tsr_geometry out = *g;
    if (g->space == TSR_SPACE_NONE || space == TSR_SPACE_NONE || g->space == space) return out;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++) out.affine[r][c] = -g->affine[r][c];
    out.space = space;
    return out;
}

tsr_status tsr_geometry_require_same(const tsr_geometry *a, const tsr_geometry *b, const char *what, const char *advice)
{
    tsr_geometry other = tsr_geometry_convert(b, a->space);
    tsr_vec3 spacing = tsr_geometry_spacing(a);
    double tolerance = 1e-4 * fmin(spacing.x, fmin(spacing.y, spacing.z));
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++) {
            double x = a->affine[row][column], y = other.affine[row][column];
            if (fabs(x - y) > (column < 3 ? tolerance : 10 * tolerance))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the geometries differ: %s %c of world %c is %.9g and %.9g; %s", what,
                         column < 3 ? "component for index" : "origin", column < 3 ? 'x' + column : 'x' + row, 'x' + row, x, y, advice);
        }
    return TSR_OK;
}

/* ---- volumes ---------------------------------------------------------------------------------------------------------------- */

static tsr_status create_header(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry, tsr_volume **volume)
{
    *volume = NULL;
    if (!tsr_dtype_size(dtype)) TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: element type %d, expected TSR_U8 to TSR_F64", (int)dtype);
    int64_t bytes;
    TSR_TRY(tsr_size_bytes(size, tsr_dtype_size(dtype), "volume", &bytes));
    tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    if (geometry) TSR_TRY(tsr_geometry_check(geometry));
    TSR_TRY(tsr_host_allocate(context ? &context->host_allocator : NULL, sizeof **volume, (void **)volume));
    **volume = (tsr_volume){ .context = context, .dtype = dtype, .size = size, .bytes = bytes, .geometry = geometry ? *geometry : unit, .slope = 1 };
    return TSR_OK;
}

static tsr_status create(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry, int zero, tsr_volume **volume)
{
    tsr_status status;
    TSR_TRY(create_header(context, dtype, size, geometry, volume));
    tsr_volume *v = *volume;
    if (context) {
        TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)v->bytes, &v->data), fail);
        if (zero) TSR_TRY_GOTO(context->backend->fill(context->queue, v->data, 0, (size_t)v->bytes), fail);
    } else {
        v->data = calloc(1, (size_t)v->bytes); /* fresh pages are zero already: a large volume costs nothing until it is written */
        if (!v->data) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "volume of %lld x %lld x %lld %s: out of host memory (%lld bytes asked for)",
                                    (long long)size.x, (long long)size.y, (long long)size.z, tsr_dtype_name(dtype), (long long)v->bytes);
    }
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

tsr_status tsr_volume_create(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_TRY(create(context, dtype, size, geometry, 1, volume));
    return TSR_OK;
}

tsr_status tsr_volume_create_like(tsr_context *context, const tsr_volume *like, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry,
                                  tsr_volume **volume)
{
    tsr_status status;
    TSR_TRY(create(context, dtype, size, geometry, 0, volume));
    TSR_TRY_GOTO(tsr_volume_copy_header(*volume, like), fail);
    (*volume)->geometry = *geometry;
    (*volume)->slope = 1;
    (*volume)->intercept = 0;
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

tsr_status tsr_volume_wrap(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry, void *data,
                           void (*release)(void *user, void *data), void *user, tsr_volume **volume)
{
    TSR_NEEDS(volume);
    tsr_status status = data ? create_header(context, dtype, size, geometry, volume)
                             : TSR_FAILED(TSR_ERROR_ARGUMENT, "volume: the memory to wrap is NULL");
    if (status != TSR_OK) {
        if (release && data) release(user, data);
        *volume = NULL;
        return status;
    }
    (*volume)->data = data;
    (*volume)->release = release;
    (*volume)->release_user = user;
    (*volume)->borrowed = 1;
    return TSR_OK;
}

void tsr_volume_destroy(tsr_volume **volume)
{
    if (!volume || !*volume) return;
    tsr_volume *v = *volume;
    *volume = NULL;
    if (v->borrowed) {
        if (v->release) v->release(v->release_user, v->data);
    } else if (v->context) {
        tsr_device_release(v->context, v->data, (size_t)v->bytes);
    } else {
        free(v->data);
    }
    for (int32_t i = 0; i < v->meta_count; i++) {
        free(v->meta[i].key);
        free(v->meta[i].value);
    }
    free(v->meta);
    tsr_host_release(v->context ? &v->context->host_allocator : NULL, v, sizeof *v);
}

tsr_dtype tsr_volume_dtype(const tsr_volume *v) { return v ? v->dtype : (tsr_dtype)0; }
tsr_size3 tsr_volume_size(const tsr_volume *v) { return v ? v->size : (tsr_size3){ 0 }; }
int64_t tsr_samples_nan(tsr_dtype dtype, const void *samples, int64_t count)
{
    int64_t found = 0;
    if (dtype == TSR_F32)
        for (int64_t k = 0; k < count; k++) found += ((const float *)samples)[k] != ((const float *)samples)[k];
    if (dtype == TSR_F64)
        for (int64_t k = 0; k < count; k++) found += ((const double *)samples)[k] != ((const double *)samples)[k];
    return found;
}
int64_t tsr_volume_count(const tsr_volume *v) { return v ? v->size.x * v->size.y * v->size.z : 0; }
tsr_device tsr_volume_device(const tsr_volume *v)
{
    if (!v) return (tsr_device){ 0 };
    return v->context ? v->context->device : (tsr_device){ TSR_DEVICE_CPU, 0 };
}
void *tsr_volume_data(tsr_volume *v) { return v ? (v->read_only ? NULL : v->data) : NULL; }
const void *tsr_volume_data_const(const tsr_volume *v) { return v ? v->data : NULL; }
const tsr_geometry *tsr_volume_geometry(const tsr_volume *v) { return &v->geometry; }

tsr_status tsr_volume_set_geometry(tsr_volume *volume, const tsr_geometry *geometry)
{
    TSR_NEEDS(volume, geometry);
    TSR_TRY(tsr_geometry_check(geometry));
    volume->geometry = *geometry;
    return TSR_OK;
}

void tsr_volume_scaling(const tsr_volume *v, double *slope, double *intercept)
{
    if (!v || !slope || !intercept) return;
    *slope = v->slope;
    *intercept = v->intercept;
}

tsr_status tsr_volume_set_scaling(tsr_volume *volume, double slope, double intercept)
{
    TSR_NEEDS(volume);
    if (!isfinite(slope) || slope == 0 || !isfinite(intercept))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: slope %g and intercept %g, expected finite numbers and a slope other than 0", slope, intercept);
    volume->slope = slope;
    volume->intercept = intercept;
    return TSR_OK;
}

const char *tsr_volume_meta(const tsr_volume *v, const char *key)
{
    if (!v || !key) return NULL;
    for (int32_t i = 0; i < v->meta_count; i++)
        if (!strcmp(v->meta[i].key, key)) return v->meta[i].value;
    return NULL;
}

#define CHANNEL_AXIS "image.channel_axis"
enum { MOST_CHANNELS = 4 };

int32_t tsr_volume_channels(const tsr_volume *v)
{
    if (!v) return 0;
    const char *axis = tsr_volume_meta(v, CHANNEL_AXIS);
    return axis && !strcmp(axis, "z") && v->size.z <= MOST_CHANNELS ? (int32_t)v->size.z : 0;
}

tsr_status tsr_volume_set_channels(tsr_volume *volume)
{
    TSR_NEEDS(volume);
    if (volume->size.z > MOST_CHANNELS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %lld channels, expected 1 to %d", (long long)volume->size.z, (int)MOST_CHANNELS);
    TSR_TRY(tsr_volume_set_meta(volume, CHANNEL_AXIS, "z"));
    return TSR_OK;
}

int tsr_volume_meta_at(const tsr_volume *v, int32_t index, const char **key, const char **value)
{
    if (!v || !key || !value) return 0;
    if (index < 0 || index >= v->meta_count) return 0;
    *key = v->meta[index].key;
    *value = v->meta[index].value;
    return 1;
}

tsr_status tsr_volume_set_meta(tsr_volume *volume, const char *key, const char *value)
{
    TSR_NEEDS(volume);
    int32_t at = 0;
    while (at < volume->meta_count && strcmp(volume->meta[at].key, key)) at++;
    if (!value) {
        if (at == volume->meta_count) return TSR_OK;
        free(volume->meta[at].key);
        free(volume->meta[at].value);
        memmove(&volume->meta[at], &volume->meta[at + 1], (size_t)(volume->meta_count - at - 1) * sizeof *volume->meta); /* keeps the order */
        volume->meta_count--;
        return TSR_OK;
    }
    char *copy = strdup(value);
    if (!copy) TSR_FAIL(TSR_ERROR_MEMORY, "volume metadata '%.40s': out of memory", key);
    if (at < volume->meta_count) {
        free(volume->meta[at].value);
        volume->meta[at].value = copy;
        return TSR_OK;
    }
    struct tsr_meta *grown = (struct tsr_meta *)realloc(volume->meta, (size_t)(volume->meta_count + 1) * sizeof *grown);
    if (grown) volume->meta = grown;
    char *name = grown ? strdup(key) : NULL;
    if (!name) {
        free(copy);
        TSR_FAIL(TSR_ERROR_MEMORY, "volume metadata '%.40s': out of memory", key);
    }
    volume->meta[volume->meta_count++] = (struct tsr_meta){ name, copy };
    return TSR_OK;
}

int tsr_volume_holds_labels(const tsr_volume *v)
{
    if (!v) return 0;
    enum { NIFTI_INTENT_LABEL = 1002 };
    const char *intent = tsr_volume_meta(v, "nifti.intent_code");
    if (v->dtype == TSR_F32 || v->dtype == TSR_F64) return 0;
    return (intent && strtol(intent, NULL, 10) == NIFTI_INTENT_LABEL) || tsr_volume_meta(v, "Segment0_ID") != NULL;
}

tsr_status tsr_volume_copy_header(tsr_volume *to, const tsr_volume *from)
{
    to->geometry = from->geometry;
    to->slope = from->slope;
    to->intercept = from->intercept;
    for (int32_t i = 0; i < from->meta_count; i++) TSR_TRY(tsr_volume_set_meta(to, from->meta[i].key, from->meta[i].value));
    return TSR_OK;
}

tsr_status tsr_volume_require(const tsr_context *context, const tsr_volume *volume, const char *name)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!volume) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", name);
    tsr_device d = tsr_volume_device(volume);
    if (volume->context == context || (!volume->context && context->device.kind == TSR_DEVICE_CPU)) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s lives on %s:%d and the context is %s:%d%s: copy it with tsr_volume_copy", name, tsr_device_kind_name(d.kind),
             d.index, tsr_device_kind_name(context->device.kind), context->device.index,
             volume->context && d.kind == context->device.kind ? " (another context)" : "");
}

tsr_status tsr_volume_copy(const tsr_volume *volume, tsr_context *context, tsr_volume **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(volume);
    tsr_status status;
    TSR_TRY(tsr_volume_create(context, volume->dtype, volume->size, &volume->geometry, copy));
    TSR_TRY_GOTO(tsr_volume_copy_header(*copy, volume), fail);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->data, volume->context, volume->data, (size_t)volume->bytes), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(copy);
    return status;
}

tsr_status tsr_volume_convert(tsr_context *context, const tsr_volume *volume, tsr_dtype dtype, tsr_volume **converted)
{
    TSR_RETURNS(converted);
    TSR_NEEDS(context, volume);
    tsr_status status;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY(tsr_volume_create_like(context, volume, dtype, volume->size, &volume->geometry, converted));
    if (dtype == volume->dtype && volume->slope == 1 && volume->intercept == 0) {
        TSR_TRY_GOTO(context->backend->copy(context->queue, (*converted)->data, volume->data, (size_t)volume->bytes), fail);
        return TSR_OK;
    }
    tsr_source source = tsr_volume_source(volume);
    TSR_TRY_GOTO(context->backend->volume->convert(context->queue, &source, (*converted)->data, dtype, tsr_volume_count(volume)), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(converted);
    return status;
}
