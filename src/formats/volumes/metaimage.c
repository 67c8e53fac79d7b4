/* MetaImage: .mha with the voxels attached, .mhd with them in other files; raw, zlib or text. World axes are LPS, as in ITK.
 *
 * The file holds spacing and unit directions apart: an oblique affine comes back within one unit in the last place of each factor. */
#include "formats/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DIMS = 10, LINE_BYTES = 4096 };

struct meta_header {
    const tsr_input *input;
    int64_t dims, size[DIMS], channels;
    double spacing[DIMS], offset[DIMS], matrix[DIMS * DIMS], slope, intercept;
    int size_given, spacing_given, matrix_given, type_given, big_endian;
    tsr_layout layout;
    tsr_names files;
    int local;
    size_t end;
    tsr_volume *holder; /* keeps the metadata until the volume exists */
};

static int recognise(const tsr_signature *s)
{
    static const char *const firsts[] = { "ObjectType", "NDims", "Comment", "ObjectSubType", "TransformType" };
    tsr_text text = tsr_text_make(s->head, s->head_bytes);
    tsr_word word, equals, value;
    if (!tsr_text_word(&text, &word) || !tsr_text_word(&text, &equals) || !tsr_word_is(equals, "=") || !tsr_text_word(&text, &value))
        return TSR_NOT_MINE;
    if (tsr_word_is(word, "ObjectType")) return tsr_word_is(value, "Image") ? TSR_SURELY_MINE : TSR_NOT_MINE;
    for (size_t i = 1; i < sizeof firsts / sizeof firsts[0]; i++)
        if (tsr_word_is(word, firsts[i])) return TSR_MAYBE_MINE;
    return TSR_NOT_MINE;
}

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *name; tsr_dtype dtype; } types[] = {
    { "MET_CHAR", TSR_I8 },  { "MET_UCHAR", TSR_U8 },      { "MET_SHORT", TSR_I16 },      { "MET_USHORT", TSR_U16 }, { "MET_INT", TSR_I32 },
    { "MET_UINT", TSR_U32 }, { "MET_LONG_LONG", TSR_I64 }, { "MET_ULONG_LONG", TSR_U64 }, { "MET_FLOAT", TSR_F32 },  { "MET_DOUBLE", TSR_F64 },
    { "MET_LONG", TSR_I32 }, { "MET_ULONG", TSR_U32 }, /* 4 bytes in MetaIO, whatever the machine */
};
enum { TYPES = (int)(sizeof types / sizeof types[0]) };

static tsr_status bad(const struct meta_header *h, const char *key, const char *value, const char *expected)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: MetaImage field '%s' is '%.60s', expected %s", tsr_input_name(h->input), key, value, expected);
}

static tsr_status numbers(const struct meta_header *h, const char *key, const char *value, double *to, int64_t count)
{
    if (!h->dims) TSR_FAIL(TSR_ERROR_FORMAT, "%s: MetaImage field '%s' comes before 'NDims'", tsr_input_name(h->input), key);
    return tsr_parse_numbers(value, to, (int)count)
               ? TSR_OK
               : bad(h, key, value, count == h->dims ? "one number per dimension" : "dimensions x dimensions numbers");
}

static tsr_status integer(const struct meta_header *h, const char *key, const char *value, int64_t lowest, int64_t highest, int64_t *to)
{
    char expected[64];
    snprintf(expected, sizeof expected, "a whole number from %lld", (long long)lowest);
    if (tsr_word_integer((tsr_word){ value, strlen(value) }, to) != TSR_TEXT_OK || *to < lowest || *to > highest) return bad(h, key, value, expected);
    return TSR_OK;
}

static tsr_status boolean(const struct meta_header *h, const char *key, const char *value, int *to)
{
    *to = *value == 'T' || *value == 't' || *value == '1';
    return *to || *value == 'F' || *value == 'f' || *value == '0' ? TSR_OK : bad(h, key, value, "True or False");
}

static int one_of(const char *key, const char *a, const char *b, const char *c)
{
    return !strcasecmp(key, a) || (b && !strcasecmp(key, b)) || (c && !strcasecmp(key, c));
}

