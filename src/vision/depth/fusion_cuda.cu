/* vision/depth/fusion_cuda.cu: a thread for a pixel of the map, a block for a brick that it reaches. */
#include "device/kernel.h"
#include "vision/depth/fusion_ops.h"

enum { THREADS = 128 };

TSR_KERNEL(reach_kernel)(tsr_fusion_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    uint64_t last = TSR_FUSION_EMPTY;
    if (i < count) tsr_fusion_reach_pixel(&job.view, &job.table, i, &last);
}
TSR_KERNEL(integrate_kernel)(tsr_fusion_job job)
{
    const uint32_t at = job.table.reached[blockIdx.x];
    float *brick = job.pool + (int64_t)job.table.bricks[at] * TSR_FUSION_PARTS * TSR_FUSION_VOXELS;
    int32_t place[3];
    tsr_fusion_place(job.table.keys[at], place);
    for (int32_t n = (int32_t)threadIdx.x; n < TSR_FUSION_VOXELS; n += THREADS) {
        float q[3], z;
        tsr_fusion_row(&job.view, place, n / TSR_FUSION_EDGE, q, &z);
        tsr_fusion_voxel(&job.view, q, z, n % TSR_FUSION_EDGE, brick + n);
    }
}
TSR_KERNEL(clear_kernel)(tsr_fusion_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_fusion_clear_at(&job, i);
}
TSR_KERNEL(rehash_kernel)(tsr_fusion_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_fusion_rehash_at(&job, i);
}

static tsr_status cuda_reach(tsr_queue *queue, const tsr_fusion_job *job)
{
    const int64_t count = (int64_t)job->view.width * job->view.height;
    TSR_LAUNCH(queue, reach_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_integrate(tsr_queue *queue, const tsr_fusion_job *job)
{
    if (job->reached) TSR_LAUNCH(queue, integrate_kernel, job->reached, THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_clear(tsr_queue *queue, const tsr_fusion_job *job)
{
    const int64_t count = (int64_t)job->fresh * TSR_FUSION_VOXELS;
    if (count) TSR_LAUNCH(queue, clear_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_rehash(tsr_queue *queue, const tsr_fusion_job *job)
{
    TSR_LAUNCH(queue, rehash_kernel, tsr_blocks(job->old_size, THREADS, INT32_MAX), THREADS, 0, *job, (int64_t)job->old_size);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_fusion_ops tsr_fusion_cuda = { cuda_reach, cuda_integrate, cuda_clear, cuda_rehash };
