/* histopyramid/words_cuda.h: pyramids of bytes in the common shape: bricks of 64 voxels, tiles of 64 bricks, one bit a voxel. Two levels are made while
 * the bytes pass, and lists are made of the words by warps that take eight tiles each, whatever is in them:
 *   few outputs   a lane looks at the sums of 16 bricks and fetches the words of those that are not empty
 *   many          the lanes take 32 bricks at a time
 * Either way the outputs are gathered in shared memory as places within the eight tiles, so that memory is written side by side. */
#ifndef TSR_HISTOPYRAMID_WORDS_CUDA_H
#define TSR_HISTOPYRAMID_WORDS_CUDA_H

#include "histopyramid/bricks_cuda.h"

enum { WORDS_THREADS = 256, WORDS_WARPS = WORDS_THREADS / 32, TILE_VOXELS = TSR_TREE_BRICK * 64, TILE_STEPS = TILE_VOXELS / (32 * 16) };

/* ---- bricks and tiles of bytes ------------------------------------------------------------------------------------------------------------ */

/* One class, or several: then the voxels stay in registers while each makes its words. */
TSR_DEVICE_FN const tsr_classifier *classes_first(const tsr_classifier &c) { return &c; }
TSR_DEVICE_FN const tsr_classifier *classes_first(const tsr_class_set &c) { return &c.first; }
TSR_DEVICE_FN int32_t classes_count(const tsr_classifier &) { return 1; } /* the compiler sees it */
TSR_DEVICE_FN int32_t classes_count(const tsr_class_set &c) { return c.count; }
TSR_DEVICE_FN tsr_classifier class_of(const tsr_classifier &c, int32_t) { return c; }
TSR_DEVICE_FN tsr_classifier class_of(const tsr_class_set &c, int32_t n) { return tsr_class_of(&c, n); }

/* Four lanes hold a quarter of a word each, in every step s one: piece[s] of lane q is quarter q of word s. Lane q gets word q. */
TSR_DEVICE_FN uint64_t turn_quarters(const uint32_t piece[4], uint32_t lane)
{
    const uint32_t early = piece[0] | piece[1] << 16, late = piece[2] | piece[3] << 16, odd = lane & 1u, high = lane & 2u;
    const uint32_t kept = high ? late : early, other = __shfl_xor_sync(TSR_WARP_ALL, high ? early : late, 2);
    /* quarters q and q ^ 2 of the word of this lane and of that of its neighbour */
    const uint32_t first = (kept & 0xffffu) | other << 16, second = kept >> 16 | (other & 0xffff0000u);
    const uint32_t own = odd ? second : first, theirs = __shfl_xor_sync(TSR_WARP_ALL, odd ? first : second, 1);
    const uint32_t even = odd ? theirs : own, uneven = odd ? own : theirs;
    const uint32_t near = (even & 0xffffu) | uneven << 16, far = even >> 16 | (uneven & 0xffff0000u);
    return high ? (uint64_t)near << 32 | far : (uint64_t)far << 32 | near;
}

/* Words of four steps: kept voxels of the first `left` (of many: 64) bytes of each piece. Slots follow `tile`'s first, sums are added. */
template <int NONZERO>
TSR_DEVICE_FN uint32_t row_words(const tsr_tree &tree, const tsr_classifier *c, const uint4 *v, int h, int whole, int64_t left, int64_t slots,
                                 uint32_t lane)
{
    uint32_t piece[4];
#pragma unroll
    for (int s = 0; s < 4; s++) {
        const int64_t rest = left - (h + s) * 512;
        piece[s] = tsr_kept_row<NONZERO>(c, v[h + s]);
        if (!whole && rest < 16) piece[s] &= rest > 0 ? (1u << rest) - 1u : 0u;
    }
    const uint64_t word = turn_quarters(piece, lane);
    const int64_t slot = slots + h * 8 + (lane & 3u) * 8 + lane / 4u;
    const uint32_t own = (uint32_t)__popcll(word), busy = __ballot_sync(TSR_WARP_ALL, own != 0);
    /* whole sectors of four words, or nothing */
    if (tree.base == TSR_TREE_WORDS && (busy & 0x1111u << (lane & 19u))) ((uint64_t *)tree.voxels)[slot] = word;
    ((uint8_t *)tree.level[1].sums)[slot] = (uint8_t)own;
    return own;
}

