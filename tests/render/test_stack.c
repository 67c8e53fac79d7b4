/* Pictures from slices: those of rays through the whole volume, in every view; tile lists as the dense field; never more than a few slices at a time. */
#include <math.h>

#include "scenes.h"
#include "support.h"
#include "tessera/phantom.h"
#include "tessera/render.h"

enum { WIDTH = 40, HEIGHT = 33 };
static const tsr_size3 extent = { 30, 23, 27 };

static double blobs(double x, double y, double z) { return 100 + 60 * sin(0.35 * x + 0.2 * z) * cos(0.3 * y) + 40 * sin(0.28 * z + 1); }

/* Smooth, anisotropic and turned in the world; u8 with a scaling, or real values. */
static tsr_volume *volume_of(tsr_context *context, tsr_dtype dtype)
{
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1.3, 0.8 }, (tsr_vec3){ 5, -3, 2 }, TSR_SPACE_RAS);
    g.affine[0][1] = 0.2;
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, dtype, extent, &g, &host));
    for (int64_t i = 0; i < tsr_volume_count(host); i++) {
        const double v = blobs((double)(i % extent.x), (double)(i / extent.x % extent.y), (double)(i / extent.x / extent.y));
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(host))[i] = (uint8_t)v;
        else ((float *)tsr_volume_data(host))[i] = (float)v;
    }
    if (dtype == TSR_U8) require_ok(tsr_volume_set_scaling(host, 2, -30));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static tsr_transfer function(double low, double high)
{
    tsr_transfer t;
    require_ok(tsr_transfer_make(TSR_TRANSFER_MRI_HEAD, low, high, &t));
    return t;
}

static float *pixels(const tsr_picture *picture)
{
    float *rgba = (float *)malloc(WIDTH * HEIGHT * 4 * sizeof *rgba);
    assert_non_null(rgba);
    require_ok(tsr_picture_download(picture, rgba, NULL));
    return rgba;
}
static double difference(const float *a, const float *b)
{
    double most = 0;
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static float *stacked(tsr_context *context, const tsr_stack *stack, const tsr_camera *camera, const tsr_render_options *o)
{
    tsr_picture *picture;
    require_ok(tsr_picture_create(context, WIDTH, HEIGHT, &picture));
    require_ok(tsr_render_stack(context, stack, camera, o, picture));
    float *rgba = pixels(picture);
    tsr_picture_destroy(&picture);
    return rgba;
}

/* Along both ways of every axis, oblique, from near; shaded, with steps and jitter, clipped, over and without background. */
static void pictures_of_rays(void **state)
{
    (void)state;
    static const double angles[][2] = { { 0, 0 }, { 90, 0 }, { 180, 0 }, { 270, 0 }, { 0, 90 }, { 0, -90 }, { 33, 20 }, { 130, -40 }, { 250, 60 } };
    tsr_context *context = test_context();
    for (int c = 0; c < 2; c++) {
        tsr_volume *volume = volume_of(context, c ? TSR_F32 : TSR_U8);
        tsr_scene *scene;
        tsr_scene_info info = TSR_SCENE_INFO;
        tsr_picture *picture;
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_volume(scene, volume));
        require_ok(tsr_scene_describe(scene, &info));
        require_ok(tsr_picture_create(context, WIDTH, HEIGHT, &picture));
        const tsr_transfer transfer = function(info.window_low, info.window_high);
        tsr_stack stack = TSR_STACK;
        stack.volume = volume;
        stack.window_low = info.window_low;
        stack.window_high = info.window_high;
        for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
            tsr_camera camera;
            tsr_render_options o = TSR_RENDER_OPTIONS;
            require_ok(tsr_camera_orbit(&info.bounds, info.space, angles[a][0], angles[a][1], a % 2 ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC,
                                        (double)WIDTH / HEIGHT, &camera));
            o.mode = TSR_RENDER_VOLUME;
            o.transfer = a == 2 ? NULL : &transfer;
            o.step = a == 3 ? 1.5 : 0;
            o.jitter = a == 4;
            o.unshaded = a == 5;
            o.transparent = a == 6;
            o.opacity_scale = a == 7 ? 3 : 0;
            if (a == 8) {
                o.clip = 1;
                o.clip_normal = (tsr_vec3){ 1, 0.5, 0.2 };
                o.clip_offset = 14;
            }
            require_ok(tsr_render(scene, &camera, &o, picture));
            float *rays = pixels(picture), *slices = stacked(context, &stack, &camera, &o);
            const double most = difference(rays, slices);
            if (most > 2e-5) fail_msg("volume %d, view %zu: pixels differ by %g", c, a, most);
            double sum = 0;
            for (int i = 0; i < WIDTH * HEIGHT; i++) sum += (double)rays[4 * i];
            assert_true(sum > 10); /* not an empty picture */
            free(rays);
            free(slices);
        }
        tsr_picture_destroy(&picture);
        tsr_scene_destroy(&scene);
        tsr_volume_destroy(&volume);
    }
    tsr_context_destroy(&context);
}

