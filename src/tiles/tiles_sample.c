/* tiles/tiles_sample.c: values of a list at positions, in boxes, and where its tiles lie. */
#include "tiles/tiles_sample.h"

#include <stdlib.h>
#include <string.h>

#include "tiles/tiles.h"
#include "volume/volume.h"

tsr_size3 tsr_tiles_domain(const tsr_tiles *tiles)
{
    if (!tiles) return (tsr_size3){ 0 };
    const tsr_tile_pool *pool = &tiles->pool;
    return pool->bounded ? (tsr_size3){ pool->domain[0], pool->domain[1], pool->domain[2] } : (tsr_size3){ 0, 0, 0 };
}

tsr_status tsr_tiles_bounds(const tsr_tiles *tiles, int64_t lower[3], int64_t upper[3])
{
    TSR_NEEDS(tiles);
    tsr_tile_state state;
    for (int k = 0; k < 3; k++) lower[k] = upper[k] = 0;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (!state.count) return TSR_OK;
    const size_t bytes = (size_t)state.count * sizeof(uint64_t);
    uint64_t *keys = (uint64_t *)malloc(bytes);
    if (!keys) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %d keys", state.count);
    tsr_status status = tsr_tiles_get_keys(tiles, state.list, state.count, keys);
    for (int32_t i = 0; i < state.count && status == TSR_OK; i++) {
        const int64_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
        for (int k = 0; k < 3; k++) {
            lower[k] = i ? tsr_min64(lower[k], at[k]) : at[k];
            upper[k] = i ? tsr_max64(upper[k], at[k] + 1) : at[k] + 1;
        }
    }
    for (int k = 0; k < 3; k++) {
        lower[k] *= (int64_t)1 << tiles->pool.log2_edge;
        upper[k] *= (int64_t)1 << tiles->pool.log2_edge;
        if (tiles->pool.bounded) upper[k] = tsr_min64(upper[k], tiles->pool.domain[k]);
    }
    free(keys);
    return status;
}

tsr_status tsr_tiles_store_box(const tsr_tiles *tiles, const int64_t first[3], tsr_volume *volume)
{
    TSR_NEEDS(tiles, volume);
    const int64_t limit = (int64_t)(TSR_KEY_BIAS - 2) * 4;
    TSR_TRY(tsr_volume_require(tiles->context, volume, "volume"));
    if (volume->dtype != TSR_F32 && volume->dtype != TSR_U8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: element type %s, expected f32 (field) or u8 (mask)", tsr_dtype_name(volume->dtype));
    const int64_t size[3] = { volume->size.x, volume->size.y, volume->size.z };
    for (int k = 0; k < 3; k++)
        if (first[k] < -limit || size[k] > limit || first[k] + size[k] > limit)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "box of %lld voxels from %lld along %c: expected one between -%lld and %lld", (long long)size[k],
                     (long long)first[k], "xyz"[k], (long long)limit, (long long)limit);
    for (int k = 0; k < 3 && tiles->pool.bounded; k++)
        if (first[k] < 0 || first[k] + size[k] > tiles->pool.domain[k])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "box of %lld voxels from %lld along %c: the domain has %d", (long long)size[k], (long long)first[k],
                     "xyz"[k], tiles -> pool.domain[k]);
    const int32_t from[3] = { (int32_t)first[0], (int32_t)first[1], (int32_t)first[2] };
    TSR_TRY(tiles->context->backend->tiles->store(tiles->context->queue, &tiles->pool, from, size,
                                                  volume->dtype == TSR_F32 ? (float *)volume->data : NULL,
                                                  volume->dtype == TSR_U8 ? (uint8_t *)volume->data : NULL));
    return TSR_OK;
}

/* index = A^-1 (world - t), as one matrix. */
static tsr_status to_index(const tsr_geometry *geometry, double m[3][4])
{
    tsr_vec3 zero, axis;
    TSR_TRY(tsr_geometry_to_index(geometry, (tsr_vec3){ 0, 0, 0 }, &zero));
    const double origin[3] = { zero.x, zero.y, zero.z };
    for (int c = 0; c < 3; c++) {
        TSR_TRY(tsr_geometry_to_index(geometry, (tsr_vec3){ c == 0, c == 1, c == 2 }, &axis));
        const double column[3] = { axis.x, axis.y, axis.z };
        for (int r = 0; r < 3; r++) m[r][c] = column[r] - origin[r];
    }
    for (int r = 0; r < 3; r++) m[r][3] = origin[r];
    return TSR_OK;
}

tsr_status tsr_tiles_sample(const tsr_tiles *tiles, const float (*positions)[3], float *values, int64_t count,
                            const tsr_tiles_sample_options *options)
{
    TSR_NEEDS(tiles);
    tsr_tiles_sample_options own;
    tsr_sample_map map = { 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_tiles_need_f32(tiles, "samples"));
    if (count < 0 || (count && (!positions || !values)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld positions, expected 0 or more with arrays of positions and values", (long long)count);
    if (count == 0) return TSR_OK;
    map.nearest = own.nearest != 0;
    map.world = own.world != 0;
    if (map.world) TSR_TRY(to_index(&tiles->geometry, map.to_index));
    TSR_TRY(tiles->context->backend->tiles->sample(tiles->context->queue, &tiles->pool, &map, &positions[0][0], values, count));
    return TSR_OK;
}
