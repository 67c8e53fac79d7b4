/* vision/textures/unwrap.c: an atlas for any mesh: charts grow over triangles that look about the same way, and are laid flat along that way. */
#include "vision/textures/unwrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/status.h"
#include "mesh/weld.h"

enum { ANGLES = 18, CELLS = 256 };
static const double GROW_COSINE = 0.5; /* of a triangle's normal and its chart's axis, at least */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* ---- neighbours ------------------------------------------------------------------------------------------------------------------- */

/* Vertices at one point are one: files cut meshes along the seams of their atlas. */
static tsr_status weld(tsr_unwrapping *u)
{
    const tsr_unwrap_mesh *m = u->mesh;
    float *points = (float *)malloc((size_t)m->vertices * 3 * sizeof *points);
    tsr_weld w = { .points = points };
    if (!points) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of memory for %lld vertices", u->what, (long long)m->vertices);
    for (int64_t i = 0; i < 3 * m->vertices; i++) points[i] = m->position[i] + 0.0f; /* -0 is 0 */
    const tsr_status status = tsr_weld_points(&w, m->vertices, NULL, u->welded);
    for (int64_t i = 0; i < m->vertices && status == TSR_OK; i++) u->welded[i] = w.first[u->welded[i]];
    tsr_weld_free(&w);
    free(points);
    TSR_TRY(status);
    return TSR_OK;
}

typedef struct edge {
    uint32_t low, high;
    int64_t corner; /* 3 * triangle + k; turned: from high to low */
    int turned;
} edge;

static int edge_order(const void *a, const void *b)
{
    const edge *x = (const edge *)a, *y = (const edge *)b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->corner < y->corner ? -1 : x->corner > y->corner;
}

/* Two triangles that go along an edge in opposite ways are neighbours; an edge of more than two joins none. */
static tsr_status join(tsr_unwrapping *u)
{
    const tsr_unwrap_mesh *m = u->mesh;
    const int64_t corners = 3 * m->triangles;
    edge *list = (edge *)malloc((size_t)corners * sizeof *list);
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of memory for %lld edges", u->what, (long long)corners);
    for (int64_t i = 0; i < corners; i++) {
        const uint32_t a = u->welded[m->triangle[i]], b = u->welded[m->triangle[i / 3 * 3 + (i + 1) % 3]];
        list[i] = (edge){ a < b ? a : b, a < b ? b : a, i, a > b };
        u->neighbour[i] = -1;
    }
    qsort(list, (size_t)corners, sizeof *list, edge_order);
    for (int64_t i = 0, n; i < corners; i += n) {
        for (n = 1; i + n < corners && list[i + n].low == list[i].low && list[i + n].high == list[i].high; n++) continue;
        if (n != 2 || list[i].turned == list[i + 1].turned) continue;
        u->neighbour[list[i].corner] = list[i + 1].corner / 3;
        u->neighbour[list[i + 1].corner] = list[i].corner / 3;
    }
    free(list);
    return TSR_OK;
}

static int64_t measure(tsr_unwrapping *u)
{
    const tsr_unwrap_mesh *m = u->mesh;
    int64_t with = 0;
    for (int64_t t = 0; t < m->triangles; t++) {
        double a[3], b[3], *n = u->normal[t], length = 0;
        for (int k = 0; k < 3; k++) {
            const double p = (double)m->position[3 * (int64_t)m->triangle[3 * t] + k];
            a[k] = (double)m->position[3 * (int64_t)m->triangle[3 * t + 1] + k] - p;
            b[k] = (double)m->position[3 * (int64_t)m->triangle[3 * t + 2] + k] - p;
        }
        for (int k = 0; k < 3; k++) {
            n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            length += n[k] * n[k];
        }
        length = sqrt(length);
        for (int k = 0; k < 3; k++) n[k] = length > 0 ? n[k] / length : 0;
        u->area[t] = length / 2;
        with += length > 0;
    }
    return with;
}

