/* formats/volumes/vtk_volume.c: VTK's legacy images (.vtk): STRUCTURED_POINTS, and RECTILINEAR_GRID whose planes are evenly spaced, ASCII and BINARY: one array of the points or,
 * where there is none, of the cells, which lie between them; without a frame. Which array: options.dataset, else the first. Read only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/contents.h"
#include "formats/parts.h"
#include "formats/vtk_lattice.h"
#include "volume/voxel.h"

enum { NAME_BYTES = 256 };

/* ---- head and sections -------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_three(tsr_vtk_text *t, const char *what, double value[3])
{
    for (int k = 0; k < 3; k++) {
        tsr_word word;
        TSR_TRY(tsr_vtk_word(t, &word, what));
        if (tsr_word_double(word, &value[k]) != TSR_TEXT_OK || !isfinite(value[k])) TSR_TRY(tsr_vtk_wrong(t, word, what));
    }
    return TSR_OK;
}

/* Points along an axis, or the cells between them: a flat image has one layer of these. */
static int64_t samples_along(const tsr_vtk_lattice *l, int axis, int at_points)
{
    return at_points ? l->size[axis] : tsr_max64(1, l->size[axis] - 1);
}

static tsr_status take_dimensions(tsr_vtk_text *t, tsr_vtk_lattice *l)
{
    for (int k = 0; k < 3; k++) {
        TSR_TRY(tsr_vtk_count(t, "an extent from 1 on", &l->size[k]));
        if (l->size[k] < 1 || l->size[k] > INT32_MAX)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %lld given, expected an extent from 1 on", t->file, (long long)t->text.line,
                     (long long)l->size[k]);
    }
    if (l->size[0] > INT64_MAX / 64 / l->size[1] / l->size[2]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: extents whose product is beyond any file", t->file);
    l->points = l->size[0] * l->size[1] * l->size[2];
    l->cells = 1;
    for (int k = 0; k < 3; k++) l->cells *= samples_along(l, k, 0);
    return TSR_OK;
}

/* Where the planes of a rectilinear grid lie along an axis: at even distances, but for what float32 rounds. Where they fall the axis runs backwards: its spacing here is
 * negative, and so is its column of the matrix. */
static tsr_status take_coordinates(tsr_vtk_text *t, tsr_vtk_lattice *l, int axis)
{
    enum { PIECE = 512 };
    double at[PIECE], first = 0, second = 0, last = 0, worst = 0;
    tsr_vtk_number type;
    int64_t count;
    TSR_TRY(tsr_vtk_count(t, "a number of coordinates", &count));
    if (!l->points || count != l->size[axis])
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld coordinates along %c, DIMENSIONS says %lld", t->file, (long long)count, "xyz"[axis],
                 (long long)l -> size[axis]);
    TSR_TRY(tsr_vtk_type_of(t, &type));
    if (type.kind == TSR_VTK_N_BIT) TSR_FAIL(TSR_ERROR_FORMAT, "%s: coordinates along %c of bits", t->file, "xyz"[axis]);
    TSR_TRY(tsr_vtk_begin_reals(t, type, count, "coordinates"));
    for (int64_t from = 0; from < count; from += PIECE) {
        const int64_t n = tsr_min64(PIECE, count - from);
        TSR_TRY(tsr_vtk_next(t, type, n, "coordinates", at));
        for (int64_t k = 0; k < n; k++) {
            if (from + k == 0) first = at[k];
            if (from + k == 1) second = at[k];
            if (!isfinite(at[k])) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a coordinate along %c is %g", t->file, "xyz"[axis], at[k]);
            worst = fmax(worst, fabs(at[k] - (first + (double)(from + k) * (second - first))) / (double)tsr_max64(1, from + k));
            last = at[k];
        }
    }
    l->origin[axis] = first;
    l->spacing[axis] = count > 1 ? (last - first) / (double)(count - 1) : 1;
    if (l->spacing[axis] == 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the first and the last of %lld planes along %c both lie at %g, expected planes one behind another", t->file, (long long)count,
                 "xyz"[axis], first);
    if (!isfinite(l->spacing[axis]) || worst > 1e-3 * fabs(l->spacing[axis]))
        TSR_FAIL(
            TSR_ERROR_UNSUPPORTED,
            "%s: a rectilinear grid whose planes along %c are not evenly spaced, expected an image: resample it to image data (ParaView, pyvista)",
            t->file, "xyz"[axis]);
    return TSR_OK;
}

