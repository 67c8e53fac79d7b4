/* video/dirac/predict.h: overlapped block motion compensation of one sample, and half-sample interpolation of references.
 *
 * Samples lie around 0. The half-sample grid of a W x H plane is 2W - 1 samples wide, 2H - 1 high; it lies in four planes of W x H, those of even
 * and odd places apart, so that samples a whole one apart are neighbours: the plane itself, half a sample on along x, along y, along both. Source:
 * Dirac Specification 2.2.3, section 15; van der Laan 2011, section 4.4 (equation 4.3; its sub-sample filter is not the standard's). */
#ifndef TSR_VIDEO_DIRAC_PREDICT_H
#define TSR_VIDEO_DIRAC_PREDICT_H

#include "core/hd.h"

enum { TSR_DIRAC_BLOCK_MOST = 64 };

typedef struct tsr_dirac_block {
    int16_t vector[2][2]; /* reference, axis; in units of the precision */
    int16_t dc[3];
    uint8_t mode;   /* bit r: uses reference r; 0: the DC values */
    uint8_t global; /* vectors come from the global motion */
} tsr_dirac_block;

typedef struct tsr_dirac_global {
    int32_t pan[2], zoom[4], perspective[2];
    int32_t zoom_exponent, perspective_exponent;
} tsr_dirac_global;

typedef struct tsr_dirac_prediction {
    int32_t references;               /* 0 to 2 */
    int32_t length[2], separation[2]; /* of luma blocks, x and y */
    int32_t precision;                /* 0 to 3: vectors in 1 / 2^precision samples */
    int32_t has_global, weighted, weight_bits, weight[2];
    tsr_dirac_global global[2];
    int32_t blocks_x, blocks_y;
} tsr_dirac_prediction;

/* One component of a picture and what it is predicted from. */
typedef struct tsr_dirac_predict_job {
    tsr_dirac_prediction p;
    const tsr_dirac_block *blocks;
    const void *reference[2]; /* their grids, of which the first plane alone is looked at where the precision is 0 */
    int32_t bytes;            /* of a reference's sample, 1 or 2; on a device always 2 */
    int32_t *predicted;       /* rows `stride` apart */
    int64_t stride;
    int32_t width, height, component;
    int32_t down[2];                         /* 1: half as many samples as luma along x, y */
    int32_t depth;                           /* bits of the references' samples */
    const struct tsr_dirac_store_job *store; /* what is predicted is stored at once, on a device in place of `predicted`; NULL: not */
} tsr_dirac_predict_job;

/* Of a grid the first plane is there; the others are made. */
typedef struct tsr_dirac_half_job {
    void *grid;                              /* 4 planes of width x height, tight */
    int32_t bytes, width, height, low, high; /* of a sample; range of samples */
} tsr_dirac_half_job;

TSR_HD int32_t tsr_dirac_clamp(int32_t v, int32_t low, int32_t high) { return v < low ? low : v > high ? high : v; }

/* Sample `at` of a reference. */
TSR_HD int32_t tsr_dirac_sample(const void *reference, int32_t bytes, int64_t at)
{
#if !defined(__CUDA_ARCH__)
    if (bytes == 1) return ((const int8_t *)reference)[at];
#else
    (void)bytes;
#endif
    return ((const int16_t *)reference)[at];
}
TSR_HD void tsr_dirac_put_sample(void *reference, int32_t bytes, int64_t at, int32_t value)
{
#if !defined(__CUDA_ARCH__)
    if (bytes == 1) {
        ((int8_t *)reference)[at] = (int8_t)value;
        return;
    }
#else
    (void)bytes;
#endif
    ((int16_t *)reference)[at] = (int16_t)value;
}

/* Where place (x, y) of the half-sample grid lies. */
TSR_HD int64_t tsr_dirac_half_place(int32_t width, int32_t height, int64_t x, int64_t y)
{
    return (2 * (y & 1) + (x & 1)) * (int64_t)width * height + (y >> 1) * width + (x >> 1);
}

/* ---- half samples -------------------------------------------------------------------------------------------------------------------------- */

TSR_HD int32_t tsr_dirac_half_taps(const int32_t v[8], int32_t low, int32_t high)
{
    const int32_t sum = -(v[0] + v[7]) + 3 * (v[1] + v[6]) - 7 * (v[2] + v[5]) + 21 * (v[3] + v[4]);
    return tsr_dirac_clamp((sum + 16) >> 5, low, high);
}

