/* camera/lens.h: lenses checked and made ready for the backends. */
#ifndef TSR_CAMERA_LENS_H
#define TSR_CAMERA_LENS_H

#include "camera/lens_model.h"
#include "core/core.h"

/* Checks that all numbers are finite and moderate; `where` begins the message. */
tsr_status tsr_lens_map_make(const char *where, const tsr_lens *lens, int32_t width, int32_t height, double scale, tsr_lens_map *map);
tsr_status tsr_lens_check(const char *where, const tsr_lens *lens);

#endif
