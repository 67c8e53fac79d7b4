/* HDF5, read: which array, what its axes mean, where it lies. Habits that are known: ilastik and ImageJ (element_size_um, axistags), NeXus (default, signal),
 * Imaris (levels, frames and channels in a tree), MATLAB 7.3 (rows and columns the other way round), ITK (geometry beside), netCDF (scaling). */
#include "formats/hdf5.h"

#ifdef TSR_HAVE_HDF5

#include "formats/contents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hdf5 {
    tsr_input *input;
    hid_t file, dataset, type; /* type: of the elements in memory */
    char path[600];
    tsr_stored array;
    tsr_volume *holder;
    int matlab, cropped;
} hdf5;

static tsr_status fail(const hdf5 *h, tsr_status status, const char *what)
{
    char reason[200];
    tsr_hdf5_reason(reason);
    TSR_FAIL(status, "%s: HDF5: %s%s%s: %s", tsr_input_name(h->input), what, *h->path ? " of " : "", h->path, reason);
}

/* ---- arrays of the file ------------------------------------------------------------------------------------------------------------------------ */

static const char *type_name(hid_t dataset, char text[40])
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t kind = H5Tget_class(type);
    const int bits = (int)(8 * H5Tget_size(type));
    if (kind == H5T_INTEGER) snprintf(text, 40, "%s%d", H5Tget_sign(type) == H5T_SGN_2 ? "i" : "u", bits);
    else if (kind == H5T_FLOAT) snprintf(text, 40, "f%d", bits);
    else if (kind == H5T_ENUM || kind == H5T_BITFIELD) snprintf(text, 40, "u%d", bits);
    else text[0] = 0;
    H5Tclose(type);
    return text;
}

static int shape_of(hid_t dataset, int64_t size[H5S_MAX_RANK])
{
    hsize_t dims[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(dataset);
    const int rank = space >= 0 && H5Sis_simple(space) > 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
    for (int k = 0; k < rank; k++) size[k] = dims[k] > INT64_MAX ? INT64_MAX : (int64_t)dims[k];
    if (space >= 0) H5Sclose(space);
    return rank;
}

static herr_t visit(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
    char type[40], path[700];
    int64_t size[H5S_MAX_RANK];
    tsr_contents_entry entry = { .kind = "dataset", .name = path, .type = type };
    if (info->type != H5O_TYPE_DATASET) return 0;
    const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    if (dataset < 0) return 0;
    snprintf(path, sizeof path, "/%.600s", name);
    type_name(dataset, type);
    entry.axes = shape_of(dataset, size);
    H5Dclose(dataset);
    tsr_contents_entry first;
    if (tsr_contents_at((const tsr_contents *)user, 0, &first) && !strcmp(first.name, path)) return 0; /* it is there */
    if (!*type || entry.axes < 1 || entry.axes > 8 || !strncmp(path, "/#refs#", 7)) return 0; /* texts and structures; single numbers; MATLAB's own */
    for (int k = 0; k < entry.axes; k++) entry.size[k] = size[k];
    return tsr_contents_add((tsr_contents *)user, &entry) == TSR_OK ? 0 : -1;
}

static tsr_status list_arrays(const hdf5 *h, tsr_contents *contents)
{
    if (H5Ovisit(h->file, H5_INDEX_NAME, H5_ITER_INC, visit, contents) < 0) return fail(h, TSR_ERROR_FORMAT, "the list of arrays");
    return TSR_OK;
}

/* ---- which array ------------------------------------------------------------------------------------------------------------------------------- */

/* Groups "NAME 0", "NAME 1" ... of a folder. */
static int64_t count_numbered(hid_t file, const char *folder, const char *name)
{
    char path[400];
    int64_t n = 0;
    for (; n < 1 << 20; n++) {
        snprintf(path, sizeof path, "%s/%s %lld", folder, name, (long long)n);
        if (H5Lexists(file, path, H5P_DEFAULT) <= 0) break;
    }
    return n;
}

static int64_t chosen(int given, int64_t value) { return given ? value : 0; }

/* Imaris: /DataSet/ResolutionLevel L/TimePoint T/Channel C/Data. */
static tsr_status choose_imaris(hdf5 *h, const tsr_read_options *o, int *found)
{
    char folder[200];
    tsr_axes axes = { 0 };
    *found = H5Lexists(h->file, "/DataSet", H5P_DEFAULT) > 0 && H5Lexists(h->file, "/DataSet/ResolutionLevel 0", H5P_DEFAULT) > 0;
    if (!*found) return TSR_OK;
    const int64_t levels = count_numbered(h->file, "/DataSet", "ResolutionLevel"), level = chosen(o->level_given, o->level);
    if (level < 0 || level >= levels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0 to %lld", tsr_input_name(h->input), (long long)level,
                 (long long)levels - 1);
    snprintf(folder, sizeof folder, "/DataSet/ResolutionLevel %lld", (long long)level);
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, count_numbered(h->file, folder, "TimePoint"), "TimePoint", h->input, o));
    snprintf(folder, sizeof folder, "/DataSet/ResolutionLevel %lld/TimePoint %lld", (long long)level, (long long)axes.pick[0]);
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, count_numbered(h->file, folder, "Channel"), "Channel", h->input, o));
    snprintf(h->path, sizeof h->path, "%s/Channel %lld/Data", folder, (long long)axes.pick[1]);
    memcpy(h->array.parts, axes.parts, sizeof axes.parts);
    return TSR_OK;
}

