/* fluid/sim_cpu.c: particles in parallel; each gathers, so that their order does not matter. */
#include "core/parallel.h"
#include "fluid/sim_isa.h"

typedef struct pass_range {
    const tsr_sim_job *job;
    tsr_sim_pass pass;
} pass_range;

static void range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass_range *r = (const pass_range *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_sim_range)(r->job, (int32_t)r->pass, begin, end);
}

static tsr_status cpu_pass(tsr_queue *queue, tsr_sim_pass pass, const tsr_sim_job *job)
{
    pass_range r = { job, pass };
    tsr_parallel(queue->threads, tsr_sim_items(job, (int32_t)pass), 512, range, &r);
    return TSR_OK;
}

const tsr_fluidsim_ops tsr_fluidsim_cpu = { .pass = cpu_pass };
