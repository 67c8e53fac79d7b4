/* grid/tiles.h: the inside of a sorted tile list (host part). */
#ifndef TSR_GRID_TILES_H
#define TSR_GRID_TILES_H

#include "grid/tile_pool.h"
#include "grid/tiles_ops.h"
#include "tessera/tiles.h"

struct tsr_tiles {
    tsr_context *context;
    tsr_geometry geometry;
    tsr_tile_pool pool;
    int64_t bytes, memory_limit;
    int64_t scratch_words;
    int64_t wished; /* capacity of the options: trimming leaves it */
    int32_t seen;   /* entries when trimming last looked */
};

/* Downloads pool.state. Waits for the queue. */
tsr_status tsr_tiles_read_state(const tsr_tiles *tiles, tsr_tile_state *state);
/* Room for at least `capacity` ids: moves to larger arrays, contents kept. TSR_ERROR_CAPACITY beyond the memory limit (says how much is needed). */
tsr_status tsr_tiles_reserve(tsr_tiles *tiles, int64_t capacity);
/* Gives back room that a list of some size no longer uses, if that is worth a copy: half the usual spare where it has not grown since the last call,
 * else twice as much as is usual.
 * `state` as just read, managed. *trimmed: ids have changed. Without memory for the copy everything stays as it is. */
tsr_status tsr_tiles_trim(tsr_tiles *tiles, const tsr_tile_state *state, int *trimmed);
/* Allocates the payload array (once). */
tsr_status tsr_tiles_need_payload(tsr_tiles *tiles);
/* Allocates phi[2], its static tiles filled (once). */
tsr_status tsr_tiles_need_stage(tsr_tiles *tiles);
/* Allocates the ages, all 0 (once). */
tsr_status tsr_tiles_need_age(tsr_tiles *tiles);
/* TSR_ERROR_UNSUPPORTED if the list is coded; `what` begins the message. */
tsr_status tsr_tiles_need_f32(const tsr_tiles *tiles, const char *what);
/* Runs management until it needs no more ids; grows when short. */
tsr_status tsr_tiles_manage(tsr_tiles *tiles);
/* Applies spheres: inserts the tiles they meet, paints, prunes. Sphere centres and radii as in tsr_tiles_sphere. */
tsr_status tsr_tiles_paint(tsr_tiles *tiles, const tsr_tiles_sphere *spheres, int32_t count);

/* Sorts host keys and drops repeated ones; returns how many are left. */
int64_t tsr_keys_sort_unique(uint64_t *keys, int64_t count);

#endif
