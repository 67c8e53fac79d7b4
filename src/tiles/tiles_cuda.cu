/* tiles/tiles_cuda.cu: the sorted tile list on the GPU (and the emulator): clearing, growth, loading, painting, storing, sampling. Management passes
 * are in tiles_manage_cuda.cu. */
#include "tiles/tiles_ops.h"
#include "tiles/tiles_scratch.h"

static int64_t cuda_scratch_words(const tsr_tile_pool *pool) { return tsr_scratch_words(pool); }
static tsr_status cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool) { return tsr_tiles_cuda_manage(queue, pool, 0); }

/* ---- clear and grow ---------------------------------------------------------------------------------------------------------------- */

/* Ids [from, capacity) go on the stack, largest deepest; from = 2 also makes the static tiles and an empty list. */
TSR_KERNEL(release_ids_kernel)(tsr_tile_pool pool, int32_t from, int32_t background)
{
    tsr_tile_state *state = pool.state;
    int32_t fresh = pool.capacity - from, base = from == TSR_TILE_FIRST ? 0 : state->free_count;
    int64_t step = (int64_t)gridDim.x * blockDim.x, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < fresh; i += step) pool.free_ids[base + i] = (uint32_t)(pool.capacity - 1 - i);
    if (from != TSR_TILE_FIRST) return;
    int64_t voxels = (int64_t)1 << (3 * pool.log2_edge);
    for (int64_t i = first; i < 2 * voxels; i += step) {
        float v = i < voxels ? pool.band : -pool.band;
        tsr_pool_put(&pool, pool.phi[0], i, v);
        tsr_pool_put(&pool, pool.phi[1], i, v);
        if (pool.payload && pool.coded) ((uint16_t *)(void *)pool.payload)[i] = 0;
        else if (pool.payload) pool.payload[i] = 0.0f;
    }
    for (int64_t i = first; i < 2 * TSR_NEIGHBOUR_ROW; i += step) pool.neighbours[i] = (uint32_t)(i / TSR_NEIGHBOUR_ROW);
    if (pool.table)
        for (int64_t i = first; i < (int64_t)pool.tiles[0] * pool.tiles[1] * pool.tiles[2]; i += step) pool.table[i] = (uint32_t)background;
    if (first != 0) return;
    pool.activity[TSR_TILE_OUTSIDE] = TSR_ACTIVITY_OUTSIDE;
    pool.activity[TSR_TILE_INSIDE] = 0;
    for (int32_t i = 0; i < 2; i++) {
        tsr_pool_key_of_put(&pool, (uint32_t)i, TSR_KEY_END);
        tsr_pool_key_put(&pool, i, 0, TSR_KEY_END);
    }
    state->free_count = fresh;
    state->background = background;
    state->managed = 1;
    if (background == TSR_TILE_INSIDE && pool.bounded) state->inside_absent = (int64_t)pool.domain[0] * pool.domain[1] * pool.domain[2];
}

TSR_KERNEL(grown_kernel)(tsr_tile_pool pool, int32_t old_capacity)
{
    pool.state->free_count += pool.capacity - old_capacity;
    pool.state->shortage = 0;
}

static tsr_status cuda_clear(tsr_queue *queue, const tsr_tile_pool *pool, int32_t background)
{
    const int64_t n = pool->table ? (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2] : pool->capacity;
    TSR_TRY(tsr_queue_fill(queue, pool->state, 0, sizeof *pool->state));
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(n, 256, 1024), 256, 0, *pool, (int32_t)TSR_TILE_FIRST, background);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_grow(tsr_queue *queue, const tsr_tile_pool *pool, int32_t old_capacity)
{
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(pool->capacity - old_capacity, 256, 1024), 256, 0, *pool, old_capacity, 0);
    TSR_LAUNCH(queue, grown_kernel, 1, 1, 0, *pool, old_capacity);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- compaction ---------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(rename_kernel)(tsr_tile_pool from)
{
    const tsr_tile_state *state = from.state;
    for (int32_t at = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); at < state->count; at += (int32_t)(gridDim.x * blockDim.x))
        from.scratch[from.id[state->list][at]] = TSR_TILE_FIRST + (uint32_t)at;
}

