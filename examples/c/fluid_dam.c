/* A dam breaks against a ball: a film of particles. fluid_dam FOLDER [FRAMES] writes FOLDER/000.ply, 001.ply ... */
#include <stdio.h>
#include <stdlib.h>

#include "tessera/tessera.h"

static int stop(void)
{
    fprintf(stderr, "fluid_dam: %s\n", tsr_error_message());
    exit(1);
}
#define MUST(call) ((call) == TSR_OK ? 0 : stop())

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_fluid_sim *sim = NULL;
    tsr_fluid_sim_options options = TSR_FLUID_SIM_OPTIONS;
    tsr_fluid_sim_info info = TSR_FLUID_SIM_INFO;
    const int frames = argc > 2 ? atoi(argv[2]) : 10;
    if (argc < 2) {
        fprintf(stderr, "usage: fluid_dam FOLDER [FRAMES]\n");
        return 2;
    }
    MUST(tsr_context_create(NULL, &context));
    options.spacing = 0.04;
    options.lower = (tsr_vec3){ -0.1, -0.1, -0.1 };
    options.upper = (tsr_vec3){ 1.3, 0.7, 1.1 };
    MUST(tsr_fluid_sim_create(context, &options, &sim));
    /* solids first */
    MUST(tsr_fluid_sim_add_room(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 1.2, 0.6, 1 }));
    MUST(tsr_fluid_sim_add_sphere(sim, (tsr_vec3){ 0.8, 0.3, 0.1 }, 0.12));
    MUST(tsr_fluid_sim_add_block(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0.4, 0.6, 0.6 }, (tsr_vec3){ 0, 0, 0 }));
    for (int k = 0; k < frames; k++) {
        char path[4096];
        tsr_points *points = NULL;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.overwrite = 1;
        if (k) MUST(tsr_fluid_sim_advance(sim, 1.0 / 30, NULL));
        MUST(tsr_fluid_sim_points(sim, &points)); /* with radii, "density" and "velocity" */
        snprintf(path, sizeof path, "%s/%03d.ply", argv[1], k);
        MUST(tsr_points_write(points, path, &write));
        tsr_points_destroy(&points);
    }
    MUST(tsr_fluid_sim_describe(sim, &info));
    printf("%lld particles, %.2f s, %lld steps, density error %.2f %%\n", (long long)info.particles, info.time, (long long)info.steps, 100 * info.density_error);
    tsr_fluid_sim_destroy(&sim);
    tsr_context_destroy(&context);
    return 0;
}
