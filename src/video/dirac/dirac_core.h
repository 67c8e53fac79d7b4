/* video/dirac/dirac_core.h: core syntax: every sub-band is coded by itself, in code blocks, by arithmetic or variable-length codes. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_CORE_H
#define TSR_VIDEO_DIRAC_DIRAC_CORE_H

#include "video/dirac/layout.h"

typedef struct tsr_dirac_core {
    const tsr_dirac_transform *transform;
    const tsr_dirac_layout *layout[3];
    int32_t *coefficients[3]; /* all are written */
    int32_t threads;
    int32_t inter;      /* other offsets of the quantiser */
    int32_t variable;   /* variable-length codes, no arithmetic coding */
    int32_t old_blocks; /* no quantiser offset in sub-bands of one code block (Schroedinger up to 1.0.7, BBC's encoder) */
} tsr_dirac_core;

/* Decodes all sub-bands from `bits`. *damaged is the number of sub-bands that were cut or contradict themselves; what is not known of them is 0. */
void tsr_dirac_core_decode(const tsr_dirac_core *core, tsr_bits *bits, int32_t *damaged);

#endif
