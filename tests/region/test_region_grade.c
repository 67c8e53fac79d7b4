/* Graded trees against a grid of voxels in which blocks are halved, one after the other, until none touches one that is more than a level smaller. */
#include <stdlib.h>
#include <string.h>

#include "clumps.h"
#include "support.h"

enum { MOST = 32 * 32 * 32 };

static tsr_region_tree *make(tsr_context *context, tsr_size3 n, const uint8_t *data, const tsr_region_options *o)
{
    tsr_volume *host, *v;
    tsr_region_tree *tree;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &v));
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ v }, 1, o, &tree));
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&host);
    return tree;
}

/* Level and number of the leaf of every voxel, -1 where there is none, from a host tree's list. */
static void levels_of(const tsr_region_tree *tree, int8_t *level, int32_t *leaf)
{
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    memset(level, -1, MOST);
    for (int64_t i = 0; i < info.leaves; i++) {
        const uint64_t key = tsr_region_tree_leaves(tree)[i];
        const tsr_region_leaf l = tsr_region_leaf_of(key, info.dimensions);
        if (i) assert_true(key > tsr_region_tree_leaves(tree)[i - 1]);
        for (int64_t z = l.z; z < l.z + (info.dimensions == 3 ? l.side : 1); z++)
            for (int64_t y = l.y; y < l.y + l.side; y++)
                for (int64_t x = l.x; x < l.x + l.side; x++) {
                    const int64_t at = (z * info.size.y + y) * info.size.x + x;
                    assert_int_equal(level[at], -1);
                    level[at] = (int8_t)(key & 63u);
                    leaf[at] = (int32_t)i;
                }
    }
}

/* Halves blocks until there is nothing left to halve; returns how many were. */
static int halve(tsr_size3 n, int most, int8_t *level)
{
    int halved = 0, again = 1;
    while (again) {
        again = 0;
        for (int64_t v = 0; v < n.x * n.y * n.z; v++) {
            const int64_t x = v % n.x, y = v / n.x % n.y, z = v / n.x / n.y;
            int least = 99;
            if (level[v] < 2) continue;
            for (int k = 0; k < 27; k++) {
                const int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, p = x + dx, q = y + dy, r = z + dz;
                if ((dx != 0) + (dy != 0) + (dz != 0) > most || p < 0 || q < 0 || r < 0 || p >= n.x || q >= n.y || r >= n.z) continue;
                const int other = level[(r * n.y + q) * n.x + p];
                if (other >= 0 && other < least) least = other;
            }
            if (least >= level[v] - 1) continue;
            const int8_t half = (int8_t)(level[v] - 1);
            const int64_t s = (int64_t)1 << level[v], x0 = x / s * s, y0 = y / s * s, z0 = z / s * s;
            for (int64_t c = z0; c < z0 + s && c < n.z; c++)
                for (int64_t b = y0; b < y0 + s; b++)
                    for (int64_t a = x0; a < x0 + s; a++) level[(c * n.y + b) * n.x + a] = half;
            halved++;
            again = 1;
        }
    }
    return halved;
}

static void same_trees(const tsr_region_tree *a, const tsr_region_tree *b)
{
    const tsr_region_info p = *tsr_region_tree_describe(a), q = *tsr_region_tree_describe(b);
    assert_int_equal(p.leaves, q.leaves);
    assert_int_equal(p.nodes, q.nodes);
    assert_int_equal(p.root, q.root);
    if (p.leaves) assert_memory_equal(tsr_region_tree_leaves(a), tsr_region_tree_leaves(b), (size_t)p.leaves * 8);
    if (p.nodes) assert_memory_equal(tsr_region_tree_nodes(a), tsr_region_tree_nodes(b), (size_t)(p.nodes << p.dimensions) * 4);
}

/* Every voxel is found in its leaf: the nodes lead where the list says. */
static void leads_to(tsr_context *context, const tsr_region_tree *tree, tsr_size3 n, const int8_t *level, const int32_t *leaf)
{
    const int64_t voxels = n.x * n.y * n.z;
    int32_t *positions = malloc((size_t)voxels * 3 * sizeof *positions);
    tsr_region_hit *hits = malloc((size_t)voxels * sizeof *hits);
    for (int64_t v = 0; v < voxels; v++) {
        positions[3 * v] = (int32_t)(v % n.x);
        positions[3 * v + 1] = (int32_t)(v / n.x % n.y);
        positions[3 * v + 2] = (int32_t)(v / n.x / n.y);
    }
    tsr_volume *host, *there, *room, *back;
    require_ok(tsr_volume_wrap(NULL, TSR_I32, (tsr_size3){ 3 * voxels, 1, 1 }, NULL, positions, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &there));
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ voxels * (int64_t)sizeof *hits, 1, 1 }, NULL, &room));
    require_ok(tsr_region_tree_find(tree, (const int32_t *)tsr_volume_data(there), voxels, (tsr_region_hit *)tsr_volume_data(room)));
    require_ok(tsr_volume_copy(room, NULL, &back));
    memcpy(hits, tsr_volume_data(back), (size_t)voxels * sizeof *hits);
    for (int64_t v = 0; v < voxels; v++) {
        assert_int_equal(hits[v].leaf, level[v] < 0 ? -1 : leaf[v]);
        if (level[v] >= 0) assert_int_equal(hits[v].level, level[v]);
    }
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&room);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&host);
    free(hits);
    free(positions);
}

