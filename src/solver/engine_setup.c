/* solver/engine_setup.c: options of a solver to the numbers of a run. */
#include <math.h>
#include <string.h>

#include "volume/volume.h"
#include "solver/engine_object.h"
#include "tessera/filter.h"

_Static_assert((int)TSR_STENCIL_WENO5 == (int)TSR_DIFFERENCE_WENO5 && (int)TSR_SIGN_GRADIENT == (int)TSR_SIGNED_GRADIENT &&
                   (int)TSR_LEVELSET_PULL == (int)TSR_SOURCE_PULL && (int)TSR_LEVELSET_TERMS == (int)TSR_ENGINE_SOURCES,
               "public and internal names agree");

/* Largest |u| + |v| + |w| of the periodic deformation in units of the edge (docs/theory/levelset.md 7), rounded up. */
static const double ENRIGHT_LARGEST = 2.48;

const char *const tsr_engine_kind_names[] = { "SPEED",     "SPEED_FIELD", "VELOCITY",       "VELOCITY_FIELD", "ROTATION", "ENRIGHT",
                                            "CURVATURE", "POTENTIAL",   "MEAN_CURVATURE", "USER",           "PULL" };

/* ---- checks --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_number(const char *name, double v, double low, double high)
{
    if (!(v >= low && v <= high)) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: %s is %g, expected %g to %g", name, v, low, high);
    return TSR_OK;
}

static tsr_status check_term_vector(int index, const char *what, tsr_vec3 v)
{
    if (fabs(v.x) < 1e18 && fabs(v.y) < 1e18 && fabs(v.z) < 1e18) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: %s of term %d is (%g, %g, %g), expected numbers below 1e18", what, index, v.x, v.y, v.z);
}

static int fields_of(tsr_levelset_kind kind) { return kind == TSR_LEVELSET_SPEED_FIELD ? 1 : kind == TSR_LEVELSET_VELOCITY_FIELD ? 3 : 0; }

static tsr_status check_fields(const tsr_tiles *tiles, int index, const tsr_levelset_term *t)
{
    for (int k = 0; k < fields_of(t->kind); k++) {
        const tsr_volume *f = t->field[k];
        char name[64] = "field of a term of the level set";
        if (!f) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: field[%d] of term %d (%s) is NULL", k, index, tsr_engine_kind_names[t->kind]);
        TSR_TRY(tsr_volume_require(tiles->context, f, name));
        if (f->dtype != TSR_F32)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: field[%d] of term %d has element type %s, expected f32", k, index, tsr_dtype_name(f->dtype));
        if (f->size.x > INT32_MAX || f->size.y > INT32_MAX || f->size.z > INT32_MAX || f->size.x < 1)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: field[%d] of term %d has no usable extents", k, index);
        TSR_TRY(tsr_volume_check_finite(tiles->context, f, name));
    }
    return TSR_OK;
}

static tsr_status check_user(const tsr_tiles *tiles, int index, const tsr_levelset_user *user)
{
    const tsr_device_kind kind = tiles->context->device.kind;
    if (!user || !user->evaluate) TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: term %d (USER) has no function (evaluate is NULL)", index);
    const tsr_term_module *m = user->module;
    if (m && m->data_bytes > 0 && !user->data)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: term %d (USER): its data is NULL, expected %llu bytes", index, (unsigned long long)m->data_bytes);
    if (kind != TSR_DEVICE_CPU && !(m && (kind == TSR_DEVICE_CUDA ? m->launch != NULL : m->thread != NULL)))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "level set: term %d (USER) is a function of the host, which only contexts of the CPU can call: make a module of it (tsr_term_load)",
                 index);
    return TSR_OK;
}

static tsr_status check_term(const tsr_tiles *tiles, int index, const tsr_levelset_term *t)
{
    if ((int)t->kind < 0 || t->kind > TSR_LEVELSET_PULL)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: term %d is of kind %d, expected TSR_LEVELSET_SPEED to TSR_LEVELSET_PULL", index, (int)t->kind);
    const char *name = tsr_engine_kind_names[t->kind];
    if (!(fabs(t->value) < 1e18))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: value of term %d (%s) is %g, expected a number below 1e18", index, name, t->value);
    TSR_TRY(check_term_vector(index, "vector", t->vector));
    TSR_TRY(check_term_vector(index, "centre", t->centre));
    if (!(t->sigma >= 0 && t->sigma < 1e18))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: sigma of term %d (%s) is %g, expected 0 or more", index, name, t->sigma);
    if (t->kind == TSR_LEVELSET_ROTATION && t->vector.x == 0 && t->vector.y == 0 && t->vector.z == 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: the axis (vector) of term %d (ROTATION) is zero", index);
    if (t->kind == TSR_LEVELSET_ENRIGHT && !(t->radius > 0 && t->radius < 1e18 && t->period >= 0 && t->period < 1e18))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "level set: term %d (ENRIGHT) has edge (radius) %g and period %g, expected a positive edge and a period of 0 or more", index,
                 t->radius, t->period);
    if (t->kind == TSR_LEVELSET_MEAN_CURVATURE && t->sigma > 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: term %d (MEAN_CURVATURE) has a sigma, but a mean over the surface has no brush", index);
    if (t->kind == TSR_LEVELSET_USER) TSR_TRY(check_user(tiles, index, t->user));
    TSR_TRY(check_fields(tiles, index, t));
    return TSR_OK;
}

static tsr_status check_options(const tsr_tiles *tiles, const tsr_levelset_options *o)
{
    if (o->term_count < 0 || o->term_count > TSR_LEVELSET_TERMS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: term_count is %d, expected 0 to %d", o->term_count, (int)TSR_LEVELSET_TERMS);
    TSR_TRY(check_number("space", (double)o->space, 0, TSR_STENCIL_WENO5));
    TSR_TRY(check_number("time", (double)o->time, 0, TSR_TIME_RK3));
    TSR_TRY(check_number("reshape", (double)o->reshape, 0, TSR_RESHAPE_NONE));
    TSR_TRY(check_number("sign", (double)o->sign, 0, TSR_SIGN_GRADIENT));
    TSR_TRY(check_number("curvature_form", (double)o->curvature_form, 0, TSR_CURVATURE_HALF));
    TSR_TRY(check_number("reshape_space", (double)o->reshape_space, 0, TSR_STENCIL_WENO5));
    TSR_TRY(check_number("reshape_weight", o->reshape_weight, 0, 1e6));
    TSR_TRY(check_number("reshape_sweeps", o->reshape_sweeps, 0, 16));
    TSR_TRY(check_number("reshape_step", o->reshape_step, 0, 0.6));
    TSR_TRY(check_number("time_step", o->time_step, 0, 1e18));
    TSR_TRY(check_number("cfl", o->cfl, 0, 1));
    TSR_TRY(check_number("guard", o->guard, 0, 3));
    TSR_TRY(check_number("feedback", o->feedback, 0, 1e6));
    TSR_TRY(check_number("mean_width", o->mean_width, 0, 10));
    TSR_TRY(check_number("managed_every", o->managed_every, 0, 1000));
    TSR_TRY(check_number("max_steps", (double)o->max_steps, 0, 9e15));
    TSR_TRY(check_number("age", o->age, 0, 254));
    TSR_TRY(check_number("change_tolerance", o->change_tolerance, 0, 1e18));
    TSR_TRY(check_number("calm_steps", o->calm_steps, 0, 1e9));
    if (o->calm_steps > 0 && !(o->age > 0 && o->change_tolerance > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: calm_steps is %d with age %d and change_tolerance %g, expected both positive", o->calm_steps, o->age,
                 o->change_tolerance);
    int uses = 0;
    for (int i = 0; i < o->term_count; i++) {
        TSR_TRY(check_term(tiles, i, &o->terms[i]));
        uses |= o->terms[i].kind == TSR_LEVELSET_POTENTIAL ? 1 : o->terms[i].kind == TSR_LEVELSET_PULL ? 2 : 0;
    }
    if (uses == 3)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: terms of kind POTENTIAL and PULL in one run, expected one of them: both need the payload");
    if (uses == 2 && tiles->pool.coded) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "level set: a term of kind PULL needs a list that stores 32 bits");
    return TSR_OK;
}

/* ---- terms ---------------------------------------------------------------------------------------------------------------------------------- */

