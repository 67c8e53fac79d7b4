/* Trees put together from tiles against trees of the whole, word for word; tables, node lists and renewal against plain trees. */
#include <math.h>

#include "device/backend.h"
#include "clumps.h"
#include "support.h"

static tsr_volume *wrap(tsr_dtype dtype, tsr_size3 n, const void *data)
{
    tsr_volume *v;
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &v));
    return v;
}
static tsr_volume *there(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data)
{
    tsr_volume *host = wrap(dtype, n, data), *v;
    require_ok(tsr_volume_copy(host, context, &v));
    tsr_volume_destroy(&host);
    return v;
}
/* Clumps large enough to merge across tiles. */
static clump_shape across(int values) { return (clump_shape){ .count = 12, .sides = 5, .values = values, .ground = 1 }; }

static tsr_region_tree *make(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data, const tsr_region_options *o)
{
    tsr_volume *v = there(context, dtype, n, data);
    tsr_region_tree *tree;
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ v }, 1, o, &tree));
    tsr_volume_destroy(&v);
    return tree;
}
static tsr_region_tree *host_of(const tsr_region_tree *tree)
{
    tsr_region_tree *host;
    require_ok(tsr_region_tree_copy(tree, NULL, &host));
    return host;
}

static void same_trees(const tsr_region_tree *a, const tsr_region_tree *b)
{
    const tsr_region_info p = *tsr_region_tree_describe(a), q = *tsr_region_tree_describe(b);
    if (p.leaves != q.leaves || p.nodes != q.nodes || p.top != q.top || p.root != q.root || p.dimensions != q.dimensions)
        fail_msg("%d leaves %d nodes top %d root %d, expected %d %d %d %d", (int)p.leaves, (int)p.nodes, (int)p.top, (int)p.root, (int)q.leaves,
                 (int)q.nodes, (int)q.top, (int)q.root);
    if (p.leaves) assert_memory_equal(tsr_region_tree_leaves(a), tsr_region_tree_leaves(b), (size_t)p.leaves * 8);
    if (p.nodes) assert_memory_equal(tsr_region_tree_nodes(a), tsr_region_tree_nodes(b), (size_t)(p.nodes << p.dimensions) * 4);
}

