/* formats/vtk_text.c: words, numbers and arrays of VTK's legacy files. */
#include "formats/vtk_text.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    tsr_vtk_number_kind kind;
    int bytes;
} number_types[] = { { "bit", TSR_VTK_N_BIT, 0 },           { "unsigned_char", TSR_VTK_N_U8, 1 },
                     { "char", TSR_VTK_N_I8, 1 },           { "unsigned_short", TSR_VTK_N_U16, 2 },
                     { "short", TSR_VTK_N_I16, 2 },         { "unsigned_int", TSR_VTK_N_U32, 4 },
                     { "int", TSR_VTK_N_I32, 4 },           { "unsigned_long", TSR_VTK_N_U64, 8 },
                     { "long", TSR_VTK_N_I64, 8 },          { "vtktypeuint64", TSR_VTK_N_U64, 8 },
                     { "vtktypeint64", TSR_VTK_N_I64, 8 },  { "vtkIdType", TSR_VTK_N_I32, 4 },
                     { "float", TSR_VTK_N_F32, 4 },         { "double", TSR_VTK_N_F64, 8 },
                     { "signed_char", TSR_VTK_N_I8, 1 },    { "vtktypeint8", TSR_VTK_N_I8, 1 },
                     { "vtktypeuint8", TSR_VTK_N_U8, 1 },   { "vtktypeint16", TSR_VTK_N_I16, 2 },
                     { "vtktypeuint16", TSR_VTK_N_U16, 2 }, { "vtktypeint32", TSR_VTK_N_I32, 4 },
                     { "vtktypeuint32", TSR_VTK_N_U32, 4 }, { "vtktypefloat32", TSR_VTK_N_F32, 4 },
                     { "vtktypefloat64", TSR_VTK_N_F64, 8 } };

tsr_status tsr_vtk_wrong(const tsr_vtk_text *r, tsr_word word, const char *expected)
{
    char shown[32];
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' given, expected %s", r->file, (long long)r->text.line, tsr_word_show(word, shown), expected);
}
tsr_status tsr_vtk_word(tsr_vtk_text *r, tsr_word *word, const char *expected)
{
    *word = (tsr_word){ "", 0 };
    if (!tsr_text_word(&r->text, word))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends at line %lld, expected %s", r->file, (long long)r->text.line, expected);
    return TSR_OK;
}
tsr_status tsr_vtk_expect(tsr_vtk_text *r, const char *name)
{
    tsr_word word;
    TSR_TRY(tsr_vtk_word(r, &word, name));
    if (!tsr_word_is_any_case(word, name)) TSR_TRY(tsr_vtk_wrong(r, word, name));
    return TSR_OK;
}
void tsr_vtk_name(tsr_word word, char *name, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t k = 0; k < word.size && used + 1 < room; k++) {
        const char *a = k + 2 < word.size && word.text[k] == '%' ? (const char *)memchr(digits, tolower((unsigned char)word.text[k + 1]), 16) : NULL,
                   *b = a ? (const char *)memchr(digits, tolower((unsigned char)word.text[k + 2]), 16) : NULL;
        name[used++] = b ? (char)((a - digits) * 16 + (b - digits)) : word.text[k];
        k += b ? 2 : 0;
    }
    name[used] = 0;
}
/* A count: 0 or more. */
tsr_status tsr_vtk_count(tsr_vtk_text *r, const char *what, int64_t *count)
{
    tsr_word word;
    TSR_TRY(tsr_vtk_word(r, &word, what));
    if (tsr_word_integer(word, count) != TSR_TEXT_OK || *count < 0) TSR_TRY(tsr_vtk_wrong(r, word, what));
    return TSR_OK;
}
tsr_status tsr_vtk_type_of(tsr_vtk_text *r, tsr_vtk_number *type)
{
    tsr_word word;
    TSR_TRY(tsr_vtk_word(r, &word, "a type of numbers"));
    for (size_t k = 0; k < sizeof number_types / sizeof *number_types; k++)
        if (tsr_word_is_any_case(word, number_types[k].name)) {
            *type = (tsr_vtk_number){ number_types[k].kind, number_types[k].bytes };
            return TSR_OK;
        }
    TSR_TRY(tsr_vtk_wrong(r, word, "a type of numbers: bit, char, short, int, long, unsigned_..., float, double or vtktypeint64"));
    return TSR_OK;
}

