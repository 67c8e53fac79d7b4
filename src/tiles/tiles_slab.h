/* tiles/tiles_slab.h: kernels that pass over all voxels of a sorted tile list, with the memory always busy.
 *
 * A block takes a slab of 512 voxels at a time: 64 threads one tile of edge 8, or 128 threads eight of edge 4, one after another in the list. Its field
 * with a halo of one voxel lies in shared memory; while it is computed, the values of the next slab are on their way to registers, the neighbour
 * rows of the one after that and the ids of the one after that, too. Thread t owns the quads t, t + THREADS, ... of the slab: voxels 4q .. 4q + 3,
 * x fastest.
 *
 * Cubes: voxel (x, y, z) at (z+1) Q + (y+1) P + x+4, so that the rows of a tile are whole 16-byte words, and P and Q chosen so that neither eight
 * quads one after another nor four rows of eight voxels share a bank (voxels of a slanted band: 1.9 to a bank, which no choice betters); the cell to the right of a row is the first of the next row's pad. */
#ifndef TSR_TILES_TILES_SLAB_H
#define TSR_TILES_TILES_SLAB_H

#include <math.h>

#include "tiles/tiles_kernel.h"

enum { TSR_SLAB_VOXELS = 512, TSR_SLAB_QUADS = TSR_SLAB_VOXELS / 4 };

template <int E> struct tsr_slab {
    enum {
        THREADS = E == 8 ? 64 : 128,
        OWN = TSR_SLAB_QUADS / THREADS, /* quads of a thread */
        TILES = TSR_SLAB_VOXELS / (E * E * E),
        SHARE = TSR_SLAB_QUADS / TILES, /* quads of a tile */
        H = E + 2,
        P = E == 8 ? 24 : 8,
        Q = H * P + 4,
        CUBE = H * Q + 4,          /* floats of a cube */
        HALO = 6 * E * E + 12 * E, /* cells around a tile but the corners, which no scheme reads */
        HALOS = (HALO * TILES + THREADS - 1) / THREADS
    };
    TSR_INSIDE static int32_t cell(int32_t x, int32_t y, int32_t z) { return (z + 1) * Q + (y + 1) * P + x + 4; }
};

/* The h-th own quad. */
template <int E> TSR_DEVICE_FN int32_t tsr_slab_quad(int32_t h) { return h * tsr_slab<E>::THREADS + (int32_t)threadIdx.x; }
/* Its tile in the slab, and the cell of its first voxel. */
template <int E> TSR_DEVICE_FN int32_t tsr_slab_tile(int32_t quad) { return quad / tsr_slab<E>::SHARE; }
template <int E> TSR_DEVICE_FN int32_t tsr_slab_cell(int32_t quad)
{
    typedef tsr_slab<E> S;
    const int32_t v = quad % S::SHARE * 4;
    return quad / S::SHARE * S::CUBE + S::cell(v % E, v / E % E, v / (E * E));
}

/* Shared memory of a block. */
template <int E> struct tsr_slab_shared {
    float4 cube[tsr_slab<E>::TILES * tsr_slab<E>::CUBE / 4];
    uint32_t row[2][tsr_slab<E>::TILES * TSR_NEIGHBOUR_ROW]; /* neighbour rows of this slab and the next */
};

/* How the field is stored: one value, four of them, and what they are in float32. */
struct tsr_slab_floats {
    typedef float cell, held; /* held: in a register */
    typedef float4 quad;
    TSR_INSIDE static float value(const tsr_tile_pool &, held v) { return v; }
    TSR_INSIDE static float4 values(const tsr_tile_pool &, quad v) { return v; }
    TSR_INSIDE static quad stored(const tsr_tile_pool &, float4 v) { return v; }
};
struct tsr_slab_codes { /* of 16 bits: tile_code.h */
    typedef int16_t cell;
    typedef int32_t held;
    typedef uint2 quad;
    TSR_INSIDE static float value(const tsr_tile_pool &pool, held v)
    {
        const tsr_coding c = tsr_coding_of(pool.band);
        return tsr_code_value(&c, v);
    }
    TSR_INSIDE static float4 values(const tsr_tile_pool &pool, quad v)
    {
        const tsr_coding c = tsr_coding_of(pool.band);
        return tsr_quad_values(&c, v);
    }
    TSR_INSIDE static quad stored(const tsr_tile_pool &pool, float4 v)
    {
        const tsr_coding c = tsr_coding_of(pool.band);
        return tsr_quad_codes(&c, v);
    }
};

