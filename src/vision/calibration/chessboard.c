/* vision/calibration/chessboard.c: where four squares meet, in one picture: saddles of the brightness, checked on rings, moved to sub-pixel places.
 * docs/theory/calibration.md 7. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"

enum { RING = 32, CORNERS_MOST = 20000 };
#define PI 3.14159265358979323846

tsr_status tsr_grey_of(const tsr_image *image, tsr_grey *grey)
{
    void *room = NULL;
    const int64_t n = (int64_t)image->width * image->height;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)n * sizeof(float), &room));
    *grey = (tsr_grey){ image->width, image->height, (float *)room };
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *p = image->pixels + i * image->channels;
        grey->at[i] = image->channels > 1 ? 0.299f * (float)p[0] + 0.587f * (float)p[1] + 0.114f * (float)p[2] : (float)p[0];
    }
    return TSR_OK;
}
static void release(tsr_grey *g)
{
    tsr_host_release(NULL, g->at, (size_t)g->width * (size_t)g->height * sizeof(float));
    g->at = NULL;
}

static float sample(const tsr_grey *g, double x, double y)
{
    if (x < 0) x = 0;
    if (y < 0) y = 0;
    if (x > g->width - 1) x = g->width - 1;
    if (y > g->height - 1) y = g->height - 1;
    const int i = x < g->width - 1   ? (int)x
                  : g->width - 2 < 0 ? 0
                                     : g->width - 2,
              j = y < g->height - 1   ? (int)y
                  : g->height - 2 < 0 ? 0
                                      : g->height - 2;
    const float fx = (float)(x - i), fy = (float)(y - j), *p = g->at + (int64_t)j * g->width + i;
    return (p[0] * (1 - fx) + p[1] * fx) * (1 - fy) + (p[g->width] * (1 - fx) + p[g->width + 1] * fx) * fy;
}

/* The place to which the gradients around are at right angles, each seen from there. */
int tsr_corner_refine(const tsr_grey *g, int window, double pixel[2])
{
    enum { WINDOW_MOST = 32, SIDE = 2 * WINDOW_MOST + 3 };
    float patch[SIDE * SIDE];
    double at[2] = { pixel[0], pixel[1] };
    const int w = window < 1 ? 1 : window > WINDOW_MOST ? WINDOW_MOST : window, side = 2 * w + 3;
    float mask[2 * WINDOW_MOST + 1];
    for (int i = -w; i <= w; i++) mask[i + w] = expf(-(float)(i * i) / (float)(w * w));
    for (int turn = 0; turn < 40; turn++) {
        double a = 0, b = 0, c = 0, u = 0, v = 0;
        for (int j = 0; j < side; j++)
            for (int i = 0; i < side; i++) patch[j * side + i] = sample(g, at[0] + i - w - 1, at[1] + j - w - 1);
        for (int j = 1; j < side - 1; j++)
            for (int i = 1; i < side - 1; i++) {
                const float *p = patch + j * side + i, m = mask[i - 1] * mask[j - 1];
                const double gx = (double)(p[1] - p[-1]), gy = (double)(p[side] - p[-side]), x = i - w - 1, y = j - w - 1;
                const double xx = (double)m * gx * gx, xy = (double)m * gx * gy, yy = (double)m * gy * gy;
                a += xx;
                b += xy;
                c += yy;
                u += xx * x + xy * y;
                v += xy * x + yy * y;
            }
        const double determinant = a * c - b * b;
        if (!(determinant > 1e-9 * (a + c) * (a + c))) return 0;
        const double step[2] = { (c * u - b * v) / determinant, (a * v - b * u) / determinant };
        at[0] += step[0];
        at[1] += step[1];
        if (fabs(at[0] - pixel[0]) > w || fabs(at[1] - pixel[1]) > w || at[0] < 0 || at[1] < 0 || at[0] > g->width - 1 || at[1] > g->height - 1)
            return 0;
        if (step[0] * step[0] + step[1] * step[1] < 1e-8) break;
    }
    pixel[0] = at[0];
    pixel[1] = at[1];
    return 1;
}

