/* formats/las.c: clouds of points from laser scanners, LAS 1.0 to 1.4, point formats 0 to 10, little-endian: positions (whole numbers times a scale plus an offset) and
 * the attributes intensity, classification, return_number, and color of three numbers. Times, angles, flags and waveforms are left out, with a remark; LAZ, which
 * packs them, is refused by name. Format: ASPRS, "LAS Specification 1.4 R15". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/point_columns.h"
#include "io/little_endian.h"

enum { HEAD = 227, HEAD_14 = 375, FORMATS = 11 };
/* Of each point format: the least bytes of a record, and where its colour stands (0: none). */
static const struct {
    int bytes, color;
} formats[FORMATS] = {
    { 20, 0 }, { 28, 0 }, { 26, 20 }, { 34, 28 }, { 57, 0 }, { 63, 28 }, { 30, 0 }, { 36, 30 }, { 38, 30 }, { 59, 0 }, { 67, 30 }
};

static int recognise(const tsr_signature *s) { return s->head_bytes >= HEAD && !memcmp(s->head, "LASF", 4) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

typedef struct las {
    const char *file;
    const uint8_t *bytes;
    int64_t size, first, record, count;
    int format;
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
    if (p[104] & 0xc0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: packed as LAZ, expected LAS, which 'laszip -i in.laz -o out.las', PDAL or laspy make of it", h->file);
    h->format = p[104];
    h->first = tsr_get_u32(p + 96);
    h->record = tsr_get_u16(p + 105);
    h->count = tsr_get_u32(p + 107);
    if (minor == 4 && head >= HEAD_14 && size >= HEAD_14 && tsr_get_i64(p + 247) != 0) h->count = tsr_get_i64(p + 247);
    if (h->format >= FORMATS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: LAS point format %d, expected 0 to 10", h->file, h->format);
    if (h->record < formats[h->format].bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: LAS records of %lld bytes, point format %d has %d", h->file, (long long)h->record, h->format,
                 formats[h->format].bytes);
    if (h->count < 0 || h->first < HEAD || h->first > h->size || h->count > (h->size - h->first) / h->record)
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

static tsr_status read_all(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    las h = { .file = NULL };
    TSR_TRY(take_header(input, &h));
    TSR_TRY(tsr_points_for_input(input, h.count, 0, points));
    if (!h.count) return TSR_OK;
    TSR_TRY(take_room(&h, *points));
    tsr_places places = tsr_places_begin();
    do {
        TSR_PROGRESS(&options->progress, -1, "reading the points");
        take_places(&h, &places, (*points)->positions);
    } while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    take_attributes(&h);
    if (h.format != 0 && h.format != 2)
        tsr_remark("%s: times and other fields of LAS point format %d have no place in a cloud of float32 and are left out", h.file, h.format);
    TSR_TRY(tsr_points_check_positions(input, *points));
    return TSR_OK;
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

static tsr_status write_all(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    const tsr_points_column *intensity = find(p, "intensity", 1), *class_of = find(p, "classification", 1), *returns = find(p, "return_number", 1),
                            *color = find(p, "color", 3);
    const int format = color ? 2 : 0;
    uint8_t head[HEAD] = "LASF";
    double low[3], high[3], scale[3];
    bounds_of(p, low, high);
    head[24] = 1, head[25] = 2;
    memcpy(head + 26, "tessera", 7);
    memcpy(head + 58, "tessera", 7);
    tsr_put_u16(head + 94, HEAD);
    tsr_put_u32(head + 96, HEAD);
    head[104] = (uint8_t)format;
    tsr_put_u16(head + 105, (uint16_t)formats[format].bytes);
    tsr_put_u32(head + 107, (uint32_t)p->count);
    tsr_put_u32(head + 111, (uint32_t)p->count); /* all of them first returns, for want of better */
    for (int k = 0; k < 3; k++) {
        /* the finest power of ten that the extent leaves room for: float32 has no finer steps */
        scale[k] = pow(10, ceil(log10(fmax((high[k] - low[k]) / 2e9, 1e-9))));
        tsr_put_f64(head + 131 + 8 * k, scale[k]);
        tsr_put_f64(head + 155 + 8 * k, low[k]);
        tsr_put_f64(head + 179 + 16 * k, high[k]);
        tsr_put_f64(head + 187 + 16 * k, low[k]);
    }
    TSR_TRY(tsr_output_write(out, head, sizeof head));
    for (int64_t i = 0; i < p->count; i++) {
        uint8_t row[26] = { 0 };
        TSR_WRITING(&options->progress, i, p->count);
        for (int k = 0; k < 3; k++) tsr_put_i32(row + 4 * k, (int32_t)llround((p->origin[k] + (double)p->positions[3 * i + k] - low[k]) / scale[k]));
        if (intensity) tsr_put_u16(row + 12, clamped(intensity->data[i], 65535));
        row[14] = (uint8_t)(returns ? clamped(returns->data[i], 7) : 1);
        row[14] |= 1 << 3;
        if (class_of) row[15] = (uint8_t)clamped(class_of->data[i], 31);
        for (int k = 0; k < 3 && color; k++) tsr_put_u16(row + 20 + 2 * k, clamped(color->data[3 * i + k], 65535));
        TSR_TRY(tsr_output_write(out, row, (size_t)formats[format].bytes));
    }
    return TSR_OK;
}

static tsr_status write_points(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    if (points->count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, LAS 1.2 counts up to 4294967295", path, (long long)points->count);
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all(out, points, options));
}

const tsr_format tsr_format_las = { .name = "las",
                                    .kind = TSR_FILE_POINTS,
                                    .extensions = { ".las", ".laz" },
                                    .recognise = recognise,
                                    .read_points = read_points,
                                    .write_points = write_points };
