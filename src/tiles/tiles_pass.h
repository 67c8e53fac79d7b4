/* tiles/tiles_pass.h: the parts of a management pass of the sorted tile list on the GPU, for the kernels that share them out: those of tiles_manage_cuda.cu, one
 * after another, and those that make whole steps (solver/engine_steps.h). What marks, merges and links is done by all blocks, what sorts and plans by one. */
#ifndef TSR_TILES_TILES_PASS_H
#define TSR_TILES_TILES_PASS_H

#include "tiles/tiles_link.h"

enum { TSR_SORT_CHUNK = 2048, TSR_FEW_REQUESTS = 256 };

/* ---- sort the requests -------------------------------------------------------------------------------------------------------------- */

/* One block sorts a few keys: each thread counts those before its own, which takes one barrier. */
TSR_DEVICE_FN void tsr_sort_few(tsr_keys from, tsr_keys to, int32_t n, uint64_t *keys)
{
    for (int32_t at = (int32_t)threadIdx.x; at < n; at += (int32_t)blockDim.x) keys[at] = tsr_key_at(from, at);
    __syncthreads();
    for (int32_t at = (int32_t)threadIdx.x; at < n; at += (int32_t)blockDim.x) {
        const uint64_t own = keys[at];
        int32_t place = 0;
        for (int32_t i = 0; i < n; i++) place += keys[i] < own || (keys[i] == own && i < at);
        tsr_key_put(to, place, own);
    }
}

/* Bitonic sort of chunk c, up to 2048 keys, by a block; `keys` is shared memory for TSR_SORT_CHUNK. Ends with a barrier. */
TSR_DEVICE_FN void tsr_sort_chunk(tsr_keys from, tsr_keys to, int64_t total, uint32_t c, uint64_t *keys)
{
    const int64_t first = (int64_t)c * TSR_SORT_CHUNK;
    int32_t n = (int32_t)tsr_minl(TSR_SORT_CHUNK, total - first), padded = 1, threads = (int32_t)blockDim.x;
    while (padded < n) padded *= 2;
    for (int32_t i = (int32_t)threadIdx.x; i < padded; i += threads) keys[i] = i < n ? tsr_key_at(from, first + i) : TSR_KEY_END;
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
    for (int32_t i = (int32_t)threadIdx.x; i < n; i += threads) tsr_key_put(to, first + i, keys[i]);
    __syncthreads();
}

/* Merges the keys of sorted chunk `own`, by a block: each key's place is its place in its chunk plus its lower bounds in the others. */
TSR_DEVICE_FN void tsr_rank_chunk(tsr_keys from, tsr_keys to, int64_t total, uint32_t own)
{
    const int64_t end = tsr_minl(total, (int64_t)(own + 1) * TSR_SORT_CHUNK);
    for (int64_t i = (int64_t)own * TSR_SORT_CHUNK + threadIdx.x; i < end; i += blockDim.x) {
        const uint64_t key = tsr_key_at(from, i);
        int64_t place = i - (int64_t)own * TSR_SORT_CHUNK;
        for (uint32_t c = 0; (int64_t)c * TSR_SORT_CHUNK < total; c++) {
            if (c == own) continue;
            const int32_t n = (int32_t)tsr_minl(TSR_SORT_CHUNK, total - (int64_t)c * TSR_SORT_CHUNK);
            place += tsr_keys_lower_bound(tsr_keys_from(from, (int64_t)c * TSR_SORT_CHUNK), n,
                                          key + (c < own)); /* equal keys of earlier chunks come first */
        }
        tsr_key_put(to, place, key);
    }
}

/* ---- plan ------------------------------------------------------------------------------------------------------------------------- */

/* What a plan ends with, one thread: with ids missing nothing changes. `total` requests. */
TSR_DEVICE_FN void tsr_plan_close(const tsr_tile_pool &pool, int32_t stepped, uint32_t created, uint32_t removed, uint32_t missing, int32_t total)
{
    tsr_tile_state *state = pool.state;
    if (stepped) tsr_publish_step(state);
    state->created = missing ? 0 : (int32_t)created;
    state->removed = missing ? 0 : (int32_t)removed;
    state->shortage = (int32_t)missing;
    state->managed = missing == 0;
    if (!missing) state->quiet = created ? 0 : state->quiet + 1;
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
    state->scratch[TSR_COUNT_REQUESTS] = !missing && created + removed > 0 ? (uint32_t)total : 0u; /* tsr_merge_entry still needs it */
    state->scratch[TSR_COUNT_PLANNED] = 1;
}

