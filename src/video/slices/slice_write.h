/* video/slices/slice_write.h: one component of a slice, by one thread: coefficients to bits in memory. */
#ifndef TSR_VIDEO_SLICES_SLICE_WRITE_H
#define TSR_VIDEO_SLICES_SLICE_WRITE_H

#include "video/dirac/encoder/bits_write.h"
#include "video/slices/slice_read.h"

/* Writes aligned words; bytes of the first one that belong to what lies before are left alone, as are those behind the end. */
typedef struct tsr_slice_writer {
    uint8_t *at;    /* aligned to 4: where the next word goes */
    uint64_t word;  /* `filled` bits, at its low end */
    int32_t filled; /* below 32 */
    int32_t keep;   /* bytes of the word at `at` that are another's */
    int32_t left;   /* bits until the end */
} tsr_slice_writer;

TSR_HD tsr_slice_writer tsr_slice_writer_at(uint8_t *at, int64_t bytes) /* at most TSR_SLICE_BYTES */
{
    tsr_slice_writer w;
    w.keep = (int32_t)((uintptr_t)at & 3);
    w.at = at - w.keep;
    w.word = 0;
    w.filled = 8 * w.keep;
    w.left = (int32_t)(8 * bytes);
    return w;
}

/* The low `count` bits of v, at most 32; what lies behind the end is left out. */
TSR_HD void tsr_slice_put(tsr_slice_writer *w, uint32_t v, int32_t count)
{
    if (w->left < count) {
        v = w->left > 0 ? v >> (count - w->left) : 0;
        count = tsr_maxi(w->left, 0);
    }
    w->left -= count;
    w->word = w->word << count | v;
    w->filled += count;
    if (w->filled < 32) return;
    const uint32_t out = (uint32_t)(w->word >> (w->filled - 32));
    if (w->keep) {
        for (int32_t k = w->keep; k < 4; k++) w->at[k] = (uint8_t)(out >> (24 - 8 * k));
        w->keep = 0;
    } else *(uint32_t *)(void *)w->at = tsr_slice_swap(out);
    w->at += 4;
    w->filled -= 32;
}

/* 1s up to the end: more zeros. */
TSR_HD void tsr_slice_close(tsr_slice_writer *w)
{
    while (w->left > 0) tsr_slice_put(w, 0xffffffffu >> (32 - tsr_mini(w->left, 32)), tsr_mini(w->left, 32));
    for (int32_t k = w->keep; 8 * k < w->filled; k++) w->at[k] = (uint8_t)(w->word >> (w->filled - 8 * (k + 1)));
}

/* The code of a magnitude that is not 0, and its sign: tsr_code_bits + 1 bits. */
TSR_HD uint64_t tsr_slice_signed_code(uint32_t magnitude, int negative)
{
    const int32_t digits = tsr_code_digits(magnitude);
    return tsr_code_spread((uint32_t)(((uint64_t)magnitude + 1) & (((uint64_t)1 << digits) - 1))) << 2 | 2 | (uint64_t)negative;
}
TSR_HD uint64_t tsr_slice_code_of(int32_t value) { return value ? tsr_slice_signed_code(tsr_magnitude(value), value < 0) : 1; }

/* Codes of up to 32 bits, nearly all of them, go one way whatever they are: lanes of a warp keep together. */
TSR_HD void tsr_slice_put_value(tsr_slice_writer *w, uint64_t scale, int32_t value)
{
    const uint32_t magnitude = tsr_quantiser_magnitude(scale, value), negative = value < 0;
    const int32_t digits = tsr_code_digits(magnitude);
    if (digits > 15) {
        const uint64_t code = tsr_slice_signed_code(magnitude, value < 0);
        tsr_slice_put(w, (uint32_t)(code >> 32), 2 * digits - 30);
        tsr_slice_put(w, (uint32_t)code, 32);
        return;
    }
    const uint32_t code = tsr_code_spread_short((magnitude + 1) ^ 1u << digits) << 2 | 2 | negative;
    tsr_slice_put(w, magnitude ? code : 1, magnitude ? 2 * digits + 2 : 1);
}

/* Coefficients of an area, four at once: the next ones are asked for before these are put. */
TSR_HD void tsr_slice_put_fours(tsr_slice_writer *w, uint64_t scale, const int32_t *row, int32_t wide, int32_t rows, int32_t stride)
{
    if (wide <= 0 || rows <= 0) return;
    tsr_slice_four next = *(const tsr_slice_four *)(const void *)row;
    for (int32_t y = 0; y < rows && w->left > 0; y++, row += stride)
        for (int32_t x = 0; x < wide; x += 4) {
            const tsr_slice_four f = next;
            const int32_t *after = x + 4 < wide ? row + x + 4 : y + 1 < rows ? row + stride : row;
            next = *(const tsr_slice_four *)(const void *)after;
            for (int32_t k = 0; k < 4; k++) tsr_slice_put_value(w, scale, f.v[k]);
        }
}

