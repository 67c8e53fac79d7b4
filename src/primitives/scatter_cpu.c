/* primitives/scatter_cpu.c: gather, scatter and what its float combinations are made of. Nothing depends on the number of threads. */
#include "core/parallel.h"
#include "primitives/segments_cpu.h"

enum { GRAIN = 1 << 14 };

static void gather_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gather_job *j = (const tsr_gather_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_gather_one(j, i);
}
tsr_status tsr_cpu_gather(tsr_queue *queue, const tsr_gather_job *job)
{
    tsr_gather_job own = *job;
    tsr_parallel(queue->threads, job->count, GRAIN, gather_range, &own);
    return TSR_OK;
}

/* ---- scatter: claims, then writes ------------------------------------------------------------------------------------------------- */

struct scatter {
    const tsr_scatter_job *job;
    uint64_t outside, conflicts, first;
};

static void lower_u32(uint32_t *word, uint32_t value)
{
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(word, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}
static void lower_u64(uint64_t *word, uint64_t value)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(word, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}

static void claim_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_scatter_job *j = ((const struct scatter *)user)->job;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t at = tsr_index_load(j->indices, j->wide, i);
        if (at < (uint64_t)j->out_count) lower_u32(&j->owner[at], tsr_scatter_claim(j->rule, i));
    }
}
static void write_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct scatter *s = (struct scatter *)user;
    const tsr_scatter_job *j = s->job;
    uint64_t outside = 0, conflicts = 0, first = UINT64_MAX;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t at = tsr_index_load(j->indices, j->wide, i);
        if (at >= (uint64_t)j->out_count) outside++;
        else if (!j->owner) tsr_bits_store(j->out, j->value_bytes, (int64_t)at, tsr_bits_load(j->values, j->value_bytes, i));
        else if (tsr_scatter_one(j, i, at)) {
            conflicts++;
            if (first == UINT64_MAX) first = (uint64_t)i;
        }
    }
    __atomic_fetch_add(&s->outside, outside, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->conflicts, conflicts, __ATOMIC_RELAXED);
    lower_u64(&s->first, first);
}

tsr_status tsr_cpu_scatter(tsr_queue *queue, const tsr_scatter_job *job)
{
    struct scatter s = { job, 0, 0, UINT64_MAX };
    if (job->owner) {
        memset(job->owner, 0xff, (size_t)job->out_count * sizeof *job->owner);
        tsr_parallel(queue->threads, job->count, GRAIN, claim_range, &s);
    }
    tsr_parallel(queue->threads, job->count, GRAIN, write_range, &s);
    if (job->report)
        *job->report =
            (tsr_scatter_report){ s.outside, s.conflicts, s.first,
                                  s.first == UINT64_MAX ? UINT64_MAX : job->owner[tsr_index_load(job->indices, job->wide, (int64_t)s.first)] };
    return TSR_OK;
}

#define COMBINE(T, name)                                                                                   \
    static void combine_##name(const tsr_scatter_job *j, int64_t begin, int64_t end)                       \
    {                                                                                                      \
        const T *values = (const T *)j->values;                                                            \
        T *out = (T *)j->out;                                                                              \
        for (int64_t i = begin; i < end; i++) {                                                            \
            const uint64_t at = tsr_index_load(j->indices, j->wide, i);                                    \
            const T v = values[i];                                                                         \
            if (at >= (uint64_t)j->out_count) continue;                                                    \
            if (j->rule == TSR_SCATTER_SUM) {                                                              \
                __atomic_fetch_add(&out[at], v, __ATOMIC_RELAXED);                                         \
                continue;                                                                                  \
            }                                                                                              \
            T old = __atomic_load_n(&out[at], __ATOMIC_RELAXED);                                           \
            while ((j->rule == TSR_SCATTER_MIN ? v < old : v > old) &&                                     \
                   !__atomic_compare_exchange_n(&out[at], &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
                continue;                                                                                  \
        }                                                                                                  \
    }
COMBINE(uint32_t, u32)
COMBINE(int32_t, i32)
COMBINE(uint64_t, u64)
COMBINE(int64_t, i64)

static void combine_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_scatter_job *j = (const tsr_scatter_job *)user;
    (void)worker;
    if (j->dtype == TSR_U32) combine_u32(j, begin, end);
    else if (j->dtype == TSR_I32) combine_i32(j, begin, end);
    else if (j->dtype == TSR_U64) combine_u64(j, begin, end);
    else combine_i64(j, begin, end);
}
tsr_status tsr_cpu_combine(tsr_queue *queue, const tsr_scatter_job *job)
{
    tsr_scatter_job own = *job;
    tsr_parallel(queue->threads, job->count, GRAIN, combine_range, &own);
    return TSR_OK;
}

/* ---- inverse and float combinations -------------------------------------------------------------------------------------------------- */

static void ramp_range(void *user, int64_t begin, int64_t end, int worker)
{
    uint32_t *numbers = (uint32_t *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) numbers[i] = (uint32_t)i;
}
tsr_status tsr_cpu_ramp(tsr_queue *queue, uint32_t *numbers, int64_t count)
{
    tsr_parallel(queue->threads, count, GRAIN, ramp_range, numbers);
    return TSR_OK;
}

struct places {
    const void *keys;
    int32_t wide;
    int64_t count;
    tsr_scatter_rule rule;
    tsr_dtype dtype;
    uint64_t *starts;
    const uint64_t *from;
    const tsr_reduced *reduced;
    void *out;
};

static void starts_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct places *p = (const struct places *)user;
    (void)worker;
    for (int64_t j = begin; j < end; j++) p->starts[j] = tsr_lower_bound(p->keys, p->wide, p->count, (uint64_t)j);
}
tsr_status tsr_cpu_starts(tsr_queue *queue, const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts)
{
    struct places p = { .keys = keys, .wide = wide, .count = count, .starts = starts };
    tsr_parallel(queue->threads, out_count + 1, 1024, starts_range, &p);
    return TSR_OK;
}

static void combine_places_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct places *p = (const struct places *)user;
    (void)worker;
    for (int64_t j = begin; j < end; j++) tsr_combine_place(p->rule, p->dtype, p->from, p->reduced, j, p->out);
}
tsr_status tsr_cpu_combine_places(tsr_queue *queue, tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced,
                                  int64_t out_count, void *out)
{
    struct places p = { .rule = rule, .dtype = dtype, .from = starts, .reduced = reduced, .out = out };
    tsr_parallel(queue->threads, out_count, GRAIN, combine_places_range, &p);
    return TSR_OK;
}
