/* tiles/tile_pool.h: the data of a sorted tile list as every backend sees it, and the arithmetic on keys, areas and signs.
 *
 * Tiles are numbered by stable ids. Ids 0 and 1 are the two static tiles, OUTSIDE (+band) and INSIDE (-band), present in memory so
 * that a kernel reads a missing neighbour like any other: the neighbour table holds 0 or 1 there, which is also the border flag of
 * the source. Everything that changes from step to step (count, which buffer is current) lies in `state` on the device, so that a
 * recorded graph of steps needs no argument of the host.
 *
 * Direction index of d in {-1,0,1}^3: 9 (dz+1) + 3 (dy+1) + (dx+1); middle 13; reverse of i: 26 - i. The same numbers name the 27
 * areas of a tile (guard bands one voxel wide): area -1 of an axis is its first voxel, +1 its last. */
#ifndef TSR_TILES_TILE_POOL_H
#define TSR_TILES_TILE_POOL_H

#include "tiles/tile_key.h"

enum { TSR_TILE_OUTSIDE = 0, TSR_TILE_INSIDE = 1, TSR_TILE_FIRST = 2, TSR_TILE_MIDDLE = 13, TSR_TILE_DIRECTIONS = 27 };
enum { TSR_NEIGHBOUR_ROW = 32 }; /* u32 per tile in the neighbour table: 27 ids, rest unused, one 128-byte line */

/* Activity word of a tile: bits 0-26 areas with a voxel in the band (or beside a sign change), bit 27 class when those are 0. */
#define TSR_ACTIVITY_AREAS 0x07ffffffu
#define TSR_ACTIVITY_OUTSIDE (1u << 27) /* class: all voxels are +band */
/* Of lists on a GPU, where others write words without these: a management pass has seen to it that the tiles which these areas ask for are there
 * (tsr_activity_word), and: the tile was created by the last pass or insertion, and nothing was computed of it since. */
#define TSR_ACTIVITY_SETTLED (1u << 28)
#define TSR_ACTIVITY_CREATED (1u << 29)

typedef struct tsr_tile_state {
    int32_t count;            /* entries in the current list */
    int32_t list;             /* which of key[2], id[2] is current */
    int32_t phi;              /* which of phi[2] is current */
    int32_t free_count;       /* ids on the stack */
    int32_t created, removed; /* by the last management */
    int32_t shortage;         /* > 0: the last management needed this many more ids than there were and changed nothing */
    int32_t steps;            /* time steps completed since the counter was set */
    int32_t background;       /* TSR_TILE_OUTSIDE or INSIDE: what an empty list means */
    int32_t managed;          /* 0: phi is newer than the list (a step whose management ran short) */
    int32_t quiet;            /* management passes since the last one that created a tile */
    int32_t halted;           /* a client's run is over: management passes do nothing until it is 0 again */
    int64_t inside_absent;    /* voxels (in the domain) of absent tiles that are INSIDE; unbounded: of the enclosed ones */
    int64_t active_voxels;    /* strictly inside the band, of the last step or refresh; voxels beyond the domain not counted */
    int64_t inside_voxels;    /* phi < 0 in stored tiles, likewise */
    uint64_t change;          /* sum over voxels of (phi_new - phi)^2 / band^2 * 2^28, rounded down per voxel, of the last step */
    uint32_t speed_bits;      /* float bits of max |speed| over active voxels of the last step */
    float time_step;          /* of the last step */
    double time;              /* sum of the time steps */
    uint64_t bad;             /* 0, or the first value that was not finite (tsr_bad_word): nothing more is done until it is 0 again */
    int64_t beyond;       /* tiles beyond the limits of the keys that management passes were asked for: there the list ends, and so should the run */
    uint32_t scratch[16]; /* counters of kernels, zero between calls */
} tsr_tile_state;

