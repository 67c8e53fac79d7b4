/* tiles/tiles_kernel.h: what kernels over a sorted tile list share: the halo cube of a tile in shared memory, and the totals of a pass.
 *
 * One block works on one tile at a time. The cube has (E+2)^3 floats; voxel (x, y, z) of the tile lies at ((z+1) H + y+1) H + x+1. The own
 * values come as 16-byte loads; the halo follows a table that every block builds once (docs/theory/tiles.md 4): destination in the cube,
 * neighbour direction, voxel there. */
#ifndef TSR_TILES_TILES_KERNEL_H
#define TSR_TILES_TILES_KERNEL_H

#include "device/kernel.h"
#include "tiles/tile_pool.h"

template <int E> struct tsr_cube {
    enum { H = E + 2, VOXELS = E * E * E, CELLS = H * H * H, HALO = CELLS - VOXELS, THREADS = E == 8 ? 128 : 64, PER_THREAD = VOXELS / THREADS };
};

enum { TSR_SMALL_LIST = 1 << 18 }; /* capacity up to which one block sorts and plans a management pass, which looks at every tile */

/* Words of the halo table: dst | direction << 10 | source << 15. Filled by all threads of the block. */
template <int E> TSR_DEVICE_FN void tsr_halo_table(uint32_t *table)
{
    enum { H = tsr_cube<E>::H };
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cube<E>::CELLS; i += (int32_t)blockDim.x) {
        int32_t x = i % H, y = i / H % H, z = i / (H * H);
        if (x > 0 && x < H - 1 && y > 0 && y < H - 1 && z > 0 && z < H - 1) continue;
        /* rank among the halo cells: cells before this one minus own voxels before it */
        int32_t planes = z > 1 ? z - 1 : 0, in_plane = z > 0 && z < H - 1;
        int32_t rows = in_plane ? (y > 1 ? y - 1 : 0) : 0, in_row = in_plane && y > 0 && y < H - 1;
        int32_t before = (planes < E ? planes : E) * E * E + (rows < E ? rows : E) * E + (in_row ? (x > 1 ? x - 1 : 0) : 0);
        int32_t dx = (x + E - 1) / E - 1, dy = (y + E - 1) / E - 1, dz = (z + E - 1) / E - 1;
        int32_t sx = (x + E - 1) % E, sy = (y + E - 1) % E, sz = (z + E - 1) % E;
        table[i - before] = (uint32_t)i | (uint32_t)(9 * (dz + 1) + 3 * (dy + 1) + dx + 1) << 10 | (uint32_t)((sz * E + sy) * E + sx) << 15;
    }
}

/* Four codes of 16 bits as values, and back. */
TSR_DEVICE_FN float4 tsr_quad_values(const tsr_coding *c, uint2 codes)
{
    return make_float4(tsr_code_value(c, (int16_t)(codes.x & 0xffffu)), tsr_code_value(c, (int16_t)(codes.x >> 16)),
                       tsr_code_value(c, (int16_t)(codes.y & 0xffffu)), tsr_code_value(c, (int16_t)(codes.y >> 16)));
}
TSR_DEVICE_FN uint2 tsr_quad_codes(const tsr_coding *c, float4 v)
{
    return make_uint2(((uint32_t)tsr_code_of(c, v.x) & 0xffffu) | (uint32_t)tsr_code_of(c, v.y) << 16,
                      ((uint32_t)tsr_code_of(c, v.z) & 0xffffu) | (uint32_t)tsr_code_of(c, v.w) << 16);
}

/* Values 4 i to 4 i + 3 of one of the arrays phi. */
TSR_DEVICE_FN float4 tsr_quad_load(const tsr_tile_pool &pool, const float *phi, int64_t i)
{
    if (!pool.coded) return ((const float4 *)(const void *)phi)[i];
    const tsr_coding c = tsr_coding_of(pool.band);
    return tsr_quad_values(&c, ((const uint2 *)(const void *)phi)[i]);
}

