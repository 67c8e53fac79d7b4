/* formats/volumes/hdf5/xdmf.c: XDMF, an XML text that says what arrays in HDF5 files (or bare bytes, or the text itself) mean: uniform grids (CoRectMesh with ORIGIN_DXDYDZ), scalars at nodes or
 * cells, a collection in time as frames. Written: the text, and the voxels as /data of an HDF5 file beside it. Lists of numbers are slowest axis first.
 * Format: "XDMF Model and Format" version 3 (xdmf.org). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/contents.h"
#include "formats/format.h"
#include "formats/stored.h"
#include "formats/xml_tags.h"
#include "volume/voxel.h"

static int recognise(const tsr_signature *s)
{
    tsr_text text = tsr_text_make(s->head, s->head_bytes);
    tsr_xml_tag tag;
    int more;
    return s->head_bytes && s->head[0] == '<' && tsr_xml_next("", &text, &tag, &more) == TSR_OK && more && tsr_word_is(tag.name, "Xdmf")
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

enum { ATTRIBUTES = 4096 };

typedef struct attribute {
    tsr_word name, form, text, type, precision, endian, seek, sizes; /* sizes, type ...: of its array */
    int64_t grid;
    int cells, scalar;
} attribute;

typedef struct xdmf {
    const char *file;
    attribute *at;
    int32_t count;
    double origin[3], spacing[3]; /* z, y, x, of the first */
    int placed;
} xdmf;

static tsr_word between(tsr_text *text)
{
    while (text->at < text->end && tsr_xml_space(*text->at)) tsr_xml_step(text);
    const char *begin = text->at;
    while (text->at < text->end && *text->at != '<') tsr_xml_step(text);
    const char *end = text->at;
    while (end > begin && tsr_xml_space(end[-1])) end--;
    return (tsr_word){ begin, (size_t)(end - begin) };
}

static int numbers_of(tsr_word word, double *to, int most)
{
    tsr_text text = tsr_text_of(word, 1);
    int n = 0;
    while (n < most && tsr_text_double(&text, &to[n]) == TSR_TEXT_OK) n++;
    return n;
}

/* One <DataItem> of a geometry: two in turn say origin and spacing. */
static void take_place(xdmf *x, tsr_word text, int item)
{
    double n[3];
    const int count = numbers_of(text, n, 3);
    if (count < 2 || item > 1 || x->placed == 2) return;
    for (int k = 0; k < 3; k++) (item ? x->spacing : x->origin)[k] = count == 3 ? n[k] : k ? n[k - 1] : item;
    x->placed = item + 1;
}

