/* vision/calibration/circles.c: asymmetric grids of circles: from loose discs to rows and columns. docs/theory/calibration.md 11. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

enum { NEIGHBOURS = 8, SEEDS_MOST = 80, LATTICE_MOST = 4096 };

/* Discs by p and q: steps to the upper right and to the lower right of the board, or a quarter turn or more of that. */
typedef struct node {
    int32_t p, q, disc;
} node;
typedef struct web {
    const tsr_disc *disc;
    int32_t count, columns, rows;
    node *node;
    int32_t nodes;
    int32_t *node_of;       /* of a disc, -1: none */
    int32_t *bucket, *next; /* discs by place */
    int32_t across, down;
    double side;
    int32_t *map; /* of x and y: discs, -1: none */
    int32_t low[2], size[2];
    int32_t *order, *best;
    double largest;
    int32_t boards;
    int mirrored;
    char *used;
} web;

static int32_t nearest(const web *w, const double at[2], double reach)
{
    int32_t best = -1;
    const int x0 = (int)fmax(0, floor((at[0] - reach) / w->side)), x1 = (int)fmin(w->across - 1, floor((at[0] + reach) / w->side)),
              y0 = (int)fmax(0, floor((at[1] - reach) / w->side)), y1 = (int)fmin(w->down - 1, floor((at[1] + reach) / w->side));
    for (int j = y0; j <= y1; j++)
        for (int i = x0; i <= x1; i++)
            for (int32_t k = w->bucket[(int64_t)j * w->across + i]; k >= 0; k = w->next[k]) {
                const double d = hypot(w->disc[k].at[0] - at[0], w->disc[k].at[1] - at[1]);
                if (d < reach) reach = d, best = k;
            }
    return best;
}

static int32_t find_node(const web *w, int32_t p, int32_t q)
{
    for (int32_t i = w->nodes - 1; i >= 0; i--)
        if (w->node[i].p == p && w->node[i].q == q) return w->node[i].disc;
    return -1;
}

static void put(web *w, int32_t p, int32_t q, int32_t disc)
{
    w->node_of[disc] = w->nodes;
    w->node[w->nodes++] = (node){ p, q, disc };
}

/* Where the next one is expected: the step before goes on, or that of a neighbouring row; 0: no step is known. */
static int guess_of(const web *w, const node *n, const int step[2], double at[2])
{
    const double *here = w->disc[n->disc].at;
    const int32_t behind = find_node(w, n->p - step[0], n->q - step[1]);
    if (behind >= 0) {
        for (int i = 0; i < 2; i++) at[i] = 2 * here[i] - w->disc[behind].at[i];
        return 1;
    }
    for (int turn = -1; turn <= 1; turn += 2) {
        const int32_t from = find_node(w, n->p + turn * step[1], n->q + turn * step[0]),
                      to = find_node(w, n->p + turn * step[1] + step[0], n->q + turn * step[0] + step[1]);
        if (from < 0 || to < 0) continue;
        for (int i = 0; i < 2; i++) at[i] = here[i] + w->disc[to].at[i] - w->disc[from].at[i];
        return 1;
    }
    return 0;
}