/* Loads the cube of tile `id`; `row` is shared memory for 27 neighbour ids. Ends with a barrier. */
template <int E>
TSR_DEVICE_FN void tsr_cube_load(const tsr_tile_pool &pool, const float *phi, uint32_t id, const uint32_t *table, uint32_t *row, float *cube)
{
    enum { H = tsr_cube<E>::H, V = tsr_cube<E>::VOXELS };
    if (threadIdx.x < TSR_TILE_DIRECTIONS) row[threadIdx.x] = pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + threadIdx.x];
    for (int32_t i = (int32_t)threadIdx.x; i < V / 4; i += (int32_t)blockDim.x) {
        float4 v = tsr_quad_load(pool, phi, (int64_t)id * (V / 4) + i);
        int32_t at = i * 4, x = at % E, y = at / E % E, z = at / (E * E);
        float *to = cube + ((z + 1) * H + y + 1) * H + x + 1;
        to[0] = v.x;
        to[1] = v.y;
        to[2] = v.z;
        to[3] = v.w;
    }
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cube<E>::HALO; i += (int32_t)blockDim.x) {
        uint32_t word = table[i];
        cube[word & 1023u] = tsr_pool_value(&pool, phi, (int64_t)row[word >> 10 & 31u] * V + (word >> 15));
    }
    __syncthreads();
}

/* Voxels of the tile inside the domain, per axis (E where the domain does not end in it), and whether the halo leaves the domain. */
template <int E> TSR_DEVICE_FN int tsr_tile_extent(const tsr_tile_pool &pool, uint64_t key, int32_t extent[3], int32_t first[3])
{
    first[0] = tsr_key_x(key) * E;
    first[1] = tsr_key_y(key) * E;
    first[2] = tsr_key_z(key) * E;
    int touches = 0;
    for (int k = 0; k < 3; k++) {
        extent[k] = E;
        if (!pool.bounded) continue;
        int32_t left = pool.domain[k] - first[k];
        extent[k] = left < E ? left : E;
        touches |= first[k] == 0 || left <= E;
    }
    return touches;
}

/* Does the tile touch or cross a face of the domain? */
template <int E> TSR_DEVICE_FN int tsr_tile_touches(const tsr_tile_pool &pool, uint64_t key)
{
    int32_t extent[3], first[3];
    return tsr_tile_extent<E>(pool, key, extent, first);
}

/* Replaces cube cells beyond the domain by the cell at the clamped coordinate; low and high are the first and last cells inside. Ends with a
 * barrier. */
template <int E> TSR_DEVICE_FN void tsr_cube_clamp(const int32_t low[3], const int32_t high[3], float *cube)
{
    enum { H = tsr_cube<E>::H };
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cube<E>::CELLS; i += (int32_t)blockDim.x) {
        int32_t x = i % H, y = i / H % H, z = i / (H * H);
        int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]), cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
        int32_t from = (cz * H + cy) * H + cx;
        if (from != i) cube[i] = cube[from];
    }
    __syncthreads();
}
/* Loads and clamps. `extent` returns the voxels inside the domain per axis. */
template <int E>
TSR_DEVICE_FN void tsr_cube_of_tile(const tsr_tile_pool &pool, const float *phi, uint64_t key, uint32_t id, const uint32_t *table, uint32_t *row,
                                    float *cube, int32_t extent[3])
{
    int32_t first[3], low[3], high[3];
    int touches = tsr_tile_extent<E>(pool, key, extent, first);
    tsr_cube_load<E>(pool, phi, id, table, row, cube);
    if (!touches) return;
    for (int k = 0; k < 3; k++) {
        low[k] = first[k] == 0 ? 1 : 0;
        high[k] = first[k] + E < pool.domain[k] ? E + 1 : extent[k];
    }
    tsr_cube_clamp<E>(low, high, cube);
}

/* ---- totals of a pass ------------------------------------------------------------------------------------------------------------- */

