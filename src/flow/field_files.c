/* flow/field_files.c: vector fields out of and into files. */
#include <stdio.h>

#include "flow/vtk_image.h"
#include "volume/voxel.h"
#include "io/text.h"
#include "formats/volume_files.h"
#include "formats/vtk_xml.h"
#include "tessera/field.h"

static void free_all(tsr_volume *components[3])
{
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
}

/* Component `k` of a file whose channels (or, of arrays with the components first, frames) are the components. */
static tsr_status read_part(const char *path, const tsr_read_options *options, int by_frame, int k, tsr_volume **volume, int64_t *parts)
{
    tsr_read_options own = *options;
    int64_t frames, layers, channels;
    if (by_frame) own.frame = k, own.frame_given = 1;
    else own.channel = k, own.channel_given = 1;
    TSR_TRY(tsr_volume_read(path, &own, volume));
    tsr_volume_parts(*volume, &frames, &layers, &channels);
    *parts = by_frame ? frames : channels;
    return TSR_OK;
}

static tsr_status read_one(const char *path, const tsr_read_options *options, tsr_volume *components[3])
{
    tsr_input *input = NULL;
    tsr_status status;
    const tsr_input_options settings = { .memory_limit = options->memory_limit, .progress = &options->progress };
    if (!options->format || !strcmp(options->format, "vtk")) {
        TSR_TRY(tsr_input_open(path, &settings, &input));
        const int vtk = tsr_vtk_image_is(input);
        if (vtk && (options->dataset || options->box_given || (options->frame_given && options->frame) || (options->series_given && options->series) ||
                    (options->level_given && options->level))) {
            tsr_input_close(&input);
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.%s is given: of VTK's legacy images the first array of vectors is read, as a whole", path,
                     options->dataset ? "dataset" : options->box_given ? "box" : options->frame_given && options->frame ? "frame" : options->series_given && options->series ? "series" : "level");
        }
        status = vtk ? tsr_vtk_image_read(input, &options->progress, components) : TSR_OK;
        tsr_input_close(&input);
        TSR_TRY(status);
        if (vtk) return TSR_OK;
    }
    if (options->channel_given) TSR_FAIL(TSR_ERROR_ARGUMENT, "a channel was chosen: a vector field takes all three");
    int64_t parts = 0;
    int by_frame = 0;
    char why[512]; /* the message of the first try: that of the second says what the file is not */
    status = read_part(path, options, 0, 0, &components[0], &parts);
    if (status != TSR_OK) snprintf(why, sizeof why, "%s", tsr_error_message());
    if (status == TSR_ERROR_IO || status == TSR_ERROR_MEMORY || status == TSR_ERROR_CANCELLED || status == TSR_ERROR_ARGUMENT) TSR_TRY(status);
    if (status != TSR_OK || parts != 3) { /* the components first, as in an array of shape 3, z, y, x */
        int64_t frames = 0;
        tsr_volume *first = NULL;
        if (!options->frame_given && read_part(path, options, 1, 0, &first, &frames) == TSR_OK && frames == 3) {
            tsr_volume_destroy(&components[0]);
            components[0] = first;
            by_frame = 1;
            parts = 3;
            status = TSR_OK;
        } else tsr_volume_destroy(&first);
    }
    if (status == TSR_ERROR_FORMAT) TSR_FAIL(status, "%s", why);
    if (status != TSR_OK || parts != 3) {
        tsr_volume_destroy(&components[0]);
        if (status != TSR_OK || parts < 2)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: one number at each voxel, expected vectors of three (a last axis of 3 in a .npy file, a vector axis in NRRD), or "
                                       "three files of one number each",
                     path);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld numbers at each voxel, expected vectors of three", path, (long long)parts);
    }
    for (int k = 1; k < 3; k++) TSR_TRY_GOTO(read_part(path, options, by_frame, k, &components[k], &parts), fail);
    return TSR_OK;
fail:
    free_all(components);
    return status;
}