/* A slice of pages is the slice of the dense field: the same bits, across every axis; the surface as a medium of phi. */
static void tiles_as_dense(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int bounded = 0; bounded < 2; bounded++) {
        tsr_phantom_options p = TSR_PHANTOM_OPTIONS;
        tsr_volume *host, *field, *dense;
        tsr_tiles *tiles;
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        p.size = (tsr_size3){ 29, 26, 31 };
        require_ok(tsr_phantom_make("torus", &p, &host, NULL));
        require_ok(tsr_volume_copy(host, context, &field));
        if (bounded) options.domain = p.size;
        require_ok(tsr_tiles_create(context, tsr_volume_geometry(host), &options, &tiles));
        require_ok(tsr_tiles_load(tiles, field));
        tsr_stack of_tiles = TSR_STACK, of_volume = TSR_STACK;
        int64_t lower[3] = { 0, 0, 0 }, upper[3] = { p.size.x, p.size.y, p.size.z };
        if (!bounded) require_ok(tsr_tiles_bounds(tiles, lower, upper));
        tsr_geometry g = *tsr_tiles_geometry(tiles);
        const tsr_vec3 origin = tsr_geometry_to_world(&g, (tsr_vec3){ (double)lower[0], (double)lower[1], (double)lower[2] });
        g.affine[0][3] = origin.x;
        g.affine[1][3] = origin.y;
        g.affine[2][3] = origin.z;
        require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2] }, &g, &dense));
        require_ok(tsr_tiles_store_box(tiles, lower, dense));
        tsr_transfer shell = { 0 }; /* opaque around phi = 0 */
        shell.points = 3;
        for (int i = 0; i < 3; i++) shell.point[i] = (struct tsr_transfer_point){ (float)(i - 1) * 1.5f, i == 1 ? 0.6f : 0, { 0.9f, 0.5f, 0.2f } };
        of_tiles.tiles = tiles;
        of_volume.volume = dense;
        for (int a = 0; a < 6; a++) {
            tsr_camera camera;
            tsr_render_options o = TSR_RENDER_OPTIONS;
            tsr_box box = { origin, tsr_geometry_to_world(&g, (tsr_vec3){ (double)(upper[0] - lower[0] - 1), (double)(upper[1] - lower[1] - 1),
                                                                             (double)(upper[2] - lower[2] - 1) }) };
            require_ok(tsr_camera_orbit(&box, TSR_SPACE_NONE, 90.0 * a + (a > 3 ? 20 : 0), a > 3 ? 70 : 0, TSR_ORTHOGRAPHIC, (double)WIDTH / HEIGHT,
                                        &camera));
            o.transfer = &shell;
            float *x = stacked(context, &of_tiles, &camera, &o), *y = stacked(context, &of_volume, &camera, &o);
            assert_memory_equal(x, y, WIDTH * HEIGHT * 4 * sizeof *x);
            double most = 0;
            for (int i = 0; i < WIDTH * HEIGHT; i++) most = fmax(most, (double)x[4 * i]);
            assert_true(most > 0.2); /* the torus is there */
            free(x);
            free(y);
        }
        tsr_volume_destroy(&dense);
        tsr_tiles_destroy(&tiles);
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&host);
    }
    tsr_context_destroy(&context);
}

/* ---- slices that nobody holds ------------------------------------------------------------------------------------------------------------------- */

