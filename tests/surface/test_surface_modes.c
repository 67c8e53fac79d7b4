/* The ways to cut a surface beside the plain one: several values, the other rule for ambiguous faces, midpoints, the trilinear gradient, slabs
 * of a source, triangles without an index. Oracles: the plain extraction, float64 arithmetic and counts known beforehand. */
#include "support.h"

#include <math.h>

static const tsr_size3 EXTENT = { 37, 19, 23 };

/* Smooth waves or noise of [0, 100), NaN here and there. */
static float *field(tsr_size3 n, int noise, uint64_t seed)
{
    float *f = (float *)malloc((size_t)(n.x * n.y * n.z) * sizeof *f);
    assert_non_null(f);
    for (int64_t v = 0; v < n.x * n.y * n.z; v++) {
        double x = (double)(v % n.x), y = (double)(v / n.x % n.y), z = (double)(v / n.x / n.y);
        f[v] =
            noise ? (float)(test_random(&seed) % 10007) / 100.07f : (float)(50 + 30 * sin(0.31 * x) * cos(0.27 * y) + 20 * sin(0.23 * z + 0.2 * x));
        if (test_random(&seed) % 1009 == 0) f[v] = NAN;
    }
    return f;
}

static tsr_volume *put(tsr_context *context, tsr_size3 n, float *f)
{
    tsr_volume *host, *volume;
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.7, 1.3, -0.9 }, (tsr_vec3){ 5, -7, 11 }, TSR_SPACE_RAS);
    require_ok(tsr_volume_wrap(NULL, TSR_F32, n, &geometry, f, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_volume_destroy(&host);
    return volume;
}

static tsr_mesh *home(tsr_mesh **mesh)
{
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(*mesh, NULL, &host));
    tsr_mesh_destroy(mesh);
    return host;
}
static tsr_mesh *extract(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options)
{
    tsr_mesh *mesh;
    require_ok(tsr_surface_extract(context, volume, options, &mesh, NULL));
    return home(&mesh);
}

static void same_mesh(const tsr_mesh *a, const tsr_mesh *b)
{
    int64_t vertices = tsr_mesh_vertex_count(a), triangles = tsr_mesh_triangle_count(a);
    assert_int_equal(vertices, tsr_mesh_vertex_count(b));
    assert_int_equal(triangles, tsr_mesh_triangle_count(b));
    assert_int_equal(tsr_mesh_space(a), tsr_mesh_space(b));
    if (vertices) assert_memory_equal(tsr_mesh_vertices_const(a), tsr_mesh_vertices_const(b), (size_t)vertices * 12);
    if (triangles) assert_memory_equal(tsr_mesh_triangles_const(a), tsr_mesh_triangles_const(b), (size_t)triangles * 12);
    assert_int_equal(tsr_mesh_normals_const(a) != NULL, tsr_mesh_normals_const(b) != NULL);
    if (vertices && tsr_mesh_normals_const(a)) assert_memory_equal(tsr_mesh_normals_const(a), tsr_mesh_normals_const(b), (size_t)vertices * 12);
}

