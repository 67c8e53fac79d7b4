/* Pixels of a tile of the picture, compiled per SIMD variant. */
#include "device/isa.h"
#include "render/batch.h"
#include "render/render_cpu.h"
#define TSR_MAXIMUM tsr_batch_maximum
#define TSR_ACCUMULATE tsr_batch_accumulate
#include "render/write.h"

void TSR_ISA_NAME(tsr_draw_tile)(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                                 float *rgba, float *depth);
void TSR_ISA_NAME(tsr_draw_tile)(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                                 float *rgba, float *depth)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++) tsr_frame_store(frame, 1, transfer, x, y, rgba, depth);
}
