#include "formats/volume_files.h"

#include "formats/pieces.h"
#include "core/number.h"
#include "io/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tsr_status tsr_voxel_bytes(const tsr_input *input, tsr_dtype dtype, tsr_size3 size, int64_t *bytes)
{
    if (tsr_size_bytes(size, tsr_dtype_size(dtype), tsr_input_name(input), bytes) != TSR_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s", tsr_error_message()); /* the file's mistake, not the caller's */
    return TSR_OK;
}

tsr_status tsr_volume_of_block(const tsr_input *input, const tsr_layout *layout, const tsr_geometry *geometry, tsr_block *block, tsr_volume **volume)
{
    if (tsr_geometry_check(geometry) != TSR_OK) {
        tsr_block_release(block);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", tsr_input_name(input), tsr_error_message());
    }
    tsr_block own = *block;
    *block = (tsr_block){ 0 };
    TSR_TRY(tsr_volume_wrap(NULL, layout->dtype, layout->size, geometry, own.data, own.release, own.user, volume));
    return TSR_OK;
}

/* ---- numbers as text ------------------------------------------------------------------------------------------------------------ */

const char *tsr_print_double(char text[32], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        tsr_print(text, 32, "%.*g", digits, value);
        for (char *c = text; *c; c++)
            if (*c == ',') *c = '.'; /* the locale's decimal sign */
        if (tsr_word_double((tsr_word){ text, strlen(text) }, &back) == TSR_TEXT_OK && back == value) break;
    }
    return text;
}

int tsr_parse_numbers(const char *text, double *numbers, int count)
{
    const char *at = text;
    for (int i = 0; i < count; i++) {
        at += strspn(at, " \t\r,()[]");
        size_t length = strcspn(at, " \t\r,()[]");
        if (!length || tsr_word_double((tsr_word){ at, length }, &numbers[i]) != TSR_TEXT_OK) return 0;
        at += length;
    }
    return at[strspn(at, " \t\r,()[]")] == 0;
}

int tsr_meta_numbers(const tsr_volume *volume, const char *key, double *numbers, int count)
{
    const char *value = tsr_volume_meta(volume, key);
    return value && tsr_parse_numbers(value, numbers, count);
}

tsr_status tsr_set_meta_numbers(tsr_volume *volume, const char *key, const double *numbers, int count)
{
    char text[32 * 16], one[32];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", tsr_print_double(one, numbers[i]));
    TSR_TRY(tsr_volume_set_meta(volume, key, text));
    return TSR_OK;
}

/* ---- voxels as text ------------------------------------------------------------------------------------------------------------- */

/* Smallest and largest value of the integer types below 64 bits. */
static const struct { int64_t lowest, highest; } integer_ranges[] = {
    [TSR_U8] = { 0, UINT8_MAX }, [TSR_I8] = { INT8_MIN, INT8_MAX }, [TSR_U16] = { 0, UINT16_MAX }, [TSR_I16] = { INT16_MIN, INT16_MAX },
    [TSR_U32] = { 0, UINT32_MAX }, [TSR_I32] = { INT32_MIN, INT32_MAX },
};

static int parse_u64(tsr_word word, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < word.size; i++) {
        unsigned digit = (unsigned)(unsigned char)word.text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(*value, 10u, value) || __builtin_add_overflow(*value, digit, value)) return 0;
    }
    return word.size > 0;
}

static int parse_i64(tsr_word word, int64_t *value)
{
    uint64_t size;
    int negative = word.size && *word.text == '-';
    if (!parse_u64((tsr_word){ word.text + negative, word.size - (size_t)negative }, &size) || size > (uint64_t)INT64_MAX + (uint64_t)negative)
        return 0;
    *value = (int64_t)(negative ? -size : size);
    return 1;
}