/* Binary numbers begin after the end of the line. */
tsr_status tsr_vtk_begin_binary(tsr_vtk_text *r, int64_t bytes, const char *what)
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
tsr_status tsr_vtk_check_count(const tsr_vtk_text *r, int64_t count, int bytes, const char *what)
{
    const int64_t left = r->text.end - r->text.at;
    if (r->binary ? count > (bytes ? left / bytes : (left < INT64_MAX / 8 ? 8 * left : left)) : count > left / 2 + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %lld numbers of %s, the file has %lld bytes left", r->file, (long long)r->text.line,
                 (long long)count, what, (long long)left);
    return TSR_OK;
}
uint64_t tsr_vtk_big_endian(const char *at, int bytes)
{
    uint64_t v = 0;
    for (int k = 0; k < bytes; k++) v = v << 8 | (uint8_t)at[k];
    return v;
}
static double real_of(const char *at, tsr_vtk_number type)
{
    const uint64_t bits = tsr_vtk_big_endian(at, type.bytes);
    const uint32_t half = (uint32_t)bits;
    float f;
    double d;
    switch (type.kind) {
    case TSR_VTK_N_I8: return (int8_t)bits;
    case TSR_VTK_N_I16: return (int16_t)bits;
    case TSR_VTK_N_I32: return (int32_t)half;
    case TSR_VTK_N_I64: return (double)(int64_t)bits;
    case TSR_VTK_N_F32: memcpy(&f, &half, 4); return f;
    case TSR_VTK_N_F64: memcpy(&d, &bits, 8); return d;
    default: return (double)bits;
    }
}

/* The next `count` numbers of an array, of a binary one whole bytes; to NULL: walked over. */
tsr_status tsr_vtk_next(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what, double *to)
{
    if (r->binary) {
        for (int64_t k = 0; to && k < count; k++) {
            TSR_READING(r->progress, k, (double)k / (double)count);
            to[k] = type.kind == TSR_VTK_N_BIT ? (r->text.at[k >> 3] >> (7 - (k & 7)) & 1) : real_of(r->text.at + k * type.bytes, type);
        }
        r->text.at += type.kind == TSR_VTK_N_BIT ? (count + 7) / 8 : count * type.bytes;
        return TSR_OK;
    }
    for (int64_t k = 0; k < count; k++) {
        tsr_word word;
        double value;
        TSR_READING(r->progress, k, (double)k / (double)count);
        TSR_TRY(tsr_vtk_word(r, &word, what));
        if (tsr_word_double(word, &value) != TSR_TEXT_OK) TSR_TRY(tsr_vtk_wrong(r, word, what));
        if (to) to[k] = value;
    }
    return TSR_OK;
}
tsr_status tsr_vtk_begin_reals(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what)
{
    TSR_TRY(tsr_vtk_check_count(r, count, type.bytes, what));
    if (r->binary) TSR_TRY(tsr_vtk_begin_binary(r, type.kind == TSR_VTK_N_BIT ? (count + 7) / 8 : count * type.bytes, what));
    return TSR_OK;
}
tsr_status tsr_vtk_reals(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what, double *to)
{
    TSR_TRY(tsr_vtk_begin_reals(r, type, count, what));
    return tsr_vtk_next(r, type, count, what, to);
}

int tsr_vtk_is_dataset(const uint8_t *head, size_t bytes, const char *type)
{
    static const char magic[] = "# vtk DataFile Version";
    tsr_text text = tsr_text_make(head, bytes), line;
    tsr_word word;
    if (bytes < sizeof magic - 1 || memcmp(head, magic, sizeof magic - 1)) return 0;
    if (!type) return 1;
    for (int k = 0; k < 3; k++)
        if (!tsr_text_line(&text, &line)) return 0;
    return tsr_text_word(&text, &word) && tsr_word_is_any_case(word, "DATASET") && tsr_text_word(&text, &word) && tsr_word_is_any_case(word, type);
}

