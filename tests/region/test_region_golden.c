/* Region trees of the literature's examples and of fields whose trees are known. */
#include <math.h>

#include "device/backend.h"
#include "region_trees.h"

/* The 4 x 4 picture of the literature: six quads, number 4 of side 2 at (0, 2), whatever the fourth quarter is. */
static void worked_quads(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int full = 0; full < 2; full++) {
        uint8_t mask[16] = { 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0 };
        if (full) mask[11] = mask[14] = mask[15] = 1;
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.classifier = TSR_PYRAMID_NONZERO;
        tsr_region_tree *device = make(context, TSR_U8, (tsr_size3){ 4, 4, 1 }, (const void *const[]){ mask }, 1, &o), *tree;
        require_ok(tsr_region_tree_copy(device, NULL, &tree));
        assert_int_equal(tsr_region_tree_describe(tree)->leaves, 6);
        const tsr_region_leaf four = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[4], 2),
                              five = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[5], 2);
        assert_true(four.x == 0 && four.y == 2 && four.side == 2);
        assert_true(five.x == 2 && five.y == 2 && five.side == 1 + full);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&tree);
    }
    tsr_context_destroy(&context);
}

/* A ramp in three dimensions (D = 2 (2^(l-1) / n)^2) and a quadratic, whose second differences are 2a and 2b everywhere. */
static void ramps_and_quadratics(void **state)
{
    (void)state;
    enum { N = 32 };
    static float field[N * N * N];
    tsr_context *context = test_context();
    for (int i = 0; i < N * N * N; i++) field[i] = (float)(i % N) / N;
    for (int k = 0; k < 6; k++) {
        tsr_region_options o = TSR_REGION_OPTIONS;
        int64_t level = 0;
        o.rule = TSR_REGION_DEVIATION;
        o.threshold = (double[]){ 0, 0.0019, 0.002, 0.01, 0.1, 1 }[k];
        while (level < 5 && 2 * pow((double)((int64_t)1 << level) / N, 2) <= o.threshold) level++;
        tsr_region_tree *tree = make(context, TSR_F32, (tsr_size3){ N, N, N }, (const void *const[]){ field }, 1, &o);
        assert_int_equal(tsr_region_tree_describe(tree)->leaves, (int64_t)1 << (3 * (5 - level)));
        tsr_region_tree_destroy(&tree);
    }
    for (int i = 0; i < N * N; i++) field[i] = (float)(0.25 * (i % N) * (i % N) + 0.5 * (i / N) * (i / N)); /* exact; differences 0.5 and 1 */
    for (int k = 0; k < 3; k++) {
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.rule = TSR_REGION_LINEAR;
        o.threshold = (double[]){ 0.499, 0.999, 1 }[k];
        tsr_region_tree *tree = make(context, TSR_F32, (tsr_size3){ N, N, 1 }, (const void *const[]){ field }, 1, &o);
        const tsr_region_info info = *tsr_region_tree_describe(tree);
        if (k == 2) assert_int_equal(info.root, TSR_REGION_LEAF); /* everything */
        else
            assert_true(k == 0 ? info.leaves == 4
                               : info.leaves == 2 * N); /* the rows and columns without a difference: 4 corners; first and last row */
        tsr_region_tree_destroy(&tree);
    }
    tsr_context_destroy(&context);
}

