/* Classifiers in C of the caller's own: lists as plain loops make them, in every order, with and without a base; clouds of points; what is refused. */
#include "context.h"

#include "device/backend.h"
#include "rules/steps.h"

typedef struct odd {
    float limit[2];
} odd; /* rules/odd.c */

static char folder[4096];

static const char *module(const char *name)
{
    static char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}
static int open_modules(void **state)
{
    const char *given = getenv("TESSERA_MODULES");
    snprintf(folder, sizeof folder, "%s", given && *given ? given : RULE_FOLDER);
    return open_context(state);
}

enum { NX = 21, NY = 10, NZ = 6, N = NX * NY * NZ };
static int16_t values[N];

static tsr_volume *made(uint64_t *random)
{
    tsr_volume *host, *own;
    for (int i = 0; i < N; i++) values[i] = (int16_t)(test_random(random) % 40);
    require_ok(tsr_volume_wrap(NULL, TSR_I16, (tsr_size3){ NX, NY, NZ }, NULL, values, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &own));
    tsr_volume_destroy(&host);
    return own;
}

static int steps_at(int x, int y, int z, double least)
{
    const int v = values[(z * NY + y) * NX + x];
    int n = 0;
    n += values[(z * NY + y) * NX + (x + 1 < NX ? x + 1 : x)] - v >= least;
    n += values[(z * NY + (y + 1 < NY ? y + 1 : y)) * NX + x] - v >= least;
    n += values[((z + 1 < NZ ? z + 1 : z) * NY + y) * NX + x] - v >= least;
    return n;
}

/* The rule is read at each build: its numbers may change. */
static void multiplicities(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *volume = made(&random);
    steps rule = { 3 };
    tsr_map map;
    require_ok(tsr_map_load(context, module("rule_steps"), sizeof rule, &map));
    map.data = &rule;
    for (int round = 0; round < 4; round++) {
        tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
        tsr_pyramid *pyramid;
        tsr_pyramid_info info = TSR_PYRAMID_INFO;
        o.classifier = TSR_PYRAMID_USER;
        o.user = &map;
        o.order = TSR_PYRAMID_ROW;
        o.implicit_base = round & 1;
        o.fanout = round > 1 ? 8 : 0;
        require_ok(tsr_pyramid_create(context, (tsr_size3){ NX, NY, NZ }, &o, &pyramid));
        rule.least = 1 + round;
        const int64_t before = tsr_context_memory(context)->allocations;
        require_ok(tsr_pyramid_build(pyramid, volume));
        assert_int_equal(tsr_context_memory(context)->allocations, before);
        require_ok(tsr_pyramid_describe(pyramid, &info));
        tsr_pyramid_entry *entries = (tsr_pyramid_entry *)malloc(3 * N * sizeof *entries);
        void *list;
        assert_non_null(entries);
        require_ok(tsr_device_allocate(context, 3 * N * sizeof *entries, &list));
        require_ok(tsr_pyramid_extract(pyramid, 0, 3 * N, (tsr_pyramid_entry *)list));
        require_ok(tsr_device_move(NULL, entries, context, list, 3 * N * sizeof *entries));
        int64_t k = 0;
        for (int i = 0; i < N; i++)
            for (int copy = 0; copy < steps_at(i % NX, i / NX % NY, i / NX / NY, rule.least); copy++, k++)
                assert_true(entries[k].voxel == i && entries[k].copy == copy);
        assert_true(k > N / 4 && info.total == (uint64_t)k && entries[k].voxel == -1);
        tsr_device_release(context, list, 3 * N * sizeof *entries);
        free(entries);
        tsr_pyramid_destroy(&pyramid);
    }
    tsr_volume_destroy(&volume);
}

/* A cloud of the voxels that a rule of 0 and 1 keeps, with the gradients of the volume, not of the rule. */
static void clouds(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *volume = made(&random);
    const odd rule = { { 5, 30 } };
    tsr_points_volume_options o = TSR_POINTS_VOLUME_OPTIONS;
    tsr_pyramid_options odds = TSR_PYRAMID_OPTIONS;
    tsr_points *points, *host;
    tsr_map map;
    require_ok(tsr_map_load(context, module("rule_odd"), sizeof rule, &map));
    map.data = &rule;
    o.pyramid = &odds;
    odds.classifier = TSR_PYRAMID_USER;
    odds.user = &map;
    odds.order = TSR_PYRAMID_ROW;
    o.normals = 1;
    require_ok(tsr_points_from_volume(context, volume, &o, &points));
    require_ok(tsr_points_copy(points, NULL, &host));
    const float *p = tsr_points_positions_const(host), *n = tsr_points_normals_const(host);
    int64_t k = 0;
    for (int i = 0; i < N; i++) {
        if (values[i] < 5 || values[i] >= 30 || values[i] % 2 == 0) continue;
        const int x = i % NX, y = i / NX % NY, z = i / NX / NY;
        assert_true(k < tsr_points_count(host) && p[3 * k] == (float)x && p[3 * k + 1] == (float)y && p[3 * k + 2] == (float)z);
        const int slope = values[i + (x + 1 < NX)] - values[i - (x > 0)]; /* the sign of the x component */
        assert_true(slope == 0 ? n[3 * k] == 0 : (n[3 * k] > 0) == (slope > 0));
        k++;
    }
    assert_int_equal(tsr_points_count(host), k);
    tsr_points_destroy(&host);
    tsr_points_destroy(&points);
    tsr_volume_destroy(&volume);
}

