/* Speed of the primitives; on a GPU beside CUB on the same arrays in the same run. Input is random; "1 %" means that share of nonzero bytes. */
#include "bench.h"
#include "module.h"

/* Arrays of a case, on the device, and the peer's functions (NULL without them). */
static struct {
    bench b;
    int64_t n, capacity, segments;
    void *flags;
    void *data, *out, *payload, *moved, *work, *result;
    size_t work_bytes;
    void *peer;
} s;

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return z ^ (z >> 31);
}

static void *take(size_t bytes)
{
    void *memory = NULL;
    if (tsr_device_allocate(s.b.context, bytes, &memory) != TSR_OK) {
        fprintf(stderr, "bench primitives: %s\n", tsr_error_message());
        exit(1);
    }
    return memory;
}

/* Random words, or bytes of which about `percent` are not zero. A host block of 2^24 bytes is repeated with a different seed. */
static void *random_array(size_t bytes, double percent)
{
    enum { BLOCK = 1 << 24 };
    unsigned char *host = (unsigned char *)malloc(BLOCK), *memory = (unsigned char *)take(bytes);
    if (!host) exit(1);
    for (size_t done = 0; done < bytes; done += BLOCK) {
        uint64_t seed = 1 + done / BLOCK % 8; /* eight different blocks */
        size_t part = bytes - done < BLOCK ? bytes - done : BLOCK;
        if (percent < 0.0)
            for (size_t i = 0; i + 8 <= BLOCK; i += 8) {
                uint64_t r = random_next(&seed);
                memcpy(host + i, &r, 8);
            }
        else
            for (size_t i = 0; i < BLOCK; i++)
                host[i] = (double)(random_next(&seed) >> 11) * 0x1p-53 * 100.0 < percent ? (unsigned char)(1 + i % 255) : 0;
        if (tsr_device_move(s.b.context, memory + done, NULL, host, part) != TSR_OK) exit(1);
    }
    free(host);
    return memory;
}

/* A function of the peer's library, or NULL. */
#define PEER(name, ...) ((int (*)(__VA_ARGS__))(s.peer ? dlsym(s.peer, #name) : NULL))
static tsr_status peer_status(int code) { return code ? TSR_ERROR_DEVICE : TSR_OK; }
static tsr_status peer_synchronize(void *user)
{
    (void)user;
    return peer_status(PEER(peer_synchronize, void)());
}

#define OWN(name, call)                \
    static tsr_status name(void *user) \
    {                                  \
        (void)user;                    \
        return call;                   \
    }
#define KEEP \
    (tsr_predicate) { TSR_KEEP_NONZERO, 0, 0 }
OWN(sum_u8, tsr_reduce(s.b.context, TSR_REDUCE_SUM, TSR_U8, s.data, s.n, (tsr_reduced *)s.result, s.work, s.work_bytes))
OWN(sum_f32, tsr_reduce(s.b.context, TSR_REDUCE_SUM, TSR_F32, s.data, s.n, (tsr_reduced *)s.result, s.work, s.work_bytes))
OWN(scan_u32, tsr_scan(s.b.context, TSR_SCAN_EXCLUSIVE, TSR_U32, s.data, s.n, TSR_U32, s.out, s.work, s.work_bytes))
OWN(scan_u8, tsr_scan(s.b.context, TSR_SCAN_EXCLUSIVE, TSR_U8, s.data, s.n, TSR_U32, s.out, s.work, s.work_bytes))
OWN(select_u8, tsr_select_indices(s.b.context, KEEP, TSR_U8, s.data, s.n, TSR_U32, s.out, s.capacity, (uint64_t *)s.result, s.work, s.work_bytes))
OWN(count_u8, tsr_count(s.b.context, KEEP, TSR_U8, s.data, s.n, (uint64_t *)s.result))
OWN(histogram_u8, tsr_histogram(s.b.context, TSR_U8, s.data, s.n, 0, 256, 256, TSR_U32, s.out))
OWN(sort_u32, tsr_sort(s.b.context, TSR_U32, s.data, s.out, NULL, NULL, s.n, 0, 32, s.work, s.work_bytes))
OWN(sort_u64, tsr_sort(s.b.context, TSR_U64, s.data, s.out, (uint32_t *)s.payload, (uint32_t *)s.moved, s.n, 0, 64, s.work, s.work_bytes))

