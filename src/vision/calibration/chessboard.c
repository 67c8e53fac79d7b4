/* vision/calibration/chessboard.c: where four squares meet, in one picture: saddles of the brightness, checked on rings, moved to sub-pixel places.
 * docs/theory/calibration.md 7. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/chessboard_isa.h"

enum { RING = 32, CORNERS_MOST = 20000 };
#define PI 3.14159265358979323846

tsr_status tsr_grey_of(const tsr_image *image, tsr_grey *grey)
{
    void *room = NULL;
    const int64_t n = (int64_t)image->width * image->height;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)n * sizeof(float), &room));
    *grey = (tsr_grey){ image->width, image->height, (float *)room };
    for (int64_t y = 0; y < image->height && image->channels == 1; y++)
        TSR_ISA_SELECT(tsr_corner_grey_row)(image->pixels + y * image->width, image->width, grey->at + y * image->width);
    for (int64_t i = 0; i < n && image->channels > 1; i++) {
        const uint8_t *p = image->pixels + i * image->channels;
        grey->at[i] = 0.299f * (float)p[0] + 0.587f * (float)p[1] + 0.114f * (float)p[2];
    }
    return TSR_OK;
}
void tsr_grey_release(tsr_grey *g)
{
    tsr_host_release(NULL, g->at, (size_t)g->width * (size_t)g->height * sizeof(float));
    g->at = NULL;
}

float tsr_grey_sample(const tsr_grey *g, double x, double y)
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
int tsr_corner_refine(const tsr_grey *g, int window, double enough, double pixel[2])
{
    enum { SIDE = 2 * TSR_CORNER_WINDOW_MOST + 4 };
    float patch[SIDE * SIDE], mask[2 * TSR_CORNER_WINDOW_MOST + 1];
    double at[2] = { pixel[0], pixel[1] };
    const int w = window < 1 ? 1 : window > TSR_CORNER_WINDOW_MOST ? TSR_CORNER_WINDOW_MOST : window, side = 2 * w + 3;
    for (int i = -w; i <= w; i++) mask[i + w] = expf(-(float)(i * i) / (float)(w * w));
    for (int turn = 0; turn < 40; turn++) {
        double s[5];
        const int x = (int)floor(at[0]) - w - 1, y = (int)floor(at[1]) - w - 1;
        const float fx = (float)(at[0] - floor(at[0])), fy = (float)(at[1] - floor(at[1]));
        const float *first = g->at + (int64_t)y * g->width + x;
        int64_t stride = g->width;
        if (x < 0 || y < 0 || x + side >= g->width || y + side >= g->height) { /* beyond the border the outermost pixels go on */
            for (int j = 0; j <= side; j++)
                for (int i = 0; i <= side; i++) {
                    const int u = x + i < 0 ? 0 : x + i >= g->width ? g->width - 1 : x + i, v = y + j < 0 ? 0 : y + j >= g->height ? g->height - 1 : y + j;
                    patch[j * SIDE + i] = g->at[(int64_t)v * g->width + u];
                }
            first = patch;
            stride = SIDE;
        }
        TSR_ISA_SELECT(tsr_corner_moments)(first, stride, fx, fy, w, mask, s);
        const double determinant = s[0] * s[2] - s[1] * s[1];
        if (!(determinant > 1e-9 * (s[0] + s[2]) * (s[0] + s[2]))) return 0;
        const double step[2] = { (s[2] * s[3] - s[1] * s[4]) / determinant, (s[0] * s[4] - s[1] * s[3]) / determinant };
        at[0] += step[0];
        at[1] += step[1];
        if (fabs(at[0] - pixel[0]) > w || fabs(at[1] - pixel[1]) > w || at[0] < 0 || at[1] < 0 || at[0] > g->width - 1 || at[1] > g->height - 1)
            return 0;
        if (step[0] * step[0] + step[1] * step[1] < enough * enough) break;
    }
    pixel[0] = at[0];
    pixel[1] = at[1];
    return 1;
}

