/* formats/points/pcd.c: Point Cloud Data 0.6 and 0.7 (Point Cloud Library): a text header, then the points as text ("ascii"), as records ("binary", little
 * endian) or as LZF-packed columns ("binary_compressed"). Kept are x y z and normal_x normal_y normal_z. Points whose position is not a number are missing
 * measurements of an organised cloud and left out. Written as binary, or as text if asked for. */
#include <math.h>
#include <string.h>

#include "core/hd.h"
#include "formats/points/point_columns.h"

enum { FIELDS_MOST = 64 };
typedef enum pcd_form { PCD_NONE = 0, PCD_ASCII, PCD_BINARY, PCD_PACKED } pcd_form;
enum { ROLE_X, ROLE_Y, ROLE_Z, ROLE_NX, ROLE_NY, ROLE_NZ, ROLES };

typedef struct pcd_field {
    int64_t size, count, offset;
    char type;
    tsr_word name; /* in the file */
    float *data;   /* of an attribute of several numbers */
} pcd_field;
typedef struct pcd_header {
    const char *file;
    int fields, of_role[ROLES]; /* field of each role, -1 = none */
    pcd_field field[FIELDS_MOST];
    int64_t points, width, height, record;
    pcd_form form;
    tsr_places *places;
    tsr_point_table *table; /* of the fields of one number that are neither position nor normal */
} pcd_header;

static int role_of(tsr_word name)
{
    static const char *const names[ROLES] = { "x", "y", "z", "normal_x", "normal_y", "normal_z" };
    for (int r = 0; r < ROLES; r++)
        if (tsr_word_is(name, names[r])) return r;
    return -1;
}

