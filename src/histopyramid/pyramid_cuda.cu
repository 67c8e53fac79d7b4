/* histopyramid/pyramid_cuda.cu: the volume is read once, by the kernel that makes the bricks; every further level reads the sums of the one below,
 * which lie together. Lists: one warp per tile climbs for the tile's first key, scans the sums of its bricks and writes. Trees of the usual
 * shape, one bit a voxel and 64 children a cell, go by words_cuda.h. */
#include "histopyramid/pyramid_ops.h"
#include "histopyramid/words_cuda.h"

enum { THREADS = 256, WARPS = THREADS / 32, DENSE = 16 /* outputs per brick */, TAIL = 256 /* cells */ };

TSR_DEVICE_FN void count_not_a_number(const tsr_tree &tree, int32_t own)
{
    const uint32_t sum = __reduce_add_sync(TSR_WARP_ALL, (uint32_t)own);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd((unsigned long long *)tree.not_a_number, (unsigned long long)sum);
}

TSR_DEVICE_FN void put_word(const tsr_tree &tree, int64_t slot, uint64_t word)
{
    if (tree.base == TSR_TREE_WORDS && word) ((uint64_t *)tree.voxels)[slot] = word;
    tsr_tree_set(&tree.level[1], slot, (uint64_t)__popcll(word));
}

/* blockIdx.y: y of the brick, blockIdx.z: its z and batch. */
TSR_KERNEL(bytes_kernel)(tsr_tree tree, tsr_classifier classifier)
{
    const tsr_tree_level *l = &tree.level[1];
    const uint32_t deep = (uint32_t)l->size[2];
    int64_t at[4] = { (int64_t)blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y, blockIdx.z % deep, blockIdx.z / deep };
    if (at[0] >= l->size[0]) return;
    const int64_t origin = tsr_tree_origin(&tree, 1, at), ny = tree.level[0].size[1] - (at[1] << l->shift[1]);
    const uint64_t word = tree.brick == TSR_BRICK_CUBE ? tsr_brick_cube(&classifier, origin, ny, tree.level[0].size[2] - (at[2] << 2))
                                                       : tsr_brick_plane(&classifier, origin, ny);
    put_word(tree, tsr_tree_slot(&tree, 1, at), word);
}

/* Counts of 64 voxels side by side, four at a time; 0 where one is refused. */
TSR_DEVICE_FN int sum_counts(const tsr_classifier &c, int64_t origin, int64_t voxels, uint64_t *sum)
{
    const uint32_t *from = (const uint32_t *)(const void *)((const uint8_t *)c.data + origin), words = (uint32_t)tsr_minl(voxels, TSR_TREE_BRICK) / 4;
    uint32_t all = 0, fit = 15u;
#pragma unroll
    for (uint32_t k = 0; k < TSR_TREE_BRICK / 4; k++) {
        const uint32_t w = k < words ? from[k] : 0u;
        fit &= tsr_bytes_within(w, 0u, (uint32_t)c.most * 0x01010101u);
        all += (w & 0x00ff00ffu) + (w >> 8 & 0x00ff00ffu);
    }
    *sum = (all & 0xffffu) + (all >> 16);
    return fit == 15u;
}