static void equals_halving(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 32, 32, 1 }, { 16, 16, 16 }, { 41, 23, 1 }, { 19, 9, 21 }, { 32, 32, 32 } };
    static uint8_t data[MOST];
    static int8_t level[MOST], want[MOST];
    static int32_t leaf[MOST], before[MOST];
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    int changed = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes - (test_is_slow() ? 1 : 0); s++)
        for (int round = 0; round < (test_is_slow() ? 3 : 9); round++) {
            const tsr_size3 n = sizes[s];
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_region_grading how = TSR_REGION_GRADING;
            tsr_region_tree *graded, *host, *old, *twice, *bare;
            tsr_volume *values = NULL, *handed = NULL;
            clumps_of(&seed, n, (clump_shape){ .count = 7, .sides = 4, .values = 3, .ground = 1 }, data); /* 0 is kept by no rule of classes */
            o.rule = round % 2 ? TSR_REGION_CLASSES : TSR_REGION_SPREAD;
            o.classifier = TSR_PYRAMID_NONZERO;
            how.touch = (tsr_region_touch)(round % 3);
            tsr_region_tree *tree = make(context, n, data, &o);
            require_ok(tsr_region_tree_copy(tree, NULL, &old));
            const int64_t leaves = tsr_region_tree_describe(old)->leaves;
            levels_of(old, want, before);
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ leaves, 2, 1 }, NULL, &values));
            float *value = (float *)tsr_volume_data(values);
            for (int64_t i = 0; i < leaves; i++) {
                value[i] = (float)i;
                value[leaves + i] = -(float)i;
            }
            const int halved = halve(n, (int)how.touch + 1, want);
            changed += halved > 0;
            require_ok(tsr_region_tree_grade(tree, &how, values, &graded, &handed));
            require_ok(tsr_region_tree_copy(graded, NULL, &host));
            levels_of(host, level, leaf);
            assert_memory_equal(level, want, (size_t)(n.x * n.y * n.z));
            if (!halved) same_trees(host, old);
            const tsr_region_info info = *tsr_region_tree_describe(host);
            assert_int_equal(info.leaves - leaves, (int64_t)halved * ((1 << info.dimensions) - 1));
            assert_int_equal(tsr_volume_size(handed).x, info.leaves);
            const float *parts = (const float *)tsr_volume_data(handed);
            for (int64_t v = 0; v < n.x * n.y * n.z; v++)
                if (level[v] >= 0) {
                    assert_int_equal((int)parts[leaf[v]], before[v]);
                    assert_int_equal((int)parts[info.leaves + leaf[v]], -before[v]);
                }
            leads_to(context, graded, n, level, leaf);
            /* once is enough, on the host too; nodes alone make the same nodes */
            require_ok(tsr_region_tree_grade(host, &how, NULL, &twice, NULL));
            same_trees(twice, host);
            tsr_region_tree_destroy(&twice);
            o.nodes_only = 1;
            tsr_region_tree *nodes = make(context, n, data, &o);
            require_ok(tsr_region_tree_grade(nodes, &how, NULL, &bare, NULL));
            assert_int_equal(tsr_region_tree_describe(bare)->nodes, info.nodes);
            assert_int_equal(tsr_region_tree_describe(bare)->leaves, info.leaves);
            tsr_region_tree_destroy(&bare);
            tsr_region_tree_destroy(&nodes);
            tsr_volume_destroy(&handed);
            tsr_volume_destroy(&values);
            tsr_region_tree_destroy(&host);
            tsr_region_tree_destroy(&graded);
            tsr_region_tree_destroy(&old);
            tsr_region_tree_destroy(&tree);
        }
    assert_true(changed > 5);
    tsr_context_destroy(&context);
}

static void refuses(void **state)
{
    (void)state;
    const tsr_size3 n = { 16, 16, 16 };
    static uint8_t data[16 * 16 * 16];
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_grading how = TSR_REGION_GRADING;
    tsr_region_tree *graded;
    tsr_volume *values, *handed;
    data[0] = 1;
    o.rule = TSR_REGION_SPREAD;
    tsr_region_tree *tree = make(context, n, data, &o);
    require_error(tsr_region_tree_grade(NULL, NULL, NULL, &graded, NULL), TSR_ERROR_ARGUMENT, "tree is NULL");
    how.touch = (tsr_region_touch)3;
    require_error(tsr_region_tree_grade(tree, &how, NULL, &graded, NULL), TSR_ERROR_ARGUMENT, "touch is 3, expected faces, edges or corners");
    how.touch = TSR_REGION_TOUCH_FACES;
    how.progress.report = test_stops;
    require_error(tsr_region_tree_grade(tree, &how, NULL, &graded, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(graded);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 3, 1, 1 }, NULL, &values));
    require_error(tsr_region_tree_grade(tree, NULL, values, &graded, &handed), TSR_ERROR_ARGUMENT, "values are f32, 3 x 1 x 1");
    require_error(tsr_region_tree_grade(tree, NULL, values, &graded, NULL), TSR_ERROR_ARGUMENT, "graded_values is NULL");
    tsr_volume_destroy(&values);
    tsr_region_tree_destroy(&tree);
    /* one leaf and nothing at all stay what they are */
    for (int kept = 0; kept < 2; kept++) {
        memset(data, kept, sizeof data);
        o.rule = TSR_REGION_CLASSES;
        o.classifier = TSR_PYRAMID_NONZERO;
        tree = make(context, n, data, &o);
        require_ok(tsr_region_tree_grade(tree, NULL, NULL, &graded, NULL));
        assert_int_equal(tsr_region_tree_describe(graded)->leaves, kept);
        assert_int_equal(tsr_region_tree_describe(graded)->root, kept ? TSR_REGION_LEAF : TSR_REGION_EMPTY);
        tsr_region_tree_destroy(&graded);
        tsr_region_tree_destroy(&tree);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equals_halving), cmocka_unit_test(refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
