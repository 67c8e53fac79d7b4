/* formats/vtk.c: VTK's legacy files of unstructured grids, ASCII and BINARY (big-endian). Cells stand as "n i j k ..." each (up to version 4.2) or as OFFSETS and
 * CONNECTIVITY (5.0 and 5.1). Values: one array of the point data; all other arrays are walked over, which needs their sizes and types. Every count is
 * checked against the bytes that are left before memory is taken. */
#include <stdio.h>
#include <string.h>

#include "mesh/unstructured.h"
#include "formats/point_columns.h"

enum { NAMES_BYTES = 256 };

typedef struct vtk_reader {
    tsr_input *input;
    const char *file;
    const tsr_progress *progress;
    const char *wanted; /* array of values, NULL: the first */
    tsr_text text;
    int binary, cells_apart; /* version 5 */
    int64_t points, cells;
    double *point, *value;
    int64_t *start;
    uint32_t *corner;
    uint8_t *type;
    int64_t corners, types;
    tsr_space space;
    char names[NAMES_BYTES]; /* of the arrays that could be values */
    const tsr_read_options *as_points; /* NULL, or: points with their data are wanted, of PolyData too */
    tsr_points *cloud;
} vtk_reader;

/* ---- words and numbers ------------------------------------------------------------------------------------------------------------------- */

typedef enum number_kind {
    NUMBER_BIT,
    NUMBER_U8,
    NUMBER_I8,
    NUMBER_U16,
    NUMBER_I16,
    NUMBER_U32,
    NUMBER_I32,
    NUMBER_U64,
    NUMBER_I64,
    NUMBER_F32,
    NUMBER_F64
} number_kind;
static const struct {
    const char *name;
    number_kind kind;
    int bytes;
} number_types[] = {
    { "bit", NUMBER_BIT, 0 },   { "unsigned_char", NUMBER_U8, 1 },  { "char", NUMBER_I8, 1 },          { "unsigned_short", NUMBER_U16, 2 },
    { "short", NUMBER_I16, 2 }, { "unsigned_int", NUMBER_U32, 4 },  { "int", NUMBER_I32, 4 },          { "unsigned_long", NUMBER_U64, 8 },
    { "long", NUMBER_I64, 8 },  { "vtktypeuint64", NUMBER_U64, 8 }, { "vtktypeint64", NUMBER_I64, 8 }, { "vtkIdType", NUMBER_I32, 4 },
    { "float", NUMBER_F32, 4 }, { "double", NUMBER_F64, 8 }, { "signed_char", NUMBER_I8, 1 }, { "vtktypeint8", NUMBER_I8, 1 },
    { "vtktypeuint8", NUMBER_U8, 1 }, { "vtktypeint16", NUMBER_I16, 2 }, { "vtktypeuint16", NUMBER_U16, 2 }, { "vtktypeint32", NUMBER_I32, 4 },
    { "vtktypeuint32", NUMBER_U32, 4 }, { "vtktypefloat32", NUMBER_F32, 4 }, { "vtktypefloat64", NUMBER_F64, 8 }
};
typedef struct number_type {
    number_kind kind;
    int bytes;
} number_type;

static tsr_status fail_word(const vtk_reader *r, tsr_word word, const char *expected)
{
    char shown[32];
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' given, expected %s", r->file, (long long)r->text.line, tsr_word_show(word, shown), expected);
}
static tsr_status take_word(vtk_reader *r, tsr_word *word, const char *expected)
{
    *word = (tsr_word){ "", 0 };
    if (!tsr_text_word(&r->text, word))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends at line %lld, expected %s", r->file, (long long)r->text.line, expected);
    return TSR_OK;
}
static tsr_status expect(vtk_reader *r, const char *name)
{
    tsr_word word;
    TSR_TRY(take_word(r, &word, name));
    if (!tsr_word_is_any_case(word, name)) TSR_TRY(fail_word(r, word, name));
    return TSR_OK;
}
/* A count: 0 or more. */
static tsr_status take_count(vtk_reader *r, const char *what, int64_t *count)
{
    tsr_word word;
    TSR_TRY(take_word(r, &word, what));
    if (tsr_word_integer(word, count) != TSR_TEXT_OK || *count < 0) TSR_TRY(fail_word(r, word, what));
    return TSR_OK;
}
static tsr_status take_type(vtk_reader *r, number_type *type)
{
    tsr_word word;
    TSR_TRY(take_word(r, &word, "a type of numbers"));
    for (size_t k = 0; k < sizeof number_types / sizeof *number_types; k++)
        if (tsr_word_is_any_case(word, number_types[k].name)) {
            *type = (number_type){ number_types[k].kind, number_types[k].bytes };
            return TSR_OK;
        }
    TSR_TRY(fail_word(r, word, "a type of numbers: bit, char, short, int, long, unsigned_..., float, double or vtktypeint64"));
    return TSR_OK;
}

