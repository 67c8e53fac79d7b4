/* Stream lines, path lines and streak lines against closed forms; tubes by their topology; files by reading them again. */
#include "fields.h"

#include <unistd.h>

#define PI 3.14159265358979323846

/* Rotation about the z axis of the world, samples one unit apart. */
static tsr_vector_field *rotation(tsr_context *context, int64_t n, double *rise)
{
    const double middle = 0.5 * (double)(n - 1);
    return field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ -middle, -middle, -middle }, TSR_F32, helix_rule, rise);
}

static float *points_of(const tsr_streamlines *lines)
{
    float *p = malloc((size_t)(tsr_streamlines_point_count(lines) + 1) * 12);
    assert_non_null(p);
    require_ok(tsr_streamlines_download(lines, p, NULL));
    return p;
}
static double distance(const float *a, double x, double y, double z)
{
    const double d[3] = { (double)a[0] - x, (double)a[1] - y, (double)a[2] - z };
    return norm3(d);
}

/* The end after a time on a helix: the error falls with the order of the method. */
static void orders(void **unused)
{
    static const struct {
        tsr_stream_method method;
        double order;
        const char *name;
    } cases[] = { { TSR_STREAM_EULER, 1, "Euler" }, { TSR_STREAM_RK2, 2, "midpoint" }, { TSR_STREAM_RK4, 4, "RK4" } };
    double rise = 0.5;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 21, &rise);
    (void)unused;
    for (int k = 0; k < 3; k++) {
        double error[2];
        for (int half = 0; half < 2; half++) {
            tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
            tsr_streamlines *lines;
            const double seed[3] = { 6, 0, -2 }, time = 4;
            o.method = cases[k].method;
            o.parameter = TSR_STREAM_TIME;
            o.direction = TSR_STREAM_FORWARD;
            o.step = (k == 0 ? 0.01 : k == 1 ? 0.1 : 0.5) / (half + 1);
            o.max_length = time;
            o.max_steps = 10000;
            require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
            assert_int_equal(tsr_streamlines_ends(lines)[1], TSR_STREAM_LENGTH);
            assert_int_equal(tsr_streamlines_ends(lines)[0], TSR_STREAM_NOT_TRACED);
            float *p = points_of(lines);
            error[half] = distance(p + 3 * (tsr_streamlines_point_count(lines) - 1), 6 * cos(time), 6 * sin(time), -2 + rise * time);
            free(p);
            tsr_streamlines_destroy(&lines);
        }
        const double order = log2(error[0] / error[1]);
        print_message("%s: errors %.3g and %.3g, order %.2f\n", cases[k].name, error[0], error[1], order);
        assert_true(fabs(order - cases[k].order) < 0.35);
    }
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* A circle of radius 8 returns after one turn; forward from the end of the backward half returns to the seed. */
static void closes(void **unused)
{
    double rise = 0;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 21, &rise);
    tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines, *back;
    const double seed[3] = { 8, 0, 0.25 };
    (void)unused;
    o.direction = TSR_STREAM_FORWARD;
    o.max_length = 2 * PI * 8;
    require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
    float *p = points_of(lines);
    const double gap = distance(p + 3 * (tsr_streamlines_point_count(lines) - 1), 8, 0, 0.25);
    print_message("gap after a turn %.3g cells\n", gap);
    assert_true(gap < 1e-4);
    free(p);
    tsr_streamlines_destroy(&lines);
    tsr_field_destroy(&field);

    field = abc_field(context, test_is_slow() ? 10 : 32);
    const double from[3] = { 3, 2.5, 3.5 };
    o.direction = TSR_STREAM_BACKWARD;
    o.max_length = 1.5;
    o.step = 0.1;
    require_ok(tsr_streamlines_trace(field, from, 1, &o, &back));
    p = points_of(back);
    const double far[3] = { (double)p[0], (double)p[1], (double)p[2] }; /* the far end comes first */
    free(p);
    assert_int_equal(tsr_streamlines_ends(back)[0], TSR_STREAM_LENGTH);
    o.direction = TSR_STREAM_FORWARD;
    require_ok(tsr_streamlines_trace(field, far, 1, &o, &lines));
    p = points_of(lines);
    const double cell = 2 * PI / (test_is_slow() ? 9 : 31), off = distance(p + 3 * (tsr_streamlines_point_count(lines) - 1), from[0], from[1], from[2]) / cell;
    print_message("back at the seed to %.3g cells\n", off);
    assert_true(off < 1e-3);
    free(p);
    tsr_streamlines_destroy(&lines);
    tsr_streamlines_destroy(&back);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* Dormand-Prince keeps to its tolerance, with fewer steps where it is looser; the three parameters give the same curve. */
