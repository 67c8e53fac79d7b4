/* grid/tiles_manage_cuda.cu: management of the sorted tile list on the GPU (and the emulator).
 *
 * A pass marks what stays and what is asked for, sorts the requests, plans positions, merges into the other list, links the created tiles with
 * their neighbours and fills them, all without the host (spec levelset-gpu.md 2.6, fast path). A small list pays for the number of kernels, not for
 * their work: there the block that ends last does what one block does well, so that a pass is three kernels. Of a large list, where requests
 * come by the ten thousand, sorting and planning are kernels of their own. When nothing is created or removed, all but the first exit at once. */
#include "grid/tiles_ops.h"
#include "grid/tiles_link.h"

enum { CHUNK = 2048, FEW = 256, SORT_THREADS = 256, PLAN_THREADS = 1024, MARK_THREADS = 512, MARK_BLOCKS = 3 };

typedef tsr_tile_scratch scratch;

/* ---- sort the requests -------------------------------------------------------------------------------------------------------------- */

/* One block sorts a few keys: each thread counts those before its own, which takes one barrier. */
TSR_DEVICE_FN void sort_few(const uint64_t *from, uint64_t *to, int32_t n, uint64_t *keys)
{
    const int32_t tid = (int32_t)threadIdx.x;
    const uint64_t own = tid < n ? from[tid] : TSR_KEY_END;
    if (tid < n) keys[tid] = own;
    __syncthreads();
    if (tid >= n) return;
    int32_t place = 0;
    for (int32_t i = 0; i < n; i++) place += keys[i] < own || (keys[i] == own && i < tid);
    to[place] = own;
}

/* Bitonic sort of chunks of up to 2048 keys, by block `block` of `blocks`; `keys` is shared memory for CHUNK. */
TSR_DEVICE_FN void sort_chunks(const uint64_t *from, uint64_t *to, int64_t total, int32_t block, int32_t blocks, uint64_t *keys)
{
    for (int64_t first = (int64_t)block * CHUNK; first < total; first += (int64_t)blocks * CHUNK) {
        int32_t n = (int32_t)tsr_minl(CHUNK, total - first), padded = 1, threads = (int32_t)blockDim.x;
        while (padded < n) padded *= 2;
        for (int32_t i = (int32_t)threadIdx.x; i < padded; i += threads) keys[i] = i < n ? from[first + i] : TSR_KEY_END;
        __syncthreads();
        for (int32_t size = 2; size <= padded; size *= 2) {
            for (int32_t stride = size / 2; stride > 0; stride /= 2) {
                for (int32_t i = (int32_t)threadIdx.x; i < padded / 2; i += threads) {
                    int32_t low = 2 * i - (i & (stride - 1)), high = low + stride;
                    uint64_t a = keys[low], b = keys[high];
                    int up = (low & size) == 0;
                    if ((a > b) == up) {
                        keys[low] = b;
                        keys[high] = a;
                    }
                }
                __syncthreads();
            }
        }
        for (int32_t i = (int32_t)threadIdx.x; i < n; i += threads) to[first + i] = keys[i];
        __syncthreads();
    }
}

/* Merges sorted chunks: each key's place is its place in its chunk plus its lower bounds in the others. */
TSR_DEVICE_FN void rank_chunks(const uint64_t *from, uint64_t *to, int64_t total, int32_t block, int32_t blocks)
{
    for (int64_t i = (int64_t)block * blockDim.x + threadIdx.x; i < total; i += (int64_t)blocks * blockDim.x) {
        uint64_t key = from[i];
        int64_t own = i / CHUNK, place = i - own * CHUNK;
        for (int64_t c = 0; c * CHUNK < total; c++) {
            if (c == own) continue;
            int32_t n = (int32_t)tsr_minl(CHUNK, total - c * CHUNK);
            place += tsr_key_lower_bound(from + c * CHUNK, n, key + (c < own)); /* equal keys of earlier chunks come first */
        }
        to[place] = key;
    }
}

/* ---- plan ------------------------------------------------------------------------------------------------------------------------- */

/* One block: publishes the totals of the step (if there was one), counts what stays and what is new, checks the ids. Each thread takes a run of
 * requests and of mask words, so that one prefix over the block does for each. `shared` has 33 words. */
