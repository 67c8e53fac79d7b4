#include "formats/vtk_xml.h"

#include <math.h>
#include <stdio.h>

#include "formats/lzma.h"
#include "formats/xml_tags.h"
#include "io/inflate.h"
#include "io/lz4.h"
#include "volume/voxel.h"

static const struct {
    const char *name;
    int bytes;
} types[TSR_VTK_TYPES] = { { "Int8", 1 },   { "UInt8", 1 }, { "Int16", 2 },  { "UInt16", 2 },  { "Int32", 4 },
                           { "UInt32", 4 }, { "Int64", 8 }, { "UInt64", 8 }, { "Float32", 4 }, { "Float64", 8 } };
static const char *const sections[TSR_VTK_SECTIONS] = { "", "PointData", "CellData", "Points", "Cells", "Verts", "Lines", "Strips", "Polys" };

static tsr_status whole_number(const tsr_vtk_xml *x, const tsr_xml_tag *from, const char *name, int64_t otherwise, int64_t *value)
{
    tsr_word word = { "", 0 };
    char shown[32];
    *value = otherwise;
    if (!tsr_xml_attribute(from, name, &word)) {
        if (otherwise < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: no %s", x->file, (long long)from->line, name);
        return TSR_OK;
    }
    if (tsr_word_integer(word, value) != TSR_TEXT_OK || *value < 0 || *value > (int64_t)1 << 56)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %s is '%s', expected a whole number from 0", x->file, (long long)from->line, name, tsr_word_show(word, shown));
    return TSR_OK;
}

/* ---- what is in the file ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_root(tsr_vtk_xml *x, const tsr_xml_tag *t)
{
    tsr_word word = { "", 0 };
    char shown[32];
    if (!tsr_word_is(t->name, "VTKFile") || t->closing || !tsr_xml_attribute(t, "type", &word)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with <VTKFile type=", x->file);
    x->kind = tsr_word_is(word, "UnstructuredGrid") ? TSR_VTK_UNSTRUCTURED : tsr_word_is(word, "PolyData") ? TSR_VTK_POLYDATA : tsr_word_is(word, "StructuredGrid") ? TSR_VTK_STRUCTURED : TSR_VTK_IMAGE;
    if (x->kind == TSR_VTK_IMAGE && !tsr_word_is(word, "ImageData"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a VTK file of type '%s', expected ImageData, UnstructuredGrid, StructuredGrid or PolyData", x->file, tsr_word_show(word, shown));
    int big = 0;
    if (tsr_xml_attribute(t, "byte_order", &word)) {
        big = tsr_word_is(word, "BigEndian");
        if (!big && !tsr_word_is(word, "LittleEndian"))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: byte_order is '%s', expected LittleEndian or BigEndian", x->file, tsr_word_show(word, shown));
    }
    x->swap = big != tsr_host_big_endian();
    x->header_bytes = 4;
    if (tsr_xml_attribute(t, "header_type", &word)) {
        if (!tsr_word_is(word, "UInt32") && !tsr_word_is(word, "UInt64"))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: header_type is '%s', expected UInt32 or UInt64", x->file, tsr_word_show(word, shown));
        x->header_bytes = tsr_word_is(word, "UInt64") ? 8 : 4;
    }
    if (!tsr_xml_attribute(t, "compressor", &word) || !word.size) return TSR_OK;
    x->packed = tsr_word_is(word, "vtkZLibDataCompressor")   ? TSR_VTK_ZLIB
                : tsr_word_is(word, "vtkLZ4DataCompressor")  ? TSR_VTK_LZ4
                : tsr_word_is(word, "vtkLZMADataCompressor") ? TSR_VTK_LZMA
                                                             : TSR_VTK_PLAIN;
    if (!x->packed)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: packed by '%s', expected vtkZLibDataCompressor, vtkLZ4DataCompressor, vtkLZMADataCompressor or no compressor",
                 x->file, tsr_word_show(word, shown));
#ifndef TSR_HAVE_LZMA
    if (x->packed == TSR_VTK_LZMA)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: packed by LZMA, which this build does not have (package liblzma-dev): write it with SetCompressorTypeToZLib()", x->file);
#endif
    return TSR_OK;
}

static tsr_status grow(const char *file, void **items, int32_t count, int32_t *room, size_t size)
{
    if (count < *room) return TSR_OK;
    const int32_t more = *room ? 2 * *room : 16;
    void *bigger = NULL;
    if (more > 1 << 20) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d arrays or pieces", file, 1 << 20);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)more * size, &bigger));
    if (count) memcpy(bigger, *items, (size_t)count * size);
    tsr_host_release(NULL, *items, (size_t)*room * size);
    *items = bigger;
    *room = more;
    return TSR_OK;
}

/* Numbers of an attribute; 0 if it is missing. */
static tsr_status take_numbers(const tsr_vtk_xml *x, const tsr_xml_tag *t, const char *name, double *to, int count, int *given)
{
    tsr_word word = { "", 0 };
    *given = tsr_xml_attribute(t, name, &word);
    if (!*given) return TSR_OK;
    tsr_text text = tsr_text_of(word, t->line);
    for (int k = 0; k < count; k++)
        if (tsr_text_double(&text, &to[k]) != TSR_TEXT_OK || !isfinite(to[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %s, expected %d numbers", x->file, (long long)t->line, name, count);
    return TSR_OK;
}

static tsr_status take_extent(const tsr_vtk_xml *x, const tsr_xml_tag *t, const char *name, int64_t extent[6])
{
    double number[6];
    int given;
    TSR_TRY(take_numbers(x, t, name, number, 6, &given));
    if (!given) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: no %s", x->file, (long long)t->line, name);
    for (int k = 0; k < 6; k++) {
        if (fabs(number[k]) > INT32_MAX || number[k] != floor(number[k]) || (k % 2 && number[k] < number[k - 1]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %s, expected the first and the last point along x, y and z", x->file, (long long)t->line, name);
        extent[k] = (int64_t)number[k];
    }
    return TSR_OK;
}

static tsr_status take_image(tsr_vtk_xml *x, const tsr_xml_tag *t)
{
    static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    tsr_vtk_image *image = &x->image;
    int given;
    memcpy(image->direction, identity, sizeof identity);
    for (int k = 0; k < 3; k++) image->origin[k] = 0, image->spacing[k] = 1;
    TSR_TRY(take_extent(x, t, "WholeExtent", image->extent));
    TSR_TRY(take_numbers(x, t, "Origin", image->origin, 3, &given));
    TSR_TRY(take_numbers(x, t, "Spacing", image->spacing, 3, &given));
    TSR_TRY(take_numbers(x, t, "Direction", image->direction, 9, &given));
    return TSR_OK;
}

/* Samples of an extent: points, or the cells between them. */
static tsr_status extent_samples(const tsr_vtk_xml *x, const tsr_xml_tag *t, const int64_t extent[6], int cells, int64_t *count)
{
    *count = 1;
    for (int k = 0; k < 3; k++) {
        const int64_t n = extent[2 * k + 1] - extent[2 * k] + !cells;
        if (__builtin_mul_overflow(*count, cells && !n ? 1 : n, count)) /* a flat image has one layer of cells */
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: an extent of more points than can be counted", x->file, (long long)t->line);
    }
    return TSR_OK;
}

static tsr_status take_piece(tsr_vtk_xml *x, const tsr_xml_tag *t)
{
    tsr_vtk_piece p = { .points = 0 };
    if (x->kind == TSR_VTK_IMAGE || x->kind == TSR_VTK_STRUCTURED) {
        TSR_TRY(take_extent(x, t, "Extent", p.extent));
        TSR_TRY(extent_samples(x, t, p.extent, 0, &p.points));
        TSR_TRY(extent_samples(x, t, p.extent, 1, &p.cells));
        TSR_TRY(grow(x->file, (void **)&x->piece, x->pieces, &x->piece_room, sizeof *x->piece));
        x->piece[x->pieces++] = p;
        return TSR_OK;
    }
    TSR_TRY(whole_number(x, t, "NumberOfPoints", -1, &p.points));
    TSR_TRY(whole_number(x, t, "NumberOfCells", 0, &p.cells));
    TSR_TRY(whole_number(x, t, "NumberOfVerts", 0, &p.verts));
    TSR_TRY(whole_number(x, t, "NumberOfLines", 0, &p.lines));
    TSR_TRY(whole_number(x, t, "NumberOfStrips", 0, &p.strips));
    TSR_TRY(whole_number(x, t, "NumberOfPolys", 0, &p.polys));
    TSR_TRY(grow(x->file, (void **)&x->piece, x->pieces, &x->piece_room, sizeof *x->piece));
    x->piece[x->pieces++] = p;
    return TSR_OK;
}

static tsr_status take_array(tsr_vtk_xml *x, tsr_text *text, const tsr_xml_tag *t, tsr_vtk_section section)
{
    tsr_vtk_array a = { .section = section, .piece = x->pieces - 1, .name = { "", 0 }, .line = t->line, .text = { "", 0 } };
    tsr_word word = { "", 0 };
    char shown[32];
    int64_t components;
    tsr_xml_attribute(t, "Name", &a.name);
    if (!tsr_xml_attribute(t, "type", &word)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: an array without a type", x->file, (long long)t->line);
    while (a.type < TSR_VTK_TYPES && !tsr_word_is(word, types[a.type].name)) a.type = (tsr_vtk_type)(a.type + 1);
    if (a.type == TSR_VTK_TYPES) a.section = TSR_VTK_NOWHERE; /* of strings and the like */
    TSR_TRY(whole_number(x, t, "NumberOfComponents", 1, &components));
    if (components < 1 || components > 1 << 16)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %lld components, expected 1 to 65536", x->file, (long long)t->line, (long long)components);
    a.components = (int32_t)components;
    if (!tsr_xml_attribute(t, "format", &word)) word = (tsr_word){ "ascii", 5 };
    if (tsr_word_is_any_case(word, "appended")) {
        a.form = TSR_VTK_APPENDED;
        TSR_TRY(whole_number(x, t, "offset", -1, &a.offset));
    } else if (tsr_word_is_any_case(word, "binary")) a.form = TSR_VTK_INLINE;
    else if (!tsr_word_is_any_case(word, "ascii"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: format '%s', expected ascii, binary or appended", x->file, (long long)t->line, tsr_word_show(word, shown));
    if (!t->empty) {
        const char *begin = text->at;
        while (text->at < text->end && *text->at != '<') tsr_xml_step(text);
        a.text = (tsr_word){ begin, (size_t)(text->at - begin) };
    }
    if (a.section == TSR_VTK_NOWHERE || !x->pieces) return TSR_OK;
    TSR_TRY(grow(x->file, (void **)&x->array, x->arrays, &x->array_room, sizeof *x->array));
    x->array[x->arrays++] = a;
    return TSR_OK;
}

static tsr_status take_appended(tsr_vtk_xml *x, tsr_text *text, const tsr_xml_tag *t)
{
    tsr_word word = { "", 0 };
    char shown[32];
    x->appended_raw = tsr_xml_attribute(t, "encoding", &word) && tsr_word_is_any_case(word, "raw");
    if (!x->appended_raw && !tsr_word_is_any_case(word, "base64"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: appended data encoded as '%s', expected raw or base64", x->file, tsr_word_show(word, shown));
    while (text->at < text->end && tsr_xml_space(*text->at)) tsr_xml_step(text);
    if (text->at == text->end || *text->at != '_') TSR_FAIL(TSR_ERROR_FORMAT, "%s: appended data do not begin with '_'", x->file);
    x->appended = (tsr_word){ text->at + 1, (size_t)(text->end - text->at - 1) };
    return TSR_OK;
}

static tsr_status take_all(tsr_vtk_xml *x, tsr_text text)
{
    tsr_xml_tag t = { .line = 0 };
    int more = 0, image = 0;
    tsr_vtk_section section = TSR_VTK_NOWHERE;
    TSR_TRY(tsr_xml_next(x->file, &text, &t, &more));
    if (!more) TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with <VTKFile type=", x->file);
    TSR_TRY(take_root(x, &t));
    for (;;) {
        TSR_TRY(tsr_xml_next(x->file, &text, &t, &more));
        if (!more) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends before </VTKFile>", x->file);
        if (t.closing && tsr_word_is(t.name, "VTKFile")) break;
        if (!t.closing && tsr_word_is(t.name, "AppendedData")) {
            TSR_TRY(take_appended(x, &text, &t)); /* anything may stand there: it is the last */
            break;
        }
        if (!t.closing && x->kind == TSR_VTK_IMAGE && tsr_word_is(t.name, "ImageData")) {
            TSR_TRY(take_image(x, &t));
            image = 1;
        }
        if (!t.closing && tsr_word_is(t.name, "Piece")) TSR_TRY(take_piece(x, &t));
        for (int cells = 0; cells < 2; cells++)
            if (!t.closing && tsr_word_is(t.name, sections[TSR_VTK_POINT_DATA + cells]) && !x->scalars[cells].size) (void)tsr_xml_attribute(&t, "Scalars", &x->scalars[cells]);
        if (!t.closing && (tsr_word_is(t.name, "DataArray") || tsr_word_is(t.name, "Array"))) TSR_TRY(take_array(x, &text, &t, section));
        for (int s = TSR_VTK_POINT_DATA; s < TSR_VTK_SECTIONS; s++)
            if (tsr_word_is(t.name, sections[s])) section = t.closing || t.empty ? TSR_VTK_NOWHERE : (tsr_vtk_section)s;
    }
    if (!x->pieces || (x->kind == TSR_VTK_IMAGE && !image))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no <%s", x->file, x->kind != TSR_VTK_IMAGE ? "Piece NumberOfPoints=" : image ? "Piece Extent=" : "ImageData WholeExtent=");
    for (int32_t k = 0; k < x->arrays; k++)
        if (x->array[k].form == TSR_VTK_APPENDED && x->array[k].offset >= (int64_t)x->appended.size)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: data at offset %lld, but there are %zu appended bytes", x->file, (long long)x->array[k].line,
                     (long long)x->array[k].offset, x->appended.size);
    return TSR_OK;
}

tsr_status tsr_vtk_xml_open(tsr_input *input, const tsr_read_options *options, tsr_vtk_xml *xml)
{
    const uint8_t *bytes;
    size_t size;
    *xml = (tsr_vtk_xml){ .input = input, .file = tsr_input_name(input), .progress = &options->progress };
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(take_all(xml, tsr_text_make(bytes, size)));
    return TSR_OK;
}

void tsr_vtk_xml_close(tsr_vtk_xml *xml)
{
    tsr_host_release(NULL, xml->piece, 0);
    tsr_host_release(NULL, xml->array, 0);
    xml->piece = NULL;
    xml->array = NULL;
}

const tsr_vtk_array *tsr_vtk_xml_find(const tsr_vtk_xml *xml, int32_t piece, tsr_vtk_section section, const char *name)
{
    for (int32_t k = 0; k < xml->arrays; k++)
        if (xml->array[k].piece == piece && xml->array[k].section == section && (!name || tsr_word_is(xml->array[k].name, name))) return &xml->array[k];
    return NULL;
}

/* ---- bytes of an array ------------------------------------------------------------------------------------------------------------------------- */

static tsr_status fail_array(const tsr_vtk_xml *x, const tsr_vtk_array *a, const char *what)
{
    char shown[32];
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: array '%s': %s", x->file, (long long)a->line, tsr_word_show(a->name, shown), what);
}

/* Bytes that come one after the other: raw, or base64, of which each group of four may be padded (a header is often encoded by itself). */
typedef struct byte_stream {
    const char *at, *end;
    int raw;
    uint8_t left[3];
    int lefts, from;
} byte_stream;

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* 1 if all of them came. */
static int take_bytes(byte_stream *s, void *to, int64_t count)
{
    uint8_t *out = (uint8_t *)to;
    if (s->raw) {
        if (count > s->end - s->at) return 0;
        memcpy(out, s->at, (size_t)count);
        s->at += count;
        return 1;
    }
    for (int64_t k = 0; k < count;) {
        while (s->from < s->lefts && k < count) out[k++] = s->left[s->from++];
        if (k == count) break;
        uint32_t bits = 0;
        int digits = 0, padding = 0;
        while (digits + padding < 4) {
            while (s->at < s->end && tsr_xml_space(*s->at)) s->at++;
            if (s->at == s->end) return 0;
            const int d = digit(*s->at);
            if (d >= 0 && !padding) {
                bits = bits << 6 | (uint32_t)d;
                digits++;
            } else if (*s->at == '=' && digits >= 2) {
                bits <<= 6;
                padding++;
            } else return 0;
            s->at++;
        }
        s->lefts = digits - 1;
        s->from = 0;
        for (int i = 0; i < s->lefts; i++) s->left[i] = (uint8_t)(bits >> (16 - 8 * i));
    }
    return 1;
}
static byte_stream stream_of(const tsr_vtk_xml *x, const tsr_vtk_array *a)
{
    const tsr_word w = a->form == TSR_VTK_APPENDED ? (tsr_word){ x->appended.text + a->offset, x->appended.size - (size_t)a->offset } : a->text;
    return (byte_stream){ .at = w.text, .end = w.text + w.size, .raw = a->form == TSR_VTK_APPENDED && x->appended_raw };
}
/* Most bytes that a stream can give. */
static int64_t most_bytes(const byte_stream *s) { return s->raw ? s->end - s->at : (s->end - s->at) / 4 * 3 + 3; }

static int header_number(const tsr_vtk_xml *x, byte_stream *s, uint64_t *value)
{
    uint64_t eight = 0;
    uint32_t four = 0;
    if (!take_bytes(s, x->header_bytes == 8 ? (void *)&eight : (void *)&four, x->header_bytes)) return 0;
    if (x->swap) {
        eight = __builtin_bswap64(eight);
        four = __builtin_bswap32(four);
    }
    *value = x->header_bytes == 8 ? eight : four;
    return 1;
}

/* Blocks packed by zlib, LZ4 or LZMA: their number, size, size of the last (0: as the others), packed sizes; then the blocks. */
static tsr_status take_packed(const tsr_vtk_xml *x, const tsr_vtk_array *a, byte_stream *s, uint8_t *to, int64_t bytes)
{
    uint64_t blocks = 0, size = 0, last = 0;
    uint64_t *packed = NULL;
    uint8_t *block = NULL;
    int64_t done = 0;
    tsr_status status = TSR_OK;
    if (!header_number(x, s, &blocks) || !header_number(x, s, &size) || !header_number(x, s, &last)) return fail_array(x, a, "the header of its blocks is cut off");
    if (blocks > (uint64_t)most_bytes(s) / (uint64_t)x->header_bytes + 1 || last > size || (blocks > 1 && size > (uint64_t)bytes / (blocks - 1)))
        return fail_array(x, a, "more packed blocks than the file can hold");
    const uint64_t whole = blocks ? (last ? (blocks - 1) * size + last : blocks * size) : 0;
    if (whole != (uint64_t)bytes) return fail_array(x, a, "its blocks hold another number of bytes than the array has");
    if (!blocks) return TSR_OK;
    TSR_TRY(tsr_scratch_for_input(x->input, (int64_t)blocks, 8, "sizes of packed blocks", (void **)&packed));
    for (uint64_t b = 0; b < blocks; b++)
        if (!header_number(x, s, &packed[b])) {
            status = fail_array(x, a, "the header of its blocks is cut off");
            goto done;
        }
    for (uint64_t b = 0; b < blocks; b++) {
        const int64_t want = (int64_t)(b + 1 == blocks && last ? last : size);
        size_t stored = 0;
        int over = 0;
        if (tsr_progress_report(x->progress, (double)b / (double)blocks, "reading")) {
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during reading");
            goto done;
        }
        if (packed[b] > (uint64_t)most_bytes(s)) {
            status = fail_array(x, a, "a packed block ends behind the file");
            goto done;
        }
        TSR_TRY_GOTO(tsr_scratch_for_input(x->input, (int64_t)packed[b] + 1, 1, "a packed block", (void **)&block), done);
        if (!take_bytes(s, block, (int64_t)packed[b])) {
            status = fail_array(x, a, "a packed block is cut off or no base64");
            goto done;
        }
        if (x->packed == TSR_VTK_LZ4) stored = tsr_lz4_unpack(block, (size_t)packed[b], to + done, (size_t)want) ? (size_t)want : 0;
        else if (x->packed == TSR_VTK_LZMA) stored = tsr_lzma_unpack(block, (size_t)packed[b], to + done, (size_t)want) ? (size_t)want : 0;
        else TSR_TRY_GOTO(tsr_inflate_whole(x->file, block, (size_t)packed[b], TSR_WRAPPER_ZLIB, to + done, (size_t)want, &stored, &over), done);
        if (over || stored != (size_t)want) {
            status = fail_array(x, a, "a packed block is damaged, or has another size than the header says");
            goto done;
        }
        tsr_host_release(NULL, block, 0);
        block = NULL;
        done += want;
    }
done:
    tsr_host_release(NULL, block, 0);
    tsr_host_release(NULL, packed, 0);
    return status;
}

tsr_status tsr_vtk_xml_check(const tsr_vtk_xml *x, const tsr_vtk_array *a, int64_t tuples)
{
    int64_t numbers, most;
    char shown[32];
    if (__builtin_mul_overflow(tuples, (int64_t)a->components, &numbers) || numbers > INT64_MAX / 8) return fail_array(x, a, "more numbers than can be counted");
    if (a->form == TSR_VTK_ASCII) most = (int64_t)a->text.size / 2 + 1;
    else {
        const byte_stream s = stream_of(x, a);
        most = most_bytes(&s);
        const int64_t ratio = !x->packed ? 1 : x->packed == TSR_VTK_LZMA ? TSR_LZMA_MOST_RATIO : TSR_DEFLATE_MOST_RATIO;
        most = (most < INT64_MAX / ratio ? most * ratio : INT64_MAX) / types[a->type].bytes;
    }
    if (numbers > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: array '%s' of %lld numbers, the file has room for %lld", x->file, (long long)a->line,
                 tsr_word_show(a->name, shown), (long long)numbers, (long long)most);
    return TSR_OK;
}

/* All bytes of a binary array, in the order of this machine. */
static tsr_status bytes_into(const tsr_vtk_xml *x, const tsr_vtk_array *a, int64_t numbers, uint8_t *bytes)
{
    const int64_t size = numbers * types[a->type].bytes;
    byte_stream s = stream_of(x, a);
    if (x->packed) TSR_TRY(take_packed(x, a, &s, bytes, size));
    else {
        uint64_t announced = 0;
        if (!header_number(x, &s, &announced)) return fail_array(x, a, "its header is cut off");
        if (announced != (uint64_t)size) return fail_array(x, a, "it holds another number of bytes than its tuples need");
        if (!take_bytes(&s, bytes, size)) return fail_array(x, a, "its data are cut off or no base64");
    }
    if (x->swap) tsr_swap_elements(bytes, numbers, (size_t)types[a->type].bytes);
    return TSR_OK;
}

/* In memory of their own, to be freed. */
static tsr_status all_bytes(const tsr_vtk_xml *x, const tsr_vtk_array *a, int64_t numbers, uint8_t **bytes)
{
    *bytes = NULL;
    TSR_TRY(tsr_scratch_for_input(x->input, numbers * types[a->type].bytes + 8, 1, "an array", (void **)bytes));
    const tsr_status status = bytes_into(x, a, numbers, *bytes);
    if (status == TSR_OK) return TSR_OK;
    tsr_host_release(NULL, *bytes, 0);
    *bytes = NULL;
    return status;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------------------------- */

static double real_at(const uint8_t *p, tsr_vtk_type type)
{
    union {
        int8_t i1;
        uint8_t u1;
        int16_t i2;
        uint16_t u2;
        int32_t i4;
        uint32_t u4;
        int64_t i8;
        uint64_t u8;
        float f4;
        double f8;
    } v;
    memcpy(&v, p, (size_t)types[type].bytes);
    switch (type) {
    case TSR_VTK_I8: return v.i1;
    case TSR_VTK_U8: return v.u1;
    case TSR_VTK_I16: return v.i2;
    case TSR_VTK_U16: return v.u2;
    case TSR_VTK_I32: return v.i4;
    case TSR_VTK_U32: return v.u4;
    case TSR_VTK_I64: return (double)v.i8;
    case TSR_VTK_U64: return (double)v.u8;
    case TSR_VTK_F32: return (double)v.f4;
    default: return v.f8;
    }
}

/* Calls put for each number. */
typedef tsr_status (*put_number)(const tsr_vtk_xml *x, const tsr_vtk_array *a, void *to, int64_t k, double value);

static tsr_status each_number(const tsr_vtk_xml *x, const tsr_vtk_array *a, int64_t tuples, put_number put, void *to)
{
    TSR_TRY(tsr_vtk_xml_check(x, a, tuples));
    const int64_t numbers = tuples * a->components;
    if (a->form == TSR_VTK_ASCII) {
        tsr_text text = tsr_text_of(a->text, a->line);
        for (int64_t k = 0; k < numbers; k++) {
            double value;
            TSR_READING(x->progress, k, (double)k / (double)numbers);
            const tsr_text_result got = tsr_text_double(&text, &value);
            if (got != TSR_TEXT_OK) return fail_array(x, a, got == TSR_TEXT_NONE ? "fewer numbers than its tuples need" : "a word that is no number");
            TSR_TRY(put(x, a, to, k, value));
        }
        return TSR_OK;
    }
    uint8_t *bytes = NULL;
    if (!numbers) return TSR_OK; /* writers leave the data of empty arrays out */
    TSR_TRY(all_bytes(x, a, numbers, &bytes));
    tsr_status status = TSR_OK;
    for (int64_t k = 0; k < numbers && status == TSR_OK; k++) status = put(x, a, to, k, real_at(bytes + k * types[a->type].bytes, a->type));
    tsr_host_release(NULL, bytes, 0);
    return status;
}

static tsr_status put_real(const tsr_vtk_xml *x, const tsr_vtk_array *a, void *to, int64_t k, double value)
{
    (void)x, (void)a;
    ((double *)to)[k] = value;
    return TSR_OK;
}
static tsr_status put_float(const tsr_vtk_xml *x, const tsr_vtk_array *a, void *to, int64_t k, double value)
{
    (void)x, (void)a;
    ((float *)to)[k] = (float)value;
    return TSR_OK;
}
static tsr_status put_integer(const tsr_vtk_xml *x, const tsr_vtk_array *a, void *to, int64_t k, double value)
{
    if (!(fabs(value) <= 0x1p53 && value == floor(value))) return fail_array(x, a, "a number that is not whole");
    ((int64_t *)to)[k] = (int64_t)value;
    return TSR_OK;
}

tsr_status tsr_vtk_xml_reals(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, double *to) { return each_number(xml, array, tuples, put_real, to); }
tsr_status tsr_vtk_xml_floats(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, float *to) { return each_number(xml, array, tuples, put_float, to); }
tsr_status tsr_vtk_xml_integers(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, int64_t *to)
{
    if (array->components != 1) return fail_array(xml, array, "several numbers in a place of one");
    return each_number(xml, array, tuples, put_integer, to);
}

static tsr_status put_value(const tsr_vtk_xml *x, const tsr_vtk_array *a, void *to, int64_t k, double value)
{
    (void)x;
    tsr_voxel_store(to, tsr_vtk_dtype(a->type), k, value);
    return TSR_OK;
}

tsr_dtype tsr_vtk_dtype(tsr_vtk_type type)
{
    static const tsr_dtype dtypes[TSR_VTK_TYPES] = { TSR_I8, TSR_U8, TSR_I16, TSR_U16, TSR_I32, TSR_U32, TSR_I64, TSR_U64, TSR_F32, TSR_F64 };
    return dtypes[type];
}

tsr_status tsr_vtk_xml_values(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, void *to)
{
    if (array->form == TSR_VTK_ASCII) return each_number(xml, array, tuples, put_value, to);
    TSR_TRY(tsr_vtk_xml_check(xml, array, tuples));
    return tuples ? bytes_into(xml, array, tuples * array->components, (uint8_t *)to) : TSR_OK;
}

int64_t tsr_vtk_xml_piece_number(const uint8_t *head, size_t bytes, const char *name)
{
    tsr_text text = tsr_text_make(head, bytes);
    tsr_xml_tag t;
    int more = 0;
    int64_t value = 0;
    tsr_word word = { "", 0 };
    while (tsr_xml_next("", &text, &t, &more) == TSR_OK && more)
        if (!t.closing && tsr_word_is(t.name, "Piece")) {
            if (tsr_xml_attribute(&t, name, &word) && tsr_word_integer(word, &value) == TSR_TEXT_OK && value > 0) return value;
            return 0;
        }
    return 0;
}

int tsr_vtk_xml_is(const uint8_t *head, size_t bytes, const char *type)
{
    tsr_text text = tsr_text_make(head, bytes);
    tsr_xml_tag t;
    int more = 0;
    tsr_word word = { "", 0 };
    while (text.at < text.end && tsr_xml_space(*text.at)) text.at++;
    if (text.at == text.end || *text.at != '<') return 0;
    return tsr_xml_next("", &text, &t, &more) == TSR_OK && more && !t.closing && tsr_word_is(t.name, "VTKFile") && tsr_xml_attribute(&t, "type", &word) && tsr_word_is(word, type);
}

tsr_status tsr_vtk_xml_positions(const tsr_vtk_xml *x, const tsr_read_options *options, float *positions, double origin[3])
{
    tsr_places places = tsr_places_begin();
    double *all = NULL;
    int64_t most = 0;
    tsr_status status = TSR_OK;
    for (int32_t p = 0; p < x->pieces; p++) most = tsr_max64(most, x->piece[p].points);
    TSR_TRY(tsr_scratch_for_input(x->input, 3 * most + 1, sizeof *all, "positions", (void **)&all));
    do {
        int64_t first = 0;
        for (int32_t p = 0; p < x->pieces; first += x->piece[p++].points) {
            const int64_t n = x->piece[p].points;
            if (n) TSR_TRY_GOTO(tsr_vtk_xml_reals(x, tsr_vtk_xml_find(x, p, TSR_VTK_POINTS, NULL), n, all), done);
            for (int64_t k = 0; k < 3 * n; k++) positions[3 * first + k] = tsr_place(&places, (int)(k % 3), all[k]);
        }
    } while (tsr_places_again(&places, options));
    memcpy(origin, places.origin, sizeof places.origin);
done:
    tsr_host_release(NULL, all, 0);
    return status;
}
