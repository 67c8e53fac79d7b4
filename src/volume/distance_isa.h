/* volume/distance_isa.h: the distance transform of 16 columns side by side, compiled per SIMD variant (distance_isa.c). */
#ifndef TSR_VOLUME_DISTANCE_ISA_H
#define TSR_VOLUME_DISTANCE_ISA_H

#include "device/isa.h"
#include "volume/distance_line.h"

enum { TSR_DISTANCE_COLUMNS = 16 }; /* one cache line of float32 */

/* What tsr_distance_transform_line gives for weight 1 and core 0, of 16 lines with element i of line c at [16 i + c]: by looking outward from each voxel as far
 * as a parabola can lie below the best. The same bits where all finite squares are whole numbers and sums stay below 2^24. */
TSR_ISA_DECLARE(void, tsr_distance_outward_columns, const float *in, float *out, int32_t n, const tsr_distance_finish *finish)

#endif
