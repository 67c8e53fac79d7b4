/* Reconstruction of clouds of known shape: distance, topology, orientation, placements, levels, noise, particles, wrong input (see
 * docs/theory/reconstruction.md 10). */
#include "cloud.h"

#include "reconstruct/reconstruct.h"
#include "tessera/reconstruct.h"

typedef struct result {
    tsr_tiles *tiles;
    tsr_mesh *mesh; /* host */
    tsr_mesh_measures measures;
    tsr_reconstruct_report report;
    double mean, most; /* distance of the vertices from the exact surface, voxels */
} result;

static tsr_points *make(tsr_context *context, const char *name, const tsr_points_options *options)
{
    tsr_points *host, *points;
    require_ok(tsr_points_make(name, options, &host));
    require_ok(tsr_points_copy(host, context, &points));
    tsr_points_destroy(&host);
    return points;
}

static result reconstruct(tsr_context *context, const char *name, const tsr_points *points, const tsr_reconstruct_options *options)
{
    result r = { 0 };
    tsr_mesh *device;
    r.report = (tsr_reconstruct_report)TSR_RECONSTRUCT_REPORT;
    require_ok(tsr_reconstruct(context, points, options, &r.tiles, &r.report));
    require_ok(tsr_surface_extract_tiles(context, r.tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &r.mesh));
    tsr_mesh_destroy(&device);
    r.measures = (tsr_mesh_measures)TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(r.mesh, &r.measures));
    const int64_t n = tsr_mesh_vertex_count(r.mesh);
    const double voxel = r.report.level[r.report.levels - 1].voxel;
    for (int64_t i = 0; name && i < n; i++) {
        const float *v = tsr_mesh_vertices(r.mesh) + 3 * i;
        const double x[3] = { (double)v[0], (double)v[1], (double)v[2] };
        double d;
        require_ok(tsr_points_shape_distance(name, x, &d));
        r.mean += fabs(d) / voxel / (double)n;
        r.most = fmax(r.most, fabs(d) / voxel);
    }
    return r;
}
static void done(result *r)
{
    tsr_tiles_destroy(&r->tiles);
    tsr_mesh_destroy(&r->mesh);
}

static void print_result(const char *name, const result *r)
{
    print_message("%s: vertices off by %.3f voxels mean, %.3f most; euler %lld, %lld pieces\n", name, r->mean, r->most, (long long)r->measures.euler,
                  (long long)r->measures.components);
    for (int i = 0; i < r->report.levels; i++) {
        const tsr_reconstruct_level *l = &r->report.level[i];
        print_message("  level %d: %lld steps%s, %lld tiles, error %.3f voxels, %.4f %%, %lld outside, %.3f s, potential %.3f s\n", l->level,
                      (long long)l->steps, l->converged ? "" : " (not converged)", (long long)l->tiles, l->error / l->voxel, l->error_percent,
                      (long long)l->outside, l->seconds, l->potential_seconds);
    }
}

static void require_closed(const result *r)
{
    assert_true(r->measures.triangles > 0);
    assert_int_equal(r->measures.boundary_edges, 0);
    assert_int_equal(r->measures.nonmanifold_edges, 0);
    assert_int_equal(r->measures.misoriented_edges, 0);
    assert_true(r->measures.volume > 0); /* outward */
}

static int small(const tsr_context *context) { return tsr_context_device(context).kind == TSR_DEVICE_EMU; }

