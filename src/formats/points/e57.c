/* formats/points/e57.c: clouds of laser scanners, E57 (ASTM E2807), as they are read: all scans of a file in the frame of the file, each under its pose; positions, or ranges and
 * angles, and the attributes intensity and color (as the file has them). Points that the file calls invalid, images, and other fields are left out, with a remark.
 *
 * A file is pages whose last four bytes are a checksum, an XML tree behind, and for each scan a binary section of packets with a stream of bytes for every field. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/points/e57.h"
#include "formats/points/point_columns.h"
#include "formats/xml_tags.h"
#include "io/crc32c.h"
#include "io/little_endian.h"

enum { HEAD = 48, FIELDS_MOST = 64, DEPTH_MOST = 24, SCANS_MOST = 65536 };

enum use { X, Y, Z, RANGE, AZIMUTH, ELEVATION, INTENSITY, RED, GREEN, BLUE, INVALID, INVALID_ANGLES, USES };
static const char *const use_names[USES] = {
    "cartesianX", "cartesianY", "cartesianZ", "sphericalRange", "sphericalAzimuth",      "sphericalElevation",
    "intensity",  "colorRed",   "colorGreen", "colorBlue",      "cartesianInvalidState", "sphericalInvalidState"
};

typedef struct field {
    int use; /* USES: left out */
    enum { FLOAT, DOUBLE, INTEGER, SCALED } kind;
    int64_t least, most;
    double scale, offset;
    int bits;
    uint8_t *stream; /* its bytes of all packets, zeros behind */
    size_t size, room;
} field;

typedef struct scan {
    int64_t section, records; /* where its bytes begin, as the file counts */
    double turn[4], move[3];  /* w x y z */
    int posed, fields;
    field field[FIELDS_MOST];
    int of[USES]; /* field number, -1: none */
} scan;

typedef struct e57 {
    tsr_input *input;
    const char *name;
    uint8_t *bytes; /* without the checksums */
    int64_t size, page;
    scan *scan;
    int64_t scans, others; /* fields that are left out */
} e57;

