/* formats/points/bgeo.c: Houdini's classic binary geometry, version 5, as Partio writes it for particles (.bgeo, .bhclassic, with or without gzip round it). Everything is
 * big-endian: "BgeoV", version, numbers of points, primitives, groups and attributes; names, sizes and types of the attributes of points; then each point: x y z w
 * and its attributes. What follows the points is left out. */
#include "formats/points/point_columns.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 5 + 9 * 4, ATTRIBUTES_MOST = 256 };
typedef enum bgeo_type { BGEO_FLOAT = 0, BGEO_INT = 1, BGEO_STRING = 2, BGEO_INDEX = 4, BGEO_VECTOR = 5 } bgeo_type;

typedef struct bgeo_attribute {
    int32_t size, integer, kept;
    float *data;
} bgeo_attribute;

typedef struct bgeo_reader {
    tsr_input *input;
    const char *file;
    const uint8_t *at, *end;
    int64_t points;
    int32_t attributes;
    bgeo_attribute attribute[ATTRIBUTES_MOST];
    char names[ATTRIBUTES_MOST][64];
    tsr_column_kind kinds[ATTRIBUTES_MOST];
    int64_t record; /* numbers of a point */
} bgeo_reader;

static uint32_t u32_at(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static tsr_status need(const bgeo_reader *r, int64_t bytes, const char *what)
{
    if (bytes > r->end - r->at)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s need %lld bytes, %lld are left in the file", r->file, what, (long long)bytes, (long long)(r->end - r->at));
    return TSR_OK;
}
static uint32_t take4(bgeo_reader *r)
{
    r->at += 4;
    return u32_at(r->at - 4);
}
static uint32_t take2(bgeo_reader *r)
{
    r->at += 2;
    return (uint32_t)r->at[-2] << 8 | r->at[-1];
}

static tsr_status take_attribute(bgeo_reader *r, int32_t k)
{
    bgeo_attribute *a = &r->attribute[k];
    TSR_TRY(need(r, 2, "names of attributes"));
    const uint32_t length = take2(r);
    TSR_TRY(need(r, (int64_t)length + 6, "names of attributes"));
    const tsr_word name = { (const char *)r->at, length };
    char shown[32];
    r->at += length;
    a->size = (int32_t)take2(r);
    const uint32_t type = take4(r);
    a->integer = type == BGEO_INT || type == BGEO_INDEX;
    if (type == BGEO_INDEX) {
        TSR_TRY(need(r, 4, "texts of an attribute"));
        const uint32_t texts = take4(r);
        for (uint32_t i = 0; i < texts; i++) {
            TSR_TRY(need(r, 2, "texts of an attribute"));
            const uint32_t bytes = take2(r);
            TSR_TRY(need(r, bytes, "texts of an attribute"));
            r->at += bytes;
        }
    } else if (type == BGEO_FLOAT || type == BGEO_INT || type == BGEO_VECTOR) {
        TSR_TRY(need(r, 4 * (int64_t)a->size, "defaults of an attribute"));
        r->at += 4 * (int64_t)a->size;
    } else
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: attribute '%s' is of type %u, expected 0 (float), 1 (int), 4 (index) or 5 (vector)", r->file,
                 tsr_word_show(name, shown), type);
    r->kinds[k] = type == BGEO_INDEX ? TSR_COLUMN_SKIPPED : tsr_column_kind_of(name, a->size, r->names[k]);
    r->record += a->size;
    return TSR_OK;
}

