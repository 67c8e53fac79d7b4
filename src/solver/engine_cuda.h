/* solver/engine_cuda.h: what the passes of the level-set solver on the GPU share: engine_cuda.cu (all schemes, a tile at a time),
 * engine_coded_cuda.cu (the same on 16-bit lists), engine_slab_cuda.cu (first order in one stage, with the memory always busy),
 * engine_wide_cuda.cu (fifth order, few kinds of terms), engine_steps_cuda.cu (whole steps of small lists) and engine_fused_cuda.cu (all but 16 bits, with the arithmetic of the device). */
#ifndef TSR_SOLVER_ENGINE_CUDA_H
#define TSR_SOLVER_ENGINE_CUDA_H

#include "device/cooperative.h"
#include "tiles/tiles_kernel.h"
#include "solver/engine.h"

struct tsr_pass_shape {
    int32_t index, sweep, last, managed; /* of the pass in its step; `managed`: a management pass follows the step */
};

/* A pass of a step that met a value that is not finite still runs as a whole, so that the first such value is found; the next one does not. */
TSR_DEVICE_FN int tsr_pass_stopped(const tsr_tile_state *state, int32_t index)
{
    return state->shortage > 0 || state->halted || (state->bad != 0 && tsr_bad_pass(state->bad) < index);
}

/* Notes a value that is not finite: the first in the order of tsr_bad_word stays. */
TSR_DEVICE_FN void tsr_engine_bad_add(tsr_tile_state *state, int32_t pass, int32_t entry, int32_t voxel)
{
    atomicMax((unsigned long long *)(void *)&state->bad, (unsigned long long)tsr_bad_word(pass, entry, voxel));
}

/* What a step ends with, one thread. */
struct tsr_finish_step {
    tsr_engine_setup setup;
    tsr_engine_control *control;
    int32_t managed;
    TSR_INSIDE void tile(const tsr_tile_pool &, uint32_t, int32_t) const {}
    TSR_INSIDE void operator()(const tsr_tile_pool &pool) const
    {
        tsr_tile_state state = *pool.state; /* both at once: one thread waits for every load that follows a store */
        tsr_engine_control now = *control;
        if (state.bad) pool.state->halted = 1;
        if (state.bad || tsr_tile_stopped(&state)) return;
        tsr_engine_finish(&setup, 1 << pool.log2_edge, managed, &state, &now);
        pool.state->halted = state.halted;
        pool.state->time = state.time;
        *control = now;
    }
};
/* Queues pass `shape` of a step with the arithmetic of the device; the list is not coded. */
void tsr_engine_fused_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape);
/* Is there a kernel of engine_slab.h for the steps of this setup? */
int tsr_engine_slab_can(const tsr_engine_setup *setup);
/* Queues the only pass of a step of such a setup on a list of float32; `managed`: a management pass follows. */
void tsr_engine_slab_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, int32_t managed);
/* Is there a kernel of engine_slab.h for this pass of a step with sweeps, on a list of float32? */
int tsr_engine_slab_can_pass(const tsr_engine_setup *setup, tsr_pass_shape shape);
/* Queues it. */
void tsr_engine_slab_one_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape);
/* Does engine_wide_cuda.cu have a kernel for this pass of a step? */
int tsr_engine_wide_can(const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_pass_shape shape);
/* Queues it. */
void tsr_engine_wide_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape);
/* Queues pass `shape` of a step on a coded list. */
void tsr_engine_coded_pass(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape);

/* Can the steps of this setup run in one kernel (engine_steps.h)? */
int tsr_engine_steps_can(const tsr_tile_pool *pool, const tsr_engine_setup *setup);
/* Queues `steps` of them, for a list of about so many tiles; `fused` with the arithmetic of the device. Returns 0, with nothing queued, where the device has
 * no such launches. */
int tsr_engine_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_meeting *meeting,
                   int32_t steps, int32_t tiles);
int tsr_engine_fused_steps(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_meeting *meeting,
                         int32_t steps, int32_t tiles);

#endif
