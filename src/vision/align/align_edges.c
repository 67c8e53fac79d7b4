/* vision/align/align_edges.c: pictures halved, their edges by direction, and the distances to these. docs/theory/calibration.md 9. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/align/align.h"

float tsr_align_value(const tsr_grey *g, double x, double y)
{
    x = x < 0 ? 0 : x > g->width - 1 ? g->width - 1 : x;
    y = y < 0 ? 0 : y > g->height - 1 ? g->height - 1 : y;
    const int i = (int)x < g->width - 1 ? (int)x : g->width - 2, j = (int)y < g->height - 1 ? (int)y : g->height - 2;
    const float fx = (float)(x - i), fy = (float)(y - j), *p = g->at + (int64_t)j * g->width + i;
    return (p[0] * (1 - fx) + p[1] * fx) * (1 - fy) + (p[g->width] * (1 - fx) + p[g->width + 1] * fx) * fy;
}

static tsr_status grey_take(int32_t width, int32_t height, tsr_grey *g)
{
    void *room;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)width * (size_t)height * sizeof(float), &room));
    *g = (tsr_grey){ width, height, (float *)room };
    return TSR_OK;
}
static void grey_drop(tsr_grey *g)
{
    if (g->at) tsr_host_release(NULL, g->at, (size_t)g->width * (size_t)g->height * sizeof(float));
    g->at = NULL;
}

/* 1 2 1 both ways. */
static tsr_status smooth(const tsr_grey *from, tsr_grey *to)
{
    const int32_t w = from->width, h = from->height;
    float *row = (float *)malloc((size_t)w * sizeof *row);
    if (!row) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d pixels", w);
    const tsr_status status = grey_take(w, h, to);
    for (int32_t y = 0; y < h && status == TSR_OK; y++) {
        const float *a = from->at + (int64_t)(y > 0 ? y - 1 : 0) * w, *b = from->at + (int64_t)y * w, *c = from->at + (int64_t)(y < h - 1 ? y + 1 : y) * w;
        float *out = to->at + (int64_t)y * w;
        for (int32_t x = 0; x < w; x++) row[x] = 0.25f * (a[x] + c[x]) + 0.5f * b[x];
        out[0] = 0.75f * row[0] + 0.25f * row[1];
        for (int32_t x = 1; x < w - 1; x++) out[x] = 0.25f * (row[x - 1] + row[x + 1]) + 0.5f * row[x];
        out[w - 1] = 0.75f * row[w - 1] + 0.25f * row[w - 2];
    }
    free(row);
    return status;
}

static tsr_status halve(const tsr_grey *from, tsr_grey *to)
{
    const int32_t w = from->width / 2, h = from->height / 2;
    TSR_TRY(grey_take(w, h, to));
    for (int32_t y = 0; y < h; y++) {
        const float *p = from->at + (int64_t)2 * y * from->width, *q = p + from->width;
        for (int32_t x = 0; x < w; x++) to->at[(int64_t)y * w + x] = 0.25f * (p[2 * x] + p[2 * x + 1] + q[2 * x] + q[2 * x + 1]);
    }
    return TSR_OK;
}

/* Least of (x - i)^2 + f(i) over a row, f 0 or larger: the lower envelope of parabolas [Felzenszwalb12]. */
static void envelope(const float *f, int32_t n, int32_t *at, float *edge, float *out)
{
    int32_t k = 0;
    at[0] = 0;
    edge[0] = -1e30f;
    edge[1] = 1e30f;
    for (int32_t q = 1; q < n; q++) {
        float s;
        do {
            const int32_t p = at[k];
            s = ((f[q] + (float)q * (float)q) - (f[p] + (float)p * (float)p)) / (float)(2 * (q - p));
        } while (s <= edge[k] && k-- > 0);
        at[++k] = q;
        edge[k] = s;
        edge[k + 1] = 1e30f;
    }
    for (int32_t q = 0, j = 0; q < n; q++) {
        while (edge[j + 1] < (float)q) j++;
        out[q] = (float)(q - at[j]) * (float)(q - at[j]) + f[at[j]];
    }
}

/* mask: bit d where an edge counts for direction d. */
static tsr_status distances(const uint8_t *mask, tsr_align_level *l)
{
    const int32_t w = l->width, h = l->height, longest = w > h ? w : h;
    const float most = (float)TSR_ALIGN_FAR * l->unit, none = 4 * (float)longest * (float)longest;
    float *room = (float *)malloc(((size_t)w * (size_t)h + 4 * (size_t)longest + 8) * sizeof *room);
    if (!room) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d x %d pixels", w, h);
    float *edge = room + (int64_t)w * h, *line = edge + longest + 2, *out = line + longest;
    int32_t *at = (int32_t *)malloc(((size_t)longest + 2) * sizeof *at);
    if (!at) {
        free(room);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d pixels", longest);
    }
    for (int32_t d = 0; d < TSR_ALIGN_DIRECTIONS; d++) {
        uint8_t *to = l->distance + (int64_t)d * w * h;
        /* along columns by counting, along rows by parabolas */
        for (int32_t x = 0; x < w; x++) room[x] = mask[x] >> d & 1 ? 0 : (float)longest;
        for (int32_t y = 1; y < h; y++)
            for (int32_t x = 0; x < w; x++) {
                const int64_t i = (int64_t)y * w + x;
                room[i] = mask[i] >> d & 1 ? 0 : room[i - w] + 1;
            }
        for (int32_t y = h - 2; y >= 0; y--)
            for (int32_t x = 0; x < w; x++) {
                const int64_t i = (int64_t)y * w + x;
                if (room[i + w] + 1 < room[i]) room[i] = room[i + w] + 1;
            }
        for (int32_t y = 0; y < h; y++) {
            const float *r = room + (int64_t)y * w;
            for (int32_t x = 0; x < w; x++) line[x] = r[x] >= (float)longest ? none : r[x] * r[x];
            envelope(line, w, at, edge, out);
            for (int32_t x = 0; x < w; x++) {
                const float v = sqrtf(out[x]);
                to[(int64_t)y * w + x] = (uint8_t)(v >= most ? TSR_ALIGN_FAR : v / l->unit + 0.5f);
            }
        }
    }
    free(at);
    free(room);
    return TSR_OK;
}

