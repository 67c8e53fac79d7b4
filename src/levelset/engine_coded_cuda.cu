/* levelset/engine_coded_cuda.cu: the passes of engine_pass.h on lists of 16-bit values (grid/tile_code.h). */
#include "levelset/engine_pass.h"

void tsr_flow_coded_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *setup, tsr_flow_control *control, tsr_pass_shape shape)
{
    tsr_flow_enqueue<1>(queue, pool, setup, control, shape);
}
