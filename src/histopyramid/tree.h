/* histopyramid/tree.h: the pyramid of sums as every backend sees it, and its queries. docs/theory/histopyramid.md 1.
 *
 * A place in the order of visits (Morton, view, row) is a number whose bits each belong to one axis: x, y, z or the batch. A level takes the
 * next few bits: level 0 are the voxels, level 1 the bricks of (up to) 64 voxels, and a cell of level n has 2^bits children on level n - 1,
 * so that the fan-out does not change the order. The sums of the children of a cell lie together: cell number `slot` = the raster
 * number of its parent on the parent's level times the fan-out, plus its own number as a child. Absent children have the sum 0. */
#ifndef TSR_HISTOPYRAMID_TREE_H
#define TSR_HISTOPYRAMID_TREE_H

#include "histopyramid/classify.h"

/* Places may have digits of thirds instead of bits of halves: 27 voxels a brick, 3, 9 or 27 children a cell; all that follows holds for either. */
enum { TSR_TREE_LEVELS = 48, TSR_TREE_BITS = 6, TSR_TREE_THIRDS = 3, TSR_TREE_BRICK = 64 };
typedef enum tsr_tree_base { TSR_TREE_WORDS, TSR_TREE_BYTES, TSR_TREE_IMPLICIT } tsr_tree_base;
typedef enum tsr_tree_brick { TSR_BRICK_OTHER, TSR_BRICK_ROW, TSR_BRICK_PLANE, TSR_BRICK_CUBE } tsr_tree_brick; /* 64, 8 x 8, 4 x 4 x 4 */

typedef struct tsr_tree_level {
    int64_t size[4];  /* cells along x, y, z and the batch */
    void *sums;       /* by slot; level 0: none */
    uint8_t axis[6];  /* of the digits of the number of a child (a cell of the level below), lowest first */
    uint8_t bits;     /* digits of that number */
    uint8_t flip;     /* bit n: digit n is visited from its end; in halves child number v in the order of visits is child v ^ flip */
    uint8_t shift[4]; /* a cell covers radix^shift voxels of an axis */
    uint8_t bytes;    /* of one sum: 1, 2, 4, 8 */
    uint8_t radix;    /* 2 or 3 */
} tsr_tree_level;

typedef struct tsr_tree {
    int32_t levels; /* two or more; the last one is a single cell */
    tsr_tree_base base;
    tsr_tree_brick brick;
    int64_t stride[4]; /* of voxels in memory */
    int64_t volume;    /* voxels of one volume of the batch */
    int32_t channels;  /* classes: the batch is stacked so many times, memory is not */
    tsr_tree_level level[TSR_TREE_LEVELS];
    void *voxels;           /* WORDS: one of 64 bits per slot of level 1, BYTES: 64 bytes; not written where the sum is 0 */
    uint64_t *not_a_number; /* [2]: a counter; of COUNTS, UINT64_MAX - the first voxel that it counted */
} tsr_tree;

TSR_HD uint64_t tsr_tree_get(const tsr_tree_level *l, int64_t slot)
{
    switch (l->bytes) {
    case 1: return ((const uint8_t *)l->sums)[slot];
    case 2: return ((const uint16_t *)l->sums)[slot];
    case 4: return ((const uint32_t *)l->sums)[slot];
    default: return ((const uint64_t *)l->sums)[slot];
    }
}
TSR_HD void tsr_tree_set(const tsr_tree_level *l, int64_t slot, uint64_t v)
{
    switch (l->bytes) {
    case 1: ((uint8_t *)l->sums)[slot] = (uint8_t)v; break;
    case 2: ((uint16_t *)l->sums)[slot] = (uint16_t)v; break;
    case 4: ((uint32_t *)l->sums)[slot] = (uint32_t)v; break;
    default: ((uint64_t *)l->sums)[slot] = v; break;
    }
}
TSR_HD uint64_t tsr_tree_total(const tsr_tree *t) { return tsr_tree_get(&t->level[t->levels - 1], 0); }

