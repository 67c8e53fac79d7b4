#include "tessera/region_tree.h"

#include <stdlib.h>

#include "region/region_tree.h"

/* While they are sorted, `work` is the size of the leaf itself. */
static int earlier(const void *one, const void *other)
{
    const tsr_region_batch *a = (const tsr_region_batch *)one, *b = (const tsr_region_batch *)other;
    if (a->saliency > b->saliency || a->saliency < b->saliency) return a->saliency > b->saliency ? -1 : 1;
    if (a->work != b->work) return a->work > b->work ? -1 : 1;
    return a->leaf < b->leaf ? -1 : 1;
}

tsr_status tsr_region_batches(const tsr_region_tree *tree, const float *saliency, tsr_region_batch *batches)
{
    int64_t work = 0;
    if (!tree || tree->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "region batches: tree is %s, expected one on the host", tree ? "on a context" : "NULL");
    if (tree->info.nodes_only) TSR_FAIL(TSR_ERROR_ARGUMENT, "region batches: the tree has no list of leaves (nodes_only)");
    const int64_t leaves = tree->info.leaves;
    if (leaves && (!saliency || !batches))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region batches: an array is NULL, expected %lld elements", (long long)leaves);
    for (int64_t i = 0; i < leaves; i++)
        if (saliency[i] != saliency[i]) TSR_FAIL(TSR_ERROR_ARGUMENT, "region batches: the saliency of leaf %lld is not a number", (long long)i);
    for (int64_t i = 0; i < leaves; i++)
        batches[i] = (tsr_region_batch){ i, saliency[i], (int64_t)1 << (tree->info.dimensions * (int)(tree->leaves[i] & 63u)) };
    if (leaves) qsort(batches, (size_t)leaves, sizeof *batches, earlier);
    for (int64_t i = 0; i < leaves; i++) batches[i].work = work += batches[i].work;
    return TSR_OK;
}

int64_t tsr_region_batches_within(const tsr_region_batch *batches, int64_t count, int64_t budget)
{
    int64_t low = 0, high = batches ? count : 0;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (batches[middle].work <= budget) low = middle + 1;
        else high = middle;
    }
    return low;
}