/* ---- charts ----------------------------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    double cosine; /* of its normal and the axis when it was met: the greatest goes first */
    int64_t triangle;
} candidate;

static int before(const candidate *a, const candidate *b) { return a->cosine > b->cosine || (a->cosine == b->cosine && a->triangle < b->triangle); }

static void push(candidate *heap, int64_t *count, candidate one)
{
    int64_t at = (*count)++;
    for (; at > 0 && before(&one, &heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = one;
}

static candidate pop(candidate *heap, int64_t *count)
{
    const candidate top = heap[0], last = heap[--*count];
    int64_t at = 0, next;
    for (; (next = 2 * at + 1) < *count; at = next) {
        if (next + 1 < *count && before(&heap[next + 1], &heap[next])) next++;
        if (!before(&heap[next], &last)) break;
        heap[at] = heap[next];
    }
    heap[at] = last;
    return top;
}

static tsr_status new_chart(tsr_unwrapping *u, int64_t first)
{
    if (u->charts == u->room) {
        const int32_t room = u->room ? 2 * u->room : 64;
        tsr_unwrap_chart *grown = (tsr_unwrap_chart *)realloc(u->chart, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of memory for %d charts", u->what, room);
        u->chart = grown;
        u->room = room;
    }
    u->chart[u->charts++] = (tsr_unwrap_chart){ .first = first };
    return TSR_OK;
}

/* Two axes across a direction. */
static void across(const double axis[3], double x[3], double y[3])
{
    int small = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(axis[k]) < fabs(axis[small])) small = k;
    for (int k = 0; k < 3; k++) x[k] = (k == small) - axis[small] * axis[k];
    const double length = sqrt(dot(x, x));
    for (int k = 0; k < 3; k++) x[k] /= length;
    for (int k = 0; k < 3; k++) y[k] = axis[(k + 1) % 3] * x[(k + 2) % 3] - axis[(k + 2) % 3] * x[(k + 1) % 3];
}

/* A grid of cells over a chart: a bit for each. */
typedef struct cells {
    uint64_t row[CELLS][CELLS / 64];
} cells;

/* How far within a triangle the centre of a cell lies: the least of its three shares. */
static double within(const double p[3][2], double area, int x, int y)
{
    double least = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3];
        least = fmin(least, ((b[0] - a[0]) * (y + 0.5 - a[1]) - (b[1] - a[1]) * (x + 0.5 - a[0])) / area);
    }
    return least;
}
static int inside(const double p[3][2], double area, int x, int y) { return within(p, area, x, y) > 1e-6; } /* edges are of both */

/* The cells of a row whose centres a triangle covers: from the first to before the last. About where its edges cross the row, then cell by cell. */
static void span_of_row(const double p[3][2], double area, int y, int span[2])
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3], at = y + 0.5, tall = b[1] - a[1];
        if (fmin(a[1], b[1]) > at || fmax(a[1], b[1]) < at || !(fabs(tall) > 0)) continue; /* the ends of a level edge are those of the others */
        const double x = a[0] + (at - a[1]) / tall * (b[0] - a[0]);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    span[0] = span[1] = 0;
    if (low > high) return;
    span[0] = (int)fmin(CELLS - 1, fmax(0, low - 1));
    span[1] = (int)fmin(CELLS, fmax(0, high + 2));
    while (span[0] < span[1] && !inside(p, area, span[0], y)) span[0]++;
    while (span[1] > span[0] && !inside(p, area, span[1] - 1, y)) span[1]--;
}

/* Do the cells whose centres the triangle covers belong to none before? They are its own then. */
static int claim(const double p[3][2], cells *taken)
{
    const double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    const int first = (int)fmin(p[0][1], fmin(p[1][1], p[2][1])), last = (int)fmin(CELLS - 1, fmax(p[0][1], fmax(p[1][1], p[2][1])));
    for (int pass = 0; pass < 2; pass++)
        for (int y = first; y <= last; y++) {
            int span[2];
            span_of_row(p, area, y, span);
            for (int w = span[0] / 64; w * 64 < span[1]; w++) {
                const int from = span[0] > w * 64 ? span[0] - w * 64 : 0, to = span[1] - w * 64;
                const uint64_t bits = (~UINT64_C(0) << from) & (to < 64 ? ~(~UINT64_C(0) << to) : ~UINT64_C(0));
                if (!pass && (taken->row[y][w] & bits)) return 0;
                if (pass) taken->row[y][w] |= bits;
            }
        }
    return 1;
}

