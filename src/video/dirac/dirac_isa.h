/* video/dirac/dirac_isa.h: loops that the compiler makes vectors of, a variant per instruction set: between samples and what is worked on. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_ops.h"

enum { TSR_DIRAC_PIECE = 512 }; /* of a row, at a time */

TSR_ISA_DECLARE(void, tsr_dirac_store_rows, const tsr_dirac_store_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_dirac_load_rows, const tsr_dirac_load_job *job, int64_t begin, int64_t end)

/* n residues of row y from x0 on, which is even: where they are, or in `made`, for which there is room for one more. With nothing but 0 in the finest
 * level LeGall's filter gives means of neighbours, along y, then x; then the accuracy bit goes. */
static inline const int16_t *tsr_dirac_residue_piece(const tsr_dirac_store_job *j, int64_t y, int32_t x0, int32_t n, int16_t *TSR_RESTRICT made)
{
    if (!j->doubled[0]) return j->narrow ? j->narrow + y * j->stride + x0 : NULL;
    const int32_t first = x0 / 2, count = (n + 1) / 2, there = tsr_mini(count + 1, j->doubled[0] - first);
    const int64_t row = y / 2, next = tsr_minl(row + (y & 1), j->doubled[1] - 1);
    const int16_t *TSR_RESTRICT a = j->narrow + row * j->stride + first, *TSR_RESTRICT b = j->narrow + next * j->stride + first;
    int16_t mean[TSR_DIRAC_PIECE / 2 + 1];
    for (int32_t k = 0; k < there; k++) mean[k] = (int16_t)((a[k] | b[k]) - ((a[k] ^ b[k]) >> 1));
    if (there <= count) mean[count] = mean[there - 1];
    for (int32_t k = 0; k < count; k++) {
        const int16_t here = mean[k], between = (int16_t)((mean[k] | mean[k + 1]) - ((mean[k] ^ mean[k + 1]) >> 1));
        made[2 * k] = (int16_t)(here - (here >> 1));
        made[2 * k + 1] = (int16_t)(between - (between >> 1));
    }
    return made;
}

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
