/* surface/store.h: room in arrays that are kept tile by tile, given in runs of pieces (a piece: some elements, as many as the user says). Runs given back
 * are kept by length and taken again. Host only. */
#ifndef TSR_SURFACE_STORE_H
#define TSR_SURFACE_STORE_H

#include <stdlib.h>

#include "core/status.h"

enum { TSR_STORE_CLASSES = 162 }; /* longest run: 161 pieces */
#define TSR_STORE_NOWHERE UINT32_MAX

typedef struct tsr_store {
    uint32_t *next; /* [room] of the runs given back, a list through their first pieces */
    int64_t room, used, idle;
    uint32_t head[TSR_STORE_CLASSES];
} tsr_store;

static inline void tsr_store_empty(tsr_store *s)
{
    s->used = s->idle = 0;
    for (int k = 0; k < TSR_STORE_CLASSES; k++) s->head[k] = TSR_STORE_NOWHERE;
}
static inline void tsr_store_drop(tsr_store *s)
{
    free(s->next);
    s->next = NULL;
    s->room = 0;
    tsr_store_empty(s);
}

/* A run of `pieces` (> 0) pieces of `size` elements, fewer than 2^32 of which there may be. */
static inline tsr_status tsr_store_take(tsr_store *s, uint32_t pieces, int32_t size, const char *what, uint32_t *at)
{
    if (s->head[pieces] != TSR_STORE_NOWHERE) {
        *at = s->head[pieces];
        s->head[pieces] = s->next[*at];
        s->idle -= pieces;
        return TSR_OK;
    }
    if (s->used + pieces > (int64_t)UINT32_MAX / size) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s with their gaps: extract the list", what);
    if (s->used + pieces > s->room) {
        int64_t room = 2 * (s->used + pieces) > 1024 ? 2 * (s->used + pieces) : 1024;
        uint32_t *grown = (uint32_t *)realloc(s->next, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for the places of %lld pieces", (long long)room);
        s->next = grown;
        s->room = room;
    }
    *at = (uint32_t)s->used;
    s->used += pieces;
    return TSR_OK;
}
static inline void tsr_store_give(tsr_store *s, uint32_t at, uint32_t pieces)
{
    if (!pieces) return;
    s->next[at] = s->head[pieces];
    s->head[pieces] = at;
    s->idle += pieces;
}
static inline int tsr_store_mostly_idle(const tsr_store *s) { return s->idle > 64 && s->idle > s->used / 2; }

#endif