static void several_values(void **state)
{
    (void)state;
    static const double values[4] = { 52.5, 20, 80, 1000 };
    tsr_context *context = test_context();
    for (int noise = 0; noise < 2; noise++) {
        float *f = field(EXTENT, noise, 7);
        tsr_volume *volume = put(context, EXTENT, f);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_report reports[4] = { TSR_SURFACE_REPORT };
        tsr_mesh *meshes[4];
        options.normals = noise ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_NONE;
        options.close = 1;
        require_ok(tsr_surface_extract_several(context, volume, &options, values, 4, meshes, reports));
        for (int k = 0; k < 4; k++) {
            options.isovalue = values[k];
            tsr_mesh *together = home(&meshes[k]), *alone = extract(context, volume, &options);
            same_mesh(together, alone);
            assert_int_equal(tsr_mesh_triangle_count(together) > 0, k < 3);
            assert_true(reports[k].not_a_number > 0 && reports[k].not_a_number == reports[0].not_a_number);
            tsr_mesh_destroy(&together);
            tsr_mesh_destroy(&alone);
        }
        require_error(tsr_surface_extract_several(context, volume, &options, values, 0, meshes, NULL), TSR_ERROR_ARGUMENT,
                      "0 isovalues, expected 1 to 64");
        tsr_volume_destroy(&volume);
        free(f);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* The triangles that separate the outside are those that separate the inside of the complement, turned round; noise has every case. */
static void outside_separated(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    float *f = field(EXTENT, 1, 11);
    for (int64_t v = 0; v < EXTENT.x * EXTENT.y * EXTENT.z; v++) f[v] = f[v] == f[v] ? f[v] : 1; /* NaN is outside both ways */
    tsr_volume *volume = put(context, EXTENT, f);
    tsr_surface_options options = TSR_SURFACE_OPTIONS, other = TSR_SURFACE_OPTIONS;
    options.isovalue = other.isovalue = 52.25;
    other.ambiguity = TSR_SURFACE_SEPARATE_OUTSIDE;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    tsr_mesh *below = extract(context, volume, &options), *outside = extract(context, volume, &other);
    options.inside = TSR_SURFACE_INSIDE_ABOVE;
    tsr_mesh *inside = extract(context, volume, &options);
    const uint32_t *a = tsr_mesh_triangles_const(below), *b = tsr_mesh_triangles_const(outside);
    int64_t triangles = tsr_mesh_triangle_count(below);
    assert_int_equal(triangles, tsr_mesh_triangle_count(outside));
    assert_int_equal(tsr_mesh_vertex_count(below), tsr_mesh_vertex_count(outside));
    assert_memory_equal(tsr_mesh_vertices_const(below), tsr_mesh_vertices_const(outside), (size_t)tsr_mesh_vertex_count(below) * 12);
    for (int64_t k = 0; k < 3 * triangles; k += 3) {
        assert_int_equal(a[k], b[k]);
        assert_int_equal(a[k + 1], b[k + 2]);
        assert_int_equal(a[k + 2], b[k + 1]);
    }
    /* and it differs from the other rule, where both are closed */
    assert_int_equal(tsr_mesh_vertex_count(inside), tsr_mesh_vertex_count(outside));
    assert_true(tsr_mesh_triangle_count(inside) != triangles || memcmp(tsr_mesh_triangles_const(inside), b, (size_t)triangles * 12) != 0);
    other.close = 1;
    tsr_mesh *closed = extract(context, volume, &other);
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(closed, &m));
    assert_int_equal(m.boundary_edges, 0);
    assert_int_equal(m.nonmanifold_edges, 0);
    assert_int_equal(m.misoriented_edges, 0);
    assert_true(m.volume > 0);
    tsr_mesh_destroy(&closed);
    tsr_mesh_destroy(&inside);
    tsr_mesh_destroy(&below);
    tsr_mesh_destroy(&outside);
    other.ambiguity = (tsr_surface_ambiguity)3;
    require_error(tsr_surface_extract(context, volume, &other, &closed, NULL), TSR_ERROR_ARGUMENT, "ambiguity is 3");
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    free(f);
}

/* Two inside corners on a face's diagonal, in the middle of 4 x 4 x 4 samples: two pieces or one. */
static void diagonal_pair(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    float f[64] = { 0 };
    f[21] = f[26] = 1; /* (1,1,1) and (2,2,1) */
    tsr_size3 n = { 4, 4, 4 };
    tsr_volume *volume = put(context, n, f);
    for (int outside = 0; outside < 2; outside++) {
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        options.isovalue = 0.5;
        options.ambiguity = (tsr_surface_ambiguity)outside;
        tsr_mesh *mesh = extract(context, volume, &options);
        require_ok(tsr_mesh_measure(mesh, &m));
        assert_int_equal(m.vertices, 12);
        assert_int_equal(m.components, outside ? 1 : 2);
        assert_int_equal(m.euler, outside ? 2 : 4);
        assert_int_equal(m.boundary_edges, 0);
        tsr_mesh_destroy(&mesh);
    }
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static void midpoints(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    float *f = field(EXTENT, 0, 5);
    tsr_volume *volume = put(context, EXTENT, f);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.isovalue = 52;
    tsr_mesh *plain = extract(context, volume, &options);
    options.midpoints = 1;
    tsr_mesh *blocky = extract(context, volume, &options);
    int64_t vertices = tsr_mesh_vertex_count(plain), triangles = tsr_mesh_triangle_count(plain);
    assert_int_equal(vertices, tsr_mesh_vertex_count(blocky));
    assert_memory_equal(tsr_mesh_triangles_const(plain), tsr_mesh_triangles_const(blocky), (size_t)triangles * 12);
    static const double spacing[3] = { 0.7, 1.3, -0.9 }, origin[3] = { 5, -7, 11 };
    for (int64_t v = 0; v < vertices; v++) {
        int halves = 0;
        for (int r = 0; r < 3; r++) {
            double index = ((double)tsr_mesh_vertices_const(blocky)[3 * v + r] - origin[r]) / spacing[r], twice = 2 * index;
            assert_true(fabs(twice - round(twice)) < 1e-4);
            halves += (int64_t)llround(twice) & 1;
            assert_true(fabs((double)tsr_mesh_vertices_const(plain)[3 * v + r] - (double)tsr_mesh_vertices_const(blocky)[3 * v + r]) <=
                        0.5 * fabs(spacing[r]) + 1e-5);
        }
        assert_int_equal(halves, 1); /* in the middle along one axis, on samples along the others */
    }
    tsr_mesh_destroy(&plain);
    tsr_mesh_destroy(&blocky);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    free(f);
}

/* Against the gradient in float64, worked out here: along the edge the difference, across it the mean of both ends' central differences. On the
 * sphere the difference along an edge belongs to its middle: first order, h / 2 times the curvature at most, which is 1.96 degrees. */
static void trilinear(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    enum { N = 40 };
    tsr_size3 n = { N, N, N };
    double worst = 0;
    float *f = (float *)malloc((size_t)N * N * N * sizeof *f);
    assert_non_null(f);
    for (int k = 0, v = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++, v++) {
                double x = -1 + 2.0 * i / (N - 1), y = -1 + 2.0 * j / (N - 1), z = -1 + 2.0 * k / (N - 1);
                f[v] = (float)(sqrt(x * x + y * y + z * z) - 0.75);
            }
    tsr_volume *host, *volume;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, n, NULL, f, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    options.normals = TSR_SURFACE_NORMALS_TRILINEAR;
    tsr_mesh *mesh = extract(context, volume, &options);
    for (int64_t m = 0; m < tsr_mesh_vertex_count(mesh); m++) {
        const float *p = tsr_mesh_vertices_const(mesh) + 3 * m, *normal = tsr_mesh_normals_const(mesh) + 3 * m;
        int axis = 0, at[3];
        double share = 0, own[3], length = 0, dot = 0, radius = 0, radial = 0;
        for (int r = 0; r < 3; r++) {
            at[r] = (int)floorf(p[r]);
            if ((double)p[r] - at[r] > share) {
                share = (double)p[r] - at[r];
                axis = r;
            }
        }
        const int stride[3] = { 1, N, N * N };
        const float *a = f + at[0] + N * at[1] + N * N * at[2], *b = a + stride[axis];
        for (int r = 0; r < 3; r++) {
            double low = ((double)a[stride[r]] - (double)a[-stride[r]]) / 2, high = ((double)b[stride[r]] - (double)b[-stride[r]]) / 2;
            own[r] = r == axis ? (double)b[0] - (double)a[0] : low + share * (high - low);
            length += own[r] * own[r];
        }
        for (int r = 0; r < 3; r++) {
            double c = (double)p[r] - 0.5 * (N - 1);
            dot += own[r] / sqrt(length) * (double)normal[r];
            radius += c * c;
            radial += c * (double)normal[r];
        }
        assert_true(dot > 1 - 1e-6);
        worst = fmax(worst, acos(fmin(1, radial / sqrt(radius))) * 180 / 3.14159265358979);
    }
    assert_true(worst > 0.1 && worst < 1.96);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    free(f);
}

struct planes {
    const float *samples;
    tsr_size3 n;
    int64_t next, fail_at, most;
};
static tsr_status give(void *user, int64_t begin, int64_t end, void *samples)
{
    struct planes *p = (struct planes *)user;
    const int64_t plane = p->n.x * p->n.y;
    assert_int_equal(begin, p->next);
    assert_true(end > begin && end <= p->n.z);
    if (p->fail_at >= begin && p->fail_at < end) return TSR_ERROR_IO;
    if (end - begin > p->most) p->most = end - begin;
    p->next = end;
    memcpy(samples, p->samples + begin * plane, (size_t)((end - begin) * plane) * sizeof(float));
    return TSR_OK;
}

static void slabs(void **state)
{
    (void)state;
    static const int64_t thickness[] = { 1, 3, 7, 22, 0 };
    tsr_context *context = test_context();
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.7, 1.3, -0.9 }, (tsr_vec3){ 5, -7, 11 }, TSR_SPACE_RAS);
    for (int kind = 0; kind < 4; kind++) {
        tsr_size3 n = kind == 3 ? (tsr_size3){ 5, 3, 23 } : EXTENT; /* many planes in one block */
        float *f = field(n, kind & 1, 13);
        tsr_volume *volume = put(context, n, f);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_report whole = TSR_SURFACE_REPORT, report = TSR_SURFACE_REPORT;
        tsr_mesh *mesh;
        options.isovalue = 52.5;
        options.normals = (tsr_surface_normals)kind;
        options.ambiguity = kind == 1 ? TSR_SURFACE_DECIDE : (tsr_surface_ambiguity)(kind & 1);
        require_ok(tsr_surface_extract(context, volume, &options, &mesh, &whole));
        tsr_mesh *expected = home(&mesh);
        for (size_t t = 0; t < sizeof thickness / sizeof *thickness; t++) {
            struct planes planes = { f, n, 0, -1, 0 };
            tsr_planes_source source = TSR_PLANES_SOURCE;
            source.size = n;
            source.dtype = TSR_F32;
            source.geometry = &geometry;
            source.planes = give;
            source.user = &planes;
            require_ok(tsr_surface_extract_source(context, &source, &options, thickness[t], &mesh, &report));
            same_mesh(mesh, expected);
            assert_int_equal(planes.next, n.z);
            assert_true(!thickness[t] || planes.most <= thickness[t] + 3);
            assert_int_equal(report.cells, whole.cells);
            assert_int_equal(report.not_a_number, whole.not_a_number);
            tsr_mesh_destroy(&mesh);
        }
        struct planes broken = { f, n, 0, 9, 0 };
        tsr_planes_source source = TSR_PLANES_SOURCE;
        source.size = n;
        source.dtype = TSR_F32;
        source.planes = give;
        source.user = &broken;
        assert_int_equal(tsr_surface_extract_source(context, &source, &options, 2, &mesh, NULL), TSR_ERROR_IO);
        assert_null(mesh);
        options.close = 1;
        require_error(tsr_surface_extract_source(context, &source, &options, 2, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "close of a surface by slabs");
        options.close = 0;
        source.planes = NULL;
        require_error(tsr_surface_extract_source(context, &source, &options, 2, &mesh, NULL), TSR_ERROR_ARGUMENT, "no function that gives planes");
        tsr_mesh_destroy(&expected);
        tsr_volume_destroy(&volume);
        free(f);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* A function: the Cayley cubic in integers, golden counts of docs/theory/surfaces.md 9 (vertices, triangles). */
static tsr_status cayley(void *user, int64_t begin, int64_t end, void *samples)
{
    const int64_t n = *(const int64_t *)user, D = n - 1;
    int64_t *to = (int64_t *)samples;
    for (int64_t k = begin; k < end; k++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++) {
                int64_t X = 2 * i - D, Y = 2 * j - D, Z = 2 * k - D;
                *to++ = 16 * X * Y * Z + 4 * D * (X * X + Y * Y + Z * Z) - D * D * D;
            }
    return TSR_OK;
}
static void function_source(void **state)
{
    (void)state;
    static const int64_t golden[2][3] = { { 32, 2364, 4520 }, { 64, 9540, 18680 } };
    tsr_context *context = test_context();
    for (int k = 0; k < 2; k++) {
        int64_t n = golden[k][0];
        tsr_planes_source source = TSR_PLANES_SOURCE;
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_mesh *mesh;
        source.size = (tsr_size3){ n, n, n };
        source.dtype = TSR_I64;
        source.planes = cayley;
        source.user = &n;
        options.inside = TSR_SURFACE_INSIDE_BELOW;
        require_ok(tsr_surface_extract_source(context, &source, &options, 10, &mesh, NULL));
        assert_int_equal(tsr_mesh_vertex_count(mesh), golden[k][1]);
        assert_int_equal(tsr_mesh_triangle_count(mesh), golden[k][2]);
        tsr_mesh_destroy(&mesh);
    }
    tsr_context_destroy(&context);
}

/* A launch fails while the counts are on their way to the host: the next extraction begins when nothing writes them any more. */
static void refused(void **state)
{
    (void)state;
    static const char *const kernels[2] = { "emit_kernel", "count_kernel" };
    const char *device = getenv("TESSERA_DEVICE");
    if (!device || strcmp(device, "emu") != 0) return; /* which refuses launches when asked */
    float *f = field(EXTENT, 0, 17);
    for (int k = 0; k < 2; k++) {
        char text[32];
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_workspace *workspace;
        const tsr_mesh *view;
        tsr_mesh *copy;
        options.isovalue = 30;
        snprintf(text, sizeof text, "%s:1", kernels[k]);
        setenv("TESSERA_EMU_REFUSE", text, 1);
        tsr_context *context = test_context();
        unsetenv("TESSERA_EMU_REFUSE");
        tsr_volume *volume = put(context, EXTENT, f);
        require_ok(tsr_surface_workspace_create(context, &workspace));
        require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, NULL));
        require_error(tsr_surface_extract_again(workspace, volume, &options, &view, NULL), TSR_ERROR_DEVICE, "launch refused");
        require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, NULL));
        require_ok(tsr_mesh_copy(view, NULL, &copy));
        tsr_mesh *alone = extract(context, volume, &options);
        assert_true(tsr_mesh_triangle_count(copy) > 0);
        same_mesh(copy, alone);
        tsr_mesh_destroy(&copy);
        tsr_mesh_destroy(&alone);
        tsr_surface_workspace_destroy(&workspace);
        tsr_volume_destroy(&volume);
        assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
        tsr_context_destroy(&context);
    }
    free(f);
}

