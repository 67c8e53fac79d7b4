/* pyramid/region_units_cuda.h: the levels next above the bricks, counted and listed unit by unit. A unit is a cell up to 3 (octree) or 4 (quadtree)
 * levels above the bricks: a block holds its counts in shared memory, each level in Morton order behind the one below, so that a
 * cell's children lie together. Lists: the block finds the unit's first numbers by one climb of a warp, hands them down level by level, and
 * the bricks that are neither empty nor one leaf are gathered so that the threads that unfold them fill whole warps. */
#ifndef TSR_PYRAMID_REGION_UNITS_CUDA_H
#define TSR_PYRAMID_REGION_UNITS_CUDA_H

#include "pyramid/bricks_cuda.h"
#include "pyramid/region_ops.h"

template <int BITS> struct unit_shape {
    enum { DEPTH = BITS == 3 ? 3 : 4, BRICKS = 1 << (BITS * DEPTH), CELLS = BITS == 3 ? 585 : 341, WARPS = BRICKS / 32 };
};

/* First cell of level d (0 = bricks) of a unit of `depth` levels. */
template <int BITS> TSR_DEVICE_FN int32_t unit_level(int32_t depth, int32_t d)
{
    int32_t at = 0;
    for (int32_t k = 0; k < d; k++) at += 1 << (BITS * (depth - k));
    return at;
}
/* Cell m of level d of the unit; returns whether it is in the volume. */
template <int BITS> TSR_DEVICE_FN int unit_cell(const tsr_regions &t, const int64_t unit[3], int32_t depth, int32_t d, uint32_t m, int64_t at[3])
{
    tsr_region_decode(BITS, m, at);
    for (int k = 0; k < 3; k++) at[k] += unit[k] << (k < 2 || BITS == 3 ? depth - d : 0);
    return tsr_region_within(&t.level[t.brick + d], at);
}
/* What the compiler should know. (A field that is set makes it copy the structure, whose levels are indexed, to memory of the thread.) */
template <int BITS> TSR_DEVICE_FN void unit_know(const tsr_regions &t)
{
    TSR_ASSUME(t.bits == BITS);
    TSR_ASSUME(t.brick == (BITS == 3 ? 2 : 3));
}

/* Counts of a brick that is neither empty nor full. */
template <int BITS> TSR_DEVICE_FN void unit_brick(const tsr_regions &t, const int64_t at[3], uint64_t word, int64_t counts[2])
{
    const uint64_t merged = t.merged ? t.merged[tsr_region_raster(&t.level[t.brick], at)] : tsr_brick_merge(word, BITS);
    tsr_brick_tally(BITS, BITS == 3 ? 2 : 3, BITS == 3 ? 2 : 3, word, merged, counts); /* below the root */
}

/* Counts of all cells of the unit (leaves -1: one leaf) where bricks merge by their words alone; by all threads. */
template <int BITS> TSR_DEVICE_FN void unit_count(const tsr_regions &t, const int64_t unit[3], int32_t depth, int32_t *leaves, int32_t *nodes)
{
    const uint32_t m = threadIdx.x, bricks = 1u << (BITS * depth);
    int64_t at[3], counts[2] = { 0, 0 };
    uint64_t word = 0;
    int there = 0;
    if (m < bricks && (there = unit_cell<BITS>(t, unit, depth, 0, m, at))) word = t.words[tsr_region_raster(&t.level[t.brick], at)];
    const int any = __syncthreads_or(word != 0), full = __syncthreads_and(m >= bricks || word == ~(uint64_t)0) && !t.merged;
    if (any && !full && word) unit_brick<BITS>(t, at, word, counts);
    if (!any || full) {
        for (int32_t k = (int32_t)m; k < unit_level<BITS>(depth, depth + 1); k += unit_shape<BITS>::BRICKS) {
            leaves[k] = full ? -1 : 0;
            nodes[k] = 0;
        }
        __syncthreads();
        return;
    }
    if (m < bricks) {
        leaves[m] = (int32_t)counts[0];
        nodes[m] = (int32_t)counts[1];
    }
    __syncthreads();
    for (int32_t d = 1, below = 0; d <= depth; d++) {
        const int32_t level = below + (1 << (BITS * (depth - d + 1)));
        if (m < 1u << (BITS * (depth - d))) {
            int32_t sum = 0, inner = 0, merged = 1;
#pragma unroll
            for (int32_t c = 0; c < 1 << BITS; c++) {
                const int32_t k = below + (int32_t)(m << BITS) + c;
                merged &= leaves[k] == -1;
                sum += leaves[k] < 0 ? 1 : leaves[k];
                inner += nodes[k];
            }
            leaves[level + (int32_t)m] = merged ? -1 : sum;
            nodes[level + (int32_t)m] = merged || !sum ? 0 : 1 + inner;
        }
        below = level;
        __syncthreads();
    }
}

