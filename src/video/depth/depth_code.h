/* video/depth/depth_code.h: what one number of a depth film is coded as. docs/formats/tdf.md is normative. */
#ifndef TSR_VIDEO_DEPTH_DEPTH_CODE_H
#define TSR_VIDEO_DEPTH_DEPTH_CODE_H

#include <stdint.h>

enum {
    TSR_DEPTH_DIRECT = 8,                  /* folded numbers below are tokens themselves */
    TSR_DEPTH_TOKENS = 34,                 /* of 16 bits: two an octave from there on */
    TSR_DEPTH_LEVELS = 8,                  /* contexts of a sample with all its neighbours: how far the row above was from what was expected */
    TSR_DEPTH_NO_ABOVE = TSR_DEPTH_LEVELS, /* the sample on the left is there, the two above are not both */
    TSR_DEPTH_FIRST,                       /* of a run, with a sample above */
    TSR_DEPTH_LONELY,                      /* of a run, with none */
    TSR_DEPTH_EDGE,                        /* the first of four contexts of ends of runs */
    TSR_DEPTH_CONTEXTS = TSR_DEPTH_EDGE + 4,
    TSR_DEPTH_TOKEN_BITS = 6, /* a token in its context, as one number: context << 6 | token */
    TSR_DEPTH_SYMBOLS = TSR_DEPTH_CONTEXTS << TSR_DEPTH_TOKEN_BITS,
    TSR_DEPTH_LANES = 4, /* states of rANS: number k of a batch takes state k % 4 */
    TSR_DEPTH_BITS = 11,
    TSR_DEPTH_SLOTS = 1 << TSR_DEPTH_BITS
};
#define TSR_DEPTH_LEAST 65536u /* of a state between two steps */

/* A token of frequency f: floor(x / f) is the upper half of x * reciprocal (of f = 1 that is x - 1: what is missing stands in `first`). Exact for x below
 * 2^32. most: the greatest state that takes it without a word put out before; rest: SLOTS - f. */
typedef struct tsr_depth_share {
    uint64_t reciprocal;
    uint32_t most;
    uint16_t first, rest;
} tsr_depth_share;
static inline tsr_depth_share tsr_depth_share_of(uint32_t frequency, uint32_t first)
{
    const uint32_t f = frequency, rest = TSR_DEPTH_SLOTS - f;
    return (tsr_depth_share){ f > 1 ? UINT64_MAX / f + 1 : UINT64_MAX, (uint32_t)(((uint64_t)f << (32 - TSR_DEPTH_BITS)) - 1),
                              (uint16_t)(first + (f == 1 ? rest : 0)), (uint16_t)rest };
}

typedef enum tsr_depth_predictor { TSR_DEPTH_PLANE = 0, TSR_DEPTH_MEDIAN, TSR_DEPTH_PREDICTORS } tsr_depth_predictor;

/* All numbers are those of 16 bits, modulo 2^16: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
static inline uint32_t tsr_depth_fold(uint32_t v)
{
    const uint32_t negative = 0u - (v >> 15 & 1);
    return (v << 1 ^ negative) & 0xffff;
}
static inline uint32_t tsr_depth_unfold(uint32_t folded) { return (folded >> 1 ^ (0u - (folded & 1))) & 0xffff; }

/* Bits below a token, and the least folded number that has it. */
static inline uint32_t tsr_depth_plain(uint32_t token) { return token < TSR_DEPTH_DIRECT ? 0 : (token - TSR_DEPTH_DIRECT) / 2 + 2; }
static inline uint32_t tsr_depth_base(uint32_t token) { return token < TSR_DEPTH_DIRECT ? token : (2 + (token & 1)) << tsr_depth_plain(token); }
static inline uint32_t tsr_depth_token(uint32_t folded)
{
    if (folded < TSR_DEPTH_DIRECT) return folded;
    const uint32_t octave = 31 - (uint32_t)__builtin_clz(folded);
    return TSR_DEPTH_DIRECT + 2 * (octave - 3) + (folded >> (octave - 1) & 1);
}

/* Of the tokens above, twice, above on the left and above on the right (0 where there is no sample). */
static inline uint32_t tsr_depth_level(uint32_t sum)
{
    return (uint32_t)(sum >= 1) + (uint32_t)(sum >= 2) + (uint32_t)(sum >= 4) + (uint32_t)(sum >= 7) + (uint32_t)(sum >= 12) + (uint32_t)(sum >= 20) +
           (uint32_t)(sum >= 32);
}

/* What is expected of a sample with those on its left (a), above (b) and above on the left (c). */
static inline int32_t tsr_depth_median(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a, plane = a + b - c;
    return plane < low ? low : plane > high ? high : plane;
}
static inline int32_t tsr_depth_expected(int predictor, int32_t a, int32_t b, int32_t c)
{
    return predictor == TSR_DEPTH_PLANE ? a + b - c : tsr_depth_median(a, b, c);
}

/* Of the end of a run at `expected` (`width`: the row's end): did the one before it in the row differ from what was expected of it? */
static inline uint32_t tsr_depth_edge_context(int at_end, int differed) { return TSR_DEPTH_EDGE + 2 * (uint32_t)at_end + (uint32_t)differed; }

/* Values, 0 where there is none, to numbers in steps of `step` = 2 e + 1, and back: no further than e from what they were. */
static inline uint32_t tsr_depth_restore(uint32_t number, uint32_t step)
{
    const uint32_t v = number ? (number - 1) * step + (step + 1) / 2 : 0;
    return v < 65535 ? v : 65535;
}

#endif
