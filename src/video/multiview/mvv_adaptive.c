/* video/multiview/mvv_adaptive.c: levels of rows, then columns. Filters are those of the wavelet room. */
#include "video/multiview/mvv_adaptive.h"

#include <math.h>
#include <stdlib.h>

#include "tessera/wavelet.h"
#include "video/multiview/mvv_lift_isa.h"

tsr_status tsr_mvv_adaptive_make(int32_t width, int32_t height, tsr_multiview_filter filter, int32_t levels, int lossless, tsr_mvv_adaptive *a)
{
    static const tsr_wavelet_filter names[] = { TSR_WAVELET_DAUB97, TSR_WAVELET_JPEG53, TSR_WAVELET_HAAR };
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    double scale = 1;
    memset(a, 0, sizeof *a);
    a->width = width;
    a->height = height;
    a->levels = levels;
    a->lossless = lossless;
    a->steps = tsr_wavelet_filter_steps(names[filter], steps, &scale);
    TSR_ASSERT(a->steps <= 4);
    a->scale = (float)scale;
    for (int32_t k = 0; k < a->steps; k++) {
        const tsr_wavelet_step *s = steps + k;
        const double tap = s->real[0] != 0 ? s->real[0] : ldexp(s->tap[0], -s->shift);
        a->step[k] = (tsr_mvv_step){ .parity = s->parity,
                                     .side = s->count == 2 ? 0 : s->first,
                                     .sign = s->sign,
                                     .tap = s->tap[0],
                                     .rounding = s->rounding,
                                     .shift = s->shift,
                                     .factor = (float)(s->sign * tap) };
    }
    const size_t texels = (size_t)width * (size_t)height, line = (size_t)(width > height ? width : height) + 64;
    a->line = (float *)malloc((texels + 6 * line) * sizeof(float));
    a->inside = (uint8_t *)malloc(texels + 6 * line);
    if (!a->line || !a->inside) {
        tsr_mvv_adaptive_free(a);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a texture of %d x %d", width, height);
    }
    return TSR_OK;
}

void tsr_mvv_adaptive_free(tsr_mvv_adaptive *a)
{
    free(a->line);
    free(a->inside);
    a->line = NULL;
    a->inside = NULL;
}

/* Even and odd samples of a row apart, each with a place before and behind that is empty. Elements are four bytes, whatever they are. */
typedef struct halves {
    uint32_t *even, *odd;
    uint8_t *in_even, *in_odd;
    int64_t evens, odds;
} halves;

static halves make_halves(const tsr_mvv_adaptive *a, int64_t n)
{
    const int64_t line = (a->width > a->height ? a->width : a->height) + 64;
    uint32_t *values = (uint32_t *)(void *)a->line + (int64_t)a->width * a->height;
    uint8_t *masks = a->inside + (int64_t)a->width * a->height;
    return (halves){ values + 16, values + line + 16, masks + 16, masks + line + 16, (n + 1) / 2, n / 2 };
}

static void one_step(const tsr_mvv_adaptive *a, const tsr_mvv_step *s, int undo, void *x, const uint8_t *in, const void *before,
                     const uint8_t *in_before, const void *behind, const uint8_t *in_behind, int64_t n)
{
    if (a->lossless) {
        TSR_ISA_SELECT(tsr_mvv_lift_row_i)(s, undo, (int32_t *)x, in, (const int32_t *)before, in_before, (const int32_t *)behind, in_behind, n);
        return;
    }
    tsr_mvv_step own = *s;
    if (undo) own.factor = -own.factor;
    TSR_ISA_SELECT(tsr_mvv_lift_row_f)(&own, (float *)x, in, (const float *)before, in_before, (const float *)behind, in_behind, n);
}

static void row_step(const tsr_mvv_adaptive *a, const tsr_mvv_step *s, int undo, const halves *h)
{
    if (s->parity) one_step(a, s, undo, h->odd, h->in_odd, h->even, h->in_even, h->even + 1, h->in_even + 1, h->odds);
    else one_step(a, s, undo, h->even, h->in_even, h->odd - 1, h->in_odd - 1, h->odd, h->in_odd, h->evens);
}

static void scale_halves(const tsr_mvv_adaptive *a, int undo, const halves *h)
{
    if (a->lossless) return;
    TSR_ISA_SELECT(tsr_mvv_scale_row)((float *)(void *)h->even, undo ? 1.0f / a->scale : a->scale, h->evens);
    TSR_ISA_SELECT(tsr_mvv_scale_row)((float *)(void *)h->odd, undo ? a->scale : 1.0f / a->scale, h->odds);
}

static void close_halves(const halves *h)
{
    h->even[-1] = h->odd[-1] = h->even[h->evens] = h->odd[h->odds] = 0;
    h->in_even[-1] = h->in_odd[-1] = h->in_even[h->evens] = h->in_odd[h->odds] = 0;
}

static void forward_row(const tsr_mvv_adaptive *a, uint32_t *row, uint8_t *mask, int64_t n)
{
    const halves h = make_halves(a, n);
    if (n < 2) return;
    for (int64_t k = 0; k < n; k++) {
        (k & 1 ? h.odd : h.even)[k / 2] = row[k];
        (k & 1 ? h.in_odd : h.in_even)[k / 2] = mask[k];
    }
    close_halves(&h);
    for (int32_t k = 0; k < a->steps; k++) row_step(a, a->step + k, 0, &h);
    scale_halves(a, 0, &h);
    memcpy(row, h.even, (size_t)h.evens * 4);
    memcpy(row + h.evens, h.odd, (size_t)h.odds * 4);
    memcpy(mask, h.in_even, (size_t)h.evens);
    memcpy(mask + h.evens, h.in_odd, (size_t)h.odds);
}

