/* Winding numbers against solid angles (Van Oosterom and Strackee), boxes against counting, tiles against the whole; trees of meshes. */
#include <math.h>

#include "device/backend.h"
#include "support.h"

static tsr_mesh *mesh_of(tsr_context *context, int64_t vertices, int64_t triangles, const float *vertex, const uint32_t *triangle)
{
    tsr_mesh *host, *mesh;
    require_ok(tsr_mesh_create(NULL, vertices, triangles, 0, &host));
    memcpy(tsr_mesh_vertices(host), vertex, (size_t)vertices * 12);
    memcpy(tsr_mesh_triangles(host), triangle, (size_t)triangles * 12);
    require_ok(tsr_mesh_copy(host, context, &mesh));
    tsr_mesh_destroy(&host);
    return mesh;
}

/* Boxes [low, high], outwards; `inverted` says which face inwards. */
static tsr_mesh *boxes(tsr_context *context, int count, const float (*low)[3], const float (*high)[3], const int *inverted)
{
    static const uint8_t face[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 }, { 0, 1, 4 }, { 1, 5, 4 },
                                         { 2, 6, 3 }, { 3, 6, 7 }, { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    float vertex[8 * 8][3];
    uint32_t triangle[8 * 12][3];
    for (int b = 0; b < count; b++) {
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < 3; k++) vertex[8 * b + c][k] = c >> k & 1 ? high[b][k] : low[b][k];
        for (int t = 0; t < 12; t++)
            for (int k = 0; k < 3; k++) triangle[12 * b + t][k] = (uint32_t)(8 * b) + face[t][inverted[b] ? 2 - k : k];
    }
    return mesh_of(context, 8 * count, 12 * count, vertex[0], triangle[0]);
}

/* A ball of rings and segments with poles along z. */
static tsr_mesh *ball(tsr_context *context, const double centre[3], double radius, int rings, int segments)
{
    float vertex[800][3];
    uint32_t triangle[1600][3];
    int v = 0, t = 0;
    for (int i = 0; i <= rings; i++)
        for (int j = 0; j < (i == 0 || i == rings ? 1 : segments); j++, v++) {
            const double a = 3.14159265358979323846 * i / rings, b = 2 * 3.14159265358979323846 * j / segments;
            vertex[v][0] = (float)(centre[0] + radius * sin(a) * cos(b));
            vertex[v][1] = (float)(centre[1] + radius * sin(a) * sin(b));
            vertex[v][2] = (float)(centre[2] + radius * cos(a));
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < segments; j++) {
            const int up = i == 0 ? 0 : 1 + (i - 1) * segments, down = 1 + i * segments, next = (j + 1) % segments;
            const uint32_t a = (uint32_t)(i == 0 ? 0 : up + j), b = (uint32_t)(i == 0 ? 0 : up + next),
                           c = (uint32_t)(i == rings - 1 ? v - 1 : down + j), d = (uint32_t)(i == rings - 1 ? v - 1 : down + next);
            if (i < rings - 1) {
                triangle[t][0] = a;
                triangle[t][1] = c;
                triangle[t++][2] = d;
            }
            if (i > 0) {
                triangle[t][0] = a;
                triangle[t][1] = d;
                triangle[t++][2] = b;
            }
        }
    return mesh_of(context, v, t, vertex[0], triangle[0]);
}

static int32_t *numbers(tsr_context *context, const tsr_mesh *mesh, tsr_size3 n, const tsr_geometry *g, tsr_winding_report *report)
{
    tsr_volume *volume, *host;
    const size_t bytes = (size_t)(n.x * n.y * n.z) * 4;
    int32_t *copy = malloc(bytes);
    require_ok(tsr_winding_volume(context, mesh, n, g, NULL, &volume, report));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    memcpy(copy, tsr_volume_data_const(host), bytes);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    return copy;
}

