/* tiles/tiles_check.c: does a list hold what all functions take for granted? On the host. */
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles_build.h"

enum { MOST_CHECKED = 4096 }; /* tiles of lists that debug builds look at after operations */

static int stored(const tsr_tiles_parts *parts, uint64_t key)
{
    const int32_t at = tsr_key_lower_bound(parts->keys, (int32_t)parts->count, key);
    return at < parts->count && parts->keys[at] == key;
}

static tsr_status contradiction(uint64_t key, const char *name)
{
    TSR_FAIL(TSR_ERROR_STATE, "%s: the tile (%d, %d, %d), which is not stored, is inside to one of the tiles beside it and outside to another", name,
             tsr_key_x(key), tsr_key_y(key), tsr_key_z(key));
}

/* What the tiles say of absent ones, as key * 2 + constant, in order: an absent tile that comes with both is the contradiction. */
tsr_status tsr_tiles_check_signs(const tsr_tile_pool *pool, const tsr_tiles_parts *parts, const char *name)
{
    uint64_t *said = (uint64_t *)malloc((size_t)(parts->count + 1) * (TSR_TILE_DIRECTIONS - 1) * sizeof *said);
    tsr_status status = TSR_OK;
    int64_t n = 0;
    if (!said) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory to check the signs of %lld tiles", name, (long long)parts->count);
    for (int64_t i = 0; i < parts->count; i++)
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const uint64_t key = parts->keys[i] + (uint64_t)tsr_key_offset(d);
            if (d != TSR_TILE_MIDDLE && tsr_tile_allowed(pool, key) && !stored(parts, key)) said[n++] = key << 1 | (parts->inside[i] >> d & 1u);
        }
    n = tsr_keys_sort_unique(said, n);
    for (int64_t k = 1; k < n && status == TSR_OK; k++)
        if (said[k] >> 1 == said[k - 1] >> 1) status = contradiction(said[k] >> 1, name);
    free(said);
    for (int64_t i = 1; i < parts->count && status == TSR_OK; i++) { /* between two tiles of a row space is of one sort */
        const uint64_t before = parts->keys[i - 1], own = parts->keys[i];
        if (before >> 21 == own >> 21 && own - before > 1 && (parts->inside[i - 1] >> 14 & 1u) != (parts->inside[i] >> 12 & 1u))
            status = contradiction(before + 1, name);
    }
    return status;
}

static tsr_status check_entries(const tsr_tiles *tiles, const tsr_tiles_parts *parts, const char *name)
{
    const tsr_tile_pool *pool = &tiles->pool;
    uint8_t *taken = (uint8_t *)calloc((size_t)pool->capacity + 1, 1);
    tsr_status status = TSR_OK;
    if (!taken) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory to check %d tiles", name, pool->capacity);
    for (int64_t i = 0; i < parts->count && status == TSR_OK; i++) {
        const uint32_t id = parts->ids[i];
        if (!tsr_tile_allowed(pool, parts->keys[i]) || (i && parts->keys[i] <= parts->keys[i - 1]))
            status = TSR_FAILED(TSR_ERROR_STATE, "%s: tile %lld is not in order or beyond the limits", name, (long long)i);
        else if (id < TSR_TILE_FIRST || id >= (uint32_t)pool->capacity || taken[id])
            status = TSR_FAILED(TSR_ERROR_STATE, "%s: tile %lld has the id %u of another one or of none", name, (long long)i, id);
        else taken[id] = 1;
    }
    free(taken);
    return status;
}

static tsr_status check_rows(const tsr_tile_pool *pool, const tsr_tiles_parts *parts, const uint32_t *rows, const char *name)
{
    for (int64_t i = 0; i < parts->count; i++)
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const uint64_t key = parts->keys[i] + (uint64_t)tsr_key_offset(d);
            const int32_t at = tsr_key_lower_bound(parts->keys, (int32_t)parts->count, key);
            const uint32_t entry = rows[(int64_t)parts->ids[i] * TSR_NEIGHBOUR_ROW + d];
            const int there = tsr_tile_allowed(pool, key) && at < parts->count && parts->keys[at] == key;
            if (there ? entry != parts->ids[at] : entry >= TSR_TILE_FIRST)
                TSR_FAIL(TSR_ERROR_STATE, "%s: neighbour %d of tile %lld is %u, expected %s", name, d, (long long)i, entry,
                         there ? "the one that is stored" : "a constant");
        }
    return TSR_OK;
}

