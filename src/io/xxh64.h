/* io/xxh64.h: the 64-bit xxHash (Yann Collet; specification in xxHash's doc/xxhash_spec.md): a fast checksum against damage, not against intent. */
#ifndef TSR_IO_XXH64_H
#define TSR_IO_XXH64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "io/bytes.h"

#define TSR_XXH_1 0x9e3779b185ebca87ull
#define TSR_XXH_2 0xc2b2ae3d27d4eb4full
#define TSR_XXH_3 0x165667b19e3779f9ull
#define TSR_XXH_4 0x85ebca77c2b2ae63ull
#define TSR_XXH_5 0x27d4eb2f165667c5ull

static inline uint64_t tsr_xxh_rotate(uint64_t v, int by) { return v << by | v >> (64 - by); }
static inline uint64_t tsr_xxh_round(uint64_t lane, uint64_t input) { return tsr_xxh_rotate(lane + input * TSR_XXH_2, 31) * TSR_XXH_1; }
static inline uint64_t tsr_xxh_merge(uint64_t h, uint64_t lane) { return (h ^ tsr_xxh_round(0, lane)) * TSR_XXH_1 + TSR_XXH_4; }

static inline uint64_t tsr_xxh64(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *p = (const uint8_t *)bytes, *end = p + size;
    uint64_t h;
    if (size >= 32) {
        uint64_t a = seed + TSR_XXH_1 + TSR_XXH_2, b = seed + TSR_XXH_2, c = seed, d = seed - TSR_XXH_1;
        for (; end - p >= 32; p += 32) {
            a = tsr_xxh_round(a, tsr_get_u64(p));
            b = tsr_xxh_round(b, tsr_get_u64(p + 8));
            c = tsr_xxh_round(c, tsr_get_u64(p + 16));
            d = tsr_xxh_round(d, tsr_get_u64(p + 24));
        }
        h = tsr_xxh_rotate(a, 1) + tsr_xxh_rotate(b, 7) + tsr_xxh_rotate(c, 12) + tsr_xxh_rotate(d, 18);
        h = tsr_xxh_merge(tsr_xxh_merge(tsr_xxh_merge(tsr_xxh_merge(h, a), b), c), d);
    } else {
        h = seed + TSR_XXH_5;
    }
    h += (uint64_t)size;
    for (; end - p >= 8; p += 8) h = tsr_xxh_rotate(h ^ tsr_xxh_round(0, tsr_get_u64(p)), 27) * TSR_XXH_1 + TSR_XXH_4;
    for (; end - p >= 4; p += 4) h = tsr_xxh_rotate(h ^ tsr_get_u32(p) * TSR_XXH_1, 23) * TSR_XXH_2 + TSR_XXH_3;
    for (; p < end; p++) h = tsr_xxh_rotate(h ^ *p * TSR_XXH_5, 11) * TSR_XXH_1;
    h = (h ^ h >> 33) * TSR_XXH_2;
    h = (h ^ h >> 29) * TSR_XXH_3;
    return h ^ h >> 32;
}

#endif
