/* video/dirac/dirac_isa.c */
#include "video/dirac/dirac_isa.h"

#include "video/dirac/quantiser.h"

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

void TSR_ISA_NAME(tsr_dirac_load_rows)(const tsr_dirac_load_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < job->padded_width; x++) tsr_dirac_load_sample(job, x, y);
}

int64_t TSR_ISA_NAME(tsr_dirac_count_bits)(const int32_t *coefficients, int64_t n, uint64_t scale, int64_t *zeros)
{
    int64_t last = n;
    uint32_t bits = 0;
    while (last > 0 && !tsr_quantiser_magnitude(scale, coefficients[last - 1])) last--;
    *zeros = n - last;
    for (int64_t k = 0; k < last; k++) {
        const uint32_t magnitude = tsr_quantiser_magnitude(scale, coefficients[k]);
        const int32_t v = (int32_t)magnitude < INT32_MAX ? (int32_t)magnitude + 1 : INT32_MAX;
        bits += 2 * ((tsr_float_bits((float)v) >> 23) - 127) + 1 + (magnitude != 0);
    }
    return bits;
}
