/* light/view.h: what a pixel sees: bent rays from the camera through matter, the floor and the surroundings. The same bits on every backend. */
#ifndef TSR_LIGHT_VIEW_H
#define TSR_LIGHT_VIEW_H

#include "light/wave.h"

enum { TSR_LIGHT_PANELS = 8, TSR_LIGHT_SOURCES = 16, TSR_LIGHT_BRANCHES = 6 };

typedef struct tsr_light_sky {
    float lower[3], horizon[3], upper[3];
    struct { float at[3], across[3], up[3], wide, high, color[3]; } panel[TSR_LIGHT_PANELS]; /* wide, high: tangents of half the angles */
    int32_t panels;
    const float *map; /* [h][w][3]; NULL: none */
    int32_t size[2];
    float turn, scale; /* turn in widths */
} tsr_light_sky;

typedef struct tsr_light_lamp { int32_t kind; float at[3], direction[3], color[3], inner, outer; } tsr_light_lamp; /* voxels; cosines */

typedef struct tsr_light_seen {
    tsr_light_medium medium;
    float bends[4];
    const float *field; /* [layers][voxels][4]; NULL: no light */
    int32_t layers;
    int32_t width, height, samples, first_sample, reflections, dispersed, skips, most;
    float step;
    float origin[2][3], direction[3][3]; /* a pixel's ray starts at origin[0], direction[0] + x direction[1] + y direction[2]; orthographic cameras: */
    float shift[2][3];                   /* the origin moves by x shift[0] + y shift[1] */
    float ambient[3];
    tsr_light_sky sky;
    tsr_light_floor floor;
    int32_t has_floor, lamps;
    tsr_light_lamp lamp[TSR_LIGHT_SOURCES];
    float color[3], second[3], square, glow[3], fade, gloss, middle[2]; /* of the floor; lengths in voxels */
    float *picture; /* [3][height][width] */
} tsr_light_seen;

typedef struct tsr_light_branch { float x[3], v[3], weight[3]; int32_t depth; } tsr_light_branch;

/* A pixel, what its rays have met, and what waits to be followed. */
typedef struct tsr_light_path {
    float light[3], start; /* start: how long the first step of its rays is, in steps */
    tsr_light_branch waiting[TSR_LIGHT_BRANCHES];
    int32_t count, sample, color;
    int64_t pixel; /* -1: none */
} tsr_light_path;

TSR_HD float tsr_light_smooth(float t)
{
    const float s = tsr_clampf(t, 0.0f, 1.0f);
    return s * s * (3.0f - 2.0f * s);
}

/* Arc tangent of y / x in turns, -1/2 to 1/2; absolute error below 2e-6. */
TSR_HD float tsr_light_angle(float y, float x)
{
    const float ax = tsr_absf(x), ay = tsr_absf(y), high = tsr_maxf(ax, ay);
    if (!(high > 0.0f)) return 0.0f;
    const float t = tsr_minf(ax, ay) / high, q = t * t;
    float a = t * (0.9999993329f + q * (-0.3332985605f + q * (0.1994653599f + q * (-0.1390853351f + q * (0.0964200441f +
              q * (-0.0559098861f + q * (0.0218612288f + q * -0.0040540580f)))))));
    a = a * 0.159154943f;
    if (ay > ax) a = 0.25f - a;
    if (x < 0.0f) a = 0.5f - a;
    return y < 0.0f ? -a : a;
}

