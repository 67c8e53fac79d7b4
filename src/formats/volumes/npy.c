/* NumPy arrays: .npy, versions 1 to 3, C and Fortran order, one array of 1 to 3 axes per file; the last axis is x. The file has no place for geometry or
 * metadata. Format: the NumPy enhancement proposal 1 and numpy.lib.format. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "io/little_endian.h"
#include "formats/volumes/npy.h"
#include "formats/parts.h"
#include "formats/points/point_columns.h"

#define MAGIC "\x93NUMPY"
enum { MAGIC_BYTES = 6, HEADER_MOST = 65536, ALIGNMENT = 64 };

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= MAGIC_BYTES && !memcmp(s->head, MAGIC, MAGIC_BYTES) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

/* An array of structures is a cloud of points: the value of 'descr', which writers put first, is a list then. */
static tsr_file_kind kind_of(const tsr_signature *s)
{
    static const char key[] = "'descr':";
    const char *at = (const char *)memmem(s->head, s->head_bytes, key, sizeof key - 1), *end = (const char *)s->head + s->head_bytes;
    if (at) at += sizeof key - 1;
    while (at && at < end && *at == ' ') at++;
    return at && at < end && *at == '[' ? TSR_FILE_POINTS : TSR_FILE_VOLUME;
}

/* ---- the header: the text of a Python dictionary with exactly three keys ------------------------------------------------------------------------ */

/* A field of a structure: a number, or several side by side. */
typedef struct npy_field {
    char name[64], descr[16];
    int64_t count, offset;
    tsr_layout layout;
    float *data;
} npy_field;
enum { FIELDS_MOST = 64 };

typedef struct npy_header {
    char descr[16];
    npy_field *field; /* where structures are taken, room for FIELDS_MOST */
    int fields;
    int fortran_order, axes;
    int64_t shape[4];
    unsigned seen; /* bit per key */
} npy_header;

typedef struct npy_text {
    const tsr_input *input;
    const char *at, *end;
} npy_text;

static void skip_space(npy_text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n')) t->at++;
}

static int take(npy_text *t, char c)
{
    skip_space(t);
    if (t->at >= t->end || *t->at != c) return 0;
    t->at++;
    return 1;
}

static tsr_status expected(const npy_text *t, const char *what)
{
    char shown[32];
    const size_t left = (size_t)(t->end - t->at);
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy header: '%s', expected %s", tsr_input_name(t->input),
             tsr_word_show((tsr_word){ t->at, left < 16 ? left : 16 }, shown), what);
}

static tsr_status take_string(npy_text *t, char *text, size_t bytes)
{
    skip_space(t);
    const char quote = t->at < t->end ? *t->at : 0;
    if (quote != '\'' && quote != '"') return expected(t, "a text in quotes");
    const char *close = (const char *)memchr(t->at + 1, quote, (size_t)(t->end - t->at - 1));
    if (!close || (size_t)(close - t->at - 1) >= bytes) return expected(t, "a short text in quotes");
    memcpy(text, t->at + 1, (size_t)(close - t->at - 1));
    text[close - t->at - 1] = 0;
    t->at = close + 1;
    return TSR_OK;
}

static int take_word(npy_text *t, const char *word)
{
    const size_t n = strlen(word);
    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n)) return 0;
    t->at += n;
    return 1;
}

