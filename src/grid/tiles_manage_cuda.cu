/* grid/tiles_manage_cuda.cu: management of the sorted tile list on the GPU (and the emulator).
 *
 * A pass marks what stays and what is asked for, sorts the requests, plans positions, merges into the other list, links the created tiles with
 * their neighbours and fills them, all without the host (spec levelset-gpu.md 2.6, fast path). It pays for the number of kernels as much as for their
 * work: where requests are few, the block that ends last does what one block does well, so that a pass is three kernels. Of a large list, where they may
 * come by the ten thousand, a fourth sorts them then. When nothing is created or removed, all but the first exit at once. */
#include "grid/tiles_ops.h"
#include "grid/tiles_link.h"

enum { CHUNK = 2048, FEW = 256, SORT_THREADS = 1024, PLAN_THREADS = 1024, MARK_THREADS = 512, MARK_BLOCKS = 4 };
enum { MARK_LARGE_THREADS = 256, MARK_LARGE_BLOCKS = 5, MARK_ROWS = 4, MERGE_LARGE = 8 /* keys a lane */ };

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

/* Bitonic sort of chunk c, up to 2048 keys, by a block; `keys` is shared memory for CHUNK. Ends with a barrier. */
TSR_DEVICE_FN void sort_chunk(const uint64_t *from, uint64_t *to, int64_t total, uint32_t c, uint64_t *keys)
{
    const int64_t first = (int64_t)c * CHUNK;
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

/* Merges the keys of sorted chunk `own`, by a block: each key's place is its place in its chunk plus its lower bounds in the others. */
TSR_DEVICE_FN void rank_chunk(const uint64_t *from, uint64_t *to, int64_t total, uint32_t own)
{
    const int64_t end = tsr_minl(total, (int64_t)(own + 1) * CHUNK);
    for (int64_t i = (int64_t)own * CHUNK + threadIdx.x; i < end; i += blockDim.x) {
        const uint64_t key = from[i];
        int64_t place = i - (int64_t)own * CHUNK;
        for (uint32_t c = 0; (int64_t)c * CHUNK < total; c++) {
            if (c == own) continue;
            const int32_t n = (int32_t)tsr_minl(CHUNK, total - (int64_t)c * CHUNK);
            place += tsr_key_lower_bound(from + (int64_t)c * CHUNK, n, key + (c < own)); /* equal keys of earlier chunks come first */
        }
        to[place] = key;
    }
}

/* ---- plan ------------------------------------------------------------------------------------------------------------------------- */

/* One block: publishes the totals of the step (if there was one), counts what stays and what is new, checks the ids. Each thread takes a run of
 * requests and of mask words, or of chunks if those are counted, so that one prefix over the block does for each. `shared` has 33 words. */
TSR_DEVICE_FN void plan(const tsr_tile_pool &pool, int32_t stepped, int32_t counted, uint32_t *shared)
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
    if (tid != 0) return;
    if (stepped) tsr_publish_step(state);
    state->created = missing ? 0 : (int32_t)created;
    state->removed = missing ? 0 : (int32_t)removed;
    state->shortage = (int32_t)missing;
    state->managed = missing == 0;
    if (!missing) state->quiet = created ? 0 : state->quiet + 1;
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
    state->scratch[TSR_COUNT_REQUESTS] = !missing && created + removed > 0 ? (uint32_t)total : 0u; /* merge_kernel still needs it */
    state->scratch[TSR_COUNT_PLANNED] = 1;
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
    const uint32_t chunks = (uint32_t)((total + CHUNK - 1) / CHUNK);
    if (total <= FEW) sort_few(s.requests, s.sorted, (int32_t)total, shared->keys);
    else
        for (uint32_t c = 0; c < chunks; c++) sort_chunk(s.requests, chunks > 1 ? s.requests : s.sorted, total, c, shared->keys);
    for (uint32_t c = 0; chunks > 1 && c < chunks; c++) rank_chunk(s.requests, s.sorted, total, c);
    __syncthreads();
    plan(pool, stepped, 0, shared->words);
}

/* Many requests of a large list: chunks are sorted, then merged piece by piece, each by the block that draws it (one that waits for the last chunk knows
 * that all were drawn before); the block that ends last plans. */