/* NeXus: @default of the file and of the entry lead to a group whose @signal is the array. */
static int choose_nexus(hdf5 *h)
{
    char path[600] = "", name[100];
    for (int depth = 0; depth < 4; depth++) {
        const hid_t group = H5Gopen2(h->file, *path ? path : "/", H5P_DEFAULT);
        if (group < 0) return 0;
        const int signal = tsr_hdf5_text(group, "signal", name, sizeof name), next = signal || tsr_hdf5_text(group, "default", name, sizeof name);
        H5Gclose(group);
        if (!next || strlen(path) + strlen(name) + 2 > sizeof path) return 0;
        strcat(path, "/");
        strcat(path, name);
        if (signal) {
            memcpy(h->path, path, sizeof h->path);
            return 1;
        }
    }
    return 0;
}

static tsr_status choose_only(hdf5 *h, tsr_contents *contents)
{
    char shown[700];
    int count;
    const char *only = tsr_contents_only(contents, "dataset", &count);
    if (only) snprintf(h->path, sizeof h->path, "%s", only);
    if (only) return TSR_OK;
    if (!count) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the HDF5 file holds no array of numbers", tsr_input_name(h->input));
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %d arrays: %s: options.dataset says which", tsr_input_name(h->input), count,
             tsr_contents_show(contents, "dataset", shown, sizeof shown));
}

static tsr_status choose(hdf5 *h, const tsr_read_options *o)
{
    int found = 0;
    tsr_contents *contents;
    if (o->dataset) {
        snprintf(h->path, sizeof h->path, "%s%.590s", o->dataset[0] == '/' ? "" : "/", o->dataset);
        return TSR_OK;
    }
    TSR_TRY(choose_imaris(h, o, &found));
    if (found || choose_nexus(h)) return TSR_OK;
    TSR_TRY(tsr_contents_create(&contents));
    tsr_status status = list_arrays(h, contents);
    if (status == TSR_OK) status = choose_only(h, contents);
    tsr_contents_destroy(&contents);
    return status;
}

