/* light/panorama.c: surroundings from a file: Radiance's RGBE pictures, and ordinary images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/radiance.h"
#include "light/panorama.h"

enum { MOST = 16384 };

tsr_status tsr_panorama_parse(const uint8_t *bytes, size_t size, const char *name, tsr_volume **map)
{
    const tsr_input_options settings = { .memory_limit = (int64_t)1 << 31 };
    tsr_input *input = NULL;
    float *rgb = NULL;
    int32_t width = 0, height = 0;
    *map = NULL;
    TSR_TRY(tsr_input_memory(bytes, size, name, &settings, &input));
    tsr_status status = tsr_radiance_read(input, &rgb, &width, &height);
    tsr_input_close(&input);
    if (status == TSR_OK && (width < 2 || height < 2 || width > MOST || height > MOST))
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: %d x %d pixels, expected 2 to %d each way", name, width, height, MOST);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ width, height, 3 }, NULL, map);
    if (status == TSR_OK) status = tsr_volume_set_channels(*map);
    const int64_t count = (int64_t)width * height;
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        for (int k = 0; k < 3; k++) ((float *)tsr_volume_data(*map))[k * count + i] = rgb[3 * i + k];
    free(rgb);
    if (status != TSR_OK) tsr_volume_destroy(map);
    return status;
}

static tsr_status from_image(const tsr_image *image, tsr_volume **map)
{
    const int64_t count = (int64_t)image->width * image->height;
    if (image->width < 2 || image->height < 2) TSR_FAIL(TSR_ERROR_FORMAT, "a panorama of %d x %d pixels, expected 2 or more each way", image->width, image->height);
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ image->width, image->height, 3 }, NULL, map));
    float *to = (float *)tsr_volume_data(*map);
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const double v = image->pixels[i * image->channels + (image->channels > 1 ? k : 0)] / 255.0;
            to[k * count + i] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
        }
    tsr_status status = tsr_volume_set_channels(*map);
    if (status != TSR_OK) tsr_volume_destroy(map);
    return status;
}

tsr_status tsr_light_panorama_read(const char *path, const tsr_read_options *options, tsr_volume **map)
{
    TSR_RETURNS(map);
    TSR_NEEDS(path);
    const tsr_input_options settings = { .memory_limit = (int64_t)1 << 31 };
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    const int radiance = status == TSR_OK && size > 2 && !memcmp(bytes, "#?", 2);
    if (radiance) status = tsr_panorama_parse(bytes, size, path, map);
    tsr_input_close(&input);
    TSR_TRY(status);
    if (radiance) return TSR_OK;
    tsr_image image = { 0 };
    TSR_TRY(tsr_image_read(path, options, &image));
    status = from_image(&image, map);
    tsr_image_destroy(&image);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}