/* Sphere, torus, linked tori, knot, two bodies: distance, genus, pieces, volume. */
static void test_shapes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const struct {
        const char *name;
        double mean, most;
        int32_t start;
    } shapes[] = { { "points-sphere", 0.15, 0.5, 5 },
                   { "points-torus", 0.2, 0.6, 5 },
                   { "points-linked-tori", 0.2, 0.6, 6 }, /* the page has bars of ball and torus alone; these are the torus's */
                   { "points-bodies", 0.2, 0.6, 5 },
                   { "points-trefoil", 0.2, 0.6, 6 } };
    for (size_t i = 0; i < (small(context) ? 1 : sizeof shapes / sizeof *shapes); i++) {
        tsr_points_options cloud = TSR_POINTS_OPTIONS;
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        const tsr_points_shape *shape = NULL;
        cloud.count = small(context) ? 2000 : 60000;
        o.depth = small(context) ? 5 : 7;
        o.start_depth = small(context) ? 4 : shapes[i].start;
        tsr_points *points = make(context, shapes[i].name, &cloud);
        result r = reconstruct(context, shapes[i].name, points, &o);
        print_result(shapes[i].name, &r);
        require_closed(&r);
        for (int32_t k = 0; (shape = tsr_points_shape_at(k)) && strcmp(shape->name, shapes[i].name);) k++;
        assert_int_equal(r.measures.components, shape->components);
        assert_int_equal(r.measures.euler, 2 * (shape->components - shape->genus));
        if (small(context)) assert_true(r.mean <= 0.4 && r.most <= 1); /* 32 voxels across */
        else assert_true(r.mean <= shapes[i].mean && r.most <= shapes[i].most);
        for (int k = 0; k < r.report.levels; k++) {
            const tsr_reconstruct_level *l = &r.report.level[k];
            assert_true(l->converged);
            assert_int_equal(l->outside, 0);
            if (k == r.report.levels - 1) assert_true(l->error / l->voxel <= (small(context) ? 0.45 : i < 2 ? 0.35 : 0.5));
            if (k)
                assert_true(l->tiles > 3 * (double)l[-1].tiles && l->tiles < 6 * (double)l[-1].tiles); /* the page: 3 to 6 times as many a level, */
            if (k) assert_true(l->error_percent < 0.5 * l[-1].error_percent);                          /* errors about halved; here 0.26 to 0.40 */
        }
        done(&r);
        tsr_points_destroy(&points);
    }
    tsr_context_destroy(&context);
}

/* Coarse to fine takes less than half the steps at the finest level, and gives the same surface. */
static void test_levels(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    if (small(context)) {
        tsr_context_destroy(&context);
        return;
    }
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options many = TSR_RECONSTRUCT_OPTIONS, direct = TSR_RECONSTRUCT_OPTIONS;
    tsr_points *points = make(context, "points-torus", &cloud);
    many.depth = direct.depth = direct.start_depth = 7;
    many.start_depth = 5;
    many.margin = direct.margin = 0.1;
    result a = reconstruct(context, "points-torus", points, &many), b = reconstruct(context, "points-torus", points, &direct);
    print_result("levels 5 to 7", &a);
    print_result("level 7", &b);
    assert_int_equal(a.report.levels, 3);
    int64_t steps = 0;
    for (int i = 0; i < 3; i++) steps += a.report.level[i].steps;
    assert_true(2 * steps < b.report.level[0].steps); /* all levels together, against the direct way */
    tsr_surface_distances distances;
    require_ok(tsr_compare_meshes(a.mesh, b.mesh, NULL, &distances));
    print_message("between them %.3f voxels mean, %.3f most\n", distances.mean / a.report.level[2].voxel,
                  distances.maximum / a.report.level[2].voxel);
    assert_true(distances.maximum < 0.2 * a.report.level[2].voxel);
    done(&a);
    done(&b);
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
}

/* The same bits whatever the placement, the threads and the order of the points. */
static void test_placements(void **state)
{
    (void)state;
    tsr_context *context = test_context(), *one = test_context_on("cpu", 1), *three = test_context_on("cpu", 3);
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    cloud.count = 2000;
    o.depth = 5;
    o.start_depth = 4;
    tsr_context *contexts[4] = { context, context, one, three };
    result r[4];
    for (int i = 0; i < 4; i++) {
        tsr_points *points = make(contexts[i], "points-sphere", &cloud);
        o.placement = i == 1 ? TSR_PLACEMENT_HYBRID : TSR_PLACEMENT_AUTO;
        r[i] = reconstruct(contexts[i], "points-sphere", points, &o);
        tsr_points_destroy(&points);
        assert_int_equal(tsr_mesh_vertex_count(r[i].mesh), tsr_mesh_vertex_count(r[0].mesh));
        assert_memory_equal(tsr_mesh_vertices(r[i].mesh), tsr_mesh_vertices(r[0].mesh), (size_t)tsr_mesh_vertex_count(r[0].mesh) * 12);
        assert_true(r[i].report.level[0].error == r[0].report.level[0].error);
        assert_int_equal(r[i].report.level[1].steps, r[0].report.level[1].steps);
    }
    for (int i = 0; i < 4; i++) done(&r[i]);
    tsr_context_destroy(&context);
    tsr_context_destroy(&one);
    tsr_context_destroy(&three);
}