TSR_HD int64_t tsr_tree_cells(const tsr_tree_level *l) { return l->size[0] * l->size[1] * l->size[2] * l->size[3]; }
TSR_HD int64_t tsr_tree_raster(const tsr_tree_level *l, const int64_t at[4])
{
    return ((at[3] * l->size[2] + at[2]) * l->size[1] + at[1]) * l->size[0] + at[0];
}
TSR_HD void tsr_tree_position(const tsr_tree_level *l, int64_t raster, int64_t at[4])
{
    at[0] = raster % l->size[0];
    raster /= l->size[0];
    at[1] = raster % l->size[1];
    raster /= l->size[1];
    at[2] = raster % l->size[2];
    at[3] = raster / l->size[2];
}
/* radix^n, n small. */
TSR_HD int32_t tsr_tree_power(int32_t radix, int32_t n)
{
    int32_t p = 1;
    if (radix == 2) return 1 << n;
    for (; n > 0; n--) p *= 3;
    return p;
}
TSR_HD int32_t tsr_tree_children(const tsr_tree_level *l) { return l->radix == 2 ? 1 << l->bits : tsr_tree_power(3, l->bits); }
/* Slot of the first child of the cell with this raster number. */
TSR_HD int64_t tsr_tree_family(const tsr_tree_level *l, int64_t raster)
{
    return l->radix == 2 ? raster << l->bits : raster * tsr_tree_power(3, l->bits);
}
/* Child at place v in the order of visits, and back. */
TSR_HD int32_t tsr_tree_seen(const tsr_tree_level *l, int32_t v)
{
    int32_t child = 0, power = 1;
    if (l->radix == 2) return v ^ l->flip;
    for (int32_t b = 0; b < l->bits; b++, v /= 3, power *= 3) child += power * (l->flip >> b & 1 ? 2 - v % 3 : v % 3);
    return child;
}
/* The word of a brick in the order of visits. */
TSR_HD uint64_t tsr_tree_seen_word(const tsr_tree_level *l, uint64_t word)
{
    uint64_t seen = 0;
    if (l->radix == 2) return tsr_flip_bits(word, l->flip);
    for (; word; word &= word - 1u) seen |= (uint64_t)1 << tsr_tree_seen(l, tsr_lowest_bit(word));
    return seen;
}
/* From a cell of level l to its child, and back: returns the number that the cell has as a child. The same of levels known to be of halves, for loops where it
 * counts. */