static void adaptive(void **unused)
{
    double rise = 1;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 21, &rise);
    int64_t steps[2];
    (void)unused;
    for (int k = 0; k < 2; k++) {
        tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
        tsr_streamlines *lines;
        const double seed[3] = { 5, 0, -6 }, turns = 2, length = turns * 2 * PI * sqrt(26.0);
        o.method = TSR_STREAM_DORMAND_PRINCE;
        o.tolerance = k ? 1e-3 : 1e-5;
        o.direction = TSR_STREAM_FORWARD;
        o.max_length = length;
        o.max_steps = 5000;
        o.max_step = 20;
        require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
        steps[k] = tsr_streamlines_point_count(lines);
        float *p = points_of(lines);
        const double off = distance(p + 3 * (steps[k] - 1), 5, 0, -6 + turns * 2 * PI);
        print_message("tolerance %g: %lld points, off by %.3g cells\n", o.tolerance, (long long)steps[k], off);
        assert_true(off < 100 * o.tolerance);
        free(p);
        tsr_streamlines_destroy(&lines);
    }
    assert_true(steps[1] < steps[0] && steps[0] < 200);
    double ends[3][3];
    for (int k = 0; k < 3; k++) {
        tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
        tsr_streamlines *lines;
        const double seed[3] = { 5, 0, -6 };
        o.parameter = (tsr_stream_parameter)k;
        o.direction = TSR_STREAM_FORWARD;
        o.max_length = k == TSR_STREAM_TIME ? 3 : 3 * sqrt(26.0);
        o.step = k == TSR_STREAM_TIME ? 0.05 : 0.25;
        require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
        float *p = points_of(lines);
        for (int i = 0; i < 3; i++) ends[k][i] = (double)p[3 * (tsr_streamlines_point_count(lines) - 1) + i];
        free(p);
        tsr_streamlines_destroy(&lines);
        assert_true(fabs(ends[k][0] - 5 * cos(3)) < 0.05 && fabs(ends[k][2] - (-6 + 3)) < 0.05);
    }
    assert_true(fabs(ends[0][0] - ends[2][0]) < 1e-3);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* Why lines end, and where. */
