/* video/dirac/dirac_isa.c */
#include "video/dirac/dirac_isa.h"

/* The common case, in vectors: no prediction and no reference. */
static void store_plain(const tsr_dirac_store_job *j, int64_t y)
{
    const int32_t *from = j->residue + y * j->stride, half = 1 << (j->depth - 1);
    if (j->bytes == 1) {
        uint8_t *to = (uint8_t *)j->plane + y * j->plane_stride;
        for (int32_t x = 0; x < j->width; x++) to[x] = (uint8_t)(tsr_dirac_clamp(from[x], -half, half - 1) + half);
    } else {
        uint16_t *to = (uint16_t *)j->plane + y * j->plane_stride;
        for (int32_t x = 0; x < j->width; x++) to[x] = (uint16_t)(tsr_dirac_clamp(from[x], -half, half - 1) + half);
    }
}

void TSR_ISA_NAME(tsr_dirac_store_rows)(const tsr_dirac_store_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        if (job->residue && !job->predicted && !job->reference) store_plain(job, y);
        else
            for (int32_t x = 0; x < job->width; x++) tsr_dirac_store_sample(job, x, y);
    }
}

void TSR_ISA_NAME(tsr_dirac_predict_rows)(const tsr_dirac_predict_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < job->width; x++) job->predicted[y * job->stride + x] = tsr_dirac_predict_sample(job, x, (int32_t)y);
}

void TSR_ISA_NAME(tsr_dirac_half_rows)(const tsr_dirac_half_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        int16_t *row = job->half + y * 2 * job->width;
        for (int32_t x = 0; x < job->width; x++) row[2 * x] = (int16_t)tsr_dirac_half_column(job, x, (int32_t)y);
        for (int32_t x = 1; x < 2 * job->width - 1; x += 2) row[x] = (int16_t)tsr_dirac_half_row(job, x, (int32_t)y);
        row[2 * job->width - 1] = 0; /* not read; known all the same */
    }
}
