#include "device/kernel.h"

#include "pyramid/pyramid_ops.h"

TSR_KERNEL(classify_kernel)(tsr_tree tree, tsr_tree_classifier classifier, int64_t count)
{
    uint8_t *base = (uint8_t *)tree.level[0].sums;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    int32_t not_a_number = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) base[i] = tsr_tree_classify(&classifier, i, &not_a_number);
    uint32_t sum = __reduce_add_sync(TSR_WARP_ALL, (uint32_t)not_a_number);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd((unsigned long long *)tree.not_a_number, (unsigned long long)sum);
}

TSR_KERNEL(reduce_kernel)(tsr_tree tree, int32_t level, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) tsr_tree_reduce(&tree, level, i);
}

TSR_KERNEL(select_kernel)(tsr_tree tree, const uint64_t *keys, uint64_t first, int64_t count, tsr_pyramid_entry *entries)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) entries[i] = tsr_tree_select(&tree, keys ? keys[i] : first + (uint64_t)i);
}

TSR_KERNEL(rank_kernel)(tsr_tree tree, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) keys[i] = tsr_tree_rank(&tree, voxels[i]);
}

static tsr_status cuda_build(tsr_queue *queue, const tsr_tree *tree, const tsr_tree_classifier *classifier)
{
    const tsr_tree_level *l = tree->level;
    int64_t count = l->size[0] * l->size[1] * l->size[2];
    TSR_TRY(tsr_queue_fill(queue, tree->not_a_number, 0, sizeof *tree->not_a_number));
    TSR_LAUNCH(queue, classify_kernel, tsr_blocks(count, 256, 16 * tsr_queue_processors(queue)), 256, 0, *tree, *classifier, count);
    for (int32_t n = 1; n < tree->levels; n++) {
        l = &tree->level[n];
        count = l->size[0] * l->size[1] * l->size[2];
        TSR_LAUNCH(queue, reduce_kernel, tsr_blocks(count, 256, INT32_MAX), 256, 0, *tree, n, count);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_select(tsr_queue *queue, const tsr_tree *tree, const uint64_t *keys, uint64_t first, int64_t count, tsr_pyramid_entry *entries)
{
    TSR_LAUNCH(queue, select_kernel, tsr_blocks(count, 256, INT32_MAX), 256, 0, *tree, keys, first, count, entries);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_rank(tsr_queue *queue, const tsr_tree *tree, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    TSR_LAUNCH(queue, rank_kernel, tsr_blocks(count, 256, INT32_MAX), 256, 0, *tree, voxels, count, keys);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_pyramid_ops tsr_pyramid_cuda = { cuda_build, cuda_select, cuda_rank };
