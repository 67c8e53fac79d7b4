/* grid/tiles_cuda.cu: the sorted tile list on the GPU (and the emulator).
 *
 * A management pass is six small kernels without host synchronisation (spec levelset-gpu.md 2.6, fast path): mark what stays and what is
 * asked for; sort the requests (chunks in shared memory, then ranks between chunks); plan positions with one block; merge into the other
 * list; link the created tiles with their neighbours; fill them. When nothing is created or removed, all but the first exit at once. */
#include "grid/tiles_kernel.h"
#include "grid/tiles_ops.h"

enum { CHUNK = 2048, SORT_THREADS = 256, PLAN_THREADS = 1024, MARK_THREADS = 256 };

/* ---- scratch of a pass: views into pool.scratch --------------------------------------------------------------------------------- */

struct scratch {
    uint64_t *sorted;        /* [capacity] keys asked for, in order */
    uint32_t *unique_before; /* [capacity] number of distinct keys before this sorted position */
    uint32_t *keep_bits;     /* [capacity / 32 + 1] one bit per list entry */
    uint32_t *keep_before;   /* [capacity / 32 + 1] kept entries before the word's first */
    uint32_t *removed;       /* [capacity] ids in list order */
    uint32_t *block_counts;  /* [domain tiles / 1024 + 1] of loading */
};

TSR_HD int64_t mask_words(int64_t capacity) { return capacity / 32 + 1; }
TSR_HD int64_t load_blocks(const tsr_tile_pool *pool)
{
    return pool->bounded ? ((int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2] + 1023) / 1024 + 1 : 1;
}
TSR_HD scratch scratch_of(const tsr_tile_pool *pool)
{
    scratch s;
    int64_t n = pool->capacity, m = mask_words(n);
    s.sorted = (uint64_t *)(void *)pool->scratch;
    s.unique_before = (uint32_t *)(void *)(s.sorted + n);
    s.keep_bits = s.unique_before + n;
    s.keep_before = s.keep_bits + m;
    s.removed = s.keep_before + m;
    s.block_counts = s.removed + n;
    return s;
}

static int64_t cuda_scratch_words(const tsr_tile_pool *pool)
{
    int64_t n = pool->capacity;
    return 2 * n + n + 2 * mask_words(n) + n + load_blocks(pool);
}

/* [capacity] keys asked for, as they come: where the keys of the next list stand once these are sorted. */
TSR_DEVICE_FN uint64_t *requests_of(const tsr_tile_pool *pool) { return pool->key[pool->state->list ^ 1]; }

TSR_DEVICE_FN void inside_absent_add(tsr_tile_state *state, int64_t voxels)
{
    atomicAdd((unsigned long long *)(void *)&state->inside_absent, (unsigned long long)voxels);
}
/* The voxels of a tile that is INSIDE move from the stored tiles to the absent space (or back, negative). */
TSR_DEVICE_FN void inside_becomes_absent(tsr_tile_state *state, int64_t voxels)
{
    inside_absent_add(state, voxels);
    atomicAdd((unsigned long long *)(void *)&state->inside_voxels, (unsigned long long)-voxels);
}

/* ---- mark ------------------------------------------------------------------------------------------------------------------------- */

/* One warp per list entry; a block covers 32 entries at a time and writes their keep word. */
TSR_KERNEL(mark_kernel)(tsr_tile_pool pool)
{
    TSR_SHARED(uint32_t, keep, 1);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = scratch_of(&pool);
    uint64_t *requests = requests_of(&pool);
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
            uint32_t areas = pool.activity[id] & TSR_ACTIVITY_AREAS;
            int kept = areas != 0;
            if (!kept) { /* a neighbour's facing area may need it */
                int wanted = 0;
                if (lane < TSR_TILE_DIRECTIONS && row >= TSR_TILE_FIRST) wanted = (int)(tsr_request_mask(pool.activity[row]) >> (26 - lane) & 1u);
                kept = __any_sync(TSR_WARP_ALL, wanted);
            }
            if (kept && lane == 0) atomicOr(&keep[0], 1u << k);
            if (!kept && lane == 0) atomicAdd(&state->scratch[TSR_COUNT_REMOVED], 1u);
            uint32_t absent = __ballot_sync(TSR_WARP_ALL, lane < TSR_TILE_DIRECTIONS && row < TSR_TILE_FIRST);
            uint32_t asked = areas ? tsr_request_mask(areas) & absent : 0u;
            if (!asked) continue;
            /* Many tiles ask for the same absent one, and their requests would want room for all: of those that see each other, the lowest id asks. */
            uint32_t theirs = 0;
            if (lane < TSR_TILE_DIRECTIONS && row >= TSR_TILE_FIRST && row < id)
                theirs = tsr_directions_from(tsr_request_mask(pool.activity[row]), lane);
            asked &= ~__reduce_or_sync(TSR_WARP_ALL, theirs);
            uint64_t key = keys[at] + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
            if (!(asked >> lane & 1u) || !tsr_tile_allowed(&pool, key)) continue;
            uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
            if (place < (uint32_t)pool.capacity) requests[place] = key;
        }
        __syncthreads();
        if (threadIdx.x == 0) s.keep_bits[group] = keep[0];
        __syncthreads();
    }
}