/* Binary numbers begin after the end of the line. */
static tsr_status begin_binary(vtk_reader *r, int64_t bytes, const char *what)
{
    while (r->text.at < r->text.end && *r->text.at != '\n') r->text.at++;
    if (r->text.at < r->text.end) r->text.at++;
    r->text.line++;
    if (bytes > r->text.end - r->text.at)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s need %lld bytes, %lld are left in the file", r->file, what, (long long)bytes,
                 (long long)(r->text.end - r->text.at));
    return TSR_OK;
}
/* `count` numbers could be there: a number of a text takes two characters but for the last. */
static tsr_status check_count(const vtk_reader *r, int64_t count, int bytes, const char *what)
{
    const int64_t left = r->text.end - r->text.at;
    if (r->binary ? count > (bytes ? left / bytes : (left < INT64_MAX / 8 ? 8 * left : left)) : count > left / 2 + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %lld numbers of %s, the file has %lld bytes left", r->file, (long long)r->text.line,
                 (long long)count, what, (long long)left);
    return TSR_OK;
}
static uint64_t big_endian(const char *at, int bytes)
{
    uint64_t v = 0;
    for (int k = 0; k < bytes; k++) v = v << 8 | (uint8_t)at[k];
    return v;
}
static double real_of(const char *at, number_type type)
{
    const uint64_t bits = big_endian(at, type.bytes);
    const uint32_t half = (uint32_t)bits;
    float f;
    double d;
    switch (type.kind) {
    case NUMBER_I8: return (int8_t)bits;
    case NUMBER_I16: return (int16_t)bits;
    case NUMBER_I32: return (int32_t)half;
    case NUMBER_I64: return (double)(int64_t)bits;
    case NUMBER_F32: memcpy(&f, &half, 4); return f;
    case NUMBER_F64: memcpy(&d, &bits, 8); return d;
    default: return (double)bits;
    }
}

/* `count` numbers; to NULL: walked over. */
static tsr_status take_reals(vtk_reader *r, number_type type, int64_t count, const char *what, double *to)
{
    TSR_TRY(check_count(r, count, type.bytes, what));
    if (r->binary) {
        const int64_t bytes = type.kind == NUMBER_BIT ? (count + 7) / 8 : count * type.bytes;
        TSR_TRY(begin_binary(r, bytes, what));
        for (int64_t k = 0; to && k < count; k++) {
            TSR_READING(r->progress, k, (double)k / (double)count);
            to[k] = type.kind == NUMBER_BIT ? (r->text.at[k >> 3] >> (7 - (k & 7)) & 1) : real_of(r->text.at + k * type.bytes, type);
        }
        r->text.at += bytes;
        return TSR_OK;
    }
    for (int64_t k = 0; k < count; k++) {
        tsr_word word;
        double value;
        TSR_READING(r->progress, k, (double)k / (double)count);
        TSR_TRY(take_word(r, &word, what));
        if (tsr_word_double(word, &value) != TSR_TEXT_OK) TSR_TRY(fail_word(r, word, what));
        if (to) to[k] = value;
    }
    return TSR_OK;
}
/* Integers between 0 and `most`, `wide` (64-bit) or not in binary files. */
static tsr_status take_integers(vtk_reader *r, int wide, int64_t count, int64_t most, const char *what, int64_t *to)
{
    const int bytes = wide ? 8 : 4;
    TSR_TRY(check_count(r, count, bytes, what));
    if (r->binary) TSR_TRY(begin_binary(r, count * bytes, what));
    for (int64_t k = 0; k < count; k++) {
        int64_t value = 0;
        TSR_READING(r->progress, k, (double)k / (double)count);
        if (r->binary) {
            const uint64_t bits = big_endian(r->text.at, bytes);
            value = wide ? (int64_t)bits : (int32_t)(uint32_t)bits;
            r->text.at += bytes;
        } else {
            tsr_word word;
            TSR_TRY(take_word(r, &word, what));
            if (tsr_word_integer(word, &value) != TSR_TEXT_OK) TSR_TRY(fail_word(r, word, what));
        }
        if (value < 0 || value > most)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: number %lld of %s is %lld, expected 0 to %lld", r->file, (long long)k, what, (long long)value,
                     (long long)most);
        to[k] = value;
    }
    return TSR_OK;
}
static tsr_status scratch(const vtk_reader *r, int64_t count, size_t element, const char *what, void **memory)
{
    TSR_TRY(tsr_scratch_for_input(r->input, count, element, what, memory));
    return TSR_OK;
}

