/* flow/field_shapes.c: analytic vector fields. float64 with the library's own elementary functions: the same samples everywhere. */
#include <math.h>
#include <stdio.h>

#include "core/parallel.h"
#include "volume/deterministic.h"
#include "volume/volume.h"
#include "tessera/field.h"

#define PI 3.14159265358979323846

typedef struct shape {
    tsr_field_shape info;
    void (*value)(const double p[3], double time, double v[3]);
} shape;

/* Symmetric, eigenvalues 1, -1 and 1/2 along (0,1,0), (1,0,1) and (1,0,-1). */
static void saddle(const double p[3], double time, double v[3])
{
    (void)time;
    v[0] = -0.25 * p[0] - 0.75 * p[2];
    v[1] = p[1];
    v[2] = -0.75 * p[0] - 0.25 * p[2];
}
static void focus(const double p[3], double time, double v[3])
{
    (void)time;
    v[0] = 0.3 * p[0] - p[1];
    v[1] = p[0] + 0.3 * p[1];
    v[2] = 0.5 * p[2];
}
static void helix(const double p[3], double time, double v[3])
{
    (void)time;
    v[0] = -p[1];
    v[1] = p[0];
    v[2] = 0.25;
}
/* Arnold, Beltrami, Childress with A^2 = 3, B^2 = 2, C = 1. */
static void abc(const double p[3], double time, double v[3])
{
    const double a = 1.7320508075688772, b = 1.4142135623730951;
    (void)time;
    v[0] = a * tsr_det_sin(p[2]) + tsr_det_cos(p[1]);
    v[1] = b * tsr_det_sin(p[0]) + a * tsr_det_cos(p[2]);
    v[2] = tsr_det_sin(p[1]) + b * tsr_det_cos(p[0]);
}
/* Point charges -1 on the carbons (radius 1.39) and +1 on the hydrogens (2.48), softened over 0.35 angstrom. */
static void benzene(const double p[3], double time, double v[3])
{
    (void)time;
    v[0] = v[1] = v[2] = 0;
    for (int k = 0; k < 12; k++) {
        double s, c;
        const double radius = k < 6 ? 1.39 : 2.48, charge = k < 6 ? -1 : 1;
        tsr_det_sincos_turns((double)(k % 6) / 6, &s, &c);
        const double d[3] = { p[0] - radius * c, p[1] - radius * s, p[2] };
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.35 * 0.35, scale = charge / (square * sqrt(square));
        for (int i = 0; i < 3; i++) v[i] += scale * d[i];
    }
}
/* A Rankine vortex whose axis leans with the height and drifts with time; air flows in below, rises near the axis and flows out above; wind grows with
 * the height. */
static void storm(const double p[3], double time, double v[3])
{
    const double core = 0.18, z = p[2], cx = -0.15 + 0.05 * time + 0.25 * z, cy = 0.1 * z - 0.02 * time;
    const double x = p[0] - cx, y = p[1] - cy, r2 = x * x + y * y, far = r2 > core * core ? core * core / r2 : 1;
    const double turn = 3.2 * far * (1 - 0.55 * z), pull = -1.1 * far * (1 - 1.8 * z), lift = tsr_det_exp(-r2 / (2.5 * core * core));
    v[0] = -turn * y + pull * x + 0.12 * z;
    v[1] = turn * x + pull * y - 0.05 * z;
    v[2] = (0.55 * lift - 0.06) * 4 * z * (1 - 0.75 * z) + 0.04 * lift;
}
/* The velocity of Taylor and Green 1937 at time 0, which decays as its first harmonic does at a viscosity of 0.1. */
static void taylor_green(const double p[3], double time, double v[3])
{
    const double decay = tsr_det_exp(-0.3 * time), cz = tsr_det_cos(p[2]) * decay;
    v[0] = tsr_det_sin(p[0]) * tsr_det_cos(p[1]) * cz;
    v[1] = -tsr_det_cos(p[0]) * tsr_det_sin(p[1]) * cz;
    v[2] = 0;
}
/* Shadden, Lekien and Marsden 2005: two vortices whose border swings; period 10. The same in every slice. */
static void double_gyre(const double p[3], double time, double v[3])
{
    const double a = 0.25 * tsr_det_sin(2 * PI * 0.1 * time), b = 1 - 2 * a, f = a * p[0] * p[0] + b * p[0], df = 2 * a * p[0] + b;
    v[0] = -PI * 0.1 * tsr_det_sin(PI * f) * tsr_det_cos(PI * p[1]);
    v[1] = PI * 0.1 * tsr_det_cos(PI * f) * tsr_det_sin(PI * p[1]) * df;
    v[2] = 0;
}

