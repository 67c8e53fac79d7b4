/* video/dirac/filters.h: the wavelets by their index in a stream. */
#ifndef TSR_VIDEO_DIRAC_FILTERS_H
#define TSR_VIDEO_DIRAC_FILTERS_H

#include "tessera/wavelet.h"

enum { TSR_DIRAC_LEGALL = 1, TSR_DIRAC_HAAR_PLAIN = 3, TSR_DIRAC_FIDELITY = 5, TSR_DIRAC_FILTERS = 7 };

static const struct tsr_dirac_filter {
    tsr_wavelet_filter filter;
    int32_t shift; /* accuracy bits of a level */
} tsr_dirac_filters[TSR_DIRAC_FILTERS] = {
    { TSR_WAVELET_DD97, 1 }, { TSR_WAVELET_LEGALL53, 1 }, { TSR_WAVELET_DD137, 1 },  { TSR_WAVELET_HAAR, 0 },
    { TSR_WAVELET_HAAR, 1 }, { TSR_WAVELET_FIDELITY, 0 }, { TSR_WAVELET_DAUB97, 1 },
};

#endif
