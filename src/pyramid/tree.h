/* pyramid/tree.h: the pyramid of sums as every backend sees it, and its three queries: sum, select, rank. Spec histopyramid.md 2.2-2.6. */
#ifndef TSR_PYRAMID_TREE_H
#define TSR_PYRAMID_TREE_H

#include "grid/voxel.h"
#include "tessera/pyramid.h"

enum { TSR_TREE_LEVELS = 64 };

typedef struct tsr_tree_level {
    int64_t size[3];
    int32_t shift[3]; /* children along an axis = 1 << shift, on the level below; base: 0 */
    int32_t bytes;    /* of one sum: 1, 2, 4, 8 */
    void *sums;       /* [z][y][x] */
} tsr_tree_level;

typedef struct tsr_tree {
    int32_t levels; /* level[0] is the base, level[levels - 1] a single sum */
    tsr_tree_level level[TSR_TREE_LEVELS];
    uint64_t *not_a_number; /* one counter */
} tsr_tree;

TSR_HD uint64_t tsr_tree_get(const tsr_tree_level *l, int64_t i)
{
    switch (l->bytes) {
    case 1: return ((const uint8_t *)l->sums)[i];
    case 2: return ((const uint16_t *)l->sums)[i];
    case 4: return ((const uint32_t *)l->sums)[i];
    default: return ((const uint64_t *)l->sums)[i];
    }
}
TSR_HD void tsr_tree_set(const tsr_tree_level *l, int64_t i, uint64_t v)
{
    switch (l->bytes) {
    case 1: ((uint8_t *)l->sums)[i] = (uint8_t)v; break;
    case 2: ((uint16_t *)l->sums)[i] = (uint16_t)v; break;
    case 4: ((uint32_t *)l->sums)[i] = (uint32_t)v; break;
    default: ((uint64_t *)l->sums)[i] = v; break;
    }
}

/* Child number c (x the lowest bits) of the parent at `at`; < 0 if there is none. */
TSR_HD int64_t tsr_tree_child(const tsr_tree_level *parent, const tsr_tree_level *below, const int64_t at[3], int32_t c, int64_t child[3])
{
    child[0] = (at[0] << parent->shift[0]) + (c & ((1 << parent->shift[0]) - 1));
    child[1] = (at[1] << parent->shift[1]) + (c >> parent->shift[0] & ((1 << parent->shift[1]) - 1));
    child[2] = (at[2] << parent->shift[2]) + (c >> (parent->shift[0] + parent->shift[1]));
    if (child[0] >= below->size[0] || child[1] >= below->size[1] || child[2] >= below->size[2]) return -1;
    return (child[2] * below->size[1] + child[1]) * below->size[0] + child[0];
}
TSR_HD int32_t tsr_tree_children(const tsr_tree_level *parent) { return 1 << (parent->shift[0] + parent->shift[1] + parent->shift[2]); }

TSR_HD void tsr_tree_position(const tsr_tree_level *l, int64_t i, int64_t at[3])
{
    at[0] = i % l->size[0];
    at[1] = i / l->size[0] % l->size[1];
    at[2] = i / l->size[0] / l->size[1];
}

/* The sum of element i of level n > 0. */
TSR_HD void tsr_tree_reduce(const tsr_tree *t, int32_t n, int64_t i)
{
    const tsr_tree_level *parent = &t->level[n], *below = &t->level[n - 1];
    int64_t at[3], child[3];
    uint64_t sum = 0;
    tsr_tree_position(parent, i, at);
    for (int32_t c = 0; c < tsr_tree_children(parent); c++) {
        int64_t j = tsr_tree_child(parent, below, at, c, child);
        if (j >= 0) sum += tsr_tree_get(below, j);
    }
    tsr_tree_set(parent, i, sum);
}

TSR_HD uint64_t tsr_tree_total(const tsr_tree *t) { return tsr_tree_get(&t->level[t->levels - 1], 0); }

TSR_HD tsr_pyramid_entry tsr_tree_select(const tsr_tree *t, uint64_t key)
{
    tsr_pyramid_entry entry = { -1, 0 };
    int64_t at[3] = { 0, 0, 0 }, child[3], found = 0;
    if (key >= tsr_tree_total(t)) return entry;
    for (int32_t n = t->levels - 1; n > 0; n--) {
        const tsr_tree_level *parent = &t->level[n], *below = &t->level[n - 1];
        for (int32_t c = 0;; c++) { /* the sums of the children exceed the key: one of them holds it */
            found = tsr_tree_child(parent, below, at, c, child);
            uint64_t sum = found >= 0 ? tsr_tree_get(below, found) : 0;
            if (key < sum) break;
            key -= sum;
        }
        for (int32_t k = 0; k < 3; k++) at[k] = child[k];
    }
    entry.voxel = found;
    entry.copy = (int64_t)key;
    return entry;
}

TSR_HD uint64_t tsr_tree_rank(const tsr_tree *t, int64_t voxel)
{
    const tsr_tree_level *base = &t->level[0];
    int64_t at[3], child[3];
    uint64_t rank = 0;
    if (voxel < 0 || voxel >= base->size[0] * base->size[1] * base->size[2]) return tsr_tree_total(t);
    tsr_tree_position(base, voxel, at);
    for (int32_t n = 1; n < t->levels; n++) {
        const tsr_tree_level *parent = &t->level[n], *below = &t->level[n - 1];
        int32_t own = 0, place = 0;
        for (int32_t k = 0; k < 3; k++) {
            own |= (int32_t)(at[k] & ((1 << parent->shift[k]) - 1)) << place;
            place += parent->shift[k];
            at[k] >>= parent->shift[k];
        }
        for (int32_t c = 0; c < own; c++) {
            int64_t j = tsr_tree_child(parent, below, at, c, child);
            if (j >= 0) rank += tsr_tree_get(below, j);
        }
    }
    return rank;
}

/* Multiplicity of a value: see tsr_pyramid_classifier. */
typedef struct tsr_tree_classifier {
    const void *data;
    tsr_dtype dtype;
    int32_t range;
    double slope, intercept, lower, upper;
} tsr_tree_classifier;

TSR_HD uint8_t tsr_tree_classify(const tsr_tree_classifier *c, int64_t i, int32_t *not_a_number)
{
    if (!c->range) return ((const uint8_t *)c->data)[i];
    double v = tsr_voxel_load(c->data, c->dtype, i) * c->slope + c->intercept;
    *not_a_number += !(v == v);
    return v >= c->lower && v < c->upper;
}

#endif