/* Pixels whose slope is the largest across it, by the direction of the edge: one or two bits, added to the mask. */
static tsr_status edges(const tsr_align_level *l, double contrast, uint8_t *mask)
{
    const int32_t w = l->width, h = l->height;
    const float *g = l->smooth.at, least = (float)(contrast * contrast);
    float *slope = (float *)calloc((size_t)w * (size_t)h, sizeof *slope);
    if (!slope) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d x %d pixels", w, h);
    for (int32_t y = 1; y < h - 1; y++)
        for (int32_t x = 1; x < w - 1; x++) {
            const float *p = g + (int64_t)y * w + x, u = 0.5f * (p[1] - p[-1]), v = 0.5f * (p[w] - p[-w]);
            slope[(int64_t)y * w + x] = u * u + v * v;
        }
    for (int32_t y = 2; y < h - 2; y++)
        for (int32_t x = 2; x < w - 2; x++) {
            const int64_t i = (int64_t)y * w + x;
            if (!(slope[i] >= least)) continue;
            const float *p = g + i, u = p[1] - p[-1], v = p[w] - p[-w], a = fabsf(u), b = fabsf(v);
            const int64_t step = b < 0.41421356f * a ? 1 : a < 0.41421356f * b ? w : (u > 0) == (v > 0) ? w + 1 : w - 1;
            if (slope[i - step] > slope[i] || slope[i + step] >= slope[i]) continue;
            /* the edge runs at right angles to (u, v); it counts for directions up to 40 degrees away */
            static const float direction[TSR_ALIGN_DIRECTIONS][2] = { { 1, 0 }, { 0.70710678f, 0.70710678f }, { 0, 1 }, { 0.70710678f, -0.70710678f } };
            const float length = sqrtf(u * u + v * v);
            for (int d = 0; d < TSR_ALIGN_DIRECTIONS; d++)
                if (fabsf(-v * direction[d][0] + u * direction[d][1]) > 0.766f * length) mask[i] |= (uint8_t)(1 << d);
        }
    free(slope);
    return TSR_OK;
}

/* Edges of the finer picture stay edges of the coarser one: thin lines would be gone there. */
static void pass_on(const uint8_t *fine, int32_t width, int32_t height, uint8_t *coarse)
{
    const int32_t w = width / 2, h = height / 2;
    for (int32_t y = 0; y < 2 * h; y++)
        for (int32_t x = 0; x < 2 * w; x++) coarse[(int64_t)(y / 2) * w + x / 2] |= fine[(int64_t)y * width + x];
}

tsr_status tsr_align_levels_make(const tsr_image *image, double contrast, int32_t count, tsr_align_level *level)
{
    tsr_grey own = { 0 };
    tsr_status status = TSR_OK;
    uint8_t *mask = NULL, *before = NULL;
    memset(level, 0, (size_t)count * sizeof *level);
    TSR_TRY(tsr_grey_of(image, &own));
    for (int32_t k = 0; k < count; k++) {
        tsr_align_level *l = &level[k];
        tsr_grey half = { 0 };
        *l = (tsr_align_level){ .width = own.width, .height = own.height, .scale = ldexp(1, k) };
        TSR_TRY_GOTO(smooth(&own, &l->smooth), fail);
        free(before);
        before = mask;
        mask = own.width > 4 && own.height > 4 ? (uint8_t *)calloc((size_t)own.width * (size_t)own.height, 1) : NULL;
        if (!mask) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "out of host memory for %d x %d pixels", own.width, own.height);
        TSR_TRY_GOTO(edges(l, contrast * (1 + 0.5 * k), mask), fail); /* what is as faint on a small picture is shading */
        if (k) {
            pass_on(before, level[k - 1].width, level[k - 1].height, mask);
            void *room;
            /* a tenth of the width on the smallest picture, 8 pixels on the largest that has distances */
            const double reach = k == count - 1 ? fmax(6, 0.1 * own.width) : fmax(6, fmin(0.1 * own.width, 8.0 * (k + 1)));
            l->unit = (float)(reach / TSR_ALIGN_FAR);
            TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)own.width * (size_t)own.height * TSR_ALIGN_DIRECTIONS, &room), fail);
            l->distance = (uint8_t *)room;
            TSR_TRY_GOTO(distances(mask, l), fail);
        }
        if (k + 1 < count) TSR_TRY_GOTO(halve(&own, &half), fail);
        grey_drop(&own);
        own = half;
    }
    grey_drop(&own);
    free(mask);
    free(before);
    return TSR_OK;
fail:
    grey_drop(&own);
    free(mask);
    free(before);
    tsr_align_levels_release(count, level);
    return status;
}

void tsr_align_levels_release(int32_t count, tsr_align_level *level)
{
    for (int32_t k = 0; k < count; k++) {
        tsr_align_level *l = &level[k];
        grey_drop(&l->smooth);
        if (l->distance) tsr_host_release(NULL, l->distance, (size_t)l->width * (size_t)l->height * TSR_ALIGN_DIRECTIONS);
        l->distance = NULL;
    }
}
