/* video/dirac/slices_isa.c: all codes of a component first, then its coefficients, band by band. */
#include "video/dirac/slices_isa.h"

enum { AHEAD = 128 };
enum { SMALL = 1 << 13 }; /* quantised values below it and factors up to 2^16 stay within 31 bits */
typedef int32_t four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t eight_short __attribute__((vector_size(16), aligned(2), may_alias));
typedef int16_t four_short __attribute__((vector_size(8), aligned(2), may_alias));

/* Codes of one component on their way to values. */
typedef struct reading {
    tsr_bits bits;
    int32_t *value;
    int64_t k; /* values that are there */
    int large; /* some value is SMALL or more */
} reading;

/* One look at the table: up to TSR_CODE_VALUES values are there; a long code leaves all as it is. */
static inline __attribute__((always_inline)) int32_t look_up(const tsr_code_table *codes, reading *r, uint64_t *word)
{
    const tsr_code_entry *e = &codes->entry[*word >> (64 - TSR_CODE_BITS)];
    for (int32_t m = 0; m < TSR_CODE_VALUES; m++) r->value[r->k + m] = e->value[m];
    r->k += e->count;
    r->bits.at += e->bits;
    *word <<= e->bits;
    return e->count;
}

static inline __attribute__((always_inline)) void read_long(reading *r, int64_t n)
{
    if (r->k >= n) return;
    const int32_t v = tsr_bits_int(&r->bits);
    r->large |= v >= SMALL || v <= -SMALL;
    r->value[r->k++] = v;
}

static int goes_on(const reading *r, int64_t n) { return r->k < n && r->bits.at < r->bits.end; }

/* n values in all. Past the end all bits are 1: zeros. Up to TSR_CODE_SLACK values behind the last one are overwritten. */
static void read_codes(const tsr_code_table *codes, reading *given, int64_t n)
{
    reading r = *given;
    while (goes_on(&r, n)) {
        uint64_t word = tsr_bits_peek(&r.bits);
        int32_t count = 0;
        for (int32_t look = 0; look < TSR_CODE_LOOKS; look++) count = look_up(codes, &r, &word); /* no branch between them */
        if (!count) read_long(&r, n);
    }
    if (r.k < n) memset(r.value + r.k, 0, (size_t)(n - r.k) * sizeof *r.value);
    *given = r;
}

