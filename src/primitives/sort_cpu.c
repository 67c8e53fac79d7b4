/* primitives/sort_cpu.c: least significant digit first. In each pass every part of the array counts its digits, a prefix over (digit, part)
 * gives each part its places, and the parts scatter: equal digits keep their order whatever the number of parts. */
#include "primitives/sort_cpu.h"

#include "core/parallel.h"

enum { MOST_PARTS = 64, PART_LEAST = 1 << 14 };

static int64_t round256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

size_t tsr_cpu_sort_bytes(int32_t key_bytes, int payload, int64_t count)
{
    return (size_t)(round256(count * key_bytes) + (payload ? round256(count * 4) : 0)) + MOST_PARTS * TSR_DIGITS * sizeof(uint64_t);
}

struct pass {
    int32_t key_bytes, shift, bits;
    const void *keys;
    void *keys_to;
    const uint32_t *payload;
    uint32_t *payload_to;
    int64_t count, part;
    uint64_t (*place)[TSR_DIGITS]; /* [part]: counts, then where the next key of a digit goes */
};

#define PASS_LOOPS(T, name)                                                                    \
    static void count_##name(const struct pass *p, int64_t begin, int64_t end, uint64_t *place) \
    {                                                                                          \
        const T *keys = (const T *)p->keys;                                                    \
        for (int64_t i = begin; i < end; i++) place[tsr_digit(keys[i], p->shift, p->bits)]++;  \
    }                                                                                          \
    static void scatter_##name(const struct pass *p, int64_t begin, int64_t end, uint64_t *place) \
    {                                                                                          \
        const T *keys = (const T *)p->keys;                                                    \
        T *to = (T *)p->keys_to;                                                               \
        for (int64_t i = begin; i < end; i++) {                                                \
            uint64_t at = place[tsr_digit(keys[i], p->shift, p->bits)]++;                      \
            to[at] = keys[i];                                                                  \
            if (p->payload) p->payload_to[at] = p->payload[i];                                 \
        }                                                                                      \
    }
PASS_LOOPS(uint32_t, u32)
PASS_LOOPS(uint64_t, u64)

static void count_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        memset(p->place[k], 0, sizeof p->place[k]);
        if (p->key_bytes == 4) count_u32(p, k * p->part, tsr_min64(p->count, (k + 1) * p->part), p->place[k]);
        else count_u64(p, k * p->part, tsr_min64(p->count, (k + 1) * p->part), p->place[k]);
    }
}
static void scatter_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        if (p->key_bytes == 4) scatter_u32(p, k * p->part, tsr_min64(p->count, (k + 1) * p->part), p->place[k]);
        else scatter_u64(p, k * p->part, tsr_min64(p->count, (k + 1) * p->part), p->place[k]);
    }
}

tsr_status tsr_cpu_sort(tsr_queue *queue, const tsr_sort_job *job, void *workspace)
{
    char *memory = (char *)workspace;
    const int64_t key_room = round256(job->count * job->key_bytes), payload_room = job->payload ? round256(job->count * 4) : 0;
    struct pass p = { .key_bytes = job->key_bytes, .keys = job->keys, .payload = job->payload, .count = job->count,
                      .place = (uint64_t(*)[TSR_DIGITS])(void *)(memory + key_room + payload_room) };
    p.part = tsr_max64(tsr_ceil_div(job->count, MOST_PARTS), PART_LEAST);
    int64_t parts = tsr_ceil_div(job->count, p.part);
    int32_t passes = (job->last_bit - job->first_bit + TSR_DIGIT_BITS - 1) / TSR_DIGIT_BITS;
    if (!passes) passes = 1; /* of no bits: a copy */
    for (int32_t k = 0; k < passes; k++) {
        int to_result = (passes - k) % 2; /* the last pass ends in the result */
        p.shift = tsr_mini(job->first_bit + k * TSR_DIGIT_BITS, 8 * job->key_bytes - 1);
        p.bits = tsr_maxi(tsr_mini(TSR_DIGIT_BITS, job->last_bit - job->first_bit - k * TSR_DIGIT_BITS), 0);
        p.keys_to = to_result ? job->sorted_keys : (void *)memory;
        p.payload_to = to_result ? job->sorted_payload : (uint32_t *)(void *)(memory + key_room);
        tsr_parallel(queue->threads, parts, 1, count_parts, &p);
        uint64_t sum = 0;
        for (int d = 0; d < TSR_DIGITS; d++)
            for (int64_t i = 0; i < parts; i++) {
                uint64_t own = p.place[i][d];
                p.place[i][d] = sum;
                sum += own;
            }
        tsr_parallel(queue->threads, parts, 1, scatter_parts, &p);
        p.keys = p.keys_to;
        p.payload = job->payload ? p.payload_to : NULL;
    }
    return TSR_OK;
}
