/* formats/images/colmap_map.c: depth and normal maps of COLMAP's dense stage: "width&height&channels&", then float32, little endian, x fastest, then y, then channels. */
#include <string.h>

#include "formats/volume_files.h"

/* The header's numbers and its length; 0: it is none. */
static int parse(const uint8_t *head, size_t size, int64_t number[3], size_t *length)
{
    size_t at = 0;
    for (int k = 0; k < 3; k++) {
        int digits = 0;
        number[k] = 0;
        while (at < size && head[at] >= '0' && head[at] <= '9' && digits < 9) {
            number[k] = 10 * number[k] + (head[at++] - '0');
            digits++;
        }
        if (!digits || at >= size || head[at] != '&') return 0;
        at++;
    }
    *length = at;
    return number[0] > 0 && number[1] > 0 && number[2] > 0;
}

static int recognise(const tsr_signature *s)
{
    int64_t number[3];
    size_t length;
    return parse(s->head, s->head_bytes, number, &length) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *bytes;
    size_t size, length;
    int64_t n[3], all;
    tsr_block block = { NULL, NULL, NULL };
    (void)options;
    TSR_TRY(tsr_input_head(input, 64, &bytes, &size));
    if (!parse(bytes, size, n, &length))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no COLMAP map, expected width&height&channels& at its start", tsr_input_name(input));
    const tsr_layout layout = { .dtype = TSR_F32, .size = { n[0], n[1], n[2] }, .swap = tsr_host_big_endian(), .packed = -1 };
    TSR_TRY(tsr_voxel_bytes(input, TSR_F32, layout.size, &all));
    TSR_TRY(tsr_input_check(input, (int64_t)length, all, "voxels"));
    if (tsr_input_size(input) >= 0 && tsr_input_size(input) - (int64_t)length > all)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes behind the map, expected none", tsr_input_name(input),
                 (long long)(tsr_input_size(input) - (int64_t)length - all));
    TSR_TRY(tsr_layout_read(input, (int64_t)length, &layout, &block));
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "a COLMAP map"));
    if (volume->dtype != TSR_F32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s, expected f32 in a COLMAP map (convert --dtype f32)", path, tsr_dtype_name(volume->dtype));
    TSR_TRY(tsr_output_open(path, options, &out));
    tsr_output_printf(out, "%lld&%lld&%lld&", (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z);
    return tsr_output_finish(&out, tsr_output_voxels(out, volume, tsr_host_big_endian()));
}

const tsr_format tsr_format_colmap_map = { .name = "colmap-map",
                                           .kind = TSR_FILE_VOLUME,
                                           .extensions = { ".geometric.bin", ".photometric.bin" },
                                           .recognise = recognise,
                                           .read_volume = read_volume,
                                           .write_volume = write_volume };
