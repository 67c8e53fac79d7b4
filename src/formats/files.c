/* Dispatch: which format reads or writes a file, and what is common to all. */
#include "formats/contents.h"
#include "formats/extras.h"
#include "formats/format.h"
#include "formats/images/linear.h"
#include "formats/mesh_files.h"
#include "formats/parts.h"
#include "formats/points/vtk_points.h"
#include "formats/stored.h"
#include "formats/volumes/rgt.h"
#include "io/signatures.h"

#include "mesh/mesh.h"
#include "mesh/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const tsr_format *const formats[] = {
#define TSR_FORMAT(name) &tsr_format_##name,
#include "formats/formats.h"
#undef TSR_FORMAT
};
enum { FORMAT_COUNT = (int)(sizeof formats / sizeof formats[0]), LIST_BYTES = 1536 };

static const char *article(tsr_file_kind kind) { return kind == TSR_FILE_IMAGE || kind == TSR_FILE_UNSTRUCTURED ? "an" : "a"; }
static const char *const kind_names[] = { "unknown", "volume", "mesh", "image", "tile list", "cloud of points", "film", "unstructured grid" };

/* Images are volumes, too. */
static int holds(const tsr_format *format, tsr_file_kind kind)
{
    return format->kind == kind || (kind == TSR_FILE_VOLUME && format->kind == TSR_FILE_IMAGE);
}

/* Whether such objects are written at all; tile lists of OpenVDB are, by a program of its own. */
static int writes(const tsr_format *format, tsr_file_kind kind)
{
    switch (kind) {
    case TSR_FILE_VOLUME: return holds(format, kind) && format->write_volume;
    case TSR_FILE_MESH: return holds(format, kind) && format->write_mesh;
    case TSR_FILE_IMAGE: return holds(format, kind) && format->write_image;
    default: return holds(format, kind);
    }
}

const tsr_format *tsr_format_find(const char *name)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (!strcasecmp(formats[i]->name, name)) return formats[i];
    return NULL;
}

/* "nifti (.nii .hdr), nrrd (.nrrd .nhdr)": for messages. */
static const char *list_formats(tsr_file_kind kind, int written, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (kind != TSR_FILE_UNKNOWN && !(written ? writes(formats[i], kind) : holds(formats[i], kind))) continue;
        char line[128];
        size_t n = (size_t)snprintf(line, sizeof line, "%s%s", used ? ", " : "", formats[i]->name);
        for (int e = 0; e < 6 && formats[i]->extensions[e] && n < sizeof line; e++)
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", e ? " " : " (", formats[i]->extensions[e]);
        snprintf(text + used, bytes - used, "%s%s", line, formats[i]->extensions[0] ? ")" : "");
        used = strlen(text);
    }
    return text;
}

static const char *format_list(tsr_file_kind kind, char *text, size_t bytes) { return list_formats(kind, 0, text, bytes); }

/* Whether the path ends in one of the format's extensions, possibly followed by ".gz". */
static int extension_fits(const tsr_format *format, const char *path)
{
    for (int e = 0; path && e < 6 && format->extensions[e]; e++) {
        char packed[32];
        snprintf(packed, sizeof packed, "%s.gz", format->extensions[e]);
        if (tsr_path_has_extension(path, format->extensions[e]) || tsr_path_has_extension(path, packed)) return 1;
    }
    return 0;
}

static tsr_status format_named(const char *name, tsr_file_kind kind, const tsr_format **format)
{
    char list[LIST_BYTES];
    *format = tsr_format_find(name);
    if (!*format) TSR_FAIL(TSR_ERROR_ARGUMENT, "format '%.40s' is not known: expected one of %s", name, format_list(kind, list, sizeof list));
    if (kind != TSR_FILE_UNKNOWN && !holds(*format, kind))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "format '%s' holds %s %s, expected %s %s format: %s", (*format)->name, article((*format)->kind),
                 kind_names[(*format)->kind], article(kind), kind_names[kind], format_list(kind, list, sizeof list));
    return TSR_OK;
}

static tsr_status take_signature(tsr_input *input, tsr_signature *signature)
{
    TSR_TRY(tsr_input_head(input, TSR_HEAD_BYTES, &signature->head, &signature->head_bytes));
    signature->file_bytes = tsr_input_size(input);
    return TSR_OK;
}

