#include "stl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "scheme.h"

#define SOURCE_EDGE 3
#define SOURCE_NAME(f) f##_3
#include "tile.h"
#undef SOURCE_EDGE
#undef SOURCE_NAME
#define SOURCE_EDGE 4
#define SOURCE_NAME(f) f##_4
#include "tile.h"
#undef SOURCE_EDGE
#undef SOURCE_NAME
#define SOURCE_EDGE 8
#define SOURCE_NAME(f) f##_8
#include "tile.h"

static void run_pass(source_stl *s, const source_motion *m, float speed, int stage, int last, const float *from, const float *start, float *to)
{
    (s->edge == 3 ? pass_3 : s->edge == 4 ? pass_4 : pass_8)(s, m, speed, stage, last, from, start, to);
}

/* ---- flags ---------------------------------------------------------------------------------------------------------------------------------------- */

uint32_t source_trigger(int i)
{
    uint32_t areas = 0;
    for (int a = 0; a < SOURCE_DIRECTIONS; a++) {
        int touches = 1;
        for (int k = 0; k < 3; k++) touches = touches && (source_along(i, k) == 0 || source_along(a, k) == -source_along(i, k));
        areas |= (uint32_t)touches << a;
    }
    return areas;
}

uint32_t source_areas(const source_stl *s, int x, int y, int z)
{
    const int at[3] = { x, y, z };
    uint32_t areas = 0;
    for (int a = 0; a < SOURCE_DIRECTIONS; a++) {
        int within = 1;
        for (int k = 0; k < 3; k++) {
            const int low = at[k] < s->guard, high = at[k] >= s->edge - s->guard, d = source_along(a, k);
            within = within && (d < 0 ? low : d > 0 ? high : !low && !high);
        }
        areas |= (uint32_t)within << a;
    }
    return areas;
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------------------------- */

static int fail(source_stl *s, const char *text)
{
    snprintf(s->error, sizeof s->error, "%s", text);
    return 0;
}

static int widen(void **at, size_t bytes)
{
    void *moved = realloc(*at, bytes);
    if (moved) *at = moved;
    return moved != NULL;
}

/* Room for so many blocks and entries; what there is stays. */
static int reserve(source_stl *s, int32_t wanted)
{
    if (wanted <= s->room) return 1;
    const size_t room = (size_t)wanted + (size_t)wanted / 2 + 16;
    int ok = 1;
    for (int i = 0; i < 2; i++) {
        ok = ok && widen((void **)&s->key[i], (room + 1) * sizeof(uint64_t)) && widen((void **)&s->index[i], room * sizeof(uint32_t)) &&
             widen((void **)&s->border[i], room * sizeof(uint32_t)) && widen((void **)&s->act[i], room * sizeof(uint32_t)) &&
             widen((void **)&s->age[i], room);
    }
    for (int i = 0; i < s->fields; i++) ok = ok && widen((void **)&s->phi[i], room * (size_t)s->voxels * sizeof(float));
    if (!ok) return fail(s, "no memory for more tiles");
    s->room = (int32_t)room;
    return 1;
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------------------------- */

/* Appends to the list that management writes; keys come in increasing order. */
static int append(source_stl *s, int32_t *count, uint64_t key, uint32_t block)
{
    if (*count > 0 && s->key[1][*count - 1] >= key) return fail(s, "unsorted append");
    s->key[1][*count] = key;
    s->index[1][(*count)++] = block;
    return 1;
}

static void take_over(source_stl *s, int32_t count)
{
    uint64_t *key = s->key[0];
    uint32_t *index = s->index[0];
    s->key[1][count] = SOURCE_END;
    s->key[0] = s->key[1];
    s->key[1] = key;
    s->index[0] = s->index[1];
    s->index[1] = index;
    s->count = count;
}

/* Algorithm 6.3 with its errata: every tile that an area of a neighbour or of itself asks for is in the next list, and no other. New blocks come from the
 * end: those of dropped tiles may still be read in this pass. */
static int manage(source_stl *s, int units)
{
    int32_t count = 0;
    s->created = s->removed = 0;
    for (int32_t u = 0; u < units; u++) {
        source_dilation d = source_dilation_of(s->key[0], s->count, u, units);
        while (source_dilation_next(&d)) {
            uint32_t trigger = 0, outside = 0;
            for (int i = 0; i < SOURCE_DIRECTIONS; i++) {
                if (!(d.match >> i & 1u)) continue;
                trigger |= s->act[0][s->index[0][d.p[i]]] & source_trigger(i);
                outside |= s->border[0][s->index[0][d.p[i]]] >> (26 - i) & 1u;
            }
            if (d.match >> SOURCE_MIDDLE & 1u) {
                const uint32_t block = s->index[0][d.p[SOURCE_MIDDLE]], class = s->act[0][block] >> 27 & 1u;
                if (trigger) {
                    s->age[0][block] = (uint8_t)(s->age[0][block] + (s->age[0][block] < 255));
                    if (!append(s, &count, d.current, block)) return 0;
                    continue;
                }
                for (int i = 0; i < SOURCE_DIRECTIONS; i++) {
                    if (i == SOURCE_MIDDLE || !(d.match >> i & 1u)) continue;
                    uint32_t *border = &s->border[0][s->index[0][d.p[i]]];
                    *border = (*border & ~(1u << (26 - i))) | class << (26 - i);
                }
                s->removed++;
            } else if (trigger) {
                if (!source_in_range(d.current)) return fail(s, "a tile beyond the range of keys");
                if (!reserve(s, s->blocks + 1)) return 0;
                d.key = s->key[0]; /* which may have moved to larger memory */
                const uint32_t block = (uint32_t)s->blocks++;
                for (int v = 0; v < s->voxels; v++) s->phi[0][(int64_t)block * s->voxels + v] = outside ? s->band : -s->band;
                s->border[0][block] = outside ? 0x7ffffffu : 0;
                s->act[0][block] = outside ? SOURCE_OUTSIDE : 0;
                s->age[0][block] = 0;
                if (!append(s, &count, d.current, block)) return 0;
                s->created++;
            }
        }
    }
    take_over(s, count);
    return 1;
}

/* After a last pass into phi[field]: blocks lie in list order. */
static void accept(source_stl *s, int field)
{
    float *phi = s->phi[0];
    s->phi[0] = s->phi[field];
    s->phi[field] = phi;
    for (int k = 0; k < 2; k++) {
        uint32_t **pair = k ? s->act : s->border, *old = pair[0];
        pair[0] = pair[1];
        pair[1] = old;
    }
    uint8_t *age = s->age[0];
    s->age[0] = s->age[1];
    s->age[1] = age;
    for (int32_t o = 0; o < s->count; o++) s->index[0][o] = (uint32_t)o;
    s->blocks = s->count;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------------------------------------ */

struct dense {
    const float *field;
    const int32_t *n;
    float band;
};
static float dense_at(const struct dense *d, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= d->n[0] || y >= d->n[1] || z >= d->n[2]) return d->band;
    return source_min(source_max(d->field[((int64_t)z * d->n[1] + y) * d->n[0] + x], -d->band), d->band);
}
/* In the band, or beside a voxel of the other sign. */
static int dense_counts(const struct dense *d, int32_t x, int32_t y, int32_t z)
{
    const float v = dense_at(d, x, y, z);
    int crossing = 0;
    for (int k = 0; k < 6; k++) {
        const int32_t step = k & 1 ? 1 : -1;
        crossing |= (dense_at(d, x + (k / 2 == 0) * step, y + (k / 2 == 1) * step, z + (k / 2 == 2) * step) < 0) != (v < 0);
    }
    return (v > -d->band && v < d->band) || crossing;
}

source_stl *source_create(int edge, float band, int guard, int stages, const float *field, const int32_t n[3])
{
    source_stl *s = edge == 3 || edge == 4 || edge == 8 ? (source_stl *)calloc(1, sizeof *s) : NULL;
    const struct dense d = { field, n, band };
    int32_t count = 0;
    if (!s) return NULL;
    s->edge = edge;
    s->voxels = edge * edge * edge;
    s->guard = guard;
    s->band = band;
    s->fields = stages == 3 ? 3 : 2;
    s->volume_start = -1;
    int ok = reserve(s, 1);
    for (int32_t z = 0; ok && z * edge < n[2]; z++)
        for (int32_t y = 0; ok && y * edge < n[1]; y++)
            for (int32_t x = 0; ok && x * edge < n[0]; x++) {
                int wanted = 0;
                for (int v = 0; v < s->voxels && !wanted; v++) {
                    const int32_t at[3] = { x * edge + v % edge, y * edge + v / edge % edge, z * edge + v / edge / edge };
                    wanted = at[0] < n[0] && at[1] < n[1] && at[2] < n[2] && dense_counts(&d, at[0], at[1], at[2]);
                }
                if (!wanted) continue;
                ok = reserve(s, count + 1) && append(s, &count, source_key(x, y, z), (uint32_t)count);
                for (int v = 0; ok && v < s->voxels; v++)
                    s->phi[0][(int64_t)(count - 1) * s->voxels + v] =
                        dense_at(&d, x * edge + v % edge, y * edge + v / edge % edge, z * edge + v / edge / edge);
            }
    for (int32_t o = 0; ok && o < count; o++) {
        s->border[0][o] = 0;
        s->act[0][o] = s->age[0][o] = 0;
        for (int i = 0; i < SOURCE_DIRECTIONS; i++) { /* a tile that is not stored has one sign: that of its first voxel */
            const uint64_t key = s->key[1][o] + source_offset(i);
            const float there = dense_at(&d, source_coordinate(key, 0) * edge, source_coordinate(key, 1) * edge, source_coordinate(key, 2) * edge);
            s->border[0][o] |= (uint32_t)(there >= 0) << i;
        }
    }
    if (ok) {
        take_over(s, count);
        s->blocks = count;
        run_pass(s, NULL, 0, 0, 1, s->phi[0], s->phi[0], s->phi[1]);
        accept(s, 1);
        ok = manage(s, 1);
    }
    if (!ok) source_destroy(&s);
    return s;
}

void source_destroy(source_stl **s)
{
    if (!*s) return;
    for (int i = 0; i < 2; i++) {
        free((*s)->key[i]);
        free((*s)->index[i]);
        free((*s)->border[i]);
        free((*s)->act[i]);
        free((*s)->age[i]);
    }
    for (int i = 0; i < 3; i++) free((*s)->phi[i]);
    free(*s);
    *s = NULL;
}

/* ---- a step ----------------------------------------------------------------------------------------------------------------------------------------- */

/* F of this step: what is constant, the mean of the curvature, and what brings the volume back. */
static float speed_of(source_stl *s, const source_motion *m)
{
    double sum[3] = { 0 };
    if (m->mean == 0 && m->feedback == 0) return m->speed;
    (s->edge == 3 ? sums_3 : s->edge == 4 ? sums_4 : sums_8)(s, sum);
    for (int32_t o = 1; o < s->count; o++) { /* tiles inside that are not stored fill gaps within rows */
        const int32_t gap = source_coordinate(s->key[0][o], 0) - source_coordinate(s->key[0][o - 1], 0) - 1;
        if (s->key[0][o] >> 21 == s->key[0][o - 1] >> 21 && gap > 0 && !(s->border[0][s->index[0][o - 1]] >> (SOURCE_MIDDLE + 1) & 1u))
            sum[2] += (double)gap * s->voxels;
    }
    s->mean = sum[1] > 0 ? (m->half ? 0.5 : 1) * sum[0] / sum[1] : 0;
    if (s->volume_start < 0) s->volume_start = sum[2];
    double speed = (double)m->speed + (double)m->mean * s->mean;
    if (sum[1] > 0) speed += (double)m->feedback * (s->volume_start - sum[2]) / sum[1];
    return (float)speed;
}

int source_step(source_stl *s, const source_motion *m, int units)
{
    const float speed = speed_of(s, m);
    int from = 0;
    if (m->stages > s->fields && m->stages == 3) return fail(s, "three stages need three fields");
    for (int stage = 0; stage < m->stages; stage++) {
        const int last = stage == m->stages - 1, to = from == 1 ? 2 : 1;
        run_pass(s, m, speed, stage, last, s->phi[from], s->phi[0], s->phi[to]);
        from = to;
    }
    accept(s, from);
    return manage(s, units);
}

/* ---- what there is ------------------------------------------------------------------------------------------------------------------------------------ */

static int32_t floor_of(int32_t a, int32_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

float source_value(const source_stl *s, int32_t x, int32_t y, int32_t z)
{
    const int32_t e = s->edge, tile[3] = { floor_of(x, e), floor_of(y, e), floor_of(z, e) };
    const uint64_t key = source_key(tile[0], tile[1], tile[2]);
    const int32_t at = source_lower_bound(s->key[0], s->count, key);
    if (at < s->count && s->key[0][at] == key)
        return s->phi[0][(int64_t)s->index[0][at] * s->voxels + (x - tile[0] * e) + e * ((y - tile[1] * e) + e * (z - tile[2] * e))];
    uint32_t outside = 1; /* of a row without tiles */
    if (at < s->count && s->key[0][at] >> 21 == key >> 21) outside = s->border[0][s->index[0][at]] >> (SOURCE_MIDDLE - 1) & 1u;
    else if (at > 0 && s->key[0][at - 1] >> 21 == key >> 21) outside = s->border[0][s->index[0][at - 1]] >> (SOURCE_MIDDLE + 1) & 1u;
    return outside ? s->band : -s->band;
}

int64_t source_active(const source_stl *s)
{
    int64_t active = 0;
    for (int32_t o = 0; o < s->count; o++)
        for (int v = 0; v < s->voxels; v++) {
            const float phi = s->phi[0][(int64_t)s->index[0][o] * s->voxels + v];
            active += phi > -s->band && phi < s->band;
        }
    return active;
}

int64_t source_bytes(const source_stl *s) /* values, and twice key, index, border flags, activity and age */
{
    return (int64_t)s->count * ((int64_t)s->fields * s->voxels * 4 + 2 * (8 + 4 + 4 + 4 + 1));
}

const char *source_broken(const source_stl *s)
{
    const char *broken = NULL;
    uint8_t *seen = (uint8_t *)calloc((size_t)s->room + 1, 1);
    if (!seen) return "no memory";
    for (int32_t o = 0; o < s->count; o++) {
        const uint32_t block = s->index[0][o];
        if (o && s->key[0][o] <= s->key[0][o - 1]) broken = "I1: keys do not increase";
        if (block >= (uint32_t)s->room || block >= (uint32_t)s->blocks || seen[block]) broken = "I5: a block is shared or beyond the room";
        else seen[block] = 1;
    }
    if (s->key[0][s->count] != SOURCE_END) broken = "the list has no end mark";
    source_dilation d = source_dilation_of(s->key[0], s->count, 0, 1);
    while (!broken && source_dilation_next(&d)) {
        uint32_t outside = 0, inside = 0;
        if (d.match >> SOURCE_MIDDLE & 1u) continue;
        for (int i = 0; i < SOURCE_DIRECTIONS; i++) {
            if (!(d.match >> i & 1u)) continue;
            const uint32_t block = s->index[0][d.p[i]], bit = s->border[0][block] >> (26 - i) & 1u;
            outside |= bit;
            inside |= bit ^ 1u;
            for (int v = 0; v < s->voxels; v++) {
                const float phi = s->phi[0][(int64_t)block * s->voxels + v];
                if (phi > -s->band && phi < s->band && source_areas(s, v % s->edge, v / s->edge % s->edge, v / s->edge / s->edge) & source_trigger(i))
                    broken = "I3: a voxel of the band faces a tile that is not stored";
            }
        }
        if (outside && inside) broken = "I4: the neighbours of a tile that is not stored disagree about it";
    }
    free(seen);
    return broken;
}
