/* Lists of 2^31 entries and more that are not made: triangle trees, graded trees, trees of any origin. Nothing that fits here has as many: the top of a pyramid
 * is written over, or the list says that it is longer. */
#include "support.h"

#include "device/backend.h"
#include "histopyramid/pyramid.h"
#include "region/region_tree.h"

static struct {
    const tsr_backend *real;
    tsr_backend backend;
    tsr_pyramid_ops ops;
    uint32_t total;
    int calls, from;
} lie;

static tsr_status lying_build(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes)
{
    const tsr_tree_level *top = &tree->level[tree->levels - 1];
    const tsr_status status = lie.real->pyramid->build(queue, tree, classes);
    if (status != TSR_OK || lie.calls++ < lie.from) return status;
    assert_int_equal(top->bytes, 4);
    return lie.real->upload(queue, top->sums, &lie.total, sizeof lie.total);
}
static void begin_lie(tsr_context *context, uint32_t total, int from)
{
    lie.real = context->backend;
    lie.backend = *context->backend;
    lie.ops = *context->backend->pyramid;
    lie.ops.build = lying_build;
    lie.backend.pyramid = &lie.ops;
    lie.total = total;
    lie.calls = 0;
    lie.from = from;
    context->backend = &lie.backend;
}
static void end_lie(tsr_context *context) { context->backend = lie.real; }

/* A sheet of 2 * side^2 triangles in [1, 15]^2 at height 8.3. */
static tsr_mesh *sheet(tsr_context *context, int side)
{
    tsr_mesh *host, *mesh;
    require_ok(tsr_mesh_create(NULL, (side + 1) * (side + 1), 2 * side * side, 0, &host));
    float *v = tsr_mesh_vertices(host);
    uint32_t *t = tsr_mesh_triangles(host);
    for (int y = 0; y <= side; y++)
        for (int x = 0; x <= side; x++, v += 3) {
            v[0] = 1 + 14 * (float)x / (float)side;
            v[1] = 1 + 14 * (float)y / (float)side;
            v[2] = 8.3f;
        }
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, t += 6) {
            const uint32_t at = (uint32_t)(y * (side + 1) + x), across = (uint32_t)side + 1;
            const uint32_t own[6] = { at, at + 1, at + across, at + 1, at + across + 1, at + across };
            memcpy(t, own, sizeof own);
        }
    require_ok(tsr_mesh_copy(host, context, &mesh));
    tsr_mesh_destroy(&host);
    return mesh;
}

/* At the first level and at a later one; 2^31 - 1 is the most. */
static void pairs_of_a_triangle_tree(void **state)
{
    (void)state;
    static const uint32_t totals[] = { 2147483648u, 4294967295u };
    const tsr_size3 n = { 16, 16, 16 };
    tsr_context *context = test_context();
    tsr_mesh *mesh = sheet(context, 12); /* 288: their pyramid's top has 32 bits */
    tsr_triangle_tree_options o = TSR_TRIANGLE_TREE_OPTIONS;
    tsr_triangle_lists lists;
    tsr_region_tree *tree;
    o.most = 1;
    require_ok(tsr_region_tree_from_triangles(context, mesh, n, NULL, &o, &tree, &lists));
    assert_true(lists.pairs > 288);
    tsr_triangle_lists_destroy(&lists);
    tsr_region_tree_destroy(&tree);
    require_ok(tsr_context_synchronize(context));
    const int64_t before = tsr_context_memory(context)->current_bytes;
    for (int from = 0; from < 2; from++)
        for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) {
            char text[96];
            snprintf(text, sizeof text, "triangle tree: %lu pairs of cells and triangles on level %d", (unsigned long)totals[k], 3 - from);
            begin_lie(context, totals[k], from);
            const tsr_status status = tsr_region_tree_from_triangles(context, mesh, n, NULL, &o, &tree, &lists);
            end_lie(context);
            if (status != TSR_ERROR_CAPACITY || !strstr(tsr_error_message(), text)) fail_msg("'%s' lacks '%s'", tsr_error_message(), text);
            assert_null(tree);
            assert_null(lists.triangles);
            assert_int_equal(tsr_context_memory(context)->current_bytes, before);
        }
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* A leaf becomes 8: a list of 2^31 - 7 has no room for 7 more, one of 2^31 - 8 has. */
static void leaves_of_a_graded_tree(void **state)
{
    (void)state;
    static uint8_t data[32 * 32 * 32];
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_grading how = TSR_REGION_GRADING;
    tsr_region_pyramid *p;
    tsr_region_tree *device, *tree, *graded;
    tsr_volume *host, *volume;
    /* one voxel of another value beside a large leaf */
    for (int i = 0; i < 32 * 32 * 32; i++) data[i] = 1;
    data[(15 * 32 + 15) * 32 + 15] = 0;
    o.classifier = TSR_PYRAMID_NONZERO;
    o.singles = 1;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ 32, 32, 32 }, NULL, data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &volume));
    require_ok(tsr_region_pyramid_create(context, tsr_volume_size(host), &o, &p));
    require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ volume }, 1));
    require_ok(tsr_region_tree_extract(p, &device));
    require_ok(tsr_region_tree_copy(device, NULL, &tree));
    require_ok(tsr_region_tree_grade(tree, &how, NULL, &graded, NULL));
    const int64_t leaves = tree->info.leaves, nodes = tree->info.nodes, split = graded->info.leaves - leaves;
    assert_true(split > 0 && split % 7 == 0);
    tsr_region_tree_destroy(&graded);
    tree->info.leaves = INT32_MAX - split + 1; /* all but the last have room */
    char text[96];
    snprintf(text, sizeof text, "region grade: %lld leaves and %lld nodes", (long long)INT32_MAX - 6, (long long)(nodes + split / 7 - 1));
    require_error(tsr_region_tree_grade(tree, &how, NULL, &graded, NULL), TSR_ERROR_CAPACITY, text);
    assert_null(graded);
    tree->info.leaves = leaves;
    require_ok(tsr_region_tree_grade(tree, &how, NULL, &graded, NULL));
    assert_int_equal(graded->info.leaves, leaves + split);
    tsr_region_tree_destroy(&graded);

    /* the one gate of all lists: merged tiles, keys, files */
    tsr_region_info info = tree->info;
    info.leaves = 2147483648;
    require_error(tsr_region_tree_create(NULL, &info, NULL, &graded), TSR_ERROR_CAPACITY, "region tree: 2147483648 leaves");
    assert_null(graded);
    info.leaves = leaves;
    info.nodes = 4294967296;
    require_error(tsr_region_tree_create(context, &info, NULL, &graded), TSR_ERROR_CAPACITY, "4294967296 nodes");
    assert_null(graded);

    tsr_region_tree_destroy(&tree);
    tsr_region_tree_destroy(&device);
    tsr_region_pyramid_destroy(&p);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pairs_of_a_triangle_tree), cmocka_unit_test(leaves_of_a_graded_tree) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
