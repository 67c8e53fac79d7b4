/* Thin parts in reconstruction: a ball with a finger as thick as a voxel of the first level. The front of that level passes it; put back, it stays. */
#include <math.h>

#include "support.h"
#include "tessera/reconstruct.h"
#include "tessera/surface.h"

#define BALL 0.5    /* round the origin */
#define TIP 1.1     /* of the axis of the finger, along x */
#define FINGER 0.03 /* its radius */

enum { ON_BALL = 6000, ON_FINGER = 230, OUTLIERS = 12, POINTS = ON_BALL + ON_FINGER + OUTLIERS };

static double distance(const double p[3])
{
    const double along = fmin(fmax(p[0], 0), TIP), ball = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - BALL;
    return fmin(ball, sqrt((p[0] - along) * (p[0] - along) + p[1] * p[1] + p[2] * p[2]) - FINGER);
}

/* Samples of the ball but for where the finger grows, of the finger, and outliers, in this order or from the last to the first. */
static tsr_points *cloud(tsr_context *context, int reversed)
{
    uint64_t seed = 77;
    tsr_points *host, *points;
    require_ok(tsr_points_create(NULL, POINTS, 0, &host));
    for (int64_t i = 0; i < POINTS; i++) {
        float *to = tsr_points_positions(host) + 3 * (reversed ? POINTS - 1 - i : i);
        double p[3];
        do {
            const double turn = 6.283185307179586 * test_uniform(&seed), z = 2 * test_uniform(&seed) - 1, side = sqrt(1 - z * z);
            if (i < ON_BALL) {
                p[0] = BALL * z;
                p[1] = BALL * side * cos(turn);
                p[2] = BALL * side * sin(turn);
            } else if (i < ON_BALL + ON_FINGER) {
                p[0] = BALL + (TIP + FINGER - BALL) * test_uniform(&seed);
                const double past = fmax(p[0] - TIP, 0), round = sqrt(FINGER * FINGER - past * past);
                p[1] = round * cos(turn);
                p[2] = round * sin(turn);
            } else {
                p[0] = -BALL + (TIP + BALL) * test_uniform(&seed);
                p[1] = BALL * z;
                p[2] = BALL * (2 * test_uniform(&seed) - 1);
            }
        } while (distance(p) < (i < ON_BALL + ON_FINGER ? -1e-6 : 0.2)); /* outliers: seven voxels away */
        for (int k = 0; k < 3; k++) to[k] = (float)p[k];
    }
    require_ok(tsr_points_copy(host, context, &points));
    tsr_points_destroy(&host);
    return points;
}

typedef struct result {
    tsr_mesh *mesh; /* host */
    tsr_reconstruct_report report;
    double reach, most; /* largest x; largest distance of a vertex from the exact surface, voxels */
} result;

static result reconstruct(tsr_context *context, int reversed, int32_t recapture, tsr_placement placement, tsr_storage storage)
{
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    result r = { .reach = -INFINITY };
    tsr_points *points = cloud(context, reversed);
    tsr_tiles *tiles;
    tsr_mesh *device;
    tsr_mesh_measures m;
    o.depth = 6;
    o.start_depth = 5;
    o.recapture = recapture;
    o.placement = placement;
    o.storage = storage;
    require_ok(tsr_reconstruct(context, points, &o, &tiles, &r.report));
    require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &r.mesh));
    require_ok(tsr_mesh_measure(r.mesh, &m));
    assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges, 0);
    assert_int_equal(m.components, 1); /* of the outliers there is nothing */
    assert_int_equal(m.euler, 2);
    for (int64_t i = 0; i < tsr_mesh_vertex_count(r.mesh); i++) {
        const float *v = tsr_mesh_vertices(r.mesh) + 3 * i;
        const double p[3] = { (double)v[0], (double)v[1], (double)v[2] };
        r.reach = fmax(r.reach, p[0]);
        r.most = fmax(r.most, fabs(distance(p)) / r.report.level[1].voxel);
    }
    tsr_mesh_destroy(&device);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    return r;
}

static void finger(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    result with = reconstruct(context, 0, 0, TSR_PLACEMENT_AUTO, TSR_STORAGE_F32), without = reconstruct(context, 0, -1, TSR_PLACEMENT_AUTO, TSR_STORAGE_F32);
    const double voxel = with.report.level[1].voxel;
    print_message("a finger of %.2f voxels at level 5 that ends at %.2f: the surface reaches %.3f (%.2f voxels from the exact one at most), the source's %.3f\n",
                  2 * FINGER / with.report.level[0].voxel, TIP + FINGER, with.reach, with.most, without.reach);
    assert_true(fabs(with.reach - (TIP + FINGER)) < 1.5 * voxel);
    assert_true(with.most < 3.5); /* in the corner between ball and finger */
    assert_true(without.reach < TIP - 4 * voxel);
    print_message("outside the band: %lld samples, %lld\n", (long long)with.report.level[1].outside, (long long)without.report.level[1].outside);
    assert_true(without.report.level[1].outside > ON_FINGER / 2);
    assert_true(3 * with.report.level[1].outside < without.report.level[1].outside); /* the outliers, and what lies deep in the corner */
    tsr_mesh_destroy(&with.mesh);
    tsr_mesh_destroy(&without.mesh);
    tsr_context_destroy(&context);
}

/* The same bits whatever the backend, the threads, the placement and the order of the points; for both storages. */
static void same_everywhere(void **state)
{
    (void)state;
    tsr_context *context = test_context(), *one = test_context_on("cpu", 1), *three = test_context_on("cpu", 3);
    tsr_context *where[] = { context, context, one, three };
    for (int coded = 0; coded < 2; coded++) {
        result r[4];
        for (int i = 0; i < 4; i++) {
            r[i] = reconstruct(where[i], i == 3, 0, i == 1 ? TSR_PLACEMENT_HYBRID : TSR_PLACEMENT_AUTO, coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32);
            assert_int_equal(tsr_mesh_vertex_count(r[i].mesh), tsr_mesh_vertex_count(r[0].mesh));
            assert_memory_equal(tsr_mesh_vertices(r[i].mesh), tsr_mesh_vertices(r[0].mesh), (size_t)tsr_mesh_vertex_count(r[0].mesh) * 12);
            assert_true(r[i].report.level[1].error == r[0].report.level[1].error && r[i].report.level[1].outside == r[0].report.level[1].outside);
        }
        for (int i = 0; i < 4; i++) tsr_mesh_destroy(&r[i].mesh);
    }
    tsr_context_destroy(&context);
    tsr_context_destroy(&one);
    tsr_context_destroy(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(finger), cmocka_unit_test(same_everywhere) };
    return cmocka_run_group_tests_name("thin parts put back", tests, NULL, NULL);
}
