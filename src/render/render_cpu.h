/* render/render_cpu.h: functions of the cpu backend that have a variant per instruction set. */
#ifndef TSR_RENDER_RENDER_CPU_H
#define TSR_RENDER_RENDER_CPU_H

#include "device/isa.h"
#include "render/bricks.h"
#include "render/frame.h"

TSR_ISA_DECLARE(void, tsr_draw_tile, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                float *rgba, float *depth)
TSR_ISA_DECLARE(int64_t, tsr_brick_row, const tsr_brick_source *s, int32_t by, int32_t bz, float *range, float *slope)

#endif
