/* formats/meshes/off.c: Object File Format (Geomview), text: [ST][C][N]OFF. One vertex and one face per line; polygons cut into triangles; colours of vertices
 * or of faces and normals of NOFF are kept, texture coordinates skipped. 4OFF, nOFF and binary OFF are refused. */
#include <math.h>
#include <string.h>

#include "formats/mesh_files.h"

typedef struct off_reader {
    const char *file;
    const tsr_progress *progress;
    tsr_text text;
    int normals, colors; /* announced: NOFF, COFF */
    int64_t vertices, faces;
    double color_scale, color_most; /* colours are 0 to 255, or 0 to 1 */
    int face_colors;                /* of faces, and what they count in: 1 whole numbers, 2 a part of 1; 0 none */
    int64_t between;                /* corners whose vertex has the colour of another face */
    tsr_places places;
    tsr_space space;
} off_reader;

/* "OFF" with its prefixes; *size = characters of the keyword. Something may follow at once ("OFF490 518 0" exists in the wild). */
static int parse_keyword(tsr_word word, int *normals, int *colors, int *dimensions, size_t *size)
{
    const char *at = word.text, *end = word.text + word.size;
    *normals = *colors = *dimensions = 0;
    if (end - at >= 2 && at[0] == 'S' && at[1] == 'T') at += 2;
    if (at < end && *at == 'C') *colors = (at++, 1);
    if (at < end && *at == 'N') *normals = (at++, 1);
    if (at < end && *at == '4') *dimensions = (at++, 1);
    if (at < end && *at == 'n') *dimensions = (at++, 1);
    if (end - at < 3 || memcmp(at, "OFF", 3) != 0) return 0;
    *size = (size_t)(at + 3 - word.text);
    return *size == word.size || (at[3] >= '0' && at[3] <= '9');
}