/* Noise of half a voxel and outliers: no further piece, mean at most 0.2 voxel (docs/theory/reconstruction.md 8). */
static void test_noise(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    if (small(context)) {
        tsr_context_destroy(&context);
        return;
    }
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    o.depth = 7;
    o.margin = 0.1;
    o.max_steps = 160; /* tiles come and go round the outliers: the front does not rest */
    cloud.noise = 0.5 * 1.6 / (128 * 0.8);
    cloud.outliers = 0.002;
    tsr_points *points = make(context, "points-sphere", &cloud);
    result r = reconstruct(context, "points-sphere", points, &o);
    print_result("noise and outliers", &r);
    require_closed(&r);
    assert_int_equal(r.measures.components, 1);
    assert_int_equal(r.measures.euler, 2);
    assert_true(r.mean <= 0.2);
    done(&r);
    tsr_points_destroy(&points);
    cloud.noise = cloud.outliers = 0; /* holes in the cloud are bridged */
    cloud.missing = 3;
    cloud.missing_radius = 0.12;
    points = make(context, "points-sphere", &cloud);
    r = reconstruct(context, "points-sphere", points, &o);
    print_result("missing patches", &r);
    require_closed(&r);
    assert_int_equal(r.measures.euler, 2);
    done(&r);
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
}

static int cancel_at(void *user, double fraction, const char *stage)
{
    (void)stage;
    return fraction > *(double *)user;
}
static int cancel_level(void *user, const tsr_reconstruct_level *level, const tsr_tiles *tiles)
{
    *(int32_t *)user = level->level;
    return tiles && level->level == 5;
}