tsr_status tsr_vtk_lattice_section(tsr_vtk_text *t, tsr_vtk_lattice *l, tsr_word word, tsr_vtk_array_taker *take, void *user)
{
    static const char *const coordinates[3] = { "X_COORDINATES", "Y_COORDINATES", "Z_COORDINATES" };
    if (tsr_word_is_any_case(word, "DIMENSIONS")) return take_dimensions(t, l);
    if (tsr_word_is_any_case(word, "ORIGIN")) return take_three(t, "an origin", l->origin);
    for (int k = 0; k < 3; k++)
        if (tsr_word_is_any_case(word, coordinates[k])) return take_coordinates(t, l, k);
    if (tsr_word_is_any_case(word, "SPACING") || tsr_word_is_any_case(word, "ASPECT_RATIO")) {
        TSR_TRY(take_three(t, "a spacing", l->spacing));
        for (int k = 0; k < 3; k++)
            if (!(l->spacing[k] > 0))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: SPACING %g along %c, expected a positive length", t->file, l->spacing[k], "xyz"[k]);
        return TSR_OK;
    }
    if (tsr_word_is_any_case(word, "POINT_DATA") || tsr_word_is_any_case(word, "CELL_DATA")) {
        l->at_points = tsr_word_is_any_case(word, "POINT_DATA");
        TSR_TRY(tsr_vtk_count(t, "the number of values", &l->tuples));
        if (l->at_points && (!l->points || l->tuples != l->points))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: POINT_DATA %lld, expected the %lld points of DIMENSIONS", t->file, (long long)l->tuples,
                     (long long)l->points);
        return TSR_OK;
    }
    if (l->tuples < 0 && !tsr_word_is_any_case(word, "FIELD") && !tsr_word_is_any_case(word, "METADATA"))
        return tsr_vtk_wrong(t, word, "DIMENSIONS, SPACING, ORIGIN, POINT_DATA, CELL_DATA or FIELD");
    return tsr_vtk_attribute(t, word, l->tuples, l->at_points, take, user);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct image_reader {
    tsr_vtk_text t;
    tsr_vtk_lattice lattice;
    const tsr_read_options *options;
    tsr_contents *contents; /* not NULL: arrays are listed */
    const char *begin;      /* of the file */
    tsr_layout layout;
    tsr_axes axes;
    tsr_block block;
    char name[NAME_BYTES];
    int found, at_cells;
    int64_t channel, components;
} image_reader;

static tsr_dtype dtype_of(tsr_vtk_number type)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_U8, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_U64, TSR_I64, TSR_F32, TSR_F64 };
    return dtypes[type.kind];
}

/* Whole numbers of 64 bits, signed or not. */
static int whole_bits(tsr_word word, int is_signed, uint64_t *bits)
{
    const int negative = word.size && *word.text == '-';
    const uint64_t most = is_signed ? (uint64_t)INT64_MAX + (uint64_t)negative : negative ? 0 : UINT64_MAX;
    uint64_t v = 0;
    size_t k = word.size && (negative || *word.text == '+');
    if (k == word.size) return 0;
    for (; k < word.size; k++) {
        const unsigned digit = (unsigned)(unsigned char)word.text[k] - '0';
        if (digit > 9 || v > (most - digit) / 10 || digit > most) return 0;
        v = 10 * v + digit;
    }
    *bits = negative ? 0 - v : v;
    return 1;
}

