/* Reconstruction of scanned objects (scripts/get-data.sh meshes): vertices of the bunny, the armadillo and a dragon and the points of a kitten, as they
 * are and with noise and outliers added. One closed, oriented surface of genus 0 whose error (docs/theory/reconstruction.md 7: the mean of |phi| at the clean points, of which those
 * outside the band count as its half width) is at most 0.35 voxels, and so is what that hides: the mean of the true distances of the clean points, whatever
 * they are (thin ears, claws), and the other way, of the surface from the object where there are no points (sheets). */
#include <math.h>
#include <unistd.h>

#include "support.h"
#include "surface/nearest_triangle.h"
#include "tessera/io.h"
#include "tessera/reconstruct.h"
#include "tessera/surface.h"

static double normal(uint64_t *seed)
{
    double u = test_uniform(seed), v = test_uniform(seed);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

/* The points with noise of `sigma`, and `outliers` more anywhere in their bounding box. RETURNS NEW on the host. */
static tsr_points *spoiled(const tsr_points *clean, double sigma, int64_t outliers, uint64_t *seed)
{
    const int64_t n = tsr_points_count(clean);
    const float *from = tsr_points_positions_const(clean);
    tsr_points *made;
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    require_ok(tsr_points_create(NULL, n + outliers, 0, &made));
    float *to = tsr_points_positions(made);
    for (int64_t i = 0; i < 3 * n; i++) {
        low[i % 3] = fmin(low[i % 3], (double)from[i]);
        high[i % 3] = fmax(high[i % 3], (double)from[i]);
        to[i] = (float)((double)from[i] + sigma * normal(seed));
    }
    for (int64_t i = 3 * n; i < 3 * (n + outliers); i++) to[i] = (float)(low[i % 3] + (high[i % 3] - low[i % 3]) * test_uniform(seed));
    return made;
}

/* Mean |phi| at the clean points, in voxels; what lies outside the band counts as its half width. */
static double distance(tsr_context *context, const tsr_tiles *tiles, const tsr_points *clean, double voxel)
{
    const int64_t n = tsr_points_count(clean);
    tsr_points *points;
    tsr_tiles_sample_options options = TSR_TILES_SAMPLE_OPTIONS;
    tsr_volume *values, *host;
    double sum = 0;
    options.world = 1;
    require_ok(tsr_points_copy(clean, context, &points));
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ n, 1, 1 }, NULL, &values));
    require_ok(tsr_tiles_sample(tiles, (const float(*)[3])tsr_points_positions_const(points), (float *)tsr_volume_data(values), n, &options));
    require_ok(tsr_volume_copy(values, NULL, &host));
    for (int64_t i = 0; i < n; i++) sum += fabs((double)((const float *)tsr_volume_data_const(host))[i]);
    tsr_volume_destroy(&values);
    tsr_volume_destroy(&host);
    tsr_points_destroy(&points);
    return sum / (double)n / voxel;
}

/* Mean and largest distance of n places from a mesh on the host, in voxels. */
static double true_distance(const float *places, int64_t n, const tsr_mesh *mesh, double voxel, double *most)
{
    tsr_triangle_tree *tree;
    uint32_t hint = 0;
    double sum = 0;
    *most = 0;
    require_ok(tsr_triangle_tree_create(mesh, &tree));
    for (int64_t i = 0; i < n; i++) {
        const float *p = places + 3 * i;
        const double d = sqrt(tsr_triangle_tree_nearest(tree, (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] }, &hint)) / voxel;
        sum += d;
        *most = fmax(*most, d);
    }
    tsr_triangle_tree_destroy(&tree);
    return sum / (double)n;
}

/* Both ways between the points and the surface, and from the surface to the mesh that they are the vertices of, if there is one. */
static void require_true(const char *path, int has_mesh, const tsr_points *clean, const tsr_mesh *surface, double voxel)
{
    tsr_mesh *object = NULL;
    double most, back_most = 0;
    const double there = true_distance(tsr_points_positions_const(clean), tsr_points_count(clean), surface, voxel, &most);
    if (has_mesh) require_ok(tsr_mesh_read(path, NULL, &object));
    const double back = object ? true_distance(tsr_mesh_vertices_const(surface), tsr_mesh_vertex_count(surface), object, voxel, &back_most) : 0;
    print_message("  true distances: of the points %.3f voxels, %.1f most; of the surface from the object %.3f, %.1f most\n", there, most, back, back_most);
    assert_true(there <= 0.35);
    assert_true(back <= 0.35);
    tsr_mesh_destroy(&object);
}