/* A field that moves, frame by frame: the same meshes, and once the largest was there no memory of the device is taken. */
static void again(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_surface_workspace *workspace;
    float *f = field(EXTENT, 0, 17), *noise = field(EXTENT, 1, 19);
    tsr_volume *volumes[2] = { put(context, EXTENT, f), put(context, EXTENT, noise) }, *small = put(context, (tsr_size3){ 9, 8, 7 }, noise);
    int64_t allocations = 0;
    require_ok(tsr_surface_workspace_create(context, &workspace));
    for (int frame = 0; frame < 16; frame++) {
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        const tsr_volume *volume = frame % 5 == 4 ? small : volumes[frame % 2 == 0];
        tsr_surface_report report = TSR_SURFACE_REPORT;
        const tsr_mesh *view;
        tsr_mesh *copy;
        options.isovalue = frame == 7 ? 1e6 : 30 + 2 * (frame % 3) + (frame == 0 ? 18 : 0);
        options.normals = TSR_SURFACE_NORMALS_CENTRAL;
        if (frame == 10) {
            options.normals = (tsr_surface_normals)9;
            require_error(tsr_surface_extract_again(workspace, volume, &options, &view, NULL), TSR_ERROR_ARGUMENT, "normals is 9");
            assert_null(view);
            options.normals = TSR_SURFACE_NORMALS_CENTRAL;
        }
        require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, &report));
        if (frame == 1) allocations = tsr_context_memory(context)->allocations;
        if (frame >= 1) assert_int_equal(tsr_context_memory(context)->allocations, allocations);
        require_ok(tsr_mesh_copy(view, NULL, &copy));
        int64_t before = tsr_context_memory(context)->allocations;
        tsr_mesh *alone = extract(context, volume, &options);
        allocations += tsr_context_memory(context)->allocations - before;
        same_mesh(copy, alone);
        assert_int_equal(tsr_mesh_triangle_count(copy) > 0, frame != 7);
        tsr_mesh_destroy(&copy);
        tsr_mesh_destroy(&alone);
    }
    tsr_surface_workspace_destroy(&workspace);
    assert_null(workspace);
    tsr_surface_workspace_destroy(&workspace);
    tsr_volume_destroy(&small);
    tsr_volume_destroy(&volumes[0]);
    tsr_volume_destroy(&volumes[1]);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
    free(f);
    free(noise);
}

