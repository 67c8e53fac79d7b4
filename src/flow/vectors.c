/* flow/vectors.c: vector fields: made of volumes, described, probed, derived. */
#include "flow/vectors.h"

#include <math.h>
#include <stdio.h>

#include "core/parallel.h"
#include "volume/voxel.h"

tsr_status tsr_field_require(const tsr_vector_field *field, const char *name)
{
    if (!field) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL, expected a vector field", name);
    return TSR_OK;
}

tsr_status tsr_field_require_same(const tsr_vector_field *field, const tsr_vector_field *other, const char *what)
{
    TSR_TRY(tsr_field_require(other, what));
    if (other->context != field->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lives in another context, expected the same for all", what);
    if (other->size.x != field->size.x || other->size.y != field->size.y || other->size.z != field->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld x %lld x %lld samples, expected %lld x %lld x %lld as the first has", what, (long long)other->size.x,
                 (long long)other->size.y, (long long)other->size.z, (long long)field->size.x, (long long)field->size.y, (long long)field->size.z);
    TSR_TRY(tsr_geometry_require_same(&field->geometry, &other->geometry, what, "fields of one series lie in the same place"));
    return TSR_OK;
}

void tsr_field_to_index(const tsr_vector_field *f, const double world[3], double index[3])
{
    for (int i = 0; i < 3; i++) index[i] = f->inverse[i][0] * world[0] + f->inverse[i][1] * world[1] + f->inverse[i][2] * world[2] + f->inverse[i][3];
}

tsr_status tsr_field_volume(const tsr_vector_field *field, tsr_volume **volume)
{
    TSR_TRY(tsr_volume_create(field->context, TSR_F32, field->size, &field->geometry, volume));
    return TSR_OK;
}

/* ---- making ----------------------------------------------------------------------------------------------------------------------------- */

/* Spacing, axes and the inverse of perpendicular axes. */
static void place(tsr_vector_field *f)
{
    const tsr_geometry *g = &f->geometry;
    tsr_field_grid *grid = &f->grid;
    grid->n[0] = (int32_t)f->size.x;
    grid->n[1] = (int32_t)f->size.y;
    grid->n[2] = (int32_t)f->size.z;
    grid->sy = 4 * f->size.x;
    grid->sz = grid->sy * f->size.y;
    for (int i = 0; i < 3; i++) {
        const double *a[3] = { g->affine[0], g->affine[1], g->affine[2] };
        grid->h[i] = sqrt(a[0][i] * a[0][i] + a[1][i] * a[1][i] + a[2][i] * a[2][i]);
        grid->m[i] = (float)(grid->h[i] * grid->h[i]);
        grid->origin[i] = a[i][3];
        for (int r = 0; r < 3; r++) grid->axis[r][i] = a[r][i] / grid->h[i];
    }
    for (int i = 0; i < 3; i++) {
        double shift = 0;
        for (int r = 0; r < 3; r++) {
            f->inverse[i][r] = grid->axis[r][i] / grid->h[i];
            shift -= f->inverse[i][r] * grid->origin[r];
        }
        f->inverse[i][3] = shift;
    }
    f->spacing = fmin(grid->h[0], fmin(grid->h[1], grid->h[2]));
    f->hand = tsr_geometry_determinant(g) < 0 ? -1 : 1;
}

struct gather {
    const tsr_vector_field *field;
    const tsr_volume *const *from;
    float *v;
    int64_t bad[3]; /* of each component, the first sample that is not finite */
};
static void gather_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct gather *g = (struct gather *)user;
    const tsr_field_grid *grid = &g->field->grid;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        double world[3];
        for (int r = 0; r < 3; r++) {
            const tsr_volume *from = g->from[r];
            world[r] = tsr_voxel_real(tsr_voxel_load(from->data, from->dtype, k), from->slope, from->intercept);
            int64_t seen = isfinite((float)world[r]) ? INT64_MAX : __atomic_load_n(&g->bad[r], __ATOMIC_RELAXED);
            if (isfinite((float)world[r])) continue;
            while (k < seen && !__atomic_compare_exchange_n(&g->bad[r], &seen, k, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
            world[r] = 0;
        }
        for (int i = 0; i < 3; i++)
            g->v[4 * k + i] = (float)((grid->axis[0][i] * world[0] + grid->axis[1][i] * world[1] + grid->axis[2][i] * world[2]) / grid->h[i]);
        g->v[4 * k + 3] = 0;
    }
}

static tsr_status check_components(const tsr_volume *const from[3])
{
    for (int r = 0; r < 3; r++) {
        if (!from[r]) TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c is NULL, expected three volumes", "xyz"[r]);
        if (from[r]->context && from[r]->context->device.kind != TSR_DEVICE_CPU)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c lives on a device, expected host memory", "xyz"[r]);
        if (from[r]->size.x != from[0]->size.x || from[r]->size.y != from[0]->size.y || from[r]->size.z != from[0]->size.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c has %lld x %lld x %lld samples, expected %lld x %lld x %lld as x has", "xyz"[r],
                     (long long)from[r]->size.x, (long long)from[r]->size.y, (long long)from[r]->size.z, (long long)from[0]->size.x,
                     (long long)from[0]->size.y, (long long)from[0]->size.z);
        TSR_TRY(
            tsr_geometry_require_same(&from[0]->geometry, &from[r]->geometry, "components of a vector field", "they are numbers at the same places"));
    }
    const int64_t n[3] = { from[0]->size.x, from[0]->size.y, from[0]->size.z };
    for (int i = 0; i < 3; i++)
        if (n[i] < 2 || n[i] > INT32_MAX / 4)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "vector field: %lld samples along %c, expected at least 2 (and at most 2^29)", (long long)n[i], "xyz"[i]);
    TSR_TRY(tsr_geometry_check(&from[0]->geometry));
    TSR_TRY(tsr_geometry_check_perpendicular(&from[0]->geometry, "vector field"));
    return TSR_OK;
}