/* Affine map from the index space of the list to that of a field. */
static tsr_status map_field(const tsr_tiles *tiles, const tsr_volume *volume, tsr_engine_field *field)
{
    tsr_vec3 origin, unit;
    const tsr_vec3 corner[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    TSR_TRY(tsr_geometry_to_index(&volume->geometry, tsr_geometry_to_world(&tiles->geometry, (tsr_vec3){ 0, 0, 0 }), &origin));
    const double o[3] = { origin.x, origin.y, origin.z };
    for (int c = 0; c < 3; c++) {
        TSR_TRY(tsr_geometry_to_index(&volume->geometry, tsr_geometry_to_world(&tiles->geometry, corner[c]), &unit));
        const double u[3] = { unit.x, unit.y, unit.z };
        for (int k = 0; k < 3; k++) field->matrix[k][c] = (float)(u[k] - o[k]);
    }
    for (int k = 0; k < 3; k++) field->matrix[k][3] = (float)o[k];
    field->data = (const float *)volume->data;
    field->size[0] = (int32_t)volume->size.x;
    field->size[1] = (int32_t)volume->size.y;
    field->size[2] = (int32_t)volume->size.z;
    return TSR_OK;
}

static void copy_vector(float to[3], tsr_vec3 v)
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

static tsr_status make_source(const tsr_tiles *tiles, int index, const tsr_levelset_term *t, tsr_engine_source *s)
{
    memset(s, 0, sizeof *s);
    s->kind = (int32_t)t->kind;
    s->term = index;
    s->value = (float)t->value;
    copy_vector(s->vector, t->vector);
    copy_vector(s->centre, t->centre);
    if (t->kind == TSR_LEVELSET_ROTATION) {
        double length = sqrt(t->vector.x * t->vector.x + t->vector.y * t->vector.y + t->vector.z * t->vector.z);
        copy_vector(s->vector, (tsr_vec3){ t->vector.x / length, t->vector.y / length, t->vector.z / length });
    }
    s->edge = (float)t->radius;
    s->period = (float)t->period;
    if (t->sigma > 0) {
        s->brush_reach2 = (float)(9 * t->sigma * t->sigma);
        s->brush_rate = (float)(1.4426950408889634 / (2 * t->sigma * t->sigma));
    }
    if (t->kind == TSR_LEVELSET_USER) {
        s->evaluate = t->user->evaluate;
        s->data = t->user->data;
        s->module = t->user->module;
        s->gives = s->module ? (int32_t)s->module->gives : 0;
        s->channels = tsr_term_channels((uint32_t)s->gives);
    }
    for (int k = 0; k < fields_of(t->kind); k++) TSR_TRY(map_field(tiles, t->field[k], &s->field[k]));
    return TSR_OK;
}

/* Adds a term to the setup: to the sums that hold everywhere if it does not depend on the place, else as a source; and its rates. */
static tsr_status add_term(const tsr_tiles *tiles, int index, const tsr_levelset_term *t, double *hyperbolic, double *curvature, tsr_engine_setup *s)
{
    const double h = (double)s->scheme.spacing, size = fabs(t->value);
    const int everywhere = !(t->sigma > 0);
    tsr_engine_values *sum = &s->flow.everywhere;
    const float *r = s->scheme.rate_spacing;
    switch (t->kind) {
    case TSR_LEVELSET_SPEED:
        s->scheme.has_speed = 1;
        *hyperbolic += sqrt(3) * size / h;
        if (everywhere) sum->speed += (float)t->value;
        break;
    case TSR_LEVELSET_VELOCITY:
        s->scheme.has_velocity = 1;
        *hyperbolic += size * (fabs(t->vector.x) * (double)r[0] + fabs(t->vector.y) * (double)r[1] + fabs(t->vector.z) * (double)r[2]);
        if (everywhere) sum->velocity[0] += (float)(t->value * t->vector.x);
        if (everywhere) sum->velocity[1] += (float)(t->value * t->vector.y);
        if (everywhere) sum->velocity[2] += (float)(t->value * t->vector.z);
        break;
    case TSR_LEVELSET_CURVATURE:
        s->scheme.has_curvature = 1;
        *curvature += t->value;
        if (everywhere) sum->curvature += (float)t->value;
        break;
    case TSR_LEVELSET_MEAN_CURVATURE:
        s->scheme.has_speed = s->needs_mean = 1;
        s->mean_value += (float)t->value;
        return TSR_OK;
    case TSR_LEVELSET_ENRIGHT: *hyperbolic += ENRIGHT_LARGEST * size * t->radius / h; break;
    case TSR_LEVELSET_POTENTIAL: *hyperbolic += sqrt(3) * size / h; break;
    case TSR_LEVELSET_PULL: *hyperbolic += (sqrt(3) + 1.5 / 511) * size / h; break; /* components are rounded */
    default: s->measured = 1; break;                                            /* depends on fields or on how far the surface is from an axis */
    }
    if (everywhere && (t->kind == TSR_LEVELSET_SPEED || t->kind == TSR_LEVELSET_VELOCITY || t->kind == TSR_LEVELSET_CURVATURE)) return TSR_OK;
    if (t->kind == TSR_LEVELSET_USER) s->scheme.has_speed = s->scheme.has_velocity = s->scheme.has_curvature = 1;
    else if (t->kind == TSR_LEVELSET_SPEED_FIELD) s->scheme.has_speed = 1;
    else if (t->kind != TSR_LEVELSET_SPEED && t->kind != TSR_LEVELSET_CURVATURE) s->scheme.has_velocity = 1;
    TSR_TRY(make_source(tiles, index, t, &s->flow.source[s->flow.count++]));
    return TSR_OK;
}

/* ---- scheme ---------------------------------------------------------------------------------------------------------------------------------- */

static void make_stages(tsr_time time, tsr_engine_setup *s)
{
    static const float blends[3][TSR_ENGINE_STAGES] = { { 1.0f, 0.0f, 0.0f }, { 1.0f, 0.5f, 0.0f }, { 1.0f, 0.25f, 0.666666687f } };
    static const float moments[TSR_ENGINE_STAGES] = { 0.0f, 1.0f, 0.5f };
    s->stages = (int32_t)time + 1;
    memcpy(s->blend, blends[(int)time], sizeof s->blend);
    memcpy(s->moment, moments, sizeof s->moment);
}

/* Largest |S| of the sign of the reshaping. */
static double steepness_of(const tsr_tiles *tiles, const tsr_levelset_options *o, float spacing)
{
    return o->sign == TSR_SIGN_PHI ? fmax(1, (double)tiles->pool.band / (double)spacing) : 1;
}
/* Voxels that a sweep of the reshaping may go at most. */
static double sweep_bound(const tsr_tiles *tiles, const tsr_levelset_options *o, float spacing)
{
    return 1 / (sqrt(3) * steepness_of(tiles, o, spacing));
}

static void make_scheme(const tsr_tiles *tiles, const tsr_levelset_options *o, tsr_engine_setup *s)
{
    const tsr_tile_pool *pool = &tiles->pool;
    tsr_engine_scheme *k = &s->scheme;
    double squares = 0;
    float h[3];
    tsr_pool_counted_spacing(pool, h); /* nothing varies along a flat axis: how thick the slice is must not show */
    k->spacing = tsr_minf(h[0], tsr_minf(h[1], h[2]));
    for (int a = 0; a < 3; a++) {
        k->inverse_spacing[a] = 1.0f / h[a];
        s->flow.spacing[a] = h[a];
        if (tsr_pool_flat(pool, a)) continue;
        k->rate_spacing[a] = k->inverse_spacing[a];
        squares += 1 / ((double)h[a] * (double)h[a]);
    }
    s->parabolic_unit = (float)(2 * squares);
    k->band = pool->band;
    k->curvature_limit = 2.0f / k->spacing;
    k->space = (int32_t)o->space;
    k->reshape_space = (int32_t)(o->reshape_space ? o->reshape_space : o->space);
    k->sign = (int32_t)o->sign;
    s->sweep = *k;
    s->sweep.reshape = 1.0f;
    s->sweep_step = (float)((o->reshape_step > 0 ? o->reshape_step : fmin(0.3, 0.9 * sweep_bound(tiles, o, k->spacing))) * (double)k->spacing);
    if (o->reshape == TSR_RESHAPE_TERM) k->reshape = (float)((o->reshape_weight > 0 ? o->reshape_weight : 1) * (double)k->spacing);
    if (o->reshape == TSR_RESHAPE_REINIT) s->sweeps = o->reshape_sweeps > 0 ? o->reshape_sweeps : 1;
}

tsr_status tsr_engine_make_setup(const tsr_tiles *tiles, const tsr_levelset_options *o, tsr_engine_setup *s)
{
    double hyperbolic = 0, curvature = 0;
    memset(s, 0, sizeof *s);
    TSR_TRY(check_options(tiles, o));
    make_scheme(tiles, o, s);
    make_stages(o->time, s);
    for (int i = 0; i < o->term_count; i++) {
        tsr_levelset_term term = o->terms[i];
        if (o->curvature_form == TSR_CURVATURE_HALF && (term.kind == TSR_LEVELSET_CURVATURE || term.kind == TSR_LEVELSET_MEAN_CURVATURE)) term.value *= 0.5;
        TSR_TRY(add_term(tiles, i, &term, &hyperbolic, &curvature, s));
    }
    if (curvature < 0 && !o->force)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "level set: the curvature coefficients sum to %g; a negative sum has no stable step (options.force tries it anyway)", curvature);
    if (o->feedback > 0) s->needs_mean = s->scheme.has_speed = 1;
    const double steepness = steepness_of(tiles, o, s->scheme.spacing);
    if (o->reshape == TSR_RESHAPE_TERM) hyperbolic += sqrt(3) * steepness * (double)s->scheme.reshape / (double)s->scheme.spacing;
    if (o->reshape == TSR_RESHAPE_REINIT &&
        (double)s->sweep_step / (double)s->scheme.spacing > sweep_bound(tiles, o, s->scheme.spacing) * (1 + 1e-6) && !o->force)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level set: options.reshape_step is %g voxels, over the stability bound %g of the sign in a band of %g voxels",
                 (double)s->sweep_step / (double)s->scheme.spacing, sweep_bound(tiles, o, s->scheme.spacing),
                 (double)tiles->pool.band / (double)s->scheme.spacing);
    s->rate = (float)hyperbolic;
    s->parabolic = (float)(fmax(curvature, 0) * (double)s->parabolic_unit);
    if (s->measured) s->parabolic = 0; /* the measured coefficient has all of it */
    s->radius = s->scheme.space >= TSR_DIFFERENCE_ENO2 || s->scheme.reshape_space >= TSR_DIFFERENCE_ENO2 ? 3 : 1;
    s->guard = o->guard ? o->guard : o->reshape == TSR_RESHAPE_NONE ? 3 : 1;
    s->fixed_step = (float)o->time_step;
    s->cfl = (float)(o->cfl > 0 ? o->cfl : 0.9);
    s->feedback = (float)o->feedback;
    s->delta_width = tsr_minf((o->mean_width > 0 ? (float)o->mean_width : 1.5f) * s->scheme.spacing, s->scheme.band);
    s->managed_every = o->managed_every > 0 ? o->managed_every : 1;
    s->age = o->age;
    s->source_rule = o->source_rule != 0;
    s->change_tolerance = (float)o->change_tolerance;
    s->calm_steps = o->calm_steps;
    s->persistent = o->persistent;
    s->watched = s->stages > 0 && (o->force || s->managed_every > 1);
    s->fused = o->fused != 0 && tiles->context->device.kind != TSR_DEVICE_CPU;
    return TSR_OK;
}