/* Numbers one after another as elements of the volume, those of one channel. */
static tsr_status take_numbers(image_reader *r, tsr_vtk_number type, int64_t numbers, int colours)
{
    enum { PIECE = 1024 };
    const int whole = type.kind >= TSR_VTK_N_U8 && type.kind <= TSR_VTK_N_I64 && !r->t.binary && !colours; /* 64 bits are more than a double has */
    const int is_signed = type.kind % 2 == TSR_VTK_N_I8 % 2;
    const int64_t most = whole && type.bytes < 8 ? (INT64_C(1) << (8 * type.bytes - is_signed)) - 1 : 0; /* of fewer bits */
    double piece[PIECE];
    TSR_TRY(tsr_vtk_begin_reals(&r->t, type, numbers, "values"));
    for (int64_t from = 0; from < numbers; from += PIECE) {
        const int64_t n = tsr_min64(PIECE, numbers - from);
        if (!whole) TSR_TRY(tsr_vtk_next(&r->t, type, n, "values", piece));
        for (int64_t k = 0; k < n; k++) {
            const int64_t to = (from + k) / r->components, own = (from + k) % r->components == r->channel;
            uint64_t bits = 0;
            tsr_word word;
            if (!whole) {
                if (own) tsr_voxel_store(r->block.data, r->layout.dtype, to, colours && !r->t.binary ? 255 * piece[k] : piece[k]);
                continue;
            }
            TSR_READING(r->t.progress, from + k, (double)(from + k) / (double)numbers);
            TSR_TRY(tsr_vtk_word(&r->t, &word, "values"));
            const int good = whole_bits(word, is_signed, &bits);
            const int64_t value = (int64_t)bits;
            if (!good || (most && (value > most || value < (is_signed ? -most - 1 : 0))))
                TSR_TRY(tsr_vtk_wrong(&r->t, word, "a whole number that its type holds"));
            if (!own) continue;
            if (type.bytes == 8) ((uint64_t *)r->block.data)[to] = bits;
            else tsr_voxel_store(r->block.data, r->layout.dtype, to, (double)value);
        }
    }
    return TSR_OK;
}

static tsr_status note(image_reader *r, tsr_word name, tsr_vtk_number type, int64_t components, int at_points)
{
    char text[NAME_BYTES], about[64];
    tsr_contents_entry e = { .kind = "dataset", .name = text, .type = about, .axes = components > 1 ? 4 : 3 };
    tsr_vtk_name(name, text, sizeof text);
    snprintf(about, sizeof about, "%s%s", tsr_dtype_name(dtype_of(type)), at_points ? "" : ", of cells");
    for (int k = 0; k < 3; k++) e.size[k] = samples_along(&r->lattice, k, at_points);
    e.size[3] = components;
    return tsr_contents_add(r->contents, &e);
}

