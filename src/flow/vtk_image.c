/* flow/vtk_image.c: vectors of VTK's legacy image data. */
#include "flow/vtk_image.h"

#include "formats/vtk_lattice.h"

typedef struct reader {
    tsr_vtk_text t;
    tsr_vtk_lattice lattice;
    tsr_volume **components; /* filled: [0] is not NULL */
} reader;

int tsr_vtk_image_is(tsr_input *input)
{
    const uint8_t *head;
    size_t bytes;
    return tsr_input_head(input, 64, &head, &bytes) == TSR_OK && tsr_vtk_is_dataset(head, bytes, NULL);
}

/* The first array of vectors at the points: VECTORS, or three SCALARS or numbers of a FIELD at each. */
static tsr_status array(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components, int at_points,
                        int *taken)
{
    enum { PIECE = 1024 };
    reader *r = (reader *)user;
    const tsr_vtk_lattice *l = &r->lattice;
    double piece[3 * PIECE];
    tsr_block memory[3];
    (void)name;
    if (!at_points || components != 3 || tuples != l->points || r->components[0] || type.kind == TSR_VTK_N_BIT ||
        tsr_word_is_any_case(attribute, "NORMALS") || tsr_word_is_any_case(attribute, "COLOR_SCALARS"))
        return TSR_OK;
    *taken = 1;
    TSR_TRY(tsr_vtk_begin_reals(&r->t, type, 3 * tuples, "vectors"));
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ l->spacing[0], l->spacing[1], l->spacing[2] },
                                             (tsr_vec3){ l->origin[0], l->origin[1], l->origin[2] }, TSR_SPACE_NONE);
    for (int k = 0; k < 3; k++) { /* counted against the reader's limit */
        TSR_TRY(tsr_input_allocate(r->t.input, 4 * tuples, "vectors", &memory[k]));
        TSR_TRY(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ l->size[0], l->size[1], l->size[2] }, &g, memory[k].data, memory[k].release,
                                memory[k].user, &r->components[k]));
    }
    for (int64_t first = 0; first < tuples; first += PIECE) {
        const int64_t n = tsr_min64(PIECE, tuples - first);
        TSR_TRY(tsr_vtk_next(&r->t, type, 3 * n, "vectors", piece));
        for (int64_t i = 0; i < 3 * n; i++) ((float *)r->components[i % 3]->data)[first + i / 3] = (float)piece[i];
    }
    return TSR_OK;
}

tsr_status tsr_vtk_image_read(tsr_input *input, const tsr_progress *progress, tsr_volume *components[3])
{
    const uint8_t *bytes;
    size_t size;
    reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = progress }, .lattice = TSR_VTK_LATTICE, .components = components };
    tsr_status status;
    tsr_word word;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.t.text = tsr_text_make(bytes, size);
    TSR_TRY(tsr_vtk_begin(&r.t, "STRUCTURED_POINTS", &word));
    if (!tsr_word_is_any_case(word, "STRUCTURED_POINTS"))
        TSR_TRY(tsr_vtk_wrong(&r.t, word, "STRUCTURED_POINTS (image data: vectors on a regular grid)"));
    while (!components[0] && tsr_text_word(&r.t.text, &word)) TSR_TRY_GOTO(tsr_vtk_lattice_section(&r.t, &r.lattice, word, array, &r), fail);
    if (!components[0]) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: no array of three numbers at each point, expected VECTORS", r.t.file);
    return TSR_OK;
fail:
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return status;
}