/* By content, the extension deciding among equals; *format is NULL if no format claims the content. */
static tsr_status recognise(tsr_input *input, const tsr_format **format)
{
    tsr_signature signature;
    *format = NULL;
    TSR_TRY(take_signature(input, &signature));
    if (tsr_rgt_is_one(signature.head, signature.head_bytes)) return TSR_OK; /* it has functions of its own (tessera/region_tree.h) */
    int best = 0;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        int fits = extension_fits(formats[i], tsr_input_path(input));
        int sure = formats[i]->recognise ? formats[i]->recognise(&signature) : TSR_NOT_MINE;
        int score = sure ? 2 * sure + fits : 0;
        if (score > best) {
            best = score;
            *format = formats[i];
        }
    }
    if (*format == &tsr_format_vtkpoints && tsr_vtk_has_polygons(input)) *format = &tsr_format_vtkmesh; /* which its head does not say */
    const char *name, *advice; /* what is known for sure to be something else is no format's that only may be meant */
    if (best < 2 * TSR_SURELY_MINE && tsr_signature_find(signature.head, signature.head_bytes, &name, &advice)) *format = NULL;
    return TSR_OK;
}

/* Fails if the content is of a format that is known, but not read here. */
static tsr_status refuse_foreign(tsr_input *input)
{
    const uint8_t *head;
    size_t bytes;
    const char *name, *advice;
    TSR_TRY(tsr_input_head(input, TSR_HEAD_BYTES, &head, &bytes));
    if (tsr_signature_find(head, bytes, &name, &advice)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is %s, %s", tsr_input_name(input), name, advice);
    return TSR_OK;
}

tsr_status tsr_format_of_input(tsr_input *input, const tsr_read_options *options, tsr_file_kind kind, const tsr_format **format)
{
    if (options->format) return format_named(options->format, kind, format);
    TSR_TRY(recognise(input, format));
    if (!*format && kind == TSR_FILE_VOLUME && options->raw_shape.x) *format = tsr_format_find("raw");
    if (!*format) TSR_TRY(refuse_foreign(input));
    for (int i = 0; i < FORMAT_COUNT && !*format; i++) /* its reader says best what is wrong with the content */
        if (holds(formats[i], kind) && extension_fits(formats[i], tsr_input_path(input))) *format = formats[i];
    char list[LIST_BYTES];
    if (!*format) {
        const uint8_t *head;
        size_t bytes;
        TSR_TRY(tsr_input_head(input, 8, &head, &bytes));
        if (tsr_rgt_is_one(head, bytes))
            TSR_FAIL(TSR_ERROR_FORMAT,
                     "%s: the file is a region tree (rgt), which octree, quadtree and info (tsr_region_tree_read) read, expected %s %s: %s",
                     tsr_input_name(input), article(kind), kind_names[kind], format_list(kind, list, sizeof list));
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s, expected %s %s: %s", tsr_input_name(input),
                 bytes ? "the content is of no known format" : "the file is empty", article(kind), kind_names[kind],
                 format_list(kind, list, sizeof list));
    }
    if (!holds(*format, kind) && options->dataset && (*format)->other && holds(tsr_format_find((*format)->other), kind))
        *format = tsr_format_find((*format)->other);
    if (!holds(*format, kind))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file is %s %s (%s), expected %s %s: %s", tsr_input_name(input), article((*format)->kind),
                 kind_names[(*format)->kind], (*format)->name, article(kind), kind_names[kind], format_list(kind, list, sizeof list));
    return TSR_OK;
}

tsr_status tsr_format_of_output(const char *path, const char *name, tsr_file_kind kind, const tsr_format **format)
{
    char list[LIST_BYTES];
    *format = NULL;
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the output path is empty");
    if (name) TSR_TRY(format_named(name, kind, format));
    for (int i = 0; i < FORMAT_COUNT && !*format; i++)
        if (writes(formats[i], kind) && extension_fits(formats[i], path)) *format = formats[i];
    for (int i = 0; i < FORMAT_COUNT && !*format; i++)
        if (holds(formats[i], kind) && extension_fits(formats[i], path)) *format = formats[i];
    if (*format && !writes(*format, kind))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s files are read, not written: expected one of %s", path, (*format)->name, list_formats(kind, 1, list, sizeof list));
    if (!*format)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the extension names no %s format: expected one of %s, or options.format", path, kind_names[kind],
                 list_formats(kind, 1, list, sizeof list));
    return TSR_OK;
}

