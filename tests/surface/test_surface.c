#include "support.h"

#include <math.h>

#include "case_rule.h"
#include "device/isa.h"

/* ---- helpers ------------------------------------------------------------------------------------------------------------------------ */

static tsr_mesh *extract_on(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const tsr_geometry *geometry, const void *data, double slope,
                            double intercept, const tsr_surface_options *options, tsr_surface_report *report)
{
    tsr_volume *host, *device;
    tsr_mesh *mesh, *result;
    require_ok(tsr_volume_wrap(NULL, dtype, n, geometry, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_set_scaling(host, slope, intercept));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_surface_extract(context, device, options, &mesh, report));
    require_ok(tsr_mesh_copy(mesh, NULL, &result));
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&host);
    return result;
}
static tsr_mesh *extract(tsr_dtype dtype, tsr_size3 n, const tsr_geometry *geometry, const void *data, const tsr_surface_options *options,
                         tsr_surface_report *report)
{
    tsr_context *context = test_context();
    tsr_mesh *mesh = extract_on(context, dtype, n, geometry, data, 1, 0, options, report);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
    return mesh;
}
static tsr_surface_options level_set(tsr_surface_normals normals)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    options.normals = normals;
    return options;
}
static tsr_mesh_measures closed_measures(const tsr_mesh *mesh)
{
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_int_equal(m.boundary_edges, 0);
    assert_int_equal(m.nonmanifold_edges, 0);
    assert_int_equal(m.misoriented_edges, 0);
    /* triangles without area there may be, where a sample lies on the surface; none has a corner twice */
    const uint32_t *t = tsr_mesh_triangles_const(mesh);
    for (int64_t i = 0; i < tsr_mesh_triangle_count(mesh); i++, t += 3) assert_true(t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
    return m;
}
static void same_mesh(const tsr_mesh *a, const tsr_mesh *b)
{
    int64_t vertices = tsr_mesh_vertex_count(a), triangles = tsr_mesh_triangle_count(a);
    assert_int_equal(vertices, tsr_mesh_vertex_count(b));
    assert_int_equal(triangles, tsr_mesh_triangle_count(b));
    if (vertices) assert_memory_equal(tsr_mesh_vertices_const(a), tsr_mesh_vertices_const(b), (size_t)vertices * 12);
    if (triangles) assert_memory_equal(tsr_mesh_triangles_const(a), tsr_mesh_triangles_const(b), (size_t)triangles * 12);
    assert_int_equal(tsr_mesh_normals_const(a) != NULL, tsr_mesh_normals_const(b) != NULL);
    if (vertices && tsr_mesh_normals_const(a)) assert_memory_equal(tsr_mesh_normals_const(a), tsr_mesh_normals_const(b), (size_t)vertices * 12);
}

/* ---- golden counts (docs/theory/surfaces.md 9) ---------------------------------------------------------------------------------------- */

static int64_t shape(int which, int64_t i, int64_t j, int64_t k, int64_t n)
{
    int64_t D = n - 1, X = 2 * i - D, Y = 2 * j - D, Z = 2 * k - D, S = X * X + Y * Y + Z * Z, q = 400 * S + 119 * D * D;
    if (which == 0) return 16 * S - 9 * D * D;
    if (which == 1) return q * q - 230400 * D * D * (X * X + Y * Y);
    return 16 * X * Y * Z + 4 * D * S - D * D * D;
}

static void golden_counts(void **state)
{
    (void)state;
    static const int64_t golden[3][3][3] = {
        /* inside samples, vertices, triangles */
        { { 6704, 2592, 5180 }, { 55192, 10536, 21068 }, { 452112, 42720, 85436 } },
        { { 2816, 2088, 4176 }, { 23360, 8536, 17072 }, { 190032, 34720, 69440 } },
        { { 4208, 2364, 4520 }, { 34012, 9540, 18680 }, { 272516, 38364, 75944 } },
    };
    tsr_surface_options options = level_set(TSR_SURFACE_NORMALS_NONE);
    for (int which = 0; which < 3; which++)
        for (int size = 0; size < 3; size++) {
            int64_t n = 32 << size, inside = 0;
            int64_t *f = malloc((size_t)(n * n * n) * sizeof *f);
            for (int64_t v = 0; v < n * n * n; v++) {
                f[v] = shape(which, v % n, v / n % n, v / n / n, n);
                inside += f[v] < 0;
            }
            tsr_surface_report report = TSR_SURFACE_REPORT;
            tsr_mesh *mesh = extract(TSR_I64, (tsr_size3){ n, n, n }, NULL, f, &options, &report);
            assert_int_equal(inside, golden[which][size][0]);
            assert_int_equal(tsr_mesh_vertex_count(mesh), golden[which][size][1]);
            assert_int_equal(tsr_mesh_triangle_count(mesh), golden[which][size][2]);
            assert_int_equal(report.cells, (n - 1) * (n - 1) * (n - 1));
            if (which < 2) {
                tsr_mesh_measures m = closed_measures(mesh);
                assert_int_equal(m.euler, which == 0 ? 2 : 0);
                assert_int_equal(m.components, 1);
                assert_true(m.volume > 0);
            } else { /* leaves the volume: border edges lie in the border planes only */
                tsr_mesh_measures m = TSR_MESH_MEASURES;
                require_ok(tsr_mesh_measure(mesh, &m));
                assert_true(m.boundary_edges > 0 && m.nonmanifold_edges == 0 && m.misoriented_edges == 0);
            }
            tsr_mesh_destroy(&mesh);
            free(f);
        }
}

/* ---- an independent marching cubes, one cell and one edge at a time -------------------------------------------------------------------- */

typedef struct reference {
    float *vertices;
    uint32_t *triangles;
    int64_t vertex_count, triangle_count;
} reference;

/* f: float64 values with NaN outside; the grid starts at index -pad. */
static reference reference_mesh(const double *f, tsr_size3 n, int pad, double iso, int below, const tsr_geometry *geometry)
{
    int64_t count = n.x * n.y * n.z, step[3] = { 1, n.x, n.x * n.y };
    reference r = { malloc((size_t)count * 36), malloc((size_t)count * 60), 0, 0 };
    uint32_t *number = malloc((size_t)count * 12);
    for (int64_t v = 0; v < count; v++) {
        int64_t at[3] = { v % n.x, v / n.x % n.y, v / n.x / n.y }, end[3] = { n.x, n.y, n.z };
        for (int axis = 0; axis < 3; axis++) {
            if (at[axis] + 1 >= end[axis]) continue;
            double a = f[v], b = f[v + step[axis]];
            if ((below ? a < iso : a >= iso) == (below ? b < iso : b >= iso)) continue;
            double t = isfinite(a) && isfinite(b) ? (iso - a) / (b - a) : 0.5;
            double p[3] = { (double)(at[0] - pad), (double)(at[1] - pad), (double)(at[2] - pad) };
            p[axis] += t;
            tsr_vec3 w = tsr_geometry_to_world(geometry, (tsr_vec3){ p[0], p[1], p[2] });
            float *to = r.vertices + 3 * r.vertex_count;
            to[0] = (float)w.x;
            to[1] = (float)w.y;
            to[2] = (float)w.z;
            number[3 * v + axis] = (uint32_t)r.vertex_count++;
        }
    }
    int mirrored = tsr_geometry_determinant(geometry) < 0;
    for (int64_t v = 0; v < count; v++) {
        if (v % n.x + 1 >= n.x || v / n.x % n.y + 1 >= n.y || v / n.x / n.y + 1 >= n.z) continue;
        int code = 0;
        for (int c = 0; c < 8; c++) {
            double a = f[v + (c & 1) + (c >> 1 & 1) * n.x + (c >> 2) * n.x * n.y];
            code |= (below ? a < iso : a >= iso) << c;
        }
        uint8_t row[16];
        case_row(code, row);
        for (int k = 0; k < 15 && row[k] != 255; k += 3, r.triangle_count++)
            for (int m = 0; m < 3; m++) {
                int p = 0, q = 0;
                edge_corners(row[k + m], &p, &q);
                uint32_t id = number[3 * (v + (p & 1) + (p >> 1 & 1) * n.x + (p >> 2) * n.x * n.y) + row[k + m] / 4];
                r.triangles[3 * r.triangle_count + (mirrored && m ? 3 - m : m)] = id;
            }
    }
    free(number);
    return r;
}

static void compare(tsr_dtype dtype, tsr_size3 n, const void *data, const double *values, const tsr_geometry *geometry, double iso, int below,
                    int close)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.isovalue = iso;
    options.inside = below ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
    options.close = close;
    tsr_mesh *mesh = extract(dtype, n, geometry, data, &options, NULL);
    tsr_size3 m = { n.x + 2 * close, n.y + 2 * close, n.z + 2 * close };
    double *f = malloc((size_t)(m.x * m.y * m.z) * sizeof *f);
    for (int64_t z = 0, v = 0; z < m.z; z++)
        for (int64_t y = 0; y < m.y; y++)
            for (int64_t x = 0; x < m.x; x++, v++) {
                int64_t i = x - close, j = y - close, k = z - close;
                f[v] = i < 0 || j < 0 || k < 0 || i >= n.x || j >= n.y || k >= n.z ? (double)NAN : values[(k * n.y + j) * n.x + i];
            }
    tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0 }, TSR_SPACE_NONE);
    reference r = reference_mesh(f, m, close, iso, below, geometry ? geometry : &unit);
    assert_int_equal(tsr_mesh_vertex_count(mesh), r.vertex_count);
    assert_int_equal(tsr_mesh_triangle_count(mesh), r.triangle_count);
    if (r.vertex_count) assert_memory_equal(tsr_mesh_vertices(mesh), r.vertices, (size_t)r.vertex_count * 12);
    if (r.triangle_count) assert_memory_equal(tsr_mesh_triangles(mesh), r.triangles, (size_t)r.triangle_count * 12);
    if (close) closed_measures(mesh);
    tsr_mesh_destroy(&mesh);
    free(f);
    free(r.vertices);
    free(r.triangles);
}

