/* light/light_field.c: light in voxels as an object and as a volume; rays through matter. */
#include <math.h>
#include <stdlib.h>

#include "core/number.h"
#include "light/light.h"

static const char layers_key[] = "light.layers";

void tsr_light_field_destroy(tsr_light_field **field)
{
    if (!field || !*field) return;
    tsr_light_field *f = *field;
    *field = NULL;
    tsr_device_release(f->context, f->field, f->field ? (size_t)tsr_light_voxels(f->size) * 16 * (size_t)f->layers : 0);
    tsr_device_release(f->context, f->floor.light, (size_t)f->floor.size[0] * (size_t)f->floor.size[1] * 12);
    tsr_host_release(NULL, f, sizeof *f);
}

static tsr_status require_field(tsr_context *context, const tsr_light_field *field)
{
    if (!field) TSR_FAIL(TSR_ERROR_ARGUMENT, "field is NULL");
    if (field->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: made on another context, expected the one of this call");
    return TSR_OK;
}

tsr_status tsr_light_field_to_volume(tsr_context *context, const tsr_light_matter *matter, const tsr_light_field *field, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(context, matter, field);
    tsr_status status;
    float *four = NULL;
    char text[16];
    TSR_TRY(tsr_light_require(context, matter));
    TSR_TRY(require_field(context, field));
    const int64_t voxels = tsr_light_voxels(field->size);
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ matter->voxel, matter->voxel, matter->voxel },
                                             (tsr_vec3){ matter->origin[0], matter->origin[1], matter->origin[2] }, TSR_SPACE_NONE);
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ field->size[0], field->size[1], (int64_t)field->size[2] * 6 * field->layers }, &g, volume));
    float *to = (float *)tsr_volume_data(*volume);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)voxels * 16, (void **)&four), fail);
    for (int32_t l = 0; l < field->layers; l++, to += voxels * 6) {
        TSR_TRY_GOTO(tsr_device_move(NULL, four, context, field->field + l * voxels * 4, (size_t)voxels * 16), fail);
        for (int64_t i = 0; i < voxels; i++) {
            float d[3] = { 0.0f, 0.0f, 0.0f };
            const uint32_t packed = tsr_float_bits(four[i * 4 + 3]);
            if (packed) tsr_light_unpack(packed, d);
            for (int k = 0; k < 3; k++) {
                to[k * voxels + i] = packed ? four[i * 4 + k] : 0.0f;
                to[(3 + k) * voxels + i] = d[k];
            }
        }
    }
    tsr_print(text, sizeof text, "%d", field->layers);
    TSR_TRY_GOTO(tsr_volume_set_meta(*volume, layers_key, text), fail);
    tsr_host_release(NULL, four, (size_t)voxels * 16);
    return TSR_OK;
fail:
    tsr_host_release(NULL, four, four ? (size_t)voxels * 16 : 0);
    tsr_volume_destroy(volume);
    return status;
}

tsr_status tsr_light_field_from_volume(tsr_context *context, const tsr_light_matter *matter, const tsr_volume *volume, tsr_light_field **field)
{
    TSR_RETURNS(field);
    TSR_NEEDS(context, matter, volume);
    tsr_status status;
    tsr_volume *host = NULL;
    tsr_light_field *f = NULL;
    float *four = NULL;
    TSR_TRY(tsr_light_require(context, matter));
    const int32_t *n = matter->medium.size;
    const int64_t voxels = tsr_light_voxels(n);
    const tsr_size3 size = tsr_volume_size(volume);
    const int64_t layers = size.z / ((int64_t)n[2] * 6);
    if (tsr_volume_dtype(volume) != TSR_F32 || size.x != n[0] || size.y != n[1] || layers < 1 || layers > 4 || size.z != layers * 6 * n[2])
        TSR_FAIL(TSR_ERROR_ARGUMENT, "light of %lld x %lld x %lld %s, expected f32 of %d x %d x %d times 6, 12, 18 or 24, as it was made for this matter",
                 (long long)size.x, (long long)size.y, (long long)size.z, tsr_dtype_name(tsr_volume_dtype(volume)), n[0], n[1], n[2]);
    TSR_TRY(tsr_volume_copy(volume, NULL, &host));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, sizeof *f, (void **)&f), end);
    memset(f, 0, sizeof *f);
    f->context = context;
    f->layers = (int32_t)layers;
    for (int k = 0; k < 3; k++) f->size[k] = n[k];
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)voxels * 16 * (size_t)layers, (void **)&f->field), end);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)voxels * 16, (void **)&four), end);
    const float *from = (const float *)tsr_volume_data_const(host);
    for (int64_t l = 0; l < layers; l++, from += voxels * 6) {
        for (int64_t i = 0; i < voxels; i++) {
            const float d[3] = { from[3 * voxels + i], from[4 * voxels + i], from[5 * voxels + i] };
            for (int k = 0; k < 3; k++) {
                four[i * 4 + k] = from[k * voxels + i];
                if (!(four[i * 4 + k] >= 0.0f) || !(four[i * 4 + k] < 3e38f) || !(tsr_absf(d[k]) < 1.001f))
                    TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "light is %g, from a direction with %g, at voxel %lld of layer %lld, expected no negative and a unit "
                                  "vector", (double)four[i * 4 + k], (double)d[k], (long long)i, (long long)l);
            }
            four[i * 4 + 3] = tsr_bits_float(tsr_light_pack(d));
        }
        TSR_TRY_GOTO(tsr_device_move(context, f->field + l * voxels * 4, NULL, four, (size_t)voxels * 16), end);
    }
    *field = f;
    f = NULL;
    status = TSR_OK;