/* ---- type and place ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status element_type(hdf5 *h)
{
    static const tsr_dtype integers[2][4] = { { TSR_U8, TSR_U16, TSR_U32, TSR_U64 }, { TSR_I8, TSR_I16, TSR_I32, TSR_I64 } };
    const hid_t natives[TSR_DTYPE_COUNT] = { H5T_NATIVE_UINT8, H5T_NATIVE_INT8,   H5T_NATIVE_UINT16, H5T_NATIVE_INT16, H5T_NATIVE_UINT32,
                                             H5T_NATIVE_INT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64,  H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE };
    hid_t type = H5Dget_type(h->dataset);
    H5T_class_t kind = H5Tget_class(type);
    const int is_enum = kind == H5T_ENUM;
    if (is_enum) { /* masks of h5py */
        const hid_t super = H5Tget_super(type);
        H5Tclose(type);
        type = super;
        kind = H5Tget_class(type);
    }
    const size_t bytes = H5Tget_size(type);
    const int is_signed = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2 && !(is_enum && bytes == 1);
    int known = 1;
    if ((kind == H5T_INTEGER || kind == H5T_BITFIELD) && bytes <= 8)
        h->array.dtype = integers[is_signed][bytes <= 1 ? 0 : bytes <= 2 ? 1 : bytes <= 4 ? 2 : 3];
    else if (kind == H5T_FLOAT) h->array.dtype = bytes <= 4 ? TSR_F32 : TSR_F64;
    else known = 0;
    H5Tclose(type);
    if (!known)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: HDF5: %s holds structures or texts, expected whole or real numbers", tsr_input_name(h->input), h->path);
    h->type = natives[h->array.dtype];
    if (is_enum) { /* the library converts enumerations to enumerations alone: read as they are */
        type = H5Dget_type(h->dataset);
        h->type = H5Tget_native_type(type, H5T_DIR_DEFAULT);
        H5Tclose(type);
    }
    return TSR_OK;
}

/* Voxels in other files are not read. */
static tsr_status check_place(const hdf5 *h, int *contiguous)
{
    const hid_t plan = H5Dget_create_plist(h->dataset);
    if (plan < 0) return fail(h, TSR_ERROR_FORMAT, "the layout");
    const H5D_layout_t layout = H5Pget_layout(plan);
    const int outside = layout == H5D_CONTIGUOUS && H5Pget_external_count(plan) > 0;
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(plan, H5S_MAX_RANK, chunk) : 0;
    for (int k = 0; k < rank && k < h->array.axes; k++) ((hdf5 *)(uintptr_t)h)->array.chunk[k] = (int64_t)chunk[k];
    *contiguous = layout == H5D_CONTIGUOUS;
    char missing[64] = "";
    int number = 0;
    for (int k = 0, n = H5Pget_nfilters(plan); k < n && !number; k++) {
        unsigned flags, config;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t filter = H5Pget_filter2(plan, (unsigned)k, &flags, &values, NULL, sizeof name, name, &config);
        if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
            number = (int)filter;
            memcpy(missing, name, sizeof missing);
        }
    }
    H5Pclose(plan);
    if (number)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: HDF5: %s is packed by filter %d (%.60s), which is not installed: h5repack -f GZIP=1, or its plugin in HDF5_PLUGIN_PATH",
                 tsr_input_name(h->input), h->path, number, missing);
    if (layout == H5D_VIRTUAL || outside)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: HDF5: the voxels of %s lie in other %s, expected them in the file: h5repack puts them there",
                 tsr_input_name(h->input), h->path, outside ? "files" : "arrays");
    return TSR_OK;
}

/* ---- axes -------------------------------------------------------------------------------------------------------------------------------------- */

/* ilastik: {"axes": [{"key": "z", ...}, ...]}. */
static int roles_of_tags(hdf5 *h)
{
    char text[4000];
    const char *at = text;
    int n = 0;
    if (!tsr_hdf5_text(h->dataset, "axistags", text, sizeof text)) return 0;
    while (n < h->array.axes && (at = strstr(at, "\"key\""))) {
        at = strchr(at + 5, '"');
        if (!at || !(h->array.role[n] = tsr_stored_role(at + 1))) return 0;
        n++;
    }
    return n == h->array.axes;
}

