/* formats/points/vtk_points.c: points of VTK's XML files (.vtu UnstructuredGrid, .vtp PolyData) with their point data; cells are left out. Written as PolyData or
 * UnstructuredGrid of vertices, appended raw, or as ASCII. */
#include "formats/points/point_columns.h"
#include "formats/points/vtk_points.h"
#include "formats/vtk_grids.h"
#include "formats/vtk_xml.h"

/* One array of the first piece, out of every piece. */
static tsr_status read_attribute(const tsr_vtk_xml *x, const tsr_vtk_array *a, tsr_points *points)
{
    char usual[64], name[64], shown[32];
    float *data = NULL;
    const tsr_column_kind kind = tsr_column_kind_of(a->name, a->components, usual);
    if (!kind || a->name.size >= sizeof name) return TSR_OK;
    memcpy(name, a->name.text, a->name.size);
    name[a->name.size] = 0;
    TSR_TRY(tsr_column_take(points, kind, usual, a->components, &data));
    if (!data) return TSR_OK;
    for (int32_t p = 0; p < x->pieces; p++) {
        const int64_t n = x->piece[p].points;
        if (!n) continue;
        const tsr_vtk_array *own = tsr_vtk_xml_find(x, p, TSR_VTK_POINT_DATA, name);
        if (!own || own->components != a->components)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has no array '%s' of %d components, as the first piece has", x->file, (int)p, tsr_word_show(a->name, shown),
                     (int)a->components);
        TSR_TRY(tsr_vtk_xml_floats(x, own, n, data));
        data += n * a->components;
    }
    return TSR_OK;
}

