/* video/dirac/encoder/motion_modes.h: which of what the search found a picture is made of: splits, modes and vectors by their differences and what their
 * codes cost. */
#ifndef TSR_VIDEO_DIRAC_MOTION_MODES_H
#define TSR_VIDEO_DIRAC_MOTION_MODES_H

#include "video/dirac/encoder/motion_search.h"

/* Samples of a component of the picture at hand, on the host. */
typedef struct tsr_dirac_plane {
    const void *samples;
    int64_t stride;
    int32_t bytes, depth, width, height;
} tsr_dirac_plane;

/* Fills all blocks, and `splits` of all superblocks, row by row. The mean difference of a luma sample is returned. */
double tsr_dirac_choose_blocks(const tsr_dirac_search *search, const tsr_dirac_plane plane[3], tsr_dirac_block *blocks, uint8_t *splits);

#endif