/* Insertion: everything stays, and the keys that are allowed and absent are requests. */
TSR_KERNEL(insert_mark_kernel)(tsr_tile_pool pool, const uint64_t *wanted, int32_t wanted_count)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = scratch_of(&pool);
    uint64_t *requests = requests_of(&pool);
    const uint64_t *keys = pool.key[state->list];
    int32_t count = state->count, step = (int32_t)(gridDim.x * blockDim.x), first = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int32_t w = first; w * 32 < count; w += step) s.keep_bits[w] = count - w * 32 >= 32 ? 0xffffffffu : (1u << (count - w * 32)) - 1u;
    for (int32_t i = first; i < wanted_count; i += step) {
        uint64_t key = wanted[i];
        if (!tsr_tile_allowed(&pool, key)) continue;
        int32_t at = tsr_key_lower_bound(keys, count, key);
        if (at < count && keys[at] == key) continue;
        uint32_t place = atomicAdd(&state->scratch[TSR_COUNT_REQUESTS], 1u);
        if (place < (uint32_t)pool.capacity) requests[place] = key;
    }
}

/* ---- sort the requests -------------------------------------------------------------------------------------------------------------- */

/* Bitonic sort of chunks of up to 2048 keys. */
TSR_KERNEL(sort_chunks_kernel)(tsr_tile_pool pool)
{
    TSR_SHARED(uint64_t, keys, CHUNK);
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    uint64_t *requests = requests_of(&pool);
    int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    for (int64_t first = (int64_t)blockIdx.x * CHUNK; first < total; first += (int64_t)gridDim.x * CHUNK) {
        int32_t n = (int32_t)tsr_minl(CHUNK, total - first), padded = 1;
        while (padded < n) padded *= 2;
        for (int32_t i = (int32_t)threadIdx.x; i < padded; i += SORT_THREADS) keys[i] = i < n ? requests[first + i] : TSR_KEY_END;
        __syncthreads();
        for (int32_t size = 2; size <= padded; size *= 2) {
            for (int32_t stride = size / 2; stride > 0; stride /= 2) {
                for (int32_t i = (int32_t)threadIdx.x; i < padded / 2; i += SORT_THREADS) {
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
        for (int32_t i = (int32_t)threadIdx.x; i < n; i += SORT_THREADS) requests[first + i] = keys[i];
        __syncthreads();
    }
}

/* Merges the chunks: each key's place is its place in its chunk plus its lower bounds in the others. One chunk is copied. */
TSR_KERNEL(rank_kernel)(tsr_tile_pool pool)
{
    const tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = scratch_of(&pool);
    const uint64_t *requests = requests_of(&pool);
    int64_t total = tsr_minl(state->scratch[TSR_COUNT_REQUESTS], pool.capacity);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t key = requests[i];
        int64_t own = i / CHUNK, place = i - own * CHUNK;
        for (int64_t c = 0; c * CHUNK < total; c++) {
            if (c == own) continue;
            int32_t n = (int32_t)tsr_minl(CHUNK, total - c * CHUNK);
            place += tsr_key_lower_bound(requests + c * CHUNK, n, key + (c < own)); /* equal keys of earlier chunks come first */
        }
        s.sorted[place] = key;
    }
}

/* ---- plan ------------------------------------------------------------------------------------------------------------------------- */

/* Exclusive prefix of v over the 1024 threads of the block, total in *sum. `shared` has 33 words. */
TSR_DEVICE_FN uint32_t block_prefix(uint32_t v, uint32_t *shared, uint32_t *sum)
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

/* One block: publishes the totals of the step (if there was one), counts what stays and what is new, checks the ids. */
TSR_KERNEL(plan_kernel)(tsr_tile_pool pool, int32_t stepped)
{
    TSR_SHARED(uint32_t, shared, 33);
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    scratch s = scratch_of(&pool);
    int32_t count = state->count, tid = (int32_t)threadIdx.x;
    uint32_t asked = state->scratch[TSR_COUNT_REQUESTS], removed = state->scratch[TSR_COUNT_REMOVED], sum;
    uint32_t total = asked < (uint32_t)pool.capacity ? asked : (uint32_t)pool.capacity, created = 0, kept = 0;
    __syncthreads();
    for (uint32_t first = 0; first < total; first += PLAN_THREADS) {
        uint32_t i = first + (uint32_t)tid;
        uint32_t fresh = i < total && (i == 0 || s.sorted[i] != s.sorted[i - 1]);
        uint32_t before = block_prefix(fresh, shared, &sum);
        if (i < total) s.unique_before[i] = created + before;
        created += sum;
    }
    uint32_t missing = asked > total ? asked - total : 0u;
    if (created > (uint32_t)state->free_count) missing += created - (uint32_t)state->free_count;
    if (!missing && created + removed > 0) {
        int32_t words = (count + 31) / 32;
        for (int32_t first = 0; first < words; first += PLAN_THREADS) {
            int32_t w = first + tid;
            uint32_t before = block_prefix(w < words ? (uint32_t)__popc(s.keep_bits[w]) : 0u, shared, &sum);
            if (w < words) s.keep_before[w] = kept + before;
            kept += sum;
        }
        for (uint32_t u = (uint32_t)tid; u < created; u += PLAN_THREADS) pool.created_ids[u] = pool.free_ids[(uint32_t)state->free_count - 1u - u];
    }
    __syncthreads();
    if (tid != 0) return;
    if (stepped) {
        const unsigned long long *counts = (const unsigned long long *)(const void *)state->scratch;
        state->time_step = tsr_bits_float(state->scratch[TSR_COUNT_TIME_STEP]);
        state->time += (double)state->time_step;
        state->active_voxels = (int64_t)counts[TSR_COUNT_ACTIVE / 2];
        state->inside_voxels = (int64_t)counts[TSR_COUNT_INSIDE / 2];
        state->change = (uint64_t)counts[TSR_COUNT_CHANGE / 2];
        state->speed_bits = state->scratch[TSR_COUNT_SPEED];
        state->phi ^= 1;
        state->steps++;
    }
    state->created = missing ? 0 : (int32_t)created;
    state->removed = missing ? 0 : (int32_t)removed;
    state->shortage = (int32_t)missing;
    state->managed = missing == 0;
    if (!missing) state->quiet = created ? 0 : state->quiet + 1;
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
    state->scratch[TSR_COUNT_REQUESTS] = missing ? 0u : total; /* merge and link still need it; finish_kernel clears it */
}

TSR_DEVICE_FN int pass_idle(const tsr_tile_state *state) { return tsr_tile_stopped(state) || state->created + state->removed == 0; }

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
    if (pass_idle(state)) return;
    scratch s = scratch_of(&pool);
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
                int32_t at = tsr_key_lower_bound(s.sorted, total, key);
                uint32_t fresh = at < total ? s.unique_before[at] : (uint32_t)state->created;
                new_keys[before + fresh] = key;
                new_ids[before + fresh] = id;
                continue;
            }
            uint32_t constant = pool.activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE;
            s.removed[(uint32_t)i - before] = id;
            if (pool.table) pool.table[tsr_tile_linear(&pool, key)] = constant;
            if (constant == TSR_TILE_INSIDE) inside_becomes_absent(state, tsr_tile_voxels(&pool, key));
            for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
                uint32_t other = pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d];
                if (d != TSR_TILE_MIDDLE && other >= TSR_TILE_FIRST) pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - d] = constant;
            }
        } else {
            int32_t at = i - count;
            uint64_t key = s.sorted[at];
            if (at > 0 && s.sorted[at - 1] == key) continue;
            uint32_t u = s.unique_before[at], id = pool.created_ids[u];
            int32_t old = tsr_key_lower_bound(keys, count, key);
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

/* One warp per created tile, lanes = directions: finds its neighbours in the new list and tells them. The constant it had is the entry that
 * any old neighbour holds for it (insertion: found by merge_kernel). */
TSR_KERNEL(link_kernel)(tsr_tile_pool pool, int32_t inserting)
{
    tsr_tile_state *state = pool.state;
    if (pass_idle(state)) return;
    scratch s = scratch_of(&pool);
    int32_t list = state->list ^ 1, count = state->count - state->removed + state->created, lane = (int32_t)(threadIdx.x & 31u);
    int32_t warps = (int32_t)(gridDim.x * blockDim.x >> 5);
    const uint64_t *keys = pool.key[list];
    for (int32_t u = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x) >> 5; u < state->created; u += warps) {
        uint32_t id = pool.created_ids[u], other = 0, constant = 0;
        uint64_t key = pool.key_of[id] + (uint64_t)tsr_key_offset(lane < TSR_TILE_DIRECTIONS ? lane : TSR_TILE_MIDDLE);
        int old = 0;
        if (lane < TSR_TILE_DIRECTIONS && lane != TSR_TILE_MIDDLE) {
            if (pool.table) {
                if (tsr_tile_allowed(&pool, key)) other = pool.table[tsr_tile_linear(&pool, key)];
            } else {
                int32_t at = tsr_key_lower_bound(keys, count, key);
                if (at < count && keys[at] == key) other = pool.id[list][at];
            }
            if (other < TSR_TILE_FIRST) other = 0;
            if (other) {
                uint32_t *entry = &pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + 26 - lane];
                old = pool.neighbours[(int64_t)other * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] != UINT32_MAX;
                if (old) {
                    constant = *entry;
                    *entry = id;
                }
            }
        }
        uint32_t olds = __ballot_sync(TSR_WARP_ALL, old);
        constant = __shfl_sync(TSR_WARP_ALL, constant, olds ? __ffs((int)olds) - 1 : 0);
        if (inserting) constant = pool.activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE;
        if (lane < TSR_TILE_DIRECTIONS && lane != TSR_TILE_MIDDLE) pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] = other ? other : constant;
        if (lane == 0) {
            if (constant == TSR_TILE_INSIDE) inside_becomes_absent(state, -tsr_tile_voxels(&pool, pool.key_of[id]));
            s.unique_before[u] = constant; /* the plan is used up: keeps the constant for fill_kernel */
        }
    }
}

