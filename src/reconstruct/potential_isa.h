/* reconstruct/potential_isa.h: the vector loops over the voxels of a block. */
#ifndef TSR_RECONSTRUCT_POTENTIAL_ISA_H
#define TSR_RECONSTRUCT_POTENTIAL_ISA_H

#include "device/isa.h"
#include "reconstruct/ball.h"
#include "reconstruct/potential.h"

enum { TSR_LIST_MOST = 128 };

/* sum[(z * 4 + y) * 4 + x] += terms of the nodes, in order. */
TSR_ISA_DECLARE(void, tsr_potential_list, const tsr_seen *nodes, int32_t count, const tsr_potential_params *params, float sum[TSR_BLOCK_VOXELS])
/* least[...] = min(least, distance from ball); count in tsr_seen is the radius, offsets in world units, `voxel` the spacing. */
TSR_ISA_DECLARE(void, tsr_ball_list, const tsr_seen *balls, int32_t count, float voxel, float least[TSR_BLOCK_VOXELS])
/* Attraction: gradient[axis][...] += the nodes' pull without the factor they share, and least[...] = min(least, squared distance + spread). Offsets in
 * the units of tsr_attract_params, `step` the spacings. */
TSR_ISA_DECLARE(void, tsr_attract_force_list, const tsr_seen *nodes, int32_t count, const tsr_potential_params *params, const float step[3],
                float gradient[3][TSR_BLOCK_VOXELS])
TSR_ISA_DECLARE(void, tsr_attract_near_list, const tsr_seen *nodes, int32_t count, const float step[3], float spread, float least[TSR_BLOCK_VOXELS])

#endif