static void test_bad_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    tsr_tiles *tiles;
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    cloud.count = 3;
    o.depth = 5;
    o.start_depth = 4;
    tsr_points *points = make(context, "points-sphere", &cloud), *host;
    require_error(tsr_reconstruct(context, points, &o, &tiles, NULL), TSR_ERROR_ARGUMENT, "3 points, expected at least 4");
    assert_null(tiles);
    tsr_points_destroy(&points);
    cloud.count = 1000;
    require_ok(tsr_points_make("points-sphere", &cloud, &host));
    tsr_points_positions(host)[3 * 123 + 1] = NAN;
    require_ok(tsr_points_copy(host, context, &points));
    require_error(tsr_reconstruct(context, points, &o, &tiles, NULL), TSR_ERROR_ARGUMENT, "point 123 is not finite");
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    points = make(context, "points-sphere", &cloud);
#define REFUSE(field, value, text)                                                                     \
    do {                                                                                               \
        tsr_reconstruct_options bad = o;                                                               \
        bad.field = value;                                                                             \
        require_error(tsr_reconstruct(context, points, &bad, &tiles, NULL), TSR_ERROR_ARGUMENT, text); \
    } while (0)
    REFUSE(depth, 3, "depth is 3, expected start_depth = 4 to 21");
    REFUSE(depth, 22, "depth is 22");
    REFUSE(start_depth, 3, "start_depth is 3, expected 4 to 9");
    REFUSE(power, 1, "p is 1");
    REFUSE(epsilon, -0.5, "epsilon is -0.5");
    REFUSE(theta, -0.5, "theta is -0.5");
    REFUSE(margin, 0.01, "margin is 0.01");
    REFUSE(band, 0.5, "band is 0.5");
    REFUSE(time_step, -1, "time_step is -1");
    REFUSE(age, 300, "age is 300");
    REFUSE(placement, (tsr_placement)7, "placement is 7");
    REFUSE(memory_limit, -1, "memory_limit is -1");
    REFUSE(time_step, 0.9, "time_step"); /* over the stability bound: the solver says so */
    tsr_reconstruct_options limited = o;
    limited.memory_limit = 100000;
    require_error(tsr_reconstruct(context, points, &limited, &tiles, NULL), TSR_ERROR_CAPACITY, "memory_limit");
    limited = o;
    limited.max_steps = 3;
    require_ok(tsr_reconstruct(context, points, &limited, &tiles, &report));
    assert_int_equal(report.level[0].steps, 3);
    assert_int_equal(report.level[0].converged, 0); /* kept, and said */
    tsr_tiles_destroy(&tiles);
    double until = 0.2; /* the second level begins at a quarter */
    limited = o;
    limited.progress = (tsr_progress){ cancel_at, &until };
    require_error(tsr_reconstruct(context, points, &limited, &tiles, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(tiles);
    int32_t last = 0;
    limited = o;
    limited.level = cancel_level;
    limited.user = &last;
    require_error(tsr_reconstruct(context, points, &limited, &tiles, NULL), TSR_ERROR_CANCELLED, "after level 5");
    assert_int_equal(last, 5);
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
}

/* What is told of the work grows from 0 to 1 in small strides, whatever the levels took; a call that is stopped says that it was, and which. */
typedef struct told {
    double last, longest;
    int calls, falls;
} told;
static int tell(void *user, double fraction, const char *stage)
{
    told *t = (told *)user;
    assert_true(fraction >= 0 && fraction <= 1 && stage && *stage);
    t->falls += fraction < t->last;
    t->longest = fmax(t->longest, fraction - t->last);
    t->last = fraction;
    t->calls++;
    return 0;
}
static void test_progress(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    cloud.count = 4000;
    tsr_points *points = make(context, "points-sphere", &cloud);
    for (int smooth = 0; smooth < 2; smooth++) {
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        tsr_tiles *tiles;
        told t = { 0, 0, 0, 0 };
        test_stop stop = { 0.4, 0 };
        o.depth = small(context) ? 5 : 6;
        o.start_depth = 4;
        o.smooth_iters = smooth ? 0 : -1;
        o.progress = (tsr_progress){ tell, &t };
        require_ok(tsr_reconstruct(context, points, &o, &tiles, NULL));
        tsr_tiles_destroy(&tiles);
        print_message("%d reports, at most %.3f apart\n", t.calls, t.longest);
        /* The last level is three quarters of it and may rest after some 17 steps; where atomics make the sums differ by their order, after fewer. */
        assert_true(t.falls == 0 && t.last == 1 && t.longest <= (small(context) ? 0.7 : 0.45));
        o.progress = (tsr_progress){ test_stops, &stop };
        require_error(tsr_reconstruct(context, points, &o, &tiles, NULL), TSR_ERROR_CANCELLED, "reconstruct");
        assert_null(tiles);
    }
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
}

/* Points in a plane and in one place: a result or an error that says what happened, and the report says that they are flat. */
static void test_degenerate(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int kind = 0; kind < 2; kind++) {
        tsr_points *host, *points;
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
        tsr_tiles *tiles;
        o.depth = 5;
        o.start_depth = 4;
        require_ok(tsr_points_create(NULL, 400, 0, &host));
        for (int i = 0; i < 400; i++) {
            float *p = tsr_points_positions(host) + 3 * i;
            p[0] = kind ? 5 : (float)(i % 20);
            p[1] = kind ? 5 : (float)(i / 20);
            p[2] = 7;
        }
        require_ok(tsr_points_copy(host, context, &points));
        tsr_status status = tsr_reconstruct(context, points, &o, &tiles, &report);
        assert_true(report.flat);
        assert_true(status == TSR_OK || status == TSR_ERROR_STATE);
        if (status == TSR_ERROR_STATE) assert_non_null(strstr(tsr_error_message(), "vanished"));
        tsr_tiles_destroy(&tiles);
        tsr_points_destroy(&points);
        tsr_points_destroy(&host);
    }
    tsr_context_destroy(&context);
}

