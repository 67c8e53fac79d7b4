/* tiles/tiles_manage_cuda.cu: management of the sorted tile list on the GPU (and the emulator).
 *
 * A pass marks what stays and what is asked for, sorts the requests, plans positions, merges into the other list, links the created tiles with
 * their neighbours and fills them, all without the host (docs/theory/tiles.md 3, fast path). It pays for the number of kernels as much as for their
 * work: of a small list the block that ends the marks last does what one block does well, and the created tiles are linked while the other list is written,
 * so that a pass is two kernels (tiles_pass.h). Of a large list, where requests may come by the ten thousand, it is four. When nothing is created or removed,
 * all but the first exit at once. */
#include "device/rejoin.h"
#include "tiles/tiles_ops.h"
#include "tiles/tiles_pass.h"

enum { SORT_THREADS = 1024, PLAN_THREADS = 1024, MARK_THREADS = 512, MARK_BLOCKS = 4 };
enum { MARK_LARGE_THREADS = 256, MARK_LARGE_BLOCKS = 5, MARK_ROWS = 4, MERGE_LARGE = 8 /* keys a lane */ };

/* ---- plan, many requests ---------------------------------------------------------------------------------------------------- */

/* Many requests of a large list: chunks are sorted, then merged piece by piece, each by the block that draws it (one that waits for the last chunk knows
 * that all were drawn before); the block that ends last plans. */
TSR_KERNEL(__launch_bounds__(SORT_THREADS) sort_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(uint64_t, keys, TSR_SORT_CHUNK);
    TSR_SHARED(uint32_t, shared, 34);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state) || state->scratch[TSR_COUNT_PLANNED]) return;
    const tsr_tile_scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    const uint32_t chunks = (uint32_t)((total + TSR_SORT_CHUNK - 1) / TSR_SORT_CHUNK), tasks = chunks > 1 ? 2 * chunks : chunks;
    for (;;) {
        if (threadIdx.x == 0) shared[33] = atomicAdd(&state->scratch[TSR_COUNT_TASKS], 1u);
        __syncthreads();
        const uint32_t task = shared[33];
        __syncthreads();
        if (task >= tasks) break;
        if (task < chunks) {
            tsr_sort_chunk(s.requests, chunks > 1 ? s.requests : s.sorted, total, task, keys);
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) atomicAdd(&state->scratch[TSR_COUNT_SORTED], 1u);
            tsr_rejoin();
        } else {
            if (threadIdx.x == 0)
                while (atomicAdd(&state->scratch[TSR_COUNT_SORTED], 0u) < chunks) {}
            __syncthreads();
            __threadfence();
            tsr_rank_chunk(s.requests, s.sorted, total, task - chunks);
        }
    }
    if (tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared)) tsr_plan_pass(pool, stepped, 1, shared);
}

/* ---- mark ------------------------------------------------------------------------------------------------------------------------- */

/* A small list: one warp per entry; a block covers 32 entries at a time and writes their keep word. The last block goes on to plan. */
TSR_KERNEL(__launch_bounds__(MARK_THREADS, MARK_BLOCKS) mark_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(tsr_plan_shared, shared, 1);
    uint32_t *keep = shared->words;
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    tsr_tile_scratch s = tsr_scratch_of(&pool);
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    int32_t count = state->count, lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5), warps = MARK_THREADS / 32;
    for (int32_t group = (int32_t)blockIdx.x; group * 32 < count; group += (int32_t)gridDim.x) {
        if (threadIdx.x == 0) keep[0] = 0;
        __syncthreads();
        for (int32_t k = warp; k < 32 && group * 32 + k < count; k += warps) {
            if (tsr_mark_entry(pool, s, keys, ids, group * 32 + k, lane) && lane == 0) atomicOr(&keep[0], 1u << k);
        }
        __syncthreads();
        if (threadIdx.x == 0) s.keep_bits[group] = keep[0];
        __syncthreads();
    }
    if (tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared->words + 33)) tsr_sort_and_plan(pool, stepped, shared);
}

/* A large list, which is bound by memory: a warp takes 32 entries, their ids and activity words by lanes. Those whose areas are not settled, or which have
 * none, need their row of neighbours: MARK_ROWS at a time, all of whose loads are on their way together; places without an entry hold a static tile,
 * which asks for nothing and which nobody needs. A block counts what its warps keep, and the last one goes on to plan if requests are few. */
