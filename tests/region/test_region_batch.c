/* Batches of leaves against sorting by selection, and what a budget buys. */
#include <math.h>

#include "support.h"

static void order_and_budget(void **state)
{
    (void)state;
    enum { W = 40, H = 28 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context_on("cpu", 2);
    for (int round = 0; round < 6; round++) {
        tsr_volume *map;
        tsr_region_tree *device, *tree;
        require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ W, H, 1 }, NULL, &map));
        float *values = (float *)tsr_volume_data(map);
        for (int i = 0; i < W * H; i++) /* blocks of 4, in few steps, so that there are ties */
            values[i] = (float)((i % W / 4 * 7 + i / W / 4 * 5 + round) % 8) / 8 + (test_random(&seed) % 50 == 0 ? 0.125f : 0);
        tsr_region_options options = TSR_REGION_OPTIONS;
        options.rule = TSR_REGION_CLASSES;
        options.classifier = TSR_PYRAMID_RANGE;
        options.lower = 0.25;
        options.upper = 2;
        require_ok(tsr_region_tree_make(context, (const tsr_volume *const *)&map, 1, &options, &device));
        require_ok(tsr_region_tree_copy(device, NULL, &tree));
        const int64_t n = tsr_region_tree_describe(tree)->leaves;
        float *means = (float *)malloc((size_t)n * sizeof *means);
        tsr_region_batch *batches = (tsr_region_batch *)malloc((size_t)n * sizeof *batches);
        uint8_t *used = (uint8_t *)calloc((size_t)n, 1);
        require_ok(tsr_region_tree_means(device, map, means)); /* host memory is the device's here */
        require_ok(tsr_region_batches(tree, means, batches));
        int64_t work = 0;
        for (int64_t i = 0; i < n; i++) { /* the best of those not taken yet */
            int64_t best = -1;
            for (int64_t k = 0; k < n; k++) {
                if (used[k]) continue;
                const int64_t side = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[k], 2).side;
                const int64_t most = best < 0 ? 0 : tsr_region_leaf_of(tsr_region_tree_leaves(tree)[best], 2).side;
                if (best < 0 || means[k] > means[best] || (means[k] >= means[best] && side > most)) best = k;
            }
            const int64_t side = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[best], 2).side;
            used[best] = 1;
            work += side * side;
            assert_int_equal(batches[i].leaf, best);
            assert_int_equal(batches[i].work, work);
            assert_true(batches[i].saliency >= means[best] && batches[i].saliency <= means[best]);
        }
        int64_t kept = 0;
        for (int i = 0; i < W * H; i++) kept += values[i] >= 0.25f;
        assert_int_equal(work, kept);
        for (int64_t budget = -1; budget <= work + 1; budget += 7) {
            int64_t within = 0;
            while (within < n && batches[within].work <= budget) within++;
            assert_int_equal(tsr_region_batches_within(batches, n, budget), within);
        }
        means[n / 2] = (float)NAN;
        require_error(tsr_region_batches(tree, means, batches), TSR_ERROR_ARGUMENT, "is not a number");
        require_error(tsr_region_batches(device, means, batches), TSR_ERROR_ARGUMENT, "expected one on the host");
        require_error(tsr_region_batches(tree, NULL, batches), TSR_ERROR_ARGUMENT, "an array is NULL");
        free(means);
        free(batches);
        free(used);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&device);
        tsr_volume_destroy(&map);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(order_and_budget) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