/* Labels of dimension scales, or one text with a letter for each axis. */
static int roles_of_labels(hdf5 *h)
{
    static const char *const names[] = { "axes", "axis_order", "DIMENSION_ORDER" };
    char text[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int good = tsr_hdf5_text(h->dataset, names[i], text, sizeof text) && (int)strlen(text) == h->array.axes;
        for (int k = 0; k < h->array.axes && good; k++) good = (h->array.role[k] = tsr_stored_role((char[2]){ text[k], 0 })) != 0;
        if (good) return 1;
    }
    if (H5Aexists(h->dataset, "DIMENSION_LABELS") <= 0) return 0;
    char *labels[TSR_STORED_AXES] = { 0 };
    const hid_t attribute = H5Aopen(h->dataset, "DIMENSION_LABELS", H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    int good = H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == h->array.axes;
    const hid_t memory = H5Tcopy(type);
    good = good && H5Aread(attribute, memory, labels) >= 0;
    for (int k = 0; k < h->array.axes && good; k++) good = labels[k] && (h->array.role[k] = tsr_stored_role(labels[k])) != 0;
    for (int k = 0; k < TSR_STORED_AXES; k++)
        if (labels[k]) H5free_memory(labels[k]);
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

static int roles_are_apart(const tsr_stored *a)
{
    for (int k = 0; k < a->axes; k++)
        for (int j = 0; j < k; j++)
            if (a->role[j] == a->role[k]) return 0;
    return 1;
}

/* Imaris fills its chunks up; the channel says how large the image is. */
static void crop_imaris(hdf5 *h)
{
    static const char *const names[] = { "ImageSizeZ", "ImageSizeY", "ImageSizeX" };
    char folder[600], text[32];
    double n;
    memcpy(folder, h->path, sizeof folder);
    char *slash = strrchr(folder, '/');
    if (!slash) return;
    *slash = 0;
    const hid_t group = H5Gopen2(h->file, folder, H5P_DEFAULT);
    for (int k = 0; k < 3 && group >= 0; k++)
        if (tsr_hdf5_text(group, names[k], text, sizeof text) && tsr_parse_numbers(text, &n, 1) && n >= 1 && n < (double)h->array.size[k]) {
            h->array.size[k] = (int64_t)n;
            h->cropped = 1;
        }
    if (group >= 0) H5Gclose(group);
}

static tsr_status find_axes(hdf5 *h, const tsr_read_options *options)
{
    int64_t size[H5S_MAX_RANK];
    tsr_stored *a = &h->array;
    a->axes = shape_of(h->dataset, size);
    if (a->axes < 1 || a->axes > TSR_STORED_AXES)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: HDF5: %s has %d axes, expected 1 to %d", tsr_input_name(h->input), h->path, a->axes, TSR_STORED_AXES);
    for (int k = 0; k < a->axes; k++) a->size[k] = size[k];
    if (!strncmp(h->path, "/DataSet/ResolutionLevel ", 25) && a->axes == 3) crop_imaris(h);
    if (h->matlab && a->axes <= 3) { /* A(row, column, slice) lies with the rows fastest */
        static const char *const roles[] = { "", "y", "xy", "zxy" };
        memcpy(a->role, roles[a->axes], (size_t)a->axes);
        return TSR_OK;
    }
    if ((roles_of_tags(h) || roles_of_labels(h)) && roles_are_apart(a)) return TSR_OK;
    TSR_TRY(tsr_stored_guess(a, h->input, h->path, options));
    if (h->matlab) /* A(row, column, slice, frame), or channels before frames */
        memcpy(a->role, a->axes == 5 ? "tczxy" : options->channel_given && !options->frame_given ? "czxy" : "tzxy", (size_t)a->axes);
    return TSR_OK;
}

/* ---- geometry and metadata --------------------------------------------------------------------------------------------------------------------- */

/* Numbers in the order of the array's axes, or of z, y, x, onto x, y, z. */
static int take_lengths(const hdf5 *h, const char *name, double to[3])
{
    double n[TSR_STORED_AXES];
    const int count = tsr_hdf5_numbers(h->dataset, name, n, TSR_STORED_AXES);
    int64_t seen = 0;
    for (int i = 0; i < count; i++)
        if (!isfinite(n[i])) return 0;
    if (count == 1 && n[0] > 0) to[0] = to[1] = to[2] = n[0];
    if (count == 1 || count < 1) return count == 1 && n[0] > 0;
    if (count != h->array.axes && count != 3) return 0;
    for (int k = 0; k < h->array.axes; k++) {
        const char role = h->array.role[k];
        if (role < 'x' || role > 'z') continue;
        const int64_t at = count == h->array.axes ? k : 2 - (role - 'x');
        to[role - 'x'] = n[at];
        seen++;
    }
    return seen > 0;
}

static tsr_status imaris_geometry(hdf5 *h)
{
    double lower[3] = { 0 }, upper[3] = { 0 };
    char name[16], text[64];
    tsr_geometry *g = &h->holder->geometry;
    int good = 1;
    const hid_t group = H5Gopen2(h->file, "/DataSetInfo/Image", H5P_DEFAULT);
    if (group < 0) return H5Eclear2(H5E_DEFAULT), TSR_OK;
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "ExtMin%d", k);
        good &= tsr_hdf5_text(group, name, text, sizeof text) && tsr_parse_numbers(text, &lower[k], 1);
        snprintf(name, sizeof name, "ExtMax%d", k);
        good &= tsr_hdf5_text(group, name, text, sizeof text) && tsr_parse_numbers(text, &upper[k], 1);
    }
    const int unit = tsr_hdf5_text(group, "Unit", text, sizeof text);
    H5Gclose(group);
    for (int k = 0; k < 3 && good; k++)
        for (int j = 0; j < h->array.axes; j++)
            if (h->array.role[j] == "xyz"[k] && upper[k] > lower[k] && isfinite(upper[k] - lower[k])) {
                const double step = (upper[k] - lower[k]) / (double)h->array.size[j];
                g->affine[k][k] = step;
                g->affine[k][3] = lower[k] + step / 2;
            }
    if (unit && *text && tsr_volume_set_unit(h->holder, text) != TSR_OK) TSR_TRY(tsr_volume_set_meta(h->holder, "hdf5.unit", text));
    return TSR_OK;
}

