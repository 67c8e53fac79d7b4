/* vision/lens_cpu.c: pixels and tiles in parallel; whole numbers are added, so that the order does not matter. */
#include "core/parallel.h"
#include "vision/align/align_isa.h"
#include "vision/lens_isa.h"

static void warp_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_warp_range)((const tsr_warp_job *)user, begin, end);
}

static tsr_status cpu_warp(tsr_queue *queue, const tsr_warp_job *job)
{
    tsr_warp_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->images * job->width * job->height, 8192, warp_range, &own);
    return TSR_OK;
}

/* Items are [candidates][rows of tiles]. */
static void vote_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_votes_job *j = (const tsr_votes_job *)user;
    const int32_t rows = (j->height + TSR_VOTES_HIGH - 1) / TSR_VOTES_HIGH;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t candidate = (int32_t)(i / rows), y = (int32_t)(i % rows) * TSR_VOTES_HIGH;
        uint64_t *to = j->histograms + (int64_t)candidate * j->bins;
        for (int32_t x = 0; x < j->width; x += TSR_VOTES_WIDE) {
            uint32_t own[TSR_LENS_BINS] = { 0 };
            TSR_ISA_SELECT(tsr_votes_tile)(j, &j->maps[candidate], x, y, own);
            for (int32_t b = 0; b < j->bins; b++)
                if (own[b]) __atomic_fetch_add(&to[b], own[b], __ATOMIC_RELAXED);
        }
    }
}

static tsr_status cpu_votes(tsr_queue *queue, const tsr_votes_job *job)
{
    tsr_votes_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->candidates * ((job->height + TSR_VOTES_HIGH - 1) / TSR_VOTES_HIGH), 2, vote_rows, &own);
    return TSR_OK;
}

static void align_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_align_job *j = (const tsr_align_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) j->cost[i] = TSR_ISA_SELECT(tsr_align_candidate_cost)(j, &j->candidate[i]);
}

static tsr_status cpu_align(tsr_queue *queue, const tsr_align_job *job)
{
    tsr_align_job own = *job;
    tsr_parallel(queue->threads, job->candidates, 16, align_range, &own);
    return TSR_OK;
}

const tsr_lens_ops tsr_lens_cpu = { .warp = cpu_warp, .votes = cpu_votes, .align = cpu_align };