/* Binomial 1 4 6 4 1 in both directions. */
tsr_status tsr_grey_blur(const tsr_grey *from, tsr_grey *to)
{
    void *between = NULL, *result = NULL;
    const int w = from->width, h = from->height;
    TSR_TRY(tsr_host_allocate(NULL, ((size_t)w + 4) * sizeof(float), &between));
    *to = (tsr_grey){ w, h, NULL };
    const tsr_status status = tsr_host_allocate(NULL, (size_t)w * (size_t)h * sizeof(float), &result);
    to->at = (float *)result;
    for (int y = 0; y < h && status == TSR_OK; y++) {
        const float *p[5];
        for (int k = 0; k < 5; k++) {
            const int yy = y + k - 2;
            p[k] = from->at + (int64_t)(yy < 0 ? 0 : yy >= h ? h - 1 : yy) * w;
        }
        TSR_ISA_SELECT(tsr_corner_blur_row)(p, w, (float *)between, to->at + (int64_t)y * w);
    }
    tsr_host_release(NULL, between, ((size_t)w + 4) * sizeof(float));
    return status;
}

static tsr_status halve(const tsr_grey *from, tsr_grey *to)
{
    void *room = NULL;
    const int w = from->width / 2, h = from->height / 2;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)w * (size_t)h * sizeof(float), &room));
    *to = (tsr_grey){ w, h, (float *)room };
    for (int y = 0; y < h; y++) {
        const float *p = from->at + (int64_t)2 * y * from->width;
        TSR_ISA_SELECT(tsr_corner_halve_row)(p, p + from->width, w, to->at + (int64_t)y * w);
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
        v[i] = tsr_grey_sample(g, at[0] + radius * circle[i][0], at[1] + radius * circle[i][1]);
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
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

/* Sixteen pixels around differ by so much and cross their middle four times and more: most saddles of noise do not, and this is the cheapest way to tell. */
static int crosses(const float *p, int w, float contrast)
{
    enum { AROUND = 16 };
    static const int8_t at[AROUND][2] = { { 3, 0 }, { 3, 1 }, { 2, 2 }, { 1, 3 }, { 0, 3 }, { -1, 3 }, { -2, 2 }, { -3, 1 }, { -3, 0 }, { -3, -1 }, { -2, -2 }, { -1, -3 },
                                          { 0, -3 }, { 1, -3 }, { 2, -2 }, { 3, -1 } };
    float v[AROUND], least = p[3], most = p[3];
    for (int k = 0; k < AROUND; k++) {
        v[k] = p[(int64_t)at[k][1] * w + at[k][0]];
        least = v[k] < least ? v[k] : least;
        most = v[k] > most ? v[k] : most;
    }
    if (most - least < contrast) return 0;
    const float middle = 0.5f * (least + most);
    int crossings = (v[AROUND - 1] < middle) != (v[0] < middle);
    for (int k = 1; k < AROUND; k++) crossings += (v[k - 1] < middle) != (v[k] < middle);
    return crossings >= 4;
}

/* Saddles of one picture, and the largest of every 16 of a row. */
typedef struct scores {
    float *at, *largest;
    uint8_t *peak; /* a row of those that are larger than their neighbours */
    int32_t blocks;
    size_t bytes;
} scores;

static tsr_status score_of(const tsr_grey *smooth, scores *s)
{
    const int w = smooth->width, h = smooth->height;
    const size_t pixels = (size_t)w * (size_t)h;
    void *room = NULL;
    s->blocks = (w + 15) / 16;
    s->bytes = (pixels + (size_t)s->blocks * (size_t)h) * sizeof(float) + (size_t)w;
    TSR_TRY(tsr_host_allocate(NULL, s->bytes, &room));
    s->at = (float *)room;
    s->largest = s->at + pixels;
    s->peak = (uint8_t *)(s->largest + (size_t)s->blocks * (size_t)h);
    memset(s->peak, 0, (size_t)w);
    memset(s->at, 0, (size_t)w * sizeof *s->at);
    memset(s->at + pixels - w, 0, (size_t)w * sizeof *s->at);
    for (int y = 1; y < h - 1; y++)
        TSR_ISA_SELECT(tsr_corner_saddle_row)(smooth->at + (int64_t)y * w, w, s->at + (int64_t)y * w, s->largest + (int64_t)y * s->blocks);
    return TSR_OK;
}

/* A sharp corner of two grey values `c` apart scores 0.1 c^2 in the smoothed picture. */
static double strongest(const scores *s, int32_t height)
{
    float most = 0;
    for (int64_t i = s->blocks; i < (int64_t)s->blocks * (height - 1); i++) most = s->largest[i] > most ? s->largest[i] : most;
    return sqrt((double)most / 0.1);
}

/* The largest within three pixels; of equal ones the first. */
static int is_largest(const float *at, int w)
{
    enum { REACH = 3 };
    const float v = *at;
    for (int j = -REACH; j <= REACH; j++)
        for (int i = -REACH; i <= REACH; i++) {
            const float other = at[(int64_t)j * w + i];
            if (other > v || (other == v && (j < 0 || (j == 0 && i < 0)))) return 0;
        }
    return 1;
}

/* Most maxima are texture: one ring tells, before any place is refined. 0: no corner. */
static int corner_at(const tsr_grey *smooth, double (*circle)[2], int x, int y, float contrast, double beyond, tsr_corner *c)
{
    tsr_corner wide;
    *c = (tsr_corner){ .at = { x, y } };
    if (!ring(smooth, circle, c->at, 3.5, contrast, c->angle, &c->contrast)) return 0;
    if (!tsr_corner_refine(smooth, 3, 0.03, c->at) || hypot(c->at[0] - x, c->at[1] - y) > 2.5) return 0;
    if (!ring(smooth, circle, c->at, 3.5, contrast, c->angle, &c->contrast) || !ring(smooth, circle, c->at, beyond, contrast, wide.angle, &wide.contrast)) return 0;
    memcpy(c->angle, wide.angle, sizeof c->angle);
    return 1;
}

static tsr_status list_level(const tsr_grey *smooth, const scores *score, double scale, double contrast, double beyond, saddles *s)
{
    enum { MARGIN = 6 };
    const int w = smooth->width, h = smooth->height;
    const float least = (float)(contrast * contrast * 0.006);
    double circle[RING][2];
    for (int i = 0; i < RING; i++) {
        circle[i][0] = cos(2 * PI * i / RING);
        circle[i][1] = sin(2 * PI * i / RING);
    }
    for (int y = MARGIN; y < h - MARGIN && s->count <= CORNERS_MOST; y++) {
        TSR_ISA_SELECT(tsr_corner_peak_row)(score->at + (int64_t)y * w, w, MARGIN, w - MARGIN, least, score->peak);
        for (int x = MARGIN; x < w - MARGIN; x++) {
            uint64_t eight = 0;
            if (x + 8 <= w) memcpy(&eight, score->peak + x, 8);
            if (x + 8 <= w && !eight) {
                x += 7; /* none in the next eight */
                continue;
            }
            const float *at = score->at + (int64_t)y * w + x;
            tsr_corner c;
            if (!score->peak[x] || !crosses(smooth->at + (int64_t)y * w + x, w, 0.5f * (float)contrast) || !is_largest(at, w) ||
                !corner_at(smooth, circle, x, y, (float)contrast, beyond, &c))
                continue;
            for (int k = 0; k < 2; k++) c.at[k] = (c.at[k] + 0.5) * scale - 0.5;
            c.scale = (float)scale;
            TSR_TRY(keep(s, &c));
        }
    }
    return TSR_OK;
}

/* A corner of a coarser level counts where no finer one is near. */
static void drop_near(saddles *s, int32_t before, double scale)
{
    int32_t kept = before;
    for (int32_t i = before; i < s->count; i++) {
        int near = 0;
        for (int32_t k = 0; k < before && !near; k++) {
            const double u = s->corner[k].at[0] - s->corner[i].at[0], v = s->corner[k].at[1] - s->corner[i].at[1];
            near = u * u + v * v < 16 * scale * scale;
        }
        if (!near) s->corner[kept++] = s->corner[i];
    }
    s->count = kept;
}

/* Large pictures are looked at half and quarter size as well: corners of blurred boards show there alone. */
tsr_status tsr_corners_list(const tsr_grey *smooth, const tsr_grey *grey, double contrast, double share, double wide, int levels, tsr_corner **corner,
                            int32_t *count)
{
    saddles s = { 0 };
    tsr_grey level = *grey, own = { 0 }, blurred = *smooth, own_blurred = { 0 };
    tsr_status status = TSR_OK;
    double scale = 1;
    *corner = NULL;
    *count = 0;
    while (level.width >= 16 && level.height >= 16) {
        const int32_t before = s.count;
        scores score = { 0 };
        TSR_TRY_GOTO(score_of(&blurred, &score), end);
        if (scale == 1) contrast = fmax(contrast, share * strongest(&score, level.height));
        status = list_level(&blurred, &score, scale, contrast, wide, &s);
        tsr_host_release(NULL, score.at, score.bytes);
        if (status != TSR_OK) goto end;
        drop_near(&s, before, scale);
        if (--levels < 1 || level.width < 400 || level.height < 300 || s.count > CORNERS_MOST) break;
        tsr_grey half = { 0 };
        TSR_TRY_GOTO(halve(&level, &half), end);
        if (own.at) tsr_grey_release(&own);
        level = own = half;
        if (own_blurred.at) tsr_grey_release(&own_blurred);
        TSR_TRY_GOTO(tsr_grey_blur(&level, &own_blurred), end);
        blurred = own_blurred;
        scale *= 2;
    }
end:
    if (own.at) tsr_grey_release(&own);
    if (own_blurred.at) tsr_grey_release(&own_blurred);
    if (status != TSR_OK) {
        free(s.corner);
        return status;
    }
    *corner = s.corner;
    *count = s.count;
    return TSR_OK;
}

tsr_status tsr_image_require(const tsr_image *image)
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
    TSR_TRY(tsr_image_require(image));
    if (!pixel && count > 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "pixel is NULL");
    if (window < 1 || window > 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "window: %d pixels, expected 1 to 32", window);
    TSR_TRY(tsr_grey_of(image, &grey));
    const tsr_status status = tsr_grey_blur(&grey, &smooth);
    tsr_grey_release(&grey);
    if (status != TSR_OK) return status;
    for (int64_t i = 0; i < count; i++) {
        double at[2] = { pixel[i][0] - 0.5, pixel[i][1] - 0.5 };
        if (smooth.width < 2 || smooth.height < 2 || !isfinite(at[0] + at[1]) || !tsr_corner_refine(&smooth, window, TSR_CORNER_EXACT, at)) continue;
        pixel[i][0] = at[0] + 0.5;
        pixel[i][1] = at[1] + 0.5;
        n++;
    }
    if (moved) *moved = n;
    tsr_grey_release(&smooth);
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

tsr_status tsr_chessboard_search(const tsr_image *image, const tsr_chessboard *board, const tsr_chessboard_options *options, double (*pixel)[2], int32_t *boards)
{
    tsr_chessboard_options o;
    tsr_grey grey = { 0 }, smooth = { 0 };
    tsr_corner *corner = NULL;
    int32_t count = 0;
    tsr_status status = TSR_OK;
    *boards = 0;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(tsr_image_require(image));
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
    TSR_TRY_GOTO(tsr_grey_blur(&grey, &smooth), end);
    /* Most boards are sharp and few are much fainter than the strongest corner of their picture: the others are looked for when there is none of these. */
    static const struct {
        double share;
        int levels;
    } pass[3] = { { 0.4, 1 }, { 0.4, TSR_CORNER_LEVELS }, { 0, TSR_CORNER_LEVELS } };
    for (int k = 0; k < 3 && !*boards; k++) {
        free(corner);
        TSR_TRY_GOTO(tsr_corners_list(&smooth, &grey, contrast, pass[k].share, 5, pass[k].levels, &corner, &count), end);
        TSR_TRY_GOTO(tsr_corners_grid(&grey, corner, count, board, contrast, order, boards), end);
    }
    if (*boards) { /* sharp edges, sampled, would pull the places towards the grid of pixels: the smoothed picture */
        const double room = 0.45 * spacing(corner, order, board);
        const int window = (int)fmax(2, fmin(o.window ? o.window : 11, room));
        for (int32_t i = 0; i < board->columns * board->rows; i++) {
            double at[2] = { corner[order[i]].at[0], corner[order[i]].at[1] };
            tsr_corner_refine(&smooth, window, TSR_CORNER_EXACT, at);
            pixel[i][0] = at[0] + 0.5;
            pixel[i][1] = at[1] + 0.5;
        }
    }
end:
    free(order);
    free(corner);
    if (smooth.at) tsr_grey_release(&smooth);
    if (grey.at) tsr_grey_release(&grey);
    return status;
}

tsr_status tsr_chessboard_find(const tsr_image *image, const tsr_chessboard *board, const tsr_chessboard_options *options, double (*pixel)[2],
                               int *found)
{
    TSR_NEEDS(image, board, pixel, found);
    int32_t boards;
    *found = 0;
    TSR_TRY(tsr_chessboard_search(image, board, options, pixel, &boards));
    *found = boards > 0;
    return TSR_OK;
}
