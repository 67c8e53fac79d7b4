/* vision/rig/rig_lightfield.c: light fields: a folder with a picture for each camera of a grid. Three layouts: parameters.cfg with input_Cam000.png ... (4D Light
 * Field Benchmark: all is said), out_RR_CC_V_U.png (Stanford archive: cameras have places, but no focal length), and pictures that end in a row and a column,
 * or in one number. All cameras look along z; their frusta are sheared so that a plane at the distance `focus` falls on the same pixels of all pictures. */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vision/rig/rig.h"

enum { NAME_MOST = 256, SIDE_MOST = 4096 };
#define PARAMETERS "parameters.cfg"

/* A picture and where its camera stands: x to the right, y down. */
typedef struct cell {
    char name[NAME_MOST];
    int prefix; /* length of the part before the numbers */
    int64_t row, column;
    double x, y;
} cell;
typedef struct field {
    cell *cell;
    int64_t count, room;
    int named; /* != 0: names hold places */
    int64_t rows, columns;
    int32_t width, height;
    double focal, baseline, focus;
} field;

/* ---- names ------------------------------------------------------------------------------------------------------------------------- */

static int is_picture(const char *name)
{
    static const char *const endings[] = { ".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".tif", ".tiff", ".bmp", ".exr" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (tsr_path_has_extension(name, endings[i])) return 1;
    return 0;
}
static int index_of(const char *at, int digits, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++) *value = *value * 10 + (at[i] - '0');
    return digits > 0 && digits <= 7;
}

/* out_RR_CC_V_U.png or out_RR_CC_V_U_.png: V counts upwards in the first, downwards in the second, as programs that read the archive take it. */
static int parse_placed(const char *name, cell *c)
{
    double place[2];
    int at = 4, used;
    if (strncmp(name, "out_", 4)) return 0;
    int64_t *const index[2] = { &c->row, &c->column };
    for (int k = 0; k < 2; k++) {
        const int digits = (int)strspn(name + at, "0123456789");
        if (!index_of(name + at, digits, index[k]) || name[at + digits] != '_') return 0;
        at += digits + 1;
    }
    for (int k = 0; k < 2; k++) {
        used = (int)strspn(name + at, "+-.0123456789");
        if (!k && name[at + used] != '_') return 0;
        if (k && used > 0 && name[at + used - 1] == '.') used--; /* of the extension */
        if (tsr_word_double((tsr_word){ name + at, (size_t)used }, &place[k]) != TSR_TEXT_OK || !isfinite(place[k])) return 0;
        at += used + !k;
    }
    const int downwards = name[at] == '_';
    if (name[at + downwards] != '.') return 0;
    c->prefix = 4;
    c->x = place[1];
    c->y = downwards ? place[0] : -place[0];
    return 1;
}

/* The numbers that a name ends in, before its extension: 2 (row and column, something between them), 1, or 0. */
static int parse_numbered(const char *name, cell *c)
{
    const char *dot = strrchr(name, '.');
    int end = dot ? (int)(dot - name) : 0, first = end;
    while (first > 0 && isdigit((unsigned char)name[first - 1])) first--;
    if (!index_of(name + first, end - first, &c->column)) return 0;
    c->prefix = first;
    c->row = -1;
    int second = first;
    while (second > 0 && !isdigit((unsigned char)name[second - 1]) && first - second < 2) second--;
    end = second;
    while (second > 0 && isdigit((unsigned char)name[second - 1])) second--;
    int64_t row;
    if (end == first || !index_of(name + second, end - second, &row)) return 1;
    c->row = row;
    c->prefix = second;
    return 2;
}

static int by_name(const void *a, const void *b) { return strcmp(((const cell *)a)->name, ((const cell *)b)->name); }
static int by_place(const void *a, const void *b)
{
    const cell *l = (const cell *)a, *r = (const cell *)b;
    return l->row != r->row ? (l->row > r->row) - (l->row < r->row) : (l->column > r->column) - (l->column < r->column);
}