/* Means of the products in the world: axis m axis^T. */
static void turn(const tsr_field_grid *g, const double sum[6], double count, double out[3][3])
{
    const double m[3][3] = { { sum[0], sum[3], sum[4] }, { sum[3], sum[1], sum[5] }, { sum[4], sum[5], sum[2] } };
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double total = 0;
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) total += g->axis[r][i] * m[i][k] * g->axis[c][k];
            out[r][c] = total / count;
        }
}

static tsr_status sums(tsr_vector_field *f)
{
    const size_t bytes = (size_t)f->size.z * sizeof(tsr_field_moments);
    void *device = NULL, *host = NULL;
    tsr_field_moments all = { { 0, 0 }, { 0 } };
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, bytes, &host));
    TSR_TRY_GOTO(tsr_device_allocate(f->context, bytes, &device), done);
    TSR_TRY_GOTO(f->context->backend->flow->moments(f->context->queue, &f->grid, (tsr_field_moments *)device), done);
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, host, device, bytes), done);
    for (int64_t z = 0; z < f->size.z; z++) tsr_field_moments_add(&all, (const tsr_field_moments *)host + z);
    for (int k = 0; k < 2; k++) turn(&f->grid, all.sum + 6 * k, (double)tsr_flow_samples(&f->grid), f->moment[k]);
    f->speed_max = sqrt(all.most[0]);
    f->accel_max = sqrt(all.most[1]);
done:
    tsr_device_release(f->context, device, bytes);
    tsr_host_release(NULL, host, 0);
    return status;
}

/* The longest vector, its components times `scale`. */
static double longest(const double scale[3], const float *v, int64_t count)
{
    double most = 0;
    for (int64_t k = 0; k < count; k++) {
        double square = 0;
        for (int i = 0; i < 3; i++) square += scale[i] * (double)v[4 * k + i] * (scale[i] * (double)v[4 * k + i]);
        if (square > most) most = square;
    }
    return sqrt(most);
}

/* Squares of speeds are float32: beyond the one they would be infinite, below the other 0, and so is the whole field then. */
static const double fastest = 1e18, slowest = 1e-18;