/* What every reading function begins with. `path` "-" and memory need no check; a NULL path is the caller's mistake. */
static tsr_status open_input(const char *path, const tsr_read_options *options, int keep_fans, tsr_read_options *own, tsr_input **input)
{
    TSR_TRY(TSR_OPTIONS_TAKE(own, options));
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the input path is empty");
    if (own->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)own->memory_limit);
    tsr_input_options settings = {
        .memory_limit = own->memory_limit, .progress = &own->progress, .map_beyond_limit = own->map_beyond_limit, .same_folder = own->same_folder, .allow_paths = own->allow_paths, .keep_fans = keep_fans
    };
    TSR_TRY(tsr_input_open(path, &settings, input));
    return TSR_OK;
}

static tsr_status take_write_options(const tsr_write_options *options, tsr_write_options *own)
{
    TSR_TRY(TSR_OPTIONS_TAKE(own, options));
    if (own->compression < -1 || own->compression > 9)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compression is %d, expected -1 (none), 0 (default) or 1 to 9", own->compression);
    return TSR_OK;
}

/* What the options choose that a file of this format does not have: options.dataset and the like. */
static tsr_status check_choice(const tsr_format *format, const char *name, const tsr_read_options *o)
{
    if (o->dataset && !format->datasets)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', which a %s file does not have", name, o->dataset, format->name);
    if (o->series_given && o->series && !format->series) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0: the file holds one", name, (long long)o->series);
    if (o->level_given && o->level && !format->levels) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0: the file is no pyramid", name, (long long)o->level);
    return TSR_OK;
}

/* The same of a file that is no volume: what is chosen of volumes only may be the first of one. */
static tsr_status check_single(const tsr_format *format, const char *name, const tsr_read_options *o)
{
    const char *what = kind_names[format->kind];
    const struct {
        const char *field;
        int64_t index;
    } part[] = { { "frame", o->frame_given ? o->frame : 0 }, { "layer", o->layer_given ? o->layer : 0 }, { "channel", o->channel_given ? o->channel : 0 } };
    TSR_TRY(check_choice(format, name, o));
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        if (part[k].index)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.%s is %lld, expected 0: the file is %s %s (%s) without %ss", name, part[k].field, (long long)part[k].index,
                     article(format->kind), what, format->name, part[k].field);
    if (o->box_given) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.box is of volumes: the file is %s %s (%s)", name, article(format->kind), what, format->name);
    return TSR_OK;
}

/* What the options pick was picked; and of a picture, whose channels lie along z, the one that is named (channel_given 2 leaves pictures whole: the default of those that
 * show one of several). */
static tsr_status pick_channel(const char *name, const tsr_read_options *options, tsr_volume **volume)
{
    const int64_t channels = tsr_volume_channels(*volume), c = options->channel;
    const tsr_geometry whole = (*volume)->geometry;
    const tsr_size3 n = (*volume)->size;
    const int picks = options->channel_given == 1 && channels > 1 && (*volume)->parts[TSR_PART_CHANNEL] <= 1;
    if (picks) (*volume)->parts[TSR_PART_CHANNEL] = channels;
    TSR_TRY(tsr_parts_check(*volume, name, options));
    if (picks) TSR_TRY(tsr_box_cut(name, (const tsr_size3[2]){ { 0, 0, c }, { n.x, n.y, c + 1 } }, volume));
    (*volume)->geometry = whole;
    return TSR_OK;
}

