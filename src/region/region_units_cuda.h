/* region/region_units_cuda.h: the levels next above the bricks, counted and listed unit by unit. A unit is a cell up to 3 (octree) or 4 (quadtree)
 * levels above the bricks: a block holds its counts in shared memory, each level in Morton order behind the one below, so that a
 * cell's children lie together. Lists: the block finds the unit's first numbers by one climb of a warp, hands them down level by level, and
 * the bricks that are neither empty nor one leaf are gathered so that the threads that unfold them fill whole warps. */
#ifndef TSR_REGION_REGION_UNITS_CUDA_H
#define TSR_REGION_REGION_UNITS_CUDA_H

#include "histopyramid/bricks_cuda.h"
#include "region/region_ops.h"

template <int BITS> struct unit_shape {
    enum {
        DEPTH = BITS == 3 ? 3 : 4,
        BRICKS = 1 << (BITS * DEPTH),
        FAMILIES = BRICKS >> BITS, /* 64 */
        CELLS = BITS == 3 ? 585 : 341,
        BRICK = BITS == 3 ? 2 : 3 /* level of the bricks */
    };
};
enum { UNIT_COUNT_THREADS = 64, UNIT_LIST_THREADS = 128 };

/* First cell of level d (0 = bricks) of a unit of `depth` levels. */
template <int BITS> TSR_DEVICE_FN int32_t unit_level(int32_t depth, int32_t d)
{
    int32_t at = 0;
    for (int32_t k = 0; k < d; k++) at += 1 << (BITS * (depth - k));
    return at;
}
/* Cell m of level d of the unit; returns whether it is in the volume. m has at most 9 bits. */
template <int BITS> TSR_DEVICE_FN int unit_cell(const tsr_regions &t, const int64_t unit[3], int32_t depth, int32_t d, uint32_t m, int64_t at[3])
{
    const tsr_region_level *l = &t.level[unit_shape<BITS>::BRICK + d];
    const uint32_t x = BITS == 3 ? (m & 1u) | (m >> 2 & 2u) | (m >> 4 & 4u) : (m & 1u) | (m >> 1 & 2u) | (m >> 2 & 4u) | (m >> 3 & 8u);
    const uint32_t y = BITS == 3 ? (m >> 1 & 1u) | (m >> 3 & 2u) | (m >> 5 & 4u) : (m >> 1 & 1u) | (m >> 2 & 2u) | (m >> 3 & 4u) | (m >> 4 & 8u);
    at[0] = (unit[0] << (depth - d)) + x;
    at[1] = (unit[1] << (depth - d)) + y;
    at[2] = BITS == 3 ? (unit[2] << (depth - d)) + ((m >> 2 & 1u) | (m >> 4 & 2u) | (m >> 6 & 4u)) : 0;
    return at[0] < l->size[0] && at[1] < l->size[1] && at[2] < l->size[2];
}
/* What the compiler should know. (A field that is set makes it copy the structure, whose levels are indexed, to memory of the thread.) */
template <int BITS> TSR_DEVICE_FN void unit_know(const tsr_regions &t)
{
    TSR_ASSUME(t.bits == BITS);
    TSR_ASSUME(t.brick == (BITS == 3 ? 2 : 3));
}

/* Leaves (-1: one) and nodes of the brick `at` with this word. */
template <int BITS> TSR_DEVICE_FN int2 unit_brick(const tsr_regions &t, const int64_t at[3], uint64_t word)
{
    int2 own = { 0, 0 };
    if (!t.merged && word == ~(uint64_t)0) own.x = -1;
    else if (word) {
        int64_t counts[2];
        const uint64_t merged = t.merged ? t.merged[tsr_region_raster(&t.level[unit_shape<BITS>::BRICK], at)] : tsr_brick_merge(word, BITS);
        tsr_brick_tally(BITS, unit_shape<BITS>::BRICK, unit_shape<BITS>::BRICK, word, merged, counts); /* below the root */
        own.x = (int32_t)counts[0];
        own.y = (int32_t)counts[1];
    }
    return own;
}
/* Counts of a cell over its children, added one by one to { leaves, nodes } = { 0, 0 }, and `merged` = 1. */
TSR_DEVICE_FN void unit_add(int2 *sum, int32_t *merged, int2 child)
{
    *merged &= child.x == -1;
    sum->x += child.x < 0 ? 1 : child.x;
    sum->y += child.y;
}
TSR_DEVICE_FN int2 unit_parent(int2 sum, int32_t merged)
{
    const int2 own = { merged ? -1 : sum.x, merged || !sum.x ? 0 : 1 + sum.y };
    return own;
}
TSR_DEVICE_FN void unit_store(const tsr_region_level *l, const int64_t at[3], int2 own)
{
    int64_t *counts = l->counts + 2 * tsr_region_raster(l, at);
    counts[0] = own.x;
    counts[1] = own.y;
}

