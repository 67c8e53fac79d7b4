/* io/xxh64.h: the 64-bit xxHash (Yann Collet; specification in xxHash's doc/xxhash_spec.md): a fast checksum against damage, not against intent. */
#ifndef TSR_IO_XXH64_H
#define TSR_IO_XXH64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"
#include "io/little_endian.h"

#define TSR_XXH_1 0x9e3779b185ebca87ull
#define TSR_XXH_2 0xc2b2ae3d27d4eb4full
#define TSR_XXH_3 0x165667b19e3779f9ull
#define TSR_XXH_4 0x85ebca77c2b2ae63ull
#define TSR_XXH_5 0x27d4eb2f165667c5ull

TSR_HD uint64_t tsr_xxh_rotate(uint64_t v, int by) { return v << by | v >> (64 - by); }
TSR_HD uint64_t tsr_xxh_round(uint64_t lane, uint64_t input) { return tsr_xxh_rotate(lane + input * TSR_XXH_2, 31) * TSR_XXH_1; }
TSR_HD uint64_t tsr_xxh_merge(uint64_t h, uint64_t lane) { return (h ^ tsr_xxh_round(0, lane)) * TSR_XXH_1 + TSR_XXH_4; }

/* Of bytes that come in parts. */
typedef struct tsr_xxh64_sum {
    uint64_t lane[4], seed, size;
    uint8_t rest[32]; /* size % 32 bytes that no lane has taken */
} tsr_xxh64_sum;

static inline tsr_xxh64_sum tsr_xxh64_begin(uint64_t seed)
{
    tsr_xxh64_sum s;
    memset(&s, 0, sizeof s);
    s.lane[0] = seed + TSR_XXH_1 + TSR_XXH_2;
    s.lane[1] = seed + TSR_XXH_2;
    s.lane[2] = seed;
    s.lane[3] = seed - TSR_XXH_1;
    s.seed = seed;
    return s;
}

static inline const uint8_t *tsr_xxh64_lanes(uint64_t lane[4], const uint8_t *p, size_t stripes)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (const uint8_t *end = p + 32 * stripes; p < end; p += 32) {
        a = tsr_xxh_round(a, tsr_get_u64(p));
        b = tsr_xxh_round(b, tsr_get_u64(p + 8));
        c = tsr_xxh_round(c, tsr_get_u64(p + 16));
        d = tsr_xxh_round(d, tsr_get_u64(p + 24));
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = d;
    return p;
}

static inline void tsr_xxh64_add(tsr_xxh64_sum *s, const void *bytes, size_t size)
{
    const uint8_t *p = (const uint8_t *)bytes;
    const size_t held = (size_t)(s->size % 32);
    if (!size) return;
    s->size += (uint64_t)size;
    if (held) {
        const size_t more = size < 32 - held ? size : 32 - held;
        memcpy(s->rest + held, p, more);
        if (held + more < 32) return;
        (void)tsr_xxh64_lanes(s->lane, s->rest, 1);
        p += more;
        size -= more;
    }
    p = tsr_xxh64_lanes(s->lane, p, size / 32);
    if (size % 32) memcpy(s->rest, p, size % 32);
}

/* The parts of the end: of the lanes, of 8, 4 and 1 bytes that no stripe took, and of all. */
TSR_HD uint64_t tsr_xxh_join(const uint64_t lane[4])
{
    uint64_t h = tsr_xxh_rotate(lane[0], 1) + tsr_xxh_rotate(lane[1], 7) + tsr_xxh_rotate(lane[2], 12) + tsr_xxh_rotate(lane[3], 18);
    for (int k = 0; k < 4; k++) h = tsr_xxh_merge(h, lane[k]);
    return h;
}
TSR_HD uint64_t tsr_xxh_tail8(uint64_t h, uint64_t v) { return tsr_xxh_rotate(h ^ tsr_xxh_round(0, v), 27) * TSR_XXH_1 + TSR_XXH_4; }
TSR_HD uint64_t tsr_xxh_tail4(uint64_t h, uint32_t v) { return tsr_xxh_rotate(h ^ v * TSR_XXH_1, 23) * TSR_XXH_2 + TSR_XXH_3; }
TSR_HD uint64_t tsr_xxh_tail1(uint64_t h, uint8_t v) { return tsr_xxh_rotate(h ^ v * TSR_XXH_5, 11) * TSR_XXH_1; }
TSR_HD uint64_t tsr_xxh_mix(uint64_t h)
{
    h = (h ^ h >> 33) * TSR_XXH_2;
    h = (h ^ h >> 29) * TSR_XXH_3;
    return h ^ h >> 32;
}

static inline uint64_t tsr_xxh64_end(const tsr_xxh64_sum *s)
{
    const uint8_t *p = s->rest, *end = p + s->size % 32;
    uint64_t h = s->seed + TSR_XXH_5;
    if (s->size >= 32) h = tsr_xxh_join(s->lane);
    h += s->size;
    for (; end - p >= 8; p += 8) h = tsr_xxh_tail8(h, tsr_get_u64(p));
    for (; end - p >= 4; p += 4) h = tsr_xxh_tail4(h, tsr_get_u32(p));
    for (; p < end; p++) h = tsr_xxh_tail1(h, *p);
    return tsr_xxh_mix(h);
}

static inline uint64_t tsr_xxh64(const void *bytes, size_t size, uint64_t seed)
{
    tsr_xxh64_sum s = tsr_xxh64_begin(seed);
    tsr_xxh64_add(&s, bytes, size);
    return tsr_xxh64_end(&s);
}

#endif