tsr_status tsr_field_create(tsr_context *context, const tsr_volume *const components[3], tsr_vector_field **field)
{
    TSR_RETURNS(field);
    TSR_NEEDS(context, components);
    tsr_status status;
    void *host = NULL, *v = NULL, *w = NULL, *memory = NULL;
    TSR_TRY(check_components(components));
    TSR_TRY(tsr_host_allocate(NULL, sizeof **field, &memory));
    tsr_vector_field *f = (tsr_vector_field *)memory;
    memset(f, 0, sizeof *f);
    f->context = context;
    f->size = components[0]->size;
    f->geometry = components[0]->geometry;
    place(f);
    const int64_t count = tsr_flow_samples(&f->grid);
    f->bytes = (size_t)count * 4 * sizeof(float);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, f->bytes, &host), fail);
    struct gather g = { f, components, (float *)host, { INT64_MAX, INT64_MAX, INT64_MAX } };
    tsr_parallel(context->threads, count, 8192, gather_range, &g);
    for (int r = 0; r < 3; r++)
        if (g.bad[r] != INT64_MAX)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail,
                          "vector field: component %c of sample %lld, %lld, %lld is not a finite number, expected all to be", "xyz"[r],
                          (long long)(g.bad[r] % f->size.x), (long long)(g.bad[r] / f->size.x % f->size.y),
                          (long long)(g.bad[r] / f->size.x / f->size.y));
    const double ones[3] = { 1, 1, 1 }, cells = longest(ones, (const float *)host, count);
    double most = longest(f->grid.h, (const float *)host, count);
    if (!(fmax(most, cells) <= fastest))
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail,
                      "vector field: its longest vector is %.3g long, and %.3g cells, expected at most %g: scale the numbers", most, cells, fastest);
    if (fmin(most, cells) < slowest) {
        memset(host, 0, f->bytes);
        most = 0;
    }
    f->grid.still = 1e-6 * most; /* the speed below which there is no direction is a share of the largest, which is known from v alone */
    TSR_TRY_GOTO(tsr_device_allocate(context, f->bytes, &v), fail);
    f->grid.v = (float *)v;
    TSR_TRY_GOTO(tsr_device_allocate(context, f->bytes, &w), fail);
    f->grid.w = (float *)w;
    TSR_TRY_GOTO(context->backend->upload(context->queue, v, host, f->bytes), fail);
    const tsr_derive_job job = { .grid = f->grid, .v = (float *)v, .w = (float *)w };
    TSR_TRY_GOTO(context->backend->flow->derive(context->queue, &job), fail);
    TSR_TRY_GOTO(sums(f), fail);
    tsr_host_release(NULL, host, 0);
    *field = f;
    return TSR_OK;
fail:
    tsr_host_release(NULL, host, 0);
    tsr_field_destroy(&f);
    return status;
}

void tsr_field_destroy(tsr_vector_field **field)
{
    if (!field || !*field) return;
    tsr_vector_field *f = *field;
    tsr_device_release(f->context, (void *)(uintptr_t)f->grid.v, f->grid.v ? f->bytes : 0);
    tsr_device_release(f->context, (void *)(uintptr_t)f->grid.w, f->grid.w ? f->bytes : 0);
    tsr_host_release(NULL, f, 0);
    *field = NULL;
}

/* ---- looking ---------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_field_describe(const tsr_vector_field *field, tsr_field_info *info)
{
    TSR_NEEDS(field, info);
    TSR_TRY(tsr_field_require(field, "field"));
    tsr_field_info own = TSR_FIELD_INFO;
    own.size = field->size;
    own.geometry = field->geometry;
    own.speed_max = field->speed_max;
    own.accel_max = field->accel_max;
    own.speed_rms = sqrt(field->moment[0][0][0] + field->moment[0][1][1] + field->moment[0][2][2]);
    own.accel_rms = sqrt(field->moment[1][0][0] + field->moment[1][1][1] + field->moment[1][2][2]);
    own.device_bytes = (int64_t)(2 * field->bytes);
    return TSR_STRUCT_GIVE(info, &own);
}

/* Along the axes of the world. */
static tsr_vec3 world_vector(const tsr_field_grid *g, tsr_f4 v)
{
    double out[3] = { 0, 0, 0 };
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++) out[r] += g->axis[r][i] * g->h[i] * (double)v[i];
    return (tsr_vec3){ out[0], out[1], out[2] };
}

