/* video/dirac/closed_loop.h: the approximation of intra and low-delay pictures as an encoder has it: predicted from what a decoder will have. */
#ifndef TSR_VIDEO_DIRAC_CLOSED_LOOP_H
#define TSR_VIDEO_DIRAC_CLOSED_LOOP_H

#include "video/dirac/layout.h"
#include "video/dirac/quantiser.h"

/* The difference of `value` at (x, y) from its prediction; *quantised is what is coded of it, and `here`, in rows of `stride`, becomes what a decoder
 * makes of that. */
TSR_HD int32_t tsr_dirac_close_loop(int32_t value, int32_t *here, int64_t stride, int32_t x, int32_t y, uint64_t scale, tsr_quantiser q,
                                    int32_t *quantised)
{
    const int32_t prediction = tsr_dirac_neighbours_mean(here, stride, x, y), difference = value - prediction;
    const int32_t magnitude = (int32_t)tsr_quantiser_magnitude(scale, difference);
    *quantised = difference < 0 ? -magnitude : magnitude;
    *here = prediction + tsr_quantiser_inverse(q, *quantised);
    return difference;
}

#endif