/* Bytes of both signs in rows of whole words and others, at values where their comparison turns: the mesh of the same numbers as floats, and as many
 * vertices as edges whose ends differ. */
static void bytes(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 32, 2, 2 }, { 64, 5, 3 }, { 96, 13, 11 }, { 33, 4, 3 }, { 128, 17, 9 } };
    static const double values[] = {
        -200, -128, -127.5, -127, -1, -0.5, 0, 0.5, 1, 63, 64, 126.5, 127, 127.5, 128, 129, 200, 254.5, 255, 255.5, 400
    };
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    tsr_surface_workspace *workspace;
    require_ok(tsr_surface_workspace_create(context, &workspace));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes - (test_is_slow() ? 1 : 0); s++)
        for (int type = 0; type < (s == 2 ? 2 : 4); type++) { /* u8 i8 u16 i16: 16-bit numbers have the bytes on top */
            const int with_sign = type & 1, wide = type > 1;
            const tsr_size3 n = sizes[s];
            const int64_t samples = n.x * n.y * n.z, stride[3] = { 1, n.x, n.x * n.y };
            uint8_t *byte = (uint8_t *)malloc((size_t)samples);
            uint16_t *half = (uint16_t *)malloc((size_t)samples * sizeof *half);
            float *f = (float *)malloc((size_t)samples * sizeof *f);
            assert_true(byte && half && f);
            for (int64_t v = 0; v < samples; v++) { /* mostly flat, so that words without work lie between */
                const uint64_t r = test_random(&seed);
                byte[v] = s == 4 && r % 50 ? 100 : (uint8_t)(r >> 20);
                f[v] = with_sign ? (float)(int8_t)byte[v] : (float)byte[v];
                if (!wide) continue;
                half[v] = (uint16_t)(256 * byte[v] + (r >> 8 & 1 ? 255 : 0));
                f[v] = with_sign ? (float)(int16_t)half[v] : (float)half[v];
            }
            const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.7, 1.3, -0.9 }, (tsr_vec3){ 5, -7, 11 }, TSR_SPACE_RAS);
            tsr_volume *host, *volume, *floats = put(context, n, f);
            static const tsr_dtype types[4] = { TSR_U8, TSR_I8, TSR_U16, TSR_I16 };
            require_ok(tsr_volume_wrap(NULL, types[type], n, &geometry, wide ? (void *)half : (void *)byte, NULL, NULL, &host));
            require_ok(tsr_volume_copy(host, context, &volume));
            for (size_t k = s % 2; k < sizeof values / sizeof *values; k += (s < 2 ? 1 : 2) + (wide ? 2 : 0)) {
                tsr_surface_options options = TSR_SURFACE_OPTIONS;
                const tsr_mesh *view;
                tsr_mesh *kept;
                int64_t cut = 0;
                const double value = wide ? 256 * values[k] : values[k];
                options.isovalue = value;
                options.inside = k % 3 == 1 ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
                options.normals = k / 4 % 2 ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_NONE;
                for (int64_t v = 0; v < samples; v++)
                    for (int axis = 0; axis < 3; axis++) {
                        const int64_t at = axis == 0   ? v % n.x
                                           : axis == 1 ? v / n.x % n.y
                                                       : v / n.x / n.y,
                                      end = axis == 0   ? n.x
                                            : axis == 1 ? n.y
                                                        : n.z;
                        cut += at + 1 < end && ((double)f[v] >= value) != ((double)f[v + stride[axis]] >= value);
                    }
                tsr_mesh *mesh = extract(context, volume, &options), *expected = extract(context, floats, &options);
                assert_int_equal(tsr_mesh_vertex_count(mesh), cut);
                same_mesh(mesh, expected);
                require_ok(tsr_surface_extract_again(workspace, volume, &options, &view, NULL)); /* smaller, larger, with and without normals */
                require_ok(tsr_mesh_copy(view, NULL, &kept));
                same_mesh(kept, expected);
                tsr_mesh_destroy(&kept);
                tsr_mesh_destroy(&expected);
                tsr_mesh_destroy(&mesh);
            }
            tsr_volume_destroy(&floats);
            tsr_volume_destroy(&volume);
            tsr_volume_destroy(&host);
            free(f);
            free(half);
            free(byte);
        }
    tsr_surface_workspace_destroy(&workspace);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

