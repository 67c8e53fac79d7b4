/* mip/mip_view.c: views, and their fixed-point form. */
#include <math.h>

#include "mip/mip_view.h"

static const double pi = 3.14159265358979323846;

/* Rows: right, down, away. */
static void rotation_of(const double q[4], double r[3][3])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = { { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y) },
                             { 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x) },
                             { 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y) } };
    memcpy(r, m, sizeof m);
}

static void multiply(const double a[4], const double b[4], double q[4])
{
    q[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    q[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    q[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    q[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

tsr_mip_view tsr_mip_orbit(double azimuth, double elevation, double zoom)
{
    const double half = sqrt(0.5), a = azimuth * pi / 360, e = elevation * pi / 360;
    const double front[4] = { 0, 0, half, -half }, turn[4] = { cos(a), 0, 0, -sin(a) }, tip[4] = { cos(e), sin(e), 0, 0 };
    tsr_mip_view view = { .zoom = zoom };
    double q[4];
    multiply(tip, front, q);
    multiply(q, turn, view.rotation);
    return view;
}

static tsr_status check_view(const tsr_mip_view *view, double q[4], double stretch[3], double *zoom)
{
    static const double identity[4] = { 1, 0, 0, 0 };
    const double own[3] = { view ? view->stretch.x : 0, view ? view->stretch.y : 0, view ? view->stretch.z : 0 };
    const double *r = view ? view->rotation : identity;
    double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    if (r[0] == 0 && r[1] == 0 && r[2] == 0 && r[3] == 0) {
        r = identity;
        length = 1;
    }
    if (!isfinite(length) || !(length > 1e-100))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: rotation (%g, %g, %g, %g), expected a finite quaternion other than 0", r[0], r[1], r[2], r[3]);
    for (int k = 0; k < 4; k++) q[k] = r[k] / length;
    *zoom = view && view->zoom != 0 ? view->zoom : 1;
    if (!(*zoom > 0 && *zoom <= 64)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: zoom is %g, expected more than 0 and at most 64", *zoom);
    for (int k = 0; k < 3; k++) {
        stretch[k] = own[0] == 0 && own[1] == 0 && own[2] == 0 ? 1 : own[k];
        if (!(stretch[k] >= 1.0 / 64 && stretch[k] <= 64))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: stretch %c is %g, expected 1/64 to 64", "xyz"[k], stretch[k]);
    }
    return TSR_OK;
}

static int is_cube(const double stretch[3]) { return stretch[0] == stretch[1] && stretch[1] == stretch[2]; }

/* Is the longest of the columns (pixels from a voxel to the next one along an axis) without effect on how dense voxels lie in the picture? A slice across
 * its axis is filled by the two others; if the next slice lies within that one or begins where it ends, the slices together are filled, too. */
static int is_filled(const double c[3][2], const int64_t size[3], int longest)
{
    const int a = (longest + 1) % 3, b = (longest + 2) % 3;
    const double determinant = c[a][0] * c[b][1] - c[a][1] * c[b][0];
    if (fabs(determinant) < 1e-9) return 0;
    const double along_a = (c[longest][0] * c[b][1] - c[longest][1] * c[b][0]) / determinant,
                 along_b = (c[a][0] * c[longest][1] - c[a][1] * c[longest][0]) / determinant;
    return fabs(along_a) <= (double)size[a] && fabs(along_b) <= (double)size[b];
}

/* How often a pixel of the drawn picture is repeated, across and down, so that it has no holes. Voxels as wide as high as deep: from one to the next it is at
 * most a pixel, however they are turned. Others: what counts is how they lie in the plane of the picture, so that a stack of thick slices that is
 * seen from above is drawn as fine as a slice. */
static void choose_repeat(const double r[3][3], double zoom, const double stretch[3], tsr_size3 extents, int32_t repeat[2])
{
    const int64_t size[3] = { extents.x, extents.y, extents.z };
    double c[3][2], square[3];
    int longest = 0;
    repeat[0] = repeat[1] = tsr_maxi((int32_t)ceil(zoom * stretch[0] - 1e-9), 1);
    if (is_cube(stretch)) return;
    for (int k = 0; k < 3; k++) {
        for (int row = 0; row < 2; row++) c[k][row] = zoom * stretch[k] * r[row][k];
        square[k] = c[k][0] * c[k][0] + c[k][1] * c[k][1];
        if (square[k] > square[longest]) longest = k;
    }
    if (is_filled(c, size, longest)) c[longest][0] = c[longest][1] = 0;
    repeat[0] = repeat[1] = 1;
    for (;;) {
        double most = 1 + 1e-9;
        int across = 0;
        for (int k = 0; k < 3; k++) {
            const double u = fabs(c[k][0]) / repeat[0], v = fabs(c[k][1]) / repeat[1];
            if (!(u * u + v * v > most)) continue;
            most = u * u + v * v;
            across = u > v;
        }
        if (!(most > 1 + 1e-9)) return;
        repeat[across ? 0 : 1]++;
    }
}

/* Of an axis-aligned row at one pixel per voxel its axis' sign, else 0. */
static int32_t along(const int32_t row[3])
{
    int32_t nonzero = 0, sign = 0;
    for (int k = 0; k < 3; k++)
        if (row[k]) {
            nonzero++;
            sign = row[k] == 65536 ? 1 : row[k] == -65536 ? -1 : 0;
        }
    return nonzero == 1 ? sign : 0;
}

static void add_offset(tsr_mip_offsets *set, int64_t x, int64_t y)
{
    for (int32_t k = 0; k < set->count; k++)
        if (set->at[k][0] == x && set->at[k][1] == y) return;
    set->at[set->count][0] = (int16_t)x;
    set->at[set->count++][1] = (int16_t)y;
}

static void project_element(tsr_mip_setup *s, int32_t levels, const int8_t (*points)[4], int32_t count, int cube2)
{
    const tsr_mip_projection *p = &s->p;
    const int32_t sign_u = along(p->u), sign_v = along(p->v);
    s->oblique = !sign_u || !sign_v;
    for (int32_t k = 0; k < count; k++) {
        const int64_t u = tsr_mip_dot(p->u, points[k][0], points[k][1], points[k][2]),
                      v = tsr_mip_dot(p->v, points[k][0], points[k][1], points[k][2]);
        for (int32_t j = 1; j <= levels; j++) { /* from a pixel of level j to those of level j - 1: where the middle of a block lies in its pixel */
            const int64_t pixel = (int64_t)65536 << j;
            const int64_t in_u = s->oblique ? pixel / 2 : ((p->anchor_u[j] % pixel) + pixel) % pixel;
            const int64_t in_v = s->oblique ? pixel / 2 : ((p->anchor_v[j] % pixel) + pixel) % pixel;
            const int64_t x = (in_u + p->anchor_u[j - 1] - p->anchor_u[j] + (u * ((int64_t)1 << (j - 1)))) >> (15 + j);
            const int64_t y = (in_v + p->anchor_v[j - 1] - p->anchor_v[j] + (v * ((int64_t)1 << (j - 1)))) >> (15 + j);
            add_offset(&s->set[j - 1], x, y);
        }
        /* the middle of {0,1} is a half */
        const int64_t middle_u = cube2 ? 65536 - (p->u[0] + p->u[1] + p->u[2]) / 2 : 32768,
                      middle_v = cube2 ? 65536 - (p->v[0] + p->v[1] + p->v[2]) / 2 : 32768;
        add_offset(&s->set[TSR_MIP_LEVELS], (u + middle_u) >> 16, (v + middle_v) >> 16);
    }
}

tsr_status tsr_mip_setup_make(const tsr_mip_view *view, tsr_size3 size, int32_t levels, const int8_t (*points)[4], int32_t count, int cube2,
                              int32_t width, int32_t height, int cascade, tsr_mip_setup *s)
{
    double q[4], stretch[3], r[3][3], zoom = 1, most = 0, sum[3] = { 0 };
    const double centre[3] = { 0.5 * (double)size.x, 0.5 * (double)size.y, 0.5 * (double)size.z };
    TSR_TRY(check_view(view, q, stretch, &zoom));
    memset(s, 0, sizeof *s);
    rotation_of(q, r);
    choose_repeat(r, zoom, stretch, size, s->repeat);
    s->width = (width + s->repeat[0] - 1) / s->repeat[0];
    s->height = (height + s->repeat[1] - 1) / s->repeat[1];
    for (int k = 0; k < 3; k++) {
        s->p.u[k] = (int32_t)llround(65536 * zoom / s->repeat[0] * stretch[k] * r[0][k]);
        s->p.v[k] = (int32_t)llround(65536 * zoom / s->repeat[1] * stretch[k] * r[1][k]);
        s->p.w[k] = (int32_t)llround(65536 * stretch[k] * r[2][k]);
        for (int row = 0; row < 3; row++) sum[row] += r[row][k] * stretch[k] * centre[k];
        most = fmax(most, stretch[k]);
        s->scale[0] = fmax(s->scale[0], fabs((double)s->p.u[k]) / 65536);
        s->scale[1] = fmax(s->scale[1], fabs((double)s->p.v[k]) / 65536);
    }
    if (is_cube(stretch)) s->scale[0] = s->scale[1] = zoom / s->repeat[0] * most;
    const int64_t u0 = llround(65536 * (0.5 * (double)width / s->repeat[0] - zoom / s->repeat[0] * sum[0]));
    const int64_t v0 = llround(65536 * (0.5 * (double)height / s->repeat[1] - zoom / s->repeat[1] * sum[1]));
    s->p.anchor_w = llround(-65536 * sum[2]) + ((s->p.w[0] + s->p.w[1] + s->p.w[2]) >> 1);
    double middle[3] = { 0 };
    int32_t reach = 1;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            middle[k] += (double)points[i][k] / count;
            reach = tsr_maxi(reach, points[i][k] < 0 ? -points[i][k] : points[i][k]);
        }
    for (int32_t j = 0; j <= levels; j++) { /* 2 (2^j n + (2^j - 1) middle + 1/2), halved */
        double u = 0, v = 0;
        for (int k = 0; k < 3; k++) {
            const double twice = 2 * ((double)((1 << j) - 1)) * middle[k] + 1;
            u += s->p.u[k] * twice;
            v += s->p.v[k] * twice;
        }
        s->p.anchor_u[j] = u0 + (llround(u) >> 1);
        s->p.anchor_v[j] = v0 + (llround(v) >> 1);
    }
    s->full_width = s->width;
    s->full_height = s->height;
    if (cascade) {
        const int32_t margin = 2 * reach << levels, block = (1 << levels) - 1;
        s->left = s->top = margin; /* what lies beside the picture may expand into it */
        s->full_width = (s->left + s->width + margin + block) & ~block;
        s->full_height = (s->top + s->height + margin + block) & ~block;
        for (int32_t j = 0; j <= levels; j++) {
            s->p.anchor_u[j] += (int64_t)s->left << 16;
            s->p.anchor_v[j] += (int64_t)s->top << 16;
        }
    }
    project_element(s, levels, points, count, cube2);
    return TSR_OK;
}

/* ---- what a brick can touch -------------------------------------------------------------------------------------------------------------- */

/* Widens [range[0], range[1]] by the part of an edge of a brick, from a along d (in pixels), that lies between the rows v0 and v1. */
static void clip_edge(const double a[2], const double d[2], double v0, double v1, double range[2])
{
    double t0 = 0, t1 = 1;
    if (d[1] == 0) {
        if (a[1] < v0 || a[1] > v1) return;
    } else {
        const double s0 = (v0 - a[1]) / d[1], s1 = (v1 - a[1]) / d[1];
        t0 = fmax(t0, fmin(s0, s1));
        t1 = fmin(t1, fmax(s0, s1));
        if (t0 > t1) return;
    }
    range[0] = fmin(range[0], a[0] + fmin(t0 * d[0], t1 * d[0]));
    range[1] = fmax(range[1], a[0] + fmax(t0 * d[0], t1 * d[0]));
}

void tsr_mip_find_spans(tsr_mip_job *job)
{
    const double scale = 1 / (65536.0 * (double)(1 << job->shift)), slack = 1e-3;
    const double margin[2] = { tsr_mip_margin(job, 0), tsr_mip_margin(job, 1) }; /* corners lie there and up to a pixel further */
    double d[3][2], low[2] = { 0, 0 }, reach[2] = { 0, 0 };
    job->spans = 0;
    for (int k = 0; k < 3; k++) {
        d[k][0] = (TSR_CELL_SIDE - 1) * scale * job->p.u[k];
        d[k][1] = (TSR_CELL_SIDE - 1) * scale * job->p.v[k];
        for (int c = 0; c < 2; c++) {
            low[c] += fmin(d[k][c], 0);
            reach[c] += fabs(d[k][c]);
        }
    }
    const int32_t rows = (int32_t)(reach[1] + 2 * margin[1]) + 3;
    if (rows > TSR_MIP_SPANS || reach[0] + 2 * margin[0] + 3 > 255) return;
    job->spans = rows;
    for (int32_t y = 0; y < rows; y++) {
        double range[2] = { 1e9, -1e9 };
        job->span[y] = (tsr_mip_span){ 0, 0 };
        /* a point at v of the brick falls on rows from v to v + 2 margins, and the brick lies up to a pixel further down */
        const double v0 = y - 2 * margin[1] - 1 - slack, v1 = y + 1 + slack;
        for (int k = 0; k < 3; k++) /* the four edges along axis k */
            for (int e = 0; e < 4; e++) {
                const int a = (k + 1) % 3, b = (k + 2) % 3;
                const double from[2] = { (e & 1) * d[a][0] + (e >> 1) * d[b][0] - low[0], (e & 1) * d[a][1] + (e >> 1) * d[b][1] - low[1] };
                clip_edge(from, d[k], v0, v1, range);
            }
        if (range[0] > range[1]) continue;
        job->span[y].low = (uint8_t)tsr_maxi(0, (int32_t)floor(range[0] - slack));
        job->span[y].high = (uint8_t)((int32_t)floor(range[1] + slack + 2 * margin[0] + 1) + 1);
    }
}