/* The same as they were counted before; returns the word of the thread's brick. */
template <int BITS> TSR_DEVICE_FN uint64_t unit_load(const tsr_regions &t, const int64_t unit[3], int32_t depth, int32_t *leaves, int32_t *nodes)
{
    int64_t at[3], counts[2] = { 0, 0 };
    uint64_t word = 0;
    if (threadIdx.x < 1u << (BITS * depth)) {
        if (unit_cell<BITS>(t, unit, depth, 0, threadIdx.x, at)) word = t.words[tsr_region_raster(&t.level[t.brick], at)];
        if (word) unit_brick<BITS>(t, at, word, counts);
        leaves[threadIdx.x] = (int32_t)counts[0];
        nodes[threadIdx.x] = (int32_t)counts[1];
    }
    for (int32_t k = (int32_t)threadIdx.x + (1 << (BITS * depth)); k < unit_level<BITS>(depth, depth + 1); k += unit_shape<BITS>::BRICKS) {
        int32_t d = 1;
        while (k >= unit_level<BITS>(depth, d + 1)) d++;
        const int64_t *stored = (const int64_t *)0;
        if (unit_cell<BITS>(t, unit, depth, d, (uint32_t)(k - unit_level<BITS>(depth, d)), at))
            stored = t.level[t.brick + d].counts + 2 * tsr_region_raster(&t.level[t.brick + d], at);
        leaves[k] = stored ? (int32_t)stored[0] : 0;
        nodes[k] = stored ? (int32_t)stored[1] : 0;
    }
    return word;
}

