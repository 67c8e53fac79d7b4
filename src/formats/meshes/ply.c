/* formats/meshes/ply.c: the Polygon File Format (Turk 1994): ascii, binary_little_endian, binary_big_endian.
 *
 * Read: elements "vertex" (x y z, nx ny nz, red green blue alpha), "face" (vertex_indices or vertex_index, polygons cut into triangles; label) and "tristrips" (the
 * same, a negative index begins a new strip), properties of any type and order; other elements and properties are skipped. Written: float32 positions
 * (float64 about an origin) and normals, 8-bit colours, int32 indices (uint32 beyond 2^31 vertices), parts as a label of each face, their names as
 * comments "label 3 NAME". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/ply.h"
#include "formats/points/point_columns.h"

const char *const tsr_ply_type_names[PLY_TYPES][2] = { { "char", "int8" }, { "uchar", "uint8" }, { "short", "int16" },   { "ushort", "uint16" },
                                                       { "int", "int32" }, { "uint", "uint32" }, { "float", "float32" }, { "double", "float64" } };
const uint8_t tsr_ply_type_bytes[PLY_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 8 };

enum {
    ROLE_NONE = -1,
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_NX,
    ROLE_NY,
    ROLE_NZ,
    ROLE_RED,
    ROLE_GREEN,
    ROLE_BLUE,
    ROLE_ALPHA,
    VERTEX_ROLES,
    ROLE_CORNERS = VERTEX_ROLES,
    ROLE_LABEL
};
static const char *const vertex_roles[VERTEX_ROLES] = { "x", "y", "z", "nx", "ny", "nz", "red", "green", "blue", "alpha" };

enum { MOST_ELEMENTS = 64, MOST_PROPERTIES = 512 }; /* of a header; real files have a handful */

typedef struct ply_property {
    ply_type type, count_type;
    int8_t is_list, role;
    tsr_word name; /* in the file */
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
    tsr_part_names names; /* of labels, from comments */
    int64_t body;         /* offset of the first byte after the header */
    int64_t lines;
} ply_header;

/* ---- header ---- */

static int parse_type(tsr_word word, ply_type *type)
{
    for (int i = 0; i < PLY_TYPES; i++)
        if (tsr_word_is(word, tsr_ply_type_names[i][0]) || tsr_word_is(word, tsr_ply_type_names[i][1])) {
            *type = (ply_type)i;
            return 1;
        }
    return 0;
}

static int role_of(const ply_element *element, tsr_word name, int is_list)
{
    if (!strcmp(element->name, "vertex") && !is_list)
        for (int i = 0; i < VERTEX_ROLES; i++)
            if (tsr_word_is(name, vertex_roles[i])) return i;
    if (!strcmp(element->name, "face") && !is_list && tsr_word_is(name, "label")) return ROLE_LABEL;
    if ((!strcmp(element->name, "face") || !strcmp(element->name, "tristrips")) && is_list &&
        (tsr_word_is(name, "vertex_indices") || tsr_word_is(name, "vertex_index")))
        return ROLE_CORNERS;
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
    p.name = name;
    if (p.role == ROLE_CORNERS && p.type >= PLY_F32)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: vertex indices of type %s, expected an integer type", file, (long long)line->line,
                 tsr_ply_type_names[p.type][0]);
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

/* "label 3 left kidney" */
static tsr_status parse_label(tsr_text *line, ply_header *h)
{
    tsr_word word;
    int64_t value;
    if (!tsr_text_word(line, &word) || !tsr_word_is(word, "label") || tsr_text_integer(line, &value) != TSR_TEXT_OK) return TSR_OK;
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t')) line->at++;
    if (line->at < line->end) TSR_TRY(tsr_part_names_add(&h->names, value, (tsr_word){ line->at, (size_t)(line->end - line->at) }));
    return TSR_OK;
}

