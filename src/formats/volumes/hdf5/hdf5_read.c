/* HDF5, read: which array, what its axes mean, where it lies. Habits that are known: ilastik and ImageJ (element_size_um, axistags), NeXus (default, signal),
 * Imaris (levels, frames and channels in a tree), MATLAB 7.3 (rows and columns the other way round), ITK (geometry beside), netCDF (scaling). */
#include "formats/volumes/hdf5/hdf5.h"

#ifdef TSR_HAVE_HDF5

#include "formats/volumes/hdf5/hdf5_reader.h"
#include "formats/contents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int tsr_hdf5_shape(hid_t dataset, int64_t size[H5S_MAX_RANK])
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
    entry.axes = tsr_hdf5_shape(dataset, size);
    H5Dclose(dataset);
    tsr_contents_entry first;
    if (tsr_contents_at((const tsr_contents *)user, 0, &first) && !strcmp(first.name, path)) return 0; /* it is there */
    if (!*type || entry.axes < 1 || entry.axes > 8 || !strncmp(path, "/#refs#", 7)) return 0; /* texts and structures; single numbers; MATLAB's own */
    for (int k = 0; k < entry.axes; k++) entry.size[k] = size[k];
    return tsr_contents_add((tsr_contents *)user, &entry) == TSR_OK ? 0 : -1;
}

static tsr_status list_arrays(const hdf5 *h, tsr_contents *contents)
{
    if (H5Ovisit(h->file, H5_INDEX_NAME, H5_ITER_INC, visit, contents) < 0) return tsr_hdf5_fail(h, TSR_ERROR_FORMAT, "the list of arrays");
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
    if (!o->dataset) TSR_TRY(choose_imaris(h, o, &found));
    if (!found && o->level_given && o->level)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0: the array is no pyramid", tsr_input_name(h->input), (long long)o->level);
    const int minc = H5Lexists(h->file, "/minc-2.0", H5P_DEFAULT) > 0; /* numbers per slice that scale it, and places, lie in arrays beside */
    if (minc && !o->dataset)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is a MINC 2 file, expected NIfTI, which mnc2nii or nibabel make of it: options.dataset takes an array of it, numbers as stored", tsr_input_name(h->input));
    if (minc) tsr_remark("%s: a MINC 2 file: the numbers are those stored, without its scaling and its place in the world", tsr_input_name(h->input));
    if (o->dataset) {
        snprintf(h->path, sizeof h->path, "%s%.590s", o->dataset[0] == '/' ? "" : "/", o->dataset);
        return TSR_OK;
    }
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
    if (plan < 0) return tsr_hdf5_fail(h, TSR_ERROR_FORMAT, "the layout");
    const H5D_layout_t layout = H5Pget_layout(plan);
    const int outside = layout == H5D_CONTIGUOUS && H5Pget_external_count(plan) > 0;
    hsize_t chunk[H5S_MAX_RANK];
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(plan, H5S_MAX_RANK, chunk) : 0;
    for (int k = 0; k < rank && k < h->array.axes; k++) ((hdf5 *)(uintptr_t)h)->array.chunk[k] = (int64_t)chunk[k];
    const hid_t type = H5Dget_type(h->dataset);
    size_t bytes = rank > 0 && type >= 0 ? H5Tget_size(type) : 0;
    for (int k = 0; k < rank; k++)
        if (__builtin_mul_overflow(bytes, (size_t)chunk[k], &bytes)) bytes = SIZE_MAX;
    ((hdf5 *)(uintptr_t)h)->chunk_bytes = bytes;
    if (type >= 0) H5Tclose(type);
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
    return failed >= 0 ? TSR_OK : tsr_hdf5_fail(h, TSR_ERROR_FORMAT, "the voxels");
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
    tsr_hdf5_expect(h->chunk_bytes);
    const tsr_status status = is_dense(&h->array, count, stride) ? read_dense(h, start, count, to) : read_turned(h, start, count, stride, to);
    tsr_hdf5_expect(0);
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
        status = tsr_hdf5_fail(h, TSR_ERROR_FORMAT, "cannot be opened");
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
    TSR_TRY_GOTO(tsr_hdf5_axes(h, options), done);
    TSR_TRY_GOTO(check_place(h, contiguous), done);
    TSR_TRY_GOTO(element_type(h), done);
    TSR_TRY_GOTO(tsr_hdf5_geometry(h), done);
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
        axes.trailer = 1;
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
        e.axes = tsr_hdf5_shape(dataset, size);
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
    tsr_status status = h.file < 0 ? tsr_hdf5_fail(&h, TSR_ERROR_FORMAT, "cannot be opened") : list_all(&h, contents);
    if (h.file >= 0) H5Fclose(h.file);
    tsr_hdf5_unlock();
    return status;
}

#endif
