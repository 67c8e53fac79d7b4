/* Source: "Definition of NRRD File Format", teem.sourceforge.net/nrrd/format.html (versions 1 to 5). */
#include "formats/volumes/nrrd_header.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const tsr_nrrd_space spaces[] = {
    { "right-anterior-superior", "RAS", 3, TSR_SPACE_RAS, { 1, 1, 1 } }, { "left-posterior-superior", "LPS", 3, TSR_SPACE_LPS, { 1, 1, 1 } },
    { "left-anterior-superior", "LAS", 3, TSR_SPACE_RAS, { -1, 1, 1 } }, { "scanner-xyz", "", 3, TSR_SPACE_NONE, { 1, 1, 1 } },
    { "3D-right-handed", "", 3, TSR_SPACE_NONE, { 1, 1, 1 } },           { "3D-left-handed", "", 3, TSR_SPACE_NONE, { 1, 1, 1 } },
    { "right-anterior-superior-time", "RAST", 4, TSR_SPACE_NONE, { 0 } }, { "left-posterior-superior-time", "LPST", 4, TSR_SPACE_NONE, { 0 } },
    { "left-anterior-superior-time", "LAST", 4, TSR_SPACE_NONE, { 0 } }, { "scanner-xyz-time", "", 4, TSR_SPACE_NONE, { 0 } },
    { "3D-right-handed-time", "", 4, TSR_SPACE_NONE, { 0 } },            { "3D-left-handed-time", "", 4, TSR_SPACE_NONE, { 0 } },
};

const tsr_nrrd_space *tsr_nrrd_space_find(const char *name)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (!strcasecmp(name, spaces[i].name) || (*spaces[i].abbreviation && !strcasecmp(name, spaces[i].abbreviation))) return &spaces[i];
    return NULL;
}

static const struct { const char *name; tsr_dtype dtype; } types[] = {
    { "signed char", TSR_I8 },
    { "int8", TSR_I8 },
    { "int8_t", TSR_I8 },
    { "uchar", TSR_U8 },
    { "unsigned char", TSR_U8 },
    { "uint8", TSR_U8 },
    { "uint8_t", TSR_U8 },
    { "short", TSR_I16 },
    { "short int", TSR_I16 },
    { "signed short", TSR_I16 },
    { "signed short int", TSR_I16 },
    { "int16", TSR_I16 },
    { "int16_t", TSR_I16 },
    { "ushort", TSR_U16 },
    { "unsigned short", TSR_U16 },
    { "unsigned short int", TSR_U16 },
    { "uint16", TSR_U16 },
    { "uint16_t", TSR_U16 },
    { "int", TSR_I32 },
    { "signed int", TSR_I32 },
    { "int32", TSR_I32 },
    { "int32_t", TSR_I32 },
    { "uint", TSR_U32 },
    { "unsigned int", TSR_U32 },
    { "uint32", TSR_U32 },
    { "uint32_t", TSR_U32 },
    { "longlong", TSR_I64 },
    { "long long", TSR_I64 },
    { "long long int", TSR_I64 },
    { "signed long long", TSR_I64 },
    { "signed long long int", TSR_I64 },
    { "int64", TSR_I64 },
    { "int64_t", TSR_I64 },
    { "ulonglong", TSR_U64 },
    { "unsigned long long", TSR_U64 },
    { "unsigned long long int", TSR_U64 },
    { "uint64", TSR_U64 },
    { "uint64_t", TSR_U64 },
    { "float", TSR_F32 },
    { "double", TSR_F64 },
};

/* ---- one field ------------------------------------------------------------------------------------------------------------------- */

struct parser {
    const tsr_input *input;
    tsr_nrrd *h;
    char field[64];
    const char *value; /* without blanks at the ends */
};

static tsr_status bad(const struct parser *p, const char *expected)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD field '%s' is '%.60s', expected %s", tsr_input_name(p->input), p->field, p->value, expected);
}

static tsr_status one_integer(const struct parser *p, int64_t lowest, int64_t highest, const char *expected, int64_t *number)
{
    if (tsr_word_integer((tsr_word){ p->value, strlen(p->value) }, number) != TSR_TEXT_OK || *number < lowest || *number > highest)
        return bad(p, expected);
    return TSR_OK;
}

static tsr_status need_dimension(const struct parser *p)
{
    if (!p->h->axes) TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD field '%s' comes before 'dimension'", tsr_input_name(p->input), p->field);
    return TSR_OK;
}

