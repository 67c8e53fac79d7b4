/* Grids that join those of a file, and segments: tessera/grid_file.h. */
#include "tessera/grid_file.h"

#include "formats/dicom/dicom.h"
#include "formats/format.h"
#include "formats/volume_files.h"

static tsr_status require_host(const tsr_volume *volume, const char *path)
{
    const tsr_device device = tsr_volume_device(volume);
    if (device.kind == TSR_DEVICE_CPU) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the volume lives on %s:%d; copy it to the host with tsr_volume_copy first", path,
             tsr_device_kind_name(device.kind), device.index);
}

tsr_status tsr_volume_add_grid(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(volume, path);
    tsr_write_options own;
    const tsr_format *format = NULL;
    tsr_volume *parts[TSR_FIT_PARTS];
    const tsr_volume *fit;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(require_host(volume, path));
    if (!own.format) own.format = tsr_path_has_extension(path, ".vdb") ? "vdb-fog" : tsr_path_has_extension(path, ".nvdb") ? "nvdb-fog" : NULL;
    if (own.format) format = tsr_format_find(own.format);
    if (!format || !format->add_volume) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: holds no named grids, expected a .vdb or .nvdb file", path);
    TSR_TRY(tsr_volume_for_format(volume, format, own.stored_values, parts, &fit));
    const tsr_status status = format->add_volume(fit, path, &own);
    tsr_fit_parts_destroy(parts);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_tiles_add_grid(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    TSR_NEEDS(tiles, path);
    tsr_tiles_write_options own;
    const tsr_format *format;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_TILES, &format));
    if (!format->add_tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: grids join those of an .nvdb file here, not of a %s file", path, format->name);
    TSR_TRY(format->add_tiles(tiles, path, &own));
    return TSR_OK;
}

tsr_status tsr_volume_write_segments(const tsr_volume *labels, const char *source, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(labels, source, path);
    static const tsr_format held = { .name = "dicom", .kind = TSR_FILE_VOLUME, .types = 1u << TSR_U8 | 1u << TSR_U16 };
    tsr_write_options own;
    tsr_volume *parts[TSR_FIT_PARTS];
    const tsr_volume *fit;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(require_host(labels, path));
    TSR_TRY(tsr_volume_for_format(labels, &held, 0, parts, &fit));
    const tsr_status status = tsr_dicom_write_labels(fit, source, path, &own);
    tsr_fit_parts_destroy(parts);
    TSR_TRY(status);
    return TSR_OK;
}
