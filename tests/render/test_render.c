/* Pictures with known answers, on each device. */
#include "scenes.h"

enum { SIZE = 64 };

/* Where pixel (x, y) of an orthographic picture looks from the front: world x and z. */
static double world_x(int x, double height) { return -((x + 0.5) / SIZE - 0.5) * height; }
static double world_z(int y, double height) { return (0.5 - (y + 0.5) / SIZE) * height; }

/* What the pale rose surface shows from the front without gloss, of a normal, in float64. */
static double lit(int channel, const double n[3])
{
    static const double rose[3] = { 0.90, 0.76, 0.68 };
    const double linear = pow((rose[channel] + 0.055) / 1.055, 2.4), length = sqrt(0.5 * 0.5 + 0.75 * 0.75 + 0.7 * 0.7);
    const double key = (0.5 * n[0] + 0.75 * n[1] + 0.7 * n[2]) / length;
    return linear * (0.13 + 0.15 * (0.5 + 0.5 * n[2]) + 0.62 * fmax(0, key) + 0.30 * n[1]);
}

/* Silhouette, depth and normals of a ball against the exact ray-sphere answers. What is drawn lies within the ball, at most `tolerance` below it; that decides of
 * every pixel whether it is met. Normals, where asked for, by their light: an angle a changes it by at most a (0.62 + 0.30 + 0.075) of the colour. */
static void check_ball(const test_view *v, double radius, double height, double tolerance, double degrees)
{
    double area = 0, worst = 0, mean = 0, turned = 0;
    int count = 0;
    for (int y = 0; y < v->height; y++) {
        for (int x = 0; x < v->width; x++) {
            double px = -((x + 0.5) / v->width - 0.5) * height, pz = (0.5 - (y + 0.5) / v->height) * height, q = radius * radius - px * px - pz * pz;
            float depth = v->depth[y * v->width + x];
            area += isfinite(depth) ? 1 : 0;
            if (q > 2 * radius * tolerance + 0.04) {
                if (!isfinite(depth)) fail_msg("pixel (%d, %d) misses the ball, %g within it", x, y, radius - sqrt(radius * radius - q));
                if (q < 0.04 * radius * radius) continue; /* grazing rays: their depth is that of a much larger way along them */
                const double off = fabs((double)depth - (100 - sqrt(q))) * sqrt(q) / radius; /* along the normal */
                worst = fmax(worst, off);
                mean += off;
                count++;
                for (int c = 0; c < 3; c++)
                    turned = fmax(turned, fabs((double)v->rgba[4 * (y * v->width + x) + c] -
                                               lit(c, (const double[]){ px / radius, sqrt(q) / radius, pz / radius })) /
                                              (lit(c, (const double[]){ 0, 1, 0 }) / lit(0, (const double[]){ 0, 1, 0 })));
            } else if (q < -0.01) {
                assert_true(isinf(depth));
            }
        }
    }
    turned *= 180 / 3.14159265 / (0.995 * pow((0.90 + 0.055) / 1.055, 2.4));
    area *= height / v->height * height / v->width;
    print_message("error along the normal %.4f, mean %.4f; silhouette area %.2f of %.2f\n", worst, mean / count, area, 3.14159265 * radius * radius);
    if (degrees > 0) print_message("normals turned by %.3f degrees\n", turned);
    assert_true(worst < tolerance);
    assert_true(fabs(area / (3.14159265 * radius * radius) - 1) < (v->width > SIZE ? 0.002 : 0.02));
    if (degrees > 0) assert_true(turned < degrees && (radius < 20 || mean / count < 0.01));
}

/* The bars of the page of volume rendering, of a ball of radius 20: normals within 0.5 degrees, the silhouette's area within 0.2 % of the exact one, depths within
 * 0.01 voxels. Here these are off by up to 0.0126, as between samples a distance is interpolated linearly, which takes 1 / (4 R) off in a cell's middle, 0.0125; their
 * mean is within 0.01. */