/* Bytes in a row, a tile per warp: a lane reads 16 bytes in each of 8 steps. MANY: for every class. */
template <int NONZERO, class C> TSR_KERNEL(row_tiles_kernel)(tsr_tree tree, C classes, int64_t count)
{
    const uint32_t lane = threadIdx.x & 31u;
    const int64_t tile = (int64_t)blockIdx.x * WORDS_WARPS + threadIdx.x / 32u, first = tile * TILE_VOXELS + lane * 16;
    const uint8_t *p = (const uint8_t *)classes_first(classes)->data;
    const int whole = (tile + 1) * TILE_VOXELS <= count;
    uint4 v[TILE_STEPS];
    if (blockIdx.x == 0 && threadIdx.x == 0) *tree.not_a_number = 0;
    if (tile * TILE_VOXELS >= count) return;
    if (whole) {
#pragma unroll
        for (int s = 0; s < TILE_STEPS; s++) v[s] = *(const uint4 *)(const void *)(p + first + s * 512);
    } else {
        for (int s = 0; s < TILE_STEPS; s++) {
            uint32_t bytes[4] = { 0, 0, 0, 0 };
            for (int64_t k = 0; k < 16 && first + s * 512 + k < count; k++) bytes[k >> 2] |= (uint32_t)p[first + s * 512 + k] << 8 * (k & 3);
            v[s] = make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]);
        }
    }
    for (int32_t k = 0; k < classes_count(classes); k++) {
        const tsr_classifier own = class_of(classes, k);
        const int64_t raster = tile + k * tree.level[2].size[0]; /* of several classes: one after the other */
        uint32_t sum = 0;
#pragma unroll
        for (int h = 0; h < TILE_STEPS; h += 4) sum += row_words<NONZERO>(tree, &own, v, h, whole, count - first, raster * 64, lane);
        sum = __reduce_add_sync(TSR_WARP_ALL, sum);
        if (lane == 0) {
            int64_t at[4] = { tile, 0, 0, k };
            tsr_tree_set(&tree.level[2], classes_count(classes) == 1 ? tile : tsr_halves_slot(&tree, 2, at), sum);
        }
    }
}

