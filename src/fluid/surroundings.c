/* fluid/surroundings.c: panoramas from Radiance files. */
#include "formats/radiance.h"
#include "tessera/fluid.h"

tsr_status tsr_panorama_read(const char *path, const tsr_read_options *options, float **rgb, int32_t *width, int32_t *height)
{
    tsr_read_options read = { 0 };
    tsr_input *input = NULL;
    if (!rgb || !width || !height) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !rgb ? "rgb" : !width ? "width" : "height");
    *rgb = NULL;
    if (!path) TSR_FAIL(TSR_ERROR_ARGUMENT, "path is NULL");
    TSR_TRY(tsr_options_take(&read, sizeof read, options, "tsr_read_options"));
    const tsr_input_options settings = { .memory_limit = read.memory_limit, .progress = &read.progress, .same_folder = read.same_folder };
    TSR_TRY(tsr_input_open(path, &settings, &input));
    const tsr_status status = tsr_radiance_read(input, rgb, width, height);
    tsr_input_close(&input);
    if (status != TSR_OK) return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    return TSR_OK;
}
