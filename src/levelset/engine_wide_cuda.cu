/* levelset/engine_wide_cuda.cu: the passes of engine_wide.h in the exact class. */
#include "levelset/engine_wide.h"

int tsr_flow_wide_can(const tsr_tile_pool *pool, const tsr_flow_setup *s) { return tsr_wide_can(pool, s); }

void tsr_flow_wide_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *s, tsr_flow_control *control, tsr_pass_shape shape)
{
    tsr_wide_enqueue(queue, pool, s, control, shape);
}