/* One voxel in native byte order; 0 if the word is no number of the type. */
static int parse_voxel(tsr_word word, tsr_dtype dtype, void *to)
{
    double real;
    int64_t integer;
    if (dtype == TSR_F64) return tsr_word_double(word, (double *)to) == TSR_TEXT_OK;
    if (dtype == TSR_F32) {
        if (tsr_word_double(word, &real) != TSR_TEXT_OK) return 0;
        *(float *)to = (float)real;
        return 1;
    }
    if (dtype == TSR_U64) return parse_u64(word, (uint64_t *)to);
    if (dtype == TSR_I64) return parse_i64(word, (int64_t *)to);
    if (tsr_word_integer(word, &integer) != TSR_TEXT_OK || integer < integer_ranges[dtype].lowest || integer > integer_ranges[dtype].highest)
        return 0;
    switch (tsr_dtype_size(dtype)) {
    case 1: *(uint8_t *)to = (uint8_t)integer; break;
    case 2: *(uint16_t *)to = (uint16_t)integer; break;
    default: *(uint32_t *)to = (uint32_t)integer;
    }
    return 1;
}

static tsr_status read_ascii(tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t count, uint8_t *to)
{
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_input_check(input, offset, count, "voxels")); /* a voxel takes a byte or more */
    tsr_text text = tsr_text_make(bytes + offset, size - (size_t)offset);
    for (int64_t i = 0; i < count; i++) {
        tsr_word word;
        char shown[32];
        if (!tsr_text_word(&text, &word))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld voxels, expected %lld", tsr_input_name(input), (long long)i, (long long)count);
        if (!parse_voxel(word, layout->dtype, to + i * (int64_t)tsr_dtype_size(layout->dtype)))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: voxel %lld is '%s', expected a number of type %s", tsr_input_name(input), (long long)i,
                     tsr_word_show(word, shown), tsr_dtype_name(layout->dtype));
    }
    return TSR_OK;
}