static tsr_status take_item(xdmf *x, const tsr_xml_tag *t, tsr_text *text, attribute *a)
{
    tsr_word word = { "", 0 };
    if (tsr_xml_attribute(t, "ItemType", &word) && !tsr_word_is_any_case(word, "Uniform"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: line %lld: a DataItem that selects or computes (ItemType), expected a plain array", x->file,
                 (long long)t->line);
    tsr_xml_attribute(t, "Format", &a->form);
    if (!tsr_xml_attribute(t, "NumberType", &a->type)) tsr_xml_attribute(t, "DataType", &a->type);
    tsr_xml_attribute(t, "Precision", &a->precision);
    tsr_xml_attribute(t, "Endian", &a->endian);
    tsr_xml_attribute(t, "Seek", &a->seek);
    tsr_xml_attribute(t, "Dimensions", &a->sizes);
    if (!t->empty) a->text = between(text);
    return TSR_OK;
}

static tsr_status take_all(xdmf *x, tsr_text text)
{
    tsr_xml_tag t;
    int more = 0, geometry = 0, item = 0;
    attribute now = { .name = { "", 0 } };
    int in_attribute = 0;
    int64_t grid = -1;
    for (;;) {
        tsr_word word = { "", 0 };
        TSR_TRY(tsr_xml_next(x->file, &text, &t, &more));
        if (!more) break;
        if (tsr_word_is(t.name, "Grid") && !t.closing) grid++;
        if (tsr_word_is(t.name, "Geometry")) geometry = !t.closing && !t.empty, item = 0;
        if (tsr_word_is(t.name, "Topology") && !t.closing && (tsr_xml_attribute(&t, "TopologyType", &word) || tsr_xml_attribute(&t, "Type", &word)) &&
            !tsr_word_is_any_case(word, "3DCoRectMesh") && !tsr_word_is_any_case(word, "2DCoRectMesh"))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: line %lld: a topology other than 3DCoRectMesh and 2DCoRectMesh: its points are not evenly spaced",
                     x->file, (long long)t.line);
        if (tsr_word_is(t.name, "Attribute")) {
            if (t.closing && in_attribute && now.form.size && x->count < ATTRIBUTES) x->at[x->count++] = now;
            in_attribute = !t.closing && !t.empty;
            now = (attribute){ .name = { "", 0 }, .grid = grid, .scalar = 1 };
            tsr_xml_attribute(&t, "Name", &now.name);
            if (tsr_xml_attribute(&t, "AttributeType", &word) || tsr_xml_attribute(&t, "Type", &word))
                now.scalar = tsr_word_is_any_case(word, "Scalar");
            now.cells = tsr_xml_attribute(&t, "Center", &word) && tsr_word_is_any_case(word, "Cell");
        }
        if (!tsr_word_is(t.name, "DataItem") || t.closing) continue;
        if (in_attribute) TSR_TRY(take_item(x, &t, &text, &now));
        else if (geometry && !t.empty) take_place(x, between(&text), item++);
    }
    if (!x->count) TSR_FAIL(TSR_ERROR_FORMAT, "%s: XDMF without an <Attribute> that has a <DataItem>", x->file);
    return TSR_OK;
}

static tsr_status open_text(tsr_input *input, xdmf *x)
{
    const uint8_t *bytes;
    size_t size;
    *x = (xdmf){ .file = tsr_input_name(input), .spacing = { 1, 1, 1 } };
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    x->at = (attribute *)malloc(ATTRIBUTES * sizeof *x->at);
    if (!x->at) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the list of arrays", x->file);
    const tsr_status status = take_all(x, tsr_text_make(bytes, size));
    if (status != TSR_OK) free(x->at);
    return status;
}

static int same(tsr_word a, tsr_word b) { return a.size == b.size && !memcmp(a.text, b.text, a.size); }

/* The attributes of the first grid that has any, once each. */
static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    xdmf x;
    tsr_status status = open_text(input, &x);
    (void)options;
    if (status != TSR_OK) return status;
    for (int32_t k = 0; k < x.count && x.count > 1 && status == TSR_OK; k++) {
        char name[200], type[64];
        double n[8];
        int32_t before = 0;
        while (before < k && !same(x.at[before].name, x.at[k].name)) before++;
        if (before < k) continue;
        snprintf(name, sizeof name, "%.*s", (int)x.at[k].name.size, x.at[k].name.text);
        snprintf(type, sizeof type, "%.*s%.*s", (int)x.at[k].type.size, x.at[k].type.text, (int)x.at[k].precision.size, x.at[k].precision.text);
        tsr_contents_entry e = { .kind = "dataset", .name = name, .type = type, .axes = numbers_of(x.at[k].sizes, n, 8) };
        for (int a = 0; a < e.axes; a++) e.size[a] = n[a] >= 0 && n[a] < 0x1p62 ? (int64_t)n[a] : 0;
        status = tsr_contents_add(contents, &e);
    }
    free(x.at);
    return status;
}

