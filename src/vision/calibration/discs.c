/* vision/calibration/discs.c: dark discs on light paper: connected pixels that are darker than what is around, filled like an ellipse; then by grey values.
 * docs/theory/calibration.md 11. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"

enum { DISCS_MOST = 20000, PIXELS_LEAST = 12 };
#define PI 3.14159265358979323846

/* Pixels side by side in one row, and the part they belong to. */
typedef struct run {
    int32_t from, to, part;
} run;
typedef struct sums {
    double n, x, y, xx, xy, yy;
    int32_t parent;
    int border;
} sums;
typedef struct parts {
    sums *sum;
    int32_t count, room;
} parts;

static int32_t root(parts *p, int32_t k)
{
    while (p->sum[k].parent != k) k = p->sum[k].parent = p->sum[p->sum[k].parent].parent;
    return k;
}

static int32_t join(parts *p, int32_t a, int32_t b)
{
    a = root(p, a);
    b = root(p, b);
    if (a == b) return a;
    sums *to = &p->sum[a < b ? a : b], *from = &p->sum[a < b ? b : a];
    to->n += from->n, to->x += from->x, to->y += from->y, to->xx += from->xx, to->xy += from->xy, to->yy += from->yy;
    to->border |= from->border;
    return from->parent = to->parent;
}

