#include "device/kernel.h"
#include "grid/volume_ops.h"
#include "grid/voxel.h"

TSR_KERNEL(convert_kernel)(const void *from, tsr_dtype from_type, void *to, tsr_dtype to_type, int64_t count, double slope, double intercept)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        tsr_voxel_convert(from, from_type, to, to_type, i, slope, intercept);
}

static tsr_status cuda_convert(tsr_queue *queue, const void *from, tsr_dtype from_type, void *to, tsr_dtype to_type, int64_t count, double slope,
                               double intercept)
{
    TSR_LAUNCH(queue, convert_kernel, tsr_blocks(count, 256, 16 * tsr_queue_processors(queue)), 256, 0, from, from_type, to, to_type, count, slope,
               intercept);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_volume_ops tsr_volume_cuda = { cuda_convert };
