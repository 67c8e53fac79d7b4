/* vision/lens_warp.h: lenses made ready for the backends, and what they do to images. */
#ifndef TSR_VISION_LENS_WARP_H
#define TSR_VISION_LENS_WARP_H

#include "camera/lens.h"
#include "core/core.h"
#include "vision/lens_math.h"

#endif