typedef struct tsr_tile_pool {
    int32_t log2_edge; /* 2 or 3 */
    int32_t capacity;  /* ids 0 .. capacity-1 */
    int32_t bounded;   /* the domain below counts */
    int32_t domain[3]; /* voxels, x y z */
    int32_t tiles[3];  /* domain in tiles, rounded up */
    int32_t guard;     /* width of the guard areas of activity words: 1 unless a client needs more */
    int32_t fenced, fence[6]; /* of a part that was cut out of a list: management makes no tile beyond these, first and last x y z. Its sign would be that of one
                               * voxel across the cut, and what it then asks for would carry that into space of another sign, a tile every step */
    int32_t coded;     /* the arrays phi are int16_t codes (tile_code.h): only functions that say so read them */
    float band, spacing[3];
    tsr_tile_state *state;
    uint64_t key_first;    /* 0: keys have 64 bits; else 32, and this is the first tile of their box (tile_key.h) */
    void *key[2];          /* [capacity + 1], key[count] = TSR_KEY_END: tsr_pool_keys */
    uint32_t *id[2];       /* [capacity] */
    float *phi[3];         /* [capacity][edge^3]; [2] is for passes within a step, NULL if nobody needs it, static tiles valid */
    float *payload;        /* [capacity][edge^3] of the client (speed, potential), of a coded list uint16_t in its own coding; NULL if there is none */
    uint8_t *age;          /* [capacity] management passes since creation, saturating, kept by the client; NULL if there is none */
    uint32_t *neighbours;  /* [capacity][TSR_NEIGHBOUR_ROW] ids */
    uint32_t *activity;    /* [capacity] */
    void *key_of;          /* [capacity] key of a stored id: tsr_pool_keys_of */
    uint32_t *free_ids;    /* [capacity] stack */
    uint32_t *created_ids; /* [capacity] ids made by the last management, state->created of them, in list order */
    uint32_t *table;       /* PAGED: [tiles] id or static id, linear z y x; NULL for SORTED */
    uint32_t *scratch;     /* [scratch_words] of the backend's management, size from tiles_ops.scratch_words(capacity) */
} tsr_tile_pool;

/* Nothing varies along an axis of one voxel. */
TSR_HD int tsr_pool_flat(const tsr_tile_pool *pool, int32_t axis) { return pool->bounded && pool->domain[axis] == 1; }

/* The spacing that schemes and their bounds count: a flat axis takes the smallest of the others (as tsr_band_spacing). */
TSR_HD void tsr_pool_counted_spacing(const tsr_tile_pool *pool, float h[3])
{
    float smallest = 0.0f;
    for (int32_t a = 0; a < 3; a++)
        if (!tsr_pool_flat(pool, a) && !(smallest > 0.0f && smallest < pool->spacing[a])) smallest = pool->spacing[a];
    for (int32_t a = 0; a < 3; a++) h[a] = tsr_pool_flat(pool, a) && smallest > 0.0f ? smallest : pool->spacing[a];
}

/* A pass that ran short waits for the host, and so does a run that is over or met a value that is not finite. */
TSR_HD int tsr_tile_stopped(const tsr_tile_state *state) { return state->shortage > 0 || state->halted || state->bad != 0; }

/* Place of a value that is not finite, as a word of which the largest is the first in the order of passes, list entries and voxels. */
enum { TSR_BAD_VOXEL_BITS = 9, TSR_BAD_PASS_SHIFT = 40 };
TSR_HD uint64_t tsr_bad_word(int32_t pass, int32_t entry, int32_t voxel)
{
    return ~((uint64_t)(uint32_t)pass << TSR_BAD_PASS_SHIFT | (uint64_t)(uint32_t)entry << TSR_BAD_VOXEL_BITS | (uint32_t)voxel);
}
TSR_HD int32_t tsr_bad_pass(uint64_t word) { return (int32_t)(~word >> TSR_BAD_PASS_SHIFT); }
TSR_HD int32_t tsr_bad_entry(uint64_t word) { return (int32_t)(~word >> TSR_BAD_VOXEL_BITS & 0x7fffffffu); }
TSR_HD int32_t tsr_bad_voxel(uint64_t word) { return (int32_t)(~word & ((1u << TSR_BAD_VOXEL_BITS) - 1u)); }

/* Value i of one of the arrays phi, whatever it holds. */
TSR_HD float tsr_pool_value(const tsr_tile_pool *pool, const float *phi, int64_t i)
{
    if (!pool->coded) return phi[i];
    const tsr_coding c = tsr_coding_of(pool->band);
    return tsr_code_value(&c, ((const int16_t *)(const void *)phi)[i]);
}
/* Stores a value within the band; a coded one is rounded. */
TSR_HD void tsr_pool_put(const tsr_tile_pool *pool, float *phi, int64_t i, float v)
{
    if (pool->coded) {
        const tsr_coding c = tsr_coding_of(pool->band);
        ((int16_t *)(void *)phi)[i] = (int16_t)tsr_code_of(&c, v);
    } else {
        phi[i] = v;
    }
}
/* Value i of the payload, or of a copy of its pages. */
TSR_HD float tsr_payload_at(const float *payload, int coded, int64_t i)
{
    return coded ? (float)((const uint16_t *)(const void *)payload)[i] : payload[i];
}
/* Bytes of a value, and of one of the payload. */
TSR_HD int32_t tsr_pool_width(const tsr_tile_pool *pool) { return pool->coded ? 2 : 4; }