end:
    tsr_host_release(NULL, four, four ? (size_t)voxels * 16 : 0);
    tsr_light_field_destroy(&f);
    tsr_volume_destroy(&host);
    return status;
}

tsr_status tsr_light_field_ground(tsr_context *context, const tsr_light_field *field, tsr_volume **light)
{
    TSR_RETURNS(light);
    TSR_NEEDS(context, field);
    tsr_status status;
    TSR_TRY(require_field(context, field));
    const int64_t w = field->floor.size[0], h = field->floor.size[1];
    if (!field->floor.light) TSR_FAIL(TSR_ERROR_STATE, "the light was simulated without a floor");
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ w, h, 3 }, NULL, light));
    float *to = (float *)tsr_volume_data(*light), *from = NULL;
    TSR_TRY_GOTO(tsr_volume_set_channels(*light), fail);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)(w * h) * 12, (void **)&from), fail);
    status = tsr_device_move(NULL, from, context, field->floor.light, (size_t)(w * h) * 12);
    for (int64_t i = 0; i < w * h && status == TSR_OK; i++)
        for (int k = 0; k < 3; k++) to[k * w * h + i] = from[i * 3 + k];
    tsr_host_release(NULL, from, (size_t)(w * h) * 12);
    if (status == TSR_OK) return TSR_OK;
fail:
    tsr_volume_destroy(light);
    return status;
}

/* ---- rays ---- */

tsr_status tsr_light_trace(tsr_context *context, const tsr_light_matter *matter, const tsr_light_trace_options *options, tsr_light_ray *rays, int64_t count)
{
    TSR_NEEDS(context, matter);
    tsr_light_trace_options o;
    tsr_status status;
    TSR_TRY(tsr_light_require(context, matter));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (count < 0 || count > 1 << 28 || (count && !rays)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld rays%s, expected 0 to 2^28", (long long)count, rays ? "" : " at NULL");
    const int32_t *n = matter->medium.size;
    if (o.step == 0) o.step = 0.5;
    if (!o.steps) o.steps = (int64_t)(8 * (n[0] + n[1] + n[2]) / o.step);
    if (!(o.step > 0 && o.step <= 16)) TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g, expected above 0 and at most 16 voxels", o.step);
    if (o.steps < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "steps is %lld, expected at least 1", (long long)o.steps);
    if ((unsigned)o.integrator > TSR_LIGHT_VERLET) TSR_FAIL(TSR_ERROR_ARGUMENT, "integrator is %d, expected 0 to 3", (int)o.integrator);
    if ((unsigned)o.parameter > TSR_LIGHT_LENGTH) TSR_FAIL(TSR_ERROR_ARGUMENT, "parameter is %d, expected 0 (time) or 1 (length)", (int)o.parameter);
    if (!count) return TSR_OK;
    float *host = NULL, *device = NULL;
    const size_t bytes = (size_t)count * 28;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&host));
    for (int64_t i = 0; i < count; i++) {
        double at[3], v2 = 0;
        tsr_light_place(matter, rays[i].position, at);
        for (int k = 0; k < 3; k++) {
            host[i * 7 + k] = (float)at[k];
            host[i * 7 + 3 + k] = (float)rays[i].speed[k];
            v2 += rays[i].speed[k] * rays[i].speed[k];
        }
        host[i * 7 + 6] = 0.0f;
        if (!(v2 > 1e-12 && v2 < 1e12)) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "ray %lld: its speed has length %g, expected a direction", (long long)i, sqrt(v2));
    }
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, (void **)&device), end);
    TSR_TRY_GOTO(tsr_device_move(context, device, NULL, host, bytes), end);
    const tsr_light_tracing job = { .medium = matter->medium, .integrator = (int32_t)o.integrator, .form = (int32_t)o.parameter, .project = !o.no_projection,
                                    .step = (float)o.step, .steps = o.steps, .count = count, .rays = device };
    TSR_TRY_GOTO(context->backend->light->trace(context->queue, &job), end);
    TSR_TRY_GOTO(tsr_device_move(NULL, host, context, device, bytes), end);
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            rays[i].position[k] = matter->origin[k] + (double)host[i * 7 + k] * matter->voxel;
            rays[i].speed[k] = (double)host[i * 7 + 3 + k];
        }
        rays[i].optical += (double)host[i * 7 + 6] * matter->voxel;
    }
    status = TSR_OK;
