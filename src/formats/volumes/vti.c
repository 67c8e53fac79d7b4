/* formats/volumes/vti.c: VTK's image data (.vti): one array of the points or, where there is none, of the cells, which lie between them; all pieces; origin, spacing and
 * directions, without a frame. Which array: options.dataset, else the one that the file calls active, else the first. Written: appended raw, packed by zlib
 * if options.compression says so, or text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/parts.h"
#include "formats/vtk_xml.h"

static int recognise(const tsr_signature *s) { return tsr_vtk_xml_is(s->head, s->head_bytes, "ImageData") ? TSR_SURELY_MINE : TSR_NOT_MINE; }

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------ */

static void list_arrays(const tsr_vtk_xml *x, char *list, size_t room)
{
    size_t used = 0;
    list[0] = 0;
    for (int32_t k = 0; k < x->arrays && used + 48 < room; k++) {
        char shown[32];
        if (x->array[k].piece || (x->array[k].section != TSR_VTK_POINT_DATA && x->array[k].section != TSR_VTK_CELL_DATA)) continue;
        used += (size_t)snprintf(list + used, room - used, "%s%s", used ? ", " : "", tsr_word_show(x->array[k].name, shown));
    }
}

static int same(tsr_word a, tsr_word b) { return a.size == b.size && !memcmp(a.text, b.text, a.size); }

static tsr_status choose(const tsr_vtk_xml *x, const tsr_read_options *options, const tsr_vtk_array **chosen)
{
    char list[512];
    *chosen = NULL;
    for (int cells = 0; cells < 2 && !*chosen; cells++) {
        const tsr_vtk_section section = cells ? TSR_VTK_CELL_DATA : TSR_VTK_POINT_DATA;
        for (int32_t k = 0; k < x->arrays && !options->dataset && x->scalars[cells].size && !*chosen; k++)
            if (!x->array[k].piece && x->array[k].section == section && same(x->array[k].name, x->scalars[cells])) *chosen = &x->array[k];
        if (!*chosen) *chosen = tsr_vtk_xml_find(x, 0, section, options->dataset);
    }
    if (*chosen) return TSR_OK;
    list_arrays(x, list, sizeof list);
    if (options->dataset)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', the file holds %s", x->file, options->dataset, *list ? list : "no array");
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: no array of numbers at the points or cells", x->file);
}

/* Where a piece goes, in samples. */
static void place_of(const tsr_vtk_xml *x, const tsr_vtk_piece *p, int cells, int64_t first[3], int64_t size[3])
{
    for (int k = 0; k < 3; k++) {
        first[k] = p->extent[2 * k] - x->image.extent[2 * k];
        size[k] = p->extent[2 * k + 1] - p->extent[2 * k] + !cells;
        if (!size[k]) size[k] = 1;
    }
}

static tsr_status check_pieces(const tsr_vtk_xml *x, const tsr_vtk_array *a, const int64_t size[3])
{
    const int cells = a->section == TSR_VTK_CELL_DATA;
    for (int32_t p = 0; p < x->pieces; p++) {
        char shown[32], name[256];
        int64_t first[3], own[3];
        place_of(x, &x->piece[p], cells, first, own);
        for (int k = 0; k < 3; k++)
            if (first[k] < 0 || first[k] > size[k] - own[k]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d lies outside of the image", x->file, (int)p);
        if (a->name.size >= sizeof name) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the name of an array is longer than %zu bytes", x->file, sizeof name);
        memcpy(name, a->name.text, a->name.size);
        name[a->name.size] = 0;
        const tsr_vtk_array *same_array = tsr_vtk_xml_find(x, p, a->section, name);
        if (!same_array || same_array->components != a->components || same_array->type != a->type)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %d has no array '%s' of %d components, as the first piece has", x->file, (int)p,
                     tsr_word_show(a->name, shown), (int)a->components);
        TSR_TRY(tsr_vtk_xml_check(x, same_array, cells ? x->piece[p].cells : x->piece[p].points));
    }
    return TSR_OK;
}

