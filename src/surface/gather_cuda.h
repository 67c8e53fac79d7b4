/* surface/gather_cuda.h: triangles without an index (gather.c); part of surface_cuda.cu. A thread per output but where a cell writes its own. */
#ifndef TSR_SURFACE_GATHER_CUDA_H
#define TSR_SURFACE_GATHER_CUDA_H

#include "surface/emit_cuda.h"
#include "surface/gather.h"

/* What stands behind the pointers of a job travels with the launch. */
typedef struct gather_args {
    tsr_surface_grid grid;
    tsr_tree tree;
    tsr_class_set classes;
    tsr_gather_job job;
} gather_args;
static gather_args args_of(const tsr_gather_job *job)
{
    gather_args a;
    memset(&a, 0, sizeof a);
    a.grid = *job->grid;
    if (job->tree) a.tree = *job->tree;
    if (job->classes) a.classes = *job->classes;
    a.job = *job;
    return a;
}
TSR_DEVICE_FN tsr_gather_job job_of(const gather_args &a)
{
    tsr_gather_job job = a.job;
    job.grid = &a.grid;
    job.tree = &a.tree;
    job.classes = &a.classes;
    return job;
}
enum { GATHER_THREADS = 256 };

TSR_KERNEL(gather_count_kernel)(gather_args a)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    const tsr_gather_job job = job_of(a);
    const int64_t n = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (n < job.cells) tsr_gather_count(&job, n, &tables);
}
TSR_KERNEL(gather_listed_kernel)(gather_args a)
{
    const int64_t n = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (n < a.job.listed) a.job.listed_counts[n] = a.job.counts[a.job.list[n]];
}
TSR_KERNEL(gather_vertex_kernel)(gather_args a)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    const tsr_gather_job job = job_of(a);
    const int64_t k = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (k < 3 * job.triangles) tsr_gather_vertex(&job, k, &tables);
}
TSR_KERNEL(gather_triangle_kernel)(gather_args a)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    const tsr_gather_job job = job_of(a);
    const int64_t k = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (k < job.triangles) tsr_gather_one(&job, k, &tables);
}
/* A warp takes 32 cells of the list and shares their triangles evenly: they lie one after another. */
TSR_KERNEL(gather_cell_kernel)(gather_args a)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    const tsr_gather_job job = job_of(a);
    const int64_t n = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    const uint32_t lane = threadIdx.x & 31;
    const int in = n < job.listed;
    const uint64_t cell = in ? job.list[n] : 0, start = in ? job.starts[n] : 0;
    const uint32_t count = in ? job.listed_counts[n] : 0;
    uint32_t total;
    const uint32_t before = warp_before(count, lane, &total);
    const uint64_t first = __shfl_sync(TSR_WARP_ALL, start, 0);
    for (uint32_t base = 0; base < total; base += 32) {
        const uint32_t i = base + lane, from = lane_of(before, i);
        const uint64_t own = __shfl_sync(TSR_WARP_ALL, cell, (int)from);
        const uint32_t passed = __shfl_sync(TSR_WARP_ALL, before, (int)from);
        if (i < total) tsr_gather_triangle(&job, (int64_t)own, (int32_t)(i - passed), (int64_t)(first + i), &tables);
    }
}
TSR_KERNEL(scatter_kernel)(gather_args a)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    const tsr_gather_job job = job_of(a);
    const int64_t n = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    if (n < job.cells && job.counts[n]) tsr_gather_cell(&job, n, job.counts[n], (int64_t)job.starts[n], &tables);
}

static tsr_status cuda_gather_count(tsr_queue *queue, const tsr_gather_job *job)
{
    TSR_LAUNCH(queue, gather_count_kernel, tsr_blocks(job->cells, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, args_of(job));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_gather_listed(tsr_queue *queue, const tsr_gather_job *job)
{
    TSR_LAUNCH(queue, gather_listed_kernel, tsr_blocks(job->listed, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, args_of(job));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_gather_write(tsr_queue *queue, const tsr_gather_job *job)
{
    const gather_args a = args_of(job);
    switch (job->gather) {
    case TSR_SURFACE_GATHER_VERTEX:
        TSR_LAUNCH(queue, gather_vertex_kernel, tsr_blocks(3 * job->triangles, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, a);
        break;
    case TSR_SURFACE_GATHER_CELL:
        TSR_LAUNCH(queue, gather_cell_kernel, tsr_blocks(job->listed, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, a);
        break;
    case TSR_SURFACE_SCATTER: TSR_LAUNCH(queue, scatter_kernel, tsr_blocks(job->cells, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, a); break;
    default: TSR_LAUNCH(queue, gather_triangle_kernel, tsr_blocks(job->triangles, GATHER_THREADS, INT32_MAX), GATHER_THREADS, 0, a); break;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

#endif