/* One block: publishes the totals of the step (if there was one), counts what stays and what is new, checks the ids. Each thread takes a run of
 * requests and of mask words, or of chunks if those are counted, so that one prefix over the block does for each. `shared` has 33 words. */
TSR_DEVICE_FN void tsr_plan_pass(const tsr_tile_pool &pool, int32_t stepped, int32_t counted, uint32_t *shared)
{
    tsr_tile_state *state = pool.state;
    tsr_tile_scratch s = tsr_scratch_of(&pool);
    const int32_t count = state->count, tid = (int32_t)threadIdx.x, threads = (int32_t)blockDim.x;
    const uint32_t asked = state->scratch[TSR_COUNT_REQUESTS], removed = state->scratch[TSR_COUNT_REMOVED];
    const int32_t total = (int32_t)tsr_minl(asked, pool.capacity), run = (total + threads - 1) / threads;
    uint32_t created = 0, kept = 0, fresh = 0;
    __syncthreads();
    for (int32_t i = tid * run; i < tsr_mini(total, (tid + 1) * run); i++) fresh += i == 0 || tsr_key_at(s.sorted, i) != tsr_key_at(s.sorted, i - 1);
    uint32_t before = tsr_block_prefix(fresh, shared, &created);
    for (int32_t i = tid * run; i < tsr_mini(total, (tid + 1) * run); i++) {
        s.unique_before[i] = before;
        before += i == 0 || tsr_key_at(s.sorted, i) != tsr_key_at(s.sorted, i - 1);
    }
    const uint32_t wanted = asked > (uint32_t)total ? asked : created; /* which of too many requests have a place is chance, their number is not */
    const uint32_t missing = wanted > (uint32_t)state->free_count ? wanted - (uint32_t)state->free_count : 0u;
    if (!missing && created + removed > 0) {
        const int32_t words = (count + 31) / 32, chunks = (words + TSR_KEEP_CHUNK - 1) / TSR_KEEP_CHUNK, all = counted ? chunks : words;
        const int32_t mine = (all + threads - 1) / threads, end = tsr_mini(all, (tid + 1) * mine);
        uint32_t bits = 0;
        for (int32_t w = tid * mine; w < end; w++) bits += counted ? s.keep_chunks[w] : (uint32_t)__popc(s.keep_bits[w]);
        before = tsr_block_prefix(bits, shared, &kept);
        for (int32_t w = tid * mine; w < end; w++) {
            const uint32_t own = counted ? s.keep_chunks[w] : (uint32_t)__popc(s.keep_bits[w]);
            (counted ? s.keep_chunks : s.keep_before)[w] = before;
            before += own;
        }
        if (!counted)
            for (int32_t c = tid; c < chunks; c += threads) s.keep_chunks[c] = 0;
        for (uint32_t u = (uint32_t)tid; u < created; u += (uint32_t)threads)
            pool.created_ids[u] = pool.free_ids[(uint32_t)state->free_count - 1u - u];
    }
    __syncthreads();
    if (tid == 0) tsr_plan_close(pool, stepped, created, removed, missing, total);
}

/* Shared memory of a block that sorts and plans. */
struct tsr_plan_shared {
    uint64_t keys[TSR_SORT_CHUNK];
    uint32_t words[34];
};