static tsr_status take_shape(npy_text *t, npy_header *h)
{
    if (!take(t, '(')) return expected(t, "a shape such as (4, 3, 2)");
    int comma = 1;
    while (!take(t, ')')) {
        int64_t extent = 0;
        int digits = 0;
        if (!comma) return expected(t, "',' or ')' in the shape");
        for (skip_space(t); t->at < t->end && isdigit((unsigned char)*t->at) && digits < 18; t->at++, digits++) extent = 10 * extent + (*t->at - '0');
        if (!digits) return expected(t, "a whole number in the shape");
        if (t->at < t->end && *t->at == 'L') t->at++; /* as Python 2 wrote it */
        if (h->axes == 4)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'shape' has more than 4 axes, expected 1 to 3 (z, y, x), and frames or channels",
                     tsr_input_name(t->input));
        if (extent < 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy field 'shape': axis %d is %lld, expected at least 1", tsr_input_name(t->input), h->axes,
                     (long long)extent);
        h->shape[h->axes++] = extent;
        comma = take(t, ',');
    }
    if (!h->axes) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'shape' is (), expected 1 to 3 axes (z, y, x)", tsr_input_name(t->input));
    return TSR_OK;
}

/* [('position', '<f4', (3,)), ('radius', '<f4'), ...] */
static tsr_status take_fields(npy_text *t, npy_header *h)
{
    if (!take(t, '[')) return expected(t, "'['");
    int comma = 1;
    while (!take(t, ']')) {
        if (!comma) return expected(t, "',' or ']' between fields");
        if (h->fields == FIELDS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'descr' has more than %d fields", tsr_input_name(t->input), FIELDS_MOST);
        npy_field *f = &h->field[h->fields++];
        *f = (npy_field){ .count = 1 };
        if (!take(t, '(')) return expected(t, "('name', '<f4')");
        TSR_TRY(take_string(t, f->name, sizeof f->name));
        if (!take(t, ',')) return expected(t, "',' behind the name of a field");
        skip_space(t);
        TSR_TRY(take_string(t, f->descr, sizeof f->descr));
        if (take(t, ',') && !take(t, ')')) {
            npy_header own = { .axes = 0 };
            TSR_TRY(take_shape(t, &own));
            if (own.axes > 1 || own.shape[0] > 1 << 16)
                TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field '%s' of more than one axis", tsr_input_name(t->input), f->name);
            f->count = own.shape[0];
            if (!take(t, ')')) return expected(t, "')' behind a field");
        } else if (t->at[-1] != ')' && !take(t, ')')) return expected(t, "')' behind a field");
        comma = take(t, ',');
    }
    if (!h->fields) return expected(t, "at least one field");
    return TSR_OK;
}

static tsr_status take_entry(npy_text *t, npy_header *h)
{
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    char key[32];
    unsigned k = 0;
    TSR_TRY(take_string(t, key, sizeof key));
    while (k < 3 && strcmp(key, keys[k])) k++;
    if (k == 3 || (h->seen >> k & 1))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy header: key '%s'%s, expected descr, fortran_order and shape, once each", tsr_input_name(t->input), key,
                 k < 3 ? " again" : "");
    h->seen |= 1u << k;
    if (!take(t, ':')) return expected(t, "':' behind the key");
    if (k == 2) return take_shape(t, h);
    if (k == 1) {
        h->fortran_order = take_word(t, "True");
        return h->fortran_order || take_word(t, "False") ? TSR_OK : expected(t, "True or False");
    }
    skip_space(t);
    if (h->field && t->at < t->end && *t->at == '[') return take_fields(t, h);
    if (t->at < t->end && *t->at == '[')
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'descr' is a structure, expected one number per element", tsr_input_name(t->input));
    return take_string(t, h->descr, sizeof h->descr);
}

static tsr_status parse_dictionary(npy_text *t, npy_header *h)
{
    if (!take(t, '{')) return expected(t, "'{'");
    int comma = 1;
    while (!take(t, '}')) {
        if (!comma) return expected(t, "',' or '}'");
        TSR_TRY(take_entry(t, h));
        comma = take(t, ',');
    }
    skip_space(t);
    if (t->at != t->end) return expected(t, "nothing behind '}' but spaces");
    if (h->seen != 7)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy header: no key '%s'", tsr_input_name(t->input),
                 !(h->seen & 1)   ? "descr"
                 : !(h->seen & 2) ? "fortran_order"
                                  : "shape");
    return TSR_OK;
}