static tsr_status parse_size(struct meta_header *h, const char *value)
{
    tsr_text text = tsr_text_make(value, strlen(value));
    tsr_word word;
    for (int64_t i = 0; i < h->dims; i++)
        if (!tsr_text_word(&text, &word) || tsr_word_integer(word, &h->size[i]) != TSR_TEXT_OK || h->size[i] < 1)
            return bad(h, "DimSize", value, "one positive number per dimension");
    h->size_given = h->dims > 0 && !tsr_text_word(&text, &word);
    return h->size_given ? TSR_OK : bad(h, "DimSize", value, "one positive number per dimension, after NDims");
}

/* LOCAL, a name, "LIST" with the names on the lines that follow, or "name%03d.raw first last step". */
static tsr_status parse_data_file(struct meta_header *h, const char *value, tsr_text *rest)
{
    double range[3];
    const char *blank = strchr(value, ' ');
    h->local = !strcasecmp(value, "LOCAL");
    if (h->local) return TSR_OK;
    if (!strncasecmp(value, "LIST", 4) && (!value[4] || value[4] == ' ')) {
        tsr_text line;
        while (tsr_text_line(rest, &line)) {
            while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t')) line.end--;
            if (line.end > line.at) TSR_TRY(tsr_names_add(&h->files, line.at, (size_t)(line.end - line.at)));
        }
        return h->files.count ? TSR_OK : bad(h, "ElementDataFile", value, "file names on the lines that follow");
    }
    if (strchr(value, '%') && blank && tsr_parse_numbers(blank, range, 3)) {
        char pattern[512];
        snprintf(pattern, sizeof pattern, "%.*s", (int)(blank - value), value);
        for (int i = 0; i < 3; i++)
            if (!(fabs(range[i]) < 0x1p31) || range[i] != floor(range[i]))
                return bad(h, "ElementDataFile", value, "whole numbers behind the pattern");
        return tsr_names_add_pattern(&h->files, h->input, pattern, (int64_t)range[0], (int64_t)range[1], (int64_t)range[2], 65536);
    }
    if (!*value) return bad(h, "ElementDataFile", value, "LOCAL, LIST or a file name");
    return tsr_names_add(&h->files, value, strlen(value));
}

static tsr_status parse_type(struct meta_header *h, const char *value)
{
    for (int i = 0; i < TYPES; i++)
        if (!strcasecmp(value, types[i].name)) {
            h->layout.dtype = types[i].dtype;
            h->type_given = 1;
            return TSR_OK;
        }
    return bad(h, "ElementType", value, "MET_UCHAR, MET_SHORT, MET_FLOAT or the like");
}