/* What a thread has in flight. K: how the field is stored. */
template <int E, class K = tsr_slab_floats> struct tsr_slab_loads {
    uint32_t halo[tsr_slab<E>::HALOS]; /* the same for every slab: byte of the cell | entry of the rows << 15 | voxel << 23 */
    typename K::held value[tsr_slab<E>::HALOS];
    typename K::quad own[tsr_slab<E>::OWN];
    uint32_t id[tsr_slab<E>::OWN]; /* of the own quads' tiles */
};

/* Is the k-th halo cell of this thread one? All but the last are known to the compiler. */
template <int E> TSR_DEVICE_FN int tsr_slab_has(int32_t k)
{
    enum { CELLS = tsr_slab<E>::HALO * tsr_slab<E>::TILES, THREADS = tsr_slab<E>::THREADS };
    return (k + 1) * THREADS <= CELLS || (int32_t)threadIdx.x < CELLS - k * THREADS;
}

/* Place of the n-th halo cell: the faces along z, each with the edges around it, those along y and x, then the edges along z. So the lanes of a warp, which
 * load cells one after another, meet as few lines of memory as may be: 26 a tile of edge 4, in groups of 16 cells. */
template <int E> TSR_DEVICE_FN void tsr_slab_halo_place(int32_t n, int32_t *x, int32_t *y, int32_t *z)
{
    enum { FACE = E * E, SIDE = FACE + 4 * E };
    const int32_t along = n % E,
                  turned = n >= 2 * SIDE ? n - 2 * SIDE : n % SIDE - FACE; /* among the faces along y and x, or the edges of one along z */
    const int32_t across = turned / (n >= 2 * SIDE ? FACE : E), beyond = across & 1 ? E : -1;
    *z = n < 2 * SIDE ? (n < SIDE ? -1 : E) : n / E % E;
    *x = across < 2 ? along : beyond;
    *y = across < 2 ? beyond : along;
    if (turned < 0) *y = n % SIDE / E; /* a face along z */
    if (n >= 2 * SIDE + 4 * FACE) {    /* an edge along z */
        *x = n / E & 1 ? E : -1;
        *y = n / E & 2 ? E : -1;
        *z = along;
    }
}

/* Byte of the cell | direction << 15 | voxel << 23 of each halo cell of the first tile; all threads of the block fill the table. */
template <int E> TSR_DEVICE_FN void tsr_slab_table(uint32_t *table /* [HALO] */)
{
    for (int32_t n = (int32_t)threadIdx.x; n < tsr_slab<E>::HALO; n += tsr_slab<E>::THREADS) {
        int32_t x, y, z;
        tsr_slab_halo_place<E>(n, &x, &y, &z);
        const int32_t direction = 9 * ((z + E) / E) + 3 * ((y + E) / E) + (x + E) / E,
                      voxel = ((z & (E - 1)) * E + (y & (E - 1))) * E + (x & (E - 1));
        table[n] = (uint32_t)tsr_slab<E>::cell(x, y, z) * 4u | (uint32_t)direction << 15 | (uint32_t)voxel << 23;
    }
}

/* Word k of tsr_slab_loads.halo. */
template <int E> TSR_DEVICE_FN uint32_t tsr_slab_halo(const uint32_t *table, int32_t k)
{
    typedef tsr_slab<E> S;
    const int32_t n = k * S::THREADS + (int32_t)threadIdx.x, tile = tsr_mini(n / S::HALO, S::TILES - 1);
    return table[n % S::HALO] + (uint32_t)tile * (S::CUBE * 4u + (TSR_NEIGHBOUR_ROW << 15));
}

