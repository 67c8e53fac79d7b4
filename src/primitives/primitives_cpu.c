/* primitives/primitives_cpu.c: how the CPU backend cuts the work into pieces. The pieces do not depend on the number of threads. */
#include "core/parallel.h"
#include "primitives/primitives_isa.h"
#include "primitives/segments_cpu.h"
#include "primitives/sort_cpu.h"

/* ---- reduce --------------------------------------------------------------------------------------------------------------------- */

struct reduce {
    tsr_reduction reduction;
    tsr_dtype dtype;
    const char *data;
    int64_t count, size;
    uint64_t *tile;
};

static void reduce_tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct reduce *r = (const struct reduce *)user;
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        int64_t first = t * r->size;
        r->tile[t] = TSR_ISA_SELECT(tsr_reduce_tile)(r->reduction, r->dtype, r->data + first * (int64_t)tsr_dtype_size(r->dtype),
                                                     tsr_min64(r->size, r->count - first));
    }
}

static size_t cpu_reduce_bytes(int64_t count) { return (size_t)tsr_tile_count(count, TSR_SUM_ELEMENTS) * sizeof(uint64_t); }

tsr_status tsr_cpu_reduce(tsr_queue *queue, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                             void *workspace)
{
    struct reduce r = { reduction, dtype, (const char *)data, count, tsr_tile_size(reduction, dtype), (uint64_t *)workspace };
    int64_t tiles = tsr_tile_count(count, r.size);
    tsr_parallel(queue->threads, tiles, 4, reduce_tiles, &r);
    if (reduction == TSR_REDUCE_SUM && (dtype == TSR_F32 || dtype == TSR_F64)) {
        result->f = TSR_ISA_SELECT(tsr_reduce_lanes)((const double *)workspace, tiles);
        return TSR_OK;
    }
    uint64_t key = tsr_reduce_neutral(reduction, dtype);
    for (int64_t t = 0; t < tiles; t++) {
        if (reduction == TSR_REDUCE_SUM) key += r.tile[t];
        else if (reduction == TSR_REDUCE_MIN) key = r.tile[t] < key ? r.tile[t] : key;
        else key = r.tile[t] > key ? r.tile[t] : key;
    }
    result->u = tsr_reduce_decode(reduction, dtype, key);
    return TSR_OK;
}

/* ---- scan: totals of the chunks, their prefix, then each chunk ------------------------------------------------------------------- */

static int64_t chunks_of(int64_t count) { return tsr_ceil_div(count, TSR_CHUNK); }
static size_t chunk_bytes(int64_t count) { return (size_t)chunks_of(count) * sizeof(uint64_t); }

static uint64_t prefix(uint64_t *chunk, int64_t chunks) /* exclusive, in place; returns the total */
{
    uint64_t sum = 0;
    for (int64_t c = 0; c < chunks; c++) {
        uint64_t own = chunk[c];
        chunk[c] = sum;
        sum += own;
    }
    return sum;
}

struct scan {
    int inclusive;
    tsr_dtype from, to;
    const char *data;
    char *sums;
    int64_t count;
    uint64_t *chunk;
};

static void scan_totals(void *user, int64_t begin, int64_t end, int worker)
{
    const struct scan *s = (const struct scan *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        int64_t first = c * TSR_CHUNK;
        s->chunk[c] = TSR_ISA_SELECT(tsr_scan_total)(s->from, s->data + first * (int64_t)tsr_dtype_size(s->from),
                                                     tsr_min64(TSR_CHUNK, s->count - first));
    }
}
static void scan_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct scan *s = (const struct scan *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        int64_t first = c * TSR_CHUNK;
        TSR_ISA_SELECT(tsr_scan_chunk)(s->from, s->data + first * (int64_t)tsr_dtype_size(s->from), s->to,
                                       s->sums + first * (int64_t)tsr_dtype_size(s->to), tsr_min64(TSR_CHUNK, s->count - first), s->inclusive,
                                       s->chunk[c]);
    }
}

