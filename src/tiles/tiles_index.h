/* tiles/tiles_index.h: an index of a list for many look-ups on the CPU: blocks of 8^3 tiles with the id of each, in a dense box. */
#ifndef TSR_TILES_TILES_INDEX_H
#define TSR_TILES_TILES_INDEX_H

#include "device/backend.h"
#include "tiles/tiles_sample.h"

typedef struct tsr_tile_index {
    uint32_t *block, *cell;
} tsr_tile_index;

/* Fills the index members of `finder`; leaves them NULL where the box of the list is too sparse for one or memory is short (then it searches).
 * Cost: one pass over the tiles and 2 KB for each block with a tile. */
void tsr_tile_index_build(tsr_tile_finder *finder, tsr_tile_index *index);
void tsr_tile_index_free(tsr_tile_index *index);

/* tiles_ops.sample of the CPU. */
tsr_status tsr_tiles_cpu_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_map *map, const float *positions, float *values,
                                int64_t count);

#endif