/* One word per axis; store() gives 0 for a word that is wrong. */
static tsr_status per_axis(const struct parser *p, int (*store)(tsr_nrrd_axis *axis, tsr_word word), const char *expected)
{
    TSR_TRY(need_dimension(p));
    tsr_text text = tsr_text_make(p->value, strlen(p->value));
    tsr_word word;
    for (int64_t i = 0; i < p->h->axes; i++)
        if (!tsr_text_word(&text, &word) || !store(&p->h->axis[i], word)) return bad(p, expected);
    if (tsr_text_word(&text, &word)) return bad(p, expected);
    return TSR_OK;
}

static int store_size(tsr_nrrd_axis *axis, tsr_word word) { return tsr_word_integer(word, &axis->size) == TSR_TEXT_OK && axis->size > 0; }
static int store_spacing(tsr_nrrd_axis *axis, tsr_word word)
{
    return tsr_word_double(word, &axis->spacing) == TSR_TEXT_OK && (isnan(axis->spacing) || (axis->spacing != 0 && isfinite(axis->spacing)));
}
static int store_min(tsr_nrrd_axis *axis, tsr_word word) { return tsr_word_double(word, &axis->min) == TSR_TEXT_OK; }
static int store_max(tsr_nrrd_axis *axis, tsr_word word) { return tsr_word_double(word, &axis->max) == TSR_TEXT_OK; }
static int store_center(tsr_nrrd_axis *axis, tsr_word word)
{
    axis->cell = tsr_word_is_any_case(word, "cell");
    return axis->cell || tsr_word_is_any_case(word, "node") || tsr_word_is(word, "???") || tsr_word_is_any_case(word, "none");
}
static int store_kind(tsr_nrrd_axis *axis, tsr_word word)
{
    snprintf(axis->kind, sizeof axis->kind, "%.*s", (int)word.size, word.text);
    return 1;
}

/* "(x,y,z)" or "(x,y)", blanks allowed inside; *text moves behind it. Missing components are 0. */
static int parse_vector(const char **text, int64_t dimension, double vector[3])
{
    const char *open = *text + strspn(*text, " \t"), *close = *open == '(' ? strchr(open, ')') : NULL;
    char inside[256];
    if (!close || (size_t)(close - open) >= sizeof inside) return 0;
    memcpy(inside, open + 1, (size_t)(close - open - 1));
    inside[close - open - 1] = 0;
    vector[0] = vector[1] = vector[2] = 0;
    *text = close + 1;
    return tsr_parse_numbers(inside, vector, (int)dimension);
}

static tsr_status need_space(const struct parser *p)
{
    if (!p->h->space_dimension)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD field '%s' comes before 'space' or 'space dimension'", tsr_input_name(p->input), p->field);
    return TSR_OK;
}

static tsr_status parse_directions(const struct parser *p)
{
    TSR_TRY(need_dimension(p));
    TSR_TRY(need_space(p));
    const char *at = p->value;
    for (int64_t i = 0; i < p->h->axes; i++) {
        tsr_nrrd_axis *axis = &p->h->axis[i];
        at += strspn(at, " \t");
        axis->has_direction = *at == '(';
        if (axis->has_direction ? !parse_vector(&at, p->h->space_dimension, axis->direction) : strncasecmp(at, "none", 4) != 0)
            return bad(p, "a vector such as (1,0,0), or none, for every axis");
        if (!axis->has_direction) at += 4; /* "none" */
    }
    if (at[strspn(at, " \t")]) return bad(p, "one vector for every axis");
    p->h->directions_given = 1;
    return TSR_OK;
}

static tsr_status parse_space(const struct parser *p)
{
    const tsr_nrrd_space *space = tsr_nrrd_space_find(p->value);
    if (!space) return bad(p, "a space such as left-posterior-superior");
    if (space->dimension != 3)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: NRRD field 'space' is '%s', which has a time axis: only three-dimensional spaces are read",
                 tsr_input_name(p->input), p->value);
    snprintf(p->h->space, sizeof p->h->space, "%s", space->name);
    p->h->space_dimension = 3;
    return TSR_OK;
}