tsr_status tsr_volume_read(const char *path, const tsr_read_options *options, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format;
    tsr_status status;
    TSR_TRY(open_input(path, options, 0, &own, &input));
    TSR_TRY_GOTO(tsr_format_of_input(input, &own, TSR_FILE_VOLUME, &format), done);
    TSR_TRY_GOTO(check_choice(format, tsr_input_name(input), &own), done);
    TSR_TRY_GOTO(format->read_volume(input, &own, volume), done);
    TSR_TRY_GOTO(pick_channel(tsr_input_name(input), &own, volume), done);
    if (own.box_given && !format->boxes) TSR_TRY_GOTO(tsr_box_cut(tsr_input_name(input), own.box, volume), done);
done:
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* Where a single slice came from is no loss. */
static void say_place_is_lost(const tsr_volume *volume, const tsr_format *format, const char *path)
{
    const tsr_geometry *g = tsr_volume_geometry(volume);
    const int slice = tsr_volume_size(volume).z == 1;
    int fresh = 1;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) fresh &= g->affine[r][c] == (r == c) || (slice && r == 2 && c == 3);
    if (format->place == TSR_PLACE_NONE && !fresh) tsr_remark("%s: spacing, origin and axes have no place in a %s file and are left out", path, format->name);
    if (format->place == TSR_PLACE_NAMELESS && !slice && g->space != TSR_SPACE_NONE)
        tsr_remark("%s: that its axes are those of %s has no place in a %s file (--space names them again)", path,
                   g->space == TSR_SPACE_RAS ? "RAS" : "LPS", format->name);
}

/* Is it a field of a format's header, and one that does not say how voxels lay or what they were called there, which every writer says in its own way, or which was remarked when
 * it was read? */
static int is_field(const char *key, const char *dot)
{
    static const char *const layout[] = {
        "nifti.version", "nifti.xyzt_units", "nifti.sform", "nifti.qform", "nifti.slice_",   "nifti.toffset", "nrrd.",           "tiff.photometric",
        "tiff.unit",     "tiff.warning",     "png.p",       "png.g",       "png.c",          "png.s",         "png.orientation", "exr.channels",
        "vti.array",     "npz.array",        "hdf5.unit",   "ome.unit",    "analyze.orient", "mrc.ispg",      "metaimage."
    };
    char format[24];
    if (dot - key >= (int)sizeof format) return 0;
    snprintf(format, sizeof format, "%.*s", (int)(dot - key), key);
    if (!tsr_format_find(format) && strcmp(format, "ome")) return 0; /* notes of our own */
    for (size_t k = 0; k < sizeof layout / sizeof *layout; k++)
        if (!strncmp(key, layout[k], strlen(layout[k]))) return 0;
    return 1;
}

/* Texts of the file's maker, whose keys have no dot, and fields of another format's header (dicom.Modality), which have the format in front. */
static void say_texts_are_lost(const tsr_volume *volume, const tsr_format *format, const char *path)
{
    char list[2][160] = { "", "" };
    const char *key, *value;
    int lost[2] = { 0, 0 }, used[2] = { 0, 0 };
    for (int32_t i = 0; !format->keeps_metadata && tsr_volume_meta_at(volume, i, &key, &value); i++) {
        const char *dot = strchr(key, '.');
        const int field = dot != NULL;
        if (field && (!is_field(key, dot) || !strncmp(key, format->name, (size_t)(dot - key)))) continue;
        if (lost[field]++ < 3)
            used[field] += snprintf(list[field] + used[field], sizeof list[field] - (size_t)used[field], "%s%.40s", used[field] ? ", " : "", key);
    }
    for (int field = 0; field < 2; field++)
        if (lost[field])
            tsr_remark("%s: %s have no place in a %s file, %d are left out: %s%s", path,
                       field ? "fields of another format's header" : "texts of the metadata", format->name, lost[field], list[field],
                       lost[field] > 3 ? " ..." : "");
}

void tsr_say_what_is_lost(const tsr_volume *volume, const tsr_format *format, const char *path)
{
    say_place_is_lost(volume, format, path);
    say_texts_are_lost(volume, format, path);
}

tsr_status tsr_volume_write(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(volume, path);
    tsr_write_options own;
    const tsr_format *format;
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_VOLUME, &format));
    tsr_device device = tsr_volume_device(volume);
    if (device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the volume lives on %s:%d; copy it to the host with tsr_volume_copy first", path,
                 tsr_device_kind_name(device.kind), device.index);
    tsr_volume *parts[TSR_FIT_PARTS];
    const tsr_volume *fit;
    TSR_TRY(tsr_volume_for_format(volume, format, own.stored_values, parts, &fit));
    const tsr_status status = format->write_volume(fit, path, &own);
    tsr_fit_parts_destroy(parts);
    TSR_TRY(status);
    tsr_say_what_is_lost(volume, format, path);
    return TSR_OK;
}

