/* video/dirac/layout.h: where the sub-bands of a component lie, in the nested order of the wavelet plans: the approximation in the corner. */
#ifndef TSR_VIDEO_DIRAC_LAYOUT_H
#define TSR_VIDEO_DIRAC_LAYOUT_H

#include "video/dirac/syntax.h"

typedef struct tsr_dirac_band {
    int64_t offset; /* elements; rows are layout.stride apart */
    int32_t width, height;
} tsr_dirac_band;

typedef struct tsr_dirac_layout {
    int32_t width, height;         /* of the component */
    int32_t stride, padded_height; /* of its coefficients, multiples of what the levels halve */
    tsr_dirac_band band[TSR_DIRAC_LEVELS + 1][4];
} tsr_dirac_layout;

static inline int64_t tsr_dirac_layout_elements(const tsr_dirac_layout *l) { return (int64_t)l->stride * l->padded_height; }

void tsr_dirac_layout_make(const tsr_dirac_transform *t, int32_t width, int32_t height, tsr_dirac_layout *layout);

#endif
