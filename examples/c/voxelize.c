/* From a mesh to a narrow-band level set and back, with every error checked: voxelize MESH SPACING SURFACE.ply */
#include <stdio.h>
#include <stdlib.h>

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
    tsr_mesh *file = NULL, *mesh = NULL, *surface = NULL, *host_surface = NULL;
    tsr_tiles *tiles = NULL;
    int code = 1;
    if (argc != 4) {
        fprintf(stderr, "usage: %s MESH SPACING SURFACE.ply\n", argv[0]);
        return 2;
    }
    TRY(tsr_context_create(NULL, &context));
    TRY(tsr_mesh_read(argv[1], NULL, &file));
    TRY(tsr_mesh_copy(file, context, &mesh));

    tsr_voxelize_options options = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    double h = strtod(argv[2], NULL);
    options.spacing = (tsr_vec3){ h, h, h };
    TRY(tsr_tiles_from_mesh(context, mesh, &options, &tiles, &report));
    printf("%lld triangles, %lld boundary edges: %lld tiles\n", (long long)report.triangles, (long long)report.boundary_edges,
           (long long)report.tiles);

    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    TRY(tsr_surface_extract_tiles(context, tiles, NULL, &surface, NULL));
    TRY(tsr_mesh_copy(surface, NULL, &host_surface));
    TRY(tsr_mesh_write(host_surface, argv[3], &write));
    code = 0;
done:
    tsr_mesh_destroy(&host_surface);
    tsr_mesh_destroy(&surface);
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&file);
    tsr_context_destroy(&context);
    return code;
}