struct formula {
    int64_t most, reads; /* slices of a read along the axis of the view */
    int fails_at, axis;
};
static tsr_status read_formula(void *user, const int64_t first[3], tsr_volume *box)
{
    struct formula *f = (struct formula *)user;
    const tsr_size3 n = tsr_volume_size(box);
    const int64_t size[3] = { n.x, n.y, n.z }, whole[3] = { extent.x, extent.y, extent.z };
    for (int k = 0; k < 3; k++) {
        if (first[k] < 0 || first[k] + size[k] > whole[k]) return TSR_ERROR_INTERNAL;
        if (k != f->axis && size[k] != whole[k]) return TSR_ERROR_INTERNAL;
    }
    if (size[f->axis] > f->most) f->most = size[f->axis];
    if (++f->reads == f->fails_at) return TSR_ERROR_IO;
    for (int64_t i = 0; i < tsr_volume_count(box); i++)
        ((float *)tsr_volume_data(box))[i] =
            (float)blobs((double)(first[0] + i % n.x), (double)(first[1] + i / n.x % n.y), (double)(first[2] + i / n.x / n.y));
    return TSR_OK;
}
static int stop(void *user, double fraction, const char *stage)
{
    (void)stage;
    return fraction > *(const double *)user;
}

static void streamed(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = volume_of(context, TSR_F32);
    tsr_picture *picture;
    require_ok(tsr_picture_create(context, WIDTH, HEIGHT, &picture));
    for (int a = 0; a < 3; a++) {
        struct formula f = { .axis = a };
        const tsr_transfer transfer = function(20, 180);
        tsr_stack stack = TSR_STACK, whole = TSR_STACK;
        const tsr_vec3 middle = { 20, 12, 13 }, eye = { a == 0 ? 110 : 20, a == 1 ? 102 : 12, a == 2 ? 103 : 13 };
        const tsr_camera camera = test_camera(eye, middle, (tsr_vec3){ a == 2, 0, a != 2 }, TSR_ORTHOGRAPHIC, 0, 34);
        tsr_render_options o = TSR_RENDER_OPTIONS;
        o.transfer = &transfer;
        whole.volume = volume;
        stack.read = read_formula;
        stack.user = &f;
        stack.size = extent;
        stack.geometry = *tsr_volume_geometry(volume);
        float *x = stacked(context, &stack, &camera, &o), *y = stacked(context, &whole, &camera, &o);
        assert_memory_equal(x, y, WIDTH * HEIGHT * 4 * sizeof *x);
        assert_true(f.reads >= 3 && f.most <= 11); /* 30, 23 and 27 slices */
        free(x);
        free(y);
        f.reads = 0;
        f.fails_at = 2;
        assert_int_equal(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_IO);
        double most = 0.4;
        f.reads = f.fails_at = 0;
        o.progress = (tsr_progress){ stop, &most };
        assert_int_equal(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_CANCELLED);
        assert_true(f.reads >= 1 && f.reads <= 3);
    }
    tsr_picture_destroy(&picture);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

struct counted {
    int reports;
    double stop_after;
};
static int count_reports(void *user, double fraction, const char *stage)
{
    struct counted *c = (struct counted *)user;
    (void)stage;
    c->reports++;
    return fraction > c->stop_after;
}

/* A picture of many pixels is drawn band by band on a CPU: the same picture, and it can be cancelled within the first block of slices. */
static void many_pixels(void **state)
{
    (void)state;
    enum { SIDE = 1024 };
    tsr_context *context = test_context();
    const int on_cpu = tsr_context_device(context).kind == TSR_DEVICE_CPU;
    if (!on_cpu) { /* whose kernels are not cut */
        tsr_context_destroy(&context);
        skip();
    }
    tsr_volume *volume = volume_of(context, TSR_F32);
    const tsr_transfer transfer = function(20, 180);
    tsr_scene *scene;
    tsr_picture *picture, *rays;
    struct formula f = { .axis = 2 };
    struct counted counted = { 0, 2 };
    tsr_stack stack = TSR_STACK;
    tsr_scene_info info = TSR_SCENE_INFO;
    const tsr_camera camera = /* most rays miss: quick */
        test_camera((tsr_vec3){ 20, 12, 103 }, (tsr_vec3){ 20, 12, 13 }, (tsr_vec3){ 0, 1, 0 }, TSR_ORTHOGRAPHIC, 0, 300);
    tsr_render_options o = TSR_RENDER_OPTIONS;
    o.mode = TSR_RENDER_VOLUME;
    o.transfer = &transfer;
    stack.read = read_formula;
    stack.user = &f;
    stack.size = extent;
    stack.geometry = *tsr_volume_geometry(volume);
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_describe(scene, &info));
    stack.window_low = info.window_low;
    stack.window_high = info.window_high;
    require_ok(tsr_picture_create(context, SIDE, SIDE, &picture));
    require_ok(tsr_picture_create(context, SIDE, SIDE, &rays));
    require_ok(tsr_render(scene, &camera, &o, rays));
    o.progress = (tsr_progress){ count_reports, &counted };
    require_ok(tsr_render_stack(context, &stack, &camera, &o, picture));
    assert_true(counted.reports > 2 * f.reads); /* bands of each block */
    float *a = malloc((size_t)SIDE * SIDE * 16), *b = malloc((size_t)SIDE * SIDE * 16);
    require_ok(tsr_picture_download(picture, a, NULL));
    require_ok(tsr_picture_download(rays, b, NULL));
    double most = 0, sum = 0;
    for (int i = 0; i < SIDE * SIDE * 4; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        sum += (double)b[i];
    }
    assert_true(sum > 100);
    assert_true(most <= 2e-5);
    f.reads = 0;
    counted.stop_after = 0;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_CANCELLED, "cancelled during slices");
    assert_int_equal(f.reads, 1);
    free(a);
    free(b);
    tsr_picture_destroy(&rays);
    tsr_picture_destroy(&picture);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* ---- integrals that are known ------------------------------------------------------------------------------------------------------------------- */