/* ---- sections ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status header(vtk_reader *r)
{
    tsr_text line;
    tsr_word word;
    double version = 0;
    if (!tsr_text_line(&r->text, &line) || !tsr_text_word(&line, &word) || !tsr_word_is(word, "#") || !tsr_text_word(&line, &word) ||
        !tsr_word_is(word, "vtk"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file does not begin with '# vtk DataFile Version'", r->file);
    while (tsr_text_word(&line, &word)) (void)tsr_word_double(word, &version);
    if (!(version >= 1 && version < 6)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %g of VTK's legacy format, expected 1 to 5.1", r->file, version);
    r->cells_apart = version >= 5;
    if (!tsr_text_line(&r->text, &line)) line = (tsr_text){ "", "", 2 }; /* the title */
    r->space = tsr_space_from_comment(line.at, (size_t)(line.end - line.at), TSR_SPACE_NONE);
    TSR_TRY(take_word(r, &word, "ASCII or BINARY"));
    r->binary = tsr_word_is_any_case(word, "BINARY");
    if (!r->binary && !tsr_word_is_any_case(word, "ASCII")) TSR_TRY(fail_word(r, word, "ASCII or BINARY"));
    TSR_TRY(expect(r, "DATASET"));
    TSR_TRY(take_word(r, &word, "UNSTRUCTURED_GRID"));
    if (r->as_points && tsr_word_is_any_case(word, "POLYDATA")) return TSR_OK;
    if (!tsr_word_is_any_case(word, "UNSTRUCTURED_GRID")) TSR_TRY(fail_word(r, word, "UNSTRUCTURED_GRID (other data sets of VTK are not read)"));
    return TSR_OK;
}

static tsr_status make_cloud(vtk_reader *r)
{
    tsr_places places = tsr_places_begin();
    TSR_TRY(tsr_points_for_input(r->input, r->points, 0, &r->cloud));
    do {
        for (int64_t k = 0; k < 3 * r->points; k++) r->cloud->positions[k] = tsr_place(&places, (int)(k % 3), r->point[k]);
    } while (tsr_places_again(&places, r->as_points));
    memcpy(r->cloud->origin, places.origin, sizeof places.origin);
    r->cloud->space = r->space;
    return TSR_OK;
}