static double ball_of_20(double x, double y, double z) { return sqrt(x * x + y * y + z * z) - 20.0; }
static void ball_of_the_page(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 48, (tsr_vec3){ 1, 1, 1 }, ball_of_20);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    tsr_camera camera = test_front(44);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_SURFACE;
    options.ambient_occlusion = options.specular = -1;
    test_view v = test_draw(context, scene, &camera, &options, test_is_slow() ? SIZE : 400);
    check_ball(&v, 20, 44, 0.013, 0.5);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static void ball_from_volume(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 32, (tsr_vec3){ 1, 1, 1 }, test_ball);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    tsr_camera camera = test_front(24);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_SURFACE;
    options.ambient_occlusion = -1;
    test_view v = test_draw(context, scene, &camera, &options, SIZE);
    check_ball(&v, 10, 24, 0.03, 0); /* trilinear interpolation of a distance: h^2 / 8 times the curvatures, 0.025 */
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* The same ball in anisotropic voxels: the world picture is the same, so the gradient must have been taken in world space. */
static void anisotropic_normals(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_vec3 spacing[2] = { { 1, 1, 1 }, { 0.8, 1.0, 1.6 } };
    test_view v[2];
    for (int i = 0; i < 2; i++) {
        tsr_volume *volume = test_volume_of(context, 36, spacing[i], test_ball);
        tsr_scene *scene;
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
        tsr_camera camera = test_front(24);
        tsr_render_options options = TSR_RENDER_OPTIONS;
        options.mode = TSR_RENDER_SURFACE;
        options.ambient_occlusion = options.specular = -1;
        options.transparent = 1;
        v[i] = test_draw(context, scene, &camera, &options, SIZE);
        check_ball(&v[i], 10, 24, i ? 0.06 : 0.03, 1);
        tsr_scene_destroy(&scene);
        tsr_volume_destroy(&volume);
    }
    double worst = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double px = world_x(x, 24), pz = world_z(y, 24);
            if (px * px + pz * pz > 81) continue;
            for (int c = 0; c < 3; c++)
                worst = fmax(worst, fabs((double)v[0].rgba[4 * (y * SIZE + x) + c] - (double)v[1].rgba[4 * (y * SIZE + x) + c]));
        }
    print_message("shading differs by %.4f\n", worst);
    assert_true(worst < 0.02);
    test_view_free(&v[0]);
    test_view_free(&v[1]);
    tsr_context_destroy(&context);
}

static void ball_from_mesh(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mesh *mesh = test_ball_mesh(24, 10);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_mesh(scene, mesh));
    tsr_camera camera = test_front(24);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.ambient_occlusion = -1;
    test_view v = test_draw(context, scene, &camera, &options, SIZE);
    check_ball(&v, 10, 24, 0.05, 0); /* facets of 7.5 degrees lie up to 0.043 below the ball */
    test_view_free(&v);
    /* the eye inside sees the far wall all around */
    camera = test_camera((tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, -1, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 90, 0);
    v = test_draw(context, scene, &camera, &options, 32);
    for (int i = 0; i < 32 * 32; i++) assert_true(v.depth[i] > 9.8f && v.depth[i] < 10.01f);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
}

static void ball_from_tiles(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int edge = 4; edge <= 8; edge += 4) {
        tsr_volume *volume = test_volume_of(context, 32, (tsr_vec3){ 1, 1, 1 }, test_ball);
        tsr_tiles_options tile_options = TSR_TILES_OPTIONS;
        tile_options.edge = edge;
        tile_options.domain = (tsr_size3){ 32, 32, 32 };
        tsr_tiles *tiles;
        require_ok(tsr_tiles_create(context, tsr_volume_geometry(volume), &tile_options, &tiles));
        tsr_scene *scene;
        require_ok(tsr_scene_create(context, &scene));
        require_error(tsr_scene_set_surface_tiles(scene, tiles), TSR_ERROR_STATE, "empty");
        require_ok(tsr_tiles_load(tiles, volume));
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        tsr_camera camera = test_front(24);
        tsr_render_options options = TSR_RENDER_OPTIONS;
        options.ambient_occlusion = -1;
        test_view sparse = test_draw(context, scene, &camera, &options, SIZE);
        check_ball(&sparse, 10, 24, 0.03, 0);
        /* the dense volume gives the same surface; only the frame's centre differs, hence the last bits */
        require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
        test_view dense = test_draw(context, scene, &camera, &options, SIZE);
        for (int i = 0; i < SIZE * SIZE; i++)
            if (isfinite(dense.depth[i])) assert_true(fabsf(dense.depth[i] - sparse.depth[i]) < 2e-3f);
        test_view_free(&sparse);
        test_view_free(&dense);
        tsr_scene_destroy(&scene);
        tsr_tiles_destroy(&tiles);
        tsr_volume_destroy(&volume);
    }
    tsr_context_destroy(&context);
}

