/* primitives/segments_cpu.c: segmented reductions and scans. Nothing depends on the number of threads. */
#include "primitives/segments_cpu.h"

#include "core/parallel.h"
#include "primitives/primitives_isa.h"

enum { SEGMENT_GRAIN = 64 };

/* ---- reduce: short segments in parallel, then the long ones one after the other, each in parallel --------------------------------- */

struct reduce {
    const tsr_segment_reduce_job *job;
    int64_t tile;
    int longer; /* some segment is longer than a tile */
};

static int64_t bounds(const tsr_segment_reduce_job *j, int64_t s, int64_t *begin)
{
    const int64_t end = tsr_offset_load(j->offsets, j->wide, s + 1, j->count);
    *begin = tsr_offset_load(j->offsets, j->wide, s, j->count);
    return tsr_max64(end - *begin, 0);
}

static void reduce_short(void *user, int64_t first, int64_t last, int worker)
{
    struct reduce *r = (struct reduce *)user;
    const tsr_segment_reduce_job *j = r->job;
    const size_t size = tsr_dtype_size(j->dtype);
    int longer = 0;
    (void)worker;
    for (int64_t s = first; s < last; s++) {
        int64_t begin;
        const int64_t n = bounds(j, s, &begin);
        if (n > r->tile) {
            longer = 1;
            continue;
        }
        const uint64_t key = n ? TSR_ISA_SELECT(tsr_reduce_tile)(j->reduction, j->dtype, (const char *)j->data + (size_t)begin * size, n)
                               : tsr_reduce_neutral(j->reduction, j->dtype);
        j->results[s].u = tsr_reduce_decode(j->reduction, j->dtype, key);
    }
    if (longer) __atomic_store_n(&r->longer, 1, __ATOMIC_RELAXED);
}

tsr_status tsr_cpu_segment_reduce(tsr_queue *queue, const tsr_segment_reduce_job *job, void *workspace)
{
    struct reduce r = { job, tsr_tile_size(job->reduction, job->dtype), 0 };
    tsr_parallel(queue->threads, job->segments, SEGMENT_GRAIN, reduce_short, &r);
    for (int64_t s = 0; r.longer && s < job->segments; s++) {
        int64_t begin;
        const int64_t n = bounds(job, s, &begin);
        if (n > r.tile)
            TSR_TRY(tsr_cpu_reduce(queue, job->reduction, job->dtype, (const char *)job->data + (size_t)begin * tsr_dtype_size(job->dtype), n,
                                   &job->results[s], workspace));
    }
    return TSR_OK;
}

/* ---- scan: the sum behind the last head of each chunk, their segmented prefix, then each chunk --------------------------------------- */

struct scan {
    const tsr_segment_scan_job *job;
    tsr_heads heads;
    uint32_t *bits;
    uint64_t *tail, *before; /* [chunks] */
    uint8_t *closed;         /* [chunks]: the chunk has a head */
};

static int64_t chunks_of(int64_t count) { return tsr_ceil_div(count, TSR_CHUNK); }

size_t tsr_cpu_segment_scan_bytes(int64_t count)
{
    return (size_t)(chunks_of(count) * 2) * sizeof(uint64_t) + (size_t)tsr_ceil_div(chunks_of(count), 8) * 8 +
           (size_t)tsr_ceil_div(count, 32) * sizeof(uint32_t);
}

static void mark_heads(void *user, int64_t begin, int64_t end, int worker)
{
    const struct scan *s = (const struct scan *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const uint64_t at = tsr_index_load(s->job->offsets, s->job->wide, k);
        if (at < (uint64_t)s->job->count) __atomic_fetch_or(&s->bits[at / 32], 1u << (at % 32), __ATOMIC_RELAXED);
    }
}
static void scan_tails(void *user, int64_t begin, int64_t end, int worker)
{
    const struct scan *s = (const struct scan *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        int any;
        s->tail[c] = TSR_ISA_SELECT(tsr_segment_tail)(s->job, &s->heads, c * TSR_CHUNK, tsr_min64(s->job->count, (c + 1) * TSR_CHUNK), &any);
        s->closed[c] = (uint8_t)any;
    }
}
static void scan_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct scan *s = (const struct scan *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++)
        TSR_ISA_SELECT(tsr_segment_chunk)(s->job, &s->heads, c * TSR_CHUNK, tsr_min64(s->job->count, (c + 1) * TSR_CHUNK), s->before[c]);
}

tsr_status tsr_cpu_segment_scan(tsr_queue *queue, const tsr_segment_scan_job *job, void *workspace)
{
    const int64_t chunks = chunks_of(job->count);
    struct scan s = { .job = job, .tail = (uint64_t *)workspace, .before = (uint64_t *)workspace + chunks };
    uint64_t sum = 0;
    s.closed = (uint8_t *)(s.before + chunks);
    s.bits = (uint32_t *)(void *)(s.closed + tsr_ceil_div(chunks, 8) * 8);
    s.heads = (tsr_heads){ job->flags, s.bits };
    if (!job->flags) {
        memset(s.bits, 0, (size_t)tsr_ceil_div(job->count, 32) * sizeof *s.bits);
        tsr_parallel(queue->threads, job->segments + 1, 4096, mark_heads, &s);
    }
    tsr_parallel(queue->threads, chunks, 1, scan_tails, &s);
    for (int64_t c = 0; c < chunks; c++) {
        s.before[c] = sum;
        sum = s.closed[c] ? s.tail[c] : sum + s.tail[c];
    }
    tsr_parallel(queue->threads, chunks, 1, scan_chunks, &s);
    return TSR_OK;
}

tsr_status tsr_cpu_segment_rest(tsr_queue *queue, void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count)
{
    (void)queue;
    for (uint64_t s = *found; s <= (uint64_t)capacity; s++) tsr_bits_store(offsets, wide ? 8 : 4, (int64_t)s, (uint64_t)count);
    return TSR_OK;
}