template <int E, class K> TSR_DEVICE_FN void tsr_slab_begin(uint32_t *table /* shared, [HALO] */, tsr_slab_loads<E, K> *l)
{
    tsr_slab_table<E>(table);
    __syncthreads();
#pragma unroll 1
    for (int32_t k = 0; k < tsr_slab<E>::HALOS; k++) l->halo[k] = tsr_slab_halo<E>(table, k);
    __syncthreads();
}

/* The same for a kernel that passes over the list many times: the words come by way of shared memory, so that they stand in registers. */
enum { TSR_SLAB_TABLE = 512, TSR_SLAB_WORDS = TSR_SLAB_TABLE + 1280 };
template <int E, class K> TSR_DEVICE_FN void tsr_slab_begin_once(uint32_t *words /* shared, TSR_SLAB_WORDS */, tsr_slab_loads<E, K> *l)
{
    enum { THREADS = tsr_slab<E>::THREADS, HALOS = tsr_slab<E>::HALOS };
    uint32_t *own = words + TSR_SLAB_TABLE + threadIdx.x;
    tsr_slab_table<E>(words);
    __syncthreads();
#pragma unroll 1
    for (int32_t k = 0; k < HALOS; k++) own[k * THREADS] = tsr_slab_halo<E>(words, k);
#pragma unroll
    for (int32_t k = 0; k < HALOS; k++) l->halo[k] = own[k * THREADS];
    __syncthreads();
}

/* Neighbour rows of a slab, and in entry TSR_SLAB_EDGE of each whether the tile touches the faces of the domain. They come in two loads, one
 * slab apart, so that neither is waited for: the ids (and the keys), then the entries, which stay in registers until put. */
enum { TSR_SLAB_EDGE = TSR_TILE_DIRECTIONS, TSR_SLAB_ENTRIES };
template <int E> struct tsr_slab_rows {
    enum { THREADS = tsr_slab<E>::THREADS, EACH = (TSR_SLAB_ENTRIES * tsr_slab<E>::TILES + THREADS - 1) / THREADS };
    uint64_t tile[EACH]; /* id, or key for the entry TSR_SLAB_EDGE; the first tile's beyond the end of the list */
    uint32_t entry[EACH];
};
template <int E> TSR_DEVICE_FN void tsr_slab_rows_begin(tsr_keys keys, const uint32_t *ids, int32_t count, int32_t first, tsr_slab_rows<E> *r)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * tsr_slab<E>::THREADS + (int32_t)threadIdx.x, at = first + n / TSR_SLAB_ENTRIES;
        r->tile[k] = 0;
        if (n >= TSR_SLAB_ENTRIES * tsr_slab<E>::TILES || at >= count) continue;
        if (n % TSR_SLAB_ENTRIES == TSR_SLAB_EDGE) r->tile[k] = tsr_key_at(keys, at);
        else r->tile[k] = ids[at];
    }
}
template <int E> TSR_DEVICE_FN void tsr_slab_rows_load(const tsr_tile_pool &pool, tsr_slab_rows<E> *r)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * tsr_slab<E>::THREADS + (int32_t)threadIdx.x, d = n % TSR_SLAB_ENTRIES;
        r->entry[k] = 0;
        if (n >= TSR_SLAB_ENTRIES * tsr_slab<E>::TILES) continue;
        if (d != TSR_SLAB_EDGE) r->entry[k] = pool.neighbours[(int64_t)r->tile[k] * TSR_NEIGHBOUR_ROW + d];
        else if (pool.bounded && r->tile[k]) r->entry[k] = (uint32_t)tsr_tile_touches<E>(pool, r->tile[k]);
    }
}
template <int E> TSR_DEVICE_FN void tsr_slab_rows_put(const tsr_slab_rows<E> *r, uint32_t *row)
{
    for (int32_t k = 0; k < tsr_slab_rows<E>::EACH; k++) {
        const int32_t n = k * tsr_slab<E>::THREADS + (int32_t)threadIdx.x;
        if (n < TSR_SLAB_ENTRIES * tsr_slab<E>::TILES) row[n / TSR_SLAB_ENTRIES * TSR_NEIGHBOUR_ROW + n % TSR_SLAB_ENTRIES] = r->entry[k];
    }
}