/* Clustering: fewer leaves with a larger threshold; every voxel within l sqrt(3/4 T) (7/8 in three dimensions) of its leaf's mean; with T = 0 labels. */
static void clustering_is_bounded(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 64, 64, 1 }, { 16, 16, 16 } };
    static float field[64 * 64];
    for (int s = 0; s < 2; s++) {
        const tsr_size3 n = sizes[s];
        int64_t before = INT64_MAX, first = 0;
        for (int i = 0; i < 64 * 64; i++)
            field[i] = (float)(0.5 + 0.3 * sin((double)(i % n.x) * 0.2) * cos((double)(i / n.x) * 0.05) + 0.02 * test_uniform(&seed));
        for (int k = 0; k < 8; k++) {
            tsr_region_options o = TSR_REGION_OPTIONS;
            o.rule = TSR_REGION_DEVIATION;
            o.threshold = k ? 1e-4 * pow(3, k) : 0;
            tsr_region_tree *device = make(context, TSR_F32, n, (const void *const[]){ field }, 1, &o), *tree;
            require_ok(tsr_region_tree_copy(device, NULL, &tree));
            const tsr_region_info info = *tsr_region_tree_describe(tree);
            assert_true(info.leaves <= before);
            before = info.leaves;
            if (k == 0) first = before;
            for (int64_t l = 0; l < info.leaves; l++) {
                const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[l], info.dimensions);
                const double level = log2((double)q.side), bound = level * sqrt((s ? 7.0 / 8 : 3.0 / 4) * o.threshold) + 4 * level * 0x1p-23;
                const int64_t deep = s ? q.side : 1;
                double mean = 0;
                for (int pass = 0; pass < 2; pass++)
                    for (int64_t i = 0; i < q.side * q.side * deep; i++) {
                        const double v = field[((q.z + i / q.side / q.side) * n.y + q.y + i / q.side % q.side) * n.x + q.x + i % q.side];
                        if (pass == 0) mean += v / (double)(q.side * q.side * deep);
                        else assert_true(fabs(v - mean) <= bound + 1e-12);
                    }
            }
            tsr_region_tree_destroy(&device);
            tsr_region_tree_destroy(&tree);
        }
        assert_true(before * 8 < first);
        /* labels: equal values, by either rule */
        static uint8_t labels[64 * 64];
        tsr_region_tree *trees[2];
        for (int i = 0; i < 64 * 64; i++) labels[i] = (uint8_t)((i % n.x / 5 + i / n.x / 9 * 3) % 7 * 30);
        for (int k = 0; k < 2; k++) {
            tsr_region_options o = TSR_REGION_OPTIONS;
            o.rule = k ? TSR_REGION_SPREAD : TSR_REGION_DEVIATION;
            tsr_region_tree *device = make(context, TSR_U8, n, (const void *const[]){ labels }, 1, &o);
            require_ok(tsr_region_tree_copy(device, NULL, &trees[k]));
            tsr_region_tree_destroy(&device);
        }
        const tsr_region_info a = *tsr_region_tree_describe(trees[0]), b = *tsr_region_tree_describe(trees[1]);
        assert_true(a.leaves == b.leaves && a.nodes == b.nodes && a.leaves > 1);
        assert_memory_equal(tsr_region_tree_leaves(trees[0]), tsr_region_tree_leaves(trees[1]), (size_t)a.leaves * 8);
        tsr_region_tree_destroy(&trees[0]);
        tsr_region_tree_destroy(&trees[1]);
    }
    tsr_context_destroy(&context);
}

/* The tree of the space outside a convex body by its definition: 0 where a cell is outside, 1 inside, 2 where it is divided. A voxel is inside where its middle
 * is behind the planes of all triangles, in float64; *least: how near one comes to being on the surface. */
typedef struct convex {
    const float *vertex;
    const uint32_t *triangle;
    int64_t triangles, n, nodes, leaves;
    double low[3], high[3], least;
} convex;
static int behind_all(convex *c, const double p[3])
{
    double most = -HUGE_VAL;
    for (int64_t t = 0; t < c->triangles; t++) {
        double v[3][3], normal[3], length = 0, far = 0;
        for (int k = 0; k < 9; k++) v[k / 3][k % 3] = (double)c->vertex[3 * c->triangle[3 * t + k / 3] + k % 3];
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            normal[k] = (v[1][i] - v[0][i]) * (v[2][j] - v[0][j]) - (v[1][j] - v[0][j]) * (v[2][i] - v[0][i]);
            length += normal[k] * normal[k];
            far += normal[k] * (p[k] - v[0][k]);
        }
        most = fmax(most, far / sqrt(length));
    }
    c->least = fmin(c->least, fabs(most));
    return most < 0;
}
static int divided(convex *c, int64_t x, int64_t y, int64_t z, int64_t side)
{
    const int64_t at[3] = { x, y, z };
    const double h = 2.0 / (double)c->n;
    double middle[3];
    for (int k = 0; k < 3; k++) { /* the body ends before it */
        if (-1 + h * ((double)at[k] + 0.5) > c->high[k] || -1 + h * ((double)(at[k] + side) - 0.5) < c->low[k]) return 0;
        middle[k] = -1 + h * ((double)at[k] + 0.5);
    }
    if (side == 1) return behind_all(c, middle);
    int of[3] = { 0, 0, 0 };
    for (int k = 0; k < 8; k++) of[divided(c, x + (k & 1) * side / 2, y + (k >> 1 & 1) * side / 2, z + (k >> 2) * side / 2, side / 2)]++;
    if (of[0] == 8 || of[1] == 8) return of[1] == 8;
    c->nodes++;
    c->leaves += of[0];
    return 2;
}

/* The bouncing ball of the literature: 264 triangles (12 x 12 meridians and parallels), empty space in [-1, 1]^3, against the tree of its definition. [Ziegler10]
 * has 147 nodes and 643 leaves at 128^3 and 661 and 2357 at 256^3, but neither radius nor pose: a radius of 0.1 comes nearest, with 146 and 643, and with
 * 579 and 2267: of this body the tree can have no other numbers. */