/* Numbers of an array of the file. */
static int read_numbers(const hdf5 *h, const char *path, double *numbers, int most)
{
    int count = 0;
    if (H5Lexists(h->file, path, H5P_DEFAULT) <= 0) return 0;
    const hid_t dataset = H5Dopen2(h->file, path, H5P_DEFAULT), space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    const hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (n > 0 && n <= most && H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0) count = (int)n;
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    for (int i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return 0;
    return count;
}

/* ITK's HDF5ImageIO: /ITKImage/N/VoxelData, beside it Spacing, Origin and Directions, a row for each axis, in LPS. *found: all three were there. */
static tsr_status itk_geometry(hdf5 *h, int *found)
{
    double step[3], origin[3], directions[9];
    char folder[600], path[640];
    const char *end = strrchr(h->path, '/');
    *found = 0;
    if (strncmp(h->path, "/ITKImage/", 10) || !end || strcmp(end, "/VoxelData")) return TSR_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(end - h->path), h->path);
    snprintf(path, sizeof path, "%s/Spacing", folder);
    int good = read_numbers(h, path, step, 3) == 3;
    snprintf(path, sizeof path, "%s/Origin", folder);
    good = good && read_numbers(h, path, origin, 3) == 3;
    snprintf(path, sizeof path, "%s/Directions", folder);
    good = good && read_numbers(h, path, directions, 9) == 9;
    H5Eclear2(H5E_DEFAULT);
    if (!good) return TSR_OK;
    tsr_geometry *g = &h->holder->geometry;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) g->affine[r][k] = directions[3 * k + r] * step[k];
        g->affine[r][3] = origin[r];
    }
    g->space = TSR_SPACE_LPS;
    *found = 1;
    return TSR_OK;
}

/* netCDF's: real value = stored * scale_factor + add_offset. */
static tsr_status take_scaling(const hdf5 *h)
{
    double slope = 1, offset = 0;
    const int scaled = tsr_hdf5_numbers(h->dataset, "scale_factor", &slope, 1), moved = tsr_hdf5_numbers(h->dataset, "add_offset", &offset, 1);
    if ((!scaled && !moved) || !isfinite(slope) || slope == 0 || !isfinite(offset)) return TSR_OK;
    return tsr_volume_set_scaling(h->holder, slope, offset);
}

static herr_t take_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user)
{
    static const char *const own[] = { "spacing",          "unit", "origin",         "element_size_um", "axistags",
                                       "DIMENSION_LABELS", "axes", "DIMENSION_LIST", "scale_factor",    "add_offset" };
    tsr_volume *holder = (tsr_volume *)user;
    char text[60000];
    double n[16];
    (void)info;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(name, own[i])) return 0;
    if (tsr_hdf5_text(object, name, text, sizeof text)) {
        if (!strncmp(name, "meta.", 5) || !strncmp(name, "tessera.", 8)) return tsr_volume_take_note(holder, name, text) == TSR_OK ? 0 : -1;
    } else {
        const int count = tsr_hdf5_numbers(object, name, n, 16);
        size_t used = 0;
        char number[32];
        for (int k = 0; k < count; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? " " : "", tsr_print_double(number, n[k]));
        if (!count) return 0;
    }
    char key[200];
    snprintf(key, sizeof key, "hdf5.%.150s", name);
    return tsr_volume_set_meta(holder, key, text) == TSR_OK ? 0 : -1;
}