static tsr_status keep(field *f, const cell *c)
{
    if (f->count == f->room) {
        const int64_t room = f->room ? 2 * f->room : 64;
        cell *grown = room > TSR_RIG_CAMERAS_MOST ? NULL : (cell *)realloc(f->cell, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "light field: out of host memory for %lld names", (long long)room);
        f->cell = grown;
        f->room = room;
    }
    f->cell[f->count++] = *c;
    return TSR_OK;
}

/* The pictures of a folder, those that say places if there are such. */
static tsr_status list(const char *path, field *f)
{
    DIR *folder = opendir(path);
    tsr_status status = TSR_OK;
    if (!folder) TSR_FAIL(TSR_ERROR_IO, "%.200s: this folder cannot be read", path);
    for (struct dirent *e; status == TSR_OK && (e = readdir(folder));) {
        cell c = { .row = -1 };
        if (e->d_name[0] == '.' || strlen(e->d_name) >= NAME_MOST || !is_picture(e->d_name)) continue;
        memcpy(c.name, e->d_name, strlen(e->d_name) + 1);
        if (parse_placed(c.name, &c) && !f->named) {
            f->named = 1;
            f->count = 0;
        } else if (f->named ? !parse_placed(c.name, &c) : !parse_numbered(c.name, &c)) continue;
        status = keep(f, &c);
    }
    closedir(folder);
    if (status == TSR_OK && f->count) qsort(f->cell, (size_t)f->count, sizeof *f->cell, by_name);
    return status;
}

/* Of pictures with different beginnings those that are most: maps of depth lie in the same folders. */
static void choose(field *f)
{
    int64_t best = 0, most = 0;
    for (int64_t i = 0, run; i < f->count; i += run) {
        const cell *a = &f->cell[i];
        for (run = 1; i + run < f->count; run++) {
            const cell *b = &f->cell[i + run];
            if (b->prefix != a->prefix || (b->row < 0) != (a->row < 0) || strncmp(a->name, b->name, (size_t)a->prefix) != 0) break;
        }
        if (run > most) best = i, most = run;
    }
    memmove(f->cell, f->cell + best, (size_t)most * sizeof *f->cell);
    f->count = most;
}

/* Rows and columns of what there is, from 0. */
static tsr_status lay_out(const char *path, field *f)
{
    int64_t lower[2] = { INT64_MAX, INT64_MAX }, upper[2] = { -1, -1 };
    if (f->cell[0].row < 0) { /* one number: a square, or what the parameters say */
        const int64_t side = f->columns ? f->columns : (int64_t)(sqrt((double)f->count) + 0.5);
        const int64_t first = f->cell[0].column;
        if (side < 1 || (!f->columns && side * side != f->count))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %lld pictures with one number each, expected a square of them, or a row and a column in their names",
                     path, (long long)f->count);
        for (int64_t i = 0; i < f->count; i++) {
            cell *c = &f->cell[i];
            c->row = (c->column - (f->rows ? 0 : first)) / side;
            c->column = (c->column - (f->rows ? 0 : first)) % side;
        }
    }
    qsort(f->cell, (size_t)f->count, sizeof *f->cell, by_place);
    for (int64_t i = 0; i < f->count; i++) {
        const cell *c = &f->cell[i];
        if (i && !by_place(c - 1, c))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: '%.100s' and '%.100s' are both row %lld, column %lld of the light field", path, c[-1].name, c->name,
                     (long long)c->row, (long long)c->column);
        lower[0] = tsr_min64(lower[0], c->row), upper[0] = tsr_max64(upper[0], c->row);
        lower[1] = tsr_min64(lower[1], c->column), upper[1] = tsr_max64(upper[1], c->column);
    }
    if (!f->rows) {
        f->rows = upper[0] - lower[0] + 1;
        f->columns = upper[1] - lower[1] + 1;
    } else lower[0] = lower[1] = 0;
    if (upper[0] - lower[0] >= f->rows || upper[1] - lower[1] >= f->columns || f->rows > SIDE_MOST || f->columns > SIDE_MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: names go to row %lld and column %lld, expected a grid of %lld x %lld", path,
                 (long long)(upper[0] - lower[0]), (long long)(upper[1] - lower[1]), (long long)tsr_min64(f->rows, SIDE_MOST),
                 (long long)tsr_min64(f->columns, SIDE_MOST));
    for (int64_t i = 0; i < f->count; i++) {
        f->cell[i].row -= lower[0];
        f->cell[i].column -= lower[1];
    }
    if (f->count != f->rows * f->columns)
        tsr_remark("%.200s: %lld pictures of a grid of %lld x %lld cameras; the others are left out", path, (long long)f->count, (long long)f->rows,
                   (long long)f->columns);
    return TSR_OK;
}

