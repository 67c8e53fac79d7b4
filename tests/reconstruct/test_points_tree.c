/* The octree over points: invariants, an independent recursive tree, independence of the order of the input, duplicates, depths. */
#include "cloud.h"

/* ---- reference: insertion from above, cell by cell, in float64 and integers ------------------------------------------------------------ */

typedef struct cell {
    int64_t child[8], count;
    uint64_t sum[3], low[3];
    int32_t depth, leaf;
} cell;
typedef struct reference {
    cell *cells;
    int64_t used;
    int32_t depth;
} reference;

static int64_t reference_build(reference *r, const uint32_t (*q)[3], int64_t *index, int64_t count, int32_t depth, const uint64_t low[3])
{
    int64_t me = r->used++;
    cell c = { .count = count, .depth = depth };
    const uint64_t cell_side = (uint64_t)1 << (31 - depth), finest = (uint64_t)1 << (31 - r->depth);
    int one = 1; /* all in one finest cell */
    for (int k = 0; k < 8; k++) c.child[k] = -1;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            c.sum[k] += q[index[i]][k];
            one &= q[index[i]][k] / finest == q[index[0]][k] / finest;
        }
    for (int k = 0; k < 3; k++) c.low[k] = low[k];
    c.leaf = one;
    if (!one) {
        int64_t *sorted = (int64_t *)malloc((size_t)count * sizeof *sorted), at = 0;
        for (int oct = 0; oct < 8; oct++) {
            uint64_t corner[3];
            int64_t begin = at;
            for (int k = 0; k < 3; k++) corner[k] = low[k] + (oct >> k & 1 ? cell_side / 2 : 0);
            for (int64_t i = 0; i < count; i++) {
                int in = 1;
                for (int k = 0; k < 3; k++) in &= q[index[i]][k] >= corner[k] && q[index[i]][k] < corner[k] + cell_side / 2;
                if (in) sorted[at++] = index[i];
            }
            if (at > begin) c.child[oct] = reference_build(r, q, sorted + begin, at - begin, depth + 1, corner);
        }
        assert_int_equal(at, count);
        free(sorted);
    }
    r->cells[me] = c;
    return me;
}

/* Compares depth first, skipping chains of single children. */
static uint32_t compare(const reference *r, int64_t at, const tsr_tree_view *v, uint32_t node)
{
    const cell *c = &r->cells[at];
    int children = 0;
    int64_t only = -1;
    for (int k = 0; k < 8; k++)
        if (c->child[k] >= 0) {
            children++;
            only = c->child[k];
        }
    if (children == 1) return compare(r, only, v, node);
    assert_true(node < v->nodes);
    assert_int_equal(v->centre[node].count, c->count);
    assert_int_equal(v->centre[node].x, c->sum[0] / (uint64_t)c->count);
    assert_int_equal(v->centre[node].y, c->sum[1] / (uint64_t)c->count);
    assert_int_equal(v->centre[node].z, c->sum[2] / (uint64_t)c->count);
    assert_int_equal((v->walk[node].depth & TSR_TREE_LEAF) != 0, c->leaf);
    assert_int_equal(v->walk[node].depth & 31u, c->depth);
    uint32_t next = node + 1;
    for (int k = 0; k < 8; k++)
        if (c->child[k] >= 0) next = compare(r, c->child[k], v, next);
    assert_int_equal(v->walk[node].skip, next);
    return next;
}

static void check_tree(tsr_context *context, const float *points, int64_t count, int32_t level, int32_t depth)
{
    const tsr_points_frame frame = cloud_frame(level);
    tsr_points_tree *tree = tree_on(context, points, NULL, count, &frame, depth, 0);
    tsr_tree_view v = tree_view(tree);
    uint32_t(*q)[3] = (uint32_t(*)[3])malloc((size_t)count * sizeof *q);
    int64_t *index = (int64_t *)malloc((size_t)count * sizeof *index);
    for (int64_t i = 0; i < count; i++) {
        index[i] = i;
        for (int k = 0; k < 3; k++) q[i][k] = (uint32_t)floor((double)points[3 * i + k] * ldexp(1, 31 - level));
    }
    reference r = { (cell *)malloc((size_t)count * 24 * sizeof(cell)), 0, depth };
    const uint64_t origin[3] = { 0, 0, 0 };
    reference_build(&r, (const uint32_t(*)[3])q, index, count, 0, origin);
    assert_int_equal(compare(&r, 0, &v, 0), v.nodes);
    assert_true((int64_t)v.nodes <= 2 * tree->leaves - 1);
    free(r.cells);
    free(index);
    free(q);
    view_free(&v);
    tsr_points_tree_destroy(&tree);
}