static tsr_status begin(parts *p)
{
    if (p->count == p->room) {
        const int32_t room = p->room ? 2 * p->room : 1024;
        sums *grown = (sums *)realloc(p->sum, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d parts of a picture", room);
        p->sum = grown;
        p->room = room;
    }
    p->sum[p->count] = (sums){ .parent = p->count };
    p->count++;
    return TSR_OK;
}

/* Places are counted from the part's first pixel's row and column 0: sums of squares stay exact in float64. */
static void add_run(sums *s, int32_t from, int32_t to, int32_t y)
{
    const double n = to - from, first = from, last = to - 1, x = 0.5 * n * (first + last),
                 xx = (last * (last + 1) * (2 * last + 1) - (first - 1) * first * (2 * first - 1)) / 6;
    s->n += n;
    s->x += x;
    s->y += n * y;
    s->xx += xx;
    s->xy += x * y;
    s->yy += n * y * y;
}

/* Mean of the (2 reach + 1)^2 pixels around, fewer at the border: sums of columns slide down, their sum slides along. */
static void mean_row(const tsr_grey *g, int32_t y, int32_t reach, double *column, float *mean)
{
    const int32_t w = g->width, h = g->height;
    if (y == 0) {
        memset(column, 0, (size_t)w * sizeof *column);
        for (int32_t j = 0; j <= reach && j < h; j++)
            for (int32_t x = 0; x < w; x++) column[x] += (double)g->at[(int64_t)j * w + x];
    } else {
        const float *in = y + reach < h ? g->at + (int64_t)(y + reach) * w : NULL,
                    *out = y - reach - 1 >= 0 ? g->at + (int64_t)(y - reach - 1) * w : NULL;
        for (int32_t x = 0; x < w && in; x++) column[x] += (double)in[x];
        for (int32_t x = 0; x < w && out; x++) column[x] -= (double)out[x];
    }
    const int32_t rows = (y + reach < h ? y + reach : h - 1) - (y - reach > 0 ? y - reach : 0) + 1;
    double sum = 0;
    int32_t columns = 0;
    for (int32_t x = 0; x < w && x < reach; x++, columns++) sum += column[x];
    for (int32_t x = 0; x < w; x++) {
        if (x + reach < w) sum += column[x + reach], columns++;
        if (x - reach - 1 >= 0) sum -= column[x - reach - 1], columns--;
        mean[x] = (float)(sum / ((double)rows * columns));
    }
}

static tsr_status join_rows(const tsr_grey *g, double contrast, int32_t reach, parts *p)
{
    const int32_t w = g->width;
    double *column = (double *)malloc((size_t)w * sizeof *column);
    float *mean = (float *)malloc((size_t)w * sizeof *mean);
    run *row[2] = { (run *)malloc(((size_t)w / 2 + 1) * sizeof **row), (run *)malloc(((size_t)w / 2 + 1) * sizeof **row) };
    tsr_status status = TSR_OK;
    int32_t before = 0;
    if (!column || !mean || !row[0] || !row[1]) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for a row of %d pixels", w);
    for (int32_t y = 0; y < g->height; y++) {
        const float *v = g->at + (int64_t)y * w;
        run *const now = row[y & 1], *const above = row[~y & 1];
        int32_t runs = 0, k = 0;
        mean_row(g, y, reach, column, mean);
        for (int32_t x = 0; x < w; x++) {
            if (!(v[x] < mean[x] - 0.4f * (float)contrast)) continue;
            const int32_t from = x;
            while (x < w && v[x] < mean[x] - 0.4f * (float)contrast) x++;
            int32_t part = -1;
            while (k < before && above[k].to <= from) k++;
            for (int32_t j = k; j < before && above[j].from < x; j++) part = part < 0 ? root(p, above[j].part) : join(p, part, above[j].part);
            if (part < 0) {
                TSR_TRY_GOTO(begin(p), end);
                part = p->count - 1;
            }
            add_run(&p->sum[part], from, x, y);
            p->sum[part].border |= from == 0 || x == w || y == 0 || y == g->height - 1;
            now[runs++] = (run){ from, x, part };
        }
        before = runs;
    }
end:
    free(row[0]);
    free(row[1]);
    free(mean);
    free(column);
    return status;
}

/* An ellipse with these moments has the area 4 pi sqrt(det). */
static int is_round(const sums *s, tsr_disc *d)
{
    if (s->n < PIXELS_LEAST || s->border) return 0;
    d->area = s->n;
    d->at[0] = s->x / s->n;
    d->at[1] = s->y / s->n;
    d->xx = s->xx / s->n - d->at[0] * d->at[0] + 1.0 / 12;
    d->xy = s->xy / s->n - d->at[0] * d->at[1];
    d->yy = s->yy / s->n - d->at[1] * d->at[1] + 1.0 / 12;
    const double determinant = d->xx * d->yy - d->xy * d->xy, trace = d->xx + d->yy;
    if (!(determinant > 0) || determinant < 0.01 * trace * trace) return 0; /* axes 1 : 10 and thinner */
    const double filled = d->area / (4 * PI * sqrt(determinant));
    return filled > (s->n < 40 ? 0.85 : 0.93) && filled < 1.07;
}

tsr_status tsr_discs_list(const tsr_grey *grey, double contrast, int reach, tsr_disc **disc, int32_t *count)
{
    parts p = { 0 };
    tsr_status status = TSR_OK;
    *disc = NULL;
    *count = 0;
    TSR_TRY_GOTO(join_rows(grey, contrast, reach, &p), end);
    *disc = (tsr_disc *)malloc(((size_t)(p.count < DISCS_MOST ? p.count : DISCS_MOST) + 1) * sizeof **disc);
    if (!*disc) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for discs");
    for (int32_t k = 0; k < p.count && *count < DISCS_MOST; k++)
        if (p.sum[k].parent == k && is_round(&p.sum[k], &(*disc)[*count])) ++*count;
end:
    free(p.sum);
    return status;
}

/* The plane a + b x + c y of values outside, by least squares. */
static int plane_of(const double m[6], const double v[3], double plane[3])
{
    const double a[3][3] = { { m[0], m[1], m[2] }, { m[1], m[3], m[4] }, { m[2], m[4], m[5] } };
    const double cofactor[3] = { a[1][1] * a[2][2] - a[1][2] * a[1][2], a[0][2] * a[1][2] - a[0][1] * a[2][2],
                                 a[0][1] * a[1][2] - a[0][2] * a[1][1] };
    const double determinant = a[0][0] * cofactor[0] + a[0][1] * cofactor[1] + a[0][2] * cofactor[2];
    if (!(fabs(determinant) > 1e-9 * a[0][0] * a[1][1] * a[2][2])) return 0;
    const double inverse[6] = { cofactor[0],
                                cofactor[1],
                                cofactor[2],
                                a[0][0] * a[2][2] - a[0][2] * a[0][2],
                                a[0][1] * a[0][2] - a[0][0] * a[1][2],
                                a[0][0] * a[1][1] - a[0][1] * a[0][1] };
    plane[0] = (inverse[0] * v[0] + inverse[1] * v[1] + inverse[2] * v[2]) / determinant;
    plane[1] = (inverse[1] * v[0] + inverse[3] * v[1] + inverse[4] * v[2]) / determinant;
    plane[2] = (inverse[2] * v[0] + inverse[4] * v[1] + inverse[5] * v[2]) / determinant;
    return 1;
}

/* One pass: the paper's brightness as a plane from the ring around, the ink's from the core, and the moments of what lies between. Radii count in those of the ellipse. */
static int weigh(const tsr_grey *g, double contrast, tsr_disc *d)
{
    const double determinant = d->xx * d->yy - d->xy * d->xy,
                 small = sqrt(fmax(1e-6, 0.5 * (d->xx + d->yy) - hypot(0.5 * (d->xx - d->yy), d->xy))) * 2;
    const double soft = 2.2 / small, inside = fmax(0.3, 1 - soft), rim = 1 + soft, outside = rim + fmax(0.25, 1.5 / small); /* shares of the radius */
    const double reach[2] = { 2 * sqrt(d->xx) * outside + 1, 2 * sqrt(d->yy) * outside + 1 };
    const int x0 = (int)fmax(0, ceil(d->at[0] - reach[0])), x1 = (int)fmin(g->width - 1, floor(d->at[0] + reach[0])),
              y0 = (int)fmax(0, ceil(d->at[1] - reach[1])), y1 = (int)fmin(g->height - 1, floor(d->at[1] + reach[1]));
    double m[6] = { 0 }, v[3] = { 0 }, core[2] = { 0 }, plane[3] = { 0 }, s[6] = { 0 };
    if (!(determinant > 0)) return 0;
    for (int pass = 0; pass < 2; pass++) {
        const double ink = pass ? core[1] / fmax(1, core[0]) : 0;
        for (int y = y0; y <= y1; y++)
            for (int x = x0; x <= x1; x++) {
                const double u = x - d->at[0], w = y - d->at[1], r = 0.5 * sqrt((d->yy * u * u - 2 * d->xy * u * w + d->xx * w * w) / determinant),
                             value = (double)g->at[(int64_t)y * g->width + x];
                if (!pass && r > rim && r <= outside) {
                    m[0]++, m[1] += u, m[2] += w, m[3] += u * u, m[4] += u * w, m[5] += w * w;
                    v[0] += value, v[1] += value * u, v[2] += value * w;
                } else if (!pass && r <= inside) {
                    core[0]++, core[1] += value;
                } else if (pass && r <= rim) {
                    const double paper = plane[0] + plane[1] * u + plane[2] * w, share = (paper - value) / fmax(1, paper - ink);
                    s[0] += share, s[1] += share * u, s[2] += share * w, s[3] += share * u * u, s[4] += share * u * w, s[5] += share * w * w;
                }
            }
        if (!pass && (m[0] < 8 || core[0] < 1 || !plane_of(m, v, plane) || plane[0] - core[1] / core[0] < contrast)) return 0;
    }
    if (!(s[0] > 4)) return 0;
    const double cx = s[1] / s[0], cy = s[2] / s[0];
    d->area = s[0];
    d->at[0] += cx;
    d->at[1] += cy;
    d->xx = s[3] / s[0] - cx * cx;
    d->xy = s[4] / s[0] - cx * cy;
    d->yy = s[5] / s[0] - cy * cy;
    return d->xx > 0 && d->yy > 0 && d->xx * d->yy > d->xy * d->xy;
}

int tsr_disc_refine(const tsr_grey *grey, double contrast, tsr_disc *disc)
{
    tsr_disc d = *disc;
    for (int turn = 0; turn < 8; turn++) {
        const double before[2] = { d.at[0], d.at[1] };
        if (!weigh(grey, contrast, &d)) return 0;
        if (hypot(d.at[0] - disc->at[0], d.at[1] - disc->at[1]) > 1 + 0.2 * sqrt(disc->area)) return 0;
        if (hypot(d.at[0] - before[0], d.at[1] - before[1]) < 1e-3) break;
    }
    *disc = d;
    return 1;
}