static void noise_equals_reference(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 2, 2, 2 },  { 33, 5, 4 }, { 32, 9, 7 },  { 34, 3, 17 }, { 97, 4, 3 },
                                { 2, 40, 5 }, { 65, 6, 6 }, { 31, 2, 30 }, { 30, 5, 5 } };
    const tsr_geometry bent = { { { 0.9, -0.3, 0.1, 5 }, { 0.2, 1.1, 0, -7 }, { 0, 0.1, -2.5, 9 } }, TSR_SPACE_RAS };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tsr_size3 n = sizes[s];
        int64_t count = n.x * n.y * n.z;
        double *f = malloc((size_t)count * sizeof *f);
        for (int64_t v = 0; v < count; v++) f[v] = test_uniform(&seed) * 100 - 50;
        compare(TSR_F64, n, f, f, s & 1 ? &bent : NULL, 3.25, (int)s & 1, 0);
        compare(TSR_F64, n, f, f, s & 1 ? NULL : &bent, -20, (int)s >> 1 & 1, 1);
        for (int64_t v = 0; v < count; v += 7) f[v] = (double)NAN;
        for (int64_t v = 3; v < count; v += 13) f[v] = INFINITY;
        for (int64_t v = 5; v < count; v += 17) f[v] = -INFINITY;
        compare(TSR_F64, n, f, f, NULL, 0, (int)s & 1, 1);
        free(f);
    }
}

