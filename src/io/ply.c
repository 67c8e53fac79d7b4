/* io/ply.c: the Polygon File Format (Turk 1994): ascii, binary_little_endian, binary_big_endian.
 *
 * Read: elements "vertex" (x y z, nx ny nz) and "face" (vertex_indices or vertex_index, polygons cut into triangles), properties of any type and order;
 * other elements and properties are skipped. Written: float32 positions and normals, int32 indices (uint32 beyond 2^31 vertices). */
#include <math.h>
#include <string.h>

#include "io/meshes.h"

typedef enum ply_type { PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64, PLY_TYPES } ply_type;
static const char *const type_names[PLY_TYPES][2] = { { "char", "int8" },   { "uchar", "uint8" }, { "short", "int16" },   { "ushort", "uint16" },
                                                      { "int", "int32" },   { "uint", "uint32" }, { "float", "float32" }, { "double", "float64" } };
static const uint8_t type_bytes[PLY_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 8 };

enum { ROLE_NONE = -1, ROLE_X, ROLE_Y, ROLE_Z, ROLE_NX, ROLE_NY, ROLE_NZ, ROLE_CORNERS };
static const char *const vertex_roles[6] = { "x", "y", "z", "nx", "ny", "nz" };

enum { MOST_ELEMENTS = 64, MOST_PROPERTIES = 512 }; /* of a header; real files have a handful */

typedef struct ply_property {
    ply_type type, count_type;
    int8_t is_list, role;
} ply_property;

typedef struct ply_element {
    char name[32];
    int64_t count;
    int first, properties; /* among all properties of the header */
} ply_element;

typedef struct ply_header {
    enum { PLY_ASCII, PLY_LITTLE, PLY_BIG } form;
    int elements, properties;
    ply_element element[MOST_ELEMENTS];
    ply_property property[MOST_PROPERTIES];
    tsr_space space;
    int64_t body; /* offset of the first byte after the header */
    int64_t lines;
} ply_header;

/* ---- header ---- */

static int parse_type(tsr_word word, ply_type *type)
{
    for (int i = 0; i < PLY_TYPES; i++)
        if (tsr_word_is(word, type_names[i][0]) || tsr_word_is(word, type_names[i][1])) {
            *type = (ply_type)i;
            return 1;
        }
    return 0;
}

static int role_of(const ply_element *element, tsr_word name, int is_list)
{
    if (!strcmp(element->name, "vertex") && !is_list)
        for (int i = 0; i < 6; i++)
            if (tsr_word_is(name, vertex_roles[i])) return i;
    if (!strcmp(element->name, "face") && is_list && (tsr_word_is(name, "vertex_indices") || tsr_word_is(name, "vertex_index"))) return ROLE_CORNERS;
    return ROLE_NONE;
}

static tsr_status parse_property(const char *file, tsr_text *line, ply_header *h)
{
    char shown[32];
    tsr_word word = { NULL, 0 }, name = { NULL, 0 };
    ply_property p = { .role = ROLE_NONE };
    if (!h->elements) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a property before the first element", file, (long long)line->line);
    if (h->properties == MOST_PROPERTIES) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d properties", file, MOST_PROPERTIES);
    ply_element *element = &h->element[h->elements - 1];
    tsr_text_word(line, &word);
    p.is_list = (int8_t)tsr_word_is(word, "list");
    if (p.is_list) {
        tsr_text_word(line, &word);
        if (!parse_type(word, &p.count_type) || p.count_type >= PLY_F32)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: list count of type '%s', expected an integer type", file, (long long)line->line,
                     tsr_word_show(word, shown));
        tsr_text_word(line, &word);
    }
    if (!parse_type(word, &p.type))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: property type '%s', expected char, uchar, short, ushort, int, uint, float or double", file,
                 (long long)line->line, tsr_word_show(word, shown));
    if (!tsr_text_word(line, &name)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a property without a name", file, (long long)line->line);
    p.role = (int8_t)role_of(element, name, p.is_list);
    if (p.role == ROLE_CORNERS && p.type >= PLY_F32)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: vertex indices of type %s, expected an integer type", file, (long long)line->line,
                 type_names[p.type][0]);
    for (int i = 0; p.role != ROLE_NONE && i < element->properties; i++)
        if (h->property[element->first + i].role == p.role)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: property %s given twice", file, (long long)line->line, tsr_word_show(name, shown));
    h->property[h->properties++] = p;
    element->properties++;
    return TSR_OK;
}

