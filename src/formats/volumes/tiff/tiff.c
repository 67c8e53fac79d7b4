/* TIFF and BigTIFF (TIFF 6.0; Adobe's deflate). Reading is libtiff's (tiff_read.c). Writing is plain enough to stand here: one page a slice, the voxels of all
 * pages one behind another as ImageJ lays them and as they can be mapped, or strips packed side by side by all threads; the headers behind them. */
#include "formats/volumes/tiff/tiff.h"

#include "core/parallel.h"
#include "io/little_endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int recognise(const tsr_signature *s)
{
    static const char magic[4][4] = { { 'I', 'I', '*', 0 }, { 'M', 'M', 0, '*' }, { 'I', 'I', '+', 0 }, { 'M', 'M', 0, '+' } };
    for (int k = 0; k < 4; k++)
        if (s->head_bytes >= 8 && !memcmp(s->head, magic[k], 4)) return TSR_SURELY_MINE;
    return TSR_NOT_MINE;
}

enum { STRIP_BYTES = 256 << 10, TOGETHER = 32, HEADER_MOST = 512 };

typedef struct writer {
    const tsr_volume *volume;
    tsr_output *out;
    const char *path;
    int big_endian, big, level, predictor; /* big: BigTIFF */
    int samples;                           /* of a pixel: 1, or the channels of an image */
    size_t element;
    int64_t pages, width, height, rows, strips; /* rows of a strip, strips of a page */
    uint64_t *offset, *bytes;                   /* of all strips */
    /* strips that are packed side by side */
    const uint8_t *plain;
    int64_t first;
    uint8_t *packed[TOGETHER];
    uLongf packed_bytes[TOGETHER];
    uLong room;
    int failed;
} writer;

/* ---- headers ----------------------------------------------------------------------------------------------------------------------------------- */

typedef struct header {
    uint8_t bytes[HEADER_MOST];
    size_t used;
    int entries, big, big_endian;
} header;