static void every_type(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 n = { 37, 6, 5 };
    enum { COUNT = 37 * 6 * 5 };
    const double isovalues[] = { 50, 50.5, 0, -1e30, 1e30, 127, 255, 128, -128, INFINITY, -INFINITY };
    double values[COUNT];
    uint64_t raw[COUNT];
    for (int type = 0; type < TSR_DTYPE_COUNT; type++)
        for (size_t i = 0; i < sizeof isovalues / sizeof *isovalues; i++) {
            int is_signed = type == TSR_I8 || type == TSR_I16 || type == TSR_I32 || type == TSR_I64 || type >= TSR_F32;
            for (int v = 0; v < COUNT; v++) {
                int64_t r = (int64_t)(test_random(&seed) % 256) - (is_signed ? 128 : 0);
                values[v] = (double)r;
                if (type <= TSR_I8) ((uint8_t *)raw)[v] = (uint8_t)r;
                else if (type <= TSR_I16) ((uint16_t *)raw)[v] = (uint16_t)r;
                else if (type <= TSR_I32) ((uint32_t *)raw)[v] = (uint32_t)r;
                else if (type <= TSR_I64) raw[v] = (uint64_t)r;
                else if (type == TSR_F32) ((float *)raw)[v] = (float)r;
                else memcpy(&raw[v], &values[v], 8);
            }
            compare((tsr_dtype)type, n, raw, values, NULL, isovalues[i], (int)i & 1, 1);
            compare((tsr_dtype)type, n, raw, values, NULL, isovalues[i], !(i & 1), 0);
        }
}

