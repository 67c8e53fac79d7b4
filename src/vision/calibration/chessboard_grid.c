/* vision/calibration/chessboard_grid.c: from loose corners to rows and columns. From a seed the grid grows over its neighbours: each lies where
 * the last step
 * leads, at the end of an edge that is dark on one side all the way. docs/theory/calibration.md 7. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"

#define PI 3.14159265358979323846

typedef tsr_lattice_cell cell;
typedef struct grid {
    const tsr_grey *grey;
    const tsr_corner *corner;
    int32_t count;
    double contrast, inset;
    int32_t *cell_of; /* of a corner, -1: none */
    cell *cells;
    int32_t filled;
    int32_t *bucket, *next; /* corners by place */
    int32_t across, down;
    double side;
} grid;

static float at_place(const tsr_grey *g, double x, double y)
{
    const int i = (int)fmin(fmax(x + 0.5, 0), g->width - 1), j = (int)fmin(fmax(y + 0.5, 0), g->height - 1);
    return g->at[(int64_t)j * g->width + i];
}

/* Which side of the edge from a to b is dark: 1 the left one (seen along it, y down), -1 the right one, 0 no such edge. */
static int edge(const grid *g, const tsr_corner *a, const tsr_corner *b)
{
    const double d[2] = { b->at[0] - a->at[0], b->at[1] - a->at[1] }, length = hypot(d[0], d[1]), off = fmax(1.5, fmin(g->inset * length, 12));
    const double n[2] = { d[1] / length * off, -d[0] / length * off }; /* to the left where y is down */
    int sign = 0;
    for (int k = 2; k <= 6; k++) {
        const double x = a->at[0] + d[0] * k / 8, y = a->at[1] + d[1] * k / 8;
        const double step = (double)(at_place(g->grey, x - n[0], y - n[1]) - at_place(g->grey, x + n[0], y + n[1]));
        if (fabs(step) < 0.4 * g->contrast) return 0;
        const int s = step > 0 ? 1 : -1;
        if (sign && s != sign) return 0;
        sign = s;
    }
    return sign;
}

static double turn_between(double a, double b) /* of directions without sign */
{
    const double d = fabs(fmod(a - b + 4 * PI, PI));
    return d > PI / 2 ? PI - d : d;
}

/* The nearest corner to where one is expected, at most `reach` away. */
static int32_t nearest(const grid *g, const double at[2], double reach)
{
    int32_t best = -1;
    const int span = (int)(reach / g->side) + 1, cx = (int)(at[0] / g->side), cy = (int)(at[1] / g->side);
    for (int j = cy - span; j <= cy + span; j++)
        for (int i = cx - span; i <= cx + span; i++) {
            if (i < 0 || j < 0 || i >= g->across || j >= g->down) continue;
            for (int32_t k = g->bucket[(int64_t)j * g->across + i]; k >= 0; k = g->next[k]) {
                const double d = hypot(g->corner[k].at[0] - at[0], g->corner[k].at[1] - at[1]);
                if (d < reach) {
                    reach = d;
                    best = k;
                }
            }
        }
    return best;
}

/* First neighbour along an edge's direction: the nearest corner in a narrow cone that shares an edge. */
static int32_t along(const grid *g, int32_t from, double angle)
{
    const tsr_corner *a = &g->corner[from];
    int32_t best = -1;
    double least = 1e30;
    const double reach = 0.35 * fmax(g->grey->width, g->grey->height);
    for (int32_t k = 0; k < g->count; k++) {
        const double d[2] = { g->corner[k].at[0] - a->at[0], g->corner[k].at[1] - a->at[1] }, length = hypot(d[0], d[1]);
        if (k == from || length > reach || length >= least || length < 4) continue;
        const double off = fabs(remainder(atan2(d[1], d[0]) - angle, 2 * PI));
        if (off > 0.22) continue;
        if (fmin(turn_between(g->corner[k].angle[0], angle), turn_between(g->corner[k].angle[1], angle)) > 0.3) continue;
        if (!edge(g, a, &g->corner[k])) continue;
        least = length;
        best = k;
    }
    return best;
}