/* More outputs than 31 bits count, of a rule that stores a byte a voxel: total, keys and ranks are right; a cloud of so many points is refused with their number
 * before there is memory for them. */
static void more_than_31_bits(void **state)
{
    (void)state;
    const int slow = test_is_slow(); /* then as many as there is time for */
    const tsr_size3 size = { 1024, 1024, slow ? 1 : 9 };
    const uint64_t voxels = (uint64_t)(size.x * size.y * size.z), total = 255 * voxels;
    const int copies = 300; /* cut to the rule's most */
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_points_volume_options points = TSR_POINTS_VOLUME_OPTIONS;
    tsr_pyramid *pyramid;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    tsr_volume *volume;
    tsr_points *cloud;
    tsr_map map;
    require_ok(tsr_map_load(context, module("rule_many"), sizeof copies, &map));
    map.data = &copies;
    require_ok(tsr_volume_create(context, TSR_U8, size, NULL, &volume));
    o.classifier = TSR_PYRAMID_USER;
    o.user = &map;
    o.order = TSR_PYRAMID_ROW;
    require_ok(tsr_pyramid_create(context, size, &o, &pyramid));
    require_ok(tsr_pyramid_build(pyramid, volume));
    require_ok(tsr_pyramid_describe(pyramid, &info));
    assert_true(info.total == total && (slow || total > INT32_MAX));
    const uint64_t keys[3] = { total / 2 + 77, total - 1, total };
    const int64_t voxel = (int64_t)voxels - 2;
    tsr_pyramid_entry entries[3];
    uint64_t rank;
    char *memory;
    require_ok(tsr_device_allocate(context, 1024, (void **)&memory));
    require_ok(tsr_device_move(context, memory, NULL, keys, sizeof keys));
    require_ok(tsr_pyramid_select(pyramid, (uint64_t *)(void *)memory, 3, (tsr_pyramid_entry *)(void *)(memory + 256)));
    require_ok(tsr_device_move(NULL, entries, context, memory + 256, sizeof entries));
    require_ok(tsr_device_move(context, memory, NULL, &voxel, sizeof voxel));
    require_ok(tsr_pyramid_rank(pyramid, (int64_t *)(void *)memory, 1, (uint64_t *)(void *)(memory + 512)));
    require_ok(tsr_device_move(NULL, &rank, context, memory + 512, sizeof rank));
    for (int k = 0; k < 2; k++) assert_true(entries[k].voxel == (int64_t)(keys[k] / 255) && entries[k].copy == (int64_t)(keys[k] % 255));
    assert_true(entries[2].voxel == -1 && rank == 255 * (uint64_t)voxel);
    tsr_device_release(context, memory, 1024);
    tsr_pyramid_destroy(&pyramid);
    if (!slow) {
        points.pyramid = &o;
        require_error(tsr_points_from_volume(context, volume, &points, &cloud), TSR_ERROR_CAPACITY, "points: 2406481920 of them");
        assert_null(cloud);
    }
    tsr_volume_destroy(&volume);
}

static void refused(void **state)
{
    (void)state;
    const tsr_size3 size = { 4, 4, 4 };
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_class two[2] = { { TSR_PYRAMID_USER, 0, 0 }, { TSR_PYRAMID_NONZERO, 0, 0 } };
    tsr_pyramid *pyramid;
    tsr_map map;
    o.classifier = TSR_PYRAMID_USER;
    require_error(tsr_pyramid_create(context, size, &o, &pyramid), TSR_ERROR_ARGUMENT, "without a module");
    require_ok(tsr_map_load(context, module("map_life"), 8, &map));
    o.user = &map;
    require_error(tsr_pyramid_create(context, size, &o, &pyramid), TSR_ERROR_ARGUMENT, "expected a TSR_CLASSIFIER");
    require_ok(tsr_map_load(context, module("rule_odd"), sizeof(odd), &map));
    o.channels = 2;
    o.classes = two;
    require_error(tsr_pyramid_create(context, size, &o, &pyramid), TSR_ERROR_ARGUMENT, "expected a predefined one");
    tsr_region_options tree = TSR_REGION_OPTIONS;
    tsr_region_pyramid *regions;
    tree.classifier = TSR_PYRAMID_USER;
    require_error(tsr_region_pyramid_create(context, size, &tree, &regions), TSR_ERROR_ARGUMENT, "classifier");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(multiplicities), cmocka_unit_test(clouds), cmocka_unit_test(more_than_31_bits),
                                        cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("user rule", tests, open_modules, close_context);
}
