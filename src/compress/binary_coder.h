/* compress/binary_coder.h: adaptive binary arithmetic coding with mixed predictions. Integers only: the same bits everywhere.
 *
 * One text serves both directions: a model calls tsr_code_bit with the bit to encode, or with anything when it decodes, and gets the bit. A
 * stream may be cut where the decoder has read what it needs (tsr_coder_needed): bytes beyond the end read as 0. */
#ifndef TSR_COMPRESS_BINARY_CODER_H
#define TSR_COMPRESS_BINARY_CODER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TSR_ALWAYS_INLINE static inline __attribute__((always_inline))

enum { TSR_MIX_INPUTS = 4, TSR_MIX_ONE = 1 << 16, TSR_CODER_AHEAD = 4 };

typedef struct tsr_coder {
    uint32_t low, high, code; /* the interval, both ends included */
    uint8_t *bytes;           /* encoder: grows; decoder: borrowed, never written */
    size_t used, room;        /* written or read; room: of the buffer, or the end of the stream */
    int failed;               /* out of memory */
    int16_t stretch[4096];    /* ln(p / (1 - p)) of 12-bit p, 8 bits of fraction */
} tsr_coder;

/* Probability (12 bits) of a log odds with 8 bits of fraction: 4096 / (1 + e^-x) between nodes half a unit apart. */
static inline int32_t tsr_squash(int32_t x)
{
    static const int16_t node[34] = { 1,    2,    4,    6,    10,   17,   27,   45,   74,   120,  194,  311,  488,  747,  1102, 1546, 2048,
                                      2550, 2994, 3349, 3608, 3785, 3902, 3976, 4022, 4051, 4069, 4079, 4086, 4090, 4092, 4094, 4095, 4095 };
    if (x > 2047) return 4095;
    if (x < -2047) return 1;
    int32_t at = x + 2048, k = at >> 7, part = at & 127;
    return (node[k] * (128 - part) + node[k + 1] * part + 64) >> 7;
}

static inline void tsr_coder_start(tsr_coder *c)
{
    c->low = 0;
    c->high = UINT32_MAX;
    c->code = 0;
    c->used = 0;
    c->failed = 0;
    int32_t next = 0;
    for (int32_t x = -2047; x <= 2047; x++) /* the inverse of tsr_squash */
        for (int32_t p = tsr_squash(x); next <= p; next++) c->stretch[next] = (int16_t)x;
    for (; next < 4096; next++) c->stretch[next] = 2047;
}

static inline void tsr_coder_write(tsr_coder *c)
{
    tsr_coder_start(c);
    c->bytes = NULL;
    c->room = 0;
}

static inline uint8_t tsr_coder_next(tsr_coder *c)
{
    const size_t at = c->used++;
    return at < c->room ? c->bytes[at] : 0;
}

/* BORROWS `bytes`, which are not written. */
static inline void tsr_coder_read(tsr_coder *c, const uint8_t *bytes, size_t size)
{
    tsr_coder_start(c);
    memcpy(&c->bytes, &bytes, sizeof bytes);
    c->room = size;
    for (int k = 0; k < TSR_CODER_AHEAD; k++) c->code = c->code << 8 | tsr_coder_next(c);
}

static inline void tsr_coder_put(tsr_coder *c, uint8_t byte)
{
    if (c->used == c->room) {
        size_t room = c->room ? 2 * c->room : 4096;
        uint8_t *grown = c->failed ? NULL : (uint8_t *)realloc(c->bytes, room);
        if (!grown) {
            c->failed = 1;
            c->used = 0; /* keeps the loop going without memory; the result is thrown away */
            if (!c->room) return;
        } else {
            c->bytes = grown;
            c->room = room;
        }
    }
    c->bytes[c->used++] = byte;
}

/* Bytes after which a decoder knows every bit coded so far. */
static inline size_t tsr_coder_needed(const tsr_coder *c) { return c->used + TSR_CODER_AHEAD; }

static inline void tsr_coder_finish(tsr_coder *c)
{
    for (int k = 0; k < TSR_CODER_AHEAD; k++, c->low <<= 8) tsr_coder_put(c, (uint8_t)(c->low >> 24));
}

/* One bit that is 1 with probability p / 65536, 0 < p < 65536. */
TSR_ALWAYS_INLINE int tsr_code_bit(tsr_coder *c, uint32_t p, int bit, const int decoding)
{
    const uint32_t middle = c->low + (uint32_t)((uint64_t)(c->high - c->low) * p >> 16);
    if (decoding) bit = c->code <= middle;
    if (bit) c->high = middle;
    else c->low = middle + 1;
    while (!((c->low ^ c->high) >> 24)) {
        if (decoding) c->code = c->code << 8 | tsr_coder_next(c);
        else tsr_coder_put(c, (uint8_t)(c->high >> 24));
        c->low <<= 8;
        c->high = c->high << 8 | 255;
    }
    return bit;
}