tsr_status tsr_text_write(const char *text, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(text);
    tsr_write_options own;
    tsr_output *output;
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the output path is empty");
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_output_open(path, &own, &output));
    const tsr_status status = tsr_output_write(output, text, strlen(text));
    TSR_TRY(tsr_output_finish(&output, status));
    return TSR_OK;
}

static tsr_status read_mesh(const char *path, const tsr_read_options *options, int keep_fans, tsr_mesh **mesh)
{
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format;
    tsr_status status;
    *mesh = NULL;
    TSR_TRY(open_input(path, options, keep_fans, &own, &input));
    TSR_TRY_GOTO(tsr_format_of_input(input, &own, TSR_FILE_MESH, &format), done);
    TSR_TRY_GOTO(check_single(format, tsr_input_name(input), &own), done);
    TSR_TRY_GOTO(format->read_mesh(input, &own, mesh), done);
done:
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

tsr_status tsr_mesh_read(const char *path, const tsr_read_options *options, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    TSR_TRY(read_mesh(path, options, 0, mesh));
    return TSR_OK;
}

tsr_status tsr_mesh_read_fans(const char *path, const tsr_read_options *options, tsr_mesh **mesh)
{
    TSR_TRY(read_mesh(path, options, 1, mesh));
    return TSR_OK;
}

tsr_status tsr_mesh_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(mesh, path);
    tsr_write_options own;
    const tsr_format *format;
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_MESH, &format));
    tsr_device device = tsr_mesh_device(mesh);
    if (device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the mesh lives on %s:%d; copy it to the host with tsr_mesh_copy first", path,
                 tsr_device_kind_name(device.kind), device.index);
    TSR_TRY(format->write_mesh(mesh, path, &own));
    return TSR_OK;
}

static int holds_points(const tsr_format *format) { return format->read_points || format->kind == TSR_FILE_MESH; }
static int takes_points(const tsr_format *format) { return format->write_points || format->kind == TSR_FILE_MESH; }

/* Points of a cloud, or the vertices of a mesh. */
static tsr_status read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points)
{
    const tsr_format *format = NULL;
    tsr_mesh *mesh;
    if (options->format) TSR_TRY(format_named(options->format, TSR_FILE_UNKNOWN, &format));
    else TSR_TRY(recognise(input, &format));
    if (!format || (!options->format && !holds_points(format))) TSR_TRY(tsr_format_of_input(input, options, TSR_FILE_POINTS, &format));
    if (!holds_points(format)) TSR_TRY(format_named(format->name, TSR_FILE_POINTS, &format));
    TSR_TRY(check_single(format, tsr_input_name(input), options));
    if (format->read_points) {
        TSR_TRY(format->read_points(input, options, points));
        return TSR_OK;
    }
    TSR_TRY(format->read_mesh(input, options, &mesh));
    tsr_status status = tsr_points_from_mesh(mesh, points);
    tsr_mesh_destroy(&mesh);
    return status;
}

tsr_status tsr_points_read(const char *path, const tsr_read_options *options, tsr_points **points)
{
    TSR_RETURNS(points);
    tsr_read_options own;
    tsr_input *input = NULL;
    TSR_TRY(open_input(path, options, 0, &own, &input));
    tsr_status status = read_points(input, &own, points);
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}

tsr_status tsr_unstructured_read(const char *path, const tsr_read_options *options, const char *values, tsr_unstructured **grid)
{
    TSR_RETURNS(grid);
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format;
    tsr_status status;
    TSR_TRY(open_input(path, options, 0, &own, &input));
    if (own.format) TSR_TRY_GOTO(format_named(own.format, TSR_FILE_UNKNOWN, &format), done);
    else TSR_TRY_GOTO(recognise(input, &format), done);
    if (!format || !format->read_unstructured) TSR_TRY_GOTO(tsr_format_of_input(input, &own, TSR_FILE_UNSTRUCTURED, &format), done);
    if (own.dataset && (!values || !*values)) values = own.dataset;
    own.dataset = NULL;
    TSR_TRY_GOTO(check_single(format, tsr_input_name(input), &own), done);
    TSR_TRY_GOTO(format->read_unstructured(input, &own, values, grid), done);
done:
    tsr_input_close(&input);
    return status;
}