/* One block per created tile: both buffers get its constant. The last thing of a pass: the new list becomes current, removed ids return. */
template <int E> TSR_KERNEL(fill_kernel)(tsr_tile_pool pool, int32_t inserting)
{
    const tsr_tile_state *state = pool.state;
    if (pass_idle(state)) return;
    scratch s = scratch_of(&pool);
    const int64_t voxels = E * E * E;
    for (int32_t u = (int32_t)blockIdx.x; u < state->created; u += (int32_t)gridDim.x) {
        uint32_t id = pool.created_ids[u], constant = s.unique_before[u];
        float v = constant == TSR_TILE_OUTSIDE ? pool.band : -pool.band;
        for (int32_t i = (int32_t)threadIdx.x; i < voxels; i += (int32_t)blockDim.x) {
            pool.phi[0][(int64_t)id * voxels + i] = v;
            pool.phi[1][(int64_t)id * voxels + i] = v;
        }
        if (threadIdx.x != 0) continue;
        pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] = id;
        pool.activity[id] = inserting ? TSR_ACTIVITY_AREAS : constant == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0u;
    }
    uint32_t base = (uint32_t)(state->free_count - state->created);
    int32_t step = (int32_t)(gridDim.x * blockDim.x);
    for (int32_t r = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); r < state->removed; r += step)
        pool.free_ids[base + (uint32_t)r] = s.removed[r];
}

