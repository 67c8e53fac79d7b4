/* HDF5, written: the array /data as it lies in memory or, packed, in chunks (shuffled and deflated) that all threads pack; spacing, origin and unit as attributes. */
#include "formats/volumes/hdf5/hdf5.h"

#ifdef TSR_HAVE_HDF5

#include "formats/volumes/chunks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct writer {
    const tsr_volume *volume;
    const char *path;
    hid_t file, dataset;
    int level, big_endian;
    size_t element;
} writer;

static tsr_status fail(const writer *w, const char *what)
{
    char reason[200];
    tsr_hdf5_reason(reason);
    TSR_FAIL(TSR_ERROR_IO, "%s: HDF5: %s cannot be written: %s", w->path, what, reason);
}

static tsr_status put_numbers(const writer *w, const char *name, const double *numbers, hsize_t count)
{
    const hid_t space = H5Screate_simple(1, &count, NULL), attribute = H5Acreate2(w->dataset, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t failed = tsr_hdf5_note(attribute < 0 ? -1 : H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers));
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return failed < 0 ? fail(w, name) : TSR_OK;
}

static tsr_status put_text(void *user, const char *name, const char *text)
{
    const writer *w = (const writer *)user;
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t attribute = H5Acreate2(w->dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t failed = tsr_hdf5_note(attribute < 0 ? -1 : H5Awrite(attribute, type, text));
    if (attribute >= 0) H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    return failed < 0 ? fail(w, name) : TSR_OK;
}

static tsr_status put_attributes(writer *w)
{
    const tsr_volume *v = w->volume;
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    const double step[3] = { h.z, h.y, h.x }, origin[3] = { v->geometry.affine[2][3], v->geometry.affine[1][3], v->geometry.affine[0][3] };
    const char *unit = tsr_stored_unit(v);
    const double micro = 1000 * (tsr_volume_unit(v) > 0 ? tsr_volume_unit(v) : 1), element[3] = { micro * h.z, micro * h.y, micro * h.x };
    TSR_TRY(put_numbers(w, "spacing", step, 3));
    TSR_TRY(put_numbers(w, "origin", origin, 3));
    if (unit) TSR_TRY(put_text(w, "unit", unit));
    if (unit) TSR_TRY(put_numbers(w, "element_size_um", element, 3)); /* ImageJ's and ilastik's */
    TSR_TRY(put_text(w, "axes", "zyx"));
    TSR_TRY(tsr_volume_notes(v, put_text, w));
    return TSR_OK;
}

static size_t pack(void *user, uint8_t *plain, size_t bytes, uint8_t *packed, size_t room)
{
    const writer *w = (const writer *)user;
    uint8_t *turned = (uint8_t *)malloc(bytes);
    uLongf size = (uLongf)room;
    if (!turned) return 0;
    if (w->big_endian != tsr_host_big_endian()) tsr_swap_elements(plain, (int64_t)(bytes / w->element), w->element);
    if (w->element > 1) tsr_bytes_shuffle(plain, bytes, w->element, turned);
    const int good = compress2(packed, &size, w->element > 1 ? turned : plain, (uLong)bytes, w->level) == Z_OK;
    free(turned);
    return good ? (size_t)size : 0;
}

static tsr_status put(void *user, const int64_t index[3], const uint8_t *packed, size_t bytes)
{
    const writer *w = (const writer *)user;
    int64_t chunk[3];
    tsr_chunks_plan(w->volume->size, w->element, chunk);
    const hsize_t at[3] = { (hsize_t)(index[2] * chunk[2]), (hsize_t)(index[1] * chunk[1]), (hsize_t)(index[0] * chunk[0]) };
    if (H5Dwrite_chunk(w->dataset, H5P_DEFAULT, 0, at, bytes, packed) < 0) return fail(w, "a chunk");
    return TSR_OK;
}

/* As it lies in memory, a few megabytes at a time. */
static tsr_status write_plain(writer *w, hid_t native, const tsr_progress *progress)
{
    enum { STEP = 16 << 20 };
    const tsr_size3 n = w->volume->size;
    const int64_t row = n.x * (int64_t)w->element, rows = tsr_max64(1, tsr_min64(STEP / row, n.y)), all = n.z * n.y;
    tsr_status status = TSR_OK;
    uint8_t *part = w->volume->feed ? (uint8_t *)malloc((size_t)(rows * row)) : NULL;
    if (w->volume->feed && !part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for rows", w->path);
    for (int64_t at = 0; at < all && status == TSR_OK;) {
        const int64_t y = at % n.y, count = tsr_min64(rows, n.y - y);
        const uint8_t *voxels;
        const hsize_t start[3] = { (hsize_t)(at / n.y), (hsize_t)y, 0 }, size[3] = { 1, (hsize_t)count, (hsize_t)n.x };
        status = tsr_volume_part(w->volume, at * n.x, count * n.x, part, &voxels);
        if (status != TSR_OK) break;
        const hid_t space = H5Dget_space(w->dataset), memory = H5Screate_simple(3, size, NULL);
        herr_t failed = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL);
        if (failed >= 0) failed = tsr_hdf5_note(H5Dwrite(w->dataset, native, memory, space, H5P_DEFAULT, voxels));
        H5Sclose(memory);
        H5Sclose(space);
        if (failed < 0) status = fail(w, "the array");
        at += count;
        if (status == TSR_OK && tsr_progress_report(progress, (double)at / (double)all, "writing"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during writing");
    }
    free(part);
    return status;
}

static tsr_status write_array(writer *w, const tsr_write_options *options)
{
    const hid_t natives[TSR_DTYPE_COUNT] = { H5T_NATIVE_UINT8, H5T_NATIVE_INT8,   H5T_NATIVE_UINT16, H5T_NATIVE_INT16, H5T_NATIVE_UINT32,
                                             H5T_NATIVE_INT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64,  H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE };
    const tsr_volume *v = w->volume;
    const hsize_t size[3] = { (hsize_t)v->size.z, (hsize_t)v->size.y, (hsize_t)v->size.x };
    int64_t chunk[3];
    tsr_chunks_plan(v->size, w->element, chunk);
    const hsize_t box[3] = { (hsize_t)chunk[2], (hsize_t)chunk[1], (hsize_t)chunk[0] };
    const hid_t space = H5Screate_simple(3, size, NULL), plan = H5Pcreate(H5P_DATASET_CREATE), type = H5Tcopy(natives[v->dtype]);
    H5Tset_order(type, w->big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
    H5Pset_attr_phase_change(plan, 0, 0); /* long texts, too */
    if (w->level) {
        H5Pset_chunk(plan, 3, box);
        if (w->element > 1) H5Pset_shuffle(plan);
        H5Pset_deflate(plan, (unsigned)w->level);
    }
    w->dataset = H5Dcreate2(w->file, "/data", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    tsr_hdf5_note(w->dataset < 0 ? -1 : 0);
    H5Tclose(type);
    H5Pclose(plan);
    H5Sclose(space);
    if (w->dataset < 0) return fail(w, "the array /data");
    const size_t bytes = (size_t)(chunk[0] * chunk[1] * chunk[2]) * w->element;
    const tsr_chunker chunker = { .volume = v,
                                  .path = w->path,
                                  .progress = &options->progress,
                                  .size = { v->size.x, v->size.y, v->size.z },
                                  .chunk = { chunk[0], chunk[1], chunk[2] },
                                  .room = compressBound((uLong)bytes),
                                  .pack = pack,
                                  .put = put,
                                  .user = w };
    TSR_TRY(w->level ? tsr_chunks_write(&chunker) : write_plain(w, natives[v->dtype], &options->progress));
    return put_attributes(w);
}

/* Between lock and unlock. */
static tsr_status write_place(writer *w, const char *place, const tsr_write_options *options)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    w->file = H5Fcreate(place, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    tsr_hdf5_note(w->file < 0 ? -1 : 0);
    H5Pclose(access);
    if (w->file < 0) return fail(w, "the file");
    tsr_status status = write_array(w, options);
    if (w->dataset >= 0 && H5Dclose(w->dataset) < 0 && status == TSR_OK) status = fail(w, "the array");
    if (H5Fclose(w->file) < 0 && status == TSR_OK) status = fail(w, "the file");
    return status;
}

tsr_status tsr_hdf5_write(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    writer w = { .volume = volume, .path = path, .file = -1, .dataset = -1, .element = tsr_dtype_size(volume->dtype) };
    tsr_output *file;
    w.level = options->compression > 0 ? options->compression : 0;
    w.big_endian = options->big_endian != 0;
    if (tsr_path_has_extension(path, ".gz"))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: an HDF5 file packs its voxels itself: leave out .gz, give a compression", path);
    TSR_TRY(tsr_output_open_named(path, options, &file)); /* the library opens it by its name */
    const char *place = tsr_output_temporary(file);
    tsr_status status = TSR_ERROR_UNSUPPORTED;
    if (!place) status = TSR_FAILED(status, "%s: an HDF5 file is written to and fro, expected a plain file, not a pipe", path);
    else {
        tsr_hdf5_lock();
        status = write_place(&w, place, options);
        tsr_hdf5_unlock();
    }
    return tsr_output_finish(&file, status);
}

#endif