/* The array that is meant: options.dataset names one, options.frame the grid of a collection. */
static tsr_status choose(const xdmf *x, tsr_input *input, const tsr_read_options *options, const attribute **chosen, int64_t *frames)
{
    tsr_word name = x->at[0].name;
    if (options->dataset) name = (tsr_word){ options->dataset, strlen(options->dataset) };
    *chosen = NULL;
    *frames = 0;
    for (int32_t k = 0; k < x->count; k++) {
        if (!options->dataset && !same(x->at[k].name, name))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds several arrays, '%.*s' and '%.*s' among them: options.dataset names one", x->file,
                     (int)name.size, name.text, (int)x->at[k].name.size, x->at[k].name.text);
        if (same(x->at[k].name, name) && (*frames)++ == options->frame) *chosen = &x->at[k];
    }
    if (!*frames) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.*s', which is none of its arrays", x->file, (int)name.size, name.text);
    if (*frames > 1 || options->frame_given) {
        tsr_axes axes = { 0 };
        TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, *frames, "grids of a collection", input, options));
    }
    if (!*chosen) *chosen = &x->at[0];
    if (!(*chosen)->scalar)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: array '%.*s' holds vectors or tensors, expected one number a node", x->file, (int)name.size, name.text);
    return TSR_OK;
}

/* "file.h5:/path" */
static tsr_status read_hdf5(const xdmf *x, const attribute *a, tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    char text[2048];
    tsr_input *data = NULL;
    if (a->text.size >= sizeof text) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the place of an array has %zu characters", x->file, a->text.size);
    snprintf(text, sizeof text, "%.*s", (int)a->text.size, a->text.text);
    char *colon = strstr(text, ":/");
    if (!colon) TSR_FAIL(TSR_ERROR_FORMAT, "%s: an array is '%.100s', expected file.h5:/path", x->file, text);
    *colon = 0;
    TSR_TRY(tsr_input_open_beside(input, text, 0, &data));
    tsr_read_options own = *options;
    own.dataset = colon + 1;
    own.format = NULL;
    own.frame = own.frame_given = 0;
    const tsr_status status = tsr_format_hdf5.read_volume(data, &own, volume);
    tsr_input_close(&data);
    return status;
}

static tsr_status element_of(const xdmf *x, const attribute *a, tsr_dtype *dtype)
{
    static const struct {
        const char *type;
        int bytes;
        tsr_dtype dtype;
    } types[] = { { "UChar", 1, TSR_U8 }, { "Char", 1, TSR_I8 },  { "UInt", 1, TSR_U8 },   { "UInt", 2, TSR_U16 },
                  { "UInt", 4, TSR_U32 }, { "UInt", 8, TSR_U64 }, { "Int", 1, TSR_I8 },    { "Int", 2, TSR_I16 },
                  { "Int", 4, TSR_I32 },  { "Int", 8, TSR_I64 },  { "Float", 4, TSR_F32 }, { "Float", 8, TSR_F64 } };
    int64_t bytes = 4;
    if (a->precision.size && tsr_word_integer(a->precision, &bytes) != TSR_TEXT_OK) bytes = 0;
    const int character = tsr_word_is_any_case(a->type, "UChar") || tsr_word_is_any_case(a->type, "Char");
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if ((a->type.size ? tsr_word_is_any_case(a->type, types[k].type) : types[k].dtype == TSR_F32) && types[k].bytes == (character ? 1 : bytes)) {
            *dtype = types[k].dtype;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: numbers of type '%.*s' and precision '%.*s'", x->file, (int)a->type.size, a->type.text, (int)a->precision.size,
             a->precision.text);
}

static const tsr_geometry *plain_place(void)
{
    static const tsr_geometry plain = { .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, .space = TSR_SPACE_NONE };
    return &plain;
}

