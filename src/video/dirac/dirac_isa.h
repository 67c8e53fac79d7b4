/* video/dirac/dirac_isa.h: loops that the compiler makes vectors of, a variant per instruction set: between samples and what is worked on. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_ops.h"

TSR_ISA_DECLARE(void, tsr_dirac_store_rows, const tsr_dirac_store_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_load_rows, const tsr_dirac_load_job *job, int64_t begin, int64_t end)

/* n samples of row y, around 0, are kept in the reference, if there is one. */
static inline void tsr_dirac_keep_row(const tsr_dirac_store_job *j, int64_t y, int32_t x0, const int16_t *TSR_RESTRICT samples, int32_t n)
{
    const int64_t at = y * j->width + x0;
    if (!j->reference) return;
    if (j->reference_bytes == 1) {
        int8_t *TSR_RESTRICT to = (int8_t *)j->reference + at;
        for (int32_t x = 0; x < n; x++) to[x] = (int8_t)samples[x];
    } else memcpy((int16_t *)j->reference + at, samples, (size_t)n * sizeof *samples);
}

#endif
