/* Thin parts in reconstruction: a ball with a finger as thick as a voxel of the first level. The front of that level passes it; put back, it stays. */
#include <math.h>

#include "device/backend.h"
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
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    o.depth = 6;
    o.start_depth = 5;
    o.recapture = recapture;
    o.placement = placement;
    o.storage = storage;
    r.report = (tsr_reconstruct_report)TSR_RECONSTRUCT_REPORT;
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
    print_message("a finger of %.2f voxels at level 5 that ends at %.2f: the surface reaches %.3f (%.2f voxels from the exact one at most), the published way's %.3f\n",
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

/* ---- what would change the surface ---------------------------------------------------------------------------------------------------------- */

#define WIRE 0.018 /* half a voxel of level 6 */
enum { ON_SPIKE = 45, SPIKES = 3, ON_RING = 130 };

/* The ball, of `ball` samples, with three spikes of wire along -x, y and -y up to 0.8 and, if asked for, a ring of it that grows out of the ball at both ends. */
static tsr_points *wires(tsr_context *context, int64_t ball, int ring)
{
    uint64_t seed = 78;
    const int64_t spikes = ball + SPIKES * ON_SPIKE;
    tsr_points *host, *points;
    require_ok(tsr_points_create(NULL, spikes + (ring ? ON_RING : 0), 0, &host));
    for (int64_t i = 0; i < tsr_points_count(host); i++) {
        float *to = tsr_points_positions(host) + 3 * i;
        const double turn = 6.283185307179586 * test_uniform(&seed), z = 2 * test_uniform(&seed) - 1, side = sqrt(1 - z * z), along = test_uniform(&seed);
        double p[3] = { BALL * side * cos(turn), BALL * side * sin(turn), BALL * z };
        if (i >= spikes) { /* half a circle of radius 0.4 round (0, 0, 0.45) */
            const double u = 3.141592653589793 * along, out = 0.4 + WIRE * cos(turn);
            p[0] = out * cos(u);
            p[1] = WIRE * sin(turn);
            p[2] = 0.45 + out * sin(u);
        } else if (i >= ball) {
            const int64_t spike = (i - ball) / ON_SPIKE, axis = spike == 0 ? 0 : 1;
            p[axis] = (spike == 1 ? 1 : -1) * (BALL + 0.3 * along);
            p[1 - axis] = WIRE * cos(turn);
            p[2] = WIRE * sin(turn);
        }
        for (int k = 0; k < 3; k++) to[k] = (float)p[k];
    }
    require_ok(tsr_points_copy(host, context, &points));
    tsr_points_destroy(&host);
    return points;
}

/* Largest -x, y and -y of the surface, which is of one piece without handles. */
static tsr_reconstruct_report reach_of(tsr_context *context, int64_t ball, int ring, const tsr_reconstruct_options *o, double reach[3])
{
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_points *points = wires(context, ball, ring);
    tsr_tiles *tiles;
    tsr_mesh *device, *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_reconstruct(context, points, o, &tiles, &report));
    require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_int_equal(m.components, 1);
    assert_int_equal(m.euler, 2);
    for (int k = 0; k < 3; k++) reach[k] = 0;
    for (int64_t i = 0; i < tsr_mesh_vertex_count(mesh); i++) {
        const float *v = tsr_mesh_vertices(mesh) + 3 * i;
        reach[0] = fmax(reach[0], (double)-v[0]);
        reach[1] = fmax(reach[1], (double)v[1]);
        reach[2] = fmax(reach[2], (double)-v[1]);
    }
    print_message("%s ring: reaches %.3f %.3f %.3f, %d refused, %d crowded\n", ring ? "with" : "without", reach[0], reach[1], reach[2], report.refused,
                  report.crowded);
    tsr_mesh_destroy(&device);
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    return report;
}

static tsr_reconstruct_options two_levels(void)
{
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    o.depth = 6;
    o.start_depth = 5;
    return o;
}

/* A loop of wire would be a handle: it stays lost, and costs none of the spikes. */
static void loop_alone_is_refused(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int i = 0; i < 4; i++) {
        if (test_is_slow() && i != 1) continue;
        tsr_reconstruct_options o = two_levels();
        double reach[3];
        o.storage = i < 2 ? TSR_STORAGE_F32 : TSR_STORAGE_I16;
        const tsr_reconstruct_report report = reach_of(context, ON_BALL, i % 2, &o, reach);
        assert_int_equal(report.refused, i % 2);
        assert_int_equal(report.crowded, 0);
        for (int k = 0; k < 3; k++) assert_true(reach[k] > 0.75);
    }
    tsr_context_destroy(&context);
}

static int on_emu(void)
{
    const char *device = getenv("TESSERA_DEVICE");
    return device && !strcmp(device, "emu");
}
/* What these decide is the host's, on one thread. */
static int elsewhere(void) { return on_emu() || test_watches_threads(); }