TSR_KERNEL(finish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    if (tsr_tile_stopped(state)) return;
    if (!pass_idle(state)) {
        state->list ^= 1;
        state->count += state->created - state->removed;
        state->free_count += state->removed - state->created;
        if (state->count == 0 && pool.bounded) state->background = state->inside_absent > 0 ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    }
    state->scratch[TSR_COUNT_REQUESTS] = 0;
}

/* Everything after the requests are known. */
static void enqueue_pass(tsr_queue *queue, const tsr_tile_pool *pool, int32_t inserting, int32_t stepped)
{
    int32_t processors = tsr_queue_processors(queue);
    int64_t chunks = (pool->capacity + CHUNK - 1) / CHUNK;
    TSR_LAUNCH(queue, sort_chunks_kernel, tsr_blocks(chunks, 1, processors), SORT_THREADS, 0, *pool);
    TSR_LAUNCH(queue, rank_kernel, tsr_blocks(pool->capacity, 256, processors), 256, 0, *pool);
    TSR_LAUNCH(queue, plan_kernel, 1, PLAN_THREADS, 0, *pool, stepped);
    TSR_LAUNCH(queue, merge_kernel, tsr_blocks(2 * (int64_t)pool->capacity, 256, 8 * processors), 256, 0, *pool, inserting);
    TSR_LAUNCH(queue, link_kernel, tsr_blocks(pool->capacity, 8, 4 * processors), 256, 0, *pool, inserting);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, fill_kernel<8>, tsr_blocks(pool->capacity, 1, 4 * processors), 128, 0, *pool, inserting);
    else TSR_LAUNCH(queue, fill_kernel<4>, tsr_blocks(pool->capacity, 1, 4 * processors), 64, 0, *pool, inserting);
    TSR_LAUNCH(queue, finish_kernel, 1, 1, 0, *pool);
}

