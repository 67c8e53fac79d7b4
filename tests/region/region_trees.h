/* tests/region/region_trees.h: region trees of host data. */
#ifndef TSR_TESTS_REGION_TREES_H
#define TSR_TESTS_REGION_TREES_H

#include "device/backend.h"
#include "clumps.h"
#include "support.h"

static inline tsr_region_tree *make(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *const *data, int channels,
                                    const tsr_region_options *o)
{
    tsr_volume *host, *device[4] = { NULL };
    tsr_region_tree *tree;
    for (int c = 0; c < channels; c++) {
        require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data[c], NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &device[c]));
        tsr_volume_destroy(&host);
    }
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const *)device, channels, o, &tree));
    for (int c = 0; c < channels; c++) tsr_volume_destroy(&device[c]);
    return tree;
}

#endif