/* Real values = stored * slope + intercept; a negative slope turns the order round, ties included. */
static void scaled_values(void **state)
{
    (void)state;
    const tsr_size3 n = { 9, 5, 4 };
    int16_t stored[180];
    float real[180];
    uint64_t seed = test_seed();
    for (int v = 0; v < 180; v++) {
        stored[v] = (int16_t)(test_random(&seed) % 9);
        real[v] = -2.0f * (float)stored[v] + 10.0f;
    }
    for (int below = 0; below < 2; below++) {
        tsr_context *context = test_context();
        tsr_surface_options options = level_set(TSR_SURFACE_NORMALS_CENTRAL);
        options.inside = (tsr_surface_inside)below;
        options.close = 1;
        options.isovalue = 4; /* stored 3: a tie */
        tsr_mesh *scaled = extract_on(context, TSR_I16, n, NULL, stored, -2, 10, &options, NULL);
        tsr_mesh *direct = extract_on(context, TSR_F32, n, NULL, real, 1, 0, &options, NULL);
        assert_int_equal(tsr_mesh_vertex_count(scaled), tsr_mesh_vertex_count(direct));
        assert_int_equal(tsr_mesh_triangle_count(scaled), tsr_mesh_triangle_count(direct));
        assert_memory_equal(tsr_mesh_triangles(scaled), tsr_mesh_triangles(direct), (size_t)tsr_mesh_triangle_count(direct) * 12);
        for (int64_t i = 0; i < 3 * tsr_mesh_vertex_count(direct); i++) {
            assert_true(fabsf(tsr_mesh_vertices(scaled)[i] - tsr_mesh_vertices(direct)[i]) < 1e-6f);
            assert_true(fabsf(tsr_mesh_normals(scaled)[i] - tsr_mesh_normals(direct)[i]) < 1e-6f);
        }
        tsr_mesh_destroy(&scaled);
        tsr_mesh_destroy(&direct);
        tsr_context_destroy(&context);
    }
}

/* ---- geometry against analytic shapes ------------------------------------------------------------------------------------------------- */

/* Signed distance on [-1,1]^3: sphere of radius 3/4 or torus 3/5, 1/4; world coordinates of the samples. */
static float *distances(int64_t n, int torus, tsr_geometry *geometry)
{
    double h = 2.0 / (double)(n - 1);
    float *f = malloc((size_t)(n * n * n) * sizeof *f);
    *geometry = tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ -1, -1, -1 }, TSR_SPACE_NONE);
    for (int64_t v = 0; v < n * n * n; v++) {
        double x = -1 + h * (double)(v % n), y = -1 + h * (double)(v / n % n), z = -1 + h * (double)(v / n / n);
        f[v] = (float)(torus ? hypot(hypot(x, y) - 0.6, z) - 0.25 : sqrt(x * x + y * y + z * z) - 0.75);
    }
    return f;
}

