/* region/region.h: region pyramids and trees as every backend sees them. docs/theory/regions.md 4, 6, 10.
 *
 * The lowest levels are bricks of 64 voxels in Morton order (8 x 8 or 4 x 4 x 4): one word says which are kept, another one which cells
 * within the brick merge (bit `place of the first voxel + level - 1`). Leaves and nodes of a brick are sets of bits by level, so that the
 * number of an entry is a count of bits. Above the bricks a cell holds its leaves (-1: it is one) and nodes (its own included). */
#ifndef TSR_REGION_REGION_H
#define TSR_REGION_REGION_H

#include "histopyramid/classify.h"
#include "tessera/mapping.h"
#include "tessera/region_tree.h"

enum { TSR_REGION_LEVELS = 30, TSR_REGION_CHANNELS = 4 };

typedef struct tsr_region_level {
    int64_t size[3];
    int64_t *counts; /* [cells][2]: leaves, nodes; levels above the bricks */
    float *
        state; /* [cells][channels]: means (DEVIATION), [cells][2 channels]: least and most (SPREAD), means and variances (VARIANCE); from the bricks up */
} tsr_region_level;

typedef struct tsr_regions {
    int32_t bits;                              /* of a child's number: 2 or 3 */
    int32_t brick;                             /* level of the bricks: 3 or 2 */
    int32_t top;                               /* level of the root; may lie below the bricks */
    int32_t width;                             /* floats of a state, 0 = none */
    uint64_t *words, *merged;                  /* of the bricks, [z][y][x]; merged NULL: kept cells merge; both NULL: nothing is stored */
    uint64_t *unheld;                          /* bricks with a value that float32 does not hold; NULL without states */
    tsr_region_level level[TSR_REGION_LEVELS]; /* by level, from `brick` to max(top, brick) */
} tsr_regions;

TSR_HD int64_t tsr_region_raster(const tsr_region_level *l, const int64_t at[3]) { return (at[2] * l->size[1] + at[1]) * l->size[0] + at[0]; }
TSR_HD int64_t tsr_region_cells(const tsr_region_level *l) { return l->size[0] * l->size[1] * l->size[2]; }
TSR_HD void tsr_region_position(const tsr_region_level *l, int64_t i, int64_t at[3])
{
    at[0] = i % l->size[0];
    at[1] = i / l->size[0] % l->size[1];
    at[2] = i / l->size[0] / l->size[1];
}
TSR_HD void tsr_region_child(const int64_t parent[3], int32_t bits, int32_t c, int64_t child[3])
{
    child[0] = 2 * parent[0] + (c & 1);
    child[1] = 2 * parent[1] + (c >> 1 & 1);
    child[2] = bits == 3 ? 2 * parent[2] + (c >> 2) : 0;
}
/* The next cell in raster order. */
TSR_HD void tsr_region_next(const tsr_region_level *l, int64_t at[3])
{
    if (++at[0] < l->size[0]) return;
    at[0] = 0;
    if (++at[1] < l->size[1]) return;
    at[1] = 0;
    at[2]++;
}
/* `at` becomes its parent; returns its number as a child. */
TSR_HD int32_t tsr_region_parent(int32_t bits, int64_t at[3])
{
    const int32_t c = (int32_t)((at[0] & 1) | (at[1] & 1) << 1 | (bits == 3 ? (at[2] & 1) << 2 : 0));
    at[0] >>= 1;
    at[1] >>= 1;
    at[2] = bits == 3 ? at[2] >> 1 : 0;
    return c;
}
TSR_HD int tsr_region_within(const tsr_region_level *l, const int64_t at[3])
{
    return at[0] < l->size[0] && at[1] < l->size[1] && at[2] < l->size[2];
}

/* ---- keys -------------------------------------------------------------------------------------------------------------------------------- */