static double distance_of(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static double along_ramp(double x, double y, double z)
{
    (void)x;
    (void)z;
    return 12 - y; /* 0 at the face that test_front sees, 24 at the back */
}

/* A ball of constant extinction: 1 - exp(-2 tau sqrt(R^2 - b^2)); emission that rises along the ray: its integral. By rays, and by slices. */
static void integrals(void **state)
{
    (void)state;
    enum { SIDE = 32 };
    const double alpha = 0.004, radius = 8, tau = -log(1 - alpha);
    tsr_context *context = test_context();
    tsr_picture *picture;
    require_ok(tsr_picture_create(context, SIDE, SIDE, &picture));
    for (int c = 0; c < 4; c++) {
        const int ramp = c / 2;
        tsr_volume *volume = test_volume_of(context, 25, (tsr_vec3){ 1, 1, 1 }, ramp ? along_ramp : distance_of);
        const tsr_camera camera = test_front(22);
        tsr_render_options o = TSR_RENDER_OPTIONS;
        tsr_transfer t = { .points = 2, .point = { { 0, (float)alpha, { 1, 1, 1 } }, { (float)radius, (float)alpha, { 1, 1, 1 } } } };
        if (ramp) {
            t.point[0].color = (tsr_color){ 0, 0, 0 };
            t.point[1].value = 24;
        } else {
            t.points = 3;
            t.point[2] = (struct tsr_transfer_point){ (float)radius + 1e-4f, 0, { 1, 1, 1 } };
        }
        o.mode = TSR_RENDER_VOLUME;
        o.transfer = &t;
        o.unshaded = o.transparent = 1;
        tsr_scene *scene;
        tsr_stack stack = TSR_STACK;
        stack.volume = volume;
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_volume(scene, volume));
        if (c % 2) require_ok(tsr_render_stack(context, &stack, &camera, &o, picture));
        else require_ok(tsr_render(scene, &camera, &o, picture));
        float rgba[SIDE * SIDE * 4];
        require_ok(tsr_picture_download(picture, rgba, NULL));
        for (int i = 0; i < SIDE * SIDE; i++) {
            const double x = (i % SIDE + 0.5 - SIDE / 2) * 22 / SIDE, y = (i / SIDE + 0.5 - SIDE / 2) * 22 / SIDE, b2 = x * x + y * y, l = 24;
            const double ball = b2 < radius * radius ? 1 - exp(-2 * tau * sqrt(radius * radius - b2)) : 0,
                         rise = (1 - exp(-tau * l) * (1 + tau * l)) / (tau * l), whole = 1 - exp(-tau * l);
            const double got = (double)rgba[4 * i + (ramp ? 0 : 3)], wanted = ramp ? rise : ball;
            if (fabs(got - wanted) > (ramp ? 2e-4 : b2 < 7 * 7 ? 2e-3 : 4e-3)) /* rays that graze see how cells round the ball */
                fail_msg("case %d at %g, %g: %g, expected %g", c, x, y, got, wanted);
            if (ramp) assert_true(fabs((double)rgba[4 * i + 3] - whole) < 1e-5);
        }
        tsr_scene_destroy(&scene);
        tsr_volume_destroy(&volume);
    }
    tsr_picture_destroy(&picture);
    tsr_context_destroy(&context);
}

