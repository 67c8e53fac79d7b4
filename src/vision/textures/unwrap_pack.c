/* vision/textures/unwrap_pack.c: charts side by side in an atlas: the tallest first, each where it comes to lie lowest on those before, by the outlines of both
 * [Levy02 4]; the scale is the greatest of some at which all fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/status.h"
#include "vision/textures/unwrap.h"

enum {
    GAP = 2,             /* texels between charts */
    TRIES = 14,          /* scales */
    PLACES_MOST = 1024,  /* columns that are asked */
    BLOCK = 256,         /* columns */
    ASKED_MOST = 1 << 22 /* columns in one try: then a chart asks about the block of the lowest mean alone */
};

typedef struct outlines {
    int32_t *low, *high; /* columns of a chart: rows from its corner */
} outlines;

typedef struct packing {
    tsr_unwrapping *u;
    int32_t *rank; /* charts, the tallest first */
    int32_t *sky;  /* columns: the lowest free row */
    int64_t *sum;  /* blocks: of the sky */
    outlines way[2];
    int64_t asked; /* columns of this try */
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
static void outline_edge(outlines *o, const double a[2], const double b[2], int32_t columns)
{
    const int32_t first = (int32_t)fmin(a[0], b[0]), last = (int32_t)fmin(fmax(a[0], b[0]), columns - 1);
    for (int32_t x = first; x <= last; x++) {
        const double wide = b[0] - a[0];
        double from = fabs(wide) > 0 ? (fmax(x, fmin(a[0], b[0])) - a[0]) / wide : 0,
               to = fabs(wide) > 0 ? (fmin(x + 1, fmax(a[0], b[0])) - a[0]) / wide : 1;
        from = a[1] + from * (b[1] - a[1]);
        to = a[1] + to * (b[1] - a[1]);
        const int32_t low = (int32_t)floor(fmin(from, to)), high = (int32_t)floor(fmax(from, to)) + 1;
        if (low < o->low[x]) o->low[x] = low;
        if (high > o->high[x]) o->high[x] = high;
    }
}

static void outline(packing *p, const tsr_unwrap_chart *c, double scale, int turned, int32_t columns)
{
    const tsr_unwrapping *u = p->u;
    outlines *o = &p->way[turned];
    for (int32_t x = 0; x < columns; x++) {
        o->low[x] = INT32_MAX / 2;
        o->high[x] = 0;
    }
    for (int64_t i = 0; i < c->count; i++) {
        double q[3][2];
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 2; d++) {
                const double at = u->flat[u->corner[3 * u->order[c->first + i] + k]][d];
                q[k][d] = scale * fmax(0, turned ? c->size[d] - at : at);
            }
        for (int k = 0; k < 3; k++) outline_edge(o, q[k], q[(k + 1) % 3], columns);
    }
}

/* The row at which a chart lies lowest, its column in *at: of columns from `first` to before `last`. -1: nowhere within the width. */
static int32_t settle(packing *p, int turned, int32_t columns, int32_t first, int32_t last, int32_t *at)
{
    const int32_t width = p->u->mesh->width, step = 1 + width / PLACES_MOST, *low = p->way[turned].low;
    int32_t best = INT32_MAX;
    if (last > width - columns + 1) last = width - columns + 1;
    for (int32_t x = first; x < last; x += step) {
        int32_t row = 0;
        for (int32_t k = 0; k < columns && row < best; k++)
            if (p->sky[x + k] - low[k] > row) row = p->sky[x + k] - low[k];
        if (row >= best) continue;
        best = row;
        *at = x;
    }
    if (last > first) p->asked += (last - first) / step + 1;
    return best == INT32_MAX ? -1 : best;
}

/* How far a chart reaches up, laid at a row. */
static int32_t top_of(const packing *p, int turned, int32_t columns, int32_t row)
{
    int32_t top = 0;
    for (int32_t k = 0; k < columns; k++)
        if (row + p->way[turned].high[k] > top) top = row + p->way[turned].high[k];
    return top;
}

static int32_t lowest_block(const packing *p)
{
    const int32_t width = p->u->mesh->width;
    int32_t best = 0;
    double least = HUGE_VAL;
    for (int32_t b = 0; b * BLOCK < width; b++) {
        const double mean = (double)p->sum[b] / (double)(width - b * BLOCK < BLOCK ? width - b * BLOCK : BLOCK);
        if (!(mean < least)) continue;
        least = mean;
        best = b;
    }
    return best;
}

/* A place for a chart, upright or turned, of columns from `first` to before `last`. 0: none within the atlas. */
static int find_place(packing *p, tsr_unwrap_chart *c, int32_t columns, int32_t first, int32_t last)
{
    int32_t row[2], at[2] = { 0, 0 };
    for (int turned = 0; turned < 2; turned++) {
        row[turned] = settle(p, turned, columns, first, last, &at[turned]);
        if (row[turned] < 0) return 0;
    }
    c->turned = row[1] < row[0];
    c->at[0] = at[c->turned];
    c->at[1] = row[c->turned];
    return top_of(p, c->turned, columns, c->at[1]) <= p->u->mesh->height;
}

static void raise_sky(packing *p, const tsr_unwrap_chart *c, int32_t columns)
{
    const int32_t width = p->u->mesh->width;
    for (int32_t k = 0; k < columns; k++) {
        const int32_t top = c->at[1] + p->way[c->turned].high[k] + GAP;
        for (int32_t x = c->at[0] + k - GAP; x <= c->at[0] + k + GAP; x++) {
            if (x < 0 || x >= width || top <= p->sky[x]) continue;
            p->sum[x / BLOCK] += top - p->sky[x];
            p->sky[x] = top;
        }
    }
}

