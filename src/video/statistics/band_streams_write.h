/* video/statistics/band_streams_write.h: quantised sub-bands to streams of rANS (video/statistics/band_streams.h). */
#ifndef TSR_VIDEO_STATISTICS_BAND_STREAMS_WRITE_H
#define TSR_VIDEO_STATISTICS_BAND_STREAMS_WRITE_H

#include "video/dirac/encoder/core_write.h"

/* All that follows the transform's parameters goes to w->whole. */
tsr_status tsr_statistics_write(tsr_dirac_core_writing *w);

#endif