#define CUB(name, function, ...)                                                                                                         \
    static tsr_status name(void *user)                                                                                                   \
    {                                                                                                                                    \
        (void)user;                                                                                                                      \
        return peer_status(PEER(function, const void *, int64_t, void *, const void *, void *)((const void *)s.data, s.n, __VA_ARGS__)); \
    }
CUB(cub_sum_u8, peer_sum_u8, s.result, NULL, NULL)
CUB(cub_sum_f32, peer_sum_f32, s.result, NULL, NULL)
CUB(cub_scan_u32, peer_scan_u32, s.out, NULL, NULL)
CUB(cub_scan_u8, peer_scan_u8, s.out, NULL, NULL)
CUB(cub_select_u8, peer_select_u8, s.out, s.result, NULL)
CUB(cub_count_u8, peer_count_u8, s.result, NULL, NULL)
CUB(cub_histogram_u8, peer_histogram_u8, s.out, NULL, NULL)
CUB(cub_sort_u32, peer_sort_u32, s.out, NULL, NULL)
CUB(cub_sort_u64, peer_sort_u64_pairs, s.out, s.payload, s.moved)

OWN(segments_f32, tsr_segmented_reduce(s.b.context, TSR_REDUCE_SUM, TSR_F32, s.data, s.n, TSR_U32, s.payload, s.segments, (tsr_reduced *)s.out,
                                       s.work, s.work_bytes))
OWN(scan_flags, tsr_segmented_scan(s.b.context, TSR_SCAN_INCLUSIVE, TSR_U32, s.data, s.n, (const uint8_t *)s.flags, TSR_U32, NULL, 0, TSR_U32, s.out,
                                   s.work, s.work_bytes))
OWN(scan_offsets, tsr_segmented_scan(s.b.context, TSR_SCAN_INCLUSIVE, TSR_U32, s.data, s.n, NULL, TSR_U32, s.payload, s.segments, TSR_U32, s.out,
                                     s.work, s.work_bytes))
OWN(gather_u32, tsr_gather(s.b.context, s.data, 4, s.n, TSR_U32, s.payload, s.n, NULL, s.out))
OWN(scatter_free, tsr_scatter(s.b.context, TSR_SCATTER_EXCLUSIVE, s.data, 4, TSR_U32, s.payload, s.n, s.out, s.n, NULL, NULL, 0))
OWN(scatter_last, tsr_scatter(s.b.context, TSR_SCATTER_LAST, s.data, 4, TSR_U32, s.payload, s.n, s.out, s.n, NULL, s.work, s.work_bytes))
OWN(combine_u32, tsr_scatter_combine(s.b.context, TSR_SCATTER_SUM, TSR_U32, s.data, TSR_U32, s.payload, s.n, s.out, s.n, NULL, 0))
OWN(combine_f32, tsr_scatter_combine(s.b.context, TSR_SCATTER_SUM, TSR_F32, s.data, TSR_U32, s.payload, s.n, s.out, s.n, s.work, s.work_bytes))
static tsr_status cub_segments_f32(void *user)
{
    (void)user;
    return peer_status(PEER(peer_segments_f32, const void *, int64_t, void *, const void *)(s.data, s.segments, s.out, s.payload));
}
static tsr_status cub_scan_keys(void *user)
{
    (void)user;
    return peer_status(PEER(peer_scan_keys_u32, const void *, int64_t, void *, const void *)(s.data, s.n, s.out, s.moved));
}

