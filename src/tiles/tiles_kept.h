/* tiles/tiles_kept.h: lists as they once were, in host memory. One kept after another shares with it the pages of tiles that have not changed, so that a
 * history costs what changed and not a pool each. Linear in the tiles. */
#ifndef TSR_TILES_TILES_KEPT_H
#define TSR_TILES_TILES_KEPT_H

#include "tiles/tiles.h"

typedef struct tsr_tiles_kept tsr_tiles_kept;

/* RETURNS NEW: keys, signs and values of the list (F32). `before` (may be NULL): one of a list of the same edge, whose equal pages are shared; it may be
 * destroyed at any time. Waits for the list's device. Not for several threads that share pages. */
tsr_status tsr_tiles_kept_make(const tsr_tiles *tiles, const tsr_tiles_kept *before, tsr_tiles_kept **kept);
/* RETURNS NEW: the list, bit for bit in keys, signs and values; `capacity`: tiles to reserve. Ids are given anew in the order of the list. */
tsr_status tsr_tiles_restore(const tsr_tiles_kept *kept, tsr_context *context, int64_t capacity, tsr_tiles **tiles);
void tsr_tiles_kept_destroy(tsr_tiles_kept **kept);
/* Bytes of its own: a page that others share counts for one of its owners only in so far as it is divided among them. */
int64_t tsr_tiles_kept_bytes(const tsr_tiles_kept *kept);

#endif
