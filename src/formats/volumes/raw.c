/* Raw voxels: nothing in the file says what they are, so the caller does. Writing keeps the voxels only, no geometry. */
#include "formats/volume_files.h"

#include <math.h>

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_vec3 h = options->raw_spacing;
    tsr_layout layout = { .dtype = options->raw_dtype, .size = options->raw_shape };
    tsr_block block;
    if (layout.size.x < 1 || layout.size.y < 1 || layout.size.z < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: raw voxels need raw_shape (--raw-shape), got %lld x %lld x %lld, expected positive numbers",
                 tsr_input_name(input), (long long)layout.size.x, (long long)layout.size.y, (long long)layout.size.z);
    if (!tsr_dtype_size(layout.dtype))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: raw_dtype (--raw-dtype) is %d, expected an element type", tsr_input_name(input), (int)layout.dtype);
    if (options->raw_offset < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: raw_offset is %lld, expected 0 or more bytes", tsr_input_name(input), (long long)options->raw_offset);
    if (h.x == 0 && h.y == 0 && h.z == 0) h = (tsr_vec3){ 1, 1, 1 };
    if (!(h.x > 0 && h.y > 0 && h.z > 0) || !isfinite(h.x) || !isfinite(h.y) || !isfinite(h.z))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: raw_spacing (--raw-spacing) is %g x %g x %g, expected positive numbers", tsr_input_name(input), h.x, h.y,
                 h.z);
    layout.swap = !!options->raw_big_endian != tsr_host_big_endian();
    tsr_geometry geometry = tsr_geometry_make(h, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    TSR_TRY(tsr_layout_read(input, options->raw_offset, &layout, &block));
    tsr_layout_remark_rest(input, options->raw_offset, &layout, layout.size.x * layout.size.y * layout.size.z * (int64_t)tsr_dtype_size(layout.dtype),
                           "--raw-shape");
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "a raw file"));
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, tsr_output_voxels(out, volume, !!options->big_endian != tsr_host_big_endian()));
}

const tsr_format tsr_format_raw = { .name = "raw",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".raw" },
                                    .place = TSR_PLACE_NONE,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