/* ---- element types ------------------------------------------------------------------------------------------------------------------------------ */

static const char *const codes[TSR_DTYPE_COUNT] = { "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8" };

/* half: NULL where floats of 16 bits are not taken, else whether these are some, laid out as u16. */
static tsr_status element_type(const tsr_input *input, const char *descr, tsr_layout *layout, int *half)
{
    int dtype = 0;
    const char *halves = half ? "f2, " : "";
    if (half) *half = (descr[0] == '<' || descr[0] == '>') && !strcmp(descr + 1, "f2");
    if (half && *half) {
        *layout = (tsr_layout){ .dtype = TSR_U16, .size = layout->size, .swap = (descr[0] == '>') != tsr_host_big_endian() };
        return TSR_OK;
    }
    const int order = descr[0], boolean = !strcmp(descr, "|b1"); /* numpy's own masks: bytes of 0 and 1 */
    while (dtype < TSR_DTYPE_COUNT && (!order || strcmp(descr + 1, codes[dtype]))) dtype++;
    const int known = dtype < TSR_DTYPE_COUNT, one = known && tsr_dtype_size((tsr_dtype)dtype) == 1;
    if (!boolean && !(known && (order == '<' || order == '>' || (one && order == '|'))))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'descr' is '%s', expected < or > with i1, i2, i4, i8, u1, u2, u4, u8, %sf4 or f8",
                 tsr_input_name(input), descr, halves);
    layout->dtype = boolean ? TSR_U8 : (tsr_dtype)dtype;
    layout->swap = tsr_dtype_size(layout->dtype) > 1 && (order == '>') != tsr_host_big_endian();
    return TSR_OK;
}

/* ---- reading and writing ------------------------------------------------------------------------------------------------------------------------ */

/* Where the dictionary lies: behind magic, version and its own length, which has 2 bytes in version 1 and 4 from 2 on. */
static tsr_status find_dictionary(tsr_input *input, npy_text *t, int64_t *data)
{
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_head(input, MAGIC_BYTES + 6, &bytes, &size));
    if (size < MAGIC_BYTES + 6 || memcmp(bytes, MAGIC, MAGIC_BYTES))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not the header of a .npy file", tsr_input_name(input));
    const int major = bytes[MAGIC_BYTES];
    if (major < 1 || major > 3 || bytes[MAGIC_BYTES + 1])
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy version is %d.%d, expected 1.0, 2.0 or 3.0", tsr_input_name(input), major, bytes[MAGIC_BYTES + 1]);
    const size_t begin = MAGIC_BYTES + (major == 1 ? 4 : 6);
    const uint32_t length = major == 1 ? tsr_get_u16(bytes + MAGIC_BYTES + 2) : tsr_get_u32(bytes + MAGIC_BYTES + 2);
    if (length > HEADER_MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy header of %u bytes, expected at most %d", tsr_input_name(input), length, (int)HEADER_MOST);
    TSR_TRY(tsr_input_head(input, begin + length, &bytes, &size));
    if (size < begin + length)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the .npy header has %u bytes, the file %zu", tsr_input_name(input), length, size);
    *t = (npy_text){ input, (const char *)bytes + begin, (const char *)bytes + begin + length };
    *data = (int64_t)(begin + length);
    return TSR_OK;
}

#define REVERSE(type)                                                                                              \
    for (int64_t y = 0; y < n.y; y++)                                                                                     \
        for (int64_t z0 = 0; z0 < n.z; z0 += TILE)                                                                        \
            for (int64_t x0 = 0; x0 < n.x; x0 += TILE)                                                                    \
                for (int64_t z = z0; z < n.z && z < z0 + TILE; z++)                                                       \
                    for (int64_t x = x0; x < n.x && x < x0 + TILE; x++)                                                   \
                        ((type *)to)[x + n.x * (y + n.y * z)] = ((const type *)from)[z + n.z * (y + n.y * x)]