template <int BITS> TSR_KERNEL(__launch_bounds__(unit_shape<BITS>::BRICKS) unit_count_kernel)(tsr_regions t, int32_t depth)
{
    typedef unit_shape<BITS> shape;
    TSR_SHARED(int32_t, leaves, shape::CELLS);
    TSR_SHARED(int32_t, nodes, shape::CELLS);
    int64_t unit[3], at[3];
    unit_know<BITS>(t);
    tsr_region_position(&t.level[t.brick + depth], blockIdx.x, unit);
    unit_count<BITS>(t, unit, depth, leaves, nodes);
    for (int32_t k = (int32_t)threadIdx.x + (1 << (BITS * depth)); k < unit_level<BITS>(depth, depth + 1); k += shape::BRICKS) {
        int32_t d = 1;
        while (k >= unit_level<BITS>(depth, d + 1)) d++;
        if (!unit_cell<BITS>(t, unit, depth, d, (uint32_t)(k - unit_level<BITS>(depth, d)), at)) continue;
        const tsr_region_level *l = &t.level[t.brick + d];
        int64_t *counts = l->counts + 2 * tsr_region_raster(l, at);
        counts[0] = leaves[k];
        counts[1] = nodes[k];
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
TSR_KERNEL(__launch_bounds__(unit_shape<BITS>::BRICKS) unit_list_kernel)
(tsr_regions t, tsr_region_lists lists, int32_t depth, int64_t units)
{
    typedef unit_shape<BITS> shape;
    TSR_SHARED(int32_t, leaves, shape::CELLS);
    TSR_SHARED(int32_t, nodes, shape::CELLS);
    TSR_SHARED(int32_t, first_leaf, shape::CELLS); /* of a cell within the unit */
    TSR_SHARED(int32_t, first_node, shape::CELLS);
    TSR_SHARED(uint64_t, words, shape::BRICKS);
    TSR_SHARED(uint16_t, busy, shape::BRICKS);
    TSR_SHARED(uint32_t, warps, shape::WARPS);
    TSR_SHARED(int64_t, base, 2);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    int64_t unit[3], at[3];
    unit_know<BITS>(t);
    const int32_t top = t.brick + depth;
    if ((int64_t)blockIdx.x >= units) {
        int64_t i = ((int64_t)blockIdx.x - units) * shape::BRICKS + threadIdx.x;
        for (int32_t l = top + 1; l <= t.top; l++) {
            const int64_t cells = tsr_region_cells(&t.level[l]);
            if (i < cells) {
                tsr_region_position(&t.level[l], i, at);
                tsr_region_list_cell(&t, &lists, l, at, i, 0);
                return;
            }
            i -= cells;
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
    if (warp == 0) {
        int64_t first[2];
        unit_first<BITS>(t, unit, depth, lane, first);
        if (lane < 2) base[lane] = lane ? first[1] : first[0];
    }
    words[threadIdx.x] = unit_load<BITS>(t, unit, depth, leaves, nodes);
    int32_t level = unit_level<BITS>(depth, depth);
    if (threadIdx.x == 0) first_leaf[level] = first_node[level] = 0;
    for (int32_t d = depth; d > 0; d--) {
        const uint32_t m = threadIdx.x;
        const int32_t below = level - (1 << (BITS * (depth - d + 1)));
        __syncthreads();
        if (m < 1u << (BITS * (depth - d)) && leaves[level + (int32_t)m] > 0) {
            int32_t f0 = first_leaf[level + (int32_t)m], f1 = first_node[level + (int32_t)m], refs[1 << BITS];
            int32_t *node = lists.nodes + ((base[1] + f1) << BITS);
            f1++;
#pragma unroll
            for (int32_t c = 0; c < 1 << BITS; c++) {
                const int32_t k = below + (int32_t)(m << BITS) + c;
                first_leaf[k] = f0;
                first_node[k] = f1;
                refs[c] = nodes[k] ? (int32_t)(base[1] + f1) : leaves[k] == -1 ? tsr_region_leaf_reference(&lists, base[0] + f0) : 0;
                if (leaves[k] == -1 && lists.leaves) {
                    unit_cell<BITS>(t, unit, depth, d - 1, (m << BITS) + (uint32_t)c, at);
                    lists.leaves[base[0] + f0] = tsr_region_key(BITS, at, t.brick + d - 1);
                }
                f0 += leaves[k] < 0 ? 1 : leaves[k];
                f1 += nodes[k];
            }
            tsr_region_put_node(node, refs, BITS);
        }
        level = below;
    }
    /* bricks with entries of their own */
    const int mixed = threadIdx.x < 1u << (BITS * depth) && leaves[threadIdx.x] > 0;
    const uint32_t bits = __ballot_sync(TSR_WARP_ALL, mixed);
    if (lane == 0) warps[warp] = (uint32_t)__popc(bits);
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t k = 0; k < shape::WARPS; k++) {
        if (k < warp) before += warps[k];
        all += warps[k];
    }
    if (mixed) busy[before + (uint32_t)__popc(bits & ((1u << lane) - 1u))] = (uint16_t)threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= all) return;
    const uint32_t m = busy[threadIdx.x];
    const int64_t first[2] = { base[0] + first_leaf[m], base[1] + first_node[m] };
    unit_cell<BITS>(t, unit, depth, 0, m, at);
    const uint64_t merged = t.merged ? t.merged[tsr_region_raster(&t.level[t.brick], at)] : tsr_brick_merge(words[m], BITS);
    tsr_brick_entries(BITS, BITS == 3 ? 2 : 3, BITS == 3 ? 2 : 3, &lists, at, words[m], merged, first); /* below the root */
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
    TSR_LAUNCH(queue, unit_list_kernel<BITS>, (uint32_t)(units + tsr_ceil_div(above, unit_shape<BITS>::BRICKS)), unit_shape<BITS>::BRICKS, 0, *t,
               *lists, depth, units);
}

#endif