static tsr_status read_all(const tsr_vtk_xml *x, const tsr_read_options *options, tsr_points **points)
{
    int64_t count = 0;
    int32_t filled = -1;
    for (int32_t p = 0; p < x->pieces; p++) {
        const int64_t n = x->piece[p].points;
        const tsr_vtk_array *a = tsr_vtk_xml_find(x, p, TSR_VTK_POINTS, NULL);
        if (!n) continue;
        if (filled < 0) filled = p;
        if (!a || a->components != 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has no positions of 3 components", x->file, (int)p);
        TSR_TRY(tsr_vtk_xml_check(x, a, n));
        count += n;
    }
    TSR_TRY(tsr_points_for_input(x->input, count, 0, points));
    TSR_TRY(tsr_vtk_xml_positions(x, options, (*points)->positions, (*points)->origin));
    for (int32_t k = 0; k < x->arrays; k++)
        if (x->array[k].piece == filled && x->array[k].section == TSR_VTK_POINT_DATA) TSR_TRY(read_attribute(x, &x->array[k], *points));
    TSR_TRY(tsr_points_check_positions(x->input, *points));
    return TSR_OK;
}

tsr_status tsr_vtk_xml_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    tsr_vtk_xml xml;
    *points = NULL;
    tsr_status status = tsr_vtk_xml_open(input, options, &xml);
    if (status == TSR_OK && xml.kind == TSR_VTK_IMAGE)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: a VTK file of type 'ImageData', a volume, expected UnstructuredGrid or PolyData for points", xml.file);
    if (status == TSR_OK) status = read_all(&xml, options, points);
    tsr_vtk_xml_close(&xml);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------------- */

typedef enum array_kind { ARRAY_FLOATS, ARRAY_PLACES, ARRAY_RAMP, ARRAY_RAMP_FROM_1, ARRAY_ONES } array_kind;

typedef struct xml_writer {
    tsr_output *out;
    const tsr_points *points;
    const tsr_write_options *options;
    int data; /* the second time: what is appended */
    int64_t offset;
} xml_writer;

static tsr_status put_text(xml_writer *w, array_kind kind, const float *data, int32_t components)
{
    const tsr_points *p = w->points;
    for (int64_t i = 0; i < p->count; i++) {
        char text[64], *end = text;
        TSR_WRITING(&w->options->progress, i, p->count);
        for (int32_t k = 0; k < components; k++) {
            end = text;
            if (kind == ARRAY_PLACES) end = tsr_put_place(end, p->origin[k] + (double)p->positions[3 * i + k]);
            else if (kind == ARRAY_FLOATS) end = tsr_put_float(end, data[i * components + k]);
            else end = tsr_put_integer(end, kind == ARRAY_ONES ? 1 : (uint64_t)(i + (kind == ARRAY_RAMP_FROM_1)));
            *end++ = k + 1 < components ? ' ' : '\n';
            TSR_TRY(tsr_output_write(w->out, text, (size_t)(end - text)));
        }
    }
    return TSR_OK;
}

static tsr_status put_bytes(xml_writer *w, array_kind kind, const float *data, int32_t components, uint64_t bytes)
{
    const tsr_points *p = w->points;
    TSR_TRY(tsr_output_write(w->out, &bytes, sizeof bytes));
    if (kind == ARRAY_FLOATS) return tsr_output_write(w->out, data, (size_t)bytes);
    for (int64_t i = 0; i < p->count; i++) {
        double place[3];
        const int64_t number = i + (kind == ARRAY_RAMP_FROM_1);
        const uint8_t one = 1;
        TSR_WRITING(&w->options->progress, i, p->count);
        for (int k = 0; k < 3 && kind == ARRAY_PLACES; k++) place[k] = p->origin[k] + (double)p->positions[3 * i + k];
        if (kind == ARRAY_PLACES) TSR_TRY(tsr_output_write(w->out, place, sizeof place));
        else if (kind == ARRAY_ONES) TSR_TRY(tsr_output_write(w->out, &one, 1));
        else TSR_TRY(tsr_output_write(w->out, &number, sizeof number));
    }
    (void)components;
    return TSR_OK;
}

/* The tag of an array the first time, its bytes the second. */
static tsr_status put_array(xml_writer *w, const char *name, array_kind kind, const float *data, int32_t components)
{
    static const char *const type[] = { "Float32", "Float64", "Int64", "Int64", "UInt8" };
    static const int size[] = { 4, 8, 8, 8, 1 };
    const uint64_t bytes = (uint64_t)w->points->count * (uint64_t)components * (uint64_t)size[kind];
    if (w->data) return put_bytes(w, kind, data, components, bytes);
    TSR_TRY(tsr_output_printf(w->out, "        <DataArray type=\"%s\" Name=\"", type[kind]));
    for (const char *c = name; *c; c++) /* what would end the name or the tag */
        TSR_TRY(tsr_output_printf(w->out, "%c", *c == '"' || *c == '<' || *c == '>' || *c == '&' ? '_' : *c));
    TSR_TRY(tsr_output_printf(w->out, "\" NumberOfComponents=\"%d\" ", (int)components));
    if (w->options->ascii) {
        TSR_TRY(tsr_output_printf(w->out, "format=\"ascii\">\n"));
        TSR_TRY(put_text(w, kind, data, components));
        return tsr_output_printf(w->out, "        </DataArray>\n");
    }
    TSR_TRY(tsr_output_printf(w->out, "format=\"appended\" offset=\"%lld\"/>\n", (long long)w->offset));
    w->offset += 8 + (int64_t)bytes;
    return TSR_OK;
}

static tsr_status put_tag(xml_writer *w, const char *tag) { return w->data ? TSR_OK : tsr_output_printf(w->out, "      <%s>\n", tag); }

static tsr_status put_arrays(xml_writer *w, int unstructured)
{
    const tsr_points *p = w->points;
    TSR_TRY(put_tag(w, "PointData"));
    if (p->radii) TSR_TRY(put_array(w, "radius", ARRAY_FLOATS, p->radii, 1));
    if (p->normals) TSR_TRY(put_array(w, "Normals", ARRAY_FLOATS, p->normals, 3));
    for (int32_t k = 0; k < p->attributes; k++) TSR_TRY(put_array(w, p->attribute[k].name, ARRAY_FLOATS, p->attribute[k].data, p->attribute[k].components));
    TSR_TRY(put_tag(w, "/PointData"));
    TSR_TRY(put_tag(w, "Points"));
    TSR_TRY(put_array(w, "Points", tsr_has_origin(p->origin) ? ARRAY_PLACES : ARRAY_FLOATS, p->positions, 3));
    TSR_TRY(put_tag(w, "/Points"));
    TSR_TRY(put_tag(w, unstructured ? "Cells" : "Verts"));
    TSR_TRY(put_array(w, "connectivity", ARRAY_RAMP, NULL, 1));
    TSR_TRY(put_array(w, "offsets", ARRAY_RAMP_FROM_1, NULL, 1));
    if (unstructured) TSR_TRY(put_array(w, "types", ARRAY_ONES, NULL, 1));
    TSR_TRY(put_tag(w, unstructured ? "/Cells" : "/Verts"));
    return TSR_OK;
}

static tsr_status write_all(xml_writer *w, int unstructured)
{
    const char *type = unstructured ? "UnstructuredGrid" : "PolyData";
    TSR_TRY(tsr_output_printf(w->out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n", type,
                              tsr_host_big_endian() ? "BigEndian" : "LittleEndian"));
    TSR_TRY(tsr_output_printf(w->out, "  <%s>\n    <Piece NumberOfPoints=\"%lld\" %s=\"%lld\">\n", type, (long long)w->points->count,
                              unstructured ? "NumberOfCells" : "NumberOfVerts", (long long)w->points->count));
    TSR_TRY(put_arrays(w, unstructured));
    TSR_TRY(tsr_output_printf(w->out, "    </Piece>\n  </%s>\n", type));
    if (!w->options->ascii) {
        TSR_TRY(tsr_output_printf(w->out, "  <AppendedData encoding=\"raw\">\n_"));
        w->data = 1;
        TSR_TRY(put_arrays(w, unstructured));
        TSR_TRY(tsr_output_printf(w->out, "\n  </AppendedData>\n"));
    }
    return tsr_output_printf(w->out, "</VTKFile>\n");
}

static tsr_status write_points(const tsr_points *points, const char *path, const tsr_write_options *options, int unstructured)
{
    xml_writer w = { .points = points, .options = options };
    TSR_TRY(tsr_output_open(path, options, &w.out));
    return tsr_output_finish(&w.out, write_all(&w, unstructured));
}
static tsr_status vtu_write(const tsr_points *points, const char *path, const tsr_write_options *options) { return write_points(points, path, options, 1); }
static tsr_status vtp_write(const tsr_points *points, const char *path, const tsr_write_options *options) { return write_points(points, path, options, 0); }

static int vtu_recognise(const tsr_signature *s) { return tsr_vtk_xml_is(s->head, s->head_bytes, "UnstructuredGrid") ? TSR_SURELY_MINE : TSR_NOT_MINE; }
/* A curved lattice: its points, and the arrays at them. */
static int vts_recognise(const tsr_signature *s) { return tsr_vtk_xml_is(s->head, s->head_bytes, "StructuredGrid") ? TSR_SURELY_MINE : TSR_NOT_MINE; }
/* With polygons it is a mesh: formats/meshes/vtp_mesh.c. */
static int vtp_recognise(const tsr_signature *s)
{
    if (!tsr_vtk_xml_is(s->head, s->head_bytes, "PolyData")) return TSR_NOT_MINE;
    return tsr_format_vtpmesh.recognise(s) ? TSR_NOT_MINE : TSR_SURELY_MINE;
}

const tsr_format tsr_format_vtu = { .name = "vtu", .kind = TSR_FILE_POINTS, .extensions = { ".vtu" }, .recognise = vtu_recognise, .read_points = tsr_vtk_xml_read_points,
                                    .write_points = vtu_write, .read_unstructured = tsr_vtk_xml_read_grid };
const tsr_format tsr_format_vts = { .name = "vts", .kind = TSR_FILE_POINTS, .extensions = { ".vts" }, .recognise = vts_recognise, .read_points = tsr_vtk_xml_read_points,
                                    .read_unstructured = tsr_vtk_xml_read_grid };
const tsr_format tsr_format_vtp = { .name = "vtp", .kind = TSR_FILE_POINTS, .extensions = { ".vtp" }, .recognise = vtp_recognise, .read_points = tsr_vtk_xml_read_points,
                                    .write_points = vtp_write };