/* The error of a list is the mean of |phi| by trilinear interpolation, computed here from a dense copy. */
static void test_error_measure(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    cloud.count = 1500;
    cloud.outliers = 0.05; /* some lie outside the band */
    o.min_neighbours = -1;
    o.depth = o.start_depth = 5;
    o.max_steps = 40;
    tsr_points *points = make(context, "points-sphere", &cloud), *host;
    result r = reconstruct(context, NULL, points, &o);
    tsr_volume *field, *dense;
    const tsr_geometry *g = tsr_tiles_geometry(r.tiles);
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 32, 32, 32 }, g, &field));
    require_ok(tsr_tiles_store(r.tiles, field));
    require_ok(tsr_volume_copy(field, NULL, &dense));
    require_ok(tsr_points_copy(points, NULL, &host));
    const float *f = (const float *)tsr_volume_data_const(dense);
    const double h = g->affine[0][0], band = 1.5 * h;
    double sum = 0;
    int64_t outside = 0, n = tsr_points_count(host);
    for (int64_t i = 0; i < n; i++) {
        int low[3];
        double t[3], v = 0;
        for (int k = 0; k < 3; k++) {
            double x = ((double)tsr_points_positions(host)[3 * i + k] - g->affine[k][3]) / h;
            x = fmin(fmax(x, 0), 31);
            low[k] = (int)fmin(floor(x), 30);
            t[k] = x - low[k];
        }
        for (int c = 0; c < 8; c++)
            v += (double)f[((low[2] + (c >> 2)) * 32 + low[1] + (c >> 1 & 1)) * 32 + low[0] + (c & 1)] * (c & 1 ? t[0] : 1 - t[0]) *
                 (c & 2 ? t[1] : 1 - t[1]) * (c & 4 ? t[2] : 1 - t[2]);
        sum += fabs(v);
        outside += fabs(v) >= band * 0.99999;
    }
    const tsr_reconstruct_level *l = &r.report.level[0];
    assert_true(outside > 10);
    assert_true(llabs(l->outside - outside) <= 1);
    assert_true(fabs(l->error / (sum / (double)n) - 1) < 1e-5);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&dense);
    tsr_points_destroy(&host);
    tsr_points_destroy(&points);
    done(&r);
    tsr_context_destroy(&context);
}

/* Of a dense cloud, and of one whose points are voxels apart. */
static void test_estimate(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int sparse = 0; sparse < 2; sparse++) {
        tsr_points_options cloud = TSR_POINTS_OPTIONS;
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        tsr_reconstruct_plan plan = TSR_RECONSTRUCT_PLAN;
        cloud.count = sparse ? 100 : small(context) ? 4000 : 60000;
        o.depth = small(context) ? 5 : 7;
        o.start_depth = small(context) ? 4 : 6;
        tsr_points *points = make(context, "points-sphere", &cloud);
        require_ok(tsr_reconstruct_estimate(context, points, &o, &plan));
        assert_int_equal(plan.levels, 2);
        assert_int_equal(plan.points, cloud.count);
        assert_int_equal(plan.lone, 0);
        assert_true(plan.seconds > 0);
        tsr_context_reset_peak(context);
        const int64_t before = tsr_context_memory(context)->current_bytes;
        result r = reconstruct(context, "points-sphere", points, &o);
        const int64_t peak = tsr_context_memory(context)->peak_bytes - before;
        for (int i = 0; i < 2; i++) {
            print_message("level %d: %lld tiles, estimated %lld\n", plan.level[i].level, (long long)r.report.level[i].tiles,
                          (long long)plan.level[i].tiles);
            assert_true(plan.level[i].tiles > 0.6 * (double)r.report.level[i].tiles && plan.level[i].tiles < 1.7 * (double)r.report.level[i].tiles);
        }
        print_message("peak %.1f MB, estimated %.1f MB\n", 1e-6 * (double)peak, 1e-6 * (double)plan.peak_bytes);
        assert_true(plan.peak_bytes > 0.4 * (double)peak && plan.peak_bytes < 3.0 * (double)peak);
        done(&r);
        tsr_points_destroy(&points);
    }
    tsr_context_destroy(&context);
}

