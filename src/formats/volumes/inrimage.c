/* INRIMAGE-4: .inr, .inr.gz. A text header of a multiple of 256 bytes, then the voxels. No world frame: spacing (VX VY VZ) and offset
 * (TX TY TZ) only. */
#include "formats/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 256, HEADER_MOST = 256 * 256 };

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 12 && !memcmp(s->head, "#INRIMAGE-4#", 12) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

struct inr_header {
    int64_t dim[3], values, bits;
    double spacing[3], offset[3];
    int kind; /* 'f' float, 's' signed, 'u' unsigned */
    int big_endian, cpu_given;
};

static tsr_status bad(const tsr_input *input, const char *key, const char *value, const char *expected)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: INRIMAGE field '%s' is '%.60s', expected %s", tsr_input_name(input), key, value, expected);
}

static tsr_status parse_field(const tsr_input *input, struct inr_header *h, const char *key, char *value, tsr_volume *holder)
{
    static const char *const dims[3] = { "XDIM", "YDIM", "ZDIM" }, *const sizes[3] = { "VX", "VY", "VZ" }, *const offsets[3] = { "TX", "TY", "TZ" };
    tsr_word word = { value, strlen(value) };
    for (int i = 0; i < 3; i++) {
        if (!strcmp(key, dims[i]))
            return tsr_word_integer(word, &h->dim[i]) == TSR_TEXT_OK && h->dim[i] > 0 ? TSR_OK : bad(input, key, value, "a positive number");
        if (!strcmp(key, sizes[i]))
            return tsr_word_double(word, &h->spacing[i]) == TSR_TEXT_OK && h->spacing[i] > 0 && isfinite(h->spacing[i])
                       ? TSR_OK
                       : bad(input, key, value, "a positive number");
        if (!strcmp(key, offsets[i]))
            return tsr_word_double(word, &h->offset[i]) == TSR_TEXT_OK && isfinite(h->offset[i]) ? TSR_OK : bad(input, key, value, "a number");
    }
    if (!strcmp(key, "VDIM"))
        return tsr_word_integer(word, &h->values) == TSR_TEXT_OK && h->values > 0 ? TSR_OK : bad(input, key, value, "a positive number");
    if (!strcmp(key, "PIXSIZE")) {
        tsr_text text = tsr_text_make(value, strlen(value));
        tsr_word unit;
        int good = tsr_text_integer(&text, &h->bits) == TSR_TEXT_OK &&
                   (!tsr_text_word(&text, &unit) || tsr_word_is(unit, "bits") || tsr_word_is(unit, "bit"));
        return good ? TSR_OK : bad(input, key, value, "a number of bits");
    }
    if (!strcmp(key, "TYPE")) {
        h->kind = !strcmp(value, "float") || !strcmp(value, "double") ? 'f'
                  : !strcmp(value, "signed fixed")                    ? 's'
                  : !strcmp(value, "unsigned fixed")                  ? 'u'
                                                                      : 0;
        return h->kind ? TSR_OK : bad(input, key, value, "float, signed fixed or unsigned fixed");
    }
    if (!strcmp(key, "CPU")) {
        h->big_endian = !strcmp(value, "sun") || !strcmp(value, "sgi");
        h->cpu_given = 1;
        return h->big_endian || !strcmp(value, "decm") || !strcmp(value, "alpha") || !strcmp(value, "pc")
                   ? TSR_OK
                   : bad(input, key, value, "sun, sgi, decm, alpha or pc");
    }
    if (!strcmp(key, "SCALE")) return !strcmp(value, "2**0") ? TSR_OK : bad(input, key, value, "2**0: other scales are not read");
    char name[80];
    snprintf(name, sizeof name, "inrimage.%.60s", key);
    return tsr_volume_set_meta(holder, name, value);
}

/* Everything up to the line "##}"; *end is the size of the header in bytes. */
static tsr_status parse_header(tsr_input *input, struct inr_header *h, tsr_volume *holder, int64_t *end)
{
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_head(input, HEADER_MOST, &bytes, &size));
    tsr_text text = tsr_text_make(bytes, size), line;
    if (!tsr_text_line(&text, &line) || line.end - line.at < 13 || memcmp(line.at, "#INRIMAGE-4#{", 13))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not an INRIMAGE-4 file: expected #INRIMAGE-4#{ in the first line", tsr_input_name(input));
    while (tsr_text_line(&text, &line)) {
        char copy[BLOCK];
        size_t length = (size_t)(line.end - line.at);
        if (length >= 3 && !memcmp(line.at, "##}", 3)) {
            int64_t at = text.at - (const char *)bytes;
            *end = (at + BLOCK - 1) / BLOCK * BLOCK;
            return TSR_OK;
        }
        if (!length || *line.at == '#') continue;
        if (length >= sizeof copy || memchr(line.at, 0, length)) break;
        memcpy(copy, line.at, length);
        copy[length] = 0;
        char *equals = strchr(copy, '=');
        if (!equals) TSR_FAIL(TSR_ERROR_FORMAT, "%s: INRIMAGE header line '%.60s' is not 'KEY=value'", tsr_input_name(input), copy);
        *equals = 0;
        TSR_TRY(parse_field(input, h, copy, equals + 1, holder));
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the INRIMAGE header has no end: expected a line ##} within %d bytes", tsr_input_name(input), HEADER_MOST);
}

