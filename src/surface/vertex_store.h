/* surface/vertex_store.h: vertices that the CPU makes while it counts, kept until the mesh is there.
 *
 * Their number is known only when all sides are, but their samples are near when the sides are read: made then, the volume passes once.
 * Every worker appends to an arena of its own, in pieces of a fixed size; a block of words remembers where its vertices begin. */
#ifndef TSR_SURFACE_VERTEX_STORE_H
#define TSR_SURFACE_VERTEX_STORE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TSR_STORE_WORKERS = 256, TSR_STORE_PIECE = 1 << 15, TSR_STORE_SHIFT = 40 };

typedef struct tsr_vertex_arena {
    float **piece; /* [pieces][TSR_STORE_PIECE][floats]: positions, then normals if there are any */
    int64_t pieces, room, count;
    int32_t floats; /* per vertex: 3 or 6 */
    int32_t failed; /* out of memory */
    char apart[24]; /* one cache line each */
} tsr_vertex_arena;

typedef struct tsr_vertex_store {
    tsr_vertex_arena arena[TSR_STORE_WORKERS];
} tsr_vertex_store;

/* Where the next vertex of a worker will lie. */
static inline uint64_t tsr_store_place(int32_t worker, int64_t count) { return (uint64_t)worker << TSR_STORE_SHIFT | (uint64_t)count; }

static inline void tsr_store_destroy(tsr_vertex_store **store)
{
    for (int k = 0; *store && k < TSR_STORE_WORKERS; k++) {
        for (int64_t p = 0; p < (*store)->arena[k].pieces; p++) free((*store)->arena[k].piece[p]);
        free((*store)->arena[k].piece);
    }
    free(*store);
    *store = NULL;
}

/* An empty store: a new one, or the one there is with the pieces it has. Returns 0 if memory is out. */
static inline int tsr_store_begin(tsr_vertex_store **store, int32_t floats)
{
    if (*store && (*store)->arena[0].floats != floats) tsr_store_destroy(store);
    if (!*store) *store = (tsr_vertex_store *)calloc(1, sizeof **store);
    for (int k = 0; *store && k < TSR_STORE_WORKERS; k++) {
        (*store)->arena[k].floats = floats;
        (*store)->arena[k].count = 0;
        (*store)->arena[k].failed = 0;
    }
    return *store != NULL;
}

static inline int tsr_store_grow(tsr_vertex_arena *a)
{
    if (a->pieces == a->room) {
        int64_t room = a->room ? 2 * a->room : 16;
        float **piece = (float **)realloc(a->piece, (size_t)room * sizeof *piece);
        if (!piece) return 0;
        a->piece = piece;
        a->room = room;
    }
    a->piece[a->pieces] = (float *)malloc((size_t)TSR_STORE_PIECE * (size_t)a->floats * sizeof(float));
    a->pieces += a->piece[a->pieces] != NULL;
    return a->count < a->pieces * TSR_STORE_PIECE;
}

/* Where n vertices without normals can be written at once, or NULL: then tsr_store_append. The count is the caller's to raise. */
static inline float *tsr_store_room(tsr_vertex_arena *a, int64_t n)
{
    const int64_t at = a->count % TSR_STORE_PIECE;
    if (a->floats != 3 || a->failed || a->count == a->pieces * TSR_STORE_PIECE || n > TSR_STORE_PIECE - at) return NULL;
    return a->piece[a->count / TSR_STORE_PIECE] + 3 * at;
}

/* Appends n vertices; normals NULL if the arena has none. Out of memory: nothing, and says so once and for all. */
static inline void tsr_store_append(tsr_vertex_arena *a, const float *vertices, const float *normals, int64_t n)
{
    for (int64_t done = 0, part; done < n && !a->failed; done += part, a->count += part) {
        int64_t at = a->count % TSR_STORE_PIECE;
        if (a->count == a->pieces * TSR_STORE_PIECE && !tsr_store_grow(a)) {
            a->failed = 1;
            return;
        }
        float *to = a->piece[a->count / TSR_STORE_PIECE];
        part = n - done < TSR_STORE_PIECE - at ? n - done : TSR_STORE_PIECE - at;
        memcpy(to + 3 * at, vertices + 3 * done, (size_t)part * 3 * sizeof(float));
        if (normals) memcpy(to + 3 * (TSR_STORE_PIECE + at), normals + 3 * done, (size_t)part * 3 * sizeof(float));
    }
}

static inline void tsr_store_take(const tsr_vertex_store *s, uint64_t place, int64_t n, float *vertices, float *normals)
{
    const tsr_vertex_arena *a = &s->arena[place >> TSR_STORE_SHIFT];
    int64_t from = (int64_t)(place & (((uint64_t)1 << TSR_STORE_SHIFT) - 1));
    for (int64_t done = 0, part; done < n; done += part, from += part) {
        int64_t at = from % TSR_STORE_PIECE;
        const float *piece = a->piece[from / TSR_STORE_PIECE];
        part = n - done < TSR_STORE_PIECE - at ? n - done : TSR_STORE_PIECE - at;
        memcpy(vertices + 3 * done, piece + 3 * at, (size_t)part * 3 * sizeof(float));
        if (normals) memcpy(normals + 3 * done, piece + 3 * (TSR_STORE_PIECE + at), (size_t)part * 3 * sizeof(float));
    }
}

static inline int64_t tsr_store_bytes(const tsr_vertex_store *s)
{
    int64_t bytes = (int64_t)sizeof *s;
    for (int k = 0; k < TSR_STORE_WORKERS; k++) bytes += s->arena[k].pieces * TSR_STORE_PIECE * s->arena[k].floats * (int64_t)sizeof(float);
    return bytes;
}

#endif
