/* surface/tracker_math.h: what a surface that follows a tile list looks at: did a tile change, and which tiles have triangles that this reaches.
 *
 * A tile is known by its key and a 64-bit sum over its values, each mixed with its place, and over which of its neighbours are constants: equal sums
 * of different tiles are as likely as 2^-64. The sum does not depend on the order, so that a warp may share it. */
#ifndef TSR_SURFACE_TRACKER_MATH_H
#define TSR_SURFACE_TRACKER_MATH_H

#include <string.h>

#include "core/mix.h"
#include "tiles/tile_pool.h"

enum { TSR_TRACK_STORED = 1, TSR_TRACK_CHANGED = 2, TSR_TRACK_GONE = 4 };

/* What a look finds of a tile, each including those after it: it is gone; its triangles use vertices by number that are made anew; it lies beside a
 * changed one; it changed. */
enum { TSR_FOUND_GONE = 0, TSR_FOUND_REACHED, TSR_FOUND_RING, TSR_FOUND_CHANGED, TSR_TRACK_KIND_BITS = 2, TSR_TRACK_KIND_MASK = 3 };
TSR_HD uint32_t tsr_track_found(uint32_t id, uint32_t kind) { return id << TSR_TRACK_KIND_BITS | kind; }

typedef struct tsr_surface_look {
    tsr_keys keys; /* the list */
    const uint32_t *ids, *neighbours;
    const float *phi;
    int64_t entries, capacity;
    int32_t log2_edge, everywhere;
    int32_t low[3], high[3]; /* tiles whose values may have changed, inclusive; not read if everywhere */
    uint64_t *key, *sum;     /* [capacity] as of the last look; TSR_KEY_END: no tile */
    uint8_t *state;          /* [capacity] TSR_TRACK bits; 0 at the start */
    uint8_t *ring, *reached; /* [capacity] 0 at the start: a changed tile and its neighbours; tiles whose triangles must be made anew */
    uint32_t *found;         /* [1 + capacity] how many, 0 at the start; tsr_track_found of each, in any order */
} tsr_surface_look;

typedef struct tsr_surface_some {
    int64_t count, gaps;
    const uint32_t *ids;     /* [count] */
    uint32_t *counts, *busy; /* [count]; [count][2] a bit per word that has something */
    const uint32_t *vertex;  /* [count] places of the first vertex and the first triangle */
    const uint64_t *triangle;
    const uint64_t (*gap)[2]; /* [gaps] triangles begin <= t < end that become empty before the others are written */
    uint32_t *torn;           /* != 0: a cut edge belongs to a tile that is not stored */
} tsr_surface_some;

TSR_HD uint64_t tsr_track_value(float value, int32_t voxel)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return tsr_mix64((uint64_t)(uint32_t)(voxel + 1) << 32 | bits);
}
/* Neighbours by kind: a stored one may take another id and is still the same. */
TSR_HD uint64_t tsr_track_neighbour(uint32_t id, int32_t direction)
{
    return tsr_mix64(((uint64_t)1 << 63) + 4 * (uint64_t)(uint32_t)direction + (id < TSR_TILE_FIRST ? id + 1 : 0));
}
/* Share of a tile's sum: the values first, first + step, ... and directions likewise. */
TSR_HD uint64_t tsr_track_sum(const tsr_surface_look *l, uint32_t id, int32_t first, int32_t step)
{
    const int32_t voxels = 1 << 3 * l->log2_edge;
    const float *phi = l->phi + ((int64_t)id << 3 * l->log2_edge);
    uint64_t sum = 0;
    for (int32_t v = first; v < voxels; v += step) sum += tsr_track_value(phi[v], v);
    for (int32_t d = first; d < TSR_TILE_DIRECTIONS; d += step) sum += tsr_track_neighbour(l->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d], d);
    return sum;
}
/* Must the values of this entry be looked at? */
TSR_HD int tsr_track_wanted(const tsr_surface_look *l, uint64_t key, uint32_t id)
{
    if (l->everywhere || l->key[id] != key) return 1;
    const int32_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    int32_t in = 1;
    for (int32_t k = 0; k < 3; k++) in &= at[k] >= l->low[k] && at[k] <= l->high[k];
    return in;
}
/* Keeps what was found; `sum` only counts where the entry was wanted. */
TSR_HD void tsr_track_keep(const tsr_surface_look *l, uint64_t key, uint32_t id, int wanted, uint64_t sum)
{
    int changed = wanted && (l->key[id] != key || l->sum[id] != sum);
    l->state[id] = (uint8_t)(TSR_TRACK_STORED | (changed ? TSR_TRACK_CHANGED : 0));
    if (!changed) return;
    l->key[id] = key;
    l->sum[id] = sum;
}
TSR_HD void tsr_track_gone(const tsr_surface_look *l, int64_t id)
{
    if (l->state[id] || l->key[id] == TSR_KEY_END) return;
    l->state[id] = TSR_TRACK_GONE;
    l->key[id] = TSR_KEY_END;
}

/* The kind of a tile that is found, or -1. */
TSR_HD int32_t tsr_track_kind(const tsr_surface_look *l, int64_t id)
{
    if (l->state[id] & TSR_TRACK_GONE) return TSR_FOUND_GONE;
    if (!l->reached[id]) return -1;
    return l->state[id] & TSR_TRACK_CHANGED ? TSR_FOUND_CHANGED : l->ring[id] ? TSR_FOUND_RING : TSR_FOUND_REACHED;
}

/* The same value from whoever comes: */
TSR_HD void tsr_track_set(uint8_t *to)
{
#if defined(__CUDA_ARCH__)
    *to = 1;
#else
    __atomic_store_n(to, (uint8_t)1, __ATOMIC_RELAXED);
#endif
}
/* Vertices of a tile depend on the values of all its neighbours (normals), so those around a changed tile are made anew ... */
TSR_HD void tsr_track_ring(const tsr_surface_look *l, uint32_t id)
{
    if (!(l->state[id] & TSR_TRACK_CHANGED)) return;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        uint32_t other = d == TSR_TILE_MIDDLE ? id : l->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d];
        if (other >= TSR_TILE_FIRST) tsr_track_set(&l->ring[other]);
    }
}
/* ... and so are the triangles of the tiles below them, which use their vertices by number. */
TSR_HD void tsr_track_reach(const tsr_surface_look *l, uint32_t id)
{
    if (!l->ring[id]) return;
    for (int32_t d = 0; d <= TSR_TILE_MIDDLE; d++) {
        if (tsr_direction_x(d) > 0 || tsr_direction_y(d) > 0) continue;
        uint32_t other = d == TSR_TILE_MIDDLE ? id : l->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d];
        if (other >= TSR_TILE_FIRST) tsr_track_set(&l->reached[other]);
    }
}

#endif
