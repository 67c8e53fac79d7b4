/* formats/meshes/vtp_mesh.c: surfaces of VTK's XML files (.vtp): polygons and strips of all pieces, with vertex normals and colours (an array of 3 or 4 bytes a point).
 * Other arrays are left out, with a remark. Written with appended raw data, or as text. */
#include <stdio.h>
#include <string.h>

#include "formats/meshes/polygons.h"
#include "formats/points/point_columns.h"
#include "formats/points/vtk_points.h"
#include "formats/vtk_xml.h"

static int recognise(const tsr_signature *s)
{
    return tsr_vtk_xml_is(s->head, s->head_bytes, "PolyData") && (tsr_vtk_xml_piece_number(s->head, s->head_bytes, "NumberOfPolys") ||
                                                                  tsr_vtk_xml_piece_number(s->head, s->head_bytes, "NumberOfStrips"))
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------ */

typedef tsr_fan_cells cells;

static void release(cells *c)
{
    tsr_host_release(NULL, c->offset, 0);
    tsr_host_release(NULL, c->corner, 0);
    *c = (cells){ 0 };
}

/* Offsets say where each cell ends among the corners. */
static tsr_status read_cells(const tsr_vtk_xml *x, int32_t piece, tsr_vtk_section section, int64_t count, cells *c)
{
    const tsr_vtk_array *offsets = tsr_vtk_xml_find(x, piece, section, "offsets"), *corners = tsr_vtk_xml_find(x, piece, section, "connectivity");
    const int64_t points = x->piece[piece].points;
    *c = (cells){ .count = count };
    if (!count) return TSR_OK;
    if (!offsets || !corners || offsets->components != 1 || corners->components != 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has %lld cells, but no arrays 'offsets' and 'connectivity' for them", x->file, (int)piece,
                 (long long)count);
    TSR_TRY(tsr_vtk_xml_check(x, offsets, count));
    TSR_TRY(tsr_scratch_for_input(x->input, count, sizeof *c->offset, "cells", (void **)&c->offset));
    TSR_TRY(tsr_vtk_xml_integers(x, offsets, count, c->offset));
    for (int64_t k = 0; k < count; k++) {
        if (c->offset[k] < c->corners)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d: the offset of cell %lld is before the last", x->file, (int)piece, (long long)k);
        c->corners = c->offset[k];
    }
    TSR_TRY(tsr_vtk_xml_check(x, corners, c->corners));
    TSR_TRY(tsr_scratch_for_input(x->input, c->corners + 1, sizeof *c->corner, "corners", (void **)&c->corner));
    TSR_TRY(tsr_vtk_xml_integers(x, corners, c->corners, c->corner));
    for (int64_t k = 0; k < c->corners; k++)
        if (c->corner[k] < 0 || c->corner[k] >= points)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d: corner %lld is point %lld, expected 0 to %lld", x->file, (int)piece, (long long)k,
                     (long long)c->corner[k], (long long)points - 1);
    return TSR_OK;
}

/* The array of normals, and that of colours; NULL if not every piece with points has it. */
static const tsr_vtk_array *find_extra(const tsr_vtk_xml *x, int32_t piece, int colors)
{
    for (int32_t k = 0; k < x->arrays; k++) {
        const tsr_vtk_array *a = &x->array[k];
        if (a->piece != piece || a->section != TSR_VTK_POINT_DATA) continue;
        if (colors ? a->type == TSR_VTK_U8 && (a->components == 3 || a->components == 4)
                   : a->components == 3 && tsr_word_is_any_case(a->name, "Normals"))
            return a;
    }
    return NULL;
}

static int all_have(const tsr_vtk_xml *x, int colors)
{
    for (int32_t p = 0; p < x->pieces; p++)
        if (x->piece[p].points && !find_extra(x, p, colors)) return 0;
    return 1;
}

