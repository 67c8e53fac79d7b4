/* vision/lens.h: lenses made ready for the backends. */
#ifndef TSR_VISION_LENS_H
#define TSR_VISION_LENS_H

#include "core/core.h"
#include "vision/lens_math.h"

/* Checks that all numbers are finite and moderate; `where` begins the message. */
tsr_status tsr_lens_map_make(const char *where, const tsr_lens *lens, int32_t width, int32_t height, double scale, tsr_lens_map *map);

#endif