static void area_and_volume(void **state)
{
    (void)state;
    const double pi = acos(-1.0), area[2] = { 4 * pi * 0.5625, 4 * pi * pi * 0.6 * 0.25 },
                 volume[2] = { 4.0 / 3 * pi * 0.421875, 2 * pi * pi * 0.6 * 0.0625 };
    const double area_error[2][4] = { { -2.3e-3, -5.6e-4, -1.4e-4, -3.4e-5 }, { -3.9e-3, -9.5e-4, -2.3e-4, -5.8e-5 } };
    const double volume_error[2][4] = { { -4.4e-3, -1.1e-3, -2.6e-4, -6.6e-5 }, { -1.4e-2, -3.3e-3, -8.2e-4, -2.0e-4 } };
    tsr_surface_options options = level_set(TSR_SURFACE_NORMALS_NONE);
    for (int torus = 0; torus < 2; torus++)
        for (int size = 0; size < (test_is_slow() ? 3 : 4); size++) {
            tsr_geometry geometry;
            int64_t n = 32 << size;
            float *f = distances(n, torus, &geometry);
            tsr_mesh *mesh = extract(TSR_F32, (tsr_size3){ n, n, n }, &geometry, f, &options, NULL);
            tsr_mesh_measures m = closed_measures(mesh);
            double a = m.area / area[torus] - 1, v = m.volume / volume[torus] - 1;
            if (fabs(a / area_error[torus][size] - 1) > 0.05 || fabs(v / volume_error[torus][size] - 1) > 0.06)
                fail_msg("%s %d: area error %.3g, expected %.2g; volume error %.3g, expected %.2g", torus ? "torus" : "sphere", (int)n, a,
                         area_error[torus][size], v, volume_error[torus][size]);
            tsr_mesh_destroy(&mesh);
            free(f);
        }
}

static void normals_of_sphere(void **state)
{
    (void)state;
    const double expected[2][3] = { { 3.49, 1.72, 0.85 }, { 0.092, 0.021, 0.0055 } };
    for (int central = 0; central < 2; central++)
        for (int size = 0; size < 3; size++)
            for (int mirror = 0; mirror < 2 - (size == 2); mirror++) {
                tsr_surface_options options = level_set(central ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_FORWARD);
                tsr_geometry geometry;
                int64_t n = 32 << size;
                float *f = distances(n, 0, &geometry);
                if (mirror) {
                    geometry.affine[1][1] = -geometry.affine[1][1]; /* the sphere is symmetric */
                    geometry.affine[1][3] = 1;
                    for (int64_t v = 0; v < n * n * n; v++) f[v] = -f[v];
                    options.inside = TSR_SURFACE_INSIDE_ABOVE;
                }
                tsr_mesh *mesh = extract(TSR_F32, (tsr_size3){ n, n, n }, &geometry, f, &options, NULL);
                assert_true(closed_measures(mesh).volume > 0);
                double worst = 0;
                const float *p = tsr_mesh_vertices(mesh), *m = tsr_mesh_normals(mesh);
                for (int64_t v = 0; v < 3 * tsr_mesh_vertex_count(mesh); v += 3) {
                    double length = sqrt((double)p[v] * p[v] + (double)p[v + 1] * p[v + 1] + (double)p[v + 2] * p[v + 2]);
                    double unit = sqrt((double)m[v] * m[v] + (double)m[v + 1] * m[v + 1] + (double)m[v + 2] * m[v + 2]);
                    double dot = ((double)p[v] * m[v] + (double)p[v + 1] * m[v + 1] + (double)p[v + 2] * m[v + 2]) / (length * unit);
                    assert_true(fabs(unit - 1) < 1e-6);
                    worst = fmax(worst, acos(fmin(dot, 1)) * 180 / acos(-1.0));
                }
                if (fabs(worst / expected[central][size] - 1) > 0.05)
                    fail_msg("normals %s, %d samples: %.4f degrees, expected %.4f", central ? "central" : "forward", (int)n, worst,
                             expected[central][size]);
                const uint32_t *t = tsr_mesh_triangles(mesh);
                for (int64_t k = 0; k < 3 * tsr_mesh_triangle_count(mesh); k += 3) {
                    double e[2][3], out = 0;
                    for (int c = 0; c < 3; c++) {
                        e[0][c] = (double)p[3 * t[k + 1] + c] - (double)p[3 * t[k] + c];
                        e[1][c] = (double)p[3 * t[k + 2] + c] - (double)p[3 * t[k] + c];
                    }
                    for (int c = 0; c < 3; c++)
                        out += (e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3]) * (double)m[3 * t[k] + c];
                    assert_true(out > 0);
                }
                tsr_mesh_destroy(&mesh);
                free(f);
            }
}