static tsr_status points(vtk_reader *r)
{
    number_type type;
    if (r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: POINTS for the second time", r->file, (long long)r->text.line);
    TSR_TRY(take_count(r, "the number of points", &r->points));
    TSR_TRY(take_type(r, &type));
    if (r->points > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected at most %u", r->file, (long long)r->points, UINT32_MAX);
    TSR_TRY(check_count(r, 3 * r->points, type.bytes, "coordinates"));
    TSR_TRY(scratch(r, r->points + 1, 3 * sizeof *r->point, "points", (void **)&r->point));
    TSR_TRY(take_reals(r, type, 3 * r->points, "coordinates", r->point));
    if (r->as_points) TSR_TRY(make_cloud(r));
    return TSR_OK;
}

static tsr_status check_cell(const vtk_reader *r, int64_t n, int64_t corners, int64_t left)
{
    if (corners < 0 || corners > left)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: cell %lld has %lld corners, CELLS holds %lld more numbers", r->file, (long long)n, (long long)corners,
                 (long long)left);
    return TSR_OK;
}

/* "n i j k ..." of every cell. */
static tsr_status cells_together(vtk_reader *r, int64_t numbers)
{
    int64_t *all = NULL;
    tsr_status status;
    TSR_TRY(check_count(r, numbers, 4, "cells"));
    if (numbers < r->cells) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld numbers for %lld cells", r->file, (long long)numbers, (long long)r->cells);
    TSR_TRY(scratch(r, numbers, sizeof *all, "cells", (void **)&all));
    TSR_TRY_GOTO(take_integers(r, 0, numbers, UINT32_MAX, "CELLS", all), done);
    TSR_TRY_GOTO(scratch(r, r->cells + 1, sizeof *r->start, "cells", (void **)&r->start), done);
    TSR_TRY_GOTO(scratch(r, numbers + 1, sizeof *r->corner, "cells", (void **)&r->corner), done);
    int64_t at = 0;
    r->corners = 0;
    for (int64_t n = 0; n < r->cells; n++) {
        r->start[n] = r->corners;
        const int64_t own = at < numbers ? all[at++] : -1;
        TSR_TRY_GOTO(check_cell(r, n, own, numbers - at), done);
        for (int64_t k = 0; k < own; k++) r->corner[r->corners++] = (uint32_t)all[at++];
    }
    r->start[r->cells] = r->corners;
    TSR_TRY_GOTO(check_cell(r, r->cells, numbers - at, 0), done); /* what is left over */
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

static tsr_status check_integers(const vtk_reader *r, number_type type)
{
    if (type.kind < NUMBER_U32 || type.kind > NUMBER_I64)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: numbers of points of another type, expected int or vtktypeint64", r->file,
                 (long long)r->text.line);
    return TSR_OK;
}

/* OFFSETS and CONNECTIVITY; `offsets` is one more than the cells. */
static tsr_status cells_apart(vtk_reader *r, int64_t offsets, int64_t corners)
{
    int64_t *all = NULL;
    number_type type;
    tsr_status status;
    r->cells = offsets ? offsets - 1 : 0;
    TSR_TRY(expect(r, "OFFSETS"));
    TSR_TRY(take_type(r, &type));
    TSR_TRY(check_integers(r, type));
    TSR_TRY(check_count(r, offsets, type.bytes, "OFFSETS"));
    TSR_TRY(scratch(r, offsets + 1, sizeof *r->start, "cells", (void **)&r->start));
    r->start[0] = 0;
    TSR_TRY(take_integers(r, type.bytes == 8, offsets, INT64_MAX, "OFFSETS", r->start));
    TSR_TRY(expect(r, "CONNECTIVITY"));
    TSR_TRY(take_type(r, &type));
    TSR_TRY(check_integers(r, type));
    TSR_TRY(check_count(r, corners, type.bytes, "CONNECTIVITY"));
    TSR_TRY(scratch(r, corners, sizeof *all, "cells", (void **)&all));
    TSR_TRY_GOTO(take_integers(r, type.bytes == 8, corners, UINT32_MAX, "CONNECTIVITY", all), done);
    TSR_TRY_GOTO(scratch(r, corners + 1, sizeof *r->corner, "cells", (void **)&r->corner), done);
    for (int64_t k = 0; k < corners; k++) r->corner[k] = (uint32_t)all[k];
    r->corners = corners;
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

static tsr_status cells(vtk_reader *r)
{
    int64_t first, second;
    if (r->start) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: CELLS for the second time", r->file, (long long)r->text.line);
    TSR_TRY(take_count(r, "the number of cells", &first));
    TSR_TRY(take_count(r, "the size of the cells", &second));
    r->cells = first;
    if (r->cells_apart) TSR_TRY(cells_apart(r, first, second));
    else TSR_TRY(cells_together(r, second));
    return TSR_OK;
}

static tsr_status cell_types(vtk_reader *r)
{
    int64_t *all = NULL;
    tsr_status status;
    if (r->type) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: CELL_TYPES for the second time", r->file, (long long)r->text.line);
    TSR_TRY(take_count(r, "the number of cells", &r->types));
    TSR_TRY(check_count(r, r->types, 4, "CELL_TYPES"));
    TSR_TRY(scratch(r, r->types, sizeof *all, "types of cells", (void **)&all));
    TSR_TRY_GOTO(scratch(r, r->types + 1, 1, "types of cells", (void **)&r->type), done);
    TSR_TRY_GOTO(take_integers(r, 0, r->types, 255, "CELL_TYPES", all), done);
    for (int64_t n = 0; n < r->types; n++) r->type[n] = (uint8_t)all[n];
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

/* ---- data at the points ------------------------------------------------------------------------------------------------------------------ */

static int wanted(vtk_reader *r, tsr_word name)
{
    const size_t used = strlen(r->names);
    if (used + name.size + 3 < NAMES_BYTES) {
        if (used) memcpy(r->names + used, ", ", 2);
        memcpy(r->names + used + (used ? 2 : 0), name.text, name.size);
        r->names[used + (used ? 2 : 0) + name.size] = 0;
    }
    return !r->value && (!r->wanted || tsr_word_is(name, r->wanted));
}
/* An array at the points of a cloud, which becomes an attribute. */
static tsr_status further(vtk_reader *r, tsr_word name, number_type type, int32_t components)
{
    char usual[64];
    float *data = NULL;
    double *all = NULL;
    const int64_t numbers = r->points * components;
    tsr_status status;
    TSR_TRY(check_count(r, numbers, type.bytes, "an array"));
    TSR_TRY(tsr_column_take(r->cloud, tsr_column_kind_of(name, components, usual), usual, components, &data));
    if (data) TSR_TRY(scratch(r, numbers + 1, sizeof *all, "an array", (void **)&all));
    TSR_TRY_GOTO(take_reals(r, type, numbers, "an array", all), done);
    for (int64_t k = 0; data && k < numbers; k++) data[k] = (float)all[k];
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

/* An array of `tuples` x `components`; taken as the values if it is the one. */
static tsr_status array(vtk_reader *r, tsr_word name, number_type type, int64_t tuples, int64_t components, int at_points)
{
    if (components && tuples > INT64_MAX / components / 8)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: an array of %lld x %lld numbers", r->file, (long long)r->text.line, (long long)tuples,
                 (long long)components);
    if (r->cloud && at_points && tuples == r->points && components <= TSR_POINTS_COMPONENTS) TSR_TRY(further(r, name, type, (int32_t)components));
    else if (at_points && components == 1 && tuples == r->points && !r->as_points && wanted(r, name)) {
        TSR_TRY(check_count(r, tuples, type.bytes, "values"));
        TSR_TRY(scratch(r, tuples + 1, sizeof *r->value, "values", (void **)&r->value));
        TSR_TRY(take_reals(r, type, tuples, "values", r->value));
    } else TSR_TRY(take_reals(r, type, tuples * components, "an array", NULL));
    return TSR_OK;
}

static tsr_status scalars(vtk_reader *r, int64_t tuples, int at_points)
{
    tsr_text line;
    tsr_word name, word;
    number_type type;
    int64_t components = 1;
    TSR_TRY(take_word(r, &name, "the name of SCALARS"));
    TSR_TRY(take_type(r, &type));
    if (!tsr_text_line(&r->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends with SCALARS", r->file);
    const char *const end = line.end;
    if (tsr_text_word(&line, &word) && (tsr_word_integer(word, &components) != TSR_TEXT_OK || components < 1 || components > 4))
        TSR_TRY(fail_word(r, word, "1 to 4 components"));
    const tsr_text here = r->text;
    if (tsr_text_word(&r->text, &word) && tsr_word_is_any_case(word, "LOOKUP_TABLE")) TSR_TRY(take_word(r, &word, "the name of a table"));
    else {
        r->text = here;
        if (r->binary) r->text.at = end; /* its numbers begin after the line that has been taken */
    }
    TSR_TRY(array(r, name, type, tuples, components, at_points));
    return TSR_OK;
}

/* METADATA lasts to the next empty line. */
static void metadata(vtk_reader *r)
{
    tsr_text line;
    tsr_word word;
    (void)tsr_text_line(&r->text, &line); /* the rest of its own */
    while (tsr_text_line(&r->text, &line) && tsr_text_word(&line, &word)) continue;
}

static tsr_status field(vtk_reader *r, int at_points)
{
    tsr_word name;
    int64_t arrays;
    TSR_TRY(take_word(r, &name, "the name of a FIELD"));
    TSR_TRY(take_count(r, "the number of arrays", &arrays));
    for (int64_t k = 0; k < arrays; k++) {
        number_type type;
        int64_t components, tuples;
        TSR_TRY(take_word(r, &name, "the name of an array"));
        if (tsr_word_is_any_case(name, "METADATA")) { /* of the array before */
            metadata(r);
            TSR_TRY(take_word(r, &name, "the name of an array"));
        }
        TSR_TRY(take_count(r, "the number of components", &components));
        TSR_TRY(take_count(r, "the number of tuples", &tuples));
        TSR_TRY(take_type(r, &type));
        TSR_TRY(array(r, name, type, tuples, components, at_points));
    }
    return TSR_OK;
}

/* An attribute or section of point or cell data; the word has been read. */
static tsr_status attribute(vtk_reader *r, tsr_word word, int64_t tuples, int at_points)
{
    static const struct {
        const char *name;
        int components; /* 0: given in the file */
    } plain[] = { { "VECTORS", 3 },
                  { "NORMALS", 3 },
                  { "TENSORS", 9 },
                  { "TENSORS6", 6 },
                  { "GLOBAL_IDS", 1 },
                  { "PEDIGREE_IDS", 1 },
                  { "TEXTURE_COORDINATES", 0 } };
    const number_type byte = { NUMBER_U8, 1 };
    number_type type;
    tsr_word name;
    int64_t components;
    if (tsr_word_is_any_case(word, "SCALARS")) return scalars(r, tuples, at_points);
    if (tsr_word_is_any_case(word, "FIELD")) return field(r, at_points);
    if (tsr_word_is_any_case(word, "METADATA")) {
        metadata(r);
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "COLOR_SCALARS")) {
        TSR_TRY(take_word(r, &name, "a name"));
        TSR_TRY(take_count(r, "the number of components", &components));
        TSR_TRY(array(r, name, byte, tuples, components, 0));
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "LOOKUP_TABLE")) {
        int64_t colours;
        TSR_TRY(take_word(r, &name, "a name"));
        TSR_TRY(take_count(r, "the number of colours", &colours));
        TSR_TRY(array(r, name, byte, colours, 4, 0));
        return TSR_OK;
    }
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        if (!tsr_word_is_any_case(word, plain[k].name)) continue;
        TSR_TRY(take_word(r, &name, "a name"));
        components = plain[k].components;
        if (!components) TSR_TRY(take_count(r, "the number of components", &components));
        TSR_TRY(take_type(r, &type));
        TSR_TRY(array(r, name, type, tuples, components, at_points && r->as_points));
        return TSR_OK;
    }
    TSR_TRY(fail_word(r, word, "POINTS, CELLS, CELL_TYPES, POINT_DATA, CELL_DATA, FIELD or an attribute"));
    return TSR_OK;
}

/* VERTICES and the like of PolyData are walked over. */
static tsr_status skip_cells(vtk_reader *r)
{
    const number_type integer = { NUMBER_I32, 4 };
    static const char *const parts[2] = { "OFFSETS", "CONNECTIVITY" };
    int64_t numbers[2];
    TSR_TRY(take_count(r, "a number of cells", &numbers[0]));
    TSR_TRY(take_count(r, "a number of numbers", &numbers[1]));
    if (!r->cells_apart) {
        TSR_TRY(take_reals(r, integer, numbers[1], "cells", NULL));
        return TSR_OK;
    }
    for (int k = 0; k < 2; k++) {
        number_type type;
        TSR_TRY(expect(r, parts[k]));
        TSR_TRY(take_type(r, &type));
        TSR_TRY(take_reals(r, type, numbers[k], "cells", NULL));
    }
    return TSR_OK;
}
static int is_cells(tsr_word word)
{
    return tsr_word_is_any_case(word, "VERTICES") || tsr_word_is_any_case(word, "LINES") || tsr_word_is_any_case(word, "POLYGONS") ||
           tsr_word_is_any_case(word, "TRIANGLE_STRIPS");
}

static tsr_status body(vtk_reader *r)
{
    tsr_word word;
    int64_t tuples = -1;
    int at_points = 0;
    while (tsr_text_word(&r->text, &word)) {
        if (tsr_word_is_any_case(word, "POINTS")) TSR_TRY(points(r));
        else if (tsr_word_is_any_case(word, "CELLS")) TSR_TRY(cells(r));
        else if (tsr_word_is_any_case(word, "CELL_TYPES")) TSR_TRY(cell_types(r));
        else if (r->as_points && is_cells(word)) TSR_TRY(skip_cells(r));
        else if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
            at_points = tsr_word_is_any_case(word, "POINT_DATA");
            TSR_TRY(take_count(r, "a number of points or cells", &tuples));
            if (at_points && tuples != r->points)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: POINT_DATA of %lld points, there are %lld", r->file, (long long)r->text.line,
                         (long long)tuples, (long long)r->points);
        } else {
            if (tuples < 0 && !tsr_word_is_any_case(word, "FIELD") && !tsr_word_is_any_case(word, "METADATA"))
                TSR_TRY(fail_word(r, word, "POINTS, CELLS, CELL_TYPES, POINT_DATA, CELL_DATA or FIELD"));
            TSR_TRY(attribute(r, word, tuples, at_points));
        }
    }
    return TSR_OK;
}

