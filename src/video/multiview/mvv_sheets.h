/* video/multiview/mvv_sheets.h: textures of any shape side by side on a device, and what happens to one sample of one of them.
 * docs/theory/multiview.md 4.
 *
 * A sheet is width x height samples of 4 bytes: floats of lossy filters, integers of lossless ones. Where a sample lies at a level depends on its
 * place alone: the texel that it began with is its place in the unsorted approximation times 2^level, and tells whether it is relevant. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_SHEETS_H
#define TSR_VIDEO_MULTIVIEW_MVV_SHEETS_H

#include "video/multiview/mvv_adaptive.h"
#include "video/multiview/mvv_haar.h"

typedef struct tsr_mvv_sheet {
    const uint64_t *mask; /* rows of whole words; NULL: every texel is relevant */
    int64_t first, count; /* its coefficients among those of all sheets */
} tsr_mvv_sheet;

/* A level of an axis (0 u, 1 v) of the wavelet, on the approximation of `extent`. */
typedef struct tsr_mvv_stage {
    int32_t width, height; /* of sheets */
    int32_t axis, level, extent[2], lossless, undo;
    float even, odd; /* what samples are multiplied by */
} tsr_mvv_stage;

TSR_HD int tsr_mvv_relevant(const tsr_mvv_sheet *sheet, int32_t width, int64_t u, int64_t v)
{
    return !sheet->mask || (int)(sheet->mask[v * (((int64_t)width + 63) / 64) + (u >> 6)] >> (u & 63) & 1);
}

/* Is the sample at u, v of a stage relevant? Along u all lie in their order; along v those of a row are still (or already) sorted. */
TSR_HD int tsr_mvv_stage_inside(const tsr_mvv_stage *s, const tsr_mvv_sheet *sheet, int32_t u, int32_t v)
{
    if (u < 0 || v < 0 || u >= s->extent[0] || v >= s->extent[1]) return 0;
    const int64_t plain = s->axis ? tsr_mvv_unsorted(s->extent[0], u) : u;
    return tsr_mvv_relevant(sheet, s->width, plain << s->level, (int64_t)v << s->level);
}

TSR_HD float tsr_mvv_as_float(int32_t v) { return tsr_bits_float((uint32_t)v); }

/* One sample from its sorted place to its own (undo), or the other way. */
TSR_HD void tsr_mvv_stage_sort(const tsr_mvv_stage *s, const int32_t *from, int32_t *to, int32_t u, int32_t v)
{
    const int32_t k = s->axis ? v : u, n = s->extent[s->axis];
    const int64_t sorted = tsr_mvv_sorted(n, k), plain = (int64_t)v * s->width + u;
    const int64_t there = s->axis ? sorted * s->width + u : (int64_t)v * s->width + sorted;
    const int32_t x = from[s->undo ? there : plain];
    int32_t *place = to + (s->undo ? plain : there);
    *place = s->lossless || n < 2 ? x : (int32_t)tsr_float_bits(tsr_mvv_as_float(x) * (k & 1 ? s->odd : s->even));
}

/* One lifting step of one sample. */
TSR_HD void tsr_mvv_stage_lift(const tsr_mvv_stage *s, const tsr_mvv_step *step, const tsr_mvv_sheet *sheet, int32_t *sample, int32_t u, int32_t v)
{
    const int32_t du = !s->axis, dv = s->axis;
    const int in_a = tsr_mvv_stage_inside(s, sheet, u - du, v - dv), in_b = tsr_mvv_stage_inside(s, sheet, u + du, v + dv);
    const int64_t by = s->axis ? s->width : 1;
    int32_t *x = sample + (int64_t)v * s->width + u;
    const int in = tsr_mvv_stage_inside(s, sheet, u, v);
    const int32_t a = in_a ? x[-by] : 0, b = in_b ? x[by] : 0;
    if (s->lossless) *x = tsr_mvv_lift_i(step, s->undo, *x, in, a, b, in_a, in_b);
    else *x = (int32_t)tsr_float_bits(tsr_mvv_lift_f(step, tsr_mvv_as_float(*x), in, tsr_mvv_as_float(a), tsr_mvv_as_float(b), in_a, in_b));
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
TSR_HD int32_t tsr_mvv_difference_of(const tsr_mvv_minuend *m, int64_t sheet, int64_t texels, int64_t at)
{
    const int64_t texture = sheet / 3, p = sheet % 3;
    if (!m->plane[0]) return m->average[sheet * texels + at] - m->base[p * texels + at] - m->grey;
    return ((int32_t)m->plane[p][texture * texels + at] << m->fraction) - m->average[(texture / m->cameras * 3 + p) * texels + at];
}

#endif