static void unindexed(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    float *f = field(EXTENT, 1, 3);
    tsr_volume *volume = put(context, EXTENT, f);
    for (int normals = 0; normals < 2; normals++) {
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_mesh *mesh, *soup, *none;
        options.isovalue = 40;
        options.normals = normals ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_NONE;
        require_ok(tsr_surface_extract(context, volume, &options, &mesh, NULL));
        require_ok(tsr_surface_unindex(context, mesh, &soup));
        tsr_mesh *a = home(&mesh), *b = home(&soup);
        assert_int_equal(tsr_mesh_vertex_count(b), 3 * tsr_mesh_triangle_count(a));
        assert_int_equal(tsr_mesh_triangle_count(b), tsr_mesh_triangle_count(a));
        assert_int_equal(tsr_mesh_space(b), TSR_SPACE_RAS);
        for (int64_t k = 0; k < 3 * tsr_mesh_triangle_count(a); k++) {
            int64_t at = tsr_mesh_triangles_const(a)[k];
            assert_int_equal(tsr_mesh_triangles_const(b)[k], k);
            assert_memory_equal(tsr_mesh_vertices_const(b) + 3 * k, tsr_mesh_vertices_const(a) + 3 * at, 12);
            if (normals) assert_memory_equal(tsr_mesh_normals_const(b) + 3 * k, tsr_mesh_normals_const(a) + 3 * at, 12);
        }
        tsr_mesh_destroy(&a);
        tsr_mesh_destroy(&b);
        options.isovalue = 1e9;
        require_ok(tsr_surface_extract(context, volume, &options, &none, NULL));
        require_ok(tsr_surface_unindex(context, none, &soup));
        assert_int_equal(tsr_mesh_vertex_count(soup), 0);
        tsr_mesh_destroy(&soup);
        require_error(tsr_surface_unindex(context, NULL, &soup), TSR_ERROR_ARGUMENT, "mesh is NULL");
        tsr_mesh_destroy(&none);
    }
    tsr_volume_destroy(&volume);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
    free(f);
}

