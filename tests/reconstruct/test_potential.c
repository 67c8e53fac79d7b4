/* The potential through the octree against sums in float64 and analytic answers; the table of docs/theory/reconstruction.md 3; angles of section 6; the
 * union of balls against brute force. */
#include "cloud.h"

enum { N = 40000, LEVEL = 7 };
static const double MIDDLE = 64, RADIUS = 40;

/* Keys of the 4^3 tiles (or larger) that hold these voxels. */
static uint64_t key_at(const int32_t voxel[3], int32_t log2_edge)
{
    return tsr_key_make(voxel[0] >> log2_edge, voxel[1] >> log2_edge, voxel[2] >> log2_edge);
}

static void test_single_point(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    const float points[6] = { 60.25f, 64.5f, 70, 60.25f, 64.5f, 70 };
    static const double powers[] = { 3, 2, 5, 1.5, 2.5, 4, 7 };
    tsr_points_tree *tree = tree_on(context, points, NULL, 2, &frame, 21, 0);
    assert_int_equal(tree->view.nodes, 1); /* twice the same: one leaf of count 2 */
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        tsr_potential_params k;
        require_ok(tsr_potential_prepare(powers[i], 0.5, 0.5, LEVEL, &k));
        const int32_t voxel[3] = { 56, 64, 96 };
        uint64_t keys[2] = { key_at(voxel, 3), tsr_key_make(0, 0, 0) };
        float *page = pages_of(tree, &k, NULL, keys, 2, 3);
        for (int t = 0; t < 2; t++)
            for (int v = 0; v < 512; v++) {
                const double x[3] = { tsr_key_x(keys[t]) * 8 + v % 8 + 0.5, tsr_key_y(keys[t]) * 8 + v / 8 % 8 + 0.5,
                                      tsr_key_z(keys[t]) * 8 + v / 64 + 0.5 };
                double exact = direct_potential(points, 2, x, 0.5, powers[i], NULL);
                assert_true(fabs((double)page[512 * t + v] / exact - 1) < 4e-6);
            }
        free(page);
    }
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* theta 0 is the sum over the leaves. */
static void test_direct_sum(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    enum { FEW = 700 };
    float *points = sphere_points(FEW, MIDDLE, RADIUS, test_seed());
    tsr_points_tree *tree = tree_on(context, points, NULL, FEW, &frame, 21, 0);
    assert_int_equal(tree->leaves, FEW);
    for (int two = 0; two < 2; two++) {
        tsr_potential_params k;
        require_ok(tsr_potential_prepare(two ? 2 : 3, 0.5, 0, LEVEL, &k));
        k.level = TSR_TREE_DEPTH_MOST; /* no depth limit: every leaf by itself; the centres below are made for LEVEL */
        const uint32_t centre[3] = { 0, 0, 0 };
        tsr_tree_view v = tree_view(tree);
        uint64_t seed = 5;
        for (int i = 0; i < 200; i++) {
            const double x[3] = { 128 * test_uniform(&seed), 128 * test_uniform(&seed), 128 * test_uniform(&seed) };
            int64_t visited = 0;
            float p = tsr_potential_at(&v, centre, (float)x[0], (float)x[1], (float)x[2], &k, &visited);
            assert_int_equal(visited, FEW);
            assert_true(fabs((double)p / direct_potential(points, FEW, x, 0.5, two ? 2 : 3, NULL) - 1) < 1e-5);
        }
        view_free(&v);
    }
    free(points);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

static void recursive_nodes(const tsr_tree_view *v, uint32_t node, const uint32_t centre[3], const tsr_potential_params *k, uint8_t *taken)
{
    tsr_seen s = tsr_node_seen(&v->centre[node], centre, k->unit);
    if (tsr_node_accepted(&v->walk[node], &s, k)) {
        taken[node] = 1;
        return;
    }
    for (uint32_t child = node + 1; child < v->walk[node].skip; child = v->walk[child].skip) recursive_nodes(v, child, centre, k, taken);
}

/* The walk by skips takes the nodes of the recursion, never below the depth limit. */
static void test_walk(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    float *points = sphere_points(6000, MIDDLE, RADIUS, test_seed());
    tsr_points_tree *tree = tree_on(context, points, NULL, 6000, &frame, 10, 0);
    tsr_tree_view v = tree_view(tree);
    uint8_t *taken = (uint8_t *)malloc(v.nodes);
    for (int level = 4; level <= 7; level++) {
        tsr_potential_params k;
        require_ok(tsr_potential_prepare(3, 0.5, 0.5, level, &k));
        const uint32_t centre[3] = { tsr_block_centre(4, level), tsr_block_centre(8, level), tsr_block_centre(0, level) };
        memset(taken, 0, v.nodes);
        recursive_nodes(&v, 0, centre, &k, taken);
        int64_t covered = 0;
        for (uint32_t node = 0; node < v.nodes;) {
            tsr_seen s = tsr_node_seen(&v.centre[node], centre, k.unit);
            if (!tsr_node_accepted(&v.walk[node], &s, &k)) {
                assert_false(taken[node]);
                assert_true((v.walk[node].depth & 31u) < (uint32_t)level);
                node++;
                continue;
            }
            assert_true(taken[node]);
            covered += v.centre[node].count;
            node = v.walk[node].skip;
        }
        assert_int_equal(covered, 6000);
    }
    free(taken);
    free(points);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* Random places, one walk each: the table of 2.4 (its own limits, with a fifth to spare for another cloud). */
static void test_error_table(void **state)
{
    (void)state;
    static const struct {
        double theta, nodes, mean, most, angle, angle_most;
    } table[] = {
        { 0.3, 373, 0.31, 0.69, 0.03, 0.35 }, { 0.5, 140, 0.85, 2.5, 0.13, 1.3 }, { 0.7, 75, 1.5, 3.3, 0.44, 2.0 }, { 1.0, 36, 2.8, 9.2, 1.6, 10 }
    };
    enum { PLACES = 300 };
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    uint64_t seed = test_seed();
    float *points = sphere_points(N, MIDDLE, RADIUS, seed);
    tsr_points_tree *tree = tree_on(context, points, NULL, N, &frame, 12, 0);
    tsr_tree_view v = tree_view(tree);
    double(*x)[3] = (double(*)[3])malloc(PLACES * sizeof *x), exact[PLACES];
    const float h = 0.125f;
    double(*gradient)[3] = (double(*)[3])malloc(PLACES * sizeof *gradient);
    for (int i = 0; i < PLACES; i++) {
        double r;
        do {
            r = 0;
            for (int k = 0; k < 3; k++) {
                x[i][k] = 128 * test_uniform(&seed);
                r += (x[i][k] - MIDDLE) * (x[i][k] - MIDDLE);
            }
        } while (fabs(sqrt(r) - RADIUS) < 2);
        exact[i] = direct_potential(points, N, x[i], 0.5, 3, gradient[i]);
    }
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        tsr_potential_params k;
        require_ok(tsr_potential_prepare(3, 0.5, table[t].theta, LEVEL, &k));
        for (int d = 0; d <= TSR_TREE_DEPTH_MOST; d++) k.far2[d] = (float)pow(ldexp(1, LEVEL - d) / table[t].theta, 2); /* a point, not a block */
        double mean = 0, most = 0, angle = 0, angle_most = 0;
        int64_t visited = 0;
        for (int i = 0; i < PLACES; i++) {
            float at[7];
            uint32_t centre[3];
            for (int c = 0; c < 3; c++) centre[c] = (uint32_t)(x[i][c] * ldexp(1, 31 - LEVEL));
            for (int s = 0; s < 7; s++) /* the same nodes for all, chosen for the centre: the gradient of their sum */
                at[s] = tsr_potential_at(&v, centre,
                                         s == 1   ? h
                                         : s == 2 ? -h
                                                  : 0,
                                         s == 3   ? h
                                         : s == 4 ? -h
                                                  : 0,
                                         s == 5   ? h
                                         : s == 6 ? -h
                                                  : 0,
                                         &k, s ? NULL : &visited);
            double error = fabs((double)at[0] / exact[i] - 1), difference[3] = { at[1] - at[2], at[3] - at[4], at[5] - at[6] };
            double a = angle_between(difference, gradient[i]);
            mean += error / PLACES;
            angle += a / PLACES;
            most = fmax(most, error);
            angle_most = fmax(angle_most, a);
        }
        print_message("theta %.1f: %.0f nodes, P %.2f %% mean %.2f %% most, gradient %.2f degrees mean %.2f most\n", table[t].theta,
                      (double)visited / PLACES, 100 * mean, 100 * most, angle, angle_most);
        assert_true((double)visited / PLACES < 1.2 * table[t].nodes);
        assert_true(100 * mean < 1.2 * table[t].mean && 100 * most < 1.2 * table[t].most);
        assert_true(angle < 1.2 * table[t].angle + 0.02 && angle_most < 1.2 * table[t].angle_most); /* 0.02: differences of float32 */
    }
    free(x);
    free(gradient);
    free(points);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* With p = 7 far cells are taken sooner than by theta alone, against the sum over all points in float64: near them little is lost of P, farther away it
 * stays within what theta twice as large would give. */
static void test_far_cells(void **state)
{
    (void)state;
    enum { PLACES = 200 };
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    uint64_t seed = test_seed();
    float *points = sphere_points(N, MIDDLE, RADIUS, seed);
    tsr_points_tree *tree = tree_on(context, points, NULL, N, &frame, 12, 0);
    tsr_tree_view v = tree_view(tree);
    tsr_potential_params k[3]; /* as it is, theta alone, twice theta */
    double mean[2][3] = { { 0 } };
    int64_t nodes[3] = { 0 };
    for (int w = 0; w < 3; w++) {
        require_ok(tsr_potential_prepare(7, 0.5, 0.5, LEVEL, &k[w]));
        for (int d = 0; d <= TSR_TREE_DEPTH_MOST && w > 0; d++) k[w].far2[d] = (float)pow(ldexp(1, LEVEL - d) / (0.5 * w) + 1.5 * sqrt(3), 2);
    }
    for (int i = 0; i < PLACES; i++) {
        double x[3], length = 0;
        uint32_t centre[3];
        const int far = i >= PLACES / 2;
        const double way = far ? 6 + 14 * test_uniform(&seed) : 1 + 5 * test_uniform(&seed), away = i % 2 ? way : -way;
        for (int c = 0; c < 3; c++) {
            x[c] = 2 * test_uniform(&seed) - 1;
            length += x[c] * x[c];
        }
        for (int c = 0; c < 3; c++) {
            x[c] = MIDDLE + x[c] / sqrt(length) * (RADIUS + away);
            centre[c] = (uint32_t)(x[c] * ldexp(1, 31 - LEVEL));
        }
        const double exact = direct_potential(points, N, x, 0.5, 7, NULL);
        for (int w = 0; w < 3; w++) /* of the distance that P stands for */
            mean[far][w] += 2.0 / PLACES * fabs(pow((double)tsr_potential_at(&v, centre, 0, 0, 0, &k[w], &nodes[w]) / exact, -1.0 / 6) - 1);
    }
    for (int far = 0; far < 2; far++)
        print_message("p = 7, %s 6 voxels: distance off by %.3f %%, with theta alone %.3f %%, with twice theta %.3f %%\n", far ? "beyond" : "within",
                      100 * mean[far][0], 100 * mean[far][1], 100 * mean[far][2]);
    print_message("%.0f nodes, %.0f and %.0f\n", (double)nodes[0] / PLACES, (double)nodes[1] / PLACES, (double)nodes[2] / PLACES);
    assert_true(nodes[0] * 4 < nodes[1] * 3);
    assert_true(mean[0][0] < 1.6 * mean[0][1] && mean[0][0] < 0.006);
    assert_true(mean[1][0] < 1.15 * mean[1][2] && mean[1][0] < 0.025);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
    free(points);
    tsr_context_destroy(&context);
}

/* Far from two balls with a gap between them the distance that P stands for changes from block to block as the exact one does; with cells taken as soon as
 * near by it goes back at some borders, which holds up a front. */
static void test_from_afar(void **state)
{
    (void)state;
    enum { EACH = 6000, PLACES = 2000, LARGE = 8 };
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LARGE);
    uint64_t seed = test_seed();
    float *points = sphere_points(2 * EACH, 128, 55, seed);
    for (int64_t i = 0; i < 2 * EACH; i++) points[3 * i] += i < EACH ? -56.5f : 56.5f;
    tsr_points_tree *tree = tree_on(context, points, NULL, 2 * EACH, &frame, LARGE, 0);
    tsr_tree_view v = tree_view(tree);
    tsr_potential_params k[2]; /* from afar, as it is */
    double least[2] = { INFINITY, INFINITY }, most[2] = { 0 };
    int64_t nodes[2] = { 0 }, back[2] = { 0 };
    for (int w = 0; w < 2; w++) require_ok(tsr_potential_prepare(7, 0.5, 0.5, LARGE, &k[w]));
    tsr_potential_from_afar(0.5, &k[0]);
    for (int i = 0; i < PLACES;) {
        const int axis = (int)(3 * test_uniform(&seed)); /* across which two blocks meet */
        int32_t block[3];
        double x[2][3], exact[2];
        for (int c = 0; c < 3; c++) {
            block[c] = 4 * (int32_t)(62 * test_uniform(&seed));
            x[0][c] = x[1][c] = block[c] + (c == axis ? 3.5 : 2.5);
        }
        x[1][axis] += 1;
        if (fmin(hypot(hypot(x[0][0] - 71.5, x[0][1] - 128), x[0][2] - 128), hypot(hypot(x[0][0] - 184.5, x[0][1] - 128), x[0][2] - 128)) < 55 + 15) continue;
        i++;
        for (int e = 0; e < 2; e++) exact[e] = pow(direct_potential(points, 2 * EACH, x[e], 0.5, 7, NULL), -1.0 / 6);
        for (int w = 0; w < 2; w++) {
            double seen[2];
            for (int e = 0; e < 2; e++) {
                uint32_t centre[3];
                float at[3];
                for (int c = 0; c < 3; c++) {
                    centre[c] = tsr_block_centre(block[c] + (c == axis ? 4 * e : 0), LARGE);
                    at[c] = c == axis ? 1.5f - 3 * (float)e : 0.5f;
                }
                seen[e] = pow((double)tsr_potential_at(&v, centre, at[0], at[1], at[2], &k[w], &nodes[w]), -1.0 / 6);
            }
            const double scale = pow(2 * EACH, 1.0 / 6), off = scale * fabs(seen[1] - seen[0] - (exact[1] - exact[0])); /* about voxels */
            most[w] = fmax(most[w], off);
            if (fabs(exact[1] - exact[0]) * scale > 0.5) {
                const double ratio = (seen[1] - seen[0]) / (exact[1] - exact[0]);
                least[w] = fmin(least[w], ratio);
                back[w] += ratio < 0;
            }
        }
    }
    for (int w = 0; w < 2; w++)
        print_message("%s: steps between blocks off by at most %.2f, %.2f of the exact ones at least; %lld of %d go back; %.0f nodes\n", w ? "as it is" : "from afar",
                      most[w], least[w], (long long)back[w], PLACES, (double)nodes[w] / (2 * PLACES));
    assert_int_equal(back[0], 0);
    assert_true(least[0] > 0.5);
    assert_true(back[1] > 0);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
    free(points);
    tsr_context_destroy(&context);
}

/* Pages: against the sum in float64 (error of theta 0.5), the direction of central differences against the radius, larger tiles, other devices and
 * numbers of threads bit for bit. */
static void test_pages(void **state)
{
    (void)state;
    static const struct {
        double away, mean, most;
    } angles[] = { { 2, 3.8, 12 }, { 5, 1.4, 4 }, { 10, 0.7, 2.1 }, { 20, 0.3, 0.8 }, { -5, 2.6, 8.4 }, { -20, 1.7, 4.2 } };
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 1), *three = test_context_on("cpu", 3);
    const tsr_points_frame frame = cloud_frame(LEVEL);
    uint64_t seed = test_seed();
    float *points = sphere_points(N, MIDDLE, RADIUS, seed);
    tsr_points_tree *tree = tree_on(context, points, NULL, N, &frame, 10, 0), *same = tree_on(cpu, points, NULL, N, &frame, 10, 0),
                    *threads = tree_on(three, points, NULL, N, &frame, 10, 0);
    tsr_potential_params k;
    require_ok(tsr_potential_prepare(3, 0.5, 0.5, LEVEL, &k));
    const int emulated = tsr_context_device(context).kind == TSR_DEVICE_EMU;
    enum { MOST = 48 };
    uint64_t keys[MOST];
    double between = 0;
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
        const int32_t count = emulated ? 4 : MOST;
        double mean = 0, most = 0, worst = 0, across = 0, across_most = 0;
        int64_t samples = 0, within = 0, crossings = 0;
        for (int32_t t = 0; t < count; t++) {
            double v[3], length;
            do {
                for (int c = 0; c < 3; c++) v[c] = 2 * test_uniform(&seed) - 1;
                length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            } while (length > 1 || length < 0.1);
            int32_t voxel[3];
            for (int c = 0; c < 3; c++) voxel[c] = (int32_t)floor(MIDDLE + (RADIUS + angles[a].away) * v[c] / length);
            keys[t] = key_at(voxel, 3);
        }
        float *page = pages_of(tree, &k, NULL, keys, count, 3), *host = pages_of(same, &k, NULL, keys, count, 3),
              *more = pages_of(threads, &k, NULL, keys, count, 3);
        assert_memory_equal(page, host, (size_t)count * 2048);
        assert_memory_equal(more, host, (size_t)count * 2048);
        for (int32_t t = 0; t < count; t++)
            for (int32_t i = 0; i < 512; i++) {
                const int32_t at[3] = { i % 8, i / 8 % 8, i / 64 };
                const int32_t tile[3] = { tsr_key_x(keys[t]), tsr_key_y(keys[t]), tsr_key_z(keys[t]) };
                double x[3], radial[3], r = 0;
                for (int c = 0; c < 3; c++) {
                    x[c] = tile[c] * 8 + at[c] + 0.5;
                    radial[c] = MIDDLE - x[c];
                    r += radial[c] * radial[c];
                }
                r = sqrt(r);
                if (fabs(r - RADIUS - angles[a].away) > 0.12 || at[0] % 7 == 0 || at[1] % 7 == 0 || at[2] % 7 == 0) continue;
                if (samples % 16 == 0) {
                    double exact = direct_potential(points, N, x, 0.5, 3, NULL);
                    worst = fmax(worst, fabs((double)page[512 * t + i] / exact - 1));
                }
                const float *p = page + 512 * t + i;
                double difference[3] = { (double)p[1] - (double)p[-1], (double)p[8] - (double)p[-8], (double)p[64] - (double)p[-64] };
                if (angles[a].away < 0)
                    for (int c = 0; c < 3; c++) radial[c] = -radial[c];
                int one_block = at[0] % 4 % 3 && at[1] % 4 % 3 && at[2] % 4 % 3; /* all six neighbours from one walk */
                if (!one_block) { /* the walks of two blocks meet: against the exact gradient */
                    double gradient[3];
                    if (samples++ % 4) continue;
                    direct_potential(points, N, x, 0.5, 3, gradient);
                    double angle = angle_between(difference, gradient);
                    across += angle;
                    across_most = fmax(across_most, angle);
                    crossings++;
                    continue;
                }
                double angle = angle_between(difference, radial);
                mean += angle;
                most = fmax(most, angle);
                within++;
                samples++;
            }
        free(page);
        free(host);
        free(more);
        mean /= (double)within;
        across /= (double)crossings;
        print_message("%+.0f voxels: %lld voxels, %.2f degrees mean, %.2f most; between blocks %.2f, %.2f; P off by %.2f %%\n", angles[a].away,
                      (long long)samples, mean, most, across, across_most, 100 * worst);
        assert_true(samples > (emulated ? 3 : 100));
        if (!emulated) assert_true(mean < 1.3 * angles[a].mean && most < 1.3 * angles[a].most);
        assert_true(worst < 0.025);
        assert_true(across_most < 4);
        between += across / (double)(sizeof angles / sizeof *angles);
    }
    assert_true(between < 1.3);
    free(points);
    tsr_points_tree_destroy(&tree);
    tsr_points_tree_destroy(&same);
    tsr_points_tree_destroy(&threads);
    tsr_context_destroy(&context);
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&three);
}