/* Issues the loads of the slab whose rows are in `row`; a barrier lies between. Places beyond the end of the list hold tile 0, whose voxels never
 * move. */
template <int E, class K> TSR_DEVICE_FN void tsr_slab_load(const float *phi, const uint32_t *row, tsr_slab_loads<E, K> *l)
{
    typedef tsr_slab<E> S;
    enum { V = E * E * E };
    const typename K::cell *from = (const typename K::cell *)(const void *)phi;
#pragma unroll
    for (int32_t h = 0; h < S::OWN; h++) {
        const int32_t quad = tsr_slab_quad<E>(h);
        l->id[h] = row[tsr_slab_tile<E>(quad) * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE];
        l->own[h] = ((const typename K::quad *)(const void *)(from + (int64_t)l->id[h] * V))[quad % S::SHARE];
    }
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++)
        if (tsr_slab_has<E>(k)) l->value[k] = (from + (int64_t)row[l->halo[k] >> 15 & 255u] * V)[l->halo[k] >> 23];
}

/* What comes before the first slab, after tsr_slab_begin: afterwards its values are on their way, the rows of it and the next lie in `slab`, and the ids of the
 * one after that come. `at` is the block's first place in the list, below `count`; slabs of a block are `stride` places apart. BOTH: the first two rows come
 * together, which takes more registers. */
template <int E, int BOTH, class K>
TSR_DEVICE_FN void tsr_slab_first(const tsr_tile_pool &pool, const float *phi, tsr_keys keys, const uint32_t *ids, int32_t count, int32_t at,
                                  int32_t stride, tsr_slab_shared<E> *slab, tsr_slab_loads<E, K> *loads, tsr_slab_rows<E> *rows)
{
    if (BOTH) {
        tsr_slab_rows<E> next;
        tsr_slab_rows_begin<E>(keys, ids, count, at, rows);
        tsr_slab_rows_begin<E>(keys, ids, count, at + stride, &next);
        tsr_slab_rows_load<E>(pool, rows);
        tsr_slab_rows_load<E>(pool, &next);
        tsr_slab_rows_put<E>(rows, slab->row[0]);
        tsr_slab_rows_put<E>(&next, slab->row[1]);
    } else {
        for (int32_t k = 0; k < 2; k++) {
            tsr_slab_rows_begin<E>(keys, ids, count, at + k * stride, rows);
            tsr_slab_rows_load<E>(pool, rows);
            tsr_slab_rows_put<E>(rows, slab->row[k]);
        }
    }
    tsr_slab_rows_begin<E>(keys, ids, count, at + 2 * stride, rows);
    __syncthreads();
    tsr_slab_load<E>(phi, slab->row[0], loads);
}

/* Cells of a cube beyond the domain take the value at the clamped coordinate, but for the corners, which no scheme reads; the threads of the quads of its
 * tile share the work. S tells where cells lie. */
template <int E, class S> TSR_DEVICE_FN void tsr_slab_clamp(const tsr_tile_pool &pool, uint64_t key, int32_t begin, int32_t step, float *cube)
{
    int32_t extent[3], first[3], low[3], high[3];
    tsr_tile_extent<E>(pool, key, extent, first);
    for (int k = 0; k < 3; k++) {
        low[k] = first[k] == 0 ? 0 : -1;
        high[k] = first[k] + E < pool.domain[k] ? E : extent[k] - 1;
    }
#pragma unroll 1
    for (int32_t i = begin; i < S::H * S::H * S::H; i += step) {
        const int32_t x = i % S::H - 1, y = i / S::H % S::H - 1, z = i / (S::H * S::H) - 1;
        const int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]),
                      cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
        const int corner = (x < 0 || x == E) && (y < 0 || y == E) && (z < 0 || z == E);
        if (!corner && (cx != x || cy != y || cz != z)) cube[S::cell(x, y, z)] = cube[S::cell(cx, cy, cz)];
    }
}

