/* A picture of water from the particles of a file: fluid PARTICLES.ply PICTURE.png */
#include <stdio.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_points *host = NULL, *points = NULL;
    tsr_fluid *fluid = NULL;
    tsr_image image = { 0 };
    int code = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: %s PARTICLES PICTURE.png\n", argv[0]);
        return 2;
    }
    TRY(tsr_context_create(NULL, &context));
    TRY(tsr_points_read(argv[1], NULL, &host));
    TRY(tsr_points_copy(host, context, &points));

    tsr_fluid_particles particles = TSR_FLUID_PARTICLES; /* as a simulator has them on the device */
    particles.count = tsr_points_count(points);
    particles.positions = tsr_points_positions_const(points);
    particles.radii = tsr_points_radii_const(points);
    particles.radius = 0.03; /* typical, and of those without one */

    tsr_camera camera = { .fov = 40 };
    TRY(tsr_camera_look_at(&camera, (tsr_vec3){ 1.5, -3, 1.6 }, (tsr_vec3){ 0, 0, -0.1 }, (tsr_vec3){ 0, 0, 1 }));
    tsr_fluid_backdrop floor = TSR_FLUID_BACKDROP;
    floor.scenery = TSR_FLUID_FLOOR;
    floor.bounds = (tsr_box){ { -1, -1, -0.4 }, { 1, 1, 0.4 } };
    floor.shadow = 1;
    floor.shadow_bounds = floor.bounds;

    tsr_fluid_options options = TSR_FLUID_OPTIONS;
    options.width = 640;
    options.height = 400;
    options.resolution = 2;
    options.particle_scale = 1.75; /* so that neighbours overlap */
    TRY(tsr_fluid_create(context, &fluid));
    TRY(tsr_fluid_set_sky(fluid, "sunset", (tsr_vec3){ 0, 0, 1 }));
    TRY(tsr_fluid_draw(fluid, &particles, &camera, &floor, NULL, &options, NULL)); /* again and again for a film: nothing is allocated then */
    TRY(tsr_fluid_picture(fluid, 0, &image));
    TRY(tsr_image_write(&image, argv[2], NULL));
    code = 0;
done:
    tsr_image_destroy(&image);
    tsr_fluid_destroy(&fluid);
    tsr_points_destroy(&points);
    tsr_points_destroy(&host);
    tsr_context_destroy(&context);
    return code;
}