static void grow(web *w, int32_t seed, int32_t a, int32_t b)
{
    static const int step[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
    const int32_t most = 4 * w->columns * w->rows < LATTICE_MOST ? 4 * w->columns * w->rows : LATTICE_MOST;
    for (int32_t i = 0; i < w->nodes; i++) w->node_of[w->node[i].disc] = -1;
    w->nodes = 0;
    put(w, 0, 0, seed);
    put(w, 1, 0, a);
    put(w, 0, 1, b);
    for (int32_t head = 0; head < w->nodes && w->nodes < most; head++) {
        const node n = w->node[head];
        const tsr_disc *here = &w->disc[n.disc];
        for (int k = 0; k < 4 && w->nodes < most; k++) {
            double at[2];
            if (find_node(w, n.p + step[k][0], n.q + step[k][1]) >= 0 || !guess_of(w, &n, step[k], at)) continue;
            const int32_t found = nearest(w, at, 0.25 * hypot(at[0] - here->at[0], at[1] - here->at[1]));
            if (found < 0 || w->node_of[found] >= 0) continue;
            const double ratio = w->disc[found].area / here->area;
            if (ratio < 0.4 || ratio > 2.5) continue;
            put(w, n.p + step[k][0], n.q + step[k][1], found);
        }
    }
}

/* x = p + q to the right, y = q - p down, turned by quarters. */
static void place_of(const node *n, int quarter, int32_t at[2])
{
    const int32_t x = n->p + n->q, y = n->q - n->p;
    at[0] = quarter == 0 ? x : quarter == 1 ? -y : quarter == 2 ? -x : y;
    at[1] = quarter == 0 ? y : quarter == 1 ? x : quarter == 2 ? -y : -x;
}

static int fill_map(web *w, int quarter)
{
    int32_t high[2] = { INT32_MIN, INT32_MIN }, at[2];
    w->low[0] = w->low[1] = INT32_MAX;
    for (int32_t i = 0; i < w->nodes; i++) {
        place_of(&w->node[i], quarter, at);
        for (int k = 0; k < 2; k++) {
            w->low[k] = at[k] < w->low[k] ? at[k] : w->low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    for (int k = 0; k < 2; k++) w->size[k] = high[k] - w->low[k] + 1;
    free(w->map);
    w->map = (int32_t *)malloc((size_t)w->size[0] * (size_t)w->size[1] * sizeof *w->map);
    if (!w->map) return 0;
    for (int64_t i = 0; i < (int64_t)w->size[0] * w->size[1]; i++) w->map[i] = -1;
    for (int32_t i = 0; i < w->nodes; i++) {
        place_of(&w->node[i], quarter, at);
        w->map[(int64_t)(at[1] - w->low[1]) * w->size[0] + at[0] - w->low[0]] = w->node[i].disc;
    }
    return 1;
}

static int32_t on_map(const web *w, int32_t x, int32_t y)
{
    return x < 0 || y < 0 || x >= w->size[0] || y >= w->size[1] ? -1 : w->map[(int64_t)y * w->size[0] + x];
}

/* Row `i` of a board whose first circle is at (x, y), from column `from` on; `shift`: 1 for the mirrored board, whose even rows are the shifted ones. */
static int row_there(const web *w, int32_t x, int32_t y, int32_t row, int shift, int32_t from, int32_t count)
{
    const int odd = (row ^ shift) & 1;
    for (int32_t j = from; j < from + count; j++)
        if (on_map(w, x + 2 * j + odd, y + row) < 0) return 0;
    return 1;
}

/* All of its circles, and no further row or column beside them. */
static int board_at(const web *w, int32_t x, int32_t y, int shift)
{
    for (int32_t i = 0; i < w->rows; i++)
        if (!row_there(w, x, y, i, shift, 0, w->columns)) return 0;
    if (row_there(w, x, y, -1, shift, 0, w->columns) || row_there(w, x, y, w->rows, shift, 0, w->columns)) return 0;
    for (int side = 0; side < 2; side++) {
        int full = 1;
        for (int32_t i = 0; i < w->rows && full; i++) full = row_there(w, x, y, i, shift, side ? w->columns : -1, 1);
        if (full) return 0;
    }
    return 1;
}

static double area_of(const web *w, const int32_t *order)
{
    const int32_t n = w->columns * w->rows;
    const double *a = w->disc[order[0]].at, *b = w->disc[order[w->columns - 1]].at, *c = w->disc[order[n - 1]].at,
                 *d = w->disc[order[n - w->columns]].at;
    return fabs((c[0] - a[0]) * (d[1] - b[1]) - (c[1] - a[1]) * (d[0] - b[0]));
}

/* Looks for the board in what has grown. Of several ways to lay it the one that begins nearest to the upper left corner. 1: there is one; -1: a mirrored one. */
static int board_of(web *w)
{
    int found = 0;
    double first = 1e30;
    for (int quarter = 0; quarter < 4; quarter++) {
        if (!fill_map(w, quarter)) return 0;
        for (int32_t y = 0; y + w->rows <= w->size[1]; y++)
            for (int32_t x = -1; x + 2 * w->columns <= w->size[0] + 1; x++)
                for (int shift = 0; shift <= !(w->rows & 1); shift++) {
                    if (!board_at(w, x, y, shift)) continue;
                    if (shift) {
                        found = found ? found : -1;
                        continue;
                    }
                    const double *at = w->disc[on_map(w, x, y)].at;
                    if (found == 1 && at[0] + at[1] >= first) continue;
                    found = 1;
                    first = at[0] + at[1];
                    for (int32_t i = 0; i < w->rows; i++)
                        for (int32_t j = 0; j < w->columns; j++) w->order[i * w->columns + j] = on_map(w, x + 2 * j + (i & 1), y + i);
                }
    }
    return found;
}

/* The nearest discs of about the same size, nearest first. */
static int neighbours_of(const web *w, int32_t seed, int32_t near[NEIGHBOURS])
{
    double distance[NEIGHBOURS];
    int n = 0;
    for (int32_t k = 0; k < w->count; k++) {
        const double d = hypot(w->disc[k].at[0] - w->disc[seed].at[0], w->disc[k].at[1] - w->disc[seed].at[1]),
                     ratio = w->disc[k].area / w->disc[seed].area;
        if (k == seed || ratio < 0.4 || ratio > 2.5 || d > 12 * sqrt(w->disc[seed].area) || (n == NEIGHBOURS && d >= distance[n - 1])) continue;
        int at = n < NEIGHBOURS ? n++ : n - 1;
        for (; at > 0 && distance[at - 1] > d; at--) distance[at] = distance[at - 1], near[at] = near[at - 1];
        distance[at] = d;
        near[at] = k;
    }
    return n;
}

/* All pairs of neighbours, nearest first, are tried as the two diagonal steps. */
static int from_seed(web *w, int32_t seed)
{
    int32_t near[NEIGHBOURS];
    const int n = neighbours_of(w, seed, near);
    for (int later = 1; later < n; later++)
        for (int k = 0; k < 2 * later; k++) {
            const int32_t a = near[k & 1 ? later : k / 2], b = near[k & 1 ? k / 2 : later];
            const double *o = w->disc[seed].at, u[2] = { w->disc[a].at[0] - o[0], w->disc[a].at[1] - o[1] },
                         v[2] = { w->disc[b].at[0] - o[0], w->disc[b].at[1] - o[1] };
            if (u[0] * v[1] - u[1] * v[0] < 0.35 * hypot(u[0], u[1]) * hypot(v[0], v[1]))
                continue; /* turns like the axes of the image, by 20 degrees and more */
            grow(w, seed, a, b);
            if (w->nodes < w->columns * w->rows) continue;
            const int found = board_of(w);
            w->mirrored |= found < 0;
            if (found < 1) continue;
            for (int32_t i = 0; i < w->nodes; i++) w->used[w->node[i].disc] = 1;
            w->boards++;
            const double area = area_of(w, w->order);
            if (area <= w->largest) return 1;
            w->largest = area;
            memcpy(w->best, w->order, (size_t)(w->columns * w->rows) * sizeof *w->best);
            return 1;
        }
    return 0;
}

static tsr_status take_room(web *w, const tsr_grey *grey)
{
    const size_t n = (size_t)w->count, board = (size_t)(w->columns * w->rows);
    w->side = 32;
    w->across = (int32_t)(grey->width / w->side) + 1;
    w->down = (int32_t)(grey->height / w->side) + 1;
    const size_t buckets = (size_t)w->across * (size_t)w->down;
    w->node = (node *)malloc((n + 4) * sizeof *w->node);
    w->node_of = (int32_t *)malloc(n * sizeof *w->node_of);
    w->next = (int32_t *)malloc(n * sizeof *w->next);
    w->bucket = (int32_t *)malloc(buckets * sizeof *w->bucket);
    w->order = (int32_t *)malloc(board * sizeof *w->order);
    w->best = (int32_t *)malloc(board * sizeof *w->best);
    w->used = (char *)calloc(n, 1);
    if (!w->node || !w->node_of || !w->next || !w->bucket || !w->order || !w->best || !w->used)
        TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d discs", w->count);
    for (size_t i = 0; i < buckets; i++) w->bucket[i] = -1;
    for (int32_t i = 0; i < w->count; i++) {
        const int cx = (int)fmin(fmax(w->disc[i].at[0] / w->side, 0), w->across - 1),
                  cy = (int)fmin(fmax(w->disc[i].at[1] / w->side, 0), w->down - 1);
        int32_t *head = &w->bucket[(int64_t)cy * w->across + cx];
        w->next[i] = *head;
        *head = i;
        w->node_of[i] = -1;
    }
    return TSR_OK;
}

static void give_room(web *w)
{
    free(w->node);
    free(w->node_of);
    free(w->next);
    free(w->bucket);
    free(w->order);
    free(w->best);
    free(w->used);
    free(w->map);
}

/* The middle of a disc is not that of its picture: the ellipse is carried to the board, where it is nearly a circle, and that circle's middle back to the picture. */
static void put_middle(const double h[3][3], const tsr_disc *d, double pixel[2])
{
    double back[3][3], c[3][3] = { { 0 } }, t[3][3], board[3][3];
    const double m[2][2] = { { d->yy, -d->xy }, { -d->xy, d->xx } },
                 determinant = 4 * (d->xx * d->yy - d->xy * d->xy); /* of the ellipse, x^T m x = determinant */
    pixel[0] = d->at[0];
    pixel[1] = d->at[1];
    if (!tsr_dense_invert3(h, back)) return;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) c[i][k] = m[i][k];
    for (int i = 0; i < 2; i++) c[i][2] = c[2][i] = -(m[i][0] * d->at[0] + m[i][1] * d->at[1]);
    c[2][2] = -determinant - c[2][0] * d->at[0] - c[2][1] * d->at[1];
    tsr_dense_multiply3((const double(*)[3])c, h, t);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) board[i][k] = h[0][i] * t[0][k] + h[1][i] * t[1][k] + h[2][i] * t[2][k];
    const double scale = board[0][0] * board[1][1] - board[0][1] * board[1][0];
    if (!(fabs(scale) > 0)) return;
    const double x = -(board[1][1] * board[0][2] - board[0][1] * board[1][2]) / scale,
                 y = -(board[0][0] * board[1][2] - board[1][0] * board[0][2]) / scale;
    const double w = h[2][0] * x + h[2][1] * y + h[2][2], u = (h[0][0] * x + h[0][1] * y + h[0][2]) / w,
                 v = (h[1][0] * x + h[1][1] * y + h[1][2]) / w;
    if (hypot(u - d->at[0], v - d->at[1]) < 0.25 * sqrt(d->area)) pixel[0] = u, pixel[1] = v;
}

static tsr_status put_places(tsr_target_search *s, const web *w)
{
    const int32_t n = w->columns * w->rows;
    double(*plane)[2] = (double(*)[2])malloc(2 * (size_t)n * sizeof *plane), h[3][3];
    tsr_disc *own = (tsr_disc *)malloc((size_t)n * sizeof *own);
    int good = plane && own;
    for (int32_t i = 0; i < n && good; i++) {
        own[i] = w->disc[w->best[i]];
        good = tsr_disc_refine(s->grey, s->contrast, &own[i]) && tsr_target_point(s->target, i, plane[i]) == TSR_OK;
        memcpy(plane[n + i], own[i].at, sizeof own[i].at);
    }
    if (good) good = tsr_homography_solve((const double(*)[2])plane, (const double(*)[2])(plane + n), n, h);
    for (int32_t i = 0; i < n && good; i++) {
        put_middle((const double(*)[3])h, &own[i], s->pixel[i]);
        s->seen[i] = 1;
    }
    free(own);
    const int memory = plane != NULL;
    free(plane);
    if (!memory) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d circles", n);
    s->found.boards = good ? w->boards : 0;
    return TSR_OK;
}

/* Discs darker than what is around within `reach` pixels. */
static tsr_status look(tsr_target_search *s, const tsr_grey *smooth, int reach)
{
    tsr_disc *disc = NULL;
    web w = { .columns = s->target->columns, .rows = s->target->rows };
    tsr_status status;
    TSR_TRY(tsr_discs_list(smooth, s->contrast, reach, &disc, &w.count));
    w.disc = disc;
    if (w.count >= w.columns * w.rows) {
        TSR_TRY_GOTO(take_room(&w, s->grey), end);
        for (int32_t seeds = 0, k = 0; seeds < SEEDS_MOST && k < w.count; k++) {
            const int32_t seed = (int32_t)(((int64_t)k * 7919) % w.count);
            if (w.used[seed]) continue;
            seeds++;
            from_seed(&w, seed);
        }
        s->found.mirrored |= w.mirrored && !w.boards;
        if (w.boards) TSR_TRY_GOTO(put_places(s, &w), end);
    }
    status = TSR_OK;
end:
    give_room(&w);
    free(disc);
    return status;
}

tsr_status tsr_circles_find(tsr_target_search *s)
{
    tsr_grey smooth = { 0 };
    tsr_status status;
    TSR_TRY(tsr_grey_blur(s->grey, &smooth));
    const int width = s->grey->width > s->grey->height ? s->grey->width : s->grey->height;
    for (int part = 6; part <= 40 && !s->found.boards; part = part * 5 / 2) /* discs from wide to narrow */
        TSR_TRY_GOTO(look(s, &smooth, width / part + 4), end);
    status = TSR_OK;
    if (s->found.boards) s->found.mirrored = 0;
end:
    tsr_grey_release(&smooth);
    return status;
}
