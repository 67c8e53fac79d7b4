/* video/dirac/dirac_isa.c */
#include "video/dirac/dirac_isa.h"

/* The common case, in vectors: no prediction and no reference. */
#define STORE_ROW(type, from, to) \
    for (int32_t x = 0; x < width; x++) (to)[x] = (type)(tsr_dirac_clamp((from)[x], -half, half - 1) + half)

static void store_plain(const tsr_dirac_store_job *j, int64_t y)
{
    const int32_t half = 1 << (j->depth - 1), width = j->width; /* a byte stored might change what is not local */
    const int16_t *TSR_RESTRICT narrow = j->narrow ? j->narrow + y * j->stride : NULL;
    const int32_t *TSR_RESTRICT wide = j->narrow ? NULL : j->residue + y * j->stride;
    if (j->bytes == 1) {
        uint8_t *TSR_RESTRICT to = (uint8_t *)j->plane + y * j->plane_stride;
        if (narrow) STORE_ROW(uint8_t, narrow, to);
        else STORE_ROW(uint8_t, wide, to);
    } else {
        uint16_t *TSR_RESTRICT to = (uint16_t *)j->plane + y * j->plane_stride;
        if (narrow) STORE_ROW(uint16_t, narrow, to);
        else STORE_ROW(uint16_t, wide, to);
    }
}

/* What core pictures need: residue and prediction or either alone, a reference or none. Residues are limited first, so that the sum stays within 32
 * bits; what is limited is out of range all the same. */
static void store_core(const tsr_dirac_store_job *j, int64_t y)
{
    const int32_t half = 1 << (j->depth - 1), far = 1 << 28;
    const int32_t *residue = j->narrow || !j->residue ? NULL : j->residue + y * j->stride,
                  *predicted = j->predicted ? j->predicted + y * j->predicted_stride : NULL;
    int16_t piece[TSR_DIRAC_PIECE], made[TSR_DIRAC_PIECE + 1];
    for (int32_t x0 = 0; x0 < j->width; x0 += TSR_DIRAC_PIECE) {
        const int32_t n = tsr_mini(TSR_DIRAC_PIECE, j->width - x0);
        const int16_t *TSR_RESTRICT s = tsr_dirac_residue_piece(j, y, x0, n, made);
        const int32_t *TSR_RESTRICT r = residue ? residue + x0 : NULL, *TSR_RESTRICT p = predicted ? predicted + x0 : NULL;
        if (s && p)
            for (int32_t x = 0; x < n; x++) piece[x] = (int16_t)tsr_dirac_clamp(s[x] + p[x], -half, half - 1);
        else if (s)
            for (int32_t x = 0; x < n; x++) piece[x] = (int16_t)tsr_dirac_clamp(s[x], -half, half - 1);
        else if (r && p)
            for (int32_t x = 0; x < n; x++) piece[x] = (int16_t)tsr_dirac_clamp(tsr_dirac_clamp(r[x], -far, far) + p[x], -half, half - 1);
        else {
            const int32_t *TSR_RESTRICT only = r ? r : p;
            for (int32_t x = 0; x < n; x++) piece[x] = (int16_t)tsr_dirac_clamp(only[x], -half, half - 1);
        }
        tsr_dirac_keep_row(j, y, x0, piece, n);
        if (j->bytes == 1) {
            uint8_t *TSR_RESTRICT to = (uint8_t *)j->plane + y * j->plane_stride + x0;
            for (int32_t x = 0; x < n; x++) to[x] = (uint8_t)(piece[x] + half);
        } else {
            uint16_t *TSR_RESTRICT to = (uint16_t *)j->plane + y * j->plane_stride + x0;
            for (int32_t x = 0; x < n; x++) to[x] = (uint16_t)(piece[x] + half);
        }
    }
}

static void store_row(const tsr_dirac_store_job *job, int64_t y)
{
    if ((job->residue || job->narrow) && job->plane && !job->predicted && !job->reference) store_plain(job, y);
    else if ((job->predicted || job->residue || job->narrow) && job->plane) store_core(job, y);
    else
        for (int32_t x = 0; x < job->width; x++) tsr_dirac_store_sample(job, x, y);
}

void TSR_ISA_NAME(tsr_dirac_store_rows)(const tsr_dirac_store_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) store_row(job, y);
}
/* Rows without a prediction, in vectors; what lies beyond the plane repeats its last sample. */
#define LOAD_ROW(type, to)                                                                                      \
    do {                                                                                                        \
        const type *TSR_RESTRICT from_ = (const type *)j->plane + tsr_minl(y, j->height - 1) * j->plane_stride; \
        for (int32_t x = 0; x < j->width; x++) (to)[x] = (__typeof__(*(to)))((int32_t)from_[x] - half);         \
        for (int32_t x = j->width; x < j->padded_width; x++) (to)[x] = (to)[j->width - 1];                      \
    } while (0)

static void load_plain(const tsr_dirac_load_job *j, int64_t y)
{
    const int32_t half = 1 << (j->depth - 1);
    int16_t *TSR_RESTRICT narrow = j->narrow ? j->narrow + y * j->stride : NULL;
    int32_t *TSR_RESTRICT wide = j->narrow ? NULL : j->samples + y * j->stride;
    if (j->bytes == 1) {
        if (narrow) LOAD_ROW(uint8_t, narrow);
        else LOAD_ROW(uint8_t, wide);
    } else {
        if (narrow) LOAD_ROW(uint16_t, narrow);
        else LOAD_ROW(uint16_t, wide);
    }
}

void TSR_ISA_NAME(tsr_dirac_load_rows)(const tsr_dirac_load_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        if (!job->predicted) load_plain(job, y);
        else
            for (int32_t x = 0; x < job->padded_width; x++) tsr_dirac_load_sample(job, x, y);
    }
}