tsr_status tsr_vtk_begin(tsr_vtk_text *r, const char *expected, tsr_word *dataset)
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
    TSR_TRY(tsr_vtk_word(r, &word, "ASCII or BINARY"));
    r->binary = tsr_word_is_any_case(word, "BINARY");
    if (!r->binary && !tsr_word_is_any_case(word, "ASCII")) TSR_TRY(tsr_vtk_wrong(r, word, "ASCII or BINARY"));
    TSR_TRY(tsr_vtk_expect(r, "DATASET"));
    TSR_TRY(tsr_vtk_word(r, dataset, expected));
    return TSR_OK;
}

static tsr_status take_array(tsr_vtk_text *r, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components,
                             int at_points, tsr_vtk_array_taker *take, void *user)
{
    if (components && tuples > INT64_MAX / components / 8)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: an array of %lld x %lld numbers", r->file, (long long)r->text.line, (long long)tuples,
                 (long long)components);
    int taken = 0;
    TSR_TRY(take(user, attribute, name, type, tuples, components, at_points, &taken));
    if (!taken) TSR_TRY(tsr_vtk_reals(r, type, tuples * components, "an array", NULL));
    return TSR_OK;
}

static tsr_status scalars(tsr_vtk_text *r, tsr_word attribute, int64_t tuples, int at_points, tsr_vtk_array_taker *take, void *user)
{
    tsr_text line;
    tsr_word name, word;
    tsr_vtk_number type;
    int64_t components = 1;
    TSR_TRY(tsr_vtk_word(r, &name, "the name of SCALARS"));
    TSR_TRY(tsr_vtk_type_of(r, &type));
    if (!tsr_text_line(&r->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends with SCALARS", r->file);
    const char *const end = line.end;
    if (tsr_text_word(&line, &word) && (tsr_word_integer(word, &components) != TSR_TEXT_OK || components < 1 || components > 4))
        TSR_TRY(tsr_vtk_wrong(r, word, "1 to 4 components"));
    const tsr_text here = r->text;
    if (tsr_text_word(&r->text, &word) && tsr_word_is_any_case(word, "LOOKUP_TABLE")) TSR_TRY(tsr_vtk_word(r, &word, "the name of a table"));
    else {
        r->text = here;
        if (r->binary) r->text.at = end; /* its numbers begin after the line that has been taken */
    }
    TSR_TRY(take_array(r, attribute, name, type, tuples, components, at_points, take, user));
    return TSR_OK;
}

/* METADATA lasts to the next empty line. */
static void metadata(tsr_vtk_text *r)
{
    tsr_text line;
    tsr_word word;
    (void)tsr_text_line(&r->text, &line); /* the rest of its own */
    while (tsr_text_line(&r->text, &line) && tsr_text_word(&line, &word)) continue;
}

/* Texts of a field, which are left out: of ASCII a line each; of BINARY behind their length, whose first two bits say how many bytes it has. */
static tsr_status texts(tsr_vtk_text *r, tsr_word name, int64_t count)
{
    char shown[32];
    tsr_text line;
    if (r->binary) TSR_TRY(tsr_vtk_begin_binary(r, 0, "texts"));
    else (void)tsr_text_line(&r->text, &line); /* the rest of that of the name */
    for (int64_t k = 0; k < count; k++) {
        TSR_READING(r->progress, k, (double)k / (double)count);
        if (!r->binary) {
            if (!tsr_text_line(&r->text, &line))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends after %lld of %lld texts", r->file, (long long)k, (long long)count);
            continue;
        }
        const int64_t left = r->text.end - r->text.at;
        const int head = left ? 8 >> ((uint8_t)*r->text.at >> 6) : 1;
        const uint64_t size = head <= left ? tsr_vtk_big_endian(r->text.at, head) & (UINT64_MAX >> (66 - 8 * head)) : UINT64_MAX;
        if (size > (uint64_t)(left - head) || head > left)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: text %lld of %lld is longer than the file", r->file, (long long)k, (long long)count);
        r->text.at += head + (int64_t)size;
    }
    tsr_vtk_name(name, shown, sizeof shown);
    tsr_remark("%s: the texts of the array '%s' are left out", r->file, shown);
    return TSR_OK;
}

static tsr_status field(tsr_vtk_text *r, tsr_word attribute, int at_points, tsr_vtk_array_taker *take, void *user)
{
    tsr_word name;
    int64_t arrays;
    TSR_TRY(tsr_vtk_word(r, &name, "the name of a FIELD"));
    TSR_TRY(tsr_vtk_count(r, "the number of arrays", &arrays));
    for (int64_t k = 0; k < arrays; k++) {
        tsr_vtk_number type;
        int64_t components, tuples;
        TSR_TRY(tsr_vtk_word(r, &name, "the name of an array"));
        if (tsr_word_is_any_case(name, "METADATA")) { /* of the array before */
            metadata(r);
            TSR_TRY(tsr_vtk_word(r, &name, "the name of an array"));
        }
        TSR_TRY(tsr_vtk_count(r, "the number of components", &components));
        TSR_TRY(tsr_vtk_count(r, "the number of tuples", &tuples));
        const tsr_text here = r->text;
        tsr_word word;
        if (tsr_text_word(&r->text, &word) && tsr_word_is_any_case(word, "string")) {
            if (components && tuples > INT64_MAX / components)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld x %lld texts", r->file, (long long)tuples, (long long)components);
            TSR_TRY(texts(r, name, tuples * components));
            continue;
        }
        r->text = here;
        TSR_TRY(tsr_vtk_type_of(r, &type));
        TSR_TRY(take_array(r, attribute, name, type, tuples, components, at_points, take, user));
    }
    return TSR_OK;
}

/* An attribute or section of point or cell data; the word has been read. */
tsr_status tsr_vtk_attribute(tsr_vtk_text *r, tsr_word word, int64_t tuples, int at_points, tsr_vtk_array_taker *take, void *user)
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
    const tsr_vtk_number byte = { TSR_VTK_N_U8, 1 };
    tsr_vtk_number type;
    tsr_word name;
    int64_t components;
    if (tsr_word_is_any_case(word, "SCALARS")) return scalars(r, word, tuples, at_points, take, user);
    if (tsr_word_is_any_case(word, "FIELD")) return field(r, word, at_points, take, user);
    if (tsr_word_is_any_case(word, "METADATA")) {
        metadata(r);
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "COLOR_SCALARS")) {
        TSR_TRY(tsr_vtk_word(r, &name, "a name"));
        TSR_TRY(tsr_vtk_count(r, "the number of components", &components));
        TSR_TRY(take_array(r, word, name, byte, tuples, components, at_points, take, user));
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "LOOKUP_TABLE")) {
        int64_t colours;
        TSR_TRY(tsr_vtk_word(r, &name, "a name"));
        TSR_TRY(tsr_vtk_count(r, "the number of colours", &colours));
        TSR_TRY(take_array(r, word, name, byte, colours, 4, 0, take, user));
        return TSR_OK;
    }
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        if (!tsr_word_is_any_case(word, plain[k].name)) continue;
        TSR_TRY(tsr_vtk_word(r, &name, "a name"));
        components = plain[k].components;
        if (!components) TSR_TRY(tsr_vtk_count(r, "the number of components", &components));
        TSR_TRY(tsr_vtk_type_of(r, &type));
        TSR_TRY(take_array(r, word, name, type, tuples, components, at_points, take, user));
        return TSR_OK;
    }
    TSR_TRY(tsr_vtk_wrong(r, word, "POINTS, CELLS, CELL_TYPES, POINT_DATA, CELL_DATA, FIELD or an attribute"));
    return TSR_OK;
}