/* ---- special volumes -------------------------------------------------------------------------------------------------------------------- */

static void checkerboard(void **state)
{
    (void)state;
    enum { N = 12 };
    uint8_t f[N * N * N];
    for (int v = 0; v < N * N * N; v++) f[v] = (uint8_t)((v % N + v / N % N + v / N / N) % 2);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.isovalue = 0.5;
    tsr_mesh *mesh = extract(TSR_U8, (tsr_size3){ N, N, N }, NULL, f, &options, NULL);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 4 * (N - 1) * (N - 1) * (N - 1));
    assert_int_equal(tsr_mesh_vertex_count(mesh), 3 * (N - 1) * N * N);
    tsr_mesh_destroy(&mesh);
}

static void special_volumes(void **state)
{
    (void)state;
    const tsr_size3 n = { 5, 5, 5 };
    float f[125] = { 0 };
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_report report = TSR_SURFACE_REPORT;
    options.isovalue = 0.5;
    tsr_mesh *mesh = extract(TSR_F32, n, NULL, f, &options, &report); /* all outside */
    assert_int_equal(tsr_mesh_vertex_count(mesh) + tsr_mesh_triangle_count(mesh), 0);
    tsr_mesh_destroy(&mesh);
    f[0] = 1; /* one corner */
    mesh = extract(TSR_F32, n, NULL, f, &options, NULL);
    assert_int_equal(tsr_mesh_vertex_count(mesh), 3);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 1);
    tsr_mesh_destroy(&mesh);
    options.close = 1; /* an octahedron, half a voxel around the sample */
    mesh = extract(TSR_F32, n, NULL, f, &options, NULL);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 8);
    assert_true(fabs(closed_measures(mesh).volume - 4.0 / 3 * 0.125) < 1e-6);
    tsr_mesh_destroy(&mesh);
    for (int v = 0; v < 125; v++) f[v] = 1; /* all inside: a box with cut corners */
    mesh = extract(TSR_F32, n, NULL, f, &options, NULL);
    assert_int_equal(closed_measures(mesh).euler, 2);
    tsr_mesh_destroy(&mesh);
    options.close = 0;
    mesh = extract(TSR_F32, n, NULL, f, &options, NULL);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 0);
    tsr_mesh_destroy(&mesh);
    for (int v = 0; v < 125; v++) f[v] = (float)(v / 25); /* a plane through samples: ties belong to the inside */
    options.isovalue = 2;
    mesh = extract(TSR_F32, n, NULL, f, &options, NULL);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 32);
    for (int64_t v = 0; v < tsr_mesh_vertex_count(mesh); v++) assert_true(tsr_mesh_vertices(mesh)[3 * v + 2] == 2.0f);
    tsr_mesh_destroy(&mesh);
    f[62] = f[63] = NAN;
    mesh = extract(TSR_F32, n, NULL, f, &options, &report);
    assert_int_equal(report.not_a_number, 2);
    tsr_mesh_destroy(&mesh);
}

