/* video/dirac/arithmetic.h: the binary arithmetic decoder, with one adaptive probability a context. Past the end of the data every bit is 1.
 * Source: Dirac Specification 2.2.3, annex B. */
#ifndef TSR_VIDEO_DIRAC_ARITHMETIC_H
#define TSR_VIDEO_DIRAC_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

#define TSR_ARITHMETIC_INLINE static inline __attribute__((always_inline)) /* or the state is in memory, not in registers */

/* By how much a probability moves, by its upper 8 bits. */
extern const uint16_t tsr_arithmetic_step[256];

typedef struct tsr_arithmetic {
    const uint8_t *at, *end;
    uint64_t code;  /* minus the interval's low end; the last `spare` bits are not looked at yet */
    uint32_t range; /* 0x4001 to 0xffff */
    int32_t spare;
} tsr_arithmetic;

static inline void tsr_arithmetic_fill(tsr_arithmetic *a)
{
    if (a->spare >= 32) return;
    const int bytes = (39 - a->spare) >> 3;
    const int64_t left = a->end - a->at;
    uint64_t word = UINT64_MAX;
    if (left >= 8) memcpy(&word, a->at, sizeof word);
    else if (left > 0) memcpy(&word, a->at, (size_t)left);
    a->code = a->code << (8 * bytes) | __builtin_bswap64(word) >> (64 - 8 * bytes);
    a->spare += 8 * bytes;
    a->at += left < bytes ? left : bytes;
}

static inline void tsr_arithmetic_begin(tsr_arithmetic *a, const uint8_t *data, int64_t size)
{
    *a = (tsr_arithmetic){ .at = data, .end = data + size, .range = 0xffff, .spare = -16 };
    tsr_arithmetic_fill(a);
}

/* Until the range is above 0x4000 again. */
TSR_ARITHMETIC_INLINE void tsr_arithmetic_widen(tsr_arithmetic *a)
{
    if (a->range > 0x4000) return;
    const int shift = __builtin_clz(a->range - 1) - 17;
    a->range <<= shift;
    a->spare -= shift;
    if (a->spare < 16) tsr_arithmetic_fill(a);
}

/* The same without a way around: where nobody can tell whether the range is above it. */
TSR_ARITHMETIC_INLINE void tsr_arithmetic_settle(tsr_arithmetic *a)
{
    const uint32_t last = a->range - 1;
    const int shift = __builtin_clz(last) - 17 + (int)(last >> 15);
    a->range <<= shift;
    a->spare -= shift;
    if (a->spare < 16) tsr_arithmetic_fill(a);
}

/* A bit whose probability of being 0 is p / 65536, before the range is widened. */
TSR_ARITHMETIC_INLINE int tsr_arithmetic_decide(tsr_arithmetic *a, uint16_t *p)
{
    const uint32_t own = *p, t = a->range * own >> 16;
    const uint64_t place = (uint64_t)t << a->spare;
    const int bit = a->code >= place;
    if (bit) {
        a->code -= place;
        a->range -= t;
        *p = (uint16_t)(own - tsr_arithmetic_step[own >> 8]);
    } else {
        a->range = t;
        *p = (uint16_t)(own + tsr_arithmetic_step[255 - (own >> 8)]);
    }
    return bit;
}

TSR_ARITHMETIC_INLINE int tsr_arithmetic_bit(tsr_arithmetic *a, uint16_t *p)
{
    const int bit = tsr_arithmetic_decide(a, p);
    tsr_arithmetic_widen(a);
    return bit;
}

/* The same for bits that nobody foresees: nothing to be guessed wrongly. */
TSR_ARITHMETIC_INLINE int tsr_arithmetic_toss(tsr_arithmetic *a, uint16_t *p)
{
    const uint32_t own = *p, t = a->range * own >> 16, up = own + tsr_arithmetic_step[255 - (own >> 8)], down = own - tsr_arithmetic_step[own >> 8];
    const uint64_t place = (uint64_t)t << a->spare;
    const int bit = a->code >= place;
    a->code -= bit ? place : 0;
    a->range = bit ? a->range - t : t;
    *p = (uint16_t)(bit ? down : up);
    tsr_arithmetic_settle(a);
    return bit;
}

/* The same where what follows goes another way for it: one wrong guess, not two. */
TSR_ARITHMETIC_INLINE int tsr_arithmetic_fork(tsr_arithmetic *a, uint16_t *p)
{
    const int bit = tsr_arithmetic_decide(a, p);
    tsr_arithmetic_settle(a);
    return bit;
}

/* A probability that many 1s brought down stays at one of two values. After TSR_ARITHMETIC_FAR 1s of it, or TSR_ARITHMETIC_FARTHER, a range is another
 * one: 0 where it does not stay above 0x4000. */
