/* solver/engine_wide_cuda.cu: the passes of engine_wide.h in the exact class. */
#include "solver/engine_wide.h"

int tsr_engine_wide_can(const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_pass_shape shape) { return tsr_wide_can(pool, s, shape); }

void tsr_engine_wide_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_pass_shape shape)
{
    tsr_wide_enqueue(queue, pool, s, control, shape);
}
