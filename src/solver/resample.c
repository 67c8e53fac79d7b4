/* solver/resample.c: lists of twice and half the resolution: keys on the host (linear in the tiles), values on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/engine_object.h"
#include "solver/resample.h"

/* ---- keys ------------------------------------------------------------------------------------------------------------------------------------ */

/* End of the run of keys from `begin` that agree above `shift` bits. */
static int64_t run_end(const uint64_t *keys, int64_t begin, int64_t count, int shift)
{
    int64_t end = begin;
    while (end < count && keys[end] >> shift == keys[begin] >> shift) end++;
    return end;
}

/* The eight children of every key, sorted: slab by slab and row by row, each twice. */
static int64_t child_keys(const uint64_t *keys, int64_t count, uint64_t *out)
{
    int64_t n = 0;
    for (int64_t slab = 0, slab_end; slab < count; slab = slab_end) {
        slab_end = run_end(keys, slab, count, 2 * TSR_KEY_BITS);
        for (int z = 0; z < 2; z++)
            for (int64_t row = slab, row_end; row < slab_end; row = row_end) {
                row_end = run_end(keys, row, slab_end, TSR_KEY_BITS);
                for (int y = 0; y < 2; y++)
                    for (int64_t i = row; i < row_end; i++)
                        for (int x = 0; x < 2; x++) out[n++] = tsr_key_child(keys[i], 4 * z + 2 * y + x);
            }
    }
    return n;
}

static int64_t parent_keys(const uint64_t *keys, int64_t count, uint64_t *out)
{
    for (int64_t i = 0; i < count; i++) out[i] = tsr_key_half(keys[i]);
    return tsr_keys_sort_unique(out, count);
}

/* ---- the new list ------------------------------------------------------------------------------------------------------------------------------ */

/* Geometry of the same place with `scale` times the spacing, cell-centred. */
static tsr_geometry scaled_geometry(const tsr_geometry *from, double scale)
{
    tsr_geometry to = *from;
    const double shift = 0.5 * scale - 0.5; /* index 0 of the new grid in the old one */
    for (int i = 0; i < 3; i++) {
        to.affine[i][3] += shift * (from->affine[i][0] + from->affine[i][1] + from->affine[i][2]);
        for (int j = 0; j < 3; j++) to.affine[i][j] *= scale;
    }
    return to;
}

static tsr_status create_scaled(const tsr_tiles *from, int up, int64_t capacity, tsr_tiles **to)
{
    const tsr_tile_pool *pool = &from->pool;
    const double scale = up ? 0.5 : 2;
    const tsr_geometry geometry = scaled_geometry(&from->geometry, scale);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 1 << pool->log2_edge;
    options.band = (double)pool->band * scale;
    options.capacity = capacity + capacity / 8 + 64;
    options.memory_limit = from->memory_limit;
    options.storage = pool->coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32;
    if (pool->bounded) {
        int64_t n[3];
        for (int k = 0; k < 3; k++) n[k] = up ? 2 * (int64_t)pool->domain[k] : ((int64_t)pool->domain[k] + 1) / 2;
        options.domain = (tsr_size3){ n[0], n[1], n[2] };
    }
    TSR_TRY(tsr_tiles_create(from->context, &geometry, &options, to));
    (*to)->short_keys = pool->key_first != 0;
    return TSR_OK;
}

/* Keys, ids and the numbers of the state, as if the tiles had been made in list order. */
static tsr_status install_keys(tsr_tiles *to, const uint64_t *keys, int64_t count, const tsr_tile_state *from, int up)
{
    const tsr_tile_pool *pool = &to->pool;
    const tsr_backend *backend = to->context->backend;
    tsr_tile_state state;
    uint32_t *ids = (uint32_t *)malloc((size_t)(count + 1) * sizeof *ids);
    if (!ids) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %lld tiles", (long long)count);
    for (int64_t i = 0; i < count; i++) ids[i] = TSR_TILE_FIRST + (uint32_t)i;
    tsr_status status = backend->upload(to->context->queue, pool->id[0], ids, (size_t)count * sizeof *ids);
    free(ids);
    TSR_TRY(status);
    TSR_TRY(tsr_tiles_put_keys(to, keys, count));
    TSR_TRY(tsr_tiles_read_state(to, &state));
    state.count = (int32_t)count;
    state.free_count = pool->capacity - TSR_TILE_FIRST - (int32_t)count;
    state.background = from->background;
    state.inside_absent = up ? from->inside_absent * 8 : from->inside_absent;
    TSR_TRY(backend->upload(to->context->queue, pool->state, &state, sizeof state));
    return TSR_OK;
}

