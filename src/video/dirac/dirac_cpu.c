/* video/dirac/dirac_cpu.c: rows in parallel. */
#include "core/parallel.h"
#include "video/dirac/dirac_isa.h"
#include "video/dirac/motion_isa.h"

static void store_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_store_rows)((const tsr_dirac_store_job *)user, begin, end);
}
static void predict_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_predict_rows)((const tsr_dirac_predict_job *)user, begin, end);
}
static void half_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_half_rows)((const tsr_dirac_half_job *)user, begin, end);
}

static void load_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_dirac_load_rows)((const tsr_dirac_load_job *)user, begin, end);
}

static tsr_status cpu_store(tsr_queue *queue, const tsr_dirac_store_job *job)
{
    tsr_dirac_store_job own = *job;
    tsr_parallel(queue->threads, job->height, 16, store_rows, &own);
    return TSR_OK;
}
static tsr_status cpu_predict(tsr_queue *queue, const tsr_dirac_predict_job *job)
{
    tsr_dirac_predict_job own = *job;
    tsr_parallel(queue->threads, job->height, 32, predict_rows, &own);
    return TSR_OK;
}
static tsr_status cpu_load(tsr_queue *queue, const tsr_dirac_load_job *job)
{
    tsr_dirac_load_job own = *job;
    tsr_parallel(queue->threads, job->padded_height, 16, load_rows, &own);
    return TSR_OK;
}
static tsr_status cpu_half(tsr_queue *queue, const tsr_dirac_half_job *job)
{
    tsr_dirac_half_job own = *job;
    tsr_parallel(queue->threads, 2 * (int64_t)job->height - 1, 16, half_rows, &own);
    return TSR_OK;
}

const tsr_dirac_ops tsr_dirac_cpu = { .store = cpu_store, .predict = cpu_predict, .load = cpu_load, .half = cpu_half };
