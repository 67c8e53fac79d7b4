/* flow/vtk_image.c: vectors of VTK's legacy image data. */
#include "flow/vtk_image.h"

#include <math.h>
#include <string.h>

#include "io/text.h"

typedef struct reader {
    tsr_input *input;
    const char *file;
    tsr_text text;
    int binary;
    int64_t size[3], points;
    double spacing[3], origin[3];
    tsr_volume **components; /* filled: [0] is not NULL */
} reader;

typedef enum kind { KIND_BIT, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT } kind;
typedef struct number {
    const char *name;
    kind kind;
    int bytes;
} number;
static const number numbers[] = { { "bit", KIND_BIT, 0 },           { "unsigned_char", KIND_UNSIGNED, 1 }, { "char", KIND_SIGNED, 1 },
                                  { "unsigned_short", KIND_UNSIGNED, 2 }, { "short", KIND_SIGNED, 2 },    { "unsigned_int", KIND_UNSIGNED, 4 },
                                  { "int", KIND_SIGNED, 4 },        { "unsigned_long", KIND_UNSIGNED, 8 }, { "long", KIND_SIGNED, 8 },
                                  { "vtktypeuint64", KIND_UNSIGNED, 8 }, { "vtktypeint64", KIND_SIGNED, 8 }, { "vtkIdType", KIND_SIGNED, 4 },
                                  { "float", KIND_FLOAT, 4 },       { "double", KIND_FLOAT, 8 } };

int tsr_vtk_image_is(tsr_input *input)
{
    static const char magic[] = "# vtk DataFile Version";
    const uint8_t *head;
    size_t bytes;
    return tsr_input_head(input, sizeof magic - 1, &head, &bytes) == TSR_OK && bytes == sizeof magic - 1 && !memcmp(head, magic, bytes);
}

static tsr_status take_word(reader *r, tsr_word *word, const char *expected)
{
    *word = (tsr_word){ "", 0 };
    if (!tsr_text_word(&r->text, word)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends at line %lld, expected %s", r->file, (long long)r->text.line, expected);
    return TSR_OK;
}
static tsr_status fail_word(const reader *r, tsr_word word, const char *expected)
{
    char shown[32];
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' given, expected %s", r->file, (long long)r->text.line, tsr_word_show(word, shown), expected);
}
static tsr_status take_integer(reader *r, int64_t least, int64_t most, const char *what, int64_t *value)
{
    tsr_word word;
    TSR_TRY(take_word(r, &word, what));
    if (tsr_word_integer(word, value) != TSR_TEXT_OK || *value < least || *value > most) TSR_TRY(fail_word(r, word, what));
    return TSR_OK;
}
static tsr_status take_reals(reader *r, const char *what, double value[3])
{
    for (int k = 0; k < 3; k++) {
        tsr_word word;
        TSR_TRY(take_word(r, &word, what));
        if (tsr_word_double(word, &value[k]) != TSR_TEXT_OK || !isfinite(value[k])) TSR_TRY(fail_word(r, word, what));
    }
    return TSR_OK;
}
static tsr_status take_type(reader *r, number *type)
{
    tsr_word word;
    TSR_TRY(take_word(r, &word, "a type of numbers"));
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (tsr_word_is_any_case(word, numbers[k].name)) {
            *type = numbers[k];
            return TSR_OK;
        }
    TSR_TRY(fail_word(r, word, "a type of numbers: char, short, int, long, unsigned_..., float or double"));
    return TSR_OK;
}
static void skip_line(reader *r)
{
    while (r->text.at < r->text.end && *r->text.at != '\n') r->text.at++;
    if (r->text.at < r->text.end) r->text.at++;
    r->text.line++;
}

static double real_of(const char *at, number type)
{
    uint64_t bits = 0;
    for (int k = 0; k < type.bytes; k++) bits = bits << 8 | (uint8_t)at[k];
    if (type.kind == KIND_FLOAT && type.bytes == 4) {
        const uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, 4);
        return (double)f;
    }
    if (type.kind == KIND_FLOAT) {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    if (type.kind == KIND_SIGNED) {
        const int shift = 64 - 8 * type.bytes;
        return (double)((int64_t)(bits << shift) >> shift);
    }
    return (double)bits;
}

/* `tuples` of `components` numbers; taken if `wanted`, else walked over. */
static tsr_status array(reader *r, number type, int64_t tuples, int64_t components, int wanted)
{
    if (components && tuples > INT64_MAX / components / 8) TSR_FAIL(TSR_ERROR_FORMAT, "%s: an array of %lld x %lld numbers", r->file, (long long)tuples, (long long)components);
    const int64_t count = tuples * components;
    if (r->binary) skip_line(r);
    const int64_t left = r->text.end - r->text.at, bytes = type.kind == KIND_BIT ? (count + 7) / 8 : count * type.bytes;
    if (r->binary ? bytes > left : count > left / 2 + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: an array of %lld numbers, the file has %lld bytes left", r->file, (long long)r->text.line,
                 (long long)count, (long long)left);
    wanted = wanted && type.kind != KIND_BIT;
    float *to[3] = { NULL, NULL, NULL };
    if (wanted) {
        const tsr_geometry g = tsr_geometry_make((tsr_vec3){ r->spacing[0], r->spacing[1], r->spacing[2] },
                                                 (tsr_vec3){ r->origin[0], r->origin[1], r->origin[2] }, TSR_SPACE_NONE);
        tsr_block memory[3];
        for (int k = 0; k < 3; k++) { /* counted against the reader's limit */
            TSR_TRY(tsr_input_allocate(r->input, 4 * tuples, "vectors", &memory[k]));
            TSR_TRY(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ r->size[0], r->size[1], r->size[2] }, &g, memory[k].data, memory[k].release, memory[k].user,
                                    &r->components[k]));
            to[k] = (float *)r->components[k]->data;
        }
    }
    for (int64_t k = 0; k < count && (wanted || !r->binary); k++) {
        double value;
        if (r->binary) value = real_of(r->text.at + k * type.bytes, type);
        else {
            tsr_word word;
            TSR_TRY(take_word(r, &word, "a number"));
            if (tsr_word_double(word, &value) != TSR_TEXT_OK) TSR_TRY(fail_word(r, word, "a number"));
        }
        if (wanted) to[k % 3][k / 3] = (float)value;
    }
    if (r->binary) r->text.at += bytes;
    return TSR_OK;
}