static tsr_status read_pieces(const tsr_vtk_xml *x, const tsr_vtk_array *a, const int64_t size[3], int64_t channel, uint8_t *to)
{
    const int cells = a->section == TSR_VTK_CELL_DATA;
    const size_t element = tsr_dtype_size(tsr_vtk_dtype(a->type));
    char name[256];
    memcpy(name, a->name.text, a->name.size);
    name[a->name.size] = 0;
    for (int32_t p = 0; p < x->pieces; p++) {
        const int64_t count = cells ? x->piece[p].cells : x->piece[p].points;
        const tsr_vtk_array *own = tsr_vtk_xml_find(x, p, a->section, name);
        int64_t first[3], n[3];
        uint8_t *part = NULL;
        place_of(x, &x->piece[p], cells, first, n);
        if (x->pieces == 1 && a->components == 1 && n[0] == size[0] && n[1] == size[1] && n[2] == size[2])
            return tsr_vtk_xml_values(x, own, count, to);
        TSR_TRY(tsr_scratch_for_input(x->input, count * a->components + 1, element, "a piece", (void **)&part));
        const tsr_status status = tsr_vtk_xml_values(x, own, count, part);
        for (int64_t z = 0; z < n[2] && status == TSR_OK; z++)
            for (int64_t y = 0; y < n[1]; y++) {
                const uint8_t *from = part + ((z * n[1] + y) * n[0] * a->components + channel) * (int64_t)element;
                uint8_t *row = to + (((first[2] + z) * size[1] + first[1] + y) * size[0] + first[0]) * (int64_t)element;
                if (a->components == 1) memcpy(row, from, (size_t)n[0] * element);
                else
                    for (int64_t i = 0; i < n[0]; i++) memcpy(row + i * (int64_t)element, from + i * a->components * (int64_t)element, element);
            }
        tsr_host_release(NULL, part, 0);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static tsr_status take_geometry(const tsr_vtk_xml *x, int cells, const int64_t size[3], tsr_geometry *g)
{
    const tsr_vtk_image *i = &x->image;
    *g = (tsr_geometry){ .space = TSR_SPACE_NONE };
    for (int c = 0; c < 3; c++) {
        double spacing = i->spacing[c];
        if (spacing == 0 && size[c] == 1) spacing = 1;
        if (!(spacing != 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: Spacing is %g along %c, expected a length", x->file, spacing, "xyz"[c]);
        for (int r = 0; r < 3; r++) g->affine[r][c] = i->direction[3 * r + c] * spacing;
    }
    for (int r = 0; r < 3; r++) {
        g->affine[r][3] = i->origin[r];
        for (int c = 0; c < 3; c++) {
            const int flat = i->extent[2 * c] == i->extent[2 * c + 1];
            g->affine[r][3] += g->affine[r][c] * ((double)i->extent[2 * c] + (cells && !flat ? 0.5 : 0)); /* values of cells sit in their middle */
        }
    }
    return TSR_OK;
}

static tsr_status read_all(const tsr_vtk_xml *x, const tsr_read_options *options, tsr_volume **volume)
{
    const tsr_vtk_array *a;
    tsr_axes axes = { 0 };
    tsr_geometry geometry;
    tsr_block block;
    int64_t size[3], bytes;
    char name[256];
    if (x->kind != TSR_VTK_IMAGE) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a VTK file without an image, expected <VTKFile type=\"ImageData\">", x->file);
    if (tsr_input_settings(x->input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: VTK's XML files cannot be read in pieces, convert the file first", x->file);
    TSR_TRY(choose(x, options, &a));
    const int cells = a->section == TSR_VTK_CELL_DATA;
    for (int k = 0; k < 3; k++) size[k] = x->image.extent[2 * k + 1] - x->image.extent[2 * k] + !cells;
    for (int k = 0; k < 3; k++) size[k] = size[k] ? size[k] : 1;
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, a->components, "NumberOfComponents", x->input, options));
    TSR_TRY(check_pieces(x, a, size));
    TSR_TRY(take_geometry(x, cells, size, &geometry));
    const tsr_layout layout = { .dtype = tsr_vtk_dtype(a->type), .size = { size[0], size[1], size[2] } };
    TSR_TRY(tsr_voxel_bytes(x->input, layout.dtype, layout.size, &bytes));
    int64_t held = 0;
    for (int32_t p = 0; p < x->pieces; p++) held += cells ? x->piece[p].cells : x->piece[p].points;
    if (held < size[0] * size[1] * size[2])
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the pieces hold %lld values, the image has %lld", x->file, (long long)held,
                 (long long)(size[0] * size[1] * size[2]));
    TSR_TRY(tsr_input_allocate(x->input, bytes, "voxels", &block));
    memset(block.data, 0, x->pieces > 1 ? (size_t)bytes : 0);
    const tsr_status status = read_pieces(x, a, size, a->components > 1 ? axes.pick[0] : 0, (uint8_t *)block.data);
    if (status != TSR_OK) {
        tsr_block_release(&block);
        return status;
    }
    TSR_TRY(tsr_volume_of_block(x->input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    memcpy(name, a->name.text, a->name.size);
    name[a->name.size] = 0;
    const tsr_status named = *name ? tsr_volume_set_meta(*volume, "vti.array", name) : TSR_OK;
    if (named != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(named);
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_vtk_xml xml;
    tsr_status status = tsr_vtk_xml_open(input, options, &xml);
    if (status == TSR_OK) status = read_all(&xml, options, volume);
    tsr_vtk_xml_close(&xml);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------ */

static const char *const type_names[TSR_DTYPE_COUNT] = { "UInt8", "Int8",   "UInt16", "Int16",   "UInt32",
                                                         "Int32", "UInt64", "Int64",  "Float32", "Float64" };

static void put_numbers(tsr_output *out, const char *name, const double *values, int count)
{
    char text[32];
    tsr_output_printf(out, " %s=\"", name);
    for (int i = 0; i < count; i++) tsr_output_printf(out, "%s%s", i ? " " : "", tsr_print_double(text, values[i] + 0.0));
    tsr_output_printf(out, "\"");
}

tsr_status tsr_vti_begin(tsr_output *out, const tsr_geometry *g, tsr_size3 n, tsr_dtype dtype, int components, const tsr_write_options *options, const char *name)
{
    const tsr_vec3 lengths = tsr_geometry_spacing(g);
    const double spacing[3] = { lengths.x, lengths.y, lengths.z }, origin[3] = { g->affine[0][3], g->affine[1][3], g->affine[2][3] };
    double direction[9];
    char extent[96];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) direction[3 * r + c] = g->affine[r][c] / spacing[c];
    snprintf(extent, sizeof extent, "0 %lld 0 %lld 0 %lld", (long long)n.x - 1, (long long)n.y - 1, (long long)n.z - 1);
    tsr_output_printf(out,
                      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\"%s>\n  "
                      "<ImageData WholeExtent=\"%s\"",
                      tsr_host_big_endian() ? "BigEndian" : "LittleEndian",
                      options->compression > 0 && !options->ascii ? " compressor=\"vtkZLibDataCompressor\"" : "", extent);
    put_numbers(out, "Origin", origin, 3);
    put_numbers(out, "Spacing", spacing, 3);
    put_numbers(out, "Direction", direction, 9);
    return tsr_output_printf(out,
                             ">\n    <Piece Extent=\"%s\">\n      <PointData %s=\"%s\">\n        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                             "format=\"%s\"%s>\n",
                             extent, components == 3 ? "Vectors" : "Scalars", name, type_names[dtype], name, components, options->ascii ? "ascii" : "appended",
                             options->ascii ? "" : " offset=\"0\"");
}
tsr_status tsr_vti_append(tsr_output *out, int appended)
{
    tsr_output_printf(out, "        </DataArray>\n      </PointData>\n    </Piece>\n  </ImageData>\n");
    return appended ? tsr_output_printf(out, "  <AppendedData encoding=\"raw\">\n_") : TSR_OK;
}
tsr_status tsr_vti_end(tsr_output *out, int appended)
{
    if (appended) tsr_output_printf(out, "\n  </AppendedData>\n");
    return tsr_output_printf(out, "</VTKFile>\n");
}

/* Blocks of this size, each packed by itself; their sizes stand before them. */
static tsr_status put_packed(tsr_output *out, const tsr_volume *v, int level)
{
    enum { BLOCK = 1 << 20 };
    const uint64_t bytes = (uint64_t)v->bytes, blocks = (bytes + BLOCK - 1) / BLOCK, last = bytes % BLOCK;
    uint64_t *sizes = (uint64_t *)malloc((size_t)(3 + blocks) * sizeof *sizes);
    uint8_t **packed = (uint8_t **)calloc((size_t)blocks, sizeof *packed);
    tsr_status status = TSR_OK;
    if (!sizes || !packed) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for %llu packed blocks", (unsigned long long)blocks);
    for (uint64_t b = 0; b < blocks && status == TSR_OK; b++) {
        const uLong size = b + 1 == blocks && last ? (uLong)last : BLOCK;
        uLongf room = compressBound(size);
        packed[b] = (uint8_t *)malloc(room);
        if (!packed[b] || compress2(packed[b], &room, (const Bytef *)v->data + b * BLOCK, size, level) != Z_OK)
            status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for a packed block");
        sizes[3 + b] = room;
    }
    if (status == TSR_OK) {
        sizes[0] = blocks, sizes[1] = BLOCK, sizes[2] = last;
        status = tsr_output_write(out, sizes, (size_t)(3 + blocks) * sizeof *sizes);
    }
    for (uint64_t b = 0; b < blocks && status == TSR_OK; b++) status = tsr_output_write(out, packed[b], (size_t)sizes[3 + b]);
    for (uint64_t b = 0; packed && b < blocks; b++) free(packed[b]);
    free(packed);
    free(sizes);
    return status;
}

static tsr_status put_all(tsr_output *out, const tsr_volume *v, const tsr_write_options *options)
{
    char name[64] = "values";
    const char *kept = tsr_volume_meta(v, "vti.array");
    const uint64_t bytes = (uint64_t)v->bytes;
    if (kept && strlen(kept) < sizeof name && !strpbrk(kept, "\"<>&")) snprintf(name, sizeof name, "%s", kept);
    TSR_TRY(tsr_vti_begin(out, &v->geometry, v->size, v->dtype, 1, options, name));
    if (options->ascii) TSR_TRY(tsr_output_voxels_ascii(out, v));
    TSR_TRY(tsr_vti_append(out, !options->ascii));
    if (!options->ascii && options->compression > 0) TSR_TRY(put_packed(out, v, options->compression));
    else if (!options->ascii) {
        TSR_TRY(tsr_output_write(out, &bytes, sizeof bytes));
        TSR_TRY(tsr_output_voxels(out, v, 0));
    }
    return tsr_vti_end(out, !options->ascii);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "a .vti file"));
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, put_all(out, volume, options));
}

const tsr_format tsr_format_vti = { .name = "vti",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".vti" },
                                    .recognise = recognise,
                                    .place = TSR_PLACE_NAMELESS,
                                    .whole = 1,
                                    .datasets = 1,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
