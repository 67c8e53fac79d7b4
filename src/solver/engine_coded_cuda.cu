/* solver/engine_coded_cuda.cu: the passes of engine_pass.h and engine_slab.h on lists of 16-bit values (tiles/tile_code.h). */
#include "solver/engine_pass.h"
#include "solver/engine_slab.h"

void tsr_engine_coded_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape)
{
    if (tsr_engine_slab_can(setup)) tsr_slab_enqueue<1>(queue, pool, setup, control, shape.managed);
    else tsr_engine_enqueue<1>(queue, pool, setup, control, shape);
}