/* Pages of 16 bits: log P to half a step of its range by the formula of docs/theory/reconstruction.md 6 in float64, whose ends nothing exceeds; the direction of the gradient
 * changes by 0.3 degrees mean and 0.8 most from 2 to 20 voxels; the same on all devices. */
static void test_codes(void **state)
{
    (void)state;
    static const double powers[] = { 3, 7, 2.5 }, aways[] = { 2, 5, 10, 20, -5, -20 };
    tsr_context *context = test_context(), *three = test_context_on("cpu", 3);
    const tsr_points_frame frame = cloud_frame(LEVEL);
    uint64_t seed = test_seed();
    float *points = sphere_points(N, MIDDLE, RADIUS, seed);
    tsr_points_tree *tree = tree_on(context, points, NULL, N, &frame, 10, 0), *host = tree_on(three, points, NULL, N, &frame, 10, 0);
    const int emulated = tsr_context_device(context).kind == TSR_DEVICE_EMU;
    enum { MOST = 32 };
    const int32_t count = emulated ? 2 : MOST;
    uint64_t keys[MOST];
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        tsr_potential_params k;
        const double e = -(powers[p] - 1) / 2;
        require_ok(tsr_potential_prepare(powers[p], 0.5, 0.5, LEVEL, &k));
        tsr_potential_code_range(N, &k);
        /* all points in the voxel itself, and all in the corner across the cube */
        assert_true(tsr_potential_code((float)(N * pow(0.25, e)), &k) >= 65534 && tsr_potential_code((float)(N * pow(3 * 128 * 128, e)), &k) <= 1);
        assert_true(tsr_potential_code(INFINITY, &k) == 65535 && tsr_potential_code(0, &k) == 0);
        for (size_t a = 0; a < sizeof aways / sizeof *aways; a++) {
            double mean = 0, most = 0, off = 0;
            int64_t samples = 0;
            for (int32_t t = 0; t < count; t++) {
                double v[3], length;
                int32_t voxel[3];
                do {
                    for (int c = 0; c < 3; c++) v[c] = 2 * test_uniform(&seed) - 1;
                    length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                } while (length > 1 || length < 0.1);
                for (int c = 0; c < 3; c++) voxel[c] = (int32_t)floor(MIDDLE + (RADIUS + aways[a]) * v[c] / length);
                keys[t] = key_at(voxel, 3);
            }
            float *page = pages_of(tree, &k, NULL, keys, count, 3);
            uint16_t *codes = codes_of(tree, &k, keys, count, 3), *same = codes_of(host, &k, keys, count, 3);
            assert_memory_equal(codes, same, (size_t)count * 1024);
            const double low = log(N * pow(3 * 128 * 128 + 0.25, e)), high = log(N * pow(0.25, e));
            for (int32_t i = 0; i < count * 512; i++) {
                const double q = 65535 * (log((double)page[i]) - low) / (high - low);
                assert_true(q > 0 && q < 65535);
                off = fmax(off, fabs(codes[i] - q));
                const int32_t at[3] = { i % 8, i / 8 % 8, i / 64 % 8 };
                double r = 0;
                for (int c = 0; c < 3; c++) {
                    const int32_t tile = c == 0 ? tsr_key_x(keys[i / 512]) : c == 1 ? tsr_key_y(keys[i / 512]) : tsr_key_z(keys[i / 512]);
                    r += pow(8 * tile + at[c] + 0.5 - MIDDLE, 2);
                }
                if (fabs(sqrt(r) - RADIUS - aways[a]) > 0.5 || at[0] % 7 == 0 || at[1] % 7 == 0 || at[2] % 7 == 0) continue;
                const float *f = page + i;
                const uint16_t *c = codes + i;
                const double exact[3] = { log((double)f[1] / (double)f[-1]), log((double)f[8] / (double)f[-8]), log((double)f[64] / (double)f[-64]) };
                const double found[3] = { (double)c[1] - c[-1], (double)c[8] - c[-8], (double)c[64] - c[-64] };
                const double angle = angle_between(exact, found);
                mean += angle;
                most = fmax(most, angle);
                samples++;
            }
            mean /= (double)samples;
            print_message("16 bits, p = %.3g, %+.0f voxels: %lld voxels, code off by %.3f most, direction by %.3f degrees mean, %.3f most\n",
                          powers[p], aways[a], (long long)samples, off, mean, most);
            assert_true(samples > (emulated ? 8 : 200) && off < 0.51);
            if (powers[p] >= 3) assert_true(mean <= 0.3 && most <= 0.8); /* towards 2 the potential gets flat inside */
            free(page);
            free(codes);
            free(same);
        }
    }
    free(points);
    tsr_points_tree_destroy(&tree);
    tsr_points_tree_destroy(&host);
    tsr_context_destroy(&context);
    tsr_context_destroy(&three);
}

