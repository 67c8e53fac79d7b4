#include "fluid/sim_isa.h"

/* One loop for each pass: which one it is is not asked for every particle. */
void TSR_ISA_NAME(tsr_sim_range)(const tsr_sim_job *job, int32_t pass, int64_t begin, int64_t end)
{
    const tsr_sim_job own = *job;
    switch (pass) {
    case TSR_SIM_DENSITY:
        for (int64_t i = begin; i < end; i++) tsr_sim_item(&own, TSR_SIM_DENSITY, i);
        break;
    case TSR_SIM_PUSH:
        for (int64_t i = begin; i < end; i++) tsr_sim_item(&own, TSR_SIM_PUSH, i);
        break;
    case TSR_SIM_PRESS:
        for (int64_t i = begin; i < end; i++) tsr_sim_item(&own, TSR_SIM_PRESS, i);
        break;
    default:
        for (int64_t i = begin; i < end; i++) tsr_sim_item(&own, pass, i);
        break;
    }
}
