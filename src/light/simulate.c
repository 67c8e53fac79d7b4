/* light/simulate.c: lights become wavefronts, which backends send through matter; accounts are made up. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/vec3.h"
#include "light/light.h"

enum { DEEPEST = 14, MOST_LAYERS = 4, MOST_LIGHTS = 64 };

tsr_status tsr_light_check_sources(const tsr_light_source *sources, int32_t count)
{
    if (count < 0 || count > MOST_LIGHTS || (count && !sources))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d lights%s, expected 0 to %d", count, sources ? "" : " at NULL", MOST_LIGHTS);
    for (int32_t i = 0; i < count; i++) {
        const tsr_light_source *s = &sources[i];
        if ((unsigned)s->kind > TSR_LIGHT_SPOT) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: kind is %d, expected 0 (directional), 1 (point) or 2 (spot)", i, (int)s->kind);
        for (int k = 0; k < 3; k++) {
            if (!(s->color[k] >= 0 && s->color[k] <= 1e12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: color[%d] is %g, expected 0 to 1e12", i, k, s->color[k]);
            if (!(fabs(s->position[k]) <= 1e9) || !(fabs(s->direction[k]) <= 1e9))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: position or direction [%d] is %g, %g, expected finite numbers", i, k, s->position[k], s->direction[k]);
        }
        const double d = sqrt(s->direction[0] * s->direction[0] + s->direction[1] * s->direction[1] + s->direction[2] * s->direction[2]);
        if (s->kind != TSR_LIGHT_POINT && !(d > 1e-12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: its direction is 0, expected where it shines", i);
        if (s->kind == TSR_LIGHT_SPOT && !(s->angle > 0 && s->angle < 90))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: angle is %g, expected the half angle of the cone, above 0 and below 90 degrees", i, s->angle);
        if (s->kind == TSR_LIGHT_SPOT && !(s->soft >= 0 && s->soft <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: soft is %g, expected 0 to 1", i, s->soft);
        if (s->mask && (!s->mask->pixels || s->mask->width < 1 || s->mask->height < 1 || (s->mask->channels != 1 && s->mask->channels != 3)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: its mask is %d x %d with %d channels, expected 1 or 3 channels", i, s->mask->width, s->mask->height,
                     s->mask->channels);
        if (s->mask && s->kind == TSR_LIGHT_POINT) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d: a point light has no mask, expected a spot", i);
    }
    return TSR_OK;
}

void tsr_light_cone(const tsr_light_source *s, double *inner, double *outer)
{
    const double a = s->angle * (M_PI / 180);
    *outer = cos(a);
    *inner = cos(a * (1 - s->soft));
}

/* ---- the first wave ---- */

/* A light's frame: cells of the plane (directional) or of six faces of a cube (others) are split until they are small. */
typedef struct emission {
    const tsr_light_source *light;
    const tsr_light_wave *wave;
    double at[3], d[3], across[3], up[3]; /* voxels; unit vectors */
    double plane, radius, size, centre[3], reach; /* where waves start; the cell size that is small enough; middle and half diagonal of the volume */
    double edge;       /* of the square that a mask covers: half, voxels or tangent */
    int within, splits_mask;
    int32_t colors;    /* 1 or 3 wavefronts */
    double power[3];   /* of all */
    float *words[2];   /* patches that meet the volume, and those that go to the floor */
    int64_t count[2], room[2];
} emission;

static tsr_status append(emission *e, int list, const tsr_light_patch *p)
{
    if (e->count[list] == e->room[list]) {
        const int64_t room = e->room[list] ? e->room[list] * 2 : 4096;
        float *more = room <= 1 << 24 ? realloc(e->words[list], (size_t)room * sizeof(tsr_light_patch)) : NULL;
        if (!more) TSR_FAIL(TSR_ERROR_MEMORY, "no %lld bytes for the first wavefront", (long long)room * (long long)sizeof(tsr_light_patch));
        e->words[list] = more;
        e->room[list] = room;
    }
    memcpy(e->words[list] + e->count[list]++ * TSR_LIGHT_WORDS, p, sizeof *p);
    return TSR_OK;
}