/* `count` equally likely bits, highest first. */
TSR_ALWAYS_INLINE uint32_t tsr_code_plain(tsr_coder *c, uint32_t value, int count, const int decoding)
{
    uint32_t got = 0;
    for (int k = count - 1; k >= 0; k--) got = got << 1 | (uint32_t)tsr_code_bit(c, 1u << 15, (int)(value >> k & 1), decoding);
    return got;
}

/* ---- models ------------------------------------------------------------------------------------------------------------------------------- */

/* Probability of a 1 in 22 bits, and the number of bits seen in the lower 10: the first ones count more. */
typedef uint32_t tsr_bit;
#define TSR_BIT_NEW (1u << 31)

TSR_ALWAYS_INLINE void tsr_bit_learn(tsr_bit *b, int bit, uint32_t most)
{
    const uint32_t seen = *b & 1023, p = *b >> 10;
    static const uint16_t share[256] = {
        32768, 21845, 16384, 13107, 10923, 9362, 8192, 7282, 6554, 5958, 5461, 5041, 4681, 4369, 4096, 3855, 3641, 3449, 3277, 3121, 2979, 2849,
        2731,  2621,  2521,  2427,  2341,  2260, 2185, 2114, 2048, 1986, 1985, 1927, 1872, 1820, 1771, 1724, 1680, 1638, 1598, 1560, 1524, 1489,
        1456,  1424,  1394,  1365,  1337,  1310, 1285, 1260, 1236, 1213, 1191, 1170, 1149, 1129, 1110, 1092, 1074, 1057, 1040, 1024, 1008, 992,
        978,   963,   949,   936,   923,   910,  897,  885,  873,  862,  851,  840,  829,  819,  809,  799,  789,  780,  771,  762,  753,  744,
        736,   728,   720,   712,   704,   697,  689,  682,  675,  668,  661,  655,  648,  642,  636,  630,  624,  618,  612,  606,  601,  595,
        590,   585,   579,   574,   569,   564,  560,  555,  550,  546,  541,  537,  532,  528,  524,  520,  516,  512,  508,  504,  500,  496,
        492,   489,   485,   481,   478,   474,  471,  468,  464,  461,  458,  455,  451,  448,  445,  442,  439,  436,  434,  431,  428,  425,
        422,   420,   417,   414,   412,   409,  407,  404,  402,  399,  397,  394,  392,  390,  387,  385,  383,  381,  378,  376,  374,  372,
        370,   368,   366,   364,   362,   360,  358,  356,  354,  352,  350,  348,  346,  344,  343,  341,  339,  337,  336,  334,  332,  330,
        329,   327,   326,   324,   322,   321,  319,  318,  316,  315,  313,  312,  310,  309,  307,  306,  304,  303,  302,  300,  299,  297,
        296,   295,   293,   292,   291,   289,  288,  287,  286,  284,  283,  282,  281,  280,  278,  277,  276,  275,  274,  273,  271,  270,
        269,   268,   267,   266,   265,   264,  263,  262,  261,  260,  259,  258,  257,  256
    };
    const int64_t target = bit ? (1 << 22) - 1 : 0;
    const int64_t step = (target - (int64_t)p) * (seen < 256 ? share[seen] : 65536 / (seen + 1)) / 65536;
    *b = (uint32_t)((int64_t)p + step) << 10 | (seen < most ? seen + 1 : seen);
}

/* Weights of a mix of TSR_MIX_INPUTS predictions, 16 bits of fraction. */
typedef struct tsr_mix {
    int32_t weight[TSR_MIX_INPUTS];
} tsr_mix;

/* Codes a bit by the mixed predictions of several contexts, all of which then learn it. */
TSR_ALWAYS_INLINE int tsr_code_mixed(tsr_coder *c, tsr_mix *m, tsr_bit *const *context, const int count, uint32_t most, int bit, const int decoding)
{
    int32_t x[TSR_MIX_INPUTS];
    int64_t sum = 0;
    for (int k = 0; k < count; k++) {
        x[k] = c->stretch[*context[k] >> 20];
        sum += (int64_t)x[k] * m->weight[k];
    }
    int64_t odds = sum >> 16;
    int32_t p = tsr_squash(odds > 2047 ? 2047 : odds < -2047 ? -2047 : (int32_t)odds);
    uint32_t fine = (uint32_t)p << 4;
    bit = tsr_code_bit(c, fine, bit, decoding);
    const int32_t error = ((bit << 12) - p) * 10;
    for (int k = 0; k < count; k++) {
        m->weight[k] += (x[k] * error + 512) >> 10;
        tsr_bit_learn(context[k], bit, most);
    }
    return bit;
}

#endif
