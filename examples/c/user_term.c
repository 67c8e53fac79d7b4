/* A velocity in your own C: a ball in one cell of a Taylor-Green vortex is dragged out into a hook. The flow is free of sources, so the volume stays.
 *
 *   example_user_term [MODULE [DEVICE]]
 *
 * MODULE is what tessera_add_term made of examples/term/taylor_green.c. Prints volume and area over time and writes hook.stl. */
#include <stdio.h>

#include "../term/taylor_green.h"
#include "tessera/tessera.h"

static tsr_status run(const char *module, const char *device)
{
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    const tsr_shape ball = { .kind = TSR_SHAPE_SPHERE, .centre = { 32, 45, 0 }, .radius = 9 };
    const taylor_green cells = { .edge = 64, .speed = 4 };
    tsr_levelset_user user;
    tsr_context *context = NULL;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_mesh *mesh = NULL, *host = NULL;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    where.device = device;
    list.band = 3;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_tiles_shape(context, NULL, &list, &ball, &tiles);
    if (status == TSR_OK) status = tsr_term_load(context, module, sizeof cells, &user);
    user.data = &cells;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_USER, .value = 1, .user = &user };
    options.term_count = 1;
    options.space = TSR_STENCIL_WENO5;
    options.time = TSR_TIME_RK3;
    options.reshape_weight = 4;
    if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
    for (int i = 0; i <= 4 && status == TSR_OK; i++) {
        if (i > 0) status = tsr_levelset_advance(solver, 8, NULL, &report);
        if (status == TSR_OK) status = tsr_tiles_measure(tiles, &m);
        if (status == TSR_OK) printf("time %2d: volume %.1f, area %.1f\n", 8 * i, m.volume, m.area);
    }
    if (status == TSR_OK) status = tsr_surface_extract_tiles(context, tiles, NULL, &mesh, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, NULL, &host);
    if (status == TSR_OK) status = tsr_mesh_write(host, "hook.stl", NULL);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    if (run(argc > 1 ? argv[1] : "taylor_green", argc > 2 ? argv[2] : "cpu") == TSR_OK) return 0;
    fprintf(stderr, "user_term: %s\n", tsr_error_trace());
    return 1;
}
