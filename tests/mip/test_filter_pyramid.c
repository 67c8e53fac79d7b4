/* Pyramids with openings and reconstructions: levels by their definitions (reconstruction by flooding, threshold after threshold), synthesis, a thin line that
 * stays connected, and what is refused. */
#include "support.h"

#include <string.h>

enum { MOST = 7 * 7 * 7 };

static int at(const int n[3], int x, int y, int z) { return (z * n[1] + y) * n[0] + x; }
static int inside(const int n[3], int x, int y, int z) { return x >= 0 && y >= 0 && z >= 0 && x < n[0] && y < n[1] && z < n[2]; }

/* {0,1}^3: least (most = 0) or largest of f at x + a or x - a. */
static void cube(const int n[3], const int *f, int most, int *to)
{
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                int best = f[at(n, x, y, z)];
                for (int k = 0; k < 8; k++) {
                    const int s = most ? -1 : 1, px = x + s * (k & 1), py = y + s * (k >> 1 & 1), pz = z + s * (k >> 2);
                    if (!inside(n, px, py, pz)) continue;
                    const int v = f[at(n, px, py, pz)];
                    if (most ? v > best : v < best) best = v;
                }
                to[at(n, x, y, z)] = best;
            }
}

/* Largest t for which the component of { f >= t } round a voxel, 26-connected, holds a marker of at least t. */
static int flooded(const int n[3], const int *f, const int *marker, int seed)
{
    int stack[MOST];
    for (int t = f[seed]; t > 0; t--) {
        uint8_t seen[MOST] = { 0 };
        int top = 0;
        stack[top++] = seed;
        seen[seed] = 1;
        while (top) {
            const int i = stack[--top], x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
            if (marker[i] >= t) return t;
            for (int k = 0; k < 27; k++) {
                const int px = x + k % 3 - 1, py = y + k / 3 % 3 - 1, pz = z + k / 9 - 1;
                if (!inside(n, px, py, pz) || seen[at(n, px, py, pz)] || f[at(n, px, py, pz)] < t) continue;
                seen[at(n, px, py, pz)] = 1;
                stack[top++] = at(n, px, py, pz);
            }
        }
    }
    return 0;
}

static void filtered(const int n[3], const int *f, tsr_pyramid_filter filter, int iterations, int *to)
{
    int eroded[MOST], next[MOST];
    const int count = n[0] * n[1] * n[2];
    cube(n, f, 0, eroded);
    memcpy(to, eroded, sizeof eroded);
    if (filter == TSR_FILTER_OPENING) cube(n, eroded, 1, to);
    for (int i = 0; filter == TSR_FILTER_RECONSTRUCTION && !iterations && i < count; i++) to[i] = flooded(n, f, eroded, i);
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < count; i++) {
            const int x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
            next[i] = 0;
            for (int s = 0; s < 27; s++) {
                const int px = x + s % 3 - 1, py = y + s / 3 % 3 - 1, pz = z + s / 9 - 1;
                if (inside(n, px, py, pz) && to[at(n, px, py, pz)] > next[i]) next[i] = to[at(n, px, py, pz)];
            }
            if (next[i] > f[i]) next[i] = f[i];
        }
        memcpy(to, next, sizeof next);
    }
}

static int voxel(const tsr_volume *v, int64_t i)
{
    const void *data = tsr_volume_data_const(v);
    return tsr_volume_dtype(v) == TSR_U8 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
}