/* ---- keys ------------------------------------------------------------------------------------------------------------------------------- */

/* The keys of list 0 or 1; those of ids. */
TSR_HD tsr_keys tsr_pool_keys(const tsr_tile_pool *pool, int32_t list) { return tsr_keys_of(pool->key[list], pool->key_first); }
TSR_HD tsr_keys tsr_pool_keys_of(const tsr_tile_pool *pool) { return tsr_keys_of(pool->key_of, pool->key_first); }
TSR_HD uint64_t tsr_pool_key(const tsr_tile_pool *pool, int32_t list, int64_t at) { return tsr_key_at(tsr_pool_keys(pool, list), at); }
TSR_HD void tsr_pool_key_put(const tsr_tile_pool *pool, int32_t list, int64_t at, uint64_t key) { tsr_key_put(tsr_pool_keys(pool, list), at, key); }
TSR_HD uint64_t tsr_pool_key_of(const tsr_tile_pool *pool, uint32_t id) { return tsr_key_at(tsr_pool_keys_of(pool), id); }
TSR_HD void tsr_pool_key_of_put(const tsr_tile_pool *pool, uint32_t id, uint64_t key) { tsr_key_put(tsr_pool_keys_of(pool), id, key); }
/* Bytes of a key. */
TSR_HD int32_t tsr_pool_key_width(const tsr_tile_pool *pool) { return pool->key_first ? 4 : 8; }

/* May a tile with this key exist? Bounded lists: inside the domain. Unbounded: one tile away from the limits of the key, and in the box of
 * 32-bit ones. */
TSR_HD int tsr_tile_allowed(const tsr_tile_pool *pool, uint64_t key)
{
    int32_t x = tsr_key_x(key), y = tsr_key_y(key), z = tsr_key_z(key);
    if (pool->bounded) return x >= 0 && y >= 0 && z >= 0 && x < pool->tiles[0] && y < pool->tiles[1] && z < pool->tiles[2];
    if (pool->key_first) return tsr_key_in_box(pool->key_first, key);
    return x > -TSR_KEY_BIAS && y > -TSR_KEY_BIAS && z > -TSR_KEY_BIAS && x < TSR_KEY_BIAS - 1 && y < TSR_KEY_BIAS - 1 && z < TSR_KEY_BIAS - 1;
}
/* Is it beyond what a part may grow to? */
TSR_HD int tsr_tile_fenced_off(const tsr_tile_pool *pool, uint64_t key)
{
    const int32_t *f = pool->fence, x = tsr_key_x(key), y = tsr_key_y(key), z = tsr_key_z(key);
    return pool->fenced && (x < f[0] || y < f[1] || z < f[2] || x > f[3] || y > f[4] || z > f[5]);
}
/* The coordinates along axis k that stored tiles may have: the first, and the last. */
TSR_HD int32_t tsr_pool_least(const tsr_tile_pool *pool, int32_t k)
{
    const uint64_t first = pool->key_first;
    if (pool->bounded) return 0;
    return !first ? -TSR_KEY_BIAS + 1 : k == 0 ? tsr_key_x(first) : k == 1 ? tsr_key_y(first) : tsr_key_z(first);
}
TSR_HD int32_t tsr_pool_most(const tsr_tile_pool *pool, int32_t k)
{
    if (pool->bounded) return pool->tiles[k] - 1;
    return pool->key_first ? tsr_pool_least(pool, k) + TSR_SHORT_TILES - 1 : TSR_KEY_BIAS - 2;
}
/* Voxels of a tile that lie in the domain. */
TSR_HD int64_t tsr_tile_voxels(const tsr_tile_pool *pool, uint64_t key)
{
    int32_t edge = 1 << pool->log2_edge;
    if (!pool->bounded) return (int64_t)edge * edge * edge;
    return (int64_t)tsr_mini(edge, pool->domain[0] - tsr_key_x(key) * edge) * tsr_mini(edge, pool->domain[1] - tsr_key_y(key) * edge) *
           tsr_mini(edge, pool->domain[2] - tsr_key_z(key) * edge);
}
TSR_HD int64_t tsr_tile_linear(const tsr_tile_pool *pool, uint64_t key)
{
    return ((int64_t)tsr_key_z(key) * pool->tiles[1] + tsr_key_y(key)) * pool->tiles[0] + tsr_key_x(key);
}

