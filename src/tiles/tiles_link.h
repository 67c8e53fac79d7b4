/* tiles/tiles_link.h: the end of a management pass on the GPU: created tiles meet their neighbours, and the new list becomes current. A header, so that
 * what follows the pass can be done by the same kernel (solver/engine_cuda.cu). */
#ifndef TSR_TILES_TILES_LINK_H
#define TSR_TILES_TILES_LINK_H

#include "device/dependent_launch.h"
#include "tiles/tiles_scratch.h"

enum { TSR_LINK_THREADS = 256 };

/* tsr_keys_lower_bound by quarters: three loads at a time, which are waited for together. */
template <class K> TSR_DEVICE_FN int32_t tsr_lower_bound_by_quarters(const K *keys, int32_t count, K key)
{
    int32_t low = 0;
    while (count > 3) {
        const int32_t quarter = count >> 2, half = count >> 1, most = count - quarter - 1;
        const K a = keys[low + quarter], b = keys[low + half], c = keys[low + most];
        const int32_t first = c < key ? most + 1 : b < key ? half + 1 : a < key ? quarter + 1 : 0;
        const int32_t end = c < key ? count : b < key ? most : a < key ? half : quarter;
        low += first;
        count = end - first;
    }
    while (count > 0 && keys[low] < key) {
        low++;
        count--;
    }
    return low;
}
TSR_DEVICE_FN int32_t tsr_keys_lower_bound_wide(tsr_keys keys, int32_t count, uint64_t key)
{
    if (!keys.first) return tsr_lower_bound_by_quarters((const uint64_t *)keys.at, count, key);
    return tsr_lower_bound_by_quarters((const uint32_t *)keys.at, count, tsr_key_bound(keys.first, key));
}

/* Is this the block that ends last? All its threads ask, with all their writes done; then they see those of the other blocks. The counter is zero
 * before and after; `shared` is one word. */
TSR_DEVICE_FN int tsr_last_block(uint32_t *counter, uint32_t *shared)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        shared[0] = atomicAdd(counter, 1u) == gridDim.x - 1;
        if (shared[0]) *counter = 0;
    }
    __syncthreads();
    const int last = (int)shared[0];
    if (last) __threadfence();
    return last;
}

TSR_DEVICE_FN int tsr_pass_idle(const tsr_tile_state *state) { return tsr_tile_stopped(state) || state->created + state->removed == 0; }

/* The neighbours of the u-th created tile in the new list, which are told of it; a warp, lanes = directions. Returns the constant that space had
 * there: the entry that any old neighbour holds for it (insertion: found by merge_kernel). */
TSR_DEVICE_FN uint32_t tsr_link_tile(const tsr_tile_pool &pool, int32_t list, int32_t count, uint32_t id, int32_t lane, int32_t inserting)
{
    tsr_tile_state *state = pool.state;
    const tsr_keys keys = tsr_pool_keys(&pool, list);
    const uint64_t own = tsr_pool_key_of(&pool, id);
    const uint32_t found = pool.activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE; /* before the caller writes the word */
    uint32_t other = 0, constant = 0;
    uint64_t key = own + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
    int old = 0;
    if (lane < TSR_TILE_DIRECTIONS && lane != TSR_TILE_MIDDLE) {
        if (pool.table) {
            if (tsr_tile_allowed(&pool, key)) other = pool.table[tsr_tile_linear(&pool, key)];
        } else {
            int32_t at = tsr_keys_lower_bound_wide(keys, count, key);
            if (at < count && tsr_key_at(keys, at) == key) other = pool.id[list][at];
        }
        if (other < TSR_TILE_FIRST) other = 0;
        if (other) {
            uint32_t *entry = &pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - lane];
            old = !(pool.activity[other] & TSR_ACTIVITY_CREATED); /* the others look for their neighbours themselves */
            if (old) {
                constant = *entry;
                *entry = id;
            }
        }
    }
    uint32_t olds = __ballot_sync(TSR_WARP_ALL, old);
    constant = __shfl_sync(TSR_WARP_ALL, constant, olds ? __ffs((int)olds) - 1 : 0);
    if (inserting) constant = found;
    if (lane == TSR_TILE_MIDDLE) other = id;
    if (lane < TSR_TILE_DIRECTIONS) pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] = other ? other : constant;
    if (lane == 0 && constant == TSR_TILE_INSIDE) tsr_inside_becomes_absent(state, -tsr_tile_voxels(&pool, own));
    return constant;
}

