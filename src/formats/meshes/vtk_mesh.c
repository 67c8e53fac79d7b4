/* formats/meshes/vtk_mesh.c: surfaces of VTK's legacy files (.vtk, DATASET POLYDATA): polygons and strips, with vertex normals and colours (COLOR_SCALARS of 3 or 4). Other arrays,
 * lines and lone vertices are left out, with a remark. A file without polygons is one of points (vtk-points). Read only. */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/polygons.h"
#include "formats/points/vtk_points.h"
#include "formats/vtk_text.h"
#include "io/stream.h"

typedef struct mesh_reader {
    tsr_vtk_text t;
    int64_t points, lines;
    double *point, *normal, *color; /* color: `colors` numbers a point, 0 to 255 */
    int64_t colors;
    tsr_fan_cells cells[2]; /* polygons, strips */
    char left[256];         /* arrays that are left out */
} mesh_reader;

static tsr_status scratch_reals(mesh_reader *r, int64_t count, const char *what, double **to)
{
    TSR_TRY(tsr_scratch_for_input(r->t.input, count + 1, sizeof **to, what, (void **)to));
    return TSR_OK;
}

/* Whole numbers from 0, read as real ones, which hold all of them. */
static tsr_status whole_numbers(mesh_reader *r, tsr_vtk_number type, int64_t count, const char *what, int64_t **to)
{
    double *all = NULL;
    tsr_status status;
    TSR_TRY(tsr_vtk_check_count(&r->t, count, type.bytes, what));
    TSR_TRY_GOTO(scratch_reals(r, count, what, &all), done);
    TSR_TRY_GOTO(tsr_scratch_for_input(r->t.input, count + 1, sizeof **to, what, (void **)to), done);
    TSR_TRY_GOTO(tsr_vtk_reals(&r->t, type, count, what, all), done);
    for (int64_t k = 0; k < count; k++) {
        if (!(all[k] >= 0 && all[k] < 0x1p53 && all[k] == floor(all[k])))
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: number %lld of %s is %g, expected a whole number from 0", r->t.file, (long long)k, what, all[k]);
        (*to)[k] = (int64_t)all[k];
    }
done:
    tsr_host_release(NULL, all, 0);
    return status;
}

/* "n i j k ..." of every cell, until version 4. */
static tsr_status split(mesh_reader *r, const int64_t *all, int64_t numbers, tsr_fan_cells *c)
{
    int64_t at = 0;
    TSR_TRY(tsr_scratch_for_input(r->t.input, c->count + 1, sizeof *c->offset, "cells", (void **)&c->offset));
    TSR_TRY(tsr_scratch_for_input(r->t.input, numbers + 1, sizeof *c->corner, "corners", (void **)&c->corner));
    for (int64_t n = 0; n < c->count; n++) {
        const int64_t own = at < numbers ? all[at++] : INT64_MAX;
        if (own > numbers - at)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: cell %lld has %lld corners, of which %lld are there", r->t.file, (long long)n, (long long)own, (long long)(numbers - at));
        for (int64_t k = 0; k < own; k++) c->corner[c->corners++] = all[at++];
        c->offset[n] = c->corners;
    }
    if (at != numbers) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld numbers for %lld cells, which have %lld", r->t.file, (long long)numbers, (long long)c->count, (long long)at);
    return TSR_OK;
}

/* OFFSETS, one more than there are cells, and CONNECTIVITY. */
static tsr_status cells_apart(mesh_reader *r, int64_t offsets, int64_t corners, tsr_fan_cells *c)
{
    tsr_vtk_number type;
    TSR_TRY(tsr_vtk_expect(&r->t, "OFFSETS"));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    TSR_TRY(whole_numbers(r, type, offsets, "OFFSETS", &c->offset));
    c->count = offsets ? offsets - 1 : 0;
    for (int64_t k = 0; k < offsets; k++)
        if (c->offset[k] > corners || (k ? c->offset[k] < c->offset[k - 1] : c->offset[k] != 0))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: number %lld of OFFSETS is %lld, expected rising ones from 0 to %lld", r->t.file, (long long)k, (long long)c->offset[k], (long long)corners);
    if (c->count) memmove(c->offset, c->offset + 1, (size_t)c->count * sizeof *c->offset); /* where each ends */
    c->corners = c->count ? c->offset[c->count - 1] : 0;
    TSR_TRY(tsr_vtk_expect(&r->t, "CONNECTIVITY"));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    TSR_TRY(whole_numbers(r, type, corners, "CONNECTIVITY", &c->corner));
    return TSR_OK;
}