TSR_DEVICE_FN void plan(const tsr_tile_pool &pool, int32_t stepped, uint32_t *shared)
{
    tsr_tile_state *state = pool.state;
    scratch s = tsr_scratch_of(&pool);
    const int32_t count = state->count, tid = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const uint32_t asked = state->scratch[TSR_COUNT_REQUESTS], removed = state->scratch[TSR_COUNT_REMOVED];
    const int32_t total = (int32_t)tsr_minl(asked, pool.capacity), run = (total + threads - 1) / threads;
    uint32_t created = 0, kept = 0, fresh = 0;
    __syncthreads();
    for (int32_t i = tid * run; i < tsr_mini(total, (tid + 1) * run); i++) fresh += i == 0 || s.sorted[i] != s.sorted[i - 1];
    uint32_t before = tsr_block_prefix(fresh, shared, &created);
    for (int32_t i = tid * run; i < tsr_mini(total, (tid + 1) * run); i++) {
        s.unique_before[i] = before;
        before += i == 0 || s.sorted[i] != s.sorted[i - 1];
    }
    uint32_t missing = asked - (uint32_t)total;
    if (created > (uint32_t)state->free_count) missing += created - (uint32_t)state->free_count;
    if (!missing && created + removed > 0) {
        const int32_t words = (count + 31) / 32, mine = (words + threads - 1) / threads;
        uint32_t bits = 0;
        for (int32_t w = tid * mine; w < tsr_mini(words, (tid + 1) * mine); w++) bits += (uint32_t)__popc(s.keep_bits[w]);
        before = tsr_block_prefix(bits, shared, &kept);
        for (int32_t w = tid * mine; w < tsr_mini(words, (tid + 1) * mine); w++) {
            s.keep_before[w] = before;
            before += (uint32_t)__popc(s.keep_bits[w]);
        }
        for (uint32_t u = (uint32_t)tid; u < created; u += (uint32_t)threads)
            pool.created_ids[u] = pool.free_ids[(uint32_t)state->free_count - 1u - u];
    }
    __syncthreads();
    if (tid != 0) return;
    if (stepped) tsr_publish_step(state);
    state->created = missing ? 0 : (int32_t)created;
    state->removed = missing ? 0 : (int32_t)removed;
    state->shortage = (int32_t)missing;
    state->managed = missing == 0;
    if (!missing) state->quiet = created ? 0 : state->quiet + 1;
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
    state->scratch[TSR_COUNT_REQUESTS] = !missing && created + removed > 0 ? (uint32_t)total : 0u; /* merge_kernel still needs it */
}

/* Shared memory of a block that sorts and plans. */
struct plan_shared {
    uint64_t keys[CHUNK];
    uint32_t words[34];
};

