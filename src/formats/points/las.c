/* formats/points/las.c: clouds of points from laser scanners, LAS 1.0 to 1.4, point formats 0 to 10, little-endian, and LAZ, which packs them (laz.h): positions (whole
 * numbers times a scale plus an offset) and the attributes intensity, classification, return_number, and color of three numbers. Times, angles, flags and
 * waveforms are left out, with a remark. Format: ASPRS, "LAS Specification 1.4 R15". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/points/laz.h"
#include "formats/points/point_columns.h"
#include "io/little_endian.h"

enum { HEAD = 227, HEAD_14 = 375, FORMATS = 11 };
/* Of each point format: the least bytes of a record, and where its colour stands (0: none). */
static const struct {
    int bytes, color;
} formats[FORMATS] = {
    { 20, 0 }, { 28, 0 }, { 26, 20 }, { 34, 28 }, { 57, 0 }, { 63, 28 }, { 30, 0 }, { 36, 30 }, { 38, 30 }, { 59, 0 }, { 67, 30 }
};

enum { PACKED = 0xc0 }; /* bits of the point format: LAZ */
static int recognise(const tsr_signature *s, int packed)
{
    return s->head_bytes >= HEAD && !memcmp(s->head, "LASF", 4) && packed == ((s->head[104] & PACKED) != 0) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}
static int recognise_las(const tsr_signature *s) { return recognise(s, 0); }
static int recognise_laz(const tsr_signature *s) { return recognise(s, 1); }

typedef struct las {
    const char *file;
    const uint8_t *bytes;
    int64_t size, first, record, count;
    int format, packed;
    double scale[3], offset[3];
    float *intensity, *class_of, *returns, *color; /* where they go; NULL: nowhere */
} las;