/* How many of a chart's triangles, as they came to it, lie side by side and not over one another: a winding stair does not. Two neighbours that look along one
 * axis lie on the two sides of their edge. */
static int64_t count_flat(const tsr_unwrapping *u, const tsr_unwrap_chart *c, cells *taken)
{
    double x[3], y[3], low[2] = { HUGE_VAL, HUGE_VAL }, high[2] = { -HUGE_VAL, -HUGE_VAL }, p[3][2];
    if (c->count < 3) return c->count;
    across(c->axis, x, y);
    memset(taken, 0, sizeof *taken);
    for (int pass = 0; pass < 2; pass++) {
        const double wide = fmax(high[0] - low[0], high[1] - low[1]), scale = wide > 0 ? (CELLS - 0.01) / wide : 0;
        for (int64_t i = 0; i < c->count; i++) {
            for (int k = 0; k < 3; k++) {
                const float *at = u->mesh->position + 3 * (int64_t)u->mesh->triangle[3 * u->order[c->first + i] + k];
                const double v[3] = { (double)at[0], (double)at[1], (double)at[2] }, q[2] = { dot(v, x), dot(v, y) };
                for (int d = 0; d < 2; d++) {
                    if (!pass) low[d] = fmin(low[d], q[d]), high[d] = fmax(high[d], q[d]);
                    p[k][d] = scale * (q[d] - low[d]);
                }
            }
            if (pass && !claim((const double(*)[2])p, taken)) return i;
        }
    }
    return c->count;
}

/* Triangles that hang together with the seed and look along the axis of the chart: a given one, or with `seek` the mean direction of what it has so far. */
static void gather(tsr_unwrapping *u, int64_t seed, int seek, candidate *heap)
{
    tsr_unwrap_chart *c = &u->chart[u->charts - 1];
    int64_t waiting = 0;
    double sum[3], length = 1;
    memcpy(sum, c->axis, sizeof sum);
    c->count = 0;
    push(heap, &waiting, (candidate){ 1, seed });
    while (waiting) {
        const int64_t t = pop(heap, &waiting).triangle;
        if (u->chart_of[t] >= 0 || (c->count && dot(u->normal[t], sum) < GROW_COSINE * length)) continue;
        u->chart_of[t] = u->charts - 1;
        u->order[c->first + c->count++] = t;
        if (seek) {
            for (int k = 0; k < 3; k++) sum[k] = (c->count > 1) * sum[k] + u->area[t] * u->normal[t][k];
            length = sqrt(dot(sum, sum));
        }
        for (int k = 0; k < 3; k++) {
            const int64_t n = u->neighbour[3 * t + k];
            if (n >= 0 && u->chart_of[n] < 0 && u->area[n] > 0) push(heap, &waiting, (candidate){ dot(u->normal[n], sum) / length, n });
        }
    }
    for (int k = 0; k < 3; k++) c->axis[k] = sum[k] / length;
}

static void give_back(tsr_unwrapping *u, tsr_unwrap_chart *c, int64_t kept)
{
    for (int64_t i = kept; i < c->count; i++) u->chart_of[u->order[c->first + i]] = -1;
    c->count = kept;
}

/* One chart from a triangle on: first it seeks its direction, then it takes what looks that way and lies side by side. Returns how many triangles it met. */
static int64_t grow_one(tsr_unwrapping *u, int64_t seed, candidate *heap, cells *taken)
{
    tsr_unwrap_chart *c = &u->chart[u->charts - 1];
    gather(u, seed, 1, heap);
    int64_t met = c->count;
    give_back(u, c, 0);
    if (dot(u->normal[seed], c->axis) < GROW_COSINE) memcpy(c->axis, u->normal[seed], sizeof c->axis);
    gather(u, seed, 0, heap);
    met += c->count;
    give_back(u, c, count_flat(u, c, taken));
    return met;
}