/* Sum of the solid angles of the triangles over 4 pi. */
static double winding(const tsr_mesh *mesh, const double p[3])
{
    double sum = 0;
    const float *vertex = tsr_mesh_vertices_const(mesh);
    const uint32_t *triangle = tsr_mesh_triangles_const(mesh);
    for (int64_t t = 0; t < tsr_mesh_triangle_count(mesh); t++) {
        double r[3][3], l[3], dot[3], det;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) r[c][k] = (double)vertex[3 * triangle[3 * t + c] + k] - p[k];
            l[c] = sqrt(r[c][0] * r[c][0] + r[c][1] * r[c][1] + r[c][2] * r[c][2]);
        }
        for (int c = 0; c < 3; c++) dot[c] = r[c][0] * r[(c + 1) % 3][0] + r[c][1] * r[(c + 1) % 3][1] + r[c][2] * r[(c + 1) % 3][2];
        det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
              r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
        sum += 2 * atan2(det, l[0] * l[1] * l[2] + dot[0] * l[2] + dot[1] * l[0] + dot[2] * l[1]);
    }
    return sum / (4 * 3.14159265358979323846);
}

static void boxes_are_counted(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    /* two that overlap, one nested in the first, one inverted, one reaching far outside */
    static const float low[5][3] = { { 2, 2, 2 }, { 6, 5, 4 }, { 3, 3, 3 }, { 14, 2, 2 }, { -12, 10.25f, 11 } };
    static const float high[5][3] = { { 9, 9, 9 }, { 12, 12, 12 }, { 5, 6, 7 }, { 17, 6, 5 }, { 30, 12.75f, 30 } };
    const int inverted[5] = { 0, 0, 0, 1, 0 };
    const tsr_size3 n = { 20, 18, 16 };
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0.5, 0.5, 0.5 }, TSR_SPACE_NONE); /* voxel centres within the boxes */
        if (mirrored) {
            g.affine[0][0] = -1;
            g.affine[0][3] = 19.5;
        }
        tsr_mesh *mesh = boxes(context, 5, low, high, inverted);
        tsr_winding_report report = TSR_WINDING_REPORT;
        int32_t *w = numbers(context, mesh, n, &g, &report);
        assert_true(report.triangles == 60 && report.boundary_edges == 0 && report.boundary_loops == 0);
        for (int i = 0; i < 20 * 18 * 16; i++) {
            const double p[3] = { mirrored ? 19.5 - i % 20 : i % 20 + 0.5, i / 20 % 18 + 0.5, i / 360 + 0.5 };
            int expected = 0;
            for (int b = 0; b < 5; b++) {
                int in = 1;
                for (int k = 0; k < 3; k++) in &= p[k] >= (double)low[b][k] && p[k] < (double)high[b][k];
                expected += in ? (inverted[b] ? -1 : 1) : 0;
            }
            if (w[i] != expected) fail_msg("voxel %d (mirrored %d): %d, expected %d", i, mirrored, w[i], expected);
        }
        free(w);
        tsr_mesh_destroy(&mesh);
    }
    tsr_context_destroy(&context);
}

