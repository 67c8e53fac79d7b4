/* video/multiview/mvv_diff_tool.c: one texture of any shape to a stream and back. */
#include <stdlib.h>

#include "video/multiview/mvv_diff.h"
#include "video/multiview/mvv_haar.h"

tsr_status tsr_diff_tool_make(const tsr_mvv_head *h, tsr_diff_tool *t)
{
    memset(t, 0, sizeof *t);
    t->width = h->width;
    t->height = h->height;
    t->cameras = h->cameras;
    t->fraction = h->fraction;
    t->lossless = h->lossless;
    t->texels = (int64_t)h->width * h->height;
    const size_t n = (size_t)t->texels;
    if (h->lossless ? h->filter == TSR_MULTIVIEW_FILTER_97 || h->fraction != 0 : h->fraction > 6)
        TSR_FAIL(TSR_ERROR_FORMAT, "its header names a filter or a precision that this codec has not");
    TSR_TRY(tsr_mvv_adaptive_make(h->width, h->height, (tsr_multiview_filter)h->filter, h->levels, h->lossless, &t->wavelet));
    t->mask = (uint8_t *)malloc(3 * n);
    t->count = (uint16_t *)malloc(n * 2);
    t->work = (int32_t *)malloc((h->lossless ? 8 : 6) * n * 4);
    if (!t->mask || !t->count || !t->work) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for textures of %d x %d", h->width, h->height);
    t->sorted = t->mask + n;
    t->scratch = t->mask + 2 * n;
    t->coefficient = t->work + n;
    for (int p = 0; p < 3; p++) t->average[p] = t->work + (2 + (size_t)p) * n;
    t->sample = t->work + 5 * n;
    for (int k = 0; h->lossless && k < 2; k++) t->trial[k] = t->work + (6 + (size_t)k) * n;
    return TSR_OK;
}

void tsr_diff_tool_free(tsr_diff_tool *t)
{
    tsr_mvv_adaptive_free(&t->wavelet);
    tsr_bisk_tree_free(&t->tree);
    tsr_bisk_coder_free(&t->coder);
    free(t->mask);
    free(t->count);
    free(t->work);
}

void tsr_diff_mask(tsr_diff_tool *t, const uint64_t *bits)
{
    const int64_t words = tsr_mvv_words(t->width);
    if (!bits) memset(t->mask, 1, (size_t)t->texels);
    for (int64_t v = 0; v < t->height && bits; v++) tsr_mvv_mask_bytes(bits + v * words, t->width, t->mask + v * t->width);
}

void tsr_diff_mask_any(tsr_diff_tool *t, const uint64_t *bits, int64_t stride)
{
    memset(t->count, 0, (size_t)t->texels * 2);
    for (int32_t c = 0; c < t->cameras; c++) {
        tsr_diff_mask(t, bits ? bits + c * stride : NULL);
        for (int64_t k = 0; k < t->texels; k++) t->count[k] = (uint16_t)(t->count[k] + t->mask[k]);
    }
    for (int64_t k = 0; k < t->texels; k++) t->mask[k] = t->count[k] > 0;
}

tsr_status tsr_diff_ready(tsr_diff_tool *t)
{
    memcpy(t->sorted, t->mask, (size_t)t->texels);
    tsr_mvv_adaptive_sort_mask(&t->wavelet, t->sorted);
    return tsr_bisk_tree_make(&t->tree, t->width, t->height, t->wavelet.levels, t->sorted, t->lossless);
}

/* Samples of coefficients that lie in them; lossless. */
static void restore(tsr_diff_tool *t, int32_t *coefficient)
{
    memcpy(t->scratch, t->sorted, (size_t)t->texels);
    tsr_mvv_adaptive_inverse(&t->wavelet, coefficient, t->scratch);
}

/* Error of a texture of which some planes are missing. */
static double error_without(tsr_diff_tool *t, const int32_t *coefficient, int32_t missing, int32_t *planes)
{
    double error = 0;
    memset(t->trial[1], 0, (size_t)t->texels * 4);
    *planes = tsr_bisk_coarse(&t->tree, coefficient, missing, t->trial[1]);
    restore(t, t->trial[1]);
    for (int64_t k = 0; k < t->texels; k++) {
        const double d = (double)t->trial[0][k] - t->trial[1][k];
        error += d * d;
    }
    return error;
}

/* Integers of small differences hold the roundings of the transform: the first planes alone can be worse than no difference at all. How many must be
 * there, so that from then on each one makes the texture better. */
static int32_t needed_planes(tsr_diff_tool *t, const int32_t *coefficient)
{
    int32_t planes;
    memcpy(t->trial[0], coefficient, (size_t)t->texels * 4);
    restore(t, t->trial[0]);
    const double nothing = error_without(t, coefficient, TSR_BISK_MOST_PLANES + 1, &planes);
    double before = 0;
    for (int32_t have = planes - 1; have > 0; have--) {
        const double error = error_without(t, coefficient, planes - have, &planes);
        if (error < before || error >= nothing) return have + 1;
        before = error;
    }
    return planes > 0;
}

tsr_status tsr_diff_code(tsr_diff_tool *t, const int32_t *coefficient, int64_t budget, uint8_t **bytes, int64_t *size)
{
    const int32_t needed = t->lossless ? needed_planes(t, coefficient) : 0;
    return tsr_bisk_encode(&t->coder, &t->tree, coefficient, budget, needed, bytes, size);
}

tsr_status tsr_diff_encode(tsr_diff_tool *t, const int32_t *sample, int64_t budget, uint8_t **bytes, int64_t *size)
{
    float *real = (float *)(void *)t->work;
    memcpy(t->scratch, t->mask, (size_t)t->texels);
    for (int64_t k = 0; k < t->texels; k++) {
        const int32_t v = t->mask[k] ? sample[k] : 0;
        if (t->lossless) t->coefficient[k] = v;
        else real[k] = (float)v;
    }
    tsr_mvv_adaptive_forward(&t->wavelet, t->lossless ? (void *)t->coefficient : (void *)real, t->scratch);
    for (int64_t k = 0; !t->lossless && k < t->texels; k++) t->coefficient[k] = tsr_mvv_round(real[k]);
    return tsr_diff_code(t, t->coefficient, budget, bytes, size);
}

tsr_status tsr_diff_decode(tsr_diff_tool *t, const uint8_t *bytes, int64_t size, int32_t *sample)
{
    float *real = (float *)(void *)t->work;
    TSR_TRY(tsr_bisk_decode(&t->coder, &t->tree, bytes, size, t->lossless ? sample : t->coefficient));
    if (t->lossless) {
        restore(t, sample);
        return TSR_OK;
    }
    memcpy(t->scratch, t->sorted, (size_t)t->texels);
    for (int64_t k = 0; k < t->texels; k++) real[k] = (float)t->coefficient[k];
    tsr_mvv_adaptive_inverse(&t->wavelet, real, t->scratch);
    for (int64_t k = 0; k < t->texels; k++) sample[k] = tsr_mvv_round(tsr_clampf(real[k], -1e6f, 1e6f));
    return TSR_OK;
}