static tsr_status cpu_scan(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                           void *workspace)
{
    struct scan s = { inclusive, data_type, sum_type, (const char *)data, (char *)sums, count, (uint64_t *)workspace };
    tsr_parallel(queue->threads, chunks_of(count), 1, scan_totals, &s);
    prefix(s.chunk, chunks_of(count));
    tsr_parallel(queue->threads, chunks_of(count), 1, scan_chunks, &s);
    return TSR_OK;
}

/* ---- select and count ------------------------------------------------------------------------------------------------------------ */

struct select {
    const tsr_select_job *job;
    uint64_t *chunk, found;
};

static void select_counts(void *user, int64_t begin, int64_t end, int worker)
{
    struct select *s = (struct select *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint64_t found = TSR_ISA_SELECT(tsr_select_count)(s->job->keep, s->job->dtype, s->job->data, c * TSR_CHUNK,
                                                          tsr_min64(s->job->count, (c + 1) * TSR_CHUNK));
        if (s->chunk) s->chunk[c] = found;
        else __atomic_fetch_add(&s->found, found, __ATOMIC_RELAXED);
    }
}
static void select_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct select *s = (const struct select *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        uint64_t next = c + 1 < chunks_of(s->job->count) ? s->chunk[c + 1] : s->found;
        if (next > s->chunk[c])
            TSR_ISA_SELECT(tsr_select_chunk)(s->job, c * TSR_CHUNK, tsr_min64(s->job->count, (c + 1) * TSR_CHUNK), s->chunk[c]);
    }
}

static tsr_status cpu_select(tsr_queue *queue, const tsr_select_job *job, void *workspace)
{
    struct select s = { job, (uint64_t *)workspace, 0 };
    int64_t chunks = chunks_of(job->count);
    if (chunks) {
        tsr_parallel(queue->threads, chunks, 1, select_counts, &s);
        s.found = prefix(s.chunk, chunks);
        tsr_parallel(queue->threads, chunks, 1, select_chunks, &s);
    }
    *job->found = s.found;
    return TSR_OK;
}

static tsr_status cpu_count(tsr_queue *queue, tsr_keep keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found)
{
    tsr_select_job job = { .keep = keep, .dtype = dtype, .data = data, .count = count };
    struct select s = { &job, NULL, 0 };
    tsr_parallel(queue->threads, chunks_of(count), 1, select_counts, &s);
    *found = s.found;
    return TSR_OK;
}

/* ---- histogram: integers are counted by value first, values go to bins after ------------------------------------------------------ */

enum { VALUES = 65536 };

static void add_to_bin(const tsr_histogram_job *job, int32_t bin, uint32_t count)
{
    if (bin < 0 || !count) return;
    if (job->wide) __atomic_fetch_add((uint64_t *)job->counts + bin, count, __ATOMIC_RELAXED);
    else __atomic_fetch_add((uint32_t *)job->counts + bin, count, __ATOMIC_RELAXED);
}

static void histogram_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_histogram_job *job = (const tsr_histogram_job *)user;
    uint32_t table[VALUES];
    (void)worker;
    if (job->dtype == TSR_U8) {
        const uint8_t *p = (const uint8_t *)job->data;
        memset(table, 0, 4 * 256 * sizeof *table); /* four tables: equal neighbours do not wait for each other */
        int64_t i = begin;
        for (; i + 4 <= end; i += 4)
            for (int k = 0; k < 4; k++) table[k * 256 + p[i + k]]++;
        for (; i < end; i++) table[p[i]]++;
        for (int v = 0; v < 256; v++) add_to_bin(job, tsr_bin(job->bins, (double)v), table[v] + table[256 + v] + table[512 + v] + table[768 + v]);
    } else if (job->dtype == TSR_U16) {
        const uint16_t *p = (const uint16_t *)job->data;
        memset(table, 0, sizeof table);
        for (int64_t i = begin; i < end; i++) table[p[i]]++;
        for (int v = 0; v < VALUES; v++) add_to_bin(job, tsr_bin(job->bins, (double)v), table[v]);
    } else {
        const float *p = (const float *)job->data;
        memset(table, 0, (size_t)job->bins.count * sizeof *table);
        for (int64_t i = begin; i < end; i++) {
            int32_t bin = tsr_bin(job->bins, (double)p[i]);
            if (bin >= 0) table[bin]++;
        }
        for (int32_t b = 0; b < job->bins.count; b++) add_to_bin(job, b, table[b]);
    }
}

