/* video/slices/slice_read.h: one component of a slice, by one thread: bits from memory, 32 at a time, to coefficients. */
#ifndef TSR_VIDEO_SLICES_SLICE_READ_H
#define TSR_VIDEO_SLICES_SLICE_READ_H

#include "video/dirac/bits.h"
#include "video/slices/slice_jobs.h"

TSR_HD uint32_t tsr_slice_swap(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return __byte_perm(v, 0, 0x0123);
#else
    return __builtin_bswap32(v);
#endif
}

TSR_HD int32_t tsr_slice_zeros(uint32_t v) /* leading ones of v, which is not 0 */
{
#if defined(__CUDA_ARCH__)
    return __clz((int)v);
#else
    return __builtin_clz(v);
#endif
}

/* 16 bytes at once. */
typedef struct tsr_slice_four {
    int32_t v[4];
} __attribute__((aligned(16))) tsr_slice_four;

typedef struct tsr_slice_reader {
    const uint32_t *next;
    uint32_t coming; /* the word before that, if some of it is the part's: asked for long before it is needed */
    uint64_t word;   /* the coming bits, from its top */
    int32_t filled;  /* of them are there, more than 32 */
    int64_t left;    /* bits of the part behind those; past its end all are 1 */
} tsr_slice_reader;

TSR_HD void tsr_slice_ask(tsr_slice_reader *r)
{
    if (r->left > 0) r->coming = *r->next++;
}

TSR_HD void tsr_slice_refill(tsr_slice_reader *r)
{
    uint32_t more = 0xffffffffu;
    if (r->left > 0) {
        more = tsr_slice_swap(r->coming);
        if (r->left < 32) more |= 0xffffffffu >> r->left;
    }
    r->left -= 32;
    tsr_slice_ask(r);
    r->word |= (uint64_t)more << (32 - r->filled);
    r->filled += 32;
}

/* Bits `at` to `end` of memory aligned to 4 bytes. */
TSR_HD tsr_slice_reader tsr_slice_reader_at(const uint8_t *memory, int64_t at, int64_t end)
{
    tsr_slice_reader r;
    const int32_t skip = (int32_t)(at & 31);
    r.next = (const uint32_t *)(const void *)memory + (at >> 5);
    r.word = 0;
    r.filled = 0;
    r.left = end - (at - skip);
    r.coming = 0;
    tsr_slice_ask(&r);
    tsr_slice_refill(&r);
    tsr_slice_refill(&r);
    r.word <<= skip;
    r.filled -= skip;
    if (r.filled <= 32) tsr_slice_refill(&r);
    return r;
}

TSR_HD void tsr_slice_skip(tsr_slice_reader *r, int32_t bits) /* up to 32 */
{
    r->word <<= bits;
    r->filled -= bits;
    if (r->filled <= 32) tsr_slice_refill(r);
}

TSR_HD uint32_t tsr_slice_bit(tsr_slice_reader *r)
{
    const uint32_t bit = (uint32_t)(r->word >> 63);
    tsr_slice_skip(r, 1);
    return bit;
}

/* A code of more than 32 bits. */
TSR_HD int32_t tsr_slice_long_code(tsr_slice_reader *r)
{
    uint64_t value = 1;
    int over = 0;
    while (!tsr_slice_bit(r)) {
        value = value << 1 | tsr_slice_bit(r);
        if (value >> 32) over = 1, value = 1;
    }
    const uint64_t magnitude = over || value - 1 > INT32_MAX ? INT32_MAX : value - 1;
    return tsr_slice_bit(r) ? -(int32_t)magnitude : (int32_t)magnitude;
}

/* tsr_bits_int. Codes of up to 32 bits go one way, 0 among them: lanes of a warp keep together. */
TSR_HD int32_t tsr_slice_code(tsr_slice_reader *r)
{
    const uint32_t top = (uint32_t)(r->word >> 32), follow = top & 0xaaaaaaaau;
    if (!follow) return tsr_slice_long_code(r);
    const int32_t digits = tsr_slice_zeros(follow) / 2; /* 0 to 15 */
    const int32_t magnitude = (int32_t)((1u << digits | tsr_bits_even_short(top >> 1 >> (31 - 2 * digits))) - 1);
    const int32_t sign = -(int32_t)(top >> (30 - 2 * digits) & 1); /* 0 has none, and is 0 with any */
    tsr_slice_skip(r, digits ? 2 * digits + 2 : 1);
    return (magnitude ^ sign) - sign;
}

