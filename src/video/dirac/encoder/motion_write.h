/* video/dirac/encoder/motion_write.h: prediction parameters and block motion data, written. */
#ifndef TSR_VIDEO_DIRAC_MOTION_WRITE_H
#define TSR_VIDEO_DIRAC_MOTION_WRITE_H

#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/motion.h"

/* Bytes that both take at most. */
int64_t tsr_dirac_motion_room(const tsr_dirac_prediction *p);
void tsr_dirac_prediction_write(tsr_bits_out *bits, const tsr_dirac_prediction *p);
/* Block data; `splits` of all superblocks, row by row. `scratch`: tsr_dirac_motion_room bytes. `bits` stands on a byte, before and after. */
void tsr_dirac_blocks_write(tsr_bits_out *bits, const tsr_dirac_prediction *p, tsr_dirac_block *blocks, const uint8_t *splits, uint8_t *scratch);

#endif
