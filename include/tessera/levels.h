/* tessera/levels.h: pyramids of reductions: sums, minima, maxima and averages (mip-maps) of a volume, all levels, on the device.
 *
 * Cell (x, y, z) of level l + 1 is made of the cells 2 x .. 2 x + 1, 2 y .. 2 y + 1, 2 z .. 2 z + 1 of level l, of those there are: so it covers 2^l voxels along each axis,
 * fewer at the upper ends of odd extents, and nothing is padded. Levels go on until one cell is left. Elements combine in one order, pairs along x, then y, then
 * z, so that sums of floats have the same bits on every backend and with any number of threads: class exact. Work: an N^3 volume is read once, all levels
 * above together are 1/7 of it (1/3 in two dimensions, as much again in one).
 * Source: data pyramid reduction, docs/theory/foundations.md 3. */
#ifndef TESSERA_LEVELS_H
#define TESSERA_LEVELS_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_levels tsr_levels;

typedef enum tsr_level_rule {
    TSR_LEVEL_AVERAGE = 0, /* f64: exact sums over how many voxels there are, both kept; NaN where there are none */
    TSR_LEVEL_SUM,         /* u64 or i64 (which wrap) of integers, f64 of floats; 0 where there are none */
    TSR_LEVEL_MIN,         /* the volume's own type; NaN is left out. Where there is nothing: the largest value of the type, infinity of floats */
    TSR_LEVEL_MAX          /* likewise, the smallest */
} tsr_level_rule;

/* Room for the levels of volumes of this size and type on the context's device, 1 to tsr_levels_count. RETURNS NEW. Device memory: about 8/7 byte a voxel for sums
 * of a volume of three dimensions, 24/7 for averages, 1/7 of the volume for MIN and MAX. TSR_ERROR_ARGUMENT for an unknown rule or type, sizes below 1. */
TSR_API tsr_status tsr_levels_create(tsr_context *context, tsr_size3 size, tsr_dtype dtype, tsr_level_rule rule, tsr_levels **levels) TSR_CHECKED;
TSR_API void tsr_levels_destroy(tsr_levels **levels);

/* Queues the levels of the volume's stored values; allocates nothing and does not wait. `mask` (u8, of the same size; NULL: none) is 0 at voxels that count for nothing. Both
 * are BORROWED and live on the context's device (keep them until tsr_context_synchronize). TSR_ERROR_ARGUMENT for another size or type. */
TSR_API tsr_status tsr_levels_build(tsr_levels *levels, const tsr_volume *volume, const tsr_volume *mask) TSR_CHECKED;

TSR_API int32_t tsr_levels_count(const tsr_levels *levels); /* the last is one cell; 0 for a single voxel, which is its own pyramid */
/* Level 1 to count (2^level voxels a cell), device memory, with the geometry of its cells' centres; levels but of SUM have the scaling of the volume that was built last.
 * RETURNS VIEW, overwritten by the next build; NULL outside. */
TSR_API const tsr_volume *tsr_levels_volume(const tsr_levels *levels, int32_t level);
/* How many voxels each cell of an AVERAGE has (u64). RETURNS VIEW; NULL for other rules. */
TSR_API const tsr_volume *tsr_levels_voxels(const tsr_levels *levels, int32_t level);

#ifdef __cplusplus
}
#endif
#endif
