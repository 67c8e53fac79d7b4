/* video/dirac/encoder/slices_write.h: coefficients of a picture to slices, on CPU threads. */
#ifndef TSR_VIDEO_DIRAC_SLICES_WRITE_H
#define TSR_VIDEO_DIRAC_SLICES_WRITE_H

#include "video/dirac/layout.h"

/* What each slice became; a picture has slices_x * slices_y of them. */
typedef struct tsr_dirac_slice_plan {
    int32_t index;     /* of the quantiser */
    int32_t length[3]; /* high quality: bytes of a component, in units of the scaler; low delay: [0] bits of luma, [1] of chroma */
    int64_t offset;    /* of its first byte behind the first slice */
} tsr_dirac_slice_plan;

typedef struct tsr_dirac_slices_writing {
    tsr_dirac_transform transform; /* tsr_dirac_slices_plan sets `scaler` */
    const tsr_dirac_layout *layout[3];
    int32_t *coefficients[3];
    const int16_t *narrow[3]; /* in place of `coefficients`, if not NULL; high quality alone */
    tsr_dirac_slice_plan *plan;
    int32_t threads;
    int32_t compatible; /* high quality: padding has a bit for every coefficient that is not coded */
    uint8_t *early;     /* slices of fixed size, written as they are planned; to be freed with tsr_dirac_slices_writing_free */
    int32_t quantiser;  /* >= 0: everywhere; -1: each slice has its bytes, numerator / denominator of them */
} tsr_dirac_slices_writing;

/* Chooses quantisers and lengths; *bytes is what all slices take together. */
tsr_status tsr_dirac_slices_plan(tsr_dirac_slices_writing *w, int64_t *bytes);
/* Writes slices [first, first + count); `to` has room for their bytes and 16 more. */
tsr_status tsr_dirac_slices_write(const tsr_dirac_slices_writing *w, int64_t first, int64_t count, uint8_t *to);
/* The error of slices whose codes do not fit. */
tsr_status tsr_dirac_slices_overfull(const tsr_dirac_transform *transform, int64_t slices) TSR_CHECKED;
void tsr_dirac_slices_writing_free(tsr_dirac_slices_writing *w);

#endif
