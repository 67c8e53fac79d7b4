/* vision/rig_edit/rig_edit_isa.h: a run of a pane's pixels in one camera's picture, built once per SIMD variant. */
#ifndef TSR_VISION_RIG_EDIT_ISA_H
#define TSR_VISION_RIG_EDIT_ISA_H

#include "device/isa.h"
#include "vision/rig_edit/rig_edit_shade.h"

/* Adds what the camera sees on the proxy. */
TSR_ISA_DECLARE(void, tsr_shade_row, const tsr_shade_camera *camera, const tsr_shade_path *path, const tsr_shade_run *run, tsr_shade_sum *sum)
/* Adds its picture as it is: places from (x, y) on, a `step` to the right each. */
TSR_ISA_DECLARE(void, tsr_shade_own, const tsr_shade_camera *camera, double x, double y, double step, int32_t count, tsr_shade_sum *sum)

#endif