static tsr_status check_values(const tsr_tiles *tiles, const tsr_tiles_parts *parts, const uint32_t *rows, const char *name)
{
    const tsr_tile_pool *pool = &tiles->pool;
    const int32_t l = pool->log2_edge, m = (1 << l) - 1, V = 1 << 3 * l;
    float *memory = (float *)malloc((size_t)V * sizeof *memory);
    tsr_status status = memory ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for a tile", name);
    int64_t active = 0, inside = 0;
    for (int64_t i = 0; i < parts->count && status == TSR_OK; i++) {
        const float *tile;
        const int32_t first[3] = { tsr_key_x(parts->keys[i]) * (m + 1), tsr_key_y(parts->keys[i]) * (m + 1), tsr_key_z(parts->keys[i]) * (m + 1) };
        status = tsr_tiles_get(tiles, parts, i, 1, memory, &tile);
        for (int32_t k = 0; k < V && status == TSR_OK; k++) {
            if (!(tile[k] >= 0.0f - pool->band && tile[k] <= pool->band))
                status = TSR_FAILED(TSR_ERROR_STATE, "%s: voxel %d of tile %lld is %g, beyond the band", name, k, (long long)i, (double)tile[k]);
            if (pool->bounded &&
                (first[0] + (k & m) >= pool->domain[0] || first[1] + (k >> l & m) >= pool->domain[1] || first[2] + (k >> 2 * l) >= pool->domain[2]))
                continue;
            active += tile[k] > 0.0f - pool->band && tile[k] < pool->band;
            inside += tile[k] < 0.0f;
        }
    }
    free(memory);
    const tsr_tile_state *s = &parts->state;
    const int64_t absent = tsr_tiles_count_absent(pool, parts, rows);
    if (status == TSR_OK && s->managed && (active != s->active_voxels || inside != s->inside_voxels || absent != s->inside_absent))
        status = TSR_FAILED(TSR_ERROR_STATE, "%s: %lld active, %lld inside, %lld of absent tiles inside; counted %lld, %lld and %lld", name,
                            (long long)s->active_voxels, (long long)s->inside_voxels, (long long)s->inside_absent, (long long)active,
                            (long long)inside, (long long)absent);
    return status;
}

tsr_status tsr_tiles_check_whole(const tsr_tiles *tiles, const char *name)
{
    const tsr_tile_pool *pool = &tiles->pool;
    tsr_tiles_parts parts;
    TSR_TRY(tsr_tiles_need_f32(tiles, name));
    TSR_TRY(tsr_tiles_take_apart(tiles, &parts));
    const size_t bytes = (size_t)pool->capacity * TSR_NEIGHBOUR_ROW * sizeof(uint32_t);
    uint32_t *rows = (uint32_t *)malloc(bytes);
    tsr_status status = rows ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes", name, bytes);
    if (status == TSR_OK) status = tiles->context->backend->download(tiles->context->queue, rows, pool->neighbours, bytes);
    if (status == TSR_OK) status = check_entries(tiles, &parts, name);
    if (status == TSR_OK) status = check_rows(pool, &parts, rows, name);
    if (status == TSR_OK) status = tsr_tiles_check_signs(pool, &parts, name);
    if (status == TSR_OK) status = check_values(tiles, &parts, rows, name);
    free(rows);
    tsr_tiles_parts_free(&parts);
    return status;
}

int tsr_tiles_is_whole(const tsr_tiles *tiles)
{
    tsr_tile_state state;
    return !tiles->pool.coded && tsr_tiles_read_state(tiles, &state) == TSR_OK && state.count <= MOST_CHECKED &&
           tsr_tiles_check_whole(tiles, "tile list") == TSR_OK;
}

tsr_status tsr_tiles_still_whole(int were, const tsr_tiles *tiles, const char *name)
{
    tsr_tile_state state;
    if (!were || tiles->pool.coded) return TSR_OK;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count > 2 * MOST_CHECKED) return TSR_OK;
    const tsr_status status = tsr_tiles_check_whole(tiles, name);
    if (status == TSR_ERROR_STATE) TSR_FAIL(TSR_ERROR_INTERNAL, "%s", tsr_error_message());
    return status;
}
