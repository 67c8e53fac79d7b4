/* vision/textures/textures_isa.h: loops over texels and triangles, a variant per instruction set. Class exact. */
#ifndef TSR_VISION_TEXTURES_TEXTURES_ISA_H
#define TSR_VISION_TEXTURES_TEXTURES_ISA_H

#include "device/isa.h"
#include "vision/textures/textures_math.h"

/* Faces [begin, end) of [cameras][triangles]. */
TSR_ISA_DECLARE(void, tsr_texture_make_faces, const tsr_texture_job *job, int64_t begin, int64_t end)
/* All triangles into rows [from, to) of the depth map of camera c. */
TSR_ISA_DECLARE(void, tsr_texture_draw_band, const tsr_texture_job *job, int32_t c, int32_t from, int32_t to)
/* Rows [begin, end) of [cameras][height] of textures and masks. */
TSR_ISA_DECLARE(void, tsr_texture_make_rows, const tsr_texture_job *job, int64_t begin, int64_t end)

#endif