static void tiles_equal_the_whole(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const struct {
        tsr_size3 n;
        int64_t tile;
    } cases[] = { { { 32, 32, 32 }, 8 }, { { 32, 32, 32 }, 16 }, { { 33, 17, 9 }, 8 },  { { 20, 9, 25 }, 8 }, { { 16, 16, 17 }, 16 },
                  { { 7, 5, 3 }, 8 },    { { 61, 40, 1 }, 16 },  { { 64, 64, 1 }, 32 }, { { 2, 2, 2 }, 256 } };
    static uint8_t bytes[32 * 32 * 32];
    static float floats[32 * 32 * 32];
    tsr_context *context = test_context();
    int merged_across = 0;
    for (size_t s = test_is_slow() ? 1 : 0; s < sizeof cases / sizeof *cases; s++)
        for (int round = 0; round < (test_is_slow() ? 6 : 24); round++) {
            const tsr_size3 n = cases[s].n;
            const int64_t cells = n.x * n.y * n.z;
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_region_tiling tiling = TSR_REGION_TILING;
            tsr_region_tree *tiled, *device, *whole;
            tsr_volume *values;
            clumps_of(&seed, n, across(4), bytes);
            if (round == 23) memset(bytes, 1, sizeof bytes);
            if (round == 22) memset(bytes, 0, sizeof bytes);
            for (int64_t i = 0; i < cells; i++) floats[i] = (float)bytes[i] + (round % 2 ? 0.125f * (float)(i / 7 % 5 == 0) : 0.0f);
            o.rule = (tsr_region_rule_kind)(round % 7);
            o.colour[0] = 3;
            o.classifier = round % 12 == 6 ? TSR_PYRAMID_BOUNDARY : TSR_PYRAMID_RANGE;
            o.lower = 1;
            o.upper = 9;
            o.threshold = o.rule == TSR_REGION_EDGES || o.rule == TSR_REGION_LINEAR ? 0.02 : round % 3 * 0.3;
            const int classes = o.rule < TSR_REGION_DEVIATION || o.rule == TSR_REGION_COLOUR;
            o.complement = classes && round % 2;
            o.singles = classes && round % 3 == 1;
            o.gradient = o.rule >= TSR_REGION_DEVIATION && o.rule <= TSR_REGION_VARIANCE && round % 5 == 0;
            tiling.tile = cases[s].tile;
            tiling.means = 1;
            tsr_volume *host = wrap(TSR_F32, n, floats);
            require_ok(tsr_region_tree_make_tiled(context, (const tsr_volume *const[]){ host }, 1, &o, &tiling, &tiled, &values));
            device = make(context, TSR_F32, n, floats, &o);
            whole = host_of(device);
            same_trees(tiled, whole);
            const int64_t leaves = tsr_region_tree_describe(whole)->leaves;
            for (int64_t l = 0; l < leaves; l++) {
                const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(whole)[l], n.z > 1 ? 3 : 2);
                const int64_t deep = n.z > 1 ? q.side : 1;
                double sum = 0;
                for (int64_t i = 0; i < q.side * q.side * deep; i++)
                    sum += (double)floats[((q.z + i / q.side / q.side) * n.y + q.y + i / q.side % q.side) * n.x + q.x + i % q.side];
                assert_true(fabs((double)((const float *)tsr_volume_data_const(values))[l] - sum / (double)(q.side * q.side * deep)) < 1e-6);
                merged_across += q.side > cases[s].tile;
            }
            if (round % 4 == 0) { /* nodes alone */
                tsr_region_tree *nodes;
                o.nodes_only = 1;
                require_ok(tsr_region_tree_make_tiled(context, (const tsr_volume *const[]){ host }, 1, &o, &tiling, &nodes, NULL));
                const tsr_region_info info = *tsr_region_tree_describe(nodes), full = *tsr_region_tree_describe(whole);
                assert_true(info.nodes == full.nodes && info.leaves == full.leaves && info.root == full.root && info.nodes_only);
                for (int64_t i = 0; i < full.nodes << full.dimensions; i++) {
                    const int32_t reference = tsr_region_tree_nodes(whole)[i];
                    assert_int_equal(tsr_region_tree_nodes(nodes)[i], reference < 0 ? -1 : reference);
                }
                tsr_region_tree_destroy(&nodes);
            }
            tsr_volume_destroy(&values);
            tsr_volume_destroy(&host);
            tsr_region_tree_destroy(&tiled);
            tsr_region_tree_destroy(&device);
            tsr_region_tree_destroy(&whole);
        }
    assert_true(merged_across > 0 || test_is_slow()); /* else the tiles did not merge anywhere */
    tsr_context_destroy(&context);
}