static void histogram_pieces(void *user, int64_t begin, int64_t end, int worker)
{
    for (int64_t i = begin; i < end; i += (int64_t)1 << 31) /* 32-bit tables */
        histogram_range(user, i, tsr_min64(end, i + ((int64_t)1 << 31)), worker);
}

static tsr_status cpu_histogram(tsr_queue *queue, const tsr_histogram_job *job)
{
    tsr_histogram_job own = *job;
    memset(job->counts, 0, (size_t)job->bins.count * (job->wide ? 8 : 4));
    tsr_parallel(queue->threads, job->count, 1 << 21, histogram_pieces, &own);
    return TSR_OK;
}

enum { JOINT_LOCAL = 8192, JOINT_GRAIN = 1 << 18 };

static void joint_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_joint_job *job = (const tsr_joint_job *)user;
    uint64_t local[JOINT_LOCAL], run = 0;
    const int own = job->cells <= JOINT_LOCAL;
    int32_t cell = -1;
    (void)worker;
    if (own) memset(local, 0, (size_t)job->cells * sizeof *local);
    for (int64_t i = begin; i < end; i++) {
        const int32_t next = tsr_joint_cell(job, i);
        const uint64_t weight = (uint64_t)tsr_joint_weight(job, i);
        if (own) {
            if (next >= 0) local[next] += weight;
            continue;
        }
        if (next != cell) {
            if (cell >= 0) __atomic_fetch_add(job->sums + cell, run, __ATOMIC_RELAXED);
            cell = next;
            run = 0;
        }
        run += weight;
    }
    if (!own && cell >= 0) __atomic_fetch_add(job->sums + cell, run, __ATOMIC_RELAXED);
    for (int32_t c = 0; own && c < job->cells; c++)
        if (local[c]) __atomic_fetch_add(job->sums + c, local[c], __ATOMIC_RELAXED);
}

static tsr_status cpu_joint(tsr_queue *queue, const tsr_joint_job *job)
{
    tsr_joint_job own = *job;
    memset(job->sums, 0, (size_t)job->cells * sizeof *job->sums);
    tsr_parallel(queue->threads, job->count, JOINT_GRAIN, joint_range, &own);
    return TSR_OK;
}

const tsr_primitives_ops tsr_primitives_cpu = {
    .reduce_bytes = cpu_reduce_bytes,
    .reduce = tsr_cpu_reduce,
    .scan_bytes = chunk_bytes,
    .scan = cpu_scan,
    .select_bytes = chunk_bytes,
    .select = cpu_select,
    .count = cpu_count,
    .sort_bytes = tsr_cpu_sort_bytes,
    .sort = tsr_cpu_sort,
    .sort_own = tsr_cpu_sort,
    .histogram = cpu_histogram,
    .joint = cpu_joint,
    .segment_reduce_bytes = cpu_reduce_bytes,
    .segment_reduce = tsr_cpu_segment_reduce,
    .segment_scan_bytes = tsr_cpu_segment_scan_bytes,
    .segment_scan = tsr_cpu_segment_scan,
    .segment_rest = tsr_cpu_segment_rest,
    .gather = tsr_cpu_gather,
    .scatter = tsr_cpu_scatter,
    .combine = tsr_cpu_combine,
    .ramp = tsr_cpu_ramp,
    .starts = tsr_cpu_starts,
    .combine_places = tsr_cpu_combine_places,
};