/* One block per list entry, 16 bytes a thread. */
TSR_KERNEL(compact_kernel)(tsr_tile_pool from, tsr_tile_pool to)
{
    const tsr_tile_state *state = from.state;
    const int32_t tid = (int32_t)threadIdx.x, quads = 1 << (3 * from.log2_edge - 2), count = state->count;
    if (blockIdx.x == 0 && tid == 0) tsr_pool_key_put(&to, 0, count, TSR_KEY_END);
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        const uint32_t old = from.id[state->list][at], id = TSR_TILE_FIRST + (uint32_t)at;
        const uint64_t key = tsr_pool_key(&from, state->list, at);
        const int32_t words = from.coded ? quads / 2 : quads; /* of 16 bytes */
        const float4 *values = (const float4 *)(const void *)from.phi[state->phi] + (int64_t)old * words;
        for (int32_t i = tid; i < quads; i += (int32_t)blockDim.x) {
            if (i < words) {
                const float4 v = values[i];
                ((float4 *)(void *)to.phi[0])[(int64_t)id * words + i] = v;
                ((float4 *)(void *)to.phi[1])[(int64_t)id * words + i] = v;
                if (from.payload)
                    ((float4 *)(void *)to.payload)[(int64_t)id * words + i] = ((const float4 *)(const void *)from.payload)[(int64_t)old * words + i];
            }
        }
        if (tid < TSR_TILE_DIRECTIONS)
            to.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + tid] =
                tsr_entry_renamed(from.scratch, from.neighbours[(int64_t)old * TSR_NEIGHBOUR_ROW + tid]);
        if (tid != 31) continue;
        if (from.age) to.age[id] = from.age[old];
        to.activity[id] = from.activity[old];
        tsr_pool_key_put(&to, 0, at, key);
        tsr_pool_key_of_put(&to, id, key);
        to.id[0][at] = id;
        if (from.table) from.table[tsr_tile_linear(&from, key)] = id;
    }
}

static tsr_status cuda_compact(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to)
{
    TSR_LAUNCH(queue, rename_kernel, tsr_blocks(from->capacity, 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0, *from);
    TSR_LAUNCH(queue, compact_kernel, tsr_tile_blocks(queue, from), from->log2_edge == 3 ? 128 : 32, 0, *from, *to);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- storage ------------------------------------------------------------------------------------------------------------------------------ */

TSR_KERNEL(recode_kernel)(tsr_tile_pool from, tsr_tile_pool to, int32_t buffer)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x, values = (int64_t)from.capacity << (3 * from.log2_edge);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < values; i += step) /* unused tiles hold anything */
        tsr_pool_put(&to, to.phi[buffer], i, tsr_clampf(tsr_pool_value(&from, from.phi[buffer], i), -from.band, from.band));
}

static tsr_status cuda_recode(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int32_t buffer)
{
    const int64_t values = (int64_t)from->capacity << (3 * from->log2_edge);
    TSR_LAUNCH(queue, recode_kernel, tsr_blocks(values, 256, 32 * (int64_t)tsr_queue_processors(queue)), 256, 0, *from, *to, buffer);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- load from a dense field ---------------------------------------------------------------------------------------------------------- */

TSR_HD int voxel_finite(float v) { return (tsr_float_bits(v) & 0x7f800000u) != 0x7f800000u; }

/* One block per tile of the domain. */
template <int E> TSR_KERNEL(classify_kernel)(tsr_tile_pool pool, const float *field, uint8_t *codes, int64_t *first_bad)
{
    int64_t nx = pool.domain[0], ny = pool.domain[1], nz = pool.domain[2], tiles = (int64_t)pool.tiles[0] * pool.tiles[1] * pool.tiles[2];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t x0 = t % pool.tiles[0] * E, y0 = t / pool.tiles[0] % pool.tiles[1] * E, z0 = t / pool.tiles[0] / pool.tiles[1] * E;
        int stored = 0, inside = 0;
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            int64_t x = x0 + i % E, y = y0 + i / E % E, z = z0 + i / (E * E);
            if (x >= nx || y >= ny || z >= nz) continue;
            int64_t at = (z * ny + y) * nx + x;
            float v = field[at];
            if (!voxel_finite(v)) atomicMin((long long *)(void *)first_bad, (long long)at);
            stored |= tsr_load_stores(&pool, field, x, y, z);
            inside |= v < 0.0f;
        }
        stored = __syncthreads_or(stored);
        inside = __syncthreads_or(inside);
        if (threadIdx.x != 0) continue;
        codes[t] = (uint8_t)(stored ? 2 : inside ? 1 : 0);
        if (stored) atomicAdd(&pool.state->count, 1);
        else if (inside)
            tsr_inside_absent_add(pool.state, tsr_tile_voxels(&pool, tsr_key_make((int32_t)(x0 / E), (int32_t)(y0 / E), (int32_t)(z0 / E))));
    }
}