TSR_KERNEL(bricks_kernel)(tsr_tree tree, tsr_class_set classes, int64_t count, int32_t rows_of_counts)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int32_t not_a_number = 0;
    uint64_t refused = 0;
    if (i < count) {
        int64_t at[4], parent[4];
        tsr_tree_position(&tree.level[1], tsr_tree_shared(&tree, i), at);
        for (int k = 0; k < 4; k++) parent[k] = at[k];
        const int64_t slot = tsr_tree_slot(&tree, 1, parent);
        uint8_t *bytes = tree.base == TSR_TREE_BYTES ? (uint8_t *)tree.voxels + slot * TSR_TREE_BRICK : (uint8_t *)0;
        uint64_t word = 0, sum = 0;
        const int64_t left = tree.level[0].size[0] - (at[0] << tree.level[1].shift[0]);
        const int summed = rows_of_counts && sum_counts(classes.first, tsr_tree_origin(&tree, 1, at), left, &sum);
        for (int32_t c = 0; c < tsr_tree_children(&tree.level[1]) && !summed; c++) {
            if (!c) sum = 0;
            int64_t voxel[4] = { at[0], at[1], at[2], at[3] };
            tsr_tree_down(&tree.level[1], c, voxel);
            const int64_t place = tsr_tree_origin(&tree, 0, voxel);
            const int32_t before = not_a_number;
            const uint32_t m = tsr_tree_within(&tree.level[0], voxel) ? tsr_classify_stacked(&classes, place, &not_a_number) : 0;
            if (not_a_number > before && UINT64_MAX - (uint64_t)place > refused) refused = UINT64_MAX - (uint64_t)place;
            if (bytes) bytes[c] = (uint8_t)m;
            word |= (uint64_t)(m & 1u) << c;
            sum += m;
        }
        if (tree.base == TSR_TREE_WORDS) put_word(tree, slot, word);
        else tsr_tree_set(&tree.level[1], slot, sum);
    }
    if (refused && tsr_class_of(&classes, 0).kind == TSR_PYRAMID_COUNTS)
        atomicMax((unsigned long long *)tree.not_a_number + 1, (unsigned long long)refused);
    count_not_a_number(tree, not_a_number);
}

/* Children in 16-byte loads: 64 sums of bytes are four of them. */
template <class T> TSR_DEVICE_FN uint64_t sum_children(const T *p, int32_t children)
{
    struct alignas(16) pack {
        T v[16 / sizeof(T)];
    };
    uint64_t sum = 0;
    int32_t c = 0;
    if ((children * sizeof(T)) % 16 == 0) /* families are aligned as well then */
        for (; c < children; c += 16 / (int32_t)sizeof(T)) {
            const pack w = *(const pack *)(const void *)(p + c);
#pragma unroll
            for (int k = 0; k < (int)(16 / sizeof(T)); k++) sum += w.v[k];
        }
    for (; c < children; c++) sum += p[c];
    return sum;
}

TSR_DEVICE_FN void reduce_cell(const tsr_tree &tree, int32_t level, int64_t i)
{
    int64_t at[4];
    const tsr_tree_level *below = &tree.level[level - 1];
    const int32_t children = tsr_tree_children(&tree.level[level]);
    const int64_t first = tsr_tree_family(&tree.level[level], i);
    const uint64_t sum = below->bytes == 1   ? sum_children((const uint8_t *)below->sums + first, children)
                         : below->bytes == 2 ? sum_children((const uint16_t *)below->sums + first, children)
                         : below->bytes == 4 ? sum_children((const uint32_t *)below->sums + first, children)
                                             : sum_children((const uint64_t *)below->sums + first, children);
    tsr_tree_position(&tree.level[level], i, at);
    tsr_tree_set(&tree.level[level], tsr_tree_slot(&tree, level, at), sum);
}
TSR_KERNEL(reduce_kernel)(tsr_tree tree, int32_t level, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) reduce_cell(tree, level, i);
}
/* The levels from `level` on by one block. */
TSR_KERNEL(tail_kernel)(tsr_tree tree, int32_t level)
{
    for (; level < tree.levels; level++) {
        const int64_t count = tsr_tree_cells(&tree.level[level]);
        for (int64_t i = threadIdx.x; i < count; i += TAIL) reduce_cell(tree, level, i);
        __syncthreads();
    }
}

TSR_KERNEL(select_kernel)(tsr_tree tree, tsr_class_set classes, const uint64_t *keys, int64_t count, tsr_pyramid_entry *entries)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) entries[i] = tsr_tree_select(&tree, &classes, keys[i]);
}

TSR_KERNEL(rank_kernel)(tsr_tree tree, tsr_class_set classes, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) keys[i] = tsr_tree_rank(&tree, &classes, voxels[i]);
}