static tsr_status make(vtk_reader *r, tsr_unstructured **grid)
{
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    if (!r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINTS is missing", r->file);
    if (!r->start) TSR_FAIL(TSR_ERROR_FORMAT, "%s: CELLS is missing", r->file);
    if (!r->type || r->types != r->cells)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld types of cells for %lld cells", r->file, (long long)r->types, (long long)r->cells);
    if (!r->value && !(r->wanted && !*r->wanted))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no values%s%s at the points (arrays of one component: %s)", r->file, r->wanted ? " named " : "",
                 r->wanted ? r->wanted : "", *r->names ? r->names : "none");
    source.point_count = r->points;
    source.cell_count = r->cells;
    source.corner_count = r->corners;
    source.points = r->point;
    source.values = r->value;
    source.types = r->type;
    source.starts = r->start;
    source.corners = r->corner;
    source.space = r->space;
    /* up to six tetrahedra a cell, each of 40 bytes and as much to sort its edges */
    void *room = NULL;
    TSR_TRY(tsr_scratch_for_input(r->input, r->cells, 6 * 88, "tetrahedra", &room));
    tsr_host_release(NULL, room, 0);
    const tsr_status status = tsr_unstructured_create(NULL, &source, grid);
    if (status != TSR_OK && status != TSR_ERROR_MEMORY) {
        char message[512];
        snprintf(message, sizeof message, "%s", tsr_error_message());
        TSR_FAIL(status == TSR_ERROR_ARGUMENT ? TSR_ERROR_FORMAT : status, "%s: %s", r->file, message);
    }
    if (status == TSR_OK) snprintf((*grid)->info.arrays, sizeof(*grid)->info.arrays, "%s", r->names);
    return status;
}