/* All of it by one block. */
TSR_DEVICE_FN void tsr_sort_and_plan(const tsr_tile_pool &pool, int32_t stepped, tsr_plan_shared *shared)
{
    tsr_tile_scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(pool.state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    const uint32_t chunks = (uint32_t)((total + TSR_SORT_CHUNK - 1) / TSR_SORT_CHUNK);
    if (total <= TSR_FEW_REQUESTS) tsr_sort_few(s.requests, s.sorted, (int32_t)total, shared->keys);
    else
        for (uint32_t c = 0; c < chunks; c++) tsr_sort_chunk(s.requests, chunks > 1 ? s.requests : s.sorted, total, c, shared->keys);
    for (uint32_t c = 0; chunks > 1 && c < chunks; c++) tsr_rank_chunk(s.requests, s.sorted, total, c);
    __syncthreads();
    tsr_plan_pass(pool, stepped, 0, shared->words);
}

/* ---- mark ----------------------------------------------------------------------------------------------------------------- */

/* A warp, lanes = directions: the requests of the tile with this key for the directions `asked`, all absent. `areas` holds the activity word of the
 * stored neighbours before the middle, else 0. Many tiles ask for the same absent one, and their requests would want room for all: of those that see
 * each other the first in the list asks. */
TSR_DEVICE_FN void tsr_request_tiles(const tsr_tile_pool &pool, const tsr_tile_scratch &s, uint64_t own, uint32_t asked, uint32_t areas, int32_t lane)
{
    asked &= ~__reduce_or_sync(TSR_WARP_ALL, tsr_directions_from(tsr_request_mask(areas), lane));
    const uint64_t key = own + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
    if (!(asked >> lane & 1u) || tsr_tile_fenced_off(&pool, key)) return;
    if (!tsr_tile_allowed(&pool, key)) {
        if (!pool.bounded) atomicAdd((unsigned long long *)(void *)&pool.state->beyond, 1ull);
        return;
    }
    const uint32_t place = atomicAdd(&pool.state->scratch[TSR_COUNT_REQUESTS], 1u);
    if (place < (uint32_t)pool.capacity) tsr_key_put(s.requests, place, key);
}

/* A warp: does entry `at` of the list stay? Its requests are noted. */
TSR_DEVICE_FN int tsr_mark_entry(const tsr_tile_pool &pool, const tsr_tile_scratch &s, tsr_keys keys, const uint32_t *ids, int32_t at, int32_t lane)
{
    const uint32_t id = ids[at],
                   row = lane < TSR_TILE_DIRECTIONS ? pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] : (uint32_t)TSR_TILE_FIRST;
    const uint32_t word = pool.activity[id], areas = word & TSR_ACTIVITY_AREAS;
    const int stored = lane < TSR_TILE_DIRECTIONS && row >= TSR_TILE_FIRST;
    int kept = areas != 0;
    if (word & TSR_ACTIVITY_CREATED && lane == 0) pool.activity[id] = word & ~TSR_ACTIVITY_CREATED;
    if (!kept) { /* a neighbour's facing area may need it */
        int wanted = 0;
        if (stored) wanted = (int)(tsr_request_mask(pool.activity[row]) >> (26 - lane) & 1u);
        kept = __any_sync(TSR_WARP_ALL, wanted);
    }
    if (!kept && lane == 0) atomicAdd(&pool.state->scratch[TSR_COUNT_REMOVED], 1u);
    const uint32_t absent = __ballot_sync(TSR_WARP_ALL, lane < TSR_TILE_DIRECTIONS && row < TSR_TILE_FIRST);
    const uint32_t asked = areas ? tsr_request_mask(areas) & absent : 0u;
    if (asked) tsr_request_tiles(pool, s, tsr_key_at(keys, at), asked, stored && lane < TSR_TILE_MIDDLE ? pool.activity[row] : 0u, lane);
    return kept;
}

/* ---- merge ---------------------------------------------------------------------------------------------------------------- */

TSR_DEVICE_FN uint32_t tsr_kept_before(const tsr_tile_scratch &s, int32_t at)
{
    const int32_t word = at >> 5;
    const uint32_t bits = at & 31 ? s.keep_bits[word] & ((1u << (at & 31)) - 1u) : 0u;
    return s.keep_chunks[word / TSR_KEEP_CHUNK] + s.keep_before[word] + (uint32_t)__popc(bits);
}

