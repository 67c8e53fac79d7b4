/* solver/engine_steps.h: steps of small lists in one kernel: pass, management and the decision what comes next follow each other without a launch
 * (docs/theory/tiles.md 3). The parts are those of the kernels of their own: engine_slab.h, tiles/tiles_pass.h and tiles_link.h; the same bits. */
#ifndef TSR_SOLVER_ENGINE_STEPS_H
#define TSR_SOLVER_ENGINE_STEPS_H

#include "device/cooperative.h"
#include "tiles/tiles_pass.h"
#include "solver/engine_slab.h"

enum { STEPS_BLOCKS_4 = 3, STEPS_BLOCKS_8 = 6 }; /* a multiprocessor */

/* Shared memory of a block: pass and plan take turns. */
template <int E> union tsr_steps_shared {
    tsr_slab_work<E> pass;
    tsr_plan_shared plan;
};

/* What the last block of a meeting does after the marks: sorts and plans, and if the list stays as it is ends the step. Mostly it does, and nothing was asked
 * for: then one thread works on copies, so that it waits for memory once. */
TSR_DEVICE_FN void tsr_steps_plan(const tsr_tile_pool &pool, const tsr_engine_setup &setup, tsr_engine_control *control, tsr_plan_shared *shared)
{
    if (pool.state->scratch[TSR_COUNT_REQUESTS] + pool.state->scratch[TSR_COUNT_REMOVED] > 0) {
        tsr_sort_and_plan(pool, 1, shared);
        __syncthreads();
    } else if (threadIdx.x == 0) {
        tsr_tile_state state = *pool.state;
        tsr_engine_control now = *control;
        tsr_tile_pool copy = pool;
        const tsr_finish_step finish = { setup, &now, 1 };
        copy.state = &state;
        tsr_plan_close(copy, 1, 0, 0, 0, 0);
        state.scratch[TSR_COUNT_PLANNED] = 0;
        finish(copy);
        *pool.state = state;
        *control = now;
        return;
    } else {
        return;
    }
    if (threadIdx.x != 0 || !tsr_pass_idle(pool.state)) return;
    const tsr_finish_step finish = { setup, control, 1 };
    pool.state->scratch[TSR_COUNT_PLANNED] = 0;
    finish(pool);
}

template <int E, int SPACE, int SIGN>
TSR_KERNEL(__launch_bounds__(tsr_slab<E>::THREADS, E == 8 ? STEPS_BLOCKS_8 : STEPS_BLOCKS_4) steps_kernel)
(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control, tsr_meeting *meeting, int32_t steps)
{
    TSR_SHARED(tsr_steps_shared<E>, shared, 1);
    TSR_SHARED(uint32_t, word, 1);
    tsr_tile_state *state = pool.state;
    const int32_t threads = (int32_t)(gridDim.x * blockDim.x), thread = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), lane = thread & 31;
    uint32_t turn = tsr_meeting_turn(meeting);
    tsr_slab_loads<E, tsr_slab_floats> loads;
    tsr_slab_begin_once<E>((uint32_t *)(void *)shared->pass.slab.cube, &loads);
    for (; steps > 0 && !(state->shortage > 0 || state->halted); steps--) { /* words that only the last block of a meeting writes */
        const tsr_tile_scratch s = tsr_scratch_of(&pool);
        const int32_t count = state->count;
        for (int32_t w = thread; w * 32 < count; w += threads) s.keep_bits[w] = count - w * 32 >= 32 ? 0xffffffffu : (1u << (count - w * 32)) - 1u;
        tsr_slab_step<E, SPACE, SIGN, 0, 0, 1, 0>(pool, setup.scheme, setup.flow.everywhere, 0.0f, control, 1, tsr_slab_pass(), &shared->pass, loads);
        tsr_meet_all(meeting, &turn);
        if (state->bad) { /* the pass has met it */
            if (thread == 0) state->halted = 1;
            return;
        }
        for (int32_t at = thread >> 5; at < count; at += threads >> 5)
            if (!tsr_mark_entry(pool, s, tsr_pool_keys(&pool, state->list), pool.id[state->list], at, lane) && lane == 0)
                atomicAnd(&s.keep_bits[at >> 5], ~(1u << (at & 31)));
        if (tsr_meet(meeting, &turn, word)) {
            tsr_steps_plan(pool, setup, control, &shared->plan);
            tsr_meeting_over(meeting);
        }
        if (tsr_pass_idle(state)) continue;
        const tsr_finish_step finish = { setup, control, 1 };
        tsr_merge_list<E>(pool, s, 1, finish);
        if (tsr_meet(meeting, &turn, word)) {
            if (threadIdx.x == 0) {
                tsr_close_list(pool);
                finish(pool);
            }
            tsr_meeting_over(meeting);
        }
    }
}

template <int E, int SPACE, int SIGN>
static int tsr_steps_launch(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_meeting *meeting,
                            int32_t steps, int32_t tiles)
{
    enum { THREADS = tsr_slab<E>::THREADS };
    const int32_t most = tsr_blocks_cooperative(queue, steps_kernel<E, SPACE, SIGN>, THREADS);
    if (most < 1) return 0;
    TSR_LAUNCH_COOPERATIVE(queue, (steps_kernel<E, SPACE, SIGN>), tsr_blocks(tiles, tsr_slab<E>::TILES, most), THREADS, 0, *pool, *s, control, meeting,
                        steps);
    return 1;
}

/* Queues them: see tsr_engine_steps. */
static int tsr_steps_enqueue(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control, tsr_meeting *meeting,
                             int32_t steps, int32_t tiles)
{
    const int osher = s->scheme.space == TSR_DIFFERENCE_UPWIND;
    if (pool->log2_edge == 3 && osher) return tsr_steps_launch<8, TSR_DIFFERENCE_UPWIND, SIGN_ANY>(queue, pool, s, control, meeting, steps, tiles);
    if (pool->log2_edge == 3) return tsr_steps_launch<8, TSR_DIFFERENCE_GODUNOV, SIGN_ANY>(queue, pool, s, control, meeting, steps, tiles);
    if (osher) return tsr_steps_launch<4, TSR_DIFFERENCE_UPWIND, SIGN_ANY>(queue, pool, s, control, meeting, steps, tiles);
    return tsr_steps_launch<4, TSR_DIFFERENCE_GODUNOV, SIGN_ANY>(queue, pool, s, control, meeting, steps, tiles);
}

#endif
