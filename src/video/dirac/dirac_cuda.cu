/* video/dirac/dirac_cuda.cu: a thread a sample. */
#include "device/kernel.h"
#include "video/dirac/dirac_ops.h"

enum { THREADS = 256 };

TSR_KERNEL(store_kernel)(tsr_dirac_store_job job)
{
    const int32_t x = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    const int64_t y = blockIdx.y;
    if (x >= job.width) return;
    const int32_t value = tsr_dirac_sample(job.samples[y * job.stride + x], job.depth);
    if (job.bytes == 1) ((uint8_t *)job.plane)[y * job.plane_stride + x] = (uint8_t)value;
    else ((uint16_t *)job.plane)[y * job.plane_stride + x] = (uint16_t)value;
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_dirac_store_job *job)
{
    TSR_LAUNCH(queue, store_kernel, dim3(tsr_blocks(job->width, THREADS, INT32_MAX), (uint32_t)job->height), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_dirac_ops tsr_dirac_cuda = { cuda_store };
