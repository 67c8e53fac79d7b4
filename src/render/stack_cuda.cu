/* render/stack_cuda.cu: a thread per pixel of a picture from the slices of a stack that are in memory; a warp is a tile of 8 x 4 pixels. */
#include "device/kernel.h"
#include "render/render_ops.h"
#include "render/stack.h"

#ifdef TSR_EMU
#define __grid_constant__
#endif

enum { PIXEL_THREADS = 128, TILE_WIDTH = 16, TILE_HEIGHT = 8 };

TSR_KERNEL(__launch_bounds__(PIXEL_THREADS) stack_kernel)
(const __grid_constant__ tsr_frame frame, const __grid_constant__ tsr_transfer_linear transfer, const __grid_constant__ tsr_stack_block block,
 float *rgba, float *depth)
{
    const int32_t x = (int32_t)(blockIdx.x * TILE_WIDTH + (threadIdx.x >> 5 & 1) * 8 + (threadIdx.x & 7)),
                  y = (int32_t)(blockIdx.y * TILE_HEIGHT + (threadIdx.x >> 6) * 4 + (threadIdx.x >> 3 & 3));
    if (x < frame.width && y < frame.height) tsr_stack_pixel(&frame, &transfer, &block, x, y, rgba, depth);
}

extern "C" tsr_status tsr_stack_cuda(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_stack_block *block,
                                     float *rgba, float *depth)
{
    const dim3 blocks((uint32_t)((frame->width + TILE_WIDTH - 1) / TILE_WIDTH), (uint32_t)((frame->height + TILE_HEIGHT - 1) / TILE_HEIGHT), 1);
    TSR_LAUNCH(queue, stack_kernel, blocks, PIXEL_THREADS, 0, *frame, *transfer, *block, rgba, depth);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