/* All of it by one block. */
TSR_DEVICE_FN void sort_and_plan(const tsr_tile_pool &pool, int32_t stepped, plan_shared *shared)
{
    scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(pool.state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    if (total <= FEW) sort_few(s.requests, s.sorted, (int32_t)total, shared->keys);
    else sort_chunks(s.requests, total > CHUNK ? s.requests : s.sorted, total, 0, 1, shared->keys);
    if (total > CHUNK) rank_chunks(s.requests, s.sorted, total, 0, 1);
    __syncthreads();
    plan(pool, stepped, shared->words);
}

TSR_KERNEL(sort_chunks_kernel)(tsr_tile_pool pool)
{
    TSR_SHARED(uint64_t, keys, CHUNK);
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    sort_chunks(s.requests, s.requests, total, (int32_t)blockIdx.x, (int32_t)gridDim.x, keys);
}

TSR_KERNEL(rank_kernel)(tsr_tile_pool pool)
{
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    rank_chunks(s.requests, s.sorted, total, (int32_t)blockIdx.x, (int32_t)gridDim.x);
}

TSR_KERNEL(plan_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    TSR_SHARED(uint32_t, shared, 33);
    if (tsr_tile_stopped(pool.state)) return;
    plan(pool, stepped, shared);
}

/* ---- mark ------------------------------------------------------------------------------------------------------------------------- */

/* One warp per list entry; a block covers 32 entries at a time and writes their keep word. The last block of a small list goes on to plan. */
TSR_KERNEL(__launch_bounds__(MARK_THREADS, MARK_BLOCKS) mark_kernel)(tsr_tile_pool pool, int32_t stepped, int32_t small)
{
    TSR_SHARED(plan_shared, shared, 1);
    uint32_t *keep = shared->words;
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const uint64_t *keys = pool.key[state->list];
    const uint32_t *ids = pool.id[state->list];
    enum { WARPS = MARK_THREADS / 32, EACH = 32 / WARPS };
    const int32_t count = state->count, lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5);
    const int32_t last = tsr_maxi(count - 1, 0);
    uint32_t following[EACH];
#pragma unroll
    for (int32_t e = 0; e < EACH; e++) following[e] = ids[tsr_mini((int32_t)blockIdx.x * 32 + e * WARPS + warp, last)];
    for (int32_t group = (int32_t)blockIdx.x; group * 32 < count; group += (int32_t)gridDim.x) {
        uint32_t id[EACH], rows[EACH], words[EACH]; /* of all entries of the warp at once, and the ids of the next group */
#pragma unroll
        for (int32_t e = 0; e < EACH; e++) {
            id[e] = following[e];
            rows[e] = lane < TSR_TILE_DIRECTIONS ? pool.neighbours[(int64_t)id[e] * TSR_NEIGHBOUR_ROW + lane] : (uint32_t)TSR_TILE_FIRST;
            words[e] = pool.activity[id[e]];
        }
#pragma unroll
        for (int32_t e = 0; e < EACH; e++) following[e] = ids[tsr_mini((group + (int32_t)gridDim.x) * 32 + e * WARPS + warp, last)];
        if (threadIdx.x == 0) keep[0] = 0;
        __syncthreads();
#pragma unroll
        for (int32_t e = 0; e < EACH; e++) {
            const int32_t k = e * WARPS + warp, at = group * 32 + k;
            if (at >= count) break;
            const uint32_t row = rows[e], areas = words[e] & TSR_ACTIVITY_AREAS;
            int kept = areas != 0;
            const int stored = lane < TSR_TILE_DIRECTIONS && row >= TSR_TILE_FIRST;
            if (!kept) { /* a neighbour's facing area may need it */
                int wanted = 0;
                if (stored) wanted = (int)(tsr_request_mask(pool.activity[row]) >> (26 - lane) & 1u);
                kept = __any_sync(TSR_WARP_ALL, wanted);
            }
            if (kept && lane == 0) atomicOr(&keep[0], 1u << k);
            if (!kept && lane == 0) atomicAdd(&state->scratch[TSR_COUNT_REMOVED], 1u);
            uint32_t absent = __ballot_sync(TSR_WARP_ALL, lane < TSR_TILE_DIRECTIONS && row < TSR_TILE_FIRST);
            uint32_t asked = areas ? tsr_request_mask(areas) & absent : 0u;
            if (!asked) continue;
            /* Many tiles ask for the same absent one, and their requests would want room for all: of those that see each other the first in the list
             * asks. */
            const int first = stored && lane < TSR_TILE_MIDDLE;
            asked &= ~__reduce_or_sync(TSR_WARP_ALL, first ? tsr_directions_from(tsr_request_mask(pool.activity[row]), lane) : 0u);
            uint64_t key = keys[at] + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
            if (!(asked >> lane & 1u) || !tsr_tile_allowed(&pool, key)) continue;
            uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
            if (place < (uint32_t)pool.capacity) s.requests[place] = key;
        }
        __syncthreads();
        if (threadIdx.x == 0) s.keep_bits[group] = keep[0];
        __syncthreads();
    }
    if (small && tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared->words + 33)) sort_and_plan(pool, stepped, shared);
}

/* Insertion: everything stays, and the keys that are allowed and absent are requests. */
TSR_KERNEL(insert_mark_kernel)(tsr_tile_pool pool, const uint64_t *wanted, int32_t wanted_count)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const uint64_t *keys = pool.key[state->list];
    int32_t count = state->count, step = (int32_t)(gridDim.x * blockDim.x), first = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int32_t w = first; w * 32 < count; w += step) s.keep_bits[w] = count - w * 32 >= 32 ? 0xffffffffu : (1u << (count - w * 32)) - 1u;
    for (int32_t i = first; i < wanted_count; i += step) {
        uint64_t key = wanted[i];
        if (!tsr_tile_allowed(&pool, key)) continue;
        int32_t at = tsr_key_lower_bound(keys, count, key);
        if (at < count && keys[at] == key) continue;
        uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
        if (place < (uint32_t)pool.capacity) s.requests[place] = key;
    }
}

/* ---- merge, link, fill ----------------------------------------------------------------------------------------------------------------- */

TSR_DEVICE_FN uint32_t kept_before(const scratch &s, int32_t at)
{
    uint32_t word = at & 31 ? s.keep_bits[at >> 5] & ((1u << (at & 31)) - 1u) : 0u;
    return s.keep_before[at >> 5] + (uint32_t)__popc(word);
}

