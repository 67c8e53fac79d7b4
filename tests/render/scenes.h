/* tests/render/scenes.h: analytic volumes and short ways to draw them. */
#ifndef TSR_TESTS_RENDER_SCENES_H
#define TSR_TESTS_RENDER_SCENES_H

#include <math.h>

#include "support.h"

/* A float volume of n^3 voxels (spacing per axis) on the context's device: value(user, world position). The middle voxel is the origin. */
typedef double (*test_field)(double x, double y, double z);
static inline tsr_volume *test_volume_of(tsr_context *context, int32_t n, tsr_vec3 spacing, test_field field)
{
    tsr_geometry g =
        tsr_geometry_make(spacing, (tsr_vec3){ -0.5 * (n - 1) * spacing.x, -0.5 * (n - 1) * spacing.y, -0.5 * (n - 1) * spacing.z }, TSR_SPACE_RAS);
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, &g, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                tsr_vec3 p = tsr_geometry_to_world(&g, (tsr_vec3){ x, y, z });
                v[((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x] = (float)field(p.x, p.y, p.z);
            }
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static inline double test_ball(double x, double y, double z) { return sqrt(x * x + y * y + z * z) - 10.0; }
static inline double test_one(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return 1;
}

typedef struct test_view { int32_t width, height; float *rgba, *depth; } test_view;
static inline test_view test_fetch(const tsr_picture *picture)
{
    test_view v = { tsr_picture_width(picture), tsr_picture_height(picture), NULL, NULL };
    v.rgba = (float *)malloc((size_t)v.width * (size_t)v.height * 16);
    v.depth = (float *)malloc((size_t)v.width * (size_t)v.height * 4);
    require_ok(tsr_picture_download(picture, v.rgba, v.depth));
    return v;
}
static inline void test_view_free(test_view *v)
{
    free(v->rgba);
    free(v->depth);
}
static inline test_view test_draw(tsr_context *context, tsr_scene *scene, const tsr_camera *camera, const tsr_render_options *options, int32_t size)
{
    tsr_picture *picture;
    require_ok(tsr_picture_create(context, size, size, &picture));
    require_ok(tsr_render(scene, camera, options, picture));
    test_view v = test_fetch(picture);
    tsr_picture_destroy(&picture);
    return v;
}

/* Orthographic, from +y (the front) towards -y; `height` world units over the picture. */
static inline tsr_camera test_camera(tsr_vec3 eye, tsr_vec3 target, tsr_vec3 up, tsr_projection projection, double fov, double height)
{
    tsr_camera camera = { .projection = projection, .fov = fov, .height = height };
    require_ok(tsr_camera_look_at(&camera, eye, target, up));
    return camera;
}
/* The same eye with another place and direction. */
static inline void test_look(tsr_camera *camera, tsr_vec3 eye, tsr_vec3 target)
{
    require_ok(tsr_camera_look_at(camera, eye, target, (tsr_vec3){ 0, 0, 1 }));
}
static inline tsr_camera test_front(double height)
{
    return test_camera((tsr_vec3){ 0, 100, 0 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_ORTHOGRAPHIC, 0, height);
}

/* A closed ball of triangles from a grid of angles; a host mesh. */
static inline tsr_mesh *test_ball_mesh(int n, double radius)
{
    tsr_mesh *mesh;
    int rows = n, columns = 2 * n;
    require_ok(tsr_mesh_create(NULL, (int64_t)(rows + 1) * columns, (int64_t)2 * rows * columns, 0, &mesh));
    float *p = tsr_mesh_vertices(mesh);
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int j = 0; j <= rows; j++)
        for (int i = 0; i < columns; i++) {
            double theta = 3.14159265358979 * j / rows, phi = 2 * 3.14159265358979 * i / columns;
            *p++ = (float)(radius * sin(theta) * cos(phi));
            *p++ = (float)(radius * sin(theta) * sin(phi));
            *p++ = (float)(radius * cos(theta));
        }
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++) {
            uint32_t a = (uint32_t)(j * columns + i), b = (uint32_t)(j * columns + (i + 1) % columns), c = a + (uint32_t)columns,
                     d = b + (uint32_t)columns;
            const uint32_t two[6] = { a, c, b, b, c, d };
            memcpy(t, two, sizeof two);
            t += 6;
        }
    tsr_mesh_set_space(mesh, TSR_SPACE_RAS);
    return mesh;
}

#endif