/* Shell theorem for p = 3: P = N / (2 R r) ln((R + r) / |R - r|), P(0) = N / R^2 (docs/theory/reconstruction.md 10). */
static void test_analytic(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    float *points = sphere_points(N, MIDDLE, RADIUS, test_seed());
    tsr_points_tree *tree = tree_on(context, points, NULL, N, &frame, 12, 0);
    tsr_tree_view v = tree_view(tree);
    for (int p = 2; p <= 3; p++)
        for (double r = 0.25; r < 60; r += 5.5) {
            if (fabs(r - RADIUS) < 4) continue;
            tsr_potential_params k;
            require_ok(tsr_potential_prepare(p, 1e-3, 0.3, LEVEL, &k));
            double value = 0;
            for (int turn = 0; turn < 24; turn++) { /* mean over directions: less of the cloud's noise */
                const uint32_t centre[3] = { (uint32_t)((MIDDLE + r * cos(turn)) * ldexp(1, 31 - LEVEL)),
                                             (uint32_t)((MIDDLE + r * sin(turn) * cos(3 * turn)) * ldexp(1, 31 - LEVEL)),
                                             (uint32_t)((MIDDLE + r * sin(turn) * sin(3 * turn)) * ldexp(1, 31 - LEVEL)) };
                value += (double)tsr_potential_at(&v, centre, 0, 0, 0, &k, NULL) / 24;
            }
            double exact = p == 3 ? N / (2 * RADIUS * r) * log((RADIUS + r) / fabs(RADIUS - r)) : r < RADIUS ? N / RADIUS : N / r;
            if (!(fabs(value / exact - 1) < 0.007)) fail_msg("p %d, r %g: %g, exact %g", p, r, value, exact);
        }
    free(points);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
    tsr_context_destroy(&context);
}

