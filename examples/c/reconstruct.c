/* A noisy cloud of a knot becomes a closed mesh: knot.ply. The same as
 *   tessera make points-trefoil --count 100000 --noise 0.002 -o knot.xyz && tessera reconstruct knot.xyz --depth 7 -o knot.ply */
#include <stdio.h>

#include "tessera/tessera.h"

static int show(void *user, const tsr_reconstruct_level *level, const tsr_tiles *tiles)
{
    (void)user;
    (void)tiles; /* the surface of this level: tsr_surface_extract_tiles */
    printf("level %d: %lld tiles, samples %.2f voxels from the surface\n", level->level, (long long)level->tiles, level->error / level->voxel);
    return 0;
}

int main(void)
{
    tsr_context *context = NULL;
    tsr_points *cloud = NULL, *points = NULL;
    tsr_tiles *tiles = NULL;
    tsr_mesh *made = NULL, *mesh = NULL;
    tsr_points_options make = TSR_POINTS_OPTIONS;
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    make.count = 100000;
    make.noise = 0.002;
    options.depth = 7;
    options.level = show;
    write.overwrite = 1;
    tsr_status status = tsr_context_create(NULL, &context);
    if (status == TSR_OK) status = tsr_points_make("points-trefoil", &make, &cloud);
    if (status == TSR_OK) status = tsr_points_copy(cloud, context, &points);
    if (status == TSR_OK) status = tsr_reconstruct(context, points, &options, &tiles, NULL);
    if (status == TSR_OK) status = tsr_surface_extract_tiles(context, tiles, NULL, &made, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, &mesh);
    if (status == TSR_OK) status = tsr_mesh_write(mesh, "knot.ply", &write);
    if (status != TSR_OK) fprintf(stderr, "%s\n", tsr_error_message());
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&made);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    tsr_points_destroy(&cloud);
    tsr_context_destroy(&context);
    return status != TSR_OK;
}