/* As a mesh without triangles. */
static tsr_status write_vertices(const tsr_points *points, const tsr_format *format, const char *path, const tsr_write_options *options)
{
    tsr_mesh *mesh;
    if (!strcmp(format->name, "stl")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: STL holds triangles only, expected a format for points", path);
    TSR_TRY(tsr_mesh_create(NULL, points->count, 0, points->normals != NULL, &mesh));
    memcpy(mesh->vertices, points->positions, (size_t)points->count * 3 * sizeof(float));
    if (points->normals) memcpy(mesh->normals, points->normals, (size_t)points->count * 3 * sizeof(float));
    mesh->space = points->space;
    memcpy(mesh->origin, points->origin, sizeof mesh->origin);
    tsr_status status = format->write_mesh(mesh, path, options);
    tsr_mesh_destroy(&mesh);
    return status;
}

/* A format for points, or for the vertices of a mesh. */
static tsr_status format_of_points(const char *path, const char *name, const tsr_format **format)
{
    *format = NULL;
    if (name) TSR_TRY(format_named(name, TSR_FILE_UNKNOWN, format));
    for (int i = 0; path && i < FORMAT_COUNT && !*format; i++)
        if (takes_points(formats[i]) && extension_fits(formats[i], path)) *format = formats[i];
    if (!*format || !takes_points(*format)) TSR_TRY(tsr_format_of_output(path, name, TSR_FILE_POINTS, format));
    return TSR_OK;
}

tsr_status tsr_points_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(points);
    tsr_write_options own;
    const tsr_format *format = NULL;
    TSR_TRY(tsr_points_require_host(points, path ? path : "points"));
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(format_of_points(path, own.format, &format));
    if (format->kind == TSR_FILE_MESH && (!format->write_points || !(points->radii || points->attributes))) return write_vertices(points, format, path, &own);
    TSR_TRY(format->write_points(points, path, &own));
    return TSR_OK;
}

/* *format is NULL unless the file holds a volume. */
static tsr_status is_volume(tsr_input *input, const tsr_read_options *options, const tsr_format **format)
{
    *format = NULL;
    if (options->format) TSR_TRY(format_named(options->format, TSR_FILE_UNKNOWN, format));
    else TSR_TRY(recognise(input, format));
    if (*format && (*format)->kind != TSR_FILE_VOLUME) *format = NULL;
    return TSR_OK;
}

/* A volume of bytes that is one slice, or the channels of an image: an array of numbers is a picture, too. */
static tsr_status read_slice(tsr_input *input, const tsr_format *format, const tsr_read_options *options, tsr_image *image)
{
    tsr_volume *volume = NULL;
    TSR_TRY(format->read_volume(input, options, &volume));
    const tsr_size3 n = tsr_volume_size(volume);
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    if (options->image_bits) *options->image_bits = 8;
    if (dtype == TSR_F32 && tsr_linear_colours(volume)) {
        const tsr_status status = tsr_linear_image(volume, tsr_input_name(input), image);
        tsr_volume_destroy(&volume);
        return status;
    }
    const int fits = (n.z == 1 || tsr_volume_channels(volume)) && tsr_image_from_volume(volume, image) == TSR_OK;
    tsr_volume_destroy(&volume);
    if (!fits)
        TSR_FAIL(
            TSR_ERROR_FORMAT,
            "%s: the file is a volume (%s) of %lld x %lld x %lld %s, expected an image, or one slice of u8 (tessera convert --slice z=%lld --window "
            "LOWER:UPPER --dtype u8)",
            tsr_input_name(input), format->name, (long long)n.x, (long long)n.y, (long long)n.z, tsr_dtype_name(dtype), (long long)(n.z / 2));
    return TSR_OK;
}

tsr_status tsr_image_read(const char *path, const tsr_read_options *options, tsr_image *image)
{
    TSR_NEEDS(path, image);
    *image = (tsr_image){ 0 };
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format;
    tsr_status status;
    int32_t bits = 8;
    TSR_TRY(open_input(path, options, 0, &own, &input));
    const int asked = own.image_bits != NULL;
    if (!asked) own.image_bits = &bits;
    TSR_TRY_GOTO(is_volume(input, &own, &format), done);
    if (format) {
        TSR_TRY_GOTO(read_slice(input, format, &own, image), done);
    } else {
        TSR_TRY_GOTO(tsr_format_of_input(input, &own, TSR_FILE_IMAGE, &format), done);
        TSR_TRY_GOTO(format->read_image(input, &own, image), done);
    }
    if (!asked && bits > 8) tsr_remark("%s: %d bits a channel, read as 8", tsr_input_name(input), (int)bits);
done:
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}