tsr_status tsr_tiles_cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool, int32_t stepped)
{
    TSR_LAUNCH(queue, mark_kernel, tsr_blocks(pool->capacity, 32, 8 * (int64_t)tsr_queue_processors(queue)), MARK_THREADS, 0, *pool);
    enqueue_pass(queue, pool, 0, stepped);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_manage(tsr_queue *queue, const tsr_tile_pool *pool) { return tsr_tiles_cuda_manage(queue, pool, 0); }

static tsr_status cuda_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count)
{
    TSR_LAUNCH(queue, insert_mark_kernel, tsr_blocks(tsr_max64(count, pool->capacity / 32), 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0,
               *pool, keys, count);
    enqueue_pass(queue, pool, 1, 0);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- clear and grow ---------------------------------------------------------------------------------------------------------------- */

/* Ids [from, capacity) go on the stack, largest deepest; from = 2 also makes the static tiles and an empty list. */
TSR_KERNEL(release_ids_kernel)(tsr_tile_pool pool, int32_t from, int32_t background)
{
    tsr_tile_state *state = pool.state;
    int32_t fresh = pool.capacity - from, base = from == TSR_TILE_FIRST ? 0 : state->free_count;
    int64_t step = (int64_t)gridDim.x * blockDim.x, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < fresh; i += step) pool.free_ids[base + i] = (uint32_t)(pool.capacity - 1 - i);
    if (from != TSR_TILE_FIRST) return;
    int64_t voxels = (int64_t)1 << (3 * pool.log2_edge);
    for (int64_t i = first; i < 2 * voxels; i += step) {
        float v = i < voxels ? pool.band : -pool.band;
        pool.phi[0][i] = v;
        pool.phi[1][i] = v;
        if (pool.payload) pool.payload[i] = 0.0f;
    }
    for (int64_t i = first; i < 2 * TSR_NEIGHBOUR_ROW; i += step) pool.neighbours[i] = (uint32_t)(i / TSR_NEIGHBOUR_ROW);
    if (pool.table)
        for (int64_t i = first; i < (int64_t)pool.tiles[0] * pool.tiles[1] * pool.tiles[2]; i += step) pool.table[i] = (uint32_t)background;
    if (first != 0) return;
    pool.activity[TSR_TILE_OUTSIDE] = TSR_ACTIVITY_OUTSIDE;
    pool.activity[TSR_TILE_INSIDE] = 0;
    pool.key_of[0] = pool.key_of[1] = TSR_KEY_END;
    pool.key[0][0] = pool.key[1][0] = TSR_KEY_END;
    state->free_count = fresh;
    state->background = background;
    state->managed = 1;
    if (background == TSR_TILE_INSIDE && pool.bounded) state->inside_absent = (int64_t)pool.domain[0] * pool.domain[1] * pool.domain[2];
}

TSR_KERNEL(grown_kernel)(tsr_tile_pool pool, int32_t old_capacity)
{
    pool.state->free_count += pool.capacity - old_capacity;
    pool.state->shortage = 0;
}

static tsr_status cuda_clear(tsr_queue *queue, const tsr_tile_pool *pool, int32_t background)
{
    const int64_t n = pool->table ? (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2] : pool->capacity;
    TSR_TRY(tsr_queue_fill(queue, pool->state, 0, sizeof *pool->state));
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(n, 256, 1024), 256, 0, *pool, (int32_t)TSR_TILE_FIRST, background);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_grow(tsr_queue *queue, const tsr_tile_pool *pool, int32_t old_capacity)
{
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(pool->capacity - old_capacity, 256, 1024), 256, 0, *pool, old_capacity, 0);
    TSR_LAUNCH(queue, grown_kernel, 1, 1, 0, *pool, old_capacity);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- compaction ---------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(rename_kernel)(tsr_tile_pool from)
{
    const tsr_tile_state *state = from.state;
    for (int32_t at = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); at < state->count; at += (int32_t)(gridDim.x * blockDim.x))
        from.scratch[from.id[state->list][at]] = TSR_TILE_FIRST + (uint32_t)at;
}

/* One block per list entry, 16 bytes a thread. */
TSR_KERNEL(compact_kernel)(tsr_tile_pool from, tsr_tile_pool to)
{
    const tsr_tile_state *state = from.state;
    const int32_t tid = (int32_t)threadIdx.x, quads = 1 << (3 * from.log2_edge - 2), count = state->count;
    if (blockIdx.x == 0 && tid == 0) to.key[0][count] = TSR_KEY_END;
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        const uint32_t old = from.id[state->list][at], id = TSR_TILE_FIRST + (uint32_t)at;
        const uint64_t key = from.key[state->list][at];
        const float4 *values = (const float4 *)(const void *)from.phi[state->phi] + (int64_t)old * quads;
        for (int32_t i = tid; i < quads; i += (int32_t)blockDim.x) {
            const float4 v = values[i];
            ((float4 *)(void *)to.phi[0])[(int64_t)id * quads + i] = v;
            ((float4 *)(void *)to.phi[1])[(int64_t)id * quads + i] = v;
            if (from.payload)
                ((float4 *)(void *)to.payload)[(int64_t)id * quads + i] = ((const float4 *)(const void *)from.payload)[(int64_t)old * quads + i];
        }
        if (tid < TSR_TILE_DIRECTIONS)
            to.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + tid] =
                tsr_entry_renamed(from.scratch, from.neighbours[(int64_t)old * TSR_NEIGHBOUR_ROW + tid]);
        if (tid != 31) continue;
        if (from.age) to.age[id] = from.age[old];
        to.activity[id] = from.activity[old];
        to.key[0][at] = to.key_of[id] = key;
        to.id[0][at] = id;
        if (from.table) from.table[tsr_tile_linear(&from, key)] = id;
    }
}

