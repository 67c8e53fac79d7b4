/* vision/lens_lines.c: the plumb-line test (Brown 1971; Devernay and Faugeras 2001: contours that should be straight measure a lens). */
#include "vision/lens_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST_PIECE = 12, MOST_PIECES = 4096, LINK_REACH = 8 };
#define SMOOTH_TURN 0.9  /* cosine of the angle between gradients of neighbours in a contour */
#define OFF_PARABOLA 0.6 /* pixels: a piece that a parabola does not fit has a corner */
#define MOST_SAG 0.12    /* of the length: no lens bends a straight line further */
#define GAP 24.0         /* pixels between pieces of one line, at most, or half of the shorter one */
#define ASIDE 1.5        /* pixels by which one may miss the other */
#define SAME_WAY 0.997   /* cosine between their directions at the gap */

typedef struct {
    float gx, gy, size;
} slope;
typedef struct {
    double x, y, tx, ty;
} edge_point; /* place and direction along the contour */

/* A stretch of a contour. `next`: the piece that goes on behind an end, or -1; ends are 0 and 1. */
typedef struct {
    int64_t first, count;
    int32_t next[2], used;
    double a[2][2], out[2][2], length;
} piece;

struct finder {
    int32_t width, height;
    float *grey;
    slope *slope;
    edge_point *edge; /* one per pixel that is on a contour */
    int32_t *at;      /* of a pixel: its edge point, or -1 */
    uint8_t *taken;
    int32_t *trail;
    double (*point)[2]; /* of all pieces */
    int64_t points;
    piece *pieces;
    int64_t count, room;
};

/* ---- contours --------------------------------------------------------------------------------------------------------------------- */