/* Binomial 1 4 6 4 1 in both directions. */
static tsr_status blur(const tsr_grey *from, tsr_grey *to)
{
    void *room = NULL;
    const int w = from->width, h = from->height;
    const size_t bytes = (size_t)w * (size_t)h * sizeof(float);
    TSR_TRY(tsr_host_allocate(NULL, bytes + (size_t)w * sizeof(float), &room));
    *to = (tsr_grey){ w, h, NULL };
    void *result = NULL;
    const tsr_status status = tsr_host_allocate(NULL, bytes, &result);
    if (status == TSR_OK) {
        float *row = (float *)room;
        to->at = (float *)result;
        for (int y = 0; y < h; y++) {
            const float *p[5];
            for (int k = 0; k < 5; k++) {
                const int yy = y + k - 2;
                p[k] = from->at + (int64_t)(yy < 0 ? 0 : yy >= h ? h - 1 : yy) * w;
            }
            for (int x = 0; x < w; x++) row[x] = (p[0][x] + p[4][x] + 4 * (p[1][x] + p[3][x]) + 6 * p[2][x]) * (1.0f / 16);
            for (int x = 0; x < w; x++) {
                const int a = x > 1 ? x - 2 : 0, b = x > 0 ? x - 1 : 0, c = x < w - 1 ? x + 1 : w - 1, d = x < w - 2 ? x + 2 : w - 1;
                to->at[(int64_t)y * w + x] = (row[a] + row[d] + 4 * (row[b] + row[c]) + 6 * row[x]) * (1.0f / 16);
            }
        }
    }
    tsr_host_release(NULL, room, bytes + (size_t)w * sizeof(float));
    return status;
}

static tsr_status halve(const tsr_grey *from, tsr_grey *to)
{
    void *room = NULL;
    const int w = from->width / 2, h = from->height / 2;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)w * (size_t)h * sizeof(float), &room));
    *to = (tsr_grey){ w, h, (float *)room };
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const float *p = from->at + (int64_t)2 * y * from->width + 2 * x;
            to->at[(int64_t)y * w + x] = 0.25f * (p[0] + p[1] + p[from->width] + p[from->width + 1]);
        }
    return TSR_OK;
}

/* A ring round the place crosses four edges, opposite squares alike; the directions of the two edges. */
static int ring(const tsr_grey *g, double (*circle)[2], const double at[2], double radius, float contrast, double angle[2], float *found)
{
    float v[RING], least = 1e30f, most = -1e30f;
    double crossing[4];
    int crossings = 0;
    for (int i = 0; i < RING; i++) {
        v[i] = sample(g, at[0] + radius * circle[i][0], at[1] + radius * circle[i][1]);
        least = fminf(least, v[i]);
        most = fmaxf(most, v[i]);
    }
    if (most - least < contrast) return 0;
    const float middle = 0.5f * (least + most);
    for (int i = 0; i < RING; i++) {
        const float a = v[i] - middle, b = v[(i + 1) % RING] - middle;
        if ((a < 0) == (b < 0)) continue;
        if (crossings == 4) return 0;
        crossing[crossings++] = 2 * PI / RING * (i + (double)(a / (a - b)));
    }
    if (crossings != 4) return 0;
    const double first = crossing[2] - crossing[0] - PI, second = crossing[3] - crossing[1] - PI;
    if (fabs(first) > 0.6 || fabs(second) > 0.6) return 0;
    angle[0] = fmod(0.5 * (crossing[0] + crossing[2] - PI) + 2 * PI, PI);
    angle[1] = fmod(0.5 * (crossing[1] + crossing[3] - PI) + 2 * PI, PI);
    const double between = fabs(angle[0] - angle[1]);
    if (between < 0.25 || between > PI - 0.25) return 0;
    *found = most - least;
    return 1;
}

typedef struct saddles {
    tsr_corner *corner;
    int32_t count, room;
} saddles;