static tsr_status shape_of(const xdmf *x, const attribute *a, tsr_layout *layout)
{
    double n[3];
    const int axes = numbers_of(a->sizes, n, 3);
    *layout = (tsr_layout){ 0 };
    for (int k = 0; k < axes; k++)
        if (!(n[k] >= 1 && n[k] < 0x1p31) || n[k] != floor(n[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: an array of %g along an axis, expected a positive whole number", x->file, n[k]);
    if (axes < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: an array of %d axes, expected 2 or 3", x->file, axes);
    layout->size = (tsr_size3){ (int64_t)n[axes - 1], (int64_t)n[axes - 2], axes == 3 ? (int64_t)n[0] : 1 };
    return element_of(x, a, &layout->dtype);
}

/* Numbers that stand in the text. */
static tsr_status read_inline(const xdmf *x, const attribute *a, tsr_input *input, tsr_volume **volume)
{
    tsr_layout layout;
    tsr_block block;
    int64_t bytes;
    TSR_TRY(shape_of(x, a, &layout));
    TSR_TRY(tsr_voxel_bytes(input, layout.dtype, layout.size, &bytes));
    const int64_t count = bytes / (int64_t)tsr_dtype_size(layout.dtype);
    if (layout.dtype == TSR_I64 || layout.dtype == TSR_U64)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: integers of 64 bits as text, expected HDF or Binary", x->file);
    if (count > (int64_t)a->text.size) /* a number takes a byte or more */
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld numbers in %zu bytes of text", x->file, (long long)count, a->text.size);
    TSR_TRY(tsr_input_allocate(input, bytes, "voxels", &block));
    tsr_text text = tsr_text_of(a->text, 1);
    for (int64_t i = 0; i < count; i++) {
        double value = 0;
        if (tsr_text_double(&text, &value) != TSR_TEXT_OK) {
            tsr_block_release(&block);
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: number %lld of %lld is missing or none", x->file, (long long)i, (long long)count);
        }
        tsr_voxel_store(block.data, layout.dtype, i, value);
    }
    return tsr_volume_of_block(input, &layout, plain_place(), &block, volume);
}

static tsr_status read_bare(const xdmf *x, const attribute *a, tsr_input *input, tsr_volume **volume)
{
    tsr_layout layout;
    tsr_names names = { 0 };
    tsr_block block;
    int64_t skip = 0;
    TSR_TRY(shape_of(x, a, &layout));
    if (a->seek.size && (tsr_word_integer(a->seek, &skip) != TSR_TEXT_OK || skip < 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: Seek is '%.*s', expected bytes", x->file, (int)a->seek.size, a->seek.text);
    layout.skip = skip;
    const int big = tsr_word_is_any_case(a->endian, "Big");
    layout.swap = (big || tsr_word_is_any_case(a->endian, "Little")) && big != tsr_host_big_endian();
    TSR_TRY(tsr_names_add(&names, a->text.text, a->text.size));
    tsr_status status = tsr_layout_read_files(input, &names, &layout, &block);
    tsr_names_free(&names);
    if (status == TSR_OK) status = tsr_volume_of_block(input, &layout, plain_place(), &block, volume);
    return status;
}

/* The grid's place, unless the HDF5 file says one that XDMF has no words for. Samples of cells lie half a cell further. */
static tsr_status place(const xdmf *x, const attribute *a, const tsr_read_options *options, int cut, tsr_volume *volume)
{
    if (x->placed != 2 || !tsr_geometry_is_plain(tsr_volume_geometry(volume))) return TSR_OK;
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ x->spacing[2], x->spacing[1], x->spacing[0] },
                                       (tsr_vec3){ x->origin[2], x->origin[1], x->origin[0] }, TSR_SPACE_NONE);
    const int64_t from[3] = { options->box[0].x, options->box[0].y, options->box[0].z };
    for (int k = 0; k < 3; k++) {
        if (!(x->spacing[2 - k] > 0) || !isfinite(x->spacing[2 - k]) || !isfinite(x->origin[2 - k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: spacing %g and origin %g, expected a positive spacing", x->file, x->spacing[2 - k], x->origin[2 - k]);
        g.affine[k][3] += x->spacing[2 - k] * ((a->cells ? 0.5 : 0) + (cut && options->box_given ? (double)from[k] : 0));
    }
    return tsr_volume_set_geometry(volume, &g);
}

static tsr_status read_chosen(const xdmf *x, tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const attribute *a;
    int64_t frames;
    TSR_TRY(choose(x, input, options, &a, &frames));
    const int hdf = tsr_word_is_any_case(a->form, "HDF") || tsr_word_is_any_case(a->form, "HDF5");
    const int text = tsr_word_is_any_case(a->form, "XML");
    if (!hdf && !text && !tsr_word_is_any_case(a->form, "Binary"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels of format '%.*s', expected HDF, Binary or XML", x->file, (int)a->form.size, a->form.text);
    TSR_TRY(hdf ? read_hdf5(x, a, input, options, volume) : text ? read_inline(x, a, input, volume) : read_bare(x, a, input, volume));
    if (frames > 1) (*volume)->parts[TSR_PART_FRAME] = frames;
    tsr_status status = place(x, a, options, hdf, *volume);
    if (status == TSR_OK && !hdf && options->box_given) status = tsr_box_cut(x->file, options->box, volume);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    xdmf x;
    *volume = NULL;
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: XDMF cannot be read in pieces: convert the HDF5 file that it names", tsr_input_name(input));
    TSR_TRY(open_text(input, &x));
    const tsr_status status = read_chosen(&x, input, options, volume);
    free(x.at);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_text(tsr_output *out, const tsr_volume *v, const char *data)
{
    static const char *const types[TSR_DTYPE_COUNT] = { "UChar", "Char", "UInt", "Int", "UInt", "Int", "UInt", "Int", "Float", "Float" };
    char n[6][32];
    const tsr_geometry *g = &v->geometry;
    const tsr_vec3 h = tsr_geometry_spacing(g);
    const int plain = tsr_geometry_is_plain(g);
    const double spacing[3] = { h.z, h.y, h.x };
    for (int k = 0; k < 3; k++) {
        tsr_print_double(n[k], plain ? g->affine[2 - k][3] : 0);
        tsr_print_double(n[3 + k], spacing[k]);
    }
    const long long z = (long long)v->size.z, y = (long long)v->size.y, x = (long long)v->size.x;
    return tsr_output_printf(
        out,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n    <Grid Name=\"volume\" GridType=\"Uniform\">\n"
        "      <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%lld %lld %lld\"/>\n      <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
        "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">%s %s %s</DataItem>\n"
        "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">%s %s %s</DataItem>\n      </Geometry>\n"
        "      <Attribute Name=\"data\" AttributeType=\"Scalar\" Center=\"Node\">\n"
        "        <DataItem Dimensions=\"%lld %lld %lld\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">%s:/data</DataItem>\n"
        "      </Attribute>\n    </Grid>\n  </Domain>\n</Xdmf>\n",
        z, y, x, n[0], n[1], n[2], n[3], n[4], n[5], z, y, x, types[v->dtype], (int)tsr_dtype_size(v->dtype), data);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    char *data = NULL;
    tsr_output *out = NULL;
    if (tsr_path_has_extension(path, ".xmf")) TSR_TRY(tsr_path_replace(path, ".xmf", ".h5", &data));
    else if (tsr_path_has_extension(path, ".xdmf")) TSR_TRY(tsr_path_replace(path, ".xdmf", ".h5", &data));
    else TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: XDMF is a text with an HDF5 file beside it, expected a name that ends in .xdmf or .xmf", path);
    const char *name = tsr_path_file(data);
    tsr_status status =
        strpbrk(name, "<>&\":") ? TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: a name with one of < > & \" : cannot stand in XDMF", data) : TSR_OK;
    if (status == TSR_OK) status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        status = write_text(out, volume, name);
        if (status == TSR_OK) status = tsr_format_hdf5.write_volume(volume, data, options); /* the text that names it appears last */
        status = tsr_output_finish(&out, status);
    }
    free(data);
    return status;
}

const tsr_format tsr_format_xdmf = { .name = "xdmf",
                                     .kind = TSR_FILE_VOLUME,
                                     .extensions = { ".xdmf", ".xmf" },
                                     .recognise = recognise,
                                     .keeps_metadata = 1,
                                     .units = TSR_UNITS_ANY,
                                     .boxes = 1,
                                     .datasets = 1,
                                     .read_volume = read_volume,
                                     .write_volume = write_volume,
                                     .list = list };