static double ramp(double x, double y, double z) { return 0.25 * x + y - 0.5 * z; }

/* A plane: depth exact up to rounding; box faces where the inside is cut. */
static void plane_depth(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 33, (tsr_vec3){ 0.7, 0.7, 0.7 }, ramp);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0.3, 1));
    tsr_camera camera = test_front(16);
    test_view v = test_draw(context, scene, &camera, NULL, SIZE);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double expected = 100 - (0.3 - 0.25 * world_x(x, 16) + 0.5 * world_z(y, 16));
            assert_true(fabs((double)v.depth[y * SIZE + x] - expected) < 2e-3);
        }
    test_view_free(&v);
    test_look(&camera, (tsr_vec3){ 0, -100, 0 }, (tsr_vec3){ 0, 0, 0 }); /* from behind the box is full: its face at y = -11.2 */
    v = test_draw(context, scene, &camera, NULL, SIZE);
    for (int i = 0; i < SIZE * SIZE; i++) assert_true(fabsf(v.depth[i] - 88.8f) < 1e-3f);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static double bumps(double x, double y, double z) { return sin(0.7 * x) * cos(0.9 * y + 0.3) + sin(0.8 * z + 0.2 * x); }

/* Trilinear sample in float64, written apart from the renderer's. */
static double sample(const float *v, int n, double x, double y, double z)
{
    int i = (int)fmin(floor(x), n - 2), j = (int)fmin(floor(y), n - 2), k = (int)fmin(floor(z), n - 2);
    double s = 0;
    for (int c = 0; c < 8; c++) {
        int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
        double w = (dx ? x - i : 1 - (x - i)) * (dy ? y - j : 1 - (y - j)) * (dz ? z - k : 1 - (z - k));
        s += w * (double)v[((size_t)(k + dz) * (size_t)n + (size_t)(j + dy)) * (size_t)n + (size_t)(i + dx)];
    }
    return s;
}