/* Faces, edges and diagonals that pass exactly through voxels: each row still crosses the surface once on either side, so the volume is exact. */
static void degenerate_places(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const float low[2][3] = { { 2, 3, 4 }, { 0, 0, 0 } }, high[2][3] = { { 10, 11, 9 }, { 0, 0, 0 } };
    const int inverted[2] = { 0, 0 };
    tsr_mesh *mesh = boxes(context, 1, low, high, inverted);
    int32_t *w = numbers(context, mesh, (tsr_size3){ 16, 16, 16 }, NULL, NULL);
    int64_t sum = 0;
    for (int i = 0; i < 4096; i++) {
        assert_true(w[i] == 0 || w[i] == 1);
        sum += w[i];
    }
    assert_int_equal(sum, 8 * 8 * 5);
    free(w);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

static void balls_equal_solid_angles(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 n = { 24, 20, 22 };
    const double angle = 0.6;
    tsr_geometry g = { .affine = {
                           { 0.5 * cos(angle), -0.4 * sin(angle), 0, -2 }, { 0.5 * sin(angle), 0.4 * cos(angle), 0, -3 }, { 0, 0, 0.6, -5 } } };
    for (int ball_number = 0; ball_number < (test_is_slow() ? 2 : 6); ball_number++) {
        const double centre[3] = { test_uniform(&seed) * 4, test_uniform(&seed) * 4, test_uniform(&seed) * 4 };
        tsr_mesh *mesh = ball(context, centre, 1 + test_uniform(&seed) * 3, 9, 14), *host;
        tsr_winding_report report = TSR_WINDING_REPORT;
        int64_t inside = 0;
        require_ok(tsr_mesh_copy(mesh, NULL, &host));
        int32_t *w = numbers(context, mesh, n, &g, &report);
        assert_int_equal(report.boundary_edges, 0);
        for (int64_t i = ball_number % 3; i < n.x * n.y * n.z; i += 3) {
            const tsr_vec3 at = tsr_geometry_to_world(&g, (tsr_vec3){ (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) });
            const double p[3] = { at.x, at.y, at.z }, exact = winding(host, p);
            if (fabs(exact - round(exact)) > 1e-3) continue; /* on the surface */
            assert_int_equal(w[i], (int)round(exact));
            inside += w[i];
        }
        assert_true(inside > 20);
        free(w);
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&mesh);
    }
    tsr_context_destroy(&context);
}

static void boxes_of_the_lattice(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const double centre[3] = { 12, 9, 10 };
    const tsr_size3 n = { 24, 20, 22 }, part = { 9, 7, 11 };
    tsr_mesh *mesh = ball(context, centre, 10.3, 9, 14);
    int32_t *whole = numbers(context, mesh, n, NULL, NULL);
    tsr_winding *w;
    require_ok(tsr_winding_create(context, n, NULL, tsr_mesh_vertex_count(mesh), &w));
    for (int round = 0; round < 9; round++) {
        const int64_t lower[3] = { round % 3 * 9 - 2, round / 3 * 6, 3 + round };
        tsr_volume *volume, *host;
        require_ok(tsr_volume_create(context, TSR_I32, part, NULL, &volume));
        require_ok(tsr_winding_build(w, mesh, lower, volume));
        require_ok(tsr_winding_check(w, mesh, NULL));
        require_ok(tsr_volume_copy(volume, NULL, &host));
        assert_true(tsr_volume_geometry(host)->affine[0][3] == (double)lower[0]);
        for (int64_t i = 0; i < part.x * part.y * part.z; i++) {
            const int64_t x = lower[0] + i % part.x, y = lower[1] + i / part.x % part.y, z = lower[2] + i / part.x / part.y;
            const int32_t got = ((const int32_t *)tsr_volume_data_const(host))[i];
            if (x >= 0 && x < n.x && y < n.y && z < n.z) assert_int_equal(got, whole[(z * n.y + y) * n.x + x]);
        }
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
    }
    tsr_winding_destroy(&w);
    free(whole);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

static tsr_region_options solid(int empty)
{
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.classifier = TSR_PYRAMID_RANGE;
    o.lower = empty ? 0 : 1;
    o.upper = empty ? 1 : INFINITY;
    o.dimensions = 3;
    return o;
}

/* The ball of the literature: 264 triangles, 128^3, empty space: 147 nodes and 643 leaves there; and tiles = whole. */
static void trees_of_meshes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const int n = test_is_slow() ? 64 : 128;
    const double h = 2.0 / n, centre[3] = { 0.19, 0.114, 0.884 };
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ h / 2 - 1, h / 2 - 1, h / 2 - 1 }, TSR_SPACE_NONE);
    tsr_mesh *mesh = ball(context, centre, 0.1, 12, 12);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 264);
    tsr_region_tree *tree[2][2];
    for (int empty = 0; empty < 2; empty++)
        for (int tiled = 0; tiled < 2; tiled++) {
            const tsr_region_options o = solid(empty);
            tsr_region_tiling tiling = TSR_REGION_TILING;
            tsr_winding_report report = TSR_WINDING_REPORT;
            tiling.tile = tiled ? n / 4 : n;
            require_ok(tsr_region_tree_from_mesh(context, mesh, (tsr_size3){ n, n, n }, &g, &o, &tiling, &tree[empty][tiled], NULL, &report));
            assert_int_equal(report.boundary_edges, 0);
        }
    for (int empty = 0; empty < 2; empty++) {
        const tsr_region_info a = *tsr_region_tree_describe(tree[empty][0]), b = *tsr_region_tree_describe(tree[empty][1]);
        assert_true(a.leaves == b.leaves && a.nodes == b.nodes && a.top == b.top);
        assert_memory_equal(tsr_region_tree_leaves(tree[empty][0]), tsr_region_tree_leaves(tree[empty][1]), (size_t)a.leaves * 8);
        assert_memory_equal(tsr_region_tree_nodes(tree[empty][0]), tsr_region_tree_nodes(tree[empty][1]), (size_t)a.nodes * 32);
    }
    const tsr_region_info in = *tsr_region_tree_describe(tree[0][0]), out = *tsr_region_tree_describe(tree[1][0]);
    assert_true(in.nodes == out.nodes && in.leaves + out.leaves == 7 * in.nodes + 1);
    print_message("ball at %d^3: %d nodes, %d leaves of empty space\n", n, (int)out.nodes, (int)out.leaves);
    if (n == 128)
        assert_true(out.nodes == 146 && out.leaves == 643); /* of the ball counted plane by plane: test_region_golden; [Ziegler10]: 147 and 643 */
    for (int k = 0; k < 4; k++) tsr_region_tree_destroy(&tree[k / 2][k % 2]);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* Boxes that are much larger than tiles, so that whole tiles have one number: the tree of the volume of numbers is the oracle. */
