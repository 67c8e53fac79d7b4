/* vision/views/views_cuda.cu: one thread a sample or pixel; triangles with many pixels wait in a list and are drawn by a block each. */
#include "device/kernel.h"
#define TSR_VIEWS_QUEUE 1
#include "vision/views/views_ops.h"

enum { THREADS = 128, LARGE_BLOCKS = 512 };

TSR_KERNEL(views_vertices)(tsr_view_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_view_place_vertex(&job, i);
}
TSR_KERNEL(views_draw)(tsr_view_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_view_draw(&job, i);
}
TSR_KERNEL(views_large)(tsr_view_job job)
{
    const uint32_t listed = job.large[0] < job.large_room ? job.large[0] : job.large_room;
    for (uint32_t n = blockIdx.x; n < listed; n += LARGE_BLOCKS) {
        tsr_view_triangle t;
        const uint32_t number = job.large[1 + n];
        if (tsr_view_set_up(&job, number, &t)) tsr_view_fill(&job, number, &t, threadIdx.x, THREADS);
    }
}
TSR_KERNEL(views_resolve)(tsr_view_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_view_resolve(&job, i);
}
TSR_KERNEL(views_merge)(const tsr_merge_job *job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_merge_pixel(job, i);
}
TSR_KERNEL(views_texture)(const tsr_merge_job *job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_texture_pixel(job, i);
}
TSR_KERNEL(views_sweep)(tsr_sweep_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_sweep_pixel(&job, i);
}

static tsr_status cuda_project(tsr_queue *queue, const tsr_view_job *job)
{
    const int64_t samples = (int64_t)job->columns * job->rows, pixels = (int64_t)job->width * job->height;
    TSR_LAUNCH(queue, views_vertices, tsr_blocks(samples, THREADS, INT32_MAX), THREADS, 0, *job, samples);
    TSR_LAUNCH(queue, views_draw, tsr_blocks(samples, THREADS, INT32_MAX), THREADS, 0, *job, samples);
    if (job->large) TSR_LAUNCH(queue, views_large, LARGE_BLOCKS, THREADS, 0, *job);
    TSR_LAUNCH(queue, views_resolve, tsr_blocks(pixels, THREADS, INT32_MAX), THREADS, 0, *job, pixels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* The job itself lies in device memory: it is larger than arguments of a kernel may be. */
static tsr_status cuda_merge(tsr_queue *queue, const tsr_merge_job *job)
{
    TSR_LAUNCH(queue, views_merge, tsr_blocks((int64_t)job->width * job->height, THREADS, INT32_MAX), THREADS, 0, job->device, (int64_t)job->width * job->height);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_texture(tsr_queue *queue, const tsr_merge_job *job)
{
    TSR_LAUNCH(queue, views_texture, tsr_blocks((int64_t)job->width * job->height, THREADS, INT32_MAX), THREADS, 0, job->device, (int64_t)job->width * job->height);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_sweep(tsr_queue *queue, const tsr_sweep_job *job)
{
    const int64_t pixels = (int64_t)job->width * job->height;
    TSR_LAUNCH(queue, views_sweep, tsr_blocks(pixels, THREADS, INT32_MAX), THREADS, 0, *job, pixels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_views_ops tsr_views_cuda = { cuda_project, cuda_merge, cuda_texture, cuda_sweep };