static tsr_status find_geometry(hdf5 *h)
{
    static const char *const spacings[] = { "spacing", "element_size_um", "voxel_size", "pixel_size", "resolution" };
    double step[3] = { 1, 1, 1 }, origin[3] = { 0, 0, 0 };
    char unit[64];
    tsr_geometry *g = &h->holder->geometry;
    const int imaris = !strncmp(h->path, "/DataSet/ResolutionLevel ", 25);
    int placed;
    if (imaris) return imaris_geometry(h);
    TSR_TRY(take_scaling(h));
    TSR_TRY(itk_geometry(h, &placed));
    for (size_t i = 0; i < sizeof spacings / sizeof *spacings && !placed; i++)
        if (take_lengths(h, spacings[i], step)) {
            const int micro = !strcmp(spacings[i], "element_size_um");
            if (micro) TSR_TRY(tsr_volume_set_unit(h->holder, "um"));
            break;
        }
    (void)take_lengths(h, "origin", origin);
    if (tsr_hdf5_text(h->dataset, "unit", unit, sizeof unit) && *unit && tsr_volume_set_unit(h->holder, unit) != TSR_OK)
        TSR_TRY(tsr_volume_set_meta(h->holder, "hdf5.unit", unit));
    for (int k = 0; k < 3 && !placed; k++) {
        g->affine[k][k] = step[k] > 0 ? step[k] : 1;
        g->affine[k][3] = origin[k];
    }
    hsize_t at = 0;
    if (H5Aiterate2(h->dataset, H5_INDEX_NAME, H5_ITER_INC, &at, take_attribute, h->holder) < 0) return fail(h, TSR_ERROR_FORMAT, "the attributes");
    return TSR_OK;
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------ */

static int is_dense(const tsr_stored *a, const int64_t *count, const int64_t *stride)
{
    int64_t expected = (int64_t)tsr_dtype_size(a->dtype);
    for (int k = a->axes - 1; k >= 0; expected *= count[k--])
        if (count[k] > 1 && stride[k] != expected) return 0;
    return 1;
}

static tsr_status read_dense(hdf5 *h, const int64_t *start, const int64_t *count, void *to)
{
    hsize_t from[TSR_STORED_AXES], n[TSR_STORED_AXES];
    for (int k = 0; k < h->array.axes; k++) {
        from[k] = (hsize_t)start[k];
        n[k] = (hsize_t)count[k];
    }
    const hid_t space = H5Dget_space(h->dataset), memory = H5Screate_simple(h->array.axes, n, NULL);
    herr_t failed = space < 0 || memory < 0 ? -1 : H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, n, NULL);
    if (failed >= 0) failed = tsr_hdf5_note(H5Dread(h->dataset, h->type, memory, space, H5P_DEFAULT, to));
    if (space >= 0) H5Sclose(space);
    if (memory >= 0) H5Sclose(memory);
    return failed >= 0 ? TSR_OK : fail(h, TSR_ERROR_FORMAT, "the voxels");
}

/* Other orders of the axes through a buffer, a part of the slowest axis at a time. */
static tsr_status read_turned(hdf5 *h, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    enum { BUFFER = 64 << 20 };
    const tsr_stored *a = &h->array;
    const size_t element = tsr_dtype_size(a->dtype);
    int64_t from[TSR_STORED_AXES], n[TSR_STORED_AXES], dense[TSR_STORED_AXES], below = (int64_t)element;
    tsr_status status = TSR_OK;
    for (int k = a->axes - 1; k >= 0; k--) {
        from[k] = start[k];
        n[k] = count[k];
        dense[k] = below;
        below *= count[k];
    }
    int64_t step = tsr_max64(BUFFER / dense[0], 1);
    if (step > a->chunk[0] && a->chunk[0] > 0) step = step / a->chunk[0] * a->chunk[0];
    step = tsr_min64(step, count[0]);
    uint8_t *part = (uint8_t *)malloc((size_t)(step * dense[0]));
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bytes", tsr_input_name(h->input), (long long)(step * dense[0]));
    for (int64_t at = 0; at < count[0] && status == TSR_OK; at += step) {
        from[0] = start[0] + at;
        n[0] = tsr_min64(step, count[0] - at);
        status = read_dense(h, from, n, part);
        if (status == TSR_OK) tsr_stored_copy(a->axes, n, part, dense, to + at * stride[0], stride, element);
    }
    free(part);
    return status;
}