static tsr_status parse_field(struct meta_header *h, const char *key, const char *value, tsr_text *rest)
{
    int yes;
    if (one_of(key, "ObjectType", NULL, NULL)) return !strcasecmp(value, "Image") ? TSR_OK : bad(h, key, value, "Image");
    if (one_of(key, "NDims", NULL, NULL)) return integer(h, key, value, 1, DIMS, &h->dims);
    if (one_of(key, "DimSize", NULL, NULL)) return parse_size(h, value);
    if (one_of(key, "ElementType", NULL, NULL)) return parse_type(h, value);
    if (one_of(key, "ElementNumberOfChannels", NULL, NULL)) return integer(h, key, value, 1, INT64_MAX, &h->channels);
    if (one_of(key, "ElementSpacing", NULL, NULL)) {
        h->spacing_given = 2;
        return numbers(h, key, value, h->spacing, h->dims);
    }
    if (one_of(key, "ElementSize", NULL, NULL)) { /* the extent of a sample: stands in where the spacing is missing */
        if (h->spacing_given == 2) return TSR_OK;
        h->spacing_given = 1;
        return numbers(h, key, value, h->spacing, h->dims);
    }
    if (one_of(key, "Offset", "Position", "Origin")) return numbers(h, key, value, h->offset, h->dims);
    if (one_of(key, "TransformMatrix", "Rotation", "Orientation")) {
        h->matrix_given = 1;
        return numbers(h, key, value, h->matrix, h->dims * h->dims);
    }
    if (one_of(key, "BinaryDataByteOrderMSB", "ElementByteOrderMSB", NULL)) return boolean(h, key, value, &h->big_endian);
    if (one_of(key, "BinaryData", NULL, NULL)) {
        TSR_TRY(boolean(h, key, value, &yes));
        if (!yes) h->layout.encoding = TSR_ENCODING_ASCII;
        return TSR_OK;
    }
    if (one_of(key, "CompressedData", NULL, NULL)) {
        TSR_TRY(boolean(h, key, value, &yes));
        if (yes) h->layout.encoding = TSR_ENCODING_ZLIB;
        return TSR_OK;
    }
    if (one_of(key, "CompressedDataSize", NULL, NULL)) return integer(h, key, value, 0, INT64_MAX, &h->layout.packed);
    if (one_of(key, "HeaderSize", NULL, NULL)) return integer(h, key, value, -1, INT64_MAX, &h->layout.skip);
    if (one_of(key, "ElementDataFile", NULL, NULL)) return parse_data_file(h, value, rest);
    if (one_of(key, "ElementToIntensityFunctionSlope", NULL, NULL))
        return tsr_parse_numbers(value, &h->slope, 1) ? TSR_OK : bad(h, key, value, "a number");
    if (one_of(key, "ElementToIntensityFunctionOffset", NULL, NULL))
        return tsr_parse_numbers(value, &h->intercept, 1) ? TSR_OK : bad(h, key, value, "a number");
    if (one_of(key, "AnatomicalOrientation", "CenterOfRotation", NULL)) return TSR_OK; /* follow from the matrix, or mean nothing for an image */
    char name[96]; /* names with a dot are other formats' or the user's own */
    snprintf(name, sizeof name, "%s%.64s", strchr(key, '.') ? "" : "metaimage.", key);
    return tsr_volume_set_meta(h->holder, name, value);
}

static tsr_status parse_header(struct meta_header *h, const uint8_t *bytes, size_t size)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    h->layout.packed = -1;
    h->channels = 1;
    h->slope = 1;
    for (int i = 0; i < DIMS; i++) h->spacing[i] = 1;
    while (tsr_text_line(&text, &line)) {
        char copy[LINE_BYTES], *equals, *value, *end;
        size_t length = (size_t)(line.end - line.at);
        if (length >= sizeof copy || memchr(line.at, 0, length))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld of the MetaImage header is no text of less than %d characters", tsr_input_name(h->input),
                     (long long)line.line, LINE_BYTES);
        memcpy(copy, line.at, length);
        copy[length] = 0;
        if (!copy[strspn(copy, " \t")]) continue;
        equals = strchr(copy, '=');
        if (!equals) equals = strchr(copy, ':'); /* MetaIO takes both */
        if (!equals) TSR_FAIL(TSR_ERROR_FORMAT, "%s: MetaImage header line '%.60s' is not 'Key = value'", tsr_input_name(h->input), copy);
        *equals = 0;
        for (end = equals; end > copy && (end[-1] == ' ' || end[-1] == '\t'); end--) end[-1] = 0;
        value = equals + 1 + strspn(equals + 1, " \t");
        for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t'); end--) end[-1] = 0;
        TSR_TRY(parse_field(h, copy + strspn(copy, " \t"), value, &text));
        if (h->local || h->files.count) { /* the last field */
            h->end = (size_t)(text.at - (const char *)bytes);
            return TSR_OK;
        }
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the MetaImage header lacks the field 'ElementDataFile'", tsr_input_name(h->input));
}

