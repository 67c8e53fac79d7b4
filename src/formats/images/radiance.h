/* formats/images/radiance.h: pictures in Radiance's RGBE format. */
#ifndef TSR_FORMATS_RADIANCE_H
#define TSR_FORMATS_RADIANCE_H

#include "io/stream.h"

/* New memory in *rgb, [height][width][3] linear light; free(). */
tsr_status tsr_radiance_read(tsr_input *input, float **rgb, int32_t *width, int32_t *height) TSR_CHECKED;

#endif