/* Every way to a surface refuses NaN samples if asked, counts them, and can be used again. */
static tsr_status plane_of(void *user, int64_t begin, int64_t end, void *samples)
{
    memcpy(samples, (const float *)user + 25 * begin, (size_t)(25 * (end - begin)) * sizeof(float));
    return TSR_OK;
}
static void not_a_number_fails(void **state)
{
    (void)state;
    const tsr_size3 n = { 5, 5, 5 };
    float f[125];
    tsr_context *context = test_context();
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_planes_source source = TSR_PLANES_SOURCE;
    tsr_surface_workspace *workspace;
    tsr_surface_tracker *tracker;
    tsr_volume *host, *volume;
    tsr_mesh *mesh, *several[2];
    const tsr_mesh *kept;
    for (int v = 0; v < 125; v++) f[v] = (float)(v / 25);
    options.isovalue = 1.5;
    options.nan = TSR_SURFACE_NAN_FAIL;
    source.size = n;
    source.dtype = TSR_F32;
    source.planes = plane_of;
    source.user = f;
    require_ok(tsr_surface_workspace_create(context, &workspace));
    for (int turn = 0; turn < 4; turn++) { /* without, with, without; infinities have a side */
        const double values[2] = { 1.5, 2.5 };
        f[61] = turn == 1 ? NAN : turn == 3 ? INFINITY : 2;
        f[124] = turn == 1 ? NAN : turn == 3 ? -INFINITY : 4;
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        memcpy(tsr_volume_data(host), f, sizeof f);
        require_ok(tsr_volume_copy(host, context, &volume));
        if (turn == 1) {
            static const char message[] = "2 samples are not a number, expected none";
            require_error(tsr_surface_extract(context, volume, &options, &mesh, NULL), TSR_ERROR_STATE, message);
            assert_null(mesh);
            require_error(tsr_surface_extract_several(context, volume, &options, values, 2, several, NULL), TSR_ERROR_STATE, message);
            assert_true(!several[0] && !several[1]);
            require_error(tsr_surface_extract_again(workspace, volume, &options, &kept, NULL), TSR_ERROR_STATE, message);
            assert_null(kept);
            require_error(tsr_surface_extract_triangles(context, volume, &options, TSR_SURFACE_GATHER_CELL, &mesh, NULL), TSR_ERROR_STATE, message);
            assert_null(mesh);
            require_error(tsr_surface_extract_source(context, &source, &options, 3, &mesh, NULL), TSR_ERROR_STATE, "a number, expected none");
            assert_null(mesh);
        } else {
            require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
            assert_int_equal(tsr_mesh_triangle_count(mesh), turn == 3 ? tsr_mesh_triangle_count(mesh) : 32);
            tsr_mesh_destroy(&mesh);
            require_ok(tsr_surface_extract_several(context, volume, &options, values, 2, several, NULL));
            for (int k = 0; k < 2; k++) tsr_mesh_destroy(&several[k]);
            require_ok(tsr_surface_extract_again(workspace, volume, &options, &kept, NULL));
            require_ok(tsr_surface_extract_triangles(context, volume, &options, TSR_SURFACE_GATHER_CELL, &mesh, NULL));
            tsr_mesh_destroy(&mesh);
            require_ok(tsr_surface_extract_source(context, &source, &options, 3, &mesh, NULL));
            tsr_mesh_destroy(&mesh);
        }
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
    }
    require_error(tsr_surface_tracker_create(context, &options, &tracker), TSR_ERROR_UNSUPPORTED, "nan is fail");
    options.nan = (tsr_surface_nan)2;
    source.dtype = TSR_F32;
    require_error(tsr_surface_extract_source(context, &source, &options, 3, &mesh, NULL), TSR_ERROR_ARGUMENT, "nan is 2");
    tsr_surface_workspace_destroy(&workspace);
    tsr_context_destroy(&context);
}

/* Data moved by whole cells give the mesh moved by whole cells. */
static void translation(void **state)
{
    (void)state;
    enum { N = 40 };
    uint64_t seed = test_seed();
    float *near = calloc(N * N * N, sizeof(float)), *far = calloc(N * N * N, sizeof(float));
    for (int z = 0; z < 20; z++)
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 20; x++) {
                float v = (float)(test_random(&seed) % 65) / 64.0f; /* t and positions are exact enough to be moved exactly */
                near[((z + 1) * N + y + 1) * N + x + 1] = far[((z + 17) * N + y + 14) * N + x + 19] = v;
            }
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.isovalue = 0.5;
    tsr_mesh *a = extract(TSR_F32, (tsr_size3){ N, N, N }, NULL, near, &options, NULL);
    tsr_mesh *b = extract(TSR_F32, (tsr_size3){ N, N, N }, NULL, far, &options, NULL);
    assert_int_equal(tsr_mesh_vertex_count(a), tsr_mesh_vertex_count(b));
    assert_int_equal(tsr_mesh_triangle_count(a), tsr_mesh_triangle_count(b));
    assert_memory_equal(tsr_mesh_triangles(a), tsr_mesh_triangles(b), (size_t)tsr_mesh_triangle_count(a) * 12);
    for (int64_t v = 0; v < tsr_mesh_vertex_count(a); v++)
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(tsr_mesh_vertices(b)[3 * v + c] - tsr_mesh_vertices(a)[3 * v + c] - (float[]){ 18, 13, 16 }[c]) < 4e-6f);
    closed_measures(a);
    tsr_mesh_destroy(&a);
    tsr_mesh_destroy(&b);
    free(near);
    free(far);
}