static const shape shapes[] = {
    { { "field-saddle", "linear, eigenvalues 1, -1, 1/2; an eigenplane normal to (1,0,-1)", { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } }, saddle },
    { { "field-focus", "linear, spirals out of the z axis; eigenplane z = 0", { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } }, focus },
    { { "field-helix", "rotation about z with a constant rise", { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } }, helix },
    { { "field-abc", "flow of Arnold, Beltrami and Childress, periodic", { 100, 100, 100 }, { 0, 0, 0 }, { 2 * PI, 2 * PI, 2 * PI } }, abc },
    { { "field-benzene", "electric field of 12 charges on two hexagons", { 100, 100, 100 }, { -4, -4, -4 }, { 4, 4, 4 } }, benzene },
    { { "field-storm", "leaning vortex with updraft and wind shear; drifts with --time", { 100, 100, 50 }, { -1, -1, 0 }, { 1, 1, 1 } }, storm },
    { { "field-taylor-green", "vortices of Taylor and Green, planar; decays with --time", { 64, 64, 64 }, { 0, 0, 0 }, { 2 * PI, 2 * PI, 2 * PI } }, taylor_green },
    { { "field-double-gyre", "two vortices with a swinging border, --time of period 10", { 128, 64, 4 }, { 0, 0, 0 }, { 2, 1, 0.1 } }, double_gyre },
};
enum { SHAPES = (int)(sizeof shapes / sizeof *shapes) };

const tsr_field_shape *tsr_field_shape_at(int32_t index) { return index >= 0 && index < SHAPES ? &shapes[index].info : NULL; }

struct fill {
    const shape *shape;
    tsr_size3 size;
    double time, origin[3], end[3], step[3];
    float *to[3];
};
static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct fill *f = (const struct fill *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < f->size.x; x++) {
            const int64_t at[3] = { x, row % f->size.y, row / f->size.y }, n[3] = { f->size.x, f->size.y, f->size.z };
            double p[3], v[3];
            for (int i = 0; i < 3; i++) { /* from the nearer end: symmetric boxes have symmetric samples */
                const int64_t back = n[i] - 1 - at[i];
                p[i] = at[i] <= back ? f->origin[i] + f->step[i] * (double)at[i] : f->end[i] - f->step[i] * (double)back;
            }
            f->shape->value(p, f->time, v);
            for (int i = 0; i < 3; i++) f->to[i][row * f->size.x + x] = (float)v[i];
        }
}

tsr_status tsr_field_make(const char *name, const tsr_field_options *options, tsr_volume *components[3])
{
    TSR_NEEDS(components);
    tsr_field_options o;
    tsr_status status;
    const shape *s = NULL;
    components[0] = components[1] = components[2] = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    for (int k = 0; k < SHAPES && name; k++)
        if (!strcmp(name, shapes[k].info.name)) s = &shapes[k];
    if (!s) {
        char list[400] = "";
        for (int k = 0; k < SHAPES; k++) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", shapes[k].info.name);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is no analytic field, expected one of %s", name ? name : "", list);
    }
    if (!isfinite(o.time)) TSR_FAIL(TSR_ERROR_ARGUMENT, "time is %g, expected a finite number", o.time);
    struct fill f = { .shape = s, .size = o.size.x || o.size.y || o.size.z ? o.size : s->info.size, .time = o.time };
    if (f.size.x < 2 || f.size.y < 2 || f.size.z < 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "size is %lld x %lld x %lld, expected at least 2 along each axis", (long long)f.size.x, (long long)f.size.y,
                 (long long)f.size.z);
    const tsr_vec3 step = { (s->info.upper.x - s->info.lower.x) / (double)(f.size.x - 1), (s->info.upper.y - s->info.lower.y) / (double)(f.size.y - 1),
                            (s->info.upper.z - s->info.lower.z) / (double)(f.size.z - 1) };
    const tsr_geometry geometry = tsr_geometry_make(step, s->info.lower, TSR_SPACE_NONE);
    f.step[0] = step.x, f.step[1] = step.y, f.step[2] = step.z;
    f.origin[0] = s->info.lower.x, f.origin[1] = s->info.lower.y, f.origin[2] = s->info.lower.z;
    f.end[0] = s->info.upper.x, f.end[1] = s->info.upper.y, f.end[2] = s->info.upper.z;
    for (int i = 0; i < 3; i++) {
        TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, f.size, &geometry, &components[i]), fail);
        f.to[i] = (float *)components[i]->data;
    }
    if (tsr_progress_report(&o.progress, 0, "making the field")) TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, fail, "cancelled during making the field");
    tsr_parallel(o.threads > 0 ? o.threads : tsr_parallel_default_threads(), f.size.y * f.size.z, 16, fill_rows, &f);
    return TSR_OK;
fail:
    for (int i = 0; i < 3; i++) tsr_volume_destroy(&components[i]);
    return status;
}