static tsr_status array(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components, int at_points,
                        int *taken)
{
    image_reader *r = (image_reader *)user;
    const tsr_vtk_lattice *l = &r->lattice;
    char decoded[NAME_BYTES];
    const int colours = tsr_word_is_any_case(attribute, "COLOR_SCALARS"); /* VTK's name for bytes; in text from 0 to 1 */
    if (tsr_word_is_any_case(attribute, "LOOKUP_TABLE") || !l->points || tuples != (at_points ? l->points : l->cells) || components < 1 ||
        components > 1 << 16)
        return TSR_OK;
    if (r->contents) return note(r, name, type, components, at_points);
    tsr_vtk_name(name, decoded, sizeof decoded);
    if (r->options->dataset ? r->found || strcmp(decoded, r->options->dataset) : r->found && !(r->at_cells && at_points)) return TSR_OK;
    *taken = 1;
    tsr_block_release(&r->block); /* of cells, where the points have an array, too */
    memcpy(r->name, decoded, sizeof r->name);
    r->found = 1;
    r->at_cells = !at_points;
    r->components = components;
    r->axes = (tsr_axes){ .trailer = 1 };
    if (components > 1) TSR_TRY(tsr_axes_part(&r->axes, TSR_PART_CHANNEL, components, "the components of the array", r->t.input, r->options));
    r->channel = components > 1 ? r->axes.pick[0] : 0;
    for (int k = 0; k < 3; k++) tsr_axes_space(&r->axes, samples_along(l, k, at_points));
    r->layout = (tsr_layout){ .dtype = dtype_of(type), .swap = !tsr_host_big_endian(), .encoding = TSR_ENCODING_RAW };
    for (int k = 0; k < 3; k++) (&r->layout.size.x)[k] = samples_along(l, k, at_points);
    if (r->t.binary && type.kind != TSR_VTK_N_BIT) {
        TSR_TRY(tsr_vtk_begin_reals(&r->t, type, tuples * components, "values"));
        TSR_TRY(tsr_axes_read(&r->axes, r->t.input, r->t.text.at - r->begin, NULL, &r->layout, &r->block));
        return tsr_vtk_next(&r->t, type, tuples * components, "values", NULL);
    }
    int64_t bytes;
    if (tsr_input_settings(r->t.input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: VTK's text cannot be read in pieces, convert the file first", r->t.file);
    TSR_TRY(tsr_vtk_check_count(&r->t, tuples * components, type.bytes, "values"));
    TSR_TRY(tsr_voxel_bytes(r->t.input, r->layout.dtype, r->layout.size, &bytes));
    TSR_TRY(tsr_input_allocate(r->t.input, bytes, "voxels", &r->block));
    return take_numbers(r, type, tuples * components, colours);
}

static tsr_status read_sections(image_reader *r)
{
    const uint8_t *bytes;
    size_t size;
    tsr_word word;
    r->lattice = TSR_VTK_LATTICE;
    TSR_TRY(tsr_input_all(r->t.input, &bytes, &size));
    r->begin = (const char *)bytes;
    r->t.text = tsr_text_make(bytes, size);
    TSR_TRY(tsr_vtk_begin(&r->t, "STRUCTURED_POINTS", &word));
    if (!tsr_word_is_any_case(word, "STRUCTURED_POINTS") && !tsr_word_is_any_case(word, "RECTILINEAR_GRID"))
        TSR_TRY(tsr_vtk_wrong(&r->t, word, "STRUCTURED_POINTS (image data) or RECTILINEAR_GRID"));
    while ((!r->found || (r->at_cells && !r->options->dataset)) && tsr_text_word(&r->t.text, &word))
        TSR_TRY(tsr_vtk_lattice_section(&r->t, &r->lattice, word, array, r));
    return TSR_OK;
}

static tsr_status build(image_reader *r, tsr_volume **volume)
{
    TSR_TRY(read_sections(r));
    const tsr_vtk_lattice *l = &r->lattice;
    if (!r->found && r->options->dataset)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', which the file does not hold (tessera info lists its arrays)", r->t.file,
                 r->options->dataset);
    if (!r->found) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no array of numbers at the points or cells", r->t.file);
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ l->spacing[0], l->spacing[1], l->spacing[2] },
                                       (tsr_vec3){ l->origin[0], l->origin[1], l->origin[2] }, r->t.space);
    for (int k = 0; k < 3; k++) g.affine[k][3] += r->at_cells && l->size[k] > 1 ? 0.5 * l->spacing[k] : 0; /* values of cells sit in their middle */
    tsr_block block = r->block;
    r->block = (tsr_block){ 0 };
    TSR_TRY(tsr_volume_of_block(r->t.input, &r->layout, &g, &block, volume));
    memcpy((*volume)->parts, r->axes.parts, sizeof r->axes.parts);
    const tsr_status status = *r->name ? tsr_volume_set_meta(*volume, "vtk.array", r->name) : TSR_OK;
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    image_reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = &options->progress }, .options = options };
    *volume = NULL;
    const tsr_status status = build(&r, volume);
    tsr_block_release(&r.block);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    image_reader r = { .t = { .input = input, .file = tsr_input_name(input), .progress = &options->progress },
                       .options = options,
                       .contents = contents };
    TSR_TRY(read_sections(&r));
    return TSR_OK;
}

static int recognise(const tsr_signature *s)
{
    return tsr_vtk_is_dataset(s->head, s->head_bytes, "STRUCTURED_POINTS") || tsr_vtk_is_dataset(s->head, s->head_bytes, "RECTILINEAR_GRID")
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

const tsr_format tsr_format_vtkimage = { .name = "vtk-image",
                                         .kind = TSR_FILE_VOLUME,
                                         .extensions = { ".vtk" },
                                         .recognise = recognise,
                                         .datasets = 1,
                                         .read_volume = read_volume,
                                         .list = list };