static void tiles_of_one_number(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const float low[3][3] = { { 0.5f, 1, 1.5f }, { 10, 10, 10 }, { 2, 2.5f, 3 } };
    static const float high[3][3] = { { 25, 30, 31 }, { 31.5f, 31.5f, 23.5f }, { 23.5f, 27.5f, 30 } };
    const int inverted[3] = { 0, 1, 0 };
    const tsr_size3 n = { 32, 31, 32 };
    tsr_mesh *mesh = boxes(context, 3, low, high, inverted), *host, *open;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    open = mesh_of(context, 24, 34, tsr_mesh_vertices_const(host), tsr_mesh_triangles_const(host) + 6);
    for (int round = 0; round < 6; round++) {
        tsr_region_options o = solid(round == 1);
        tsr_region_tiling tiling = TSR_REGION_TILING;
        tsr_region_tree *tiled, *device, *whole;
        tsr_volume *numbers_there, *values;
        tsr_winding_report report = TSR_WINDING_REPORT;
        if (round == 2 || round == 5) o.rule = TSR_REGION_SPREAD;
        if (round == 3) o.rule = TSR_REGION_LINEAR;
        tiling.tile = 8;
        tiling.means = 1;
        const tsr_mesh *own = round > 3 ? open : mesh;
        require_ok(tsr_region_tree_from_mesh(context, own, n, NULL, &o, &tiling, &tiled, &values, &report));
        assert_int_equal(report.boundary_edges, round > 3 ? 4 : 0);
        require_ok(tsr_winding_volume(context, own, n, NULL, NULL, &numbers_there, NULL));
        require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ numbers_there }, 1, &o, &device));
        require_ok(tsr_region_tree_copy(device, NULL, &whole));
        const tsr_region_info a = *tsr_region_tree_describe(tiled), b = *tsr_region_tree_describe(whole);
        assert_true(a.leaves == b.leaves && a.nodes == b.nodes && a.top == b.top);
        assert_memory_equal(tsr_region_tree_leaves(tiled), tsr_region_tree_leaves(whole), (size_t)a.leaves * 8);
        assert_memory_equal(tsr_region_tree_nodes(tiled), tsr_region_tree_nodes(whole), (size_t)a.nodes * 32);
        if (round == 2) { /* every leaf has its number as the mean */
            tsr_volume *back;
            require_ok(tsr_volume_copy(numbers_there, NULL, &back));
            for (int64_t l = 0; l < a.leaves; l++) {
                const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tiled)[l], 3);
                assert_true(((const float *)tsr_volume_data_const(values))[l] ==
                            (float)((const int32_t *)tsr_volume_data_const(back))[(q.z * n.y + q.y) * n.x + q.x]);
            }
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&values);
        tsr_volume_destroy(&numbers_there);
        tsr_region_tree_destroy(&tiled);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&whole);
    }
    tsr_mesh_destroy(&open);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* A ball that bounces: every frame winding numbers, pyramid and lists into the same memory. */
