/* surface/follow.h: which tiles of a list changed since the last look: for whatever is kept tile by tile, triangles (tracker.c) or records
 * (render/records_track.c). Device work is one look at the keys of the list and the values within a region; the host only hears of tiles that changed
 * and of those around them. */
#ifndef TSR_SURFACE_FOLLOW_H
#define TSR_SURFACE_FOLLOW_H

#include "tiles/tiles.h"
#include "surface/surface_ops.h"

typedef struct tsr_follow {
    tsr_context *context;
    tsr_geometry geometry; /* of the list of the last look */
    int32_t log2_edge;     /* 0: no list */
    float band;
    int64_t capacity; /* ids there is room for */
    void *memory;
    size_t bytes;
    uint64_t *key, *sum; /* device, [capacity] */
    uint8_t *marks;      /* device, [3][capacity] */
    uint32_t *found;     /* device, [1 + capacity] how many, and TSR_TRACK_FOUND of them */
    uint32_t *words;     /* host, [1 + capacity] the same by rising id */
    uint8_t *kinds;      /* host, [capacity] 0 between calls */
    int64_t count;       /* found by the last look */
} tsr_follow;

void tsr_follow_drop(tsr_follow *follow);
/* Forgets everything and makes room for the ids of this list, none of which is known. */
tsr_status tsr_follow_begin(tsr_follow *follow, const tsr_tiles *tiles);
/* Is the list one of the kind that was followed? */
int tsr_follow_goes_on(const tsr_follow *follow, const tsr_tiles *tiles);
/* More ids of the same list; what is known moves along. */
tsr_status tsr_follow_grow(tsr_follow *follow, int64_t capacity);
/* Looks at a list of `look`: keys, ids, neighbours, phi and entries are the caller's, all else is filled in. `region` as of tsr_surface_update, wider by
 * `margin` tiles. Waits for the queue. */
tsr_status tsr_follow_look(tsr_follow *follow, tsr_surface_look *look, const tsr_surface_region *region, int32_t margin);

#endif
