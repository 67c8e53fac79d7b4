/* formats/point_files.c: clouds of points as text: XYZ (x y z, with or without a normal) and PTS (the number of points, then x y z intensity r g b; several
 * such blocks may follow one another). What stands behind the numbers that are kept is skipped. */
#include "formats/point_files.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

tsr_status tsr_points_for_input(const tsr_input *input, int64_t count, int parts, tsr_points **points)
{
    int64_t limit = tsr_input_settings(input)->memory_limit, bytes = count * (parts & TSR_POINTS_NORMALS ? 24 : 12);
    *points = NULL;
    if (limit <= 0) limit = tsr_physical_memory();
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected at most 2147483647", tsr_input_name(input), (long long)count);
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: points need %lld bytes, the memory limit is %lld", tsr_input_name(input), (long long)bytes, (long long)limit);
    TSR_TRY(tsr_points_create(NULL, count, parts, points));
    return TSR_OK;
}

/* ---- lines ---------------------------------------------------------------------------------------------------------------------------- */

enum { NUMBERS_MOST = 6 };

/* Up to 6 numbers of a line separated by white space, commas or semicolons; returns how many there are, -1 for a word that is none. */
static int line_numbers(tsr_text line, double numbers[NUMBERS_MOST], tsr_word *bad)
{
    int count = 0;
    const char *at = line.at;
    while (count < NUMBERS_MOST) {
        while (at < line.end && (*at == ' ' || *at == '\t' || *at == ',' || *at == ';' || *at == '\r')) at++;
        if (at == line.end) return count;
        const char *begin = at;
        while (at < line.end && *at != ' ' && *at != '\t' && *at != ',' && *at != ';' && *at != '\r') at++;
        *bad = (tsr_word){ begin, (size_t)(at - begin) };
        if (tsr_word_double(*bad, &numbers[count]) != TSR_TEXT_OK) return -1;
        count++;
    }
    return count;
}

/* Is a line with this word one of names, of columns? Then its first word is no number. One with a mistake in a number is a point. */
static int names_columns(tsr_text line, tsr_word bad)
{
    tsr_word first;
    return tsr_text_word(&line, &first) && bad.text == first.text && (isalpha((unsigned char)*bad.text) || strchr("\"'_", *bad.text));
}

/* The next line that is neither empty nor a comment ("#", "//"). */
static int data_line(tsr_text *text, tsr_text *line, tsr_space *space)
{
    while (tsr_text_data_line(text, line, space)) {
        const char *at = line->at;
        while (at < line->end && (*at == ' ' || *at == '\t')) at++;
        if (line->end - at < 2 || at[0] != '/' || at[1] != '/') return 1;
    }
    return 0;
}

typedef struct cloud_reader {
    const char *file;
    const tsr_progress *progress;
    tsr_places places;
    int pts; /* blocks with their number of points in front */
    tsr_space space;
} cloud_reader;