/* Radiance from a direction. */
TSR_HD void tsr_light_sky_at(const tsr_light_sky *s, const float d[3], float to[3])
{
    if (s->map) {
        const float flat = tsr_sqrt(d[0] * d[0] + d[1] * d[1]);
        float u = (tsr_light_angle(d[0], d[1]) + 0.5f + s->turn), v = 0.5f - 2.0f * tsr_light_angle(d[2], flat);
        u = u - (float)(int32_t)u;
        if (u < 0.0f) u = u + 1.0f;
        const float px = u * (float)s->size[0] - 0.5f, py = tsr_clampf(v * (float)s->size[1] - 0.5f, 0.0f, (float)(s->size[1] - 1));
        const int32_t x = (int32_t)(px + 1.0f) - 1, y = tsr_mini((int32_t)py, tsr_maxi(s->size[1] - 2, 0));
        const float fx = px - (float)x, fy = py - (float)y;
        const int32_t x0 = x < 0 ? s->size[0] - 1 : x, x1 = x + 1 >= s->size[0] ? 0 : x + 1, y1 = tsr_mini(y + 1, s->size[1] - 1);
        for (int k = 0; k < 3; k++) {
            const float a = s->map[((int64_t)y * s->size[0] + x0) * 3 + k], b = s->map[((int64_t)y * s->size[0] + x1) * 3 + k];
            const float c = s->map[((int64_t)y1 * s->size[0] + x0) * 3 + k], e = s->map[((int64_t)y1 * s->size[0] + x1) * 3 + k];
            const float low = a + fx * (b - a), high = c + fx * (e - c);
            to[k] = s->scale * (low + fy * (high - low));
        }
        return;
    }
    const float t = d[2] < 0.0f ? tsr_light_smooth(-2.0f * d[2]) : tsr_light_smooth(1.4f * d[2]);
    for (int k = 0; k < 3; k++) {
        const float end = d[2] < 0.0f ? s->lower[k] : s->upper[k];
        to[k] = s->horizon[k] + t * (end - s->horizon[k]);
    }
    for (int32_t i = 0; i < s->panels; i++) {
        const float c = tsr_light_dot(d, s->panel[i].at);
        if (!(c > 0.0f)) continue;
        const float a = tsr_absf(tsr_light_dot(d, s->panel[i].across)) / (c * s->panel[i].wide);
        const float b = tsr_absf(tsr_light_dot(d, s->panel[i].up)) / (c * s->panel[i].high);
        const float w = tsr_light_smooth((1.0f - a) * 12.0f) * tsr_light_smooth((1.0f - b) * 12.0f);
        for (int k = 0; k < 3; k++) to[k] = to[k] + w * (s->panel[i].color[k] - to[k]);
    }
    for (int k = 0; k < 3; k++) to[k] = s->scale * to[k];
}

/* Irradiance of the floor at p (voxels) without anything between it and the lights. */
TSR_HD void tsr_light_open_floor(const tsr_light_seen *s, const float p[3], float to[3])
{
    to[0] = to[1] = to[2] = 0.0f;
    for (int32_t i = 0; i < s->lamps; i++) {
        const tsr_light_lamp *l = &s->lamp[i];
        float d[3] = { l->direction[0], l->direction[1], l->direction[2] }, e = 1.0f;
        if (l->kind) {
            for (int k = 0; k < 3; k++) d[k] = p[k] - l->at[k];
            const float r2 = tsr_maxf(tsr_light_dot(d, d), 1e-6f), inverse = tsr_rsqrt(r2);
            for (int k = 0; k < 3; k++) d[k] = d[k] * inverse;
            e = 1.0f / r2;
            if (l->kind == 2) e = e * tsr_light_smooth((tsr_light_dot(d, l->direction) - l->outer) / tsr_maxf(l->inner - l->outer, 1e-4f));
        }
        if (d[2] < 0.0f)
            for (int k = 0; k < 3; k++) to[k] = to[k] - e * d[2] * l->color[k];
    }
}

TSR_HD void tsr_light_floor_at(const tsr_light_seen *s, const float p[3], float to[3])
{
    const tsr_light_floor *f = &s->floor;
    float inside = 0.0f;
    tsr_light_open_floor(s, p, to);
    if (!f->light) return;
    const float qx = (p[0] - f->corner[0]) * f->scale - 0.5f, qy = (p[1] - f->corner[1]) * f->scale - 0.5f;
    const float edge = tsr_minf(tsr_minf(qx, (float)(f->size[0] - 1) - qx), tsr_minf(qy, (float)(f->size[1] - 1) - qy));
    if (!(edge > 0.0f)) return;
    const int32_t x = tsr_mini((int32_t)qx, f->size[0] - 2), y = tsr_mini((int32_t)qy, f->size[1] - 2);
    const float fx = qx - (float)x, fy = qy - (float)y;
    const float *a = f->light + ((int64_t)y * f->size[0] + x) * 3, *b = a + (int64_t)f->size[0] * 3;
    inside = tsr_light_smooth(edge * 0.1f - 0.2f);
    for (int k = 0; k < 3; k++) {
        const float low = a[k] + fx * (a[3 + k] - a[k]), high = b[k] + fx * (b[3 + k] - b[k]);
        to[k] = to[k] + inside * ((low + fy * (high - low)) - to[k]);
    }
}