static tsr_status take_header(tsr_input *input, las *h)
{
    size_t size;
    h->file = tsr_input_name(input);
    TSR_TRY(tsr_input_all(input, &h->bytes, &size));
    h->size = (int64_t)size;
    const uint8_t *p = h->bytes;
    if (size < HEAD || memcmp(p, "LASF", 4) != 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no LAS file, expected 'LASF' and a header of 227 bytes", h->file);
    const int minor = p[25], head = tsr_get_u16(p + 94);
    if (p[24] != 1 || minor > 4) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAS %d.%d, expected 1.0 to 1.4", h->file, p[24], minor);
    h->packed = (p[104] & PACKED) != 0;
    h->format = p[104] & ~PACKED;
    h->first = tsr_get_u32(p + 96);
    h->record = tsr_get_u16(p + 105);
    h->count = tsr_get_u32(p + 107);
    if (minor == 4 && head >= HEAD_14 && size >= HEAD_14 && tsr_get_i64(p + 247) != 0) h->count = tsr_get_i64(p + 247);
    if (h->format >= FORMATS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAS point format %d, expected 0 to 10", h->file, h->format);
    if (h->record < formats[h->format].bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAS records of %lld bytes, point format %d has %d", h->file, (long long)h->record, h->format,
                 formats[h->format].bytes);
    if (h->count < 0 || h->first < HEAD || h->first > h->size ||
        (h->packed ? h->count > INT64_MAX / 65536 : h->count > (h->size - h->first) / h->record))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld LAS points of %lld bytes from byte %lld on, the file has %lld bytes", h->file,
                 (long long)h->count, (long long)h->record, (long long)h->first, (long long)h->size);
    for (int k = 0; k < 3; k++) {
        h->scale[k] = tsr_get_f64(p + 131 + 8 * k);
        h->offset[k] = tsr_get_f64(p + 155 + 8 * k);
        if (!isfinite(h->scale[k]) || h->scale[k] == 0 || !isfinite(h->offset[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAS scale %g and offset %g along %c, expected a scale that is not 0", h->file, h->scale[k], h->offset[k],
                     "xyz"[k]);
    }
    return TSR_OK;
}

/* Which attributes there is anything of. */
static void look(const las *h, int *intensity, int *color)
{
    const int at = formats[h->format].color;
    for (int64_t i = 0; i < h->count && !(*intensity && (*color || !at)); i++) {
        const uint8_t *p = h->bytes + h->first + i * h->record;
        *intensity |= tsr_get_u16(p + 12) != 0;
        *color |= at && (tsr_get_u16(p + at) || tsr_get_u16(p + at + 2) || tsr_get_u16(p + at + 4));
    }
}

static tsr_status take_room(las *h, tsr_points *points)
{
    int intensity = 0, color = 0;
    look(h, &intensity, &color);
    if (intensity) TSR_TRY(tsr_column_take(points, TSR_COLUMN_ATTRIBUTE, "intensity", 1, &h->intensity));
    TSR_TRY(tsr_column_take(points, TSR_COLUMN_ATTRIBUTE, "classification", 1, &h->class_of));
    TSR_TRY(tsr_column_take(points, TSR_COLUMN_ATTRIBUTE, "return_number", 1, &h->returns));
    if (color) TSR_TRY(tsr_column_take(points, TSR_COLUMN_ATTRIBUTE, "color", 3, &h->color));
    return TSR_OK;
}

static void take_places(const las *h, tsr_places *places, float *to)
{
    const uint8_t *p = h->bytes + h->first;
    for (int64_t i = 0; i < h->count; i++, p += h->record)
        for (int k = 0; k < 3; k++) *to++ = tsr_place(places, k, (double)tsr_get_i32(p + 4 * k) * h->scale[k] + h->offset[k]);
}

static void take_attributes(const las *h)
{
    const uint8_t *p = h->bytes + h->first;
    const int wide = h->format >= 6, color = formats[h->format].color;
    for (int64_t i = 0; i < h->count; i++, p += h->record) {
        if (h->intensity) h->intensity[i] = (float)tsr_get_u16(p + 12);
        if (h->class_of) h->class_of[i] = (float)(wide ? p[16] : p[15] & 31);
        if (h->returns) h->returns[i] = (float)(p[14] & (wide ? 15 : 7));
        for (int k = 0; k < 3 && h->color; k++) h->color[3 * i + k] = (float)tsr_get_u16(p + color + 2 * k);
    }
}

static tsr_status take_points(tsr_input *input, const tsr_read_options *options, las *h, tsr_points **points)
{
    TSR_TRY(tsr_points_for_input(input, h->count, 0, points));
    TSR_TRY(take_room(h, *points));
    tsr_places places = tsr_places_begin();
    do {
        TSR_PROGRESS(&options->progress, -1, "reading the points");
        take_places(h, &places, (*points)->positions);
    } while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    take_attributes(h);
    TSR_TRY(tsr_points_check_positions(input, *points));
    return TSR_OK;
}

static tsr_status read_all(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    las h = { .file = NULL };
    tsr_block records = { 0 };
    TSR_TRY(take_header(input, &h));
    if (!h.count) return tsr_points_for_input(input, 0, 0, points);
    if (h.format != 0 && h.format != 2)
        tsr_remark("%s: times and other fields of LAS point format %d have no place in a cloud of float32 and are left out", h.file, h.format);
    if (h.packed) {
        TSR_TRY(tsr_laz_unpack(input, h.bytes, h.size, h.first, h.record, h.count, &records));
        h.bytes = (const uint8_t *)records.data;
        h.first = 0;
    }
    const tsr_status status = take_points(input, options, &h, points);
    tsr_block_release(&records);
    return status;
}

static tsr_status read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    *points = NULL;
    const tsr_status status = read_all(input, options, points);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

/* ---- writing: 1.2, point format 0 or, with a colour, 2 -------------------------------------------------------------------------------------------- */

static const tsr_points_column *find(const tsr_points *p, const char *name, int32_t components)
{
    for (int32_t k = 0; k < p->attributes; k++)
        if (!strcmp(p->attribute[k].name, name) && p->attribute[k].components == components) return &p->attribute[k];
    return NULL;
}

static uint16_t clamped(float v, float most) { return (uint16_t)(v > most ? most : v > 0 ? v + 0.5f : 0); }

static void bounds_of(const tsr_points *p, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = high[k] = p->origin[k] + (double)(p->count ? p->positions[k] : 0);
    for (int64_t i = 0; i < 3 * p->count; i++) {
        const double v = p->origin[i % 3] + (double)p->positions[i];
        low[i % 3] = v < low[i % 3] ? v : low[i % 3];
        high[i % 3] = v > high[i % 3] ? v : high[i % 3];
    }
}

typedef struct las_writer {
    tsr_output *out;
    const tsr_points *points;
    const tsr_write_options *options;
    const tsr_points_column *intensity, *class_of, *returns, *color;
    double low[3], scale[3];
    tsr_laz_packer *packer; /* NULL: LAS */
} las_writer;

static int format_of(const las_writer *w) { return w->color ? 2 : 0; }

static tsr_status write_head(las_writer *w)
{
    const tsr_points *p = w->points;
    uint8_t head[HEAD] = "LASF", record[TSR_LAZ_RECORD];
    double high[3];
    bounds_of(p, w->low, high);
    head[24] = 1, head[25] = 2;
    memcpy(head + 26, "tessera", 7);
    memcpy(head + 58, "tessera", 7);
    const int more = w->packer ? tsr_laz_packer_record(w->packer, record) : 0;
    tsr_put_u16(head + 94, HEAD);
    tsr_put_u32(head + 96, (uint32_t)(HEAD + more));
    tsr_put_u32(head + 100, more != 0);
    head[104] = (uint8_t)(format_of(w) | (w->packer ? 128 : 0));
    tsr_put_u16(head + 105, (uint16_t)formats[format_of(w)].bytes);
    tsr_put_u32(head + 107, (uint32_t)p->count);
    tsr_put_u32(head + 111, (uint32_t)p->count); /* all of them first returns, for want of better */
    for (int k = 0; k < 3; k++) {
        /* the finest power of ten that the extent leaves room for: float32 has no finer steps */
        w->scale[k] = pow(10, ceil(log10(fmax((high[k] - w->low[k]) / 2e9, 1e-9))));
        tsr_put_f64(head + 131 + 8 * k, w->scale[k]);
        tsr_put_f64(head + 155 + 8 * k, w->low[k]);
        tsr_put_f64(head + 179 + 16 * k, high[k]);
        tsr_put_f64(head + 187 + 16 * k, w->low[k]);
    }
    TSR_TRY(tsr_output_write(w->out, head, sizeof head));
    return tsr_output_write(w->out, record, (size_t)more);
}

static void put_record(const las_writer *w, int64_t i, uint8_t *row)
{
    const tsr_points *p = w->points;
    memset(row, 0, (size_t)formats[format_of(w)].bytes);
    for (int k = 0; k < 3; k++)
        tsr_put_i32(row + 4 * k, (int32_t)llround((p->origin[k] + (double)p->positions[3 * i + k] - w->low[k]) / w->scale[k]));
    if (w->intensity) tsr_put_u16(row + 12, clamped(w->intensity->data[i], 65535));
    row[14] = (uint8_t)(w->returns ? clamped(w->returns->data[i], 7) : 1);
    row[14] |= 1 << 3;
    if (w->class_of) row[15] = (uint8_t)clamped(w->class_of->data[i], 31);
    for (int k = 0; k < 3 && w->color; k++) tsr_put_u16(row + 20 + 2 * k, clamped(w->color->data[3 * i + k], 65535));
}

/* By chunks of LAZ, which are written when all of them are there: the first bytes say where they end. */
static tsr_status write_records(las_writer *w, uint8_t *rows)
{
    const int64_t bytes = formats[format_of(w)].bytes, count = w->points->count;
    for (int64_t i = 0; i < count; i += TSR_LAZ_CHUNK) {
        const int64_t n = count - i < TSR_LAZ_CHUNK ? count - i : TSR_LAZ_CHUNK;
        TSR_PROGRESS(&w->options->progress, (double)i / (double)count, "writing the points");
        for (int64_t k = 0; k < n; k++) put_record(w, i + k, rows + k * bytes);
        if (w->packer) TSR_TRY(tsr_laz_packer_add(w->packer, rows, n));
        else TSR_TRY(tsr_output_write(w->out, rows, (size_t)(n * bytes)));
    }
    if (w->packer) TSR_TRY(tsr_laz_packer_write(w->packer, w->out, tsr_output_position(w->out)));
    return TSR_OK;
}

static tsr_status write_all(las_writer *w, int packed)
{
    const tsr_points *p = w->points;
    w->intensity = find(p, "intensity", 1), w->class_of = find(p, "classification", 1), w->returns = find(p, "return_number", 1),
    w->color = find(p, "color", 3);
    if (packed) TSR_TRY(tsr_laz_packer_create(w->color != NULL, &w->packer));
    uint8_t *rows = (uint8_t *)malloc((size_t)TSR_LAZ_CHUNK * (size_t)formats[format_of(w)].bytes);
    tsr_status status = rows ? write_head(w) : TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for writing points");
    if (status == TSR_OK) status = write_records(w, rows);
    free(rows);
    tsr_laz_packer_destroy(&w->packer);
    return status;
}

static tsr_status write_points(const tsr_points *points, const char *path, const tsr_write_options *options, int packed)
{
    static const char *const kept[] = { "intensity", "classification", "return_number", "color", NULL };
    las_writer w = { .points = points, .options = options };
    if (points->count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, LAS 1.2 counts up to 4294967295", path, (long long)points->count);
    tsr_points_say_left(points, path, packed ? "laz" : "las", 0, kept);
    TSR_TRY(tsr_output_open(path, options, &w.out));
    return tsr_output_finish(&w.out, write_all(&w, packed));
}
static tsr_status write_las(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    return write_points(points, path, options, 0);
}
static tsr_status write_laz(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    return write_points(points, path, options, 1);
}

const tsr_format tsr_format_las = { .name = "las",
                                    .kind = TSR_FILE_POINTS,
                                    .extensions = { ".las" },
                                    .recognise = recognise_las,
                                    .read_points = read_points,
                                    .write_points = write_las };
const tsr_format tsr_format_laz = { .name = "laz",
                                    .kind = TSR_FILE_POINTS,
                                    .extensions = { ".laz" },
                                    .recognise = recognise_laz,
                                    .read_points = read_points,
                                    .write_points = write_laz };