/* Lays a chart flat along its axis, turned so that the rectangle about it is the least of some. */
static void flatten(tsr_unwrapping *u, tsr_unwrap_chart *c, int64_t *place_of)
{
    const tsr_unwrap_mesh *m = u->mesh;
    double x[3], y[3], least[2] = { 0, 0 }, best = HUGE_VAL, turn[2] = { 1, 0 };
    across(c->axis, x, y);
    c->place = u->places;
    for (int64_t i = 0; i < c->count; i++)
        for (int k = 0; k < 3; k++) {
            const int64_t at = 3 * u->order[c->first + i] + k, v = u->welded[m->triangle[at]];
            if (place_of[v] < c->place) { /* of an earlier chart */
                const double p[3] = { (double)m->position[3 * v], (double)m->position[3 * v + 1], (double)m->position[3 * v + 2] };
                u->flat[u->places][0] = dot(p, x);
                u->flat[u->places][1] = dot(p, y);
                place_of[v] = u->places++;
            }
            u->corner[at] = (uint32_t)place_of[v];
        }
    c->places = u->places - c->place;
    double(*flat)[2] = u->flat + c->place;
    for (int a = 0; a < ANGLES; a++) {
        const double angle = a * acos(0) / ANGLES, w[2] = { cos(angle), sin(angle) };
        double low[2] = { HUGE_VAL, HUGE_VAL }, high[2] = { -HUGE_VAL, -HUGE_VAL };
        for (int64_t i = 0; i < c->places; i++)
            for (int k = 0; k < 2; k++) {
                const double q = k ? w[0] * flat[i][1] - w[1] * flat[i][0] : w[0] * flat[i][0] + w[1] * flat[i][1];
                low[k] = fmin(low[k], q);
                high[k] = fmax(high[k], q);
            }
        const double size[2] = { high[0] - low[0], high[1] - low[1] };
        if (!(size[0] * size[1] < best * (1 - 1e-9))) continue;
        best = size[0] * size[1];
        memcpy(turn, w, sizeof turn);
        memcpy(least, low, sizeof least);
        memcpy(c->size, size, sizeof size);
    }
    const int upright = c->size[0] > c->size[1]; /* the longer side goes up: a quarter turn */
    for (int64_t i = 0; i < c->places; i++) {
        const double q[2] = { turn[0] * flat[i][0] + turn[1] * flat[i][1] - least[0], turn[0] * flat[i][1] - turn[1] * flat[i][0] - least[1] };
        flat[i][0] = upright ? c->size[1] - q[1] : q[0];
        flat[i][1] = upright ? q[0] : q[1];
    }
    if (upright) {
        const double wide = c->size[0];
        c->size[0] = c->size[1];
        c->size[1] = wide;
    }
}

tsr_status tsr_unwrap_grow(tsr_unwrapping *u)
{
    const int64_t triangles = u->mesh->triangles;
    int64_t done = 0;
    candidate *heap = (candidate *)malloc((size_t)(3 * triangles + 1) * sizeof *heap);
    cells *taken = (cells *)malloc(sizeof *taken);
    tsr_status status = heap && taken ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "%.200s: out of memory for charts", u->what);
    for (int64_t t = 0; t < triangles; t++) u->chart_of[t] = -1;
    for (int64_t seed = 0; seed < triangles && status == TSR_OK; seed++) {
        while (status == TSR_OK && u->chart_of[seed] < 0 && u->area[seed] > 0) {
            status = new_chart(u, done);
            if (status != TSR_OK) break;
            const int64_t gathered = grow_one(u, seed, heap, taken);
            done += u->chart[u->charts - 1].count;
            status = tsr_unwrap_report(u, gathered, (double)done / (double)triangles);
        }
    }
    free(heap);
    free(taken);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_unwrap_report(tsr_unwrapping *u, int64_t work, double fraction)
{
    enum { WORK_BETWEEN = 1 << 16 };
    u->work += work;
    if (u->work < WORK_BETWEEN) return TSR_OK;
    u->work = 0;
    TSR_PROGRESS(u->progress.whole, tsr_progress_at(&u->progress, fraction), u->progress.stage);
    return TSR_OK;
}

