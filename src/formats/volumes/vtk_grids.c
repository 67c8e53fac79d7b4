/* VTK's XML grids with cells: UnstructuredGrid (.vtu), and StructuredGrid (.vts), a curved lattice whose cells are hexahedra between its points. */
#include "formats/vtk_grids.h"

#include "formats/vtk_xml.h"
#include "mesh/unstructured.h"

#include <stdio.h>
#include <string.h>

typedef struct grid_reader {
    tsr_vtk_xml xml;
    tsr_input *input;
    const char *file, *wanted; /* wanted: the array of values; NULL: the first, "": none */
    int64_t points, cells, corners;
    double *point, *value;
    int64_t *start, *scratch;
    uint8_t *type;
    uint32_t *corner;
    char names[256], name[256]; /* of the arrays that could be the values, and of the one that is */
} grid_reader;

static int64_t count_of(const tsr_vtk_piece *p, int axis) { return tsr_max64(0, p->extent[2 * axis + 1] - p->extent[2 * axis]); } /* cells along it */

/* Arrays of one number a point: their names, and the one that is meant. */
static const char *choose_values(grid_reader *r)
{
    const tsr_vtk_array *found = NULL;
    for (int32_t k = 0; k < r->xml.arrays; k++) {
        const tsr_vtk_array *a = &r->xml.array[k];
        if (a->section != TSR_VTK_POINT_DATA || a->piece || a->components != 1) continue;
        const size_t used = strlen(r->names), size = a->name.size < 80 ? a->name.size : 80;
        if (used + size + 3 < sizeof r->names) snprintf(r->names + used, sizeof r->names - used, "%s%.*s", used ? ", " : "", (int)size, a->name.text);
        const int active =
            r->xml.scalars[0].size && a->name.size == r->xml.scalars[0].size && !memcmp(a->name.text, r->xml.scalars[0].text, a->name.size);
        if (r->wanted ? tsr_word_is(a->name, r->wanted) : !found || active) found = a;
    }
    if (!found || found->name.size >= sizeof r->name) return NULL;
    memcpy(r->name, found->name.text, found->name.size); /* a word of the file has no end of its own */
    r->name[found->name.size] = 0;
    return r->name;
}

