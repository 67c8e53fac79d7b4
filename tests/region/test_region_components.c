/* Components of trees against a flood fill over the voxels; neighbours against a search among all leaves. */
#include <math.h>

#include "device/backend.h"
#include "clumps.h"
#include "support.h"

static tsr_region_tree *make(tsr_context *context, tsr_size3 n, const uint8_t *data, const tsr_region_options *o, tsr_volume **volume)
{
    tsr_volume *host;
    tsr_region_tree *tree;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, volume));
    tsr_volume_destroy(&host);
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ *volume }, 1, o, &tree));
    return tree;
}

/* Voxels reached from `start` over faces between equal values; `label` 0 = not yet seen. */
static int64_t flood(tsr_size3 n, const uint8_t *data, int64_t start, int32_t number, int32_t *label, int64_t *stack)
{
    const int64_t size[3] = { n.x, n.y, n.z }, stride[3] = { 1, n.x, n.x * n.y };
    int64_t depth = 1, count = 0;
    stack[0] = start;
    label[start] = number;
    while (depth) {
        const int64_t i = stack[--depth], at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
        count++;
        for (int k = 0; k < 3; k++)
            for (int d = -1; d <= 1; d += 2) {
                const int64_t j = i + d * stride[k];
                if (at[k] + d < 0 || at[k] + d >= size[k] || label[j] || data[j] != data[i]) continue;
                label[j] = number;
                stack[depth++] = j;
            }
    }
    return count;
}

static void components_equal_a_flood(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 21, 13, 10 }, { 45, 30, 1 }, { 3, 1, 1 } };
    static uint8_t data[16 * 16 * 16];
    static int32_t label[16 * 16 * 16];
    static int64_t stack[16 * 16 * 16];
    for (int round = 0; round < 16; round++) {
        const tsr_size3 n = sizes[round % 4];
        const int64_t cells = n.x * n.y * n.z;
        const int equal = round / 4 % 2;
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_volume *volume;
        tsr_region_components *c;
        clumps_of(&seed, n, (clump_shape){ .count = 40, .sides = 6, .loose = 1, .values = 2 + 2 * equal }, data);
        o.classifier = TSR_PYRAMID_NONZERO;
        o.rule = equal ? TSR_REGION_SPREAD : TSR_REGION_CLASSES;
        tsr_region_tree *tree = make(context, n, data, &o, &volume), *host;
        require_ok(tsr_region_tree_copy(tree, NULL, &host));
        const int64_t leaves = tsr_region_tree_describe(tree)->leaves;
        float *values = malloc(((size_t)leaves + 1) * sizeof *values);
        for (int64_t l = 0; l < leaves; l++) {
            const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(host)[l], n.z > 1 ? 3 : 2);
            values[l] = data[(q.z * n.y + q.y) * n.x + q.x];
        }
        require_ok(tsr_region_components_create(tree, round < 8 || equal ? values : NULL, equal, &c));
        const tsr_region_component *list = tsr_region_components_list(c);
        /* every component of the flood is one of the tree's: as many voxels, the same leaves */
        int32_t number = 0;
        memset(label, 0, sizeof label);
        for (int64_t i = 0; i < cells; i++)
            if (!label[i] && (equal || data[i])) flood(n, data, i, ++number, label, stack);
        assert_int_equal(tsr_region_components_count(c), number);
        int32_t *to = calloc((size_t)number + 1, sizeof *to);
        int64_t total = 0;
        for (int64_t l = 0; l < leaves; l++) {
            const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(host)[l], n.z > 1 ? 3 : 2);
            const int32_t own = tsr_region_components_labels(c)[l], theirs = label[(q.z * n.y + q.y) * n.x + q.x];
            assert_true(own >= 0 && own < number && (to[theirs] == 0 || to[theirs] == own + 1));
            to[theirs] = own + 1;
        }
        for (int32_t k = 0; k < number; k++) { /* measures from the voxels */
            int32_t theirs = 1;
            int64_t voxels = 0, low[3] = { 1000, 1000, 1000 }, high[3] = { 0, 0, 0 };
            double sum[3] = { 0 }, value = 0;
            while (to[theirs] != k + 1) theirs++;
            for (int64_t i = 0; i < cells; i++) {
                if (label[i] != theirs) continue;
                const int64_t at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
                voxels++;
                value += data[i];
                for (int d = 0; d < 3; d++) {
                    sum[d] += (double)at[d];
                    if (at[d] < low[d]) low[d] = at[d];
                    if (at[d] + 1 > high[d]) high[d] = at[d] + 1;
                }
            }
            assert_true(list[k].voxels == voxels && (k == 0 || list[k - 1].voxels >= voxels));
            assert_true(fabs(list[k].mean - (round < 8 || equal ? value / (double)voxels : 0)) < 1e-9);
            for (int d = 0; d < 3; d++)
                assert_true(list[k].lower[d] == low[d] && list[k].upper[d] == high[d] && fabs(list[k].centre[d] - sum[d] / (double)voxels) < 1e-9);
            total += list[k].leaves;
        }
        assert_int_equal(total, leaves);
        free(to);
        free(values);
        tsr_region_components_destroy(&c);
        tsr_region_tree_destroy(&host);
        tsr_region_tree_destroy(&tree);
        tsr_volume_destroy(&volume);
    }
    tsr_context_destroy(&context);
}

