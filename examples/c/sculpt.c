/* sculpt: a small editing session in C: two shapes are joined, a brush raises the seam, one step is taken back.
 * Usage: example_sculpt OUTPUT.ply
 * See it: tessera render OUTPUT.ply -o sculpt.png */
#include <stdio.h>

#include "tessera/tessera.h"

static tsr_status session(tsr_context *context, const char *path)
{
    tsr_editor *editor = NULL;
    tsr_mesh *mesh = NULL, *host = NULL;
    tsr_surface_options surface = TSR_SURFACE_OPTIONS;
    tsr_status status = tsr_editor_create(context, NULL, &editor);
    if (status == TSR_OK) status = tsr_editor_shape(editor, "body", &(tsr_shape){ .kind = TSR_SHAPE_CAPSULE, .radius = 12, .half = { 0, 0, 20 } });
    if (status == TSR_OK) status = tsr_editor_shape(editor, "ring", &(tsr_shape){ .kind = TSR_SHAPE_TORUS, .radius = 16, .minor = 5 });
    if (status == TSR_OK) status = tsr_editor_combine(editor, "body", "ring", TSR_CSG_BLEND, 3);
    if (status == TSR_OK) status = tsr_editor_brush(editor, "body", &(tsr_brush){ { 0, 0, 32 }, 5, 1, 4 }, NULL);
    if (status == TSR_OK) status = tsr_editor_smooth(editor, "body", 50, 0, NULL); /* too much */
    if (status == TSR_OK) status = tsr_editor_undo(editor);
    if (status == TSR_OK) status = tsr_surface_extract_tiles(context, tsr_editor_tiles(editor, "body"), &surface, &mesh, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, NULL, &host);
    if (status == TSR_OK) status = tsr_mesh_write(host, path, NULL);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    tsr_editor_destroy(&editor);
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTPUT.ply\n", argv[0]);
        return 2;
    }
    tsr_status status = tsr_context_create(NULL, &context);
    if (status == TSR_OK) status = session(context, argv[1]);
    if (status != TSR_OK) fprintf(stderr, "%s\n", tsr_error_message());
    tsr_context_destroy(&context);
    return status != TSR_OK;
}
