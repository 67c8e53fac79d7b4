/* segment/segment_step.h: one tile of a step on the CPU, built once per SIMD variant. */
#ifndef TSR_SEGMENT_SEGMENT_STEP_H
#define TSR_SEGMENT_SEGMENT_STEP_H

#include "device/isa.h"
#include "tiles/tile_pool.h"
#include "segment/update.h"

enum { TSR_PLANE_MOST = 8 * 10 };

typedef struct tsr_step_totals {
    int64_t active, inside;
    uint64_t change;
    float speed; /* largest |speed| in the band */
} tsr_step_totals;

/* Updates the voxels of a tile of edge E (4 or 8) from its halo cube (tiles_halo.h, 64-byte aligned, TSR_CUBE_MOST floats) and speed [E][E][E] into
 * out [E][E][E]; voxels at or beyond `extent` keep the value out has. `area` [E][E+2] is the area bit (of the lowest plane) of every cell of a
 * plane from row 1 on, 0 for halo columns, beyond the extent and up to TSR_PLANE_MOST. Returns the activity word's area bits and adds to the totals. */
TSR_ISA_DECLARE(uint32_t, tsr_step_tile, int32_t E, const float *cube, const float *speed, const uint32_t *area, const int32_t extent[3], float dt,
                const tsr_segment_params *params, float *out, tsr_step_totals *totals)

#endif