/* Which voxels of a quad lie in the domain? */
template <int E> TSR_DEVICE_FN uint32_t tsr_slab_within(const tsr_tile_pool &pool, uint64_t key, int32_t quad)
{
    const int32_t v = quad % tsr_slab<E>::SHARE * 4;
    int32_t extent[3], first[3];
    tsr_tile_extent<E>(pool, key, extent, first);
    if (v / E % E >= extent[1] || v / (E * E) >= extent[2]) return 0u;
    return (1u << tsr_mini(tsr_maxi(extent[0] - v % E, 0), 4)) - 1u;
}

/* Puts what was loaded into the cubes; `row` and `first` are of this slab. Ends with a barrier. Returns which voxels of the own quads lie in the
 * domain, four bits each. */
template <int E, class K>
TSR_DEVICE_FN uint32_t tsr_slab_put(const tsr_tile_pool &pool, tsr_keys keys, int32_t count, int32_t first, const uint32_t *row,
                                    const tsr_slab_loads<E, K> *l, float *cubes)
{
    typedef tsr_slab<E> S;
    uint32_t within = (1u << 4 * S::OWN) - 1u, touches = 0;
#pragma unroll
    for (int32_t h = 0; h < S::OWN; h++) {
        *(float4 *)(void *)(cubes + tsr_slab_cell<E>(tsr_slab_quad<E>(h))) = K::values(pool, l->own[h]);
        if (h == 0 || S::TILES > 1) touches |= row[tsr_slab_tile<E>(tsr_slab_quad<E>(h)) * TSR_NEIGHBOUR_ROW + TSR_SLAB_EDGE];
    }
#pragma unroll
    for (int32_t k = 0; k < S::HALOS; k++)
        if (tsr_slab_has<E>(k)) *(float *)(void *)((char *)cubes + (l->halo[k] & 32767u)) = K::value(pool, l->value[k]);
    if (S::TILES == 1 ? (__syncthreads(), touches != 0u) : __syncthreads_or(touches != 0u)) {
        enum { STEP = S::TILES == 1 ? S::THREADS : S::SHARE };
        within = 0;
#pragma unroll 1
        for (int32_t h = 0; h < S::OWN; h++) {
            const int32_t quad = tsr_slab_quad<E>(h), tile = tsr_slab_tile<E>(quad);
            const uint64_t key = tsr_key_at(keys, tsr_mini(first + tile, count));
            const int clamped = row[tile * TSR_NEIGHBOUR_ROW + TSR_SLAB_EDGE] != 0u;
            within |= (clamped ? tsr_slab_within<E>(pool, key, quad) : 15u) << 4 * h;
            if (clamped && (h == 0 || S::TILES > 1)) tsr_slab_clamp<E, S>(pool, key, quad % STEP, STEP, cubes + tile * S::CUBE);
        }
        __syncthreads();
    }
    return within;
}

/* ---- voxels that move ------------------------------------------------------------------------------------------------------------------ */

/* Shared memory of a kernel that updates voxels: those that may change are collected in a list first, so that the arithmetic runs with full warps wherever
 * the band lies in the tiles; new values are gathered here and leave as whole lines. */
template <int E> struct tsr_slab_work {
    tsr_slab_shared<E> slab;
    float4 fresh[TSR_SLAB_QUADS];     /* new values */
    uint32_t moving[TSR_SLAB_VOXELS]; /* voxels to update: index in the slab | area << 9 | cell << 14 */
    uint32_t movers, areas[8];        /* area bits of a tile; edge 8: what each of two warps found */
};

/* Entry of tsr_slab_work.moving for the first voxel of a quad; the k-th has k times TSR_SLAB_NEXT more, and its area is one more where it leaves the first
 * layer of x and where it reaches the last. */