static tsr_status take_header(bgeo_reader *r)
{
    if (r->end - r->at >= 4 && !memcmp(r->at, "\x7fNSJ", 4))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Houdini's newer geometry, expected the classic one (save as .bhclassic)", r->file);
    if (r->end - r->at < HEAD || memcmp(r->at, "BgeoV", 5)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with BgeoV and nine numbers", r->file);
    r->at += 5;
    uint32_t n[9];
    for (int k = 0; k < 9; k++) n[k] = take4(r);
    if (n[0] != 5) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %u of BGEO, expected 5", r->file, n[0]);
    if (n[1] > INT32_MAX) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %u points, expected at most 2147483647", r->file, n[1]);
    if (n[5] > ATTRIBUTES_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %u attributes of points, expected at most %d", r->file, n[5], ATTRIBUTES_MOST);
    r->points = n[1];
    r->attributes = (int32_t)n[5];
    r->record = 4;
    for (int32_t k = 0; k < r->attributes; k++) TSR_TRY(take_attribute(r, k));
    TSR_TRY(need(r, r->points * r->record * 4, "the points"));
    return TSR_OK;
}

static float number_at(const uint8_t *p, int integer)
{
    const uint32_t bits = u32_at(p);
    float f;
    if (integer) return (float)(int32_t)bits;
    memcpy(&f, &bits, 4);
    return f;
}

static tsr_status read_all(bgeo_reader *r, const tsr_read_options *options, tsr_points **points)
{
    TSR_TRY(take_header(r));
    TSR_TRY(tsr_points_for_input(r->input, r->points, 0, points));
    for (int32_t k = 0; k < r->attributes; k++)
        TSR_TRY(tsr_column_take(*points, r->kinds[k], r->names[k], r->attribute[k].size, &r->attribute[k].data));
    float *place = (*points)->positions;
    for (int64_t i = 0; i < r->points; i++) {
        const uint8_t *p = r->at + i * r->record * 4;
        TSR_READING(&options->progress, i, (double)i / (double)r->points);
        for (int k = 0; k < 3; k++) place[3 * i + k] = number_at(p + 4 * k, 0);
        p += 16;
        for (int32_t k = 0; k < r->attributes; k++) {
            bgeo_attribute *a = &r->attribute[k];
            for (int32_t c = 0; c < a->size && a->data; c++) a->data[i * a->size + c] = number_at(p + 4 * c, a->integer);
            p += 4 * (int64_t)a->size;
        }
    }
    TSR_TRY(tsr_points_check_positions(r->input, *points));
    return TSR_OK;
}

static tsr_status bgeo_read(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    size_t size;
    bgeo_reader *r = NULL;
    const uint8_t *bytes;
    *points = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *r, (void **)&r));
    memset(r, 0, sizeof *r);
    r->input = input;
    r->file = tsr_input_name(input);
    r->at = bytes;
    r->end = bytes + size;
    const tsr_status status = read_all(r, options, points);
    tsr_host_release(NULL, r, sizeof *r);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------------- */

static void put4(uint8_t **at, uint32_t v)
{
    for (int k = 0; k < 4; k++) *(*at)++ = (uint8_t)(v >> (24 - 8 * k));
}
static void put_number(uint8_t **at, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    put4(at, bits);
}

static tsr_status put_name(tsr_output *out, const char *name, int32_t size)
{
    uint8_t text[2 + 64 + 6 + 4 * TSR_POINTS_COMPONENTS], *at = text;
    const size_t length = strlen(name);
    *at++ = 0;
    *at++ = (uint8_t)length;
    memcpy(at, name, length);
    at += length;
    *at++ = 0;
    *at++ = (uint8_t)size;
    put4(&at, size == 3 ? BGEO_VECTOR : BGEO_FLOAT);
    for (int32_t k = 0; k < size; k++) put4(&at, 0);
    return tsr_output_write(out, text, (size_t)(at - text));
}

static tsr_status write_all(tsr_output *out, const tsr_points *p, const tsr_progress *progress)
{
    uint8_t row[4 * (4 + 4 + TSR_POINTS_ATTRIBUTES * TSR_POINTS_COMPONENTS)], *at = row;
    const uint32_t head[9] = { 5, (uint32_t)p->count, 0, 0, 0, (uint32_t)(p->attributes + (p->normals != NULL) + (p->radii != NULL)), 0, 0, 0 };
    memcpy(row, "BgeoV", 5);
    at += 5;
    for (int k = 0; k < 9; k++) put4(&at, head[k]);
    TSR_TRY(tsr_output_write(out, row, (size_t)(at - row)));
    if (p->normals) TSR_TRY(put_name(out, "N", 3));
    if (p->radii) TSR_TRY(put_name(out, "pscale", 1));
    for (int32_t k = 0; k < p->attributes; k++)
        TSR_TRY(put_name(out, !strcmp(p->attribute[k].name, "velocity") && p->attribute[k].components == 3 ? "v" : p->attribute[k].name, p->attribute[k].components));
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(progress, i, p->count);
        at = row;
        for (int k = 0; k < 3; k++) put_number(&at, (float)(p->origin[k] + (double)p->positions[3 * i + k]));
        put_number(&at, 1.0f);
        for (int k = 0; p->normals && k < 3; k++) put_number(&at, p->normals[3 * i + k]);
        if (p->radii) put_number(&at, p->radii[i]);
        for (int32_t a = 0; a < p->attributes; a++)
            for (int32_t k = 0; k < p->attribute[a].components; k++) put_number(&at, p->attribute[a].data[i * p->attribute[a].components + k]);
        TSR_TRY(tsr_output_write(out, row, (size_t)(at - row)));
    }
    return tsr_output_write(out, "\x00\xff", 2);
}
static tsr_status bgeo_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all(out, points, &options->progress));
}

static int bgeo_recognise(const tsr_signature *s)
{
    return s->head_bytes >= 5 && (!memcmp(s->head, "BgeoV", 5) || !memcmp(s->head, "\x7fNSJ", 4)) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_bgeo = { .name = "bgeo", .kind = TSR_FILE_POINTS, .extensions = { ".bgeo", ".bhclassic" }, .recognise = bgeo_recognise,
                                     .read_points = bgeo_read, .write_points = bgeo_write };