/* The mask at (u, v) of its square from -1 to 1. */
static void masked(const tsr_light_source *s, double u, double v, double to[3])
{
    if (!(fabs(u) <= 1 && fabs(v) <= 1)) {
        to[0] = to[1] = to[2] = 0;
        return;
    }
    const int32_t x = tsr_mini((int32_t)((u + 1) * 0.5 * s->mask->width), s->mask->width - 1),
                  y = tsr_mini((int32_t)((1 - v) * 0.5 * s->mask->height), s->mask->height - 1);
    const uint8_t *p = s->mask->pixels + ((int64_t)y * s->mask->width + x) * s->mask->channels;
    for (int k = 0; k < 3; k++) {
        const double c = p[s->mask->channels == 3 ? k : 0] / 255.0;
        to[k] *= c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Where corner (s, t) of a face starts and its direction. */
static void start(const emission *e, int face, double s, double t, double x[3], double d[3])
{
    if (e->light->kind == TSR_LIGHT_DIRECTIONAL) {
        for (int k = 0; k < 3; k++) {
            x[k] = e->d[k] * e->plane + e->across[k] * s + e->up[k] * t;
            d[k] = e->d[k];
        }
        return;
    }
    const double *own[3] = { e->d, e->across, e->up }, sign = face & 1 ? -1 : 1;
    const double *n = own[face / 2], *a = own[(face / 2 + 1) % 3], *b = own[(face / 2 + 2) % 3];
    double length = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = sign * n[k] + s * a[k] + sign * t * b[k];
        length += d[k] * d[k];
    }
    for (int k = 0; k < 3; k++) {
        d[k] /= sqrt(length);
        x[k] = e->at[k] + d[k] * e->radius;
    }
}

/* Does the cell's cone or cylinder of this half width meet the volume? */
static int meets(const emission *e, const double x[3], const double d[3], double half)
{
    if (e->within) return 1;
    float low[3], high[3], from[3], along[3], enter, leave;
    for (int k = 0; k < 3; k++) {
        low[k] = (float)(-0.5 - half);
        high[k] = (float)((double)e->wave->medium.upper[k] + half);
        from[k] = (float)x[k];
        along[k] = (float)d[k];
    }
    return tsr_light_box(low, high, from, along, &enter, &leave);
}

static double corner_angle(double s, double t) { return atan2(s * t, sqrt(1 + s * s + t * t)); }

/* Power of a cell: r, g, b. */
static void shine(const emission *e, int face, double s, double t, double half, const double d[3], double to[3])
{
    const tsr_light_source *l = e->light;
    double amount = 4 * half * half;
    for (int k = 0; k < 3; k++) to[k] = l->color[k];
    if (l->kind == TSR_LIGHT_DIRECTIONAL) {
        const double *c = e->centre;
        if (l->mask) masked(l, (s - dot3(c, e->across)) / e->edge, (t - dot3(c, e->up)) / e->edge, to);
    } else {
        amount = corner_angle(s + half, t + half) - corner_angle(s - half, t + half) - corner_angle(s + half, t - half) + corner_angle(s - half, t - half);
        if (l->kind == TSR_LIGHT_SPOT) {
            double inner, outer;
            tsr_light_cone(l, &inner, &outer);
            const double w = fmin(fmax((dot3(d, e->d) - outer) / fmax(inner - outer, 1e-4), 0), 1);
            amount *= w * w * (3 - 2 * w);
            if (face) amount = 0; /* the cone is narrower than a right angle, face 0 holds what counts */
            if (l->mask) masked(l, s / e->edge, t / e->edge, to);
        }
    }
    for (int k = 0; k < 3; k++) to[k] *= amount;
}

static tsr_status cell(emission *e, int face, double s, double t, double half, int depth)
{
    static const int side[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
    double x[3], d[3], middle[3], along[3], power[3];
    tsr_light_patch p = { 0 };
    int split = 0, list = -1;
    start(e, face, s, t, middle, along);
    double spread = 0, across = 0;
    for (int c = 0; c < 4; c++) {
        start(e, face, s + side[c][0] * half, t + side[c][1] * half, x, d);
        double far_ = 0;
        for (int k = 0; k < 3; k++) {
            p.x[k][c] = (float)x[k];
            p.v[k][c] = (float)d[k];
            far_ += (x[k] - middle[k]) * (x[k] - middle[k]);
        }
        across = fmax(across, sqrt(far_));
        spread = fmax(spread, acos(fmin(1, dot3(d, along))));
    }
    const double distance = sqrt((e->centre[0] - e->at[0]) * (e->centre[0] - e->at[0]) + (e->centre[1] - e->at[1]) * (e->centre[1] - e->at[1]) +
                                 (e->centre[2] - e->at[2]) * (e->centre[2] - e->at[2]));
    const int directional = e->light->kind == TSR_LIGHT_DIRECTIONAL;
    const double width = directional ? across : spread < 1.2 ? tan(spread) * (distance + e->reach) : 1e9;
    const double cell_size = directional ? 2 * half : 2 * half * fmax(distance, e->reach);
    if (meets(e, middle, along, width)) {
        split = cell_size > e->size * 1.0001;
        list = 0;
    } else if (e->wave->floor.sums) {
        float at[2][4], low[2], high[2];
        int down = 0;
        for (int c = 0; c < 4; c++) down += p.v[2][c] < -1e-4f;
        if (!down) return TSR_OK;
        if (!tsr_light_landing(&e->wave->floor, &p, at)) split = 1;
        else {
            for (int k = 0; k < 2; k++) {
                low[k] = fminf(fminf(at[k][0], at[k][1]), fminf(at[k][2], at[k][3]));
                high[k] = fmaxf(fmaxf(at[k][0], at[k][1]), fmaxf(at[k][2], at[k][3]));
                if (high[k] < -1.0f || low[k] > (float)e->wave->floor.size[k] + 1.0f) return TSR_OK;
            }
            split = fmaxf(high[0] - low[0], high[1] - low[1]) > (e->light->kind == TSR_LIGHT_SPOT || e->light->mask ? 2.0f : 0.4f * TSR_LIGHT_TEXELS);
            list = 1;
        }
    }
    if (list < 0 && !split) return TSR_OK;
    if (split && depth < DEEPEST) {
        for (int c = 0; c < 4; c++) TSR_TRY(cell(e, face, s + side[c][0] * half / 2, t + side[c][1] * half / 2, half / 2, depth + 1));
        return TSR_OK;
    }
    if (list < 0) return TSR_OK; /* at the horizon */
    shine(e, face, s, t, half, along, power);
    if (!(power[0] + power[1] + power[2] > 0)) return TSR_OK;
    for (int k = 0; k < 3; k++) e->power[k] += power[k];
    for (int32_t c = e->colors == 3 ? 1 : 0; c <= (e->colors == 3 ? 3 : 0); c++) {
        if (list == 1 && c > 1) break; /* nothing bends it */
        for (int k = 0; k < 3; k++) p.power[k] = list == 1 || c == 0 || c == k + 1 ? (float)power[k] : 0.0f;
        p.state = list == 1 ? 0 : (uint32_t)c;
        TSR_TRY(append(e, list, &p));
    }
    return TSR_OK;
}

static void frame(emission *e, const double direction[3])
{
    const double length = sqrt(dot3(direction, direction));
    for (int k = 0; k < 3; k++) e->d[k] = direction[k] / length;
    const double side[3] = { -e->d[1], e->d[0], 0 };
    const double flat = sqrt(side[0] * side[0] + side[1] * side[1]);
    for (int k = 0; k < 3; k++) e->across[k] = flat > 1e-6 ? side[k] / flat : k == 0;
    e->up[0] = e->d[2] * e->across[1] - e->d[1] * e->across[2];
    e->up[1] = e->d[0] * e->across[2] - e->d[2] * e->across[0];
    e->up[2] = e->d[1] * e->across[0] - e->d[0] * e->across[1];
    for (int k = 0; k < 3; k++) e->up[k] = -e->up[k];
}

/* All cells of a light. */
static tsr_status emit_light(emission *e, const tsr_light_matter *m, int32_t grid)
{
    const tsr_light_floor *f = &e->wave->floor;
    double outside = 0, longest = 0;
    e->reach = 0;
    for (int k = 0; k < 3; k++) {
        const double upper = (double)m->medium.upper[k];
        e->centre[k] = 0.5 * (upper - 0.5);
        e->reach += 0.25 * (upper + 0.5) * (upper + 0.5);
        longest = fmax(longest, upper + 0.5);
    }
    e->reach = sqrt(e->reach);
    e->edge = e->light->kind == TSR_LIGHT_SPOT ? tan(e->light->angle * (M_PI / 180)) : e->reach;
    if (e->light->mask) grid = tsr_maxi(grid, tsr_mini(tsr_maxi(e->light->mask->width, e->light->mask->height), 512));
    if (e->light->kind == TSR_LIGHT_DIRECTIONAL) {
        frame(e, e->light->direction);
        double low[2] = { 1e30, 1e30 }, high[2] = { -1e30, -1e30 };
        e->plane = 1e30;
        for (int c = 0; c < 12; c++) {
            double p[3];
            if (c >= 8 && !(f->sums && e->d[2] < -1e-3)) break;
            for (int k = 0; k < 3; k++) p[k] = c < 8 ? (c >> k & 1 ? (double)m->medium.upper[k] : -0.5) : 0;
            if (c >= 8) {
                for (int k = 0; k < 2; k++) p[k] = (double)f->corner[k] + (c >> k & 1 ? (double)((float)f->size[k] / f->scale) : 0);
                p[2] = (double)f->z;
            }
            const double a = dot3(p, e->across), b = dot3(p, e->up);
            low[0] = fmin(low[0], a), high[0] = fmax(high[0], a);
            low[1] = fmin(low[1], b), high[1] = fmax(high[1], b);
            if (c < 8) e->plane = fmin(e->plane, dot3(p, e->d) - 0.01);
        }
        e->size = 2 * e->reach / grid;
        for (int k = 0; k < 3; k++) e->at[k] = e->centre[k]; /* for distances: 0 */
        const double half = fmax(high[0] - low[0], high[1] - low[1]) / 2 * 1.0001;
        TSR_TRY(cell(e, 0, (low[0] + high[0]) / 2, (low[1] + high[1]) / 2, half, 0));
        return TSR_OK;
    }
    tsr_light_place(m, e->light->position, e->at);
    for (int k = 0; k < 3; k++) {
        const double o = fmax(fmax(-0.5 - e->at[k], e->at[k] - (double)m->medium.upper[k]), 0);
        outside += o * o;
    }
    e->within = outside == 0;
    outside = sqrt(outside);
    e->radius = e->within ? 0.5 : outside > 0.02 ? outside - 0.01 : outside * 0.5;
    double towards[3];
    for (int k = 0; k < 3; k++) towards[k] = e->light->kind == TSR_LIGHT_SPOT ? e->light->direction[k] : e->centre[k] - e->at[k];
    if (!(dot3(towards, towards) > 1e-12)) towards[2] = -1;
    frame(e, towards);
    const double distance = sqrt((e->centre[0] - e->at[0]) * (e->centre[0] - e->at[0]) + (e->centre[1] - e->at[1]) * (e->centre[1] - e->at[1]) +
                                 (e->centre[2] - e->at[2]) * (e->centre[2] - e->at[2]));
    e->size = e->within ? 2 * e->reach / grid * 2 : 2 * e->reach / grid * fmax(1, distance / fmax(outside, e->reach * 0.5));
    (void)longest;
    for (int face = 0; face < 6; face++) TSR_TRY(cell(e, face, 0, 0, 1, 0));
    return TSR_OK;
}

/* A light inside opaque matter is a mistake of the scene. */
static tsr_status check_inside(const tsr_light_matter *m, const emission *e, int32_t number)
{
    float four[4], n;
    if (!e->within) return TSR_OK;
    int64_t at = 0;
    for (int k = 2; k >= 0; k--) at = at * m->medium.size[k] + tsr_mini(tsr_maxi((int32_t)lround(e->at[k]), 0), m->medium.size[k] - 1);
    if (m->medium.dim) {
        TSR_TRY(tsr_device_move(NULL, four, m->context, m->medium.dim + at * 4, sizeof four));
        if (four[3] > 0.5f) TSR_FAIL(TSR_ERROR_ARGUMENT, "light %d lies inside opaque matter, at (%g, %g, %g)", number, e->light->position[0],
                                     e->light->position[1], e->light->position[2]);
    }
    TSR_TRY(tsr_device_move(NULL, &n, m->context, m->medium.index + at * 4, sizeof n));
    for (int64_t i = 0; i < e->count[0]; i++) { /* |v| = n, of each colour */
        tsr_light_patch p;
        memcpy(&p, e->words[0] + i * TSR_LIGHT_WORDS, sizeof p);
        const float own = 1.0f + e->wave->bends[p.state & 3u] * (n - 1.0f);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 4; c++) p.v[k][c] *= own;
        memcpy(e->words[0] + i * TSR_LIGHT_WORDS, &p, sizeof p);
    }
    return TSR_OK;
}

/* ---- memory ---- */

typedef struct arena { void *memory[16]; size_t bytes[16]; int count; } arena;
static tsr_status take(tsr_context *context, arena *a, size_t bytes, int clear, void **to)
{
    TSR_TRY(tsr_device_allocate(context, bytes, to));
    a->memory[a->count] = *to;
    a->bytes[a->count++] = bytes;
    return clear ? context->backend->fill(context->queue, *to, 0, bytes) : TSR_OK;
}
static void give(tsr_context *context, arena *a)
{
    while (a->count--) tsr_device_release(context, a->memory[a->count], a->bytes[a->count]);
    a->count = 0;
}

/* ---- the simulation ---- */

static tsr_status check(tsr_light_options *o)
{
    if (o->cfl == 0) o->cfl = 0.5;
    if (o->extent == 0) o->extent = 0.75;
    if (!o->layers) o->layers = 1;
    if (!o->grid) o->grid = 64;
    if (!o->capacity) o->capacity = 1 << 20;
    if (!o->steps) o->steps = 8000;
    if (!o->rounds) o->rounds = TSR_LIGHT_ROUNDS;
    if (o->faint == 0) o->faint = 1e-4;
    if (o->least_area == 0) o->least_area = 0.01;
    if (!o->ground.texels) o->ground.texels = 512;
    if (!(o->cfl > 0 && o->cfl <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "cfl is %g, expected above 0 and at most 1", o->cfl);
    if (!(o->extent >= 0.1 && o->extent <= 16)) TSR_FAIL(TSR_ERROR_ARGUMENT, "extent is %g, expected 0.1 to 16 voxels", o->extent);
    if ((unsigned)o->integrator > TSR_LIGHT_EULER)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "integrator is %d, expected RK4, RK2 or Euler: particles of a wavefront share their time", (int)o->integrator);
    if ((unsigned)o->record > TSR_LIGHT_GATHER) TSR_FAIL(TSR_ERROR_ARGUMENT, "record is %d, expected 0 (strongest) or 1 (gather)", (int)o->record);
    if (o->layers < 1 || o->layers > MOST_LAYERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "layers is %d, expected 1 to %d", o->layers, MOST_LAYERS);
    if (o->record == TSR_LIGHT_GATHER && o->layers != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "layers is %d, expected 1 where all light is gathered", o->layers);
    if (o->grid < 2 || o->grid > 1024) TSR_FAIL(TSR_ERROR_ARGUMENT, "grid is %d, expected 2 to 1024", o->grid);
    if (o->capacity < 1 || o->capacity >= 1 << 26) TSR_FAIL(TSR_ERROR_ARGUMENT, "capacity is %lld, expected 1 to 67108863 patches", (long long)o->capacity);
    if (o->steps < 1 || o->steps >= 16000) TSR_FAIL(TSR_ERROR_ARGUMENT, "steps is %d, expected 1 to 15999", o->steps);
    if (o->rounds < 1 || o->rounds > TSR_LIGHT_ROUNDS) TSR_FAIL(TSR_ERROR_ARGUMENT, "rounds is %d, expected 1 to %d", o->rounds, TSR_LIGHT_ROUNDS);
    if (!(o->faint < 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "faint is %g, expected below 1", o->faint);
    if (!(o->least_area > 0 && o->least_area <= 100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "least_area is %g, expected above 0 and at most 100", o->least_area);
    if (!(o->dispersion >= 0 && o->dispersion < 0.5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "dispersion is %g, expected 0 to below 0.5", o->dispersion);
    if (o->ground.present && (o->ground.texels < 2 || o->ground.texels > 16384))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "texels of the floor is %d, expected 2 to 16384", o->ground.texels);
    return TSR_OK;
}

static tsr_status set_floor(const tsr_light_matter *m, const tsr_light_options *o, tsr_light_floor *f)
{
    const double lowest = m->origin[2] - 0.5 * m->voxel;
    const double larger = fmax(m->medium.size[0], m->medium.size[1]) * m->voxel, extent = o->ground.extent != 0 ? o->ground.extent : 2 * larger;
    if (!(o->ground.height <= lowest + 1e-9 * fabs(lowest) + 1e-12) || !(o->ground.height > -1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "height of the floor is %g, expected at most %g, where the volume ends", o->ground.height, lowest);
    if (!(extent > 0 && extent <= 1e4 * larger)) TSR_FAIL(TSR_ERROR_ARGUMENT, "extent of the floor is %g, expected above 0 and at most %g", extent, 1e4 * larger);
    f->z = (float)((o->ground.height - m->origin[2]) / m->voxel);
    f->size[0] = f->size[1] = o->ground.texels;
    f->scale = (float)(o->ground.texels / (extent / m->voxel));
    for (int k = 0; k < 2; k++) f->corner[k] = (float)(0.5 * (m->medium.size[k] - 1) - 0.5 * extent / m->voxel);
    return TSR_OK;
}

static void share(const tsr_light_wave *w, double area, const int64_t units[3], int64_t patches, tsr_light_power *to)
{
    for (int k = 0; k < 3; k++) to->power[k] = (double)units[k] / (double)w->unit * area;
    to->patches = patches;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct simulation {
    tsr_context *context;
    const tsr_light_matter *matter;
    tsr_light_options o;
    tsr_light_wave wave;
    tsr_light_field *field;
    emission e;
    arena arena;
    int64_t capacity, start[3], start_count, *counts;
    tsr_light_account account;
    double began;
} simulation;

static tsr_status emit_all(simulation *s, const tsr_light_source *sources, int32_t count)
{
    double total[3] = { 0 }, least = 1e300, most = 0;
    emission *e = &s->e;
    for (int32_t i = 0; i < count; i++) {
        const int64_t before = e->count[0];
        e->light = &sources[i];
        e->wave = &s->wave;
        e->within = 0;
        e->colors = s->o.dispersion > 0 ? 3 : 1;
        tsr_light_source own = sources[i];
        if (own.kind != TSR_LIGHT_DIRECTIONAL)
            for (int k = 0; k < 3; k++) own.color[k] /= s->matter->voxel * s->matter->voxel; /* per steradian: in squares of voxels */
        e->light = &own;
        memset(e->power, 0, sizeof e->power);
        TSR_TRY(emit_light(e, s->matter, s->o.grid));
        const int64_t after = e->count[0];
        emission part = *e;
        part.words[0] = e->words[0] ? e->words[0] + before * TSR_LIGHT_WORDS : NULL;
        part.count[0] = after - before;
        TSR_TRY(check_inside(s->matter, &part, i));
        const float color[3] = { (float)own.color[0], (float)own.color[1], (float)own.color[2] };
        double bright = (double)tsr_light_luminance(color);
        if (own.kind != TSR_LIGHT_DIRECTIONAL) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += (e->centre[k] - e->at[k]) * (e->centre[k] - e->at[k]);
            bright /= fmax(r2, e->reach * e->reach);
        }
        if (bright > 0) least = fmin(least, bright);
        for (int k = 0; k < 3; k++) total[k] += e->power[k];
    }
    for (int k = 0; k < 3; k++) most = fmax(most, total[k]);
    s->wave.least = s->o.faint > 0 && least < 1e300 ? (float)(s->o.faint * least * s->o.extent * s->o.extent) : -1.0f; /* of what a voxel is given at first */
    s->wave.unit = (float)ldexp(1, 46 - (most > 0 ? (int)ceil(log2(most)) : 0));
    for (int64_t i = 0; i < e->count[0]; i++) {
        tsr_light_patch p;
        memcpy(&p, e->words[0] + i * TSR_LIGHT_WORDS, sizeof p);
        for (int k = 0; k < 3; k++) s->start[k] += tsr_light_units(p.power[k], s->wave.unit);
    }
    s->start_count = e->count[0];
    return TSR_OK;
}

/* Patches of a host array to a list of the device, in the layout that it has. */
static tsr_status upload_list(simulation *s, int which, const float *words, int64_t count)
{
    const tsr_light_list *l = &s->wave.list[which];
    if (!count) return TSR_OK;
    if (l->across == 1) return tsr_device_move(s->context, l->data, NULL, words, (size_t)count * sizeof(tsr_light_patch));
    float *row = malloc((size_t)count * sizeof *row);
    if (!row) TSR_FAIL(TSR_ERROR_MEMORY, "no %lld bytes for patches", (long long)count * 4);
    tsr_status status = TSR_OK;
    for (int k = 0; k < TSR_LIGHT_WORDS && status == TSR_OK; k++) {
        for (int64_t i = 0; i < count; i++) row[i] = words[i * TSR_LIGHT_WORDS + k];
        status = tsr_device_move(s->context, l->data + k * l->across, NULL, row, (size_t)count * sizeof *row);
    }
    free(row);
    return status;
}

static tsr_status prepare(simulation *s, const tsr_light_source *sources, int32_t count)
{
    tsr_light_wave *w = &s->wave;
    tsr_context *c = s->context;
    const tsr_light_options *o = &s->o;
    const int64_t voxels = tsr_light_voxels(s->matter->medium.size);
    const double d = o->dispersion;
    w->medium = s->matter->medium;
    w->bends[0] = w->bends[2] = 1.0f;
    w->bends[1] = (float)(1 - d);
    w->bends[3] = (float)(1 + d);
    w->dt = (float)(o->cfl * fmin(1, 1 + (1 + d) * (s->matter->least_index - 1)));
    w->extent = (float)o->extent;
    w->least_area = (float)o->least_area;
    w->integrator = (int32_t)o->integrator;
    w->project = !o->no_projection;
    w->rounds = o->rounds;
    w->go_on = o->go_on;
    w->layers = o->layers;
    s->field->layers = o->layers;
    for (int k = 0; k < 3; k++) s->field->size[k] = w->medium.size[k];
    if (o->ground.present) {
        const int64_t texels = (int64_t)o->ground.texels * o->ground.texels;
        TSR_TRY(set_floor(s->matter, o, &w->floor));
        s->field->floor = w->floor;
        TSR_TRY(tsr_device_allocate(c, (size_t)texels * 12, (void **)&s->field->floor.light));
        w->floor.light = s->field->floor.light;
        TSR_TRY(take(c, &s->arena, (size_t)texels * 24, 1, (void **)&w->floor.sums));
    }
    TSR_TRY(emit_all(s, sources, count));
    /* room for the first list in every case; on the host for the second list, too: patches for the floor come through it */
    w->capacity = tsr_max64(o->capacity, s->e.count[0]);
    const int64_t rows = tsr_max64(w->capacity, s->e.count[1]), padded = (rows + 63) / 64 * 64;
    for (int k = 0; k < 2; k++) {
        TSR_TRY(take(c, &s->arena, (size_t)padded * sizeof(tsr_light_patch), 0, (void **)&w->list[k].data));
        w->list[k].across = c->device.kind == TSR_DEVICE_CPU ? 1 : padded;
        w->list[k].along = c->device.kind == TSR_DEVICE_CPU ? TSR_LIGHT_WORDS : 1;
    }
    TSR_TRY(take(c, &s->arena, (size_t)w->capacity, 0, (void **)&w->fate));
    TSR_TRY(take(c, &s->arena, sizeof(tsr_light_account), 1, (void **)&w->account));
    TSR_TRY(tsr_device_allocate(c, (size_t)voxels * 16 * (size_t)o->layers, (void **)&s->field->field));
    TSR_TRY(c->backend->fill(c->queue, s->field->field, 0, (size_t)voxels * 16 * (size_t)o->layers));
    w->field = s->field->field;
    if (o->record == TSR_LIGHT_GATHER) {
        TSR_TRY(take(c, &s->arena, (size_t)voxels * 48, 1, (void **)&w->sums));
    } else {
        TSR_TRY(take(c, &s->arena, (size_t)w->capacity * 8, 0, (void **)&w->mark));
        TSR_TRY(take(c, &s->arena, (size_t)w->capacity * 4, 0, (void **)&w->at));
        TSR_TRY(take(c, &s->arena, (size_t)voxels * 8, 1, (void **)&w->keys));
    }
    TSR_TRY(take(c, &s->arena, 3 * sizeof(int64_t), 1, (void **)&s->counts));
    TSR_TRY(upload_list(s, 1, s->e.words[1], s->e.count[1]));
    if (s->e.count[1]) TSR_TRY(c->backend->light->land(c->queue, w, s->e.count[1]));
    TSR_TRY(upload_list(s, 0, s->e.words[0], s->e.count[0]));
    s->account.patches = s->e.count[0];
    return tsr_device_move(c, w->account, NULL, &s->account, sizeof s->account);
}

static tsr_status march(simulation *s)
{
    tsr_context *c = s->context;
    const tsr_light_ops *ops = c->backend->light;
    const int64_t batch = c->device.kind == TSR_DEVICE_CPU ? 16 : 1024;
    void *workspace = NULL;
    int64_t step = 0;
    TSR_TRY(take(c, &s->arena, ops->advance_bytes(s->wave.capacity), 1, &workspace));
    while (s->account.patches && step < s->o.steps + 1) {
        const int64_t count = tsr_min64(batch, s->o.steps + 1 - step);
        TSR_PROGRESS(&s->o.progress, (double)step / (step + 600.0), "light"); /* how many steps there will be is not known */
        TSR_TRY(ops->advance(c->queue, &s->wave, step, count, workspace));
        TSR_TRY(tsr_device_move(NULL, &s->account, c, s->wave.account, sizeof s->account));
        step += count;
    }
    if (s->account.patches) TSR_TRY(ops->last(c->queue, &s->wave, step));
    TSR_TRY(ops->settle(c->queue, &s->wave));
    return tsr_device_move(NULL, &s->account, c, s->wave.account, sizeof s->account);
}

static tsr_status report_on(simulation *s, tsr_light_report *report)
{
    tsr_light_report r = { .struct_size = sizeof r, .several = -1, .strongest = -1 };
    tsr_context *c = s->context;
    const tsr_light_account *a = &s->account;
    const double area = s->matter->voxel * s->matter->voxel;
    const int64_t voxels = tsr_light_voxels(s->field->size);
    tsr_light_power *const ended[TSR_LIGHT_REASONS] = { &r.left, &r.landed, &r.faint, &r.caustic, &r.torn, &r.stopped };
    int64_t counts[3];
    share(&s->wave, area, s->start, s->start_count, &r.start);
    for (int k = 0; k < TSR_LIGHT_REASONS; k++) share(&s->wave, area, a->ended[k], a->ends[k], ended[k]);
    share(&s->wave, area, a->rest, a->patches, &r.rest);
    for (int k = 0; k < 3; k++) {
        int64_t all = a->dimmed[k] + a->rest[k];
        for (int i = 0; i < TSR_LIGHT_REASONS; i++) all += a->ended[i][k];
        r.absorbed[k] = (double)a->dimmed[k] / (double)s->wave.unit * area;
        if (s->start[k]) r.balance = fmax(r.balance, fabs((double)(s->start[k] - all)) / (double)s->start[k]);
    }
    r.steps = a->steps;
    r.peak = a->peak;
    r.moved = a->moved;
    r.splits = a->splits;
    r.crowded = a->crowded;
    const tsr_light_census census = { .field = s->field->field, .voxels = voxels, .layers = s->field->layers, .counts = s->counts };
    TSR_TRY(c->backend->light->census(c->queue, &census));
    TSR_TRY(tsr_device_move(NULL, counts, c, s->counts, sizeof counts));
    r.lit = (double)counts[0] / (double)voxels;
    if (s->field->layers > 1 && counts[0]) {
        r.several = (double)counts[1] / (double)counts[0];
        r.strongest = counts[1] ? (double)counts[2] / 1048576.0 / (double)counts[1] : 1;
    }
    r.seconds = now() - s->began;
    *report = r;
    return TSR_OK;
}

tsr_status tsr_light_simulate(tsr_context *context, const tsr_light_matter *matter, const tsr_light_source *sources, int32_t count,
                              const tsr_light_options *options, tsr_light_field **field, tsr_light_report *report)
{
    TSR_RETURNS(field);
    tsr_status status;
    simulation s = { .context = context, .matter = matter, .began = now() };
    TSR_TRY(tsr_light_require(context, matter));
    TSR_TRY(TSR_OPTIONS_TAKE(&s.o, options));
    TSR_TRY(check(&s.o));
    TSR_TRY(tsr_light_check_sources(sources, count));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *s.field, (void **)&s.field));
    memset(s.field, 0, sizeof *s.field);
    s.field->context = context;
    TSR_TRY_GOTO(prepare(&s, sources, count), end);
    TSR_TRY_GOTO(march(&s), end);
    if (report) TSR_TRY_GOTO(report_on(&s, report), end);
    TSR_TRY_GOTO(tsr_context_synchronize(context), end);
    *field = s.field;
    s.field = NULL;
    status = TSR_OK;
end:
    give(context, &s.arena);
    free(s.e.words[0]);
    free(s.e.words[1]);
    tsr_light_field_destroy(&s.field);
    return status;
}
