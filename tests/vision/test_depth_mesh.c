/* Meshes of depth maps: no cracks, no T-junctions, the promised tolerance, holes where depths jump, counts worked out by hand. The checks look at the
 * mesh alone: they project its vertices back to pixels. */
#include <math.h>

#include "support.h"

enum { MOST = 80 };

typedef struct {
    int32_t w, h;
    double value[MOST * MOST];
} map;

static tsr_volume *volume_of(const map *m, const tsr_geometry *geometry)
{
    tsr_volume *v;
    require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ m->w, m->h, 1 }, geometry, &v));
    memcpy(tsr_volume_data(v), m->value, (size_t)m->w * (size_t)m->h * sizeof(double));
    return v;
}

static tsr_camera camera_of(const map *m)
{
    /* turned about two axes, away from the origin */
    const double c = cos(0.3), s = sin(0.3), d = cos(0.2), e = sin(0.2);
    tsr_pinhole p = { .width = m->w,
                      .height = m->h,
                      .fx = 55,
                      .fy = 55,
                      .cx = 0.5 * m->w,
                      .cy = 0.5 * m->h,
                      .rotation = { { c, 0, -s }, { e * s, d, e * c }, { d * s, -e, d * c } } };
    const double at[3] = { 3, -2, 5 };
    for (int i = 0; i < 9; i++) p.translation[i / 3] -= p.rotation[i / 3][i % 3] * at[i % 3];
    tsr_camera camera;
    require_ok(tsr_camera_from_pinhole(&p, &camera));
    return camera;
}

typedef struct {
    int32_t x, y;
} pixel;

/* Vertices back to whole pixels, each with its own depth. */
static pixel *pixels_of(const map *m, const tsr_mesh *mesh, const tsr_camera *camera, double disparity)
{
    pixel *p = (pixel *)malloc((size_t)tsr_mesh_vertex_count(mesh) * sizeof *p);
    for (int64_t i = 0; i < tsr_mesh_vertex_count(mesh); i++) {
        const float *v = tsr_mesh_vertices_const(mesh) + 3 * i;
        double at[2] = { (double)v[0], (double)v[1] }, depth = (double)v[2];
        if (camera) {
            require_ok(tsr_camera_project(camera, m->w, m->h, (tsr_vec3){ (double)v[0], (double)v[1], (double)v[2] }, at, &depth));
            at[0] -= 0.5; /* of the pixel's centre */
            at[1] -= 0.5;
        }
        p[i] = (pixel){ (int32_t)lround(at[0]), (int32_t)lround(at[1]) };
        assert_true(fabs(at[0] - p[i].x) < 1e-3 && fabs(at[1] - p[i].y) < 1e-3);
        const double value = m->value[p[i].y * m->w + p[i].x], expected = disparity > 0 ? disparity / value : value;
        assert_true(fabs(depth - expected) < 1e-5 * (1 + fabs(expected)));
    }
    return p;
}

static int64_t area2(pixel a, pixel b, pixel c) { return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x); }

/* Every triangle the same way round; covers each pixel square of `cells` once (areas sum up, no vertex inside a triangle or an edge). */
static void check_cover(const tsr_mesh *mesh, const pixel *p, int64_t cells, int sign)
{
    const uint32_t *t = tsr_mesh_triangles_const(mesh);
    int64_t sum = 0;
    for (int64_t i = 0; i < tsr_mesh_triangle_count(mesh); i++) {
        const pixel a = p[t[3 * i]], b = p[t[3 * i + 1]], c = p[t[3 * i + 2]];
        const int64_t area = sign * area2(a, b, c);
        assert_true(area > 0);
        sum += area;
        for (int64_t v = 0; v < tsr_mesh_vertex_count(mesh); v++) {
            const int64_t w[3] = { sign * area2(a, b, p[v]), sign * area2(b, c, p[v]), sign * area2(c, a, p[v]) };
            const int inside = w[0] >= 0 && w[1] >= 0 && w[2] >= 0;
            if (inside && v != t[3 * i] && v != t[3 * i + 1] && v != t[3 * i + 2])
                fail_msg("vertex (%d, %d) lies on triangle %d: a T-junction", p[v].x, p[v].y, (int)i);
        }
    }
    assert_int_equal(sum, 2 * cells);
}

