/* Contours of a vector field: the stream lines that face the viewer, as coloured tubes.
 *
 *   contours [field.nrrd] tubes.ply
 *
 * Without a field the repelling focus is made. Seen along z, the normal of its eigenplane, seeds fill that plane: the program compares their number with the exact one. */
#include <stdio.h>

#include "tessera/tessera.h"

static tsr_status contours(tsr_context *context, const char *input, const char *output)
{
    tsr_volume *components[3] = { NULL, NULL, NULL };
    tsr_vector_field *field = NULL;
    tsr_contours *found = NULL;
    tsr_streamlines *lines = NULL;
    tsr_mesh *tubes = NULL, *host = NULL;
    tsr_field_info about = TSR_FIELD_INFO;
    tsr_contour_info info = TSR_CONTOUR_INFO;
    tsr_contour_view view = { .direction = { 0.4, 0.3, -1 } };
    const tsr_contour_relevance relevance = { .struct_size = sizeof relevance, .use = 1 };
    const tsr_tube_options look = { .struct_size = sizeof look, .caps = 1, .colored = 1, .color = TSR_STREAM_AT_SPEED };
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };

    tsr_status status = input ? tsr_field_read(&input, 1, NULL, components) : tsr_field_make("field-focus", NULL, components);
    if (status == TSR_OK) status = tsr_field_create(context, (const tsr_volume *const *)components, &field);
    if (status == TSR_OK) status = tsr_contours_create(field, NULL, &found);
    if (status == TSR_OK) status = tsr_contours_update(found, &view, &info);
    if (status == TSR_OK) printf("%lld seeds\n", (long long)info.seeds);
    if (status == TSR_OK) status = tsr_contours_trace(found, &relevance, NULL, &lines);
    if (status == TSR_OK) status = tsr_streamlines_tubes(lines, field, &look, &tubes);
    if (status == TSR_OK) status = tsr_mesh_copy(tubes, NULL, &host);
    if (status == TSR_OK) status = tsr_mesh_write(host, output, &write);

    if (status == TSR_OK && !input) { /* another view of the same field: only seeds are found anew */
        view.direction = (tsr_vec3){ 0, 0, -1 };
        status = tsr_contours_update(found, &view, &info);
        if (status == TSR_OK) status = tsr_field_describe(field, &about);
        const long long n = (long long)about.size.x, expected = 2 * n * (n - 1);
        if (status == TSR_OK) printf("along the eigenplane's normal: %lld seeds, expected %lld\n", (long long)info.seeds, expected);
        if (status == TSR_OK && info.seeds != expected) status = TSR_ERROR_INTERNAL;
    }
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&tubes);
    tsr_streamlines_destroy(&lines);
    tsr_contours_destroy(&found);
    tsr_field_destroy(&field);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: contours [field.nrrd] tubes.ply\n");
        return 2;
    }
    tsr_status status = tsr_context_create(NULL, &context);
    if (status == TSR_OK) status = contours(context, argc == 3 ? argv[1] : NULL, argv[argc - 1]);
    if (status != TSR_OK) fprintf(stderr, "%s\n", tsr_error_message());
    tsr_context_destroy(&context);
    return status != TSR_OK;
}