/* Counts of the cells of the unit where bricks merge by their words alone: a thread per family of bricks, then the levels above. */
template <int BITS> TSR_KERNEL(__launch_bounds__(UNIT_COUNT_THREADS) unit_count_kernel)(tsr_regions t, int32_t depth)
{
    typedef unit_shape<BITS> shape;
    TSR_SHARED(int2, cells, shape::FAMILIES + shape::FAMILIES / 2);
    const uint32_t m = threadIdx.x;
    int64_t unit[3], at[3];
    unit_know<BITS>(t);
    tsr_region_position(&t.level[shape::BRICK + depth], blockIdx.x, unit);
    if (m < 1u << (BITS * (depth - 1))) {
        const tsr_region_level *bricks = &t.level[shape::BRICK];
        int2 own = { 0, 0 };
        if (unit_cell<BITS>(t, unit, depth, 1, m, at)) {
            const int64_t x = 2 * at[0], y = 2 * at[1], z = BITS == 3 ? 2 * at[2] : 0, row = bricks->size[0], plane = row * bricks->size[1];
            const uint64_t *from = t.words + (z * bricks->size[1] + y) * row + x;
            uint64_t word[1 << BITS], all = ~(uint64_t)0, any = 0;
#pragma unroll
            for (int32_t c = 0; c < 1 << BITS; c++) {
                const int64_t dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
                word[c] = x + dx < row && y + dy < bricks->size[1] && z + dz < bricks->size[2] ? from[dz * plane + dy * row + dx] : 0;
                all &= word[c];
                any |= word[c];
            }
            if (!t.merged && !~all) own.x = -1;
            else if (any) {
                int32_t merged = 1;
                for (int32_t c = 0; c < 1 << BITS; c++) {
                    const int64_t child[3] = { x + (c & 1), y + (c >> 1 & 1), z + (c >> 2) };
                    unit_add(&own, &merged, unit_brick<BITS>(t, child, word[c]));
                }
                own = unit_parent(own, merged);
            }
            unit_store(&t.level[shape::BRICK + 1], at, own);
        }
        cells[m] = own;
    }
    for (int32_t d = 2, below = 0; d <= depth; d++) {
        const int32_t level = below + (1 << (BITS * (depth - d + 1)));
        __syncthreads();
        if (m < 1u << (BITS * (depth - d))) {
            int2 own = { 0, 0 };
            int32_t merged = 1;
            for (int32_t c = 0; c < 1 << BITS; c++) unit_add(&own, &merged, cells[below + (int32_t)(m << BITS) + c]);
            own = unit_parent(own, merged);
            cells[level + (int32_t)m] = own;
            if (unit_cell<BITS>(t, unit, depth, d, m, at)) unit_store(&t.level[shape::BRICK + d], at, own);
        }
        below = level;
    }
}

/* The levels from `level` to the top by one block. STATES: as the other kernels, without states they are not compiled in. */
enum { TOP_THREADS = 1024, TOP_CELLS = 4096 };
template <int BITS, int STATES>
TSR_KERNEL(__launch_bounds__(TOP_THREADS) top_kernel)
(tsr_regions t, tsr_region_rule_kind kind, double threshold, int32_t level)
{
    unit_know<BITS>(t);
    if (!STATES) TSR_ASSUME(t.width == 0);
    for (; level <= t.top; level++) {
        const int64_t count = tsr_region_cells(&t.level[level]);
        for (int64_t i = threadIdx.x; i < count; i += TOP_THREADS) {
            int64_t at[3];
            tsr_region_position(&t.level[level], i, at);
            tsr_region_reduce(&t, kind, threshold, level, at, i);
        }
        __syncthreads();
    }
}

/* Numbers of the first leaf and node of the unit: a lane per sibling before it or before its ancestors. */
template <int BITS> TSR_DEVICE_FN void unit_first(const tsr_regions &t, const int64_t unit[3], int32_t depth, uint32_t lane, int64_t first[2])
{
    const int32_t low = t.brick + depth, levels = t.top - low;
    int64_t leaves = 0, nodes = 0;
    for (int32_t k = (int32_t)lane; k < levels << BITS; k += 32) {
        const int32_t up = k >> BITS, c = k & ((1 << BITS) - 1);
        int64_t at[3], child[3], counts[2];
        for (int n = 0; n < 3; n++) at[n] = unit[n] >> up;
        if (c < tsr_region_parent(BITS, at)) {
            tsr_region_child(at, BITS, c, child);
            tsr_region_get(&t, low + up, child, counts);
            leaves += counts[0] < 0 ? 1 : counts[0];
            nodes += counts[1];
        }
        nodes += c == 0; /* the parent's own */
    }
    for (int step = 16; step > 0; step /= 2) {
        leaves += __shfl_xor_sync(TSR_WARP_ALL, leaves, step);
        nodes += __shfl_xor_sync(TSR_WARP_ALL, nodes, step);
    }
    first[0] = leaves;
    first[1] = nodes;
}