/* A neighbour entry after tiles took other ids: constants stay. */
TSR_HD uint32_t tsr_entry_renamed(const uint32_t *fresh_id, uint32_t entry) { return entry < TSR_TILE_FIRST ? entry : fresh_id[entry]; }

/* ---- areas ------------------------------------------------------------------------------------------------------------------------ */

/* Area index (0..26) of voxel (x, y, z) of a tile with this edge. */
TSR_HD int32_t tsr_area(int32_t x, int32_t y, int32_t z, int32_t edge)
{
    int32_t ax = x == 0 ? 0 : x == edge - 1 ? 2 : 1, ay = y == 0 ? 0 : y == edge - 1 ? 2 : 1, az = z == 0 ? 0 : z == edge - 1 ? 2 : 1;
    return 9 * az + 3 * ay + ax;
}

/* Bits of all areas of a voxel when the guard bands are `guard` (1 to 3) voxels wide: they overlap where the tile is narrower than two of them.
 * docs/theory/tiles.md 2. */
TSR_HD uint32_t tsr_areas(int32_t x, int32_t y, int32_t z, int32_t edge, int32_t guard)
{
    const int32_t at[3] = { x, y, z };
    uint32_t axis[3], mask;
    for (int32_t k = 0; k < 3; k++) {
        axis[k] = (at[k] < guard ? 1u : 0u) | (at[k] >= edge - guard ? 4u : 0u);
        if (axis[k] == 0) axis[k] = 2u;
    }
    mask = axis[0];
    mask = (axis[1] & 1u ? mask : 0u) | (axis[1] & 2u ? mask << 3 : 0u) | (axis[1] & 4u ? mask << 6 : 0u);
    return (axis[2] & 1u ? mask : 0u) | (axis[2] & 2u ? mask << 9 : 0u) | (axis[2] & 4u ? mask << 18 : 0u);
}

/* 1 if a 6-neighbour has the opposite sign: such a voxel keeps its tile alive even where the field jumps over the whole band. */
TSR_HD int tsr_sign_change(const float *p, int32_t sy, int32_t sz)
{
    int inside = p[0] < 0.0f;
    return ((p[-1] < 0.0f) != inside) | ((p[1] < 0.0f) != inside) | ((p[-sy] < 0.0f) != inside) | ((p[sy] < 0.0f) != inside) |
           ((p[-sz] < 0.0f) != inside) | ((p[sz] < 0.0f) != inside);
}

/* Areas of the tile in direction i (seen from the middle) that touch the middle tile: docs/theory/tiles.md 3. */
TSR_HD uint32_t tsr_trigger_mask(int32_t i)
{
    const int32_t d[3] = { tsr_direction_x(i), tsr_direction_y(i), tsr_direction_z(i) };
    uint32_t mask = 0;
    for (int32_t a = 0; a < 27; a++) {
        const int32_t c[3] = { tsr_direction_x(a), tsr_direction_y(a), tsr_direction_z(a) };
        int32_t touches = 1;
        for (int32_t k = 0; k < 3; k++) touches &= d[k] == 0 || c[k] == -d[k];
        mask |= (uint32_t)touches << a;
    }
    return mask;
}

/* The neighbours (bit i = direction i) that a tile with these area bits keeps alive or asks for: the transpose of tsr_trigger_mask. */
TSR_HD uint32_t tsr_request_mask(uint32_t areas)
{
    uint32_t m = areas & TSR_ACTIVITY_AREAS; /* spreads each area to the directions d with d_k in {0, a_k}: towards the middle, axis by axis */
    m = m | ((m & 0x1249249u) << 1) | ((m & 0x4924924u) >> 1); /* bits with dx = -1 and +1 */
    m = m | ((m & 0x01c0e07u) << 3) | ((m & 0x70381c0u) >> 3); /* dy */
    m = m | ((m & 0x00001ffu) << 9) | ((m & 0x7fc0000u) >> 9); /* dz */
    return m;
}