static tsr_status read_array(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    hdf5 *h = (hdf5 *)user;
    tsr_hdf5_lock();
    const tsr_status status = is_dense(&h->array, count, stride) ? read_dense(h, start, count, to) : read_turned(h, start, count, stride, to);
    tsr_hdf5_unlock();
    return status;
}

/* Between lock and unlock. */
static void release(hdf5 *h)
{
    if (h->dataset >= 0) H5Dclose(h->dataset);
    if (h->file >= 0) H5Fclose(h->file);
    tsr_volume_destroy(&h->holder);
    free(h);
}
static void hdf5_close(void *user)
{
    tsr_hdf5_lock();
    release((hdf5 *)user);
    tsr_hdf5_unlock();
}

/* Contiguous voxels whose axes are in order lie in the file as they would in memory. */
static int plain_layout(const hdf5 *h, int contiguous, int64_t *offset, tsr_layout *layout, tsr_axes *axes, const tsr_read_options *options,
                        tsr_status *status)
{
    const tsr_stored *a = &h->array;
    char last = 'w';
    *status = TSR_OK;
    if (!contiguous || options->box_given || h->cropped) return 0;
    for (int k = a->axes - 1; k >= 0; k--) { /* x, y, z in this order, frames and channels anywhere but fastest */
        const char role = a->role[k];
        if (role >= 'x' && role <= 'z' ? role <= last : k == a->axes - 1) return 0;
        if (role >= 'x' && role <= 'z') last = role;
    }
    const haddr_t at = H5Dget_offset(h->dataset);
    const hid_t type = H5Dget_type(h->dataset);
    const H5T_class_t kind = H5Tget_class(type);
    const H5T_order_t order = H5Tget_order(type);
    const int good = at != HADDR_UNDEF && H5Tget_size(type) == tsr_dtype_size(a->dtype) && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
                     (kind == H5T_INTEGER ? H5Tget_precision(type) == 8 * H5Tget_size(type)
                                          : kind == H5T_FLOAT && (H5Tequal(type, order == H5T_ORDER_LE ? H5T_IEEE_F32LE : H5T_IEEE_F32BE) > 0 ||
                                                                  H5Tequal(type, order == H5T_ORDER_LE ? H5T_IEEE_F64LE : H5T_IEEE_F64BE) > 0));
    H5Tclose(type);
    H5Eclear2(H5E_DEFAULT);
    if (!good || at > INT64_MAX) return 0;
    *offset = (int64_t)at;
    *layout = (tsr_layout){ .dtype = a->dtype, .swap = tsr_dtype_size(a->dtype) > 1 && (order == H5T_ORDER_BE) != tsr_host_big_endian() };
    for (int k = a->axes - 1; k >= 0 && *status == TSR_OK; k--) {
        if (a->size[k] < 1) return 0;
        if (a->role[k] >= 'x' && a->role[k] <= 'z') tsr_axes_space(axes, a->size[k]);
        else *status = tsr_axes_part(axes, a->role[k] == 't' ? TSR_PART_FRAME : TSR_PART_CHANNEL, a->size[k], h->path, h->input, options);
    }
    return 1;
}

