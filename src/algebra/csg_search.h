/* algebra/csg_search.h: which tiles a surface meets, found by halving boxes whose distance from it is known (host). */
#ifndef TSR_ALGEBRA_CSG_SEARCH_H
#define TSR_ALGEBRA_CSG_SEARCH_H

#include "algebra/csg.h"

typedef struct tsr_tile_search {
    const tsr_tiles *list; /* that the tiles are for: their spacing and edge; more than its memory holds are refused */
    const char *name;      /* what messages call the surface */
    const void *surface;
    float (*least)(const void *surface, const float x[3]); /* no more than the distance of x from the surface */
    float reach;                                           /* from the surface to where a tile must be stored */
    int64_t first[3], last[3];                             /* tiles that are searched */
    uint64_t *keys;                                        /* found, sorted (malloc; the caller frees them) */
    int64_t count;
    int64_t most;         /* the search's own from here: tsr_tiles_most(list) */
    int64_t low[3], room; /* the cube around first and last, of 2^level tiles */
    int level, leaf;      /* what is looked for: cubes of 2^leaf tiles */
} tsr_tile_search;

/* How many tiles the memory there is for a list like this one can hold at most: their values alone fill it. */
int64_t tsr_tiles_most(const tsr_tiles *tiles);
/* TSR_ERROR_CAPACITY: `name` has more than those. */
tsr_status tsr_tiles_too_many(const tsr_tiles *tiles, const char *name);

/* Fills in keys and count. Cost linear in the surface within the box. */
tsr_status tsr_search_tiles(tsr_tile_search *search, int threads);
/* The middle of a cube of 2^level tiles, in world units. */
void tsr_tiles_middle(const tsr_tile_pool *pool, const int64_t at[3], int level, float x[3]);

#endif