/* A ray that waits: into the mirror. Where there is no room or it is too deep, what it would meet outside is taken. */
TSR_HD void tsr_light_wait(const tsr_light_seen *s, tsr_light_path *path, const float x[3], const float d[3], float n, const float weight[3], int32_t depth)
{
    if (path->count < TSR_LIGHT_BRANCHES && depth < s->reflections && tsr_light_luminance(weight) > 0.002f) {
        tsr_light_branch *b = &path->waiting[path->count++];
        for (int k = 0; k < 3; k++) {
            b->x[k] = x[k];
            b->v[k] = d[k] * n;
            b->weight[k] = weight[k];
        }
        b->depth = depth + 1;
        return;
    }
    float sky[3];
    tsr_light_sky_at(&s->sky, d, sky);
    for (int k = 0; k < 3; k++) path->light[k] = path->light[k] + weight[k] * sky[k];
}

/* Beyond the matter: floor or sky. */
TSR_HD void tsr_light_outside(const tsr_light_seen *s, tsr_light_path *path, const float x[3], const float d[3], const float weight[3], int32_t depth)
{
    float sky[3], own[3], hit[3], e[3];
    tsr_light_sky_at(&s->sky, d, sky);
    if (!s->has_floor || !(d[2] < -1e-5f) || x[2] < s->floor.z - 4.0f) { /* a step may end below it */
        for (int k = 0; k < 3; k++) path->light[k] = path->light[k] + weight[k] * sky[k];
        return;
    }
    const float t = (s->floor.z - x[2]) / d[2];
    for (int k = 0; k < 3; k++) hit[k] = x[k] + t * d[k];
    const float mx = hit[0] - s->middle[0], my = hit[1] - s->middle[1];
    const float gone = s->fade > 0.0f ? tsr_light_smooth((tsr_sqrt(mx * mx + my * my) / s->fade - 0.35f) * 1.54f) : 0.0f;
    tsr_light_floor_at(s, hit, e);
    int odd = 0;
    if (s->square > 0.0f && tsr_absf(mx) < 1e6f && tsr_absf(my) < 1e6f)
        odd = ((int32_t)(mx / s->square + 1048576.0f) + (int32_t)(my / s->square + 1048576.0f)) & 1;
    const float c = 1.0f + d[2], mirror = s->gloss > 0.0f ? (s->gloss + (1.0f - s->gloss) * (c * c) * (c * c) * c) * (1.0f - gone) : 0.0f;
    for (int k = 0; k < 3; k++) {
        own[k] = (odd ? s->second[k] : s->color[k]) * (e[k] * 0.318309886f + s->glow[k]);
        own[k] = own[k] + gone * (sky[k] - own[k]);
        path->light[k] = path->light[k] + weight[k] * (1.0f - mirror) * own[k];
    }
    if (mirror > 0.0f) {
        const float up[3] = { d[0], d[1], -d[2] }, part[3] = { weight[0] * mirror, weight[1] * mirror, weight[2] * mirror };
        hit[2] = s->floor.z + 1e-3f;
        tsr_light_wait(s, path, hit, up, 1.0f, part, depth);
    }
}