static int recognise(const tsr_signature *s) { return s->head_bytes >= HEAD && !memcmp(s->head, "ASTM-E57", 8) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

/* ---- pages --------------------------------------------------------------------------------------------------------------------------------------------- */

/* An offset in the file among the bytes without checksums; -1: it is none. */
static int64_t logical(const e57 *f, uint64_t offset)
{
    const uint64_t page = (uint64_t)f->page;
    if (offset / page > (uint64_t)INT64_MAX / page || offset % page >= page - 4) return -1;
    const uint64_t at = offset / page * (page - 4) + offset % page;
    return at < (uint64_t)f->size ? (int64_t)at : -1;
}

static tsr_status take_pages(e57 *f, uint64_t *xml_at, uint64_t *xml_bytes)
{
    const uint8_t *all;
    size_t size;
    tsr_block block;
    TSR_TRY(tsr_input_all(f->input, &all, &size));
    if (size < HEAD || memcmp(all, "ASTM-E57", 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no E57 file, expected 'ASTM-E57' and a header of 48 bytes", f->name);
    if (tsr_get_u32(all + 8) != 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: E57 version %u, expected 1", f->name, tsr_get_u32(all + 8));
    const uint64_t page = tsr_get_u64(all + 40);
    *xml_at = tsr_get_u64(all + 24);
    *xml_bytes = tsr_get_u64(all + 32);
    if (page < 64 || page > 1 << 20 || (page & (page - 1)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: E57 pages of %llu bytes, expected a power of two", f->name, (unsigned long long)page);
    if (tsr_get_u64(all + 16) > size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: an E57 file of %llu bytes, %zu are there", f->name, (unsigned long long)tsr_get_u64(all + 16),
                 size);
    f->page = (int64_t)page;
    const int64_t pages = (int64_t)(size / page);
    f->size = pages * (f->page - 4);
    TSR_TRY(tsr_input_allocate(f->input, f->size + 16, "pages", &block)); /* is so much allowed? */
    tsr_block_release(&block);
    f->bytes = (uint8_t *)malloc((size_t)f->size + 16);
    if (!f->bytes) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bytes", f->name, (long long)f->size);
    for (int64_t k = 0; k < pages; k++) {
        const uint8_t *from = all + k * f->page, *sum = from + page - 4;
        const uint32_t said = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
        if (tsr_crc32c(from, (size_t)page - 4) != said)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged: the checksum of E57 page %lld is another one", f->name, (long long)k);
        memcpy(f->bytes + k * (f->page - 4), from, (size_t)page - 4);
    }
    return TSR_OK;
}

/* ---- the tree ------------------------------------------------------------------------------------------------------------------------------------------ */

static double real_of(const tsr_xml_tag *tag, const char *name, double otherwise)
{
    tsr_word word;
    double value;
    return tsr_xml_attribute(tag, name, &word) && tsr_word_double(word, &value) == TSR_TEXT_OK ? value : otherwise;
}
static int64_t integer_of(const tsr_xml_tag *tag, const char *name, int64_t otherwise)
{
    tsr_word word;
    int64_t value;
    return tsr_xml_attribute(tag, name, &word) && tsr_word_integer(word, &value) == TSR_TEXT_OK ? value : otherwise;
}

static tsr_status take_field(e57 *f, const tsr_xml_tag *tag, scan *s)
{
    tsr_word type = { "", 0 }, precision;
    if (s->fields == FIELDS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an E57 scan of more than %d fields", f->name, FIELDS_MOST);
    field *d = &s->field[s->fields];
    *d = (field){ .use = USES, .scale = 1 };
    (void)tsr_xml_attribute(tag, "type", &type);
    for (int k = 0; k < USES; k++)
        if (tsr_word_is(tag->name, use_names[k])) d->use = k;
    if (tsr_word_is(type, "Float")) {
        d->kind = tsr_xml_attribute(tag, "precision", &precision) && tsr_word_is(precision, "single") ? FLOAT : DOUBLE;
        d->bits = d->kind == FLOAT ? 32 : 64;
    } else if (tsr_word_is(type, "Integer") || tsr_word_is(type, "ScaledInteger")) {
        d->kind = tsr_word_is(type, "Integer") ? INTEGER : SCALED;
        d->least = integer_of(tag, "minimum", INT64_MIN);
        d->most = integer_of(tag, "maximum", INT64_MAX);
        d->scale = d->kind == SCALED ? real_of(tag, "scale", 1) : 1;
        d->offset = d->kind == SCALED ? real_of(tag, "offset", 0) : 0;
        if (d->most < d->least || d->scale - d->scale != 0 || d->offset - d->offset != 0)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: an E57 field of numbers from %lld to %lld, scale %g, offset %g", f->name, (long long)tag->line,
                     (long long)d->least, (long long)d->most, d->scale, d->offset);
        for (uint64_t range = (uint64_t)d->most - (uint64_t)d->least; range; range >>= 1) d->bits++;
    } else
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s:%lld: an E57 field of the type '%.*s', expected Float, Integer or ScaledInteger", f->name,
                 (long long)tag->line, (int)(type.size < 40 ? type.size : 40), type.text);
    if (d->use < USES) s->of[d->use] = s->fields;
    else f->others++;
    s->fields++;
    return TSR_OK;
}

static tsr_status add_scan(e57 *f, int64_t *room)
{
    if (f->scans == SCANS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d E57 scans", f->name, SCANS_MOST);
    if (f->scans == *room) {
        const int64_t more = *room ? 2 * *room : 4;
        scan *grown = (scan *)realloc(f->scan, (size_t)more * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld scans", f->name, (long long)more);
        f->scan = grown;
        *room = more;
    }
    scan *s = &f->scan[f->scans++];
    memset(s, 0, sizeof *s);
    s->turn[0] = 1;
    for (int k = 0; k < USES; k++) s->of[k] = -1;
    return TSR_OK;
}

/* A number between tags. */
static double text_number(const tsr_text *text)
{
    tsr_text inner = *text;
    const char *end = (const char *)memchr(text->at, '<', (size_t)(text->end - text->at));
    double value;
    inner.end = end ? end : text->end;
    return tsr_text_double(&inner, &value) == TSR_TEXT_OK ? value : 0;
}

typedef struct path {
    tsr_word name[DEPTH_MOST];
    int depth;
} path;
static int is_at(const path *p, int from, const char *name) { return p->depth > from && tsr_word_is(p->name[from], name); }

/* What an opening tag at its place says. */
static tsr_status take_tag(e57 *f, const tsr_xml_tag *tag, const tsr_text *behind, const path *p, int64_t *room)
{
    if (!is_at(p, 0, "e57Root") || !is_at(p, 1, "data3D")) return TSR_OK;
    if (p->depth == 3) return add_scan(f, room);
    if (p->depth < 4 || !f->scans) return TSR_OK;
    scan *s = &f->scan[f->scans - 1];
    if (is_at(p, 3, "pose") && p->depth == 6) {
        static const char *const letters[] = { "w", "x", "y", "z" };
        for (int k = 0; k < 4; k++) {
            if (!tsr_word_is(tag->name, letters[k])) continue;
            if (is_at(p, 4, "rotation")) s->turn[k] = text_number(behind);
            else if (is_at(p, 4, "translation") && k) s->move[k - 1] = text_number(behind);
            s->posed = 1;
        }
    }
    if (!is_at(p, 3, "points")) return TSR_OK;
    if (p->depth == 4) {
        const int64_t offset = integer_of(tag, "fileOffset", -1);
        s->section = offset < 0 ? -1 : logical(f, (uint64_t)offset);
        s->records = integer_of(tag, "recordCount", 0);
        if (s->records < 0 || (s->records && s->section < 0))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: %lld E57 points at byte %lld, which the file does not have", f->name, (long long)tag->line,
                     (long long)s->records, (long long)offset);
    } else if (p->depth == 6 && is_at(p, 4, "prototype")) TSR_TRY(take_field(f, tag, s));
    return TSR_OK;
}

static tsr_status take_tree(e57 *f, uint64_t xml_at, uint64_t xml_bytes)
{
    const int64_t at = logical(f, xml_at);
    path p = { .depth = 0 };
    int64_t room = 0;
    int more = 1;
    if (at < 0 || xml_bytes > (uint64_t)(f->size - at))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: an E57 tree of %llu bytes at byte %llu, which the file does not have", f->name, (unsigned long long)xml_bytes,
                 (unsigned long long)xml_at);
    tsr_text text = tsr_text_make(f->bytes + at, (size_t)xml_bytes);
    for (;;) {
        tsr_xml_tag tag;
        TSR_TRY(tsr_xml_next(f->name, &text, &tag, &more));
        if (!more) break;
        if (tag.closing) {
            if (p.depth) p.depth--;
            continue;
        }
        if (p.depth == DEPTH_MOST)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: E57: more than %d tags in one another", f->name, (long long)tag.line, DEPTH_MOST);
        p.name[p.depth++] = tag.name;
        TSR_TRY(take_tag(f, &tag, &text, &p, &room));
        if (tag.empty) p.depth--;
    }
    return TSR_OK;
}

/* ---- packets ------------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status add_bytes(const e57 *f, field *d, const uint8_t *from, size_t n)
{
    if (d->size + n + 16 > d->room) {
        const size_t room = (d->size + n + 16) * 2;
        uint8_t *grown = (uint8_t *)realloc(d->stream, room);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes of points", f->name, room);
        d->stream = grown;
        d->room = room;
    }
    memcpy(d->stream + d->size, from, n);
    d->size += n;
    memset(d->stream + d->size, 0, 16);
    return TSR_OK;
}

static tsr_status bad_packet(const e57 *f, int64_t at)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged: an E57 packet at byte %lld of the content", f->name, (long long)at);
}

static tsr_status take_packets(const e57 *f, scan *s)
{
    if (!s->records) return TSR_OK;
    if (f->size - s->section < 32 || f->bytes[s->section] != 1) return bad_packet(f, s->section);
    const uint64_t bytes = tsr_get_u64(f->bytes + s->section + 8);
    int64_t at = logical(f, tsr_get_u64(f->bytes + s->section + 16));
    if (bytes > (uint64_t)(f->size - s->section) || at < s->section) return bad_packet(f, s->section);
    const int64_t end = s->section + (int64_t)bytes;
    while (at + 4 <= end) {
        const uint8_t *p = f->bytes + at;
        const int64_t length = (int64_t)tsr_get_u16(p + 2) + 1;
        if (p[0] > 2 || length > end - at || length < 4) return bad_packet(f, at);
        if (p[0] == 1) { /* data */
            const int streams = length < 6 ? -1 : tsr_get_u16(p + 4);
            int64_t from = 6 + 2 * (int64_t)streams;
            if (streams != s->fields || from > length) return bad_packet(f, at);
            for (int k = 0; k < streams; k++) {
                const int64_t n = tsr_get_u16(p + 6 + 2 * k);
                if (n > length - from) return bad_packet(f, at);
                TSR_TRY(add_bytes(f, &s->field[k], p + from, (size_t)n));
                from += n;
            }
        }
        at += length;
    }
    for (int k = 0; k < s->fields; k++) {
        const field *d = &s->field[k];
        if (d->bits && (uint64_t)s->records > (uint64_t)d->size * 8 / (uint64_t)d->bits)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld E57 points of %d bits in %zu bytes", f->name, (long long)s->records, d->bits, d->size);
    }
    return TSR_OK;
}

static double value_at(const field *d, int64_t k)
{
    if (d->kind == FLOAT) return (double)tsr_get_f32(d->stream + 4 * k);
    if (d->kind == DOUBLE) return tsr_get_f64(d->stream + 8 * k);
    uint64_t v = 0;
    if (d->bits) {
        const uint64_t bit = (uint64_t)k * (uint64_t)d->bits;
        const uint8_t *p = d->stream + (bit >> 3);
        const int shift = (int)(bit & 7);
        v = tsr_get_u64(p) >> shift;
        if (shift && d->bits > 64 - shift) v |= (uint64_t)p[8] << (64 - shift);
        if (d->bits < 64) v &= ((uint64_t)1 << d->bits) - 1;
    }
    const double number = (double)(int64_t)((uint64_t)d->least + v);
    return d->kind == SCALED ? number * d->scale + d->offset : number;
}

static double use_at(const scan *s, int use, int64_t k) { return s->of[use] < 0 ? 0 : value_at(&s->field[s->of[use]], k); }

/* ---- points -------------------------------------------------------------------------------------------------------------------------------------------- */

/* 0: the point is invalid. */
static int place_of(const scan *s, int64_t k, double at[3])
{
    const int plain = s->of[X] >= 0;
    if (use_at(s, plain ? INVALID : INVALID_ANGLES, k) != 0) return 0;
    if (plain)
        for (int c = 0; c < 3; c++) at[c] = use_at(s, X + c, k);
    else {
        const double r = use_at(s, RANGE, k), a = use_at(s, AZIMUTH, k), e = use_at(s, ELEVATION, k);
        at[0] = r * cos(e) * cos(a), at[1] = r * cos(e) * sin(a), at[2] = r * sin(e);
    }
    if (at[0] - at[0] != 0 || at[1] - at[1] != 0 || at[2] - at[2] != 0) return 0;
    if (!s->posed) return 1;
    const double *q = s->turn; /* v + 2 w (u x v) + 2 u x (u x v) */
    const double c[3] = { q[2] * at[2] - q[3] * at[1], q[3] * at[0] - q[1] * at[2], q[1] * at[1] - q[2] * at[0] };
    const double d[3] = { q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2], q[1] * c[1] - q[2] * c[0] };
    for (int k2 = 0; k2 < 3; k2++) at[k2] += 2 * (q[0] * c[k2] + d[k2]) + s->move[k2];
    return 1;
}

static tsr_status check_scan(const e57 *f, scan *s)
{
    const int plain = s->of[X] >= 0 && s->of[Y] >= 0 && s->of[Z] >= 0, angles = s->of[RANGE] >= 0 && s->of[AZIMUTH] >= 0 && s->of[ELEVATION] >= 0;
    double length = 0;
    if (s->records && !plain && !angles)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an E57 scan without positions: neither cartesianX, Y, Z nor range and angles", f->name);
    if (!plain) s->of[X] = -1;
    for (int k = 0; k < 4; k++) length += s->turn[k] * s->turn[k];
    for (int k = 0; k < 3; k++)
        if (s->move[k] - s->move[k] != 0) length = -1;
    if (!(length > 0.25 && length < 4)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: an E57 pose that is no rotation and translation", f->name);
    for (int k = 0; k < 4; k++) s->turn[k] /= sqrt(length);
    return TSR_OK;
}

static tsr_status read_all(e57 *f, const tsr_read_options *options, tsr_points **points)
{
    uint64_t xml_at = 0, xml_bytes = 0;
    int64_t count = 0, invalid = 0;
    double at[3];
    int intensity = 0, color = 0;
    TSR_TRY(take_pages(f, &xml_at, &xml_bytes));
    TSR_TRY(take_tree(f, xml_at, xml_bytes));
    for (int64_t n = 0; n < f->scans; n++) {
        scan *s = &f->scan[n];
        TSR_TRY(check_scan(f, s));
        TSR_TRY(take_packets(f, s));
        intensity |= s->of[INTENSITY] >= 0;
        color |= s->of[RED] >= 0 && s->of[GREEN] >= 0 && s->of[BLUE] >= 0;
        int bits = 0; /* without any, all points are one, and nothing bounds their number */
        for (int k = 0; k < s->fields; k++) bits |= s->field[k].bits;
        if (!bits && s->records > 1 << 24) TSR_FAIL(TSR_ERROR_FORMAT, "%s: an E57 scan of %lld points without bytes", f->name, (long long)s->records);
        TSR_PROGRESS(&options->progress, -1, "reading the points");
        for (int64_t k = 0; k < s->records; k++) {
            const int good = place_of(s, k, at);
            count += good;
            invalid += !good;
        }
    }
    if (!f->scans) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an E57 file without points (pictures alone?)", f->name);
    TSR_TRY(tsr_points_for_input(f->input, count, 0, points));
    float *brightness = NULL, *colors = NULL;
    if (intensity && count) TSR_TRY(tsr_column_take(*points, TSR_COLUMN_ATTRIBUTE, "intensity", 1, &brightness));
    if (color && count) TSR_TRY(tsr_column_take(*points, TSR_COLUMN_ATTRIBUTE, "color", 3, &colors));
    tsr_places places = tsr_places_begin();
    do {
        int64_t i = 0;
        TSR_PROGRESS(&options->progress, -1, "reading the points");
        for (int64_t n = 0; n < f->scans; n++)
            for (int64_t k = 0; k < f->scan[n].records; k++) {
                if (!place_of(&f->scan[n], k, at)) continue;
                for (int c = 0; c < 3; c++) (*points)->positions[3 * i + c] = tsr_place(&places, c, at[c]);
                if (brightness) brightness[i] = (float)use_at(&f->scan[n], INTENSITY, k);
                for (int c = 0; c < 3 && colors; c++) colors[3 * i + c] = (float)use_at(&f->scan[n], RED + c, k);
                i++;
            }
    } while (count && tsr_places_again(&places, options));
    if (count) memcpy((*points)->origin, places.origin, sizeof places.origin);
    if (invalid) tsr_remark("%s: %lld E57 points that the file calls invalid are left out", f->name, (long long)invalid);
    if (f->others)
        tsr_remark("%s: %lld other fields of the E57 scans (rows, columns, times, normals ...) are left out", f->name, (long long)f->others);
    TSR_TRY(tsr_points_check_positions(f->input, *points));
    return TSR_OK;
}

static tsr_status read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    e57 f = { .input = input, .name = tsr_input_name(input) };
    *points = NULL;
    const tsr_status status = read_all(&f, options, points);
    for (int64_t n = 0; n < f.scans; n++)
        for (int k = 0; k < f.scan[n].fields; k++) free(f.scan[n].field[k].stream);
    free(f.scan);
    free(f.bytes);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

const tsr_format tsr_format_e57 = {
    .name = "e57", .kind = TSR_FILE_POINTS, .extensions = { ".e57" }, .recognise = recognise, .read_points = read_points,
    .write_points = tsr_e57_write
};
