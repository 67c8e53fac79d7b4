/* video/dirac/encoder/arithmetic_write.h: the binary arithmetic encoder that arithmetic.h reads back. */
#ifndef TSR_VIDEO_DIRAC_ARITHMETIC_WRITE_H
#define TSR_VIDEO_DIRAC_ARITHMETIC_WRITE_H

#include "video/dirac/arithmetic.h"

/* The value is `low`, of which the bytes before `at` are the beginning; it grows by at most 2^16 of its last 16 bits, so a carry into written
 * bytes is rare. */
typedef struct tsr_arithmetic_out {
    uint8_t *begin, *at;
    uint64_t low;   /* its last 16 + count bits, and a carry above them */
    uint32_t range; /* 0x4001 to 0xffff */
    int32_t count;
} tsr_arithmetic_out;

enum { TSR_ARITHMETIC_TAIL = 16 }; /* bytes that may be written beyond what the bits take */

static inline void tsr_arithmetic_start(tsr_arithmetic_out *a, uint8_t *to) { *a = (tsr_arithmetic_out){ .begin = to, .at = to, .range = 0xffff }; }

static inline void tsr_arithmetic_carry(uint8_t *at)
{
    do at--;
    while (++*at == 0);
}

static inline void tsr_arithmetic_drain(tsr_arithmetic_out *a)
{
    if (a->low >> (16 + a->count)) {
        tsr_arithmetic_carry(a->at);
        a->low &= ((uint64_t)1 << (16 + a->count)) - 1;
    }
    while (a->count >= 8) {
        a->count -= 8;
        *a->at++ = (uint8_t)(a->low >> (16 + a->count));
    }
    a->low &= ((uint64_t)1 << (16 + a->count)) - 1;
}

/* A bit whose probability of being 0 is p / 65536. */
static inline void tsr_arithmetic_put(tsr_arithmetic_out *a, uint16_t *p, int bit)
{
    const uint32_t t = a->range * *p >> 16;
    if (bit) {
        a->low += t;
        a->range -= t;
        *p = (uint16_t)(*p - tsr_arithmetic_step[*p >> 8]);
    } else {
        a->range = t;
        *p = (uint16_t)(*p + tsr_arithmetic_step[255 - (*p >> 8)]);
    }
    if (a->range <= 0x4000) {
        const int shift = __builtin_clz(a->range - 1) - 17;
        a->range <<= shift;
        a->low <<= shift;
        a->count += shift;
        if (a->count >= 30) tsr_arithmetic_drain(a);
    }
}

/* The shortest end within the interval, whose missing bits are 1s. The number of bytes in all is returned, at least 1. */
static inline int64_t tsr_arithmetic_finish(tsr_arithmetic_out *a)
{
    const uint64_t end = a->low + a->range;
    int32_t k = 16;
    while (k > 0 && ((end >> k) == 0 || ((end >> k) << k) - 1 < a->low)) k--;
    a->low = ((end >> k) << k) - 1;
    const int32_t fill = (8 - (a->count & 7)) & 7; /* to whole bytes */
    a->low = (a->low + 1) << fill;
    a->low--;
    a->count += fill + 16;
    if (a->low >> a->count) tsr_arithmetic_carry(a->at);
    while (a->count > 0) {
        a->count -= 8;
        *a->at++ = (uint8_t)(a->low >> a->count);
    }
    while (a->at > a->begin + 1 && a->at[-1] == 0xff) a->at--;
    return a->at - a->begin;
}

static inline void tsr_arithmetic_put_magnitude(tsr_arithmetic_out *a, uint16_t *p, int first, int follow, int follows, int data, uint32_t magnitude)
{
    const uint64_t value = (uint64_t)magnitude + 1;
    int bin = first;
    for (int k = 62 - __builtin_clzll(value), n = 0; k >= 0; k--, n++) {
        tsr_arithmetic_put(a, &p[bin], 0);
        tsr_arithmetic_put(a, &p[data], (int)(value >> k & 1));
        bin = follow + (n < follows ? n : follows - 1);
    }
    tsr_arithmetic_put(a, &p[bin], 1);
}

static inline void tsr_arithmetic_put_uint(tsr_arithmetic_out *a, uint16_t *p, const tsr_number_contexts *c, uint32_t value)
{
    tsr_arithmetic_put_magnitude(a, p, c->follow, c->follows > 1 ? c->follow + 1 : c->follow, c->follows > 1 ? c->follows - 1 : 1, c->data, value);
}
static inline void tsr_arithmetic_put_int(tsr_arithmetic_out *a, uint16_t *p, const tsr_number_contexts *c, int32_t value)
{
    tsr_arithmetic_put_uint(a, p, c, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
    if (value) tsr_arithmetic_put(a, &p[c->sign], value < 0);
}

#endif