/* Light in a layer at p, between voxels. Returns the share of the voxels around p that have light, 0 to 1: e is all the light there is divided among all of them. */
TSR_HD float tsr_light_field_at(const tsr_light_seen *s, int32_t layer, const float p[3], float e[3], float direction[3])
{
    const tsr_light_medium *m = &s->medium;
    const float *from = s->field + (int64_t)layer * m->size[0] * m->size[1] * m->size[2] * 4;
    int32_t at[3];
    float f[3], lit = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float c = tsr_clampf(p[k], 0.0f, (float)(m->size[k] - 1));
        at[k] = tsr_mini((int32_t)c, m->size[k] - 2);
        f[k] = c - (float)at[k];
        e[k] = direction[k] = 0.0f;
    }
    for (int c = 0; c < 8; c++) {
        const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        const float *v = from + ((((int64_t)at[2] + k) * m->size[1] + at[1] + j) * m->size[0] + at[0] + i) * 4;
        const uint32_t packed = tsr_float_bits(v[3]);
        if (!packed) continue;
        const float weight = (i ? f[0] : 1.0f - f[0]) * (j ? f[1] : 1.0f - f[1]) * (k ? f[2] : 1.0f - f[2]), bright = weight * tsr_light_luminance(v);
        float d[3];
        tsr_light_unpack(packed, d);
        lit = lit + weight;
        for (int a = 0; a < 3; a++) {
            e[a] = e[a] + weight * v[a];
            direction[a] = direction[a] + bright * d[a];
        }
    }
    const float inverse = tsr_rsqrt(tsr_maxf(tsr_light_dot(direction, direction), 1e-30f));
    for (int k = 0; k < 3; k++) direction[k] = direction[k] * inverse;
    return lit;
}

/* Coverage by opaque matter. */
TSR_HD float tsr_light_cover(const tsr_light_medium *m, const float p[3])
{
    float s[4];
    if (!tsr_light_inside(m, p)) return 0.0f;
    tsr_light_four(m, m->dim, p, s);
    return s[3];
}

/* Opaque matter between a (outside) and b: its light, seen along d. */
TSR_HD void tsr_light_shade(const tsr_light_seen *s, tsr_light_path *path, const float a[3], const float b[3], const float d[3], const float weight[3])
{
    float low = 0.0f, high = 1.0f, p[3], n[3], skin[4] = { 0.5f, 0.5f, 0.5f, 0.0f }, light[3], e[3], from[3];
    for (int i = 0; i < 6; i++) {
        const float t = 0.5f * (low + high);
        for (int k = 0; k < 3; k++) p[k] = a[k] + t * (b[k] - a[k]);
        if (tsr_light_cover(&s->medium, p) > 0.5f) high = t;
        else low = t;
    }
    float n2 = 0.0f;
    for (int k = 0; k < 3; k++) {
        float q[3] = { p[0], p[1], p[2] };
        q[k] = p[k] - 1.0f;
        n[k] = tsr_light_cover(&s->medium, q);
        q[k] = p[k] + 1.0f;
        n[k] = n[k] - tsr_light_cover(&s->medium, q);
        n2 += n[k] * n[k];
    }
    const float inverse = tsr_rsqrt(tsr_maxf(n2, 1e-12f));
    for (int k = 0; k < 3; k++) {
        n[k] = n2 > 1e-10f ? n[k] * inverse : -d[k];
        light[k] = s->ambient[k] * (0.75f + 0.25f * n[2]);
        p[k] = p[k] + 1.2f * n[k]; /* out of the soft edge, where light ended */
    }
    for (int32_t l = 0; s->field && l < s->layers; l++) {
        const float lit = tsr_light_field_at(s, l, p, e, from), c = -tsr_light_dot(from, n);
        if (!(lit > 0.0f)) break;
        const float share = c * 0.318309886f / tsr_maxf(lit, 0.25f); /* voxels inside have no light: those outside count */
        if (c > 0.0f)
            for (int k = 0; k < 3; k++) light[k] = light[k] + e[k] * share;
    }
    if (s->medium.skin) tsr_light_four(&s->medium, s->medium.skin, p, skin);
    for (int k = 0; k < 3; k++) path->light[k] = path->light[k] + weight[k] * skin[k] * light[k];
}

