/* What region trees compare: differences along the axes instead of values; values that are no numbers. */
#include <math.h>

#include "region_trees.h"

/* Trees of differences are those of volumes of differences; what is linear is one leaf, however steep. */
static void gradients(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 17, 8, 5 }, { 32, 32, 1 }, { 31, 17, 1 }, { 5, 1, 1 }, { 1, 1, 1 } };
    static const tsr_region_rule_kind rules[] = { TSR_REGION_DEVIATION, TSR_REGION_SPREAD, TSR_REGION_VARIANCE };
    static float values[4096], slopes[3][4096];
    tsr_context *context = test_context();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < 6; round++) {
            const tsr_size3 n = sizes[s];
            const int64_t extent[3] = { n.x, n.y, n.z }, stride[3] = { 1, n.x, n.x * n.y }, cells = n.x * n.y * n.z;
            const int32_t axes = n.z > 1 ? 3 : 2;
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_region_tree *device, *own, *other;
            for (int64_t i = 0; i < cells; i++) {
                const int64_t x = i % n.x, y = i / n.x % n.y, z = i / n.x / n.y;
                values[i] = round < 3 ? (float)(3 * x - 5 * y + 2 * z + (x > n.x / 2 ? 7 * x : 0)) + 0.25f * (float)(test_random(&seed) % 9 == 0)
                                      : (float)(3 * x - 5 * y + 2 * z);
            }
            for (int32_t k = 0; k < axes; k++)
                for (int64_t i = 0; i < cells; i++) {
                    const int64_t at = i / stride[k] % extent[k];
                    const float here = values[i];
                    slopes[k][i] = at + 1 < extent[k] ? values[i + stride[k]] - here : at > 0 ? here - values[i - stride[k]] : 0;
                }
            o.rule = rules[round % 3];
            o.threshold = round < 3 ? 0.3 : 0;
            device = make(context, TSR_F32, n, (const void *const[]){ slopes[0], slopes[1], slopes[2] }, axes, &o);
            require_ok(tsr_region_tree_copy(device, NULL, &other));
            tsr_region_tree_destroy(&device);
            o.gradient = 1;
            device = make(context, TSR_F32, n, (const void *const[]){ values }, 1, &o);
            require_ok(tsr_region_tree_copy(device, NULL, &own));
            tsr_region_tree_destroy(&device);
            const tsr_region_info a = *tsr_region_tree_describe(own), b = *tsr_region_tree_describe(other);
            assert_true(a.leaves == b.leaves && a.nodes == b.nodes);
            assert_memory_equal(tsr_region_tree_leaves(own), tsr_region_tree_leaves(other), (size_t)a.leaves * 8);
            if (round >= 3 && s != 1 && s != 3 && s != 4) assert_int_equal(a.leaves, 1);
            if (round < 3 && s == 0) assert_true(a.leaves > 8);
            tsr_region_tree_destroy(&own);
            tsr_region_tree_destroy(&other);
        }
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_pyramid *p;
    tsr_volume *v;
    o.rule = TSR_REGION_EDGES;
    o.gradient = 1;
    require_error(tsr_region_pyramid_create(context, sizes[0], &o, &p), TSR_ERROR_ARGUMENT,
                  "gradient is for the rules deviation, spread and variance");
    o.rule = TSR_REGION_SPREAD;
    require_ok(tsr_region_pyramid_create(context, sizes[0], &o, &p));
    require_ok(tsr_volume_create(context, TSR_U8, sizes[0], NULL, &v));
    require_error(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v, v }, 2), TSR_ERROR_ARGUMENT,
                  "2 channels, expected one for its gradient");
    tsr_volume_destroy(&v);
    tsr_region_pyramid_destroy(&p);
    tsr_context_destroy(&context);
}

/* Apart: merged with nothing, kept by no class; or named. The first one in the box that a pyramid covers, and around it. */
static void not_a_number(void **state)
{
    static const tsr_region_rule_kind rules[] = { TSR_REGION_CLASSES, TSR_REGION_COLOUR, TSR_REGION_SPREAD, TSR_REGION_DEVIATION,
                                                  TSR_REGION_VARIANCE };
    static const int leaves[] = { 14, 14, 15, 15, 15 }; /* seven blocks, seven voxels beside the bad one, which is a leaf where all are kept */
    float values[64] = { 0 };
    tsr_context *context = test_context();
    const tsr_size3 n = { 4, 4, 4 };
    (void)state;
    for (int bad = 0; bad < 2; bad++)
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_region_pyramid *p;
            tsr_region_info info = TSR_REGION_INFO;
            tsr_volume *v, *host;
            o.rule = rules[k];
            o.classifier = TSR_PYRAMID_RANGE;
            o.lower = -1;
            o.upper = 1;
            o.threshold = 0.5;
            values[21] = bad ? INFINITY : NAN; /* (1, 1, 1) */
            require_ok(tsr_volume_wrap(NULL, TSR_F32, n, NULL, values, NULL, NULL, &host));
            require_ok(tsr_volume_copy(host, context, &v));
            require_ok(tsr_region_pyramid_create(context, n, &o, &p));
            require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
            require_ok(tsr_region_pyramid_describe(p, &info));
            assert_int_equal(info.leaves, leaves[k]);
            tsr_region_pyramid_destroy(&p);
            o.nan = TSR_REGION_NAN_FAIL;
            require_ok(tsr_region_pyramid_create(context, n, &o, &p));
            require_error(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1), TSR_ERROR_STATE, "the first at (1, 1, 1)");
            require_error(tsr_region_pyramid_describe(p, &info), TSR_ERROR_STATE, "nothing was built");
            tsr_region_pyramid_destroy(&p);
            tsr_volume_destroy(&v);
            tsr_volume_destroy(&host);
        }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(gradients), cmocka_unit_test(not_a_number) };
    return cmocka_run_group_tests_name("values of region trees", tests, NULL, NULL);
}