/* From x slowest to x fastest, in tiles that the cache holds. `n`: the extents behind. */
static void reverse(const void *from, size_t element, tsr_size3 n, void *to)
{
    enum { TILE = 32 };
    switch (element) {
    case 1: REVERSE(uint8_t); break;
    case 2: REVERSE(uint16_t); break;
    case 4: REVERSE(uint32_t); break;
    default: REVERSE(uint64_t); break;
    }
}

/* ADOPTS the block. */
static tsr_status reverse_axes(tsr_input *input, int axes, tsr_layout *layout, tsr_block *block)
{
    tsr_block from = *block;
    const tsr_size3 n = layout->size;
    const size_t element = tsr_dtype_size(layout->dtype);
    int64_t bytes;
    *block = (tsr_block){ 0 };
    layout->size = axes == 2 ? (tsr_size3){ n.y, n.x, 1 } : (tsr_size3){ n.z, n.y, n.x };
    tsr_status status = tsr_voxel_bytes(input, layout->dtype, layout->size, &bytes);
    if (status == TSR_OK) status = tsr_input_allocate(input, bytes, "voxels", block);
    /* two axes: the second is x, with nothing between them */
    if (status == TSR_OK) reverse(from.data, element, axes == 2 ? (tsr_size3){ n.y, 1, n.x } : layout->size, block->data);
    tsr_block_release(&from);
    return status;
}