static tsr_status vtk_read(tsr_input *input, const tsr_read_options *options, const char *values, tsr_unstructured **grid)
{
    const uint8_t *bytes;
    size_t size;
    vtk_reader r = { .input = input, .file = tsr_input_name(input), .progress = &options->progress, .wanted = values };
    tsr_status status;
    *grid = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.text = tsr_text_make(bytes, size);
    TSR_TRY_GOTO(header(&r), done);
    TSR_TRY_GOTO(body(&r), done);
    TSR_TRY_GOTO(make(&r, grid), done);
done:
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.value, 0);
    tsr_host_release(NULL, r.start, 0);
    tsr_host_release(NULL, r.corner, 0);
    tsr_host_release(NULL, r.type, 0);
    return status;
}

static tsr_status vtk_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **cloud)
{
    const uint8_t *bytes;
    size_t size;
    vtk_reader r = { .input = input, .file = tsr_input_name(input), .progress = &options->progress, .as_points = options };
    tsr_status status;
    *cloud = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.text = tsr_text_make(bytes, size);
    TSR_TRY_GOTO(header(&r), done);
    TSR_TRY_GOTO(body(&r), done);
    if (!r.cloud) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: POINTS is missing", r.file);
    TSR_TRY_GOTO(tsr_points_check_positions(input, r.cloud), done);
    *cloud = r.cloud;
    r.cloud = NULL;
done:
    tsr_points_destroy(&r.cloud);
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.value, 0);
    tsr_host_release(NULL, r.start, 0);
    tsr_host_release(NULL, r.corner, 0);
    tsr_host_release(NULL, r.type, 0);
    return status;
}