TSR_KERNEL(classify_begin_kernel)(tsr_tile_pool pool, int64_t *first_bad)
{
    *first_bad = INT64_MAX;
    pool.state->count = 0;
    pool.state->inside_absent = 0;
}

TSR_KERNEL(load_count_kernel)(tsr_tile_pool pool, const uint8_t *codes, int64_t tiles)
{
    const tsr_tile_scratch s = tsr_scratch_of(&pool);
    int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x;
    int n = __syncthreads_count(i < tiles && codes[i] == 2);
    if (threadIdx.x == 0) s.block_counts[blockIdx.x] = (uint32_t)n;
}

/* Blocks of 1024 tiles: the block's first list position is the sum of the counts before it. */
TSR_KERNEL(load_list_kernel)(tsr_tile_pool pool, const uint8_t *codes, int64_t tiles)
{
    TSR_SHARED(uint32_t, shared, 33);
    TSR_SHARED(uint32_t, base, 1);
    const tsr_tile_scratch s = tsr_scratch_of(&pool);
    uint32_t sum, partial = 0;
    for (uint32_t b = threadIdx.x; b < blockIdx.x; b += blockDim.x) partial += s.block_counts[b];
    tsr_block_prefix(partial, shared, &sum);
    if (threadIdx.x == 0) base[0] = sum;
    __syncthreads();
    int64_t t = (int64_t)blockIdx.x * 1024 + threadIdx.x;
    int stored = t < tiles && codes[t] == 2;
    uint32_t place = base[0] + tsr_block_prefix((uint32_t)stored, shared, &sum);
    if (pool.table && t < tiles && !stored) pool.table[t] = codes[t] ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    if (!stored) return;
    uint64_t key =
        tsr_key_make((int32_t)(t % pool.tiles[0]), (int32_t)(t / pool.tiles[0] % pool.tiles[1]), (int32_t)(t / pool.tiles[0] / pool.tiles[1]));
    uint32_t id = TSR_TILE_FIRST + place;
    tsr_pool_key_put(&pool, 0, place, key);
    pool.id[0][place] = id;
    tsr_pool_key_of_put(&pool, id, key);
    if (pool.table) pool.table[t] = id;
}

/* One block per list entry: values and neighbours. */
template <int E> TSR_KERNEL(load_values_kernel)(tsr_tile_pool pool, const float *field, const uint8_t *codes)
{
    int32_t count = pool.state->count;
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        uint64_t key = tsr_pool_key(&pool, 0, at);
        uint32_t id = TSR_TILE_FIRST + (uint32_t)at;
        int64_t x0 = (int64_t)tsr_key_x(key) * E, y0 = (int64_t)tsr_key_y(key) * E, z0 = (int64_t)tsr_key_z(key) * E;
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            const float v = tsr_load_value(&pool, field, x0 + i % E, y0 + i / E % E, z0 + i / (E * E));
            pool.phi[0][(int64_t)id * E * E * E + i] = v;
            pool.phi[1][(int64_t)id * E * E * E + i] = v;
        }
        int32_t d = (int32_t)threadIdx.x;
        if (d >= TSR_TILE_DIRECTIONS) continue;
        uint64_t other = key + (uint64_t)tsr_key_offset(d);
        int32_t x = tsr_key_x(other), y = tsr_key_y(other), z = tsr_key_z(other);
        uint32_t entry = TSR_TILE_OUTSIDE;
        if (x >= 0 && y >= 0 && z >= 0 && x < pool.tiles[0] && y < pool.tiles[1] && z < pool.tiles[2]) {
            uint8_t code = codes[tsr_tile_linear(&pool, other)];
            entry = code == 2 ? TSR_TILE_FIRST + (uint32_t)tsr_keys_lower_bound(tsr_pool_keys(&pool, 0), count, other) : code;
        }
        pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d] = entry;
    }
}

TSR_KERNEL(load_finish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    tsr_pool_key_put(&pool, 0, state->count, TSR_KEY_END);
    if (state->count == 0 && pool.bounded && state->inside_absent > 0) state->background = TSR_TILE_INSIDE;
    state->list = 0;
    state->phi = 0;
    state->free_count = pool.capacity - TSR_TILE_FIRST - state->count;
    state->managed = 1;
    state->quiet = 0;
}