static void test_against_recursion(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    static const struct {
        int64_t count;
        int32_t depth;
        int kind;
    } cases[] = { { 1, 10, 0 }, { 2, 21, 1 }, { 5, 1, 0 }, { 300, 3, 0 }, { 1000, 21, 0 }, { 777, 12, 1 }, { 2000, 8, 2 }, { 64, 21, 3 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = cases[c].count;
        float *p = (float *)malloc((size_t)n * 12);
        for (int64_t i = 0; i < 3 * n; i++) {
            double u = test_uniform(&seed);
            if (cases[c].kind == 1) u = 0.5 + ldexp(u - 0.5, -(int)(i / 3 % 20)); /* towards the middle: deep chains */
            if (cases[c].kind == 2) u = floor(u * 16) / 16;                       /* on the borders of cells, many times the same */
            if (cases[c].kind == 3) u = 0.3;                                      /* all the same */
            p[i] = (float)(u * 128);
        }
        check_tree(context, p, n, 7, cases[c].depth);
        free(p);
    }
    tsr_context_destroy(&context);
}

static void test_order_of_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    enum { N = 3000 };
    const tsr_points_frame frame = cloud_frame(7);
    float *p = sphere_points(N, 64, 40, seed), *shuffled = (float *)malloc((size_t)N * 12), radii[N], shuffled_radii[N];
    int64_t order[N];
    for (int64_t i = 0; i < N; i++) {
        order[i] = i;
        radii[i] = (float)(1 + test_uniform(&seed));
    }
    for (int64_t i = N - 1; i > 0; i--) {
        int64_t j = (int64_t)(test_uniform(&seed) * (double)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int64_t i = 0; i < N; i++) {
        memcpy(shuffled + 3 * i, p + 3 * order[i], 12);
        shuffled_radii[i] = radii[order[i]];
    }
    tsr_points_tree *a = tree_on(context, p, radii, N, &frame, 6, 0), *b = tree_on(context, shuffled, shuffled_radii, N, &frame, 6, 0);
    tsr_tree_view va = tree_view(a), vb = tree_view(b);
    assert_int_equal(va.nodes, vb.nodes);
    assert_true(a->leaves < N); /* some are duplicates at this depth */
    assert_memory_equal(va.centre, vb.centre, va.nodes * sizeof *va.centre);
    assert_memory_equal(va.walk, vb.walk, va.nodes * sizeof *va.walk);
    float *ra = (float *)malloc(va.nodes * 4), *rb = (float *)malloc(va.nodes * 4);
    require_ok(context->backend->download(context->queue, ra, a->radius, va.nodes * 4));
    require_ok(context->backend->download(context->queue, rb, b->radius, va.nodes * 4));
    assert_memory_equal(ra, rb, va.nodes * 4);
    free(ra);
    free(rb);
    double mean[3] = { 0, 0, 0 };
    for (int64_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) mean[k] += (double)p[3 * i + k] / N;
    assert_int_equal(va.centre[0].count, N);
    assert_true(fabs(va.centre[0].x * ldexp(1, 7 - 31) - mean[0]) < 1e-6 * 128);
    assert_true(fabs(va.centre[0].y * ldexp(1, 7 - 31) - mean[1]) < 1e-6 * 128);
    assert_true(fabs(va.centre[0].z * ldexp(1, 7 - 31) - mean[2]) < 1e-6 * 128);
    view_free(&va);
    view_free(&vb);
    tsr_points_tree_destroy(&a);
    tsr_points_tree_destroy(&b);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0); /* all that they had is given back */
    free(p);
    free(shuffled);
    tsr_context_destroy(&context);
}