/* ---- points written as PolyData of vertices, version 3.0, binary (big-endian) or ASCII -------------------------------------------------------------- */

static tsr_status put_row(tsr_output *out, const float *numbers, int32_t count, const tsr_write_options *options)
{
    float row[TSR_POINTS_COMPONENTS];
    if (!options->ascii) {
        memcpy(row, numbers, (size_t)count * sizeof *row);
        if (!tsr_host_big_endian()) tsr_swap_elements(row, count, sizeof *row);
        return tsr_output_write(out, row, (size_t)count * sizeof *row);
    }
    for (int32_t k = 0; k < count; k++) {
        char text[32], *end = tsr_put_float(text, numbers[k]);
        *end++ = k + 1 < count ? ' ' : '\n';
        TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
    }
    return TSR_OK;
}

static tsr_status put_array(tsr_output *out, const char *name, const float *data, int32_t components, const tsr_points *p, const tsr_write_options *options)
{
    char word[64];
    snprintf(word, sizeof word, "%s", name);
    for (char *c = word; *c; c++)
        if ((unsigned char)*c <= ' ') *c = '_';
    TSR_TRY(tsr_output_printf(out, "%s %d %lld float\n", word, (int)components, (long long)p->count));
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(&options->progress, i, p->count);
        TSR_TRY(put_row(out, data + i * components, components, options));
    }
    return options->ascii ? TSR_OK : tsr_output_write(out, "\n", 1);
}