static tsr_status parse_type(const struct parser *p)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcasecmp(p->value, types[i].name)) {
            p->h->layout.dtype = types[i].dtype;
            p->h->type_given = 1;
            return TSR_OK;
        }
    if (!strcasecmp(p->value, "block"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: NRRD field 'type' is 'block', expected an integer or float type", tsr_input_name(p->input));
    return bad(p, "a type such as uint8, short or float");
}

static tsr_status parse_encoding(const struct parser *p)
{
    static const struct { const char *name; tsr_encoding encoding;
    } encodings[] = {
        { "raw", TSR_ENCODING_RAW },   { "gzip", TSR_ENCODING_GZIP },  { "gz", TSR_ENCODING_GZIP },
        { "txt", TSR_ENCODING_ASCII }, { "text", TSR_ENCODING_ASCII }, { "ascii", TSR_ENCODING_ASCII },
    };
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (!strcasecmp(p->value, encodings[i].name)) {
            p->h->layout.encoding = encodings[i].encoding;
            return TSR_OK;
        }
    if (!strcasecmp(p->value, "hex") || !strcasecmp(p->value, "bzip2") || !strcasecmp(p->value, "bz2"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: NRRD field 'encoding' is '%s', expected raw, gzip or ascii", tsr_input_name(p->input), p->value);
    return bad(p, "raw, gzip or ascii");
}

static tsr_status parse_data_file(const struct parser *p)
{
    tsr_nrrd *h = p->h;
    if (h->files.count || h->list || h->pattern) return bad(p, "this field only once");
    if (!strncmp(p->value, "LIST", 4) && (!p->value[4] || p->value[4] == ' ')) {
        h->list = 1;
    } else if (strchr(p->value, '%') && strchr(p->value, ' ')) {
        h->pattern = strdup(p->value);
        if (!h->pattern) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(p->input));
    } else {
        if (!*p->value) return bad(p, "a file name");
        TSR_TRY(tsr_names_add(&h->files, p->value, strlen(p->value)));
    }
    return TSR_OK;
}

static tsr_status parse_endian(const struct parser *p)
{
    p->h->endian = !strcasecmp(p->value, "little") ? 1 : !strcasecmp(p->value, "big") ? 2 : 0;
    return p->h->endian ? TSR_OK : bad(p, "little or big");
}

static int is(const struct parser *p, const char *name, const char *alias)
{
    return !strcasecmp(p->field, name) || (alias && !strcasecmp(p->field, alias));
}

/* *known = 0 for a field that means nothing to tessera. Those that are understood and must come back when written stay "unknown" too. */
static tsr_status parse_field(const struct parser *p, int *known)
{
    tsr_nrrd *h = p->h;
    *known = 1;
    if (is(p, "dimension", NULL)) return one_integer(p, 1, NRRD_AXES, "1 to 16 axes", &h->axes);
    if (is(p, "type", NULL)) return parse_type(p);
    if (is(p, "encoding", NULL)) return parse_encoding(p);
    if (is(p, "endian", NULL)) return parse_endian(p);
    if (is(p, "space", NULL)) return parse_space(p);
    if (is(p, "space dimension", NULL)) return one_integer(p, 1, 3, "1 to 3: only three-dimensional spaces are read", &h->space_dimension);
    if (is(p, "space directions", NULL)) return parse_directions(p);
    if (is(p, "data file", "datafile")) return parse_data_file(p);
    if (is(p, "line skip", "lineskip")) return one_integer(p, 0, INT64_MAX, "0 or more lines", &h->layout.lines);
    if (is(p, "byte skip", "byteskip")) return one_integer(p, -1, INT64_MAX, "-1 or more bytes", &h->layout.skip);
    if (is(p, "spacings", NULL)) return per_axis(p, store_spacing, "one number other than 0 per axis");
    if (is(p, "axis mins", "axismins")) return per_axis(p, store_min, "one number per axis");
    if (is(p, "axis maxs", "axismaxs")) return per_axis(p, store_max, "one number per axis");
    if (is(p, "space origin", NULL)) {
        const char *at = p->value;
        TSR_TRY(need_space(p));
        h->origin_given = 1;
        return parse_vector(&at, h->space_dimension, h->origin) && !at[strspn(at, " \t")] ? TSR_OK : bad(p, "a vector such as (0,0,0)");
    }
    if (is(p, "sizes", NULL)) {
        h->sizes_given = 1;
        return per_axis(p, store_size, "one positive number per axis");
    }
    *known = 0;
    if (is(p, "centers", "centerings")) return per_axis(p, store_center, "cell, node or ??? per axis");
    if (is(p, "kinds", NULL)) return per_axis(p, store_kind, "one word per axis");
    return TSR_OK;
}

/* ---- the whole header ------------------------------------------------------------------------------------------------------------ */

/* Key/value pairs write a line end as \n and a backslash as \\. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\\' && (from[1] == 'n' || from[1] == '\\')) {
            from++;
            *to++ = *from == 'n' ? '\n' : '\\';
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
}

static tsr_status parse_line(struct parser *p, char *line, tsr_nrrd_keep keep, void *user)
{
    char *pair = strstr(line, ":="), *colon = strstr(line, ": ");
    if (!colon && *line && line[strlen(line) - 1] == ':') colon = line + strlen(line) - 1; /* an empty value */
    if (pair && (!colon || pair < colon)) {
        *pair = 0;
        unescape(pair + 2);
        return keep(user, line, pair + 2);
    }
    if (!colon) TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD header line '%.60s' is neither 'field: value' nor 'key:=value'", tsr_input_name(p->input), line);
    *colon = 0;
    char *value = colon + 1, *end;
    value += strspn(value, " \t");
    for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t'); end--) end[-1] = 0;
    snprintf(p->field, sizeof p->field, "%.63s", line);
    p->value = value;
    int known;
    TSR_TRY(parse_field(p, &known));
    if (known) return TSR_OK;
    char key[80];
    snprintf(key, sizeof key, "nrrd.%s", p->field);
    return keep(user, key, value);
}

static tsr_status expand_files(const tsr_input *input, tsr_nrrd *h, tsr_text *text)
{
    if (h->list) {
        tsr_text line;
        while (tsr_text_line(text, &line)) {
            while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t')) line.end--;
            if (line.end > line.at) TSR_TRY(tsr_names_add(&h->files, line.at, (size_t)(line.end - line.at)));
        }
    } else if (h->pattern) {
        char *blank = strchr(h->pattern, ' ');
        double numbers[4];
        *blank = 0;
        if (!tsr_parse_numbers(blank + 1, numbers, 3) && !tsr_parse_numbers(blank + 1, numbers, 4))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD field 'data file' is '%.60s %.40s', expected a pattern and three whole numbers",
                     tsr_input_name(input), h->pattern, blank + 1);
        for (int i = 0; i < 3; i++)
            if (!(fabs(numbers[i]) < 0x1p31) || numbers[i] != floor(numbers[i]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD field 'data file' counts with %g, expected whole numbers below 2^31", tsr_input_name(input),
                         numbers[i]);
        TSR_TRY(tsr_names_add_pattern(&h->files, input, h->pattern, (int64_t)numbers[0], (int64_t)numbers[1], (int64_t)numbers[2], 65536));
    }
    return TSR_OK;
}

tsr_status tsr_nrrd_parse(const tsr_input *input, const uint8_t *bytes, size_t size, tsr_nrrd *h, tsr_nrrd_keep keep, void *user)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    struct parser parser = { .input = input, .h = h };
    char copy[NRRD_FIELD_BYTES];
    memset(h, 0, sizeof *h);
    h->layout.packed = -1;
    for (int i = 0; i < NRRD_AXES; i++) h->axis[i].spacing = h->axis[i].min = h->axis[i].max = (double)NAN;
    if (!tsr_text_line(&text, &line) || line.end - line.at < 8 || memcmp(line.at, "NRRD000", 7) || line.at[7] < '1' || line.at[7] > '5')
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not an NRRD file: expected NRRD0001 to NRRD0005 in the first line", tsr_input_name(input));
    while (tsr_text_line(&text, &line)) {
        size_t length = (size_t)(line.end - line.at);
        if (!length) break; /* an empty line ends the header */
        if (*line.at == '#') continue;
        char *own = length < sizeof copy ? copy : (char *)malloc(length + 1); /* a long value is a key's, such as a table of labels */
        if (!own) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
        memcpy(own, line.at, length);
        own[length] = 0;
        tsr_status status = memchr(own, 0, length)
                                ? TSR_FAILED(TSR_ERROR_FORMAT, "%s: a line of the NRRD header holds a zero byte", tsr_input_name(input))
                                : parse_line(&parser, own, keep, user);
        if (own != copy) free(own);
        TSR_TRY(status);
        if (h->list) break; /* the rest are file names */
    }
    h->end = (size_t)(text.at - (const char *)bytes);
    TSR_TRY(expand_files(input, h, &text));
    if (!h->axes || !h->sizes_given || !h->type_given)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the NRRD header lacks the field '%s'", tsr_input_name(input),
                 !h->axes          ? "dimension"
                 : !h->sizes_given ? "sizes"
                                   : "type");
    if (!h->endian && h->layout.encoding != TSR_ENCODING_ASCII && tsr_dtype_size(h->layout.dtype) > 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the NRRD header lacks the field 'endian'", tsr_input_name(input));
    h->layout.swap = h->endian && (h->endian == 2) != tsr_host_big_endian();
    return TSR_OK;
}

void tsr_nrrd_free(tsr_nrrd *h)
{
    tsr_names_free(&h->files);
    free(h->pattern);
    h->pattern = NULL;
}