/* A body whose thin parts hold a good share of the samples is not taken for noise: these lie far out, and none within. */
static void a_quarter_is_missed(void **state)
{
    (void)state;
    if (elsewhere()) skip();
    tsr_context *context = test_context();
    const tsr_reconstruct_options o = two_levels();
    double reach[3];
    const tsr_reconstruct_report report = reach_of(context, 3 * SPIKES * ON_SPIKE, 0, &o, reach);
    print_message("%lld of %lld samples outside\n", (long long)report.level[1].outside, (long long)report.points);
    for (int k = 0; k < 3; k++) assert_true(reach[k] > 0.75);
    assert_true(20 * report.level[1].outside < report.points);
    tsr_context_destroy(&context);
}

/* Spikes all round, so close together that balls would cover the body: it is not made worse. */
static void covered_body(void **state)
{
    (void)state;
    enum { COMB = 60, EACH = 16 };
    if (elsewhere()) skip();
    tsr_context *context = test_context();
    tsr_reconstruct_report report[2] = { TSR_RECONSTRUCT_REPORT, TSR_RECONSTRUCT_REPORT };
    uint64_t seed = 79;
    tsr_points *host, *points;
    require_ok(tsr_points_create(NULL, ON_BALL + COMB * EACH, 0, &host));
    for (int64_t i = 0; i < tsr_points_count(host); i++) {
        const int64_t spike = (i - ON_BALL) / EACH;
        const double z = i < ON_BALL ? 2 * test_uniform(&seed) - 1 : 1 - (2 * (double)spike + 1) / COMB, side = sqrt(1 - z * z);
        const double turn = i < ON_BALL ? 6.283185307179586 * test_uniform(&seed) : 2.399963229728653 * (double)spike;
        const double out = i < ON_BALL ? BALL : BALL + 0.25 * test_uniform(&seed), p[3] = { out * side * cos(turn), out * side * sin(turn), out * z };
        for (int k = 0; k < 3; k++) tsr_points_positions(host)[3 * i + k] = (float)(p[k] + (i < ON_BALL ? 0 : WIRE * (2 * test_uniform(&seed) - 1)));
    }
    require_ok(tsr_points_copy(host, context, &points));
    for (int without = 0; without < 2; without++) {
        tsr_reconstruct_options o = two_levels();
        tsr_tiles *tiles;
        o.recapture = -without;
        require_ok(tsr_reconstruct(context, points, &o, &tiles, &report[without]));
        tsr_tiles_destroy(&tiles);
        print_message("%s: %lld of %lld outside, error %.3f voxels\n", without ? "without" : "put back", (long long)report[without].level[1].outside,
                      (long long)report[without].points, report[without].level[1].error / report[without].level[1].voxel);
    }
    assert_true(report[0].level[1].outside <= report[1].level[1].outside);
    assert_true(report[0].level[1].error < 1.05 * report[1].level[1].error);
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    tsr_context_destroy(&context);
}

/* The memory of a device through the backend's own functions: the most that was taken at a time, and no more than `room` bytes of it. */
typedef struct memory {
    tsr_context *context;
    size_t live, most, room;
} memory;

static void *take(void *user, size_t bytes, size_t alignment)
{
    memory *m = (memory *)user;
    void *taken = NULL;
    assert_int_equal(alignment, 256);
    if (m->live + bytes > m->room) return NULL;
    require_ok(m->context->backend->allocate(m->context->queue, bytes, &taken));
    m->live += bytes;
    m->most = m->live > m->most ? m->live : m->most;
    return taken;
}
static void give(void *user, void *taken, size_t bytes)
{
    memory *m = (memory *)user;
    m->live -= bytes;
    m->context->backend->release(m->context->queue, taken, bytes);
}

/* Without memory for a second list the first goes on, and the report says so: the surface is that without thin parts. */
static void no_room(void **state)
{
    (void)state;
    const char *device = getenv("TESSERA_DEVICE");
    if (test_watches_threads()) skip();
    memory m = { .room = SIZE_MAX };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_context *context;
    tsr_reconstruct_options o = two_levels();
    double without[3], reach[3];
    options.device = device && *device ? device : "cpu";
    options.device_allocator = (tsr_allocator){ take, give, &m };
    require_ok(tsr_context_create(&options, &context));
    m.context = context;
    o.recapture = -1;
    (void)reach_of(context, ON_BALL, 0, &o, without);
    m.room = m.most + m.most / 50; /* for the points that are missed */
    o.recapture = 0;
    const tsr_reconstruct_report report = reach_of(context, ON_BALL, 0, &o, reach);
    assert_int_equal(report.crowded, 2); /* before the second level, and at the end */
    for (int k = 0; k < 3; k++) assert_true(reach[k] == without[k]);
    tsr_context_destroy(&context);
    assert_int_equal(m.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(finger), cmocka_unit_test(same_everywhere), cmocka_unit_test(loop_alone_is_refused),
                                        cmocka_unit_test(a_quarter_is_missed), cmocka_unit_test(covered_body), cmocka_unit_test(no_room) };
    return cmocka_run_group_tests_name("thin parts put back", tests, NULL, NULL);
}
