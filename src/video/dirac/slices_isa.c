/* video/dirac/slices_isa.c: all codes of a component first, then its coefficients, band by band. */
#include "video/dirac/slices_isa.h"

enum { SMALL = 1 << 13 }; /* quantised values below it and factors up to 2^16 stay within 31 bits */
typedef int32_t four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t eight_short __attribute__((vector_size(16), aligned(2), may_alias));
typedef int16_t four_short __attribute__((vector_size(8), aligned(2), may_alias));

/* n values from the bits; *large: some value is SMALL or more. Past the end all bits are 1: zeros. */
static void read_codes(const tsr_code_table *codes, tsr_bits *own, int64_t n, int32_t *value, int *large)
{
    tsr_bits bits = *own;
    int64_t k = 0;
    while (k < n && bits.at < bits.end) {
        uint64_t word = tsr_bits_peek(&bits);
        int32_t left = 57;
        for (;;) { /* several looks at one word */
            const tsr_code_entry *e = &codes->entry[word >> (64 - TSR_CODE_BITS)];
            if (!e->count) break;
            for (int32_t m = 0; m < TSR_CODE_VALUES; m++) value[k + m] = e->value[m];
            k += e->count;
            word <<= e->bits;
            left -= e->bits;
            if (k >= n || left < TSR_CODE_BITS) break;
        }
        bits.at += 57 - left;
        if (k < n && left >= TSR_CODE_BITS) { /* a long code comes */
            const int32_t v = tsr_bits_int(&bits);
            *large |= v >= SMALL || v <= -SMALL;
            value[k++] = v;
        }
    }
    if (k < n) memset(value + k, 0, (size_t)(n - k) * sizeof *value);
    *own = bits;
}

/* Where the coefficients of a band in a slice go. */
typedef struct band_target {
    int32_t *wide;
    int16_t *narrow; /* in place of `wide`, if not NULL */
    int64_t stride;
    int32_t w, h;
} band_target;

/* Values `step` apart, those of several components being interleaved. */
static int put_slowly(const int32_t *from, int64_t step, tsr_quantiser q, const band_target *to)
{
    int32_t over = 0;
    for (int32_t y = 0; y < to->h; y++)
        for (int32_t x = 0; x < to->w; x++, from += step) {
            const int32_t v = tsr_quantiser_inverse(q, *from);
            if (!to->narrow) to->wide[y * to->stride + x] = v;
            else {
                over |= v > INT16_MAX || v < -INT16_MAX;
                to->narrow[y * to->stride + x] = (int16_t)v;
            }
        }
    return over;
}

#define PUT_BACK(lanes, from, factor, offset, back, sign)                                       \
    const lanes v_ = *(const lanes *)(const void *)(from), sign = v_ >> 31, m_ = (v_ ^ sign) - sign; \
    const lanes back = ((m_ * (factor) + (offset)) >> 2) & (m_ != 0)

/* Small values, factors up to 2^16; widths of 4 and more. */
static int put_narrow(const int32_t *from, tsr_quantiser q, const band_target *to)
{
    const int32_t factor = (int32_t)q.factor, offset = (int32_t)q.offset, w = to->w;
    eight most = { 0 };
    four most_four = { 0 };
    for (int32_t y = 0; y < to->h; y++, from += w) {
        int16_t *row = to->narrow + y * to->stride;
        int32_t x = 0;
        for (; x + 8 <= w; x += 8) {
            PUT_BACK(eight, from + x, factor, offset, back, sign);
            most |= back;
            *(eight_short *)(void *)(row + x) = __builtin_convertvector((back ^ sign) - sign, eight_short);
        }
        for (; x + 4 <= w; x += 4) {
            PUT_BACK(four, from + x, factor, offset, back, sign);
            most_four |= back;
            *(four_short *)(void *)(row + x) = __builtin_convertvector((back ^ sign) - sign, four_short);
        }
    }
    int32_t all = most_four[0] | most_four[1] | most_four[2] | most_four[3];
    for (int k = 0; k < 8; k++) all |= most[k];
    return all > INT16_MAX;
}

static void put_wide(const int32_t *from, tsr_quantiser q, const band_target *to)
{
    const int32_t factor = (int32_t)q.factor, offset = (int32_t)q.offset, w = to->w;
    for (int32_t y = 0; y < to->h; y++, from += w) {
        int32_t *row = to->wide + y * to->stride;
        for (int32_t x = 0; x < w; x += 4) {
            PUT_BACK(four, from + x, factor, offset, back, sign);
            *(four *)(void *)(row + x) = (back ^ sign) - sign;
        }
    }
}

