/* video/dirac/core_contexts.h: contexts of a sub-band's arithmetic codes, for reading and writing. First follow bits: by parent and neighbours;
 * then a chain for each kind of parent. */
#ifndef TSR_VIDEO_DIRAC_CORE_CONTEXTS_H
#define TSR_VIDEO_DIRAC_CORE_CONTEXTS_H

#include "core/hd.h"

enum {
    FIRST = 0,
    CHAIN = 4,
    CHAIN_LENGTH = 5,
    DATA = 14,
    SIGN = 15,
    ZERO = 18,
    OFFSET_FOLLOW = 19,
    OFFSET_DATA = 20,
    OFFSET_SIGN = 21,
    CONTEXTS = 22
};

TSR_HD int32_t tsr_dirac_sign(int32_t v) { return (v > 0) - (v < 0); }

#endif
