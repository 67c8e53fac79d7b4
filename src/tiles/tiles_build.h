/* tiles/tiles_build.h: a list taken apart and put together again on any device: what files, copies out of other structures and the undo of
 * editors need. */
#ifndef TSR_TILES_TILES_BUILD_H
#define TSR_TILES_TILES_BUILD_H

#include "tiles/tiles.h"

/* Everything but the values. Arrays are host memory. */
typedef struct tsr_tiles_frame {
    tsr_geometry geometry;
    tsr_tiles_options options; /* edge, index, domain, band, memory_limit */
    int32_t background;        /* TSR_TILE_OUTSIDE or TSR_TILE_INSIDE: what an empty list means */
    int64_t count;
    int64_t inside_absent;  /* voxels of absent tiles that are INSIDE; -1 = work it out */
    const uint64_t *keys;   /* [count] strictly increasing */
    const uint32_t *inside; /* [count] bit d: no tile in direction d, and it is INSIDE */
} tsr_tiles_frame;

/* A new list with ids 2.. in list order, neighbours and page table; its values come by tsr_tiles_put, then tsr_tiles_complete. `name` stands in
 * messages (a file). TSR_ERROR_FORMAT for keys out of order or out of range and for signs of tiles that are stored. */
tsr_status tsr_tiles_begin(tsr_context *context, const tsr_tiles_frame *frame, const char *name, tsr_tiles **tiles);
/* Where the values of entry `first` and the following lie if the host may write them (the current buffer of a new list; the other one holds
 * anything until a step writes it, and pages that nobody writes cost nothing), else NULL. */
float *tsr_tiles_direct(const tsr_tiles *tiles, int64_t first);
/* Values of the entries [first, first + count), from host memory. */
tsr_status tsr_tiles_put(tsr_tiles *tiles, int64_t first, int64_t count, const float *values);
/* Activity and counts from the values. manage != 0: also a management pass, for values that come from elsewhere. */
tsr_status tsr_tiles_complete(tsr_tiles *tiles, int manage);

/* Host copies of a list without its values: keys, ids and signs as in the frame. Free with tsr_tiles_parts_free. */
typedef struct tsr_tiles_parts {
    tsr_tile_state state;
    int64_t count;
    uint64_t *keys;
    uint32_t *ids, *inside;
} tsr_tiles_parts;
/* Where management passes have counted less than no absent inside (whose space has no end, or whose signs contradict each other), it is counted anew;
 * TSR_ERROR_STATE, naming a tile, if signs contradict each other. */
tsr_status tsr_tiles_take_apart(const tsr_tiles *tiles, tsr_tiles_parts *parts);
void tsr_tiles_parts_free(tsr_tiles_parts *parts);
/* Values of the entries [first, first + count) in list order. RETURNS VIEWS of the list where the host can read it (tile[i] points into the
 * pool), else copies into `memory` [count][edge^3] and points there. */
tsr_status tsr_tiles_get(const tsr_tiles *tiles, const tsr_tiles_parts *parts, int64_t first, int64_t count, float *memory, const float **tile);
int tsr_tiles_host_readable(const tsr_tiles *tiles);

/* All that the other functions take for granted: entries in order, each with an id of its own; neighbours linked to each other; no two tiles of different opinion on
 * the absent tile between them; values within the band; counts as they are. TSR_ERROR_STATE names what is wrong; `name` begins the message. For tests and debug
 * builds: it sorts up to 26 words a tile on the host. TSR_ERROR_UNSUPPORTED for 16-bit values. */
tsr_status tsr_tiles_check_whole(const tsr_tiles *tiles, const char *name);
/* The end of an operation on lists that were whole (in debug builds, of up to some thousand tiles; `whole` of the operands): TSR_ERROR_INTERNAL if its result is not. */
int tsr_tiles_is_whole(const tsr_tiles *tiles);
#ifdef NDEBUG
#define TSR_TILES_WERE_WHOLE(tiles) 0
#define TSR_TILES_ARE_WHOLE(were, tiles, name) ((void)(were), TSR_OK)
#else
#define TSR_TILES_WERE_WHOLE(tiles) tsr_tiles_is_whole(tiles)
#define TSR_TILES_ARE_WHOLE(were, tiles, name) tsr_tiles_still_whole(were, tiles, name)
#endif
tsr_status tsr_tiles_still_whole(int were, const tsr_tiles *tiles, const char *name);

/* No two tiles that know an absent one hold it for different constants, and none is different from what the other end of its row says. */
tsr_status tsr_tiles_check_signs(const tsr_tile_pool *pool, const tsr_tiles_parts *parts, const char *name);
/* Inside voxels of absent tiles by the signs; rows[id] as in the pool, on the host. */
int64_t tsr_tiles_count_absent(const tsr_tile_pool *pool, const tsr_tiles_parts *parts, const uint32_t *rows);

#endif