static void mip_by_brute_force(void **state)
{
    (void)state;
    enum { N = 24 };
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, N, (tsr_vec3){ 1, 1, 1 }, bumps), *host;
    require_ok(tsr_volume_copy(volume, NULL, &host));
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    tsr_camera camera = test_front(20);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_MIP;
    options.window_low = -2;
    options.window_high = 2;
    options.step = 0.02;
    test_view v = test_draw(context, scene, &camera, &options, SIZE);
    double worst = 0;
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double best = -1e9;
            for (double t = 0; t <= N - 1; t += 0.01)
                best = fmax(best, sample((const float *)tsr_volume_data(host), N, world_x(x, 20) + 11.5, t, world_z(y, 20) + 11.5));
            double g = (best + 2) / 4, linear = g <= 0.04045 ? g / 12.92 : pow((g + 0.055) / 1.055, 2.4);
            worst = fmax(worst, fabs((double)v.rgba[4 * (y * SIZE + x)] - linear));
        }
    print_message("MIP differs by %.5f\n", worst);
    assert_true(worst < 6e-3); /* a slope of at most 0.9 over half a step, through the window and the sRGB curve */
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* A constant box of length L with opacity a per voxel: 1 - (1 - a)^L, at any step. */
static void slab_opacity(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 17, (tsr_vec3){ 1, 1, 1 }, test_one);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    tsr_transfer transfer = { .points = 2, .point = { { 0, 0.05f, { 1, 0, 0 } }, { 2, 0.05f, { 1, 0, 0 } } } };
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_VOLUME;
    options.transfer = &transfer;
    options.transparent = 1;
    options.unshaded = 1;
    tsr_camera camera = test_front(10);
    for (int i = 0; i < 4; i++) {
        static const double steps[4] = { 1, 0.5, 0.3, 2.7 };
        options.step = steps[i];
        test_view v = test_draw(context, scene, &camera, &options, 16);
        for (int k = 0; k < 16 * 16; k++) {
            assert_true(fabs((double)v.rgba[4 * k + 3] - (1 - pow(0.95, 16))) < 1e-5);
            assert_true(fabs((double)v.rgba[4 * k] - (double)v.rgba[4 * k + 3]) < 1e-6 && v.rgba[4 * k + 1] == 0.0f);
        }
        test_view_free(&v);
    }
    /* the plane y = 2 cuts 6 of the 16 voxel lengths away */
    options.clip = 1;
    options.clip_normal = (tsr_vec3){ 0, 3, 0 };
    options.clip_offset = 6;
    test_view v = test_draw(context, scene, &camera, &options, 16);
    for (int k = 0; k < 16 * 16; k++) assert_true(fabs((double)v.rgba[4 * k + 3] - (1 - pow(0.95, 10))) < 1e-5);
    test_view_free(&v);
    options.clip_normal = (tsr_vec3){ 0, -1, 0 };
    options.clip_offset = -2;
    v = test_draw(context, scene, &camera, &options, 16);
    for (int k = 0; k < 16 * 16; k++) assert_true(fabs((double)v.rgba[4 * k + 3] - (1 - pow(0.95, 6))) < 1e-5);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* A surface inside a medium: the medium in front of it counts up to its exact depth, behind it nothing. Regions keep the medium to one side. */
static void combined_and_regions(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *medium = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, test_one),
               *ball = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, test_ball);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, medium));
    require_ok(tsr_scene_set_surface_volume(scene, ball, 0, 1));
    tsr_transfer transfer = { .gaussians = 1, .gaussian = { { .centre = 1, .width = 0.5f, .alpha = 0.04f, .color = { 0, 0, 1 } } } };
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.transfer = &transfer;
    options.transparent = 1;
    options.unshaded = 1;
    options.surface_color = (tsr_color){ 1, 0, 0 };
    options.specular = -1;
    tsr_camera camera = test_front(0.01); /* all rays through the middle: the surface at y = 10, the box from 16 to -16 */
    test_view v = test_draw(context, scene, &camera, &options, 4);
    assert_true(fabs((double)v.rgba[2] - (1 - pow(0.96, 6))) < 2e-4); /* blue: 6 lengths in front; the red surface adds none */
    assert_true(v.rgba[3] == 1.0f && v.rgba[0] > 0.1f && fabsf(v.depth[0] - 90) < 0.02f);
    test_view_free(&v);
    options.mode = TSR_RENDER_VOLUME;
    options.region = TSR_REGION_INSIDE;
    v = test_draw(context, scene, &camera, &options, 4);
    assert_true(fabs((double)v.rgba[3] - (1 - pow(0.96, 20))) < 3e-3); /* the ball's diameter; borders smooth and symmetric */
    test_view_free(&v);
    options.region = TSR_REGION_OUTSIDE;
    v = test_draw(context, scene, &camera, &options, 4);
    assert_true(fabs((double)v.rgba[3] - (1 - pow(0.96, 12))) < 3e-3);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&medium);
    tsr_volume_destroy(&ball);
    tsr_context_destroy(&context);
}

