/* formats/volumes/vtk.c: VTK's legacy files of unstructured grids, ASCII and BINARY (big-endian). Cells stand as "n i j k ..." each (up to version 4.2) or as OFFSETS and
 * CONNECTIVITY (5.0 and 5.1). Values: one array of the point data; all other arrays are walked over, which needs their sizes and types. Every count is
 * checked against the bytes that are left before memory is taken. */
#include <stdio.h>
#include <string.h>

#include "mesh/unstructured.h"
#include "formats/points/point_columns.h"
#include "formats/points/vtk_points.h"
#include "formats/vtk_text.h"

enum { NAMES_BYTES = 256 };

typedef struct vtk_reader {
    tsr_vtk_text t;
    const char *wanted; /* array of values, NULL: the first */
    int64_t points, cells;
    double *point, *value;
    int64_t *start;
    uint32_t *corner;
    uint8_t *type;
    int64_t corners, types;
    char names[NAMES_BYTES]; /* of the arrays that could be values */
    const tsr_read_options *as_points; /* NULL, or: points with their data are wanted, of PolyData too */
    tsr_points *cloud;
} vtk_reader;

/* Integers between 0 and `most`, `wide` (64-bit) or not in binary files. */
static tsr_status take_integers(vtk_reader *r, int wide, int64_t count, int64_t most, const char *what, int64_t *to)
{
    const int bytes = wide ? 8 : 4;
    TSR_TRY(tsr_vtk_check_count(&r->t, count, bytes, what));
    if (r->t.binary) TSR_TRY(tsr_vtk_begin_binary(&r->t, count * bytes, what));
    for (int64_t k = 0; k < count; k++) {
        int64_t value = 0;
        TSR_READING(r->t.progress, k, (double)k / (double)count);
        if (r->t.binary) {
            const uint64_t bits = tsr_vtk_big_endian(r->t.text.at, bytes);
            value = wide ? (int64_t)bits : (int32_t)(uint32_t)bits;
            r->t.text.at += bytes;
        } else {
            tsr_word word;
            TSR_TRY(tsr_vtk_word(&r->t, &word, what));
            if (tsr_word_integer(word, &value) != TSR_TEXT_OK) TSR_TRY(tsr_vtk_wrong(&r->t, word, what));
        }
        if (value < 0 || value > most)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: number %lld of %s is %lld, expected 0 to %lld", r->t.file, (long long)k, what, (long long)value,
                     (long long)most);
        to[k] = value;
    }
    return TSR_OK;
}
static tsr_status scratch(const vtk_reader *r, int64_t count, size_t element, const char *what, void **memory)
{
    TSR_TRY(tsr_scratch_for_input(r->t.input, count, element, what, memory));
    return TSR_OK;
}

