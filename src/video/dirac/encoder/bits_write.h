/* video/dirac/encoder/bits_write.h: the counterpart of bits.h: bits into memory, most significant first, and the lengths of codes. */
#ifndef TSR_VIDEO_DIRAC_BITS_WRITE_H
#define TSR_VIDEO_DIRAC_BITS_WRITE_H

#include <stdint.h>
#include <string.h>

#include "core/hd.h"

/* Writes whole words ahead: memory must be writable 8 bytes beyond the last bit. */
typedef struct tsr_bits_out {
    uint8_t *at;
    uint64_t word; /* `filled` bits, at its low end */
    int32_t filled;
} tsr_bits_out;

/* The low `count` bits of v, 0 to 56; the others must be 0. */
static inline void tsr_bits_put(tsr_bits_out *b, uint64_t v, int32_t count)
{
    b->word = b->word << count | v; /* what is shifted out was written before */
    b->filled += count;
    const uint64_t out = __builtin_bswap64(b->word << 1 << (63 - b->filled)); /* even where no byte is full: nothing to be guessed wrongly */
    memcpy(b->at, &out, 8);
    b->at += b->filled >> 3;
    b->filled &= 7;
}

/* To the next byte, with 1s: a reader that goes on sees zeros. */
static inline void tsr_bits_finish(tsr_bits_out *b)
{
    if (b->filled) tsr_bits_put(b, 0xffu >> b->filled, 8 - b->filled);
}

/* Pairs of bits in the code of a magnitude. */
TSR_HD int32_t tsr_code_digits(uint32_t magnitude)
{
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)(magnitude + 1)); /* there magnitudes are those of 32 bits with a sign */
#else
    return 63 - __builtin_clzll((uint64_t)magnitude + 1);
#endif
}

/* Bits of the code of a magnitude, without sign. */
TSR_HD int32_t tsr_code_bits(uint32_t magnitude) { return 2 * tsr_code_digits(magnitude) + 1; }

/* Every other bit of the result from the lowest on: the bits of x. */
TSR_HD uint64_t tsr_code_spread(uint32_t x)
{
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}
/* The same of 16 bits. */
TSR_HD uint32_t tsr_code_spread_short(uint32_t x)
{
    uint32_t v = (x | x << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

static inline void tsr_bits_put_uint(tsr_bits_out *b, uint32_t magnitude)
{
    const int32_t bits = tsr_code_bits(magnitude), digits = bits / 2;
    const uint64_t data = ((uint64_t)magnitude + 1) & (((uint64_t)1 << digits) - 1);
    /* data bits behind their continue bits (0), then a 1 */
    const uint64_t code = tsr_code_spread((uint32_t)data) << 1 | 1;
    if (bits > 40) {
        tsr_bits_put(b, code >> 40, bits - 40);
        tsr_bits_put(b, code & 0xffffffffffu, 40);
    } else tsr_bits_put(b, code, bits);
}

static inline void tsr_bits_put_int(tsr_bits_out *b, int32_t value)
{
    tsr_bits_put_uint(b, value < 0 ? (uint32_t) - (int64_t)value : (uint32_t)value);
    if (value) tsr_bits_put(b, value < 0, 1);
}

#endif
