/* Trees by rules of the caller's own: a map makes the mask, the tree keeps what is not 0; and trees of cells that were never merged, from their keys. */
#include <stdlib.h>
#include <string.h>

#include "region_trees.h"
#include "context.h"

typedef struct busy {
    int32_t least;
} busy; /* rules/busy.c */

static char folder[4096];

static int open_module(void **state)
{
    const char *given = getenv("TESSERA_MODULES");
    snprintf(folder, sizeof folder, "%s/rule_busy", given && *given ? given : RULE_FOLDER);
    return open_context(state);
}

enum { NX = 21, NY = 13, NZ = 10, N = NX * NY * NZ, SIDE = 32 };
static int16_t values[N];
static uint8_t mask[N];

static int kept(int x, int y, int z) { return x < NX && y < NY && z < NZ && mask[(z * NY + y) * NX + x]; }

/* Leaves of a cube by the definition: one leaf if all of it is kept, else those of its eight parts. Checks each against the list, in its order. */
static void leaves_of(int x, int y, int z, int side, const uint64_t *keys, int64_t count, int64_t *k)
{
    int have = 0;
    for (int i = 0; i < side * side * side; i++) have += kept(x + i % side, y + i / side % side, z + i / side / side);
    if (have == side * side * side) {
        assert_true(*k < count);
        const tsr_region_leaf l = tsr_region_leaf_of(keys[*k], 3);
        assert_true(l.x == x && l.y == y && l.z == z && l.side == side);
        ++*k;
    } else if (have) {
        for (int c = 0; c < 8; c++) leaves_of(x + (c & 1) * side / 2, y + (c >> 1 & 1) * side / 2, z + (c >> 2) * side / 2, side / 2, keys, count, k);
    }
}

/* Blocks of like values, so that leaves of several sizes come about. */
static void make_values(uint64_t *seed)
{
    int16_t block[6 * 4 * 3];
    for (size_t i = 0; i < sizeof block / sizeof *block; i++) block[i] = (int16_t)(test_random(seed) % 2 ? 100 : -100);
    for (int i = 0; i < N; i++) {
        const int x = i % NX, y = i / NX % NY, z = i / NX / NY;
        values[i] = block[(z / 4 * 4 + y / 4) * 6 + x / 4] > 0 ? (int16_t)(x % 2 * 50) : (int16_t)(test_random(seed) % 12);
    }
}

static void masks_by_a_map(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_map map;
    require_ok(tsr_map_load(context, folder, sizeof(busy), &map));
    for (int round = 0; round < 6; round++) {
        const busy rule = { round == 5 ? 1000 : 3 + 9 * round };
        const tsr_size3 n = { NX, NY, NZ };
        tsr_volume *host, *volume, *flags;
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_region_tree *tree, *own;
        make_values(&seed);
        for (int i = 0; i < N; i++) mask[i] = i % NX + 1 < NX && abs(values[i] - values[i + 1]) >= rule.least;
        map.data = &rule;
        require_ok(tsr_volume_wrap(NULL, TSR_I16, n, NULL, values, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &volume));
        require_ok(tsr_volume_create(context, TSR_U8, n, NULL, &flags));
        require_ok(tsr_map_run(context, &map, n, (const tsr_volume *const[]){ volume }, 1, (tsr_volume *const[]){ flags }, 1));
        o.classifier = TSR_PYRAMID_NONZERO;
        require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ flags }, 1, &o, &tree));
        require_ok(tsr_region_tree_copy(tree, NULL, &own));
        int64_t k = 0;
        leaves_of(0, 0, 0, SIDE, tsr_region_tree_leaves(own), tsr_region_tree_describe(own)->leaves, &k);
        assert_int_equal(k, tsr_region_tree_describe(own)->leaves);
        tsr_region_tree_destroy(&own);
        tsr_region_tree_destroy(&tree);
        tsr_volume_destroy(&flags);
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A tree of all kept voxels as they are, none merged: every voxel is found where it is kept, with a cube of its own; elsewhere nothing is. */
static void diced(void **state)
{
    (void)state;
    uint64_t seed = test_seed(), *keys = malloc(N * sizeof *keys);
    int64_t count = 0;
    int32_t(*at)[3] = malloc(N * sizeof *at);
    tsr_region_hit *hit = malloc(N * sizeof *hit);
    tsr_region_tree *tree;
    void *positions, *hits;
    make_values(&seed);
    for (int i = 0; i < N; i++) {
        uint64_t code = 0;
        at[i][0] = i % NX;
        at[i][1] = i / NX % NY;
        at[i][2] = i / NX / NY;
        mask[i] = values[i] > 5;
        for (int b = 0; b < 15; b++) code |= (uint64_t)(at[i][b % 3] >> b / 3 & 1) << b; /* bits x0 y0 z0 x1 ... */
        if (mask[i]) keys[count++] = code << 6;
    }
    qsort(keys, (size_t)count, sizeof *keys, by_key);
    require_ok(tsr_region_tree_from_keys(context, keys, count, (tsr_size3){ NX, NY, NZ }, 3, NULL, &tree));
    assert_int_equal(tsr_region_tree_describe(tree)->leaves, count);
    require_ok(tsr_device_allocate(context, N * sizeof *at, &positions));
    require_ok(tsr_device_allocate(context, N * sizeof *hit, &hits));
    require_ok(tsr_device_move(context, positions, NULL, at, N * sizeof *at));
    require_ok(tsr_region_tree_find(tree, positions, N, hits));
    require_ok(tsr_device_move(NULL, hit, context, hits, N * sizeof *hit));
    for (int i = 0; i < N; i++) {
        assert_true((hit[i].leaf >= 0) == mask[i]);
        if (mask[i]) assert_true(hit[i].level == 0 && hit[i].lower[0] == at[i][0] && hit[i].lower[1] == at[i][1] && hit[i].lower[2] == at[i][2]);
    }
    tsr_device_release(context, positions, N * sizeof *at);
    tsr_device_release(context, hits, N * sizeof *hit);
    tsr_region_tree_destroy(&tree);
    free(hit);
    free(at);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(masks_by_a_map), cmocka_unit_test(diced) };
    return cmocka_run_group_tests(tests, open_module, close_context);
}