static tsr_status header(reader *r)
{
    tsr_text line;
    tsr_word word;
    if (!tsr_text_line(&r->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file is empty", r->file);
    if (!tsr_text_line(&r->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends with its first line", r->file);
    TSR_TRY(take_word(r, &word, "ASCII or BINARY"));
    r->binary = tsr_word_is_any_case(word, "BINARY");
    if (!r->binary && !tsr_word_is_any_case(word, "ASCII")) TSR_TRY(fail_word(r, word, "ASCII or BINARY"));
    TSR_TRY(take_word(r, &word, "DATASET"));
    if (!tsr_word_is_any_case(word, "DATASET")) TSR_TRY(fail_word(r, word, "DATASET"));
    TSR_TRY(take_word(r, &word, "STRUCTURED_POINTS"));
    if (!tsr_word_is_any_case(word, "STRUCTURED_POINTS")) TSR_TRY(fail_word(r, word, "STRUCTURED_POINTS (image data: vectors on a regular grid)"));
    return TSR_OK;
}

/* What VTK says about an array: lines up to an empty one. */
static void skip_metadata(reader *r)
{
    tsr_text line;
    tsr_word word;
    tsr_text_line(&r->text, &line);
    while (tsr_text_line(&r->text, &line) && tsr_text_word(&line, &word)) continue;
}

static tsr_status field(reader *r, int at_points)
{
    tsr_word name;
    int64_t arrays;
    TSR_TRY(take_word(r, &name, "the name of a FIELD"));
    TSR_TRY(take_integer(r, 0, INT32_MAX, "the number of arrays", &arrays));
    for (int64_t k = 0; k < arrays; k++) {
        number type;
        int64_t components, tuples;
        TSR_TRY(take_word(r, &name, "the name of an array"));
        if (tsr_word_is_any_case(name, "METADATA")) { /* of the array before */
            skip_metadata(r);
            TSR_TRY(take_word(r, &name, "the name of an array"));
        }
        TSR_TRY(take_integer(r, 1, INT32_MAX, "the number of components", &components));
        TSR_TRY(take_integer(r, 0, INT64_MAX / 64, "the number of tuples", &tuples));
        TSR_TRY(take_type(r, &type));
        TSR_TRY(array(r, type, tuples, components, at_points && !r->components[0] && components == 3 && tuples == r->points));
    }
    return TSR_OK;
}

static tsr_status sections(reader *r)
{
    static const char *const vectors[] = { "VECTORS", "NORMALS" };
    int at_points = 0, sized = 0;
    int64_t tuples = 0;
    tsr_word word;
    while (!r->components[0] && tsr_text_word(&r->text, &word)) {
        number type;
        if (tsr_word_is_any_case(word, "DIMENSIONS")) {
            for (int k = 0; k < 3; k++) TSR_TRY(take_integer(r, 1, INT32_MAX, "an extent from 1 on", &r->size[k]));
            if (r->size[0] > INT64_MAX / 64 / r->size[1] / r->size[2]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: extents whose product is beyond any file", r->file);
            r->points = r->size[0] * r->size[1] * r->size[2];
            sized = 1;
        } else if (tsr_word_is_any_case(word, "SPACING") || tsr_word_is_any_case(word, "ASPECT_RATIO")) {
            TSR_TRY(take_reals(r, "a spacing", r->spacing));
            for (int k = 0; k < 3; k++)
                if (!(r->spacing[k] > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: SPACING %g along %c, expected a positive length", r->file, r->spacing[k], "xyz"[k]);
        } else if (tsr_word_is_any_case(word, "ORIGIN")) TSR_TRY(take_reals(r, "an origin", r->origin));
        else if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
            at_points = tsr_word_is_any_case(word, "POINT_DATA");
            TSR_TRY(take_integer(r, 0, INT64_MAX / 64, "the number of values", &tuples));
            if (at_points && (!sized || tuples != r->points))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINT_DATA %lld, expected the %lld points of DIMENSIONS", r->file, (long long)tuples, (long long)r->points);
        } else if (tsr_word_is_any_case(word, vectors[0]) || tsr_word_is_any_case(word, vectors[1])) {
            const int own = tsr_word_is_any_case(word, vectors[0]);
            TSR_TRY(take_word(r, &word, "the name of VECTORS"));
            TSR_TRY(take_type(r, &type));
            TSR_TRY(array(r, type, tuples, 3, at_points && own));
        } else if (tsr_word_is_any_case(word, "SCALARS")) {
            tsr_text line;
            int64_t components = 1;
            TSR_TRY(take_word(r, &word, "the name of SCALARS"));
            TSR_TRY(take_type(r, &type));
            if (!tsr_text_line(&r->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends with SCALARS", r->file);
            const char *const end = line.end;
            if (tsr_text_word(&line, &word) && (tsr_word_integer(word, &components) != TSR_TEXT_OK || components < 1 || components > 4))
                TSR_TRY(fail_word(r, word, "1 to 4 components"));
            const tsr_text here = r->text;
            if (tsr_text_word(&r->text, &word) && tsr_word_is_any_case(word, "LOOKUP_TABLE")) TSR_TRY(take_word(r, &word, "the name of a table"));
            else {
                r->text = here;
                if (r->binary) r->text.at = end;
            }
            TSR_TRY(array(r, type, tuples, components, at_points && components == 3));
        } else if (tsr_word_is_any_case(word, "FIELD")) TSR_TRY(field(r, at_points));
        else if (tsr_word_is_any_case(word, "METADATA")) {
            skip_metadata(r);
        } else TSR_TRY(fail_word(r, word, "DIMENSIONS, SPACING, ORIGIN, POINT_DATA, VECTORS, SCALARS or FIELD"));
    }
    if (!r->components[0]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no array of three numbers at each point, expected VECTORS", r->file);
    return TSR_OK;
}

tsr_status tsr_vtk_image_read(tsr_input *input, tsr_volume *components[3])
{
    const uint8_t *bytes;
    size_t size;
    reader r = { .input = input, .file = tsr_input_name(input), .spacing = { 1, 1, 1 }, .components = components };
    tsr_status status;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.text = tsr_text_make(bytes, size);
    TSR_TRY(header(&r));
    TSR_TRY_GOTO(sections(&r), fail);
    return TSR_OK;
fail:
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return status;
}