/* Every way to triangles without an index: the triangles of the indexed mesh, one by one, to the last bit. */
static void gathered(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 37, 9, 8 }, { 64, 5, 3 }, { 2, 2, 2 } };
    tsr_context *context = test_context();
    for (int s = 0; s < 3; s++)
        for (int noise = 0; noise < 2; noise++) {
            float *f = field(sizes[s], noise, 3 + (uint64_t)s);
            tsr_volume *volume = put(context, sizes[s], f);
            for (int kind = 0; kind < (s == 0 ? 4 : 2); kind++) {
                tsr_surface_options options = TSR_SURFACE_OPTIONS;
                tsr_surface_report expected_report = TSR_SURFACE_REPORT, report = TSR_SURFACE_REPORT;
                tsr_mesh *mesh, *soup;
                options.isovalue = kind == 3 ? 1e9 : 47;
                options.normals = kind == 1 ? TSR_SURFACE_NORMALS_CENTRAL : TSR_SURFACE_NORMALS_NONE;
                options.close = kind == 1;
                options.ambiguity = kind == 2 ? TSR_SURFACE_DECIDE : kind == 1 ? TSR_SURFACE_SEPARATE_OUTSIDE : TSR_SURFACE_SEPARATE_INSIDE;
                options.inside = kind == 2 ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
                options.midpoints = s == 1 && kind == 0;
                require_ok(tsr_surface_extract(context, volume, &options, &mesh, &expected_report));
                require_ok(tsr_surface_unindex(context, mesh, &soup));
                tsr_mesh *expected = home(&soup);
                if (s == 0) assert_int_equal(tsr_mesh_triangle_count(expected) > 0, kind != 3);
                for (int gather = TSR_SURFACE_GATHER_VERTEX; gather <= TSR_SURFACE_SCATTER; gather++) {
                    require_ok(tsr_surface_extract_triangles(context, volume, &options, (tsr_surface_gather)gather, &soup, &report));
                    tsr_mesh *own = home(&soup);
                    same_mesh(own, expected);
                    assert_int_equal(report.cells, expected_report.cells);
                    assert_int_equal(report.not_a_number, expected_report.not_a_number);
                    assert_true(report.work_bytes > 0);
                    tsr_mesh_destroy(&own);
                }
                tsr_mesh_destroy(&expected);
                tsr_mesh_destroy(&mesh);
            }
            require_error(tsr_surface_extract_triangles(context, volume, NULL, (tsr_surface_gather)5, &(tsr_mesh *){ NULL }, NULL),
                          TSR_ERROR_ARGUMENT, "gather is 5");
            tsr_volume_destroy(&volume);
            free(f);
        }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Samples that are not numbers are counted anew in every call of a workspace, whatever kind of volume came before. */