TSR_HD void tsr_halves_down(const tsr_tree_level *l, int32_t child, int64_t at[4])
{
    for (int32_t b = l->bits - 1; b >= 0; b--)
        for (int32_t k = 0; k < 4; k++)
            if (k == l->axis[b]) at[k] = 2 * at[k] + (child >> b & 1);
}
TSR_HD int32_t tsr_halves_up(const tsr_tree_level *l, int64_t at[4])
{
    int32_t child = 0;
    for (int32_t b = 0; b < l->bits; b++)
        for (int32_t k = 0; k < 4; k++)
            if (k == l->axis[b]) {
                child |= (int32_t)(at[k] & 1) << b;
                at[k] >>= 1;
            }
    return child;
}
TSR_HD void tsr_tree_down(const tsr_tree_level *l, int32_t child, int64_t at[4])
{
    if (l->radix == 2) {
        tsr_halves_down(l, child, at);
        return;
    }
    for (int32_t b = l->bits - 1; b >= 0; b--) {
        const int32_t power = tsr_tree_power(3, b), digit = child / power;
        child -= digit * power;
        for (int32_t k = 0; k < 4; k++)
            if (k == l->axis[b]) at[k] = 3 * at[k] + digit;
    }
}
TSR_HD int32_t tsr_tree_up(const tsr_tree_level *l, int64_t at[4])
{
    int32_t child = 0;
    if (l->radix == 2) return tsr_halves_up(l, at);
    for (int32_t b = 0, power = 1; b < l->bits; b++, power *= 3)
        for (int32_t k = 0; k < 4; k++)
            if (k == l->axis[b]) {
                child += power * (int32_t)(at[k] % 3);
                at[k] /= 3;
            }
    return child;
}
/* Slot of the cell `at` of level n; `at` becomes its parent. */
TSR_HD int64_t tsr_halves_slot(const tsr_tree *t, int32_t n, int64_t at[4])
{
    if (n + 1 == t->levels) return 0;
    const int32_t child = tsr_halves_up(&t->level[n + 1], at);
    return tsr_tree_raster(&t->level[n + 1], at) << t->level[n + 1].bits | child;
}
TSR_HD int64_t tsr_tree_slot(const tsr_tree *t, int32_t n, int64_t at[4])
{
    if (n + 1 == t->levels) return 0;
    const int32_t child = tsr_tree_up(&t->level[n + 1], at);
    return tsr_tree_family(&t->level[n + 1], tsr_tree_raster(&t->level[n + 1], at)) + child;
}
/* Voxel at the lower corner of a cell of level n. */
TSR_HD int64_t tsr_halves_origin(const tsr_tree *t, int32_t n, const int64_t at[4])
{
    int64_t voxel = 0;
    for (int32_t k = 0; k < 4; k++) voxel += (at[k] << t->level[n].shift[k]) * t->stride[k];
    return voxel;
}
TSR_HD int64_t tsr_tree_origin(const tsr_tree *t, int32_t n, const int64_t at[4])
{
    int64_t voxel = 0;
    if (t->level[n].radix == 2) return tsr_halves_origin(t, n, at);
    for (int32_t k = 0; k < 4; k++) {
        int64_t first = at[k];
        for (int32_t m = t->level[n].shift[k]; m > 0; m--) first *= 3;
        voxel += first * t->stride[k];
    }
    return voxel;
}
/* The same of child `child` of level n's cells, relative to the cell. */
TSR_HD int64_t tsr_halves_offset(const tsr_tree *t, int32_t n, int32_t child)
{
    int64_t at[4] = { 0, 0, 0, 0 };
    tsr_halves_down(&t->level[n], child, at);
    return tsr_halves_origin(t, n - 1, at);
}
TSR_HD int64_t tsr_tree_offset(const tsr_tree *t, int32_t n, int32_t child)
{
    int64_t at[4] = { 0, 0, 0, 0 };
    tsr_tree_down(&t->level[n], child, at);
    return tsr_tree_origin(t, n - 1, at);
}
/* Bricks of the same voxels, one of each class, should be made one after the other: brick number tsr_tree_shared(t, i) for i from `share` n is
 * the first of n's. (1 where bricks hold voxels of several classes.) */
TSR_HD int32_t tsr_tree_share(const tsr_tree *t) { return t->level[1].shift[3] ? 1 : t->channels; }
TSR_HD int64_t tsr_tree_shared(const tsr_tree *t, int64_t i)
{
    const int32_t share = tsr_tree_share(t);
    return i / share + i % share * (tsr_tree_cells(&t->level[1]) / share);
}
TSR_HD int tsr_tree_within(const tsr_tree_level *l, const int64_t at[4])
{
    return at[0] < l->size[0] && at[1] < l->size[1] && at[2] < l->size[2] && at[3] < l->size[3];
}

/* Sum of the children of the cell at `slot` of level n > 1: they lie together. */
TSR_HD uint64_t tsr_tree_reduce(const tsr_tree *t, int32_t n, int64_t raster)
{
    uint64_t sum = 0;
    const int32_t children = tsr_tree_children(&t->level[n]);
    const int64_t first = tsr_tree_family(&t->level[n], raster);
    for (int32_t c = 0; c < children; c++) sum += tsr_tree_get(&t->level[n - 1], first + c);
    return sum;
}

