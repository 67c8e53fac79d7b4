/* video/multiview/mvv_sheets.h: textures of any shape side by side on a device, and what happens to one sample of one of them.
 * docs/theory/multiview.md 4.
 *
 * A sheet is width x height samples of 4 bytes: floats of lossy filters, integers of lossless ones. Where a sample lies at a level depends on its
 * place alone: the texel that it began with is its place in the approximation times 2^level, and tells whether it is relevant. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_SHEETS_H
#define TSR_VIDEO_MULTIVIEW_MVV_SHEETS_H

#include "video/multiview/mvv_adaptive.h"
#include "video/multiview/mvv_haar.h"

typedef struct tsr_mvv_sheet {
    const uint64_t *mask; /* rows of whole words; NULL: every texel is relevant */
    int64_t first, count; /* its coefficients among those of all sheets */
} tsr_mvv_sheet;

/* A level of the wavelet, or its undoing: of the approximation of `extent`, along axes 0 (u) and 1 (v). */
typedef struct tsr_mvv_stage {
    int32_t width, height; /* of sheets */
    int32_t level, extent[2], lossless, undo, steps;
    tsr_mvv_step step[4]; /* in the order in which they are taken */
    float even, odd;      /* what samples are multiplied by */
} tsr_mvv_stage;

TSR_HD int tsr_mvv_relevant(const tsr_mvv_sheet *sheet, int32_t width, int64_t u, int64_t v)
{
    return !sheet->mask || (int)(sheet->mask[v * (((int64_t)width + 63) / 64) + (u >> 6)] >> (u & 63) & 1);
}

/* Is the sample at u, v of a level relevant? Others than those of its extent are not. */
TSR_HD int tsr_mvv_stage_inside(const tsr_mvv_stage *l, const tsr_mvv_sheet *sheet, int32_t u, int32_t v)
{
    if (u < 0 || v < 0 || u >= l->extent[0] || v >= l->extent[1]) return 0;
    return tsr_mvv_relevant(sheet, l->width, (int64_t)u << l->level, (int64_t)v << l->level);
}
/* Where the coefficient of u, v lies in its sheet. */
TSR_HD int64_t tsr_mvv_stage_place(const tsr_mvv_stage *l, int32_t u, int32_t v)
{
    return tsr_mvv_sorted(l->extent[1], v) * l->width + tsr_mvv_sorted(l->extent[0], u);
}

TSR_HD float tsr_mvv_as_float(int32_t v) { return tsr_bits_float((uint32_t)v); }

/* Sample k of an axis between its steps and its place among the coefficients. */
TSR_HD int32_t tsr_mvv_stage_scale(const tsr_mvv_stage *l, int32_t axis, int32_t k, int32_t x)
{
    return l->lossless || l->extent[axis] < 2 ? x : (int32_t)tsr_float_bits(tsr_mvv_as_float(x) * (k & 1 ? l->odd : l->even));
}

/* One lifting step of a sample between its neighbours. */
TSR_HD int32_t tsr_mvv_stage_lift(const tsr_mvv_stage *l, const tsr_mvv_step *step, int32_t x, int in, int32_t a, int32_t b, int in_a, int in_b)
{
    if (l->lossless) return tsr_mvv_lift_i(step, l->undo, x, in, a, b, in_a, in_b);
    return (int32_t)tsr_float_bits(tsr_mvv_lift_f(step, tsr_mvv_as_float(x), in, tsr_mvv_as_float(a), tsr_mvv_as_float(b), in_a, in_b));
}

/* Sheets are there twice, and levels go from one to the other: a level has its samples in sheet `level % 2` and its coefficients in the other one, where the
 * approximation among them is what the next level begins with. So the details of a level stay where they are. Which one has the coefficient at u, v? */
TSR_HD int32_t tsr_mvv_work_of(const tsr_mvv_adaptive *a, int32_t u, int32_t v)
{
    int32_t level = 0;
    while (level + 1 < a->levels && u < tsr_mvv_adaptive_extent(a->width, level + 1) && v < tsr_mvv_adaptive_extent(a->height, level + 1)) level++;
    return a->levels > 0 && level % 2 == 0;
}

/* What a float became, as an integer sample. */
TSR_HD int32_t tsr_mvv_whole_sample(int32_t x, int32_t lossless)
{
    return lossless ? x : tsr_mvv_round(tsr_clampf(tsr_mvv_as_float(x), -1e6f, 1e6f));
}

/* Mean of n texels times 2^fraction; of samples of some steps, less grey. Without any 0. */
TSR_HD int32_t tsr_mvv_mean_texel(int32_t sum, int32_t n, int32_t fraction) { return n ? ((sum << (fraction + 1)) + n) / (2 * n) : 0; }
TSR_HD int32_t tsr_mvv_mean_sample(int64_t sum, int64_t steps, int32_t grey) { return steps ? (int32_t)((2 * sum + steps) / (2 * steps)) - grey : 0; }

/* What sheets are made of: of textures (plane) those of [step][camera][component] less the averages of [step][component]; without them averages, less
 * `base` (of each component) and grey. */
typedef struct tsr_mvv_minuend {
    const uint8_t *plane[3];
    const int32_t *average, *base;
    int32_t cameras, fraction, grey;
} tsr_mvv_minuend;
TSR_HD int32_t tsr_mvv_difference_of(const tsr_mvv_minuend *m, uint32_t sheet, int64_t texels, int64_t at)
{
    const uint32_t texture = sheet / 3, p = sheet % 3;
    if (!m->plane[0]) return m->average[sheet * texels + at] - m->base[p * texels + at] - m->grey;
    const uint8_t *const plane = p == 0 ? m->plane[0] : p == 1 ? m->plane[1] : m->plane[2];
    return ((int32_t)plane[texture * texels + at] << m->fraction) - m->average[(texture / (uint32_t)m->cameras * 3 + p) * texels + at];
}

#endif
