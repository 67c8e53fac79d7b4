/* camera/depth.h: depth encodings made ready. */
#ifndef TSR_CAMERA_DEPTH_H
#define TSR_CAMERA_DEPTH_H

#include "camera/depth_math.h"
#include "core/core.h"

tsr_status tsr_depth_code_make(const char *what, const tsr_camera *camera, const tsr_depth_encoding *encoding, tsr_depth_code *code) TSR_CHECKED;

#endif