/* Multiplicity of child number c of the brick at `at`, whose slot is given and whose sum is not 0. */
TSR_HD uint32_t tsr_tree_voxel(const tsr_tree *t, const tsr_class_set *classes, const int64_t at[4], int64_t slot, int32_t c)
{
    if (t->base == TSR_TREE_WORDS) return (uint32_t)(((const uint64_t *)t->voxels)[slot] >> c & 1u);
    if (t->base == TSR_TREE_BYTES) return ((const uint8_t *)t->voxels)[slot * TSR_TREE_BRICK + c];
    int64_t voxel[4] = { at[0], at[1], at[2], at[3] };
    int32_t not_a_number = 0;
    tsr_tree_down(&t->level[1], c, voxel);
    return tsr_tree_within(&t->level[0], voxel) ? tsr_classify_stacked(classes, tsr_tree_origin(t, 0, voxel), &not_a_number) : 0;
}

TSR_HD tsr_pyramid_entry tsr_tree_select(const tsr_tree *t, const tsr_class_set *classes, uint64_t key)
{
    tsr_pyramid_entry entry = { -1, 0 };
    int64_t at[4] = { 0, 0, 0, 0 }, slot = 0;
    int32_t v = 0;
    if (key >= tsr_tree_total(t)) return entry;
    for (int32_t n = t->levels - 1; n > 1; n--) {
        const tsr_tree_level *l = &t->level[n];
        const int64_t first = tsr_tree_family(l, tsr_tree_raster(l, at));
        for (v = 0;; v++) { /* the sums of the children exceed the key: one of them holds it */
            slot = first + tsr_tree_seen(l, v);
            const uint64_t sum = tsr_tree_get(&t->level[n - 1], slot);
            if (key < sum) break;
            key -= sum;
        }
        tsr_tree_down(l, tsr_tree_seen(l, v), at);
    }
    const tsr_tree_level *bricks = &t->level[1];
    if (t->base == TSR_TREE_WORDS) {
        v = tsr_nth_bit(tsr_tree_seen_word(bricks, ((const uint64_t *)t->voxels)[slot]), (int32_t)key);
        key = 0;
    } else {
        for (v = 0;; v++) {
            const uint64_t count = tsr_tree_voxel(t, classes, at, slot, tsr_tree_seen(bricks, v));
            if (key < count) break;
            key -= count;
        }
    }
    entry.voxel = tsr_tree_origin(t, 1, at) + tsr_tree_offset(t, 1, tsr_tree_seen(bricks, v));
    entry.copy = (int64_t)key;
    return entry;
}

/* Key of the first output of the cell `at` of level n. */
TSR_HD uint64_t tsr_tree_first(const tsr_tree *t, int32_t n, int64_t at[4])
{
    uint64_t rank = 0;
    for (n++; n < t->levels; n++) {
        const tsr_tree_level *l = &t->level[n];
        const int32_t own = tsr_tree_seen(l, tsr_tree_up(l, at));
        const int64_t first = tsr_tree_family(l, tsr_tree_raster(l, at));
        for (int32_t v = 0; v < own; v++) rank += tsr_tree_get(&t->level[n - 1], first + tsr_tree_seen(l, v));
    }
    return rank;
}

TSR_HD uint64_t tsr_tree_rank(const tsr_tree *t, const tsr_class_set *classes, int64_t voxel)
{
    const tsr_tree_level *bricks = &t->level[1];
    int64_t at[4], parent[4];
    if (voxel < 0 || voxel >= tsr_tree_cells(&t->level[0])) return tsr_tree_total(t);
    tsr_tree_position(&t->level[0], voxel, at);
    const int32_t own = tsr_tree_seen(bricks, tsr_tree_up(bricks, at));
    for (int32_t k = 0; k < 4; k++) parent[k] = at[k];
    const int64_t slot = tsr_tree_slot(t, 1, parent);
    uint64_t rank = 0;
    if (tsr_tree_get(bricks, slot)) {
        if (t->base == TSR_TREE_WORDS)
            rank = (uint64_t)tsr_popcount(tsr_tree_seen_word(bricks, ((const uint64_t *)t->voxels)[slot]) & (((uint64_t)1 << own) - 1u));
        else
            for (int32_t v = 0; v < own; v++) rank += tsr_tree_voxel(t, classes, at, slot, tsr_tree_seen(bricks, v));
    }
    return rank + tsr_tree_first(t, 1, at);
}

