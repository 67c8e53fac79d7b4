/* video/dirac/dirac_core_isa.h: the sub-bands of core pictures, a variant per instruction set. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_CORE_ISA_H
#define TSR_VIDEO_DIRAC_DIRAC_CORE_ISA_H

#include "device/isa.h"
#include "video/dirac/dirac_core.h"

typedef struct tsr_core_bands {
    const tsr_dirac_core *core;
    tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4];
    tsr_dirac_core_damage damage;
    int32_t over, failed; /* a coefficient did not fit in 16 bits; no memory */
} tsr_core_bands;

/* Items: [component][orientation]; orientation 0 is the approximation. */
TSR_ISA_DECLARE(void, tsr_dirac_core_chains, tsr_core_bands *bands, int64_t begin, int64_t end)

#endif