/* A low-delay slice as planned: quantiser, bits of luma, luma, both chroma components in turns. */
TSR_HD void tsr_slice_write_low_delay(const tsr_slices_encode_job *j, const uint64_t *scale, int32_t p, int32_t n)
{
    const tsr_slice_shape *s = &j->shape;
    const int64_t count = (int64_t)s->slices_x * s->slices_y;
    const tsr_dirac_slice_plan *plan = &j->plan[p * count + n];
    const int64_t bytes = tsr_slice_fixed_place(j, n + 1) - plan->offset;
    const int32_t sx = n % s->slices_x, sy = n / s->slices_x;
    if (j->total[p].bytes > j->room) return;
    tsr_slice_writer w = tsr_slice_writer_at(j->bytes + p * j->room + plan->offset, bytes);
    tsr_slice_put(&w, (uint32_t)plan->index, 7);
    tsr_slice_put(&w, (uint32_t)plan->length[0], tsr_slice_length_bits(bytes, 0));
    for (int32_t kind = 0; kind < 2; kind++) {
        const int32_t *from = j->coefficients[kind] + p * j->batch[kind], *other = kind ? j->coefficients[2] + p * j->batch[2] : from;
        const int32_t end = kind ? 0 : w.left - plan->length[0]; /* what is behind the last coefficient that is not 0 is left out */
        for (int32_t b = 0; b < s->bands && w.left > end; b++) {
            const tsr_slice_band *band = &s->band[kind][b];
            const tsr_dirac_area a = tsr_slice_area(s, band, sx, sy);
            const uint64_t own = scale[tsr_slice_index(plan->index, band->matrix)];
            for (int32_t y = a.y0; y < a.y1; y++)
                for (int32_t x = a.x0; x < a.x1 && w.left > end; x++) {
                    const int64_t place = band->offset + (int64_t)y * s->stride[kind] + x;
                    tsr_slice_put_value(&w, own, from[place]);
                    if (kind) tsr_slice_put_value(&w, own, other[place]);
                }
        }
    }
    tsr_slice_close(&w);
}

/* Component c of slice n in picture p as planned; with component 0 what precedes it. */
TSR_HD void tsr_slice_write(const tsr_slices_encode_job *j, const uint64_t *scale, int32_t p, int32_t n, int32_t c)
{
    const tsr_slice_shape *s = &j->shape;
    const int64_t count = (int64_t)s->slices_x * s->slices_y, scaler = j->total[p].scaler;
    const tsr_dirac_slice_plan *plan = &j->plan[p * count + n];
    const int32_t sx = n % s->slices_x, sy = n / s->slices_x, kind = c > 0;
    if (j->total[p].bytes > j->room) return;
    uint8_t *at = j->bytes + p * j->room + plan->offset;
    if (!c) {
        for (uint32_t k = 0; k < j->prefix; k++) at[k] = 0;
        at[j->prefix] = (uint8_t)plan->index;
    }
    at += j->prefix + 1;
    for (int32_t k = 0; k < c; k++) at += 1 + plan->length[k] * scaler;
    *at++ = (uint8_t)plan->length[c];
    tsr_slice_writer w = tsr_slice_writer_at(at, plan->length[c] * scaler);
    const int32_t *from = j->coefficients[c] + p * j->batch[c];
    for (int32_t b = 0; b < s->bands && w.left > 0; b++) {
        const tsr_slice_band *band = &s->band[kind][b];
        const tsr_dirac_area a = tsr_slice_area(s, band, sx, sy);
        const uint64_t own = scale[tsr_slice_index(plan->index, band->matrix)];
        const int32_t wide = a.x1 - a.x0, stride = s->stride[kind];
        const int32_t *row = from + band->offset + (int64_t)a.y0 * stride + a.x0;
        if (!((wide | stride) & 3) && !((uintptr_t)row & 15)) {
            tsr_slice_put_fours(&w, own, row, wide, a.y1 - a.y0, stride);
            continue;
        }
        for (int32_t y = a.y0; y < a.y1 && w.left > 0; y++, row += stride)
            for (int32_t x = 0; x < wide; x++) tsr_slice_put_value(&w, own, row[x]);
    }
    tsr_slice_close(&w);
}

#endif
