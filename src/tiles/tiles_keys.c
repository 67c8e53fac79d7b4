/* tiles/tiles_keys.c: the width of a list's keys: the box of 32-bit ones, changing it, and keys on the host, where they always have 64 bits. */
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles.h"

/* ---- keys on the host --------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_tiles_get_keys(const tsr_tiles *tiles, int32_t list, int64_t count, uint64_t *keys)
{
    const tsr_tile_pool *pool = &tiles->pool;
    const int32_t width = tsr_pool_key_width(pool);
    if (count == 0) return TSR_OK;
    /* short ones lie in the second half, and each is read before its place is written */
    char *raw = (char *)keys + (size_t)count * (sizeof *keys - (size_t)width);
    TSR_TRY(tiles->context->backend->download(tiles->context->queue, raw, pool->key[list], (size_t)count * (size_t)width));
    for (int64_t i = 0; i < count && pool->key_first; i++) {
        uint32_t key;
        memcpy(&key, raw + i * width, sizeof key);
        keys[i] = tsr_key_widen(pool->key_first, key);
    }
    return TSR_OK;
}

tsr_status tsr_tiles_put_keys(tsr_tiles *tiles, const uint64_t *keys, int64_t count)
{
    const tsr_tile_pool *pool = &tiles->pool;
    const tsr_backend *backend = tiles->context->backend;
    tsr_queue *queue = tiles->context->queue;
    const size_t width = (size_t)tsr_pool_key_width(pool), bytes = (size_t)count * width;
    const uint64_t end = TSR_KEY_END; /* the same of both widths */
    const void *from = keys;
    uint32_t *made = NULL;
    if (pool->key_first) {
        made = (uint32_t *)malloc(bytes + sizeof *made);
        if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %lld keys", (long long)count);
        for (int64_t i = 0; i < count; i++) made[i] = tsr_key_shorten(pool->key_first, keys[i]);
        from = made;
    }
    tsr_status status = backend->upload(queue, pool->key[0], from, bytes);
    if (status == TSR_OK) status = backend->upload(queue, (char *)pool->key[0] + bytes, &end, width);
    if (status == TSR_OK) status = backend->upload(queue, (char *)pool->key_of + TSR_TILE_FIRST * width, from, bytes);
    if (status == TSR_OK && made) status = backend->synchronize(queue);
    free(made);
    return status;
}

/* ---- the box of 32-bit keys ------------------------------------------------------------------------------------------------------------ */

/* Key of the first tile of a box with the tiles [low, high] in its middle. */
static tsr_status box_round(const int64_t low[3], const int64_t high[3], const char *name, uint64_t *first)
{
    int32_t at[3];
    for (int k = 0; k < 3; k++) {
        const int64_t tiles = high[k] - low[k] + 1, least = -TSR_KEY_BIAS + 1, most = TSR_KEY_BIAS - 1 - TSR_SHORT_TILES;
        if (tiles > TSR_SHORT_TILES)
            TSR_FAIL(TSR_ERROR_CAPACITY, "%s: has tiles %lld to %lld along %c, 32-bit keys hold %d tiles of an axis: use key_bits 64", name,
                     (long long)low[k], (long long)high[k], "xyz"[k], (int)TSR_SHORT_TILES);
        const int64_t middle = low[k] - (TSR_SHORT_TILES - tiles) / 2;
        at[k] = (int32_t)tsr_max64(least, tsr_min64(middle, most));
    }
    *first = tsr_key_make(at[0], at[1], at[2]);
    return TSR_OK;
}

tsr_status tsr_tiles_key_box(const tsr_tile_pool *pool, const uint64_t *keys, int64_t count, const char *name, uint64_t *first)
{
    int64_t low[3] = { 0, 0, 0 }, high[3] = { 0, 0, 0 };
    if (pool->bounded) {
        for (int k = 0; k < 3; k++) high[k] = pool->tiles[k] - 1;
    } else {
        for (int64_t i = 0; i < count; i++) {
            const int64_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
            for (int k = 0; k < 3; k++) {
                low[k] = i ? tsr_min64(low[k], at[k]) : at[k];
                high[k] = i ? tsr_max64(high[k], at[k]) : at[k];
            }
        }
    }
    TSR_TRY(box_round(low, high, name, first));
    return TSR_OK;
}

tsr_status tsr_tiles_place_box(tsr_tiles *tiles, const uint64_t *keys, int64_t count, const char *name)
{
    if (!tiles->pool.key_first) return TSR_OK;
    TSR_TRY(tsr_tiles_key_box(&tiles->pool, keys, count, name, &tiles->pool.key_first));
    return TSR_OK;
}

/* ---- changing the width ------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_tiles_check_key_bits(int32_t bits)
{
    if (bits != 0 && bits != 32 && bits != 64) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: key_bits is %d, expected 0 (automatic), 32 or 64", bits);
    return TSR_OK;
}

tsr_status tsr_tiles_set_key_bits(tsr_tiles *tiles, int32_t bits)
{
    TSR_NEEDS(tiles);
    tsr_tile_state state;
    uint64_t first = 0;
    TSR_TRY(tsr_tiles_check_key_bits(bits));
    if (bits == 32) {
        TSR_TRY(tsr_tiles_read_state(tiles, &state));
        uint64_t *keys = (uint64_t *)malloc(((size_t)state.count + 1) * sizeof *keys);
        if (!keys) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %d keys", state.count);
        tsr_status status = tsr_tiles_get_keys(tiles, state.list, state.count, keys);
        if (status == TSR_OK) status = tsr_tiles_key_box(&tiles->pool, keys, state.count, "tile list", &first);
        free(keys);
        TSR_TRY(status);
    }
    if (first == tiles->pool.key_first) return TSR_OK;
    TSR_TRY(tsr_tiles_rebuild(tiles, 0, first));
    return TSR_OK;
}

tsr_status tsr_tiles_take_after(tsr_tiles *tiles)
{
    if (!tiles->short_keys || tiles->pool.key_first) return TSR_OK;
    tiles->short_keys = 0;
    tsr_status status = tsr_tiles_set_key_bits(tiles, 32);
    return status == TSR_ERROR_CAPACITY ? TSR_OK : status; /* wider than their box, or no memory for both: they stay what they are */
}
