/* Images: 8 bits for the screen, and the way from volumes to the samples of picture files and back. */
#include "volume/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "volume/voxel.h"

/* Large pictures in large pages, as volumes are; free() gives them back. */
static uint8_t *zeros(int64_t bytes)
{
    uint8_t *memory = (uint8_t *)tsr_default_allocator.allocate(NULL, (size_t)bytes, TSR_HOST_ALIGNMENT);
    if (memory) memset(memory, 0, (size_t)bytes);
    return memory;
}

tsr_status tsr_image_create(int32_t width, int32_t height, int32_t channels, tsr_image *image)
{
    TSR_NEEDS(image);
    *image = (tsr_image){ 0 };
    if (width <= 0 || height <= 0 || (channels != 1 && channels != 3 && channels != 4))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d x %d pixels with %d channels: expected positive extents and 1, 3 or 4 channels", width, height,
                 channels);
    int64_t bytes;
    TSR_TRY(tsr_size_bytes((tsr_size3){ width, height, channels }, 1, "image", &bytes));
    uint8_t *pixels = zeros(bytes);
    if (!pixels)
        TSR_FAIL(TSR_ERROR_MEMORY, "image of %d x %d x %d: out of host memory (%lld bytes asked for)", width, height, channels, (long long)bytes);
    *image = (tsr_image){ width, height, channels, pixels };
    return TSR_OK;
}

void tsr_image_destroy(tsr_image *image)
{
    if (!image) return;
    free(image->pixels);
    *image = (tsr_image){ 0 };
}

/* ---- samples side by side, and channel by channel -------------------------------------------------------------------------------- */

tsr_status tsr_samples_create(int32_t width, int32_t height, int32_t channels, int32_t bits, const char *name, tsr_samples *samples)
{
    int64_t bytes;
    TSR_TRY(tsr_size_bytes((tsr_size3){ width, height, channels }, (size_t)(bits / 8), name, &bytes));
    *samples = (tsr_samples){ .width = width, .height = height, .channels = channels, .bits = bits, .at = zeros(bytes) };
    if (!samples->at) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory (%lld bytes asked for)", name, (long long)bytes);
    return TSR_OK;
}

/* to[c * to_channel + i * to_pixel] = from[c * from_channel + i * from_pixel], some pixels at a time: those side by side are in the cache for every channel */
static void move_samples(const void *from, int64_t from_pixel, int64_t from_channel, void *to, int64_t to_pixel, int64_t to_channel, int64_t pixels,
                         int64_t channels, int wide)
{
    enum { PIECE = 2048 };
    if (channels == 1) { /* nothing stands beside another */
        memcpy(to, from, (size_t)pixels * (wide ? 2 : 1));
        return;
    }
    for (int64_t first = 0; first < pixels; first += PIECE) {
        const int64_t n = tsr_min64(PIECE, pixels - first);
        for (int64_t c = 0; c < channels; c++) {
            const int64_t f = c * from_channel + first * from_pixel, t = c * to_channel + first * to_pixel;
            const uint16_t *f2 = (const uint16_t *)from + f;
            const uint8_t *f1 = (const uint8_t *)from + f;
            uint16_t *t2 = (uint16_t *)to + t;
            uint8_t *t1 = (uint8_t *)to + t;
            if (wide)
                for (int64_t i = 0; i < n; i++, f2 += from_pixel, t2 += to_pixel) *t2 = *f2;
            else
                for (int64_t i = 0; i < n; i++, f1 += from_pixel, t1 += to_pixel) *t1 = *f1;
        }
    }
}

