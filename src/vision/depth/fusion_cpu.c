/* vision/depth/fusion_cpu.c: pixels and bricks in parallel. */
#include "core/parallel.h"
#include "vision/depth/fusion_isa.h"

static void reach(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_fusion_reach_range)((const tsr_fusion_job *)user, begin, end);
}
static void integrate(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_fusion_integrate_range)((const tsr_fusion_job *)user, begin, end);
}
static void clear(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_fusion_clear_at((const tsr_fusion_job *)user, i);
}
static void rehash(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_fusion_rehash_at((const tsr_fusion_job *)user, i);
}

static tsr_status cpu_reach(tsr_queue *queue, const tsr_fusion_job *job)
{
    tsr_fusion_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->view.width * job->view.height, 8192, reach, &own);
    return TSR_OK;
}
static tsr_status cpu_integrate(tsr_queue *queue, const tsr_fusion_job *job)
{
    tsr_fusion_job own = *job;
    tsr_parallel(queue->threads, job->reached, 32, integrate, &own);
    return TSR_OK;
}
static tsr_status cpu_clear(tsr_queue *queue, const tsr_fusion_job *job)
{
    tsr_fusion_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->fresh * TSR_FUSION_VOXELS, 64 * TSR_FUSION_VOXELS, clear, &own);
    return TSR_OK;
}
static tsr_status cpu_rehash(tsr_queue *queue, const tsr_fusion_job *job)
{
    tsr_fusion_job own = *job;
    tsr_parallel(queue->threads, job->old_size, 8192, rehash, &own);
    return TSR_OK;
}

const tsr_fusion_ops tsr_fusion_cpu = { .reach = cpu_reach, .integrate = cpu_integrate, .clear = cpu_clear, .rehash = cpu_rehash };