TSR_KERNEL(__launch_bounds__(MARK_LARGE_THREADS, MARK_LARGE_BLOCKS) mark_large_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(uint64_t, few, TSR_FEW_REQUESTS);
    TSR_SHARED(uint32_t, shared, 34);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    const tsr_tile_scratch s = tsr_scratch_of(&pool);
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    const int32_t count = state->count, managed = state->managed, lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5);
    const uint32_t facing = lane < TSR_TILE_DIRECTIONS ? tsr_trigger_mask(lane) : 0u; /* areas of a neighbour that need this tile */
    uint32_t removed = 0;
    for (int32_t chunk = (int32_t)blockIdx.x; chunk * (TSR_KEEP_CHUNK * 32) < count; chunk += (int32_t)gridDim.x) {
        const int32_t group = chunk * TSR_KEEP_CHUNK + warp, first = group * 32, n = tsr_maxi(tsr_mini(32, count - first), 0);
        const uint32_t id = lane < n ? ids[first + lane] : (uint32_t)TSR_TILE_OUTSIDE, word = lane < n ? pool.activity[id] : 0u;
        const uint32_t areas = word & TSR_ACTIVITY_AREAS, requests = tsr_request_mask(areas), active = __ballot_sync(TSR_WARP_ALL, areas != 0);
        const int settled = word & TSR_ACTIVITY_SETTLED && managed; /* a pass that ran short settled nothing */
        if (areas && !settled) pool.activity[id] = areas | TSR_ACTIVITY_SETTLED;
        else if (word & TSR_ACTIVITY_CREATED) pool.activity[id] = word & ~TSR_ACTIVITY_CREATED;
        uint32_t kept = active, busy = __ballot_sync(TSR_WARP_ALL, lane < n && !settled);
        while (busy) {
            uint32_t row[MARK_ROWS], asked[MARK_ROWS];
            int32_t at[MARK_ROWS]; /* -1: no entry */
#pragma unroll
            for (int32_t j = 0; j < MARK_ROWS; j++) {
                at[j] = __ffs((int)busy) - 1;
                busy &= busy - 1;
                const uint32_t tile = __shfl_sync(TSR_WARP_ALL, id, at[j]);
                row[j] = pool.neighbours[(int64_t)(at[j] >= 0 ? tile : (uint32_t)TSR_TILE_OUTSIDE) * TSR_NEIGHBOUR_ROW + lane];
            }
#pragma unroll
            for (int32_t j = 0; j < MARK_ROWS; j++) { /* the row becomes the activity words that matter */
                const int direction = lane < TSR_TILE_DIRECTIONS && at[j] >= 0, stored = direction && row[j] >= TSR_TILE_FIRST;
                asked[j] = __shfl_sync(TSR_WARP_ALL, requests, at[j]) & __ballot_sync(TSR_WARP_ALL, direction && !stored);
                const int wanted = !(active >> (at[j] & 31) & 1u) || (asked[j] && lane < TSR_TILE_MIDDLE);
                row[j] = stored && wanted ? pool.activity[row[j]] : 0u;
            }
#pragma unroll
            for (int32_t j = 0; j < MARK_ROWS; j++) {
                if (__any_sync(TSR_WARP_ALL, (row[j] & facing) != 0)) kept |= 1u << (at[j] & 31);
                if (asked[j]) tsr_request_tiles(pool, s, tsr_key_at(keys, first + at[j]), asked[j], row[j], lane);
            }
        }
        if (lane == 0) shared[warp] = (uint32_t)__popc(kept);
        __syncthreads();
        uint32_t before = 0;
        for (int32_t w = 0; w < warp; w++) before += shared[w];
        if (lane == 0 && n > 0) {
            s.keep_bits[group] = kept;
            s.keep_before[group] = before;
        }
        if (lane == 0 && warp == TSR_KEEP_CHUNK - 1) s.keep_chunks[chunk] = before + (uint32_t)__popc(kept);
        removed += (uint32_t)(n - __popc(kept));
        __syncthreads();
    }
    if (lane == 0 && removed) atomicAdd(&state->scratch[TSR_COUNT_REMOVED], removed);
    if (!tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared)) return;
    const uint32_t total = state->scratch[TSR_COUNT_REQUESTS];
    if (total > TSR_FEW_REQUESTS) return;
    tsr_sort_few(s.requests, s.sorted, (int32_t)total, few);
    __syncthreads();
    tsr_plan_pass(pool, stepped, 1, shared);
}

/* Insertion: everything stays, and the keys that are allowed and absent are requests. */
TSR_KERNEL(insert_mark_kernel)(tsr_tile_pool pool, const uint64_t *wanted, int32_t wanted_count)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    tsr_tile_scratch s = tsr_scratch_of(&pool);
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    int32_t count = state->count, step = (int32_t)(gridDim.x * blockDim.x), first = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int32_t w = first; w * 32 < count; w += step) {
        const int32_t place = w % TSR_KEEP_CHUNK * 32;
        s.keep_bits[w] = count - w * 32 >= 32 ? 0xffffffffu : (1u << (count - w * 32)) - 1u;
        s.keep_before[w] = (uint32_t)place;
        if (place == 0) s.keep_chunks[w / TSR_KEEP_CHUNK] = (uint32_t)tsr_mini(TSR_KEEP_CHUNK * 32, count - w * 32);
    }
    for (int32_t i = first; i < count; i += step) { /* not by this pass */
        const uint32_t id = pool.id[state->list][i], word = pool.activity[id];
        if (word & TSR_ACTIVITY_CREATED) pool.activity[id] = word & ~TSR_ACTIVITY_CREATED;
    }
    for (int32_t i = first; i < wanted_count; i += step) {
        uint64_t key = wanted[i];
        if (!tsr_tile_allowed(&pool, key)) continue;
        int32_t at = tsr_keys_lower_bound(keys, count, key);
        if (at < count && tsr_key_at(keys, at) == key) continue;
        uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
        if (place < (uint32_t)pool.capacity) tsr_key_put(s.requests, place, key);
    }
}