static tsr_status read_geometry(const struct meta_header *h, tsr_geometry *g)
{
    *g = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_LPS);
    int dims = h->dims < 3 ? (int)h->dims : 3;
    for (int c = 0; c < dims; c++) {
        if (!(h->spacing[c] > 0) || !isfinite(h->spacing[c]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: MetaImage field 'ElementSpacing' is %g for axis %d, expected a positive number", tsr_input_name(h->input),
                     h->spacing[c], c);
        for (int r = 0; r < dims; r++) /* the matrix lists the directions one after another */
            g->affine[r][c] = (h->matrix_given ? h->matrix[c * h->dims + r] : r == c ? 1 : 0) * h->spacing[c];
        g->affine[c][3] = h->offset[c];
    }
    if (dims == 2 && tsr_geometry_determinant(g) < 0) g->affine[2][2] = 1; /* a mirrored plane stays mirrored */
    return TSR_OK;
}

static tsr_status build_volume(tsr_input *input, const tsr_read_options *options, struct meta_header *h, tsr_volume **volume)
{
    tsr_axes axes = { 0 };
    tsr_geometry geometry;
    tsr_block block;
    tsr_status status;
    const char *key, *value;
    if (!h->dims || !h->size_given || !h->type_given)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the MetaImage header lacks the field '%s'", tsr_input_name(input),
                 !h->dims         ? "NDims"
                 : !h->size_given ? "DimSize"
                                  : "ElementType");
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, h->channels, "ElementNumberOfChannels", input, options));
    for (int64_t i = 0; i < h->dims; i++)
        if (i < 3) tsr_axes_space(&axes, h->size[i]);
        else TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, h->size[i], "DimSize", input, options));
    h->layout.swap = h->big_endian != tsr_host_big_endian();
    TSR_TRY(read_geometry(h, &geometry));
    TSR_TRY(tsr_axes_read(&axes, input, (int64_t)h->end, h->local ? NULL : &h->files, &h->layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &h->layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    if (h->slope != 0 || h->intercept != 0) TSR_TRY_GOTO(tsr_volume_set_scaling(*volume, h->slope, h->intercept), fail);
    for (int32_t i = 0; tsr_volume_meta_at(h->holder, i, &key, &value); i++) TSR_TRY_GOTO(tsr_volume_set_meta(*volume, key, value), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *bytes;
    size_t size;
    struct meta_header *h = (struct meta_header *)calloc(1, sizeof *h);
    if (!h) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    h->input = input;
    tsr_status status = tsr_input_head(input, 1 << 20, &bytes, &size);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &h->holder);
    if (status == TSR_OK) status = parse_header(h, bytes, size);
    if (status == TSR_OK) status = build_volume(input, options, h, volume);
    tsr_volume_destroy(&h->holder);
    tsr_names_free(&h->files);
    free(h);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------- */

static void print_row(tsr_output *out, const char *key, const double *values, int count)
{
    char text[32];
    tsr_output_printf(out, "%s =", key);
    for (int i = 0; i < count; i++) tsr_output_printf(out, " %s", tsr_print_double(text, values[i] + 0.0));
    tsr_output_printf(out, "\n");
}

/* Spacing times direction is rounded when read: of the neighbouring directions, the one whose product is the column is written. */
static double direction_of(double column, double spacing)
{
    double direction = column / spacing;
    const double tries[3] = { direction, nextafter(direction, -2.0), nextafter(direction, 2.0) };
    for (int i = 0; i < 3; i++)
        if (tries[i] * spacing == column) return tries[i];
    return direction;
}

/* *patch: where the packed size goes once it is known; the field is as wide as any 64-bit number. */
static void write_header(tsr_output *out, const tsr_volume *volume, const tsr_write_options *options, int64_t *patch)
{
    tsr_geometry g = tsr_geometry_convert(&volume->geometry, TSR_SPACE_LPS);
    tsr_vec3 lengths = tsr_geometry_spacing(&g);
    const double spacing[3] = { lengths.x, lengths.y, lengths.z }, offset[3] = { g.affine[0][3], g.affine[1][3], g.affine[2][3] }, zero[3] = { 0 };
    double matrix[9];
    const char *key, *value;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) matrix[3 * c + r] = direction_of(g.affine[r][c], spacing[c]);
    tsr_output_printf(out, "ObjectType = Image\nNDims = 3\nBinaryData = %s\nBinaryDataByteOrderMSB = %s\nCompressedData = %s\n",
                      options->ascii ? "False" : "True", options->big_endian ? "True" : "False", options->compression > 0 ? "True" : "False");
    if (options->compression > 0) {
        tsr_output_printf(out, "CompressedDataSize = ");
        *patch = tsr_output_position(out);
        tsr_output_printf(out, "%020d\n", 0);
    }
    print_row(out, "TransformMatrix", matrix, 9);
    print_row(out, "Offset", offset, 3);
    print_row(out, "CenterOfRotation", zero, 3);
    print_row(out, "ElementSpacing", spacing, 3);
    tsr_output_printf(out, "DimSize = %lld %lld %lld\n", (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z);
    if (volume->slope != 1 || volume->intercept != 0) {
        print_row(out, "ElementToIntensityFunctionSlope", &volume->slope, 1);
        print_row(out, "ElementToIntensityFunctionOffset", &volume->intercept, 1);
    }
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++) {
        const char *name = !strncmp(key, "metaimage.", 10) ? key + 10 : key;
        if (!*name || strpbrk(name, "= :\t\r\n") || strpbrk(value, "\r\n") || strlen(name) + strlen(value) > LINE_BYTES - 8) {
            tsr_remark("the text '%.60s' of the metadata has no place in a MetaImage file and is left out", key);
            continue;
        }
        tsr_output_printf(out, "%s = %s\n", name, value);
    }
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == volume->dtype) {
            tsr_output_printf(out, "ElementType = %s\n", types[i].name);
            break;
        }
}

