/* levelset/engine_coded_cuda.cu: the passes of engine_pass.h and engine_slab.h on lists of 16-bit values (grid/tile_code.h). */
#include "levelset/engine_pass.h"
#include "levelset/engine_slab.h"

void tsr_flow_coded_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *setup, tsr_flow_control *control, tsr_pass_shape shape)
{
    if (tsr_flow_slab_can(setup)) tsr_slab_enqueue<1>(queue, pool, setup, control, shape.managed);
    else tsr_flow_enqueue<1>(queue, pool, setup, control, shape);
}