static tsr_status cuda_load_classify(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, uint8_t *codes, int64_t *first_bad)
{
    int64_t tiles = (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2];
    uint32_t blocks = tsr_blocks(tiles, 1, 64 * (int64_t)tsr_queue_processors(queue));
    TSR_LAUNCH(queue, classify_begin_kernel, 1, 1, 0, *pool, first_bad);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, classify_kernel<8>, blocks, 256, 0, *pool, field, codes, first_bad);
    else TSR_LAUNCH(queue, classify_kernel<4>, blocks, 64, 0, *pool, field, codes, first_bad);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- activity, painting, dense output ------------------------------------------------------------------------------------------------- */

/* Activity words and counts from the current field. */
template <int E> TSR_KERNEL(refresh_kernel)(tsr_tile_pool pool)
{
    enum { H = tsr_cube<E>::H, V = tsr_cube<E>::VOXELS };
    TSR_SHARED(float, cube, tsr_cube<E>::CELLS);
    TSR_SHARED(uint32_t, table, tsr_cube<E>::HALO);
    TSR_SHARED(uint32_t, row, TSR_TILE_DIRECTIONS);
    TSR_SHARED(uint32_t, areas, 1);
    tsr_tile_state *state = pool.state;
    const float *phi = pool.phi[state->phi];
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    tsr_pass_totals totals = {};
    if (threadIdx.x == 0) areas[0] = 0;
    tsr_halo_table<E>(table);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        int32_t extent[3];
        uint32_t id = ids[at], bits = 0;
        tsr_cube_of_tile<E>(pool, phi, tsr_key_at(keys, at), id, table, row, cube, extent);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            int32_t x = i % E, y = i / E % E, z = i / (E * E);
            if (x >= extent[0] || y >= extent[1] || z >= extent[2]) continue;
            const float *p = cube + ((z + 1) * H + y + 1) * H + x + 1;
            int in_band = p[0] > -pool.band && p[0] < pool.band;
            if (in_band || tsr_sign_change(p, H, H * H)) bits |= tsr_areas(x, y, z, E, pool.guard);
            totals.active += (uint32_t)in_band;
            totals.inside += p[0] < 0.0f;
        }
        tsr_activity_store(pool, id, bits, cube[(H + 1) * H + 1], areas);
        __syncthreads();
    }
    tsr_totals_add(state, totals);
}

/* Moves the counts of a refresh into the state. */
TSR_KERNEL(refresh_finish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    const unsigned long long *counts = (const unsigned long long *)(const void *)state->scratch;
    state->active_voxels = (int64_t)counts[TSR_COUNT_ACTIVE / 2];
    state->inside_voxels = (int64_t)counts[TSR_COUNT_INSIDE / 2];
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
}

static tsr_status cuda_refresh(tsr_queue *queue, const tsr_tile_pool *pool)
{
    uint32_t blocks = tsr_tile_blocks(queue, pool);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, refresh_kernel<8>, blocks, tsr_cube<8>::THREADS, 0, *pool);
    else TSR_LAUNCH(queue, refresh_kernel<4>, blocks, tsr_cube<4>::THREADS, 0, *pool);
    TSR_LAUNCH(queue, refresh_finish_kernel, 1, 1, 0, *pool);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_load_fill(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, const uint8_t *codes)
{
    int64_t tiles = (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2];
    uint32_t blocks = (uint32_t)((tiles + 1023) / 1024);
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(pool->capacity, 256, 1024), 256, 0, *pool, (int32_t)TSR_TILE_FIRST, (int32_t)TSR_TILE_OUTSIDE);
    TSR_LAUNCH(queue, load_count_kernel, blocks, 1024, 0, *pool, codes, tiles);
    TSR_LAUNCH(queue, load_list_kernel, blocks, 1024, 0, *pool, codes, tiles);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, load_values_kernel<8>, tsr_tile_blocks(queue, pool), 256, 0, *pool, field, codes);
    else TSR_LAUNCH(queue, load_values_kernel<4>, tsr_tile_blocks(queue, pool), 64, 0, *pool, field, codes);
    TSR_LAUNCH(queue, load_finish_kernel, 1, 1, 0, *pool);
    TSR_TRY(cuda_refresh(queue, pool));
    return TSR_OK;
}