TSR_KERNEL(__launch_bounds__(SORT_THREADS) sort_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(uint64_t, keys, CHUNK);
    TSR_SHARED(uint32_t, shared, 34);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state) || state->scratch[TSR_COUNT_PLANNED]) return;
    const scratch s = tsr_scratch_of(&pool);
    const int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    const uint32_t chunks = (uint32_t)((total + CHUNK - 1) / CHUNK), tasks = chunks > 1 ? 2 * chunks : chunks;
    for (;;) {
        if (threadIdx.x == 0) shared[33] = atomicAdd(&state->scratch[TSR_COUNT_TASKS], 1u);
        __syncthreads();
        const uint32_t task = shared[33];
        __syncthreads();
        if (task >= tasks) break;
        if (task < chunks) {
            sort_chunk(s.requests, chunks > 1 ? s.requests : s.sorted, total, task, keys);
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) atomicAdd(&state->scratch[TSR_COUNT_SORTED], 1u);
        } else {
            if (threadIdx.x == 0)
                while (atomicAdd(&state->scratch[TSR_COUNT_SORTED], 0u) < chunks) {}
            __syncthreads();
            __threadfence();
            rank_chunk(s.requests, s.sorted, total, task - chunks);
        }
    }
    if (tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared)) plan(pool, stepped, 1, shared);
}

/* ---- mark ------------------------------------------------------------------------------------------------------------------------- */

/* A warp, lanes = directions: the requests of the tile with this key for the directions `asked`, all absent. `areas` holds the activity word of the
 * stored neighbours before the middle, else 0. Many tiles ask for the same absent one, and their requests would want room for all: of those that see
 * each other the first in the list asks. */
TSR_DEVICE_FN void request_tiles(const tsr_tile_pool &pool, const scratch &s, uint64_t own, uint32_t asked, uint32_t areas, int32_t lane)
{
    asked &= ~__reduce_or_sync(TSR_WARP_ALL, tsr_directions_from(tsr_request_mask(areas), lane));
    const uint64_t key = own + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
    if (!(asked >> lane & 1u) || !tsr_tile_allowed(&pool, key)) return;
    const uint32_t place = atomicAdd(&pool.state->scratch[TSR_COUNT_REQUESTS], 1u);
    if (place < (uint32_t)pool.capacity) s.requests[place] = key;
}

/* A small list: one warp per entry; a block covers 32 entries at a time and writes their keep word. The last block goes on to plan. */
TSR_KERNEL(__launch_bounds__(MARK_THREADS, MARK_BLOCKS) mark_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(plan_shared, shared, 1);
    uint32_t *keep = shared->words;
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const uint64_t *keys = pool.key[state->list];
    const uint32_t *ids = pool.id[state->list];
    int32_t count = state->count, lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5), warps = MARK_THREADS / 32;
    for (int32_t group = (int32_t)blockIdx.x; group * 32 < count; group += (int32_t)gridDim.x) {
        if (threadIdx.x == 0) keep[0] = 0;
        __syncthreads();
        for (int32_t k = warp; k < 32 && group * 32 + k < count; k += warps) {
            int32_t at = group * 32 + k;
            uint32_t id = ids[at],
                     row = lane < TSR_TILE_DIRECTIONS ? pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] : (uint32_t)TSR_TILE_FIRST;
            const uint32_t word = pool.activity[id], areas = word & TSR_ACTIVITY_AREAS;
            int kept = areas != 0;
            if (word & TSR_ACTIVITY_CREATED && lane == 0) pool.activity[id] = word & ~TSR_ACTIVITY_CREATED;
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
            request_tiles(pool, s, keys[at], asked, stored && lane < TSR_TILE_MIDDLE ? pool.activity[row] : 0u, lane);
        }
        __syncthreads();
        if (threadIdx.x == 0) s.keep_bits[group] = keep[0];
        __syncthreads();
    }
    if (tsr_last_block(&state->scratch[TSR_COUNT_BLOCKS], shared->words + 33)) sort_and_plan(pool, stepped, shared);
}