static void neighbours_equal_a_search(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 11, 9, 6 }, { 30, 17, 1 } };
    static uint8_t data[16 * 16 * 16];
    for (int round = 0; round < 3; round++) {
        const tsr_size3 n = sizes[round];
        const int bits = n.z > 1 ? 3 : 2;
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_volume *volume;
        o.classifier = TSR_PYRAMID_NONZERO;
        clumps_of(&seed, n, (clump_shape){ .count = 12, .sides = 6, .loose = 1, .values = 2 }, data);
        tsr_region_tree *tree = make(context, n, data, &o, &volume), *host;
        require_ok(tsr_region_tree_copy(tree, NULL, &host));
        const int64_t leaves = tsr_region_tree_describe(tree)->leaves;
        const size_t bytes = (size_t)(leaves * 2 * bits) * 4;
        int32_t *got = malloc(bytes);
        void *memory;
        require_ok(tsr_device_allocate(context, bytes, &memory));
        require_ok(tsr_region_tree_neighbours(tree, memory));
        require_ok(tsr_device_move(NULL, got, context, memory, bytes));
        for (int64_t l = 0; l < leaves; l++) {
            const tsr_region_leaf a = tsr_region_leaf_of(tsr_region_tree_leaves(host)[l], bits);
            for (int f = 0; f < 2 * bits; f++) {
                int64_t p[3] = { a.x, a.y, a.z };
                int32_t expected = -1;
                p[f / 2] += f & 1 ? a.side : -1;
                for (int64_t m = 0; m < leaves; m++) {
                    const tsr_region_leaf b = tsr_region_leaf_of(tsr_region_tree_leaves(host)[m], bits);
                    const int64_t q[3] = { b.x, b.y, b.z };
                    int in = b.side >= a.side;
                    for (int k = 0; k < bits; k++) in &= p[k] >= q[k] && p[k] < q[k] + b.side;
                    if (in) expected = (int32_t)m;
                }
                assert_int_equal(got[l * 2 * bits + f], expected);
            }
        }
        tsr_device_release(context, memory, bytes);
        free(got);
        tsr_region_tree_destroy(&host);
        tsr_region_tree_destroy(&tree);
        tsr_volume_destroy(&volume);
    }
    tsr_context_destroy(&context);
}

static void nothing_and_wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static uint8_t data[64];
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_components *c;
    tsr_volume *volume;
    tsr_region_tree *host;
    o.classifier = TSR_PYRAMID_NONZERO;
    tsr_region_tree *tree = make(context, (tsr_size3){ 4, 4, 4 }, data, &o, &volume);
    require_ok(tsr_region_components_create(tree, NULL, 0, &c));
    assert_int_equal(tsr_region_components_count(c), 0);
    tsr_region_components_destroy(&c);
    require_ok(tsr_region_tree_copy(tree, NULL, &host));
    require_error(tsr_region_components_create(host, NULL, 0, &c), TSR_ERROR_ARGUMENT, "lies on the host");
    require_error(tsr_region_components_create(NULL, NULL, 0, &c), TSR_ERROR_ARGUMENT, "NULL");
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    data[5] = 1;
    o.nodes_only = 1;
    tree = make(context, (tsr_size3){ 4, 4, 4 }, data, &o, &volume);
    require_error(tsr_region_components_create(tree, NULL, 0, &c), TSR_ERROR_STATE, "nodes only");
    assert_null(c);
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    o.nodes_only = 0;
    tree = make(context, (tsr_size3){ 4, 4, 4 }, data, &o, &volume);
    require_error(tsr_region_components_create(tree, NULL, 1, &c), TSR_ERROR_ARGUMENT, "values is NULL");
    tsr_region_tree_destroy(&tree);
    tsr_region_tree_destroy(&host);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(components_equal_a_flood), cmocka_unit_test(neighbours_equal_a_search),
                                        cmocka_unit_test(nothing_and_wrong_arguments) };
    return cmocka_run_group_tests_name("components of trees", tests, NULL, NULL);
}
