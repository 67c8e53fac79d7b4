/* core/mix.h: random-looking numbers made of the bits of others. */
#ifndef TSR_CORE_MIX_H
#define TSR_CORE_MIX_H

#include "core/hd.h"

#define TSR_GOLDEN_STEP UINT64_C(0x9e3779b97f4a7c15) /* 2^64 over the golden ratio: multiples of it lie far from each other */

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the word reaches every bit, no two words become the same. */
TSR_HD uint64_t tsr_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