/* A large list, which is bound by memory: a warp takes 32 entries, their ids and activity words by lanes. Those whose areas are not settled, or which have
 * none, need their row of neighbours: MARK_ROWS at a time, all of whose loads are on their way together; places without an entry hold a static tile,
 * which asks for nothing and which nobody needs. A block counts what its warps keep, and the last one goes on to plan if requests are few. */
TSR_KERNEL(__launch_bounds__(MARK_LARGE_THREADS, MARK_LARGE_BLOCKS) mark_large_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    tsr_chained();
    TSR_SHARED(uint64_t, few, FEW);
    TSR_SHARED(uint32_t, shared, 34);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    const scratch s = tsr_scratch_of(&pool);
    const uint64_t *keys = pool.key[state->list];
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
                if (asked[j]) request_tiles(pool, s, keys[first + at[j]], asked[j], row[j], lane);
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
    if (total > FEW) return;
    sort_few(s.requests, s.sorted, (int32_t)total, few);
    __syncthreads();
    plan(pool, stepped, 1, shared);
}

/* Insertion: everything stays, and the keys that are allowed and absent are requests. */
TSR_KERNEL(insert_mark_kernel)(tsr_tile_pool pool, const uint64_t *wanted, int32_t wanted_count)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = tsr_scratch_of(&pool);
    const uint64_t *keys = pool.key[state->list];
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
        int32_t at = tsr_key_lower_bound(keys, count, key);
        if (at < count && keys[at] == key) continue;
        uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
        if (place < (uint32_t)pool.capacity) s.requests[place] = key;
    }
}

/* ---- merge, link, fill ----------------------------------------------------------------------------------------------------------------- */

TSR_DEVICE_FN uint32_t kept_before(const scratch &s, int32_t at)
{
    const int32_t word = at >> 5;
    const uint32_t bits = at & 31 ? s.keep_bits[word] & ((1u << (at & 31)) - 1u) : 0u;
    return s.keep_chunks[word / TSR_KEEP_CHUNK] + s.keep_before[word] + (uint32_t)__popc(bits);
}

