/* video/dirac/encoder/slices_write_isa.h: the coefficients of slices, measured and written, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_SLICES_WRITE_ISA_H
#define TSR_VIDEO_DIRAC_SLICES_WRITE_ISA_H

#include "device/isa.h"
#include "video/dirac/encoder/bits_write.h"

/* The magnitudes of a component of a slice, run by run: runs of one quantiser. */
typedef struct tsr_dirac_run {
    int32_t size, matrix;
} tsr_dirac_run;
/* For each quantiser index: the least magnitude whose code has k data bits, k = 1, 2, ...; UINT32_MAX where there is none. */
enum { TSR_CODE_STEPS = 34, TSR_CODE_INDICES = 128 };
typedef struct tsr_code_steps {
    uint32_t least[TSR_CODE_INDICES][TSR_CODE_STEPS];
    uint64_t scale[TSR_CODE_INDICES];
} tsr_code_steps;
/* Bits of the codes up to the last coefficient that is not 0, signs included. */
TSR_ISA_DECLARE(int64_t, tsr_dirac_run_bits, const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index,
                const tsr_code_steps *steps)
/* Writes them; `scratch` has room for all coefficients. What is behind the last one is left out. */
TSR_ISA_DECLARE(void, tsr_dirac_run_write, const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index, const tsr_code_steps *steps,
                int32_t *scratch, tsr_bits_out *out)
/* The coefficients of a slice in a component, band by band, from 32 or (narrow) 16 bits: those of pieces that lie so many of their extents across and
 * down from the ones given. */
typedef struct tsr_dirac_piece {
    int64_t at; /* of its first coefficient */
    int32_t w, h;
} tsr_dirac_piece;
TSR_ISA_DECLARE(void, tsr_dirac_gather, const int32_t *wide, const int16_t *narrow, int64_t stride, const tsr_dirac_piece *pieces, int32_t count,
                int32_t across, int32_t down, int32_t *to)

#endif
