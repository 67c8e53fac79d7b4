/* surface/sides.h: on which side of the isovalue a sample lies. */
#ifndef TSR_SURFACE_SIDES_H
#define TSR_SURFACE_SIDES_H

#include <stdint.h>

#include "core/hd.h"

/* Side of a sample: integers (v >= t) != invert, which also expresses "always" and "never"; reals so that NaN is outside both ways. */
typedef struct tsr_side {
    int32_t below, invert;
    int64_t i;
    uint64_t u;
    float f;
    double d;
} tsr_side;
#define TSR_SIDE_INTEGER(v, t, invert) ((int)((v) >= (t)) ^ (invert))
#define TSR_SIDE_REAL(v, t, below) ((below) ? (v) < (t) : (v) >= (t))

/* Sides of the four bytes or two 16-bit numbers of a word: the bits of each below its top one are compared by a subtraction that cannot borrow from the next,
 * the top bits decide where they differ. Signed numbers compare as unsigned ones with the top bit turned. */
typedef struct tsr_side_packed {
    uint32_t turn, low, either, invert; /* invert: of the bits of 16 bytes */
} tsr_side_packed;
TSR_HD tsr_side_packed tsr_side_packed_of(uint32_t threshold /* of signed numbers + half the range */, uint32_t bits, int with_sign, int invert)
{
    const uint32_t each = bits == 8 ? 0x01010101u : 0x00010001u, top = 1u << (bits - 1);
    const tsr_side_packed s = { with_sign ? top * each : 0, (threshold & (top - 1u)) * each, threshold < top ? 0xffffffffu : 0,
                                invert ? (bits == 8 ? 0xffffu : 0xffu) : 0 };
    return s;
}
/* The top bit of every number: is it at or above the threshold? */
TSR_HD uint32_t tsr_side_tops(tsr_side_packed s, uint32_t word, uint32_t tops)
{
    const uint32_t v = word ^ s.turn, reached = (v | tops) - s.low;
    return ((v & reached) | ((v | reached) & s.either)) & tops; /* v >= t: both top bits, or for t < half the range one of them */
}
/* The sides of four bytes, as four bits, before they are inverted. */
TSR_HD uint32_t tsr_side_of_bytes(tsr_side_packed s, uint32_t four)
{
    return tsr_side_tops(s, four, 0x80808080u) * 0x00204081u >> 28; /* bits 7 15 23 31 to 28 29 30 31; the products do not meet */
}
/* Of eight 16-bit numbers, as eight bits. */
TSR_HD uint32_t tsr_side_of_halves(tsr_side_packed s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t tops = 0x80008000u, both = tsr_side_tops(s, a, tops) >> 15 | tsr_side_tops(s, b, tops) >> 13 | tsr_side_tops(s, c, tops) >> 11 |
                                              tsr_side_tops(s, d, tops) >> 9; /* the lower ones at 0 2 4 6, the upper ones at 16 18 20 22 */
    return (both | both >> 15) & 255u;
}

#endif