/* Entries of a unit by a block; the last blocks take the cells above the units, one a thread. */
template <int BITS>
TSR_KERNEL(__launch_bounds__(UNIT_LIST_THREADS) unit_list_kernel)
(tsr_regions t, tsr_region_lists lists, int32_t depth, int64_t units)
{
    typedef unit_shape<BITS> shape;
    TSR_SHARED(int2, cells, shape::CELLS);  /* leaves and nodes */
    TSR_SHARED(int2, firsts, shape::CELLS); /* the first ones, within the unit */
    TSR_SHARED(uint64_t, words, shape::BRICKS);
    TSR_SHARED(uint16_t, mixed, shape::BRICKS);
    TSR_SHARED(uint32_t, some, 1);
    TSR_SHARED(int64_t, base, 2);
    const uint32_t lane = threadIdx.x & 31u;
    int64_t unit[3], at[3];
    unit_know<BITS>(t);
    const int32_t top = shape::BRICK + depth, bricks = 1 << (BITS * depth);
    if ((int64_t)blockIdx.x >= units) {
        int64_t i = ((int64_t)blockIdx.x - units) * UNIT_LIST_THREADS + threadIdx.x;
        for (int32_t l = top + 1; l <= t.top; l++) {
            const int64_t above = tsr_region_cells(&t.level[l]);
            if (i < above) {
                tsr_region_position(&t.level[l], i, at);
                tsr_region_list_cell(&t, &lists, l, at, i, 0);
                return;
            }
            i -= above;
        }
        return;
    }
    const int64_t counted = t.level[top].counts[2 * (int64_t)blockIdx.x];
    if (!counted) return;
    tsr_region_position(&t.level[top], blockIdx.x, unit);
    if (counted < 0) {
        if (threadIdx.x == 0) tsr_region_list_cell(&t, &lists, top, unit, blockIdx.x, 0);
        return;
    }
    if (threadIdx.x < 32) {
        int64_t first[2];
        unit_first<BITS>(t, unit, depth, lane, first);
        if (lane < 2) base[lane] = lane ? first[1] : first[0];
        if (lane == 0) some[0] = 0;
    }
    for (int32_t m = (int32_t)threadIdx.x; m < bricks; m += UNIT_LIST_THREADS) {
        const uint64_t word =
            unit_cell<BITS>(t, unit, depth, 0, (uint32_t)m, at) ? t.words[tsr_region_raster(&t.level[shape::BRICK], at)] : (uint64_t)0;
        words[m] = word;
        cells[m] = unit_brick<BITS>(t, at, word);
    }
    int32_t level = bricks;
    for (int32_t d = 1; d <= depth; d++) { /* as they were counted before */
        for (int32_t m = (int32_t)threadIdx.x; m < 1 << (BITS * (depth - d)); m += UNIT_LIST_THREADS) {
            int2 own = { 0, 0 };
            if (unit_cell<BITS>(t, unit, depth, d, (uint32_t)m, at)) {
                const int64_t *counts = t.level[shape::BRICK + d].counts + 2 * tsr_region_raster(&t.level[shape::BRICK + d], at);
                own.x = (int32_t)counts[0];
                own.y = (int32_t)counts[1];
            }
            cells[level + m] = own;
        }
        if (d < depth) level += 1 << (BITS * (depth - d));
    }
    if (threadIdx.x == 0) firsts[level].x = firsts[level].y = 0;
    for (int32_t d = depth; d > 0; d--) {
        const int32_t m = (int32_t)threadIdx.x, below = level - (1 << (BITS * (depth - d + 1)));
        __syncthreads();
        if (m < 1 << (BITS * (depth - d)) && cells[level + m].x > 0) { /* at most 64 cells */
            int2 first = firsts[level + m];
            int32_t references[1 << BITS];
            int32_t *node = lists.nodes + ((base[1] + first.y) << BITS);
            first.y++;
#pragma unroll
            for (int32_t c = 0; c < 1 << BITS; c++) {
                const int32_t k = below + (m << BITS) + c;
                const int2 own = cells[k];
                firsts[k] = first;
                references[c] = own.y ? (int32_t)(base[1] + first.y) : own.x == -1 ? tsr_region_leaf_reference(&lists, base[0] + first.x) : 0;
                if (own.x == -1 && lists.leaves) {
                    unit_cell<BITS>(t, unit, depth, d - 1, (uint32_t)((m << BITS) + c), at);
                    lists.leaves[base[0] + first.x] = tsr_region_key(BITS, at, shape::BRICK + d - 1);
                }
                if (d == 1 && own.x > 0) mixed[atomicAdd(&some[0], 1u)] = (uint16_t)((m << BITS) + c); /* in any order: entries know their places */
                first.x += own.x < 0 ? 1 : own.x;
                first.y += own.y;
            }
            tsr_region_put_node(node, references, BITS);
        }
        level = below;
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < some[0]; k += UNIT_LIST_THREADS) {
        const uint32_t m = mixed[k];
        const int64_t first[2] = { base[0] + firsts[m].x, base[1] + firsts[m].y };
        unit_cell<BITS>(t, unit, depth, 0, m, at);
        const uint64_t merged = t.merged ? t.merged[tsr_region_raster(&t.level[shape::BRICK], at)] : tsr_brick_merge(words[m], BITS);
        tsr_brick_entries(BITS, shape::BRICK, shape::BRICK, &lists, at, words[m], merged, first); /* below the root */
    }
}