static tsr_status print_voxels(tsr_output *output, tsr_dtype dtype, const void *data, int64_t first, int64_t count, int64_t row)
{
    for (int64_t i = 0; i < count; i++) {
        const char *end = (first + i + 1) % row ? " " : "\n";
        char text[32];
        tsr_status status;
        switch (dtype) {
        case TSR_U8: status = tsr_output_printf(output, "%u%s", ((const uint8_t *)data)[i], end); break;
        case TSR_I8: status = tsr_output_printf(output, "%d%s", ((const int8_t *)data)[i], end); break;
        case TSR_U16: status = tsr_output_printf(output, "%u%s", ((const uint16_t *)data)[i], end); break;
        case TSR_I16: status = tsr_output_printf(output, "%d%s", ((const int16_t *)data)[i], end); break;
        case TSR_U32: status = tsr_output_printf(output, "%u%s", ((const uint32_t *)data)[i], end); break;
        case TSR_I32: status = tsr_output_printf(output, "%d%s", ((const int32_t *)data)[i], end); break;
        case TSR_U64: status = tsr_output_printf(output, "%llu%s", (unsigned long long)((const uint64_t *)data)[i], end); break;
        case TSR_I64: status = tsr_output_printf(output, "%lld%s", (long long)((const int64_t *)data)[i], end); break;
        case TSR_F32: *tsr_put_float(text, ((const float *)data)[i]) = 0; status = tsr_output_printf(output, "%s%s", text, end); break;
        default: status = tsr_output_printf(output, "%s%s", tsr_print_double(text, ((const double *)data)[i]), end);
        }
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* Voxels in order, from memory or as they come. `print` NULL: as they are. */
static tsr_status put_voxels(tsr_output *output, const tsr_volume *volume, int swap,
                             tsr_status (*print)(tsr_output *, tsr_dtype, const void *, int64_t, int64_t, int64_t))
{
    enum { PART = 4 << 20 };
    const size_t element = tsr_dtype_size(volume->dtype);
    const int64_t count = tsr_volume_count(volume) * tsr_max64(tsr_volume_stack(volume), 1), row = volume->size.x, step = PART / (int64_t)element;
    tsr_status status = TSR_OK;
    if (!volume->feed)
        return print ? print(output, volume->dtype, volume->data, 0, count, row) : tsr_output_elements(output, volume->data, count, element, swap);
    void *part = malloc(PART);
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a part of the voxels");
    for (int64_t first = 0; first < count && status == TSR_OK; first += step) {
        const int64_t n = tsr_min64(step, count - first);
        status = volume->feed->read(volume->feed->user, first, n, part);
        if (status == TSR_OK) status = print ? print(output, volume->dtype, part, first, n, row) : tsr_output_elements(output, part, n, element, swap);
    }
    free(part);
    return status;
}

tsr_status tsr_output_voxels(tsr_output *output, const tsr_volume *volume, int swap) { return put_voxels(output, volume, swap, NULL); }
tsr_status tsr_output_voxels_ascii(tsr_output *output, const tsr_volume *volume) { return put_voxels(output, volume, 0, print_voxels); }

tsr_status tsr_require_unscaled(const tsr_volume *volume, const char *path, const char *format)
{
    if (volume->slope != 1 || volume->intercept != 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s has no place for the volume's slope %g and intercept %g: convert it first (tsr_volume_convert)", path,
                 format, volume->slope, volume->intercept);
    return TSR_OK;
}

/* ---- voxels out of one or many files -------------------------------------------------------------------------------------------- */

/* Moves `offset` over `lines` line ends. */
static tsr_status skip_lines(tsr_input *input, int64_t lines, int64_t *offset)
{
    const uint8_t *bytes;
    size_t size;
    if (!lines) return TSR_OK;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_input_check(input, *offset, 0, "data"));
    for (int64_t i = 0; i < lines; i++) {
        const uint8_t *end = (const uint8_t *)memchr(bytes + *offset, '\n', size - (size_t)*offset);
        if (!end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line skip is %lld, the file has %lld lines", tsr_input_name(input), (long long)lines, (long long)i);
        *offset = end + 1 - bytes;
    }
    return TSR_OK;
}

/* Where raw bytes begin after the skips. */
static tsr_status data_offset(tsr_input *input, const tsr_layout *layout, int64_t bytes, int64_t *offset)
{
    TSR_TRY(skip_lines(input, layout->lines, offset));
    if (layout->skip >= 0 && layout->encoding == TSR_ENCODING_RAW) {
        if (__builtin_add_overflow(*offset, layout->skip, offset)) *offset = INT64_MAX; /* the size check says it */
    } else if (layout->skip < 0) {
        const uint8_t *all;
        size_t size;
        if (layout->encoding != TSR_ENCODING_RAW)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: a header size or byte skip of -1 needs raw data", tsr_input_name(input));
        TSR_TRY(tsr_input_all(input, &all, &size));
        if ((int64_t)size - *offset < bytes)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the header asks for %lld bytes of voxels, the file has %lld", tsr_input_name(input),
                     (long long)bytes, (long long)((int64_t)size - *offset));
        *offset = (int64_t)size - bytes;
    }
    return TSR_OK;
}

static tsr_status read_into(tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes, uint8_t *to)
{
    size_t element = tsr_dtype_size(layout->dtype);
    TSR_TRY(data_offset(input, layout, bytes, &offset));
    switch (layout->encoding) {
    case TSR_ENCODING_ASCII: return read_ascii(input, offset, layout, bytes / (int64_t)element, to);
    case TSR_ENCODING_RAW: return tsr_input_read(input, offset, bytes, element, layout->swap, to, "voxels");
    default:
        return tsr_input_inflate(input, offset, layout->packed, layout->encoding == TSR_ENCODING_GZIP ? TSR_WRAPPER_GZIP : TSR_WRAPPER_ZLIB,
                                 layout->skip, bytes, element, layout->swap, to, "voxels");
    }
}

/* Before memory is taken for `bytes` decoded bytes: could the input hold them at all? */
static tsr_status check_plausible(tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes)
{
    const uint8_t *all;
    size_t size;
    if (layout->encoding == TSR_ENCODING_RAW) return TSR_OK; /* checked exactly when read */
    TSR_TRY(tsr_input_all(input, &all, &size));
    int64_t held = tsr_max64((int64_t)size - offset, 0);
    if (layout->encoding != TSR_ENCODING_ASCII && layout->packed >= 0) held = tsr_min64(held, layout->packed);
    int64_t needed = layout->encoding == TSR_ENCODING_ASCII ? bytes / (int64_t)tsr_dtype_size(layout->dtype) : bytes / 1032;
    if (needed > held)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the header asks for %lld bytes of voxels, more than %lld bytes of %s can hold",
                 tsr_input_name(input), (long long)bytes, (long long)held, layout->encoding == TSR_ENCODING_ASCII ? "text" : "compressed data");
    return TSR_OK;
}