/* The depth of the mesh at every pixel, by a search through the triangles: planes in space cut by rays. Returns the largest error. */
static double largest_error(const map *m, const tsr_mesh *mesh, const pixel *p, int inverse, double disparity)
{
    const uint32_t *t = tsr_mesh_triangles_const(mesh);
    double worst = 0;
    for (int32_t y = 0; y < m->h; y++)
        for (int32_t x = 0; x < m->w; x++)
            for (int64_t i = 0; i < tsr_mesh_triangle_count(mesh); i++) {
                const pixel a = p[t[3 * i]], b = p[t[3 * i + 1]], c = p[t[3 * i + 2]], q = { x, y };
                const double all = (double)area2(a, b, c), u = (double)area2(b, c, q) / all, v = (double)area2(c, a, q) / all, w = 1 - u - v;
                if (u < 0 || v < 0 || w < -1e-12) continue;
                double z[3];
                for (int k = 0; k < 3; k++) {
                    const pixel at = p[t[3 * i + k]];
                    z[k] = m->value[at.y * m->w + at.x];
                    if (disparity > 0) z[k] = disparity / z[k];
                }
                const double here = disparity > 0 ? disparity / m->value[y * m->w + x] : m->value[y * m->w + x];
                const double mesh_depth = inverse ? 1 / (u / z[0] + v / z[1] + w / z[2]) : u * z[0] + v * z[1] + w * z[2];
                worst = fmax(worst, fabs(mesh_depth - here));
            }
    return worst;
}

static double smooth(int32_t x, int32_t y) { return 40 + 6 * sin(0.11 * x) * cos(0.07 * y) + 0.05 * x; }

static void tolerance_is_kept(void **state)
{
    (void)state;
    static map m = { .w = 67, .h = 46 };
    uint64_t seed = test_seed();
    for (int n = 0; n < 6; n++) {
        const tsr_camera camera = camera_of(&m);
        const double disparity = n % 3 == 2 ? 2000 : 0;
        for (int32_t i = 0; i < m.w * m.h; i++) {
            const double z = smooth(i % m.w, i / m.w) + (n >= 3 ? 0.05 * (double)(test_random(&seed) % 100) / 100 : 0);
            m.value[i] = disparity > 0 ? disparity / z : z;
        }
        const tsr_depth_mesh_options options = {
            .struct_size = sizeof options, .camera = n % 3 ? &camera : NULL, .disparity = disparity, .tolerance = 0.2
        };
        tsr_volume *v = volume_of(&m, NULL);
        tsr_mesh *mesh;
        tsr_depth_mesh_info info = TSR_DEPTH_MESH_INFO;
        tsr_mesh_measures measures = TSR_MESH_MEASURES;
        require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
        pixel *p = pixels_of(&m, mesh, options.camera, disparity);
        require_ok(tsr_mesh_measure(mesh, &measures));
        assert_null(tsr_mesh_normals(mesh)); /* none are made, so that none are written */
        assert_int_equal(measures.nonmanifold_edges, 0);
        assert_int_equal(measures.misoriented_edges, 0);
        assert_int_equal(measures.euler, 1); /* a disc: no crack inside */
        assert_int_equal(info.cells, (m.w - 1) * (m.h - 1));
        check_cover(mesh, p, info.cells, options.camera ? -1 : 1);
        const double worst = largest_error(&m, mesh, p, options.camera != NULL, disparity);
        assert_true(worst <= 0.2 && fabs(worst - info.max_error) < 1e-9 && info.rms_error > 0 && info.rms_error <= info.max_error);
        assert_true(info.triangles < info.cells); /* of two per cell: it does merge */
        /* the same for any number of threads */
        tsr_depth_mesh_options one = options;
        tsr_mesh *again;
        one.threads = 1;
        require_ok(tsr_depth_mesh(v, &one, &again, NULL));
        assert_int_equal(tsr_mesh_triangle_count(again), tsr_mesh_triangle_count(mesh));
        assert_memory_equal(tsr_mesh_triangles(again), tsr_mesh_triangles(mesh), (size_t)info.triangles * 12);
        assert_memory_equal(tsr_mesh_vertices(again), tsr_mesh_vertices(mesh), (size_t)info.vertices * 12);
        tsr_mesh_destroy(&again);
        tsr_mesh_destroy(&mesh);
        tsr_volume_destroy(&v);
        free(p);
    }
}

