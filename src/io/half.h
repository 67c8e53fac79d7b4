/* io/half.h: floats of 16 bits (IEEE 754 binary16), as files hold them. Exact class: every half is a float32, and rounding is to nearest even. */
#ifndef TSR_IO_HALF_H
#define TSR_IO_HALF_H

#include <stdint.h>
#include <string.h>

#include "core/hd.h"

TSR_HD float tsr_half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
    uint32_t bits = (rest << 13) + 0x38000000u; /* another bias of the exponent */
    float f;
    if (rest >= 0x7c00u) bits += 0x38000000u; /* infinite, or not a number */
    memcpy(&f, &bits, 4);
    if (rest < 0x0400u) f = (float)rest * 0x1p-24f; /* subnormal or 0 */
    memcpy(&bits, &f, 4);
    bits |= sign;
    memcpy(&f, &bits, 4);
    return f;
}

TSR_HD uint16_t tsr_half_from_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (bits >> 13 & 0x1ffu)); /* not a number stays so */
    if (bits >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);                        /* 65520 and more */
    if (bits < 0x38800000u) {                                                          /* below 2^-14: the sum rounds to steps of 2^-24 */
        float small, magic = 0.5f;
        memcpy(&small, &bits, 4);
        small += magic;
        memcpy(&bits, &small, 4);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)(sign | ((bits - 0x38000000u) >> 13));
}

#endif
