/* device/bytes.h: words put together of the bytes of others. Included by .cu files that keep several numbers in a word. */
#ifndef TSR_DEVICE_BYTES_H
#define TSR_DEVICE_BYTES_H

#include "device/kernel.h"

/* Four bytes of low (0 to 3) and high (4 to 7), a digit of SELECTOR each, the lowest byte's last; 8 more: eight times the sign of that byte. */
template <uint32_t SELECTOR> TSR_DEVICE_FN uint32_t tsr_bytes(uint32_t low, uint32_t high)
{
#if defined TSR_EMU
    const uint64_t both = (uint64_t)high << 32 | low;
    uint32_t v = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t digit = SELECTOR >> 4 * k & 15u, byte = (uint32_t)(both >> (digit & 7u) * 8) & 0xffu;
        v |= (digit & 8u ? (byte >> 7) * 0xffu : byte) << 8 * k;
    }
#else
    uint32_t v;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(low), "r"(high), "n"(SELECTOR));
#endif
    return v;
}

#endif