tsr_status tsr_image_write(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(path);
    tsr_write_options own;
    const tsr_format *format;
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "image is NULL or has no pixels");
    if (image->width <= 0 || image->height <= 0 || (image->channels != 1 && image->channels != 3 && image->channels != 4))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d x %d pixels with %d channels: expected positive extents and 1, 3 or 4 channels", image->width,
                 image->height, image->channels);
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_IMAGE, &format));
    TSR_TRY(format->write_image(image, path, &own));
    return TSR_OK;
}

/* ---- tile lists ------------------------------------------------------------------------------------------------------------------- */

static tsr_status open_tiles(const char *path, const tsr_tiles_read_options *options, tsr_tiles_read_options *own, tsr_input **input,
                             const tsr_format **format, tsr_tiles_extras **extras)
{
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(own, options));
    if (own->edge != 0 && own->edge != 4 && own->edge != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "edge is %d, expected 4, 8 or 0", own->edge);
    tsr_read_options plain = { .struct_size = sizeof plain, .format = own->format, .memory_limit = own->memory_limit, .progress = own->progress,
                               .dataset = own->grid };
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the input path is empty");
    if (own->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)own->memory_limit);
    tsr_input_options settings = { .memory_limit = own->memory_limit, .progress = &own->progress };
    TSR_TRY(tsr_input_open(path, &settings, input));
    TSR_TRY_GOTO(tsr_format_of_input(*input, &plain, TSR_FILE_TILES, format), fail);
    TSR_TRY_GOTO(tsr_extras_create(extras), fail);
    return TSR_OK;
fail:
    tsr_input_close(input);
    return status;
}

tsr_status tsr_tiles_read(tsr_context *context, const char *path, const tsr_tiles_read_options *options, tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context);
    tsr_tiles_read_options own;
    tsr_input *input = NULL;
    tsr_tiles_extras *extras = NULL;
    const tsr_format *format;
    TSR_TRY(open_tiles(path, options, &own, &input, &format, &extras));
    tsr_status status = format->read_tiles(input, &own, context, extras, tiles);
    tsr_input_close(&input);
    if (status == TSR_OK && own.extras) {
        *own.extras = extras;
        extras = NULL;
    }
    tsr_tiles_extras_destroy(&extras);
    return status;
}

tsr_status tsr_tiles_file_describe(const char *path, const tsr_tiles_read_options *options, tsr_tiles_file_info *info)
{
    TSR_NEEDS(info);
    tsr_tiles_read_options own;
    tsr_input *input = NULL;
    tsr_tiles_extras *extras = NULL;
    const tsr_format *format;
    tsr_tiles_file_info found = { .active_voxels = -1, .codec = "none", .grids = 1 };
    TSR_TRY(TSR_STRUCT_GIVE(info, &found));
    TSR_TRY(open_tiles(path, options, &own, &input, &format, &extras));
    snprintf(found.format, sizeof found.format, "%s", format->name);
    found.file_bytes = tsr_input_size(input);
    tsr_status status = format->describe_tiles(input, &own, extras, &found);
    tsr_input_close(&input);
    if (status == TSR_OK) status = TSR_STRUCT_GIVE(info, &found);
    if (status == TSR_OK && own.extras) {
        *own.extras = extras;
        extras = NULL;
    }
    tsr_tiles_extras_destroy(&extras);
    return status;
}

tsr_status tsr_tiles_write(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    TSR_NEEDS(tiles, path);
    tsr_tiles_write_options own;
    const tsr_format *format;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.compression < -1 || own.compression > 9)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compression is %d, expected -1 (none), 0 (default) or 1 to 9", own.compression);
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_TILES, &format));
    if (!format->write_tiles)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s files are written by tessera convert with the program tessera-vdb, not by the library", path,
                 format->name);
    TSR_TRY(format->write_tiles(tiles, path, &own));
    return TSR_OK;
}

