/* HDF5, read: what the axes of an array mean, geometry and metadata, as the programs of microscopes and simulations write them. */
#include "formats/volumes/hdf5/hdf5.h"

#ifdef TSR_HAVE_HDF5

#include "formats/volumes/hdf5/hdf5_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tsr_status tsr_hdf5_fail(const hdf5 *h, tsr_status status, const char *what)
{
    char reason[200];
    tsr_hdf5_reason(reason);
    TSR_FAIL(status, "%s: HDF5: %s%s%s: %s", tsr_input_name(h->input), what, *h->path ? " of " : "", h->path, reason);
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

tsr_status tsr_hdf5_axes(hdf5 *h, const tsr_read_options *options)
{
    int64_t size[H5S_MAX_RANK];
    tsr_stored *a = &h->array;
    a->axes = tsr_hdf5_shape(h->dataset, size);
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

tsr_status tsr_hdf5_geometry(hdf5 *h)
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
    if (H5Aiterate2(h->dataset, H5_INDEX_NAME, H5_ITER_INC, &at, take_attribute, h->holder) < 0) return tsr_hdf5_fail(h, TSR_ERROR_FORMAT, "the attributes");
    return TSR_OK;
}

#endif