/* Where another axis becomes the nearest one (at 40.6 degrees here) nothing jumps. */
static void axes_change_without_a_jump(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = volume_of(context, TSR_F32);
    tsr_picture *picture;
    const tsr_transfer transfer = function(20, 180);
    struct formula f = { .axis = 0 };
    tsr_stack stack = TSR_STACK;
    float *before = NULL;
    int switches = 0;
    stack.read = read_formula;
    stack.user = &f;
    stack.size = extent;
    stack.geometry = *tsr_volume_geometry(volume);
    require_ok(tsr_picture_create(context, WIDTH, HEIGHT, &picture));
    for (int i = 0; i <= 40; i++) {
        const double a = (40.63 + 0.01 * (i - 20)) * 3.14159265358979 / 180;
        const tsr_vec3 middle = { 20, 12, 13 }, eye = { 20 + 90 * cos(a), 12 + 90 * sin(a), 13 };
        const tsr_camera camera = test_camera(eye, middle, (tsr_vec3){ 0, 0, 1 }, TSR_ORTHOGRAPHIC, 0, 40);
        tsr_render_options o = TSR_RENDER_OPTIONS;
        o.transfer = &transfer;
        if (tsr_render_stack(context, &stack, &camera, &o, picture) != TSR_OK) { /* slices across the other axis are asked for */
            f.axis = 1 - f.axis;
            switches++;
            require_ok(tsr_render_stack(context, &stack, &camera, &o, picture));
        }
        float *now = pixels(picture);
        if (before) assert_true(difference(before, now) < 3.0 / 255);
        free(before);
        before = now;
    }
    assert_int_equal(switches, 1);
    free(before);
    tsr_picture_destroy(&picture);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static void bad_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = volume_of(context, TSR_F32);
    tsr_picture *picture;
    tsr_camera camera = test_camera((tsr_vec3){ 200, 12, 13 }, (tsr_vec3){ 20, 12, 13 }, (tsr_vec3){ 0, 0, 1 }, TSR_ORTHOGRAPHIC, 0, 34);
    tsr_render_options o = TSR_RENDER_OPTIONS;
    tsr_stack stack = TSR_STACK;
    struct formula f = { 0 };
    require_ok(tsr_picture_create(context, WIDTH, HEIGHT, &picture));
    require_error(tsr_render_stack(context, NULL, &camera, &o, picture), TSR_ERROR_ARGUMENT, "stack is NULL");
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_ARGUMENT, "0 of volume, tiles and read");
    stack.volume = volume;
    stack.read = read_formula;
    stack.user = &f;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_ARGUMENT, "2 of volume, tiles and read");
    stack.volume = NULL;
    stack.geometry = *tsr_volume_geometry(volume);
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_ARGUMENT, "0 voxels along x");
    stack.size = extent;
    stack.geometry.affine[0][0] = NAN;
    assert_int_equal(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_ARGUMENT);
    stack.read = NULL;
    stack.volume = volume;
    require_error(tsr_render_stack(context, &stack, &camera, &o, NULL), TSR_ERROR_ARGUMENT, "picture is NULL");
    o.supersampling = 2;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_UNSUPPORTED, "supersampling 2");
    o.supersampling = 0;
    o.mode = TSR_RENDER_MIP;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_UNSUPPORTED, "render mode mip, expected auto");
    o.mode = TSR_RENDER_AUTO;
    o.step = -1;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_ARGUMENT, "step -1");
    o.step = 0;
    o.lookup = TSR_LOOKUP_TABLE;
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_UNSUPPORTED, "lookup table, expected none");
    o.lookup = TSR_LOOKUP_NONE;
    camera.projection = TSR_PERSPECTIVE;
    camera.fov = 110;
    test_look(&camera, (tsr_vec3){ 100, 80, 13 }, (tsr_vec3){ 20, 12, 13 });
    require_error(tsr_render_stack(context, &stack, &camera, &o, picture), TSR_ERROR_UNSUPPORTED, "rays of one picture go both ways");
    tsr_picture_destroy(&picture);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pictures_of_rays), cmocka_unit_test(tiles_as_dense),
                                        cmocka_unit_test(streamed),         cmocka_unit_test(many_pixels),
                                        cmocka_unit_test(integrals),        cmocka_unit_test(axes_change_without_a_jump),
                                        cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
