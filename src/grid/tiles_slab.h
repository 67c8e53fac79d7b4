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
    uint32_t halo[tsr_slab<E>::HALOS]; /* the same for every slab: byte of the cell | entry of the rows << 15 | voxel << 23 */
    float value[tsr_slab<E>::HALOS];
    float4 own;
    uint32_t id; /* of the own tile of the slab whose values are in flight */
};

/* Is the k-th halo cell of this thread one? All but the last are known to the compiler. */
template <int E> TSR_DEVICE_FN int tsr_slab_has(int32_t k)
{
    enum { CELLS = tsr_cube<E>::HALO * tsr_slab<E>::TILES };
    return (k + 1) * TSR_SLAB_THREADS <= CELLS || (int32_t)threadIdx.x < CELLS - k * TSR_SLAB_THREADS;
}

template <int E> TSR_DEVICE_FN void tsr_slab_begin(uint32_t *table /* shared, at least the halo of a cube */, tsr_slab_loads<E> *l)
{
    typedef tsr_slab<E> S;
    enum { HALO = tsr_cube<E>::HALO, H = S::H };
    tsr_halo_table<E>(table);
    __syncthreads();
#pragma unroll 1
    for (int32_t k = 0; k < S::HALOS; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x, tile = tsr_mini(n / HALO, S::TILES - 1);
        const uint32_t word = table[n % HALO];
        const int32_t i = (int32_t)(word & 1023u), cell = tile * S::CUBE + S::cell(i % H - 1, i / H % H - 1, i / (H * H) - 1);
        l->halo[k] = (uint32_t)cell * 4u | (((uint32_t)tile * TSR_NEIGHBOUR_ROW + (word >> 10 & 31u)) << 15) | word >> 15 << 23;
    }
    __syncthreads();
}

/* Neighbour rows of a slab, and in entry TSR_SLAB_EDGE of each whether the tile touches the faces of the domain. They come in two loads, one
 * slab apart, so that neither is waited for: the ids (and the keys), then the entries, which stay in registers until put. */
enum { TSR_SLAB_EDGE = TSR_TILE_DIRECTIONS, TSR_SLAB_ENTRIES };
template <int E> struct tsr_slab_rows {
    enum { EACH = (TSR_SLAB_ENTRIES * tsr_slab<E>::TILES + TSR_SLAB_THREADS - 1) / TSR_SLAB_THREADS };
    uint64_t tile[EACH]; /* id, or key for the entry TSR_SLAB_EDGE; the first tile's beyond the end of the list */
    uint32_t entry[EACH];
};
template <int E>
TSR_DEVICE_FN void tsr_slab_rows_begin(const uint64_t *keys, const uint32_t *ids, int32_t count, int32_t first, tsr_slab_rows<E> *r)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x, at = first + n / TSR_SLAB_ENTRIES;
        r->tile[k] = 0;
        if (n >= TSR_SLAB_ENTRIES * tsr_slab<E>::TILES || at >= count) continue;
        if (n % TSR_SLAB_ENTRIES == TSR_SLAB_EDGE) r->tile[k] = keys[at];
        else r->tile[k] = ids[at];
    }
}
template <int E> TSR_DEVICE_FN void tsr_slab_rows_load(const tsr_tile_pool &pool, tsr_slab_rows<E> *r)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x, d = n % TSR_SLAB_ENTRIES;
        r->entry[k] = 0;
        if (n >= TSR_SLAB_ENTRIES * tsr_slab<E>::TILES) continue;
        if (d != TSR_SLAB_EDGE) r->entry[k] = pool.neighbours[(int64_t)r->tile[k] * TSR_NEIGHBOUR_ROW + d];
        else if (pool.bounded && r->tile[k]) r->entry[k] = (uint32_t)tsr_tile_touches<E>(pool, r->tile[k]);
    }
}
template <int E> TSR_DEVICE_FN void tsr_slab_rows_put(const tsr_slab_rows<E> *r, uint32_t *row)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * TSR_SLAB_THREADS + (int32_t)threadIdx.x;
        if (n < TSR_SLAB_ENTRIES * tsr_slab<E>::TILES) row[n / TSR_SLAB_ENTRIES * TSR_NEIGHBOUR_ROW + n % TSR_SLAB_ENTRIES] = r->entry[k];
    }
}

/* Issues the loads of the slab whose rows are in `row`; a barrier lies between. Places beyond the end of the list hold tile 0, whose voxels never
 * move. */
template <int E> TSR_DEVICE_FN void tsr_slab_load(const float *phi, const uint32_t *row, tsr_slab_loads<E> *l)
{
    typedef tsr_slab<E> S;
    enum { V = E * E * E };
    const int32_t tile = (int32_t)threadIdx.x / S::SHARE, in_tile = (int32_t)threadIdx.x % S::SHARE;
    l->id = row[tile * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE];
    l->own = ((const float4 *)(phi + (int64_t)l->id * V))[in_tile];
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++)
        if (tsr_slab_has<E>(k)) l->value[k] = (phi + (int64_t)row[l->halo[k] >> 15 & 255u] * V)[l->halo[k] >> 23];
}

/* Cells of the own tile's cube beyond the domain take the value at the clamped coordinate. Returns which of the own four voxels lie in it. */
template <int E> TSR_DEVICE_FN uint32_t tsr_slab_clamp(const tsr_tile_pool &pool, uint64_t key, float *cube)
{
    typedef tsr_slab<E> S;
    const int32_t in_tile = (int32_t)threadIdx.x % S::SHARE, v = in_tile * 4;
    int32_t extent[3], first[3], low[3], high[3];
    if (!tsr_tile_extent<E>(pool, key, extent, first)) return 15u;
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
    if (v / E % E >= extent[1] || v / (E * E) >= extent[2]) return 0u;
    return (1u << tsr_mini(tsr_maxi(extent[0] - v % E, 0), 4)) - 1u;
}

/* Puts what was loaded into the cubes; `row` and `first` are of this slab. Ends with a barrier. Returns which of the own four voxels lie in the
 * domain. */
template <int E>
TSR_DEVICE_FN uint32_t tsr_slab_put(const tsr_tile_pool &pool, const uint64_t *keys, int32_t count, int32_t first, const uint32_t *row,
                                    const tsr_slab_loads<E> *l, float *cubes)
{
    typedef tsr_slab<E> S;
    const int32_t tile = (int32_t)threadIdx.x / S::SHARE, v = (int32_t)threadIdx.x % S::SHARE * 4;
    float *cube = cubes + tile * S::CUBE;
    uint32_t within = 15u;
    *(float4 *)(void *)(cube + S::cell(v % E, v / E % E, v / (E * E))) = l->own;
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++)
        if (tsr_slab_has<E>(k)) *(float *)(void *)((char *)cubes + (l->halo[k] & 32767u)) = l->value[k];
    const int touches = row[tile * TSR_NEIGHBOUR_ROW + TSR_SLAB_EDGE] != 0u;
    if (S::TILES == 1 ? (__syncthreads(), touches) : __syncthreads_or(touches)) {
        if (touches) within = tsr_slab_clamp<E>(pool, keys[tsr_mini(first + tile, count)], cube);
        __syncthreads();
    }
    return within;
}

/* Blocks of a persistent grid over slabs. */
static inline uint32_t tsr_slab_blocks(const tsr_queue *queue, const tsr_tile_pool *pool, int32_t per_processor)
{
    return tsr_blocks(pool->capacity, pool->log2_edge == 3 ? 1 : 8, (int64_t)tsr_queue_processors(queue) * per_processor);
}

#endif