static void inverse_row(const tsr_mvv_adaptive *a, uint32_t *row, uint8_t *mask, int64_t n)
{
    const halves h = make_halves(a, n);
    if (n < 2) return;
    memcpy(h.even, row, (size_t)h.evens * 4);
    memcpy(h.odd, row + h.evens, (size_t)h.odds * 4);
    memcpy(h.in_even, mask, (size_t)h.evens);
    memcpy(h.in_odd, mask + h.evens, (size_t)h.odds);
    close_halves(&h);
    scale_halves(a, 1, &h);
    for (int32_t k = a->steps - 1; k >= 0; k--) row_step(a, a->step + k, 1, &h);
    for (int64_t k = 0; k < n; k++) {
        row[k] = (k & 1 ? h.odd : h.even)[k / 2];
        mask[k] = (k & 1 ? h.in_odd : h.in_even)[k / 2];
    }
}

/* Columns of a region all at once: rows are the samples. */
static void column_steps(const tsr_mvv_adaptive *a, uint32_t *values, const uint8_t *mask, int64_t w, int64_t h, int undo)
{
    const int64_t line = (a->width > a->height ? a->width : a->height) + 64;
    uint32_t *none = (uint32_t *)(void *)a->line + (int64_t)a->width * a->height + 4 * line;
    uint8_t *in_none = a->inside + (int64_t)a->width * a->height + 4 * line;
    memset(none, 0, (size_t)w * 4);
    memset(in_none, 0, (size_t)w);
    for (int32_t j = 0; j < a->steps; j++) {
        const tsr_mvv_step *s = a->step + (undo ? a->steps - 1 - j : j);
        for (int64_t v = s->parity; v < h; v += 2) {
            const int64_t at = v * a->width;
            const int before = v > 0, behind = v + 1 < h;
            one_step(a, s, undo, values + at, mask + at, before ? values + at - a->width : none, before ? mask + at - a->width : in_none,
                     behind ? values + at + a->width : none, behind ? mask + at + a->width : in_none, w);
        }
    }
}

static void scale_rows(const tsr_mvv_adaptive *a, uint32_t *values, int64_t w, int64_t h, int undo)
{
    if (a->lossless) return;
    for (int64_t v = 0; v < h; v++)
        TSR_ISA_SELECT(tsr_mvv_scale_row)((float *)(void *)(values + v * a->width), ((v & 1) != 0) != (undo != 0) ? 1.0f / a->scale : a->scale, w);
}

/* Rows of even numbers before those of odd ones, or back. `size` bytes an element. */
static void sort_rows(const tsr_mvv_adaptive *a, void *values, size_t size, void *scratch, int64_t w, int64_t h, int back)
{
    const size_t row = (size_t)a->width * size, used = (size_t)w * size;
    uint8_t *v = (uint8_t *)values, *t = (uint8_t *)scratch;
    for (int64_t k = 0; k < h; k++) memcpy(t + (size_t)k * used, v + (size_t)k * row, used);
    for (int64_t k = 0; k < h; k++) {
        const int64_t sorted = tsr_mvv_sorted(h, k);
        memcpy(v + (size_t)(back ? k : sorted) * row, t + (size_t)(back ? sorted : k) * used, used);
    }
}

void tsr_mvv_adaptive_forward(const tsr_mvv_adaptive *a, void *values, uint8_t *mask)
{
    uint32_t *v = (uint32_t *)values;
    for (int32_t level = 0; level < a->levels; level++) {
        const int64_t w = tsr_mvv_adaptive_extent(a->width, level), h = tsr_mvv_adaptive_extent(a->height, level);
        for (int64_t y = 0; y < h; y++) forward_row(a, v + y * a->width, mask + y * a->width, w);
        if (h < 2) continue;
        column_steps(a, v, mask, w, h, 0);
        scale_rows(a, v, w, h, 0);
        sort_rows(a, v, 4, a->line, w, h, 0);
        sort_rows(a, mask, 1, a->inside, w, h, 0);
    }
}

void tsr_mvv_adaptive_inverse(const tsr_mvv_adaptive *a, void *values, uint8_t *mask)
{
    uint32_t *v = (uint32_t *)values;
    for (int32_t level = a->levels - 1; level >= 0; level--) {
        const int64_t w = tsr_mvv_adaptive_extent(a->width, level), h = tsr_mvv_adaptive_extent(a->height, level);
        if (h >= 2) {
            sort_rows(a, v, 4, a->line, w, h, 1);
            sort_rows(a, mask, 1, a->inside, w, h, 1);
            scale_rows(a, v, w, h, 1);
            column_steps(a, v, mask, w, h, 1);
        }
        for (int64_t y = 0; y < h; y++) inverse_row(a, v + y * a->width, mask + y * a->width, w);
    }
}

void tsr_mvv_adaptive_sort_mask(const tsr_mvv_adaptive *a, uint8_t *mask)
{
    for (int32_t level = 0; level < a->levels; level++) {
        const int64_t w = tsr_mvv_adaptive_extent(a->width, level), h = tsr_mvv_adaptive_extent(a->height, level);
        for (int64_t y = 0; y < h; y++) {
            uint8_t *row = mask + y * a->width;
            memcpy(a->inside, row, (size_t)w);
            for (int64_t k = 0; k < w; k++) row[tsr_mvv_sorted(w, k)] = a->inside[k];
        }
        sort_rows(a, mask, 1, a->inside, w, h, 0);
    }
}