enum { TSR_ARITHMETIC_FAR = 16, TSR_ARITHMETIC_FARTHER = 64, TSR_ARITHMETIC_STAYS = 254, TSR_ARITHMETIC_LEAST = 0x4001 };
typedef uint16_t tsr_arithmetic_ranges[0x10000 - TSR_ARITHMETIC_LEAST];
typedef struct tsr_arithmetic_far {
    tsr_arithmetic_ranges far[2], farther[2];
} tsr_arithmetic_far;
const tsr_arithmetic_far *tsr_arithmetic_far_ranges(void);

/* 1s of one context, `most` at most: how many there are before a 0, which is taken as well (*zero); `most`: none came. As long as they go on the code moves
 * as the range does, so the range alone tells whether the next bit is one of them. */
TSR_ARITHMETIC_INLINE int32_t tsr_arithmetic_ones(tsr_arithmetic *a, uint16_t *p, int32_t most, const tsr_arithmetic_far *far, int *zero)
{
    uint32_t own = *p, range = a->range, step = tsr_arithmetic_step[own >> 8], next = 0;
    int32_t n = 0;
    for (;;) {
        const int64_t least = (int64_t)a->range - (int64_t)(a->code >> a->spare), stop = least > TSR_ARITHMETIC_LEAST ? least : TSR_ARITHMETIC_LEAST;
        if (own - TSR_ARITHMETIC_STAYS < 2 && n + TSR_ARITHMETIC_FAR <= most) {
            const uint32_t which = own - TSR_ARITHMETIC_STAYS;
            for (; n + TSR_ARITHMETIC_FARTHER <= most; n += TSR_ARITHMETIC_FARTHER, range = next)
                if ((next = far->farther[which][range - TSR_ARITHMETIC_LEAST]) < stop) break;
            for (; n + TSR_ARITHMETIC_FAR <= most; n += TSR_ARITHMETIC_FAR, range = next)
                if ((next = far->far[which][range - TSR_ARITHMETIC_LEAST]) < stop) break;
        }
        for (; n < most; n++, range = next) { /* those that leave the range large enough */
            next = range - (range * own >> 16);
            if (next < stop) break;
            const uint32_t before = own;
            own -= step;
            if ((own ^ before) >> 8) step = tsr_arithmetic_step[own >> 8]; /* seldom: nobody waits for the table */
        }
        a->code -= (uint64_t)(a->range - range) << a->spare;
        a->range = range;
        if (n == most) {
            *p = (uint16_t)own;
            *zero = 0;
            return n;
        }
        if (next < least) break;
        a->code -= (uint64_t)(range - next) << a->spare;
        a->range = next;
        tsr_arithmetic_settle(a);
        range = a->range;
        own -= step;
        step = tsr_arithmetic_step[own >> 8];
        if (++n == most) {
            *p = (uint16_t)own;
            *zero = 0;
            return n;
        }
    }
    a->range = range * own >> 16;
    tsr_arithmetic_settle(a);
    *p = (uint16_t)(own + tsr_arithmetic_step[255 - (own >> 8)]);
    *zero = 1;
    return n;
}

/* Contexts of a number: its first continue bits have one each, the last of them again and again; then data bits, and a sign. */
typedef struct tsr_number_contexts {
    int32_t follow, follows, data, sign; /* indices */
} tsr_number_contexts;

/* Continue bit 0 and a data bit, again and again; 1 ends. The first bit was 0. Clamped to INT32_MAX. */
TSR_ARITHMETIC_INLINE uint32_t tsr_arithmetic_magnitude_on(tsr_arithmetic *a, uint16_t *p, int follow, int follows, int data)
{
    uint64_t value = 1;
    for (int k = 0, goes_on = 1; goes_on; k++) {
        value = value << 1 | (uint64_t)tsr_arithmetic_toss(a, &p[data]);
        if (value >> 32) return INT32_MAX; /* no stream means that */
        goes_on = !tsr_arithmetic_fork(a, &p[follow + (k < follows ? k : follows - 1)]);
    }
    return value - 1 > INT32_MAX ? INT32_MAX : (uint32_t)(value - 1);
}

/* The same from its beginning; `first` stands for the context of the first bit. */
static inline uint32_t tsr_arithmetic_magnitude(tsr_arithmetic *a, uint16_t *p, int first, int follow, int follows, int data)
{
    return tsr_arithmetic_bit(a, &p[first]) ? 0 : tsr_arithmetic_magnitude_on(a, p, follow, follows, data);
}

static inline uint32_t tsr_arithmetic_uint(tsr_arithmetic *a, uint16_t *p, const tsr_number_contexts *c)
{
    return tsr_arithmetic_magnitude(a, p, c->follow, c->follows > 1 ? c->follow + 1 : c->follow, c->follows > 1 ? c->follows - 1 : 1, c->data);
}
static inline int32_t tsr_arithmetic_int(tsr_arithmetic *a, uint16_t *p, const tsr_number_contexts *c)
{
    const int32_t value = (int32_t)tsr_arithmetic_uint(a, p, c);
    return value && tsr_arithmetic_bit(a, &p[c->sign]) ? -value : value;
}

#endif
