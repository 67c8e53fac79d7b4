/* histopyramid/levels_cuda.cu: a thread a cell. Bound: the level below is read once, the own one written; the last levels, of few cells, go in one launch. */
#include "device/dependent_launch.h"
#include "device/kernel.h"
#include "histopyramid/pyramid_ops.h"

enum { THREADS = 256, TAIL_THREADS = 1024, TAIL_CELLS = 4096, TAIL_LEVELS = 13 };

template <int RULE, int FROM, int TO> TSR_KERNEL(level_kernel)(tsr_level_job job, int64_t count)
{
    tsr_chained();
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    int64_t x, y, z;
    if (count <= (int64_t)UINT32_MAX) { /* 64-bit divisions cost ten times as much */
        const uint32_t n = (uint32_t)i, wide = (uint32_t)job.cells[0], high = (uint32_t)job.cells[1], row = n / wide;
        x = n - row * wide;
        y = row % high;
        z = row / high;
    } else {
        x = i % job.cells[0];
        y = i / job.cells[0] % job.cells[1];
        z = i / job.cells[0] / job.cells[1];
    }
    tsr_level_cell(&job, (tsr_level_rule)RULE, (tsr_dtype)FROM, (tsr_dtype)TO, x, y, z, 0);
}

typedef struct tail_jobs {
    tsr_level_job job[TAIL_LEVELS];
} tail_jobs;
TSR_KERNEL(__launch_bounds__(TAIL_THREADS) tail_kernel)(tail_jobs jobs, tsr_level_rule rule, int32_t levels)
{
    tsr_chain_wait();
    for (int32_t k = 0; k < levels; k++) {
        const tsr_level_job *j = &jobs.job[k];
        const int32_t wide = (int32_t)j->cells[0], high = (int32_t)j->cells[1], cells = wide * high * (int32_t)j->cells[2];
        for (int32_t i = (int32_t)threadIdx.x; i < cells; i += TAIL_THREADS)
            tsr_level_cell(j, rule, j->from_type, j->to_type, i % wide, i / wide % high, i / wide / high, 0);
        __syncthreads();
    }
}

static int64_t cells_of(const tsr_level_job *j) { return j->cells[0] * j->cells[1] * j->cells[2]; }

template <int RULE, int FROM, int TO> static void launch(tsr_queue *queue, const tsr_level_job &job)
{
    TSR_LAUNCH_DEPENDENT(queue, (level_kernel<RULE, FROM, TO>), tsr_blocks(cells_of(&job), THREADS, INT32_MAX), THREADS, 0, job, cells_of(&job));
}
template <int FROM, int SUM> static void launch_rule(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job &job)
{
    if (rule == TSR_LEVEL_AVERAGE) launch<TSR_LEVEL_AVERAGE, FROM, SUM>(queue, job);
    else if (rule == TSR_LEVEL_SUM) launch<TSR_LEVEL_SUM, FROM, SUM>(queue, job);
    else if (rule == TSR_LEVEL_MIN) launch<TSR_LEVEL_MIN, FROM, FROM>(queue, job);
    else launch<TSR_LEVEL_MAX, FROM, FROM>(queue, job);
}

tsr_status tsr_levels_cuda(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job *jobs, int32_t count)
{
    int32_t k = 0;
    for (; k < count && cells_of(&jobs[k]) > TAIL_CELLS; k++) switch (jobs[k].from_type) {
        case TSR_U8: launch_rule<TSR_U8, TSR_U64>(queue, rule, jobs[k]); break;
        case TSR_I8: launch_rule<TSR_I8, TSR_I64>(queue, rule, jobs[k]); break;
        case TSR_U16: launch_rule<TSR_U16, TSR_U64>(queue, rule, jobs[k]); break;
        case TSR_I16: launch_rule<TSR_I16, TSR_I64>(queue, rule, jobs[k]); break;
        case TSR_U32: launch_rule<TSR_U32, TSR_U64>(queue, rule, jobs[k]); break;
        case TSR_I32: launch_rule<TSR_I32, TSR_I64>(queue, rule, jobs[k]); break;
        case TSR_U64: launch_rule<TSR_U64, TSR_U64>(queue, rule, jobs[k]); break;
        case TSR_I64: launch_rule<TSR_I64, TSR_I64>(queue, rule, jobs[k]); break;
        case TSR_F32: launch_rule<TSR_F32, TSR_F64>(queue, rule, jobs[k]); break;
        default: launch_rule<TSR_F64, TSR_F64>(queue, rule, jobs[k]); break;
        }
    if (k < count) {
        tail_jobs tail;
        memset(&tail, 0, sizeof tail);
        for (int32_t n = k; n < count; n++) tail.job[n - k] = jobs[n]; /* 4096 cells or fewer: at most 13 levels */
        TSR_LAUNCH_DEPENDENT(queue, tail_kernel, 1, TAIL_THREADS, 0, tail, rule, count - k);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