enum { TSR_SLAB_NEXT = 1 | 1 << 14, TSR_SLAB_AREA = 1 << 9 };
template <int E> TSR_DEVICE_FN uint32_t tsr_slab_entry(int32_t quad)
{
    const int32_t v = quad % tsr_slab<E>::SHARE * 4;
    return (uint32_t)quad * 4u | (uint32_t)tsr_area(v % E, v / E % E, v / (E * E), E) << 9 | (uint32_t)tsr_slab_cell<E>(quad) << 14;
}

/* Which voxels of a quad may change? The others stay as they are, because their six neighbours equal them. P, Q: strides of the cube that p points
 * into. */
template <int P, int Q> TSR_DEVICE_FN uint32_t tsr_quad_moves(const float *p, float4 own, float band)
{
    const float4 ym = *(const float4 *)(const void *)(p - P), yp = *(const float4 *)(const void *)(p + P),
                 zm = *(const float4 *)(const void *)(p - Q), zp = *(const float4 *)(const void *)(p + Q);
    const float row[6] = { p[-1], own.x, own.y, own.z, own.w, p[4] };
    const float across[4][4] = { { ym.x, yp.x, zm.x, zp.x }, { ym.y, yp.y, zm.y, zp.y }, { ym.z, yp.z, zm.z, zp.z }, { ym.w, yp.w, zm.w, zp.w } };
    uint32_t moves = 0;
#pragma unroll
    for (int32_t k = 0; k < 4; k++) {
        const uint32_t middle = tsr_float_bits(row[k + 1]);
        uint32_t differs = (tsr_float_bits(row[k]) ^ middle) | (tsr_float_bits(row[k + 2]) ^ middle);
        for (int32_t n = 0; n < 4; n++) differs |= tsr_float_bits(across[k][n]) ^ middle;
        if ((differs != 0u) | (fabsf(row[k + 1]) < band)) moves |= 1u << k;
    }
    return moves;
}

/* Room in a block's list for what the lanes of a warp found: `mine` counts it, of the first quad in the low half, of the second in the high half. `before`
 * gets what the lanes before found, `total` that of all; returns the warp's first place. */
TSR_DEVICE_FN uint32_t tsr_slab_room(uint32_t mine, uint32_t *movers /* shared */, uint32_t *before, uint32_t *total)
{
    const int32_t lane = (int32_t)threadIdx.x & 31;
    uint32_t sum = mine, first = 0;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(TSR_WARP_ALL, sum, step);
        if (lane >= (int32_t)step) sum += other;
    }
    *total = __shfl_sync(TSR_WARP_ALL, sum, 31);
    *before = sum - mine;
    if (lane == 0 && *total) first = tsr_shared_add(movers, (*total & 0xffffu) + (*total >> 16));
    return __shfl_sync(TSR_WARP_ALL, first, 0);
}

/* Lists the voxels of the own quads that may change. Quads of a warp that lie side by side come one after another: they share no bank. PAYLOAD: it will be read of the
 * tiles with such voxels. */
template <int E, int PAYLOAD, class K>
TSR_DEVICE_FN void tsr_slab_collect(const tsr_tile_pool &pool, const float *cubes, const tsr_slab_loads<E, K> &loads, uint32_t within,
                                    tsr_slab_work<E> *sh)
{
    typedef tsr_slab<E> S;
    enum { V = E * E * E, COUNT = 16 }; /* bits of a count */
    uint32_t moves = 0, mine = 0;
#pragma unroll
    for (int32_t h = 0; h < S::OWN; h++) {
        const int32_t quad = tsr_slab_quad<E>(h);
        const float4 values = K::values(pool, loads.own[h]);
        const uint32_t own = tsr_quad_moves<S::P, S::Q>(cubes + tsr_slab_cell<E>(quad), values, pool.band) & within >> 4 * h;
        if (PAYLOAD && own) tsr_prefetch(pool.payload + (int64_t)loads.id[h] * V + quad % S::SHARE * 4);
        sh->fresh[quad] = values;
        moves |= own << 4 * h;
        mine |= (uint32_t)__popc(own) << COUNT * h;
    }
    uint32_t before, total, *to = sh->moving + tsr_slab_room(mine, &sh->movers, &before, &total);
#pragma unroll
    for (int32_t h = 0; h < S::OWN; h++) {
        const int32_t quad = tsr_slab_quad<E>(h);
        uint32_t *place = to + (h == 0 ? before & 0xffffu : (total & 0xffffu) + (before >> COUNT)), entry = tsr_slab_entry<E>(quad);
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            if (moves >> (4 * h + (int32_t)k) & 1u) *place++ = entry + k * TSR_SLAB_NEXT;
            if (k == 0 && quad * 4 % E == 0) entry += TSR_SLAB_AREA;
            if (k == 2 && quad * 4 % E + 4 == E) entry += TSR_SLAB_AREA;
        }
    }
}

