/* light/first_wave.c: patches of the wave of a light as it comes to the volume, and of what goes by to the floor. */
#include <math.h>
#include <stdlib.h>

#include "core/srgb.h"
#include "light/first_wave.h"

enum { DEEPEST = 14 };

static tsr_status append(tsr_light_emission *e, int list, const tsr_light_patch *p)
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
    for (int k = 0; k < 3; k++) to[k] *= tsr_linear_of_srgb(p[s->mask->channels == 3 ? k : 0] / 255.0);
}

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Where corner (s, t) of a face starts and its direction. */
static void start(const tsr_light_emission *e, int face, double s, double t, double x[3], double d[3])
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
static int meets(const tsr_light_emission *e, const double x[3], const double d[3], double half)
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

/* Does all that is within `spread` of the direction d of a point light come to the floor's plane far beyond the floor, or not at all? Far: further from the light's
 * foot than the floor's furthest corner and a patch that is not split. */
static int misses_floor(const tsr_light_emission *e, const double d[3], double spread)
{
    const tsr_light_floor *f = &e->wave->floor;
    const double height = e->at[2] - (double)f->z;
    double square = 0;
    if (e->within || !(height > 0)) return 0;
    for (int k = 0; k < 2; k++) {
        const double low = fabs((double)f->corner[k] - e->at[k]), high = fabs((double)f->corner[k] + f->size[k] / (double)f->scale - e->at[k]);
        square += fmax(low, high) * fmax(low, high);
    }
    const double reach = sqrt(square) + TSR_LIGHT_TEXELS / (double)f->scale;
    return asin(fmax(-1, fmin(1, -d[2]))) + spread < atan2(height, reach);
}

/* How much of a spot's light goes along d. */
static double cone_weight(const tsr_light_source *l, const double axis[3], const double d[3])
{
    double inner, outer;
    tsr_light_cone(l, &inner, &outer);
    const double w = fmin(fmax((dot3(d, axis) - outer) / fmax(inner - outer, 1e-4), 0), 1);
    return w * w * (3 - 2 * w);
}

/* Power of a cell: r, g, b. */
static void shine(const tsr_light_emission *e, int face, double s, double t, double half, const double d[3], double to[3])
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
            amount *= cone_weight(l, e->d, d);
            if (face) amount = 0; /* the cone is narrower than a right angle, face 0 holds what counts */
            if (l->mask) masked(l, s / e->edge, t / e->edge, to);
        }
    }
    for (int k = 0; k < 3; k++) to[k] *= amount;
}

static tsr_status cell(tsr_light_emission *e, int face, double s, double t, double half, int depth)
{
    static const int side[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
    double x[3], d[3], middle[3], along[3], power[3];
    tsr_light_patch p = { 0 };
    int split = 0, list = -1;
    start(e, face, s, t, middle, along);
    double spread = 0, across = 0, least = 1, most = 0;
    for (int c = 0; c < 4; c++) {
        start(e, face, s + side[c][0] * half, t + side[c][1] * half, x, d);
        double far_ = 0;
        for (int k = 0; k < 3; k++) {
            p.x[k][c] = (float)x[k];
            p.v[k][c] = (float)d[k];
            far_ += (x[k] - middle[k]) * (x[k] - middle[k]);
        }
        if (e->light->kind == TSR_LIGHT_SPOT) {
            const double w = cone_weight(e->light, e->d, d);
            least = fmin(least, w);
            most = fmax(most, w);
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
        split = cell_size > e->size * 1.0001 || (most > least + 0.06 && cell_size > e->size / 8); /* parts of a patch are as bright as it: edges of cones */
        list = 0;
    } else if (e->wave->floor.sums) {
        float at[2][4], low[2], high[2];
        if (!directional && misses_floor(e, along, spread)) return TSR_OK;
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

static void frame(tsr_light_emission *e, const double direction[3])
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

tsr_status tsr_light_emit(tsr_light_emission *e, const tsr_light_matter *m, int32_t grid)
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