/* Activity word of a tile with these areas that had the word `before`; outside: its class if there are none. As long as its areas stay the same, so does
 * what it asks for. */
TSR_HD uint32_t tsr_activity_word(uint32_t before, uint32_t areas, int outside)
{
    const uint32_t settled = areas | TSR_ACTIVITY_SETTLED;
    return !areas ? outside ? TSR_ACTIVITY_OUTSIDE : 0u : before == settled ? settled : areas;
}

/* Directions seen from a tile's neighbour in direction i, as directions from the tile itself; those out of its reach are dropped. */
TSR_HD uint32_t tsr_directions_from(uint32_t mask, int32_t i)
{
    const int32_t x = tsr_direction_x(i), y = tsr_direction_y(i), z = tsr_direction_z(i);
    if (x < 0) mask = (mask & ~0x1249249u) >> 1;
    if (x > 0) mask = (mask & ~0x4924924u) << 1;
    if (y < 0) mask = (mask & ~0x01c0e07u) >> 3;
    if (y > 0) mask = (mask & ~0x70381c0u) << 3;
    if (z < 0) mask = (mask & ~0x00001ffu) >> 9;
    if (z > 0) mask = (mask & ~0x7fc0000u) << 9;
    return mask;
}

/* ---- signs of absent tiles ------------------------------------------------------------------------------------------------------- */

/* Static id (OUTSIDE or INSIDE) or stored id of the tile with this key. Between stored tiles space is constant, so the sign of an
 * absent tile is the facing neighbour entry of a stored tile in the same row, else the same row, else the same slab, else any. */
TSR_HD uint32_t tsr_tile_in_row(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, uint64_t key, int32_t *found)
{
    int32_t at = tsr_keys_lower_bound(keys, count, key);
    *found = 1;
    if (at < count && tsr_key_at(keys, at) == key) return ids[at];
    if (at > 0 && tsr_key_at(keys, at - 1) >> 21 == key >> 21) return pool->neighbours[(int64_t)ids[at - 1] * TSR_NEIGHBOUR_ROW + 14];
    if (at < count && tsr_key_at(keys, at) >> 21 == key >> 21) return pool->neighbours[(int64_t)ids[at] * TSR_NEIGHBOUR_ROW + 12];
    *found = 0;
    return 0;
}
/* As above for a row whose slab may hold it or not: looks along y for the nearest row that has tiles. */
TSR_HD uint32_t tsr_tile_in_slab(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, uint64_t key, int32_t *found)
{
    uint32_t id = tsr_tile_in_row(pool, keys, ids, count, key, found);
    if (*found) return id;
    int32_t at = tsr_keys_lower_bound(keys, count, key), towards = 16; /* +y seen from the row below */
    uint64_t row;
    if (at > 0 && tsr_key_at(keys, at - 1) >> 42 == key >> 42) row = tsr_key_at(keys, at - 1);
    else if (at < count && tsr_key_at(keys, at) >> 42 == key >> 42) {
        row = tsr_key_at(keys, at);
        towards = 10;
    } else {
        *found = 0;
        return 0;
    }
    id = tsr_tile_in_row(pool, keys, ids, count, (row & ~(uint64_t)0x1fffff) | (key & 0x1fffff), found);
    return id < TSR_TILE_FIRST ? id : pool->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + towards];
}
TSR_HD uint32_t tsr_tile_find(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, int32_t background, uint64_t key)
{
    int32_t found;
    if (pool->table) return tsr_tile_allowed(pool, key) ? pool->table[tsr_tile_linear(pool, key)] : (uint32_t)background;
    if (count == 0) return (uint32_t)background;
    uint32_t id = tsr_tile_in_slab(pool, keys, ids, count, key, &found);
    if (found) return id;
    int32_t at = tsr_keys_lower_bound(keys, count, key), towards = 22; /* +z seen from the slab below */
    uint64_t slab = at > 0 ? tsr_key_at(keys, at - 1) : tsr_key_at(keys, at);
    if (at == 0) towards = 4;
    id = tsr_tile_in_slab(pool, keys, ids, count, (slab & ~(((uint64_t)1 << 42) - 1)) | (key & (((uint64_t)1 << 42) - 1)), &found);
    return id < TSR_TILE_FIRST ? id : pool->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + towards];
}

#endif