/* Rows: grid row y, which is odd, of the plane's columns. */
TSR_HD int32_t tsr_dirac_half_column(const tsr_dirac_half_job *j, int32_t x, int32_t y)
{
    int32_t v[8];
    for (int32_t k = 0; k < 8; k++)
        v[k] = tsr_dirac_sample(j->grid, j->bytes, (int64_t)tsr_dirac_clamp((y >> 1) - 3 + k, 0, j->height - 1) * j->width + x);
    return tsr_dirac_half_taps(v, j->low, j->high);
}

/* Then along the row, whose even places are there. */
TSR_HD int32_t tsr_dirac_half_row(const tsr_dirac_half_job *j, int32_t x, int32_t y)
{
    const int64_t row = tsr_dirac_half_place(j->width, j->height, 0, y);
    int32_t v[8];
    for (int32_t k = 0; k < 8; k++) v[k] = tsr_dirac_sample(j->grid, j->bytes, row + tsr_dirac_clamp((x >> 1) - 3 + k, 0, j->width - 1));
    return tsr_dirac_half_taps(v, j->low, j->high);
}

/* ---- one block's value --------------------------------------------------------------------------------------------------------------------- */

/* The reference at (x << precision) + d. */
TSR_HD int32_t tsr_dirac_fetch(const void *reference, int32_t bytes, int32_t width, int32_t height, int32_t precision, int64_t px, int64_t py)
{
    if (precision == 0) {
        const int64_t x = tsr_minl(tsr_maxl(px, 0), width - 1), y = tsr_minl(tsr_maxl(py, 0), height - 1);
        return tsr_dirac_sample(reference, bytes, y * width + x);
    }
    const int32_t s = precision - 1, n = 1 << s;
    const int64_t right = 2 * (int64_t)width - 2, bottom = 2 * (int64_t)height - 2, hx = px >> s, hy = py >> s;
    const int32_t rx = (int32_t)(px & (n - 1)), ry = (int32_t)(py & (n - 1));
    const int64_t x0 = tsr_minl(tsr_maxl(hx, 0), right), x1 = tsr_minl(tsr_maxl(hx + 1, 0), right);
    const int64_t y0 = tsr_minl(tsr_maxl(hy, 0), bottom), y1 = tsr_minl(tsr_maxl(hy + 1, 0), bottom);
    const int32_t a = tsr_dirac_sample(reference, bytes, tsr_dirac_half_place(width, height, x0, y0));
    if (precision == 1) return a;
    const int32_t b = tsr_dirac_sample(reference, bytes, tsr_dirac_half_place(width, height, x1, y0)),
                  c = tsr_dirac_sample(reference, bytes, tsr_dirac_half_place(width, height, x0, y1)),
                  d = tsr_dirac_sample(reference, bytes, tsr_dirac_half_place(width, height, x1, y1));
    return ((n - ry) * ((n - rx) * a + rx * b) + ry * ((n - rx) * c + rx * d) + n * n / 2) >> (2 * s);
}

/* The vector of global motion at a sample. */
TSR_HD void tsr_dirac_global_vector(const tsr_dirac_global *g, int32_t x, int32_t y, int64_t v[2])
{
    const int64_t most = (int64_t)1 << 24, far = (int64_t)1 << 38; /* no stream that shows something comes near them */
    const int64_t m = ((int64_t)1 << g->perspective_exponent) - ((int64_t)g->perspective[0] * x + (int64_t)g->perspective[1] * y);
    const int32_t shift = g->zoom_exponent + g->perspective_exponent;
    for (int32_t k = 0; k < 2; k++) {
        const int64_t affine = (int64_t)g->zoom[2 * k] * x + (int64_t)g->zoom[2 * k + 1] * y + (int64_t)g->pan[k] * ((int64_t)1 << g->zoom_exponent);
        v[k] = (tsr_minl(tsr_maxl(m, -most), most) * tsr_minl(tsr_maxl(affine, -far), far)) >> shift;
    }
}