static void ends(void **unused)
{
    double saddle[9] = { 1, 0, 0, 0, -1, 0, 0, 0, 0 };
    tsr_context *context = test_context();
    tsr_vector_field *field = field_of(context, (tsr_size3){ 11, 11, 5 }, (tsr_vec3){ 0.2, 0.2, 0.5 }, (tsr_vec3){ -1, -1, -1 }, TSR_F64, linear_rule, saddle);
    tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines;
    const double seeds[] = { 0.3, 0.01, 0, 0, 0.5, 0, 0, 0, 0, 2, 0, 0, 0.3, 0.3, 0 };
    (void)unused;
    o.max_steps = 1000;
    o.step = 0.05;
    require_ok(tsr_streamlines_trace(field, seeds, 5, &o, &lines));
    const uint8_t *e = tsr_streamlines_ends(lines);
    const int64_t *at = tsr_streamlines_offsets(lines);
    float *p = points_of(lines);
    assert_int_equal(e[1], TSR_STREAM_BORDER); /* along x to the right side */
    assert_true(fabs((double)p[3 * (at[1] - 1)] - 1) < 1e-6);
    for (int64_t k = at[0] + 1; k < at[1] - 1; k++) assert_true(fabs((double)p[3 * k] * (double)p[3 * k + 1] - 0.003) < 2e-5); /* x y stays */
    assert_int_equal(e[2], TSR_STREAM_BORDER);
    assert_true(e[3] == TSR_STREAM_STAGNANT || e[3] == TSR_STREAM_STEPS); /* into the critical point */
    assert_true(e[4] == TSR_STREAM_STAGNANT && e[5] == TSR_STREAM_STAGNANT && at[3] - at[2] == 1);
    assert_true(e[6] == TSR_STREAM_OUTSIDE && e[7] == TSR_STREAM_OUTSIDE && at[4] - at[3] == 1);
    free(p);
    tsr_streamlines_destroy(&lines);
    o.max_steps = 3;
    require_ok(tsr_streamlines_trace(field, seeds + 12, 1, &o, &lines));
    assert_true(tsr_streamlines_ends(lines)[0] == TSR_STREAM_STEPS && tsr_streamlines_point_count(lines) == 7);
    assert_string_equal(tsr_stream_end_name(TSR_STREAM_STEPS), "steps");
    tsr_streamlines_destroy(&lines);
    require_ok(tsr_streamlines_trace(field, seeds, 0, &o, &lines)); /* no seeds, no lines */
    assert_int_equal(tsr_streamlines_point_count(lines), 0);
    tsr_mesh *none;
    require_ok(tsr_streamlines_tubes(lines, field, NULL, &none));
    assert_int_equal(tsr_mesh_triangle_count(none), 0);
    tsr_mesh_destroy(&none);
    tsr_streamlines_destroy(&lines);
    o = (tsr_streamline_options)TSR_STREAMLINE_OPTIONS;
    o.method = TSR_STREAM_DORMAND_PRINCE;
    o.tolerance = 1e-9; /* below what float32 can do */
    o.step = 2;
    o.min_step = 1.9;
    require_ok(tsr_streamlines_trace(field, seeds + 12, 1, &o, &lines));
    assert_int_equal(tsr_streamlines_ends(lines)[1], TSR_STREAM_STIFF);
    tsr_streamlines_destroy(&lines);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* Stages of a step that leaves may lie beyond either side: there the border's values count, not those of another row. */
static void bent_rule(void *user, const double p[3], double v[3])
{
    v[0] = *(const double *)user;
    v[1] = 0.3 * (p[0] - 4);
    v[2] = 0;
}
static void leaves(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    for (int way = -1; way <= 1; way += 2) {
        double speed = way, y[2];
        tsr_vector_field *field = field_of(context, (tsr_size3){ 9, 9, 3 }, (tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_F32, bent_rule, &speed);
        for (int k = 0; k < 2; k++) {
            tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
            tsr_streamlines *lines;
            const double seed[3] = { 4, 4, 1 };
            o.direction = TSR_STREAM_FORWARD;
            o.step = k ? 0.02 : 0.9;
            o.max_steps = 2000;
            require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
            assert_int_equal(tsr_streamlines_ends(lines)[1], TSR_STREAM_BORDER);
            float *p = points_of(lines);
            const int64_t last = tsr_streamlines_point_count(lines) - 1;
            assert_true((double)p[3 * last] == (way < 0 ? 0 : 8));
            y[k] = (double)p[3 * last + 1];
            free(p);
            tsr_streamlines_destroy(&lines);
        }
        print_message("leaves at y = %.4f and %.4f\n", y[0], y[1]);
        assert_true(fabs(y[0] - y[1]) < 0.02);
        tsr_field_destroy(&field);
    }
    tsr_context_destroy(&context);
}

static void attributes(void **unused)
{
    double rise = 0.75;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 17, &rise);
    tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines;
    const double seed[3] = { 4, 0, 0 };
    (void)unused;
    o.max_length = 5;
    require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
    const int64_t n = tsr_streamlines_point_count(lines);
    float *values[TSR_STREAM_ATTRIBUTES];
    for (int k = 0; k < TSR_STREAM_ATTRIBUTES; k++) {
        tsr_stream_attribute parsed;
        values[k] = malloc((size_t)n * 4);
        require_ok(tsr_stream_attribute_parse(tsr_stream_attribute_name((tsr_stream_attribute)k), &parsed));
        assert_int_equal(parsed, k);
        require_ok(tsr_streamlines_values(lines, field, parsed, values[k]));
    }
    double length;
    require_ok(tsr_streamlines_length(lines, &length));
    assert_true(fabs(length - 10) < 0.02);
    for (int64_t k = 0; k < n; k++) {
        assert_true(fabs((double)values[TSR_STREAM_AT_SPEED][k] - sqrt(16 + rise * rise)) < 0.01);
        assert_true(fabs((double)values[TSR_STREAM_AT_VORTICITY][k] - 2) < 1e-4);
        assert_true(fabs((double)values[TSR_STREAM_AT_CURVATURE][k] - 4 / (16 + rise * rise)) < 0.01);
        assert_true(fabs((double)values[TSR_STREAM_AT_LENGTH][k] - (double)values[TSR_STREAM_AT_PARAMETER][k]) < 0.01);
    }
    assert_true(fabs((double)values[TSR_STREAM_AT_PARAMETER][0] + 5) < 1e-4 && fabs((double)values[TSR_STREAM_AT_LENGTH][n - 1] - 5) < 0.01);
    for (int k = 0; k < TSR_STREAM_ATTRIBUTES; k++) free(values[k]);
    tsr_streamlines_destroy(&lines);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* ---- tubes ------------------------------------------------------------------------------------------------------------------------------ */

static void tubes(void **unused)
{
    double rise = 0.5;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 21, &rise);
    tsr_streamline_options trace = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines;
    const double seeds[] = { 6, 0, -3, -4, 2, 0, 30, 0, 0 }; /* the last lies outside: a line of one point */
    (void)unused;
    trace.max_length = 8;
    require_ok(tsr_streamlines_trace(field, seeds, 3, &trace, &lines));
    const int64_t points = tsr_streamlines_point_count(lines) - 1, segments = points - 2;
    for (int caps = 0; caps < 2; caps++)
        for (int32_t sides = 3; sides < 20; sides += 8) {
            tsr_tube_options o = TSR_TUBE_OPTIONS;
            tsr_mesh *mesh, *host;
            tsr_mesh_measures m = TSR_MESH_MEASURES;
            o.radius = 0.4;
            o.sides = sides;
            o.caps = caps;
            require_ok(tsr_streamlines_tubes(lines, field, &o, &mesh));
            require_ok(tsr_mesh_copy(mesh, NULL, &host));
            assert_int_equal(tsr_mesh_vertex_count(host), points * sides);
            assert_int_equal(tsr_mesh_triangle_count(host), 2 * sides * segments + (caps ? 2 * 2 * (sides - 2) : 0));
            require_ok(tsr_mesh_measure(host, &m));
            assert_int_equal(m.components, 2);
            assert_int_equal(m.misoriented_edges, 0);
            assert_int_equal(m.nonmanifold_edges, 0);
            assert_int_equal(m.boundary_edges, caps ? 0 : 4 * sides);
            assert_int_equal(m.euler, caps ? 4 : 0);
            const double area = 0.5 * sides * 0.4 * 0.4 * sin(2 * PI / sides);
            if (caps) assert_true(m.volume > 0.97 * area * 32 && m.volume < 1.01 * area * 32); /* outwards, of the right width */
            const float *v = tsr_mesh_vertices_const(host), *normal = tsr_mesh_normals_const(host);
            for (int64_t k = 0; k < points * sides; k++) { /* normals are radii, of length 1, across the line */
                const double x = (double)v[3 * k] - 0.4 * (double)normal[3 * k], y = (double)v[3 * k + 1] - 0.4 * (double)normal[3 * k + 1];
                const double t[3] = { -y, x, rise }, n[3] = { (double)normal[3 * k], (double)normal[3 * k + 1], (double)normal[3 * k + 2] };
                assert_true(fabs(norm3(n) - 1) < 1e-5 && fabs(dot3(n, t)) / norm3(t) < 1e-4);
            }
            tsr_mesh_destroy(&host);
            tsr_mesh_destroy(&mesh);
        }
    tsr_streamlines_destroy(&lines);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* On a plane circle a frame without twist keeps its direction across the plane; on a helix it turns by the total torsion. */
static void no_twist(void **unused)
{
    enum { POINTS = 400 };
    tsr_context *context = test_context();
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const double c = k ? 0.5 : 0, turn = 2 * PI;
        float p[POINTS][3];
        const int64_t offsets[2] = { 0, POINTS };
        tsr_streamlines *line;
        tsr_tube_options o = TSR_TUBE_OPTIONS;
        tsr_mesh *mesh, *host;
        for (int i = 0; i < POINTS; i++) {
            const double a = turn * i / (POINTS - 1);
            p[i][0] = (float)cos(a), p[i][1] = (float)sin(a), p[i][2] = (float)(c * a);
        }
        o.radius = 0.1;
        o.sides = 4;
        require_ok(tsr_streamlines_create(context, &p[0][0], offsets, 1, &line));
        require_ok(tsr_streamlines_tubes(line, NULL, &o, &mesh));
        require_ok(tsr_mesh_copy(mesh, NULL, &host));
        const float *n = tsr_mesh_normals_const(host), *last = n + 3 * 4 * (POINTS - 1);
        /* the angle of the first direction about the tangent, against normal (inwards) and binormal of the curve, at both ends */
        double angle[2];
        for (int end = 0; end < 2; end++) {
            const float *own = end ? last : n;
            const double a = end ? turn : 0, inward[3] = { -cos(a), -sin(a), 0 }, t[3] = { -sin(a), cos(a), c }, d[3] = { (double)own[0], (double)own[1], (double)own[2] };
            double b[3];
            cross(t, inward, b);
            angle[end] = atan2(dot3(d, b) / norm3(b), dot3(d, inward));
        }
        const double torsion = c / (1 + c * c), length = turn * sqrt(1 + c * c), expected = -torsion * length, turned = angle[1] - angle[0];
        double off = fmod(turned - expected, 2 * PI);
        if (off > PI) off -= 2 * PI;
        if (off < -PI) off += 2 * PI;
        print_message("twist against the curve's own frame: off by %.3g\n", off);
        assert_true(fabs(off) < 0.02);
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&mesh);
        tsr_streamlines_destroy(&line);
    }
    tsr_context_destroy(&context);
}

