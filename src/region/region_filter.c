/* region/region_filter.c: the leaves of some sizes alone. */
#include <stdlib.h>

#include "volume/volume.h"
#include "region/region_tree.h"

tsr_status tsr_region_tree_filter(const tsr_region_tree *tree, int32_t least, int32_t most, const tsr_volume *values, tsr_region_tree **filtered,
                                  tsr_volume **filtered_values)
{
    TSR_RETURNS(filtered);
    TSR_NEEDS(tree);
    tsr_region_tree *host = NULL;
    uint64_t *keys = NULL;
    int64_t count = 0;
    tsr_status status;
    if (filtered_values) *filtered_values = NULL;
    if (tree->info.nodes_only) TSR_FAIL(TSR_ERROR_STATE, "region tree: it has nodes only, expected one with a list of leaves");
    if (least < 0 || most < least) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: levels from %d to %d, expected 0 <= least <= most", least, most);
    if (values && !filtered_values) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: filtered_values is NULL, expected a place for the values");
    if (values &&
        (tsr_volume_device(values).kind != TSR_DEVICE_CPU || values->dtype != TSR_F32 || values->size.x != tree->info.leaves || values->size.z != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: values are %s, %lld x %lld x %lld, expected f32 on the host, %lld x channels x 1",
                 tsr_dtype_name(values->dtype), (long long)values->size.x, (long long)values->size.y, (long long)values->size.z,
                 (long long)tree->info.leaves);
    TSR_TRY_GOTO(tsr_region_tree_copy(tree, NULL, &host), done);
    keys = (uint64_t *)malloc((size_t)(host->info.leaves + 1) * sizeof *keys);
    if (!keys) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "region tree: no memory for %lld leaves", (long long)host->info.leaves);
    for (int64_t i = 0; i < host->info.leaves; i++) {
        const int32_t level = (int32_t)(host->leaves[i] & 63u);
        if (level >= least && level <= most) keys[count++] = host->leaves[i];
    }
    TSR_TRY_GOTO(tsr_region_tree_from_keys(tree->context, keys, count, host->info.size, host->info.dimensions, &host->geometry, filtered), done);
    if (!values || !count) goto done;
    TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ count, values->size.y, 1 }, NULL, filtered_values), done);
    for (int64_t c = 0; c < values->size.y; c++) {
        const float *from = (const float *)values->data + c * host->info.leaves;
        float *to = (float *)(*filtered_values)->data + c * count;
        for (int64_t i = 0, n = 0; i < host->info.leaves; i++)
            if (n < count && keys[n] == host->leaves[i]) to[n++] = from[i];
    }
done:
    free(keys);
    tsr_region_tree_destroy(&host);
    if (status != TSR_OK) tsr_region_tree_destroy(filtered);
    return status;
}