/* Words of tsr_tile_state.scratch while a pass runs. */
enum {
    TSR_COUNT_ACTIVE = 0,
    TSR_COUNT_INSIDE = 2,
    TSR_COUNT_CHANGE = 4,
    TSR_COUNT_SPEED = 6,
    TSR_COUNT_REQUESTS = 7,
    TSR_COUNT_REMOVED = 8,
    TSR_COUNT_TIME_STEP = 9,
    TSR_COUNT_BLOCKS = 10,
    TSR_COUNT_PLANNED = 11, /* the pass is planned */
    TSR_COUNT_TASKS = 12,
    TSR_COUNT_SORTED = 13
};

typedef struct tsr_pass_totals {
    uint32_t active, inside, speed_bits;
    uint64_t change;
} tsr_pass_totals;

TSR_DEVICE_FN uint64_t tsr_warp_sum64(uint64_t v)
{
    for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(TSR_WARP_ALL, v, step);
    return v;
}

/* Adds the totals of all threads of the block to the state: integers, so the order does not matter. All threads must call it. */
TSR_DEVICE_FN void tsr_totals_add(tsr_tile_state *state, tsr_pass_totals t)
{
    uint32_t active = __reduce_add_sync(TSR_WARP_ALL, t.active), inside = __reduce_add_sync(TSR_WARP_ALL, t.inside);
    uint32_t speed = __reduce_max_sync(TSR_WARP_ALL, t.speed_bits);
    uint64_t change = tsr_warp_sum64(t.change);
    if ((threadIdx.x & 31u) != 0) return;
    unsigned long long *counts = (unsigned long long *)(void *)state->scratch;
    if (active) atomicAdd(&counts[TSR_COUNT_ACTIVE / 2], (unsigned long long)active);
    if (inside) atomicAdd(&counts[TSR_COUNT_INSIDE / 2], (unsigned long long)inside);
    if (change) atomicAdd(&counts[TSR_COUNT_CHANGE / 2], (unsigned long long)change);
    if (speed) atomicMax(&state->scratch[TSR_COUNT_SPEED], speed);
}

/* The totals of a step and its field become current: one thread. All is read before anything is written, so that the loads are waited for once. */
TSR_DEVICE_FN void tsr_publish_step(tsr_tile_state *state)
{
    const unsigned long long *counts = (const unsigned long long *)(const void *)state->scratch;
    const unsigned long long active = counts[TSR_COUNT_ACTIVE / 2], inside = counts[TSR_COUNT_INSIDE / 2], change = counts[TSR_COUNT_CHANGE / 2];
    const uint32_t speed = state->scratch[TSR_COUNT_SPEED];
    const float step = tsr_bits_float(state->scratch[TSR_COUNT_TIME_STEP]);
    const double time = state->time;
    const int32_t phi = state->phi, steps = state->steps;
    state->time_step = step;
    state->time = time + (double)step;
    state->active_voxels = (int64_t)active;
    state->inside_voxels = (int64_t)inside;
    state->change = (uint64_t)change;
    state->speed_bits = speed;
    state->phi = phi ^ 1;
    state->steps = steps + 1;
}

/* Activity word of a tile from the area bits of its voxels: all threads of the block give theirs, thread 0 stores. `shared` is one word that
 * is zero on entry and on return. */
TSR_DEVICE_FN void tsr_activity_store(const tsr_tile_pool &pool, uint32_t id, uint32_t areas, float first_value, uint32_t *shared)
{
    areas = __reduce_or_sync(TSR_WARP_ALL, areas);
    if ((threadIdx.x & 31u) == 0 && areas) atomicOr(shared, areas);
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t all = *shared;
        pool.activity[id] = tsr_activity_word(0u, all, first_value > 0.0f);
        *shared = 0;
    }
}

/* Blocks of a persistent grid for one-tile-at-a-time kernels. */
static inline uint32_t tsr_tile_blocks(const tsr_queue *queue, const tsr_tile_pool *pool)
{
    return tsr_blocks(pool->capacity, 1, (int64_t)tsr_queue_processors(queue) * (pool->log2_edge == 3 ? 16 : 32));
}

/* tiles_ops.manage; after a step (stepped != 0) it also publishes the totals of the step: counts, phi, steps, time. Defined in tiles_cuda.cu. */
tsr_status tsr_tiles_cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped);

#endif