/* tsr_dirac_length_bits. `long_length`: what other programs have. */
TSR_HD int32_t tsr_slice_length_bits(int64_t bytes, int long_length)
{
    if (long_length) return 32 - tsr_slice_zeros((uint32_t)(8 * bytes));
    return bytes > 1 ? 32 - tsr_slice_zeros((uint32_t)(8 * bytes - 8)) : 0;
}

/* Component c of slice n in picture p; in low-delay slices component 1 is both chroma components. */
TSR_HD void tsr_slice_read(const tsr_slices_decode_job *j, const tsr_quantiser *quantiser, int32_t p, int32_t n, int32_t c)
{
    const tsr_slice_shape *s = &j->shape;
    const tsr_slice_picture *picture = &j->picture[p];
    const uint8_t *data = j->bytes + picture->data;
    const uint32_t *starts = j->starts + (int64_t)p * (s->slices_x * (int64_t)s->slices_y + 1) + n;
    const int64_t end = tsr_minl(8 * (int64_t)starts[1], 8 * picture->end);
    const int32_t sx = n % s->slices_x, sy = n / s->slices_x, kind = c > 0, both = kind && !s->high_quality;
    int64_t at = tsr_minl(8 * (int64_t)starts[0], end), stop = end;
    int32_t index = 0;
    if (s->high_quality) {
        at += 8 * (int64_t)picture->prefix;
        if (at < end) index = data[at >> 3];
        at += 8;
        for (int32_t k = 0; k <= c; k++) {
            const int64_t length = at < end ? 8 * (int64_t)data[at >> 3] * picture->scaler : 0;
            at += 8;
            stop = tsr_minl(at + length, end);
            if (k < c) at += length;
        }
    } else if (at < end) {
        const int32_t wide = tsr_slice_length_bits((int64_t)starts[1] - starts[0], s->long_length);
        tsr_slice_reader head = tsr_slice_reader_at(data, at, end);
        index = (int32_t)(head.word >> 57);
        tsr_slice_skip(&head, 7);
        const int64_t length = wide ? (int64_t)(head.word >> (64 - wide)) : 0;
        at += 7 + wide;
        if (kind) at += length;
        else stop = tsr_minl(at + length, end);
    }
    tsr_slice_reader r = tsr_slice_reader_at(data, tsr_minl(at, stop), stop);
    int32_t *to = j->coefficients[c] + p * j->batch[c], *other = both ? j->coefficients[2] + p * j->batch[2] : to;
    for (int32_t b = 0; b < s->bands; b++) {
        const tsr_slice_band *band = &s->band[kind][b];
        const tsr_dirac_area a = tsr_slice_area(s, band, sx, sy);
        const tsr_quantiser q = quantiser[tsr_slice_index(index, band->matrix)];
        const int32_t w = a.x1 - a.x0;
        for (int32_t y = a.y0; y < a.y1; y++) {
            const int64_t place = band->offset + (int64_t)y * s->stride[kind] + a.x0;
            int32_t *row = to + place;
            if (!both && !(w & 3) && !((uintptr_t)row & 15)) {
                for (int32_t x = 0; x < w; x += 4) {
                    tsr_slice_four f;
                    for (int32_t k = 0; k < 4; k++) f.v[k] = tsr_quantiser_inverse(q, tsr_slice_code(&r));
                    *(tsr_slice_four *)(void *)(row + x) = f;
                }
                continue;
            }
            for (int32_t x = 0; x < w; x++) {
                row[x] = tsr_quantiser_inverse(q, tsr_slice_code(&r));
                if (both) other[place + x] = tsr_quantiser_inverse(q, tsr_slice_code(&r));
            }
        }
    }
}

#endif
