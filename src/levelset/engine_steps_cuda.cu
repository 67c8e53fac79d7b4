/* levelset/engine_steps_cuda.cu: the steps of engine_steps.h in the exact class. */
#include "levelset/engine_steps.h"

int tsr_flow_steps_can(const tsr_tile_pool *pool, const tsr_flow_setup *s)
{
    return tsr_flow_slab_can(s) && s->flow.count == 0 && !pool->coded && !s->needs_mean && s->managed_every == 1;
}

int tsr_flow_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *s, tsr_flow_control *control, tsr_meeting *meeting,
                   int32_t steps, int32_t tiles)
{
    return tsr_steps_enqueue(queue, pool, s, control, meeting, steps, tiles);
}
