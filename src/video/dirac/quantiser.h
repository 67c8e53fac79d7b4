/* video/dirac/quantiser.h: from a quantised value to a coefficient. */
#ifndef TSR_VIDEO_DIRAC_QUANTISER_H
#define TSR_VIDEO_DIRAC_QUANTISER_H

#include <stdint.h>

#include "core/hd.h"

enum { TSR_QUANTISER_MOST = 127 }; /* beyond it every coefficient but 0 is out of range */

/* 4 times the step of a quantiser index: a factor of 2 every 4 indices. */
TSR_HD uint64_t tsr_quantiser_factor(int32_t index)
{
    const uint64_t b = (uint64_t)1 << index / 4;
    switch (index % 4) {
    case 0: return 4 * b;
    case 1: return (503829 * b + 52958) / 105917;
    case 2: return (665857 * b + 58854) / 117708;
    default: return (440253 * b + 32722) / 65444;
    }
}

/* Where in its step a value is put back: intra pictures and slices; inter pictures lean to 0. */
TSR_HD uint64_t tsr_quantiser_offset(int32_t index, int inter)
{
    const uint64_t factor = tsr_quantiser_factor(index);
    if (index == 0) return 1;
    if (inter) return (3 * factor + 4) / 8;
    return index == 1 ? 2 : (factor + 1) / 2;
}

typedef struct tsr_quantiser {
    uint64_t factor, offset; /* offset + 2 */
} tsr_quantiser;

TSR_HD tsr_quantiser tsr_quantiser_make(int32_t index, int inter)
{
    tsr_quantiser q;
    const int32_t i = index < TSR_QUANTISER_MOST ? index : TSR_QUANTISER_MOST;
    q.factor = tsr_quantiser_factor(i);
    q.offset = tsr_quantiser_offset(i, inter) + 2;
    return q;
}

/* Clamped to +-INT32_MAX. */
TSR_HD int32_t tsr_quantiser_inverse(tsr_quantiser q, int32_t value)
{
    const uint64_t magnitude = value < 0 ? 0u - (uint64_t)(int64_t)value : (uint64_t)value;
    if (!magnitude) return 0;
    if (magnitude >> 29 && q.factor >> 5) return value < 0 ? -INT32_MAX : INT32_MAX; /* 2^29 * 2^5 / 4 is beyond; factors are below 2^34 */
    const uint64_t whole = (magnitude * q.factor + q.offset) >> 2;
    const int32_t clamped = whole > INT32_MAX ? INT32_MAX : (int32_t)whole;
    return value < 0 ? -clamped : clamped;
}

/* Forward, towards 0. `scale` of an index; index 0 changes nothing. */
TSR_HD uint64_t tsr_quantiser_scale(int32_t index) { return ((uint64_t)1 << 34) / tsr_quantiser_factor(index); }
TSR_HD uint32_t tsr_quantiser_scaled(uint64_t scale, uint32_t magnitude) { return (uint32_t)(magnitude * scale >> 32); }
TSR_HD uint32_t tsr_magnitude(int32_t value) { return value < 0 ? 0u - (uint32_t)value : (uint32_t)value; }
TSR_HD uint32_t tsr_quantiser_magnitude(uint64_t scale, int32_t value) { return tsr_quantiser_scaled(scale, tsr_magnitude(value)); }

#endif