/* The contour of a ball in a slice: yellow only within a pixel of the exact circle, and all around it. */
static void contour_is_the_circle(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, test_ball);
    for (int axis = 0; axis < 4; axis++) {
        tsr_scene *scene;
        tsr_picture *picture;
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_volume(scene, volume));
        require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
        require_ok(tsr_picture_create(context, SIZE, SIZE, &picture));
        tsr_slice_options options = TSR_SLICE_OPTIONS;
        options.axis = axis;
        options.position = axis == 3 ? (double)NAN : 22; /* 6 beside the middle: a circle of radius 8 */
        options.normal = (tsr_vec3){ 1, 1, 0.5 };
        options.centre = (tsr_vec3){ 4, 4, 2 };
        options.height = 32;
        require_ok(tsr_render_slice(scene, &options, picture));
        test_view v = test_fetch(picture);
        int yellow = 0;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                const float *c = v.rgba + 4 * (y * SIZE + x);
                double px = (x + 0.5 - SIZE / 2) * 0.5, py = (y + 0.5 - SIZE / 2) * 0.5, off = fabs(sqrt(px * px + py * py) - 8) / 0.5;
                int is_yellow = c[0] > 1.5f * c[2] + 0.1f;
                if (c[0] > 0.4f && c[0] > 1.5f * c[2])
                    assert_true(off <= 1); /* the bar of the page; the smoothed ends of the line have a third of its colour */
                if (is_yellow) assert_true(off < 1.1);
                if (off < 0.25) assert_true(is_yellow && c[0] > 0.9f);
                yellow += is_yellow;
            }
        assert_true(yellow > 2 * 3.14159 * 16);
        test_view_free(&v);
        tsr_picture_destroy(&picture);
        tsr_scene_destroy(&scene);
    }
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* Slices show the right voxels the right way round: RAS axial has the patient's right on the left and the front on top. */
static double corner_mark(double x, double y, double z) { return x > 3 && y > 3 && fabs(z - 2) < 0.6 ? 1 : 0; }
static void slice_orientation(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 17, (tsr_vec3){ 1, 1, 1 }, corner_mark);
    tsr_scene *scene;
    tsr_picture *picture;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_picture_create(context, 17, 17, &picture));
    tsr_slice_options options = TSR_SLICE_OPTIONS;
    options.position = 10; /* z = 2 */
    options.nearest = 1;
    options.window_low = 0;
    options.window_high = 1;
    require_ok(tsr_render_slice(scene, &options, picture));
    test_view v = test_fetch(picture);
    for (int y = 0; y < 17; y++)
        for (int x = 0; x < 17; x++)
            assert_true(v.rgba[4 * (y * 17 + x)] == (x < 5 && y < 5 ? 1.0f : 0.0f)); /* x > 3 is right: left of the picture; y > 3 on top */
    test_view_free(&v);
    options.palette = TSR_PALETTE_DIVERGING;
    options.window_low = -1;
    options.line_width = -1;
    require_ok(tsr_render_slice(scene, &options, picture));
    v = test_fetch(picture);
    assert_true(v.rgba[0] > 0.9f && v.rgba[2] < 0.5f);      /* positive is red */
    for (int32_t channels = 3; channels <= 4; channels++) { /* the bytes beside the curve of sRGB in float64 */
        tsr_image image;
        require_ok(tsr_picture_image(picture, channels, &image));
        for (int i = 0; i < 17 * 17 * channels; i++) {
            const int c = i % channels;
            const double colour = (double)v.rgba[i / channels * 4 + c], alpha = (double)v.rgba[i / channels * 4 + 3];
            const double straight = fmin(1, fmax(0, channels == 4 && c < 3 && alpha > 0 ? colour / alpha : colour));
            const double shown = c == 3 ? straight : straight <= 0.0031308 ? 12.92 * straight : 1.055 * pow(straight, 1 / 2.4) - 0.055;
            if (fabs(255 * shown - image.pixels[i]) > 0.51)
                fail_msg("byte %d of %d channels: %d, expected %g", i, channels, image.pixels[i], 255 * shown);
        }
        tsr_image_destroy(&image);
    }
    test_view_free(&v);
    tsr_picture_destroy(&picture);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* A clipped ball shows its cap at the plane. */