static tsr_status put_places(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    const int far = tsr_has_origin(p->origin);
    TSR_TRY(tsr_output_printf(out, "POINTS %lld %s\n", (long long)p->count, far ? "double" : "float"));
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(&options->progress, i, p->count);
        if (options->ascii) TSR_TRY(tsr_write_position(out, "", p->positions + 3 * i, p->origin, "\n"));
        else if (!far) TSR_TRY(put_row(out, p->positions + 3 * i, 3, options));
        else {
            double place[3];
            for (int k = 0; k < 3; k++) place[k] = p->origin[k] + (double)p->positions[3 * i + k];
            if (!tsr_host_big_endian()) tsr_swap_elements(place, 3, sizeof *place);
            TSR_TRY(tsr_output_write(out, place, sizeof place));
        }
    }
    return tsr_output_write(out, "\n", 1);
}

static tsr_status write_cloud(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    const int32_t arrays = p->attributes + (p->radii != NULL) + (p->normals != NULL);
    TSR_TRY(tsr_output_printf(out, "# vtk DataFile Version 3.0\ntessera %s\n%s\nDATASET POLYDATA\n", tsr_space_comment(p->space), options->ascii ? "ASCII" : "BINARY"));
    TSR_TRY(put_places(out, p, options));
    TSR_TRY(tsr_output_printf(out, "VERTICES %lld %lld\n", (long long)p->count, 2 * (long long)p->count));
    for (int64_t i = 0; i < p->count; i++) {
        uint32_t pair[2] = { 1, (uint32_t)i };
        if (options->ascii) TSR_TRY(tsr_output_printf(out, "1 %lld\n", (long long)i));
        else {
            if (!tsr_host_big_endian()) tsr_swap_elements(pair, 2, sizeof *pair);
            TSR_TRY(tsr_output_write(out, pair, sizeof pair));
        }
    }
    if (!arrays) return TSR_OK;
    TSR_TRY(tsr_output_printf(out, "%sPOINT_DATA %lld\nFIELD FieldData %d\n", options->ascii ? "" : "\n", (long long)p->count, (int)arrays));
    if (p->radii) TSR_TRY(put_array(out, "radius", p->radii, 1, p, options));
    if (p->normals) TSR_TRY(put_array(out, "normals", p->normals, 3, p, options));
    for (int32_t k = 0; k < p->attributes; k++) TSR_TRY(put_array(out, p->attribute[k].name, p->attribute[k].data, p->attribute[k].components, p, options));
    return TSR_OK;
}
static tsr_status vtk_write_points(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_cloud(out, points, options));
}

/* Is it a data set of this type? Before that stand the version, a title and ASCII or BINARY, each on a line. */
static int vtk_dataset(const tsr_signature *s, const char *type)
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_word word;
    for (int k = 0; k < 3; k++)
        if (!tsr_text_line(&text, &line)) return 0;
    return tsr_text_word(&text, &word) && tsr_word_is_any_case(word, "DATASET") && tsr_text_word(&text, &word) && tsr_word_is_any_case(word, type);
}
static int is_vtk(const tsr_signature *s)
{
    static const char magic[] = "# vtk DataFile Version";
    return s->head_bytes >= sizeof magic - 1 && !memcmp(s->head, magic, sizeof magic - 1);
}
static int vtk_recognise(const tsr_signature *s) { return is_vtk(s) && !vtk_dataset(s, "POLYDATA") ? TSR_SURELY_MINE : TSR_NOT_MINE; }
static int vtk_points_recognise(const tsr_signature *s) { return is_vtk(s) && vtk_dataset(s, "POLYDATA") ? TSR_SURELY_MINE : TSR_NOT_MINE; }

const tsr_format tsr_format_vtk = { .name = "vtk", .kind = TSR_FILE_UNSTRUCTURED, .extensions = { ".vtk" }, .recognise = vtk_recognise,
                                    .read_unstructured = vtk_read, .read_points = vtk_read_points };
const tsr_format tsr_format_vtkpoints = { .name = "vtk-points", .kind = TSR_FILE_POINTS, .extensions = { ".vtk" }, .recognise = vtk_points_recognise,
                                          .read_points = vtk_read_points, .write_points = vtk_write_points };