/* Times one case and its peer; `rate` (bytes/s) is the bar, 0 = only the peer. */
static void measure(const char *name, int64_t n, double bytes, bench_call own, bench_call peer, double rate)
{
    char bar[80];
    bench_case c = { .name = name, .n = n, .bytes = bytes };
    c.time = bench_measure(&s.b, own, NULL, NULL);
    if (s.peer && peer) {
        c.peer_time = bench_measure(&s.b, peer, NULL, peer_synchronize);
        c.peer = "CUB";
        /* 3 % is the noise of two medians */
        c.holds = c.time.median <= c.peer_time.median * 1.03 && (rate <= 0.0 || bytes / c.time.median >= rate);
        if (rate > 0.0) snprintf(bar, sizeof bar, "not slower than CUB (3 %% noise), at least %.2f TB/s", rate * 1e-12);
        else snprintf(bar, sizeof bar, "not slower than CUB (3 %% noise)");
        if (n >= (int64_t)1 << 24) c.bar = bar; /* small arrays measure launches */
    }
    bench_report(&s.b, &c);
}

static void work_for(tsr_status (*ask)(tsr_context *, int64_t, size_t *))
{
    if (ask(s.b.context, s.n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
}
static void give(void **memory, size_t bytes)
{
    tsr_device_release(s.b.context, *memory, bytes);
    *memory = NULL;
}

static void words(int64_t n, int log2)
{
    char name[64];
    s.n = n;
    s.data = random_array((size_t)n * 4, -1.0);
    s.out = take((size_t)n * 4);
    work_for(tsr_scan_workspace);
    snprintf(name, sizeof name, "scan u32 2^%d", log2);
    measure(name, n, 8.0 * (double)n, scan_u32, cub_scan_u32, log2 >= 28 ? 3.1e12 : 0.0);
    give(&s.work, s.work_bytes);
    work_for(tsr_reduce_workspace);
    snprintf(name, sizeof name, "sum f32 (fixed tree) 2^%d", log2);
    measure(name, n, 4.0 * (double)n, sum_f32, cub_sum_f32, 0.0);
    give(&s.work, s.work_bytes);
    if (tsr_sort_workspace(s.b.context, TSR_U32, 0, n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "sort u32 2^%d", log2); /* four passes read and write, one more read counts */
    measure(name, n, 36.0 * (double)n, sort_u32, cub_sort_u32, log2 >= 28 ? 36.0 * 50e9 * 0.97 : 0.0);
    give(&s.work, s.work_bytes);
    give(&s.out, (size_t)n * 4);
    give(&s.data, (size_t)n * 4);
}

static void pairs(int64_t n, int log2)
{
    char name[64];
    s.n = n;
    s.data = random_array((size_t)n * 8, -1.0);
    s.out = take((size_t)n * 8);
    s.payload = random_array((size_t)n * 4, -1.0);
    s.moved = take((size_t)n * 4);
    if (tsr_sort_workspace(s.b.context, TSR_U64, 1, n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "sort u64 + u32 2^%d", log2);
    measure(name, n, 200.0 * (double)n, sort_u64, cub_sort_u64, 0.0);
    give(&s.work, s.work_bytes);
    give(&s.moved, (size_t)n * 4);
    give(&s.payload, (size_t)n * 4);
    give(&s.out, (size_t)n * 8);
    give(&s.data, (size_t)n * 8);
}

static void byte_array(int64_t n, int log2)
{
    static const double densities[] = { 0.01, 0.1, 1, 10, 50, 100 };
    char name[64];
    s.n = s.capacity = n;
    s.out = take((size_t)n * 4);
    s.data = random_array((size_t)n, -1.0);
    work_for(tsr_reduce_workspace);
    snprintf(name, sizeof name, "sum u8 2^%d", log2);
    measure(name, n, (double)n, sum_u8, cub_sum_u8, log2 >= 28 ? 2.4e12 : 0.0);
    give(&s.work, s.work_bytes);
    snprintf(name, sizeof name, "histogram u8 256 bins 2^%d", log2);
    measure(name, n, (double)n, histogram_u8, cub_histogram_u8, 0.0);
    work_for(tsr_scan_workspace);
    snprintf(name, sizeof name, "scan u8 to u32 2^%d", log2);
    measure(name, n, 5.0 * (double)n, scan_u8, cub_scan_u8, 0.0);
    give(&s.work, s.work_bytes);
    give(&s.data, (size_t)n);
    for (int d = 0; d < 6; d++) {
        s.data = random_array((size_t)n, densities[d]);
        work_for(tsr_select_workspace);
        snprintf(name, sizeof name, "select u8 %g %% 2^%d", densities[d], log2);
        measure(name, n, (double)n * (1.0 + 0.04 * densities[d]), select_u8, cub_select_u8, log2 >= 28 && densities[d] <= 1.0 ? 2e12 : 0.0);
        give(&s.work, s.work_bytes);
        if (d == 2) {
            snprintf(name, sizeof name, "count u8 %g %% 2^%d", densities[d], log2);
            measure(name, n, (double)n, count_u8, cub_count_u8, log2 >= 28 ? 2e12 : 0.0);
        }
        give(&s.data, (size_t)n);
    }
    give(&s.out, (size_t)n * 4);
}

/* Segments of random lengths about `length`, sums of floats and scans of words; element i of s.moved is the segment of i, the key that CUB wants. Bytes are
 * those of the elements, of results of 8 bytes and, of the scan, of a flag or a bit. */
static void cut(int64_t n, int log2, int64_t length)
{
    char name[64];
    uint64_t seed = 11, least = length / 2 < 1 ? 1 : (uint64_t)(length / 2);
    uint32_t *offsets = (uint32_t *)malloc((size_t)(n + 1) * 4), *keys = (uint32_t *)malloc((size_t)n * 4);
    uint8_t *flags = (uint8_t *)calloc((size_t)n, 1);
    if (!offsets || !keys || !flags) exit(1);
    s.n = n;
    s.segments = 0;
    for (int64_t at = 0, next; at < n; at = next) {
        next = at + (int64_t)(least + random_next(&seed) % (2 * (uint64_t)length - 2 * least + 1));
        next = next < n ? next : n;
        flags[at] = 1;
        for (int64_t i = at; i < next; i++) keys[i] = (uint32_t)s.segments;
        offsets[s.segments++] = (uint32_t)at;
    }
    offsets[s.segments] = (uint32_t)n;
    const double words = (double)n * 4, results = (double)s.segments;
    const size_t offset_bytes = (size_t)(s.segments + 1) * 4, out_bytes = (size_t)n * 8;
    s.data = random_array((size_t)n * 4, -1.0);
    s.payload = take(offset_bytes);
    s.flags = take((size_t)n);
    s.moved = take((size_t)n * 4);
    s.out = take(out_bytes);
    if (tsr_device_move(s.b.context, s.payload, NULL, offsets, offset_bytes) != TSR_OK) exit(1);
    if (tsr_device_move(s.b.context, s.flags, NULL, flags, (size_t)n) != TSR_OK) exit(1);
    if (tsr_device_move(s.b.context, s.moved, NULL, keys, (size_t)n * 4) != TSR_OK) exit(1);
    if (tsr_segmented_reduce_workspace(s.b.context, n, s.segments, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "segment sums f32 2^%d by %lld", log2, (long long)length);
    measure(name, n, words + 12.0 * results, segments_f32, cub_segments_f32, 0.0);
    give(&s.work, s.work_bytes);
    if (tsr_segmented_scan_workspace(s.b.context, n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "segment scan, flags 2^%d by %lld", log2, (long long)length);
    measure(name, n, 2.25 * words, scan_flags, cub_scan_keys, 0.0);
    snprintf(name, sizeof name, "segment scan, offsets 2^%d by %lld", log2, (long long)length);
    measure(name, n, (2.0 + 1.0 / 16) * words + 4.0 * results, scan_offsets, cub_scan_keys, 0.0);
    give(&s.work, s.work_bytes);
    give(&s.out, out_bytes);
    give(&s.moved, (size_t)n * 4);
    give(&s.flags, (size_t)n);
    give(&s.payload, offset_bytes);
    give(&s.data, (size_t)n * 4);
    free(flags);
    free(keys);
    free(offsets);
}

/* Moves by indices: a permutation of windows of 1024 (neighbours in the same cache lines) or of the whole array (i times an odd number). Bytes are those of
 * indices, values and outputs, as if every line were used whole. */
static void moves(int64_t n, int log2, int local)
{
    static const char *const names[2] = { "far", "near" };
    char name[64];
    uint32_t *indices = (uint32_t *)malloc((size_t)n * 4);
    if (!indices) exit(1);
    for (int64_t i = 0; i < n; i++)
        indices[i] = local ? (uint32_t)((i & ~(int64_t)1023) | (i * 389 & 1023)) : (uint32_t)(((uint64_t)i * 2654435761u) & (uint64_t)(n - 1));
    const double bytes = 12.0 * (double)n;
    s.n = n;
    s.data = random_array((size_t)n * 4, -1.0);
    s.payload = take((size_t)n * 4);
    s.out = take((size_t)n * 4);
    if (tsr_device_move(s.b.context, s.payload, NULL, indices, (size_t)n * 4) != TSR_OK) exit(1);
    snprintf(name, sizeof name, "gather u32 2^%d %s", log2, names[local]);
    measure(name, n, bytes, gather_u32, NULL, 0.0);
    snprintf(name, sizeof name, "scatter u32 2^%d %s, unchecked", log2, names[local]);
    measure(name, n, bytes, scatter_free, NULL, 0.0);
    if (tsr_scatter_workspace(s.b.context, n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "scatter u32 2^%d %s, last wins", log2, names[local]); /* claims: cleared, lowered, read */
    measure(name, n, 2.0 * bytes + 4.0 * (double)n, scatter_last, NULL, 0.0);
    give(&s.work, s.work_bytes);
    snprintf(name, sizeof name, "scatter sum u32 2^%d %s", log2, names[local]);
    measure(name, n, bytes + 4.0 * (double)n, combine_u32, NULL, 0.0);
    if (tsr_scatter_combine_workspace(s.b.context, TSR_F32, TSR_U32, n, n, &s.work_bytes) != TSR_OK) exit(1);
    s.work = take(s.work_bytes);
    snprintf(name, sizeof name, "scatter sum f32 2^%d %s", log2, names[local]); /* a sort of pairs, starts, gather, segments, sum */
    measure(name, n, 116.0 * (double)n, combine_f32, NULL, 0.0);
    give(&s.work, s.work_bytes);
    give(&s.out, (size_t)n * 4);
    give(&s.payload, (size_t)n * 4);
    give(&s.data, (size_t)n * 4);
    free(indices);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "primitives")) return 2;
    int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    int large = s.b.quick ? 22 : gpu ? 28 : 24;
    if (gpu) {
        s.peer = bench_module("libbench_peer_cub.so");
        if (!s.peer) printf("no CUB beside: %s\n", dlerror());
    }
    s.result = take(256);
    if (bench_wants(&s.b, "words")) {
        words((int64_t)1 << 20, 20);
        words((int64_t)1 << large, large);
    }
    if (bench_wants(&s.b, "pairs")) {
        pairs((int64_t)1 << 20, 20);
        pairs((int64_t)1 << (gpu ? 24 : 22), gpu ? 24 : 22);
    }
    if (bench_wants(&s.b, "bytes")) {
        byte_array((int64_t)1 << 20, 20);
        byte_array((int64_t)1 << (gpu && !s.b.quick ? 30 : large + 2), gpu && !s.b.quick ? 30 : large + 2);
    }
    const int log2 = s.b.quick ? 20 : gpu ? 27 : 22;
    if (bench_wants(&s.b, "segments"))
        for (int64_t length = 8; length <= 1 << 20 && length <= (int64_t)1 << (log2 - 2); length *= length == 64 ? 16 : length == 8192 ? 128 : 8)
            cut((int64_t)1 << log2, log2, length);
    for (int local = 1; local >= 0 && bench_wants(&s.b, "moves"); local--) moves((int64_t)1 << (log2 - 1), log2 - 1, local);
    give(&s.result, 256);
    if (s.peer) ((void (*)(void))dlsym(s.peer, "peer_release"))();
    return bench_end(&s.b);
}