/* ---- series ----------------------------------------------------------------------------------------------------------------------------- */

typedef struct wind { double speed[3]; } wind;
static void wind_rule(void *user, const double p[3], double v[3])
{
    (void)p;
    memcpy(v, ((const wind *)user)->speed, sizeof(double[3]));
}

/* v = (t, 1, 0): a particle that starts at time s is at x = ((t^2 - s^2) / 2, t - s) later. */
static void moving(void **unused)
{
    enum { FRAMES = 5 };
    tsr_context *context = test_context();
    tsr_vector_field *fields[FRAMES];
    double times[FRAMES];
    (void)unused;
    for (int k = 0; k < FRAMES; k++) {
        wind w = { { 0.5 * k, 1, 0 } };
        times[k] = 0.5 * k;
        fields[k] = field_of(context, (tsr_size3){ 12, 12, 3 }, (tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_F32, wind_rule, &w);
    }
    const tsr_field_series series = { (const tsr_vector_field *const *)fields, times, FRAMES };
    tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines;
    const double seeds[] = { 1, 2, 1, 3, 1, 1.5 };
    o.step = 0.1;
    require_ok(tsr_streamlines_paths(&series, 0, seeds, 2, &o, &lines));
    float *p = points_of(lines), *time = malloc((size_t)tsr_streamlines_point_count(lines) * 4);
    require_ok(tsr_streamlines_download(lines, NULL, time));
    for (int64_t line = 0; line < 2; line++)
        for (int64_t k = tsr_streamlines_offsets(lines)[line]; k < tsr_streamlines_offsets(lines)[line + 1]; k++) {
            const double t = (double)time[k];
            assert_true(distance(p + 3 * k, seeds[3 * line] + t * t / 2, seeds[3 * line + 1] + t, seeds[3 * line + 2]) < 1e-4);
        }
    assert_true(fabs((double)time[tsr_streamlines_point_count(lines) - 1] - 2) < 1e-5);
    free(time);
    free(p);
    tsr_streamlines_destroy(&lines);
    require_ok(tsr_streamlines_streaks(&series, 0, 2, 21, seeds, 2, &o, &lines));
    p = points_of(lines);
    assert_int_equal(tsr_streamlines_point_count(lines), 42);
    for (int64_t k = 0; k < 42; k++) {
        const double s = 0.1 * (double)(k % 21);
        const double *seed = seeds + 3 * (k / 21);
        assert_true(distance(p + 3 * k, seed[0] + (4 - s * s) / 2, seed[1] + 2 - s, seed[2]) < 1e-4);
    }
    free(p);
    tsr_streamlines_destroy(&lines);
    o.direction = TSR_STREAM_BACKWARD;
    const double later[3] = { 8, 8, 1 };
    require_ok(tsr_streamlines_paths(&series, 2, later, 1, &o, &lines));
    p = points_of(lines);
    assert_true(distance(p, 8 - 2, 8 - 2, 1) < 1e-4); /* the far end comes first */
    free(p);
    tsr_streamlines_destroy(&lines);
    require_error(tsr_streamlines_paths(&series, 3, later, 1, NULL, &lines), TSR_ERROR_ARGUMENT, "time of the series");
    times[2] = 0;
    require_error(tsr_streamlines_paths(&series, 0, later, 1, NULL, &lines), TSR_ERROR_ARGUMENT, "ascending");
    for (int k = 0; k < FRAMES; k++) tsr_field_destroy(&fields[k]);
    tsr_context_destroy(&context);
}

/* v = (x, -y, 0) stretches by e^t: the exponent is 1, forward and backward; nothing stretches in a rotation. */
static void ftle(void **unused)
{
    double saddle[9] = { 1, 0, 0, 0, -1, 0, 0, 0, 0 }, none = 0;
    tsr_context *context = test_context();
    const int64_t n = test_is_slow() ? 9 : 17;
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const double h = 2.0 / (double)(n - 1);
        tsr_vector_field *field = field_of(context, (tsr_size3){ n, n, 3 }, (tsr_vec3){ h, h, h }, (tsr_vec3){ -1, -1, -h }, TSR_F64, k ? helix_rule : linear_rule,
                                           k ? &none : saddle);
        const tsr_field_series series = { (const tsr_vector_field *const *)&field, NULL, 1 };
        for (int way = -1; way <= 1; way += 2) {
            tsr_ftle_options o = TSR_FTLE_OPTIONS;
            tsr_volume *volume;
            o.duration = 0.5 * way;
            o.step = 0.05;
            require_ok(tsr_field_ftle(&series, &o, &volume));
            float *v = host_copy(volume);
            for (int64_t i = 0; i < n * n * 3; i++) {
                const double x = -1 + h * (double)(i % n), y = -1 + h * (double)(i / n % n);
                if (fabs(x) > 0.4 || fabs(y) > 0.4) continue; /* others leave */
                assert_true(fabs((double)v[i] - (k ? 0 : 1)) < 1e-3);
            }
            free(v);
            tsr_volume_destroy(&volume);
        }
        tsr_ftle_options o = TSR_FTLE_OPTIONS;
        tsr_volume *volume;
        require_error(tsr_field_ftle(&series, &o, &volume), TSR_ERROR_ARGUMENT, "duration");
        tsr_field_destroy(&field);
    }
    tsr_context_destroy(&context);
}