void tsr_layout_remark_rest(const tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes, const char *by)
{
    const int raw = layout->encoding == TSR_ENCODING_RAW, sized = layout->packed > 0 && layout->encoding != TSR_ENCODING_ASCII;
    if (layout->skip < 0 || layout->lines || tsr_input_settings(input)->place || !(raw || sized)) return; /* a reader to the end sees for itself */
    const int64_t held = tsr_input_size(input) - offset; /* negative while the size is not known */
    int64_t told;
    if (held < 0 || __builtin_add_overflow(raw ? layout->skip : layout->packed, raw ? bytes : 0, &told) || held <= told) return;
    tsr_remark("%s: %lld bytes behind the voxels were left out: %s speaks of fewer than there are", tsr_input_name(input), (long long)(held - told), by);
}

tsr_status tsr_layout_read(tsr_input *input, int64_t offset, const tsr_layout *layout, tsr_block *block)
{
    int64_t bytes;
    tsr_status status;
    tsr_voxel_place *place = tsr_input_settings(input)->place;
    *block = (tsr_block){ 0 };
    TSR_TRY(tsr_voxel_bytes(input, layout->dtype, layout->size, &bytes));
    if (layout->encoding == TSR_ENCODING_RAW || place) TSR_TRY(data_offset(input, layout, bytes, &offset));
    if (place) {
        TSR_TRY(tsr_voxel_place_note(place, input, offset, layout, bytes));
        block->data = place;
        return TSR_OK;
    }
    if (layout->encoding == TSR_ENCODING_RAW) {
        TSR_TRY(tsr_input_take(input, offset, bytes, tsr_dtype_size(layout->dtype), layout->swap, "voxels", block));
        return TSR_OK;
    }
    TSR_TRY(check_plausible(input, offset, layout, bytes));
    TSR_TRY(tsr_input_allocate(input, bytes, "voxels", block));
    TSR_TRY_GOTO(read_into(input, offset, layout, bytes, (uint8_t *)block->data), fail);
    return TSR_OK;
fail:
    tsr_block_release(block);
    return status;
}