TSR_HD uint64_t tsr_region_code(int32_t bits, int64_t x, int64_t y, int64_t z)
{
    return bits == 2 ? tsr_morton2((uint64_t)x, (uint64_t)y) : tsr_morton3((uint64_t)x, (uint64_t)y, (uint64_t)z);
}
TSR_HD void tsr_region_decode(int32_t bits, uint64_t code, int64_t at[3])
{
    at[0] = (int64_t)(bits == 2 ? tsr_compact2(code) : tsr_compact3(code));
    at[1] = (int64_t)(bits == 2 ? tsr_compact2(code >> 1) : tsr_compact3(code >> 1));
    at[2] = bits == 2 ? 0 : (int64_t)tsr_compact3(code >> 2);
}
TSR_HD uint64_t tsr_region_key(int32_t bits, const int64_t at[3], int32_t level)
{
    return tsr_region_code(bits, at[0], at[1], at[2]) << (bits * level) << 6 | (uint64_t)level;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------------------------------ */

/* Places of the cells of level l of a brick. */
TSR_HD uint64_t tsr_brick_places(int32_t bits, int32_t l)
{
    const int32_t b = bits * l;
    return b == 0 ? ~(uint64_t)0 : b == 2 ? 0x1111111111111111ull : b == 3 ? 0x0101010101010101ull : b == 4 ? 0x0001000100010001ull : 1u;
}
/* v at the places of level l, spread over the voxels of the cells. */
TSR_HD uint64_t tsr_brick_cover(uint64_t v, int32_t bits, int32_t l)
{
    const int32_t b = bits * l;
    return b == 6 ? (v ? ~(uint64_t)0 : 0u) : v * (((uint64_t)1 << (1 << b)) - 1u);
}
/* Whether all (any) children of the cells of level l are in v, which holds places of level l - 1; at the places of l. */
TSR_HD uint64_t tsr_brick_all(uint64_t v, int32_t bits, int32_t l)
{
    for (int32_t b = 0; b < bits; b++) v &= v >> (1 << (bits * (l - 1) + b));
    return v & tsr_brick_places(bits, l);
}
TSR_HD uint64_t tsr_brick_any(uint64_t v, int32_t bits, int32_t l)
{
    for (int32_t b = 0; b < bits; b++) v |= v >> (1 << (bits * (l - 1) + b));
    return v & tsr_brick_places(bits, l);
}
/* The merged cells where kept cells merge. */
TSR_HD uint64_t tsr_brick_merge(uint64_t word, int32_t bits)
{
    uint64_t merged = 0;
    for (int32_t l = 1; bits * l <= 6; l++) {
        word = tsr_brick_all(word, bits, l);
        merged |= word << (l - 1);
    }
    return merged;
}

/* Leaves and nodes of a brick by level, at the places of the cells' first voxels. */
typedef struct tsr_brick_sets {
    uint64_t leaf[4], node[4], leaves;
} tsr_brick_sets;

/* `brick`: the level of the bricks, `top`: of the root. */
TSR_HD void tsr_brick_unfold(int32_t bits, int32_t brick, int32_t top, uint64_t word, uint64_t merged, tsr_brick_sets *s)
{
    uint64_t any = word, covered = 0;
    for (int32_t l = 0; l < 4; l++) s->leaf[l] = s->node[l] = 0;
    for (int32_t l = 1; l <= brick; l++) { /* something below, not merged, not beyond the root */
        any = tsr_brick_any(any, bits, l);
        s->node[l] = l <= top ? any & ~(merged >> (l - 1)) : 0;
    }
    s->leaves = 0;
    for (int32_t l = brick; l >= 0; l--) { /* from the largest: what lies in a merged cell is no more */
        s->leaf[l] = (l ? merged >> (l - 1) & tsr_brick_places(bits, l) : word) & ~covered;
        s->node[l] &= ~covered;
        s->leaves |= s->leaf[l];
        if (l) covered |= tsr_brick_cover(s->leaf[l], bits, l);
    }
}
/* Entries before a place: leaves; nodes, of them those of a level above at the same place too. */
TSR_HD int32_t tsr_brick_leaves_before(const tsr_brick_sets *s, int32_t place) { return tsr_popcount(s->leaves & (((uint64_t)1 << place) - 1u)); }
TSR_HD int32_t tsr_brick_nodes_before(const tsr_brick_sets *s, int32_t level, int32_t place)
{
    const uint64_t below = ((uint64_t)1 << place) - 1u;
    int32_t n = 0;
    for (int32_t l = 1; l < 4; l++) n += tsr_popcount(s->node[l] & below) + (l > level ? (int32_t)(s->node[l] >> place & 1u) : 0);
    return n;
}

TSR_HD uint64_t tsr_region_merged(const tsr_regions *t, int64_t brick)
{
    return t->merged ? t->merged[brick] : tsr_brick_merge(t->words[brick], t->bits);
}

/* Leaves (-1: the brick is one) and nodes of a brick. */
TSR_HD void tsr_brick_tally(int32_t bits, int32_t brick, int32_t top, uint64_t word, uint64_t merged, int64_t counts[2])
{
    tsr_brick_sets s;
    counts[0] = counts[1] = 0;
    if (!word) return;
    if (merged >> (brick - 1) & 1u) {
        counts[0] = -1;
        return;
    }
    tsr_brick_unfold(bits, brick, top, word, merged, &s);
    counts[0] = tsr_popcount(s.leaves);
    for (int32_t l = 1; l <= brick; l++) counts[1] += tsr_popcount(s.node[l]);
}
TSR_HD void tsr_brick_counts(const tsr_regions *t, uint64_t word, uint64_t merged, int64_t counts[2])
{
    tsr_brick_tally(t->bits, t->brick, t->top, word, merged, counts);
}

/* ---- the pyramid ------------------------------------------------------------------------------------------------------------------------- */

TSR_HD int32_t tsr_region_highest(const tsr_regions *t) { return t->top > t->brick ? t->top : t->brick; }

/* Counts of the cell `at` of level l >= brick, 0 beyond the volume. */
TSR_HD void tsr_region_get(const tsr_regions *t, int32_t l, const int64_t at[3], int64_t counts[2])
{
    counts[0] = counts[1] = 0;
    if (!tsr_region_within(&t->level[l], at)) return;
    const int64_t i = tsr_region_raster(&t->level[l], at);
    if (l == t->brick) {
        if (t->words[i]) tsr_brick_counts(t, t->words[i], tsr_region_merged(t, i), counts);
    } else {
        counts[0] = t->level[l].counts[2 * i];
        counts[1] = t->level[l].counts[2 * i + 1];
    }
}

/* Do the states of the children (width floats each) merge; their common state. */
TSR_HD int tsr_region_states(tsr_region_rule_kind kind, double threshold, const float *states, int32_t children, int32_t width, float *common)
{
    float sum = 0.0f;
    for (int32_t k = 0; k < width; k++) {
        float v = states[k];
        if (kind == TSR_REGION_VARIANCE) { /* the mean of the children's, and for variances that of their means about the common one */
            for (int32_t c = 1; c < children; c++) v += states[c * width + k];
            for (int32_t c = 0; c < children && k >= width / 2; c++) {
                const float d = states[c * width + k - width / 2] - common[k - width / 2];
                v += d * d;
            }
            v *= children == 4 ? 0.25f : 0.125f;
            if (k >= width / 2) sum += v;
        } else if (kind == TSR_REGION_DEVIATION) {
            for (int32_t c = 1; c < children; c++) v += states[c * width + k];
            v *= children == 4 ? 0.25f : 0.125f;
            for (int32_t c = 0; c < children; c++) {
                const float d = states[c * width + k] - v;
                sum += d * d;
            }
        } else {
            for (int32_t c = 1; c < children; c++) v = k < width / 2 ? tsr_minf(v, states[c * width + k]) : tsr_maxf(v, states[c * width + k]);
        }
        common[k] = v;
    }
    if (kind != TSR_REGION_SPREAD) return (double)sum <= threshold;
    for (int32_t k = 0; k < width / 2; k++)
        if (!((double)common[width / 2 + k] - (double)common[k] <= threshold)) return 0;
    return 1;
}

/* Cell over bricks of which all are empty or, where kept cells merge, all are full: no need to count. */
TSR_HD int tsr_region_uniform(const tsr_regions *t, const int64_t at[3], int64_t counts[2])
{
    const tsr_region_level *below = &t->level[t->brick];
    const int64_t x = 2 * at[0], y = 2 * at[1], z = t->bits == 3 ? 2 * at[2] : 0;
    if (x + 1 >= below->size[0] || y + 1 >= below->size[1] || (t->bits == 3 && z + 1 >= below->size[2])) return 0;
    const uint64_t *w = t->words + (z * below->size[1] + y) * below->size[0] + x;
    uint64_t all = w[0] & w[1] & w[below->size[0]] & w[below->size[0] + 1], any = w[0] | w[1] | w[below->size[0]] | w[below->size[0] + 1];
    if (t->bits == 3) {
        w += below->size[0] * below->size[1];
        all &= w[0] & w[1] & w[below->size[0]] & w[below->size[0] + 1];
        any |= w[0] | w[1] | w[below->size[0]] | w[below->size[0] + 1];
    }
    counts[0] = any ? -1 : 0;
    counts[1] = 0;
    return !any || (!~all && !t->merged);
}

/* Cell number i, at `at`, of level l > brick. */
TSR_HD void tsr_region_reduce(const tsr_regions *t, tsr_region_rule_kind kind, double threshold, int32_t l, const int64_t at[3], int64_t i)
{
    const tsr_region_level *own = &t->level[l], *below = &t->level[l - 1];
    const int32_t children = 1 << t->bits;
    int64_t child[3], counts[2], leaves = 0, nodes = 0;
    float states[8 * 2 * TSR_REGION_CHANNELS];
    int merged = 1;
    if (l == t->brick + 1 && tsr_region_uniform(t, at, own->counts + 2 * i)) return;
    for (int32_t c = 0; c < children; c++) {
        tsr_region_child(at, t->bits, c, child);
        tsr_region_get(t, l - 1, child, counts);
        merged &= counts[0] == -1;
        leaves += counts[0] < 0 ? 1 : counts[0];
        nodes += counts[1];
        if (merged && t->width)
            for (int32_t k = 0; k < t->width; k++) states[c * t->width + k] = below->state[tsr_region_raster(below, child) * t->width + k];
    }
    if (merged && t->width) merged = tsr_region_states(kind, threshold, states, children, t->width, own->state + i * t->width);
    own->counts[2 * i] = merged ? -1 : leaves;
    own->counts[2 * i + 1] = merged || !leaves ? 0 : 1 + nodes;
}

/* Numbers of the first leaf and of the first node of the cell `at` of level l. */
TSR_HD void tsr_region_first(const tsr_regions *t, int32_t l, const int64_t at[3], int64_t first[2])
{
    int64_t up[3] = { at[0], at[1], at[2] }, child[3], counts[2];
    first[0] = first[1] = 0;
    for (; l < t->top; l++) {
        const int32_t own = tsr_region_parent(t->bits, up);
        for (int32_t c = 0; c < own; c++) {
            tsr_region_child(up, t->bits, c, child);
            tsr_region_get(t, l, child, counts);
            first[0] += counts[0] < 0 ? 1 : counts[0];
            first[1] += counts[1];
        }
        first[1]++; /* the parent's own node */
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_region_lists {
    uint64_t *leaves; /* NULL: nodes only, every leaf is "leaf 0" */
    int32_t *nodes;
} tsr_region_lists;

TSR_HD int32_t tsr_region_leaf_reference(const tsr_region_lists *lists, int64_t leaf) { return lists->leaves ? ~(int32_t)leaf : ~0; }

/* Is the cell part of a larger leaf. */
TSR_HD int tsr_region_swallowed(const tsr_regions *t, int32_t l, const int64_t at[3])
{
    int64_t up[3] = { at[0], at[1], at[2] }, counts[2];
    if (l >= t->top) return 0;
    tsr_region_parent(t->bits, up);
    tsr_region_get(t, l + 1, up, counts);
    return counts[0] == -1;
}

/* A node: its children's references. */
TSR_HD void tsr_region_put_node(int32_t *node, const int32_t *references, int32_t bits)
{
#if defined(__CUDA_ARCH__)
    for (int32_t c = 0; c < 1 << bits; c += 4)
        *(int4 *)(void *)(node + c) = make_int4(references[c], references[c + 1], references[c + 2], references[c + 3]);
#else
    for (int32_t c = 0; c < 1 << bits; c++) node[c] = references[c];
#endif
}

/* Leaves and nodes of the brick `at` of level `brick`, whose words are given and whose first entries have the numbers `first`. */
TSR_HD void tsr_brick_entries(int32_t bits, int32_t brick, int32_t top, const tsr_region_lists *lists, const int64_t at[3], uint64_t word,
                              uint64_t merged, const int64_t first[2])
{
    tsr_brick_sets s;
    tsr_brick_unfold(bits, brick, top, word, merged, &s);
    const uint64_t code = tsr_region_code(bits, at[0], at[1], at[2]) << 6; /* bricks have 64 places */
    for (int32_t l = 0; l <= brick && lists->leaves; l++)
        for (uint64_t left = s.leaf[l]; left; left &= left - 1u) {
            const int32_t place = tsr_lowest_bit(left);
            lists->leaves[first[0] + tsr_brick_leaves_before(&s, place)] = (code | (uint64_t)place) << 6 | (uint64_t)l;
        }
    for (int32_t l = 1; l <= brick; l++)
        for (uint64_t left = s.node[l]; left; left &= left - 1u) {
            const int32_t place = tsr_lowest_bit(left);
            int32_t references[8];
            for (int32_t c = 0; c < 1 << bits; c++) {
                const int32_t q = place + (c << (bits * (l - 1)));
                const int is_node = l > 1 && (s.node[l - 1] >> q & 1u), is_leaf = (int)(s.leaf[l - 1] >> q & 1u);
                references[c] = is_node   ? (int32_t)(first[1] + tsr_brick_nodes_before(&s, l - 1, q))
                                : is_leaf ? tsr_region_leaf_reference(lists, first[0] + tsr_brick_leaves_before(&s, q))
                                          : 0;
            }
            tsr_region_put_node(lists->nodes + ((first[1] + tsr_brick_nodes_before(&s, l, place)) << bits), references, bits);
        }
}
TSR_HD void tsr_region_list_entries(const tsr_regions *t, const tsr_region_lists *lists, const int64_t at[3], uint64_t word, uint64_t merged,
                                    const int64_t first[2])
{
    tsr_brick_entries(t->bits, t->brick, t->top, lists, at, word, merged, first);
}

/* The same of brick number i, by itself: its numbers are found by a climb. */
TSR_HD void tsr_region_list_brick(const tsr_regions *t, const tsr_region_lists *lists, int64_t i)
{
    const uint64_t word = t->words[i];
    int64_t at[3], first[2];
    if (!word) return;
    tsr_region_position(&t->level[t->brick], i, at);
    const uint64_t merged = tsr_region_merged(t, i);
    if ((merged >> (t->brick - 1) & 1u) && tsr_region_swallowed(t, t->brick, at)) return;
    tsr_region_first(t, t->brick, at, first);
    tsr_region_list_entries(t, lists, at, word, merged, first);
}

/* Leaf or node of cell number i, at `at`, of level l > brick. `bricks` != 0, l = brick + 1: and the entries of its bricks. */
TSR_HD void tsr_region_list_cell(const tsr_regions *t, const tsr_region_lists *lists, int32_t l, const int64_t at[3], int64_t i, int bricks)
{
    const int64_t leaves = t->level[l].counts[2 * i];
    int64_t child[3], first[2], counts[2];
    if (!leaves) return;
    if (leaves < 0) {
        if (!lists->leaves || tsr_region_swallowed(t, l, at)) return;
        tsr_region_first(t, l, at, first);
        lists->leaves[first[0]] = tsr_region_key(t->bits, at, l);
        return;
    }
    tsr_region_first(t, l, at, first);
    int32_t *node = lists->nodes + (first[1] << t->bits);
    first[1]++;
    for (int32_t c = 0; c < 1 << t->bits; c++) {
        tsr_region_child(at, t->bits, c, child);
        tsr_region_get(t, l - 1, child, counts);
        node[c] = counts[1] ? (int32_t)first[1] : counts[0] == -1 ? tsr_region_leaf_reference(lists, first[0]) : 0;
        if (bricks && counts[0]) {
            const int64_t brick = tsr_region_raster(&t->level[t->brick], child);
            tsr_region_list_entries(t, lists, child, t->words[brick], tsr_region_merged(t, brick), first);
        }
        first[0] += counts[0] < 0 ? 1 : counts[0];
        first[1] += counts[1];
    }
}

#endif