static tsr_status parse_element(const char *file, tsr_text *line, ply_header *h)
{
    char shown[32];
    tsr_word name = { NULL, 0 }, count = { NULL, 0 };
    if (h->elements == MOST_ELEMENTS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d elements", file, MOST_ELEMENTS);
    ply_element *element = &h->element[h->elements];
    *element = (ply_element){ .first = h->properties };
    tsr_text_word(line, &name);
    tsr_text_word(line, &count);
    if (tsr_word_integer(count, &element->count) != TSR_TEXT_OK || element->count < 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: element count '%s', expected a whole number", file, (long long)line->line,
                 tsr_word_show(count, shown));
    tsr_word_show(name, element->name);
    for (int i = 0; i < h->elements; i++)
        if (!strcmp(h->element[i].name, element->name))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: element %s given twice", file, (long long)line->line, element->name);
    h->elements++;
    return TSR_OK;
}

static tsr_status parse_format(const char *file, tsr_text *line, ply_header *h, int *known)
{
    static const char *const forms[3] = { "ascii", "binary_little_endian", "binary_big_endian" };
    char shown[32];
    tsr_word word = { NULL, 0 };
    tsr_text_word(line, &word);
    for (int i = 0; i < 3; i++)
        if (tsr_word_is(word, forms[i])) {
            h->form = i;
            *known = 1;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: format '%s', expected ascii, binary_little_endian or binary_big_endian", file, tsr_word_show(word, shown));
}

static tsr_status parse_header(const char *file, const uint8_t *bytes, size_t size, ply_header *h)
{
    char shown[32];
    tsr_text text = tsr_text_make(bytes, size), line;
    tsr_word word;
    int known_format = 0;
    memset(h, 0, sizeof *h);
    if (!tsr_text_line(&text, &line) || !tsr_text_word(&line, &word) || !tsr_word_is(word, "ply"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with 'ply'", file);
    for (;;) {
        if (!tsr_text_line(&text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header has no end_header", file);
        const char *all = line.at;
        if (!tsr_text_word(&line, &word)) continue;
        if (tsr_word_is(word, "end_header")) break;
        if (tsr_word_is(word, "comment") || tsr_word_is(word, "obj_info"))
            h->space = tsr_space_from_comment(all, (size_t)(line.end - all), h->space);
        else if (tsr_word_is(word, "format")) TSR_TRY(parse_format(file, &line, h, &known_format));
        else if (tsr_word_is(word, "element")) TSR_TRY(parse_element(file, &line, h));
        else if (tsr_word_is(word, "property")) TSR_TRY(parse_property(file, &line, h));
        else TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in the header", file, (long long)line.line, tsr_word_show(word, shown));
    }
    if (!known_format) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header names no format", file);
    h->body = text.at - (const char *)bytes;
    h->lines = text.line;
    return TSR_OK;
}

/* ---- values ---- */

typedef struct ply_cursor {
    const char *file;
    const ply_header *header;
    const tsr_progress *progress;
    int swap;
    tsr_text text; /* ascii: words; binary: bytes */
} ply_cursor;

static double load(const char *at, ply_type type, int swap)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    int16_t short_value;
    float float_value;
    double double_value;
    switch (type) {
    case PLY_I8: return (double)(int8_t)*at;
    case PLY_U8: return (double)(uint8_t)*at;
    case PLY_I16:
    case PLY_U16:
        memcpy(&two, at, 2);
        if (swap) two = __builtin_bswap16(two);
        memcpy(&short_value, &two, 2);
        return type == PLY_U16 ? (double)two : (double)short_value;
    case PLY_F64:
        memcpy(&eight, at, 8);
        if (swap) eight = __builtin_bswap64(eight);
        memcpy(&double_value, &eight, 8);
        return double_value;
    default:
        memcpy(&four, at, 4);
        if (swap) four = __builtin_bswap32(four);
        memcpy(&float_value, &four, 4);
        return type == PLY_F32 ? (double)float_value : type == PLY_U32 ? (double)four : (double)(int32_t)four;
    }
}

static tsr_status ends_within(const ply_cursor *c, const ply_element *element, int64_t number)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends within %s %lld of %lld", c->file, element->name, (long long)number, (long long)element->count);
}

/* The next value, `number` its element for messages. */
static tsr_status next(ply_cursor *c, ply_type type, const ply_element *element, int64_t number, double *value)
{
    if (c->header->form == PLY_ASCII) {
        char shown[32];
        tsr_word word;
        if (!tsr_text_word(&c->text, &word))
            return ends_within(c, element, number);
        if (tsr_word_double(word, value) != TSR_TEXT_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in %s %lld, expected a number", c->file, (long long)c->text.line,
                     tsr_word_show(word, shown), element->name, (long long)number);
        return TSR_OK;
    }
    if (c->text.end - c->text.at < type_bytes[type]) return ends_within(c, element, number);
    *value = load(c->text.at, type, c->swap);
    c->text.at += type_bytes[type];
    return TSR_OK;
}

static tsr_status next_count(ply_cursor *c, const ply_property *p, const ply_element *element, int64_t number, int64_t *count)
{
    double value = 0;
    TSR_TRY(next(c, p->count_type, element, number, &value));
    if (!(value >= 0 && value <= 4294967295.0 && value == floor(value)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a list of %g values in %s %lld, expected a whole number", c->file, value, element->name, (long long)number);
    *count = (int64_t)value;
    int64_t left = c->text.end - c->text.at, least = c->header->form == PLY_ASCII ? 2 : type_bytes[p->type]; /* a digit and a space */
    if (*count > left / least + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a list of %lld values in %s %lld, but the file ends after %lld bytes", c->file, (long long)*count,
                 element->name, (long long)number, (long long)left);
    return TSR_OK;
}

static tsr_status skip_values(ply_cursor *c, ply_type type, int64_t count, const ply_element *element, int64_t number)
{
    double unused;
    if (c->header->form == PLY_ASCII) {
        for (int64_t i = 0; i < count; i++) TSR_TRY(next(c, type, element, number, &unused));
        return TSR_OK;
    }
    if (count > (c->text.end - c->text.at) / type_bytes[type])
        return ends_within(c, element, number);
    c->text.at += count * type_bytes[type];
    return TSR_OK;
}

/* Fails if the rest of the file cannot hold all of an element, so that its count may be trusted for an allocation. */
static tsr_status check_room(const ply_cursor *c, const ply_element *element)
{
    int64_t least = 0, left = c->text.end - c->text.at;
    for (int i = 0; i < element->properties; i++) {
        const ply_property *p = &c->header->property[element->first + i];
        least += c->header->form == PLY_ASCII ? 2 : type_bytes[p->is_list ? p->count_type : p->type];
    }
    if (c->header->form == PLY_ASCII) left++; /* the last number needs no space after it */
    if (least ? element->count > left / least : element->count > 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: element %s has %lld entries of at least %lld bytes, but only %lld bytes are left in the file", c->file,
                 element->name, (long long)element->count, (long long)least, (long long)left);
    return TSR_OK;
}

/* ---- elements ---- */

static tsr_status skip_element(ply_cursor *c, const ply_element *element)
{
    for (int64_t n = 0; n < element->count; n++)
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1;
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            TSR_TRY(skip_values(c, p->type, count, element, n));
        }
    return TSR_OK;
}

static tsr_status read_vertices(ply_cursor *c, const ply_element *element, tsr_mesh *mesh)
{
    for (int64_t n = 0; n < element->count; n++) {
        TSR_READING(c->progress, n, 0.5 * (double)n / (double)element->count);
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1;
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            if (p->role == ROLE_NONE || (p->role >= ROLE_NX && !mesh->normals)) {
                TSR_TRY(skip_values(c, p->type, count, element, n));
                continue;
            }
            double value = 0;
            TSR_TRY(next(c, p->type, element, n, &value));
            if (p->role < ROLE_NX) mesh->vertices[3 * n + p->role] = (float)value;
            else mesh->normals[3 * n + p->role - ROLE_NX] = (float)value;
        }
    }
    return TSR_OK;
}

/* With `fan` NULL only counts triangles. */
static tsr_status read_faces(ply_cursor *c, const ply_element *element, int64_t vertices, tsr_fan *fan, int64_t *triangles)
{
    *triangles = 0;
    for (int64_t n = 0; n < element->count; n++) {
        TSR_READING(c->progress, n, fan ? 0.5 + 0.5 * (double)n / (double)element->count : -1);
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1;
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            if (p->role == ROLE_CORNERS) *triangles += tsr_fan_triangles(count);
            if (p->role != ROLE_CORNERS || !fan) {
                TSR_TRY(skip_values(c, p->type, count, element, n));
                continue;
            }
            tsr_fan_begin(fan);
            for (int64_t k = 0; k < count; k++) {
                double value = 0;
                TSR_TRY(next(c, p->type, element, n, &value));
                if (!(value >= 0 && value < (double)vertices && value == floor(value)))
                    TSR_FAIL(TSR_ERROR_FORMAT, "%s: corner %lld of face %lld is vertex %.10g, expected 0 to %lld", c->file, (long long)k,
                             (long long)n, value, (long long)vertices - 1);
                tsr_fan_corner(fan, (uint32_t)value);
            }
        }
    }
    return TSR_OK;
}

static int roles_present(const ply_header *h, const ply_element *element)
{
    int mask = 0;
    for (int i = 0; element && i < element->properties; i++)
        if (h->property[element->first + i].role != ROLE_NONE) mask |= 1 << h->property[element->first + i].role;
    return mask;
}

static const ply_element *find_element(const ply_header *h, const char *name)
{
    for (int i = 0; i < h->elements; i++)
        if (!strcmp(h->element[i].name, name)) return &h->element[i];
    return NULL;
}

/* First pass: finds where each element begins and how many triangles the polygons make. Second pass: stores. */
static tsr_status read_body(tsr_input *input, ply_cursor *c, tsr_mesh **mesh)
{
    const ply_header *h = c->header;
    const ply_element *vertex = find_element(h, "vertex"), *face = find_element(h, "face");
    int has = roles_present(h, vertex);
    if (!vertex || (has & 7) != 7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no element vertex with the properties x, y and z", c->file);
    ply_cursor at_vertex = *c, at_face = *c;
    int64_t triangles = 0;
    for (int i = 0; i < h->elements; i++) {
        const ply_element *e = &h->element[i];
        TSR_TRY(check_room(c, e));
        if (e == vertex) at_vertex = *c;
        if (e == face) at_face = *c;
        if (e != face) TSR_TRY(skip_element(c, e));
        else TSR_TRY(read_faces(c, e, vertex->count, NULL, &triangles));
    }
    TSR_TRY(tsr_mesh_for_input(input, vertex->count, triangles, (has >> ROLE_NX & 7) == 7, mesh));
    TSR_TRY(read_vertices(&at_vertex, vertex, *mesh));
    TSR_TRY(tsr_mesh_check_positions(input, *mesh));
    if (face) {
        tsr_fan fan;
        TSR_TRY(tsr_fan_open(input, *mesh, &fan));
        const tsr_status status = read_faces(&at_face, face, vertex->count, &fan, &triangles);
        TSR_TRY(tsr_fan_close(input, *mesh, &fan, c->progress, status));
    }
    (*mesh)->space = h->space;
    return TSR_OK;
}

static tsr_status ply_read(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    const uint8_t *bytes;
    size_t size;
    ply_header *header = NULL;
    *mesh = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *header, (void **)&header));
    tsr_status status = parse_header(tsr_input_name(input), bytes, size, header);
    if (status == TSR_OK) {
        ply_cursor cursor = { tsr_input_name(input), header, &options->progress, (header->form == PLY_BIG) != tsr_host_big_endian(),
                              { (const char *)bytes + header->body, (const char *)bytes + size, header->lines } };
        status = read_body(input, &cursor, mesh);
    }
    tsr_host_release(NULL, header, sizeof *header);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

/* ---- writing ---- */

static tsr_status write_header(tsr_output *out, const tsr_mesh *mesh, const tsr_write_options *options)
{
    tsr_output_printf(out, "ply\nformat %s 1.0\ncomment tessera\n",
                      options->ascii ? "ascii" : options->big_endian ? "binary_big_endian" : "binary_little_endian");
    if (mesh->space != TSR_SPACE_NONE) tsr_output_printf(out, "comment %s\n", tsr_space_comment(mesh->space));
    tsr_output_printf(out, "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\n", (long long)mesh->vertex_count);
    if (mesh->normals) tsr_output_printf(out, "property float nx\nproperty float ny\nproperty float nz\n");
    return tsr_output_printf(out, "element face %lld\nproperty list uchar %s vertex_indices\nend_header\n", (long long)mesh->triangle_count,
                             mesh->vertex_count > INT32_MAX ? "uint" : "int");
}

static tsr_status write_ascii(tsr_output *out, const tsr_mesh *mesh, const tsr_progress *progress)
{
    const int64_t items = mesh->vertex_count + mesh->triangle_count;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        TSR_WRITING(progress, v, items);
        TSR_TRY(tsr_write_floats(out, "", mesh->vertices + 3 * v, mesh->normals ? " " : "\n"));
        if (mesh->normals) TSR_TRY(tsr_write_floats(out, "", mesh->normals + 3 * v, "\n"));
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        TSR_WRITING(progress, mesh->vertex_count + t, items);
        TSR_TRY(tsr_write_triangle(out, "3", mesh->triangles + 3 * t, 0, 0));
    }
    return TSR_OK;
}

static void store4(uint8_t *to, const void *value, int swap)
{
    const uint8_t *v = (const uint8_t *)value;
    for (int i = 0; i < 4; i++) to[i] = v[swap ? 3 - i : i];
}

static tsr_status write_binary(tsr_output *out, const tsr_mesh *mesh, int swap, const tsr_progress *progress)
{
    enum { BATCH = 1024 };
    uint8_t batch[BATCH * 24];
    size_t used = 0;
    const int64_t items = mesh->vertex_count + mesh->triangle_count;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        TSR_WRITING(progress, v, items);
        for (int k = 0; k < 3; k++, used += 4) store4(batch + used, mesh->vertices + 3 * v + k, swap);
        for (int k = 0; mesh->normals && k < 3; k++, used += 4) store4(batch + used, mesh->normals + 3 * v + k, swap);
        if (used + 24 <= sizeof batch) continue;
        TSR_TRY(tsr_output_write(out, batch, used));
        used = 0;
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        TSR_WRITING(progress, mesh->vertex_count + t, items);
        if (used + 13 > sizeof batch) {
            TSR_TRY(tsr_output_write(out, batch, used));
            used = 0;
        }
        batch[used++] = 3;
        for (int k = 0; k < 3; k++, used += 4) store4(batch + used, mesh->triangles + 3 * t + k, swap);
    }
    return tsr_output_write(out, batch, used);
}

static tsr_status ply_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_status status;
    TSR_TRY(tsr_output_open(path, options, &out));
    TSR_TRY_GOTO(write_header(out, mesh, options), done);
    TSR_TRY_GOTO(options->ascii ? write_ascii(out, mesh, &options->progress)
                                : write_binary(out, mesh, options->big_endian != tsr_host_big_endian(), &options->progress),
                 done);
done:
    return tsr_output_finish(&out, status);
}

static int ply_recognise(const tsr_signature *s)
{
    return s->head_bytes >= 4 && !memcmp(s->head, "ply", 3) && (s->head[3] == '\n' || s->head[3] == '\r' || s->head[3] == ' ') ? TSR_SURELY_MINE
                                                                                                                               : TSR_NOT_MINE;
}

const tsr_format tsr_format_ply = { .name = "ply", .kind = TSR_FILE_MESH, .extensions = { ".ply" }, .recognise = ply_recognise,
                                    .read_mesh = ply_read, .write_mesh = ply_write };