tsr_status tsr_block_widen_halves(tsr_input *input, tsr_layout *layout, tsr_block *block)
{
    tsr_block halves = *block;
    int64_t bytes;
    *block = (tsr_block){ 0 };
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels of 16-bit floats cannot be read in pieces, convert the file first (tessera convert --dtype f32)", tsr_input_name(input));
    tsr_status status = tsr_voxel_bytes(input, TSR_F32, layout->size, &bytes);
    if (status == TSR_OK) status = tsr_input_allocate(input, bytes, "voxels", block);
    if (status == TSR_OK)
        for (int64_t i = 0; i < bytes / 4; i++) ((float *)block->data)[i] = tsr_half_to_float(((const uint16_t *)halves.data)[i]);
    layout->dtype = TSR_F32;
    tsr_block_release(&halves);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_names_add(tsr_names *names, const char *name, size_t length)
{
    char *grown = (char *)realloc(names->text, names->used + length + 1);
    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the names of data files");
    names->text = grown;
    memcpy(grown + names->used, name, length);
    grown[names->used + length] = 0;
    names->used += length + 1;
    names->count++;
    return TSR_OK;
}

void tsr_names_free(tsr_names *names)
{
    free(names->text);
    *names = (tsr_names){ 0 };
}

tsr_status tsr_names_add_pattern(tsr_names *names, const tsr_input *input, const char *pattern, int64_t first, int64_t last, int64_t step,
                                 int64_t most)
{
    const char *percent = strchr(pattern, '%'), *end = percent ? percent + 1 : pattern;
    int zeros = *end == '0', width = 0;
    while (percent && *end >= '0' && *end <= '9' && width < 100) width = width * 10 + (*end++ - '0');
    if (!percent || *end != 'd' || strchr(end, '%') || width > 20)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the data file pattern '%.80s' needs one %%d, such as slice%%03d.raw", tsr_input_name(input), pattern);
    if (!step || (last - first) / step < 0 || (last - first) / step >= most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: data files %lld to %lld in steps of %lld, expected 1 to %lld files", tsr_input_name(input), (long long)first,
                 (long long)last, (long long)step, (long long)most);
    for (int64_t i = 0, n = (last - first) / step; i <= n; i++) {
        char name[512];
        int length = snprintf(name, sizeof name, zeros ? "%.*s%0*lld%s" : "%.*s%*lld%s", (int)(percent - pattern), pattern, width,
                              (long long)(first + i * step), end + 1);
        if (length >= (int)sizeof name) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the data file pattern '%.80s' is too long", tsr_input_name(input), pattern);
        TSR_TRY(tsr_names_add(names, name, (size_t)length));
    }
    return TSR_OK;
}

static tsr_status note_files(tsr_input *header, const tsr_names *names, const tsr_layout *layout, int64_t share, tsr_block *block)
{
    tsr_voxel_place *place = tsr_input_settings(header)->place;
    const char *name = names->text;
    tsr_input *part = NULL;
    tsr_status status;
    for (int64_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        int64_t offset = 0;
        TSR_TRY(tsr_input_open_beside(header, name, layout->encoding == TSR_ENCODING_GZIP, &part));
        TSR_TRY_GOTO(data_offset(part, layout, share, &offset), fail);
        if (i && offset != place->offset)
            TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, fail, "%s: data files whose voxels begin in different places cannot be read in pieces",
                          tsr_input_name(header));
        TSR_TRY_GOTO(tsr_voxel_place_note(place, part, offset, layout, share), fail);
        tsr_input_close(&part);
    }
    block->data = place;
    return TSR_OK;
fail:
    tsr_input_close(&part);
    return status;
}

tsr_status tsr_layout_read_files(tsr_input *header, const tsr_names *names, const tsr_layout *layout, tsr_block *block)
{
    int64_t bytes, share;
    tsr_input *part = NULL;
    tsr_status status;
    int keep_gzip = layout->encoding == TSR_ENCODING_GZIP;
    *block = (tsr_block){ 0 };
    if (names->count == 1) {
        TSR_TRY(tsr_input_open_beside(header, names->text, keep_gzip, &part));
        if (layout->bytes) tsr_layout_remark_rest(part, 0, layout, layout->bytes, "the header");
        status = tsr_layout_read(part, 0, layout, block);
        tsr_input_close(&part);
        return status;
    }
    TSR_TRY(tsr_voxel_bytes(header, layout->dtype, layout->size, &bytes));
    share = names->count ? bytes / names->count : 0;
    if (!names->count || share * names->count != bytes || share % (int64_t)tsr_dtype_size(layout->dtype))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld data files do not divide %lld bytes of voxels into equal parts", tsr_input_name(header),
                 (long long)names->count, (long long)bytes);
    if (tsr_input_settings(header)->place) return note_files(header, names, layout, share, block);
    TSR_TRY(tsr_input_open_beside(header, names->text, keep_gzip, &part)); /* the first is opened before memory is taken */
    if (layout->encoding == TSR_ENCODING_RAW) TSR_TRY_GOTO(tsr_input_check(part, 0, share, "voxels"), fail);
    else TSR_TRY_GOTO(check_plausible(part, 0, layout, share), fail);
    TSR_TRY_GOTO(tsr_input_allocate(header, bytes, "voxels", block), fail);
    const char *name = names->text;
    for (int64_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        if (!part) TSR_TRY_GOTO(tsr_input_open_beside(header, name, keep_gzip, &part), fail);
        TSR_TRY_GOTO(read_into(part, 0, layout, share, (uint8_t *)block->data + i * share), fail);
        tsr_input_close(&part);
    }
    return TSR_OK;
fail:
    tsr_input_close(&part);
    tsr_block_release(block);
    return status;
}