/* The same for two components at once: each look waits for the one before, so that two rows of looks take as long as one. */
static void read_two(const tsr_code_table *codes, reading two[2], int64_t n)
{
    reading a = two[0], b = two[1];
    while (goes_on(&a, n) && goes_on(&b, n)) {
        uint64_t first = tsr_bits_peek(&a.bits), second = tsr_bits_peek(&b.bits);
        int32_t counts[2] = { 0, 0 };
        for (int32_t look = 0; look < TSR_CODE_LOOKS; look++) {
            counts[0] = look_up(codes, &a, &first);
            counts[1] = look_up(codes, &b, &second);
        }
        if (!counts[0]) read_long(&a, n);
        if (!counts[1]) read_long(&b, n);
    }
    two[0] = a;
    two[1] = b;
    for (int k = 0; k < 2; k++) read_codes(codes, &two[k], n);
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

#define PUT_BACK(lanes, from, factor, offset, back, sign)                                            \
    const lanes v_ = *(const lanes *)(const void *)(from), sign = v_ >> 31, m_ = (v_ ^ sign) - sign; \
    const lanes back = ((m_ * (factor) + (offset)) >> 2) & (m_ != 0)

/* Small values, factors up to 2^16. What is put back is gathered in `most` and its return value. */
static inline int32_t put_narrow(const int32_t *from, tsr_quantiser q, int16_t *to, int64_t stride, int32_t w, int32_t h, eight *most)
{
    const int32_t factor = (int32_t)q.factor, offset = (int32_t)q.offset;
    eight all = *most;
    four rest = { 0 };
    int32_t single = 0;
    if (w == 4 && h % 2 == 0) { /* two rows at once */
        for (int32_t y = 0; y < h; y += 2, from += 8, to += 2 * stride) {
            PUT_BACK(eight, from, factor, offset, back, sign);
            const eight_short both = __builtin_convertvector((back ^ sign) - sign, eight_short);
            all |= back;
            __builtin_prefetch(to + AHEAD, 1);
            __builtin_prefetch(to + stride + AHEAD, 1);
            memcpy(to, &both, 8);
            memcpy(to + stride, (const char *)&both + 8, 8);
        }
        *most = all;
        return 0;
    }
    for (int32_t y = 0; y < h; y++, from += w, to += stride) {
        int32_t x = 0;
        __builtin_prefetch(to + AHEAD, 1); /* of later slices: too many rows at once for the processor to see them coming */
        for (; x + 8 <= w; x += 8) {
            PUT_BACK(eight, from + x, factor, offset, back, sign);
            all |= back;
            *(eight_short *)(void *)(to + x) = __builtin_convertvector((back ^ sign) - sign, eight_short);
        }
        for (; x + 4 <= w; x += 4) {
            PUT_BACK(four, from + x, factor, offset, back, sign);
            rest |= back;
            *(four_short *)(void *)(to + x) = __builtin_convertvector((back ^ sign) - sign, four_short);
        }
        for (; x < w; x++) {
            const int32_t v = from[x], sign = v >> 31, m = (v ^ sign) - sign, back = m ? (m * factor + offset) >> 2 : 0;
            single |= back;
            to[x] = (int16_t)((back ^ sign) - sign);
        }
    }
    *most = all;
    return single | rest[0] | rest[1] | rest[2] | rest[3];
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

static int beyond_narrow(eight most, int32_t rest)
{
    int32_t all = rest;
    for (int k = 0; k < 8; k++) all |= most[k];
    return all > INT16_MAX;
}

/* Values of component c of a slice to 16 bits, where all bands are even. */
static int put_even(const tsr_slices_job *j, int c, int32_t sx, int32_t sy, int32_t index, const reading *r)
{
    const int64_t stride = j->slices->layout[c]->stride;
    const int32_t *from = r->value;
    int16_t *const to = j->slices->narrow[c];
    eight most = { 0 };
    int32_t rest = 0;
    int over = 0;
    for (int32_t b = 0; b < j->even_bands; b++) {
        const tsr_even_band *e = &j->even_band[c > 0][b];
        const tsr_quantiser q = j->quantiser[index - e->matrix + 255];
        int16_t *place = to + e->offset + (int64_t)sy * e->h * stride + (int64_t)sx * e->w;
        if (r->large || q.factor > 1 << 16) {
            const band_target slowly = { NULL, place, stride, e->w, e->h };
            over |= put_slowly(from, 1, q, &slowly);
        } else rest |= put_narrow(from, q, place, stride, e->w, e->h, &most);
        from += e->w * e->h;
    }
    return over | beyond_narrow(most, rest);
}

/* Components `first` to `last`, whose codes are interleaved if they are several. */
static int decode_components(const tsr_slices_job *j, int first, int last, int32_t sx, int32_t sy, int32_t index, tsr_bits *bits, int32_t *buffer)
{
    const tsr_dirac_transform *t = j->slices->transform;
    const tsr_dirac_layout *l = j->slices->layout[first];
    const tsr_dirac_steps(*steps)[4] = j->steps[first > 0];
    const int32_t many = last - first + 1;
    reading r = { *bits, buffer, 0, 0 };
    int64_t n = 0;
    int over = 0;
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_area a = tsr_dirac_stepped_area(t, &l->band[level][band], steps[level][band], sx, sy);
            n += (int64_t)(a.x1 - a.x0) * (a.y1 - a.y0) * many;
        }
    read_codes(j->codes, &r, n);
    *bits = r.bits;
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_band *b = &l->band[level][band];
            const tsr_dirac_area a = tsr_dirac_stepped_area(t, b, steps[level][band], sx, sy);
            const int32_t w = a.x1 - a.x0;
            const tsr_quantiser q = j->quantiser[index - t->matrix[level][band] + 255];
            const int quick = !r.large && q.factor <= 1 << 16 && many == 1 && w % 4 == 0;
            const int64_t at = b->offset + (int64_t)a.y0 * l->stride + a.x0;
            for (int c = first; c <= last; c++) {
                int16_t *narrow = j->slices->narrow[c] ? j->slices->narrow[c] + at : NULL;
                const band_target to = { narrow ? NULL : j->slices->coefficients[c] + at, narrow, l->stride, w, a.y1 - a.y0 };
                if (!quick) over |= put_slowly(buffer + (c - first), many, q, &to);
                else if (narrow) {
                    eight most = { 0 };
                    const int32_t rest = put_narrow(buffer, q, narrow, l->stride, w, a.y1 - a.y0, &most);
                    over |= beyond_narrow(most, rest);
                } else put_wide(buffer, q, &to);
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

/* The quantiser of a high-quality slice, and where its components are. */
static int32_t begin_high_quality(const tsr_slices_job *j, tsr_bits bits, tsr_bits part[3])
{
    const tsr_dirac_transform *t = j->slices->transform;
    bits.at += 8 * (int64_t)t->prefix;
    const int32_t index = bits.at < bits.end ? (int32_t)tsr_bits_take(&bits, 8) : 0;
    for (int c = 0; c < 3; c++) {
        const int64_t length = bits.at < bits.end ? (int64_t)tsr_bits_take(&bits, 8) * t->scaler : 0;
        part[c] = bounded(&bits, 8 * length);
    }
    return index;
}

/* Slices n and, with `many` 2, n + 1. `buffer` has room for both. */
static int decode_high_quality(const tsr_slices_job *j, const tsr_bits bits[2], int64_t n, int many, int32_t *buffer)
{
    const int32_t across = j->slices->transform->slices_x;
    tsr_bits part[2][3];
    int32_t index[2] = { 0, 0 };
    int over = 0;
    for (int k = 0; k < many; k++) index[k] = begin_high_quality(j, bits[k], part[k]);
    for (int c = 0; c < 3; c++) {
        const int even = j->even[c > 0] && j->slices->narrow[c];
        reading r[2] = { { part[0][c], buffer, 0, 0 }, { part[many - 1][c], buffer + j->room + TSR_CODE_SLACK, 0, 0 } };
        if (even && many == 2) read_two(j->codes, r, j->even_size[c > 0]);
        else if (even) read_codes(j->codes, &r[0], j->even_size[c > 0]);
        for (int k = 0; k < many; k++) {
            const int32_t sx = (int32_t)((n + k) % across), sy = (int32_t)((n + k) / across);
            over |= even ? put_even(j, c, sx, sy, index[k], &r[k]) : decode_components(j, c, c, sx, sy, index[k], &part[k][c], buffer);
        }
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
    for (int64_t k = begin; k < end;) {
        const int many = t->high_quality && k + 1 < end ? 2 : 1;
        const int64_t n = j->first + k;
        tsr_bits bits[2];
        for (int m = 0; m < many; m++) {
            const int64_t behind = tsr_min64(j->starts[k + m + 1], j->end);
            bits[m] = (tsr_bits){ j->data, tsr_min64(j->starts[k + m], behind), behind };
        }
        if (t->high_quality) over |= decode_high_quality(j, bits, n, many, buffer);
        else
            over |= decode_low_delay(j, bits[0], (int32_t)((j->starts[k + 1] - j->starts[k]) / 8), (int32_t)(n % t->slices_x),
                                     (int32_t)(n / t->slices_x), buffer);
        k += many;
    }
    return over;
}