/* Entry i of the old list; the first request not before its key is one of low .. high. A removed tile leaves its class with its neighbours. */
TSR_DEVICE_FN void tsr_merge_entry(const tsr_tile_pool &pool, const tsr_tile_scratch &s, int32_t i, uint64_t key, uint32_t id, int32_t low,
                                   int32_t high)
{
    tsr_tile_state *state = pool.state;
    const int32_t list = state->list ^ 1, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    const uint32_t before = tsr_kept_before(s, i);
    if (s.keep_bits[i >> 5] >> (i & 31) & 1u) {
        const int32_t at = low + tsr_keys_lower_bound_wide(tsr_keys_from(s.sorted, low), high - low, key);
        const uint32_t fresh = at < total ? s.unique_before[at] : (uint32_t)state->created;
        tsr_pool_key_put(&pool, list, before + fresh, key);
        pool.id[list][before + fresh] = id;
        return;
    }
    const uint32_t constant = pool.activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE;
    pool.free_ids[state->free_count - state->created + i - (int32_t)before] = id; /* plan has read what was there */
    if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = constant;
    if (constant == TSR_TILE_INSIDE) tsr_inside_becomes_absent(state, tsr_tile_voxels(&pool, key));
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const uint32_t other = pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d];
        if (d != TSR_TILE_MIDDLE && other >= TSR_TILE_FIRST) pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - d] = constant;
    }
}

/* Request `at` in order: a created tile gets key and id, and a mark in its word. */
TSR_DEVICE_FN void tsr_merge_request(const tsr_tile_pool &pool, const tsr_tile_scratch &s, int32_t at, int32_t inserting)
{
    const tsr_tile_state *state = pool.state;
    const int32_t list = state->list, count = state->count;
    const tsr_keys keys = tsr_pool_keys(&pool, list);
    const uint64_t key = tsr_key_at(s.sorted, at);
    if (at > 0 && tsr_key_at(s.sorted, at - 1) == key) return;
    const uint32_t u = s.unique_before[at], id = pool.created_ids[u];
    const int32_t old = tsr_keys_lower_bound_wide(keys, count, key);
    const uint32_t place = (old < count ? tsr_kept_before(s, old) : (uint32_t)(count - state->removed)) + u;
    tsr_pool_key_put(&pool, list ^ 1, place, key);
    pool.id[list ^ 1][place] = id;
    tsr_pool_key_of_put(&pool, id, key);
    const int outside = inserting && tsr_tile_find(&pool, keys, pool.id[list], count, state->background, key) == TSR_TILE_OUTSIDE;
    pool.activity[id] = TSR_ACTIVITY_CREATED | (outside ? TSR_ACTIVITY_OUTSIDE : 0u);
    if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = id;
}

/* The tile with this key in the next list, or 0; where the old one has it or what comes after it is `place`. `stays`: it is of the old list. */
TSR_DEVICE_FN uint32_t tsr_next_tile(const tsr_tile_pool &pool, const tsr_tile_scratch &s, tsr_keys keys, const uint32_t *ids, int32_t count,
                                     int32_t total, uint64_t key, int32_t *place, int *stays)
{
    const int32_t at = tsr_keys_lower_bound_wide(keys, count, key);
    const int stored = at < count && tsr_key_at(keys, at) == key;
    *place = at;
    *stays = stored && (s.keep_bits[at >> 5] >> (at & 31) & 1u);
    if (stored) return *stays ? ids[at] : 0u;
    const int32_t fresh = tsr_keys_lower_bound_wide(s.sorted, total, key);
    return fresh < total && tsr_key_at(s.sorted, fresh) == key ? pool.created_ids[s.unique_before[fresh]] : 0u;
}

/* Request `at` in order, a warp, lanes = directions: a created tile enters the next list, meets its neighbours, which are told of it, and gets the constant that
 * space had there: the entry that any neighbour of the old list holds for it. Returns its id, or 0 if the request before is for the same tile. The next list need
 * not stand: tiles are looked for in the old one and among the requests. */