/* Light that a way of length ds at p adds and takes. */
TSR_HD void tsr_light_pass(const tsr_light_seen *s, tsr_light_path *path, int holds, const float p[3], const float d[3], float ds, float weight[3])
{
    const tsr_light_medium *m = &s->medium;
    float add[3] = { 0.0f, 0.0f, 0.0f }, four[4];
    if (holds & TSR_LIGHT_SCATTERS) {
        float e[3], from[3];
        tsr_light_four(m, m->scatter, p, four);
        const float most = tsr_maxf(tsr_maxf(four[0], four[1]), four[2]);
        if (most > 0.0f) {
            for (int k = 0; k < 3; k++) add[k] = four[k] * s->ambient[k];
            for (int32_t l = 0; s->field && l < s->layers; l++) {
                if (!(tsr_light_field_at(s, l, p, e, from) > 0.0f)) break;
                const float share = tsr_light_phase(four[3], -tsr_light_dot(from, d));
                for (int k = 0; k < 3; k++) add[k] = add[k] + four[k] * share * e[k];
            }
        }
    }
    if (holds & TSR_LIGHT_EMITS) {
        tsr_light_four(m, m->emit, p, four);
        for (int k = 0; k < 3; k++) add[k] = add[k] + four[k];
    }
    if (holds & TSR_LIGHT_DIMS) {
        tsr_light_four(m, m->dim, p, four);
        for (int k = 0; k < 3; k++) { /* of even matter: (1 - e^(-s ds)) / s of the way counts */
            const float t = tsr_light_exp(-four[k] * ds), way = four[k] * ds > 1e-3f ? (1.0f - t) / four[k] : ds * (1.0f - 0.5f * four[k] * ds);
            path->light[k] = path->light[k] + weight[k] * add[k] * way;
            weight[k] = weight[k] * t;
        }
    } else {
        for (int k = 0; k < 3; k++) path->light[k] = path->light[k] + weight[k] * add[k] * ds;
    }
}

/* A run of rising or falling index along a ray is one passage between two media. */
typedef struct tsr_light_passage {
    int active, rising, turned; /* turned: it has just been given up for a total reflection */
    float x[3], d[3], from, to, steepest; /* where it began and whereto, its indices, the square of the steepest gradient */
} tsr_light_passage;

/* `d`: where the ray goes behind it. */
TSR_HD void tsr_light_passed(const tsr_light_seen *s, tsr_light_path *path, tsr_light_passage *g, const float d[3], float weight[3], int32_t depth)
{
    float before[3], after[3], normal[3];
    g->active = 0;
    for (int k = 0; k < 3; k++) {
        before[k] = g->from * g->d[k];
        after[k] = g->to * d[k];
    }
    const float dot = tsr_light_facing(before, after, normal) / g->from, f = tsr_light_reflects(g->from, g->to, tsr_absf(dot), g->steepest);
    if (!(f > 0.0f)) return;
    float r[3], part[3];
    for (int k = 0; k < 3; k++) {
        r[k] = g->d[k] - 2.0f * dot * normal[k];
        part[k] = weight[k] * f;
        weight[k] = weight[k] * (1.0f - f);
    }
    tsr_light_wait(s, path, g->x, r, g->from, part, depth);
}

/* What a sample says of the passage before it. LEVEL: the ray is nearly level and may turn, which later samples tell. */
enum { TSR_LIGHT_GOES_ON, TSR_LIGHT_PASSED, TSR_LIGHT_LEVEL };
TSR_HD int tsr_light_passage_asks(tsr_light_passage *g, const float d[3], const float n[4])
{
    const float along = n[1] * d[0] + n[2] * d[1] + n[3] * d[2], g2 = n[1] * n[1] + n[2] * n[2] + n[3] * n[3];
    const int counts = tsr_absf(along) > TSR_LIGHT_SLOPE;
    g->turned = 0;
    if (!g->active || (counts && (along > 0.0f) == g->rising)) return TSR_LIGHT_GOES_ON;
    if (!g->rising && along > 0.0f && g->d[0] * n[1] + g->d[1] * n[2] + g->d[2] * n[3] < 0.0f) { /* total reflection, done by the ray itself */
        g->active = 0;
        g->turned = 1;
        return TSR_LIGHT_GOES_ON;
    }
    return counts || g2 < 1e-4f || g->rising || g->to < 1.02f ? TSR_LIGHT_PASSED : TSR_LIGHT_LEVEL;
}
/* The sample is of the passage, or begins one. */
TSR_HD void tsr_light_passage_takes(tsr_light_passage *g, const float x[3], const float d[3], const float n[4])
{
    const float along = n[1] * d[0] + n[2] * d[1] + n[3] * d[2], g2 = n[1] * n[1] + n[2] * n[2] + n[3] * n[3];
    if (!(tsr_absf(along) > TSR_LIGHT_SLOPE)) return;
    if (!g->active) {
        g->active = 1;
        g->rising = along > 0.0f;
        g->from = n[0];
        g->steepest = g->turned ? TSR_LIGHT_TURNED : 0.0f; /* on its way back it passes no surface */
        for (int k = 0; k < 3; k++) {
            g->x[k] = x[k];
            g->d[k] = d[k];
        }
    }
    g->to = n[0];
    g->steepest = tsr_maxf(g->steepest, g2);
}