/* A plane seen by a pinhole has depths 1 / (a + bx + cy): leaves grow as large as the map allows. */
static void planes(void **state)
{
    (void)state;
    static map m = { .w = 65, .h = 65 };
    const tsr_camera camera = camera_of(&m);
    tsr_depth_mesh_options options = { .struct_size = sizeof options, .camera = &camera, .tolerance = 1e-9 };
    tsr_depth_mesh_info info = TSR_DEPTH_MESH_INFO;
    tsr_mesh *mesh;
    for (int32_t i = 0; i < 65 * 65; i++) m.value[i] = 1 / (0.02 + 1e-4 * (i % 65) - 5e-5 * (i / 65));
    tsr_volume *v = volume_of(&m, NULL);
    require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
    assert_int_equal(info.leaves, 1);
    assert_int_equal(info.triangles, 2);
    tsr_mesh_destroy(&mesh);
    options.most_side = 16;
    require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
    assert_int_equal(info.leaves, 16);
    assert_int_equal(info.triangles, 32);
    assert_int_equal(info.vertices, 25);
    tsr_mesh_destroy(&mesh);
    options.most_side = 0;
    options.camera = NULL; /* as heights it is curved */
    options.tolerance = 1e-3;
    require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
    assert_true(info.leaves > 4);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&v);
}

/* A step after column a: cells left of it are a half-plane of the cell grid, those right of it another; the counts of both are known in closed form,
 * and all leaves are plane, so that a fan comes only from finer neighbours. */
static void steps(void **state)
{
    (void)state;
    static map m = { .w = 65, .h = 65 };
    for (int a = 1; a < 64; a += 7) {
        tsr_depth_mesh_options options = { .struct_size = sizeof options, .discontinuity = 1 };
        tsr_depth_mesh_info info = TSR_DEPTH_MESH_INFO;
        tsr_mesh *mesh;
        tsr_mesh_measures measures = TSR_MESH_MEASURES;
        int64_t leaves = 0;
        for (int32_t i = 0; i < 65 * 65; i++) m.value[i] = i % 65 <= a ? 0 : 5;
        /* left: cells x < a; right: cells x >= a + 1, that is 63 - a columns from the other side: sum of 2^(6 - b) over the bits b */
        for (int b = 0; b < 6; b++) leaves += (int64_t)((a >> b & 1) + ((63 - a) >> b & 1)) << (6 - b);
        tsr_volume *v = volume_of(&m, NULL);
        require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
        assert_int_equal(info.leaves, leaves);
        assert_int_equal(info.cells, 64 * 63);
        assert_true(info.max_error == 0);
        require_ok(tsr_mesh_measure(mesh, &measures));
        assert_int_equal(measures.components, 2); /* the step is not bridged */
        assert_int_equal(measures.euler, 2);
        pixel *p = pixels_of(&m, mesh, NULL, 0);
        if (a % 21 == 1) check_cover(mesh, p, info.cells, 1);
        free(p);
        tsr_mesh_destroy(&mesh);
        options.discontinuity = 0; /* bridged */
        require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
        require_ok(tsr_mesh_measure(mesh, &measures));
        assert_int_equal(measures.components, 1);
        assert_int_equal(measures.euler, 1);
        tsr_mesh_destroy(&mesh);
        tsr_volume_destroy(&v);
    }
}