static tsr_status write_voxels(tsr_output *out, tsr_output *data, const tsr_volume *volume, const tsr_write_options *options, int64_t patch)
{
    int64_t packed;
    char digits[24];
    if (options->ascii) return tsr_output_voxels_ascii(data, volume);
    if (options->compression <= 0) return tsr_output_voxels(data, volume, !!options->big_endian != tsr_host_big_endian());
    TSR_TRY(tsr_output_deflate_begin(data, TSR_WRAPPER_ZLIB, options->compression));
    TSR_TRY(tsr_output_voxels(data, volume, !!options->big_endian != tsr_host_big_endian()));
    TSR_TRY(tsr_output_deflate_end(data, &packed));
    snprintf(digits, sizeof digits, "%020lld", (long long)packed);
    return tsr_output_patch(out, patch, digits, 20);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL, *data = NULL;
    tsr_status status;
    char *data_path = NULL;
    int64_t patch = 0;
    int detached = tsr_path_has_extension(path, ".mhd");
    if (options->detached && !detached) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a detached MetaImage header is named .mhd", path);
    if (options->ascii && options->compression > 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: text is not compressed in a MetaImage file: ascii or compression, not both", path);
    if (detached) {
        TSR_TRY(tsr_path_replace(path, ".mhd", options->compression > 0 ? ".zraw" : ".raw", &data_path));
        TSR_TRY_GOTO(tsr_output_open(data_path, options, &data), fail);
    }
    TSR_TRY_GOTO(tsr_output_open(path, options, &out), fail);
    if (options->compression > 0 && !tsr_output_can_patch(out))
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "%s: a compressed MetaImage needs a plain file to write to, not a pipe or .gz", path);
    write_header(out, volume, options, &patch);
    tsr_output_printf(out, "ElementDataFile = %s\n", detached ? tsr_path_file(data_path) : "LOCAL");
    TSR_TRY_GOTO(write_voxels(out, detached ? data : out, volume, options, patch), fail);
    free(data_path);
    return detached ? tsr_output_commit_pair(&data, &out) : tsr_output_commit(&out);
fail:
    free(data_path);
    tsr_output_abort(&data);
    tsr_output_abort(&out);
    return status;
}

const tsr_format tsr_format_metaimage = { .name = "metaimage", .kind = TSR_FILE_VOLUME, .extensions = { ".mha", ".mhd" }, .recognise = recognise, .keeps_metadata = 1,
                                          .read_volume = read_volume, .write_volume = write_volume };