/* Notes that the voxel of an entry keeps its tile alive; `bits` are the thread's own, for edge 8. */
template <int E> TSR_DEVICE_FN void tsr_slab_mark(tsr_slab_work<E> *sh, uint32_t entry, uint32_t *bits)
{
    const uint32_t area = 1u << (entry >> 9 & 31u);
    if (tsr_slab<E>::TILES == 1) *bits |= area;
    else atomicOr(&sh->areas[(entry & 511u) / (E * E * E)], area);
}

/* After the last voxel of a slab: all threads see its values and area bits. A barrier lies in it. */
template <int E> TSR_DEVICE_FN void tsr_slab_meet(tsr_slab_work<E> *sh, uint32_t bits)
{
    if (tsr_slab<E>::TILES == 1) {
        bits = __reduce_or_sync(TSR_WARP_ALL, bits);
        if ((threadIdx.x & 31) == 0) sh->areas[threadIdx.x / 32] = bits;
    }
    __syncthreads();
}

/* Writes the h-th own quad's values, and with the first quad of a tile its activity. `at` is the slab's place in the list, `id` the quad's tile. Adds the
 * voxels inside to `inside`. Returns whether it was a tile's first quad. */
template <int E, class K = tsr_slab_floats>
TSR_DEVICE_FN int tsr_slab_write(const tsr_tile_pool &pool, tsr_slab_work<E> *sh, float *next, int32_t count, int32_t at, int32_t h, uint32_t id,
                                 uint32_t within, uint32_t *inside, int32_t last = 1)
{
    typedef tsr_slab<E> S;
    const int32_t quad = tsr_slab_quad<E>(h), tile = tsr_slab_tile<E>(quad), n = quad % S::SHARE;
    if (S::TILES > 1 && at + tile >= count) return 0;
    const uint32_t before = n == 0 && last && pool.capacity > TSR_SMALL_LIST ? pool.activity[id] : 0u; /* it lets the management leave the tile alone */
    const float4 v = sh->fresh[quad];
    ((typename K::quad *)(void *)next)[(int64_t)id * S::SHARE + n] = K::stored(pool, v);
    *inside +=
        (uint32_t)__popc(((v.x < 0.0f ? 1u : 0u) | (v.y < 0.0f ? 2u : 0u) | (v.z < 0.0f ? 4u : 0u) | (v.w < 0.0f ? 8u : 0u)) & within >> 4 * h);
    if (n != 0) return 0;
    const uint32_t all = S::TILES == 1 ? sh->areas[0] | sh->areas[1] : sh->areas[tile];
    if (last) pool.activity[id] = tsr_activity_word(before, all, v.x > 0.0f);
    if (S::TILES > 1) sh->areas[tile] = 0;
    return 1;
}

/* Blocks of a persistent grid over slabs. */
static inline uint32_t tsr_slab_blocks(const tsr_queue *queue, const tsr_tile_pool *pool, int32_t per_processor)
{
    return tsr_blocks(pool->capacity, pool->log2_edge == 3 ? 1 : 8, (int64_t)tsr_queue_processors(queue) * per_processor);
}

#endif