static void put_number(uint8_t *to, uint64_t value, int bytes, int big_endian)
{
    for (int i = 0; i < bytes; i++) to[big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

enum { BYTE = 1, ASCII, SHORT, LONG, RATIONAL, LONG8 = 16 };

/* One entry. `value` is the number itself, or where the numbers lie: `inside` says which. */
static void put_entry(header *h, int tag, int type, uint64_t count, uint64_t value, int inside)
{
    static const int sizes[] = { 0, 1, 1, 2, 4, 8 };
    const int size = type == LONG8 ? 8 : sizes[type];
    uint8_t *e = h->bytes + h->used;
    memset(e, 0, 20);
    put_number(e, (uint64_t)tag, 2, h->big_endian);
    put_number(e + 2, (uint64_t)type, 2, h->big_endian);
    put_number(e + 4, count, h->big ? 8 : 4, h->big_endian);
    put_number(e + (h->big ? 12 : 8), value, inside ? size : h->big ? 8 : 4, h->big_endian);
    h->used += h->big ? 20 : 12;
    h->entries++;
}

static tsr_status put_numbers(writer *w, const uint64_t *values, int64_t count, int bytes)
{
    uint8_t number[8];
    for (int64_t i = 0; i < count; i++) {
        put_number(number, values[i], bytes, w->big_endian);
        TSR_TRY(tsr_output_write(w->out, number, (size_t)bytes));
    }
    return TSR_OK;
}

/* Four bytes in a place of eight or four: two whole numbers. In a small file they lie in front of the header. */
static tsr_status write_header(writer *w, int64_t page, uint64_t text_at, size_t text_bytes, const uint32_t ratio[2][2], int resolution_unit,
                               int last)
{
    const int word = w->big ? 8 : 4;
    const uint64_t *offsets = w->offset + page * w->strips, *counts = w->bytes + page * w->strips;
    const tsr_dtype dtype = w->volume->dtype;
    const int kind = dtype == TSR_F32 || dtype == TSR_F64 ? 3 : dtype == TSR_I8 || dtype == TSR_I16 || dtype == TSR_I32 || dtype == TSR_I64 ? 2 : 1;
    header h = { .big = w->big, .big_endian = w->big_endian, .used = w->big ? 8 : 2 };
    const uint64_t begin = (uint64_t)tsr_output_position(w->out);
    /* in front: resolutions, bits and kinds of several samples, offsets and counts of several strips */
    const uint64_t at_ratio = begin, at_bits = at_ratio + 16, at_kinds = at_bits + 8, at_offsets = at_kinds + 8,
                   at_counts = at_offsets + (uint64_t)(w->strips * word), at_header = at_counts + (uint64_t)(w->strips * word);
    uint8_t front[32] = { 0 };
    for (int k = 0; k < 4; k++) put_number(front + 4 * k, ratio[k / 2][k % 2], 4, w->big_endian);
    for (int k = 0; k < 4; k++) put_number(front + 16 + 2 * k, 8 * w->element, 2, w->big_endian);
    for (int k = 0; k < 4; k++) put_number(front + 24 + 2 * k, (uint64_t)kind, 2, w->big_endian);
    TSR_TRY(tsr_output_write(w->out, front, sizeof front));
    TSR_TRY(put_numbers(w, offsets, w->strips, word));
    TSR_TRY(put_numbers(w, counts, w->strips, word));
    const int apart = w->samples > (w->big ? 4 : 2), colours = w->samples > 2;
    uint64_t bits = 8 * w->element, kinds = (uint64_t)kind; /* two to four numbers of 16 bits in the entry itself */
    uint8_t small[2][8];
    memcpy(small[0], front + 16, 8);
    memcpy(small[1], front + 24, 8);
    put_entry(&h, 256, LONG, 1, (uint64_t)w->width, 1);
    put_entry(&h, 257, LONG, 1, (uint64_t)w->height, 1);
    put_entry(&h, 258, SHORT, (uint64_t)w->samples, apart ? at_bits : bits, !apart);
    if (!apart) memcpy(h.bytes + h.used - (w->big ? 8 : 4), small[0], (size_t)(2 * w->samples));
    put_entry(&h, 259, SHORT, 1, w->level ? 8 : 1, 1);
    put_entry(&h, 262, SHORT, 1, colours ? 2 : 1, 1);
    if (text_bytes) put_entry(&h, 270, ASCII, text_bytes, text_at, 0);
    if (w->strips == 1) put_entry(&h, 273, w->big ? LONG8 : LONG, 1, offsets[0], 1);
    else put_entry(&h, 273, w->big ? LONG8 : LONG, (uint64_t)w->strips, at_offsets, 0);
    put_entry(&h, 277, SHORT, 1, (uint64_t)w->samples, 1);
    put_entry(&h, 278, LONG, 1, (uint64_t)w->rows, 1);
    if (w->strips == 1) put_entry(&h, 279, w->big ? LONG8 : LONG, 1, counts[0], 1);
    else put_entry(&h, 279, w->big ? LONG8 : LONG, (uint64_t)w->strips, at_counts, 0);
    put_entry(&h, 282, RATIONAL, 1, at_ratio, 0);
    if (w->big) memcpy(h.bytes + h.used - 8, front, 8);
    put_entry(&h, 283, RATIONAL, 1, at_ratio + 8, 0);
    if (w->big) memcpy(h.bytes + h.used - 8, front + 8, 8);
    put_entry(&h, 284, SHORT, 1, 1, 1);
    put_entry(&h, 296, SHORT, 1, (uint64_t)resolution_unit, 1);
    if (w->predictor) put_entry(&h, 317, SHORT, 1, 2, 1);
    if (w->samples == 2 || w->samples == 4) put_entry(&h, 338, SHORT, 1, 2, 1);
    put_entry(&h, 339, SHORT, (uint64_t)w->samples, apart ? at_kinds : kinds, !apart);
    if (!apart) memcpy(h.bytes + h.used - (w->big ? 8 : 4), small[1], (size_t)(2 * w->samples));
    put_number(h.bytes, (uint64_t)h.entries, w->big ? 8 : 2, w->big_endian);
    /* the next header lies behind the front part of the next page; an even size keeps all at even places */
    const uint64_t end = at_header + h.used + (uint64_t)word, next = end + 32 + (uint64_t)(2 * w->strips * word);
    put_number(h.bytes + h.used, last ? 0 : next, word, w->big_endian);
    TSR_TRY(tsr_output_write(w->out, h.bytes, h.used + (size_t)word));
    return TSR_OK;
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------ */

static void subtract(uint8_t *line, int64_t width, int samples, size_t element) /* of each number the one before it, from behind */
{
    for (int64_t i = width * samples - 1; i >= samples; i--) {
        uint8_t *at = line + i * (int64_t)element;
        const uint8_t *before = at - (int64_t)element * samples;
        if (element == 1) *at = (uint8_t)(*at - *before);
        else if (element == 2) {
            uint16_t a, b;
            memcpy(&a, at, 2), memcpy(&b, before, 2);
            a = (uint16_t)(a - b);
            memcpy(at, &a, 2);
        } else {
            uint32_t a, b;
            memcpy(&a, at, 4), memcpy(&b, before, 4);
            a -= b;
            memcpy(at, &a, 4);
        }
    }
}

static void pack_strips(void *user, int64_t begin, int64_t end, int worker)
{
    writer *w = (writer *)user;
    const int64_t line = w->width * w->samples * (int64_t)w->element;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t strip = (w->first + k) % w->strips, rows = tsr_min64(w->rows, w->height - strip * w->rows), before = w->first % w->strips;
        const int64_t page = (w->first + k) / w->strips - w->first / w->strips;
        const uint8_t *from = w->plain + ((page * w->height) + strip * w->rows - before * w->rows) * line;
        uint8_t *copy = (uint8_t *)malloc((size_t)(rows * line));
        w->packed_bytes[k] = w->room;
        int failed = !copy;
        if (copy) {
            memcpy(copy, from, (size_t)(rows * line));
            for (int64_t y = 0; y < rows && w->predictor; y++) subtract(copy + y * line, w->width, w->samples, w->element);
            if (w->big_endian != tsr_host_big_endian()) tsr_swap_elements(copy, rows * w->width * w->samples, w->element);
            failed = compress2(w->packed[k], &w->packed_bytes[k], copy, (uLong)(rows * line), w->level) != Z_OK;
        }
        free(copy);
        if (failed) __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
    }
}

/* Rows of all pages, a part at a time, in strips. */
static tsr_status write_packed(writer *w, const uint8_t *interleaved)
{
    const int64_t line = w->width * w->samples, all = w->pages * w->strips, line_bytes = line * (int64_t)w->element;
    tsr_status status = TSR_OK;
    uint8_t *part = interleaved ? NULL : (uint8_t *)malloc((size_t)(TOGETHER * w->rows * line_bytes));
    w->room = compressBound((uLong)(w->rows * line_bytes));
    int good = interleaved || part;
    for (int k = 0; k < TOGETHER; k++) good &= (w->packed[k] = (uint8_t *)malloc(w->room)) != NULL;
    if (!good) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory for strips", w->path);
    for (w->first = 0; w->first < all; w->first += TOGETHER) {
        const int64_t n = tsr_min64(TOGETHER, all - w->first), last = w->first + n - 1;
        const int64_t row0 = w->first / w->strips * w->height + w->first % w->strips * w->rows;
        const int64_t row1 = last / w->strips * w->height + tsr_min64((last % w->strips + 1) * w->rows, w->height);
        if (interleaved) w->plain = interleaved + row0 * line_bytes;
        else TSR_TRY_GOTO(tsr_volume_part(w->volume, row0 * line, (row1 - row0) * line, part, &w->plain), done);
        tsr_parallel(tsr_parallel_default_threads(), n, 1, pack_strips, w);
        if (w->failed) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: packing failed: out of memory", w->path);
        for (int64_t k = 0; k < n; k++) {
            w->offset[w->first + k] = (uint64_t)tsr_output_position(w->out);
            w->bytes[w->first + k] = w->packed_bytes[k];
            TSR_TRY_GOTO(tsr_output_write(w->out, w->packed[k], w->packed_bytes[k]), done);
        }
    }
done:
    for (int k = 0; k < TOGETHER; k++) free(w->packed[k]);
    free(part);
    return status;
}

static tsr_status write_plain(writer *w, const uint8_t *interleaved)
{
    const int64_t page_bytes = w->width * w->height * w->samples * (int64_t)w->element;
    const int swap = w->big_endian != tsr_host_big_endian();
    for (int64_t k = 0; k < w->pages; k++) {
        w->offset[k] = (uint64_t)(tsr_output_position(w->out) + k * page_bytes);
        w->bytes[k] = (uint64_t)page_bytes;
    }
    if (interleaved) TSR_TRY(tsr_output_elements(w->out, interleaved, page_bytes / (int64_t)w->element, w->element, swap));
    else TSR_TRY(tsr_output_voxels(w->out, w->volume, swap));
    return TSR_OK;
}

/* The pixels of an image of several channels, side by side; *pixels NULL: it is none. */
static tsr_status interleave(writer *w, uint8_t **pixels)
{
    const tsr_volume *v = w->volume;
    const int64_t plane = w->width * w->height;
    const size_t element = w->element;
    *pixels = NULL;
    if (w->samples < 2) return TSR_OK;
    uint8_t *one = (uint8_t *)malloc((size_t)plane * element);
    *pixels = (uint8_t *)malloc((size_t)(plane * w->samples) * element);
    tsr_status status = *pixels && one ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for the pixels", w->path);
    for (int c = 0; c < w->samples && status == TSR_OK; c++) {
        const uint8_t *voxels;
        status = tsr_volume_part(v, c * plane, plane, one, &voxels);
        if (status == TSR_OK)
            tsr_stored_copy_line(voxels, (int64_t)element, *pixels + c * (int64_t)element, w->samples * (int64_t)element, plane, element);
    }
    free(one);
    if (status != TSR_OK) free(*pixels), *pixels = NULL;
    return status;
}

static tsr_status write_file(writer *w, const char *text, const uint8_t *interleaved)
{
    uint32_t ratio[2][2];
    uint8_t head[16] = { 0 };
    const size_t head_bytes = w->big ? 16 : 8, text_bytes = strlen(text) + 1;
    const tsr_vec3 h = tsr_geometry_spacing(&w->volume->geometry);
    const char *unit = tsr_stored_unit(w->volume);
    const int resolution_unit = unit && !strcmp(unit, "cm") ? 3 : unit && !strcmp(unit, "inch") ? 2 : 1;
    const int64_t voxels = tsr_volume_count(w->volume) * tsr_max64(tsr_volume_stack(w->volume), 1) * (int64_t)w->element;
    tsr_tiff_ratio(h.x, ratio[0]);
    tsr_tiff_ratio(h.y, ratio[1]);
    memcpy(head, w->big_endian ? "MM" : "II", 2);
    put_number(head + 2, w->big ? 43 : 42, 2, w->big_endian);
    if (w->big) put_number(head + 4, 8, 2, w->big_endian);
    const int word = w->big ? 8 : 4;
    const uint64_t text_at = head_bytes + (uint64_t)voxels,
                   known = text_at + text_bytes + (text_bytes & 1) + (text_at & 1) + 32 + (uint64_t)(2 * w->strips * word);
    if (!w->level) put_number(head + (w->big ? 8 : 4), known, word, w->big_endian);
    TSR_TRY(tsr_output_write(w->out, head, head_bytes));
    TSR_TRY(w->level ? write_packed(w, interleaved) : write_plain(w, interleaved));
    const uint8_t zero = 0;
    if (tsr_output_position(w->out) & 1) TSR_TRY(tsr_output_write(w->out, &zero, 1));
    const uint64_t at = (uint64_t)tsr_output_position(w->out);
    TSR_TRY(tsr_output_write(w->out, text, text_bytes));
    if (text_bytes & 1) TSR_TRY(tsr_output_write(w->out, &zero, 1));
    const uint64_t first = (uint64_t)tsr_output_position(w->out) + 32 + (uint64_t)(2 * w->strips * word);
    for (int64_t k = 0; k < w->pages; k++)
        TSR_TRY(write_header(w, k, k ? 0 : at, k ? 0 : text_bytes, (const uint32_t(*)[2])ratio, resolution_unit, k + 1 == w->pages));
    if (!w->level) return TSR_OK;
    uint8_t number[8];
    put_number(number, first, word, w->big_endian);
    TSR_TRY(tsr_output_patch(w->out, w->big ? 8 : 4, number, (size_t)word));
    return TSR_OK;
}

static tsr_status plan(writer *w, const tsr_volume *v, const tsr_write_options *options)
{
    const int64_t most = (int64_t)1 << 31;
    const int32_t channels = tsr_volume_channels(v);
    w->samples = channels > 1 ? channels : 1;
    w->pages = channels > 1 ? 1 : v->size.z * tsr_max64(tsr_volume_stack(v), 1);
    w->width = v->size.x;
    w->height = v->size.y;
    w->element = tsr_dtype_size(v->dtype);
    w->big_endian = options->big_endian != 0;
    w->level = options->compression > 0 ? options->compression : 0;
    w->predictor = w->level && v->dtype < TSR_U64;
    if (w->width >= most || w->height >= most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: TIFF: slices of %lld x %lld, expected less than 2^31 each way", w->path, (long long)w->width,
                 (long long)w->height);
    const int64_t line = w->width * w->samples * (int64_t)w->element;
    w->rows = w->level ? tsr_max64(1, tsr_min64(STRIP_BYTES / line, w->height)) : w->height;
    w->strips = tsr_ceil_div(w->height, w->rows);
    if (line > 1 << 30 && w->level)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: TIFF: rows of %lld bytes are not packed: leave out the compression", w->path, (long long)line);
    const double all = (double)line * (double)w->height * (double)w->pages, headers = (double)w->pages * (400 + 16 * (double)w->strips);
    w->big = (w->level ? 1.001 * all : all) + headers + 1e6 > 4294967295.0;
    w->offset = (uint64_t *)calloc((size_t)(w->pages * w->strips), sizeof *w->offset);
    w->bytes = (uint64_t *)calloc((size_t)(w->pages * w->strips), sizeof *w->bytes);
    if (!w->offset || !w->bytes)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the places of %lld strips", w->path, (long long)(w->pages * w->strips));
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    writer w = { .volume = volume, .path = path };
    char *text = NULL;
    uint8_t *pixels = NULL;
    tsr_status status;
    const int ome = tsr_path_has_extension(path, ".ome.tif") || tsr_path_has_extension(path, ".ome.tiff");
    if (tsr_path_has_extension(path, ".gz"))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a TIFF file packs its voxels itself: leave out .gz, give a compression", path);
    TSR_TRY_GOTO(plan(&w, volume, options), done);
    TSR_TRY_GOTO(tsr_tiff_text(volume, path, ome, &text), done);
    TSR_TRY_GOTO(interleave(&w, &pixels), done);
    TSR_TRY_GOTO(tsr_output_open(path, options, &w.out), done);
    if (w.level && !tsr_output_can_patch(w.out))
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: a packed TIFF file cannot be written to a pipe: leave out the compression", path);
    else status = write_file(&w, text, pixels);
    status = tsr_output_finish(&w.out, status);
done:
    free(text);
    free(pixels);
    free(w.offset);
    free(w.bytes);
    return status;
}

const tsr_format tsr_format_tiff = { .name = "tiff",
                                     .kind = TSR_FILE_VOLUME,
                                     .extensions = { ".tif", ".tiff", ".ome.tif", ".ome.tiff", ".btf" },
                                     .recognise = recognise,
                                     .keeps_metadata = 1,
                                     .stacks = 1,
                                     .units = TSR_UNITS_ANY,
                                     .boxes = 1,
                                     .read_volume = tsr_tiff_read,
                                     .write_volume = write_volume,
                                     .series = 1,
                                     .levels = 1,
                                     .list = tsr_tiff_list };