tsr_status tsr_samples_volume(const tsr_samples *s, tsr_volume **volume)
{
    const int64_t pixels = (int64_t)s->width * s->height;
    tsr_status status;
    TSR_TRY(tsr_volume_create(NULL, s->bits == 16 ? TSR_U16 : TSR_U8, (tsr_size3){ s->width, s->height, s->channels }, NULL, volume));
    TSR_TRY_GOTO(tsr_volume_set_channels(*volume), fail);
    move_samples(s->at, s->channels, 1, (*volume)->data, 1, pixels, pixels, s->channels, s->bits == 16);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status require_picture(const tsr_volume *v, const char *path, const char *format)
{
    const tsr_size3 n = v->size;
    if (n.z > 1 && !tsr_volume_channels(v))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s holds one slice, the volume has %lld x %lld x %lld voxels: choose one (tessera convert --slice z=%lld)",
                 path, format, (long long)n.x, (long long)n.y, (long long)n.z, (long long)(n.z / 2));
    if (n.x > INT32_MAX || n.y > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld x %lld pixels, expected at most %d each way", path, (long long)n.x, (long long)n.y, INT32_MAX);
    return TSR_OK;
}

tsr_status tsr_samples_of_volume(const tsr_volume *v, int32_t most_bits, const char *path, const char *format, tsr_samples *s)
{
    const tsr_size3 n = v->size;
    const int64_t pixels = n.x * n.y;
    const int plain = v->slope == 1 && v->intercept == 0, wide = !(plain && v->dtype == TSR_U8), copies = plain && (!wide || v->dtype == TSR_U16);
    const double most = most_bits == 16 ? 65535 : 255;
    *s = (tsr_samples){ 0 };
    TSR_TRY(require_picture(v, path, format));
    if (wide && most_bits < 16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s holds 8 bits, the volume is %s: bring it to u8 (tessera convert --dtype u8 or --window LOWER:UPPER)",
                 path, format, tsr_dtype_name(v->dtype));
    TSR_TRY(tsr_samples_create((int32_t)n.x, (int32_t)n.y, (int32_t)n.z, wide ? 16 : 8, path, s));
    if (copies) {
        move_samples(v->data, 1, pixels, s->at, n.z, 1, pixels, n.z, wide);
        return TSR_OK;
    }
    for (int64_t i = 0; i < pixels * n.z; i++) {
        const double value = tsr_voxel_load(v->data, v->dtype, i) * v->slope + v->intercept;
        if (!(value >= 0 && value <= most && value == floor(value))) {
            free(s->at);
            *s = (tsr_samples){ 0 };
            TSR_FAIL(
                TSR_ERROR_ARGUMENT,
                "%s: voxel %lld %lld %lld is %g, %s holds whole numbers from 0 to %.0f: map the values you want to see (tessera convert --window "
                "LOWER:UPPER)",
                path, (long long)(i % n.x), (long long)(i / n.x % n.y), (long long)(i / pixels), value, format, most);
        }
        ((uint16_t *)(void *)s->at)[i % pixels * n.z + i / pixels] = (uint16_t)value;
    }
    return TSR_OK;
}

tsr_status tsr_volume_from_image(const tsr_image *image, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "image is NULL or has no pixels");
    const tsr_samples samples = { .width = image->width, .height = image->height, .channels = image->channels, .bits = 8, .at = image->pixels };
    TSR_TRY(tsr_samples_volume(&samples, volume));
    return TSR_OK;
}

tsr_status tsr_image_from_volume(const tsr_volume *v, tsr_image *image)
{
    TSR_NEEDS(image);
    *image = (tsr_image){ 0 };
    if (!v || (v->context && v->context->device.kind != TSR_DEVICE_CPU)) TSR_FAIL(TSR_ERROR_ARGUMENT, "image: expected a host volume");
    const tsr_size3 n = v->size;
    if (v->dtype != TSR_U8 || v->slope != 1 || v->intercept != 0 || (n.z != 1 && n.z != 3 && n.z != 4) || n.x > INT32_MAX || n.y > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of a volume of %lld x %lld x %lld %s, expected 1, 3 or 4 channels along z, u8, slope 1 and intercept 0",
                 (long long)n.x, (long long)n.y, (long long)n.z, tsr_dtype_name(v->dtype));
    TSR_TRY(tsr_image_create((int32_t)n.x, (int32_t)n.y, (int32_t)n.z, image));
    move_samples(v->data, 1, n.x * n.y, image->pixels, n.z, 1, n.x * n.y, n.z, 0);
    return TSR_OK;
}