static void bouncing_ball(void **state)
{
    (void)state;
    enum { AROUND = 12 };
    tsr_context *context = test_context();
    tsr_mesh *host, *mesh;
    require_ok(tsr_mesh_create(NULL, 2 + AROUND * (AROUND - 1), 2 * AROUND * (AROUND - 1), 0, &host));
    float *v = tsr_mesh_vertices(host);
    uint32_t *t = tsr_mesh_triangles(host);
    for (int i = 0; i < 2 + AROUND * (AROUND - 1); i++) {
        const double pi = 3.14159265358979323846,
                     down = i == 0   ? 0
                            : i == 1 ? pi
                                     : pi * (1 + (i - 2) / AROUND) / AROUND,
                     turn = 2 * pi * ((i - 2) % AROUND) / AROUND;
        v[3 * i] = (float)(0.19 + 0.1 * sin(down) * cos(turn));
        v[3 * i + 1] = (float)(0.114 + 0.1 * sin(down) * sin(turn));
        v[3 * i + 2] = (float)(0.884 + 0.1 * cos(down));
    }
    for (int ring = 0; ring < AROUND; ring++)
        for (int k = 0; k < AROUND; k++) {
            const uint32_t next = (uint32_t)((k + 1) % AROUND), row = (uint32_t)(2 + (ring - 1) * AROUND), below = row + AROUND;
            if (ring == 0) memcpy(t, (uint32_t[]){ 0, below + (uint32_t)k, below + next }, 12), t += 3;
            else if (ring == AROUND - 1) memcpy(t, (uint32_t[]){ 1, row + next, row + (uint32_t)k }, 12), t += 3;
            else {
                memcpy(t, (uint32_t[]){ row + (uint32_t)k, below + (uint32_t)k, below + next, row + (uint32_t)k, below + next, row + next }, 24);
                t += 6;
            }
        }
    assert_ptr_equal(t, tsr_mesh_triangles(host) + 3 * 264);
    require_ok(tsr_mesh_copy(host, context, &mesh));
    for (int64_t n = 128; n <= (test_is_slow() ? 128 : 256); n *= 2) {
        const double h = 2.0 / (double)n;
        const tsr_geometry g = tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ -1 + h / 2, -1 + h / 2, -1 + h / 2 }, TSR_SPACE_NONE);
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_region_tree *tree;
        tsr_winding_report report = TSR_WINDING_REPORT;
        o.classifier = TSR_PYRAMID_RANGE;
        o.lower = 0;
        o.upper = 1;
        require_ok(tsr_region_tree_from_mesh(context, mesh, (tsr_size3){ n, n, n }, &g, &o, NULL, &tree, NULL, &report));
        const tsr_region_info info = *tsr_region_tree_describe(tree);
        assert_int_equal(report.boundary_edges, 0);
        convex c = {
            .vertex = v, .triangle = tsr_mesh_triangles(host), .triangles = 264, .n = n, .low = { 2, 2, 2 }, .high = { -2, -2, -2 }, .least = 1
        };
        for (int i = 0; i < 3 * (2 + AROUND * (AROUND - 1)); i++) {
            c.low[i % 3] = fmin(c.low[i % 3], (double)v[i]);
            c.high[i % 3] = fmax(c.high[i % 3], (double)v[i]);
        }
        assert_int_equal(divided(&c, 0, 0, 0, n), 2);
        print_message("ball in %d^3: %d nodes, %d leaves, expected %d, %d; nearest voxel to the surface %.2g\n", (int)n, (int)info.nodes,
                      (int)info.leaves, (int)c.nodes, (int)c.leaves, c.least);
        assert_true(c.least > 1e-6);
        assert_int_equal(info.nodes, c.nodes);
        assert_int_equal(info.leaves, c.leaves);
        if (n == 128 ? labs((long)info.nodes - 147) > 4 || labs((long)info.leaves - 643) > 20
                     : labs((long)info.nodes - 661) > 99 || labs((long)info.leaves - 2357) > 118)
            fail_msg("%d^3: %d nodes, %d leaves", (int)n, (int)info.nodes, (int)info.leaves);
        tsr_region_tree_destroy(&tree);
    }
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(worked_quads), cmocka_unit_test(ramps_and_quadratics),
                                        cmocka_unit_test(clustering_is_bounded), cmocka_unit_test(bouncing_ball) };
    return cmocka_run_group_tests_name("golden trees", tests, NULL, NULL);
}
