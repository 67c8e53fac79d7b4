/* Lone points left out before the octree: all pairs as the reference, the tree of the others, clouds that the rule does not fit. */
#include "cloud.h"
#include "reconstruct/reconstruct.h"
#include "tessera/csg.h"

enum { LEVEL = 7 }; /* of the cube: 128 voxels */

static tsr_points_tree *without_lone(tsr_context *context, const float *points, int64_t count, int32_t depth, int32_t min_neighbours)
{
    const tsr_points_frame frame = cloud_frame(LEVEL);
    const tsr_lone_rule rule = { .others = min_neighbours, .least = count - count / 2 };
    tsr_points_tree *tree;
    void *device = to_device(context, points, (size_t)count * 12);
    require_ok(tsr_points_tree_create_without_lone(context, (const float *)device, count, &frame, depth, &rule, &tree));
    tsr_device_release(context, device, (size_t)count * 12);
    return tree;
}

static tsr_points *points_on(tsr_context *context, const float *p, int64_t count)
{
    tsr_points *host, *points;
    require_ok(tsr_points_create(NULL, count, 0, &host));
    memcpy(tsr_points_positions(host), p, (size_t)count * 12);
    require_ok(tsr_points_copy(host, context, &points));
    tsr_points_destroy(&host);
    return points;
}

static double place(float x) { return floor((double)x * ldexp(1, TSR_FIXED_BITS - LEVEL)); } /* in fixed units */

/* Reference: how near is near, in fixed units; 0 if the cells are never full enough. */
static double near_by(const float *points, int64_t count, int32_t depth)
{
    uint8_t *seen = (uint8_t *)malloc((size_t)1 << 18);
    double near = 0;
    for (int32_t cells = depth - 3; cells >= 2 && near == 0; cells--) {
        const double side = ldexp(1, TSR_FIXED_BITS - cells);
        int64_t occupied = 0;
        memset(seen, 0, (size_t)1 << (3 * cells));
        for (int64_t i = 0; i < count; i++) {
            int64_t cell = 0;
            for (int k = 0; k < 3; k++) cell = (cell << cells) + (int64_t)(place(points[3 * i + k]) / side);
            occupied += !seen[cell];
            seen[cell] = 1;
        }
        if (8 * occupied <= count) near = side;
    }
    free(seen);
    return near;
}

/* Compacts the points that have company; returns how many. */
static int64_t keep(const float *points, int64_t count, double near, int64_t least, float *kept)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t others = 0;
        for (int64_t j = 0; j < count; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++) square += pow(place(points[3 * i + k]) - place(points[3 * j + k]), 2);
            others += j != i && square <= near * near;
        }
        if (others >= least) memcpy(kept + 3 * n++, points + 3 * i, 12);
    }
    return n;
}

static void require_same(const tsr_points_tree *a, const tsr_points_tree *b)
{
    tsr_tree_view va = tree_view(a), vb = tree_view(b);
    assert_int_equal(a->points, b->points);
    assert_int_equal(va.nodes, vb.nodes);
    assert_memory_equal(va.centre, vb.centre, va.nodes * sizeof *va.centre);
    assert_memory_equal(va.walk, vb.walk, va.nodes * sizeof *va.walk);
    view_free(&va);
    view_free(&vb);
}