/* Holes at random: edges of one triangle only where a cell is missing on the other side. */
static void holes(void **state)
{
    (void)state;
    static map m = { .w = 37, .h = 31 };
    uint64_t seed = test_seed();
    for (int n = 0; n < 4; n++) {
        const tsr_camera camera = camera_of(&m);
        const tsr_depth_mesh_options options = { .struct_size = sizeof options, .camera = n & 1 ? &camera : NULL, .tolerance = 0.3 };
        tsr_depth_mesh_info info = TSR_DEPTH_MESH_INFO;
        tsr_mesh *mesh;
        int64_t cells = 0, edges[2] = { 0, 0 };
        for (int32_t i = 0; i < m.w * m.h; i++) m.value[i] = test_random(&seed) % 60 == 0 ? (n & 1 ? 0.0 : (double)NAN) : smooth(i % m.w, i / m.w);
        tsr_volume *v = volume_of(&m, NULL);
        require_ok(tsr_depth_mesh(v, &options, &mesh, &info));
        uint8_t there[MOST][MOST] = { { 0 } };
        for (int32_t y = 0; y + 1 < m.h; y++)
            for (int32_t x = 0; x + 1 < m.w; x++) {
                int good = 1;
                for (int c = 0; c < 4; c++) good &= m.value[(y + (c >> 1)) * m.w + x + (c & 1)] > 0;
                cells += there[y + 1][x + 1] = (uint8_t)good;
            }
        assert_int_equal(info.cells, cells);
        for (int32_t y = 0; y < m.h; y++) /* unit edges between a cell that is there and one that is not */
            for (int32_t x = 0; x < m.w; x++) {
                edges[0] += there[y + 1][x + 1] != there[y + 1][x];
                edges[0] += there[y + 1][x + 1] != there[y][x + 1];
            }
        pixel *p = pixels_of(&m, mesh, options.camera, 0);
        check_cover(mesh, p, cells, options.camera ? -1 : 1);
        const uint32_t *t = tsr_mesh_triangles_const(mesh);
        for (int64_t i = 0; i < 3 * info.triangles; i++) { /* length of the edges that have no partner */
            const uint32_t a = t[i], b = t[i % 3 == 2 ? i - 2 : i + 1];
            int partner = 0;
            for (int64_t k = 0; k < 3 * info.triangles && !partner; k++) partner = t[k] == b && t[k % 3 == 2 ? k - 2 : k + 1] == a;
            if (!partner) edges[1] += labs((long)p[a].x - p[b].x) + labs((long)p[a].y - p[b].y);
        }
        assert_int_equal(edges[1], edges[0]);
        free(p);
        tsr_mesh_destroy(&mesh);
        tsr_volume_destroy(&v);
    }
}

static void placed_by_geometry(void **state)
{
    (void)state;
    static map m = { .w = 3, .h = 2, .value = { 1, 2, 4, 1, 2, 8 } };
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 2, -3, 0.5 }, (tsr_vec3){ 10, 20, 30 }, TSR_SPACE_RAS);
    tsr_volume *v = volume_of(&m, &geometry);
    tsr_mesh *mesh;
    require_ok(tsr_depth_mesh(v, NULL, &mesh, NULL));
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_RAS);
    const float *last = tsr_mesh_vertices(mesh) + 3 * 5, expected[3] = { 14, 17, 38 };
    assert_memory_equal(last, expected, sizeof expected);
    const uint32_t *t = tsr_mesh_triangles(mesh); /* mirrored: still faces the third axis */
    const float *a = tsr_mesh_vertices(mesh) + 3 * t[0], *b = tsr_mesh_vertices(mesh) + 3 * t[1], *c = tsr_mesh_vertices(mesh) + 3 * t[2];
    assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&v);
}

static void mistakes(void **state)
{
    (void)state;
    static map m = { .w = 4, .h = 4 };
    tsr_mesh *mesh;
    tsr_volume *v = volume_of(&m, NULL);
    tsr_camera camera = camera_of(&m);
    tsr_depth_mesh_options o = { .struct_size = sizeof o, .tolerance = -1 };
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "tolerance is -1");
    o.tolerance = (double)NAN;
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "tolerance is");
    o = (tsr_depth_mesh_options){ .struct_size = sizeof o, .most_side = 12 };
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "most_side is 12");
    o = (tsr_depth_mesh_options){ .struct_size = sizeof o, .disparity = 5 };
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "disparity is 5");
    o = (tsr_depth_mesh_options){ .struct_size = sizeof o, .camera = &camera };
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_STATE, "no four neighbouring pixels"); /* all depths are 0 */
    assert_null(mesh);
    camera.projection = TSR_PROJECTION_MATRIX;
    for (int i = 0; i < 4; i++) camera.matrix[5 * i] = 1;
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "a matrix");
    camera.projection = TSR_PERSPECTIVE;
    camera.lens.k1 = 0.1;
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "distorts");
    tsr_volume_destroy(&v);
    camera.lens.k1 = 0;
    camera.offset[0] = 1e300;
    for (int i = 0; i < 16; i++) m.value[i] = 2;
    v = volume_of(&m, NULL);
    require_error(tsr_depth_mesh(v, &o, &mesh, NULL), TSR_ERROR_ARGUMENT, "expected numbers that float32 holds");
    assert_null(mesh);
    tsr_volume_destroy(&v);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 1, 1 }, NULL, &v));
    require_error(tsr_depth_mesh(v, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "4 x 1 x 1");
    tsr_volume_destroy(&v);
    require_error(tsr_depth_mesh(NULL, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "depth is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_is_kept),  cmocka_unit_test(planes),   cmocka_unit_test(steps), cmocka_unit_test(holes),
        cmocka_unit_test(placed_by_geometry), cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