/* One value of each field from a header line. */
static tsr_status per_field(pcd_header *h, tsr_text *line, const char *key)
{
    for (int f = 0; f < h->fields; f++) {
        tsr_word word = { "", 0 };
        char shown[32];
        int64_t v = 0;
        tsr_text_word(line, &word);
        if (key[0] == 'T') {
            if (word.size != 1 || !strchr("IUF", word.text[0]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: TYPE of field %d is '%s', expected I, U or F", h->file, f, tsr_word_show(word, shown));
            h->field[f].type = word.text[0];
            continue;
        }
        int size = key[0] == 'S';
        if (tsr_word_integer(word, &v) != TSR_TEXT_OK || v < 1 || v > (size ? 8 : 1 << 20) || (size && v != 1 && v != 2 && v != 4 && v != 8))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s of field %d is '%s', expected %s", h->file, key, f, tsr_word_show(word, shown),
                     size ? "1, 2, 4 or 8" : "a number from 1");
        if (size) h->field[f].size = v;
        else h->field[f].count = v;
    }
    return TSR_OK;
}

static tsr_status take_fields(pcd_header *h, tsr_text *line)
{
    tsr_word word;
    while (tsr_text_word(line, &word)) {
        if (h->fields == FIELDS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d fields", h->file, FIELDS_MOST);
        int role = role_of(word);
        if (role >= 0 && h->of_role[role] < 0) h->of_role[role] = h->fields;
        h->field[h->fields++] = (pcd_field){ .size = 4, .count = 1, .type = 'F', .name = word };
    }
    return TSR_OK;
}

static tsr_status take_line(pcd_header *h, tsr_text *line)
{
    tsr_word key = { "", 0 }, word = { "", 0 };
    char shown[32];
    tsr_text_word(line, &key);
    if (tsr_word_is(key, "FIELDS") || tsr_word_is(key, "COLUMNS")) return take_fields(h, line);
    if (tsr_word_is(key, "SIZE")) return per_field(h, line, "SIZE");
    if (tsr_word_is(key, "TYPE")) return per_field(h, line, "TYPE");
    if (tsr_word_is(key, "COUNT")) return per_field(h, line, "COUNT");
    int64_t *number = tsr_word_is(key, "POINTS")   ? &h->points
                      : tsr_word_is(key, "WIDTH")  ? &h->width
                      : tsr_word_is(key, "HEIGHT") ? &h->height
                                                   : NULL;
    if (number) {
        if (tsr_text_integer(line, number) != TSR_TEXT_OK || *number < 0)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is no whole number from 0", h->file, tsr_word_show(key, shown));
        return TSR_OK;
    }
    if (tsr_word_is(key, "DATA")) {
        tsr_text_word(line, &word);
        h->form = tsr_word_is(word, "ascii")               ? PCD_ASCII
                  : tsr_word_is(word, "binary")            ? PCD_BINARY
                  : tsr_word_is(word, "binary_compressed") ? PCD_PACKED
                                                           : PCD_NONE;
        if (!h->form) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DATA '%s', expected ascii, binary or binary_compressed", h->file, tsr_word_show(word, shown));
        return TSR_OK;
    }
    if (tsr_word_is(key, "VERSION") || tsr_word_is(key, "VIEWPOINT")) return TSR_OK;
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s', expected a PCD header field", h->file, (long long)line->line, tsr_word_show(key, shown));
}

/* Reads the header; `text` stands behind it then. */
static tsr_status parse_header(pcd_header *h, tsr_text *text)
{
    tsr_text line;
    tsr_space space;
    h->points = -1;
    h->width = h->height = -1;
    for (int r = 0; r < ROLES; r++) h->of_role[r] = -1;
    while (!h->form) {
        if (!tsr_text_data_line(text, &line, &space)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends within the PCD header", h->file);
        TSR_TRY(take_line(h, &line));
    }
    if (h->points < 0 && h->width >= 0 && h->height >= 0 && h->width < (int64_t)1 << 31 && h->height < (int64_t)1 << 31)
        h->points = h->width * h->height;
    if (h->points < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the PCD header has no POINTS", h->file);
    if (h->points > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected at most 2147483647", h->file, (long long)h->points);
    for (int r = 0; r < 3; r++)
        if (h->of_role[r] < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no field %c, expected FIELDS x y z", h->file, 'x' + r);
    for (int f = 0; f < h->fields; f++) {
        h->field[f].offset = h->record;
        h->record += h->field[f].size * h->field[f].count;
    }
    for (int r = 0; r < ROLES; r++) {
        const pcd_field *f = h->of_role[r] < 0 ? NULL : &h->field[h->of_role[r]];
        if (f && (f->count != 1 || (f->type == 'F' && f->size < 4)))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: field of position or normal with COUNT %lld, SIZE %lld, TYPE %c; expected one number", h->file,
                     (long long)f->count, (long long)f->size, f->type);
    }
    return TSR_OK;
}

static double value_at(const uint8_t *p, const pcd_field *f)
{
    uint64_t bits = 0;
    for (int64_t i = f->size; i-- > 0;) bits = bits << 8 | p[i];
    if (f->type == 'U') return (double)bits;
    if (f->type == 'I') {
        uint64_t sign = (uint64_t)1 << (8 * f->size - 1);
        return bits & sign ? -(double)((~bits + 1) & (sign | (sign - 1))) : (double)bits;
    }
    if (f->size == 4) return (double)tsr_bits_float((uint32_t)bits);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Adds a point unless it is missing. */
static tsr_status add(const pcd_header *h, tsr_points *points, int64_t *kept, const double v[ROLES], int64_t number)
{
    float p[3];
    if (isnan(v[0]) || isnan(v[1]) || isnan(v[2])) return TSR_OK;
    for (int k = 0; k < 3; k++) p[k] = tsr_place(h->places, k, v[k]);
    for (int k = 0; k < 3; k++) {
        if (!isfinite(p[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %c of point %lld is %g, expected a number in the range of float32", h->file, 'x' + k, (long long)number,
                     v[k]);
        points->positions[3 * *kept + k] = p[k];
        if (points->normals) points->normals[3 * *kept + k] = isfinite((float)v[3 + k]) ? (float)v[3 + k] : 0;
    }
    ++*kept;
    return TSR_OK;
}

/* A further number of the point that comes next; it is written over if that point is missing. */
static void put_further(const pcd_header *h, tsr_points *points, int64_t row, int f, int64_t c, double value)
{
    const pcd_field *own = &h->field[f];
    if (own->data) own->data[row * own->count + c] = (float)value;
    else if (own->count == 1) tsr_point_table_put(h->table, points, h->places, f, row, value);
}

static tsr_status read_ascii(const pcd_header *h, tsr_text text, const tsr_progress *progress, tsr_points *points, int64_t *kept)
{
    for (int64_t n = 0; n < h->points; n++) {
        double v[ROLES] = { 0 };
        TSR_READING(progress, n, (double)n / (double)h->points);
        for (int f = 0; f < h->fields; f++)
            for (int64_t c = 0; c < h->field[f].count; c++) {
                double value;
                if (tsr_text_double(&text, &value) != TSR_TEXT_OK)
                    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: point %lld of %lld: expected a number for field %d", h->file, (long long)text.line,
                             (long long)n, (long long)h->points, f);
                for (int r = 0; r < ROLES; r++)
                    if (h->of_role[r] == f) v[r] = value;
                put_further(h, points, *kept, f, c, value);
            }
        TSR_TRY(add(h, points, kept, v, n));
    }
    return TSR_OK;
}

/* Records one after another (column NULL) or columns of the fields. */
static tsr_status read_binary(const pcd_header *h, const uint8_t *data, int columns, const tsr_progress *progress, tsr_points *points, int64_t *kept)
{
    for (int64_t n = 0; n < h->points; n++) {
        double v[ROLES] = { 0 };
        TSR_READING(progress, n, (double)n / (double)h->points);
        for (int r = 0; r < ROLES; r++) {
            if (h->of_role[r] < 0) continue;
            const pcd_field *f = &h->field[h->of_role[r]];
            v[r] = value_at(columns ? data + f->offset * h->points + n * f->size : data + n * h->record + f->offset, f);
        }
        for (int f = 0; f < h->fields; f++) {
            const pcd_field *own = &h->field[f];
            if (!own->data && h->table->column[f].group < 0) continue;
            for (int64_t c = 0; c < own->count; c++)
                put_further(h, points, *kept, f, c,
                            value_at((columns ? data + own->offset * h->points + n * own->size * own->count : data + n * h->record + own->offset) + c * own->size, own));
        }
        TSR_TRY(add(h, points, kept, v, n));
    }
    return TSR_OK;
}

/* LZF (Lehmann): a byte below 32 starts a run of that many + 1 literals; others a copy: length in the top 3 bits (7: one more byte), distance below.
 * Returns 1 if exactly `size` bytes came out. */
static int lzf_unpack(const uint8_t *in, int64_t packed, uint8_t *out, int64_t size)
{
    int64_t i = 0, o = 0;
    while (i < packed) {
        int64_t control = in[i++];
        if (control < 32) {
            control++;
            if (control > packed - i || control > size - o) return 0;
            memcpy(out + o, in + i, (size_t)control);
            i += control;
            o += control;
            continue;
        }
        int64_t length = control >> 5, distance = (control & 31) << 8;
        if (length == 7) {
            if (i == packed) return 0;
            length += in[i++];
        }
        if (i == packed) return 0;
        distance += in[i++] + 1;
        length += 2;
        if (distance > o || length > size - o) return 0;
        for (int64_t k = 0; k < length; k++, o++) out[o] = out[o - distance];
    }
    return o == size;
}

static tsr_status read_packed(const pcd_header *h, tsr_input *input, tsr_text text, const tsr_progress *progress, tsr_points *points, int64_t *kept)
{
    const uint8_t *p = (const uint8_t *)text.at;
    const int64_t left = text.end - text.at, whole = h->points * h->record;
    uint8_t *columns = NULL;
    uint32_t sizes[2] = { 0, 0 };
    for (int i = 0; left >= 8 && i < 8; i++) sizes[i / 4] |= (uint32_t)p[i] << (8 * (i % 4));
    if (left < 8 || (int64_t)sizes[0] > left - 8 || (int64_t)sizes[1] != whole)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: packed data of %lld bytes for %lld, expected %lld bytes for %lld", h->file, (long long)sizes[0],
                 (long long)sizes[1], (long long)left - 8, (long long)whole);
    TSR_TRY(tsr_scratch_for_input(input, whole, 1, "packed columns", (void **)&columns));
    tsr_status status = lzf_unpack(p + 8, (int64_t)sizes[0], columns, whole) ? TSR_OK : TSR_FAILED(TSR_ERROR_FORMAT, "%s: damaged LZF data", h->file);
    if (status == TSR_OK) status = read_binary(h, columns, 1, progress, points, kept);
    tsr_host_release(NULL, columns, (size_t)whole);
    return status;
}

static tsr_status read_points(const pcd_header *h, tsr_input *input, tsr_text text, const tsr_progress *progress, tsr_points *points, int64_t *kept)
{
    if (h->form == PCD_ASCII) TSR_TRY(read_ascii(h, text, progress, points, kept));
    else if (h->form == PCD_BINARY) TSR_TRY(read_binary(h, (const uint8_t *)text.at, 0, progress, points, kept));
    else TSR_TRY(read_packed(h, input, text, progress, points, kept));
    return TSR_OK;
}

static tsr_status check_room(const pcd_header *h, tsr_text text)
{
    int64_t left = text.end - text.at, values = 0, least;
    for (int f = 0; f < h->fields; f++) values += h->field[f].count;
    least = h->form == PCD_ASCII ? 2 * values : h->record;
    if (h->form == PCD_PACKED) least = tsr_max64(h->record / 256, 0); /* LZF packs at most 264 bytes into 3 */
    left += h->form == PCD_ASCII; /* the last number needs no space behind it */
    if (least && h->points > left / least)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld points of at least %lld bytes announced, but only %lld bytes follow", h->file, (long long)h->points,
                 (long long)least, (long long)left);
    if (h->form == PCD_PACKED && h->points > 128 * left)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld points announced, but only %lld packed bytes follow", h->file, (long long)h->points, (long long)left);
    return TSR_OK;
}

/* Fields that are neither position nor normal nor colour become attributes. */
static tsr_status take_further(pcd_header *h, tsr_points *points)
{
    tsr_word names[FIELDS_MOST];
    for (int f = 0; f < h->fields; f++) {
        int known = tsr_word_is(h->field[f].name, "_") || tsr_word_is(h->field[f].name, "rgb") || tsr_word_is(h->field[f].name, "rgba");
        for (int r = 0; r < ROLES; r++) known |= h->of_role[r] == f;
        known |= h->field[f].type == 'F' && h->field[f].size < 4;
        names[f] = known || h->field[f].count != 1 ? (tsr_word){ "", 0 } : h->field[f].name;
        if (!known && h->field[f].count > 1 && h->field[f].count <= TSR_POINTS_COMPONENTS) {
            char usual[64];
            const int32_t components = (int32_t)h->field[f].count;
            const tsr_column_kind kind = tsr_column_kind_of(h->field[f].name, components, usual);
            TSR_TRY(tsr_column_take(points, kind == TSR_COLUMN_ATTRIBUTE ? kind : TSR_COLUMN_SKIPPED, usual, components, &h->field[f].data));
        }
    }
    (void)tsr_point_table_plan(h->table, names, h->fields);
    for (int32_t g = 0; g < h->table->groups; g++) /* positions and normals have fields of known names */
        if (h->table->group[g].kind == TSR_COLUMN_POSITION || h->table->group[g].kind == TSR_COLUMN_NORMAL) h->table->group[g].kind = TSR_COLUMN_SKIPPED;
    TSR_TRY(tsr_point_table_take(h->table, points));
    return TSR_OK;
}

static tsr_status pcd_read(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    const uint8_t *bytes;
    size_t size;
    int64_t kept = 0;
    tsr_status status;
    *points = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    tsr_places places = tsr_places_begin();
    pcd_header h = { .file = tsr_input_name(input), .places = &places };
    tsr_text text = tsr_text_make(bytes, size);
    TSR_TRY(parse_header(&h, &text));
    TSR_TRY(check_room(&h, text));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *h.table, (void **)&h.table));
    int normals = h.of_role[ROLE_NX] >= 0 && h.of_role[ROLE_NY] >= 0 && h.of_role[ROLE_NZ] >= 0;
    TSR_TRY_GOTO(tsr_points_for_input(input, h.points, normals ? TSR_POINTS_NORMALS : 0, points), fail);
    TSR_TRY_GOTO(take_further(&h, *points), fail);
    do {
        kept = 0;
        TSR_TRY_GOTO(read_points(&h, input, text, &options->progress, *points, &kept), fail);
    } while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    if (!kept) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: no points with numbers as positions", h.file);
    tsr_points_shrink(*points, kept);
fail:
    tsr_host_release(NULL, h.table, sizeof *h.table);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

static tsr_status write_header(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, int ascii)
{
    const char *position = tsr_has_origin(p->origin) ? "8" : "4";
    TSR_TRY(tsr_output_printf(out, "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS"));
    for (int32_t k = 0; k < c->count; k++) {
        const int normal = p->normals && k >= 3 && k < 6;
        TSR_TRY(tsr_output_printf(out, " %s%s", normal ? "normal_" : "", c->column[k].name + normal));
    }
    TSR_TRY(tsr_output_printf(out, "\nSIZE"));
    for (int32_t k = 0; k < c->count; k++) TSR_TRY(tsr_output_printf(out, " %s", k < 3 ? position : "4"));
    TSR_TRY(tsr_output_printf(out, "\nTYPE"));
    for (int32_t k = 0; k < c->count; k++) TSR_TRY(tsr_output_printf(out, " F"));
    TSR_TRY(tsr_output_printf(out, "\nCOUNT"));
    for (int32_t k = 0; k < c->count; k++) TSR_TRY(tsr_output_printf(out, " 1"));
    return tsr_output_printf(out, "\nWIDTH %lld\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %lld\nDATA %s\n", (long long)p->count, (long long)p->count,
                             ascii ? "ascii" : "binary");
}

static tsr_status write_rows(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, const tsr_write_options *options)
{
    const int far = tsr_has_origin(p->origin), swap = tsr_host_big_endian();
    for (int64_t i = 0; i < p->count; i++) {
        float row[TSR_COLUMNS_MOST]; /* tsr_output_elements would report each point as a whole file */
        double place[3];
        TSR_WRITING(&options->progress, i, p->count);
        for (int32_t k = 0; k < c->count; k++) row[k] = c->column[k].data[i * c->column[k].stride];
        if (options->ascii) {
            TSR_TRY(tsr_write_position(out, "", row, p->origin, c->count > 3 ? " " : "\n"));
            for (int32_t k = 3; k < c->count; k++) {
                char text[32], *end = tsr_put_float(text, row[k]);
                *end++ = k + 1 < c->count ? ' ' : '\n';
                TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
            }
            continue;
        }
        for (int k = 0; k < 3; k++) place[k] = p->origin[k] + (double)row[k];
        if (swap) tsr_swap_elements(row, c->count, sizeof *row);
        if (swap) tsr_swap_elements(place, 3, sizeof *place);
        if (far) TSR_TRY(tsr_output_write(out, place, sizeof place));
        TSR_TRY(tsr_output_write(out, row + (far ? 3 : 0), (size_t)(c->count - (far ? 3 : 0)) * sizeof *row));
    }
    return TSR_OK;
}

static tsr_status write_all(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    tsr_row_columns *c = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *c, (void **)&c));
    tsr_row_columns_of(p, 0, c);
    TSR_TRY_GOTO(write_header(out, p, c, options->ascii), done);
    TSR_TRY_GOTO(write_rows(out, p, c, options), done);
done:
    tsr_host_release(NULL, c, sizeof *c);
    return status;
}
static tsr_status pcd_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all(out, points, options));
}

static int pcd_recognise(const tsr_signature *s)
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_space space;
    tsr_word word;
    if (s->head_bytes >= 6 && !memcmp(s->head, "# .PCD", 6)) return TSR_SURELY_MINE;
    if (!tsr_text_data_line(&text, &line, &space) || !tsr_text_word(&line, &word) || !tsr_word_is(word, "VERSION")) return TSR_NOT_MINE;
    return tsr_text_data_line(&text, &line, &space) && tsr_text_word(&line, &word) && (tsr_word_is(word, "FIELDS") || tsr_word_is(word, "COLUMNS"))
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

const tsr_format tsr_format_pcd = {
    .name = "pcd", .kind = TSR_FILE_POINTS, .extensions = { ".pcd" }, .recognise = pcd_recognise, .read_points = pcd_read, .write_points = pcd_write
};