static tsr_status element_type(const tsr_input *input, const struct inr_header *h, tsr_dtype *dtype)
{
    static const tsr_dtype unsigned_types[] = { TSR_U8, TSR_U16, TSR_U32, TSR_U64 }, signed_types[] = { TSR_I8, TSR_I16, TSR_I32, TSR_I64 };
    int power = h->bits == 8 ? 0 : h->bits == 16 ? 1 : h->bits == 32 ? 2 : h->bits == 64 ? 3 : -1;
    if (!h->kind) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the INRIMAGE header lacks the field 'TYPE'", tsr_input_name(input));
    if (power < 0 || (h->kind == 'f' && power < 2))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: INRIMAGE field 'PIXSIZE' is %lld bits, expected %s", tsr_input_name(input), (long long)h->bits,
                 h->kind == 'f' ? "32 or 64 for float" : "8, 16, 32 or 64");
    *dtype = h->kind == 'f' ? (power == 2 ? TSR_F32 : TSR_F64) : h->kind == 's' ? signed_types[power] : unsigned_types[power];
    if (power && !h->cpu_given) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the INRIMAGE header lacks the field 'CPU' (the byte order)", tsr_input_name(input));
    return TSR_OK;
}

static tsr_status build_volume(tsr_input *input, const tsr_read_options *options, const struct inr_header *h, int64_t end, const tsr_volume *holder,
                               tsr_volume **volume)
{
    tsr_layout layout = { 0 };
    tsr_axes axes = { 0 };
    tsr_block block;
    tsr_status status;
    const char *key, *value;
    TSR_TRY(element_type(input, h, &layout.dtype));
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, h->values, "VDIM", input, options));
    for (int i = 0; i < 3; i++) tsr_axes_space(&axes, h->dim[i]);
    layout.swap = tsr_dtype_size(layout.dtype) > 1 && h->big_endian != tsr_host_big_endian();
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ h->spacing[0], h->spacing[1], h->spacing[2] },
                                              (tsr_vec3){ h->offset[0], h->offset[1], h->offset[2] }, TSR_SPACE_NONE);
    TSR_TRY(tsr_axes_read(&axes, input, end, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    for (int32_t i = 0; tsr_volume_meta_at(holder, i, &key, &value); i++) TSR_TRY_GOTO(tsr_volume_set_meta(*volume, key, value), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    struct inr_header h = { .values = 1, .spacing = { 1, 1, 1 } };
    tsr_volume *holder = NULL; /* keeps the metadata until the volume exists */
    int64_t end = 0;
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &holder));
    tsr_status status = parse_header(input, &h, holder, &end);
    if (status == TSR_OK) status = build_volume(input, options, &h, end, holder, volume);
    tsr_volume_destroy(&holder);
    return status;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_geometry *g = &volume->geometry;
    const char *key, *value, *kind = volume->dtype >= TSR_F32 ? "float" : volume->dtype % 2 ? "signed fixed" : "unsigned fixed";
    char header[8192], numbers[6][32];
    tsr_output *out = NULL;
    tsr_status status;
    TSR_TRY(tsr_require_unscaled(volume, path, "INRIMAGE"));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (r == c ? !(g->affine[r][c] > 0) : g->affine[r][c] != 0)
                TSR_FAIL(TSR_ERROR_ARGUMENT,
                         "%s: INRIMAGE stores spacing and offset only, and affine[%d][%d] is %g: write NIfTI, NRRD or MetaImage, or resample first",
                         path, r, c, g->affine[r][c]);
    for (int i = 0; i < 3; i++) {
        tsr_print_double(numbers[i], g->affine[i][i]);
        tsr_print_double(numbers[3 + i], g->affine[i][3] + 0.0);
    }
    size_t used =
        (size_t)snprintf(header, sizeof header,
                         "#INRIMAGE-4#{\nXDIM=%lld\nYDIM=%lld\nZDIM=%lld\nVDIM=1\nTYPE=%s\nPIXSIZE=%zu bits\nCPU=%s\nVX=%s\nVY=%s\nVZ=%s\n"
                         "TX=%s\nTY=%s\nTZ=%s\n",
                         (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z, kind, 8 * tsr_dtype_size(volume->dtype),
                         options->big_endian ? "sun" : "decm", numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++) { /* what has no place in this header stays behind */
        size_t length = strlen(key) + strlen(value);
        if (strncmp(key, "inrimage.", 9) || strpbrk(value, "\r\n") || length > 200 || used + length + 2 * BLOCK > sizeof header) continue;
        used += (size_t)snprintf(header + used, sizeof header - used, "%s=%s\n", key + 9, value);
    }
    size_t padded = (used + 4 + BLOCK - 1) / BLOCK * BLOCK;
    memset(header + used, '\n', padded - used);
    memcpy(header + padded - 4, "##}\n", 4);
    TSR_TRY(tsr_output_open(path, options, &out));
    TSR_TRY_GOTO(tsr_output_write(out, header, padded), done);
    TSR_TRY_GOTO(tsr_output_voxels(out, volume, !!options->big_endian != tsr_host_big_endian()), done);
done:
    return tsr_output_finish(&out, status);
}

const tsr_format tsr_format_inrimage = { .name = "inrimage", .kind = TSR_FILE_VOLUME, .extensions = { ".inr" }, .recognise = recognise,
                                         .place = TSR_PLACE_NAMELESS, .read_volume = read_volume, .write_volume = write_volume };