/* Writes the other list. Removed tiles leave their class with their neighbours; created ones get key and id, and a mark in their row. */
TSR_KERNEL(merge_kernel)(tsr_tile_pool pool, int32_t inserting)
{
    tsr_tile_state *state = pool.state;
    if (tsr_pass_idle(state)) return;
    scratch s = tsr_scratch_of(&pool);
    int32_t list = state->list, count = state->count, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    const uint64_t *keys = pool.key[list];
    const uint32_t *ids = pool.id[list];
    uint64_t *new_keys = pool.key[list ^ 1];
    uint32_t *new_ids = pool.id[list ^ 1];
    int32_t step = (int32_t)(gridDim.x * blockDim.x);
    for (int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); i < count + total; i += step) {
        if (i < count) {
            uint64_t key = keys[i];
            uint32_t id = ids[i], before = kept_before(s, i);
            if (s.keep_bits[i >> 5] >> (i & 31) & 1u) {
                int32_t at = tsr_key_lower_bound_wide(s.sorted, total, key);
                uint32_t fresh = at < total ? s.unique_before[at] : (uint32_t)state->created;
                new_keys[before + fresh] = key;
                new_ids[before + fresh] = id;
                continue;
            }
            uint32_t constant = pool.activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE;
            s.removed[(uint32_t)i - before] = id;
            if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = constant;
            if (constant == TSR_TILE_INSIDE) tsr_inside_becomes_absent(state, tsr_tile_voxels(&pool, key));
            for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
                uint32_t other = pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d];
                if (d != TSR_TILE_MIDDLE && other >= TSR_TILE_FIRST) pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - d] = constant;
            }
        } else {
            int32_t at = i - count;
            uint64_t key = s.sorted[at];
            if (at > 0 && s.sorted[at - 1] == key) continue;
            uint32_t u = s.unique_before[at], id = pool.created_ids[u];
            int32_t old = tsr_key_lower_bound_wide(keys, count, key);
            uint32_t place = (old < count ? kept_before(s, old) : (uint32_t)(count - state->removed)) + u;
            new_keys[place] = key;
            new_ids[place] = id;
            pool.key_of[id] = key;
            if (inserting) {
                uint32_t constant = tsr_tile_find(&pool, keys, ids, count, state->background, key);
                pool.activity[id] = constant == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0u;
            }
            pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] = UINT32_MAX; /* not linked yet */
            if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = id;
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) new_keys[count - state->removed + state->created] = TSR_KEY_END;
}

TSR_KERNEL(close_rows_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    if (!tsr_pass_idle(pool.state)) tsr_close_rows(pool, stepped, (int32_t)blockIdx.x, (int32_t)gridDim.x);
}
TSR_KERNEL(close_list_kernel)(tsr_tile_pool pool)
{
    if (!tsr_pass_idle(pool.state)) tsr_close_list(pool);
}

/* Nothing follows a pass. */
struct no_more {
    TSR_INSIDE void operator()(const tsr_tile_pool &) const {}
};

/* From the requests to the other list; `planned` if mark_kernel plans. */
static void enqueue_merge(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped, int32_t planned)
{
    const int32_t processors = tsr_queue_processors(queue);
    if (!planned) {
        TSR_LAUNCH(queue, sort_chunks_kernel, tsr_blocks((pool->capacity + CHUNK - 1) / CHUNK, 1, processors), SORT_THREADS, 0, *pool);
        TSR_LAUNCH(queue, rank_kernel, tsr_blocks(pool->capacity, 256, processors), 256, 0, *pool);
        TSR_LAUNCH(queue, plan_kernel, 1, PLAN_THREADS, 0, *pool, stepped);
    }
    TSR_LAUNCH(queue, merge_kernel, tsr_blocks(2 * (int64_t)pool->capacity, 256, 8 * processors), 256, 0, *pool, inserting);
}

static void enqueue_close(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped)
{
    tsr_enqueue_link(queue, pool, inserting, stepped, no_more());
    if (pool->capacity <= TSR_SMALL_LIST) return;
    TSR_LAUNCH(queue, close_rows_kernel, tsr_blocks(pool->capacity, 256, tsr_queue_processors(queue)), 256, 0, *pool, stepped);
    TSR_LAUNCH(queue, close_list_kernel, 1, 1, 0, *pool);
}

void tsr_tiles_cuda_merge(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    const int32_t small = pool->capacity <= TSR_SMALL_LIST;
    TSR_LAUNCH(queue, mark_kernel, tsr_blocks(pool->capacity, 32, 8 * (int64_t)tsr_queue_processors(queue)), MARK_THREADS, 0, *pool, stepped, small);
    enqueue_merge(queue, pool, 0, stepped, small);
}

tsr_status tsr_tiles_cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    tsr_tiles_cuda_merge(queue, pool, stepped);
    enqueue_close(queue, pool, 0, stepped);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_tiles_cuda_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count)
{
    TSR_LAUNCH(queue, insert_mark_kernel, tsr_blocks(tsr_max64(count, pool->capacity / 32), 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0,
               *pool, keys, count);
    enqueue_merge(queue, pool, 1, 0, 0);
    enqueue_close(queue, pool, 1, 0);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