/* Distance along d to where the ray leaves the box, and enters it; 0 if it misses. */
TSR_HD int tsr_light_box(const float low[3], const float high[3], const float x[3], const float d[3], float *enter, float *leave)
{
    float a = 0.0f, b = 1e30f;
    for (int k = 0; k < 3; k++) {
        if (tsr_absf(d[k]) < 1e-12f) {
            if (x[k] < low[k] || x[k] > high[k]) return 0;
            continue;
        }
        const float inverse = 1.0f / d[k], t0 = (low[k] - x[k]) * inverse, t1 = (high[k] - x[k]) * inverse;
        a = tsr_maxf(a, tsr_minf(t0, t1));
        b = tsr_minf(b, tsr_maxf(t0, t1));
    }
    *enter = a;
    *leave = b;
    return a < b;
}

/* Where a ray enters the box of matter: from there on it is followed. 0: it misses. */
TSR_HD int tsr_light_enter(const tsr_light_seen *s, const tsr_light_branch *branch, float x[3], float v[3], float d[3], float weight[3])
{
    const float low[3] = { -0.5f, -0.5f, -0.5f }, inverse = tsr_rsqrt(tsr_light_dot(branch->v, branch->v));
    float enter, leave;
    for (int k = 0; k < 3; k++) {
        x[k] = branch->x[k];
        v[k] = branch->v[k];
        d[k] = v[k] * inverse;
        weight[k] = branch->weight[k];
    }
    if (!tsr_light_box(low, s->medium.upper, x, d, &enter, &leave) || (s->has_floor && x[2] + enter * d[2] < s->floor.z && x[2] > s->floor.z)) return 0;
    if (enter > 0.0f)
        for (int k = 0; k < 3; k++) x[k] = x[k] + (enter + 1e-3f) * d[k];
    return 1;
}

/* A ray under way. */
typedef struct tsr_light_sight {
    float x[3], v[3], d[3], weight[3], first; /* first: how long the next step is, in steps */
    int32_t depth, steps;
    tsr_light_passage passage;
} tsr_light_sight;

/* A ray begins; 0: it misses the matter. */
TSR_HD int tsr_light_set_out(const tsr_light_seen *s, const tsr_light_path *path, const tsr_light_branch *branch, tsr_light_sight *r)
{
    r->first = path->start;
    r->depth = branch->depth;
    r->steps = 0;
    memset(&r->passage, 0, sizeof r->passage);
    return tsr_light_enter(s, branch, r->x, r->v, r->d, r->weight);
}

/* It passes the empty blocks around it. */
TSR_HD void tsr_light_skip(const tsr_light_medium *m, tsr_light_sight *r, int far)
{
    float near_[3], far_[3], enter, leave;
    for (int k = 0; k < 3; k++) {
        const int32_t b = (int32_t)(r->x[k] + 0.5f) / TSR_LIGHT_BLOCK;
        near_[k] = tsr_maxf((float)((b - far + 1) * TSR_LIGHT_BLOCK) - 0.5f, -0.5f); /* not beyond the volume: the floor may be near */
        far_[k] = tsr_minf((float)((b + far) * TSR_LIGHT_BLOCK) - 0.5f, m->upper[k]);
    }
    if (!tsr_light_box(near_, far_, r->x, r->d, &enter, &leave)) leave = 0.0f;
    for (int k = 0; k < 3; k++) r->x[k] = r->x[k] + (leave + 2e-3f) * r->d[k];
}