static void clipping_caps(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, test_ball);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.clip = 1;
    options.clip_normal = (tsr_vec3){ 0, 2, 0 };
    options.clip_offset = 12; /* y = 6: a cap of radius 8 at depth 94 */
    tsr_camera camera = test_front(24);
    test_view v = test_draw(context, scene, &camera, &options, SIZE);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            double r = sqrt(world_x(x, 24) * world_x(x, 24) + world_z(y, 24) * world_z(y, 24));
            float depth = v.depth[y * SIZE + x];
            if (r < 7.8) assert_true(fabsf(depth - 94) < 1e-3f);
            if (r > 8.2 && r < 9.8) assert_true(depth > 94.01f && depth < 100.0f);
        }
    test_view_free(&v);
    options.clip_face = TSR_CLIP_OPEN; /* one looks into the far wall */
    v = test_draw(context, scene, &camera, &options, SIZE);
    assert_true(fabsf(v.depth[SIZE / 2 * SIZE + SIZE / 2] - 110) < 0.05f);
    test_view_free(&v);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

struct asked {
    int calls, last; /* last: the call that cancels, 0 = none */
    double fraction;
};
static int ask(void *user, double fraction, const char *stage)
{
    struct asked *a = (struct asked *)user;
    (void)stage;
    assert_true(fraction >= a->fraction && fraction <= 1);
    a->fraction = fraction;
    return ++a->calls == a->last;
}