/* ---- measures ---------------------------------------------------------------------------------------------------------------------- */

/* parameters.cfg: lines `key = value` below headings in brackets. */
static tsr_status read_parameters(const char *path, const tsr_rig_read_options *o, field *f)
{
    static const char *const keys[] = {
        "image_resolution_x_px", "image_resolution_y_px", "focal_length_mm", "sensor_size_mm", "num_cams_x", "num_cams_y",
        "baseline_mm",           "focus_distance_m"
    };
    enum { KEYS = sizeof keys / sizeof *keys };
    double value[KEYS] = { 0 };
    tsr_input *input;
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_rig_open(path, PARAMETERS, o, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    tsr_text text = tsr_text_make(status == TSR_OK ? bytes : (const uint8_t *)"", status == TSR_OK ? size : 0), line;
    while (status == TSR_OK && tsr_text_line(&text, &line)) {
        tsr_word key, equals;
        if (!tsr_text_word(&line, &key) || !tsr_text_word(&line, &equals) || !tsr_word_is(equals, "=")) continue;
        for (int k = 0; k < KEYS && status == TSR_OK; k++)
            if (tsr_word_is(key, keys[k]) && tsr_text_double(&line, &value[k]) != TSR_TEXT_OK)
                status = TSR_FAILED(TSR_ERROR_FORMAT, "%.200s/" PARAMETERS ": line %lld: %s, expected a number", path, (long long)line.line, keys[k]);
    }
    for (int k = 0; k < KEYS && status == TSR_OK; k++)
        if (!(value[k] > 0 && value[k] <= 1e6))
            status =
                TSR_FAILED(TSR_ERROR_FORMAT, "%.200s/" PARAMETERS ": %s is %g, expected a number above 0 (at most 10^6)", path, keys[k], value[k]);
    tsr_input_close(&input);
    TSR_TRY(status);
    if (value[4] > SIDE_MOST || value[5] > SIDE_MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s/" PARAMETERS ": a grid of %g x %g cameras, expected at most %d a side", path, value[4], value[5],
                 SIDE_MOST);
    f->width = (int32_t)value[0];
    f->height = (int32_t)value[1];
    f->focal = value[2] / value[3] * fmax(value[0], value[1]);
    f->columns = (int64_t)value[4];
    f->rows = (int64_t)value[5];
    f->baseline = value[6] * 1e-3;
    f->focus = value[7];
    return TSR_OK;
}

/* What names do not say: from the options and the first picture, else assumed. */
static tsr_status measure(const char *path, const tsr_rig_read_options *o, field *f)
{
    if (!f->width && o->width) f->width = o->width, f->height = o->height;
    if (!f->width) {
        tsr_image first = { 0 };
        char *file = tsr_rig_join(path, f->cell[0].name);
        if (!file) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
        const tsr_status status = tsr_image_read(file, NULL, &first);
        f->width = first.width;
        f->height = first.height;
        free(file);
        tsr_image_destroy(&first);
        TSR_TRY(status);
    }
    if (f->focal > 0) return TSR_OK;
    const int known = o->focal > 0 && (f->named || o->baseline != 0);
    f->focal = o->focal > 0 ? o->focal : 0.82 * f->width;
    f->baseline = o->baseline != 0 ? o->baseline : 1;
    f->focus = o->focus;
    if (!known)
        tsr_remark("%.200s: names of pictures have no measures: a focal length of %g pixels and %s of %g are assumed", path, f->focal,
                   f->named ? "a unit" : "a baseline", f->baseline);
    if (f->focus == 0) tsr_remark("%.200s: the distance of the plane that the pictures share is not known: parallel axes are assumed", path);
    return TSR_OK;
}

static tsr_status place(const field *f, int64_t i, tsr_rig_camera *c)
{
    const cell *at = &f->cell[i];
    const double x = f->named ? f->baseline * at->x : f->baseline * ((double)at->column - 0.5 * (double)(f->columns - 1));
    const double y = f->named ? f->baseline * at->y : f->baseline * ((double)at->row - 0.5 * (double)(f->rows - 1));
    const tsr_pinhole p = { .width = f->width,
                            .height = f->height,
                            .fx = f->focal,
                            .fy = f->focal,
                            .cx = 0.5 * f->width + (f->focus != 0 ? f->focal * x / f->focus : 0),
                            .cy = 0.5 * f->height + (f->focus != 0 ? f->focal * y / f->focus : 0),
                            .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
                            .translation = { -x, -y, 0 } };
    TSR_TRY(tsr_camera_from_pinhole(&p, &c->camera));
    return TSR_OK;
}

/* Places that names give count from the middle of them: the plane of the focus is before that. */
static void centre(field *f)
{
    double x = 0, y = 0;
    for (int64_t i = 0; i < f->count; i++) x += f->cell[i].x / (double)f->count, y += f->cell[i].y / (double)f->count;
    for (int64_t i = 0; i < f->count; i++) f->cell[i].x -= x, f->cell[i].y -= y;
}

/* The benchmark's depths: of each camera in its full data, of the one in the middle else. */
static void find_depth(const char *path, const field *f, int64_t i, char depth[64])
{
    const int64_t number = f->cell[i].row * f->columns + f->cell[i].column;
    snprintf(depth, 64, "gt_depth_lowres_Cam%03lld.pfm", (long long)number);
    if (!tsr_rig_exists(path, depth)) *depth = 0;
    if (!*depth && number == f->rows * f->columns / 2 && tsr_rig_exists(path, "gt_depth_lowres.pfm")) snprintf(depth, 64, "gt_depth_lowres.pfm");
}

static tsr_status fill(const char *path, const tsr_rig_read_options *o, field *f, tsr_rig *rig)
{
    if (tsr_rig_exists(path, PARAMETERS)) TSR_TRY(read_parameters(path, o, f));
    TSR_TRY(list(path, f));
    if (!f->count)
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%.200s: no picture whose name ends in a number, expected input_Cam000.png, out_00_00_0.5_-1.5.png or view_00_00.png", path);
    choose(f);
    TSR_TRY(lay_out(path, f));
    TSR_TRY(measure(path, o, f));
    if (f->named) centre(f);
    for (int64_t i = 0; i < f->count; i++) {
        char depth[64], name[NAME_MOST];
        tsr_rig_camera c = {
            .name = name, .image = f->cell[i].name, .depth = depth, .width = f->width, .height = f->height, .frame = TSR_RIG_STATIC
        };
        tsr_print(name, sizeof name, "%.*s", (int)(strrchr(f->cell[i].name, '.') - f->cell[i].name), f->cell[i].name);
        find_depth(path, f, i, depth);
        TSR_TRY(place(f, i, &c));
        TSR_TRY(tsr_rig_add(rig, &c));
    }
    return TSR_OK;
}

static tsr_status read_folder(const char *path, const tsr_rig_read_options *o, tsr_rig *rig)
{
    field f = { 0 };
    const tsr_status status = fill(path, o, &f, rig);
    free(f.cell);
    return status;
}

int tsr_rig_light_field_there(const char *path)
{
    cell c;
    int there = tsr_rig_exists(path, PARAMETERS);
    DIR *folder = there ? NULL : opendir(path);
    for (struct dirent *e; folder && !there && (e = readdir(folder));)
        there = is_picture(e->d_name) && strlen(e->d_name) < NAME_MOST && parse_placed(e->d_name, &c);
    if (folder) closedir(folder);
    return there;
}

const tsr_rig_format tsr_rig_format_lightfield = { .name = "lightfield", .folder = 1, .read_folder = read_folder };
