/* solver/engine_steps_cuda.cu: the steps of engine_steps.h in the exact class. */
#include "solver/engine_steps.h"

int tsr_engine_steps_can(const tsr_tile_pool *pool, const tsr_engine_setup *s)
{
    return tsr_engine_slab_can(s) && s->flow.count == 0 && !pool->coded && !s->needs_mean && s->managed_every == 1;
}

int tsr_engine_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_meeting *meeting,
                   int32_t steps, int32_t tiles)
{
    return tsr_steps_enqueue(queue, pool, s, control, meeting, steps, tiles);
}
