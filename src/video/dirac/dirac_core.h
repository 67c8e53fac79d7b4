/* video/dirac/dirac_core.h: core syntax: every sub-band is coded by itself, in code blocks, by arithmetic or variable-length codes. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_CORE_H
#define TSR_VIDEO_DIRAC_DIRAC_CORE_H

#include "video/dirac/layout.h"

typedef struct tsr_dirac_core {
    const tsr_dirac_transform *transform;
    const tsr_dirac_layout *layout[3];
    int32_t *coefficients[3];                  /* all are written */
    int16_t *narrow[3];                        /* NULL, or written in place of them but for the approximation, which is predicted in 32 bits */
    uint8_t (*empty)[TSR_DIRAC_LEVELS + 1][4]; /* of components: which sub-bands of `narrow` are 0 already; kept so */
    int32_t threads;
    int32_t inter;      /* other offsets of the quantiser */
    int32_t variable;   /* variable-length codes, no arithmetic coding */
    int32_t statistics; /* rANS: tsr_dirac_statistics_decode is to be called */
    int32_t old_blocks; /* no quantiser offset in sub-bands of one code block (Schroedinger up to 1.0.7, BBC's encoder) */
} tsr_dirac_core;

/* Sub-bands that end early, and such with a quantiser that is none; what is not known of them is 0. */
typedef struct tsr_dirac_core_damage {
    int32_t cut, quantiser;
} tsr_dirac_core_damage;
/* The data of a sub-band: size 0: all coefficients are 0. */
typedef struct tsr_dirac_coded_band {
    const uint8_t *data;
    int64_t size;
    int32_t index;
} tsr_dirac_coded_band;
/* Where they are; `band` is 0 before, and `bits` behind the last one afterwards. Adds to *damage. */
void tsr_dirac_core_find(const tsr_dirac_transform *transform, tsr_bits *bits, tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4],
                         tsr_dirac_core_damage *damage);
/* Goes over a picture, whose payload is `bits`, to where its sub-bands begin, and reads the transform; 0: it has none, or is damaged. inspect.c */
int tsr_dirac_core_skip(const tsr_dirac_sequence *sequence, int32_t code, tsr_bits *bits, tsr_dirac_transform *transform);
/* Decodes all sub-bands from `bits`. *fits 0: coefficients of `narrow` left 16 bits and are not right. */
tsr_status tsr_dirac_core_decode(const tsr_dirac_core *core, tsr_bits *bits, int *fits, tsr_dirac_core_damage *damage);

#endif
