/* video/dirac/motion.h: prediction parameters and block motion data of inter pictures. */
#ifndef TSR_VIDEO_DIRAC_MOTION_H
#define TSR_VIDEO_DIRAC_MOTION_H

#include "video/dirac/predict.h"
#include "video/dirac/syntax.h"

/* The prediction parameters, for `refs` references. Fills everything of `p` but `references`. */
tsr_status tsr_dirac_prediction_read(tsr_bits *bits, const tsr_dirac_sequence *sequence, int32_t refs, tsr_dirac_prediction *p);
/* Streams that were cut, and superblocks whose split is none; their values are 0. */
typedef struct tsr_dirac_blocks_damage {
    int32_t cut, split;
} tsr_dirac_blocks_damage;
/* Block data: p->blocks_x * p->blocks_y blocks. */
void tsr_dirac_blocks_read(tsr_bits *bits, const tsr_dirac_prediction *p, tsr_dirac_block *blocks, tsr_dirac_blocks_damage *damage);

#endif
