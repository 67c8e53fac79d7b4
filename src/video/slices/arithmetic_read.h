/* video/slices/arithmetic_read.h: the binary arithmetic decoder of core syntax for one thread of a device, as video/dirac/arithmetic.h has it for one
 * of the CPU: there several bits wait in one word, here the window is 16 bits wide and the bits behind it come from a reader of 32 at a time. Source:
 * Dirac Specification 2.2.3, annex B. */
#ifndef TSR_VIDEO_SLICES_ARITHMETIC_READ_H
#define TSR_VIDEO_SLICES_ARITHMETIC_READ_H

#include "video/dirac/core_contexts.h"
#include "video/slices/slice_read.h"

typedef struct tsr_arithmetic_reader {
    tsr_slice_reader bits;
    uint32_t code, range; /* minus the interval's low end; 0x4001 to 0xffff */
    const uint16_t *step; /* tsr_arithmetic_step */
    uint16_t *p;          /* CONTEXTS probabilities */
} tsr_arithmetic_reader;

/* Bytes `data` to `data` + `size` of memory aligned to 4 bytes. */
TSR_HD tsr_arithmetic_reader tsr_arithmetic_reader_at(const uint8_t *memory, int64_t data, int64_t size, const uint16_t *step, uint16_t *p)
{
    tsr_arithmetic_reader r;
    r.bits = tsr_slice_reader_at(memory, 8 * data, 8 * (data + size));
    r.code = (uint32_t)(r.bits.word >> 48);
    r.range = 0xffff;
    r.step = step;
    r.p = p;
    tsr_slice_skip(&r.bits, 16);
    return r;
}

TSR_HD void tsr_arithmetic_reader_widen(tsr_arithmetic_reader *r)
{
    if (r->range > 0x4000) return;
    const int32_t shift = tsr_slice_zeros(r->range - 1) - 17;
    r->range <<= shift;
    r->code = r->code << shift | (uint32_t)(r->bits.word >> (64 - shift));
    tsr_slice_skip(&r->bits, shift);
}

/* A bit, by a probability that the caller holds. */
TSR_HD int32_t tsr_arithmetic_read_by(tsr_arithmetic_reader *r, uint32_t *p)
{
    const uint32_t t = r->range * *p >> 16;
    const int32_t bit = r->code >= t;
    if (bit) {
        r->code -= t;
        r->range -= t;
        *p -= r->step[*p >> 8];
    } else {
        r->range = t;
        *p += r->step[255 - (*p >> 8)];
    }
    tsr_arithmetic_reader_widen(r);
    return bit;
}
TSR_HD int32_t tsr_arithmetic_read(tsr_arithmetic_reader *r, int32_t context)
{
    uint32_t own = r->p[context];
    const int32_t bit = tsr_arithmetic_read_by(r, &own);
    r->p[context] = (uint16_t)own;
    return bit;
}

/* Bits of one context up to the first that is 0, `most` at most: how many are 1. *ended: the 0 was read. */
TSR_HD int32_t tsr_arithmetic_read_ones(tsr_arithmetic_reader *r, int32_t context, int32_t most, int *ended)
{
    uint32_t own = r->p[context];
    int32_t n = 0;
    *ended = 0;
    while (n < most && !*ended) {
        if (tsr_arithmetic_read_by(r, &own)) n++;
        else *ended = 1;
    }
    r->p[context] = (uint16_t)own;
    return n;
}

/* Of a number whose first bit was 0: continue bit 0 and a data bit, again and again; 1 ends. Clamped to INT32_MAX. */
TSR_HD uint32_t tsr_arithmetic_read_on(tsr_arithmetic_reader *r, int32_t follow, int32_t follows, int32_t data)
{
    uint64_t value = 1;
    int32_t k = 0;
    do {
        value = value << 1 | (uint64_t)tsr_arithmetic_read(r, data);
        if (value >> 32) return INT32_MAX; /* no stream means that */
    } while (!tsr_arithmetic_read(r, follow + tsr_mini(k++, follows - 1)));
    return value - 1 > INT32_MAX ? INT32_MAX : (uint32_t)(value - 1);
}

/* The difference of a code block's quantiser. */
TSR_HD int32_t tsr_arithmetic_read_offset(tsr_arithmetic_reader *r)
{
    if (tsr_arithmetic_read(r, OFFSET_FOLLOW)) return 0;
    const int32_t value = (int32_t)tsr_arithmetic_read_on(r, OFFSET_FOLLOW, 1, OFFSET_DATA);
    return value && tsr_arithmetic_read(r, OFFSET_SIGN) ? -value : value;
}

/* What is around up to 32 coefficients of a row, a bit each, the first one lowest. */
typedef struct tsr_arithmetic_around {
    uint32_t near;                       /* above or above to the left something is not 0 */
    uint32_t parent, positive, negative; /* the parent is not 0; the sign of the predictor above, where it counts */
} tsr_arithmetic_around;

/* `count` coefficients of a row: those that are not 0 to value[], a bit of the result for each. *left: the sign of the one before; afterwards of the
 * last. `by_left`: the sign's context is that of the one before. */
TSR_HD uint32_t tsr_arithmetic_read_row(tsr_arithmetic_reader *r, tsr_arithmetic_around a, int32_t count, int by_left, int32_t *left, int32_t *value)
{
    uint32_t found = 0;
    int32_t before = *left, k = 0;
    while (k < count) {
        const uint32_t busy = (a.near | a.parent) >> k;
        const int32_t quiet = before ? 0 : busy ? 31 - tsr_slice_zeros(busy & (0u - busy)) : 32;
        int32_t parent = 0, ended = 0;
        if (quiet) { /* the same context as long as they are 0 */
            k += tsr_arithmetic_read_ones(r, FIRST, tsr_mini(quiet, count - k), &ended);
            if (!ended) continue;
        } else {
            parent = (int32_t)(a.parent >> k & 1);
            if (tsr_arithmetic_read(r, FIRST + 2 * parent + ((a.near >> k & 1) || before))) {
                before = 0;
                k++;
                continue;
            }
        }
        const int32_t magnitude = (int32_t)tsr_arithmetic_read_on(r, CHAIN + CHAIN_LENGTH * parent, CHAIN_LENGTH, DATA);
        const int32_t predictor = by_left ? before : (int32_t)(a.positive >> k & 1) - (int32_t)(a.negative >> k & 1);
        const int32_t negative = tsr_arithmetic_read(r, SIGN + 1 + predictor);
        value[k] = negative ? -magnitude : magnitude;
        before = negative ? -1 : 1;
        found |= 1u << k++;
    }
    *left = before;
    return found;
}

#endif
