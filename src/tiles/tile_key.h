/* tiles/tile_key.h: keys of tiles, the coordinates of a tile in one word that sorts as tiles do, and how lists keep them.
 *
 * A key has 64 bits: 21 per axis, biased, z most significant. All arithmetic on keys, neighbours and searches included, is in this form. A list may keep
 * its keys in 32 bits (docs/theory/tiles.md 1): 10 bits per axis, counted from the first tile of a box of 1024^3 tiles. As they
 * are widened before anything is added to them, no borrow runs from one axis into the next, and the whole box can be used. */
#ifndef TSR_TILES_TILE_KEY_H
#define TSR_TILES_TILE_KEY_H

#include "tiles/tile_code.h"

#define TSR_KEY_END UINT64_MAX
enum { TSR_KEY_BITS = 21, TSR_KEY_BIAS = 1 << 20 };

TSR_HD uint64_t tsr_key_make(int32_t x, int32_t y, int32_t z)
{
    return ((uint64_t)(uint32_t)(z + TSR_KEY_BIAS) << 42) | ((uint64_t)(uint32_t)(y + TSR_KEY_BIAS) << 21) | (uint64_t)(uint32_t)(x + TSR_KEY_BIAS);
}
TSR_HD int32_t tsr_key_x(uint64_t key) { return (int32_t)(key & 0x1fffffu) - TSR_KEY_BIAS; }
TSR_HD int32_t tsr_key_y(uint64_t key) { return (int32_t)((key >> 21) & 0x1fffffu) - TSR_KEY_BIAS; }
TSR_HD int32_t tsr_key_z(uint64_t key) { return (int32_t)((key >> 42) & 0x1fffffu) - TSR_KEY_BIAS; }

TSR_HD int32_t tsr_direction_x(int32_t i) { return i % 3 - 1; }
TSR_HD int32_t tsr_direction_y(int32_t i) { return i / 3 % 3 - 1; }
TSR_HD int32_t tsr_direction_z(int32_t i) { return i / 9 - 1; }

/* key + this = key of the neighbour in direction i, no carry as long as coordinates stay one tile away from the limits. */
TSR_HD int64_t tsr_key_offset(int32_t i)
{
    return (int64_t)tsr_direction_z(i) * ((int64_t)1 << 42) + (int64_t)tsr_direction_y(i) * ((int64_t)1 << 21) + tsr_direction_x(i);
}

/* First entry of keys[0..count) that is >= key. */
TSR_HD int32_t tsr_key_lower_bound(const uint64_t *keys, int32_t count, uint64_t key)
{
    int32_t low = 0;
    while (count > 0) {
        int32_t half = count >> 1;
        if (keys[low + half] < key) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* ---- 32 bits ------------------------------------------------------------------------------------------------------------------------- */

enum { TSR_SHORT_BITS = 10, TSR_SHORT_TILES = 1 << TSR_SHORT_BITS };
#define TSR_SHORT_END UINT32_MAX

/* The 32-bit form of a key in the box whose first tile has the key `first`, and back; the end of a list stays the end. */
TSR_HD uint32_t tsr_key_shorten(uint64_t first, uint64_t key)
{
    const uint64_t at = key - first; /* three numbers below 1024: nothing is borrowed */
    return key == TSR_KEY_END ? TSR_SHORT_END : (uint32_t)(at >> 42) << 20 | (uint32_t)(at >> 21 & 1023u) << 10 | (uint32_t)(at & 1023u);
}
TSR_HD uint64_t tsr_key_widen(uint64_t first, uint32_t key)
{
    return key == TSR_SHORT_END ? TSR_KEY_END : first + ((uint64_t)(key >> 20) << 42 | (uint64_t)(key >> 10 & 1023u) << 21 | (key & 1023u));
}
/* Is the tile in the box? */
TSR_HD int tsr_key_in_box(uint64_t first, uint64_t key)
{
    const int32_t x = tsr_key_x(key) - tsr_key_x(first), y = tsr_key_y(key) - tsr_key_y(first), z = tsr_key_z(key) - tsr_key_z(first);
    return ((x | y | z) & ~(TSR_SHORT_TILES - 1)) == 0;
}
/* For searches: keys of the box before `key`, which may lie anywhere, are below this number in their 32-bit form, all others are not. */
TSR_HD uint32_t tsr_key_bound(uint64_t first, uint64_t key)
{
    const int32_t x = tsr_key_x(key) - tsr_key_x(first), y = tsr_key_y(key) - tsr_key_y(first), z = tsr_key_z(key) - tsr_key_z(first);
    if (z < 0) return 0;
    if (z >= TSR_SHORT_TILES) return TSR_SHORT_END;
    if (y < 0) return (uint32_t)z << 20;
    if (y >= TSR_SHORT_TILES) return (uint32_t)(z + 1) << 20;
    return ((uint32_t)z << 20) + ((uint32_t)y << 10) + (uint32_t)(x < 0 ? 0 : x < TSR_SHORT_TILES ? x : TSR_SHORT_TILES);
}

/* ---- keys as a list keeps them ---------------------------------------------------------------------------------------------------------- */

typedef struct tsr_keys {
    void *at;       /* uint64_t, or uint32_t */
    uint64_t first; /* 32 bits: key of the first tile of their box; 64 bits: 0, which is no tile's key */
} tsr_keys;

TSR_HD tsr_keys tsr_keys_of(void *at, uint64_t first)
{
    tsr_keys k;
    k.at = at;
    k.first = first;
    return k;
}
/* An array of 64-bit keys, to be read. */
TSR_HD tsr_keys tsr_keys_wide(const uint64_t *keys)
{
    union {
        const uint64_t *from;
        void *to;
    } same;
    same.from = keys;
    return tsr_keys_of(same.to, 0);
}
TSR_HD uint64_t tsr_key_at(tsr_keys k, int64_t i)
{
    return k.first ? tsr_key_widen(k.first, ((const uint32_t *)k.at)[i]) : ((const uint64_t *)k.at)[i];
}
/* The key lies in the box. */
TSR_HD void tsr_key_put(tsr_keys k, int64_t i, uint64_t key)
{
    if (k.first) ((uint32_t *)k.at)[i] = tsr_key_shorten(k.first, key);
    else ((uint64_t *)k.at)[i] = key;
}
/* The keys from the i-th on. */
TSR_HD tsr_keys tsr_keys_from(tsr_keys k, int64_t i) { return tsr_keys_of((char *)k.at + i * (k.first ? 4 : 8), k.first); }

/* First entry of the first `count` that is >= key. */
TSR_HD int32_t tsr_keys_lower_bound(tsr_keys k, int32_t count, uint64_t key)
{
    if (!k.first) return tsr_key_lower_bound((const uint64_t *)k.at, count, key);
    const uint32_t *keys = (const uint32_t *)k.at, bound = tsr_key_bound(k.first, key);
    int32_t low = 0;
    while (count > 0) {
        int32_t half = count >> 1;
        if (keys[low + half] < bound) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

#endif
