/* video/dirac/bits.h: bits, most significant first, and interleaved exp-Golomb codes.
 *
 * Past `end` every bit is 1, so that a bounded block that ends early goes on with zeros. Memory must be readable TSR_BITS_SLACK bytes beyond the
 * last bit. */
#ifndef TSR_VIDEO_DIRAC_BITS_H
#define TSR_VIDEO_DIRAC_BITS_H

#include <stdint.h>
#include <string.h>

#include "core/hd.h"

enum { TSR_BITS_SLACK = 16 };

typedef struct tsr_bits {
    const uint8_t *data;
    int64_t at, end; /* bits; `at` may pass `end` */
} tsr_bits;

/* The next 64 bits, of which at least the first 57 count. */
static inline uint64_t tsr_bits_peek(const tsr_bits *b)
{
    const int64_t left = b->end - b->at;
    if (left <= 0) return UINT64_MAX;
    uint64_t word;
    memcpy(&word, b->data + (b->at >> 3), sizeof word);
    word = __builtin_bswap64(word) << (b->at & 7);
    return left < 64 ? word | UINT64_MAX >> left : word;
}

static inline uint32_t tsr_bits_take(tsr_bits *b, int count) /* 0 to 32 */
{
    const uint64_t word = tsr_bits_peek(b);
    b->at += count;
    return count ? (uint32_t)(word >> (64 - count)) : 0;
}
static inline int tsr_bits_flag(tsr_bits *b) { return (int)tsr_bits_take(b, 1); }
static inline void tsr_bits_align(tsr_bits *b) { b->at = (b->at + 7) & ~(int64_t)7; }
static inline int tsr_bits_over(const tsr_bits *b) { return b->at > b->end; }

/* Every other bit of x, from the lowest, drawn together. */
TSR_HD uint32_t tsr_bits_even(uint64_t x)
{
    x &= 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(x | x >> 16);
}
/* The same of 32 bits. */
TSR_HD uint32_t tsr_bits_even_short(uint32_t x)
{
    x &= 0x55555555u;
    x = (x | x >> 1) & 0x33333333u;
    x = (x | x >> 2) & 0x0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ffu;
    return (x | x >> 8) & 0x0000ffffu;
}

/* Unsigned: continue bit 0 and a data bit, again and again; 1 ends. Values from 2^32 - 1 on come as UINT32_MAX. */
static inline uint32_t tsr_bits_uint(tsr_bits *b)
{
    const uint64_t word = tsr_bits_peek(b);
    if (word >> 63) return b->at++, 0;
    const uint64_t follow = word & 0xaaaaaaaaaaaaaaaau;
    const int digits = follow ? __builtin_clzll(follow) / 2 : 32;
    if (digits <= 28) {
        b->at += 2 * digits + 1;
        return (1u << digits | tsr_bits_even(word >> (64 - 2 * digits))) - 1;
    }
    uint64_t value = 1;
    int over = 0;
    while (!tsr_bits_flag(b)) {
        value = value << 1 | (uint64_t)tsr_bits_flag(b);
        if (value >> 32) over = 1, value = 1; /* goes on to the code's end */
    }
    return over ? UINT32_MAX : (uint32_t)(value - 1);
}

/* Signed: the magnitude, then, unless it is 0, a bit that is 1 for negative. Clamped to +-INT32_MAX. */
static inline int32_t tsr_bits_int(tsr_bits *b)
{
    const uint32_t magnitude = tsr_bits_uint(b);
    if (!magnitude) return 0;
    const int32_t value = magnitude > INT32_MAX ? INT32_MAX : (int32_t)magnitude;
    return tsr_bits_flag(b) ? -value : value;
}

#endif