tsr_status tsr_file_recognise(const char *path, tsr_file_kind *kind, const char **name)
{
    TSR_NEEDS(path, kind);
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format = NULL;
    *kind = TSR_FILE_UNKNOWN;
    *name = NULL;
    TSR_TRY(open_input(path, NULL, 0, &own, &input));
    tsr_signature signature;
    tsr_status status = recognise(input, &format);
    if (status == TSR_OK && !format) status = refuse_foreign(input);
    if (status == TSR_OK && format && format->kind_of) {
        status = take_signature(input, &signature);
        if (status == TSR_OK) *kind = format->kind_of(&signature);
    }
    tsr_input_close(&input);
    TSR_TRY(status);
    for (int i = 0; i < FORMAT_COUNT && !format; i++)
        if (strcmp(path, "-") && extension_fits(formats[i], path)) format = formats[i];
    if (!format) return TSR_OK;
    if (*kind == TSR_FILE_UNKNOWN) *kind = format->kind;
    *name = format->name;
    return TSR_OK;
}

/* Of a file of tile lists, the format that lists the grids of both kinds; else NULL. */
static tsr_status grids_of(tsr_input *input, const tsr_format **format)
{
    TSR_TRY(recognise(input, format));
    *format = *format && (*format)->kind == TSR_FILE_TILES && (*format)->other ? tsr_format_find((*format)->other) : NULL;
    return TSR_OK;
}

tsr_status tsr_file_contents(const char *path, const tsr_read_options *options, tsr_contents **contents)
{
    tsr_read_options own;
    tsr_input *input = NULL;
    const tsr_format *format;
    tsr_status status;
    if (!contents) TSR_FAIL(TSR_ERROR_ARGUMENT, "contents is NULL");
    *contents = NULL;
    TSR_TRY(open_input(path, options, 0, &own, &input));
    TSR_TRY_GOTO(is_volume(input, &own, &format), done);
    if (!format && !own.format) TSR_TRY_GOTO(grids_of(input, &format), done);
    TSR_TRY_GOTO(tsr_contents_create(contents), done);
    if (format && format->list) TSR_TRY_GOTO(format->list(input, &own, *contents), done);
done:
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_contents_destroy(contents);
    return status;
}

tsr_status tsr_file_format_kind(const char *name, tsr_file_kind *kind)
{
    TSR_NEEDS(kind);
    const tsr_format *format;
    *kind = TSR_FILE_UNKNOWN;
    TSR_TRY(format_named(name, TSR_FILE_UNKNOWN, &format));
    *kind = format->kind;
    return TSR_OK;
}

tsr_status tsr_file_keeps_metadata(const char *path, const tsr_write_options *options, int *keeps)
{
    TSR_NEEDS(path, keeps);
    tsr_write_options own;
    const tsr_format *format;
    *keeps = 0;
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_VOLUME, &format));
    *keeps = format->keeps_metadata;
    return TSR_OK;
}

tsr_status tsr_file_keeps_unit(const char *path, const tsr_write_options *options, double unit, int *keeps)
{
    TSR_NEEDS(path, keeps);
    tsr_write_options own;
    const tsr_format *format;
    *keeps = 0;
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_VOLUME, &format));
    *keeps = tsr_format_keeps_unit(format, unit);
    return TSR_OK;
}

tsr_status tsr_file_keeps_mesh(const char *path, const tsr_write_options *options, int *extras)
{
    TSR_NEEDS(path, extras);
    tsr_write_options own;
    const tsr_format *format;
    *extras = 0;
    TSR_TRY(take_write_options(options, &own));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_MESH, &format));
    *extras = format->mesh_extras | (own.ascii ? format->mesh_extras_ascii : 0);
    return TSR_OK;
}

tsr_status tsr_file_check_output(const char *path, tsr_file_kind kind, const tsr_write_options *options)
{
    TSR_NEEDS(path);
    tsr_write_options own;
    const tsr_format *format;
    TSR_TRY(take_write_options(options, &own));
    if (kind == TSR_FILE_POINTS) TSR_TRY(format_of_points(path, own.format, &format));
    else TSR_TRY(tsr_format_of_output(path, own.format, kind, &format));
    return TSR_OK;
}