/* `h` is zero at first. */
static tsr_status parse_header(const char *file, const uint8_t *bytes, size_t size, ply_header *h)
{
    char shown[32];
    tsr_text text = tsr_text_make(bytes, size), line;
    tsr_word word;
    int known_format = 0;
    if (!tsr_text_line(&text, &line) || !tsr_text_word(&line, &word) || !tsr_word_is(word, "ply"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with 'ply'", file);
    for (;;) {
        if (!tsr_text_line(&text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header has no end_header", file);
        const char *all = line.at;
        if (!tsr_text_word(&line, &word)) continue;
        if (tsr_word_is(word, "end_header")) break;
        if (tsr_word_is(word, "comment") || tsr_word_is(word, "obj_info")) {
            h->space = tsr_space_from_comment(all, (size_t)(line.end - all), h->space);
            TSR_TRY(parse_label(&line, h));
        } else if (tsr_word_is(word, "format")) TSR_TRY(parse_format(file, &line, h, &known_format));
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
        if (!tsr_text_word(&c->text, &word)) return ends_within(c, element, number);
        if (tsr_word_double(word, value) != TSR_TEXT_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in %s %lld, expected a number", c->file, (long long)c->text.line,
                     tsr_word_show(word, shown), element->name, (long long)number);
        return TSR_OK;
    }
    if (c->text.end - c->text.at < tsr_ply_type_bytes[type]) return ends_within(c, element, number);
    *value = load(c->text.at, type, c->swap);
    c->text.at += tsr_ply_type_bytes[type];
    return TSR_OK;
}

static tsr_status next_count(ply_cursor *c, const ply_property *p, const ply_element *element, int64_t number, int64_t *count)
{
    double value = 0;
    TSR_TRY(next(c, p->count_type, element, number, &value));
    if (!(value >= 0 && value <= 4294967295.0 && value == floor(value)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a list of %g values in %s %lld, expected a whole number", c->file, value, element->name, (long long)number);
    *count = (int64_t)value;
    int64_t left = c->text.end - c->text.at, least = c->header->form == PLY_ASCII ? 2 : tsr_ply_type_bytes[p->type]; /* a digit and a space */
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
    if (count > (c->text.end - c->text.at) / tsr_ply_type_bytes[type]) return ends_within(c, element, number);
    c->text.at += count * tsr_ply_type_bytes[type];
    return TSR_OK;
}

/* Fails if the rest of the file cannot hold all of an element, so that its count may be trusted for an allocation. */
static tsr_status check_room(const ply_cursor *c, const ply_element *element)
{
    int64_t least = 0, left = c->text.end - c->text.at;
    for (int i = 0; i < element->properties; i++) {
        const ply_property *p = &c->header->property[element->first + i];
        least += c->header->form == PLY_ASCII ? 2 : tsr_ply_type_bytes[p->is_list ? p->count_type : p->type];
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

/* Of integers the range of their type is that of the colour, of real numbers 0 to 1. */
static uint8_t color_of(double value, ply_type type)
{
    const double scale = type >= PLY_F32 ? 255 : type == PLY_U8 || type == PLY_I8 ? 1 : type == PLY_U16 || type == PLY_I16 ? 255.0 / 65535 : 1;
    value = value * scale + 0.5;
    return value >= 255 ? 255 : value > 0 ? (uint8_t)value : 0;
}

static tsr_status read_vertices(ply_cursor *c, const ply_element *element, tsr_places *places, tsr_mesh *mesh)
{
    if (mesh->colors) memset(mesh->colors, 255, (size_t)mesh->vertex_count * 4);
    for (int64_t n = 0; n < element->count; n++) {
        TSR_READING(c->progress, n, 0.5 * (double)n / (double)element->count);
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1;
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            const int normal = p->role >= ROLE_NX && p->role <= ROLE_NZ, color = p->role >= ROLE_RED;
            if (p->role == ROLE_NONE || (normal && !mesh->normals) || (color && !mesh->colors)) {
                TSR_TRY(skip_values(c, p->type, count, element, n));
                continue;
            }
            double value = 0;
            TSR_TRY(next(c, p->type, element, n, &value));
            if (p->role < ROLE_NX) mesh->vertices[3 * n + p->role] = tsr_place(places, p->role, value);
            else if (color) mesh->colors[4 * n + p->role - ROLE_RED] = color_of(value, p->type);
            else mesh->normals[3 * n + p->role - ROLE_NX] = (float)value;
        }
    }
    return TSR_OK;
}

static tsr_status take_corner(ply_cursor *c, const ply_property *p, const ply_element *element, int64_t vertices, int64_t n, int64_t k, double least,
                              double *value)
{
    TSR_TRY(next(c, p->type, element, n, value));
    if (!(*value >= least && *value < (double)vertices && *value == floor(*value)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: corner %lld of %s %lld is vertex %.10g, expected 0 to %lld", c->file, (long long)k,
                 element->name[0] == 'f' ? "face" : "strip", (long long)n, *value, (long long)vertices - 1);
    return TSR_OK;
}

/* Every corner from the third of a strip on makes a triangle with the two before it, every other one turned. With `to` NULL only counts. */
static tsr_status read_strips(ply_cursor *c, const ply_element *element, int64_t vertices, uint32_t *to, int64_t *triangles)
{
    *triangles = 0;
    for (int64_t n = 0; n < element->count; n++)
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1, in_strip = 0;
            uint32_t last[2] = { 0, 0 };
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            if (p->role != ROLE_CORNERS) {
                TSR_TRY(skip_values(c, p->type, count, element, n));
                continue;
            }
            for (int64_t k = 0; k < count; k++) {
                double value = 0;
                TSR_READING(c->progress, k, -1);
                TSR_TRY(take_corner(c, p, element, vertices, n, k, -1, &value));
                if (value < 0) {
                    in_strip = 0;
                    continue;
                }
                const uint32_t corner = (uint32_t)value;
                if (in_strip >= 2) {
                    const int turned = in_strip & 1;
                    if (to) {
                        uint32_t *t = to + 3 * *triangles;
                        t[0] = last[turned];
                        t[1] = last[!turned];
                        t[2] = corner;
                    }
                    ++*triangles;
                }
                last[0] = last[1];
                last[1] = corner;
                in_strip++;
            }
        }
    return TSR_OK;
}

/* With `fan` NULL only counts triangles. `parts`, if not NULL, takes those of faces with the same label. */
static tsr_status read_faces(ply_cursor *c, const ply_element *element, int64_t vertices, tsr_fan *fan, tsr_part_list *parts, int64_t *triangles)
{
    *triangles = 0;
    for (int64_t n = 0; n < element->count; n++) {
        double label = 0;
        int64_t made = 0;
        TSR_READING(c->progress, n, fan ? 0.5 + 0.5 * (double)n / (double)element->count : -1);
        for (int i = 0; i < element->properties; i++) {
            const ply_property *p = &c->header->property[element->first + i];
            int64_t count = 1;
            if (p->is_list) TSR_TRY(next_count(c, p, element, n, &count));
            if (p->role == ROLE_CORNERS) {
                made = tsr_fan_triangles(count);
                *triangles += made;
            }
            if (p->role == ROLE_LABEL && parts) {
                TSR_TRY(next(c, p->type, element, n, &label));
                continue;
            }
            if (p->role != ROLE_CORNERS || !fan) {
                TSR_TRY(skip_values(c, p->type, count, element, n));
                continue;
            }
            tsr_fan_begin(fan);
            for (int64_t k = 0; k < count; k++) {
                double value = 0;
                TSR_TRY(take_corner(c, p, element, vertices, n, k, 0, &value));
                tsr_fan_corner(fan, (uint32_t)value);
            }
        }
        if (parts) TSR_TRY(tsr_part_list_add(parts, label >= -0x1p53 && label <= 0x1p53 ? (int64_t)label : 0, (tsr_word){ NULL, 0 }, made));
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

/* Where the elements begin that are read again, and how many triangles they make. */
typedef struct ply_body {
    const ply_element *vertex, *face, *strips;
    ply_cursor at_vertex, at_face, at_strips;
    int64_t triangles, strip_triangles;
} ply_body;

static tsr_status scan_body(ply_cursor *c, ply_body *b)
{
    const ply_header *h = c->header;
    for (int i = 0; i < h->elements; i++) {
        const ply_element *e = &h->element[i];
        TSR_TRY(check_room(c, e));
        if (e == b->vertex) b->at_vertex = *c;
        if (e == b->face) b->at_face = *c;
        if (e == b->strips) b->at_strips = *c;
        if (e == b->face) TSR_TRY(read_faces(c, e, b->vertex->count, NULL, NULL, &b->triangles));
        else if (e == b->strips) TSR_TRY(read_strips(c, e, b->vertex->count, NULL, &b->strip_triangles));
        else TSR_TRY(skip_element(c, e));
    }
    return TSR_OK;
}

static tsr_status read_triangles(tsr_input *input, ply_body *b, int labels, tsr_part_list *parts, tsr_mesh *mesh)
{
    int64_t made;
    if (b->face) {
        tsr_fan fan;
        TSR_TRY(tsr_fan_open(input, mesh, &fan));
        const tsr_status status = read_faces(&b->at_face, b->face, b->vertex->count, &fan, labels ? parts : NULL, &made);
        TSR_TRY(tsr_fan_close(input, mesh, &fan, b->at_face.progress, status));
    }
    if (b->strip_triangles) TSR_TRY(read_strips(&b->at_strips, b->strips, b->vertex->count, mesh->triangles + 3 * b->triangles, &made));
    if (labels && b->strips) TSR_TRY(tsr_part_list_add(parts, 0, (tsr_word){ NULL, 0 }, b->strip_triangles));
    return TSR_OK;
}

/* What vertices and faces have besides, and other elements: a mesh has no place for it (a cloud of points has, for some). */
static void remark_properties(const ply_header *h, const ply_element *element, const char *of, const char *file)
{
    char list[256] = "", shown[32];
    size_t used = 0;
    for (int i = 0; i < element->properties && used + 40 < sizeof list; i++) {
        const ply_property *p = &h->property[element->first + i];
        if (p->role == ROLE_NONE) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", tsr_word_show(p->name, shown));
    }
    if (used) tsr_remark("%s: properties of %s that a mesh has no place for are left out: %s", file, of, list);
}
static void remark_skipped(const ply_header *h, const ply_element *vertex, const ply_element *face, const char *file)
{
    remark_properties(h, vertex, "vertices", file);
    if (face && face->count) remark_properties(h, face, "faces", file);
    for (int i = 0; i < h->elements; i++) {
        const ply_element *e = &h->element[i];
        if (e->count && strcmp(e->name, "vertex") != 0 && strcmp(e->name, "face") != 0 && strcmp(e->name, "tristrips") != 0)
            tsr_remark("%s: the %lld of '%s', which a mesh has no place for, are left out", file, (long long)e->count, e->name);
    }
}

/* First pass: finds where each element begins and how many triangles they make. Second pass: stores. */
static tsr_status read_body(tsr_input *input, const tsr_read_options *options, ply_cursor *c, tsr_mesh **mesh)
{
    const ply_header *h = c->header;
    ply_body b = { .vertex = find_element(h, "vertex"), .face = find_element(h, "face"), .strips = find_element(h, "tristrips") };
    tsr_part_list parts = { 0 };
    tsr_status status;
    const int has = roles_present(h, b.vertex), labels = roles_present(h, b.face) >> ROLE_LABEL & 1;
    if (!b.vertex || (has & 7) != 7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no element vertex with the properties x, y and z", c->file);
    TSR_TRY(scan_body(c, &b));
    TSR_TRY(tsr_mesh_for_input(input, b.vertex->count, b.triangles + b.strip_triangles, (has >> ROLE_NX & 7) == 7, mesh));
    if ((has >> ROLE_RED & 7) == 7) TSR_TRY(tsr_mesh_add_colors(*mesh));
    tsr_places places = tsr_places_begin();
    do {
        ply_cursor again = b.at_vertex;
        TSR_TRY(read_vertices(&again, b.vertex, &places, *mesh));
    } while (tsr_places_again(&places, options));
    memcpy((*mesh)->origin, places.origin, sizeof places.origin);
    TSR_TRY_GOTO(tsr_mesh_check_positions(input, *mesh), done);
    TSR_TRY_GOTO(read_triangles(input, &b, labels, &parts, *mesh), done);
    if (labels) TSR_TRY_GOTO(tsr_part_list_set(&parts, &h->names, 1, *mesh), done);
    (*mesh)->space = h->space;
    remark_skipped(h, b.vertex, b.face, c->file);
done:
    tsr_part_list_free(&parts);
    return status;
}

/* The header, and a cursor at what comes after it. header->names are to be freed in any case. */
static tsr_status open_body(tsr_input *input, const tsr_progress *progress, ply_header *header, ply_cursor *cursor)
{
    const uint8_t *bytes;
    size_t size;
    memset(header, 0, sizeof *header);
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(parse_header(tsr_input_name(input), bytes, size, header));
    *cursor = (ply_cursor){ tsr_input_name(input),
                            header,
                            progress,
                            (header->form == PLY_BIG) != tsr_host_big_endian(),
                            { (const char *)bytes + header->body, (const char *)bytes + size, header->lines } };
    return TSR_OK;
}

static tsr_status ply_read(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    ply_header *header = NULL;
    ply_cursor cursor;
    *mesh = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *header, (void **)&header));
    tsr_status status = open_body(input, &options->progress, header, &cursor);
    if (status == TSR_OK) status = read_body(input, options, &cursor, mesh);
    tsr_part_names_free(&header->names);
    tsr_host_release(NULL, header, sizeof *header);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

/* ---- vertices as points: further properties become attributes ---- */

static tsr_status read_rows(ply_cursor *c, const ply_element *e, const tsr_point_table *table, tsr_places *places, tsr_points *points)
{
    for (int64_t n = 0; n < e->count; n++) {
        TSR_READING(c->progress, n, (double)n / (double)e->count);
        for (int i = 0; i < e->properties; i++) {
            const ply_property *p = &c->header->property[e->first + i];
            double value = 0;
            int64_t count = 1;
            if (p->is_list) {
                TSR_TRY(next_count(c, p, e, n, &count));
                TSR_TRY(skip_values(c, p->type, count, e, n));
                continue;
            }
            TSR_TRY(next(c, p->type, e, n, &value));
            if (p->role >= ROLE_X && p->role <= ROLE_Z) points->positions[3 * n + p->role] = tsr_place(places, p->role, value);
            else if (p->role >= ROLE_NX && p->role <= ROLE_NZ && points->normals) points->normals[3 * n + p->role - ROLE_NX] = (float)value;
            else if (p->role == ROLE_NONE) tsr_point_table_put(table, points, places, i, n, value);
        }
    }
    return TSR_OK;
}

static tsr_status read_vertex_rows(tsr_input *input, const tsr_read_options *options, ply_cursor *c, tsr_point_table *table, tsr_points **points)
{
    const ply_header *h = c->header;
    const ply_element *vertex = find_element(h, "vertex");
    tsr_word names[MOST_PROPERTIES];
    const int has = roles_present(h, vertex);
    if (!vertex || (has & 7) != 7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no element vertex with the properties x, y and z", c->file);
    ply_body b = { .vertex = vertex, .face = find_element(h, "face"), .strips = find_element(h, "tristrips") };
    TSR_TRY(scan_body(c, &b)); /* what is behind is checked, too */
    for (int i = 0; i < vertex->properties; i++) {
        const ply_property *p = &h->property[vertex->first + i];
        names[i] = p->is_list || p->role != ROLE_NONE ? (tsr_word){ "", 0 } : p->name;
    }
    (void)tsr_point_table_plan(table, names, vertex->properties);
    TSR_TRY(tsr_points_for_input(input, vertex->count, (has >> ROLE_NX & 7) == 7 ? TSR_POINTS_NORMALS : 0, points));
    TSR_TRY(tsr_point_table_take(table, *points));
    tsr_places places = tsr_places_begin();
    do {
        ply_cursor again = b.at_vertex;
        TSR_TRY(read_rows(&again, vertex, table, &places, *points));
    } while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    (*points)->space = h->space;
    TSR_TRY(tsr_points_check_positions(input, *points));
    return TSR_OK;
}

static tsr_status ply_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    struct {
        ply_header header;
        tsr_point_table table;
    } *own = NULL;
    ply_cursor cursor;
    *points = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *own, (void **)&own));
    tsr_status status = open_body(input, &options->progress, &own->header, &cursor);
    if (status == TSR_OK) status = read_vertex_rows(input, options, &cursor, &own->table, points);
    tsr_part_names_free(&own->header.names);
    tsr_host_release(NULL, own, sizeof *own);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

/* ---- texture coordinates of corners ---- */

/* One face's list of `texcoord`, u and v of each corner, as the fan has them; without one, or of another length, zeros. */
static tsr_status read_wedges(ply_cursor *c, const ply_element *e, int64_t n, int64_t *corners, double *list, int64_t room, int64_t *values)
{
    *corners = *values = 0;
    for (int i = 0; i < e->properties; i++) {
        const ply_property *p = &c->header->property[e->first + i];
        const int wanted = p->is_list && tsr_word_is(p->name, "texcoord");
        int64_t count = 1;
        if (p->is_list) TSR_TRY(next_count(c, p, e, n, &count));
        if (p->role == ROLE_CORNERS) *corners = count;
        if (!wanted || count > room) {
            TSR_TRY(skip_values(c, p->type, count, e, n));
            continue;
        }
        for (int64_t k = 0; k < count; k++) TSR_TRY(next(c, p->type, e, n, &list[k]));
        *values = count;
    }
    return TSR_OK;
}

enum { WEDGES_MOST = 512 }; /* numbers a face */

static tsr_status walk_wedges(ply_cursor *c, int64_t triangles, float *place, int *found)
{
    const ply_header *h = c->header;
    const ply_element *face = find_element(h, "face");
    double list[WEDGES_MOST];
    int64_t made = 0, corners, values;
    for (int i = 0; face && i < face->properties; i++)
        *found |= h->property[face->first + i].is_list && tsr_word_is(h->property[face->first + i].name, "texcoord");
    if (!*found) return TSR_OK;
    for (int i = 0; i < h->elements && &h->element[i] != face; i++) TSR_TRY(skip_element(c, &h->element[i]));
    for (int64_t n = 0; n < face->count; n++) {
        TSR_TRY(read_wedges(c, face, n, &corners, list, WEDGES_MOST, &values));
        const int64_t fans = tsr_fan_triangles(corners);
        if (fans > triangles - made) break;
        if (fans && values != 2 * corners)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: face %lld has %lld corners and %lld numbers in its list 'texcoord', expected two a corner, at most %d",
                     c->file, (long long)n, (long long)corners, (long long)values, WEDGES_MOST);
        for (int64_t t = 0; t < fans; t++, made++)
            for (int64_t k = 0; k < 3; k++)
                for (int64_t a = 0; a < 2; a++) place[6 * made + 2 * k + a] = (float)list[2 * (k ? t + k : 0) + a];
    }
    if (made != triangles)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: texture coordinates for %lld of %lld triangles", c->file, (long long)made, (long long)triangles);
    return TSR_OK;
}

tsr_status tsr_ply_read_wedges(tsr_input *input, int64_t triangles, float *place, int *found)
{
    ply_header *header = NULL;
    ply_cursor cursor;
    *found = 0;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *header, (void **)&header));
    tsr_status status = open_body(input, NULL, header, &cursor);
    if (status == TSR_OK) status = walk_wedges(&cursor, triangles, place, found);
    tsr_part_names_free(&header->names);
    tsr_host_release(NULL, header, sizeof *header);
    return status;
}

static int ply_recognise(const tsr_signature *s)
{
    return s->head_bytes >= 4 && !memcmp(s->head, "ply", 3) && (s->head[3] == '\n' || s->head[3] == '\r' || s->head[3] == ' ') ? TSR_SURELY_MINE
                                                                                                                               : TSR_NOT_MINE;
}

const tsr_format tsr_format_ply = { .name = "ply",
                                    .kind = TSR_FILE_MESH,
                                    .extensions = { ".ply" },
                                    .recognise = ply_recognise,
                                    .mesh_extras = TSR_MESH_COLORS | TSR_MESH_PARTS | TSR_MESH_ORIGIN,
                                    .read_mesh = ply_read,
                                    .read_points = ply_read_points,
                                    .write_points = tsr_ply_write_points,
                                    .write_mesh = tsr_ply_write };
