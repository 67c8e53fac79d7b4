/* Fusion of exact depth maps of spheres and planes: places, colours, closed surfaces, the order of devices. */
#include <math.h>

#include "support.h"

static tsr_volume *upload(tsr_context *context, tsr_dtype type, const void *data, int32_t wide, int32_t high)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, type, (tsr_size3){ wide, high, 1 }, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

enum { W = 64, H = 48 };

/* The depth of the sphere of radius 1 about the origin, and its colour: of the sign of x and of z. */
static void draw_sphere(const tsr_camera *camera, float *depth, uint8_t *colors)
{
    for (int i = 0; i < W * H; i++) {
        const double pixel[2] = { i % W + 0.5, i / W + 0.5 };
        tsr_vec3 o, d;
        require_ok(tsr_camera_ray(camera, W, H, pixel, &o, &d));
        const double a = d.x * d.x + d.y * d.y + d.z * d.z, b = o.x * d.x + o.y * d.y + o.z * d.z, c = o.x * o.x + o.y * o.y + o.z * o.z - 1;
        const double root = b * b - a * c, t = root > 0 ? (-b - sqrt(root)) / a : 0;
        depth[i] = (float)t;
        colors[3 * i] = o.x + t * d.x > 0 ? 200 : 50;
        colors[3 * i + 1] = 90;
        colors[3 * i + 2] = o.z + t * d.z > 0 ? 220 : 20;
    }
}