tsr_status tsr_npy_peek(const uint8_t *bytes, size_t size, const char *name, char descr[16], int64_t shape[TSR_NPY_AXES], int *axes)
{
    const tsr_input_options none = { .memory_limit = 0 };
    npy_header h = { .shape = { 1, 1, 1, 1 } };
    tsr_input *input = NULL;
    int64_t data;
    TSR_TRY(tsr_input_memory(bytes, size, name, &none, &input));
    npy_text text = { input, NULL, NULL };
    tsr_status status = find_dictionary(input, &text, &data);
    if (status == TSR_OK) status = parse_dictionary(&text, &h);
    tsr_input_close(&input);
    if (status != TSR_OK) return status;
    memcpy(descr, h.descr, sizeof h.descr);
    memcpy(shape, h.shape, sizeof h.shape);
    *axes = h.axes;
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    npy_header h = { .shape = { 1, 1, 1, 1 } };
    tsr_axes axes = { 0 };
    npy_text text = { input, NULL, NULL };
    tsr_layout layout = { .size = { 1, 1, 1 } };
    tsr_block block;
    int64_t data = 0, bytes;
    int half = 0;
    TSR_TRY(find_dictionary(input, &text, &data));
    TSR_TRY(parse_dictionary(&text, &h));
    TSR_TRY(element_type(input, h.descr, &layout, &half));
    const int reversed = h.fortran_order && h.axes > 1; /* the first axis runs fastest */
    if (reversed && tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy field 'fortran_order' is True: such arrays cannot be read in pieces, save numpy.ascontiguousarray(array)",
                 tsr_input_name(input));
    /* of four axes the first is of frames or the last of channels, as the caller asks; unasked a last axis of up to 4 is of channels */
    const int channels = h.axes == 4 && (options->channel_given != options->frame_given ? options->channel_given : h.shape[3] <= 4);
    const tsr_size3 all = { h.shape[h.axes - 1], h.axes > 1 ? h.shape[h.axes - 2] : 1, h.axes > 2 ? h.shape[h.axes - 3] : 1 };
    TSR_TRY(tsr_voxel_bytes(input, layout.dtype, all, &bytes));
    if (h.axes == 4 && __builtin_mul_overflow(bytes, h.shape[0], &bytes))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy field 'shape' asks for more bytes than can be counted", tsr_input_name(input));
    for (int i = h.axes - 1; i >= 0; i--) {
        const int k = reversed ? h.axes - 1 - i : i;
        if (h.axes == 4 && k == (channels ? 3 : 0))
            TSR_TRY(tsr_axes_part(&axes, channels ? TSR_PART_CHANNEL : TSR_PART_FRAME, h.shape[k],
                                  channels ? "the last axis of 'shape'" : "the first axis of 'shape'", input, options));
        else tsr_axes_space(&axes, h.shape[k]);
    }
    if (tsr_input_size(input) >= 0 && tsr_input_size(input) - data > bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes behind the array of %lld, expected none: one array per file", tsr_input_name(input),
                 (long long)(tsr_input_size(input) - data - bytes), (long long)bytes);
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    TSR_TRY(tsr_axes_read(&axes, input, data, NULL, &layout, &block));
    if (reversed) TSR_TRY(reverse_axes(input, h.axes == 2 ? 2 : 3, &layout, &block));
    if (half) TSR_TRY(tsr_block_widen_halves(input, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    return TSR_OK;
}

size_t tsr_npy_header(const tsr_volume *volume, int big_endian, char header[TSR_NPY_WRITTEN])
{
    const int one = tsr_dtype_size(volume->dtype) == 1, begin = MAGIC_BYTES + 4;
    const tsr_size3 n = volume->size;
    memcpy(header, MAGIC "\x01", MAGIC_BYTES + 2); /* version 1, and the 0 behind it */
    const int used = begin + snprintf(header + begin, TSR_NPY_WRITTEN - (size_t)begin, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%lld, %lld, %lld), }",
                                      one          ? '|'
                                      : big_endian ? '>'
                                                   : '<',
                                      codes[volume->dtype], (long long)n.z, (long long)n.y, (long long)n.x);
    const int padded = (used + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* room for the line end */
    memset(header + used, ' ', (size_t)(padded - used));
    header[padded - 1] = '\n';
    tsr_put_u16(header + MAGIC_BYTES + 2, (uint16_t)(padded - begin));
    return (size_t)padded;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    char header[TSR_NPY_WRITTEN];
    const size_t used = tsr_npy_header(volume, options->big_endian, header);
    tsr_output *out = NULL;
    tsr_status status;
    TSR_TRY(tsr_require_unscaled(volume, path, "a .npy file"));
    TSR_TRY(tsr_output_open(path, options, &out));
    TSR_TRY_GOTO(tsr_output_write(out, header, used), done);
    TSR_TRY_GOTO(tsr_output_voxels(out, volume, !!options->big_endian != tsr_host_big_endian()), done);
done:
    return tsr_output_finish(&out, status);
}

/* ---- points: an array of structures with a field of positions, or rows of x y z and further numbers ------------------------------------------------ */

static double number_at(const uint8_t *p, const tsr_layout *l)
{
    uint64_t whole = 0;
    const size_t bytes = tsr_dtype_size(l->dtype);
    memcpy(&whole, p, bytes);
    if (l->swap) tsr_swap_elements(&whole, 1, bytes);
    return tsr_voxel_load(&whole, l->dtype, 0);
}

/* What the fields are; rows of a plain array have fields x y z, without names behind. */
static tsr_status plan_fields(tsr_input *input, npy_header *h, int64_t *record)
{
    *record = 0;
    if (!h->fields) {
        if (h->axes != 2 || h->shape[1] < 3)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy of points: expected rows of x, y and z, shape (points, 3), or an array of structures", tsr_input_name(input));
        h->field[0] = (npy_field){ .name = "position", .count = 3 };
        h->field[1] = (npy_field){ .name = "", .count = h->shape[1] - 3 };
        for (int k = 0; k < 2; k++) memcpy(h->field[k].descr, h->descr, sizeof h->descr);
        h->fields = h->shape[1] > 3 ? 2 : 1;
        h->axes = 1;
    }
    if (h->axes != 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy of points: %d axes of structures, expected one", tsr_input_name(input), h->axes);
    for (int k = 0; k < h->fields; k++) {
        npy_field *f = &h->field[k];
        TSR_TRY(element_type(input, f->descr, &f->layout, NULL));
        f->offset = *record;
        *record += f->count * (int64_t)tsr_dtype_size(f->layout.dtype);
    }
    return TSR_OK;
}

/* Positions, one field of three or x, y and z apart; others become attributes. */
static tsr_status take_attributes(tsr_input *input, npy_header *h, tsr_point_table *table, tsr_points *points, int *position)
{
    tsr_word names[FIELDS_MOST];
    *position = -1;
    for (int k = 0; k < h->fields; k++) {
        npy_field *f = &h->field[k];
        char usual[64];
        const tsr_word name = { f->name, strlen(f->name) };
        names[k] = f->count == 1 ? name : (tsr_word){ "", 0 };
        if (f->count == 1 || f->count > TSR_POINTS_COMPONENTS) continue;
        const tsr_column_kind kind = tsr_column_kind_of(name, (int32_t)f->count, usual);
        if (kind == TSR_COLUMN_POSITION && *usual) *position = *position < 0 ? k : *position;
        else TSR_TRY(tsr_column_take(points, kind, usual, (int32_t)f->count, &f->data));
    }
    const int apart = tsr_point_table_plan(table, names, h->fields);
    if (*position < 0 && !apart)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: .npy of points: no field 'position' of three numbers, and no x, y and z", tsr_input_name(input));
    TSR_TRY(tsr_point_table_take(table, points));
    return TSR_OK;
}

static void read_rows(const npy_header *h, const tsr_point_table *table, const uint8_t *bytes, int64_t record, int position, tsr_places *places, tsr_points *points)
{
    for (int64_t i = 0; i < points->count; i++)
        for (int k = 0; k < h->fields; k++) {
            const npy_field *f = &h->field[k];
            const uint8_t *at = bytes + i * record + f->offset;
            const size_t size = tsr_dtype_size(f->layout.dtype);
            if (k == position)
                for (int c = 0; c < 3; c++) points->positions[3 * i + c] = tsr_place(places, c, number_at(at + (size_t)c * size, &f->layout));
            else if (f->data)
                for (int64_t c = 0; c < f->count; c++) f->data[i * f->count + c] = (float)number_at(at + (size_t)c * size, &f->layout);
            else if (f->count == 1 && !(position >= 0 && table->column[k].group >= 0 && table->group[table->column[k].group].kind == TSR_COLUMN_POSITION))
                tsr_point_table_put(table, points, places, k, i, number_at(at, &f->layout));
        }
}

struct npy_points {
    npy_field field[FIELDS_MOST];
    tsr_point_table table;
};
static tsr_status read_all_points(tsr_input *input, const tsr_read_options *options, struct npy_points *own, tsr_points **points)
{
    npy_header h = { .shape = { 1, 1, 1, 1 }, .field = own->field };
    npy_text text = { input, NULL, NULL };
    int64_t data = 0, record = 0;
    int position = -1;
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(find_dictionary(input, &text, &data));
    TSR_TRY(parse_dictionary(&text, &h));
    if (h.fortran_order && h.axes > 1) /* rows of points are read one after another */
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .npy of points: field 'fortran_order' is True, expected False: save numpy.ascontiguousarray(array)", tsr_input_name(input));
    TSR_TRY(plan_fields(input, &h, &record));
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    if (h.shape[0] > ((int64_t)size - data) / record)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld points of %lld bytes announced, but only %lld bytes follow", tsr_input_name(input), (long long)h.shape[0],
                 (long long)record, (long long)((int64_t)size - data));
    TSR_TRY(tsr_points_for_input(input, h.shape[0], 0, points));
    TSR_TRY(take_attributes(input, &h, &own->table, *points, &position));
    tsr_places places = tsr_places_begin();
    do read_rows(&h, &own->table, bytes + data, record, position, &places, *points);
    while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    TSR_TRY(tsr_points_check_positions(input, *points));
    return TSR_OK;
}

static tsr_status read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    struct npy_points *own = NULL;
    *points = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *own, (void **)&own));
    const tsr_status status = read_all_points(input, options, own, points);
    tsr_host_release(NULL, own, sizeof *own);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

