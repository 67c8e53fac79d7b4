/* video/dirac/dirac_cuda.cu: a thread a sample. */
#include "device/kernel.h"
#include "video/dirac/dirac_ops.h"
#include "video/slices/core_jobs.h"

enum { THREADS = 256 };

/* Blocks of THREADS samples of a row, row after row. */
#define COLUMNS(width) tsr_blocks(width, THREADS, INT32_MAX)
TSR_DEVICE_FN int32_t column(uint32_t columns) { return (int32_t)(blockIdx.x % columns * THREADS + threadIdx.x); }

TSR_KERNEL(store_kernel)(tsr_dirac_store_job job, uint32_t columns)
{
    const int32_t x = column(columns);
    if (x < job.width) tsr_dirac_store_sample(&job, x, blockIdx.x / columns);
}

TSR_KERNEL(predict_kernel)(tsr_dirac_predict_job job, uint32_t columns)
{
    const int32_t x = column(columns), y = (int32_t)(blockIdx.x / columns);
    if (x < job.width) job.predicted[(int64_t)y * job.stride + x] = tsr_dirac_predict_sample(&job, x, y);
}

/* The same of a job in memory: what a graph launches again for pictures with other jobs. */
TSR_KERNEL(store_there_kernel)(const tsr_dirac_store_job *job, int32_t width, uint32_t columns)
{
    const int32_t x = column(columns);
    if (x < width) tsr_dirac_store_sample(job, x, blockIdx.x / columns);
}

TSR_KERNEL(predict_there_kernel)(const tsr_dirac_predict_job *job, int32_t width, uint32_t columns)
{
    const int32_t x = column(columns), y = (int32_t)(blockIdx.x / columns);
    if (x < width) job->predicted[(int64_t)y * job->stride + x] = tsr_dirac_predict_sample(job, x, y);
}

TSR_KERNEL(load_kernel)(tsr_dirac_load_job job, uint32_t columns)
{
    const int32_t x = column(columns);
    if (x < job.padded_width) tsr_dirac_load_sample(&job, x, blockIdx.x / columns);
}

TSR_KERNEL(half_columns_kernel)(tsr_dirac_half_job job, uint32_t columns)
{
    const int32_t x = column(columns), y = (int32_t)(blockIdx.x / columns);
    if (x < job.width && (y & 1))
        tsr_dirac_put_sample(job.grid, job.bytes, tsr_dirac_half_place(job.width, job.height, 2 * (int64_t)x, y), tsr_dirac_half_column(&job, x, y));
}

TSR_KERNEL(half_rows_kernel)(tsr_dirac_half_job job, uint32_t columns)
{
    const int32_t x = column(columns), y = (int32_t)(blockIdx.x / columns);
    const int64_t at = tsr_dirac_half_place(job.width, job.height, 2 * (int64_t)x + 1, y);
    if (x < job.width) tsr_dirac_put_sample(job.grid, job.bytes, at, x < job.width - 1 ? tsr_dirac_half_row(&job, 2 * x + 1, y) : 0);
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_dirac_store_job *job)
{
    TSR_LAUNCH(queue, store_kernel, COLUMNS(job->width) * (uint32_t)job->height, THREADS, 0, *job, COLUMNS(job->width));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_predict(tsr_queue *queue, const tsr_dirac_predict_job *job)
{
    TSR_LAUNCH(queue, predict_kernel, COLUMNS(job->width) * (uint32_t)job->height, THREADS, 0, *job, COLUMNS(job->width));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_store_there(tsr_queue *queue, const tsr_dirac_store_job *job, int32_t width, int32_t height)
{
    TSR_LAUNCH(queue, store_there_kernel, COLUMNS(width) * (uint32_t)height, THREADS, 0, job, width, COLUMNS(width));
    return tsr_launch_check(queue);
}

static tsr_status cuda_predict_there(tsr_queue *queue, const tsr_dirac_predict_job *job, int32_t width, int32_t height)
{
    TSR_LAUNCH(queue, predict_there_kernel, COLUMNS(width) * (uint32_t)height, THREADS, 0, job, width, COLUMNS(width));
    return tsr_launch_check(queue);
}

static tsr_status cuda_load(tsr_queue *queue, const tsr_dirac_load_job *job)
{
    TSR_LAUNCH(queue, load_kernel, COLUMNS(job->padded_width) * (uint32_t)job->padded_height, THREADS, 0, *job, COLUMNS(job->padded_width));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_half(tsr_queue *queue, const tsr_dirac_half_job *job)
{
    const uint32_t columns = COLUMNS(job->width), blocks = columns * (uint32_t)(2 * job->height - 1);
    TSR_LAUNCH(queue, half_columns_kernel, blocks, THREADS, 0, *job, columns);
    TSR_LAUNCH(queue, half_rows_kernel, blocks, THREADS, 0, *job, columns);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_slice_ops tsr_slice_cuda;
extern "C" const tsr_core_ops tsr_core_cuda;
/* A recording that fails leaves no error behind for the launches that take its place. */
static tsr_status forgive(tsr_queue *queue, tsr_status status)
{
    if (status != TSR_OK) (void)tsr_launch_check(queue);
    return status;
}
static tsr_status record_begin(tsr_queue *queue) { return forgive(queue, tsr_graph_begin(queue)); }
static tsr_status record_end(tsr_queue *queue, tsr_graph **graph) { return forgive(queue, tsr_graph_end(queue, graph)); }

static const tsr_dirac_record_ops record_ops = { record_begin, record_end, tsr_graph_launch, tsr_graph_destroy };
extern "C" const tsr_dirac_ops tsr_dirac_cuda = { cuda_store,         cuda_predict, cuda_load,       cuda_half,     cuda_store_there,
                                                  cuda_predict_there, &record_ops,  &tsr_slice_cuda, &tsr_core_cuda };
