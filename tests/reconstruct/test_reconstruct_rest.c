/* When a level of a reconstruction ends: spheres whose samples are dense, far apart (down to one in 200 voxels of the surface) or noisy by a voxel. No level
 * after the first takes long, and where it stops the surface is the sphere. */
#include <math.h>

#include "support.h"
#include "tessera/csg.h"
#include "tessera/reconstruct.h"

typedef struct cloud {
    const char *name;
    int64_t count;
    double noise;
    int64_t steps; /* at most, of levels after the first */
    double off;    /* of the volume, share of the exact one: chords of sparse samples lie inside */
} cloud;

static void sphere(const cloud *c)
{
    tsr_context *context = test_context();
    tsr_points_options make = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_points *host, *points;
    tsr_tiles *tiles;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    const double exact = 4.0 / 3 * 3.14159265358979 * 0.512; /* of radius 0.8 */
    make.count = c->count;
    make.noise = c->noise;
    make.seed = test_seed();
    options.depth = 7;
    require_ok(tsr_points_make("points-sphere", &make, &host));
    require_ok(tsr_points_copy(host, context, &points));
    require_ok(tsr_reconstruct(context, points, &options, &tiles, &report));
    require_ok(tsr_tiles_measure(tiles, &m));
    for (int32_t i = 0; i < report.levels; i++) {
        print_message("%s, level %d: %lld steps, %.3f voxels\n", c->name, report.level[i].level, (long long)report.level[i].steps,
                      report.level[i].error / report.level[i].voxel);
        assert_true(report.level[i].converged);
        if (i > 0) assert_true(report.level[i].steps <= c->steps);
    }
    print_message("%s: volume %.4f of the exact\n", c->name, m.volume / exact);
    assert_true(fabs(m.volume / exact - 1) <= c->off);
    assert_int_equal(m.components, 1);
    assert_int_equal(m.genus, 0);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    tsr_context_destroy(&context);
}

static void dense(void **state)
{
    (void)state;
    sphere(&(cloud){ "dense", 20000, 0, 20, 0.005 });
}
static void sparse(void **state)
{
    (void)state;
    sphere(&(cloud){ "sparse", 300, 0, 80, 0.08 });
}
static void noisy(void **state)
{
    (void)state;
    sphere(&(cloud){ "noisy", 20000, 0.012, 80, 0.01 });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sparse), cmocka_unit_test(dense), cmocka_unit_test(noisy) };
    if (test_watches_threads()) return cmocka_run_group_tests_name("the end of a level", ((const struct CMUnitTest[]){ tests[0] }), NULL, NULL);
    return cmocka_run_group_tests_name("the end of a level", tests, NULL, NULL);
}