/* ---- bricks of bytes ---------------------------------------------------------------------------------------------------------------------- */

/* Rows of 16 bytes: 4 bricks of an octree or 2 of a quadtree per thread; blockIdx.y and z are the brick's. */
template <int BITS, int NONZERO> TSR_KERNEL(rows_kernel)(tsr_regions t, tsr_region_rule rule)
{
    enum { BRICKS = BITS == 3 ? 4 : 2 };
    unit_know<BITS>(t);
    const tsr_classifier *c = &rule.channel[0];
    int64_t at[3] = { ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * BRICKS, blockIdx.y, blockIdx.z };
    if (at[0] >= t.level[t.brick].size[0]) return;
    const int64_t y = at[1] << t.brick, z = BITS == 3 ? at[2] << t.brick : at[2];
    const int64_t origin = (z * c->size[1] + y) * c->size[0] + (at[0] << t.brick), first = tsr_region_raster(&t.level[t.brick], at);
    uint64_t word[BRICKS];
    if (BITS == 3) tsr_bricks_cube<NONZERO>(c, origin, c->size[1] - y, c->size[2] - z, word);
    else tsr_bricks_plane<NONZERO>(c, origin, c->size[1] - y, word);
    if (NONZERO > 0 && !rule.complement && !t.merged) {
#pragma unroll
        for (int k = 0; k < BRICKS; k += 2) {
            const tsr_word_pair pair = { { word[k], word[k + 1] } };
            *(tsr_word_pair *)(void *)(t.words + first + k) = pair;
        }
        return;
    }
    for (int k = 0; k < BRICKS; k++, at[0]++) {
        const uint64_t inside = rule.complement || rule.singles ? tsr_region_inside(&t, &rule, at) : 0;
        tsr_region_put(&t, &rule, first + k, rule.complement ? ~word[k] & inside : word[k], inside);
    }
}

template <int BITS> static void launch_rows(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule)
{
    const tsr_region_level *l = &t->level[t->brick];
    const int64_t across = l->size[0] / (BITS == 3 ? 4 : 2);
    const uint32_t threads = across > 128 ? 256 : across > 64 ? 128 : across > 32 ? 64 : 32;
    void (*nonzero)(tsr_regions, tsr_region_rule) = rows_kernel<BITS, 1>;
    void (*other)(tsr_regions, tsr_region_rule) = rows_kernel<BITS, 0>;
    const dim3 blocks(tsr_blocks(across, threads, INT32_MAX), (uint32_t)l->size[1], (uint32_t)l->size[2]);
    TSR_LAUNCH(queue, (tsr_rule_nonzero(&rule->channel[0]) ? nonzero : other), blocks, dim3(threads), 0, *t, *rule);
}

/* Levels of a unit; 0: the tree has none above its bricks. */
template <int BITS> static int32_t unit_depth(const tsr_regions *t)
{
    const int32_t depth = t->top - t->brick;
    return depth < unit_shape<BITS>::DEPTH ? (depth < 0 ? 0 : depth) : (int32_t)unit_shape<BITS>::DEPTH;
}

template <int BITS> static void launch_lists(tsr_queue *queue, const tsr_regions *t, const tsr_region_lists *lists)
{
    const int32_t depth = unit_depth<BITS>(t);
    const int64_t units = tsr_region_cells(&t->level[t->brick + depth]);
    int64_t above = 0;
    for (int32_t l = t->brick + depth + 1; l <= t->top; l++) above += tsr_region_cells(&t->level[l]);
    const uint32_t blocks = (uint32_t)(units + tsr_ceil_div(above, UNIT_LIST_THREADS));
    TSR_LAUNCH(queue, unit_list_kernel<BITS>, blocks, UNIT_LIST_THREADS, 0, *t, *lists, depth, units);
}

#endif