static tsr_status read_extras(const tsr_vtk_xml *x, tsr_mesh *mesh)
{
    int64_t first = 0;
    for (int32_t p = 0; p < x->pieces; first += x->piece[p++].points) {
        const int64_t n = x->piece[p].points;
        if (n && mesh->normals) TSR_TRY(tsr_vtk_xml_floats(x, find_extra(x, p, 0), n, mesh->normals + 3 * first));
        if (!n || !mesh->colors) continue;
        const tsr_vtk_array *a = find_extra(x, p, 1);
        uint8_t *bytes = NULL;
        TSR_TRY(tsr_vtk_xml_check(x, a, n));
        TSR_TRY(tsr_scratch_for_input(x->input, n * a->components, 1, "colours", (void **)&bytes));
        const tsr_status status = tsr_vtk_xml_values(x, a, n, bytes);
        for (int64_t i = 0; i < n && status == TSR_OK; i++) {
            mesh->colors[4 * (first + i) + 3] = 255;
            memcpy(mesh->colors + 4 * (first + i), bytes + i * a->components, (size_t)a->components);
        }
        tsr_host_release(NULL, bytes, 0);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static void remark_rest(const tsr_vtk_xml *x, const tsr_mesh *mesh)
{
    char list[256] = "", shown[32];
    size_t used = 0;
    for (int32_t k = 0; k < x->arrays && used + 40 < sizeof list; k++) {
        const tsr_vtk_array *a = &x->array[k];
        if (a->piece || (a->section != TSR_VTK_POINT_DATA && a->section != TSR_VTK_CELL_DATA)) continue;
        if ((mesh->normals && a == find_extra(x, 0, 0)) || (mesh->colors && a == find_extra(x, 0, 1))) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", tsr_word_show(a->name, shown));
    }
    if (used) tsr_remark("%s: arrays of points or cells that a mesh has no place for are left out: %s", x->file, list);
}

/* One section of one piece after the other, into the fan. */
static tsr_status walk(const tsr_vtk_xml *x, tsr_fan *fan, int64_t *triangles)
{
    int64_t first = 0;
    *triangles = 0;
    for (int32_t p = 0; p < x->pieces; first += x->piece[p++].points)
        for (int strips = 0; strips < 2; strips++) {
            cells c;
            const tsr_status status = read_cells(x, p, strips ? TSR_VTK_STRIPS : TSR_VTK_POLYS, strips ? x->piece[p].strips : x->piece[p].polys, &c);
            if (status == TSR_OK) *triangles += tsr_fan_cells_triangles(&c); /* a strip has as many triangles as a fan */
            if (status == TSR_OK && fan) tsr_fan_put_cells(fan, &c, strips, first);
            release(&c);
            TSR_TRY(status);
        }
    return TSR_OK;
}

static tsr_status read_all(const tsr_vtk_xml *x, const tsr_read_options *options, tsr_mesh **mesh)
{
    int64_t vertices = 0, triangles = 0, lines = 0;
    tsr_fan fan = { 0 };
    tsr_status status;
    if (x->kind != TSR_VTK_POLYDATA) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a VTK file without a surface, expected <VTKFile type=\"PolyData\">", x->file);
    for (int32_t p = 0; p < x->pieces; p++) {
        const tsr_vtk_array *a = tsr_vtk_xml_find(x, p, TSR_VTK_POINTS, NULL);
        if (!x->piece[p].points) continue;
        if (!a || a->components != 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has no positions of 3 components", x->file, (int)p);
        TSR_TRY(tsr_vtk_xml_check(x, a, x->piece[p].points));
        vertices += x->piece[p].points;
        lines += x->piece[p].lines;
    }
    if (vertices > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld vertices, expected at most 4294967295", x->file, (long long)vertices);
    TSR_TRY(walk(x, NULL, &triangles));
    TSR_TRY(tsr_mesh_for_input(x->input, vertices, triangles, vertices && all_have(x, 0), mesh));
    if (vertices && all_have(x, 1)) TSR_TRY(tsr_mesh_add_colors(*mesh));
    TSR_TRY(tsr_vtk_xml_positions(x, options, (*mesh)->vertices, (*mesh)->origin));
    TSR_TRY(read_extras(x, *mesh));
    TSR_TRY(tsr_mesh_check_positions(x->input, *mesh));
    TSR_TRY(tsr_fan_open(x->input, *mesh, &fan));
    status = walk(x, &fan, &triangles);
    TSR_TRY(tsr_fan_close(x->input, *mesh, &fan, x->progress, status));
    remark_rest(x, *mesh);
    if (lines) tsr_remark("%s: %lld lines are left out, a mesh holds triangles", x->file, (long long)lines);
    return TSR_OK;
}

static tsr_status read_mesh(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    tsr_vtk_xml xml;
    *mesh = NULL;
    tsr_status status = tsr_vtk_xml_open(input, options, &xml);
    if (status == TSR_OK) status = read_all(&xml, options, mesh);
    tsr_vtk_xml_close(&xml);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------ */

typedef enum part { PART_NORMALS, PART_COLORS, PART_LABELS, PART_PLACES, PART_CORNERS, PART_OFFSETS, PARTS } part;
static const struct {
    const char *name, *type;
    int components, size;
} parts[PARTS] = { { "Normals", "Float32", 3, 4 }, { "RGBA", "UInt8", 4, 1 },         { "Label", "Int64", 1, 8 },
                   { "Points", "Float32", 3, 4 },  { "connectivity", "Int64", 1, 8 }, { "offsets", "Int64", 1, 8 } };

typedef struct xml_writer {
    tsr_output *out;
    const tsr_mesh *mesh;
    const tsr_write_options *options;
    int data; /* the second time: what is appended */
    int64_t offset;
} xml_writer;

static int64_t tuples_of(const tsr_mesh *m, part p)
{
    return p == PART_CORNERS ? 3 * m->triangle_count : p == PART_OFFSETS || p == PART_LABELS ? m->triangle_count : m->vertex_count;
}

/* One number, as bytes or text. */
static tsr_status put_number(xml_writer *w, part p, int64_t i, int32_t *label, int64_t *label_end)
{
    const tsr_mesh *m = w->mesh;
    const int far = p == PART_PLACES && tsr_has_origin(m->origin);
    char text[64], *end = text;
    int64_t whole = 0;
    double place = 0;
    if (p == PART_CORNERS) whole = m->triangles[i];
    if (p == PART_OFFSETS) whole = 3 * (i + 1);
    if (p == PART_COLORS) whole = m->colors[i];
    if (p == PART_LABELS) {
        while (i >= *label_end && *label + 1 < m->part_count) *label_end += m->parts[++*label].triangles;
        whole = m->parts[*label].value;
    }
    const float real = p == PART_NORMALS ? m->normals[i] : p == PART_PLACES ? m->vertices[i] : 0;
    if (far) place = m->origin[i % 3] + (double)real;
    if (!w->options->ascii) {
        if (far) return tsr_output_write(w->out, &place, sizeof place);
        if (p == PART_NORMALS || p == PART_PLACES) return tsr_output_write(w->out, &real, sizeof real);
        if (p == PART_COLORS) return tsr_output_write(w->out, &m->colors[i], 1);
        return tsr_output_write(w->out, &whole, sizeof whole);
    }
    if (far) end = tsr_put_place(end, place);
    else if (p == PART_NORMALS || p == PART_PLACES) end = tsr_put_float(end, real);
    else end += snprintf(end, 32, "%lld", (long long)whole);
    *end++ = i % 12 == 11 ? '\n' : ' ';
    return tsr_output_write(w->out, text, (size_t)(end - text));
}

/* The tag of an array the first time, its bytes the second. */
static tsr_status put_array(xml_writer *w, part p)
{
    const int far = p == PART_PLACES && tsr_has_origin(w->mesh->origin);
    const int64_t numbers = tuples_of(w->mesh, p) * parts[p].components;
    const uint64_t bytes = (uint64_t)(numbers * (far ? 8 : parts[p].size));
    int32_t label = 0;
    int64_t label_end = w->mesh->part_count ? w->mesh->parts[0].triangles : 0;
    if (!w->data) {
        TSR_TRY(tsr_output_printf(w->out, "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" ", far ? "Float64" : parts[p].type,
                                  parts[p].name, parts[p].components));
        if (!w->options->ascii) {
            TSR_TRY(tsr_output_printf(w->out, "format=\"appended\" offset=\"%lld\"/>\n", (long long)w->offset));
            w->offset += 8 + (int64_t)bytes;
            return TSR_OK;
        }
        TSR_TRY(tsr_output_printf(w->out, "format=\"ascii\">\n"));
    } else TSR_TRY(tsr_output_write(w->out, &bytes, sizeof bytes));
    for (int64_t i = 0; i < numbers; i++) {
        TSR_WRITING(&w->options->progress, i, numbers);
        TSR_TRY(put_number(w, p, i, &label, &label_end));
    }
    return w->data ? TSR_OK : tsr_output_printf(w->out, "\n        </DataArray>\n");
}

static tsr_status put_tag(xml_writer *w, const char *tag) { return w->data ? TSR_OK : tsr_output_printf(w->out, "      <%s>\n", tag); }

static tsr_status put_arrays(xml_writer *w)
{
    const tsr_mesh *m = w->mesh;
    TSR_TRY(put_tag(w, m->normals  ? m->colors ? "PointData Normals=\"Normals\" Scalars=\"RGBA\"" : "PointData Normals=\"Normals\""
                       : m->colors ? "PointData Scalars=\"RGBA\""
                                   : "PointData"));
    if (m->normals) TSR_TRY(put_array(w, PART_NORMALS));
    if (m->colors) TSR_TRY(put_array(w, PART_COLORS));
    TSR_TRY(put_tag(w, "/PointData"));
    TSR_TRY(put_tag(w, "CellData"));
    if (m->part_count) TSR_TRY(put_array(w, PART_LABELS));
    TSR_TRY(put_tag(w, "/CellData"));
    TSR_TRY(put_tag(w, "Points"));
    TSR_TRY(put_array(w, PART_PLACES));
    TSR_TRY(put_tag(w, "/Points"));
    TSR_TRY(put_tag(w, "Polys"));
    TSR_TRY(put_array(w, PART_CORNERS));
    TSR_TRY(put_array(w, PART_OFFSETS));
    TSR_TRY(put_tag(w, "/Polys"));
    return TSR_OK;
}

static tsr_status write_all(xml_writer *w)
{
    TSR_TRY(tsr_output_printf(
        w->out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n  <PolyData>\n"
        "    <Piece NumberOfPoints=\"%lld\" NumberOfPolys=\"%lld\">\n",
        tsr_host_big_endian() ? "BigEndian" : "LittleEndian", (long long)w->mesh->vertex_count, (long long)w->mesh->triangle_count));
    TSR_TRY(put_arrays(w));
    TSR_TRY(tsr_output_printf(w->out, "    </Piece>\n  </PolyData>\n"));
    if (!w->options->ascii) {
        TSR_TRY(tsr_output_printf(w->out, "  <AppendedData encoding=\"raw\">\n_"));
        w->data = 1;
        TSR_TRY(put_arrays(w));
        TSR_TRY(tsr_output_printf(w->out, "\n  </AppendedData>\n"));
    }
    return tsr_output_printf(w->out, "</VTKFile>\n");
}

static tsr_status write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    xml_writer w = { .mesh = mesh, .options = options };
    TSR_TRY(tsr_output_open(path, options, &w.out));
    return tsr_output_finish(&w.out, write_all(&w));
}

const tsr_format tsr_format_vtpmesh = { .name = "vtp-mesh",
                                        .kind = TSR_FILE_MESH,
                                        .extensions = { ".vtp" },
                                        .recognise = recognise,
                                        .mesh_extras = TSR_MESH_COLORS | TSR_MESH_ORIGIN,
                                        .read_mesh = read_mesh,
                                        .write_mesh = write_mesh,
                                        .read_points = tsr_vtk_xml_read_points };
