/* tiles/tiles_scratch.h: what the management of a sorted tile list (tiles_manage_cuda.cu) shares with loading (tiles_cuda.cu): the views into
 * pool.scratch, sums over the threads of a block, and the count of INSIDE voxels without a tile. */
#ifndef TSR_TILES_TILES_SCRATCH_H
#define TSR_TILES_TILES_SCRATCH_H

#include "tiles/tiles_kernel.h"

enum { TSR_KEEP_CHUNK = 8 }; /* words of keep_bits that are counted together: one for each warp of a block of mark_large_kernel */

struct tsr_tile_scratch {
    tsr_keys requests, sorted; /* [capacity] keys asked for, as they come (where later the next list's keys stand) and in order */
    uint32_t *unique_before;   /* [capacity] number of distinct keys before this sorted position */
    uint32_t *keep_bits;       /* [capacity / 32 + 1] one bit per list entry */
    uint32_t *keep_before;     /* [capacity / 32 + 1] kept entries before the word's first, of its chunk */
    uint32_t *keep_chunks;     /* [(capacity / 32 + 1) / TSR_KEEP_CHUNK + 1] kept entries before the chunk */
    uint32_t *block_counts;    /* [domain tiles / 1024 + 1] of loading */
};

TSR_HD int64_t tsr_scratch_masks(int64_t capacity) { return capacity / 32 + 1; }
TSR_HD int64_t tsr_scratch_chunks(int64_t capacity) { return tsr_scratch_masks(capacity) / TSR_KEEP_CHUNK + 1; }
TSR_HD int64_t tsr_scratch_blocks(const tsr_tile_pool *pool)
{
    return pool->bounded ? ((int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2] + 1023) / 1024 + 1 : 1;
}
TSR_HD int64_t tsr_scratch_words(const tsr_tile_pool *pool)
{
    const int64_t n = pool->capacity;
    return tsr_pool_key_width(pool) / 4 * n + n + 2 * tsr_scratch_masks(n) + tsr_scratch_chunks(n) + tsr_scratch_blocks(pool);
}
TSR_DEVICE_FN tsr_tile_scratch tsr_scratch_of(const tsr_tile_pool *pool)
{
    tsr_tile_scratch s;
    const int64_t n = pool->capacity, m = tsr_scratch_masks(n);
    s.requests = tsr_pool_keys(pool, pool->state->list ^ 1);
    s.sorted = tsr_keys_of(pool->scratch, pool->key_first);
    s.unique_before = pool->scratch + tsr_pool_key_width(pool) / 4 * n;
    s.keep_bits = s.unique_before + n;
    s.keep_before = s.keep_bits + m;
    s.keep_chunks = s.keep_before + m;
    s.block_counts = s.keep_chunks + tsr_scratch_chunks(n);
    return s;
}

/* Exclusive prefix of v over the threads of the block (whole warps, at most 1024), total in *sum. `shared` has 33 words. */
TSR_DEVICE_FN uint32_t tsr_block_prefix(uint32_t v, uint32_t *shared, uint32_t *sum)
{
    int32_t lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5), warps = (int32_t)(blockDim.x >> 5);
    uint32_t inclusive = v;
    for (int32_t d = 1; d < 32; d *= 2) {
        uint32_t other = __shfl_up_sync(TSR_WARP_ALL, inclusive, (unsigned)d);
        if (lane >= d) inclusive += other;
    }
    if (lane == 31) shared[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        uint32_t w = lane < warps ? shared[lane] : 0, total = w;
        for (int32_t d = 1; d < 32; d *= 2) {
            uint32_t other = __shfl_up_sync(TSR_WARP_ALL, total, (unsigned)d);
            if (lane >= d) total += other;
        }
        shared[lane] = total - w;
        if (lane == 31) shared[32] = total;
    }
    __syncthreads();
    uint32_t before = shared[warp] + inclusive - v;
    *sum = shared[32];
    __syncthreads();
    return before;
}

TSR_DEVICE_FN void tsr_inside_absent_add(tsr_tile_state *state, int64_t voxels)
{
    atomicAdd((unsigned long long *)(void *)&state->inside_absent, (unsigned long long)voxels);
}
/* The voxels of a tile that is INSIDE move from the stored tiles to the absent space (or back, negative). */
TSR_DEVICE_FN void tsr_inside_becomes_absent(tsr_tile_state *state, int64_t voxels)
{
    tsr_inside_absent_add(state, voxels);
    atomicAdd((unsigned long long *)(void *)&state->inside_voxels, (unsigned long long)-voxels);
}

/* A management pass as far as the plan, of a large list as far as the other list: the first part of tsr_enqueue_management (tiles_pass.h). */
void tsr_tiles_cuda_plan(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped);
/* tiles_ops.insert: defined in tiles_manage_cuda.cu. */
tsr_status tsr_tiles_cuda_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count);

#endif
