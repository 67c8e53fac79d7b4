/* vision/textures/unwrap_pack.c: charts side by side in an atlas: the tallest first, each where it comes to lie lowest on those before, by the outlines of both
 * [Levy02 4]; the scale is the greatest of some at which all fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/status.h"
#include "vision/textures/unwrap.h"

enum { GAP = 2, TRIES = 14, PLACES_MOST = 1024 }; /* texels between charts; scales; columns that are asked */

typedef struct packing {
    tsr_unwrapping *u;
    int32_t *rank;       /* charts, the tallest first */
    int32_t *sky;        /* columns: the lowest free row */
    int32_t *low, *high; /* columns of a chart: its outline, rows from its corner */
} packing;

typedef struct tall {
    double height;
    int32_t chart;
} tall;

static int tall_order(const void *a, const void *b)
{
    const tall *x = (const tall *)a, *y = (const tall *)b;
    if (x->height != y->height) return x->height > y->height ? -1 : 1;
    return x->chart < y->chart ? -1 : 1;
}

/* Along an edge: in every column that it crosses, its lowest and highest row. */
static void outline_edge(packing *p, const double a[2], const double b[2], int32_t columns)
{
    const int32_t first = (int32_t)fmin(a[0], b[0]), last = (int32_t)fmin(fmax(a[0], b[0]), columns - 1);
    for (int32_t x = first; x <= last; x++) {
        const double wide = b[0] - a[0];
        double from = fabs(wide) > 0 ? (fmax(x, fmin(a[0], b[0])) - a[0]) / wide : 0,
               to = fabs(wide) > 0 ? (fmin(x + 1, fmax(a[0], b[0])) - a[0]) / wide : 1;
        from = a[1] + from * (b[1] - a[1]);
        to = a[1] + to * (b[1] - a[1]);
        const int32_t low = (int32_t)floor(fmin(from, to)), high = (int32_t)floor(fmax(from, to)) + 1;
        if (low < p->low[x]) p->low[x] = low;
        if (high > p->high[x]) p->high[x] = high;
    }
}

static void outline(packing *p, const tsr_unwrap_chart *c, double scale, int turned, int32_t columns)
{
    const tsr_unwrapping *u = p->u;
    for (int32_t x = 0; x < columns; x++) {
        p->low[x] = INT32_MAX / 2;
        p->high[x] = 0;
    }
    for (int64_t i = 0; i < c->count; i++) {
        double q[3][2];
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 2; d++) {
                const double at = u->flat[u->corner[3 * u->order[c->first + i] + k]][d];
                q[k][d] = scale * fmax(0, turned ? c->size[d] - at : at);
            }
        for (int k = 0; k < 3; k++) outline_edge(p, q[k], q[(k + 1) % 3], columns);
    }
}

/* The row at which a chart lies lowest, its column in *at; -1: nowhere within the width. */
static int32_t settle(const packing *p, int32_t columns, int32_t *at)
{
    const int32_t width = p->u->mesh->width, step = 1 + width / PLACES_MOST;
    int32_t best = INT32_MAX;
    for (int32_t x = 0; x + columns <= width; x += step) {
        int32_t row = 0;
        for (int32_t k = 0; k < columns && row < best; k++)
            if (p->sky[x + k] - p->low[k] > row) row = p->sky[x + k] - p->low[k];
        if (row >= best) continue;
        best = row;
        *at = x;
    }
    return best == INT32_MAX ? -1 : best;
}

/* All charts at a scale, in texels a world unit. 0: they do not fit. */
static int try_scale(packing *p, double scale)
{
    tsr_unwrapping *u = p->u;
    const int32_t width = u->mesh->width, height = u->mesh->height;
    memset(p->sky, 0, (size_t)width * sizeof *p->sky);
    for (int32_t r = 0; r < u->charts; r++) {
        tsr_unwrap_chart *c = &u->chart[p->rank[r]];
        int32_t row[2] = { -1, -1 }, at[2] = { 0, 0 };
        if (!(scale * c->size[0] < width) || !(scale * c->size[1] < height)) return 0;
        const int32_t columns = (int32_t)(scale * c->size[0]) + 1;
        for (int turned = 0; turned < 2; turned++) {
            outline(p, c, scale, turned, columns);
            row[turned] = settle(p, columns, &at[turned]);
            if (row[turned] < 0) return 0;
        }
        c->turned = row[1] < row[0];
        if (!c->turned) outline(p, c, scale, 0, columns);
        c->at[0] = at[c->turned];
        c->at[1] = row[c->turned];
        for (int32_t k = 0; k < columns; k++) {
            const int32_t top = c->at[1] + p->high[k];
            if (top > height) return 0;
            for (int32_t x = c->at[0] + k - GAP; x <= c->at[0] + k + GAP; x++)
                if (x >= 0 && x < width && top + GAP > p->sky[x]) p->sky[x] = top + GAP;
        }
    }
    u->scale = scale;
    return 1;
}

tsr_status tsr_unwrap_pack(tsr_unwrapping *u)
{
    packing p = { .u = u };
    const int32_t width = u->mesh->width, height = u->mesh->height;
    double area = 0, high = 0, low = 0, tallest = 0;
    tall *list = (tall *)malloc((size_t)u->charts * sizeof *list);
    p.rank = (int32_t *)malloc((size_t)u->charts * sizeof *p.rank);
    p.sky = (int32_t *)malloc((size_t)width * 3 * sizeof *p.sky);
    tsr_status status = TSR_OK;
    if (!list || !p.rank || !p.sky) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%.200s: out of memory for %d charts", u->what, u->charts);
    p.low = p.sky + width;
    p.high = p.low + width;
    for (int32_t k = 0; k < u->charts; k++) list[k] = (tall){ u->chart[k].size[1], k };
    qsort(list, (size_t)u->charts, sizeof *list, tall_order);
    for (int32_t k = 0; k < u->charts; k++) p.rank[k] = list[k].chart;
    for (int64_t t = 0; t < u->mesh->triangles; t++) area += u->area[t];
    tallest = list[0].height;
    high = fmin(sqrt((double)width * height / area) * 2, height / tallest);
    for (int k = 0; k < TRIES; k++) {
        const double middle = k ? (low + high) / 2 : high / 2;
        if (try_scale(&p, middle)) low = middle;
        else high = middle;
    }
    if (!(low > 0) || !try_scale(&p, low))
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done,
                      "%.200s: an atlas of %d x %d texels has no room for its %d charts: expected a larger one, or a mesh with fewer pieces", u->what,
                      width, height, u->charts);
done:
    free(list);
    free(p.rank);
    free(p.sky);
    return status;
}