/* Particles: one ball, two apart, two that touch; volumes; smoothing shrinks bumps, conserving keeps the volume. */
static void test_particles(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_points *host, *points;
    tsr_particles_options o = TSR_PARTICLES_OPTIONS;
    tsr_tiles *tiles;
    tsr_mesh *device, *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_points_create(NULL, 3, TSR_POINTS_RADII, &host));
    static const float at[9] = { 0, 0, 0, 5, 0, 0, 6, 0, 0 }, radii[3] = { 1, 1.25f, 1 };
    memcpy(tsr_points_positions(host), at, sizeof at);
    memcpy(tsr_points_radii(host), radii, sizeof radii);
    /* four points at least: one twice */
    tsr_points *four;
    require_ok(tsr_points_create(NULL, 4, TSR_POINTS_RADII, &four));
    memcpy(tsr_points_positions(four), at, sizeof at);
    memcpy(tsr_points_positions(four) + 9, at, 12);
    memcpy(tsr_points_radii(four), radii, sizeof radii);
    tsr_points_radii(four)[3] = 1;
    require_ok(tsr_points_copy(four, context, &points));
    o.voxel = small(context) ? 0.25 : 0.1;
    o.smooth = -1;
    require_ok(tsr_particles_surface(context, points, &o, &tiles));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_int_equal(m.components, 2);
    assert_int_equal(m.euler, 4);
    assert_int_equal(m.boundary_edges, 0);
    /* a ball of radius 1, and two of 1.25 and 1 whose centres are 1 apart: lens = pi (R + r - d)^2 (d^2 + 2 d (r + R) - 3 (r - R)^2) / 12 d */
    const double pi = 3.14159265358979, lens = pi * pow(1.25, 2) * (1 + 2 * 2.25 - 3 * 0.0625) / 12;
    const double exact = 4 / 3.0 * pi * (1 + 1 + pow(1.25, 3)) - lens;
    print_message("volume %.4f, exact %.4f\n", m.volume, exact);
    assert_true(fabs(m.volume / exact - 1) < (small(context) ? 0.03 : 0.006));
    tsr_mesh_destroy(&device);
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    if (!small(context)) {
        for (int conserve = 0; conserve < 2; conserve++) {
            tsr_mesh_measures s = TSR_MESH_MEASURES;
            o.smooth = 0.1;
            o.conserve = conserve;
            require_ok(tsr_particles_surface(context, points, &o, &tiles));
            require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &device, NULL));
            require_ok(tsr_mesh_copy(device, NULL, &mesh));
            require_ok(tsr_mesh_measure(mesh, &s));
            print_message("smoothed%s: volume %.4f, area %.4f (%.4f before)\n", conserve ? ", conserving" : "", s.volume, s.area, m.area);
            assert_true(s.area < m.area);
            assert_true(conserve ? fabs(s.volume / m.volume - 1) < 0.03 : s.volume < 0.95 * m.volume);
            tsr_mesh_destroy(&device);
            tsr_mesh_destroy(&mesh);
            tsr_tiles_destroy(&tiles);
        }
    }
    o.voxel = 3;
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_ARGUMENT,
                  "voxel is 3, expected at most 1.5 of the smallest radius 1");
    o.voxel = 3e-6; /* 22 levels, two more than it takes */
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_ARGUMENT, "give a larger voxel");
    o.voxel = 1e-7;
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_ARGUMENT, "give a larger voxel");
    tsr_points_destroy(&points);
    tsr_points_radii(four)[1] = -1;
    require_ok(tsr_points_copy(four, context, &points));
    o.voxel = 0;
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_ARGUMENT, "radii from -1 to 1");
    tsr_points_destroy(&points);
    tsr_points_destroy(&four);
    tsr_points_destroy(&host);
    tsr_context_destroy(&context);
}

static tsr_mesh *particles_mesh(tsr_context *context, const float *at, int64_t count, const tsr_particles_options *o, double *volume)
{
    tsr_points *host, *points;
    tsr_tiles *tiles;
    tsr_mesh *device, *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_points_create(NULL, count, 0, &host));
    memcpy(tsr_points_positions(host), at, (size_t)count * 3 * sizeof *at);
    require_ok(tsr_points_copy(host, context, &points));
    require_ok(tsr_particles_surface(context, points, o, &tiles));
    require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    if (volume) *volume = m.volume;
    tsr_mesh_destroy(&device);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    return mesh;
}

