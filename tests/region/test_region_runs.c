/* Runs of region trees against a walk along the rows. */
#include <math.h>

#include "support.h"

static void check(tsr_context *context, tsr_size3 n, const float *values, int labels)
{
    tsr_volume *host, *v;
    tsr_region_tree *device, *tree;
    tsr_region_run *runs;
    int64_t count, expected = 0;
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.rule = labels ? TSR_REGION_SPREAD : TSR_REGION_CLASSES;
    o.classifier = TSR_PYRAMID_RANGE;
    o.lower = 1;
    o.upper = 100;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    memcpy(tsr_volume_data(host), values, (size_t)(n.x * n.y * n.z) * sizeof(float));
    require_ok(tsr_volume_copy(host, context, &v));
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const *)&v, 1, &o, &device));
    require_ok(tsr_region_tree_copy(device, NULL, &tree));
    const int64_t leaves = tsr_region_tree_describe(tree)->leaves;
    float *means = (float *)malloc((size_t)(leaves + 1) * sizeof *means);
    for (int64_t i = 0; i < leaves; i++) {
        const tsr_region_leaf l = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[i], tsr_region_tree_describe(tree)->dimensions);
        means[i] = values[(l.z * n.y + l.y) * n.x + l.x];
    }
    require_ok(tsr_region_runs(tree, labels ? means : NULL, &runs, &count));
    for (int64_t i = 0; i < n.x * n.y * n.z;) {
        const int64_t end = (i / n.x + 1) * n.x, start = i;
        if (!labels && values[i] < 1) {
            i++;
            continue;
        }
        while (i < end && (labels ? values[i] >= values[start] && values[i] <= values[start] : values[i] >= 1)) i++;
        assert_true(expected < count);
        assert_int_equal(runs[expected].start, start);
        assert_int_equal(runs[expected].length, i - start);
        if (labels) assert_true(means[runs[expected].leaf] >= values[start] && means[runs[expected].leaf] <= values[start]);
        expected++;
    }
    assert_int_equal(count, expected);
    tsr_region_runs_destroy(&runs);
    assert_null(runs);
    require_error(tsr_region_runs(device, NULL, &runs, &count), TSR_ERROR_ARGUMENT, "expected one on the host");
    free(means);
    tsr_region_tree_destroy(&tree);
    tsr_region_tree_destroy(&device);
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&host);
}

static void runs_of_trees(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 1, 1, 1 }, { 8, 8, 1 }, { 37, 19, 1 }, { 64, 1, 1 }, { 1, 9, 1 }, { 13, 7, 5 }, { 16, 16, 16 } };
    uint64_t seed = test_seed();
    tsr_context *context = test_context_on("cpu", 2);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < 6; round++) {
            const int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
            float *values = (float *)malloc((size_t)cells * sizeof *values);
            for (int64_t i = 0; i < cells; i++) /* empty, full, blocks, noise */
                values[i] = round < 2   ? (float)round
                            : round < 4 ? (float)((i % sizes[s].x / 3 + i / sizes[s].x / 5) % 3)
                                        : (float)(test_random(&seed) >> 60 > 4);
            check(context, sizes[s], values, 0);
            check(context, sizes[s], values, 1);
            free(values);
        }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(runs_of_trees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