/* Entry i of the old list; the first request not before its key is one of low .. high. A removed tile leaves its class with its neighbours. */
TSR_DEVICE_FN void merge_entry(const tsr_tile_pool &pool, const scratch &s, int32_t i, uint64_t key, uint32_t id, int32_t low, int32_t high)
{
    tsr_tile_state *state = pool.state;
    const int32_t list = state->list ^ 1, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    const uint32_t before = kept_before(s, i);
    if (s.keep_bits[i >> 5] >> (i & 31) & 1u) {
        const int32_t at = low + tsr_key_lower_bound_wide(s.sorted + low, high - low, key);
        const uint32_t fresh = at < total ? s.unique_before[at] : (uint32_t)state->created;
        pool.key[list][before + fresh] = key;
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
TSR_DEVICE_FN void merge_request(const tsr_tile_pool &pool, const scratch &s, int32_t at, int32_t inserting)
{
    const tsr_tile_state *state = pool.state;
    const int32_t list = state->list, count = state->count;
    const uint64_t *keys = pool.key[list], key = s.sorted[at];
    if (at > 0 && s.sorted[at - 1] == key) return;
    const uint32_t u = s.unique_before[at], id = pool.created_ids[u];
    const int32_t old = tsr_key_lower_bound_wide(keys, count, key);
    const uint32_t place = (old < count ? kept_before(s, old) : (uint32_t)(count - state->removed)) + u;
    pool.key[list ^ 1][place] = key;
    pool.id[list ^ 1][place] = id;
    pool.key_of[id] = key;
    const int outside = inserting && tsr_tile_find(&pool, keys, pool.id[list], count, state->background, key) == TSR_TILE_OUTSIDE;
    pool.activity[id] = TSR_ACTIVITY_CREATED | (outside ? TSR_ACTIVITY_OUTSIDE : 0u);
    if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = id;
}

/* Writes the other list. A warp takes PER keys a lane of the old one; where that is more than one, it looks for the first and the last among the
 * requests, which leaves few to each key. The last threads take the requests: in a small list the others have the entries. */
template <int PER> TSR_KERNEL(merge_kernel)(tsr_tile_pool pool, int32_t inserting)
{
    tsr_chained();
    tsr_tile_state *state = pool.state;
    if (tsr_pass_idle(state)) return;
    const scratch s = tsr_scratch_of(&pool);
    const int32_t list = state->list, count = state->count, total = (int32_t)state->scratch[TSR_COUNT_REQUESTS];
    const uint64_t *keys = pool.key[list];
    const uint32_t *ids = pool.id[list];
    const int32_t threads = (int32_t)(gridDim.x * blockDim.x), thread = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;
    for (int64_t first = (int64_t)(thread >> 5) * 32 * PER; first < count; first += (int64_t)threads * PER) {
        uint64_t key[PER];
        uint32_t id[PER];
        int32_t low = 0, high = total;
#pragma unroll
        for (int32_t j = 0; j < PER; j++) {
            const int64_t i = first + 32 * j + lane;
            key[j] = i < count ? keys[i] : TSR_KEY_END;
            id[j] = i < count ? ids[i] : 0u;
        }
        if (PER > 1) {
            const int64_t end = tsr_minl(first + 32 * PER, count);
            const int32_t bound = tsr_key_lower_bound_wide(s.sorted, total, keys[lane == 0 ? first : end - 1]);
            low = __shfl_sync(TSR_WARP_ALL, bound, 0);
            high = __shfl_sync(TSR_WARP_ALL, bound, 1);
        }
#pragma unroll
        for (int32_t j = 0; j < PER; j++)
            if (first + 32 * j + lane < count) merge_entry(pool, s, (int32_t)first + 32 * j + lane, key[j], id[j], low, high);
    }
    for (int32_t at = threads - 1 - thread; at < total; at += threads) merge_request(pool, s, at, inserting);
    if (thread == 0) pool.key[list ^ 1][count - state->removed + state->created] = TSR_KEY_END;
}

/* Nothing follows a pass. */
struct no_more {
    TSR_INSIDE void tile(const tsr_tile_pool &, uint32_t, int32_t) const {}
    TSR_INSIDE void operator()(const tsr_tile_pool &) const {}
};

/* From the requests to the other list; `planned` if mark_kernel plans. */
static void enqueue_merge(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped, int32_t planned)
{
    const int32_t processors = tsr_queue_processors(queue);
    if (!planned) TSR_LAUNCH_CHAINED(queue, sort_kernel, tsr_blocks(pool->capacity, CHUNK, processors), SORT_THREADS, 0, *pool, stepped);
    const int64_t most = 2 * (int64_t)pool->capacity;
    if (pool->capacity <= TSR_SMALL_LIST) TSR_LAUNCH_CHAINED(queue, merge_kernel<1>, tsr_blocks(most, 256, 8 * processors), 256, 0, *pool, inserting);
    else TSR_LAUNCH_CHAINED(queue, merge_kernel<MERGE_LARGE>, tsr_blocks(most / MERGE_LARGE, 256, 4 * processors), 256, 0, *pool, inserting);
}

void tsr_tiles_cuda_merge(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    const int32_t small = pool->capacity <= TSR_SMALL_LIST;
    const int64_t processors = tsr_queue_processors(queue);
    if (small) TSR_LAUNCH_CHAINED(queue, mark_kernel, tsr_blocks(pool->capacity, 32, 8 * processors), MARK_THREADS, 0, *pool, stepped);
    else
        TSR_LAUNCH_CHAINED(queue, mark_large_kernel, tsr_blocks(pool->capacity, MARK_LARGE_THREADS, MARK_LARGE_BLOCKS * processors),
                           MARK_LARGE_THREADS, 0, *pool, stepped);
    enqueue_merge(queue, pool, 0, stepped, small);
}

tsr_status tsr_tiles_cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    tsr_tiles_cuda_merge(queue, pool, stepped);
    tsr_enqueue_link(queue, pool, 0, stepped, no_more());
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_tiles_cuda_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count)
{
    TSR_LAUNCH(queue, insert_mark_kernel, tsr_blocks(tsr_max64(count, pool->capacity / 32), 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0,
               *pool, keys, count);
    enqueue_merge(queue, pool, 1, 0, 0);
    tsr_enqueue_link(queue, pool, 1, 0, no_more());
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