/* So many points in a cube, to free. */
static float *scattered(int64_t count, double low, double high, uint64_t *seed)
{
    float *points = (float *)malloc((size_t)count * 3 * sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < 3 * count; i++) points[i] = (float)(low + (high - low) * test_uniform(seed));
    return points;
}

/* Tiles beside each other share a walk on the CPU: the same bits as one by one, for every power, in rows of any length and in tiles of both widths. */
static void test_rows(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    enum { POINTS = 3000, TILES = 24 };
    uint64_t seed = test_seed(), keys[TILES];
    float *points = scattered(POINTS, 20, 100, &seed);
    tsr_points_tree *tree = tree_on(context, points, NULL, POINTS, &frame, 21, 0);
    for (int32_t log2_edge = 2; log2_edge <= 3; log2_edge++) {
        int32_t count = 0;
        for (int32_t row = 1; count < TILES; row++) /* rows of 1, 2, ... tiles, the last cut */
            for (int32_t x = 0; x < row && count < TILES; x++) keys[count++] = tsr_key_make(3 + x, 5 + row % 2, 4 + row);
        for (int power = 2; power <= 7; power++) {
            tsr_potential_params k;
            require_ok(tsr_potential_prepare(power, 0.5, 0.5, LEVEL, &k));
            const int64_t size = (int64_t)1 << (3 * log2_edge);
            float *rows = pages_of(tree, &k, NULL, keys, TILES, log2_edge);
            for (int t = 0; t < TILES; t++) {
                float *alone = pages_of(tree, &k, NULL, &keys[t], 1, log2_edge);
                assert_memory_equal(rows + t * size, alone, (size_t)size * sizeof *rows);
                free(alone);
            }
            free(rows);
        }
    }
    tsr_points_tree_destroy(&tree);
    free(points);
    tsr_context_destroy(&context);
}