/* Between lock and unlock. *h is released after a failure. */
static tsr_status open_array(tsr_input *input, const tsr_read_options *options, hdf5 **opened, int *contiguous)
{
    const uint8_t *bytes;
    size_t size;
    tsr_status status;
    *opened = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    hdf5 *h = (hdf5 *)calloc(1, sizeof *h);
    if (!h) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    h->input = input;
    h->dataset = -1;
    h->matlab = size > 128 && !memcmp(bytes, "MATLAB 7.3", 10);
    h->file = tsr_hdf5_open(input);
    if (h->file < 0) {
        status = fail(h, TSR_ERROR_FORMAT, "cannot be opened");
        goto done;
    }
    TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &h->holder), done);
    TSR_TRY_GOTO(choose(h, options), done);
    h->dataset = H5Dopen2(h->file, h->path, H5P_DEFAULT);
    if (h->dataset < 0) {
        char reason[200];
        tsr_hdf5_reason(reason);
        status = TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%s': there is no such array in the file (%s)", tsr_input_name(input),
                            h->path, reason);
        goto done;
    }
    h->array.field = h->path;
    TSR_TRY_GOTO(find_axes(h, options), done);
    TSR_TRY_GOTO(check_place(h, contiguous), done);
    TSR_TRY_GOTO(element_type(h), done);
    TSR_TRY_GOTO(find_geometry(h), done);
    h->array.user = h;
    h->array.read = read_array;
    h->array.close = hdf5_close;
    *opened = h;
    return TSR_OK;
done:
    release(h);
    return status;
}

tsr_status tsr_hdf5_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    hdf5 *h;
    int contiguous = 0;
    int64_t offset;
    tsr_layout layout;
    tsr_axes axes = { 0 };
    tsr_block block;
    tsr_status more;
    *volume = NULL;
    tsr_hdf5_lock();
    tsr_status status = open_array(input, options, &h, &contiguous);
    const int plain = status == TSR_OK && plain_layout(h, contiguous, &offset, &layout, &axes, options, &more);
    tsr_hdf5_unlock();
    TSR_TRY(status);
    tsr_volume *holder = h->holder;
    h->holder = NULL;
    if (plain) {
        status = more;
        if (status == TSR_OK) status = tsr_axes_read(&axes, input, offset, NULL, &layout, &block);
        if (status == TSR_OK) status = tsr_volume_of_block(input, &layout, &holder->geometry, &block, volume);
        for (int k = 0; k < TSR_PARTS && status == TSR_OK; k++) (*volume)->parts[k] = tsr_max64(axes.parts[k], h->array.parts[k]);
        hdf5_close(h);
    } else {
        const tsr_stored array = h->array;
        status = tsr_stored_volume(&array, input, options, &holder->geometry, volume);
    }
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

/* What choose() takes without being told comes first. */
static tsr_status list_all(hdf5 *h, tsr_contents *contents)
{
    char path[200], level[24], type[40] = "";
    int64_t size[H5S_MAX_RANK] = { 0 };
    const int imaris = H5Lexists(h->file, "/DataSet", H5P_DEFAULT) > 0 && H5Lexists(h->file, "/DataSet/ResolutionLevel 0", H5P_DEFAULT) > 0;
    const int64_t levels = imaris ? count_numbered(h->file, "/DataSet", "ResolutionLevel") : 0;
    const int nexus = !imaris && choose_nexus(h);
    for (int64_t k = 0; k < levels + nexus; k++) {
        snprintf(path, sizeof path, "/DataSet/ResolutionLevel %lld/TimePoint 0/Channel 0/Data", (long long)k);
        snprintf(level, sizeof level, "%lld", (long long)k);
        const hid_t dataset = H5Dopen2(h->file, imaris ? path : h->path, H5P_DEFAULT);
        if (dataset < 0) continue;
        tsr_contents_entry e = { .kind = imaris ? "level" : "dataset", .name = imaris ? level : h->path, .type = type_name(dataset, type) };
        e.axes = shape_of(dataset, size);
        H5Dclose(dataset);
        for (int a = 0; a < e.axes && a < 8; a++) e.size[a] = size[a];
        if (e.axes >= 1 && e.axes <= 8) TSR_TRY(tsr_contents_add(contents, &e));
    }
    if (!imaris) TSR_TRY(list_arrays(h, contents));
    if (!imaris && !nexus) tsr_contents_only_first(contents, "dataset");
    return TSR_OK;
}

tsr_status tsr_hdf5_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    hdf5 h = { .input = input, .file = -1 };
    (void)options;
    tsr_hdf5_lock();
    h.file = tsr_hdf5_open(input);
    tsr_status status = h.file < 0 ? fail(&h, TSR_ERROR_FORMAT, "cannot be opened") : list_all(&h, contents);
    if (h.file >= 0) H5Fclose(h.file);
    tsr_hdf5_unlock();
    return status;
}

#endif
