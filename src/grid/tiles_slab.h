/* grid/tiles_slab.h: kernels that pass over all voxels of a sorted tile list, with the memory always busy.
 *
 * A block of 128 threads takes a slab of 512 voxels at a time: one tile of edge 8, or eight of edge 4, one after another in the list. Its field
 * with a halo of one voxel lies in shared memory; while it is computed, the values of the next slab are on their way to registers and the
 * neighbour rows of the one after that on their way, too. Thread t owns the four voxels 4t .. 4t + 3 of the slab (x fastest).
 *
 * Cubes: rows of P = E + 4 floats, voxel (x, y, z) at ((z+1) H + y+1) P + x+4, so that the rows of a tile are whole 16-byte words; the cell to
 * the right of a row is the first of the next row's pad. */
#ifndef TSR_GRID_TILES_SLAB_H
#define TSR_GRID_TILES_SLAB_H

#include "grid/tiles_kernel.h"

enum { TSR_SLAB_THREADS = 128, TSR_SLAB_VOXELS = 512 };

template <int E> struct tsr_slab {
    enum {
        TILES = TSR_SLAB_VOXELS / (E * E * E),
        SHARE = TSR_SLAB_THREADS / TILES, /* threads of a tile */
        H = E + 2,
        P = E + 4,
        CUBE = H * H * P + 4, /* floats of a cube */
        HALOS = (tsr_cube<E>::HALO * TILES + TSR_SLAB_THREADS - 1) / TSR_SLAB_THREADS
    };
    TSR_INSIDE static int32_t cell(int32_t x, int32_t y, int32_t z) { return ((z + 1) * H + y + 1) * P + x + 4; }
};

/* Shared memory of a block. */
template <int E> struct tsr_slab_shared {
    float4 cube[tsr_slab<E>::TILES * tsr_slab<E>::CUBE / 4];
    uint32_t row[2][tsr_slab<E>::TILES * TSR_NEIGHBOUR_ROW]; /* neighbour rows of this slab and the next */
};

/* What a thread has in flight. */
template <int E> struct tsr_slab_loads {
    uint32_t halo[tsr_slab<E>::HALOS]; /* the same for every slab: cell | direction << 13 | voxel << 18 | tile << 27, or none */
    float value[tsr_slab<E>::HALOS];
    float4 own;
    uint32_t id; /* of the own tile of the slab whose values are in flight */
    uint64_t key;
    int32_t have; /* 0: beyond the end of the list */
};
enum { TSR_SLAB_NO_HALO = 0x7fffffff };

template <int E> TSR_DEVICE_FN void tsr_slab_begin(uint32_t *table /* shared, at least the halo of a cube */, tsr_slab_loads<E> *l)
{
    typedef tsr_slab<E> S;
    enum { HALO = tsr_cube<E>::HALO, H = S::H };
    tsr_halo_table<E>(table);
    __syncthreads();
    for (int32_t k = 0; k < S::HALOS; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x, tile = n / HALO;
        l->halo[k] = TSR_SLAB_NO_HALO;
        if (tile >= S::TILES) continue;
        const uint32_t word = table[n % HALO];
        const int32_t i = (int32_t)(word & 1023u), cell = tile * S::CUBE + S::cell(i % H - 1, i / H % H - 1, i / (H * H) - 1);
        l->halo[k] = (uint32_t)cell | (word >> 10 & 31u) << 13 | word >> 15 << 18 | (uint32_t)tile << 27;
    }
    __syncthreads();
}