/* Leaves of some levels alone, with their values. */
static void filtered_by_size(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 32, 32, 32 }, { 64, 40, 1 }, { 13, 9, 18 } };
    static uint8_t bytes[32 * 32 * 32];
    tsr_context *context = test_context();
    for (int round = 0; round < 9; round++) {
        const tsr_size3 n = sizes[round % 3];
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_region_tree *device, *tree, *filtered, *back;
        tsr_volume *values, *kept, *painted, *local;
        const int32_t least = round / 3, most = least + round % 2;
        clumps_of(&seed, n, across(3), bytes);
        o.rule = TSR_REGION_SPREAD;
        device = make(context, TSR_U8, n, bytes, &o);
        tree = host_of(device);
        const tsr_region_info info = *tsr_region_tree_describe(tree);
        require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ info.leaves, 2, 1 }, NULL, &values));
        for (int64_t i = 0; i < 2 * info.leaves; i++) ((float *)tsr_volume_data(values))[i] = (float)i;
        require_ok(tsr_region_tree_filter(device, least, most, values, &filtered, &kept));
        back = host_of(filtered);
        const tsr_region_info less = *tsr_region_tree_describe(back);
        int64_t at = 0;
        for (int64_t i = 0; i < info.leaves; i++) {
            const uint64_t key = tsr_region_tree_leaves(tree)[i];
            if ((int32_t)(key & 63u) < least || (int32_t)(key & 63u) > most) continue;
            assert_true(at < less.leaves && tsr_region_tree_leaves(back)[at] == key);
            const float *v = tsr_volume_data_const(kept);
            assert_true(v[at] == (float)i && v[less.leaves + at] == (float)(info.leaves + i));
            at++;
        }
        assert_int_equal(at, less.leaves);
        assert_true(less.leaves ? tsr_volume_size(kept).x == less.leaves : kept == NULL);
        require_ok(tsr_region_tree_paint(filtered, TSR_U8, NULL, 0, &painted)); /* the nodes lead to them */
        require_ok(tsr_volume_copy(painted, NULL, &local));
        int64_t covered = 0, expected = 0;
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) covered += ((const uint8_t *)tsr_volume_data_const(local))[i];
        for (int64_t i = 0; i < less.leaves; i++) expected += (int64_t)1 << (less.dimensions * (int32_t)(tsr_region_tree_leaves(back)[i] & 63u));
        assert_int_equal(covered, expected);
        if (round == 0) {
            tsr_region_tree *none;
            tsr_volume *no_values;
            require_error(tsr_region_tree_filter(device, 2, 1, NULL, &none, NULL), TSR_ERROR_ARGUMENT, "levels from 2 to 1");
            require_error(tsr_region_tree_filter(device, 0, 1, values, &none, NULL), TSR_ERROR_ARGUMENT, "filtered_values is NULL");
            tsr_volume_destroy(&local);
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ info.leaves + 1, 1, 1 }, NULL, &local));
            require_error(tsr_region_tree_filter(device, 0, 1, local, &none, &no_values), TSR_ERROR_ARGUMENT, "values are f32");
            assert_true(!none && !no_values);
        }
        tsr_volume_destroy(&values);
        tsr_volume_destroy(&kept);
        tsr_volume_destroy(&painted);
        tsr_volume_destroy(&local);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&filtered);
        tsr_region_tree_destroy(&back);
    }
    tsr_context_destroy(&context);
}

/* Nothing of the voxels is stored: the same lists from less memory. */
static void bases_that_are_not_stored(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 32, 32, 32 }, { 21, 9, 30 }, { 64, 40, 1 }, { 3, 4, 2 }, { 9, 1, 1 } };
    static uint8_t bytes[32 * 32 * 32];
    static float floats[32 * 32 * 32];
    tsr_context *context = test_context();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < (test_is_slow() ? 5 : 14); round++) {
            const tsr_size3 n = sizes[s];
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_region_pyramid *stored, *asked;
            tsr_region_tree *device, *plain, *again;
            tsr_region_info info = TSR_REGION_INFO, less = TSR_REGION_INFO;
            clumps_of(&seed, n, across(4), bytes);
            if (round == 13) memset(bytes, 2, sizeof bytes);
            for (int64_t i = 0; i < n.x * n.y * n.z; i++) floats[i] = (float)bytes[i] + (round % 2 ? 0.125f * (float)(i / 7 % 5 == 0) : 0.0f);
            o.rule = round % 4 == 3 ? TSR_REGION_COLOUR : (tsr_region_rule_kind)(round % 3);
            o.colour[0] = 3.125;
            o.classifier = round % 2 ? TSR_PYRAMID_BOUNDARY : TSR_PYRAMID_RANGE;
            o.lower = 1;
            o.upper = 9;
            o.threshold = 0.02;
            o.complement = round % 4 == 1;
            o.singles = round % 5 == 2;
            o.nodes_only = round % 7 == 3;
            tsr_volume *v = there(context, TSR_F32, n, floats);
            require_ok(tsr_region_pyramid_create(context, n, &o, &stored));
            o.implicit_base = 1;
            require_ok(tsr_region_pyramid_create(context, n, &o, &asked));
            require_ok(tsr_region_pyramid_build(stored, (const tsr_volume *const[]){ v }, 1));
            require_ok(tsr_region_pyramid_build(asked, (const tsr_volume *const[]){ v }, 1));
            require_ok(tsr_region_pyramid_describe(stored, &info));
            require_ok(tsr_region_pyramid_describe(asked, &less));
            assert_true(less.leaves == info.leaves && less.nodes == info.nodes && less.root == info.root);
            if (s == 0) assert_true(less.device_bytes < info.device_bytes / 2);
            require_ok(tsr_region_tree_extract(stored, &device));
            require_ok(tsr_region_tree_copy(device, NULL, &plain));
            tsr_region_tree_destroy(&device);
            require_ok(tsr_region_tree_extract(asked, &device));
            require_ok(tsr_region_tree_copy(device, NULL, &again));
            if (o.nodes_only)
                assert_memory_equal(tsr_region_tree_nodes(again), tsr_region_tree_nodes(plain), (size_t)(info.nodes << info.dimensions) * 4);
            else same_trees(again, plain);
            if (round == 0 && n.x > 20) { /* and tile by tile */
                tsr_region_tiling tiling = TSR_REGION_TILING;
                tsr_region_tree *tiled;
                tsr_volume *host = wrap(TSR_F32, n, floats);
                tiling.tile = 16;
                require_ok(tsr_region_tree_make_tiled(context, (const tsr_volume *const[]){ host }, 1, &o, &tiling, &tiled, NULL));
                same_trees(tiled, plain);
                tsr_region_tree_destroy(&tiled);
                tsr_volume_destroy(&host);
            }
            tsr_region_tree_destroy(&device);
            tsr_region_tree_destroy(&plain);
            tsr_region_tree_destroy(&again);
            tsr_region_pyramid_destroy(&stored);
            tsr_region_pyramid_destroy(&asked);
            tsr_volume_destroy(&v);
        }
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_pyramid *p;
    o.rule = TSR_REGION_SPREAD;
    o.implicit_base = 1;
    require_error(tsr_region_pyramid_create(context, sizes[0], &o, &p), TSR_ERROR_ARGUMENT,
                  "implicit_base is for the rules classes, edges, linear and colour");
    tsr_context_destroy(&context);
}