static tsr_status work(tsr_unwrapping *u, float **place)
{
    const tsr_unwrap_mesh *m = u->mesh;
    const size_t triangles = (size_t)m->triangles, vertices = (size_t)m->vertices;
    u->normal = (double(*)[3])malloc(triangles * sizeof *u->normal);
    u->area = (double *)malloc(triangles * sizeof *u->area);
    u->welded = (uint32_t *)malloc(vertices * sizeof *u->welded);
    u->neighbour = (int64_t *)malloc(3 * triangles * sizeof *u->neighbour);
    u->order = (int64_t *)malloc(triangles * sizeof *u->order);
    u->chart_of = (int32_t *)malloc(triangles * sizeof *u->chart_of);
    u->flat = (double(*)[2])malloc((3 * triangles + 1) * sizeof *u->flat);
    u->corner = (uint32_t *)calloc(3 * triangles, sizeof *u->corner);
    int64_t *place_of = (int64_t *)malloc(vertices * sizeof *place_of);
    tsr_status status = TSR_OK;
    if (!u->normal || !u->area || !u->welded || !u->neighbour || !u->order || !u->chart_of || !u->flat || !u->corner || !place_of)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%.200s: out of memory for charts of %zu triangles", u->what, triangles);
    if (!measure(u)) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%.200s: none of %zu triangles has an area: nothing to unwrap", u->what, triangles);
    TSR_TRY_GOTO(weld(u), done);
    TSR_TRY_GOTO(join(u), done);
    TSR_TRY_GOTO(tsr_unwrap_grow(u), done);
    for (size_t v = 0; v < vertices; v++) place_of[v] = -1;
    for (int32_t k = 0; k < u->charts; k++) flatten(u, &u->chart[k], place_of);
    u->progress.from = u->progress.share;
    u->progress.share = 1 - u->progress.from;
    TSR_TRY_GOTO(tsr_unwrap_pack(u), done);
    *place = (float *)malloc((size_t)u->places * 2 * sizeof(float));
    if (!*place) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%.200s: out of memory for %lld places", u->what, (long long)u->places);
    for (int32_t k = 0; k < u->charts; k++) {
        const tsr_unwrap_chart *c = &u->chart[k];
        for (int64_t i = c->place; i < c->place + c->places; i++) {
            const double x = c->at[0] + u->scale * (c->turned ? c->size[0] - u->flat[i][0] : u->flat[i][0]);
            const double y = c->at[1] + u->scale * (c->turned ? c->size[1] - u->flat[i][1] : u->flat[i][1]);
            (*place)[2 * i] = (float)fmin(x / m->width, 1);
            (*place)[2 * i + 1] = (float)fmin(y / m->height, 1);
        }
    }
done:
    free(place_of);
    return status;
}

tsr_status tsr_unwrap(const char *what, const tsr_unwrap_mesh *mesh, const tsr_progress *progress, float **place, int64_t *places, uint32_t **corner)
{
    tsr_unwrapping u = { .what = what, .mesh = mesh, .progress = { progress, "unwrapping", 0, 0.2 } };
    *place = NULL;
    *corner = NULL;
    const tsr_status status = work(&u, place);
    if (status == TSR_OK) {
        *places = u.places;
        *corner = u.corner;
        u.corner = NULL;
    }
    free(u.normal);
    free(u.area);
    free(u.welded);
    free(u.neighbour);
    free(u.order);
    free(u.chart_of);
    free(u.chart);
    free(u.flat);
    free(u.corner);
    TSR_TRY(status);
    return TSR_OK;
}