static void release_cells(tsr_fan_cells *c)
{
    tsr_host_release(NULL, c->offset, 0);
    tsr_host_release(NULL, c->corner, 0);
    *c = (tsr_fan_cells){ 0 };
}

static tsr_status take_cells(mesh_reader *r, tsr_fan_cells *c)
{
    const tsr_vtk_number integer = { TSR_VTK_N_I32, 4 };
    int64_t first, second, *all = NULL;
    if (c->offset) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: cells of one kind for the second time", r->t.file, (long long)r->t.text.line);
    TSR_TRY(tsr_vtk_count(&r->t, "a number of cells", &first));
    TSR_TRY(tsr_vtk_count(&r->t, "a number of numbers", &second));
    if (r->t.cells_apart) return cells_apart(r, first, second, c);
    if (second < first) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld numbers for %lld cells", r->t.file, (long long)second, (long long)first);
    c->count = first;
    tsr_status status = whole_numbers(r, integer, second, "cells", &all);
    if (status == TSR_OK) status = split(r, all, second, c);
    tsr_host_release(NULL, all, 0);
    return status;
}

/* Normals and colours; the names of the others are kept. */
static tsr_status array(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components, int at_points, int *taken)
{
    mesh_reader *r = (mesh_reader *)user;
    const int colors = tsr_word_is_any_case(attribute, "COLOR_SCALARS") && (components == 3 || components == 4);
    const int normals = tsr_word_is_any_case(attribute, "NORMALS");
    double **to = colors ? &r->color : &r->normal;
    char shown[32];
    if (tsr_word_is_any_case(attribute, "LOOKUP_TABLE")) return TSR_OK;
    if (!at_points || tuples != r->points || !(colors || normals) || *to) {
        const size_t used = strlen(r->left);
        tsr_vtk_name(name, shown, sizeof shown);
        if (used + 36 < sizeof r->left) snprintf(r->left + used, sizeof r->left - used, "%s%s", used ? ", " : "", shown);
        return TSR_OK;
    }
    *taken = 1;
    TSR_TRY(tsr_vtk_check_count(&r->t, tuples * components, type.bytes, "an array"));
    TSR_TRY(scratch_reals(r, tuples * components, "an array", to));
    TSR_TRY(tsr_vtk_reals(&r->t, type, tuples * components, "an array", *to));
    if (colors) r->colors = components;
    for (int64_t k = 0; colors && !r->t.binary && k < tuples * components; k++) r->color[k] *= 255; /* as text from 0 to 1 */
    return TSR_OK;
}