static void counted_anew(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 64, 9, 7 }, { 37, 9, 7 }, { 64, 5, 3 }, { 64, 9, 7 } };
    tsr_context *context = test_context();
    tsr_surface_workspace *workspace;
    require_ok(tsr_surface_workspace_create(context, &workspace));
    for (int frame = 0; frame < 8; frame++) {
        const tsr_size3 n = sizes[frame % 4];
        float *f = field(n, 1, 5 + (uint64_t)frame);
        tsr_volume *volume = put(context, n, f), *typed = NULL;
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_report report = TSR_SURFACE_REPORT;
        const tsr_mesh *view;
        int64_t expected = 0;
        options.isovalue = 50;
        if (frame == 3) require_ok(tsr_volume_convert(context, volume, TSR_U16, &typed));
        for (int64_t v = 0; v < n.x * n.y * n.z && !typed; v++) expected += f[v] != f[v];
        require_ok(tsr_surface_extract_again(workspace, typed ? typed : volume, &options, &view, &report));
        assert_true(tsr_mesh_triangle_count(view) > 0);
        assert_int_equal(report.not_a_number, expected);
        tsr_volume_destroy(&typed);
        tsr_volume_destroy(&volume);
        free(f);
    }
    tsr_surface_workspace_destroy(&workspace);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_values),  cmocka_unit_test(outside_separated), cmocka_unit_test(diagonal_pair),
        cmocka_unit_test(midpoints),       cmocka_unit_test(trilinear),         cmocka_unit_test(slabs),
        cmocka_unit_test(function_source), cmocka_unit_test(unindexed),         cmocka_unit_test(again),
        cmocka_unit_test(bytes),           cmocka_unit_test(refused),           cmocka_unit_test(gathered),
        cmocka_unit_test(counted_anew),
    };
    return cmocka_run_group_tests_name("surface modes", tests, NULL, NULL);
}