/* Families of 4 x 4 x 4 cubes: a thread makes the four bricks of a row, a block 1 << log2_across families side by side. */
template <int NONZERO, class C> TSR_KERNEL(cube_tiles_kernel)(tsr_tree tree, C classes, int32_t log2_across)
{
    TSR_SHARED(uint32_t, totals, 16);
    const tsr_tree_level *tiles = &tree.level[2];
    const uint32_t across = 1u << log2_across, tx = threadIdx.x & (across - 1u), y = threadIdx.x >> log2_across & 3u,
                   z = threadIdx.x >> (log2_across + 2);
    const uint32_t deep = (uint32_t)tiles->size[2], odd = y & 1u;
    const int64_t volumes = tiles->size[3] / classes_count(classes);
    int64_t at[4] = { (int64_t)blockIdx.x * across + tx, blockIdx.y, blockIdx.z % deep, blockIdx.z / deep };
    const int inside = at[0] < tiles->size[0];
    const int64_t ny = tree.level[0].size[1] - (16 * at[1] + 4 * y), nz = tree.level[0].size[2] - (16 * at[2] + 4 * z);
    uint4 row[16];
    uint64_t word[4] = { 0, 0, 0, 0 };
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0) *tree.not_a_number = 0;
    if (inside) {
        const int64_t origin = tsr_halves_origin(&tree, 2, at) + (int64_t)(4 * z) * tree.stride[2] + (int64_t)(4 * y) * tree.stride[1];
        if (sizeof(C) == sizeof(tsr_classifier)) tsr_bricks_cube<NONZERO>(classes_first(classes), origin, ny, nz, word); /* rows pass as they come */
        else tsr_bricks_load(classes_first(classes), origin, ny, nz, row);
    }
    for (int32_t n = 0; n < classes_count(classes); n++, at[3] += volumes) {
        const tsr_classifier own_class = class_of(classes, n);
        if (n) __syncthreads();
        if (threadIdx.x < across) totals[threadIdx.x] = 0;
        __syncthreads();
        if (inside && sizeof(C) != sizeof(tsr_classifier)) tsr_bricks_words<NONZERO>(&own_class, ny, nz, row, word);
        /* rows y and y + 1 share: the one takes the four bricks of the lower x, the other the rest */
        const uint64_t one = __shfl_xor_sync(TSR_WARP_ALL, odd ? word[0] : word[2], (int)across);
        const uint64_t two = __shfl_xor_sync(TSR_WARP_ALL, odd ? word[1] : word[3], (int)across);
        if (odd) {
            word[0] = one;
            word[1] = two;
        } else {
            word[2] = one;
            word[3] = two;
        }
        uint32_t sums = 0, sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t own = (uint32_t)__popcll(word[k]);
            sums |= own << 8 * k;
            sum += own;
        }
        if (inside) {
            const int64_t slot = tsr_tree_raster(tiles, at) * 64 + (z & 1u) * 4 + odd * 8 + (y >> 1) * 16 + (z >> 1) * 32;
            if (tree.base == TSR_TREE_WORDS && sum) {
                tsr_word_pair *to = (tsr_word_pair *)(void *)((uint64_t *)tree.voxels + slot);
                const tsr_word_pair low = { { word[0], word[1] } }, high = { { word[2], word[3] } };
                to[0] = low;
                to[1] = high;
            }
            *(uint32_t *)(void *)((uint8_t *)tree.level[1].sums + slot) = sums;
            if (sum) tsr_shared_add(&totals[tx], sum);
        }
        __syncthreads();
        if (threadIdx.x < across && inside) {
            int64_t climb[4] = { at[0], at[1], at[2], at[3] };
            tsr_tree_set(tiles, tsr_halves_slot(&tree, 2, climb), totals[threadIdx.x]);
        }
    }
}

template <int NONZERO, class C>
static void launch_tiles(tsr_queue *queue, const tsr_tree *tree, const C &classes, int32_t log2_across, dim3 blocks, int64_t voxels)
{
    void (*row)(tsr_tree, C, int64_t) = row_tiles_kernel<NONZERO, C>;
    void (*cube)(tsr_tree, C, int32_t) = cube_tiles_kernel<NONZERO, C>;
    if (tree->brick == TSR_BRICK_ROW) TSR_LAUNCH(queue, row, blocks, WORDS_THREADS, 0, *tree, classes, voxels);
    else TSR_LAUNCH(queue, cube, blocks, dim3(16u << log2_across), 0, *tree, classes, log2_across);
}