static tsr_status cuda_compact(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to)
{
    TSR_LAUNCH(queue, rename_kernel, tsr_blocks(from->capacity, 256, 8 * (int64_t)tsr_queue_processors(queue)), 256, 0, *from);
    TSR_LAUNCH(queue, compact_kernel, tsr_tile_blocks(queue, from), from->log2_edge == 3 ? 128 : 32, 0, *from, *to);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- load from a dense field ---------------------------------------------------------------------------------------------------------- */

TSR_HD int voxel_finite(float v) { return (tsr_float_bits(v) & 0x7f800000u) != 0x7f800000u; }

/* One block per tile of the domain. */
template <int E> TSR_KERNEL(classify_kernel)(tsr_tile_pool pool, const float *field, uint8_t *codes, int64_t *first_bad)
{
    int64_t nx = pool.domain[0], ny = pool.domain[1], nz = pool.domain[2], tiles = (int64_t)pool.tiles[0] * pool.tiles[1] * pool.tiles[2];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t x0 = t % pool.tiles[0] * E, y0 = t / pool.tiles[0] % pool.tiles[1] * E, z0 = t / pool.tiles[0] / pool.tiles[1] * E;
        int stored = 0, inside = 0;
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            int64_t x = x0 + i % E, y = y0 + i / E % E, z = z0 + i / (E * E);
            if (x >= nx || y >= ny || z >= nz) continue;
            int64_t at = (z * ny + y) * nx + x;
            float v = field[at];
            if (!voxel_finite(v)) atomicMin((long long *)(void *)first_bad, (long long)at);
            int in = v < 0.0f;
            stored |= v > -pool.band && v < pool.band;
            stored |= (x > 0 && (field[at - 1] < 0.0f) != in) || (x + 1 < nx && (field[at + 1] < 0.0f) != in);
            stored |= (y > 0 && (field[at - nx] < 0.0f) != in) || (y + 1 < ny && (field[at + nx] < 0.0f) != in);
            stored |= (z > 0 && (field[at - nx * ny] < 0.0f) != in) || (z + 1 < nz && (field[at + nx * ny] < 0.0f) != in);
            inside |= in;
        }
        stored = __syncthreads_or(stored);
        inside = __syncthreads_or(inside);
        if (threadIdx.x != 0) continue;
        codes[t] = (uint8_t)(stored ? 2 : inside ? 1 : 0);
        if (stored) atomicAdd(&pool.state->count, 1);
        else if (inside) inside_absent_add(pool.state, tsr_tile_voxels(&pool, tsr_key_make((int32_t)(x0 / E), (int32_t)(y0 / E), (int32_t)(z0 / E))));
    }
}

TSR_KERNEL(classify_begin_kernel)(tsr_tile_pool pool, int64_t *first_bad)
{
    *first_bad = INT64_MAX;
    pool.state->count = 0;
    pool.state->inside_absent = 0;
}

TSR_KERNEL(load_count_kernel)(tsr_tile_pool pool, const uint8_t *codes, int64_t tiles)
{
    scratch s = scratch_of(&pool);
    int64_t i = (int64_t)blockIdx.x * 1024 + threadIdx.x;
    int n = __syncthreads_count(i < tiles && codes[i] == 2);
    if (threadIdx.x == 0) s.block_counts[blockIdx.x] = (uint32_t)n;
}

/* Blocks of 1024 tiles: the block's first list position is the sum of the counts before it. */
TSR_KERNEL(load_list_kernel)(tsr_tile_pool pool, const uint8_t *codes, int64_t tiles)
{
    TSR_SHARED(uint32_t, shared, 33);
    TSR_SHARED(uint32_t, base, 1);
    scratch s = scratch_of(&pool);
    uint32_t sum, partial = 0;
    for (uint32_t b = threadIdx.x; b < blockIdx.x; b += blockDim.x) partial += s.block_counts[b];
    block_prefix(partial, shared, &sum);
    if (threadIdx.x == 0) base[0] = sum;
    __syncthreads();
    int64_t t = (int64_t)blockIdx.x * 1024 + threadIdx.x;
    int stored = t < tiles && codes[t] == 2;
    uint32_t place = base[0] + block_prefix((uint32_t)stored, shared, &sum);
    if (pool.table && t < tiles && !stored) pool.table[t] = codes[t] ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    if (!stored) return;
    uint64_t key =
        tsr_key_make((int32_t)(t % pool.tiles[0]), (int32_t)(t / pool.tiles[0] % pool.tiles[1]), (int32_t)(t / pool.tiles[0] / pool.tiles[1]));
    uint32_t id = TSR_TILE_FIRST + place;
    pool.key[0][place] = key;
    pool.id[0][place] = id;
    pool.key_of[id] = key;
    if (pool.table) pool.table[t] = id;
}

/* One block per list entry: values and neighbours. */
template <int E> TSR_KERNEL(load_values_kernel)(tsr_tile_pool pool, const float *field, const uint8_t *codes)
{
    int32_t count = pool.state->count;
    int64_t nx = pool.domain[0], ny = pool.domain[1], nz = pool.domain[2];
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        uint64_t key = pool.key[0][at];
        uint32_t id = TSR_TILE_FIRST + (uint32_t)at;
        int64_t x0 = (int64_t)tsr_key_x(key) * E, y0 = (int64_t)tsr_key_y(key) * E, z0 = (int64_t)tsr_key_z(key) * E;
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            int64_t x = tsr_minl(x0 + i % E, nx - 1), y = tsr_minl(y0 + i / E % E, ny - 1), z = tsr_minl(z0 + i / (E * E), nz - 1);
            float v = tsr_clampf(field[(z * ny + y) * nx + x], -pool.band, pool.band);
            pool.phi[0][(int64_t)id * E * E * E + i] = v;
            pool.phi[1][(int64_t)id * E * E * E + i] = v;
        }
        int32_t d = (int32_t)threadIdx.x;
        if (d >= TSR_TILE_DIRECTIONS) continue;
        uint64_t other = key + (uint64_t)tsr_key_offset(d);
        int32_t x = tsr_key_x(other), y = tsr_key_y(other), z = tsr_key_z(other);
        uint32_t entry = TSR_TILE_OUTSIDE;
        if (x >= 0 && y >= 0 && z >= 0 && x < pool.tiles[0] && y < pool.tiles[1] && z < pool.tiles[2]) {
            uint8_t code = codes[tsr_tile_linear(&pool, other)];
            entry = code == 2 ? TSR_TILE_FIRST + (uint32_t)tsr_key_lower_bound(pool.key[0], count, other) : code;
        }
        pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d] = entry;
    }
}