/* Whether there may be room at a scale. A chart of some columns and rows has a texel in each; with the gap to its right and above it, which are its own, it
 * takes GAP more in every row, and then in every column. */
static int may_fit(const packing *p, double scale)
{
    const tsr_unwrapping *u = p->u;
    double taken = 0;
    for (int32_t k = 0; k < u->charts; k++) {
        const double columns = floor(scale * u->chart[k].size[0] * (1 - 1e-9)) + 1, rows = floor(scale * u->chart[k].size[1] * (1 - 1e-9)) + 1;
        taken += fmax(columns, rows) + GAP * (columns + rows + GAP);
    }
    return taken <= (double)(u->mesh->width + GAP) * (u->mesh->height + GAP);
}

/* All charts at a scale, in texels a world unit. *fits = 0: they do not fit. */
static tsr_status try_scale(packing *p, double scale, int *fits)
{
    tsr_unwrapping *u = p->u;
    const int32_t width = u->mesh->width, height = u->mesh->height;
    *fits = 0;
    if (!may_fit(p, scale)) return TSR_OK;
    memset(p->sky, 0, (size_t)width * sizeof *p->sky);
    memset(p->sum, 0, (size_t)(width / BLOCK + 1) * sizeof *p->sum);
    p->asked = 0;
    for (int32_t r = 0; r < u->charts; r++) {
        tsr_unwrap_chart *c = &u->chart[p->rank[r]];
        if (!(scale * c->size[0] < width) || !(scale * c->size[1] < height)) return TSR_OK;
        const int32_t columns = (int32_t)(scale * c->size[0]) + 1;
        const int64_t before = p->asked;
        for (int turned = 0; turned < 2; turned++) outline(p, c, scale, turned, columns);
        int found = 0;
        if (before >= ASKED_MOST) {
            const int32_t first = lowest_block(p) * BLOCK;
            found = find_place(p, c, columns, first < width - columns ? first : width - columns, first + BLOCK);
        }
        if (!found && before < 2 * ASKED_MOST) found = find_place(p, c, columns, 0, width);
        if (!found) return TSR_OK;
        raise_sky(p, c, columns);
        TSR_TRY(tsr_unwrap_report(u, p->asked - before + c->count, (double)r / u->charts));
    }
    u->scale = scale;
    *fits = 1;
    return TSR_OK;
}

tsr_status tsr_unwrap_pack(tsr_unwrapping *u)
{
    packing p = { .u = u };
    const int32_t width = u->mesh->width, height = u->mesh->height;
    const tsr_progress_part whole = u->progress;
    double area = 0, high = 0, low = 0, tallest = 0;
    int fits = 0;
    tall *list = (tall *)malloc((size_t)u->charts * sizeof *list);
    p.rank = (int32_t *)malloc((size_t)u->charts * sizeof *p.rank);
    p.sky = (int32_t *)malloc((size_t)width * 5 * sizeof *p.sky);
    p.sum = (int64_t *)malloc((size_t)(width / BLOCK + 1) * sizeof *p.sum);
    tsr_status status = TSR_OK;
    if (!list || !p.rank || !p.sky || !p.sum) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%.200s: out of memory for %d charts", u->what, u->charts);
    for (int turned = 0; turned < 2; turned++)
        p.way[turned] = (outlines){ p.sky + (size_t)width * (1 + 2 * (size_t)turned), p.sky + (size_t)width * (2 + 2 * (size_t)turned) };
    for (int32_t k = 0; k < u->charts; k++) list[k] = (tall){ u->chart[k].size[1], k };
    qsort(list, (size_t)u->charts, sizeof *list, tall_order);
    for (int32_t k = 0; k < u->charts; k++) p.rank[k] = list[k].chart;
    for (int64_t t = 0; t < u->mesh->triangles; t++) area += u->area[t];
    tallest = list[0].height;
    high = fmin(sqrt((double)width * height / area) * 2, height / tallest);
    for (int k = 0; k < TRIES && may_fit(&p, 0); k++) {
        const double middle = k ? (low + high) / 2 : high / 2;
        u->progress.from = whole.from + whole.share * k / (TRIES + 1);
        u->progress.share = whole.share / (TRIES + 1);
        TSR_TRY_GOTO(try_scale(&p, middle, &fits), done);
        if (fits) low = middle;
        else high = middle;
    }
    u->progress.from = whole.from + whole.share * TRIES / (TRIES + 1);
    if (!fits && low > 0) TSR_TRY_GOTO(try_scale(&p, low, &fits), done); /* where they lie at the last scale is not where they did at this */
    if (!fits) {                                                         /* a texel with its gap for each chart were the least */
        const int side = (int)ceil(sqrt((1.0 + GAP) * (1 + GAP) * u->charts)) - GAP;
        char least[64] = "";
        if (!may_fit(&p, 0)) snprintf(least, sizeof least, " than %d x %d", side, side);
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done,
                      "%.200s: an atlas of %d x %d texels has no room for its %d charts: expected a larger one%s, or a mesh with fewer pieces",
                      u->what, width, height, u->charts, least);
    }
done:
    free(list);
    free(p.rank);
    free(p.sky);
    free(p.sum);
    return status;
}
