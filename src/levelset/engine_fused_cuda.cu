/* levelset/engine_fused_cuda.cu: the passes of engine_pass.h, engine_slab.h and engine_wide.h with the arithmetic of the device (option `fused`): the same formulas, fused and
 * with its roots. */
#include "core/fast_arithmetic.h"

#include "levelset/engine_pass.h"
#include "levelset/engine_slab.h"
#include "levelset/engine_steps.h"
#include "levelset/engine_wide.h"

void tsr_flow_fused_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *setup, tsr_flow_control *control, tsr_pass_shape shape)
{
    if (tsr_flow_slab_can(setup)) tsr_slab_enqueue<0>(queue, pool, setup, control, shape.managed);
    else if (tsr_flow_wide_can(pool, setup)) tsr_wide_enqueue(queue, pool, setup, control, shape);
    else tsr_flow_enqueue<0>(queue, pool, setup, control, shape);
}

int tsr_flow_fused_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *s, tsr_flow_control *control, tsr_meeting *meeting,
                         int32_t steps, int32_t tiles)
{
    return tsr_steps_enqueue(queue, pool, s, control, meeting, steps, tiles);
}