static void add(tsr_context *context, tsr_region_merge *merge, tsr_size3 n, const uint8_t *data, const tsr_region_options *o, const int64_t tile[3],
                int32_t shift, int32_t top)
{
    tsr_region_options own = *o;
    tsr_region_pyramid *p;
    tsr_volume *v = there(context, TSR_U8, n, data);
    own.top = top;
    require_ok(tsr_region_pyramid_create(context, n, &own, &p));
    require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
    require_ok(tsr_region_merge_add(merge, p, tile, shift, NULL, 0));
    require_error(tsr_region_merge_add(merge, p, tile, shift, NULL, 0), TSR_ERROR_ARGUMENT, "is there already");
    tsr_region_pyramid_destroy(&p);
    tsr_volume_destroy(&v);
}

/* A tile, then one beyond its lower x, sampled coarser: the tree equals that of the volume with the coarse voxels written out. */
static void volumes_grow_and_differ(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    static uint8_t fine[16 * 16 * 16], coarse[8 * 8 * 8], all[32 * 16 * 16];
    o.classifier = TSR_PYRAMID_NONZERO;
    o.dimensions = 3;
    for (int round = 0; round < 6; round++) {
        tsr_region_merge *merge;
        tsr_region_tree *tree, *device, *whole;
        clumps_of(&seed, (tsr_size3){ 16, 16, 16 }, across(2), fine);
        clumps_of(&seed, (tsr_size3){ 8, 8, 8 }, across(2), coarse);
        require_ok(tsr_region_merge_create(&o, 4, &merge));
        add(context, merge, (tsr_size3){ 16, 16, 16 }, fine, &o, (const int64_t[3]){ 0, 0, 0 }, 0, 4);
        require_ok(tsr_region_merge_tree(merge, (const int64_t[3]){ 0, 0, 0 }, (tsr_size3){ 16, 16, 16 }, NULL, &tree, NULL));
        device = make(context, TSR_U8, (tsr_size3){ 16, 16, 16 }, fine, &o);
        whole = host_of(device);
        same_trees(tree, whole);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&whole);
        add(context, merge, (tsr_size3){ 8, 8, 8 }, coarse, &o, (const int64_t[3]){ -1, 0, 0 }, 1, 3);
        require_error(tsr_region_merge_tree(merge, (const int64_t[3]){ 0, 0, 0 }, (tsr_size3){ 16, 16, 16 }, NULL, &tree, NULL), TSR_ERROR_ARGUMENT,
                      "tile (-1, 0, 0) lies outside");
        require_ok(tsr_region_merge_tree(merge, (const int64_t[3]){ -1, 0, 0 }, (tsr_size3){ 32, 16, 16 }, NULL, &tree, NULL));
        for (int i = 0; i < 32 * 16 * 16; i++) {
            const int x = i % 32, y = i / 32 % 16, z = i / 512;
            all[i] = x < 16 ? coarse[((z / 2) * 8 + y / 2) * 8 + x / 2] : fine[(z * 16 + y) * 16 + x - 16];
        }
        device = make(context, TSR_U8, (tsr_size3){ 32, 16, 16 }, all, &o);
        whole = host_of(device);
        same_trees(tree, whole);
        const tsr_region_merge_info info = *tsr_region_merge_describe(merge);
        assert_true(info.tiles == 2 && info.bytes >= info.leaves * 8);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&whole);
        tsr_region_merge_destroy(&merge);
    }
    tsr_context_destroy(&context);
}