static tsr_status parse_header(off_reader *r)
{
    char shown[32];
    tsr_text line;
    tsr_word word = { "", 0 };
    int dimensions = 0;
    size_t size = 0;
    if (!tsr_text_data_line(&r->text, &line, &r->space) || !tsr_text_word(&line, &word) ||
        !parse_keyword(word, &r->normals, &r->colors, &dimensions, &size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: begins with '%s', expected OFF, COFF, NOFF or CNOFF", r->file, tsr_word_show(word, shown));
    if (dimensions) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s has vertices of another dimension than 3", r->file, tsr_word_show(word, shown));
    line.at = word.text + size;
    tsr_text probe = line;
    if (tsr_text_word(&probe, &word) && tsr_word_is_any_case(word, "BINARY"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: binary OFF; convert it to text or PLY", r->file);
    int64_t *counts[2] = { &r->vertices, &r->faces };
    for (int i = 0; i < 2; i++) {
        tsr_text_result got = tsr_text_integer(&line, counts[i]);
        if (got == TSR_TEXT_NONE && i == 0 && tsr_text_data_line(&r->text, &line, &r->space)) got = tsr_text_integer(&line, counts[i]);
        if (got != TSR_TEXT_OK || *counts[i] < 0)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: no number of %s, expected 'vertices faces edges'", r->file, (long long)line.line,
                     i ? "faces" : "vertices");
    }
    int64_t left = r->text.end - r->text.at; /* a vertex has at least "0 0 0\n", a face "0\n" */
    if (r->vertices > left / 6 + 1 || r->faces > left / 2 + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld vertices and %lld faces announced, but only %lld bytes follow", r->file, (long long)r->vertices,
                 (long long)r->faces, (long long)left);
    return TSR_OK;
}

static tsr_status next_line(off_reader *r, const char *what, int64_t number, int64_t count, tsr_text *line)
{
    if (tsr_text_data_line(&r->text, line, &r->space)) return TSR_OK;
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends before %s %lld of %lld", r->file, what, (long long)number, (long long)count);
}

static int count_numbers(tsr_text line)
{
    double value;
    int count = 0;
    while (tsr_text_double(&line, &value) == TSR_TEXT_OK) count++;
    return count;
}

/* Three numbers or, with alpha, four. Returns the largest. */
static double take_color(double scale, tsr_text *line, uint8_t color[4])
{
    double most = 0;
    color[3] = 255;
    for (int i = 0; i < 4; i++) {
        double value = 0;
        if (tsr_text_double(line, &value) != TSR_TEXT_OK) break;
        if (value > most) most = value;
        value = value * scale + 0.5;
        color[i] = value >= 255 ? 255 : value > 0 ? (uint8_t)value : 0;
    }
    return most;
}

/* With `mesh` NULL only checks. */
static tsr_status read_vertices(off_reader *r, tsr_mesh *mesh)
{
    for (int64_t v = 0; v < r->vertices; v++) {
        tsr_text line;
        TSR_READING(r->progress, v, mesh ? 0.5 * (double)v / (double)r->vertices : -1);
        TSR_TRY(next_line(r, "vertex", v, r->vertices, &line));
        for (int i = 0; i < (r->normals ? 6 : 3); i++) {
            double value = 0;
            char shown[32];
            tsr_word word = { "", 0 };
            tsr_text_word(&line, &word);
            if (tsr_word_double(word, &value) != TSR_TEXT_OK)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in vertex %lld, expected %d numbers", r->file, (long long)line.line,
                         tsr_word_show(word, shown), (long long)v, r->normals ? 6 : 3);
            if (!mesh) continue;
            if (i < 3) mesh->vertices[3 * v + i] = tsr_place(&r->places, i, value);
            else mesh->normals[3 * v + i - 3] = (float)value;
        }
        if (!mesh && r->colors) r->colors = count_numbers(line) >= 3;
        if (mesh && r->colors) r->color_most = fmax(r->color_most, take_color(r->color_scale, &line, mesh->colors + 4 * v));
    }
    return TSR_OK;
}

/* Are there three numbers or more behind the corners of a face? Numbers with a point are parts of 1. A single one is an index of a table that is elsewhere. */
static int kind_of_color(tsr_text line, int64_t corners)
{
    tsr_word word;
    int numbers = 0, point = 0;
    for (int64_t k = 0; tsr_text_word(&line, &word); k++) {
        if (k < corners) continue;
        numbers++;
        point |= memchr(word.text, '.', word.size) != NULL;
    }
    return numbers < 3 ? 0 : point ? 2 : 1;
}

/* That of a face, behind its corners; 0: none. */
static int take_face_color(const off_reader *r, tsr_text line, int64_t corners, uint8_t color[4])
{
    tsr_word word;
    for (int64_t k = 0; k < corners; k++) tsr_text_word(&line, &word);
    if (!r->face_colors || count_numbers(line) < 3) return 0;
    take_color(r->face_colors == 2 ? 255 : 1, &line, color);
    if (!color[3]) color[3] = 1; /* 0 says that there is none yet */
    return 1;
}

/* A vertex has the colour of the first face that says one. */
static void color_corner(off_reader *r, uint8_t *own, const uint8_t color[4])
{
    if (own[3]) r->between += memcmp(own, color, 4) != 0;
    else memcpy(own, color, 4);
}

static void finish_colors(const off_reader *r, tsr_mesh *mesh)
{
    static const uint8_t plain[4] = { 204, 204, 204, 255 };
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (!mesh->colors[4 * v + 3]) memcpy(mesh->colors + 4 * v, plain, 4);
    if (r->between)
        tsr_remark("%s: vertices between faces of different colours have that of the first (%lld corners have another)", r->file,
                   (long long)r->between);
}

/* With `fan` NULL only counts triangles. */
static tsr_status read_faces(off_reader *r, tsr_mesh *mesh, tsr_fan *fan, int64_t *triangles)
{
    uint8_t color[4];
    *triangles = 0;
    for (int64_t f = 0; f < r->faces; f++) {
        tsr_text line;
        int64_t corners = 0;
        TSR_READING(r->progress, f, fan ? 0.5 + 0.5 * (double)f / (double)r->faces : -1);
        TSR_TRY(next_line(r, "face", f, r->faces, &line));
        if (tsr_text_integer(&line, &corners) != TSR_TEXT_OK || corners < 0 || corners > line.end - line.at)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: face %lld, expected a number of corners and as many indices", r->file, (long long)line.line,
                     (long long)f);
        *triangles += tsr_fan_triangles(corners);
        if (!fan && !r->face_colors) r->face_colors = kind_of_color(line, corners);
        if (!fan) continue;
        const int colored = take_face_color(r, line, corners, color);
        tsr_fan_begin(fan);
        for (int64_t k = 0; k < corners; k++) {
            int64_t vertex = -1;
            if (tsr_text_integer(&line, &vertex) != TSR_TEXT_OK || vertex < 0 || vertex >= r->vertices)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: corner %lld of face %lld is vertex %lld, expected 0 to %lld", r->file,
                         (long long)line.line, (long long)k, (long long)f, (long long)vertex, (long long)r->vertices - 1);
            tsr_fan_corner(fan, (uint32_t)vertex);
            if (colored) color_corner(r, mesh->colors + 4 * vertex, color);
        }
    }
    return TSR_OK;
}