/* phi = min |x - x_i| - r_i, with one radius and with one each. */
static void test_balls(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(LEVEL);
    enum { BALLS = 400, TILES = 12 };
    uint64_t seed = test_seed(), keys[TILES];
    float *points = scattered(BALLS, 30, 90, &seed), radii[BALLS];
    for (int i = 0; i < BALLS; i++) radii[i] = (float)(2 + 3 * test_uniform(&seed));
    for (int t = 0; t < TILES; t++)
        keys[t] =
            tsr_key_make((int32_t)(6 + 18 * test_uniform(&seed)), (int32_t)(6 + 18 * test_uniform(&seed)), (int32_t)(6 + 18 * test_uniform(&seed)));
    for (int each = 0; each < 2; each++) {
        tsr_points_tree *tree = tree_on(context, points, each ? radii : NULL, BALLS, &frame, 21, 0);
        const tsr_ball_params k = {
            .level = LEVEL, .unit = (float)ldexp(1, LEVEL - 31), .voxel = 1, .radius = 3, .reach = (each ? 5.0f : 3.0f) + 1.5f, .band = 1.5f
        };
        float *page = pages_of(tree, NULL, &k, keys, TILES, 2);
        for (int t = 0; t < TILES; t++)
            for (int v = 0; v < 64; v++) {
                const double x[3] = { tsr_key_x(keys[t]) * 4 + v % 4 + 0.5, tsr_key_y(keys[t]) * 4 + v / 4 % 4 + 0.5,
                                      tsr_key_z(keys[t]) * 4 + v / 16 + 0.5 };
                double exact = 1.5;
                for (int i = 0; i < BALLS; i++) {
                    double d = 0;
                    for (int c = 0; c < 3; c++) d += (x[c] - (double)points[3 * i + c]) * (x[c] - (double)points[3 * i + c]);
                    exact = fmin(exact, sqrt(d) - (each ? (double)radii[i] : 3));
                }
                assert_true(fabs((double)page[64 * t + v] - fmax(exact, -1.5)) < 2e-5);
            }
        free(page);
        tsr_points_tree_destroy(&tree);
    }
    free(points);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_single_point), cmocka_unit_test(test_direct_sum), cmocka_unit_test(test_walk),
                                        cmocka_unit_test(test_error_table),  cmocka_unit_test(test_far_cells),  cmocka_unit_test(test_pages),
                                        cmocka_unit_test(test_analytic),     cmocka_unit_test(test_rows),       cmocka_unit_test(test_codes),
                                        cmocka_unit_test(test_balls),         cmocka_unit_test(test_from_afar) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