/* ---- queries -------------------------------------------------------------------------------------------------------------------------------- */

static void *upload(tsr_context *context, const void *data, size_t bytes)
{
    void *memory;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    require_ok(tsr_device_move(context, memory, NULL, data, bytes));
    return memory;
}

static tsr_region_hit *find_all(tsr_context *context, const tsr_region_tree *tree, tsr_size3 n)
{
    const int64_t count = n.x * n.y * n.z;
    int32_t *positions = malloc((size_t)count * 12);
    tsr_region_hit *hits = malloc((size_t)count * sizeof *hits);
    for (int64_t i = 0; i < count; i++) {
        positions[3 * i] = (int32_t)(i % n.x);
        positions[3 * i + 1] = (int32_t)(i / n.x % n.y);
        positions[3 * i + 2] = (int32_t)(i / n.x / n.y);
    }
    void *from = upload(context, positions, (size_t)count * 12), *to;
    require_ok(tsr_device_allocate(context, (size_t)count * sizeof *hits, &to));
    require_ok(tsr_region_tree_find(tree, from, count, to));
    require_ok(tsr_device_move(NULL, hits, context, to, (size_t)count * sizeof *hits));
    tsr_device_release(context, from, (size_t)count * 12);
    tsr_device_release(context, to, (size_t)count * sizeof *hits);
    free(positions);
    return hits;
}

static void same_hits(const tsr_region_hit *a, const tsr_region_hit *b, int64_t count, int same_leaf)
{
    for (int64_t i = 0; i < count; i++) {
        assert_true(a[i].level == b[i].level && a[i].lower[0] == b[i].lower[0] && a[i].lower[1] == b[i].lower[1] && a[i].lower[2] == b[i].lower[2]);
        assert_int_equal(a[i].leaf, same_leaf || b[i].leaf < 0 ? b[i].leaf : 0);
    }
}