/* Bricks and tiles of bytes, if the tree has this shape; returns whether it has. */
static inline int launch_tiles_of_bytes(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes)
{
    static const uint8_t cube[6] = { 0, 1, 2, 0, 1, 2 }, line[6] = { 0, 0, 0, 0, 0, 0 };
    const tsr_tree_level *tiles = &tree->level[2];
    const tsr_classifier *c = &classes->first;
    int64_t voxels = 0;
    int32_t log2_across = 1; /* two rows in a warp at least */
    dim3 blocks;
    if (tree->base == TSR_TREE_BYTES || tree->levels < 3 || tiles->bits != 6 || (uintptr_t)c->data % 16) return 0;
    for (int32_t k = 0; k < classes->count; k++)
        if (!tsr_class_of(classes, k).bytes) return 0;
    if (tree->brick == TSR_BRICK_ROW) {
        if (memcmp(tiles->axis, line, sizeof line)) return 0;
        voxels = tree->level[0].size[0];
        blocks = dim3(tsr_blocks(tsr_ceil_div(voxels, TILE_VOXELS), WORDS_WARPS, INT32_MAX));
    } else {
        const int64_t volumes = tiles->size[3] / classes->count;
        if (tree->brick != TSR_BRICK_CUBE || memcmp(tiles->axis, cube, sizeof cube) || !tsr_bricks_of_rows(c) || tiles->size[1] >= 65536 ||
            tiles->size[2] * volumes >= 65536)
            return 0;
        while (log2_across < 4 && (int64_t)1 << log2_across < tiles->size[0]) log2_across++;
        blocks =
            dim3(tsr_blocks(tiles->size[0], (int64_t)1 << log2_across, INT32_MAX), (uint32_t)tiles->size[1], (uint32_t)(tiles->size[2] * volumes));
    }
    if (classes->count > 1) launch_tiles<0>(queue, tree, *classes, log2_across, blocks, voxels);
    else if (tsr_rule_nonzero(c)) launch_tiles<1>(queue, tree, *c, log2_across, blocks, voxels);
    else launch_tiles<0>(queue, tree, *c, log2_across, blocks, voxels);
    return 1;
}

/* First key of a tile, by the whole warp: at each level the lanes add the siblings before the own one. HALVES: no level is one of thirds. */
template <int HALVES> TSR_DEVICE_FN uint64_t warp_first(const tsr_tree &tree, int32_t n, int64_t at[4], uint32_t lane)
{
    uint64_t rank = 0;
    for (n++; n < tree.levels; n++) {
        const tsr_tree_level *l = &tree.level[n];
        if (HALVES) {
            const int32_t own = tsr_halves_up(l, at) ^ l->flip;
            const int64_t first = tsr_tree_raster(l, at) << l->bits;
            for (int32_t v = (int32_t)lane; v < own; v += 32) rank += tsr_tree_get(&tree.level[n - 1], first + (v ^ l->flip));
        } else {
            const int32_t own = tsr_tree_seen(l, tsr_tree_up(l, at));
            const int64_t first = tsr_tree_family(l, tsr_tree_raster(l, at));
            for (int32_t v = (int32_t)lane; v < own; v += 32) rank += tsr_tree_get(&tree.level[n - 1], first + tsr_tree_seen(l, v));
        }
    }
    for (int step = 16; step > 0; step /= 2) rank += __shfl_xor_sync(TSR_WARP_ALL, rank, step);
    return rank;
}

/* ---- lists -------------------------------------------------------------------------------------------------------------------------------- */

enum { GROUP_TILES = 8, STAGE = 2048 /* places: half a tile */ };

TSR_DEVICE_FN void list_put(uint32_t *out, uint64_t key, uint64_t voxel) { out[key] = (uint32_t)voxel; }
TSR_DEVICE_FN void list_put(uint64_t *out, uint64_t key, uint64_t voxel) { out[key] = voxel; }
TSR_DEVICE_FN void list_put(tsr_pyramid_entry *out, uint64_t key, uint64_t voxel) { out[key] = { (int64_t)voxel, 0 }; }
template <class O> struct list_index {
    typedef uint64_t type;
};
template <> struct list_index<uint32_t> {
    typedef uint32_t type;
};

/* The set bits of a word to the stage; `place` of the first voxel of the brick. Returns the next place in the stage. */
TSR_DEVICE_FN uint32_t stage_word(uint16_t *stage, uint32_t to, uint64_t word, uint32_t place)
{
    for (uint32_t half = 0; half < 2; half++, place += 32)
        for (uint32_t bits = (uint32_t)(word >> 32 * half); bits; bits &= bits - 1u)
            stage[to++] = (uint16_t)(place + (uint32_t)__ffs((int)bits) - 1u);
    return to;
}