static void frames_without_allocation(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_size3 n = { 32, 32, 32 };
    const tsr_region_options o = solid(0);
    tsr_winding *w = NULL;
    tsr_volume *volume;
    tsr_region_pyramid *pyramid;
    tsr_region_tree *tree = NULL;
    int64_t bytes = 0;
    require_ok(tsr_volume_create(context, TSR_I32, n, NULL, &volume));
    require_ok(tsr_region_pyramid_create(context, n, &o, &pyramid));
    for (int frame = 0; frame < 6; frame++) {
        const double centre[3] = { 12.3 + frame, 15.1, 16 - frame * 0.7 };
        tsr_mesh *mesh = ball(context, centre, frame ? 6 : 9, 8, 12);
        if (!w) require_ok(tsr_winding_create(context, n, NULL, tsr_mesh_vertex_count(mesh), &w));
        require_ok(tsr_winding_build(w, mesh, NULL, volume));
        require_ok(tsr_region_pyramid_build(pyramid, (const tsr_volume *const[]){ volume }, 1));
        if (!tree) require_ok(tsr_region_tree_extract(pyramid, &tree));
        else require_ok(tsr_region_tree_renew(pyramid, tree));
        if (frame) assert_int_equal(tsr_region_tree_describe(tree)->device_bytes, bytes);
        bytes = tsr_region_tree_describe(tree)->device_bytes;
        tsr_region_tree *anew, *host;
        const tsr_region_tiling tiling = TSR_REGION_TILING;
        require_ok(tsr_region_tree_from_mesh(context, mesh, n, NULL, &o, &tiling, &anew, NULL, NULL));
        require_ok(tsr_region_tree_copy(tree, NULL, &host));
        const tsr_region_info a = *tsr_region_tree_describe(host), b = *tsr_region_tree_describe(anew);
        assert_true(a.leaves == b.leaves && a.nodes == b.nodes && a.leaves > 50);
        assert_memory_equal(tsr_region_tree_leaves(host), tsr_region_tree_leaves(anew), (size_t)a.leaves * 8);
        tsr_region_tree_destroy(&host);
        tsr_region_tree_destroy(&anew);
        tsr_mesh_destroy(&mesh);
    }
    tsr_region_tree_destroy(&tree);
    tsr_region_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&volume);
    tsr_winding_destroy(&w);
    tsr_context_destroy(&context);
}