/* The same nodes on this device as on the CPU, with one thread and several. */
static void test_same_everywhere(void **state)
{
    (void)state;
    tsr_context *context = test_context(), *one = test_context_on("cpu", 1), *three = test_context_on("cpu", 3);
    enum { N = 5000 };
    const tsr_points_frame frame = cloud_frame(7);
    float *p = sphere_points(N, 64, 40, test_seed());
    tsr_points_tree *trees[3] = { tree_on(context, p, NULL, N, &frame, 11, 0), tree_on(one, p, NULL, N, &frame, 11, 0),
                                  tree_on(three, p, NULL, N, &frame, 11, 0) };
    tsr_tree_view v[3];
    for (int i = 0; i < 3; i++) v[i] = tree_view(trees[i]);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(v[0].nodes, v[i].nodes);
        assert_memory_equal(v[0].centre, v[i].centre, v[0].nodes * sizeof *v[0].centre);
        assert_memory_equal(v[0].walk, v[i].walk, v[0].nodes * sizeof *v[0].walk);
    }
    for (int i = 0; i < 3; i++) {
        view_free(&v[i]);
        tsr_points_tree_destroy(&trees[i]);
    }
    free(p);
    tsr_context_destroy(&context);
    tsr_context_destroy(&one);
    tsr_context_destroy(&three);
}

static void test_bounds(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    enum { N = 10000 };
    uint64_t seed = test_seed();
    float *p = (float *)malloc((size_t)N * 12), low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < 3 * N; i++) {
        p[i] = (float)((test_uniform(&seed) - 0.7) * 100);
        low[i % 3] = fminf(low[i % 3], p[i]);
        high[i % 3] = fmaxf(high[i % 3], p[i]);
    }
    for (int bad = 0; bad < 2; bad++) {
        tsr_points_bounds b, *place;
        if (bad) {
            p[3 * 7001 + 1] = NAN;
            p[3 * 7000 + 2] = -INFINITY;
        }
        float *device = (float *)to_device(context, p, (size_t)N * 12);
        require_ok(tsr_device_allocate(context, sizeof b, (void **)&place));
        require_ok(context->backend->potential->bounds(context->queue, device, N, place));
        require_ok(context->backend->download(context->queue, &b, place, sizeof b));
        assert_int_equal(b.bad, bad ? 7000 : N);
        for (int k = 0; k < 3 && !bad; k++) {
            assert_true(b.lower[k] == low[k]);
            assert_true(b.upper[k] == high[k]);
        }
        tsr_device_release(context, place, sizeof b);
        tsr_device_release(context, device, (size_t)N * 12);
    }
    free(p);
    tsr_context_destroy(&context);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_points_frame frame = cloud_frame(7);
    const float p[3] = { 1, 2, 3 };
    float *device = (float *)to_device(context, p, sizeof p);
    tsr_points_tree *tree;
    tsr_potential_params params;
    require_error(tsr_points_tree_create(context, device, NULL, 0, &frame, 5, 0, &tree), TSR_ERROR_ARGUMENT, "0 points");
    require_error(tsr_points_tree_create(context, device, NULL, 1, &frame, 22, 0, &tree), TSR_ERROR_ARGUMENT, "depth is 22, expected 1 to 21");
    require_error(tsr_points_tree_create(context, device, NULL, 1, &frame, 0, 0, &tree), TSR_ERROR_ARGUMENT, "depth is 0");
    assert_null(tree);
    require_error(tsr_potential_prepare(1, 0.5, 0.5, 7, &params), TSR_ERROR_ARGUMENT, "p is 1,");
    require_error(tsr_potential_prepare(3, 0, 0.5, 7, &params), TSR_ERROR_ARGUMENT, "epsilon is 0");
    require_error(tsr_potential_prepare(3, NAN, 0.5, 7, &params), TSR_ERROR_ARGUMENT, "epsilon is");
    require_error(tsr_potential_prepare(3, 0.5, -1, 7, &params), TSR_ERROR_ARGUMENT, "theta is -1");
    require_error(tsr_potential_prepare(3, 0.5, 0.5, 22, &params), TSR_ERROR_ARGUMENT, "level is 22");
    tsr_device_release(context, device, sizeof p);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_recursion), cmocka_unit_test(test_order_of_input),
                                        cmocka_unit_test(test_same_everywhere), cmocka_unit_test(test_bounds), cmocka_unit_test(test_bad_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
