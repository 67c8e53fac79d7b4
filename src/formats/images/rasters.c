#include "formats/images/rasters.h"

#include <stdlib.h>

#include "formats/volume_files.h"

static tsr_status within_limit(const tsr_input *input, int64_t width, int64_t height, int64_t bytes)
{
    int64_t limit = tsr_input_settings(input)->memory_limit;
    if (limit <= 0) limit = tsr_physical_memory();
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld x %lld pixels need %lld bytes, the memory limit is %lld", tsr_input_name(input), (long long)width,
                 (long long)height, (long long)bytes, (long long)limit);
    return TSR_OK;
}

tsr_status tsr_raster_room(const tsr_input *input, int64_t width, int64_t height, int32_t channels, int32_t bits, tsr_samples *samples)
{
    int64_t bytes;
    *samples = (tsr_samples){ 0 };
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld x %lld pixels, expected 1 to %d each way", tsr_input_name(input), (long long)width, (long long)height,
                 INT32_MAX);
    TSR_TRY(tsr_voxel_bytes(input, bits == 16 ? TSR_U16 : TSR_U8, (tsr_size3){ width, height, channels }, &bytes));
    TSR_TRY(within_limit(input, width, height, bytes));
    TSR_TRY(tsr_samples_create((int32_t)width, (int32_t)height, channels, bits, tsr_input_name(input), samples));
    return TSR_OK;
}

tsr_status tsr_raster_image(tsr_samples *s, int most, int32_t file_bits, const tsr_read_options *options, tsr_image *image)
{
    const int64_t pixels = (int64_t)s->width * s->height;
    const int32_t channels = s->channels == 2 ? 4 : s->channels;
    uint32_t half = (uint32_t)most / 2;
    tsr_samples own = *s;
    *s = (tsr_samples){ 0 };
    if (options->image_bits) *options->image_bits = file_bits;
    if (own.bits == 8 && most == 255 && own.channels == channels) {
        *image = (tsr_image){ own.width, own.height, channels, own.at };
        return TSR_OK;
    }
    const tsr_status status = tsr_image_create(own.width, own.height, channels, image);
    for (int64_t i = 0; i < pixels && status == TSR_OK; i++)
        for (int32_t c = 0; c < channels; c++) {
            const int64_t from = own.channels * i + (own.channels == 2 ? c == 3 : c);
            uint32_t v = own.bits == 16 ? ((const uint16_t *)(const void *)own.at)[from] : own.at[from];
            v = v > (uint32_t)most ? (uint32_t)most : v;
            image->pixels[channels * i + c] = (uint8_t)((v * 255u + half) / (uint32_t)most);
        }
    free(own.at);
    return status;
}

tsr_status tsr_raster_samples_volume(tsr_samples *samples, tsr_volume **volume)
{
    const tsr_status status = tsr_samples_volume(samples, volume);
    free(samples->at);
    *samples = (tsr_samples){ 0 };
    return status;
}

tsr_status tsr_raster_of_volume(const tsr_volume *volume, const char *path, const char *format, tsr_image *image)
{
    tsr_samples s;
    *image = (tsr_image){ 0 };
    TSR_TRY(tsr_samples_of_volume(volume, 8, path, format, &s));
    *image = (tsr_image){ s.width, s.height, s.channels, s.at };
    if (s.channels != 2) return TSR_OK;
    tsr_image_destroy(image);
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s holds no grey with alpha, expected a PNG file", path, format);
}

tsr_status tsr_raster_volume(tsr_input *input, int64_t width, int64_t height, int64_t channels, tsr_volume **volume)
{
    const tsr_layout layout = { .dtype = TSR_F32, .size = { width, height, channels } };
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_block block;
    int64_t bytes;
    TSR_TRY(tsr_voxel_bytes(input, TSR_F32, layout.size, &bytes));
    TSR_TRY(tsr_input_allocate(input, bytes, "pixels", &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    if (channels <= 4) {
        const tsr_status status = tsr_volume_set_channels(*volume);
        if (status != TSR_OK) tsr_volume_destroy(volume);
        TSR_TRY(status);
    }
    return TSR_OK;
}
