/* vision/calibration/charuco.c: chessboards whose white squares hold markers: what part of the board a lattice of corners is, its markers tell.
 * docs/theory/calibration.md 11. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"

enum { BOARDS_MOST = 8, BITS_MOST = 7, LAYS_MOST = 64, POINTS_LEAST = 6, TURNS = 4 };

/* One way to lay a lattice on the board: turned by quarters, then moved; how many markers say so. */
typedef struct lay {
    int turn;
    int32_t x, y, votes;
} lay;

/* The corners of one board. */
typedef struct found_board {
    double (*pixel)[2];
    uint8_t *seen;
    int32_t points, markers;
    double area;
} found_board;

typedef struct search {
    const tsr_target_search *s;
    const tsr_grey *smooth;
    const tsr_corner *corner;
    int32_t across, down, count; /* inner corners */
    found_board *board;
    int32_t boards;
    int32_t mirrored, read;
    int32_t *map;
    int32_t low[2], size[2];
} search;

/* ---- reading a marker ------------------------------------------------------------------------------------------------------------- */

/* The place of (u, v) in the square with these corners (projective: the map of the unit square). */
static void in_square(const double c[4][2], double u, double v, double at[2])
{
    const double sx = c[0][0] - c[1][0] + c[2][0] - c[3][0], sy = c[0][1] - c[1][1] + c[2][1] - c[3][1];
    const double dx1 = c[1][0] - c[2][0], dy1 = c[1][1] - c[2][1], dx2 = c[3][0] - c[2][0], dy2 = c[3][1] - c[2][1], d = dx1 * dy2 - dx2 * dy1;
    const double g = d != 0 ? (sx * dy2 - dx2 * sy) / d : 0, h = d != 0 ? (dx1 * sy - sx * dy1) / d : 0, w = g * u + h * v + 1;
    at[0] = ((c[1][0] - c[0][0] + g * c[1][0]) * u + (c[3][0] - c[0][0] + h * c[3][0]) * v + c[0][0]) / w;
    at[1] = ((c[1][1] - c[0][1] + g * c[1][1]) * u + (c[3][1] - c[0][1] + h * c[3][1]) * v + c[0][1]) / w;
}