/* A sphere and points anywhere, some of them in groups of 2 to 5, in all depths from where cells are too coarse to where points are too sparse. */
static void against_all_pairs(void **state)
{
    (void)state;
    enum { SPHERE = 2000, FAR = 60, N = SPHERE + FAR };
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    uint64_t seed = test_seed();
    float *p = sphere_points(N, 64, 40, seed), *kept = (float *)malloc((size_t)N * 12);
    int64_t dropped = 0;
    for (int64_t i = SPHERE; i < N; i++) {
        const int alone = i == SPHERE || test_uniform(&seed) < 0.4;
        for (int k = 0; k < 3; k++)
            p[3 * i + k] = (float)(alone ? 128 * test_uniform(&seed) : fmin(fmax((double)p[3 * i - 3 + k] + 16 * test_uniform(&seed) - 8, 0), 127.9));
    }
    for (int64_t i = N - 1; i > 0; i--) /* any order */
        for (int k = 0, j = (int)(test_uniform(&seed) * (double)(i + 1)); k < 3; k++) {
            const float swap = p[3 * i + k];
            p[3 * i + k] = p[3 * j + k];
            p[3 * j + k] = swap;
        }
    for (int32_t depth = 4; depth <= 9; depth++) {
        const double near = near_by(p, N, depth);
        for (int32_t least = 1; least <= 20; least = 3 * least - least / 2) {
            const int64_t n = near > 0 ? keep(p, N, near, least, kept) : N;
            tsr_points_tree *tree = without_lone(context, p, N, depth, least),
                            *other = tree_on(context, near > 0 ? kept : p, NULL, n, &frame, depth, 0);
            print_message("depth %d, %d others within %g voxels: %lld of %d lone\n", depth, least, near * ldexp(1, LEVEL - TSR_FIXED_BITS),
                          (long long)(N - n), N);
            assert_true(n > N / 2);
            assert_int_equal(tree->lone, N - n);
            require_same(tree, other);
            dropped += N - n;
            tsr_points_tree_destroy(&tree);
            tsr_points_tree_destroy(&other);
        }
    }
    assert_true(dropped > 50);
    free(p);
    free(kept);
    tsr_context_destroy(&context);
}

