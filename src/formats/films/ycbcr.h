/* formats/films/ycbcr.h: the formulas between R'G'B' and Y'CbCr, one pixel, and where chroma samples lie. See tessera/video.h. */
#ifndef TSR_FORMATS_YCBCR_H
#define TSR_FORMATS_YCBCR_H

#include "core/hd.h"
#include "tessera/video.h"

/* Constants of a format, worked out once per frame. Value = offset + scale * signal. */
typedef struct tsr_ycbcr {
    float kr, kg, kb;                                           /* Y' = kr R' + kg G' + kb B' */
    float to_cb, to_cr;                                         /* 1 / (2 - 2 kb), 1 / (2 - 2 kr) */
    float cb_blue, cr_red;                                      /* 2 - 2 kb, 2 - 2 kr */
    float cb_green, cr_green;                                   /* G' = Y' - cb_green Cb - cr_green Cr */
    float luma_offset, luma_scale, chroma_offset, chroma_scale; /* signals of 0 to 1 and -1/2 to 1/2 */
    float largest;                                              /* sample */
} tsr_ycbcr;

TSR_HD tsr_ycbcr tsr_ycbcr_of(const tsr_video_format *f)
{
    tsr_ycbcr c;
    const int bt709 = f->matrix == TSR_MATRIX_BT709, full = f->range == TSR_RANGE_FULL;
    const float step = (float)(1 << (f->bits - 8));
    c.kr = bt709 ? 0.2126f : 0.299f;
    c.kb = bt709 ? 0.0722f : 0.114f;
    c.kg = 1.0f - c.kr - c.kb;
    c.cb_blue = 2.0f - 2.0f * c.kb;
    c.cr_red = 2.0f - 2.0f * c.kr;
    c.to_cb = 1.0f / c.cb_blue;
    c.to_cr = 1.0f / c.cr_red;
    c.cb_green = c.kb * c.cb_blue / c.kg;
    c.cr_green = c.kr * c.cr_red / c.kg;
    c.largest = (float)((1 << f->bits) - 1);
    c.luma_offset = full ? 0.0f : 16.0f * step;
    c.luma_scale = full ? c.largest : 219.0f * step;
    c.chroma_offset = 128.0f * step;
    c.chroma_scale = full ? c.largest : 224.0f * step;
    return c;
}

/* To the nearest integer, clamped to 0..largest. */
TSR_HD int32_t tsr_ycbcr_round(float v, float largest) { return (int32_t)(tsr_clampf(v, 0.0f, largest) + 0.5f); }

/* 8-bit R'G'B' to the signals; Cb and Cr are averaged before they become samples. */
TSR_HD void tsr_ycbcr_signal(const tsr_ycbcr *c, const uint8_t *rgb, float *y, float *cb, float *cr)
{
    const float r = (float)rgb[0] / 255.0f, g = (float)rgb[1] / 255.0f, b = (float)rgb[2] / 255.0f;
    *y = c->kr * r + c->kg * g + c->kb * b;
    *cb = (b - *y) * c->to_cb;
    *cr = (r - *y) * c->to_cr;
}
TSR_HD int32_t tsr_ycbcr_luma(const tsr_ycbcr *c, float y) { return tsr_ycbcr_round(c->luma_offset + c->luma_scale * y, c->largest); }
TSR_HD int32_t tsr_ycbcr_chroma(const tsr_ycbcr *c, float v) { return tsr_ycbcr_round(c->chroma_offset + c->chroma_scale * v, c->largest); }

/* Samples (chroma interpolated, so not integers) to 8-bit R'G'B'. */
TSR_HD void tsr_ycbcr_rgb(const tsr_ycbcr *c, float luma, float blue, float red, uint8_t *rgb)
{
    const float y = (luma - c->luma_offset) / c->luma_scale, cb = (blue - c->chroma_offset) / c->chroma_scale,
                cr = (red - c->chroma_offset) / c->chroma_scale;
    rgb[0] = (uint8_t)tsr_ycbcr_round(255.0f * (y + c->cr_red * cr), 255.0f);
    rgb[1] = (uint8_t)tsr_ycbcr_round(255.0f * (y - c->cb_green * cb - c->cr_green * cr), 255.0f);
    rgb[2] = (uint8_t)tsr_ycbcr_round(255.0f * (y + c->cb_blue * cb), 255.0f);
}
TSR_HD uint8_t tsr_ycbcr_grey(const tsr_ycbcr *c, float luma)
{
    return (uint8_t)tsr_ycbcr_round(255.0f * ((luma - c->luma_offset) / c->luma_scale), 255.0f);
}

/* Chroma along one axis. `group`: pixels per sample (1, 2, 4); `between`: the sample lies between two pixels (group 2), else on the first.
 * Pixel i of n lies between samples *a and *b (of `count`), `*w` eighths of the way. */
TSR_HD void tsr_chroma_between(int32_t i, int32_t group, int between, int32_t count, int32_t *a, int32_t *b, int32_t *w)
{
    const int32_t eighths = between ? 4 * i - 2 : 8 / group * i; /* place in sample units, times 8: (i - 1/2) / 2 or i / group */
    const int32_t lower = eighths < 0 ? -1 : eighths >> 3;
    *w = eighths - 8 * lower;
    *a = tsr_mini(tsr_maxi(lower, 0), count - 1);
    *b = tsr_mini(tsr_maxi(lower + 1, 0), count - 1);
}
/* The other way: sample k is the mean of pixels with weights: two halves between pixels, 1 2 1 on a pixel for group 2, 1 2 3 4 3 2 1 for 4. Returns the
 * number of pixels from *first on (which may lie outside: the nearest is meant), the weights sum to 1. */
TSR_HD int32_t tsr_chroma_weights(int32_t k, int32_t group, int between, int32_t *first, float *weight)
{
    if (group == 1) {
        *first = k;
        weight[0] = 1.0f;
        return 1;
    }
    if (between) {
        *first = 2 * k;
        weight[0] = weight[1] = 0.5f;
        return 2;
    }
    *first = group * k - (group - 1);
    for (int32_t i = 0; i < 2 * group - 1; i++) weight[i] = (float)(i < group ? i + 1 : 2 * group - 1 - i) / (float)(group * group);
    return 2 * group - 1;
}

#endif