static tsr_status keep(saddles *s, const tsr_corner *c)
{
    if (s->count == s->room) {
        const int32_t room = s->room ? 2 * s->room : 512;
        tsr_corner *grown = (tsr_corner *)realloc(s->corner, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d corners", room);
        s->corner = grown;
        s->room = room;
    }
    s->corner[s->count++] = *c;
    return TSR_OK;
}

/* Minus the determinant of the second derivatives: large where brightness is a saddle. */
static float saddle(const float *p, int w)
{
    const float xx = p[1] - 2 * p[0] + p[-1], yy = p[w] - 2 * p[0] + p[-w], xy = 0.25f * (p[w + 1] + p[-w - 1] - p[w - 1] - p[-w + 1]);
    return xy * xy - xx * yy;
}

static tsr_status list_level(const tsr_grey *g, double scale, double contrast, saddles *s)
{
    tsr_grey smooth = { 0 };
    enum { REACH = 3, MARGIN = 6 };
    void *room = NULL;
    tsr_status status = TSR_OK;
    const int w = g->width, h = g->height;
    const size_t bytes = (size_t)w * (size_t)h * sizeof(float);
    if (w < 2 * MARGIN + 4 || h < 2 * MARGIN + 4) return TSR_OK;
    TSR_TRY(blur(g, &smooth));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, bytes, &room), end);
    float *score = (float *)room;
    memset(score, 0, bytes);
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) score[(int64_t)y * w + x] = saddle(smooth.at + (int64_t)y * w + x, w);
    double circle[RING][2];
    for (int i = 0; i < RING; i++) {
        circle[i][0] = cos(2 * PI * i / RING);
        circle[i][1] = sin(2 * PI * i / RING);
    }
    const float least = (float)(contrast * contrast * 0.006);
    for (int y = MARGIN; y < h - MARGIN; y++) {
        for (int x = MARGIN; x < w - MARGIN; x++) {
            const float v = score[(int64_t)y * w + x];
            int best = v > least;
            for (int j = -REACH; j <= REACH && best; j++)
                for (int i = -REACH; i <= REACH && best; i++) {
                    const float other = score[(int64_t)(y + j) * w + x + i];
                    best = other < v || (other == v && (j > 0 || (j == 0 && i >= 0)));
                }
            if (!best) continue;
            tsr_corner c = { .at = { x, y } }, wide = c;
            /* most maxima are texture: one ring tells, before any place is refined */
            if (!ring(&smooth, circle, c.at, 3.5, (float)contrast, c.angle, &c.contrast)) continue;
            if (!tsr_corner_refine(&smooth, 3, c.at) || hypot(c.at[0] - x, c.at[1] - y) > 2.5) continue;
            if (!ring(&smooth, circle, c.at, 3.5, (float)contrast, c.angle, &c.contrast) ||
                !ring(&smooth, circle, c.at, 5, (float)contrast, wide.angle, &wide.contrast))
                continue;
            c.angle[0] = wide.angle[0];
            c.angle[1] = wide.angle[1];
            for (int k = 0; k < 2; k++) c.at[k] = (c.at[k] + 0.5) * scale - 0.5;
            c.scale = (float)scale;
            TSR_TRY_GOTO(keep(s, &c), end);
            if (s->count > CORNERS_MOST) goto end;
        }
    }
end:
    tsr_host_release(NULL, room, bytes);
    release(&smooth);
    return status;
}

/* Large pictures are looked at half and quarter size first: corners of blurred boards show there alone. A corner of a coarser level counts where
 * no finer one is
 * near. */
tsr_status tsr_corners_list(const tsr_grey *grey, double contrast, tsr_corner **corner, int32_t *count)
{
    saddles s = { 0 };
    tsr_grey level = *grey, own = { 0 };
    tsr_status status = TSR_OK;
    double scale = 1;
    while (1) {
        const int32_t before = s.count;
        TSR_TRY_GOTO(list_level(&level, scale, contrast, &s), fail);
        int32_t kept = before;
        for (int32_t i = before; i < s.count; i++) {
            int near = 0;
            for (int32_t k = 0; k < before && !near; k++)
                near = hypot(s.corner[k].at[0] - s.corner[i].at[0], s.corner[k].at[1] - s.corner[i].at[1]) < 4 * scale;
            if (!near) s.corner[kept++] = s.corner[i];
        }
        s.count = kept;
        if (level.width < 400 || level.height < 300 || s.count > CORNERS_MOST) break;
        tsr_grey half = { 0 };
        TSR_TRY_GOTO(halve(&level, &half), fail);
        if (own.at) release(&own);
        level = own = half;
        scale *= 2;
    }
    if (own.at) release(&own);
    *corner = s.corner;
    *count = s.count;
    return TSR_OK;
fail:
    if (own.at) release(&own);
    free(s.corner);
    *corner = NULL;
    *count = 0;
    return status;
}

