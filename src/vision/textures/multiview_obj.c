/* vision/textures/multiview_obj.c: OBJ files as models need them: with the place of every corner in the atlas (formats/meshes/obj.c reads meshes, which have none). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"
#include "tessera/multiview_model.h"
#include "vision/textures/multiview_files.h"

typedef struct reader {
    const char *file;
    tsr_placed_mesh *mesh;
    int64_t vertex, place, triangle; /* met so far */
    int store;
} reader;

static tsr_status read_reals(const reader *r, tsr_text *line, const char *what, int count, float *to)
{
    for (int k = 0; k < count; k++) {
        double value;
        if (tsr_text_double(line, &value) != TSR_TEXT_OK || !isfinite(value) || fabs(value) > 3e38)
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: %s, expected %d numbers", r->file, (long long)line->line, what, count);
        to[k] = (float)value;
    }
    return TSR_OK;
}

static tsr_status resolve(const reader *r, const tsr_text *line, tsr_word word, const char *what, int64_t so_far, int64_t total, uint32_t *index)
{
    char shown[32];
    int64_t value = 0;
    if (tsr_word_integer(word, &value) != TSR_TEXT_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%s' in a face, expected v/vt or v/vt/vn", r->file, (long long)line->line,
                 tsr_word_show(word, shown));
    const int64_t from0 = value < 0 ? so_far + value : value - 1;
    if (value == 0 || from0 < 0 || from0 >= total)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: %s %lld in a face, expected 1 to %lld", r->file, (long long)line->line, what, (long long)value,
                 (long long)total);
    *index = (uint32_t)from0;
    return TSR_OK;
}

static tsr_status read_corner(const reader *r, const tsr_text *line, tsr_word word, uint32_t *vertex, uint32_t *place)
{
    const char *end = word.text + word.size, *slash = (const char *)memchr(word.text, '/', word.size);
    const char *second = slash ? (const char *)memchr(slash + 1, '/', (size_t)(end - slash - 1)) : NULL;
    const char *stop = second ? second : end;
    char shown[32];
    if (!slash || stop == slash + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: corner '%s' has no texture coordinate, expected v/vt or v/vt/vn", r->file,
                 (long long)line->line, tsr_word_show(word, shown));
    TSR_TRY(resolve(r, line, (tsr_word){ word.text, (size_t)(slash - word.text) }, "vertex", r->vertex, r->mesh->vertices, vertex));
    TSR_TRY(resolve(r, line, (tsr_word){ slash + 1, (size_t)(stop - slash - 1) }, "texture coordinate", r->place, r->mesh->places, place));
    return TSR_OK;
}

static tsr_status read_face(reader *r, tsr_text *line)
{
    uint32_t vertex[3] = { 0 }, place[3] = { 0 };
    int64_t corners = 0;
    tsr_word word;
    while (tsr_text_word(line, &word)) {
        const int at = corners < 2 ? (int)corners : 2;
        if (r->store && corners > 2) {
            vertex[1] = vertex[2];
            place[1] = place[2];
        }
        if (r->store) TSR_TRY(read_corner(r, line, word, &vertex[at], &place[at]));
        corners++;
        if (corners < 3) continue;
        if (r->store) {
            memcpy(r->mesh->triangle + 3 * r->triangle, vertex, sizeof vertex);
            memcpy(r->mesh->corner + 3 * r->triangle, place, sizeof place);
        }
        r->triangle++;
    }
    if (corners < 3)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: a face of %lld corners, expected at least 3", r->file, (long long)line->line,
                 (long long)corners);
    return TSR_OK;
}

/* Counts, or with `store` keeps. */
static tsr_status walk(reader *r, tsr_text text)
{
    tsr_text line;
    tsr_word word;
    r->vertex = r->place = r->triangle = 0;
    while (tsr_text_line(&text, &line)) {
        const char *hash = (const char *)memchr(line.at, '#', (size_t)(line.end - line.at));
        if (hash) line.end = hash;
        if (line.end > line.at && line.end[-1] == '\\')
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld goes on in the next (a backslash at its end), expected one line a face", r->file,
                     (long long)line.line);
        if (!tsr_text_word(&line, &word)) continue;
        if (tsr_word_is(word, "v")) {
            if (r->store) TSR_TRY(read_reals(r, &line, "a vertex", 3, r->mesh->position + 3 * r->vertex));
            r->vertex++;
        } else if (tsr_word_is(word, "vt")) {
            if (r->store) TSR_TRY(read_reals(r, &line, "a texture coordinate", 2, r->mesh->place + 2 * r->place));
            r->place++;
        } else if (tsr_word_is(word, "f")) {
            TSR_TRY(read_face(r, &line));
        }
    }
    return TSR_OK;
}

void tsr_placed_mesh_free(tsr_placed_mesh *m)
{
    free(m->position);
    free(m->place);
    free(m->triangle);
    free(m->corner);
    memset(m, 0, sizeof *m);
}

tsr_status tsr_placed_mesh_read(tsr_input *input, tsr_placed_mesh *mesh)
{
    tsr_status status;
    const uint8_t *bytes;
    size_t size;
    reader r = { .file = tsr_input_name(input), .mesh = mesh };
    memset(mesh, 0, sizeof *mesh);
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(walk(&r, tsr_text_make(bytes, size)));
    if (!r.vertex || !r.place || !r.triangle)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no %s, expected an OBJ file with v, vt and f lines", r.file,
                 !r.vertex  ? "vertices (v)"
                 : !r.place ? "texture coordinates (vt)"
                            : "faces (f)");
    if (r.triangle > TSR_MULTIVIEW_TRIANGLES_MOST || r.vertex > 3ll * TSR_MULTIVIEW_TRIANGLES_MOST || r.place > 3ll * TSR_MULTIVIEW_TRIANGLES_MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %lld triangles of %lld vertices, expected at most %d triangles", r.file, (long long)r.triangle,
                 (long long)r.vertex, TSR_MULTIVIEW_TRIANGLES_MOST);
    mesh->vertices = r.vertex;
    mesh->places = r.place;
    mesh->triangles = r.triangle;
    mesh->position = (float *)malloc((size_t)r.vertex * 3 * sizeof(float));
    mesh->place = (float *)malloc((size_t)r.place * 2 * sizeof(float));
    mesh->triangle = (uint32_t *)malloc((size_t)r.triangle * 3 * sizeof(uint32_t));
    mesh->corner = (uint32_t *)malloc((size_t)r.triangle * 3 * sizeof(uint32_t));
    if (!mesh->position || !mesh->place || !mesh->triangle || !mesh->corner)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%.200s: out of host memory for %lld triangles", r.file, (long long)r.triangle);
    r.store = 1;
    TSR_TRY_GOTO(walk(&r, tsr_text_make(bytes, size)), fail);
    return TSR_OK;
fail:
    tsr_placed_mesh_free(mesh);
    return status;
}
