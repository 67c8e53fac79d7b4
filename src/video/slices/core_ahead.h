/* video/slices/core_ahead.h: arithmetic codes of several pictures in core syntax, decoded together where a device has their coefficients: pictures that
 * come later are looked for in the bytes that are there, and their coefficients wait until it is their turn. */
#ifndef TSR_VIDEO_SLICES_CORE_AHEAD_H
#define TSR_VIDEO_SLICES_CORE_AHEAD_H

#include "video/dirac/dirac_core.h"
#include "video/slices/core_jobs.h"

enum { TSR_CORE_AHEAD = 64 }; /* pictures at most */

typedef struct tsr_core_ahead_picture {
    int64_t offset; /* of its data unit in the stream: which one it is */
    int32_t inter, old_blocks;
    tsr_dirac_transform transform;
    tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4];
    const uint8_t *bytes; /* in the host's memory, until run */
    int64_t size;
    tsr_dirac_core_damage damage;
} tsr_core_ahead_picture;

typedef struct tsr_core_ahead {
    tsr_context *context; /* NULL: nothing was made */
    tsr_dirac_layout layout[3];
    int64_t elements; /* of a picture */
    int32_t room, count;
    tsr_core_ahead_picture *picture;
    tsr_core_arithmetic_band *list, *bands; /* host; device memory, as all that follows */
    int32_t *coefficients;
    uint8_t *bytes;
    int64_t bytes_room;
    uint32_t *failed;
    uint16_t *step;
} tsr_core_ahead;

/* 1: the device has what it takes. */
int tsr_core_ahead_usable(const tsr_context *context);
/* Forgets the pictures that are there. Room for `pictures` with such coefficients. */
tsr_status tsr_core_ahead_begin(tsr_core_ahead *ahead, tsr_context *context, const tsr_dirac_layout *const layout[3], int32_t pictures);
/* One more, whose sub-bands begin at `bits`; the bytes stay where they are until run. */
void tsr_core_ahead_add(tsr_core_ahead *ahead, const tsr_dirac_core *core, const tsr_bits *bits, int64_t offset);
tsr_status tsr_core_ahead_run(tsr_core_ahead *ahead);
/* *found 1: what tsr_dirac_core_decode does with the picture at `offset` of the stream, which is there, to `coefficients` in device memory; predictions
 * of approximations are undone. */
tsr_status tsr_core_ahead_take(const tsr_core_ahead *ahead, const tsr_dirac_core *core, int64_t offset, int32_t *const coefficients[3],
                               tsr_dirac_core_damage *damage, int *found);
void tsr_core_ahead_free(tsr_core_ahead *ahead);

#endif
