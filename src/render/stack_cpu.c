/* render/stack_cpu.c: rows of a picture from the slices of a stack that are in memory. */
#include "core/parallel.h"
#include "render/render_ops.h"
#include "render/stack.h"

struct stack_job {
    const tsr_frame *frame;
    const tsr_transfer_linear *transfer;
    const tsr_stack_block *block;
    float *rgba, *depth;
};

static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct stack_job *j = (const struct stack_job *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < j->frame->width; x++)
            tsr_stack_pixel(j->frame, j->transfer, j->block, x, j->block->upper_row + (int32_t)y, j->rgba, j->depth);
}

tsr_status tsr_stack_cpu(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_stack_block *block, float *rgba,
                         float *depth)
{
    struct stack_job j = { frame, transfer, block, rgba, depth };
    tsr_parallel(queue->threads, block->lower_row - block->upper_row, 4, rows, &j);
    return TSR_OK;
}