static tsr_status check_image(const tsr_image *image)
{
    if (!image) TSR_FAIL(TSR_ERROR_ARGUMENT, "image is NULL");
    if (!image->pixels || image->width < 1 || image->height < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d x %d pixels, expected at least one", image->width, image->height);
    if (image->channels != 1 && image->channels != 3 && image->channels != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d channels, expected 1, 3 or 4", image->channels);
    return TSR_OK;
}

tsr_status tsr_corners_refine(const tsr_image *image, int32_t window, int64_t count, double (*pixel)[2], int64_t *moved)
{
    TSR_NEEDS(image);
    tsr_grey grey, smooth;
    int64_t n = 0;
    TSR_TRY(check_image(image));
    if (!pixel && count > 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "pixel is NULL");
    if (window < 1 || window > 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "window: %d pixels, expected 1 to 32", window);
    TSR_TRY(tsr_grey_of(image, &grey));
    const tsr_status status = blur(&grey, &smooth);
    release(&grey);
    if (status != TSR_OK) return status;
    for (int64_t i = 0; i < count; i++) {
        double at[2] = { pixel[i][0] - 0.5, pixel[i][1] - 0.5 };
        if (smooth.width < 2 || smooth.height < 2 || !isfinite(at[0] + at[1]) || !tsr_corner_refine(&smooth, window, at)) continue;
        pixel[i][0] = at[0] + 0.5;
        pixel[i][1] = at[1] + 0.5;
        n++;
    }
    if (moved) *moved = n;
    release(&smooth);
    return TSR_OK;
}

/* The least distance between neighbours of the board, pixels. */
static double spacing(const tsr_corner *corner, const int32_t *order, const tsr_chessboard *board)
{
    double least = 1e30;
    for (int j = 0; j < board->rows; j++)
        for (int i = 0; i < board->columns; i++) {
            const tsr_corner *c = &corner[order[j * board->columns + i]];
            for (int k = 0; k < 2; k++) {
                if (k ? j + 1 == board->rows : i + 1 == board->columns) continue;
                const tsr_corner *d = &corner[order[(j + k) * board->columns + i + !k]];
                least = fmin(least, hypot(c->at[0] - d->at[0], c->at[1] - d->at[1]));
            }
        }
    return least;
}

tsr_status tsr_chessboard_find(const tsr_image *image, const tsr_chessboard *board, const tsr_chessboard_options *options, double (*pixel)[2],
                               int *found)
{
    TSR_NEEDS(image);
    tsr_chessboard_options o;
    tsr_grey grey = { 0 }, smooth = { 0 };
    tsr_corner *corner = NULL;
    int32_t count = 0;
    tsr_status status = TSR_OK;
    if (!board || !pixel || !found) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !board ? "board" : !pixel ? "pixel" : "found");
    *found = 0;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_image(image));
    if (board->columns < 3 || board->rows < 3 || board->columns > 256 || board->rows > 256)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "board of %d x %d inner corners, expected 3 to 256 each way", board->columns, board->rows);
    if (o.window < 0 || o.window > 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "window: %d pixels, expected 1 to 32", o.window);
    if (!(o.contrast >= 0 && o.contrast < 256)) TSR_FAIL(TSR_ERROR_ARGUMENT, "contrast: %g, expected 0 to 255", o.contrast);
    const double contrast = o.contrast > 0 ? o.contrast : 12;
    if (image->width < 16 || image->height < 16) return TSR_OK;
    TSR_PROGRESS(&o.progress, 0, "corners");
    int32_t *order = (int32_t *)malloc((size_t)board->columns * (size_t)board->rows * sizeof *order);
    if (!order) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for a board");
    TSR_TRY_GOTO(tsr_grey_of(image, &grey), end);
    TSR_TRY_GOTO(tsr_corners_list(&grey, contrast, &corner, &count), end);
    TSR_TRY_GOTO(tsr_corners_grid(&grey, corner, count, board, contrast, order, found), end);
    if (*found) { /* sharp edges, sampled, would pull the places towards the grid of pixels */
        TSR_TRY_GOTO(blur(&grey, &smooth), end);
        const double room = 0.45 * spacing(corner, order, board);
        const int window = (int)fmax(2, fmin(o.window ? o.window : 11, room));
        for (int32_t i = 0; i < board->columns * board->rows; i++) {
            double at[2] = { corner[order[i]].at[0], corner[order[i]].at[1] };
            tsr_corner_refine(&smooth, window, at);
            pixel[i][0] = at[0] + 0.5;
            pixel[i][1] = at[1] + 0.5;
        }
    }
end:
    free(order);
    free(corner);
    if (smooth.at) release(&smooth);
    if (grey.at) release(&grey);
    return status;
}
