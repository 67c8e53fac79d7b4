/* formats/images/webp.c: WebP pictures through libwebp: the first frame, RGB, or RGBA where the file says so. Written lossless. */
#include <stdlib.h>
#include <string.h>

#include "formats/images/rasters.h"

#ifdef TSR_HAVE_WEBP

#include <webp/decode.h>
#include <webp/encode.h>

static tsr_status read_samples(tsr_input *input, tsr_samples *s)
{
    const uint8_t *bytes;
    size_t size;
    WebPBitstreamFeatures about;
    *s = (tsr_samples){ 0 };
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    if (WebPGetFeatures(bytes, size, &about) != VP8_STATUS_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged WebP picture: its header", tsr_input_name(input));
    if (about.has_animation)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an animated WebP picture, expected a still one (webpmux -get frame 1)", tsr_input_name(input));
    TSR_TRY(tsr_raster_room(input, about.width, about.height, about.has_alpha ? 4 : 3, 8, s));
    const size_t row = tsr_samples_row(s), all = row * (size_t)s->height;
    if (!(about.has_alpha ? WebPDecodeRGBAInto(bytes, size, s->at, all, (int)row) : WebPDecodeRGBInto(bytes, size, s->at, all, (int)row))) {
        free(s->at);
        *s = (tsr_samples){ 0 };
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged or truncated WebP picture", tsr_input_name(input));
    }
    return TSR_OK;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    tsr_samples s;
    TSR_TRY(read_samples(input, &s));
    return tsr_raster_image(&s, 255, 8, options, image);
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_samples s;
    (void)options;
    TSR_TRY(read_samples(input, &s));
    return tsr_raster_samples_volume(&s, volume);
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    const int n = image->channels;
    const int64_t pixels = (int64_t)image->width * image->height;
    uint8_t *grey = NULL, *packed = NULL;
    tsr_output *out = NULL;
    if (image->width > WEBP_MAX_DIMENSION || image->height > WEBP_MAX_DIMENSION)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %d x %d pixels, WebP holds %d each way: expected a PNG file", path, image->width, image->height,
                 WEBP_MAX_DIMENSION);
    if (n == 1) {
        grey = (uint8_t *)malloc((size_t)pixels * 3);
        if (!grey) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
        for (int64_t i = 0; i < pixels; i++) memset(grey + 3 * i, image->pixels[i], 3);
    }
    const size_t size = n == 4 ? WebPEncodeLosslessRGBA(image->pixels, image->width, image->height, image->width * 4, &packed)
                               : WebPEncodeLosslessRGB(grey ? grey : image->pixels, image->width, image->height, image->width * 3, &packed);
    free(grey);
    tsr_status status = size ? tsr_output_open(path, options, &out) : TSR_FAILED(TSR_ERROR_INTERNAL, "%s: the WebP encoder failed", path);
    if (status == TSR_OK) {
        status = tsr_output_write(out, packed, size);
        status = tsr_output_finish(&out, status);
    }
    WebPFree(packed);
    return status;
}

#else

static tsr_status left_out(const char *name)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no WebP (libwebp-dev was not found)", name);
}
static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    (void)options, (void)image;
    return left_out(tsr_input_name(input));
}
static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options, (void)volume;
    return left_out(tsr_input_name(input));
}
static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    (void)image, (void)options;
    return left_out(path);
}

#endif

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_image image;
    TSR_TRY(tsr_raster_of_volume(volume, path, "WebP", &image));
    const tsr_status status = write_image(&image, path, options);
    tsr_image_destroy(&image);
    return status;
}

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 12 && !memcmp(s->head, "RIFF", 4) && !memcmp(s->head + 8, "WEBP", 4) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_webp = { .name = "webp",
                                     .kind = TSR_FILE_IMAGE,
                                     .extensions = { ".webp" },
                                     .recognise = recognise,
                                     .whole = 1,
                                     .read_image = read_image,
                                     .write_image = write_image,
                                     .read_volume = read_volume,
                                     .write_volume = write_volume };
