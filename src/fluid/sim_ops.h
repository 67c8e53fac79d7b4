/* fluid/sim_ops.h: what a backend provides to simulate fluids: the passes of a step. All pointers are device memory of the queue. */
#ifndef TSR_FLUID_SIM_OPS_H
#define TSR_FLUID_SIM_OPS_H

#include "device/backend.h"
#include "fluid/sim_math.h"

typedef enum tsr_sim_pass {
    TSR_SIM_KEYS = 0,   /* cells of the particles and the numbers 0, 1, ... in `list`, to be sorted with them */
    TSR_SIM_GATHER,     /* particles in their new order */
    TSR_SIM_STARTS,     /* where cells begin; items are the cells and one more */
    TSR_SIM_COUNT,      /* neighbours of each particle, to be summed up in `first` */
    TSR_SIM_LIST,       /* who they are */
    TSR_SIM_DENSITY,
    TSR_SIM_PUSH,
    TSR_SIM_PRESS,
    TSR_SIM_MOVE,
    TSR_SIM_PASSES
} tsr_sim_pass;

typedef struct tsr_fluidsim_ops {
    tsr_status (*pass)(tsr_queue *queue, tsr_sim_pass pass, const tsr_sim_job *job);
} tsr_fluidsim_ops;

TSR_HD int64_t tsr_sim_cell_count(const tsr_sim_job *j) { return (int64_t)j->cells[0] * j->cells[1] * j->cells[2]; }
TSR_HD int64_t tsr_sim_items(const tsr_sim_job *j, int32_t pass)
{
    return pass == TSR_SIM_STARTS ? tsr_sim_cell_count(j) + 1 : pass == TSR_SIM_COUNT ? j->count + 1 : j->count;
}

/* Item i of a pass. */
TSR_HD void tsr_sim_item(const tsr_sim_job *j, int32_t pass, int64_t i)
{
    switch (pass) {
    case TSR_SIM_KEYS:
        tsr_sim_find_key(j, i);
        j->list[i] = (uint32_t)i;
        break;
    case TSR_SIM_GATHER: tsr_sim_gather(j, i); break;
    case TSR_SIM_STARTS: tsr_sim_find_start(j, i); break;
    case TSR_SIM_COUNT: j->found[i] = i < j->count ? tsr_sim_neighbours(j, i, 0) : 0; break;
    case TSR_SIM_LIST: tsr_sim_neighbours(j, i, j->list + j->first[i]); break;
    case TSR_SIM_DENSITY: tsr_sim_density(j, i); break;
    case TSR_SIM_PUSH: tsr_sim_push(j, i); break;
    case TSR_SIM_PRESS: tsr_sim_press(j, i); break;
    default: tsr_sim_move(j, i); break;
    }
}

#endif