/* Four balls apart keep their volume; without conserving each is a sphere under curvature flow, R^2 = R0^2 - 4 t. */
static void test_particles_volume(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const float at[12] = { 0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 0, 10 };
    for (double voxel = 1; voxel > 0.2; voxel /= 2) {
        double before, after, flowed;
        tsr_particles_options o = { .struct_size = sizeof o, .radius = 2, .voxel = voxel, .smooth = -1 };
        if (small(context) && voxel < 0.5) break;
        tsr_mesh *mesh = particles_mesh(context, at, 4, &o, &before);
        tsr_mesh_destroy(&mesh);
        o.smooth = 0.1;
        mesh = particles_mesh(context, at, 4, &o, &flowed);
        tsr_mesh_destroy(&mesh);
        o.smooth = 0;
        o.conserve = 1;
        mesh = particles_mesh(context, at, 4, &o, &after);
        tsr_mesh_destroy(&mesh);
        print_message("voxel %g: volume %.4f of the one before, %.4f when it flows freely\n", voxel, after / before, flowed / before);
        assert_true(fabs(after / before - 1) < 0.01);
        if (voxel < 0.3) assert_true(fabs(flowed / before / pow(1 - 4 * 0.1, 1.5) - 1) < 0.02);
    }
    tsr_particles_options o = { .struct_size = sizeof o, .radius = 300, .voxel = 2, .memory_limit = 1000000 };
    tsr_points *host, *points;
    tsr_tiles *tiles = NULL;
    require_ok(tsr_points_create(NULL, 4, 0, &host));
    memcpy(tsr_points_positions(host), at, sizeof at);
    require_ok(tsr_points_copy(host, context, &points));
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_CAPACITY, "the memory_limit is 1000000");
    assert_null(tiles);
    o.memory_limit = 0;
    o.radius = 30000; /* (2 reach + 1)^3 times the points leaves 32 bits by far */
    o.voxel = 0.25;
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_CAPACITY, "need a larger voxel");
    o.smooth = -1;
    o.conserve = 1;
    require_error(tsr_particles_surface(context, points, &o, &tiles), TSR_ERROR_ARGUMENT, "conserve without smoothing");
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    tsr_context_destroy(&context);
}

/* A heap in metres, millimetres and kilometres: the same mesh. */
static void test_particles_units(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    enum { EDGE = 4, COUNT = EDGE * EDGE * EDGE };
    static const double units[3] = { 1, 1e-3, 1e3 };
    tsr_mesh *first = NULL;
    for (int u = 0; u < 3; u++) {
        float at[3 * COUNT];
        tsr_particles_options o = { .struct_size = sizeof o, .radius = 0.8 * units[u] };
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < 3; k++) {
                const int place = k == 0 ? i % EDGE : k == 1 ? i / EDGE % EDGE : i / EDGE / EDGE;
                at[3 * i + k] = (float)(place * units[u]);
            }
        tsr_mesh *mesh = particles_mesh(context, at, COUNT, &o, NULL);
        if (u == 0) {
            first = mesh;
            continue;
        }
        assert_int_equal(tsr_mesh_triangle_count(mesh), tsr_mesh_triangle_count(first));
        assert_int_equal(tsr_mesh_vertex_count(mesh), tsr_mesh_vertex_count(first));
        const float *a = tsr_mesh_vertices(first), *b = tsr_mesh_vertices(mesh);
        double most = 0;
        for (int64_t i = 0; i < 3 * tsr_mesh_vertex_count(first); i++) most = fmax(most, fabs((double)b[i] / units[u] - (double)a[i]));
        print_message("unit %g: vertices differ by %.2e\n", units[u], most);
        assert_true(most < 1e-5 * EDGE);
        tsr_mesh_destroy(&mesh);
    }
    tsr_mesh_destroy(&first);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes),         cmocka_unit_test(test_levels),
                                        cmocka_unit_test(test_placements),     cmocka_unit_test(test_noise),
                                        cmocka_unit_test(test_bad_input),      cmocka_unit_test(test_progress), cmocka_unit_test(test_degenerate),
                                        cmocka_unit_test(test_error_measure),  cmocka_unit_test(test_estimate),
                                        cmocka_unit_test(test_particles),      cmocka_unit_test(test_particles_volume),
                                        cmocka_unit_test(test_particles_units) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