/* ---- merge, link, fill ----------------------------------------------------------------------------------------------------------------- */

/* Writes the other list. A warp takes PER keys a lane of the old one; where that is more than one, it looks for the first and the last among the
 * requests, which leaves few to each key. The last threads take the requests: in a small list the others have the entries. */
template <int PER> TSR_KERNEL(merge_kernel)(tsr_tile_pool pool, int32_t inserting)
{
    tsr_chained();
    tsr_tile_state *state = pool.state;
    if (tsr_pass_idle(state)) return;
    const tsr_tile_scratch s = tsr_scratch_of(&pool);
    const int32_t list = state->list, count = state->count, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    const tsr_keys keys = tsr_pool_keys(&pool, list);
    const uint32_t *ids = pool.id[list];
    const int32_t threads = (int32_t)(gridDim.x * blockDim.x), thread = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;
    for (int64_t first = (int64_t)(thread >> 5) * 32 * PER; first < count; first += (int64_t)threads * PER) {
        uint64_t key[PER];
        uint32_t id[PER];
        int32_t low = 0, high = total;
#pragma unroll
        for (int32_t j = 0; j < PER; j++) {
            const int64_t i = first + 32 * j + lane;
            key[j] = i < count ? tsr_key_at(keys, i) : TSR_KEY_END;
            id[j] = i < count ? ids[i] : 0u;
        }
        if (PER > 1) {
            const int64_t end = tsr_minl(first + 32 * PER, count);
            const int32_t bound = tsr_keys_lower_bound_wide(s.sorted, total, tsr_key_at(keys, lane == 0 ? first : end - 1));
            low = __shfl_sync(TSR_WARP_ALL, bound, 0);
            high = __shfl_sync(TSR_WARP_ALL, bound, 1);
        }
#pragma unroll
        for (int32_t j = 0; j < PER; j++)
            if (first + 32 * j + lane < count) tsr_merge_entry(pool, s, (int32_t)first + 32 * j + lane, key[j], id[j], low, high);
    }
    for (int32_t at = threads - 1 - thread; at < total; at += threads) tsr_merge_request(pool, s, at, inserting);
    if (thread == 0) tsr_pool_key_put(&pool, list ^ 1, count - state->removed + state->created, TSR_KEY_END);
}

/* Nothing follows a pass. */
struct no_more {
    TSR_INSIDE void tile(const tsr_tile_pool &, uint32_t, int32_t) const {}
    TSR_INSIDE void operator()(const tsr_tile_pool &) const {}
};

/* From the requests to the other list. */
static void enqueue_merge(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped)
{
    const int32_t processors = tsr_queue_processors(queue);
    TSR_LAUNCH_DEPENDENT(queue, sort_kernel, tsr_blocks(pool->capacity, TSR_SORT_CHUNK, processors), SORT_THREADS, 0, *pool, stepped);
    const int64_t most = 2 * (int64_t)pool->capacity;
    if (pool->capacity <= TSR_SMALL_LIST) TSR_LAUNCH_DEPENDENT(queue, merge_kernel<1>, tsr_blocks(most, 256, 8 * processors), 256, 0, *pool, inserting);
    else TSR_LAUNCH_DEPENDENT(queue, merge_kernel<MERGE_LARGE>, tsr_blocks(most / MERGE_LARGE, 256, 4 * processors), 256, 0, *pool, inserting);
}

void tsr_tiles_cuda_plan(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    const int32_t small = pool->capacity <= TSR_SMALL_LIST;
    const int64_t processors = tsr_queue_processors(queue);
    if (small) TSR_LAUNCH_DEPENDENT(queue, mark_kernel, tsr_blocks(pool->capacity, 32, 8 * processors), MARK_THREADS, 0, *pool, stepped);
    else
        TSR_LAUNCH_DEPENDENT(queue, mark_large_kernel, tsr_blocks(pool->capacity, MARK_LARGE_THREADS, MARK_LARGE_BLOCKS * processors),
                           MARK_LARGE_THREADS, 0, *pool, stepped);
    if (!small) enqueue_merge(queue, pool, 0, stepped);
}

tsr_status tsr_tiles_cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    tsr_enqueue_management(queue, pool, stepped, no_more());
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_tiles_cuda_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count)
{
    TSR_LAUNCH(queue, insert_mark_kernel, tsr_blocks(tsr_max64(count, pool->capacity / 32), 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0,
               *pool, keys, count);
    enqueue_merge(queue, pool, 1, 0);
    tsr_enqueue_link(queue, pool, 1, 0, no_more());
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