static tsr_camera eye(int n, int count)
{
    tsr_camera c = { .fov = 45 };
    const double a = 6.283185307179586 * n / count, up = n % 3 == 0 ? 1.8 : n % 3 == 1 ? -1.8 : 0;
    if (n >= count) require_ok(tsr_camera_look_at(&c, (tsr_vec3){ 0, 0, n > count ? 4 : -4 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    else require_ok(tsr_camera_look_at(&c, (tsr_vec3){ 3.6 * cos(a), 3.6 * sin(a), up }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    return c;
}

/* Of the first `maps` of the sphere's eleven. */
static tsr_fusion *fuse_sphere(tsr_context *context, double voxel, int64_t capacity, int maps)
{
    static float depth[W * H];
    static uint8_t colors[W * H * 3];
    tsr_fusion_options o = TSR_FUSION_OPTIONS;
    tsr_fusion *f;
    o.voxel = voxel;
    o.capacity = capacity;
    require_ok(tsr_fusion_create(context, &o, &f));
    for (int n = 0; n < maps; n++) {
        const tsr_camera c = eye(n, 9);
        draw_sphere(&c, depth, colors);
        tsr_volume *d = upload(context, TSR_F32, depth, W, H), *i = upload(context, TSR_U8, colors, W * 3, H);
        require_ok(tsr_fusion_add(f, d, i, &c));
        tsr_volume_destroy(&d);
        tsr_volume_destroy(&i);
    }
    return f;
}

/* Seen from all around the surface is closed, one piece, within a fifth of a voxel of the sphere on average, and has its colours. */
static void sphere(void **unused)
{
    tsr_context *context = test_context();
    const double h = 0.08;
    tsr_fusion *f = fuse_sphere(context, h, 0, 11);
    tsr_fusion_info info = TSR_FUSION_INFO;
    tsr_fusion_mesh_options o = TSR_FUSION_MESH_OPTIONS;
    tsr_mesh *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    (void)unused;
    require_ok(tsr_fusion_describe(f, &info));
    assert_true(info.maps == 11 && info.bricks > 20 && info.touched > 10 && info.touched <= info.bricks && info.device_bytes > 0);
    o.closed = 1;
    require_ok(tsr_fusion_mesh(f, &o, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_int_equal(m.boundary_edges, 0);
    assert_int_equal(m.nonmanifold_edges, 0);
    assert_int_equal(m.components, 1);
    assert_int_equal(m.euler, 2);
    const double off = m.volume / (4.0 / 3 * 3.14159265358979323846) - 1;
    if (!(fabs(off) < 0.06)) fail_msg("the volume is off by %g of the sphere's", off);
    tsr_mesh_destroy(&mesh);
    o.closed = 0;
    require_ok(tsr_fusion_mesh(f, &o, &mesh));
    double sum = 0;
    int wrong = 0;
    const int64_t count = tsr_mesh_vertex_count(mesh);
    const uint8_t *colors = tsr_mesh_colors_const(mesh);
    assert_non_null(colors);
    for (int64_t i = 0; i < count; i++) {
        const float *v = tsr_mesh_vertices_const(mesh) + 3 * i, *n = tsr_mesh_normals_const(mesh) + 3 * i;
        sum += fabs(sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])) - 1);
        wrong += (double)(n[0] * v[0] + n[1] * v[1] + n[2] * v[2]) < 0.7;
        if (fabsf(v[0]) > 0.3f) wrong += abs(colors[4 * i] - (v[0] > 0 ? 200 : 50)) > 12;
        wrong += abs(colors[4 * i + 1] - 90) > 1;
    }
    print_message("sphere: mean distance %.4f voxels, %d of %lld vertices odd\n", sum / (double)count / h, wrong, (long long)count);
    assert_true(sum / (double)count < 0.2 * h && wrong < count / 20);
    tsr_mesh_destroy(&mesh);
    tsr_tiles *tiles;
    tsr_tiles_info t = TSR_TILES_INFO;
    require_ok(tsr_fusion_tiles(f, 0, &tiles));
    require_ok(tsr_tiles_describe(tiles, &t));
    assert_true(t.count > 20);
    assert_true(t.edge == 8 && fabs(t.band - 4 * h) < 1e-6);
    tsr_tiles_destroy(&tiles);
    tsr_fusion_destroy(&f);
    assert_null(f);
    tsr_context_destroy(&context);
}

/* One look at a plane: an open piece of it, and the mean of two depths where two maps differ. */
static void plane(void **unused)
{
    static float depth[W * H];
    tsr_context *context = test_context();
    tsr_camera c = { .fov = 45 };
    tsr_fusion_options o = TSR_FUSION_OPTIONS;
    tsr_fusion *f;
    tsr_mesh *mesh;
    (void)unused;
    for (int k = 0; k < 3; k++) c.rotation[k][k] = 1;
    o.voxel = 0.07;
    require_ok(tsr_fusion_create(context, &o, &f));
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < W * H; i++) depth[i] = n ? 3.06f : 3.0f;
        depth[5] = NAN;
        depth[6] = -1;
        tsr_volume *d = upload(context, TSR_F32, depth, W, H);
        require_ok(tsr_fusion_add(f, d, NULL, &c));
        tsr_volume_destroy(&d);
    }
    require_ok(tsr_fusion_mesh(f, NULL, &mesh));
    assert_null(tsr_mesh_colors_const(mesh));
    assert_true(tsr_mesh_vertex_count(mesh) > 200);
    for (int64_t i = 0; i < tsr_mesh_vertex_count(mesh); i++) assert_true(fabs((double)tsr_mesh_vertices_const(mesh)[3 * i + 2] + 3.03) < 2e-3);
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_true(m.boundary_edges > 0 && m.components == 1 && m.volume < 1e9);
    const double wide = 2 * 3.03 * tan(22.5 * 3.14159265358979323846 / 180) * W / H, high = wide * H / W;
    assert_true(m.area < wide * high && m.area > 0.85 * wide * high);
    tsr_mesh_destroy(&mesh);
    tsr_fusion_destroy(&f);
    tsr_context_destroy(&context);
}

static void same_mesh(tsr_mesh *a, tsr_mesh *b)
{
    assert_int_equal(tsr_mesh_vertex_count(a), tsr_mesh_vertex_count(b));
    assert_int_equal(tsr_mesh_triangle_count(a), tsr_mesh_triangle_count(b));
    assert_memory_equal(tsr_mesh_vertices(a), tsr_mesh_vertices(b), (size_t)tsr_mesh_vertex_count(b) * 12);
    assert_memory_equal(tsr_mesh_colors(a), tsr_mesh_colors(b), (size_t)tsr_mesh_vertex_count(b) * 4);
    assert_memory_equal(tsr_mesh_triangles(a), tsr_mesh_triangles(b), (size_t)tsr_mesh_triangle_count(b) * 12);
}

/* The same mesh on one thread of a CPU, on three, and on this device. */
static void devices_agree(void **unused)
{
    tsr_context *context[3] = { test_context(), test_context_on("cpu", 1), test_context_on("cpu", 3) };
    tsr_mesh *mesh[3];
    (void)unused;
    for (int k = 0; k < 3; k++) {
        tsr_fusion *f = fuse_sphere(context[k], 0.16, 0, 11);
        require_ok(tsr_fusion_mesh(f, NULL, &mesh[k]));
        tsr_fusion_destroy(&f);
    }
    for (int k = 1; k < 3; k++) same_mesh(mesh[k], mesh[0]);
    for (int k = 0; k < 3; k++) {
        tsr_mesh_destroy(&mesh[k]);
        tsr_context_destroy(&context[k]);
    }
}

/* A table that grows when it has bricks already, and one with room for all: the same mesh. */
static void tables_grow(void **unused)
{
    enum { ROOM = 2048, LARGE = 40000 }; /* bricks before a table has to grow: of one that nobody gave a capacity, of the other */
    tsr_context *context = test_context();
    tsr_fusion_info info = TSR_FUSION_INFO;
    tsr_mesh *mesh[2];
    (void)unused;
    for (int maps = 1; maps <= 11; maps += 10)
        for (int k = 0; k < 2; k++) {
            tsr_fusion *f = fuse_sphere(context, 0.012, k ? LARGE : 0, maps);
            require_ok(tsr_fusion_describe(f, &info));
            if (maps == 1) assert_true(info.bricks > ROOM / 4 && info.bricks <= ROOM);
            else {
                assert_true(info.bricks > ROOM && info.bricks < LARGE);
                require_ok(tsr_fusion_mesh(f, NULL, &mesh[k]));
            }
            tsr_fusion_destroy(&f);
        }
    assert_true(tsr_mesh_triangle_count(mesh[0]) > 10000);
    same_mesh(mesh[0], mesh[1]);
    for (int k = 0; k < 2; k++) tsr_mesh_destroy(&mesh[k]);
    tsr_context_destroy(&context);
}

static void mistakes(void **unused)
{
    static float depth[W * H];
    static uint8_t colors[W * H * 3];
    tsr_context *context = test_context();
    tsr_fusion_options o = TSR_FUSION_OPTIONS;
    tsr_fusion *f;
    tsr_mesh *mesh;
    tsr_camera c = eye(0, 9);
    (void)unused;
    require_error(tsr_fusion_create(context, &o, &f), TSR_ERROR_ARGUMENT, "voxel");
    o.voxel = 0.1;
    o.truncation = 0.05;
    require_error(tsr_fusion_create(context, &o, &f), TSR_ERROR_ARGUMENT, "truncation");
    o.truncation = 0;
    o.memory_limit = 100000;
    require_ok(tsr_fusion_create(context, &o, &f));
    require_error(tsr_fusion_mesh(f, NULL, &mesh), TSR_ERROR_STATE, "no depth map");
    draw_sphere(&c, depth, colors);
    tsr_volume *d = upload(context, TSR_F32, depth, W, H), *i = upload(context, TSR_U8, colors, W * 3, H),
               *small = upload(context, TSR_U8, colors, W * 3, H / 2);
    require_error(tsr_fusion_add(f, d, i, &c), TSR_ERROR_CAPACITY, "memory_limit");
    tsr_fusion_destroy(&f);
    o.memory_limit = 0;
    require_ok(tsr_fusion_create(context, &o, &f));
    require_error(tsr_fusion_add(f, NULL, i, &c), TSR_ERROR_ARGUMENT, "depth is NULL");
    require_error(tsr_fusion_add(f, i, NULL, &c), TSR_ERROR_ARGUMENT, "expected f32");
    require_error(tsr_fusion_add(f, d, small, &c), TSR_ERROR_ARGUMENT, "expected the same");
    tsr_camera bent = c;
    bent.lens.k1 = 0.1;
    require_error(tsr_fusion_add(f, d, i, &bent), TSR_ERROR_ARGUMENT, "lens");
    memset(depth, 0, sizeof depth);
    tsr_volume *none = upload(context, TSR_F32, depth, W, H);
    require_ok(tsr_fusion_add(f, none, NULL, &c));
    require_error(tsr_fusion_mesh(f, NULL, &mesh), TSR_ERROR_STATE, "none had a depth");
    for (int k = 0; k < W * H; k++) depth[k] = 1e9f;
    tsr_volume *far = upload(context, TSR_F32, depth, W, H);
    require_error(tsr_fusion_add(f, far, NULL, &c), TSR_ERROR_CAPACITY, "2^23");
    require_ok(tsr_fusion_add(f, d, i, &c)); /* what came before does not matter */
    require_ok(tsr_fusion_mesh(f, NULL, &mesh));
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&far);
    tsr_volume_destroy(&none);
    tsr_volume_destroy(&small);
    tsr_volume_destroy(&d);
    tsr_volume_destroy(&i);
    tsr_fusion_destroy(&f);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sphere), cmocka_unit_test(plane), cmocka_unit_test(devices_agree),
                                        cmocka_unit_test(tables_grow), cmocka_unit_test(mistakes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
