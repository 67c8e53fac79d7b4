/* flow/vtk_image.c: vectors of VTK's legacy image data. */
#include "flow/vtk_image.h"

#include <math.h>
#include <string.h>

#include "formats/vtk_text.h"

typedef struct reader {
    tsr_vtk_text t;
    int64_t size[3], points; /* 0: DIMENSIONS has not come yet */
    double spacing[3], origin[3];
    tsr_volume **components; /* filled: [0] is not NULL */
} reader;

int tsr_vtk_image_is(tsr_input *input)
{
    static const char magic[] = "# vtk DataFile Version";
    const uint8_t *head;
    size_t bytes;
    return tsr_input_head(input, sizeof magic - 1, &head, &bytes) == TSR_OK && bytes == sizeof magic - 1 && !memcmp(head, magic, bytes);
}

static tsr_status take_three(reader *r, const char *what, double value[3])
{
    for (int k = 0; k < 3; k++) {
        tsr_word word;
        TSR_TRY(tsr_vtk_word(&r->t, &word, what));
        if (tsr_word_double(word, &value[k]) != TSR_TEXT_OK || !isfinite(value[k])) TSR_TRY(tsr_vtk_wrong(&r->t, word, what));
    }
    return TSR_OK;
}

static tsr_status dimensions(reader *r)
{
    for (int k = 0; k < 3; k++) {
        TSR_TRY(tsr_vtk_count(&r->t, "an extent from 1 on", &r->size[k]));
        if (r->size[k] < 1 || r->size[k] > INT32_MAX)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %lld given, expected an extent from 1 on", r->t.file, (long long)r->t.text.line,
                     (long long)r->size[k]);
    }
    if (r->size[0] > INT64_MAX / 64 / r->size[1] / r->size[2]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: extents whose product is beyond any file", r->t.file);
    r->points = r->size[0] * r->size[1] * r->size[2];
    return TSR_OK;
}

/* The first array of vectors at the points: VECTORS, or three SCALARS or numbers of a FIELD at each. */
static tsr_status array(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components, int at_points,
                        int *taken)
{
    enum { PIECE = 1024 };
    reader *r = (reader *)user;
    double piece[3 * PIECE];
    tsr_block memory[3];
    (void)name;
    if (!at_points || components != 3 || tuples != r->points || r->components[0] || type.kind == TSR_VTK_N_BIT ||
        tsr_word_is_any_case(attribute, "NORMALS"))
        return TSR_OK;
    *taken = 1;
    TSR_TRY(tsr_vtk_begin_reals(&r->t, type, 3 * tuples, "vectors"));
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ r->spacing[0], r->spacing[1], r->spacing[2] },
                                             (tsr_vec3){ r->origin[0], r->origin[1], r->origin[2] }, TSR_SPACE_NONE);
    for (int k = 0; k < 3; k++) { /* counted against the reader's limit */
        TSR_TRY(tsr_input_allocate(r->t.input, 4 * tuples, "vectors", &memory[k]));
        TSR_TRY(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ r->size[0], r->size[1], r->size[2] }, &g, memory[k].data, memory[k].release,
                                memory[k].user, &r->components[k]));
    }
    for (int64_t first = 0; first < tuples; first += PIECE) {
        const int64_t n = tsr_min64(PIECE, tuples - first);
        TSR_TRY(tsr_vtk_next(&r->t, type, 3 * n, "vectors", piece));
        for (int64_t i = 0; i < 3 * n; i++) ((float *)r->components[i % 3]->data)[first + i / 3] = (float)piece[i];
    }
    return TSR_OK;
}

static tsr_status section(reader *r, tsr_word word, int64_t *tuples, int *at_points)
{
    if (tsr_word_is_any_case(word, "DIMENSIONS")) return dimensions(r);
    if (tsr_word_is_any_case(word, "ORIGIN")) return take_three(r, "an origin", r->origin);
    if (tsr_word_is_any_case(word, "SPACING") || tsr_word_is_any_case(word, "ASPECT_RATIO")) {
        TSR_TRY(take_three(r, "a spacing", r->spacing));
        for (int k = 0; k < 3; k++)
            if (!(r->spacing[k] > 0))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: SPACING %g along %c, expected a positive length", r->t.file, r->spacing[k], "xyz"[k]);
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
        *at_points = tsr_word_is_any_case(word, "POINT_DATA");
        TSR_TRY(tsr_vtk_count(&r->t, "the number of values", tuples));
        if (*at_points && (!r->points || *tuples != r->points))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINT_DATA %lld, expected the %lld points of DIMENSIONS", r->t.file, (long long)*tuples,
                     (long long)r->points);
        return TSR_OK;
    }
    if (*tuples < 0 && !tsr_word_is_any_case(word, "FIELD") && !tsr_word_is_any_case(word, "METADATA"))
        return tsr_vtk_wrong(&r->t, word, "DIMENSIONS, SPACING, ORIGIN, POINT_DATA, CELL_DATA or FIELD");
    return tsr_vtk_attribute(&r->t, word, *tuples, *at_points, array, r);
}

tsr_status tsr_vtk_image_read(tsr_input *input, const tsr_progress *progress, tsr_volume *components[3])
{
    const uint8_t *bytes;
    size_t size;
    reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = progress }, .spacing = { 1, 1, 1 }, .components = components };
    tsr_status status;
    tsr_word word;
    int64_t tuples = -1;
    int at_points = 0;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.t.text = tsr_text_make(bytes, size);
    TSR_TRY(tsr_vtk_begin(&r.t, "STRUCTURED_POINTS", &word));
    if (!tsr_word_is_any_case(word, "STRUCTURED_POINTS"))
        TSR_TRY(tsr_vtk_wrong(&r.t, word, "STRUCTURED_POINTS (image data: vectors on a regular grid)"));
    while (!components[0] && tsr_text_word(&r.t.text, &word)) TSR_TRY_GOTO(section(&r, word, &tuples, &at_points), fail);
    if (!components[0]) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: no array of three numbers at each point, expected VECTORS", r.t.file);
    return TSR_OK;
fail:
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return status;
}
