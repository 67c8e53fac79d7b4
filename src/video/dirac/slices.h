/* video/dirac/slices.h: slices of low-delay and high-quality pictures, entropy-decoded on CPU threads. */
#ifndef TSR_VIDEO_DIRAC_SLICES_H
#define TSR_VIDEO_DIRAC_SLICES_H

#include "video/dirac/layout.h"

typedef struct tsr_dirac_slices {
    const tsr_dirac_transform *transform;
    const tsr_dirac_layout *layout[3];
    int32_t *coefficients[3];
    int16_t *narrow[3]; /* in place of `coefficients`, if not NULL */
    int32_t threads, long_length;
} tsr_dirac_slices;

/* *fits 0: coefficients of `narrow` leave 16 bits. Decodes slices [first, first + count) in raster order from `bits`, which is left behind the
 * last one. What lies beyond the end of the data is 0; *whole is the number of slices that were there. `starts`: room for count + 1 positions. */
tsr_status tsr_dirac_slices_decode(const tsr_dirac_slices *s, tsr_bits *bits, int64_t first, int64_t count, int64_t *starts, int64_t *whole,
                                   int *fits);
/* Where each of slices [first, first + count) begins, in bytes from `bits`, which begin at a byte; *whole of them are there. */
void tsr_dirac_slices_find(const tsr_dirac_transform *transform, const tsr_bits *bits, int64_t first, int64_t count, uint32_t *starts,
                           int64_t *whole);
/* Of luma and chroma bands. */
void tsr_dirac_slices_steps(const tsr_dirac_transform *transform, const tsr_dirac_layout *const layout[3],
                            tsr_dirac_steps steps[2][TSR_DIRAC_LEVELS + 1][4]);
/* Adds the prediction to the approximation of every component, after all slices of a low-delay picture. */
void tsr_dirac_predict_approximation(int32_t *coefficients, const tsr_dirac_layout *layout);

#endif