/* What is on the stage, `count` places whose first key is `key`, to the list. LINEAR: the voxels of the tiles follow each other. */
template <class O, int LINEAR>
TSR_DEVICE_FN void stage_write(const tsr_tree_list &list, uint64_t key, uint32_t count, const uint16_t *stage,
                               const typename list_index<O>::type *origin, const typename list_index<O>::type *offset,
                               const typename list_index<O>::type *cell, uint32_t lane)
{
    typedef typename list_index<O>::type index;
    const uint32_t from = key >= list.first ? 0 : list.first - key < count ? (uint32_t)(list.first - key) : count;
    const uint32_t to = key + count <= list.end ? count : key >= list.end ? 0 : (uint32_t)(list.end - key);
    O *out = (O *)list.out + (int64_t)(key - list.first);
    const index linear = origin[0];
#pragma unroll 4
    for (uint32_t i = from + lane; i < to; i += 32) {
        const uint32_t e = stage[i];
        list_put(out, i, LINEAR ? linear + e : origin[e >> 12] + offset[e >> 6 & 63u] + cell[e & 63u]);
    }
}

/* A warp per group of eight tiles that are children 8 n .. 8 n + 7 of a cell of level 3. */
template <class O, int LINEAR> TSR_KERNEL(list_words_kernel)(tsr_tree tree, tsr_tree_list list, int64_t groups)
{
    typedef typename list_index<O>::type index;
    TSR_SHARED(index, cell, 64);
    TSR_SHARED(index, offset, 64);
    TSR_SHARED(index, origins, WORDS_WARPS * GROUP_TILES);
    TSR_SHARED(uint16_t, stages, WORDS_WARPS * STAGE);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    if (!LINEAR && threadIdx.x < 64) cell[threadIdx.x] = (index)tsr_halves_offset(&tree, 1, (int32_t)threadIdx.x);
    else if (!LINEAR && threadIdx.x < 128) offset[threadIdx.x - 64] = (index)tsr_halves_offset(&tree, 2, (int32_t)threadIdx.x - 64);
    __syncthreads();
    const int64_t group = (int64_t)blockIdx.x * WORDS_WARPS + warp, parent = group / GROUP_TILES;
    const uint32_t sub = (uint32_t)(group % GROUP_TILES);
    if (group >= groups) return;
    /* the sums of all 64 tiles of the parent, two a lane */
    const uint32_t pair = (uint32_t)(tsr_tree_get(&tree.level[2], parent * 64 + 2 * lane) + tsr_tree_get(&tree.level[2], parent * 64 + 2 * lane + 1));
    const uint32_t total = __reduce_add_sync(TSR_WARP_ALL, lane / 4u == sub ? pair : 0u);
    if (!total) return;
    int64_t at[4], climb[4];
    tsr_tree_position(&tree.level[3], parent, at);
    for (int k = 0; k < 4; k++) climb[k] = at[k];
    uint64_t key = warp_first<1>(tree, 3, climb, lane) + __reduce_add_sync(TSR_WARP_ALL, lane / 4u < sub ? pair : 0u);
    if (key + total <= list.first || key >= list.end) return;
    /* a lane's tile and its quarter of that */
    const uint32_t tile = lane / 4u, quarter = lane & 3u;
    tsr_halves_down(&tree.level[3], (int32_t)(sub * GROUP_TILES + tile), at);
    const int there = tsr_tree_within(&tree.level[2], at);
    const int64_t bricks = tsr_tree_raster(&tree.level[2], at) * 64;
    const uint8_t *sums = (const uint8_t *)tree.level[1].sums;
    const uint64_t *words = (const uint64_t *)tree.voxels;
    index *origin = origins + warp * GROUP_TILES;
    uint16_t *stage = stages + warp * STAGE;
    if (quarter == 0) origin[tile] = there ? (index)tsr_halves_origin(&tree, 2, at) : 0;
    if (total <= STAGE) {
        const uint4 v = there ? *(const uint4 *)(const void *)(sums + bricks + quarter * 16) : make_uint4(0, 0, 0, 0);
        const uint32_t bytes[4] = { v.x, v.y, v.z, v.w };
        uint32_t own = 0, to;
        for (int k = 0; k < 4; k++) { /* at most 64 each: two bytes hold the sum of two */
            const uint32_t twos = (bytes[k] & 0x00ff00ffu) + (bytes[k] >> 8 & 0x00ff00ffu);
            own += (twos & 0xffffu) + (twos >> 16);
        }
        to = own;
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t other = __shfl_up_sync(TSR_WARP_ALL, to, step);
            if (lane >= step) to += other;
        }
        to -= own;
        uint32_t busy = tsr_kept_row<1>((const tsr_classifier *)0, v);
        const uint64_t *from = words + bricks + quarter * 16;
        uint32_t brick = busy ? (uint32_t)__ffs((int)busy) - 1u : 0u;
        uint64_t next = busy ? from[brick] : 0;
        while (busy) { /* one word ahead */
            const uint64_t word = next;
            const uint32_t place = tile << 12 | (quarter * 16 + brick) << 6;
            busy &= busy - 1u;
            brick = busy ? (uint32_t)__ffs((int)busy) - 1u : 0u;
            next = busy ? from[brick] : 0;
            to = stage_word(stage, to, word, place);
        }
        __syncwarp();
        stage_write<O, LINEAR>(list, key, total, stage, origin, offset, cell, lane);
        return;
    }
    for (uint32_t half = 0; half < 2 * GROUP_TILES; half++) {
        const uint32_t holder = half / 2 * 4, brick = (half & 1u) * 32 + lane;
        const int64_t first = __shfl_sync(TSR_WARP_ALL, bricks, (int)holder);
        if (!__shfl_sync(TSR_WARP_ALL, there, (int)holder)) continue;
        const uint32_t own = sums[first + brick];
        const uint64_t word = own ? words[first + brick] : 0;
        uint32_t to = own;
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t other = __shfl_up_sync(TSR_WARP_ALL, to, step);
            if (lane >= step) to += other;
        }
        const uint32_t count = __shfl_sync(TSR_WARP_ALL, to, 31);
        stage_word(stage, to - own, word, half / 2 << 12 | brick << 6);
        __syncwarp();
        stage_write<O, LINEAR>(list, key, count, stage, origin, offset, cell, lane);
        __syncwarp();
        key += count;
    }
}