/* ---- sections ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status header(vtk_reader *r)
{
    tsr_word word;
    TSR_TRY(tsr_vtk_begin(&r->t, "UNSTRUCTURED_GRID", &word));
    if (r->as_points && tsr_word_is_any_case(word, "POLYDATA")) return TSR_OK;
    if (!tsr_word_is_any_case(word, "UNSTRUCTURED_GRID")) TSR_TRY(tsr_vtk_wrong(&r->t, word, "UNSTRUCTURED_GRID (other data sets of VTK are not read)"));
    return TSR_OK;
}

static tsr_status make_cloud(vtk_reader *r)
{
    tsr_places places = tsr_places_begin();
    TSR_TRY(tsr_points_for_input(r->t.input, r->points, 0, &r->cloud));
    do {
        for (int64_t k = 0; k < 3 * r->points; k++) r->cloud->positions[k] = tsr_place(&places, (int)(k % 3), r->point[k]);
    } while (tsr_places_again(&places, r->as_points));
    memcpy(r->cloud->origin, places.origin, sizeof places.origin);
    r->cloud->space = r->t.space;
    return TSR_OK;
}

static tsr_status points(vtk_reader *r)
{
    tsr_vtk_number type;
    if (r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: POINTS for the second time", r->t.file, (long long)r->t.text.line);
    TSR_TRY(tsr_vtk_count(&r->t, "the number of points", &r->points));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    if (r->points > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected at most %u", r->t.file, (long long)r->points, UINT32_MAX);
    TSR_TRY(tsr_vtk_check_count(&r->t, 3 * r->points, type.bytes, "coordinates"));
    TSR_TRY(scratch(r, r->points + 1, 3 * sizeof *r->point, "points", (void **)&r->point));
    TSR_TRY(tsr_vtk_reals(&r->t, type, 3 * r->points, "coordinates", r->point));
    if (r->as_points) TSR_TRY(make_cloud(r));
    return TSR_OK;
}

static tsr_status check_cell(const vtk_reader *r, int64_t n, int64_t corners, int64_t left)
{
    if (corners < 0 || corners > left)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: cell %lld has %lld corners, CELLS holds %lld more numbers", r->t.file, (long long)n, (long long)corners,
                 (long long)left);
    return TSR_OK;
}

/* "n i j k ..." of every cell. */
static tsr_status cells_together(vtk_reader *r, int64_t numbers)
{
    int64_t *all = NULL;
    tsr_status status;
    TSR_TRY(tsr_vtk_check_count(&r->t, numbers, 4, "cells"));
    if (numbers < r->cells) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld numbers for %lld cells", r->t.file, (long long)numbers, (long long)r->cells);
    TSR_TRY(scratch(r, numbers, sizeof *all, "cells", (void **)&all));
    TSR_TRY_GOTO(take_integers(r, 0, numbers, UINT32_MAX, "CELLS", all), done);
    TSR_TRY_GOTO(scratch(r, r->cells + 1, sizeof *r->start, "cells", (void **)&r->start), done);
    TSR_TRY_GOTO(scratch(r, numbers + 1, sizeof *r->corner, "cells", (void **)&r->corner), done);
    int64_t at = 0;
    r->corners = 0;
    for (int64_t n = 0; n < r->cells; n++) {
        r->start[n] = r->corners;
        const int64_t own = at < numbers ? all[at++] : -1;
        TSR_TRY_GOTO(check_cell(r, n, own, numbers - at), done);
        for (int64_t k = 0; k < own; k++) r->corner[r->corners++] = (uint32_t)all[at++];
    }
    r->start[r->cells] = r->corners;
    TSR_TRY_GOTO(check_cell(r, r->cells, numbers - at, 0), done); /* what is left over */
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

static tsr_status check_integers(const vtk_reader *r, tsr_vtk_number type)
{
    if (type.kind < TSR_VTK_N_U32 || type.kind > TSR_VTK_N_I64)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: numbers of points of another type, expected int or vtktypeint64", r->t.file,
                 (long long)r->t.text.line);
    return TSR_OK;
}