/* The eight samples around a place are fetched: a probe is for a few places. */
tsr_status tsr_field_probe(const tsr_vector_field *field, const double *positions, int64_t count, tsr_vector_sample *samples)
{
    TSR_NEEDS(field);
    TSR_TRY(tsr_field_require(field, "field"));
    if (count < 0 || (count && (!positions || !samples))) TSR_FAIL(TSR_ERROR_ARGUMENT, "probe: positions or samples is NULL, or count is below 0");
    tsr_context *context = field->context;
    for (int64_t k = 0; k < count; k++) {
        float corner[2][2][2][8];
        int32_t c[3];
        float t[3];
        for (int i = 0; i < 3; i++) {
            const double most = (double)(field->grid.n[i] - 1), at = positions[3 * k + i];
            if (!isfinite(at)) TSR_FAIL(TSR_ERROR_ARGUMENT, "probe: position %lld is not finite", (long long)k);
            const double inside = at < 0 ? 0 : at > most ? most : at;
            c[i] = (int32_t)fmin(floor(inside), most - 1);
            t[i] = (float)(inside - c[i]);
        }
        for (int z = 0; z < 2; z++)
            for (int y = 0; y < 2; y++) {
                const int64_t from = tsr_field_at(&field->grid, c[0], c[1] + y, c[2] + z);
                TSR_TRY(context->backend->download(context->queue, corner[0][z][y], field->grid.v + from, 32));
                TSR_TRY(context->backend->download(context->queue, corner[1][z][y], field->grid.w + from, 32));
            }
        const tsr_f4 v = tsr_f4_trilinear(&corner[0][0][0][0], 8, 16, t[0], t[1], t[2]);
        const tsr_f4 w = tsr_f4_trilinear(&corner[1][0][0][0], 8, 16, t[0], t[1], t[2]);
        samples[k] = (tsr_vector_sample){ world_vector(&field->grid, v), world_vector(&field->grid, w), (double)v[3], (double)w[3] };
    }
    return TSR_OK;
}

/* ---- derived volumes -------------------------------------------------------------------------------------------------------------------- */

static const char *const quantities[TSR_FIELD_QUANTITIES] = { "speed",    "curvature", "vorticity", "divergence", "q",
                                                              "helicity", "curl-x",    "curl-y",    "curl-z" };

const char *tsr_field_quantity_name(tsr_field_quantity quantity)
{
    return (unsigned)quantity < TSR_FIELD_QUANTITIES ? quantities[quantity] : "unknown";
}

tsr_status tsr_field_quantity_parse(const char *name, tsr_field_quantity *quantity)
{
    TSR_NEEDS(name, quantity);
    for (int k = 0; k < TSR_FIELD_QUANTITIES; k++)
        if (!strcmp(name, quantities[k])) {
            *quantity = (tsr_field_quantity)k;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT,
             "'%.40s' is no quantity of a vector field, expected speed, curvature, vorticity, divergence, q, helicity, curl-x, curl-y or curl-z",
             name);
}

tsr_status tsr_field_derive(const tsr_vector_field *field, tsr_field_quantity quantity, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(field);
    tsr_status status;
    TSR_TRY(tsr_field_require(field, "field"));
    if ((unsigned)quantity >= TSR_FIELD_QUANTITIES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "quantity is %d, expected 0 to %d", (int)quantity, TSR_FIELD_QUANTITIES - 1);
    TSR_TRY(tsr_field_volume(field, volume));
    const tsr_derive_job job = { .grid = field->grid, .quantity = quantity, .hand = field->hand, .volume = (float *)(*volume)->data };
    TSR_TRY_GOTO(field->context->backend->flow->quantity(field->context->queue, &job), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

/* ---- series ----------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_field_series_upload(const tsr_field_series *series, void **memory, size_t *bytes, const float *const **frames, const double **times)
{
    void *host = NULL;
    tsr_status status;
    *memory = NULL;
    *bytes = 0;
    if (!series || !series->fields || series->count < 1 || (series->count > 1 && !series->times))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "series: no fields or no times, expected at least one field, and a time for each of several");
    for (int32_t k = 0; k < series->count; k++) {
        char name[40];
        snprintf(name, sizeof name, "field %d of the series", k);
        TSR_TRY(tsr_field_require(series->fields[k], name));
        TSR_TRY(tsr_field_require_same(series->fields[0], series->fields[k], name));
        if (series->count > 1 && (!isfinite(series->times[k]) || (k && !(series->times[k] > series->times[k - 1]))))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "series: time %d is %g, expected finite and ascending times", k, series->times[k]);
    }
    tsr_context *context = series->fields[0]->context;
    const size_t size = (size_t)series->count * (sizeof(float *) + sizeof(double));
    TSR_TRY(tsr_host_allocate(NULL, size, &host));
    double *t = (double *)host;
    const float **v = (const float **)(void *)(t + series->count);
    for (int32_t k = 0; k < series->count; k++) {
        t[k] = series->times ? series->times[k] : 0;
        v[k] = series->fields[k]->grid.v;
    }
    TSR_TRY_GOTO(tsr_device_allocate(context, size, memory), done);
    *bytes = size;
    TSR_TRY_GOTO(context->backend->upload(context->queue, *memory, host, size), done);
    *times = (const double *)*memory;
    *frames = (const float *const *)(const void *)(*times + series->count);
done:
    tsr_host_release(NULL, host, 0);
    return status;
}