static void caps_and_node_lists(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 13, 9, 18 }, { 29, 17, 1 } };
    static uint8_t data[18 * 16 * 16];
    for (size_t s = 0; s < 3; s++)
        for (int round = test_is_slow() ? 2 : 0; round < 4; round++) {
            const tsr_size3 n = sizes[s];
            tsr_region_options o = TSR_REGION_OPTIONS;
            tsr_volume *painted[2], *local[2];
            o.classifier = TSR_PYRAMID_NONZERO;
            if (round == 3) memset(data, s ? 0 : 1, sizeof data);
            else clumps_of(&seed, n, across(2), data);
            tsr_region_tree *plain = make(context, TSR_U8, n, data, &o), *copy, *host;
            const tsr_region_info info = *tsr_region_tree_describe(plain);
            tsr_region_hit *expected = find_all(context, plain, n), *hits;
            for (int32_t cap = 1; cap < info.top; cap++) {
                require_ok(tsr_region_tree_cap(plain, cap));
                assert_int_equal(tsr_region_tree_describe(plain)->cap, cap);
                hits = find_all(context, plain, n);
                same_hits(hits, expected, n.x * n.y * n.z, 1);
                free(hits);
            }
            require_ok(tsr_region_tree_copy(plain, context, &copy));
            hits = find_all(context, copy, n);
            same_hits(hits, expected, n.x * n.y * n.z, 1);
            free(hits);
            tsr_region_tree_destroy(&copy);
            require_error(tsr_region_tree_cap(plain, info.top), TSR_ERROR_ARGUMENT, "cap is");
            require_ok(tsr_region_tree_cap(plain, 0));
            assert_int_equal(tsr_region_tree_describe(plain)->device_bytes, info.device_bytes);
            /* nodes only: the same tree without the numbers of leaves */
            o.nodes_only = 1;
            tsr_region_tree *nodes = make(context, TSR_U8, n, data, &o);
            const tsr_region_info less = *tsr_region_tree_describe(nodes);
            assert_true(less.nodes == info.nodes && less.leaves == info.leaves && less.root == info.root && less.nodes_only);
            assert_int_equal(less.device_bytes, info.device_bytes - info.leaves * 8);
            assert_null(tsr_region_tree_leaves(nodes));
            hits = find_all(context, nodes, n);
            same_hits(hits, expected, n.x * n.y * n.z, 0);
            host = host_of(nodes);
            copy = host_of(plain);
            for (int64_t i = 0; i < info.nodes << info.dimensions; i++) {
                const int32_t r = tsr_region_tree_nodes(copy)[i];
                assert_int_equal(tsr_region_tree_nodes(host)[i], r < 0 ? -1 : r);
            }
            for (int k = 0; k < 2; k++) {
                require_ok(tsr_region_tree_paint(k ? nodes : plain, TSR_U8, NULL, 0, &painted[k]));
                require_ok(tsr_volume_copy(painted[k], NULL, &local[k]));
            }
            assert_memory_equal(tsr_volume_data_const(local[0]), tsr_volume_data_const(local[1]), (size_t)(n.x * n.y * n.z));
            require_error(tsr_region_tree_search(nodes, (const int32_t *)(const void *)hits, 1, hits), TSR_ERROR_STATE, "nodes only");
            for (int k = 0; k < 2; k++) {
                tsr_volume_destroy(&painted[k]);
                tsr_volume_destroy(&local[k]);
            }
            free(hits);
            free(expected);
            tsr_region_tree_destroy(&host);
            tsr_region_tree_destroy(&copy);
            tsr_region_tree_destroy(&nodes);
            tsr_region_tree_destroy(&plain);
        }
    tsr_context_destroy(&context);
}