static int32_t find_cell(const grid *g, int32_t x, int32_t y)
{
    for (int32_t i = 0; i < g->filled; i++)
        if (g->cells[i].x == x && g->cells[i].y == y) return g->cells[i].corner;
    return -1;
}
static void put(grid *g, int32_t x, int32_t y, int32_t corner)
{
    g->cell_of[corner] = g->filled;
    g->cells[g->filled++] = (cell){ x, y, corner };
}

/* Grows from a seed. The grid's squares alternate: an edge along +x has its dark side by (x + y) even or odd. */
static void grow(grid *g, int32_t seed, int32_t limit)
{
    static const int step[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
    const tsr_corner *s = &g->corner[seed];
    double first[2] = { s->angle[0], s->angle[1] };
    /* x to y turns like the axes of the image */
    if (remainder(first[1] - first[0], 2 * PI) < 0) first[1] += PI;
    int32_t right = along(g, seed, first[0]), below = along(g, seed, first[1]);
    for (int32_t i = 0; i < g->filled; i++) g->cell_of[g->cells[i].corner] = -1;
    g->filled = 0;
    if (right < 0 || below < 0 || right == below) return;
    put(g, 0, 0, seed);
    put(g, 1, 0, right);
    put(g, 0, 1, below);
    const int parity = edge(g, s, &g->corner[right]);
    for (int32_t head = 0; head < g->filled && g->filled < limit; head++) {
        const cell c = g->cells[head];
        const tsr_corner *at = &g->corner[c.corner];
        for (int k = 0; k < 4 && g->filled < limit; k++) {
            const int32_t x = c.x + step[k][0], y = c.y + step[k][1];
            if (find_cell(g, x, y) >= 0) continue;
            double guess[2], length;
            const int32_t behind = find_cell(g, c.x - step[k][0], c.y - step[k][1]);
            if (behind >= 0) {
                for (int i = 0; i < 2; i++) guess[i] = 2 * at->at[i] - g->corner[behind].at[i];
            } else { /* the same step of a neighbouring row */
                int32_t from = -1, to = -1;
                for (int turn = -1; turn <= 1 && to < 0; turn += 2) {
                    const int32_t dx = turn * step[k][1], dy = turn * step[k][0];
                    from = find_cell(g, c.x + dx, c.y + dy);
                    to = from >= 0 ? find_cell(g, x + dx, y + dy) : -1;
                }
                if (to < 0) continue;
                for (int i = 0; i < 2; i++) guess[i] = at->at[i] + g->corner[to].at[i] - g->corner[from].at[i];
            }
            length = hypot(guess[0] - at->at[0], guess[1] - at->at[1]);
            const int32_t found = nearest(g, guess, 0.35 * length);
            if (found < 0 || g->cell_of[found] >= 0) continue;
            const int dark = edge(g, at, &g->corner[found]);
            /* edges that run on turn their dark side at every corner; those along y are the other way round; walking back sees the other side */
            const int expected = ((c.x + c.y) & 1 ? -1 : 1) * (k == 0 ? 1 : k == 1 ? -1 : k == 2 ? 1 : -1) * parity;
            if (dark != expected) continue;
            put(g, x, y, found);
        }
    }
}

/* All of `count` cells of the map, from (x, y) on in steps of (dx, dy). */
static int all_there(const int32_t *map, int32_t w, int32_t h, int32_t x, int32_t y, int32_t dx, int32_t dy, int32_t count)
{
    if (x < 0 || y < 0 || x >= w || y >= h) return 0;
    for (int32_t k = 0; k < count; k++)
        if (map[(int64_t)(y + k * dy) * w + x + k * dx] < 0) return 0;
    return 1;
}

/* The window of columns x rows (or turned) that is full and no part of a larger board; of several the one whose corners contrast most. */
static int window_of(const grid *g, const tsr_chessboard *board, int32_t *order)
{
    int32_t low[2] = { INT32_MAX, INT32_MAX }, high[2] = { INT32_MIN, INT32_MIN };
    for (int32_t i = 0; i < g->filled; i++) {
        low[0] = g->cells[i].x < low[0] ? g->cells[i].x : low[0];
        low[1] = g->cells[i].y < low[1] ? g->cells[i].y : low[1];
        high[0] = g->cells[i].x > high[0] ? g->cells[i].x : high[0];
        high[1] = g->cells[i].y > high[1] ? g->cells[i].y : high[1];
    }
    if (!g->filled) return 0;
    const int32_t w = high[0] - low[0] + 1, h = high[1] - low[1] + 1, columns = board->columns, rows = board->rows;
    if ((int64_t)w * h > 1 << 20) return 0;
    int32_t *map = (int32_t *)malloc((size_t)w * (size_t)h * sizeof *map);
    double best = 0;
    if (!map) return 0;
    for (int64_t i = 0; i < (int64_t)w * h; i++) map[i] = -1;
    for (int32_t i = 0; i < g->filled; i++) map[(int64_t)(g->cells[i].y - low[1]) * w + g->cells[i].x - low[0]] = g->cells[i].corner;
    for (int turned = 0; turned < (columns == rows ? 1 : 2); turned++) {
        const int32_t a = turned ? rows : columns, b = turned ? columns : rows;
        for (int32_t y = 0; y + b <= h; y++)
            for (int32_t x = 0; x + a <= w; x++) {
                double sum = 0;
                int full = 1;
                for (int32_t k = 0; k < a * b && full; k++) {
                    const int32_t c = map[(int64_t)(y + k / a) * w + x + k % a];
                    full = c >= 0;
                    if (full) sum += (double)g->corner[c].contrast;
                }
                if (!full || sum <= best) continue;
                if (all_there(map, w, h, x - 1, y, 0, 1, b) || all_there(map, w, h, x + a, y, 0, 1, b) || all_there(map, w, h, x, y - 1, 1, 0, a) ||
                    all_there(map, w, h, x, y + b, 1, 0, a))
                    continue;
                best = sum;
                for (int32_t k = 0; k < a * b; k++) { /* turned: a quarter turn, not a mirror */
                    const int32_t i = k % columns, j = k / columns;
                    const int32_t gx = turned ? rows - 1 - j : i, gy = turned ? i : j;
                    order[k] = map[(int64_t)(y + gy) * w + x + gx];
                }
            }
    }
    free(map);
    return best > 0;
}

/* The first corner: beside a dark square of the grid where that tells the ends apart, else the upper left one. */
static void put_first(const grid *g, const tsr_chessboard *board, int32_t *order)
{
    const int32_t n = board->columns * board->rows;
    int turn;
    if ((board->columns + board->rows) & 1) { /* dark is to the left of an edge along x where the square above it is dark */
        turn = edge(g, &g->corner[order[0]], &g->corner[order[1]]) > 0;
    } else {
        const double *a = g->corner[order[0]].at, *b = g->corner[order[n - 1]].at;
        turn = a[0] + a[1] > b[0] + b[1];
        if (board->columns == board->rows) { /* four ways */
            const int32_t m = board->columns;
            int best = 0;
            const int32_t ends[4] = { order[0], order[m - 1], order[n - 1], order[n - m] };
            for (int k = 1; k < 4; k++)
                if (g->corner[ends[k]].at[0] + g->corner[ends[k]].at[1] < g->corner[ends[best]].at[0] + g->corner[ends[best]].at[1]) best = k;
            for (turn = best >> 1; best & 1; best = 0) {
                int32_t *copy = (int32_t *)malloc((size_t)n * sizeof *copy);
                if (!copy) break;
                memcpy(copy, order, (size_t)n * sizeof *copy);
                for (int32_t k = 0; k < n; k++) order[k] = copy[(k % m) * m + m - 1 - k / m]; /* starts at the end of the first row and goes down */
                free(copy);
            }
        }
    }
    for (int32_t k = 0; turn && k < n / 2; k++) {
        const int32_t c = order[k];
        order[k] = order[n - 1 - k];
        order[n - 1 - k] = c;
    }
}

static tsr_status fill_buckets(grid *g)
{
    g->side = 16;
    g->across = (int32_t)(g->grey->width / g->side) + 1;
    g->down = (int32_t)(g->grey->height / g->side) + 1;
    const int64_t buckets = (int64_t)g->across * g->down;
    g->bucket = (int32_t *)malloc((size_t)buckets * sizeof *g->bucket);
    g->next = (int32_t *)malloc((size_t)g->count * sizeof *g->next);
    g->cell_of = (int32_t *)malloc((size_t)g->count * sizeof *g->cell_of);
    g->cells = (cell *)malloc((size_t)g->count * sizeof *g->cells);
    if (!g->bucket || !g->next || !g->cell_of || !g->cells) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d corners", g->count);
    for (int64_t i = 0; i < buckets; i++) g->bucket[i] = -1;
    for (int32_t i = 0; i < g->count; i++) {
        const int cx = (int)fmin(fmax(g->corner[i].at[0] / g->side, 0), g->across - 1),
                  cy = (int)fmin(fmax(g->corner[i].at[1] / g->side, 0), g->down - 1);
        int32_t *head = &g->bucket[(int64_t)cy * g->across + cx];
        g->next[i] = *head;
        *head = i;
        g->cell_of[i] = -1;
    }
    return TSR_OK;
}

tsr_status tsr_corners_lattices(const tsr_grey *grey, const tsr_corner *corner, int32_t count, double contrast, double inset, int32_t limit,
                                tsr_lattice_use use, void *user)
{
    enum { SEEDS_MOST = 400 };
    grid g = { .grey = grey, .corner = corner, .count = count, .contrast = contrast, .inset = inset };
    char *tried = (char *)calloc((size_t)count + 1, 1);
    tsr_status status = TSR_OK;
    if (!tried) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d corners", count);
    if (count) TSR_TRY_GOTO(fill_buckets(&g), end);
    for (int32_t seeds = 0, k = 0; seeds < SEEDS_MOST && k < count; k++) {
        const int32_t seed = (int32_t)(((int64_t)k * 7919) % count); /* spread over the picture */
        if (tried[seed]) continue;
        seeds++;
        grow(&g, seed, limit < count ? limit : count);
        tried[seed] = 1;
        if (!g.filled || !use(user, g.cells, g.filled)) continue; /* from another seed the same corners may still become a board */
        for (int32_t i = 0; i < g.filled; i++) tried[g.cells[i].corner] = 1;
    }
end:
    free(g.bucket);
    free(g.next);
    free(g.cell_of);
    free(g.cells);
    free(tried);
    return status;
}

typedef struct whole { /* the largest whole board so far */
    grid g;
    const tsr_chessboard *board;
    int32_t *trial, *order, boards;
    double largest;
} whole;

static int use_whole(void *user, const cell *cells, int32_t count)
{
    whole *w = (whole *)user;
    const tsr_chessboard *board = w->board;
    const int32_t n = board->columns * board->rows;
    memcpy(w->g.cells, cells, (size_t)count * sizeof *cells);
    w->g.filled = count;
    if (!window_of(&w->g, board, w->trial)) return 0;
    const double *a = w->g.corner[w->trial[0]].at, *b = w->g.corner[w->trial[board->columns - 1]].at, *c = w->g.corner[w->trial[n - 1]].at,
                 *d = w->g.corner[w->trial[n - board->columns]].at;
    const double area = fabs((c[0] - a[0]) * (d[1] - b[1]) - (c[1] - a[1]) * (d[0] - b[0]));
    w->boards++;
    if (area <= w->largest) return 1;
    w->largest = area;
    put_first(&w->g, board, w->trial);
    memcpy(w->order, w->trial, (size_t)n * sizeof *w->order);
    return 1;
}

tsr_status tsr_corners_grid(const tsr_grey *grey, const tsr_corner *corner, int32_t count, const tsr_chessboard *board, double contrast,
                            int32_t *order, int32_t *boards)
{
    const int32_t n = board->columns * board->rows;
    whole w = { .g = { .grey = grey, .corner = corner, .count = count, .contrast = contrast, .inset = 0.15 }, .board = board, .order = order };
    *boards = 0;
    if (count < n) return TSR_OK;
    w.trial = (int32_t *)malloc((size_t)n * sizeof *w.trial);
    w.g.cells = (cell *)malloc((size_t)count * sizeof *w.g.cells);
    const tsr_status status = w.trial && w.g.cells ? tsr_corners_lattices(grey, corner, count, contrast, w.g.inset, 8 * n, use_whole, &w)
                                                   : TSR_FAILED(TSR_ERROR_MEMORY, "out of host memory for %d corners", count);
    free(w.trial);
    free(w.g.cells);
    *boards = w.boards;
    return status;
}
