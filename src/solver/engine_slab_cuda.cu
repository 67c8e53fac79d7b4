/* solver/engine_slab_cuda.cu: the pass of engine_slab.h in the exact class. */
#include "solver/engine_slab.h"

/* A potential that pulls everywhere alike. */
static int only_pulls(const tsr_engine_flow *flow)
{
    return flow->count == 1 && flow->source[0].kind == TSR_SOURCE_POTENTIAL && !(flow->source[0].brush_reach2 > 0.0f);
}

int tsr_engine_slab_can(const tsr_engine_setup *s)
{
    return s->stages == 1 && s->sweeps == 0 && s->radius == 1 && (s->flow.count == 0 || only_pulls(&s->flow)) && s->guard == 1 && !s->measured &&
           s->scheme.space == s->scheme.reshape_space && s->scheme.space <= TSR_DIFFERENCE_GODUNOV;
}

void tsr_engine_slab_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, int32_t managed)
{
    tsr_slab_enqueue<0>(queue, pool, s, control, managed);
}

int tsr_engine_slab_can_pass(const tsr_engine_setup *s, tsr_pass_shape shape) { return tsr_slab_can_pass(s, shape); }

void tsr_engine_slab_one_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_pass_shape shape)
{
    tsr_slab_enqueue_pass(queue, pool, s, control, shape);
}