static tsr_status read_body(tsr_input *input, const tsr_read_options *options, off_reader *r, tsr_mesh **mesh)
{
    int64_t triangles = 0;
    off_reader counting = *r;
    tsr_fan fan;
    tsr_status status;
    TSR_TRY(read_vertices(&counting, NULL));
    TSR_TRY(read_faces(&counting, NULL, NULL, &triangles));
    TSR_TRY(tsr_mesh_for_input(input, r->vertices, triangles, r->normals, mesh));
    r->colors = counting.colors;
    r->face_colors = r->colors ? 0 : counting.face_colors;
    if (r->vertices && (r->colors || r->face_colors)) TSR_TRY(tsr_mesh_add_colors(*mesh));
    if (r->vertices && r->face_colors) memset((*mesh)->colors, 0, 4 * (size_t)r->vertices);
    r->places = tsr_places_begin();
    r->color_scale = 255;
    const tsr_text body = r->text;
    for (int again = 1; again;) {
        r->text = body;
        TSR_TRY(read_vertices(r, *mesh));
        again = tsr_places_again(&r->places, options);
        if (r->color_most > 1 && r->color_scale == 255) r->color_scale = again = 1;
    }
    memcpy((*mesh)->origin, r->places.origin, sizeof r->places.origin);
    TSR_TRY(tsr_mesh_check_positions(input, *mesh));
    TSR_TRY(tsr_fan_open(input, *mesh, &fan));
    status = read_faces(r, *mesh, &fan, &triangles);
    TSR_TRY(tsr_fan_close(input, *mesh, &fan, r->progress, status));
    if (r->face_colors && (*mesh)->colors) finish_colors(r, *mesh);
    (*mesh)->space = r->space;
    return TSR_OK;
}

static tsr_status off_read(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    const uint8_t *bytes;
    size_t size;
    *mesh = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    off_reader r = { .file = tsr_input_name(input), .progress = &options->progress, .text = tsr_text_make(bytes, size) };
    TSR_TRY(parse_header(&r));
    tsr_status status = read_body(input, options, &r, mesh);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

static char *put_vertex(const void *user, int64_t v, char *at)
{
    const tsr_mesh *mesh = (const tsr_mesh *)user;
    const uint8_t *c = mesh->colors ? mesh->colors + 4 * v : NULL;
    at = tsr_put_position(at, "", mesh->vertices + 3 * v, mesh->origin, mesh->normals || c ? " " : "\n");
    if (mesh->normals) at = tsr_put_floats(at, "", mesh->normals + 3 * v, c ? " " : "\n");
    for (int k = 0; c && k < 4; k++) at = tsr_put_text(tsr_put_integer(at, c[k]), k < 3 ? " " : "\n");
    return at;
}
static char *put_face(const void *user, int64_t t, char *at) { return tsr_put_triangle(at, "3", ((const tsr_mesh *)user)->triangles + 3 * t, 0, 0); }

static tsr_status write_all(tsr_output *out, const tsr_mesh *mesh, const tsr_progress *progress)
{
    const int64_t all = mesh->vertex_count + mesh->triangle_count;
    const tsr_item_writer vertices = { put_vertex, mesh, TSR_TEXT_PLACES + TSR_TEXT_FLOATS + 4 * 4, 0, all },
                          faces = { put_face, mesh, TSR_TEXT_TRIANGLE + 1, mesh->vertex_count, all };
    TSR_TRY(tsr_output_printf(out, "%s%s\n# tessera\n", mesh->colors ? "C" : "", mesh->normals ? "NOFF" : "OFF"));
    if (mesh->space != TSR_SPACE_NONE) TSR_TRY(tsr_output_printf(out, "# %s\n", tsr_space_comment(mesh->space)));
    TSR_TRY(tsr_output_printf(out, "%lld %lld 0\n", (long long)mesh->vertex_count, (long long)mesh->triangle_count));
    TSR_TRY(tsr_write_items(out, mesh, &vertices, 0, mesh->vertex_count, progress));
    return tsr_write_items(out, mesh, &faces, 0, mesh->triangle_count, progress);
}

static tsr_status off_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all(out, mesh, &options->progress));
}

static int off_recognise(const tsr_signature *s)
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_space space = TSR_SPACE_NONE;
    tsr_word word;
    int normals, colors, dimensions;
    size_t size;
    if (!tsr_text_data_line(&text, &line, &space) || !tsr_text_word(&line, &word)) return TSR_NOT_MINE;
    return parse_keyword(word, &normals, &colors, &dimensions, &size) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_off = { .name = "off",
                                    .kind = TSR_FILE_MESH,
                                    .extensions = { ".off", ".noff", ".coff" },
                                    .recognise = off_recognise,
                                    .mesh_extras = TSR_MESH_COLORS | TSR_MESH_ORIGIN,
                                    .read_mesh = off_read,
                                    .write_mesh = off_write };