/* A ball that moves: the tree renewed equals the tree made anew, and after the first frames no memory is taken. */
static void renewed_trees(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static uint8_t data[24 * 24 * 24];
    const tsr_size3 n = { 24, 24, 24 };
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_pyramid *p, *other;
    tsr_region_tree *tree = NULL;
    o.classifier = TSR_PYRAMID_NONZERO;
    require_ok(tsr_region_pyramid_create(context, n, &o, &p));
    int64_t bytes = 0;
    for (int frame = 0; frame < 8; frame++) {
        const double r = frame == 0 ? 9 : 3 + frame % 4; /* the largest first */
        for (int i = 0; i < 24 * 24 * 24; i++) data[i] = pow(i % 24 - 8.0 - frame, 2) + pow(i / 24 % 24 - 11.5, 2) + pow(i / 576 - 11.5, 2) < r * r;
        tsr_volume *v = there(context, TSR_U8, n, data);
        require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
        if (!tree) require_ok(tsr_region_tree_extract(p, &tree));
        else require_ok(tsr_region_tree_renew(p, tree));
        if (frame == 0) require_ok(tsr_region_tree_cap(tree, 2));
        if (frame > 0) assert_int_equal(tsr_region_tree_describe(tree)->device_bytes, bytes);
        bytes = tsr_region_tree_describe(tree)->device_bytes;
        tsr_region_tree *anew = make(context, TSR_U8, n, data, &o), *a = host_of(tree), *b = host_of(anew);
        same_trees(a, b);
        tsr_region_hit *hits = find_all(context, tree, n), *expected = find_all(context, anew, n);
        same_hits(hits, expected, 24 * 24 * 24, 1);
        free(hits);
        free(expected);
        tsr_region_tree_destroy(&a);
        tsr_region_tree_destroy(&b);
        tsr_region_tree_destroy(&anew);
        tsr_volume_destroy(&v);
    }
    for (int i = 0; i < 24 * 24 * 24; i++) data[i] = (uint8_t)(i % 3); /* many more leaves than before */
    tsr_volume *v = there(context, TSR_U8, n, data);
    require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
    require_ok(tsr_region_tree_renew(p, tree));
    assert_true(tsr_region_tree_describe(tree)->device_bytes > bytes);
    tsr_region_tree *anew = make(context, TSR_U8, n, data, &o), *a = host_of(tree), *b = host_of(anew);
    same_trees(a, b);
    require_ok(tsr_region_pyramid_create(context, (tsr_size3){ 8, 8, 8 }, &o, &other));
    require_error(tsr_region_tree_renew(other, tree), TSR_ERROR_STATE, "nothing was built");
    tsr_region_tree_destroy(&a);
    tsr_region_tree_destroy(&b);
    tsr_region_tree_destroy(&anew);
    tsr_volume_destroy(&v);
    tsr_region_pyramid_destroy(&other);
    tsr_region_pyramid_destroy(&p);
    tsr_region_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_tiling tiling = TSR_REGION_TILING;
    tsr_region_merge *merge;
    tsr_region_pyramid *p;
    tsr_region_tree *tree;
    static uint8_t data[16 * 16 * 16];
    const tsr_size3 n = { 16, 16, 16 };
    tsr_volume *host = wrap(TSR_U8, n, data), *v = there(context, TSR_U8, n, data);
    const tsr_volume *const channels[1] = { host };
    test_stop stop = { 0.4, 0 };
    o.classifier = TSR_PYRAMID_NONZERO;
    tiling.tile = 12;
    require_error(tsr_region_tree_make_tiled(context, channels, 1, &o, &tiling, &tree, NULL), TSR_ERROR_ARGUMENT, "tile is 12");
    tiling.tile = 8;
    tiling.progress = (tsr_progress){ test_stops, &stop };
    require_error(tsr_region_tree_make_tiled(context, channels, 1, &o, &tiling, &tree, NULL), TSR_ERROR_CANCELLED, "4 of 8 tiles");
    assert_true(tree == NULL && stop.calls == 5);
    require_error(tsr_region_tree_make_tiled(context, channels, 0, &o, &tiling, &tree, NULL), TSR_ERROR_ARGUMENT, "0 channels");
    require_error(tsr_region_merge_create(&o, 4, &merge), TSR_ERROR_ARGUMENT, "dimensions is 0");
    o.dimensions = 3;
    require_error(tsr_region_merge_create(&o, 20, &merge), TSR_ERROR_ARGUMENT, "level is 20");
    require_ok(tsr_region_merge_create(&o, 4, &merge));
    require_ok(tsr_region_pyramid_create(context, n, &o, &p));
    require_error(tsr_region_merge_add(merge, p, (const int64_t[3]){ 0 }, 0, NULL, 0), TSR_ERROR_STATE, "nothing was built");
    require_error(tsr_region_pyramid_build_part(p, (const tsr_volume *const[]){ v }, 1, (const int64_t[3]){ 1, 0, 0 }), TSR_ERROR_ARGUMENT,
                  "from (1, 0, 0) inside");
    require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
    require_error(tsr_region_merge_add(merge, p, (const int64_t[3]){ 0 }, 1, NULL, 0), TSR_ERROR_ARGUMENT, "top 4, shift 1");
    require_error(tsr_region_merge_tree(merge, (const int64_t[3]){ 0 }, (tsr_size3){ 8, 8, 8 }, NULL, &tree, NULL), TSR_ERROR_ARGUMENT,
                  "larger than half a tile");
    tsr_region_pyramid_destroy(&p);
    o.threshold = 3;
    require_ok(tsr_region_pyramid_create(context, n, &o, &p));
    require_error(tsr_region_merge_add(merge, p, (const int64_t[3]){ 0 }, 0, NULL, 0), TSR_ERROR_ARGUMENT, "other options");
    tsr_region_pyramid_destroy(&p);
    o.dimensions = 2;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "dimensions is 2 with extent z 16");
    o.dimensions = 3;
    o.top = 3;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "top is 3");
    tsr_region_merge_destroy(&merge);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tiles_equal_the_whole), cmocka_unit_test(bases_that_are_not_stored),
                                        cmocka_unit_test(filtered_by_size),      cmocka_unit_test(volumes_grow_and_differ),
                                        cmocka_unit_test(caps_and_node_lists),   cmocka_unit_test(renewed_trees),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("trees in tiles", tests, NULL, NULL);
}