/* OFFSETS and CONNECTIVITY; `offsets` is one more than the cells. */
static tsr_status cells_apart(vtk_reader *r, int64_t offsets, int64_t corners)
{
    int64_t *all = NULL;
    tsr_vtk_number type;
    tsr_status status;
    r->cells = offsets ? offsets - 1 : 0;
    TSR_TRY(tsr_vtk_expect(&r->t, "OFFSETS"));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    TSR_TRY(check_integers(r, type));
    TSR_TRY(tsr_vtk_check_count(&r->t, offsets, type.bytes, "OFFSETS"));
    TSR_TRY(scratch(r, offsets + 1, sizeof *r->start, "cells", (void **)&r->start));
    r->start[0] = 0;
    TSR_TRY(take_integers(r, type.bytes == 8, offsets, INT64_MAX, "OFFSETS", r->start));
    TSR_TRY(tsr_vtk_expect(&r->t, "CONNECTIVITY"));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    TSR_TRY(check_integers(r, type));
    TSR_TRY(tsr_vtk_check_count(&r->t, corners, type.bytes, "CONNECTIVITY"));
    TSR_TRY(scratch(r, corners, sizeof *all, "cells", (void **)&all));
    TSR_TRY_GOTO(take_integers(r, type.bytes == 8, corners, UINT32_MAX, "CONNECTIVITY", all), done);
    TSR_TRY_GOTO(scratch(r, corners + 1, sizeof *r->corner, "cells", (void **)&r->corner), done);
    for (int64_t k = 0; k < corners; k++) r->corner[k] = (uint32_t)all[k];
    r->corners = corners;
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

static tsr_status cells(vtk_reader *r)
{
    int64_t first, second;
    if (r->start) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: CELLS for the second time", r->t.file, (long long)r->t.text.line);
    TSR_TRY(tsr_vtk_count(&r->t, "the number of cells", &first));
    TSR_TRY(tsr_vtk_count(&r->t, "the size of the cells", &second));
    r->cells = first;
    if (r->t.cells_apart) TSR_TRY(cells_apart(r, first, second));
    else TSR_TRY(cells_together(r, second));
    return TSR_OK;
}

static tsr_status cell_types(vtk_reader *r)
{
    int64_t *all = NULL;
    tsr_status status;
    if (r->type) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: CELL_TYPES for the second time", r->t.file, (long long)r->t.text.line);
    TSR_TRY(tsr_vtk_count(&r->t, "the number of cells", &r->types));
    TSR_TRY(tsr_vtk_check_count(&r->t, r->types, 4, "CELL_TYPES"));
    TSR_TRY(scratch(r, r->types, sizeof *all, "types of cells", (void **)&all));
    TSR_TRY_GOTO(scratch(r, r->types + 1, 1, "types of cells", (void **)&r->type), done);
    TSR_TRY_GOTO(take_integers(r, 0, r->types, 255, "CELL_TYPES", all), done);
    for (int64_t n = 0; n < r->types; n++) r->type[n] = (uint8_t)all[n];
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

/* ---- data at the points ------------------------------------------------------------------------------------------------------------------ */

static int wanted(vtk_reader *r, tsr_word name)
{
    const size_t used = strlen(r->names);
    if (used + name.size + 3 < NAMES_BYTES) {
        if (used) memcpy(r->names + used, ", ", 2);
        memcpy(r->names + used + (used ? 2 : 0), name.text, name.size);
        r->names[used + (used ? 2 : 0) + name.size] = 0;
    }
    return !r->value && (!r->wanted || tsr_word_is(name, r->wanted));
}
/* An array at the points of a cloud, which becomes an attribute. */
static tsr_status further(vtk_reader *r, tsr_word name, tsr_vtk_number type, int32_t components)
{
    char usual[64], decoded[256];
    float *data = NULL;
    double *all = NULL;
    const int64_t numbers = r->points * components;
    tsr_status status;
    TSR_TRY(tsr_vtk_check_count(&r->t, numbers, type.bytes, "an array"));
    tsr_vtk_name(name, decoded, sizeof decoded);
    TSR_TRY(tsr_column_take(r->cloud, tsr_column_kind_of((tsr_word){ decoded, strlen(decoded) }, components, usual), usual, components, &data));
    if (data) TSR_TRY(scratch(r, numbers + 1, sizeof *all, "an array", (void **)&all));
    TSR_TRY_GOTO(tsr_vtk_reals(&r->t, type, numbers, "an array", all), done);
    for (int64_t k = 0; data && k < numbers; k++) data[k] = (float)all[k];
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

/* An array of `tuples` x `components`: the values, or an attribute of a cloud. */
static tsr_status array(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components, int at_points, int *taken)
{
    vtk_reader *r = (vtk_reader *)user;
    const int any = tsr_word_is_any_case(attribute, "SCALARS") || tsr_word_is_any_case(attribute, "FIELD");
    if (!at_points || tuples != r->points || tsr_word_is_any_case(attribute, "COLOR_SCALARS")) return TSR_OK;
    if (r->cloud && components <= TSR_POINTS_COMPONENTS) {
        *taken = 1;
        return further(r, name, type, (int32_t)components);
    }
    if (!any || components != 1 || r->as_points || !wanted(r, name)) return TSR_OK;
    *taken = 1;
    TSR_TRY(tsr_vtk_check_count(&r->t, tuples, type.bytes, "values"));
    TSR_TRY(scratch(r, tuples + 1, sizeof *r->value, "values", (void **)&r->value));
    return tsr_vtk_reals(&r->t, type, tuples, "values", r->value);
}

/* VERTICES and the like of PolyData are walked over. */
static tsr_status skip_cells(vtk_reader *r)
{
    const tsr_vtk_number integer = { TSR_VTK_N_I32, 4 };
    static const char *const parts[2] = { "OFFSETS", "CONNECTIVITY" };
    int64_t numbers[2];
    TSR_TRY(tsr_vtk_count(&r->t, "a number of cells", &numbers[0]));
    TSR_TRY(tsr_vtk_count(&r->t, "a number of numbers", &numbers[1]));
    if (!r->t.cells_apart) {
        TSR_TRY(tsr_vtk_reals(&r->t, integer, numbers[1], "cells", NULL));
        return TSR_OK;
    }
    for (int k = 0; k < 2; k++) {
        tsr_vtk_number type;
        TSR_TRY(tsr_vtk_expect(&r->t, parts[k]));
        TSR_TRY(tsr_vtk_type_of(&r->t, &type));
        TSR_TRY(tsr_vtk_reals(&r->t, type, numbers[k], "cells", NULL));
    }
    return TSR_OK;
}
static int is_cells(tsr_word word)
{
    return tsr_word_is_any_case(word, "VERTICES") || tsr_word_is_any_case(word, "LINES") || tsr_word_is_any_case(word, "POLYGONS") ||
           tsr_word_is_any_case(word, "TRIANGLE_STRIPS");
}

static tsr_status body(vtk_reader *r)
{
    tsr_word word;
    int64_t tuples = -1;
    int at_points = 0;
    while (tsr_text_word(&r->t.text, &word)) {
        if (tsr_word_is_any_case(word, "POINTS")) TSR_TRY(points(r));
        else if (tsr_word_is_any_case(word, "CELLS")) TSR_TRY(cells(r));
        else if (tsr_word_is_any_case(word, "CELL_TYPES")) TSR_TRY(cell_types(r));
        else if (r->as_points && is_cells(word)) TSR_TRY(skip_cells(r));
        else if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
            at_points = tsr_word_is_any_case(word, "POINT_DATA");
            TSR_TRY(tsr_vtk_count(&r->t, "a number of points or cells", &tuples));
            if (at_points && tuples != r->points)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: POINT_DATA of %lld points, there are %lld", r->t.file, (long long)r->t.text.line,
                         (long long)tuples, (long long)r->points);
        } else {
            if (tuples < 0 && !tsr_word_is_any_case(word, "FIELD") && !tsr_word_is_any_case(word, "METADATA"))
                TSR_TRY(tsr_vtk_wrong(&r->t, word, "POINTS, CELLS, CELL_TYPES, POINT_DATA, CELL_DATA or FIELD"));
            TSR_TRY(tsr_vtk_attribute(&r->t, word, tuples, at_points, array, r));
        }
    }
    return TSR_OK;
}

static tsr_status make(vtk_reader *r, tsr_unstructured **grid)
{
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    if (!r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINTS is missing", r->t.file);
    if (!r->start) TSR_FAIL(TSR_ERROR_FORMAT, "%s: CELLS is missing", r->t.file);
    if (!r->type || r->types != r->cells)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld types of cells for %lld cells", r->t.file, (long long)r->types, (long long)r->cells);
    if (!r->value && !(r->wanted && !*r->wanted))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no values%s%s at the points (arrays of one component: %s)", r->t.file, r->wanted ? " named " : "",
                 r->wanted ? r->wanted : "", *r->names ? r->names : "none");
    source.point_count = r->points;
    source.cell_count = r->cells;
    source.corner_count = r->corners;
    source.points = r->point;
    source.values = r->value;
    source.types = r->type;
    source.starts = r->start;
    source.corners = r->corner;
    source.space = r->t.space;
    /* up to six tetrahedra a cell, each of 40 bytes and as much to sort its edges */
    void *room = NULL;
    TSR_TRY(tsr_scratch_for_input(r->t.input, r->cells, 6 * 88, "tetrahedra", &room));
    tsr_host_release(NULL, room, 0);
    const tsr_status status = tsr_unstructured_create(NULL, &source, grid);
    if (status != TSR_OK && status != TSR_ERROR_MEMORY) {
        char message[512];
        snprintf(message, sizeof message, "%s", tsr_error_message());
        TSR_FAIL(status == TSR_ERROR_ARGUMENT ? TSR_ERROR_FORMAT : status, "%s: %s", r->t.file, message);
    }
    if (status == TSR_OK) snprintf((*grid)->info.arrays, sizeof(*grid)->info.arrays, "%s", r->names);
    return status;
}

static tsr_status vtk_read(tsr_input *input, const tsr_read_options *options, const char *values, tsr_unstructured **grid)
{
    const uint8_t *bytes;
    size_t size;
    vtk_reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = &options->progress }, .wanted = values };
    tsr_status status;
    *grid = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.t.text = tsr_text_make(bytes, size);
    TSR_TRY_GOTO(header(&r), done);
    TSR_TRY_GOTO(body(&r), done);
    TSR_TRY_GOTO(make(&r, grid), done);
