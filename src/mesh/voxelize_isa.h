/* mesh/voxelize_isa.h: what is built per SIMD variant of mesh to level set. */
#ifndef TSR_MESH_VOXELIZE_ISA_H
#define TSR_MESH_VOXELIZE_ISA_H

#include "device/isa.h"
#include "mesh/voxelize_math.h"

/* Box of the corners of the triangles [begin, end), local; returns how many rows of tiles meet their boxes, about. */
TSR_ISA_DECLARE(int64_t, tsr_vox_survey, const tsr_vox_grid *g, int64_t begin, int64_t end, double lower[3], double upper[3])
/* Frames of the triangles [begin, end) and how many tiles each touches: g->triangle, few, count. Adds the numbers of their edges to *edges; returns how many
 * are degenerate. */
TSR_ISA_DECLARE(int64_t, tsr_vox_frames, const tsr_vox_grid *g, int64_t begin, int64_t end, uint64_t *edges)
/* square[edge^3] = squared distance of every voxel of the tile to the nearest of the triangles, at most reach^2. With `through` (room for count, may be owner): the
 * triangles that may cross its rows; returns their number. */
TSR_ISA_DECLARE(int64_t, tsr_vox_tile, const tsr_vox_grid *g, const int32_t tile[3], const uint32_t *owner, int64_t count, float *square,
                uint32_t *through)
/* Adds the crossings of the triangles with the rows of the tile to winding[edge^3]: each counts from its voxel to the end of the row. */
TSR_ISA_DECLARE(void, tsr_vox_rows, const tsr_vox_grid *g, const int32_t tile[3], const uint32_t *owner, int64_t count, int32_t *winding)
/* winding[edge^3], the crossings of every voxel of the tile, become its tsr_vox_turn. */
TSR_ISA_DECLARE(void, tsr_vox_turns, const tsr_vox_grid *g, const int32_t tile[3], int32_t *winding)
/* Squared distances in `field` become the signed field, in `other` too; winding counts if `closed`. */
TSR_ISA_DECLARE(void, tsr_vox_sign, const tsr_vox_grid *g, const int32_t *winding, int closed, int32_t voxels, float *field, float *other)

#endif