template <int E> TSR_KERNEL(paint_kernel)(tsr_tile_pool pool, const tsr_tiles_sphere *spheres, int32_t count)
{
    const int32_t V = E * E * E;
    const tsr_tile_state *state = pool.state;
    float *phi = pool.phi[state->phi];
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        uint32_t id = pool.id[state->list][at];
        uint64_t key = tsr_pool_key(&pool, state->list, at);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            int32_t x = tsr_key_x(key) * E + i % E, y = tsr_key_y(key) * E + i / E % E, z = tsr_key_z(key) * E + i / (E * E);
            float v = phi[(int64_t)id * V + i];
            phi[(int64_t)id * V + i] = tsr_paint(v, x, y, z, pool.spacing, pool.band, spheres, count);
        }
    }
}

static tsr_status cuda_paint(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tiles_sphere *spheres, int32_t count)
{
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, paint_kernel<8>, tsr_tile_blocks(queue, pool), 256, 0, *pool, spheres, count);
    else TSR_LAUNCH(queue, paint_kernel<4>, tsr_tile_blocks(queue, pool), 64, 0, *pool, spheres, count);
    TSR_TRY(cuda_refresh(queue, pool));
    return TSR_OK;
}

/* One block per tile of the box that is written. */
template <int E>
TSR_KERNEL(store_kernel)
(tsr_tile_pool pool, int32_t fx, int32_t fy, int32_t fz, int64_t nx, int64_t ny, int64_t nz, float *field, uint8_t *mask)
{
    TSR_SHARED(uint32_t, found, 1);
    const tsr_tile_state *state = pool.state;
    const float *phi = pool.phi[state->phi];
    int32_t tx0 = fx >> pool.log2_edge, ty0 = fy >> pool.log2_edge, tz0 = fz >> pool.log2_edge;
    int64_t tx = ((fx + nx - 1) >> pool.log2_edge) - tx0 + 1, ty = ((fy + ny - 1) >> pool.log2_edge) - ty0 + 1,
            tz = ((fz + nz - 1) >> pool.log2_edge) - tz0 + 1;
    for (int64_t t = blockIdx.x; t < tx * ty * tz; t += gridDim.x) {
        int32_t kx = tx0 + (int32_t)(t % tx), ky = ty0 + (int32_t)(t / tx % ty), kz = tz0 + (int32_t)(t / tx / ty);
        if (threadIdx.x == 0)
            found[0] = tsr_tile_find(&pool, tsr_pool_keys(&pool, state->list), pool.id[state->list], state->count, state->background,
                                     tsr_key_make(kx, ky, kz));
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            int64_t x = (int64_t)kx * E + i % E - fx, y = (int64_t)ky * E + i / E % E - fy, z = (int64_t)kz * E + i / (E * E) - fz;
            if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz) continue;
            const float v = tsr_pool_value(&pool, phi, (int64_t)found[0] * (E * E * E) + i);
            if (field) field[(z * ny + y) * nx + x] = v;
            else mask[(z * ny + y) * nx + x] = v < 0.0f;
        }
        __syncthreads();
    }
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_tile_pool *pool, const int32_t first[3], const int64_t size[3], float *field, uint8_t *mask)
{
    uint32_t blocks = 64u * (uint32_t)tsr_queue_processors(queue);
    if (pool->log2_edge == 3)
        TSR_LAUNCH(queue, store_kernel<8>, blocks, 256, 0, *pool, first[0], first[1], first[2], size[0], size[1], size[2], field, mask);
    else TSR_LAUNCH(queue, store_kernel<4>, blocks, 64, 0, *pool, first[0], first[1], first[2], size[0], size[1], size[2], field, mask);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- sampling ------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(sample_kernel)(tsr_tile_pool pool, tsr_sample_map map, const float *positions, float *values, int64_t count)
{
    const tsr_tile_finder finder = tsr_finder_of(&pool);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        values[i] = tsr_tile_sample(&finder, &map, positions + 3 * i);
}

static tsr_status cuda_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_map *map, const float *positions, float *values,
                              int64_t count)
{
    TSR_LAUNCH(queue, sample_kernel, tsr_blocks(count, 256, 32 * (int64_t)tsr_queue_processors(queue)), 256, 0, *pool, *map, positions, values,
               count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const struct tsr_topology_ops tsr_topology_cuda;
extern "C" const tsr_tiles_ops tsr_tiles_cuda = { cuda_scratch_words, cuda_clear,   cuda_load_classify, cuda_load_fill,    tsr_tiles_cuda_insert,
                                                  cuda_paint,         cuda_refresh, cuda_manage,        cuda_grow,         cuda_compact,
                                                  cuda_recode,        cuda_store,   cuda_sample,        &tsr_topology_cuda };