tsr_status tsr_field_read(const char *const *paths, int32_t count, const tsr_read_options *options, tsr_volume *components[3])
{
    TSR_NEEDS(components);
    tsr_read_options own;
    tsr_status status;
    components[0] = components[1] = components[2] = NULL;
    if (!paths || (count != 1 && count != 3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%d files, expected one with vectors or three with a component each", count);
    for (int32_t k = 0; k < count; k++)
        if (!paths[k]) TSR_FAIL(TSR_ERROR_ARGUMENT, "path %d is NULL", k);
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    own.struct_size = sizeof own;
    if (count == 1) {
        status = read_one(paths[0], &own, components);
        if (status != TSR_OK) free_all(components);
        TSR_TRY(status);
        return TSR_OK;
    }
    for (int k = 0; k < 3; k++) TSR_TRY_GOTO(tsr_volume_read(paths[k], &own, &components[k]), fail);
    return TSR_OK;
fail:
    free_all(components);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_nrrd_header(tsr_output *out, const tsr_volume *v, int packed)
{
    char number[12][32];
    for (int k = 0; k < 12; k++) tsr_print_double(number[k], v->geometry.affine[k % 3][k / 3]);
    TSR_TRY(tsr_output_printf(out, "NRRD0005\ntype: float\ndimension: 4\n%s\nsizes: 3 %lld %lld %lld\nkinds: vector domain domain domain\nendian: %s\n",
                              v->geometry.space == TSR_SPACE_RAS   ? "space: right-anterior-superior"
                              : v->geometry.space == TSR_SPACE_LPS ? "space: left-posterior-superior"
                                                                   : "space dimension: 3",
                              (long long)v->size.x, (long long)v->size.y, (long long)v->size.z, tsr_host_big_endian() ? "big" : "little"));
    TSR_TRY(tsr_output_printf(out, "space directions: none (%s,%s,%s) (%s,%s,%s) (%s,%s,%s)\nspace origin: (%s,%s,%s)\nencoding: %s\n\n", number[0], number[1],
                              number[2], number[3], number[4], number[5], number[6], number[7], number[8], number[9], number[10], number[11],
                              packed ? "gzip" : "raw"));
    return TSR_OK;
}

static tsr_status write_npy_header(tsr_output *out, const tsr_volume *v)
{
    char text[256];
    const int length = snprintf(text, sizeof text, "{'descr': '%cf4', 'fortran_order': False, 'shape': (%lld, %lld, %lld, 3), }", tsr_host_big_endian() ? '>' : '<',
                                (long long)v->size.z, (long long)v->size.y, (long long)v->size.x);
    const int padded = (length + 1 + 10 + 63) / 64 * 64 - 10;
    const uint8_t head[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(padded & 255), (uint8_t)(padded >> 8) };
    TSR_TRY(tsr_output_write(out, head, sizeof head));
    TSR_TRY(tsr_output_printf(out, "%s%*s\n", text, padded - length - 1, ""));
    return TSR_OK;
}

static tsr_status write_vtk_header(tsr_output *out, const tsr_volume *v)
{
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    char n[6][32];
    const double numbers[6] = { v->geometry.affine[0][3], v->geometry.affine[1][3], v->geometry.affine[2][3], h.x, h.y, h.z };
    for (int k = 0; k < 6; k++) tsr_print_double(n[k], numbers[k]);
    TSR_TRY(tsr_output_printf(out, "# vtk DataFile Version 3.0\nvector field\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS %lld %lld %lld\n"
                                   "ORIGIN %s %s %s\nSPACING %s %s %s\nPOINT_DATA %lld\nVECTORS velocity float\n",
                              (long long)v->size.x, (long long)v->size.y, (long long)v->size.z, n[0], n[1], n[2], n[3], n[4], n[5],
                              (long long)tsr_volume_count(v)));
    return TSR_OK;
}

static tsr_status write_vectors(tsr_output *out, const tsr_volume *const c[3], int swap, const tsr_progress *progress)
{
    enum { PIECE = 4096 };
    float piece[PIECE][3];
    const int64_t count = tsr_volume_count(c[0]);
    for (int64_t first = 0; first < count; first += PIECE) {
        const int64_t n = tsr_min64(PIECE, count - first);
        if (first % (256 * PIECE) == 0) TSR_PROGRESS(progress, (double)first / (double)count, "writing the field");
        for (int k = 0; k < 3; k++)
            for (int64_t i = 0; i < n; i++)
                piece[i][k] = (float)tsr_voxel_real(tsr_voxel_load(c[k]->data, c[k]->dtype, first + i), c[k]->slope, c[k]->intercept);
        TSR_TRY(tsr_output_elements(out, piece, 3 * n, 4, swap));
    }
    return TSR_OK;
}

static tsr_status write_vti(tsr_output *out, const tsr_volume *const c[3], const tsr_write_options *o)
{
    const tsr_write_options raw = TSR_WRITE_OPTIONS;
    const uint64_t bytes = (uint64_t)tsr_volume_count(c[0]) * 12;
    TSR_TRY(tsr_vti_begin(out, &c[0]->geometry, c[0]->size, TSR_F32, 3, &raw, "velocity"));
    TSR_TRY(tsr_vti_append(out, 1));
    TSR_TRY(tsr_output_write(out, &bytes, sizeof bytes));
    TSR_TRY(write_vectors(out, c, 0, &o->progress));
    return tsr_vti_end(out, 1);
}

static tsr_status write_all(tsr_output *out, const tsr_volume *const c[3], int vtk, int npy, const tsr_write_options *o)
{
    const int packed = !vtk && !npy && o->compression > 0;
    if (vtk) TSR_TRY(write_vtk_header(out, c[0]));
    else if (npy) TSR_TRY(write_npy_header(out, c[0]));
    else TSR_TRY(write_nrrd_header(out, c[0], packed));
    if (packed) TSR_TRY(tsr_output_deflate_begin(out, TSR_WRAPPER_GZIP, o->compression));
    TSR_TRY(write_vectors(out, c, vtk && !tsr_host_big_endian(), &o->progress));
    int64_t bytes;
    if (packed) TSR_TRY(tsr_output_deflate_end(out, &bytes));
    if (vtk) TSR_TRY(tsr_output_write(out, "\n", 1));
    return TSR_OK;
}

tsr_status tsr_field_write(const tsr_volume *const components[3], const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(components, path);
    tsr_write_options own;
    tsr_output *out = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    for (int k = 0; k < 3; k++) {
        const tsr_volume *v = components[k];
        if (!v) TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c is NULL", "xyz"[k]);
        if (v->context && v->context->device.kind != TSR_DEVICE_CPU) TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c lives on a device, expected host memory", "xyz"[k]);
        if (v->size.x != components[0]->size.x || v->size.y != components[0]->size.y || v->size.z != components[0]->size.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "component %c has other extents than x", "xyz"[k]);
    }
    const char *format = own.format ? own.format
                         : tsr_path_has_extension(path, ".vtk") ? "vtk"
                         : tsr_path_has_extension(path, ".vti") ? "vti"
                         : tsr_path_has_extension(path, ".npy") ? "npy"
                         : tsr_path_has_extension(path, ".nrrd") ? "nrrd"
                                                                  : "";
    const int vtk = !strcmp(format, "vtk"), npy = !strcmp(format, "npy"), vti = !strcmp(format, "vti");
    if (!vtk && !npy && !vti && strcmp(format, "nrrd"))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: vector fields are written as nrrd, npy, vtk or vti, by extension or format", path);
    TSR_TRY(tsr_output_open(path, &own, &out));
    TSR_TRY(tsr_output_finish(&out, vti ? write_vti(out, components, &own) : write_all(out, components, vtk, npy, &own)));
    return TSR_OK;
}
