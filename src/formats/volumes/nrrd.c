/* NRRD: .nrrd with the voxels attached, .nhdr with them in other files. Raw, gzip and ascii encoding.
 *
 * The tag of the geometry follows the field 'space'. Fields that tessera does not interpret come back through metadata "nrrd.FIELD", and
 * every other metadata entry is written as a key/value pair, so that nothing is lost on the way through this format. */
#include "formats/volumes/nrrd_header.h"
#include "formats/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 8 && !memcmp(s->head, "NRRD000", 7) && s->head[7] >= '1' && s->head[7] <= '9' ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

/* Metadata wait in a volume of one voxel until the real one exists: the list of pairs is the volume's own business. */
static tsr_status keep(void *user, const char *key, const char *value) { return *key ? tsr_volume_set_meta((tsr_volume *)user, key, value) : TSR_OK; }

/* What an axis that is none of space counts: a list is of a segmentation's layers or of frames; one without a kind lies before space if it counts
 * components. */
static tsr_part part_of(const tsr_nrrd_axis *axis, int before_space, const tsr_volume *holder)
{
    static const char *const unsaid[] = { "", "none", "???", "domain", "space" };
    if (!strcasecmp(axis->kind, "time")) return TSR_PART_FRAME;
    const int list = !strcasecmp(axis->kind, "list");
    if (tsr_volume_meta(holder, "Segment0_ID") && (list || !strcasecmp(axis->kind, "vector"))) return TSR_PART_LAYER; /* as other writers call them */
    if (list) return TSR_PART_FRAME;
    for (size_t k = 0; k < sizeof unsaid / sizeof unsaid[0]; k++)
        if (!strcasecmp(axis->kind, unsaid[k])) return before_space ? TSR_PART_CHANNEL : TSR_PART_FRAME;
    return TSR_PART_CHANNEL;
}

/* Sorts the axes: of space are those with a direction, else the first three that are not a list of components. Of the others one sample is picked. */
static tsr_status sort_axes(const tsr_input *input, const tsr_nrrd *h, const tsr_volume *holder, const tsr_read_options *options, tsr_axes *all,
                            int axes[3], int *count)
{
    static const char *const component_kinds[] = { "list", "point",  "vector",  "covariant-vector", "normal",
                                                   "stub", "scalar", "complex", "quaternion",       "time" };
    *count = 0;
    for (int i = 0; i < h->axes; i++) {
        const tsr_nrrd_axis *axis = &h->axis[i];
        int component = strchr(axis->kind, '-') && strcasecmp(axis->kind, "covariant-vector"); /* 3-color, 2D-symmetric-matrix, RGB-color ... */
        for (size_t k = 0; k < sizeof component_kinds / sizeof component_kinds[0]; k++) component |= !strcasecmp(axis->kind, component_kinds[k]);
        int spatial = h->directions_given ? axis->has_direction : !component && *count < 3;
        char field[80];
        if (spatial && *count == 3)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: NRRD field 'space directions' has more than 3 vectors, expected 3", tsr_input_name(input));
        if (spatial) {
            tsr_axes_space(all, axis->size);
            axes[(*count)++] = i;
            continue;
        }
        snprintf(field, sizeof field, "NRRD axis %d%s%s", i, *axis->kind ? " of kind " : "", axis->kind);
        TSR_TRY(tsr_axes_part(all, part_of(axis, *count == 0, holder), axis->size, field, input, options));
    }
    if (!*count) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the NRRD file has no axis of space", tsr_input_name(input));
    return TSR_OK;
}

/* Position and spacing of an axis without direction. A range [min, max] of cells reaches half a cell beyond the outer samples. */
static tsr_status axis_step(const tsr_input *input, const tsr_nrrd_axis *axis, double *spacing, double *start)
{
    *spacing = axis->spacing;
    double samples = (double)(axis->cell ? axis->size : axis->size - 1);
    if (isnan(*spacing) && isfinite(axis->min) && isfinite(axis->max) && samples > 0) *spacing = (axis->max - axis->min) / samples;
    if (isnan(*spacing)) *spacing = 1;
    if (!(*spacing != 0) || !isfinite(*spacing))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: NRRD axis mins and maxs give a spacing of %g, expected a number other than 0", tsr_input_name(input),
                 *spacing);
    *start = isfinite(axis->min) ? axis->min + (axis->cell ? *spacing / 2 : 0) : 0;
    return TSR_OK;
}