static void levels_are_their_definition(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int k = 0; k < (test_is_slow() ? 24 : 60); k++) {
        int n[3], f[MOST], want[MOST];
        for (int c = 0; c < 3; c++) n[c] = 2 + (int)(test_random(&seed) % 6);
        const int count = n[0] * n[1] * n[2], values = 2 + (int)(test_random(&seed) % 9);
        tsr_volume *v, *back;
        tsr_filter_pyramid *p;
        tsr_filter_pyramid_options o = TSR_FILTER_PYRAMID_OPTIONS;
        require_ok(tsr_volume_create(NULL, k % 2 ? TSR_U8 : TSR_U16, (tsr_size3){ n[0], n[1], n[2] }, NULL, &v));
        for (int i = 0; i < count; i++) {
            f[i] = (int)(test_random(&seed) % (uint64_t)values);
            if (k % 2) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)f[i];
            else ((uint16_t *)tsr_volume_data(v))[i] = (uint16_t)f[i];
        }
        o.filter = (tsr_pyramid_filter)(k % 3);
        o.iterations = k % 3 == 2 && k % 6 == 2 ? 2 : 0;
        o.levels = 1 + (k & 1);
        require_ok(tsr_filter_pyramid_create(v, &o, &p));
        filtered(n, f, o.filter, o.iterations, want);
        const tsr_volume *level = tsr_filter_pyramid_level(p, 1), *detail = tsr_filter_pyramid_detail(p, 0);
        const tsr_size3 m = tsr_volume_size(level);
        for (int i = 0; i < count; i++) { /* level 1 and the differences from its blocks */
            const int x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
            const int got = voxel(level, ((z / 2) * m.y + y / 2) * m.x + x / 2), expected = want[at(n, x & ~1, y & ~1, z & ~1)];
            if (got != expected)
                fail_msg("filter %d, %d iterations: voxel %d of level 1 is %d, expected %d", (int)o.filter, o.iterations, i, got, expected);
            assert_int_equal(((const int32_t *)tsr_volume_data_const(detail))[i], f[i] - expected);
            if (o.filter == TSR_FILTER_EROSION) assert_true(f[i] >= expected);
        }
        require_ok(tsr_filter_pyramid_synthesise(p, 0, &back));
        for (int i = 0; i < count; i++) assert_int_equal(voxel(back, i), f[i]);
        tsr_volume_destroy(&back);
        require_ok(tsr_filter_pyramid_synthesise(p, 1, &back)); /* without the finest details */
        if (o.levels == 1)
            for (int i = 0; i < count; i++) assert_int_equal(voxel(back, i), want[at(n, i % n[0] & ~1, i / n[0] % n[1] & ~1, i / n[0] / n[1] & ~1)]);
        tsr_volume_destroy(&back);
        assert_null(tsr_filter_pyramid_level(p, o.levels + 1));
        assert_null(tsr_filter_pyramid_detail(p, o.levels));
        tsr_filter_pyramid_destroy(&p);
        tsr_volume_destroy(&v);
    }
}

/* A line one voxel thick that ends in a ball: gone from the eroded level, there in the reconstructed one, from end to end. */
static void lines_stay_connected(void **state)
{
    (void)state;
    enum { N = 16 };
    tsr_volume *v;
    tsr_filter_pyramid *p;
    tsr_filter_pyramid_options o = TSR_FILTER_PYRAMID_OPTIONS;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ N, N, N }, NULL, &v));
    uint8_t *f = tsr_volume_data(v);
    memset(f, 0, N * N * N);
    for (int x = 0; x < N; x++) f[(8 * N + 8) * N + x] = 90;
    for (int k = 0; k < 64; k++) f[((6 + k / 16) * N + 6 + k / 4 % 4) * N + k % 4] = 90;
    o.levels = 1;
    for (int filter = 0; filter < 3; filter++) {
        int there = 0;
        o.filter = (tsr_pyramid_filter)filter;
        require_ok(tsr_filter_pyramid_create(v, &o, &p));
        for (int x = 0; x < N / 2; x++) there += voxel(tsr_filter_pyramid_level(p, 1), (4 * (N / 2) + 4) * (N / 2) + x) == 90;
        assert_int_equal(there, filter == TSR_FILTER_RECONSTRUCTION ? N / 2 : 2);
        tsr_filter_pyramid_destroy(&p);
    }
    tsr_volume_destroy(&v);
}

static void refuses(void **state)
{
    (void)state;
    tsr_volume *v, *reals;
    tsr_filter_pyramid *p;
    tsr_filter_pyramid_options o = TSR_FILTER_PYRAMID_OPTIONS;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &v));
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &reals));
    memset(tsr_volume_data(v), 0, 64);
    require_error(tsr_filter_pyramid_create(NULL, &o, &p), TSR_ERROR_ARGUMENT, "volume is NULL");
    require_error(tsr_filter_pyramid_create(reals, &o, &p), TSR_ERROR_ARGUMENT, "the volume is f32");
    o.levels = 4;
    require_error(tsr_filter_pyramid_create(v, &o, &p), TSR_ERROR_ARGUMENT, "expected 0 to 3");
    o.levels = 1;
    o.iterations = 3;
    require_error(tsr_filter_pyramid_create(v, &o, &p), TSR_ERROR_ARGUMENT, "iterations is 3");
    o.iterations = 0;
    o.filter = (tsr_pyramid_filter)3;
    require_error(tsr_filter_pyramid_create(v, &o, &p), TSR_ERROR_ARGUMENT, "filter is 3");
    o.filter = TSR_FILTER_EROSION;
    o.element = TSR_MIP_OWN;
    require_error(tsr_filter_pyramid_create(v, &o, &p), TSR_ERROR_ARGUMENT, "element is own");
    assert_null(p);
    tsr_volume_destroy(&reals);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(levels_are_their_definition), cmocka_unit_test(lines_stay_connected),
                                        cmocka_unit_test(refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