/* An array of structures; positions alone: rows of three. */
static tsr_status write_all_points(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    char header[8192];
    const int begin = MAGIC_BYTES + 4, swap = !!options->big_endian != tsr_host_big_endian();
    const char order = options->big_endian ? '>' : '<';
    const char *place = tsr_has_origin(p->origin) ? "f8" : "f4";
    size_t used = (size_t)begin;
    const int plain = !p->normals && !p->radii && !p->attributes;
#define PUT(...) used += (size_t)snprintf(header + used, sizeof header - used, __VA_ARGS__)
    memcpy(header, MAGIC "\x01", MAGIC_BYTES + 2);
    if (plain) PUT("{'descr': '%c%s', 'fortran_order': False, 'shape': (%lld, 3), }", order, place, (long long)p->count);
    else {
        PUT("{'descr': [('position', '%c%s', (3,))", order, place);
        if (p->normals) PUT(", ('normal', '%cf4', (3,))", order);
        if (p->radii) PUT(", ('radius', '%cf4')", order);
        for (int32_t k = 0; k < p->attributes; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s", p->attribute[k].name);
            for (char *c = name; *c; c++)
                if (*c == '\'' || *c == '\\' || (unsigned char)*c < ' ') *c = '_';
            PUT(", ('%s', '%cf4'", name, order);
            if (p->attribute[k].components > 1) PUT(", (%d,)", (int)p->attribute[k].components);
            PUT(")");
        }
        PUT("], 'fortran_order': False, 'shape': (%lld,), }", (long long)p->count);
    }
#undef PUT
    const size_t padded = (used + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    memset(header + used, ' ', padded - used);
    header[padded - 1] = '\n';
    tsr_put_u16(header + MAGIC_BYTES + 2, (uint16_t)(padded - (size_t)begin));
    TSR_TRY(tsr_output_write(out, header, padded));
    for (int64_t i = 0; i < p->count; i++) {
        float row[8 + TSR_POINTS_ATTRIBUTES * TSR_POINTS_COMPONENTS];
        int32_t n = 0;
        TSR_WRITING(&options->progress, i, p->count);
        if (tsr_has_origin(p->origin)) {
            double far[3];
            for (int k = 0; k < 3; k++) far[k] = p->origin[k] + (double)p->positions[3 * i + k];
            if (swap) tsr_swap_elements(far, 3, sizeof *far);
            TSR_TRY(tsr_output_write(out, far, sizeof far));
        } else
            for (int k = 0; k < 3; k++) row[n++] = p->positions[3 * i + k];
        for (int k = 0; p->normals && k < 3; k++) row[n++] = p->normals[3 * i + k];
        if (p->radii) row[n++] = p->radii[i];
        for (int32_t a = 0; a < p->attributes; a++)
            for (int32_t k = 0; k < p->attribute[a].components; k++) row[n++] = p->attribute[a].data[i * p->attribute[a].components + k];
        if (swap) tsr_swap_elements(row, n, sizeof *row);
        TSR_TRY(tsr_output_write(out, row, (size_t)n * sizeof *row));
    }
    return TSR_OK;
}
static tsr_status write_points(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all_points(out, points, options));
}

const tsr_format tsr_format_npy = { .name = "npy", .kind = TSR_FILE_VOLUME, .extensions = { ".npy" }, .recognise = recognise, .kind_of = kind_of, .place = TSR_PLACE_NONE,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume, .read_points = read_points, .write_points = write_points };