/* Neither few points nor a cloud most of whose points were lone loses any; all in one place have company. */
static void kept_whole(void **state)
{
    (void)state;
    enum { N = 64 };
    tsr_context *context = test_context();
    float p[3 * N];
    uint64_t seed = test_seed();
    for (int64_t i = 0; i < 3 * N; i++) p[i] = (float)(128 * test_uniform(&seed));
    for (int64_t n = 1; n <= N; n *= 4) {
        tsr_points_tree *tree = without_lone(context, p, n, 10, 3);
        assert_int_equal(tree->points, n);
        assert_int_equal(tree->lone, 0);
        tsr_points_tree_destroy(&tree);
    }
    for (int64_t i = 0; i < 3 * N; i++)
        p[i] = i < 3 * N / 2 ? 5.0f : 128 * (float)((i / 3 * (int64_t[]){ 7, 11, 13 }[i % 3]) % 32) / 32; /* half in one place */
    tsr_points_tree *tree = without_lone(context, p, N, 5, N - 1);                                        /* none has so many */
    assert_int_equal(tree->lone, 0);
    tsr_points_tree_destroy(&tree);
    for (int64_t i = 0; i < 3 * N; i++) p[i] = 77;
    tree = without_lone(context, p, N, TSR_TREE_DEPTH_MOST, N - 1);
    assert_int_equal(tree->points, N);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* Neighbours in the sorted order may lie in opposite corners of the cube. */
static void opposite_corner(void **state)
{
    (void)state;
    enum { N = 500 };
    tsr_context *context = test_context();
    float p[3 * N];
    uint64_t seed = test_seed();
    for (int64_t i = 0; i < 3 * N; i++) p[i] = i < 3 * (N - 1) ? (float)(1 + 8 * test_uniform(&seed)) : 127;
    tsr_points_tree *tree = without_lone(context, p, N, 7, 3);
    assert_int_equal(tree->lone, 1);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* Strays however far: the cube is that of the sphere, and so is the tree. Those less far leave the cube as it is. */
static void cube_of_the_others(void **state)
{
    (void)state;
    enum { SPHERE = 4000 };
    const double far[][4] = { { 60 }, { 3, -1e6 }, { 1e9, 2e4, -300, 5 }, { 1.45 } }; /* radii from the middle */
    tsr_context *context = test_context();
    float *p = sphere_points(SPHERE + 4, 0, 1, test_seed());
    tsr_reconstruct_options given = TSR_RECONSTRUCT_OPTIONS, o;
    tsr_points_frame frame, fitted;
    tsr_points_tree *tree, *other;
    tsr_points *points;
    double diagonal, clean;
    int32_t flat;
    require_ok(tsr_reconstruct_take(&given, &o));
    points = points_on(context, p, SPHERE);
    require_ok(tsr_reconstruct_octree(context, points, &o, &fitted, &clean, &flat, &other));
    tsr_points_destroy(&points);
    for (int c = 0; c < 4; c++) {
        int32_t strays = 0;
        for (; strays < 4 && far[c][strays] != 0; strays++)
            for (int k = 0; k < 3; k++) p[3 * (SPHERE + strays) + k] = (float)(k == strays % 3 ? far[c][strays] : 0.1);
        points = points_on(context, p, SPHERE + strays);
        require_ok(tsr_reconstruct_octree(context, points, &o, &frame, &diagonal, &flat, &tree));
        print_message("%d strays: side %g of %g, %lld lone\n", strays, frame.side, fitted.side, (long long)tree->lone);
        assert_int_equal(tree->lone, strays);
        assert_int_equal(tree->points, SPHERE);
        assert_true(diagonal == clean);
        if (c < 3) {
            assert_memory_equal(&frame, &fitted, sizeof frame);
            require_same(tree, other);
        } else {
            assert_true(frame.side > 1.05 * fitted.side);
        }
        tsr_points_tree_destroy(&tree);
        tsr_points_destroy(&points);
    }
    tsr_points_tree_destroy(&other);
    free(p);
    tsr_context_destroy(&context);
}

/* ---- judged by what lies round them --------------------------------------------------------------------------------------------------------- */

/* A sphere round the middle of the cube whose lower half (z) has one sample in `thinner`, and `scattered` points anywhere in the cube. */
static float *half_dense(int64_t dense, int64_t thinner, int64_t scattered, double radius, int64_t *count, uint64_t *seed)
{
    float *all = sphere_points(2 * dense, 64, radius, *seed), *p = (float *)malloc((size_t)(2 * dense + scattered) * 12);
    int64_t n = 0, below = 0;
    for (int64_t i = 0; i < 2 * dense; i++)
        if (all[3 * i + 2] >= 64 || below++ % thinner == 0) memcpy(p + 3 * n++, all + 3 * i, 12);
    for (int64_t i = 0; i < scattered; i++, n++)
        for (int k = 0; k < 3; k++) p[3 * n + k] = (float)(128 * test_uniform(seed));
    free(all);
    *count = n;
    *seed += 0x632be59bd9b4e019ull;
    return p;
}
static int64_t judged(tsr_context *context, const float *p, int64_t count, tsr_points **kept)
{
    const tsr_points_frame frame = cloud_frame(LEVEL);
    const tsr_lone_rule rule = { .others = 3, .judged = 1, .least = count - count / 2 };
    tsr_points_tree *tree;
    tsr_points *points = points_on(context, p, count);
    require_ok(tsr_points_tree_create_without_lone(context, points->positions, count, &frame, LEVEL, &rule, &tree));
    const int64_t lone = tree->lone;
    *kept = NULL;
    if (tree->kept) require_ok(tsr_points_copy(tree->kept, NULL, kept));
    tsr_points_tree_destroy(&tree);
    tsr_points_destroy(&points);
    return lone;
}
static int64_t without_lone_count(tsr_context *context, const float *p, int64_t count)
{
    tsr_points_tree *tree = without_lone(context, p, count, LEVEL, 3);
    const int64_t lone = tree->lone;
    tsr_points_tree_destroy(&tree);
    return lone;
}
static int by_position(const void *a, const void *b) { return memcmp(a, b, 12); }

/* Samples 50 times sparser than the others are samples; of scattered points none stays that is far from the surface, and no sample goes with them. The same
 * points in any order. */
static void judged_where_they_are(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    for (int trial = 0; trial < (test_watches_threads() ? 1 : 2); trial++) {
        int64_t count;
        tsr_points *kept, *again;
        float *p = half_dense(14000, 50, 0, 55, &count, &seed);
        const int64_t strict = without_lone_count(context, p, count), lone = judged(context, p, count, &kept);
        print_message("one half 50 times sparser: %lld of 280 sparse samples lone, %lld by the strict rule\n", (long long)lone, (long long)strict);
        assert_true(strict > 80 && lone <= 14);
        tsr_points_destroy(&kept);
        free(p);
        p = half_dense(10000, 1, 1000, 45, &count, &seed);
        assert_true(judged(context, p, count, &kept) > 500);
        int64_t far = 0, samples = 0;
        for (int64_t i = 0; i < tsr_points_count(kept); i++) {
            const float *q = tsr_points_positions_const(kept) + 3 * i;
            const double off = fabs(sqrt(pow((double)q[0] - 64, 2) + pow((double)q[1] - 64, 2) + pow((double)q[2] - 64, 2)) - 45);
            far += off > 8;
            samples += off < 1e-3;
        }
        print_message("1000 scattered points round 20000: %lld stay far from the surface\n", (long long)far);
        assert_true(far <= 1);
        assert_true(samples >= 20000);
        for (int64_t i = count - 1; i > 0; i--)
            for (int k = 0, j = (int)(test_uniform(&seed) * (double)(i + 1)); k < 3; k++) {
                const float swap = p[3 * i + k];
                p[3 * i + k] = p[3 * j + k];
                p[3 * j + k] = swap;
            }
        judged(context, p, count, &again);
        assert_int_equal(tsr_points_count(again), tsr_points_count(kept));
        qsort(tsr_points_positions(kept), (size_t)tsr_points_count(kept), 12, by_position);
        qsort(tsr_points_positions(again), (size_t)tsr_points_count(again), 12, by_position);
        assert_memory_equal(tsr_points_positions(kept), tsr_points_positions(again), (size_t)tsr_points_count(kept) * 12);
        tsr_points_destroy(&kept);
        tsr_points_destroy(&again);
        free(p);
    }
    tsr_context_destroy(&context);
}

/* Where a voxel holds many samples scattered points have company within 8 voxels: they are looked for nearer. */
static void judged_among_many(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    int64_t count, far = 0, samples = 0;
    tsr_points *kept;
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU || test_watches_threads()) { /* many seconds; a smaller cloud runs the same code above */
        tsr_context_destroy(&context);
        return;
    }
    float *p = half_dense(60000, 1, 12000, 45, &count, &seed);
    const int64_t lone = judged(context, p, count, &kept), strict = without_lone_count(context, p, count);
    for (int64_t i = 0; i < tsr_points_count(kept); i++) {
        const float *q = tsr_points_positions_const(kept) + 3 * i;
        const double off = fabs(sqrt(pow((double)q[0] - 64, 2) + pow((double)q[1] - 64, 2) + pow((double)q[2] - 64, 2)) - 45);
        far += off > 8;
        samples += off < 1e-3;
    }
    print_message("12000 scattered points round 120000: %lld lone, %lld by the strict rule, %lld stay far from the surface\n", (long long)lone,
                  (long long)strict, (long long)far);
    assert_true(strict < 1000 && far < 20);
    assert_true(samples >= 120000);
    tsr_points_destroy(&kept);
    free(p);
    tsr_context_destroy(&context);
}

/* Both clouds become spheres. */
static void volumes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    const int here = tsr_context_device(context).kind == TSR_DEVICE_CPU && !test_watches_threads(); /* the other suites reconstruct there */
    for (int sparse = 0; sparse < 2 && here; sparse++) {
        int64_t count;
        float *p = half_dense(sparse ? 14000 : 10000, sparse ? 50 : 1, sparse ? 0 : 1000, 45, &count, &seed);
        tsr_points *points = points_on(context, p, count);
        tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
        tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
        tsr_tiles *tiles;
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        options.depth = 7;
        require_ok(tsr_reconstruct(context, points, &options, &tiles, &report));
        require_ok(tsr_tiles_measure(tiles, &m));
        const double exact = 4.0 / 3 * 3.14159265358979 * 45 * 45 * 45;
        print_message("%s: volume %.4f of the exact, %lld pieces, genus %lld\n", sparse ? "one half 50 times sparser" : "with outliers",
                      m.volume / exact, (long long)m.components, (long long)m.genus);
        assert_true(fabs(m.volume / exact - 1) < (sparse ? 0.015 : 0.006));
        assert_int_equal(m.components, 1);
        assert_int_equal(m.genus, 0);
        tsr_tiles_destroy(&tiles);
        tsr_points_destroy(&points);
        free(p);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(against_all_pairs),
                                        cmocka_unit_test(kept_whole),
                                        cmocka_unit_test(opposite_corner),
                                        cmocka_unit_test(cube_of_the_others),
                                        cmocka_unit_test(judged_where_they_are),
                                        cmocka_unit_test(judged_among_many),
                                        cmocka_unit_test(volumes) };
    return cmocka_run_group_tests_name("lone points", tests, NULL, NULL);
}