/* Every thread count, SIMD variant and backend gives the same bits. */
static void same_everywhere(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 n = { 70, 33, 21 };
    enum { COUNT = 70 * 33 * 21 };
    float *f = malloc(COUNT * sizeof *f);
    uint16_t *g = malloc(COUNT * sizeof *g);
    for (int v = 0; v < COUNT; v++) {
        f[v] = (float)test_uniform(&seed) + (v / 2310 > 10 ? 1.0f : 0.0f);
        g[v] = (uint16_t)(f[v] * 30000.0f);
    }
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.isovalue = 0.75;
    options.normals = TSR_SURFACE_NORMALS_CENTRAL;
    tsr_context *one = test_context_on("cpu", 1), *three = test_context_on("cpu", 3), *device = test_context();
    for (int type = 0; type < 2; type++) {
        const void *data = type ? (const void *)g : (const void *)f;
        tsr_dtype dtype = type ? TSR_U16 : TSR_F32;
        options.isovalue = type ? 22500 : 0.75;
        tsr_mesh *expected = extract_on(one, dtype, n, NULL, data, 1, 0, &options, NULL);
        tsr_mesh *threads = extract_on(three, dtype, n, NULL, data, 1, 0, &options, NULL);
        tsr_mesh *other = extract_on(device, dtype, n, NULL, data, 1, 0, &options, NULL);
        same_mesh(expected, threads);
        same_mesh(expected, other);
        for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
            tsr_isa_force(isa);
            tsr_mesh *variant = extract_on(one, dtype, n, NULL, data, 1, 0, &options, NULL);
            tsr_isa_force(-1);
            same_mesh(expected, variant);
            tsr_mesh_destroy(&variant);
        }
        tsr_mesh_destroy(&expected);
        tsr_mesh_destroy(&threads);
        tsr_mesh_destroy(&other);
    }
    tsr_context_destroy(&one);
    tsr_context_destroy(&three);
    tsr_context_destroy(&device);
    free(f);
    free(g);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_volume *thin, *volume;
    tsr_mesh *mesh;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 1, 4 }, NULL, &thin));
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &volume));
    require_error(tsr_surface_extract(context, thin, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "4 x 1 x 4, expected at least 2");
    require_error(tsr_surface_extract(context, NULL, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "volume is NULL");
    options.isovalue = NAN;
    require_error(tsr_surface_extract(context, volume, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "isovalue is NaN");
    options.isovalue = 1;
    options.inside = (tsr_surface_inside)5;
    require_error(tsr_surface_extract(context, volume, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "inside is 5");
    options.inside = TSR_SURFACE_INSIDE_ABOVE;
    options.normals = (tsr_surface_normals)7;
    require_error(tsr_surface_extract(context, volume, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "normals is 7");
    assert_null(mesh);
    tsr_volume_destroy(&thin);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_counts),      cmocka_unit_test(noise_equals_reference), cmocka_unit_test(every_type),
        cmocka_unit_test(scaled_values),      cmocka_unit_test(area_and_volume),        cmocka_unit_test(normals_of_sphere),
        cmocka_unit_test(checkerboard),       cmocka_unit_test(special_volumes),        cmocka_unit_test(translation),
        cmocka_unit_test(not_a_number_fails), cmocka_unit_test(same_everywhere),        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("surface", tests, NULL, NULL);
}