static void smooth(struct finder *f, const uint8_t *image)
{
    static const float w[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    const int32_t n = f->width, m = f->height;
    float *across = &f->slope[0].gx; /* room that is not needed yet */
    for (int32_t y = 0; y < m; y++)
        for (int32_t x = 0; x < n; x++) {
            float sum = 0;
            for (int32_t k = -2; k <= 2; k++) sum += w[k + 2] * (float)image[(int64_t)y * n + tsr_mini(tsr_maxi(x + k, 0), n - 1)];
            across[(int64_t)y * n + x] = sum;
        }
    for (int32_t y = 0; y < m; y++)
        for (int32_t x = 0; x < n; x++) {
            float sum = 0;
            for (int32_t k = -2; k <= 2; k++) sum += w[k + 2] * across[(int64_t)tsr_mini(tsr_maxi(y + k, 0), m - 1) * n + x];
            f->grey[(int64_t)y * n + x] = sum;
        }
}

static void find_slopes(struct finder *f)
{
    const int32_t n = f->width;
    memset(f->slope, 0, (size_t)n * (size_t)f->height * sizeof *f->slope);
    for (int32_t y = 1; y + 1 < f->height; y++)
        for (int32_t x = 1; x + 1 < n; x++) {
            const float *g = f->grey + (int64_t)y * n + x;
            slope *s = &f->slope[(int64_t)y * n + x];
            s->gx = 0.5f * (g[1] - g[-1]);
            s->gy = 0.5f * (g[n] - g[-n]);
            s->size = sqrtf(s->gx * s->gx + s->gy * s->gy);
        }
}

/* Magnitude at a place between pixels. */
static double size_at(const struct finder *f, double x, double y)
{
    const int32_t i = (int32_t)x, j = (int32_t)y;
    const double a = x - i, b = y - j;
    const slope *s = f->slope + (int64_t)j * f->width + i;
    return (1 - b) * ((1 - a) * (double)s[0].size + a * (double)s[1].size) +
           b * ((1 - a) * (double)s[f->width].size + a * (double)s[f->width + 1].size);
}

/* Ridges of the magnitude, to a part of a pixel. */
static int64_t find_edges(struct finder *f, double threshold)
{
    int64_t count = 0;
    for (int32_t y = 0; y < f->height; y++)
        for (int32_t x = 0; x < f->width; x++) {
            const int64_t i = (int64_t)y * f->width + x;
            const slope *s = &f->slope[i];
            f->at[i] = -1;
            if (x < 3 || y < 3 || x + 3 >= f->width || y + 3 >= f->height || !((double)s->size >= threshold)) continue;
            const double dx = (double)(s->gx / s->size), dy = (double)(s->gy / s->size);
            const double before = size_at(f, x - dx, y - dy), here = (double)s->size, after = size_at(f, x + dx, y + dy);
            if (here < before || here <= after) continue;
            const double bow = before - 2 * here + after, t = bow < 0 ? fmin(fmax(0.5 * (before - after) / bow, -0.5), 0.5) : 0;
            f->at[i] = (int32_t)count;
            f->edge[count++] = (edge_point){ x + 0.5 + t * dx, y + 0.5 + t * dy, -dy, dx };
        }
    return count;
}

/* The pixel where the contour goes on from `i` along its direction, or against it (way -1), or -1. */
static int64_t next_pixel(const struct finder *f, int64_t i, double way)
{
    const edge_point *e = &f->edge[f->at[i]];
    double most = 0;
    int64_t best = -1;
    for (int32_t dy = -1; dy <= 1; dy++)
        for (int32_t dx = -1; dx <= 1; dx++) {
            const int64_t k = i + (int64_t)dy * f->width + dx;
            if (f->at[k] < 0 || f->taken[k]) continue;
            const edge_point *o = &f->edge[f->at[k]];
            const double x = o->x - e->x, y = o->y - e->y, ahead = way * (x * e->tx + y * e->ty), length = sqrt(x * x + y * y);
            if (!(length > 0) || o->tx * e->tx + o->ty * e->ty < SMOOTH_TURN || ahead < 0.5 * length) continue;
            if (ahead / length > most) best = k;
            if (ahead / length > most) most = ahead / length;
        }
    return best;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------------------------ */

typedef struct {
    double cx, cy, tx, ty, rms, sag, worst;
    int64_t worst_at;
} fit;

/* Least squares: a parabola over the chord of the points. sag: of the parabola over its ends; worst: the point farthest from it. */
static fit fit_parabola(const double (*p)[2], int64_t n)
{
    const double cx = p[0][0], cy = p[0][1], dx = p[n - 1][0] - cx, dy = p[n - 1][1] - cy, length = sqrt(dx * dx + dy * dy);
    fit r = { .cx = cx, .cy = cy, .tx = length > 0 ? dx / length : 1, .ty = length > 0 ? dy / length : 0 };
    double s[5] = { 0 }, b[3] = { 0 };
    if (!(length > 0)) return r;
    for (int64_t i = 0; i < n; i++) {
        const double u = ((p[i][0] - cx) * r.tx + (p[i][1] - cy) * r.ty) / length * 2 - 1, v = (p[i][1] - cy) * r.tx - (p[i][0] - cx) * r.ty;
        double power = 1;
        for (int k = 0; k < 5; k++, power *= u) {
            s[k] += power;
            if (k < 3) b[k] += power * v;
        }
    }
    /* normal equations of c0 + c1 u + c2 u^2 by Cramer's rule */
    const double m[3][3] = { { s[0], s[1], s[2] }, { s[1], s[2], s[3] }, { s[2], s[3], s[4] } };
    double c[3];
    const double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    if (!(fabs(determinant) > 1e-12)) return r;
    for (int k = 0; k < 3; k++) {
        double q[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) q[i][j] = j == k ? b[i] : m[i][j];
        c[k] = (q[0][0] * (q[1][1] * q[2][2] - q[1][2] * q[2][1]) - q[0][1] * (q[1][0] * q[2][2] - q[1][2] * q[2][0]) +
                q[0][2] * (q[1][0] * q[2][1] - q[1][1] * q[2][0])) /
               determinant;
    }
    r.sag = fabs(c[2]);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double u = ((p[i][0] - cx) * r.tx + (p[i][1] - cy) * r.ty) / length * 2 - 1, v = (p[i][1] - cy) * r.tx - (p[i][0] - cx) * r.ty;
        const double off = fabs(v - (c[0] + u * (c[1] + u * c[2])));
        sum += off * off;
        if (off > r.worst) r.worst_at = i;
        if (off > r.worst) r.worst = off;
    }
    r.rms = sqrt(sum / (double)n);
    return r;
}

/* Direction of the contour at an end: outwards. */
static void end_of(const double (*p)[2], int64_t n, int end, double at[2], double out[2])
{
    const int64_t k = n - 1 < LINK_REACH + 4 ? n - 1 : LINK_REACH + 4, from = end ? n - 1 - k : k, to = end ? n - 1 : 0;
    double x = 0, y = 0;
    /* mean of differences: the halves of the last points */
    for (int64_t i = 0; i <= k / 2; i++) {
        const int64_t step = end ? 1 : -1;
        x += p[to - step * i][0] - p[from + step * i][0];
        y += p[to - step * i][1] - p[from + step * i][1];
    }
    const double length = sqrt(x * x + y * y);
    out[0] = length > 0 ? x / length : 0;
    out[1] = length > 0 ? y / length : 0;
    at[0] = p[to][0];
    at[1] = p[to][1];
}

static tsr_status add_piece(struct finder *f, int64_t first, int64_t count)
{
    if (f->count == f->room) {
        const int64_t room = f->room ? 2 * f->room : 256;
        piece *grown = (piece *)realloc(f->pieces, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "lens lines: out of memory");
        f->pieces = grown;
        f->room = room;
    }
    piece *p = &f->pieces[f->count++];
    *p = (piece){ .first = first, .count = count, .next = { -1, -1 } };
    for (int e = 0; e < 2; e++) end_of((const double(*)[2])f->point + first, count, e, p->a[e], p->out[e]);
    p->length = sqrt((p->a[1][0] - p->a[0][0]) * (p->a[1][0] - p->a[0][0]) + (p->a[1][1] - p->a[0][1]) * (p->a[1][1] - p->a[0][1]));
    return TSR_OK;
}

/* Pieces of a contour that parabolas fit: it is cut where the worst point is. */
static tsr_status cut(struct finder *f, int64_t first, int64_t count)
{
    while (count >= SHORTEST_PIECE) {
        const fit r = fit_parabola((const double(*)[2])f->point + first, count);
        const double dx = f->point[first + count - 1][0] - f->point[first][0], dy = f->point[first + count - 1][1] - f->point[first][1];
        const double length = sqrt(dx * dx + dy * dy);
        if (length > 0.5 * (double)count && r.worst <= 2 * OFF_PARABOLA && r.rms <= OFF_PARABOLA && r.sag <= MOST_SAG * length)
            return add_piece(f, first, count);
        int64_t at = r.worst > OFF_PARABOLA ? r.worst_at : count / 2;
        if (at < SHORTEST_PIECE / 2) at = SHORTEST_PIECE / 2;
        if (at > count - SHORTEST_PIECE / 2) at = count - SHORTEST_PIECE / 2;
        TSR_TRY(cut(f, first, at));
        first += at;
        count -= at;
    }
    return TSR_OK;
}

static tsr_status follow(struct finder *f, int64_t seed)
{
    int64_t n = 0, back = 0;
    f->taken[seed] = 1;
    f->trail[n++] = f->at[seed];
    for (int64_t k = next_pixel(f, seed, -1); k >= 0; k = next_pixel(f, k, -1)) {
        f->taken[k] = 1;
        f->trail[n++] = f->at[k];
    }
    back = n;
    const int64_t first = f->points;
    for (int64_t i = 0; i < back; i++) {
        const edge_point *e = &f->edge[f->trail[back - 1 - i]];
        f->point[f->points][0] = e->x;
        f->point[f->points++][1] = e->y;
    }
    for (int64_t k = next_pixel(f, seed, 1); k >= 0; k = next_pixel(f, k, 1)) {
        f->taken[k] = 1;
        f->point[f->points][0] = f->edge[f->at[k]].x;
        f->point[f->points++][1] = f->edge[f->at[k]].y;
    }
    TSR_TRY(cut(f, first, f->points - first));
    return TSR_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------------- */

static int longer(const void *a, const void *b)
{
    const piece *p = (const piece *)a, *q = (const piece *)b;
    if (p->length != q->length) return p->length < q->length ? 1 : -1;
    return (p->first > q->first) - (p->first < q->first);
}

/* How well end e of p goes on as end g of q: smaller is better; negative: not at all. */
static double miss(const piece *p, int e, const piece *q, int g)
{
    const double x = q->a[g][0] - p->a[e][0], y = q->a[g][1] - p->a[e][1], gap = sqrt(x * x + y * y);
    if (gap > fmin(GAP, fmax(6, 0.5 * fmin(p->length, q->length)))) return -1;
    if (-(p->out[e][0] * q->out[g][0] + p->out[e][1] * q->out[g][1]) < SAME_WAY) return -1;
    const double ahead = x * p->out[e][0] + y * p->out[e][1], aside = fabs(x * p->out[e][1] - y * p->out[e][0]),
                 other = fabs(x * q->out[g][1] - y * q->out[g][0]);
    if (ahead < -3 || aside > ASIDE || other > ASIDE) return -1;
    return gap + 4 * (aside + other);
}

/* The end that goes on best behind end e of piece i, as 2 * piece + end, or -1. */
static int32_t best_next(const struct finder *f, int32_t i, int e)
{
    double least = HUGE_VAL;
    int32_t best = -1;
    for (int32_t k = 0; k < (int32_t)f->count; k++)
        for (int g = 0; g < 2 && k != i; g++) {
            const double m = miss(&f->pieces[i], e, &f->pieces[k], g);
            if (m < 0 || m >= least) continue;
            least = m;
            best = 2 * k + g;
        }
    return best;
}

static void join(struct finder *f)
{
    int32_t n = (int32_t)f->count;
    for (int32_t i = 0; i < n; i++)
        for (int e = 0; e < 2; e++) f->pieces[i].next[e] = best_next(f, i, e);
    for (int32_t i = 0; i < n; i++) /* only where both agree */
        for (int e = 0; e < 2; e++) {
            const int32_t to = f->pieces[i].next[e];
            if (to >= 0 && f->pieces[to / 2].next[to % 2] != 2 * i + e) f->pieces[i].next[e] = -1;
        }
}

static void put_piece(const struct finder *f, const piece *p, int backwards, tsr_lens_lines *lines)
{
    for (int64_t i = 0; i < p->count; i++)
        memcpy(lines->point[lines->points++], f->point[p->first + (backwards ? p->count - 1 - i : i)], sizeof *lines->point);
}

/* Does all of it lie along one border of the picture? That is the picture's frame, which no lens bends. */
static int is_frame(const struct finder *f, const double (*p)[2], int64_t n)
{
    const double margin = fmax(8, 0.02 * tsr_mini(f->width, f->height));
    int near = 15;
    for (int64_t i = 0; i < n && near; i++)
        near &= (p[i][0] < margin) | (p[i][0] > f->width - margin) << 1 | (p[i][1] < margin) << 2 | (p[i][1] > f->height - margin) << 3;
    return near != 0;
}

/* From the end of a chain of pieces through all of it. */
static void put_line(struct finder *f, int32_t start, double shortest, tsr_lens_lines *lines)
{
    int32_t i = start, e = 0, steps = 0;
    while (f->pieces[i].next[e] >= 0 && steps++ < (int32_t)f->count) { /* to one end; a ring ends somewhere */
        const int32_t to = f->pieces[i].next[e];
        i = to / 2;
        e = 1 - to % 2;
        if (i == start) break;
    }
    const int64_t first = lines->points;
    int enter = e; /* outwards here; walk through to the other end */
    for (;;) {
        piece *p = &f->pieces[i];
        if (p->used) break;
        p->used = 1;
        put_piece(f, p, enter, lines);
        const int32_t to = p->next[1 - enter];
        if (to < 0) break;
        i = to / 2;
        enter = to % 2;
    }
    tsr_lens_line l = { .first = first, .count = lines->points - first };
    if (l.count >= SHORTEST_PIECE) {
        const double(*p)[2] = (const double(*)[2])lines->point + first;
        const double dx = p[l.count - 1][0] - p[0][0], dy = p[l.count - 1][1] - p[0][1];
        const fit r = fit_parabola(p, l.count);
        l.length = sqrt(dx * dx + dy * dy);
        if (l.length >= shortest && !is_frame(f, p, l.count) && r.rms <= OFF_PARABOLA && r.worst <= 4 * OFF_PARABOLA &&
            r.sag <= MOST_SAG * l.length) {
            lines->line[lines->lines++] = l;
            lines->length += l.length;
            return;
        }
    }
    lines->points = first;
}

static tsr_status gather(struct finder *f, const uint8_t *image, double threshold, tsr_lens_lines *lines)
{
    smooth(f, image);
    find_slopes(f);
    const int64_t edges = find_edges(f, threshold), pixels = (int64_t)f->width * f->height;
    f->point = (double(*)[2])malloc((size_t)(edges + 1) * sizeof *f->point);
    f->trail = (int32_t *)malloc((size_t)(edges + 1) * sizeof *f->trail);
    if (!f->point || !f->trail) TSR_FAIL(TSR_ERROR_MEMORY, "lens lines: out of memory for %lld points of contours", (long long)edges);
    for (int64_t i = 0; i < pixels; i++)
        if (f->at[i] >= 0 && !f->taken[i]) TSR_TRY(follow(f, i));
    if (f->count) qsort(f->pieces, (size_t)f->count, sizeof *f->pieces, longer);
    f->count = f->count < MOST_PIECES ? f->count : MOST_PIECES;
    join(f);
    lines->point = (double(*)[2])malloc((size_t)(edges + 1) * sizeof *lines->point);
    lines->line = (tsr_lens_line *)malloc((size_t)(f->count + 1) * sizeof *lines->line);
    if (!lines->point || !lines->line) TSR_FAIL(TSR_ERROR_MEMORY, "lens lines: out of memory for %lld points of lines", (long long)edges);
    const double shortest = fmax(2 * SHORTEST_PIECE, 0.125 * tsr_mini(f->width, f->height));
    for (int32_t i = 0; i < (int32_t)f->count; i++)
        if (!f->pieces[i].used) put_line(f, i, shortest, lines);
    return TSR_OK;
}

tsr_status tsr_lens_lines_find(const uint8_t *image, int32_t width, int32_t height, double threshold, tsr_lens_lines *lines)
{
    struct finder f = { .width = width, .height = height };
    const size_t pixels = (size_t)width * (size_t)height;
    *lines = (tsr_lens_lines){ .width = width, .height = height };
    f.grey = (float *)malloc(pixels * sizeof *f.grey);
    f.slope = (slope *)malloc(pixels * sizeof *f.slope);
    f.edge = (edge_point *)malloc(pixels * sizeof *f.edge);
    f.at = (int32_t *)malloc(pixels * sizeof *f.at);
    f.taken = (uint8_t *)calloc(pixels, 1);
    tsr_status status = f.grey && f.slope && f.edge && f.at && f.taken
                            ? gather(&f, image, threshold, lines)
                            : TSR_FAILED(TSR_ERROR_MEMORY, "lens lines: out of memory for %d x %d pixels", width, height);
    free(f.grey);
    free(f.slope);
    free(f.edge);
    free(f.at);
    free(f.taken);
    free(f.trail);
    free(f.point);
    free(f.pieces);
    if (status != TSR_OK) tsr_lens_lines_free(lines);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_lens_lines_free(tsr_lens_lines *lines)
{
    free(lines->point);
    free(lines->line);
    *lines = (tsr_lens_lines){ 0 };
}

/* Sums of squares across the best straight line, per point: the smaller eigenvalue of the points' covariance. */
static double bend_of(const double mean[2], double xx, double xy, double yy, double n)
{
    const double a = xx / n - mean[0] * mean[0], b = xy / n - mean[0] * mean[1], c = yy / n - mean[1] * mean[1];
    const double least = 0.5 * (a + c) - sqrt(0.25 * (a - c) * (a - c) + b * b);
    return least > 0 ? sqrt(least) : 0;
}

double tsr_lens_lines_bend(const tsr_lens_lines *lines, const tsr_lens_map *map)
{
    double total = 0, points = 0;
    for (int64_t l = 0; l < lines->lines; l++) {
        const tsr_lens_line *line = &lines->line[l];
        double sum[2] = { 0 }, xx = 0, xy = 0, yy = 0, ends[2][2] = { { 0 } }, origin[2] = { 0 };
        for (int64_t i = 0; i < line->count; i++) {
            const double *p = lines->point[line->first + i];
            const double d[2] = { (p[0] - map->centre[0]) / map->half, (p[1] - map->centre[1]) / map->half_y };
            double added[2];
            if (!tsr_lens_remove(&map->lens, d, added)) return HUGE_VAL;
            double q[2] = { p[0] + added[0] * map->half, p[1] + added[1] * map->half_y };
            if (!i) memcpy(origin, q, sizeof origin); /* numbers stay small */
            for (int a = 0; a < 2; a++) {
                q[a] -= origin[a];
                sum[a] += q[a];
                ends[i > 0][a] = q[a];
            }
            xx += q[0] * q[0];
            xy += q[0] * q[1];
            yy += q[1] * q[1];
        }
        const double n = (double)line->count, mean[2] = { sum[0] / n, sum[1] / n };
        const double x = ends[1][0] - ends[0][0], y = ends[1][1] - ends[0][1], length = sqrt(x * x + y * y);
        if (!(length > 0)) return HUGE_VAL;
        const double bend = bend_of(mean, xx, xy, yy, n) * line->length / length; /* a picture that shrinks is no straighter */
        total += n * bend / (1 + bend); /* curves of the scene count for no more than a pixel's worth, whatever the lens */
        points += n;
    }
    return points > 0 ? total / (points - total) : HUGE_VAL;
}
