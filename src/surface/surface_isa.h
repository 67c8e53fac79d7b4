/* surface/surface_isa.h: loops of surface_isa.c, dense_isa.c and tiles_isa.c, one set per SIMD variant. */
#ifndef TSR_SURFACE_SURFACE_ISA_H
#define TSR_SURFACE_SURFACE_ISA_H

#include "device/isa.h"
#include "surface/cells.h"
#include "surface/tracker_math.h"

/* Rows [begin, end) of the volume, numbered z * size[1] + y with the pad. Returns the NaN samples. */
TSR_ISA_DECLARE(int64_t, tsr_surface_rows, const tsr_surface_grid *grid, int64_t begin, int64_t end)
/* Words [begin, end) of a tile list, whole tiles' worth of 32 samples. Returns the NaN samples. */
TSR_ISA_DECLARE(int64_t, tsr_surface_tile_rows, const tsr_surface_grid *grid, int64_t begin, int64_t end)
/* Blocks [begin, end) of a volume: prefix, busy, block_sum, and their vertices into the store. */
TSR_ISA_DECLARE(void, tsr_surface_count_dense, const tsr_surface_grid *grid, int64_t begin, int64_t end, int32_t worker)
/* The same of a tile list. Returns != 0 if a cell is torn. */
TSR_ISA_DECLARE(int, tsr_surface_count_tiles, const tsr_surface_grid *grid, int64_t begin, int64_t end)
/* Entries [begin, end) of the list of active blocks of a volume, of a tile list. */
TSR_ISA_DECLARE(void, tsr_surface_emit_dense, const tsr_surface_grid *grid, const tsr_surface_output *output, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_surface_emit_tiles, const tsr_surface_grid *grid, const tsr_surface_output *output, int64_t begin, int64_t end)
/* Tiles [begin, end) of a choice, of a grid by id. */
TSR_ISA_DECLARE(int, tsr_surface_count_some, const tsr_surface_grid *grid, const tsr_surface_some *some, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_surface_emit_some, const tsr_surface_grid *grid, const tsr_surface_some *some, const tsr_surface_output *output,
                int64_t begin, int64_t end)

#endif