/* Outputs of the volumes before number b: they come one after another. */
TSR_HD uint64_t tsr_tree_batch_first(const tsr_tree *t, const tsr_class_set *classes, int64_t b)
{
    uint64_t low = 0, high = tsr_tree_total(t);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (tsr_tree_select(t, classes, middle).voxel / t->volume < b) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* ---- lists by tile expansion: a tile is a cell of level 2 (of level 1 where that is the top) -------------------------------------------- */

/* Where outputs go: out[key - first] for first <= key < end. */
typedef struct tsr_tree_list {
    uint64_t first, end;
    void *out;
    int32_t bytes; /* 16: tsr_pyramid_entry; 4, 8: the voxel alone */
} tsr_tree_list;

TSR_HD void tsr_tree_write(const tsr_tree_list *l, uint64_t key, int64_t voxel, int64_t copy)
{
    if (key < l->first || key >= l->end) return;
    if (l->bytes == 4) ((uint32_t *)l->out)[key - l->first] = (uint32_t)voxel;
    else if (l->bytes == 8) ((uint64_t *)l->out)[key - l->first] = (uint64_t)voxel;
    else ((tsr_pyramid_entry *)l->out)[key - l->first] = (tsr_pyramid_entry){ voxel, copy };
}
/* A later part of a list, too short to look at every tile for it or to expand a tile whole: its outputs are found one by one. So a list made in parts
 * costs no more than in proportion to its length; whole lists, however sparse, go by tiles. */
TSR_HD int tsr_tree_few(const tsr_tree_list *l, int64_t tiles)
{
    const int64_t keys = (int64_t)(l->end - l->first);
    return l->first > 0 && (keys < tiles || keys < TSR_TREE_BRICK);
}
TSR_HD void tsr_tree_write_key(const tsr_tree *t, const tsr_class_set *classes, const tsr_tree_list *l, uint64_t key)
{
    const tsr_pyramid_entry entry = tsr_tree_select(t, classes, key);
    tsr_tree_write(l, key, entry.voxel, entry.copy);
}
TSR_HD int32_t tsr_tree_tile_level(const tsr_tree *t) { return t->levels > 2 ? 2 : 1; }
TSR_HD uint64_t tsr_tree_tile_sum(const tsr_tree *t, int32_t n, const int64_t at[4])
{
    int64_t parent[4] = { at[0], at[1], at[2], at[3] };
    return tsr_tree_get(&t->level[n], tsr_tree_slot(t, n, parent));
}

/* Writes the outputs of the brick at `at` (slot, lower corner `origin`), the first of which has `key`. cell[v]: offset of the child seen at place v. */
TSR_HD void tsr_tree_expand(const tsr_tree *t, const tsr_class_set *classes, const tsr_tree_list *list, const int64_t *cell, const int64_t at[4],
                            int64_t slot, int64_t origin, uint64_t key)
{
    const tsr_tree_level *bricks = &t->level[1];
    if (t->base == TSR_TREE_WORDS) {
        for (uint64_t w = tsr_tree_seen_word(bricks, ((const uint64_t *)t->voxels)[slot]); w; w &= w - 1u)
            tsr_tree_write(list, key++, origin + cell[tsr_lowest_bit(w)], 0);
        return;
    }
    for (int32_t v = 0; v < tsr_tree_children(bricks); v++) {
        const int64_t count = (int64_t)tsr_tree_voxel(t, classes, at, slot, tsr_tree_seen(bricks, v));
        for (int64_t copy = 0; copy < count; copy++) tsr_tree_write(list, key++, origin + cell[v], copy);
    }
}

#endif