/* A picture in bands is the picture in one piece, views and slices; every band may be the last. */
static void cancelled_between_bands(void **state)
{
    (void)state;
    const char *device = getenv("TESSERA_DEVICE");
    tsr_context *context = test_context_on(device && *device ? device : "cpu", 2);
    tsr_volume *volume = test_volume_of(context, 20, (tsr_vec3){ 1, 1, 1 }, test_ball);
    tsr_scene *scene;
    tsr_picture *picture;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    const int gpu = tsr_context_device(context).kind == TSR_DEVICE_CUDA; /* its bands are larger */
    const int32_t width = gpu ? 1080 : 90, height = gpu ? 1000 : 120;    /* three bands, on two threads */
    const size_t pixels = (size_t)width * (size_t)height;
    require_ok(tsr_picture_create(context, width, height, &picture));
    tsr_camera camera = test_front(24);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_slice_options slice = TSR_SLICE_OPTIONS;
    options.mode = TSR_RENDER_SURFACE;
    options.ambient_occlusion = -1;
    slice.supersampling = options.supersampling = 3;
    for (int sliced = 0; sliced < 2; sliced++) {
        struct asked asked = { 0, 0, 0 };
        const tsr_progress progress = { ask, &asked }, none = { NULL, NULL };
        options.progress = slice.progress = none;
        require_ok(sliced ? tsr_render_slice(scene, &slice, picture) : tsr_render(scene, &camera, &options, picture));
        test_view whole = test_fetch(picture);
        options.progress = slice.progress = progress;
        require_ok(sliced ? tsr_render_slice(scene, &slice, picture) : tsr_render(scene, &camera, &options, picture));
        const int bands_asked = asked.calls; /* how many a GPU makes of it depends on the GPU */
        assert_true((bands_asked > 2 || (bands_asked >= 1 && strcmp(device ? device : "", "cuda") == 0)) && asked.fraction == 1);
        test_view bands = test_fetch(picture);
        assert_memory_equal(whole.rgba, bands.rgba, pixels * 16);
        assert_memory_equal(whole.depth, bands.depth, pixels * 4);
        for (int last = 1; last <= 2 && last <= bands_asked; last++) {
            asked = (struct asked){ 0, last, 0 };
            require_error(sliced ? tsr_render_slice(scene, &slice, picture) : tsr_render(scene, &camera, &options, picture), TSR_ERROR_CANCELLED,
                          "cancelled");
            assert_int_equal(asked.calls, last);
        }
        test_view_free(&whole);
        test_view_free(&bands);
    }
    tsr_picture_destroy(&picture);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static double holes(double x, double y, double z) { return x > 0 ? (double)NAN : test_ball(x, y, z); }

static void bad_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_picture *picture;
    tsr_scene *scene;
    tsr_scene_info info = TSR_SCENE_INFO;
    require_error(tsr_picture_create(context, 0, 10, &picture), TSR_ERROR_ARGUMENT, "0 x 10");
    require_error(tsr_picture_create(context, 10, 20000, &picture), TSR_ERROR_ARGUMENT, "16384");
    require_ok(tsr_picture_create(context, 8, 8, &picture));
    require_ok(tsr_scene_create(context, &scene));
    tsr_camera camera = test_front(24);
    require_error(tsr_render(scene, &camera, NULL, picture), TSR_ERROR_STATE, "empty");
    tsr_volume *volume = test_volume_of(context, 33, (tsr_vec3){ 1, 1, 1 }, holes);
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_describe(scene, &info));
    assert_int_equal(info.nan_voxels, 16 * 33 * 33);
    assert_true(fabs(info.minimum + 10) < 1e-6);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_SURFACE;
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_STATE, "no surface");
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    for (int mode = TSR_RENDER_AUTO; mode <= TSR_RENDER_MIP; mode++) { /* NaN voxels are transparent: nothing that is not finite comes out */
        options.mode = (tsr_render_mode)mode;
        test_view v = test_draw(context, scene, &camera, &options, 16);
        for (int i = 0; i < 16 * 16 * 4; i++) assert_true(isfinite(v.rgba[i]));
        test_view_free(&v);
    }
    options.step = -1;
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "step");
    options.step = 0;
    options.supersampling = 9;
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "supersampling 9");
    options.supersampling = 0;
    options.clip = 1;
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "clip_normal");
    options.clip = 0;
    tsr_transfer transfer = { .points = 1, .point = { { NAN, 0.5f, { 1, 1, 1 } } } };
    options.mode = TSR_RENDER_VOLUME;
    options.transfer = &transfer;
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "point 0");
    transfer = (tsr_transfer){ .gaussians = 1, .gaussian = { { .centre = 1, .width = -1, .alpha = 0.1f } } };
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "width -1");
    options.transfer = NULL;
    camera = test_camera((tsr_vec3){ 0, 1e9, 0 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 30, 0);
    require_error(tsr_render(scene, &camera, &options, picture), TSR_ERROR_ARGUMENT, "an orthographic camera");
    camera = test_front(24);
    test_look(&camera, (tsr_vec3){ 0, 1e12, 0 }, (tsr_vec3){ 0, 0, 0 }); /* at infinity for all that matters: fine without perspective */
    options.mode = TSR_RENDER_SURFACE;
    test_view v = test_draw(context, scene, &camera, &options, 16);
    assert_true(isfinite(v.depth[8 * 16 + 10]));
    test_view_free(&v);
    tsr_slice_options slice = TSR_SLICE_OPTIONS;
    slice.position = 33;
    require_error(tsr_render_slice(scene, &slice, picture), TSR_ERROR_ARGUMENT, "0 to 32");
    slice.axis = 3;
    require_error(tsr_render_slice(scene, &slice, picture), TSR_ERROR_ARGUMENT, "normal");
    require_error(tsr_scene_set_surface_volume(scene, volume, (double)NAN, 1), TSR_ERROR_ARGUMENT, "isovalue");
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, 3, 0, 0, &mesh));
    require_error(tsr_scene_set_surface_mesh(scene, mesh), TSR_ERROR_STATE, "no triangles");
    tsr_mesh_destroy(&mesh);
    tsr_scene_destroy(&scene);
    tsr_picture_destroy(&picture);
    tsr_volume_destroy(&volume);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ball_from_volume),
                                        cmocka_unit_test(ball_of_the_page),
                                        cmocka_unit_test(anisotropic_normals),
                                        cmocka_unit_test(ball_from_mesh),
                                        cmocka_unit_test(ball_from_tiles),
                                        cmocka_unit_test(plane_depth),
                                        cmocka_unit_test(mip_by_brute_force),
                                        cmocka_unit_test(slab_opacity),
                                        cmocka_unit_test(combined_and_regions),
                                        cmocka_unit_test(contour_is_the_circle),
                                        cmocka_unit_test(slice_orientation),
                                        cmocka_unit_test(clipping_caps),
                                        cmocka_unit_test(bad_input),
                                        cmocka_unit_test(cancelled_between_bands) };
    return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