/* Components `first` to `last`, whose codes are interleaved if they are several. */
static int decode_components(const tsr_slices_job *j, int first, int last, int32_t sx, int32_t sy, int32_t index, tsr_bits *bits, int32_t *buffer)
{
    const tsr_dirac_transform *t = j->slices->transform;
    const tsr_dirac_layout *l = j->slices->layout[first];
    const tsr_dirac_steps(*steps)[4] = j->steps[first > 0];
    const int32_t many = last - first + 1;
    int64_t n = 0;
    int large = 0, over = 0;
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_area a = tsr_dirac_stepped_area(t, &l->band[level][band], steps[level][band], sx, sy);
            n += (int64_t)(a.x1 - a.x0) * (a.y1 - a.y0) * many;
        }
    read_codes(j->codes, bits, n, buffer, &large);
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_band *b = &l->band[level][band];
            const tsr_dirac_area a = tsr_dirac_stepped_area(t, b, steps[level][band], sx, sy);
            const int32_t w = a.x1 - a.x0;
            const tsr_quantiser q = j->quantiser[index - t->matrix[level][band] + 255];
            const int quick = !large && q.factor <= 1 << 16 && many == 1 && w % 4 == 0;
            const int64_t at = b->offset + (int64_t)a.y0 * l->stride + a.x0;
            for (int c = first; c <= last; c++) {
                int16_t *narrow = j->slices->narrow[c] ? j->slices->narrow[c] + at : NULL;
                const band_target to = { narrow ? NULL : j->slices->coefficients[c] + at, narrow, l->stride, w, a.y1 - a.y0 };
                if (!quick) over |= put_slowly(buffer + (c - first), many, q, &to);
                else if (narrow) over |= put_narrow(buffer, q, &to);
                else put_wide(buffer, q, &to);
            }
            buffer += (int64_t)w * (a.y1 - a.y0) * many;
        }
    return over;
}

/* bits.at .. at + size, but not beyond the end of the data; `bits` goes behind it. */
static tsr_bits bounded(tsr_bits *bits, int64_t size)
{
    tsr_bits part = { bits->data, bits->at, tsr_min64(bits->at + size, bits->end) };
    bits->at += size;
    return part;
}

static int decode_high_quality(const tsr_slices_job *j, tsr_bits bits, int32_t sx, int32_t sy, int32_t *buffer)
{
    const tsr_dirac_transform *t = j->slices->transform;
    int over = 0;
    bits.at += 8 * (int64_t)t->prefix;
    const int32_t index = bits.at < bits.end ? (int32_t)tsr_bits_take(&bits, 8) : 0;
    for (int c = 0; c < 3; c++) {
        const int64_t length = bits.at < bits.end ? (int64_t)tsr_bits_take(&bits, 8) * t->scaler : 0;
        tsr_bits part = bounded(&bits, 8 * length);
        over |= decode_components(j, c, c, sx, sy, index, &part, buffer);
    }
    return over;
}

static int decode_low_delay(const tsr_slices_job *j, tsr_bits bits, int32_t bytes, int32_t sx, int32_t sy, int32_t *buffer)
{
    const int wide = j->slices->long_length ? 32 - __builtin_clz((unsigned)(8 * bytes)) : tsr_dirac_length_bits(bytes);
    const int there = bits.at < bits.end;
    const int32_t index = there ? (int32_t)tsr_bits_take(&bits, 7) : 0;
    const int64_t length = there ? (int64_t)tsr_bits_take(&bits, wide) : 0;
    tsr_bits luma = bounded(&bits, length);
    if (luma.end > bits.end) luma.end = bits.end;
    const int over = decode_components(j, 0, 0, sx, sy, index, &luma, buffer);
    return decode_components(j, 1, 2, sx, sy, index, &bits, buffer) | over;
}

int TSR_ISA_NAME(tsr_dirac_decode_range)(const tsr_slices_job *j, int64_t begin, int64_t end, int32_t *buffer)
{
    const tsr_dirac_transform *t = j->slices->transform;
    int over = 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t n = j->first + k, behind = tsr_min64(j->starts[k + 1], j->end);
        const int32_t sx = (int32_t)(n % t->slices_x), sy = (int32_t)(n / t->slices_x);
        const tsr_bits bits = { j->data, tsr_min64(j->starts[k], behind), behind };
        if (t->high_quality) over |= decode_high_quality(j, bits, sx, sy, buffer);
        else over |= decode_low_delay(j, bits, (int32_t)((j->starts[k + 1] - j->starts[k]) / 8), sx, sy, buffer);
    }
    return over;
}