static void wrong_meshes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const float low[1][3] = { { 2, 2, 2 } }, high[1][3] = { { 6, 6, 6 } };
    const int inverted[1] = { 0 };
    const tsr_size3 n = { 8, 8, 8 };
    tsr_mesh *mesh = boxes(context, 1, low, high, inverted), *host;
    tsr_volume *v, *bytes;
    tsr_winding *w;
    tsr_winding_report report = TSR_WINDING_REPORT;
    tsr_size3 size;
    tsr_geometry g;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    tsr_mesh_destroy(&mesh);
    /* without two of its triangles: one hole of four edges */
    mesh = mesh_of(context, 8, 10, tsr_mesh_vertices_const(host), tsr_mesh_triangles_const(host) + 6);
    require_ok(tsr_winding_volume(context, mesh, n, NULL, NULL, &v, &report));
    assert_true(report.boundary_edges == 4 && report.boundary_loops == 1);
    tsr_volume_destroy(&v);
    tsr_mesh_destroy(&mesh);
    uint32_t corners[36];
    float vertices[24];
    memcpy(corners, tsr_mesh_triangles_const(host), sizeof corners);
    memcpy(vertices, tsr_mesh_vertices_const(host), sizeof vertices);
    corners[16] = 8;
    mesh = mesh_of(context, 8, 12, vertices, corners);
    require_error(tsr_winding_volume(context, mesh, n, NULL, NULL, &v, NULL), TSR_ERROR_FORMAT, "corner 1 of triangle 5 is out of range");
    tsr_mesh_destroy(&mesh);
    corners[16] = 0;
    vertices[10] = NAN;
    mesh = mesh_of(context, 8, 12, vertices, corners);
    require_error(tsr_winding_volume(context, mesh, n, NULL, NULL, &v, NULL), TSR_ERROR_FORMAT, "vertex 3 is");
    tsr_mesh_destroy(&mesh);
    vertices[10] = 17;
    mesh = mesh_of(context, 8, 12, vertices, corners);
    require_error(tsr_winding_volume(context, mesh, n, NULL, NULL, &v, NULL), TSR_ERROR_UNSUPPORTED, "use a larger one");
    require_error(tsr_winding_create(context, (tsr_size3){ 0, 8, 8 }, NULL, 8, &w), TSR_ERROR_ARGUMENT, "0 x 8 x 8");
    require_ok(tsr_winding_create(context, n, NULL, 7, &w));
    require_ok(tsr_volume_create(context, TSR_I32, n, NULL, &v));
    require_ok(tsr_volume_create(context, TSR_U8, n, NULL, &bytes));
    require_error(tsr_winding_build(w, mesh, NULL, v), TSR_ERROR_CAPACITY, "room for 7");
    tsr_winding_destroy(&w);
    require_ok(tsr_winding_create(context, n, NULL, 8, &w));
    require_error(tsr_winding_build(w, mesh, NULL, bytes), TSR_ERROR_ARGUMENT, "expected i32");
    require_error(tsr_winding_check(w, mesh, NULL), TSR_ERROR_STATE, "not of this mesh");
    require_ok(tsr_winding_lattice(host, (tsr_vec3){ 0.5, 1, 2 }, (tsr_vec3){ 0.25, 0, 0 }, 1, &size, &g));
    assert_true(size.x == 12 && size.y == 7 && size.z == 5 && g.affine[0][3] == 1.25 && g.affine[1][3] == 1);
    require_error(tsr_winding_lattice(host, (tsr_vec3){ 1e-6, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, 1, &size, &g), TSR_ERROR_UNSUPPORTED, "larger spacing");
    require_error(tsr_winding_lattice(host, (tsr_vec3){ 0, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, 1, &size, &g), TSR_ERROR_ARGUMENT, "spacing along x is 0");
    require_error(tsr_winding_lattice(host, (tsr_vec3){ 0.3, 1, 1 }, (tsr_vec3){ 1e18, 0, 0 }, 1, &size, &g), TSR_ERROR_UNSUPPORTED, "nearer origin");
    tsr_winding_destroy(&w);
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&bytes);
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&host);
    tsr_context_destroy(&context);
}

static int at_second(void *user, double fraction, const char *stage)
{
    (void)fraction, (void)stage;
    return ++*(int *)user == 2;
}

