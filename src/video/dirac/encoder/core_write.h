/* video/dirac/encoder/core_write.h: coefficients of a core-syntax picture to sub-bands, each quantised and coded by itself, on CPU threads. */
#ifndef TSR_VIDEO_DIRAC_CORE_WRITE_H
#define TSR_VIDEO_DIRAC_CORE_WRITE_H

#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/layout.h"

/* What a sub-band became. */
typedef struct tsr_dirac_written {
    uint8_t *bytes; /* NULL or memory of `room`, used again */
    int64_t size, room;
    double error; /* sum of squared differences, in coefficients */
} tsr_dirac_written;

typedef struct tsr_dirac_core_writing {
    const tsr_dirac_transform *transform;
    const tsr_dirac_layout *layout[3];
    const int32_t *coefficients[3];
    int32_t *quantised[3]; /* memory of the same layout */
    int32_t *decoded[3];   /* what a decoder has: for intra pictures the approximation without its prediction undone */
    int32_t index[3][TSR_DIRAC_LEVELS + 1][4];
    int32_t rounding; /* of 65536: added before magnitudes are cut to whole numbers; 0: the widest zone of zeros */
    int32_t threads, inter, variable, statistics;
    tsr_dirac_written band[3][TSR_DIRAC_LEVELS + 1][4];
    tsr_dirac_written whole; /* statistics: all bands */
    int32_t failed;
} tsr_dirac_core_writing;

/* Quantises and codes all sub-bands. */
tsr_status tsr_dirac_core_write(tsr_dirac_core_writing *writing);
/* Bytes that they take together, the headers of the sub-bands included; and these bytes, to memory with 16 more. */
int64_t tsr_dirac_core_bytes(const tsr_dirac_core_writing *writing);
void tsr_dirac_core_put(const tsr_dirac_core_writing *writing, uint8_t *to);
void tsr_dirac_core_writing_free(tsr_dirac_core_writing *writing);

#endif
