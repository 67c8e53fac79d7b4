/* video/dirac/dirac_cpu.c: rows in parallel. */
#include "core/parallel.h"
#include "video/dirac/dirac_isa.h"

static void store_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_store_rows)((const tsr_dirac_store_job *)user, begin, end);
}

static tsr_status cpu_store(tsr_queue *queue, const tsr_dirac_store_job *job)
{
    tsr_dirac_store_job own = *job;
    tsr_parallel(queue->threads, job->height, 16, store_rows, &own);
    return TSR_OK;
}

const tsr_dirac_ops tsr_dirac_cpu = { .store = cpu_store };