/* The bits of a square of the lattice; 0: it holds no marker: its border is not black, or nothing differs. */
static int read_square(const search *f, const double c[4][2], uint64_t *code)
{
    const tsr_target *t = f->s->target;
    const int bits = tsr_marker_bits(t->markers), cells = bits + 2;
    const double part = t->marker / t->square, from = 0.5 * (1 - part), cell = part / cells;
    double mean[(BITS_MOST + 2) * (BITS_MOST + 2)], least = 1e30, most = -1e30;
    for (int k = 0; k < cells * cells; k++) {
        double at[2], sum = 0;
        for (int n = 0; n < 9; n++) {
            in_square(c, from + cell * (k % cells + 0.5 + 0.25 * (n % 3 - 1)),
                      from + cell * ((double)(k / cells) + 0.5 + 0.25 * ((double)(n / 3) - 1)), at);
            sum += (double)tsr_grey_sample(f->s->grey, at[0], at[1]) / 9;
        }
        mean[k] = sum;
        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    if (most - least < f->s->contrast) return 0;
    const double middle = 0.5 * (least + most);
    int bright = 0;
    *code = 0;
    for (int k = 0; k < cells * cells; k++) {
        const int x = k % cells, y = k / cells, white = mean[k] > middle;
        if (x == 0 || y == 0 || x == cells - 1 || y == cells - 1) bright += white;
        else *code = *code << 1 | (uint64_t)white;
    }
    return bright <= cells / 4;
}

static int different_bits(uint64_t a, uint64_t b)
{
    int n = 0;
    for (uint64_t d = a ^ b; d; d &= d - 1) n++;
    return n;
}

/* The square of the board whose marker has this code within `errors` bits; turned: how many quarters the code must be turned to be it. 0: none. */
static int which(const tsr_target *t, uint64_t code, int errors, int32_t at[2], int *turned)
{
    const int bits = tsr_marker_bits(t->markers);
    for (int k = 0; k < TURNS; k++, code = tsr_marker_turn(code, bits))
        for (int32_t i = 0; i < t->columns * t->rows; i++) {
            const int32_t number = tsr_charuco_marker(t, i % t->columns, i / t->columns);
            if (number < 0 || different_bits(code, tsr_marker_code(t->markers, number)) > errors) continue;
            at[0] = i % t->columns;
            at[1] = i / t->columns;
            *turned = k;
            return 1;
        }
    return 0;
}

/* ---- from a lattice to the board -------------------------------------------------------------------------------------------------- */

/* Turns a place by quarters: what stood upright to what was turned so often clockwise. */
static void turn_place(int turn, int32_t x, int32_t y, int32_t to[2])
{
    to[0] = turn == 0 ? x : turn == 1 ? -y : turn == 2 ? -x : y;
    to[1] = turn == 0 ? y : turn == 1 ? x : turn == 2 ? -y : -x;
}

static int32_t on_map(const search *f, int32_t x, int32_t y)
{
    return x < 0 || y < 0 || x >= f->size[0] || y >= f->size[1] ? -1 : f->map[(int64_t)y * f->size[0] + x];
}

static int fill_map(search *f, const tsr_lattice_cell *cell, int32_t count)
{
    int32_t high[2] = { INT32_MIN, INT32_MIN };
    f->low[0] = f->low[1] = INT32_MAX;
    for (int32_t i = 0; i < count; i++) {
        const int32_t at[2] = { cell[i].x, cell[i].y };
        for (int k = 0; k < 2; k++) {
            f->low[k] = at[k] < f->low[k] ? at[k] : f->low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    for (int k = 0; k < 2; k++) f->size[k] = high[k] - f->low[k] + 1;
    free(f->map);
    f->map = (int32_t *)malloc((size_t)f->size[0] * (size_t)f->size[1] * sizeof *f->map);
    if (!f->map) return 0;
    for (int64_t i = 0; i < (int64_t)f->size[0] * f->size[1]; i++) f->map[i] = -1;
    for (int32_t i = 0; i < count; i++) f->map[(int64_t)(cell[i].y - f->low[1]) * f->size[0] + cell[i].x - f->low[0]] = cell[i].corner;
    return 1;
}

/* A marker at the square (x, y) of the map is the board's `at` once it is turned: where the map's corner (0, 0) then lies among the board's inner corners. */
static void vote(lay *lays, int *count, int turn, int32_t x, int32_t y, const int32_t at[2])
{
    int32_t corner[2];
    static const int8_t first[TURNS][2] = {
        { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 }
    };                              /* the corner of the turned square that was its upper left one */
    turn_place(turn, x, y, corner); /* the square's upper left corner, turned about the map's first one */
    const int32_t to[2] = { at[0] + first[turn][0] - 1 - corner[0], at[1] + first[turn][1] - 1 - corner[1] };
    for (int k = 0; k < *count; k++)
        if (lays[k].turn == turn && lays[k].x == to[0] && lays[k].y == to[1]) {
            lays[k].votes++;
            return;
        }
    if (*count < LAYS_MOST) lays[(*count)++] = (lay){ turn, to[0], to[1], 1 };
}

/* What the markers between the corners of the map say. */
static int read_map(search *f, lay *best, int32_t *read, int32_t *mirrored)
{
    const tsr_target *t = f->s->target;
    const int bits = tsr_marker_bits(t->markers), errors = t->markers == TSR_MARKERS_4X4 ? 0 : 1;
    lay lays[LAYS_MOST];
    int count = 0;
    *read = *mirrored = 0;
    for (int32_t y = 0; y + 1 < f->size[1]; y++)
        for (int32_t x = 0; x + 1 < f->size[0]; x++) {
            const int32_t corner[4] = { on_map(f, x, y), on_map(f, x + 1, y), on_map(f, x + 1, y + 1), on_map(f, x, y + 1) };
            double c[4][2];
            uint64_t code;
            int32_t at[2];
            int turn;
            if (corner[0] < 0 || corner[1] < 0 || corner[2] < 0 || corner[3] < 0) continue;
            for (int k = 0; k < 4; k++) memcpy(c[k], f->corner[corner[k]].at, sizeof c[k]);
            if (!read_square(f, (const double(*)[2])c, &code)) continue;
            if (which(t, code, errors, at, &turn)) {
                vote(lays, &count, turn, x, y, at);
                ++*read;
            } else *mirrored += which(t, tsr_marker_mirror(code, bits), errors, at, &turn);
        }
    *best = (lay){ 0 };
    for (int k = 0; k < count; k++)
        if (lays[k].votes > best->votes) *best = lays[k];
    return best->votes >= 2 && 2 * best->votes > *read;
}

static double area_of(const search *f, const found_board *b)
{
    double low[2] = { 1e30, 1e30 }, high[2] = { -1e30, -1e30 };
    for (int32_t i = 0; i < f->count; i++)
        for (int k = 0; k < 2 && b->seen[i]; k++) {
            low[k] = fmin(low[k], b->pixel[i][k]);
            high[k] = fmax(high[k], b->pixel[i][k]);
        }
    return b->points ? (high[0] - low[0]) * (high[1] - low[1]) : 0;
}

/* Where a board's point must lie by those that were seen; 0: they do not say. */
static int predict(const search *f, const found_board *b, int32_t index, double at[2])
{
    enum { USED = 12 };
    double from[USED][2], to[USED][2], distance[USED], h[3][3];
    int n = 0;
    const int32_t x = index % f->across, y = index / f->across;
    for (int32_t i = 0; i < f->count; i++) {
        if (!b->seen[i] || i == index) continue;
        const double d = hypot(i % f->across - x, (double)(i / f->across) - y);
        if (n == USED && d >= distance[n - 1]) continue;
        int k = n < USED ? n++ : n - 1;
        for (; k > 0 && distance[k - 1] > d; k--) {
            distance[k] = distance[k - 1];
            memcpy(from[k], from[k - 1], sizeof from[k]);
            memcpy(to[k], to[k - 1], sizeof to[k]);
        }
        distance[k] = d;
        from[k][0] = i % f->across, from[k][1] = (double)(i / f->across);
        memcpy(to[k], b->pixel[i], sizeof to[k]);
    }
    if (n < POINTS_LEAST || !tsr_homography_solve((const double(*)[2])from, (const double(*)[2])to, n, h)) return 0;
    const double w = h[2][0] * x + h[2][1] * y + h[2][2];
    at[0] = (h[0][0] * x + h[0][1] * y + h[0][2]) / w;
    at[1] = (h[1][0] * x + h[1][1] * y + h[1][2]) / w;
    return isfinite(at[0] + at[1]);
}

/* The least distance to a neighbour that was seen, pixels; 0: none was. */
static double spacing_at(const search *f, const found_board *b, int32_t index)
{
    const int32_t x = index % f->across, y = index / f->across;
    double least = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t u = x + (k == 0) - (k == 1), v = y + (k == 2) - (k == 3), i = v * f->across + u;
        if (u < 0 || v < 0 || u >= f->across || v >= f->down || !b->seen[i]) continue;
        const double d = hypot(b->pixel[i][0] - b->pixel[index][0], b->pixel[i][1] - b->pixel[index][1]);
        least = least > 0 ? fmin(least, d) : d;
    }
    return least;
}

/* Lays the map's corners on a board. Those that belong to one found before whose points agree join it; else it is another board. */
static void take_map(search *f, const lay *l, int32_t markers)
{
    found_board *own = &f->board[f->boards];
    memset(own->seen, 0, (size_t)f->count);
    own->points = 0;
    for (int32_t y = 0; y < f->size[1]; y++)
        for (int32_t x = 0; x < f->size[0]; x++) {
            int32_t to[2];
            const int32_t corner = on_map(f, x, y);
            turn_place(l->turn, x, y, to);
            to[0] += l->x, to[1] += l->y;
            if (corner < 0 || to[0] < 0 || to[1] < 0 || to[0] >= f->across || to[1] >= f->down) continue;
            const int32_t i = to[1] * f->across + to[0];
            memcpy(own->pixel[i], f->corner[corner].at, sizeof own->pixel[i]);
            own->seen[i] = 1;
            own->points++;
        }
    own->markers = markers;
    for (int32_t k = 0; k < f->boards; k++) { /* another part of it, or the same part grown from another seed? */
        found_board *b = &f->board[k];
        double off = 0, step = 0;
        int32_t judged = 0;
        for (int32_t i = 0; i < f->count; i++) {
            double at[2];
            if (!own->seen[i]) continue;
            if (b->seen[i]) memcpy(at, b->pixel[i], sizeof at);
            else if (!predict(f, b, i, at)) continue;
            off += hypot(at[0] - own->pixel[i][0], at[1] - own->pixel[i][1]);
            step += spacing_at(f, own, i);
            judged++;
        }
        if (!judged || off > 0.5 * step) continue;
        for (int32_t i = 0; i < f->count; i++) {
            if (!own->seen[i] || b->seen[i]) continue;
            memcpy(b->pixel[i], own->pixel[i], sizeof b->pixel[i]);
            b->seen[i] = 1;
            b->points++;
        }
        b->markers = b->markers > markers ? b->markers : markers;
        b->area = area_of(f, b);
        return;
    }
    own->area = area_of(f, own);
    f->boards++;
}

static int use_lattice(void *user, const tsr_lattice_cell *cells, int32_t count)
{
    search *f = (search *)user;
    lay best;
    int32_t read, mirrored;
    if (count < 4 || f->boards == BOARDS_MOST || !fill_map(f, cells, count)) return 0;
    const int good = read_map(f, &best, &read, &mirrored);
    f->mirrored = f->mirrored > mirrored ? f->mirrored : mirrored;
    f->read = f->read > read ? f->read : read;
    if (good) take_map(f, &best, best.votes);
    return good;
}

/* ---- places ----------------------------------------------------------------------------------------------------------------------- */

/* Between the markers' corners: the four squares that meet must be dark and light by turns. */
static int is_corner(const search *f, const double at[2], const double step[2][2], double inset, int dark)
{
    double v[4];
    for (int k = 0; k < 4; k++) {
        const double u = (k == 1 || k == 2 ? 1 : -1) * inset, w = (k >= 2 ? 1 : -1) * inset;
        v[k] = (double)tsr_grey_sample(f->s->grey, at[0] + u * step[0][0] + w * step[1][0], at[1] + u * step[0][1] + w * step[1][1]);
    }
    const double one = fmin(v[0], v[2]) - fmax(v[1], v[3]), other = fmin(v[1], v[3]) - fmax(v[0], v[2]);
    return (dark ? other : one) > 0.5 * f->s->contrast;
}

/* Corners that no ring showed are looked for where the others say. */
static void add_missing(const search *f, found_board *b)
{
    const tsr_target *t = f->s->target;
    const double inset = 0.25 * (1 - t->marker / t->square);
    for (int32_t i = 0; i < f->count; i++) {
        const int32_t x = i % f->across, y = i / f->across, beside = x + 1 < f->across ? i + 1 : i - 1,
                      below = y + 1 < f->down ? i + f->across : i - f->across;
        double at[2], right[2], down[2], step[2][2];
        if (b->seen[i] || !predict(f, b, i, at) || !predict(f, b, beside, right) || !predict(f, b, below, down)) continue;
        for (int k = 0; k < 2; k++) {
            step[0][k] = (right[k] - at[k]) * (beside > i ? 1 : -1);
            step[1][k] = (down[k] - at[k]) * (below > i ? 1 : -1);
        }
        const double length = fmin(hypot(step[0][0], step[0][1]), hypot(step[1][0], step[1][1])), margin = 0.3 * length;
        const int window = (int)(2 * inset * length);
        if (inset * length < 1 || window < 2 || at[0] < margin || at[1] < margin || at[0] > f->smooth->width - 1 - margin ||
            at[1] > f->smooth->height - 1 - margin)
            continue;
        const double expected[2] = { at[0], at[1] };
        const int dark = tsr_charuco_marker(t, x, y) < 0; /* the square above and to the left */
        if (!is_corner(f, at, (const double(*)[2])step, inset, dark) ||
            !tsr_corner_refine(f->smooth, window < 11 ? window : 11, TSR_CORNER_EXACT, at) ||
            hypot(at[0] - expected[0], at[1] - expected[1]) > 0.15 * length || !is_corner(f, at, (const double(*)[2])step, inset, dark))
            continue;
        memcpy(b->pixel[i], at, sizeof at);
        b->seen[i] = 1;
        b->points++;
    }
}

/* The window ends before the markers do begin, or they would pull; one that was pulled lies beside where its neighbours say, and is left out. */
static void refine_places(const search *f, found_board *b)
{
    const tsr_target *t = f->s->target;
    const double part = fmin(0.45, 0.5 * (1 - t->marker / t->square));
    for (int32_t i = 0; i < f->count; i++) {
        if (!b->seen[i]) continue;
        const double room = part * spacing_at(f, b, i);
        const int window = (int)fmax(1, fmin(f->s->window ? f->s->window : 11, room));
        tsr_corner_refine(f->smooth, window, TSR_CORNER_EXACT, b->pixel[i]);
    }
    for (int32_t i = 0; i < f->count; i++) {
        double at[2];
        const double spacing = b->seen[i] ? spacing_at(f, b, i) : 0;
        if (!b->seen[i] || part * spacing > 3 || !predict(f, b, i, at) || hypot(at[0] - b->pixel[i][0], at[1] - b->pixel[i][1]) < 0.6) continue;
        b->seen[i] = 0;
        b->points--;
    }
}

/* Points on one line determine no pose. */
static int spans(const search *f, const found_board *b)
{
    int32_t low[2] = { f->across, f->down }, high[2] = { -1, -1 };
    for (int32_t i = 0; i < f->count; i++) {
        if (!b->seen[i]) continue;
        const int32_t at[2] = { i % f->across, i / f->across };
        for (int k = 0; k < 2; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    return b->points >= POINTS_LEAST && high[0] > low[0] && high[1] > low[1];
}

tsr_status tsr_charuco_find(tsr_target_search *s)
{
    const tsr_target *t = s->target;
    tsr_grey smooth = { 0 };
    tsr_corner *corner = NULL;
    int32_t count = 0;
    found_board board[BOARDS_MOST + 1] = { { 0 } }, *largest = NULL;
    search f = { .s = s, .smooth = &smooth, .across = t->columns - 1, .down = t->rows - 1, .board = board };
    tsr_status status;
    f.count = f.across * f.down;
    for (int k = 0; k <= BOARDS_MOST; k++) {
        board[k].pixel = (double(*)[2])malloc((size_t)f.count * sizeof *board[k].pixel);
        board[k].seen = (uint8_t *)calloc((size_t)f.count, 1);
        if (!board[k].pixel || !board[k].seen) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for a board");
    }
    TSR_TRY_GOTO(tsr_grey_blur(s->grey, &smooth), end);
    TSR_TRY_GOTO(tsr_corners_list(&smooth, s->grey, s->contrast, 0, 3.5, TSR_CORNER_LEVELS, &corner, &count), end);
    f.corner = corner;
    const double inset = fmin(0.15, 0.25 * (1 - t->marker / t->square));
    TSR_TRY_GOTO(tsr_corners_lattices(s->grey, corner, count, s->contrast, inset, 8 * f.count, use_lattice, &f), end);
    for (int32_t k = 0; k < f.boards; k++) {
        add_missing(&f, &board[k]);
        refine_places(&f, &board[k]);
        if (!spans(&f, &board[k])) continue;
        s->found.boards++;
        if (!largest || board[k].area > largest->area) largest = &board[k];
    }
    s->found.markers = largest ? largest->markers : f.read;
    s->found.mirrored = !largest && f.mirrored >= 2 && f.mirrored > f.read;
    if (largest) {
        memcpy(s->pixel, largest->pixel, (size_t)f.count * sizeof *s->pixel);
        memcpy(s->seen, largest->seen, (size_t)f.count);
    }
end:
    for (int k = 0; k <= BOARDS_MOST; k++) {
        free(board[k].pixel);
        free(board[k].seen);
    }
    free(f.map);
    free(corner);
    if (smooth.at) tsr_grey_release(&smooth);
    return status;
}
