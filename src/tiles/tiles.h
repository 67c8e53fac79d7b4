/* tiles/tiles.h: the inside of a sorted tile list (host part). */
#ifndef TSR_TILES_TILES_H
#define TSR_TILES_TILES_H

#include "tiles/tile_pool.h"
#include "tiles/tiles_ops.h"
#include "tessera/tiles.h"

struct tsr_tiles {
    tsr_context *context;
    tsr_geometry geometry;
    tsr_tile_pool pool;
    int64_t bytes, memory_limit;
    int64_t scratch_words;
    int64_t wished;     /* capacity of the options: trimming leaves it */
    int32_t seen;       /* entries when trimming last looked */
    int32_t short_keys; /* made from a list of 32-bit keys: tsr_tiles_take_after */
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

/* Keys of the first `count` entries of list 0 or 1, widened. */
tsr_status tsr_tiles_get_keys(const tsr_tiles *tiles, int32_t list, int64_t count, uint64_t *keys);
/* Sets the keys of a new list whose ids are 2, 3, ...: entries of list 0, its end, and those of the ids. Of 32 bits: in their box. */
tsr_status tsr_tiles_put_keys(tsr_tiles *tiles, const uint64_t *keys, int64_t count);
/* First tile of a box of 32-bit keys round these tiles, for a bounded pool round its domain. TSR_ERROR_CAPACITY if it does not hold them; `name` begins
 * the message. */
tsr_status tsr_tiles_key_box(const tsr_tile_pool *pool, const uint64_t *keys, int64_t count, const char *name, uint64_t *first);
/* An EMPTY list of 32-bit keys lays their box round the tiles it is about to get; a list of 64-bit keys stays as it is. */
tsr_status tsr_tiles_place_box(tsr_tiles *tiles, const uint64_t *keys, int64_t count, const char *name);
/* TSR_ERROR_ARGUMENT unless 0, 32 or 64. */
tsr_status tsr_tiles_check_key_bits(int32_t bits);
/* The content in new arrays with room for `capacity` (0 = as tsr_tiles_compact says) and keys of another box (0 = 64 bits) that holds it. */
tsr_status tsr_tiles_rebuild(tsr_tiles *tiles, int64_t capacity, uint64_t key_first);
/* The end of an operation that makes a list of others: 32-bit keys if they have such and the box holds it. */
tsr_status tsr_tiles_take_after(tsr_tiles *tiles);

/* Sorts host keys and drops repeated ones; returns how many are left. */
int64_t tsr_keys_sort_unique(uint64_t *keys, int64_t count);

#endif
