/* video/dirac/dirac_isa.c */
#include "video/dirac/dirac_isa.h"

void TSR_ISA_NAME(tsr_dirac_store_rows)(const tsr_dirac_store_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        const int32_t *from = job->samples + y * job->stride;
        if (job->bytes == 1) {
            uint8_t *to = (uint8_t *)job->plane + y * job->plane_stride;
            for (int32_t x = 0; x < job->width; x++) to[x] = (uint8_t)tsr_dirac_sample(from[x], job->depth);
        } else {
            uint16_t *to = (uint16_t *)job->plane + y * job->plane_stride;
            for (int32_t x = 0; x < job->width; x++) to[x] = (uint16_t)tsr_dirac_sample(from[x], job->depth);
        }
    }
}