/* ---- seeds, files, errors --------------------------------------------------------------------------------------------------------------- */

static void seeding(void **unused)
{
    double rise = 0;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 11, &rise); /* -5 .. 5 */
    tsr_seed_options o = TSR_SEED_OPTIONS;
    double *seeds, *again;
    int64_t count;
    (void)unused;
    o.every = 5;
    require_ok(tsr_seeds_make(field, &o, &seeds, &count));
    assert_true(count == 27 && seeds[0] == -5 && seeds[3 * 26] == 5 && seeds[3] == 0);
    tsr_seeds_destroy(&seeds);
    o.kind = TSR_SEED_LINE;
    o.count = 5;
    o.point[0] = (tsr_vec3){ 0, 1, 2 };
    o.point[1] = (tsr_vec3){ 4, 1, 0 };
    require_ok(tsr_seeds_make(field, &o, &seeds, &count));
    assert_true(count == 5 && seeds[3] == 1 && seeds[5] == 1.5 && seeds[12] == 4);
    tsr_seeds_destroy(&seeds);
    o.kind = TSR_SEED_PLANE;
    o.point[2] = (tsr_vec3){ 0, 3, 2 };
    o.resolution[0] = 3;
    o.resolution[1] = 2;
    require_ok(tsr_seeds_make(field, &o, &seeds, &count));
    assert_true(count == 6 && seeds[3 * 5] == 4 && seeds[3 * 5 + 1] == 3 && seeds[3 * 5 + 2] == 0);
    tsr_seeds_destroy(&seeds);
    o.kind = TSR_SEED_SPHERE;
    o.count = 200;
    require_error(tsr_seeds_make(field, &o, &seeds, &count), TSR_ERROR_ARGUMENT, "radius");
    o.radius = 2;
    for (int ball = 0; ball < 2; ball++) {
        double middle[3] = { 0, 0, 0 };
        o.kind = ball ? TSR_SEED_BALL : TSR_SEED_SPHERE;
        require_ok(tsr_seeds_make(field, &o, &seeds, &count));
        for (int64_t k = 0; k < 200; k++) {
            const double d[3] = { seeds[3 * k], seeds[3 * k + 1] - 1, seeds[3 * k + 2] - 2 };
            assert_true(ball ? norm3(d) <= 2 : fabs(norm3(d) - 2) < 1e-9);
            for (int i = 0; i < 3; i++) middle[i] += d[i] / 200;
        }
        assert_true(norm3(middle) < (ball ? 0.4 : 0.05));
        tsr_seeds_destroy(&seeds);
    }
    o.kind = TSR_SEED_RANDOM;
    o.seed = 7;
    require_ok(tsr_seeds_make(field, &o, &seeds, &count));
    require_ok(tsr_seeds_make(field, &o, &again, &count));
    assert_memory_equal(seeds, again, (size_t)count * 24);
    for (int64_t k = 0; k < 3 * count; k++) assert_true(seeds[k] >= -5 && seeds[k] <= 5);
    tsr_seeds_destroy(&again);
    tsr_seeds_destroy(&seeds);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static void files(void **unused)
{
    static const float p[7][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0.5f }, { 9, 9, 9 }, { 2, 2, 2 }, { 3, 2, 2 }, { 3, 3, 2 } };
    static const int64_t offsets[] = { 0, 3, 4, 7 };
    static const float values[7] = { 0.5f, 1, 2, 3, 4, 5, 6 };
    const char *names[] = { "my speed" };
    const float *arrays[] = { values };
    char path[128];
    size_t size;
    tsr_context *context = test_context_on("cpu", 1);
    tsr_streamlines *lines;
    tsr_write_options w = TSR_WRITE_OPTIONS;
    (void)unused;
    w.overwrite = 1;
    require_ok(tsr_streamlines_create(context, &p[0][0], offsets, 3, &lines));
    snprintf(path, sizeof path, "lines-%d.vtk", (int)getpid());
    w.ascii = 1;
    require_ok(tsr_streamlines_write(lines, names, arrays, 1, path, &w));
    char *text = slurp(path, &size);
    assert_non_null(strstr(text, "DATASET POLYDATA\nPOINTS 7 float\n0 0 0\n1 0 0\n1 1 0.5\n"));
    assert_non_null(strstr(text, "LINES 3 10\n3 0 1 2\n1 3\n3 4 5 6\n"));
    assert_non_null(strstr(text, "POINT_DATA 7\nSCALARS my_speed float 1\nLOOKUP_TABLE default\n0.5\n1\n2\n"));
    free(text);
    w.ascii = 0;
    require_ok(tsr_streamlines_write(lines, names, arrays, 1, path, &w));
    text = slurp(path, &size);
    const char *at = strstr(text, "POINTS 7 float\n") + 15, one[4] = { 0x3f, (char)0x80, 0, 0 };
    assert_memory_equal(at + 12, one, 4); /* 1 0 0, big-endian */
    const char *cells = text;
    while (memcmp(cells, "LINES 3 10\n", 11)) cells++;
    const char three[12] = { 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1 };
    assert_memory_equal(cells + 11, three, 12);
    free(text);
    unlink(path);
    snprintf(path, sizeof path, "lines-%d.obj", (int)getpid());
    require_ok(tsr_streamlines_write(lines, NULL, NULL, 0, path, &w));
    text = slurp(path, &size);
    assert_non_null(strstr(text, "v 1 1 0.5\n"));
    assert_non_null(strstr(text, "l 1 2 3\nl 5 6 7\n"));
    free(text);
    unlink(path);
    snprintf(path, sizeof path, "lines-%d.ply", (int)getpid());
    w.ascii = 1;
    require_ok(tsr_streamlines_write(lines, names, arrays, 1, path, &w));
    text = slurp(path, &size);
    assert_non_null(strstr(text, "element vertex 7\n"));
    assert_non_null(strstr(text, "property float my_speed\nelement edge 4\n"));
    assert_non_null(strstr(text, "1 1 0.5 2\n"));
    assert_non_null(strstr(text, "4 5\n5 6\n"));
    free(text);
    unlink(path);
    snprintf(path, sizeof path, "lines-%d.glb", (int)getpid());
    require_ok(tsr_streamlines_write(lines, names, arrays, 1, path, &w));
    text = slurp(path, &size);
    uint32_t head[5], last[2];
    float second[3];
    memcpy(head, text, sizeof head);
    assert_true(head[0] == 0x46546c67u && head[1] == 2 && head[2] == size && head[4] == 0x4e4f534au && head[3] % 4 == 0);
    assert_true(size == 28 + (size_t)head[3] + 7 * 16 + 4 * 8); /* places, one number each, pairs of indices */
    assert_non_null(strstr(text + 20, "\"mode\":1,\"indices\":2,\"attributes\":{\"POSITION\":0,\"_MY_SPEED\":1}"));
    memcpy(second, text + 28 + head[3] + 12, sizeof second);
    assert_true(second[0] == 1 && second[1] == 0 && second[2] == 0);
    memcpy(last, text + size - 8, sizeof last);
    assert_true(last[0] == 5 && last[1] == 6);
    free(text);
    unlink(path);
    require_error(tsr_streamlines_write(lines, NULL, NULL, 0, "lines.txt", &w), TSR_ERROR_ARGUMENT, "vtk, ply, obj or glb");
    tsr_tube_options o = TSR_TUBE_OPTIONS;
    tsr_mesh *mesh;
    o.radius = 0.1;
    o.by_direction = 1;
    require_ok(tsr_streamlines_tubes(lines, NULL, &o, &mesh));
    snprintf(path, sizeof path, "tubes-%d.vtk", (int)getpid());
    require_ok(tsr_mesh_write_vtk(mesh, path, &w));
    text = slurp(path, &size);
    assert_non_null(strstr(text, "POINTS 48 float\n"));
    assert_non_null(strstr(text, "POLYGONS 64 256\n3 "));
    assert_non_null(strstr(text, "COLOR_SCALARS colors 3\n"));
    free(text);
    unlink(path);
    tsr_mesh_destroy(&mesh);
    tsr_streamlines_destroy(&lines);
    tsr_context_destroy(&context);
}

