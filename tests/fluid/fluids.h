/* Particles, cameras and pictures for the suites of fluids. */
#ifndef TSR_TESTS_FLUIDS_H
#define TSR_TESTS_FLUIDS_H

#include <math.h>

#include "device/backend.h"
#include "support.h"

static inline float *to_device(tsr_context *c, const void *host, size_t bytes)
{
    void *memory = NULL;
    if (!bytes) return NULL;
    require_ok(tsr_device_allocate(c, bytes, &memory));
    require_ok(tsr_device_move(c, memory, NULL, host, bytes));
    return (float *)memory;
}

/* Looks along +y from the origin, up is z: x of the picture is x of the world, depth is y. */
static inline tsr_camera camera_at(tsr_vec3 eye, double fov)
{
    tsr_camera camera = { .fov = fov };
    require_ok(tsr_camera_look_at(&camera, eye, (tsr_vec3){ eye.x, eye.y + 1, eye.z }, (tsr_vec3){ 0, 0, 1 }));
    return camera;
}

typedef struct cloud {
    tsr_context *context;
    int64_t count;
    float *positions, *radii, *densities, *velocities;
    tsr_fluid_particles particles;
} cloud;
static inline cloud cloud_of(tsr_context *c, int64_t count, const float *positions, const float *radii, double radius)
{
    cloud made = { .context = c, .count = count };
    made.positions = to_device(c, positions, (size_t)count * 12);
    if (radii) made.radii = to_device(c, radii, (size_t)count * 4);
    made.particles = (tsr_fluid_particles){ .struct_size = sizeof made.particles, .count = count, .positions = made.positions, .radii = made.radii, .radius = radius };
    return made;
}
static inline void cloud_end(cloud *c)
{
    tsr_device_release(c->context, c->positions, (size_t)c->count * 12);
    tsr_device_release(c->context, c->radii, (size_t)c->count * 4);
    tsr_device_release(c->context, c->densities, (size_t)c->count * 4);
    tsr_device_release(c->context, c->velocities, (size_t)c->count * 12);
}

static inline tsr_fluid_look calm(double radius)
{
    tsr_fluid_look look;
    require_ok(tsr_fluid_look_make(TSR_FLUID_WATER, radius, &look));
    look.noise = look.agitated = 0;
    return look;
}

/* New memory: free(). */
static inline float *image_of(tsr_fluid *fluid, tsr_fluid_image image)
{
    int32_t width, height, channels;
    require_ok(tsr_fluid_image_shape(fluid, image, &width, &height, &channels));
    float *values = malloc((size_t)width * (size_t)height * (size_t)channels * sizeof *values);
    assert_non_null(values);
    require_ok(tsr_fluid_download(fluid, image, values));
    return values;
}

/* A pool with waves and a ball above it, `side` particles along each axis of the pool's length; [count][3]. */
static inline float *pool(int side, uint64_t *state, int64_t *count, double *radius)
{
    const double h = 2.0 / side;
    float *p = malloc((size_t)side * (size_t)side * (size_t)side * 24);
    int64_t n = 0;
    assert_non_null(p);
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            for (int k = 0; k < side; k++) {
                const double x = -1 + h * (i + 0.5 + 0.4 * (test_uniform(state) - 0.5)), y = 3 + h * (j + 0.5 + 0.4 * (test_uniform(state) - 0.5));
                const double z = -1 + h * (k + 0.5 + 0.4 * (test_uniform(state) - 0.5));
                const double ball = (x - 0.3) * (x - 0.3) + (y - 3.6) * (y - 3.6) + (z - 0.45) * (z - 0.45);
                if (z > -0.5 + 0.15 * sin(3 * x) * cos(2 * y) && ball > 0.09) continue;
                p[3 * n] = (float)x;
                p[3 * n + 1] = (float)y;
                p[3 * n + 2] = (float)z;
                n++;
            }
    *count = n;
    *radius = 0.5 * h;
    return p;
}

#endif