end:
    tsr_device_release(context, device, bytes);
    tsr_host_release(NULL, host, bytes);
    return status;
}

/* The same formulas in float64, through a function. */
typedef struct function_medium { tsr_light_index_function function; void *user; int failed; double last; } function_medium;
TSR_HD void sample_function(function_medium *m, const double p[3], double s[4])
{
    double g[3] = { 0, 0, 0 };
    s[0] = 0;
    m->function(m->user, p, &s[0], g);
    m->last = s[0];
    if (!(s[0] > 0 && s[0] < 1e12)) {
        m->failed = 1;
        s[0] = 1;
    }
    for (int k = 0; k < 3; k++) s[k + 1] = g[k];
}
TSR_HD double tsr_ray_root_f64(double x) { return sqrt(x); }
#define TSR_RAY_REAL double
#define TSR_RAY_ONE double
#define TSR_RAY_STEP double
#define TSR_RAY(name) tsr_ray_##name##_f64
#define TSR_RAY_MEDIUM function_medium *
#define TSR_RAY_SAMPLE sample_function
#include "light/ray_step.h"

tsr_status tsr_light_ray_trace(tsr_light_index_function function, void *user, tsr_light_integrator integrator, tsr_light_parameter parameter, double step,
                               int64_t steps, int project, tsr_light_ray *ray)
{
    if (!function || !ray) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", function ? "ray" : "function");
    if ((unsigned)integrator > TSR_LIGHT_VERLET) TSR_FAIL(TSR_ERROR_ARGUMENT, "integrator is %d, expected 0 to 3", (int)integrator);
    if ((unsigned)parameter > TSR_LIGHT_LENGTH) TSR_FAIL(TSR_ERROR_ARGUMENT, "parameter is %d, expected 0 (time) or 1 (length)", (int)parameter);
    if (!(step > 0 && step < 1e12) || steps < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld steps of %g, expected steps above 0", (long long)steps, step);
    function_medium m = { function, user, 0, 0 };
    tsr_light_ray r = *ray;
    double s[4];
    sample_function(&m, r.position, s);
    for (int64_t i = 0; i < steps && !m.failed; i++) {
        const double from = s[0];
        if (project) tsr_ray_project_f64(s, r.speed);
        tsr_ray_step_f64((int)integrator, (int)parameter, &m, s, r.position, r.speed, step);
        sample_function(&m, r.position, s);
        if (integrator == TSR_LIGHT_VERLET) r.optical += 0.5 * step * (from * from + s[0] * s[0]);
        else r.optical += parameter == TSR_LIGHT_TIME ? step : 0.5 * step * (from + s[0]);
    }
    if (m.failed) TSR_FAIL(TSR_ERROR_ARGUMENT, "the index is %g on the ray's way, expected above 0", m.last);
    *ray = r;
    return TSR_OK;
}
