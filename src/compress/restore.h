/* compress/restore.h: one step back of jpeg53 on one sample, in 32 bits, or wrapped to 16 as streams say whose values all fit. */
#ifndef TSR_COMPRESS_RESTORE_H
#define TSR_COMPRESS_RESTORE_H

#include "core/hd.h"

/* even = low - floor((before + after + 2) / 4) */
TSR_HD int32_t tsr_restore_even32(int32_t low, int32_t before, int32_t after)
{
    return (int32_t)((uint32_t)low - (uint32_t)(int32_t)(((int64_t)before + after + 2) >> 2));
}
TSR_HD int16_t tsr_restore_even16(int16_t low, int16_t before, int16_t after) { return (int16_t)(low - ((int16_t)(before + after + 2) >> 2)); }
/* odd = high + floor((before + after) / 2) */
TSR_HD int32_t tsr_restore_odd32(int32_t high, int32_t before, int32_t after)
{
    return (int32_t)((uint32_t)high + (uint32_t)(int32_t)(((int64_t)before + after) >> 1));
}
TSR_HD int16_t tsr_restore_odd16(int16_t high, int16_t before, int16_t after) { return (int16_t)(high + ((int16_t)(before + after) >> 1)); }

#endif