/* `noise`: 0, or which of the seeds. */
static void scan(const char *name, int32_t depth, int noise)
{
    char path[1024];
    uint64_t seed = test_seed() + (uint64_t)noise * 0x632be59bd9b4e019ull;
    tsr_context *context = test_context();
    tsr_points *clean, *points, *device;
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_tiles *tiles;
    tsr_mesh *made, *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_vec3 lower = { INFINITY, INFINITY, INFINITY }, upper = { -INFINITY, -INFINITY, -INFINITY };
    if (depth > 6 && test_is_slow()) { /* minutes under a sanitizer; the kitten runs the same code */
        tsr_context_destroy(&context);
        skip();
        return;
    }
    snprintf(path, sizeof path, "%s/%s", SCANS, name);
    if (access(path, R_OK) != 0) {
        print_message("%s is not there (scripts/get-data.sh meshes)\n", name);
        tsr_context_destroy(&context);
        skip();
        return;
    }
    require_ok(tsr_points_read(path, NULL, &clean));
    for (int64_t i = 0; i < tsr_points_count(clean); i++) {
        const float *p = tsr_points_positions_const(clean) + 3 * i;
        lower = (tsr_vec3){ fmin(lower.x, (double)p[0]), fmin(lower.y, (double)p[1]), fmin(lower.z, (double)p[2]) };
        upper = (tsr_vec3){ fmax(upper.x, (double)p[0]), fmax(upper.y, (double)p[1]), fmax(upper.z, (double)p[2]) };
    }
    const double extent = fmax(upper.x - lower.x, fmax(upper.y - lower.y, upper.z - lower.z)), voxel = extent / (1 << depth);
    points = spoiled(clean, noise ? 0.25 * voxel : 0, noise ? tsr_points_count(clean) / 500 : 0, &seed);
    require_ok(tsr_points_copy(points, context, &device));
    options.depth = depth;
    require_ok(tsr_reconstruct(context, device, &options, &tiles, &report));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &made, NULL));
    require_ok(tsr_mesh_copy(made, NULL, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    tsr_mesh_destroy(&made);
    const tsr_reconstruct_level *last = &report.level[report.levels - 1];
    const double off = distance(context, tiles, clean, last->voxel);
    print_message("%s%s: %.3f voxels from the points, %lld of %lld outside the band, %lld pieces, euler %lld, %lld steps, %.1f s\n", name,
                  noise ? ", noise and outliers" : "", off, (long long)last->outside, (long long)report.points, (long long)m.components,
                  (long long)m.euler, (long long)last->steps, report.seconds);
    assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges, 0);
    assert_true(m.volume > 0);
    assert_int_equal(m.components, 1);
    assert_int_equal(m.euler, strstr(name, "kitten") ? 0 : 2);
    assert_true(off <= 0.35);
    require_true(path, !strncmp(name, "meshes/", 7), clean, mesh, last->voxel);
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&device);
    tsr_points_destroy(&points);
    tsr_points_destroy(&clean);
    tsr_context_destroy(&context);
}

static void kitten(void **state)
{
    (void)state;
    scan("points_3/kitten.xyz", 6, 0);
}
static void kitten_spoiled(void **state)
{
    (void)state;
    scan("points_3/kitten.xyz", 6, 1);
}
static void ball_spoiled(void **state)
{
    (void)state;
    scan("points_3/ball.ply", 6, 1);
}
static void bunny_spoiled(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 2; seed++) scan("meshes/bunny00.off", 7, seed);
}
static void armadillo(void **state)
{
    (void)state;
    scan("meshes/armadillo.off", 7, 0);
}
static void armadillo_spoiled(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 2; seed++) scan("meshes/armadillo.off", 7, seed);
}
static void dragon(void **state)
{
    (void)state;
    scan("meshes/ChineseDragon-10kv.off", 7, 0);
}
static void dragon_spoiled(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) scan("meshes/ChineseDragon-10kv.off", 7, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(kitten),    cmocka_unit_test(kitten_spoiled), cmocka_unit_test(ball_spoiled), cmocka_unit_test(bunny_spoiled),
                                        cmocka_unit_test(armadillo), cmocka_unit_test(armadillo_spoiled),
                                        cmocka_unit_test(dragon),    cmocka_unit_test(dragon_spoiled) };
    return cmocka_run_group_tests_name("reconstruction of scans", tests, NULL, NULL);
}