static void errors(void **unused)
{
    double rise = 0;
    tsr_context *context = test_context();
    tsr_vector_field *field = rotation(context, 5, &rise);
    tsr_streamline_options o = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines;
    const double seed[3] = { 0, 1, 0 }, bad[3] = { 0, NAN, 0 };
    (void)unused;
    require_error(tsr_streamlines_trace(NULL, seed, 1, &o, &lines), TSR_ERROR_ARGUMENT, "field");
    require_error(tsr_streamlines_trace(field, bad, 1, &o, &lines), TSR_ERROR_ARGUMENT, "seed 0");
    require_error(tsr_streamlines_trace(field, NULL, 1, &o, &lines), TSR_ERROR_ARGUMENT, "seeds");
    o.step = -1;
    require_error(tsr_streamlines_trace(field, seed, 1, &o, &lines), TSR_ERROR_ARGUMENT, "step");
    o.step = 0;
    o.max_steps = -4;
    require_error(tsr_streamlines_trace(field, seed, 1, &o, &lines), TSR_ERROR_ARGUMENT, "max_steps");
    o.max_steps = 0;
    o.progress.report = test_stops;
    require_error(tsr_streamlines_trace(field, seed, 1, &o, &lines), TSR_ERROR_CANCELLED, "tracing");
    assert_null(lines);
    o.progress.report = NULL;
    require_ok(tsr_streamlines_trace(field, seed, 1, &o, &lines));
    tsr_tube_options t = TSR_TUBE_OPTIONS;
    tsr_mesh *mesh;
    t.sides = 2;
    require_error(tsr_streamlines_tubes(lines, field, &t, &mesh), TSR_ERROR_ARGUMENT, "sides");
    t.sides = 0;
    t.taper = 0.7;
    require_error(tsr_streamlines_tubes(lines, field, &t, &mesh), TSR_ERROR_ARGUMENT, "taper");
    tsr_stream_attribute a;
    require_error(tsr_stream_attribute_parse("pressure", &a), TSR_ERROR_ARGUMENT, "curvature");
    tsr_streamlines_destroy(&lines);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders), cmocka_unit_test(closes),   cmocka_unit_test(adaptive), cmocka_unit_test(ends),    cmocka_unit_test(attributes),
        cmocka_unit_test(tubes),  cmocka_unit_test(no_twist), cmocka_unit_test(moving),   cmocka_unit_test(ftle),    cmocka_unit_test(seeding),
        cmocka_unit_test(files),  cmocka_unit_test(errors),   cmocka_unit_test(leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