/* The last thing of a pass: the new list becomes current. One thread. */
TSR_DEVICE_FN void tsr_close_list(const tsr_tile_pool &pool)
{
    tsr_tile_state *state = pool.state;
    const int32_t list = state->list, more = state->created - state->removed, count = state->count + more, ids = state->free_count - more;
    const int64_t inside = state->inside_absent;
    state->list = list ^ 1;
    state->count = count;
    state->free_count = ids;
    if (count == 0 && pool.bounded) state->background = inside > 0 ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    state->scratch[TSR_COUNT_REQUESTS] = 0;
    state->scratch[TSR_COUNT_PLANNED] = 0;
}

/* A created tile, a warp: both buffers get its constant, its age is 0 after a step. */
template <int E>
TSR_DEVICE_FN void tsr_fill_created(const tsr_tile_pool &pool, uint32_t id, uint32_t constant, int32_t lane, int32_t inserting, int32_t stepped)
{
    const float v = constant == TSR_TILE_OUTSIDE ? pool.band : -pool.band;
    const uint32_t word = !pool.coded ? tsr_float_bits(v) : constant == TSR_TILE_OUTSIDE ? 0x7fff7fffu : 0x80018001u; /* or two codes */
    const int64_t quads = E * E * E / 4, words = pool.coded ? quads / 2 : quads;                                      /* of 16 bytes */
    for (int32_t b = 0; b < 2; b++)
        for (int32_t i = lane; i < words; i += 32) ((uint4 *)(void *)pool.phi[b])[id * words + i] = make_uint4(word, word, word, word);
    if (lane != 0) return;
    const uint32_t areas = inserting ? TSR_ACTIVITY_AREAS : constant == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0u;
    pool.activity[id] = areas | TSR_ACTIVITY_CREATED;
    if (stepped && pool.age) pool.age[id] = 0;
}

/* One warp per created tile: links it, and a client has its say: then.tile(pool, id, lane). The last block closes the pass, and one thread does what is to
 * follow it, also when there was nothing to do: then(pool). */
template <int E, class THEN> TSR_KERNEL(tsr_link_kernel)(tsr_tile_pool pool, int32_t inserting, int32_t stepped, THEN then)
{
    tsr_chained();
    TSR_SHARED(uint32_t, shared, 1);
    tsr_tile_state *state = pool.state;
    if (tsr_pass_idle(state)) {
        if (blockIdx.x != 0 || threadIdx.x != 0) return;
        state->scratch[TSR_COUNT_PLANNED] = 0;
        then(pool);
        return;
    }
    const int32_t list = state->list ^ 1, count = state->count - state->removed + state->created, lane = (int32_t)(threadIdx.x & 31u);
    const int32_t warps = (int32_t)(gridDim.x * blockDim.x >> 5), created = state->created;
    for (int32_t u = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x) >> 5; u < created; u += warps) {
        const uint32_t id = pool.created_ids[u];
        tsr_fill_created<E>(pool, id, tsr_link_tile(pool, list, count, id, lane, inserting), lane, inserting, stepped);
        then.tile(pool, id, lane);
    }
    if (!tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared) || threadIdx.x != 0) return;
    tsr_close_list(pool);
    then(pool);
}

/* Queues it. */
template <class THEN> static void tsr_enqueue_link(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped, THEN then)
{
    const int32_t processors = tsr_queue_processors(queue), small = pool->capacity <= TSR_SMALL_LIST;
    const uint32_t blocks = tsr_blocks(pool->capacity, 8, (small ? 1 : 4) * processors);
    if (pool->log2_edge == 3) TSR_LAUNCH_DEPENDENT(queue, (tsr_link_kernel<8, THEN>), blocks, TSR_LINK_THREADS, 0, *pool, inserting, stepped, then);
    else TSR_LAUNCH_DEPENDENT(queue, (tsr_link_kernel<4, THEN>), blocks, TSR_LINK_THREADS, 0, *pool, inserting, stepped, then);
}

#endif