TSR_KERNEL(firsts_kernel)(tsr_tree tree, tsr_class_set classes, int64_t count, uint64_t *keys)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) keys[i] = tsr_tree_batch_first(&tree, &classes, i);
}

/* Many outputs: the warp takes brick after brick, so that its lanes write side by side. */
TSR_DEVICE_FN void write_dense(const tsr_tree_list &list, const int64_t *cell, uint64_t word, int64_t origin, uint64_t key, uint32_t lane)
{
    for (uint32_t left = __ballot_sync(TSR_WARP_ALL, word != 0); left; left &= left - 1u) {
        const int from = __ffs((int)left) - 1;
        const uint64_t w = __shfl_sync(TSR_WARP_ALL, word, from), k = __shfl_sync(TSR_WARP_ALL, key, from);
        const int64_t o = __shfl_sync(TSR_WARP_ALL, origin, from);
#pragma unroll
        for (uint32_t b = lane; b < 64; b += 32)
            if (w >> b & 1u) tsr_tree_write(&list, k + (uint64_t)__popcll(w & (((uint64_t)1 << b) - 1u)), o + cell[b], 0);
    }
}

/* The outputs of a brick of such counts; most of its words are 0. */
TSR_DEVICE_FN void expand_counts(const tsr_tree &tree, const tsr_classifier &c, const tsr_tree_list &list, int64_t origin, uint64_t key)
{
    const uint32_t *from = (const uint32_t *)(const void *)((const uint8_t *)c.data + origin),
                   words = (uint32_t)tsr_minl(tree.level[0].size[0] - origin, TSR_TREE_BRICK) / 4;
    uint32_t all[TSR_TREE_BRICK / 4];
#pragma unroll
    for (uint32_t k = 0; k < TSR_TREE_BRICK / 4; k++) all[k] = k < words ? from[k] : 0u;
#pragma unroll
    for (uint32_t k = 0; k < TSR_TREE_BRICK / 4; k++)
        for (int32_t b = 0; all[k] && b < 4; b++) {
            const int32_t n = (int32_t)(all[k] >> 8 * b & 255u);
            for (int32_t copy = 0; n <= c.most && copy < n; copy++) tsr_tree_write(&list, key++, origin + 4 * k + b, copy);
        }
}

TSR_KERNEL(extract_kernel)(tsr_tree tree, tsr_class_set classes, tsr_tree_list list, int32_t level, int64_t count, int32_t rows_of_counts)
{
    TSR_SHARED(int64_t, cell, TSR_TREE_BRICK);
    TSR_SHARED(int64_t, offset, 64);
    const uint32_t lane = threadIdx.x & 31u;
    const tsr_tree_level *tiles = &tree.level[level];
    const int32_t children = level == 2 ? tsr_tree_children(tiles) : 1;
    if (threadIdx.x < (uint32_t)tsr_tree_children(&tree.level[1]))
        cell[threadIdx.x] = tsr_tree_offset(&tree, 1, tsr_tree_seen(&tree.level[1], (int32_t)threadIdx.x));
    if (threadIdx.x < (uint32_t)children) offset[threadIdx.x] = level == 2 ? tsr_tree_offset(&tree, 2, (int32_t)threadIdx.x) : 0;
    __syncthreads();
    const int64_t tile = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    if (tile >= count) return;
    int64_t at[4], climb[4];
    tsr_tree_position(tiles, tile, at);
    const uint64_t sum = tsr_tree_tile_sum(&tree, level, at);
    if (!sum) return;
    for (int k = 0; k < 4; k++) climb[k] = at[k];
    uint64_t key = warp_first<0>(tree, level, climb, lane);
    if (key + sum <= list.first || key >= list.end) return;
    const int64_t origin = tsr_tree_origin(&tree, level, at);
    const int dense = tree.base == TSR_TREE_WORDS && sum >= (uint64_t)children * DENSE;
    for (int32_t v0 = 0; v0 < children; v0 += 32) {
        const int32_t v = v0 + (int32_t)lane, c = level == 2 ? tsr_tree_seen(tiles, v) : v;
        const int64_t slot = level == 2 ? tsr_tree_family(tiles, tile) + c : 0;
        const uint32_t own = v < children ? (uint32_t)tsr_tree_get(&tree.level[1], slot) : 0;
        uint32_t up_to = own;
        for (uint32_t step = 1; step < 32; step *= 2) {
            const uint32_t other = __shfl_up_sync(TSR_WARP_ALL, up_to, step);
            if (lane >= step) up_to += other;
        }
        const uint64_t first = key + up_to - own;
        if (dense) {
            const uint64_t word = own ? tsr_tree_seen_word(&tree.level[1], ((const uint64_t *)tree.voxels)[slot]) : 0;
            write_dense(list, cell, word, own ? origin + offset[c] : 0, first, lane);
        } else if (own && rows_of_counts) {
            expand_counts(tree, classes.first, list, origin + offset[c], first);
        } else if (own) {
            int64_t brick[4] = { at[0], at[1], at[2], at[3] };
            if (level == 2) tsr_tree_down(tiles, c, brick);
            tsr_tree_expand(&tree, &classes, &list, cell, brick, slot, origin + offset[c], first);
        }
        key += __shfl_sync(TSR_WARP_ALL, up_to, 31);
    }
}