template <int E>
TSR_DEVICE_FN uint32_t tsr_merge_created(const tsr_tile_pool &pool, const tsr_tile_scratch &s, int32_t at, int32_t total, int32_t lane,
                                         int32_t stepped)
{
    tsr_tile_state *state = pool.state;
    const int32_t list = state->list, count = state->count;
    const uint64_t own = tsr_key_at(s.sorted, at), key = own + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
    if (at > 0 && tsr_key_at(s.sorted, at - 1) == own) return 0;
    const uint32_t u = s.unique_before[at], id = pool.created_ids[u];
    uint32_t constant = 0;
    int32_t place;
    int stays;
    const uint32_t other = tsr_next_tile(pool, s, tsr_pool_keys(&pool, list), pool.id[list], count, total, key, &place, &stays);
    if (stays && lane < TSR_TILE_DIRECTIONS) {
        uint32_t *entry = &pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - lane];
        constant = *entry;
        *entry = id;
    }
    const uint32_t olds = __ballot_sync(TSR_WARP_ALL, stays && lane < TSR_TILE_DIRECTIONS);
    constant = __shfl_sync(TSR_WARP_ALL, constant, olds ? __ffs((int)olds) - 1 : 0);
    if (lane < TSR_TILE_DIRECTIONS) pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] = lane == TSR_TILE_MIDDLE ? id : other ? other : constant;
    if (lane == TSR_TILE_MIDDLE) {
        const uint32_t to = (place < count ? tsr_kept_before(s, place) : (uint32_t)(count - state->removed)) + u;
        tsr_pool_key_put(&pool, list ^ 1, to, own);
        tsr_pool_key_of_put(&pool, id, own);
        pool.id[list ^ 1][to] = id;
        if (pool.table) pool.table[tsr_tile_linear(&pool, own)] = id;
        if (constant == TSR_TILE_INSIDE) tsr_inside_becomes_absent(state, -tsr_tile_voxels(&pool, own));
    }
    tsr_fill_created<E>(pool, id, constant, lane, 0, stepped);
    __syncwarp(); /* for the client: key_of */
    return id;
}

/* The other list and what is new in it, by all blocks; then.tile(pool, id, lane) as in tiles_link.h. The last warps take the requests: the others have the
 * entries. */
template <int E, class THEN>
TSR_DEVICE_FN void tsr_merge_list(const tsr_tile_pool &pool, const tsr_tile_scratch &s, int32_t stepped, const THEN &then)
{
    const tsr_tile_state *state = pool.state;
    const int32_t threads = (int32_t)(gridDim.x * blockDim.x), thread = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;
    const int32_t list = state->list, count = state->count, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    for (int32_t i = thread; i < count; i += threads) tsr_merge_entry(pool, s, i, tsr_pool_key(&pool, list, i), pool.id[list][i], 0, total);
    for (int32_t at = (threads - 1 - thread) >> 5; at < total; at += threads >> 5) {
        const uint32_t id = tsr_merge_created<E>(pool, s, at, total, lane, stepped);
        if (id) then.tile(pool, id, lane);
    }
    if (thread == 0) tsr_pool_key_put(&pool, list ^ 1, count - state->removed + state->created, TSR_KEY_END);
}

/* That as a kernel, for small lists; the last block closes the pass as in tsr_link_kernel. */
template <int E, class THEN> TSR_KERNEL(tsr_merge_link_kernel)(tsr_tile_pool pool, int32_t stepped, THEN then)
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
    tsr_merge_list<E>(pool, tsr_scratch_of(&pool), stepped, then);
    if (!tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared) || threadIdx.x != 0) return;
    tsr_close_list(pool);
    then(pool);
}

/* Queues a management pass and what follows it; after a step (stepped != 0) it publishes the totals of the step. */
template <class THEN> static void tsr_enqueue_management(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped, THEN then)
{
    tsr_tiles_cuda_plan(queue, pool, stepped);
    if (pool->capacity > TSR_SMALL_LIST) {
        tsr_enqueue_link(queue, pool, 0, stepped, then);
        return;
    }
    const uint32_t blocks = tsr_blocks(2 * (int64_t)pool->capacity, TSR_LINK_THREADS, 4 * (int64_t)tsr_queue_processors(queue));
    if (pool->log2_edge == 3) TSR_LAUNCH_DEPENDENT(queue, (tsr_merge_link_kernel<8, THEN>), blocks, TSR_LINK_THREADS, 0, *pool, stepped, then);
    else TSR_LAUNCH_DEPENDENT(queue, (tsr_merge_link_kernel<4, THEN>), blocks, TSR_LINK_THREADS, 0, *pool, stepped, then);
}

#endif