/* Walks the file: with `points` NULL counts the points and finds out whether each has a normal. */
static tsr_status walk(cloud_reader *r, tsr_text text, tsr_points *points, int64_t *count, int *normals)
{
    tsr_text line;
    int64_t n = 0, announced = 0, in_block = 0;
    int first = 1, all_normals = !r->pts;
    while (data_line(&text, &line, &r->space)) {
        double v[NUMBERS_MOST] = { 0 };
        char shown[32];
        tsr_word bad = { "", 0 };
        int got = line_numbers(line, v, &bad);
        if (got < 0 && first && !r->pts && names_columns(line, bad)) {
            first = 0;
            continue;
        }
        first = 0;
        if (got < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s', expected a number", r->file, (long long)line.line, tsr_word_show(bad, shown));
        if (r->pts && got == 1) {
            if (in_block != announced)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a block of %lld points ends after %lld", r->file, (long long)line.line,
                         (long long)announced, (long long)in_block);
            if (!(v[0] >= 0 && v[0] <= 2147483647.0 && v[0] == floor(v[0])))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %g points, expected a whole number from 0", r->file, (long long)line.line, v[0]);
            announced = (int64_t)v[0];
            in_block = 0;
            continue;
        }
        if (got < 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %d numbers, expected x y z", r->file, (long long)line.line, got);
        if (r->pts && in_block++ == announced)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: more points than the %lld announced", r->file, (long long)line.line, (long long)announced);
        if (all_normals) { /* a unit vector, or 0 where it is unknown: colours and intensities are neither */
            double length = v[3] * v[3] + v[4] * v[4] + v[5] * v[5];
            all_normals = got == NUMBERS_MOST && (length == 0 || fabs(length - 1) < 0.02);
        }
        if (points) {
            TSR_READING(r->progress, n, (double)n / (double)points->count);
            for (int i = 0; i < 3; i++) {
                points->positions[3 * n + i] = tsr_place(&r->places, i, v[i]);
                if (points->normals) points->normals[3 * n + i] = (float)v[3 + i];
            }
            if (!isfinite(points->positions[3 * n]) || !isfinite(points->positions[3 * n + 1]) || !isfinite(points->positions[3 * n + 2]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: point %lld is not finite, expected numbers in the range of float32", r->file,
                         (long long)line.line, (long long)n);
        } else {
            TSR_READING(r->progress, n, -1);
        }
        n++;
    }
    if (in_block != announced)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends after %lld of %lld points", r->file, (long long)in_block, (long long)announced);
    *count = n;
    *normals = n > 0 && all_normals;
    return TSR_OK;
}

static tsr_status read_cloud(tsr_input *input, const tsr_read_options *options, int pts, tsr_points **points)
{
    const uint8_t *bytes;
    size_t size;
    int64_t count;
    int normals;
    *points = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    cloud_reader r = { .file = tsr_input_name(input), .progress = &options->progress, .pts = pts, .space = TSR_SPACE_NONE };
    TSR_TRY(walk(&r, tsr_text_make(bytes, size), NULL, &count, &normals));
    if (!count) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no points, expected lines of x y z", r.file);
    TSR_TRY(tsr_points_for_input(input, count, normals ? TSR_POINTS_NORMALS : 0, points));
    r.places = tsr_places_begin();
    tsr_status status;
    do status = walk(&r, tsr_text_make(bytes, size), *points, &count, &normals);
    while (status == TSR_OK && tsr_places_again(&r.places, options));
    memcpy((*points)->origin, r.places.origin, sizeof r.places.origin);
    if (status != TSR_OK) tsr_points_destroy(points);
    else (*points)->space = r.space;
    return status;
}
static tsr_status xyz_read(tsr_input *input, const tsr_read_options *options, tsr_points **points) { return read_cloud(input, options, 0, points); }
static tsr_status pts_read(tsr_input *input, const tsr_read_options *options, tsr_points **points) { return read_cloud(input, options, 1, points); }

void tsr_points_say_left(const tsr_points *p, const char *path, const char *format, int normals, const char *const *kept)
{
    char list[256] = "";
    int used = snprintf(list, sizeof list, "%s%s", p->normals && !normals ? ", normals" : "", p->radii ? ", radii" : "");
    for (int32_t a = 0; a < p->attributes; a++) {
        int k = 0;
        while (kept && kept[k] && strcmp(kept[k], p->attribute[a].name)) k++;
        if ((!kept || !kept[k]) && used + 70 < (int)sizeof list) used += snprintf(list + used, sizeof list - (size_t)used, ", %s", p->attribute[a].name);
    }
    if (used) tsr_remark("%s: what has no place in a %s file is left out: %s", path, format, list + 2);
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_lines(tsr_output *out, const tsr_points *points, int normals, const tsr_progress *progress)
{
    for (int64_t i = 0; i < points->count; i++) {
        TSR_WRITING(progress, i, points->count);
        TSR_TRY(tsr_write_position(out, "", points->positions + 3 * i, points->origin, normals ? " " : "\n"));
        if (normals) TSR_TRY(tsr_write_floats(out, "", points->normals + 3 * i, "\n"));
    }
    return TSR_OK;
}
static tsr_status xyz_write_all(tsr_output *out, const tsr_points *points, const tsr_progress *progress)
{
    if (points->space != TSR_SPACE_NONE) TSR_TRY(tsr_output_printf(out, "# %s\n", tsr_space_comment(points->space)));
    return write_lines(out, points, points->normals != NULL, progress);
}
static tsr_status xyz_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_points_say_left(points, path, "xyz", 1, NULL);
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, xyz_write_all(out, points, &options->progress));
}
static tsr_status pts_write_all(tsr_output *out, const tsr_points *points, const tsr_progress *progress)
{
    TSR_TRY(tsr_output_printf(out, "%lld\n", (long long)points->count));
    return write_lines(out, points, 0, progress);
}
static tsr_status pts_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_points_say_left(points, path, "pts", 0, NULL);
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, pts_write_all(out, points, &options->progress));
}

/* ---- recognition: the first two data lines that the head holds completely -------------------------------------------------------------- */

static int first_lines(const tsr_signature *s, int numbers[2])
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_space space;
    int lines = 0;
    if (memchr(s->head, 0, s->head_bytes)) return 0;
    while (lines < 2 && data_line(&text, &line, &space)) {
        double v[NUMBERS_MOST];
        tsr_word bad;
        if (line.end == (const char *)s->head + s->head_bytes && s->head_bytes == TSR_HEAD_BYTES) break; /* may go on beyond the head */
        numbers[lines] = line_numbers(line, v, &bad);
        lines++;
    }
    return lines;
}
static int xyz_recognise(const tsr_signature *s)
{
    int numbers[2] = { 0, 0 }, lines = first_lines(s, numbers);
    return lines && (numbers[0] >= 3 || (lines == 2 && numbers[0] < 0 && numbers[1] >= 3)) ? TSR_MAYBE_MINE : TSR_NOT_MINE;
}
static int pts_recognise(const tsr_signature *s)
{
    int numbers[2] = { 0, 0 }, lines = first_lines(s, numbers);
    return lines == 2 && numbers[0] == 1 && numbers[1] >= 3 ? TSR_MAYBE_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_xyz = { .name = "xyz", .kind = TSR_FILE_POINTS, .extensions = { ".xyz", ".asc" }, .recognise = xyz_recognise,
                                    .read_points = xyz_read, .write_points = xyz_write };
const tsr_format tsr_format_pts = { .name = "pts", .kind = TSR_FILE_POINTS, .extensions = { ".pts" }, .recognise = pts_recognise,
                                    .read_points = pts_read, .write_points = pts_write };
