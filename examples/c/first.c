/* A first complete program: makes a volume, cuts a surface out of it, measures it and writes it. Every error is said, everything is freed.
 * first SURFACE.ply */
#include <stdio.h>

#include <tessera/tessera.h>

/* After a failure: say what happened, free everything. */
#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL; /* all start as NULL: destroying NULL does nothing */
    tsr_volume *torus = NULL, *there = NULL;
    tsr_mesh *mesh = NULL, *here = NULL;
    int code = 1;
    if (argc != 2) {
        fprintf(stderr, "usage: %s SURFACE.ply\n", argv[0]);
        return 2;
    }
    TRY(tsr_context_create(NULL, &context)); /* one device: a GPU if one works, else the CPU */

    tsr_phantom_options phantom = TSR_PHANTOM_OPTIONS; /* options start as the macro says; a field of 0 means its default */
    phantom.size = (tsr_size3){ 64, 64, 64 };
    TRY(tsr_phantom_make("torus", &phantom, &torus, NULL)); /* signed distances, in host memory */
    TRY(tsr_volume_copy(torus, context, &there));           /* nothing moves to a device by itself */

    tsr_surface_options surface = TSR_SURFACE_OPTIONS;
    surface.inside = TSR_SURFACE_INSIDE_BELOW; /* a level set: negative inside */
    TRY(tsr_surface_extract(context, there, &surface, &mesh, NULL));
    TRY(tsr_mesh_copy(mesh, NULL, &here)); /* back to host memory: context NULL */

    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    TRY(tsr_mesh_measure(here, &measures));
    printf("%lld triangles, area %.0f, volume %.0f, Euler characteristic %lld\n", (long long)measures.triangles, measures.area, measures.volume,
           (long long)measures.euler);
    TRY(tsr_mesh_write(here, argv[1], NULL));
    code = 0;
done:
    tsr_mesh_destroy(&here);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&torus);
    tsr_context_destroy(&context); /* last: the others live on it */
    return code;
}