static tsr_status take_points(mesh_reader *r)
{
    tsr_vtk_number type;
    if (r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: POINTS for the second time", r->t.file, (long long)r->t.text.line);
    TSR_TRY(tsr_vtk_count(&r->t, "the number of points", &r->points));
    TSR_TRY(tsr_vtk_type_of(&r->t, &type));
    if (r->points > (int64_t)UINT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected at most %u", r->t.file, (long long)r->points, UINT32_MAX);
    TSR_TRY(tsr_vtk_check_count(&r->t, 3 * r->points, type.bytes, "coordinates"));
    TSR_TRY(scratch_reals(r, 3 * r->points, "points", &r->point));
    return tsr_vtk_reals(&r->t, type, 3 * r->points, "coordinates", r->point);
}

static tsr_status body(mesh_reader *r)
{
    tsr_word word;
    int64_t tuples = -1;
    int at_points = 0;
    TSR_TRY(tsr_vtk_begin(&r->t, "POLYDATA", &word));
    if (!tsr_word_is_any_case(word, "POLYDATA")) TSR_TRY(tsr_vtk_wrong(&r->t, word, "POLYDATA"));
    while (tsr_text_word(&r->t.text, &word)) {
        const int lines = tsr_word_is_any_case(word, "LINES");
        if (tsr_word_is_any_case(word, "POINTS")) TSR_TRY(take_points(r));
        else if (tsr_word_is_any_case(word, "POLYGONS")) TSR_TRY(take_cells(r, &r->cells[0]));
        else if (tsr_word_is_any_case(word, "TRIANGLE_STRIPS")) TSR_TRY(take_cells(r, &r->cells[1]));
        else if (lines || tsr_word_is_any_case(word, "VERTICES")) {
            tsr_fan_cells none = { 0 };
            const tsr_status status = take_cells(r, &none);
            if (lines) r->lines += none.count;
            release_cells(&none);
            TSR_TRY(status);
        } else if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
            at_points = tsr_word_is_any_case(word, "POINT_DATA");
            TSR_TRY(tsr_vtk_count(&r->t, "a number of points or cells", &tuples));
        } else {
            if (tuples < 0 && !tsr_word_is_any_case(word, "FIELD") && !tsr_word_is_any_case(word, "METADATA"))
                TSR_TRY(tsr_vtk_wrong(&r->t, word, "POINTS, POLYGONS, TRIANGLE_STRIPS, LINES, VERTICES, POINT_DATA or CELL_DATA"));
            TSR_TRY(tsr_vtk_attribute(&r->t, word, tuples, at_points, array, r));
        }
    }
    if (!r->point) TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINTS is missing", r->t.file);
    for (int s = 0; s < 2; s++)
        for (int64_t k = 0; k < r->cells[s].corners; k++)
            if (r->cells[s].corner[k] >= r->points)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: a corner of a cell is point %lld, there are %lld", r->t.file, (long long)r->cells[s].corner[k], (long long)r->points);
    return TSR_OK;
}

static tsr_status build(mesh_reader *r, const tsr_read_options *options, tsr_mesh **mesh)
{
    tsr_places places = tsr_places_begin();
    tsr_fan fan = { 0 };
    TSR_TRY(body(r));
    TSR_TRY(tsr_mesh_for_input(r->t.input, r->points, tsr_fan_cells_triangles(&r->cells[0]) + tsr_fan_cells_triangles(&r->cells[1]), r->normal != NULL, mesh));
    if (r->color && r->points) TSR_TRY(tsr_mesh_add_colors(*mesh));
    tsr_mesh *m = *mesh;
    do {
        for (int64_t k = 0; k < 3 * r->points; k++) m->vertices[k] = tsr_place(&places, (int)(k % 3), r->point[k]);
    } while (tsr_places_again(&places, options));
    memcpy(m->origin, places.origin, sizeof places.origin);
    m->space = r->t.space;
    for (int64_t k = 0; r->normal && k < 3 * r->points; k++) m->normals[k] = (float)r->normal[k];
    for (int64_t k = 0; m->colors && k < r->points; k++)
        for (int64_t c = 0; c < 4; c++) m->colors[4 * k + c] = c < r->colors ? (uint8_t)lrint(fmin(fmax(r->color[k * r->colors + c], 0), 255)) : 255;
    TSR_TRY(tsr_mesh_check_positions(r->t.input, m));
    TSR_TRY(tsr_fan_open(r->t.input, m, &fan));
    for (int s = 0; s < 2; s++) tsr_fan_put_cells(&fan, &r->cells[s], s, 0);
    TSR_TRY(tsr_fan_close(r->t.input, m, &fan, r->t.progress, TSR_OK));
    if (*r->left) tsr_remark("%s: arrays of points or cells that a mesh has no place for are left out: %s", r->t.file, r->left);
    if (r->lines) tsr_remark("%s: %lld lines are left out, a mesh holds triangles", r->t.file, (long long)r->lines);
    return TSR_OK;
}

static tsr_status read_mesh(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    const uint8_t *bytes;
    size_t size;
    mesh_reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = &options->progress } };
    *mesh = NULL;
    tsr_status status = tsr_input_all(input, &bytes, &size);
    r.t.text = tsr_text_make(status == TSR_OK ? bytes : (const uint8_t *)"", status == TSR_OK ? size : 0);
    if (status == TSR_OK) status = build(&r, options, mesh);
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.normal, 0);
    tsr_host_release(NULL, r.color, 0);
    for (int s = 0; s < 2; s++) release_cells(&r.cells[s]);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

int tsr_vtk_has_polygons(tsr_input *input)
{
    static const char *const words[] = { "\nPOLYGONS ", "\nTRIANGLE_STRIPS " };
    const uint8_t *bytes;
    size_t size;
    if (tsr_input_all(input, &bytes, &size) != TSR_OK) return 0; /* its reader says what is wrong */
    for (int k = 0; k < 2; k++)
        if (memmem(bytes, size, words[k], strlen(words[k]))) return 1;
    return 0;
}

const tsr_format tsr_format_vtkmesh = { .name = "vtk-mesh", .kind = TSR_FILE_MESH, .extensions = { ".vtk" }, .read_mesh = read_mesh, .read_points = tsr_vtk_read_points };