/* Neighbour row entry of the slab that begins at `first`: threads of a tile share its 27 entries; kept in a register until put. */
template <int E> struct tsr_slab_rows {
    enum { EACH = (TSR_TILE_DIRECTIONS * tsr_slab<E>::TILES + TSR_SLAB_THREADS - 1) / TSR_SLAB_THREADS };
    uint32_t entry[EACH];
};
template <int E>
TSR_DEVICE_FN void tsr_slab_rows_load(const tsr_tile_pool &pool, const uint32_t *ids, int32_t count, int32_t first, tsr_slab_rows<E> *r)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x, at = first + n / TSR_TILE_DIRECTIONS;
        r->entry[k] = 0;
        if (n < TSR_TILE_DIRECTIONS * tsr_slab<E>::TILES && at < count)
            r->entry[k] = pool.neighbours[(int64_t)ids[at] * TSR_NEIGHBOUR_ROW + n % TSR_TILE_DIRECTIONS];
    }
}
template <int E> TSR_DEVICE_FN void tsr_slab_rows_put(const tsr_slab_rows<E> *r, uint32_t *row)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x;
        if (n < TSR_TILE_DIRECTIONS * tsr_slab<E>::TILES) row[n / TSR_TILE_DIRECTIONS * TSR_NEIGHBOUR_ROW + n % TSR_TILE_DIRECTIONS] = r->entry[k];
    }
}

/* Issues the loads of the slab that begins at `first`; its rows are in `row`, and a barrier lies between. */
template <int E>
TSR_DEVICE_FN void tsr_slab_load(const float *phi, const uint64_t *keys, int32_t count, int32_t first, const uint32_t *row, tsr_slab_loads<E> *l)
{
    typedef tsr_slab<E> S;
    const int32_t tile = (int32_t)threadIdx.x / S::SHARE, in_tile = (int32_t)threadIdx.x % S::SHARE;
    l->have = first + tile < count;
    l->key = keys[tsr_mini(first + tile, count)];
    l->id = row[tile * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE];
    l->own = ((const float4 *)(phi + (int64_t)l->id * (E * E * E)))[in_tile];
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++) {
        const uint32_t word = l->halo[k];
        if (word != TSR_SLAB_NO_HALO)
            l->value[k] = phi[(int64_t)row[(word >> 27) * TSR_NEIGHBOUR_ROW + (word >> 13 & 31u)] * (E * E * E) + (word >> 18 & 511u)];
    }
}

/* Puts what was loaded into the cubes. Ends with a barrier. `extent` returns the voxels of the own tile inside the domain; cells beyond it take
 * the value at the clamped coordinate. Places beyond the end of the list hold tile 0, whose voxels never move. */
template <int E> TSR_DEVICE_FN void tsr_slab_put(const tsr_tile_pool &pool, const tsr_slab_loads<E> *l, float *cubes, int32_t extent[3])
{
    typedef tsr_slab<E> S;
    const int32_t tile = (int32_t)threadIdx.x / S::SHARE, in_tile = (int32_t)threadIdx.x % S::SHARE, v = in_tile * 4;
    float *cube = cubes + tile * S::CUBE;
    *(float4 *)(void *)(cube + S::cell(v % E, v / E % E, v / (E * E))) = l->own;
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++)
        if (l->halo[k] != TSR_SLAB_NO_HALO) cubes[l->halo[k] & 8191u] = l->value[k];
    extent[0] = extent[1] = extent[2] = E;
    if (!pool.bounded) {
        __syncthreads();
        return;
    }
    int32_t first[3], low[3], high[3];
    const int touches = l->have && tsr_tile_extent<E>(pool, l->key, extent, first);
    if (!__syncthreads_or(touches)) return;
    if (touches) {
        for (int k = 0; k < 3; k++) {
            low[k] = first[k] == 0 ? 0 : -1;
            high[k] = first[k] + E < pool.domain[k] ? E : extent[k] - 1;
        }
        for (int32_t i = in_tile; i < S::H * S::H * S::H; i += S::SHARE) {
            const int32_t x = i % S::H - 1, y = i / S::H % S::H - 1, z = i / (S::H * S::H) - 1;
            const int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]),
                          cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
            if (cx != x || cy != y || cz != z) cube[S::cell(x, y, z)] = cube[S::cell(cx, cy, cz)];
        }
    }
    __syncthreads();
}

/* Blocks of a persistent grid over slabs. */
static inline uint32_t tsr_slab_blocks(const tsr_queue *queue, const tsr_tile_pool *pool, int32_t per_processor)
{
    return tsr_blocks(pool->capacity, pool->log2_edge == 3 ? 1 : 8, (int64_t)tsr_queue_processors(queue) * per_processor);
}

#endif