TSR_KERNEL(load_finish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    pool.key[0][state->count] = TSR_KEY_END;
    if (state->count == 0 && pool.bounded && state->inside_absent > 0) state->background = TSR_TILE_INSIDE;
    state->list = 0;
    state->phi = 0;
    state->free_count = pool.capacity - TSR_TILE_FIRST - state->count;
    state->managed = 1;
    state->quiet = 0;
}

static tsr_status cuda_load_classify(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, uint8_t *codes, int64_t *first_bad)
{
    int64_t tiles = (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2];
    uint32_t blocks = tsr_blocks(tiles, 1, 64 * (int64_t)tsr_queue_processors(queue));
    TSR_LAUNCH(queue, classify_begin_kernel, 1, 1, 0, *pool, first_bad);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, classify_kernel<8>, blocks, 256, 0, *pool, field, codes, first_bad);
    else TSR_LAUNCH(queue, classify_kernel<4>, blocks, 64, 0, *pool, field, codes, first_bad);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- activity, painting, dense output ------------------------------------------------------------------------------------------------- */

/* Activity words and counts from the current field. */
template <int E> TSR_KERNEL(refresh_kernel)(tsr_tile_pool pool)
{
    enum { H = tsr_cube<E>::H, V = tsr_cube<E>::VOXELS };
    TSR_SHARED(float, cube, tsr_cube<E>::CELLS);
    TSR_SHARED(uint32_t, table, tsr_cube<E>::HALO);
    TSR_SHARED(uint32_t, row, TSR_TILE_DIRECTIONS);
    TSR_SHARED(uint32_t, areas, 1);
    tsr_tile_state *state = pool.state;
    const float *phi = pool.phi[state->phi];
    const uint64_t *keys = pool.key[state->list];
    const uint32_t *ids = pool.id[state->list];
    tsr_pass_totals totals = {};
    if (threadIdx.x == 0) areas[0] = 0;
    tsr_halo_table<E>(table);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        int32_t extent[3];
        uint32_t id = ids[at], bits = 0;
        tsr_cube_of_tile<E>(pool, phi, keys[at], id, table, row, cube, extent);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            int32_t x = i % E, y = i / E % E, z = i / (E * E);
            if (x >= extent[0] || y >= extent[1] || z >= extent[2]) continue;
            const float *p = cube + ((z + 1) * H + y + 1) * H + x + 1;
            int in_band = p[0] > -pool.band && p[0] < pool.band;
            if (in_band || tsr_sign_change(p, H, H * H)) bits |= tsr_areas(x, y, z, E, pool.guard);
            totals.active += (uint32_t)in_band;
            totals.inside += p[0] < 0.0f;
        }
        tsr_activity_store(pool, id, bits, cube[(H + 1) * H + 1], areas);
        __syncthreads();
    }
    tsr_totals_add(state, totals);
}

/* Moves the counts of a refresh into the state. */
TSR_KERNEL(refresh_finish_kernel)(tsr_tile_pool pool)
{
    tsr_tile_state *state = pool.state;
    const unsigned long long *counts = (const unsigned long long *)(const void *)state->scratch;
    state->active_voxels = (int64_t)counts[TSR_COUNT_ACTIVE / 2];
    state->inside_voxels = (int64_t)counts[TSR_COUNT_INSIDE / 2];
    for (int i = 0; i < 16; i++) state->scratch[i] = 0;
}

static tsr_status cuda_refresh(tsr_queue *queue, const tsr_tile_pool *pool)
{
    uint32_t blocks = tsr_tile_blocks(queue, pool);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, refresh_kernel<8>, blocks, tsr_cube<8>::THREADS, 0, *pool);
    else TSR_LAUNCH(queue, refresh_kernel<4>, blocks, tsr_cube<4>::THREADS, 0, *pool);
    TSR_LAUNCH(queue, refresh_finish_kernel, 1, 1, 0, *pool);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_load_fill(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, const uint8_t *codes)
{
    int64_t tiles = (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2];
    uint32_t blocks = (uint32_t)((tiles + 1023) / 1024);
    TSR_LAUNCH(queue, release_ids_kernel, tsr_blocks(pool->capacity, 256, 1024), 256, 0, *pool, (int32_t)TSR_TILE_FIRST, (int32_t)TSR_TILE_OUTSIDE);
    TSR_LAUNCH(queue, load_count_kernel, blocks, 1024, 0, *pool, codes, tiles);
    TSR_LAUNCH(queue, load_list_kernel, blocks, 1024, 0, *pool, codes, tiles);
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, load_values_kernel<8>, tsr_tile_blocks(queue, pool), 256, 0, *pool, field, codes);
    else TSR_LAUNCH(queue, load_values_kernel<4>, tsr_tile_blocks(queue, pool), 64, 0, *pool, field, codes);
    TSR_LAUNCH(queue, load_finish_kernel, 1, 1, 0, *pool);
    TSR_TRY(cuda_refresh(queue, pool));
    return TSR_OK;
}

