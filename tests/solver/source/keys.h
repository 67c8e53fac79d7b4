/* levelset/source/keys.h: the sorted list of tiles of [Laan11 6] (docs/theory/tiles.md 1, 3, 5): keys, the traversal with a stencil (Algorithm 6.1)
 * and the sliding of a 3^3 element over the list (Algorithm 6.2). Nothing here comes from the library: it is what the library is compared with.
 *
 * Direction i = 9 (dz+1) + 3 (dy+1) + (dx+1), middle 13, reverse 26 - i. z is the most significant axis (in [Laan11] x is): only names. */
#ifndef TSR_TESTS_SOURCE_KEYS_H
#define TSR_TESTS_SOURCE_KEYS_H

#include <stdint.h>

enum { SOURCE_DIRECTIONS = 27, SOURCE_MIDDLE = 13, SOURCE_BIAS = 1 << 20 };
#define SOURCE_END UINT64_MAX /* the key behind the last one */

static inline uint64_t source_key(int32_t x, int32_t y, int32_t z)
{
    return (uint64_t)(z + SOURCE_BIAS) << 42 | (uint64_t)(y + SOURCE_BIAS) << 21 | (uint64_t)(x + SOURCE_BIAS);
}
/* Coordinate k (0: x) of a key. */
static inline int32_t source_coordinate(uint64_t key, int k) { return (int32_t)(key >> (21 * k) & 0x1fffff) - SOURCE_BIAS; }

static inline int source_along(int i, int k) { return (k == 0 ? i : k == 1 ? i / 3 : i / 9) % 3 - 1; } /* component k of direction i */

/* key + this = key of the tile in direction i: no carry, as stored tiles keep one tile away from the limits. */
static inline uint64_t source_offset(int i)
{
    return (uint64_t)(int64_t)source_along(i, 2) * ((uint64_t)1 << 42) + (uint64_t)(int64_t)source_along(i, 1) * ((uint64_t)1 << 21) +
           (uint64_t)(int64_t)source_along(i, 0);
}
/* May a tile be stored there? */
static inline int source_in_range(uint64_t key)
{
    for (int k = 0; k < 3; k++)
        if (source_coordinate(key, k) <= -SOURCE_BIAS || source_coordinate(key, k) >= SOURCE_BIAS - 1) return 0;
    return 1;
}

/* First entry that is not below `wanted`: random access, O(log N). */
static inline int32_t source_lower_bound(const uint64_t *key, int32_t count, uint64_t wanted)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (key[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* ---- Algorithm 6.1: entries in order, each with its neighbours ---------------------------------------------------------------------------------- */

/* One pointer per direction, none of which ever goes back. */
typedef struct source_stencil {
    const uint64_t *key; /* [count], and SOURCE_END behind */
    int32_t p[SOURCE_DIRECTIONS];
} source_stencil;

/* For a traversal that begins at entry `first`: the only searches. */
static inline source_stencil source_stencil_at(const uint64_t *key, int32_t count, int32_t first)
{
    source_stencil s = { .key = key };
    for (int i = 0; first > 0 && i < SOURCE_DIRECTIONS; i++) s.p[i] = source_lower_bound(key, count, key[first] + source_offset(i));
    return s;
}
/* Moves to entry o; bit i of the result: the tile in direction i is stored, as entry p[i]. */
static inline uint32_t source_stencil_visit(source_stencil *s, int32_t o)
{
    uint32_t match = 0;
    for (int i = 0; i < SOURCE_DIRECTIONS; i++) {
        const uint64_t wanted = s->key[o] + source_offset(i);
        while (s->key[s->p[i]] < wanted) s->p[i]++;
        match |= (uint32_t)(s->key[s->p[i]] == wanted) << i;
    }
    return match;
}

/* ---- Algorithm 6.2: each element of the dilated list once, in order ------------------------------------------------------------------------------- */

typedef struct source_dilation {
    const uint64_t *key;
    int32_t count, p[SOURCE_DIRECTIONS];
    uint64_t current; /* the element */
    uint32_t match;   /* bit i: the list has current + offset i, as entry p[i] */
    uint64_t end;     /* elements from here on belong to the next unit */
} source_dilation;

/* Unit u of `units`: the elements from the key at its share of the list up to that of the next one. The first and the last also own what lies before
 * the list and behind it, which [Laan11] does not say. */
static inline source_dilation source_dilation_of(const uint64_t *key, int32_t count, int32_t u, int32_t units)
{
    source_dilation d = { .key = key, .count = count, .end = SOURCE_END };
    const int32_t first = (int32_t)((int64_t)u * count / units), last = (int32_t)((int64_t)(u + 1) * count / units);
    if (u + 1 < units) d.end = key[last];
    for (int i = 0; u > 0 && i < SOURCE_DIRECTIONS; i++) d.p[i] = source_lower_bound(key, count, key[first] + source_offset(i));
    return d;
}
/* Goes on to the next element; 0 behind the last one. */
static inline int source_dilation_next(source_dilation *d)
{
    for (int i = 0; i < SOURCE_DIRECTIONS; i++) d->p[i] += (int32_t)(d->match >> i & 1u);
    d->current = SOURCE_END;
    for (int i = 0; i < SOURCE_DIRECTIONS; i++) /* an exhausted pointer counts as infinite */
        if (d->p[i] < d->count && d->key[d->p[i]] - source_offset(i) < d->current) d->current = d->key[d->p[i]] - source_offset(i);
    d->match = 0;
    if (d->current >= d->end) return 0;
    for (int i = 0; i < SOURCE_DIRECTIONS; i++) d->match |= (uint32_t)(d->p[i] < d->count && d->key[d->p[i]] == d->current + source_offset(i)) << i;
    return 1;
}

#endif