TSR_KERNEL(extract_keys_kernel)(tsr_tree tree, tsr_class_set classes, tsr_tree_list list, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_tree_write_key(&tree, &classes, &list, list.first + (uint64_t)i);
}

TSR_KERNEL(points_kernel)(tsr_points_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < job.count) tsr_point_make(&job, i);
}
TSR_KERNEL(matrix_kernel)(tsr_matrix_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < job.nonzeros) tsr_matrix_entry(&job, i);
}
TSR_KERNEL(rows_kernel)(tsr_tree tree, tsr_matrix_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i <= job.rows) job.starts[i] = tsr_tree_rank(&tree, (const tsr_class_set *)0, i * job.width); /* its words are stored */
}

/* Eight threads take a row: each four of its sums, so that a row of a stencil is one round of loads. */
enum { ROW_THREADS = 8, ROW_SUMS = TSR_PRODUCT_LANES / ROW_THREADS };
TSR_KERNEL(product_kernel)(tsr_product_job job)
{
    const int64_t row = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / ROW_THREADS;
    const int32_t own = (int32_t)(threadIdx.x % ROW_THREADS);
    double sum[ROW_SUMS];
#pragma unroll
    for (int k = 0; k < ROW_SUMS; k++) sum[k] = row < job.rows ? tsr_product_lane(&job, row, k * ROW_THREADS + own) : 0.0;
#pragma unroll
    for (int half = ROW_SUMS / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < ROW_SUMS / 2; k++)
            if (k < half) sum[k] += sum[k + half];
    for (int step = ROW_THREADS / 2; step > 0; step /= 2) sum[0] += __shfl_xor_sync(TSR_WARP_ALL, sum[0], step);
    if (own == 0 && row < job.rows) tsr_product_store(&job, row, sum[0]);
}

/* Counts that are bytes, in bricks of 64 side by side. */
static int32_t rows_of_counts(const tsr_tree *tree, const tsr_class_set *classes)
{
    const tsr_classifier *c = &classes->first;
    return tree->brick == TSR_BRICK_ROW && tree->base == TSR_TREE_IMPLICIT && classes->count == 1 && c->kind == TSR_PYRAMID_COUNTS &&
           c->dtype == TSR_U8 && tree->stride[0] == 1 && !tree->level[1].flip && c->most < UINT8_MAX && c->size[0] % 4 == 0 &&
           (uintptr_t)c->data % 4 == 0;
}

