/* primitives/sort_cuda.cu: the portable radix sort: per pass of 8 bits the digit counts of each tile, their scan in (digit, tile) order, and a
 * stable scatter in which each warp ranks its 512 keys by matching digits. The emulator's sort, and the check of the vendor's. */
#include "primitives/primitives_cuda.h"

enum { SORT_THREADS = 256, SORT_WARPS = 8, SORT_TILE = 4096, SORT_OF_WARP = SORT_TILE / SORT_WARPS };

template <class K> TSR_KERNEL(count_digits)(const K *keys, int64_t count, int32_t shift, int32_t bits, uint32_t tiles, uint32_t *counts)
{
    TSR_SHARED(uint32_t, of_digit, TSR_DIGITS);
    const int64_t first = (int64_t)blockIdx.x * SORT_TILE;
    of_digit[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = first + threadIdx.x; i < first + SORT_TILE && i < count; i += SORT_THREADS) atomicAdd(&of_digit[tsr_digit(keys[i], shift, bits)], 1u);
    __syncthreads();
    counts[(int64_t)threadIdx.x * tiles + blockIdx.x] = of_digit[threadIdx.x];
}

/* The lanes of the warp whose digit is the same. Lanes without a key bring digit TSR_DIGITS. */
TSR_DEVICE_FN uint32_t match_digit(uint32_t digit)
{
    uint32_t peers = TSR_WARP_ALL;
    for (int b = 0; b <= TSR_DIGIT_BITS; b++) {
        const uint32_t set = __ballot_sync(TSR_WARP_ALL, (int)(digit >> b & 1u));
        peers &= digit >> b & 1u ? set : ~set;
    }
    return peers;
}

template <class K> TSR_KERNEL(scatter_keys)(const K *keys, K *keys_to, const uint32_t *payload, uint32_t *payload_to, int64_t count, int32_t shift,
                                            int32_t bits, uint32_t tiles, const uint32_t *place)
{
    TSR_SHARED(uint32_t, next, SORT_WARPS * (TSR_DIGITS + 1));
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    uint32_t *own = next + warp * (TSR_DIGITS + 1);
    const int64_t first = (int64_t)blockIdx.x * SORT_TILE + warp * SORT_OF_WARP;
    for (uint32_t d = lane; d <= TSR_DIGITS; d += 32) own[d] = 0;
    __syncwarp();
    for (int64_t i = first + lane; i < first + SORT_OF_WARP; i += 32)
        if (i < count) atomicAdd(&own[tsr_digit(keys[i], shift, bits)], 1u);
    __syncthreads();
    uint32_t at = place[(int64_t)threadIdx.x * tiles + blockIdx.x];
    for (int w = 0; w < SORT_WARPS; w++) {
        const uint32_t some = next[w * (TSR_DIGITS + 1) + threadIdx.x];
        next[w * (TSR_DIGITS + 1) + threadIdx.x] = at;
        at += some;
    }
    __syncthreads();
    for (int64_t i = first + lane; i < first + SORT_OF_WARP; i += 32) {
        const K key = i < count ? keys[i] : (K)0;
        const uint32_t digit = i < count ? tsr_digit(key, shift, bits) : (uint32_t)TSR_DIGITS, peers = match_digit(digit);
        const uint32_t to = own[digit] + (uint32_t)__popc(peers & ((1u << lane) - 1u));
        __syncwarp();
        if (i < count) {
            keys_to[to] = key;
            if (payload) payload_to[to] = payload[i];
        }
        if ((uint32_t)__ffs((int)peers) - 1u == lane) own[digit] += (uint32_t)__popc(peers);
        __syncwarp();
    }
}

static int64_t round256(int64_t bytes) { return (bytes + 255) / 256 * 256; }
static int64_t sort_tiles(int64_t count) { return (count + SORT_TILE - 1) / SORT_TILE; }

size_t tsr_cuda_sort_own_bytes(int32_t key_bytes, int payload, int64_t count)
{
    const int64_t counts = sort_tiles(count) * TSR_DIGITS;
    return (size_t)(round256(count * key_bytes) + (payload ? round256(count * 4) : 0) + 2 * round256(counts * 4)) + tsr_cuda_scan_own_bytes(counts);
}

template <class K> static tsr_status sort_own(tsr_queue *queue, const tsr_sort_job *job, void *workspace)
{
    char *memory = (char *)workspace;
    K *other_keys = (K *)(void *)memory;
    memory += round256(job->count * (int64_t)sizeof(K));
    uint32_t *other_payload = (uint32_t *)(void *)memory;
    if (job->payload) memory += round256(job->count * 4);
    const int64_t tiles = sort_tiles(job->count);
    uint32_t *counts = (uint32_t *)(void *)memory, *place = (uint32_t *)(void *)(memory + round256(tiles * TSR_DIGITS * 4));
    void *scan_workspace = memory + 2 * round256(tiles * TSR_DIGITS * 4);
    void (*count_kernel)(const K *, int64_t, int32_t, int32_t, uint32_t, uint32_t *) = count_digits<K>;
    void (*scatter)(const K *, K *, const uint32_t *, uint32_t *, int64_t, int32_t, int32_t, uint32_t, const uint32_t *) = scatter_keys<K>;
    const K *keys = (const K *)job->keys;
    const uint32_t *payload = job->payload;
    int32_t passes = (job->last_bit - job->first_bit + TSR_DIGIT_BITS - 1) / TSR_DIGIT_BITS;
    if (!passes) passes = 1; /* of no bits: a copy */
    for (int32_t k = 0; k < passes; k++) {
        const bool to_result = (passes - k) % 2; /* the last pass ends in the result */
        K *keys_to = to_result ? (K *)job->sorted_keys : other_keys;
        uint32_t *payload_to = to_result ? job->sorted_payload : other_payload;
        const int32_t shift = tsr_mini(job->first_bit + k * TSR_DIGIT_BITS, 8 * job->key_bytes - 1);
        const int32_t bits = tsr_maxi(tsr_mini(TSR_DIGIT_BITS, job->last_bit - job->first_bit - k * TSR_DIGIT_BITS), 0);
        TSR_LAUNCH(queue, count_kernel, (uint32_t)tiles, SORT_THREADS, 0, keys, job->count, shift, bits, (uint32_t)tiles, counts);
        TSR_TRY(tsr_cuda_scan_own(queue, 0, TSR_U32, counts, tiles * TSR_DIGITS, TSR_U32, place, scan_workspace));
        TSR_LAUNCH(queue, scatter, (uint32_t)tiles, SORT_THREADS, 0, keys, keys_to, payload, payload_to, job->count, shift, bits, (uint32_t)tiles,
                   (const uint32_t *)place);
        keys = keys_to;
        payload = job->payload ? payload_to : nullptr;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_sort_own(tsr_queue *queue, const tsr_sort_job *job, void *workspace)
{
    if (job->key_bytes == 4) TSR_TRY(sort_own<uint32_t>(queue, job, workspace));
    else TSR_TRY(sort_own<uint64_t>(queue, job, workspace));
    return TSR_OK;
}