static tsr_status read_geometry(const tsr_input *input, const tsr_nrrd *h, const int axes[3], int count, tsr_geometry *g)
{
    *g = tsr_geometry_make((tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    double longest = 0;
    for (int c = 0; c < count; c++) {
        const tsr_nrrd_axis *axis = &h->axis[axes[c]];
        if (h->directions_given) {
            for (int r = 0; r < 3; r++) g->affine[r][c] = axis->direction[r];
        } else {
            TSR_TRY(axis_step(input, axis, &g->affine[c][c], &g->affine[c][3]));
        }
        longest = fmax(longest, sqrt(g->affine[0][c] * g->affine[0][c] + g->affine[1][c] * g->affine[1][c] + g->affine[2][c] * g->affine[2][c]));
    }
    for (int r = 0; h->origin_given && r < 3; r++) g->affine[r][3] = h->origin[r];
    /* An image of one or two axes gets the missing directions: the world axis that is free, or the normal of the plane. */
    if (count == 2) {
        double n[3];
        for (int r = 0; r < 3; r++) {
            int a = (r + 1) % 3, b = (r + 2) % 3;
            n[r] = g->affine[a][0] * g->affine[b][1] - g->affine[b][0] * g->affine[a][1];
        }
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int r = 0; r < 3; r++) g->affine[r][2] = length > 0 ? n[r] / length : 0;
    } else if (count == 1) {
        int along = 0;
        for (int r = 1; r < 3; r++)
            if (fabs(g->affine[r][0]) > fabs(g->affine[along][0])) along = r;
        g->affine[(along + 1) % 3][1] = 1;
        g->affine[(along + 2) % 3][2] = 1;
    }
    if (!(longest > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the NRRD space directions are all 0", tsr_input_name(input));
    const tsr_nrrd_space *space = *h->space ? tsr_nrrd_space_find(h->space) : NULL;
    if (space) {
        g->space = space->space;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4 && space->sign[r] < 0; c++) g->affine[r][c] = -g->affine[r][c];
    }
    return TSR_OK;
}

/* Of a segmentation's layers one was read: the segments of the others are not in these voxels. Those that are get numbers from 0; `key` becomes *kept, of
 * `room` bytes. 0: the pair goes. */
static int segment_key(const tsr_volume *holder, int64_t layer, const char **key, const char **value, char *kept, size_t room)
{
    char *end, name[64];
    if (layer < 0 || strncmp(*key, "Segment", 7) || (*key)[7] < '0' || (*key)[7] > '9') return 1;
    const long number = strtol(*key + 7, &end, 10);
    if (*end != '_' || number > 100000) return 1;
    long own = 0;
    for (long i = 0; i <= number; i++) {
        snprintf(name, sizeof name, "Segment%ld_Layer", i);
        const char *where = tsr_volume_meta(holder, name);
        const int here = !where || strtoll(where, NULL, 10) == layer;
        if (i == number && !here) return 0;
        own += i < number && here;
    }
    if (!strcmp(end, "_Layer")) *value = "0";
    snprintf(kept, room, "Segment%ld%s", own, end);
    *key = kept;
    return 1;
}

/* Slope and intercept travel as key/value pairs, and what belongs to the old axes goes if axes were dropped. */
static tsr_status apply_metadata(const tsr_nrrd *h, int count, const tsr_volume *holder, int64_t layer, tsr_volume *volume)
{
    static const char *const of_axes[] = { "nrrd.kinds", "nrrd.centers", "nrrd.centerings", "nrrd.thicknesses", "nrrd.labels", "nrrd.units" };
    double slope = 1, intercept = 0;
    if (tsr_meta_numbers(holder, "tessera.slope", &slope, 1) && tsr_meta_numbers(holder, "tessera.intercept", &intercept, 1))
        TSR_TRY(tsr_volume_set_scaling(volume, slope, intercept));
    const char *key, *value;
    for (int32_t i = 0; tsr_volume_meta_at(holder, i, &key, &value); i++) {
        int skip = !strcmp(key, "tessera.slope") || !strcmp(key, "tessera.intercept");
        for (size_t a = 0; a < sizeof of_axes / sizeof of_axes[0]; a++) skip |= (h->axes != 3 || count != 3) && !strcasecmp(key, of_axes[a]);
        char kept[256];
        if (!skip && segment_key(holder, layer, &key, &value, kept, sizeof kept)) TSR_TRY(tsr_volume_set_meta(volume, key, value));
    }
    /* a layer without a segment is of labels all the same */
    if (layer >= 0 && !tsr_volume_meta(volume, "Segment0_ID")) TSR_TRY(tsr_volume_set_meta(volume, "Segment0_ID", "Segment_0"));
    if (*h->space) TSR_TRY(tsr_volume_set_meta(volume, "nrrd.space", h->space));
    return TSR_OK;
}

static tsr_status build_volume(tsr_input *input, const tsr_read_options *options, tsr_nrrd *h, const tsr_volume *holder, tsr_volume **volume)
{
    tsr_axes all = { 0 };
    int axes[3], count;
    tsr_geometry geometry;
    tsr_block block;
    tsr_status status;
    TSR_TRY(sort_axes(input, h, holder, options, &all, axes, &count));
    TSR_TRY(read_geometry(input, h, axes, count, &geometry));
    TSR_TRY(tsr_axes_read(&all, input, (int64_t)h->end, h->files.count || h->list || h->pattern ? &h->files : NULL, &h->layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &h->layout, &geometry, &block, volume));
    memcpy((*volume)->parts, all.parts, sizeof all.parts);
    TSR_TRY_GOTO(apply_metadata(h, count, holder, all.parts[TSR_PART_LAYER] > 1 ? options->layer : -1, *volume), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

/* The header is as long as it is: look at more and more of the file until its end is in view. */
static tsr_status header_text(tsr_input *input, const uint8_t **bytes, size_t *size)
{
    for (size_t want = 65536;; want *= 4) {
        TSR_TRY(tsr_input_head(input, want, bytes, size));
        int ended = *size < want;
        for (size_t i = 1; i < *size && !ended; i++)
            ended = (*bytes)[i] == '\n' && ((*bytes)[i - 1] == '\n' || (i >= 3 && (*bytes)[i - 1] == '\r' && (*bytes)[i - 2] == '\n'));
        if (ended || want > (size_t)1 << 26) return TSR_OK;
    }
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *bytes;
    size_t size;
    tsr_nrrd header;
    tsr_volume *holder = NULL;
    TSR_TRY(header_text(input, &bytes, &size));
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &holder));
    tsr_status status = tsr_nrrd_parse(input, bytes, size, &header, keep, holder);
    if (status == TSR_OK) status = build_volume(input, options, &header, holder, volume);
    tsr_nrrd_free(&header);
    tsr_volume_destroy(&holder);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------- */

static void print_vector(tsr_output *out, const double affine[3][4], int column, const double sign[3])
{
    char text[3][32];
    for (int r = 0; r < 3; r++) tsr_print_double(text[r], sign[r] * affine[r][column] + 0.0);
    tsr_output_printf(out, "(%s,%s,%s)", text[0], text[1], text[2]);
}

static void write_geometry(tsr_output *out, const tsr_volume *volume)
{
    const tsr_geometry *g = &volume->geometry;
    const char *name = tsr_volume_meta(volume, "nrrd.space");
    const tsr_nrrd_space *space = name ? tsr_nrrd_space_find(name) : NULL;
    const double plain[3] = { 1, 1, 1 };
    if (space && (space->space != g->space || space->dimension != 3)) space = NULL; /* the volume was converted since */
    if (!space && g->space == TSR_SPACE_RAS) space = tsr_nrrd_space_find("RAS");
    if (!space && g->space == TSR_SPACE_LPS) space = tsr_nrrd_space_find("LPS");
    if (space) tsr_output_printf(out, "space: %s\n", space->name);
    else tsr_output_printf(out, "space dimension: 3\n");
    const double *sign = space ? space->sign : plain;
    tsr_output_printf(out, "sizes: %lld %lld %lld", (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z);
    if (tsr_volume_stack(volume)) tsr_output_printf(out, " %lld", (long long)tsr_volume_stack(volume));
    tsr_output_printf(out, "\nspace directions: ");
    for (int c = 0; c < 3; c++) {
        print_vector(out, (const double(*)[4])g->affine, c, sign);
        tsr_output_printf(out, c < 2 ? " " : tsr_volume_stack(volume) ? " none\nspace origin: " : "\nspace origin: ");
    }
    print_vector(out, (const double(*)[4])g->affine, 3, sign);
    tsr_output_printf(out, "\n");
    if (!tsr_volume_meta(volume, "nrrd.kinds")) tsr_output_printf(out, "kinds: domain domain domain%s\n", tsr_volume_stack(volume) ? " list" : "");
}

/* What a field that says something of every axis says of the frames; "" for other fields. */
static const char *of_frames(const tsr_volume *volume, const char *field)
{
    static const char *const fields[][2] = { { "kinds", " list" },     { "centers", " ???" },    { "centerings", " ???" },
                                             { "labels", " \"frame\"" }, { "units", " \"\"" },     { "thicknesses", " nan" } };
    for (size_t k = 0; tsr_volume_stack(volume) && k < sizeof fields / sizeof *fields; k++)
        if (!strcmp(field, fields[k][0])) return fields[k][1];
    return "";
}

static void write_metadata(tsr_output *out, const tsr_volume *volume)
{
    const char *key, *value, *space = tsr_volume_meta(volume, "nrrd.space");
    const tsr_nrrd_space *known = space ? tsr_nrrd_space_find(space) : NULL;
    char text[2][32];
    if (volume->slope != 1 || volume->intercept != 0)
        tsr_output_printf(out, "tessera.slope:=%s\ntessera.intercept:=%s\n", tsr_print_double(text[0], volume->slope),
                          tsr_print_double(text[1], volume->intercept));
    const char *unit = tsr_volume_unit_name(volume); /* of a NIfTI file, too */
    if (unit && strcmp(unit, "mm") && !tsr_volume_meta(volume, "nrrd.space units") && !tsr_volume_meta(volume, "nrrd.units"))
        tsr_output_printf(out, "space units: \"%s\" \"%s\" \"%s\"\n", unit, unit, unit);
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++) {
        if (!strcmp(key, "nrrd.space") || strpbrk(key, "\n\r") || strstr(key, ":=") || strstr(key, ": ") || *key == '#') continue;
        if (!strncmp(key, "nrrd.", 5)) {
            int of_space = !strcmp(key, "nrrd.measurement frame") && (!known || known->space != volume->geometry.space);
            if (!of_space && !strpbrk(value, "\n\r")) tsr_output_printf(out, "%s: %s%s\n", key + 5, value, of_frames(volume, key + 5));
            continue;
        }
        tsr_output_printf(out, "%s:=", key);
        for (const char *c = value; *c; c++) {
            if (*c == '\n') tsr_output_write(out, "\\n", 2);
            else if (*c == '\\') tsr_output_write(out, "\\\\", 2);
            else if (*c != '\r') tsr_output_write(out, c, 1);
        }
        tsr_output_printf(out, "\n");
    }
}

static const char *type_name(tsr_dtype dtype)
{
    static const char *const names[TSR_DTYPE_COUNT] = { "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double" };
    return names[dtype];
}

/* `data` is the output of the voxels: the same as `out` when attached. */
static tsr_status write_file(tsr_output *out, tsr_output *data, const char *data_name, const tsr_volume *volume, const tsr_write_options *options)
{
    int big = options->big_endian != 0, packed = options->compression > 0 && !options->ascii;
    int64_t size;
    tsr_output_printf(out, "NRRD0005\n# made by tessera %s\ntype: %s\ndimension: %d\n", tsr_version(), type_name(volume->dtype), tsr_volume_stack(volume) ? 4 : 3);
    write_geometry(out, volume);
    tsr_output_printf(out, "encoding: %s\n", options->ascii ? "ascii" : packed ? "gzip" : "raw");
    if (!options->ascii) tsr_output_printf(out, "endian: %s\n", big ? "big" : "little");
    if (data != out) tsr_output_printf(out, "data file: %s\n", data_name);
    write_metadata(out, volume);
    if (data == out) tsr_output_printf(out, "\n");
    if (options->ascii) return tsr_output_voxels_ascii(data, volume);
    if (packed && data == out) TSR_TRY(tsr_output_deflate_begin(data, TSR_WRAPPER_GZIP, options->compression));
    TSR_TRY(tsr_output_voxels(data, volume, big != tsr_host_big_endian()));
    if (packed && data == out) TSR_TRY(tsr_output_deflate_end(data, &size));
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL, *data = NULL;
    tsr_status status;
    char *data_path = NULL;
    int packed_outside = tsr_path_has_extension(path, ".gz");
    if (packed_outside && options->compression > 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: an NRRD file packs its voxels itself; leave out .gz or the compression", path);
    if (!tsr_path_has_extension(path, ".nhdr") && !options->detached) {
        TSR_TRY(tsr_output_open(path, options, &out));
        return tsr_output_finish(&out, write_file(out, out, NULL, volume, options));
    }
    if (!tsr_path_has_extension(path, ".nhdr")) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a detached NRRD header is named .nhdr", path);
    const char *extension = options->ascii ? ".txt" : options->compression > 0 ? ".raw.gz" : ".raw";
    TSR_TRY(tsr_path_replace(path, ".nhdr", extension, &data_path));
    TSR_TRY_GOTO(tsr_output_open(data_path, options, &data), fail);
    TSR_TRY_GOTO(tsr_output_open(path, options, &out), fail);
    TSR_TRY_GOTO(write_file(out, data, tsr_path_file(data_path), volume, options), fail);
    free(data_path);
    return tsr_output_commit_pair(&data, &out);
fail:
    free(data_path);
    tsr_output_abort(&data);
    tsr_output_abort(&out);
    return status;
}

const tsr_format tsr_format_nrrd = { .name = "nrrd",
                                     .kind = TSR_FILE_VOLUME,
                                     .extensions = { ".nrrd", ".nhdr" },
                                     .recognise = recognise,
                                     .keeps_metadata = 1,
                                     .stacks = 1,
                                     .units = TSR_UNITS_ANY,
                                     .read_volume = read_volume,
                                     .write_volume = write_volume };
