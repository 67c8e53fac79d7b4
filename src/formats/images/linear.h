/* formats/images/linear.h: pictures of linear light. */
#ifndef TSR_FORMATS_LINEAR_H
#define TSR_FORMATS_LINEAR_H

#include "volume/image.h"

/* Colours that a volume of channels begins with: 3, 1 (grey) or 0 (it is no picture). */
int32_t tsr_linear_colours(const tsr_volume *volume);
/* Colours, and alpha where there are 4 channels, of a host volume of f32 as 8 bits with the curve of sRGB; says so. */
tsr_status tsr_linear_image(const tsr_volume *volume, const char *name, tsr_image *image);

#endif