done:
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.value, 0);
    tsr_host_release(NULL, r.start, 0);
    tsr_host_release(NULL, r.corner, 0);
    tsr_host_release(NULL, r.type, 0);
    return status;
}

tsr_status tsr_vtk_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **cloud)
{
    const uint8_t *bytes;
    size_t size;
    vtk_reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = &options->progress }, .as_points = options };
    tsr_status status;
    *cloud = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r.t.text = tsr_text_make(bytes, size);
    TSR_TRY_GOTO(header(&r), done);
    TSR_TRY_GOTO(body(&r), done);
    if (!r.cloud) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: POINTS is missing", r.t.file);
    TSR_TRY_GOTO(tsr_points_check_positions(input, r.cloud), done);
    *cloud = r.cloud;
    r.cloud = NULL;
done:
    tsr_points_destroy(&r.cloud);
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.value, 0);
    tsr_host_release(NULL, r.start, 0);
    tsr_host_release(NULL, r.corner, 0);
    tsr_host_release(NULL, r.type, 0);
    return status;
}

static int vtk_recognise(const tsr_signature *s)
{
    static const char *const others[] = { "POLYDATA", "STRUCTURED_POINTS", "RECTILINEAR_GRID" };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (tsr_vtk_is_dataset(s->head, s->head_bytes, others[k])) return TSR_NOT_MINE;
    return tsr_vtk_is_dataset(s->head, s->head_bytes, NULL) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}
static int vtk_points_recognise(const tsr_signature *s) { return tsr_vtk_is_dataset(s->head, s->head_bytes, "POLYDATA") ? TSR_SURELY_MINE : TSR_NOT_MINE; }

const tsr_format tsr_format_vtk = { .name = "vtk", .kind = TSR_FILE_UNSTRUCTURED, .extensions = { ".vtk" }, .recognise = vtk_recognise,
                                    .read_unstructured = vtk_read, .read_points = tsr_vtk_read_points };
const tsr_format tsr_format_vtkpoints = { .name = "vtk-points", .kind = TSR_FILE_POINTS, .extensions = { ".vtk" }, .recognise = vtk_points_recognise,
                                          .read_points = tsr_vtk_read_points, .write_points = tsr_vtk_write_points };