template <int E> TSR_KERNEL(paint_kernel)(tsr_tile_pool pool, const tsr_tiles_sphere *spheres, int32_t count)
{
    const int32_t V = E * E * E;
    const tsr_tile_state *state = pool.state;
    float *phi = pool.phi[state->phi];
    for (int32_t at = (int32_t)blockIdx.x; at < state->count; at += (int32_t)gridDim.x) {
        uint32_t id = pool.id[state->list][at];
        uint64_t key = pool.key[state->list][at];
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            int32_t x = tsr_key_x(key) * E + i % E, y = tsr_key_y(key) * E + i / E % E, z = tsr_key_z(key) * E + i / (E * E);
            float v = phi[(int64_t)id * V + i];
            phi[(int64_t)id * V + i] = tsr_paint(v, x, y, z, pool.spacing, pool.band, spheres, count);
        }
    }
}

static tsr_status cuda_paint(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tiles_sphere *spheres, int32_t count)
{
    if (pool->log2_edge == 3) TSR_LAUNCH(queue, paint_kernel<8>, tsr_tile_blocks(queue, pool), 256, 0, *pool, spheres, count);
    else TSR_LAUNCH(queue, paint_kernel<4>, tsr_tile_blocks(queue, pool), 64, 0, *pool, spheres, count);
    TSR_TRY(cuda_refresh(queue, pool));
    return TSR_OK;
}

/* One block per tile of the box that is written. */
template <int E>
TSR_KERNEL(store_kernel)
(tsr_tile_pool pool, int32_t fx, int32_t fy, int32_t fz, int64_t nx, int64_t ny, int64_t nz, float *field, uint8_t *mask)
{
    TSR_SHARED(uint32_t, found, 1);
    const tsr_tile_state *state = pool.state;
    const float *phi = pool.phi[state->phi];
    int32_t tx0 = fx >> pool.log2_edge, ty0 = fy >> pool.log2_edge, tz0 = fz >> pool.log2_edge;
    int64_t tx = ((fx + nx - 1) >> pool.log2_edge) - tx0 + 1, ty = ((fy + ny - 1) >> pool.log2_edge) - ty0 + 1,
            tz = ((fz + nz - 1) >> pool.log2_edge) - tz0 + 1;
    for (int64_t t = blockIdx.x; t < tx * ty * tz; t += gridDim.x) {
        int32_t kx = tx0 + (int32_t)(t % tx), ky = ty0 + (int32_t)(t / tx % ty), kz = tz0 + (int32_t)(t / tx / ty);
        if (threadIdx.x == 0)
            found[0] = tsr_tile_find(&pool, pool.key[state->list], pool.id[state->list], state->count, state->background, tsr_key_make(kx, ky, kz));
        __syncthreads();
        const float *values = phi + (int64_t)found[0] * E * E * E;
        for (int32_t i = (int32_t)threadIdx.x; i < E * E * E; i += (int32_t)blockDim.x) {
            int64_t x = (int64_t)kx * E + i % E - fx, y = (int64_t)ky * E + i / E % E - fy, z = (int64_t)kz * E + i / (E * E) - fz;
            if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz) continue;
            if (field) field[(z * ny + y) * nx + x] = values[i];
            else mask[(z * ny + y) * nx + x] = values[i] < 0.0f;
        }
        __syncthreads();
    }
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_tile_pool *pool, const int32_t first[3], const int64_t size[3], float *field, uint8_t *mask)
{
    uint32_t blocks = 64u * (uint32_t)tsr_queue_processors(queue);
    if (pool->log2_edge == 3)
        TSR_LAUNCH(queue, store_kernel<8>, blocks, 256, 0, *pool, first[0], first[1], first[2], size[0], size[1], size[2], field, mask);
    else TSR_LAUNCH(queue, store_kernel<4>, blocks, 64, 0, *pool, first[0], first[1], first[2], size[0], size[1], size[2], field, mask);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- sampling ------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(sample_kernel)(tsr_tile_pool pool, tsr_sample_map map, const float *positions, float *values, int64_t count)
{
    const tsr_tile_finder finder = tsr_finder_of(&pool);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        values[i] = tsr_tile_sample(&finder, &map, positions + 3 * i);
}

static tsr_status cuda_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_map *map, const float *positions, float *values,
                              int64_t count)
{
    TSR_LAUNCH(queue, sample_kernel, tsr_blocks(count, 256, 32 * (int64_t)tsr_queue_processors(queue)), 256, 0, *pool, *map, positions, values, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_tiles_ops tsr_tiles_cuda = { cuda_scratch_words, cuda_clear,   cuda_load_classify, cuda_load_fill, cuda_insert,
                                                  cuda_paint,         cuda_refresh, cuda_manage,        cuda_grow,      cuda_compact,
                                                  cuda_store,         cuda_sample };