/* After the values: counts, and the tiles that the band needs. */
static tsr_status settle(tsr_tiles *to, int up)
{
    tsr_tile_state state;
    if (!up) { /* voxels of the fine list so far */
        TSR_TRY(tsr_tiles_read_state(to, &state));
        state.inside_absent /= 8;
        TSR_TRY(to->context->backend->upload(to->context->queue, to->pool.state, &state, sizeof state));
    }
    TSR_TRY(to->context->backend->tiles->refresh(to->context->queue, &to->pool));
    TSR_TRY(tsr_tiles_manage(to));
    if (!up) TSR_TRY(tsr_levelset_redistance(to, 0, NULL)); /* the fine band is half as wide */
    TSR_TRY(tsr_tiles_take_after(to));
    return TSR_OK;
}

static tsr_status resample_keys(const tsr_tiles *from, int up, const tsr_tile_state *state, uint64_t *old, uint64_t *keys, tsr_tiles **to)
{
    tsr_status status;
    const int64_t n = state->count;
    TSR_TRY(tsr_tiles_get_keys(from, state->list, n, old));
    for (int64_t i = 0; i < n && up; i++) {
        const int32_t x = tsr_key_x(old[i]), y = tsr_key_y(old[i]), z = tsr_key_z(old[i]), most = TSR_KEY_BIAS / 2 - 1;
        if (x < -most || y < -most || z < -most || x >= most || y >= most || z >= most)
            TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: tile (%d, %d, %d) has no coordinates at twice the resolution", x, y, z);
    }
    const int64_t count = up ? child_keys(old, n, keys) : parent_keys(old, n, keys);
    TSR_TRY(create_scaled(from, up, count, to));
    TSR_TRY_GOTO(install_keys(*to, keys, count, state, up), fail);
    TSR_TRY_GOTO(from->context->backend->engine->resample(from->context->queue, &from->pool, &(*to)->pool, up), fail);
    TSR_TRY_GOTO(settle(*to, up), fail);
    return TSR_OK;
fail:
    tsr_tiles_destroy(to);
    return status;
}

static tsr_status resample(const tsr_tiles *from, int up, tsr_tiles **to)
{
    tsr_tile_state state;
    *to = NULL;
    if (!from) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list is NULL");
    TSR_TRY(tsr_tiles_read_state(from, &state));
    if (up && (int64_t)state.count * 8 > 1 << 29)
        TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: %d tiles are too many for twice the resolution", state.count);
    const size_t n = (size_t)state.count + 1;
    uint64_t *old = (uint64_t *)malloc(n * sizeof *old), *keys = (uint64_t *)malloc((up ? 8 * n : n) * sizeof *keys);
    tsr_status status = old && keys ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "tile list: out of memory to resample %d tiles", state.count);
    if (status == TSR_OK) status = resample_keys(from, up, &state, old, keys, to);
    free(old);
    free(keys);
    return status;
}

tsr_status tsr_tiles_upsample(const tsr_tiles *tiles, tsr_tiles **fine)
{
    TSR_NEEDS(tiles, fine);
    TSR_TRY(resample(tiles, 1, fine));
    return TSR_OK;
}

tsr_status tsr_tiles_downsample(const tsr_tiles *tiles, tsr_tiles **coarse)
{
    TSR_NEEDS(tiles, coarse);
    TSR_TRY(resample(tiles, 0, coarse));
    return TSR_OK;
}
