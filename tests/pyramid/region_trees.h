/* tests/pyramid/region_trees.h: region trees of host data. */
#ifndef TSR_TESTS_REGION_TREES_H
#define TSR_TESTS_REGION_TREES_H

#include "device/backend.h"
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

/* Clumps: blocks of random size and value, so that cells of every level merge. */
static inline void clumps(uint64_t *seed, tsr_size3 n, int values, uint8_t *data)
{
    memset(data, 0, (size_t)(n.x * n.y * n.z));
    for (int k = 0; k < 14; k++) {
        const int64_t s = (int64_t)1 << test_random(seed) % 5, x0 = (int64_t)(test_random(seed) % (uint64_t)n.x) / s * s,
                      y0 = (int64_t)(test_random(seed) % (uint64_t)n.y) / s * s, z0 = (int64_t)(test_random(seed) % (uint64_t)n.z) / s * s;
        const uint8_t value = (uint8_t)(test_random(seed) % (uint64_t)values);
        for (int64_t z = z0; z < z0 + s && z < n.z; z++)
            for (int64_t y = y0; y < y0 + s && y < n.y; y++)
                for (int64_t x = x0; x < x0 + s && x < n.x; x++) data[(z * n.y + y) * n.x + x] = value;
    }
}

#endif
