/* solver/engine_fused_cuda.cu: the passes of engine_pass.h, engine_slab.h and engine_wide.h with the arithmetic of the device (option `fused`): the same formulas, fused and
 * with its roots. */
#include "core/fast_arithmetic.h"

#include "solver/engine_pass.h"
#include "solver/engine_slab.h"
#include "solver/engine_steps.h"
#include "solver/engine_wide.h"

void tsr_engine_fused_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape)
{
    if (tsr_engine_slab_can(setup)) tsr_slab_enqueue<0>(queue, pool, setup, control, shape.managed);
    else if (tsr_engine_slab_can_pass(setup, shape)) tsr_slab_enqueue_pass(queue, pool, setup, control, shape);
    else if (tsr_engine_wide_can(pool, setup, shape)) tsr_wide_enqueue(queue, pool, setup, control, shape);
    else tsr_engine_enqueue<0>(queue, pool, setup, control, shape);
}

int tsr_engine_fused_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_meeting *meeting,
                         int32_t steps, int32_t tiles)
{
    return tsr_steps_enqueue(queue, pool, s, control, meeting, steps, tiles);
}