/* Which cells a piece has. Its counts are those of the file, which may not have as much: their sum over the pieces is no more than the file can hold. */
static tsr_status count_cells(grid_reader *r, int32_t p, int64_t *cells, int64_t *corners)
{
    const tsr_vtk_piece *piece = &r->xml.piece[p];
    const tsr_vtk_array *places = tsr_vtk_xml_find(&r->xml, p, TSR_VTK_POINTS, NULL);
    *cells = *corners = 0;
    if (piece->points && (!places || places->components != 3)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the points are missing", r->file);
    if (piece->points) TSR_TRY(tsr_vtk_xml_check(&r->xml, places, piece->points));
    if (r->xml.kind == TSR_VTK_STRUCTURED) { /* fewer cells than points */
        *cells = count_of(piece, 0) * count_of(piece, 1) * count_of(piece, 2);
        *corners = 8 * *cells;
        return TSR_OK;
    }
    if (!piece->cells) return TSR_OK;
    const tsr_vtk_array *offsets = tsr_vtk_xml_find(&r->xml, p, TSR_VTK_CELLS, "offsets"),
                        *connectivity = tsr_vtk_xml_find(&r->xml, p, TSR_VTK_CELLS, "connectivity");
    if (!offsets || !connectivity) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the %s of the cells %s missing", r->file, offsets ? "connectivity" : "offsets", offsets ? "is" : "are");
    int64_t *all = NULL;
    TSR_TRY(tsr_vtk_xml_check(&r->xml, offsets, piece->cells));
    TSR_TRY(tsr_scratch_for_input(r->input, piece->cells, sizeof *all, "cells", (void **)&all));
    const tsr_status status = tsr_vtk_xml_integers(&r->xml, offsets, piece->cells, all);
    const int64_t last = status == TSR_OK ? all[piece->cells - 1] : 0;
    tsr_host_release(NULL, all, 0);
    TSR_TRY(status);
    if (last < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the cells of a piece end at corner %lld", r->file, (long long)last);
    TSR_TRY(tsr_vtk_xml_check(&r->xml, connectivity, last));
    *cells = piece->cells;
    *corners = last;
    return TSR_OK;
}

/* The hexahedra of a lattice, its points from `base` on. */
static void take_lattice(grid_reader *r, int32_t p, int64_t base, int64_t cell, int64_t corner)
{
    static const int order[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };
    const tsr_vtk_piece *piece = &r->xml.piece[p];
    const int64_t n[3] = { count_of(piece, 0), count_of(piece, 1), count_of(piece, 2) };
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                r->type[cell++] = TSR_CELL_HEXAHEDRON;
                for (int k = 0; k < 8; k++)
                    r->corner[corner++] = (uint32_t)(base + ((z + order[k][2]) * (n[1] + 1) + y + order[k][1]) * (n[0] + 1) + x + order[k][0]);
                r->start[cell] = corner;
            }
}

/* Types, ends and corners of the cells that a piece lists. */
static tsr_status take_cells(grid_reader *r, int32_t p, int64_t base, int64_t cell, int64_t corner, int64_t corners)
{
    const int64_t n = r->xml.piece[p].cells, points = r->xml.piece[p].points;
    const char *const names[] = { "types", "offsets", "connectivity" };
    int64_t last = 0;
    for (int k = 0; k < 3; k++) {
        const tsr_vtk_array *a = tsr_vtk_xml_find(&r->xml, p, TSR_VTK_CELLS, names[k]);
        if (!a) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the array '%s' of the cells is missing", r->file, names[k]);
        TSR_TRY(tsr_vtk_xml_integers(&r->xml, a, k < 2 ? n : corners, r->scratch));
        for (int64_t i = 0; i < (k < 2 ? n : corners); i++) {
            const int64_t v = r->scratch[i];
            if (k == 0 && (v < 0 || v > 255)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: cell %lld has the type %lld", r->file, (long long)i, (long long)v);
            if (k == 1 && (v < last || v > corners))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: cell %lld ends at corner %lld of %lld", r->file, (long long)i, (long long)v, (long long)corners);
            if (k == 2 && (v < 0 || v >= points))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: a corner of a cell is point %lld, there are %lld", r->file, (long long)v, (long long)points);
            if (k == 0) r->type[cell + i] = (uint8_t)v;
            else if (k == 1) r->start[cell + i + 1] = corner + (last = v);
            else r->corner[corner + i] = (uint32_t)(base + v);
        }
    }
    return TSR_OK;
}

static tsr_status count_all(grid_reader *r, int64_t *most)
{
    *most = 0;
    for (int32_t p = 0; p < r->xml.pieces; p++) {
        int64_t cells, corners;
        TSR_TRY(count_cells(r, p, &cells, &corners));
        r->points += r->xml.piece[p].points;
        r->cells += cells;
        r->corners += corners;
        *most = tsr_max64(*most, tsr_max64(cells, corners));
    }
    if (r->points > (int64_t)UINT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld points, expected fewer than 2^32", r->file, (long long)r->points);
    return TSR_OK;
}

static tsr_status take_pieces(grid_reader *r, const char *values)
{
    int64_t point = 0, cell = 0, corner = 0;
    r->start[0] = 0;
    for (int32_t p = 0; p < r->xml.pieces; p++) {
        const tsr_vtk_piece *piece = &r->xml.piece[p];
        const tsr_vtk_array *places = tsr_vtk_xml_find(&r->xml, p, TSR_VTK_POINTS, NULL),
                            *array = values ? tsr_vtk_xml_find(&r->xml, p, TSR_VTK_POINT_DATA, values) : NULL;
        int64_t cells, corners;
        TSR_TRY(count_cells(r, p, &cells, &corners));
        if (piece->points && values && (!array || array->components != 1))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has no array '%s' of one number at each point", r->file, p, values);
        if (piece->points) TSR_TRY(tsr_vtk_xml_reals(&r->xml, places, piece->points, r->point + 3 * point));
        if (piece->points && values) TSR_TRY(tsr_vtk_xml_reals(&r->xml, array, piece->points, r->value + point));
        if (r->xml.kind == TSR_VTK_STRUCTURED) take_lattice(r, p, point, cell, corner);
        else if (cells) TSR_TRY(take_cells(r, p, point, cell, corner, corners));
        point += piece->points;
        cell += cells;
        corner += corners;
    }
    return TSR_OK;
}

static tsr_status make(grid_reader *r, tsr_unstructured **grid)
{
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    int64_t most;
    void *room = NULL;
    const char *values = choose_values(r);
    if (!values && !(r->wanted && !*r->wanted))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no values%s%s at the points (arrays of one component: %s)", r->file, r->wanted ? " named " : "",
                 r->wanted ? r->wanted : "", *r->names ? r->names : "none");
    TSR_TRY(count_all(r, &most));
    TSR_TRY(tsr_scratch_for_input(r->input, 3 * r->points + 1, sizeof *r->point, "points", (void **)&r->point));
    if (values) TSR_TRY(tsr_scratch_for_input(r->input, r->points + 1, sizeof *r->value, "values", (void **)&r->value));
    TSR_TRY(tsr_scratch_for_input(r->input, r->cells + 1, sizeof *r->start, "cells", (void **)&r->start));
    TSR_TRY(tsr_scratch_for_input(r->input, r->cells + 1, 1, "cells", (void **)&r->type));
    TSR_TRY(tsr_scratch_for_input(r->input, r->corners + 1, sizeof *r->corner, "corners", (void **)&r->corner));
    TSR_TRY(tsr_scratch_for_input(r->input, most + 1, sizeof *r->scratch, "corners", (void **)&r->scratch));
    TSR_TRY(take_pieces(r, values));
    source.point_count = r->points;
    source.cell_count = r->cells;
    source.corner_count = r->corners;
    source.points = r->point;
    source.values = r->value;
    source.types = r->type;
    source.starts = r->start;
    source.corners = r->corner;
    TSR_TRY(tsr_scratch_for_input(r->input, r->cells, 6 * 88, "tetrahedra", &room)); /* up to six a cell, and as much to sort their edges */
    tsr_host_release(NULL, room, 0);
    const tsr_status status = tsr_unstructured_create(NULL, &source, grid);
    if (status != TSR_OK && status != TSR_ERROR_MEMORY) {
        char message[512];
        snprintf(message, sizeof message, "%s", tsr_error_message());
        TSR_FAIL(status == TSR_ERROR_ARGUMENT ? TSR_ERROR_FORMAT : status, "%s: %s", r->file, message);
    }
    TSR_TRY(status);
    snprintf((*grid)->info.arrays, sizeof(*grid)->info.arrays, "%s", r->names);
    if (r->xml.pieces > 1)
        tsr_remark("%s: its %d pieces have no point in common: a surface is cut where they meet (--weld joins it)", r->file, r->xml.pieces);
    return TSR_OK;
}

tsr_status tsr_vtk_xml_read_grid(tsr_input *input, const tsr_read_options *options, const char *values, tsr_unstructured **grid)
{
    grid_reader r = { .input = input, .file = tsr_input_name(input), .wanted = values };
    *grid = NULL;
    tsr_status status = tsr_vtk_xml_open(input, options, &r.xml);
    if (status == TSR_OK && r.xml.kind != TSR_VTK_UNSTRUCTURED && r.xml.kind != TSR_VTK_STRUCTURED)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: a VTK file of type '%s', expected UnstructuredGrid or StructuredGrid for cells", r.file,
                            r.xml.kind == TSR_VTK_IMAGE ? "ImageData" : "PolyData");
    if (status == TSR_OK) status = make(&r, grid);
    tsr_vtk_xml_close(&r.xml);
    tsr_host_release(NULL, r.point, 0);
    tsr_host_release(NULL, r.value, 0);
    tsr_host_release(NULL, r.start, 0);
    tsr_host_release(NULL, r.type, 0);
    tsr_host_release(NULL, r.corner, 0);
    tsr_host_release(NULL, r.scratch, 0);
    return status;
}