static tsr_status cuda_build(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes)
{
    const tsr_tree_level *l = &tree->level[1];
    const tsr_classifier *c = &classes->first;
    const int64_t bricks = tsr_tree_cells(l);
    const int bits = tree->base != TSR_TREE_BYTES && classes->count == 1 && c->bytes;
    int32_t n = 2;
    if (launch_tiles_of_bytes(queue, tree, classes)) n = 3;
    else {
        TSR_TRY(tsr_queue_fill(queue, tree->not_a_number, 0, 2 * sizeof *tree->not_a_number));
        if (bits && tsr_bricks_of_bytes(c, tree->brick) && l->size[1] < 65536 && l->size[2] * l->size[3] < 65536) {
            const uint32_t threads = l->size[0] > 128 ? 256 : l->size[0] > 32 ? 128 : 32;
            const dim3 blocks(tsr_blocks(l->size[0], threads, INT32_MAX), (uint32_t)l->size[1], (uint32_t)(l->size[2] * l->size[3]));
            TSR_LAUNCH(queue, bytes_kernel, blocks, dim3(threads), 0, *tree, *c);
        } else
            TSR_LAUNCH(queue, bricks_kernel, tsr_blocks(bricks, THREADS, INT32_MAX), THREADS, 0, *tree, *classes, bricks,
                       rows_of_counts(tree, classes));
    }
    for (; n < tree->levels && tsr_tree_cells(&tree->level[n]) > TAIL; n++) {
        const int64_t count = tsr_tree_cells(&tree->level[n]);
        TSR_LAUNCH(queue, reduce_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *tree, n, count);
    }
    if (n < tree->levels) TSR_LAUNCH(queue, tail_kernel, 1, TAIL, 0, *tree, n);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_select(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const uint64_t *keys, int64_t count,
                              tsr_pyramid_entry *entries)
{
    TSR_LAUNCH(queue, select_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *tree, *classes, keys, count, entries);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_extract(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const tsr_tree_list *list)
{
    const int32_t level = tsr_tree_tile_level(tree);
    const int64_t tiles = tsr_tree_cells(&tree->level[level]);
    const int64_t keys = (int64_t)(list->end - list->first);
    if (tsr_tree_few(list, tiles))
        TSR_LAUNCH(queue, extract_keys_kernel, tsr_blocks(keys, THREADS, INT32_MAX), THREADS, 0, *tree, *classes, *list, keys);
    else if (!launch_list_of_words(queue, tree, list))
        TSR_LAUNCH(queue, extract_kernel, tsr_blocks(tiles, WARPS, INT32_MAX), THREADS, 0, *tree, *classes, *list, level, tiles,
                   rows_of_counts(tree, classes));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_rank(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const int64_t *voxels, int64_t count,
                            uint64_t *keys)
{
    TSR_LAUNCH(queue, rank_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *tree, *classes, voxels, count, keys);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_firsts(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, int64_t batch, uint64_t *keys)
{
    TSR_LAUNCH(queue, firsts_kernel, tsr_blocks(batch + 1, THREADS, INT32_MAX), THREADS, 0, *tree, *classes, batch + 1, keys);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_points(tsr_queue *queue, const tsr_points_job *job)
{
    TSR_LAUNCH(queue, points_kernel, tsr_blocks(job->count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_matrix(tsr_queue *queue, const tsr_tree *tree, const tsr_matrix_job *job)
{
    TSR_LAUNCH(queue, matrix_kernel, tsr_blocks(job->nonzeros, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_LAUNCH(queue, rows_kernel, tsr_blocks(job->rows + 1, THREADS, INT32_MAX), THREADS, 0, *tree, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_product(tsr_queue *queue, const tsr_product_job *job)
{
    TSR_LAUNCH(queue, product_kernel, tsr_blocks(job->rows, THREADS / ROW_THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_pyramid_ops tsr_pyramid_cuda = { cuda_build,  cuda_select, cuda_extract, cuda_rank,      cuda_firsts,
                                                      cuda_points, cuda_matrix, cuda_product, tsr_levels_cuda };