/* A step of it, through the medium of its colour. */
enum { TSR_LIGHT_ENDS, TSR_LIGHT_GOES, TSR_LIGHT_LEAVES /* tsr_light_outside says what it meets */ };
TSR_HD int tsr_light_go(const tsr_light_seen *s, const tsr_light_medium *m, tsr_light_path *path, tsr_light_sight *r)
{
    float *x = r->x, *d = r->d, n[4];
    if (r->steps++ >= s->most) { /* caught in a trap of total reflection: what it would meet straight on */
        r->depth = s->reflections;
        return TSR_LIGHT_LEAVES;
    }
    const float before[3] = { x[0], x[1], x[2] }, ds = s->step * r->first;
    const int inside = tsr_light_inside(m, x), all = inside ? tsr_light_holds(m, x) : 0, holds = all & 31, bends = holds & TSR_LIGHT_BENDS;
    int passage = r->passage.active ? TSR_LIGHT_PASSED : TSR_LIGHT_GOES_ON;
    if (bends) {
        tsr_ray_ahead_f32(x, d, 0.5f * ds, x);
        tsr_light_sample(m, x, n);
        passage = tsr_light_passage_asks(&r->passage, d, n);
    }
    if (passage == TSR_LIGHT_PASSED) tsr_light_passed(s, path, &r->passage, d, r->weight, r->depth);
    if (!inside) return TSR_LIGHT_LEAVES;
    if (!holds && s->skips) {
        tsr_light_skip(m, r, all >> TSR_LIGHT_FAR);
        return TSR_LIGHT_GOES;
    }
    r->first = 1.0f;
    if (bends) {
        if (passage != TSR_LIGHT_LEVEL) tsr_light_passage_takes(&r->passage, x, d, n);
        tsr_ray_turn_f32(n, x, r->v, d, ds);
    } else {
        for (int k = 0; k < 3; k++) x[k] = x[k] + ds * d[k];
    }
    if (!(holds & (TSR_LIGHT_DIMS | TSR_LIGHT_SCATTERS | TSR_LIGHT_EMITS | TSR_LIGHT_STOPS))) return TSR_LIGHT_GOES;
    float mid[3];
    for (int k = 0; k < 3; k++) mid[k] = 0.5f * (before[k] + x[k]);
    if ((holds & TSR_LIGHT_STOPS) && tsr_light_cover(m, x) > 0.5f) {
        tsr_light_shade(s, path, before, x, d, r->weight);
        return TSR_LIGHT_ENDS;
    }
    if (tsr_light_inside(m, mid)) tsr_light_pass(s, path, holds, mid, d, ds, r->weight);
    return tsr_maxf(tsr_maxf(r->weight[0], r->weight[1]), r->weight[2]) < 1e-3f ? TSR_LIGHT_ENDS : TSR_LIGHT_GOES;
}