/* More than one layer: the same numbers as of one build, an end half way, and no more memory than is allowed. */
static void layers(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const float low[1][3] = { { 2, 2, 2 } }, high[1][3] = { { 90, 100, 280 } };
    const int inverted[1] = { 0 };
    const tsr_size3 n = { 128, 128, 290 };
    const size_t bytes = (size_t)n.x * (size_t)n.y * (size_t)n.z * 4;
    tsr_mesh *mesh = boxes(context, 1, low, high, inverted);
    tsr_volume *v, *whole, *got[2];
    tsr_winding *w;
    tsr_winding_options o = TSR_WINDING_OPTIONS;
    int calls = 0;
    if (tsr_context_device(context).kind == TSR_DEVICE_EMU) { /* millions of voxels; the loop is the same for all devices */
        tsr_mesh_destroy(&mesh);
        tsr_context_destroy(&context);
        return;
    }
    o.memory_limit = (int64_t)bytes + 96;
    require_ok(tsr_winding_volume(context, mesh, n, NULL, &o, &v, NULL));
    require_ok(tsr_winding_create(context, n, NULL, 8, &w));
    require_ok(tsr_volume_create(context, TSR_I32, n, NULL, &whole));
    require_ok(tsr_winding_build(w, mesh, NULL, whole));
    require_ok(tsr_winding_check(w, mesh, NULL));
    require_ok(tsr_volume_copy(v, NULL, &got[0]));
    require_ok(tsr_volume_copy(whole, NULL, &got[1]));
    assert_memory_equal(tsr_volume_data(got[0]), tsr_volume_data(got[1]), bytes);
    const int32_t *number = (const int32_t *)tsr_volume_data(got[0]);
    assert_true(number[(275 * n.y + 50) * n.x + 50] == 1 && number[(281 * n.y + 50) * n.x + 50] == 0);
    tsr_volume_destroy(&v);
    o.progress = (tsr_progress){ at_second, &calls };
    require_error(tsr_winding_volume(context, mesh, n, NULL, &o, &v, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(v);
    assert_int_equal(calls, 2);
    o.memory_limit--;
    require_error(tsr_winding_volume(context, mesh, n, NULL, &o, &v, NULL), TSR_ERROR_CAPACITY, "the memory_limit is");
    assert_null(v);
    for (int i = 0; i < 2; i++) tsr_volume_destroy(&got[i]);
    tsr_volume_destroy(&whole);
    tsr_winding_destroy(&w);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

/* A lattice so long that places are kept to fewer binary digits: counted as anywhere else, from both ends. */
static void long_lattices(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const float low[2][3] = { { 3.5f, 1.5f, 1.5f }, { 70000.5f, 1.5f, 2.5f } }, high[2][3] = { { 9.5f, 4.5f, 4.5f }, { 70010.5f, 4.5f, 4.5f } };
    const int outwards[2] = { 0, 0 }, expected[2] = { 6 * 3 * 3, 10 * 3 * 2 };
    tsr_mesh *mesh = boxes(context, 2, low, high, outwards);
    tsr_winding *w;
    require_ok(tsr_winding_create(context, (tsr_size3){ 100000, 6, 6 }, NULL, 16, &w));
    for (int i = 0; i < 2; i++) {
        tsr_volume *v, *host;
        int64_t ones = 0, others = 0;
        require_ok(tsr_volume_create(context, TSR_I32, (tsr_size3){ 20, 6, 6 }, NULL, &v));
        require_ok(tsr_winding_build(w, mesh, (const int64_t[]){ i ? 69995 : 0, 0, 0 }, v));
        require_ok(tsr_winding_check(w, mesh, NULL));
        require_ok(tsr_volume_copy(v, NULL, &host));
        const int32_t *number = (const int32_t *)tsr_volume_data_const(host);
        for (int64_t k = 0; k < 20 * 6 * 6; k++) {
            ones += number[k] == 1;
            others += number[k] != 0 && number[k] != 1;
        }
        assert_int_equal(ones, expected[i]);
        assert_int_equal(others, 0);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&v);
    }
    tsr_winding_destroy(&w);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(long_lattices),        cmocka_unit_test(boxes_are_counted),
                                        cmocka_unit_test(degenerate_places),    cmocka_unit_test(balls_equal_solid_angles),
                                        cmocka_unit_test(boxes_of_the_lattice), cmocka_unit_test(trees_of_meshes),
                                        cmocka_unit_test(tiles_of_one_number),  cmocka_unit_test(frames_without_allocation),
                                        cmocka_unit_test(wrong_meshes),         cmocka_unit_test(layers) };
    return cmocka_run_group_tests_name("winding numbers", tests, NULL, NULL);
}