/* A block's value from those of its references. */
TSR_HD int32_t tsr_dirac_weigh(const tsr_dirac_predict_job *j, int32_t mode, const int32_t value[2])
{
    if (!j->p.weighted) return mode == 3 ? (value[0] + value[1] + 1) >> 1 : mode == 1 ? value[0] : value[1];
    const int64_t half = j->p.weight_bits ? (int64_t)1 << (j->p.weight_bits - 1) : 0;
    const int64_t sum = mode == 3 ? (int64_t)j->p.weight[0] * value[0] + (int64_t)j->p.weight[1] * value[1]
                                  : ((int64_t)j->p.weight[0] + j->p.weight[1]) * (mode == 1 ? value[0] : value[1]);
    return (int32_t)tsr_minl(tsr_maxl((sum + half) >> j->p.weight_bits, -(1 << 24)), 1 << 24);
}

TSR_HD int32_t tsr_dirac_block_value(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, int32_t x, int32_t y)
{
    int32_t value[2] = { 0, 0 };
    if (!b->mode) return b->dc[j->component];
#if defined(__CUDA_ARCH__)
#pragma unroll 1 /* rare there: both references at once would take registers from what is not */
#endif
    for (int32_t r = 0; r < 2; r++) {
        int64_t d[2] = { b->vector[r][0], b->vector[r][1] };
        if (!(b->mode >> r & 1)) continue;
        if (b->global) tsr_dirac_global_vector(&j->p.global[r], x, y, d);
        else
            for (int32_t k = 0; k < 2; k++) d[k] >>= j->down[k];
        value[r] = tsr_dirac_fetch(j->reference[r], j->bytes, j->width, j->height, j->p.precision, ((int64_t)x << j->p.precision) + d[0],
                                   ((int64_t)y << j->p.precision) + d[1]);
    }
    return tsr_dirac_weigh(j, b->mode, value);
}

/* ---- overlap ------------------------------------------------------------------------------------------------------------------------------- */

/* The weight (of 8) of place k in a block of the row's `count` blocks: it falls off where the next one begins, but not at the ends of the row. */
TSR_HD int32_t tsr_dirac_weight(int32_t k, int32_t length, int32_t separation, int32_t block, int32_t count)
{
    const int32_t offset = (length - separation) / 2, back = length - 1 - k;
    int32_t r = -1;
    if (offset == 0) return 8;
    if (k < 2 * offset && block > 0) r = k;
    else if (back < 2 * offset && block < count - 1) r = back;
    if (r < 0) return 8;
    if (offset == 1) return r ? 5 : 3;
    return 1 + (6 * r + offset - 1) / (2 * offset - 1);
}

/* The blocks, at most two, that cover place x of a row: first, number, and where x is in the first. */
TSR_HD int32_t tsr_dirac_cover(int32_t x, int32_t length, int32_t separation, int32_t count, int32_t *first)
{
    const int32_t offset = (length - separation) / 2, last = tsr_mini((x + offset) / separation, count - 1);
    const int32_t before = last - 1, reaches = before >= 0 && x < before * separation - offset + length;
    *first = reaches ? before : last;
    return 1 + reaches;
}

TSR_HD int32_t tsr_dirac_predict_sample(const tsr_dirac_predict_job *j, int32_t x, int32_t y)
{
    const int32_t length[2] = { j->p.length[0] >> j->down[0], j->p.length[1] >> j->down[1] };
    const int32_t separation[2] = { j->p.separation[0] >> j->down[0], j->p.separation[1] >> j->down[1] };
    const int32_t ox = (length[0] - separation[0]) / 2, oy = (length[1] - separation[1]) / 2;
    int32_t bx, by;
    int64_t sum = 0;
    const int32_t nx = tsr_dirac_cover(x, length[0], separation[0], j->p.blocks_x, &bx);
    const int32_t ny = tsr_dirac_cover(y, length[1], separation[1], j->p.blocks_y, &by);
    for (int32_t v = by; v < by + ny; v++) {
        const int32_t wy = tsr_dirac_weight(y - (v * separation[1] - oy), length[1], separation[1], v, j->p.blocks_y);
        for (int32_t u = bx; u < bx + nx; u++) {
            const int32_t wx = tsr_dirac_weight(x - (u * separation[0] - ox), length[0], separation[0], u, j->p.blocks_x);
            sum += (int64_t)wx * wy * tsr_dirac_block_value(j, &j->blocks[(int64_t)v * j->p.blocks_x + u], x, y);
        }
    }
    return (int32_t)((sum + 32) >> 6);
}

#endif