TSR_HD uint32_t tsr_light_hash(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* The ray of sample n of pixel i, of colour c (0: all); returns how long its first step is. */
TSR_HD float tsr_light_eye(const tsr_light_seen *s, int64_t i, int32_t n, int c, tsr_light_branch *b)
{
    const uint32_t number = (uint32_t)(s->first_sample + n), seed = tsr_light_hash((uint32_t)i * 2u + 1u);
    /* the sample's place in the pixel: multiples of the plastic number's powers, modulo 1; the first is the middle */
    const float jx = (float)((number * 3242174889u + 0x80000000u) >> 8) * 0x1p-24f, jy = (float)((number * 2447445414u + 0x80000000u) >> 8) * 0x1p-24f;
    const float fx = (float)(int32_t)(i % s->width) + jx, fy = (float)(int32_t)(i / s->width) + jy;
    float n2 = 0.0f;
    for (int k = 0; k < 3; k++) {
        b->x[k] = s->origin[0][k] + fx * s->shift[0][k] + fy * s->shift[1][k];
        b->v[k] = s->direction[0][k] + fx * s->direction[1][k] + fy * s->direction[2][k];
        b->weight[k] = c == 0 || c == k + 1 ? 1.0f : 0.0f;
        n2 += b->v[k] * b->v[k];
    }
    const float inverse = tsr_rsqrt(n2);
    for (int k = 0; k < 3; k++) b->v[k] = b->v[k] * inverse;
    b->depth = 0;
    return s->samples + s->first_sample > 1 ? 0.1f + 0.9f * (float)((seed + number * 2654435769u) >> 8) * 0x1p-24f : 1.0f;
}

TSR_HD void tsr_light_paint(const tsr_light_seen *s, int64_t i, const float light[3])
{
    const float share = 1.0f / (float)s->samples;
    for (int k = 0; k < 3; k++) s->picture[(int64_t)k * s->width * s->height + i] = light[k] * share;
}

TSR_HD void tsr_light_begin_pixel(const tsr_light_seen *s, tsr_light_path *path, int64_t i)
{
    path->light[0] = path->light[1] = path->light[2] = 0.0f;
    path->count = path->sample = 0;
    path->color = s->dispersed ? 0 : -1;
    path->pixel = i;
}

/* The next ray of a pixel: what waits, the next colour, the next sample. 0: there is none, the pixel is painted. */
TSR_HD int tsr_light_next_ray(const tsr_light_seen *s, tsr_light_path *path, tsr_light_branch *b)
{
    if (path->count > 0) {
        *b = path->waiting[--path->count];
        return 1;
    }
    if (++path->color > (s->dispersed ? 3 : 0)) {
        path->color = s->dispersed ? 1 : 0;
        path->sample++;
    }
    if (path->sample >= s->samples) {
        tsr_light_paint(s, path->pixel, path->light);
        path->pixel = -1;
        return 0;
    }
    path->start = tsr_light_eye(s, path->pixel, path->sample, path->color, b);
    return 1;
}

/* Pixel i. */
TSR_HD void tsr_light_pixel(const tsr_light_seen *s, int64_t i)
{
    tsr_light_medium m = s->medium;
    tsr_light_path path;
    tsr_light_branch b;
    tsr_light_sight r;
    tsr_light_begin_pixel(s, &path, i);
    while (tsr_light_next_ray(s, &path, &b)) {
        m.bend = s->bends[path.color];
        int goes = tsr_light_set_out(s, &path, &b, &r) ? TSR_LIGHT_GOES : TSR_LIGHT_LEAVES;
        while (goes == TSR_LIGHT_GOES) goes = tsr_light_go(s, &m, &path, &r);
        if (goes == TSR_LIGHT_LEAVES) tsr_light_outside(s, &path, r.x, r.d, r.weight, r.depth);
    }
}

/* ---- tones ---- */

typedef struct tsr_light_tones {
    const float *picture; /* [3][count] */
    uint8_t *pixels;
    int64_t count, *sum; /* sum of log2 of the luminance, in 2^-16, over pixels */
    float exposure, white; /* white: 1 / white^2 */
} tsr_light_tones;

TSR_HD int64_t tsr_light_tone_log(const tsr_light_tones *t, int64_t i)
{
    const float c[3] = { t->picture[i], t->picture[t->count + i], t->picture[2 * t->count + i] };
    const float l = tsr_clampf(tsr_light_luminance(c), 1e-4f, 1e6f);
    return (int64_t)(tsr_light_log2(l) * 65536.0f);
}
TSR_HD void tsr_light_tone_pixel(const tsr_light_tones *t, int64_t i)
{
    float c[3];
    for (int k = 0; k < 3; k++) {
        const float v = t->picture[(int64_t)k * t->count + i] * t->exposure;
        c[k] = v > 0.0f && v < 1e8f ? v : v >= 1e8f ? 1e8f : 0.0f;
    }
    const float l = tsr_light_luminance(c), to = l * (1.0f + l * t->white) / (1.0f + l), scale = l > 0.0f ? to / l : 0.0f;
    /* colours beyond white go towards it rather than be cut */
    float most = tsr_maxf(tsr_maxf(c[0], c[1]), c[2]) * scale;
    const float grey = most > 1.0f && to < 1.0f ? tsr_clampf((most - 1.0f) / tsr_maxf(most - to, 1e-6f), 0.0f, 1.0f) : 0.0f;
    for (int k = 0; k < 3; k++) {
        float v = c[k] * scale;
        v = tsr_clampf(v + grey * (to - v), 0.0f, 1.0f);
        v = v <= 0.0031308f ? 12.92f * v : 1.055f * tsr_light_raise(v, 1.0f / 2.4f) - 0.055f;
        t->pixels[i * 3 + k] = (uint8_t)(tsr_clampf(v, 0.0f, 1.0f) * 255.0f + 0.5f);
    }
}

#endif