template <class O> static void launch_list(tsr_queue *queue, const tsr_tree *tree, const tsr_tree_list *list)
{
    void (*row)(tsr_tree, tsr_tree_list, int64_t) = list_words_kernel<O, 1>;
    void (*morton)(tsr_tree, tsr_tree_list, int64_t) = list_words_kernel<O, 0>;
    const int64_t groups = tsr_tree_cells(&tree->level[3]) * (64 / GROUP_TILES);
    TSR_LAUNCH(queue, (tree->brick == TSR_BRICK_ROW ? row : morton), tsr_blocks(groups, WORDS_WARPS, INT32_MAX), WORDS_THREADS, 0, *tree, *list,
               groups);
}

/* The list, if the tree has this shape; returns whether it has. */
static inline int launch_list_of_words(tsr_queue *queue, const tsr_tree *tree, const tsr_tree_list *list)
{
    if (tree->base != TSR_TREE_WORDS || tree->levels < 4) return 0;
    for (int32_t n = 1; n <= 3; n++)
        if (tree->level[n].bits != 6 || tree->level[n].flip) return 0; /* thirds have 3 digits at most */
    if (list->bytes == 4) launch_list<uint32_t>(queue, tree, list);
    else if (list->bytes == 8) launch_list<uint64_t>(queue, tree, list);
    else launch_list<tsr_pyramid_entry>(queue, tree, list);
    return 1;
}

#endif
