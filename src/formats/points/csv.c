/* formats/points/csv.c: points as text with a line of names: columns separated by commas, semicolons or tabs, as ParaView and spreadsheets write them. */
#include "formats/points/point_columns.h"

#include <ctype.h>
#include <string.h>

typedef struct csv_reader {
    const char *file;
    char mark; /* between columns */
    int32_t columns;
    tsr_word names[TSR_COLUMNS_MOST];
    tsr_point_table table;
} csv_reader;

/* The next cell of a line, spaces and quotes taken off; 0 behind the last. */
static int next_cell(tsr_text *line, char mark, int *ended, tsr_word *cell)
{
    if (*ended) return 0;
    const char *begin = line->at;
    while (line->at < line->end && *line->at != mark) line->at++;
    const char *end = line->at;
    *ended = line->at == line->end;
    if (!*ended) line->at++;
    while (begin < end && (*begin == ' ' || *begin == '"' || *begin == '\'' || *begin == '\t')) begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '"' || end[-1] == '\'' || end[-1] == '\t' || end[-1] == '\r')) end--;
    *cell = (tsr_word){ begin, (size_t)(end - begin) };
    return 1;
}

static char mark_of(tsr_text line)
{
    static const char marks[] = ",;\t";
    for (const char *m = marks; *m; m++)
        if (memchr(line.at, *m, (size_t)(line.end - line.at))) return *m;
    return 0;
}

/* The line of names: 1 if it is one, with positions. */
static int take_names(csv_reader *r, tsr_text line)
{
    int ended = 0;
    tsr_word cell;
    double number;
    r->mark = mark_of(line);
    r->columns = 0;
    if (!r->mark) return 0;
    while (r->columns < TSR_COLUMNS_MOST && next_cell(&line, r->mark, &ended, &cell)) {
        if (cell.size && tsr_word_double(cell, &number) == TSR_TEXT_OK) return 0;
        for (size_t k = 1; k < cell.size; k++) /* units: "x [m]" */
            if (cell.text[k] == '[' || cell.text[k] == '(') {
                cell.size = k;
                while (cell.size && cell.text[cell.size - 1] == ' ') cell.size--;
            }
        r->names[r->columns++] = cell;
    }
    return ended && tsr_point_table_plan(&r->table, r->names, r->columns);
}

static tsr_status row(const csv_reader *r, tsr_text line, int64_t n, tsr_places *places, tsr_points *points)
{
    int ended = 0;
    int32_t k = 0;
    tsr_word cell;
    char shown[32];
    const int64_t number = line.line;
    while (next_cell(&line, r->mark, &ended, &cell)) {
        double value = 0;
        if (k < r->columns && r->table.column[k].group >= 0 && tsr_word_double(cell, &value) != TSR_TEXT_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s', expected a number", r->file, (long long)number, tsr_word_show(cell, shown));
        if (k < r->columns && points) tsr_point_table_put(&r->table, points, places, k, n, value);
        k++;
    }
    if (k != r->columns)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %d columns, expected %d", r->file, (long long)number, (int)k, (int)r->columns);
    return TSR_OK;
}

static tsr_status walk(const csv_reader *r, tsr_text text, const tsr_progress *progress, tsr_places *places, tsr_points *points, int64_t *count)
{
    tsr_text line;
    tsr_space space = TSR_SPACE_NONE;
    int64_t n = 0;
    while (tsr_text_data_line(&text, &line, &space)) {
        TSR_READING(progress, n, points ? (double)n / (double)points->count : -1);
        TSR_TRY(row(r, line, n, places, points));
        n++;
    }
    *count = n;
    return TSR_OK;
}

static tsr_status read_rows(tsr_input *input, const tsr_read_options *options, csv_reader *r, tsr_text text, tsr_points **points)
{
    tsr_text line;
    tsr_space space = TSR_SPACE_NONE;
    tsr_places places = tsr_places_begin();
    int64_t count = 0;
    if (!tsr_text_data_line(&text, &line, &space) || !take_names(r, line))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the first line names no columns x, y and z side by side, with commas between", r->file);
    TSR_TRY(walk(r, text, &options->progress, &places, NULL, &count));
    if (!count) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no points behind the line of names", r->file);
    TSR_TRY(tsr_points_for_input(input, count, 0, points));
    TSR_TRY(tsr_point_table_take(&r->table, *points));
    do TSR_TRY(walk(r, text, &options->progress, &places, *points, &count));
    while (tsr_places_again(&places, options));
    memcpy((*points)->origin, places.origin, sizeof places.origin);
    (*points)->space = space;
    TSR_TRY(tsr_points_check_positions(input, *points));
    return TSR_OK;
}

static tsr_status csv_read(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    const uint8_t *bytes;
    size_t size;
    csv_reader *r = NULL;
    *points = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *r, (void **)&r));
    r->file = tsr_input_name(input);
    const tsr_status status = read_rows(input, options, r, tsr_text_make(bytes, size), points);
    tsr_host_release(NULL, r, sizeof *r);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

static tsr_status write_rows(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, const tsr_progress *progress)
{
    if (p->space != TSR_SPACE_NONE) TSR_TRY(tsr_output_printf(out, "# %s\n", tsr_space_comment(p->space)));
    for (int32_t k = 0; k < c->count; k++) TSR_TRY(tsr_output_printf(out, "%s%s", c->column[k].name, k + 1 < c->count ? "," : "\n"));
    for (int64_t i = 0; i < p->count; i++) {
        char text[64];
        TSR_WRITING(progress, i, p->count);
        for (int32_t k = 0; k < c->count; k++) {
            const float v = c->column[k].data[i * c->column[k].stride];
            char *end = k < 3 && tsr_has_origin(p->origin) ? tsr_put_place(text, p->origin[k] + (double)v) : tsr_put_float(text, v);
            *end++ = k + 1 < c->count ? ',' : '\n';
            TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
        }
    }
    return TSR_OK;
}

static tsr_status csv_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_row_columns *c = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *c, (void **)&c));
    tsr_row_columns_of(points, 0, c);
    status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        const tsr_status written = write_rows(out, points, c, &options->progress);
        status = tsr_output_finish(&out, written);
    }
    tsr_host_release(NULL, c, sizeof *c);
    return status;
}

static int csv_recognise(const tsr_signature *s)
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_space space;
    if (memchr(s->head, 0, s->head_bytes) || !tsr_text_data_line(&text, &line, &space)) return TSR_NOT_MINE;
    if (line.end == (const char *)s->head + s->head_bytes && s->head_bytes == TSR_HEAD_BYTES) return TSR_NOT_MINE; /* may go on beyond the head */
    csv_reader *r = NULL;
    if (!mark_of(line) || tsr_host_allocate(NULL, sizeof *r, (void **)&r) != TSR_OK) return TSR_NOT_MINE;
    const int mine = take_names(r, line);
    tsr_host_release(NULL, r, sizeof *r);
    return mine ? TSR_MAYBE_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_csv = { .name = "csv", .kind = TSR_FILE_POINTS, .extensions = { ".csv" }, .recognise = csv_recognise,
                                    .read_points = csv_read, .write_points = csv_write };
