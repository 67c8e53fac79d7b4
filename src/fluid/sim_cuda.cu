/* fluid/sim_cuda.cu: one thread for each particle (or cell); neighbours lie close by, as particles are sorted by cells. */
#include "device/kernel.h"
#include "fluid/sim_ops.h"

enum { THREADS = 128 };

/* One kernel for each pass, so that each has the registers that it needs and no more. */
#define PASS_KERNEL(name, pass)                                                  \
    TSR_KERNEL(name)(tsr_sim_job job, int64_t items)                             \
    {                                                                            \
        const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;           \
        if (i < items) tsr_sim_item(&job, pass, i);                              \
    }
PASS_KERNEL(keys_kernel, TSR_SIM_KEYS)
PASS_KERNEL(gather_kernel, TSR_SIM_GATHER)
PASS_KERNEL(starts_kernel, TSR_SIM_STARTS)
PASS_KERNEL(count_kernel, TSR_SIM_COUNT)
PASS_KERNEL(list_kernel, TSR_SIM_LIST)
PASS_KERNEL(density_kernel, TSR_SIM_DENSITY)
PASS_KERNEL(push_kernel, TSR_SIM_PUSH)
PASS_KERNEL(press_kernel, TSR_SIM_PRESS)
PASS_KERNEL(move_kernel, TSR_SIM_MOVE)

static tsr_status cuda_pass(tsr_queue *queue, tsr_sim_pass pass, const tsr_sim_job *job)
{
    const int64_t items = tsr_sim_items(job, (int32_t)pass);
    const uint32_t blocks = tsr_blocks(items, THREADS, INT32_MAX);
    switch (pass) {
    case TSR_SIM_KEYS: TSR_LAUNCH(queue, keys_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_GATHER: TSR_LAUNCH(queue, gather_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_STARTS: TSR_LAUNCH(queue, starts_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_COUNT: TSR_LAUNCH(queue, count_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_LIST: TSR_LAUNCH(queue, list_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_DENSITY: TSR_LAUNCH(queue, density_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_PUSH: TSR_LAUNCH(queue, push_kernel, blocks, THREADS, 0, *job, items); break;
    case TSR_SIM_PRESS: TSR_LAUNCH(queue, press_kernel, blocks, THREADS, 0, *job, items); break;
    default: TSR_LAUNCH(queue, move_kernel, blocks, THREADS, 0, *job, items); break;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_fluidsim_ops tsr_fluidsim_cuda = { cuda_pass };
