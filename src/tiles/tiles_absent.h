/* tiles/tiles_absent.h: the space of a list without tiles, as boxes of one constant, each of which belongs to an entry of the list: what lies between two
 * tiles of a row, and in a domain also what lies before and after them, and the rows and slabs without a tile. Integers: exact class. */
#ifndef TSR_TILES_TILES_ABSENT_H
#define TSR_TILES_TILES_ABSENT_H

#include "tiles/tile_pool.h"

/* Boxes of an entry. A list without a domain has the first kind only, between two tiles: the rest of its space is not enclosed. */
enum {
    TSR_ABSENT_AFTER = 0,    /* behind the tile in its row */
    TSR_ABSENT_BEFORE,       /* before the first tile of a row */
    TSR_ABSENT_ROWS_BEFORE,  /* rows before the first tile of a row */
    TSR_ABSENT_ROWS_AFTER,   /* rows behind the last tile of a slab */
    TSR_ABSENT_SLABS_BEFORE, /* slabs before the first tile of a slab */
    TSR_ABSENT_SLABS_AFTER,  /* slabs behind the last tile */
    TSR_ABSENT_KINDS
};
TSR_HD int32_t tsr_absent_kinds(const tsr_tile_pool *pool) { return pool->bounded ? TSR_ABSENT_KINDS : 1; }

/* Tiles low <= t < high of a box of entry i; 0 if there are none. */
TSR_HD int tsr_absent_box(const tsr_tile_pool *pool, tsr_keys keys, int32_t count, int32_t i, int32_t kind, int32_t low[3], int32_t high[3])
{
    const uint64_t own = tsr_key_at(keys, i), before = i > 0 ? tsr_key_at(keys, i - 1) : own, after = i + 1 < count ? tsr_key_at(keys, i + 1) : own;
    const int32_t x = tsr_key_x(own), y = tsr_key_y(own), z = tsr_key_z(own);
    const int begins_row = i == 0 || before >> 21 != own >> 21, begins_slab = i == 0 || before >> 42 != own >> 42;
    const int ends_row = i + 1 == count || after >> 21 != own >> 21, ends_slab = i + 1 == count || after >> 42 != own >> 42;
    low[0] = low[1] = 0;
    low[2] = z;
    high[0] = pool->tiles[0];
    high[1] = pool->tiles[1];
    high[2] = z + 1;
    if (kind != TSR_ABSENT_AFTER && !pool->bounded) return 0;
    switch (kind) {
    case TSR_ABSENT_AFTER:
    case TSR_ABSENT_BEFORE:
        if (kind == TSR_ABSENT_AFTER ? ends_row && !pool->bounded : !begins_row) return 0;
        low[1] = y;
        high[1] = y + 1;
        if (kind == TSR_ABSENT_BEFORE) high[0] = x;
        else low[0] = x + 1;
        if (kind == TSR_ABSENT_AFTER && !ends_row) high[0] = tsr_key_x(after);
        break;
    case TSR_ABSENT_ROWS_BEFORE:
        if (!begins_row) return 0;
        if (!begins_slab) low[1] = tsr_key_y(before) + 1;
        high[1] = y;
        break;
    case TSR_ABSENT_ROWS_AFTER:
        if (!ends_slab) return 0;
        low[1] = y + 1;
        break;
    case TSR_ABSENT_SLABS_BEFORE:
        if (!begins_slab) return 0;
        low[2] = i > 0 ? tsr_key_z(before) + 1 : 0;
        high[2] = z;
        break;
    default:
        if (i + 1 < count) return 0;
        low[2] = z + 1;
        high[2] = pool->tiles[2];
    }
    return low[0] < high[0] && low[1] < high[1] && low[2] < high[2];
}

/* OUTSIDE or INSIDE: what a box that is there holds. */
TSR_HD uint32_t tsr_absent_constant(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, int32_t background, int32_t i,
                                    int32_t kind, const int32_t low[3])
{
    const uint32_t *row = pool->neighbours + (int64_t)ids[i] * TSR_NEIGHBOUR_ROW;
    if (kind == TSR_ABSENT_AFTER) return row[14];
    if (kind == TSR_ABSENT_BEFORE) return row[12];
    return tsr_tile_find(pool, keys, ids, count, background, tsr_key_make(low[0], low[1], low[2]));
}

/* The box of the absent tile `key` of a domain: entry * TSR_ABSENT_KINDS + kind. `at`: the first entry whose key is not below it. */
TSR_HD int64_t tsr_absent_at(tsr_keys keys, int32_t count, int32_t at, uint64_t key)
{
    const int has_before = at > 0, has_after = at < count;
    const uint64_t before = has_before ? tsr_key_at(keys, at - 1) : 0, after = has_after ? tsr_key_at(keys, at) : 0;
    const int64_t a = (int64_t)(at - 1) * TSR_ABSENT_KINDS, b = (int64_t)at * TSR_ABSENT_KINDS;
    if (has_before && before >> 21 == key >> 21) return a + TSR_ABSENT_AFTER;
    if (has_after && after >> 21 == key >> 21) return b + TSR_ABSENT_BEFORE;
    if (has_after && after >> 42 == key >> 42) return b + TSR_ABSENT_ROWS_BEFORE;
    if (has_before && before >> 42 == key >> 42) return a + TSR_ABSENT_ROWS_AFTER;
    return has_after ? b + TSR_ABSENT_SLABS_BEFORE : a + TSR_ABSENT_SLABS_AFTER;
}

/* Voxels of a box, cut at the domain; twice the index of their middle. */
TSR_HD int64_t tsr_absent_voxels(const tsr_tile_pool *pool, const int32_t low[3], const int32_t high[3], int64_t middle[3])
{
    const int64_t edge = (int64_t)1 << pool->log2_edge;
    int64_t voxels = 1;
    for (int32_t k = 0; k < 3; k++) {
        const int64_t first = low[k] * edge, end = high[k] * edge;
        const int64_t last = pool->bounded && end > pool->domain[k] ? pool->domain[k] - 1 : end - 1;
        voxels *= last - first + 1;
        middle[k] = first + last;
    }
    return voxels;
}

/* Inside voxels of all boxes of entry i. */
TSR_HD int64_t tsr_absent_inside(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, int32_t background, int32_t i)
{
    int64_t voxels = 0, middle[3];
    int32_t low[3], high[3];
    for (int32_t kind = 0; kind < tsr_absent_kinds(pool); kind++)
        if (tsr_absent_box(pool, keys, count, i, kind, low, high) &&
            tsr_absent_constant(pool, keys, ids, count, background, i, kind, low) == TSR_TILE_INSIDE)
            voxels += tsr_absent_voxels(pool, low, high, middle);
    return voxels;
}

#endif
